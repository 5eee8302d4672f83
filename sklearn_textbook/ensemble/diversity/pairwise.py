"""Diversity measures of all pairs of members (成对多样性度量)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.table import Table
from sklearn_textbook.ensemble.diversity.pair_tables import PairTables, list_pairs
from sklearn_textbook.ensemble.diversity.predictions import (
    read_members,
    read_predictions_and_correctness,
    require_truth,
)


def _tables(predictions, y_true, sample_weight):
    return PairTables(read_members(predictions, y_true, sample_weight))


def disagreement(
    predictions: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    r"""Compute the fraction of rows on which two members differ (不合度量).

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        Predicted labels, of any number of classes.
    y_true : array-like of shape (n_samples,), default=None
        True labels. If given, members differ if one is right and the other is wrong;
        otherwise, if their predictions differ.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    disagreement : ndarray of float64, shape (n_members, n_members)
        :math:`(b + c) / m` for each pair, from 0 to 1; 0 on the diagonal.

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    See Also
    --------
    kappa : Agreement corrected for chance.
    kohavi_wolpert_variance : Mean disagreement of the pairs, up to a factor.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.2, formula 8.37 (of predictions).
    .. [2] L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier
       ensembles", Machine Learning 51 (of right and wrong).

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import disagreement
    >>> predictions = [["a", "a"], ["b", "c"], ["c", "b"], ["c", "c"]]
    >>> disagreement(predictions)
    array([[0. , 0.5],
           [0.5, 0. ]])
    >>> disagreement(predictions, y_true=["a", "a", "b", "c"])
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    return _tables(predictions, y_true, sample_weight).disagreement()


def correlation(
    predictions: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    r"""Compute the correlation coefficient of two members (相关系数).

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        Predicted labels; without ``y_true``, of at most two classes.
    y_true : array-like of shape (n_samples,), default=None
        True labels. If given, the correlation is that of being right; otherwise that of
        the predictions.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    correlation : ndarray of float64, shape (n_members, n_members)
        :math:`(ad - bc) / \sqrt{(a+b)(a+c)(c+d)(b+d)}` for each pair, from -1 to 1. If
        a member predicts the same for all rows, this is 0/0; the value is then 1 if
        both agree for all rows, and 0 otherwise.

    Raises
    ------
    ValueError
        If shapes do not match, labels are missing or continuous, or predictions have
        more than two classes and ``y_true`` is not given.

    See Also
    --------
    q_statistic : Has the same sign, and is at least as large in absolute value.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.2, formula 8.38 (of predictions).
    .. [2] L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier
       ensembles", Machine Learning 51 (of right and wrong).

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import correlation
    >>> predictions = [[1, 1], [1, 1], [1, 0], [0, 1], [0, 0], [0, 0]]
    >>> correlation(predictions).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    """
    return _tables(predictions, y_true, sample_weight).correlation()


def q_statistic(
    predictions: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    r"""Compute Yule's Q statistic of two members (Q-统计量).

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        Predicted labels; without ``y_true``, of at most two classes.
    y_true : array-like of shape (n_samples,), default=None
        True labels. If given, Q is that of being right; otherwise that of the
        predictions.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    q : ndarray of float64, shape (n_members, n_members)
        :math:`(ad - bc) / (ad + bc)` for each pair, from -1 to 1. If a member predicts
        the same for all rows, this is 0/0; the value is then 1 if both agree for all
        rows, and 0 otherwise.

    Raises
    ------
    ValueError
        If shapes do not match, labels are missing or continuous, or predictions have
        more than two classes and ``y_true`` is not given.

    See Also
    --------
    correlation : Has the same sign, and is at most as large in absolute value.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.2, formula 8.39 (of predictions).
    .. [2] L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier
       ensembles", Machine Learning 51 (of right and wrong).

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import q_statistic
    >>> predictions = [[1, 1], [1, 1], [1, 0], [0, 1], [0, 0], [0, 0]]
    >>> q_statistic(predictions).round(3)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    return _tables(predictions, y_true, sample_weight).q_statistic()


def kappa(
    predictions: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    r"""Compute Cohen's kappa of two members (κ-统计量): agreement beyond chance.

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        Predicted labels, of any number of classes.
    y_true : array-like of shape (n_samples,), default=None
        True labels. If given, members agree if both are right or both are wrong;
        otherwise, if their predictions are equal.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    kappa : ndarray of float64, shape (n_members, n_members)
        :math:`(p_1 - p_2) / (1 - p_2)` for each pair, where :math:`p_1` is the fraction
        of rows on which both agree and :math:`p_2` the fraction expected by chance. It
        is 1 for members that agree for all rows, also if they predict a single label
        (0/0).

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    See Also
    --------
    sklearn.metrics.cohen_kappa_score : Kappa of one pair; NaN for a single label.
    kappa_error_points : Kappa and mean error of each pair.
    interrater_agreement : One kappa for all members.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.2, formulas 8.40 to 8.42 (of predictions).
    .. [2] J. Cohen (1960), "A coefficient of agreement for nominal scales", Educational
       and Psychological Measurement 20.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import kappa
    >>> predictions = [["a", "a"], ["b", "b"], ["c", "c"], ["c", "b"]]
    >>> kappa(predictions).round(3)
    array([[1.   , 0.636],
           [0.636, 1.   ]])
    """
    return _tables(predictions, y_true, sample_weight).kappa()


def double_fault(
    y_true: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> np.ndarray:
    """Compute the fraction of rows on which two members are both wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    predictions : array-like of shape (n_samples, n_members)
        Predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    double_fault : ndarray of float64, shape (n_members, n_members)
        Fractions from 0 to 1; the diagonal contains the error of each member.

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    See Also
    --------
    disagreement : Rows on which only one of the two is wrong, with ``y_true``.

    References
    ----------
    .. [1] G. Giacinto, F. Roli (2001), "Design of effective neural network ensembles
       for image classification purposes", Image and Vision Computing 19.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import double_fault
    >>> double_fault([1, 1, 1, 1], [[1, 1], [1, 0], [0, 1], [0, 0]])
    array([[0.5 , 0.25],
           [0.25, 0.5 ]])
    """
    return _tables(predictions, require_truth(y_true), sample_weight).double_fault()


def kappa_error_points(
    y_true: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Table:
    """Compute the kappa-error diagram (κ-误差图): kappa and mean error of each pair.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    predictions : array-like of shape (n_samples, n_members)
        Predicted labels, of any number of classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    points : Table
        Arrays ``first``, ``second``, ``kappa`` and ``error`` with one entry for each of
        the n (n - 1) / 2 pairs: the numbers of the members, :func:`kappa` of their
        predictions and the mean of their errors.

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    See Also
    --------
    sklearn_textbook.inspection.KappaErrorDisplay : Plots the diagram.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.2, figure 8.10.
    .. [2] D. D. Margineantu, T. G. Dietterich (1997), "Pruning adaptive boosting",
       International Conference on Machine Learning.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import kappa_error_points
    >>> y_true, predictions = [1, 1, 0, 0], [[1, 1, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1]]
    >>> kappa_error_points(y_true, predictions)
     first  second  kappa  error
         0       1    0.5  0.125
         0       2      0   0.25
         1       2   -0.5  0.375
    """
    predicted, right = read_predictions_and_correctness(
        y_true, predictions, sample_weight
    )
    first, second = list_pairs(len(predicted.codes))
    return Table(
        first=first,
        second=second,
        kappa=PairTables(predicted).kappa()[first, second],
        error=PairTables(right).mean_errors()[first, second],
    )
