"""Losses whose values and derivatives are computed in compiled code."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.ensemble.boosting import _losses
from sklearn_textbook.ensemble.boosting.base_loss import Loss

#: Ratios of sums are kept between this and its inverse: logarithms stay finite.
SMALLEST_RATIO = 2.0**-52
#: Largest exponent, as in the kernels.
LARGEST_SCORE = 600.0


def take_log_ratio(above, below):
    """Take logarithms of ratios, which are kept away from 0 and infinity."""
    total = np.maximum(above + below, np.finfo(np.float64).tiny)
    return np.log(np.maximum(above, SMALLEST_RATIO * total)) - np.log(
        np.maximum(below, SMALLEST_RATIO * total)
    )


class CompiledLoss(Loss):
    """A loss that the kernels compute, given by a number and two settings."""

    kind = _losses.Kind.BOUNDED

    def _find_settings(self, y, raw, weight):
        """Find what the kernel calls low and high."""
        return 0.0, 0.0

    def _compute_loss(self, y, raw, weight, n_threads):
        settings = self._find_settings(y, raw, weight)
        memory = _losses.make_memory(len(raw), n_threads)
        total = _losses.add_losses(self.kind, *settings, y, raw, weight, memory)
        return total / (len(y) if weight is None else weight.sum())

    def _fill_gradients(self, y, raw, weight, gradient, hessian, n_threads):
        settings = self._find_settings(y, raw, weight)
        memory = _losses.make_memory(len(raw), n_threads)
        return _losses.differentiate(
            self.kind, *settings, y, raw, weight, gradient, hessian, memory
        )[:2]

    def _compute_with_loss(self, y, raw, weight, gradient, hessian, n_threads):
        settings = self._find_settings(y, raw, weight)
        memory = _losses.make_memory(len(raw), n_threads)
        *largest, total = _losses.differentiate(
            self.kind, *settings, y, raw, weight, gradient, hessian, memory, True
        )
        return tuple(largest), total / (len(y) if weight is None else weight.sum())
