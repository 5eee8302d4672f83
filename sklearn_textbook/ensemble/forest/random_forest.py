"""Random forests, 随机森林, and what all forests of trees have."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target
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
from sklearn_textbook._contract.labels import (
    decode_labels,
    split_probabilities,
    take_logarithms,
)
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
    suggest,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.scoring import ClassifierMixin, RegressorMixin
from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import (
    balance_classes,
    check_class_weight,
    check_weights,
)
from sklearn_textbook.ensemble.conformal import IntervalMixin, PredictionSetMixin
from sklearn_textbook.ensemble.forest.permutation_importances import (
    compute_permutation_importances,
)
from sklearn_textbook.ensemble.forest.proximities import compute_proximities
from sklearn_textbook.ensemble.leaf_rows import LeafRows, predict_quantiles
from sklearn_textbook.ensemble.members.growth import (
    count_at_once,
    count_jobs,
    grow_batch,
    grow_members,
)
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    TreeListMixin,
    count_lacking,
    warn_of_no_lack,
    yield_until_stopped,
)
from sklearn_textbook.ensemble.out_of_bag import (
    ATTRIBUTES,
    KEPT_OUT_OF_BAG,
    OutOfBagMixin,
    check_oob_score,
)
from sklearn_textbook.ensemble.resample import (
    BalancedRowDraw,
    RowDraw,
    count_drawn_rows,
    draw_seeds,
)
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor
from sklearn_textbook.tree.members import (
    MemberGrower,
    NamedPruner,
    add_predictions,
    read_blocks,
    read_matrix,
    store_blocks,
)

# ------------------------------------------------------------------------------------
# Class weights of an ensemble whose members are trained on samples of the rows.
# ------------------------------------------------------------------------------------


PRESETS = ("balanced", "balanced_subsample")


def check_preset(class_weight, warm_start):
    """Require a preset, a dictionary or a list of them; warn of presets that drift."""
    if class_weight is None or isinstance(class_weight, (dict, list)):
        return
    if not isinstance(class_weight, str) or class_weight not in PRESETS:
        raise ValueError(
            "The 'class_weight' parameter must be None, a dict, a list of dicts, "
            f"'balanced' or 'balanced_subsample'; got {class_weight!r}."
            f"{suggest(class_weight, PRESETS)}"
        )
    if warm_start:
        warn_caller(
            f"class_weight={class_weight!r} is not recommended with warm_start=True, "
            "since the weights of later trees depend on the rows of the later fit. "
            "Pass the weights as a dict instead.",
            UserWarning,
        )


def weigh_classes(
    class_weight, labels: np.ndarray, sample_weight: np.ndarray | None
) -> np.ndarray:
    """Weight of each row by its classes."""
    if not isinstance(class_weight, str):
        check_class_weight(class_weight, 1 if labels.ndim == 1 else labels.shape[1])
        return compute_sample_weight(class_weight, labels)
    weight = np.ones(len(labels))
    for of_output in labels.reshape(len(labels), -1).T:
        codes = np.unique(of_output, return_inverse=True)[1]
        weight *= balance_classes(codes, sample_weight)[codes]
    return weight


if TYPE_CHECKING:
    from sklearn.utils import Bunch


# ------------------------------------------------------------------------------------
# Proximities of rows and importances of columns in a forest.
# ------------------------------------------------------------------------------------


class ForestMeasures:
    """Proximities of rows, and importances of columns by permutation."""

    def proximities(
        self,
        X: MatrixLike,
        Y: MatrixLike | None = None,
        *,
        out_of_bag: bool = False,
        dense: bool = True,
    ) -> np.ndarray | Any:
        """Compute the proximity of rows: the fraction of trees with both in one leaf.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : table of shape (n_others, n_features), default=None
            Rows to compare them with. None: X itself.
        out_of_bag : bool, default=False
            Whether to use only the trees for which both rows are out of bag; X must
            then be the training table.
        dense : bool, default=True
            Whether to return an array or a sparse matrix.

        Returns
        -------
        proximities : ndarray, csr_matrix or csr_array, shape (n_samples, n_others)
            See :func:`~sklearn_textbook.ensemble.compute_proximities`.
        """
        return compute_proximities(self, X, Y, out_of_bag=out_of_bag, dense=dense)

    def permutation_importances(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        n_repeats: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> Bunch:
        r"""Compute how much a permuted column increases the error, 置换重要性.

        For each tree t, the values of column j are permuted among its out-of-bag rows
        :math:`O_t`, and the increase of its error on them is computed:

        .. math:: I_{jt} = \frac{1}{|O_t|} \sum_{i \in O_t} \left[
            L(y_i, h_t(x_i^{(j)})) - L(y_i, h_t(x_i)) \right]

        In classification, L is 1 for a wrong class and 0 for the right one; in
        regression, it is the squared error. The importance of a column is the mean over
        the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table, with its rows in the same order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The training target.
        n_repeats : int, default=1
            Number of permutations of a column for each tree.
        random_state : int, RandomState instance or None, default=None
            Seed for the permutations.

        Returns
        -------
        importances : Bunch
            ``importances``, of shape (n_features, n_estimators), contains the increase
            for each tree, averaged over the repeats; ``importances_mean`` and
            ``importances_std``, of shape (n_features,), are taken over the trees.

        Raises
        ------
        ValueError
            If the forest has ``bootstrap=False``, or if X or y do not have the shape of
            the training data.

        Notes
        -----
        A column that a tree does not test cannot change its error and costs nothing.
        ``sklearn.inspection.permutation_importance`` permutes a column of all rows
        given and scores the forest as a whole. On training rows, which the trees have
        seen, it therefore overestimates importances, and if two columns are redundant,
        the trees that use the other one hide the effect. Here, each tree is scored
        individually, on rows that it has not seen. With ``pruning="out_of_bag"``, these
        rows have been used for pruning, so importances are somewhat too large.

        References
        ----------
        L. Breiman (2001), Random forests, Machine Learning 45, section 10.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn_textbook.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
        >>> result = forest.permutation_importances(X, y, random_state=0)
        >>> result.importances.shape
        (4, 100)
        >>> int(result.importances_mean.argmin())  # the width of the sepals
        1
        """
        return compute_permutation_importances(
            self, X, y, n_repeats=n_repeats, random_state=random_state
        )


if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

# ------------------------------------------------------------------------------------
# Base class of all forests: growing, out-of-bag estimates, prediction.
# ------------------------------------------------------------------------------------


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
    "cost_matrix",
    "monotonic_cst",
    "categorical_features",
    "categorical_smoothing",
    "handle_unknown",
    "tie_breaking",
    "top_splits",
    "leaf_model",
    "leaf_shrinkage",
)


def take_parameters(forest, names) -> dict[str, object]:
    """Take those of some parameters that a forest has."""
    return {name: getattr(forest, name) for name in names if hasattr(forest, name)}


def select_parameters(arguments: dict[str, object]) -> dict[str, object]:
    """Select the parameters of a forest from ``locals()`` of its ``__init__``."""
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

    _store_blocks = store_blocks
    _splitter = "best"
    _missing = ("auto", "learned", "branch", "surrogate", "error")
    _categorical_splits = ("auto", "subset", "one_vs_rest", "multiway")
    # The rows of every tree are drawn again from these.
    _saved_fields = (
        SavedField("_n_samples", "integer", least=1),
        SavedField("_n_samples_bootstrap", "integer", is_optional=True, least=1),
        SavedField("_sample_weight", shape=("_n_samples",), is_optional=True, least=0),
        *KEPT_OUT_OF_BAG,
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        check_choice("criterion", self.criterion, self._criteria)
        check_choice("missing", self.missing, self._missing)
        check_choice(
            "categorical_split", self.categorical_split, self._categorical_splits
        )
        check_n_jobs(self.n_jobs)
        for name in ("bootstrap", "warm_start", "store_distribution"):
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
        cart = take_parameters(self, CART_PARAMETERS)
        missing = "learned" if self.missing == "auto" else self.missing
        split = self.categorical_split
        return self._cart(
            splitter=self._splitter,
            missing=missing,
            categorical_split="subset" if split == "auto" else split,
            **cart,
        )

    @property
    def estimator(self) -> Any:
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
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
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
        if draw is not None:
            self._estimate(grower.rows, check_weights(sample_weight, grower.n_rows))
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

    def _fits_to_members(self, reader, n_new) -> bool:
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

    def _read_target(self, reader) -> None:
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
        n_trees = min(n_new, count_at_once(self.n_jobs, grower.n_rows))
        n_threads = count_threads(
            max(1, count_jobs(self.n_jobs) // n_trees),
            grower.n_rows * grower.n_columns,
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

    def _restore(self, reader, members, columns, kept) -> None:
        self.estimator_ = clone(reader)
        self._n_samples_bootstrap = self._sample_weight = None
        super()._restore(reader, members, columns, kept)
        self._read_target(reader)
        weight = self._sample_weight
        if weight is not None and not weight.any():
            raise ValueError("_sample_weight must have an entry above 0")
        self._require_stored([member.tree_ for member in members])

    # ------------------------------------------------------------------ out of bag
    def _make_draw(self):
        """Make the draw of the fitted members again."""
        return RowDraw(self._n_samples, self._n_samples_bootstrap, self._sample_weight)

    def _list_draws(self):
        draw = self._make_draw()
        return [(draw, member.random_state) for member in self.estimators_]

    def _estimate(self, rows, weight) -> None:
        """Estimate the error and the distribution of the target, if asked for."""
        matrix, target = rows.matrix, rows.target
        matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
        lacks_calibration = self.bootstrap and not hasattr(self, "_calibration")
        if (self.oob_score and not hasattr(self, "oob_score_")) or (
            self.store_distribution and lacks_calibration
        ):
            self._set_oob_score_and_attributes(matrix, target, weight)
        lacks_rows = not target.is_classifier and not hasattr(self, "_leaf_rows")
        if self.store_distribution and lacks_rows:
            self._leaf_rows = LeafRows.of_members(self, matrix, target.values)

    def _set_oob_score_and_attributes(self, matrix, target, weight) -> None:
        """Estimate the error by out-of-bag rows."""
        known = target.codes if target.is_classifier else target.values
        n_statistics = self.estimators_[0].tree_.n_statistics
        self._estimate_out_of_bag(matrix, known, n_statistics, weight)

    def _counts_votes(self) -> bool:
        """Return whether trees vote for classes instead of predicting probabilities."""
        return False

    # ------------------------------------------------------------------ prediction
    def _sum_predictions(self, matrix, *, votes: bool = False):
        """Add up the predictions of the trees for every row of a matrix."""
        trees = [member.tree_ for member in self.estimators_]
        out = np.zeros((matrix.shape[0], *trees[0].node_shape))
        n_threads = count_threads(self.n_jobs, matrix.size * len(trees))
        names = self.estimators_[0].schema_.names
        add_predictions(trees, matrix, out, n_threads, names, votes)
        return out

    def _read_tables(self, X):
        return read_blocks(self, X, self.estimators_[0])

    def _make_predictor(self):
        votes = self._counts_votes()

        def predict(number, matrix):
            member = self.estimators_[number]
            out = np.zeros((matrix.shape[0], *member.tree_.node_shape))
            n_threads = count_threads(self.n_jobs, matrix.size)
            names = member.schema_.names
            add_predictions([member.tree_], matrix, out, n_threads, names, votes)
            return out

        return predict

    def decision_path(self, X: MatrixLike) -> tuple[spmatrix | sparray, np.ndarray]:
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
    def feature_importances_(self) -> np.ndarray:
        """Importance of each column: its fraction of the decrease of impurity.

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


