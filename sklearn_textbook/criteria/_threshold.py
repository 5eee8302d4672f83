"""The best threshold of a numeric column (连续值处理, 二分法)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.criteria._counts import (
    check_complete,
    check_same_length,
    check_target,
    check_weights,
    encode_labels,
    read_numbers,
)
from sklearn_textbook.criteria._impurity import gini, gini_index, squared_error
from sklearn_textbook.criteria._information import gain_ratio, information_gain

CRITERIA = ("entropy", "gini", "gain_ratio", "squared_error")


def _xlog2x(weights):
    """Return weights times their logarithm, with 0 log 0 = 0."""
    positive = weights > 0
    return weights * np.log2(weights, out=np.zeros_like(weights), where=positive)


def _score_class_cuts(codes, weights, cuts, criterion):
    """Score each cut of sorted rows by the decrease of impurity times weight."""
    left = np.cumsum(weights)[cuts]
    right = weights.sum() - left
    term = _xlog2x if criterion != "gini" else np.square
    left_sum, right_sum, root_sum = np.zeros(len(cuts)), np.zeros(len(cuts)), 0.0
    for code in range(int(codes.max()) + 1):
        cumulated = np.cumsum(np.where(codes == code, weights, 0.0))
        class_left, class_weight = cumulated[cuts], cumulated[-1:]
        left_sum += term(class_left)
        right_sum += term(np.maximum(class_weight - class_left, 0.0))
        root_sum += term(class_weight)[0]
    total = left + right
    if criterion == "gini":
        return left_sum / left + right_sum / right - root_sum / total
    # H = log W - sum(w log w) / W on both sides and before the cut
    before = _xlog2x(total) - root_sum
    score = before - (_xlog2x(left) - left_sum) - (_xlog2x(right) - right_sum)
    if criterion == "gain_ratio":
        score /= _xlog2x(total) - _xlog2x(left) - _xlog2x(right)
    return score


def _score_value_cuts(values, weights, cuts):
    """Score each cut of sorted rows by the decrease of the squared error."""
    left = np.cumsum(weights)[cuts]
    right = weights.sum() - left
    mean = np.sum(weights * values) / weights.sum()
    left_sum = np.cumsum(weights * (values - mean))[cuts]  # right side: its negative
    return left_sum**2 * (1.0 / left + 1.0 / right)


def _measure_gain(side, y, criterion, weights):
    """Decrease of impurity by a split into two sides, all rows known."""
    if criterion == "entropy":
        return information_gain(side, y, weights)
    if criterion == "gain_ratio":
        return gain_ratio(side, y, weights)
    if criterion == "gini":
        return max(0.0, gini(y, weights) - gini_index(side, y, sample_weight=weights))
    loss = sum(
        weights[rows].sum() * squared_error(y[rows], weights[rows])
        for rows in (side, ~side)
    )
    return max(0.0, squared_error(y, weights) - float(loss / weights.sum()))


def best_threshold(
    x: ArrayLike,
    y: ArrayLike,
    criterion: str = "entropy",
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float]:
    r"""Find the threshold t of the best split into x <= t and x > t.

    The candidates are the midpoints :math:`(a_i + a_{i+1}) / 2` of neighbouring
    distinct values. The gain of a candidate is

    .. math:: \rho \, \bigl(I(\tilde D) - \tilde r_{\le} I(\tilde D_{\le})
              - \tilde r_{>} I(\tilde D_{>})\bigr)

    where I is the impurity of the criterion, :math:`\tilde D` are the rows with known
    x, and :math:`\rho` is their fraction of the total weight.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Finite numbers; NaN and None count as missing.
    y : array-like of shape (n_samples,)
        Class labels of any type (for "squared_error", finite numbers), without missing
        values.
    criterion : {"entropy", "gini", "gain_ratio", "squared_error"}, default="entropy"
        "entropy": information gain in bits. "gain_ratio": information gain divided by
        the intrinsic value of the two sides. "gini": decrease of the Gini index.
        "squared_error": decrease of the mean squared error.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each. Rows of weight 0 contribute no candidates.

    Returns
    -------
    threshold : float
        The best candidate; ties, up to rounding (1e-12 of the best gain), go to the
        lowest.
    gain : float
        Gain of this candidate, at least 0.

    Raises
    ------
    ValueError
        If the criterion is unknown; if x or y is empty or not one-dimensional, or their
        lengths differ; if x is infinite or y is missing for some row; if weights are
        invalid; or if x has fewer than two distinct known values.

    Notes
    -----
    Zhou's textbook gives the midpoints truncated to three decimals. C4.5 and J48 lower
    the threshold to the largest value in the data that does not exceed it, and subtract
    log2(candidates) / n from the gain.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), formulas 4.7 and 4.8; Li Hang
    (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition, formula 5.21.

    Examples
    --------
    >>> from sklearn_textbook.criteria import best_threshold
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> X, y = load_watermelon("3.0alpha", return_X_y=True)
    >>> threshold, gain = best_threshold(X[:, 1], y)  # 含糖率
    >>> round(threshold, 3), round(gain, 3)
    (0.126, 0.349)
    """
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {CRITERIA}; got {criterion!r}")
    numbers = read_numbers(x, "x")
    if criterion == "squared_error":
        target = check_target(y)
    else:
        target, _ = encode_labels(y, "y")
        check_complete(target, "y")
    check_same_length(numbers, target)
    weights = check_weights(sample_weight, len(numbers))
    rows = np.flatnonzero(~np.isnan(numbers) & (weights > 0))
    rows = rows[np.argsort(numbers[rows], kind="stable")]
    known_fraction = float(weights[rows].sum() / weights.sum())
    numbers, target, weights = numbers[rows], target[rows], weights[rows]
    cuts = np.flatnonzero(numbers[1:] > numbers[:-1])  # the cut is after this row
    if len(cuts) == 0:
        raise ValueError("x must have at least two distinct known values")
    if criterion == "squared_error":
        scores = _score_value_cuts(target, weights, cuts)
    else:
        scores = _score_class_cuts(target, weights, cuts, criterion)
    best = cuts[np.argmax(scores >= scores.max() * (1 - 1e-12))]
    lower, upper = numbers[best], numbers[best + 1]
    threshold = lower / 2 + upper / 2
    if not lower <= threshold < upper:  # no float lies between
        threshold = lower
    gain = _measure_gain(numbers <= threshold, target, criterion, weights)
    return float(threshold), known_fraction * gain
