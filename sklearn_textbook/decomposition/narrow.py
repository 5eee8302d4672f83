"""The first right singular vectors of tall and narrow tables."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.decomposition.direct import factor_by_lapack, find_gram_eigenpairs
from sklearn_textbook.decomposition.matrix import (
    find_largest,
    scale_matrix,
    unscale_values,
)
from sklearn_textbook.decomposition.signs import find_signs
from sklearn_textbook.decomposition.triangle import reduce_to_triangle


def find_right_vectors(X: np.ndarray, n_components: int, n_directions: int):
    r"""Find them among the leading eigenvectors of :math:`X^T X`, without squaring.

    The eigenvectors only select a few directions W. X is decomposed in these
    directions, :math:`X W = Q R`, so that errors of the singular values are of the
    order of the squares of the errors of W.
    """
    X, exponent = scale_matrix(X, find_largest(X))
    values, vectors = find_gram_eigenpairs(X)
    # Errors of eigenvectors grow with the square of the ratio of the values.
    smallest = np.finfo(X.dtype).eps ** 0.2 * values[0]  # a thousandth, in float64
    if values[n_components - 1] <= smallest:
        return None
    W = np.ascontiguousarray(vectors[:, :n_directions])
    _, s, Vt = factor_by_lapack(reduce_to_triangle(X @ W))
    Vt = Vt @ W.T
    return unscale_values(s, exponent), Vt * find_signs(Vt)[:, np.newaxis]
