"""Training data of a tree, for pruning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.blocks import StoredTable
from sklearn_textbook.tree.encode import EncodedTable
from sklearn_textbook.tree.grow.target import Target


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that can be routed through a tree.

    Parameters
    ----------
    table : array of shape (n_rows, n_features), scipy sparse array, or StoredTable
        The table as returned by ``schema_.read``: numbers, level codes, NaN for missing
        values.
    target : Target
        Classes or values of the rows.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows, including class weights; None: 1.
    sample_weight : ndarray of float64, shape (n_rows,), or None
        The same without class weights.
    """

    table: np.ndarray | StoredTable
    target: Target
    weight: np.ndarray | None = None
    sample_weight: np.ndarray | None = None

    @property
    def matrix(self) -> np.ndarray:
        """The table, which becomes an array if it is stored in columns."""
        return self.table.matrix if isinstance(self.table, StoredTable) else self.table

    @property
    def n_rows(self):
        """Number of rows."""
        return self.target.n_rows

    def take(self, rows) -> Rows:
        """Select some of the rows."""
        weights = (
            None if weight is None else weight[rows]
            for weight in (self.weight, self.sample_weight)
        )
        return Rows(self.matrix[rows], self.target.take(rows), *weights)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The training rows of a tree, and methods of its estimator for pruners.

    For a tree that is pruned later, the rows may not be available; then ``rows``,
    ``table`` and ``grow`` are None, and so are the attributes read from the rows.

    Parameters
    ----------
    rows : Rows or None
        The rows.
    table : EncodedTable or None
        Their table, sorted or coded.
    criterion : str, default="entropy"
        Name of the impurity stored in the nodes.
    validation : Rows, default=None
        Rows that are not training rows.
    find_ends : callable, default=None
        ``find_ends(tree, matrix)`` returns the nodes in which rows end; see
        :func:`sklearn_textbook.tree.route.find_ends`.
    choose_classes : callable, default=None
        ``choose_classes(fractions)`` returns class indices, of shape (n, n_outputs),
        that the estimator predicts for class proportions of shape (n, n_outputs,
        n_classes).
    grow : callable, default=None
        ``grow(is_kept, n_threads)`` grows a tree, as the estimator does, from the
        rows selected by a mask. It may be called from several threads at once.
    collapses : bool, default=False
        Whether error-based pruning collapses the tree first; see ``collapse`` of
        C45Classifier.
    stand_in : callable, default=None
        ``stand_in(tree, matrix, gather)`` makes a fitted estimator with this tree for
        scikit-learn's scorers; ``gather(tree)`` returns the class proportions or values
        of the rows of the matrix.
    given : (ndarray of bool, Target), default=None
        If rows of weight 0 were dropped: a mask of the kept rows among all given rows,
        and the target of all given rows.
    is_monotonic : bool, default=False
        Whether predictions must increase or decrease with a column; see
        ``monotonic_cst`` of CARTClassifier.
    costs : ndarray of float64, shape (n_classes, n_classes), default=None
        ``costs[true, predicted]`` of errors; None: all cost 1.
    """

    rows: Rows | None
    table: EncodedTable | None
    criterion: str = "entropy"
    validation: Rows | None = None
    find_ends: Callable | None = None
    choose_classes: Callable | None = None
    grow: Callable | None = None
    collapses: bool = False
    stand_in: Callable | None = None
    given: tuple | None = None
    is_monotonic: bool = False
    costs: np.ndarray | None = None

    @property
    def matrix(self):
        """Table of the rows, or None."""
        return None if self.rows is None else self.rows.matrix

    @property
    def target(self):
        """Classes or values of the rows, or None."""
        return None if self.rows is None else self.rows.target

    @property
    def weight(self):
        """Weights of the rows, or None."""
        return None if self.rows is None else self.rows.weight
