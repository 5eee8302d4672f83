"""Least squares of large sparse tables, by iterations."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsqr


def solve_iteratively(X, Y, weight, *, has_intercept, alpha, tol):
    """Minimise the squares of the residuals by LSQR (Paige and Saunders, 1982).

    The columns are centred during multiplication, so that they stay sparse.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_columns)
        Finite numbers.
    Y : ndarray of shape (n_rows, n_targets)
        Targets.
    weight : ndarray of shape (n_rows,) or None
        Weights above 0.
    has_intercept : bool
        Whether there is an intercept.
    alpha : float
        Weight of the penalty.
    tol : float
        Relative error of the stopping criterion.

    Returns
    -------
    coefficients : ndarray of shape (n_columns, n_targets)
        Slopes.
    intercepts : ndarray of shape (n_targets,)
        Intercepts; zeros if there is none.
    """
    n_rows, n_columns = X.shape
    w = np.ones(n_rows) if weight is None else weight
    mean, target_mean = np.zeros(n_columns), np.zeros(Y.shape[1])
    if has_intercept:
        mean, target_mean = X.T @ w / w.sum(), w @ Y / w.sum()
    root = np.sqrt(w)
    # Columns of unit length reduce the condition number, and so the iterations.
    squares = X.power(2).T @ w - mean**2 * w.sum()
    scales = np.where(squares > 0, np.sqrt(np.maximum(squares, 0.0)), 1.0)
    scales = scales if alpha == 0 else np.ones(n_columns)

    def multiply(b):
        b = b.ravel() / scales
        return root * (X @ b - mean @ b)

    def multiply_transposed(r):
        r = root * r.ravel()
        return (X.T @ r - mean * r.sum()) / scales

    operator = LinearOperator(
        X.shape, matvec=multiply, rmatvec=multiply_transposed, dtype=np.float64
    )
    targets = root[:, np.newaxis] * (Y - target_mean)
    found = np.column_stack(
        [
            lsqr(
                operator,
                target,
                damp=np.sqrt(alpha),
                atol=tol,
                btol=tol,
                iter_lim=10 * max(X.shape),
            )[0]
            for target in targets.T
        ]
    )
    found /= scales[:, np.newaxis]
    return found, target_mean - mean @ found
