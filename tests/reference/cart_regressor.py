"""CART for numbers in plain Python: what a node of a regression tree measures.

The counterpart of ``cart_classifier.py``; growing and splitting are shared.
"""

import math
from fractions import Fraction

from tests.reference.cart_tree import MARGIN, Settings, exact, grow_tree, keep_within


class NumberTarget:
    """The numbers to be predicted, and how scattered a set of rows is."""

    def __init__(self, y, weights, criterion):
        self.y = [tuple(exact(number) for number in row) for row in y]
        self.weights = [exact(weight) for weight in weights]
        self.criterion = criterion
        self.n_outputs = len(y[0])
        # Ordering the levels by their mean finds the best two-group split.
        self.ordering_is_exact = self.n_outputs == 1 and criterion != "absolute_error"

    def weight(self, rows):
        return sum(self.weights[row] for row in rows)

    def sum(self, rows, output):
        return sum(self.weights[row] * self.y[row][output] for row in rows)

    def mean(self, rows, output=0):
        return Fraction(self.sum(rows, output)) / self.weight(rows)

    def median(self, rows, output=0):
        """Weighted median; mean of two if the weight is cut exactly in half."""
        ordered = sorted(rows, key=lambda row: self.y[row][output])
        weight = self.weight(rows)
        below = 0
        for position, row in enumerate(ordered):
            below += self.weights[row]
            if abs(below - weight / Fraction(2)) <= MARGIN * weight:
                following = ordered[position + 1]
                return Fraction(self.y[row][output] + self.y[following][output]) / 2
            if below > weight / Fraction(2):
                return self.y[row][output]
        raise AssertionError("the cumulated weight never reached a half")

    def weighted_impurity(self, rows):
        """Impurity of the rows times their weight, mean over the outputs."""
        total = sum(self._weighted_scatter(rows, k) for k in range(self.n_outputs))
        return total / self.n_outputs if self.n_outputs > 1 else total

    def _weighted_scatter(self, rows, output):
        y = {row: self.y[row][output] for row in rows}
        if self.criterion == "squared_error":
            squares = sum(self.weights[row] * y[row] * y[row] for row in rows)
            total = self.sum(rows, output)
            return squares - Fraction(total * total) / self.weight(rows)
        if self.criterion == "absolute_error":
            middle = self.median(rows, output)
            return sum(self.weights[row] * abs(y[row] - middle) for row in rows)
        # poisson: half the deviance of the counts from their mean
        mean = float(self.mean(rows, output))
        return math.fsum(
            float(self.weights[row] * y[row]) * math.log(y[row] / mean)
            for row in rows
            if y[row] > 0
        )

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
