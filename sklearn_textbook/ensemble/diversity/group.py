"""Diversity measures of all members together (非成对多样性度量)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.ensemble.diversity.predictions import (
    MemberCodes,
    read_members,
    require_truth,
)


def _read_right(y_true, predictions, sample_weight):
    return read_members(predictions, require_truth(y_true), sample_weight)


def _average_split(right):
    """Mean of l (L - l), where l of the L members are right on a row."""
    n_right = right.count_right()
    return right.average(n_right * (len(right.codes) - n_right).astype(np.float64))


def _fraction_of_failures(right):
    """Share of the rows on which 0, 1, ..., L members are wrong."""
    n_members = len(right.codes)
    n_wrong = n_members - right.count_right()
    return np.bincount(n_wrong, right.weight, n_members + 1) / right.total


def entropy(
    predictions: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the mean entropy of the members' predictions for a row (熵度量).

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        Predicted labels.
    y_true : array-like of shape (n_samples,), default=None
        True labels. If given, the measure E of Kuncheva and Whitaker, of right and
        wrong predictions. None: the entropy of Cunningham and Carney, of the votes.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    entropy : float
        Without ``y_true``, the mean of :math:`-\sum_k p_k \log_2 p_k` in bits, where
        :math:`p_k` is the fraction of the L members that vote for class k. With
        ``y_true``, the mean of :math:`\min(l, L - l) / (L - \lceil L/2 \rceil)`, where
        l members are right, from 0 to 1. Both are 0 if all members agree.

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    References
    ----------
    .. [1] P. Cunningham, J. Carney (2000), "Diversity versus quality in classification
       ensembles based on feature selection", European Conference on Machine Learning.
    .. [2] L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier
       ensembles", Machine Learning 51.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import entropy
    >>> predictions = [[1, 1, 1, 1], [1, 1, 0, 0]]
    >>> entropy(predictions), entropy(predictions, y_true=[1, 1])
    (0.5, 0.5)
    >>> entropy([[1, 1, 1, 0]], y_true=[1])
    0.5
    """
    members = read_members(predictions, y_true, sample_weight)
    return measure_entropy(members)


