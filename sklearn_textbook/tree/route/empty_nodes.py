"""What nodes say that no training row reached, told by other rows."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.target import find_weighted_median
from sklearn_textbook.tree.route.ends import find_ends


def estimate_empty_nodes(
    tree, matrix, target, weight=None, *, criterion=None, n_threads=1
):
    r"""Estimate the distributions of empty nodes from rows that did not grow the tree.

    A test of many branches has one for every level of its column, also for levels of
    which no training row was in the node. Such a branch is empty and says what its
    parent says. In a member of bagging, the out-of-bag rows (包外样本) that end there
    know better: they estimate the posterior of the classes,

    .. math::

        p_t(c) = \frac{\sum_{i \in t, y_i = c} w_i}{\sum_{i \in t} w_i},

    or the mean of the values. An empty node that none of the rows reaches goes on
    saying what its parent says, and all other nodes stay as they are.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        Rows that did not grow the tree, as in :func:`find_leaves`. A level that a node
        has not seen ends the row's way there, also with ``handle_unknown="error"``.
    target : Target
        Their classes or values, with the classes of the tree.
    weight : ndarray of float64, shape (n_rows,), default=None
        Their weights, not negative; None for unit weights. A row that is divided among
        branches counts with its shares.
    criterion : str, default=None
        Name of the criterion that grew a tree of values: with "absolute_error" nodes
        say the weighted median, otherwise the weighted mean.
    n_threads : int, default=1
        Number of threads. The result does not depend on it.

    Returns
    -------
    GrownTree
        A tree with other statistics; the same object if no empty node is reached. Class
        weights of an estimated node sum to what they summed to before, the weight of
        the parent, so that the estimate replaces shares, not weights: many rows weigh
        no more than few. ``n_samples``, ``weight`` and ``impurity`` speak of training
        rows and stay.

    Notes
    -----
    The estimates know nothing of monotonic constraints; do not estimate where there are
    some.

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
    rows, nodes, shares = find_ends(routed, matrix, n_threads)
    if weight is not None:
        shares = shares * weight[rows]
    kept = is_empty[nodes] & (shares > 0)
    rows, nodes, shares = rows[kept], nodes[kept], shares[kept]
    if len(rows) == 0:
        return tree
    rows, nodes, shares = _add_empty_ancestors(tree, is_empty, rows, nodes, shares)
    reached = np.unique(nodes)
    statistics = tree.statistics.copy()
    if target.is_classifier:
        counts = _count_classes(tree, target, rows, nodes, shares)[reached]
        total = statistics[reached].sum(axis=2, keepdims=True)
        statistics[reached] = counts / counts.sum(axis=2, keepdims=True) * total
    else:
        y = target.values[rows]
        statistics[reached] = _find_values(
            y, nodes, shares, reached, takes_median=criterion == "absolute_error"
        )
    # A node that is still empty says what its parent says now.
    is_estimated = np.zeros(tree.node_count, dtype=bool)
    is_estimated[reached] = True
    for node in np.flatnonzero(is_empty & ~is_estimated):
        parent = tree.nodes["parent"][node]
        if is_estimated[parent]:
            statistics[node] = statistics[parent]
            is_estimated[node] = True
    return tree.replace(statistics=statistics)


def _add_empty_ancestors(tree, is_empty, rows, nodes, shares):
    """List the rows once more for every empty node above the one in which they end."""
    parent = tree.nodes["parent"]
    parts = [(rows, nodes, shares)]
    while len(nodes):
        above = parent[nodes]
        goes_on = (above >= 0) & is_empty[above]
        rows, nodes, shares = rows[goes_on], above[goes_on], shares[goes_on]
        parts.append((rows, nodes, shares))
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def _count_classes(tree, target, rows, nodes, shares):
    """Class weights of the rows of each node; shape of the tree's statistics."""
    n_nodes, n_outputs, width = tree.statistics.shape
    counts = np.empty(tree.statistics.shape)
    for output in range(n_outputs):
        cell = nodes * width + target.codes[rows, output]
        sums = np.bincount(cell, shares, n_nodes * width)
        counts[:, output] = sums.reshape(n_nodes, width)
    return counts


def _find_values(y, nodes, shares, reached, *, takes_median):
    """Weighted means or medians of the rows of each node; (node, output, 1)."""
    order = np.argsort(nodes, kind="stable")
    starts = np.searchsorted(nodes[order], reached)
    values = np.empty((len(reached), y.shape[1], 1))
    for number, part in enumerate(np.split(order, starts[1:])):
        for output in range(y.shape[1]):
            if takes_median:
                value = find_weighted_median(y[part, output], shares[part])
            else:
                value = np.average(y[part, output], weights=shares[part])
            values[number, output, 0] = value
    return values
