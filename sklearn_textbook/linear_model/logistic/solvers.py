"""Solvers that maximise the likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg, optimize

from sklearn_textbook.linear_model.logistic.curvature import (
    HessianFactor,
    factor_curvature,
)
from sklearn_textbook.linear_model.logistic.likelihood import (
    GRADIENT,
    Evaluation,
    LogisticLikelihood,
)
from sklearn_textbook.linear_model.logistic.sample_start import whiten_columns
from sklearn_textbook.linear_model.solve._row_sums import descend_coordinates
from sklearn_textbook.linear_model.solve.quasi_newton import (
    HIDDEN,
    MAX_HALVINGS,
    SUFFICIENT_DECREASE,
    minimize_bfgs,
    minimize_lbfgs,
)
from sklearn_textbook.linear_model.solve.row_blocks import take_columns

#: Maximum number of successive Newton steps that do not reduce the loss, and expected
#: decrease that is negligible.
MAX_IDLE, NEGLIGIBLE = 5, 1e-6
#: Relative change of the loss due to rounding.
ROUNDING = 1e-14
#: Sweeps of coordinate descent for one step, and the fraction of the root of the
#: largest decrease so far at which they end.
MAX_SWEEPS, SWEEP_TOLERANCE = 200, 1e-2
#: Systems of equations that are solved where these sweeps do not end.
MAX_SYSTEMS = 200
#: Added to their unit diagonal, so that they have a solution.
DAMPING = 1e-11
#: Minimum number of columns of the first working set.
FIRST_COLUMNS = 100
#: Maximum number of coefficients of a working set: steps of more take longer than all
#: iterations of L-BFGS.
MAX_WORKING = 1000
#: Maximum number of steps with the Hessian of a sample.
MAX_LATE = 60
#: Maximum number of columns that L-BFGS makes uncorrelated.
MAX_WHITENED = 1000


@dataclass
class Solution:
    """Result of a solver."""

    #: Coefficients for centred columns. Shape (n_scores, n_parameters).
    theta: np.ndarray
    #: Loss at the start and after each iteration.
    loss_path: list
    #: Whether it converged.
    is_converged: bool
    #: Why it stopped otherwise: "iterations", "rounding" or "callback".
    reason: str = ""
    #: Likelihood and derivatives there, if the solver computes the Hessian.
    at: Evaluation | None = None


def solve_newton(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
) -> Solution:
    r"""Newton's method (牛顿法) with step halving.

    .. math:: \theta \leftarrow \theta - t H^{-1} g

    with t = 1, halved until the loss decreases enough. It stops when the expected
    decrease, half of :math:`g^T H^{-1} g`, is no more than ``tol ** 2 / 2`` for each
    row. This last step is still taken, but the loss after it is not computed. With a
    penalty of absolute values, coordinate descent finds the step.
    """
    at = likelihood.evaluate(theta)
    path, n_idle = [at.loss], 0
    find_step = find_sparse_step if likelihood.l1.any() else find_newton_step
    while True:
        step, decrease = find_step(likelihood, theta, at)
        if not decrease > tol**2 * likelihood.total_weight:
            return Solution(theta - step, path, True, at=at)
        if len(path) > max_iter:
            return Solution(theta, path, False, "iterations", at)
        if n_idle > MAX_IDLE:
            # Steps that change only rounding errors.
            return Solution(theta, path, decrease <= NEGLIGIBLE, "rounding", at)
        length, found = 1.0, None
        for _ in range(MAX_HALVINGS):
            found = likelihood.evaluate(theta - length * step)
            if is_decrease(at.loss, found.loss, length * decrease):
                break
            length /= 2.0
        else:
            # Rounding prevents further progress.
            return Solution(theta, path, decrease <= NEGLIGIBLE, "rounding", at)
        n_idle = n_idle + 1 if found.loss >= at.loss else 0
        theta, at = theta - length * step, found
        path.append(at.loss)
        if report(theta, path[-1]):
            return Solution(theta, path, False, "callback", at)


def find_newton_step(likelihood: LogisticLikelihood, theta: np.ndarray, at: Evaluation):
    """Solve for the Newton step.

    Returns (step, decrease).
    """
    factor = factor_curvature(likelihood, theta, at, is_for_step=True)
    step = factor.find_step(at.gradient)
    return step, float((step * at.gradient).sum())


def find_sparse_step(likelihood: LogisticLikelihood, theta: np.ndarray, at: Evaluation):
    """Find the step to the minimum of the quadratic model with absolute values.

    Parameters and results are those of :func:`find_newton_step`.
    """
    l1 = np.zeros(likelihood.shape)
    l1[:, likelihood.fit_intercept :] = likelihood.l1
    moved, slope = theta.ravel().copy(), at.gradient.ravel().copy()
    curvature = np.maximum(at.hessian.diagonal(), np.finfo(float).tiny)
    gap = np.abs(find_subgradient(likelihood, theta, at.gradient)).ravel()
    tol = SWEEP_TOLERANCE * float((gap / np.sqrt(curvature)).max())
    _, has_converged = descend_coordinates(
        at.hessian, slope, l1.ravel(), moved, tol, MAX_SWEEPS
    )
    if not has_converged:
        solve_signs(at.hessian, slope, l1.ravel(), moved, tol)
    step = theta - moved.reshape(theta.shape)
    promised = (step * at.gradient).sum()
    promised += (l1 * (np.abs(theta) - np.abs(theta - step))).sum()
    return step, float(promised)


def solve_signs(hessian, slope, l1, moved, tol: float) -> None:
    """Continue coordinate descent by equations for coefficients of given signs.

    Correlated columns with a weak penalty need very many sweeps. Parameters are those
    of ``descend_coordinates``. While no coefficient changes its sign, the minimum is
    the solution of linear equations; one that would do so becomes zero first, and if
    none does, the one with the largest excess of its derivative over the penalty is
    no longer held at zero.
    """
    units = np.sqrt(np.maximum(hessian.diagonal(), np.finfo(float).tiny))
    sign, is_free = np.sign(moved), l1 == 0.0
    for _ in range(MAX_SYSTEMS):
        inside = np.flatnonzero((sign != 0.0) | is_free)
        block = hessian[np.ix_(inside, inside)] / np.outer(units[inside], units[inside])
        # Vectors of all classes that change by the same change no probability.
        block[np.diag_indices(len(inside))] += DAMPING
        right = (slope + l1 * sign)[inside] / units[inside]
        try:
            factor = linalg.cho_factor(block, check_finite=False)
        except linalg.LinAlgError:
            return
        step = -linalg.cho_solve(factor, right, check_finite=False) / units[inside]
        is_turned = ((moved[inside] + step) * sign[inside] < 0.0) & ~is_free[inside]
        shares = np.where(
            is_turned, -moved[inside] / np.where(is_turned, step, 1.0), 1.0
        )
        first = int(np.argmin(shares))
        moved[inside] += shares[first] * step
        slope += hessian[:, inside] @ (shares[first] * step)
        if is_turned.any():
            moved[inside[first]] = sign[inside[first]] = 0.0
            continue
        excess = np.where((sign == 0.0) & ~is_free, np.abs(slope) - l1, 0.0) / units
        worst = int(np.argmax(excess))
        if excess[worst] <= tol:
            return
        sign[worst] = -np.sign(slope[worst])


def find_subgradient(likelihood: LogisticLikelihood, theta: np.ndarray, gradient):
    """Smallest derivatives of the loss with the penalty of absolute values."""
    if not likelihood.l1.any():
        return gradient
    first = likelihood.fit_intercept
    slopes, smallest = theta[:, first:], gradient.copy()
    smooth = gradient[:, first:]
    at_zero = np.sign(smooth) * np.maximum(np.abs(smooth) - likelihood.l1, 0.0)
    elsewhere = smooth + likelihood.l1 * np.sign(slopes)
    smallest[:, first:] = np.where(slopes == 0.0, at_zero, elsewhere)
    return smallest


def is_decrease(loss, found, expected):
    """Whether a new loss is lower by a fraction of the expected decrease."""
    return found <= loss - SUFFICIENT_DECREASE * expected + ROUNDING * abs(loss)


def solve_gradient(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
) -> Solution:
    r"""Gradient descent (梯度下降法) with a step that is doubled and halved.

    The units of the columns are the square roots of the second derivatives. The first
    step is the inverse of the largest possible curvature of the loss, with which the
    loss cannot increase. Each further one starts with twice the last, and is halved
    until the loss decreases by half of the squared gradient times the step. With a
    penalty of absolute values, each step ends by shrinking coefficients towards zero
    (近端梯度下降).

    Parameters and results are those of :func:`solve_newton`, except that it stops when
    no derivative, divided by the square root of the initial second derivative, exceeds
    ``tol`` per row.
    """
    at = likelihood.evaluate(theta, GRADIENT)
    path = [at.loss]
    squares = likelihood.scales**2
    l1 = np.zeros(likelihood.n_parameters)
    l1[likelihood.fit_intercept :] = likelihood.l1
    length = 0.5 / bound_curvature(likelihood)
    while not has_arrived(likelihood, theta, at.gradient, tol):
        if len(path) > max_iter:
            return Solution(theta, path, False, "iterations")
        length *= 2.0
        for _ in range(MAX_HALVINGS):
            moved = theta - length / squares * at.gradient
            shift = length / squares * l1
            moved = np.sign(moved) * np.maximum(np.abs(moved) - shift, 0.0)
            step = moved - theta
            found = likelihood.evaluate(moved, GRADIENT)
            size = float((squares * step**2).sum()) / length
            if _has_descended_enough(at, found, theta, step, l1, size):
                break
            length /= 2.0
        else:
            return Solution(theta, path, False, "rounding")
        theta, at = moved, found
        path.append(at.loss)
        if report(theta, path[-1]):
            return Solution(theta, path, False, "callback")
    return Solution(theta, path, True)


def _has_descended_enough(at: Evaluation, found, theta: np.ndarray, step, l1, size):
    """Whether the loss is not above a quadratic function of curvature 1 / length."""
    slope = float((at.gradient * step).sum())
    rise = float(((np.abs(theta + step) - np.abs(theta)) * l1).sum())
    promised = -(slope + rise + 0.5 * size)
    if promised > HIDDEN * abs(at.loss):
        return found.loss <= at.loss - promised
    # The decrease may be lost in rounding, the change of the slope is not.
    change = float((found.gradient * step).sum()) - slope
    return change <= size and found.loss <= at.loss + HIDDEN * abs(at.loss)


def bound_curvature(likelihood: LogisticLikelihood):
    """Find a bound of the largest eigenvalue of the Hessian at any coefficients.

    The curvature of a row is at most 1/4 for two classes, 1/2 for more, so the trace
    of the products of the scaled columns gives a bound.
    """
    units = likelihood.units / likelihood.scales
    fraction = 0.25 if likelihood.n_classes == 2 else 0.5
    bound = fraction * likelihood.total_weight * float((units**2).sum())
    squares = likelihood.scales[likelihood.fit_intercept :] ** 2
    bound += float((likelihood.l2 / squares).max(initial=0.0))
    return bound + likelihood.is_tied * likelihood.total_weight * likelihood.n_scores


def has_arrived(
    likelihood: LogisticLikelihood, theta: np.ndarray, gradient, tol: float
) -> bool:
    """Whether no derivative, in units of its column, exceeds tol for each row."""
    size = np.abs(find_subgradient(likelihood, theta, gradient)) / likelihood.scales
    return not size.max() > tol * likelihood.total_weight


def solve_bfgs(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
) -> Solution:
    """BFGS in units of the second derivatives.

    Parameters and results are those of :func:`solve_gradient`.
    """
    curvature = 0.25 if likelihood.n_classes == 2 else 0.5
    search = partial(minimize_bfgs, curvature=curvature)
    return _minimize_scaled(search, likelihood, theta, max_iter, tol, report)


def _minimize_scaled(
    search: Callable,
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
) -> Solution:
    """Minimise the loss of one row in units of the second derivatives.

    With a penalty of absolute values, each slope is the difference of two non-negative
    numbers.
    """
    scales = np.broadcast_to(likelihood.scales, theta.shape).ravel()
    total, shape = likelihood.total_weight, theta.shape
    start, has_parts = theta.ravel() * scales, bool(likelihood.l1.any())
    if has_parts:
        l1, is_free = np.zeros(shape), np.zeros(shape, dtype=bool)
        l1[:, likelihood.fit_intercept :] = likelihood.l1
        l1 = l1.ravel() / scales / total
        is_free[:, : likelihood.fit_intercept] = True
        start, bounds = split_slopes(start, is_free.ravel())
        search = partial(search, bounds=bounds)

    def join(x):
        scaled = x[: theta.size] - x[theta.size :] if has_parts else x
        return (scaled / scales).reshape(shape)

    def evaluate(x):
        at = likelihood.evaluate(join(x), GRADIENT)
        gradient = at.gradient.ravel() / scales / total
        if has_parts:
            # Both parts may be above 0 during the iterations.
            rise = 2.0 * float(l1 @ np.minimum(x[: theta.size], x[theta.size :]))
            return at.loss / total + rise, np.append(gradient + l1, l1 - gradient)
        return at.loss / total, gradient

    def note(x, loss):
        return report(join(x), loss * total)

    found = search(evaluate, start, max_iter, tol, note)
    path = [loss * total for loss in found.path]
    return Solution(join(found.x), path, not found.reason, found.reason)


def minimize_whitened(
    search: Callable,
    factor: HessianFactor,
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
) -> Solution:
    """Minimise the loss of one row along directions of about unit curvature.

    The factor is that of a Hessian of all coefficients, or of one score.
    """
    directions, total = factor.find_directions(), likelihood.total_weight
    width = len(directions)

    def restore(x):
        return theta + (x.reshape(-1, width) @ directions.T).reshape(theta.shape)

    def evaluate(x):
        at = likelihood.evaluate(restore(x), GRADIENT)
        gradient = at.gradient.reshape(-1, width) @ directions
        return at.loss / total, gradient.ravel() / total

    def note(x, loss):
        return report(restore(x), loss * total)

    found = search(evaluate, np.zeros(theta.size), max_iter, tol, note)
    path = [loss * total for loss in found.path]
    return Solution(restore(found.x), path, not found.reason, found.reason)


def solve_lbfgs(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
    factor: HessianFactor | None = None,
) -> Solution:
    """L-BFGS, which also stops when the loss changes only by rounding.

    It uses uncorrelated combinations of the columns unless these are many or nearly
    dependent; or directions of unit curvature, if a factor of a Hessian is given.
    Parameters and results are those of :func:`solve_gradient`.
    """
    if factor is None and not likelihood.l1.any():
        is_narrow = likelihood.n_parameters <= MAX_WHITENED
        factor = whiten_columns(likelihood) if is_narrow else None
    arguments = likelihood, theta, max_iter, tol, report
    if factor is None:
        return _minimize_scaled(minimize_lbfgs, *arguments)
    search = partial(minimize_lbfgs, is_whitened=True)
    return minimize_whitened(search, factor, *arguments)


def solve_newton_late(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
    factor: HessianFactor,
) -> Solution:
    """BFGS from the Hessian of a sample, before Newton's method.

    A penalised fit, which has no standard errors, needs no step of Newton's method.
    Parameters and results are those of :func:`solve_newton`.
    """
    # The decrease of the next step is a sum over all coefficients.
    limit = tol / np.sqrt(theta.size)
    most = min(max_iter, MAX_LATE)
    found = minimize_whitened(
        minimize_bfgs, factor, likelihood, theta, most, limit, report
    )
    rest = max_iter - len(found.loss_path) + 1
    is_found = found.is_converged and likelihood.is_penalised
    if is_found or found.reason == "callback" or not rest:
        return found
    last = solve_newton(likelihood, found.theta, rest, tol, report)
    last.loss_path = found.loss_path + last.loss_path[1:]
    return last


def split_slopes(start, is_free):
    """Return initial values and bounds of the positive and negative parts of slopes."""
    parts = np.append(np.maximum(start, 0.0), np.maximum(-start, 0.0))
    n = len(start)
    parts[:n][is_free], parts[n:][is_free] = start[is_free], 0.0
    low, high = np.zeros(2 * n), np.full(2 * n, np.inf)
    low[:n][is_free], high[n:][is_free] = -np.inf, 0.0
    return parts, optimize.Bounds(low, high)


SOLVERS = {
    "newton": solve_newton,
    "gradient": solve_gradient,
    "bfgs": solve_bfgs,
    "lbfgs": solve_lbfgs,
}

LIBLINEAR = "liblinear"
#: scikit-learn's names, and which of ours finds the same minimum. With "liblinear" the
#: penalty includes the intercept.
STOCK_SOLVERS = {
    "newton-cholesky": "newton",
    "newton-cg": "auto",
    "sag": "auto",
    "saga": "auto",
    LIBLINEAR: "auto",
}


def solve_working_sets(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable,
) -> Solution:
    r"""Newton's method on working sets of columns.

    Slopes of columns outside of the working set are zero. After each minimisation, the
    columns whose derivative exceeds the penalty are added, those of the largest excess
    first, up to the size of the working set; it ends when there are none. If a working
    set would have too many coefficients, L-BFGS continues.

    Parameters and results are those of :func:`solve_newton`.
    """
    first = likelihood.fit_intercept
    at = likelihood.evaluate(theta, GRADIENT)
    path, inside = [at.loss], theta[:, first:].any(axis=0)
    while True:
        gradient = find_subgradient(likelihood, theta, at.gradient) / likelihood.scales
        excess = np.abs(gradient[:, first:]).max(axis=0)
        excess[inside] = 0.0
        is_optimal = not excess.max() > tol * likelihood.total_weight
        if is_optimal and len(path) > 1:
            return Solution(theta, path, True)
        n_new = min(max(FIRST_COLUMNS, inside.sum()), np.count_nonzero(excess))
        inside[np.argsort(-excess, kind="stable")[:n_new]] = True
        if inside.sum() * likelihood.n_scores > MAX_WORKING:
            rest = max_iter - len(path) + 1
            last = solve_lbfgs(likelihood, theta, rest, tol, report)
            last.loss_path = path + last.loss_path[1:]
            return last
        part = likelihood.replace_columns(
            take_columns(likelihood.X, np.flatnonzero(inside)),
            likelihood.l2[inside],
            likelihood.l1[inside],
        )
        places = np.append(np.ones(first, dtype=bool), inside)
        fill = partial(_fill_in, theta.shape, places)
        found = solve_newton(
            part,
            theta[:, places],
            max_iter - len(path) + 1,
            tol,
            lambda values, loss, fill=fill: report(fill(values), loss),
        )
        theta = fill(found.theta)
        path += found.loss_path[1:]
        if not found.is_converged:
            return Solution(theta, path, False, found.reason)
        at = likelihood.evaluate(theta, GRADIENT)
        if len(path) == 1:
            path.append(at.loss)


def _fill_in(shape: tuple, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Insert the coefficients of some columns among those of all."""
    theta = np.zeros(shape)
    theta[:, places] = values
    return theta
