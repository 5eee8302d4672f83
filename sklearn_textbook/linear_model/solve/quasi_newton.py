r"""Quasi-Newton methods (拟牛顿法): BFGS and limited-memory BFGS.

Both estimate the inverse G of the second derivatives from steps s and changes y of the
gradient, and take steps along minus G times the gradient. BFGS updates

.. math::

    G \leftarrow \Bigl(I - \frac{s y^T}{s^T y}\Bigr) G
    \Bigl(I - \frac{y s^T}{s^T y}\Bigr) + \frac{s s^T}{s^T y},

limited-memory BFGS stores only the last pairs of s and y (李航《统计学习方法》, 附录B).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize

#: Minimum decrease of the loss, as a fraction of the expected one.
SUFFICIENT_DECREASE = 1e-4
MAX_HALVINGS = 40
#: Relative change of the loss that rounding may hide.
HIDDEN = 1e-11
#: Relative change of the loss due to rounding, and number of steps without a smaller
#: loss or gradient after which only rounding is left.
ROUNDING, MAX_IDLE = 1e-13, 20
#: Products of steps and changes whose squares do not underflow.
SMALLEST_PRODUCT = 1e-150


class Minimum(NamedTuple):
    """Where a solver stopped, the loss at the start and after each iteration, and why.

    The reason is "" if it converged, else "iterations", "rounding" or "callback".
    """

    x: np.ndarray
    path: list[float]
    reason: str


def minimize_bfgs(
    evaluate: Callable,
    x: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable | None = None,
    *,
    curvature: float = 1.0,
    inverse: optimize.LbfgsInvHessProduct | None = None,
) -> Minimum:
    """BFGS from the gradient divided by a first curvature, with step halving.

    An inverse that is given is not updated. The matrix is scipy's. The loop is not:
    scipy's has a line search for the strong Wolfe conditions in place of the halving of
    the textbook, and gives up when rounding hides the decrease of a loss whose gradient
    is still above the tolerance.
    """
    matrix = inverse
    if matrix is None:
        matrix = optimize.BFGS(min_curvature=np.finfo(float).eps)
        matrix.initialize(len(x), "inv_hess")
    loss, gradient = evaluate(x)
    path, smallest, n_idle = [loss], np.inf, 0
    while (gap := np.abs(gradient).max(initial=0.0)) > tol:
        if len(path) > max_iter:
            return Minimum(x, path, "iterations")
        n_idle = 0 if gap < 0.9 * smallest else n_idle + 1
        if n_idle > MAX_IDLE:
            return Minimum(x, path, "rounding")
        smallest = min(gap, smallest)
        step = -matrix.dot(gradient) / (curvature if len(path) == 1 else 1.0)
        slope, length = float(step @ gradient), 1.0
        for _ in range(MAX_HALVINGS):
            found, new_gradient = evaluate(x + length * step)
            new_slope = float(step @ new_gradient)
            if _has_descended(loss, found, length, slope, new_slope):
                break
            length /= 2.0
        else:
            return Minimum(x, path, "rounding")
        step, change = length * step, new_gradient - gradient
        if inverse is None and step @ change > SMALLEST_PRODUCT:
            matrix.update(step, change)
        n_idle = 0 if found < loss - ROUNDING * abs(loss) else n_idle
        x, loss, gradient = x + step, found, new_gradient
        path.append(loss)
        if report is not None and report(x, loss):
            return Minimum(x, path, "callback")
    return Minimum(x, path, "")


def _has_descended(
    loss: float, found: float, length: float, slope: float, new_slope: float
) -> bool:
    """Whether a step reduced the loss by a fraction of the expected decrease.

    If this is lost in the rounding of the loss, the slopes decide: since the loss is
    convex, a step that does not go far beyond the minimum along the line reduces it.
    """
    promised = -length * slope
    if SUFFICIENT_DECREASE * promised > HIDDEN * abs(loss):
        return found <= loss - SUFFICIENT_DECREASE * promised
    is_within = new_slope <= (1.0 - 2.0 * SUFFICIENT_DECREASE) * -slope
    return is_within and found <= loss + HIDDEN * abs(loss)


def _minimize_from_unit_gradient(evaluate, x, known, max_iter, tol, report):
    """L-BFGS in units in which the first gradient has unit length."""
    size = float(np.linalg.norm(known[1]))
    asked = [known]

    def measure(scaled):
        loss, gradient = asked.pop() if asked else evaluate(scaled * size)
        return loss / size**2, gradient / size

    def note(scaled, loss):
        return report is not None and report(scaled * size, loss * size**2)

    found = minimize_lbfgs(measure, x / size, max_iter, tol / size, note)
    return Minimum(
        found.x * size, [loss * size**2 for loss in found.path], found.reason
    )


def minimize_lbfgs(
    evaluate: Callable,
    x: np.ndarray,
    max_iter: int,
    tol: float,
    report: Callable | None = None,
    *,
    bounds: optimize.Bounds | None = None,
    is_exact: bool = False,
    is_whitened: bool = False,
) -> Minimum:
    """L-BFGS of :func:`scipy.optimize.minimize`.

    It also stops when the loss changes only by rounding, but goes on from there if it
    is to be exact. If x is whitened, so that second derivatives are about 1, the first
    step is minus the gradient.
    """
    loss, gradient = evaluate(x)
    path = [loss]
    if max_iter == 0:
        return Minimum(x, path, "iterations")
    if not np.abs(gradient).max(initial=0.0) > tol:
        return Minimum(x, path, "")
    if is_whitened:
        # scipy's first step has unit length.
        return _minimize_from_unit_gradient(
            evaluate, x, (loss, gradient), max_iter, tol, report
        )

    known = [(loss, gradient)]  # what scipy asks first

    def note(intermediate_result):
        path.append(float(intermediate_result.fun))
        if report is not None and report(intermediate_result.x, path[-1]):
            raise StopIteration

    found = optimize.minimize(
        lambda x: known.pop() if known else evaluate(x),
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=note,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter + 20,
            "maxls": 50,
            "gtol": tol,
            "ftol": 0.0,
        },
    )
    if is_exact and found.status != 99 and np.abs(found.jac).max() > tol:
        # Rounding hides the decrease of the loss; the slopes still show it.
        left, inverse = max_iter - len(path) + 1, found.hess_inv
        last = minimize_bfgs(evaluate, found.x, left, tol, report, inverse=inverse)
        path += last.path[1:]
        return Minimum(last.x, path, last.reason)
    # Its line search failed, or a callback stopped it.
    reason = {2: "rounding", 99: "callback"}.get(found.status, "iterations")
    return Minimum(found.x, path, "" if found.success else reason)
