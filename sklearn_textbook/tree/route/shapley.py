r"""Exact Shapley values of sums of trees.

For a row x, what is predicted if only the columns of a set S are known is, for a leaf
with value v, a product over the columns that are tested on the path to it,

.. math:: v \prod_i \big(z_i + [i \in S] (o_i - z_i)\big)

where :math:`z_i` is the product, over the tests of column i, of the child's part of the
parent's training weight; and :math:`o_i` the product of what x takes of these children:
1 if it goes there, 0 if not, and the child's part if x is divided. The Shapley value
of column i in such a game is an integral,

.. math:: (o_i - z_i) \, v \int_0^1 \prod_{j \ne i} \big(z_j + t (o_j - z_j)\big) dt,

of a polynomial of degree m - 1 for m columns, for which Gauss's quadrature with
:math:`\lceil m / 2 \rceil` points is exact. All terms of the products are positive, so
that no digits cancel. An oblique test counts as one column, and its value is divided
among its columns by their fractions in the test. Products are shared by all leaves
below an edge: a tree of L leaves takes O(L m) operations for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.tree.route._route import EdgeList, add_shapley_values

_KNOWN: WeakKeyDictionary = WeakKeyDictionary()


def list_edges(tree):
    """List the edges of a tree; the last result for an immutable tree is kept."""
    if tree not in _KNOWN:
        _KNOWN[tree] = EdgeList(tree)
    return _KNOWN[tree]


def make_quadrature(n_points):
    """Points and weights of Gauss's quadrature from 0 to 1."""
    points, weights = np.polynomial.legendre.leggauss(n_points)
    return (points + 1.0) / 2.0, weights / 2.0


def compute_shapley_values(
    trees: Sequence,
    first: ArrayLike,
    n_scores: int,
    matrix: ArrayLike,
    n_threads: int = 1,
    interactions: bool = False,
) -> np.ndarray:
    """Compute the Shapley values of the columns in a sum of trees."""
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    n_rows, n_columns = matrix.shape
    n_sums = n_columns * n_columns if interactions else n_columns
    values = np.zeros((n_rows, n_sums, n_scores))
    lists = [list_edges(tree) for tree in trees]
    sizes = [max(1, -(-edges.n_columns // 2)) for edges in lists]
    rules = {size: make_quadrature(size) for size in set(sizes)}
    add_shapley_values(
        lists,
        np.asarray(first, dtype=np.int64),
        [rules[size][0] for size in sizes],
        [rules[size][1] for size in sizes],
        matrix,
        values,
        interactions,
        n_threads,
    )
    if not interactions:
        return values
    return _complete_pairs(values.reshape(n_rows, n_columns, n_columns, n_scores))


def _complete_pairs(pairs):
    """Complete the half below or above the diagonal, on which are sums of columns."""
    diagonal = np.arange(pairs.shape[1])
    sums = pairs[:, diagonal, diagonal].copy()
    pairs[:, diagonal, diagonal] = 0.0
    # A path may have the columns of a pair in either order.
    pairs = pairs + pairs.transpose(0, 2, 1, 3)
    pairs[:, diagonal, diagonal] = sums - pairs.sum(axis=2)
    return pairs


def compute_expectations(
    trees: Sequence, first: ArrayLike, n_scores: int
) -> np.ndarray:
    """Compute the sum of what trees predict if no column is known."""
    expectations = np.zeros(n_scores)
    for tree, start in zip(trees, first, strict=True):
        edges, values = list_edges(tree).edges, tree.statistics[:, :, 0]
        nodes = tree.nodes
        reach = np.zeros(len(nodes))
        reach[0] = 1.0
        total = values[0] if len(edges) == 0 else np.zeros(tree.n_outputs)
        for level in range(1, 1 + edges["level"].max(initial=0)):
            some = edges[edges["level"] == level]
            # Where rows stay, the node is the one that they stay in.
            parent = np.where(
                some["child"] < 0, some["node"], nodes["parent"][some["node"]]
            )
            part = reach[parent] * some["part"]
            is_child = some["child"] >= 0
            reach[some["node"][is_child]] = part[is_child]
            is_leaf = some["is_leaf"] != 0
            total = total + part[is_leaf] @ values[some["node"][is_leaf]]
        expectations[start : start + tree.n_outputs] += total
    return expectations
