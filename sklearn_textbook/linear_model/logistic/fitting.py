"""Maximising the likelihood of a logistic regression."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import linalg

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.memory import MANY_CLASSES, require_memory
from sklearn_textbook.linear_model.generalized.profile_likelihood import find_interval
from sklearn_textbook.linear_model.logistic.basis import (
    find_basis,
    find_involved,
    find_row_space,
)
from sklearn_textbook.linear_model.logistic.curvature import (
    factor_curvature,
    factor_hessian,
)
from sklearn_textbook.linear_model.logistic.firth import (
    PROFILE_ITERATIONS,
    PROFILE_TOLERANCE,
    FirthProfile,
    measure_null,
    solve_firth,
)
from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.logistic.sample_start import find_start
from sklearn_textbook.linear_model.logistic.separation import find_separation
from sklearn_textbook.linear_model.logistic.solvers import (
    SOLVERS,
    STOCK_SOLVERS,
    Solution,
    solve_lbfgs,
    solve_newton,
    solve_newton_late,
    solve_working_sets,
)
from sklearn_textbook.linear_model.solve.row_blocks import SAMPLE_STEP

#: Up to this number of coefficients, "auto" is Newton's method with one BLAS thread.
MAX_EQUATIONS = 1000
#: Up to this number, other solvers also compute the Hessian for standard errors.
MAX_COEFFICIENTS = 2000
#: Minimum fraction of the square of a column after centring; less may be rounding.
MIN_SPREAD = 1e-20
#: Minimum number of rows of a sample for each coefficient of a score.
SAMPLE_ROWS = 64
#: Maximum size in bytes of matrices that are not required.
MAX_UNASKED = 2**30
#: Probabilities of an iteration above which a warning is given, and time for each.
MANY_NUMBERS, SECONDS_PER_NUMBER = 10**8, 30e-9
#: Solvers that keep a matrix of the squared number of coefficients, and how many.
MATRICES = {"newton": 4, "bfgs": 4}
#: Solvers that start from a sample of the rows, and what they use its Hessian for.
SAMPLING = {"newton": solve_newton_late, "lbfgs": solve_lbfgs}


@dataclass(frozen=True)
class FittedLogistic:
    """Result of a fit."""

    #: Result of the solver.
    solution: Solution
    #: Coefficients with their covariance.
    estimates: Estimates
    #: Without the penalty.
    log_likelihood: float
    #: Whether classes can be separated.
    separation: str | None
    #: Rank of the table with the intercept.
    rank: int | None
    #: Columns with a component in directions that do not change scores. Shape
    #: (n_columns,).
    is_dependent: np.ndarray
    #: Likelihood-ratio statistic of all slopes with Firth's penalty.
    firth_statistic: float | None = None


def choose_solver(solver, likelihood: LogisticLikelihood):
    """Return the solver that "auto", or a name of scikit-learn's, selects."""
    solver = STOCK_SOLVERS.get(solver, solver)
    if solver != "auto":
        return solver
    is_small = math.prod(likelihood.shape) <= MAX_EQUATIONS
    if likelihood.l1.any() or (is_small and has_memory(likelihood)):
        return "newton"
    return "lbfgs"


def find_solver(solver, likelihood: LogisticLikelihood):
    """Return the function of a solver; refuse matrices larger than the memory."""
    if solver == "newton" and likelihood.l1.any():
        n_coefficients = math.prod(likelihood.shape)
        is_small = n_coefficients <= MAX_EQUATIONS and has_memory(likelihood)
        return solve_newton if is_small else solve_working_sets
    require_memory(
        measure_matrices(solver, likelihood),
        f"solver={solver!r}",
        f"for {likelihood.n_scores} vector(s) of {likelihood.n_parameters} "
        f"coefficients and {likelihood.n_rows} rows",
        "Use solver='lbfgs' or 'gradient', which need no matrix of all pairs of "
        "coefficients.",
        ValueError,
    )
    return SOLVERS[solver]


