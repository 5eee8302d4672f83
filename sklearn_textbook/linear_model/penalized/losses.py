"""Mean losses of linear predictors and their derivatives, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from sklearn_textbook.linear_model.generalized.families import Family
from sklearn_textbook.linear_model.generalized.links import Link


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A loss at some scores.

    Parameters
    ----------
    loss : float
        The mean; infinite if a score is impossible.
    residuals : ndarray of shape (n_rows, n_scores)
        Minus the derivatives, times the weights, whose sum is 1.
    curvatures : ndarray of shape (n_pairs, n_rows)
        The second derivatives for the pairs (0, 0), (0, 1), ..., (1, 1), ... of scores,
        times the weights.
    """

    loss: float
    residuals: np.ndarray
    curvatures: np.ndarray


class FamilyLoss:
    """Half the unit deviance of a family with a link.

    Its second derivatives are the expected ones.

    Parameters
    ----------
    family, link : Family, Link
        The model of the mean.
    y, weight : ndarray of shape (n_rows,)
        The target, and weights whose sum is 1.
    """

    n_scores = 1

    def __init__(
        self, family: Family, link: Link, y: np.ndarray, weight: np.ndarray
    ) -> None:
        self.family, self.link, self.y, self.weight = family, link, y, weight
        self.is_quadratic = family.name == "gaussian" and link.name == "identity"

    def evaluate(self, scores: np.ndarray) -> Evaluation:
        """Compute the loss and its derivatives for scores (n_rows, 1)."""
        scores = scores[:, 0]
        if self.is_quadratic:
            gap = self.y - scores
            weighted = self.weight * gap
            return Evaluation(
                0.5 * float(weighted @ gap), weighted[:, np.newaxis], self.weight[None]
            )
        with np.errstate(all="ignore"):
            mean = self.link.invert(scores)
            rise = self.link.differentiate(scores, mean)
            loss = 0.5 * float(self.weight @ self.family.compute_deviance(self.y, mean))
            factor = self.weight * rise / self.family.compute_variance(mean)
            residuals, curvatures = factor * (self.y - mean), factor * rise
        if not (np.isfinite(loss) and np.isfinite(residuals).all()):
            loss = np.inf
        return Evaluation(loss, residuals[:, np.newaxis], curvatures[np.newaxis])

    def measure(self, scores: np.ndarray) -> np.ndarray:
        """Compute the mean unit deviances of scores (n_rows, 1, n_models)."""
        with np.errstate(all="ignore"):
            mean = self.link.invert(scores[:, 0])
            found = self.family.compute_deviance(self.y[:, np.newaxis], mean)
            return self.weight @ found

    def fit_constant(self) -> np.ndarray:
        """Find the intercept of the model without columns."""
        mean = np.array([self.weight @ self.y])
        return np.asarray(self.link.apply(mean), dtype=np.float64)


class LogisticLoss:
    """The negative logarithm of the probability of the class.

    Two classes have one score, that of the second; others have one each.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        Numbers of the classes.
    n_classes : int
        Number of classes.
    weight : ndarray of shape (n_rows,)
        Weights whose sum is 1.
    """

    is_quadratic = False

    def __init__(self, codes: np.ndarray, n_classes: int, weight: np.ndarray) -> None:
        self.codes, self.n_classes, self.weight = codes, n_classes, weight
        self.n_scores = 1 if n_classes == 2 else n_classes

    def evaluate(self, scores: np.ndarray) -> Evaluation:
        """Compute the loss and its derivatives for scores (n_rows, n_scores)."""
        if self.n_scores == 1:
            score = scores[:, 0]
            margin = np.where(self.codes == 1, score, -score)
            wrong = expit(-margin)
            loss = np.maximum(-margin, 0.0) + np.log1p(np.exp(-np.abs(margin)))
            weighted = self.weight * wrong
            residuals = np.where(self.codes == 1, weighted, -weighted)
            return Evaluation(
                float(self.weight @ loss),
                residuals[:, np.newaxis],
                (weighted * (1.0 - wrong))[np.newaxis],
            )
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        own, probabilities = logs[np.arange(len(logs)), self.codes], np.exp(logs)
        residuals = -self.weight[:, np.newaxis] * probabilities
        residuals[np.arange(len(probabilities)), self.codes] += self.weight
        curvatures = [
            self.weight * probabilities[:, k] * ((k == other) - probabilities[:, other])
            for k in range(self.n_scores)
            for other in range(k, self.n_scores)
        ]
        return Evaluation(-float(self.weight @ own), residuals, np.array(curvatures))

    def measure(self, scores: np.ndarray) -> np.ndarray:
        """Compute the mean deviances of scores (n_rows, n_scores, n_models)."""
        if self.n_scores == 1:
            sign = np.where(self.codes == 1, -1.0, 1.0)[:, np.newaxis]
            return 2.0 * (self.weight @ np.logaddexp(0.0, sign * scores[:, 0]))
        own = scores[np.arange(len(scores)), self.codes]
        return 2.0 * (self.weight @ (logsumexp(scores, axis=1) - own))

    def fit_constant(self) -> np.ndarray:
        """Find the intercepts of the model without columns."""
        fractions = np.bincount(self.codes, self.weight, self.n_classes)
        with np.errstate(divide="ignore"):
            logs = np.log(fractions)
        if self.n_scores == 1:
            return logs[1:] - logs[:1]
        return logs - logs.mean()
