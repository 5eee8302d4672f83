"""Tables of single precision for comparing models with those of scikit-learn."""

import numpy as np


def make_table(n_rows=400, *, missing=0.0, seed=0, n_columns=4):
    """Numbers of single precision, some of them missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    # A column of few values, and one with huge and tiny numbers.
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 3] = X[:, 3] ** 15
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X


def make_labels(X, seed=0):
    """Three classes of strings of unequal length, which depend on missing values."""
    rng = np.random.default_rng(seed)
    filled = np.nan_to_num(X, nan=0.7)
    codes = (filled[:, 0] + filled[:, 1] > 0).astype(int) + (filled[:, 2] > 0.5)
    codes = np.where(rng.random(len(X)) < 0.1, rng.integers(0, 3, len(X)), codes)
    return np.array(["no", "maybe", "certainly"])[codes]


def make_values(X, seed=0):
    """Values that depend on three columns."""
    filled = np.nan_to_num(X, nan=0.7)
    noise = np.random.default_rng(seed).normal(size=len(X))
    return np.sin(filled[:, 0]) + filled[:, 1] * filled[:, 2] + 0.1 * noise