def measure_matrices(solver, likelihood: LogisticLikelihood):
    """Bytes of the matrices that a solver keeps."""
    if solver not in MATRICES:
        return 0.0
    n_numbers = MATRICES[solver] * float(math.prod(likelihood.shape)) ** 2
    if solver == "newton":
        n_numbers += likelihood.count_curvatures()
    return 8.0 * n_numbers


def has_memory(likelihood: LogisticLikelihood):
    """Whether a Hessian is small enough to be computed by default."""
    return measure_matrices("newton", likelihood) <= MAX_UNASKED


def fit_logistic(
    likelihood: LogisticLikelihood,
    start: np.ndarray,
    *,
    solver: str,
    max_iter: int,
    tol: float,
    separation: str,
    is_spread: bool,
    describe: Callable,
    is_firth: bool = False,
) -> FittedLogistic:
    """Fit the coefficients, with the results of the solver."""
    solve = find_solver(solver, likelihood)
    if is_firth:
        solve, separation = solve_firth, "ignore"
    _warn_of_time(likelihood, max_iter)
    n_coefficients = math.prod(likelihood.shape)
    # Threads of linear algebra are slower than one where equations are few.
    is_small = n_coefficients <= MAX_EQUATIONS
    has_errors = not likelihood.is_penalised and (
        solver == "newton"
        or (n_coefficients <= MAX_COEFFICIENTS and has_memory(likelihood))
    )
    with use_one_blas_thread() if is_small else nullcontext():
        columns = _Columns(likelihood, has_errors, is_turned=solver == "lbfgs")

        def report(theta, loss):
            return describe(lambda: columns.estimate(theta, is_spread=is_spread), loss)

        near, start = None, columns.turn(start)
        is_far = solver in SAMPLING and is_small and not is_firth
        if is_far and max_iter > 0 and not start.any():
            near = find_start(columns.turned, solve_newton, solve_lbfgs)
        if near is not None:
            start = near.theta
            if near.factor is not None:
                solve = partial(SAMPLING[solver], factor=near.factor)
        solution = solve(columns.turned, start, max_iter, tol, report)
        fitted = columns.finish(solution, separation, is_spread)
        if is_firth:
            statistic = 2.0 * (measure_null(columns.turned) - solution.loss_path[-1])
            fitted = replace(fitted, firth_statistic=float(max(statistic, 0.0)))
        return fitted


def describe_maximum(
    likelihood: LogisticLikelihood, coef: np.ndarray, intercept: np.ndarray
) -> FittedLogistic:
    """Describe coefficients that another solver found: their covariance and rank."""
    is_small = math.prod(likelihood.shape) <= MAX_EQUATIONS
    with use_one_blas_thread() if is_small else nullcontext():
        columns = _Columns(likelihood, has_errors=True, is_turned=False)
        theta = columns.turn(likelihood.centre_coefficients(coef, intercept))
        return columns.finish(Solution(theta, [], True), "ignore", is_spread=False)


def find_firth_intervals(
    likelihood: LogisticLikelihood, start: np.ndarray, errors: np.ndarray, limit: float
) -> np.ndarray:
    """Find intervals by the profile of the penalised likelihood, the intercept first.

    NaN for coefficients without a standard error.
    """
    with use_one_blas_thread():
        columns = _Columns(likelihood, has_errors=True, is_turned=False)
        turned, theta = columns.turned, columns.turn(start)
        theta = solve_firth(
            turned,
            theta,
            PROFILE_ITERATIONS,
            PROFILE_TOLERANCE,
            lambda theta, loss: False,
        ).theta
        vectors = []
        for unit in np.eye(theta.size):
            found = columns.estimate(unit.reshape(theta.shape))
            first = found.intercept if likelihood.fit_intercept else []
            vectors.append(np.append(first, found.coef))
        intervals = np.full((len(errors), 2), np.nan)
        for place in np.flatnonzero(np.isfinite(errors)):
            profile = FirthProfile(turned, theta, np.array(vectors)[:, place])
            intervals[place] = find_interval(
                profile, profile.estimate, errors[place], limit
            )
        return intervals


