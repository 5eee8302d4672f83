"""The shape of a table."""

from __future__ import annotations

import numpy as np


def refuse_other_tables(X):
    """Raise TypeError for what must become a table first, such as a dictionary.

    Parameters
    ----------
    X : object
        Of a sequence, only the first entry is looked at.
    """
    if isinstance(X, dict) and not hasattr(X, "shape"):  # as scipy's matrix by keys
        found, remedy = "a dict", "pandas.DataFrame([X]) if it is one row"
        if X and not np.isscalar(next(iter(X.values()))):
            remedy = "pandas.DataFrame(X) if its values are columns"
    elif isinstance(X, (list, tuple)) and X and isinstance(X[0], dict):
        found = f"a {type(X).__name__} of dicts"
        remedy = "pandas.DataFrame(X), in which each of them is a row"
    else:
        if not hasattr(X, "__len__"):  # unlike arrays and frames in memory
            refuse_lazy_tables(X)
        return
    raise TypeError(f"X must be a table, got {found}. Pass {remedy}.")


def refuse_lazy_tables(X):
    """Raise TypeError for lazy frames, and for tables of other libraries.

    Parameters
    ----------
    X : object
        What is no frame in memory.
    """
    import narwhals.stable.v2 as nw  # not needed to print a tree

    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(
            f"X is a lazy data frame ({type(X)}); call its collect method first."
        )
    if hasattr(X, "__arrow_c_array__") or hasattr(X, "__arrow_c_stream__"):
        raise TypeError(f"X is of {type(X)}; pass pyarrow.table(X) instead.")


def require_two_dimensions(X):
    """Raise unless X is a table: ValueError, worded as scikit-learn's, or TypeError.

    Parameters
    ----------
    X : object
        Of a list, only the first entry is looked at.
    """
    refuse_other_tables(X)
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
