"""Bins of a table that was read in blocks, whose rows have not been sorted."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.blocks import StoredTable
from sklearn_textbook.tree.encode.block_table import (
    encode_matrix,
    list_values,
    measure_columns,
    write_blocks,
)
from sklearn_textbook.tree.encode.table import (
    RUN_START,
    EncodedTable,
    choose_byte_bins,
)


class StoredBins(EncodedTable):
    """An encoded table of bins that are found by counting, see `BinSearch`.

    It has the codes and bins of `encode_table`; the order of the rows is made when it
    is asked for, which lists of samples do not do.

    Parameters
    ----------
    table : StoredTable
        The table, in columns.
    max_bins : int
        Maximum number of bins of a numeric column.
    n_threads : int
        Number of threads.
    """

    def __init__(self, table: StoredTable, max_bins: int, n_threads: int) -> None:
        columns = table.columns
        lowest, code_dtype, fields = list_values(
            measure_columns(columns, max_bins, n_threads)
        )
        values, upper_values, n_distinct, n_missing = fields
        for array in fields:
            array.flags.writeable = False
        vars(self).update(
            schema=table.schema,
            values=values,
            upper_values=upper_values,
            n_distinct=n_distinct,
            n_missing=n_missing,
            level_codes=None,
            matrix=None,
            _codes={},
            _table=table,
            _order=None,
        )
        shift, missing_bin = choose_byte_bins(n_distinct, n_missing, code_dtype)
        ranks = np.empty((self.n_columns, self.n_rows), dtype=code_dtype)
        row_bins = row_ranks = np.empty(ranks.shape[::-1], dtype=code_dtype)
        if code_dtype != np.uint8 or n_missing.any():
            row_bins = np.empty(row_ranks.shape, dtype=np.uint8)

        def write(rows):
            codes = encode_matrix(columns.read_matrix(rows), lowest, code_dtype)
            row_ranks[rows] = codes
            ranks[:, rows] = codes.T
            if row_bins is not row_ranks:
                bins = codes >> shift.astype(code_dtype)
                row_bins[rows] = np.where(codes == n_distinct, missing_bin, bins)

        cell_bytes = 4 * code_dtype.itemsize + 8  # and those of comparisons
        write_blocks(columns, write, cell_bytes, fields, n_threads)
        self._codes["ranks"] = (ranks,)
        self._codes["row_ranks"] = (row_ranks, row_bins, shift, missing_bin)
        for arrays in self._codes.values():
            for array in arrays:
                array.flags.writeable = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._table.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self._table.shape[1]

    @property
    def order(self) -> np.ndarray:
        """The order of the rows, see `EncodedTable`."""
        return self._table.make_once(lambda: self._order, self._sort_rows)

    def _sort_rows(self):
        order = np.empty((self.n_columns, self.n_rows), dtype=np.uint32)
        for position, codes in enumerate(self.ranks()):
            numbers = self._table.read_column(position)
            rows = np.argsort(numbers, kind="stable").astype(np.uint32)  # NaN is last
            codes = codes[rows]
            rows[np.append(True, codes[1:] != codes[:-1])] |= RUN_START
            order[position] = rows
        order.flags.writeable = False
        vars(self)["_order"] = order

    def take_columns(self, columns: np.ndarray) -> EncodedTable:
        """Make a table of some of the columns, all rows."""
        whole = EncodedTable(
            self.schema,
            self.order,
            self.values,
            self.n_distinct,
            self.n_missing,
            upper_values=self.upper_values,
        )
        return whole.take_columns(columns)
