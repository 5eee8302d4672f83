"""What all pruners share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_textbook._contract.parameters import check_random_seed, is_checked, is_real
from sklearn_textbook.tree.prune.hold_out import choose_held_out


class BasePruner(BaseEstimator, ABC):
    """Base of the pruners.

    A pruner holds parameters alone; pruning leaves no trace in it. It is a parameter
    of a tree estimator, ``pruning=``, or prunes a fitted one, :meth:`prune`.
    """

    #: Whether validation rows have a use: "never", "optional" or "always".
    uses_validation = "never"
    #: Whether trees of several outputs can be pruned.
    takes_several_outputs = True
    #: Whether a gain tree is collapsed before this pruner sees it, if it is to be.
    follows_collapse = True

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If one is not; the message says what is allowed.
        """

    def choose_held_out(self, target, weight):
        """Choose the rows that shall not grow the tree, since they will judge it.

        Parameters
        ----------
        target : Target
            Classes or values of all rows.
        weight : ndarray of float64, shape (n_rows,), or None
            Their weights.

        Returns
        -------
        is_held_out : ndarray of bool, shape (n_rows,), or None
            None if all rows grow the tree.
        """
        return

    @abstractmethod
    def prune_grown(self, tree, data, n_threads=1):
        """Prune a grown tree, and tell what was done.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            The rows that grew it, and those that are to judge it.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        PruningOutcome
            The pruned tree, a report and, if there is one, the path.

        Raises
        ------
        ValueError
            If the method has no meaning for this tree, or needs rows that are not
            there.
        """

    def prune_tree(self, tree, data, n_threads=1):
        """Prune a grown tree.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            The rows that grew it, and those that are to judge it.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        GrownTree
            The pruned tree; the same object if nothing falls.
        """
        return self.prune_grown(tree, data, n_threads).tree

    def prune(
        self,
        estimator,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
        *,
        X=None,
        y=None,
        sample_weight=None,
    ):
        """Prune a fitted estimator without growing its tree again.

        Parameters
        ----------
        estimator : estimator
            A fitted tree estimator of this package, grown with ``pruning=None`` if all
            of its tree is to be judged. It stays as it is.
        X_val, y_val : array-like, default=None
            Rows that the tree has not seen, for a pruner that needs some.
        sample_weight_val : array-like of shape (n_val,), default=None
            Their weights.
        X, y : array-like, default=None
            The rows that grew the tree, for a pruner that looks at them again.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        estimator : estimator of the same class
            A fitted copy with the pruned tree, whose ``pruning`` is this pruner.

        Raises
        ------
        TypeError
            If ``estimator`` is not a tree estimator of this package.
        ValueError
            If rows are missing that the method needs, ``X`` has not as many rows as
            grew the tree, or the method has no meaning for this tree.
        """
        prune_fitted = getattr(estimator, "_prune_fitted", None)
        if prune_fitted is None or isinstance(estimator, type):
            raise TypeError(
                f"{type(self).__name__}.prune needs a fitted tree estimator such as "
                f"CARTClassifier; got {estimator!r}."
            )
        training = (X, y, sample_weight)
        return prune_fitted(self, training, (X_val, y_val, sample_weight_val))


class HoldOutPruner(BasePruner):
    """Base of the pruners that judge by rows which did not grow the tree.

    A subclass has the parameters ``validation_fraction`` and ``random_state``.
    """

    uses_validation = "always"
    follows_collapse = False

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If one is not; the message says what is allowed.
        """
        if not is_checked():
            return
        share = self.validation_fraction
        if not is_real(share) or not 0.0 < share < 1.0:
            raise ValueError(
                "The 'validation_fraction' parameter must be a float in the range "
                f"(0.0, 1.0); got {share!r} of type {type(share).__name__}."
            )
        check_random_seed("random_state", self.random_state)

    def choose_held_out(self, target, weight):
        """Choose the share ``validation_fraction`` of the rows, class by class.

        Parameters
        ----------
        target : Target
            Classes or values of all rows.
        weight : ndarray of float64, shape (n_rows,), or None
            Their weights; rows of weight 0 are not chosen.

        Returns
        -------
        is_held_out : ndarray of bool, shape (n_rows,)
            The chosen rows.
        """
        is_used = np.ones(target.n_rows, bool) if weight is None else weight > 0
        return choose_held_out(
            target, is_used, self.validation_fraction, self.random_state
        )
