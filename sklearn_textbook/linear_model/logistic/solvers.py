"""Ways to the coefficients of largest likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from sklearn_textbook.linear_model.logistic.likelihood import (
    GRADIENT,
    LOSS,
    Evaluation,
)

#: Share of the expected decrease that a step must keep.
SUFFICIENT_DECREASE = 1e-4
MOST_HALVINGS = 40
#: Pivots of a Hessian of unit diagonal below this: columns are linearly dependent, or
#: the likelihood is almost flat in a direction.
SMALLEST_PIVOT = 1e-11
#: Relative change of the loss that rounding makes.
ROUNDING = 1e-14
#: Relative change of the loss that is not trusted.
HIDDEN = 1e-11


@dataclass
class Solution:
    """Where a solver has arrived, and how it got there.

    Parameters
    ----------
    theta : ndarray of shape (n_scores, n_parameters)
        Coefficients for centred columns.
    loss_path : list of float
        Loss at the start and after each iteration.
    is_converged : bool
        Whether it stopped because it was there.
    reason : str
        Why it stopped if it was not.
    at : Evaluation or None
        What the likelihood says there, if the solver knows the Hessian.
    """

    theta: np.ndarray
    loss_path: list
    is_converged: bool
    reason: str = ""
    at: Evaluation | None = None


def solve_newton(likelihood, theta, max_iter, tol):
    r"""Newton's method (牛顿法) with step halving.

    .. math:: \theta \leftarrow \theta - t H^{-1} g

    with t = 1, halved until the loss decreases enough. It stops when the decrease to
    be expected, half of :math:`g^T H^{-1} g`, is no more than ``tol ** 2 / 2`` for each
    row. That step is still taken, though what it brings is not computed.

    Parameters
    ----------
    likelihood : LogisticLikelihood
        What to maximise.
    theta : ndarray of shape (n_scores, n_parameters)
        Where to start.
    max_iter : int
        Number of iterations, at most.
    tol : float
        Tolerance.

    Returns
    -------
    solution : Solution
        Where it ended.
    """
    at = likelihood.evaluate(theta)
    path = [at.loss]
    while True:
        step = find_newton_step(at.hessian, at.gradient)
        decrease = float((step * at.gradient).sum())
        if not decrease > tol**2 * likelihood.total_weight:
            return Solution(theta - step, path, True, at=at)
        if len(path) > max_iter:
            return Solution(theta, path, False, "iterations", at)
        length, found = 1.0, None
        for _ in range(MOST_HALVINGS):
            found = likelihood.evaluate(theta - length * step)
            if is_decrease(at.loss, found.loss, length * decrease):
                break
            length /= 2.0
        else:
            # Rounding hides what is left to gain.
            return Solution(theta, path, decrease <= 1e-6, "rounding", at)
        theta, at = theta - length * step, found
        path.append(at.loss)


def find_newton_step(hessian, gradient):
    """Solve for the Newton step; of least norm, in units of curvature, if many do.

    Parameters
    ----------
    hessian : ndarray of shape (n, n)
        Second derivatives.
    gradient : ndarray of n numbers
        First derivatives.

    Returns
    -------
    step : ndarray of the gradient's shape
        What is to be subtracted from the coefficients.
    """
    scale, factor = factorise_scaled(hessian)
    right = gradient.ravel() / scale
    if factor is not None:
        step = linalg.cho_solve((factor, True), right, check_finite=False)
    else:
        step = invert_scaled(hessian, scale) @ right
    return (step / scale).reshape(gradient.shape)


def factorise_scaled(hessian):
    """Cholesky's factor of a Hessian scaled to a diagonal of ones.

    Returns
    -------
    scale : ndarray of shape (n,)
        Roots of the diagonal; 1 where it is zero.
    factor : ndarray of shape (n, n) or None
        The lower triangle; None if a pivot is too small to be trusted.
    """
    scale = np.sqrt(np.maximum(hessian.diagonal(), 0.0))
    scale[~(scale > 0.0)] = 1.0
    try:
        factor = linalg.cholesky(
            hessian / scale / scale[:, np.newaxis], lower=True, check_finite=False
        )
    except linalg.LinAlgError:
        return scale, None
    pivots = factor.diagonal() ** 2
    is_safe = np.isfinite(pivots).all() and pivots.min() > SMALLEST_PIVOT
    return scale, factor if is_safe else None


def invert_scaled(hessian, scale):
    """Pseudo-inverse of the Hessian divided by the scale in rows and columns."""
    scaled = hessian / scale / scale[:, np.newaxis]
    values, vectors = linalg.eigh(scaled, check_finite=False)
    is_kept = values > len(values) * np.finfo(float).eps * max(values[-1], 0.0)
    return (vectors[:, is_kept] / values[is_kept]) @ vectors[:, is_kept].T


def is_decrease(loss, found, expected):
    """Whether a new loss is lower by a share of what its slope promised."""
    return found <= loss - SUFFICIENT_DECREASE * expected + ROUNDING * abs(loss)


def solve_gradient(likelihood, theta, max_iter, tol):
    r"""Gradient descent (梯度下降法) with a step that is doubled and halved.

    The first step is one over the largest curvature that the loss can have anywhere,
    at which it cannot increase. Each further one starts with twice the last, and is
    halved until the loss decreases by half of the squared gradient times the step.

    Parameters and results are those of :func:`solve_newton`, but that it stops when no
    derivative, divided by the root mean square of its column, exceeds ``tol`` for each
    row.
    """
    at = likelihood.evaluate(theta, GRADIENT)
    path = [at.loss]
    length = 0.5 / bound_curvature(likelihood)
    while not has_arrived(likelihood, at.gradient, tol):
        if len(path) > max_iter:
            return Solution(theta, path, False, "iterations")
        square = float((at.gradient**2).sum())
        length *= 2.0
        for _ in range(MOST_HALVINGS):
            found = likelihood.evaluate(theta - length * at.gradient, GRADIENT)
            slope = -float((found.gradient * at.gradient).sum())
            if has_descended(at.loss, found.loss, length, -square, slope, 0.5):
                break
            length /= 2.0
        else:
            return Solution(theta, path, False, "rounding")
        theta, at = theta - length * at.gradient, found
        path.append(at.loss)
    return Solution(theta, path, True)


def has_descended(loss, found, length, slope, new_slope, share=SUFFICIENT_DECREASE):
    """Whether a step made the loss smaller by a share of what its slope promised.

    Where the promise is lost in the rounding of the loss, the slopes decide: the loss
    is convex, so a step that has not gone beyond where it is lowest, or not by much,
    went down.
    """
    promised = -length * slope
    if share * promised > HIDDEN * abs(loss):
        return found <= loss - share * promised
    return new_slope <= (1.0 - 2.0 * share) * -slope and found <= loss + HIDDEN * abs(
        loss
    )


def bound_curvature(likelihood):
    """Find a bound of the largest eigenvalue of the Hessian, wherever it is taken.

    The share of a row in it is at most 1/4 of two classes, 1/2 of more, so the trace
    of the products of columns bounds it.
    """
    squares = likelihood.total_weight * float((likelihood.units**2).sum())
    bound = (0.25 if likelihood.n_classes == 2 else 0.5) * squares
    bound += likelihood.strength
    return bound + likelihood.is_tied * likelihood.total_weight * likelihood.n_scores


def has_arrived(likelihood, gradient, tol):
    """Whether no derivative, in units of its column, exceeds tol for each row."""
    size = np.abs(gradient) / likelihood.units
    return not size.max() > tol * likelihood.total_weight


def solve_bfgs(likelihood, theta, max_iter, tol):
    r"""BFGS: Newton's method with an estimated inverse of the Hessian.

    With the step s and the change y of the gradient,

    .. math::

        G \leftarrow \Bigl(I - \frac{s y^T}{s^T y}\Bigr) G
        \Bigl(I - \frac{y s^T}{s^T y}\Bigr) + \frac{s s^T}{s^T y}.

    G begins as the inverse mean squares of the columns, times :math:`s^T y` over
    :math:`y^T y` in these units once there is a step. A step of 1 is halved until the
    loss decreases enough; a pair of s and y that has no positive product is left out.

    Parameters and results are those of :func:`solve_gradient`.
    """
    at = likelihood.evaluate(theta, GRADIENT)
    path = [at.loss]
    units = np.broadcast_to(likelihood.units, theta.shape).ravel()
    inverse = np.diag(units**-2.0) / bound_share(likelihood)
    is_first = True
    while not has_arrived(likelihood, at.gradient, tol):
        if len(path) > max_iter:
            return Solution(theta, path, False, "iterations")
        gradient = at.gradient.ravel()
        step = -(inverse @ gradient)
        slope = float(step @ gradient)
        length = 1.0
        for _ in range(MOST_HALVINGS):
            moved = theta + length * step.reshape(theta.shape)
            found = likelihood.evaluate(moved, GRADIENT)
            new_slope = float(step @ found.gradient.ravel())
            if has_descended(at.loss, found.loss, length, slope, new_slope):
                break
            length /= 2.0
        else:
            return Solution(theta, path, False, "rounding")
        step, change = length * step, found.gradient.ravel() - gradient
        if is_first:
            inverse = guess_inverse(step, change, units, inverse)
            is_first = False
        inverse = update_inverse(inverse, step, change)
        theta, at = moved, found
        path.append(at.loss)
    return Solution(theta, path, True)


def bound_share(likelihood):
    """Largest curvature of all rows, in units of their columns."""
    share = 0.25 if likelihood.n_classes == 2 else 0.5
    return share * likelihood.total_weight + likelihood.strength


def guess_inverse(step, change, units, inverse):
    """Diagonal inverse that has the curvature of the first step."""
    product = float(step @ change)
    square = float(((change / units) ** 2).sum())
    return np.diag(units**-2.0) * (product / square) if product > 0.0 else inverse


def update_inverse(inverse, step, change):
    """Make the inverse agree with the last step."""
    product = float(step @ change)
    least = np.finfo(float).eps * np.linalg.norm(step) * np.linalg.norm(change)
    if product <= least:
        return inverse
    turned = inverse @ change
    weight = (1.0 + float(change @ turned) / product) / product
    crossed = np.outer(step, turned) / product
    return inverse + weight * np.outer(step, step) - crossed - crossed.T


def solve_lbfgs(likelihood, theta, max_iter, tol):
    """L-BFGS of :func:`scipy.optimize.minimize`, in units of the columns.

    Parameters and results are those of :func:`solve_gradient`; it also stops when the
    loss does not change but for rounding.
    """
    units = np.broadcast_to(likelihood.units, theta.shape).ravel()
    total = likelihood.total_weight
    path = [likelihood.evaluate(theta, LOSS).loss]
    if max_iter == 0:
        return Solution(theta, path, False, "iterations")

    def evaluate(scaled):
        at = likelihood.evaluate(scaled / units, GRADIENT)
        return at.loss / total, at.gradient.ravel() / units / total

    found = optimize.minimize(
        evaluate,
        theta.ravel() * units,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: path.append(
            float(intermediate_result.fun) * total
        ),
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter + 20,
            "maxls": 50,
            "gtol": tol,
            "ftol": 0.0,
        },
    )
    reason = "" if found.success else "iterations"
    if found.status == 2:  # its line search failed
        reason = "rounding"
    theta = (found.x / units).reshape(theta.shape)
    return Solution(theta, path, bool(found.success), reason)


SOLVERS = {
    "newton": solve_newton,
    "gradient": solve_gradient,
    "bfgs": solve_bfgs,
    "lbfgs": solve_lbfgs,
}
