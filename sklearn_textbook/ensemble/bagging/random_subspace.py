"""Random subspaces, 随机子空间: members trained on all rows and some of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_textbook.ensemble.bagging.bag_draw import BagDraw
from sklearn_textbook.ensemble.bagging.bagging import (
    BaggingClassifierMixin,
    BaggingRegressorMixin,
    BaseBagging,
)


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
    r"""Random subspace ensemble (随机子空间) of any classifiers, such as trees.

    Member t draws :math:`d'` of the d columns without replacement, the subspace
    :math:`\mathcal{F}_t`, and is trained on these columns of all rows. The ensemble
    predicts the class with the largest mean probability or, with ``voting="hard"``, the
    class with the most votes, as in the textbook:

    .. math:: H(x) = \arg\max_y \sum_{t=1}^{T}
        \mathbb{I}\big(h_t(\mathrm{Map}_{\mathcal{F}_t}(x)) = y\big).

    Members that lack the best columns are more diverse and faster to train. This pays
    off if many columns are redundant (大量冗余属性), but not if there are few columns.

    Parameters
    ----------
    estimator : classifier, default=None
        Base estimator of the members: any object with ``fit`` and ``predict``. None:
        :class:`~sklearn_textbook.tree.CARTClassifier`.
    n_estimators : int, default=10
        Number of members T.
    max_features : int or float, default=0.5
        Number of columns d' that each member is fitted to, or their fraction. Ho used
        half of them.
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
        How members are combined: "soft" averages their probabilities; "hard" gives each
        one vote (简单投票法), where ties go to the class with the largest mean
        probability.

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members. Trees of this package store the class labels and the names of their
        columns, so each can be explained on its own; other members are fitted to class
        numbers.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
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
    RandomSubspaceRegressor : The corresponding regressor.
    RandomForestClassifier : Samples columns at each node, and rows for each tree.
    BaggingClassifier : Draws rows, and with ``max_features`` columns.

    Notes
    -----
    scikit-learn has no estimator of this name; its ``BaggingClassifier`` with
    ``bootstrap=False, max_samples=1.0, max_features=0.5`` draws the same columns for
    the same ``random_state``. ``sample_weight`` sets the weights of the rows, whereas
    bagging draws rows by it. There are no out-of-bag rows.

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
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_features: float = 0.5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        voting: str = "soft",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting


class RandomSubspaceRegressor(DrawnColumns, BaggingRegressorMixin, BaseBagging):
    r"""Random subspace ensemble (随机子空间) of any regressors, such as trees.

    Member t draws :math:`d'` of the d columns without replacement, the subspace
    :math:`\mathcal{F}_t`, and is trained on these columns of all rows. The ensemble
    predicts the mean

    .. math:: H(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(\mathrm{Map}_{\mathcal{F}_t}(x)).

    Parameters
    ----------
    estimator : regressor, default=None
        Base estimator of the members: any object with ``fit`` and ``predict``. None:
        :class:`~sklearn_textbook.tree.CARTRegressor`.
    n_estimators : int, default=10
        Number of members T.
    max_features : int or float, default=0.5
        Number of columns d' that each member is fitted to, or their fraction.
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

    Attributes
    ----------
    estimator_ : estimator
        The base estimator, not fitted.
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray of int
        The columns that each member was fitted to.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.

    See Also
    --------
    RandomSubspaceClassifier : The corresponding classifier.
    RandomForestRegressor : Samples columns at each node, and rows for each tree.
    BaggingRegressor : Draws rows, and with ``max_features`` columns.

    Notes
    -----
    scikit-learn has no estimator of this name; its ``BaggingRegressor`` with
    ``bootstrap=False, max_samples=1.0, max_features=0.5`` draws the same columns for
    the same ``random_state``. ``sample_weight`` sets the weights of the rows, whereas
    bagging draws rows by it. There are no out-of-bag rows.

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
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_features: float = 0.5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
