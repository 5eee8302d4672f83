"""A tree with binary tests, packed for prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from sklearn_textbook.tree.grow.class_shares import share_out
from sklearn_textbook.tree.grow.layout import DENSE_MAP, NOMINAL
from sklearn_textbook.tree.grow.level_map import list_places
from sklearn_textbook.tree.route._route import PACKED_NODE_DTYPE

#: Maximum number of levels of a nominal test, which has a bit for each.
MAX_LEVELS = 64


@dataclass(frozen=True, eq=False)
class PackedTree:
    """A packed tree.

    Parameters
    ----------
    arrays : tuple
        The nodes in 16 bytes each, the index of each leaf, and the distributions of the
        leaves.
    depth : int
        Maximum number of tests on a path.
    has_levels : bool
        Whether it has nominal or ordinal tests. If so, rows with a level never seen in
        training must not be routed.
    stays : ndarray of int
        Nodes in which rows with a level not seen there end. Each has two additional
        nodes after those of the tree: a leaf for these rows, and the test for all other
        rows.
    """

    arrays: tuple
    depth: int
    has_levels: bool
    stays: np.ndarray

    _known: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    @classmethod
    def of(cls, tree):
        """Return the packed form of an immutable tree; None if there is none."""
        if tree not in cls._known:
            cls._known[tree] = _pack(tree)
        return cls._known[tree]

    def find_nodes(self, positions):
        """Convert positions in the packed tree to node numbers, in place."""
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
        or len(tree.terms)
        or np.any(n_children[inner] != 2)
        or np.any((missing != 0) & (missing != 1))
        or (has_levels.any() and tree.handle_unknown != "parent")
    ):
        return None
    nominal = inner[kind[inner] == NOMINAL]
    if np.any(tree.n_levels[feature[nominal]] > MAX_LEVELS):
        return None
    is_known, is_second = _read_levels(tree, nominal, feature[nominal])
    has_stays = is_known != _count_up(tree.n_levels[feature[nominal]])
    stays = nominal[has_stays]
    n_nodes = len(n_children)
    nodes = np.empty(n_nodes + 2 * len(stays), dtype=PACKED_NODE_DTYPE)
    # The child of a leaf is the leaf itself.
    nodes["feature"] = 0
    nodes["threshold"] = np.inf
    nodes["first_child"] = 2 * np.arange(len(nodes), dtype=np.int32)
    nodes["feature"][inner] = feature[inner]
    nodes["threshold"][inner] = threshold[inner]
    # All nodes but the root are children, in pairs, in the order of their parents.
    nodes["first_child"][inner] = 2 * np.arange(1, n_nodes, 2) + missing
    nodes["feature"][nominal] = ~feature[nominal]
    nodes["threshold"][nominal] = is_second.view(np.float64)
    # The test for rows with known levels follows the leaf for the other rows.
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
    """Return a number with one bit set for each level."""
    shift = np.uint64(MAX_LEVELS) - n_levels.astype(np.uint64)
    return ~np.uint64(0) >> shift


def _read_levels(tree, nominal, feature):
    """Return level maps as bits: the known codes, and those of the second child."""
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
