"""A tree grown from gradients and hessians, in plain Python.

The table has numbers, and level codes in nominal columns; a missing value is NaN.
Among splits whose decreases are equal but for rounding the first is taken: the first
column, missing values in child 1 before child 0, the lowest threshold.
"""

from dataclasses import dataclass, field
from math import isnan

import numpy as np

TIE = 1e-12


@dataclass
class Split:
    """A test of a column, and the children of its values."""

    decrease: float
    column: int
    values_left: set = field(default_factory=set)  # of those that the node has
    missing_left: bool | None = None  # None: no value is missing
    threshold: float | None = None  # None: a nominal column


@dataclass
class Node:
    """A node of the growing tree."""

    rows: list
    depth: int
    lower: float = -np.inf
    upper: float = np.inf
    above: tuple = ()  # columns tested above
    split: Split | None = None
    children: list = field(default_factory=list)
    value: float = 0.0


class GradientTree:
    """Grows a tree; ``root`` is its first node.

    Parameters are those of :class:`GradientPlan` and of its rules.
    """

    def __init__(
        self,
        X,
        gradient,
        hessian,
        *,
        nominal=(),
        max_leaf_nodes=None,
        max_depth=100,
        min_samples_leaf=1,
        min_weight_leaf=0.0,
        l2=0.0,
        level_smoothing=0.0,
        level_l2=0.0,
        least_level_rows=1,
        monotonic=None,
        groups=None,
        rows=None,
    ):
        self.X, self.gradient, self.hessian = X, gradient, hessian
        self.nominal, self.l2, self.level_smoothing = nominal, l2, level_smoothing
        self.min_samples_leaf, self.min_weight_leaf = min_samples_leaf, min_weight_leaf
        self.max_depth, self.monotonic, self.groups = max_depth, monotonic, groups
        self.level_l2, self.least_level_rows = level_l2, least_level_rows
        rows = range(len(X)) if rows is None else rows
        self.root = Node(list(rows), 0)
        self.root.value = self.step(self.root.rows, self.root)
        self.grow(max_leaf_nodes)

    def sums(self, rows):
        """Sum up the gradients and the hessians of some rows."""
        return self.gradient[rows].sum(), self.hessian[rows].sum()

    def step(self, rows, node, more_l2=0.0):
        """What a leaf of these rows adds."""
        gradient, hessian = self.sums(rows)
        step = -gradient / (hessian + self.l2 + more_l2)
        return min(max(step, node.lower), node.upper)

    def decrease(self, rows, node, more_l2=0.0):
        """By how much that decreases the loss, twice."""
        gradient, hessian = self.sums(rows)
        step = self.step(rows, node, more_l2)
        return -(2 * gradient + (hessian + self.l2 + more_l2) * step) * step

    def size(self, node):
        """How large the terms of the decrease are, which tells their rounding."""
        gradient, step = self.sums(node.rows)[0], self.step(node.rows, node)
        return 2 * abs(gradient * step) + abs(self.decrease(node.rows, node))

    def judge(self, node, column, left, right):
        """The decrease by a split, or None where it is not allowed."""
        for rows in (left, right):
            if len(rows) < max(self.min_samples_leaf, 1):
                return None
            if self.sums(rows)[1] < self.min_weight_leaf - 1e-12:
                return None
        if self.monotonic is not None and self.monotonic[column]:
            difference = self.step(right, node) - self.step(left, node)
            if self.monotonic[column] * difference < 0:
                return None
        more = self.level_l2 if column in self.nominal else 0.0
        after = self.decrease(left, node, more) + self.decrease(right, node, more)
        return after - self.decrease(node.rows, node), after

    def list_candidates(self, node, column):
        """Values that go left, and whether missing ones do."""
        values = self.X[node.rows, column]
        missing = bool(np.isnan(values).any())
        present = sorted(set(values[~np.isnan(values)]))
        if column in self.nominal:
            present = [*present, np.nan] if missing else present
            keys, groups, rare = [], [], set()
            for value in present:
                if len(self.take(node, column, {value})) < self.least_level_rows:
                    rare.add(value)
                else:
                    groups.append({value})
            groups += [rare] if rare else []
            for group in groups:
                gradient, hessian = self.sums(self.take(node, column, group))
                keys.append(-gradient / (hessian + self.level_smoothing))
            order = [groups[i] for i in np.argsort(keys, kind="stable")]
            for n in range(1, len(order)):
                left = set().union(*order[:n])
                is_left = any(isnan(value) for value in left)
                yield {v for v in left if not isnan(v)}, is_left if missing else None
            return
        for missing_left in (False, True) if missing else (None,):
            for n in range(1, len(present) + 1):
                yield set(present[:n]), missing_left

    def take(self, node, column, values, missing_left=False):
        """List the rows of a node with some values."""
        wants_missing = missing_left or any(isnan(value) for value in values)
        return [
            row
            for row in node.rows
            if (
                wants_missing
                if isnan(self.X[row, column])
                else self.X[row, column] in values
            )
        ]

    def search(self, node):
        """Find the best split of a node."""
        best, size = Split(0.0, -1), self.size(node)
        if node.depth >= self.max_depth:
            return
        for column in range(self.X.shape[1]):
            path = {*node.above, column}
            if self.groups and not any(path <= set(group) for group in self.groups):
                continue
            for left_values, missing_left in self.list_candidates(node, column):
                left = self.take(node, column, left_values, bool(missing_left))
                right = sorted(set(node.rows) - set(left))
                judged = self.judge(node, column, left, right)
                if judged is None:
                    continue
                decrease, after = judged
                if decrease > best.decrease + TIE * (size + abs(after)):
                    best = Split(decrease, column, left_values, missing_left)
        if best.column < 0:
            return
        if best.column not in self.nominal:
            best.threshold = self.find_threshold(node, best)
        node.split = best

    def find_threshold(self, node, split):
        """Put the threshold between the values on both sides."""
        values = self.X[node.rows, split.column]
        above = [v for v in values if not isnan(v) and v not in split.values_left]
        return max(split.values_left) / 2 + min(above) / 2 if above else np.inf

    def make(self, node):
        """Split a node."""
        split = node.split
        left = self.take(
            node, split.column, split.values_left, bool(split.missing_left)
        )
        right = sorted(set(node.rows) - set(left))
        bounds = [[node.lower, node.upper], [node.lower, node.upper]]
        steps = [self.step(rows, node) for rows in (left, right)]
        if self.monotonic is not None and self.monotonic[split.column]:
            middle = sum(steps) / 2
            rising = self.monotonic[split.column] > 0
            bounds[0][1 if rising else 0] = middle
            bounds[1][0 if rising else 1] = middle
        for rows, step, bound in zip((left, right), steps, bounds, strict=True):
            above = (*node.above, split.column)
            child = Node(rows, node.depth + 1, *bound, above, value=step)
            node.children.append(child)

    def grow(self, max_leaf_nodes):
        """Split the node whose split decreases the loss most, again and again."""
        limit = np.inf if max_leaf_nodes is None else max_leaf_nodes
        waiting, n_leaves = [self.root], 1
        self.search(self.root)
        while n_leaves < limit:
            splittable = [node for node in waiting if node.split is not None]
            if not splittable:
                break
            node = max(splittable, key=lambda node: node.split.decrease)
            waiting.remove(node)
            self.make(node)
            n_leaves += 1
            for child in node.children:
                self.search(child)
                waiting.append(child)
        for node in waiting:
            node.split = None

    def list_nodes(self):
        """List the nodes, breadth first."""
        nodes = [self.root]
        for node in nodes:
            nodes += node.children
        return nodes
