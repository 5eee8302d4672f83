"""Predictions of a generalised linear model, and their score."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.generalized.inputs import require_range
from sklearn_textbook.linear_model.generalized.reweighting import measure_leverages
from sklearn_textbook.linear_model.solve.weighted_solution import OUTSIDE


class GeneralizedPredictions:
    """Means and linear predictors of rows, and the deviance that they explain."""

    def predict(self, X, return_std=False, *, offset=None, exposure=None):
        """Predict the mean of the target.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to return the standard errors of the means as well (R's ``se.fit``),
            those of the linear predictors times the slope of the inverse link.
        offset : array-like of shape (n_samples,), default=None
            Number added to the linear predictor of each row. None: 0, whatever was
            passed to ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            Value to which the mean of each row is proportional. None: 1 each.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Means; with ``transform_y="log"``, as defined by ``retransform``.
        y_std : ndarray of shape (n_samples,)
            Standard errors, if requested; NaN for rows whose mean is not determined by
            the training rows, because columns are linearly dependent only in these.
        """
        known = {"offset": offset, "exposure": exposure}
        predictor = self.predict_linear(X, return_std, **known)
        if not return_std:
            return self._invert(predictor)
        predictor, errors = predictor
        mean = slope = self._invert(predictor)
        if not self.transform_y:
            slope = np.abs(self.link_.differentiate(predictor, mean))
        return mean, slope * errors

    def _invert(self, predictor):
        """Means of linear predictors."""
        if self.transform_y:
            return np.exp(predictor) * self.retransformation_factor_
        return self.link_.invert(predictor)

    def predict_linear(self, X, return_std=False, *, offset=None, exposure=None):
        r"""Compute the linear predictors :math:`\eta = g(\mu)`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to return their standard errors as well.
        offset : array-like of shape (n_samples,), default=None
            As in ``predict``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``predict``.

        Returns
        -------
        predictor : ndarray of shape (n_samples,)
            Linear predictors.
        predictor_std : ndarray of shape (n_samples,)
            Standard errors, if requested; NaN as in ``predict``.
        """
        check_is_fitted(self)
        matrix = self._read_new_table(X)
        offset = self._read_offset(offset, exposure, matrix.shape[0])
        predictor = np.asarray(matrix @ self.coef_).ravel() + self.intercept_
        if offset is not None:
            predictor = predictor + offset
        return (predictor, self._measure_errors(matrix)) if return_std else predictor

    def _measure_errors(self, matrix):
        """Compute standard errors of linear predictors; NaN if not determined."""
        variance = measure_leverages(
            matrix,
            np.ones(matrix.shape[0]),
            self._centre,
            self.covariance_[1:, 1:],
            self.dispersion_ * self._share,
        )
        if self._row_space is not None:
            rows = matrix.toarray() if issparse(matrix) else matrix
            distances = self._row_space.measure_distances(rows - self._row_centre)
            variance = np.where(distances < OUTSIDE, variance, np.nan)
        return np.sqrt(variance)

    def score(self, X, y, sample_weight=None, *, offset=None, exposure=None):
        r"""Compute the fraction of the deviance explained, :math:`D^2`.

        .. math:: D^2 = 1 - D(y, \hat\mu) / D(y, \bar y)

        with the weighted mean :math:`\bar y`. For the family "gaussian", this is
        :math:`R^2`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The targets of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None: 1 each.
        offset : array-like of shape (n_samples,), default=None
            As in ``predict``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``predict``.

        Returns
        -------
        score : float
            At most 1; 0 for the mean; negative if worse. If y is constant: 1 if it is
            predicted without error, and 0 otherwise.
        """
        mean = self.predict(X, offset=offset, exposure=exposure)
        y = self._read_target(X, y)
        require_range(self.family_, y, None)
        weight = check_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight
        average = np.full(len(y), weight @ y / weight.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            of_model = weight @ self.family_.compute_deviance(y, mean)
            of_mean = weight @ self.family_.compute_deviance(y, average)
        if not of_mean > 0.0:
            return 1.0 if not of_model > 0.0 else 0.0
        return float(1.0 - of_model / of_mean)
