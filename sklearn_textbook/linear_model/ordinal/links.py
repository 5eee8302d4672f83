"""Distribution functions of cumulative link models."""

from __future__ import annotations

import numpy as np
from scipy import special


class CumulativeLink:
    r"""A distribution function F with :math:`P(y \le j) = F(\zeta_j - x^T w)`.

    Links ``measure`` logarithms of probabilities of intervals and of densities,
    ``differentiate`` the latter, and ``invert`` probabilities. Ends may be infinite.
    """

    name = ""


class LogitLink(CumulativeLink):
    """The logistic distribution: proportional odds."""

    name = "logit"

    def measure(self, lower, upper):
        """Logarithm of the probability between two ends."""
        width = np.log(-np.expm1(lower - upper))
        return special.log_expit(upper) + special.log_expit(-lower) + width

    def measure_density(self, value):
        """Logarithm of the density."""
        return special.log_expit(value) + special.log_expit(-value)

    def differentiate(self, value):
        """Differentiate the logarithm of the density."""
        return -np.tanh(0.5 * value)

    def invert(self, probability):
        """Quantiles."""
        return special.logit(probability)


class ProbitLink(CumulativeLink):
    """The normal distribution."""

    name = "probit"

    def measure(self, lower, upper):
        """Logarithm of the probability between two ends."""
        # In the tail with the smaller numbers.
        is_above = lower > 0.0
        low = np.where(is_above, -upper, lower)
        high = special.log_ndtr(np.where(is_above, -lower, upper))
        return high + np.log(-np.expm1(special.log_ndtr(low) - high))

    def measure_density(self, value):
        """Logarithm of the density."""
        return -0.5 * np.square(value) - 0.5 * np.log(2.0 * np.pi)

    def differentiate(self, value):
        """Differentiate the logarithm of the density."""
        return -value

    def invert(self, probability):
        """Quantiles."""
        return special.ndtri(probability)


class ComplementaryLogLogLink(CumulativeLink):
    r"""The Gumbel distribution, :math:`F(q) = 1 - \exp(-e^q)`: proportional hazards."""

    name = "cloglog"

    def measure(self, lower, upper):
        """Logarithm of the probability between two ends."""
        low, high = np.exp(lower), np.exp(upper)
        return np.log(-np.expm1(low - high)) - low

    def measure_density(self, value):
        """Logarithm of the density."""
        return np.where(np.isposinf(value), -np.inf, value - np.exp(value))

    def differentiate(self, value):
        """Differentiate the logarithm of the density."""
        return 1.0 - np.exp(value)

    def invert(self, probability):
        """Quantiles."""
        return np.log(-np.log1p(-probability))


#: The links by name.
LINKS = {
    link.name: link for link in (LogitLink(), ProbitLink(), ComplementaryLogLogLink())
}


def measure_classes(
    link: CumulativeLink, scores: np.ndarray, thresholds: np.ndarray
) -> np.ndarray:
    """Logarithms of the probabilities of all classes. Shape (n_rows, n_classes)."""
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    ends = ends - scores[:, np.newaxis]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return link.measure(ends[:, :-1], ends[:, 1:])
