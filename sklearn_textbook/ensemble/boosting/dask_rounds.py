"""The rounds of boosting on the workers of a Dask cluster.

Each part of the rows is the result of a task, and stays with its worker. A call of a
method of `BlockRounds` that goes through the rows is a task for each part. What these
calls change, the scores, the derivatives and the nodes of the rows, is kept with the
part, but it is not a result of tasks: those of a round would depend on those of the
rounds before, and Dask would keep them all. A part which has been made again, as its
worker was lost, says that it lacks earlier calls. These are then sent to it: the levels
and the leaves of all trees, by which its rows get to their scores and nodes again.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.dask_frames import cancel
from sklearn_textbook.ensemble.boosting.rounds import BlockRounds
from sklearn_textbook.ensemble.resample import BlockDraw
from sklearn_textbook.tree.members import align_rows

#: Methods whose calls are needed when a round is over.
LASTING = ("_count", "_add_values")
#: Histograms of workers that are added up at a time.
SUMMANDS = 8


# ------------------------------------------------------------------------------------
# What workers do.
# ------------------------------------------------------------------------------------


class MemoryArray:
    """An array in memory with the methods of `FileArray`."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.row_bytes = array, array[:1].nbytes

    def read(self, rows: slice) -> np.ndarray:
        """Return some rows, which are not copied."""
        return self.array[rows]

    def write(self, start: int, array: np.ndarray) -> None:
        """Write rows from a place on."""
        self.array[start : start + len(array)] = array

    def fill(self, value: float) -> None:
        """Set all entries."""
        self.array[:] = value


