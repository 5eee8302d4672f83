"""The smallest loss of trees of limited depth, by trying all of them."""

from itertools import combinations

import numpy as np

MOST_SUBSET_LEVELS = 5
MIN_LEVEL_ROWS = 20


def measure_loss(y, weight, criterion):
    """Weight times the loss of a leaf; the criterion may be a matrix of costs."""
    if isinstance(criterion, np.ndarray):
        return float((np.bincount(y, weight, len(criterion)) @ criterion).min())
    if criterion == "squared_error":
        mean = np.average(y, weights=weight)
        return float((weight * (y - mean) ** 2).sum())
    counts = np.array([weight[y == each].sum() for each in np.unique(y)])
    if criterion == "gini":
        return float(counts.sum() - (counts**2).sum() / counts.sum())
    return float(counts.sum() - counts.max())


def order_levels(column, y, weight):
    """Order the levels by their means, where there are enough rows; else as strings."""
    levels = sorted(set(column) - {None})
    if y is None or weight.sum() < MIN_LEVEL_ROWS * len(levels):
        return levels
    means = [
        np.average(y[column == each], weights=weight[column == each]) for each in levels
    ]
    return [levels[i] for i in np.argsort(means, kind="stable")]


def list_groups(column, orders):
    """List the sets of values that a test may send to the left, without gaps."""
    if orders is None:
        values = np.unique(column[~np.isnan(column)])
        return [set(values[: i + 1]) for i in range(len(values))]
    if len(orders) <= MOST_SUBSET_LEVELS:
        return [
            set(chosen)
            for size in range(len(orders) + 1)
            for chosen in combinations(orders, size)
        ]
    return [set(orders[:i]) for i in range(len(orders) + 1)] + [{x} for x in orders]


def find_smallest_loss(columns, orders, rows, y, weight, depth, leaf_cost, criterion):
    """Find the smallest sum of losses of leaves and their costs.

    columns: arrays of numbers, NaN where missing, or of strings and None; orders: of
    the levels of each column, None for numbers.
    """
    smallest = measure_loss(y[rows], weight[rows], criterion) + leaf_cost
    if depth == 0 or len(rows) == 1:
        return smallest
    splits = set()
    for column, order in zip(columns, orders, strict=True):
        cells = column[rows]
        is_missing = np.array([x is None or x != x for x in cells])
        for group in list_groups(column, order):
            is_left = np.array([x in group for x in cells])
            splits.add(tuple(is_left & ~is_missing))
            splits.add(tuple(is_left | is_missing))
    for is_left in map(np.array, splits):
        if not 0 < is_left.sum() < len(rows):
            continue
        sides = rows[is_left], rows[~is_left]
        total = sum(
            find_smallest_loss(
                columns, orders, side, y, weight, depth - 1, leaf_cost, criterion
            )
            for side in sides
        )
        smallest = min(smallest, total)
    return smallest
