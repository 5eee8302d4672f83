"""Random tables of features for tests of maximum entropy."""

import numpy as np

from sklearn_textbook.linear_model.maximum_entropy.joint_features import (
    join_blocks,
    share_columns,
)


def make_pairs(seed, n_rows=12, n_classes=3, n_features=4, kind="numbers"):
    """Values f_j(x, y), shape (n_rows, n_classes, n_features), and counts of classes.

    "numbers": any sums of the features; "counts": few; "constant": one.
    """
    random = np.random.default_rng(seed)
    shape = (n_rows, n_classes, n_features)
    if kind == "numbers":
        values = random.random(shape) * (random.random(shape) < 0.7)
    elif kind == "counts":
        values = random.integers(0, 3, shape).astype(float)
    else:
        values = np.eye(n_features)[random.integers(n_features, size=shape[:2])]
    counts = random.integers(0, 4, (n_rows, n_classes)).astype(float)
    counts[:, 0] += 1.0
    return values, counts


def make_shared(seed, n_rows=40, n_classes=3, n_columns=4, kind="numbers"):
    """Columns, and counts of classes; sparse rows if wanted."""
    random = np.random.default_rng(seed)
    matrix = random.random((n_rows, n_columns))
    if kind == "sparse":
        matrix *= random.random(matrix.shape) < 0.3
    elif kind == "counts":
        matrix = random.integers(0, 3, matrix.shape).astype(float)
    counts = random.integers(1, 4, (n_rows, n_classes)).astype(float)
    return matrix, counts


def expand(matrix, n_classes):
    """Shared features as values of all pairs."""
    n_rows, n_columns = matrix.shape
    values = np.zeros((n_rows, n_classes, n_columns, n_classes))
    for k in range(n_classes):
        values[:, k, :, k] = matrix
    return values.reshape(n_rows, n_classes, -1)


def join(values):
    """Values of all pairs as joint features."""
    return join_blocks([values[:, k] for k in range(values.shape[1])])


def share(matrix, n_classes):
    """Columns as shared features."""
    return share_columns(matrix, n_classes)


def make_classes(seed, n_rows=120, n_columns=4):
    """Rows of three overlapping classes in columns of different units."""
    random = np.random.default_rng(seed)
    units = np.array([1.0, 10.0, 0.1, 3.0])[:n_columns]
    X = random.normal(size=(n_rows, n_columns)) * units + units * 5
    scores = np.column_stack(
        (np.zeros(n_rows), X[:, 0] - 5, X[:, 1] / 10 - X[:, -1] / units[-1])
    )
    y = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    return X, y
