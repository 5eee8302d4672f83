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