def _are_equal(classes, others) -> bool:
    """Return whether the classes of all outputs are the same."""
    if not isinstance(classes, list):
        classes, others = [classes], [others]
    pairs = zip(classes, others, strict=True)
    return all(np.array_equal(some, other) for some, other in pairs)


# ------------------------------------------------------------------------------------
# Forests of classification trees: parameters, class weights, votes.
# ------------------------------------------------------------------------------------


#: Parameters that C4.5 members have under the forest's names.
C45_PARAMETERS = tuple(
    name
    for name in CART_PARAMETERS
    if name not in ("criterion", "ccp_alpha", "monotonic_cst", "categorical_smoothing")
)


class BaseForestClassifier(PredictionSetMixin, ClassifierMixin, BaseForest):
    """Forest of classification trees, with the parameters of a random forest."""

    _cart = CARTClassifier
    _criteria = ("gini", "entropy", "log_loss", "error")

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | str | Callable[..., Any] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: dict[Any, float] | Sequence[dict[Any, float]] | str | None = None,
        cost_matrix: CostMatrix | None = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        voting: str = "soft",
        pruning: Any = None,
        max_bins: int | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_split: str = "auto",
        categorical_smoothing: float | str = "auto",
        missing: str = "auto",
        handle_unknown: str = "parent",
        tie_breaking: str = "first",
        top_splits: int = 1,
        store_distribution: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.voting = voting
        self.pruning = pruning
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits
        self.store_distribution = store_distribution

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("voting", self.voting, ("soft", "hard"))
        require_no_votes(self)
        check_preset(self.class_weight, self.warm_start)
        if self.store_distribution and not self.bootstrap:
            raise ValueError(
                "store_distribution=True requires bootstrap=True, since sets of "
                "classes are calibrated on out-of-bag rows."
            )
        if self._grows_c45():
            self._check_c45_parameters()

    def _grows_c45(self):
        """Return whether members are C4.5 trees."""
        return isinstance(self.criterion, str) and self.criterion == "gain_ratio"

    def _takes_several_outputs(self):
        return not self._grows_c45() and super()._takes_several_outputs()

    def _check_c45_parameters(self) -> None:
        """Require parameters that C4.5 trees have."""
        for name, without in (("ccp_alpha", 0.0), ("monotonic_cst", None)):
            value = getattr(self, name)
            if value is not without and not (np.isscalar(value) and value == without):
                raise ValueError(
                    f"The {name!r} parameter must be {without} with "
                    'criterion="gain_ratio", since C4.5 trees do not support it; got '
                    f"{value!r}."
                )
        choices = ("auto", "fractional", "error")
        if self.missing not in choices:
            raise ValueError(
                "The 'missing' parameter must be one of "
                f'{", ".join(map(repr, choices))} with criterion="gain_ratio"; got '
                f"{self.missing!r}."
            )

    def _make_template(self):
        if not self._grows_c45():
            return super()._make_template()
        missing = "fractional" if self.missing == "auto" else self.missing
        split = self.categorical_split
        return C45Classifier(
            missing=missing,
            categorical_split="multiway" if split == "auto" else split,
            collapse=False,
            # The correction would make a leaf of a node whose sampled columns gain
            # little, as the root of a whole tree may.
            mdl_correction=False,
            **take_parameters(self, C45_PARAMETERS),
        )

    def _counts_votes(self):
        return self.voting == "hard"

    def _read_target(self, reader) -> None:
        super()._read_target(reader)
        self.classes_ = reader.classes_
        self.n_classes_ = reader.n_classes_
        if reader.n_outputs_ > 1:
            self.n_classes_ = [int(number) for number in reader.n_classes_]

    def _describe(self):
        attributes = super()._describe()
        return {
            **attributes,
            "classes_": self.classes_,
            "n_classes_": self.n_classes_,
        }

    def _list_classes(self):
        """List the classes of each output."""
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    def _weigh_classes(self, target, weight):
        if self.class_weight is None:
            return weight, None
        codes = target.codes
        preset = isinstance(self.class_weight, str)
        if preset and self.class_weight == "balanced_subsample" and self.bootstrap:
            return weight, codes[:, 0] if codes.shape[1] == 1 else codes
        class_weight = "balanced" if preset else self.class_weight
        of_class = weigh_classes(
            class_weight, decode_labels(codes, self._list_classes()), weight
        )
        of_class = of_class if weight is None else weight * of_class
        if not np.isfinite(of_class).all() or of_class.min() < 0 or not of_class.any():
            raise ValueError(
                "The 'class_weight' parameter must leave some row a positive, finite "
                f"weight, and none a negative one; got {self.class_weight!r}."
            )
        return of_class, None

    def _score_classes(self, estimate, known):
        kind = type_of_target(known)
        if kind == "multiclass-multioutput":
            raise ValueError(
                "The type of target cannot be used to compute OOB estimates. Got "
                f"{kind} while only binary, multiclass and multilabel targets are "
                "supported."
            )
        return super()._score_classes(estimate, known)

    # ------------------------------------------------------------------ prediction
    def _compute_probabilities(self, matrix):
        """Class probabilities or votes; (n_rows, n_outputs, n_classes)."""
        probabilities = self._sum_predictions(matrix, votes=self._counts_votes())
        probabilities /= len(self.estimators_)
        return probabilities

    def _choose_classes(self, matrix):
        """Choose a class number for every row and output."""
        probabilities = self._compute_probabilities(matrix)
        costs = get_costs(self)
        if costs is not None:
            return choose_classes(probabilities[:, 0], costs)[:, np.newaxis]
        best = probabilities.argmax(axis=2)
        if self._counts_votes():
            is_top = probabilities > probabilities.max(
                axis=2, keepdims=True
            ) - 0.5 / len(self)
            is_tied = np.flatnonzero((is_top.sum(axis=2) > 1).any(axis=1))
            means = self._sum_predictions(matrix[is_tied])
            best[is_tied] = np.where(is_top[is_tied], means, -1.0).argmax(axis=2)
        return best

    def predict_proba(self, X: MatrixLike) -> np.ndarray | Any:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), or list of such arrays
            Mean probability over the trees; with ``voting="hard"``, the fraction of
            trees that vote for the class. A list for several outputs.
        """
        probabilities = self._predict_blocks(X, self._compute_probabilities)
        return split_probabilities(probabilities, self.n_classes_)

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray | Any:
        """Compute the natural logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes), or list of such arrays
            ``-inf`` where a probability is 0.
        """
        return take_logarithms(self.predict_proba(X))

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The class with the largest mean probability (相对多数投票法 with
            probabilities); ties go to the first. With ``cost_matrix``, the class with
            the least expected cost. With ``voting="hard"``, the class with the most
            votes; ties go to the class with the largest mean probability.
        """
        best = self._predict_blocks(X, self._choose_classes)
        return decode_labels(best, self._list_classes())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output
        return tags


