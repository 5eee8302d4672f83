"""AdaBoost: members that are trained on weights of rows, 提升方法."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn import config_context, get_config
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.metrics import accuracy_score
from sklearn.utils import (
    check_consistent_length,
    check_random_state,
    column_or_1d,
    get_tags,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_textbook._contract.costs import CostMatrix, choose_classes, get_costs
from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.labels import decode_dictionary
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
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.boosting._stumps import StumpSearch, add_steps
from sklearn_textbook.ensemble.boosting.staged_mixins import StagedClassifierMixin
from sklearn_textbook.ensemble.members.estimator_members import (
    EstimatorCombiner,
    EstimatorTraining,
    consumes_weight,
    count_member_votes,
    predict_batch,
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
from sklearn_textbook.ensemble.resample import (
    count_draws,
    draw_rows,
    draw_seeds,
    list_random_states,
)
from sklearn_textbook.tree import CARTClassifier
from sklearn_textbook.tree.members import (
    StumpBuilder,
    add_predictions,
    choose_member_classes,
    describe_stump,
    find_leaves_of_all,
    mark_smoothed,
    store_blocks,
)

# ------------------------------------------------------------------------------------
# Votes of many stumps at the cost of one look-up in each column: the weighted votes of
# the stumps that test a column are a step function of its value. A table of the sums
# between two thresholds, or of the levels, is all that a row needs.
# ------------------------------------------------------------------------------------


class StumpVotes:
    """The sums of stumps by column.

    Parameters
    ----------
    stumps : list of dict
        What ``describe_stump`` returns for each.
    weights : ndarray of float64, shape (n_stumps,)
        What their votes count.
    n_classes : int
        Number of classes.
    """

    def __init__(self, stumps, weights, n_classes) -> None:
        self.constant = np.zeros(n_classes)
        by_column = {}
        for stump, weight in zip(stumps, weights, strict=True):
            if stump["column"] < 0:
                self.constant[stump["root"]] += weight
            else:
                by_column.setdefault(stump["column"], []).append((stump, weight))
        thresholds, votes = [], []
        self.columns = np.array(sorted(by_column), dtype=np.int64)
        self.kinds = np.empty(len(self.columns), dtype=np.uint8)
        for number, column in enumerate(self.columns):
            of_column = by_column[column]
            self.kinds[number] = of_column[0][0]["kind"]
            steps, table = _sum_steps(of_column, n_classes)
            thresholds.append(steps)
            votes.append(table)
        self.first_threshold = _count_up(thresholds)
        self.first_vote = _count_up(votes)
        # One more, so that there is a first one.
        self.thresholds = np.concatenate([*thresholds, [np.inf]])
        self.votes = np.concatenate([*votes, np.zeros((1, n_classes))])

    @classmethod
    def of(cls, members, weights, n_classes):
        """Make the sums; None if some member is not a plain stump."""
        stumps = [describe_stump(member) for member in members]
        if any(stump is None for stump in stumps):
            return None
        return cls(stumps, weights, n_classes)

    def add_up(self, matrix, n_threads: int) -> np.ndarray:
        """Add up the votes for some rows."""
        out = np.empty((len(matrix), len(self.constant)))
        out[:] = self.constant
        add_steps(
            matrix,
            self.columns,
            self.kinds,
            self.first_threshold,
            self.thresholds,
            self.first_vote,
            self.votes,
            out,
            n_threads,
        )
        return out


def _sum_steps(stumps, n_classes):
    """Return the thresholds of a column and the sums of votes.

    The last two sums are those of unseen levels and of missing values.
    """
    first = stumps[0][0]
    steps = np.empty(0)
    n_places = first["n_levels"]
    if first["kind"] < 2:
        steps = np.unique([stump["threshold"] for stump, _ in stumps])
        n_places = len(steps) + 1
    table = np.zeros((n_places + 2, n_classes))
    for stump, weight in stumps:
        if first["kind"] < 2:
            place = np.searchsorted(steps, stump["threshold"]) + 1
            table[:place, stump["says"][0]] += weight
            table[place:-2, stump["says"][1]] += weight
        else:
            table[np.arange(n_places), stump["says"]] += weight
        table[-2, stump["root"]] += weight
        table[-1, stump["missing"]] += weight
    return steps, table


def _count_up(parts):
    """Return the starts of consecutive parts, and the end of the last."""
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


# ------------------------------------------------------------------------------------
# Fitting the member of a round of AdaBoost to the weights of the rows.
# ------------------------------------------------------------------------------------


#: Beyond this, the weights of the rows that were right are divided instead.
LARGEST_FACTOR = 1e30
#: Parameters of a tree in which the stumps of the kernel may differ from the default.
_FREE = (
    "categorical_features",
    "categorical_smoothing",
    "missing",
    "handle_unknown",
    "n_jobs",
    "random_state",
)


def make_stump_template(missing, categorical_features):
    """Make what members are like by default."""
    return CARTClassifier(
        criterion="error",
        max_depth=1,
        missing=missing,
        categorical_features=categorical_features,
    )


def is_plain_stump(template) -> bool:
    """Return whether members are stumps that the kernel finds."""
    if type(template) is not CARTClassifier:
        return False
    params = template.get_params(deep=False)
    if params["missing"] not in ("learned", "error"):
        return False
    plain = make_stump_template("learned", None).get_params(deep=False)
    return all(
        params[name] is value or (np.isscalar(value) and params[name] == value)
        for name, value in plain.items()
        if name not in _FREE
    )


class Learner(ABC):
    """Fits a member to the weights of the rows, round by round.

    Parameters
    ----------
    training : TreeTraining or EstimatorTraining
        The table and the classes.
    weight : ndarray of float64, shape (n_rows,)
        First weights of the rows.
    is_drawn : bool
        Whether members learn from rows that are drawn by these weights (重采样法), and
        not from the weights themselves (重赋权法).
    """

    def __init__(self, training, weight, is_drawn) -> None:
        self.training, self.is_drawn = training, is_drawn
        self.codes = np.ascontiguousarray(training.target[:, 0], dtype=np.int32)
        self.n_rows, self.n_classes = len(self.codes), len(training.classes)
        self.total = weight.sum()
        # The sum may be too small for its inverse.
        weight = weight / weight.max()
        self.weight = weight / weight.sum()
        self.is_wrong = np.zeros(self.n_rows, dtype=bool)

    def replay(self, member, factor) -> None:
        """Change the weights by a member of earlier rounds."""
        self.is_wrong = self.predict(member) != self.codes
        self.weight = self.preview(factor)

    def learn(self, factor: float, seed: int):
        """Change the weights by the last member, and fit the next one."""
        self.weight = self.preview(factor)
        member = self.fit_member(self.draw(self.weight, seed), seed)
        self.is_wrong = self.predict(member) != self.codes
        return member, self.weight[self.is_wrong].sum() / self.weight.sum()

    def draw(self, weight, seed):
        """Draw as many rows as there are, if rows are drawn."""
        if not self.is_drawn:
            return None
        return draw_rows(seed, self.n_rows, self.n_rows, weight)

    def preview(self, factor):
        """Compute the weights of the next round; they sum to 1."""
        weight = self.weight.copy()
        if factor > LARGEST_FACTOR:
            weight[~self.is_wrong] /= factor
        else:
            weight[self.is_wrong] *= factor
        return weight / weight.sum()

    def close(self):  # noqa: B027 - most have nothing to release
        """Release what is only needed for fitting."""

    @abstractmethod
    def fit_member(self, rows, seed):
        """Fit a member to the weights, or to drawn rows."""

    @abstractmethod
    def predict(self, member):
        """Predict the class numbers of the training rows."""


class AnyLearner(Learner):
    """Fits copies of any classifier."""

    def __init__(self, training, weight, is_drawn) -> None:
        super().__init__(training, weight, is_drawn)
        template = training.template
        takes_weight = has_fit_parameter(template, "sample_weight")
        if not (is_drawn or takes_weight or consumes_weight(template)):
            raise ValueError(
                f"{type(template).__name__} doesn't support sample_weight in its fit. "
                "Use sampling='resample', which draws rows instead, or another "
                "estimator."
            )

    def fit_member(self, rows, seed):
        """Fit a copy of the template, as scikit-learn does to weights that sum to 1."""
        member = clone(self.training.template)
        member.set_params(**list_random_states(member, seed))
        table, codes = self.training.table, self.codes.astype(np.intp)
        if self.is_drawn:
            return member.fit(take_rows(table, rows), codes[rows])
        return member.fit(table, codes, sample_weight=self.weight)

    def predict(self, member):
        """Predict the class numbers of the training rows."""
        return np.asarray(member.predict(self.training.table)).astype(np.int32)


class TreeLearner(Learner):
    """Grows trees over one encoded table, from weights that keep their sum."""

    def __init__(self, training, weight, is_drawn) -> None:
        super().__init__(training, weight, is_drawn)
        self.first_weight = self.weight
        self.grower = training.grower
        n_cells = self.n_rows * self.grower.n_columns
        self.n_threads = count_threads(training.n_jobs, n_cells)
        self._executor = ThreadPoolExecutor(1)

    def fit_member(self, rows, seed):
        """Grow a tree in a thread, so that waiting for it can be interrupted."""
        states = list_random_states(self.grower.reader, seed)
        weight = self.weight * self.total
        design_effect = self.measure_spread(self.weight)
        if self.is_drawn:
            weight = count_draws(rows, self.n_rows)
            design_effect = self.measure_draws(self.weight, len(rows))
        config = get_config()

        def grow():
            with config_context(**config):
                return self.grower.grow(
                    weight,
                    states["random_state"],
                    pruner=self._seed_pruner(states),
                    n_threads=self.n_threads,
                    design_effect=design_effect,
                )

        return self._executor.submit(grow).result()

    def measure_draws(self, weight, n_drawn):
        """Measure the design effect of the counts of rows drawn by weights."""
        return 1.0 + (n_drawn - 1) / self.total * self.measure_spread(weight)

    def measure_spread(self, weight) -> float:
        """Measure the design effect of weights; a row counts as its first weight."""
        first = self.first_weight
        ratio = np.divide(weight, first, out=np.zeros(self.n_rows), where=first > 0)
        return float(np.sum(weight * ratio))  # not by BLAS, whose threads would spin

    def _seed_pruner(self, states):
        """Pass the member's seed to a randomised pruner."""
        if "pruning__random_state" not in states:
            return None
        pruner = clone(self.grower.pruner)
        return pruner.set_params(random_state=states["pruning__random_state"])

    def close(self) -> None:
        """Do not wait for a tree that is not needed any more."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def predict(self, member):
        """Predict the class numbers of the training rows."""
        probabilities = np.zeros((self.n_rows, 1, self.n_classes))
        names = member.schema_.names
        matrix = self.grower.rows.matrix
        add_predictions([member.tree_], matrix, probabilities, self.n_threads, names)
        return choose_member_classes(member, probabilities)[:, 0]


class StumpLearner(TreeLearner):
    """Finds stumps by the kernel, which keeps the weights."""

    def __init__(self, training, weight, is_drawn) -> None:
        super().__init__(training, weight, is_drawn)
        self.builder, self.search = StumpBuilder(self.grower), None
        self.is_smoothed = None

    def _make_search(self):
        table, reader = self.grower.table, self.grower.reader
        is_nominal = np.array([kind == "nominal" for kind in table.schema.kinds])
        self.is_smoothed = mark_smoothed(table, reader.categorical_smoothing)
        return StumpSearch(
            table.order,
            table.values,
            table.n_distinct,
            table.n_missing,
            is_nominal.astype(np.uint8),
            self.codes,
            self.n_classes,
            self.weight,
            self.n_threads,
            self.is_smoothed.astype(np.uint8),
            -1.0
            if reader.categorical_smoothing == "auto"
            else reader.categorical_smoothing,
        )

    def learn(self, factor, seed):
        """Change the weights by the last stump, and find the next one."""
        if self.search is None:
            self.search = self._make_search()
        drawn, design_effect, weight = None, 0.0, None
        if self.is_drawn or self.is_smoothed.any():
            weight = self.preview(factor)
            design_effect = self.measure_spread(weight) / self.total
        if self.is_drawn:
            rows = self.draw(weight, seed)
            drawn = count_draws(rows, self.n_rows).astype(np.float64)
            design_effect = self.measure_draws(weight, len(rows)) / len(rows)
        found = self.search.find(factor, drawn, design_effect)
        error = found["wrong"] / found["total"]
        if drawn is None:
            found["weights"] *= self.total / found["total"]
        return self.builder.build(found, seed), error

    def preview(self, factor):
        """Compute the weights of the next round; they sum to 1."""
        if self.search is not None:
            self.weight = self.search.copy_weights()
            self.is_wrong = self.search.mark_wrong()
        return super().preview(factor)


def choose_learner(training):
    """Choose how members are fitted."""
    if training.reader is None:
        return AnyLearner
    plain = is_plain_stump(training.reader) and training.grower.reader.n_outputs_ == 1
    return StumpLearner if plain else TreeLearner


# ------------------------------------------------------------------------------------
# The rounds of AdaBoost, and when they end.
# ------------------------------------------------------------------------------------


#: A member whose error is below chance by no more is no better than chance.
_ROUNDING = 1e-12
_LARGEST_SEED = np.iinfo(np.int32).max


class AdaBoostRounds:
    r"""The members of AdaBoost, and what is known of each round.

    Parameters
    ----------
    learner : Learner
        Fits the members.
    learning_rate : float
        Factor of the members' weights.
    max_restarts : int
        How often a round is drawn again.
    stores_weights : bool
        Whether the weights of the rows are kept.

    Attributes
    ----------
    members : list of estimator
        The members.
    errors, alphas, normalizers : list of float
        :math:`e_m`, :math:`\alpha_m` and :math:`Z_m`.
    row_weights : list of ndarray
        :math:`D_1, D_2, \ldots`, if they are kept.
    stop_reason : str
        Why there are no more rounds.
    """

    def __init__(self, learner, learning_rate, max_restarts, stores_weights) -> None:
        self.learner, self.learning_rate = learner, learning_rate
        self.max_restarts, self.stores_weights = max_restarts, stores_weights
        self.members, self.errors, self.alphas, self.normalizers = [], [], [], []
        self.row_weights = [learner.weight] if stores_weights else []
        self.factor, self.stop_reason = 1.0, ""

    def resume(self, members: list, errors: np.ndarray, alphas: np.ndarray) -> None:
        """Continue from an earlier fit."""
        for member, error, alpha in zip(members, errors, alphas, strict=True):
            self._add(member, float(error), float(alpha))
            self.learner.replay(member, self.factor)
            if self.stores_weights:
                self.row_weights.append(self.learner.weight)
        self.factor = 1.0

    @property
    def is_perfect(self):
        """Whether the last member misclassifies no row, so that boosting has ended."""
        return bool(self.errors) and self.errors[-1] == 0.0

    def make_rounds(self, seeds: list[int]):
        """Make one round per seed, or fewer."""
        for seed in seeds:
            member, error = self._fit_member(seed)
            if member is None:
                return
            # The reason if a callback ends the loop here.
            self.stop_reason = "A callback stopped the fit."
            self._add(member, error, self._weigh(error))
            if self.stores_weights:
                self.row_weights.append(self.learner.preview(self.factor))
            yield member
            if error == 0.0:
                self.stop_reason = (
                    f"Member {len(self.members)} has no errors, so there is nothing "
                    "left to learn."
                )
                return
        self.stop_reason = f"All n_estimators={len(self.members)} rounds were run."

    def _fit_member(self, seed):
        """Fit the member of a round; None if it is no better than chance."""
        n_classes = self.learner.n_classes
        chance = 1.0 - 1.0 / n_classes
        n_tries = 1 + (self.max_restarts if self.learner.is_drawn else 0)
        seeds = None
        for _ in range(n_tries):
            own_seed = seed if seeds is None else int(seeds.randint(_LARGEST_SEED))
            member, error = self.learner.learn(self.factor, own_seed)
            error, self.factor = float(error), 1.0
            if error == 0.0 or error < chance - _ROUNDING:
                return member, error
            seeds = seeds or check_random_state(seed)
        number = len(self.members) + 1
        again = f" in any of {n_tries} draws" if self.learner.is_drawn else ""
        self.stop_reason = (
            f"Member {number} was no better than chance{again}: its weighted error was "
            f"{error:.6g}, that of guessing among {n_classes} classes is {chance:.6g}."
        )
        if number == 1:
            raise ValueError(
                "The first member is no better, or even worse than random guessing, so "
                f"there is nothing to boost. {self.stop_reason}"
            )
        return None, error

    def _weigh(self, error):
        """Compute the weight of a member."""
        if error == 0.0:
            return 1.0 + sum(self.alphas)
        odds = (1.0 - error) / error * (self.learner.n_classes - 1)
        return self.learning_rate * 0.5 * math.log(odds)

    def _add(self, member, error, alpha) -> None:
        """Add a round to the lists."""
        self.members.append(member)
        self.errors.append(error)
        self.alphas.append(alpha)
        right, wrong = (1.0 - error) * math.exp(-alpha), 0.0
        self.factor = 1.0
        if error > 0.0:
            # Beyond the largest float, correctly classified rows get weight 0.
            self.factor = math.exp(2.0 * alpha) if alpha < 350.0 else math.inf
            wrong = math.exp(min(alpha + math.log(error), 700.0))
        self.normalizers.append(right + wrong)


# ------------------------------------------------------------------------------------
# Fitting AdaBoost: from parameters and a table to the rounds.
# ------------------------------------------------------------------------------------


#: Parameters of the default stump; other estimators have their own.
_OF_STUMP = {"categorical_features": "from_dtype", "missing": "learned"}


class BaseAdaBoost(MemberList, CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Parameters and rounds."""

    _store_blocks = store_blocks
    _saved_fields = (
        SavedField("estimator_weights_", shape=("members",)),
        SavedField("estimator_errors_", shape=("members",), least=0),
        SavedField("normalizers_", shape=("members",), least=0),
        SavedField("stop_reason_", "text"),
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
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

    def _repeats_columns(self) -> bool:
        """Return whether a member may see a column twice."""
        return False

    def _list_columns(self):
        """List the columns of each member; None: all of them."""
        return [None] * len(self.estimators_)

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the members one after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
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
        get_costs(self)  # raises ValueError for costs that do not fit the classes
        return training

    def _make_rounds(self, learner, context, hooks) -> None:
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

    def _restore(self, reader, members, columns, kept) -> None:
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


# ------------------------------------------------------------------------------------
# Predictions of AdaBoost from the weighted votes of its members.
# ------------------------------------------------------------------------------------


def _has_trees(ensemble) -> bool:
    """Require members that are trees of this package."""
    if getattr(ensemble, "_reader", None) is None:
        raise AttributeError("The members are not trees of this package.")
    return True


class AdaBoostMixin(StagedClassifierMixin, ClassifierMixin):
    """Weighted votes, and what follows from them."""

    # ----------------------------------------------------------------------- votes
    def _sum_votes(self, combiner, table, numbers):
        """Add up the weights of the members that vote for each class."""
        weights = self.estimator_weights_[numbers]
        if self._reader is not None:
            return combiner.sum_votes(table, numbers, weights)[:, 0]
        total = None
        for number, weight in zip(numbers, weights, strict=True):
            (votes,) = predict_batch(
                count_member_votes,
                [combiner.members[number]],
                [None],
                table,
                self.n_classes_,
                {},
            )
            votes *= weight
            total = votes if total is None else total + votes
        return total

    def _make_combiner(self):
        check_is_fitted(self)
        return EstimatorCombiner(self) if self._reader is None else TreeCombiner(self)

    def _compute_raw(self, X):
        """Votes of all members; (n_rows, n_classes)."""
        combiner = self._make_combiner()
        numbers = np.arange(len(self.estimators_))
        stumps = None
        if self._reader is not None:
            weights, n_classes = self.estimator_weights_, self.n_classes_
            stumps = StumpVotes.of(self.estimators_, weights, n_classes)

        def sum_votes(table):
            if stumps is None or sparse.issparse(table):
                return self._sum_votes(combiner, table, numbers)
            return stumps.add_up(table, count_threads(self.n_jobs, table.size))

        return np.concatenate([sum_votes(table) for table in combiner.read_blocks(X)])

    def _stage_raw(self, X):
        """Votes of the first 1, 2, ... members; the same array, each time further."""
        combiner = self._make_combiner()
        blocks = list(combiner.read_blocks(X))
        total = np.zeros(1)
        for number in range(len(self.estimators_)):
            parts = [self._sum_votes(combiner, table, [number]) for table in blocks]
            total = total + np.concatenate(parts)
            yield total

    def _to_decisions(self, votes):
        """Turn votes into the additive model."""
        if self.n_classes_ == 2:
            return votes[:, 1] - votes[:, 0]
        others = votes.sum(axis=1, keepdims=True) - votes
        return votes - others / max(1, self.n_classes_ - 1)

    def _to_probabilities(self, votes):
        return softmax(2.0 * votes, axis=1)

    def _to_target(self, votes):
        """Turn votes into classes."""
        costs = get_costs(self)
        if costs is None:
            return self.classes_.take(votes.argmax(axis=1))
        return self.classes_.take(choose_classes(self._to_probabilities(votes), costs))

    # ------------------------------------------------------------------ prediction
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        r"""Compute the additive model :math:`f(x) = \sum_m \alpha_m G_m(x)`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one number per row, positive for ``classes_[1]``. For more,
            one number per class; they sum to 0: a member adds :math:`\alpha_m` to the
            class that it predicts and subtracts :math:`\alpha_m / (K - 1)` from every
            other class.
        """
        return self._to_decisions(self._compute_raw(X))

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        r"""Predict class probabilities.

        The additive model that minimises the expected exponential loss is half the
        logarithm of the odds, so that

        .. math:: P(y = k \mid x) \propto \exp\Big(2 \sum_m \alpha_m \,
            \mathbb{I}(G_m(x) = k)\Big),

        which for two classes is :math:`1 / (1 + e^{-2 f(x)})`. After many rounds, these
        values are close to 0 and 1 and need to be calibrated to serve as probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Estimates that sum to 1 in each row.
        """
        return self._to_probabilities(self._compute_raw(X))

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Compute the natural logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Finite even where the probability is rounded to 0.
        """
        return log_softmax(2.0 * self._compute_raw(X), axis=1)

    # ---------------------------------------------------------------------- stages
    def staged_score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """Compute the accuracy of the first 1, 2, ... members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Yields
        ------
        score : float
            Fraction of correctly classified rows, by weight.
        """
        for predicted in self.staged_predict(X):
            yield accuracy_score(y, predicted, sample_weight=sample_weight)

    # -------------------------------------------------------------------- measures
    def margins(self, X: MatrixLike, y: ArrayLike) -> np.ndarray:
        r"""Compute the margins of rows (间隔): how clearly the votes are right.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        margins : ndarray of shape (n_samples,)
            The fraction of votes for the true class minus the largest fraction for
            another class, from -1 to 1; for two classes, :math:`y f(x) / \sum_m
            \alpha_m`. A class that was not seen in training has no votes.
        """
        return self._compare_votes(self._compute_raw(X), y, len(self.estimators_))

    def staged_margins(self, X: MatrixLike, y: ArrayLike) -> Iterator[np.ndarray]:
        """Compute the margins of rows by the first 1, 2, ... members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Yields
        ------
        margins : ndarray of shape (n_samples,)
            As in :meth:`margins`.
        """
        for number, votes in enumerate(self._stage_raw(X), start=1):
            yield self._compare_votes(votes, y, number)

    def _compare_votes(self, votes, y, n_members):
        """Compare the votes of some members for the right class and for others."""
        y = column_or_1d(decode_dictionary(y), warn=True)
        check_consistent_length(votes, y)
        is_right = np.asarray(y)[:, np.newaxis] == self.classes_
        right = np.where(is_right, votes, 0.0).max(axis=1)
        others = np.where(is_right, 0.0, votes).max(axis=1)
        return (right - others) / self.estimator_weights_[:n_members].sum()

    @property
    def error_bounds_(self) -> np.ndarray:
        r"""Bounds on the weighted training error after 1, 2, ... rounds.

        They are :math:`Z_1, Z_1 Z_2, \ldots`, by theorem 8.1 of the textbook. With more
        than two classes, they may exceed 1.
        """
        check_is_fitted(self)
        return np.cumprod(self.normalizers_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean importance of each column over the members, weighted by their weights.

        Raises
        ------
        AttributeError
            If the members have no ``feature_importances_``.
        """
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                "feature_importances_ is the mean over the members, but "
                f"{type(self.estimators_[0]).__name__} has no feature_importances_."
            )
        each = [member.feature_importances_ for member in self.estimators_]
        return self.estimator_weights_ @ each / self.estimator_weights_.sum()

    @available_if(_has_trees)
    def apply(self, X: MatrixLike) -> np.ndarray:
        """Find the node in which each row ends, for each tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        nodes : ndarray of int64, shape (n_samples, n_members)
            Node numbers. Only available if the members are trees of this package.
        """
        combiner = self._make_combiner()
        trees = [member.tree_ for member in self.estimators_]
        names = self._reader.schema_.names
        return np.concatenate(
            [
                find_leaves_of_all(
                    trees,
                    matrix,
                    count_threads(self.n_jobs, matrix.size * len(trees)),
                    names,
                )
                for matrix in combiner.read_blocks(X)
            ]
        )


