"""Tests, residuals and intervals of a fitted generalised linear model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.design.reading import sum_rows
from sklearn_textbook.linear_model.generalized.deviance_table import (
    compare_deviances,
    measure_deviances,
)
from sklearn_textbook.linear_model.generalized.influence import GeneralizedInfluence
from sklearn_textbook.linear_model.generalized.profile_likelihood import (
    FIT_TOLERANCE,
    find_profile_interval,
)
from sklearn_textbook.linear_model.generalized.reweighting import (
    Problem,
    fit_reweighted,
    measure_leverages,
)
from sklearn_textbook.linear_model.generalized.working_rows import WorkingRows
from sklearn_textbook.linear_model.inference.coefficient_table import check_level

RESIDUALS = ("deviance", "pearson", "working", "response")


class GeneralizedDiagnostics:
    """Tests, residuals, leverages and intervals for given rows."""

    def deviance_table(
        self, X, y, sample_weight=None, *, test="auto", offset=None, exposure=None
    ):
        r"""Compute the analysis of deviance (偏差分析).

        The columns of the table are added one after another, all indicators of a
        nominal column at once, and each model is fitted. If the added coefficients are
        zero, the decrease of the deviance divided by the dispersion :math:`\phi` has a
        :math:`\chi^2` distribution with as many degrees of freedom as there are added
        coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The training targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        test : {"auto", "chi2", "F"}, default="auto"
            "chi2" treats :math:`\phi` as known, "F" as estimated. "auto": "chi2" if it
            is known, otherwise "F".
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        table : DevianceTable
            One row per column. ``print`` shows it; ``as_dict()`` returns its columns.

        Raises
        ------
        ValueError
            If ``alpha`` is not 0, since penalised deviances have another distribution.
        """
        check_is_fitted(self)
        check_choice("test", test, ("auto", "chi2", "F"))
        self._require_no_penalty("deviance_table")
        problem = self._read_problem(X, y, sample_weight, offset, exposure)
        terms = [
            (term.name, self.design_.find_columns(position))
            for position, term in enumerate(self.design_.terms)
        ]
        n_observations = self._count_observations(problem.weight)
        names, free, deviances, fit = measure_deviances(problem, terms, n_observations)
        dispersion = self.dispersion_
        if fit is not None and not self._knows_dispersion():
            dispersion = self._estimate_dispersion(fit.rows, fit.deviance, free[-1])
        if test == "auto":
            test = "chi2" if self._knows_dispersion() else "F"
        return compare_deviances(names, free, deviances, test, dispersion)

    def residuals(
        self, X, y, sample_weight=None, *, kind="deviance", offset=None, exposure=None
    ):
        r"""Compute residuals.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The targets of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights w of the rows.
        kind : {"deviance", "pearson", "working", "response"}, default="deviance"
            "deviance": the square root of :math:`w\,d(y, \mu)` with the sign of
            :math:`y - \mu`; "pearson": :math:`(y - \mu) \sqrt{w / V(\mu)}`; "working":
            :math:`(y - \mu) / (d\mu / d\eta)`; "response": :math:`y - \mu`. With
            ``transform_y="log"``, they are the residuals of ln y.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        residuals : ndarray of shape (n_samples,)
            Residuals; NaN for rows of weight 0.
        """
        check_is_fitted(self)
        check_choice("kind", kind, RESIDUALS)
        problem = self._read_problem(X, y, sample_weight, offset, exposure)
        rows, predictor = self._evaluate(problem)
        difference = rows.y - rows.mean
        if kind == "response":
            residuals = difference
        elif kind == "working":
            residuals = rows.reweight(predictor)[1]
        elif kind == "pearson":
            variance = self.family_.compute_variance(rows.mean)
            residuals = difference * np.sqrt(rows.weight / variance)
        else:
            unit = np.maximum(self.family_.compute_deviance(rows.y, rows.mean), 0.0)
            residuals = np.sign(difference) * np.sqrt(rows.weight * unit)
        return _spread(residuals, sample_weight)

    def leverage(self, X, sample_weight=None, *, offset=None, exposure=None):
        r"""Compute leverages (杠杆值): the influence of a row on its own fitted value.

        They are the diagonal of :math:`W^{1/2} Z (Z^T W Z)^{-1} Z^T W^{1/2}` with
        :math:`Z = [1, X]` and the weights W of the last iteration. For the training
        rows, they sum to the rank.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        leverages : ndarray of shape (n_samples,)
            Leverages; NaN for rows of weight 0.
        """
        check_is_fitted(self)
        problem = self._read_problem(X, None, sample_weight, offset, exposure)
        rows, predictor = self._evaluate(problem)
        weight, _ = rows.reweight(predictor)
        leverages = measure_leverages(
            problem.X, weight, self._centre, self._inverse[1:, 1:], self._share
        )
        return _spread(leverages, sample_weight)

    def influence(self, X, y, sample_weight=None, *, offset=None, exposure=None):
        """Compute residuals, leverages and influence of the training rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows, or some of them.
        y : array-like of shape (n_samples,)
            The targets of these rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of these rows, with ``weight_type="variance"``. Frequencies have no
            effect: the measures are those of a single copy of the row.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        influence : GeneralizedInfluence
            Deviance and Pearson residuals, also standardized, leverages, and Cook's
            distances; NaN for rows of weight 0.
        """
        check_is_fitted(self)
        known = {"offset": offset, "exposure": exposure}
        weight = sample_weight if self.weight_type == "variance" else None
        return GeneralizedInfluence(
            self.residuals(X, y, weight, kind="deviance", **known),
            self.residuals(X, y, weight, kind="pearson", **known),
            self.leverage(X, weight, **known),
            self.dispersion_,
            self.effective_rank_ + bool(self.fit_intercept),
        )

    def predict_interval(self, X, level=0.95, *, offset=None, exposure=None):
        """Compute confidence intervals of the means.

        They are intervals of the linear predictor, transformed by the inverse link.
        With ``transform_y="log"``, they are intervals of the median of y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        level : float, default=0.95
            Confidence level.
        offset : array-like of shape (n_samples,), default=None
            As in ``predict``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``predict``.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper limits; NaN for rows whose mean is not determined by the
            training rows, because columns are linearly dependent only in the training
            rows.
        """
        check_level(level)
        predictor, errors = self.predict_linear(
            X, return_std=True, offset=offset, exposure=exposure
        )
        half = self._choose_distribution().isf(0.5 * (1.0 - level)) * errors
        ends = np.column_stack([predictor - half, predictor + half])
        invert = np.exp if self.transform_y else self.link_.invert
        return np.sort(invert(ends), axis=1)

    def profile_intervals(
        self, X, y, sample_weight=None, level=0.95, *, offset=None, exposure=None
    ):
        r"""Compute profile likelihood confidence intervals of the coefficients.

        An interval contains the values b of a coefficient for which the smallest
        deviance :math:`D(b)` of all models with this value exceeds the deviance of the
        fit by at most :math:`\phi q^2`, where q is the quantile of the normal
        distribution, or of Student's t distribution if the dispersion :math:`\phi` is
        estimated. These intervals are more accurate than Wald intervals, :math:`\hat b
        \pm q s`, if there are few rows or coefficients are large.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The training targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        level : float, default=0.95
            Confidence level.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        intervals : ndarray of shape (n_names, 2)
            Lower and upper limits, in the order of ``coefficient_table_.names``;
            infinite if the deviance never increases that much, as with separable
            classes, and NaN for coefficients that are not determined by the rows.

        Raises
        ------
        ValueError
            If ``alpha`` is not 0.
        """
        check_is_fitted(self)
        check_level(level)
        self._require_no_penalty("profile_intervals")
        problem = self._read_problem(X, y, sample_weight, offset, exposure)
        start = np.append(self.intercept_, self.coef_)
        problem = replace(problem, tol=min(problem.tol, FIT_TOLERANCE))
        fit = fit_reweighted(problem, None, start)
        limit = self._choose_distribution().isf(0.5 * (1.0 - level))
        errors = self._find_errors()
        positions = range(0 if self.fit_intercept else 1, len(errors))
        return np.array(
            [
                find_profile_interval(
                    *(problem, fit, position, self.covariance_, limit),
                    self.dispersion_,
                )
                if np.isfinite(errors[position])
                else (np.nan, np.nan)
                for position in positions
            ]
        ).reshape(-1, 2)

    # ---------------------------------------------------------------------- parts
    def _require_no_penalty(self, name):
        """Raise ValueError if there is a penalty."""
        if self.alpha:
            raise ValueError(
                f"{name} requires alpha=0, since it compares models without a penalty; "
                f"got {self.alpha!r}."
            )

    def _read_problem(self, X, y, sample_weight, offset, exposure):
        """Read rows as in the fit; without y, all targets are 1."""
        matrix = self._read_new_table(X)
        offset = self._read_offset(offset, exposure, matrix.shape[0])
        if y is not None:
            y = self._read_target(X, y)
            if self.transform_y:
                y = np.log(y)
        weight = check_weights(sample_weight, matrix.shape[0])
        weight = np.ones(matrix.shape[0]) if weight is None else weight
        kept = weight > 0
        if self.design_.missing == "drop":
            kept &= ~np.isnan(sum_rows(matrix))
        if not kept.all():
            matrix, weight = matrix[kept], weight[kept]
            y = None if y is None else y[kept]
            offset = None if offset is None else offset[kept]
        return Problem(
            matrix,
            np.ones(matrix.shape[0]) if y is None else y,
            weight,
            offset,
            self.family_,
            self.link_,
            bool(self.fit_intercept),
            0.0,
            float(self.tol),
            int(self.max_iter),
            self.n_jobs,
            self.weight_type == "variance",
        )

    def _evaluate(self, problem):
        """Compute the means of the rows at the coefficients."""
        rows = WorkingRows(problem.y, problem.weight, self.family_, self.link_)
        predictor = problem.predict(np.append(self.intercept_, self.coef_))
        rows.mean[:] = self.link_.invert(predictor)
        return rows, predictor


def _spread(values, sample_weight):
    """Values of the rows with weight, with NaN for the others."""
    if sample_weight is None or np.isscalar(sample_weight):
        return values
    present = np.asarray(sample_weight) > 0
    if present.all():
        return values
    spread = np.full(len(present), np.nan)
    spread[present] = values
    return spread
