"""Mean losses of linear predictors and their derivatives, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit, logsumexp

from sklearn_textbook.linear_model.generalized.families import Family
from sklearn_textbook.linear_model.generalized.links import Link

#: Steps of Newton's method for intercepts, and halvings of each.
MAX_STEPS, MAX_HALVINGS = 100, 60
#: Rounding of a loss, and the decrease of it that is rounding.
ROUNDING, NEGLIGIBLE = 1e-14, 1e-20


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


class OffsetLoss:
    """A loss of scores to which known offsets are added."""

    n_scores: int
    #: Weights whose sum is 1. Shape (n_rows,).
    weight: np.ndarray
    #: Shape (n_rows, n_scores); None: 0.
    offset: np.ndarray | None

    def evaluate(self, scores: np.ndarray) -> Evaluation:
        """Compute the loss and its derivatives for scores (n_rows, n_scores)."""
        return self._evaluate(scores if self.offset is None else scores + self.offset)

    def measure(self, scores: np.ndarray) -> np.ndarray:
        """Compute the mean deviances of scores (n_rows, n_scores, n_models)."""
        if self.offset is not None:
            scores = scores + self.offset[:, :, np.newaxis]
        return self._measure(scores)

    def fit_constant(self) -> np.ndarray:
        """Find the intercepts of the model without columns."""
        first = self._fit_constant()
        if self.offset is None or not np.isfinite(first).all():
            return first
        return self._improve_constant(first - self.weight @ self.offset)

    def _evaluate(self, scores: np.ndarray) -> Evaluation:
        raise NotImplementedError

    def _measure(self, scores: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _fit_constant(self) -> np.ndarray:
        raise NotImplementedError

    def _improve_constant(self, intercept: np.ndarray) -> np.ndarray:
        """Find the intercepts of rows with offsets by Newton's method."""
        zeros, n = np.zeros((len(self.weight), self.n_scores)), self.n_scores
        at = self.evaluate(zeros + intercept)
        for _ in range(MAX_STEPS):
            slope, hessian = at.residuals.sum(axis=0), np.zeros((n, n))
            pairs = ((k, other) for k in range(n) for other in range(k, n))
            for (k, other), values in zip(pairs, at.curvatures, strict=True):
                hessian[k, other] = hessian[other, k] = values.sum()
            step = linalg.pinvh(hessian) @ slope
            decrease = float(step @ slope)
            length = 1.0
            for _ in range(MAX_HALVINGS):
                found = self.evaluate(zeros + intercept + length * step)
                if found.loss <= at.loss + ROUNDING * abs(at.loss):
                    break
                length /= 2.0
            else:
                break
            intercept, at = intercept + length * step, found
            if not decrease > NEGLIGIBLE * abs(at.loss):
                break
        return intercept


class FamilyLoss(OffsetLoss):
    """Half the unit deviance of a family with a link.

    Its second derivatives are the expected ones.

    Parameters
    ----------
    family, link : Family, Link
        The model of the mean.
    y, weight : ndarray of shape (n_rows,)
        The target, and weights whose sum is 1.
    offset : ndarray of shape (n_rows,), default=None
        Numbers that are added to the scores.
    """

    n_scores = 1

    def __init__(
        self,
        family: Family,
        link: Link,
        y: np.ndarray,
        weight: np.ndarray,
        offset: np.ndarray | None = None,
    ) -> None:
        self.family, self.link, self.y, self.weight = family, link, y, weight
        self.offset = None if offset is None else offset[:, np.newaxis]
        self.is_quadratic = family.name == "gaussian" and link.name == "identity"

    def _evaluate(self, scores: np.ndarray) -> Evaluation:
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

    def _measure(self, scores: np.ndarray) -> np.ndarray:
        """Compute the mean unit deviances of scores (n_rows, 1, n_models)."""
        with np.errstate(all="ignore"):
            mean = self.link.invert(scores[:, 0])
            found = self.family.compute_deviance(self.y[:, np.newaxis], mean)
            return self.weight @ found

    def _fit_constant(self) -> np.ndarray:
        """Find the intercept of the model without columns."""
        mean = np.array([self.weight @ self.y])
        return np.asarray(self.link.apply(mean), dtype=np.float64)


class LogisticLoss(OffsetLoss):
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
    offset : ndarray of shape (n_rows, n_scores), default=None
        Numbers that are added to the scores.
    """

    is_quadratic = False

    def __init__(
        self,
        codes: np.ndarray,
        n_classes: int,
        weight: np.ndarray,
        offset: np.ndarray | None = None,
    ) -> None:
        self.codes, self.n_classes, self.weight = codes, n_classes, weight
        self.offset = offset
        self.n_scores = 1 if n_classes == 2 else n_classes

    def _evaluate(self, scores: np.ndarray) -> Evaluation:
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

    def _measure(self, scores: np.ndarray) -> np.ndarray:
        """Compute the mean deviances of scores (n_rows, n_scores, n_models)."""
        if self.n_scores == 1:
            sign = np.where(self.codes == 1, -1.0, 1.0)[:, np.newaxis]
            return 2.0 * (self.weight @ np.logaddexp(0.0, sign * scores[:, 0]))
        own = scores[np.arange(len(scores)), self.codes]
        return 2.0 * (self.weight @ (logsumexp(scores, axis=1) - own))

    def _fit_constant(self) -> np.ndarray:
        """Find the intercepts of the model without columns."""
        fractions = np.bincount(self.codes, self.weight, self.n_classes)
        with np.errstate(divide="ignore"):
            logs = np.log(fractions)
        if self.n_scores == 1:
            return logs[1:] - logs[:1]
        return logs - logs.mean()
