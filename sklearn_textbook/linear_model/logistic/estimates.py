"""What the data determine of logistic coefficients, and how well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sklearn_textbook.linear_model.logistic.solvers import (
    factorise_scaled,
    invert_scaled,
)

#: Eigenvalues of the correlations up to this times their number count as zero.
ZERO_EIGENVALUE = 1e-13


@dataclass(frozen=True)
class Estimates:
    """Coefficients for the columns themselves, and their covariance.

    Parameters
    ----------
    coef : ndarray of shape (n_vectors, n_columns)
        Slopes.
    intercept : ndarray of shape (n_vectors,)
        Intercepts.
    covariance : ndarray of shape (n, n) or None
        Covariance of all, intercept first in each vector.
    is_determined : ndarray of bool, shape (n,) or None
        Whether the data determine them.
    """

    coef: np.ndarray
    intercept: np.ndarray
    covariance: np.ndarray | None
    is_determined: np.ndarray | None


def find_dependence(likelihood):
    """Find directions of the slopes in which no row has a score.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        With the table.

    Returns
    -------
    directions : ndarray of shape (n_columns, n_directions)
        A basis of slopes that change nothing, of unit length in units of the columns.
    """
    at = likelihood.evaluate(likelihood.start())
    first = int(likelihood.fit_intercept)
    block = at.hessian[: likelihood.n_parameters, : likelihood.n_parameters].copy()
    block[np.diag_indices(len(block))] -= likelihood.strength
    if likelihood.is_tied:
        block[0, 0] -= likelihood.total_weight
    products = block[first:, first:].copy()
    if first:  # the columns of a sparse table are not centred
        products -= np.outer(block[0, 1:], block[0, 1:]) / block[0, 0]
    # What rounding leaves of a constant column.
    squares = block.diagonal()[first:]
    is_constant = products.diagonal() <= ZERO_EIGENVALUE * squares * len(products)
    products[is_constant] = products[:, is_constant] = 0.0
    scale = np.sqrt(np.maximum(products.diagonal(), 0.0))
    scale[~(scale > 0.0)] = 1.0
    values, vectors = linalg.eigh(products / scale / scale[:, np.newaxis])
    is_null = values <= ZERO_EIGENVALUE * len(values)
    return vectors[:, is_null] / scale[:, np.newaxis]


def shorten_slopes(theta, directions, likelihood):
    """Take the slopes of least norm among those that give the same scores."""
    if not directions.shape[1]:
        return theta
    theta = theta.copy()
    first = int(likelihood.fit_intercept)
    slopes = theta[:, first:].T
    share, *_ = linalg.lstsq(directions, slopes)
    theta[:, first:] -= (directions @ share).T
    if first:
        # Of a sparse table, whose columns are not centred, the intercept takes over
        # what the directions gave to every row.
        theta[:, 0] += (find_constants(likelihood, directions) @ share).ravel()
    return theta


def find_constants(likelihood, directions):
    """Score that each direction gives to every row of the centred table."""
    return np.asarray(likelihood.X[[0]] @ directions).ravel() - (
        likelihood.centre @ directions
    )


def estimate_covariance(hessian, directions, likelihood):
    """Invert the Hessian in the directions that the data determine.

    Parameters
    ----------
    hessian : ndarray of shape (n, n)
        At the maximum.
    directions : ndarray of shape (n_columns, n_directions)
        As :func:`find_dependence` gives them.
    likelihood : LogisticLikelihood
        With the table.

    Returns
    -------
    covariance : ndarray of shape (n, n)
        Its inverse, of least norm in units of curvature.
    nothing : ndarray of shape (n_parameters, n_directions)
        Directions of all coefficients of a score that change nothing.
    """
    scale, factor = factorise_scaled(hessian)
    if factor is not None:
        inverse = linalg.cho_solve((factor, True), np.eye(len(hessian)))
    else:
        inverse = invert_scaled(hessian, scale)
    nothing = directions
    if likelihood.fit_intercept:
        constants = -find_constants(likelihood, directions)
        nothing = np.vstack([constants[np.newaxis], directions])
    return inverse / scale / scale[:, np.newaxis], nothing


def transform_estimates(likelihood, theta, covariance, nothing, is_spread):
    """Go from centred columns and one class less to what the estimator shows.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        With the table.
    theta : ndarray of shape (n_scores, n_parameters)
        Coefficients for centred columns.
    covariance : ndarray or None
        Their covariance.
    nothing : ndarray or None
        Directions that change nothing.
    is_spread : bool
        Whether the classes but the last are turned into all, which sum to zero.

    Returns
    -------
    estimates : Estimates
        For the columns themselves.
    """
    coef, intercept = likelihood.restore_coefficients(theta)
    n_classes = likelihood.n_classes
    spread = np.eye(likelihood.n_scores)
    if is_spread:
        spread = np.eye(n_classes)[:, :-1] - 1.0 / n_classes
    coef, intercept = spread @ coef, spread @ intercept
    if covariance is None:
        return Estimates(coef, intercept, None, None)
    moved = np.eye(likelihood.n_parameters)
    if likelihood.fit_intercept:
        moved[0, 1:] = -likelihood.centre
    turn = np.kron(spread, moved)
    is_determined = np.ones(len(moved), dtype=bool)
    if nothing.shape[1]:
        units = likelihood.units[:, np.newaxis]
        lengths = np.linalg.norm(moved / units.T, axis=1)
        nothing = nothing / np.linalg.norm(nothing * units, axis=0)
        share = np.abs(moved @ nothing).max(axis=1) / lengths
        is_determined = share <= 1e-7
    return Estimates(
        coef,
        intercept,
        turn @ covariance @ turn.T,
        np.tile(is_determined, len(spread)),
    )
