"""The maximum entropy model by its formulas: meant to be read first.

李航《统计学习方法》, chapter 6. ``features[i][k][j]`` is f_j of row i and class k, not
negative; ``counts[i][k]`` is the weight of row i with class k. All are lists.
"""

from math import exp, log

import numpy as np


def compute_probabilities(features, weights):
    """P(y|x), formulas 6.22 and 6.23."""
    shares = []
    for of_row in features:
        scores = [
            sum(w * f for w, f in zip(weights, pair, strict=True)) for pair in of_row
        ]
        total = sum(exp(score - max(scores)) for score in scores)
        shares.append([exp(score - max(scores)) / total for score in scores])
    return shares


def sum_features(features, amounts, j):
    """Sum of a feature over all pairs, each with its amount."""
    return sum(
        amount * pair[j]
        for of_row, of_amounts in zip(features, amounts, strict=True)
        for pair, amount in zip(of_row, of_amounts, strict=True)
    )


def compute_loss(features, counts, weights):
    """Negative log-likelihood, formula 6.26 with the other sign, times the rows."""
    shares = compute_probabilities(features, weights)
    return -sum(
        count * log(share)
        for of_counts, of_shares in zip(counts, shares, strict=True)
        for count, share in zip(of_counts, of_shares, strict=True)
        if count
    )


def spread_rows(counts, shares):
    """Weights of the pairs if the model dealt the classes: P~(x) P(y|x)."""
    return [
        [sum(of_counts) * share for share in of_shares]
        for of_counts, of_shares in zip(counts, shares, strict=True)
    ]


def solve_step(features, amounts, sizes, target, penalty, weight, j):
    """The root of formula 6.33 by bisection; the sum rises with the step."""

    def difference(step):
        tilted = [
            [amount * exp(step * size) for amount, size in zip(*pairs, strict=True)]
            for pairs in zip(amounts, sizes, strict=True)
        ]
        return sum_features(features, tilted, j) + penalty * (weight + step) - target

    if sum_features(features, amounts, j) == 0.0:
        return 0.0
    low = high = 0.0
    while difference(low) > 0:
        low = 2 * low - 1
    while difference(high) < 0:
        high = 2 * high + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if difference(middle) < 0 else (low, middle)
    return (low + high) / 2


def scale_iteratively(features, counts, penalty, n_rounds, is_generalized=False):
    """Weights and loss of every round: 算法6.1, or GIS, all weights 0 at first."""
    n_features = len(features[0][0])
    weights, rounds = [0.0] * n_features, []
    sizes = [[sum(pair) for pair in of_row] for of_row in features]
    if is_generalized:
        largest = max(map(max, sizes))
        sizes = [[largest] * len(of_row) for of_row in sizes]
    for _ in range(n_rounds):
        amounts = spread_rows(counts, compute_probabilities(features, weights))
        steps = []
        for j in range(n_features):
            target = sum_features(features, counts, j)
            if target == 0.0 and penalty[j] == 0.0:  # a tenth, for it cannot vanish
                target = sum_features(features, amounts, j) / 10
            steps.append(
                solve_step(features, amounts, sizes, target, penalty[j], weights[j], j)
            )
        weights = [w + step for w, step in zip(weights, steps, strict=True)]
        punished = sum(a * w * w / 2 for a, w in zip(penalty, weights, strict=True))
        rounds.append((weights, compute_loss(features, counts, weights) + punished))
    return rounds


def update_inverse(matrix, step, change):
    """BFGS, formula B.34: the next matrix G, written out as the book has it."""
    n, product = len(step), step @ change
    left = np.eye(n) - np.outer(step, change) / product
    return left @ matrix @ left.T + np.outer(step, step) / product
