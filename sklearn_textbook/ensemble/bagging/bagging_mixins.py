"""How the members of a bagging decide together, on classes and on values."""

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
    """Combining classifiers by shares or votes."""

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
        has_shares = hasattr(estimator, "predict_proba")
        asks = "predict_proba" if has_shares else "predict"
        if self.voting == "hard":
            calls = [("predict", "predict"), ("predict_proba", "predict")]
            calls += [("predict", asks)] * has_shares
            logarithms = "predict"
        else:
            calls = [("predict", asks), ("predict_proba", asks)]
            has_logarithms = hasattr(estimator, "predict_log_proba")
            logarithms = "predict_log_proba" if has_logarithms else asks
        return [
            *calls,
            ("predict_log_proba", logarithms),
            ("decision_function", "decision_function"),
        ]

    # ------------------------------------------------------------------ prediction
    def _compute_shares(self, combiner, table):
        """Shares of the classes, or of the votes."""
        is_hard = self.voting == "hard"
        total = combiner.sum_votes(table) if is_hard else combiner.sum_shares(table)
        return total[:, 0] / len(self.estimators_)

    def _choose_classes(self, combiner, table):
        """Choose a class number for every row."""
        if self.voting == "soft":
            return combiner.sum_shares(table)[:, 0].argmax(axis=1)
        votes = combiner.sum_votes(table)[:, 0]
        best = votes.argmax(axis=1)
        is_top = votes == votes.max(axis=1, keepdims=True)
        is_tied = np.flatnonzero(is_top.sum(axis=1) > 1)
        if len(is_tied):
            shares = combiner.sum_shares(take_rows(table, is_tied))[:, 0]
            best[is_tied] = np.where(is_top[is_tied], shares, -1.0).argmax(axis=1)
        return best

    def predict(self, X, **params):
        """Class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members, or for ``predict`` if they
            have no shares or vote; needs metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class of the largest mean share, the first of equals; with
            ``voting="hard"`` the class with most votes, 相对多数投票法, and of equals
            the one with the largest mean share.
        """
        best = self._ask("predict", X, params, self._choose_classes)
        return self.classes_.take(best)

    def predict_proba(self, X, **params):
        """Share of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_proba`` of the members, or for ``predict`` if they
            have no shares or vote; needs metadata routing.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            Mean share over the members; with ``voting="hard"``, or of members without
            ``predict_proba``, the share of members that vote for the class.
        """
        return self._ask("predict_proba", X, params, self._compute_shares)

    def predict_log_proba(self, X, **params):
        """Natural logarithm of the shares.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict_log_proba`` of the members, or for the method that
            stands in where they have none; needs metadata routing.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Logarithm of the mean share; ``-inf`` where it is 0.
        """
        check_is_fitted(self)
        return self._ask("predict_log_proba", X, params, self._compute_logarithms)

    def _compute_logarithms(self, combiner, table):
        """Logarithms of shares, added up without leaving logarithms if possible."""
        asks_members = (
            self._reader is None
            and self.voting == "soft"
            and hasattr(self.estimator_, "predict_log_proba")
        )
        if asks_members:
            total = combiner.add_up(compute_member_logarithms, table, np.logaddexp)
            return total - np.log(len(self.estimators_))
        with np.errstate(divide="ignore"):
            return np.log(self._compute_shares(combiner, table))

    @available_if(_members_have_decisions)
    def decision_function(self, X, **params):
        """Mean of the members' decision functions, if they have one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``decision_function`` of the members; needs metadata routing.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The mean; one number per row for two classes.
        """
        return self._ask("decision_function", X, params, self._compute_decisions)

    def _compute_decisions(self, combiner, table):
        total = combiner.add_up(compute_member_decisions, table)
        return total / len(self.estimators_)


class BaggingRegressorMixin(RegressorMixin):
    """Combining regressors by their mean."""

    def _make_default_estimator(self):
        return CARTRegressor()

    def _compute_values(self, combiner, table):
        values = combiner.sum_shares(table)[:, :, 0] / len(self.estimators_)
        return values[:, 0] if self._n_outputs == 1 else values

    def predict(self, X, **params):
        """Value of each row: the mean over the members, 简单平均法.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **params : dict
            Parameters for ``predict`` of the members; needs metadata routing.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Values.
        """
        return self._ask("predict", X, params, self._compute_values)
