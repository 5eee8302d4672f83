"""Influence of rows on a generalised linear model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.cached_property import cached_property

#: Leverages above 1 minus this are those of rows that are fitted exactly.
EXACT = 1e-10


@dataclass(frozen=True, eq=False)
class GeneralizedInfluence:
    r"""Residuals, leverage and influence of the training rows.

    Parameters
    ----------
    linear_predictor : ndarray of shape (n_rows,)
        Linear predictors :math:`\eta_i`.
    deviance_residuals : ndarray of shape (n_rows,)
        Deviance residuals.
    pearson_residuals : ndarray of shape (n_rows,)
        Pearson residuals.
    leverage : ndarray of shape (n_rows,)
        Leverages :math:`h_i` (杠杆值).
    dispersion : float
        Dispersion :math:`\phi`.
    n_coefficients : float
        Number p of coefficients that the rows determine, with the intercept.

    See Also
    --------
    sklearn_textbook.linear_model.GeneralizedLinearRegressor.influence : Returns this
        object.
    sklearn_textbook.linear_model.LogisticRegression.influence : Returns it for two
        classes.
    sklearn_textbook.inspection.ResidualsDisplay : Draws it.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import GeneralizedLinearRegressor
    >>> X, y = [[0], [1], [2], [3], [9]], [1, 3, 2, 5, 40]
    >>> influence = GeneralizedLinearRegressor("poisson").fit(X, y).influence(X, y)
    >>> influence.leverage.round(2)
    array([0.21, 0.24, 0.27, 0.29, 0.99])
    >>> int(influence.cooks_distance.argmax())
    4
    """

    linear_predictor: np.ndarray
    deviance_residuals: np.ndarray
    pearson_residuals: np.ndarray
    leverage: np.ndarray
    dispersion: float
    n_coefficients: float

    @cached_property
    def _remainder(self):
        """1 - h; NaN for a row that the model fits exactly."""
        remainder = 1.0 - self.leverage
        return np.where(remainder > EXACT, remainder, np.nan)

    @cached_property
    def standardized_residuals(self) -> np.ndarray:
        r"""Deviance residuals (标准化), divided by :math:`\sqrt{\phi (1 - h_i)}`."""
        return self.deviance_residuals / np.sqrt(self.dispersion * self._remainder)

    @cached_property
    def standardized_pearson_residuals(self) -> np.ndarray:
        r"""Pearson residuals :math:`r_i`, divided by :math:`\sqrt{\phi (1 - h_i)}`."""
        return self.pearson_residuals / np.sqrt(self.dispersion * self._remainder)

    @cached_property
    def cooks_distance(self) -> np.ndarray:
        r"""Cook's distance (库克距离) :math:`r_i^2 h_i / (\phi p (1 - h_i)^2)`."""
        fraction = self.leverage / self._remainder / self.n_coefficients
        return self.standardized_pearson_residuals**2 * fraction
