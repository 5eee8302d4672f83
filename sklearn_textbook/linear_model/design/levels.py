"""Categorical columns declared by a dictionary, and the order of their levels."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.parameters import name_some
from sklearn_textbook.tree.encode import NOMINAL, ORDINAL, ColumnSchema, TableSchema
from sklearn_textbook.tree.encode.columns import CATEGORY
from sklearn_textbook.tree.encode.read import open_table, replace_columns

#: Value in the dictionary for a column without order.
UNORDERED = "nominal"
#: Levels without order.
SETS = (set, frozenset)


def find_declared(categorical_features):
    """Separate the categorical columns from the declared order of their levels.

    Returns (categorical_features, orders).
    """
    if not isinstance(categorical_features, dict):
        return categorical_features, {}
    orders = {}
    for column, order in categorical_features.items():
        if isinstance(column, bool):
            raise ValueError(
                "The keys of categorical_features must be column names or indices; "
                f"got {column!r}."
            )
        if isinstance(order, str) and order == UNORDERED:
            continue
        levels = _list_levels(order)
        if not levels or len(set(levels)) < len(levels):
            raise ValueError(
                f"categorical_features[{column!r}] must be 'nominal', a set of levels, "
                f"or a list of the distinct levels in ascending order; got {order!r}."
            )
        orders[column] = frozenset(levels) if isinstance(order, SETS) else levels
    return list(categorical_features), orders


def check_declared(categorical_features) -> None:
    """Raise ValueError for what cannot declare the columns of any table."""
    declared, _ = find_declared(categorical_features)
    if declared is None or (isinstance(declared, str) and declared == "from_dtype"):
        return
    entries = np.asarray(declared, dtype=object)
    if entries.ndim != 1 or not all(map(_can_be_column, entries)):
        raise ValueError(
            "categorical_features must be 'from_dtype', None, a dict, or a "
            "one-dimensional array-like of bool, int or str (a mask, indices or names "
            f"of columns), got {categorical_features!r}."
        )


def _can_be_column(entry):
    """Whether an entry is a truth value, a number or a name of a column."""
    if isinstance(entry, str | np.bool_):
        return True
    return isinstance(entry, numbers.Integral) and entry >= 0


def _list_levels(order):
    """List the levels; None for other values."""
    if isinstance(order, SETS):
        order = list(order)
    if isinstance(order, str | dict) or not hasattr(order, "__len__"):
        return None
    levels = [level.item() if hasattr(level, "item") else level for level in order]
    if not all(isinstance(level, str | bool | int | float) for level in levels):
        return None
    return None if any(level != level for level in levels) else levels


def order_levels(
    matrix: np.ndarray, schema: TableSchema, orders: dict
) -> tuple[np.ndarray | csr_array, TableSchema]:
    """Apply the declared order of levels to columns.

    Returns (matrix, schema).
    """
    columns = list(schema.columns)
    changed = {}
    for key, levels in orders.items():
        position = find_position(key, schema)
        codes = take_column(matrix, position)
        is_present = ~np.isnan(codes)
        used = find_used(codes[is_present], len(columns[position].levels))
        columns[position], places = declare_levels(columns[position], levels, used)
        changed[position] = np.full(len(codes), np.nan)
        changed[position][is_present] = places[codes[is_present].astype(np.intp)]
    if issparse(matrix):
        matrix = replace_columns(matrix.tocsc(), changed)
    else:
        matrix = matrix.copy()
        for position, codes in changed.items():
            matrix[:, position] = codes
    return matrix, TableSchema(tuple(columns), schema.has_names)


def find_position(key: str | int, schema: TableSchema) -> int:
    """Find a column by its name or number."""
    return schema.names.index(key) if isinstance(key, str) else int(key)


def declare_levels(
    column: ColumnSchema, levels: list | frozenset, is_used: np.ndarray
) -> tuple[ColumnSchema, np.ndarray]:
    """Give a column the declared levels.

    Returns (column, places), the places of the former levels among the declared ones.
    """
    is_set = isinstance(levels, frozenset)
    levels = sorted(levels, key=_rank_level) if is_set else levels
    kind = NOMINAL if is_set else ORDINAL
    declared = ColumnSchema(column.name, kind, tuple(levels), column.source)
    places = np.array([declared.codes.get(level, -1) for level in column.levels])
    if (places[is_used] < 0).any():
        lacking = column.levels[np.flatnonzero(is_used)[np.argmax(places[is_used] < 0)]]
        raise ValueError(
            f"Column {column.name!r} contains {lacking!r}, which is not one of the "
            f"levels declared by categorical_features: {levels}."
        )
    return declared, places


def _rank_level(level):
    """Sort numbers before strings, like the reader of tables."""
    return isinstance(level, str), level


def find_declared_levels(
    X, schema: TableSchema, orders: dict, reference_level: str | None
):
    """Find the levels that later rows may have."""
    is_kept = {}
    for position, column in enumerate(schema.columns):
        if column.kind != NOMINAL:
            continue
        is_declared = column.name in orders or position in orders
        if not is_declared and not _declares_levels(X, position, column):
            raise ValueError(
                f"Column {column.name!r} is nominal, and later rows may have other "
                "levels. Declare all levels for partial_fit, with a categorical dtype "
                "of pandas or with categorical_features="
                f"{{{column.name!r}: {{level, level, ...}}}}."
            )
        if reference_level == "most_frequent":
            raise ValueError(
                "reference_level='most_frequent' depends on later rows; use 'first', "
                "'last' or None for partial_fit."
            )
        is_kept[position] = np.ones(len(column.levels), dtype=bool)
    return is_kept


def _declares_levels(X, position, column):
    """Whether a dtype declares the levels of a column."""
    if column.source != CATEGORY:
        return False
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not frame.implementation.is_polars():
        return True
    # polars shares the categories among all frames, so they declare nothing.
    return frame[:, position].dtype != nw.Categorical


def take_column(matrix, position):
    """One column of a matrix, which may be sparse."""
    if issparse(matrix):
        return matrix[:, [position]].toarray()[:, 0]
    return matrix[:, position]


def read_value(X, position, row):
    """One level in the original table."""
    return read_values(X, position, np.array([row]))[0]


def read_values(X, position, rows):
    """Return the distinct levels of some rows in the original table."""
    column = open_table(X).read_column(position, str(position), as_levels=True)
    codes = np.asarray(column.codes)[rows].astype(np.intp)
    return [column.levels[code] for code in np.unique(codes)]


def find_used(codes, n_levels):
    """Mask of the levels that at least one row has."""
    is_used = np.zeros(n_levels, dtype=bool)
    is_used[codes.astype(np.intp)] = True
    return is_used


def declare_nominal(categorical_features: Any, names: Iterable[str] | None) -> Any:
    """Declare further columns nominal, which a formula names."""
    if not names:
        return categorical_features
    if categorical_features is None:
        return list(names)
    if isinstance(categorical_features, dict):
        return categorical_features | {
            name: UNORDERED for name in names if name not in categorical_features
        }
    if isinstance(categorical_features, str):
        return [categorical_features, *names]
    declared = list(categorical_features)
    if not all(isinstance(name, str) for name in declared):
        raise ValueError(
            "With C(column) in a formula, categorical_features must be 'from_dtype' or "
            f"names of columns; got {categorical_features!r}."
        )
    return [*declared, *names]


def list_references(
    schema: TableSchema,
    reference_level: str | dict | None,
    levels: dict[str, Any] | None = None,
) -> list:
    """List the choice of the reference level of each column.

    ``levels`` has those that a formula chooses, or None.
    """
    default = "first" if isinstance(reference_level, dict) else reference_level
    chosen = dict(reference_level) if isinstance(reference_level, dict) else {}
    for name, level in (levels or {}).items():
        if level is not None:
            chosen[name] = level
    references = [default] * len(schema.columns)
    nominal = [column.name for column in schema.columns if column.kind == NOMINAL]
    for key, level in chosen.items():
        is_place = isinstance(key, numbers.Integral) and not isinstance(key, bool)
        position = -1
        if is_place and 0 <= key < len(schema.columns):
            position = int(key)
        elif key in schema.names:
            position = schema.names.index(key)
        if position < 0 or schema.columns[position].kind != NOMINAL:
            raise ValueError(
                f"reference_level has the key {key!r}, which is no nominal column; "
                f"these are {name_some(nominal) or 'none'}."
            )
        references[position] = {level}
    return references


def choose_reference(
    column: ColumnSchema, counts: np.ndarray, is_used: np.ndarray, reference_level
) -> int | None:
    """Choose the level that gets no indicator; None if every level gets one."""
    if reference_level is None:
        return None
    used = np.flatnonzero(is_used)
    if isinstance(reference_level, set):
        (level,) = reference_level
        level = level.item() if isinstance(level, np.generic) else level
        code = column.codes.get(level, -1)
        if code < 0 or not is_used[code]:
            present = [column.levels[code] for code in used]
            raise ValueError(
                f"reference_level[{column.name!r}] must be one of the levels in the "
                f"training rows, {name_some(present)}; got {level!r}."
            )
        return int(code)
    if reference_level == "most_frequent":
        return int(counts.argmax())
    return int(used[0] if reference_level == "first" else used[-1])
