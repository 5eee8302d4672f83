"""C4.5 Release 8 as J48 implements it (增益率决策树)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import CostMatrix, choose_classes, get_costs
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.parameters import check_choice, check_truth
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.gain_recipe import BaseGainTree, resolve_weight
from sklearn_textbook.tree.grow.rules import J48_TOLERANCE, GainRules
from sklearn_textbook.tree.prune import (
    ErrorBasedPruning,
    collapse_tree,
)
from sklearn_textbook.tree.route import pick_classes

if TYPE_CHECKING:
    from sklearn_textbook.tree.prune.base import BasePruner


class C45Classifier(BaseGainTree):
    r"""Classification tree by gain ratio with error-based pruning (C4.5, J48).

    Each node is split by the test with the largest gain ratio (增益率) among those
    whose gain is at least average:

    .. math:: R(D, A) = \frac{g(D, A)}{IV(A)}, \qquad
        IV(A) = - \sum_v \frac{|D^v|}{|D|} \log_2 \frac{|D^v|}{|D|},

    where g is the information gain. In the intrinsic value IV (固有值), the cases whose
    value of A is missing count as one more part. A nominal column has one branch per
    declared level. A numeric or ordinal column has two branches, and its gain is
    reduced by :math:`\log_2(n_\text{thresholds}) / |D|` to account for the choice of
    the threshold. A case whose tested value is missing goes down every branch with a
    fraction of its weight. Subtrees that do not reduce the training errors are
    collapsed; the tree is then pruned by estimated errors.

    With the defaults, the trees equal those of Weka's J48 (release 3.6.14); the user
    guide describes all rules. For the simpler variant of the textbooks, use
    ``gain_ratio_rule="plain"``, ``mdl_correction=False``, ``threshold="midpoint"``,
    ``collapse=False``, ``pruning=None`` and ``min_samples_leaf=1``.

    Parameters
    ----------
    gain_ratio_rule : {"above_average", "plain"}, default="above_average"
        Tests among which the gain ratio is maximized: those whose gain is at least
        average (less 0.001 bits), or all tests with a positive gain.
    mdl_correction : bool, default=True
        Whether to reduce the gain of numeric tests for the choice of the threshold, as
        C4.5 does since release 8.
    threshold : {"observed", "midpoint"}, default="observed"
        Position of a threshold between two neighbouring values: "midpoint" is their
        midpoint, "observed" the largest value in the whole table that does not exceed
        it.
    categorical_split : {"multiway", "one_vs_rest", "subset"}, default="multiway"
        How a nominal column divides its levels: "multiway" makes one branch per
        declared level; "one_vs_rest" separates one level from the others (J48 ``-B``);
        "subset" makes groups of levels, which are merged pair by pair as long as the
        gain ratio does not decrease (C4.5 ``-s``). "subset" takes cubic time and
        quadratic memory in the number of levels in a node.
    max_depth : int, default=None
        Maximum depth of the tree. None: limited only by the other parameters.
    min_samples_split : int or float, default=2
        Minimum weight of a node to be split; a float is a fraction of the total weight.
        The limit is never less than twice ``min_samples_leaf``.
    min_samples_leaf : int or float, default=2
        Minimum weight (not number) of cases with a known value in at least two branches
        of a test (J48 ``-M``); a float is a fraction of the total weight. For numeric
        tests, the minimum on both sides is a tenth of the known weight per class if
        that is larger, but at most 25. As in J48, this cap applies even if
        ``min_samples_leaf`` is above 25: in nodes where that tenth exceeds it, 25 is
        enough.
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
    collapse : bool, default=True
        Whether to replace subtrees that do not reduce the training errors by leaves
        before pruning. As in J48, this is not done if the pruning uses validation rows
        ("reduced_error", "pre_pruning").
    pruning : None, str or pruner, default="error_based"
        How the grown tree is pruned. "error_based" is :class:`ErrorBasedPruning`, whose
        parameters are the confidence factor (J48 ``-C``) and subtree raising (J48
        ``-S`` turns it off); None is J48 ``-U``; :class:`ReducedErrorPruning` is J48
        ``-R``, except for the choice of the held-out rows. In a grid search, set the
        parameters as ``pruning__confidence`` and ``pruning__subtree_raising``.
    laplace : bool, default=False
        Whether ``predict_proba`` adds one case of every class to each leaf (J48
        ``-A``). This does not change ``predict``.
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
    missing : {"fractional", "error"}, default="fractional"
        How missing values are treated: "fractional" sends the case down every branch
        with a fraction of its weight, in training, pruning and prediction; "error"
        raises an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without a branch is treated in prediction: "parent" predicts from
        the node itself; "fractional" sends the row down all branches in proportion to
        their weights; "error" raises an error.
    tie_breaking : {"first", "random"}, default="first"
        How ties between equally good tests are broken: "first" prefers the first column
        (with ``max_features``, the first one sampled) and the lowest threshold;
        "random" goes through the columns in random order.
    top_splits : int, default=1
        Number of best tests, each of a different column, from which one is drawn at
        random to split a node. They have the largest gain ratios among the tests that
        satisfy ``gain_ratio_rule`` and ``min_impurity_decrease``. For the members of an
        ensemble (算法参数扰动 [4]_); [5]_ draws from 20 tests, which may include
        several thresholds of one column.
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
    C45RulesClassifier : A rule list derived from the unpruned tree.
    ID3Classifier : Information gain, no pruning.
    CARTClassifier : Binary splits by Gini impurity.

    Notes
    -----
    A weight counts as that many copies of the row, so limits apply to sums of weights.
    J48 counts rows in two places, which makes no difference if all weights are 1.
    Weights that sum to 1 give a single leaf: scale them to sum to the number of rows.

    As in J48, values of a numeric column that differ by less than 1e-5 count as equal;
    rescale a column with much smaller values. In prediction, values are compared with
    thresholds exactly, whereas J48 allows a tolerance of 1e-6.

    Nominal columns with at least 0.3 N levels, where N is the weight of the table, are
    left out of the average gain; a node in which only such columns have a valid test is
    a leaf. If all columns are of this kind, none is left out. The rule does not apply
    with ``gain_ratio_rule="plain"``.

    A branch without cases is a leaf with the class distribution of its parent. Growing
    takes O(columns * rows * depth) time, where a row with missing values counts once
    for each branch that it enters.

    References
    ----------
    .. [1] J. R. Quinlan (1993), C4.5: Programs for Machine Learning.
    .. [2] J. R. Quinlan (1996), Improved use of continuous attributes in C4.5, JAIR 4.
    .. [3] 李航《统计学习方法》, section 5.3, algorithm 5.3.
    .. [4] 周志华《机器学习》, sections 4.2 to 4.4 and 8.5.3.
    .. [5] T. G. Dietterich (2000), An experimental comparison of three methods for
       constructing ensembles of decision trees, Machine Learning 40.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_play_tennis
    >>> from sklearn_textbook.tree import C45Classifier, export_text
    >>> X, y = load_play_tennis(return_X_y=True, as_frame=True)
    >>> print(export_text(C45Classifier().fit(X, y)))
    |--- outlook = sunny
    |   |--- humidity = high: no (3 rows, 100%)
    |   |--- humidity = normal: yes (2 rows, 100%)
    |--- outlook = overcast: yes (4 rows, 100%)
    |--- outlook = rain
    |   |--- windy = true: no (2 rows, 100%)
    |   |--- windy = false: yes (3 rows, 100%)
    <BLANKLINE>
    """

    _categorical_splits = ("multiway", "one_vs_rest", "subset")

    def __init__(
        self,
        *,
        gain_ratio_rule: str = "above_average",
        mdl_correction: bool = True,
        threshold: str = "observed",
        categorical_split: str = "multiway",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 2,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        collapse: bool = True,
        pruning: str | BasePruner | None = "error_based",
        laplace: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        cost_matrix: CostMatrix | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        missing: str = "fractional",
        handle_unknown: str = "parent",
        tie_breaking: str = "first",
        top_splits: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gain_ratio_rule = gain_ratio_rule
        self.mdl_correction = mdl_correction
        self.threshold = threshold
        self.categorical_split = categorical_split
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.collapse = collapse
        self.pruning = pruning
        self.laplace = laplace
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.categorical_features = categorical_features
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits
        self.random_state = random_state
        self.n_jobs = n_jobs

    _class_tolerance = J48_TOLERANCE

    def _check_parameters(self) -> None:
        check_choice(
            "gain_ratio_rule", self.gain_ratio_rule, ("above_average", "plain")
        )
        check_choice("threshold", self.threshold, ("observed", "midpoint"))
        for name in ("mdl_correction", "collapse", "laplace"):
            check_truth(name, getattr(self, name))
        super()._check_parameters()

    def _resolve_rules(self, table, target, weight, n_rows):
        total = float(table.n_rows if weight is None else weight.sum())
        # The default adds no limit to that of min_samples_leaf.
        split = resolve_weight(self.min_samples_split, total)
        split = 0.0 if self.min_samples_split == 2 else split
        branch = resolve_weight(self.min_samples_leaf, total)
        branch = self._resolve_min_branch(total, branch)
        gain = GainRules(
            choice=self.gain_ratio_rule,
            min_weight_split=max(split, 2.0 * branch),
            min_branch=branch,
            adapts_minimum=True,
            corrects_gain=bool(self.mdl_correction),
            keeps_observed=self.threshold == "observed",
            exact=False,
        )
        return self._resolve_growth(table, gain)

    def _warn_before_growth(self, table, target, weight) -> None:
        """Warn if the weights are too small for any test, as with those of boosting."""
        total = float(target.n_rows if weight is None else weight.sum())
        branch = resolve_weight(self.min_samples_leaf, total)
        branch = self._resolve_min_branch(total, branch)
        is_many = target.n_rows >= 2 * branch and target.n_classes[0] > 1
        if weight is not None and is_many and total < 2 * branch - J48_TOLERANCE:
            warn_caller(
                f"The tree is a single leaf: the weights of the {target.n_rows} rows "
                f"sum to {total:.6g}, but a test requires two branches of weight "
                f"{branch:.6g} each (min_samples_leaf={self.min_samples_leaf!r}). A "
                "weight counts as that many copies of the row: scale the weights to "
                "sum to the number of rows.",
                UserWarning,
            )

    def _finish_growth(self, tree, pruner, rows, n_threads):
        tree = super()._finish_growth(tree, pruner, rows, n_threads)
        # Error-based pruning collapses the tree itself, which is faster.
        is_needless = isinstance(pruner, ErrorBasedPruning)
        is_needless |= pruner is not None and not pruner.follows_collapse
        return collapse_tree(tree) if self.collapse and not is_needless else tree

    def _run_pruner(self, pruner, tree, data, n_threads):
        if self.collapse and isinstance(pruner, ErrorBasedPruning):
            data = replace(data, collapses=True)
        return super()._run_pruner(pruner, tree, data, n_threads)

    def _choose_classes(self, fractions):
        costs = get_costs(self)
        if costs is None:
            best = pick_classes(fractions[:, 0], self._class_tolerance)
        else:
            best = choose_classes(fractions[:, 0], costs, self._class_tolerance)
        return best[:, np.newaxis]

    def _share_statistics(self):
        tree = super()._share_statistics()
        if not self.laplace:
            return tree
        return tree.replace(statistics=tree.statistics + 1.0)

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
        """Grow the tree and prune it.

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
        self : C45Classifier
            The fitted estimator.
        """
        validation = (X_val, y_val, sample_weight_val)
        return self._fit_tree(X, y, sample_weight, validation, is_classifier=True)
