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
    r"""Half the deviance of a Tweedie distribution with the mean :math:`e^f`.

    .. math:: L(y, f) = \frac{e^{(2-p) f}}{2 - p} - y \frac{e^{(1-p) f}}{1 - p}

    less a number that depends on y alone. Targets are at least 0.

    Parameters
    ----------
    power : float, default=1.5
        Exponent p of the variance :math:`\phi \mu^p`, from 1 (Poisson) to 2 (gamma).
    leaf_rule : {"newton", "minimum"}, default="newton"
        A leaf adds one Newton step :math:`-G / (H + \lambda)`, or the minimum
        :math:`\log \frac{\sum w y \mu^{1-p} + \lambda}{\sum w \mu^{2-p} + \lambda}`,
        whose ratio is kept between :math:`2^{-52}` and :math:`2^{52}`.

    See Also
    --------
    PoissonLoss : The power 1.
    GammaLoss : The power 2.

    Notes
    -----
    Both rules agree for small steps. A Newton step overshoots where the targets of a
    leaf are many times as large as what was predicted. scikit-learn's
    ``HistGradientBoostingRegressor`` takes Newton steps; it has no Tweedie loss.

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

    def __init__(self, power=1.5, leaf_rule="newton"):
        self.power = power
        self.leaf_rule = leaf_rule

    @property
    def has_newton_leaves(self):
        """Whether leaves have the values -G / (H + l2)."""
        return self.leaf_rule == "newton"

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If a value is not allowed; the message lists what is.
        """
        check_real("power", self.power, 1.0, 2.0)
        check_choice("leaf_rule", self.leaf_rule, ("newton", "minimum"))

    def check_target(self, y):
        """Require targets that the loss is defined for.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Targets.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            The same.

        Raises
        ------
        ValueError
            If a target is negative (for power 2: not above 0), or all of them are 0.
        """
        y = super().check_target(y)
        if self.power == 2.0:
            self._require(y, y > 0.0, "numbers above 0")
        else:
            self._require(y, y >= 0.0, "numbers from 0 up")
        self._take_log(y.max())
        return y

    def _take_log(self, mean):
        if mean <= 0.0:
            raise ValueError(
                f"y is 0 in all rows, but the loss {self.name!r} takes the logarithm "
                "of their mean: at least one has to be above 0."
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
    r"""Half the Poisson deviance with the mean :math:`e^f`: :math:`e^f - y f`.

    For counts: targets are at least 0, whole or not.

    Parameters
    ----------
    leaf_rule : {"newton", "minimum"}, default="newton"
        A leaf adds one Newton step :math:`-G / (H + \lambda)`, or the minimum
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
    ValueError: y has the value -1.0 in row 2, but the loss 'poisson' takes numbers
    from 0 up.
    """

    name = "poisson"
    power = 1.0

    def __init__(self, leaf_rule="newton"):
        self.leaf_rule = leaf_rule


class GammaLoss(TweedieLoss):
    r"""Half the gamma deviance with the mean :math:`e^f`: :math:`f + y e^{-f}`.

    Targets are above 0.

    Parameters
    ----------
    leaf_rule : {"newton", "minimum"}, default="newton"
        A leaf adds one Newton step :math:`-G / (H + \lambda)`, or the minimum
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
