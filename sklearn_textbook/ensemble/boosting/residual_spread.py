"""Squared residuals in the nodes of boosted trees: the spread of the target near a row.

The trees, over the same columns, have their nodes one tree after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sklearn_textbook.tree.members import find_leaves_of_all

_ROWS_AT_ONCE = 4096


def measure_node_variances(
    trees: Sequence, names, n_threads: int, blocks: Iterable[tuple]
) -> np.ndarray:
    """Measure the mean square of the residuals of the training rows in each node.

    ``blocks`` yields rows as trees take them, their residuals and weights. A node
    without rows, which a tree of a warm start may have, has the mean of its parent.
    """
    sums = [np.zeros((2, tree.node_count)) for tree in trees]
    for matrix, residuals, weight in blocks:
        weight = np.ones(len(residuals)) if weight is None else weight
        for of_tree, tree in zip(sums, trees, strict=True):
            node = find_leaves_of_all([tree], matrix, n_threads, names)[:, 0]
            for of_node, values in zip(
                of_tree, (weight * residuals**2, weight), strict=True
            ):
                of_node += np.bincount(node, values, tree.node_count)
    for of_tree, tree in zip(sums, trees, strict=True):
        parent = tree.nodes["parent"]
        for node in range(len(parent) - 1, 0, -1):  # children follow their parents
            of_tree[:, parent[node]] += of_tree[:, node]
        for node in np.flatnonzero(of_tree[1] <= 0):
            of_tree[:, node] = of_tree[:, parent[node]]
    total, weight = np.concatenate(sums, axis=1)
    return total / weight


def measure_spread(
    trees: Sequence, variance: np.ndarray, matrix, names, n_threads: int
) -> np.ndarray:
    """Measure the root of the mean over the trees of the variances of rows' nodes."""
    first_node = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]
    spread = np.empty(matrix.shape[0])
    for first in range(0, matrix.shape[0], _ROWS_AT_ONCE):
        block = matrix[first : first + _ROWS_AT_ONCE]
        node = find_leaves_of_all(trees, block, n_threads, names) + first_node
        spread[first : first + _ROWS_AT_ONCE] = np.sqrt(variance[node].mean(axis=1))
    return spread
