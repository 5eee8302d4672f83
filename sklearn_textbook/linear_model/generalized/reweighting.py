"""Iteratively reweighted least squares (迭代重加权最小二乘)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.blocks import BLOCK_ROWS, add_up, list_blocks
from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.linear_model.generalized.families import (
    Family,
    choose_mean_start,
    measure_means,
)
from sklearn_textbook.linear_model.generalized.links import EPSILON, Link
from sklearn_textbook.linear_model.least_squares.solution import solve
from sklearn_textbook.linear_model.solve.row_blocks import (
    MappedRows,
    read_rows,
    take_columns,
)
from sklearn_textbook.linear_model.solve.row_triangle import reduce_rows
from sklearn_textbook.linear_model.solve.weighted_solution import WeightedSolver

#: Largest deviance after the first step, relative to the null deviance. R has no limit.
WORST_START = 2.0
#: With other links than the canonical one, the reduction expected of further steps, as
#: a fraction of the change of the deviance that ends the iteration.
FINE = 1e-5
#: Maximum number of times that a step is halved.
MAX_HALVINGS = 40
#: Rows of which leverages are computed at a time.
LEVERAGE_ROWS = 4096
#: Rows of a task: its few vectors stay in the cache of a core.
TASK_ROWS = 8192


class WorkingRows:
    r"""The target and, at given predictors, means, weights and residuals.

    All are vectors in memory, or in files of which one block at a time is in memory.
    """

    def __init__(self, problem: Problem) -> None:
        self.y, self.weight = problem.y, problem.weight
        self.family, self.link = problem.family, problem.link
        self.n_threads = problem.n_threads
        self.make_vector = problem.make_vector
        # With the canonical link, V(mu) is the derivative of the mean.
        name, _ = self.family.canonical_link
        self.is_canonical = self.link.name == name and name != "power"
        self.has_newton = self.link.name == "log" and (
            hasattr(self.family, "compute_newton")
        )
        self.mean = self.make_vector()

    def evaluate(self, predictor: np.ndarray | Any) -> float:
        """Compute the means at the predictors, and the deviance."""

        def measure(y, weight, predictors, means):
            valid = self.link.find_valid(predictors)
            if valid is not None and not valid.all():
                return np.inf
            mean = self.link.invert(predictors)
            valid = self.family.find_valid(mean)
            if valid is not None and not valid.all():
                return np.inf
            means[:] = mean
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                unit = self.family.compute_deviance(y, mean)
                return float(weight @ unit)

        deviance = 0.0
        for found in self._map_rows(measure, [predictor], [self.mean]):
            deviance += float(np.sum(found))
        return deviance if np.isfinite(deviance) else np.inf

    def reweight(self, predictor: np.ndarray | Any, *, is_step: bool = False) -> tuple:
        r"""Compute weights and working residuals at the predictors last evaluated.

        The weights are :math:`w (d\mu/d\eta)^2 / V(\mu)`, the working residuals
        :math:`(y - \mu) / (d\mu/d\eta)`. For a step of families that have them, they
        are those of Newton's method.

        Returns (weight, residual).
        """
        weights, residuals = self.make_vector(), self.make_vector()

        def weigh(y, weight, predictors, mean, weights, residuals):
            if is_step and self.has_newton:
                curvature, residuals[:] = self.family.compute_newton(y, mean)
                np.multiply(weight, curvature, out=weights)
                return
            slope = self.link.differentiate(predictors, mean)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                residuals[:] = (y - mean) / slope
                if not self.is_canonical:
                    variance = self.family.compute_variance(mean)
                    slope = np.square(slope) / variance
                np.multiply(weight, np.abs(slope), out=weights)

        for _ in self._map_rows(weigh, [predictor, self.mean], [weights, residuals]):
            pass
        return weights, residuals

    def _map_rows(self, function, read, written):
        """Call a function with vectors of rows, some of which it fills in.

        It is called for a few rows at a time. Yields its results for each block.
        """
        n_rows = len(self.y)
        is_stored = not isinstance(self.mean, np.ndarray)
        n_tasks = BLOCK_ROWS // TASK_ROWS
        for block in list_blocks(n_rows) if is_stored else [slice(0, n_rows)]:
            vectors = [
                read_rows(vector, block) for vector in (self.y, self.weight, *read)
            ]
            filled = [vector[block] for vector in written]

            def call(rows, vectors=(*vectors, *filled)):
                return function(*(vector[rows] for vector in vectors))

            found = self._call_each(call, block.stop - block.start)
            if is_stored:
                for vector, part in zip(written, filled, strict=True):
                    vector[block] = part
            for first in range(0, len(found), n_tasks):
                yield found[first : first + n_tasks]

    def _call_each(self, function, n_rows):
        """Call a function with slices of a few rows; results in order."""
        blocks = list(list_blocks(n_rows, TASK_ROWS))
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

    #: The table, in memory or in files. Shape (n_rows, n_columns).
    X: Any
    #: The target, in memory or in a file. Shape (n_rows,).
    y: np.ndarray | Any
    #: Weights, all above 0. Shape (n_rows,).
    weight: np.ndarray | Any
    #: Numbers added to the predictors. Shape (n_rows,).
    offset: np.ndarray | Any | None
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
    #: Makes a file of a number for each row; None: vectors are in memory.
    make_file: Callable | None = None

    @cached_property
    def n_threads(self):
        """Number of threads for a table of this size."""
        return count_threads(self.n_jobs, self.X.shape[0] * (self.X.shape[1] + 1))

    @cached_property
    def means(self):
        """Weighted means of the target."""
        return measure_means(self.y, self.weight)

    @cached_property
    def total_weight(self):
        """Sum of the weights."""
        return add_up(self.weight)

    @property
    def is_least_squares(self):
        """Whether the first step leads to the minimum."""
        is_normal = getattr(self.family, "power", None) == 0.0
        return is_normal and self.link.name == "identity" and not self.penalty

    def make_rows(self) -> WorkingRows:
        """Make the rows, whose means are not computed yet."""
        return WorkingRows(self)

    def make_vector(self):
        """Make a vector of a number for each row, 0 at first."""
        return np.zeros(len(self.y)) if self.make_file is None else self.make_file()

    def fill_vector(self, function):
        """Make a vector from a function of the slices of blocks of rows."""
        n_rows = len(self.y)
        if self.make_file is None and n_rows <= BLOCK_ROWS:
            return function(slice(0, n_rows))
        vector = self.make_vector()
        for rows in list_blocks(n_rows):
            vector[rows] = function(rows)
        return vector

    def add_up(self, function) -> float:
        """Add up a function of the slices of blocks of rows."""
        total = 0.0
        for rows in list_blocks(len(self.y)):
            total += float(function(rows))
        return total

    def select(self, columns):
        """Return the same problem with some of the columns."""
        return replace(self, X=take_columns(self.X, columns))

    def multiply(self, coef, rows):
        """Multiply a block of rows by coefficients, the intercept first among them."""
        sums = np.asarray(read_rows(self.X, rows) @ coef[1:]).ravel()
        sums += coef[0]
        return sums

    def read_offset(self, rows):
        """Read a block of the offset; 0 without one."""
        return 0.0 if self.offset is None else read_rows(self.offset, rows)

    def predict(self, coef):
        """Linear predictors, with the intercept first among the coefficients."""
        if self.offset is None:
            return self.fill_vector(lambda rows: self.multiply(coef, rows))
        return self.fill_vector(
            lambda rows: self.multiply(coef, rows) + self.read_offset(rows)
        )


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
    predictor: np.ndarray | Any
    #: Solver of the steps.
    solver: WeightedSolver


@dataclass
class _State:
    """Coefficients, predictors and the deviance with its penalty."""

    coef: np.ndarray
    predictor: np.ndarray | Any
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

    Least squares with independent columns are solved by orthogonal transformations,
    which lose fewer digits than products of columns.
    """
    rows = problem.make_rows()
    solver = WeightedSolver(
        problem.X, problem.fit_intercept, problem.penalty, problem.n_threads
    )
    path = []
    state = _solve_least_squares(problem, rows) if problem.is_least_squares else None
    if state is not None:
        path.append(state.deviance)
        return Fit(
            *(state.coef, state.deviance, np.array(path), 1, True, False, 0.0),
            *(rows, state.predictor, solver),
        )
    state = None if start is None else _evaluate(problem, rows, start)
    if state is None or not np.isfinite(state.loss):
        state, n_iter = _take_first_step(problem, rows, solver, base), 1
    else:
        n_iter = 0
    path.append(state.deviance)
    scale = problem.family.measure_scale(problem.means)
    scale *= min(1.0, problem.total_weight / len(problem.y))
    has_converged, is_stuck, move = False, False, np.inf
    is_linear, last = not (rows.is_canonical or rows.has_newton), 0.0
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
        limit = problem.tol * (abs(next_state.loss) + 0.1 * scale)
        has_converged = change <= limit
        if has_converged and is_linear and next_state is not state and foreseen > 0.0:
            # Steps shrink by a factor: what would further ones still reduce?
            factor = foreseen / max(last, foreseen)
            has_converged = foreseen * factor <= FINE * limit
        last = foreseen
        is_stuck = next_state is state and not has_converged
        if has_converged or n_iter == problem.max_iter:
            move = _find_largest_move(problem, state, next_state)
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


