"""A tree with binary tests, packed for prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from sklearn_textbook.tree.grow.layout import NOMINAL, NUMERIC, share_out
from sklearn_textbook.tree.route._route import (
    GROUP_ROWS,
    LACKED_LEVELS_DTYPE,
    MAX_LEVELS,
    MAX_WORDS,
    MIXED_NODE_DTYPE,
    PACKED_NODE_DTYPE,
    pack_mixed,
    place_words,
    walk_trees,
)

# Bytes of a block of rows that all trees traverse in turn.
_BLOCK_BYTES = 1 << 22
#: Minimum rows per thread.
MIN_BLOCK_ROWS = 128


@dataclass(frozen=True, eq=False)
class PackedTree:
    """A packed tree.

    Parameters
    ----------
    nodes : ndarray of PACKED_NODE_DTYPE or MIXED_NODE_DTYPE, shape (node_count,)
        The nodes, 16 bytes each; of the second dtype if the table has nominal or
        ordinal columns.
    lacked : ndarray or None
        For the second dtype: levels that some test on the way to a node lacks.
    n_levels : ndarray of int64, shape (n_features,)
        Number of levels of each column, 0 for numeric ones.
    leaf_number : ndarray of int32, shape (node_count,), or None
        For the first dtype: the row of ``shares`` of each leaf.
    shares : ndarray of float64, shape (n_ends, n_outputs * n_statistics)
        The distributions of the leaves, and of all nodes in which rows may stay
        because they lack their level.
    depth : int
        Maximum number of tests on a path.
    """

    nodes: np.ndarray
    lacked: np.ndarray | None
    n_levels: np.ndarray
    leaf_number: np.ndarray | None
    shares: np.ndarray
    depth: int

    _known: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    @classmethod
    def of(cls, tree):
        """Return the packed form of an immutable tree; None if there is none."""
        if tree not in cls._known:
            cls._known[tree] = _pack(tree)
        return cls._known[tree]


def _pack(tree):
    n_children, feature, missing, kind, threshold, map_start = tree.read_columns(
        "n_children", "feature", "missing_branch", "kind", "threshold", "map_start"
    )
    is_inner = n_children > 0
    inner, ends = np.flatnonzero(is_inner), np.flatnonzero(~is_inner)
    n_levels = np.ascontiguousarray(tree.n_levels, dtype=np.int64)
    leveled = inner[n_levels[feature[inner]] > 0]
    if (
        len(tree.surrogates)
        or len(tree.terms)
        or np.any(n_children[inner] != 2)
        or np.any((missing[inner] != 0) & (missing[inner] != 1))
        or (len(leveled) and tree.handle_unknown != "parent")
        or np.any(kind[leveled] == NUMERIC)
        or np.any(n_levels[feature[leveled[kind[leveled] == NOMINAL]]] > MAX_LEVELS)
    ):
        return None
    statistics = tree.read_leaf_statistics()
    if len(leveled):
        ends = np.concatenate([ends, leveled])
        statistics = np.concatenate([statistics, tree.read_statistics(leveled)])
    leaf_number = np.zeros(len(n_children), dtype=np.int32)
    leaf_number[ends] = np.arange(len(ends))
    lacked = None
    if n_levels.any():
        place, first_bit, n_words, _ = place_words(n_levels)
        if n_words > MAX_WORDS:
            return None
        nodes = np.empty(len(n_children), dtype=MIXED_NODE_DTYPE)
        lacked = np.zeros(len(leveled) + 1, dtype=LACKED_LEVELS_DTYPE)
        pack_mixed(
            *(
                np.ascontiguousarray(column, dtype=np.int32)
                for column in (n_children, feature, missing, kind)
            ),
            np.ascontiguousarray(threshold, dtype=np.float64),
            np.ascontiguousarray(map_start, dtype=np.int64),
            tree.level_branch,
            n_levels,
            place,
            first_bit,
            leaf_number,
            nodes,
            lacked,
        )
        leaf_number = None
    else:
        nodes = np.empty(len(n_children), dtype=PACKED_NODE_DTYPE)
        # The child of a leaf is the leaf itself.
        nodes["feature"] = 0
        nodes["threshold"] = np.inf
        nodes["first_child"] = 2 * np.arange(len(nodes), dtype=np.int32)
        nodes["feature"][inner] = feature[inner]
        nodes["threshold"][inner] = threshold[inner]
        # All nodes but the root are children, in pairs, in the order of their parents.
        nodes["first_child"][inner] = 2 * np.arange(1, len(nodes), 2) + missing[inner]
    shares = share_out(statistics) if tree.is_classifier else statistics
    shares = np.ascontiguousarray(shares.reshape(len(ends), -1))
    return PackedTree(nodes, lacked, n_levels, leaf_number, shares, tree.max_depth)


def walk_packed(
    packed, matrix, n_threads, weights, sums=None, votes=False, leaves=None
):
    """Route a dense table through packed trees.

    Parameters
    ----------
    packed : PackedTrees
        The trees.
    matrix : ndarray of float64 or float32, shape (n_rows, n_features)
        The table.
    n_threads : int
        Number of threads.
    weights : ndarray of float64, shape (n_trees,)
        Weights of the trees.
    sums : ndarray of float64, shape (n_rows, n_outputs, n_statistics), default=None
        The sums, in C order, to which the predictions are added in place.
    votes : bool, default=False
        Whether the trees vote.
    leaves : ndarray of int64, shape (n_rows, n_trees), default=None
        Written instead of the sums: the node in which each row ends.
    """
    n_rows, n_columns = matrix.shape
    if n_rows == 0:
        return
    row_bytes = packed.word_bytes or n_columns * matrix.itemsize
    block_rows, n_threads = _choose_blocks(n_rows, row_bytes, n_threads)
    is_copied = packed.word_bytes > 0 or matrix.strides[1] != matrix.itemsize
    copied_bytes = block_rows * row_bytes if is_copied else 1
    walk_trees(
        matrix,
        packed,
        weights,
        sums,
        votes,
        leaves,
        np.empty((n_threads, copied_bytes), dtype=np.int8).view("c"),
        np.empty((n_threads, 2 * block_rows + GROUP_ROWS), dtype=np.int32),
        np.empty((n_threads, block_rows // GROUP_ROWS), dtype=np.uint8),
        block_rows,
    )


def _choose_blocks(n_rows, row_bytes, n_threads):
    """Return the rows of a block, for equal work per thread, and the threads."""
    most = max(MIN_BLOCK_ROWS, _BLOCK_BYTES // row_bytes)
    n_threads = min(n_threads, -(-n_rows // MIN_BLOCK_ROWS))
    n_blocks = -(-n_rows // most)
    n_blocks = -(-n_blocks // n_threads) * n_threads
    block_rows = -(-n_rows // n_blocks)
    return -(-block_rows // GROUP_ROWS) * GROUP_ROWS, n_threads
