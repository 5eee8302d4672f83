"""Total variance of the columns of a table, in one block of rows after the other."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

#: Entries of a block of rows: small enough for the cache of a core.
BLOCK_ENTRIES = 2**17


def sum_variances(X):
    r"""Add up the variances :math:`\sum_i (x_{ij} - \bar x_j)^2 / n` of all columns j.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        The table.

    Returns
    -------
    total : float
        The sum; no copy of X is made.
    """
    if sparse.issparse(X):
        return float(mean_variance_axis(X, axis=0)[1].sum(dtype=np.float64))
    n_rows, n_columns = X.shape
    means = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    n_block = max(1, BLOCK_ENTRIES // n_columns)
    total = 0.0
    for start in range(0, n_rows, n_block):
        deviations = (X[start : start + n_block] - means).ravel(order="K")
        total += float(np.dot(deviations, deviations))
    return total / n_rows
