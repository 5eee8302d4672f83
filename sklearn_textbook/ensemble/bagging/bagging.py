"""Bagging, 自助聚集: members trained on different samples of rows and columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import (
    CostMatrix,
    choose_classes,
    get_costs,
    require_no_votes,
)
from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_count_or_fraction,
    check_estimator,
    check_integer,
    check_random_seed,
    check_truth,
    check_verbose,
    is_integer,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.scoring import ClassifierMixin, RegressorMixin
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.bagging.bag_draw import BagDraw
from sklearn_textbook.ensemble.conformal import IntervalMixin, PredictionSetMixin
from sklearn_textbook.ensemble.leaf_rows import LeafRows, predict_quantiles
from sklearn_textbook.ensemble.members.estimator_members import (
    EstimatorCombiner,
    EstimatorTraining,
    compute_member_decisions,
    compute_member_logarithms,
    route_parameters,
    take_rows,
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
from sklearn_textbook.ensemble.out_of_bag import (
    ATTRIBUTES,
    KEPT_OUT_OF_BAG,
    OutOfBagMixin,
    check_oob_score,
)
from sklearn_textbook.ensemble.resample import (
    count_drawn_rows,
    draw_seeds,
)
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.members import store_blocks

# ------------------------------------------------------------------------------------
# Base class of bagging and random subspaces: fitting the members.
# ------------------------------------------------------------------------------------


class BaseBagging(
    MemberList, CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator, ABC
):
    """Fitting members from draws of rows and columns."""

    _store_blocks = store_blocks
    _predicts_classes = False
    _saved_fields = (
        SavedField("n_rows", "integer", least=1),
        SavedField("n_drawn_rows", "integer", is_optional=True, least=1),
        SavedField("n_drawn_columns", "integer", least=1),
        SavedField("replaces_rows", "truth"),
        SavedField("replaces_columns", "truth"),
        SavedField("weight", shape=("n_rows",), is_optional=True, least=0),
        SavedField("estimates_empty_nodes", "truth"),
        SavedField("seeds", "integer", ("members",), least=0),
        SavedField(
            "features", "integer", ("members", "n_drawn_columns"), True, least=0
        ),
        *KEPT_OUT_OF_BAG,
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are not allowed."""
        check_integer("n_estimators", self.n_estimators, 1)
        check_count_or_fraction("max_features", self.max_features, 1)
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

    def _repeats_columns(self) -> bool:
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
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
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
            self._finish_fit(training, weight)
        context.call_on_fit_task_end(**hooks)
        return self

    def _read(self, template, X, y, metadata):
        """Read the table in the form that the members need."""
        fits_kind = is_classifier(template) == self._predicts_classes
        as_trees = grows_from_weights(template) and fits_kind and not metadata
        costs = getattr(self, "cost_matrix", None)
        if as_trees and costs is not None and template.cost_matrix is None:
            template = clone(template).set_params(cost_matrix=costs)
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
            get_costs(self)  # raises ValueError for costs that do not fit the classes
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

    def _finish_fit(self, training, weight):
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

    def _list_saved(self):
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
        return {**kept, **super()._list_saved()}

    def _restore(self, reader, members, columns, kept) -> None:
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
        if isinstance(self, OutOfBagMixin):
            self._require_stored([member.tree_ for member in members])
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

    def get_metadata_routing(self) -> Any:
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


# ------------------------------------------------------------------------------------
# Predictions of bagging from those of its members, for classes and for values.
# ------------------------------------------------------------------------------------


def _members_have_decisions(ensemble) -> bool:
    """Require the method of the members, or of what they are to be like."""
    members = getattr(ensemble, "estimators_", None)
    member = members[0] if members else ensemble._get_estimator()
    # The AttributeError names what is missing.
    return member.decision_function is not None


