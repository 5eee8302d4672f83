"""Residuals of rows, and the influence of each row on the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_textbook._contract.cached_property import cached_property


@dataclass(frozen=True, eq=False)
class Influence:
    r"""Residuals, leverage and influence of the training rows.

    Arrays have one entry per row, and for several targets one column for each.

    Parameters
    ----------
    fitted : ndarray
        Predictions :math:`\hat y_i`.
    residuals : ndarray
        :math:`e_i = y_i - \hat y_i`.
    leverage : ndarray of shape (n_rows,)
        :math:`h_i = \partial \hat y_i / \partial y_i` (杠杆值), the diagonal of the hat
        matrix.
    residual_standard_error : float or ndarray of shape (n_targets,)
        :math:`\hat\sigma`.
    n_coefficients : float
        Number p of coefficients that the rows determine, with the intercept.
    degrees_of_freedom : float
        Degrees of freedom of the residuals.
    root_weight : ndarray of shape (n_rows,), default=None
        Square roots of the precision weights; None: 1 each.

    See Also
    --------
    sklearn_textbook.linear_model.LinearRegression.influence : Returns this object.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [9.0]], [0.0, 1.2, 1.9, 5.0]
    >>> influence = LinearRegression().fit(X, y).influence(X, y)
    >>> influence.leverage.round(2)
    array([0.43, 0.33, 0.27, 0.97])
    >>> int(influence.cooks_distance.argmax())
    3
    """

    fitted: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    residual_standard_error: np.ndarray
    n_coefficients: float
    degrees_of_freedom: float
    root_weight: np.ndarray | None = None

    def _spread(self, of_row):
        """Broadcast values per row to values per row and target."""
        return of_row if self.residuals.ndim == 1 else of_row[:, np.newaxis]

    @cached_property
    def _residual_fraction(self):
        """1 - h; NaN for a row that the model fits exactly."""
        remainder = 1.0 - self.leverage
        return self._spread(np.where(remainder > 1e-10, remainder, np.nan))

    @cached_property
    def standardized_residuals(self) -> np.ndarray:
        r""":math:`r_i = \sqrt{w_i} e_i / (\hat\sigma \sqrt{1 - h_i})` (标准化残差)."""
        residuals = self.residuals
        if self.root_weight is not None:
            residuals = residuals * self._spread(self.root_weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            return residuals / (
                self.residual_standard_error * np.sqrt(self._residual_fraction)
            )

    @cached_property
    def studentized_residuals(self) -> np.ndarray:
        r"""The same with :math:`\hat\sigma` of the other rows (学生化残差).

        :math:`t_i = r_i \sqrt{(d - 1) / (d - r_i^2)}` with d degrees of freedom.
        """
        standardized, freedom = self.standardized_residuals, self.degrees_of_freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            return standardized * np.sqrt((freedom - 1.0) / (freedom - standardized**2))

    @cached_property
    def cooks_distance(self) -> np.ndarray:
        r"""Cook's distance (库克距离) :math:`D_i = r_i^2 h_i / (p (1 - h_i))`."""
        fraction = self._spread(self.leverage) / self._residual_fraction
        return self.standardized_residuals**2 * fraction / self.n_coefficients

    @cached_property
    def dffits(self) -> np.ndarray:
        r"""Change of the fitted value of a row without it, in standard errors (DFFITS).

        :math:`t_i \sqrt{h_i / (1 - h_i)}`.
        """
        return self.studentized_residuals * np.sqrt(
            self._spread(self.leverage) / self._residual_fraction
        )

    @cached_property
    def durbin_watson(self) -> float | Any:
        """Durbin and Watson's statistic: near 2 without autocorrelation."""
        residuals = self.residuals
        if self.root_weight is not None:
            residuals = residuals * self._spread(self.root_weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (np.diff(residuals, axis=0) ** 2).sum(axis=0) / (
                (residuals**2).sum(axis=0)
            )
