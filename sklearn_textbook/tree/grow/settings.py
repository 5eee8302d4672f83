"""What growth needs besides the rules: the root of a tree, the cells of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.grow import layout
from sklearn_textbook.tree.grow._settings import is_nominal
from sklearn_textbook.tree.grow.rules import J48_TOLERANCE, ObliqueRules
from sklearn_textbook.tree.grow.target import make_entropy_table, measure_root

# Codes in split/_oblique.pxd.
DIRECTIONS = {"random": 0, "lda": 1, "ridge": 2, "logistic": 3, "oc1": 4}
SMALLEST_SIZE = 1e-290  # of a column that is not constant
MAX_EXPONENT = 1023


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


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of all rows as a list of samples reads them; None where not needed."""

    ranks: np.ndarray | None  # (n_columns, n_rows), of 1, 2 or 4 bytes
    row_ranks: np.ndarray | None  # (n_rows, n_columns)
    row_bins: np.ndarray | None  # the first eight bits of the ranks
    spans: np.ndarray | None  # SPAN_DTYPE, (n_columns,)
    # random thresholds
    row_values: np.ndarray | None  # (n_rows, n_columns)
    steps: np.ndarray | None  # int16, (n_columns, n_rows)
    row_steps: np.ndarray | None  # (n_rows, n_columns)
    scales: np.ndarray | None  # SCALE_DTYPE, (n_columns,)


def make_cells(table, rules, is_sorted, n_threads: int = 1):
    """Make the cells: ranks and their bins, or values and their steps.

    These are for thresholds that are sampled at random; then ranks are made only if
    some column is sorted.
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
    ranks = table.ranks(n_threads) if row_ranks is not None or is_sorted else None
    return Cells(
        *(ranks, row_ranks, row_bins, spans), *(row_values, steps, row_steps, scales)
    )


@dataclass(frozen=True, eq=False)
class ObliqueSettings:
    """The rules of oblique tests, and what of the columns they need."""

    rules: ObliqueRules
    row_values: np.ndarray  # (n_rows, n_columns)
    # a power of two above the values of each numeric column, 0 if it is constant
    size: np.ndarray
    inverse_size: np.ndarray
    level_start: np.ndarray  # of each column in a list of all levels
    direction: int
    max_columns: int
    max_terms: int


def describe_oblique(table, oblique, n_threads: int = 1):
    """Describe how oblique tests are found."""
    if oblique is None:
        return None
    levels = np.where(is_nominal(table), table.schema.n_levels, 0)
    size = measure_sizes(table)
    return ObliqueSettings(
        oblique,
        row_values=table.row_values(n_threads),
        size=size,
        inverse_size=np.divide(1.0, size, out=np.ones_like(size), where=size > 0),
        level_start=np.concatenate([[0], np.cumsum(levels)]).astype(np.int64),
        direction=DIRECTIONS[oblique.direction],
        max_columns=min(oblique.max_columns or table.n_columns, table.n_columns),
        max_terms=min(oblique.max_terms or table.n_columns, table.n_columns),
    )


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


@dataclass(frozen=True, eq=False)
class Root:
    """What all rows of a tree hold together, and what else differs between trees."""

    statistics: np.ndarray  # (n_statistics,)
    impurity: float
    total_weight: float
    is_leaf: bool
    random_state: int = 0
    design_effect: float = 1.0
    # c log2 c of all counts of whole weights, in fixed point
    entropy_table: np.ndarray | None = None
    entropy_unit: float = 1.0


def make_root(rules, target, weight, **more):
    """Measure the rows of a tree."""
    statistics, impurity, is_pure = measure_root(target, rules.criterion, weight)
    total_weight = float(target.n_rows if weight is None else np.cumsum(weight)[-1])
    is_leaf = is_root_leaf(rules, target.n_rows, total_weight, is_pure)
    return Root(statistics, impurity, total_weight, is_leaf, **more)


def tabulate_entropy(total_weight):
    """Return c log2 c for all counts of whole weights, as fields of a root."""
    table, unit = make_entropy_table(int(total_weight))
    return {"entropy_table": table, "entropy_unit": unit}


def is_root_leaf(rules, n_rows, total_weight, is_pure) -> bool:
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
