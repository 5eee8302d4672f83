"""Smoothed means of the levels of a nominal column, in plain Python.

What ``split/_column.pyx`` says of them, as a formula after the other. A level is a
list of rows; a vector has the weight of every class, or the sum of y of every output.
"""

import math
from fractions import Fraction

#: Columns with more levels than this are smoothed.
FEW_LEVELS = 9
#: Nodes up to this size divide such levels in their declared order only.
ORDERED_ROWS = 64


def count_rows(rows, weights):
    """Count rows for rules that do not weigh them."""
    return len(rows)


def has_many_levels(column):
    """Whether a column has, in the whole table, too many levels to be left as it is."""
    return len({value for value in column.values if value is not None}) > FEW_LEVELS


class SmoothedLevels:
    """The levels of a column in a node.

    ``added`` is k, the rows with the mean of the node that are added to each level; it
    is None where the levels differ by no more than chance would have it.
    """

    def __init__(self, target, levels, node_rows, smoothing, design_effect):
        self.target = target
        rows = [row for level in levels.values() for row in level]
        self.weight = target.weight(rows)
        self.total = target.sums(rows)
        self.levels = levels
        self.deviations = {level: self.deviate(levels[level]) for level in levels}
        self.added = self.estimate(node_rows, smoothing, design_effect)

    def deviate(self, rows):
        """Sums of the rows, less those of as many rows with the mean of all."""
        share = self.target.weight(rows) / self.weight
        return [
            part - share * whole
            for part, whole in zip(self.target.sums(rows), self.total, strict=True)
        ]

    def estimate(self, node_rows, smoothing, design_effect):
        """Estimate k from the sum of squares between the levels."""
        weights = [self.target.weight(rows) for rows in self.levels.values()]
        between = sum(
            sum(part * part for part in self.deviations[level]) / weight
            for level, weight in zip(self.levels, weights, strict=True)
        )
        if not between:
            return None
        if smoothing != "auto":
            return Fraction(smoothing) * Fraction(design_effect)
        n_levels, effect = len(weights), Fraction(design_effect)
        degrees = self.weight - effect * (n_levels - 1)
        size = self.weight - sum(weight * weight for weight in weights) / self.weight
        if degrees <= 0 or size <= 0:
            return None
        variance = Fraction(self.target.variance(node_rows))
        within = effect * max(
            (variance * (self.weight + effect) - between) / degrees, 0
        )
        chance = max(n_levels - FEW_LEVELS, 0) * within
        if between <= chance:
            return None
        return size / (n_levels - 1) * chance / (between - chance)

    def smooth(self, level):
        """Smoothed sums of a level, less those of as many rows with the mean."""
        weight = self.target.weight(self.levels[level])
        share = weight / (weight + self.added)
        return [part * share for part in self.deviations[level]]

    def mean(self, level, number):
        """Smoothed mean of a level, from that of the node."""
        return self.smooth(level)[number] / self.target.weight(self.levels[level])

    def expect(self, group):
        """What of the decrease by a division is to be expected on other rows."""
        rows = [row for level in group for row in self.levels[level]]
        share = self.target.weight(rows) / self.weight
        found = self.deviate(rows)
        smoothed = [self.smooth(level) for level in group]
        everywhere = [self.smooth(level) for level in self.levels]
        expected = [
            sum(column) - share * sum(whole)
            for column, whole in zip(
                zip(*smoothed, strict=True), zip(*everywhere, strict=True), strict=True
            )
        ]
        product = sum(a * b for a, b in zip(found, expected, strict=True))
        squares = sum(a * a for a in found)
        return 2 * product / squares - 1 if product < squares else 1

    def expect_all(self):
        """The same of a division into all levels."""
        squares = expected = 0
        for level, rows in self.levels.items():
            weight = self.target.weight(rows)
            squares += sum(part * part for part in self.deviations[level]) / weight
            expected += (
                sum(
                    a * b
                    for a, b in zip(
                        self.deviations[level], self.smooth(level), strict=True
                    )
                )
                / weight
            )
        return 2 * expected / squares - 1


def variance_of_counts(means, deviance):
    """Variance of counts: their mean, or more where their deviance tells so."""
    return sum(max(2 * deviance, 1) * mean for mean in means)


def variance_of_errors(error, n_outputs):
    """Variance of a normal distribution of this mean absolute deviation."""
    return n_outputs * math.pi / 2 * error * error
