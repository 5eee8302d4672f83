"""Bagging, 自助聚集: members fitted to different samples of rows and columns."""

from __future__ import annotations

from sklearn_textbook.ensemble.bagging.bagging_mixins import (
    BaggingClassifierMixin,
    BaggingRegressorMixin,
)
from sklearn_textbook.ensemble.bagging.base_bagging import BaseBagging
from sklearn_textbook.ensemble.bagging.row_sampling import RowSamplingMixin


class BaggingClassifier(RowSamplingMixin, BaggingClassifierMixin, BaseBagging):
    r"""Bagging of any classifiers (自助聚集), with one encoded table for all trees.

    Every member is fitted to a bootstrap sample, 自助采样: n of the n rows are drawn
    with replacement, of which about 63.2 % are different. The ensemble predicts the
    class with the largest mean probability, or with most votes (``voting="hard"``):

    .. math:: H(x) = \arg\max_y \frac{1}{T} \sum_{t=1}^{T} p_t(y \mid x), \qquad
        H(x) = \arg\max_y \sum_{t=1}^{T} \mathbb{I}(h_t(x) = y).

    Parameters of scikit-learn's ``BaggingClassifier`` have the same names, meanings and
    defaults, so that only the import needs to be changed.

    Parameters
    ----------
    estimator : classifier, default=None
        What the members are like: any object with ``fit`` and ``predict``, such as a
        pipeline. None: :class:`~sklearn_textbook.tree.CARTClassifier`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Rows of a sample: a count, a fraction of all (of their total weight, if rows
        have weights), or as many as there are.
    max_features : int or float, default=1.0
        Columns that a member is fitted to: a count, or a fraction of all.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A column drawn twice is given twice.
    oob_score : bool, str or callable, default=False
        Whether to score the ensemble on out-of-bag rows (包外估计): with the accuracy,
        with the scorer of scikit-learn that has this name, or with a function of the
        true and the predicted class numbers. Needs ``bootstrap=True`` and
        ``warm_start=False``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds more, up to ``n_estimators``.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, or the setting of
        ``joblib.parallel_config``; trees of this package: one per core, in threads. -1:
        one per core. The members are the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws, and of every ``random_state`` of the members.
    verbose : int, default=0
        1 prints about ten times how many members are fitted, a larger number prints
        it after each of them.
    voting : {"soft", "hard"}, default="soft"
        How members are combined: by their mean probability, as in scikit-learn, or by
        one vote each, the simple vote of the book (简单投票法); then of classes with
        most votes the one with the largest mean probability is chosen. Members without
        ``predict_proba`` vote in any case.
    out_of_bag_posterior : bool, default=False
        Whether nodes of a tree without training rows predict the class frequencies of
        the out-of-bag rows that end there, instead of those of their parents. Such
        nodes come from levels without rows in a multiway split. For trees of this
        package only.

    Attributes
    ----------
    estimator_ : estimator
        What the members are like, not fitted.
    estimators_ : list of estimators
        The members. Trees of this package have the class labels, so that each can be
        explained alone; others have learned class numbers, as in scikit-learn.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    estimators_samples_ : list of ndarray of int
        The rows that each member was fitted to, each as often as it was drawn.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members, with ``oob_score``: the
        fraction of wrong classes over the rows scored so far.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities (or votes) of the members for which the row is out of bag,
        with ``oob_score``; NaN if there is none.

    See Also
    --------
    BaggingRegressor : The same for values.
    RandomForestClassifier : Trees that also draw columns at every node.
    RandomSubspaceClassifier : Draws columns only.
    sklearn.ensemble.BaggingClassifier : No nominal columns, each member encodes X.

    Notes
    -----
    If the members are trees of this package, the table is read and encoded once for all
    of them, with nominal columns and missing values as they come, and a sample is a
    weight per row: ``min_samples_split`` and ``min_samples_leaf`` of CART then count a
    row that was drawn twice once, as with scikit-learn's trees. Other members get
    counts as ``sample_weight`` if their ``fit`` takes one, and the drawn rows if not.
    Subclasses of these trees with their own ``fit`` or ``predict`` count as others, and
    so do trees whose ``fit`` is given routed parameters. ``pruning="out_of_bag"`` on
    the template prunes every tree by its out-of-bag rows.

    Draws are scikit-learn's for the same ``random_state``: with members that are not
    trees both fit the same. Differences: a data frame is given to members as a frame,
    so that they may choose columns by name, but for ``bootstrap_features=True``;
    ``estimators_samples_`` lists all members after a warm start; out-of-bag
    probabilities of members that lack a class are counted for the classes they have.

    References
    ----------
    .. [1] L. Breiman (1996), Bagging predictors. Machine Learning 24.
    .. [2] 周志华《机器学习》, section 8.3.1, figure 8.5.

    Examples
    --------
    The watermelons of the book with C4.5 trees:

    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.ensemble import BaggingClassifier
    >>> from sklearn_textbook.tree import C45Classifier
    >>> X, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    >>> tree = C45Classifier(pruning=None)
    >>> model = BaggingClassifier(tree, 50, oob_score=True, random_state=0).fit(X, y)
    >>> len(model), len(model.oob_curve_)
    (50, 50)

    Any other estimator:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> BaggingClassifier(SVC(), random_state=0).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        voting="soft",
        out_of_bag_posterior=False,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting
        self.out_of_bag_posterior = out_of_bag_posterior


class BaggingRegressor(RowSamplingMixin, BaggingRegressorMixin, BaseBagging):
    r"""Bagging of any regressors (自助聚集), with one encoded table for all trees.

    Every member is fitted to a bootstrap sample, 自助采样: n of the n rows are drawn
    with replacement, of which about 63.2 % are different. The ensemble predicts the
    mean

    .. math:: H(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(x).

    Parameters of scikit-learn's ``BaggingRegressor`` have the same names, meanings and
    defaults, so that only the import needs to be changed.

    Parameters
    ----------
    estimator : regressor, default=None
        What the members are like: any object with ``fit`` and ``predict``, such as a
        pipeline. None: :class:`~sklearn_textbook.tree.CARTRegressor`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Rows of a sample: a count, a fraction of all (of their total weight, if rows
        have weights), or as many as there are.
    max_features : int or float, default=1.0
        Columns that a member is fitted to: a count, or a fraction of all.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A column drawn twice is given twice.
    oob_score : bool, str or callable, default=False
        Whether to score the ensemble on out-of-bag rows (包外估计): with the R² score,
        with the scorer of scikit-learn that has this name, or with a function of the
        true and the predicted values. Needs ``bootstrap=True`` and
        ``warm_start=False``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds more, up to ``n_estimators``.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, or the setting of
        ``joblib.parallel_config``; trees of this package: one per core, in threads. -1:
        one per core. The members are the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws, and of every ``random_state`` of the members.
    verbose : int, default=0
        1 prints about ten times how many members are fitted, a larger number prints
        it after each of them.
    out_of_bag_posterior : bool, default=False
        Whether nodes of a tree without training rows predict the mean value of the
        out-of-bag rows that end there, instead of that of their parents. Such nodes
        come from levels without rows in a multiway split. For trees of this package
        only.

    Attributes
    ----------
    estimator_ : estimator
        What the members are like, not fitted.
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    estimators_samples_ : list of ndarray of int
        The rows that each member was fitted to, each as often as it was drawn.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members, with ``oob_score``: the mean
        squared error over the rows scored so far.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the members for which the row is out of bag, with
        ``oob_score``; 0 if there is none.

    See Also
    --------
    BaggingClassifier : The same for classes.
    RandomForestRegressor : Trees that also draw columns at every node.
    RandomSubspaceRegressor : Draws columns only.
    sklearn.ensemble.BaggingRegressor : No nominal columns, each member encodes X.

    Notes
    -----
    As for :class:`BaggingClassifier`: trees of this package grow from one encoded
    table, others are fitted as in scikit-learn, from the same draws. Several outputs
    are possible if the members can predict them; then with ``oob_score``, too, unlike
    scikit-learn.

    References
    ----------
    .. [1] L. Breiman (1996), Bagging predictors. Machine Learning 24.
    .. [2] 周志华《机器学习》, section 8.3.1, figure 8.5.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=100, oob_score=True, random_state=0)
    >>> round(model.fit(X, y).oob_score_, 1)
    0.4
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        out_of_bag_posterior=False,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.out_of_bag_posterior = out_of_bag_posterior