class AdaBoostClassifier(AdaBoostMixin, BaseAdaBoost):
    r"""AdaBoost of stumps chosen by weighted error, or of any classifiers (提升方法).

    Starting from weights :math:`D_1` of the N rows, which sum to 1, round m fits a
    member :math:`G_m` and then increases the weights of misclassified rows:

    .. math:: e_m = \sum_{i=1}^{N} w_{mi}\, \mathbb{I}(G_m(x_i) \ne y_i), \qquad
        \alpha_m = \frac{1}{2} \ln \frac{1 - e_m}{e_m},

    .. math:: w_{m+1,i} = \frac{w_{mi}}{Z_m} e^{-\alpha_m y_i G_m(x_i)}, \qquad
        Z_m = \sum_{i=1}^{N} w_{mi}\, e^{-\alpha_m y_i G_m(x_i)}.

    The predicted class is the sign of :math:`f(x) = \sum_m \alpha_m G_m(x)`, where
    ``classes_[1]`` counts as +1 and ``classes_[0]`` as -1. The weighted training error
    is at most :math:`\prod_m Z_m`.

    For K classes, this is SAMME [3]_: :math:`\alpha_m = \frac{1}{2} \big(\ln \frac{1 -
    e_m}{e_m} + \ln(K - 1)\big)`, :math:`y_i G_m(x_i)` is 1 if the prediction is right
    and -1 if it is wrong, and the predicted class is the one with the largest sum of
    weighted votes. The bound holds as well.

    Parameters of scikit-learn's ``AdaBoostClassifier`` have the same name, meaning and
    default here, except that the default ``estimator`` is another stump.

    Parameters
    ----------
    estimator : classifier, default=None
        Base estimator of the members: any classifier whose ``fit`` accepts
        ``sample_weight`` or, with ``sampling="resample"``, any classifier. None: the
        stump (决策树桩) with the smallest weighted error, or a leaf if no stump has a
        smaller error.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Factor applied to every :math:`\alpha_m`.
    sampling : {"reweight", "resample"}, default="reweight"
        How the weights are used: "reweight" passes them to the members (重赋权法);
        "resample" draws as many rows as there are, with probabilities proportional to
        the weights (重采样法). In both cases, errors are weighted errors of all rows.
    max_restarts : int, default=10
        With "resample", how often the rows of a round are drawn again if the member is
        no better than chance. If the last member still is not, and with "reweight" in
        any case, boosting stops.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns of the default stump, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`.
    missing : {"learned", "branch", "surrogate", "error"}, default="learned"
        How the default stump treats missing values, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`.
    store_weights : bool, default=False
        Whether to keep the row weights of all rounds as ``sample_weights_``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds further rounds.
    n_jobs : int, default=None
        Number of threads, if the members are trees of this package. None: one per core.
        The members do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the draws, and for every ``random_state`` of the members.
    verbose : int, default=0
        Whether to print the error and the weight of each round.
    algorithm : {"SAMME"}, default="deprecated"
        Has no effect, except for a FutureWarning; scikit-learn has removed it.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. The class of least expected
        cost under ``predict_proba`` is predicted. Training does not use costs. None:
        all errors cost the same.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members. Trees of this package store the class labels, so each can be
        explained on its own; other members are fitted to class numbers.
    estimator_errors_ : ndarray of float64, shape (n_rounds,)
        Weighted errors :math:`e_m`.
    estimator_weights_ : ndarray of float64, shape (n_rounds,)
        Weights :math:`\alpha_m` of the members.
    normalizers_ : ndarray of float64, shape (n_rounds,)
        :math:`Z_m = (1 - e_m) e^{-\alpha_m} + e_m e^{\alpha_m}`.
    error_bounds_ : ndarray of float64, shape (n_rounds,)
        The products :math:`Z_1, Z_1 Z_2, \ldots`, which bound the training error.
    sample_weights_ : ndarray of float64, shape (n_rounds + 1, n_samples)
        The row weights :math:`D_1, D_2, \ldots`, with ``store_weights``.
    stop_reason_ : str
        A sentence on why boosting stopped.
    feature_importances_ : ndarray of float64, shape (n_features,)
        Mean importance of each column over the members, weighted by
        ``estimator_weights_``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.

    See Also
    --------
    BaggingClassifier : Members that are fitted independently of each other.
    sklearn.ensemble.AdaBoostClassifier : Stumps by the Gini index; no nominal columns.

    Notes
    -----
    A member without errors would have an infinite weight. It ends boosting, and its
    weight is 1 more than those of all previous members together, so that it decides
    alone; in the first round, this is scikit-learn's weight of 1. If the first member
    is no better than chance, :math:`e_1 \ge 1 - 1/K`, ``fit`` raises ValueError, as in
    scikit-learn; a later one is discarded.

    Differences from scikit-learn: stumps are chosen by their weighted error instead of
    the Gini index (for the latter, use ``CARTClassifier(max_depth=1)`` as the
    estimator); :math:`\alpha_m` is half of SAMME's, which does not change predicted
    classes or row weights; ``decision_function`` is not divided by :math:`\sum_m
    \alpha_m`, and ``predict_proba`` follows from the exponential loss; row weights
    never overflow. For two classes, Weka's AdaBoostM1 is the same, except that its
    member weights are twice as large.

    If the members are trees of this package, the table is read and encoded once for all
    of them. A default stump costs about as much as adding the weights of the rows that
    the previous stump misclassified to histograms of all columns, and scanning a few of
    their bins row by row; it is the best of all stumps, not only of those at the edges
    of bins. Trees receive weights with the sum of the original weights, other members
    weights that sum to 1.

    References
    ----------
    .. [1] 李航《统计学习方法》, section 8.1, algorithm 8.1, example 8.1; theorems 8.1
       and 8.2.
    .. [2] 周志华《机器学习》, section 8.2, figure 8.3.
    .. [3] J. Zhu, H. Zou, S. Rosset, T. Hastie (2009), Multi-class AdaBoost.
       Statistics and Its Interface 2.
    .. [4] J. Friedman, T. Hastie, R. Tibshirani (2000), Additive logistic regression.
       The Annals of Statistics 28.

    Examples
    --------
    The example of the textbook:

    >>> from sklearn_textbook.datasets import load_adaboost_example
    >>> from sklearn_textbook.ensemble import AdaBoostClassifier
    >>> X, y = load_adaboost_example(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> [float(stump.tree_.threshold[0]) for stump in model]
    [2.5, 8.5, 5.5]
    >>> model.estimator_weights_.round(4)
    array([0.4236, 0.6496, 0.752 ])
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        sampling: str = "reweight",
        max_restarts: int = 10,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        missing: str = "learned",
        store_weights: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        algorithm: str = "deprecated",
        cost_matrix: CostMatrix | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.sampling = sampling
        self.max_restarts = max_restarts
        self.categorical_features = categorical_features
        self.missing = missing
        self.store_weights = store_weights
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.algorithm = algorithm
        self.cost_matrix = cost_matrix
