"""The shape of a table, and the names of its columns."""

from __future__ import annotations

from contextlib import contextmanager

import narwhals as nw
import numpy as np
from sklearn.utils.validation import validate_data


@contextmanager
def unique_names():
    """Name the columns that have the same name, where a frame is read."""
    try:
        yield
    except nw.exceptions.DuplicateError as error:
        _, *names = str(error).split("\n- ")
        raise ValueError(
            f"Column names of X must be unique: {', '.join(names)}."
        ) from None


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


def check_columns(estimator, X, *target, reset=True):
    """Set, or compare, the number and the names of the columns; values are not read.

    Parameters
    ----------
    estimator : estimator
        With ``n_features_in_`` and, for frames, ``feature_names_in_``.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The table.
    *target : array-like
        The target, if there is one.
    reset : bool, default=True
        Whether the columns are those of the training table.

    Raises
    ------
    ValueError, TypeError
        If X is no table, or its columns are other ones or have the same name.
    """
    if not reset:
        require_two_dimensions(X)
    with unique_names():
        validate_data(estimator, X, *target, reset=reset, skip_check_array=True)
