"""Principal components, step by step as in the book, in plain Python.

李航《统计学习方法》 16.2.3: means, the covariance or correlation matrix, its
eigenvalues (by Jacobi's rotations), and what follows from them. Lists, nothing fast.
"""

from math import copysign, hypot, sqrt


def find_components(rows, weights=None, standardize=False):
    """Eigenvalues, directions, loadings and scores of rows, all components of them."""
    weights = weights or [1] * len(rows)
    total, n_columns = sum(weights), len(rows[0])
    columns = range(n_columns)
    means = [
        sum(w * row[j] for w, row in zip(weights, rows, strict=True)) / total
        for j in columns
    ]
    centered = [[row[j] - means[j] for j in columns] for row in rows]
    covariance = [
        [
            sum(w * x[i] * x[j] for w, x in zip(weights, centered, strict=True))
            / (total - 1)
            for j in columns
        ]
        for i in columns
    ]
    deviations = [sqrt(covariance[j][j]) for j in columns]
    scale = deviations if standardize else [1.0] * n_columns
    matrix = [
        [covariance[i][j] / scale[i] / scale[j] for j in columns] for i in columns
    ]
    eigenvalues, directions = rotate_to_diagonal(matrix)
    loadings = [
        [
            sqrt(max(0.0, value)) * direction[i] * scale[i] / deviations[i]
            for value, direction in zip(eigenvalues, directions, strict=True)
        ]
        for i in columns
    ]
    scores = [
        [sum(d[j] * x[j] / scale[j] for j in columns) for d in directions]
        for x in centered
    ]
    return eigenvalues, directions, loadings, scores


def rotate_to_diagonal(matrix, n_sweeps=30):
    """Eigenvalues, the largest first, and unit eigenvectors of a symmetric matrix."""
    size = len(matrix)
    a = [list(row) for row in matrix]
    vectors = [[float(i == j) for j in range(size)] for i in range(size)]
    for _ in range(n_sweeps):
        for p in range(size):
            for q in range(p + 1, size):
                rotate(a, vectors, p, q)
    order = sorted(range(size), key=lambda k: -a[k][k])
    directions = [turn([vectors[i][k] for i in range(size)]) for k in order]
    return [a[k][k] for k in order], directions


def rotate(a, vectors, p, q):
    """Turn rows and columns p and q so that their common entry becomes 0."""
    if a[p][q] == 0:
        return
    theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
    t = copysign(1.0, theta) / (abs(theta) + hypot(1.0, theta))
    c = 1 / hypot(1.0, t)
    s = t * c
    for table in (a, vectors):
        for row in table:
            row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    a[p], a[q] = (
        [c * x - s * y for x, y in zip(a[p], a[q], strict=True)],
        [s * x + c * y for x, y in zip(a[p], a[q], strict=True)],
    )


def turn(direction):
    """The direction whose largest entry (the first of equal ones) is positive."""
    largest = max(abs(x) for x in direction)
    leading = next(x for x in direction if abs(x) >= (1 - 1e-6) * largest)
    return [copysign(1.0, leading) * x for x in direction]
