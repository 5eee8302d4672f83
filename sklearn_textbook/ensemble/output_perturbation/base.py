"""Ensembles whose members learn perturbed outputs of the same rows, 输出表示扰动.

周志华《机器学习》, section 8.5.3. A member's seed determines its perturbation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, column_or_1d, get_tags
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.labels import (
    check_target,
    decode_dictionary,
    encode_labels,
)
from sklearn_textbook._contract.parameters import (
    check_count_or_fraction,
    check_integer,
    check_random_seed,
    check_truth,
    check_verbose,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.members.estimator_members import read_table, take_rows
from sklearn_textbook.ensemble.members.growth import (
    count_jobs,
    grow_members,
    open_parallel,
    yield_results,
)
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    count_lacking,
    warn_of_no_lack,
    yield_until_stopped,
)
from sklearn_textbook.ensemble.resample import (
    LARGEST_SEED,
    DrawnRowsMixin,
    RowDraw,
    count_drawn_rows,
    draw_seeds,
)
from sklearn_textbook.tree.members import (
    MemberGrower,
    add_predictions,
    get_shown_tree,
    is_tree,
    read_blocks,
    store_blocks,
)


class PerturbedTrees:
    """Grows trees over one encoded table, each from targets of its own.

    Parameters
    ----------
    grower : MemberGrower
        Has read the table.
    draw_target : callable
        Gives the target for a seed.
    """

    def __init__(self, grower, draw_target) -> None:
        self.grower = grower
        self.draw_target = draw_target
        self.n_rows = grower.n_rows
        self.share = grower.share

    def grow(self, weight, seed, **options):
        """Grow the tree of a seed."""
        return self.grower.grow(weight, seed, target=self.draw_target(seed), **options)


class PerturbedEstimators:
    """Fits copies of any estimator, each to targets of its own.

    Parameters
    ----------
    template : estimator
        What is copied.
    X : ndarray, data frame or sparse matrix of shape (n_rows, n_columns)
        The table.
    draw_target : callable
        Gives the target for a seed.
    repeats_rows : bool
        Whether weights are counts, so that rows can be repeated.
    """

    def __init__(self, template, X, draw_target, repeats_rows) -> None:
        self.template = template
        self.X = X
        self.draw_target = draw_target
        self.repeats_rows = repeats_rows
        self.n_rows = X.shape[0]

    def grow(self, weight, seed, **_options):
        """Fit the member of a seed."""
        member = seed_estimator(clone(self.template), seed)
        target = self.draw_target(seed)
        if weight is None:
            return member.fit(self.X, target)
        if self.repeats_rows:
            rows = np.repeat(np.arange(self.n_rows), weight)
            return member.fit(take_rows(self.X, rows), target[rows])
        return member.fit(self.X, target, sample_weight=weight)

    def share(self, member):
        """Leave a member that came from another process as it is."""
        return member


def seed_estimator(estimator, seed: int):
    """Set the seeds of an estimator and of its components."""
    random_state = check_random_state(seed)
    names = [
        name
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
    seeds = {name: int(random_state.randint(LARGEST_SEED)) for name in names}
    return estimator.set_params(**seeds) if seeds else estimator


class BaseOutputPerturbation(
    DrawnRowsMixin,
    MemberList,
    ClassifierMixin,
    CallbackSupportMixin,
    BaseEstimator,
    ABC,
):
    """Fitting members to perturbed outputs, and their predictions."""

    _store_blocks = store_blocks

    _saved_fields = (
        SavedField("n_rows", "integer", least=1),
        SavedField("n_drawn_rows", "integer", is_optional=True, least=1),
        SavedField("weight", shape=("n_rows",), is_optional=True, least=0),
        SavedField("seeds", "integer", ("members",), least=0),
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        for name in ("bootstrap", "warm_start"):
            check_truth(name, getattr(self, name))
        check_verbose(self.verbose)
        check_random_seed("random_state", self.random_state)
        check_count_or_fraction("max_samples", self.max_samples, 1, words=(None,))
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "max_samples must be None with bootstrap=False, since it is the size "
                f"of a bootstrap sample; got {self.max_samples!r}."
            )

    @abstractmethod
    def _make_template(self):
        """Make the estimator of which members are copies."""

    @abstractmethod
    def _plan_perturbation(self, codes, weight):
        """Return what gives the perturbed outputs for a seed."""

    @abstractmethod
    def _make_tree_target(self, perturb, seed):
        """Make the target of a tree of this package."""

    @abstractmethod
    def _make_target(self, perturb, seed):
        """Make the target of any other estimator."""

    @abstractmethod
    def _read_outputs(self, y, codes):
        """Return what the table is read with, before any perturbation."""

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for class frequencies and for fitting the members. With
            ``bootstrap=True``, rows are instead drawn with probabilities proportional
            to their weights.

        Returns
        -------
        self : estimator
            The fitted ensemble.
        """
        self._check_parameters()
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        context = self._init_callback_context(max_subtasks=self.n_estimators)
        hooks = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context.call_on_fit_task_begin(**hooks)
        labels, codes = self._read_labels(X, y)
        self.estimator_ = self._make_template()
        if is_tree(self.estimator_):
            read = self._read_outputs(labels, codes)
            table = MemberGrower(
                self.estimator_, X, read, owner=self, n_jobs=self.n_jobs
            )
            n_rows = table.n_rows
        else:
            table = read_table(self, X)
            check_consistent_length(table, labels)
            n_rows = table.shape[0]
        draw = self._plan_draw(n_rows, sample_weight)
        perturb = self._plan_perturbation(codes, draw.weight)
        self._grow(self._make_grower(table, perturb), draw, context, hooks)
        context.call_on_fit_task_end(**hooks)
        return self

    def _read_labels(self, X, y):
        """Read the labels; give every class a number."""
        if y is None:
            # Raises the usual error of scikit-learn.
            validate_data(self, X, y, skip_check_array=True)
        y = column_or_1d(decode_dictionary(y), warn=True)
        labels = check_target(y, is_numeric=False)
        (self.classes_,), codes = encode_labels(labels)
        self.n_classes_ = len(self.classes_)
        return labels[:, 0], codes[:, 0]

    def _repeats_columns(self) -> bool:
        """Whether a member may get a column twice."""
        return False

    def _plan_draw(self, n_rows, sample_weight):
        """Plan which rows a member is fitted to."""
        weight = check_weights(sample_weight, n_rows)
        takes_weight = has_fit_parameter(self.estimator_, "sample_weight")
        takes_weight = takes_weight or is_tree(self.estimator_)
        if weight is not None and not self.bootstrap and not takes_weight:
            name = type(self.estimator_).__name__
            raise ValueError(
                f"sample_weight was given, but {name}.fit does not accept it. Set "
                "bootstrap=True to draw rows by their weights instead."
            )
        n_drawn = None
        if self.bootstrap:
            n_drawn = count_drawn_rows(self.max_samples, n_rows, weight)
        self._draw = (n_rows, n_drawn, weight)
        return RowDraw(*self._draw)

    def _make_grower(self, table, perturb):
        """Make what grows the member of a seed."""
        if isinstance(table, MemberGrower):
            table.expect_many()
            return PerturbedTrees(table, partial(self._make_tree_target, perturb))
        draw_target = partial(self._make_target, perturb)
        return PerturbedEstimators(self.estimator_, table, draw_target, self.bootstrap)

    def _grow(self, grower, draw, context, hooks):
        """Grow the new members."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            self.estimators_, self._seeds = [], []
        members = list(self.estimators_)
        n_new = count_lacking(self.n_estimators, len(members))
        if n_new == 0:
            warn_of_no_lack()
            return
        seeds = draw_seeds(self.random_state, len(members), n_new)

        def describe():
            return {"estimators_": list(members), **self._describe()}

        grown = grow_members(grower, draw, seeds, self.n_jobs, self.verbose)
        for member in yield_until_stopped(grown, context, "member", hooks, describe):
            members.append(member)
        self._seeds = (self._seeds + seeds)[: len(members)]
        self.estimators_ = members

    def _describe(self):
        """List the fitted attributes other than the members, for callbacks."""
        fitted = vars(self).items()
        return {
            name: value
            for name, value in fitted
            if name.endswith("_") and name != "estimators_"
        }

    def _list_draws(self):
        draw = RowDraw(*self._draw)
        return [(draw, seed) for seed in self._seeds]

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        first = self.estimators_[0]
        if not is_tree(self.estimator_):
            return first
        return copy(first).set_params(**self.estimator_.get_params(deep=False))

    def _list_saved(self):
        names = ("n_rows", "n_drawn_rows", "weight")
        kept = dict(zip(names, self._draw, strict=True))
        return {**kept, "seeds": np.array(self._seeds), **super()._list_saved()}

    def _restore(self, reader, members, columns, kept) -> None:
        # Members of the wrong kind are refused as a parameter.
        clone(self).set_params(estimator=clone(reader))._check_parameters()
        n_drawn, weight = kept.pop("n_drawn_rows", None), kept.pop("weight", None)
        self._draw = (kept.pop("n_rows"), n_drawn, weight)
        self._seeds = kept.pop("seeds").tolist()
        self.estimator_ = clone(reader)
        shape = members[0].tree_.node_shape
        fits = shape in ((1, self.n_classes_), (self.n_classes_, 1))
        fits &= all(of_member is None for of_member in columns)
        if not fits or (weight is not None and not weight.any()):
            raise ValueError("outputs, columns or weights of the members do not fit")
        super()._restore(reader, members, columns, kept)

    # ------------------------------------------------------------------ prediction
    def _predict_blocks(self, X, predict):
        """Call a function on what a new table is read as, block by block."""
        check_is_fitted(self)
        if not is_tree(self.estimator_):
            return predict(read_table(self, X, reset=False))
        blocks = read_blocks(self, X, self.estimators_[0])
        parts = [predict(matrix) for matrix in blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _sum_predictions(self, table, *, votes=False):
        """Add up the predictions of the members; shape (n_rows, n_classes)."""
        if is_tree(self.estimator_):
            return self._sum_trees(table, votes)
        predict = partial(self._predict_member, X=table, votes=votes)
        parallel = open_parallel(n_jobs=count_jobs(self.n_jobs), prefer="threads")
        tasks = ((predict, member) for member in self.estimators_)
        predictions = yield_results(parallel, tasks)
        return sum(predictions, np.zeros((table.shape[0], self.n_classes_)))

    def _sum_trees(self, matrix, votes):
        members = self.estimators_
        trees = [m.tree_ if votes else get_shown_tree(m) for m in members]
        out = np.zeros((matrix.shape[0], *trees[0].node_shape))
        n_threads = count_threads(self.n_jobs, matrix.size * len(trees))
        names = self.estimators_[0].schema_.names
        add_predictions(trees, matrix, out, n_threads, names, votes)
        # Classes are statistics of one output, or outputs of one statistic.
        return out.reshape(matrix.shape[0], self.n_classes_)

    @abstractmethod
    def _predict_member(self, member, X, votes):
        """Predict with a member of another package; shape (n_rows, n_classes)."""

    @abstractmethod
    def _compute_probabilities(self, table):
        """Compute class probabilities."""

    @abstractmethod
    def _choose_classes(self, table):
        """Choose a class number for every row."""

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``; each row sums to 1.
        """
        return self._predict_blocks(X, self._compute_probabilities)

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Compute the natural logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            ``-inf`` where a probability is 0.
        """
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(probabilities)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        best = self._predict_blocks(X, self._choose_classes)
        return self.classes_.take(best)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_member = get_tags(self._make_template()).input_tags
        for name in ("sparse", "categorical", "string", "allow_nan"):
            setattr(tags.input_tags, name, getattr(of_member, name))
        return tags
