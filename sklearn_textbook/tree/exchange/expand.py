"""Tests of levels, and branches of missing values, as tests of thresholds.

A nominal column is read as the codes of its levels. Each test divides the codes into
ranges, which a few thresholds find; a child that has several ranges is copied. Levels
without a branch end in a leaf with the prediction of the node itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.grow.layout import (
    LEAF,
    NOMINAL,
    ORDINAL,
    STAY,
    TREE_LEAF,
    TREE_UNDEFINED,
)

#: Largest number of nodes of a tree whose children are copied.
LARGEST_TREE = 100_000


@dataclass(frozen=True, eq=False)
class ThresholdTree:
    """A tree of thresholds, as columns of equal length."""

    #: Node of the grown tree whose values and impurity a node has.
    source: np.ndarray
    #: Part of that node's rows that is counted here.
    fraction: np.ndarray
    #: Children; -1 in a leaf.
    left: np.ndarray
    right: np.ndarray
    #: Column; -2 in a leaf.
    feature: np.ndarray
    #: A value at most this goes to the left.
    threshold: np.ndarray
    #: Whether a missing value does.
    missing_left: np.ndarray
    #: Depth of the deepest leaf.
    depth: int


def list_ranges(tree, node, missing):
    """List the ranges of values of a test: (upper end, child) in ascending order."""
    record = tree.nodes[node]
    if record["kind"] != NOMINAL:
        ranges = [(float(record["threshold"]), 0), (np.inf, 1)]
        return [(-0.5, STAY), *ranges] if record["kind"] == ORDINAL else ranges
    # Code -1 is a level that was not seen in training; those after the levels are marks
    # of missing values other than NaN.
    children = [STAY, *tree.read_level_map(record).tolist()]
    children.append(missing)
    ends = [code - 0.5 for code in range(len(children))]
    ends[-1] = np.inf
    merged = []
    for end, child in zip(ends, children, strict=True):
        if merged and merged[-1][1] == child:
            merged[-1] = (end, child)
        else:
            merged.append((end, child))
    return merged


class Expansion:
    """The nodes written so far."""

    def __init__(self, tree, missing: np.ndarray, refuse) -> None:
        self.tree, self.missing, self.refuse = tree, missing, refuse
        self.rows = []
        self.depth = 0

    def add(self, source, fraction, depth):
        """Write a leaf, which may become a test."""
        if len(self.rows) >= LARGEST_TREE:
            self.refuse(source)
        row = [source, fraction, TREE_LEAF, TREE_LEAF, TREE_UNDEFINED, -2.0, False]
        self.rows.append(row)
        self.depth = max(self.depth, depth)
        return len(self.rows) - 1

    def split(self, place, threshold, missing_left, depth, fractions):
        """Make a leaf a test, and return its two children."""
        row = self.rows[place]
        source = row[0]
        row[2:4] = [self.add(source, fraction, depth + 1) for fraction in fractions]
        row[4:7] = self.tree.nodes["feature"][source], threshold, missing_left
        return row[2], row[3]

    def run(self):
        """Write all nodes."""
        stack = [(self.add(0, 1.0, 0), 0, 1.0, 0)]
        while stack:
            place, node, fraction, depth = stack.pop()
            self.rows[place][:2] = node, fraction
            if self.tree.nodes["kind"][node] != LEAF:
                stack += self.expand(place, node, fraction, depth)
        columns = [np.array(column) for column in zip(*self.rows, strict=True)]
        return ThresholdTree(*columns, self.depth)

    def expand(self, place, node, fraction, depth):
        """Write the thresholds of a test; list the positions of its children."""
        missing = int(self.missing[node])
        ranges = list_ranges(self.tree, node, missing)
        parts = self.divide(node, ranges, fraction)
        children = []
        if all(child != missing for _, child in ranges):
            # Every value goes to the left, missing ones to a child of their own.
            alone = self.find_part(node, missing)
            pair = (fraction * (1.0 - alone), fraction * alone)
            place, other = self.split(place, np.inf, False, depth, pair)
            depth += 1
            children.append((other, missing, fraction, depth))
        stack = [(place, 0, len(ranges), depth)]
        while stack:
            place, start, stop, depth = stack.pop()
            if stop - start == 1:
                child = ranges[start][1]
                n_copies = sum(other == child for _, other in ranges)
                children.append((place, child, fraction / n_copies, depth))
                continue
            middle = (start + stop) // 2
            goes_left = any(child == missing for _, child in ranges[start:middle])
            pair = sum(parts[start:middle]), sum(parts[middle:stop])
            end = ranges[middle - 1][0]
            left, right = self.split(place, end, goes_left, depth, pair)
            stack.append((left, start, middle, depth + 1))
            stack.append((right, middle, stop, depth + 1))
        first = int(self.tree.nodes["first_child"][node])
        return [
            (place, first + child, fraction, depth)
            for place, child, fraction, depth in children
            if child != STAY
        ]

    def divide(self, node, ranges, fraction):
        """Divide the rows of a node among ranges, equally among those of a child."""
        children = [child for _, child in ranges]
        return [
            fraction * self.find_part(node, child) / children.count(child)
            for child in children
        ]

    def find_part(self, node, child):
        """Find the part of a node's weight that a child has."""
        weight = self.tree.nodes["weight"]
        if child == STAY or weight[node] <= 0:
            return 0.0
        return (
            float(weight[self.tree.nodes["first_child"][node] + child]) / weight[node]
        )
