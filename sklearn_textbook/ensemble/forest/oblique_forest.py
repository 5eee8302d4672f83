"""Random forests of oblique trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.costs import CostMatrix
from sklearn_textbook.ensemble.forest.random_forest import (
    CART_PARAMETERS,
    BaseForestClassifier,
    BaseForestRegressor,
    select_parameters,
    take_parameters,
)
from sklearn_textbook.tree import ObliqueTreeClassifier, ObliqueTreeRegressor

#: Parameters of the directions, which members have under the forest's names.
DIRECTION_PARAMETERS = (
    "direction",
    "max_features_per_split",
    "n_directions",
    "prefer_axis",
    "ridge",
    "lasso",
)
#: Parameters of CART that oblique trees do not have.
_NOT_OBLIQUE = (
    *("monotonic_cst", "tie_breaking", "top_splits"),
    *("leaf_model", "leaf_shrinkage"),
)


class ObliqueMembers:
    """Mixin of the forests of oblique trees."""

    _missing = ("mean", "error")

    def _take_oblique(self, parameters):
        """Set the parameters of the directions; return those of other forests."""
        for name in DIRECTION_PARAMETERS:
            setattr(self, name, parameters.pop(name))
        return parameters

    def _make_template(self):
        names = [name for name in CART_PARAMETERS if name not in _NOT_OBLIQUE]
        names = (*names, *DIRECTION_PARAMETERS, "missing")
        return self._cart(**take_parameters(self, names))


class ObliqueRandomForestClassifier(ObliqueMembers, BaseForestClassifier):
    r"""Random forest of oblique classification trees (斜决策树的随机森林).

    Each tree is grown on a bootstrap sample of the rows, and its nodes test a weighted
    sum of columns,

    .. math:: \sum_j w_j x_j \leq t.

    By default, each node uses the best of several random sparse directions: 1 to 3
    columns, with weights of plus or minus one in standard units. The forest predicts
    the class with the largest mean probability.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    direction : {"lda", "logistic", "ridge", "ols", "oc1", "random"}, default="random"
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
        Maximum depth of a tree. None: limited only by the other parameters.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
        A row that was drawn twice counts once.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in each child, whatever their weights; a float is a
        fraction of all rows. A row that was drawn twice counts once.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in each child.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns sampled at each node for each computed direction, and for the
        tests of a single column. None: all.
    max_features_per_split : int, default=None
        Maximum number of columns in a test. A computed direction is reduced by dropping
        the half of its columns with the smallest weights and computing it again, as
        often as necessary. None: no limit, except with ``direction="random"``, where it
        is 3. Random directions have between 1 and this number of columns.
    n_directions : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Number of directions tried at each node; a float or string is relative to the
        number of columns. None: 1; with "oc1", 20 starts; with "random", as many as
        columns.
    prefer_axis : float, default=None
        Preference for tests of a single column. An oblique test of k columns is chosen
        if its decrease of impurity exceeds that of the best such test by more than the
        fraction ``prefer_axis * (k - 1)`` of the latter. 0.0: the larger decrease wins.
        None: tests of a single column are not searched, but a direction may have a
        single column.
    ridge : float, default=0.001
        Ridge penalty on standardized columns, for "lda", "logistic", "ridge" and the
        first start of "oc1".
    lasso : float, default=0.0
        Lasso penalty for "lda", "logistic", "ridge" and "ols", as a fraction of the
        smallest penalty for which all weights are 0. Larger values give sparser tests.
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
        Seed for drawing rows, sampling columns and finding directions.
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
    voting : {"soft", "hard"}, default="soft"
        How trees are combined: "soft" averages their probabilities, as in scikit-learn;
        "hard" gives each tree one vote (简单投票法), as in the textbook and in
        Breiman's paper, where ties go to the class with the largest mean probability.
    pruning : None, str or pruner, default=None
        How each tree is pruned: "out_of_bag" uses its out-of-bag rows; the other
        methods are those of single trees.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names.
    missing : {"mean", "error"}, default="mean"
        How missing values are treated: "mean" replaces them by the mean of their column
        in the node in an oblique test, and sends them to the child that is better in
        training in a test of a single column; "error" raises an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in a node is treated, as in single trees.
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
    RandomForestClassifier : Trees whose tests have a single column.
    sklearn_textbook.tree.ObliqueTreeClassifier : The base estimator.

    Notes
    -----
    The table is read once for all trees. A random direction takes O(n log n) time for
    the n rows of a node.

    References
    ----------
    .. [1] L. Breiman (2001), Random forests, section 5 (Forest-RC).
    .. [2] T. Tomita et al. (2020), Sparse projection oblique randomer forests, Journal
       of Machine Learning Research 21.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import ObliqueRandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ObliqueRandomForestClassifier(50, oob_score=True, random_state=0)
    >>> round(forest.fit(X, y).oob_score_, 2)
    0.95
    """

    _cart = ObliqueTreeClassifier
    _criteria = ("gini", "entropy", "log_loss")

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        direction: str = "random",
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        max_features_per_split: int | None = None,
        n_directions: float | str | None = "sqrt",
        prefer_axis: float | None = None,
        ridge: float = 0.001,
        lasso: float = 0.0,
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
        voting: str = "soft",
        pruning: Any = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        missing: str = "mean",
        handle_unknown: str = "parent",
        store_distribution: bool = False,
    ) -> None:
        super().__init__(**self._take_oblique(select_parameters(locals())))


class ObliqueRandomForestRegressor(ObliqueMembers, BaseForestRegressor):
    r"""Random forest of oblique regression trees (斜决策树的随机森林).

    Each tree is grown on a bootstrap sample of the rows, and its nodes test a weighted
    sum of columns,

    .. math:: \sum_j w_j x_j \leq t.

    By default, each node uses the best of several random sparse directions: 1 to 3
    columns, with weights of plus or minus one in standard units. The forest predicts
    the mean over the trees.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    direction : {"ridge", "ols", "oc1", "random"}, default="random"
        How directions are found: "ridge" and "ols" are a ridge and a least-squares
        regression; "oc1" is the search of OC1, which sets one weight after the other to
        its best value, from several starts; "random" draws sparse directions, as in
        sparse oblique forests. With several outputs, the output with the largest
        variance in the node is used.
    criterion : {"squared_error", "poisson"}, default="squared_error"
        Impurity of a node: the variance, or half the mean Poisson deviance.
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
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns sampled at each node for each computed direction, and for the
        tests of a single column. None: all.
    max_features_per_split : int, default=None
        Maximum number of columns in a test. A computed direction is reduced by dropping
        the half of its columns with the smallest weights and computing it again, as
        often as necessary. None: no limit, except with ``direction="random"``, where it
        is 3. Random directions have between 1 and this number of columns.
    n_directions : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Number of directions tried at each node; a float or string is relative to the
        number of columns. None: 1; with "oc1", 20 starts; with "random", as many as
        columns.
    prefer_axis : float, default=None
        Preference for tests of a single column. An oblique test of k columns is chosen
        if its decrease of impurity exceeds that of the best such test by more than the
        fraction ``prefer_axis * (k - 1)`` of the latter. 0.0: the larger decrease wins.
        None: tests of a single column are not searched, but a direction may have a
        single column.
    ridge : float, default=0.001
        Ridge penalty on standardized columns, for "ridge" and the first start of "oc1".
    lasso : float, default=0.0
        Lasso penalty for "ridge" and "ols", as a fraction of the smallest
        penalty for which all weights are 0. Larger values give sparser tests.
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
        Seed for drawing rows, sampling columns and finding directions.
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
    pruning : None, str or pruner, default=None
        How each tree is pruned: "out_of_bag" uses its out-of-bag rows; the other
        methods are those of single trees.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype, none, or given by a mask, indices or names.
    missing : {"mean", "error"}, default="mean"
        How missing values are treated: "mean" replaces them by the mean of their column
        in the node in an oblique test, and sends them to the child that is better in
        training in a test of a single column; "error" raises an error.
    handle_unknown : {"parent", "fractional", "error"}, default="parent"
        How a level without training rows in a node is treated, as in single trees.
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
    RandomForestRegressor : Trees whose tests have a single column.
    sklearn_textbook.tree.ObliqueTreeRegressor : The base estimator.

    Notes
    -----
    The table is read once for all trees. A random direction takes O(n log n) time for
    the n rows of a node.

    References
    ----------
    .. [1] L. Breiman (2001), Random forests, section 5 (Forest-RC).
    .. [2] T. Tomita et al. (2020), Sparse projection oblique randomer forests, Journal
       of Machine Learning Research 21.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import ObliqueRandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ObliqueRandomForestRegressor(50, oob_score=True, random_state=0)
    >>> round(forest.fit(X, y).oob_score_, 2)
    0.46
    """

    _cart = ObliqueTreeRegressor
    _criteria = ("squared_error", "poisson")

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        direction: str = "random",
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        max_features_per_split: int | None = None,
        n_directions: float | str | None = "sqrt",
        prefer_axis: float | None = None,
        ridge: float = 0.001,
        lasso: float = 0.0,
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
        pruning: Any = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        missing: str = "mean",
        handle_unknown: str = "parent",
        store_distribution: bool = False,
    ) -> None:
        super().__init__(**self._take_oblique(select_parameters(locals())))
