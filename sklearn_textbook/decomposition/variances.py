"""Variances of the columns of a table, by blocks of rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from sklearn_textbook._contract.blocks import BLOCK_ROWS, list_blocks
from sklearn_textbook.linear_model.design.block_rows import cut_rows

#: Entries of a block of rows, which fits in the cache of a core.
BLOCK_ENTRIES = 2**17


def sum_variances(X) -> float:
    r"""Add up the variances :math:`\sum_i (x_{ij} - \bar x_j)^2 / n` of all columns."""
    if sparse.issparse(X):
        return float(mean_variance_axis(X, axis=0)[1].sum(dtype=np.float64))
    n_rows, n_columns = X.shape
    n_block = max(1, BLOCK_ENTRIES // n_columns)
    total, means, n_seen = 0.0, np.zeros(n_columns), 0
    for (block,) in cut_rows(n_block, X):
        block_means = block.mean(axis=0)
        deviations = block - block_means
        shifts = block_means - means
        n_both = n_seen + len(block)
        # Threads of BLAS would change the order of the sum.
        total += float(np.einsum("ij,ij->", deviations, deviations))
        total += float(np.dot(shifts, shifts)) * n_seen * (len(block) / n_both)
        means += shifts * (len(block) / n_both)
        n_seen = n_both
    return total / n_rows


def find_variances(X, components: np.ndarray, out: np.ndarray | None = None):
    """Find the variances of rows projected on components; ``out`` takes the rows."""
    variances = means = np.zeros(len(components))
    for rows, (block,) in zip(
        list_blocks(X.shape[0]), cut_rows(BLOCK_ROWS, X), strict=True
    ):
        projected = block @ components.T
        if out is not None:
            out[rows] = projected
        fraction = len(block) / rows.stop
        shifts = projected.mean(axis=0) - means
        if rows.start == 0:
            variances = projected.var(axis=0)
        else:
            variances = variances + (projected.var(axis=0) - variances) * fraction
            variances += shifts**2 * (fraction * (1.0 - fraction))
        means = means + shifts * fraction
    return variances.astype(X.dtype, copy=False)
