"""Weights for averaging values, from predictions of rows that members have not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from sklearn.utils import check_array

from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.weights import check_weights


def compute_inverse_error_weights(
    y: ArrayLike, predictions: ArrayLike, sample_weight: ArrayLike | None = None
) -> np.ndarray:
    r"""Compute weights inversely proportional to the mean squared errors of members.

    .. math:: w_i = \frac{1 / E_i}{\sum_k 1 / E_k}, \qquad
        E_i = \frac{\sum_n s_n (f_i(x_n) - y_n)^2}{\sum_n s_n}

    These weights are optimal if the errors of the members are uncorrelated. Members
    without errors share the whole weight.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true values.
    predictions : array-like of shape (n_samples, n_members)
        Held-out predictions of the members: for rows to which they were not fitted.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    weights : ndarray of float64, shape (n_members,)
        Weights that sum to 1.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.combination import (
    ...     compute_inverse_error_weights)
    >>> compute_inverse_error_weights([0, 0], [[1, 2], [1, -2]])
    array([0.8, 0.2])
    """
    errors, _, weight = _compute_errors(y, predictions, sample_weight)
    mean_squared = np.average(errors**2, axis=0, weights=weight)
    is_exact = mean_squared == 0
    if is_exact.any():
        return is_exact / is_exact.sum()
    inverse = mean_squared.min() / mean_squared
    return inverse / inverse.sum()


def compute_optimal_weights(
    y: ArrayLike, predictions: ArrayLike, sample_weight: ArrayLike | None = None
) -> np.ndarray:
    r"""Compute the weights with sum 1 that minimise the squared error of the average.

    .. math:: w = \frac{C^{-1} \mathbf{1}}{\mathbf{1}^\top C^{-1} \mathbf{1}}, \qquad
        C_{ij} = \frac{\sum_n s_n (f_i(x_n) - y_n)(f_j(x_n) - y_n)}{\sum_n s_n}

    They are computed by least squares in the differences between the members, without
    an inverse. If there are several solutions, as with two equal members, the result is
    the one closest to equal weights. Weights may be negative, and much larger than 1 if
    members are very similar.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true values.
    predictions : array-like of shape (n_samples, n_members)
        Held-out predictions of the members: for rows to which they were not fitted.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    weights : ndarray of float64, shape (n_members,)
        Weights that sum to 1.

    Notes
    -----
    Source: M. P. Perrone and L. N. Cooper, "When networks disagree: ensemble methods
    for hybrid neural networks", 1993; 周志华《机器学习》, section 8.4.1.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.combination import compute_optimal_weights
    >>> y = [0.0, 0.0, 0.0, 0.0]
    >>> errors = [[1, 2], [-1, 2], [1, -2], [-1, -2]]
    >>> compute_optimal_weights(y, errors).round(3)
    array([0.8, 0.2])
    """
    errors, _, weight = _compute_errors(y, predictions, sample_weight)
    if weight is not None:
        errors = errors * np.sqrt(weight / weight.max())[:, np.newaxis]
    n_members = errors.shape[1]
    equal = np.full(n_members, 1.0 / n_members)
    # Changes of the weights sum to 0: they are combinations of the columns of a basis.
    basis = np.linalg.svd(np.ones((1, n_members)))[2][1:].T
    # Singular values are compared with those of the errors: if all members are equal,
    # their differences are only rounding errors.
    left, values, right = np.linalg.svd(errors @ basis, full_matrices=False)
    least = np.finfo(float).eps * max(errors.shape) * np.linalg.norm(errors)
    is_used = values > least
    along = left[:, is_used].T @ (errors @ equal) / values[is_used]
    return equal - basis @ (right[is_used].T @ along)


def compute_non_negative_weights(
    y: ArrayLike,
    predictions: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    sum_to_one: bool = False,
) -> np.ndarray:
    r"""Compute the non-negative weights that minimise the squared error.

    .. math:: \min_{w \ge 0} \sum_n s_n \Bigl(y_n - \sum_i w_i f_i(x_n)\Bigr)^2

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true values.
    predictions : array-like of shape (n_samples, n_members)
        Held-out predictions of the members: for rows to which they were not fitted.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    sum_to_one : bool, default=False
        Whether the weights must sum to 1. Breiman found that they nearly do so without
        this constraint.

    Returns
    -------
    weights : ndarray of float64, shape (n_members,)
        Weights of at least 0; all are 0 if no member reduces the error.

    Notes
    -----
    Source: L. Breiman, "Stacked regressions", Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.combination import (
    ...     compute_non_negative_weights)
    >>> y = [1.0, 2.0, 3.0]
    >>> predictions = [[2.0, 3.0], [4.0, 2.0], [6.0, 1.0]]
    >>> compute_non_negative_weights(y, predictions).round(3) + 0.0
    array([0.5, 0. ])
    """
    errors, target, weight = _compute_errors(y, predictions, sample_weight)
    scale = 1.0 if weight is None else np.sqrt(weight / weight.max())[:, np.newaxis]
    if sum_to_one:
        return _minimise_on_simplex(errors * scale)
    target = target[:, np.newaxis]
    solution, _ = nnls((errors + target) * scale, (target * scale)[:, 0])
    return solution


def _minimise_on_simplex(errors):
    """Find weights of at least 0 and sum 1 whose combined errors are least."""
    # With one more row for the sum, weights s v with sum(v) = 1 leave
    # s^2 |errors v|^2 + (1 - s)^2, which for the best s grows with |errors v|.
    scale = np.abs(errors).max()
    if scale == 0:
        return np.full(errors.shape[1], 1.0 / errors.shape[1])
    rows = np.vstack([errors / scale, np.ones((1, errors.shape[1]))])
    solution, _ = nnls(rows, np.append(np.zeros(len(errors)), 1.0))
    return solution / solution.sum()


def _compute_errors(y, predictions, sample_weight):
    """Read the arrays; the members' errors, the true values, and weights of the rows.

    Errors and values are divided by a power of two, so that squares are finite.
    """
    predictions = check_array(
        predictions, dtype=np.float64, input_name="predictions", ensure_min_samples=1
    )
    y = check_numbers(y)
    if y.shape != (len(predictions),):
        raise ValueError(
            f"y must have shape ({len(predictions)},), one value per row of "
            f"predictions, got {y.shape}."
        )
    _, exponent = np.frexp(max(np.abs(y).max(), np.abs(predictions).max()))
    y, predictions = np.ldexp(y, -exponent), np.ldexp(predictions, -exponent)
    return predictions - y[:, np.newaxis], y, check_weights(sample_weight, len(y))
