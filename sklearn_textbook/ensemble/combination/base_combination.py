"""Base class of ensembles of named members: fitting, prediction, names of columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, check_consistent_length
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.labels import is_no_number
from sklearn_textbook._contract.parameters import check_verbose, show_value
from sklearn_textbook._contract.tables import check_sparse_format, refuse_other_tables
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.combination.fitting import (
    FitReport,
    MemberTask,
    ask_member,
    fit_members,
    pass_weight,
)
from sklearn_textbook.ensemble.combination.named_members import (
    DROPPED,
    NamedMembersMixin,
    is_dropped,
)
from sklearn_textbook.ensemble.combination.rules import check_member_weights
from sklearn_textbook.tree.members import share_tables


class BaseCombination(
    TransformerMixin,
    CallbackSupportMixin,
    NamedMembersMixin,
    MetaEstimatorMixin,
    BaseEstimator,
    ABC,
):
    """Fitting members of any kind to one table, and collecting their predictions."""

    #: What lines of ``verbose`` begin with.
    _title = ""
    #: Parameters that are estimators: a model file has these fitted.
    _member_parameters = ("estimators",)
    #: What a model file keeps beside the members; tuple of SavedField.
    _saved_fields = ()

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are not allowed."""
        self._check_estimators()
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)

    def _check_weights(self) -> None:
        """Raise ValueError unless there is one weight for each member."""
        if not hasattr(self.weights, "__len__") or isinstance(
            self.weights, (str, bytes, dict, set, type)
        ):
            raise ValueError(
                "The 'weights' parameter must be None or an array of one number for "
                f"each of the {len(self.estimators)} estimators; got "
                f"{show_value(self.weights)}."
            )
        if len(self.weights) != len(self.estimators):
            raise ValueError(
                "Number of `estimators` and weights must be equal; got "
                f"{len(self.weights)} weights, {len(self.estimators)} estimators"
            )
        try:
            check_member_weights(self.weights, len(self.estimators))
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, ValueError) and not is_no_number(error):
                raise
            raise ValueError(
                "The 'weights' parameter must be finite numbers of at least 0; got "
                f"{show_value(self.weights)}: {error}"
            ) from None
        if not np.any(self._list_weights()):
            raise ValueError(
                "The 'weights' parameter must not be 0 for all estimators that are not "
                f"dropped; got {show_value(self.weights)}."
            )

    def _list_weights(self):
        """List the weights of the members that are not dropped; None: equal weights."""
        if self.weights is None:
            return None
        pairs = zip(self.weights, self.estimators, strict=True)
        return np.array([weight for weight, (_, one) in pairs if not is_dropped(one)])

    def _list_templates(self):
        """List the names of the members and what is fitted for them."""
        return self._list_given()

    @abstractmethod
    def _fits_members(self):
        """Return whether members are fitted, or prefit."""

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table, which is passed to the members as it is.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, passed to every member; a pipeline passes them to its
            last step. With metadata routing, they are passed to the members that
            request them.
        **fit_params : dict
            Parameters for ``fit`` of the members; requires
            ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self : estimator
            The fitted ensemble.
        """
        self._refuse_params(fit_params)
        self._check_parameters()
        if y is None:
            # Lets scikit-learn raise its usual error.
            validate_data(self, X, y, skip_check_array=True)
        if sparse.issparse(X):
            check_sparse_format(X)  # before compiled code of any member reads it
        target = self._read_target(y)
        refuse_other_tables(X)
        check_consistent_length(X, target)
        members = self._list_templates()
        routed = self._route_fit(members, sample_weight, fit_params)
        given = (
            fit_params
            if sample_weight is None
            else {"sample_weight": sample_weight, **fit_params}
        )
        hooks = {"estimator": self, "X": X, "y": y, "metadata": given or None}
        context = self._init_callback_context(max_subtasks=len(members))
        context.call_on_fit_task_begin(**hooks)
        tasks = [MemberTask(name, template, routed[name]) for name, template in members]
        report = FitReport(context, hooks, self._title, self.verbose)
        if self._fits_members():
            self.estimators_ = fit_members(tasks, X, target, self.n_jobs, report)
        else:
            self.estimators_ = [self._check_member(*pair) for pair in members]
        self._name_members()
        self._finish_fit(X, target, tasks, sample_weight)
        context.call_on_fit_task_end(**hooks)
        return self

    def _refuse_params(self, fit_params) -> None:
        """Raise ValueError for parameters that are not routed."""
        if fit_params and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"{type(self).__name__}.fit got {sorted(fit_params)}, which is only "
                "supported if enable_metadata_routing=True. See scikit-learn's User "
                "Guide on metadata routing."
            )

    def _route_fit(self, members, sample_weight, fit_params):
        """Find the parameters of ``fit`` of each member."""
        if get_config()["enable_metadata_routing"]:
            if sample_weight is not None:
                fit_params = {"sample_weight": sample_weight, **fit_params}
            routed = process_routing(self, "fit", **fit_params)
            return {name: dict(routed[name]["fit"]) for name, _ in members}
        if not self._fits_members():
            return {name: {} for name, _ in members}
        return {name: pass_weight(name, one, sample_weight) for name, one in members}

    @abstractmethod
    def _read_target(self, y):
        """Read the target as members are to learn it."""

    def _check_member(self, name, member):
        """Require a fitted member."""
        try:
            check_is_fitted(member)
        except NotFittedError:
            raise NotFittedError(
                f"The member {name!r}, {type(member).__name__}, is not fitted yet, but "
                "prefit members are used as they are. Call its fit first."
            ) from None
        return member

    def _finish_fit(self, X, target, tasks, sample_weight):
        """Set the fitted attributes that need the members."""

    def _name_members(self) -> None:
        """Make the members accessible by name, and store the names of the columns."""
        places = iter(range(len(self.estimators_)))
        self._places = {
            name: None if is_dropped(one) else next(places)
            for name, one in self.estimators
        }
        vars(self).pop("feature_names_in_", None)
        for member in self.estimators_:
            if hasattr(member, "feature_names_in_"):
                self.feature_names_in_ = member.feature_names_in_

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name."""
        # Not kept in the fitted ensemble: skops does not trust a Bunch.
        check_is_fitted(self)
        return Bunch(
            **{
                name: DROPPED if place is None else self.estimators_[place]
                for name, place in self._places.items()
            }
        )

    def _list_fitted(self):
        """List names and members, but for those that were dropped."""
        named = self.named_estimators_.items()
        return [(name, one) for name, one in named if not is_dropped(one)]

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training table, if the members know it."""
        if not hasattr(self, "estimators_"):
            raise AttributeError(
                f"{type(self).__name__} object has no attribute n_features_in_"
            )
        return self.estimators_[0].n_features_in_

    # ------------------------------------------------------------------ prediction
    def _call_members(self, method, X, members=None):
        """Call a method, or one each, of the members; the table is read once."""
        members = self._list_fitted() if members is None else members
        methods = [method] * len(members) if isinstance(method, str) else method
        if sparse.issparse(X):
            check_sparse_format(X)
        with share_tables():
            return [
                ask_member(name, member, one, X)
                for (name, member), one in zip(members, methods, strict=True)
            ]

    # ----------------------------------------------------------------- model files
    def _get_reader(self):
        """Return an estimator that knows the columns."""
        return self.estimators_[0]

    def _list_saved(self):
        """List the values that ``_saved_fields`` declares."""
        return vars(self)

    def _list_parts(self):
        """List the names of all fitted parts, and these; None for dropped ones."""
        named = self.named_estimators_.items()
        return [(name, None if is_dropped(one) else one) for name, one in named]

    def _restore(self, parts, kept: dict[str, object]) -> None:
        """Set the fitted attributes again, but for ``classes_``."""
        fits = self._fits_members()
        self.estimators = [
            (name, DROPPED if one is None else clone(one) if fits else one)
            for name, one in parts
        ]
        self._check_parameters()
        self.estimators_ = [one for _, one in parts if one is not None]
        self._name_members()
        for name, value in kept.items():
            setattr(self, name, value)
        shapes = {
            (one.n_features_in_, tuple(getattr(one, "feature_names_in_", ())))
            for one in self.estimators_
        }
        if len(shapes) > 1:
            raise ValueError("the members do not have the same columns")

    # --------------------------------------------------------------------- columns
    def _check_names(self, input_features):
        """Require the names of the training table, where it had some; return them."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return known
        input_features = np.asarray(input_features, dtype=object)
        if known is not None and not np.array_equal(input_features, known):
            raise ValueError("input_features is not equal to feature_names_in_")
        return input_features

    def _name_columns(self, input_features, endings):
        """Name the columns that ``transform`` gives; endings of each member's."""
        self._check_names(input_features)
        prefix = type(self).__name__.lower()
        names = [
            f"{prefix}_{name}{ending}"
            for name, _ in self._list_fitted()
            for ending in endings
        ]
        return np.array(names, dtype=object)
