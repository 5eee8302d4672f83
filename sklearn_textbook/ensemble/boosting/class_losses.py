"""Losses of classes."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.parameters import check_integer, check_truth
from sklearn_textbook.ensemble.boosting import _losses
from sklearn_textbook.ensemble.boosting.compiled_loss import (
    LARGEST_SCORE,
    SMALLEST_RATIO,
    CompiledLoss,
    take_log_ratio,
)
from sklearn_textbook.ensemble.boosting.loss_rows import sum_by_node


class LogLoss(CompiledLoss):
    r"""Log loss for two classes; the raw score is the log odds of the second class.

    .. math:: L(y, f) = \log(1 + e^{-\tilde y f}), \quad \tilde y = 2 y - 1

    With :math:`p = 1 / (1 + e^{-f})`, the derivatives are :math:`p - y` and :math:`p (1
    - p)`, and the value of a leaf is :math:`\sum w (y - p) / (\sum w p (1 - p) +
    \lambda)`.

    See Also
    --------
    MultinomialLoss : Any number of classes.
    ExponentialLoss : The loss of AdaBoost.

    Notes
    -----
    In Friedman's paper, the score is half the log odds. The values of leaves agree with
    those of scikit-learn's ``GradientBoostingClassifier``.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import LogLoss
    >>> LogLoss().to_prediction(np.log([[1.0, 3.0]]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """

    name = "log_loss"
    n_classes = 2
    kind = _losses.Kind.LOGISTIC
    _link = "expit"

    def _find_start(self, y, weight):
        mean = np.average(y, weights=weight)
        return np.array([take_log_ratio(mean, 1.0 - mean)]) / self._unit

    def _predict(self, raw):
        scores = np.stack([-self._unit * raw[0], self._unit * raw[0]], axis=1)
        return 1.0 / (1.0 + np.exp(-np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE)))


class ExponentialLoss(LogLoss):
    r"""Exponential loss for two classes; the raw score is half the log odds.

    .. math:: L(y, f) = e^{-\tilde y f}, \quad \tilde y = 2 y - 1

    This is the loss of AdaBoost. The value of a leaf is the minimum

    .. math:: c = \frac12 \log \frac{W_+ + \lambda / 2}{W_- + \lambda / 2}, \quad
        W_\pm = \sum_{\tilde y_i = \pm 1} w_i e^{-\tilde y_i f(x_i)}

    where the ratio is limited to the range from :math:`2^{-52}` to :math:`2^{52}`. The
    value of a leaf whose rows have one class is therefore 18.02 or -18.02 if
    :math:`\lambda` is 0.

    See Also
    --------
    LogLoss : Less sensitive to wrong labels.

    Notes
    -----
    scikit-learn's ``GradientBoostingClassifier`` uses a Newton step, :math:`(W_+ - W_-)
    / (W_+ + W_-)`, instead.

    References
    ----------
    李航. 统计学习方法 (第2版), 8.3.2. J. Friedman, T. Hastie, R. Tibshirani. "Additive
    logistic regression", Annals of Statistics 28(2), 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import ExponentialLoss
    >>> y = np.array([0.0, 0.0, 0.0, 1.0])
    >>> np.exp(2 * ExponentialLoss().find_start(y))
    array([0.33333333])
    """

    name = "exponential"
    kind = _losses.Kind.EXPONENTIAL
    has_newton_leaves = False
    _unit = 2.0  # of the raw score, in log odds

    def _correct_sums(self, y, weight, leaf_of_row, gradient_sums, hessian_sums):
        # In a leaf of one class, they differ by rounding errors only.
        if weight is not None:
            leaf_of_row = np.where(weight > 0, leaf_of_row, -1)
        n_nodes = len(gradient_sums)
        n_above = sum_by_node(y, leaf_of_row, n_nodes)
        n_below = sum_by_node(1.0 - y, leaf_of_row, n_nodes)
        return np.select(
            [(n_below == 0) & (n_above > 0), (n_above == 0) & (n_below > 0)],
            [-hessian_sums, hessian_sums],
            gradient_sums,
        )

    def _solve_leaves(self, gradient_sums, hessian_sums, l2):
        above = np.maximum(hessian_sums - gradient_sums, 0.0)
        below = np.maximum(hessian_sums + gradient_sums, 0.0)
        return 0.5 * take_log_ratio(above + l2, below + l2)


class MultinomialLoss(CompiledLoss):
    r"""Log loss for K classes, with one raw score per class.

    .. math:: L(y, f) = \log \sum_k e^{f_k} - f_y

    With the softmax probabilities :math:`p_k`, the derivatives with respect to
    :math:`f_k` are :math:`p_k - 1[y = k]` and :math:`p_k (1 - p_k)`. The value of a
    leaf is

    .. math:: c = \frac{K - 1}{K} \frac{\sum w (1[y = k] - p_k)}
        {\sum w p_k (1 - p_k) + \lambda}

    Parameters
    ----------
    n_classes : int, default=3
        Number of classes K.
    friedman_factor : bool, default=True
        Whether to multiply the values of leaves by (K - 1) / K, since the K trees of a
        round are fitted independently although the scores are not independent.

    See Also
    --------
    LogLoss : Two classes with one score.

    Notes
    -----
    scikit-learn's ``GradientBoostingClassifier`` uses the factor, its
    ``HistGradientBoostingClassifier`` does not. The initial scores sum to 0.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, section 4.6, algorithm 6.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import MultinomialLoss
    >>> loss = MultinomialLoss(n_classes=3)
    >>> start = loss.find_start(np.array([0.0, 1.0, 2.0, 2.0]))
    >>> loss.to_prediction(start[:, None])
    array([[0.25, 0.25, 0.5 ]])
    """

    name = "log_loss"
    kind = _losses.Kind.SOFTMAX
    _link = "softmax"

    def __init__(self, n_classes=3, friedman_factor=True):
        self.n_classes = n_classes
        self.friedman_factor = friedman_factor

    @property
    def n_scores(self):
        """Number of raw scores per row."""
        return self.n_classes

    @property
    def has_newton_leaves(self):
        """Whether the values of leaves are -G / (H + l2)."""
        return not self.friedman_factor

    def check_parameters(self):
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_integer("n_classes", self.n_classes, 2)
        check_truth("friedman_factor", self.friedman_factor)

    def _find_start(self, y, weight):
        totals = np.bincount(y.astype(np.intp), weight, self.n_classes)
        scores = np.log(np.maximum(totals / totals.sum(), SMALLEST_RATIO))
        return scores - scores.mean()

    def _find_settings(self, y, raw, weight):
        if not 0.0 <= y.min() <= y.max() < self.n_classes:
            self.check_target(y)  # the kernel looks up the score of a code
        return super()._find_settings(y, raw, weight)

    def _solve_leaves(self, gradient_sums, hessian_sums, l2):
        steps = super()._solve_leaves(gradient_sums, hessian_sums, l2)
        return steps * (
            (self.n_classes - 1) / self.n_classes if self.friedman_factor else 1.0
        )

    def _predict(self, raw):
        powers = np.exp(raw - raw.max(axis=0))
        return np.ascontiguousarray((powers / powers.sum(axis=0)).T)
