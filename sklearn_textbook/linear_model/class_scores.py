"""Classes and probabilities from the scores of a linear classifier."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_softmax, softmax

from sklearn_textbook.linear_model.design.reading import require_scores


class ClassScores:
    """Predictions of a classifier with ``classes_`` and ``decision_function``.

    The scores of more than two classes are logarithms of their probabilities up to a
    number for each row; for two classes there is one score, that of the second minus
    that of the first.
    """

    def predict(self, X):
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.

        Raises
        ------
        ValueError
            If a row has missing values, with ``missing="drop"``; its probabilities are
            NaN.
        """
        scores = require_scores(self.decision_function(X))
        is_second = scores.ndim == 1
        numbers = (scores > 0).astype(np.intp) if is_second else scores.argmax(axis=1)
        return self.classes_[numbers]

    def predict_proba(self, X):
        """Compute the probability P(y|x) of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return softmax(scores, axis=1)
        return np.column_stack((expit(-scores), expit(scores)))

    def predict_log_proba(self, X):
        """Compute the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Natural logarithms in the order of ``classes_``; finite even where the
            probability underflows.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return log_softmax(scores, axis=1)
        return -np.column_stack((np.logaddexp(0, scores), np.logaddexp(0, -scores)))
