"""Which rows and columns each member of a bagging sees, 样本扰动与输入属性扰动."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.random_state import borrow_random_state
from sklearn_textbook.ensemble.resample import count_draws, draw_rows


@dataclass(frozen=True, eq=False)
class BagDraw:
    """Samples of rows and columns, determined by the seed of a member alone.

    Columns are drawn first, then rows, from one stream of random numbers, as in
    scikit-learn: the same seed draws the same.

    Parameters
    ----------
    n_rows, n_columns : int
        Size of the table.
    n_drawn_rows : int or None
        Rows that a member draws; None: it sees every row once.
    n_drawn_columns : int
        Columns that a member draws.
    replaces_rows, replaces_columns : bool
        Whether a row, or a column, may be drawn again.
    weight : ndarray of float64, shape (n_rows,), default=None
        Where rows are drawn, they are with probabilities in proportion; where all are
        seen, their weights.
    estimates_empty_nodes : bool, default=False
        Whether the rows that a tree has not drawn speak for its empty nodes.
    """

    n_rows: int
    n_columns: int
    n_drawn_rows: int | None
    n_drawn_columns: int
    replaces_rows: bool = True
    replaces_columns: bool = False
    weight: np.ndarray | None = None
    estimates_empty_nodes: bool = False

    @property
    def takes_all_columns(self):
        """Whether every member sees all columns, in their order."""
        return not self.replaces_columns and self.n_drawn_columns == self.n_columns

    def is_like(self, other):
        """Tell whether another draw gives the same for every seed."""
        return self is other or all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in vars(self)
        )

    def draw(self, seed):
        """Draw for the member with this seed.

        Parameters
        ----------
        seed : int
            The seed.

        Returns
        -------
        columns : ndarray of int, shape (n_drawn_columns,)
            Numbers of columns.
        rows : ndarray of int, shape (n_drawn_rows,)
            Numbers of rows.
        """
        random_state = borrow_random_state(seed)
        columns = draw_rows(
            random_state,
            self.n_columns,
            self.n_drawn_columns,
            replace=self.replaces_columns,
        )
        if self.n_drawn_rows is None:
            return columns, np.arange(self.n_rows)
        rows = draw_rows(
            random_state,
            self.n_rows,
            self.n_drawn_rows,
            self.weight,
            self.replaces_rows,
        )
        return columns, rows

    def weigh(self, rows):
        """Weigh the rows for a member that has drawn some of them.

        Parameters
        ----------
        rows : ndarray of int
            What :meth:`draw` gave.

        Returns
        -------
        weight : ndarray of shape (n_rows,), or None
            How often each row was drawn; where none are drawn, the given weights.
        """
        if self.n_drawn_rows is None:
            return self.weight
        return count_draws(rows, self.n_rows)

    def mark_out_of_bag(self, seed):
        """Mark the rows that the member does not see.

        Parameters
        ----------
        seed : int
            The member's seed.

        Returns
        -------
        is_out : ndarray of bool, shape (n_rows,)
            The out-of-bag rows.
        """
        return count_draws(self.draw(seed)[1], self.n_rows) == 0
