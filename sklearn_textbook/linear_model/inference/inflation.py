"""How much columns that depend on others inflate the variances of coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_textbook._contract.parameters import name_some
from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook.linear_model.inference.result import get_result
from sklearn_textbook.linear_model.inference.summary import (
    format_column,
    write_table,
)


@dataclass(frozen=True)
class VarianceInflation:
    r"""Variance inflation factors of the columns of a table.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    degrees_of_freedom : ndarray of shape (n_columns,)
        Number d of coefficients of each.
    factors : ndarray of shape (n_columns,)
        The factors; of several coefficients, for the squared volume of their joint
        confidence region.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, variance_inflation
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> print(variance_inflation(LinearRegression().fit(X, y)))
        df  factor  factor^(1/(2 df))
    x0   1  1.2308             1.1094
    x1   1  1.2308             1.1094
    """

    names: tuple
    degrees_of_freedom: np.ndarray
    factors: np.ndarray

    @property
    def scaled_factors(self) -> np.ndarray:
        r"""Factors to the power :math:`1 / (2 d)`: of standard errors, to compare."""
        return self.factors ** (0.5 / self.degrees_of_freedom)

    def as_dict(self) -> dict[str, Any]:
        """Return the table as a dictionary of columns of equal length."""
        return {
            "name": np.array(self.names, dtype=object),
            "degrees_of_freedom": self.degrees_of_freedom,
            "factor": self.factors,
            "scaled_factor": self.scaled_factors,
        }

    def __str__(self):
        """Format the table with a heading and one line for each column."""
        numbers = (self.degrees_of_freedom, self.factors, self.scaled_factors)

        def make(digits):
            columns = [format_column(column, digits) for column in numbers]
            heads = ["", "df", "factor", "factor^(1/(2 df))"]
            return TextTable(heads, [*zip(self.names, *columns, strict=True)])

        return "\n".join(write_table(make)[0])


def variance_inflation(model: Any) -> VarianceInflation:
    r"""Compute variance inflation factors (方差膨胀因子) of the columns of a table.

    That of a column with one coefficient is its variance, relative to the variance if
    the column were uncorrelated with all others. All coefficients of a nominal column
    have one factor together (Fox and Monette's generalised factor), which does not
    depend on the reference level. As by ``vif`` of R's car, they are computed from the
    covariance of the coefficients: with the correlations R of all slopes, :math:`R_j`
    of those of the column, and :math:`R_{-j}` of the others,

    .. math:: \det R_j \, \det R_{-j} \, / \det R .

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression or
        MaxEntClassifier of two classes, or OrdinalRegression, without a penalty.

    Returns
    -------
    table : VarianceInflation
        A factor for each column of the table.

    Raises
    ------
    ValueError
        If the model has a penalty or several vectors of coefficients, or if columns
        are linearly dependent.

    References
    ----------
    J. Fox, G. Monette, Generalized collinearity diagnostics. Journal of the American
    Statistical Association 87, 1992.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, variance_inflation
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> variance_inflation(LinearRegression().fit(X, y)).factors.round(3)
    array([1.231, 1.231])
    """
    result = get_result(model)
    if len(result.headings) > 1:
        raise ValueError(
            "variance_inflation requires one vector of coefficients; this model has "
            f"{len(result.headings)}: {name_some(result.headings)}."
        )
    terms = [(name, at) for name, at, _ in result.terms if at.stop > at.start]
    kept = np.concatenate([np.arange(place.start, place.stop) for _, place in terms])
    lost = [result.names[place] for place in kept if not result.is_determined[place]]
    if lost:
        raise ValueError(
            "Columns are linearly dependent or constant, so that variances are not "
            f"finite: {name_some(lost)}. Leave columns out."
        )
    of_model = result.model_covariance if result.is_robust else result.covariance
    covariance = of_model[np.ix_(kept, kept)]
    errors = np.sqrt(covariance.diagonal())
    correlations = covariance / errors / errors[:, np.newaxis]
    _, whole = np.linalg.slogdet(correlations)
    factors = []
    for _, place in terms:
        is_own = (kept >= place.start) & (kept < place.stop)
        parts = [
            np.linalg.slogdet(correlations[np.ix_(each, each)])[1]
            for each in (is_own, ~is_own)
        ]
        factors.append(np.exp(sum(parts) - whole))
    sizes = [float(place.stop - place.start) for _, place in terms]
    return VarianceInflation(
        tuple(name for name, _ in terms), np.array(sizes), np.array(factors)
    )