class PartColumns:
    """The targets and weights of a part, with the methods of `BlockColumns`."""

    memory_limit = None

    def __init__(self, targets) -> None:
        y, weight = targets
        self.n_rows, self.target = len(y), MemoryArray(y)
        self.weight = None if weight is None else MemoryArray(weight)

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights."""
        return self.weight is not None

    def make_array(self, name: str, dtype, shape) -> MemoryArray:
        """Make a new array."""
        return MemoryArray(np.empty(shape, dtype))


@dataclass
class PartGrower:
    """What `BlockRounds` needs of a grower to go through the rows."""

    columns: PartColumns
    row_codes: MemoryArray
    column_start: np.ndarray
    n_threads: int = 1  # as workers have several parts

    @property
    def table(self) -> PartGrower:
        """The codes."""
        return self


class PartRounds(BlockRounds):
    """The rounds of the rows of a part."""

    first_block = 0

    def _draw(self, draw):
        super()._draw(draw.start_at(self.first_block))


class Part:
    """The rows of a part: codes, targets, weights, and what calls change.

    Parameters
    ----------
    row_codes : ndarray of shape (n_rows, n_columns)
        The codes.
    targets : tuple
        The targets, and the weights or None.
    first_block : int
        Number of the block with which the part begins.
    column_start, loss, start
        As for `PartGrower` and `BlockRounds`.
    """

    def __init__(
        self, row_codes, targets, first_block, column_start, loss, start
    ) -> None:
        row_codes, targets = align_rows(row_codes), tuple(map(align_rows, targets))
        self.fixed = (row_codes, targets, first_block, column_start, loss, start)
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        """Go back to before the first call."""
        self._rounds, self._n_calls, self._last = None, 0, None

    def __reduce__(self):
        """Leave out what calls change: one may be under way."""
        return Part, self.fixed

    def __sizeof__(self) -> int:
        row_codes, (y, weight), *_, loss, _ = self.fixed
        per_row = 4 + 8 * (1 + (weight is not None) + 3 * loss.n_scores)
        return row_codes.nbytes + len(y) * per_row

    def call(self, number: int, name: str, arguments: tuple, history: list | None):
        """Call a method, as the call of that number; None if earlier ones lack.

        A task may run twice, so the result of the last call is kept.
        """
        with self._lock:
            if number == self._n_calls - 1:
                return self._last
            if number != self._n_calls and history is None:
                return None
            try:
                if number != self._n_calls:
                    self._begin()
                    for earlier in history:
                        self._run(*earlier)
                self._last = self._run(name, arguments)
            except BaseException:
                self._begin()
                raise
            self._n_calls = number + 1
            return self._last

    def _run(self, name, arguments):
        """Call a method; returns an array or a list."""
        if self._rounds is None:
            row_codes, targets, first_block, column_start, loss, start = self.fixed
            grower = PartGrower(
                PartColumns(targets), MemoryArray(row_codes), column_start
            )
            self._rounds = PartRounds(grower, loss, start, 1.0, 1.0, 1.0)
            self._rounds.first_block = first_block
        found = getattr(self._rounds, name)(*arguments)
        if isinstance(found, np.ndarray):
            return found
        return [] if found is None else list(found)


def call_part(part: Part, number, name, arguments, history):
    """Call a method of a part."""
    return part.call(number, name, arguments, history)


def add_up_histograms(found: list):
    """Add up the histograms of parts; None if one of them lacks earlier calls."""
    if any(of_part is None for of_part in found):
        return None
    total = found[0].copy()
    for of_part in found[1:]:
        total += of_part
    return total


# ------------------------------------------------------------------------------------
# What the client does.
# ------------------------------------------------------------------------------------


class DaskRounds(BlockRounds):
    """Grows the trees of one round after the other, over the rows of workers.

    Parameters
    ----------
    grower, loss, start, learning_rate, subsample, total_weight
        As for `BlockRounds`; the grower has `DaskColumns`.
    """

    def _open(self, start) -> None:
        columns, table = self.columns, self.grower.table
        settings = columns.client.submit(
            list, (table.column_start, self.loss, start), pure=False
        )
        self._parts = [
            columns.submit(
                part, make_part, codes, targets, columns.find_block(part), settings
            )
            for part, (codes, targets) in enumerate(
                zip(table.row_codes, columns.targets, strict=True)
            )
        ]
        self.scores = None  # with the parts
        # Parts contain them.
        table.row_codes.clear()
        columns.release_partitions()
        self._history: list[tuple[str, tuple]] = []
        self._n_calls = 0
        self._is_closed = False
        self._waiting: list = []

    def grow(self, seed):
        """Grow the trees of a round."""
        self._history = [call for call in self._history if call[0] in LASTING]
        return super().grow(seed)

    def _list_n_among(self):
        return self._call("_list_n_among")

    def _list_losses(self):
        return self._call("_list_losses")

    def _list_outside_losses(self):
        return self._call("_list_outside_losses")

    def _differentiate(self, needs_variance):
        return self._call("_differentiate", needs_variance)

    def _draw(self, draw: BlockDraw):
        self._call("_draw", draw)

    def _count(self, score, level, scale):
        found = self._call("_count", score, level, scale)
        # Those who repeat the call only send the rows.
        uncounted = (*level[:4], np.full_like(level[4], -1))
        self._history[-1] = ("_count", (score, uncounted, scale))
        return found

    def _list_node_sums(self, *arguments):
        return self._call("_list_node_sums", *arguments)

    def _list_target_counts(self, *arguments):
        return self._call("_list_target_counts", *arguments)

    def _settle(self, takes_part=None):
        """Keep the loss, which has no parameters that depend on the scores."""

    def _add_values(self, score, values):
        self._call("_add_values", score, values)

    def _call(self, name: str, *arguments):
        """Call a method for all parts; returns the sum or the list of the results."""
        run = self._add_up if name == "_count" else self._join
        found = run(name, arguments, None)
        if found is None:
            self.columns.find_workers(self._parts)
            client = self.columns.client
            found = run(name, arguments, client.submit(list, self._history, pure=False))
        self._history.append((name, arguments))
        self._n_calls += 1
        return found

    def _submit(self, *arguments) -> list:
        """Submit a task for each part."""
        if self._is_closed:
            raise RuntimeError("The fit has ended.")
        self._waiting = [
            self.columns.submit(number, call_part, part, self._n_calls, *arguments)
            for number, part in enumerate(self._parts)
        ]
        return self._waiting

    def _join(self, *arguments) -> list | None:
        """Put the results of the parts one after the other."""
        found = self.columns.client.gather(self._submit(*arguments))
        if any(of_part is None for of_part in found):
            return None
        return [of_block for of_part in found for of_block in of_part]

    def _add_up(self, *arguments) -> np.ndarray | None:
        """Add up the histograms: those of a worker first, some workers' at a time."""
        columns, groups = self.columns, defaultdict(list)
        for number, found in enumerate(self._submit(*arguments)):
            groups[columns.worker_of_part[number]].append((number, found))
        sums = [*groups.values()]
        while True:
            sums = [self._submit_sum(group) for group in sums]
            if len(sums) <= SUMMANDS:
                found = columns.client.gather([of for _, of in sums])
                return add_up_histograms(found)
            sums = [
                sums[first : first + SUMMANDS]
                for first in range(0, len(sums), SUMMANDS)
            ]

    def _submit_sum(self, group):
        """Submit the sum of what has been found for some parts, if there are more."""
        (number, first), *others = group
        if others:
            found = [of for _, of in group]
            first = self.columns.submit(number, add_up_histograms, found)
            self._waiting.append(first)
        return number, first

    def close(self) -> None:
        """End growth, also in other threads, and release the parts."""
        self._is_closed = True
        cancel(self.columns.client, self._waiting)
        self._waiting, self._parts = [], []


def make_part(row_codes, targets, first_block, settings) -> Part:
    """Make a part."""
    return Part(row_codes, targets, first_block, *settings)
