"""The metrics of predictions, by the names that ``--scoring`` takes."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    mean_absolute_error,
    mean_absolute_percentage_error,
    median_absolute_error,
    precision_score,
    r2_score,
    recall_score,
    root_mean_squared_error,
)


def measure(
    name: str,
    y: np.ndarray,
    values: np.ndarray,
    probabilities: np.ndarray,
    labels: np.ndarray | None,
    weights: np.ndarray | None = None,
) -> float:
    """Measure predictions."""
    if name in _BY_PROBABILITIES:
        if probabilities is None:
            return np.nan
        return _BY_PROBABILITIES[name](y, probabilities, labels, weights)
    if name == "r2" and len(y) < 2:
        return np.nan
    compares_classes = name in ("kappa", "matthews_corrcoef")
    if compares_classes and len(np.unique(np.concatenate([y, values]))) < 2:
        return np.nan
    return float(_BY_VALUES[name](y, values, sample_weight=weights))


def _average(metric, average):
    """Average a metric over the classes of the rows and of the predictions."""

    def score(y, values, sample_weight):
        # No row of a class, or none predicted: 0, as scikit-learn has it.
        return metric(
            y, values, average=average, sample_weight=sample_weight, zero_division=0.0
        )

    return score


def _measure_balanced_accuracy(y, values, sample_weight):
    """Average the recall over the classes that the rows have."""
    present = np.unique(y)
    return recall_score(
        y, values, labels=present, average="macro", sample_weight=sample_weight
    )


def _measure_auc(y, probabilities, labels, weights):
    """Mean over the classes of the one-vs-rest area under the curve."""
    areas, n_classes = [], probabilities.shape[1]
    # With two classes, both areas are equal.
    for column in range(1 if n_classes == 2 else 0, n_classes):
        is_class = y == labels[column]
        if is_class.any() and not is_class.all():
            areas.append(measure_area(is_class, probabilities[:, column], weights))
    return float(np.mean(areas)) if areas else np.nan


def measure_area(
    is_class: np.ndarray, probabilities: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Measure the area under the ROC curve, faster than ``roc_auc_score``.

    It is the probability that a row of the class has a larger prediction than another
    row, where equal predictions count half.
    """
    weights = np.ones(len(probabilities)) if weights is None else weights
    distinct, places = np.unique(probabilities, return_inverse=True)
    inside, outside = (
        np.bincount(places, weights * chosen, len(distinct))
        for chosen in (is_class, ~is_class)
    )
    below = np.cumsum(outside) - outside / 2
    return inside @ below / (inside.sum() * outside.sum())


def _measure_log_loss(y, probabilities, labels, weights):
    known = labels[: probabilities.shape[1]]
    if not np.isin(y, known).all():
        return np.nan
    order = np.argsort(known)
    probabilities = probabilities[:, order]
    # Members that vote may leave rows without any vote.
    totals = probabilities.sum(axis=1, keepdims=True)
    if not (totals > 0).all():
        return np.nan
    return log_loss(
        y, probabilities / totals, labels=known[order], sample_weight=weights
    )


_BY_PROBABILITIES = {"auc": _measure_auc, "log_loss": _measure_log_loss}
_BY_VALUES = {
    "accuracy": accuracy_score,
    "balanced_accuracy": _measure_balanced_accuracy,
    "kappa": cohen_kappa_score,
    "f1_macro": _average(f1_score, "macro"),
    "f1_micro": _average(f1_score, "micro"),
    "f1_weighted": _average(f1_score, "weighted"),
    "precision_macro": _average(precision_score, "macro"),
    "recall_macro": _average(recall_score, "macro"),
    "matthews_corrcoef": matthews_corrcoef,
    "r2": r2_score,
    "rmse": root_mean_squared_error,
    "mae": mean_absolute_error,
    "median_absolute_error": median_absolute_error,
    "mape": mean_absolute_percentage_error,
}
