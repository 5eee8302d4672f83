"""Statistics of nodes without training rows, estimated from other rows."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.target import find_weighted_median
from sklearn_textbook.tree.route.route import find_ends


def estimate_empty_nodes(
    tree,
    matrix,
    target,
    weight: np.ndarray | None = None,
    *,
    criterion: str | None = None,
    n_threads: int = 1,
):
    r"""Estimate the distributions of empty nodes from rows that are not training rows.

    A multiway test has a branch for every level of its column, also for levels without
    training rows in the node. Such a branch is empty and predicts as its parent does.
    In a member of a bagging ensemble, the out-of-bag rows (包外样本) that end there
    give a better estimate of the posterior of the classes,

    .. math::

        p_t(c) = \frac{\sum_{i \in t, y_i = c} w_i}{\sum_{i \in t} w_i},

    or the mean of the values. An empty node that none of these rows reaches still
    predicts as its parent does, and all other nodes are not changed.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        Rows that are not training rows, as in :func:`find_leaves`. A row with a level
        not seen in a node ends there, also with ``handle_unknown="error"``.
    target : Target
        Their classes or values, with the classes of the tree.
    weight : ndarray of float64, shape (n_rows,), default=None
        Their non-negative weights; None for unit weights. A row that is divided among
        branches counts in each with its fraction.
    criterion : str, default=None
        Criterion of a regression tree: with "absolute_error" nodes predict the weighted
        median, otherwise the weighted mean.
    n_threads : int, default=1
        Number of threads. The result does not depend on it.

    Returns
    -------
    GrownTree
        A tree with the new statistics; the same object if no empty node is reached. The
        sum of the class weights of an estimated node does not change (it is the weight
        of the parent), only their proportions. ``n_samples``, ``weight`` and
        ``impurity`` refer to training rows and are not changed.

    Notes
    -----
    The estimates ignore monotonicity constraints, so do not use this function for trees
    with ``monotonic_cst``.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.3.1.
    .. [2] L. Breiman (1996), Out-of-bag estimation, University of California.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn_textbook.tree import ID3Classifier
    >>> from sklearn_textbook.tree.grow.target import Target
    >>> from sklearn_textbook.tree.route import estimate_empty_nodes
    >>> colours = pd.Categorical(["red", "blue", "red"], ["red", "blue", "green"])
    >>> tree = ID3Classifier().fit(pd.DataFrame({"colour": colours}), [0, 1, 0]).tree_
    >>> tree.statistics[:, 0].tolist()  # the root, red, blue, green
    [[2.0, 1.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]]
    >>> target = Target(np.array([[1], [1], [0]], np.int32), None, np.array([2]))
    >>> rows = np.array([[2.0], [2.0], [1.0]])  # green, green, blue
    >>> estimate_empty_nodes(tree, rows, target).statistics[:, 0].tolist()
    [[2.0, 1.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0]]
    """
    is_empty = tree.nodes["n_samples"] == 0
    if not is_empty.any():
        return tree
    routed = (
        tree.replace(handle_unknown="parent")
        if tree.handle_unknown == "error"
        else tree
    )
    rows, nodes, fractions = find_ends(routed, matrix, n_threads)
    if weight is not None:
        fractions = fractions * weight[rows]
    kept = is_empty[nodes] & (fractions > 0)
    rows, nodes, fractions = rows[kept], nodes[kept], fractions[kept]
    if len(rows) == 0:
        return tree
    rows, nodes, fractions = _add_empty_ancestors(
        tree, is_empty, rows, nodes, fractions
    )
    reached = np.unique(nodes)
    statistics = tree.statistics.copy()
    if target.is_classifier:
        counts = _count_classes(tree, target, rows, nodes, fractions)[reached]
        total = statistics[reached].sum(axis=2, keepdims=True)
        statistics[reached] = counts / counts.sum(axis=2, keepdims=True) * total
    else:
        y = target.values[rows]
        statistics[reached] = _find_values(
            y, nodes, fractions, reached, takes_median=criterion == "absolute_error"
        )
    # A node that is still empty predicts as its parent does now.
    is_estimated = np.zeros(tree.node_count, dtype=bool)
    is_estimated[reached] = True
    for node in np.flatnonzero(is_empty & ~is_estimated):
        parent = tree.nodes["parent"][node]
        if is_estimated[parent]:
            statistics[node] = statistics[parent]
            is_estimated[node] = True
    return tree.replace(statistics=statistics)


def _add_empty_ancestors(tree, is_empty, rows, nodes, fractions):
    """Repeat the rows for every empty ancestor of the node in which they end."""
    parent = tree.nodes["parent"]
    parts = [(rows, nodes, fractions)]
    while len(nodes):
        above = parent[nodes]
        goes_on = (above >= 0) & is_empty[above]
        rows, nodes, fractions = rows[goes_on], above[goes_on], fractions[goes_on]
        parts.append((rows, nodes, fractions))
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def _count_classes(tree, target, rows, nodes, fractions):
    """Return the class weights of the rows of each node, shaped as the statistics."""
    n_nodes, n_outputs, width = tree.statistics.shape
    counts = np.empty(tree.statistics.shape)
    for output in range(n_outputs):
        cell = nodes * width + target.codes[rows, output]
        sums = np.bincount(cell, fractions, n_nodes * width)
        counts[:, output] = sums.reshape(n_nodes, width)
    return counts


def _find_values(y, nodes, fractions, reached, *, takes_median):
    """Return weighted means or medians of the rows of each node; (node, output, 1)."""
    order = np.argsort(nodes, kind="stable")
    starts = np.searchsorted(nodes[order], reached)
    values = np.empty((len(reached), y.shape[1], 1))
    for number, part in enumerate(np.split(order, starts[1:])):
        for output in range(y.shape[1]):
            if takes_median:
                value = find_weighted_median(y[part, output], fractions[part])
            else:
                value = np.average(y[part, output], weights=fractions[part])
            values[number, output, 0] = value
    return values
