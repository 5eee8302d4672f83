"""The shape of a table."""

from __future__ import annotations

import numpy as np


def require_two_dimensions(X):
    """Raise ValueError, worded as scikit-learn's, unless X is a table.

    Parameters
    ----------
    X : object
        Of a list, only the first entry is looked at.
    """
    n_dimensions = _count_dimensions(X)
    if n_dimensions == 2:
        return
    if n_dimensions > 2:
        raise ValueError(
            f"Found array with dim {n_dimensions}, while dim <= 2 is required."
        )
    found = "scalar" if n_dimensions == 0 else "1D"
    raise ValueError(
        f"Expected 2D array, got {found} array instead:\narray={X!s:.200}.\n"
        "Reshape your data either using array.reshape(-1, 1) if your data has a single "
        "feature or array.reshape(1, -1) if it contains a single sample."
    )


def _count_dimensions(X):
    """Count the dimensions; 2 of what is neither an array, a list nor a number."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple):
        return len(shape)
    if X is None or np.isscalar(X):
        return 0
    if isinstance(X, (list, tuple)) and X:
        return 1 + min(_count_dimensions(X[0]), 1)
    return 2
