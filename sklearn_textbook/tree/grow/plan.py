"""Data common to many trees over one table, prepared once."""

from __future__ import annotations

from dataclasses import replace
from math import ldexp

import numpy as np

from sklearn_textbook.tree.encode import NOMINAL
from sklearn_textbook.tree.grow._settings import Settings
from sklearn_textbook.tree.grow._small_node import MOST_CLASSES
from sklearn_textbook.tree.grow._tree_grower import ColumnGrower, ListGrower
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.settings import (
    Root,
    choose_scan,
    describe_oblique,
    is_root_leaf,
    keep_weighted_rows,
    make_cells,
    make_root,
    shape_statistics,
    tabulate_entropy,
)
from sklearn_textbook.tree.grow.storage import store_columns
from sklearn_textbook.tree.grow.target import measure_counts

LISTED_TYPES = (np.int32, np.int64, np.float64)
# Limits of the entries of a list, which have 16 bits for a weight or a class, and of
# the sums of whole weights.
LARGEST_LISTED_WEIGHT = 2**16 - 1
LARGEST_LISTED_TOTAL = 2**21 - 1
MAX_LISTED_ROWS = 2**31 - 1
MAX_LISTED_CLASSES = 2**16
MAX_COUNTED_ROWS = 2**21  # in the table, where two classes are counted
# Columns of the table for each one that a node uses, up to which partitioning all of
# them takes less than counting many classes in bins.
SCANNED_FRACTION = 32
# Power of two of the largest weight, up to which products of four sums of weights, and
# of squares of values, neither over- nor underflow.
LARGEST_EXPONENT = 100
CLASS_CRITERIA = ("gini", "entropy", "log_loss")


def choose_partitioner(table, target, rules, weight: np.ndarray | None = None) -> str:
    """Choose the partitioner; both give the same tree."""
    if _are_classes_scanned(table, target, rules):
        return "sorted-columns"
    max_features = rules.max_features or table.n_columns
    looks_at_few = 2 * max_features < table.n_columns or rules.random_splitter
    is_served = (
        rules.gain is None
        and rules.missing not in ("surrogate", "fractional")
        and rules.criterion != "absolute_error"
        and table.level_codes is None
        and table.n_rows <= MAX_LISTED_ROWS
        and (not target.is_classifier or max(target.n_classes) <= MAX_LISTED_CLASSES)
    )
    if rules.oblique is not None:
        require_list(is_served, table)
        return "sample-list"
    if is_served and (looks_at_few or _is_list_faster(table, target, rules, weight)):
        return "sample-list"
    return "sorted-columns"


def _are_classes_scanned(table, target, rules):
    """Whether classes are so many that a list is slower even for a few columns."""
    return (
        target.is_classifier
        and max(target.n_classes) > MOST_CLASSES
        and rules.criterion == "gini"
        and not rules.random_splitter
        and rules.oblique is None
        and NOMINAL not in table.schema.kinds
        and table.n_columns
        <= SCANNED_FRACTION * (rules.max_features or table.n_columns)
    )


def _is_list_faster(table, target, rules, weight) -> bool:
    """Whether a list is faster though all columns are searched.

    The scan of a sorted column takes less only for classes without constraints, and
    for two classes only if the columns are numeric and have no missing values. The
    entropy of float weights takes logarithms at every threshold of a scan.
    """
    if choose_sums(table, target, rules, None) == "general":
        return False
    is_two_classes = target.n_classes[0] == 2 and rules.criterion == "gini"
    return bool(
        not target.is_classifier
        or rules.monotonic is not None
        or rules.min_weight_leaf > 0.0
        or rules.max_leaf_nodes is not None
        or (rules.criterion != "gini" and not _are_small_counts(target, weight))
        or (is_two_classes and table.n_missing.any())
        or (is_two_classes and NOMINAL in table.schema.kinds)
    )


def require_list(is_served, table) -> None:
    """Raise ValueError for a table that is too large for oblique tests."""
    if not is_served:
        raise ValueError(
            f"Oblique tests are for tables of up to {MAX_LISTED_ROWS} rows and targets "
            f"of up to {MAX_LISTED_CLASSES} classes; the table has {table.n_rows} rows."
        )


def choose_sums(table, target, rules, weight: np.ndarray | None) -> str:
    """Choose the sums over the samples of a list."""
    if target.n_outputs > 1:
        return "general"
    is_whole = _are_small_counts(target, weight)
    if not target.is_classifier:
        return "moments"
    if target.n_classes[0] == 2:
        # A random threshold needs no bound of the scores in a bin.
        is_counted = is_whole and table.n_rows <= MAX_COUNTED_ROWS
        if is_counted and (rules.criterion == "gini" or rules.random_splitter):
            return "binary"
        if rules.criterion == "gini":
            return "moments"
    if rules.criterion in CLASS_CRITERIA or rules.random_splitter:
        return "class-counts" if is_whole else "class-weights"
    return "general"


