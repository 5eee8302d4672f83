"""The span of features, of which some may be combinations of others, or nearly so.

Along the weights of what is left of a feature that is nearly a combination of others,
the likelihood can rise much while its slope is below any usual tolerance. Other
coordinates, in which features are uncorrelated, have a slope for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from sklearn_textbook.linear_model.maximum_entropy.joint_features import (
    JointFeatures,
    split_blocks,
)
from sklearn_textbook.linear_model.solve.row_sums import find_largest
from sklearn_textbook.linear_model.solve.row_triangle import reduce_rows

#: A column is nearly dependent if others leave this fraction of its square, or less.
NEARLY_DEPENDENT = 1e-3
#: Fractions of a column, and of the largest singular value, that are rounding errors.
RANK_TOLERANCE = 3e-12
#: Number of rounding errors that a value may have accumulated.
N_ROUNDINGS = 4.0
#: Columns above which dependence is not looked for.
MAX_COLUMNS = 2000
#: Rows that are looked at first, and more of them for each column.
N_ROWS, N_PER_COLUMN = 500, 5


@dataclass(frozen=True, eq=False)
class Span:
    """Columns, or combinations of them, that have the same span as all of them.

    With shared features, a column has a weight for each class.
    """

    #: Some of the columns; None: all. Shape (n_independent,).
    columns: np.ndarray | None = None
    #: Uncorrelated combinations, if columns are nearly dependent, as weights of the
    #: columns for each of them. Shape (n_columns, n_independent).
    directions: np.ndarray | None = None
    #: Weights of these for each column. Shape (n_independent, n_columns).
    projection: np.ndarray | None = None
    #: Weights of a column.
    n_weights: int = 1

    def take(self, matrix: Any) -> Any:
        """Return the columns or combinations of them."""
        if self.directions is not None:
            return np.asarray(matrix @ self.directions)
        return matrix if self.columns is None else matrix[:, self.columns]

    def project(self, weights: np.ndarray) -> np.ndarray:
        """Weights of these that give the same scores, one row for each."""
        weights = weights.reshape(-1, self.n_weights)
        return weights if self.projection is None else self.projection @ weights

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Weights of all columns that give the same scores as those of the span."""
        if self.directions is not None:
            return self.directions @ weights
        if self.columns is None:
            return weights
        spread = np.zeros((self.projection.shape[1], weights.shape[1]))
        spread[self.columns] = weights
        return spread

    def gather(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes by the weights of the span, from those by all weights."""
        if self.directions is not None:
            return self.directions.T @ slopes
        return slopes if self.columns is None else slopes[self.columns]

    def restore(self, weights: np.ndarray) -> np.ndarray:
        """Weights of all columns that give the same scores as those of combinations."""
        if self.directions is None:
            return weights
        return self.spread(weights.reshape(-1, self.n_weights)).ravel()

    def turn(self, gradient: np.ndarray) -> np.ndarray:
        """Slopes by the weights of combinations, from those by all weights."""
        if self.directions is None:
            return gradient
        return self.gather(gradient.reshape(-1, self.n_weights)).ravel()


def find_span(
    features: JointFeatures,
    context_weight: np.ndarray,
    penalty: np.ndarray,
    find_rounding: Callable | None = None,
) -> Span:
    """Find out whether columns of features are dependent, or nearly so.

    Second derivatives of the loss at the start are sums of products of shared columns,
    or of what joint ones differ from their means over the classes of a row; rows that
    are some of all show whether they may be singular. ``find_rounding`` returns the
    possible errors of the values of each column; None: they are given numbers.
    """
    n_weights = 1 if features.is_joint else features.n_classes
    n_columns = features.n_columns
    is_usual = 1 < n_columns <= MAX_COLUMNS and features.n_classes > 1
    if not is_usual or not len(features.values):
        return Span(n_weights=n_weights)
    # The penalty is the same for all classes.
    added = penalty.reshape(n_columns, n_weights)[:, 0] / context_weight.sum()
    for contexts in (choose_contexts(features), None):
        some = features if contexts is None else features.take(contexts)
        weight = context_weight if contexts is None else context_weight[contexts]
        matrix, weight = _list_rows(some, weight)
        products = multiply_columns(matrix, weight) / weight.sum() / n_weights
        products[np.diag_indices(n_columns)] += added
        units = np.sqrt(products.diagonal())
        units[units == 0.0] = 1.0
        factor, order, rank, _ = lapack.dpstrf(
            products / units / units[:, np.newaxis], tol=NEARLY_DEPENDENT
        )
        if rank == n_columns:
            return Span(n_weights=n_weights)
        columns, others = order[:rank] - 1, order[rank:] - 1
        parts = solve_triangular(factor[:rank, :rank], factor[:rank, rank:])
        projection = np.zeros((rank, n_columns))
        projection[np.arange(rank), columns] = 1.0
        projection[:, others] = parts / units[columns, np.newaxis] * units[others]
        find_rounding = find_rounding or partial(_find_rounding, features.to_matrix())
        left = _draw_left(columns, others, projection, units)
        if _is_rounding(features, left, units, find_rounding):
            return Span(columns, None, projection, n_weights)
    matrix, weight = _list_rows(features, context_weight)
    rounding = find_rounding()
    return _find_combinations(matrix, weight, added, rounding, n_weights)


def choose_contexts(features: JointFeatures) -> np.ndarray | None:
    """Choose rows in equal distances, and one with an entry of each sparse column.

    None: all.
    """
    n_contexts = features.n_contexts
    step = n_contexts // (N_ROWS + N_PER_COLUMN * features.n_columns)
    if step < 2:
        return None
    chosen = np.arange(0, n_contexts, step)
    if not features.is_sparse:
        return chosen
    last = np.zeros(features.n_columns, dtype=np.int64)
    rows = np.repeat(np.arange(len(features.starts) - 1), np.diff(features.starts))
    last[features.columns] = rows // features.n_rows_per_context
    return np.union1d(chosen, last)


def _list_rows(features: JointFeatures, weight: np.ndarray):
    """Rows whose products are second derivatives, and their weights."""
    if not features.is_joint:
        return features.to_matrix(), weight
    blocks = split_blocks(features)
    mean = sum(blocks[1:], blocks[0]) / len(blocks)
    stack = sparse.vstack if features.is_sparse else np.vstack
    return stack([block - mean for block in blocks]), np.tile(weight, len(blocks))


def multiply_columns(matrix, weight: np.ndarray) -> np.ndarray:
    """Weighted products of the columns."""
    if sparse.issparse(matrix):
        rooted = sparse.csr_array(matrix.multiply(np.sqrt(weight)[:, np.newaxis]))
        return (rooted.T @ rooted).toarray()
    rooted = matrix * np.sqrt(weight)[:, np.newaxis]
    return rooted.T @ rooted


def _find_rounding(matrix) -> np.ndarray:
    """Find the possible errors of given values."""
    return np.finfo(float).eps * find_largest(matrix)


def _draw_left(columns, others, projection, units) -> np.ndarray:
    """Weights of a sum of what columns leave of others, with random factors."""
    factors = np.random.default_rng(0).uniform(1.0, 2.0, len(others)) / units[others]
    left = np.zeros(len(units))
    left[others], left[columns] = factors, -projection[:, others] @ factors
    return left


def _is_rounding(features, left, units, find_rounding) -> bool:
    """Whether a sum of columns is constant over the classes of each row, or 0."""
    rest = np.asarray(features.to_matrix() @ left)
    if features.is_joint:
        rest = rest.reshape(-1, features.n_classes)
        rest = rest - rest.mean(axis=1, keepdims=True)
    most, size = np.abs(rest).max(), np.abs(left)
    error = RANK_TOLERANCE * float(units @ size)
    if most > error:
        error += N_ROUNDINGS * float(find_rounding() @ size)
    return bool(most <= error)


def _find_combinations(matrix, weight, added, rounding, n_weights) -> Span:
    """Find uncorrelated combinations of columns from a triangle of their rows."""
    zeros = np.broadcast_to(0.0, (len(weight), 1))
    triangle = reduce_rows(matrix, zeros, weight, has_intercept=False).triangle
    triangle = triangle / np.sqrt(weight.sum() * n_weights)
    triangle = np.vstack([triangle, np.diag(np.sqrt(added))])
    lengths = np.linalg.norm(triangle, axis=0)
    lengths[lengths == 0.0] = 1.0
    _, values, vectors = np.linalg.svd(triangle / lengths, full_matrices=False)
    noise = N_ROUNDINGS / np.sqrt(n_weights) * np.abs(vectors) @ (rounding / lengths)
    is_kept = values > np.maximum(RANK_TOLERANCE * values.max(), noise)
    values, vectors = values[is_kept, np.newaxis], vectors[is_kept]
    directions = (vectors / lengths / values).T
    projection = vectors * lengths * values
    return Span(None, directions, projection, n_weights)
