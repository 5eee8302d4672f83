"""The parameter ``monotonic_cst`` of trees and of ensembles of trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.parameters import show_value


def resolve_monotonic(
    monotonic_cst: ArrayLike | None, names: Sequence[str], *, has_names: bool
) -> tuple[int, ...] | None:
    """Return the constraint of every column."""
    if monotonic_cst is None:
        return None
    if isinstance(monotonic_cst, dict):
        constraints = _read_names(monotonic_cst, list(names), has_names)
    else:
        constraints = _read_array(monotonic_cst, len(names))
    for name, sign in zip(names, constraints, strict=True):
        if not (isinstance(sign, (int, float, np.number)) and sign in (-1, 0, 1)):
            raise ValueError(
                "monotonic_cst must be None or an array-like of -1, 0 or 1, or a dict "
                f"with such values; got {show_value(sign)} for column {name!r} in "
                f"{show_value(constraints)}."
            )
    return tuple(int(sign) for sign in constraints)


def _read_names(monotonic_cst, names, has_names):
    if not has_names:
        raise ValueError(
            "monotonic_cst is a dict from column names, but the columns of X have no "
            "names. Pass monotonic_cst as an integer array instead."
        )
    unknown = [name for name in monotonic_cst if name not in names]
    if unknown:
        raise ValueError(
            f"monotonic_cst contains {len(unknown)} unexpected feature names: "
            f"{show_value(unknown)}. The columns of X are {show_value(names)}."
        )
    return [monotonic_cst.get(name, 0) for name in names]


def _read_array(monotonic_cst, n_columns):
    constraints = np.asarray(monotonic_cst, dtype=object)
    if constraints.ndim != 1 or len(constraints) != n_columns:
        raise ValueError(
            f"monotonic_cst has shape {len(np.atleast_1d(constraints))} but the "
            f"input data X has {n_columns} features."
        )
    return constraints.tolist()


def is_constrained(monotonic_cst: ArrayLike | None) -> bool:
    """Whether some column has a constraint."""
    if isinstance(monotonic_cst, dict):
        monotonic_cst = list(monotonic_cst.values())
    return monotonic_cst is not None and bool(np.any(monotonic_cst))
