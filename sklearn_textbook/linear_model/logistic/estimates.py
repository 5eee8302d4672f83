"""Logistic coefficients that the data determine, with their covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg


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
    errors : ndarray of shape (n,) or None
        Standard errors; NaN where the data do not determine a coefficient.
    """

    coef: np.ndarray
    intercept: np.ndarray
    covariance: np.ndarray | None = None
    errors: np.ndarray | None = None


def shorten_slopes(theta, directions, likelihood):
    """Take the slopes of least norm among those that give the same scores.

    Parameters
    ----------
    theta : ndarray of shape (n_scores, n_parameters)
        Coefficients for centred columns.
    directions : ndarray of shape (n_columns, n_directions)
        Slopes that give every row the same score.
    likelihood : LogisticLikelihood
        With the table.

    Returns
    -------
    theta : ndarray of shape (n_scores, n_parameters)
        The others.
    """
    if not directions.shape[1]:
        return theta
    theta = theta.copy()
    first = likelihood.fit_intercept
    slopes = theta[:, first:].T
    share, *_ = linalg.lstsq(directions, slopes)
    theta[:, first:] -= (directions @ share).T
    if first:
        # The columns of a sparse table are not centred: the intercept absorbs the
        # score that the directions give to every row.
        theta[:, 0] += (find_constants(likelihood, directions) @ share).ravel()
    return theta


def find_constants(likelihood, directions):
    """Score that each direction gives to every row of the centred table."""
    return np.asarray(likelihood.X[[0]] @ directions).ravel() - (
        likelihood.centre @ directions
    )


def spread_classes(vectors, axis=0):
    """Add a vector for the last class, so that all of them sum to zero."""
    zero = np.zeros_like(np.take(vectors, [0], axis))
    vectors = np.concatenate([vectors, zero], axis)
    return vectors - vectors.mean(axis, keepdims=True)


def transform_estimates(likelihood, theta, covariance, directions, is_spread):
    """Convert coefficients of centred columns to those of the estimator.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        With the table.
    theta : ndarray of shape (n_scores, n_parameters)
        Coefficients for centred columns.
    covariance : ndarray or None
        Their covariance.
    directions : ndarray of shape (n_columns, n_directions)
        Slopes that give every row the same score.
    is_spread : bool
        Whether to add coefficients of the last class, so that all sum to zero.

    Returns
    -------
    estimates : Estimates
        For the columns themselves.
    """
    coef, intercept = likelihood.restore_coefficients(theta)
    if is_spread:
        coef, intercept = spread_classes(coef), spread_classes(intercept)
    if covariance is None:
        return Estimates(coef, intercept)
    moved = np.eye(likelihood.n_parameters)
    if likelihood.fit_intercept:
        moved[0, 1:] = -likelihood.centre
    spread = np.eye(likelihood.n_scores)
    turn = np.kron(spread_classes(spread) if is_spread else spread, moved)
    covariance = turn @ covariance @ turn.T
    factors = np.ones(likelihood.n_parameters)
    factors[likelihood.fit_intercept :] = likelihood.factors
    factors = np.tile(factors, len(coef))
    # For columns of huge numbers, squares of standard errors underflow.
    errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0)) * factors
    is_determined = find_determined(likelihood, moved, directions)
    errors[~np.tile(is_determined, len(coef))] = np.nan
    with np.errstate(over="ignore", under="ignore"):
        covariance = covariance * factors * factors[:, np.newaxis]
    return Estimates(coef, intercept, covariance, errors)


def find_determined(likelihood, moved, directions):
    """Find which coefficients no direction changes.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        With the table.
    moved : ndarray of shape (n_parameters, n_parameters)
        Matrix from the coefficients of centred columns to those of the others.
    directions : ndarray of shape (n_columns, n_directions)
        Slopes that give every row the same score.

    Returns
    -------
    is_determined : ndarray of bool, shape (n_parameters,)
        The intercept first.
    """
    if not directions.shape[1]:
        return np.ones(len(moved), dtype=bool)
    units = likelihood.units[:, np.newaxis]
    if likelihood.fit_intercept:
        directions = np.vstack([-find_constants(likelihood, directions), directions])
    lengths = np.linalg.norm(moved / units.T, axis=1)
    directions = directions / np.linalg.norm(directions * units, axis=0)
    return np.abs(moved @ directions).max(axis=1) / lengths <= 1e-7
