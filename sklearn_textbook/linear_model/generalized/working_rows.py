"""Rows for the next step of reweighted least squares, in blocks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

#: Rows of a block: its few vectors stay in the cache of a core.
BLOCK_ROWS = 8192


class WorkingRows:
    r"""The target and, at given predictors, means, weights and residuals.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows,)
        The target.
    weight : ndarray of float64, shape (n_rows,)
        Weights, all above 0.
    family : Family
        Distribution of the target about its mean.
    link : Link
        The link function.
    n_threads : int, default=1
        Number of threads. The sums do not depend on it.
    """

    def __init__(self, y, weight, family, link, n_threads=1):
        self.y = y
        self.weight = weight
        self.family = family
        self.link = link
        self.n_threads = n_threads
        # With the canonical link, V(mu) is the derivative of the mean.
        name, _ = family.canonical_link
        self.is_canonical = link.name == name and link.name != "power"
        self.mean = np.empty_like(y)

    def evaluate(self, predictor):
        """Compute the means at the predictors, and the deviance.

        Parameters
        ----------
        predictor : ndarray of shape (n_rows,)
            The linear predictors, offsets included.

        Returns
        -------
        deviance : float
            Sum of the weighted unit deviances; infinite if a row has no valid mean.
            The means are in ``mean``.
        """

        def measure(rows):
            predictors = predictor[rows]
            valid = self.link.find_valid(predictors)
            if valid is not None and not valid.all():
                return np.inf
            mean = self.link.invert(predictors)
            valid = self.family.find_valid(mean)
            if valid is not None and not valid.all():
                return np.inf
            self.mean[rows] = mean
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                unit = self.family.compute_deviance(self.y[rows], mean)
                return float(self.weight[rows] @ unit)

        deviance = float(np.sum(self._map_blocks(measure)))
        return deviance if np.isfinite(deviance) else np.inf

    def reweight(self, predictor):
        r"""Compute weights and working residuals at the predictors last evaluated.

        The weights are :math:`w (d\mu/d\eta)^2 / V(\mu)`, the working residuals
        :math:`(y - \mu) / (d\mu/d\eta)`.

        Parameters
        ----------
        predictor : ndarray of shape (n_rows,)
            Those last passed to ``evaluate``.

        Returns
        -------
        weight, residual : ndarray of shape (n_rows,)
            Weights and targets of the least squares whose solution is the next step.
        """
        weights = np.empty_like(self.y)
        residuals = np.empty_like(self.y)

        def weigh(rows):
            mean = self.mean[rows]
            slope = self.link.differentiate(predictor[rows], mean)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                residuals[rows] = (self.y[rows] - mean) / slope
                if not self.is_canonical:
                    variance = self.family.compute_variance(mean)
                    slope = np.square(slope) / variance
                np.multiply(self.weight[rows], np.abs(slope), out=weights[rows])

        self._map_blocks(weigh)
        return weights, residuals

    def _map_blocks(self, function):
        """Call a function with the slice of every block; results in order."""
        n_rows = len(self.y)
        blocks = [
            slice(start, min(start + BLOCK_ROWS, n_rows))
            for start in range(0, n_rows, BLOCK_ROWS)
        ]
        n_threads = min(self.n_threads, len(blocks))
        if n_threads <= 1:
            return list(map(function, blocks))
        # One task per thread: one per block would cost more than some blocks.
        bounds = np.linspace(0, len(blocks), n_threads + 1).astype(int)
        shares = [blocks[first:last] for first, last in pairwise(bounds)]
        with ThreadPoolExecutor(n_threads) as pool:
            answers = pool.map(lambda share: list(map(function, share)), shares)
            return [answer for part in answers for answer in part]
