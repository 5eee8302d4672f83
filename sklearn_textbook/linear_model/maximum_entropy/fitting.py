"""Fitting weights to features and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from sklearn_textbook.linear_model.logistic.separation import COMPLETE
from sklearn_textbook.linear_model.maximum_entropy.expectation import (
    EntropyProblem,
    EntropySolution,
    compute_scores,
)
from sklearn_textbook.linear_model.maximum_entropy.information import (
    Information,
    measure_columns,
    measure_pairs,
)
from sklearn_textbook.linear_model.maximum_entropy.iterative_scaling import (
    scale_iteratively,
)
from sklearn_textbook.linear_model.maximum_entropy.joint_features import (
    find_boundaries,
    find_column_boundaries,
    find_deviations,
    share_columns,
    shift_to_nonnegative,
    split_blocks,
)
from sklearn_textbook.linear_model.maximum_entropy.separation import (
    find_column_separation,
    separates,
)
from sklearn_textbook.linear_model.maximum_entropy.sources import (
    ColumnSource,
    FunctionSource,
    MatrixSource,
    spread_columns,
    standardize_columns,
)
from sklearn_textbook.linear_model.maximum_entropy.span import find_span
from sklearn_textbook.linear_model.solve.quasi_newton import (
    minimize_bfgs,
    minimize_lbfgs,
)

SOLVERS = ("iis", "gis", "bfgs", "lbfgs")
SCALING_SOLVERS = ("iis", "gis")
#: Maximum number of pairs of a row and a class, whose probabilities and counts take
#: 1.6 GB.
MAX_PAIRS = 10**8


@dataclass(frozen=True)
class Settings:
    """Settings of the solver: the estimator's parameters of these names."""

    solver: str
    max_iter: int
    tol: float
    n_jobs: int | None
    alpha: float = 0.0
    fit_intercept: bool = True

    @property
    def needs_nonnegative(self) -> bool:
        """Whether the solver needs features that are not negative."""
        return self.solver in SCALING_SOLVERS


@dataclass(eq=False)
class FittedModel:
    """Result of a fit."""

    #: Object that makes the features of new rows, and weights of these features.
    source: ColumnSource | FunctionSource | MatrixSource
    solver_weights: np.ndarray
    #: Weights in units of the columns.
    weights: np.ndarray
    #: Result of the solver, and the solved problem with the probabilities.
    solution: EntropySolution
    problem: EntropyProblem
    #: Both expectations, in units of the columns.
    empirical: np.ndarray | None = None
    expected: np.ndarray | None = None
    #: Weights that have no finite best value; none with a penalty.
    falls: np.ndarray | tuple = ()
    rises: np.ndarray | tuple = ()
    #: Kind of separation of the classes; None: not checked.
    separation: str | None = None
    #: The weights by class, for columns.
    coef: np.ndarray | None = None
    intercept: np.ndarray | None = None
    #: Covariance of the weights; None with a penalty, or if they are too many.
    information: Information | None = None
    #: Weights of the rows of each class.
    class_totals: np.ndarray | tuple = ()


def solve(
    features,
    context_weight: np.ndarray,
    counts: np.ndarray | None,
    settings: Settings,
    *,
    empirical: np.ndarray | None = None,
    penalty: np.ndarray | None = None,
    find_rounding: Callable | None = None,
) -> tuple[EntropySolution, EntropyProblem, np.ndarray]:
    """Find the weights of features, in whose values there may be rounding errors.

    Returns (solution, problem, weights).
    """
    scale = np.ones(features.n_features)
    if features.is_joint and not settings.needs_nonnegative:
        # Units in which all second derivatives at the start are 1.
        scale = find_deviations(split_blocks(features), context_weight)
        if penalty is not None:
            scale = np.hypot(scale, np.sqrt(penalty / context_weight.sum()))
        features = features.divide(scale)
        empirical = None if empirical is None else empirical / scale
        penalty = None if penalty is None else penalty / scale**2
    if penalty is None:
        penalty = np.zeros(features.n_features)
    span = find_span(features, context_weight, penalty, find_rounding)
    if settings.needs_nonnegative:
        features, shift = shift_to_nonnegative(features)
        if empirical is not None and shift is not None:
            empirical = empirical - np.asarray(context_weight @ shift).ravel()
    problem = EntropyProblem(
        features, context_weight, counts, empirical, penalty, settings.n_jobs, span
    )
    start = np.zeros(features.n_features)
    limits = (settings.max_iter, settings.tol)
    if settings.needs_nonnegative:
        is_generalized = settings.solver == "gis"
        solution = scale_iteratively(
            problem, start, *limits, is_generalized=is_generalized
        )
    else:
        has_limited_memory = settings.solver == "lbfgs"
        solution = minimize(
            problem, start, *limits, has_limited_memory=has_limited_memory
        )
    return solution, problem, solution.weights / scale


