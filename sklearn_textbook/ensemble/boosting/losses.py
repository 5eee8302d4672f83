r"""Losses of boosting.

A loss :math:`L(y, f)` measures the error of raw scores f, the sums of the members'
values. A tree is fitted to its first and second derivatives, or to residuals, and its
leaves add the values that decrease the loss most. ``Loss`` has the interface, for
user-defined losses.

=================== ========================================= =============
class               L(y, f)                                   prediction
=================== ========================================= =============
``SquaredError``    :math:`\frac12 (y - f)^2`                 f
``AbsoluteError``   :math:`|y - f|`                           f
``HuberLoss``       squared up to :math:`\delta`, then linear f
``QuantileLoss``    :math:`q (y - f)_+ + (1 - q) (f - y)_+`   f
``PoissonLoss``     :math:`e^f - y f`                         :math:`e^f`
``GammaLoss``       :math:`f + y e^{-f}`                      :math:`e^f`
``TweedieLoss``     deviances between these two               :math:`e^f`
``LogLoss``         :math:`\log(1 + e^{-\tilde y f})`         probabilities
``ExponentialLoss`` :math:`e^{-\tilde y f}`                   probabilities
``MultinomialLoss`` :math:`\log \sum_k e^{f_k} - f_y`         probabilities
=================== ========================================= =============

Of two classes, :math:`\tilde y` is -1 and 1. In exponents, -700 and 600 stand for what
is beyond them: no derivative is infinite, however large a score has become.
"""

from sklearn_textbook.ensemble.boosting.base_loss import Loss
from sklearn_textbook.ensemble.boosting.class_losses import (
    ExponentialLoss,
    LogLoss,
    MultinomialLoss,
)
from sklearn_textbook.ensemble.boosting.log_link_losses import (
    GammaLoss,
    PoissonLoss,
    TweedieLoss,
)
from sklearn_textbook.ensemble.boosting.residual_losses import (
    AbsoluteError,
    HuberLoss,
    QuantileLoss,
    SquaredError,
)

__all__ = [
    "AbsoluteError",
    "ExponentialLoss",
    "GammaLoss",
    "HuberLoss",
    "LogLoss",
    "Loss",
    "MultinomialLoss",
    "PoissonLoss",
    "QuantileLoss",
    "SquaredError",
    "TweedieLoss",
]
