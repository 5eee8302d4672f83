"""Samples of rows and columns for members of bagging, 样本扰动与输入属性扰动."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from sklearn_textbook._contract.random_state import borrow_random_state
from sklearn_textbook.ensemble.resample import (
    RowDraw,
    count_draws,
    draw_rows,
)


@dataclass(frozen=True, eq=False)
class BagDraw(RowDraw):
    """Samples of rows and columns, determined by the seed of a member alone.

    Columns are drawn first, then rows, from one stream of random numbers, as in
    scikit-learn: the same seed draws the same.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_drawn_rows : int or None
        Rows that a member draws; None: it is trained on every row once.
    weight : ndarray of float64, shape (n_rows,), default=None
        Where rows are drawn, they are with probabilities in proportion; where all are
        used, their weights.
    n_columns : int
        Number of columns.
    n_drawn_columns : int
        Columns that a member draws.
    replaces_rows, replaces_columns : bool
        Whether a row, or a column, may be drawn again.
    estimates_empty_nodes : bool, default=False
        Whether empty nodes of a tree predict by the rows that it has not drawn.
    """

    _: KW_ONLY
    n_columns: int
    n_drawn_columns: int
    replaces_rows: bool = True
    replaces_columns: bool = False
    estimates_empty_nodes: bool = False

    @property
    def takes_all_columns(self):
        """Whether every member is trained on all columns, in their order."""
        return not self.replaces_columns and self.n_drawn_columns == self.n_columns

    def is_like(self, other):
        """Return whether another draw selects the same for every seed."""
        return self is other or all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in vars(self)
        )

    def list_columns(self, seed):
        """List the columns of the member with this seed."""
        return self._draw_columns(borrow_random_state(seed))

    def list_rows(self, seed):
        """List the rows of the member, each as often as it is drawn."""
        if self.n_drawn_rows is None:
            return np.arange(self.n_rows)
        random_state = borrow_random_state(seed)
        self._draw_columns(random_state)
        return draw_rows(
            random_state,
            self.n_rows,
            self.n_drawn_rows,
            self.weight,
            self.replaces_rows,
        )

    def count_rows(self, seed):
        """Count how often the member draws each row."""
        return count_draws(self.list_rows(seed), self.n_rows)

    def _draw_columns(self, random_state):
        return draw_rows(
            random_state,
            self.n_columns,
            self.n_drawn_columns,
            replace=self.replaces_columns,
        )
