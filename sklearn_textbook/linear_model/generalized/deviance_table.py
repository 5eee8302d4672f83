"""Analysis of deviance (偏差分析) by columns of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook.linear_model.generalized.reweighting import (
    Problem,
    fit_constant,
    fit_reweighted,
)
from sklearn_textbook.linear_model.inference.summary import (
    find_mark,
    format_column,
    format_p,
    write_table,
)


@dataclass(frozen=True)
class DevianceTable:
    """Sequence of models, each with one more column of the table.

    Parameters
    ----------
    names : tuple of str
        Column that each line adds; the first one, "(null)", is the intercept alone.
    degrees_of_freedom : ndarray of shape (n_lines,)
        Increase of the rank; NaN in the first line.
    deviances : ndarray of shape (n_lines,)
        Reduction of the deviance; NaN in the first line.
    residual_degrees_of_freedom : ndarray of shape (n_lines,)
        Number of rows minus rank.
    residual_deviances : ndarray of shape (n_lines,)
        Deviance of the model.
    statistics : ndarray of shape (n_lines,)
        "chi2": the reduction of the deviance divided by the dispersion; "F": this,
        divided by the degrees of freedom.
    p_values : ndarray of shape (n_lines,)
        Probability of a statistic at least as large if the coefficients are zero.
    test : {"chi2", "F"}
        The test.
    dispersion : float
        Dispersion of the last model.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import GeneralizedLinearRegressor
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1], [5, 4]], [2, 3, 6, 7, 8, 17]
    >>> model = GeneralizedLinearRegressor(family="poisson").fit(X, y)
    >>> table = model.deviance_table(X, y)
    >>> print(table)
            df  deviance  resid. df  resid. dev.    chi2        p
    (null)   -         -          5       18.337       -        -
    x0       1    17.242          4        1.094  17.242  3.3e-05  ***
    x1       1     0.460          3        0.634   0.460   0.4976
    >>> table.as_dict()["deviance"].round(2)
    array([  nan, 17.24,  0.46])
    """

    names: tuple
    degrees_of_freedom: np.ndarray
    deviances: np.ndarray
    residual_degrees_of_freedom: np.ndarray
    residual_deviances: np.ndarray
    statistics: np.ndarray
    p_values: np.ndarray
    test: str
    dispersion: float

    def as_dict(self) -> dict[str, Any]:
        """Return the table as a dictionary of columns of equal length."""
        return {
            "name": np.array(self.names, dtype=object),
            "degrees_of_freedom": self.degrees_of_freedom,
            "deviance": self.deviances,
            "residual_degrees_of_freedom": self.residual_degrees_of_freedom,
            "residual_deviance": self.residual_deviances,
            self.test: self.statistics,
            "p_value": self.p_values,
        }

    def __str__(self):
        """Format the table with a heading and one line for each column."""
        sign = "F" if self.test == "F" else "chi2"
        heads = ["", "df", "deviance", "resid. df", "resid. dev.", sign, "p", ""]
        numbers = (
            self.degrees_of_freedom,
            self.deviances,
            self.residual_degrees_of_freedom,
            self.residual_deviances,
            self.statistics,
        )

        def make(digits):
            columns = [
                *(format_column(column, digits) for column in numbers),
                map(format_p, self.p_values),
                map(find_mark, self.p_values),
            ]
            return TextTable(heads, [*zip(self.names, *columns, strict=True)])

        return "\n".join(write_table(make)[0])


def measure_deviances(problem: Problem, terms, n_observations: float):
    """Fit models, each with one more column of the table.

    Returns (names, residual_degrees_of_freedom, residual_deviances, fit).
    """
    constant, null_deviance = fit_constant(problem)
    names = ["(null)"]
    free = [n_observations - int(problem.fit_intercept)]
    deviances, fit = [null_deviance], None
    for name, columns in terms:
        part = problem.select(slice(0, columns.stop))
        base = None
        if problem.fit_intercept:
            base = np.zeros(columns.stop + 1)
            base[0] = constant
        fit = fit_reweighted(part, base)
        weight, _ = fit.rows.reweight(fit.predictor)
        names.append(name)
        free.append(n_observations - fit.solver.describe(weight).rank)
        deviances.append(fit.deviance)
    return tuple(names), np.array(free), np.array(deviances), fit


def compare_deviances(
    names: tuple, free: np.ndarray, deviances: np.ndarray, test: str, dispersion: float
) -> DevianceTable:
    """Test every reduction of the deviance."""
    used = np.append(np.nan, free[:-1] - free[1:])
    fallen = np.append(np.nan, deviances[:-1] - deviances[1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        if test == "F":
            statistics = fallen / used / dispersion
            p_values = stats.f.sf(statistics, used, free[-1])
        else:
            statistics = fallen / dispersion
            p_values = stats.chi2.sf(statistics, used)
    # A column that depends on those before it uses no degree of freedom.
    statistics = np.where(used > 0, statistics, np.nan)
    p_values = np.where(used > 0, p_values, np.nan)
    return DevianceTable(
        names, used, fallen, free, deviances, statistics, p_values, test, dispersion
    )
