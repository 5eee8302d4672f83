"""Iteratively reweighted least squares (迭代重加权最小二乘)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.linear_model.generalized.families import (
    Family,
    choose_mean_start,
)
from sklearn_textbook.linear_model.generalized.links import EPSILON, SHARE_LINKS, Link
from sklearn_textbook.linear_model.generalized.working_rows import WorkingRows
from sklearn_textbook.linear_model.solve.weighted_solution import WeightedSolver

#: How many times the null deviance the first step may lead to. R takes any.
WORST_START = 2.0
#: How often a step is halved before it is given up.
MAX_HALVINGS = 40
#: Largest change of a predictor in the last step from which it is running away.
RUNAWAY = 0.1
#: Fraction of the average mean below which a mean lies on the border at 0; and distance
#: of a share from 1.
BORDER = 1e-10
#: Rows of which leverages are computed at a time.
LEVERAGE_ROWS = 4096


@dataclass(frozen=True)
class Problem:
    """What is to be fitted.

    Parameters
    ----------
    X : ndarray of float64 or csr_array, shape (n_rows, n_columns)
        The table.
    y : ndarray of float64, shape (n_rows,)
        The target.
    weight : ndarray of float64, shape (n_rows,)
        Weights, all above 0.
    offset : ndarray of float64, shape (n_rows,), or None
        What is added to the predictors.
    family : Family
        How rows scatter about their means.
    link : Link
        What of the mean is linear.
    fit_intercept : bool
        Whether there is an intercept.
    penalty : float
        What the sum of squared slopes is multiplied by.
    tol : float
        Relative change of the deviance that ends the iteration.
    max_iter : int
        Largest number of steps.
    n_jobs : int or None
        Threads.
    has_trials : bool
        Whether weights are numbers of trials with proportion y, not of rows.
    """

    X: object
    y: np.ndarray
    weight: np.ndarray
    offset: np.ndarray | None
    family: Family
    link: Link
    fit_intercept: bool = True
    penalty: float = 0.0
    tol: float = 1e-8
    max_iter: int = 100
    n_jobs: int | None = None
    has_trials: bool = False

    @cached_property
    def n_threads(self):
        """Number of threads for a table of this size."""
        return count_threads(self.n_jobs, self.X.shape[0] * (self.X.shape[1] + 1))

    def select(self, columns):
        """Return the same problem with some of the columns."""
        return replace(self, X=self.X[:, columns])

    def predict(self, coef):
        """Linear predictors, with the intercept first among the coefficients."""
        predictor = np.asarray(self.X @ coef[1:]).ravel() + coef[0]
        return predictor if self.offset is None else predictor + self.offset


@dataclass(frozen=True)
class Fit:
    """Where the iteration ended.

    Parameters
    ----------
    coef : ndarray of shape (1 + n_columns,)
        The intercept, 0 if there is none, and the slopes.
    deviance : float
        Deviance there.
    deviance_path : ndarray of shape (n_iter + 1,)
        Deviance at the start, where that has one, and after every step.
    n_iter : int
        Number of steps.
    has_converged : bool
        Whether the deviance stood still, and the next step would not change it.
    is_stuck : bool
        Whether it ended since no part of a step lets the deviance fall: at the border
        of the valid means.
    largest_move : float
        Largest change of a predictor in the last step.
    rows : WorkingRows
        The rows, with their means there.
    predictor : ndarray of shape (n_rows,)
        The linear predictors there.
    solver : WeightedSolver
        What solved the steps.
    """

    coef: np.ndarray
    deviance: float
    deviance_path: np.ndarray
    n_iter: int
    has_converged: bool
    is_stuck: bool
    largest_move: float
    rows: WorkingRows
    predictor: np.ndarray
    solver: WeightedSolver


@dataclass
class _State:
    """Coefficients, predictors and the deviance with its penalty."""

    coef: np.ndarray
    predictor: np.ndarray
    deviance: float
    loss: float


def fit_reweighted(problem, base=None, start=None):
    r"""Minimise the deviance by iteratively reweighted least squares.

    A step solves the least squares of the working residuals
    :math:`(y - \mu) / \mu'(\eta)` with the weights :math:`w \mu'(\eta)^2 / V(\mu)`. The
    first one starts from means close to y, as R's glm does. A step that makes a mean
    invalid or the deviance larger is halved; so is the first one, towards the constant
    model, if it leads to much more than the null deviance.

    Parameters
    ----------
    problem : Problem
        What is to be fitted.
    base : ndarray of shape (1 + n_columns,), default=None
        Coefficients with valid means, towards which the first step is halved.
    start : ndarray of shape (1 + n_columns,), default=None
        Coefficients to start from. None: means close to y.

    Returns
    -------
    fit : Fit
        Where it ended.

    Raises
    ------
    ValueError
        If no coefficients with valid means are found to start from.
    """
    n_threads = problem.n_threads
    rows = WorkingRows(
        problem.y, problem.weight, problem.family, problem.link, n_threads
    )
    solver = WeightedSolver(
        problem.X, problem.fit_intercept, problem.penalty, n_threads
    )
    path = []
    state = None if start is None else _evaluate(problem, rows, start)
    if state is None or not np.isfinite(state.loss):
        state, n_iter = _take_first_step(problem, rows, solver, base), 1
    else:
        n_iter = 0
    path.append(state.deviance)
    scale = problem.family.measure_scale(problem.y, problem.weight)
    has_converged, is_stuck, move = False, False, np.inf
    while n_iter < problem.max_iter and not has_converged and not is_stuck:
        # What rounding alone may do to the loss.
        slack = 16.0 * EPSILON * (abs(state.loss) + scale)
        next_state, foreseen = _take_step(problem, rows, solver, state, slack)
        n_iter += 1
        # The change of R, and what the step should have gained: where steps shrink by
        # a factor only, the first drowns in rounding before coefficients stand still.
        change = abs(next_state.loss - state.loss)
        change = max(change if change > slack else 0.0, foreseen)
        # As in R; but what counts as small does not depend on the unit of y.
        has_converged = change <= problem.tol * (abs(next_state.loss) + 0.1 * scale)
        is_stuck = next_state is state and not has_converged
        if has_converged or n_iter == problem.max_iter:
            move = np.max(np.abs(next_state.predictor - state.predictor), initial=0.0)
        state = next_state
        path.append(state.deviance)
    return Fit(
        state.coef,
        state.deviance,
        np.array(path),
        n_iter,
        has_converged,
        is_stuck,
        float(move),
        rows,
        state.predictor,
        solver,
    )


def has_no_maximum(fit):
    """Whether predictors run away while the deviance hardly falls."""
    return fit.has_converged and fit.n_iter > 1 and fit.largest_move > RUNAWAY


def ends_at_border(fit):
    """Return whether the iteration ended at the border of the means of the family."""
    if fit.is_stuck:
        return True
    family, link, mean = fit.rows.family, fit.rows.link, fit.rows.mean
    is_share = family.name == "binomial"
    if link.name in SHARE_LINKS or not (is_share or family.has_positive_mean):
        return False
    if is_share and mean.max() > 1.0 - BORDER:
        return True
    # No predictor of the logarithm belongs to a mean of 0.
    return link.name != "log" and bool(mean.min() < BORDER * mean.mean())


def _evaluate(problem, rows, coef, predictor=None):
    """Compute the state at some coefficients."""
    if predictor is None:
        predictor = problem.predict(coef)
    deviance = rows.evaluate(predictor)
    slopes = coef[1:]
    loss = deviance + problem.penalty * float(slopes @ slopes)
    return _State(coef, predictor, deviance, loss)


def _take_first_step(problem, rows, solver, base):
    """Solve for the coefficients from means close to y, or from one mean for all."""
    mean = choose_mean_start(
        problem.family, problem.link, problem.y, problem.weight, problem.has_trials
    )
    average = problem.weight @ mean / problem.weight.sum()
    based = None if base is None else _evaluate(problem, rows, base)
    for means in (mean, np.full_like(mean, average)):
        predictor = problem.link.apply(means)
        rows.evaluate(predictor)
        weight, residual = rows.reweight(predictor)
        fixed = 0.0 if problem.offset is None else problem.offset
        coef = solver.solve(weight, predictor - fixed + residual)
        state = _evaluate(problem, rows, coef)
        if based is not None and np.isfinite(based.loss):
            limit = WORST_START * abs(based.loss)
            state = _halve(problem, rows, based, state, limit)
        if np.isfinite(state.loss):
            return state
    raise ValueError(
        f"The family {problem.family.name!r} with the link {problem.link.name!r} "
        "found no coefficients to start from that give every row a valid mean: take "
        "another link, fit an intercept, or scale the columns."
    )


def _take_step(problem, rows, solver, state, slack):
    """Take one step, halved until the loss does not rise; what it should gain."""
    weight, residual = rows.reweight(state.predictor)
    if problem.penalty:
        step = _solve_penalised(problem, solver, state.coef, weight, residual)
    else:
        step = solver.solve(weight, residual)
    proposed = _evaluate(problem, rows, state.coef + step)
    chosen = _halve(problem, rows, state, proposed, state.loss + slack)
    if chosen is state:
        rows.evaluate(state.predictor)
    # Of the whole step: a halved one is small where a border is near, not the minimum.
    moves, step = proposed.predictor - state.predictor, proposed.coef - state.coef
    foreseen = float(np.einsum("i,i,i->", weight, moves, moves))
    return chosen, foreseen + problem.penalty * float(step[1:] @ step[1:])


def _solve_penalised(problem, solver, coef, weight, residual):
    """Solve for a step where slopes are drawn to 0, and not to the last ones."""
    fitted = np.asarray(problem.X @ coef[1:]).ravel() + coef[0]
    return solver.solve(weight, residual + fitted) - coef


def _halve(problem, rows, old, new, limit):
    """Halve the way from the old state until the loss is within the limit."""
    if new.loss <= limit:
        return new
    share, state = 1.0, new
    for _ in range(MAX_HALVINGS):
        share *= 0.5
        with np.errstate(invalid="ignore"):
            coef = old.coef + share * (new.coef - old.coef)
            predictor = old.predictor + share * (new.predictor - old.predictor)
        state = _evaluate(problem, rows, coef, predictor)
        if state.loss <= limit:
            return state
    return old


def fit_constant(problem):
    """Fit the intercept alone, or nothing at all where there is none.

    Parameters
    ----------
    problem : Problem
        Of which the columns are left out.

    Returns
    -------
    coef : float
        The intercept, 0 if there is none.
    deviance : float
        The null deviance; infinite if some row has no valid mean.
    """
    rows = WorkingRows(
        problem.y, problem.weight, problem.family, problem.link, problem.n_threads
    )
    offset = np.zeros(len(problem.y)) if problem.offset is None else problem.offset
    if not problem.fit_intercept:
        return 0.0, rows.evaluate(offset.copy())
    mean = problem.weight @ problem.y / problem.weight.sum()
    start = choose_mean_start(
        problem.family, problem.link, np.array([mean]), np.ones(1)
    )
    is_sound = problem.family.find_valid(np.array([mean]))
    if (is_sound is None or is_sound[0]) and not (
        problem.link.takes_positive and mean <= 0.0
    ):
        start = np.array([mean])
    first = float(problem.link.apply(start)[0])
    if problem.offset is None:
        return first, rows.evaluate(np.full(len(problem.y), first))
    empty = replace(problem, X=np.empty((len(problem.y), 0)), penalty=0.0)
    base = np.array([first - problem.weight @ offset / problem.weight.sum()])
    fit = fit_reweighted(empty, base)
    return float(fit.coef[0]), fit.deviance


def measure_leverages(X, weight, centre, inverse, share):
    r"""Compute the leverages :math:`h_i = w_i z_i^T (Z^T W Z)^{-1} z_i`.

    With centred columns, which lose no digits where columns lie far from zero,

    .. math:: h_i = w_i \Bigl(\frac{1}{\sum_j w_j} + (x_i - m)^T C (x_i - m)\Bigr).

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_columns)
        The table.
    weight : ndarray of shape (n_rows,)
        w.
    centre : ndarray of shape (n_columns,)
        m, weighted means of the columns.
    inverse : ndarray of shape (n_columns, n_columns)
        C, the inverse of the centred products.
    share : float
        One over the sum of the weights.

    Returns
    -------
    leverages : ndarray of shape (n_rows,)
        Over all rows their sum is the rank.
    """
    leverages = np.empty(X.shape[0])
    for start in range(0, X.shape[0], LEVERAGE_ROWS):
        block = X[start : start + LEVERAGE_ROWS]
        block = (block.toarray() if issparse(block) else block) - centre
        squares = np.einsum("ij,ij->i", block @ inverse, block)
        leverages[start : start + LEVERAGE_ROWS] = share + squares
    return weight * leverages
