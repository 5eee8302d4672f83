"""Trees of limited depth with the smallest training loss (最优决策树)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import CostMatrix, read_cost_matrix
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
)
from sklearn_textbook._contract.scoring import ClassifierMixin, RegressorMixin
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.optimal_search import (
    COSTS,
    GINI,
    SQUARES,
    OptimalSearch,
)
from sklearn_textbook.tree.grow.rules import GrowthRules
from sklearn_textbook.tree.grow.target import require_squares
from sklearn_textbook.tree.recipe import (
    BaseTree,
    TreeClassifierMethods,
    TreeRegressorMethods,
)

MOST_DEPTH = 12


class BaseOptimalTree(BaseTree):
    """Parameters and search of both optimal trees."""

    _criteria: ClassVar[dict[str, tuple[int, str]]] = {}
    # Trees are pruned by ``complexity``, within the search.
    pruning = None

    def _check_parameters(self) -> None:
        check_integer("max_depth", self.max_depth, 1, MOST_DEPTH)
        check_choice("criterion", self.criterion, tuple(self._criteria))
        check_real("complexity", self.complexity, 0.0)
        if self.time_limit is not None:
            check_real("time_limit", self.time_limit, 0.0)
        check_choice("missing", self.missing, ("learned", "error"))
        check_choice(
            "handle_unknown", self.handle_unknown, ("parent", "fractional", "error")
        )

    def _takes_several_outputs(self) -> bool:
        return False

    def _criterion_name(self) -> str:
        return self._criteria[self.criterion][1]

    def _resolve_rules(self, table, target, weight, n_rows) -> GrowthRules:
        self.max_features_ = table.n_columns  # as all trees have it
        return GrowthRules(
            criterion=self._criterion_name(),
            max_depth=int(self.max_depth),
            max_features=table.n_columns,
            handle_unknown=self.handle_unknown,
        )

    @property
    def optimality_gap_(self) -> float:
        """Objective of the tree minus the lower bound of all objectives.

        Returns
        -------
        gap : float
            0.0 if the tree is optimal.
        """
        check_is_fitted(self)
        return self.objective_ - self.lower_bound_

    @property
    def is_optimal_(self) -> bool:
        """Whether no tree of its class has a smaller objective.

        Returns
        -------
        is_optimal : bool
            Whether this is proven.
        """
        return self.optimality_gap_ <= 0.0

    def _grow_and_prune(
        self, pruner, rows, table, validation, given, n_threads, grow_one=None
    ) -> None:
        # A member of an ensemble is searched, too, instead of grown by grow_one.
        super()._grow_and_prune(pruner, rows, table, validation, given, n_threads)

    def _find_altered_priors(self, rows):
        """Find the factors of the classes' weights: by errors, costs are exact."""
        if self.criterion == "misclassification":
            return None
        return super()._find_altered_priors(rows)

    def _grow(self, table, target, weight, rules, seed, n_threads) -> GrownTree:
        loss, costs = self._criteria[self.criterion][0], None
        if loss == COSTS and self.cost_matrix is not None:
            costs = read_cost_matrix(self.cost_matrix, self.classes_)
        search = OptimalSearch(table, target, weight, loss, costs)
        tests, lower, upper, is_interrupted = search.find(
            int(self.max_depth), float(self.complexity), self.time_limit, n_threads
        )
        tree = search.make_tree(tests, rules, self._criterion_name())
        leaves = tree.nodes[tree.nodes["n_children"] == 0]
        loss = (leaves["impurity"] * leaves["weight"]).sum() / search.total
        self.objective_ = float(loss + self.complexity * len(leaves))
        self.lower_bound_ = self.objective_
        if lower < upper:
            self.lower_bound_ = float(min(max(lower, 0.0), self.objective_))
        if is_interrupted:
            warn_caller(
                "The search was interrupted; the tree is the best one found, and its "
                f"objective, {self.objective_:.6g}, is at most "
                f"{self.optimality_gap_:.3g} above the smallest one.",
                UserWarning,
            )
        return tree


