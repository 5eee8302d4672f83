"""Orthogonal basis of columns that are nearly or exactly dependent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
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
    """Span of the columns.

    Parameters
    ----------
    mean : ndarray of shape (n_columns,)
        Means of the columns; zeros without an intercept.
    directions : ndarray of shape (n_columns, rank)
        The centred columns, multiplied by these, are uncorrelated and have mean squares
        of 1.
    nothing : ndarray of shape (n_columns, n_columns - rank)
        Slopes that give every row the same score.
    """

    mean: np.ndarray
    directions: np.ndarray
    nothing: np.ndarray

    def turn(self, likelihood):
        """Return the same likelihood for the uncorrelated columns."""
        X = likelihood.X.toarray() if issparse(likelihood.X) else likelihood.X
        return LogisticLikelihood(
            (X - self.mean) @ self.directions,
            likelihood.codes,
            likelihood.n_classes,
            likelihood.weight,
            fit_intercept=likelihood.fit_intercept,
            is_symmetric=likelihood.n_scores == likelihood.n_classes,
            strength=0.0,
            n_threads=likelihood.n_threads,
        )

    def turn_start(self, likelihood, turned, theta):
        """Coefficients of the transformed columns that give about the same scores."""
        scores = likelihood.score_rows(theta)
        weight = np.ones(len(scores)) if turned.weight is None else turned.weight
        slopes = turned.X.T @ (weight[:, np.newaxis] * scores) / turned.total_weight
        if not likelihood.fit_intercept:
            return slopes.T
        return np.column_stack([np.average(scores, axis=0, weights=weight), slopes.T])

    def find_way_back(self, likelihood, turned):
        """Matrix from the transformed coefficients to those of the original columns."""
        if not likelihood.fit_intercept:
            return self.directions
        back = np.zeros((likelihood.n_parameters, turned.n_parameters))
        back[0, 0] = 1.0
        back[1:, 1:] = self.directions
        shift = self.mean - likelihood.centre
        back[0, 1:] = -turned.centre - shift @ self.directions
        return back


@dataclass(frozen=True)
class RowSpace:
    """Orthonormal basis of the centred rows of a wide table.

    The minimum with a penalty of equal squares is in the span of the rows, and the
    penalty is the same for the coefficients of the basis, of which there are few.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, rank)
        Coordinates of the rows.
    directions : ndarray of shape (n_columns, rank)
        The basis.
    """

    rows: np.ndarray
    directions: np.ndarray

    def turn(self, likelihood):
        """Return the same likelihood for the coordinates."""
        return LogisticLikelihood(
            self.rows,
            likelihood.codes,
            likelihood.n_classes,
            likelihood.weight,
            fit_intercept=likelihood.fit_intercept,
            is_symmetric=likelihood.n_scores == likelihood.n_classes,
            strength=likelihood.l2[0],
            n_threads=likelihood.n_threads,
        )

    def turn_start(self, likelihood, turned, theta):
        """Coefficients of the coordinates that give the same scores."""
        first = likelihood.fit_intercept
        slopes = theta[:, first:] @ self.directions
        shift = slopes @ turned.centre[:, np.newaxis]
        return np.column_stack(
            [theta[:, :first] + shift, slopes] if first else [slopes]
        )

    def find_way_back(self, likelihood, turned):
        """Matrix from the coefficients of the coordinates to those of the columns."""
        if not likelihood.fit_intercept:
            return self.directions
        back = np.zeros((likelihood.n_parameters, turned.n_parameters))
        back[0, 0], back[0, 1:] = 1.0, -turned.centre
        back[1:, 1:] = self.directions
        return back


def find_row_space(likelihood):
    """Find a basis of the rows of a table of many more columns than rows.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        With the table.

    Returns
    -------
    basis : RowSpace or None
        None if there are not so many columns, if the table is sparse, or if the penalty
        is not the same square for all columns.
    """
    n_rows, n_columns = likelihood.n_rows, likelihood.n_columns
    is_wide = n_columns > max(WIDE_COLUMNS, 2 * n_rows)
    if not is_wide or issparse(likelihood.X) or likelihood.l1.any():
        return None
    if not likelihood.l2[0] > 0.0 or np.ptp(likelihood.l2) > 0.0:
        return None
    rows = likelihood.X - likelihood.centre
    values, vectors = np.linalg.eigh(rows @ rows.T)
    is_large = values > MIN_CONDITION * values[-1]
    if (values[~is_large] > ZERO * values[-1]).any() or not values[-1] > 0.0:
        # Products would lose digits of the small ones.
        directions, triangle = np.linalg.qr(rows.T)
        return RowSpace(np.ascontiguousarray(triangle.T), directions)
    roots = np.sqrt(values[is_large])
    return RowSpace(
        vectors[:, is_large] * roots, rows.T @ (vectors[:, is_large] / roots)
    )


def find_basis(likelihood):
    """Find the rank and the span of the columns.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        With the table.

    Returns
    -------
    basis : Basis
        The basis, as accurate as the rounding of the columns allows.
    """
    X, total = likelihood.X, likelihood.total_weight
    reduced = reduce_rows(
        X,
        np.zeros((likelihood.n_rows, 1)),
        likelihood.weight,
        has_intercept=bool(likelihood.fit_intercept),
        n_threads=likelihood.n_threads,
    )
    triangle = reduced.slopes_triangle
    if issparse(X):
        largest = abs(X).max(axis=0).toarray().ravel()
    else:
        largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    rounding = N_ROUNDINGS * np.finfo(float).eps * np.sqrt(total) * largest
    lengths = np.linalg.norm(triangle, axis=0)
    is_constant = lengths <= rounding
    triangle = np.where(is_constant, 0.0, triangle)
    lengths = np.where(is_constant, 1.0, lengths)
    _, values, vectors = np.linalg.svd(triangle / lengths, full_matrices=True)
    values = np.append(values, np.zeros(len(vectors) - len(values)))
    shares = np.where(is_constant, 0.0, rounding / lengths)
    noise = np.sqrt(vectors**2 @ shares**2)
    is_kept = values > np.maximum(RANK_TOLERANCE * values.max(initial=0.0), noise)
    scaled = vectors.T / lengths[:, np.newaxis]
    return Basis(
        reduced.mean,
        scaled[:, is_kept] / values[is_kept] * np.sqrt(total),
        scaled[:, ~is_kept],
    )


def find_involved(likelihood, nothing):
    """Mask of the columns with a component in directions that change no score."""
    units = likelihood.units[likelihood.fit_intercept :]
    parts = np.abs(nothing) * units[:, np.newaxis]
    return (parts > 1e-7 * parts.max(axis=0)).any(axis=1)


def is_small_enough(likelihood):
    """Whether the table may be made dense."""
    if not issparse(likelihood.X):
        return True
    return likelihood.n_rows * likelihood.n_columns <= MAX_NUMBERS
