"""Fitting the member of a round of AdaBoost to the weights of the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble.boosting._stumps import StumpSearch
from sklearn_textbook.ensemble.members.estimator_members import (
    consumes_weight,
    take_rows,
)
from sklearn_textbook.ensemble.resample import (
    count_draws,
    draw_rows,
    list_random_states,
)
from sklearn_textbook.tree import CARTClassifier
from sklearn_textbook.tree.members import (
    StumpBuilder,
    add_predictions,
    choose_member_classes,
    mark_smoothed,
)

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


def is_plain_stump(template):
    """Return whether members are stumps that the kernel finds.

    Parameters
    ----------
    template : estimator
        What members are like.

    Returns
    -------
    is_plain : bool
        Whether they are trees of one split by the error, with no other limit.
    """
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

    def __init__(self, training, weight, is_drawn):
        self.training, self.is_drawn = training, is_drawn
        self.codes = np.ascontiguousarray(training.target[:, 0], dtype=np.int32)
        self.n_rows, self.n_classes = len(self.codes), len(training.classes)
        self.total = weight.sum()
        # The sum may be too small for its inverse.
        weight = weight / weight.max()
        self.weight = weight / weight.sum()
        self.is_wrong = np.zeros(self.n_rows, dtype=bool)

    def replay(self, member, factor):
        """Change the weights by a member of earlier rounds."""
        self.is_wrong = self.predict(member) != self.codes
        self.weight = self.preview(factor)

    def learn(self, factor, seed):
        """Change the weights by the last member, and fit the next one.

        Parameters
        ----------
        factor : float
            Factor of the weights of the rows that it misclassified.
        seed : int
            Seed of the draw, and of the member.

        Returns
        -------
        member : estimator
            Fitted.
        error : float
            Its weighted error.
        """
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

    def __init__(self, training, weight, is_drawn):
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

    def __init__(self, training, weight, is_drawn):
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

    def measure_spread(self, weight):
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

    def close(self):
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

    def __init__(self, training, weight, is_drawn):
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
    """Choose how members are fitted.

    Parameters
    ----------
    training : TreeTraining or EstimatorTraining
        The table and the classes.

    Returns
    -------
    learner : class
        A kind of Learner.
    """
    if training.reader is None:
        return AnyLearner
    plain = is_plain_stump(training.reader) and training.grower.reader.n_outputs_ == 1
    return StumpLearner if plain else TreeLearner
