"""Classes and posterior probabilities from linear scores."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, log_softmax, softmax
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import accept_blocks
from sklearn_textbook._contract.numeric_table import read_numeric_table
from sklearn_textbook._contract.tables import check_finite_rows
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.design.design import MISSING_REMEDY
from sklearn_textbook.linear_model.design.reading import (
    read_new_rows,
    require_scores,
)


class LinearScores:
    """Predictions of a classifier with ``coef_`` and ``intercept_``.

    The scores are log posteriors up to a constant of the row. For two classes there is
    one score, that of the second class minus that of the first.
    """

    def _read_rows(self, X):
        """Read rows with the columns of the training table."""
        if "design_" in vars(self):
            matrix = read_new_rows(self, X)
            return matrix.toarray() if issparse(matrix) else matrix
        X = read_numeric_table(
            self,
            X,
            reset=False,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
        self._check_finite(X)
        return X

    def _check_finite(self, X, is_present=None) -> None:
        names = getattr(self, "feature_names_in_", None)
        check_finite_rows(
            X, type(self).__name__, names, is_present, remedy=MISSING_REMEDY
        )

    @accept_blocks
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        r"""Compute the linear score of each class (判别函数).

        .. math:: f_k(x) = (x - \bar x)^T \Sigma^{-1} (\mu_k - \bar x)
            - \tfrac12 (\mu_k - \bar x)^T \Sigma^{-1} (\mu_k - \bar x) + \log \pi_k

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The scores, which are log posteriors up to a constant per row; for two
            classes :math:`f_1 - f_0`, which is positive if the second class is
            predicted.
        """
        check_is_fitted(self)
        X = self._read_rows(X)
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the class with the largest posterior probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

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

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Compute the posterior probability of each class (后验概率).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return softmax(scores, axis=1)
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1), dtype=scores.dtype)
        return np.column_stack((expit(-scores), expit(scores)))

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Compute the logarithm of the posterior probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Natural logarithms in the order of ``classes_``; finite even where the
            probability underflows.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return log_softmax(scores, axis=1)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1), dtype=scores.dtype)
        return -np.column_stack((np.logaddexp(0, scores), np.logaddexp(0, -scores)))
