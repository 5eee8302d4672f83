"""Linear combinations of coefficients: estimates, tests, all pairs of levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.inference.result import (
    WaldTest,
    check_covariance,
    get_result,
    read_contrasts,
)


def estimate_contrasts(
    model: Any,
    contrasts: Any,
    *,
    level: float = 0.95,
    covariance: ArrayLike | None = None,
) -> CoefficientTable:
    r"""Estimate linear combinations of coefficients (线性对比).

    The combination :math:`c^T \hat\beta` has the standard error :math:`\sqrt{c^T V c}`,
    with the covariance V of the coefficients.

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    contrasts : dict, list of str, or array-like of shape (n_contrasts, n_coefficients)
        By name, a dict of weights by the name of the coefficient; or names of
        coefficients; or rows of weights, in the order of ``coefficient_table_``. Of
        several classes the names are those of the vector and of the coefficient:
        "red against blue: x0".
    level : float, default=0.95
        Confidence level of the intervals.
    covariance : ndarray of shape (n_coefficients, n_coefficients), default=None
        Covariance of the coefficients, as of :func:`robust_covariance`. None: that of
        the model.

    Returns
    -------
    table : CoefficientTable
        Estimates, standard errors, tests, intervals; NaN where the rows do not
        determine a coefficient.

    Raises
    ------
    ValueError
        If a name is not that of a coefficient, or if the model has a penalty.

    See Also
    --------
    wald_test : Tests all combinations at once.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, estimate_contrasts
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> model = LinearRegression().fit(X, y)
    >>> print(estimate_contrasts(model, {"x0 - x1": {"x0": 1, "x1": -1}}))
               coef  std. error      t       p      2.5%  97.5%
    x0 - x1  1.2667     0.50162  2.525  0.1275  -0.89164  3.425
    """
    check_level(level)
    result = get_result(model)
    names, rows = read_contrasts(contrasts, result)
    estimates, errors = result.measure(rows, check_covariance(covariance, result))
    return CoefficientTable(
        tuple(names), estimates, errors, result.degrees_of_freedom, level
    )


def wald_test(
    model: Any, contrasts: Any, *, covariance: ArrayLike | None = None
) -> WaldTest:
    r"""Test that linear combinations of coefficients are all zero (沃尔德检验).

    .. math:: W = (C \hat\beta)^T (C V C^T)^{-1} C \hat\beta

    is :math:`\chi^2` with the rank of C as its degrees of freedom, or, where the
    variance is estimated, W divided by this rank is F.

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    contrasts : dict, list of str, or array-like of shape (n_contrasts, n_coefficients)
        As in :func:`estimate_contrasts`.
    covariance : ndarray of shape (n_coefficients, n_coefficients), default=None
        Covariance of the coefficients. None: that of the model.

    Returns
    -------
    test : WaldTest
        Statistic, degrees of freedom and p-value.

    Raises
    ------
    ValueError
        If a name is not that of a coefficient, or if the model has a penalty.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, wald_test
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> round(wald_test(LinearRegression().fit(X, y), ["x1"]).p_value, 4)
    0.5377
    """
    result = get_result(model)
    _, rows = read_contrasts(contrasts, result)
    return result.test(rows, check_covariance(covariance, result))


def list_pairs(n_levels: int) -> list[tuple[int, int]]:
    """List all pairs of levels, the later one first."""
    return [(later, earlier) for later in range(n_levels) for earlier in range(later)]


def compare_pairs(rows: np.ndarray) -> np.ndarray:
    """Make the differences of all pairs of rows."""
    pairs = list_pairs(len(rows))
    return np.array([rows[later] - rows[earlier] for later, earlier in pairs])