def minimize(
    problem: EntropyProblem,
    weights: np.ndarray,
    max_iter: int,
    tol: float,
    *,
    has_limited_memory: bool,
) -> EntropySolution:
    """Fit weights by a quasi-Newton method.

    If features are nearly dependent, it begins at 0 and finds the weights of
    uncorrelated combinations.
    """
    span = problem.span
    if span.directions is not None:
        weights = np.zeros(span.directions.shape[1] * span.n_weights)

    def evaluate(weights):
        weights = span.restore(weights)
        loss, sums = problem.evaluate(weights)
        gradient = span.turn(problem.find_gradient(weights, sums[0]))
        return loss / problem.total, gradient / problem.total

    if has_limited_memory:
        found = minimize_lbfgs(evaluate, weights, max_iter, tol, is_exact=True)
    else:
        found = minimize_bfgs(evaluate, weights, max_iter, tol)
    weights = span.restore(found.x)
    # The last trial of the search was elsewhere.
    expected = problem.evaluate(weights)[1][0]
    gap = problem.find_gap(weights, expected)
    path = np.array(found.path) * problem.total
    return EntropySolution(weights, expected, path, gap, gap <= tol)


def fit_model(
    table,
    codes: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    settings: Settings,
    source: FunctionSource | MatrixSource | None = None,
) -> FittedModel:
    """Fit features that a source makes of pairs (x, y); without one, the columns."""
    has_columns = source is None
    if has_columns and sparse.issparse(table):
        table = sparse.csr_array(table)  # whose operators are those of arrays
    features = share_columns(table, n_classes) if has_columns else source.make(table)
    leaders, counts = _group(features, codes, weight)
    context_weight = counts.sum(axis=1)
    if has_columns:
        table = table if leaders is None else table[leaders]
        source = _choose_units(table, context_weight, n_classes, settings)
        features, penalty = source.make(table), source.spread_penalty(settings.alpha)
        find_rounding = partial(source.find_rounding, table)
    else:
        find_rounding = None
        features = features if leaders is None else features.take(leaders)
        penalty = np.full(features.n_features, float(settings.alpha))
    solution, problem, weights = solve(
        features,
        context_weight,
        counts,
        settings,
        penalty=penalty,
        find_rounding=find_rounding,
    )
    model = FittedModel(source, weights, weights, solution, problem)
    model.class_totals = counts.sum(axis=0)
    fractions = context_weight[:, np.newaxis] * problem.probabilities
    if has_columns:
        model.coef, model.intercept = source.restore(weights)
        parts = [(model.coef.T, table.T @ counts, table.T @ fractions)]
        if settings.fit_intercept:
            parts += [(model.intercept, counts.sum(axis=0), fractions.sum(axis=0))]
        joined = (np.vstack(part).ravel() for part in zip(*parts, strict=True))
        model.weights, empirical, expected = joined
    else:
        matrix = features.to_matrix()
        empirical, expected = matrix.T @ counts.ravel(), matrix.T @ fractions.ravel()
    model.empirical, model.expected = (
        empirical / problem.total,
        expected / problem.total,
    )
    if settings.alpha > 0.0:
        return model
    if has_columns:
        model.information = measure_columns(
            *(table, counts, model.coef, model.intercept),
            fit_intercept=settings.fit_intercept,
            n_jobs=settings.n_jobs,
        )
        # With constants, extremes are those of columns shifted to start at 0.
        if settings.fit_intercept and isinstance(table, np.ndarray):
            table = table - table.min(axis=0)
        model.falls, model.rises = find_column_boundaries(table, counts)
    else:
        model.information = measure_pairs(
            features, context_weight, problem.probabilities
        )
        model.falls, model.rises = find_boundaries(split_blocks(features), counts)
    if separates(compute_scores(features, weights), counts):
        model.separation = COMPLETE
    elif has_columns and not (model.falls.any() or model.rises.any()):
        slopes = problem.find_gradient(solution.weights, solution.expected)
        model.separation = find_column_separation(
            *(features, counts, context_weight, weights, slopes),
            *(problem.span, problem.probabilities),
        )
    return model


def _choose_units(
    matrix: np.ndarray | sparse.csr_array,
    context_weight: np.ndarray,
    n_classes: int,
    settings: Settings,
) -> ColumnSource:
    """Choose the units of the columns in which the solver finds weights."""
    has_constant = settings.fit_intercept
    if settings.needs_nonnegative:
        return spread_columns(matrix, n_classes, has_constant=has_constant)
    return standardize_columns(
        matrix, context_weight, n_classes, settings.alpha, has_constant=has_constant
    )


def _group(features, codes, weight):
    """First row of each distinct context (None: all rows), and weights of classes."""
    n_classes = features.n_classes
    leaders, group = features.group_contexts()
    n_contexts = features.n_contexts if leaders is None else len(leaders)
    if n_contexts * n_classes > MAX_PAIRS:
        raise ValueError(
            "MaxEntClassifier computes a probability for each distinct row and each "
            f"class in each iteration, and allows at most {MAX_PAIRS:,} pairs; got "
            f"{n_contexts * n_classes:,} pairs of {n_contexts:,} rows and "
            f"{n_classes:,} classes. Merge classes with few rows, or fit to fewer rows."
        )
    if leaders is None:
        counts = np.zeros((features.n_contexts, n_classes))
        counts[np.arange(len(codes)), codes] = weight
        return None, counts
    counts = np.bincount(
        group * n_classes + codes, weights=weight, minlength=len(leaders) * n_classes
    )
    return leaders, counts.reshape(len(leaders), n_classes)
