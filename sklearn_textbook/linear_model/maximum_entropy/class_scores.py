"""Classes and probabilities from the scores of a maximum entropy model."""

from __future__ import annotations

from scipy.special import log_softmax, softmax


class ClassScores:
    """What a classifier with ``classes_`` answers that can compute scores."""

    def decision_function(self, X):
        r"""Compute the score :math:`\sum_j w_j f_j(x, y)` of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Logarithms of the probabilities up to a number for each row; of two classes
            the score of the second less that of the first.
        """
        scores = self._compute_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X):
        """Predict the class of largest probability.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        scores = self._compute_scores(X)
        return self.classes_[scores.argmax(axis=1)]

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
        return softmax(self._compute_scores(X), axis=1)

    def predict_log_proba(self, X):
        """Compute the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Natural logarithms, finite also where a probability is too small for a
            float.
        """
        return log_softmax(self._compute_scores(X), axis=1)
