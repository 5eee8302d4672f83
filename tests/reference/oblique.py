"""Oblique trees in plain numpy: the direction of a node, and the best threshold."""

from __future__ import annotations

import numpy as np

from tests.reference.smoothed_levels import FEW_LEVELS

JITTER = 1e-10


def code_levels(column, response, weight):
    """Replace the levels of a column by the smoothed mean of the response."""
    mean = np.average(response, weights=weight)
    prior = weight.sum() / len(weight)
    known = ~np.isnan(column)
    if len(np.unique(column[known])) > FEW_LEVELS:
        prior = weigh_mean(column[known], response[known], weight[known], mean)
    coded = np.full(len(column), np.nan)
    for level in np.unique(column[~np.isnan(column)]):
        has = column == level
        if prior is None:
            coded[has] = mean
            continue
        total = weight[has].sum() + prior
        coded[has] = (weight[has] @ response[has] + prior * mean) / total
    return coded


def weigh_mean(column, response, weight, mean):
    """The weight of the mean by which many levels are smoothed; None if most of what
    they differ by is chance."""
    levels, codes = np.unique(column, return_inverse=True)
    sizes = np.bincount(codes, weight)
    squares = (np.bincount(codes, weight * response) - mean * sizes) ** 2 / sizes
    total = weight.sum()
    if total <= len(levels) - 1:
        return None
    variance = weight @ response**2 / total - mean**2
    within = variance * (total + 1) - squares.sum()
    within = max(within / (total - len(levels) + 1), 0.0)
    chance = (len(levels) - FEW_LEVELS) * within
    if squares.sum() <= chance:
        return None
    size = (total - sizes @ sizes / total) / (len(levels) - 1)
    added = size * chance / (squares.sum() - chance)
    expected = squares @ (sizes / (sizes + added))
    return added if 2 * expected >= 1.5 * squares.sum() else None


def standardize(X, is_nominal, response, weight):
    """Columns in standard units, 0 where a value is missing; without constant ones."""
    columns, used = [], []
    for j, column in enumerate(X.T):
        values = code_levels(column, response, weight) if is_nominal[j] else column
        known = ~np.isnan(values)
        if not known.any():
            continue
        mean = np.average(values[known], weights=weight[known])
        spread = np.average((values[known] - mean) ** 2, weights=weight[known]) ** 0.5
        if spread > 1e-12 * max(1.0, np.abs(values[known]).max()):
            columns.append(np.where(known, (values - mean) / spread, 0.0))
            used.append(j)
    return np.array(columns).reshape(len(columns), len(X)).T, used


def find_ridge(Z, response, weight, ridge):
    share = weight / weight.sum()
    centred = response - share @ response
    gram = (Z * share[:, None]).T @ Z
    return np.linalg.solve(
        gram + (ridge + JITTER) * np.eye(Z.shape[1]), Z.T @ (share * centred)
    )


def find_lda(Z, labels, weight, ridge):
    share = weight / weight.sum()
    within = (Z * share[:, None]).T @ Z
    between = np.zeros_like(within)
    for label in np.unique(labels):
        of_class = labels == label
        centre = np.average(Z[of_class], axis=0, weights=weight[of_class])
        between += share[of_class].sum() * np.outer(centre, centre)
    within += (ridge + JITTER) * np.eye(len(within)) - between
    values, vectors = np.linalg.eig(np.linalg.solve(within, between))
    return vectors[:, values.real.argmax()].real


def measure(target, weight, is_classifier):
    """Weight times Gini impurity or variance."""
    if len(target) == 0:
        return 0.0
    if not is_classifier:
        return weight @ (target - np.average(target, weights=weight)) ** 2
    counts = np.bincount(target, weights=weight)
    return weight.sum() - (counts**2).sum() / weight.sum()


def find_threshold(z, target, weight, is_classifier, min_samples_leaf=1):
    """The threshold with the largest decrease, and the decrease."""
    order = np.argsort(z, kind="stable")
    best, found = -np.inf, None
    scale = 1e-9 * max(1.0, np.abs(z).max())
    whole = measure(target, weight, is_classifier)
    for i in range(min_samples_leaf, len(z) - min_samples_leaf + 1):
        low, high = order[:i], order[i:]
        if len(high) == 0 or z[high[0]] - z[low[-1]] <= scale:
            continue
        decrease = whole - sum(
            measure(target[part], weight[part], is_classifier) for part in (low, high)
        )
        if decrease > best + 1e-9 * whole:
            best, found = decrease, (z[low[-1]] + z[high[0]]) / 2
    return found, best


def find_split(X, is_nominal, target, weight, *, direction, ridge, is_classifier):
    """Sums of the rows along the direction of the node, and their best threshold."""
    response = target.astype(float)
    if is_classifier and len(np.unique(target)) > 0 and target.max() > 1:
        # Several classes: the largest against the others.
        counts = np.bincount(target, weights=weight)
        response = (target == counts.argmax()).astype(float)
    Z, used = standardize(X, is_nominal, response, weight)
    if not used:
        return None
    if direction == "lda":
        w = find_lda(Z, target, weight, ridge)
    else:
        w = find_ridge(Z, response, weight, ridge)
    z = Z @ (w / np.linalg.norm(w))
    threshold, decrease = find_threshold(z, target, weight, is_classifier)
    if threshold is None:
        return None
    return z <= threshold, decrease
