"""Maximum likelihood of the shape theta of the negative binomial family."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import digamma, polygamma

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.linear_model.generalized.families import (
    NegativeBinomialFamily,
)
from sklearn_textbook.linear_model.generalized.reweighting import (
    Fit,
    Problem,
    fit_reweighted,
)
from sklearn_textbook.linear_model.solve.row_blocks import read_rows

#: Multiple of the average mean above which theta counts as infinite, and the smallest.
LARGEST_THETA, SMALLEST_THETA = 1e7, 1e-12
#: From this theta on, differences of digamma are computed by their expansion.
LARGE_THETA = 1e3
#: Smallest relative changes of theta that count for one mean, and at the end.
ROUNDING, SETTLED = 1e-12, 1e-9
#: Tolerance of the fits for one theta.
FIT_TOLERANCE = 1e-11
MAX_STEPS = 200


def fit_negative_binomial(
    problem: Problem, base: np.ndarray | None, start: np.ndarray | None
) -> Fit:
    """Maximise the likelihood of the coefficients and of theta, one after the other.

    As in R's ``MASS::glm.nb``, except that theta is first infinite, or that of
    ``problem.family``. The family of the rows of the result has the estimate.
    """
    if not problem.means.mean > 0.0:
        raise ValueError(
            "theta='estimate' requires some values of y above 0; all are 0. Give "
            "theta, or use family='poisson'."
        )
    settled = max(problem.tol, SETTLED)
    problem = replace(problem, tol=min(problem.tol, FIT_TOLERANCE))
    path, n_iter = [], 0
    fit = fit_reweighted(problem, base, start)
    is_settled = False
    for _ in range(problem.max_iter):
        n_iter += fit.n_iter
        path.append(fit.deviance_path)
        if is_settled:
            break
        before = fit.rows.family.theta
        theta = estimate_theta(fit, before)
        is_settled = theta == before or (
            abs(theta - before) <= settled * theta < np.inf
        )
        problem = replace(problem, family=NegativeBinomialFamily(theta=theta))
        fit = fit_reweighted(problem, base, fit.coef)
    return replace(
        fit,
        n_iter=n_iter,
        deviance_path=np.concatenate(path),
        has_converged=fit.has_converged and is_settled,
    )


def estimate_theta(fit: Fit, start: float = np.inf) -> float:
    """Maximise the likelihood of theta for given means; infinite if it has no maximum.

    Newton's steps in the logarithm of theta stay between values with derivatives of
    opposite sign.
    """
    rows = fit.rows
    total, size, excess = _add_up(rows, _measure_excess)
    low, high = SMALLEST_THETA * size / total, LARGEST_THETA * size / total
    if _add_up(rows, lambda y, mean: _differentiate(y, mean, high))[1] > 0.0:
        return np.inf
    theta = start
    if not theta < high:
        theta = max(low, min(total / max(excess, ROUNDING), high))
    for _ in range(MAX_STEPS):
        at = theta
        _, slope, curvature = _add_up(
            rows, lambda y, mean, at=at: _differentiate(y, mean, at)
        )
        if slope > 0.0:
            low = theta
        else:
            high = theta
        # The derivatives by the logarithm.
        slope, curvature = theta * slope, theta * (slope + theta * curvature)
        step = -slope / curvature if curvature < 0.0 else np.inf
        theta = theta * np.exp(step) if abs(step) < 5.0 else np.nan
        if not low < theta < high:
            theta = np.sqrt(low * high)
        if abs(theta - at) <= ROUNDING * theta:
            break
    return float(theta)


def measure_theta_error(fit: Fit) -> float:
    """Measure the standard error of theta by the curvature of the likelihood."""
    theta = fit.rows.family.theta
    if np.isinf(theta):
        return np.nan
    _, _, curvature = _add_up(fit.rows, lambda y, mean: _differentiate(y, mean, theta))
    return float(1.0 / np.sqrt(-curvature)) if curvature < 0.0 else np.nan


def _add_up(rows, function):
    """Add up the weights, and weighted functions of y and of the means, by blocks."""
    sums = np.zeros(3)
    for block in list_blocks(len(rows.y)):
        weight = read_rows(rows.weight, block)
        found = function(read_rows(rows.y, block), rows.mean[block])
        sums += (weight.sum(), *(weight @ each for each in found))
    return sums


def _measure_excess(y, mean):
    """Means, and squares of relative residuals, whose average is about 1 / theta."""
    return mean, np.square(y / mean - 1.0)


def _differentiate(y, mean, theta):
    """First and second derivative of the log-likelihood of rows by theta."""
    ratio = (y - mean) / (mean + theta)
    if theta < LARGE_THETA:
        slope = digamma(theta + y) - digamma(theta) - np.log1p(mean / theta) - ratio
        curvature = polygamma(1, theta + y) - polygamma(1, theta)
        curvature += mean / (theta * (mean + theta)) + ratio / (mean + theta)
        return slope, curvature
    # Differences of series in 1 / theta, which would cancel term by term.
    one, other = 1.0 / theta, 1.0 / (theta + y)
    slope = np.log1p(ratio) - ratio + 0.5 * y * one * other
    slope += (one**2 - other**2) / 12.0 - (one**4 - other**4) / 120.0
    curvature = np.square(ratio) * other
    curvature += 0.5 * (other**2 - one**2) + (other**3 - one**3) / 6.0
    return slope, curvature
