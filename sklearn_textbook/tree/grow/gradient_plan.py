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

    Raises
    ------
    ValueError
        If a column has too many distinct values, or if there are too many groups.

    Notes
    -----
    Gradients and hessians are rounded to multiples of a power of two, chosen such that
    their sums over all rows fit into 62 bits (hessians: 63 bits, minus twice those of
    the number of rows). All sums are exact then, so that trees do not depend on the
    order of the rows or on the number of threads.
    """

    def __init__(
        self,
        table,
        rules,
        l2_regularization=0.0,
        interaction_groups=None,
        n_threads=1,
    ):
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
        gradient,
        hessian=None,
        rows=None,
        random_state=0,
        largest=None,
        out=None,
        variance=1.0,
    ):
        """Grow a tree.

        Parameters
        ----------
        gradient : ndarray of float64, shape (n_rows,)
            First derivatives of the loss, times the weights of the rows.
        hessian : ndarray of float64, shape (n_rows,), default=None
            Second derivatives, times the weights; None for 1.
        rows : ndarray of uint32, default=None
            The rows to grow from, in ascending order. None: all.
        random_state : int, default=0
            Seed of the sampling of columns.
        largest : tuple of two floats, default=None
            Largest absolute gradient and largest hessian, if they are known.
        out : ndarray of int32, shape (n_rows,), default=None
            Output array for ``leaf_of_row``. None: a new array.
        variance : float, default=1.0
            Variance of the gradient of a row, per unit of its hessian, by which levels
            of nominal columns are smoothed; see ``smooths_levels``.

        Returns
        -------
        grown : GradientTree
            The tree.
        """
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

    def round_to_pairs(self, gradient, hessian=None, largest=None):
        """Convert gradients and hessians to pairs of integers with a common scale.

        Parameters
        ----------
        gradient, hessian, largest
            As in :meth:`grow`.

        Returns
        -------
        pairs : ndarray, shape (n_rows,)
            Pairs for :meth:`count_block`, which can be indexed by rows.
        """
        if largest is None:
            largest = find_largest(gradient, hessian)
        return self._grower.round_to_pairs(gradient, hessian, largest)

    def count_block(self, row_codes, pairs, rows):
        """Sum up some rows of a block, such as one that is read from disk.

        Parameters
        ----------
        row_codes : ndarray of uint8 or uint16, shape (n_block_rows, n_columns)
            Codes of the block, coded as the table is.
        pairs : ndarray, shape (n_block_rows,)
            Their pairs.
        rows : ndarray of uint32
            The rows of a node.

        Returns
        -------
        histogram : ndarray of int64, shape (n_codes, 2)
            Sums of integers: the histogram of several blocks is their sum, and that of
            a child is the histogram of the parent minus that of the other child.
        """
        return self._grower.count_block(row_codes, pairs, rows)

    def find_split(self, histogram, depth=0):
        """Find the split of a node with this histogram in :meth:`grow`.

        Parameters
        ----------
        histogram : ndarray of int64, shape (n_codes, 2)
            Of all rows of the node; monotonic and interaction constraints are those of
            a root.
        depth : int, default=0
            Depth of the node.

        Returns
        -------
        decrease : float
            Decrease of twice the loss; 0 if the node is a leaf.
        column : int
            The tested column; -1 in a leaf.
        child_of_code : ndarray of uint8, or None
            The child of every code of that column; 2: a row with it stays.
        """
        return self._grower.find_split(histogram, depth)

    def close(self):
        """End the threads."""
        self._grower.stop_threads()
