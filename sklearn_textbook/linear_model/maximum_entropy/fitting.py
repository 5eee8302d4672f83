"""Fitting weights to features and labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklearn_textbook.linear_model.maximum_entropy.expectation import (
    EntropyProblem,
    Solution,
    compute_scores,
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
from sklearn_textbook.linear_model.maximum_entropy.sources import (
    spread_columns,
    standardize_columns,
)
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
    def needs_nonnegative(self):
        """Whether the solver needs features that are not negative."""
        return self.solver in SCALING_SOLVERS


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Result of a fit.

    Parameters
    ----------
    source : object
        Object that makes the features of new rows.
    solver_weights : ndarray of shape (n_features,)
        Weights of these features.
    weights, empirical, expected : ndarray of shape (n_weights,)
        Weights and both expectations, in units of the columns.
    falls, rises : ndarray of bool, shape (n_weights,)
        Weights that have no finite best value.
    is_separated : bool
        Whether the features separate the classes.
    solution : Solution
        Result of the solver.
    problem : EntropyProblem
        The solved problem, with the probabilities.
    coef, intercept : ndarray or None
        The weights by class, for columns.
    """

    source: object
    solver_weights: np.ndarray
    weights: np.ndarray
    empirical: np.ndarray
    expected: np.ndarray
    falls: np.ndarray
    rises: np.ndarray
    is_separated: bool
    solution: Solution
    problem: EntropyProblem
    coef: np.ndarray | None = None
    intercept: np.ndarray | None = None


