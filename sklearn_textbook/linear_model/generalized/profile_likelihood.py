"""Confidence intervals by the profile of the likelihood (轮廓似然)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sklearn_textbook.linear_model.generalized.reweighting import (
    Fit,
    Problem,
    fit_reweighted,
)

#: Accuracy of the fits, and of the deviance at the ends of an interval.
FIT_TOLERANCE, END_TOLERANCE = 1e-11, 1e-7
#: Half widths of Wald's interval after which an end counts as infinitely far away.
FARTHEST = 1e3
MAX_FITS = 60


def find_profile_interval(
    problem: Problem,
    fit: Fit,
    position: int,
    covariance: np.ndarray,
    limit: float,
    dispersion: float,
) -> tuple[float, float]:
    r"""Find the interval of one coefficient in which the deviance is small.

    At both ends :math:`\sqrt{(D(b) - D) / \phi}` is the limit, where D(b) is the
    smallest deviance with the coefficient held at b.

    Returns (low, high).
    """
    measure = _Profile(problem, fit, position, covariance, dispersion)
    error = np.sqrt(covariance[position, position])
    return find_interval(measure, fit.coef[position], error, limit)


def find_profile_intervals(
    problem: Problem,
    coef: np.ndarray,
    errors: np.ndarray,
    covariance: np.ndarray,
    limit: float,
    dispersion: float = 1.0,
) -> np.ndarray:
    """Find the intervals of all coefficients; NaN for those without an error.

    Vectors have the intercept first, also without one.
    """
    problem = replace(problem, tol=min(problem.tol, FIT_TOLERANCE))
    fit = fit_reweighted(problem, None, coef)
    return np.array(
        [
            find_profile_interval(problem, fit, position, covariance, limit, dispersion)
            if np.isfinite(errors[position])
            else (np.nan, np.nan)
            for position in range(0 if problem.fit_intercept else 1, len(errors))
        ]
    ).reshape(-1, 2)


def find_interval(
    measure: Callable[[float], float], estimate: float, error: float, limit: float
) -> tuple[float, float]:
    """Find where a function that grows from 0 at the estimate has reached a limit."""
    low, high = (
        _find_end(measure, estimate, side * limit * error, limit)
        for side in (-1.0, 1.0)
    )
    return low, high


class _Profile:
    """Signed roots of the increase of the deviance for a fixed coefficient."""

    def __init__(
        self, problem: Problem, fit: Fit, position, covariance, dispersion
    ) -> None:
        self.deviance, self.dispersion = fit.deviance, dispersion
        n_columns = problem.X.shape[1]
        others = [column for column in range(n_columns) if column != position - 1]
        self.rest = replace(
            problem.select(others),
            fit_intercept=problem.fit_intercept and position > 0,
            tol=min(problem.tol, FIT_TOLERANCE),
        )
        self.offset = 0.0 if problem.offset is None else problem.offset
        self.column = np.ones(len(problem.y))
        if position > 0:
            chosen = problem.X[:, [position - 1]]
            chosen = chosen.toarray() if hasattr(chosen, "toarray") else chosen
            self.column = chosen[:, 0]
        self.position, self.coef = position, fit.coef
        # Change of the others with this one, for a quadratic deviance.
        self.moves = covariance[position] / covariance[position, position]

    def __call__(self, value):
        problem = replace(self.rest, offset=self.offset + value * self.column)
        start = self.coef + self.moves * (value - self.coef[self.position])
        if self.position > 0:
            start = np.delete(start, self.position)
        else:
            start[0] = 0.0
        try:
            fit = fit_reweighted(problem, None, start)
        except ValueError:
            return np.inf  # no row has a valid mean there
        return np.sqrt(max(fit.deviance - self.deviance, 0.0) / self.dispersion)


def _find_end(measure, estimate, half, limit):
    """Find where the root is the limit, from Wald's end; it is nearly linear."""
    inside, at_inside = estimate, 0.0
    outside, at_outside = None, np.inf
    value = estimate + half
    for count in range(MAX_FITS):
        root = measure(value)
        if abs(root - limit) <= END_TOLERANCE * limit:
            return value
        if root < limit:
            inside, at_inside = value, root
        else:
            outside, at_outside = value, root
        if outside is None:
            factor = min(4.0, 1.02 * limit / root) if root > 0.0 else 4.0
            value = estimate + factor * (value - estimate)
            if abs(value - estimate) > FARTHEST * abs(half):
                return np.sign(half) * np.inf
        elif np.isfinite(at_outside) and count % 4 != 3:
            fraction = (limit - at_inside) / (at_outside - at_inside)
            value = inside + fraction * (outside - inside)
        else:
            value = 0.5 * (inside + outside)
    return value
