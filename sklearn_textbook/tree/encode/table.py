"""The encoded table: every column sorted once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from sklearn_textbook.tree.encode._rank import (
    copy_matrix,
    find_gaps,
    write_codes,
    write_ranks,
    write_row_ranks,
    write_steps,
)
from sklearn_textbook.tree.encode.schema import TableSchema

RUN_START = np.uint32(0x80000000)
ROW_MASK = np.uint32(0x7FFFFFFF)
MAX_BINS = 256  # so that a bin index fits into a byte
BIN_GAP = 16  # bins that may be joined without that of missing values
STEPS = 65533  # the highest step of a column counted from the lowest


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table whose columns are sorted, ready for growing any number of trees.

    It is read-only: subsets, bootstrap samples and folds are lists of rows, or weights,
    over it.

    Parameters
    ----------
    schema : TableSchema
        Description of the columns.
    order : ndarray of uint32, shape (n_columns, n_rows)
        Row numbers of each column by ascending value, equal values by ascending row
        number, missing rows last. Bit 31 marks the first row of every run of equal
        values, or of a bin, and the first missing row.
    values : ndarray of float64, shape (n_columns, at most n_rows)
        The first ``n_distinct[c]`` entries of row c are the distinct values present in
        column c, ascending; for a nominal or ordinal column the codes of the levels
        present; for a binned column the smallest value of every bin. The rest is
        undefined.
    n_distinct : ndarray of int64, shape (n_columns,)
        Number of distinct values, or of bins, of each column.
    n_missing : ndarray of int64, shape (n_columns,)
        Number of missing values of each column.
    level_codes : ndarray of uint32, shape (n_columns, n_rows), default=None
        If given, nominal columns are not sorted, and their rows of ``order`` and
        ``values`` are undefined: this has every row's level code instead, the largest
        number of the type standing for a missing value. Rows of other columns are
        undefined.
    upper_values : ndarray of float64, shape of ``values``, default=None
        The largest value of every bin; the same as ``values`` in a column that is not
        binned. None if there is none, and becomes the array ``values`` itself.
    matrix : ndarray of float64 or float32, shape (n_rows, n_columns), default=None
        The values row by row, if there is such a matrix: no column is binned.
    """

    schema: TableSchema
    order: np.ndarray
    values: np.ndarray
    n_distinct: np.ndarray
    n_missing: np.ndarray
    level_codes: np.ndarray | None = None
    upper_values: np.ndarray | None = None
    matrix: np.ndarray | None = None
    _codes: dict = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.upper_values is None:
            object.__setattr__(self, "upper_values", self.values)
        for array in (self.order, self.values, self.n_distinct, self.n_missing):
            array.flags.writeable = False
        self.upper_values.flags.writeable = False

    def __getstate__(self):
        """Leave out cached arrays, which are made again when needed."""
        marks = {name: () for name in self._codes if name == "row_values"}
        ranks = {name: self._codes[name] for name in self._codes if name == "ranks"}
        return vars(self) | {"_codes": marks | ranks}

    @property
    def n_rows(self):
        """Number of rows."""
        return self.order.shape[1]

    @property
    def n_columns(self):
        """Number of columns."""
        return self.order.shape[0]

    def column_values(self, column: int) -> np.ndarray:
        """Distinct values of a column, ascending; of bins the smallest values."""
        return self.values[column, : self.n_distinct[column]]

    def column_upper_values(self, column: int) -> np.ndarray:
        """Distinct values of a column, ascending; or the largest value of every bin."""
        return self.upper_values[column, : self.n_distinct[column]]

    def column_rows(self, column: int) -> np.ndarray:
        """Row numbers of a column by ascending value, without the marks."""
        return self.order[column] & ROW_MASK

    def codes(self, column: int):
        """Rank of every row's value, or bin, among the distinct ones of a column."""
        if column not in self._codes:
            missing_code = int(self.n_distinct[column])
            codes = np.empty(self.n_rows, dtype=np.min_scalar_type(missing_code))
            n_present = self.n_rows - int(self.n_missing[column])
            write_codes(self.order[column], n_present, missing_code, codes)
            codes.flags.writeable = False
            self._codes[column] = codes
        return self._codes[column]

    def take_columns(self, columns: np.ndarray) -> EncodedTable:
        """Make a table of some of the columns, all rows, without sorting again."""
        matrix = self.matrix
        if matrix is not None:
            # Otherwise values by row are not used.
            matrix = matrix[:, columns] if self.has_row_values else None
        by_column = {
            part.name: getattr(self, part.name)[columns]
            for part in fields(self)
            if part.name != "matrix"
            and isinstance(getattr(self, part.name), np.ndarray)
        }
        taken = replace(
            self, schema=self.schema.take_columns(columns), matrix=matrix, **by_column
        )
        if self.has_ranks:
            taken._codes["ranks"] = (self.ranks()[columns],)
        if self.has_row_values:
            taken._codes["row_values"] = ()  # made when they are needed
        return taken

    @property
    def has_ranks(self) -> bool:
        """Whether :meth:`ranks` has been called, so that using them costs nothing."""
        return "ranks" in self._codes

    @property
    def has_row_values(self) -> bool:
        """The same for :meth:`row_values` and :meth:`steps`."""
        return "row_values" in self._codes

    def ranks(self, n_threads: int = 1):
        """Rank of every row's value, for all columns."""

        def make():
            highest = (self.n_distinct - (self.n_missing == 0)).max(initial=0)
            ranks = np.empty(self.order.shape, dtype=np.min_scalar_type(int(highest)))
            write_ranks(self.order, self.n_distinct, self.n_missing, ranks, n_threads)
            return (ranks,)

        return self._keep("ranks", make)[0]

    def row_values(self, n_threads: int = 1) -> np.ndarray:
        """Return the values row by row."""

        def make():
            matrix = self._look_up() if self.matrix is None else self.matrix
            if matrix.dtype == np.float64 and matrix.flags.c_contiguous:
                return (matrix.view(),)
            row_values = np.empty((self.n_rows, self.n_columns))
            copy_matrix(matrix, row_values, n_threads)
            return (row_values,)

        return self._keep("row_values", make)[0]

    def steps(
        self, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Round the values of every row down to steps, for all columns.

        The steps of a column have equal heights: a value x is on step
        floor((x - low) * factor) - 32767. Rounding does not change the order of values,
        so of two values on different steps the upper one is larger. Missing values are
        on the step below all others, -32768.
        """

        def make():
            shape = self.n_rows, self.n_columns
            row_values = self.row_values(n_threads)
            low, factor, gap = np.zeros((3, self.n_columns))
            for column in range(self.n_columns):
                low[column], factor[column] = _scale_steps(self.column_values(column))
            find_gaps(self.values, self.n_distinct, gap, n_threads)
            # In one piece, which is more likely to get large pages.
            both = np.empty((2, self.n_rows * self.n_columns), dtype=np.int16)
            steps, row_steps = both[0].reshape(shape[::-1]), both[1].reshape(shape)
            write_steps(row_values, low, factor, steps, row_steps, n_threads)
            return steps, row_steps, low, factor, gap

        return self._keep("steps", make)

    def _look_up(self):
        """Look up the values of all rows, where the matrix has others or is sparse."""
        ranks = self.ranks()
        columns = np.empty(ranks.shape)
        for column, values in enumerate(self.values):
            values.take(ranks[column], mode="clip", out=columns[column])
            if self.n_missing[column]:
                columns[column, ranks[column] == self.n_distinct[column]] = np.nan
        return columns.T

    def row_ranks(
        self, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the ranks row by row, with bins of them that fit into a byte."""

        def make():
            ranks = self.ranks(n_threads)
            shift, missing_bin = choose_byte_bins(
                self.n_distinct, self.n_missing, ranks.dtype
            )
            row_bins = row_ranks = np.empty(ranks.shape[::-1], dtype=ranks.dtype)
            if ranks.dtype != np.uint8 or self.n_missing.any():
                row_bins = np.empty(row_ranks.shape, dtype=np.uint8)
            write_row_ranks(
                ranks,
                shift,
                self.n_distinct,
                missing_bin,
                row_ranks,
                row_bins,
                n_threads,
            )
            return row_ranks, row_bins, shift, missing_bin

        return self._keep("row_ranks", make)

    def _keep(self, name, make):
        """Arrays that are made on the first call, then kept; read-only."""
        arrays = self._codes.get(name)
        if not arrays:
            arrays = make()
            for array in arrays:
                array.flags.writeable = False
            self._codes[name] = arrays
        return arrays


def choose_byte_bins(
    n_distinct: np.ndarray, n_missing: np.ndarray, dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Choose bins of the ranks of every column that fit into a byte.

    Returns by how many bits the ranks are shifted to the right, and the bin of missing
    values.
    """
    has_missing = n_missing > 0
    shift = np.zeros(len(n_distinct), dtype=np.int32)
    if dtype != np.uint8 or has_missing.any():
        most = np.where(has_missing, MAX_BINS - BIN_GAP, MAX_BINS)
        while ((n_distinct - 1) >> shift >= most).any():
            shift += (n_distinct - 1) >> shift >= most
    n_bins = (np.maximum(n_distinct - 1, 0) >> shift) + 1
    missing_bin = np.full(len(n_distinct), MAX_BINS - 1, dtype=np.int32)
    missing_bin[has_missing] = -(-n_bins[has_missing] // BIN_GAP) * BIN_GAP
    return shift, missing_bin


def _scale_steps(values):
    """Lowest value, and steps per unit, of ascending values."""
    if len(values) == 0:
        return 0.0, 0.0
    with np.errstate(over="ignore", divide="ignore"):
        factor = STEPS / (values[-1] - values[0])
    return (values[0], factor) if 0.0 < factor < np.inf else (0.0, 0.0)
