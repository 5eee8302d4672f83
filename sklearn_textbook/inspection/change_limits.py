"""Which changes of columns are allowed, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import narwhals as nw
import numpy as np
from scipy import sparse

from sklearn_textbook._contract.parameters import find_column, is_real, show_value
from sklearn_textbook.tree.encode.columns import BOOLEAN, NOMINAL

DIRECTIONS = {"increase": 1, "decrease": -1}


@dataclass(frozen=True)
class ChangeLimits:
    """Which changes of a column are allowed, and what they cost.

    Parameters
    ----------
    range : float
        Range of a numeric column, by which distances are divided.
    is_fixed : bool
        Whether the column may not change.
    direction : int
        1: it may only increase, -1: decrease, 0: both.
    kind : type
        Type of new numbers: int, or a float of the precision of the table.
    factor : float
        Factor of its distance.
    typical : float
        Value for a missing one that may be any.
    """

    range: float
    is_fixed: bool = False
    direction: int = 0
    kind: type = np.float64
    factor: float = 1.0
    typical: float = 0.0

    @property
    def is_integer(self) -> bool:
        """Whether new numbers are integers."""
        return self.kind is int


def read_limits(
    trees,
    X,
    rows: list[np.ndarray],
    fixed: object,
    directions: object,
    column_costs: object,
) -> list[ChangeLimits]:
    """Read what may change and what it costs."""
    schema = trees.schema
    if isinstance(fixed, str) or not isinstance(fixed, Iterable):
        raise ValueError(
            f"fixed must be a sequence of columns, got {show_value(fixed)}."
        )
    fixed = {find_column("fixed", name, trees.feature_names) for name in fixed}
    signs, factors = {}, {}
    for name, word in _items("directions", directions):
        column = find_column("directions", name, trees.feature_names)
        if not isinstance(word, str) or word not in DIRECTIONS:
            raise ValueError(
                f"directions[{name!r}] must be 'increase' or 'decrease', got "
                f"{show_value(word)}."
            )
        if schema.columns[column].kind == NOMINAL:
            raise ValueError(
                f"directions must not include the nominal column {name!r}, whose "
                "levels have no order."
            )
        signs[column] = DIRECTIONS[word]
    for name, factor in _items("column_costs", column_costs):
        if not is_real(factor) or not 0.0 < factor < math.inf:
            raise ValueError(
                f"column_costs[{name!r}] must be a positive number, got "
                f"{show_value(factor)}."
            )
        factors[find_column("column_costs", name, trees.feature_names)] = float(factor)
    thresholds, features = (trees.trees[0].nodes[f] for f in ("threshold", "feature"))
    kinds = _find_kinds(schema, X)
    return [
        ChangeLimits(
            _find_range([*(r[:, j] for r in rows), thresholds[features == j]]),
            j in fixed,
            signs.get(j, 0),
            kinds[j],
            factors.get(j, 1.0),
            _find_typical(rows[0][:, j], kinds[j] is int),
        )
        for j in range(len(schema.columns))
    ]


def _items(name, value):
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise ValueError(
            f"{name} must be a dictionary by column or None, got {show_value(value)}."
        )
    return value.items()


def _find_range(values):
    """Return the range of a column; 1 if it is constant."""
    values = np.concatenate([np.asarray(v, dtype=np.float64) for v in values])
    values = values[np.isfinite(values)]
    width = float(np.ptp(values)) if len(values) else 0.0
    return width if 0.0 < width < math.inf else 1.0


def _find_typical(values, is_whole):
    """Return the median of a column, one of its values."""
    values = np.sort(values[np.isfinite(values)])
    middle = float(values[len(values) // 2]) if len(values) else 0.0
    return float(math.floor(middle)) if is_whole else middle


def _find_kinds(schema, X):
    """Return the type of the numbers of each column."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        order = schema.names if schema.has_names else frame.columns
        dtypes = [frame.schema[name] for name in order]
        kinds = [
            int if d.is_integer() else np.float32 if d == nw.Float32 else np.float64
            for d in dtypes
        ]
    else:
        dtype = X.dtype if sparse.issparse(X) else np.asarray(X).dtype
        kind = dtype.type if dtype.kind == "f" and dtype.itemsize < 8 else np.float64
        kinds = [int if dtype.kind in "iu" else kind] * len(schema.columns)
    return [
        int if column.source == BOOLEAN else kind
        for kind, column in zip(kinds, schema.columns, strict=True)
    ]
