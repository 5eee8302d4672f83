"""AdaBoost in plain Python: algorithm 8.1 of the book, SAMME for more classes.

With a learning rate of 1 the weights of rows stay fractions: the rows that a member has
wrong are multiplied with exp(2 alpha) = (1 - e) (K - 1) / e before all are divided by
their sum.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.cart_classifier import grow_classifier
from tests.reference.cart_route import find_shares


@dataclass
class Round:
    """What is known of a round."""

    nodes: list  # of the stump
    says: list  # class number of every row
    weights: list  # of the rows before the round
    error: Fraction
    alpha: float


def fit_stump(columns, y, weights, n_classes):
    """The stump with least weighted error, and the class it says of each row."""
    nodes = grow_classifier(
        columns,
        [(label,) for label in y],
        weights,
        [n_classes],
        criterion="error",
        max_depth=1,
    )
    rows = zip(*(column.values for column in columns), strict=True)
    ends = [find_shares(nodes, row)[0][0] for row in rows]
    best = []
    for node in nodes:
        shares = node["statistics"][0]
        best.append(shares.index(max(shares)))
    return nodes, [best[end] for end in ends]


def boost(columns, y, n_classes, n_rounds, weights=None):
    """The rounds; fewer if a stump has no row wrong or is no better than chance.

    Stumps are shown weights with the sum of the first ones.
    """
    weights = [Fraction(weight) for weight in weights or [1] * len(y)]
    size, rounds = sum(weights), []
    for _ in range(n_rounds):
        total = sum(weights)
        weights = [weight / total for weight in weights]
        nodes, says = fit_stump(columns, y, [w * size for w in weights], n_classes)
        is_wrong = [said != label for said, label in zip(says, y, strict=True)]
        error = sum(
            weight for weight, wrong in zip(weights, is_wrong, strict=True) if wrong
        )
        if error and error >= 1 - Fraction(1, n_classes):
            break
        if not error:
            alpha = 1.0 + sum(earlier.alpha for earlier in rounds)
            rounds.append(Round(nodes, says, weights, error, alpha))
            break
        factor = (1 - error) * (n_classes - 1) / error
        rounds.append(Round(nodes, says, weights, error, 0.5 * math.log(factor)))
        weights = [
            weight * factor if wrong else weight
            for weight, wrong in zip(weights, is_wrong, strict=True)
        ]
    return rounds


def add_votes(rounds, n_rows, n_classes):
    """Weights of the members that vote for each class."""
    votes = [[0.0] * n_classes for _ in range(n_rows)]
    for one in rounds:
        for row, said in enumerate(one.says):
            votes[row][said] += one.alpha
    return votes
