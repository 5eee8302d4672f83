"""Errors and losses of boosting after each round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.metrics import (
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    zero_one_loss,
)
from sklearn.utils import check_consistent_length, column_or_1d

from sklearn_textbook._contract.labels import decode_dictionary
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BoostingTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

OF_CLASSES = {"error": zero_one_loss, "log_loss": log_loss}
OF_VALUES = {
    "squared_error": mean_squared_error,
    "absolute_error": mean_absolute_error,
}
GRADIENT_BOOSTING = (GradientBoostingClassifier, GradientBoostingRegressor)
#: Maximum exponent in the exponential loss of a row.
LARGEST_EXPONENT = 700.0


def choose_metric(estimator, metric: str | Callable | None) -> str | Callable:
    """Choose the metric."""
    has_loss = isinstance(estimator, GRADIENT_BOOSTING)
    of_kind = list(OF_CLASSES if is_classifier(estimator) else OF_VALUES)
    if metric is None:
        return "loss" if has_loss else of_kind[0]
    if callable(metric):
        return metric
    if has_loss or isinstance(estimator, (AdaBoostClassifier, BoostingTreeRegressor)):
        of_kind.append("loss")
    if metric not in of_kind:
        raise ValueError(
            f"metric must be None, a function or, for {type(estimator).__name__}, one "
            f"of {of_kind}; got {metric!r}."
        )
    return metric


def name_metric(estimator, metric: str | Callable) -> str:
    """Return the name of a metric for an axis."""
    if callable(metric):
        metric = getattr(metric, "__name__", "metric")
    elif metric == "loss":
        of_loss = "squared_error"
        if not isinstance(estimator, BoostingTreeRegressor):
            of_loss = getattr(getattr(estimator, "loss_", None), "name", "exponential")
        metric = f"mean loss ({of_loss})"
    return metric.replace("_", " ")


def measure_rounds(
    estimator,
    metric: str | Callable,
    X,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Evaluate the predictions for some rows after every round."""
    y = column_or_1d(decode_dictionary(y))
    check_consistent_length(X, y)
    weight = check_weights(sample_weight, len(y))
    if metric == "loss" and isinstance(estimator, GRADIENT_BOOSTING):
        values = _stage_losses(estimator, X, y, weight)
    elif metric == "loss" and isinstance(estimator, AdaBoostClassifier):
        values = _stage_exponential_losses(estimator, X, y, weight)
    else:
        values = _stage_metric(estimator, metric, X, y, weight)
    return np.array([float(value) for value in values])


def _stage_losses(model, X, y, weight):
    """Compute the mean loss that gradient boosting minimises."""
    y = model.loss_.check_target(model._encode_known(y, name="y"))
    for raw in model._stage_raw(X):
        yield model.loss_.compute_loss(y, raw, weight)


def _stage_exponential_losses(model, X, y, weight):
    """Compute the mean exponential loss, which for training rows is the bound."""
    is_right = np.asarray(y)[:, np.newaxis] == model.classes_
    is_known = is_right.any(axis=1)
    if not is_known.all():
        raise ValueError(
            "The exponential loss requires classes seen in training by "
            "AdaBoostClassifier; y contains the unseen class "
            f"{y.tolist()[int(np.argmin(is_known))]!r}."
        )
    k = model.n_classes_
    totals = np.cumsum(model.estimator_weights_)
    stages = model.staged_decision_function(X)
    for decisions, total in zip(stages, totals, strict=True):
        if decisions.ndim == 1:
            decisions = np.column_stack((-decisions, decisions))
        # Twice the votes for the correct class minus all votes.
        surplus = (2 * (k - 1) * decisions[is_right] + (2 - k) * total) / k
        losses = np.exp(np.minimum(-surplus, LARGEST_EXPONENT))
        yield np.average(losses, weights=weight)


def _stage_metric(model, metric, X, y, weight):
    """Evaluate the results of ``staged_predict`` or ``staged_predict_proba``."""
    options = {} if weight is None else {"sample_weight": weight}
    if metric == "log_loss":
        for fractions in model.staged_predict_proba(X):
            yield log_loss(y, fractions, labels=model.classes_, **options)
        return
    if metric == "loss":
        metric = "squared_error"
    compute = metric if callable(metric) else (OF_CLASSES | OF_VALUES)[metric]
    for predicted in model.staged_predict(X):
        yield compute(y, predicted, **options)