def _sorts_columns(table, target, rules) -> bool:
    """Whether some column is sorted where thresholds are sampled at random."""
    return bool(
        choose_sums(table, target, rules, None) == "general"
        or NOMINAL in table.schema.kinds
        or (rules.missing == "branch" and table.n_missing.any())
    )


def _are_small_counts(target, weight):
    """Whether the weights, and their sum, fit into the entries of a list."""
    if weight is None:
        return target.n_rows <= LARGEST_LISTED_TOTAL
    if weight.max() > LARGEST_LISTED_WEIGHT or weight.sum() > LARGEST_LISTED_TOTAL:
        return False
    return weight.dtype.kind in "iu" or bool((weight == np.floor(weight)).all())


def find_exponent(weight: np.ndarray | float | None, rules) -> int:
    """Find the power of two by which weights are divided for growth.

    Growth multiplies up to four sums of weights, which must not over- or underflow.
    """
    if weight is None or weight.dtype.kind != "f" or rules.gain is not None:
        return 0
    exponent = int(np.frexp(weight.max(initial=0.0))[1])
    return exponent if abs(exponent) > LARGEST_EXPONENT else 0


def scale_rules(rules, exponent):
    """Divide the limits and sizes of rules that are weights by a power of two."""
    smoothing = rules.categorical_smoothing
    if not isinstance(smoothing, str):
        smoothing = ldexp(smoothing, -exponent)
    return replace(
        rules,
        min_weight_leaf=ldexp(rules.min_weight_leaf, -exponent),
        categorical_smoothing=smoothing,
    )


def scale_weights(tree, exponent):
    """Multiply the weights in a tree by a power of two."""
    nodes = tree.nodes.copy()
    nodes["weight"] = np.ldexp(nodes["weight"], exponent)
    statistics = tree.statistics
    if tree.is_classifier:
        statistics = np.ldexp(statistics, exponent)
    return tree.replace(nodes=nodes, statistics=statistics)


