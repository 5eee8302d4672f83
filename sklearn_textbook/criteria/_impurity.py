"""The Gini index (基尼指数) and the squared error (平方误差)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.criteria._counts import (
    check_target,
    check_weights,
    cross_tabulate,
    weigh_labels,
)


def compute_gini(weights):
    """Gini index of the weights of the classes."""
    fractions = weights / weights.sum()
    return max(0.0, float(1.0 - np.sum(fractions**2)))


def compute_gini_index(table):
    """Mean Gini index of the levels of x, over the rows with known x."""
    squares = table.cell_weight**2 / table.x_weight[table.cell_x]
    return max(0.0, float(1.0 - np.sum(squares) / np.sum(table.cell_weight)))


def gini(y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    r"""Compute the Gini impurity of labels (基尼值, 基尼指数).

    .. math:: \mathrm{Gini}(D) = 1 - \sum_k p_k^2

    where :math:`p_k` is the proportion of class k by weight. This is the probability
    that two rows drawn at random, with replacement, belong to different classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any type, without missing values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.

    Returns
    -------
    float
        A value from 0 to 1.

    Raises
    ------
    ValueError
        If y is empty, not one-dimensional or has missing values, or if weights are
        negative, not finite or all zero.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), formula 4.5; Li Hang (李航),
    Statistical Learning Methods (《统计学习方法》), 2nd edition, formula 5.24.

    Examples
    --------
    >>> from sklearn_textbook.criteria import gini
    >>> gini(["yes", "yes", "no", "no"])
    0.5
    """
    return compute_gini(weigh_labels(y, sample_weight))


def gini_index(
    x: ArrayLike,
    y: ArrayLike,
    value: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the Gini index of y after splitting by x (基尼指数, CART).

    .. math:: \mathrm{Gini\_index}(D, A)
              = \sum_v \tilde r_v \, \mathrm{Gini}(\tilde D^v)

    over the levels v of x or, with ``value=a``, over the two sides x = a and x ≠ a,
    which the textbooks call Gini(D, A=a). Rows with missing x are left out:
    :math:`\tilde r_v` is the fraction of level v among the rows with known x.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Labels of any type; may have missing values.
    y : array-like of shape (n_samples,)
        Class labels, without missing values.
    value : object, default=None
        Level of x to be split from all others. None: x is split into all its levels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.

    Returns
    -------
    float
        A value from 0 to 1; smaller values mean better splits.

    Raises
    ------
    ValueError
        As in :func:`gini`; also if x and y differ in length, if x has no known value in
        rows of positive weight, or if ``value`` does not occur in these rows.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), formula 4.6; Li Hang (李航),
    Statistical Learning Methods (《统计学习方法》), 2nd edition, formula 5.25.

    Examples
    --------
    >>> from sklearn_textbook.criteria import gini_index
    >>> from sklearn_textbook.datasets import load_loan
    >>> X, y = load_loan(language="en", return_X_y=True)
    >>> [round(gini_index(X[:, 0], y, v), 2) for v in ("young", "middle_aged", "old")]
    [0.44, 0.48, 0.44]
    """
    table = cross_tabulate(x, y, sample_weight)
    if table.known_fraction == 0:
        raise ValueError("x has no known value, so the Gini index is not defined")
    if value is None:
        return compute_gini_index(table)
    is_value = np.array([bool(level == value) for level in table.x_levels])
    cell_is_value = is_value[table.cell_x]
    if not cell_is_value.any():
        raise ValueError(f"value must be a level of x; got {value!r}")
    n_y = int(table.cell_y.max()) + 1
    sides = cell_is_value * n_y + table.cell_y
    weights = np.bincount(sides, table.cell_weight, 2 * n_y).reshape(2, n_y)
    side_weights = weights.sum(axis=1)
    return sum(
        float(side_weight) * compute_gini(side)
        for side_weight, side in zip(side_weights, weights, strict=True)
        if side_weight > 0
    ) / float(side_weights.sum())


def squared_error(y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    r"""Compute the mean squared deviation from the mean (平方误差, regression trees).

    .. math:: \frac{1}{\sum_i w_i} \sum_i w_i (y_i - \bar y)^2,
              \qquad \bar y = \frac{\sum_i w_i y_i}{\sum_i w_i}

    This is the impurity of scikit-learn's ``criterion="squared_error"``. The loss of
    the least-squares regression tree of the textbooks is this value times the weight of
    the rows.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Finite numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.

    Returns
    -------
    float
        A value of at least 0.

    Raises
    ------
    ValueError
        If y is empty, not one-dimensional or has values that are not finite numbers, or
        if weights are negative, not finite or all zero.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    formula 5.21.

    Examples
    --------
    >>> from sklearn_textbook.criteria import squared_error
    >>> squared_error([1, 2, 3, 6])
    3.5
    """
    values = check_target(y)
    weights = check_weights(sample_weight, len(values))
    total = weights.sum()
    mean = np.sum(weights * values) / total
    return float(np.sum(weights * (values - mean) ** 2) / total)
