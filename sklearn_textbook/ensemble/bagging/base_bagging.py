"""Base class of bagging and random subspaces: fitting the members."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
)
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.all_or_nothing import all_or_nothing
from sklearn_textbook._contract.callbacks import CallbackSupportMixin, with_callbacks
from sklearn_textbook._contract.kept import Kept
from sklearn_textbook._contract.parameters import (
    check_count_or_share,
    check_estimator,
    check_integer,
    check_random_seed,
    check_truth,
    check_verbose,
    is_integer,
)
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.bagging.bag_draw import BagDraw
from sklearn_textbook.ensemble.members.estimator_combiner import EstimatorCombiner
from sklearn_textbook.ensemble.members.estimator_members import (
    EstimatorTraining,
    route_parameters,
)
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    count_lacking,
    warn_of_no_lack,
    yield_until_stopped,
)
from sklearn_textbook.ensemble.members.tree_members import (
    TreeCombiner,
    TreeTraining,
    grows_from_weights,
)
from sklearn_textbook.ensemble.out_of_bag import KEPT_OUT_OF_BAG
from sklearn_textbook.ensemble.resample import draw_seeds


class BaseBagging(
    MemberList, CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator, ABC
):
    """Fitting members from draws of rows and columns."""

    _predicts_classes = False
    _kept = (
        Kept("n_rows", "integer", least=1),
        Kept("n_drawn_rows", "integer", is_optional=True, least=1),
        Kept("n_drawn_columns", "integer", least=1),
        Kept("replaces_rows", "truth"),
        Kept("replaces_columns", "truth"),
        Kept("weight", shape=("n_rows",), is_optional=True, least=0),
        Kept("estimates_empty_nodes", "truth"),
        Kept("seeds", "integer", ("members",), least=0),
        Kept("features", "integer", ("members", "n_drawn_columns"), True, least=0),
        *KEPT_OUT_OF_BAG,
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self):
        """Raise ValueError for parameters that are not allowed."""
        check_integer("n_estimators", self.n_estimators, 1)
        check_count_or_share("max_features", self.max_features, 1)
        check_truth("warm_start", self.warm_start)
        check_random_seed("random_state", self.random_state)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)
        check_estimator("estimator", self.estimator, ("fit", "predict"))

    @abstractmethod
    def _make_default_estimator(self):
        """Make the default estimator of members."""

    def _get_estimator(self):
        """Return the estimator of which members are copies."""
        if self.estimator is None:
            return self._make_default_estimator()
        return self.estimator

    @abstractmethod
    def _plan_draw(self, n_rows, n_columns, weight):
        """Plan which rows and columns a member is fitted to, as a BagDraw."""

    def _repeats_columns(self):
        """Return whether a member may see a column twice."""
        return False

    def _count_drawn_columns(self, n_columns):
        """Count the columns of a member."""
        if not is_integer(self.max_features):
            return max(1, int(self.max_features * n_columns))
        if self.max_features > n_columns:
            raise ValueError(
                f"max_features must be <= n_features={n_columns}, got "
                f"{self.max_features}."
            )
        return int(self.max_features)

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target; several outputs only in regression.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. If rows are drawn, they are drawn with probabilities
            proportional to their weights.
        **fit_params : dict
            Parameters for ``fit`` of the members; requires
            ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self : estimator
            The fitted ensemble.
        """
        self._check_parameters()
        template = self._get_estimator()
        metadata = self._route("fit", fit_params).get("fit", {})
        given = None if sample_weight is None else {"sample_weight": sample_weight}
        hooks = {"estimator": self, "X": X, "y": y, "metadata": given}
        context = self._init_callback_context(max_subtasks=self.n_estimators)
        context.call_on_fit_task_begin(**hooks)
        training = self._read(template, X, y, metadata)
        n_rows = len(training.target)
        weight = check_weights(sample_weight, n_rows)
        draw = self._plan_draw(n_rows, self.n_features_in_, weight)
        n_new = self._grow(training, draw, metadata, context, hooks)
        if n_new:
            self._finish_fit(training)
        context.call_on_fit_task_end(**hooks)
        return self

    def _read(self, template, X, y, metadata):
        """Read the table in the form that the members need."""
        fits_kind = is_classifier(template) == self._predicts_classes
        as_trees = grows_from_weights(template) and fits_kind and not metadata
        if as_trees:
            training = TreeTraining(self, template, X, y)
        else:
            self._require_no_tree_options()
            training = EstimatorTraining(
                self, template, X, y, is_classifier=self._predicts_classes
            )
        keeps = self.warm_start and hasattr(self, "estimators_")
        if keeps and (self._reader is None) == as_trees:
            raise ValueError(
                "warm_start=True keeps the fitted members, which are "
                f"{type(self.estimator_).__name__} and cannot be mixed with "
                f"{type(template).__name__}. Set warm_start=False to refit."
            )
        self.estimator_ = template
        self._reader = training.reader
        self._n_outputs = training.target.shape[1]
        if training.classes is not None:
            self.classes_ = training.classes
            self.n_classes_ = len(training.classes)
        return training

    def _require_no_tree_options(self):
        """Raise ValueError for options that only trees have."""

    def _grow(self, training, draw, metadata, context, hooks):
        """Fit the new members, and count them."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            self.estimators_, self.estimators_features_, self._draws = [], [], []
        members = list(self.estimators_)
        n_new = count_lacking(self.n_estimators, len(members))
        if n_new == 0:
            warn_of_no_lack()
            return 0
        seeds = draw_seeds(self.random_state, len(members), n_new)
        columns, draws = list(self.estimators_features_), list(self._draws)

        def describe():
            return self._describe(list(members), list(columns), list(draws))

        grown = training.grow(draw, seeds, metadata)
        new = yield_until_stopped(grown, context, "member", hooks, describe)
        # Members first: taking one too many ends the task of the last.
        for member, seed in zip(new, seeds, strict=False):
            members.append(member)
            columns.append(draw.list_columns(seed))
            draws.append((draw, seed))
        self.estimators_, self.estimators_features_ = members, columns
        self._draws = draws
        return n_new

    def _describe(self, members, columns, draws):
        """List the fitted attributes with these members, for callbacks."""
        fitted = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") or name in ("_reader", "_n_outputs")
        }
        return {
            **fitted,
            "estimators_": members,
            "estimators_features_": columns,
            "_draws": draws[: len(members)],
        }

    def _finish_fit(self, training):
        """Set the fitted attributes that need all members."""

    # ------------------------------------------------------------------ prediction
    def _list_columns(self):
        """List the columns of each member; None: all of them."""
        return [
            None if draw.takes_all_columns else columns
            for (draw, _), columns in zip(
                self._draws, self.estimators_features_, strict=True
            )
        ]

    def _describe_sum(self):
        """Describe the sum over trees that the model is."""
        is_vote = getattr(self, "voting", None) == "hard"
        tolerance = getattr(self._reader, "_class_tolerance", 0.0) if is_vote else 0.0
        return self._sum_members(is_mean=True, is_vote=is_vote, tolerance=tolerance)

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        return self._reader

    def _list_kept(self):
        """List how members were drawn, and the out-of-bag estimate."""
        draws, seeds = zip(*self._draws, strict=True)
        draw = draws[0]
        if not all(map(draw.is_like, draws)):
            raise ValueError(
                "its members come from several fits (warm_start=True) that drew "
                "different numbers of rows or columns, or used different weights; only "
                "members drawn in the same way can be saved"
            )
        kept = {
            name: value for name, value in vars(draw).items() if name != "n_columns"
        }
        kept["seeds"] = np.array(seeds)
        if draw.takes_all_columns:
            # They are drawn all the same, in an order that has no effect.
            kept["features"] = np.array(self.estimators_features_)
        return {**kept, **super()._list_kept()}

    def _restore(self, reader, members, columns, kept):
        seeds, features = kept.pop("seeds").tolist(), kept.pop("features", None)
        of_draw = [name for name in BagDraw.__dataclass_fields__ if name in kept]
        draw = BagDraw(
            n_columns=self.n_features_in_, **{name: kept.pop(name) for name in of_draw}
        )
        lengths = {
            None if of_member is None else len(of_member) for of_member in columns
        }
        if draw.takes_all_columns:
            fits = lengths == {None} and features is not None
            fits = fits and features.max() < self.n_features_in_
        else:
            fits = lengths == {draw.n_drawn_columns} and features is None
        if not fits or (draw.weight is not None and not draw.weight.any()):
            raise ValueError(
                "the columns or weights of the members are not those drawn"
            )
        super()._restore(reader, members, columns, kept)
        self.estimator_, self._reader = clone(reader), reader
        self._n_outputs = reader.n_outputs_
        self.estimators_features_ = list(columns if features is None else features)
        self._draws = [(draw, seed) for seed in seeds]

    def _make_combiner(self, routed=None):
        """Make what combines the predictions of the members."""
        kind = EstimatorCombiner if self._reader is None else TreeCombiner
        return kind(self, routed)

    def _combine(self, method, X, params, function):
        """Call a function with the members and a new table, by blocks of rows."""
        check_is_fitted(self)
        combiner = self._make_combiner(self._route(method, params))
        parts = [function(combiner, table) for table in combiner.read_blocks(X)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    # --------------------------------------------------------------------- routing
    _route = route_parameters

    def get_metadata_routing(self):
        """Get the routing of metadata to the methods of the members.

        Returns
        -------
        router : MetadataRouter
            See scikit-learn's guide to metadata routing.
        """
        estimator = self._get_estimator()
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller, callee in self._list_calls(estimator):
            mapping = mapping.add(caller=caller, callee=callee)
        return MetadataRouter(owner=self).add(
            estimator=estimator, method_mapping=mapping
        )

    def _list_calls(self, estimator):
        """List which method calls which method of the members."""
        return [("predict", "predict")]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_member = get_tags(self._get_estimator())
        for name in ("sparse", "allow_nan", "categorical", "string"):
            value = getattr(of_member.input_tags, name)
            setattr(tags.input_tags, name, value)
        if not self._predicts_classes:
            tags.target_tags.multi_output = of_member.target_tags.multi_output
        return tags
