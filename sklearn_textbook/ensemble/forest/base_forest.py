"""Base class of all forests: growing, out-of-bag estimates, prediction."""

from __future__ import annotations

from abc import ABC
from copy import copy
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.all_or_nothing import all_or_nothing
from sklearn_textbook._contract.callbacks import CallbackSupportMixin, with_callbacks
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.kept import Kept
from sklearn_textbook._contract.parameters import (
    LARGEST_INTEGER,
    check_choice,
    check_integer,
    check_random_seed,
    check_truth,
    check_verbose,
    is_checked,
    is_integer,
    is_real,
    show_value,
)
from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.forest.forest_measures import ForestMeasures
from sklearn_textbook.ensemble.members.growth import (
    count_jobs,
    grow_batch,
    grow_members,
)
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    count_lacking,
    warn_of_no_lack,
    yield_until_stopped,
)
from sklearn_textbook.ensemble.members.tree_list import TreeListMixin
from sklearn_textbook.ensemble.out_of_bag import (
    ATTRIBUTES,
    KEPT_OUT_OF_BAG,
    OutOfBagMixin,
    check_oob_score,
    take_rows,
)
from sklearn_textbook.ensemble.resample import (
    BalancedRowDraw,
    RowDraw,
    count_drawn_rows,
    draw_seeds,
)
from sklearn_textbook.tree.members import (
    MemberGrower,
    NamedPruner,
    add_predictions,
    read_matrix,
)

#: Parameters that CART members have under the forest's names.
CART_PARAMETERS = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "pruning",
    "monotonic_cst",
    "categorical_features",
    "categorical_smoothing",
    "handle_unknown",
    "tie_breaking",
    "top_splits",
)


def select_parameters(arguments):
    """Select the parameters of a forest from ``locals()`` of its ``__init__``.

    Parameters
    ----------
    arguments : dict of str to object
        The parameters, with ``self`` and ``__class__``.

    Returns
    -------
    parameters : dict of str to object
        For ``__init__`` of a base class.
    """
    others = ("self", "__class__")
    return {name: arguments[name] for name in arguments if name not in others}


