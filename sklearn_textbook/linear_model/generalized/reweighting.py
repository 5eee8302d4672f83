"""Iteratively reweighted least squares (迭代重加权最小二乘)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array, issparse

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
    r"""The target and, at given predictors, means, weights and residuals."""

    def __init__(
        self,
        y: np.ndarray,
        weight: np.ndarray,
        family: Family,
        link: Link,
        n_threads: int = 1,
    ) -> None:
        self.y = y
        self.weight = weight
        self.family = family
        self.link = link
        self.n_threads = n_threads
        # With the canonical link, V(mu) is the derivative of the mean.
        name, _ = family.canonical_link
        self.is_canonical = link.name == name and link.name != "power"
        self.mean = np.empty_like(y)

    def evaluate(self, predictor: np.ndarray) -> float:
        """Compute the means at the predictors, and the deviance."""

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

    def reweight(self, predictor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r"""Compute weights and working residuals at the predictors last evaluated.

        The weights are :math:`w (d\mu/d\eta)^2 / V(\mu)`, the working residuals
        :math:`(y - \mu) / (d\mu/d\eta)`.

        Returns (weight, residual).
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
        fractions = [blocks[first:last] for first, last in pairwise(bounds)]
        with ThreadPoolExecutor(n_threads) as pool:
            answers = pool.map(
                lambda fraction: list(map(function, fraction)), fractions
            )
            return [answer for part in answers for answer in part]


@dataclass(frozen=True)
class Problem:
    """Problem to fit."""

    #: The table. Shape (n_rows, n_columns).
    X: object
    #: The target. Shape (n_rows,).
    y: np.ndarray
    #: Weights, all above 0. Shape (n_rows,).
    weight: np.ndarray
    #: Numbers added to the predictors. Shape (n_rows,).
    offset: np.ndarray | None
    #: Distribution of the target about its mean.
    family: Family
    #: The link function.
    link: Link
    #: Whether there is an intercept.
    fit_intercept: bool = True
    #: Factor of the sum of squared slopes.
    penalty: float = 0.0
    #: Relative change of the deviance that ends the iteration.
    tol: float = 1e-8
    #: Largest number of steps.
    max_iter: int = 100
    #: Threads.
    n_jobs: int | None = None
    #: Whether weights are numbers of trials with proportion y, not of rows.
    has_trials: bool = False

    @cached_property
    def n_threads(self):
        """Number of threads for a table of this size."""
        return count_threads(self.n_jobs, self.X.shape[0] * (self.X.shape[1] + 1))

    def make_rows(self) -> WorkingRows:
        """Make the rows, whose means are not computed yet."""
        return WorkingRows(self.y, self.weight, self.family, self.link, self.n_threads)

    def select(self, columns):
        """Return the same problem with some of the columns."""
        return replace(self, X=self.X[:, columns])

    def predict(self, coef):
        """Linear predictors, with the intercept first among the coefficients."""
        predictor = np.asarray(self.X @ coef[1:]).ravel() + coef[0]
        return predictor if self.offset is None else predictor + self.offset


@dataclass(frozen=True)
class Fit:
    """Result of the iteration."""

    #: The intercept, 0 if there is none, and the slopes. Shape (1 + n_columns,).
    coef: np.ndarray
    #: Deviance at the coefficients.
    deviance: float
    #: Deviance at the start, if it has one, and after every step. Shape (n_iter + 1,).
    deviance_path: np.ndarray
    #: Number of steps.
    n_iter: int
    #: Whether the deviance converged, and the next step would not change it.
    has_converged: bool
    #: Whether the iteration ended because no part of a step reduces the deviance: at
    #: the boundary of the valid means.
    is_stuck: bool
    #: Largest change of a predictor in the last step.
    largest_move: float
    #: The rows, with their means at the coefficients.
    rows: WorkingRows
    #: The linear predictors at the coefficients. Shape (n_rows,).
    predictor: np.ndarray
    #: Solver of the steps.
    solver: WeightedSolver


@dataclass
class _State:
    """Coefficients, predictors and the deviance with its penalty."""

    coef: np.ndarray
    predictor: np.ndarray
    deviance: float
    loss: float


def fit_reweighted(
    problem: Problem, base: np.ndarray | None = None, start: np.ndarray | None = None
) -> Fit:
    r"""Minimise the deviance by iteratively reweighted least squares.

    A step solves the least squares of the working residuals
    :math:`(y - \mu) / \mu'(\eta)` with the weights :math:`w \mu'(\eta)^2 / V(\mu)`. The
    first one starts from means close to y, as R's glm does. A step that makes a mean
    invalid or the deviance larger is halved; so is the first one, towards the constant
    model, if it leads to much more than the null deviance.
    """
    rows = problem.make_rows()
    solver = WeightedSolver(
        problem.X, problem.fit_intercept, problem.penalty, problem.n_threads
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


def _evaluate(problem: Problem, rows, coef, predictor=None):
    """Compute the state at some coefficients."""
    if predictor is None:
        predictor = problem.predict(coef)
    deviance = rows.evaluate(predictor)
    slopes = coef[1:]
    loss = deviance + problem.penalty * float(slopes @ slopes)
    return _State(coef, predictor, deviance, loss)


def _take_first_step(problem: Problem, rows, solver, base):
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


def _take_step(problem: Problem, rows, solver, state, slack):
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


def _solve_penalised(problem: Problem, solver, coef, weight, residual):
    """Solve for a step with slopes shrunk to 0, not to those of the last step."""
    fitted = np.asarray(problem.X @ coef[1:]).ravel() + coef[0]
    return solver.solve(weight, residual + fitted) - coef


def _halve(problem: Problem, rows, old, new, limit):
    """Halve the step from the old state until the loss is within the limit."""
    if new.loss <= limit:
        return new
    fraction, state = 1.0, new
    for _ in range(MAX_HALVINGS):
        fraction *= 0.5
        with np.errstate(invalid="ignore"):
            coef = old.coef + fraction * (new.coef - old.coef)
            predictor = old.predictor + fraction * (new.predictor - old.predictor)
        state = _evaluate(problem, rows, coef, predictor)
        if state.loss <= limit:
            return state
    return old


def fit_constant(problem: Problem) -> tuple[float, float]:
    """Fit the intercept alone, or nothing if there is none.

    Returns (coef, deviance).
    """
    rows = problem.make_rows()
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


def measure_leverages(
    X: np.ndarray | csr_array,
    weight: np.ndarray,
    centre: np.ndarray,
    inverse: np.ndarray,
    fraction: float,
) -> np.ndarray:
    r"""Compute the leverages :math:`h_i = w_i z_i^T (Z^T W Z)^{-1} z_i`.

    With centred columns, which lose no digits if columns are far from zero,

    .. math:: h_i = w_i \Bigl(\frac{1}{\sum_j w_j} + (x_i - m)^T C (x_i - m)\Bigr).
    """
    leverages = np.empty(X.shape[0])
    for start in range(0, X.shape[0], LEVERAGE_ROWS):
        block = X[start : start + LEVERAGE_ROWS]
        block = (block.toarray() if issparse(block) else block) - centre
        squares = np.einsum("ij,ij->i", block @ inverse, block)
        leverages[start : start + LEVERAGE_ROWS] = fraction + squares
    return weight * leverages
