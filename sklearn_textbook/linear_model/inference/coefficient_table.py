"""Estimated coefficients with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.html import make_table
from sklearn_textbook.linear_model.inference.summary import (
    make_frame,
    tabulate_coefficients,
    write_table,
)


@dataclass(frozen=True)
class CoefficientTable:
    r"""Estimates with standard errors, tests and confidence intervals.

    Parameters
    ----------
    names : tuple of str
        Names of the coefficients.
    estimates : ndarray of shape (n_coefficients,)
        Their estimates :math:`\hat\beta`.
    standard_errors : ndarray of shape (n_coefficients,)
        Their standard errors (标准误差) s; NaN for a coefficient that the data do not
        determine.
    degrees_of_freedom : float or None, default=None
        Degrees of freedom of Student's t distribution, which :math:`\hat\beta / s` has
        if the coefficient is zero; None: the normal distribution.
    level : float, default=0.95
        Confidence level of the intervals.
    is_penalised : bool, default=False
        Whether a penalty shrinks the estimates. Their bias is unknown, so statistics,
        p-values and intervals are then NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.linear_model.inference.coefficient_table import (
    ...     CoefficientTable,
    ... )
    >>> table = CoefficientTable(("x",), np.array([2.0]), np.array([1.0]))
    >>> table.p_values.round(4)
    array([0.0455])
    >>> print(table)
       coef  std. error  z       p      2.5%  97.5%
    x     2           1  2  0.0455  0.040036   3.96  *
    """

    names: tuple
    estimates: np.ndarray
    standard_errors: np.ndarray
    degrees_of_freedom: float | None = None
    level: float = 0.95
    is_penalised: bool = False

    @property
    def statistic_name(self) -> str:
        """``t`` or ``z``."""
        return "z" if self.degrees_of_freedom is None else "t"

    @cached_property
    def statistics(self) -> np.ndarray:
        """Estimates in units of their standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.estimates / self._unbiased_errors

    @cached_property
    def p_values(self) -> np.ndarray:
        """Probability of a statistic at least as large if the coefficient is zero."""
        size = -np.abs(self.statistics)
        if self.degrees_of_freedom is None:
            return 2.0 * ndtr(size)
        return 2.0 * stdtr(self._freedom, size)

    @cached_property
    def confidence_intervals(self) -> np.ndarray:
        """Confidence intervals (置信区间), of shape (n_coefficients, 2)."""
        fraction = (1.0 + self.level) / 2.0
        if self.degrees_of_freedom is None:
            quantile = ndtri(fraction)
        else:
            quantile = stdtrit(self._freedom, fraction)
        half = quantile * self._unbiased_errors
        return np.column_stack([self.estimates - half, self.estimates + half])

    @property
    def _unbiased_errors(self):
        """Standard errors of estimates without a bias; NaN with a penalty."""
        return np.where(self.is_penalised, np.nan, self.standard_errors)

    @property
    def _freedom(self):
        """Degrees of freedom of the distribution; NaN if there are none."""
        return self.degrees_of_freedom if self.degrees_of_freedom > 0 else np.nan

    def as_dict(self) -> dict[str, Any]:
        """Return the table as a dictionary of columns of equal length."""
        low, high = self.confidence_intervals.T
        return {
            "name": np.array(self.names, dtype=object),
            "coef": self.estimates,
            "standard_error": self.standard_errors,
            self.statistic_name: self.statistics,
            "p_value": self.p_values,
            "low": low,
            "high": high,
        }

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, by the names of the coefficients."""
        return make_frame(self.as_dict())

    def _repr_html_(self) -> str:
        return make_table(tabulate_coefficients(self))

    def __str__(self):
        """Format the table with a heading and one line for each coefficient."""
        return "\n".join(write_table(partial(tabulate_coefficients, self))[0])


def check_level(level) -> None:
    """Raise ValueError unless a level is a probability between 0 and 1."""
    if not (isinstance(level, (float, np.floating)) and 0.0 < level < 1.0):
        raise ValueError(f"level must be a float in the range (0, 1); got {level!r}.")