# ------------------------------------------------------------------------------------
# Forests of regression trees: parameters and prediction.
# ------------------------------------------------------------------------------------


class BaseForestRegressor(IntervalMixin, RegressorMixin, BaseForest):
    """Forest of regression trees, with the parameters of a random forest."""

    _cart = CARTRegressor
    _criteria = ("squared_error", "absolute_error", "poisson", "friedman_mse")

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | str | Callable[..., Any] = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        pruning: Any = None,
        max_bins: int | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_split: str = "auto",
        categorical_smoothing: float | str = "auto",
        missing: str = "auto",
        handle_unknown: str = "parent",
        tie_breaking: str = "first",
        top_splits: int = 1,
        leaf_model: str = "constant",
        leaf_shrinkage: float = 1.0,
        store_distribution: bool = False,
    ) -> None:
        if isinstance(criterion, str) and criterion == "friedman_mse":
            # scikit-learn's name of the same splits, deprecated there as well.
            warn_caller(
                'criterion="friedman_mse" is deprecated; use "squared_error", which '
                "grows the same trees.",
                FutureWarning,
            )
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.pruning = pruning
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits
        self.leaf_model = leaf_model
        self.leaf_shrinkage = leaf_shrinkage
        self.store_distribution = store_distribution

    def _takes_several_outputs(self):
        return self.leaf_model == "constant" and super()._takes_several_outputs()

    def _plan_draw(self, grower, sample_weight):
        draw = super()._plan_draw(grower, sample_weight)
        if not self.bootstrap:
            grower.reader._warn_of_light_rows(self._sample_weight)
        return draw

    def predict(
        self, X: MatrixLike, *, quantiles: float | Sequence[float] | None = None
    ) -> np.ndarray:
        r"""Predict the value of each row: the mean over the trees, or quantiles.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        quantiles : float or sequence of float, default=None
            Probabilities of quantiles of the distribution of the target [1]_, which
            require a fit with ``store_distribution=True``. The distribution has the
            values of the training rows, with the weights

            .. math:: w_i(x) = \frac{1}{T} \sum_t
                \frac{N_{ti}\, \mathbb{I}(x_i \in R_t(x))}
                {\sum_k N_{tk}\, \mathbb{I}(x_k \in R_t(x))}

            where :math:`R_t(x)` is the leaf of x in tree t, and :math:`N_{ti}` how
            often row i was drawn (with ``bootstrap=False``, its weight). The quantile
            is the smallest value up to which the weights add up to the probability.

        Returns
        -------
        y : ndarray of float64, shape (n_samples,) or (n_samples, n_outputs)
            Values; with a sequence of quantiles, these are an additional last axis.

        Raises
        ------
        ValueError
            If quantiles are not between 0 and 1, or the fit has not stored what they
            require.

        References
        ----------
        .. [1] N. Meinshausen (2006), Quantile regression forests. Journal of Machine
           Learning Research 7.
        """
        if quantiles is not None:
            return predict_quantiles(self, X, quantiles)
        sums = self._predict_blocks(X, self._sum_predictions)
        values = sums[:, :, 0] / len(self.estimators_)
        return values[:, 0] if self.n_outputs_ == 1 else values


