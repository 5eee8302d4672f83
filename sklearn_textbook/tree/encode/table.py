"""The encoded table: every column sorted once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from sklearn_textbook.tree.encode._rank import write_codes
from sklearn_textbook.tree.encode.schema import TableSchema

RUN_START = np.uint32(0x80000000)
ROW_MASK = np.uint32(0x7FFFFFFF)
BLOCK_ROWS = 1024  # rows that are turned round at a time
LINE_COLUMNS = 8  # columns of values that fill a line of the cache
STEPS = 65534  # the highest step of a column counted from the lowest


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table whose columns are sorted, ready for growing any number of trees.

    It is read-only: a subset, a bootstrap sample or a fold is a list of rows, or
    weights, over it.

    Parameters
    ----------
    schema : TableSchema
        What the columns are.
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
    level_codes : ndarray of uint16 or uint32, shape (n_columns, n_rows), default=None
        If given, nominal columns are not sorted, and their rows of ``order`` and
        ``values`` are undefined: this has every row's level code instead, the largest
        number of the type standing for a missing value. Rows of other columns are
        undefined.
    upper_values : ndarray of float64, shape of ``values``, default=None
        The largest value of every bin; the same as ``values`` in a column that is not
        binned. None if there is none, and becomes the array ``values`` itself.
    """

    schema: TableSchema
    order: np.ndarray
    values: np.ndarray
    n_distinct: np.ndarray
    n_missing: np.ndarray
    level_codes: np.ndarray | None = None
    upper_values: np.ndarray | None = None
    _codes: dict = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        if self.upper_values is None:
            object.__setattr__(self, "upper_values", self.values)
        for array in (self.order, self.values, self.n_distinct, self.n_missing):
            array.flags.writeable = False
        self.upper_values.flags.writeable = False

    @property
    def n_rows(self):
        """Number of rows."""
        return self.order.shape[1]

    @property
    def n_columns(self):
        """Number of columns."""
        return self.order.shape[0]

    def column_values(self, column):
        """Distinct values of a column, ascending; or the smallest value of every bin.

        Parameters
        ----------
        column : int
            Number of the column.

        Returns
        -------
        values : ndarray of float64, shape (n_distinct[column],)
            A read-only view.
        """
        return self.values[column, : self.n_distinct[column]]

    def column_upper_values(self, column):
        """Distinct values of a column, ascending; or the largest value of every bin.

        Parameters
        ----------
        column : int
            Number of the column.

        Returns
        -------
        upper_values : ndarray of float64, shape (n_distinct[column],)
            A read-only view.
        """
        return self.upper_values[column, : self.n_distinct[column]]

    def column_rows(self, column):
        """Row numbers of a column by ascending value, without the marks.

        Parameters
        ----------
        column : int
            Number of the column.

        Returns
        -------
        rows : ndarray of uint32, shape (n_rows,)
            Missing rows last.
        """
        return self.order[column] & ROW_MASK

    def codes(self, column):
        """Rank of every row's value, or bin, among the distinct ones of a column.

        Parameters
        ----------
        column : int
            Number of the column.

        Returns
        -------
        codes : ndarray of uint8, uint16 or uint32, shape (n_rows,)
            Ranks from 0; ``n_distinct[column]`` for a missing value; the narrowest
            type that holds that. Made on the first call, then kept; read-only.
        """
        if column not in self._codes:
            missing_code = int(self.n_distinct[column])
            codes = np.empty(self.n_rows, dtype=np.min_scalar_type(missing_code))
            n_present = self.n_rows - int(self.n_missing[column])
            write_codes(self.order[column], n_present, missing_code, codes)
            codes.flags.writeable = False
            self._codes[column] = codes
        return self._codes[column]

    def take_columns(self, columns):
        """Make a table of some of the columns, all rows, without sorting again.

        Parameters
        ----------
        columns : ndarray of int
            Numbers of the columns, in their new order.

        Returns
        -------
        table : EncodedTable
            It has copies of the columns, and of their ranks if there are any.
        """
        taken = replace(
            self,
            schema=self.schema.take_columns(columns),
            **{
                part.name: getattr(self, part.name)[columns]
                for part in fields(self)
                if isinstance(getattr(self, part.name), np.ndarray)
            },
        )
        if self.has_ranks:
            taken._codes["ranks"] = self.ranks()[columns]
        return taken

    @property
    def has_ranks(self):
        """Whether :meth:`ranks` has been called, so that using them costs nothing."""
        return "ranks" in self._codes

    def ranks(self):
        """Rank of every row's value, for all columns.

        Returns
        -------
        ranks : ndarray of uint8, uint16 or uint32, shape (n_columns, n_rows)
            As ``codes``, but of one type, the narrowest that holds all. Made on the
            first call, then kept; read-only. Nominal columns that are not sorted are
            undefined.
        """
        ranks = self._codes.get("ranks")
        if ranks is None:
            highest = (self.n_distinct - (self.n_missing == 0)).max(initial=0)
            ranks = np.zeros(self.order.shape, dtype=np.min_scalar_type(int(highest)))
            for column in range(self.n_columns):
                n_present = self.n_rows - int(self.n_missing[column])
                missing_code = (
                    int(self.n_distinct[column]) if self.n_missing[column] else 0
                )
                write_codes(self.order[column], n_present, missing_code, ranks[column])
            ranks.flags.writeable = False
            ranks = self._codes.setdefault("ranks", ranks)
        return ranks

    def row_values(self):
        """Put the values of every row side by side.

        Returns
        -------
        values : ndarray of float64, shape (n_rows, n_columns)
            Undefined where a value is missing and in nominal columns that are not
            sorted. Made on the first call, then kept; read-only.
        """
        row_values = self._codes.get("row_values")
        if row_values is None:
            row_values = np.empty((self.n_rows, self.n_columns))
            ranks = self.ranks()
            part = np.empty((min(LINE_COLUMNS, self.n_columns), self.n_rows))
            for first in range(0, self.n_columns, LINE_COLUMNS):
                part = part[: self.n_columns - first]
                for column, values in enumerate(part, first):
                    self.values[column].take(ranks[column], mode="clip", out=values)
                # Block by block, which then stays in the cache.
                for start in range(0, self.n_rows, BLOCK_ROWS):
                    rows = slice(start, start + BLOCK_ROWS)
                    row_values[rows, first : first + len(part)] = part[:, rows].T
            row_values.flags.writeable = False
            row_values = self._codes.setdefault("row_values", row_values)
        return row_values

    def steps(self):
        """Round the values of every row down to steps, for all columns.

        The steps of a column have equal heights: a value x stands on step
        floor((x - low) * factor) - STEPS / 2. Rounding does not change the order of
        values, so of two values on different steps the upper one is larger.

        Returns
        -------
        steps : ndarray of int16, shape (n_columns, n_rows)
            Undefined as ``row_values()``. Made on the first call, then kept; read-only,
            as the others.
        row_steps : ndarray of int16, shape (n_rows, n_columns)
            The steps of a row stand next to each other.
        low, factor : ndarray of float64, shape (n_columns,)
            The smallest value, and the steps per unit; factor 0 where all values
            stand on the lowest step, as the range of values is empty or overflows.
        gap : ndarray of float64, shape (n_columns,)
            The smallest difference of two distinct values; infinity where there is
            but one.
        """
        arrays = self._codes.get("steps")
        if arrays is None:
            ranks = self.ranks()
            low, factor, gap = np.zeros((3, self.n_columns))
            steps = np.empty(ranks.shape, dtype=np.int16)
            for column in range(self.n_columns):
                values = self.column_values(column)
                low[column], factor[column], gap[column] = _scale_steps(values)
                heights = (values - low[column]) * factor[column]
                of_values = (heights.astype(np.int32) - STEPS // 2).astype(np.int16)
                of_values.take(ranks[column], mode="clip", out=steps[column])
            row_steps = np.empty(ranks.shape[::-1], dtype=np.int16)
            # Block by block, which then stays in the cache.
            for start in range(0, self.n_rows, BLOCK_ROWS):
                rows = slice(start, start + BLOCK_ROWS)
                row_steps[rows] = steps[:, rows].T
            arrays = (steps, row_steps, low, factor, gap)
            for array in arrays:
                array.flags.writeable = False
            arrays = self._codes.setdefault("steps", arrays)
        return arrays

    def row_ranks(self):
        """Put the ranks row by row, beside bins of them that fit into a byte.

        Returns
        -------
        row_ranks : ndarray of the type of ``ranks()``, shape (n_rows, n_columns)
            The ranks of a row stand next to each other. Made on the first call, then
            kept; read-only, as the others.
        row_bins : ndarray of uint8, shape (n_rows, n_columns)
            ``row_ranks >> shift``: the same array, where the ranks are that small.
        shift : ndarray of int32, shape (n_columns,)
            The smallest that makes bytes of the ranks of a column.
        """
        arrays = self._codes.get("row_ranks")
        if arrays is None:
            ranks = self.ranks()
            shift = np.zeros(self.n_columns, dtype=np.int32)
            row_ranks = np.empty(ranks.shape[::-1], dtype=ranks.dtype)
            # Block by block, which then stays in the cache.
            for start in range(0, self.n_rows, BLOCK_ROWS):
                rows = slice(start, start + BLOCK_ROWS)
                row_ranks[rows] = ranks[:, rows].T
            row_bins = row_ranks
            if ranks.dtype != np.uint8:
                n_bits = [int(n - 1).bit_length() for n in self.n_distinct]
                shift = np.maximum(np.array(n_bits, dtype=np.int32) - 8, 0)
                row_bins = np.empty(row_ranks.shape, dtype=np.uint8)
                for start in range(0, self.n_rows, BLOCK_ROWS):
                    rows = slice(start, start + BLOCK_ROWS)
                    row_bins[rows] = row_ranks[rows] >> shift.astype(ranks.dtype)
            arrays = (row_ranks, row_bins, shift)
            for array in arrays:
                array.flags.writeable = False
            arrays = self._codes.setdefault("row_ranks", arrays)
        return arrays


def _scale_steps(values):
    """Lowest value, steps per unit and smallest gap of ascending values."""
    if len(values) == 0:
        return 0.0, 0.0, np.inf
    with np.errstate(over="ignore", divide="ignore"):
        factor = STEPS / (values[-1] - values[0])
        gap = np.diff(values).min(initial=np.inf)
    if not (0.0 < factor < np.inf):
        return 0.0, 0.0, gap
    return values[0], factor, gap
