"""Eigenvalues and directions of a matrix or of rows, and the number to keep."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, svds
from scipy.special import gammaln
from sklearn import config_context
from sklearn.utils.extmath import randomized_svd

#: Entries that differ by less than this fraction count as equal for the sign.
SIGN_TOLERANCE = 1e-6
#: Rows per column from which the triangle of a QR decomposition is made first.
TALL = 4


@dataclass(eq=False)
class Spectrum:
    """Directions in order of descending variance.

    ``singular_values`` are those of the centred rows, ``left`` has their left singular
    vectors, if these were computed.
    Directions without variance are completed by :func:`complete_directions`.
    """

    components: np.ndarray
    singular_values: np.ndarray
    left: np.ndarray | None = None

    def compute_scores(self, n_components):
        """Compute the first scores, with the signs of ``components``."""
        return self.left[:, :n_components] * self.singular_values[:n_components]


def decompose_matrix(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Decompose a covariance or correlation matrix."""
    # NumPy has computed the matrix. If its BLAS is not that of scipy, the threads of
    # the two would compete for the cores.
    variances, vectors = np.linalg.eigh(covariance)
    variances, components = variances[::-1].copy(), vectors.T[::-1]
    lowest = variances[-1]
    epsilon = np.finfo(variances.dtype).eps
    limit = max(10, len(variances)) * epsilon * abs(variances[0])
    rank = int((variances > limit).sum())
    variances[rank:] = 0.0
    components = complete_directions(components[:rank], len(variances))
    return variances, components, lowest


def decompose_rows(centered: np.ndarray) -> Spectrum:
    """Decompose centred rows by the singular value decomposition."""
    # LAPACK accepts the transpose of rows in C order without a copy.
    right, values, left = linalg.svd(
        centered.T, full_matrices=False, overwrite_a=True, check_finite=False
    )
    return _clean(right.T, values, left.T, centered.shape)


def decompose_triangle(triangle: np.ndarray, shape: tuple[int, int]) -> Spectrum:
    """Decompose centred rows of a shape by the triangle of their QR decomposition."""
    _, values, right = linalg.svd(triangle, check_finite=False)
    return _clean(right, values, None, shape)


def decompose_by_arpack(
    matrix, n_components: int, tol: float, random_state
) -> Spectrum:
    """Decompose centred rows, or an operator, by Lanczos iterations."""
    start = random_state.uniform(-1.0, 1.0, min(matrix.shape)).astype(matrix.dtype)
    left, values, right = svds(matrix, k=n_components, tol=tol, v0=start)
    return _clean(right[::-1], values[::-1], left[:, ::-1], matrix.shape)


def decompose_at_random(
    centered: np.ndarray, n_components: int, options: dict, random_state
) -> Spectrum:
    """Decompose centred rows by random projections (Halko et al.)."""
    with config_context(array_api_dispatch=False):  # numpy has an LU factorization
        left, values, right = randomized_svd(
            centered,
            n_components=n_components,
            flip_sign=False,
            random_state=random_state,
            **options,
        )
    return _clean(right, values, left, centered.shape)


def make_centered_operator(
    X,
    mean: np.ndarray,
    root_weight: np.ndarray | None = None,
    scale: np.ndarray | None = None,
):
    """Represent a centred sparse matrix, without making it dense."""
    by_row = np.ones(X.shape[0]) if root_weight is None else root_weight
    by_column = np.ones(X.shape[1]) if scale is None else 1.0 / scale
    transposed = X.T.tocsr()

    def multiply(V):
        V = by_column[:, np.newaxis] * V.reshape(X.shape[1], -1)
        return by_row[:, np.newaxis] * (X @ V - mean @ V)

    def multiply_transposed(V):
        V = by_row[:, np.newaxis] * V.reshape(X.shape[0], -1)
        product = transposed @ V - np.outer(mean, V.sum(axis=0))
        return by_column[:, np.newaxis] * product

    return LinearOperator(
        X.shape,
        matvec=multiply,
        rmatvec=multiply_transposed,
        matmat=multiply,
        rmatmat=multiply_transposed,
        dtype=np.float64,
    )


