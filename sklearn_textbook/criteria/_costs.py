"""The mean cost of predicted classes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from sklearn_textbook._contract.costs import CostMatrix, read_cost_matrix
from sklearn_textbook._contract.labels import check_target, encode_known_labels
from sklearn_textbook._contract.weights import check_weights


def expected_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    cost_matrix: CostMatrix,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    r"""Compute the mean cost of predicted classes.

    .. math:: \frac{\sum_i w_i\, C(y_i, \hat y_i)}{\sum_i w_i}

    With the cost 1 of each error, it is the error rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    cost_matrix : dict of dict or array-like of shape (n_classes, n_classes)
        ``{true class: {predicted class: cost}}``, or an array with a row for each true
        class; 0 for right predictions.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    labels : array-like of shape (n_classes,), default=None
        The classes of the rows and columns of an array. None: those of ``y_true`` and
        ``y_pred``, sorted.

    Returns
    -------
    cost : float
        The mean cost of a row.

    Raises
    ------
    ValueError
        If there are classes without costs, a cost is negative, or a row has several
        classes.

    See Also
    --------
    sklearn.metrics.make_scorer : With ``greater_is_better=False``, makes a scorer.

    Examples
    --------
    >>> from sklearn_textbook.criteria import expected_cost
    >>> costs = {"bad": {"good": 5}, "good": {"bad": 1}}
    >>> expected_cost(["bad", "good", "good"], ["good", "good", "bad"], costs)
    2.0
    """
    columns = [
        check_target(y, is_numeric=False, name=name)
        for y, name in ((y_true, "y_true"), (y_pred, "y_pred"))
    ]
    check_consistent_length(*columns)
    if max(y.shape[1] for y in columns) > 1:
        raise ValueError("y_true and y_pred must have one class for each row.")
    if labels is None:
        is_named = isinstance(cost_matrix, Mapping)
        labels = list(cost_matrix) if is_named else np.unique(np.concatenate(columns))
    labels = np.asarray(labels)
    costs = read_cost_matrix(cost_matrix, labels)
    # Codes are places in the sorted labels.
    order = np.argsort(labels)
    places = [
        order[encode_known_labels(y, [labels[order]], name)[:, 0]]
        for y, name in zip(columns, ("y_true", "y_pred"), strict=True)
    ]
    weight = check_weights(sample_weight, len(columns[0]))
    return float(np.average(costs[places[0], places[1]], weights=weight))
