"""Losses of the residual: squared and absolute error, Huber's, quantiles."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from sklearn_textbook._contract.parameters import check_real
from sklearn_textbook.ensemble.boosting import _losses
from sklearn_textbook.ensemble.boosting.compiled_loss import CompiledLoss


def find_quantile(values, weight, quantile):
    """Find a weighted quantile.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows,)
        At least one.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights; a weight of 2 counts as two equal values.
    quantile : float
        Fraction between 0 and 1.

    Returns
    -------
    value : float
        The lowest value with at least that fraction of the weight up to it.
    """
    ends = np.array([0, len(values)])
    return float(
        _losses.find_leaf_quantiles(values, weight, None, ends, quantile, -1.0, 1)[0]
    )


class SquaredError(CompiledLoss):
    r"""Squared error :math:`\frac12 (y - f)^2`.

    The negative gradient is the residual, and the value of a leaf is the mean of its
    residuals: boosting fits residuals.

    See Also
    --------
    HuberLoss : Squared error for small residuals only.

    Notes
    -----
    李航 defines the loss as :math:`(y - f)^2`, twice this value, and so does
    ``train_score_`` of scikit-learn's ``GradientBoostingRegressor``.

    References
    ----------
    李航. 统计学习方法 (第2版), 8.4.2, 算法8.3. J. H. Friedman. "Greedy function
    approximation", 2001, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import SquaredError
    >>> y, raw = np.array([1.0, 5.0]), np.array([[2.0, 2.0]])
    >>> SquaredError().compute_loss(y, raw)
    2.5
    """

    name = "squared_error"
    has_constant_hessian = True

    def _find_settings(self, y, raw, weight):
        return -np.inf, np.inf

    def _find_start(self, y, weight):
        return np.array([np.average(y, weights=weight)])


class _QuantileLeaves(CompiledLoss):
    """Losses whose leaves are quantiles of the residuals, or begin there."""

    has_constant_hessian = True
    has_leaf_sums = False
    has_newton_leaves = False

    def _get_quantile(self):
        return 0.5

    def _get_delta(self, y, raw, weight):
        """Bound of a step from the quantile; negative: no step."""
        return -1.0

    def _find_start(self, y, weight):
        return np.array([find_quantile(y, weight, self._get_quantile())])

    def _measure_leaves(self, y, raw, weight, leaf_of_row, n_nodes, n_threads):
        starts = np.zeros(n_nodes + 1, dtype=np.int64)
        order = np.empty(len(y), dtype=np.int32)
        _losses.sort_by_leaf(leaf_of_row, starts, order)
        return _losses.find_leaf_quantiles(
            y - raw[0],
            weight,
            order,
            starts,
            self._get_quantile(),
            self._get_delta(y, raw, weight),
            n_threads,
        )


class AbsoluteError(_QuantileLeaves):
    r"""Absolute error :math:`|y - f|`.

    The gradient is the sign of f - y, or 0 if they are equal. The value of a leaf is
    the weighted median of its residuals, the lowest if there are several.

    See Also
    --------
    QuantileLoss : Any other quantile.

    Notes
    -----
    scikit-learn's ``GradientBoostingRegressor`` uses the same median; its
    ``HistGradientBoostingRegressor`` uses the midpoint of the two middle values if
    there are no weights.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import AbsoluteError
    >>> AbsoluteError().find_start(np.array([1.0, 2.0, 4.0, 9.0]))
    array([2.])
    """

    name = "absolute_error"
    kind = _losses.Kind.PINBALL

    def _find_settings(self, y, raw, weight):
        return -1.0, 1.0


class QuantileLoss(_QuantileLeaves):
    r"""Pinball loss :math:`q (y - f)_+ + (1 - q) (f - y)_+` for quantiles.

    The value of a leaf is the weighted quantile of its residuals: the lowest value such
    that at least the fraction q of the weight does not exceed it.

    Parameters
    ----------
    quantile : float, default=0.5
        The fraction q of targets below the prediction, between 0 and 1.

    See Also
    --------
    AbsoluteError : Twice this loss for q = 0.5.

    Notes
    -----
    scikit-learn calls the parameter ``alpha`` or ``quantile``. Without weights, its
    ``HistGradientBoostingRegressor`` interpolates between two values.

    References
    ----------
    R. Koenker, G. Bassett. "Regression quantiles", Econometrica 46(1), 1978.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import QuantileLoss
    >>> QuantileLoss(quantile=0.9).find_start(np.arange(11.0))
    array([9.])
    """

    name = "quantile"
    kind = _losses.Kind.PINBALL

    def __init__(self, quantile=0.5):
        self.quantile = quantile

    def check_parameters(self):
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_real("quantile", self.quantile, 0.0, 1.0)

    def _get_quantile(self):
        return float(self.quantile)

    def _find_settings(self, y, raw, weight):
        return -float(self.quantile), 1.0 - float(self.quantile)


class HuberLoss(_QuantileLeaves):
    r"""Huber's loss: squared for small residuals, linear for large ones.

    .. math::

        L(y, f) = \begin{cases} \frac12 r^2 & |r| \le \delta \\
        \delta (|r| - \frac12 \delta) & |r| > \delta \end{cases}, \quad r = y - f

    where :math:`\delta` is a weighted quantile of the absolute residuals, computed anew
    from the rows given in each use of the loss. The value of a leaf is the weighted
    median m of its residuals plus one step towards the minimum:

    .. math:: c = m + \frac{\sum_i w_i \operatorname{sign}(r_i - m)
        \min(\delta, |r_i - m|)}{\sum_i w_i}

    Parameters
    ----------
    alpha : float, default=0.9
        Fraction of the rows whose residuals count as small, between 0 and 1.
    delta : float or None, default=None
        A fixed :math:`\delta`, which makes losses of different rows or rounds
        comparable. None: :math:`\delta` is determined by ``alpha``.

    See Also
    --------
    SquaredError : Squared for all residuals.
    AbsoluteError : Linear throughout.

    Notes
    -----
    The second derivative is taken to be 1 everywhere, as in scikit-learn. The initial
    score is the median or, if ``delta`` is given, the minimum of the loss.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, section 4.4, algorithm 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import HuberLoss
    >>> y, raw = np.array([1.0, 2.0, 12.0]), np.zeros((1, 3))
    >>> HuberLoss(delta=2.0).compute_loss(y, raw).__round__(4)
    8.1667
    """

    name = "huber"
    kind = _losses.Kind.BOUNDED

    def __init__(self, alpha=0.9, delta=None):
        self.alpha = alpha
        self.delta = delta

    def check_parameters(self):
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_real("alpha", self.alpha, 0.0, 1.0)
        if self.delta is not None:
            check_real("delta", self.delta, 0.0)

    def _get_delta(self, y, raw, weight):
        if self.delta is not None:
            return float(self.delta)
        return find_quantile(np.abs(y - raw[0]), weight, float(self.alpha))

    def _find_settings(self, y, raw, weight):
        delta = self._get_delta(y, raw, weight)
        return -delta, delta

    def _find_start(self, y, weight):
        if self.delta is None or y.min() == y.max():
            return super()._find_start(y, weight)

        def add_gradients(start):
            clipped = np.clip(start - y, -self.delta, self.delta)
            return np.average(clipped, weights=weight)

        return np.array([brentq(add_gradients, y.min(), y.max(), xtol=1e-14)])
