"""Gradient boosting for classification, 梯度提升: trees fitted to derivatives."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d

from sklearn_textbook._contract.labels import (
    check_target,
    encode_known_labels,
    encode_labels,
    take_logarithms,
)
from sklearn_textbook._contract.memory_warning import MANY_CLASSES, MEMORY_TO_WARN
from sklearn_textbook._contract.monotonic import is_constrained
from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.weights import apply_class_weight
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


class GradientBoostingClassifier(
    StagedClassifierMixin, ClassifierMixin, BaseGradientBoosting
):
    r"""Gradient boosting for classification, 梯度提升: trees fitted to derivatives.

    .. math:: f_m(x) = f_{m-1}(x) + \eta \sum_j c_{mj}\, \mathbb{I}(x \in R_{mj}),
        \qquad P(y = 1 \mid x) = \frac{1}{1 + e^{-f_M(x)}}

    for two classes. With more classes, each has a score and a tree in every round, and
    the probabilities are :math:`e^{f_k} / \sum_j e^{f_j}`.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or Loss, default="log_loss"
        Loss function to minimise; the exponential loss, that of AdaBoost, is for two
        classes. An object of a subclass of
        :class:`~sklearn_textbook.ensemble.boosting.losses.Loss` is a user-defined loss.
    learning_rate : float, default=0.1
        What the values of leaves are multiplied by, :math:`\eta` (shrinkage).
    n_estimators : int, default=100
        Number of rounds M.
    subsample : float, default=1.0
        Fraction of the rows, drawn without replacement, that grow the trees of a round;
        the others estimate its ``oob_improvement_``.
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
        rise (1) with it. For two
        classes.
    interaction_cst : str or sequence of sequences of int, default=None
        Groups of columns that may be tested on the same path, at most 64; columns in no
        group are one more. "no_interactions": each column alone; "pairwise": any two.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced": all classes weigh the same.
    init : estimator, "zero" or None, default=None
        What predicts before the first round: a classifier with probabilities, which is
        fitted; scores of 0; or the constant of the smallest loss (None).
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
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
    GradientBoostingRegressor : The same for values.
    AdaBoostClassifier : The exponential loss with weights of the rows.

    Notes
    -----
    Every round computes the first and second derivatives :math:`g_i, h_i` of the loss
    by the raw scores, and grows a tree whose splits and leaves minimise

    .. math:: \sum_{\text{leaves } R} \Big( G_R\, v_R
        + \tfrac12 (H_R + \lambda)\, v_R^2 \Big),
        \qquad v_R = -\frac{G_R}{H_R + \lambda},

    with the sums :math:`G_R, H_R` over the rows of a leaf [2]_. Leaves of the
    exponential loss are its minimum. Of K > 2 classes, which have a tree each in every
    round, leaves are multiplied by (K - 1) / K, as Friedman's algorithm, scikit-learn's
    ``GradientBoostingClassifier`` and, through its hessians, LightGBM do;
    ``HistGradientBoostingClassifier`` takes the whole step.

    Scikit-learn has two implementations. Names and defaults are those of its
    ``HistGradientBoostingClassifier``, where these differ from
    ``GradientBoostingClassifier``, but that rounds are ``n_estimators``, and that early
    stopping is set with ``n_iter_no_change``. The latter chooses splits by the
    residuals alone, whatever the second derivatives.

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
        loss="log_loss",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
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
        class_weight=None,
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
        self.class_weight = class_weight
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
            check_choice("loss", self.loss, ("log_loss", "exponential"))

    def _read_target(self, y):
        (classes,), codes = encode_labels(self._read_labels(y, "y"))
        if vars(self).get("estimators_") is not None and not np.array_equal(
            classes, self.classes_
        ):
            raise ValueError(
                "warm_start=True adds trees to those of the last fit, whose classes "
                f"were {self.classes_}; now they are {classes}."
            )
        self.classes_, self.n_classes_ = classes, len(classes)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes, but y has only one class: "
                f"{classes.tolist()[0]!r}."
            )
        if len(classes) > 2 and is_constrained(self.monotonic_cst):
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass "
                f"classification: y has {len(classes)} classes."
            )
        self._warn_of_many_classes(len(codes))
        return codes[:, 0].astype(np.float64)

    def _warn_of_many_classes(self, n_rows):
        """Warn if the scores of all rows and classes take gigabytes."""
        n_classes = self.n_classes_
        # scores, gradients and second derivatives
        n_bytes = 3 * 8 * n_rows * n_classes
        if n_classes >= MANY_CLASSES and n_bytes > MEMORY_TO_WARN:
            warnings.warn(
                f"{type(self).__name__} fits a tree for each class in every round, "
                f"here {self.n_estimators * n_classes:,} trees, and the scores of "
                f"{n_rows:,} rows and {n_classes:,} classes with their derivatives "
                f"need {n_bytes / 1e9:.1f} GB of memory. Merge classes with few rows, "
                "fit to fewer rows, or use a random forest.",
                UserWarning,
                stacklevel=5,
            )

    def _read_labels(self, y, name):
        """Check labels of one output; they become a column."""
        labels = check_target(y, is_numeric=False, name=name)
        return column_or_1d(labels, warn=len(getattr(y, "shape", ())) > 1)[
            :, np.newaxis
        ]

    def _encode_known(self, y, name="y_val"):
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

    def decision_function(self, X):
        """Compute the raw scores.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of float64, shape (n_samples,) or (n_samples, n_classes)
            Of two classes the score of ``classes_[1]``.
        """
        return self._to_decisions(self._compute_raw(X))

    def predict_proba(self, X):
        """Predict probabilities of the classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of float64, shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._to_probabilities(self._compute_raw(X))

    def predict_log_proba(self, X):
        """Predict logarithms of the probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of float64, shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return take_logarithms(self.predict_proba(X))

    def apply(self, X):
        """Find the leaf of every tree where each row ends.

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

    def _to_decisions(self, raw):
        return raw[0] if len(raw) == 1 else raw.T

    def _to_probabilities(self, raw):
        return self.loss_.to_prediction(raw)

    def _to_target(self, raw):
        """Choose classes, of equal scores the first."""
        is_single = len(raw) == 1
        return self.classes_[(raw[0] > 0) * 1 if is_single else raw.argmax(axis=0)]
