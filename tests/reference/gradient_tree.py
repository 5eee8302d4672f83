"""A tree grown from gradients and hessians, in plain Python.

The table has numbers, and level codes in nominal columns; a missing value is NaN.
Among splits whose decreases are equal but for rounding the first is taken: the first
column, missing values in child 1 before child 0, the lowest threshold.
"""

from dataclasses import dataclass, field
from math import isnan

import numpy as np

from tests.reference.smoothed_levels import FEW_LEVELS, ORDERED_ROWS

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
        smoothing=0.0,
        variance=1.0,
        monotonic=None,
        groups=None,
        rows=None,
    ):
        self.X, self.gradient, self.hessian = X, gradient, hessian
        self.nominal, self.l2 = nominal, l2
        self.smoothing, self.variance = smoothing, variance
        self.smoothed = [
            column
            for column in nominal
            if smoothing
            and len(set(X[:, column][~np.isnan(X[:, column])])) > FEW_LEVELS
        ]
        self.min_samples_leaf, self.min_weight_leaf = min_samples_leaf, min_weight_leaf
        self.max_depth, self.monotonic, self.groups = max_depth, monotonic, groups
        rows = range(len(X)) if rows is None else rows
        self.root = Node(list(rows), 0)
        self.root.value = self.step(self.root.rows, self.root)
        self.grow(max_leaf_nodes)

    def sums(self, rows):
        """Sum up the gradients and the hessians of some rows."""
        return self.gradient[rows].sum(), self.hessian[rows].sum()

    def step(self, rows, node, gradient=None):
        """What a leaf of these rows adds; the gradient may be a smoothed one."""
        found, hessian = self.sums(rows)
        gradient = found if gradient is None else gradient
        return min(max(-gradient / (hessian + self.l2), node.lower), node.upper)

    def decrease(self, rows, node, gradient=None):
        """By how much that decreases the loss, twice."""
        found, hessian = self.sums(rows)
        gradient = found if gradient is None else gradient
        step = self.step(rows, node, gradient)
        return -(2 * gradient + (hessian + self.l2) * step) * step

    def size(self, node):
        """How large the terms of the decrease are, which tells their rounding."""
        gradient, step = self.sums(node.rows)[0], self.step(node.rows, node)
        return 2 * abs(gradient * step) + abs(self.decrease(node.rows, node))

    def judge(self, node, column, left, right, gradient=None):
        """The decrease by a split, or None where it is not allowed; the gradient of
        child 0 may be a smoothed one."""
        for rows in (left, right):
            if len(rows) < max(self.min_samples_leaf, 1):
                return None
            if self.sums(rows)[1] < self.min_weight_leaf - 1e-12:
                return None
        if self.monotonic is not None and self.monotonic[column]:
            difference = self.step(right, node) - self.step(left, node)
            if self.monotonic[column] * difference < 0:
                return None
        other = None
        if gradient is not None:
            other = self.sums(node.rows)[0] - gradient
        after = self.decrease(left, node, gradient)
        after += self.decrease(right, node, other)
        return after - self.decrease(node.rows, node), after

    def list_candidates(self, node, column):
        """Values that go left, whether missing ones do, and a smoothed gradient."""
        values = self.X[node.rows, column]
        missing = bool(np.isnan(values).any())
        present = sorted(set(values[~np.isnan(values)]))
        if column in self.nominal:
            if column not in self.smoothed or len(node.rows) > ORDERED_ROWS:
                yield from self.list_level_groups(node, column, present, missing)
            if column not in self.smoothed:
                return
        for missing_left in (False, True) if missing else (None,):
            for n in range(1, len(present) + 1):
                yield set(present[:n]), missing_left, None

    def list_level_groups(self, node, column, present, missing):
        """The first levels in the order of their steps."""
        levels = [*present, np.nan] if missing else present
        sums = [self.sums(self.take(node, column, {level})) for level in levels]
        gradients, hessians = np.array(sums).T
        mean = gradients.sum() / hessians.sum() if column in self.smoothed else 0.0
        added = self.find_added(gradients, hessians, len(node.rows), column)
        if added is None:
            return
        differences = (gradients - mean * hessians) / (hessians + added)
        # Equal steps may differ in their last bits.
        grid = max(np.abs(differences).max() * 2.0**-40, 1e-300)
        order = np.argsort(-np.floor(differences / grid + 0.5), kind="stable")
        smoothed = differences * hessians
        smoothed += (mean - smoothed.sum() / hessians.sum()) * hessians
        for n in range(1, len(order)):
            left = {levels[i] for i in order[:n]}
            is_left = any(isnan(value) for value in left)
            gradient = smoothed[order[:n]].sum() if added else None
            left = {value for value in left if not isnan(value)}
            yield left, is_left if missing else None, gradient

    def find_added(self, gradients, hessians, n_rows, column):
        """Hessian of rows with the node's step added to each level; None where the
        steps differ by chance alone."""
        if column not in self.smoothed:
            return 0.0
        total = hessians.sum()
        if self.smoothing != "auto":
            return self.smoothing * total / n_rows
        mean = gradients.sum() / total
        between = np.sum((gradients - mean * hessians) ** 2 / hessians)
        size = total - np.sum(hessians**2) / total
        chance = max(len(hessians) - FEW_LEVELS, 0) * self.variance
        if size <= 1e-9 * total or between <= chance:
            return None
        return size / (len(hessians) - 1) * chance / (between - chance)

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
            for left_values, missing_left, gradient in self.list_candidates(
                node, column
            ):
                left = self.take(node, column, left_values, bool(missing_left))
                right = sorted(set(node.rows) - set(left))
                judged = self.judge(node, column, left, right, gradient)
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