class RandomForestClassifier(BaseForestClassifier):
    r"""Random forest of classification trees (随机森林) with exact thresholds.

    Each tree is grown on a bootstrap sample of the rows, and each split considers only
    a random sample of the columns. The forest predicts the class with the largest mean
    probability,

    .. math:: H(x) = \arg\max_c \frac{1}{T} \sum_{t=1}^{T} p_t(c \mid x).

    Parameters of scikit-learn's ``RandomForestClassifier`` have the same name, meaning
    and default here, so it is enough to replace the import.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss", "error", "gain_ratio"}, default="gini"
        Impurity by which splits are chosen, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`. "gain_ratio" grows
        :class:`~sklearn_textbook.tree.C45Classifier` trees without pruning and without
        the correction of gains: nominal columns have multiway splits, and cases with
        missing values are divided among branches.
    max_depth : int, default=None
        Maximum depth of a tree. None: limited only by the other parameters.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
        A row that was drawn twice counts once.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each child, whatever their weights; a float is a
        fraction of all rows. A row that was drawn twice counts once. With
        ``criterion="gain_ratio"``, weights count instead, as in
        :class:`~sklearn_textbook.tree.C45Classifier`.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in each child.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Number of columns sampled at each node (属性扰动): an integer, a fraction of the
        d columns, their square root or binary logarithm (which the textbook
        recommends). None: all.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of a tree, grown best-first.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the impurity of its tree by at least this
        value.
    bootstrap : bool, default=True
        Whether each tree is grown on a bootstrap sample of the rows (自助采样). If
        False, each is grown on all rows.
    oob_score : bool, str or callable, default=False
        Whether to score the forest on out-of-bag rows (包外估计). True uses the
        accuracy, a string the scikit-learn scorer of that name, and a callable receives
        the true and the predicted class numbers. Requires ``bootstrap=True``.
    n_jobs : int, default=None
        Number of trees grown in parallel, and of threads in prediction. None: one per
        core, or the setting of ``joblib.parallel_config``; -1: one per core. The forest
        does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing rows and sampling columns.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted trees and adds new ones, up to
        ``n_estimators``.
    class_weight : dict, list of dict, {"balanced", "balanced_subsample"}, default=None
        Weights of the classes: as given; inversely proportional to their frequencies
        ("balanced"); or inversely proportional to their frequencies in each bootstrap
        sample ("balanced_subsample"). With ``bootstrap=True``, the first two change the
        probabilities with which rows are drawn.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. Trees are grown with class
        weights multiplied by the sum of their row, and the class of least expected
        cost is predicted. For one output and ``voting="soft"``. None: all errors cost
        the same.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning. 0: no pruning.
    max_samples : int or float, default=None
        Number of rows in a bootstrap sample, or their fraction of all rows. None: as
        many as there are.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Monotonicity constraints for all columns, or for some by name. 1: the prediction
        may only increase with the column; -1: it may only decrease; 0: no constraint.
    voting : {"soft", "hard"}, default="soft"
        How trees are combined: "soft" averages their probabilities, as in scikit-learn;
        "hard" gives each tree one vote (简单投票法), as in the textbook and in
        Breiman's paper, where ties go to the class with the largest mean probability.
    pruning : None, str or pruner, default=None
        How each tree is pruned: "out_of_bag" uses its out-of-bag rows; the other
        methods are those of single trees.
    max_bins : int, default=None
        Maximum number of bins into which the values of a numeric column are grouped,
        which is faster. None: numeric columns are split exactly.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names.
    categorical_split : {"auto", "subset", "one_vs_rest", "multiway"}, default="auto"
        How a nominal column divides its levels, as in single trees. "auto" is "subset",
        or "multiway" with ``criterion="gain_ratio"``.
    categorical_smoothing : "auto" or float, default="auto"
        How far means of levels of nominal columns with more than nine levels are
        smoothed, as in single trees; 0: not at all.
    missing : str, default="auto"
        How missing values are treated, as in single trees: "learned", "branch",
        "surrogate", "fractional" or "error". "auto" is "learned", or "fractional" with
        ``criterion="gain_ratio"``, which allows only "fractional" and "error".
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in a node is treated, as in single trees.
    tie_breaking : {"first", "random"}, default="first"
        How ties between equally good splits are broken: "first" prefers the first of
        the sampled columns; "random" goes through all columns in random order.
    top_splits : int, default=1
        Number of best splits from which one is drawn at random at each node
        (算法参数扰动). 1: the best.
    store_distribution : bool, default=False
        Whether ``fit`` stores what :meth:`predict_set` needs: the out-of-bag
        probabilities of the classes that the rows have.

    Attributes
    ----------
    estimator : tree estimator
        The base estimator with which the forest would be fitted now.
    estimator_ : tree estimator
        The base estimator of the trees, not fitted.
    estimators_ : list of tree estimators
        The trees. They store the class labels, so each can be explained on its own.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    n_outputs_ : int
        Number of outputs.
    classes_ : ndarray of shape (n_classes,), or list of such arrays
        Class labels.
    n_classes_ : int or list of int
        Number of classes.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: its fraction of the decrease of impurity.
    estimators_samples_ : list of ndarray of int
        The rows on which each tree was grown.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... trees, with ``oob_score``: the fraction
        of misclassified rows among those that can be scored so far.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities (or votes) of the trees for which the row is out of bag; 0 if
        there are none. With several outputs, the shape is (n_samples, n_classes,
        n_outputs).

    See Also
    --------
    RandomForestRegressor : The corresponding regressor.
    ExtraTreesClassifier : Draws random thresholds.
    sklearn.ensemble.RandomForestClassifier : Numeric columns only, thresholds in
        float32.

    Notes
    -----
    The table is read and encoded once for all trees; a bootstrap sample is a weight per
    row. Growing takes O(n log n · max_features) time per tree, in one thread each.

    Differences from scikit-learn: thresholds are exact in float64; nominal columns and
    missing values need no preprocessing; ties between equally good splits go to the
    first sampled column; the same seed draws the same rows, but samples other columns
    at the nodes; ``estimators_`` store class labels, not class numbers.

    References
    ----------
    .. [1] L. Breiman (2001), Random forests.
    .. [2] 周志华《机器学习》, section 8.3.2.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.ensemble import RandomForestClassifier
    >>> X, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> forest.score(X, y)
    1.0
    >>> len(forest.oob_curve_)
    50
    """

    _criteria = (*BaseForestClassifier._criteria, "gain_ratio")
    _missing = ("auto", "learned", "branch", "surrogate", "fractional", "error")


