"""Growth of a sequence of trees from gradients and hessians of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from sklearn_textbook.tree.encode.table import EncodedTable
from sklearn_textbook.tree.grow._settings import Settings
from sklearn_textbook.tree.grow._tree_grower import (
    GradientGrower,
    add_leaf_values,
    count_level,
    make_scale,
    round_block,
)
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.target import Target

__all__ = [
    "GradientPlan",
    "GradientTree",
    "add_leaf_values",
    "count_level",
    "make_scale",
    "round_block",
]

#: All rows are in the root, whose histogram is counted.
ROOT_LEVEL = (
    np.array([-1], np.int32),
    np.zeros(1, np.int32),
    np.zeros(1, np.int64),
    np.empty(0, np.uint8),
    np.zeros(1, np.int32),
)
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


class BestFirst:
    """Chooses the nodes that are split, if the number of leaves is limited.

    The best split is made first, of equal ones that of the node that was made first. A
    level of nodes is searched at once: those are split that would be chosen if nodes
    that are not known yet had no split. A node that is not chosen then never will be.
    """

    def __init__(self, max_leaf_nodes: int | None) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.gains: dict[int, float] = {}
        self.first_child: dict[int, int] = {}  # of the nodes that have been split

    def add(self, nodes: list[int], gains: list[float]) -> None:
        """Add nodes that may be split, and what their splits gain."""
        self.gains.update(zip(nodes, gains, strict=True))

    def note_children(self, level: tuple) -> None:
        """Note which nodes have been split."""
        column, first_child = level[:2]
        for node in np.flatnonzero(column >= 0).tolist():
            self.first_child[node] = int(first_child[node])

    def choose(self) -> set[int]:
        """Choose nodes to be split that have not been."""
        if self.max_leaf_nodes is None:
            return self.gains.keys() - self.first_child.keys()
        return self._list_chosen() - self.first_child.keys()

    def list_surplus(self) -> list[int]:
        """List the nodes that have been split and are not among those chosen last."""
        if self.max_leaf_nodes is None:
            return []
        return [*(self.first_child.keys() - self._list_chosen())]

    def _list_chosen(self):
        chosen, n_made = set(), 1
        heap = [(-self.gains[0], 0, 0)] if 0 in self.gains else []
        while heap and len(chosen) < self.max_leaf_nodes - 1:
            *_, node = heappop(heap)
            chosen.add(node)
            for child in range(2):
                below = self.first_child.get(node, -1) + child
                if node in self.first_child and below in self.gains:
                    heappush(heap, (-self.gains[below], n_made + child, below))
            n_made += 2
        return chosen


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
    table : EncodedTable or BlockTable
        The table, with at most 65535 distinct values per column, for example after
        binning. Over a `BlockTable` trees grow by levels only.
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
                f"values; there may be {MAX_CODES} of them. Set max_bins for a numeric "
                "column, or drop a text column with so many levels."
            )
        self.table, self.rules = table, rules
        self.target = Target(None, np.zeros((table.n_rows, 1)), np.ones(1, np.int64))
        settings = Settings(table, self.target, rules)
        self.smooths_levels = settings.smooths_levels
        has_rows = isinstance(table, EncodedTable)
        self._grower = GradientGrower(
            settings,
            ranks=table.ranks(n_threads) if has_rows else None,
            row_ranks=table.row_ranks(n_threads)[0] if has_rows else None,
            max_leaf_nodes=(rules.max_leaf_nodes or 0) if has_rows else 0,
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
        return GradientTree(self._make_tree(), leaf_of_row)

    def grow_by_levels(
        self,
        count: Callable,
        scale: tuple,
        random_state: int = 0,
        variance: float = 1.0,
    ) -> tuple[GrownTree, np.ndarray, np.ndarray]:
        """Grow a tree whose histograms are counted elsewhere.

        Parameters
        ----------
        count : callable
            ``count(level)`` sends the rows to the children of the nodes that a level
            has split, and sums up those in the slots of the level: see `count_level`.
            All rows start in node 0.
        scale : tuple
            That of the pairs that are summed up, by ``make_scale``.
        random_state : int, default=0
            Seed of the sampling of columns.
        variance : float, default=1.0
            Variance of the gradient of a row, per unit of its hessian.

        Returns
        -------
        tree : GrownTree
            That of :meth:`grow`, and nodes below ``surplus``.
        node_of : ndarray of int32
            What the numbers of nodes in the levels are in the tree.
        surplus : ndarray of bool, shape (node_count,)
            Nodes that have been split although other splits exhaust
            ``max_leaf_nodes``: to be made leaves.
        """
        grower = self._grower
        grower.start_levels(scale, count(ROOT_LEVEL)[0], random_state, variance)
        best_first = BestFirst(self.rules.max_leaf_nodes)
        while True:
            best_first.add(*grower.list_open())
            wanted = best_first.choose()
            if not wanted:
                break
            level = grower.split_level(wanted)
            best_first.note_children(level)
            histograms = count(level)
            if len(histograms) > 0:
                grower.search_level(histograms)
        node_of = grower.number_nodes()
        surplus = np.zeros(len(node_of), dtype=bool)
        surplus[node_of[best_first.list_surplus()]] = True
        return self._make_tree(), node_of, surplus

    def _make_tree(self):
        """Make the tree that has grown."""
        nodes, statistics, side_tables = self._grower.write_nodes()
        return GrownTree(
            nodes=nodes,
            statistics=statistics.reshape(len(nodes), 1, 1),
            **side_tables,
            n_features=self.table.n_columns,
            n_levels=self.table.schema.n_levels,
            n_classes=self.target.n_classes,
            is_classifier=False,
            handle_unknown=self.rules.handle_unknown,
        )

    def close(self) -> None:
        """End the threads."""
        self._grower.stop_threads()
