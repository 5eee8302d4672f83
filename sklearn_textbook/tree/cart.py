"""Classification and regression trees (CART, 分类与回归树)."""

from __future__ import annotations

import warnings

from sklearn.base import ClassifierMixin, RegressorMixin

from sklearn_textbook.tree.cart_recipe import BaseCART
from sklearn_textbook.tree.grow.target import require_squares
from sklearn_textbook.tree.recipe import TreeClassifierMethods, TreeRegressorMethods

CLASSIFICATION_CRITERIA = ("gini", "entropy", "log_loss", "error")
REGRESSION_CRITERIA = ("squared_error", "absolute_error", "poisson")


class CARTClassifier(ClassifierMixin, TreeClassifierMethods, BaseCART):
    r"""Classification tree of two-way splits (CART, 分类树), grown exactly.

    Every node takes the test that lowers the weighted impurity most,

    .. math:: W_t\, i(t) - \sum_c W_c\, i(c) \to \max,

    with W the weight of a node's rows and i their impurity. Thresholds are midpoints
    between neighbouring values.

    The table may hold numbers, booleans, strings, ordered and unordered categories,
    dates and missing values as they are. Where scikit-learn has a parameter, its name,
    meaning and default are the same, so that an import of ``DecisionTreeClassifier``
    can be changed for this class.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity of a node with class shares p: :math:`1 - \sum p_k^2`,
        :math:`-\sum p_k \log_2 p_k` ("entropy" and "log_loss"), or
        :math:`1 - \max p_k`. With "error" a node is split only if that saves errors.
    splitter : {"best", "random"}, default="best"
        The best threshold (or split of levels), or a random one per column.
    max_depth : int, default=None
        Largest depth; None: until the other limits stop.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows every child must have, whatever these weigh, as in scikit-learn; a float
        is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight every child must have.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Columns sampled at each node; None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled columns, thresholds, tests and ties. Without these the tree
        does not depend on it.
    max_leaf_nodes : int, default=None
        Largest number of leaves; the nodes that gain most are split first. A many-way
        split that would exceed it is not made, and ends the growth.
    min_impurity_decrease : float, default=0.0
        A node is split if this lowers the impurity of the whole tree by at least as
        much, :math:`\frac{W_t}{W} \Delta i(t)`.
    class_weight : dict, list of dict or "balanced", default=None
        Weight of each class, multiplied with the sample weights.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning (代价复杂度剪枝); 0: no
        pruning.
    pruning : None, str or pruner, default=None
        How the tree is cut back once it is grown: "cost_complexity" chooses
        ``ccp_alpha`` by cross-validation; "reduced_error", "pre_pruning", "loss" and
        "error_based" (classes only) are the others. A pruner such as
        :class:`CostComplexityPruning` has parameters, also as ``pruning__...``.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Constraints of all columns, or of some by their names. 1: the prediction may
        only rise with the column, -1: only fall, 0: free.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered
        ones are ordinal), none, or a mask,
        indices or names, as in HistGradientBoostingClassifier.
    categorical_split : {"subset", "one_vs_rest", "multiway"}, default="subset"
        How a nominal column divides its levels: into two subsets; one level against
        the rest, the A(x) = a of the book; or one branch per level.
    missing : {"learned", "branch", "surrogate", "error"}, default="learned"
        What becomes of missing values: the better child, found in training, as in
        scikit-learn; a child of their own; the child that a surrogate split on
        another column says, as in rpart; or they are an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        What becomes of a level without training rows in the node: the row stays and
        takes the node's own distribution; it goes into all children in proportion to
        their weight; or it is an error.
    tie_breaking : {"first", "random"}, default="first"
        Of equally good tests the first column and the lowest threshold win; or the
        first of columns in random order.
    top_splits : int, default=1
        A node takes one of so many best tests at random, each as likely: the best
        ones of the columns that lower the impurity most, and by no less than
        ``min_impurity_decrease``. For members of ensembles (算法参数扰动 [3]_ [4]_).
    n_jobs : int, default=None
        Threads; None: one per core, fewer in a parallel call. The tree is the same
        for any number.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of such arrays
        Class labels; a list for several outputs.
    n_classes_ : int or ndarray of int
        Number of classes; one per output.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.
    n_outputs_ : int
        Number of outputs.
    max_features_ : int
        Columns sampled at each node.
    n_missing_ : ndarray of int, shape (n_features,)
        Missing values of each column in training.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    tree_ : RoutedTree
        The tree as arrays, readable like scikit-learn's ``tree_``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity.
    rules_ : sequence of dict
        One if-then rule per leaf, and one per inner node in which a row may stop.
    pruning_path_ : PruningTable
        With "cost_complexity": the subtrees, their risks, and which was chosen.
    pruning_report_ : PruningTable
        With any ``pruning``: the nodes that were looked at, what became of them, and
        the measure that decided.

    See Also
    --------
    CARTRegressor : The same for numbers.
    sklearn.tree.DecisionTreeClassifier : Numeric columns only, thresholds in float32,
        ties broken by the order in which columns are sampled.

    Notes
    -----
    Differences from scikit-learn: values are compared exactly in float64, so columns
    whose values differ by less than 1e-7 are no constants; purity is decided by the
    classes present, so rounding of weights splits no pure node; nodes are numbered
    breadth first; ties do not depend on ``random_state``. From rpart: no split is
    undone for saving no error, and nothing is pruned unless asked for.

    Growing costs O(n d log n) for sorting and O(n d) per level of the tree. Memory is
    about 23 bytes per cell of the table while the tree grows.

    Two classes, and regression: the best split of a nominal column is found by
    sorting the levels. Three and more classes: all splits are tried up to 10
    levels; beyond, the best split in the order of each class's share is improved by
    moving single levels.

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
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        pruning=None,
        monotonic_cst=None,
        categorical_features="from_dtype",
        categorical_split="subset",
        missing="learned",
        handle_unknown="parent",
        tie_breaking="first",
        top_splits=1,
        n_jobs=None,
    ):
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
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits
        self.n_jobs = n_jobs

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
    ):
        """Grow the tree, and prune it if asked to.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; rows of weight 0 take no part.
        X_val, y_val : array-like, default=None
            Validation rows, not used to grow the tree, for a pruner that needs them.
        sample_weight_val : array-like of shape (n_val,), default=None
            Their weights.

        Returns
        -------
        self : CARTClassifier
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=True)


