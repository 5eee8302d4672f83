"""Extremely randomised trees, 极端随机树."""

from __future__ import annotations

from sklearn_textbook.ensemble.forest.base_forest import select_parameters
from sklearn_textbook.ensemble.forest.base_forest_classifier import (
    BaseForestClassifier,
)
from sklearn_textbook.ensemble.forest.base_forest_regressor import BaseForestRegressor


class ExtraTreesClassifier(BaseForestClassifier):
    r"""Extremely randomised classification trees (极端随机树).

    At each node a tree samples some columns, draws a random threshold (or a random
    split of levels) for each, and uses the best of these; the forest predicts the class
    with the largest mean probability. Trees are grown on all rows unless
    ``bootstrap=True``.

    Parameters of scikit-learn's ``ExtraTreesClassifier`` have the same names, meanings
    and defaults, so that only the import needs to be changed.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity whose decrease chooses among the random splits, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`.
    max_depth : int, default=None
        Largest depth of a tree; None: until the other limits stop.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a fraction of all rows. A row that was
        drawn twice counts once.
    min_samples_leaf : int or float, default=1
        Minimum rows in each child, whatever they weigh (a row that is drawn twice is
        one); a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Fraction of the total weight that every child must have.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Columns sampled at each node (属性扰动): a count, a fraction of the columns, the
        square root of d, its binary logarithm (which the book recommends), or all
        (None).
    max_leaf_nodes : int, default=None
        Largest number of leaves of a tree; the nodes that gain most are split first.
    min_impurity_decrease : float, default=0.0
        A node is split if this lowers the impurity of its tree by at least as much.
    bootstrap : bool, default=False
        Whether every tree is grown on a bootstrap sample (自助采样) of the rows; False:
        on all rows.
    oob_score : bool, str or callable, default=False
        Whether to score the forest on out-of-bag rows (包外估计): with the accuracy,
        with the scorer of scikit-learn that has this name, or with a function of the
        true and the predicted class numbers. Needs ``bootstrap=True``.
    n_jobs : int, default=None
        Trees that grow at the same time, and threads that predict. None: one per core,
        or the setting of ``joblib.parallel_config``; -1: one per core. The forest is
        the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples and of the sampled columns.
    verbose : int, default=0
        1 prints about ten times how many members are fitted, a larger number prints
        it after each of them.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted trees and adds more, up to ``n_estimators``.
    class_weight : dict, list of dict, {"balanced", "balanced_subsample"}, default=None
        Weights of the classes: given, inverse to their frequency, or inverse to their
        frequency in each bootstrap sample. With ``bootstrap=True`` the first two
        change the probability with which rows are drawn.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning; 0: no pruning.
    max_samples : int or float, default=None
        Rows of a bootstrap sample: a count, a fraction of all, or as many as there are.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Constraints of all columns, or of some by their names. 1: the prediction may
        only rise with the column, -1: only fall, 0: free.
    voting : {"soft", "hard"}, default="soft"
        How trees are combined: by the mean of their probabilities, as in scikit-learn,
        or one vote each (简单投票法), as in the book and in Breiman's paper; then of
        classes with equally many votes the one with the largest mean probability is
        chosen.
    pruning : None, str or pruner, default=None
        How every tree is pruned: "out_of_bag" uses its out-of-bag rows; the others are
        those of the single trees.
    max_bins : int, default=None
        None: numeric columns are split exactly. An integer groups the values of a
        column into at most this many bins, which is faster.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or a mask, indices or names.
    categorical_split : {"auto", "subset", "one_vs_rest", "multiway"}, default="auto"
        How a nominal column divides its levels; "auto": into subsets.
    missing : {"auto", "learned", "branch", "surrogate", "error"}, default="auto"
        What becomes of missing values. "auto": "learned", the better child.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        What becomes of a level without training rows in a node.
    tie_breaking : {"first", "random"}, default="first"
        Of equally good splits that of the first sampled column is taken; "random": that
        of the first in a random order of all columns.
    top_splits : int, default=1
        Each node takes one of this many best splits at random (算法参数扰动); 1: the
        best.

    Attributes
    ----------
    estimator : tree estimator
        The tree that all would be like if the forest were fitted now.
    estimator_ : tree estimator
        The tree that all are like, not fitted.
    estimators_ : list of tree estimators
        The trees. They have the class labels, so that each can be explained alone.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.
    n_outputs_ : int
        Number of outputs.
    classes_ : ndarray of shape (n_classes,), or list of such arrays
        Class labels.
    n_classes_ : int or list of int
        Number of classes.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: its fraction of the decrease of impurity.
    estimators_samples_ : list of ndarray of int
        The rows that each tree was grown on.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... trees, with ``oob_score``: the fraction
        of wrong classes over the rows scored so far.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities (or votes) of the trees for which the row is out of bag; 0 if
        there is none. With several outputs the shape is (n_samples, n_classes,
        n_outputs).

    See Also
    --------
    ExtraTreesRegressor : The same for values.
    RandomForestClassifier : Takes the best threshold.
    sklearn.ensemble.ExtraTreesClassifier : Numeric columns only, thresholds in float32.

    Notes
    -----
    The table is read and encoded once for all trees; a bootstrap sample is a weight
    per row. Growing takes O(n log n · max_features) per tree, in one thread each.

    Differences from scikit-learn: thresholds are exact in float64; nominal columns and
    missing values are taken as they are; of equally good splits that of the first
    sampled column is taken; a seed draws the same rows, but samples other columns at
    the nodes. ``estimators_`` have the labels, where scikit-learn's have class numbers.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006), Extremely randomized trees.
    .. [2] 周志华《机器学习》, section 8.5.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        voting="soft",
        pruning=None,
        max_bins=None,
        categorical_features="from_dtype",
        categorical_split="auto",
        missing="auto",
        handle_unknown="parent",
        tie_breaking="first",
        top_splits=1,
    ):
        super().__init__(**select_parameters(locals()))


class ExtraTreesRegressor(BaseForestRegressor):
    r"""Extremely randomised regression trees (极端随机树).

    At each node a tree samples some columns, draws a random threshold (or a random
    split of levels) for each, and uses the best of these; the forest predicts the mean.
    Trees are grown on all rows unless ``bootstrap=True``.

    Parameters of scikit-learn's ``ExtraTreesRegressor`` have the same names, meanings
    and defaults, so that only the import needs to be changed.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        Impurity whose decrease chooses the splits, as in
        :class:`~sklearn_textbook.tree.CARTRegressor`.
    max_depth : int, default=None
        Largest depth of a tree; None: until the other limits stop.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a fraction of all rows. A row that was
        drawn twice counts once.
    min_samples_leaf : int or float, default=1
        Minimum rows in each child, whatever they weigh (a row that is drawn twice is
        one); a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Fraction of the total weight that every child must have.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns sampled at each node (属性扰动): a count, a fraction of the columns, the
        square root of d, its binary logarithm (which the book recommends), or all
        (None).
    max_leaf_nodes : int, default=None
        Largest number of leaves of a tree; the nodes that gain most are split first.
    min_impurity_decrease : float, default=0.0
        A node is split if this lowers the impurity of its tree by at least as much.
    bootstrap : bool, default=False
        Whether every tree is grown on a bootstrap sample (自助采样) of the rows; False:
        on all rows.
    oob_score : bool, str or callable, default=False
        Whether to score the forest on out-of-bag rows (包外估计): with the R² score,
        with the scorer of scikit-learn that has this name, or with a function of the
        true and the predicted values. Needs ``bootstrap=True``.
    n_jobs : int, default=None
        Trees that grow at the same time, and threads that predict. None: one per core,
        or the setting of ``joblib.parallel_config``; -1: one per core. The forest is
        the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples and of the sampled columns.
    verbose : int, default=0
        1 prints about ten times how many members are fitted, a larger number prints
        it after each of them.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted trees and adds more, up to ``n_estimators``.
    ccp_alpha : non-negative float, default=0.0
        Complexity parameter of minimal cost-complexity pruning; 0: no pruning.
    max_samples : int or float, default=None
        Rows of a bootstrap sample: a count, a fraction of all, or as many as there are.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Constraints of all columns, or of some by their names. 1: the prediction may
        only rise with the column, -1: only fall, 0: free.
    pruning : None, str or pruner, default=None
        How every tree is pruned: "out_of_bag" uses its out-of-bag rows; the others are
        those of the single trees.
    max_bins : int, default=None
        None: numeric columns are split exactly. An integer groups the values of a
        column into at most this many bins, which is faster.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or a mask, indices or names.
    categorical_split : {"auto", "subset", "one_vs_rest", "multiway"}, default="auto"
        How a nominal column divides its levels; "auto": into subsets.
    missing : {"auto", "learned", "branch", "surrogate", "error"}, default="auto"
        What becomes of missing values. "auto": "learned", the better child.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        What becomes of a level without training rows in a node.
    tie_breaking : {"first", "random"}, default="first"
        Of equally good splits that of the first sampled column is taken; "random": that
        of the first in a random order of all columns.
    top_splits : int, default=1
        Each node takes one of this many best splits at random (算法参数扰动); 1: the
        best.

    Attributes
    ----------
    estimator : tree estimator
        The tree that all would be like if the forest were fitted now.
    estimator_ : tree estimator
        The tree that all are like, not fitted.
    estimators_ : list of tree estimators
        The trees.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: its fraction of the decrease of impurity.
    estimators_samples_ : list of ndarray of int
        The rows that each tree was grown on.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... trees, with ``oob_score``: the mean
        squared error over the rows scored so far.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the trees for which the row is out of bag; 0 if there is
        none.

    See Also
    --------
    ExtraTreesClassifier : The same for classes.
    RandomForestRegressor : Takes the best threshold.
    sklearn.ensemble.ExtraTreesRegressor : Numeric columns only, thresholds in float32.

    Notes
    -----
    The table is read and encoded once for all trees; a bootstrap sample is a weight
    per row. Growing takes O(n log n · max_features) per tree, in one thread each.

    Differences from scikit-learn: thresholds are exact in float64; nominal columns and
    missing values are taken as they are; of equally good splits that of the first
    sampled column is taken; a seed draws the same rows, but samples other columns at
    the nodes.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006), Extremely randomized trees.
    .. [2] 周志华《机器学习》, section 8.5.3.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_regression_tree_example
    >>> from sklearn_textbook.ensemble import ExtraTreesRegressor
    >>> X, y = load_regression_tree_example(return_X_y=True)
    >>> ExtraTreesRegressor(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _splitter = "random"

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        pruning=None,
        max_bins=None,
        categorical_features="from_dtype",
        categorical_split="auto",
        missing="auto",
        handle_unknown="parent",
        tie_breaking="first",
        top_splits=1,
    ):
        super().__init__(**select_parameters(locals()))