class OptimalTreeClassifier(ClassifierMixin, TreeClassifierMethods, BaseOptimalTree):
    r"""Classification tree of limited depth with the smallest loss (最优决策树).

    Of all trees T of depth up to ``max_depth`` it is one with the smallest

    .. math:: \frac{1}{W} \sum_{t \in T} W_t\, i(t) + c\, |T|,

    where the sum is over the leaves, :math:`W_t` is the weight of the rows in a leaf, W
    that of all rows, i the impurity, c the ``complexity`` and :math:`|T|` the number of
    leaves. CART chooses the best test of each node; this search, branch and bound,
    finds the best tree, and proves it by a lower bound of what any tree loses. If it is
    stopped, by ``time_limit`` or Ctrl-C, the result is the best tree found, and the gap
    between it and the lower bound is known.

    Parameters
    ----------
    max_depth : int, default=3
        Maximum depth of the tree, 1 to 12. Few tables of thousands of rows are finished
        at depth 4 or more.
    criterion : {"misclassification", "gini"}, default="misclassification"
        Loss of a leaf, per unit of weight: the error rate :math:`1 - \max p_k`, or the
        least expected cost :math:`\min_k \sum_j p_j C_{jk}` with a ``cost_matrix``;
        or the Gini index :math:`1 - \sum p_k^2`. The search by errors or costs is much
        faster.
    complexity : float, default=0.0
        What each leaf adds to the objective. With 0.01, a leaf must save one error in a
        hundred rows, or a cost of one.
    time_limit : float, default=60.0
        Seconds after which the search is stopped. None: no limit.
    class_weight : dict or "balanced", default=None
        Weight of each class, multiplied with the sample weights.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. The class of least expected cost
        is predicted. With "misclassification", its cost is the loss of a leaf, and what
        is minimized; with "gini", class weights are multiplied by the sum of their row,
        as in :class:`CARTClassifier`. None: all errors cost 1.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered
        ones are ordinal), none, or given by a mask, indices or names.
    missing : {"learned", "error"}, default="learned"
        How missing values are treated: "learned" sends them to the better side of each
        test; "error" raises an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in the node is treated in prediction: "parent"
        predicts from the node itself; "fractional" sends the row to both children in
        proportion to their weights; "error" raises an error.
    n_jobs : int, default=None
        Number of threads that search for trees of depth 3 or more. None: one per core,
        or fewer inside a parallel call. The tree does not depend on it unless the
        search is stopped.

    Attributes
    ----------
    objective_ : float
        Objective of the tree.
    lower_bound_ : float
        No tree of the class below has a smaller objective than this.
    optimality_gap_ : float
        ``objective_ - lower_bound_``; 0.0 if the tree is optimal.
    is_optimal_ : bool
        Whether the tree is proven to be optimal.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.
    n_outputs_ : int
        Number of outputs: 1.
    max_features_ : int
        Number of columns that are searched at each node: all.
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

    See Also
    --------
    OptimalTreeRegressor : The corresponding regression tree.
    CARTClassifier : The best test of each node, one after the other.

    Notes
    -----
    The tree is optimal among the trees whose tests are

    * of a numeric or ordinal column: all thresholds between neighbouring values;
    * of a nominal column with up to five levels: all sets of levels;
    * of a nominal column with more levels: one level against the rest, and the first
      levels of an order that is the same in all nodes. With two classes and at least 20
      units of weight per level, this is the order of the fractions of the second class
      in the training table; otherwise the declared order (strings: alphabetical). A
      column of many levels with few rows each thus has no more tests than a numeric
      column, and is not sorted by the classes of a few rows;

    each with missing values on either side, and missing against other values.
    Objectives are exact for weights that are whole numbers; others are rounded to 52
    bits of their sum. With these, "gini" or a ``complexity``, two objectives that
    differ by less than 1e-12 of the sum of weights count as equal.

    If several trees are optimal, rules that do not depend on ``n_jobs`` decide; it may
    be one with more leaves than another, unless there is a small ``complexity``.

    A threshold is not examined if those that were examined show that it is no better:
    moving rows of weight w to the other side changes the smallest error by w at most
    (the smallest cost by w times the largest cost), and a set of rows loses at least as
    much as any of its subsets. A tree of depth two takes at most O(n² d²) time with
    numeric columns, and much less if most thresholds need not be examined. The number
    of trees of depth three that are examined grows quickly with n and d.

    Differences from ConTree and STreeD: missing values, nominal columns and weights are
    allowed, several threads search, thresholds are exact (STreeD: columns are made
    binary before), and ``complexity`` counts leaves.

    References
    ----------
    .. [1] C. Brita, J. van der Linden, E. Demirović (2025), Optimal classification
       trees for continuous feature data using dynamic programming with
       branch-and-bound, AAAI.
    .. [2] R. Mazumder, X. Meng, H. Wang (2022), Quant-BnB: A scalable branch-and-bound
       method for optimal decision trees with continuous features, ICML.
    .. [3] J. van der Linden, M. de Weerdt, E. Demirović (2023), Necessary and
       sufficient conditions for optimal decision trees using dynamic programming,
       NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import OptimalTreeClassifier, export_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = OptimalTreeClassifier(max_depth=2, complexity=0.01).fit(X, y)
    >>> print(export_text(model), end="")
    |--- petal length (cm) <= 2.45: 0 (50 rows, 100%)
    |--- petal length (cm) > 2.45
    |   |--- petal width (cm) <= 1.65: 1 (52 rows, 92.3%)
    |   |--- petal width (cm) > 1.65: 2 (48 rows, 95.8%)
    >>> model.is_optimal_, round(model.objective_, 3)
    (True, 0.07)
    """

    _criteria: ClassVar = {
        "misclassification": (COSTS, "error"),
        "gini": (GINI, "gini"),
    }

    def __init__(
        self,
        *,
        max_depth: int = 3,
        criterion: str = "misclassification",
        complexity: float = 0.0,
        time_limit: float | None = 60.0,
        class_weight: dict[Any, float] | str | None = None,
        cost_matrix: CostMatrix | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        missing: str = "learned",
        handle_unknown: str = "parent",
        n_jobs: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.criterion = criterion
        self.complexity = complexity
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Search for the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight 0 are ignored.

        Returns
        -------
        self : OptimalTreeClassifier
            The fitted estimator.
        """
        return self._fit_tree(X, y, sample_weight, is_classifier=True)


class OptimalTreeRegressor(RegressorMixin, TreeRegressorMethods, BaseOptimalTree):
    r"""Regression tree of limited depth with the smallest squared error (最优决策树).

    Of all trees T of depth up to ``max_depth`` it is one with the smallest

    .. math:: \frac{1}{W} \sum_i w_i (y_i - \hat y_i)^2 + c\, |T|,

    where :math:`\hat y` is the mean of the leaf of a row, W the sum of the weights w, c
    the ``complexity`` and :math:`|T|` the number of leaves. If the search is stopped,
    by ``time_limit`` or Ctrl-C, the result is the best tree found, and the gap between
    it and a lower bound is known.

    Parameters
    ----------
    max_depth : int, default=3
        Maximum depth of the tree, 1 to 12. Few tables of thousands of rows are finished
        at depth 3 or more.
    complexity : float, default=0.0
        What each leaf adds to the objective, in squared units of y.
    time_limit : float, default=60.0
        Seconds after which the search is stopped. None: no limit.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered
        ones are ordinal), none, or given by a mask, indices or names.
    missing : {"learned", "error"}, default="learned"
        How missing values are treated: "learned" sends them to the better side of each
        test; "error" raises an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in the node is treated in prediction: "parent"
        predicts from the node itself; "fractional" sends the row to both children in
        proportion to their weights; "error" raises an error.
    n_jobs : int, default=None
        Number of threads that search for trees of depth 3 or more. None: one per core,
        or fewer inside a parallel call. The tree does not depend on it unless the
        search is stopped.

    Attributes
    ----------
    objective_ : float
        Objective of the tree.
    lower_bound_ : float
        No tree of the class below has a smaller objective than this.
    optimality_gap_ : float
        ``objective_ - lower_bound_``; 0.0 if the tree is optimal.
    is_optimal_ : bool
        Whether the tree is proven to be optimal.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.
    n_outputs_ : int
        Number of outputs: 1.
    max_features_ : int
        Number of columns that are searched at each node: all.
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

    See Also
    --------
    OptimalTreeClassifier : The corresponding classification tree.
    CARTRegressor : The best test of each node, one after the other.

    Notes
    -----
    The tests are those of :class:`OptimalTreeClassifier`; the levels of a nominal
    column with many rows of each are ordered by their means. Two objectives that differ
    by less than 1e-12 of that of a single leaf count as equal. Thresholds are only
    bounded by the losses of the left and the right side of others, which is less than
    what is known of errors, so that this search takes longer.

    References
    ----------
    .. [1] R. Mazumder, X. Meng, H. Wang (2022), Quant-BnB: A scalable branch-and-bound
       method for optimal decision trees with continuous features, ICML.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_regression_tree_example
    >>> from sklearn_textbook.tree import OptimalTreeRegressor
    >>> X, y = load_regression_tree_example(return_X_y=True)
    >>> model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    >>> model.get_n_leaves(), model.is_optimal_
    (4, True)
    """

    _criteria: ClassVar = {"squared_error": (SQUARES, "squared_error")}
    criterion = "squared_error"

    def __init__(
        self,
        *,
        max_depth: int = 3,
        complexity: float = 0.0,
        time_limit: float | None = 60.0,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        missing: str = "learned",
        handle_unknown: str = "parent",
        n_jobs: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.complexity = complexity
        self.time_limit = time_limit
        self.categorical_features = categorical_features
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.n_jobs = n_jobs

    def _check_target(self, y, *, is_classifier):
        y = super()._check_target(y, is_classifier=is_classifier)
        require_squares(y)
        return y

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Search for the tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight 0 are ignored.

        Returns
        -------
        self : OptimalTreeRegressor
            The fitted estimator.
        """
        return self._fit_tree(X, y, sample_weight, is_classifier=False)