class BaggingClassifierMixin(ClassifierMixin):
    """Combining classifiers by probabilities or votes."""

    _predicts_classes = True

    def _make_default_estimator(self):
        return CARTClassifier()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("voting", self.voting, ("soft", "hard"))
        if hasattr(self, "cost_matrix"):
            require_no_votes(self)
        check_estimator(
            "estimator",
            self.estimator,
            ("fit", "predict"),
            lambda estimator: not is_regressor(estimator),
            "a classifier",
        )

    def _list_calls(self, estimator):
        has_probabilities = hasattr(estimator, "predict_proba")
        method = "predict_proba" if has_probabilities else "predict"
        if self.voting == "hard":
            calls = [("predict", "predict"), ("predict_proba", "predict")]
            calls += [("predict", method)] * has_probabilities
            logarithms = "predict"
        else:
            calls = [("predict", method), ("predict_proba", method)]
            has_logarithms = hasattr(estimator, "predict_log_proba")
            logarithms = "predict_log_proba" if has_logarithms else method
        return [
            *calls,
            ("predict_log_proba", logarithms),
            ("decision_function", "decision_function"),
        ]

    # ------------------------------------------------------------------ prediction
    def _compute_probabilities(self, combiner, table):
        """Probabilities of the classes, or fractions of votes."""
        is_hard = self.voting == "hard"
        add_up = combiner.sum_votes if is_hard else combiner.sum_predictions
        return add_up(table)[:, 0] / len(self.estimators_)

    def _choose_classes(self, combiner, table):
        """Choose a class number for every row."""
        if self.voting == "soft":
            sums = combiner.sum_predictions(table)[:, 0]
            costs = get_costs(self)
            return choose_classes(sums if costs is None else sums / len(self), costs)
        votes = combiner.sum_votes(table)[:, 0]
        best = votes.argmax(axis=1)
        is_top = votes == votes.max(axis=1, keepdims=True)
        is_tied = np.flatnonzero(is_top.sum(axis=1) > 1)
        if len(is_tied):
            sums = combiner.sum_predictions(take_rows(table, is_tied))[:, 0]
            best[is_tied] = np.where(is_top[is_tied], sums, -1.0).argmax(axis=1)
        return best

    def predict(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members, or for ``predict`` if they
            have no ``predict_proba`` or vote; requires metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class with the largest mean probability; ties go to the first. With
            ``cost_matrix``, the class with the least expected cost. With
            ``voting="hard"``, the class with the most votes (相对多数投票法); ties go
            to the class with the largest mean probability.
        """
        best = self._combine("predict", X, params, self._choose_classes)
        return self.classes_.take(best)

    def predict_proba(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members, or for ``predict`` if they
            have no ``predict_proba`` or vote; requires metadata routing.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Mean probability over the members. With ``voting="hard"``, or if the members
            have no ``predict_proba``, the fraction of members that vote for the class.
        """
        return self._combine("predict_proba", X, params, self._compute_probabilities)

    def predict_log_proba(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Predict the natural logarithm of the class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_log_proba`` of the members, or for the method used
            in its place; requires metadata routing.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Logarithm of the mean probability; ``-inf`` where it is 0.
        """
        check_is_fitted(self)
        return self._combine("predict_log_proba", X, params, self._compute_logarithms)

    def _compute_logarithms(self, combiner, table):
        """Logarithms of probabilities, added up as logarithms if possible."""
        adds_logarithms = (
            self._reader is None
            and self.voting == "soft"
            and hasattr(self.estimator_, "predict_log_proba")
        )
        if adds_logarithms:
            total = combiner.add_up(compute_member_logarithms, table, np.logaddexp)
            return total - np.log(len(self.estimators_))
        with np.errstate(divide="ignore"):
            return np.log(self._compute_probabilities(combiner, table))

    @available_if(_members_have_decisions)
    def decision_function(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Compute the mean of the members' decision functions, if they have one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``decision_function`` of the members; requires metadata
            routing.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The mean; a single number per row for two classes.
        """
        return self._combine("decision_function", X, params, self._compute_decisions)

    def _compute_decisions(self, combiner, table):
        total = combiner.add_up(compute_member_decisions, table)
        return total / len(self.estimators_)


class BaggingRegressorMixin(RegressorMixin):
    """Combining regressors by their mean."""

    def _make_default_estimator(self):
        return CARTRegressor()

    def _compute_values(self, combiner, table):
        values = combiner.sum_predictions(table)[:, :, 0] / len(self.estimators_)
        return values[:, 0] if self._n_outputs == 1 else values

    def predict(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Predict the value of each row: the mean over the members, 简单平均法.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict`` of the members; requires metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Values.
        """
        return self._combine("predict", X, params, self._compute_values)


class RowSamplingMixin(OutOfBagMixin):
    """Drawing of rows, and what it leaves out of the bag."""

    _unscored_probability = np.nan

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count_or_fraction("max_samples", self.max_samples, 1, words=(None,))
        names = ("bootstrap", "bootstrap_features", "out_of_bag_posterior")
        for name in (*names, "store_distribution"):
            check_truth(name, getattr(self, name))
        value = self.oob_score
        check_oob_score(value)
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True; got "
                f"oob_score={value!r}."
            )
        monotonic = getattr(self.estimator, "monotonic_cst", None)
        if self.out_of_bag_posterior and monotonic is not None:
            raise ValueError(
                "out_of_bag_posterior=True cannot keep predictions monotonic; got "
                f"monotonic_cst={monotonic!r}."
            )
        if self.store_distribution and self.warm_start:
            raise ValueError(
                "store_distribution=True requires warm_start=False, since members of "
                "an earlier fit may have been trained on other rows."
            )
        if self.oob_score and self.warm_start:
            raise ValueError(
                "Out of bag estimate only available if warm_start=False, since members "
                "of an earlier fit may have been trained on other rows; got "
                f"oob_score={value!r}."
            )

    def _repeats_columns(self) -> bool:
        return bool(self.bootstrap_features)

    def _plan_draw(self, n_rows, n_columns, weight):
        if weight is not None and not self.bootstrap:
            warn_caller(
                f"When fitting {type(self).__name__} with sample_weight it is "
                f"recommended to use bootstrap=True, got {self.bootstrap}: a row of "
                "weight 2 is drawn at most once, unlike two rows of weight 1.",
                UserWarning,
            )
        n_drawn = count_drawn_rows(self.max_samples, n_rows, weight)
        if not self.bootstrap and n_drawn > n_rows:
            raise ValueError(
                f"Effective max_samples={n_drawn} must be <= n_samples={n_rows} to be "
                "able to sample without replacement."
            )
        n_drawable = n_rows if weight is None else np.count_nonzero(weight)
        if not self.bootstrap and n_drawn > n_drawable:
            raise ValueError(
                f"max_samples={n_drawn} rows cannot be drawn without replacement: only "
                f"{n_drawable} rows have a weight above 0."
            )
        self._max_samples = n_drawn
        self._max_features = self._count_drawn_columns(n_columns)
        return BagDraw(
            n_rows,
            n_drawn,
            weight,
            n_columns=n_columns,
            n_drawn_columns=self._max_features,
            replaces_rows=bool(self.bootstrap),
            replaces_columns=self._repeats_columns(),
            estimates_empty_nodes=bool(self.out_of_bag_posterior),
        )

    def _require_no_tree_options(self) -> None:
        if self.out_of_bag_posterior:
            raise ValueError(
                "out_of_bag_posterior=True requires trees of this package: the "
                "'estimator' must be an ID3Classifier, C45Classifier, CARTClassifier "
                f"or CARTRegressor; got {self.estimator!r}."
            )

    # ------------------------------------------------------------------ out of bag
    def _list_draws(self):
        return self._draws

    def _finish_fit(self, training, weight) -> None:
        for name in ATTRIBUTES:
            vars(self).pop(name, None)
        is_classified, known = self._predicts_classes, training.target
        if self.oob_score or self.store_distribution:
            known = known.astype(np.intp if is_classified else np.float64)
            n_statistics = self.n_classes_ if is_classified else 1
            self._estimate_out_of_bag(training.table, known, n_statistics, weight)
        if self.store_distribution and self._reader is not None and not is_classified:
            self._leaf_rows = LeafRows.of_members(self, training.table, known)

    def _read_tables(self, X):
        return self._make_combiner().read_blocks(X)

    def _make_predictor(self):
        votes = self._predicts_classes and self.voting == "hard"
        return partial(self._make_combiner().predict_one, votes=votes)


class BaggingClassifier(
    PredictionSetMixin, RowSamplingMixin, BaggingClassifierMixin, BaseBagging
):
    r"""Bagging of any classifiers (自助聚集), with one encoded table for all trees.

    Each member is trained on a bootstrap sample (自助采样): as many rows as there are,
    drawn with replacement, about 63.2 % of which are distinct. The ensemble predicts
    the class with the largest mean probability or, with ``voting="hard"``, the class
    with the most votes:

    .. math:: H(x) = \arg\max_y \frac{1}{T} \sum_{t=1}^{T} p_t(y \mid x), \qquad
        H(x) = \arg\max_y \sum_{t=1}^{T} \mathbb{I}(h_t(x) = y).

    Parameters of scikit-learn's ``BaggingClassifier`` have the same name, meaning and
    default here, so it is enough to replace the import.

    Parameters
    ----------
    estimator : classifier, default=None
        Base estimator of the members: any object with ``fit`` and ``predict``, such as
        a pipeline. None: :class:`~sklearn_textbook.tree.CARTClassifier`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Number of rows in a sample, or their fraction of all rows (of the total weight,
        if the rows have weights). None: as many as there are.
    max_features : int or float, default=1.0
        Number of columns that each member is fitted to, or their fraction.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A column that is drawn twice is
        passed to the member twice.
    oob_score : bool, str or callable, default=False
        Whether to score the ensemble on out-of-bag rows (包外估计). True uses the
        accuracy, a string the scikit-learn scorer of that name, and a callable receives
        the true and the predicted class numbers. Requires ``bootstrap=True`` and
        ``warm_start=False``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds new ones, up to
        ``n_estimators``.
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one, or the setting of
        ``joblib.parallel_config``; for trees of this package, one thread per core. -1:
        one per core. The members do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the draws, and for every ``random_state`` of the members.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    voting : {"soft", "hard"}, default="soft"
        How members are combined: "soft" averages their probabilities, as in
        scikit-learn; "hard" gives each one vote, the simple voting of the textbook
        (简单投票法), where ties go to the class with the largest mean probability.
        Members without ``predict_proba`` always vote.
    out_of_bag_posterior : bool, default=False
        Whether nodes without training rows predict the class frequencies of the
        out-of-bag rows that end there, instead of those of their parents. Such nodes
        come from levels without rows in a multiway split. Only for trees of this
        package.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. The class of least expected
        cost is predicted. Trees of this package are grown with this ``cost_matrix``
        unless they have one; other members do not know it. Requires
        ``voting="soft"``. None: all errors cost the same.
    store_distribution : bool, default=False
        Whether ``fit`` stores what :meth:`predict_set` needs: the out-of-bag
        probabilities of the classes that the rows have.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members. Trees of this package store the class labels, so each can be
        explained on its own; other members are fitted to class numbers, as in
        scikit-learn.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    estimators_samples_ : list of ndarray of int
        The rows that each member was fitted to, repeated as often as they were drawn.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members, with ``oob_score``: the
        fraction of misclassified rows among those that can be scored so far.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities (or votes) of the members for which the row is out of bag,
        with ``oob_score``; NaN if there are none.

    See Also
    --------
    BaggingRegressor : The corresponding regressor.
    RandomForestClassifier : Trees that also sample columns at each node.
    RandomSubspaceClassifier : Draws only columns.
    sklearn.ensemble.BaggingClassifier : No nominal columns; each member encodes X.

    Notes
    -----
    If the members are trees of this package, the table is read and encoded once for all
    of them, with nominal columns and missing values as they are, and a sample is a
    weight per row: ``min_samples_split`` and ``min_samples_leaf`` of CART then count a
    row that was drawn twice once, as with scikit-learn's trees. Other members receive
    the counts as ``sample_weight`` if their ``fit`` accepts it, and the drawn rows
    otherwise. This also applies to subclasses of the trees with their own ``fit`` or
    ``predict``, and to trees whose ``fit`` receives routed parameters.
    ``pruning="out_of_bag"`` in the base estimator prunes each tree on its out-of-bag
    rows.

    For the same ``random_state``, rows and columns are drawn as in scikit-learn, so
    both fit the same members if these are not trees. Differences: members receive data
    frames as frames, so they may select columns by name, except with
    ``bootstrap_features=True``; ``estimators_samples_`` lists all members after a warm
    start; the out-of-bag probabilities of members that lack a class are averaged over
    the classes they have.

    References
    ----------
    .. [1] L. Breiman (1996), Bagging predictors. Machine Learning 24.
    .. [2] 周志华《机器学习》, section 8.3.1, figure 8.5.

    Examples
    --------
    Bagging of C4.5 trees on the watermelon table of the textbook:

    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.ensemble import BaggingClassifier
    >>> from sklearn_textbook.tree import C45Classifier
    >>> X, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    >>> tree = C45Classifier(pruning=None)
    >>> model = BaggingClassifier(tree, 50, oob_score=True, random_state=0).fit(X, y)
    >>> len(model), len(model.oob_curve_)
    (50, 50)

    Bagging of any other estimator:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> BaggingClassifier(SVC(), random_state=0).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool | str | Callable[..., Any] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: str = "soft",
        out_of_bag_posterior: bool = False,
        cost_matrix: CostMatrix | None = None,
        store_distribution: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting
        self.out_of_bag_posterior = out_of_bag_posterior
        self.cost_matrix = cost_matrix
        self.store_distribution = store_distribution


class BaggingRegressor(
    IntervalMixin, RowSamplingMixin, BaggingRegressorMixin, BaseBagging
):
    r"""Bagging of any regressors (自助聚集), with one encoded table for all trees.

    Each member is trained on a bootstrap sample (自助采样): as many rows as there are,
    drawn with replacement, about 63.2 % of which are distinct. The ensemble predicts
    the mean

    .. math:: H(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(x).

    Parameters of scikit-learn's ``BaggingRegressor`` have the same name, meaning and
    default here, so it is enough to replace the import.

    Parameters
    ----------
    estimator : regressor, default=None
        Base estimator of the members: any object with ``fit`` and ``predict``, such as
        a pipeline. None: :class:`~sklearn_textbook.tree.CARTRegressor`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Number of rows in a sample, or their fraction of all rows (of the total weight,
        if the rows have weights). None: as many as there are.
    max_features : int or float, default=1.0
        Number of columns that each member is fitted to, or their fraction.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A column that is drawn twice is
        passed to the member twice.
    oob_score : bool, str or callable, default=False
        Whether to score the ensemble on out-of-bag rows (包外估计). True uses R², a
        string the scikit-learn scorer of that name, and a callable receives the true
        and the predicted values. Requires ``bootstrap=True`` and ``warm_start=False``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds new ones, up to
        ``n_estimators``.
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one, or the setting of
        ``joblib.parallel_config``; for trees of this package, one thread per core. -1:
        one per core. The members do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the draws, and for every ``random_state`` of the members.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    out_of_bag_posterior : bool, default=False
        Whether nodes without training rows predict the mean value of the out-of-bag
        rows that end there, instead of that of their parents. Such nodes come from
        levels without rows in a multiway split. Only for trees of this package.
    store_distribution : bool, default=False
        Whether ``fit`` stores what quantiles and :meth:`predict_interval` need: the
        out-of-bag residuals and, if the members are trees of this package, the targets
        and the training rows of each leaf.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    estimators_samples_ : list of ndarray of int
        The rows that each member was fitted to, repeated as often as they were drawn.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members, with ``oob_score``: the mean
        squared error over the rows that can be scored so far.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the members for which the row is out of bag, with
        ``oob_score``; 0 if there are none.

    See Also
    --------
    BaggingClassifier : The corresponding classifier.
    RandomForestRegressor : Trees that also sample columns at each node.
    RandomSubspaceRegressor : Draws only columns.
    sklearn.ensemble.BaggingRegressor : No nominal columns; each member encodes X.

    Notes
    -----
    As in :class:`BaggingClassifier`, trees of this package grow from one encoded table;
    other members are fitted as in scikit-learn, from the same draws. Several outputs
    are possible if the members support them, unlike in scikit-learn also with
    ``oob_score``.

    References
    ----------
    .. [1] L. Breiman (1996), Bagging predictors. Machine Learning 24.
    .. [2] 周志华《机器学习》, section 8.3.1, figure 8.5.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=100, oob_score=True, random_state=0)
    >>> round(model.fit(X, y).oob_score_, 1)
    0.4
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool | str | Callable[..., Any] = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        out_of_bag_posterior: bool = False,
        store_distribution: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.out_of_bag_posterior = out_of_bag_posterior
        self.store_distribution = store_distribution

    def predict(
        self,
        X: MatrixLike,
        *,
        quantiles: float | Sequence[float] | None = None,
        **params: Any,
    ) -> np.ndarray:
        """Predict the value of each row: the mean over the members, or quantiles.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        quantiles : float or sequence of float, default=None
            Probabilities of quantiles of the distribution in the leaves, as in
            :meth:`RandomForestRegressor.predict`; they require a fit with
            ``store_distribution=True``, and members that are trees of this package.
        **params : dict
            Parameters for ``predict`` of the members; requires metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Values; with a sequence of quantiles, these are an additional last axis.

        Raises
        ------
        ValueError
            If quantiles are not between 0 and 1, or the fit has not stored what they
            require.
        """
        if quantiles is not None:
            return predict_quantiles(self, X, quantiles)
        return super().predict(X, **params)
