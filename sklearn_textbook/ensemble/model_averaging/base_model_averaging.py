"""Base class of Bayesian model averaging of classifiers and of regressors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_random_seed,
    check_real,
    check_truth,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.table import Table
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.combination.base_combination import BaseCombination
from sklearn_textbook.ensemble.combination.held_out import check_folds, predict_held_out
from sklearn_textbook.ensemble.combination.named_members import (
    NamedMembersMixin,
    is_dropped,
)
from sklearn_textbook.ensemble.model_averaging.evidence_weights import (
    compute_evidence_weights,
    compute_log_prior,
    compute_pseudo_bma_plus_weights,
    read_numbers,
)
from sklearn_textbook.ensemble.model_averaging.parameter_counts import (
    count_parameters,
)
from sklearn_textbook.ensemble.model_averaging.summary import (
    MOST_LISTED,
    summarise_members,
    summarise_subsets,
)
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.design.levels import check_declared
from sklearn_textbook.linear_model.inference.summary import WIDTH

#: Columns of the table of the members that only weights by BIC have.
MEASURES = ("log_likelihood", "n_parameters", "bic")
WEIGHTINGS = ("held_out", "bic", "pseudo_bma_plus")
#: Fitted attributes that only members or only subsets of columns have.
FITTED = (
    "named_estimators_",
    "held_out_log_densities_",
    "standard_deviations_",
    "design_",
    "feature_names_in_",
    "coef_",
    "coef_std_",
    "intercept_",
    "intercept_std_",
    "inclusion_probabilities_",
    "_subsets",
    "_n_columns",
    "_places",
)


def _has_members(averaging) -> bool:
    return averaging.estimators is not None


class BaseModelAveraging(BaseCombination, BaseLinearModel):
    """Average of members, or of all linear models of subsets of the columns."""

    _title = "Averaging"
    _saved_fields = (
        SavedField("weights_", shape=("fitted",), least=0),
        SavedField("log_evidence_", shape=("fitted",), is_finite=False),
        *(
            SavedField(name, shape=("fitted",), is_optional=True, is_finite=False)
            for name in MEASURES
        ),
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self):
        check_choice("weighting", self.weighting, WEIGHTINGS)
        check_truth("prefit", self.prefit)
        check_random_seed("random_state", self.random_state)
        check_integer("n_bootstrap", self.n_bootstrap, 1)
        check_folds(self.cv)
        check_real("occam_window", self.occam_window, 1.0)
        check_integer("max_subset_size", self.max_subset_size, 0, accepts_none=True)
        self._check_table_parameters()
        if self.estimators is None:
            check_n_jobs(self.n_jobs)
            given = {"prefit": self.prefit or None, "n_parameters": self.n_parameters}
            for name, value in given.items():
                if value is not None:
                    raise ValueError(
                        f"The {name!r} parameter is for members; got {value!r} with "
                        "estimators=None."
                    )
            return
        super()._check_parameters()
        check_declared(self.categorical_features)
        for name in ("prior", "n_parameters"):
            if getattr(self, name) is not None:
                self._take_numbers(name)
        if self.n_parameters is not None and (self._take_numbers(name) < 0).any():
            raise ValueError(
                "The 'n_parameters' parameter must be numbers of at least 0; got "
                f"{self.n_parameters!r}."
            )
        compute_log_prior(self._take_numbers("prior"), len(self._list_given()))

    def _take_numbers(self, name):
        """Read a parameter of one number per member, without those of dropped ones."""
        values = getattr(self, name)
        if values is None:
            return None
        numbers = read_numbers(name, values, len(self.estimators))
        return numbers[[not is_dropped(one) for _, one in self.estimators]]

    def _list_templates(self):
        return [] if self.estimators is None else super()._list_templates()

    def _fits_members(self) -> bool:
        return not self.prefit

    def _route_fit(self, members, sample_weight, fit_params):
        if self.estimators is None:
            return {}
        return super()._route_fit(members, sample_weight, fit_params)

    # --------------------------------------------------------------------- fitting
    @property
    def _averages_subsets(self) -> bool:
        """Whether the last fit was to subsets of the columns, not of members."""
        return "_subsets" in vars(self)

    def _name_members(self) -> None:
        for name in FITTED:
            vars(self).pop(name, None)
        if self.estimators is None:
            del self.estimators_
        else:
            super()._name_members()

    def _finish_fit(self, X, target, tasks, sample_weight) -> None:
        if self.estimators is None:
            self._fit_subsets(X, target, sample_weight)
        else:
            self._weigh_members(X, target, tasks, sample_weight)

    def _weigh_members(self, X, target, tasks, sample_weight) -> None:
        """Find the members' weights."""
        weight = check_weights(sample_weight, len(target))
        if self.prefit or self.weighting == "bic":
            answers = self._predict_members(X)
        else:
            answers = predict_held_out(
                tasks,
                [self._method] * len(tasks),
                *(X, target),
                cv=self.cv,
                n_jobs=self.n_jobs,
                n_classes=self._count_classes(),
            )
        for (name, _), given in zip(self._list_fitted(), answers, strict=True):
            if not np.isfinite(given).all():
                row = int(np.argwhere(~np.isfinite(given))[0, 0])
                raise ValueError(
                    f"The member {name!r} predicts NaN or infinity for row {row}."
                )
        log_densities = self._compute_log_densities(target, answers, weight)
        # A row of weight 0 and density 0 does not count.
        each = np.ones(len(target)) if weight is None else weight
        log_likelihood = each[each > 0] @ log_densities[each > 0]
        prior = self._take_numbers("prior")
        if self.weighting == "bic":
            n_parameters = self._count_parameters()
            bic = np.log(each.sum()) * n_parameters - 2 * log_likelihood
            self.log_evidence_ = -0.5 * bic
            columns = {"log_likelihood": log_likelihood, "n_parameters": n_parameters}
            columns["bic"] = bic
        else:
            self.held_out_log_densities_ = log_densities
            self.log_evidence_ = log_likelihood
            columns = {}
        if self.weighting == "pseudo_bma_plus":
            self.weights_ = compute_pseudo_bma_plus_weights(
                log_densities,
                prior=prior,
                sample_weight=weight,
                n_bootstrap=self.n_bootstrap,
                random_state=self.random_state,
            )
        else:
            self.weights_ = compute_evidence_weights(self.log_evidence_, prior)
        self._tabulate(columns)

    def _tabulate(self, columns) -> None:
        """Set the table of the members, with these columns of measures."""
        prior = self._take_numbers("prior")
        self.posterior_table_ = Table(
            member=np.array([name for name, _ in self._list_fitted()], dtype=object),
            prior=np.exp(compute_log_prior(prior, len(self.weights_))),
            **columns,
            log_evidence=self.log_evidence_,
            weight=self.weights_,
        )

    def _count_parameters(self):
        given = self._take_numbers("n_parameters")
        if given is not None:
            return given
        return np.array([count_parameters(*pair) for pair in self._list_fitted()])

    @abstractmethod
    def _predict_members(self, X):
        """Compute the predictions that densities are made of; a list."""

    @abstractmethod
    def _compute_log_densities(self, target, answers, weight):
        """Compute log densities of the true values, shape (n_samples, n_members)."""

    @abstractmethod
    def _fit_subsets(self, X, target, sample_weight):
        """Find the linear models of subsets of the columns, and average them."""

    def _set_subsets(self, found) -> None:
        """Set what averages of both kinds have."""
        self._subsets = found
        names = [term.name for term in self.design_.terms]
        self.posterior_table_ = found.make_table(names)
        self.weights_ = found.weights
        self.log_evidence_ = self.posterior_table_["log_evidence"]
        self.inclusion_probabilities_ = self.weights_ @ found.is_in

    def _count_classes(self):
        return None

    # ----------------------------------------------------------------- model files
    def _get_reader(self):
        return None if self._averages_subsets else super()._get_reader()

    def _list_saved(self):
        measures = {name: self.posterior_table_.get(name) for name in MEASURES}
        return {**vars(self), **measures}

    def _restore(self, parts, kept) -> None:
        measures = {name: kept.pop(name, None) for name in MEASURES}
        super()._restore(parts, kept)
        if len(self.weights_) != len(self.estimators_):
            raise ValueError("weights_ do not match the members")
        known = {name: of for name, of in measures.items() if of is not None}
        self._tabulate(known)

    # --------------------------------------------------------------------- columns
    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training table, if the members know it."""
        if "_n_columns" in vars(self):
            return self._n_columns
        return super().n_features_in_

    @n_features_in_.setter
    def n_features_in_(self, n_columns):
        self._n_columns = n_columns

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Return the predictions of the members as columns.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples, n_members) or \
                (n_samples, n_members * n_classes)
            Values of regressors, probabilities of classifiers. Only available with
            ``estimators``.
        """
        check_is_fitted(self)
        return np.column_stack(self._predict_members(X))

    @available_if(_has_members)
    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Used only to check it against the columns of the training table.

        Returns
        -------
        names : ndarray of object
            Lower-case name of the class, name of the member, and for classifiers the
            number of the class.
        """
        n_classes = self._count_classes()
        endings = [""] if n_classes is None else range(n_classes)
        return self._name_columns(input_features, endings)

    def summary(
        self, *, width: int | None = WIDTH, n_models: int | None = MOST_LISTED
    ) -> str:
        """Return a text summary of the weights.

        Parameters
        ----------
        width : int or None, default=80
            Maximum line length. None: no limit.
        n_models : int or None, default=5
            With ``estimators=None``, the number of models listed. None: all.

        Returns
        -------
        text : str
            The summary.
        """
        check_is_fitted(self)
        check_integer("n_models", n_models, 0, accepts_none=True)
        if self._averages_subsets:
            return summarise_subsets(self, width, n_models)
        return summarise_members(self, width)

    # --------------------------------------------------------------------- routing
    def get_metadata_routing(self) -> Any:
        """Get the routing of metadata to ``fit`` of the estimators.

        Returns
        -------
        router : MetadataRouter or MetadataRequest
            See scikit-learn's guide to metadata routing.
        """
        if self.estimators is None:
            return super(NamedMembersMixin, self).get_metadata_routing()
        return super().get_metadata_routing()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.estimators is None:
            tags.transformer_tags = None
        return tags


# Not in the class: scikit-learn would wrap them for set_output, and they would exist
# without members.
for name in ("transform", "fit_transform"):
    method = getattr(BaseModelAveraging, name)
    setattr(BaseModelAveraging, name, available_if(_has_members)(method))
