"""A tree of two-way tests in the form that forests walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from sklearn_textbook.tree.grow.grown_tree import share_out
from sklearn_textbook.tree.grow.layout import DENSE_MAP, NOMINAL
from sklearn_textbook.tree.grow.level_map import list_places
from sklearn_textbook.tree.route._route import PACKED_NODE_DTYPE

#: A test of levels has a bit for each of them.
MOST_LEVELS = 64


@dataclass(frozen=True, eq=False)
class PackedTree:
    """A tree that is ready.

    Parameters
    ----------
    arrays : tuple
        The nodes in 16 bytes each, the numbers of the leaves among the leaves, and the
        distributions of the leaves.
    depth : int
        Largest number of tests.
    has_levels : bool
        Whether it has tests of levels, or of ordered ones. Rows with a level never
        seen in training must not walk then.
    stays : ndarray of int
        Nodes where a row stays whose level the node does not know. Each has two nodes
        more, behind those of the tree: a leaf for these rows, and the test of the
        others.
    """

    arrays: tuple
    depth: int
    has_levels: bool
    stays: np.ndarray

    _known: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    @classmethod
    def of(cls, tree):
        """Find the pack of a tree, which is immutable; None if it has none."""
        if tree not in cls._known:
            cls._known[tree] = _pack(tree)
        return cls._known[tree]

    def find_nodes(self, positions):
        """Turn positions in the pack into numbers of nodes, in place."""
        n_nodes = len(self.arrays[0]) - 2 * len(self.stays)
        is_more = positions >= n_nodes
        if is_more.any():
            positions[is_more] = self.stays[(positions[is_more] - n_nodes) // 2]


def _pack(tree):
    n_children, kind, missing, feature, threshold = tree.read_columns(
        "n_children", "kind", "missing_branch", "feature", "threshold"
    )
    is_inner = n_children > 0
    inner, leaves = np.flatnonzero(is_inner), np.flatnonzero(~is_inner)
    missing, has_levels = missing[inner], tree.n_levels[feature[inner]] > 0
    if (
        len(tree.surrogates)
        or np.any(n_children[inner] != 2)
        or np.any((missing != 0) & (missing != 1))
        or (has_levels.any() and tree.handle_unknown != "parent")
    ):
        return None
    nominal = inner[kind[inner] == NOMINAL]
    if np.any(tree.n_levels[feature[nominal]] > MOST_LEVELS):
        return None
    is_known, is_second = _read_levels(tree, nominal, feature[nominal])
    has_stays = is_known != _count_up(tree.n_levels[feature[nominal]])
    stays = nominal[has_stays]
    n_nodes = len(n_children)
    nodes = np.empty(n_nodes + 2 * len(stays), dtype=PACKED_NODE_DTYPE)
    # A leaf leads back to itself.
    nodes["feature"] = 0
    nodes["threshold"] = np.inf
    nodes["first_child"] = 2 * np.arange(len(nodes), dtype=np.int32)
    nodes["feature"][inner] = feature[inner]
    nodes["threshold"][inner] = threshold[inner]
    # All nodes but the root are children, two by two in the order of their parents.
    nodes["first_child"][inner] = 2 * np.arange(1, n_nodes, 2) + missing
    nodes["feature"][nominal] = ~feature[nominal]
    nodes["threshold"][nominal] = is_second.view(np.float64)
    # The test of those who know their way, behind the leaf of those who do not.
    nodes[n_nodes + 1 :: 2] = nodes[stays]
    nodes["first_child"][stays] = 2 * np.arange(n_nodes, len(nodes), 2) + 1
    nodes["threshold"][stays] = is_known[has_stays].view(np.float64)
    ends = np.concatenate([leaves, n_nodes + 2 * np.arange(len(stays))])
    leaf_number = np.zeros(len(nodes), dtype=np.int32)
    leaf_number[ends] = np.arange(len(ends))
    statistics = tree.read_leaf_statistics()
    if len(stays):
        statistics = np.concatenate([statistics, tree.statistics[stays]])
    shares = share_out(statistics) if tree.is_classifier else statistics
    shares = np.ascontiguousarray(shares.reshape(len(ends), -1))
    depth = tree.max_depth * (2 if len(stays) else 1)
    arrays = (nodes, leaf_number, shares)
    return PackedTree(arrays, depth, bool(has_levels.any()), stays)


def _count_up(n_levels):
    """Set as many bits of a number as there are levels."""
    shift = np.uint64(MOST_LEVELS) - n_levels.astype(np.uint64)
    return ~np.uint64(0) >> shift


def _read_levels(tree, nominal, feature):
    """Read level maps: bits of the known codes, and of those of the second child."""
    is_known = np.zeros(len(nominal), dtype=np.uint64)
    is_second = is_known.copy()
    if len(nominal) == 0:
        return is_known, is_second
    (start,) = tree.read_columns("map_start")
    start, maps = start[nominal], tree.level_branch
    n_pairs = maps[start].astype(np.int64)
    is_dense = n_pairs == DENSE_MAP
    n_entries = np.where(is_dense, tree.n_levels[feature], n_pairs)
    places = list_places(start + 1, n_entries)
    owner = np.repeat(np.arange(len(nominal)), n_entries)
    codes = np.where(is_dense[owner], places - (start + 1)[owner], maps[places])
    children = maps[places + np.where(is_dense, 0, n_pairs)[owner]]
    bits = np.uint64(1) << codes.astype(np.uint64)
    np.bitwise_or.at(is_known, owner[children >= 0], bits[children >= 0])
    np.bitwise_or.at(is_second, owner[children == 1], bits[children == 1])
    return is_known, is_second
