"""Families of distributions of the target about its mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from sklearn_textbook._contract.blocks import add_up, list_blocks
from sklearn_textbook.linear_model.generalized.links import FRACTION_LINKS, TINY
from sklearn_textbook.linear_model.solve.row_blocks import read_rows

#: The families by name.
FAMILIES = (
    "gaussian",
    "poisson",
    "gamma",
    "binomial",
    "tweedie",
    "inverse_gaussian",
    "negative_binomial",
    "quasipoisson",
    "quasibinomial",
)
#: Names of R for families whose dispersion is estimated.
QUASI_FAMILIES = {"quasipoisson": "poisson", "quasibinomial": "binomial"}
#: Exponents of the variance of the Tweedie distributions among them.
POWERS = {"gaussian": 0.0, "poisson": 1.0, "gamma": 2.0, "inverse_gaussian": 3.0}
#: Counts from which the logarithms of their factorials are computed one by one.
LARGE_COUNT = 10_000
#: Number of trials above which more do not change the starting means.
MANY_TRIALS = 1e9
_ANY_MEAN = ("identity", "log", "inverse", "power")
#: Number of terms of the series on either side of the largest, and per standard
#: deviation of their approximately normal curve.
SIDE, PER_DEVIATION = 96, 8.0


@dataclass(frozen=True)
class TargetMeans:
    """Weighted means of a target."""

    #: Of y, of its absolute values, and of its squares.
    mean: float
    size: float
    square: float


def measure_means(y, weight) -> TargetMeans:
    """Measure the means of a target, block by block."""
    sums, total = np.zeros(3), add_up(weight)
    for rows in list_blocks(len(y)):
        values, each = read_rows(y, rows), read_rows(weight, rows)
        sums += each @ values, each @ np.abs(values), each @ np.square(values)
    return TargetMeans(*(sums / total).tolist())


@dataclass(frozen=True)
class Family:
    r"""A family of distributions with the variance :math:`\phi V(\mu)`.

    The unit deviance d measures how far y is from its mean: twice the difference of the
    log-likelihoods with the means y and :math:`\mu`, times the dispersion :math:`\phi`.

    Families compute variances, deviances and likelihoods, find and describe invalid
    targets and means, and choose the means from which the iteration starts.
    """

    #: Value of the parameter ``family``.
    name: str
    #: Whether the dispersion is known to be 1.
    has_fixed_dispersion = False
    #: Allowed links.
    links = _ANY_MEAN
    #: Whether the mean has to be above 0.
    has_positive_mean = True

    @property
    def default_link(self):
        """Name and exponent of the link "auto"."""
        return self.canonical_link

    def measure_scale(self, means) -> float:
        """Size of a deviance that counts as large, at most 1, in the units of y."""
        return 1.0


@dataclass(frozen=True)
class TweedieFamily(Family):
    r"""A Tweedie distribution, :math:`V(\mu) = \mu^p`."""

    #: p: 0 normal, 1 Poisson, between 1 and 2 compound Poisson with a mass at 0, 2
    #: gamma, 3 inverse Gaussian. No distribution exists between 0 and 1.
    power: float = 0.0

    @property
    def has_fixed_dispersion(self):
        """Whether the dispersion is known to be 1."""
        return self.name == "poisson"

    @property
    def has_positive_mean(self):
        """Whether the mean has to be above 0."""
        return self.power != 0.0

    @property
    def canonical_link(self):
        r"""Name and exponent of the link of :math:`\mu^{1-p}`, up to a factor."""
        names = {0.0: "identity", 1.0: "log", 2.0: "inverse"}
        return names.get(self.power, "power"), 1.0 - self.power

    def compute_variance(self, mean):
        r"""Compute :math:`V(\mu) = \mu^p`."""
        if self.power == 0.0:
            return np.ones_like(mean)
        if self.power == 1.0:
            return mean
        return np.square(mean) if self.power == 2.0 else np.power(mean, self.power)

    def compute_deviance(self, y, mean):
        r"""Compute the unit deviances :math:`d(y, \mu)`."""
        p = self.power
        if p == 0.0:
            return np.square(y - mean)
        if p == 1.0:
            # The logarithm of a number that is not 0, times y = 0.
            return 2.0 * (y * np.log(np.maximum(y / mean, TINY)) - (y - mean))
        if p == 2.0:
            ratio = y / mean
            return 2.0 * (ratio - 1.0 - np.log(ratio))
        if p == 3.0:
            return np.square(y - mean) / (y * np.square(mean))
        own = np.power(np.maximum(y, 0.0), 2.0 - p) / ((1.0 - p) * (2.0 - p))
        shared = np.power(mean, 1.0 - p)
        return 2.0 * (own - y * shared / (1.0 - p) + mean * shared / (2.0 - p))

    def compute_log_likelihood(self, y, mean, weight, dispersion, is_precision):
        r"""Compute the log-likelihood; NaN for powers below 0 or above 2, except 3.

        For the normal family with precisions as weights, the variance is
        :math:`\phi / w`; otherwise a weight is a number of rows.
        """
        if self.power == 0.0:
            parts = -0.5 * (
                np.square(y - mean) / dispersion + np.log(2.0 * np.pi * dispersion)
            )
            if is_precision:
                residuals = weight * np.square(y - mean) / dispersion
                variances = np.log(2.0 * np.pi * dispersion / weight)
                return float(-0.5 * np.sum(residuals + variances))
        elif self.power == 1.0:
            parts = xlogy(y, mean) - mean - compute_log_factorial(y)
        elif self.power == 2.0:
            shape = np.divide(1.0, dispersion)  # also of 0
            parts = (
                shape * np.log(shape * y / mean)
                - shape * y / mean
                - np.log(y)
                - gammaln(shape)
            )
        elif self.power == 3.0:
            parts = -0.5 * (
                np.log(2.0 * np.pi * dispersion * y**3)
                + self.compute_deviance(y, mean) / dispersion
            )
        elif 1.0 < self.power < 2.0:
            parts = compute_log_density(y, mean, dispersion, self.power)
        else:
            return np.nan
        return float(weight @ parts)

    def find_wrong(self, y):
        """Mask of the values that it cannot have."""
        if self.power <= 0.0:
            return np.zeros(len(y), dtype=bool)
        return y < 0.0 if self.power < 2.0 else y <= 0.0

    def describe_range(self):
        """Describe the allowed values of the target."""
        return "numbers of at least 0" if self.power < 2.0 else "numbers above 0"

    def choose_start(self, y, weight, means, has_trials):
        """Means close to y from which the iteration starts, as in R."""
        if self.power == 0.0:
            return y.copy()
        if self.power < 0.0:
            return np.maximum(y, _take_floor(means))
        if self.power < 2.0:
            # R adds 0.1 to counts; a fraction of the mean does not depend on the unit.
            return y + 0.1 * (min(1.0, means.mean) if means.mean > 0.0 else 1.0)
        return y.copy()

    def find_valid(self, mean):
        """Mask of the means that it can have; None: all numbers."""
        return None if self.power == 0.0 else mean > 0.0

    def measure_scale(self, means):
        """Size of a deviance that counts as large, at most 1, in the units of y."""
        size = np.sqrt(means.square)
        return min(1.0, float(size ** (2.0 - self.power))) if size > 0.0 else 1.0


@dataclass(frozen=True)
class BinomialFamily(Family):
    r"""Proportions of successes, :math:`V(\mu) = \mu (1 - \mu)`."""

    #: Name of the family.
    name: str = "binomial"
    has_fixed_dispersion = True
    links = (*FRACTION_LINKS, "log", "identity")
    canonical_link = ("logit", None)

    def compute_variance(self, mean):
        r"""Compute :math:`V(\mu) = \mu (1 - \mu)`."""
        return mean * (1.0 - mean)

    def compute_deviance(self, y, mean):
        r"""Compute the unit deviances :math:`d(y, \mu)`."""
        rest = 1.0 - y
        return 2.0 * (xlogy(y, y / mean) + xlogy(rest, rest / (1.0 - mean)))

    def compute_log_likelihood(self, y, mean, weight, dispersion, is_precision):
        r"""Compute the log-likelihood.

        With precisions as weights, these are numbers of trials, and the likelihood
        includes the binomial coefficients.
        """
        parts = xlogy(y, mean) + xlogy(1.0 - y, 1.0 - mean)
        total = float(weight @ parts)
        if is_precision:
            successes = np.round(weight * y)
            trials = np.round(weight)
            ways = -np.log1p(trials) - betaln(successes + 1.0, trials - successes + 1.0)
            total += float(ways.sum())
        return total

    def find_wrong(self, y):
        """Mask of the values that it cannot have."""
        return (y < 0.0) | (y > 1.0)

    def describe_range(self) -> str:
        """Describe the allowed values of the target."""
        return "proportions from 0 to 1"

    def choose_start(self, y, weight, means, has_trials):
        """Means close to y from which the iteration starts, as in R."""
        # With more trials, the mean would be rounded to 0 or 1.
        trials = np.minimum(weight, MANY_TRIALS) if has_trials else 1.0
        return (trials * y + 0.5) / (trials + 1.0)

    def find_valid(self, mean):
        """Mask of the means that it can have: those between 0 and 1."""
        return (mean > 0.0) & (mean < 1.0)


@dataclass(frozen=True)
class NegativeBinomialFamily(Family):
    r"""Counts of a Poisson distribution whose mean has a gamma distribution.

    :math:`V(\mu) = \mu + \mu^2 / \theta`, that of the Poisson distribution if theta is
    infinite.
    """

    #: Name of the family.
    name: str = "negative_binomial"
    #: Shape of the gamma distribution.
    theta: float = np.inf
    has_fixed_dispersion = True
    links = ("identity", "log", "power")
    #: It depends on theta, and is not among the links.
    canonical_link = ("", None)
    default_link = ("log", None)

    def compute_variance(self, mean):
        r"""Compute :math:`V(\mu) = \mu + \mu^2 / \theta`."""
        return mean + np.square(mean) / self.theta

    def compute_newton(self, y, mean):
        """Compute weights and working residuals of Newton's method, for the link log.

        The likelihood is concave in the predictors. Expected weights, which others have
        in place of these, lead to many more steps if theta is small.
        """
        if np.isinf(self.theta):
            return mean, (y - mean) / mean
        total = mean + self.theta
        weight = (y + self.theta) * mean / total * (self.theta / total)
        return weight, (y - mean) * total / ((y + self.theta) * mean)

    def compute_deviance(self, y, mean):
        r"""Compute the unit deviances :math:`d(y, \mu)`."""
        own, difference = xlogy(y, y / mean), y - mean
        if np.isinf(self.theta):
            return 2.0 * (own - difference)
        ratio = difference / (mean + self.theta)
        return 2.0 * (own - (y + self.theta) * np.log1p(ratio))

    def compute_log_likelihood(self, y, mean, weight, dispersion, is_precision):
        """Compute the log-likelihood; a weight is a number of rows."""
        if np.isinf(self.theta):
            parts = xlogy(y, mean) - mean - gammaln(y + 1.0)
        else:
            theta = self.theta
            parts = xlogy(y, mean / (mean + theta)) - theta * np.log1p(mean / theta)
            # The logarithm of gamma(theta + y) / gamma(theta) / gamma(y + 1).
            parts -= betaln(theta, y + 1.0) + np.log(theta + y)
        return float(weight @ parts)

    def find_wrong(self, y):
        """Mask of the values that it cannot have."""
        return y < 0.0

    def describe_range(self) -> str:
        """Describe the allowed values of the target."""
        return "numbers of at least 0"

    def choose_start(self, y, weight, means, has_trials):
        """Means close to y from which the iteration starts, as in R's MASS."""
        added = min(1.0, means.mean) if means.mean > 0.0 else 1.0
        return np.where(y == 0.0, added / 6.0, y)

    def find_valid(self, mean):
        """Mask of the means that it can have."""
        return mean > 0.0

    def measure_scale(self, means):
        """Size of a deviance that counts as large, at most 1, in the units of y."""
        size = np.sqrt(means.square)
        return min(1.0, float(size)) if size > 0.0 else 1.0


