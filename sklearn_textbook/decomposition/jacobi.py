"""One-sided Jacobi: plane rotations until all columns are orthogonal."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sklearn_textbook.decomposition._jacobi import rotate_rows
from sklearn_textbook.decomposition.complement import find_complement
from sklearn_textbook.decomposition.factors import SVDFactors

#: Six to ten sweeps are usual.
MAX_SWEEPS = 60
#: Binary exponent to which the largest entry is scaled before the rotations: sums of
#: squares do not overflow, and the range of smaller values is as wide as possible.
LARGEST_EXPONENT = 490
#: Shorter rows count as zeros, since their squares underflow.
SMALLEST_LENGTH = 2.0**-480


def factor_by_jacobi(A: np.ndarray) -> SVDFactors:
    """Compute the thin factors by Hestenes' rotations."""
    if A.shape[0] < A.shape[1]:
        V, s, Ut = factor_by_jacobi(A.T)
        return SVDFactors(Ut.T, s, V.T)
    # Rows sorted by size, columns by pivoting: then the error of QR is small relative
    # to every row and column, not only to the largest.
    order = np.argsort(-np.abs(A).max(axis=1), kind="stable")
    Q, R, pivots = linalg.qr(
        A[order], mode="economic", pivoting=True, check_finite=False
    )
    # The columns to be rotated are those of the transpose of R, the rows of R.
    rotated, s, rotations = orthogonalise_rows(R)
    U = np.empty_like(Q)
    U[order] = Q @ rotations.T
    Vt = np.empty_like(rotated)
    Vt[:, pivots] = rotated
    return SVDFactors(U, s, Vt)


def orthogonalise_rows(R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotate the rows of a square matrix until they are orthogonal."""
    n_rows = len(R)
    rows = np.array(R, dtype=np.float64, order="C")
    rotations = np.eye(n_rows)
    threshold = np.sqrt(n_rows) * np.finfo(np.float64).eps
    squares = np.empty(n_rows)
    # One sweep per call, so that a keyboard interrupt takes effect.
    for _ in range(MAX_SWEEPS):
        n_rotated = rotate_rows(rows, rotations, squares, threshold, SMALLEST_LENGTH**2)
        if n_rotated == 0:
            break
    else:
        raise linalg.LinAlgError(
            f"The Jacobi rotations did not converge in {MAX_SWEEPS} sweeps."
        )
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths < SMALLEST_LENGTH] = 0
    order = np.argsort(-lengths, kind="stable")
    rows, lengths, rotations = rows[order], lengths[order], rotations[order]
    n_known = np.count_nonzero(lengths)
    rows[:n_known] /= lengths[:n_known, np.newaxis]
    rows[n_known:] = find_complement(rows[:n_known].T, n_rows - n_known).T
    return rows, lengths, rotations
