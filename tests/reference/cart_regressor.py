"""CART for numbers in plain Python: what a node of a regression tree measures.

The counterpart of ``cart_classifier.py``; growing and splitting are shared.
"""

import math
from fractions import Fraction

from tests.reference.cart_tree import (
    MARGIN,
    Settings,
    exact,
    grow_tree,
    keep_within,
    make_whole,
)
from tests.reference.smoothed_levels import variance_of_counts, variance_of_errors


class NumberTarget:
    """The numbers to be predicted, and how scattered a set of rows is."""

    def __init__(self, y, weights, criterion):
        self.y = [tuple(exact(number) for number in row) for row in y]
        self.weights = [exact(weight) for weight in weights]
        self.criterion = criterion
        self.n_outputs = len(y[0])
        # Whole numbers are as exact as fractions, and are added much faster.
        self.parts, self.parts_of_one = make_whole(self.weights)
        self.whole_y = [make_whole(column) for column in zip(*self.y, strict=True)]
        # Ordering the levels by their mean finds the best two-group split.
        self.ordering_is_exact = self.n_outputs == 1 and criterion != "absolute_error"

    def weight(self, rows):
        return Fraction(sum(self.parts[row] for row in rows), self.parts_of_one)

    def sum(self, rows, output):
        y, n_parts = self.whole_y[output]
        total = sum(self.parts[row] * y[row] for row in rows)
        return Fraction(total, n_parts * self.parts_of_one)

    def mean(self, rows, output=0):
        return Fraction(self.sum(rows, output)) / self.weight(rows)

    def median(self, rows, output=0):
        """Weighted median; mean of two if the weight is cut exactly in half."""
        ordered = sorted(rows, key=self.whole_y[output][0].__getitem__)
        n_parts = sum(self.parts[row] for row in rows)
        below = 0
        for position, row in enumerate(ordered):
            below += self.parts[row]
            if abs(2 * below - n_parts) * MARGIN.denominator <= 2 * n_parts:
                following = ordered[position + 1]
                return Fraction(self.y[row][output] + self.y[following][output]) / 2
            if 2 * below > n_parts:
                return self.y[row][output]
        raise AssertionError("the cumulated weight never reached a half")

    def weighted_impurity(self, rows):
        """Impurity of the rows times their weight, mean over the outputs."""
        total = sum(self._weighted_scatter(rows, k) for k in range(self.n_outputs))
        return total / self.n_outputs if self.n_outputs > 1 else total

    def _weighted_scatter(self, rows, output):
        y, n_parts = self.whole_y[output]
        if self.criterion == "squared_error":
            squares = sum(self.parts[row] * y[row] * y[row] for row in rows)
            total = self.sum(rows, output)
            squares = Fraction(squares, self.parts_of_one * n_parts * n_parts)
            return squares - total * total / self.weight(rows)
        if self.criterion == "absolute_error":
            # A median may lie half way between two.
            twice = int(self.median(rows, output) * 2 * n_parts)
            total = sum(self.parts[row] * abs(2 * y[row] - twice) for row in rows)
            return Fraction(total, 2 * n_parts * self.parts_of_one)
        # poisson: half the deviance of the counts from their mean
        mean = float(self.mean(rows, output))
        return math.fsum(
            float(self.weights[row] * self.y[row][output])
            * math.log(self.y[row][output] / mean)
            for row in rows
            if y[row] > 0
        )

    def sums(self, rows):
        """Sum of y of every output."""
        return [self.sum(rows, output) for output in range(self.n_outputs)]

    def variance(self, rows):
        """Variance of a row, summed over the outputs; of counts and absolute errors by
        a model."""
        impurity = self.weighted_impurity(rows) / self.weight(rows)
        if self.criterion == "poisson":
            means = [self.mean(rows, output) for output in range(self.n_outputs)]
            return variance_of_counts(means, impurity)
        if self.criterion == "absolute_error":
            return variance_of_errors(float(impurity), self.n_outputs)
        return impurity * self.n_outputs

    def is_pure(self, rows):
        """Whether every output has one value only."""
        return len({self.y[row] for row in rows}) == 1

    def allows_child(self, rows):
        """Poisson knows no mean of 0."""
        if self.criterion != "poisson":
            return True
        return all(self.sum(rows, output) > 0 for output in range(self.n_outputs))

    def value(self, rows, output=0):
        """What a leaf predicts."""
        if self.criterion == "absolute_error":
            return self.median(rows, output)
        return self.mean(rows, output)

    def statistics(self, rows, lower, upper):
        """Value of every output, kept within the bounds of monotonic constraints."""
        values = [self.value(rows, output) for output in range(self.n_outputs)]
        return [[float(keep_within(value, lower, upper))] for value in values]

    def level_orders(self):
        """What levels may be ordered by: the mean, one per output."""
        return [
            lambda rows, output=output: self.mean(rows, output)
            for output in range(self.n_outputs)
        ]


def grow_regressor(columns, y, weights, criterion="squared_error", **settings):
    """Grow a regression tree; ``y[row]`` is a tuple of numbers."""
    target = NumberTarget(y, weights, criterion)
    return grow_tree(columns, target, Settings(**settings))
