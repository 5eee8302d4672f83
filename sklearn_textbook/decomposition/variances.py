"""Total variance of the columns of a table, by blocks of rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

#: Entries of a block of rows, which fits in the cache of a core.
BLOCK_ENTRIES = 2**17


def sum_variances(X) -> float:
    r"""Add up the variances :math:`\sum_i (x_{ij} - \bar x_j)^2 / n` of all columns."""
    if sparse.issparse(X):
        return float(mean_variance_axis(X, axis=0)[1].sum(dtype=np.float64))
    n_rows, n_columns = X.shape
    n_block = max(1, BLOCK_ENTRIES // n_columns)
    total, means, n_seen = 0.0, np.zeros(n_columns), 0
    for start in range(0, n_rows, n_block):
        block = X[start : start + n_block]
        block_means = block.mean(axis=0)
        deviations = (block - block_means).ravel(order="K")
        shifts = block_means - means
        n_both = n_seen + len(block)
        total += float(np.dot(deviations, deviations))
        total += float(np.dot(shifts, shifts)) * n_seen * (len(block) / n_both)
        means += shifts * (len(block) / n_both)
        n_seen = n_both
    return total / n_rows
