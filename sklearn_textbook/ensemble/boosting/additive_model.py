"""Forward stagewise fitting of additive models, 前向分步算法, with any loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from sklearn.base import clone, is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import has_fit_parameter

from sklearn_textbook._contract.labels import decode_dictionary, encode_labels
from sklearn_textbook._contract.parameters import check_choice, check_integer
from sklearn_textbook._contract.tables import count_rows
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.boosting.losses import Loss, SquaredError

#: Slopes smaller than this, in units of the gradients, count as 0.
FLAT = 1e-12
#: Maximum number of times that the range of a coefficient is doubled.
MOST_DOUBLINGS = 200


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    r"""An additive model :math:`f(x) = f_0 + \sum_m \beta_m b_m(x)`, 加法模型.

    Parameters
    ----------
    estimators : list of estimator
        The members :math:`b_m`. A classifier predicts -1 or 1.
    coefficients : ndarray of float64, shape (n_members,)
        The coefficients :math:`\beta_m`.
    losses : ndarray of float64, shape (n_members,)
        Mean loss over the training rows after each round.
    start : float
        The constant :math:`f_0`.
    loss : Loss
        The loss.
    classes : ndarray of shape (2,), default=None
        Class labels; positive scores favour the second. None: regression.

    See Also
    --------
    fit_additive_model : Fits an additive model.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble import AdditiveModel
    >>> from sklearn_textbook.ensemble.boosting.losses import SquaredError
    >>> model = AdditiveModel([], np.empty(0), np.empty(0), 3.0, SquaredError())
    >>> model.predict([[1.0], [2.0]])
    array([3., 3.])
    """

    estimators: list
    coefficients: np.ndarray
    losses: np.ndarray
    start: float
    loss: Loss
    classes: np.ndarray | None = None

    def staged_scores(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Compute the raw scores before the first and after every round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, in the form that the members accept.

        Yields
        ------
        scores : ndarray of float64, shape (n_samples,)
            :math:`f_0(x), f_1(x), ...`
        """
        scores = np.full(count_rows(X), self.start)
        yield scores.copy()
        for member, coefficient in zip(self.estimators, self.coefficients, strict=True):
            scores += coefficient * _predict_member(member, X)
            yield scores.copy()

    def compute_scores(self, X: MatrixLike) -> np.ndarray:
        """Compute the raw scores f(x).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of float64, shape (n_samples,)
            The scores after the last round.
        """
        *_, scores = self.staged_scores(X)
        return scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict values or classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predictions that the loss derives from the scores. For classes, the
            labels: the second where the score is above 0.
        """
        scores = self.compute_scores(X)
        if self.classes is not None:
            return self.classes.take((scores > 0.0).astype(np.intp))
        return self.loss.to_prediction(scores[np.newaxis])


def _predict_member(member, X):
    """Predict with a member; shape (n_rows,)."""
    return np.asarray(member.predict(X), dtype=np.float64).reshape(-1)


def fit_additive_model(
    estimator: Any,
    X: MatrixLike,
    y: ArrayLike,
    *,
    loss: Loss | None = None,
    n_estimators: int = 100,
    init: str = "zero",
    sample_weight: ArrayLike | None = None,
) -> AdditiveModel:
    r"""Fit an additive model by the forward stagewise algorithm, 前向分步算法.

    In each round, a member b and a coefficient are added, and all previous terms remain
    unchanged:

    .. math::

        (\beta_m, b_m) = \arg\min_{\beta, b} \sum_i w_i
        L\big(y_i, f_{m-1}(x_i) + \beta\, b(x_i)\big), \qquad
        f_m(x) = f_{m-1}(x) + \beta_m b_m(x)

    First the member is chosen, in the direction of the negative gradient :math:`-g_i =
    -\partial L / \partial f` at :math:`f_{m-1}(x_i)`: a regressor is fitted to it by
    least squares, a classifier to its sign with the weights :math:`|g_i|`. Then
    :math:`\beta_m` is found by a line search.

    With the squared error, the negative gradients are the residuals; with regression
    trees this is the boosting tree of algorithm 8.3, and all coefficients are 1. With
    the exponential loss and classifiers it is AdaBoost, where :math:`\beta_m = \frac12
    \log \frac{1 - e_m}{e_m}`.

    Parameters
    ----------
    estimator : regressor or classifier
        Base estimator of the members; it is cloned. Its ``fit`` must accept
        ``sample_weight`` if it is a classifier, or if ``sample_weight`` is given.
    X : array-like of shape (n_samples, n_features)
        The rows, in the form that the members accept.
    y : array-like of shape (n_samples,)
        Values, or labels of two classes, depending on the loss.
    loss : Loss, default=None
        A loss with one raw score, such as those of
        :mod:`sklearn_textbook.ensemble.boosting.losses`. None: the squared error.
    n_estimators : int, default=100
        Maximum number of members. Fitting stops early at a member along which the loss
        does not decrease.
    init : {"zero", "constant"}, default="zero"
        Whether :math:`f_0` is 0, or the constant with the smallest loss.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the loss.

    Returns
    -------
    model : AdditiveModel
        The fitted model: members, coefficients and losses.

    Raises
    ------
    ValueError
        If the loss has several raw scores per row or does not allow a target, or if the
        members do not accept weights where they are needed.

    See Also
    --------
    BoostingTreeRegressor : The squared error and trees, for tables of any kind.

    Notes
    -----
    The coefficient is the point where the slope of the loss along the member is 0, up
    to rounding. If the loss decreases without end, as the exponential loss does along a
    classifier without errors, the search ends where the slope is :math:`10^{-12}` times
    that at 0.
    error, the search ends where the slope is :math:`10^{-12}` of that at 0.

    References
    ----------
    .. [1] 李航《统计学习方法》(第2版), section 8.3, algorithm 8.2, theorem 8.3.
    .. [2] J. H. Friedman. "Greedy function approximation: a gradient boosting machine",
       Annals of Statistics 29(5), 2001, algorithm 1.
    .. [3] L. Mason, J. Baxter, P. Bartlett, M. Frean. "Boosting algorithms as gradient
       descent", 1999 (classifiers as members).

    Examples
    --------
    AdaBoost on example 8.1 of the textbook:

    >>> from sklearn_textbook.datasets import load_adaboost_example
    >>> from sklearn_textbook.ensemble import fit_additive_model
    >>> from sklearn_textbook.ensemble.boosting.losses import ExponentialLoss
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> X, y = load_adaboost_example(return_X_y=True)
    >>> stump = CARTClassifier(criterion="error", max_depth=1)
    >>> model = fit_additive_model(
    ...     stump, X, y, loss=ExponentialLoss(), n_estimators=3
    ... )
    >>> model.coefficients.round(4)
    array([0.4236, 0.6496, 0.752 ])
    >>> int((model.predict(X) != y).sum())
    0
    """
    loss = SquaredError() if loss is None else loss
    check_integer("n_estimators", n_estimators, 1)
    check_choice("init", init, ("zero", "constant"))
    y, classes = _read_target(loss, y)
    weight = check_weights(sample_weight, len(y))
    _require_weights(estimator, weight)
    start = float(loss.find_start(y, weight)[0]) if init == "constant" else 0.0
    raw = np.full((1, len(y)), start)
    members, coefficients, losses = [], [], []
    for _ in range(n_estimators):
        slope = _differentiate(loss, y, raw, weight)
        member = _fit_member(estimator, X, slope, weight)
        along = np.ascontiguousarray(_predict_member(member, X))
        coefficient = _search(loss, y, raw, weight, along)
        if coefficient == 0.0:
            break
        raw += coefficient * along
        members.append(member)
        coefficients.append(coefficient)
        losses.append(loss.compute_loss(y, raw, weight))
    return AdditiveModel(
        members, np.array(coefficients), np.array(losses), start, loss, classes
    )


def _read_target(loss, y):
    """Read values, or make codes of labels."""
    if loss.n_scores != 1:
        raise ValueError(
            f"The loss {loss.name!r} has {loss.n_scores} raw scores per row, but an "
            "additive model has one."
        )
    y = column_or_1d(decode_dictionary(y), warn=True)
    if loss.n_classes is None:
        return loss.check_target(y), None
    (classes,), codes = encode_labels(y.reshape(-1, 1))
    if len(classes) != loss.n_classes:
        raise ValueError(
            f"y must have {loss.n_classes} classes for the loss {loss.name!r}, got "
            f"{len(classes)}."
        )
    return loss.check_target(codes[:, 0]), classes


def _require_weights(estimator, weight):
    if weight is None and not is_classifier(estimator):
        return
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__}.fit does not accept sample_weight, which is "
            "needed if the members are classifiers or sample_weight is given."
        )


def _differentiate(loss, y, raw, weight):
    """Differentiate the rows' losses, times their weights; shape (n_rows,)."""
    gradient = np.empty(raw.shape)
    loss.compute_gradients(y, raw, weight, gradient, None)
    return gradient[0]


