"""What an output code predicts from the outputs of its members."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.output_codes.code_members import (
    predict_estimators,
    predict_trees,
)
from sklearn_textbook.ensemble.output_codes.decoding import (
    fit_fractions,
    measure_hamming,
    sum_losses,
)

#: The decodings, and the outputs that they need.
DECODINGS = {"hamming": "vote", "loss": "margin", "probability": "probability"}


def _gives_fractions(ensemble) -> bool:
    """Require the decoding that has fractions of the classes."""
    if ensemble.decoding == "probability":
        return True
    raise AttributeError(
        "Class probabilities are available only with decoding='probability'; got "
        f"decoding={ensemble.decoding!r}."
    )


def _gives_decisions(ensemble) -> bool:
    """Require a decoding that compares distances."""
    if ensemble.decoding != "probability":
        return True
    raise AttributeError(
        "decision_function is not available with decoding='probability'; use "
        "predict_proba."
    )


class CodePredictions:
    """Predictions of a fitted :class:`OutputCodeClassifier`."""

    def _collect_outputs(self, method, X, params):
        """Collect the outputs of all members; shape (n_rows, n_columns)."""
        check_is_fitted(self)
        routed = self._route(method, params)
        output = DECODINGS[self.decoding]
        if self._reader is None:
            return predict_estimators(self, X, output, routed)
        return predict_trees(self, X, output)

    def _compute_decisions(self, method, X, params):
        """Negated distances or losses; shape (n_rows, n_classes)."""
        outputs = self._collect_outputs(method, X, params)
        if self.decoding == "hamming":
            return -measure_hamming(outputs, self.code_book_)
        return -sum_losses(outputs, self.code_book_, self.loss)

    def predict(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for the method of the members used by the decoding; requires
            metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The closest class; ties go to the first.
        """
        if self.decoding == "probability":
            scores = self._compute_fractions("predict", X, params)
        else:
            scores = self._compute_decisions("predict", X, params)
        return self.classes_.take(scores.argmax(axis=1))

    @available_if(_gives_decisions)
    def decision_function(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Compute the negated distances of each row from the codewords.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for the method of the members used by the decoding; requires
            metadata routing.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The negated Hamming distance or sum of losses; for two classes, that of the
            second minus that of the first.
        """
        decisions = self._compute_decisions("decision_function", X, params)
        return decisions if self.n_classes_ > 2 else decisions[:, 1] - decisions[:, 0]

    def _compute_fractions(self, method, X, params):
        return fit_fractions(self._collect_outputs(method, X, params), self.code_book_)

    @available_if(_gives_fractions)
    def predict_proba(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Predict class probabilities, with ``decoding="probability"``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members; requires metadata routing.

        Returns
        -------
        fractions : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``; each row sums to 1.
        """
        return self._compute_fractions("predict_proba", X, params)

    @available_if(_gives_fractions)
    def predict_log_proba(self, X: MatrixLike, **params: Any) -> np.ndarray:
        """Compute the natural logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members; requires metadata routing.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            ``-inf`` where a probability is 0.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, **params))
