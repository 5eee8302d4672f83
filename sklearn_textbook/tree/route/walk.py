"""Routing of a table through a tree, the first step of all functions here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy  # whose submodules are loaded on first use

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook.tree.grow.layout import (
    FRACTIONAL,
    LEAF,
    NOMINAL,
    NUMERIC,
    SIDE_DTYPES,
    TREE_UNDEFINED,
    share_out,
)
from sklearn_textbook.tree.route._leaf_equations import add_equations
from sklearn_textbook.tree.route._route import (
    BLOCK_ROWS,
    GROUP_ROWS,
    LACKED_LEVELS_DTYPE,
    MAX_LEVELS,
    MAX_WORDS,
    MIXED_NODE_DTYPE,
    PACKED_NODE_DTYPE,
    FastTables,
    PackedTrees,
    RouteTables,
    count_steps,
    pack_mixed,
    place_words,
    walk_rows,
    walk_trees,
)

# ------------------------------------------------------------------------------------
# A tree with binary tests, packed for prediction.
# ------------------------------------------------------------------------------------


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
        For the first dtype: the row of ``fractions`` of each leaf.
    fractions : ndarray of float64, shape (n_ends, n_outputs * n_statistics)
        The distributions of the leaves, and of all nodes in which rows may stay
        because they lack their level.
    depth : int
        Maximum number of tests on a path.
    """

    nodes: np.ndarray
    lacked: np.ndarray | None
    n_levels: np.ndarray
    leaf_number: np.ndarray | None
    fractions: np.ndarray
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
    fractions = share_out(statistics) if tree.is_classifier else statistics
    fractions = np.ascontiguousarray(fractions.reshape(len(ends), -1))
    return PackedTree(nodes, lacked, n_levels, leaf_number, fractions, tree.max_depth)


def walk_packed(
    packed,
    matrix,
    n_threads: int,
    weights: np.ndarray,
    sums: np.ndarray | None = None,
    votes: bool = False,
    leaves: np.ndarray | None = None,
) -> None:
    """Route a dense table through packed trees."""
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


# Entries of a sparse table that are converted to dense at once (16 MB).
_MAX_DENSE_ENTRIES = 1 << 21
# Limits for the fast walk, which needs tables made from the tree: minimum rows per
# node, and maximum steps (about the entries of level maps) per row.
_MIN_ROWS_PER_NODE = 1 / 16
_MAX_STEPS_PER_ROW = 4
# Minimum rows for which a tree with tests of levels is packed, if it can be.
_MIN_PACKED_ROWS = 2048


def as_table(tree, matrix):
    """Convert to a float array, or CSR array, with the columns of the tree."""
    is_sparse = scipy.sparse.issparse(matrix)
    table = scipy.sparse.csr_array(matrix) if is_sparse else np.asarray(matrix)
    if table.ndim != 2 or table.shape[1] != tree.n_features:
        raise ValueError(
            f"The table must have shape (n_rows, {tree.n_features}), got {table.shape}."
        )
    if table.dtype not in (np.float32, np.float64) or not table.dtype.isnative:
        table = table.astype(np.float64)
    if not scipy.sparse.issparse(table) and not table.flags.aligned:
        table = table.copy()
    return table


