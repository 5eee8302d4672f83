"""Predictions of bagging from those of its members, for classes and for values."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_choice, check_estimator
from sklearn_textbook.ensemble.members.estimator_combiner import (
    compute_member_decisions,
    compute_member_logarithms,
)
from sklearn_textbook.ensemble.members.estimator_members import take_rows
from sklearn_textbook.tree import CARTClassifier, CARTRegressor


def _members_have_decisions(ensemble):
    """Require the method of the members, or of what they are to be like."""
    members = getattr(ensemble, "estimators_", None)
    member = members[0] if members else ensemble._get_estimator()
    # The AttributeError names what is missing.
    return member.decision_function is not None


class BaggingClassifierMixin(ClassifierMixin):
    """Combining classifiers by probabilities or votes."""

    _predicts_classes = True

    def _make_default_estimator(self):
        return CARTClassifier()

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("voting", self.voting, ("soft", "hard"))
        check_estimator(
            "estimator",
            self.estimator,
            ("fit", "predict"),
            lambda estimator: not is_regressor(estimator),
            "a classifier",
        )

    def _list_calls(self, estimator):
        has_probabilities = hasattr(estimator, "predict_proba")
        method = "predict_proba" if has_probabilities else "predict"
        if self.voting == "hard":
            calls = [("predict", "predict"), ("predict_proba", "predict")]
            calls += [("predict", method)] * has_probabilities
            logarithms = "predict"
        else:
            calls = [("predict", method), ("predict_proba", method)]
            has_logarithms = hasattr(estimator, "predict_log_proba")
            logarithms = "predict_log_proba" if has_logarithms else method
        return [
            *calls,
            ("predict_log_proba", logarithms),
            ("decision_function", "decision_function"),
        ]

    # ------------------------------------------------------------------ prediction
    def _compute_probabilities(self, combiner, table):
        """Probabilities of the classes, or fractions of votes."""
        is_hard = self.voting == "hard"
        add_up = combiner.sum_votes if is_hard else combiner.sum_predictions
        return add_up(table)[:, 0] / len(self.estimators_)

    def _choose_classes(self, combiner, table):
        """Choose a class number for every row."""
        if self.voting == "soft":
            return combiner.sum_predictions(table)[:, 0].argmax(axis=1)
        votes = combiner.sum_votes(table)[:, 0]
        best = votes.argmax(axis=1)
        is_top = votes == votes.max(axis=1, keepdims=True)
        is_tied = np.flatnonzero(is_top.sum(axis=1) > 1)
        if len(is_tied):
            sums = combiner.sum_predictions(take_rows(table, is_tied))[:, 0]
            best[is_tied] = np.where(is_top[is_tied], sums, -1.0).argmax(axis=1)
        return best

    def predict(self, X, **params):
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members, or for ``predict`` if they
            have no ``predict_proba`` or vote; requires metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class with the largest mean probability; ties go to the first. With
            ``voting="hard"``, the class with the most votes (相对多数投票法); ties go
            to the class with the largest mean probability.
        """
        best = self._combine("predict", X, params, self._choose_classes)
        return self.classes_.take(best)

    def predict_proba(self, X, **params):
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members, or for ``predict`` if they
            have no ``predict_proba`` or vote; requires metadata routing.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Mean probability over the members. With ``voting="hard"``, or if the members
            have no ``predict_proba``, the fraction of members that vote for the class.
        """
        return self._combine("predict_proba", X, params, self._compute_probabilities)

    def predict_log_proba(self, X, **params):
        """Predict the natural logarithm of the class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_log_proba`` of the members, or for the method used
            in its place; requires metadata routing.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Logarithm of the mean probability; ``-inf`` where it is 0.
        """
        check_is_fitted(self)
        return self._combine("predict_log_proba", X, params, self._compute_logarithms)

    def _compute_logarithms(self, combiner, table):
        """Logarithms of probabilities, added up as logarithms if possible."""
        adds_logarithms = (
            self._reader is None
            and self.voting == "soft"
            and hasattr(self.estimator_, "predict_log_proba")
        )
        if adds_logarithms:
            total = combiner.add_up(compute_member_logarithms, table, np.logaddexp)
            return total - np.log(len(self.estimators_))
        with np.errstate(divide="ignore"):
            return np.log(self._compute_probabilities(combiner, table))

    @available_if(_members_have_decisions)
    def decision_function(self, X, **params):
        """Compute the mean of the members' decision functions, if they have one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``decision_function`` of the members; requires metadata
            routing.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The mean; a single number per row for two classes.
        """
        return self._combine("decision_function", X, params, self._compute_decisions)

    def _compute_decisions(self, combiner, table):
        total = combiner.add_up(compute_member_decisions, table)
        return total / len(self.estimators_)


class BaggingRegressorMixin(RegressorMixin):
    """Combining regressors by their mean."""

    def _make_default_estimator(self):
        return CARTRegressor()

    def _compute_values(self, combiner, table):
        values = combiner.sum_predictions(table)[:, :, 0] / len(self.estimators_)
        return values[:, 0] if self._n_outputs == 1 else values

    def predict(self, X, **params):
        """Predict the value of each row: the mean over the members, 简单平均法.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict`` of the members; requires metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Values.
        """
        return self._combine("predict", X, params, self._compute_values)
