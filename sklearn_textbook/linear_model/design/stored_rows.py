"""The design matrix of a table that is read in blocks, whose columns are in files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_textbook._contract.blocks import BlockSource, list_blocks
from sklearn_textbook._contract.tables import check_finite_rows, check_sizes
from sklearn_textbook.linear_model.design.design import (
    MISSING_REMEDY,
    Design,
    make_all_missing_error,
    make_design,
    make_missing_error,
)
from sklearn_textbook.linear_model.design.formula import Formula
from sklearn_textbook.linear_model.design.levels import (
    declare_levels,
    declare_nominal,
    find_declared,
    find_position,
    find_used,
    list_references,
)
from sklearn_textbook.linear_model.design.reading import add_terms
from sklearn_textbook.tree.encode import NUMERIC, TableSchema
from sklearn_textbook.tree.encode.block_columns import (
    BlockColumns,
    FileArray,
    count_rows_from,
    read_block_columns,
)


@dataclass(frozen=True)
class StoredRows:
    """The design matrix of columns in files; its blocks are made when they are read.

    A slice of it is that of the design matrix in memory.

    Parameters
    ----------
    columns : BlockColumns
        The columns of the table.
    design : Design
        Their encoding.
    is_sparse : bool
        Whether blocks are sparse matrices.
    """

    columns: BlockColumns
    design: Design
    is_sparse: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.columns.n_rows, len(self.design.names)

    def __getitem__(self, rows: slice):
        start, stop, _ = rows.indices(self.columns.n_rows)
        matrix = self.columns.read_matrix(slice(start, max(start, stop)))
        return self.design._expand(matrix, self.is_sparse, "error", {})


@dataclass(frozen=True)
class _LevelColumn:
    """A column of levels in a file, of which blocks are read as codes."""

    file: FileArray
    codes: np.ndarray

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.codes[self.file[rows]]


class _SelectedColumns(BlockSource):
    """Some columns of a source."""

    def __init__(self, source: BlockSource, names) -> None:
        self.source, self.memory_limit = source, source.memory_limit
        self.names = tuple(name for name in names if name in source.names)

    def _describe(self) -> str:
        return self.source._describe()

    def _read(self, names):
        return self.source._read(names)


def open_columns(
    source: BlockSource,
    target: str,
    sample_weight: str | None,
    categorical_features,
    *,
    is_numeric: bool,
    vectors: dict[str, str] | None = None,
    formula: Formula | None = None,
) -> BlockColumns:
    """Write the columns of a source to files, as `read_block_columns` does."""
    if formula is not None:
        roles = [target, sample_weight, *(vectors or {}).values()]
        source = _SelectedColumns(source, [*formula.columns, *roles])
        categorical_features = declare_nominal(categorical_features, formula.levels)
    declared, _ = find_declared(categorical_features)
    return read_block_columns(
        *(source, target, sample_weight, declared),
        is_numeric=is_numeric,
        vectors=vectors,
    )


def read_stored_rows(
    estimator: BaseEstimator,
    columns: BlockColumns,
    reference_level: str | dict | None,
    *,
    squares_columns: bool,
    formula: Formula | None = None,
) -> StoredRows:
    """Read training rows as `read_training_rows` does.

    Rows of weight 0 and those that ``missing="drop"`` leaves out are removed from the
    files. Sets the same attributes.
    """
    columns.measure_weights()
    n_dropped = _select_rows(estimator, columns, squares_columns)
    _order_levels(columns, find_declared(estimator.categorical_features)[1])
    schema = columns.schema
    levels = None if formula is None else formula.levels
    design = make_design(
        lambda position: _open_values(columns, position),
        *(columns.n_rows, schema, list_references(schema, reference_level, levels)),
        *(estimator.missing, columns.weight, n_dropped),
    )
    matrix = StoredRows(columns, design, design._prefers_sparse(columns.n_rows))
    if estimator.missing != "mean":
        matrix = StoredRows(
            columns, design.add_rows(matrix, columns.weight), matrix.is_sparse
        )
    estimator.design_ = matrix.design
    if formula is not None:
        design = add_terms(estimator, formula, matrix, columns.weight)
        estimator.design_ = design
        matrix = StoredRows(columns, design, design._prefers_sparse(columns.n_rows))
        name = type(estimator).__name__
        for rows in list_blocks(columns.n_rows):
            with count_rows_from(rows.start):
                check_finite_rows(matrix[rows], name, design.names)
    estimator.n_features_in_ = len(schema.columns)
    estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    return matrix


def _open_values(columns, position):
    """Open a column for reading numbers or codes of levels."""
    file, codes = columns.open_column(position), columns.mappings[position]
    return file if codes is None else _LevelColumn(file, codes)


def _select_rows(estimator, columns, squares_columns):
    """Check the rows that count, remove the others, and count the incomplete ones."""
    is_number = np.array(
        [column.kind == NUMERIC for column in columns.schema.columns], dtype=bool
    )
    numbers, levels = np.flatnonzero(is_number), np.flatnonzero(~is_number)
    names = np.array(columns.schema.names, dtype=object)
    name = type(estimator).__name__
    n_missing = np.zeros(len(names), dtype=np.int64)
    n_dropped = 0

    def find_rows(rows, matrix, weight):
        nonlocal n_missing, n_dropped
        is_kept = np.ones(len(matrix), dtype=bool) if weight is None else weight > 0
        if estimator.missing == "drop":
            is_missing = np.isnan(matrix) & is_kept[:, np.newaxis]
            is_complete = ~is_missing.any(axis=1)
            n_missing += is_missing.sum(axis=0)
            n_dropped += int(np.count_nonzero(~is_complete))
            is_kept &= is_complete
        used = matrix[is_kept]
        values, what = used[:, numbers], (name, names[numbers], is_kept)
        with count_rows_from(rows.start):
            if estimator.missing == "error":
                _require_levels(used, levels, names, is_kept)
                check_finite_rows(values, *what, remedy=MISSING_REMEDY)
            if squares_columns:
                values[np.isnan(values)] = 0.0
                check_sizes(values, *what)
        return is_kept

    columns.select_rows(find_rows)
    if not columns.n_rows:
        raise make_all_missing_error(columns.schema, n_missing)
    return n_dropped


def _require_levels(matrix, positions, names, is_kept):
    """Raise ValueError for a missing level."""
    for position in positions:
        is_missing = np.isnan(matrix[:, position])
        if is_missing.any():
            row = int(np.flatnonzero(is_kept)[np.argmax(is_missing)])
            raise make_missing_error(names[position], row)


def _order_levels(columns, orders):
    """Apply the declared order of levels, as `order_levels` does in memory."""
    described = list(columns.schema.columns)
    for key, levels in orders.items():
        position = find_position(key, columns.schema)
        column, codes = described[position], columns.mappings[position]
        is_used = np.zeros(len(column.levels), dtype=bool)
        file = columns.open_column(position)
        for rows in list_blocks(columns.n_rows):
            found = codes[file[rows]]
            is_used |= find_used(found[~np.isnan(found)], len(column.levels))
        described[position], places = declare_levels(column, levels, is_used)
        is_known = ~np.isnan(codes)
        moved = np.full(len(codes), np.nan)
        moved[is_known] = places[codes[is_known].astype(np.intp)]
        columns.mappings = list(columns.mappings)
        columns.mappings[position] = moved
    columns.schema = TableSchema(tuple(described), columns.schema.has_names)