def _clean(components, values, left, shape):
    """Set variances to 0 that are 0 up to rounding, and drop their directions."""
    epsilon = np.finfo(values.dtype).eps
    limit = max(10, *shape) * epsilon * (values[0] if len(values) else 0.0)
    rank = int((values > limit).sum())
    values = values.copy()
    values[rank:] = 0.0
    if rank < len(values):
        components = complete_directions(components[:rank], len(values))
    return Spectrum(components, values, left)


def complete_directions(components: np.ndarray, n_needed: int) -> np.ndarray:
    """Add directions that are orthogonal to given ones.

    Directions without variance are arbitrary. Here they are determined by the others:
    each next one is the axis that is farthest from their span, minus its projection on
    it. So they are equal in two decompositions of the same rows.
    """
    n_known, n_columns = components.shape
    completed = np.empty((n_needed, n_columns), dtype=components.dtype)
    completed[:n_known] = components
    outside = 1.0 - np.einsum("ij,ij->j", components, components)
    for number in range(n_known, n_needed):
        axis = int(np.argmax(outside >= (1 - SIGN_TOLERANCE) * outside.max()))
        direction = np.zeros(n_columns, dtype=components.dtype)
        direction[axis] = 1.0
        before = completed[:number]
        for _ in range(2):  # twice, because of rounding
            direction -= (before @ direction) @ before
            direction /= np.linalg.norm(direction)
        completed[number] = direction
        outside -= direction**2
    return completed


def find_signs(components: np.ndarray) -> np.ndarray:
    """Signs that make the largest entry of each direction positive.

    Of entries that are equally large up to rounding, the first one counts.
    """
    size = np.abs(components)
    largest = size.max(axis=1, keepdims=True, initial=0.0)
    first = np.argmax(size >= (1.0 - SIGN_TOLERANCE) * largest, axis=1)
    entries = components[np.arange(len(components)), first]
    return np.where(entries < 0, -1.0, 1.0).astype(components.dtype)


def count_by_contribution(ratios: np.ndarray, threshold: float) -> int:
    """Count the components whose contributions sum to more than a threshold."""
    reached = np.searchsorted(np.cumsum(ratios), threshold, side="right") + 1
    return min(int(reached), len(ratios))


def estimate_dimension(variances: np.ndarray, n_samples: float) -> int:
    """Choose the number of components by Minka's likelihood."""
    likelihoods = [
        _compute_evidence(variances, rank, n_samples)
        for rank in range(1, len(variances))
    ]
    return 1 + int(np.argmax(likelihoods)) if likelihoods else 1


def _compute_evidence(variances, rank, n_samples):
    """Minka's Laplace approximation of the log evidence of a number of directions."""
    n_columns = len(variances)
    epsilon = 1e-15 * variances[0]
    if variances[rank - 1] < epsilon:
        return -math.inf
    noise = max(epsilon, variances[rank:].mean())
    kept = variances[:rank]
    steps = (n_columns - np.arange(rank)) / 2.0
    volume = (gammaln(steps) - math.log(math.pi) * steps).sum() - rank * math.log(2.0)
    flattened = np.concatenate((kept, np.full(n_columns - rank, noise)))
    i, j = np.triu_indices(n_columns, 1)
    i, j = i[i < rank], j[i < rank]
    gap = (variances[i] - variances[j]) / variances[0]
    curvature = gap * (variances[0] / flattened[j] - variances[0] / flattened[i])
    # Rotating two directions of equal variance changes nothing: such a pair has no
    # peak to approximate. Without noise between, the rank would separate equal ones.
    is_free = gap <= 1e-15
    if (is_free & (j >= rank)).any():
        return -math.inf
    n_pairs = int((~is_free).sum())
    peak = np.log(curvature[~is_free]).sum() + n_pairs * math.log(n_samples)
    return (
        volume
        - n_samples / 2.0 * np.log(kept).sum()
        - n_samples * (n_columns - rank) / 2.0 * math.log(noise)
        + (n_pairs + rank) / 2.0 * math.log(2.0 * math.pi)
        - peak / 2.0
        - rank * math.log(n_samples) / 2.0
    )
