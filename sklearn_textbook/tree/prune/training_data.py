"""What grew a tree, and pruning may want to see again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.encode import EncodedTable
from sklearn_textbook.tree.grow.target import Target


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows that grew a tree.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_features), or scipy sparse array
        The table as ``schema_.read`` reads it: numbers, level codes, NaN for missing
        values.
    table : EncodedTable
        The same, sorted or coded.
    target : Target
        Classes or values of the rows.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows; None: 1.
    """

    matrix: np.ndarray
    table: EncodedTable
    target: Target
    weight: np.ndarray | None
