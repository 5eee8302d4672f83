"""Bins of a column that is read in pieces, none of which is kept.

A sample divides the numbers into intervals, whose rows are counted. Only the intervals
in which a bin may begin are then read value by value. So the bins are exactly those of
all values, but few values are in memory, or cross a network, at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

#: Rows of intervals that are read together, unless a bin begins in each.
MOST_OPENED = 1 << 19
#: Numbers of a sample for every bound, and bounds for every bin.
SAMPLED_FOR_BOUND, BOUNDS_FOR_BIN = 8, 4
#: A column with fewer distinct values than this fraction of its rows is counted value
#: by value.
FEW_DISTINCT = 1 / 8


def sort_present(numbers: np.ndarray) -> np.ndarray:
    """Sort an array in place; return its numbers, without the missing ones."""
    numbers.sort()  # NaN last
    present = numbers[: int(np.searchsorted(numbers, np.inf, side="right"))]
    present += 0.0  # minus zero equals zero
    return present


def choose_bounds(sample: np.ndarray, n_rows: int, max_bins: int) -> np.ndarray | None:
    """Choose bounds of intervals from a sample of a column of so many rows.

    The first bound is minus infinity. None: all values of the column should be counted,
    as they seem to be few, or as there are too many bins.
    """
    present = sort_present(sample)
    values, counts = np.unique(present, return_counts=True)
    n_once, n_twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    # The estimate of Chao (1984), from what occurs once and twice.
    n_distinct = len(values) + n_once**2 / max(2 * n_twice, 1)
    if n_distinct < FEW_DISTINCT * n_rows:
        return None
    if len(present) < BOUNDS_FOR_BIN * SAMPLED_FOR_BOUND * max_bins:
        return None
    return np.append(-np.inf, np.unique(present[::SAMPLED_FOR_BOUND]))


def count_between(present: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, ...]:
    """Count the rows at each bound and between it and the next one.

    Parameters
    ----------
    present : ndarray of float64
        The numbers of a piece, sorted.
    bounds : ndarray of float64
        Ascending; the first is minus infinity.

    Returns
    -------
    n_equal, n_above : ndarray of uint32
        Number of rows at a bound, and between it and the next one.
    highest : ndarray of float64
        The largest number between; minus infinity where there is none.
    """
    first = np.searchsorted(present, bounds, side="left")
    above = np.searchsorted(present, bounds, side="right")
    stop = np.append(first[1:], len(present))
    highest = np.full(len(bounds), -np.inf)
    has_rows = stop > above
    highest[has_rows] = present[stop[has_rows] - 1]
    return (above - first).astype(np.uint32), (stop - above).astype(np.uint32), highest


def take_between(present: np.ndarray, low: np.ndarray, high: np.ndarray):
    """Take the numbers of a sorted piece that are inside some intervals."""
    start = np.searchsorted(present, low, side="right")
    stop = np.searchsorted(present, high, side="left")
    parts = [present[a:b] for a, b in zip(start, stop, strict=True) if a < b]
    return np.concatenate(parts) if parts else np.empty(0)


class BinSearch:
    """Finds the bins that `divide_values` finds in all values of a column.

    A column is a sequence of segments in ascending order: single values, and intervals
    whose values are not known. Bins are fewest, and their capacity is smallest, if a
    bin can begin at any row of an interval, with a value that has all further rows of
    it. The capacity found under this assumption is the right one as soon as no bin
    begins in an interval; until then, these intervals are replaced by their values.

    Parameters
    ----------
    bounds : ndarray of float64
        The bounds of the intervals.
    max_bins : int
        Largest number of bins.
    """

    def __init__(self, bounds: np.ndarray, max_bins: int) -> None:
        self.bounds, self.max_bins = bounds, max_bins
        self._n_equal, self._n_above = np.zeros((2, len(bounds)), dtype=np.int64)
        self._highest = np.full(len(bounds), -np.inf)
        self._n_opened = 0

    def add_counts(self, n_equal, n_above, highest) -> None:
        """Add what `count_between` has found in a piece."""
        self._n_equal += n_equal
        self._n_above += n_above
        np.maximum(self._highest, highest, out=self._highest)

    def end_counts(self) -> None:
        """Make the segments, once all pieces have been counted."""
        n_rows = np.stack([self._n_equal, self._n_above], axis=1).ravel()
        kept = np.flatnonzero(n_rows)  # a search is for a column with values
        low = np.repeat(self.bounds, 2)
        last = np.stack([self.bounds, self._highest], axis=1).ravel()
        self._set(n_rows[kept], low[kept], last[kept], kept % 2 == 0)
        self._capacity = 1

    def _set(self, n_rows, low, last, is_value) -> None:
        """Set the segments; of a value, the lower end and the largest number are it."""
        self._low, self._last, self._is_value = low, last, is_value
        self._starts = np.append(0, np.cumsum(n_rows))

    def find_intervals(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the ends of the intervals whose values are needed; None: no more are.

        These are intervals in which a bin begins, and some around them if there have
        been such calls before: a bin that begins elsewhere than assumed moves all
        that follow.
        """
        low = self._capacity  # with more values known, it cannot be less
        high = 2 * int(self._starts[-1]) // max(self.max_bins - 1, 1) + 1
        while low < high:
            middle = (low + high) // 2
            if self._divide(middle) is None:
                low = middle + 1
            else:
                high = middle
        self._capacity = low
        self._first = np.array(self._divide(low))
        if self._is_value[self._first].all():
            return None
        width = (1 << min(self._n_opened, 8)) - 1
        wanted = self._list_intervals(width)
        while width and np.diff(self._starts)[wanted].sum() > MOST_OPENED:
            width //= 2
            wanted = self._list_intervals(width)
        self._n_opened += 1
        ends = np.append(self.bounds, np.inf)
        low = self._low[wanted]
        return low, ends[np.searchsorted(ends, low) + 1]

    def _list_intervals(self, width: int) -> np.ndarray:
        """List intervals in which a bin begins, and those among so many neighbours."""
        begun = self._first[~self._is_value[self._first], np.newaxis]
        wanted = np.unique(begun + np.arange(-width, width + 1))
        wanted = wanted[(wanted >= 0) & (wanted < len(self._low))]
        return wanted[~self._is_value[wanted]]

    def _divide(self, capacity: int) -> list[int] | None:
        """Return the segments in which bins begin; None if these are too many."""
        starts, is_value = self._starts, self._is_value
        segment, row, found = 0, 0, []
        while len(found) < self.max_bins:
            found.append(segment)
            limit = row + capacity
            if not is_value[segment]:
                limit = max(limit, int(starts[segment + 1]))
            if limit >= starts[-1]:
                return found
            segment = int(starts.searchsorted(limit, side="right")) - 1
            if not is_value[segment]:
                row = limit
                continue
            if starts[segment] <= row:  # a value of more rows than the capacity
                segment += 1
                if segment == len(is_value):
                    return found
            row = int(starts[segment])
        return None

    def open(self, numbers: Iterable[np.ndarray], low: np.ndarray) -> None:
        """Replace intervals by the numbers that `take_between` has found in pieces.

        ``low`` are the lower ends of these intervals.
        """
        values, counts = np.unique(np.concatenate([*numbers]), return_counts=True)
        kept = self._is_value | ~np.isin(self._low, low)
        n_rows = np.append(np.diff(self._starts)[kept], counts)
        low = np.append(self._low[kept], values)
        last = np.append(self._last[kept], values)
        is_value = np.append(self._is_value[kept], np.ones(len(values), bool))
        # An interval follows the value that is its lower end.
        order = np.lexsort((~is_value, low))
        self._set(n_rows[order], low[order], last[order], is_value[order])

    def get_bins(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest value of every bin."""
        before = np.append(self._first[1:], len(self._last)) - 1
        return self._low[self._first], self._last[before]
