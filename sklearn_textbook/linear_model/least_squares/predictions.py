"""Predictions of a linear regression, their intervals, and influence of rows."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.inference.coefficient_table import check_level
from sklearn_textbook.linear_model.inference.summary import WIDTH
from sklearn_textbook.linear_model.least_squares.influence import Influence
from sklearn_textbook.linear_model.least_squares.summary import (
    summarise_regression,
)
from sklearn_textbook.linear_model.least_squares.targets import read_numeric_targets

#: Kinds of intervals of predictions.
KINDS = ("prediction", "confidence")


class LeastSquaresPredictions:
    """Mixin for the predictions of a fitted regression."""

    def predict(self, X, return_std=False):
        """Predict the target of each row.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to return the standard errors of the predicted means as well (R's
            ``se.fit``). :meth:`predict_interval` also includes the variance of the
            targets.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions :math:`X b + b_0`.
        y_std : ndarray of the same shape
            Standard errors, if requested; NaN where the training rows do not determine
            the mean because the rank is deficient.
        """
        check_is_fitted(self)
        matrix = self._read_new_table(X)
        predicted = matrix @ self.coef_.T + self.intercept_
        if not return_std:
            return predicted
        return predicted, self._scale(self._infer().compute_unit_errors(matrix))

    def _scale(self, unit_errors):
        """Multiply errors by the residual standard error of each target."""
        scales = self._infer().residual_standard_error
        errors = np.multiply.outer(unit_errors, scales)
        return errors if self.coef_.ndim == 2 else errors[:, 0]

    def predict_interval(self, X, level=0.95, kind="prediction"):
        r"""Compute prediction or confidence intervals.

        .. math:: \hat y \pm t_{(1 + level) / 2}
            \sqrt{s^2 + \hat\sigma^2 / w}, \quad \text{or} \quad
            \hat y \pm t_{(1 + level) / 2} s,

        where s is the standard error of the mean, t the quantile of Student's t
        distribution, and w is 1.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The rows.
        level : float, default=0.95
            Probability of the interval.
        kind : {"prediction", "confidence"}, default="prediction"
            Interval for a new target (预测区间) or for the mean (置信区间).

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper limits.

        Raises
        ------
        ValueError
            If ``level`` or ``kind`` is invalid.
        """
        check_is_fitted(self)
        check_level(level)
        check_choice("kind", kind, KINDS)
        predicted, errors = self.predict(X, return_std=True)
        inference = self._infer()
        if kind == "prediction":
            errors = np.hypot(errors, self._squeeze(inference.residual_standard_error))
        half = inference.compute_quantile(level) * errors
        return np.stack([predicted - half, predicted + half], axis=1)

    def influence(self, X, y, sample_weight=None):
        """Compute residuals, leverage and influence of the training rows.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The training rows, or some of them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of these rows.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of these rows, if they are precisions. Frequencies have no effect:
            the measures are those of a single copy of the row.

        Returns
        -------
        influence : Influence
            Fitted values, residuals, leverage, standardised and studentised residuals,
            and Cook's distances.
        """
        check_is_fitted(self)
        matrix = self._read_new_table(X)
        Y = read_numeric_targets(y, X, self)
        if Y.shape[1:] != self.coef_.shape[:-1]:
            raise ValueError(
                f"y has shape {Y.shape}, but the model was fitted to "
                f"{'one target' if self.coef_.ndim == 1 else len(self.coef_)} per row."
            )
        weight = check_weights(sample_weight, len(Y))
        inference = self._infer()
        leverage, root_weight = inference.compute_leverage(matrix), None
        if self._weight_type == "variance" and weight is not None:
            leverage, root_weight = weight * leverage, np.sqrt(weight)
        fitted = matrix @ self.coef_.T + self.intercept_
        return Influence(
            fitted,
            Y - fitted,
            leverage,
            self._squeeze(inference.residual_standard_error),
            inference.effective_rank + self._rows.has_intercept,
            inference.residual_degrees_of_freedom,
            root_weight,
        )

    def summary(self, X=None, y=None, sample_weight=None, *, level=0.95, width=WIDTH):
        """Return a text summary of the fit.

        Parameters
        ----------
        X, y, sample_weight : array-like, default=None
            The training rows, to include the quartiles of the residuals and the
            Durbin-Watson statistic. None: these are left out.
        level : float, default=0.95
            Confidence level of the intervals.
        width : int or None, default=80
            Maximum line length; long names are shortened. None: no limit.

        Returns
        -------
        text : str
            Rank, fit, tests and the table of coefficients; for several targets, one
            summary after the other.
        """
        check_is_fitted(self)
        influence = None if X is None else self.influence(X, y, sample_weight)
        return summarise_regression(self, influence, level, width)
