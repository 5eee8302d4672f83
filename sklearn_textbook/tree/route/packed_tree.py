"""A tree of two-way numeric tests in the form that forests walk."""

from __future__ import annotations

from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from sklearn_textbook.tree.grow.grown_tree import share_out
from sklearn_textbook.tree.grow.layout import NUMERIC
from sklearn_textbook.tree.route._route import PACKED_NODE_DTYPE


class PackedTree:
    """Make trees ready and remember them.

    A pack is the nodes in 16 bytes each, the numbers of the leaves among the leaves,
    the distributions of the leaves and the depth of the tree.
    """

    _known: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    @classmethod
    def of(cls, tree):
        """Find the pack of a tree, which is immutable; None if it has none."""
        if tree not in cls._known:
            cls._known[tree] = _pack(tree)
        return cls._known[tree]


def _pack(tree):
    n_children, kind, missing, feature, threshold = tree.read_columns(
        "n_children", "kind", "missing_branch", "feature", "threshold"
    )
    is_inner = n_children > 0
    inner, leaves = np.flatnonzero(is_inner), np.flatnonzero(~is_inner)
    missing = missing[inner]
    if (
        len(tree.surrogates)
        or np.any(n_children[inner] != 2)
        or np.any(kind[inner] != NUMERIC)
        or np.any((missing != 0) & (missing != 1))
    ):
        return None
    n_nodes = len(n_children)
    nodes = np.empty(n_nodes, dtype=PACKED_NODE_DTYPE)
    # A leaf leads back to itself.
    nodes["feature"] = 0
    nodes["threshold"] = np.inf
    nodes["first_child"] = 2 * np.arange(n_nodes, dtype=np.int32)
    nodes["feature"][inner] = feature[inner]
    nodes["threshold"][inner] = threshold[inner]
    # All nodes but the root are children, two by two in the order of their parents.
    nodes["first_child"][inner] = 2 * np.arange(1, n_nodes, 2) + missing
    leaf_number = np.zeros(n_nodes, dtype=np.int32)
    leaf_number[leaves] = np.arange(len(leaves))
    statistics = tree.read_leaf_statistics()
    shares = share_out(statistics) if tree.is_classifier else statistics
    shares = np.ascontiguousarray(shares.reshape(len(leaves), -1))
    return nodes, leaf_number, shares, tree.max_depth
