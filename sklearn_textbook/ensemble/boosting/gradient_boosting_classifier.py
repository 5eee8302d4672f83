"""Gradient boosting for classification, 梯度提升: trees fitted to derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import CostMatrix, choose_classes, get_costs
from sklearn_textbook._contract.labels import (
    check_target,
    encode_known_labels,
    encode_labels,
    take_logarithms,
)
from sklearn_textbook._contract.memory import (
    MANY_CLASSES,
    MEMORY_TO_WARN,
    require_memory,
)
from sklearn_textbook._contract.monotonic import is_constrained
from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import apply_class_weight, weigh_classes
from sklearn_textbook.ensemble.boosting.base_gradient_boosting import (
    BaseGradientBoosting,
)
from sklearn_textbook.ensemble.boosting.losses import (
    ExponentialLoss,
    LogLoss,
    Loss,
    MultinomialLoss,
)
from sklearn_textbook.ensemble.boosting.staged_mixins import StagedClassifierMixin
from sklearn_textbook.ensemble.conformal import Calibration, PredictionSetMixin


class GradientBoostingClassifier(
    PredictionSetMixin, StagedClassifierMixin, ClassifierMixin, BaseGradientBoosting
):
    r"""Gradient boosting for classification, 梯度提升: trees fitted to derivatives.

    .. math:: f_m(x) = f_{m-1}(x) + \eta \sum_j c_{mj}\, \mathbb{I}(x \in R_{mj}),
        \qquad P(y = 1 \mid x) = \frac{1}{1 + e^{-f_M(x)}}

    for two classes, where the regions :math:`R_{mj}` are the leaves of the tree of
    round m. With more classes, each has a score and a tree in each round, and its
    probability is :math:`e^{f_k} / \sum_j e^{f_j}`.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or Loss, default="log_loss"
        Loss function to minimise; the exponential loss, that of AdaBoost, is only for
        two classes. An instance of a subclass of
        :class:`~sklearn_textbook.ensemble.boosting.losses.Loss` is a user-defined loss.
    learning_rate : float, default=0.1
        Factor :math:`\eta` applied to the values of leaves (shrinkage).
    n_estimators : int, default=100
        Number of rounds M.
    subsample : float, default=1.0
        Fraction of the rows, drawn without replacement, from which the trees of a round
        are grown; the other rows are used for ``oob_improvement_``.
    max_depth : int, default=None
        Maximum depth of a tree. None: no limit.
    max_leaf_nodes : int, default=31
        Maximum number of leaves of a tree, grown best-first. None: no limit; trees grow
        level by level.
    min_samples_split : int or float, default=2
        Minimum number of rows in a node to be split; a float is a fraction of all rows.
    min_samples_leaf : int or float, default=20
        Minimum number of rows in each leaf; a float is a fraction of all rows.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of each leaf in the total weight of the rows times
        ``subsample``. With weights that differ, each leaf has as many rows as the
        lightest rows with this weight, hence at least the weight.
    min_impurity_decrease : float, default=0.0
        A node is split only if this decreases twice the second-order approximation of
        the loss, divided by the sum of all hessians, by at least this value.
    ccp_alpha : float, default=0.0
        Each tree is pruned to minimal cost complexity with this cost of a leaf, before
        its leaves get their values. The risk is the variance of the derivatives of the
        loss, as in scikit-learn.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns sampled at each node: an integer, a fraction of all columns,
        their square root or binary logarithm. None: all.
    l2_regularization : float, default=0.0
        :math:`\lambda`, which is added to the sum of hessians of a leaf.
    max_bins : int, default=255
        Maximum number of groups of neighbouring values into which a numeric column is
        divided, with equal numbers of rows as far as possible. None: thresholds are
        exact; with nominal columns, ``l2_regularization`` or ``interaction_cst``, no
        column may then have more than 65,535 distinct values.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Nominal columns: by dtype (strings, objects, unordered categories; ordered ones
        are ordinal), none, or given by a mask, indices or names. Their levels are
        sorted by their Newton steps and divided into two groups; missing values count
        as a level.
    categorical_smoothing : "auto" or float, default="auto"
        How far the steps of levels of nominal columns with more than nine levels are
        drawn to that of the node when their splits are judged: as by this number of
        rows with the step of the node; "auto" estimates it in each node. Such columns
        are also split in the declared (strings: alphabetical) order of their levels. 0:
        neither. As in :class:`~sklearn_textbook.tree.CARTClassifier`, but a given
        number counts rows, too, whatever their weights.
    missing : {"learned", "error"}, default="learned"
        How missing values are treated: "learned" sends them to the child that decreases
        the loss more; "error" raises an error.
    monotonic_cst : array-like of {-1, 0, 1} or dict of {str: int}, default=None
        Monotonicity constraints for all columns, or for some by name. 1: the raw score
        may only increase with the column; -1: it may only decrease; 0: no constraint.
        Only for two classes.
    interaction_cst : str or sequence of sequences of int, default=None
        Groups of columns that may be tested on the same path, at most 64; columns in no
        group form an additional group. "no_interactions": each column on its own;
        "pairwise": any two columns.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives all classes the same total weight.
    init : estimator, "zero" or None, default=None
        Predictions before the first round: those of a classifier with
        ``predict_proba``, which is fitted first; scores of 0; or the constant with the
        smallest loss (None).
    n_iter_no_change : int, default=None
        Number of rounds k. Fitting stops after the first round whose loss of the
        validation rows is not lower, by more than ``tol``, than the highest of the k
        rounds before, as in scikit-learn's ``GradientBoostingClassifier``. This may be
        sooner or later than k rounds after the lowest loss. None: no early stopping.
    validation_fraction : float, default=0.1
        Fraction of the training rows held out for validation if ``fit`` is not given
        ``X_val``.
    tol : float, default=1e-4
        Tolerance of ``n_iter_no_change``.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted trees and adds new ones, up to
        ``n_estimators``.
    n_jobs : int, default=None
        Number of threads. None: one per core, or fewer inside a parallel call. The
        result does not depend on it, bit for bit.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling rows and columns, and for choosing validation rows.
    verbose : int, default=0
        Whether to print the loss of each round.
    criterion : {"friedman_mse", "squared_error"}, default="deprecated"
        Has no effect, except for a FutureWarning: both choose the same splits.
    cost_matrix : dict of dict or array-like, default=None
        Costs of errors (代价矩阵): ``{true class: {predicted class: cost}}``, or an
        array of shape (n_classes, n_classes) with a row for each true class, in the
        order of ``classes_``; 0 for right predictions. The class of least expected
        cost under ``predict_proba`` is predicted. Training does not use costs. None:
        all errors cost the same.
    store_distribution : bool, default=False
        Whether ``fit`` stores what :meth:`predict_set` needs: the probabilities of the
        classes that the validation rows have. Requires ``n_iter_no_change``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    estimators_ : ndarray of CARTRegressor, shape (n_rounds, n_scores)
        The trees; their values are raw scores that include the learning rate.
    n_estimators_ : int
        Number of rounds.
    n_trees_per_iteration_ : int
        Number of trees of each round.
    loss_ : Loss
        The loss.
    init_ : estimator or None
        The fitted initial estimator, if there is one.
    train_score_ : ndarray of float64, shape (n_rounds,)
        Mean loss of the training rows after each round.
    validation_score_ : ndarray of float64
        Mean loss of the validation rows, with ``n_iter_no_change``.
    oob_scores_, oob_improvement_ : ndarray of float64, shape (n_rounds,)
        With ``subsample`` below 1, for the rows not used to grow the trees of a round:
        their mean loss after the round, and its decrease in the round. For rounds
        before a warm start that used all rows, these are NaN and 0.
    oob_score_ : float
        The last value of ``oob_scores_``.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: its fraction of the decrease of the loss over all
        trees.
    max_features_ : int
        Number of columns considered at each node.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.

    See Also
    --------
    GradientBoostingRegressor : The corresponding regressor.
    AdaBoostClassifier : The exponential loss, with row weights.

    Notes
    -----
    Each round computes the first and second derivatives :math:`g_i, h_i` of the loss
    with respect to the raw scores, and grows a tree whose splits and leaves minimise

    .. math:: \sum_{\text{leaves } R} \Big( G_R\, v_R
        + \tfrac12 (H_R + \lambda)\, v_R^2 \Big),
        \qquad v_R = -\frac{G_R}{H_R + \lambda},

    where :math:`G_R, H_R` are sums over the rows of a leaf [2]_. With the exponential
    loss, leaves have the values that minimise it. With K > 2 classes, which have one
    tree each in a round, leaves are multiplied by (K - 1) / K, as in Friedman's
    algorithm, scikit-learn's ``GradientBoostingClassifier`` and, through its hessians,
    LightGBM; ``HistGradientBoostingClassifier`` does not use this factor.

    The sum of the hessians of a leaf is at least 0.001, in units of the mean weight of
    a row, as in scikit-learn's ``HistGradientBoosting*`` and LightGBM
    (``min_sum_hessian_in_leaf``). On rows that are predicted almost with certainty,
    the hessians of log loss tend to 0, and trees without a split follow.

    Differences from scikit-learn, which has two implementations: this one takes all
    parameters of ``GradientBoostingClassifier``, but trees have by default 31 leaves of
    at least 20 rows, from 255 bins, as those of ``HistGradientBoostingClassifier``.
    With ``max_depth=3, max_leaf_nodes=None, min_samples_leaf=1, max_bins=None``, the
    limits of the trees are those of ``GradientBoostingClassifier``, which chooses
    splits by the residuals alone, without the second derivatives. ``train_score_`` is
    the mean of the loss of each row, for two classes half of scikit-learn's. There is
    no ``monitor`` in ``fit``, but there are callbacks.

    With bins, gradients and hessians are rounded to multiples of a power of two that is
    so small that a sum over all rows has 62 bits. Sums are therefore exact, and the
    result depends neither on the order of the rows nor on the number of threads. A
    round takes at most O(rows x columns x log(leaves)) additions, usually far fewer,
    since the histograms of one child of a split are those of its parent minus those of
    the other child.

    References
    ----------
    .. [1] J. H. Friedman (2001), "Greedy function approximation: a gradient boosting
       machine", Annals of Statistics 29(5).
    .. [2] T. Chen, C. Guestrin (2016), "XGBoost: a scalable tree boosting system".
    .. [3] 李航《统计学习方法》(第2版), section 8.4.3, algorithm 8.4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=20, min_samples_leaf=5)
    >>> model.fit(X, y).predict([[5.0, 3.5, 1.5, 0.2]])
    array([0])
    >>> model.estimators_.shape
    (20, 3)
    """

    def __init__(
        self,
        *,
        loss: str | Loss = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        max_depth: int | None = None,
        max_leaf_nodes: int = 31,
        min_samples_split: float = 2,
        min_samples_leaf: float = 20,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        max_features: float | str | None = None,
        l2_regularization: float = 0.0,
        max_bins: int = 255,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_smoothing: float | str = "auto",
        missing: str = "learned",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        interaction_cst: str | Sequence[Sequence[int]] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        init: Any = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        criterion: str = "deprecated",
        cost_matrix: CostMatrix | None = None,
        store_distribution: bool = False,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_features = max_features
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.init = init
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.criterion = criterion
        self.cost_matrix = cost_matrix
        self.store_distribution = store_distribution

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.loss, Loss):
            check_choice("loss", self.loss, ("log_loss", "exponential"))

    def _read_target(self, y):
        (classes,), codes = encode_labels(self._read_labels(y, "y"))
        self._check_classes(classes, len(codes))
        return codes[:, 0].astype(np.float64)

    def _read_block_target(self, columns) -> None:
        classes = columns.sort_classes()
        self._check_classes(classes, columns.n_rows)
        if self.class_weight is not None:
            n_rows = columns.count_classes()
            columns.multiply_weights(weigh_classes(self.class_weight, classes, n_rows))

    def _check_classes(self, classes, n_rows) -> None:
        """Keep the classes, if the parameters allow them."""
        if vars(self).get("estimators_") is not None and not np.array_equal(
            classes, self.classes_
        ):
            raise ValueError(
                "warm_start=True adds trees to those of the last fit, so y must have "
                f"the same classes, {self.classes_}; got {classes}."
            )
        self.classes_, self.n_classes_ = classes, len(classes)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} requires at least two classes, but y has only "
                f"one class: {classes.tolist()[0]!r}."
            )
        if len(classes) > 2 and is_constrained(self.monotonic_cst):
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass "
                f"classification: y has {len(classes)} classes."
            )
        get_costs(self)  # raises ValueError for costs that do not fit the classes
        self._warn_of_many_classes(n_rows)

    def _warn_of_many_classes(self, n_rows) -> None:
        """Warn if the scores of all rows and classes take gigabytes, or refuse them."""
        n_classes = self.n_classes_
        # scores, gradients and second derivatives
        n_bytes = 3 * 8 * n_rows * n_classes
        remedy = (
            "Merge classes with few rows, fit to fewer rows, or use a random forest."
        )
        require_memory(
            n_bytes,
            type(self).__name__,
            f"for the scores of {n_rows:,} rows and {n_classes:,} classes with their "
            "derivatives",
            remedy,
        )
        if n_classes >= MANY_CLASSES and n_bytes > MEMORY_TO_WARN:
            warn_caller(
                f"{type(self).__name__} fits one tree per class in each round, "
                f"{self.n_estimators * n_classes:,} trees in all, and the scores of "
                f"{n_rows:,} rows and {n_classes:,} classes with their derivatives "
                f"need {n_bytes / 1e9:.1f} GB of memory. {remedy}",
                UserWarning,
            )

    def _read_labels(self, y, name):
        """Check labels of one output; they become a column."""
        labels = check_target(y, is_numeric=False, name=name)
        return column_or_1d(labels, warn=len(getattr(y, "shape", ())) > 1)[
            :, np.newaxis
        ]

    def _encode_known(self, y, name: str = "y_val"):
        labels = self._read_labels(y, name)
        codes = encode_known_labels(labels, [self.classes_], name=name)
        return codes[:, 0].astype(np.float64)

    def _weigh(self, y, weight):
        if self.class_weight is None:
            return weight
        codes = y.astype(np.int64)
        return apply_class_weight(self.class_weight, self.classes_[codes], weight)

    def _make_loss(self):
        if self.loss == "exponential":
            if self.n_classes_ > 2:
                raise ValueError(
                    "loss='exponential' is only suitable for a binary classification; "
                    f"y has {self.n_classes_} classes."
                )
            return ExponentialLoss()
        if self.n_classes_ == 2:
            return LogLoss()
        return MultinomialLoss(self.n_classes_)

    def _score_init(self, X):
        probabilities = np.asarray(self.init_.predict_proba(X), dtype=np.float64)
        tiny = np.finfo(np.float32).eps
        logarithms = np.log(np.clip(probabilities, tiny, 1.0 - tiny)).T
        if self.loss_.n_scores > 1:
            return logarithms
        odds = logarithms[1:] - logarithms[:1]
        return odds / 2.0 if isinstance(self.loss_, ExponentialLoss) else odds

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Compute the raw scores.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of float64, shape (n_samples,) or (n_samples, n_classes)
            For two classes, the score of ``classes_[1]``.
        """
        return self._to_decisions(self._compute_raw(X))

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of float64, shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._to_probabilities(self._compute_raw(X))

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict the logarithms of class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of float64, shape (n_samples, n_classes)
            Natural logarithms, in the order of ``classes_``.
        """
        return take_logarithms(self.predict_proba(X))

    def apply(self, X: MatrixLike) -> np.ndarray:
        """Find the leaf in which each row ends, for each tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        nodes : ndarray of int64, shape (n_samples, n_estimators, n_scores)
            Node numbers.
        """
        leaves = super().apply(X)
        return leaves.reshape(len(leaves), *self.estimators_.shape)

    def _plan_calibration(self, rounds, trees):
        def measure(matrix, y, raw):
            codes = y.astype(np.int64)
            return codes, self._to_probabilities(raw)[np.arange(len(y)), codes]

        return Calibration.of_classes, measure

    def _to_decisions(self, raw):
        return raw[0] if len(raw) == 1 else raw.T

    def _to_probabilities(self, raw):
        return self.loss_.to_prediction(raw)

    def _to_target(self, raw):
        """Choose classes, of equal scores or expected costs the first."""
        costs = get_costs(self)
        if costs is not None:
            best = choose_classes(self._to_probabilities(raw), costs)
            return self.classes_[best]
        is_single = len(raw) == 1
        return self.classes_[(raw[0] > 0) * 1 if is_single else raw.argmax(axis=0)]
