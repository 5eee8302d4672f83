"""Weighted sums over the rows of a table: all that least squares needs of it."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse


def sum_products(X, weight=None, targets=None, n_threads=1):
    r"""Sum up the weighted products of columns over the rows.

    With a column of ones put before X, :math:`Z = [1, X]`, and the weights W on a
    diagonal, it computes :math:`Z^T W Z` and :math:`Z^T W T`.

    Parameters
    ----------
    X : ndarray of float64 or csr_array, shape (n_rows, n_columns)
        The table.
    weight : ndarray of float64, shape (n_rows,), default=None
        Weights. None: 1 each.
    targets : ndarray of float64, shape (n_rows, n_targets), default=None
        T; None for no targets.
    n_threads : int, default=1
        Number of threads; the sums are the same, bit for bit, for any number.

    Returns
    -------
    products : ndarray of shape (1 + n_columns, 1 + n_columns)
        :math:`Z^T W Z`: sum of weights, of columns, of products.
    with_targets : ndarray of shape (1 + n_columns, n_targets)
        :math:`Z^T W T`.
    """
    n_rows, n_columns = X.shape
    weight = np.ones(n_rows) if weight is None else weight
    targets = np.empty((n_rows, 0)) if targets is None else targets
    products = np.empty((n_columns + 1, n_columns + 1))
    if issparse(X):
        weighted = X.multiply(weight[:, np.newaxis]).tocsr()
        products[1:, 1:] = (X.T @ weighted).toarray()
    else:
        weighted = X * weight[:, np.newaxis]
        products[1:, 1:] = X.T @ weighted
    products[0, 0] = weight.sum()
    products[0, 1:] = products[1:, 0] = np.asarray(X.T @ weight).ravel()
    with_targets = np.empty((n_columns + 1, targets.shape[1]))
    with_targets[0] = weight @ targets
    with_targets[1:] = weighted.T @ targets
    return products, with_targets
