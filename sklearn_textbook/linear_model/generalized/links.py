"""Link functions (联系函数): functions of the mean that are linear in the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri

#: The links given by name only; "power" also has an exponent.
LINKS = ("identity", "log", "logit", "probit", "inverse", "power", "cloglog")
#: The links of means between 0 and 1.
FRACTION_LINKS = ("logit", "probit", "cloglog")

#: Minimum of means and derivatives, since weights would be 0 there.
TINY = np.finfo(np.float64).tiny
#: Minimum distance of proportions from 0 and 1, and of their derivatives from 0, as in
#: R.
EPSILON = np.finfo(np.float64).eps
LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Link:
    r"""A link :math:`g`, with which :math:`g(\mu) = \eta`.

    Links ``apply`` it to means, ``invert`` predictors and ``differentiate`` the mean by
    the predictor, given both.
    """

    name = ""
    takes_positive = False

    def find_valid(self, predictor):
        """Mask of the predictors that belong to a mean; None: all numbers do."""

    def describe(self):
        """Write the link as a formula."""
        return self.name


class IdentityLink(Link):
    r"""The mean itself, :math:`g(\mu) = \mu`."""

    name = "identity"

    def apply(self, mean):
        r"""Compute :math:`\eta = g(\mu)`."""
        return np.array(mean, dtype=np.float64)

    def invert(self, predictor):
        r"""Compute :math:`\mu = g^{-1}(\eta)`."""
        return np.array(predictor, dtype=np.float64)

    def differentiate(self, predictor, mean):
        r"""Compute :math:`d\mu / d\eta = 1`."""
        return np.ones_like(predictor)


class LogLink(Link):
    r"""The logarithm, :math:`g(\mu) = \ln \mu`."""

    name = "log"
    takes_positive = True

    def apply(self, mean):
        r"""Compute :math:`\eta = g(\mu)`."""
        return np.log(mean)

    def invert(self, predictor):
        r"""Compute :math:`\mu = e^\eta`; never 0, infinite beyond the largest float."""
        with np.errstate(over="ignore"):
            mean = np.exp(predictor)
        return np.maximum(mean, TINY, out=mean) if np.ndim(mean) else max(mean, TINY)

    def differentiate(self, predictor, mean):
        r"""Compute :math:`d\mu / d\eta = \mu`."""
        return mean


class LogitLink(Link):
    r"""The log odds (对数几率), :math:`g(\mu) = \ln(\mu / (1 - \mu))`."""

    name = "logit"

    def apply(self, mean):
        r"""Compute :math:`\eta = g(\mu)`."""
        return np.log(mean) - np.log1p(-mean)

    def invert(self, predictor):
        r"""Compute :math:`\mu = 1 / (1 + e^{-\eta})`, kept away from 0 and 1."""
        return np.clip(expit(predictor), EPSILON, 1.0 - EPSILON)

    def differentiate(self, predictor, mean):
        r"""Compute :math:`d\mu / d\eta = \mu (1 - \mu)`."""
        return np.maximum(expit(predictor) * expit(-predictor), EPSILON)


class ProbitLink(Link):
    r"""The quantile of the normal distribution, :math:`g(\mu) = \Phi^{-1}(\mu)`."""

    name = "probit"

    def apply(self, mean):
        r"""Compute :math:`\eta = g(\mu)`."""
        return ndtri(mean)

    def invert(self, predictor):
        r"""Compute :math:`\mu = \Phi(\eta)`, kept away from 0 and 1."""
        return np.clip(ndtr(predictor), EPSILON, 1.0 - EPSILON)

    def differentiate(self, predictor, mean):
        r"""Compute :math:`d\mu / d\eta`, the normal density at :math:`\eta`."""
        density = np.exp(-0.5 * np.square(predictor)) / np.sqrt(2.0 * np.pi)
        return np.maximum(density, EPSILON)


class ComplementaryLogLogLink(Link):
    r"""The complementary log-log, :math:`g(\mu) = \ln(-\ln(1 - \mu))`."""

    name = "cloglog"

    def apply(self, mean):
        r"""Compute :math:`\eta = g(\mu)`."""
        return np.log(-np.log1p(-mean))

    def invert(self, predictor):
        r"""Compute :math:`\mu = 1 - \exp(-e^\eta)`, kept away from 0 and 1."""
        grown = np.exp(np.minimum(predictor, LARGEST_EXPONENT))
        return np.clip(-np.expm1(-grown), EPSILON, 1.0 - EPSILON)

    def differentiate(self, predictor, mean):
        r"""Compute :math:`d\mu / d\eta = e^\eta \exp(-e^\eta)`."""
        grown = np.exp(np.minimum(predictor, LARGEST_EXPONENT))
        return np.maximum(grown * np.exp(-grown), EPSILON)


class InverseLink(Link):
    r"""The reciprocal, :math:`g(\mu) = 1 / \mu`."""

    name = "inverse"

    def apply(self, mean):
        r"""Compute :math:`\eta = g(\mu)`."""
        with np.errstate(divide="ignore"):
            return 1.0 / np.asarray(mean, dtype=np.float64)

    def invert(self, predictor):
        r"""Compute :math:`\mu = 1 / \eta`."""
        with np.errstate(divide="ignore", over="ignore"):
            return 1.0 / np.asarray(predictor, dtype=np.float64)

    def differentiate(self, predictor, mean):
        r"""Compute :math:`d\mu / d\eta = -1 / \eta^2`."""
        return -np.square(mean)

    def find_valid(self, predictor):
        """Mask of the predictors that belong to a mean: all but 0."""
        return predictor != 0.0

    def describe(self) -> str:
        """Write the link as a formula."""
        return "1 / mean"


@dataclass(frozen=True)
class PowerLink(Link):
    r"""A power, :math:`g(\mu) = \mu^\lambda`, of means above 0."""

    #: :math:`\lambda`, other than 0: the limit there is the logarithm.
    exponent: float = 1.0
    name = "power"
    takes_positive = True

    def apply(self, mean):
        r"""Compute :math:`\eta = g(\mu)`."""
        return np.power(mean, self.exponent)

    def invert(self, predictor):
        r"""Compute :math:`\mu = \eta^{1 / \lambda}`; NaN if it is not a real number."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return np.power(predictor, 1.0 / self.exponent)

    def differentiate(self, predictor, mean):
        r"""Compute :math:`d\mu / d\eta = \mu / (\lambda \eta)`."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return mean / (self.exponent * predictor)

    def find_valid(self, predictor):
        """Mask of the predictors that belong to a mean: those above 0."""
        return predictor > 0.0

    def describe(self) -> str:
        """Write the link as a formula."""
        return f"mean^{self.exponent:g}"


_BY_NAME = {
    link.name: link
    for link in (
        IdentityLink(),
        LogLink(),
        LogitLink(),
        ProbitLink(),
        InverseLink(),
        ComplementaryLogLogLink(),
    )
}


def make_link(name: str, exponent: float | None = None) -> Link:
    r"""Make a link."""
    if name != "power":
        return _BY_NAME[name]
    return PowerLink(float(exponent)) if exponent else _BY_NAME["log"]
