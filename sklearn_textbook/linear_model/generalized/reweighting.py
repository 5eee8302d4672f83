"""Iteratively reweighted least squares (迭代重加权最小二乘)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.linear_model.generalized.families import (
    Family,
    choose_mean_start,
)
from sklearn_textbook.linear_model.generalized.links import EPSILON, Link
from sklearn_textbook.linear_model.solve.weighted_solution import WeightedSolver

#: Largest deviance after the first step, relative to the null deviance. R has no limit.
WORST_START = 2.0
#: Maximum number of times that a step is halved.
MAX_HALVINGS = 40
#: Rows of which leverages are computed at a time.
LEVERAGE_ROWS = 4096
#: Rows of a block: its few vectors stay in the cache of a core.
BLOCK_ROWS = 8192


class WorkingRows:
    r"""The target and, at given predictors, means, weights and residuals.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows,)
        The target.
    weight : ndarray of float64, shape (n_rows,)
        Weights, all above 0.
    family : Family
        Distribution of the target about its mean.
    link : Link
        The link function.
    n_threads : int, default=1
        Number of threads. The sums do not depend on it.
    """

    def __init__(self, y, weight, family, link, n_threads=1):
        self.y = y
        self.weight = weight
        self.family = family
        self.link = link
        self.n_threads = n_threads
        # With the canonical link, V(mu) is the derivative of the mean.
        name, _ = family.canonical_link
        self.is_canonical = link.name == name and link.name != "power"
        self.mean = np.empty_like(y)

    def evaluate(self, predictor):
        """Compute the means at the predictors, and the deviance.

        Parameters
        ----------
        predictor : ndarray of shape (n_rows,)
            The linear predictors, offsets included.

        Returns
        -------
        deviance : float
            Sum of the weighted unit deviances; infinite if a row has no valid mean.
            The means are in ``mean``.
        """

        def measure(rows):
            predictors = predictor[rows]
            valid = self.link.find_valid(predictors)
            if valid is not None and not valid.all():
                return np.inf
            mean = self.link.invert(predictors)
            valid = self.family.find_valid(mean)
            if valid is not None and not valid.all():
                return np.inf
            self.mean[rows] = mean
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                unit = self.family.compute_deviance(self.y[rows], mean)
                return float(self.weight[rows] @ unit)

        deviance = float(np.sum(self._map_blocks(measure)))
        return deviance if np.isfinite(deviance) else np.inf

    def reweight(self, predictor):
        r"""Compute weights and working residuals at the predictors last evaluated.

        The weights are :math:`w (d\mu/d\eta)^2 / V(\mu)`, the working residuals
        :math:`(y - \mu) / (d\mu/d\eta)`.

        Parameters
        ----------
        predictor : ndarray of shape (n_rows,)
            Those last passed to ``evaluate``.

        Returns
        -------
        weight, residual : ndarray of shape (n_rows,)
            Weights and targets of the least squares whose solution is the next step.
        """
        weights = np.empty_like(self.y)
        residuals = np.empty_like(self.y)

        def weigh(rows):
            mean = self.mean[rows]
            slope = self.link.differentiate(predictor[rows], mean)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                residuals[rows] = (self.y[rows] - mean) / slope
                if not self.is_canonical:
                    variance = self.family.compute_variance(mean)
                    slope = np.square(slope) / variance
                np.multiply(self.weight[rows], np.abs(slope), out=weights[rows])

        self._map_blocks(weigh)
        return weights, residuals

    def _map_blocks(self, function):
        """Call a function with the slice of every block; results in order."""
        n_rows = len(self.y)
        blocks = [
            slice(start, min(start + BLOCK_ROWS, n_rows))
            for start in range(0, n_rows, BLOCK_ROWS)
        ]
        n_threads = min(self.n_threads, len(blocks))
        if n_threads <= 1:
            return list(map(function, blocks))
        # One task per thread: one per block would cost more than some blocks.
        bounds = np.linspace(0, len(blocks), n_threads + 1).astype(int)
        shares = [blocks[first:last] for first, last in pairwise(bounds)]
        with ThreadPoolExecutor(n_threads) as pool:
            answers = pool.map(lambda share: list(map(function, share)), shares)
            return [answer for part in answers for answer in part]


@dataclass(frozen=True)
class Problem:
    """Problem to fit.

    Parameters
    ----------
    X : ndarray of float64 or csr_array, shape (n_rows, n_columns)
        The table.
    y : ndarray of float64, shape (n_rows,)
        The target.
    weight : ndarray of float64, shape (n_rows,)
        Weights, all above 0.
    offset : ndarray of float64, shape (n_rows,), or None
        Numbers added to the predictors.
    family : Family
        Distribution of the target about its mean.
    link : Link
        The link function.
    fit_intercept : bool
        Whether there is an intercept.
    penalty : float
        Factor of the sum of squared slopes.
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
    """Result of the iteration.

    Parameters
    ----------
    coef : ndarray of shape (1 + n_columns,)
        The intercept, 0 if there is none, and the slopes.
    deviance : float
        Deviance at the coefficients.
    deviance_path : ndarray of shape (n_iter + 1,)
        Deviance at the start, if it has one, and after every step.
    n_iter : int
        Number of steps.
    has_converged : bool
        Whether the deviance converged, and the next step would not change it.
    is_stuck : bool
        Whether the iteration ended because no part of a step reduces the deviance: at
        the boundary of the valid means.
    largest_move : float
        Largest change of a predictor in the last step.
    rows : WorkingRows
        The rows, with their means at the coefficients.
    predictor : ndarray of shape (n_rows,)
        The linear predictors at the coefficients.
    solver : WeightedSolver
        Solver of the steps.
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
        The problem to fit.
    base : ndarray of shape (1 + n_columns,), default=None
        Coefficients with valid means, towards which the first step is halved.
    start : ndarray of shape (1 + n_columns,), default=None
        Coefficients to start from. None: means close to y.

    Returns
    -------
    fit : Fit
        The result.

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
    scale *= min(1.0, float(problem.weight.mean()))
    has_converged, is_stuck, move = False, False, np.inf
    while n_iter < problem.max_iter and not has_converged and not is_stuck:
        # The largest change of the loss by rounding alone.
        slack = 16.0 * EPSILON * (abs(state.loss) + scale)
        next_state, foreseen = _take_step(problem, rows, solver, state, slack)
        n_iter += 1
        # R's change, and the expected reduction of the step: if steps shrink only by a
        # factor, the former vanishes in rounding before the coefficients converge.
        change = abs(next_state.loss - state.loss)
        change = max(change if change > slack else 0.0, foreseen)
        # As in R, except that small units of y or of the weights have no effect.
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


def _evaluate(problem, rows, coef, predictor=None):
    """Compute the state at some coefficients."""
    if predictor is None:
        predictor = problem.predict(coef)
    deviance = rows.evaluate(predictor)
    slopes = coef[1:]
    loss = deviance + problem.penalty * float(slopes @ slopes)
    return _State(coef, predictor, deviance, loss)


def _take_first_step(problem, rows, solver, base):
    """Find starting coefficients from means close to y, or from one mean for all."""
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
        "No initial coefficients were found for which all means are valid for the "
        f"family {problem.family.name!r} with the link {problem.link.name!r}. Use "
        "another link, fit an intercept, or scale the columns."
    )


def _take_step(problem, rows, solver, state, slack):
    """Take one step, halved until the loss decreases; and its expected reduction."""
    weight, residual = rows.reweight(state.predictor)
    if problem.penalty:
        step = _solve_penalised(problem, solver, state.coef, weight, residual)
    else:
        step = solver.solve(weight, residual)
    proposed = _evaluate(problem, rows, state.coef + step)
    chosen = _halve(problem, rows, state, proposed, state.loss + slack)
    if chosen is state:
        rows.evaluate(state.predictor)
    # That of the whole step: halved ones are also small near a boundary.
    moves, step = proposed.predictor - state.predictor, proposed.coef - state.coef
    foreseen = float(np.einsum("i,i,i->", weight, moves, moves))
    return chosen, foreseen + problem.penalty * float(step[1:] @ step[1:])


def _solve_penalised(problem, solver, coef, weight, residual):
    """Solve for a step with slopes shrunk to 0, not to those of the last step."""
    fitted = np.asarray(problem.X @ coef[1:]).ravel() + coef[0]
    return solver.solve(weight, residual + fitted) - coef


def _halve(problem, rows, old, new, limit):
    """Halve the step from the old state until the loss is within the limit."""
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
    """Fit the intercept alone, or nothing if there is none.

    Parameters
    ----------
    problem : Problem
        The problem, whose columns are left out.

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
        is_attained = is_sound is None or is_sound[0]
        if not is_attained and (problem.y == problem.y[0]).all():
            return first, 0.0  # the limit, with all targets at the same boundary
        return first, rows.evaluate(np.full(len(problem.y), first))
    empty = replace(problem, X=np.empty((len(problem.y), 0)), penalty=0.0)
    base = np.array([first - problem.weight @ offset / problem.weight.sum()])
    fit = fit_reweighted(empty, base)
    return float(fit.coef[0]), fit.deviance


def measure_leverages(X, weight, centre, inverse, share):
    r"""Compute the leverages :math:`h_i = w_i z_i^T (Z^T W Z)^{-1} z_i`.

    With centred columns, which lose no digits if columns are far from zero,

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
        The inverse of the sum of the weights.

    Returns
    -------
    leverages : ndarray of shape (n_rows,)
        Leverages; over all rows they sum to the rank.
    """
    leverages = np.empty(X.shape[0])
    for start in range(0, X.shape[0], LEVERAGE_ROWS):
        block = X[start : start + LEVERAGE_ROWS]
        block = (block.toarray() if issparse(block) else block) - centre
        squares = np.einsum("ij,ij->i", block @ inverse, block)
        leverages[start : start + LEVERAGE_ROWS] = share + squares
    return weight * leverages
