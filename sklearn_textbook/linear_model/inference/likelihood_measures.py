"""Measures of a model of classes that follow from its likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from sklearn_textbook.linear_model.inference.summary import format_p, format_statistic


class LikelihoodRatioTest(NamedTuple):
    """Likelihood-ratio test of all slopes (似然比检验).

    Parameters
    ----------
    statistic : float
        Null deviance minus deviance.
    degrees_of_freedom : int
        Degrees of freedom of its chi-squared distribution if all slopes are zero.
    p_value : float
        Probability of a statistic at least as large if all slopes are zero.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def describe_test(test: LikelihoodRatioTest) -> str:
    """Write a ``LikelihoodRatioTest`` in a line."""
    statistic, free = format_statistic(test.statistic), test.degrees_of_freedom
    return f"{statistic} ({free} df), p {format_p(test.p_value)}"


class LikelihoodMeasures:
    """Deviances, criteria and the test of all slopes."""

    #: Logarithms of the likelihood of the model, and of that without columns.
    log_likelihood_: float
    null_log_likelihood_: float
    #: Sum of the weights.
    n_observations_: float

    def _count_free(self, name: str = "") -> int:
        """Count the parameters that the data determine; ``name`` asks for it."""
        raise NotImplementedError

    def _count_constants(self) -> int:
        """Count those of the model without columns."""
        raise NotImplementedError

    def _find_firth_statistic(self) -> float | None:
        """Likelihood-ratio statistic with Firth's penalty; None without."""
        return None

    @property
    def deviance_(self) -> float:
        """Deviance (偏差): twice the negative log-likelihood."""
        return -2.0 * self.log_likelihood_

    @property
    def null_deviance_(self) -> float:
        """Deviance of the model without columns."""
        return -2.0 * self.null_log_likelihood_

    @property
    def pseudo_r2_(self) -> float:
        """McFadden's pseudo R²: 1 minus the ratio of the log-likelihoods."""
        return 1.0 - self.log_likelihood_ / self.null_log_likelihood_

    @property
    def aic_(self) -> float:
        """Akaike's information criterion; smaller is better."""
        free = self._count_free("aic_")
        return self.deviance_ + 2.0 * free

    @property
    def bic_(self) -> float:
        """Bayesian information criterion; smaller is better."""
        free = self._count_free("bic_")
        return float(self.deviance_ + np.log(self.n_observations_) * free)

    @property
    def likelihood_ratio_test_(self) -> LikelihoodRatioTest:
        """Test that all slopes are zero, as a ``LikelihoodRatioTest``.

        With Firth's penalty, of the penalised likelihood, whose penalty is that of all
        columns in both models.
        """
        free = self._count_free("likelihood_ratio_test_") - self._count_constants()
        statistic = self._find_firth_statistic()
        if statistic is None:
            statistic = max(0.0, self.null_deviance_ - self.deviance_)
        p_value = float(stats.chi2.sf(statistic, free)) if free else 1.0
        return LikelihoodRatioTest(statistic, free, p_value)
