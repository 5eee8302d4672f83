"""Randomised decomposition: the matrix is projected onto a few random directions."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sklearn_textbook.decomposition.direct import factor_by_lapack
from sklearn_textbook.decomposition.factors import SVDFactors
from sklearn_textbook.decomposition.matrix import find_float_type

NORMALIZERS = ("auto", "QR", "LU", "none")


def factor_by_random_projection(
    A,
    n_components: int,
    *,
    n_oversamples: int,
    n_iter: int,
    normalizer: str,
    random_state,
) -> SVDFactors:
    r"""Approximate the largest triplets, after Halko, Martinsson and Tropp.

    An orthonormal basis Q of the range of :math:`(A A^T)^{q} A \Omega` with q rounds of
    power iteration and a Gaussian :math:`\Omega`; then the exact decomposition of the
    small :math:`Q^T A`.
    """
    if A.shape[0] < A.shape[1]:
        # Fewer random numbers, and a smaller projection.
        V, s, Ut = factor_by_random_projection(
            A.T,
            n_components,
            n_oversamples=n_oversamples,
            n_iter=n_iter,
            normalizer=normalizer,
            random_state=random_state,
        )
        return SVDFactors(Ut.T, s, V.T)
    n_drawn = min(n_components + n_oversamples, A.shape[1])
    directions = random_state.normal(size=(A.shape[1], n_drawn))
    directions = directions.astype(find_float_type(A))
    if normalizer == "auto":
        normalizer = "none" if n_iter <= 2 else "LU"
    for _ in range(n_iter):
        directions = _keep_apart(_multiply(A, directions), normalizer)
        directions = _keep_apart(_multiply(A.T, directions), normalizer)
    basis = _keep_apart(_multiply(A, directions), "QR")
    U, s, Vt = factor_by_lapack(_multiply(A.T, basis).T)
    n_kept = slice(n_components)
    return SVDFactors(basis @ U[:, n_kept], s[n_kept], Vt[n_kept])


def _multiply(A, directions):
    """Multiply a matrix by a few columns, going through its memory in order.

    BLAS takes twice as long for the product of an array in Fortran's order.
    """
    if isinstance(A, np.ndarray) and A.flags.f_contiguous:
        return (directions.T @ A.T).T
    return A @ directions


def _keep_apart(directions, normalizer):
    """Replace columns by better conditioned ones with the same span."""
    if normalizer == "QR":
        return linalg.qr(directions, mode="economic", check_finite=False)[0]
    if normalizer == "LU":
        return linalg.lu(directions, permute_l=True, check_finite=False)[0]
    return directions
