"""Standard errors and tests of maximum entropy models."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.inference.frequencies import warn_of_fractions
from sklearn_textbook.linear_model.inference.likelihood_measures import (
    LikelihoodMeasures,
    describe_test,
)
from sklearn_textbook.linear_model.inference.result import (
    LinearResult,
    require_no_penalty,
)
from sklearn_textbook.linear_model.inference.summary import (
    WIDTH,
    Summary,
    format_statistic,
    write_summary,
)
from sklearn_textbook.linear_model.logistic.logistic_regression import (
    LogisticRegression,
    describe_separation,
)
from sklearn_textbook.linear_model.logistic.separation import NONE, UNKNOWN
from sklearn_textbook.linear_model.maximum_entropy.information import subtract_class
from sklearn_textbook.linear_model.maximum_entropy.separation import MAX_WEIGHTS

#: Parameters and attributes that logistic regression has, too.
PARAMETERS = (
    "fit_intercept",
    "reference_class",
    "class_weight",
    "categorical_features",
    "reference_level",
    "handle_unknown",
    "missing",
    "n_jobs",
)
ATTRIBUTES = (
    "classes_",
    "design_",
    "n_features_in_",
    "feature_names_in_",
    "separation_",
    "rank_",
    "covariance_",
    "_errors",
    "log_likelihood_",
    "null_log_likelihood_",
    "n_observations_",
    "converged_",
    "_has_fractions",
    "_reference_place",
)


class EntropyInference(LikelihoodMeasures):
    """Standard errors and tests of the weights, or of their differences.

    A number that is added to the weights of a column in all classes changes nothing, so
    that only differences between classes have errors: those of the logistic regression
    that the model is.
    """

    @property
    def _has_columns(self) -> bool:
        raise NotImplementedError

    def _as_logistic(self) -> LogisticRegression:
        """Make the same model as a logistic regression, with differences of weights."""
        check_is_fitted(self)
        if not self._has_columns:
            raise ValueError(
                "Features of pairs (x, y) have no columns with effects: this requires "
                f"features='columns'; got features={self.features!r}."
            )
        model = LogisticRegression(**{name: getattr(self, name) for name in PARAMETERS})
        kept = vars(self)
        vars(model).update({name: kept[name] for name in ATTRIBUTES if name in kept})
        coef, intercept = self.coef_, self.intercept_
        if not self.alpha or len(coef) == 2:
            coef, intercept = subtract_class(coef), subtract_class(intercept)
            contrasts = model._make_contrasts(len(coef))
            if contrasts is not None:
                coef, intercept = contrasts @ coef, contrasts @ intercept
        model.coef_, model.intercept_ = coef, intercept
        model.rank_ = kept.get("rank_")
        return model

    def _require_errors(self, name: str) -> None:
        """Raise AttributeError if standard errors are not available."""
        check_is_fitted(self)
        if vars(self).get("rank_") is not None:
            if vars(self).get("_has_fractions", False):
                warn_of_fractions("there is no other estimator of this model")
            return
        if "distribution_" in vars(self):
            reason = "only of a model that was fitted to rows"
        elif self.alpha:
            reason = f"only without a penalty; got alpha={self.alpha:g}"
        elif "n_observations_" not in vars(self):
            reason = "not in model files of older versions; fit it again"
        elif len(self.classes_) < 2:
            reason = "only with two classes or more"
        else:
            reason = (
                f"only with up to {MAX_WEIGHTS:,} weights (for columns, without those "
                "of one class) whose covariance fits into memory; there are "
                f"{len(self.weights_):,}"
            )
        raise AttributeError(f"{type(self).__name__} has {name} {reason}.")

    def _count_free(self, name: str = "") -> int:
        self._require_errors(name)
        n_vectors = len(self.classes_) - 1 if self._has_columns else 1
        return self.rank_ * n_vectors

    def _count_constants(self) -> int:
        has_constants = self._has_columns and self.fit_intercept
        return (len(self.classes_) - 1) * bool(has_constants)

    @property
    def coefficient_table_(self) -> CoefficientTable:
        """Estimates, standard errors, z tests and 95% confidence intervals.

        Of columns, differences of the weights to those of the reference class.
        """
        self._require_errors("coefficient_table_")
        if self._has_columns:
            return self._as_logistic().coefficient_table_
        return self._make_tables(0.95)[0][1]

    def _make_result(self) -> LinearResult:
        """Describe the coefficients for tests and intervals."""
        require_no_penalty(self, self.alpha, f"alpha={self.alpha:g}")
        free = float(self._count_free("covariance_"))
        if self._has_columns:
            return self._as_logistic()._make_result()
        names = tuple(self.weight_names_.tolist())
        return LinearResult(
            names=names,
            headings=("",),
            estimates=self.weights_,
            covariance=self.covariance_,
            is_determined=np.isfinite(self._errors),
            degrees_of_freedom=None,
            terms=tuple(
                (name, slice(place, place + 1), frozenset((name,)))
                for place, name in enumerate(names)
            ),
            is_least_squares=False,
            deviance=self.deviance_,
            log_likelihood=self.log_likelihood_,
            dispersion=1.0,
            knows_dispersion=True,
            n_parameters=free,
            residual_degrees_of_freedom=self.n_observations_ - free,
            n_observations=self.n_observations_,
            null_deviance=self.null_deviance_,
            n_constants=0,
        )

    def _make_tables(self, level: float) -> list[tuple[str, CoefficientTable]]:
        """List (heading, table) of each vector; errors are NaN if there are none."""
        has_errors = vars(self).get("rank_") is not None
        if self._has_columns and len(self.classes_) > 1:
            name = "summary" if has_errors else None
            tables = self._as_logistic()._make_tables(name, level)
            return [("", tables[0][1])] if len(tables) == 1 else tables
        errors = self._errors if has_errors else np.full(len(self.weights_), np.nan)
        names = tuple(self.weight_names_.tolist())
        return [("", CoefficientTable(names, self.weights_, errors, None, level))]

    def summary(self, level: float = 0.95, *, width: int | None = WIDTH) -> Summary:
        """Return a text summary of the model.

        Of columns, it has the differences of the weights to those of the reference
        class; with a penalty, the weights of all classes, of two their difference.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.
        width : int or None, default=80
            Maximum line length; long names are shortened. None: no limit.

        Returns
        -------
        text : str
            Description of the model, goodness of fit, and weights.
        """
        check_is_fitted(self)
        check_level(level)
        facts = [("classes", ", ".join(str(label) for label in self.classes_))]
        tables = self._make_tables(level)
        has_rows = "n_observations_" in vars(self)
        if vars(self).get("_reference_place") is not None:
            reference = self.classes_[self._reference_place]
            facts.append(("reference class", str(reference)))
        if has_rows:
            facts.append(("rows", f"{self.n_observations_:,.12g}"))
        facts += [
            ("solver", self.solver),
            ("iterations", str(self.n_iter_)),
            ("entropy", format_statistic(self.entropy_)),
        ]
        if has_rows:
            facts += [
                ("log-likelihood", format_statistic(self.log_likelihood_)),
                ("null deviance", format_statistic(self.null_deviance_)),
                ("deviance", format_statistic(self.deviance_)),
            ]
        if vars(self).get("rank_") is not None:
            n_weights = len(tables[0][1].names)
            facts += [
                ("pseudo R² (McFadden)", format_statistic(self.pseudo_r2_)),
                ("rank", f"{self.rank_} of {n_weights}"),
                ("AIC", format_statistic(self.aic_)),
                ("BIC", format_statistic(self.bic_)),
                ("LR chi²", describe_test(self.likelihood_ratio_test_)),
            ]
        title = "Maximum entropy model"
        return write_summary(title, facts, tables, self._list_notes(), width=width)

    def _list_notes(self) -> list[str]:
        """List the notes of a summary."""
        notes = self._note_references() if self._has_columns else []
        if not vars(self).get("converged_", True):  # not in old model files
            notes.append("The solver did not converge.")
        separation = vars(self).get("separation_")
        if separation == UNKNOWN:
            notes.append("Features may separate classes: not decided.")
        elif separation not in (None, NONE):
            notes.append(
                f"{describe_separation(separation)}: the likelihood has no maximum; "
                "weights and standard errors are meaningless."
            )
        if vars(self).get("rank_") is None:
            try:
                self._require_errors("standard errors")
            except AttributeError as error:
                notes.append(str(error))
        elif np.isnan(self._errors).any():
            notes.append(
                "Features are linearly dependent: weights without standard error are "
                "not determined by the data."
            )
        return notes