class BaseForest(
    ForestMeasures,
    OutOfBagMixin,
    TreeListMixin,
    NamedPruner,
    MemberList,
    CallbackSupportMixin,
    BaseEstimator,
    ABC,
):
    """Growing and reading a forest of trees."""

    _splitter = "best"
    _missing = ("auto", "learned", "branch", "surrogate", "error")
    _categorical_splits = ("auto", "subset", "one_vs_rest", "multiway")
    # The rows of every tree are drawn again from these.
    _kept = (
        Kept("_n_samples", "integer", least=1),
        Kept("_n_samples_bootstrap", "integer", is_optional=True, least=1),
        Kept("_sample_weight", shape=("_n_samples",), is_optional=True, least=0),
        *KEPT_OUT_OF_BAG,
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self):
        check_integer("n_estimators", self.n_estimators, 1)
        check_choice("criterion", self.criterion, self._criteria)
        check_choice("missing", self.missing, self._missing)
        check_choice(
            "categorical_split", self.categorical_split, self._categorical_splits
        )
        check_n_jobs(self.n_jobs)
        for name in ("bootstrap", "warm_start"):
            check_truth(name, getattr(self, name))
        check_verbose(self.verbose)
        check_random_seed("random_state", self.random_state)
        self._check_max_samples()
        check_oob_score(self.oob_score)
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to "
                "`bootstrap=True` or set `max_sample=None`; got "
                f"max_samples={self.max_samples!r}."
            )
        if not self.bootstrap and self.oob_score:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True, since "
                "otherwise each tree is grown on all rows; got oob_score="
                f"{self.oob_score!r}."
            )

    def _check_max_samples(self):
        value = self.max_samples
        if value is None or not is_checked():
            return
        is_count = is_integer(value) and 1 <= value <= LARGEST_INTEGER
        is_fraction = not is_integer(value) and is_real(value) and 0 < value < np.inf
        if not is_count and not is_fraction:
            raise ValueError(
                "The 'max_samples' parameter must be None, an int in the range "
                "[1, inf) or a float in the range (0.0, inf); got "
                f"{show_value(value)} of type {type(value).__name__}."
            )

    def _make_template(self):
        """Make the tree of which members are copies."""
        cart = {name: getattr(self, name) for name in CART_PARAMETERS}
        missing = "learned" if self.missing == "auto" else self.missing
        split = self.categorical_split
        return self._cart(
            splitter=self._splitter,
            missing=missing,
            categorical_split="subset" if split == "auto" else split,
            **cart,
        )

    @property
    def estimator(self):
        """The base estimator with which the forest would be fitted now.

        Returns
        -------
        template : tree estimator
            A new tree, not fitted.
        """
        return self._make_template()

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Grow the forest.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. With ``bootstrap=True``, rows are drawn with
            probabilities proportional to their weights, as in scikit-learn since 1.9;
            otherwise the weights are passed to each tree.

        Returns
        -------
        self : estimator
            The fitted forest.
        """
        self._check_parameters()
        template = self._make_template()
        if sparse.issparse(y):
            raise ValueError("sparse multilabel-indicator for y is not supported.")
        if _is_column(y):
            warn_caller(
                "A column-vector y was passed when a 1d array was expected. Please "
                "change the shape of y to (n_samples,), for example using ravel().",
                DataConversionWarning,
            )
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        n_new = self._count_new_members()
        context = self._init_callback_context(max_subtasks=n_new)
        hooks = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context.call_on_fit_task_begin(**hooks)
        grower = MemberGrower(
            template, X, y, owner=self, n_jobs=self.n_jobs, max_bins=self.max_bins
        )
        draw = None
        if self._fits_to_members(grower.reader, n_new):
            self.estimator_ = template
            self._read_target(grower.reader)
            draw = self._plan_draw(grower, sample_weight)
        self._grow(grower, draw, n_new, context, hooks)
        if self.oob_score and draw is not None and not hasattr(self, "oob_score_"):
            self._set_oob_score_and_attributes(grower.rows)
        context.call_on_fit_task_end(**hooks)
        return self

    def _count_new_members(self):
        """Count the trees to add; drop those of an earlier fit without warm start."""
        if not self.warm_start:
            vars(self).pop("estimators_", None)
        n_new = count_lacking(self.n_estimators, len(getattr(self, "estimators_", ())))
        if n_new > 0:
            for name in ATTRIBUTES:
                vars(self).pop(name, None)
        return n_new

    def _fits_to_members(self, reader, n_new):
        """Return whether a table has the columns and classes of the kept trees.

        Raises ValueError if it does not, although there are trees to add.
        """
        if not getattr(self, "estimators_", None):
            return True
        known = self.estimators_[0]
        columns, new = known.schema_.columns, reader.schema_.columns
        what = None
        if [(column.kind, column.levels) for column in columns] != [
            (column.kind, column.levels) for column in new
        ]:
            what = "columns, kinds and levels"
        elif self.n_outputs_ != reader.n_outputs_ or not _are_equal(
            getattr(known, "classes_", None), getattr(reader, "classes_", None)
        ):
            what = "outputs and classes"
        if what is None:
            return True
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
            if hasattr(known, name):
                setattr(self, name, getattr(known, name))
        if n_new > 0:
            raise ValueError(
                "warm_start=True adds trees to those of the last fit, so X and y must "
                f"have the same {what}. Set warm_start=False to refit."
            )
        return False

    def _read_target(self, reader):
        """Take over what the target was."""
        self.n_outputs_ = reader.n_outputs_

    def _plan_draw(self, grower, sample_weight):
        """Plan which rows a member is fitted to."""
        weight = check_weights(sample_weight, grower.n_rows)
        weight, balanced_labels = self._weigh_classes(grower.rows.target, weight)
        self._n_samples, self._sample_weight = grower.n_rows, weight
        self._n_samples_bootstrap = None
        if self.bootstrap:
            self._n_samples_bootstrap = count_drawn_rows(
                self.max_samples, grower.n_rows, weight
            )
        if balanced_labels is None:
            return self._make_draw()
        return BalancedRowDraw(
            grower.n_rows, self._n_samples_bootstrap, weight, labels=balanced_labels
        )

    def _weigh_classes(self, target, weight):
        """Multiply weights by those of the classes."""
        return weight, None

    def _grow(self, grower, draw, n_new, context, hooks):
        """Grow the new trees."""
        members = list(getattr(self, "estimators_", ()))
        if n_new == 0:
            warn_of_no_lack()
            return
        seeds = draw_seeds(self.random_state, len(members), n_new)
        grower.expect_many()

        def describe():
            return {"estimators_": list(members), **self._describe()}

        # Threads that no tree is left for help with the others.
        n_threads = count_threads(
            max(1, count_jobs(self.n_jobs) // n_new), grower.n_rows * grower.n_columns
        )
        grown = grow_members(
            grower,
            draw,
            seeds,
            self.n_jobs,
            self.verbose,
            grow_batch=partial(grow_batch, n_threads=n_threads),
        )
        for member in yield_until_stopped(grown, context, "tree", hooks, describe):
            members.append(member)
        self.estimators_ = members

    def _describe(self):
        """List the fitted attributes other than the trees, for callbacks."""
        names = (
            *("n_features_in_", "feature_names_in_", "n_outputs_", "estimator_"),
            *("_n_samples", "_n_samples_bootstrap", "_sample_weight"),
        )
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def _describe_sum(self):
        """Describe the sum over trees that the model is."""
        return self._sum_members(
            is_mean=True,
            is_vote=getattr(self, "voting", None) == "hard",
            divides_first=is_classifier(self),
        )

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        reader = copy(self.estimators_[0])
        return reader.set_params(**self.estimator_.get_params(deep=False))

    def _restore(self, reader, members, columns, kept):
        self.estimator_ = clone(reader)
        self._n_samples_bootstrap = self._sample_weight = None
        super()._restore(reader, members, columns, kept)
        self._read_target(reader)
        weight = self._sample_weight
        if weight is not None and not weight.any():
            raise ValueError("_sample_weight must have an entry above 0")

    # ------------------------------------------------------------------ out of bag
    def _make_draw(self):
        """Make the draw of the fitted members again."""
        return RowDraw(self._n_samples, self._n_samples_bootstrap, self._sample_weight)

    def _list_draws(self):
        draw = self._make_draw()
        return [(draw, member.random_state) for member in self.estimators_]

    def _set_oob_score_and_attributes(self, rows):
        """Estimate the error by out-of-bag rows."""
        matrix, target = rows.matrix, rows.target
        matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
        n_threads = count_threads(self.n_jobs, matrix.size)
        n_statistics = self.estimators_[0].tree_.node_shape
        votes = self._counts_votes()

        def predict(number, rows):
            member = self.estimators_[number]
            out = np.zeros((len(rows), *n_statistics))
            names = member.schema_.names
            unseen = take_rows(matrix, rows)
            add_predictions([member.tree_], unseen, out, n_threads, names, votes)
            return out

        known = target.codes if target.is_classifier else target.values
        self._estimate_out_of_bag(predict, known, n_statistics[1])

    def _counts_votes(self):
        """Return whether trees vote for classes instead of predicting probabilities."""
        return False

    # ------------------------------------------------------------------ prediction
    def _sum_predictions(self, matrix, *, votes=False):
        """Add up the predictions of the trees for every row of a matrix."""
        trees = [member.tree_ for member in self.estimators_]
        out = np.zeros((matrix.shape[0], *trees[0].node_shape))
        n_threads = count_threads(self.n_jobs, matrix.size * len(trees))
        names = self.estimators_[0].schema_.names
        add_predictions(trees, matrix, out, n_threads, names, votes)
        return out

    def decision_path(self, X):
        """Find the nodes that each row passes through, for each tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        indicator : csr_matrix or csr_array of shape (n_samples, n_nodes)
            1 if the row passes through the node; the nodes of all trees side by side.
        n_nodes_ptr : ndarray of int64, shape (n_estimators + 1,)
            The nodes of tree i are the columns from ``n_nodes_ptr[i]`` to
            ``n_nodes_ptr[i + 1]``.
        """
        check_is_fitted(self)
        matrix = read_matrix(self, X, self.estimators_[0])
        paths = [member.tree_.decision_path(matrix) for member in self.estimators_]
        widths = [0, *(path.shape[1] for path in paths)]
        return sparse.hstack(paths, format="csr"), np.cumsum(widths)

    @property
    def feature_importances_(self):
        """Importance of each column: its share of the decrease of impurity.

        This is the mean over the trees.

        Returns
        -------
        importances : ndarray of float64, shape (n_features,)
            Sums to 1; all zero if no tree has a split.
        """
        check_is_fitted(self)
        of_trees = [
            member.tree_.compute_feature_importances()
            for member in self.estimators_
            if member.tree_.node_count > 1
        ]
        if not of_trees:
            return np.zeros(self.n_features_in_)
        mean = np.mean(of_trees, axis=0)
        total = mean.sum()
        return mean / total if total > 0 else mean

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.target_tags.multi_output = self._takes_several_outputs()
        return tags


def _is_column(y):
    """Return whether the target is a table of one column."""
    if isinstance(y, (list, tuple)):
        first = y[0] if len(y) else None
        return isinstance(first, (list, tuple)) and len(first) == 1
    shape = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] == 1


def _are_equal(classes, others):
    """Return whether the classes of all outputs are the same."""
    if not isinstance(classes, list):
        classes, others = [classes], [others]
    pairs = zip(classes, others, strict=True)
    return all(np.array_equal(some, other) for some, other in pairs)
