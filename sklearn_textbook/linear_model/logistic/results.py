"""Results of the fit of a logistic regression."""

from __future__ import annotations

from typing import NamedTuple

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
    format_p,
    write_summary,
)
from sklearn_textbook.linear_model.logistic.fitting import MAX_COEFFICIENTS
from sklearn_textbook.linear_model.logistic.separation import NONE


class LikelihoodRatioTest(NamedTuple):
    """Likelihood-ratio test of all slopes (似然比检验).

    Parameters
    ----------
    statistic : float
        Null deviance minus deviance.
    degrees_of_freedom : int
        Degrees of freedom of its chi-squared distribution if all slopes are zero.
    p_value : float
        Probability of a statistic at least as large if all slopes are zero.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def describe_test(test):
    """Write a ``LikelihoodRatioTest`` in a line."""
    statistic, free = format_number(test.statistic), test.degrees_of_freedom
    return f"{statistic} ({free} df), p {format_p(test.p_value)}"


def describe_separation(separation):
    """Name a kind of separation at the start of a sentence."""
    return f"{separation.replace('_', '-').capitalize()} separation"


class LogisticResults:
    """Results of a fitted logistic regression that are computed on access."""

    @property
    def deviance_(self):
        """Deviance (偏差): twice the negative log-likelihood."""
        return -2.0 * self.log_likelihood_

    @property
    def null_deviance_(self):
        """Deviance of the model without columns."""
        return -2.0 * self.null_log_likelihood_

    @property
    def pseudo_r2_(self):
        """McFadden's pseudo R²: 1 minus the ratio of the log-likelihoods."""
        return 1.0 - self.log_likelihood_ / self.null_log_likelihood_

    @property
    def aic_(self):
        """Akaike's information criterion; smaller is better."""
        return self.deviance_ + 2.0 * self._count_free("aic_")

    @property
    def bic_(self):
        """Bayesian information criterion; smaller is better."""
        free = self._count_free("bic_")
        return self.deviance_ + np.log(self.n_observations_) * free

    @property
    def likelihood_ratio_test_(self):
        """Test that all slopes are zero, as a ``LikelihoodRatioTest``."""
        name = "likelihood_ratio_test_"
        free = self._count_free(name) - self._count_scores() * bool(self.fit_intercept)
        statistic = max(0.0, self.null_deviance_ - self.deviance_)
        p_value = float(stats.chi2.sf(statistic, free)) if free else 1.0
        return LikelihoodRatioTest(statistic, free, p_value)

    @property
    def standard_errors_(self):
        """Standard errors of ``coef_``; NaN where the data do not determine them."""
        errors = self._find_errors("standard_errors_")
        first = int(bool(self.fit_intercept))
        return errors.reshape(len(self.coef_), -1)[:, first:]

    @property
    def intercept_standard_error_(self):
        """Standard errors of ``intercept_``; NaN without intercept."""
        errors = self._find_errors("intercept_standard_error_")
        if not self.fit_intercept:
            return np.full(len(self.coef_), np.nan)
        return errors.reshape(len(self.coef_), -1)[:, 0]

    @property
    def coefficient_table_(self):
        """Estimates, standard errors, z tests and 95% confidence intervals."""
        tables = self._make_tables("coefficient_table_", 0.95)
        if len(tables) == 1:
            return tables[0][1]
        names = [
            f"{heading}: {name}" for heading, table in tables for name in table.names
        ]
        return CoefficientTable(
            tuple(names),
            np.concatenate([table.estimates for _, table in tables]),
            np.concatenate([table.standard_errors for _, table in tables]),
        )

    @property
    def odds_ratios_(self):
        """Factor of the odds (几率) per unit of a column, exp(``coef_``)."""
        with np.errstate(over="ignore"):
            return np.exp(self.coef_)

    @property
    def odds_ratio_intervals_(self):
        """95% confidence intervals of ``odds_ratios_``, in a last axis of size 2."""
        errors = self._find_errors("odds_ratio_intervals_").reshape(len(self.coef_), -1)
        half = stats.norm.isf(0.025) * errors[:, bool(self.fit_intercept) :]
        with np.errstate(over="ignore"):
            return np.exp(np.stack([self.coef_ - half, self.coef_ + half], axis=-1))

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
        check_level(level)
        facts = [
            ("classes", ", ".join(str(label) for label in self.classes_)),
            ("reference class", str(self.reference_class_)),
            ("rows", f"{self.n_observations_:,.12g}"),
            ("solver", self.solver_),
            ("iterations", str(int(self.n_iter_[0]))),
            ("log-likelihood", format_number(self.log_likelihood_)),
            ("null deviance", format_number(self.null_deviance_)),
            ("deviance", format_number(self.deviance_)),
            ("pseudo R² (McFadden)", format_number(self.pseudo_r2_)),
        ]
        if self.rank_ is not None:
            n_coefficients = self.coef_.shape[1] + bool(self.fit_intercept)
            facts += [
                ("rank", f"{self.rank_} of {n_coefficients}"),
                ("AIC", format_number(self.aic_)),
                ("BIC", format_number(self.bic_)),
                ("LR chi²", describe_test(self.likelihood_ratio_test_)),
            ]
        tables = self._make_tables(None, level)
        if len(self.classes_) == 2:
            tables = [("", table) for _, table in tables]
        notes = self._list_notes()
        return write_summary("Logistic regression", facts, tables, notes, width=width)

    # ---------------------------------------------------------------------- parts
    def _count_scores(self):
        return len(self.classes_) - 1

    def _count_free(self, name):
        """Count the coefficients that the data determine."""
        check_is_fitted(self)
        self._require_likelihood(name)
        return self.rank_ * self._count_scores()

    def _require_likelihood(self, name):
        """Raise an AttributeError if standard errors are not available."""
        if self.rank_ is None:
            reason = (
                "only without penalty"
                if self._has_penalty()
                else f"only with up to {MAX_COEFFICIENTS} coefficients, or with "
                "solver='newton'"
            )
            raise AttributeError(f"{type(self).__name__} has {name} {reason}.")

    def _find_errors(self, name):
        """Find all standard errors, the intercept first in each vector."""
        check_is_fitted(self)
        self._require_likelihood(name)
        return self._errors

    def _make_tables(self, name, level):
        """(heading, table) of each vector of coefficients; NaN errors if no name."""
        names, estimates = self.coef_names_.tolist(), self.coef_
        if self.fit_intercept:
            names = ["intercept", *names]
            estimates = np.column_stack([self.intercept_, self.coef_])
        if name is None and self.rank_ is None:
            errors = np.full(estimates.shape, np.nan)
        else:
            errors = self._find_errors(name).reshape(estimates.shape)
        return [
            (heading, CoefficientTable(tuple(names), vector, error, None, level))
            for heading, vector, error in zip(
                self._name_vectors(), estimates, errors, strict=True
            )
        ]

    def _name_vectors(self):
        """Return a heading for each vector of coefficients."""
        labels = [str(label) for label in self.classes_]
        if len(labels) == 2:
            return [f"{labels[1]} against {labels[0]}"]
        if len(self.coef_) == len(labels):
            return labels
        return [f"{label} against {labels[-1]}" for label in labels[:-1]]

    def _list_notes(self):
        """List the notes of a summary."""
        notes = []
        if not self.is_converged_:
            notes.append("The solver did not converge.")
        if self.separation_ not in (None, NONE):
            notes.append(
                f"{describe_separation(self.separation_)}: the likelihood has no "
                "maximum; coefficients and standard errors are meaningless."
            )
        if self.rank_ is None:
            C, l1_ratio = self._find_penalty()
            notes.append(
                f"Penalty with C={C:g}, l1_ratio={l1_ratio:g}: no standard errors."
                if self._has_penalty()
                else "Too many coefficients for standard errors."
            )
        elif self.rank_ < self.coef_.shape[1] + bool(self.fit_intercept):
            notes.append(
                "Columns are linearly dependent: the slopes have the smallest norm; "
                "those without standard error are not determined by the data."
            )
        return notes