def _solve_least_squares(problem: Problem, rows):
    """Solve by orthogonal transformations; None if columns depend on others."""
    n_rows, n_columns = problem.X.shape
    if not 0 < n_columns < n_rows:
        return None
    target = problem.y
    if problem.offset is not None:
        target = problem.fill_vector(
            lambda rows: problem.y[rows] - problem.read_offset(rows)
        )
    if isinstance(target, np.ndarray):
        target = target[:, np.newaxis]
    else:
        target = MappedRows(target, lambda block: block[:, np.newaxis], 1)
    with np.errstate(over="ignore", invalid="ignore"):
        triangle = reduce_rows(
            *(problem.X, target, problem.weight),
            has_intercept=problem.fit_intercept,
            n_threads=problem.n_threads,
        )
    if not np.isfinite(triangle.triangle).all():
        return None
    found = solve(triangle)
    if found.rank < n_columns:
        return None
    coef = np.append(found.intercepts, found.coefficients[:, 0])
    state = _evaluate(problem, rows, coef)
    return state if np.isfinite(state.loss) else None


def _find_largest_move(problem: Problem, state, next_state):
    """Largest change of a predictor between two states."""
    largest = 0.0
    for rows in list_blocks(len(problem.y)):
        moves = next_state.predictor[rows] - state.predictor[rows]
        largest = np.maximum(largest, np.max(np.abs(moves), initial=0.0))
    return largest


