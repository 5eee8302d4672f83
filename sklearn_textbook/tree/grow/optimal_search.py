"""Search for a tree of limited depth with the smallest loss, and its nodes."""

from __future__ import annotations

import math

import numpy as np

from sklearn_textbook.tree.encode import NOMINAL, NUMERIC
from sklearn_textbook.tree.grow._optimal_search import find_tree
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import (
    DENSE_MAP,
    LEAF,
    TREE_LEAF,
    TREE_UNDEFINED,
    make_records,
)
from sklearn_textbook.tree.grow.layout import NOMINAL as NOMINAL_TEST
from sklearn_textbook.tree.grow.layout import NUMERIC as NUMERIC_TEST
from sklearn_textbook.tree.grow.layout import ORDINAL as ORDINAL_TEST
from sklearn_textbook.tree.grow.target import measure_root

# As in _optimal_search.pyx.
COSTS, GINI, SQUARES = range(3)
CUT, LEVEL, SUBSET = range(3)
MISSING = 2**32 - 1
MOST_SUBSET_LEVELS = 5
#: Rows per level from which levels are also divided in the order of their means.
MIN_LEVEL_ROWS = 20
# Sums of weights, as integers, are exact up to that power of two.
WHOLE_BITS = 52


def _make_whole(weight: np.ndarray) -> tuple[np.ndarray, int]:
    """Multiply numbers by a power of two and round them, so that sums are exact."""
    total = weight.sum()
    if (weight == np.floor(weight)).all() and total < 2.0**WHOLE_BITS:
        return weight, 0
    exponent = WHOLE_BITS - 1 - int(np.frexp(total)[1])
    return np.rint(np.ldexp(weight, exponent)), exponent


def _rank_columns(table, means: np.ndarray | None, counts) -> tuple[np.ndarray, list]:
    """Rank the values of all columns; levels with enough rows of each by their means.

    Returns the ranks, shape (n_rows, n_columns), and for every column the ranks in the
    table, in the order of these.
    """
    ranks = np.empty((table.n_rows, table.n_columns), dtype=np.uint32)
    values = []
    for column in range(table.n_columns):
        n_distinct = int(table.n_distinct[column])
        codes = table.codes(column).astype(np.int64)
        order = np.arange(n_distinct)
        if (
            table.schema.kinds[column] == NOMINAL
            and means is not None
            and counts.sum() >= MIN_LEVEL_ROWS * n_distinct
        ):
            sums = np.bincount(codes, means * counts, n_distinct + 1)[:n_distinct]
            totals = np.bincount(codes, counts, n_distinct + 1)[:n_distinct]
            order = np.argsort(
                np.divide(sums, totals, out=np.zeros(n_distinct), where=totals > 0),
                kind="stable",
            )
        place = np.full(n_distinct + 1, MISSING, dtype=np.uint32)
        place[order] = np.arange(n_distinct)
        ranks[:, column] = place[codes]
        values.append(order)
    return ranks, values


