"""The boosting tree of algorithm 8.3, and the forward stagewise algorithm 8.2."""

import math
from itertools import pairwise


def split_best(rows, residuals, weight, members):
    """The split of least squared error: (error, column, threshold), or None."""
    best = None
    for column in range(len(rows[0])):
        values = sorted({rows[i][column] for i in members})
        for low, high in pairwise(values):
            threshold = (low + high) / 2
            sides = [[], []]
            for i in members:
                sides[rows[i][column] > threshold].append(i)
            error = sum(measure(residuals, weight, side) for side in sides)
            # Of equal splits the first stays.
            if best is None or error < best[0] - 1e-10 * abs(best[0]):
                best = error, column, threshold
    return best


def average(residuals, weight, members):
    total = math.fsum(weight[i] for i in members)
    return math.fsum(weight[i] * residuals[i] for i in members) / total


def measure(residuals, weight, members):
    mean = average(residuals, weight, members)
    return math.fsum(weight[i] * (residuals[i] - mean) ** 2 for i in members)


def grow(rows, residuals, weight, members, depth):
    """A tree as nested tuples: a value, or (column, threshold, low, high)."""
    split = split_best(rows, residuals, weight, members) if depth else None
    if split is None or measure(residuals, weight, members) < 1e-24:
        return average(residuals, weight, members)
    _, column, threshold = split
    low = [i for i in members if rows[i][column] <= threshold]
    high = [i for i in members if rows[i][column] > threshold]
    return (
        column,
        threshold,
        grow(rows, residuals, weight, low, depth - 1),
        grow(rows, residuals, weight, high, depth - 1),
    )


def look_up(tree, row):
    while isinstance(tree, tuple):
        column, threshold, low, high = tree
        tree = low if row[column] <= threshold else high
    return tree


def boost(rows, y, n_rounds, *, weight=None, depth=1, learning_rate=1.0):
    """Trees, losses and residuals of all rounds."""
    weight = [1.0] * len(y) if weight is None else weight
    members = [i for i in range(len(y)) if weight[i] > 0]
    residuals = list(y)
    trees, losses, tables = [], [], [list(y)]
    for _ in range(n_rounds):
        tree = grow(rows, residuals, weight, members, depth)
        residuals = [
            r - learning_rate * look_up(tree, row)
            for r, row in zip(residuals, rows, strict=True)
        ]
        trees.append(tree)
        losses.append(
            math.fsum(w * r**2 for w, r in zip(weight, residuals, strict=True))
        )
        tables.append(residuals)
    return trees, losses, tables
