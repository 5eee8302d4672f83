"""Linear equations in the nodes of a regression tree (M5): fitting and prediction."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.layout import SLOPE_DTYPE
from sklearn_textbook.tree.route._leaf_equations import fit_nodes, shrink_nodes
from sklearn_textbook.tree.route.route import find_leaves

#: Maximum number of columns that may stand in equations.
MOST_COLUMNS = 100
#: Minimum weight of a leaf.
LEAST_WEIGHT = 10.0


def fit_leaf_equations(
    tree,
    rows,
    is_number: np.ndarray,
    shrinkage: float,
    n_threads: int = 1,
    leaf: np.ndarray | None = None,
):
    """Fit a linear equation in every node of a regression tree.

    :class:`~sklearn_textbook.tree.CARTRegressor` has the formulas.

    Parameters
    ----------
    tree : GrownTree
        The tree; its nodes have the means of the target.
    rows : Rows
        The training rows.
    is_number : ndarray of bool, shape (n_features,)
        The columns that may stand in equations. Of more than 100, those are taken whose
        tests reduce the impurity most.
    shrinkage : float
        Factor of the weight of the equation of the parent; 0: it has none.
    n_threads : int, default=1
        Number of threads. The result does not depend on it.
    leaf : ndarray of int, shape (n_rows,), default=None
        The leaves of the rows. None: they are found.

    Returns
    -------
    GrownTree
        The tree with ``slopes`` and ``bounds``. ``statistics`` are the values at the
        centers; ``impurity`` is the estimate of the squared error of the averaged
        equation.
    """
    matrix, y = rows.matrix, rows.target.values[:, 0]
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    leaf = find_leaves(tree, matrix, n_threads) if leaf is None else leaf
    kept = np.flatnonzero(weight > 0.0)
    if len(kept) < rows.n_rows:
        matrix, y, weight, leaf = matrix[kept], y[kept], weight[kept], leaf[kept]
    layout = _RowLayout(tree, leaf)
    used = _choose_columns(tree, is_number)
    X = matrix[layout.order]
    X = X if len(used) == X.shape[1] else X[:, used]
    X = X.toarray() if hasattr(X, "toarray") else X
    X = np.ascontiguousarray(X, dtype=np.float64)
    y, weight = (
        np.ascontiguousarray(values[layout.order], dtype=np.float64)
        for values in (y, weight)
    )
    most = np.minimum(layout.n_rows, len(used))
    start = np.concatenate([[0], np.cumsum(most)])
    chosen, found, n_chosen, (level, low, high) = fit_nodes(
        *(X, y, weight, layout.first, layout.first + layout.n_rows, start),
        n_threads,
    )
    node = np.repeat(np.arange(tree.node_count), most)
    is_chosen = np.flatnonzero(np.arange(len(node)) - start[node] < n_chosen[node])
    slopes = np.empty(len(is_chosen), dtype=SLOPE_DTYPE)
    slopes["node"], slopes["feature"] = node[is_chosen], chosen[is_chosen]
    for name, values in zip(("weight", "center", "error"), found, strict=True):
        slopes[name] = values[is_chosen]
    part, risk = shrink_nodes(
        *(X, y, weight, layout.first, layout.first + layout.n_rows, slopes),
        np.searchsorted(slopes["node"], np.arange(tree.node_count + 1)),
        *(level, tree.nodes["parent"].copy(), list(tree._list_levels()), shrinkage),
        n_threads,
    )
    level, bounds = level.copy(), np.column_stack([low, high])
    slopes = _average(tree, slopes, level, bounds, part, len(used))
    slopes["feature"] = used[slopes["feature"]]
    nodes = tree.nodes.copy()
    nodes["impurity"] = risk
    return tree.replace(
        nodes=nodes,
        statistics=level[:, np.newaxis, np.newaxis],
        slopes=slopes,
        bounds=bounds,
    )


def multiply_equations(tree, factor: float):
    """Multiply the slopes of equations, and the bounds of what they predict."""
    slopes = tree.slopes.copy()
    slopes["weight"] *= factor
    slopes["error"] *= abs(factor)
    return tree.replace(slopes=slopes, bounds=np.sort(factor * tree.bounds, axis=1))


class _RowLayout:
    """Rows in an order in which those of each node are consecutive."""

    def __init__(self, tree, leaf) -> None:
        parent, first_child = tree.nodes["parent"], tree.nodes["first_child"]
        own = np.bincount(leaf, minlength=tree.node_count)
        self.n_rows = own.copy()
        levels = tree._list_levels()
        for first, last in reversed(levels[1:]):
            np.add.at(self.n_rows, parent[first:last], self.n_rows[first:last])
        self.first = np.zeros(tree.node_count, dtype=np.int64)
        for first, last in levels[1:]:
            above = parent[first:last]
            before = np.cumsum(self.n_rows[first:last]) - self.n_rows[first:last]
            start = self.first[above] + own[above]
            self.first[first:last] = start + before - before[first_child[above] - first]
        self.order = np.argsort(self.first[leaf], kind="stable")


def _choose_columns(tree, is_number) -> np.ndarray:
    """Choose the columns that may stand in equations."""
    used = np.flatnonzero(is_number)
    if len(used) <= MOST_COLUMNS:
        return used
    importance = tree.compute_feature_importances()[used]
    order = np.argsort(-importance, kind="stable")[:MOST_COLUMNS]
    return np.sort(used[order[importance[order] > 0.0]])


def _average(tree, slopes, level, bounds, part, n_used):
    """Average equations with those of the parents; their levels change in place.

    Nodes without rows have the bounds of their parents.
    """
    records, above = [], None
    for first, last in tree._list_levels():
        own = slopes[slice(*np.searchsorted(slopes["node"], [first, last]))]
        at = own["node"] - first, own["feature"]
        slope, center, error = np.zeros((3, last - first, n_used))
        slope[at], center[at], error[at] = own["weight"], own["center"], own["error"]
        is_in = np.zeros(slope.shape, dtype=bool)
        is_in[at] = True
        if above is not None:
            parent = tree.nodes["parent"][first:last]
            above_slope, above_center, above_error, is_above = (
                array[parent - above[0]] for array in above[1:]
            )
            own_part = part[first:last, np.newaxis]
            rest = 1.0 - own_part
            center = np.where(is_in, center, above_center)
            moved = np.where(is_above, above_slope * (center - above_center), 0.0)
            level[first:last] *= own_part[:, 0]
            level[first:last] += rest[:, 0] * (level[parent] + moved.sum(axis=1))
            slope = own_part * slope + rest * above_slope
            error = own_part * error + rest * above_error
            is_in = (is_in & (own_part > 0.0)) | (is_above & (rest > 0.0))
            is_empty = tree.nodes["n_samples"][first:last] == 0
            bounds[first:last][is_empty] = bounds[parent[is_empty]]
        above = first, slope, center, error, is_in
        node, feature = np.nonzero(is_in)
        found = np.empty(len(node), dtype=SLOPE_DTYPE)
        found["node"], found["feature"] = node + first, feature
        for name, values in (("weight", slope), ("center", center), ("error", error)):
            found[name] = values[node, feature]
        records.append(found)
    return np.concatenate(records)