def _take_first_step(problem: Problem, rows, solver, base):
    """Find starting coefficients from means close to y, or from one mean for all."""

    def choose(block):
        return choose_mean_start(
            *(problem.family, problem.link),
            *(read_rows(problem.y, block), read_rows(problem.weight, block)),
            *(problem.means, problem.has_trials),
        )

    average = problem.add_up(
        lambda block: read_rows(problem.weight, block) @ choose(block)
    )
    average /= problem.total_weight
    based = None if base is None else _evaluate(problem, rows, base)

    def repeat(block):
        return np.full(block.stop - block.start, average)

    for find_means in (choose, repeat):

        def apply(block, find_means=find_means):
            return problem.link.apply(find_means(block))

        predictor = problem.fill_vector(apply)
        rows.evaluate(predictor)
        weight, residual = rows.reweight(predictor)

        def add(block, predictor=predictor, residual=residual):
            return predictor[block] - problem.read_offset(block) + residual[block]

        coef = solver.solve(weight, problem.fill_vector(add))
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
    weight, residual = rows.reweight(state.predictor, is_step=True)
    if problem.penalty:
        step = _solve_penalised(problem, solver, state.coef, weight, residual)
    else:
        step = solver.solve(weight, residual)
    proposed = _evaluate(problem, rows, state.coef + step)
    chosen = _halve(problem, rows, state, proposed, state.loss + slack)
    if chosen is state:
        rows.evaluate(state.predictor)
    # That of the whole step: halved ones are also small near a boundary.
    step = proposed.coef - state.coef

    def measure(block):
        moves = proposed.predictor[block] - state.predictor[block]
        return np.einsum("i,i,i->", weight[block], moves, moves)

    foreseen = problem.add_up(measure)
    return chosen, foreseen + problem.penalty * float(step[1:] @ step[1:])


def _solve_penalised(problem: Problem, solver, coef, weight, residual):
    """Solve for a step with slopes shrunk to 0, not to those of the last step."""
    target = problem.fill_vector(
        lambda rows: residual[rows] + problem.multiply(coef, rows)
    )
    return solver.solve(weight, target) - coef


def _halve(problem: Problem, rows, old, new, limit):
    """Halve the step from the old state until the loss is within the limit."""
    if new.loss <= limit:
        return new
    fraction, state = 1.0, new
    for _ in range(MAX_HALVINGS):
        fraction *= 0.5
        with np.errstate(invalid="ignore"):
            coef = old.coef + fraction * (new.coef - old.coef)
            predictor = _move_predictor(problem, old, new, fraction)
        state = _evaluate(problem, rows, coef, predictor)
        if state.loss <= limit:
            return state
    return old


def _move_predictor(problem: Problem, old, new, fraction):
    """Predictors on the way from one state to another."""

    def move(rows):
        before = old.predictor[rows]
        return before + fraction * (new.predictor[rows] - before)

    return problem.fill_vector(move)


def fit_constant(problem: Problem) -> tuple[float, float]:
    """Fit the intercept alone, or nothing if there is none.

    Returns (coef, deviance).
    """
    rows = problem.make_rows()
    n_rows, offset = len(problem.y), problem.offset
    if not problem.fit_intercept:
        offset = np.broadcast_to(0.0, n_rows) if offset is None else offset
        return 0.0, rows.evaluate(offset)
    mean = problem.means.mean
    target = np.array([mean]), np.ones(1)
    start = choose_mean_start(
        problem.family, problem.link, *target, measure_means(*target)
    )
    is_sound = problem.family.find_valid(np.array([mean]))
    if (is_sound is None or is_sound[0]) and not (
        problem.link.takes_positive and mean <= 0.0
    ):
        start = np.array([mean])
    first = float(problem.link.apply(start)[0])
    if offset is None:
        is_attained = is_sound is None or is_sound[0]
        if not is_attained and _is_constant(problem.y):
            return first, 0.0  # the limit, with all targets at the same boundary
        return first, rows.evaluate(np.broadcast_to(first, n_rows))
    empty = replace(problem, X=np.empty((n_rows, 0)), penalty=0.0)
    total = problem.add_up(
        lambda rows: read_rows(problem.weight, rows) @ problem.read_offset(rows)
    )
    base = np.array([first - total / problem.total_weight])
    fit = fit_reweighted(empty, base)
    return float(fit.coef[0]), fit.deviance


def _is_constant(y):
    """Whether all targets are equal."""
    first = y[:1]
    return all((y[rows] == first).all() for rows in list_blocks(len(y)))


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
