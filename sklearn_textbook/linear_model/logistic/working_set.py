"""Newton's method for the lasso with many columns, on working sets of columns."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.linear_model.logistic.likelihood import GRADIENT
from sklearn_textbook.linear_model.logistic.solvers import (
    Solution,
    find_subgradient,
    solve_lbfgs,
    solve_newton,
)

#: Minimum number of columns of the first working set.
FIRST_COLUMNS = 100
#: Maximum number of coefficients of a working set: steps of more take longer than all
#: iterations of L-BFGS.
MAX_COEFFICIENTS = 1000


def solve_working_sets(likelihood, theta, max_iter, tol, report):
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
        if inside.sum() * likelihood.n_scores > MAX_COEFFICIENTS:
            rest = max_iter - len(path) + 1
            last = solve_lbfgs(likelihood, theta, rest, tol, report)
            last.loss_path = path + last.loss_path[1:]
            return last
        part = likelihood.select(inside)
        places = np.append(np.ones(first, dtype=bool), inside)
        fill = _Filler(theta, places)
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


class _Filler:
    """Inserts the coefficients of some columns among those of all."""

    def __init__(self, theta, places):
        self.shape, self.places = theta.shape, places

    def __call__(self, values):
        theta = np.zeros(self.shape)
        theta[:, self.places] = values
        return theta