def measure_entropy(members) -> float:
    """Compute the entropy of votes, or E of right and wrong; see :func:`entropy`."""
    n_members = len(members.codes)
    if members.is_correctness:
        n_right = members.count_right()
        fewer = np.minimum(n_right, n_members - n_right)
        return float(members.average(fewer / (n_members // 2)))
    of_row = np.zeros(members.codes.shape[1])
    for number in range(len(members.classes)):
        fraction = (members.codes == number).sum(axis=0) / n_members
        of_row -= fraction * np.log2(np.where(fraction > 0, fraction, 1.0))
    return float(members.average(of_row))


def kohavi_wolpert_variance(
    y_true: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Compute the Kohavi-Wolpert variance of right and wrong predictions (KW 方差).

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
    variance : float
        Mean of :math:`l (L - l) / L^2`, where l of the L members are right for a row;
        from 0 to 1/4. It equals :math:`(L - 1) / (2 L)` times the mean
        :func:`disagreement` of two members with ``y_true``.

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    References
    ----------
    .. [1] R. Kohavi, D. H. Wolpert (1996), "Bias plus variance decomposition for
       zero-one loss functions", International Conference on Machine Learning.
    .. [2] L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier
       ensembles", Machine Learning 51.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import kohavi_wolpert_variance
    >>> kohavi_wolpert_variance([1, 1], [[1, 1, 1, 1], [1, 1, 1, 0]])
    0.09375
    """
    right = _read_right(y_true, predictions, sample_weight)
    return measure_kohavi_wolpert(right)


def measure_kohavi_wolpert(right):
    """Compute the variance; see :func:`kohavi_wolpert_variance`."""
    return float(_average_split(right)) / len(right.codes) ** 2


def interrater_agreement(
    y_true: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Compute Fleiss' kappa: agreement of all members beyond chance.

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
    kappa : float
        1 minus the mean of :math:`l (L - l)` divided by :math:`L (L - 1) \bar p (1 -
        \bar p)`, where l of the L members are right for a row and :math:`\bar p` is
        their mean accuracy. 1 if all members agree for all rows, also if they are
        always right or always wrong (0/0).

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    See Also
    --------
    kappa : Kappa of each pair of members.

    References
    ----------
    .. [1] J. L. Fleiss (1981), "Statistical methods for rates and proportions", Wiley.
    .. [2] L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier
       ensembles", Machine Learning 51.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import interrater_agreement
    >>> interrater_agreement([1, 1], [[1, 1], [0, 0]])
    1.0
    >>> interrater_agreement([1, 1], [[1, 0], [0, 1]])
    -1.0
    """
    right = _read_right(y_true, predictions, sample_weight)
    return measure_interrater(right)


def measure_interrater(right) -> float:
    """Compute Fleiss' kappa; see :func:`interrater_agreement`."""
    split = _average_split(right)
    n_members = len(right.codes)
    accuracy = right.average(right.count_right() / n_members)
    by_chance = n_members * (n_members - 1) * accuracy * (1.0 - accuracy)
    if split == 0 or by_chance <= 0:
        return 1.0
    return float(1.0 - split / by_chance)


def generalized_diversity(
    y_true: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Compute the generalized diversity: how rarely two members fail together.

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
    diversity : float
        :math:`1 - p(2) / p(1)`, where p(1) is the probability that a random member is
        wrong for a row, and p(2) that two random members are; from 0 (all fail
        together) to 1 (no two do). 0 if no member is ever wrong (0/0).

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    References
    ----------
    .. [1] D. Partridge, W. Krzanowski (1997), "Software diversity: practical statistics
       for its measurement and exploitation", Information and Software Technology 39.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import generalized_diversity
    >>> generalized_diversity([1, 1, 1], [[0, 1], [1, 0], [1, 1]])
    1.0
    >>> round(generalized_diversity([1, 1, 1], [[0, 0], [1, 0], [1, 1]]), 3)
    0.333
    """
    right = _read_right(y_true, predictions, sample_weight)
    return measure_generalized(right)


def measure_generalized(right) -> float:
    """Compute the diversity; see :func:`generalized_diversity`."""
    fractions = _fraction_of_failures(right)
    n_members = len(right.codes)
    n_wrong = np.arange(n_members + 1)
    one = fractions @ (n_wrong / n_members)
    if one == 0:
        return 0.0
    two = fractions @ (n_wrong * (n_wrong - 1) / (n_members * (n_members - 1)))
    return float(1.0 - two / one)


def coincident_failure_diversity(
    y_true: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Compute the coincident failure diversity: how few members fail together.

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
    diversity : float
        Mean of :math:`(L - i) / (L - 1)` over the rows for which at least one of the L
        members is wrong, where i is the number of wrong members; from 0 (all fail
        together) to 1 (one at a time). 0 if no member is ever wrong.

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    References
    ----------
    .. [1] D. Partridge, W. Krzanowski (1997), "Software diversity: practical statistics
       for its measurement and exploitation", Information and Software Technology 39.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import coincident_failure_diversity
    >>> coincident_failure_diversity([1, 1, 1], [[0, 0], [1, 0], [1, 1]])
    0.5
    """
    right = _read_right(y_true, predictions, sample_weight)
    return measure_coincident_failure(right)


def measure_coincident_failure(right) -> float:
    """Compute the diversity; see :func:`coincident_failure_diversity`."""
    fractions = _fraction_of_failures(right)[1:]
    if not fractions.any():
        return 0.0
    n_members = len(right.codes)
    n_right = np.arange(n_members - 1, -1, -1)
    return float(fractions @ (n_right / (n_members - 1)) / fractions.sum())


def difficulty(
    y_true: ArrayLike, predictions: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Compute the difficulty θ: variance of the fraction of right members (难度).

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
    difficulty : float
        Variance over the rows, from 0 to 1/4. It is large if the same rows are
        difficult for all members, so smaller values mean more diversity.

    Raises
    ------
    ValueError
        If shapes do not match, or labels are missing or continuous.

    References
    ----------
    .. [1] L. K. Hansen, P. Salamon (1990), "Neural network ensembles", IEEE
       Transactions on Pattern Analysis and Machine Intelligence 12.
    .. [2] L. I. Kuncheva, C. J. Whitaker (2003), "Measures of diversity in classifier
       ensembles", Machine Learning 51.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import difficulty
    >>> difficulty([1, 1], [[1, 1], [0, 0]]), difficulty([1, 1], [[1, 0], [0, 1]])
    (0.25, 0.0)
    """
    right = _read_right(y_true, predictions, sample_weight)
    return measure_difficulty(right)


def measure_difficulty(right) -> float:
    """Compute the variance; see :func:`difficulty`."""
    fraction = right.count_right() / len(right.codes)
    return float(right.average((fraction - right.average(fraction)) ** 2))


def measure_group(predicted: MemberCodes, right: MemberCodes) -> dict[str, float]:
    """Compute all measures of this module."""
    return {
        "entropy": measure_entropy(right),
        "vote_entropy": measure_entropy(predicted),
        "kohavi_wolpert_variance": measure_kohavi_wolpert(right),
        "interrater_agreement": measure_interrater(right),
        "generalized_diversity": measure_generalized(right),
        "coincident_failure_diversity": measure_coincident_failure(right),
        "difficulty": measure_difficulty(right),
    }
