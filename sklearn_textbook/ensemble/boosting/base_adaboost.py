"""Fitting AdaBoost: from parameters and a table to the rounds."""

from __future__ import annotations

import numpy as np
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils import get_tags

from sklearn_textbook._contract.all_or_nothing import all_or_nothing
from sklearn_textbook._contract.callbacks import CallbackSupportMixin, with_callbacks
from sklearn_textbook._contract.kept import Kept
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_deprecated,
    check_estimator,
    check_integer,
    check_random_seed,
    check_real,
    check_truth,
    check_verbose,
    is_checked,
)
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.boosting.adaboost_learners import (
    choose_learner,
    make_stump_template,
)
from sklearn_textbook.ensemble.boosting.adaboost_rounds import AdaBoostRounds
from sklearn_textbook.ensemble.members.estimator_members import EstimatorTraining
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    count_lacking,
    warn_of_no_lack,
    yield_until_stopped,
)
from sklearn_textbook.ensemble.members.tree_members import (
    TreeTraining,
    grows_from_weights,
)
from sklearn_textbook.ensemble.resample import draw_seeds

#: Parameters of the default stump; other estimators have their own.
_OF_STUMP = {"categorical_features": "from_dtype", "missing": "learned"}


class BaseAdaBoost(MemberList, CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Parameters and rounds."""

    _kept = (
        Kept("estimator_weights_", shape=("members",)),
        Kept("estimator_errors_", shape=("members",), least=0),
        Kept("normalizers_", shape=("members",), least=0),
        Kept("stop_reason_", "text"),
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self):
        """Raise ValueError for parameters that are not allowed."""
        check_integer("n_estimators", self.n_estimators, 1)
        check_real("learning_rate", self.learning_rate, 0.0)
        if is_checked() and not 0.0 < self.learning_rate < np.inf:
            raise ValueError(
                "The 'learning_rate' parameter must be a float in the range "
                f"(0.0, inf); got {self.learning_rate!r}."
            )
        check_choice("sampling", self.sampling, ("reweight", "resample"))
        check_integer("max_restarts", self.max_restarts, 0)
        check_truth("store_weights", self.store_weights)
        check_truth("warm_start", self.warm_start)
        check_random_seed("random_state", self.random_state)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)
        check_deprecated(
            "algorithm",
            self.algorithm,
            ("SAMME",),
            "1.6 and removed in 1.8. Leave it out: SAMME is the only one.",
        )
        self._check_estimator()

    def _check_estimator(self):
        check_estimator(
            "estimator",
            self.estimator,
            ("fit", "predict"),
            lambda estimator: not is_regressor(estimator),
            "a classifier",
        )
        if self.estimator is None or not is_checked():
            return
        for name, default in _OF_STUMP.items():
            value = getattr(self, name)
            if not (isinstance(value, str) and value == default):
                raise ValueError(
                    f"The {name!r} parameter applies only to the default stump and "
                    f"must be {default!r} if an estimator is given; got {value!r}. Set "
                    "it on the estimator instead."
                )

    def _get_estimator(self):
        """Return the estimator of which members are copies."""
        if self.estimator is None:
            return make_stump_template(self.missing, self.categorical_features)
        return self.estimator

    def _repeats_columns(self):
        """Return whether a member may see a column twice."""
        return False

    def _list_columns(self):
        """List the columns of each member; None: all of them."""
        return [None] * len(self.estimators_)

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the members one after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; :math:`D_1` are these weights divided by their sum.

        Returns
        -------
        self : AdaBoostClassifier
            The fitted ensemble.

        Warns
        -----
        FutureWarning
            If ``algorithm`` is given.
        """
        self._check_parameters()
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        hooks = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context = self._init_callback_context(max_subtasks=self.n_estimators)
        context.call_on_fit_task_begin(**hooks)
        training = self._read(X, y)
        n_rows = len(training.target)
        weight = check_weights(sample_weight, n_rows, is_rescaled=True)
        weight = np.ones(n_rows) if weight is None else weight
        make_learner = choose_learner(training)
        learner = make_learner(training, weight, self.sampling == "resample")
        try:
            self._make_rounds(learner, context, hooks)
        finally:
            learner.close()
        context.call_on_fit_task_end(**hooks)
        return self

    def _read(self, X, y):
        """Read the table in the form that the members need."""
        template = self._get_estimator()
        as_trees = grows_from_weights(template) and is_classifier(template)
        before = getattr(self, "classes_", None) if self.warm_start else None
        if as_trees:
            training = TreeTraining(self, template, X, y)
        else:
            training = EstimatorTraining(self, template, X, y, is_classifier=True)
        if before is not None and (
            not np.array_equal(before, training.classes)
            or (self._reader is None) == as_trees
        ):
            raise ValueError(
                "warm_start=True adds members to those of the last fit, which are "
                f"{type(self.estimator_).__name__} for the classes {before.tolist()}; "
                f"got {type(template).__name__} for the classes "
                f"{training.classes.tolist()}. Set warm_start=False to refit."
            )
        self.estimator_, self._reader = template, training.reader
        self.classes_ = training.classes
        self.n_classes_ = len(training.classes)
        return training

    def _make_rounds(self, learner, context, hooks):
        """Make the new rounds."""
        model = AdaBoostRounds(
            learner, float(self.learning_rate), self.max_restarts, self.store_weights
        )
        if self.warm_start and hasattr(self, "estimators_"):
            model.resume(
                self.estimators_, self.estimator_errors_, self.estimator_weights_
            )
            model.stop_reason = self.stop_reason_
        n_before = len(model.members)
        n_new = count_lacking(self.n_estimators, n_before)
        if n_new == 0 or model.is_perfect:
            warn_of_no_lack()
            n_new = 0
        seeds = draw_seeds(self.random_state, n_before, n_new)
        rounds = model.make_rounds(seeds)

        def describe():
            return {**self._list_fitted(), **self._describe(model)}

        for _ in yield_until_stopped(rounds, context, "round", hooks, describe):
            if self.verbose:
                print(
                    f"Round {len(model.members)}: error {model.errors[-1]:.6g}, "
                    f"weight {model.alphas[-1]:.6g}"
                )
        vars(self).pop("sample_weights_", None)
        for name, value in self._describe(model).items():
            setattr(self, name, value)

    def _list_fitted(self):
        """List the fitted attributes that do not change any more."""
        return {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") or name == "_reader"
        }

    def _describe(self, model):
        """List the fitted attributes with the rounds made so far."""
        fitted = {
            "estimators_": list(model.members),
            "estimator_errors_": np.array(model.errors),
            "estimator_weights_": np.array(model.alphas),
            "normalizers_": np.array(model.normalizers),
            "stop_reason_": model.stop_reason,
        }
        if self.store_weights:
            fitted["sample_weights_"] = np.array(model.row_weights)
        return fitted

    def _describe_sum(self):
        """Describe the sum over trees that the model is."""
        return self._sum_members(
            weights=self.estimator_weights_,
            link="softmax",
            scale=2.0,
            is_vote=True,
            tolerance=getattr(self._reader, "_class_tolerance", 0.0),
        )

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        return self._reader

    def _restore(self, reader, members, columns, kept):
        if any(of_member is not None for of_member in columns):
            raise ValueError("the members of AdaBoost must use all columns")
        super()._restore(reader, members, columns, kept)
        self.estimator_, self._reader = clone(reader), reader

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_member = get_tags(self._get_estimator())
        for name in ("sparse", "allow_nan", "categorical", "string"):
            value = getattr(of_member.input_tags, name)
            setattr(tags.input_tags, name, value)
        return tags
