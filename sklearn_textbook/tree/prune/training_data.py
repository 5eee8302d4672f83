"""What grew a tree, and pruning may want to see again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.encode import EncodedTable
from sklearn_textbook.tree.grow.target import Target


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that can be sent through a tree.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_features), or scipy sparse array
        The table as ``schema_.read`` reads it: numbers, level codes, NaN for missing
        values.
    target : Target
        Classes or values of the rows.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows, class weights included; None: 1.
    """

    matrix: np.ndarray
    target: Target
    weight: np.ndarray | None = None

    @property
    def n_rows(self):
        """Number of rows."""
        return self.target.n_rows

    def take(self, rows):
        """Take some of the rows.

        Parameters
        ----------
        rows : array of int, or mask
            The rows.

        Returns
        -------
        Rows
        """
        weight = None if self.weight is None else self.weight[rows]
        return Rows(self.matrix[rows], self.target.take(rows), weight)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows that grew a tree, and what a pruner may ask of the tree's estimator.

    A tree that is pruned long after it was grown may lack its rows; then ``matrix``,
    ``table``, ``target``, ``weight`` and ``grow`` are None.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_features), scipy sparse array, or None
        The table, as in :class:`Rows`.
    table : EncodedTable or None
        The same, sorted or coded.
    target : Target or None
        Classes or values of the rows.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows; None: 1.
    criterion : str, default="entropy"
        Name of the impurity that the nodes hold.
    validation : Rows, default=None
        Rows that had no part in growing.
    find_ends : callable, default=None
        ``find_ends(tree, matrix)`` tells in which nodes rows end; see
        :func:`sklearn_textbook.tree.route.find_ends`.
    choose_classes : callable, default=None
        ``choose_classes(shares)`` gives the class numbers, shape (n, n_outputs), that
        the estimator predicts for class shares of shape (n, n_outputs, n_classes).
    grow : callable, default=None
        ``grow(is_kept, n_threads)`` grows a tree, as the estimator does, from the
        rows that a mask marks. It may be called from several threads at a time.
    collapses : bool, default=False
        Whether error-based pruning is to collapse the tree first; see ``collapse`` of
        C45Classifier.
    stand_in : callable, default=None
        ``stand_in(statistics)`` makes a fitted estimator that predicts from the class
        shares or values of given rows, for scikit-learn's scorers.
    """

    matrix: np.ndarray | None
    table: EncodedTable | None
    target: Target | None
    weight: np.ndarray | None
    criterion: str = "entropy"
    validation: Rows | None = None
    find_ends: Callable | None = None
    choose_classes: Callable | None = None
    grow: Callable | None = None
    collapses: bool = False
    stand_in: Callable | None = None

    @property
    def rows(self):
        """The rows themselves, without what is known of the estimator."""
        if self.matrix is None:
            return None
        return Rows(self.matrix, self.target, self.weight)
