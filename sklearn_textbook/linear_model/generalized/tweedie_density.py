"""The density of Tweedie distributions with a power between 1 and 2."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

#: Number of terms of the series on either side of the largest, and per standard
#: deviation of their approximately normal curve.
SIDE, PER_DEVIATION = 96, 8.0


def compute_log_density(y, mean, dispersion, power):
    r"""Compute the logarithm of the density, and at 0 that of the probability.

    The distribution is that of a sum of N gamma variables, where N is Poisson, and the
    density is the series over N of Dunn and Smyth (2005). Its terms form a bell-shaped
    curve; if it is wide, equally spaced terms are summed, as for an integral, which is
    equally accurate.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Targets of at least 0.
    mean : ndarray of shape (n_rows,)
        Means above 0.
    dispersion : float
        :math:`\phi`, above 0.
    power : float
        p, between 1 and 2.

    Returns
    -------
    log_density : ndarray of shape (n_rows,)
        The logarithms.
    """
    cumulant = np.power(mean, 2.0 - power) / (2.0 - power)
    found = -cumulant / dispersion
    is_positive = y > 0.0
    y, mean = y[is_positive], mean[is_positive]
    canonical = np.power(mean, 1.0 - power) / (1.0 - power)
    found[is_positive] += (
        y * canonical / dispersion - np.log(y) + _sum_series(y, dispersion, power)
    )
    return found


def _sum_series(y, dispersion, power):
    """Logarithm of the sum over the number of gamma variables."""
    shape = (2.0 - power) / (power - 1.0)
    log_base = shape * (np.log(y) - np.log(power - 1.0))
    log_base -= (1.0 + shape) * np.log(dispersion) + np.log(2.0 - power)
    peak = np.power(y, 2.0 - power) / (dispersion * (2.0 - power))
    peak = np.maximum(np.rint(peak), 1.0)
    step = np.maximum(np.sqrt(peak / (1.0 + shape)) / PER_DEVIATION, 1.0)

    def compute_term(number):
        return number * log_base - gammaln(number + 1.0) - gammaln(shape * number)

    largest = compute_term(peak)
    total = np.zeros_like(y)
    for place in range(-SIDE, SIDE + 1):
        number = peak + place * step
        is_there = number >= 1.0
        term = compute_term(np.where(is_there, number, 1.0))
        total += np.where(is_there, np.exp(term - largest), 0.0)
    return largest + np.log(total * step)
