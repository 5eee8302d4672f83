"""Decomposition by LAPACK, and by the eigenvectors of the Gram matrix."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sklearn_textbook.decomposition.factors import SVDFactors


def factor_by_lapack(A: np.ndarray) -> SVDFactors:
    """Compute the thin factors by divide and conquer, or by QR where that fails."""
    try:
        U, s, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:  # rarely, it does not converge
        U, s, Vt = linalg.svd(
            A, full_matrices=False, check_finite=False, lapack_driver="gesvd"
        )
    return SVDFactors(U, np.abs(s), Vt)  # zeros may be negative


def find_gram_eigenpairs(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute the eigenpairs of :math:`A^T A`, the largest first."""
    return decompose_gram(A.T @ A)


def decompose_gram(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute singular values and right singular vectors from products of columns."""
    eigenvalues, vectors = linalg.eigh(products, check_finite=False, driver="evd")
    return np.sqrt(np.maximum(eigenvalues[::-1], 0)), vectors[:, ::-1]


def factor_by_gram(A: np.ndarray) -> SVDFactors:
    r"""Compute the thin factors as the book does: eigenvectors of :math:`A^T A`."""
    if A.shape[0] < A.shape[1]:
        V, s, Ut = factor_by_gram(A.T)
        return SVDFactors(Ut.T, s, V.T)
    s, V = find_gram_eigenpairs(A)
    # The columns A v are orthogonal up to rounding, which is large relative to small
    # values: QR makes them so, the largest first, and divides them by their lengths.
    U, R = linalg.qr(A @ V, mode="economic", check_finite=False)
    return SVDFactors(U * np.where(R.diagonal() < 0, -1.0, 1.0), s, V.T.copy())


def find_gram_tolerance(shape, largest):
    """Size below which singular values from the Gram matrix are rounding errors.

    Eigenvalues have errors of ``max(shape) * eps`` times the largest one, and square
    roots of such errors are far larger.
    """
    return np.sqrt(max(shape) * np.finfo(np.float64).eps) * largest
