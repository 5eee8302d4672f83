"""The right singular vectors of tall tables, by passes over blocks of their rows."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.blocks import BLOCK_ROWS
from sklearn_textbook.decomposition.direct import decompose_gram, factor_by_lapack
from sklearn_textbook.decomposition.matrix import (
    find_largest_of_rows,
    scale_matrix,
    unscale_values,
)
from sklearn_textbook.decomposition.signs import find_signs
from sklearn_textbook.decomposition.triangle import count_triangle_rows, reduce_blocks
from sklearn_textbook.linear_model.design.block_rows import cut_rows


def find_right_vectors(X, n_components: int, n_directions: int):
    r"""Find them among the leading eigenvectors of :math:`X^T X`, without squaring.

    The eigenvectors only select a few directions W. X is decomposed in these
    directions, :math:`X W = Q R`, so that errors of the singular values are of the
    order of the squares of the errors of W.
    """
    largest = find_largest_of_rows(X)
    products, exponent = _sum_products(X, largest)
    values, vectors = decompose_gram(products)
    # Errors of eigenvectors grow with the square of the ratio of the values.
    smallest = np.finfo(X.dtype).eps ** 0.2 * values[0]  # a thousandth, in float64
    if values[n_components - 1] <= smallest:
        return None
    W = np.ascontiguousarray(vectors[:, :n_directions])
    step = count_triangle_rows(n_directions)
    blocks = (scale_matrix(rows, largest)[0] @ W for (rows,) in cut_rows(step, X))
    _, s, Vt = factor_by_lapack(reduce_blocks(blocks, n_directions, X.dtype))
    Vt = Vt @ W.T
    return unscale_values(s, exponent), Vt * find_signs(Vt)[:, np.newaxis]


def find_gram_vectors(X):
    r"""Find all of them by the eigenvectors of :math:`X^T X`."""
    products, exponent = _sum_products(X, find_largest_of_rows(X), np.float64)
    values, vectors = decompose_gram(products)
    Vt = vectors.T.copy()
    return unscale_values(values, exponent), Vt * find_signs(Vt)[:, np.newaxis]


def _sum_products(X, largest, dtype=None):
    """Add up the products of the columns, scaled by a power of two."""
    dtype = X.dtype if dtype is None else dtype
    products, exponent = np.zeros((X.shape[1], X.shape[1]), dtype=dtype), 0
    for (rows,) in cut_rows(BLOCK_ROWS, X):
        scaled, exponent = scale_matrix(rows.astype(dtype, copy=False), largest)
        products += scaled.T @ scaled
    return products, exponent
