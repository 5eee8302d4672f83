"""Random forests, 随机森林."""

from __future__ import annotations

from sklearn_textbook.ensemble.forest.base_forest_classifier import (
    BaseForestClassifier,
)
from sklearn_textbook.ensemble.forest.base_forest_regressor import BaseForestRegressor


class RandomForestClassifier(BaseForestClassifier):
    r"""Random forest of classification trees (随机森林) with exact thresholds.

    Every tree is grown on a bootstrap sample of the rows, and each split considers only
    some randomly sampled columns; the forest predicts the class with the largest mean
    probability

    .. math:: H(x) = \arg\max_c \frac{1}{T} \sum_{t=1}^{T} p_t(c \mid x).

    Parameters of scikit-learn's ``RandomForestClassifier`` have the same names,
    meanings and defaults, so that only the import needs to be changed.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss", "error", "gain_ratio"}, default="gini"
        Impurity whose decrease chooses the splits, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`; "gain_ratio" grows
        :class:`~sklearn_textbook.tree.C45Classifier` members without pruning and
        without the correction of gains: nominal columns are split many ways, and
        missing values divide cases.
    max_depth : int, default=None
        Largest depth of a tree; None: until the other limits stop.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a fraction of all rows. A row that was
        drawn twice counts once.
    min_samples_leaf : int or float, default=1
        Minimum rows in each child, whatever they weigh (a row that is drawn twice is
        one); a float is a fraction of all rows. With ``criterion="gain_ratio"`` weights
        are measured, as in :class:`~sklearn_textbook.tree.C45Classifier`.
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
    bootstrap : bool, default=True
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
        How a nominal column divides its levels; "auto": into subsets, but many ways
        with "gain_ratio".
    missing : str, default="auto"
        What becomes of missing values: "learned", "branch", "surrogate", "fractional",
        or they are an "error". "auto": "learned", the better child, but
        "fractional" with "gain_ratio", for which only that and "error" are allowed.
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
    RandomForestRegressor : The same for values.
    ExtraTreesClassifier : Draws thresholds, too.
    sklearn.ensemble.RandomForestClassifier : Numeric columns only, thresholds in
        float32.

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

    Every tree is grown on a bootstrap sample of the rows, and a split may consider only
    some randomly sampled columns; the forest predicts the mean

    .. math:: H(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(x).

    Parameters of scikit-learn's ``RandomForestRegressor`` have the same names, meanings
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
    bootstrap : bool, default=True
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
    RandomForestClassifier : The same for classes.
    ExtraTreesRegressor : Draws thresholds, too.
    sklearn.ensemble.RandomForestRegressor : Numeric columns only, thresholds in
        float32.

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
