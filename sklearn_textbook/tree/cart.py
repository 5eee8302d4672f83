"""Classification and regression trees (CART, 分类与回归树)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import CostMatrix
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.scoring import ClassifierMixin, RegressorMixin
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.cart_recipe import BaseCART
from sklearn_textbook.tree.grow.target import require_counts, require_squares
from sklearn_textbook.tree.recipe import TreeClassifierMethods, TreeRegressorMethods

if TYPE_CHECKING:
    from sklearn_textbook.tree.prune.base import BasePruner

CLASSIFICATION_CRITERIA = ("gini", "entropy", "log_loss", "error")
REGRESSION_CRITERIA = ("squared_error", "absolute_error", "poisson")


class CARTClassifier(ClassifierMixin, TreeClassifierMethods, BaseCART):
    r"""Classification tree with exact binary splits (CART, 分类树).

    Each node is split by the test with the largest decrease of weighted impurity,

    .. math:: W_t\, i(t) - \sum_c W_c\, i(c) \to \max,

    where W is the weight of the rows in a node and i their impurity. Thresholds are
    midpoints between neighbouring values.

    The table may contain numbers, booleans, strings, ordered and unordered categories,
    dates and missing values without preprocessing. Parameters of
    ``DecisionTreeClassifier`` have the same name, meaning and default here.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity of a node with class proportions p: :math:`1 - \sum p_k^2`,
        :math:`-\sum p_k \log_2 p_k` ("entropy" and "log_loss"), or
        :math:`1 - \max p_k`. With "error", a node is split only if this reduces the
        training errors.
    splitter : {"best", "random"}, default="best"
        Whether to use the best threshold (or split of levels) of each column, or a
        random one.
    max_depth : int, default=None
        Maximum depth of the tree. None: no limit.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each child, whatever their weights, as in
        scikit-learn; a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in each child.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Number of columns sampled at each node. None: all.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling columns, and for random thresholds, tests and ties.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is
        split first; growth stops at a multiway split that would exceed the maximum.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the impurity of the whole tree by at
        least this value, :math:`\frac{W_t}{W} \Delta i(t)`.
    class_weight : dict, list of dict or "balanced", default=None
        Weight of each class, multiplied with the sample weights.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. Trees are grown with class
        weights multiplied by the sum of their row; the class of least expected cost
        is predicted, and pruning counts costs instead of errors. None: all errors cost
        the same. For one output.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning (代价复杂度剪枝); 0: no
        pruning.
    pruning : None, str or pruner, default=None
        How the grown tree is pruned. "cost_complexity" chooses ``ccp_alpha`` by
        cross-validation; the other methods are "reduced_error", "pre_pruning", "loss"
        and "error_based" (classification only). Pruner objects such as
        :class:`CostComplexityPruning` have parameters of their own, which can also be
        set as ``pruning__...``.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Monotonicity constraints for all columns, or for some by name. 1: the prediction
        may only increase with the column; -1: it may only decrease; 0: no constraint.
    max_bins : int, default=None
        Maximum number of bins into which the values of a numeric column are grouped,
        2 to 65535, which takes less memory. None: numeric columns are split exactly.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered
        ones are ordinal), none, or given by a mask, indices or names, as in
        HistGradientBoostingClassifier.
    categorical_split : {"subset", "one_vs_rest", "multiway"}, default="subset"
        How a nominal column divides its levels: "subset" makes two groups;
        "one_vs_rest" separates one level from the rest, the A(x) = a of the textbook;
        "multiway" makes one branch per level.
    categorical_smoothing : "auto" or float, default="auto"
        How far the means of the levels of a nominal column with more than nine levels
        are drawn to the mean of the node when its splits are judged, so that they are
        worth on other rows what they are worth on these: by the mean of so many rows;
        "auto" estimates the number in each node. Such columns are also split in the
        declared (strings: alphabetical) order of their levels, and only in this order
        in nodes of up to 64 rows, whatever their weights: in such nodes, a row of
        weight 2 may differ from two rows. 0: neither.
    missing : {"learned", "branch", "surrogate", "error"}, default="learned"
        How missing values are treated: "learned" sends them to the child that is better
        in training, as in scikit-learn; "branch" to a child of their own; "surrogate"
        to the child chosen by a surrogate split on another column, as in rpart, without
        a monotonic constraint; "error" raises an error. A surrogate must have two rows
        on either side (of levels: two that it sends right and two that it sends
        wrong), whatever their weights, so that a row of weight 2 may differ from two
        rows.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in the node is treated in prediction: "parent"
        predicts from the node itself; "fractional" sends the row to all children in
        proportion to their weights; "error" raises an error.
    tie_breaking : {"first", "random"}, default="first"
        How ties between equally good tests are broken: "first" prefers the first column
        (with ``max_features``, the first one sampled) and the lowest threshold;
        "random" goes through the columns in random order.
    top_splits : int, default=1
        Number of best tests, each of a different column, from which one is drawn at
        random to split a node; each satisfies ``min_impurity_decrease``. For the
        members of an ensemble (算法参数扰动 [3]_ [4]_).
    n_jobs : int, default=None
        Number of threads. None: one per core, or fewer inside a parallel call. The tree
        does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of such arrays
        Class labels; a list for several outputs.
    n_classes_ : int or ndarray of int
        Number of classes; an array for several outputs.
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.
    n_outputs_ : int
        Number of outputs.
    max_features_ : int
        Number of columns sampled at each node.
    n_missing_ : ndarray of int, shape (n_features,)
        Number of missing values in each column of the training table.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    tree_ : RoutedTree
        The tree as arrays, readable like scikit-learn's ``tree_``.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances, normalized to sum to 1.
    rules_ : sequence of dict
        If-then rules: one per leaf and one per inner node in which a row may end.
    pruning_path_ : PruningTable
        With "cost_complexity": the subtrees, their risks, and the chosen one.
    pruning_report_ : PruningTable
        With any ``pruning``: the nodes considered, the decision on each, and the
        measure behind it.

    See Also
    --------
    CARTRegressor : The corresponding regression tree.
    sklearn.tree.DecisionTreeClassifier : Numeric columns only, thresholds in float32,
        ties broken by the order in which columns are sampled.

    Notes
    -----
    Differences from scikit-learn: values are compared exactly in float64, so columns
    whose values differ by less than 1e-7 are not treated as constant; a node is pure if
    it contains a single class, whatever the rounding of weights; nodes are numbered
    breadth-first; ties do not depend on ``random_state`` unless columns are sampled.
    Differences from rpart: splits that do not reduce the number of errors are kept, and
    pruning is optional.

    Growing takes O(n d log n) time for sorting and O(n d) per level of the tree, and
    about 23 bytes of memory per cell of the table.

    With two classes, the best split of a nominal column is found exactly by sorting the
    levels. With three or more classes, all splits are tried for up to 10 levels; for
    more, the levels are sorted by the proportion of each class in turn, and the best
    split in these orders is improved by moving single levels.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), Classification and
       Regression Trees.
    .. [2] 李航《统计学习方法》, section 5.5, algorithm 5.6.
    .. [3] 周志华《机器学习》, sections 4.2.3 and 8.5.3.
    .. [4] T. G. Dietterich (2000), An experimental comparison ..., Machine Learning 40.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_loan
    >>> from sklearn_textbook.tree import CARTClassifier, export_text
    >>> X, y = load_loan(language="en", return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(categorical_split="one_vs_rest").fit(X, y)
    >>> print(export_text(model), end="")
    |--- owns_house = yes: yes (6 rows, 100%)
    |--- owns_house = no
    |   |--- has_job = yes: yes (3 rows, 100%)
    |   |--- has_job = no: no (6 rows, 100%)
    """

    _criteria = CLASSIFICATION_CRITERIA

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, float] | Sequence[dict[Any, float]] | str | None = None,
        cost_matrix: CostMatrix | None = None,
        ccp_alpha: float = 0.0,
        pruning: str | BasePruner | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        max_bins: int | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_split: str = "subset",
        categorical_smoothing: float | str = "auto",
        missing: str = "learned",
        handle_unknown: str = "parent",
        tie_breaking: str = "first",
        top_splits: int = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: MatrixLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree, and prune it according to ``pruning`` and ``ccp_alpha``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight 0 are ignored.
        X_val, y_val : array-like, default=None
            Validation rows for the pruner. They are not used to grow the tree.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weights of the validation rows.

        Returns
        -------
        self : CARTClassifier
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=True)


class CARTRegressor(RegressorMixin, TreeRegressorMethods, BaseCART):
    r"""Regression tree with exact binary splits (CART, 回归树).

    Each node is split by the test with the largest decrease of weighted impurity. With
    the squared error, this is the least-squares split of the textbook,

    .. math:: \min_{j, s} \Big[ \min_{c_1} \sum_{x_j \le s} (y - c_1)^2
        + \min_{c_2} \sum_{x_j > s} (y - c_2)^2 \Big].

    The table may contain numbers, booleans, strings, ordered and unordered categories,
    dates and missing values without preprocessing. Parameters of
    ``DecisionTreeRegressor`` have the same name, meaning and default here.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Impurity of a node: the variance; the mean absolute deviation from the median;
        or half the Poisson deviance, :math:`\frac{1}{W} \sum w\, y \log (y / \bar y)`.
        "friedman_mse" is scikit-learn's deprecated name for "squared_error".
    splitter : {"best", "random"}, default="best"
        Whether to use the best threshold (or split of levels) of each column, or a
        random one.
    max_depth : int, default=None
        Maximum depth of the tree. None: no limit.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each child, whatever their weights, as in
        scikit-learn; a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in each child.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Number of columns sampled at each node. None: all.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling columns, and for random thresholds, tests and ties.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of impurity is
        split first; growth stops at a multiway split that would exceed the maximum.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the impurity of the whole tree by at
        least this value, :math:`\frac{W_t}{W} \Delta i(t)`.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning (代价复杂度剪枝); 0: no
        pruning.
    pruning : None, str or pruner, default=None
        How the grown tree is pruned. "cost_complexity" chooses ``ccp_alpha`` by
        cross-validation; the other methods are "reduced_error", "pre_pruning", "loss"
        and "error_based" (classification only). Pruner objects such as
        :class:`CostComplexityPruning` have parameters of their own, which can also be
        set as ``pruning__...``.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Monotonicity constraints for all columns, or for some by name. 1: the prediction
        may only increase with the column; -1: it may only decrease; 0: no constraint.
    max_bins : int, default=None
        Maximum number of bins into which the values of a numeric column are grouped,
        2 to 65535, which takes less memory. None: numeric columns are split exactly.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered
        ones are ordinal), none, or given by a mask, indices or names, as in
        HistGradientBoostingRegressor.
    categorical_split : {"subset", "one_vs_rest", "multiway"}, default="subset"
        How a nominal column divides its levels: "subset" makes two groups;
        "one_vs_rest" separates one level from the rest, the A(x) = a of the textbook;
        "multiway" makes one branch per level.
    categorical_smoothing : "auto" or float, default="auto"
        How far the means of the levels of a nominal column with more than nine levels
        are drawn to the mean of the node when its splits are judged, so that they are
        worth on other rows what they are worth on these: by the mean of so many rows;
        "auto" estimates the number in each node. Such columns are also split in the
        declared (strings: alphabetical) order of their levels, and only in this order
        in nodes of up to 64 rows, whatever their weights: in such nodes, a row of
        weight 2 may differ from two rows. 0: neither.
    missing : {"learned", "branch", "surrogate", "error"}, default="learned"
        How missing values are treated: "learned" sends them to the child that is better
        in training, as in scikit-learn; "branch" to a child of their own; "surrogate"
        to the child chosen by a surrogate split on another column, as in rpart, without
        a monotonic constraint; "error" raises an error. A surrogate must have two rows
        on either side (of levels: two that it sends right and two that it sends
        wrong), whatever their weights, so that a row of weight 2 may differ from two
        rows.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in the node is treated in prediction: "parent"
        predicts from the node itself; "fractional" sends the row to all children in
        proportion to their weights; "error" raises an error.
    tie_breaking : {"first", "random"}, default="first"
        How ties between equally good tests are broken: "first" prefers the first column
        (with ``max_features``, the first one sampled) and the lowest threshold;
        "random" goes through the columns in random order.
    top_splits : int, default=1
        Number of best tests, each of a different column, from which one is drawn at
        random to split a node; each satisfies ``min_impurity_decrease``. For the
        members of an ensemble (算法参数扰动 [3]_ [4]_).
    leaf_model : {"constant", "linear"}, default="constant"
        What a leaf predicts: the mean (or median) of its rows, or a linear equation of
        numeric and ordinal columns, as in M5 [5]_; see the notes.
    leaf_shrinkage : float, default=3.0
        With ``leaf_model="linear"``, factor of the weight with which the equation of
        the parent enters that of a node; 0: it does not.
    n_jobs : int, default=None
        Number of threads. None: one per core, or fewer inside a parallel call. The tree
        does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.
    n_outputs_ : int
        Number of outputs.
    max_features_ : int
        Number of columns sampled at each node.
    n_missing_ : ndarray of int, shape (n_features,)
        Number of missing values in each column of the training table.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    tree_ : RoutedTree
        The tree as arrays, readable like scikit-learn's ``tree_``.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances, normalized to sum to 1.
    rules_ : sequence of dict
        If-then rules: one per leaf and one per inner node in which a row may end.
    pruning_path_ : PruningTable
        With "cost_complexity": the subtrees, their risks, and the chosen one.
    pruning_report_ : PruningTable
        With any ``pruning``: the nodes considered, the decision on each, and the
        measure behind it.

    See Also
    --------
    CARTClassifier : The corresponding classification tree.
    sklearn.tree.DecisionTreeRegressor : Numeric columns only, thresholds in float32,
        ties broken by the order in which columns are sampled.

    Notes
    -----
    The differences from scikit-learn and rpart are those of :class:`CARTClassifier`.
    The best split of a nominal column is found exactly by sorting the levels by their
    mean. With the absolute error, all splits are tried for up to 10 levels, and the
    order of the means is used for more.

    With ``leaf_model="linear"`` the tree grows in the same way, to leaves of the weight
    of at least ten rows. Then a linear equation of the numeric and ordinal columns
    (these count their levels from 0; nominal columns only split) is fitted by least
    squares in every node. Columns enter one after the other, always the one that
    reduces the sum of squared residuals RSS most; of these equations, that with the
    smallest

    .. math:: \frac{RSS}{n} \, \frac{n + 2 v}{n - v}

    is taken, for rows of weight n and v coefficients, at most n / 3: an estimate of the
    squared error on other rows. Then the equation of a node is averaged with that of
    its parent, whose weight is

    .. math:: \min\Big(1, s \, \frac{v}{n} \, \frac{RSS'}{RSS' - RSS}\Big),

    where RSS' is what the parent's equation leaves in the node, and s is
    ``leaf_shrinkage``: coefficients without any meaning reduce RSS' by v / n on
    average. The estimate of the averaged equation, with the factors of RSS / n averaged
    as well, stands in ``tree_.impurity``: splits that do not reduce it are removed, and
    ``ccp_alpha`` and ``pruning`` use it. Standard errors are those of least squares,
    averaged in the same way, which is an upper bound; that columns were chosen is not
    taken into account. A missing value counts as the mean of its column in the node,
    and a prediction is at least the smallest and at most the largest target there. A
    weight counts equal rows. Of more than 100 such columns, the 100 whose tests reduce
    the impurity most are used. Apart from growth, this takes O(n k² d) time for k
    columns and a tree of depth d.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), Classification and
       Regression Trees.
    .. [2] 李航《统计学习方法》, section 5.5, algorithm 5.5.
    .. [3] 周志华《机器学习》, section 8.5.3.
    .. [4] T. G. Dietterich (2000), An experimental comparison ..., Machine Learning 40.
    .. [5] J. R. Quinlan (1992), Learning with continuous classes, AI'92.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_regression_tree_example
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> X, y = load_regression_tree_example(return_X_y=True)
    >>> model = CARTRegressor(max_depth=1).fit(X, y)
    >>> float(model.tree_.threshold[0])
    5.5
    >>> model.predict([[1.0], [10.0]])
    array([5.06 , 8.176])
    """

    _criteria = (*REGRESSION_CRITERIA, "friedman_mse")

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        pruning: str | BasePruner | None = None,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        max_bins: int | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_split: str = "subset",
        categorical_smoothing: float | str = "auto",
        missing: str = "learned",
        handle_unknown: str = "parent",
        tie_breaking: str = "first",
        top_splits: int = 1,
        leaf_model: str = "constant",
        leaf_shrinkage: float = 3.0,
        n_jobs: int | None = None,
    ) -> None:
        if isinstance(criterion, str) and criterion == "friedman_mse":
            # Deprecated in scikit-learn, too.
            warn_caller(
                'criterion="friedman_mse" is deprecated; use "squared_error", which '
                "grows the same tree.",
                FutureWarning,
            )
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.monotonic_cst = monotonic_cst
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
        self.n_jobs = n_jobs

    def _criterion_name(self):
        return "squared_error" if self.criterion == "friedman_mse" else self.criterion

    def _check_target(self, y, *, is_classifier):
        y = super()._check_target(y, is_classifier=is_classifier)
        if self._criterion_name() == "squared_error":
            require_squares(y)
        if self.criterion == "poisson":
            require_counts(y)
        return y

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: MatrixLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree, and prune it according to ``pruning`` and ``ccp_alpha``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight 0 are ignored.
        X_val, y_val : array-like, default=None
            Validation rows for the pruner. They are not used to grow the tree.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weights of the validation rows.

        Returns
        -------
        self : CARTRegressor
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=False)
