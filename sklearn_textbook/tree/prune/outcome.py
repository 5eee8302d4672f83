"""Results of pruning: the pruned tree, a report, and the sequence of subtrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sklearn_textbook._contract.table import Table
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.prune._subtree import count_branch_leaves, mark_kept
from sklearn_textbook.tree.prune.rebuild import cut_below

if TYPE_CHECKING:
    import pandas as pd


class PruningTable(Table):
    """A table of equal-length arrays by name.

    At most the first and last ten rows are printed.

    Parameters
    ----------
    **columns : dict of array
        The columns.

    Attributes
    ----------
    measure : str or None
        Name of the measure in the columns ``before`` and ``after`` of a report, such as
        "validation error".
    n_leaves_grown : int or None
        For a report, the number of leaves of the grown tree.

    Raises
    ------
    ValueError
        If the columns do not have the same number of rows.

    Examples
    --------
    >>> from sklearn_textbook.tree.prune import PruningTable
    >>> table = PruningTable(alpha=[0.0, 0.5], n_leaves=[3, 1])
    >>> table["n_leaves"]
    array([3, 1])
    >>> table
     alpha  n_leaves
         0         3
       0.5         1
    """

    measure = None
    n_leaves_grown = None

    def as_frame(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame."""
        frame = super().as_frame()
        if self.measure is not None:
            frame.attrs["measure"] = self.measure
        return frame

    def __str__(self):
        text = super().__str__()
        if self and self.measure is not None:
            text += f"\n before, after: {self.measure}"
        return text


def _make_table(columns):
    """Make a table of a pickle that was written before tables had a common class."""
    return PruningTable(**columns)


@dataclass(frozen=True, eq=False)
class PruningRecord:
    """Decisions of a pruner, in order.

    Parameters
    ----------
    measure : str
        Name of the measure ``before`` and ``after``, such as "validation error".
    node : ndarray of int, shape (n_steps,)
        Number of the node in the grown tree.
    decision : ndarray of str, shape (n_steps,)
        "pruned", "kept" or "raised".
    before, after : ndarray of float64, shape (n_steps,)
        The measure of the tree before the step, and its value if the node becomes a
        leaf (or, for pre-pruning, is split).
    extra : dict of ndarray
        Further columns.
    """

    measure: str
    node: np.ndarray
    decision: np.ndarray
    before: np.ndarray
    after: np.ndarray
    extra: dict = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PruningOutcome:
    """A pruned tree, the report and the sequence of subtrees.

    Parameters
    ----------
    tree : GrownTree
        The pruned tree; the same object as the grown one if no node was pruned.
    report : PruningTable
        One row for each node considered.
    path : PruningTable or None
        The subtrees among which one was chosen, if any.
    """

    tree: GrownTree
    report: PruningTable
    path: PruningTable | None = None


def number_kept(tree: GrownTree, is_cut: np.ndarray) -> np.ndarray:
    """Assign numbers to the nodes that remain after :func:`cut_below`."""
    is_kept = np.empty(tree.node_count, dtype=bool)
    mark_kept(tree.nodes, is_cut.view(np.uint8), is_kept.view(np.uint8))
    return np.where(is_kept, np.cumsum(is_kept) - 1, -1)


def build_report(
    tree: GrownTree, record: PruningRecord, new_number: np.ndarray
) -> PruningTable:
    """Build the report: the steps with the data of their nodes."""
    node = np.asarray(record.node, dtype=np.int64)
    nodes = tree.nodes[node]
    n_leaves = np.empty(tree.node_count, dtype=np.int64)
    count_branch_leaves(tree.nodes, n_leaves)
    tested = {"feature": nodes["feature"].astype(np.int64)}
    if len(tree.terms):
        tested["n_columns"] = _count_columns(tree)[node]
    table = PruningTable(
        node=node,
        tree_node=new_number[node],
        depth=tree.depth[node],
        **tested,
        decision=record.decision,
        before=record.before,
        after=record.after,
        **record.extra,
        n_samples=nodes["n_samples"].astype(np.int64),
        weight=nodes["weight"].copy(),
        n_leaves=n_leaves[node],
    )
    table.measure = record.measure
    table.n_leaves_grown = int(tree.n_leaves)
    return table


def _count_columns(tree):
    """Count the columns that each node tests."""
    node, feature = tree.terms["node"], tree.terms["feature"]
    # A nominal column has several terms, one after the other.
    is_first = np.append(True, (np.diff(node) != 0) | (np.diff(feature) != 0))
    n_columns = np.bincount(node[is_first], minlength=tree.node_count)
    return np.maximum(n_columns, ~tree.is_leaf)


def cut_and_report(
    tree: GrownTree,
    is_cut: np.ndarray,
    record: PruningRecord,
    path: PruningTable | None = None,
) -> PruningOutcome:
    """Cut off branches and build the report, the last step of most pruners."""
    is_cut = is_cut & (tree.nodes["n_children"] > 0)
    report = build_report(tree, record, number_kept(tree, is_cut))
    return PruningOutcome(cut_below(tree, is_cut), report, path)
