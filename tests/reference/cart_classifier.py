"""CART for classes in plain Python: what a node of a classification tree measures.

Read this first, then ``cart_tree.py`` (how the tree grows), ``cart_splits.py`` (which
splits are tried) and ``cart_surrogates.py`` (what stands in for a missing value).
Weights and scores are exact fractions wherever the criterion is rational, so a tie
is a tie.
"""

import math
from fractions import Fraction

from tests.reference.cart_tree import (
    Settings,
    exact,
    grow_tree,
    keep_within,
    make_whole,
)


class ClassTarget:
    """The classes to be predicted, and how mixed a set of rows is."""

    def __init__(self, y, weights, n_classes, criterion):
        self.y = y  # y[row][output] is a class number
        self.weights = [exact(weight) for weight in weights]
        # Whole numbers are as exact as fractions, and are added much faster.
        self.parts, self.parts_of_one = make_whole(self.weights)
        self.n_classes = n_classes  # one number per output
        self.criterion = criterion
        self.n_outputs = len(n_classes)
        # Two classes: ordering the levels by the share of class 1 finds the best
        # two-group split (Breiman et al. 1984, theorem 4.5).
        self.ordering_is_exact = self.n_outputs == 1 and n_classes[0] == 2

    def weight(self, rows):
        return Fraction(sum(self.parts[row] for row in rows), self.parts_of_one)

    def class_weights(self, rows, output):
        """Weight of every class of an output."""
        counts = self._count_parts(rows, output)
        return [Fraction(count, self.parts_of_one) for count in counts]

    def _count_parts(self, rows, output):
        totals = [0] * self.n_classes[output]
        for row in rows:
            totals[self.y[row][output]] += self.parts[row]
        return totals

    def weighted_impurity(self, rows):
        """Impurity of the rows times their weight, mean over the outputs."""
        total = 0
        for output in range(self.n_outputs):
            weights = self.class_weights(rows, output)
            weight = self.weight(rows)
            if self.criterion == "gini":
                squares = sum(part * part for part in self._count_parts(rows, output))
                total += weight - squares / (weight * self.parts_of_one**2)
            elif self.criterion == "error":
                total += weight - max(weights)
            else:  # entropy, also called log_loss: in bits
                total += math.fsum(
                    -float(part) * math.log2(part / weight) for part in weights if part
                )
        return total / self.n_outputs if self.n_outputs > 1 else total

    def sums(self, rows):
        """Weights of the classes of all outputs."""
        return [
            part
            for output in range(self.n_outputs)
            for part in self.class_weights(rows, output)
        ]

    def variance(self, rows):
        """Variance of the indicators of the classes, summed up."""
        weight = self.weight(rows)
        squares = sum(part * part for part in self.sums(rows))
        return self.n_outputs - squares / (weight * weight)

    def is_pure(self, rows):
        """Whether every output has one class only."""
        return all(
            len({self.y[row][output] for row in rows}) == 1
            for output in range(self.n_outputs)
        )

    def allows_child(self, rows):
        """Any set of rows may be a child."""
        return True

    def value(self, rows):
        """Share of class 1, which monotonic constraints speak of."""
        weights = self.class_weights(rows, 0)
        return Fraction(weights[1]) / sum(weights)

    def statistics(self, rows, lower, upper):
        """Class weights of every output; the share of class 1 kept within bounds."""
        if lower is None and upper is None:
            return [
                [float(part) for part in self.class_weights(rows, output)]
                for output in range(self.n_outputs)
            ]
        share = keep_within(self.value(rows), lower, upper)
        weight = self.weight(rows)
        return [[float((1 - share) * weight), float(share * weight)]]

    def level_orders(self):
        """What levels may be ordered by: the share of a class, one per class."""
        if self.ordering_is_exact:
            return [self._share_of(0, 1)]
        return [
            self._share_of(output, label)
            for output in range(self.n_outputs)
            for label in range(self.n_classes[output])
        ]

    def _share_of(self, output, label):
        def share(rows):
            weights = self.class_weights(rows, output)
            return Fraction(weights[label]) / sum(weights)

        return share


def grow_classifier(columns, y, weights, n_classes, criterion="gini", **settings):
    """Grow a classification tree; ``y[row]`` is a tuple of class numbers."""
    target = ClassTarget(y, weights, n_classes, criterion)
    return grow_tree(columns, target, Settings(**settings))
