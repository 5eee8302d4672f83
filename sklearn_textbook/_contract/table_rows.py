"""Number of rows of any table."""

from __future__ import annotations

import numpy as np


def count_rows(X):
    """Count the rows of a table that has not been read.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix
        The table.

    Returns
    -------
    n_rows : int
        Its first dimension, or its length.
    """
    if hasattr(X, "shape"):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))
