"""Resolve the ``cv`` parameter to folds of training and test rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sklearn_textbook._contract.parameters import is_integer
from sklearn_textbook.tree.prune.hold_out import deal_folds


def check_folds(cv: object) -> None:
    """Check that ``cv`` is a number of folds, a splitter, or an iterable of folds."""
    if cv is None or (is_integer(cv) and cv >= 2):
        return
    is_plain = isinstance(cv, (str, bool, np.bool_, float, type)) or is_integer(cv)
    if not is_plain and (hasattr(cv, "split") or isinstance(cv, Iterable)):
        return
    raise ValueError(
        "The 'cv' parameter must be an int in the range [2, inf), a splitter such as "
        "KFold(5), an iterable of (train, test) indices, or None; got "
        f"{cv!r} of type {type(cv).__name__}."
    )


def make_folds(cv, data, random_state=None) -> list | np.ndarray:
    """List the folds."""
    n_rows, weight = data.target.n_rows, data.weight
    is_used = np.ones(n_rows, dtype=bool) if weight is None else weight > 0
    if is_integer(cv):
        fold = deal_folds(data.target, is_used, int(cv), random_state)
        return [
            (is_used & (fold != number), np.flatnonzero(fold == number))
            for number in range(fold.max() + 1)
        ]
    folds = []
    for fold in _split(cv, data):
        train, test = _unpack(fold, cv)
        is_train, is_test = (_translate(rows, data) for rows in (train, test))
        if not (is_train & is_used).any() or not (is_test & is_used).any():
            raise ValueError(
                f"cv={cv!r} gives a fold without training rows or without test rows of "
                "positive weight."
            )
        folds.append((is_train, np.flatnonzero(is_test & is_used)))
    if not folds:
        raise ValueError(
            f"cv={cv!r} gives no folds. An iterator can be used only once: give a list."
        )
    return folds


def _split(cv, data):
    """List the folds, whose indices refer to the rows as they were given."""
    target = data.target if data.given is None else data.given[1]
    y = target.codes if target.is_classifier else target.values
    y = y[:, 0] if y.shape[1] == 1 else y
    if not hasattr(cv, "split"):
        yield from cv
        return
    try:
        yield from cv.split(np.zeros((target.n_rows, 1)), y)
    except ValueError as error:
        if "groups" not in str(error):
            raise
        raise ValueError(
            f"cv={cv!r} requires groups, which fit does not accept. Give the folds "
            "themselves: cv=list(splitter.split(X, y, groups))."
        ) from error


def _unpack(fold, cv):
    """Unpack a fold; raise ValueError unless it is (train, test)."""
    try:
        train, test = fold
    except (TypeError, ValueError):
        raise ValueError(
            f"cv={cv!r} must give (train, test) pairs of row indices or masks, got "
            f"{fold!r}."
        ) from None
    return train, test


def _translate(rows, data):
    """Convert row numbers or a mask to a mask of the rows that were kept."""
    is_kept = None if data.given is None else data.given[0]
    n_rows = data.target.n_rows if is_kept is None else len(is_kept)
    rows = np.asarray(rows)
    if rows.dtype == bool and len(rows) == n_rows:
        mask = rows
    else:
        mask = np.zeros(n_rows, dtype=bool)
        if rows.size == 0:
            return mask if is_kept is None else mask[is_kept]
        if rows.dtype.kind not in "iu":
            raise ValueError(
                f"The folds of cv must be row indices or masks of {n_rows} rows, got "
                f"{len(rows)} entries of dtype {rows.dtype}."
            )
        if rows.min() < -n_rows or rows.max() >= n_rows:
            row = rows.max() if rows.max() >= n_rows else rows.min()
            raise ValueError(
                f"The row indices of cv must be from 0 to {n_rows - 1}, got {row}."
            )
        mask[rows] = True
    return mask if is_kept is None else mask[is_kept]
