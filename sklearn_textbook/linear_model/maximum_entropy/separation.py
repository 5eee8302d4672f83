"""Whether features separate the classes, so that the likelihood has no maximum."""

from __future__ import annotations

import math

import numpy as np

from sklearn_textbook.linear_model.logistic.curvature import factor_hessian
from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.logistic.separation import (
    LARGE_CHANGE,
    LARGE_SCORE,
    NONE,
    find_separation,
)
from sklearn_textbook.linear_model.maximum_entropy.joint_features import JointFeatures
from sklearn_textbook.linear_model.maximum_entropy.span import (
    Span,
    choose_contexts,
    multiply_columns,
)

#: Maximum number of weights, for columns without those of one class, with which
#: quasi-complete separation is looked for, and which have standard errors.
MAX_WEIGHTS = 1000


def separates(scores: np.ndarray, counts: np.ndarray) -> bool:
    """Whether each context has one class, whose score is above those of the others."""
    is_there = counts > 0
    if scores.shape[1] < 2 or (is_there.sum(axis=1) > 1).any():
        return False
    own = scores[is_there.any(axis=1)][is_there[is_there.any(axis=1)]]
    others = np.where(is_there, -np.inf, scores)[is_there.any(axis=1)]
    return bool((own > others.max(axis=1)).all())


def find_column_separation(
    features: JointFeatures,
    counts: np.ndarray,
    context_weight: np.ndarray,
    weights: np.ndarray,
    slopes: np.ndarray,
    span: Span,
    probabilities: np.ndarray,
) -> str | None:
    """Find out whether columns separate the classes, as logistic regression does.

    It looks for a large Newton step. That it is small follows in most fits from a part
    of the second derivatives, those of some rows and of each class with one other.
    """
    n_classes = features.n_classes
    if n_classes < 2:
        return NONE
    n_columns = features.n_columns if span.projection is None else len(span.projection)
    if n_columns * (n_classes - 1) > MAX_WEIGHTS:
        return None
    has_large_scores = probabilities.min() < math.exp(-LARGE_SCORE)
    if not has_large_scores and _has_small_step(
        features, context_weight, slopes, span, probabilities
    ):
        return NONE
    theta = span.project(weights).T
    # As in logistic regression, one class has the score 0.
    theta = theta[1:] - theta[0] if n_classes == 2 else theta[:-1] - theta[-1]
    likelihood = _make_likelihood(span.take(features.to_matrix()), counts)
    return find_separation(likelihood, theta, likelihood.evaluate(theta))


def _has_small_step(
    features: JointFeatures,
    context_weight: np.ndarray,
    slopes: np.ndarray,
    span: Span,
    probabilities: np.ndarray,
) -> bool:
    r"""Whether a part of the second derivatives shows that a Newton step is small.

    The second derivative along weights :math:`\delta` is

    .. math:: \sum_x n(x) \sum_{k < l} P(k|x) P(l|x) ((\delta_k - \delta_l)^T x)^2,

    of which no term is negative. Those of one l leave a system for each other k.
    """
    contexts = choose_contexts(features)
    some, fractions = features, probabilities
    if contexts is not None:
        some, fractions = features.take(contexts), probabilities[contexts]
        context_weight = context_weight[contexts]
    X, weighted = span.take(some.to_matrix()), context_weight[:, np.newaxis] * fractions
    common = fractions.T @ weighted
    np.fill_diagonal(common, np.inf)
    other = int(common.min(axis=0).argmax())
    slopes, steps = span.gather(slopes.reshape(-1, features.n_classes)), []
    for k in range(features.n_classes):
        if k == other:
            continue
        factor = factor_hessian(
            multiply_columns(X, weighted[:, k] * fractions[:, other])
        )
        if factor is None:
            return False
        steps.append(factor.find_step(slopes[:, k]))
    changes = features.to_matrix() @ span.spread(np.column_stack(steps))
    return bool(np.abs(changes).max() <= LARGE_CHANGE)


def _make_likelihood(X, counts: np.ndarray) -> LogisticLikelihood:
    """Likelihood of rows that have one class each."""
    contexts, codes = np.nonzero(counts)
    is_same = len(contexts) == X.shape[0] and (counts > 0).any(axis=1).all()
    return LogisticLikelihood(
        X if is_same else X[contexts],
        codes,
        counts.shape[1],
        counts[contexts, codes],
        fit_intercept=False,
        is_symmetric=False,
        strength=0.0,
    )
