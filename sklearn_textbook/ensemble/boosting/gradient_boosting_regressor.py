"""Gradient boosting of values, 梯度提升: trees fitted to derivatives of a loss."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d

from sklearn_textbook._contract.labels import (
    check_numbers,
)
from sklearn_textbook._contract.parameters import check_choice, check_real
from sklearn_textbook.ensemble.boosting.base_gradient_boosting import (
    BaseGradientBoosting,
)
from sklearn_textbook.ensemble.boosting.losses import (
    AbsoluteError,
    GammaLoss,
    HuberLoss,
    Loss,
    PoissonLoss,
    QuantileLoss,
    SquaredError,
    TweedieLoss,
)

REGRESSION_LOSSES = {
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "huber": HuberLoss,
    "quantile": QuantileLoss,
    "poisson": PoissonLoss,
    "gamma": GammaLoss,
    "tweedie": TweedieLoss,
}
LOG_LINK_LOSSES = (PoissonLoss, GammaLoss, TweedieLoss)


class GradientBoostingRegressor(RegressorMixin, BaseGradientBoosting):
    r"""Gradient boosting for regression, 梯度提升: trees fitted to derivatives.

    .. math:: f_0(x) = \arg\min_c \sum_i L(y_i, c), \qquad
        f_m(x) = f_{m-1}(x) + \eta \sum_j c_{mj}\, \mathbb{I}(x \in R_{mj}).

    The regions :math:`R_{mj}` are the leaves of a regression tree of the m-th round.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        Loss function to minimise: "squared_error", "absolute_error", "huber",
        "quantile", "poisson", "gamma" or "tweedie", of which the last three predict
        with the link :math:`\mathrm{E}(y) = e^f`. An object of a subclass of
        :class:`~sklearn_textbook.ensemble.boosting.losses.Loss` is a user-defined loss.
    learning_rate : float, default=0.1
        What the values of leaves are multiplied by, :math:`\eta` (shrinkage).
    n_estimators : int, default=100
        Number of rounds M.
    subsample : float, default=1.0
        Fraction of the rows, drawn without replacement, that grow the trees of a round;
        the others estimate its ``oob_improvement_``.
    alpha : float, default=0.9
        Quantile of "quantile", and of the absolute residuals from which on "huber"
        counts them linearly.
    power : float, default=1.5
        Power of the variance of "tweedie", between 1 and 2.
    max_depth : int, default=None
        Largest depth of a tree; None: no limit.
    max_leaf_nodes : int, default=31
        Largest number of leaves of a tree, the best splits first; None: trees grow
        depth by depth, as far as the other limits let them.
    min_samples_split : int or float, default=2
        Rows a node needs to be split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=20
        Rows every leaf must have; a float is a fraction of all rows.
    min_impurity_decrease : float, default=0.0
        A node is split if that decreases the sum of twice the loss, to the second
        order and divided by the sum of all hessians, by at least as much.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns sampled at each node: a count, a fraction, the root, the binary
        logarithm, or all (None).
    l2_regularization : float, default=0.0
        :math:`\lambda`: added to the sum of hessians of a leaf.
    max_bins : int, default=255
        Into how many groups of neighbouring values a numeric column is divided at
        most, as far as possible with equal numbers of rows; None: thresholds are exact.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered
        ones are ordinal), none, or a mask, indices or names. Their levels are put in
        order by their steps and divided in two; a missing value is one more level.
    categorical_smoothing : float, default=10.0
        Added to the sum of hessians of a level where levels are put in order, so that
        rare ones stand near 0. Used with bins, as the next two are.
    categorical_l2 : float, default=10.0
        Added to :math:`\lambda` in the score of a nominal split, which has more ways to
        fit noise than a threshold has.
    min_samples_category : int, default=10
        Levels with fewer rows in a node are taken together there.
    missing : {"learned", "error"}, default="learned"
        Missing values go to the child that decreases the loss more, or are an error.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        For each column, or for some by their names: the raw score must fall (-1) or
        rise (1) with it.
    interaction_cst : str or sequence of sequences of int, default=None
        Groups of columns that may be tested on the same path, at most 64; columns in no
        group are one more. "no_interactions": each column alone; "pairwise": any two.
    init : estimator, "zero" or None, default=None
        What predicts before the first round: a regressor, which is fitted; 0; or the
        constant of the smallest loss (None).
    n_iter_no_change : int, default=None
        Growth ends when this many rounds have not decreased the loss of the validation
        rows by ``tol``; None: all rounds are made.
    validation_fraction : float, default=0.1
        Proportion of the training rows held out, unless ``fit`` is given ``X_val``.
    tol : float, default=1e-4
        A smaller decrease of the loss is none.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted trees and adds more, up to ``n_estimators``.
    n_jobs : int, default=None
        Threads; None: one per core, fewer in a parallel call. The result is the same
        for any number, bit for bit.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples of rows and columns, and of the validation rows.
    verbose : int, default=0
        Whether every round prints its loss.

    Attributes
    ----------
    estimators_ : ndarray of CARTRegressor, shape (n_rounds, n_scores)
        The trees, whose values are raw scores and include the learning rate.
    n_estimators_ : int
        Number of rounds.
    loss_ : Loss
        The loss.
    init_ : estimator or None
        What gives the scores before the first round, if it is an estimator.
    train_score_ : ndarray of float64, shape (n_rounds,)
        Mean loss of the training rows after each round.
    validation_score_ : ndarray of float64
        The same of the validation rows, with ``n_iter_no_change``.
    oob_scores_, oob_improvement_ : ndarray of float64, shape (n_rounds,)
        With ``subsample`` below 1: mean loss of the rows that did not grow the trees
        of a round after it, and by how much the round has decreased it; 0 for rounds
        before a warm start that all rows have grown.
    oob_score_ : float
        The last of the former.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: its fraction of the decrease of the loss, all trees
        together.
    max_features_ : int
        Number of columns considered at a node.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if the table has names that are all strings.

    See Also
    --------
    GradientBoostingClassifier : The same for classes.
    BoostingTreeRegressor : The book's boosting tree, without shrinkage.

    Notes
    -----
    Every round computes the first and second derivatives :math:`g_i, h_i` of the loss
    by the raw scores, and grows a tree whose splits and leaves minimise

    .. math:: \sum_{\text{leaves } R} \Big( G_R\, v_R
        + \tfrac12 (H_R + \lambda)\, v_R^2 \Big),
        \qquad v_R = -\frac{G_R}{H_R + \lambda},

    with the sums :math:`G_R, H_R` over the rows of a leaf [2]_. Leaves of the
    absolute error and of quantiles are weighted medians and quantiles of the residuals,
    those of "huber" one step of Friedman's [1]_.

    Scikit-learn has two implementations. Names and defaults are those of its
    ``HistGradientBoostingRegressor``, where these differ from
    ``GradientBoostingRegressor``, but that rounds are ``n_estimators``, and that early
    stopping is set with ``n_iter_no_change``. The trees of the latter, up to ties, are
    grown with ``max_depth=3, max_leaf_nodes=None, min_samples_leaf=1, max_bins=None``
    and the squared error.

    With bins, gradients and hessians are rounded to whole multiples of a power of two,
    so small that a sum over all rows has 62 bits: sums are exact, and the result
    depends neither on the order of the rows nor on the number of threads. A round costs
    O(rows x columns x log(leaves)) additions at most, mostly far less, as the
    histograms of one child of a split are what is left of those of its parent.

    References
    ----------
    .. [1] J. H. Friedman (2001), "Greedy function approximation: a gradient boosting
       machine", Annals of Statistics 29(5).
    .. [2] T. Chen, C. Guestrin (2016), "XGBoost: a scalable tree boosting system".
    .. [3] 李航《统计学习方法》(第2版), section 8.4.3, algorithm 8.4.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=50).fit(X, y)
    >>> float(model.train_score_[-1]) < float(model.train_score_[0])
    True
    """

    def __init__(
        self,
        *,
        loss="squared_error",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        alpha=0.9,
        power=1.5,
        max_depth=None,
        max_leaf_nodes=31,
        min_samples_split=2,
        min_samples_leaf=20,
        min_impurity_decrease=0.0,
        max_features=None,
        l2_regularization=0.0,
        max_bins=255,
        categorical_features="from_dtype",
        categorical_smoothing=10.0,
        categorical_l2=10.0,
        min_samples_category=10,
        missing="learned",
        monotonic_cst=None,
        interaction_cst=None,
        init=None,
        n_iter_no_change=None,
        validation_fraction=0.1,
        tol=1e-4,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.alpha = alpha
        self.power = power
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_smoothing = categorical_smoothing
        self.categorical_l2 = categorical_l2
        self.min_samples_category = min_samples_category
        self.missing = missing
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.init = init
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        super()._check_parameters()
        if not isinstance(self.loss, Loss):
            check_choice("loss", self.loss, REGRESSION_LOSSES)
        check_real("alpha", self.alpha, 0.0, 1.0)
        check_real("power", self.power, 1.0, 2.0)

    def _read_target(self, y):
        return column_or_1d(check_numbers(y, type(self).__name__), warn=True)

    def _encode_known(self, y, name="y_val"):
        return column_or_1d(check_numbers(y, type(self).__name__, name=name))

    def _make_loss(self):
        make = REGRESSION_LOSSES[self.loss]
        settings = {
            "huber": {"alpha": self.alpha},
            "quantile": {"quantile": self.alpha},
            "tweedie": {"power": self.power},
        }
        return make(**settings.get(self.loss, {}))

    def _score_init(self, X):
        raw = np.asarray(self.init_.predict(X), dtype=np.float64).reshape(1, -1)
        if isinstance(self.loss_, LOG_LINK_LOSSES):
            return np.log(np.maximum(raw, np.finfo(np.float64).tiny))
        return raw

    def _to_target(self, raw):
        return self.loss_.to_prediction(raw)
