"""The columns of a data frame of Dask, kept by the workers that have read them.

Rows are cut into parts: whole blocks, wherever the partitions begin and end, so that
sums by block are those of any other table. Each is the result of tasks that begin with
the partitions; if a worker is lost, Dask runs those of its parts again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from sklearn_textbook._contract.blocks import BLOCK_ROWS, list_blocks
from sklearn_textbook._contract.dask_frames import (
    cancel,
    require_names,
    require_workers,
)
from sklearn_textbook._contract.labels import check_target, encode_labels
from sklearn_textbook._contract.weights import check_weights
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
    ColumnMerger,
    add_weights,
    count_rows_from,
    is_blank,
    list_features,
    measure_weight,
)
from sklearn_textbook.tree.encode.block_table import (
    BlockTable,
    add_up_counts,
    bin_values,
    count_values,
    encode_matrix,
    find_levels,
    list_values,
)
from sklearn_textbook.tree.encode.columns import NUMERIC, Column, infinity_error
from sklearn_textbook.tree.encode.frames import FrameTable
from sklearn_textbook.tree.encode.rank import check_max_bins
from sklearn_textbook.tree.encode.read import (
    find_categorical,
    read_flag,
    read_numbers,
    warn_of_identifiers,
)
from sklearn_textbook.tree.encode.schema import TableSchema

# ------------------------------------------------------------------------------------
# What workers do.
# ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartitionRows:
    """The rows of a partition: numbers, or codes of its own levels and classes."""

    columns: list[Column]
    target: np.ndarray
    labels: np.ndarray | None
    weight: np.ndarray | None

    def __sizeof__(self) -> int:
        arrays = [self.target, self.weight]
        arrays += [part for of in self.columns for part in (of.numbers, of.codes)]
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True)
class PartitionSummary:
    """What the client has to know of a partition."""

    n_rows: int
    columns: list[Column]  # without rows
    counts: list[np.ndarray | None]  # of the rows without a level and with each
    infinite_rows: list[int | None]
    labels: np.ndarray | None
    n_of_label: np.ndarray | None


def list_read(names: Sequence[str], target: str, sample_weight: str | None):
    """List the columns that are read of a partition."""
    return [*dict.fromkeys([*names, target, sample_weight or target])]


def read_partition(
    frame,
    number: int,
    names: Sequence[str],
    target: str,
    sample_weight: str | None,
    is_categorical: np.ndarray | None,
    is_numeric: bool,
) -> PartitionRows:
    """Read the columns of a partition."""
    require_names(frame, list_read(names, target, sample_weight), number)
    if len(frame) == 0:
        labels = None if is_numeric else np.empty(0)
        return PartitionRows([], np.empty(0), labels, np.empty(0))
    try:
        table, columns, labels, weight = FrameTable(frame), [], None, None
        places = {name: place for place, name in enumerate(table.names)}
        for position, name in enumerate(names):
            declared = read_flag(is_categorical, position)
            columns.append(_read_column(table, places[name], name, declared))
        values = check_target(table.read_series(places[target]), is_numeric=is_numeric)
        values = np.ascontiguousarray(values[:, 0])
        if is_numeric:
            values = values.astype(np.float64, copy=False)
        else:
            labels, values = np.unique(values, return_inverse=True)
        if sample_weight is not None:
            given = table.read_series(places[sample_weight])
            weight = check_weights(given, len(frame), is_block=True)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{error} This is partition {number} of the Dask data frame, in which rows "
            "are counted from 0."
        ) from None
    return PartitionRows(columns, values, labels, weight)


def _read_column(table, place, name, is_declared) -> Column:
    """Read a column: numbers if it is declared not to be categorical."""
    column = table.read_column(place, name, as_levels=bool(is_declared))
    has_numbers = column.codes is None or (is_declared is not None and not is_declared)
    if not has_numbers or is_blank(column):
        return column
    numbers = np.ascontiguousarray(read_numbers(column)[0], dtype=np.float64)
    return replace(column, numbers=numbers, codes=None, levels=None)


def summarize(rows: PartitionRows) -> PartitionSummary:
    """Tell what the client has to know of a partition."""
    columns, counts, infinite_rows = [], [], []
    for column in rows.columns:
        found, infinite = None, None
        if column.codes is not None:
            found = np.bincount(column.codes + 1, minlength=len(column.levels) + 1)
            column = replace(column, codes=np.empty(0, np.int64))
        else:
            is_infinite = np.isinf(column.numbers)
            infinite = int(np.argmax(is_infinite)) if is_infinite.any() else None
            column = replace(column, numbers=np.empty(0))
        columns.append(column)
        counts.append(found)
        infinite_rows.append(infinite)
    n_of_label = None
    if rows.labels is not None:
        codes = rows.target.astype(np.int64, copy=False)
        n_of_label = np.bincount(codes, minlength=len(rows.labels))
    return PartitionSummary(
        len(rows.target), columns, counts, infinite_rows, rows.labels, n_of_label
    )


def _copy_numbers(rows, position, step: int = 1) -> np.ndarray:
    """Copy every so many-th number of a column."""
    column = rows.columns[position]
    if is_blank(column):
        return np.full(len(rows.target[::step]), np.nan)
    return np.array(column.numbers[::step])


def _return(argument):
    return argument


def sample_columns(rows: PartitionRows, places_and_step: tuple[list[int], int]):
    """Take every so many-th number of some columns."""
    places, step = places_and_step
    return [_copy_numbers(rows, position, step) for position in places]


def count_column(rows: PartitionRows, position: int):
    """Count the values of a column of numbers, and those that are missing."""
    return count_values(_copy_numbers(rows, position))


def count_intervals(rows: PartitionRows, bounds: dict[int, np.ndarray]):
    """Count the rows between bounds of some columns, and the missing numbers of each.

    Columns are read one after the other, so that one is sorted at a time.
    """
    found = []
    for position, of_column in bounds.items():
        numbers = _copy_numbers(rows, position)
        present = sort_present(numbers)
        found.append((count_between(present, of_column), len(numbers) - len(present)))
    return found


def open_intervals(rows: PartitionRows, ends: dict[int, tuple]):
    """Take the numbers between the ends of intervals of some columns."""
    return [
        take_between(sort_present(_copy_numbers(rows, position)), *of_column)
        for position, of_column in ends.items()
    ]


def bin_column(counted: Sequence, max_bins: int | None):
    """Find the lowest and highest values of bins, and the number of missing ones."""
    runs, missing = zip(*counted, strict=True)
    return *bin_values(*add_up_counts(list(runs)), max_bins), sum(missing)


def encode_rows(
    rows: PartitionRows, taken: slice, mappings: Sequence, lowest: Sequence, code_dtype
) -> np.ndarray:
    """Find the codes of some rows of a partition."""
    codes = np.empty((taken.stop - taken.start, len(lowest)), dtype=code_dtype)
    for block in list_blocks(len(codes)):
        read = slice(taken.start + block.start, taken.start + block.stop)
        matrix = np.empty((block.stop - block.start, len(lowest)), order="F")
        for position, (column, mapping) in enumerate(
            zip(rows.columns, mappings, strict=True)
        ):
            if is_blank(column):
                matrix[:, position] = np.nan
            elif mapping is None:
                matrix[:, position] = column.numbers[read]
            else:
                matrix[:, position] = mapping[column.codes[read]]
        codes[block] = encode_matrix(matrix, lowest, code_dtype)
    return codes


def take_targets(
    rows: PartitionRows,
    taken: slice,
    class_codes: np.ndarray | None,
    class_weight: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Take the targets and weights of some rows of a partition."""
    y = rows.target[taken]
    weight = None if rows.weight is None else rows.weight[taken]
    if class_codes is not None:
        y = class_codes[y]
    if class_weight is not None:
        factor = class_weight[y]
        weight = factor if weight is None else weight * factor
    return y.astype(np.float64, copy=False), weight


