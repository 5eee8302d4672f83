"""Residuals of training rows, and the influence of each row on a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.cached_property import cached_property

#: Leverages above 1 minus this are those of rows that are fitted exactly.
EXACT = 1e-10


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows of the design matrix, and what coefficients they determine."""

    matrix: np.ndarray | csr_array
    #: Square roots of the weights in the last step of the fit; None: 1 each.
    root_weight: np.ndarray | None
    #: Weighted means of the columns of all training rows. Shape (n_columns,).
    centre: np.ndarray
    #: Inverse of the weighted products of all training rows, the intercept first.
    inverse: np.ndarray
    #: Inverse of the total weight; 0 without an intercept.
    fraction: float
    has_intercept: bool
    #: Which coefficients all training rows determine, the intercept first.
    is_determined: np.ndarray

    def find_moves(self) -> np.ndarray:
        """Change of the coefficients with the weighted target of each row.

        In units of their standard errors for a dispersion of 1; NaN for coefficients
        that the rows do not determine. Shape (n_rows, n_coefficients).
        """
        matrix = self.matrix.toarray() if issparse(self.matrix) else self.matrix
        moves = np.empty((matrix.shape[0], len(self.inverse)))
        moves[:, 1:] = (matrix - self.centre) @ self.inverse[1:, 1:]
        moves[:, 0] = self.fraction - moves[:, 1:] @ self.centre
        if self.root_weight is not None:
            moves *= self.root_weight[:, np.newaxis]
        first = int(not self.has_intercept)
        errors = np.sqrt(np.maximum(self.inverse.diagonal(), 0.0))
        errors = np.where(self.is_determined & (errors > 0.0), errors, np.nan)
        return moves[:, first:] / errors[first:]


@dataclass(frozen=True, eq=False)
class _BaseInfluence:
    """Measures that follow from residuals and leverages of any linear model.

    Those of rows that are left out are exact for least squares. For other models, as in
    R, they are those of one step of the fit without the row.
    """

    # Fields of both classes.
    leverage: np.ndarray
    n_coefficients: float
    degrees_of_freedom: float
    rows: WeightedRows

    @property
    def _errors(self):
        """Deviance residuals: roots of the parts of the deviance, with a sign."""
        raise NotImplementedError

    @property
    def _pearson_errors(self):
        """Residuals in units of the standard deviations for a dispersion of 1."""
        return self._errors

    @property
    def _variance(self):
        """Dispersion."""
        raise NotImplementedError

    @property
    def _mean_deviance(self):
        """Deviance, divided by its degrees of freedom."""
        return self._variance

    @property
    def _knows_dispersion(self) -> bool:
        """Whether the dispersion is not estimated."""
        return False

    def _spread(self, of_row):
        """Broadcast values per row to values per row and target."""
        return of_row if self._errors.ndim == 1 else of_row[:, np.newaxis]

    @cached_property
    def _remainder(self):
        """1 - h; NaN for a row that the model fits exactly."""
        remainder = 1.0 - self.leverage
        return self._spread(np.where(remainder > EXACT, remainder, np.nan))

    @cached_property
    def _scale_of_others(self):
        """Root of the mean deviance without each row; R's ``sigma``."""
        freedom, own = self.degrees_of_freedom, self._errors**2 / self._remainder
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.maximum(freedom * self._mean_deviance - own, 0.0)
            return np.sqrt(left / (freedom - 1.0))

    def _standardize(self, errors):
        with np.errstate(divide="ignore", invalid="ignore"):
            return errors / np.sqrt(self._variance * self._remainder)

    @cached_property
    def standardized_residuals(self) -> np.ndarray:
        r"""Deviance residuals in units of their deviations (标准化残差).

        They are divided by :math:`\sqrt{\phi (1 - h_i)}` with the dispersion
        :math:`\phi`, which is :math:`\hat\sigma^2` in least squares: internally
        studentized residuals, R's ``rstandard``.
        """
        return self._standardize(self._errors)

    @cached_property
    def studentized_residuals(self) -> np.ndarray:
        r"""The same, if the row had no influence on the model (学生化残差).

        With deviance residuals :math:`d_i` and Pearson residuals :math:`p_i`, equal in
        least squares, :math:`\operatorname{sign}(d_i) \sqrt{d_i^2 + p_i^2 h_i / (1 -
        h_i)}`, divided by the root of the mean deviance of the other rows unless the
        dispersion is known: R's ``rstudent``.
        """
        added = self._pearson_errors**2 * self._spread(self.leverage) / self._remainder
        sizes = np.sqrt(self._errors**2 + added)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = 1.0 if self._knows_dispersion else self._scale_of_others
            return np.sign(self._errors) * sizes / scale

    @cached_property
    def cooks_distance(self) -> np.ndarray:
        r"""Cook's distance (库克距离) :math:`p_i^2 h_i / (\phi k (1 - h_i)^2)`.

        :math:`p_i` is the Pearson residual and k the number of coefficients.
        """
        fraction = self._spread(self.leverage) / self._remainder / self.n_coefficients
        return self._standardize(self._pearson_errors) ** 2 * fraction

    @cached_property
    def dffits(self) -> np.ndarray:
        r"""Change of the predictor of a row without it, in standard errors (DFFITS).

        :math:`d_i \sqrt{h_i} / (s_i (1 - h_i))` with the root :math:`s_i` of the mean
        deviance of the other rows.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = self._errors / self._scale_of_others
            return scaled * np.sqrt(self._spread(self.leverage)) / self._remainder

    @cached_property
    def dfbetas(self) -> np.ndarray:
        """Change of each coefficient by each row, in standard errors (DFBETAS).

        Of shape (n_rows, n_coefficients), in the order of the coefficient table, and
        for several targets (n_rows, n_coefficients, n_targets).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = self._errors / self._remainder / self._scale_of_others
            moves = self.rows.find_moves()
            if scaled.ndim == 1:
                return moves * scaled[:, np.newaxis]
            return moves[:, :, np.newaxis] * scaled[:, np.newaxis]

    @cached_property
    def covariance_ratio(self) -> np.ndarray:
        """Determinant of the covariance of coefficients without a row, by that with it.

        R's ``covratio``.
        """
        freedom = self.degrees_of_freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = self._errors**2 / (self._scale_of_others**2 * self._remainder)
            ratio = (freedom - 1.0 + squares) / freedom
            return 1.0 / (self._remainder * ratio**self.n_coefficients)


