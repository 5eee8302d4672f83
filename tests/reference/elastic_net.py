"""Elastic net by coordinate descent, one coordinate at a time: meant to be read first.

Friedman, Hastie, Tibshirani (2010), Regularization paths for generalized linear models
via coordinate descent, section 2. The penalty is ``alpha * (l1_ratio * norm + (1 -
l1_ratio) / 2 * square)`` of each group of columns.
"""

import numpy as np


def shrink(values, limit):
    """Move a vector towards zero by a distance; soft thresholding of a number."""
    size = np.linalg.norm(values)
    return np.zeros(len(values)) if size <= limit else values * (1 - limit / size)


def fit_squares(X, y, weight, alpha, l1_ratio, groups=None, n_sweeps=20_000):
    """Minimise half the weighted mean of squares and the penalty; with an intercept."""
    share = weight / weight.sum()
    mean, y_mean = share @ X, share @ y
    columns = X - mean
    groups = [[column] for column in range(X.shape[1])] if groups is None else groups
    products = columns.T @ (columns * share[:, None])
    curvatures = [np.linalg.eigvalsh(products[np.ix_(g, g)])[-1] for g in groups]
    coef = np.zeros(X.shape[1])
    for _ in range(n_sweeps):
        before = coef.copy()
        for group, curvature in zip(groups, curvatures, strict=True):
            part = columns[:, group]
            residuals = y - y_mean - columns @ coef
            moved = coef[group] + part.T @ (share * residuals) / curvature
            limit = alpha * l1_ratio * np.sqrt(len(group)) / curvature
            ridge = 1 + alpha * (1 - l1_ratio) / curvature
            coef[group] = shrink(moved, limit) / ridge
        if np.abs(coef - before).max() < 1e-14:
            break
    return coef, y_mean - mean @ coef


def measure_violation(slopes, coef, alpha, l1_ratio, groups=None):
    """Largest violation of the conditions of the minimum (KKT).

    Slopes are minus the derivatives of the mean loss: alpha l1_ratio sign(coef) + alpha
    (1 - l1_ratio) coef where a coefficient is not zero, and no larger than the former
    in size elsewhere.
    """
    groups = [[column] for column in range(len(coef))] if groups is None else groups
    worst = 0.0
    for group in groups:
        limit = alpha * l1_ratio * np.sqrt(len(group))
        size = np.linalg.norm(coef[group])
        rest = slopes[group] - alpha * (1 - l1_ratio) * coef[group]
        if size > 0:
            violation = np.linalg.norm(rest - limit * coef[group] / size)
        else:
            violation = max(0.0, np.linalg.norm(rest) - limit)
        worst = max(worst, violation)
    return worst