class OptimalSearch:
    """The rows of a table as the search takes them, and the tree that it finds."""

    def __init__(self, table, target, weight, loss: int, costs=None) -> None:
        self.table, self.target, self.loss, self.costs = table, target, loss, costs
        weight = np.ones(table.n_rows) if weight is None else weight
        self.rows = np.flatnonzero(weight > 0.0)
        self.weight = weight[self.rows]
        self.total = float(self.weight.sum())
        whole, self.exponent = _make_whole(weight)
        y = means = None
        self.unit = 1.0
        if target.is_classifier:
            if target.n_classes[0] == 2:
                means = target.codes[:, 0].astype(np.float64)
        else:
            y = target.values[:, 0]
            y = y - np.average(y[self.rows], weights=self.weight)
            self.unit = float(np.abs(y[self.rows]).max(initial=0.0)) or 1.0
            y = means = y / self.unit
        ranks, self.values = _rank_columns(table, means, weight)
        self.ranks = ranks[self.rows]
        self.codes = None if y is not None else target.codes[self.rows, 0]
        self.y = None if y is None else y[self.rows]
        self._merge(whole[self.rows])

    def _merge(self, whole) -> None:
        """Merge equal rows, and sum what a leaf loses by each of its predictions."""
        merged, group = np.unique(self.ranks, axis=0, return_inverse=True)
        group = group.ravel()
        n_merged = len(merged)
        if self.y is not None:
            powers = (whole, whole * self.y, whole * self.y**2)
            sums = np.stack([np.bincount(group, each, n_merged) for each in powers], 1)
        else:
            n_classes = int(self.target.n_classes[0])
            pair = group * n_classes + self.codes
            sums = np.bincount(pair, whole, n_merged * n_classes)
            sums = sums.reshape(n_merged, n_classes)
        self.offset = 0.0
        if self.loss == COSTS:
            costs = 1.0 - np.eye(n_classes) if self.costs is None else self.costs
            sums, exponent = _make_whole(sums @ costs)
            self.exponent += exponent
            # What equal rows lose in every tree.
            least = sums.min(axis=1)
            self.offset = float(least.sum())
            sums = sums - least[:, None]
            # By which a row raises the smallest loss, at most.
            self.largest = sums.max(axis=1)
        else:
            self.largest = np.full(n_merged, whole.sum())
        self.sums = np.ascontiguousarray(sums)
        self.merged = merged

    def find(self, depth, complexity, seconds, n_threads):
        """Search for the tree; returns its tests, bounds, and if Ctrl-C stopped it."""
        table, n_columns = self.table, self.table.n_columns
        entries = np.empty((n_columns, len(self.merged), 2), dtype=np.uint32)
        for column in range(n_columns):
            order = np.argsort(self.merged[:, column], kind="stable")
            entries[column, :, 0] = order
            entries[column, :, 1] = self.merged[order, column]
        is_nominal = np.array([kind == NOMINAL for kind in table.schema.kinds])
        tests = np.full((2**depth - 1, 4), -1, dtype=np.int64)
        scale = math.ldexp(1.0, self.exponent)
        leaf_cost = complexity * self.total * scale / self.unit**2
        is_whole = self.loss == COSTS and leaf_cost == 0.0 and self.exponent == 0
        size = float(self.sums.max(axis=1).sum())
        lower, upper, is_interrupted = find_tree(
            entries,
            np.where(is_nominal, table.n_distinct, 0).astype(np.int32),
            self.sums,
            self.largest,
            self.loss,
            leaf_cost,
            1.0 - 1e-9 if is_whole else 1e-12 * size,
            depth,
            int(min(1000.0 * (math.inf if seconds is None else seconds), 2.0**60)),
            n_threads,
            tests,
        )
        lower = (lower + self.offset) * self.unit**2 / (self.total * scale)
        upper = (upper + self.offset) * self.unit**2 / (self.total * scale)
        return tests, lower, upper, is_interrupted

    # ----------------------------------------------------------------- the tree found
    def _divide(self, test, rows) -> np.ndarray:
        """Tell which rows a test sends to the left."""
        column, kind, missing_left, low = test
        ranks = self.ranks[rows, column].astype(np.int64)
        if kind == CUT:
            is_left = ranks <= low
        elif kind == LEVEL:
            is_left = ranks == low
        else:
            is_left = (low >> np.minimum(ranks, 63)) & 1 == 1
        return np.where(ranks == MISSING, bool(missing_left), is_left)

    def make_tree(self, tests, rules, criterion) -> GrownTree:
        """Make the tree of the tests."""
        # Breadth first: tests in preorder, parent, rows.
        queue = [(tests, -1, np.arange(len(self.rows)))]
        splits, i = {}, 0
        while i < len(queue):
            inner, _, rows = queue[i]
            if len(inner) and inner[0, 0] >= 0:
                is_left = self._divide(inner[0], rows)
                splits[i] = (inner[0], len(queue), is_left)
                half = len(inner) // 2
                queue.append((inner[1 : 1 + half], i, rows[is_left]))
                queue.append((inner[1 + half :], i, rows[~is_left]))
            i += 1
        target = self.target.take(self.rows)
        nodes, statistics = make_records(len(queue), int(target.n_classes.sum()))
        for i, (_, parent, rows) in enumerate(queue):
            weight = self.weight[rows].sum()
            statistics[i], impurity, _ = measure_root(
                target.take(rows), criterion, self.weight[rows]
            )
            if self.costs is not None:
                impurity = (statistics[i] @ self.costs).min() / weight
            nodes[i] = (
                *(TREE_LEAF, 0, TREE_UNDEFINED, -1, LEAF, parent, -1),
                *(float(TREE_UNDEFINED), impurity, 0.0, len(rows), weight),
            )
        maps: list[np.ndarray] = []
        for i, (test, child, is_left) in splits.items():
            self._write_test(nodes, i, test, child, is_left, queue[i][2], maps)
        return GrownTree(
            nodes=nodes,
            statistics=statistics.reshape(len(queue), 1, -1),
            n_features=self.table.n_columns,
            n_levels=self.table.schema.n_levels,
            n_classes=target.n_classes,
            is_classifier=target.is_classifier,
            handle_unknown=rules.handle_unknown,
            level_branch=np.concatenate([np.empty(0, np.int32), *maps]),
        )

    def _write_test(self, nodes, i, test, child, is_left, rows, maps) -> None:
        """Write a split into the record of its node."""
        column, _, missing_left, last = map(int, test)
        node, pair = nodes[i], nodes[child : child + 2]
        ranks = self.ranks[rows, column]
        node["first_child"], node["n_children"] = child, 2
        node["feature"] = column
        # Without missing values in the node: the child with most rows.
        missing = pair["n_samples"][0] <= pair["n_samples"][1]
        if (ranks == MISSING).any():
            missing = 1 - missing_left
        node["missing_branch"] = missing
        inside = (pair["impurity"] * pair["weight"]).sum() / node["weight"]
        node["improvement"] = max(node["impurity"] - inside, 0.0)
        kind = self.table.schema.kinds[column]
        values = self.table.column_values(column)
        if kind != NOMINAL:
            node["kind"] = NUMERIC_TEST if kind == NUMERIC else ORDINAL_TEST
            node["threshold"] = np.inf
            after = ranks[(ranks > last) & (ranks != MISSING)]
            if len(after):
                below, above = values[last], values[after.min()]
                middle = below / 2 + above / 2
                node["threshold"] = middle if middle < above else below
            return
        branches = np.full(int(self.table.schema.n_levels[column]), -1, dtype=np.int32)
        present = ranks != MISSING
        levels = values[self.values[column][ranks[present]]].astype(np.int64)
        branches[levels] = np.where(is_left[present], 0, 1)
        node["kind"], node["threshold"] = NOMINAL_TEST, np.nan
        node["map_start"] = sum(map(len, maps))
        maps.append(np.concatenate([[np.int32(DENSE_MAP)], branches]).astype(np.int32))
