"""Rows of numbers, block by block: of an array, or of a table that is read in blocks.

What is summed by the same blocks has the same bits in memory and in files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator

from sklearn_textbook._contract.blocks import BLOCK_ROWS, BlockSource, list_blocks
from sklearn_textbook._contract.labels import encode_labels
from sklearn_textbook._contract.tables import check_finite_rows
from sklearn_textbook.linear_model.design.design import MISSING_REMEDY
from sklearn_textbook.tree.encode.block_columns import (
    BlockColumns,
    FileArray,
    count_rows_from,
    list_features,
    read_block_columns,
)
from sklearn_textbook.tree.encode.columns import TEMPORAL


class ColumnMatrix:
    """The columns of a table in files, as a matrix of which blocks of rows are read.

    Parameters
    ----------
    columns : BlockColumns
        The columns: numbers.
    dtype : dtype
        Type of the matrix.
    """

    def __init__(self, columns: BlockColumns, dtype) -> None:
        self.columns, self.dtype = columns, np.dtype(dtype)
        self.shape = columns.n_rows, columns.n_columns

    def read(self, rows: slice) -> np.ndarray:
        """Read some rows."""
        return np.ascontiguousarray(self.columns.read_matrix(rows), dtype=self.dtype)


@dataclass(frozen=True)
class BlockRows:
    """The rows of a table that is read in blocks, without those of weight 0.

    Parameters
    ----------
    columns : BlockColumns
        The files.
    X : ndarray, FileArray or ColumnMatrix
        The rows; an array if they are no more than a block.
    weight : ndarray, FileArray or None
        Their weights.
    codes : ndarray, FileArray or None
        The numbers of their classes.
    classes : ndarray or None
        The labels of the classes.
    """

    columns: BlockColumns
    X: np.ndarray | FileArray | ColumnMatrix
    weight: np.ndarray | FileArray | None = None
    codes: np.ndarray | FileArray | None = None
    classes: np.ndarray | None = None

    def close(self) -> None:
        """Remove the files."""
        self.columns.close()


def is_in_files(part) -> bool:
    """Whether a matrix or vector is not in memory."""
    return isinstance(part, FileArray | ColumnMatrix)


def read_rows(part, rows: slice) -> np.ndarray:
    """Read some rows of an array, or of a matrix in files, in C order."""
    if is_in_files(part):
        return part.read(rows)
    return np.ascontiguousarray(part[rows])


def cut_rows(step: int, *parts) -> Iterator[tuple]:
    """Cut matrices and vectors into blocks of rows; None stays None."""
    for rows in list_blocks(parts[0].shape[0], step):
        yield tuple(None if part is None else read_rows(part, rows) for part in parts)


def lay_out(X: np.ndarray) -> np.ndarray:
    """Put the rows of a single block in C order, in which they are read from files."""
    return np.ascontiguousarray(X) if X.shape[0] <= BLOCK_ROWS else X


def sum_weights(weight) -> float:
    """Add up the weights of rows: the sum of one block after the other."""
    total = 0.0
    for (part,) in cut_rows(BLOCK_ROWS, weight):
        total += float(np.sum(part))
    return total


def open_block_rows(
    estimator: BaseEstimator,
    source: BlockSource,
    target: str | None,
    sample_weight: str | None,
    read: Callable,
    *,
    is_classifier: bool = False,
    min_rows: int = 2,
) -> BlockRows:
    """Read a source once, and keep its rows in files.

    Parameters
    ----------
    estimator : estimator
        For messages.
    source : BlockSource
        The table.
    target, sample_weight : str or None
        Columns of the classes and of the weights.
    read : callable
        Reads a data frame in memory, as ``read(frame, is_first=True)``, and returns a
        matrix; it sets what the estimator keeps of the columns.
    is_classifier : bool, default=False
        Whether the target is required, and classes.
    min_rows : int, default=2
        The fewest rows.
    """
    names = list_features(source, target, sample_weight, has_target=is_classifier)
    checked = _CheckedBlocks(source, names, read)
    is_numeric = False if is_classifier else None
    columns = read_block_columns(
        *(checked, target, sample_weight, None), is_numeric=is_numeric
    )
    try:
        _require_numbers(estimator, columns, min_rows)
        return _select_rows(estimator, columns, ColumnMatrix(columns, checked.dtype))
    except BaseException:
        columns.close()
        raise


class _CheckedBlocks(BlockSource):
    """A source whose blocks are also read as in memory where their dtypes are new."""

    def __init__(self, source, features, read) -> None:
        self.source, self.features, self.read = source, features, read
        self.names = source.names
        self.dtype: np.dtype | None = None

    def _describe(self) -> str:
        return self.source._describe()

    def _read(self, names):
        seen, n_rows = set(), 0
        for block in self.source._read(names):
            frame = nw.from_native(block, eager_only=True).select(list(self.features))
            key = tuple(map(str, frame.schema.dtypes()))
            if key not in seen and len(frame):
                with count_rows_from(n_rows):
                    found = self.read(frame.to_native(), is_first=not seen).dtype
                seen.add(key)
                self.dtype = np.result_type(found, self.dtype or found)
            n_rows += len(frame)
            yield block


def _require_numbers(estimator, columns, min_rows) -> None:
    """Require enough rows, and columns without dates."""
    name = type(estimator).__name__
    if columns.n_rows < min_rows:
        raise ValueError(
            f"Found array with {columns.n_rows} sample(s) (shape="
            f"{(columns.n_rows, columns.n_columns)}) while a minimum of {min_rows} is "
            f"required by {name}."
        )
    for column in columns.schema.columns:
        if column.source in TEMPORAL:
            raise TypeError(
                f"dates and durations are not numbers: column {column.name!r}. {name} "
                "requires numeric columns: leave this column out, with exclude of "
                "io.scan."
            )


def _select_rows(estimator, columns, matrix) -> BlockRows:
    """Leave out the rows of weight 0, and number the classes of the others."""
    n_kept = columns.n_rows
    if columns.weight is not None:
        _, n_kept = columns.measure_weights()
    _require_present(estimator, columns, matrix)
    X, weight, codes, classes = matrix, columns.weight, columns.target, None
    if codes is not None:
        classes, number = _number_classes(columns)
        for rows in list_blocks(columns.n_rows):
            codes.write(rows.start, number[codes.read(rows)])
    if n_kept < columns.n_rows:
        shape = n_kept, columns.n_columns
        X = columns.make_array("matrix", matrix.dtype, shape)
        weight = columns.make_array("positive weight", np.float64, (n_kept,))
        if codes is not None:
            codes = columns.make_array("code", np.int32, (n_kept,))
        start = 0
        for rows, kept in _list_kept(columns):
            X.write(start, matrix.read(rows)[kept])
            weight.write(start, columns.weight.read(rows)[kept])
            if codes is not None:
                codes.write(start, columns.target.read(rows)[kept])
            start += np.count_nonzero(kept)
    if n_kept <= BLOCK_ROWS:
        ((X, weight, codes),) = cut_rows(BLOCK_ROWS, X, weight, codes)
    return BlockRows(columns, X, weight, codes, classes)


def _list_kept(columns):
    """List blocks of rows, and the masks of those with a positive weight."""
    for rows in list_blocks(columns.n_rows):
        if columns.weight is None:
            yield rows, np.ones(rows.stop - rows.start, dtype=bool)
        else:
            yield rows, columns.weight.read(rows) > 0


def _require_present(estimator, columns, matrix) -> None:
    """Raise ValueError for a missing value in a row that counts."""
    has_gaps = any(
        np.isnan(columns.open_column(position).read(rows)).any()
        for position in range(columns.n_columns)
        for rows in list_blocks(columns.n_rows)
    )
    if not has_gaps:
        return
    remedy = MISSING_REMEDY if hasattr(estimator, "missing") else None
    for rows, kept in _list_kept(columns):
        with count_rows_from(rows.start):
            check_finite_rows(
                matrix.read(rows)[kept],
                type(estimator).__name__,
                columns.schema.names,
                kept,
                remedy=remedy,
            )


def _number_classes(columns):
    """Find the classes of the rows that count, and the code of every label."""
    labels = np.array([*columns.labels], dtype=columns.label_dtype)
    is_used = np.zeros(len(labels), dtype=bool)
    for rows, kept in _list_kept(columns):
        is_used[columns.target.read(rows)[kept]] = True
    (classes,), codes = encode_labels(labels[is_used][:, np.newaxis])
    number = np.full(len(labels), -1, dtype=np.int32)
    number[is_used] = codes[:, 0]
    return classes, number
