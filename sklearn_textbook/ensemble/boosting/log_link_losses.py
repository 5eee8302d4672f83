"""Losses of numbers whose means are exponentials of the raw scores."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.parameters import check_choice, check_real
from sklearn_textbook.ensemble.boosting import _losses
from sklearn_textbook.ensemble.boosting.compiled_loss import (
    LARGEST_SCORE,
    CompiledLoss,
    take_log_ratio,
)


class TweedieLoss(CompiledLoss):
    r"""Half the deviance of a Tweedie distribution with mean :math:`e^f`.

    .. math:: L(y, f) = \frac{e^{(2-p) f}}{2 - p} - y \frac{e^{(1-p) f}}{1 - p}

    up to a term that depends only on y. Targets must be at least 0.

    Parameters
    ----------
    power : float, default=1.5
        Exponent p of the variance :math:`\phi \mu^p`, from 1 (Poisson) to 2 (gamma).
    leaf_rule : {"newton", "minimum"}, default="newton"
        Value of a leaf: one Newton step :math:`-G / (H + \lambda)`, or the minimum
        :math:`\log \frac{\sum w y \mu^{1-p} + \lambda}{\sum w \mu^{2-p} + \lambda}`,
        where the ratio is limited to the range from :math:`2^{-52}` to :math:`2^{52}`.

    See Also
    --------
    PoissonLoss : The special case of power 1.
    GammaLoss : The special case of power 2.

    Notes
    -----
    Both rules agree for small steps. A Newton step overshoots if the targets of a leaf
    are many times larger than the predictions. scikit-learn's
    ``HistGradientBoostingRegressor`` uses Newton steps; it has no Tweedie loss.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 1 (the minimum).
    B. Jørgensen. "The Theory of Dispersion Models", 1997, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import TweedieLoss
    >>> start = TweedieLoss(power=1.2).find_start(np.array([0.0, 1.0, 5.0]))
    >>> np.exp(start)
    array([2.])
    """

    name = "tweedie"
    kind = _losses.Kind.TWEEDIE
    _link = "exp"

    def __init__(self, power=1.5, leaf_rule="newton"):
        self.power = power
        self.leaf_rule = leaf_rule

    @property
    def has_newton_leaves(self):
        """Whether the values of leaves are -G / (H + l2)."""
        return self.leaf_rule == "newton"

    def check_parameters(self):
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_real("power", self.power, 1.0, 2.0)
        check_choice("leaf_rule", self.leaf_rule, ("newton", "minimum"))

    def check_target(self, y):
        """Check that the loss is defined for the targets.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Targets.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            The targets as an array.

        Raises
        ------
        ValueError
            If a target is negative (with power 2, not above 0), or all targets are 0.
        """
        y = super().check_target(y)
        if self.power == 2.0:
            self._require(y, y > 0.0, "above 0")
        else:
            self._require(y, y >= 0.0, "at least 0")
        self._take_log(y.max())
        return y

    def _take_log(self, mean):
        if mean <= 0.0:
            raise ValueError(
                f"y must have a value above 0 for the loss {self.name!r}, since the "
                "initial score is the logarithm of the mean; got only zeros."
            )
        return np.log(mean)

    def _find_settings(self, y, raw, weight):
        return 1.0 - self.power, 2.0 - self.power

    def _find_start(self, y, weight):
        return np.array([self._take_log(np.average(y, weights=weight))])

    def _solve_leaves(self, gradient_sums, hessian_sums, l2):
        if self.leaf_rule == "newton":
            return super()._solve_leaves(gradient_sums, hessian_sums, l2)
        # the sums of w y mu^(1 - p) and of w mu^(2 - p)
        targets = np.maximum(hessian_sums - (2.0 - self.power) * gradient_sums, 0.0)
        means = np.maximum(hessian_sums + (self.power - 1.0) * gradient_sums, 0.0)
        return take_log_ratio(targets + l2, means + l2)

    def _predict(self, raw):
        return np.exp(np.minimum(raw[0], LARGEST_SCORE))


class PoissonLoss(TweedieLoss):
    r"""Half the Poisson deviance with mean :math:`e^f`: :math:`e^f - y f`.

    For counts. Targets must be at least 0, but need not be integers.

    Parameters
    ----------
    leaf_rule : {"newton", "minimum"}, default="newton"
        Value of a leaf: one Newton step :math:`-G / (H + \lambda)`, or the minimum
        :math:`\log \frac{\sum w y + \lambda}{\sum w \mu + \lambda}`.

    See Also
    --------
    TweedieLoss : Other powers.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import PoissonLoss
    >>> PoissonLoss().check_target([0, 2, -1])
    Traceback (most recent call last):
        ...
    ValueError: y must be at least 0 for the loss 'poisson', got -1.0 in row 2.
    """

    name = "poisson"
    power = 1.0

    def __init__(self, leaf_rule="newton"):
        self.leaf_rule = leaf_rule


class GammaLoss(TweedieLoss):
    r"""Half the gamma deviance with mean :math:`e^f`: :math:`f + y e^{-f}`.

    Targets must be above 0.

    Parameters
    ----------
    leaf_rule : {"newton", "minimum"}, default="newton"
        Value of a leaf: one Newton step :math:`-G / (H + \lambda)`, or the minimum
        :math:`\log \frac{\sum w y / \mu + \lambda}{\sum w + \lambda}`.

    See Also
    --------
    TweedieLoss : Other powers.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import GammaLoss
    >>> loss = GammaLoss(leaf_rule="minimum")
    >>> y, raw, leaf_of_row = np.array([1.0, 3.0]), np.zeros((1, 2)), np.zeros(2, int)
    >>> loss.compute_leaf_values(y, raw, None, leaf_of_row, n_nodes=1)
    array([0.69314718])
    """

    name = "gamma"
    power = 2.0

    def __init__(self, leaf_rule="newton"):
        self.leaf_rule = leaf_rule
