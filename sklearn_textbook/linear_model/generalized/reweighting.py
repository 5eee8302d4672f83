"""Iteratively reweighted least squares (迭代重加权最小二乘)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
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
from sklearn_textbook.linear_model.solve.quasi_newton import minimize_bfgs
from sklearn_textbook.linear_model.solve.row_blocks import (
    SAMPLE_STEP,
    MappedRows,
    read_rows,
    take_columns,
    take_every,
    take_rows,
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
#: Minimum number of rows of a sample for each column, and of all of them.
ROWS_PER_COLUMN, MIN_SAMPLE = 8, 2000
#: Largest mean deviance of all rows with the coefficients of the sample, relative to
#: that of the sample.
WORST_SAMPLE = 1.25
#: Largest change of a predictor of the sample in the last step.
LARGEST_MOVE = 0.5
#: Maximum number of steps with its second derivatives. Few are usually enough.
MAX_SAMPLE_STEPS = 15
#: Change of the deviance that ends the fit of a sample, as a fraction of the mean
#: deviance of a row, for each coefficient.
SAMPLE_PRECISION = 0.01
#: Rows of which leverages are computed at a time.
LEVERAGE_ROWS = 4096
#: Rows of a task: its few vectors stay in the cache of a core.
TASK_ROWS = 8192
#: Cells of the table for a task that also reads the columns, and its minimum of rows.
TASK_CELLS, MIN_TASK_ROWS = 2**17, 1024


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
        # Only that of the gamma distribution falls.
        self.is_increasing = name != "inverse"
        self.has_newton = self.link.name == "log" and (
            hasattr(self.family, "compute_newton")
        )
        self.mean = self.make_vector()

    def evaluate(self, predictor: np.ndarray | Any) -> float:
        """Compute the means at the predictors, and the deviance."""

        def measure(y, weight, predictors, means):
            mean, unit = self.find_means(y, predictors)
            if mean is None:
                return np.inf
            means[:] = mean
            return float(weight @ unit)

        deviance = 0.0
        for found in self._map_rows(measure, [predictor], [self.mean]):
            deviance += float(np.sum(found))
        return deviance if np.isfinite(deviance) else np.inf

    def find_means(self, y, predictors) -> tuple:
        """Means of a few rows, and their unit deviances; None if some are invalid."""
        valid = self.link.find_valid(predictors)
        if valid is not None and not valid.all():
            return None, None
        mean = self.link.invert(predictors)
        valid = self.family.find_valid(mean)
        if valid is not None and not valid.all():
            return None, None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return mean, self.family.compute_deviance(y, mean)

    def weigh(self, y, weight, predictors, mean) -> tuple:
        """Weights and working residuals of a few rows."""
        slope = self.link.differentiate(predictors, mean)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            residuals = (y - mean) / slope
            if not self.is_canonical:
                slope = np.square(slope) / self.family.compute_variance(mean)
            return weight * np.abs(slope), residuals

    def score(self, y, weight, predictors, mean):
        """Compute derivatives of minus half of the deviance by the predictors."""
        if self.is_canonical and self.is_increasing:
            return weight * (y - mean)
        factor, residuals = self.weigh(y, weight, predictors, mean)
        return factor * residuals

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
            weights[:], residuals[:] = self.weigh(y, weight, predictors, mean)

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

            found = self.call_each(call, block.stop - block.start)
            if is_stored:
                for vector, part in zip(written, filled, strict=True):
                    vector[block] = part
            for first in range(0, len(found), n_tasks):
                yield found[first : first + n_tasks]

    def call_each(self, function, n_rows, n_task_rows=TASK_ROWS):
        """Call a function with slices of a few rows; results in order."""
        blocks = list(list_blocks(n_rows, n_task_rows))
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

    def take_sample(self, step: int) -> Problem:
        """Return that of every ``step``-th row, to the precision of its estimates."""
        y = take_every(self.y, step)
        return replace(
            self,
            X=take_every(self.X, step),
            y=y,
            weight=take_every(self.weight, step),
            offset=None if self.offset is None else take_every(self.offset, step),
            penalty=self.penalty / step,
            tol=SAMPLE_PRECISION * (1 + self.X.shape[1]) / len(y),
            make_file=None,
        )

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
    has_converged, is_stuck, move = False, False, np.inf
    if start is None and problem.max_iter > 1:
        state, has_converged = _start_from_sample(problem, rows, path)
        move = 0.0 if has_converged else move
    if state is None or not np.isfinite(state.loss):
        state, n_iter = _take_first_step(problem, rows, solver, base), 1
    else:
        n_iter = max(len(path) - 1, 0)
    if not path:
        path.append(state.deviance)
    scale = _measure_scale(problem)
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


def _fit_sample(problem: Problem):
    """Fit every 16th row of a large table, to the precision of its estimates.

    Its coefficients differ from those of all rows by about four standard errors.
    Returns the fit and directions of unit curvature of half of the deviance, one in
    each column; None if the sample is too small or does not determine all coefficients.
    """
    n_rows = len(problem.y) // SAMPLE_STEP
    if n_rows < max(MIN_SAMPLE, ROWS_PER_COLUMN * (1 + problem.X.shape[1])):
        return None
    try:
        fit = fit_reweighted(problem.take_sample(SAMPLE_STEP))
    except ValueError:  # no initial coefficients were found
        return None
    weight, _ = fit.rows.reweight(fit.predictor)
    found = fit.solver.describe(weight)
    is_sound = fit.has_converged and np.isfinite(fit.coef).all()
    # Coefficients of which some diverge still move.
    if not is_sound or fit.solver.is_delicate or fit.largest_move > LARGEST_MOVE:
        return None
    root = found.root
    directions = np.zeros((len(fit.coef), 1 + root.shape[1]))
    directions[0, 0] = np.sqrt(found.fraction)
    directions[0, 1:] = -found.centre @ root if problem.fit_intercept else 0.0
    directions[1:, 1:] = root
    return fit, directions / np.sqrt(SAMPLE_STEP)


def _start_from_sample(problem: Problem, rows, path: list):
    """Take steps with the second derivatives of a sample, estimated by BFGS.

    A step reduces the error by a large factor, and takes less time than one of weighted
    least squares. Returns the state, None if there is no sample or if it does not
    describe the other rows, and whether it has converged. Adds deviances to the path.
    """
    sample = _fit_sample(problem)
    if sample is None:
        return None, False
    fit, directions = sample
    predictor = problem.make_vector()
    with use_one_blas_thread():  # the threads divide the rows
        loss, gradient = _differentiate(problem, rows, fit.coef, predictor)
    added = problem.penalty * float(fit.coef[1:] @ fit.coef[1:])
    limit = WORST_SAMPLE * fit.deviance / add_up(fit.rows.weight)
    if not loss - added <= limit * problem.total_weight:
        return None, False
    path.append(loss - added)
    known = [(loss, gradient)]
    limit = problem.tol * (abs(loss) + 0.1 * _measure_scale(problem))

    def find_coef(x):
        return fit.coef + directions @ x

    def evaluate(x):
        if known:
            loss, gradient = known.pop()
        else:
            loss, gradient = _differentiate(problem, rows, find_coef(x), predictor)
        return 0.5 * loss, directions.T @ gradient

    def note(x, loss):
        slopes = find_coef(x)[1:]
        path.append(2.0 * loss - problem.penalty * float(slopes @ slopes))

    with use_one_blas_thread():
        found = minimize_bfgs(
            evaluate,
            np.zeros(directions.shape[1]),
            min(problem.max_iter, MAX_SAMPLE_STEPS),
            np.sqrt(FINE * limit / len(fit.coef)),
            note,
        )
    coef = find_coef(found.x)
    if found.reason:
        return _evaluate(problem, rows, coef), False
    # The last evaluation was there.
    return _State(coef, predictor, path[-1], 2.0 * found.path[-1]), True


def _differentiate(problem: Problem, rows, coef, predictor):
    """Compute the loss, infinite if a mean is invalid, and derivatives of its half.

    It also fills in predictors and means. Rows are read once, a few at a time, which
    stay in the cache.
    """
    n_coefficients = len(coef)
    is_stored = problem.make_file is not None
    n_few = min(max(TASK_CELLS // n_coefficients, MIN_TASK_ROWS), TASK_ROWS)

    def measure(X, y, weight, offset, predictors, means):
        found = np.asarray(X @ coef[1:]).ravel()
        found += coef[0] if offset is None else coef[0] + offset
        mean, unit = rows.find_means(y, found)
        if mean is None:
            return np.inf, np.zeros(n_coefficients)
        predictors[:], means[:] = found, mean
        deviance = float(weight @ unit)
        scores = rows.score(y, weight, found, mean)
        along = np.asarray(scores @ X).ravel()
        return deviance, np.append(scores.sum(), along)

    deviance, gradient = 0.0, np.zeros(n_coefficients)
    for block in list_blocks(len(problem.y)):
        X, y = read_rows(problem.X, block), read_rows(problem.y, block)
        parts = [X, y, read_rows(problem.weight, block)]
        parts += [None if problem.offset is None else problem.read_offset(block)]
        filled = [predictor[block], rows.mean[block]]
        parts += filled

        def call(few, parts=parts):
            return measure(
                *(None if part is None else take_rows(part, few) for part in parts)
            )

        for found, derivatives in rows.call_each(call, len(y), n_few):
            deviance += found
            gradient -= derivatives
        if is_stored:
            predictor[block], rows.mean[block] = filled
    slopes = coef[1:]
    gradient[1:] += problem.penalty * slopes
    loss = deviance + problem.penalty * float(slopes @ slopes)
    return (loss if np.isfinite(loss) else np.inf), gradient


def _measure_scale(problem: Problem) -> float:
    """Size of a deviance that counts as large."""
    scale = problem.family.measure_scale(problem.means)
    return scale * min(1.0, problem.total_weight / len(problem.y))


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
        return first, _evaluate_constant(problem, rows, first)
    empty = replace(problem, X=np.empty((n_rows, 0)), penalty=0.0)
    total = problem.add_up(
        lambda rows: read_rows(problem.weight, rows) @ problem.read_offset(rows)
    )
    base = np.array([first - total / problem.total_weight])
    fit = fit_reweighted(empty, base)
    return float(fit.coef[0]), fit.deviance


def _evaluate_constant(problem: Problem, rows, predictor: float) -> float:
    """Deviance of the same predictor for all rows."""

    def measure(y, weight):
        mean, unit = rows.find_means(y, np.array([predictor]))
        return np.inf if mean is None else float(weight @ unit)

    deviance = 0.0
    for block in list_blocks(len(problem.y)):
        y, weight = read_rows(problem.y, block), read_rows(problem.weight, block)

        def call(few, y=y, weight=weight):
            return measure(y[few], weight[few])

        deviance += float(np.sum(rows.call_each(call, len(y))))
    return deviance if np.isfinite(deviance) else np.inf


def _is_constant(y):
    """Whether all targets are equal."""
    first = y[:1]
    return all((y[rows] == first).all() for rows in list_blocks(len(y)))


def measure_leverages(
    X: np.ndarray | csr_array,
    weight: np.ndarray,
    centre: np.ndarray,
    root: np.ndarray,
    fraction: float,
) -> np.ndarray:
    r"""Compute the leverages :math:`h_i = w_i z_i^T (Z^T W Z)^{-1} z_i`.

    With centred columns, which lose no digits if columns are far from zero, and a root
    R of the inverse, which loses none if they are nearly dependent,

    .. math:: h_i = w_i \Bigl(\frac{1}{\sum_j w_j} + |R^T (x_i - m)|^2\Bigr).
    """
    leverages = np.empty(X.shape[0])
    for start in range(0, X.shape[0], LEVERAGE_ROWS):
        block = X[start : start + LEVERAGE_ROWS]
        block = (block.toarray() if issparse(block) else block) - centre
        squares = np.square(block @ root).sum(axis=1)
        leverages[start : start + LEVERAGE_ROWS] = fraction + squares
    return weight * leverages


def find_symmetric_root(covariance: np.ndarray) -> np.ndarray:
    """Root of a well-conditioned covariance; NaN if it has some."""
    if not np.isfinite(covariance).all():
        return np.full(covariance.shape, np.nan)
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
