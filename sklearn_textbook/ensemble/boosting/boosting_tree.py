"""Regression trees that are added up, each fitted to the residuals, 提升树."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.parameters import (
    check_integer,
    check_real,
    check_truth,
    check_verbose,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.scoring import RegressorMixin
from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.boosting.staged_mixins import StagedPredictionMixin
from sklearn_textbook.ensemble.members.growth import grow_aside
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    TreeListMixin,
    count_lacking,
    warn_of_no_lack,
    yield_until_stopped,
)
from sklearn_textbook.tree import CARTRegressor
from sklearn_textbook.tree.members import (
    MemberGrower,
    add_predictions,
    make_value_target,
    read_matrix,
    store_blocks,
)

#: Parameters that the trees have under the same names.
TREE_PARAMETERS = (
    "max_depth",
    "max_leaf_nodes",
    "min_samples_leaf",
    "categorical_features",
    "missing",
)


class ResidualRounds:
    """The rounds of boosting, and the sums of the trees for the training rows.

    Parameters
    ----------
    grower : MemberGrower
        Has read the table.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows.
    learning_rate : float
        What the trees are multiplied by.
    members : sequence of tree estimator
        The trees of earlier rounds.
    verbose : int
        Whether every round prints its loss.
    """

    def __init__(self, grower, weight, learning_rate, members, verbose) -> None:
        matrix = grower.rows.matrix
        self.matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
        self.grower, self.weight, self.verbose = grower, weight, verbose
        self.learning_rate = learning_rate
        self.values = grower.rows.target.values[:, 0]
        self.sums = np.zeros((grower.n_rows, 1, 1))
        self.losses, self.n_rounds = [], len(members)
        self.add([member.tree_ for member in members])

    def add(self, trees) -> None:
        """Add the predictions of trees for the training rows."""
        rates = np.full(len(trees), self.learning_rate)
        n_threads, names = self.grower.n_threads, self.grower.reader.schema_.names
        add_predictions(trees, self.matrix, self.sums, n_threads, names, weights=rates)

    def grow(self):
        """Grow the tree of the next round, and compute the loss."""
        residuals = self.values - self.sums[:, 0, 0]
        member = self.grower.grow(
            self.weight,
            target=make_value_target(residuals),
            n_threads=self.grower.n_threads,
        )
        self.add([member.tree_])
        self.n_rounds += 1
        self.losses.append(self._sum_squares())
        if self.verbose:
            print(f"round {self.n_rounds}: squared error {self.losses[-1]:.6g}")
        return member

    def _sum_squares(self):
        with np.errstate(over="ignore"):
            squares = np.square(self.values - self.sums[:, 0, 0])
            loss = float(
                np.sum(squares if self.weight is None else self.weight * squares)
            )
        if not np.isfinite(loss):
            raise ValueError(
                f"The squared error is not finite after round {self.n_rounds}: with "
                f"learning_rate={self.learning_rate}, it grows from round to round. "
                "Use a learning_rate of at most 1."
            )
        return loss


def grow_round(rounds, _draw, _batch):
    """Grow the tree of a round, in the form of ``grow_aside``."""
    return [rounds.grow()]


class BoostingTreeRegressor(
    StagedPredictionMixin,
    RegressorMixin,
    TreeListMixin,
    MemberList,
    CallbackSupportMixin,
    BaseEstimator,
):
    r"""Boosting tree for regression (回归问题的提升树): trees fitted to residuals.

    Starting with :math:`f_0(x) = 0`, each round fits a regression tree :math:`T_m` to
    the current residuals by least squares and adds it:

    .. math::

        r_{mi} = y_i - f_{m-1}(x_i), \qquad f_m(x) = f_{m-1}(x) + \eta\, T_m(x),
        \qquad f_M(x) = \sum_{m=1}^M \eta\, T_m(x)

    As in the textbook, the trees have two leaves (stumps) and are not shrunk by
    default.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees M.
    learning_rate : float, default=1.0
        Factor :math:`\eta` applied to each tree; with values of 2 or more, the training
        error grows from round to round.
    max_depth : int, default=1
        Maximum depth of a tree. None: no limit.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of a tree, grown best-first; requires a ``max_depth``
        that allows as many.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each leaf; a float is a fraction of all rows.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered ones
        are ordinal), none, or given by a mask, indices or names.
    missing : {"learned", "branch", "surrogate", "error"}, default="learned"
        How missing values are treated, as in
        :class:`~sklearn_textbook.tree.CARTRegressor`.
    max_bins : int, default=None
        Maximum number of groups of neighbouring values into which a numeric column is
        divided. None: thresholds are exact.
    n_jobs : int, default=None
        Number of threads. None: one per core, or fewer inside a parallel call. The
        result does not depend on it.
    verbose : int, default=0
        Whether to print the squared error of each round.
        Whether every round prints its squared error.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted trees and adds new ones, up to
        ``n_estimators``.

    Attributes
    ----------
    estimators_ : list of CARTRegressor
        The trees.
    train_losses_ : ndarray of float64, shape (n_estimators,)
        :math:`L(y, f_m) = \sum_i w_i (y_i - f_m(x_i))^2` over the training rows, after
        each round.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: its fraction of the decrease of the squared error
        over all trees.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.

    See Also
    --------
    fit_additive_model : The same algorithm for any loss and any member.
    sklearn.ensemble.GradientBoostingRegressor : Gives the same trees with
        ``init="zero"``, ``learning_rate=1`` and ``max_depth=1``, up to ties and up to
        thresholds, which it rounds to float32.

    Notes
    -----
    The algorithm is deterministic: of equally good splits, a tree uses the first column
    and the lowest threshold. A round takes one pass over the sorted columns for each
    level of the tree, O(rows x columns x depth).

    References
    ----------
    .. [1] 李航《统计学习方法》(第2版), section 8.4, algorithm 8.3, example 8.2.
    .. [2] J. H. Friedman. "Greedy function approximation: a gradient boosting machine",
       Annals of Statistics 29(5), 2001, algorithm 2.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_boosting_tree_example
    >>> from sklearn_textbook.ensemble import BoostingTreeRegressor
    >>> X, y = load_boosting_tree_example(return_X_y=True)
    >>> model = BoostingTreeRegressor(n_estimators=6).fit(X, y)
    >>> model.train_losses_.round(2)
    array([1.93, 0.8 , 0.48, 0.31, 0.23, 0.17])
    >>> [float(tree.tree_.threshold[0]) for tree in model]
    [6.5, 3.5, 6.5, 4.5, 6.5, 2.5]
    """

    _store_blocks = store_blocks
    _saved_fields = (SavedField("train_losses_", shape=("members",)),)

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 1.0,
        max_depth: int = 1,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        missing: str = "learned",
        max_bins: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.missing = missing
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start

    # --------------------------------------------------------------------- fitting
    def _check_parameters(self) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        check_real("learning_rate", self.learning_rate, 0.0)
        check_truth("warm_start", self.warm_start)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)

    def _make_template(self):
        """Make the tree of which members are copies."""
        return CARTRegressor(**{name: getattr(self, name) for name in TREE_PARAMETERS})

    @all_or_nothing
    @with_callbacks
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the trees one after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the squared residuals; a weight of 2 counts as two equal rows.

        Returns
        -------
        self : BoostingTreeRegressor
            The fitted ensemble.

        Raises
        ------
        ValueError
            If a parameter, the table, the target or a weight is invalid.
        """
        self._check_parameters()
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        if not self.warm_start:
            vars(self).pop("estimators_", None)
        members = list(getattr(self, "estimators_", ()))
        n_new = count_lacking(self.n_estimators, len(members))
        context = self._init_callback_context(max_subtasks=n_new)
        hooks = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context.call_on_fit_task_begin(**hooks)
        if y is not None:
            y = column_or_1d(check_numbers(y, type(self).__name__), warn=True)
        grower = MemberGrower(
            self._make_template(),
            X,
            y,
            owner=self,
            n_jobs=self.n_jobs,
            max_bins=self.max_bins,
        )
        self._require_same_columns(members, grower.reader)
        weight = check_weights(sample_weight, grower.n_rows)
        if n_new == 0:
            warn_of_no_lack()
        else:
            rate = float(self.learning_rate)
            rounds = ResidualRounds(grower, weight, rate, members, self.verbose)
            self._grow(rounds, members, n_new, context, hooks)
        context.call_on_fit_task_end(**hooks)
        return self

    def _describe_sum(self):
        """Describe the sum over trees that the model is."""
        rates = np.full(len(self.estimators_), float(self.learning_rate))
        return self._sum_members(weights=rates)

    def _require_same_columns(self, members, reader):
        """Raise ValueError if the trees of a warm start were grown of other columns."""
        if not members:
            return
        known, new = (
            [(column.kind, column.levels) for column in tree.schema_.columns]
            for tree in (members[0], reader)
        )
        if known == new:
            return
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
            if hasattr(members[0], name):
                setattr(self, name, getattr(members[0], name))
        raise ValueError(
            "warm_start=True adds trees to those of the last fit, so X must have the "
            "same columns, kinds and levels. Set warm_start=False to refit."
        )

    def _grow(self, rounds, members, n_new, context, hooks) -> None:
        """Grow the new trees."""
        before = list(self.train_losses_) if members else []

        def describe():
            known = ("n_features_in_", "feature_names_in_")
            fitted = {
                name: getattr(self, name) for name in known if hasattr(self, name)
            }
            losses = np.array([*before, *rounds.losses])
            return {"estimators_": list(members), "train_losses_": losses, **fitted}

        grown = grow_aside(rounds, None, range(n_new), grow_round)
        for member in yield_until_stopped(grown, context, "tree", hooks, describe):
            members.append(member)
        self.estimators_ = members
        self.train_losses_ = np.array([*before, *rounds.losses])

    # ------------------------------------------------------------------ prediction
    def _add(self, trees, matrix, out) -> None:
        """Add predictions of trees, times the learning rate, to sums."""
        n_threads = count_threads(self.n_jobs, matrix.size * len(trees))
        names = self.estimators_[0].schema_.names
        rates = np.full(len(trees), float(self.learning_rate))
        add_predictions(trees, matrix, out, n_threads, names, weights=rates)

    def _sum_trees(self, matrix):
        out = np.zeros((matrix.shape[0], 1, 1))
        self._add([member.tree_ for member in self.estimators_], matrix, out)
        return out

    def _compute_raw(self, X):
        return self._predict_blocks(X, self._sum_trees)

    def _stage_raw(self, X):
        check_is_fitted(self)
        matrix = read_matrix(self, X, self.estimators_[0])
        out = np.zeros((matrix.shape[0], 1, 1))
        for member in self.estimators_:
            self._add([member.tree_], matrix, out)
            yield out

    def _to_target(self, raw):
        return raw[:, 0, 0].copy()

    def compute_residual_table(self, X: MatrixLike, y: ArrayLike) -> np.ndarray:
        """Compute the residuals before the first and after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, such as the training table.
        y : array-like of shape (n_samples,)
            Their target values.

        Returns
        -------
        residuals : ndarray of float64, shape (n_estimators + 1, n_samples)
            Row m contains :math:`y - f_m(x)`, to which the tree of round m + 1 is
            fitted.
        """
        check_is_fitted(self)
        y = column_or_1d(check_numbers(y, type(self).__name__))
        stages = list(self.staged_predict(X))
        if len(y) != len(stages[0]):
            raise ValueError(
                f"y must have one value per row of X, {len(stages[0])} in all, got "
                f"{len(y)}."
            )
        return y - np.stack([np.zeros(len(y)), *stages])

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each column: its fraction of the decrease of the squared error.

        Returns
        -------
        importances : ndarray of float64, shape (n_features,)
            Sums to 1; all zero if no tree has a split.
        """
        check_is_fitted(self)
        decreases = sum(
            member.tree_.compute_feature_importances(normalize=False)
            for member in self.estimators_
        )
        total = decreases.sum()
        return decreases / total if total > 0 else decreases

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_tree = get_tags(self._make_template()).input_tags
        for name in ("sparse", "categorical", "string", "allow_nan"):
            setattr(tags.input_tags, name, getattr(of_tree, name))
        return tags