def _warn_of_time(likelihood: LogisticLikelihood, max_iter: int) -> None:
    """Warn if an iteration computes so many probabilities that it takes seconds."""
    n_numbers = likelihood.n_rows * likelihood.n_classes
    is_many = likelihood.n_classes >= MANY_CLASSES and n_numbers > MANY_NUMBERS
    if is_many and max_iter > 0:
        warn_caller(
            "LogisticRegression computes a probability for each row and each class "
            f"in each of up to {max_iter:,} iterations: {n_numbers:,} probabilities "
            f"for {likelihood.n_rows:,} rows and {likelihood.n_classes:,} classes, "
            f"which take about {n_numbers * SECONDS_PER_NUMBER:.0f} s of processor "
            "time per iteration. Merge classes with few rows, fit to fewer rows, or "
            "set max_iter.",
            UserWarning,
        )


class _Columns:
    """The original columns, and uncorrelated ones if these are needed."""

    def __init__(
        self, likelihood: LogisticLikelihood, has_errors: bool, *, is_turned: bool
    ) -> None:
        self.likelihood = self.turned = likelihood
        self.has_errors = has_errors
        self.basis = _find_needed_basis(likelihood) if has_errors else None
        self.back, self.used = None, self.basis
        if is_turned and not has_errors:
            self.used = find_row_space(likelihood)
        if self.used is not None:
            turned, self.back = self.used.turn(likelihood)
            self.turned = likelihood if turned is None else turned

    def turn(self, start):
        """Coefficients of the transformed columns that give about the same scores."""
        if self.back is None:
            return start
        return self.used.turn_start(self.likelihood, self.turned, start)

    def restore(self, theta: np.ndarray):
        """Coefficients of the original columns."""
        likelihood = self.likelihood
        if likelihood.n_scores == likelihood.n_classes and not likelihood.l1.any():
            # A part common to all classes changes no probability.
            theta = theta - theta.mean(axis=0)
        theta = theta if self.back is None else theta @ self.back.T
        return shorten_slopes(theta, self.directions, likelihood)

    @property
    def directions(self):
        """Slopes that do not change scores."""
        if self.basis is None:
            return np.zeros((self.likelihood.n_columns, 0))
        return self.basis.nothing

    def estimate(self, theta: np.ndarray, covariance=None, *, is_spread: bool = False):
        """Estimates from coefficients and covariance of the transformed columns."""
        if covariance is not None and self.back is not None:
            back = np.kron(np.eye(self.likelihood.n_scores), self.back)
            covariance = back @ covariance @ back.T
        return transform_estimates(
            self.likelihood,
            self.restore(theta),
            covariance,
            self.directions,
            is_spread,
        )

    def finish(self, solution, separation, is_spread):
        """Collect the results of the fit."""
        theta, at, turned = solution.theta, solution.at, self.turned
        covariance, rank, found = None, None, None
        if self.has_errors:
            at = turned.evaluate(theta) if at is None else at
            covariance = factor_curvature(turned, theta, at).invert()
            rank = self.likelihood.n_parameters - self.directions.shape[1]
        if not turned.is_penalised and separation != "ignore":
            found = find_separation(turned, theta, at, separation == "exact")
        at = turned.evaluate(theta, 0) if at is None else at
        is_dependent = np.zeros(self.likelihood.n_columns, dtype=bool)
        if self.directions.shape[1]:
            is_dependent = find_involved(self.likelihood, self.directions)
        return FittedLogistic(
            solution,
            self.estimate(theta, covariance, is_spread=is_spread),
            -float(at.likelihood_loss),
            found,
            rank,
            is_dependent,
        )


def _find_needed_basis(likelihood: LogisticLikelihood):
    """Find a basis of the columns if their products alone lose too many digits.

    Of a large table, a sample of the rows may already show that they do not.
    """
    if not likelihood.n_columns:
        return None
    is_large = likelihood.n_rows >= SAMPLE_STEP * SAMPLE_ROWS * likelihood.n_parameters
    if is_large and _is_sound(likelihood.take_sample(SAMPLE_STEP)):
        return None
    return None if _is_sound(likelihood) else find_basis(likelihood)