def walk_blocks(tree, table, n_threads, feature_names, predicted=None):
    """Route a table of :func:`as_table`; a sparse one in dense blocks."""
    if n_threads < 1:
        raise ValueError(f"n_threads must be an integer >= 1, got {n_threads}.")
    n_rows, n_columns = table.shape
    columns = np.arange(n_columns)
    step = n_rows
    if scipy.sparse.issparse(table):
        tree, table, columns = _keep_tested_columns(tree, table)
        step = max(1, _MAX_DENSE_ENTRIES // table.shape[1])
    plan = Plan(tree, n_threads, columns, feature_names)
    for first in range(0, n_rows, max(step, 1)):
        rows = slice(first, min(first + step, n_rows))
        block = table[rows].toarray() if scipy.sparse.issparse(table) else table
        yield Walk(plan, rows, block, None if predicted is None else predicted[rows])


def _keep_tested_columns(tree, table):
    """Restrict a tree and a sparse table to the tested columns; also return these."""
    tables = {name: getattr(tree, name) for name in ("nodes", *SIDE_DTYPES)}
    features = [records["feature"] for records in tables.values()]
    tested = np.unique(np.concatenate(features))
    tested = tested[tested != TREE_UNDEFINED]
    if len(tested) == 0:
        tested = np.zeros(1, dtype=np.int32)
    tables = {name: records.copy() for name, records in tables.items()}
    for records in tables.values():
        inner = records["feature"] != TREE_UNDEFINED
        records["feature"][inner] = np.searchsorted(tested, records["feature"][inner])
    narrow = tree.replace(
        **tables,
        n_features=len(tested),
        n_levels=np.asarray(tree.n_levels)[tested],
    )
    return narrow, table[:, tested], tested


class Equations:
    """The equations of some trees over the same columns, ready for prediction."""

    _known: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    def __init__(self, trees) -> None:
        counts = [tree.node_count for tree in trees]
        self.first_node = np.cumsum([0, *counts[:-1]])
        self.slopes = np.concatenate([tree.slopes for tree in trees])
        offsets = np.repeat(self.first_node, [len(tree.slopes) for tree in trees])
        self.slopes["node"] += offsets.astype(np.int32)
        self.start = np.searchsorted(self.slopes["node"], np.arange(sum(counts) + 1))
        pairs = list(zip(trees, counts, strict=True))
        self.level = np.concatenate(
            [tree.read_statistics(np.arange(count))[:, 0, 0] for tree, count in pairs]
        )
        self.bounds = np.concatenate(
            [tree.bounds if len(tree.bounds) else np.zeros((n, 2)) for tree, n in pairs]
        )
        self.n_levels = np.ascontiguousarray(trees[0].n_levels, dtype=np.int64)

    @classmethod
    def of(cls, tree):
        """Return those of an immutable tree."""
        if tree not in cls._known:
            cls._known[tree] = cls([tree])
        return cls._known[tree]

    def add(
        self, matrix, leaves: np.ndarray, out, n_threads: int, weights=None
    ) -> None:
        """Add what the trees predict in given nodes, of shape (n_rows, n_trees)."""
        if weights is None:
            weights = np.ones(leaves.shape[1])
        add_equations(
            *(matrix, leaves, self.first_node, weights, self.level, self.slopes),
            *(self.start, self.n_levels, self.bounds, out, n_threads),
        )


def predict_in_nodes(tree, matrix, nodes: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Predict the rows of a dense table by the equations of given nodes."""
    values = np.zeros(len(nodes))
    leaves = np.ascontiguousarray(nodes, dtype=np.int64)[:, np.newaxis]
    Equations.of(tree).add(matrix, leaves, values, n_threads)
    return values


class Traits:
    """Properties of a tree that decide how rows are routed; found once per tree."""

    _known: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    def __init__(self, tree) -> None:
        kind, missing = tree.nodes["kind"], tree.nodes["missing_branch"]
        is_inner = kind != LEAF
        self.tables = RouteTables(tree)
        self.is_numeric = not np.any(is_inner & (kind != NUMERIC))
        self.may_divide = bool(
            np.any(is_inner & (missing == FRACTIONAL))
            or (tree.handle_unknown == "fractional" and not self.is_numeric)
        )
        # Whether missing values are treated in any other way than going to child 0 or
        # 1.
        self.marks_missing = bool(
            len(tree.surrogates) or np.any(is_inner & (missing != 0) & (missing != 1))
        )

    @classmethod
    def of(cls, tree):
        """Return the cached properties of a tree, which is immutable."""
        traits = cls._known.get(tree)
        if traits is None:
            traits = cls._known[tree] = cls(tree)
        return traits


class Plan:
    """Data common to all blocks of one call."""

    def __init__(self, tree, n_threads, columns, feature_names) -> None:
        self.tree = tree
        self.n_threads = n_threads
        self.columns = columns
        self.feature_names = feature_names

    @cached_property
    def traits(self):
        """The properties of the tree, for which a compact one is expanded."""
        return Traits.of(self.tree)

    @property
    def tables(self):
        """The arrays of the tree."""
        return self.traits.tables

    def find_packed(self, n_rows):
        """Return the packed tree, whose tests of levels take half the time, or None."""
        least = max(_MIN_PACKED_ROWS, self.tree.node_count * _MIN_ROWS_PER_NODE)
        if n_rows < least or not np.any(self.tree.n_levels):
            return None
        packed = PackedTree.of(self.tree)
        return None if packed is None else PackedTrees([packed])

    def choose_fast_tables(self, n_rows):
        """Make the tables of the fast walk; None if they cost more than they save."""
        if n_rows < self.tree.node_count * _MIN_ROWS_PER_NODE:
            return None
        traits = self.traits
        if len(self.tree.terms):
            return None
        if traits.is_numeric:
            return FastTables.of_numeric(traits.tables, traits.marks_missing)
        n_steps = count_steps(traits.tables)
        if n_steps > n_rows * _MAX_STEPS_PER_ROW:
            return None
        return FastTables.of_coded(traits.tables, n_steps)

    @cached_property
    def fractions(self):
        """The distribution of every node, of shape (node_count, width)."""
        fractions = self.tree.value.reshape(self.tree.node_count, -1)
        return np.ascontiguousarray(fractions)


class Walk:
    """The result of routing one dense block of rows.

    ``ended`` contains the node in which each row ends, or ~node if the row is divided
    among the children of the node. ``predicted``, if given, contains the distributions
    of all other rows, and ``ended`` is None if no row can be divided.
    """

    def __init__(self, plan, rows, matrix, predicted=None):
        self.plan = plan
        self.rows = rows
        self.matrix = matrix
        n_rows = matrix.shape[0]
        self.n_threads = plan.n_threads if n_rows > BLOCK_ROWS else 1
        wanted = predicted
        if len(plan.tree.slopes):
            predicted = None  # equations need the nodes
        packed = plan.find_packed(n_rows)
        self.may_divide = packed is None and plan.traits.may_divide
        if packed is not None:
            self._walk_packed(packed, predicted)
        else:
            self._walk_nodes(predicted)
        if wanted is not predicted:
            wanted[:, 0] = predict_in_nodes(
                plan.tree, matrix, self.node, self.n_threads
            )

    def _walk_nodes(self, predicted):
        """Find the nodes and, if they are wanted, the distributions."""
        plan, n_rows = self.plan, self.matrix.shape[0]
        self.ended = np.empty(n_rows, dtype=np.int64)
        errors = self.no_errors(-(-n_rows // BLOCK_ROWS))
        # For a few rows the distributions of all nodes are not needed.
        is_worth = self.may_divide or n_rows >= plan.tree.node_count
        gathers = predicted is not None and is_worth
        walk_rows(
            self.matrix,
            plan.tables,
            plan.choose_fast_tables(n_rows),
            self.ended,
            plan.fractions if gathers else None,
            predicted if gathers else None,
            errors,
            self.n_threads,
        )
        self.check(errors)
        if predicted is not None and not gathers:
            predicted[:] = plan.tree.compute_value(self.ended).reshape(n_rows, -1)

    def _walk_packed(self, packed, predicted):
        """Find the nodes, or the distributions if these are wanted."""
        weights, tree = np.ones(1), self.plan.tree
        if predicted is None:
            self.ended = np.empty(len(self.matrix), dtype=np.int64)
            leaves = self.ended[:, np.newaxis]
            walk_packed(packed, self.matrix, self.n_threads, weights, leaves=leaves)
            return
        self.ended = None
        predicted[:] = -0.0  # so that a sum is -0.0, too, if what is added is
        sums = predicted.reshape(-1, tree.n_outputs, tree.n_statistics)
        walk_packed(packed, self.matrix, self.n_threads, weights, sums)

    @property
    def node(self):
        """Number of the node in which each row ends or is divided."""
        if not self.may_divide:
            return self.ended
        return np.where(self.ended < 0, ~self.ended, self.ended)

    @property
    def divided(self):
        """Positions of the rows that are divided among the children of a node."""
        if not self.may_divide:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.ended < 0)

    def scratch(self, n_entries, dtype):
        """Allocate a row of working memory for every thread."""
        return np.empty((self.n_threads, n_entries), dtype=dtype)

    @staticmethod
    def no_errors(n_parts):
        """Allocate (row, column) of the first unseen level for each part."""
        return np.full((n_parts, 2), -1, dtype=np.int64)

    def check(self, errors):
        """Raise an error for the first row with an unseen level, if there is one."""
        errors = errors[errors[:, 0] >= 0]
        if len(errors) == 0:
            return
        row, column = errors[np.argmin(errors[:, 0])]
        column = self.plan.columns[column]
        names = self.plan.feature_names
        name = f"Column {column}" if names is None else f"Column {names[column]!r}"
        raise ValueError(
            f"{name} has a level in row {self.rows.start + row} that was not seen in "
            "training in its node, and handle_unknown='error'. Also allowed are "
            "handle_unknown='parent' and handle_unknown='fractional'."
        )
