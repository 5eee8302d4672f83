"""Attributes for the goodness of fit and uncertainty of a linear regression."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.least_squares.inference import (
    LeastSquaresInference,
)
from sklearn_textbook.linear_model.least_squares.solution import find_dependencies

#: Name of the intercept in tables.
INTERCEPT = "intercept"


class LeastSquaresMeasures:
    """Mixin for statistics of the fit, computed on access."""

    def _infer(self):
        """Return the measures of the fitted model."""
        if "_inference" not in vars(self):
            check_is_fitted(self)
            if self._rows is None:
                raise AttributeError(
                    f"This {type(self).__name__} was fitted iteratively, since the "
                    "sparse table is large, and has only coefficients. Fit it with "
                    "partial_fit, or with fewer columns."
                )
            self._inference = LeastSquaresInference(
                self._rows,
                self._solution,
                self._alpha,
                self._positive,
                self._weight_type,
            )
        return self._inference

    def _squeeze(self, values):
        """One number for one target."""
        if self.coef_.ndim == 2:
            return np.array(values)
        return float(values[0])

    # ------------------------------------------------------------------- coefficients
    @property
    def standard_errors_(self):
        """Standard errors (标准误差) of the coefficients, in the shape of ``coef_``."""
        errors = self._infer().standard_errors.T
        return errors if self.coef_.ndim == 2 else errors[0]

    @property
    def intercept_standard_error_(self):
        """Standard error of the intercept; 0 if there is none."""
        inference = self._infer()
        unit = inference.unit_intercept_error
        return self._squeeze(unit * inference.residual_standard_error)

    @property
    def covariance_(self):
        """Covariance matrix of the estimates, the intercept first (R's ``vcov``)."""
        inference = self._infer()
        variances = inference.residual_standard_error**2
        covariances = np.multiply.outer(variances, inference.unit_covariance)
        return covariances if self.coef_.ndim == 2 else covariances[0]

    @property
    def coefficient_table_(self):
        """Estimates, errors, t, p, 95% intervals; a list for several targets."""
        return self.make_coefficient_table()

    def make_coefficient_table(self, level=0.95):
        """Make a table of the coefficients with standard errors and tests.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals (置信区间).

        Returns
        -------
        table : CoefficientTable or list of CoefficientTable
            Names, estimates, standard errors, t, p and confidence intervals, the
            intercept first; for several targets, a list of one table each.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1.
        """
        inference = self._infer()
        check_level(level)
        names, has_intercept = tuple(self.coef_names_), self._rows.has_intercept
        if has_intercept:
            names = (INTERCEPT, *names)
        tables = []
        coefs = np.atleast_2d(self.coef_)
        intercepts = np.broadcast_to(self.intercept_, len(coefs))
        for target, scale in enumerate(inference.residual_standard_error):
            estimates, errors = coefs[target], inference.unit_errors
            if has_intercept:
                estimates = np.append(intercepts[target], estimates)
                errors = np.append(inference.unit_intercept_error, errors)
            freedom = float(inference.residual_degrees_of_freedom)
            tables.append(
                CoefficientTable(names, estimates, scale * errors, freedom, level)
            )
        return tables if self.coef_.ndim == 2 else tables[0]

    @property
    def variance_inflation_(self):
        """Variance inflation factors (方差膨胀因子) of the columns.

        This is the ratio of the variance of a coefficient to its variance if its column
        were uncorrelated with all others.
        """
        return self._infer().variance_inflation

    @property
    def singular_(self):
        """Singular values of the (centred, weighted) columns, in descending order."""
        return self._infer().singular_values

    def find_dependent_columns(self):
        """Find columns that are linear combinations of others.

        Returns
        -------
        dependencies : dict of dict
            Maps the name of each such column to the coefficients of the preceding
            columns in the linear combination; "intercept" is a constant. Empty if the
            rank is full.
        """
        self._infer()
        return find_dependencies(self._rows, self._solution, list(self.coef_names_))

    # ---------------------------------------------------------------- the whole model
    @property
    def residual_degrees_of_freedom_(self):
        """Number of observations minus the degrees of freedom of the fit."""
        return self._infer().residual_degrees_of_freedom

    @property
    def effective_rank_(self):
        """Trace of the hat matrix, minus 1 for the intercept.

        This is the rank or, with a penalty, the effective degrees of freedom
        (有效自由度).
        """
        return self._infer().effective_rank

    @property
    def residual_sum_of_squares_(self):
        """Weighted sum of squared residuals (残差平方和)."""
        return self._squeeze(self._infer().residual_sum_of_squares)

    @property
    def residual_standard_error_(self):
        """Estimated standard deviation of the noise (残差标准误)."""
        return self._squeeze(self._infer().residual_standard_error)

    @property
    def r_squared_(self):
        """Coefficient of determination (决定系数) on the training rows."""
        return self._squeeze(self._infer().r_squared)

    @property
    def adjusted_r_squared_(self):
        """Adjusted coefficient of determination (调整后的决定系数)."""
        return self._squeeze(self._infer().adjusted_r_squared)

    @property
    def f_statistic_(self):
        """F statistic of the test that all slopes are zero (F 检验)."""
        return self._squeeze(self._infer().f_statistic)

    @property
    def f_p_value_(self):
        """P-value of the F test that all slopes are zero."""
        return self._squeeze(self._infer().f_p_value)

    @property
    def log_likelihood_(self):
        """Maximum of the normal log-likelihood (对数似然)."""
        return self._squeeze(self._infer().log_likelihood)

    @property
    def aic_(self):
        """Akaike's information criterion, counting the variance as a parameter."""
        return self._squeeze(self._infer().aic)

    @property
    def bic_(self):
        """Bayesian information criterion, counting the variance as a parameter."""
        return self._squeeze(self._infer().bic)
