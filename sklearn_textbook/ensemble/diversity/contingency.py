"""The contingency table of two members (列联表)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.ensemble.diversity.predictions import (
    encode_together,
    read_row_weights,
)


def contingency_table(
    first: ArrayLike,
    second: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Compute the contingency table of the predictions of two members (列联表).

    Parameters
    ----------
    first, second : array-like of shape (n_samples,)
        Predicted labels of two members.
    y_true : array-like of shape (n_samples,), default=None
        True labels. If given, the table counts whether the members are right.
    labels : array-like of shape (n_labels,), default=None
        Order of the labels in the table. None: sorted. Not allowed with ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    table : ndarray of shape (n_labels, n_labels)
        Number of rows, or their weight, for which ``first`` predicts label i (row) and
        ``second`` predicts label j (column). With ``y_true``, the first row and column
        stand for "right", the second for "wrong".

    Raises
    ------
    ValueError
        If lengths differ, labels are missing or continuous, or ``labels`` is
        incomplete.

    See Also
    --------
    disagreement, correlation, q_statistic, kappa, double_fault : Derived measures.

    Notes
    -----
    With ``labels=[1, -1]``, this is the table [[a, b], [c, d]] of section 8.5.2 of
    周志华《机器学习》: a is the number of rows that both predict as positive, b those
    that only ``first`` does, c those that only ``second`` does, and d the others.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import contingency_table
    >>> first, second = [1, 1, 1, -1, -1], [1, 1, -1, 1, -1]
    >>> contingency_table(first, second, labels=[1, -1])
    array([[2, 1],
           [1, 1]])
    >>> contingency_table(first, second, y_true=[1, 1, 1, 1, 1])
    array([[2, 1],
           [1, 1]])
    """
    columns = {"first": first, "second": second}
    if y_true is not None:
        if labels is not None:
            raise ValueError("labels and y_true cannot be given together.")
        columns["y_true"] = y_true
    columns = {name: _read_column(name, values) for name, values in columns.items()}
    n_rows = len(columns["first"])
    for name, values in columns.items():
        if len(values) != n_rows:
            raise ValueError(
                f"{name} must have as many entries as first, {n_rows}, got "
                f"{len(values)}."
            )
    if labels is not None:
        labels = _read_column("labels", labels)
    weight = read_row_weights(sample_weight, n_rows)
    return _count_cells(columns, labels, weight)


def _read_column(name, values):
    values = np.asarray(values)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"{name} must have shape (n_samples,) with at least one entry; got "
            f"{values.shape}."
        )
    return values


def _count_cells(columns, labels, weight):
    """Count the cells of a contingency table."""
    if labels is not None:
        columns = columns | {"labels": labels}
    codes, classes = encode_together(columns)
    first, second = (of_member.astype(np.intp) for of_member in codes[:2])
    n_labels = len(classes)
    if "y_true" in columns:
        first, second = (of_member != codes[2] for of_member in (first, second))
        n_labels = 2
    elif labels is not None:
        wanted = codes[2]
        lacking = np.setdiff1d(np.concatenate((first, second)), wanted)
        if len(lacking):
            raise ValueError(
                f"labels must include {classes.tolist()[lacking[0]]!r}, which is "
                "predicted."
            )
        if len(wanted) != n_labels:
            raise ValueError("labels must be unique.")
        places = np.argsort(wanted)
        first, second = places[first], places[second]
    table = np.bincount(first * n_labels + second, weight, minlength=n_labels**2)
    return table.reshape(n_labels, n_labels)