def _fit_member(estimator, X, slope, weight):
    """Fit a member to the negative gradient."""
    member = clone(estimator)
    if is_classifier(estimator):
        signs = np.where(slope > 0.0, -1.0, 1.0)
        sizes = np.abs(slope)
        # Weights of about 1, however small the gradients have become.
        sizes *= len(sizes) / max(sizes.sum(), np.finfo(np.float64).tiny)
        return member.fit(X, signs, sample_weight=sizes)
    if weight is None:
        return member.fit(X, -slope)
    # A row of weight 0 is ignored, whatever its target.
    targets = np.divide(-slope, weight, out=np.zeros_like(slope), where=weight > 0.0)
    return member.fit(X, targets, sample_weight=weight)


def _search(loss, y, raw, weight, along):
    """Find where the slope along a member is 0; 0 if it is at once."""

    def slope_at(coefficient):
        moved = raw + coefficient * along
        return float(_differentiate(loss, y, moved, weight) @ along)

    first = _differentiate(loss, y, raw, weight)
    slope = float(first @ along)
    if abs(slope) <= FLAT * float(np.abs(first) @ np.abs(along)):
        return 0.0
    low, high = 0.0, -np.sign(slope)
    for _ in range(MOST_DOUBLINGS):
        slope_there = slope_at(high)
        if slope_there * slope <= 0.0:
            return brentq(slope_at, min(low, high), max(low, high), xtol=1e-15)
        if abs(slope_there) <= FLAT * abs(slope):
            break
        low, high = high, 2.0 * high
    return float(high)
