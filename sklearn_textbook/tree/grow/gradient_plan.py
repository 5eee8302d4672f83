"""Growth of a sequence of trees from gradients and hessians of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.grow._settings import Settings
from sklearn_textbook.tree.grow._tree_grower import GradientGrower, add_leaf_values
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.target import Target

__all__ = ["GradientPlan", "GradientTree", "add_leaf_values"]

MAX_CODES = 2**16  # of a column, with that of missing values
MAX_GROUPS = 64  # of columns that interact


def find_largest(gradient, hessian):
    """Find the largest absolute gradient and the largest hessian."""
    curvature = 1.0 if hessian is None else float(hessian.max())
    return float(np.abs(gradient).max()), curvature


def number_groups(groups, n_columns):
    """Return the groups of each column as bits of an integer."""
    if groups is None:
        return None
    if len(groups) > MAX_GROUPS:
        raise ValueError(
            f"There are {len(groups)} groups of columns; there may be {MAX_GROUPS}."
        )
    bits = np.zeros(n_columns, dtype=np.uint64)
    for number, group in enumerate(groups):
        for column in group:
            bits[column] |= np.uint64(1 << number)
    return bits


@dataclass(frozen=True)
class GradientTree:
    """A tree that has grown from gradients.

    Parameters
    ----------
    tree : GrownTree
        Its values are Newton steps; a node's ``weight`` is the sum of its hessians, and
        its ``improvement`` the decrease of twice the loss per unit of that.
    leaf_of_row : ndarray of int32, shape (n_rows,)
        Node in which each row of the table ends, including rows that were not used.
    """

    tree: GrownTree
    leaf_of_row: np.ndarray


class GradientPlan:
    r"""Grows trees whose splits and leaves minimise a second-order expansion of a loss.

    The value of a leaf with the rows I is the step v that minimises

    .. math:: \sum_{i \in I} \left( g_i v + \tfrac{1}{2} h_i v^2 \right)
        + \tfrac{\lambda}{2} v^2

    where :math:`g_i, h_i` are the first and second derivatives of the loss, and the
    score of a split is the decrease of the sum of these minima.

    Gradients and hessians are rounded to multiples of a power of two, chosen such that
    their sums over all rows fit into 62 bits (hessians: 63 bits, minus twice those of
    the number of rows). All sums are exact then, so that trees do not depend on the
    order of the rows or on the number of threads.

    Parameters
    ----------
    table : EncodedTable
        The table, with at most 65535 distinct values per column, for example after
        binning.
    rules : GrowthRules
        Growth rules; the criterion is ignored. ``min_weight_leaf`` is a sum of
        hessians. With ``max_leaf_nodes`` the split that decreases the loss most comes
        first.
    l2_regularization : float, default=0.0
        :math:`\lambda`.
    interaction_groups : list of sequences of int, default=None
        Groups of columns that may be tested on the same path. None: no restriction.
    n_threads : int, default=1
        Number of threads; the trees do not depend on it.
    """

    def __init__(
        self,
        table,
        rules,
        l2_regularization: float = 0.0,
        interaction_groups=None,
        n_threads: int = 1,
    ) -> None:
        n_codes = table.n_distinct + (table.n_missing > 0)
        if n_codes.max() > MAX_CODES:
            column = int(n_codes.argmax())
            raise ValueError(
                f"Column {table.schema.names[column]!r} has {n_codes[column]} distinct "
                f"values; there may be {MAX_CODES} of them. Use bins, with max_bins."
            )
        self.table, self.rules = table, rules
        self.target = Target(None, np.zeros((table.n_rows, 1)), np.ones(1, np.int64))
        settings = Settings(table, self.target, rules)
        self.smooths_levels = settings.smooths_levels
        self._grower = GradientGrower(
            settings,
            ranks=table.ranks(n_threads),
            row_ranks=table.row_ranks(n_threads)[0],
            max_leaf_nodes=rules.max_leaf_nodes or 0,
            l2=l2_regularization,
            groups=number_groups(interaction_groups, table.n_columns),
            n_threads=n_threads,
        )

    def grow(
        self,
        gradient: np.ndarray,
        hessian: np.ndarray | None = None,
        rows: np.ndarray | None = None,
        random_state: int = 0,
        largest: tuple | None = None,
        out: np.ndarray | None = None,
        variance: float = 1.0,
    ) -> GradientTree:
        """Grow a tree."""
        if largest is None:
            largest = find_largest(gradient, hessian)
        self._grower.grow(gradient, hessian, largest, rows, random_state, variance)
        leaf_of_row = np.empty(self.table.n_rows, np.int32) if out is None else out
        self._grower.find_leaves(leaf_of_row)
        nodes, statistics, side_tables = self._grower.write_nodes()
        tree = GrownTree(
            nodes=nodes,
            statistics=statistics.reshape(len(nodes), 1, 1),
            **side_tables,
            n_features=self.table.n_columns,
            n_levels=self.table.schema.n_levels,
            n_classes=self.target.n_classes,
            is_classifier=False,
            handle_unknown=self.rules.handle_unknown,
        )
        return GradientTree(tree, leaf_of_row)

    def round_to_pairs(self, gradient, hessian=None, largest=None) -> np.ndarray:
        """Convert gradients and hessians to pairs of integers with a common scale."""
        if largest is None:
            largest = find_largest(gradient, hessian)
        return self._grower.round_to_pairs(gradient, hessian, largest)

    def count_block(self, row_codes, pairs: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Sum up some rows of a block, such as one that is read from disk."""
        return self._grower.count_block(row_codes, pairs, rows)

    def find_split(
        self, histogram: np.ndarray, depth: int = 0
    ) -> tuple[float, int, np.ndarray | None]:
        """Find the split of a node with this histogram in :meth:`grow`."""
        return self._grower.find_split(histogram, depth)

    def close(self) -> None:
        """End the threads."""
        self._grower.stop_threads()
