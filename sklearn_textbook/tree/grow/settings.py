"""Arguments of the growing kernels: table, rows and rules."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from sklearn_textbook.tree.encode import NOMINAL, ORDINAL
from sklearn_textbook.tree.grow import layout
from sklearn_textbook.tree.grow._engine import MOST_PLAIN_LEVELS
from sklearn_textbook.tree.grow.rules import J48_RESOLUTION, J48_TOLERANCE, UNLIMITED
from sklearn_textbook.tree.grow.target import (
    CRITERIA,
    make_entropy_table,
    measure_root,
)

# Codes of the options in split/_types.pxd.
MISSING_MODES = {"learned": 0, "branch": 1, "surrogate": 2, "fractional": 3, "error": 0}
CATEGORICAL_SPLITS = {"subset": 0, "one_vs_rest": 1, "multiway": 2}
SCANS = {
    "general": 0,
    "binary": 1,
    "classes": 2,
    "entropy": 3,
    "values": 4,
    "absolute": 5,
}
CHOICES = {"gain": 1, "above_average": 2, "plain": 3}
# Codes in split/_oblique.pxd.
DIRECTIONS = {"random": 0, "lda": 1, "ridge": 2, "logistic": 3, "oc1": 4}
SMALLEST_SIZE = 1e-290  # of a column that is not constant
MAX_EXPONENT = 1023
ROWS_PER_LEAF = 32  # with fewer, the whole tree is grown


def choose_scan(rules, target, weight):
    """Choose the fastest kernel for numeric columns that gives the same splits."""
    if rules.criterion == "absolute_error":
        return "absolute"
    special = target.n_outputs == 1 and not rules.random_splitter
    if not special or rules.min_weight_leaf > 0 or rules.monotonic is not None:
        return "general"
    if rules.criterion == "gini":
        return "binary" if target.n_classes[0] == 2 else "classes"
    if rules.criterion in ("entropy", "log_loss") and weight is None:
        return "entropy"
    if rules.criterion == "squared_error":
        return "values"
    return "general"


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
        # Indexing with row numbers is several times faster than with a mask.
        kept = np.flatnonzero(is_kept)
        row_number = np.full(len(weight), np.uint32(0xFFFFFFFF))
        row_number[kept] = np.arange(len(kept), dtype=np.uint32)
        target, weight = target.take(kept), weight[kept]
    if (weight == 1.0).all():
        weight = None
    return target, weight, row_number


def describe_cells(table, rules, is_sorted, n_threads=1):
    """Describe the cells of all rows: ranks and their bins, or values and their steps.

    These are for thresholds that are sampled at random; then ranks are described only
    if some column is sorted.
    """
    spans = scales = row_ranks = row_bins = None
    row_values = steps = row_steps = None
    if rules.random_splitter:
        row_values = table.row_values(n_threads)
        steps, row_steps, *scaling = table.steps(n_threads)
        scales = np.zeros(table.n_columns, dtype=layout.SCALE_DTYPE)
        for name, numbers in zip(layout.SCALE_DTYPE.names, scaling, strict=True):
            scales[name] = numbers
    else:
        row_ranks, row_bins, shift, missing_bin = table.row_ranks(n_threads)
        spans = np.zeros(table.n_columns, dtype=layout.SPAN_DTYPE)
        spans["largest"] = np.maximum(table.n_distinct - 1, 0)
        spans["shift"] = shift
        spans["missing_bin"] = missing_bin
    return {
        "ranks": table.ranks(n_threads) if row_ranks is not None or is_sorted else None,
        "row_ranks": row_ranks,
        "row_bins": row_bins,
        "spans": spans,
        "row_values": row_values,
        "steps": steps,
        "row_steps": row_steps,
        "scales": scales,
    }


def describe_scan(rules, target):
    """Name the kernel that scans sorted samples with weights."""
    return {"scan": SCANS[choose_scan(rules, target, np.ones(1))]}


def describe_entropy(rules, total_weight):
    """Describe c log2 c for all counts of whole weights, where a rule asks for it."""
    table, unit = None, 1.0
    if rules.criterion in ("entropy", "log_loss") and not rules.random_splitter:
        table, unit = make_entropy_table(int(total_weight))
    return {"entropy_table": table, "entropy_unit": unit}


def shape_statistics(flat, target):
    """Statistics as (nodes, outputs, classes), padded where outputs differ."""
    if not target.is_classifier or target.n_outputs == 1:
        return flat.reshape(len(flat), target.n_outputs, -1)
    statistics = np.zeros((len(flat), target.n_outputs, target.n_classes.max()))
    starts = target.output_start
    for output, n_classes in enumerate(target.n_classes):
        first = starts[output]
        statistics[:, output, :n_classes] = flat[:, first : first + n_classes]
    return statistics


def collect_settings(table, target, rules, weight, row_number, random_state):
    """Collect everything that growing from sorted columns reads."""
    return {
        **describe_table(table, rules),
        **describe_rows(target, weight, row_number),
        **describe_rules(rules, table, target.n_rows),
        **describe_root(target, rules, weight),
        **describe_gain(table, rules.gain, target, weight),
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
    if rules.oblique is not None:
        # A direction is searched as a numeric column behind the last one.
        kind = np.append(kind, np.int32(layout.NUMERIC))
        is_nominal = np.append(is_nominal, False)
        n_levels = np.append(n_levels, 0)
    n_missing = np.zeros(len(kind), dtype=np.int64)
    n_missing[: table.n_columns] = table.n_missing
    return {
        "order": table.order,
        "level_codes": table.level_codes,
        "is_coded": (is_nominal & (table.level_codes is not None)).astype(np.uint8),
        "values": table.values,
        "upper_values": table.upper_values,
        "n_missing": table.n_missing,
        "n_distinct": table.n_distinct,
        "has_missing": (n_missing > 0).astype(np.uint8),
        "columns": np.arange(table.n_columns, dtype=np.int32),
        "kind": kind,
        "n_levels": n_levels,
        "max_levels": int(n_levels[is_nominal].max()) if is_nominal.any() else 0,
        "any_nominal": bool(is_nominal.any()),
        **describe_smoothing(table, rules, len(kind)),
        "divides_cases": rules.missing == "fractional" and bool(table.n_missing.any()),
        "is_plain": not (
            is_nominal.any()
            or table.n_missing.any()
            or rules.random_splitter
            or rules.monotonic is not None
            or rules.gain is not None
        ),
    }


def mark_smoothed(table, smoothing):
    """Mark the nominal columns of so many levels that their means are smoothed."""
    if smoothing == 0:
        return np.zeros(table.n_columns, dtype=bool)
    return is_nominal(table) & (table.n_distinct > MOST_PLAIN_LEVELS)


def describe_smoothing(table, rules, n_columns):
    """Describe which nominal columns are smoothed, and how far."""
    smoothing = 0.0 if rules.gain is not None else rules.categorical_smoothing
    is_smoothed = np.zeros(n_columns, dtype=np.uint8)
    is_smoothed[: table.n_columns] = mark_smoothed(table, smoothing)
    return {
        "is_smoothed": is_smoothed if is_smoothed.any() else None,
        "smoothing": -1.0 if smoothing == "auto" else float(smoothing),
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


def limit_leaves(rules, table, n_rows):
    """Return with how many leaves growth may end; 0: the whole tree is grown.

    Subtrees that grow one by one are faster than those that grow by turns,
    and the branches of a test that divides cases share the weights of these.
    """
    wanted = rules.max_leaf_nodes
    if wanted is None or wanted * ROWS_PER_LEAF > n_rows:
        return 0
    divides_cases = rules.missing == "fractional" and table.n_missing.any()
    return 0 if divides_cases else wanted


def describe_rules(rules, table, n_rows):
    """Describe the limits and strategies."""
    max_features = rules.max_features or table.n_columns
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
        "max_leaf_nodes": limit_leaves(rules, table, n_rows),
        "shuffle_columns": rules.shuffles_columns or max_features < table.n_columns,
        "random_splitter": rules.random_splitter,
        "top_splits": min(rules.top_splits, UNLIMITED),
        "missing_mode": MISSING_MODES[rules.missing],
        "categorical_split": CATEGORICAL_SPLITS[rules.categorical_split],
        "unseen_branch": (
            layout.FRACTIONAL if rules.handle_unknown == "fractional" else layout.STAY
        ),
        "monotonic": monotonic,
    }


def describe_oblique(table, oblique, n_threads=1):
    """Describe how oblique tests are found, and what of the columns they need."""
    if oblique is None:
        return None
    levels = np.where(is_nominal(table), table.schema.n_levels, 0)
    max_columns = oblique.max_columns or table.n_columns
    size = measure_sizes(table)
    return {
        "row_values": table.row_values(n_threads),
        "size": size,
        "inverse_size": np.divide(1.0, size, out=np.ones_like(size), where=size > 0),
        "level_start": np.concatenate([[0], np.cumsum(levels)]).astype(np.int64),
        "direction": DIRECTIONS[oblique.direction],
        "n_directions": oblique.n_directions,
        "max_columns": min(max_columns, table.n_columns),
        "max_terms": min(oblique.max_terms or table.n_columns, table.n_columns),
        "searches_axis": oblique.searches_axis,
        "column_penalty": oblique.column_penalty,
        "ridge": oblique.ridge,
        "lasso": oblique.lasso,
    }


def is_nominal(table):
    """Mark the nominal columns."""
    return np.array([kind == NOMINAL for kind in table.schema.kinds])


def measure_sizes(table):
    """Return a power of 2 above the values of each numeric column; 0 if it is constant.

    Values are divided by it, which is exact, so that no sum of squares overflows.
    """
    size = np.zeros(table.n_columns)
    for column, nominal in enumerate(is_nominal(table)):
        values = table.column_values(column)
        if len(values) > 1:
            largest = 1.0 if nominal else np.abs(values).max()
            if largest > SMALLEST_SIZE:
                size[column] = np.ldexp(1.0, min(np.frexp(largest)[1], MAX_EXPONENT))
    return size


def describe_root(target, rules, weight):
    """Describe the root, and name the kernel that scans sorted columns."""
    statistics, impurity, is_pure = measure_root(target, rules.criterion, weight)
    scan = choose_scan(rules, target, weight)
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
        return {"gain": None}
    total_weight = float(target.n_rows if weight is None else weight.sum())
    tolerance = 0.0 if gain.exact else J48_TOLERANCE
    is_many_valued = is_nominal(table) & ~(
        0.3 * total_weight - table.schema.n_levels > J48_TOLERANCE
    )
    if is_many_valued.all():
        is_many_valued[:] = False
    return {
        # As the struct of split/_types.pxd has it.
        "gain": asdict(gain)
        | {
            "choice": CHOICES[gain.choice],
            "tolerance": tolerance,
            "weight_tolerance": J48_TOLERANCE,
            "slack": 0.0 if gain.exact else 1e-3,
            "resolution": 0.0 if gain.exact else J48_RESOLUTION,
            "min_count": tolerance,
            "min_fraction": tolerance,
        },
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