def solve(features, context_weight, counts, settings, *, empirical=None, penalty=None):
    """Find the weights of features.

    Parameters
    ----------
    features : JointFeatures
        The features of all contexts.
    context_weight : ndarray of shape (n_contexts,)
        Weights of the contexts.
    counts : ndarray of shape (n_contexts, n_classes) or None
        Weights of the classes in each; None: ``empirical`` is given.
    settings : Settings
        How.
    empirical : ndarray of shape (n_features,), default=None
        Sums of the features.
    penalty : ndarray of shape (n_features,), default=None
        Penalties.

    Returns
    -------
    solution : Solution
        What the solver found, in its own units.
    problem : EntropyProblem
        With the probabilities of all contexts.
    weights : ndarray of shape (n_features,)
        The weights of the features.
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
    if settings.needs_nonnegative:
        features, shift = shift_to_nonnegative(features)
        if empirical is not None and shift is not None:
            empirical = empirical - np.asarray(context_weight @ shift).ravel()
    problem = EntropyProblem(
        features, context_weight, counts, empirical, penalty, settings.n_jobs
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
) -> Solution:
    """Fit weights by a quasi-Newton method."""

    def evaluate(weights):
        loss, sums = problem.evaluate(weights)
        gradient = problem.find_gradient(weights, sums[0])
        return loss / problem.total, gradient / problem.total

    if has_limited_memory:
        found = minimize_lbfgs(evaluate, weights, max_iter, tol, is_exact=True)
    else:
        found = minimize_bfgs(evaluate, weights, max_iter, tol)
    # The last trial of the search was elsewhere.
    expected = problem.evaluate(found.x)[1][0]
    gap = problem.find_gap(found.x, expected)
    path = np.array(found.path) * problem.total
    return Solution(found.x, expected, path, gap, gap <= tol)


def fit_columns(matrix, codes, weight, n_classes, settings):
    """Fit features made of columns.

    Parameters
    ----------
    matrix : ndarray or csr_array of shape (n_rows, n_columns)
        The columns.
    codes : ndarray of int, shape (n_rows,)
        Classes of the rows.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    n_classes : int
        Number of classes.
    settings : Settings
        How.

    Returns
    -------
    model : FittedModel
        With coefficients.
    """
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)  # whose operators are those of arrays
    leaders, counts = _group(share_columns(matrix, n_classes), codes, weight)
    if leaders is not None:
        matrix = matrix[leaders]
    context_weight = counts.sum(axis=1)
    has_constant = settings.fit_intercept
    if settings.needs_nonnegative:
        source = spread_columns(matrix, n_classes, has_constant=has_constant)
    else:
        source = standardize_columns(
            matrix,
            context_weight,
            n_classes,
            settings.alpha,
            has_constant=has_constant,
        )
    features = source.make(matrix)
    solution, problem, weights = solve(
        features,
        context_weight,
        counts,
        settings,
        penalty=source.spread_penalty(settings.alpha),
    )
    solver_weights = weights
    coef, intercept = source.restore(weights)
    # With constants, extremes are those of columns shifted to start at 0.
    falls, rises = find_column_boundaries(
        _start_at_zero(matrix) if settings.fit_intercept else matrix, counts
    )
    shares = context_weight[:, np.newaxis] * problem.probabilities
    weights, empirical, expected = coef.T, matrix.T @ counts, matrix.T @ shares
    if settings.fit_intercept:
        weights = np.vstack((weights, intercept))
        empirical = np.vstack((empirical, counts.sum(axis=0)))
        expected = np.vstack((expected, shares.sum(axis=0)))
        falls, rises = (np.append(mask, np.zeros(n_classes, bool)) for mask in
                        (falls, rises))  # fmt: skip
    is_penalized = settings.alpha > 0.0
    return FittedModel(
        source,
        solver_weights,
        weights.ravel(),
        np.asarray(empirical).ravel() / problem.total,
        np.asarray(expected).ravel() / problem.total,
        falls & (not is_penalized),
        rises & (not is_penalized),
        not is_penalized
        and separates(compute_scores(features, solver_weights), counts),
        solution,
        problem,
        coef,
        intercept,
    )


def _start_at_zero(matrix):
    """Columns minus their smallest value; sparse ones unchanged."""
    return matrix - matrix.min(axis=0) if isinstance(matrix, np.ndarray) else matrix


def fit_pairs(source, table, codes, weight, settings):
    """Fit features of pairs (x, y).

    Parameters
    ----------
    source : FunctionSource or MatrixSource
        What makes the features of a table.
    table : object
        The rows.
    codes : ndarray of int, shape (n_rows,)
        Classes of the rows.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    settings : Settings
        How.

    Returns
    -------
    model : FittedModel
        Without coefficients.
    """
    features = source.make(table)
    leaders, counts = _group(features, codes, weight)
    if leaders is not None:
        features = features.take(leaders)
    context_weight = counts.sum(axis=1)
    penalty = np.full(features.n_features, float(settings.alpha))
    solution, problem, weights = solve(
        features, context_weight, counts, settings, penalty=penalty
    )
    shares = context_weight[:, np.newaxis] * problem.probabilities
    matrix = features.to_matrix()
    falls = rises = np.zeros(features.n_features, dtype=bool)
    is_separated = False
    if settings.alpha == 0.0:
        falls, rises = find_boundaries(split_blocks(features), counts)
        scores = compute_scores(features, weights)
        is_separated = separates(scores, counts)
    return FittedModel(
        source,
        weights,
        weights,
        matrix.T @ counts.ravel() / problem.total,
        matrix.T @ shares.ravel() / problem.total,
        falls,
        rises,
        is_separated,
        solution,
        problem,
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


def separates(scores, counts):
    """Whether each context has one class, and its score is above those of the others.

    Parameters
    ----------
    scores : ndarray of shape (n_contexts, n_classes)
        Scores of the model.
    counts : ndarray of shape (n_contexts, n_classes)
        Weights of the rows.

    Returns
    -------
    is_separated : bool
        Whether multiplying the weights by any number above 1 improves the model.
    """
    is_there = counts > 0
    if scores.shape[1] < 2 or (is_there.sum(axis=1) > 1).any():
        return False
    own = scores[is_there.any(axis=1)][is_there[is_there.any(axis=1)]]
    others = np.where(is_there, -np.inf, scores)[is_there.any(axis=1)]
    return bool((own > others.max(axis=1)).all())