class GrowthPlan:
    """Grows many trees over one table.

    The description of the table and the rules is made once, and the memory of a tree is
    reused for the next one.

    Parameters
    ----------
    table : EncodedTable
        The table.
    target : Target
        Classes or values of all rows.
    rules : GrowthRules
        How the trees are grown.
    compacted_nodes : int, default=None
        Trees with at least this number of nodes are returned in their compact form, see
        :meth:`GrownTree.compact`. None: no tree.
    n_threads : int, default=1
        Number of threads for the preparation.
    """

    def __init__(
        self, table, target, rules, compacted_nodes=None, n_threads: int = 1
    ) -> None:
        self.table = table
        self.compacted_nodes = compacted_nodes
        self.target = target
        self.rules = rules
        self._growers = {}  # by what they sum up; not at work
        self._list_settings = None  # what a ListGrower takes
        if choose_partitioner(table, target, rules) == "sample-list":
            self._prepare_list(n_threads)

    def _prepare_list(self, n_threads) -> None:
        """Describe the table and the rules to lists of samples."""
        table, target, rules = self.table, self.target, self.rules
        sorts = _sorts_columns(table, target, rules)
        # Threads that are the first to need them may all make them.
        self._list_settings = (
            Settings(table, target, rules, choose_scan(rules, target, np.ones(1))),
            make_cells(table, rules, sorts, n_threads),
            describe_oblique(table, rules.oblique, n_threads),
        )

    def grow(
        self,
        weight: np.ndarray | float | None = None,
        random_state: int = 0,
        n_threads: int = 1,
        design_effect: float = 1.0,
    ) -> GrownTree:
        """Grow a tree; several threads may do so at the same time."""
        exponent = find_exponent(weight, self.rules)
        if exponent != 0:
            return self._grow_scaled(
                exponent, weight, random_state, n_threads, design_effect
            )
        chosen = choose_partitioner(self.table, self.target, self.rules, weight)
        if chosen == "sample-list":
            if self._list_settings is None:
                self._prepare_list(n_threads)
            return self._grow_from_list(weight, random_state, n_threads, design_effect)
        tree = self._grow_from_columns(weight, random_state, n_threads, design_effect)
        return tree.compact() if self._is_compacted(tree.node_count) else tree

    def _grow_scaled(self, exponent, weight, random_state, n_threads, design_effect):
        """Grow a tree from weights divided by a power of two."""
        rules = scale_rules(self.rules, exponent)
        plan = GrowthPlan(self.table, self.target, rules, n_threads=n_threads)
        weight, effect = np.ldexp(weight, -exponent), ldexp(design_effect, -exponent)
        tree = plan.grow(weight, random_state, n_threads, effect)
        tree = scale_weights(tree, exponent)
        return tree.compact() if self._is_compacted(tree.node_count) else tree

    def _is_compacted(self, n_nodes):
        return self.compacted_nodes is not None and n_nodes >= self.compacted_nodes

    def _grow_from_columns(self, weight, random_state, n_threads, design_effect):
        """Grow a tree from sorted columns."""
        rules = self.rules
        if weight is not None:
            weight = np.asarray(weight, dtype=np.float64)
        target, weight, row_number = keep_weighted_rows(self.target, weight)
        if rules.missing == "fractional" and self.table.n_missing.any():
            # Growing writes into the weights.
            weight = np.ones(target.n_rows) if weight is None else weight.copy()
        scan = choose_scan(rules, target, weight)
        settings = Settings(self.table, target, rules, scan, weight)
        entropy = tabulate_entropy(target.n_rows) if scan == "entropy" else {}
        more = {"random_state": random_state, "design_effect": design_effect, **entropy}
        root = make_root(rules, target, weight, **more)
        grower = ColumnGrower(settings, weight, n_threads)
        grower.grow(root, row_number)
        return self._make_tree(*grower.write_nodes())

    def _grow_from_list(self, weight, random_state, n_threads, design_effect):
        """Grow a tree from a list of samples."""
        if weight is not None:
            dtype = weight.dtype if weight.dtype in LISTED_TYPES else np.float64
            weight = np.ascontiguousarray(weight, dtype=dtype)
            if dtype != np.float64 and not _are_small_counts(self.target, weight):
                # Entries have 16 bits for a whole weight.
                weight = weight.astype(np.float64)
        kind = choose_sums(self.table, self.target, self.rules, weight)
        growers = self._growers.setdefault(kind, [])
        try:
            grower = growers.pop()
        except IndexError:
            grower = ListGrower(*self._list_settings, kind)
        measured = grower.list_samples(weight)
        more = {"random_state": random_state, "design_effect": design_effect}
        if measured is not None:
            root = self._make_root(measured, kind, more)
        else:
            real = None if weight is None else weight.astype(np.float64, copy=False)
            target, kept, _ = keep_weighted_rows(self.target, real)
            root = make_root(self.rules, target, kept, **more)
        tree = self._read_tree(grower, grower.grow(root, n_threads))
        growers.append(grower)
        return tree

    def _read_tree(self, grower, n_nodes):
        """Read the tree of a grower, in the requested form."""
        is_compacted = self._is_compacted(n_nodes)
        columns = grower.read_short_columns() if is_compacted else None
        stored = None if columns is None else store_columns(columns)
        if stored is not None:
            return GrownTree.from_stored(stored, **self._describe_tree())
        tree = self._make_tree(*grower.write_nodes())
        return tree.compact() if is_compacted else tree

    def _make_tree(self, nodes, statistics, side_tables):
        return GrownTree(
            nodes=nodes,
            statistics=shape_statistics(statistics, self.target),
            **side_tables,
            **self._describe_tree(),
        )

    def _describe_tree(self):
        """Describe the data common to all trees."""
        return {
            "n_features": self.table.n_columns,
            "n_levels": self.table.schema.n_levels,
            "n_classes": self.target.n_classes,
            "is_classifier": self.target.is_classifier,
            "handle_unknown": self.rules.handle_unknown,
        }

    def _make_root(self, measured, kind, more):
        """Make the root of the listed samples."""
        n_rows, total_weight, statistics, impurity, is_pure = measured
        rules = self.rules
        if self.target.is_classifier:
            impurity, is_pure = measure_counts(statistics, rules.criterion)
            impurity = 0.0 if is_pure else impurity
        takes_logarithms = rules.criterion in ("entropy", "log_loss")
        if kind == "class-counts" and takes_logarithms and not rules.random_splitter:
            more = more | tabulate_entropy(total_weight)
        is_leaf = is_root_leaf(rules, n_rows, total_weight, is_pure)
        return Root(statistics, impurity, total_weight, is_leaf, **more)


def grow_tree(
    table,
    target,
    rules,
    *,
    sample_weight: np.ndarray | None = None,
    random_state: int = 0,
    n_threads: int = 1,
) -> GrownTree:
    """Grow one tree."""
    plan = GrowthPlan(table, target, rules, n_threads=n_threads)
    return plan.grow(sample_weight, random_state, n_threads, rules.design_effect)
