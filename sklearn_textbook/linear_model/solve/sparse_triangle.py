"""The triangle of sparse rows from sums of products, if these are accurate enough."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array

#: Time of a multiplication in a product of sparse matrices, relative to dense ones.
SPARSE_COST = 50.0
#: Largest mean of a column, in standard deviations, with which its squares may be
#: summed without centring: two of sixteen digits are lost.
NEAR_ORIGIN = 10.0
#: Condition number up to which products give the triangle to ten digits. Products
#: square it.
LARGEST_CONDITION = 500.0
#: Steps of refinement of the coefficients.
N_REFINEMENTS = 2


def is_worth_products(X):
    """Whether products of the sparse columns cost less than dense rows would."""
    n_rows, n_columns = X.shape
    in_rows = np.diff(X.indptr).astype(np.float64)
    return SPARSE_COST * (in_rows @ in_rows) < float(n_rows) * n_columns**2


def reduce_products(X, Y, weight, has_intercept):
    r"""Reduce sparse rows by sums of products, unless that loses digits.

    For the centred columns :math:`\tilde X` it factorises
    :math:`\tilde X^T W \tilde X = R^T R` by Cholesky's method, and solves
    :math:`R^T R b = \tilde X^T W y`, repeatedly for the residuals, until b is accurate:
    corrected seminormal equations.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_columns)
        Finite numbers.
    Y : ndarray of shape (n_rows, n_targets)
        Targets.
    weight : ndarray of shape (n_rows,) or None
        Weights above 0.
    has_intercept : bool
        Whether there is a column of ones.

    Returns
    -------
    reduced : tuple or None
        Triangle, targets and sums of squares of the residuals, about zero. None if the
        columns are nearly dependent, or far from zero.
    """
    X = csr_array(X)
    w = np.ones(X.shape[0]) if weight is None else weight
    total = w.sum()
    mean, target_mean = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if has_intercept:
        mean, target_mean = X.T @ w / total, w @ Y / total
    products = (X.T @ X.multiply(w[:, np.newaxis]).tocsr()).toarray()
    squares = np.diagonal(products) - total * mean**2
    if not (squares > total * mean**2 / NEAR_ORIGIN**2).all():
        return None
    products -= np.outer(total * mean, mean)
    triangle = _factorise(products, np.sqrt(squares))
    if triangle is None:
        return None
    coefficients = np.zeros((X.shape[1], Y.shape[1]))
    left = Y - target_mean
    for _ in range(1 + N_REFINEMENTS):
        weighted = w[:, np.newaxis] * left
        sums = X.T @ weighted - np.outer(mean, weighted.sum(axis=0))
        step, _ = lapack.dtrtrs(triangle, sums, trans=1)
        step, _ = lapack.dtrtrs(triangle, step)
        coefficients += step
        left = (Y - target_mean) - (X @ coefficients - mean @ coefficients)
    targets = triangle @ coefficients
    residual = w @ left**2
    if has_intercept:
        root = np.sqrt(total)
        size = X.shape[1]
        triangle = np.block(
            [[np.full((1, 1), root), root * mean], [np.zeros((size, 1)), triangle]]
        )
        targets = np.vstack([root * target_mean, targets])
    return triangle, targets, residual


def _factorise(products, lengths):
    """Cholesky factor of products, or None if these lost digits."""
    products = products / np.outer(lengths, lengths)
    triangle, info = lapack.dpotrf(products, clean=1)
    if info:
        return None
    # Estimated in the norm of column sums, which is at least the usual one.
    reciprocal, _ = lapack.dpocon(triangle, np.abs(products).sum(axis=0).max())
    is_well = reciprocal * LARGEST_CONDITION**2 > 1.0
    return triangle * lengths if is_well else None
