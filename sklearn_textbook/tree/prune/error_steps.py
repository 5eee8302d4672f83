"""Error-based pruning from the counts of the nodes, and the report on it."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.layout import LEAF
from sklearn_textbook.tree.prune._error_based import (
    DECISIONS,
    ENTRY_DTYPE,
    add_up_estimates,
    estimate_nodes,
)
from sklearn_textbook.tree.prune._subtree import mark_kept
from sklearn_textbook.tree.prune.outcome import PruningRecord, build_report

_WORDS = np.array(sorted(DECISIONS, key=DECISIONS.get))


class ErrorEstimates:
    """Estimated errors of every node of a grown tree.

    Parameters
    ----------
    tree : GrownTree
        A classification tree of one output.
    confidence : tuple of float
        The result of ``measure_confidence``.

    Attributes
    ----------
    leaf : ndarray of float64, shape (node_count,)
        Errors of each node as a leaf.
    rest : ndarray of float64, shape (node_count,)
        Errors of the rows of an inner node that are in no branch.
    branch : ndarray of float64, shape (node_count,)
        Errors of the branch of each node.
    """

    def __init__(self, tree, confidence):
        self.tree = tree
        self.leaf, self.rest = np.empty((2, tree.node_count))
        estimate_nodes(
            tree.nodes, tree.statistics[:, 0], confidence, self.leaf, self.rest
        )
        no_leaf = np.zeros(tree.node_count, dtype=bool)
        self.branch, _ = self._add_up(no_leaf, prunes=False)

    def _add_up(self, is_leaf, *, prunes):
        """Return the estimate of each branch, and the nodes to make leaves."""
        branch = np.empty(self.tree.node_count)
        is_cut = np.empty(self.tree.node_count, dtype=bool)
        add_up_estimates(
            self.tree.nodes,
            self.leaf,
            self.rest,
            is_leaf.view(np.uint8),
            prunes,
            branch,
            is_cut.view(np.uint8),
        )
        return branch, is_cut

    def list_collapsed(self, collapsed):
        """List the nodes that are collapsed, from the top of the tree downwards.

        Parameters
        ----------
        collapsed : ndarray of bool, shape (node_count,)
            The inner nodes that become leaves; those below another one are ignored.

        Returns
        -------
        ndarray of ENTRY_DTYPE
            The steps.
        """
        node = np.flatnonzero(collapsed & self._find_standing(collapsed))
        return self._make_steps(node, np.ones(len(node), bool), self.branch)

    def prune_upwards(self, collapsed):
        """Prune nodes from the bottom upwards, without using rows.

        Parameters
        ----------
        collapsed : ndarray of bool, shape (node_count,)
            The inner nodes that are collapsed before pruning.

        Returns
        -------
        is_cut : ndarray of bool, shape (node_count,)
            The nodes that become leaves, and those of ``collapsed``.
        steps : ndarray of ENTRY_DTYPE
            The decisions, the last node first.
        """
        branch, is_cut = self._add_up(collapsed, prunes=True)
        is_inner = self.tree.nodes["kind"] != LEAF
        is_open = is_inner & ~collapsed & self._find_standing(collapsed)
        node = np.flatnonzero(is_open)[::-1]
        return is_cut, self._make_steps(node, is_cut[node], branch)

    def _find_standing(self, is_cut):
        """Return a mask of the nodes without an ancestor in a given mask."""
        is_standing = np.empty(self.tree.node_count, dtype=bool)
        mark_kept(self.tree.nodes, is_cut.view(np.uint8), is_standing.view(np.uint8))
        return is_standing

    def _make_steps(self, node, is_pruned, branch):
        steps = np.empty(len(node), dtype=ENTRY_DTYPE)
        steps["slot"] = steps["node"] = node
        steps["raised"] = -1
        steps["decision"] = np.where(is_pruned, DECISIONS["pruned"], DECISIONS["kept"])
        steps["before"], steps["after"] = branch[node], self.leaf[node]
        return steps


def number_places(tree, places, steps):
    """Assign numbers to the remaining nodes, some of which replaced another one.

    Parameters
    ----------
    tree : GrownTree
        The tree as it was grown.
    places : ndarray of int32
        For every node of the pruned tree its position in the grown tree.
    steps : ndarray of ENTRY_DTYPE
        The decisions.

    Returns
    -------
    ndarray of int64, shape (node_count,)
        The number of each node in the pruned tree; -1 for removed nodes.
    """
    occupant = np.arange(tree.node_count)
    raised = steps[steps["decision"] == DECISIONS["raised"]]
    # The last node raised to a position stays there.
    for step in raised:
        occupant[step["slot"]] = step["raised"]
    number = np.full(tree.node_count, -1, dtype=np.int64)
    number[occupant[places]] = np.arange(len(places))
    return number


def report_errors(tree, steps, n_collapsed, total, new_number):
    """Report on the steps of error-based pruning.

    Parameters
    ----------
    tree : GrownTree
        The tree as it was grown.
    steps : ndarray of ENTRY_DTYPE
        The decisions.
    n_collapsed : int
        Number of decisions, at the beginning, that collapsed a node.
    total : float
        Estimated errors of the whole tree before the first step.
    new_number : ndarray of int64, shape (node_count,)
        Number of each node in the pruned tree; -1 for removed nodes.

    Returns
    -------
    PruningTable
        See ``prune_grown`` of ``ErrorBasedPruning``.
    """
    change = steps["after"] - steps["before"]
    is_done = steps["decision"] != DECISIONS["kept"]
    after = total + np.cumsum(np.where(is_done, change, 0.0))
    before = np.concatenate([[total], after])[:-1]
    record = PruningRecord(
        "estimated errors",
        steps["node"],
        _WORDS[steps["decision"]],
        before,
        np.where(is_done, after, before + change),
        {
            "raised_node": steps["raised"].astype(np.int64),
            "collapsed": np.arange(len(steps)) < n_collapsed,
        },
    )
    return build_report(tree, record, new_number)