def join_rows(pieces: Sequence[np.ndarray]) -> np.ndarray:
    """Put rows one after the other."""
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def join_targets(pieces: Sequence[tuple]) -> tuple[np.ndarray, np.ndarray | None]:
    """Put targets and weights one after the other."""
    y, weight = zip(*pieces, strict=True)
    return join_rows(y), None if weight[0] is None else join_rows(weight)


def align_rows(array: np.ndarray | None) -> np.ndarray | None:
    """Copy an array that is not aligned in memory, as after a transfer.

    numpy adds up such numbers in another order, and compiled loops may not expect them.
    """
    return None if array is None else np.require(array, requirements="A")


def call_on_blocks(targets, start: int, function: Callable) -> list:
    """Call a function with the target and the weights of every block of a part."""
    (y, weight), found = map(align_rows, targets), []
    for rows in list_blocks(len(y)):
        with count_rows_from(start + rows.start):
            found.append(function(y[rows], None if weight is None else weight[rows]))
    return found


# ------------------------------------------------------------------------------------
# What the client does.
# ------------------------------------------------------------------------------------


class DaskColumns:
    """The columns of a data frame of Dask, its target and its weights, with workers.

    Parameters
    ----------
    client : distributed.Client
        The client of the workers.
    partitions : list of Future
        Partitions with rows, as `PartitionRows`.
    summaries : list of PartitionSummary
        What they contain.
    names : sequence of str
        Names of the columns.
    is_categorical : ndarray of bool, or None
        Columns declared categorical.
    has_weights : bool
        Whether rows have weights.
    """

    memory_limit = None  # Dask limits the memory of workers

    def __init__(
        self, client, partitions, summaries, names, is_categorical, has_weights
    ) -> None:
        self.client, self.partitions, self.summaries = client, partitions, summaries
        self.has_weights = has_weights
        self.starts = np.cumsum([0, *(of.n_rows for of in summaries)])
        self.n_rows = int(self.starts[-1])
        self._class_codes: list = [None] * len(summaries)
        self._class_weight: np.ndarray | None = None
        self._targets: list = []
        self._merge(names, is_categorical)
        self._cut()

    def _merge(self, names, is_categorical) -> None:
        """Find what each column is, from all partitions."""
        schemas, self.counts, mappings = [], [], []
        for position, name in enumerate(names):
            merger = ColumnMerger(name, read_flag(is_categorical, position))
            numbers = []
            for start, summary in zip(self.starts, self.summaries, strict=False):
                row = summary.infinite_rows[position]
                if row is not None:
                    raise infinity_error(name, int(start) + row)
                numbers.append(merger.merge(summary.columns[position], summary.n_rows))
            schema, mapping = merger.describe()
            schemas.append(schema)
            self.counts.append(self._count_levels(position, mapping, numbers))
            mappings.append(
                [
                    None if mapping is None or places is None else mapping[places]
                    for places in numbers
                ]
            )
        self.schema = TableSchema(tuple(schemas), True)
        # Of every partition, the codes of the levels of each column.
        self.mappings = [*zip(*mappings, strict=True)]
        warn_of_identifiers(self.schema, self.n_rows)

    def _count_levels(self, position, mapping, numbers):
        """Find what `list_values` takes of a column of levels."""
        if mapping is None:
            return None
        counts = np.zeros(len(mapping), dtype=np.int64)
        for places, summary in zip(numbers, self.summaries, strict=True):
            if places is None:
                counts[0] += summary.n_rows
            else:
                np.add.at(counts, np.roll(places, 1) + 1, summary.counts[position])
        return find_levels(mapping, counts)

    def _cut(self) -> None:
        """Cut the rows into a part for each thread of the workers, and place them."""
        threads = self.client.nthreads()
        n_blocks = -(-self.n_rows // BLOCK_ROWS)
        n_parts = min(n_blocks, sum(threads.values()))
        bounds = [n_blocks * part // n_parts * BLOCK_ROWS for part in range(n_parts)]
        self.part_starts = bounds
        self._pieces = [
            self._find_pieces(start, min(stop, self.n_rows))
            for start, stop in zip(bounds, [*bounds[1:], self.n_rows], strict=True)
        ]
        holders = self.client.who_has(self.partitions)
        places = [holders.get(partition.key, ()) for partition in self.partitions]
        # With a worker that has most of the rows, and a thread for them.
        room = dict(threads)
        self.worker_of_part = []
        for pieces in self._pieces:
            n_rows = dict.fromkeys((name for name in room if room[name]), 0)
            for number, taken in pieces:
                for worker in places[number]:
                    if worker in n_rows:
                        n_rows[worker] += taken.stop - taken.start
            worker = max(n_rows, key=n_rows.__getitem__)
            room[worker] -= 1
            self.worker_of_part.append(worker)

    def _find_pieces(self, start: int, stop: int) -> list[tuple[int, slice]]:
        """Find the partitions that have some rows, and which of theirs these are."""
        pieces = []
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        for number in range(first, len(self.partitions)):
            begin = int(self.starts[number])
            if begin >= stop:
                break
            end = int(self.starts[number + 1])
            pieces.append(
                (number, slice(max(start, begin) - begin, min(stop, end) - begin))
            )
        return pieces

    def find_block(self, part: int) -> int:
        """Return the number of the block with which a part begins."""
        return self.part_starts[part] // BLOCK_ROWS

    def find_workers(self, parts: list) -> None:
        """Find where parts are that are not where they were."""
        holders = self.client.who_has(parts)
        for number, part in enumerate(parts):
            places = holders.get(part.key, ())
            if places and self.worker_of_part[number] not in places:
                self.worker_of_part[number] = places[0]

    def submit(self, part: int, function: Callable, *arguments):
        """Submit a task to the worker that a part is with, if that is not lost."""
        return self.client.submit(
            function,
            *arguments,
            workers=[self.worker_of_part[part]],
            allow_other_workers=True,
            pure=False,
        )

    def ask(self, function: Callable, argument) -> Iterator:
        """Call a function with the rows of every partition and the same argument."""
        sent = self.client.submit(_return, argument, pure=False)  # once
        futures = [
            self.client.submit(function, rows, sent, pure=False)
            for rows in self.partitions
        ]
        while futures:
            yield futures.pop(0).result()  # and the worker can forget it

    def join(self, function: Callable, join: Callable, arguments: Callable) -> list:
        """Make the parts of what a function takes from the pieces of partitions.

        ``arguments(number)`` are those for a partition, after the rows to take.
        """
        return [
            self.submit(
                part,
                join,
                [
                    self.client.submit(
                        function,
                        self.partitions[number],
                        taken,
                        *arguments(number),
                        pure=False,
                    )
                    for number, taken in pieces
                ],
            )
            for part, pieces in enumerate(self._pieces)
        ]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.schema.columns)

    @property
    def targets(self) -> list:
        """The targets and weights of the parts, with the workers."""
        if not self._targets:
            self._targets = self.join(
                take_targets,
                join_targets,
                lambda number: (self._class_codes[number], self._class_weight),
            )
        return self._targets

    def map_targets(self, function: Callable) -> Iterator:
        """Call a function with the target and the weights of every block."""
        found = [
            self.submit(part, call_on_blocks, targets, start, function)
            for part, (targets, start) in enumerate(
                zip(self.targets, self.part_starts, strict=True)
            )
        ]
        return chain.from_iterable(self.client.gather(found))

    def measure_weights(self) -> tuple[float, int]:
        """Add up the weights, and count those above 0."""
        if not self.has_weights:
            return float(self.n_rows), self.n_rows
        return add_weights(self.map_targets(measure_weight))

    def sort_classes(self) -> np.ndarray:
        """Return the classes, sorted; targets then are their codes."""
        labels = np.concatenate([of.labels for of in self.summaries])
        (classes,), codes = encode_labels(labels[:, np.newaxis])
        n_labels = [len(of.labels) for of in self.summaries]
        self._class_codes = np.split(codes[:, 0], np.cumsum(n_labels)[:-1])
        self._n_classes = len(classes)
        return classes

    def count_classes(self) -> np.ndarray:
        """Count the rows of every class."""
        counts = np.zeros(self._n_classes, dtype=np.int64)
        for codes, summary in zip(self._class_codes, self.summaries, strict=True):
            np.add.at(counts, codes, summary.n_of_label)
        return counts

    def multiply_weights(self, of_class: np.ndarray) -> None:
        """Multiply the weights by those of the classes."""
        self._class_weight, self.has_weights = of_class, True

    def release_partitions(self) -> None:
        """Release the partitions, of which the parts are made."""
        self.partitions = []

    def close(self) -> None:
        """Release the rows."""
        self.partitions, self._targets = [], []


def read_dask_columns(
    client,
    source,
    target: str,
    sample_weight: str | None = None,
    categorical_features="from_dtype",
    *,
    is_numeric: bool,
) -> DaskColumns:
    """Let workers read a data frame of Dask; see `read_block_columns`.

    Parameters
    ----------
    client : distributed.Client
        The client of the workers.
    source : BlockSource
        The table, of a data frame of Dask.
    target, sample_weight, categorical_features, is_numeric
        As for `read_block_columns`.
    """
    from dask import delayed

    names = list_features(source, target, sample_weight)
    is_categorical = find_categorical(categorical_features, names, len(names))
    require_workers(client)
    read = list_read(names, target, sample_weight)
    frames = source._dask_frame._list_partitions(read)
    read_rows = delayed(read_partition, pure=False)
    partitions = client.compute(
        [
            read_rows(
                *(frame, number, names, target, sample_weight),
                *(is_categorical, is_numeric),
            )
            for number, frame in enumerate(frames)
        ]
    )
    summarized = client.map(summarize, partitions, pure=False)
    try:
        found = [
            (rows, summary)
            for rows, summary in zip(partitions, client.gather(summarized), strict=True)
            if summary.n_rows > 0
        ]
        if not found:
            raise ValueError(f"{source._describe()} has no rows.")
        rows, summaries = zip(*found, strict=True)
        return DaskColumns(
            *(client, list(rows), list(summaries), names, is_categorical),
            has_weights=sample_weight is not None,
        )
    except BaseException as error:
        cancel(client, [*partitions, *summarized])
        if not isinstance(error, KeyError):
            raise
        raise ValueError(
            f"A partition of the Dask data frame lacks columns: {error}."
        ) from error


def encode_dask_columns(
    columns: DaskColumns, max_bins: int | None = None, n_threads: int = 1
) -> BlockTable:
    """Sort or bin every column, and keep the codes of the rows with the workers.

    Values, bins and codes are those of `encode_blocks`. ``row_codes`` is a list of the
    futures of the parts.
    """
    check_max_bins(max_bins)
    client, found = columns.client, list(columns.counts)
    searches = {} if max_bins is None else _search_bins(columns, max_bins)
    for position, (search, n_missing) in searches.items():
        found[position] = *search.get_bins(), n_missing
    numeric = [place for place, of in enumerate(found) if of is None]
    # The distinct values of so many columns are with the workers at a time.
    step = sum(client.nthreads().values())
    for first in range(0, len(numeric), step):
        places, binned = numeric[first : first + step], []
        for place in places:
            bins = max_bins if columns.schema.columns[place].kind == NUMERIC else None
            counted = client.map(
                count_column, columns.partitions, position=place, pure=False
            )
            binned.append(client.submit(bin_column, counted, bins, pure=False))
        for place, of_column in zip(places, client.gather(binned), strict=True):
            found[place] = of_column
    lowest, code_dtype, fields = list_values(found)
    lowest = client.submit(list, lowest, pure=False)  # once, for all partitions
    row_codes = columns.join(
        encode_rows,
        join_rows,
        lambda number: (columns.mappings[number], lowest, code_dtype),
    )
    return BlockTable(columns, row_codes, *fields)


def _search_bins(columns: DaskColumns, max_bins: int) -> dict[int, tuple]:
    """Search for the bins of columns whose values are too many to be sent.

    Returns a finished search and the number of missing values of each column.
    """
    n_rows, n_partitions = columns.n_rows, len(columns.partitions)
    # Each partition sends two counts and a number for each interval, and then the rows
    # of an interval for each bin. This number of intervals makes both equally many.
    n_bounds = math.isqrt(max_bins * n_rows // (2 * n_partitions))
    n_bounds = max(n_bounds, 2 * BOUNDS_FOR_BIN * max_bins)
    places = [
        place
        for place, (column, levels) in enumerate(
            zip(columns.schema.columns, columns.counts, strict=True)
        )
        if levels is None and column.kind == NUMERIC
    ]
    if not places or 4 * n_bounds * n_partitions > n_rows:
        return {}
    step = max(1, n_rows // (SAMPLED_FOR_BOUND * n_bounds))
    samples = zip(*columns.ask(sample_columns, (places, step)), strict=True)
    searches = {}
    for position, of_column in zip(places, samples, strict=True):
        bounds = choose_bounds(np.concatenate(of_column), n_rows, max_bins)
        if bounds is not None:
            searches[position] = BinSearch(bounds, max_bins)
    n_missing = dict.fromkeys(searches, 0)
    bounds = {position: search.bounds for position, search in searches.items()}
    for counted in columns.ask(count_intervals, bounds) if bounds else ():
        for (position, search), (counts, n) in zip(
            searches.items(), counted, strict=True
        ):
            search.add_counts(*counts)
            n_missing[position] += n
    for search in searches.values():
        search.end_counts()
    while True:
        ends = {place: search.find_intervals() for place, search in searches.items()}
        ends = {place: found for place, found in ends.items() if found is not None}
        if not ends:
            break
        taken = zip(*columns.ask(open_intervals, ends), strict=True)
        for (position, (low, _)), numbers in zip(ends.items(), taken, strict=True):
            searches[position].open(numbers, low)
    return {
        position: (search, n_missing[position]) for position, search in searches.items()
    }
