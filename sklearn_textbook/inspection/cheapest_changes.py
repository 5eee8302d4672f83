"""The search for the cheapest changes that lead rows into other leaves."""

from __future__ import annotations

import math

import numpy as np

from sklearn_textbook.inspection.leaf_boxes import list_boxes
from sklearn_textbook.tree.encode.columns import ORDINAL, TEMPORAL
from sklearn_textbook.tree.route import find_leaves

#: Maximum number of pairs of rows and leaves that are compared at a time.
BLOCK_PAIRS = 1 << 20
#: Largest distance of a new value, or date, from the bound of its leaf, as a part of
#: the range.
MARGIN, TIME_MARGIN = 1e-3, 1e-2
#: Steps of new values, and of those in seconds, from the largest on.
STEPS = tuple(10.0**-k for k in range(-18, 18))
TIME_STEPS = (86400.0, 3600.0, 60.0)
#: Multiples of a step that floats can represent.
MOST_STEPS = 1e15


class ChangeSearch:
    """Finds the cheapest change of rows that makes a tree predict something else.

    Parameters
    ----------
    tree : GrownTree
        A tree without oblique tests.
    columns : sequence of ColumnSchema
        Its columns.
    limits : list of ChangeLimits
        The limits of all columns.
    counts_first : bool
        Whether fewer changed columns are better, whatever the distance.
    max_changes : int or None
        Maximum number of changed columns.
    """

    def __init__(self, tree, columns, limits, *, counts_first, max_changes) -> None:
        self.tree = tree
        self.columns = columns
        self.limits = limits
        self.counts_first = counts_first
        self.max_changes = max_changes
        self.places, self.boxes = list_boxes(tree)
        self.level_steps = {
            box.column: self._measure_levels(box, limits[box.column])
            for box in self.boxes
            if box.accepted is not None
        }

    def find(self, matrix: np.ndarray, is_target: np.ndarray):
        """Find the best place of each row."""
        step = max(1, BLOCK_PAIRS // len(self.places))
        parts = [
            self._find_block(matrix[i : i + step], is_target[i : i + step])
            for i in range(0, max(len(matrix), 1), step)
        ]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _find_block(self, matrix, is_target):
        n_changes = np.zeros(is_target.shape, dtype=np.int64)
        cost = np.where(is_target, 0.0, np.inf)
        for box in self.boxes:
            distance = self._measure(box, matrix)
            n_changes += distance > 0.0
            cost += self.limits[box.column].factor * distance
        if self.max_changes is not None:
            cost[n_changes > self.max_changes] = np.inf
        place = np.full(len(matrix), -1)
        best_cost = np.full(len(matrix), np.inf)
        changed = matrix.copy()
        rows = np.arange(len(matrix))
        while len(rows):
            best = self._choose(cost[rows], n_changes[rows])
            best_cost[rows] = cost[rows, best]
            rows, best = rows[best_cost[rows] < np.inf], best[best_cost[rows] < np.inf]
            place[rows] = best
            changed[rows] = self._change(matrix[rows], best)
            # A changed column may be a surrogate of a missing one.
            ends = find_leaves(self.tree, changed[rows])
            is_wrong = ends != self.places[best]
            place[rows[is_wrong]] = -1
            cost[rows[is_wrong], best[is_wrong]] = np.inf
            best_cost[rows[is_wrong]] = np.inf
            changed[rows[is_wrong]] = matrix[rows[is_wrong]]
            rows = rows[is_wrong]
        return place, best_cost, changed

    def _choose(self, cost, n_changes):
        """Return the position of the cheapest place of each row."""
        if self.counts_first:
            count = np.where(cost < np.inf, n_changes, np.iinfo(np.int64).max)
            is_fewest = count == count.min(axis=1, keepdims=True)
            cost = np.where(is_fewest, cost, np.inf)
        return cost.argmin(axis=1)

    # ----------------------------------------------------------------- distances
    def _measure(self, box, matrix):
        """Measure how far a column is from all places; shape (n_rows, n_places)."""
        limits, value = self.limits[box.column], matrix[:, box.column]
        measure = self._measure_numbers if box.accepted is None else self._measure_codes
        distance = measure(box, value.astype(np.float64))
        is_missing = np.isnan(value)
        if is_missing.any():
            stays = box.allows_missing(matrix[is_missing])
            filled = np.where(self._takes_present(box, limits), 1.0, np.inf)
            distance[is_missing] = np.where(stays, 0.0, filled)
        if limits.is_fixed:
            distance[distance > 0.0] = np.inf
        return distance

    def _takes_present(self, box, limits):
        """Return which places some present value leads to."""
        if box.accepted is not None:
            return box.accepted[:, :-1].any(axis=1)
        if limits.is_integer:
            return np.floor(box.low) + 1.0 <= box.high
        return box.low < box.high

    def _measure_numbers(self, box, value):
        limits = self.limits[box.column]
        lowest = np.floor(box.low) + 1.0 if limits.is_integer else box.low
        highest = np.floor(box.high) if limits.is_integer else box.high
        value = value[:, np.newaxis]
        with np.errstate(invalid="ignore"):
            rises, falls = value <= box.low, value > box.high
            up, down = lowest - value, value - highest
        if limits.direction > 0:
            down = np.inf
        elif limits.direction < 0:
            up = np.inf
        distance = np.where(rises, up, np.where(falls, down, 0.0)) / limits.range
        # A bound that is just reached from above is a change, too.
        smallest = np.finfo(np.float64).tiny
        distance = np.where(rises | falls, np.maximum(distance, smallest), distance)
        return np.where(self._takes_present(box, limits), distance, np.inf)

    def _measure_codes(self, box, value):
        """Look distances of levels up in a table of all levels and places."""
        table, _ = self.level_steps[box.column]
        code = np.where(np.isnan(value), -1.0, value).astype(np.int64)
        return table[code]

    def _measure_levels(self, box, limits):
        """Distance and nearest level, by level; the last row is for unknown ones."""
        n_places, width = box.accepted.shape
        n_levels = width - 1
        levels = np.arange(n_levels)
        steps = np.ones((width, n_levels))
        if self.columns[box.column].kind == ORDINAL:
            difference = levels - levels[:, np.newaxis]
            steps[:-1] = np.abs(difference) / max(n_levels - 1, 1)
            if limits.direction:
                steps[:-1][difference * limits.direction < 0] = np.inf
        steps[levels, levels] = 0.0
        distance = np.full((width, n_places), np.inf)
        nearest = np.zeros((width, n_places), dtype=np.int64)
        for level in range(n_levels):
            reach = np.where(
                box.accepted[:, level], steps[:, level, np.newaxis], np.inf
            )
            is_nearer = reach < distance
            distance[is_nearer], nearest[is_nearer] = reach[is_nearer], level
        distance[-1][box.accepted[:, -1]] = 0.0
        return distance, nearest

    # ---------------------------------------------------------------- new values
    def _change(self, matrix, best):
        """Change rows so that they end in a place of theirs."""
        changed = matrix.copy()
        for box in self.boxes:
            column = box.column
            value = matrix[:, column]
            is_missing = np.isnan(value)
            stays = np.zeros(len(value), dtype=bool)
            rows = np.flatnonzero(is_missing)
            if len(rows):
                stays[rows] = box.allows_missing(matrix[rows])[
                    np.arange(len(rows)), best[rows]
                ]
            if box.accepted is not None:
                _, nearest = self.level_steps[box.column]
                code = np.where(is_missing, -1.0, value).astype(np.int64)
                fits = box.accepted[best, code] & ~is_missing
                new = np.flatnonzero(~(fits | stays))
                changed[new, column] = nearest[code[new], best[new]]
                continue
            with np.errstate(invalid="ignore"):
                fits = (value > box.low[best]) & (value <= box.high[best])
            for row in np.flatnonzero(~(fits | stays)).tolist():
                low, high = float(box.low[best[row]]), float(box.high[best[row]])
                changed[row, column] = self._pick(low, high, column, value[row])
        return changed

    def _pick(self, low, high, column, value):
        """Pick a number of few digits in ``low < number <= high``, near the value."""
        limits, kind = self.limits[column], self.limits[column].kind
        if low == -math.inf and high == math.inf:
            return limits.typical
        rises = value <= low or (math.isnan(value) and high == math.inf)
        if limits.is_integer:
            return math.floor(low) + 1 if rises else math.floor(high)
        bound, sign = (low, 1.0) if rises else (high, -1.0)
        is_time = self.columns[column].source in TEMPORAL
        margin = TIME_MARGIN if is_time else MARGIN
        for step in [*TIME_STEPS, *STEPS[18:]] if is_time else STEPS:
            if abs(bound) / step > MOST_STEPS:
                break
            number = (math.floor(bound / step) + float(rises)) * step
            # Multiples of a power of ten have rounding errors.
            number = round(number, max(0, -math.floor(math.log10(step))))
            is_near = sign * (number - bound) <= margin * limits.range
            if is_near and low < float(kind(number)) <= high:
                return number
        # No number of few digits is between the bounds.
        number = kind(bound)
        if not low < float(number) <= high:
            number = np.nextafter(number, kind(sign * np.inf))
        return number