def _is_sound(likelihood: LogisticLikelihood) -> bool:
    """Whether products of the columns keep enough digits."""
    products = likelihood.evaluate_products()
    spreads = products.diagonal()[likelihood.fit_intercept :]
    squares = spreads + likelihood.total_weight * likelihood.centre**2
    is_safe = bool((spreads > MIN_SPREAD * squares).all())
    return is_safe and factor_hessian(products) is not None


@dataclass(frozen=True)
class Estimates:
    """Coefficients for the columns themselves, and their covariance."""

    #: Slopes. Shape (n_vectors, n_columns).
    coef: np.ndarray
    #: Intercepts. Shape (n_vectors,).
    intercept: np.ndarray
    #: Covariance of all, intercept first in each vector. Shape (n, n).
    covariance: np.ndarray | None = None
    #: Standard errors; NaN where the data do not determine a coefficient. Shape (n,).
    errors: np.ndarray | None = None


def shorten_slopes(
    theta: np.ndarray, directions: np.ndarray, likelihood: LogisticLikelihood
) -> np.ndarray:
    """Take the slopes of least norm among those that give the same scores."""
    if not directions.shape[1]:
        return theta
    theta = theta.copy()
    first = likelihood.fit_intercept
    slopes = theta[:, first:].T
    fraction, *_ = linalg.lstsq(directions, slopes)
    theta[:, first:] -= (directions @ fraction).T
    if first:
        # The columns of a sparse table are not centred: the intercept absorbs the
        # score that the directions give to every row.
        theta[:, 0] += (find_constants(likelihood, directions) @ fraction).ravel()
    return theta


def find_constants(likelihood: LogisticLikelihood, directions):
    """Score that each direction gives to every row of the centred table."""
    return np.asarray(likelihood.X[:1] @ directions).ravel() - (
        likelihood.centre @ directions
    )


def spread_classes(vectors, axis: int = 0):
    """Add a vector for the last class, so that all of them sum to zero."""
    zero = np.zeros_like(np.take(vectors, [0], axis))
    vectors = np.concatenate([vectors, zero], axis)
    return vectors - vectors.mean(axis, keepdims=True)


def transform_estimates(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    covariance: np.ndarray | None,
    directions: np.ndarray,
    is_spread: bool,
) -> Estimates:
    """Convert coefficients of centred columns to those of the estimator."""
    coef, intercept = likelihood.restore_coefficients(theta)
    if is_spread:
        coef, intercept = spread_classes(coef), spread_classes(intercept)
    if covariance is None:
        return Estimates(coef, intercept)
    moved = np.eye(likelihood.n_parameters)
    if likelihood.fit_intercept:
        moved[0, 1:] = -likelihood.centre
    spread = np.eye(likelihood.n_scores)
    turn = np.kron(spread_classes(spread) if is_spread else spread, moved)
    covariance = turn @ covariance @ turn.T
    factors = np.ones(likelihood.n_parameters)
    factors[likelihood.fit_intercept :] = likelihood.factors
    factors = np.tile(factors, len(coef))
    # For columns of huge numbers, squares of standard errors underflow.
    errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0)) * factors
    is_determined = find_determined(likelihood, moved, directions)
    errors[~np.tile(is_determined, len(coef))] = np.nan
    with np.errstate(over="ignore", under="ignore"):
        covariance = covariance * factors * factors[:, np.newaxis]
    return Estimates(coef, intercept, covariance, errors)


def find_determined(
    likelihood: LogisticLikelihood, moved: np.ndarray, directions: np.ndarray
) -> np.ndarray:
    """Find which coefficients no direction changes."""
    if not directions.shape[1]:
        return np.ones(len(moved), dtype=bool)
    units = likelihood.units[:, np.newaxis]
    if likelihood.fit_intercept:
        directions = np.vstack([-find_constants(likelihood, directions), directions])
    lengths = np.linalg.norm(moved / units.T, axis=1)
    directions = directions / np.linalg.norm(directions * units, axis=0)
    return np.abs(moved @ directions).max(axis=1) / lengths <= 1e-7
