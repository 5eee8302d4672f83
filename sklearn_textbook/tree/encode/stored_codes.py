"""Codes of a table that was read in blocks, made from its columns in files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sklearn_textbook._contract.blocks import (
    StoredTable,
    limit_workers,
    list_blocks,
    run_each,
)
from sklearn_textbook.tree.encode.block_columns import (
    PIECE_ROWS,
    BlockColumns,
    FileArray,
)
from sklearn_textbook.tree.encode.block_table import (
    LEAST_PIECE,
    SORT_BYTES,
    encode_matrix,
    list_values,
    measure_columns,
    read_sample,
    write_blocks,
)
from sklearn_textbook.tree.encode.table import (
    RUN_START,
    EncodedTable,
    choose_byte_bins,
)

#: A value and its row, as they are written to files.
RECORD = np.dtype([("value", np.float64), ("row", np.uint32)])
#: Rows of a sample for each range of values that is sorted at a time.
SAMPLED_FOR_RANGE = 64
#: Ranges of a column at most, whose files are open together.
MOST_RANGES = 512


class StoredCodes(EncodedTable):
    """An encoded table whose columns were in files.

    It has the codes and values of `encode_table`. Bins are found by counting, see
    `BinSearch`; exact columns are sorted range by range. The order of the rows is made
    when it is asked for, which lists of samples do not do.

    Parameters
    ----------
    table : StoredTable
        The table, in columns.
    max_bins : int or None
        Maximum number of bins of a numeric column.
    n_threads : int
        Number of threads.
    """

    def __init__(
        self, table: StoredTable, max_bins: int | None, n_threads: int
    ) -> None:
        vars(self).update(
            schema=table.schema,
            level_codes=None,
            matrix=None,
            _codes={},
            _table=table,
            _order=None,
            _n_threads=n_threads,
        )
        make = self._rank if max_bins is None else self._bin
        fields, ranks = make(table.columns, max_bins)
        names = ("values", "upper_values", "n_distinct", "n_missing")
        for name, array in zip(names, fields, strict=True):
            array.flags.writeable = False
            vars(self)[name] = array
        self._keep("ranks", lambda: (ranks,))

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

    def _bin(self, columns: BlockColumns, max_bins):
        """Find the bins of all columns, and the codes of the rows."""
        found = measure_columns(columns, max_bins, self._n_threads)
        lowest, code_dtype, fields = list_values(found)
        ranks = np.empty((self.n_columns, self.n_rows), dtype=code_dtype)

        def write(rows):
            codes = encode_matrix(columns.read_matrix(rows), lowest, code_dtype)
            ranks[:, rows] = codes.T

        write_blocks(columns, write, 2 * code_dtype.itemsize, fields, self._n_threads)
        return fields, ranks

    def _rank(self, columns: BlockColumns, _max_bins):
        """Find the distinct values of all columns, and the ranks of the rows."""
        shape = self.n_columns, self.n_rows
        ranks, values = np.empty(shape, dtype=np.uint32), np.empty(shape)
        n_distinct, n_missing = np.zeros((2, self.n_columns), dtype=np.int64)

        def rank(position, piece_rows):
            n_found = n_present = 0
            for rows, order, numbers in sort_column(self._table, position, piece_rows):
                is_later = np.append(False, numbers[1:] != numbers[:-1])
                codes = np.empty(len(rows), dtype=np.uint32)
                codes[order] = np.cumsum(is_later, dtype=np.uint32) + np.uint32(n_found)
                ranks[position][rows] = codes
                is_later[0] = True
                distinct = numbers[is_later]
                values[position, n_found : n_found + len(distinct)] = distinct
                n_found += len(distinct)
                n_present += len(rows)
            n_distinct[position] = n_found
            n_missing[position] = self.n_rows - n_present
            if n_present < self.n_rows:
                for rows in list_blocks(self.n_rows):
                    is_missing = np.isnan(self._table.read_column(position, rows))
                    ranks[position, rows][is_missing] = n_found

        self._sort_each(columns, rank)
        highest = int((n_distinct - (n_missing == 0)).max(initial=0))
        dtype = np.min_scalar_type(highest)
        if dtype != ranks.dtype:
            narrow = np.empty(shape, dtype=dtype)
            for rows in list_blocks(self.n_rows):
                narrow[:, rows] = ranks[:, rows]
            ranks = narrow
        return (values, values, n_distinct, n_missing), ranks

    def _sort_rows(self):
        order = np.empty((self.n_columns, self.n_rows), dtype=np.uint32)

        def sort(position, piece_rows):
            n_sorted, last = 0, None
            for rows, places, _ in sort_column(self._table, position, piece_rows):
                ordered = rows[places]
                codes = self.ranks()[position][ordered]
                is_new = np.append(codes[0] != last, codes[1:] != codes[:-1])
                ordered[is_new] |= RUN_START
                order[position, n_sorted : n_sorted + len(rows)] = ordered
                n_sorted, last = n_sorted + len(rows), codes[-1]
            first = n_sorted
            for rows in list_blocks(self.n_rows if n_sorted < self.n_rows else 0):
                numbers = self._table.read_column(position, rows)
                missing = (np.flatnonzero(np.isnan(numbers)) + rows.start).astype(
                    np.uint32
                )
                order[position, n_sorted : n_sorted + len(missing)] = missing
                n_sorted += len(missing)
            if first < self.n_rows:
                order[position, first] |= RUN_START

        self._sort_each(self._table.columns, sort)
        order.flags.writeable = False
        vars(self)["_order"] = order

    def _sort_each(self, columns: BlockColumns, sort):
        """Let threads sort columns, as many as the memory is enough for."""
        limit, piece_rows = columns.memory_limit, PIECE_ROWS
        n_sorting = limit_workers(
            *(min(self._n_threads, self.n_columns), limit),
            *(LEAST_PIECE * SORT_BYTES, 0, "sorting a column"),
        )
        if limit is not None:
            piece_rows = min(piece_rows, limit // (n_sorting * SORT_BYTES))

        def sort_some(worker):
            for position in range(worker, self.n_columns, n_sorting):
                sort(position, piece_rows)

        run_each(sort_some, n_sorting)

    def row_ranks(self, n_threads: int = 1):
        """Return the ranks row by row, with bins of them that fit into a byte."""

        def make():
            ranks, shape = self.ranks(), (self.n_rows, self.n_columns)
            shift, missing_bin = choose_byte_bins(
                self.n_distinct, self.n_missing, ranks.dtype
            )
            row_bins = row_ranks = np.empty(shape, dtype=ranks.dtype)
            if ranks.dtype != np.uint8 or self.n_missing.any():
                row_bins = np.empty(shape, dtype=np.uint8)

            def write(rows):
                codes = np.ascontiguousarray(ranks[:, rows].T)
                row_ranks[rows] = codes
                if row_bins is not row_ranks:
                    bins = codes >> shift.astype(ranks.dtype)
                    is_missing = (codes == self.n_distinct) & (self.n_missing > 0)
                    row_bins[rows] = np.where(is_missing, missing_bin, bins)

            cell_bytes = 4 * ranks.dtype.itemsize + 8
            write_blocks(
                *(self._table.columns, write, cell_bytes),
                *((shift[:, np.newaxis],), n_threads),
            )
            return row_ranks, row_bins, shift, missing_bin

        return self._keep("row_ranks", make)

    def row_values(self, n_threads: int = 1) -> np.ndarray:
        """Return the values row by row."""

        def make():
            row_values = np.empty((self.n_rows, self.n_columns))
            for rows in list_blocks(self.n_rows):
                for position, values in enumerate(self.values):
                    codes = self.ranks()[position, rows]
                    row_values[rows, position] = values.take(codes, mode="clip")
                    if self.n_missing[position]:
                        is_missing = codes == self.n_distinct[position]
                        row_values[rows, position][is_missing] = np.nan
            return (row_values,)

        return self._keep("row_values", make)[0]

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


def sort_column(
    table: StoredTable, position: int, piece_rows: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Sort a column, a range of its values after the other; missing ones are left out.

    Yields (rows, order, numbers): the rows with these values, ascending, where each of
    them stands, and the sorted values; of equal values the first row is first.
    """
    n_rows = len(table)
    bounds = _choose_bounds(table, position, piece_rows)
    files: list[FileArray] = []
    sizes = np.zeros(len(bounds) + 1, dtype=np.int64)
    if len(bounds):
        files = [
            table.columns.make_array(f"range-{position}-{place}", RECORD, (0,))
            for place in range(len(sizes))
        ]
    # What is kept of a block beside its values is as large as these.
    step = n_rows if not files else max(1, piece_rows // 4)
    for rows in list_blocks(n_rows, step):
        numbers = table.read_column(position, rows)
        present = np.flatnonzero(~np.isnan(numbers))
        records = np.empty(len(present), dtype=RECORD)
        # No zero below 0.
        records["value"] = numbers[present] + 0.0
        records["row"] = present + rows.start
        if not files:
            yield from _sort_records(records)
            return
        place = np.searchsorted(bounds, records["value"], side="right")
        order = np.argsort(place.astype(np.uint16), kind="stable")
        counts = np.bincount(place, minlength=len(sizes))
        start = 0
        for number in np.flatnonzero(counts):
            part = records[order[start : start + counts[number]]]
            files[number].write(int(sizes[number]), part)
            sizes[number] += counts[number]
            start += counts[number]
    for file, size in zip(files, sizes.tolist(), strict=True):
        yield from _sort_records(file.read(slice(0, size)))
        file.close()
        file.path.unlink()


def _sort_records(records):
    """Sort the values of a range."""
    if len(records):
        order = np.argsort(records["value"], kind="stable")
        yield records["row"].copy(), order, records["value"][order]


def _choose_bounds(table: StoredTable, position: int, piece_rows: int) -> np.ndarray:
    """Choose values that divide a column into ranges of about half a piece of rows."""
    n_ranges = min(-(-2 * len(table) // piece_rows), MOST_RANGES)
    if len(table) <= piece_rows or n_ranges < 2:
        return np.empty(0)
    n_sampled = n_ranges * SAMPLED_FOR_RANGE
    sample = read_sample(
        lambda rows: table.read_column(position, rows), len(table), n_sampled
    )
    sample = np.sort(sample[~np.isnan(sample)])
    if not len(sample):
        return np.empty(0)
    places = np.arange(1, n_ranges) * len(sample) // n_ranges
    return np.unique(sample[places])
