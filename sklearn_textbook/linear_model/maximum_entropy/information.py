"""Covariance of the weights: the inverse of the Fisher information at the maximum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.linear_model.logistic.fitting import (
    MAX_UNASKED,
    describe_maximum,
    has_memory,
)
from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.maximum_entropy.joint_features import JointFeatures
from sklearn_textbook.linear_model.maximum_entropy.separation import MAX_WEIGHTS
from sklearn_textbook.linear_model.solve.weighted_solution import (
    RANK_TOLERANCE,
    WeightedSolver,
)


@dataclass(frozen=True)
class Information:
    """What the rows say of the weights, or of their differences between classes."""

    covariance: np.ndarray
    #: Standard errors; NaN where the rows do not determine a weight.
    errors: np.ndarray
    #: Number of weights that they determine; for columns, of each class.
    rank: int


def measure_columns(
    table: np.ndarray | sparse.csr_array,
    counts: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    *,
    fit_intercept: bool,
    n_jobs: int | None,
) -> Information | None:
    """Measure the differences of weights to those of a class, as logistic regression.

    The class is the last one, or the first of two; the constants come first. None: they
    are too many.
    """
    n_rows, n_columns = table.shape
    n_classes = len(coef)
    size = (n_classes - 1) * (n_columns + bool(fit_intercept))
    if not 0 < size <= MAX_WEIGHTS:
        return None
    likelihood = LogisticLikelihood(
        table,
        # Equal rows of several classes are one; the information is that of any class.
        counts.argmax(axis=1),
        n_classes,
        counts.sum(axis=1),
        fit_intercept=fit_intercept,
        is_symmetric=False,
        strength=0.0,
        n_threads=count_threads(n_jobs, n_rows * (n_columns + 1)),
    )
    if not has_memory(likelihood):
        return None
    differences = subtract_class(coef), subtract_class(intercept)
    found = describe_maximum(likelihood, *differences)
    estimates = found.estimates
    return Information(estimates.covariance, estimates.errors, found.rank)


def subtract_class(weights: np.ndarray) -> np.ndarray:
    """Subtract weights of the last class from others, or of the first of two."""
    if len(weights) == 2:
        return weights[1:] - weights[0]
    return weights[:-1] - weights[-1]


def measure_pairs(
    features: JointFeatures, context_weight: np.ndarray, probabilities: np.ndarray
) -> Information | None:
    r"""Measure the weights of features of pairs; None: they are too many.

    The information is :math:`\sum_x n(x) \operatorname{Cov}_{P(y|x)} f(x, y)`: products
    of what features differ from their expectations, with weights n(x) P(y|x).
    """
    shape = (features.n_contexts, features.n_classes, features.n_columns)
    if features.n_columns > MAX_WEIGHTS or 24 * np.prod(shape) > MAX_UNASKED:
        return None
    matrix = features.to_matrix()
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    values = matrix.reshape(shape)
    # Features that are the same for all classes then are exactly zero.
    values = values - values[:, :1]
    lengths = np.linalg.norm(values, axis=(0, 1))
    values -= np.einsum("ik,ikj->ij", probabilities, values)[:, np.newaxis]
    rest = values.reshape(-1, shape[2])
    rest[:, np.linalg.norm(rest, axis=0) <= RANK_TOLERANCE * lengths] = 0.0
    weight = (context_weight[:, np.newaxis] * probabilities).ravel()
    found = WeightedSolver(rest, False).describe(weight)
    covariance = found.inverse[1:, 1:]
    errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    errors[~found.is_determined[1:]] = np.nan
    return Information(covariance, errors, found.rank)
