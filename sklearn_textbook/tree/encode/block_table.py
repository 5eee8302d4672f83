"""Encoding of a table that is read in blocks: the codes of its rows, in a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.blocks import (
    BLOCK_ROWS,
    limit_workers,
    list_blocks,
    run_each,
)
from sklearn_textbook.tree.encode._rank import divide_values
from sklearn_textbook.tree.encode.bin_search import (
    BOUNDS_FOR_BIN,
    SAMPLED_FOR_BOUND,
    BinSearch,
    choose_bounds,
    count_between,
    sort_present,
    take_between,
)
from sklearn_textbook.tree.encode.block_columns import (
    PIECE_ROWS,
    BlockColumns,
    FileArray,
)
from sklearn_textbook.tree.encode.columns import NUMERIC
from sklearn_textbook.tree.encode.rank import check_max_bins
from sklearn_textbook.tree.encode.schema import TableSchema

#: Bytes that sorting needs at most for each of the values that are sorted together, and
#: the least number of these.
SORT_BYTES, LEAST_PIECE = 256, 1 << 15
#: Bounds of intervals at least, and neighbouring rows of a sample, which are read
#: together.
LEAST_BOUNDS, SAMPLED_TOGETHER = 1 << 13, 64


@dataclass(frozen=True)
class BlockTable:
    """The codes of a table, row by row in a file, and what they stand for.

    The codes are the ranks of `EncodedTable`, which has the same fields; there is no
    order of the rows.

    Parameters
    ----------
    columns : BlockColumns
        The columns that were encoded.
    row_codes : FileArray of uint8, uint16 or uint32, shape (n_rows, n_columns)
        Rank of every value, or of its bin, among those of its column; the number of
        these for a missing value.
    values, upper_values, n_distinct, n_missing : ndarray
        As in `EncodedTable`.
    """

    columns: BlockColumns
    row_codes: FileArray
    values: np.ndarray
    upper_values: np.ndarray
    n_distinct: np.ndarray
    n_missing: np.ndarray
    level_codes: None = None

    @property
    def schema(self) -> TableSchema:
        """What the columns are."""
        return self.columns.schema

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.columns.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.columns.n_columns

    @property
    def column_start(self) -> np.ndarray:
        """Where the codes of each column begin in a histogram; how many there are."""
        n_codes = self.n_distinct + (self.n_missing > 0)
        return np.concatenate([[0], np.cumsum(n_codes)])


class ValueCounter:
    """Counts the distinct values of a column, in pieces that are sorted and merged.

    Parameters
    ----------
    columns : BlockColumns
        Where files of intermediate results go.
    piece_rows : int
        Values in memory at a time.
    name : str
        What the names of these files begin with.
    """

    def __init__(
        self, columns: BlockColumns, piece_rows: int = PIECE_ROWS, name: str = "values"
    ) -> None:
        self.columns, self.piece_rows, self.name = columns, piece_rows, name
        self.runs: list[tuple[np.ndarray, np.ndarray]] = []  # in memory
        self.stored: list[tuple[FileArray, FileArray]] = []
        self.n_missing = 0

    def add(self, numbers: np.ndarray) -> None:
        """Count the values of a piece, a copy that is sorted in place."""
        run, n_missing = count_values(numbers)
        self.n_missing += n_missing
        self.runs.append(run)
        if sum(len(values) for values, _ in self.runs) > 2 * self.piece_rows:
            self.runs = [_merge_runs(self.runs)]
            if len(self.runs[0][0]) > self.piece_rows:
                self._store()

    def _store(self) -> None:
        """Move the run that is in memory to files."""
        values, counts = self.runs.pop()
        self.stored.append((self._write(values), self._write(counts)))

    def _write(self, array):
        name = f"{self.name}-{array.dtype}-{len(self.stored)}"
        stored = self.columns.make_array(name, array.dtype, array.shape)
        stored.write(0, array)
        return stored

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct values, ascending, and how many rows have smaller ones.

        The second array has one entry more, the number of rows with a value.
        """
        if not self.stored:
            return add_up_counts(self.runs)
        if self.runs and len(self.runs[0][0]):
            self.runs = [_merge_runs(self.runs)]
            self._store()
        n_most = sum(len(values) for values, _ in self.stored)
        values = self.columns.make_array(f"{self.name}-all", np.float64, (n_most,))
        starts = self.columns.make_array(
            f"{self.name}-starts", np.uint32, (n_most + 1,)
        )
        n = total = 0
        starts.write(0, np.zeros(1, np.uint32))
        for found, counts in self._merge_stored():
            values.write(n, found)
            ends = np.cumsum(counts, dtype=np.uint32)
            starts.write(n + 1, ends + np.uint32(total))
            n, total = n + len(found), total + int(ends[-1])
        # Few pages of these are read.
        return (
            np.memmap(values.path, np.float64, "r", shape=(n,)),
            np.memmap(starts.path, np.uint32, "r", shape=(n + 1,)),
        )

    def remove(self) -> None:
        """Remove the files."""
        for path in self.columns.folder.glob(f"{self.name}-*"):
            path.unlink()

    def _merge_stored(self):
        """Merge the runs in files piece by piece, each between two values."""
        step = max(1, self.piece_rows // len(self.stored))
        bounds = np.unique(
            [
                values.read(slice(place, place + 1))[0]
                for values, _ in self.stored
                for place in range(step, len(values), step)
            ]
        )
        # Between two bounds a run has at most 'step' values.
        places = [0] * len(self.stored)
        for bound in [*bounds, np.inf]:
            parts = []
            for number, (values, counts) in enumerate(self.stored):
                first = places[number]
                rows = slice(first, min(first + step + 1, len(values)))
                window = values.read(rows)
                n = int(np.searchsorted(window, bound, side="right"))
                parts.append((window[:n], counts.read(slice(first, first + n))))
                places[number] = first + n
            merged = _merge_runs(parts)
            if len(merged[0]):
                yield merged


def count_values(numbers: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Count the distinct values of an array, which is sorted, and the missing ones."""
    present = sort_present(numbers)
    counted = _count_sorted(present, np.ones(len(present), np.uint32))
    return counted, len(numbers) - len(present)


def add_up_counts(runs) -> tuple[np.ndarray, np.ndarray]:
    """Merge values with counts; returns what `ValueCounter.finish` does."""
    values, counts = _merge_runs(runs)
    return values, np.append(np.uint32(0), np.cumsum(counts, dtype=np.uint32))


def _count_sorted(values, counts):
    """Add up the counts of equal neighbours."""
    if len(values) == 0:
        return values, counts
    is_first = np.empty(len(values), dtype=bool)
    is_first[0] = True
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    if is_first.all():
        return values, counts
    first = np.flatnonzero(is_first)
    return values[first], np.add.reduceat(counts, first, dtype=np.uint32)


def _merge_runs(runs):
    """Merge ascending values with their counts."""
    if len(runs) == 1:
        return runs[0]
    if not runs:
        return np.empty(0), np.empty(0, np.uint32)
    values = np.concatenate([values for values, _ in runs])
    counts = np.concatenate([counts for _, counts in runs])
    if counts.max(initial=1) == 1:
        values.sort()
        return _count_sorted(values, counts)
    order = np.argsort(values, kind="stable")  # which merges what is sorted already
    return _count_sorted(values[order], counts[order])


def encode_blocks(
    columns: BlockColumns,
    max_bins: int | None = None,
    n_threads: int = 1,
    piece_rows: int = PIECE_ROWS,
) -> BlockTable:
    """Sort or bin every column, as `encode_table` does, and write the codes to a file.

    Values and bins depend on the set of the rows alone, and are those of
    `encode_table`.
    """
    found = measure_columns(columns, max_bins, n_threads, piece_rows)
    lowest, code_dtype, fields = list_values(found)
    row_codes = columns.make_array(
        "codes", code_dtype, (columns.n_rows, columns.n_columns)
    )

    def write(rows):
        row_codes.write(
            rows.start, encode_matrix(columns.read_matrix(rows), lowest, code_dtype)
        )

    write_blocks(columns, write, row_codes.dtype.itemsize, fields, n_threads)
    return BlockTable(columns, row_codes, *fields)


def write_blocks(
    columns: BlockColumns,
    write: Callable[[slice], None],
    cell_bytes: int,
    fields: Sequence,
    n_threads: int,
) -> None:
    """Let threads write the codes of all blocks, as many as the memory is enough for.

    A cell has ``cell_bytes`` of codes; ``fields`` are those of `list_values`.
    """
    blocks = [*list_blocks(columns.n_rows)]
    row_bytes = (8 + cell_bytes) * columns.n_columns + 32
    n_writing = limit_workers(
        *(min(n_threads, columns.n_columns), columns.memory_limit),
        *(min(BLOCK_ROWS, columns.n_rows) * row_bytes, 2 * fields[0].nbytes),
        "writing the codes of a block of rows",
    )

    def write_some(worker):
        for rows in blocks[worker::n_writing]:
            write(rows)  # its arrays are gone before those of the next block

    run_each(write_some, n_writing)


def measure_columns(
    columns: BlockColumns,
    max_bins: int | None,
    n_threads: int,
    piece_rows: int = PIECE_ROWS,
) -> list:
    """Find what `list_values` takes, of all columns."""
    check_max_bins(max_bins)
    schemas, n_columns = columns.schema.columns, columns.n_columns
    limit = columns.memory_limit
    n_sorting = limit_workers(
        *(min(n_threads, n_columns), limit),
        *(LEAST_PIECE * SORT_BYTES, 0, "sorting a column"),
    )
    if limit is not None:
        piece_rows = min(piece_rows, limit // (n_sorting * SORT_BYTES))
    found: list = [None] * n_columns

    def measure(worker):
        for position in range(worker, n_columns, n_sorting):
            bins = max_bins if schemas[position].kind == NUMERIC else None
            found[position] = _measure_column(columns, position, bins, piece_rows)

    run_each(measure, n_sorting)
    return found


def list_values(found: Sequence[tuple[np.ndarray, np.ndarray, int]]):
    """Put together what has been found of the columns.

    Parameters
    ----------
    found : sequence of tuples
        Of each column, the lowest and the highest value of every rank or bin, and the
        number of missing values.

    Returns
    -------
    lowest : tuple of ndarrays
        The lowest values.
    code_dtype : dtype
        Type of the codes.
    fields : tuple of ndarrays
        ``values``, ``upper_values``, ``n_distinct`` and ``n_missing``.
    """
    lowest, highest, missing = zip(*found, strict=True)
    n_missing = np.array(missing, dtype=np.int64)
    n_distinct = np.array([len(low) for low in lowest], dtype=np.int64)
    width = max(1, int(n_distinct.max()))
    values, upper_values = np.empty((2, len(lowest), width))
    for position, (low, high) in enumerate(zip(lowest, highest, strict=True)):
        values[position, : len(low)] = low
        upper_values[position, : len(high)] = high
    highest_code = int((n_distinct - (n_missing == 0)).max(initial=0))
    code_dtype = np.min_scalar_type(highest_code)
    return lowest, code_dtype, (values, upper_values, n_distinct, n_missing)


def encode_matrix(matrix: np.ndarray, lowest: Sequence, code_dtype) -> np.ndarray:
    """Find the codes of a block of rows."""
    block = np.empty(matrix.shape, dtype=code_dtype)
    for position, low in enumerate(lowest):
        numbers = matrix[:, position]
        codes = np.searchsorted(low, numbers, side="right") - 1
        codes[np.isnan(numbers)] = len(low)
        block[:, position] = codes
    return block


def _measure_column(columns, position, max_bins, piece_rows):
    """Find the lowest and the highest value of every rank or bin of a column."""
    numbers, mapping = columns.open_column(position), columns.mappings[position]
    if mapping is not None:
        counts = np.zeros(len(mapping), dtype=np.int64)
        for rows in list_blocks(columns.n_rows, piece_rows):
            counts += np.bincount(numbers.read(rows) + 1, minlength=len(mapping))
        return find_levels(mapping, counts)
    if max_bins is not None:
        # In memory are some numbers for each interval, and the rows of an interval for
        # each bin. This number of intervals keeps both few.
        n_bounds = math.isqrt(max_bins * columns.n_rows // 4)
        n_sampled = SAMPLED_FOR_BOUND * max(n_bounds, LEAST_BOUNDS)
        n_needed = SAMPLED_FOR_BOUND * BOUNDS_FOR_BIN * max_bins
        if n_needed <= n_sampled < columns.n_rows:
            sample = read_sample(numbers.read, columns.n_rows, n_sampled)
            bounds = choose_bounds(sample, columns.n_rows, max_bins)
            if bounds is not None:
                return _search_bins(numbers, bounds, max_bins, piece_rows)
    counter = ValueCounter(columns, piece_rows, f"sorted-{position}")
    for rows in list_blocks(columns.n_rows, piece_rows):
        counter.add(numbers.read(rows))
    bins = bin_values(*counter.finish(), max_bins)
    counter.remove()
    return *bins, counter.n_missing


def read_sample(
    read: Callable[[slice], np.ndarray], n_rows: int, n_sampled: int
) -> np.ndarray:
    """Read short stretches of a column, evenly spread."""
    step = max(1, n_rows * SAMPLED_TOGETHER // n_sampled)
    stretches = range(0, n_rows - SAMPLED_TOGETHER, step)
    return np.concatenate(
        [read(slice(start, start + SAMPLED_TOGETHER)) for start in stretches]
    )


def _search_bins(numbers, bounds, max_bins, piece_rows):
    """Find what `_measure_column` does by passes over the column."""
    search, n_missing = BinSearch(bounds, max_bins), 0
    for rows in list_blocks(len(numbers), piece_rows):
        piece = numbers.read(rows)
        present = sort_present(piece)
        n_missing += len(piece) - len(present)
        search.add_counts(*count_between(present, bounds))
    search.end_counts()
    while (ends := search.find_intervals()) is not None:
        search.open(
            (
                take_between(sort_present(numbers.read(rows)), *ends)
                for rows in list_blocks(len(numbers), piece_rows)
            ),
            ends[0],
        )
    return *search.get_bins(), n_missing


def find_levels(mapping: np.ndarray, counts: np.ndarray):
    """Find what `list_values` takes, from the rows without a level and of each."""
    present = np.sort(mapping[:-1][counts[1:] > 0])
    return present, present, int(counts[0])


def bin_values(values: np.ndarray, starts: np.ndarray, max_bins: int | None):
    """Find the lowest and the highest value of every bin, or of every value."""
    if max_bins is None or len(values) <= max_bins:
        return np.array(values), np.array(values)
    first = divide_values(starts, max_bins)
    last = np.append(first[1:], len(values)) - 1
    return np.array(values[first]), np.array(values[last])
