"""AdaBoost: members that are trained on weights of rows, 提升方法."""

from __future__ import annotations

from sklearn_textbook.ensemble.boosting.adaboost_mixins import AdaBoostMixin
from sklearn_textbook.ensemble.boosting.base_adaboost import BaseAdaBoost


class AdaBoostClassifier(AdaBoostMixin, BaseAdaBoost):
    r"""AdaBoost of stumps chosen by weighted error, or of any classifiers (提升方法).

    Starting from weights :math:`D_1` of the N rows, which sum to 1, round m fits a
    member :math:`G_m` and then increases the weights of misclassified rows:

    .. math:: e_m = \sum_{i=1}^{N} w_{mi}\, \mathbb{I}(G_m(x_i) \ne y_i), \qquad
        \alpha_m = \frac{1}{2} \ln \frac{1 - e_m}{e_m},

    .. math:: w_{m+1,i} = \frac{w_{mi}}{Z_m} e^{-\alpha_m y_i G_m(x_i)}, \qquad
        Z_m = \sum_{i=1}^{N} w_{mi}\, e^{-\alpha_m y_i G_m(x_i)}.

    The predicted class is the sign of :math:`f(x) = \sum_m \alpha_m G_m(x)`, where
    ``classes_[1]`` counts as +1 and ``classes_[0]`` as -1. The weighted training error
    is at most :math:`\prod_m Z_m`.

    For K classes, this is SAMME [3]_: :math:`\alpha_m = \frac{1}{2} \big(\ln \frac{1 -
    e_m}{e_m} + \ln(K - 1)\big)`, :math:`y_i G_m(x_i)` is 1 if the prediction is right
    and -1 if it is wrong, and the predicted class is the one with the largest sum of
    weighted votes. The bound holds as well.

    Parameters of scikit-learn's ``AdaBoostClassifier`` have the same name, meaning and
    default here, except that the default ``estimator`` is another stump.

    Parameters
    ----------
    estimator : classifier, default=None
        Base estimator of the members: any classifier whose ``fit`` accepts
        ``sample_weight`` or, with ``sampling="resample"``, any classifier. None: the
        stump (决策树桩) with the smallest weighted error, or a leaf if no stump has a
        smaller error.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Factor applied to every :math:`\alpha_m`.
    sampling : {"reweight", "resample"}, default="reweight"
        How the weights are used: "reweight" passes them to the members (重赋权法);
        "resample" draws as many rows as there are, with probabilities proportional to
        the weights (重采样法). In both cases, errors are weighted errors of all rows.
    max_restarts : int, default=10
        With "resample", how often the rows of a round are drawn again if the member is
        no better than chance. If the last member still is not, and with "reweight" in
        any case, boosting stops.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns of the default stump, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`.
    missing : {"learned", "branch", "surrogate", "error"}, default="learned"
        How the default stump treats missing values, as in
        :class:`~sklearn_textbook.tree.CARTClassifier`.
    store_weights : bool, default=False
        Whether to keep the row weights of all rounds as ``sample_weights_``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds further rounds.
    n_jobs : int, default=None
        Number of threads, if the members are trees of this package. None: one per core.
        The members do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the draws, and for every ``random_state`` of the members.
    verbose : int, default=0
        Whether to print the error and the weight of each round.
    algorithm : {"SAMME"}, default="deprecated"
        Has no effect, except for a FutureWarning; scikit-learn has removed it.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members. Trees of this package store the class labels, so each can be
        explained on its own; other members are fitted to class numbers.
    estimator_errors_ : ndarray of float64, shape (n_rounds,)
        Weighted errors :math:`e_m`.
    estimator_weights_ : ndarray of float64, shape (n_rounds,)
        Weights :math:`\alpha_m` of the members.
    normalizers_ : ndarray of float64, shape (n_rounds,)
        :math:`Z_m = (1 - e_m) e^{-\alpha_m} + e_m e^{\alpha_m}`.
    error_bounds_ : ndarray of float64, shape (n_rounds,)
        The products :math:`Z_1, Z_1 Z_2, \ldots`, which bound the training error.
    sample_weights_ : ndarray of float64, shape (n_rounds + 1, n_samples)
        The row weights :math:`D_1, D_2, \ldots`, with ``store_weights``.
    stop_reason_ : str
        A sentence on why boosting stopped.
    feature_importances_ : ndarray of float64, shape (n_features,)
        Mean importance of each column over the members, weighted by
        ``estimator_weights_``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.

    See Also
    --------
    BaggingClassifier : Members that are fitted independently of each other.
    sklearn.ensemble.AdaBoostClassifier : Stumps by the Gini index; no nominal columns.

    Notes
    -----
    A member without errors would have an infinite weight. It ends boosting, and its
    weight is 1 more than those of all previous members together, so that it decides
    alone; in the first round, this is scikit-learn's weight of 1. If the first member
    is no better than chance, :math:`e_1 \ge 1 - 1/K`, ``fit`` raises ValueError, as in
    scikit-learn; a later one is discarded.

    Differences from scikit-learn: stumps are chosen by their weighted error instead of
    the Gini index (for the latter, use ``CARTClassifier(max_depth=1)`` as the
    estimator); :math:`\alpha_m` is half of SAMME's, which does not change predicted
    classes or row weights; ``decision_function`` is not divided by :math:`\sum_m
    \alpha_m`, and ``predict_proba`` follows from the exponential loss; row weights
    never overflow. For two classes, Weka's AdaBoostM1 is the same, except that its
    member weights are twice as large.

    If the members are trees of this package, the table is read and encoded once for all
    of them. A default stump costs about as much as adding the weights of the rows that
    the previous stump misclassified to histograms of all columns, and scanning a few of
    their bins row by row; it is the best of all stumps, not only of those at the edges
    of bins. Trees receive weights with the sum of the original weights, other members
    weights that sum to 1.

    References
    ----------
    .. [1] 李航《统计学习方法》, section 8.1, algorithm 8.1, example 8.1; theorems 8.1
       and 8.2.
    .. [2] 周志华《机器学习》, section 8.2, figure 8.3.
    .. [3] J. Zhu, H. Zou, S. Rosset, T. Hastie (2009), Multi-class AdaBoost.
       Statistics and Its Interface 2.
    .. [4] J. Friedman, T. Hastie, R. Tibshirani (2000), Additive logistic regression.
       The Annals of Statistics 28.

    Examples
    --------
    The example of the textbook:

    >>> from sklearn_textbook.datasets import load_adaboost_example
    >>> from sklearn_textbook.ensemble import AdaBoostClassifier
    >>> X, y = load_adaboost_example(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> [float(stump.tree_.threshold[0]) for stump in model]
    [2.5, 8.5, 5.5]
    >>> model.estimator_weights_.round(4)
    array([0.4236, 0.6496, 0.752 ])
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        sampling="reweight",
        max_restarts=10,
        categorical_features="from_dtype",
        missing="learned",
        store_weights=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        algorithm="deprecated",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.sampling = sampling
        self.max_restarts = max_restarts
        self.categorical_features = categorical_features
        self.missing = missing
        self.store_weights = store_weights
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.algorithm = algorithm
