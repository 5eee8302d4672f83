"""Random subspaces, 随机子空间: members fitted to all rows and some of the columns."""

from __future__ import annotations

from sklearn_textbook.ensemble.bagging.bag_draw import BagDraw
from sklearn_textbook.ensemble.bagging.bagging_mixins import (
    BaggingClassifierMixin,
    BaggingRegressorMixin,
)
from sklearn_textbook.ensemble.bagging.base_bagging import BaseBagging


class DrawnColumns:
    """Drawing of columns alone."""

    def _plan_draw(self, n_rows, n_columns, weight):
        return BagDraw(
            n_rows,
            None,
            weight,
            n_columns=n_columns,
            n_drawn_columns=self._count_drawn_columns(n_columns),
        )


class RandomSubspaceClassifier(DrawnColumns, BaggingClassifierMixin, BaseBagging):
    r"""Random subspaces (随机子空间) of any classifiers, such as trees.

    Member t draws :math:`d'` of the d columns without replacement, the subspace
    :math:`\mathcal{F}_t`, and is fitted to all rows of these columns. The ensemble
    predicts the class with the largest mean probability, or with most votes
    (``voting="hard"``), as in the book:

    .. math:: H(x) = \arg\max_y \sum_{t=1}^{T}
        \mathbb{I}\big(h_t(\mathrm{Map}_{\mathcal{F}_t}(x)) = y\big).

    Members without the best columns differ more and are faster to fit; this is useful
    if many columns are redundant (大量冗余属性), but not if there are few columns.

    Parameters
    ----------
    estimator : classifier, default=None
        What the members are like: any object with ``fit`` and ``predict``. None:
        :class:`~sklearn_textbook.tree.CARTClassifier`.
    n_estimators : int, default=10
        Number of members T.
    max_features : int or float, default=0.5
        Columns d' that a member is fitted to: a count, or a fraction of all. Ho took
        half.
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
        How members are combined: by their mean probability, or by one vote each
        (简单投票法); then of classes with equally many votes the one with the largest
        mean probability is chosen.

    Attributes
    ----------
    estimator_ : estimator
        What the members are like, not fitted.
    estimators_ : list of estimators
        The members. Trees of this package have the class labels and the names of their
        columns, so that each can be explained alone; others have learned class numbers.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.

    See Also
    --------
    RandomSubspaceRegressor : The same for values.
    RandomForestClassifier : Samples columns at every node, rows for every tree.
    BaggingClassifier : Draws rows, and columns with ``max_features``.

    Notes
    -----
    scikit-learn has no estimator of this name; its ``BaggingClassifier`` with
    ``bootstrap=False, max_samples=1.0, max_features=0.5`` draws the same columns for
    the same ``random_state``. ``sample_weight`` weighs the rows here, where bagging
    draws by it. There are no out-of-bag rows.

    References
    ----------
    .. [1] T. K. Ho (1998), The random subspace method for constructing decision
       forests. IEEE Transactions on Pattern Analysis and Machine Intelligence 20.
    .. [2] 周志华《机器学习》, section 8.3.3 (输入属性扰动), figure 8.9.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.ensemble import RandomSubspaceClassifier
    >>> from sklearn_textbook.tree import ID3Classifier
    >>> X, y = load_watermelon(version="2.0", return_X_y=True, as_frame=True)
    >>> model = RandomSubspaceClassifier(ID3Classifier(), random_state=0).fit(X, y)
    >>> print(*model[0].feature_names_in_)
    根蒂 触感 色泽
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_features=0.5,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        voting="soft",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting


class RandomSubspaceRegressor(DrawnColumns, BaggingRegressorMixin, BaseBagging):
    r"""Random subspaces (随机子空间) of any regressors, such as trees.

    Member t draws :math:`d'` of the d columns without replacement, the subspace
    :math:`\mathcal{F}_t`, and is fitted to all rows of these columns. The ensemble
    predicts the mean

    .. math:: H(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(\mathrm{Map}_{\mathcal{F}_t}(x)).

    Parameters
    ----------
    estimator : regressor, default=None
        What the members are like: any object with ``fit`` and ``predict``. None:
        :class:`~sklearn_textbook.tree.CARTRegressor`.
    n_estimators : int, default=10
        Number of members T.
    max_features : int or float, default=0.5
        Columns d' that a member is fitted to: a count, or a fraction of all.
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

    Attributes
    ----------
    estimator_ : estimator
        What the members are like, not fitted.
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.

    See Also
    --------
    RandomSubspaceClassifier : The same for classes.
    RandomForestRegressor : Samples columns at every node, rows for every tree.
    BaggingRegressor : Draws rows, and columns with ``max_features``.

    Notes
    -----
    scikit-learn has no estimator of this name; its ``BaggingRegressor`` with
    ``bootstrap=False, max_samples=1.0, max_features=0.5`` draws the same columns for
    the same ``random_state``. ``sample_weight`` weighs the rows here, where bagging
    draws by it. There are no out-of-bag rows.

    References
    ----------
    .. [1] T. K. Ho (1998), The random subspace method for constructing decision
       forests. IEEE Transactions on Pattern Analysis and Machine Intelligence 20.
    .. [2] 周志华《机器学习》, section 8.3.3 (输入属性扰动), figure 8.9.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import RandomSubspaceRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomSubspaceRegressor(random_state=0).fit(X, y)
    >>> model[0].n_features_in_
    5
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_features=0.5,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
