"""Entropy (信息熵), information gain (信息增益) and gain ratio (信息增益比)."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.criteria._counts import cross_tabulate, weigh_labels


def _get_logarithm(base):
    if not isinstance(base, Real) or not (1 < base < math.inf):
        raise ValueError(f"base must be a finite number greater than 1; got {base!r}")
    if base == 2:
        return np.log2  # exact for powers of two
    scale = math.log(base)
    return lambda values: np.log(values) / scale


def _compute_entropy(weights, logarithm):
    """Entropy of positive weights."""
    fractions = weights / weights.sum()
    return max(0.0, float(-np.sum(fractions * logarithm(fractions))))


def _compute_conditional_entropy(table, logarithm):
    x_weight = table.x_weight
    fraction_in_x = table.cell_weight / x_weight[table.cell_x]
    terms = table.cell_weight * logarithm(fraction_in_x)
    return max(0.0, float(-np.sum(terms) / np.sum(table.cell_weight)))


def _compute_gain(table, logarithm):
    if table.known_fraction == 0:
        return 0.0
    gain_of_known = _compute_entropy(
        table.y_weight, logarithm
    ) - _compute_conditional_entropy(table, logarithm)
    return max(0.0, table.known_fraction * gain_of_known)


def entropy(
    y: ArrayLike, sample_weight: ArrayLike | None = None, base: float = 2
) -> float:
    r"""Compute the entropy of labels (信息熵, 经验熵).

    .. math:: H(D) = -\sum_k p_k \log p_k

    where :math:`p_k` is the proportion of class k by weight, and 0 log 0 = 0.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any type, without missing values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.
    base : float, default=2
        Base of the logarithm: 2 gives bits, ``math.e`` nats.

    Returns
    -------
    float
        A value from 0 to the logarithm of the number of classes.

    Raises
    ------
    ValueError
        If y is empty, not one-dimensional or has missing values, if weights are
        negative, not finite or all zero, or if base is not greater than 1.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), formula 4.1; Li Hang (李航),
    Statistical Learning Methods (《统计学习方法》), 2nd edition, formula 5.7.

    Examples
    --------
    >>> from sklearn_textbook.criteria import entropy
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> X, y = load_watermelon(return_X_y=True)
    >>> round(entropy(y), 3)
    0.998
    """
    return _compute_entropy(weigh_labels(y, sample_weight), _get_logarithm(base))


def conditional_entropy(
    x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, base: float = 2
) -> float:
    r"""Compute the conditional entropy of y given x (条件熵).

    .. math:: H(D|A) = \sum_v \tilde r_v \, H(\tilde D^v)

    Rows with missing x are left out: :math:`\tilde r_v` is the fraction of level v
    among the rows with known x, and :math:`\tilde D^v` are the rows with that level.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Labels of any type; each distinct label is a level. May have missing values.
    y : array-like of shape (n_samples,)
        Class labels, without missing values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.
    base : float, default=2
        Base of the logarithm.

    Returns
    -------
    float
        A value from 0 to the entropy of y over the rows with known x.

    Raises
    ------
    ValueError
        As in :func:`entropy`; also if x and y differ in length, or if x has no known
        value in rows of positive weight.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    formula 5.8.

    Examples
    --------
    >>> from sklearn_textbook.criteria import conditional_entropy
    >>> from sklearn_textbook.datasets import load_loan
    >>> X, y = load_loan(language="en", return_X_y=True)
    >>> round(conditional_entropy(X[:, 2], y), 3)  # owns_house
    0.551
    """
    logarithm = _get_logarithm(base)
    table = cross_tabulate(x, y, sample_weight)
    if table.known_fraction == 0:
        raise ValueError(
            "x has no known value, so the conditional entropy is not defined"
        )
    return _compute_conditional_entropy(table, logarithm)


def information_gain(
    x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, base: float = 2
) -> float:
    r"""Compute the information gain of splitting y by x (信息增益, ID3).

    .. math:: \mathrm{Gain}(D, A) = \rho \, \Bigl(-\sum_k \tilde p_k \log \tilde p_k
              - \sum_v \tilde r_v \, H(\tilde D^v)\Bigr)

    where, by weight, :math:`\rho` is the fraction of rows with known x, and
    :math:`\tilde p_k` and :math:`\tilde r_v` are the fractions of class k and level v
    among these rows. Without missing values, it is H(D) - H(D|A).

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Labels of any type; each distinct label is a branch. May have missing values.
        For numeric columns, see :func:`best_threshold`.
    y : array-like of shape (n_samples,)
        Class labels, without missing values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.
    base : float, default=2
        Base of the logarithm.

    Returns
    -------
    float
        A value of at least 0; 0 if x has no known value.

    Raises
    ------
    ValueError
        As in :func:`entropy`; also if x and y differ in length.

    See Also
    --------
    sklearn.feature_selection.mutual_info_classif : A nearest-neighbour estimate in nats
        for numeric columns; with ``discrete_features=True``, this function with base e,
        without missing values and weights.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), formulas 4.2 and 4.9 to 4.12;
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    formula 5.9.

    Examples
    --------
    >>> from sklearn_textbook.criteria import information_gain
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> X, y = load_watermelon("2.0alpha", return_X_y=True)
    >>> [round(information_gain(column, y), 3) for column in X.T]
    [0.252, 0.171, 0.145, 0.424, 0.289, 0.006]
    """
    logarithm = _get_logarithm(base)
    return _compute_gain(cross_tabulate(x, y, sample_weight), logarithm)


def intrinsic_value(
    x: ArrayLike, sample_weight: ArrayLike | None = None, base: float = 2
) -> float:
    r"""Compute the intrinsic value of a column (固有值, split information).

    .. math:: \mathrm{IV}(A) = -\sum_v \tilde r_v \log \tilde r_v

    where :math:`\tilde r_v` is the fraction of level v among the rows with known x.
    This is the entropy of the column itself. C4.5 and J48 count missing values as an
    additional level here; the textbooks do not specify this.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Labels of any type; missing values are left out.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.
    base : float, default=2
        Base of the logarithm.

    Returns
    -------
    float
        A value from 0 (a single level) to the logarithm of the number of levels.

    Raises
    ------
    ValueError
        As in :func:`entropy`; also if x has no known value in rows of positive weight.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), formula 4.4; Li Hang (李航),
    Statistical Learning Methods (《统计学习方法》), 2nd edition, formula 5.10
    (:math:`H_A(D)`).

    Examples
    --------
    >>> from sklearn_textbook.criteria import intrinsic_value
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> X, y = load_watermelon(return_X_y=True)
    >>> round(intrinsic_value(X[:, 5]), 3)  # 触感
    0.874
    """
    logarithm = _get_logarithm(base)
    weights = weigh_labels(x, sample_weight, "x", missing_allowed=True)
    if len(weights) == 0:
        raise ValueError("x has no known value, so the intrinsic value is not defined")
    return _compute_entropy(weights, logarithm)


def gain_ratio(
    x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, base: float = 2
) -> float:
    r"""Compute the gain ratio of splitting y by x (信息增益比, 增益率, C4.5).

    .. math:: \mathrm{Gain\_ratio}(D, A)
              = \frac{\mathrm{Gain}(D, A)}{\mathrm{IV}(A)}

    the ratio of :func:`information_gain` and :func:`intrinsic_value`. Up to rounding,
    it does not depend on the base.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Labels of any type; each distinct label is a branch. May have missing values.
    y : array-like of shape (n_samples,)
        Class labels, without missing values.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. None: 1 each.
    base : float, default=2
        Base of the logarithm.

    Returns
    -------
    float
        A value from 0 to 1; 0 if x has a single level or no known value.

    Raises
    ------
    ValueError
        As in :func:`entropy`; also if x and y differ in length.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), formula 4.3; Li Hang (李航),
    Statistical Learning Methods (《统计学习方法》), 2nd edition, formula 5.10.

    Examples
    --------
    >>> from sklearn_textbook.criteria import gain_ratio
    >>> from sklearn_textbook.datasets import load_loan
    >>> X, y = load_loan(language="en", return_X_y=True)
    >>> round(gain_ratio(X[:, 2], y), 4)  # owns_house
    0.4325
    """
    logarithm = _get_logarithm(base)
    table = cross_tabulate(x, y, sample_weight)
    gain = _compute_gain(table, logarithm)
    if gain == 0:  # which covers a single level and no known value
        return 0.0
    weights = table.x_weight
    return gain / _compute_entropy(weights[weights > 0], logarithm)
