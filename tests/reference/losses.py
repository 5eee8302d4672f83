"""The losses of boosting, with their derivatives, as they are written in books.

They are losses as users may write them: what they do not say is found numerically.
"""

import numpy as np
from scipy.special import expit, logsumexp, softmax

from sklearn_textbook.ensemble.boosting.losses import Loss


class SquaredError(Loss):
    def compute_row_losses(self, y, raw):
        return (y - raw[0]) ** 2 / 2

    def differentiate(self, y, raw):
        return raw - y, np.ones_like(raw)


class QuantileLoss(Loss):
    def __init__(self, quantile=0.5, factor=1.0):
        self.quantile = quantile
        self.factor = factor

    def compute_row_losses(self, y, raw):
        residual = y - raw[0]
        share = np.where(residual > 0, self.quantile, 1 - self.quantile)
        return self.factor * share * np.abs(residual)

    def differentiate(self, y, raw):
        slope = np.where(raw > y, 1 - self.quantile, -self.quantile)
        return self.factor * np.where(raw == y, 0, slope), np.ones_like(raw)


class HuberLoss(Loss):
    def __init__(self, delta=1.0):
        self.delta = delta

    def compute_row_losses(self, y, raw):
        size = np.abs(y - raw[0])
        linear = self.delta * (size - self.delta / 2)
        return np.where(size <= self.delta, size**2 / 2, linear)

    def differentiate(self, y, raw):
        return np.clip(raw - y, -self.delta, self.delta), np.ones_like(raw)


class TweedieLoss(Loss):
    def __init__(self, power=1.5):
        self.power = power

    def compute_row_losses(self, y, raw):
        raw, p = raw[0], self.power
        if p == 1:
            return np.exp(raw) - y * raw
        if p == 2:
            return raw + y * np.exp(-raw)
        return np.exp((2 - p) * raw) / (2 - p) - y * np.exp((1 - p) * raw) / (1 - p)

    def differentiate(self, y, raw):
        p = self.power
        below, above = y * np.exp((1 - p) * raw), np.exp((2 - p) * raw)
        return above - below, (2 - p) * above - (1 - p) * below


class LogLoss(Loss):
    n_classes = 2

    def compute_row_losses(self, y, raw):
        return np.logaddexp(0, np.where(y == 1, -1, 1) * raw[0])

    def differentiate(self, y, raw):
        return expit(raw) - y, expit(raw) * expit(-raw)


class ExponentialLoss(Loss):
    n_classes = 2

    def compute_row_losses(self, y, raw):
        return np.exp(-(2 * y - 1) * raw[0])

    def differentiate(self, y, raw):
        signs = 2 * y - 1
        return -signs * np.exp(-signs * raw), np.exp(-signs * raw)


class MultinomialLoss(Loss):
    def __init__(self, n_classes=3):
        self.n_classes = n_classes

    @property
    def n_scores(self):
        return self.n_classes

    def compute_row_losses(self, y, raw):
        return logsumexp(raw, axis=0) - raw[y.astype(int), np.arange(len(y))]

    def differentiate(self, y, raw):
        shares = softmax(raw, axis=0)
        own = np.arange(self.n_classes)[:, None] == y
        return shares - own, shares * (1 - shares)
