"""Predictions of boosted ensembles, after all rounds and after each of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from sklearn_textbook._contract.types import MatrixLike


class StagedPredictionMixin:
    """Predictions from raw scores, the sums of what the members predict."""

    @abstractmethod
    def _compute_raw(self, X):
        """Compute the raw scores of all rounds."""

    @abstractmethod
    def _stage_raw(self, X):
        """Compute the raw scores after each round; an array may be yielded again."""

    @abstractmethod
    def _to_target(self, raw):
        """Turn raw scores into predicted values or labels, a new array."""

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict values or class labels.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Float64 values, or labels; ties go to the first class.
        """
        return self._to_target(self._compute_raw(X))

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Predict values or class labels after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        y : ndarray of shape (n_samples,)
            As in :meth:`predict`, which equals the last.
        """
        yield from map(self._to_target, self._stage_raw(X))


class StagedClassifierMixin(StagedPredictionMixin):
    """The same for classes, with decision functions and probabilities."""

    @abstractmethod
    def _to_decisions(self, raw):
        """Turn raw scores into a decision function."""

    @abstractmethod
    def _to_probabilities(self, raw):
        """Turn raw scores into probabilities of the classes, a new array."""

    def staged_decision_function(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Compute the decision function after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        decisions : ndarray of float64, shape (n_samples,) or (n_samples, n_classes)
            As in :meth:`decision_function`.
        """
        for raw in self._stage_raw(X):
            yield self._to_decisions(raw).copy()

    def staged_predict_proba(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Predict class probabilities after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        probabilities : ndarray of float64, shape (n_samples, n_classes)
            As in :meth:`predict_proba`.
        """
        yield from map(self._to_probabilities, self._stage_raw(X))
