"""What follows from a fitted generalised linear model."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_choice, check_real
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.coefficient_table import CoefficientTable
from sklearn_textbook.linear_model.deviance_table import (
    compare_deviances,
    measure_deviances,
)
from sklearn_textbook.linear_model.reweighting import Problem, measure_leverages
from sklearn_textbook.linear_model.summary import format_number, write_summary
from sklearn_textbook.linear_model.working_rows import WorkingRows

RESIDUALS = ("deviance", "pearson", "working", "response")
#: Families of which the dispersion is a parameter of the likelihood.
SCATTERED = ("normal", "gamma", "inverse-gaussian")


class GeneralizedResults:
    """Results of a generalised linear model; those of rows are given the rows."""

    @property
    def coefficient_table_(self):
        """Estimates, standard errors, tests and confidence intervals of 95%."""
        return self._make_table(0.95)

    @property
    def standard_errors_(self):
        """Standard errors of ``coef_``; NaN for what the data do not determine."""
        return self._find_errors()[1:]

    @property
    def intercept_standard_error_(self):
        """Standard error of ``intercept_``; NaN without one."""
        return float(self._find_errors()[0])

    def summary(self, level=0.95):
        """Describe the model in a text.

        Parameters
        ----------
        level : float, default=0.95
            Of the confidence intervals.

        Returns
        -------
        text : str
            What the model is, how well it fits, and its coefficients.
        """
        check_is_fitted(self)
        check_real("level", level, 0.0, 1.0)
        name = self.family_.name
        if name == "tweedie":
            name += f", power {self.family_.power:g}"
        target = "ln y" if self.transform_y else "y"
        facts = [
            ("target", target),
            ("family", name),
            ("link", self.link_.describe()),
            ("rows", f"{self.n_observations_:g}"),
            ("rank", f"{self.rank_} of {self._count_coefficients()}"),
            ("iterations", str(self.n_iter_)),
            ("null deviance", self._format_deviance(self.null_deviance_, "null")),
            ("deviance", self._format_deviance(self.deviance_, "residual")),
            ("dispersion", f"{format_number(self.dispersion_)} ({self._say_how()})"),
            ("log-likelihood", format_number(self.log_likelihood_)),
            ("AIC", format_number(self.aic_)),
            ("BIC", format_number(self.bic_)),
        ]
        return write_summary(
            "Generalised linear model",
            facts,
            [("", self._make_table(level))],
            self._list_notes(),
        )

    def deviance_table(
        self, X, y, sample_weight=None, *, test="auto", offset=None, exposure=None
    ):
        r"""Compute the analysis of deviance (偏差分析).

        The columns of the table are added one after another, all indicators of a
        nominal column at once, and every model is fitted anew. If the added
        coefficients were zero, the fall of the deviance over the dispersion
        :math:`\phi` would follow the :math:`\chi^2` distribution of as many degrees of
        freedom.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows that the model was fitted to.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        test : {"auto", "chi2", "F"}, default="auto"
            "chi2" takes :math:`\phi` as known, "F" as estimated. "auto": "chi2" if it
            is known, and "F" otherwise.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        table : DevianceTable
            One line for each column; ``print`` shows it, ``as_dict()`` has its columns.

        Raises
        ------
        ValueError
            If ``alpha`` is not 0: penalised deviances follow another distribution.
        """
        check_is_fitted(self)
        check_choice("test", test, ("auto", "chi2", "F"))
        if self.alpha:
            raise ValueError(
                "deviance_table compares models without penalty; alpha is "
                f"{self.alpha!r}."
            )
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
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights w.
        kind : {"deviance", "pearson", "working", "response"}, default="deviance"
            "deviance": the root of :math:`w\,d(y, \mu)` with the sign of
            :math:`y - \mu`; "pearson": :math:`(y - \mu) \sqrt{w / V(\mu)}`; "working":
            :math:`(y - \mu) / (d\mu / d\eta)`; "response": :math:`y - \mu`. With
            ``transform_y="log"`` they are those of ln y.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        residuals : ndarray of shape (n_samples,)
            Residuals; those of rows of weight 0 are NaN.
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
        r"""Compute leverages (杠杆值): how much a row draws its own fit to itself.

        The diagonal of :math:`W^{1/2} Z (Z^T W Z)^{-1} Z^T W^{1/2}` with
        :math:`Z = [1, X]` and the weights W of the last iteration; for the rows of the
        fit they sum to the rank.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        leverages : ndarray of shape (n_samples,)
            Leverages; those of rows of weight 0 are NaN.
        """
        check_is_fitted(self)
        problem = self._read_problem(X, None, sample_weight, offset, exposure)
        rows, predictor = self._evaluate(problem)
        weight, _ = rows.reweight(predictor)
        leverages = measure_leverages(
            problem.X, weight, self._centre, self._inverse[1:, 1:], self._share
        )
        return _spread(leverages, sample_weight)

    def predict_interval(self, X, level=0.95, *, offset=None, exposure=None):
        """Compute confidence intervals of the means.

        They are those of the linear predictor, transformed by the link. With
        ``transform_y="log"`` they are those of the median of y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        level : float, default=0.95
            How often such intervals cover the mean.
        offset : array-like of shape (n_samples,), default=None
            As in ``predict``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``predict``.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        check_real("level", level, 0.0, 1.0)
        predictor = self.predict_linear(X, offset=offset, exposure=exposure)
        matrix = self._read_new_table(X)
        ones = np.ones(matrix.shape[0])
        variance = measure_leverages(
            matrix,
            ones,
            self._centre,
            self.covariance_[1:, 1:],
            self.dispersion_ * self._share,
        )
        free = None if self._knows_dispersion() else self.df_residual_
        distribution = stats.norm() if free is None else stats.t(free)
        half = distribution.isf(0.5 * (1.0 - level)) * np.sqrt(variance)
        ends = np.column_stack([predictor - half, predictor + half])
        invert = np.exp if self.transform_y else self.link_.invert
        return np.sort(invert(ends), axis=1)

    # ---------------------------------------------------------------------- parts
    def _set_results(self, problem, fit, kept):
        """Set what follows from the rows of the fit."""
        weight, _ = fit.rows.reweight(fit.predictor)
        solution = fit.solver.describe(weight)
        n_coefficients = len(self.coef_) + 1
        places = np.append(0, kept + 1)
        inverse = np.zeros((n_coefficients, n_coefficients))
        inverse[np.ix_(places, places)] = solution.inverse
        self._inverse = inverse
        self._share = solution.share
        self._centre = np.zeros(n_coefficients - 1)
        self._centre[kept] = solution.centre
        self._is_determined = np.zeros(n_coefficients, dtype=bool)
        self._is_determined[places] = solution.is_determined
        if not problem.fit_intercept:
            self._is_determined[0] = False
        self.rank_ = solution.rank
        slopes = inverse[1:, :]
        self.effective_rank_ = solution.rank - problem.penalty * np.trace(slopes[:, 1:])
        self.n_observations_ = self._count_observations(problem.weight)
        self.df_null_ = self.n_observations_ - int(problem.fit_intercept)
        self.df_residual_ = self.n_observations_ - self.effective_rank_
        if self._knows_dispersion():
            is_word = isinstance(self.dispersion, str)
            self.dispersion_ = 1.0 if is_word else float(self.dispersion)
        else:
            self.dispersion_ = self._estimate_dispersion(
                fit.rows, fit.deviance, self.df_residual_
            )
        scatter = inverse - problem.penalty * (slopes.T @ slopes)
        self.covariance_ = self.dispersion_ * scatter
        self._set_likelihood(fit)

    def _set_likelihood(self, fit):
        """Set the log-likelihood, and how many parameters it has."""
        rows, is_precision = fit.rows, self.weights == "precision"
        total = rows.weight.sum()
        is_scattered = self.family_.name in SCATTERED
        dispersion = self.dispersion_
        if is_scattered and not self._knows_dispersion():
            is_normal = self.family_.name == "normal"
            dispersion = fit.deviance / (self.n_observations_ if is_normal else total)
        self._n_parameters = self.effective_rank_
        self.log_likelihood_ = np.nan
        if is_scattered or (self.family_.has_fixed_dispersion and dispersion == 1.0):
            self._n_parameters += is_scattered and not self._knows_dispersion()
            with np.errstate(divide="ignore", invalid="ignore"):
                self.log_likelihood_ = self.family_.compute_log_likelihood(
                    rows.y, rows.mean, rows.weight, dispersion, is_precision
                )

    @property
    def aic_(self):
        """Akaike's information criterion."""
        return 2.0 * (self._n_parameters - self.log_likelihood_)

    @property
    def bic_(self):
        """Bayesian information criterion."""
        cost = self._n_parameters * np.log(self.n_observations_)
        return float(cost - 2.0 * self.log_likelihood_)

    def _knows_dispersion(self):
        """Whether the dispersion is not estimated."""
        if not isinstance(self.dispersion, str):
            return True
        return self.dispersion == "auto" and self.family_.has_fixed_dispersion

    def _estimate_dispersion(self, rows, deviance, free):
        """Estimate the dispersion; NaN if no degrees of freedom are left."""
        if not free > 0.0:
            return np.nan
        if self.dispersion == "deviance":
            return deviance / free
        variance = self.family_.compute_variance(rows.mean)
        return float(rows.weight @ (np.square(rows.y - rows.mean) / variance)) / free

    def _count_observations(self, weight):
        """Count rows; a weight counts as so many, unless it is a precision."""
        return len(weight) if self.weights == "precision" else float(weight.sum())

    def _count_coefficients(self):
        return len(self.coef_) + int(self.fit_intercept)

    def _find_errors(self):
        """Find the standard errors, of the intercept first."""
        errors = np.sqrt(np.maximum(self.covariance_.diagonal(), 0.0))
        return np.where(self._is_determined, errors, np.nan)

    def _make_table(self, level):
        names, estimates = self.coef_names_.tolist(), self.coef_
        errors = self._find_errors()
        if self.fit_intercept:
            names = ["(intercept)", *names]
            estimates = np.append(self.intercept_, estimates)
        else:
            errors = errors[1:]
        free = None if self._knows_dispersion() else self.df_residual_
        return CoefficientTable(tuple(names), estimates, errors, free, level)

    def _format_deviance(self, deviance, which):
        free = self.df_null_ if which == "null" else self.df_residual_
        return f"{format_number(deviance)} on {free:g} df"

    def _say_how(self):
        if self._knows_dispersion():
            return "known"
        return "deviance" if self.dispersion == "deviance" else "Pearson"

    def _list_notes(self):
        """List what the reader of a summary should not overlook."""
        notes = []
        lacking = self._count_coefficients() - self.rank_
        if lacking:
            how = (
                "those that depend on columns before them are 0"
                if self.dependent_columns == "drop"
                else "of all that fit as well these have the least norm"
            )
            notes.append(
                f"{lacking} of the coefficients are not determined by the rows: {how}."
            )
        if self.alpha:
            notes.append(
                f"Penalty alpha={self.alpha:g}: coefficients are drawn to 0, and their "
                "errors do not know of that bias."
            )
        if self.transform_y:
            notes.append(
                "The deviance is that of ln y, the log-likelihood that of y. predict "
                f"multiplies by {self.retransformation_factor_:.5g} "
                f"(retransform={self.retransform!r})."
            )
        if not self.converged_:
            notes.append(f"Not converged after {self.n_iter_} iterations.")
        return notes

    def _read_problem(self, X, y, sample_weight, offset, exposure):
        """Read rows as those of the fit were read; without y their means stand in."""
        matrix = self._read_new_table(X)
        offset = self._read_offset(offset, exposure, matrix.shape[0])
        if y is not None:
            y = self._read_target(X, y)
            if self.transform_y:
                y = np.log(y)
        weight = check_weights(sample_weight, matrix.shape[0])
        weight = np.ones(matrix.shape[0]) if weight is None else weight
        if not weight.all():
            kept = weight > 0
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
            self.weights == "precision",
        )

    def _evaluate(self, problem):
        """Rows with their means at the coefficients."""
        rows = WorkingRows(problem.y, problem.weight, self.family_, self.link_)
        predictor = problem.predict(np.append(self.intercept_, self.coef_))
        rows.mean[:] = self.link_.invert(predictor)
        return rows, predictor


def _spread(values, sample_weight):
    """Values of the rows that count, with NaN for the others."""
    if sample_weight is None or np.isscalar(sample_weight):
        return values
    present = np.asarray(sample_weight) > 0
    if present.all():
        return values
    spread = np.full(len(present), np.nan)
    spread[present] = values
    return spread
