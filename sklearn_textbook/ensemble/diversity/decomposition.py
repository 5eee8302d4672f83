"""The error of an averaging ensemble, divided into parts (误差分解)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.tables import LARGEST_VALUE
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.diversity.predictions import (
    read_columns,
    read_row_weights,
    read_truth,
)


@dataclass(frozen=True, eq=False)
class ErrorAmbiguity:
    r"""Error-ambiguity decomposition of a squared error: :math:`E = \bar E - \bar A`.

    Parameters
    ----------
    error : float
        Error E of the ensemble.
    mean_error : float
        Weighted mean :math:`\bar E` of the errors of the members.
    ambiguity : float
        Weighted mean :math:`\bar A` of the ambiguities of the members.
    member_errors : ndarray of shape (n_members,)
        Error of each member.
    member_ambiguities : ndarray of shape (n_members,)
        Mean squared difference of each member from the ensemble.
    row_errors, row_mean_errors, row_ambiguities : ndarray of shape (n_samples,)
        ``error``, ``mean_error`` and ``ambiguity`` for each row.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import error_ambiguity_decomposition
    >>> parts = error_ambiguity_decomposition([1.0, 2.0], [[0.0, 4.0], [2.0, 4.0]])
    >>> parts.member_errors, parts.member_ambiguities
    (array([0.5, 6.5]), array([2.5, 2.5]))
    """

    error: float
    mean_error: float
    ambiguity: float
    member_errors: np.ndarray
    member_ambiguities: np.ndarray
    row_errors: np.ndarray
    row_mean_errors: np.ndarray
    row_ambiguities: np.ndarray


@dataclass(frozen=True)
class BiasVarianceCovariance:
    r"""Decomposition of the expected squared error of the mean of M members.

    :math:`E = \overline{bias}^2 + \frac 1 M \overline{var} + (1 - \frac 1 M)
    \overline{covar}`.

    Parameters
    ----------
    error : float
        Error E, the mean over the fits and the rows.
    squared_bias : float
        Square of the mean bias of the members.
    variance : float
        Mean variance of a member over the fits.
    covariance : float
        Mean covariance of two members over the fits; 0 if there is only one member.
    n_members : int
        Number M of members.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import (
    ...     bias_variance_covariance_decomposition,
    ... )
    >>> fits = [[[0.0, 2.0]], [[2.0, 4.0]]]  # of one row, by two members
    >>> parts = bias_variance_covariance_decomposition([1.0], fits)
    >>> parts.squared_bias + parts.variance / 2 + (1 - 1 / 2) * parts.covariance
    2.0
    >>> parts.error
    2.0
    """

    error: float
    squared_bias: float
    variance: float
    covariance: float
    n_members: int


def error_ambiguity_decomposition(
    y_true: ArrayLike,
    predictions: ArrayLike,
    weights: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ErrorAmbiguity:
    r"""Decompose the squared error of a weighted mean of members (误差-分歧分解).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values.
    predictions : array-like of shape (n_samples, n_members)
        Predicted values.
    weights : array-like of shape (n_members,), default=None
        Weights of the members, which are divided by their sum. None: equal weights.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    decomposition : ErrorAmbiguity
        The errors E of the ensemble :math:`H(x) = \sum_i w_i h_i(x)` and :math:`\bar E`
        of its members, and the ambiguity (分歧) :math:`\bar A`; :math:`E = \bar E -
        \bar A` holds for each row and overall, up to rounding.

    Raises
    ------
    ValueError
        If shapes do not match, or if values are missing, infinite or not numbers.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.1, formulas 8.27 to 8.36.
    .. [2] A. Krogh, J. Vedelsby (1995), "Neural network ensembles, cross validation,
       and active learning", Advances in Neural Information Processing Systems 7.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import error_ambiguity_decomposition
    >>> parts = error_ambiguity_decomposition([1.0, 2.0], [[0.0, 4.0], [2.0, 4.0]])
    >>> parts.error, parts.mean_error, parts.ambiguity
    (1.0, 3.5, 2.5)
    >>> parts.row_errors, parts.row_mean_errors, parts.row_ambiguities
    (array([1., 1.]), array([5., 2.]), array([4., 1.]))
    """
    predictions = check_numbers(read_columns(predictions), name="predictions")
    y_true = read_truth(y_true, len(predictions), is_numeric=True)
    fractions = _read_member_weights(weights, predictions.shape[1])
    weight = read_row_weights(sample_weight, len(predictions))
    differences = _subtract(predictions, y_true)
    of_ensemble = differences @ fractions
    errors = differences**2
    ambiguities = (differences - of_ensemble[:, np.newaxis]) ** 2
    rows = of_ensemble**2, errors @ fractions, ambiguities @ fractions
    overall = [float(np.average(of_row, weights=weight)) for of_row in rows]
    return ErrorAmbiguity(
        *overall,
        np.average(errors, axis=0, weights=weight),
        np.average(ambiguities, axis=0, weights=weight),
        *rows,
    )


def _subtract(predictions, y_true):
    """Subtract the true values; the squares of what is left must be numbers, too."""
    with np.errstate(over="ignore"):
        differences = predictions - y_true[:, np.newaxis]
    largest = np.abs(differences).max()
    if not largest <= LARGEST_VALUE:
        raise ValueError(
            f"predictions must not differ from y_true by more than {LARGEST_VALUE:g}, "
            f"since squares would overflow; got {largest:.3g}."
        )
    return differences


def _read_member_weights(weights, n_members):
    """Read weights of members, which come to 1."""
    if weights is None:
        return np.full(n_members, 1.0 / n_members)
    if np.shape(weights) != (n_members,):
        raise ValueError(
            f"weights must have shape ({n_members},), one entry per member; got "
            f"{np.shape(weights)}."
        )
    weights = check_weights(weights, n_members, name="weights")
    return weights / weights.sum()


def bias_variance_covariance_decomposition(
    y_true: ArrayLike, predictions: ArrayLike, sample_weight: ArrayLike | None = None
) -> BiasVarianceCovariance:
    r"""Decompose the expected squared error of a mean of members over several fits.

    Expected values are means over the fits, each of which has trained all members on a
    different sample.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values.
    predictions : array-like of shape (n_fits, n_samples, n_members)
        Predictions of the members of each fit.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    decomposition : BiasVarianceCovariance
        Means over the rows; the parts sum to the error, up to rounding.

    Raises
    ------
    ValueError
        If shapes do not match, or if values are missing, infinite or not numbers.

    See Also
    --------
    error_ambiguity_decomposition : The decomposition for a single fit.

    References
    ----------
    .. [1] N. Ueda, R. Nakano (1996), "Generalization error of ensemble estimators",
       International Conference on Neural Networks.
    .. [2] G. Brown, J. Wyatt, R. Harris, X. Yao (2005), "Diversity creation methods: a
       survey and categorisation", Information Fusion 6.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.diversity import (
    ...     bias_variance_covariance_decomposition,
    ... )
    >>> fits = [[[0.0, 4.0]], [[2.0, 6.0]]]  # of one row, by two members
    >>> parts = bias_variance_covariance_decomposition([1.0], fits)
    >>> parts.error, parts.squared_bias, parts.variance, parts.covariance
    (5.0, 4.0, 1.0, 1.0)
    """
    predictions = check_array(
        predictions,
        dtype=np.float64,
        ensure_2d=False,
        allow_nd=True,
        input_name="predictions",
    )
    if predictions.ndim != 3 or predictions.shape[2] < 1:
        raise ValueError(
            "predictions must have shape (n_fits, n_samples, n_members); got "
            f"{predictions.shape}."
        )
    n_rows, n_members = predictions.shape[1:]
    y_true = read_truth(y_true, n_rows, is_numeric=True)
    weight = read_row_weights(sample_weight, n_rows)
    differences = _subtract(predictions, y_true)
    of_ensemble = differences.mean(axis=2)
    bias = differences.mean(axis=0)
    deviations = differences - bias
    variances = (deviations**2).mean(axis=0).mean(axis=1)
    # The square of a sum has the variances once, and each covariance twice.
    pairs = (deviations.sum(axis=2) ** 2).mean(axis=0) - n_members * variances
    covariances = pairs / max(1, n_members * (n_members - 1))
    if n_members == 1:
        covariances = np.zeros(n_rows)
    rows = (of_ensemble**2).mean(axis=0), bias.mean(axis=1) ** 2, variances, covariances
    means = [float(np.average(of_row, weights=weight)) for of_row in rows]
    return BiasVarianceCovariance(*means, n_members)
