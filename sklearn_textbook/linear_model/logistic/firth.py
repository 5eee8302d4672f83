"""Firth's penalised likelihood of two classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.linear_model.logistic.curvature import (
    HessianFactor,
    factor_hessian,
    write_columns,
)
from sklearn_textbook.linear_model.logistic.likelihood import (
    Evaluation,
    LogisticLikelihood,
)
from sklearn_textbook.linear_model.logistic.solvers import NEGLIGIBLE, Solution
from sklearn_textbook.linear_model.solve.quasi_newton import MAX_HALVINGS
from sklearn_textbook.linear_model.solve.row_blocks import read_rows

#: Relative change of the loss due to rounding.
ROUNDING = 1e-13
#: Number of steps that the next one takes into account, and the least curvature along
#: these, as a fraction of that of the information.
MEMORY, CURVED = 10, 1e-3
#: Largest change of a score, in units of its column, by the first trial of a step.
LONGEST = 5.0
#: Iterations and tolerance of the fits of a profile.
PROFILE_ITERATIONS, PROFILE_TOLERANCE = 1000, 1e-9
#: Distance of further starts of these, in standard errors.
SHIFT = 0.5


@dataclass(frozen=True)
class _Penalised:
    """The penalised likelihood at some coefficients."""

    at: Evaluation
    factor: HessianFactor
    #: Negative log-likelihood minus half of the log-determinant of the information.
    loss: float


def solve_firth(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
    directions: np.ndarray | None = None,
) -> Solution:
    r"""Maximise the likelihood times Jeffreys' prior.

    With the information :math:`I = Z^T W Z`, the leverages h of the rows and their
    probabilities p, the penalised log-likelihood :math:`\ell + \frac{1}{2} \ln \det I`
    has the derivatives :math:`\sum_i (w_i (y_i - p_i) + h_i (\frac{1}{2} - p_i)) z_i`.
    Steps are these, divided by the information with the changes of the gradient in the
    last steps (limited-memory BFGS), and halved. Parameters and results are those of
    ``solve_newton``; with ``directions``, of shape (n, n_directions), the coefficients
    only move along these.
    """
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    before = np.zeros(0)
    change = np.zeros(0)
    here = _evaluate(likelihood, theta)
    if here is None:
        raise ValueError(
            "firth=True found no information on the coefficients at its start: the "
            "weights or the columns have extreme scales."
        )
    path = [here.loss]
    while True:
        gradient = _differentiate(likelihood, theta, here)
        hessian = here.at.hessian
        if directions is not None:
            gradient = directions.T @ gradient
            hessian = directions.T @ hessian @ directions
        if len(change):
            difference = float(change @ (gradient - before))
            if difference > CURVED * float(change @ hessian @ change):
                pairs = [*pairs[1 - MEMORY :], (change, gradient - before)]
        before = gradient
        along = _correct_step(hessian, gradient, pairs)
        decrease = float(gradient @ along)
        step = along if directions is None else directions @ along
        if not decrease > tol**2 * likelihood.total_weight:
            return Solution(theta - step.reshape(theta.shape), path, True)
        if len(path) > max_iter:
            return Solution(theta, path, False, "iterations", here.at)
        longest = np.abs(step * likelihood.units).max()
        length = min(1.0, LONGEST / longest)
        for _ in range(MAX_HALVINGS):
            moved = theta - length * step.reshape(theta.shape)
            found = _evaluate(likelihood, moved)
            slack = ROUNDING * (abs(here.loss) + likelihood.total_weight)
            if found is not None and found.loss <= here.loss + slack:
                break
            length /= 2.0
        else:
            if pairs:
                pairs, change = [], np.zeros(0)
                continue
            is_end = decrease <= NEGLIGIBLE
            return Solution(theta, path, is_end, "rounding", here.at)
        theta, here, change = moved, found, -length * along
        path.append(here.loss)
        if report(theta, path[-1]):
            return Solution(theta, path, False, "callback", here.at)


def _evaluate(likelihood, theta):
    """Evaluate the penalised likelihood; None if the information is singular."""
    at = likelihood.evaluate(theta)
    factor = factor_hessian(at.hessian, smallest=0.0)
    if factor is None:
        return None
    determinant = np.log(factor.factor.diagonal()).sum() + np.log(factor.scale).sum()
    return _Penalised(at, factor, at.loss - float(determinant))


def _differentiate(likelihood, theta, here):
    """Differentiate the penalised loss, in one pass over the rows."""
    gradient = here.at.gradient.ravel().copy()
    for rows in list_blocks(likelihood.n_rows):
        X, roots = write_columns(likelihood, rows)
        scores = likelihood.score_rows(theta, read_rows(likelihood.X, rows))[:, 0]
        second, first = expit(scores), expit(-scores)
        halves = linalg.solve_triangular(
            here.factor.factor, (X / here.factor.scale).T, lower=True
        )
        leverage = roots**2 * second * first * np.einsum("ji,ji->i", halves, halves)
        gradient -= X.T @ (leverage * 0.5 * (first - second))
    return gradient


def _correct_step(hessian, gradient, pairs):
    """Find a step by the two loops of limited-memory BFGS."""
    rest, factors = gradient.copy(), []
    for change, difference in reversed(pairs):
        multiple = (change @ rest) / (change @ difference)
        factors.append(multiple)
        rest -= multiple * difference
    if not len(rest):
        return rest
    factor = factor_hessian(hessian, smallest=0.0)
    if factor is None:
        step = np.linalg.lstsq(hessian, rest)[0]
    else:
        step = factor.find_step(rest)
    for (change, difference), multiple in zip(pairs, reversed(factors), strict=True):
        step = step + change * (multiple - (difference @ step) / (change @ difference))
    return step


def measure_null(likelihood: LogisticLikelihood) -> float:
    """Minimise the penalised loss of slopes of zero; the information is of all."""
    free = np.eye(likelihood.n_parameters)[:, : likelihood.fit_intercept]
    found = solve_firth(
        *(likelihood, likelihood.start(), PROFILE_ITERATIONS, PROFILE_TOLERANCE),
        _report_nothing,
        free,
    )
    return found.loss_path[-1]


def _report_nothing(theta, loss):
    """Do not stop."""
    return False


class FirthProfile:
    """Signed roots of twice the increase of the penalised loss."""

    def __init__(
        self, likelihood: LogisticLikelihood, theta: np.ndarray, vector: np.ndarray
    ) -> None:
        self.likelihood, self.theta, self.vector = likelihood, theta, vector
        here = _evaluate(likelihood, theta)
        self.loss, self.estimate = here.loss, float(vector @ theta.ravel())
        inverse = here.factor.invert()
        along = inverse @ vector
        #: Change of all coefficients with this one, for a quadratic loss.
        self.moves = along / (vector @ along)
        aside = SHIFT * np.sqrt(inverse.diagonal())
        aside -= (vector @ aside) * self.moves
        #: The loss with a fixed coefficient may have several minima, and a saddle point
        #: where a table is symmetric: each fit also begins on both sides of this path.
        self.starts = (np.zeros_like(aside), aside, -aside)
        units = likelihood.units
        self.directions = linalg.null_space((vector / units)[np.newaxis])
        self.directions /= units[:, np.newaxis]

    def __call__(self, value):
        """Fit with the coefficient held at a value."""
        theta = self.theta + (value - self.estimate) * self.moves
        losses = [np.inf]
        for aside in self.starts:
            start = theta + aside
            if _evaluate(self.likelihood, start) is None:
                continue  # all probabilities are 0 or 1 there
            found = solve_firth(
                *(self.likelihood, start, PROFILE_ITERATIONS, PROFILE_TOLERANCE),
                *(_report_nothing, self.directions),
            )
            losses.append(found.loss_path[-1])
        return np.sqrt(2.0 * max(min(losses) - self.loss, 0.0))