class RandomForestRegressor(BaseForestRegressor):
    r"""Random forest of regression trees (随机森林) with exact thresholds.

    Each tree is grown on a bootstrap sample of the rows, and each split may consider
    only a random sample of the columns. The forest predicts the mean

    .. math:: H(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(x).

    Parameters of scikit-learn's ``RandomForestRegressor`` have the same name, meaning
    and default here, so it is enough to replace the import.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Impurity by which splits are chosen, as in
        :class:`~sklearn_textbook.tree.CARTRegressor`.
    max_depth : int, default=None
        Maximum depth of a tree. None: limited only by the other parameters.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
        A row that was drawn twice counts once.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each child, whatever their weights; a float is a
        fraction of all rows. A row that was drawn twice counts once.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in each child.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Number of columns sampled at each node (属性扰动): an integer, a fraction of the
        d columns, their square root or binary logarithm (which the textbook
        recommends). None: all.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of a tree, grown best-first.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the impurity of its tree by at least this
        value.
    bootstrap : bool, default=True
        Whether each tree is grown on a bootstrap sample of the rows (自助采样). If
        False, each is grown on all rows.
    oob_score : bool, str or callable, default=False
        Whether to score the forest on out-of-bag rows (包外估计). True uses R², a
        string the scikit-learn scorer of that name, and a callable receives the true
        and the predicted values. Requires ``bootstrap=True``.
    n_jobs : int, default=None
        Number of trees grown in parallel, and of threads in prediction. None: one per
        core, or the setting of ``joblib.parallel_config``; -1: one per core. The forest
        does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing rows and sampling columns.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted trees and adds new ones, up to
        ``n_estimators``.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning. 0: no pruning.
    max_samples : int or float, default=None
        Number of rows in a bootstrap sample, or their fraction of all rows. None: as
        many as there are.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Monotonicity constraints for all columns, or for some by name. 1: the prediction
        may only increase with the column; -1: it may only decrease; 0: no constraint.
    pruning : None, str or pruner, default=None
        How each tree is pruned: "out_of_bag" uses its out-of-bag rows; the other
        methods are those of single trees.
    max_bins : int, default=None
        Maximum number of bins into which the values of a numeric column are grouped,
        which is faster. None: numeric columns are split exactly.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names.
    categorical_split : {"auto", "subset", "one_vs_rest", "multiway"}, default="auto"
        How a nominal column divides its levels, as in single trees. "auto" is "subset".
    categorical_smoothing : "auto" or float, default="auto"
        How far means of levels of nominal columns with more than nine levels are
        smoothed, as in single trees; 0: not at all.
    missing : {"auto", "learned", "branch", "surrogate", "error"}, default="auto"
        How missing values are treated, as in single trees. "auto" is "learned".
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in a node is treated, as in single trees.
    tie_breaking : {"first", "random"}, default="first"
        How ties between equally good splits are broken: "first" prefers the first of
        the sampled columns; "random" goes through all columns in random order.
    top_splits : int, default=1
        Number of best splits from which one is drawn at random at each node
        (算法参数扰动). 1: the best.
    leaf_model : {"constant", "linear"}, default="constant"
        What a leaf predicts: the mean (or median) of its rows, or a linear equation of
        numeric and ordinal columns (:class:`~sklearn_textbook.tree.CARTRegressor`),
        which requires ``criterion="squared_error"`` and one output.
    leaf_shrinkage : float, default=1.0
        With ``leaf_model="linear"``, factor of the weight with which the equation of
        the parent is averaged with that of a node. 0: not at all.
    store_distribution : bool, default=False
        Whether ``fit`` stores what quantiles and :meth:`predict_interval` need: the
        targets, the training rows of each leaf, and the out-of-bag residuals.

    Attributes
    ----------
    estimator : tree estimator
        The base estimator with which the forest would be fitted now.
    estimator_ : tree estimator
        The base estimator of the trees, not fitted.
    estimators_ : list of tree estimators
        The trees.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: its fraction of the decrease of impurity.
    estimators_samples_ : list of ndarray of int
        The rows on which each tree was grown.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... trees, with ``oob_score``: the mean
        squared error over the rows that can be scored so far.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the trees for which the row is out of bag; 0 if there are
        none.

    See Also
    --------
    RandomForestClassifier : The corresponding classifier.
    ExtraTreesRegressor : Draws random thresholds.
    sklearn.ensemble.RandomForestRegressor : Numeric columns only, thresholds in
        float32.

    Notes
    -----
    The table is read and encoded once for all trees; a bootstrap sample is a weight per
    row. Growing takes O(n log n · max_features) time per tree, in one thread each.

    Differences from scikit-learn: thresholds are exact in float64; nominal columns and
    missing values need no preprocessing; ties between equally good splits go to the
    first sampled column; the same seed draws the same rows, but samples other columns
    at the nodes.

    References
    ----------
    .. [1] L. Breiman (2001), Random forests.
    .. [2] 周志华《机器学习》, section 8.3.2.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_regression_tree_example
    >>> from sklearn_textbook.ensemble import RandomForestRegressor
    >>> X, y = load_regression_tree_example(return_X_y=True)
    >>> forest = RandomForestRegressor(random_state=0).fit(X, y)
    >>> len(forest)
    100
    """
