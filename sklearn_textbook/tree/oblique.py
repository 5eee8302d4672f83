"""Oblique trees (多变量决策树): tests of weighted sums of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.costs import CostMatrix
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.scoring import ClassifierMixin, RegressorMixin
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.grow.target import require_counts, require_squares
from sklearn_textbook.tree.oblique_recipe import BaseOblique
from sklearn_textbook.tree.recipe import TreeClassifierMethods, TreeRegressorMethods

if TYPE_CHECKING:
    from sklearn_textbook.tree.prune.base import BasePruner


class ObliqueTreeClassifier(ClassifierMixin, TreeClassifierMethods, BaseOblique):
    r"""Classification tree with oblique tests (多变量决策树, 斜决策树).

    A node tests a weighted sum of columns,

    .. math:: \sum_j w_j x_j \leq t,

    where the direction w is computed from the rows of the node, or drawn at random, and
    the threshold t is the one with the largest decrease of impurity along that
    direction. A test of a single column is used where no direction is better; see
    ``prefer_axis``.

    To compute a direction, columns are standardized within the node; the weights stored
    refer to the original values. In a sum, each level of a nominal column is replaced
    by a number (target coding: the smoothed fraction of one group of classes).

    Parameters
    ----------
    direction : {"lda", "logistic", "ridge", "ols", "oc1", "random"}, default="lda"
        How directions are found: "lda" is Fisher's linear discriminant; "logistic" a
        logistic regression; "ridge" and "ols" are a ridge and a least-squares
        regression of a class indicator; "oc1" is the search of OC1, which sets one
        weight after the other to its best value, from several starts; "random" draws
        sparse directions, as in sparse oblique forests. With more than two classes,
        "logistic", "ridge", "ols" and "oc1" separate the two groups of classes that
        Fisher's discriminant separates best.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity of a node.
    max_depth : int, default=None
        Maximum depth of the tree. None: no limit.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each child, whatever their weights; a float is a
        fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in each child.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Number of columns sampled at each node for the tests of a single column, and for
        each computed direction. None: all.
    max_features_per_split : int, default=None
        Maximum number of columns in a test. A computed direction is reduced by dropping
        the half of its columns with the smallest weights and computing it again, as
        often as necessary. None: no limit, except with ``direction="random"``, where it
        is 3. Random directions have between 1 and this number of columns.
    n_directions : int, float, {"sqrt", "log2"}, default=None
        Number of directions tried at each node; a float or string is relative to the
        number of columns. None: 1; with "oc1", 20 starts; with "random", as many as
        columns.
    prefer_axis : float, default=0.0
        Preference for tests of a single column. An oblique test of k columns is chosen
        if its decrease of impurity exceeds that of the best such test by more than the
        fraction ``prefer_axis * (k - 1)`` of the latter. 0.0: the larger decrease wins.
        None: only oblique tests are searched.
    ridge : float, default=0.001
        Ridge penalty on standardized columns, for "lda", "logistic", "ridge" and the
        first start of "oc1".
    lasso : float, default=0.0
        Lasso penalty for "lda", "logistic", "ridge" and "ols", as a fraction of the
        smallest penalty for which all weights are 0. Larger values give sparser tests.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling columns, and for random directions and starts.
    max_leaf_nodes : int, default=None
        Maximum number of leaves; the node with the largest decrease of impurity is
        split first.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the impurity of the whole tree by at
        least this value.
    class_weight : dict, list of dict or "balanced", default=None
        Weight of each class, multiplied with the sample weights.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. Trees are grown with class
        weights multiplied by the sum of their row; the class of least expected cost
        is predicted, and pruning counts costs instead of errors. None: all errors cost
        the same. For one output.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning. 0: no pruning.
    pruning : None, str or pruner, default=None
        How the grown tree is pruned, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`; for error-based pruning, use
        ``ErrorBasedPruning(subtree_raising=False)``.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names.
    categorical_smoothing : "auto" or float, default="auto"
        How far means of levels of nominal columns with more than nine levels are
        smoothed, as in :class:`~sklearn_textbook.tree.CARTClassifier`; 0: not at all.
    missing : {"mean", "error"}, default="mean"
        How missing values are treated: "mean" replaces them by the mean of their column
        in the node in an oblique test, and sends them to the child that is better in
        training in a test of a single column; "error" raises an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in the node is treated in prediction: "parent"
        predicts from the node itself; "fractional" sends the row to all children in
        proportion to their weights; "error" raises an error.
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
    n_directions_ : int
        Number of directions tried at each node.
    n_missing_ : ndarray of int, shape (n_features,)
        Number of missing values in each column of the training table.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    tree_ : RoutedTree
        The tree as arrays. ``tree_.terms`` contains the weights of the oblique tests.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances, normalized to sum to 1. The decrease of an oblique
        test is divided among its columns in proportion to their absolute weights in
        standard units.
    rules_ : sequence of dict
        If-then rules: one per leaf and one per inner node in which a row may end.
    pruning_path_ : PruningTable
        With "cost_complexity": the subtrees, their risks, and the chosen one.
    pruning_report_ : PruningTable
        With any ``pruning``: the nodes considered and the decision on each.

    See Also
    --------
    ObliqueTreeRegressor : The corresponding regression tree.
    CARTClassifier : Tests of a single column only.

    Notes
    -----
    For the n rows of a node, a direction of k columns takes O(n k²) time, a random
    direction O(n log n), and "oc1" O(n log n) for every weight that it changes, using
    at most 2000 rows. A computed direction has at most 256 columns, and at most half as
    many as the node has distinct rows: those most correlated with the class indicator.
    Sums that differ by less than their rounding error count as equal. Up to rounding,
    trees do not depend on the scale of the columns.

    Differences from OC1 and CART-LC: the search starts from a test of a single column
    or a regression, and from random weights; local optima are not perturbed. Tables may
    have missing values and nominal columns.

    References
    ----------
    .. [1] 周志华《机器学习》, section 4.5.
    .. [2] S. Murthy, S. Kasif, S. Salzberg (1994), A system for induction of oblique
       decision trees, Journal of Artificial Intelligence Research 2.
    .. [3] L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), Classification and
       Regression Trees, section 5.2.
    .. [4] T. Tomita et al. (2020), Sparse projection oblique randomer forests, Journal
       of Machine Learning Research 21.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.tree import ObliqueTreeClassifier
    >>> X, y = load_watermelon(version="3.0alpha", return_X_y=True)
    >>> model = ObliqueTreeClassifier(direction="logistic").fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    _criteria = ("gini", "entropy", "log_loss")
    _directions = ("lda", "logistic", "ridge", "ols", "oc1", "random")

    def __init__(
        self,
        *,
        direction: str = "lda",
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        max_features_per_split: int | None = None,
        n_directions: float | str | None = None,
        prefer_axis: float = 0.0,
        ridge: float = 0.001,
        lasso: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, float] | Sequence[dict[Any, float]] | str | None = None,
        cost_matrix: CostMatrix | None = None,
        ccp_alpha: float = 0.0,
        pruning: str | BasePruner | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_smoothing: float | str = "auto",
        missing: str = "mean",
        handle_unknown: str = "parent",
        n_jobs: int | None = None,
    ) -> None:
        self.direction = direction
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_features_per_split = max_features_per_split
        self.n_directions = n_directions
        self.prefer_axis = prefer_axis
        self.ridge = ridge
        self.lasso = lasso
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.categorical_features = categorical_features
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.handle_unknown = handle_unknown
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
        self : ObliqueTreeClassifier
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=True)


class ObliqueTreeRegressor(RegressorMixin, TreeRegressorMethods, BaseOblique):
    r"""Regression tree with oblique tests.

    A node tests a weighted sum of columns,

    .. math:: \sum_j w_j x_j \leq t,

    where the direction w is computed from the rows of the node, or drawn at random, and
    the threshold t is the one with the largest decrease of impurity along the
    direction. A test of one column is used where no direction is better, see
    ``prefer_axis``. A leaf predicts the mean of its rows.

    To compute a direction, columns are standardized within the node; the weights stored
    refer to the original values. In a sum, each level of a nominal column is replaced
    by a number (target coding: the smoothed mean of y).

    Parameters
    ----------
    direction : {"ridge", "ols", "oc1", "random"}, default="ridge"
        How directions are found: "ridge" and "ols" are a ridge and a least-squares
        regression; "oc1" is the search of OC1, which sets one weight after the other to
        its best value, from several starts; "random" draws sparse directions, as in
        sparse oblique forests. With several outputs, the output with the largest
        variance in the node is used.
    criterion : {"squared_error", "poisson"}, default="squared_error"
        Impurity of a node: the variance, or half the mean Poisson deviance.
    max_depth : int, default=None
        Maximum depth of the tree. None: no limit.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each child, whatever their weights; a float is a
        fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in each child.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Number of columns sampled at each node for the tests of a single column, and for
        each computed direction. None: all.
    max_features_per_split : int, default=None
        Maximum number of columns in a test. A computed direction is reduced by dropping
        the half of its columns with the smallest weights and computing it again, as
        often as necessary. None: no limit, except with ``direction="random"``, where it
        is 3. Random directions have between 1 and this number of columns.
    n_directions : int, float, {"sqrt", "log2"}, default=None
        Number of directions tried at each node; a float or string is relative to the
        number of columns. None: 1; with "oc1", 20 starts; with "random", as many as
        columns.
    prefer_axis : float, default=0.0
        Preference for tests of a single column. An oblique test of k columns is chosen
        if its decrease of impurity exceeds that of the best such test by more than the
        fraction ``prefer_axis * (k - 1)`` of the latter. 0.0: the larger decrease wins.
        None: only oblique tests are searched.
    ridge : float, default=0.001
        Ridge penalty on standardized columns, for "ridge" and the first start of "oc1".
    lasso : float, default=0.0
        Lasso penalty for "ridge" and "ols", as a fraction of the smallest
        penalty for which all weights are 0. Larger values give sparser tests.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling columns, and for random directions and starts.
    max_leaf_nodes : int, default=None
        Maximum number of leaves; the node with the largest decrease of impurity is
        split first.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the impurity of the whole tree by at
        least this value.
    ccp_alpha : float, default=0.0
        Complexity parameter of minimal cost-complexity pruning. 0: no pruning.
    pruning : None, str or pruner, default=None
        How the grown tree is pruned, as in
        :class:`~sklearn_textbook.tree.CARTRegressor`.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names.
    categorical_smoothing : "auto" or float, default="auto"
        How far means of levels of nominal columns with more than nine levels are
        smoothed, as in :class:`~sklearn_textbook.tree.CARTClassifier`; 0: not at all.
    missing : {"mean", "error"}, default="mean"
        How missing values are treated: "mean" replaces them by the mean of their column
        in the node in an oblique test, and sends them to the child that is better in
        training in a test of a single column; "error" raises an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in the node is treated in prediction: "parent"
        predicts from the node itself; "fractional" sends the row to all children in
        proportion to their weights; "error" raises an error.
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
    n_directions_ : int
        Number of directions tried at each node.
    n_missing_ : ndarray of int, shape (n_features,)
        Number of missing values in each column of the training table.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    tree_ : RoutedTree
        The tree as arrays. ``tree_.terms`` contains the weights of the oblique tests.
    feature_importances_ : ndarray of shape (n_features,)
        Impurity-based importances, normalized to sum to 1. The decrease of an oblique
        test is divided among its columns in proportion to their absolute weights in
        standard units.
    rules_ : sequence of dict
        If-then rules: one per leaf and one per inner node in which a row may end.
    pruning_path_ : PruningTable
        With "cost_complexity": the subtrees, their risks, and the chosen one.
    pruning_report_ : PruningTable
        With any ``pruning``: the nodes considered and the decision on each.

    See Also
    --------
    ObliqueTreeClassifier : The corresponding classification tree.
    CARTRegressor : Tests of a single column only.

    Notes
    -----
    See :class:`ObliqueTreeClassifier` for time, limits and references.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree import CARTRegressor, ObliqueTreeRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X @ [2.0, 1.0] > 0.5).astype(float)
    >>> ObliqueTreeRegressor().fit(X, y).get_n_leaves()
    2
    >>> CARTRegressor().fit(X, y).get_n_leaves() > 10
    True
    """

    _criteria = ("squared_error", "poisson")
    _directions = ("ridge", "ols", "oc1", "random")

    def __init__(
        self,
        *,
        direction: str = "ridge",
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        max_features_per_split: int | None = None,
        n_directions: float | str | None = None,
        prefer_axis: float = 0.0,
        ridge: float = 0.001,
        lasso: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        pruning: str | BasePruner | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_smoothing: float | str = "auto",
        missing: str = "mean",
        handle_unknown: str = "parent",
        n_jobs: int | None = None,
    ) -> None:
        self.direction = direction
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_features_per_split = max_features_per_split
        self.n_directions = n_directions
        self.prefer_axis = prefer_axis
        self.ridge = ridge
        self.lasso = lasso
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.categorical_features = categorical_features
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.n_jobs = n_jobs

    def _check_target(self, y, *, is_classifier):
        y = super()._check_target(y, is_classifier=is_classifier)
        if self.criterion == "squared_error":
            require_squares(y)
        else:
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
        self : ObliqueTreeRegressor
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=False)
