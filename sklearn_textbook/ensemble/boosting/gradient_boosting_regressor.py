"""Gradient boosting of values, 梯度提升: trees fitted to derivatives of a loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from sklearn_textbook._contract.labels import (
    check_numbers,
)
from sklearn_textbook._contract.parameters import check_choice, check_real
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.scoring import RegressorMixin
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
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
from sklearn_textbook.ensemble.conformal import (
    Calibration,
    check_coverage,
    get_calibration,
    is_calibrated,
)
from sklearn_textbook.tree.members import find_leaves_of_all

REGRESSION_LOSSES = {
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "huber": HuberLoss,
    "quantile": QuantileLoss,
    "poisson": PoissonLoss,
    "gamma": GammaLoss,
    "tweedie": TweedieLoss,
}
#: Those whose leaves are Newton steps.
LINEAR_LEAF_LOSSES = ("squared_error", "poisson", "gamma", "tweedie")
LOG_LINK_LOSSES = (PoissonLoss, GammaLoss, TweedieLoss)
#: Rows whose leaves in all trees are found at a time.
_ROWS_AT_ONCE = 4096


class GradientBoostingRegressor(RegressorMixin, BaseGradientBoosting):
    r"""Gradient boosting for regression, 梯度提升: trees fitted to derivatives.

    .. math:: f_0(x) = \arg\min_c \sum_i L(y_i, c), \qquad
        f_m(x) = f_{m-1}(x) + \eta \sum_j c_{mj}\, \mathbb{I}(x \in R_{mj}).

    The regions :math:`R_{mj}` are the leaves of the tree of round m.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        Loss function to minimise: "squared_error", "absolute_error", "huber",
        "quantile", "poisson", "gamma" or "tweedie"; the last three use the link
        :math:`\mathrm{E}(y) = e^f`. An instance of a subclass of
        :class:`~sklearn_textbook.ensemble.boosting.losses.Loss` is a user-defined loss.
    learning_rate : float, default=0.1
        Factor :math:`\eta` applied to the values of leaves (shrinkage).
    n_estimators : int, default=100
        Number of rounds M.
    subsample : float, default=1.0
        Fraction of the rows, drawn without replacement, from which the trees of a round
        are grown; the other rows are used for ``oob_improvement_``.
    alpha : float, default=0.9
        The quantile for "quantile". For "huber", the quantile of the absolute residuals
        above which the loss is linear.
    power : float, default=1.5
        Power of the variance for "tweedie", between 1 and 2.
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
        ``subsample``. With weights that differ and a loss other than "squared_error",
        "absolute_error", "huber" and "quantile", each leaf has as many rows as the
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
    leaf_model : {"constant", "linear"}, default="constant"
        What a leaf adds: a number, or a linear equation of numeric and ordinal columns,
        which is fitted to :math:`-g_i / h_i` with the weights :math:`h_i` (see below)
        as in :class:`~sklearn_textbook.tree.CARTRegressor`. "linear" requires a table
        in memory, the loss "squared_error", "poisson", "gamma" or "tweedie",
        ``l2_regularization=0``, and neither ``monotonic_cst`` nor ``interaction_cst``.
    leaf_shrinkage : float, default=3.0
        With ``leaf_model="linear"``, factor of the weight with which the equation of
        the parent is averaged with that of a node. 0: not at all.
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
    interaction_cst : str or sequence of sequences of int, default=None
        Groups of columns that may be tested on the same path, at most 64; columns in no
        group form an additional group. "no_interactions": each column on its own;
        "pairwise": any two columns.
    init : estimator, "zero" or None, default=None
        Predictions before the first round: those of a regressor, which is fitted first;
        0; or the constant with the smallest loss (None).
    n_iter_no_change : int, default=None
        Number of rounds k. Fitting stops after the first round whose loss of the
        validation rows is not lower, by more than ``tol``, than the highest of the k
        rounds before, as in scikit-learn's ``GradientBoostingRegressor``. This may be
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
    store_distribution : bool, default=False
        Whether ``fit`` stores what :meth:`predict_interval` needs: the residuals of the
        validation rows. Requires ``n_iter_no_change``.

    Attributes
    ----------
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
    GradientBoostingClassifier : The corresponding classifier.
    BoostingTreeRegressor : The boosting tree of the textbook, without shrinkage.

    Notes
    -----
    Each round computes the first and second derivatives :math:`g_i, h_i` of the loss
    with respect to the raw scores, and grows a tree whose splits and leaves minimise

    .. math:: \sum_{\text{leaves } R} \Big( G_R\, v_R
        + \tfrac12 (H_R + \lambda)\, v_R^2 \Big),
        \qquad v_R = -\frac{G_R}{H_R + \lambda},

    where :math:`G_R, H_R` are sums over the rows of a leaf [2]_. Leaves have the
    weighted median of the residuals with the absolute error, their weighted quantile
    with "quantile", and one step of Friedman's algorithm [1]_ with "huber".

    The sum of the hessians of a leaf is at least 0.001, in units of the mean weight of
    a row, as in scikit-learn's ``HistGradientBoosting*`` and LightGBM
    (``min_sum_hessian_in_leaf``). On rows that are predicted almost with certainty,
    the hessians of losses with a log link tend to 0, and trees without a split
    follow.

    With ``leaf_model="linear"`` [4]_, the tree grows for constants. Then every node
    gets an equation, fitted by least squares to the steps :math:`-g_i / h_i` with
    weights proportional to :math:`h_i`. As in
    :class:`~sklearn_textbook.tree.CARTRegressor`, its columns are chosen, it is
    averaged with the equation of the parent, and splits that do not pay are removed.
    What an equation adds stays in the range of the steps in the leaf. With "poisson",
    "gamma" and "tweedie", a bound b of this range becomes :math:`\log(1 + |b|)` with
    its sign, since a step :math:`y / \mu - 1` may be far larger than the
    :math:`\log(y / \mu)` that y needs. For k columns, this takes O(n k² depth) time in
    each round. LightGBM's ``linear_tree`` uses the columns tested on the path, without
    choosing, averaging or bounds, and its first tree is constant.

    Differences from scikit-learn, which has two implementations: this one takes all
    parameters of ``GradientBoostingRegressor``, but trees have by default 31 leaves of
    at least 20 rows, from 255 bins, as those of ``HistGradientBoostingRegressor``. With
    ``max_depth=3, max_leaf_nodes=None, min_samples_leaf=1, max_bins=None``, they are
    those of ``GradientBoostingRegressor``, up to ties and, with ``subsample`` or
    ``max_features``, to chance. ``train_score_`` is half the squared error. There is no
    ``monitor`` in ``fit``, but there are callbacks.

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
    .. [4] Y. Shi, J. Li, Z. Li (2019), "Gradient boosting with piece-wise linear
       regression trees", IJCAI.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=50).fit(X, y)
    >>> float(model.train_score_[-1]) < float(model.train_score_[0])
    True
    """

    _saved_fields = (
        *BaseGradientBoosting._saved_fields,
        SavedField("_node_variance", shape=(None,), is_optional=True, least=0),
    )

    def __init__(
        self,
        *,
        loss: str | Loss = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        alpha: float = 0.9,
        power: float = 1.5,
        max_depth: int | None = None,
        max_leaf_nodes: int = 31,
        min_samples_split: float = 2,
        min_samples_leaf: float = 20,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        max_features: float | str | None = None,
        l2_regularization: float = 0.0,
        leaf_model: str = "constant",
        leaf_shrinkage: float = 3.0,
        max_bins: int = 255,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        categorical_smoothing: float | str = "auto",
        missing: str = "learned",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        interaction_cst: str | Sequence[Sequence[int]] | None = None,
        init: Any = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        criterion: str = "deprecated",
        store_distribution: bool = False,
    ) -> None:
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
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.max_features = max_features
        self.l2_regularization = l2_regularization
        self.leaf_model = leaf_model
        self.leaf_shrinkage = leaf_shrinkage
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_smoothing = categorical_smoothing
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
        self.criterion = criterion
        self.store_distribution = store_distribution

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.loss, Loss):
            check_choice("loss", self.loss, REGRESSION_LOSSES)
        check_real("alpha", self.alpha, 0.0, 1.0)
        check_real("power", self.power, 1.0, 2.0)

        self._check_leaf_model()

    def _check_leaf_model(self) -> None:
        check_choice("leaf_model", self.leaf_model, ("constant", "linear"))
        if self.leaf_model == "constant":
            return
        is_allowed = {
            "loss": isinstance(self.loss, str) and self.loss in LINEAR_LEAF_LOSSES,
            "l2_regularization": self.l2_regularization == 0.0,
            "interaction_cst": self.interaction_cst is None,
        }
        for name, is_given in is_allowed.items():
            if not is_given:
                raise ValueError(
                    "leaf_model='linear' requires l2_regularization=0, "
                    "interaction_cst=None and one of the losses "
                    f"{', '.join(LINEAR_LEAF_LOSSES)}; got "
                    f"{name}={getattr(self, name)!r}. Or use leaf_model='constant'."
                )

    def _require_blocks(self) -> None:
        super()._require_blocks()
        if self.leaf_model == "linear":
            raise ValueError(
                "A table that is read in blocks requires leaf_model='constant', got "
                "'linear', for which its columns must be in memory."
            )

    def _make_template(self):
        return (
            super()
            ._make_template()
            .set_params(leaf_model=self.leaf_model, leaf_shrinkage=self.leaf_shrinkage)
        )

    def _read_target(self, y):
        return column_or_1d(check_numbers(y, type(self).__name__), warn=True)

    def _read_block_target(self, columns) -> None:
        """Check the target of a table that is read in blocks."""

    def _encode_known(self, y, name: str = "y_val"):
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

    def _restore(self, reader, members, columns, kept) -> None:
        super()._restore(reader, members, columns, kept)
        if is_calibrated(self):
            n_nodes = sum(member.tree_.node_count for member in members)
            if len(getattr(self, "_node_variance", ())) != n_nodes:
                raise ValueError("_node_variance must have a value for each node")

    # ------------------------------------------------------------------- intervals
    def _plan_calibration(self, rounds, trees):
        names, n_threads = rounds.grower.reader.schema_.names, rounds.grower.n_threads
        blocks = (
            (matrix, self._standardize(y, raw)[:, 0], weight)
            for matrix, y, weight, raw in rounds.scores.read_blocks()
        )
        variance = measure_node_variances(trees, names, n_threads, blocks)
        self._node_variance = variance

        def measure(matrix, y, raw):
            spread = measure_spread(trees, variance, matrix, names, n_threads)
            return self._standardize(y, raw), spread[:, np.newaxis]

        return Calibration.of_values, measure

    def _standardize(self, y, raw):
        """Divide residuals by the standard deviation that the loss supposes."""
        predicted = self._to_target(raw)
        residuals = (y - predicted) / self._suppose_deviation(predicted)
        return residuals[:, np.newaxis]

    def _suppose_deviation(self, predicted):
        """Compute the standard deviation at some means, up to a factor."""
        if not isinstance(self.loss_, LOG_LINK_LOSSES):
            return np.ones_like(predicted)
        if isinstance(self.loss_, PoissonLoss):
            return np.sqrt(predicted)
        if isinstance(self.loss_, GammaLoss):
            return predicted
        return predicted ** (self.loss_.power / 2)

    def predict_interval(self, X: MatrixLike, coverage: float = 0.9) -> np.ndarray:
        r"""Predict an interval for the value of each row.

        .. math:: F(x) \pm q \, v(F(x)) \, (s(x) + \bar s), \qquad
            s(x)^2 = \frac{1}{M} \sum_m \mathrm{mean} \left\{ r_i^2 : x_i \in R_m(x)
            \right\}, \quad r_i = \frac{y_i - F(x_i)}{v(F(x_i))}

        where :math:`R_m(x)` is the leaf of x in tree m, :math:`x_i` are the training
        rows, :math:`\bar s` is the mean of s over the validation rows, and q the
        quantile of their :math:`|r| / (s + \bar s)`. With "poisson", "gamma" and
        "tweedie", v is :math:`F^{p / 2}`, p being the power of the variance; with other
        losses, it is 1.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Probability with which an interval shall contain the value.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper bounds; not below 0 with "poisson", "gamma" and "tweedie".
            Infinite if there are too few validation rows for the coverage.

        Raises
        ------
        ValueError
            If the ensemble was fitted without ``store_distribution=True``.

        Notes
        -----
        These are split-conformal intervals. The coverage is that of rows from the same
        population as the validation rows, on average over all of them; it is a little
        lower in so far as these rows have also chosen the number of rounds.
        """
        check_coverage(coverage)
        calibration = get_calibration(self, "predict_interval")
        members = self._list_members()
        trees = [member.tree_ for member in members]

        def measure(matrix):
            n_threads = count_threads(self.n_jobs, matrix.shape[0] * len(trees))
            names = members[0].schema_.names
            return measure_spread(trees, self._node_variance, matrix, names, n_threads)

        spread = self._predict_blocks(X, measure)[:, np.newaxis]
        center = self.predict(X)
        width = calibration.find_widths(spread, coverage)[:, 0]
        width *= self._suppose_deviation(center)
        bounds = np.stack([center - width, center + width], axis=1)
        is_positive = isinstance(self.loss_, LOG_LINK_LOSSES)
        return np.maximum(bounds, 0.0) if is_positive else bounds


# ----------------------------------------------- the spread of the target near a row
def measure_node_variances(
    trees: Sequence, names, n_threads: int, blocks: Iterable[tuple]
) -> np.ndarray:
    """Measure the mean square of the residuals of the training rows in each node.

    ``blocks`` yields rows as trees take them, their residuals and weights. A node
    without rows, which a tree of a warm start may have, has the mean of its parent.
    """
    sums = [np.zeros((2, tree.node_count)) for tree in trees]
    for matrix, residuals, weight in blocks:
        weight = np.ones(len(residuals)) if weight is None else weight
        for of_tree, tree in zip(sums, trees, strict=True):
            node = find_leaves_of_all([tree], matrix, n_threads, names)[:, 0]
            for of_node, values in zip(
                of_tree, (weight * residuals**2, weight), strict=True
            ):
                of_node += np.bincount(node, values, tree.node_count)
    for of_tree, tree in zip(sums, trees, strict=True):
        parent = tree.nodes["parent"]
        for node in range(len(parent) - 1, 0, -1):  # children follow their parents
            of_tree[:, parent[node]] += of_tree[:, node]
        for node in np.flatnonzero(of_tree[1] <= 0):
            of_tree[:, node] = of_tree[:, parent[node]]
    total, weight = np.concatenate(sums, axis=1)
    return total / weight


def measure_spread(
    trees: Sequence, variance: np.ndarray, matrix, names, n_threads: int
) -> np.ndarray:
    """Measure the root of the mean over the trees of the variances of rows' nodes."""
    first_node = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]
    spread = np.empty(matrix.shape[0])
    for first in range(0, matrix.shape[0], _ROWS_AT_ONCE):
        block = matrix[first : first + _ROWS_AT_ONCE]
        node = find_leaves_of_all(trees, block, n_threads, names) + first_node
        spread[first : first + _ROWS_AT_ONCE] = np.sqrt(variance[node].mean(axis=1))
    return spread
