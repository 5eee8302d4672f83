"""Results of a fitted generalised linear model."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.inference.summary import (
    WIDTH,
    format_number,
    write_summary,
)
from sklearn_textbook.linear_model.solve.weighted_solution import (
    WeightedSolver,
)

#: Name of the intercept in tables, as in those of least squares.
INTERCEPT = "intercept"
#: Families whose likelihood has the dispersion as a parameter.
SCATTERED = ("gaussian", "gamma", "inverse_gaussian")


class GeneralizedResults:
    """Estimates with their errors, measures of the fit, and text."""

    @property
    def coefficient_table_(self):
        """Estimates, standard errors, tests and 95% confidence intervals."""
        return self.make_coefficient_table(0.95)

    @property
    def standard_errors_(self):
        """Standard errors of ``coef_``; NaN where the data do not determine them."""
        return self._find_errors()[1:]

    @property
    def intercept_standard_error_(self):
        """Standard error of ``intercept_``; NaN without intercept."""
        return float(self._find_errors()[0])

    def make_coefficient_table(self, level=0.95):
        """Make a table of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        table : CoefficientTable
            Estimates, standard errors, z or t, p and confidence intervals, the
            intercept first.
        """
        check_is_fitted(self)
        check_level(level)
        names, estimates = self.coef_names_.tolist(), self.coef_
        errors = self._find_errors()
        if self.fit_intercept:
            names = [INTERCEPT, *names]
            estimates = np.append(self.intercept_, estimates)
        else:
            errors = errors[1:]
        free = None if self._knows_dispersion() else self.residual_degrees_of_freedom_
        return CoefficientTable(tuple(names), estimates, errors, free, level)

    def summary(self, level=0.95, *, width=WIDTH):
        """Return a text summary of the model.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.
        width : int or None, default=80
            Maximum line length; long names are shortened. None: no limit.

        Returns
        -------
        text : str
            Description of the model, goodness of fit, and coefficients.
        """
        check_is_fitted(self)
        name = self.family_.name
        if name == "tweedie":
            name += f", power {self.family_.power:g}"
        facts = [("target", "ln y")] if self.transform_y else []
        facts += [
            ("family", name),
            ("link", self.link_.describe()),
            ("rows", f"{self.n_observations_:,.12g}"),
            ("rank", f"{self.rank_} of {len(self.coef_)} columns"),
            ("iterations", str(self.n_iter_)),
            ("null deviance", self._format_deviance(self.null_deviance_, "null")),
            ("deviance", self._format_deviance(self.deviance_, "residual")),
            ("dispersion", f"{format_number(self.dispersion_)} ({self._say_how()})"),
        ]
        if not np.isnan(self.log_likelihood_):
            facts += [
                ("log-likelihood", format_number(self.log_likelihood_)),
                ("AIC", format_number(self.aic_)),
                ("BIC", format_number(self.bic_)),
            ]
        title = "Generalised linear model"
        if self.alpha:
            title += f" with a ridge penalty, alpha = {self.alpha:g}"
        return write_summary(
            title,
            facts,
            [("", self.make_coefficient_table(level))],
            self._list_notes(),
            width=width,
        )

    # ---------------------------------------------------------------------- parts
    def _choose_distribution(self):
        """Distribution of an estimate divided by its error: normal or Student's t."""
        if self._knows_dispersion():
            return stats.norm()
        return stats.t(self.residual_degrees_of_freedom_)

    def _set_results(self, problem, fit, kept, whole):
        """Set the statistics of the training rows."""
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
        whole = solution if whole is None else whole
        self._row_space, self._row_centre = whole.row_space, whole.centre
        self._is_determined = np.zeros(n_coefficients, dtype=bool)
        self._is_determined[places] = solution.is_determined
        if not problem.fit_intercept:
            self._is_determined[0] = False
        n_constants = int(problem.fit_intercept)
        self.rank_ = solution.rank - n_constants
        slopes = inverse[1:, :]
        self.effective_rank_ = float(self.rank_)
        if problem.penalty:
            # With a penalty all columns count, but each with less than 1.
            self.effective_rank_ -= problem.penalty * float(np.trace(slopes[:, 1:]))
            bare = WeightedSolver(
                problem.X, problem.fit_intercept, n_threads=problem.n_threads
            )
            self.rank_ = bare.describe(weight).rank - n_constants
        self.n_observations_ = self._count_observations(problem.weight)
        self.null_degrees_of_freedom_ = self.n_observations_ - n_constants
        self.residual_degrees_of_freedom_ = (
            self.n_observations_ - self.effective_rank_ - n_constants
        )
        if self._knows_dispersion():
            is_word = isinstance(self.dispersion, str)
            self.dispersion_ = 1.0 if is_word else float(self.dispersion)
        else:
            self.dispersion_ = self._estimate_dispersion(
                fit.rows, fit.deviance, self.residual_degrees_of_freedom_
            )
        scatter = inverse
        if problem.penalty:
            scatter = inverse - problem.penalty * (slopes.T @ slopes)
        self.covariance_ = self.dispersion_ * scatter
        self._set_likelihood(fit)

    def _set_likelihood(self, fit):
        """Set the log-likelihood, and its number of parameters."""
        rows, is_precision = fit.rows, self.weight_type == "variance"
        total = rows.weight.sum()
        is_scattered = self.family_.name in SCATTERED or (
            self.family_.name == "tweedie" and self.family_.power != 1.0
        )
        dispersion = self.dispersion_
        if is_scattered and not self._knows_dispersion():
            is_normal = self.family_.name == "gaussian"
            dispersion = fit.deviance / (self.n_observations_ if is_normal else total)
        self._n_parameters = self.effective_rank_ + int(self.fit_intercept)
        self.log_likelihood_ = np.nan
        if is_scattered or (self.family_.has_fixed_dispersion and dispersion == 1.0):
            self._n_parameters += is_scattered and not self._knows_dispersion()
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
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
        with np.errstate(over="ignore"):
            variance = self.family_.compute_variance(rows.mean)
            squares = np.square(rows.y - rows.mean)
        return float(rows.weight @ (squares / variance)) / free

    def _count_observations(self, weight):
        """Count rows; a weight counts as a number of rows, unless it is a precision."""
        return len(weight) if self.weight_type == "variance" else float(weight.sum())

    def _find_errors(self):
        """Find the standard errors, of the intercept first."""
        errors = np.sqrt(np.maximum(self.covariance_.diagonal(), 0.0))
        return np.where(self._is_determined, errors, np.nan)

    def _format_deviance(self, deviance, which):
        free = (
            self.null_degrees_of_freedom_
            if which == "null"
            else self.residual_degrees_of_freedom_
        )
        return f"{format_number(deviance)} on {free:g} df"

    def _say_how(self):
        if self._knows_dispersion():
            return "known"
        return "deviance" if self.dispersion == "deviance" else "Pearson"

    def _say_why(self):
        """Return the reason why there is no log-likelihood."""
        family = self.family_
        if not self.residual_degrees_of_freedom_ > 0.0 and not self._knows_dispersion():
            return "no degrees of freedom are left for the dispersion"
        if family.name == "tweedie" and family.power != 1.0:
            return f"the density of the power {family.power:g} has no closed form"
        return f"with this dispersion, {family.name!r} is a quasi-likelihood"

    def _list_notes(self):
        """List the notes of a summary."""
        notes = []
        if np.isnan(self.log_likelihood_):
            notes.append(f"No log-likelihood, AIC and BIC: {self._say_why()}.")
        lacking = len(self.coef_) - self.rank_
        if lacking:
            how = "of all that fit equally well, those with the smallest norm are used"
            if self.alpha:
                how = "the penalty determines the others"
            elif self.dependent_columns == "drop":
                how = "those that depend on preceding columns are 0"
            notes.append(
                f"The rows determine only {self.rank_} of {len(self.coef_)} "
                f"coefficients: {how}."
            )
        if self.alpha:
            notes.append(
                f"Penalty alpha={self.alpha:g}: coefficients are shrunk towards 0, and "
                "their standard errors do not include this bias."
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
