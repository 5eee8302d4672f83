"""From an encoded table and a target to a grown tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.encode import NOMINAL, ORDINAL
from sklearn_textbook.tree.grow import layout
from sklearn_textbook.tree.grow._engine import grow_nodes
from sklearn_textbook.tree.grow._listed_engine import grow_from_rows
from sklearn_textbook.tree.grow._row_list_engine import grow_from_list
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.target import (
    CRITERIA,
    make_entropy_table,
    measure_root,
)

# Numbers of the choices in split/_types.pxd.
MISSING_MODES = {"learned": 0, "branch": 1, "surrogate": 2, "fractional": 3, "error": 0}
CATEGORICAL_SPLITS = {"subset": 0, "one-vs-rest": 1, "multiway": 2}
SCANS = {
    "general": 0,
    "binary": 1,
    "classes": 2,
    "entropy": 3,
    "weighted-binary": 4,
    "weighted-classes": 5,
    "fixed": 6,
    "weighted-values": 7,
    "absolute": 8,
}
UNLIMITED = np.iinfo(np.int64).max // 4
MOST_DISTANT = 2.0**20  # spread of y, in standard deviations, that fixed point bears
# Limits of the lists of rows, which have 16 bits for a weight and 21 for a sum.
LARGEST_LISTED_WEIGHT = 2**16 - 1
LARGEST_LISTED_TOTAL = 2**21 - 1
MOST_LISTED_ROWS = 2**25
MOST_LISTED_CLASSES = 2**16
MOST_COUNTED_ROWS = 2**21  # in the table, where a list counts two classes


CHOICES = {"gain": 1, "above-average": 2, "plain": 3}
J48_TOLERANCE = 1e-6  # differences of gains, ratios and weights that count as none
J48_RESOLUTION = 1e-5  # neighbouring values must lie further apart


@dataclass(frozen=True)
class GainRules:
    """How ID3 and C4.5 judge and choose tests; sizes are sums of weights.

    Parameters
    ----------
    choice : {"gain", "above-average", "plain"}
        Largest gain; largest gain ratio of the tests with at least average gain; or
        largest gain ratio.
    min_gain : float, default=0.0
        A node whose best test gains less stays a leaf.
    min_weight_split : float, default=0.0
        Lighter nodes stay leaves.
    min_divided_weight : float, default=0.0
        So do lighter nodes below a test that divided cases: fractions of cases could
        otherwise be split for ever.
    min_branch : float, default=0.0
        Weight of the known cases that branches must have.
    needs_all_branches : bool, default=False
        Whether all branches with cases must have it, or just two.
    adapts_minimum : bool, default=False
        Whether numeric tests ask for a tenth of the weight per class, but not for
        less than ``min_branch`` nor for more than 25.
    corrects_gain : bool, default=False
        Whether numeric tests pay log2(tries) / W for the choice of their threshold.
    keeps_observed : bool, default=False
        Whether thresholds are values of the table instead of midpoints.
    exact : bool, default=True
        Whether gains and values are compared up to rounding only; otherwise with the
        tolerances of J48. Weights are always compared with its tolerance.
    """

    choice: str
    min_gain: float = 0.0
    min_weight_split: float = 0.0
    min_divided_weight: float = 0.0
    min_branch: float = 0.0
    needs_all_branches: bool = False
    adapts_minimum: bool = False
    corrects_gain: bool = False
    keeps_observed: bool = False
    exact: bool = True


@dataclass(frozen=True)
class GrowthRules:
    """How a tree is grown; the names and meanings are those of CARTClassifier.

    Limits are resolved: row counts as integers, the weight as a sum of weights. With
    ``top_splits`` above 1, a node takes one of so many best tests, the best ones of its
    columns, at random.
    """

    criterion: str
    max_depth: int = UNLIMITED
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_features: int | None = None
    random_splitter: bool = False
    shuffles_columns: bool = False
    missing: str = "learned"
    categorical_split: str = "subset"
    unseen: str = "parent"
    monotonic: tuple | None = None
    gain: GainRules | None = None
    top_splits: int = 1


def choose_scan(rules, target, weight, impurity):
    """Name the kernel for numeric columns: the fastest that gives the same splits."""
    if rules.criterion == "absolute_error":
        return "absolute"
    special = target.n_outputs == 1 and not rules.random_splitter
    if not special or rules.min_weight_leaf > 0 or rules.monotonic is not None:
        return "general"
    if rules.criterion == "gini":
        kind = "binary" if target.n_classes[0] == 2 else "classes"
        return kind if weight is None else f"weighted-{kind}"
    if rules.criterion in ("entropy", "log_loss") and weight is None:
        return "entropy"
    if rules.criterion == "squared_error":
        if weight is not None or impurity <= 0:
            return "weighted-values"
        y = target.values[:, 0]
        spread = float(y.max()) - float(y.min())
        return "fixed" if spread < MOST_DISTANT * impurity**0.5 else "weighted-values"
    return "general"


def choose_engine(table, target, rules, weight):
    """Name the engine that grows the tree sooner; both grow the same one.

    Parameters
    ----------
    table : EncodedTable
        The table.
    target : Target
        Classes or values of the rows that take part.
    rules : GrowthRules
        How the tree is grown.
    weight : ndarray of float64, shape (n_rows,), or None
        Their weights; None for unit weights.

    Returns
    -------
    engine : {"sorted-columns", "row-list"}
        Sorted columns serve every table and rule; dividing all of them at every node
        is wasteful where a node looks at few, and sorting them where thresholds are
        drawn at random. A list of rows serves numeric columns without missing values
        and whole weights, for Gini, entropy and the squared error of one output, and
        for all class criteria where thresholds are drawn. It needs the ranks of the
        table, which do not pay for one tree, and has one thread: so it is chosen only
        where ``table.ranks()`` has been called before, for many trees; or, where
        thresholds are drawn, ``table.row_values()``.
    """
    max_features = rules.max_features or table.n_columns
    looks_at_few = 2 * max_features < table.n_columns or rules.random_splitter
    is_prepared = table.has_ranks or (rules.random_splitter and table.has_row_values)
    if is_prepared and looks_at_few and serves_list(table, target, rules, weight):
        return "row-list"
    return "sorted-columns"


def serves_list(table, target, rules, weight):
    """Tell whether a tree can be grown from a list of rows."""
    return bool(
        target.n_outputs == 1
        and _divides_lists(target, rules)
        and rules.top_splits == 1
        and rules.monotonic is None
        and rules.gain is None
        and NOMINAL not in table.schema.kinds
        and not table.n_missing.any()
        and table.n_rows <= MOST_LISTED_ROWS
        and _are_small_counts(target, weight)
    )


def counts_two_classes(table, target, rules):
    """Tell whether a list of rows can be counted by two classes alone."""
    return (
        rules.criterion == "gini"
        and not rules.random_splitter
        and target.n_classes[0] == 2
        and table.n_rows <= MOST_COUNTED_ROWS
    )


def _divides_lists(target, rules):
    """Whether there are kernels that divide lists by these rules."""
    if rules.random_splitter:
        if target.is_classifier:
            return target.n_classes[0] <= MOST_LISTED_CLASSES
        return rules.criterion == "squared_error"
    if rules.min_weight_leaf > 0:
        return False
    if target.is_classifier and target.n_classes[0] > MOST_LISTED_CLASSES:
        return False
    return rules.criterion in ("squared_error", "gini", "entropy", "log_loss")


def _are_small_counts(target, weight):
    """Whether the weights, and their sum, fit into the entries of a list."""
    if weight is None:
        return target.n_rows <= LARGEST_LISTED_TOTAL
    if weight.max() > LARGEST_LISTED_WEIGHT or weight.sum() > LARGEST_LISTED_TOTAL:
        return False
    return bool((weight == np.floor(weight)).all())


def keep_weighted_rows(target, weight):
    """Drop the rows of weight 0; forget weights that are all 1.

    Returns the target, the weights (or None) and the new number of every row (or
    None if all rows stay).
    """
    if weight is None:
        return target, None, None
    row_number = None
    is_kept = weight > 0
    if not is_kept.all():
        # Numbers of rows are taken several times faster than a mask.
        kept = np.flatnonzero(is_kept)
        row_number = np.full(len(weight), np.uint32(0xFFFFFFFF))
        row_number[kept] = np.arange(len(kept), dtype=np.uint32)
        target, weight = target.take(kept), weight[kept]
    if (weight == 1.0).all():
        weight = None
    return target, weight, row_number


def grow_tree(table, target, rules, *, sample_weight=None, random_state=0, n_threads=1):
    """Grow one tree.

    Parameters
    ----------
    table : EncodedTable
        The sorted columns; they are only read.
    target : Target
        Classes or values of the rows.
    rules : GrowthRules
        Criterion, limits and strategies.
    sample_weight : ndarray of float64, shape (n_rows,), default=None
        Weights of the rows; rows of weight 0 take no part.
    random_state : int, default=0
        Seed of all random choices.
    n_threads : int, default=1
        Number of threads; a list of rows (see ``choose_engine``) has one. The tree does
        not depend on it.

    Returns
    -------
    tree : GrownTree
        The tree.
    """
    rows = {
        "all_labels": target.codes,
        "all_values": target.values,
        "all_weights": sample_weight,
    }
    target, weight, row_number = keep_weighted_rows(target, sample_weight)
    if rules.missing == "fractional" and table.n_missing.any():
        # Growing writes into the weights.
        weight = np.ones(target.n_rows) if weight is None else weight.copy()
    settings = _collect_settings(table, target, rules, weight, row_number, random_state)
    if choose_engine(table, target, rules, weight) == "row-list":
        if counts_two_classes(table, target, rules):
            grown = grow_from_list(settings | describe_ranks(table) | rows)
        else:
            settings |= describe_cells(table, rules) | rows
            grown = grow_from_rows(
                settings | describe_entropy(rules, settings["total_weight"])
            )
    else:
        grown = grow_nodes(settings, n_threads)
    nodes, flat_statistics, level_branch, surrogates = grown
    return GrownTree(
        nodes=nodes,
        statistics=_shape_statistics(flat_statistics, target),
        n_features=table.n_columns,
        n_levels=table.schema.n_levels,
        n_classes=target.n_classes,
        is_classifier=target.is_classifier,
        level_branch=level_branch,
        surrogates=surrogates,
        unseen=rules.unseen,
    )


def describe_ranks(table, n_threads=1):
    """Describe the ranks of all rows, and the bins that they are counted in."""
    row_ranks, row_bins, shift = table.row_ranks(n_threads)
    spans = np.zeros(table.n_columns, dtype=layout.SPAN_DTYPE)
    spans["largest"] = np.maximum(table.n_distinct - 1, 0)
    spans["shift"] = shift
    return {
        "ranks": table.ranks(),
        "row_ranks": row_ranks,
        "row_bins": row_bins,
        "spans": spans,
    }


def describe_cells(table, rules, n_threads=1):
    """Describe the cells of all rows: ranks, and values to draw thresholds between."""
    if not rules.random_splitter:
        return describe_ranks(table, n_threads)
    steps, row_steps, *scaling = table.steps(n_threads)
    scales = np.zeros(table.n_columns, dtype=layout.SCALE_DTYPE)
    for name, numbers in zip(layout.SCALE_DTYPE.names, scaling, strict=True):
        scales[name] = numbers
    return {
        "row_values": table.row_values(n_threads),
        "steps": steps,
        "row_steps": row_steps,
        "scales": scales,
    }


def describe_entropy(rules, total_weight):
    """Describe c log2 c for all counts of whole weights, where a rule asks for it."""
    table, unit = None, 1.0
    if rules.criterion in ("entropy", "log_loss") and not rules.random_splitter:
        table, unit = make_entropy_table(int(total_weight))
    return {"entropy_table": table, "entropy_unit": unit}


def _shape_statistics(flat, target):
    """Statistics as (nodes, outputs, classes), padded where outputs differ."""
    if not target.is_classifier or target.n_outputs == 1:
        return flat.reshape(len(flat), target.n_outputs, -1)
    statistics = np.zeros((len(flat), target.n_outputs, target.n_classes.max()))
    starts = target.output_start
    for output, n_classes in enumerate(target.n_classes):
        first = starts[output]
        statistics[:, output, :n_classes] = flat[:, first : first + n_classes]
    return statistics


def _collect_settings(table, target, rules, weight, row_number, random_state):
    """Everything the engine reads, in the types it reads."""
    return {
        **describe_table(table, rules),
        **describe_rows(target, weight, row_number),
        **describe_rules(rules, table.n_columns),
        **_describe_root(target, rules, weight),
        "gain": describe_gain(table, rules.gain, target, weight),
        "random_state": random_state,
    }


def describe_table(table, rules):
    """Describe the columns: their order, values and kinds."""
    codes = {NOMINAL: layout.NOMINAL, ORDINAL: layout.ORDINAL}
    kind = np.array(
        [codes.get(name, layout.NUMERIC) for name in table.schema.kinds], dtype=np.int32
    )
    n_levels = table.schema.n_levels
    is_nominal = kind == layout.NOMINAL
    return {
        "order": table.order,
        "level_codes": table.level_codes,
        "is_coded": (is_nominal & (table.level_codes is not None)).astype(np.uint8),
        "values": table.values,
        "upper_values": table.upper_values,
        "n_missing": table.n_missing,
        "n_distinct": table.n_distinct,
        "has_missing": (table.n_missing > 0).astype(np.uint8),
        "columns": np.arange(table.n_columns, dtype=np.int32),
        "kind": kind,
        "n_levels": n_levels,
        "max_levels": int(n_levels[is_nominal].max()) if is_nominal.any() else 0,
        "any_nominal": bool(is_nominal.any()),
        "divides_cases": rules.missing == "fractional" and bool(table.n_missing.any()),
        "is_plain": not (
            is_nominal.any()
            or table.n_missing.any()
            or rules.random_splitter
            or rules.monotonic is not None
            or rules.gain is not None
        ),
    }


def describe_rows(target, weight, row_number):
    """Describe the rows: their classes or values, weights and numbers."""
    second_class = np.zeros(target.n_rows, dtype=np.uint8)
    if target.is_classifier and target.n_outputs == 1 and target.n_classes[0] == 2:
        second_class = target.codes[:, 0].astype(np.uint8)
    return {
        "is_classifier": target.is_classifier,
        "label": target.codes,
        "y": target.values,
        "second_class": second_class,
        "output_start": target.output_start,
        "weight": weight,
        "row_number": row_number,
    }


def describe_rules(rules, n_columns):
    """Describe the limits and strategies."""
    max_features = rules.max_features or n_columns
    monotonic = None
    if rules.monotonic is not None:
        monotonic = np.array(rules.monotonic, dtype=np.int32)
    return {
        "criterion": CRITERIA[rules.criterion],
        "max_depth": min(rules.max_depth, UNLIMITED),
        "min_samples_split": min(rules.min_samples_split, UNLIMITED),
        "min_samples_leaf": min(rules.min_samples_leaf, UNLIMITED),
        "min_weight_leaf": rules.min_weight_leaf,
        "min_impurity_decrease": rules.min_impurity_decrease,
        "max_features": max_features,
        "shuffle_columns": rules.shuffles_columns or max_features < n_columns,
        "random_splitter": rules.random_splitter,
        "top_splits": min(rules.top_splits, UNLIMITED),
        "missing_mode": MISSING_MODES[rules.missing],
        "categorical_split": CATEGORICAL_SPLITS[rules.categorical_split],
        "unseen_branch": (
            layout.FRACTIONAL if rules.unseen == "fractional" else layout.STAY
        ),
        "monotonic": monotonic,
    }


def _describe_root(target, rules, weight):
    """Describe the root, and name the kernel that suits its impurity."""
    statistics, impurity, is_pure = measure_root(target, rules.criterion, weight)
    scan = choose_scan(rules, target, weight, impurity)
    entropy_table, entropy_unit = None, 1.0
    if scan == "entropy":
        entropy_table, entropy_unit = make_entropy_table(target.n_rows)
    total_weight = float(target.n_rows if weight is None else np.cumsum(weight)[-1])
    return {
        "scan": SCANS[scan],
        "entropy_table": entropy_table,
        "entropy_unit": entropy_unit,
        "total_weight": total_weight,
        "root_statistics": statistics,
        "root_impurity": impurity,
        "root_is_leaf": is_root_leaf(rules, target.n_rows, total_weight, is_pure),
    }


def describe_gain(table, gain, target, weight):
    """Describe how gains decide, and what of it depends on the columns."""
    if gain is None:
        return {"choice": 0}
    total_weight = float(target.n_rows if weight is None else weight.sum())
    tolerance = 0.0 if gain.exact else J48_TOLERANCE
    is_nominal = np.array([kind == NOMINAL for kind in table.schema.kinds])
    is_many_valued = is_nominal & ~(
        0.3 * total_weight - table.schema.n_levels > J48_TOLERANCE
    )
    if is_many_valued.all():
        is_many_valued[:] = False
    return {
        "choice": CHOICES[gain.choice],
        "min_gain": gain.min_gain,
        "min_weight_split": gain.min_weight_split,
        "min_divided_weight": gain.min_divided_weight,
        "min_branch": gain.min_branch,
        "needs_all_branches": gain.needs_all_branches,
        "adapts_minimum": gain.adapts_minimum,
        "corrects_gain": gain.corrects_gain,
        "keeps_observed": gain.keeps_observed,
        "tolerance": tolerance,
        "weight_tolerance": J48_TOLERANCE,
        "slack": 0.0 if gain.exact else 1e-3,
        "resolution": 0.0 if gain.exact else J48_RESOLUTION,
        "least_count": tolerance,
        "least_share": tolerance,
        "is_many_valued": is_many_valued.astype(np.uint8),
    }


def is_root_leaf(rules, n_rows, total_weight, is_pure):
    """Whether the root may not be split."""
    if rules.gain is not None:
        return bool(
            is_pure
            or rules.max_depth <= 0
            or rules.gain.min_weight_split - total_weight > J48_TOLERANCE
        )
    return bool(
        is_pure
        or rules.max_depth <= 0
        or n_rows < rules.min_samples_split
        or n_rows < 2 * rules.min_samples_leaf
        or total_weight < 2 * rules.min_weight_leaf
    )
