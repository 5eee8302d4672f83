"""ID3 (Iterative Dichotomiser 3, 信息增益决策树)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.costs import CostMatrix
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.parameters import check_real
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.gain_recipe import BaseGainTree, resolve_weight
from sklearn_textbook.tree.grow.rules import GainRules

if TYPE_CHECKING:
    from sklearn_textbook.tree.prune.base import BasePruner


class ID3Classifier(BaseGainTree):
    r"""Classification tree with multiway splits by information gain (ID3, 信息增益).

    Each node tests the column with the largest information gain

    .. math:: g(D, A) = \rho \Bigl( H(\tilde D)
        - \sum_v \tilde r_v H(\tilde D^v) \Bigr), \qquad
        H(D) = - \sum_k p_k \log_2 p_k,

    where :math:`\tilde D` are the cases whose value of A is known, :math:`\rho` is
    their fraction of the weight of D, and :math:`\tilde r_v` is the fraction of their
    weight in branch v. A nominal column has one branch per declared level and is not
    tested again below. A numeric or ordinal column has two branches, divided at a
    midpoint between neighbouring values (连续值的二分法), and may be tested again. A
    case whose value is missing goes down every branch v with the fraction :math:`\tilde
    r_v` of its weight.

    A node is a leaf if all its cases are of one class, if no column divides it, or if
    the largest gain is below ``min_gain``, the :math:`\varepsilon` of the textbook.

    Parameters
    ----------
    min_gain : float, default=0.0
        Minimum information gain, in bits, of a split (:math:`\varepsilon` of algorithm
        5.2). With 0, even a test with no gain splits a node.
    max_depth : int, default=None
        Maximum depth of the tree. None: limited only by the other parameters.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
        The default of 2 is no limit, since two cases of different classes can always be
        split, with one exception: below a test that divided cases among its branches, a
        node of weight below 1 is a leaf, which bounds the splitting of fractional
        cases. With many missing values, 3 keeps the tree small.
    min_samples_leaf : int or float, default=1
        Minimum weight (not number) of cases with a known value in every nonempty
        branch; a float is a fraction of the total weight. The default of 1 is no limit:
        even a fraction of a case is enough.
    min_weight_fraction_leaf : float, default=0.0
        ``min_samples_leaf`` as a fraction of the total weight; the larger of the two
        applies.
    max_features : int, float, {"sqrt", "log2"}, default=None
        Number of columns sampled at each node. None: all.
    max_leaf_nodes : int, default=None
        Maximum number of leaves. The node with the largest decrease of entropy is split
        first; growth stops at a multiway split that would exceed the maximum.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the entropy of the whole tree by at least
        this value, :math:`\frac{W_t}{W} \Delta H(t)`.
    class_weight : dict or "balanced", default=None
        Weights of the classes, as in scikit-learn.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. Trees are grown with class
        weights multiplied by the sum of their row; the class of least expected cost
        is predicted, and pruning counts costs instead of errors. None: all errors cost
        the same. For one output.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names, as in
        HistGradientBoostingClassifier. By dtype, strings and unordered categories are
        nominal, ordered categories and polars Enum columns are ordinal, and objects are
        nominal unless all are numbers, booleans or dates, which are numeric.
    categorical_split : {"multiway", "one_vs_rest"}, default="multiway"
        How a nominal column divides its levels: "multiway" makes one branch per
        declared level; "one_vs_rest" separates the level with the largest gain from all
        others.
    missing : {"fractional", "error"}, default="fractional"
        How missing values are treated: "fractional" sends the case down every branch
        with a fraction of its weight, in training and in prediction; "error" raises an
        error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without a branch is treated in prediction: "parent" predicts from
        the node itself; "fractional" sends the row down all branches in proportion to
        their weights; "error" raises an error.
    pruning : None, str or pruner, default=None
        How the grown tree is pruned; "error_based" is the method of C4.5
        (:class:`ErrorBasedPruning`).
    tie_breaking : {"first", "random"}, default="first"
        How ties between equally good tests are broken: "first" prefers the first column
        (with ``max_features``, the first one sampled) and the lowest threshold;
        "random" goes through the columns in random order.
    top_splits : int, default=1
        Number of best tests, each of a different column, from which one is drawn at
        random to split a node; each satisfies ``min_gain`` and
        ``min_impurity_decrease``. For the members of an ensemble (算法参数扰动 [2]_
        [4]_).
    random_state : int, RandomState instance or None, default=None
        Seed for sampling columns and tests, and for random ties.
    n_jobs : int, default=None
        Number of threads. None: one per core, or fewer inside a parallel call. The tree
        does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.
    n_outputs_ : int
        1.
    max_features_ : int
        Number of columns sampled at each node.
    n_missing_ : ndarray of int, shape (n_features,)
        Number of missing values in each column of the training table.
    schema_ : TableSchema
        Kinds, names and levels of the columns.
    tree_ : RoutedTree
        The tree as arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Entropy-based importances, normalized to sum to 1.
    rules_ : sequence of dict
        If-then rules: one per leaf and, with ``handle_unknown="parent"``, one per inner
        node in which a row with an unseen level may end.
    pruning_path_ : PruningTable
        With "cost_complexity": the sequence of subtrees, their risks, and the chosen
        one.
    pruning_report_ : PruningTable
        With any ``pruning``: the nodes considered, the decision on each, and the
        measure behind it.

    See Also
    --------
    C45Classifier : Gain ratio and error-based pruning (C4.5).
    CARTClassifier : Binary splits by Gini impurity.

    Notes
    -----
    A branch without cases is a leaf with the class distribution of its parent. A weight
    counts as that many copies of the row, so limits apply to sums of weights.
    Information gain favours columns with many levels: leave out identifiers, or use
    :class:`C45Classifier`.

    Quinlan's ID3 and Weka's ``Id3`` support only nominal columns without missing
    values.

    References
    ----------
    .. [1] 李航《统计学习方法》, section 5.3, algorithm 5.2.
    .. [2] 周志华《机器学习》, sections 4.2, 4.4 and 8.5.3, figure 4.2.
    .. [3] J. R. Quinlan (1986), Induction of decision trees, Machine Learning 1.
    .. [4] T. G. Dietterich (2000), An experimental comparison of three methods for
       constructing ensembles of decision trees, Machine Learning 40.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_loan
    >>> from sklearn_textbook.tree import ID3Classifier, export_text
    >>> X, y = load_loan(return_X_y=True, as_frame=True)
    >>> print(export_text(ID3Classifier().fit(X, y)))
    |--- 有自己的房子 = 是: 是 (6 rows, 100%)
    |--- 有自己的房子 = 否
    |   |--- 有工作 = 是: 是 (3 rows, 100%)
    |   |--- 有工作 = 否: 否 (6 rows, 100%)
    <BLANKLINE>
    """

    _categorical_splits = ("multiway", "one_vs_rest")

    def __init__(
        self,
        *,
        min_gain: float = 0.0,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        cost_matrix: CostMatrix | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_split: str = "multiway",
        missing: str = "fractional",
        handle_unknown: str = "parent",
        pruning: str | BasePruner | None = None,
        tie_breaking: str = "first",
        top_splits: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.pruning = pruning
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_real("min_gain", self.min_gain, 0.0)
        super()._check_parameters()

    def _resolve_rules(self, table, target, weight, n_rows):
        total = float(table.n_rows if weight is None else weight.sum())
        split = resolve_weight(self.min_samples_split, total)
        branch = resolve_weight(self.min_samples_leaf, total)
        # The defaults set no limit, except for nodes below a divided case.
        split = 0.0 if self.min_samples_split == 2 else split
        branch = 0.0 if self.min_samples_leaf == 1 else branch
        gain = GainRules(
            choice="gain",
            min_gain=float(self.min_gain),
            min_weight_split=split,
            min_divided_weight=1.0,
            min_branch=self._resolve_min_branch(total, branch),
            needs_all_branches=True,
        )
        return self._resolve_growth(table, gain)

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
        """Grow the tree, and prune it according to ``pruning``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or one that :func:`~sklearn_textbook.io.scan` reads in
            blocks: y and the weights are then names of its columns.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight 0 are ignored in growing and pruning,
            but their classes remain in ``classes_``, and the levels of their strings
            remain declared, each with a branch in multiway tests.
        X_val, y_val : array-like, default=None
            Validation rows for the pruner. They are not used to grow the tree.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weights of the validation rows.

        Returns
        -------
        self : ID3Classifier
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=True)
