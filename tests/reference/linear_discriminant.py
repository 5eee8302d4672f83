"""Linear discriminant analysis by its formulas, row by row: meant to be read first.

周志华《机器学习》, section 3.4. All matrices are small and have inverses.
"""

import numpy as np


def find_centres(X, y, weight):
    """Classes, their weights m and their centres."""
    classes = np.unique(y)
    sizes = np.array([weight[y == label].sum() for label in classes])
    centres = np.array(
        [(weight[y == label] @ X[y == label]) / weight[y == label].sum()
         for label in classes]
    )  # fmt: skip
    return classes, sizes, centres


def compute_scatters(X, y, weight):
    """Scatter within the classes (3.42), between them (3.43) and of all rows (3.40)."""
    classes, sizes, centres = find_centres(X, y, weight)
    mean = weight @ X / weight.sum()
    within, between, total = np.zeros((3, X.shape[1], X.shape[1]))
    for row, label, w in zip(X, y, weight, strict=True):
        centre = centres[np.searchsorted(classes, label)]
        within += w * np.outer(row - centre, row - centre)
        total += w * np.outer(row - mean, row - mean)
    for size, centre in zip(sizes, centres, strict=True):
        between += size * np.outer(centre - mean, centre - mean)
    return within, between, total


def find_direction(X, y, weight):
    """The direction for two classes (3.39), by singular values: S_w = U D Vᵀ."""
    _, _, (first, second) = find_centres(X, y, weight)
    within, _, _ = compute_scatters(X, y, weight)
    left, values, right = np.linalg.svd(within)
    return right.T @ ((left.T @ (first - second)) / values)


def solve_eigenproblem(X, y, weight):
    """Eigenvalues and directions of S_w⁻¹ S_b (3.45), the largest first, N - 1."""
    within, between, _ = compute_scatters(X, y, weight)
    values, vectors = np.linalg.eig(np.linalg.inv(within) @ between)
    order = np.argsort(-values.real)[: min(len(np.unique(y)) - 1, X.shape[1])]
    return values.real[order], vectors.real[:, order]


def compute_posteriors(X, y, weight, priors, new_rows):
    """Posteriors by the normal densities of the classes and Bayes' rule."""
    _, _, centres = find_centres(X, y, weight)
    within, _, _ = compute_scatters(X, y, weight)
    inverse = np.linalg.inv(within / weight.sum())
    posteriors = []
    for row in new_rows:
        exponents = [-(row - c) @ inverse @ (row - c) / 2 for c in centres]
        joint = priors * np.exp(np.array(exponents) - max(exponents))
        posteriors.append(joint / joint.sum())
    return np.array(posteriors)
