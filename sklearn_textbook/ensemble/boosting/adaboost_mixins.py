"""Predictions of AdaBoost from the weighted votes of its members."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.labels import decode_dictionary
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble.boosting.staged_mixins import StagedClassifierMixin
from sklearn_textbook.ensemble.boosting.stump_votes import StumpVotes
from sklearn_textbook.ensemble.members.estimator_combiner import (
    EstimatorCombiner,
    count_member_votes,
    predict_batch,
)
from sklearn_textbook.ensemble.members.tree_members import TreeCombiner
from sklearn_textbook.tree.members import find_leaves_of_all


def _has_trees(ensemble):
    """Require members that are trees of this package."""
    if getattr(ensemble, "_reader", None) is None:
        raise AttributeError("The members are not trees of this package.")
    return True


class AdaBoostMixin(StagedClassifierMixin, ClassifierMixin):
    """Weighted votes, and what follows from them."""

    # ----------------------------------------------------------------------- votes
    def _sum_votes(self, combiner, table, numbers):
        """Add up the weights of the members that vote for each class."""
        weights = self.estimator_weights_[numbers]
        if self._reader is not None:
            return combiner.sum_votes(table, numbers, weights)[:, 0]
        total = None
        for number, weight in zip(numbers, weights, strict=True):
            (votes,) = predict_batch(
                count_member_votes,
                [combiner.members[number]],
                [None],
                table,
                self.n_classes_,
                {},
            )
            votes *= weight
            total = votes if total is None else total + votes
        return total

    def _make_combiner(self):
        check_is_fitted(self)
        return EstimatorCombiner(self) if self._reader is None else TreeCombiner(self)

    def _compute_raw(self, X):
        """Votes of all members; (n_rows, n_classes)."""
        combiner = self._make_combiner()
        numbers = np.arange(len(self.estimators_))
        stumps = None
        if self._reader is not None:
            weights, n_classes = self.estimator_weights_, self.n_classes_
            stumps = StumpVotes.of(self.estimators_, weights, n_classes)

        def sum_votes(table):
            if stumps is None or sparse.issparse(table):
                return self._sum_votes(combiner, table, numbers)
            return stumps.add_up(table, count_threads(self.n_jobs, table.size))

        return np.concatenate([sum_votes(table) for table in combiner.read_blocks(X)])

    def _stage_raw(self, X):
        """Votes of the first 1, 2, ... members; the same array, each time further."""
        combiner = self._make_combiner()
        blocks = list(combiner.read_blocks(X))
        total = np.zeros(1)
        for number in range(len(self.estimators_)):
            parts = [self._sum_votes(combiner, table, [number]) for table in blocks]
            total = total + np.concatenate(parts)
            yield total

    def _to_decisions(self, votes):
        """Turn votes into the additive model."""
        if self.n_classes_ == 2:
            return votes[:, 1] - votes[:, 0]
        others = votes.sum(axis=1, keepdims=True) - votes
        return votes - others / max(1, self.n_classes_ - 1)

    def _to_probabilities(self, votes):
        return softmax(2.0 * votes, axis=1)

    def _to_target(self, votes):
        """Turn votes into classes."""
        return self.classes_.take(votes.argmax(axis=1))

    # ------------------------------------------------------------------ prediction
    def decision_function(self, X):
        r"""Compute the additive model :math:`f(x) = \sum_m \alpha_m G_m(x)`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one number per row, positive for ``classes_[1]``. For more,
            one number per class; they sum to 0: a member adds :math:`\alpha_m` to the
            class that it predicts and subtracts :math:`\alpha_m / (K - 1)` from every
            other class.
        """
        return self._to_decisions(self._compute_raw(X))

    def predict_proba(self, X):
        r"""Predict class probabilities.

        The additive model that minimises the expected exponential loss is half the
        logarithm of the odds, so that

        .. math:: P(y = k \mid x) \propto \exp\Big(2 \sum_m \alpha_m \,
            \mathbb{I}(G_m(x) = k)\Big),

        which for two classes is :math:`1 / (1 + e^{-2 f(x)})`. After many rounds, these
        values are close to 0 and 1 and need to be calibrated to serve as probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Estimates that sum to 1 in each row.
        """
        return self._to_probabilities(self._compute_raw(X))

    def predict_log_proba(self, X):
        """Compute the natural logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            Finite even where the probability is rounded to 0.
        """
        return log_softmax(2.0 * self._compute_raw(X), axis=1)

    # ---------------------------------------------------------------------- stages
    def staged_score(self, X, y, sample_weight=None):
        """Compute the accuracy of the first 1, 2, ... members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Yields
        ------
        score : float
            Fraction of correctly classified rows, by weight.
        """
        for predicted in self.staged_predict(X):
            yield accuracy_score(y, predicted, sample_weight=sample_weight)

    # -------------------------------------------------------------------- measures
    def margins(self, X, y):
        r"""Compute the margins of rows (间隔): how clearly the votes are right.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        margins : ndarray of shape (n_samples,)
            The fraction of votes for the true class minus the largest fraction for
            another class, from -1 to 1; for two classes, :math:`y f(x) / \sum_m
            \alpha_m`. A class that was not seen in training has no votes.
        """
        return self._compare_votes(self._compute_raw(X), y, len(self.estimators_))

    def staged_margins(self, X, y):
        """Compute the margins of rows by the first 1, 2, ... members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.

        Yields
        ------
        margins : ndarray of shape (n_samples,)
            As in :meth:`margins`.
        """
        for number, votes in enumerate(self._stage_raw(X), start=1):
            yield self._compare_votes(votes, y, number)

    def _compare_votes(self, votes, y, n_members):
        """Compare the votes of some members for the right class and for others."""
        y = column_or_1d(decode_dictionary(y), warn=True)
        check_consistent_length(votes, y)
        is_right = np.asarray(y)[:, np.newaxis] == self.classes_
        right = np.where(is_right, votes, 0.0).max(axis=1)
        others = np.where(is_right, 0.0, votes).max(axis=1)
        return (right - others) / self.estimator_weights_[:n_members].sum()

    @property
    def error_bounds_(self):
        r"""Bounds on the weighted training error after 1, 2, ... rounds.

        They are :math:`Z_1, Z_1 Z_2, \ldots`, by theorem 8.1 of the textbook. With more
        than two classes, they may exceed 1.
        """
        check_is_fitted(self)
        return np.cumprod(self.normalizers_)

    @property
    def feature_importances_(self):
        """Mean importance of each column over the members, weighted by their weights.

        Raises
        ------
        AttributeError
            If the members have no ``feature_importances_``.
        """
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                "feature_importances_ is the mean over the members, but "
                f"{type(self.estimators_[0]).__name__} has no feature_importances_."
            )
        each = [member.feature_importances_ for member in self.estimators_]
        return self.estimator_weights_ @ each / self.estimator_weights_.sum()

    @available_if(_has_trees)
    def apply(self, X):
        """Find the node in which each row ends, for each tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        nodes : ndarray of int64, shape (n_samples, n_members)
            Node numbers. Only available if the members are trees of this package.
        """
        combiner = self._make_combiner()
        trees = [member.tree_ for member in self.estimators_]
        names = self._reader.schema_.names
        return np.concatenate(
            [
                find_leaves_of_all(
                    trees,
                    matrix,
                    count_threads(self.n_jobs, matrix.size * len(trees)),
                    names,
                )
                for matrix in combiner.read_blocks(X)
            ]
        )
