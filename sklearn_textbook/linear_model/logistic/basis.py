"""Orthogonal basis of columns that are nearly or exactly dependent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.solve.row_blocks import (
    is_sparse,
    map_rows,
    read_rows,
    read_weights,
)
from sklearn_textbook.linear_model.solve.row_sums import find_largest
from sklearn_textbook.linear_model.solve.row_triangle import reduce_rows

#: Singular values of columns of unit length up to this fraction of the largest are
#: zero.
RANK_TOLERANCE = 1e-12
#: Number of rounding errors that a value may have accumulated.
N_ROUNDINGS = 4.0
#: Tables with more columns than this, and than twice the rows, may be solved in the
#: space of their rows.
WIDE_COLUMNS = 1000
#: Eigenvalues of the products of rows, as fractions of the largest, that keep eleven
#: digits, and that are rounding errors of zero.
MIN_CONDITION, ZERO = 1e-4, 1e-13
#: Numbers of a table that is made dense for its basis: 1 GiB.
MAX_NUMBERS = 2**27


@dataclass(frozen=True)
class Basis:
    """Coordinates in which a table is easier to fit.

    ``directions`` are slopes of the coordinates, of shape (n_columns, n_coordinates);
    ``nothing`` are slopes that give every row the same score. ``rows`` are given where
    the directions are orthonormal and the penalty is the same for all columns: the
    minimum is then in the span of the rows, and the penalty is that of the coordinates.
    """

    mean: np.ndarray
    directions: np.ndarray
    nothing: np.ndarray
    rows: np.ndarray | None = None

    def turn(self, likelihood: LogisticLikelihood):
        """Return the same likelihood for the coordinates, and the way back.

        The way back is a matrix from the coefficients of the coordinates to those of
        the columns; both are None if the table would have to be dense and is too large.
        """
        rows, directions = self.rows, self.directions
        if rows is None:
            X = likelihood.X
            if is_sparse(X) and X.shape[0] * X.shape[1] > MAX_NUMBERS:
                return None, None
            rows = map_rows(X, self._turn_rows, directions.shape[1])
        turned = likelihood.replace_columns(rows, likelihood.l2[0])
        if not likelihood.fit_intercept:
            return turned, directions
        back = np.zeros((likelihood.n_parameters, turned.n_parameters))
        back[0, 0], back[1:, 1:] = 1.0, directions
        back[0, 1:] = -turned.centre - (self.mean - likelihood.centre) @ directions
        return turned, back

    def _turn_rows(self, X):
        """Coordinates of a block of rows."""
        return ((X.toarray() if issparse(X) else X) - self.mean) @ self.directions

    def turn_start(
        self,
        likelihood: LogisticLikelihood,
        turned: LogisticLikelihood,
        theta: np.ndarray,
    ) -> np.ndarray:
        """Coefficients of the coordinates that give about the same scores."""
        first = likelihood.fit_intercept
        if self.rows is not None:
            slopes = theta[:, first:] @ self.directions
            means = theta[:, :first] + slopes @ turned.centre[:, np.newaxis]
            return np.column_stack([means, slopes] if first else [slopes])
        slopes, means = np.zeros((turned.n_columns, likelihood.n_scores)), 0.0
        for rows, scores in likelihood.read_scores(theta):
            weight = read_weights(turned.weight, rows, len(scores))[:, np.newaxis]
            slopes += read_rows(turned.X, rows).T @ (weight * scores)
            means = means + (scores * weight).sum(axis=0)
        slopes, means = slopes / turned.total_weight, means / turned.total_weight
        return np.column_stack([means, slopes.T]) if first else slopes.T


def find_row_space(likelihood: LogisticLikelihood) -> Basis | None:
    """Find an orthonormal basis of the rows of a table of many more columns than rows.

    None if there are not so many columns, if the table is sparse, or if the penalty is
    not the same square for all columns.
    """
    n_rows, n_columns = likelihood.n_rows, likelihood.n_columns
    is_wide = n_columns > max(WIDE_COLUMNS, 2 * n_rows)
    if not is_wide or is_sparse(likelihood.X) or likelihood.l1.any():
        return None
    if not likelihood.l2[0] > 0.0 or np.ptp(likelihood.l2) > 0.0:
        return None
    centre, nothing = likelihood.centre, np.zeros((n_columns, 0))
    rows = likelihood.X[:] - centre
    values, vectors = np.linalg.eigh(rows @ rows.T)
    is_large = values > MIN_CONDITION * values[-1]
    if (values[~is_large] > ZERO * values[-1]).any() or not values[-1] > 0.0:
        # Products would lose digits of the small ones.
        directions, triangle = np.linalg.qr(rows.T)
        return Basis(centre, directions, nothing, np.ascontiguousarray(triangle.T))
    roots = np.sqrt(values[is_large])
    directions = rows.T @ (vectors[:, is_large] / roots)
    return Basis(centre, directions, nothing, vectors[:, is_large] * roots)


def find_basis(likelihood: LogisticLikelihood) -> Basis:
    """Find the rank and the span of the columns."""
    X, total = likelihood.X, likelihood.total_weight
    reduced = reduce_rows(
        X,
        np.broadcast_to(0.0, (likelihood.n_rows, 1)),
        likelihood.weight,
        has_intercept=bool(likelihood.fit_intercept),
        n_threads=likelihood.n_threads,
    )
    triangle = reduced.slopes_triangle
    rounding = N_ROUNDINGS * np.finfo(float).eps * np.sqrt(total) * find_largest(X)
    lengths = np.linalg.norm(triangle, axis=0)
    is_constant = lengths <= rounding
    triangle = np.where(is_constant, 0.0, triangle)
    lengths = np.where(is_constant, 1.0, lengths)
    _, values, vectors = np.linalg.svd(triangle / lengths, full_matrices=True)
    values = np.append(values, np.zeros(len(vectors) - len(values)))
    fractions = np.where(is_constant, 0.0, rounding / lengths)
    noise = np.sqrt(vectors**2 @ fractions**2)
    is_kept = values > np.maximum(RANK_TOLERANCE * values.max(initial=0.0), noise)
    scaled = vectors.T / lengths[:, np.newaxis]
    return Basis(
        reduced.mean,
        scaled[:, is_kept] / values[is_kept] * np.sqrt(total),
        scaled[:, ~is_kept],
    )


def find_involved(likelihood: LogisticLikelihood, nothing):
    """Mask of the columns with a component in directions that change no score."""
    units = likelihood.units[likelihood.fit_intercept :]
    parts = np.abs(nothing) * units[:, np.newaxis]
    return (parts > 1e-7 * parts.max(axis=0)).any(axis=1)
