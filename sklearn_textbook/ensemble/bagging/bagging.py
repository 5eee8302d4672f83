"""Bagging, 自助聚集: members trained on different samples of rows and columns."""

from __future__ import annotations

from sklearn_textbook.ensemble.bagging.bagging_mixins import (
    BaggingClassifierMixin,
    BaggingRegressorMixin,
)
from sklearn_textbook.ensemble.bagging.base_bagging import BaseBagging
from sklearn_textbook.ensemble.bagging.row_sampling import RowSamplingMixin


class BaggingClassifier(RowSamplingMixin, BaggingClassifierMixin, BaseBagging):
    r"""Bagging of any classifiers (自助聚集), with one encoded table for all trees.

    Each member is trained on a bootstrap sample (自助采样): as many rows as there are,
    drawn with replacement, about 63.2 % of which are distinct. The ensemble predicts
    the class with the largest mean probability or, with ``voting="hard"``, the class
    with the most votes:

    .. math:: H(x) = \arg\max_y \frac{1}{T} \sum_{t=1}^{T} p_t(y \mid x), \qquad
        H(x) = \arg\max_y \sum_{t=1}^{T} \mathbb{I}(h_t(x) = y).

    Parameters of scikit-learn's ``BaggingClassifier`` have the same name, meaning and
    default here, so it is enough to replace the import.

    Parameters
    ----------
    estimator : classifier, default=None
        Base estimator of the members: any object with ``fit`` and ``predict``, such as
        a pipeline. None: :class:`~sklearn_textbook.tree.CARTClassifier`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Number of rows in a sample, or their fraction of all rows (of the total weight,
        if the rows have weights). None: as many as there are.
    max_features : int or float, default=1.0
        Number of columns that each member is fitted to, or their fraction.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A column that is drawn twice is
        passed to the member twice.
    oob_score : bool, str or callable, default=False
        Whether to score the ensemble on out-of-bag rows (包外估计). True uses the
        accuracy, a string the scikit-learn scorer of that name, and a callable receives
        the true and the predicted class numbers. Requires ``bootstrap=True`` and
        ``warm_start=False``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds new ones, up to
        ``n_estimators``.
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one, or the setting of
        ``joblib.parallel_config``; for trees of this package, one thread per core. -1:
        one per core. The members do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the draws, and for every ``random_state`` of the members.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    voting : {"soft", "hard"}, default="soft"
        How members are combined: "soft" averages their probabilities, as in
        scikit-learn; "hard" gives each one vote, the simple voting of the textbook
        (简单投票法), where ties go to the class with the largest mean probability.
        Members without ``predict_proba`` always vote.
    out_of_bag_posterior : bool, default=False
        Whether nodes without training rows predict the class frequencies of the
        out-of-bag rows that end there, instead of those of their parents. Such nodes
        come from levels without rows in a multiway split. Only for trees of this
        package.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members. Trees of this package store the class labels, so each can be
        explained on its own; other members are fitted to class numbers, as in
        scikit-learn.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    estimators_samples_ : list of ndarray of int
        The rows that each member was fitted to, repeated as often as they were drawn.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members, with ``oob_score``: the
        fraction of misclassified rows among those that can be scored so far.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Mean probabilities (or votes) of the members for which the row is out of bag,
        with ``oob_score``; NaN if there are none.

    See Also
    --------
    BaggingRegressor : The corresponding regressor.
    RandomForestClassifier : Trees that also sample columns at each node.
    RandomSubspaceClassifier : Draws only columns.
    sklearn.ensemble.BaggingClassifier : No nominal columns; each member encodes X.

    Notes
    -----
    If the members are trees of this package, the table is read and encoded once for all
    of them, with nominal columns and missing values as they are, and a sample is a
    weight per row: ``min_samples_split`` and ``min_samples_leaf`` of CART then count a
    row that was drawn twice once, as with scikit-learn's trees. Other members receive
    the counts as ``sample_weight`` if their ``fit`` accepts it, and the drawn rows
    otherwise. This also applies to subclasses of the trees with their own ``fit`` or
    ``predict``, and to trees whose ``fit`` receives routed parameters.
    ``pruning="out_of_bag"`` in the base estimator prunes each tree on its out-of-bag
    rows.

    For the same ``random_state``, rows and columns are drawn as in scikit-learn, so
    both fit the same members if these are not trees. Differences: members receive data
    frames as frames, so they may select columns by name, except with
    ``bootstrap_features=True``; ``estimators_samples_`` lists all members after a warm
    start; the out-of-bag probabilities of members that lack a class are averaged over
    the classes they have.

    References
    ----------
    .. [1] L. Breiman (1996), Bagging predictors. Machine Learning 24.
    .. [2] 周志华《机器学习》, section 8.3.1, figure 8.5.

    Examples
    --------
    Bagging of C4.5 trees on the watermelon table of the textbook:

    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.ensemble import BaggingClassifier
    >>> from sklearn_textbook.tree import C45Classifier
    >>> X, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    >>> tree = C45Classifier(pruning=None)
    >>> model = BaggingClassifier(tree, 50, oob_score=True, random_state=0).fit(X, y)
    >>> len(model), len(model.oob_curve_)
    (50, 50)

    Bagging of any other estimator:

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

    Each member is trained on a bootstrap sample (自助采样): as many rows as there are,
    drawn with replacement, about 63.2 % of which are distinct. The ensemble predicts
    the mean

    .. math:: H(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(x).

    Parameters of scikit-learn's ``BaggingRegressor`` have the same name, meaning and
    default here, so it is enough to replace the import.

    Parameters
    ----------
    estimator : regressor, default=None
        Base estimator of the members: any object with ``fit`` and ``predict``, such as
        a pipeline. None: :class:`~sklearn_textbook.tree.CARTRegressor`.
    n_estimators : int, default=10
        Number of members.
    max_samples : int or float, default=None
        Number of rows in a sample, or their fraction of all rows (of the total weight,
        if the rows have weights). None: as many as there are.
    max_features : int or float, default=1.0
        Number of columns that each member is fitted to, or their fraction.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are drawn with replacement. A column that is drawn twice is
        passed to the member twice.
    oob_score : bool, str or callable, default=False
        Whether to score the ensemble on out-of-bag rows (包外估计). True uses R², a
        string the scikit-learn scorer of that name, and a callable receives the true
        and the predicted values. Requires ``bootstrap=True`` and ``warm_start=False``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds new ones, up to
        ``n_estimators``.
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one, or the setting of
        ``joblib.parallel_config``; for trees of this package, one thread per core. -1:
        one per core. The members do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the draws, and for every ``random_state`` of the members.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    out_of_bag_posterior : bool, default=False
        Whether nodes without training rows predict the mean value of the out-of-bag
        rows that end there, instead of that of their parents. Such nodes come from
        levels without rows in a multiway split. Only for trees of this package.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    estimators_samples_ : list of ndarray of int
        The rows that each member was fitted to, repeated as often as they were drawn.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    oob_score_ : float
        Score of the out-of-bag predictions, with ``oob_score``.
    oob_curve_ : ndarray of shape (n_estimators,)
        Out-of-bag error of the first 1, 2, ... members, with ``oob_score``: the mean
        squared error over the rows that can be scored so far.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the members for which the row is out of bag, with
        ``oob_score``; 0 if there are none.

    See Also
    --------
    BaggingClassifier : The corresponding classifier.
    RandomForestRegressor : Trees that also sample columns at each node.
    RandomSubspaceRegressor : Draws only columns.
    sklearn.ensemble.BaggingRegressor : No nominal columns; each member encodes X.

    Notes
    -----
    As in :class:`BaggingClassifier`, trees of this package grow from one encoded table;
    other members are fitted as in scikit-learn, from the same draws. Several outputs
    are possible if the members support them, unlike in scikit-learn also with
    ``oob_score``.

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