@dataclass(frozen=True, eq=False)
class Influence(_BaseInfluence):
    r"""Residuals, leverage and influence of the training rows of least squares.

    Arrays have one entry per row, and for several targets one column for each.

    Parameters
    ----------
    leverage : ndarray of shape (n_rows,)
        :math:`h_i = \partial \hat y_i / \partial y_i` (杠杆值), the diagonal of the hat
        matrix.
    n_coefficients : float
        Number k of coefficients that the rows determine, with the intercept.
    degrees_of_freedom : float
        Degrees of freedom of the residuals.
    rows : WeightedRows
        The rows, for :attr:`dfbetas`.
    fitted : ndarray
        Predictions :math:`\hat y_i`.
    residuals : ndarray
        :math:`e_i = y_i - \hat y_i`.
    residual_standard_error : float or ndarray of shape (n_targets,)
        :math:`\hat\sigma`.
    root_weight : ndarray of shape (n_rows,), default=None
        Square roots of the precision weights; None: 1 each.

    See Also
    --------
    sklearn_textbook.linear_model.LinearRegression.influence : Returns this object.
    GeneralizedInfluence : The same of other linear models.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [9.0]], [0.0, 1.2, 1.9, 5.0]
    >>> influence = LinearRegression().fit(X, y).influence(X, y)
    >>> influence.leverage.round(2)
    array([0.43, 0.33, 0.27, 0.97])
    >>> int(influence.cooks_distance.argmax())
    3
    >>> influence.dfbetas.round(1)  # of the intercept, and of x0
    array([[ -3.3,   2.1],
           [  0.3,  -0.1],
           [  0.5,  -0.2],
           [  3. , -15.1]])
    """

    fitted: np.ndarray
    residuals: np.ndarray
    residual_standard_error: np.ndarray
    root_weight: np.ndarray | None = None

    @cached_property
    def _errors(self):
        """Residuals times the roots of the weights."""
        if self.root_weight is None:
            return self.residuals
        roots = self.root_weight
        return self.residuals * (
            roots if self.residuals.ndim == 1 else roots[:, np.newaxis]
        )

    @property
    def _variance(self):
        return np.square(self.residual_standard_error)

    @cached_property
    def durbin_watson(self) -> float | Any:
        """Durbin and Watson's statistic: near 2 without autocorrelation."""
        residuals = self._errors
        with np.errstate(divide="ignore", invalid="ignore"):
            return (np.diff(residuals, axis=0) ** 2).sum(axis=0) / (
                (residuals**2).sum(axis=0)
            )


@dataclass(frozen=True, eq=False)
class GeneralizedInfluence(_BaseInfluence):
    r"""Residuals, leverage and influence of the training rows.

    Parameters
    ----------
    leverage : ndarray of shape (n_rows,)
        Leverages :math:`h_i` (杠杆值).
    n_coefficients : float
        Number k of coefficients that the rows determine, with the intercept.
    degrees_of_freedom : float
        Degrees of freedom of the deviance.
    rows : WeightedRows
        The rows, for :attr:`dfbetas`.
    linear_predictor : ndarray of shape (n_rows,)
        Linear predictors :math:`\eta_i`.
    deviance_residuals : ndarray of shape (n_rows,)
        Deviance residuals.
    pearson_residuals : ndarray of shape (n_rows,)
        Pearson residuals.
    deviance : float
        Deviance of the fit.
    dispersion : float
        Dispersion :math:`\phi`.
    knows_dispersion : bool
        Whether the dispersion is not estimated.

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
    deviance: float
    dispersion: float
    knows_dispersion: bool

    @property
    def _errors(self):
        return self.deviance_residuals

    @property
    def _pearson_errors(self):
        return self.pearson_residuals

    @property
    def _variance(self):
        return self.dispersion

    @property
    def _mean_deviance(self):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(self.deviance, self.degrees_of_freedom)

    @property
    def _knows_dispersion(self) -> bool:
        return self.knows_dispersion

    @cached_property
    def standardized_pearson_residuals(self) -> np.ndarray:
        r"""Pearson residuals :math:`p_i`, divided by :math:`\sqrt{\phi (1 - h_i)}`."""
        return self._standardize(self.pearson_residuals)