class CARTRegressor(RegressorMixin, TreeRegressorMethods, BaseCART):
    r"""Regression tree of two-way splits (CART, 回归树), grown exactly.

    Every node takes the test that lowers the weighted impurity most; with the squared
    error this is the least-squares split of the book,

    .. math:: \min_{j, s} \Big[ \min_{c_1} \sum_{x_j \le s} (y - c_1)^2
        + \min_{c_2} \sum_{x_j > s} (y - c_2)^2 \Big].

    The table may hold numbers, booleans, strings, ordered and unordered categories,
    dates and missing values as they are. Where scikit-learn has a parameter, its name,
    meaning and default are the same, so that an import of ``DecisionTreeRegressor``
    can be changed for this class.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Impurity of a node: variance about the mean; mean absolute deviation from the
        median; or half the Poisson deviance, :math:`\frac{1}{W} \sum w\, y \log
        (y / \bar y)`. "friedman_mse" is scikit-learn's deprecated second name for
        "squared_error".
    splitter : {"best", "random"}, default="best"
        The best threshold (or split of levels), or a random one per column.
    max_depth : int, default=None
        Largest depth; None: until the other limits stop.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a share of all rows.
    min_samples_leaf : int or float, default=1
        Rows every child must have, whatever these weigh, as in scikit-learn; a float
        is a share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight every child must have.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Columns sampled at each node; None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled columns, thresholds, tests and ties. Without these the tree
        does not depend on it.
    max_leaf_nodes : int, default=None
        Largest number of leaves; the nodes that gain most are split first. A many-way
        split that would exceed it is not made, and ends the growth.
    min_impurity_decrease : float, default=0.0
        A node is split if this lowers the impurity of the whole tree by at least as
        much, :math:`\frac{W_t}{W} \Delta i(t)`.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning (代价复杂度剪枝); 0: no
        pruning.
    pruning : None, str or pruner, default=None
        How the tree is cut back once it is grown: "cost_complexity" chooses
        ``ccp_alpha`` by cross-validation; "reduced_error", "pre_pruning", "loss" and
        "error_based" (classes only) are the others. A pruner such as
        :class:`CostComplexityPruning` has parameters, also as ``pruning__...``.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Constraints of all columns, or of some by their names. 1: the prediction may
        only rise with the column, -1: only fall, 0: free.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered
        ones are ordinal), none, or a mask,
        indices or names, as in HistGradientBoostingRegressor.
    categorical_split : {"subset", "one_vs_rest", "multiway"}, default="subset"
        How a nominal column divides its levels: into two subsets; one level against
        the rest, the A(x) = a of the book; or one branch per level.
    missing : {"learned", "branch", "surrogate", "error"}, default="learned"
        What becomes of missing values: the better child, found in training, as in
        scikit-learn; a child of their own; the child that a surrogate split on
        another column says, as in rpart; or they are an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        What becomes of a level without training rows in the node: the row stays and
        takes the node's own distribution; it goes into all children in proportion to
        their weight; or it is an error.
    tie_breaking : {"first", "random"}, default="first"
        Of equally good tests the first column and the lowest threshold win; or the
        first of columns in random order.
    top_splits : int, default=1
        A node takes one of so many best tests at random, each as likely: the best
        ones of the columns that lower the impurity most, and by no less than
        ``min_impurity_decrease``. For members of ensembles (算法参数扰动 [3]_ [4]_).
    n_jobs : int, default=None
        Threads; None: one per core, fewer in a parallel call. The tree is the same
        for any number.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.
    n_outputs_ : int
        Number of outputs.
    max_features_ : int
        Columns sampled at each node.
    n_missing_ : ndarray of int, shape (n_features,)
        Missing values of each column in training.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    tree_ : RoutedTree
        The tree as arrays, readable like scikit-learn's ``tree_``.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each column in the decrease of impurity.
    rules_ : sequence of dict
        One if-then rule per leaf, and one per inner node in which a row may stop.
    pruning_path_ : PruningTable
        With "cost_complexity": the subtrees, their risks, and which was chosen.
    pruning_report_ : PruningTable
        With any ``pruning``: the nodes that were looked at, what became of them, and
        the measure that decided.

    See Also
    --------
    CARTClassifier : The same for classes.
    sklearn.tree.DecisionTreeRegressor : Numeric columns only, thresholds in float32,
        ties broken by the order in which columns are sampled.

    Notes
    -----
    The differences from scikit-learn and rpart are those of
    :class:`CARTClassifier`. Nominal columns are divided exactly by sorting the levels
    by their mean, except with the absolute error, where all splits are tried up to
    10 levels and the order of the means is used beyond.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), Classification and
       Regression Trees.
    .. [2] 李航《统计学习方法》, section 5.5, algorithm 5.5.
    .. [3] 周志华《机器学习》, section 8.5.3.
    .. [4] T. G. Dietterich (2000), An experimental comparison ..., Machine Learning 40.

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
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        pruning=None,
        monotonic_cst=None,
        categorical_features="from_dtype",
        categorical_split="subset",
        missing="learned",
        handle_unknown="parent",
        tie_breaking="first",
        top_splits=1,
        n_jobs=None,
    ):
        if isinstance(criterion, str) and criterion == "friedman_mse":
            # scikit-learn's own name for the same splits, on its way out there too.
            warnings.warn(
                'criterion="friedman_mse" is deprecated and grows the same tree as '
                '"squared_error"; use that name.',
                FutureWarning,
                stacklevel=2,
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
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits
        self.n_jobs = n_jobs

    def _criterion_name(self):
        return "squared_error" if self.criterion == "friedman_mse" else self.criterion

    def _check_target(self, y, *, is_classifier):
        y = super()._check_target(y, is_classifier=is_classifier)
        if self._criterion_name() == "squared_error":
            require_squares(y)
        if self.criterion != "poisson":
            return y
        if (y < 0).any():
            raise ValueError(
                "Some value(s) of y are negative which is not allowed for Poisson "
                "regression."
            )
        if y.sum() <= 0:
            raise ValueError(
                "Sum of y is not positive which is necessary for Poisson regression."
            )
        return y

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
    ):
        """Grow the tree, and prune it if asked to.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; rows of weight 0 take no part.
        X_val, y_val : array-like, default=None
            Validation rows, not used to grow the tree, for a pruner that needs them.
        sample_weight_val : array-like of shape (n_val,), default=None
            Their weights.

        Returns
        -------
        self : CARTRegressor
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=False)
