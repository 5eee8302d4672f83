"""Random tables for discriminant analysis."""

import numpy as np

#: rows, columns, classes: long and wide, with few and with many classes
LONG = [(40, 1, 2), (60, 3, 2), (80, 5, 3), (90, 4, 7), (120, 12, 4), (35, 20, 2)]
WIDE = [(20, 19, 3), (20, 30, 2), (25, 60, 4), (12, 200, 3)]


def make_table(seed, n_rows, n_columns, n_classes):
    """Rows of correlated columns, every class with its own centre and two rows."""
    random = np.random.default_rng(seed)
    mix = np.eye(n_columns) + 0.5 * random.standard_normal((n_columns, n_columns))
    y = np.arange(n_rows) % n_classes
    random.shuffle(y)
    centres = random.standard_normal((n_classes, n_columns))
    X = random.standard_normal((n_rows, n_columns)) + centres[y]
    return X @ mix + 3 * random.standard_normal(n_columns), y


def make_weights(seed, n_rows):
    """Whole numbers from 1 to 4."""
    return np.random.default_rng(seed + 99).integers(1, 5, n_rows).astype(float)
