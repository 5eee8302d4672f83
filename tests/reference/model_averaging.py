"""Bayesian model averaging over subsets of the columns, by brute force.

Every subset is fitted on its own; its posterior probability follows from Schwarz's
criterion: R's ``bicreg`` writes it as n log(1 - R²) + k log n for least squares.
"""

from itertools import combinations

import numpy as np


def average_subsets(X, y, groups, fit, weight=None, window=20.0, inclusion=None):
    """Posterior probabilities, and means and standard deviations of coefficients.

    ``fit`` gives of some columns: deviance, number of parameters, coefficients and
    standard errors, the intercept first. ``groups`` are the columns of each term.
    """
    weight = np.ones(len(y)) if weight is None else weight
    inclusion = [0.5] * len(groups) if inclusion is None else inclusion
    found = []
    for size in range(len(groups) + 1):
        for subset in combinations(range(len(groups)), size):
            columns = [column for term in subset for column in groups[term]]
            deviance, k, coef, errors = fit(X[:, columns], y, weight)
            prior = 1.0
            for term, share in enumerate(inclusion):
                prior *= share if term in subset else 1 - share
            log_posterior = np.log(prior) - (deviance + k * np.log(weight.sum())) / 2
            vector, spread = np.zeros((2, X.shape[1] + 1))
            places = [0, *(column + 1 for column in columns)]
            vector[places], spread[places] = coef, errors
            found.append((log_posterior, subset, vector, spread))
    best = max(log_posterior for log_posterior, *_ in found)
    kept = [one for one in found if np.exp(best - one[0]) <= window * (1 + 1e-9)]
    weights = np.exp([one[0] - best for one in kept])
    weights /= weights.sum()
    vectors = np.array([one[2] for one in kept])
    spreads = np.array([one[3] for one in kept])
    mean = weights @ vectors
    std = np.sqrt(weights @ (spreads**2 + (vectors - mean) ** 2))
    terms = [
        sum(w for w, one in zip(weights, kept, strict=True) if term in one[1])
        for term in range(len(groups))
    ]
    return {one[1]: w for one, w in zip(kept, weights, strict=True)}, terms, mean, std


def fit_line(X, y, weight):
    """Least squares, by the normal equations."""
    n = weight.sum()
    Z = np.column_stack([np.ones(len(X)), X])
    inverse = np.linalg.pinv(Z.T @ (weight[:, None] * Z), hermitian=True)
    coef = inverse @ (Z.T @ (weight * y))
    squares = weight @ (y - Z @ coef) ** 2
    rank = np.linalg.matrix_rank(Z)
    errors = np.sqrt(inverse.diagonal() * squares / (n - rank))
    total = weight @ (y - np.average(y, weights=weight)) ** 2
    return n * np.log(squares / total), rank, coef, errors


def fit_log_odds(X, y, weight):
    """Logistic regression of classes 0 and 1, by Newton's method."""
    Z = np.column_stack([np.ones(len(X)), X])
    coef = np.zeros(Z.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-Z @ coef))
        inverse = np.linalg.inv(Z.T @ ((weight * p * (1 - p))[:, None] * Z))
        coef = coef + inverse @ (Z.T @ (weight * (y - p)))
    deviance = -2 * weight @ np.log(np.where(y == 1, p, 1 - p))
    return deviance, Z.shape[1], coef, np.sqrt(inverse.diagonal())