def compute_log_factorial(y: np.ndarray) -> np.ndarray:
    """Logarithms of y!; those of small counts are computed once."""
    largest = y.max(initial=0.0)
    if largest < min(LARGE_COUNT, len(y)):
        counts = y.astype(np.intp)
        if (counts == y).all():
            return gammaln(np.arange(largest + 1.0) + 1.0)[counts]
    return gammaln(y + 1.0)


def make_family(name: str, power: float | None = None, theta: float = np.inf) -> Family:
    """Make a family; theta is that of the negative binomial one."""
    name = QUASI_FAMILIES.get(name, name)
    if name == "binomial":
        return BinomialFamily()
    if name == "negative_binomial":
        return NegativeBinomialFamily(theta=theta)
    return TweedieFamily(name, float(POWERS.get(name, power)))


def measure_explained(
    family: Family, y: np.ndarray, mean: np.ndarray, weight: np.ndarray
) -> float:
    r"""Compute the fraction of the deviance from the mean that is explained."""
    average = np.full(len(y), weight @ y / weight.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        of_model = weight @ family.compute_deviance(y, mean)
        of_mean = weight @ family.compute_deviance(y, average)
    if not of_mean > 0.0:
        return 1.0 if not of_model > 0.0 else 0.0
    return float(1.0 - of_model / of_mean)


def choose_mean_start(
    family: Family,
    link,
    y: np.ndarray,
    weight: np.ndarray,
    means: TargetMeans,
    has_trials: bool = False,
) -> np.ndarray:
    """Choose starting means that are valid for both the family and the link."""
    mean = family.choose_start(y, weight, means, has_trials)
    if link.takes_positive and not family.has_positive_mean:
        return np.maximum(mean, _take_floor(means))
    if link.name == "inverse" and not family.has_positive_mean:
        floor = _take_floor(means)
        return np.where(np.abs(mean) < floor, floor, mean)
    return mean


def _take_floor(means):
    """Return a tenth of the mean size of y, the smallest mean to start from."""
    return max(0.1 * means.size, TINY) if means.size > 0.0 else 1.0


def compute_log_density(
    y: np.ndarray, mean: np.ndarray, dispersion: float, power: float
) -> np.ndarray:
    r"""Compute the logarithm of the density, and at 0 that of the probability.

    The distribution is that of a sum of N gamma variables, where N is Poisson, and the
    density is the series over N of Dunn and Smyth (2005). Its terms form a bell-shaped
    curve; if it is wide, equally spaced terms are summed, as for an integral, which is
    equally accurate.
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
