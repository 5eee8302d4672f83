"""Values next to the thresholds of a tree, of those that are compared with them."""

from __future__ import annotations

import numpy as np
import scipy  # submodules are loaded on first use
from numpy.typing import ArrayLike

from sklearn_textbook.tree.grow.layout import NUMERIC

#: A threshold of a column; the largest value that is at most the threshold, and the
#: smallest value above it.
NEIGHBOUR_DTYPE = np.dtype(
    [
        ("feature", np.int32),
        ("threshold", np.float64),
        ("low", np.float64),
        ("high", np.float64),
    ]
)


def list_thresholds(tree) -> dict:
    """List the distinct thresholds of the tests and surrogates of a tree."""
    tables = [tree.nodes, tree.surrogates] if len(tree.surrogates) else [tree.nodes]
    tests = [table[table["kind"] == NUMERIC] for table in tables]
    feature = np.concatenate([test["feature"] for test in tests])
    threshold = np.concatenate([test["threshold"] for test in tests])
    order = np.lexsort((threshold, feature))
    feature, threshold = feature[order], threshold[order]
    is_new = np.full(len(feature), True)
    is_new[1:] = (feature[1:] != feature[:-1]) | (threshold[1:] != threshold[:-1])
    feature, threshold = feature[is_new], threshold[is_new]
    starts = [0, *(np.flatnonzero(feature[1:] != feature[:-1]) + 1).tolist()]
    ends = [*starts[1:], len(feature)]
    return {
        int(feature[start]): threshold[start:end]
        for start, end in zip(starts, ends, strict=True)
        if start < end
    }


def find_neighbours(
    thresholds: ArrayLike, values: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Find the values next to thresholds.

    Parameters
    ----------
    thresholds : array-like of float
        Thresholds of one column.
    values : array-like of float
        Values of this column, ascending; may be empty.

    Returns
    -------
    low, high : ndarray of float64, shape (n_thresholds,)
        The largest value that is at most the threshold, and the smallest one above it;
        infinite if there is none.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.neighbours import find_neighbours
    >>> find_neighbours([2.0, 7.0], [1.0, 2.0, 3.0])
    (array([2., 3.]), array([ 3., inf]))
    """
    n_values = len(values)
    if n_values == 0:
        return np.full(len(thresholds), -np.inf), np.full(len(thresholds), np.inf)
    values = np.asarray(values)
    above = values.searchsorted(thresholds, side="right")
    low = np.where(above > 0, values[np.maximum(above - 1, 0)], -np.inf)
    high = np.where(above < n_values, values[np.minimum(above, n_values - 1)], np.inf)
    return low, high


def find_training_neighbours(tree, table) -> np.ndarray:
    """Find the values of the training table next to the thresholds of a tree."""
    # Imported here because printing a tree does without the kernels that grow one.
    from sklearn_textbook.tree.grow._assemble import find_values_beside

    names = ("kind", "feature", "threshold")
    tests = [tree.read_columns(*names)]
    if len(tree.surrogates):
        tests.append([tree.surrogates[name] for name in names])
    kind, feature, threshold = map(np.concatenate, zip(*tests, strict=True))
    is_numeric = kind == NUMERIC
    feature = feature[is_numeric].astype(np.int32, copy=False)
    threshold = threshold[is_numeric]
    low, high = np.empty((2, len(feature)))
    find_values_beside(feature, threshold, table.values, table.n_distinct, low, high)
    neighbours = np.empty(len(feature), NEIGHBOUR_DTYPE)
    columns = (feature, threshold, low, high)
    for name, column in zip(NEIGHBOUR_DTYPE.names, columns, strict=True):
        neighbours[name] = column
    return neighbours


def join_neighbours(columns: dict, sides: np.ndarray) -> np.ndarray:
    """Make records of the neighbours of the thresholds of a tree."""
    neighbours = np.empty(sides.shape[1], NEIGHBOUR_DTYPE)
    if len(columns):
        lengths = [len(thresholds) for thresholds in columns.values()]
        neighbours["feature"] = np.repeat([*columns], lengths)
        neighbours["threshold"] = np.concatenate([*columns.values()])
    neighbours["low"], neighbours["high"] = sides
    return neighbours


def look_up_neighbours(known: np.ndarray | None, column: int, thresholds: np.ndarray):
    """Look up the neighbours of thresholds of a column."""
    unknown = np.full(len(thresholds), np.nan)
    known = known[known["feature"] == column] if known is not None else ()
    if len(known) == 0:
        return unknown, unknown
    known = known[np.argsort(known["threshold"])]
    places = np.searchsorted(known["threshold"], thresholds).clip(max=len(known) - 1)
    found = known[places]
    is_known = found["threshold"] == thresholds
    return tuple(np.where(is_known, found[side], np.nan) for side in ("low", "high"))


def sort_column(matrix, column):
    """Return the known values of a column of an array or CSR array, ascending."""
    values = matrix[:, [column]]
    values = values.toarray() if scipy.sparse.issparse(values) else np.asarray(values)
    values = np.unique(values.astype(np.float64))
    return values[np.isfinite(values)]
