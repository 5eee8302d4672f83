"""Pruning the members of a bagging ensemble on out-of-bag rows, 包外样本剪枝.

周志华《机器学习》, section 8.3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.validation_error import (
    TIES,
    cut_bottom_up,
    has_weight,
    leave_whole,
)

if TYPE_CHECKING:
    from sklearn_textbook.tree.grow.grown_tree import GrownTree
    from sklearn_textbook.tree.grow.target import Target
    from sklearn_textbook.tree.prune.outcome import PruningOutcome
    from sklearn_textbook.tree.prune.training_data import TrainingData


class OutOfBagPruning(BasePruner):
    """Prune a member of a bagging ensemble on its out-of-bag rows, 包外样本剪枝.

    A bootstrap sample leaves out about 36.8 % of the rows. They serve as validation
    rows for the member as in :class:`ReducedErrorPruning`: from the leaves upwards, a
    node becomes a leaf if this does not increase the error on them.

    Parameters
    ----------
    tie : {"prune", "keep"}, default="prune"
        Whether to prune or keep a node whose error equals that of its branch.

    See Also
    --------
    ReducedErrorPruning : For a single tree.

    Notes
    -----
    Each member has its own out-of-bag rows, which the ensemble passes as validation
    rows. A member without out-of-bag rows is not pruned. A single tree has none: with
    this ``pruning``, ``fit`` raises an error unless ``X_val`` and ``y_val`` are given.

    References
    ----------
    周志华《机器学习》, section 8.3.1. L. Breiman (1996), Out-of-bag estimation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier, OutOfBagPruning
    >>> X, y = load_iris(return_X_y=True)
    >>> pruner, random = OutOfBagPruning(), np.random.default_rng(0)
    >>> for _ in range(3):
    ...     drawn = random.integers(0, 150, 150)
    ...     left = np.setdiff1d(np.arange(150), drawn)
    ...     member = CARTClassifier().fit(X[drawn], y[drawn])
    ...     pruned = pruner.prune(member, X[left], y[left])
    ...     print(member.get_n_leaves(), pruned.get_n_leaves())
    7 5
    7 3
    8 6
    """

    uses_validation = "always"
    follows_collapse = False

    def __init__(self, tie: str = "prune") -> None:
        self.tie = tie

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If ``tie`` is invalid.
        """
        check_choice("tie", self.tie, TIES)

    def choose_held_out(
        self, target: Target, weight: np.ndarray | None
    ) -> np.ndarray | None:
        """Raise ValueError, since out-of-bag rows are not held out.

        Parameters
        ----------
        target : Target
            Classes or values of all rows.
        weight : ndarray of float64, shape (n_rows,), or None
            Their weights.

        Raises
        ------
        ValueError
            Always.
        """
        raise self._lack_of_rows()

    def prune_grown(
        self, tree: GrownTree, data: TrainingData, n_threads: int = 1
    ) -> PruningOutcome:
        """Prune a member on its out-of-bag rows.

        Parameters
        ----------
        tree : GrownTree
            The member's tree.
        data : TrainingData
            Contains the out-of-bag rows as validation rows; training rows are not
            needed.
        n_threads : int, default=1
            Ignored; routing chooses its own number.

        Returns
        -------
        PruningOutcome
            The pruned tree and a report as in :class:`ReducedErrorPruning`; the same
            tree and an empty report if no out-of-bag row has positive weight.

        Raises
        ------
        ValueError
            If ``tie`` is invalid, or ``data.validation`` is None.
        """
        self.check_parameters()
        if data.validation is None:
            raise self._lack_of_rows()
        if not has_weight(data.validation):
            return leave_whole(tree)
        return cut_bottom_up(tree, data, self.tie)

    def _lack_of_rows(self):
        return ValueError(
            "OutOfBagPruning requires the out-of-bag rows of a member of a bagging "
            "ensemble or forest; a single tree has none. Give X_val and y_val, or use "
            'pruning="reduced_error", which holds out rows.'
        )
