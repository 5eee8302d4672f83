"""Rows of numbers, block by block: of an array, or of a table that is read in blocks.

What is summed by the same blocks has the same bits in memory and in files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from sklearn_textbook._contract.blocks import BLOCK_ROWS, BlockSource, list_blocks
from sklearn_textbook._contract.labels import encode_labels
from sklearn_textbook._contract.tables import check_finite_rows
from sklearn_textbook.linear_model.design.design import (
    MISSING_REMEDY,
    make_plain_design,
)
from sklearn_textbook.linear_model.design.stored_rows import (
    StoredRows,
    open_columns,
    read_stored_rows,
)
from sklearn_textbook.tree.encode.block_columns import (
    BlockColumns,
    FileArray,
    count_rows_from,
    list_features,
)
from sklearn_textbook.tree.encode.columns import TEMPORAL


class FileMatrix:
    """A dense matrix of a type; its blocks of rows are made when they are read.

    Parameters
    ----------
    rows : StoredRows
        The rows.
    dtype : dtype
        Type of the matrix.
    """

    def __init__(self, rows: StoredRows, dtype) -> None:
        self.rows, self.dtype, self.shape = rows, np.dtype(dtype), rows.shape

    def __getitem__(self, rows: slice) -> np.ndarray:
        block = self.rows[rows]
        block = block.toarray() if issparse(block) else block
        return np.ascontiguousarray(block, dtype=self.dtype)

    def make_array(self, name: str, dtype, shape: tuple[int, ...]) -> FileArray:
        """Make a new file next to those of the columns."""
        return self.rows.columns.make_array(name, dtype, shape)


@dataclass(frozen=True)
class BlockRows:
    """The rows of a table that is read in blocks, as far as they count.

    Parameters
    ----------
    columns : BlockColumns
        The files.
    X : ndarray or FileMatrix
        The rows; an array if they are no more than a block.
    weight : ndarray, FileArray or None
        Their weights.
    codes : ndarray, FileArray or None
        The numbers of their classes.
    classes : ndarray or None
        The labels of the classes.
    """

    columns: BlockColumns
    X: np.ndarray | FileMatrix
    weight: np.ndarray | FileArray | None
    codes: np.ndarray | FileArray | None
    classes: np.ndarray | None

    def close(self) -> None:
        """Remove the files."""
        self.columns.close()


def is_in_files(part) -> bool:
    """Whether a matrix or vector is not in memory."""
    return isinstance(part, FileArray | FileMatrix)


def cut_rows(step: int, *parts) -> Iterator[tuple]:
    """Cut matrices and vectors into blocks of rows in C order; None stays None.

    A block may overwrite the previous one.
    """
    n_rows = parts[0].shape[0]
    buffers = [_make_buffer(part, min(step, n_rows)) for part in parts]
    for rows in list_blocks(n_rows, step):
        yield tuple(
            None if part is None else _read_rows(part, rows, buffer)
            for part, buffer in zip(parts, buffers, strict=True)
        )


def _make_buffer(part, n_rows):
    """Make an array for rows of an array that is not in C order; None for others."""
    if not isinstance(part, np.ndarray) or part.flags.c_contiguous:
        return None
    return np.empty((n_rows, *part.shape[1:]), dtype=part.dtype)


def _read_rows(part, rows, buffer):
    """Read some rows in C order, which may need the buffer."""
    if buffer is None:
        return part[rows]
    block = buffer[: rows.stop - rows.start]
    np.copyto(block, part[rows])
    return block


def lay_out(X: np.ndarray) -> np.ndarray:
    """Put the rows of a single block in C order, in which they are read from files."""
    return np.ascontiguousarray(X) if X.shape[0] <= BLOCK_ROWS else X


def open_block_rows(
    estimator: BaseEstimator,
    source: BlockSource,
    target: str | None,
    sample_weight: str | None,
    read: Callable,
    *,
    reference_level: str | None = None,
    is_classifier: bool = False,
    min_rows: int = 2,
) -> BlockRows:
    """Read a source once, and keep its rows in files.

    Without ``categorical_features`` and ``missing``, all columns are numbers; otherwise
    this sets what `read_training_rows` sets.

    Parameters
    ----------
    estimator : estimator
        Its parameters say what is done with levels and missing values.
    source : BlockSource
        The table.
    target, sample_weight : str or None
        Columns of the classes and of the weights.
    read : callable
        Reads a data frame of numbers in memory, as ``read(frame, is_first=True)``, and
        returns a matrix; it sets what the estimator keeps of the columns.
    reference_level : str or None, default=None
        As of `read_training_rows`.
    is_classifier : bool, default=False
        Whether the target is required, and classes.
    min_rows : int, default=2
        The fewest rows.
    """
    categorical = getattr(estimator, "categorical_features", None)
    has_design = categorical is not None or getattr(estimator, "missing", "error") != (
        "error"
    )
    checked = source
    if not has_design:
        names = list_features(source, target, sample_weight, has_target=is_classifier)
        checked = _CheckedBlocks(source, names, read)
    is_numeric = False if is_classifier else None
    columns = open_columns(
        *(checked, target, sample_weight, categorical), is_numeric=is_numeric
    )
    try:
        if has_design:
            options = {"squares_columns": False}
            rows = read_stored_rows(estimator, columns, reference_level, **options)
            X = FileMatrix(rows, np.float64)
        else:
            vars(estimator).pop("design_", None)
            X = FileMatrix(_read_numbers(estimator, columns), checked.dtype)
        if X.shape[0] < min_rows:
            raise ValueError(
                f"Found array with {X.shape[0]} sample(s) (shape={X.shape}) while a "
                f"minimum of {min_rows} is required by {type(estimator).__name__}."
            )
        codes, classes = columns.target, None
        if is_classifier:
            classes = _number_classes(columns)
        parts = X, columns.weight, codes
        if X.shape[0] <= BLOCK_ROWS:
            (parts,) = cut_rows(BLOCK_ROWS, *parts)
        return BlockRows(columns, *parts, classes)
    except BaseException:
        columns.close()
        raise


class _CheckedBlocks(BlockSource):
    """A source whose blocks are also read as in memory where their dtypes are new."""

    def __init__(self, source, features, read) -> None:
        self.source, self.features, self.read = source, features, read
        self.names, self.memory_limit = source.names, source.memory_limit
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


def _read_numbers(estimator, columns) -> StoredRows:
    """Leave out the rows of weight 0, and require numbers in the others."""
    name, names = type(estimator).__name__, columns.schema.names
    for column in columns.schema.columns:
        if column.source in TEMPORAL:
            raise TypeError(
                f"dates and durations are not numbers: column {column.name!r}. {name} "
                "requires numeric columns: leave this column out, with exclude of "
                "io.scan."
            )
    remedy = MISSING_REMEDY if hasattr(estimator, "missing") else None

    def find_rows(rows, matrix, weight):
        is_kept = np.ones(len(matrix), dtype=bool) if weight is None else weight > 0
        with count_rows_from(rows.start):
            check_finite_rows(matrix[is_kept], name, names, is_kept, remedy=remedy)
        return is_kept

    columns.measure_weights()
    columns.select_rows(find_rows)
    return StoredRows(columns, make_plain_design(names, True), False)


def _number_classes(columns) -> np.ndarray:
    """Return the classes of the rows; the file of the target then has their codes."""
    labels = np.array([*columns.labels], dtype=columns.label_dtype)
    is_used = np.zeros(len(labels), dtype=bool)
    for rows in list_blocks(columns.n_rows):
        is_used[columns.target[rows]] = True
    (classes,), codes = encode_labels(labels[is_used][:, np.newaxis])
    number = np.zeros(len(labels), dtype=np.int32)
    number[is_used] = codes[:, 0]
    for rows in list_blocks(columns.n_rows):
        columns.target[rows] = number[columns.target[rows]]
    return classes
