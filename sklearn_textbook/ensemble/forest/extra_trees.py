"""Extremely randomised trees, 极端随机树."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.costs import CostMatrix
from sklearn_textbook.ensemble.forest.random_forest import (
    BaseForestClassifier,
    BaseForestRegressor,
    select_parameters,
)


class ExtraTreesClassifier(BaseForestClassifier):
    r"""Forest of extremely randomised classification trees (极端随机树).

    At each node, a tree samples some columns, draws a random threshold (or a random
    split of levels) for each, and uses the best of these splits. The forest predicts
    the class with the largest mean probability. Each tree is grown on all rows unless
    ``bootstrap=True``.

    Parameters of scikit-learn's ``ExtraTreesClassifier`` have the same name, meaning
    and default here, so it is enough to replace the import.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss", "error"}, default="gini"
        Impurity by which the best of the random splits is chosen, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`.
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
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Number of columns sampled at each node (属性扰动): an integer, a fraction of the
        d columns, their square root or binary logarithm (which the textbook
        recommends). None: all.
    max_leaf_nodes : int, default=None
        Maximum number of leaves of a tree, grown best-first.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases the impurity of its tree by at least this
        value.
    bootstrap : bool, default=False
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
    ExtraTreesRegressor : The corresponding regressor.
    RandomForestClassifier : Uses the best thresholds.
    sklearn.ensemble.ExtraTreesClassifier : Numeric columns only, thresholds in float32.

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
        bootstrap: bool = False,
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
        super().__init__(**select_parameters(locals()))


class ExtraTreesRegressor(BaseForestRegressor):
    r"""Forest of extremely randomised regression trees (极端随机树).

    At each node, a tree samples some columns, draws a random threshold (or a random
    split of levels) for each, and uses the best of these splits. The forest predicts
    the mean over the trees. Each tree is grown on all rows unless ``bootstrap=True``.

    Parameters of scikit-learn's ``ExtraTreesRegressor`` have the same name, meaning and
    default here, so it is enough to replace the import.

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
    bootstrap : bool, default=False
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
    ExtraTreesClassifier : The corresponding classifier.
    RandomForestRegressor : Uses the best thresholds.
    sklearn.ensemble.ExtraTreesRegressor : Numeric columns only, thresholds in float32.

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
        bootstrap: bool = False,
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
        super().__init__(**select_parameters(locals()))
