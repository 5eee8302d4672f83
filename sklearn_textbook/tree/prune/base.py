"""Base classes of the pruners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from sklearn_textbook._contract.parameters import check_random_seed, is_checked, is_real
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.prune.hold_out import choose_held_out

if TYPE_CHECKING:
    from sklearn_textbook.tree.grow.grown_tree import GrownTree
    from sklearn_textbook.tree.grow.target import Target
    from sklearn_textbook.tree.prune.training_data import TrainingData


class BasePruner(BaseEstimator, ABC):
    """Base class of the pruners.

    A pruner has only parameters and is not changed by pruning. It is passed to a tree
    estimator as ``pruning``, or prunes a fitted estimator with :meth:`prune`.
    """

    #: Whether validation rows are used: "never", "optional" or "always".
    uses_validation = "never"
    #: Whether trees of several outputs can be pruned.
    takes_several_outputs = True
    #: Whether class weights are those of growth, if errors have costs.
    uses_altered_priors = False
    #: Whether this pruner prunes the collapsed tree if the estimator collapses it.
    follows_collapse = True

    def check_parameters(self):
        """Check the parameters.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """

    def choose_held_out(
        self, target: Target, weight: np.ndarray | None
    ) -> np.ndarray | None:
        """Choose the training rows to hold out for validation.

        Parameters
        ----------
        target : Target
            Classes or values of all rows.
        weight : ndarray of float64, shape (n_rows,), or None
            Their weights.

        Returns
        -------
        is_held_out : ndarray of bool, shape (n_rows,), or None
            None if no rows are held out.
        """
        return None

    @abstractmethod
    def prune_grown(self, tree, data, n_threads=1):
        """Prune a grown tree and report the decisions.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            Its training rows and the validation rows.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        PruningOutcome
            The pruned tree, a report and, if the method computes one, the pruning path.

        Raises
        ------
        ValueError
            If the method does not apply to this tree, or requires rows that are not
            given.
        """

    def prune_tree(
        self, tree: GrownTree, data: TrainingData, n_threads: int = 1
    ) -> GrownTree:
        """Prune a grown tree.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            Its training rows and the validation rows.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        GrownTree
            The pruned tree; the same object if no node is pruned.
        """
        return self.prune_grown(tree, data, n_threads).tree

    def prune(
        self,
        estimator: Any,
        X_val: MatrixLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        *,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:
        """Prune a fitted estimator without growing its tree again.

        Parameters
        ----------
        estimator : estimator
            A fitted tree estimator of this package, usually with ``pruning=None``. It
            is not changed.
        X_val, y_val : array-like, default=None
            Validation rows, if the pruner requires them.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weights of the validation rows.
        X, y : array-like, default=None
            The training rows of the tree, if the pruner requires them.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the training rows.

        Returns
        -------
        estimator : estimator of the same class
            A fitted copy with the pruned tree. Its ``pruning`` is this pruner, and its
            ``ccp_alpha``, if it has one, is 0.

        Raises
        ------
        TypeError
            If ``estimator`` is not a tree estimator of this package.
        ValueError
            If the method does not apply to this tree or requires rows that are not
            given, or if the number of rows of ``X`` is not that of the training rows.
        """
        prune_fitted = getattr(estimator, "_prune_fitted", None)
        if prune_fitted is None or isinstance(estimator, type):
            raise TypeError(
                "estimator must be a fitted tree estimator such as CARTClassifier, got "
                f"{estimator!r}."
            )
        training = (X, y, sample_weight)
        return prune_fitted(self, training, (X_val, y_val, sample_weight_val))


class HoldOutPruner(BasePruner):
    """Base class of the pruners that use validation rows.

    A subclass has the parameters ``validation_fraction`` and ``random_state``.
    """

    uses_validation = "always"
    follows_collapse = False

    def check_parameters(self):
        """Check the parameters.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        if not is_checked():
            return
        fraction = self.validation_fraction
        if not is_real(fraction) or not 0.0 < fraction < 1.0:
            raise ValueError(
                "The 'validation_fraction' parameter must be a float in the range "
                f"(0.0, 1.0); got {fraction!r} of type {type(fraction).__name__}."
            )
        check_random_seed("random_state", self.random_state)

    def choose_held_out(self, target: Target, weight: np.ndarray | None) -> np.ndarray:
        """Choose the fraction ``validation_fraction`` of the rows, stratified by class.

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
