"""Standard errors of bagged predictions by the infinitesimal jackknife."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import log_ndtr
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.resample import DrawnRowsMixin

#: Rows whose counts are multiplied at a time.
_ROWS_AT_ONCE = 1 << 16


class Jackknife:
    r"""Variance of a bagged prediction by the infinitesimal jackknife.

    .. math:: V = \sum_i c_i^2 - b, \quad
        c_i = \frac{1}{T} \sum_t (N_{ti} - \bar N_i) (p_t - \bar p), \quad
        b = \frac{1}{T^2} \sum_t (p_t - \bar p)^2 \sum_i \mathrm{var}_t(N_{ti})

    where :math:`N_{ti}` is how often tree t has drawn row i, and b the bias of a finite
    number of trees. V may be negative; its Monte Carlo error is about normal, so that
    the mean of the normal distribution around V, truncated at 0, is returned.
    """

    def __init__(self, counts: Iterable[np.ndarray]) -> None:
        drawn = np.stack([of.astype(np.uint16) for of in counts])
        n_members = len(drawn)
        # The sum of squares of c is a quadratic form in the predictions.
        self.products = np.zeros((n_members, n_members))
        for first in range(0, drawn.shape[1], _ROWS_AT_ONCE):
            block = drawn[:, first : first + _ROWS_AT_ONCE].astype(np.float64)
            self.products += block @ block.T
        within = np.trace(self.products) - self.products.sum() / n_members
        self.variance = within / n_members
        self.n_rows = max(1, int(np.count_nonzero(drawn.any(axis=0))))

    def measure(self, predictions: np.ndarray) -> np.ndarray:
        """Measure standard errors from predictions of shape (n_members, ...)."""
        n_members = len(predictions)
        deviation = predictions - predictions.mean(axis=0)
        flat = deviation.reshape(n_members, -1)
        squares = np.einsum("ti,ti->i", flat, self.products @ flat) / n_members**2
        noise = self.variance * (flat**2).sum(axis=0) / n_members**2
        variance = squares - noise
        per_row = noise / self.n_rows
        error = np.sqrt(per_row * (2 * noise + 4 * np.maximum(variance, 0.0)))
        safe = np.where(error > 0, error, 1.0)
        z = variance / safe
        ratio = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
        mean = np.where(error > 0, variance + safe * ratio, variance)
        return np.sqrt(np.maximum(mean, 0.0)).reshape(deviation.shape[1:])


class StandardErrorMixin(DrawnRowsMixin):
    """Standard errors of the predictions of bagged members."""

    def standard_error(self, X: MatrixLike) -> np.ndarray:
        r"""Estimate standard errors of predictions by the infinitesimal jackknife.

        The standard deviation of the prediction of a row over training tables of the
        same size, drawn from the same population. It says how well the mean (or the
        probability of a class) is known, and not how far a value may be from it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        errors : ndarray of shape (n_samples,), (n_samples, n_outputs or n_classes)
            Standard errors of what ``predict`` (of classifiers, ``predict_proba``)
            returns; never negative.

        Raises
        ------
        ValueError
            If rows were not drawn with replacement, or there are several outputs of
            classes.

        Notes
        -----
        The sum of the squared covariances of predictions and of the numbers of times
        that rows are drawn, less its bias due to a finite number of members [1]_. The
        difference may be negative where there are few members; the mean of the normal
        distribution around it, truncated at 0, is never. The Monte Carlo error of the
        squared error is about :math:`\sqrt{2 n} / T` times the variance of the
        predictions of the T members for n training rows. Rows drawn by
        ``sample_weight`` count as one observation each. Memory is O(n · T).

        References
        ----------
        .. [1] S. Wager, T. Hastie, B. Efron (2014), Confidence intervals for random
           forests: the jackknife and the infinitesimal jackknife. Journal of Machine
           Learning Research 15.
        """
        check_is_fitted(self)
        draws = self._list_draws()
        replaces = {
            draw.n_drawn_rows is not None and getattr(draw, "replaces_rows", True)
            for draw, _ in draws
        }
        if replaces != {True} or len({draw.n_rows for draw, _ in draws}) > 1:
            raise ValueError(
                "standard_error requires bootstrap=True and members that were fitted "
                "to the same rows."
            )
        is_classifier = hasattr(self, "classes_")
        if is_classifier and isinstance(self.classes_, list):
            raise ValueError("standard_error requires one output of classes.")
        jackknife = Jackknife(draw.count_rows(seed) for draw, seed in draws)
        parts = [jackknife.measure(block) for block in self._predict_members(X)]
        errors = np.concatenate(parts)
        if is_classifier:
            return errors[:, 0]
        return errors[:, 0, 0] if errors.shape[1] == 1 else errors[:, :, 0]
