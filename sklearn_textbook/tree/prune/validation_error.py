"""Pruning decisions by the error on validation rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.prune._subtree import choose_bottom_up
from sklearn_textbook.tree.prune.node_losses import measure_node_losses
from sklearn_textbook.tree.prune.outcome import (
    PruningRecord,
    cut_and_report,
    number_kept,
)

MEASURE, MEASURE_OF_COSTS = "validation error", "validation cost"
TIES = ("prune", "keep")

# Costs that differ by at most this fraction of that of the root are equal, because of
# rounding in sums of fractional rows.
_SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class ValidationCosts:
    """Weighted losses of the validation rows in every node.

    Parameters
    ----------
    leaf : ndarray of float64, shape (node_count,)
        Loss of all rows that enter a node, as a leaf.
    stay : ndarray of float64, shape (node_count,)
        Loss of the rows that end in an inner node.
    branch : ndarray of float64, shape (node_count,)
        Loss of all rows that enter a node, predicted by its grown branch.
    total_weight : float
        Weight of all rows.
    """

    leaf: np.ndarray
    stay: np.ndarray
    branch: np.ndarray
    total_weight: float

    @property
    def slack(self):
        """Largest difference between equal costs."""
        return _SLACK * max(self.leaf[0], self.branch[0])


def has_weight(rows) -> bool:
    """Return whether there is a row of positive weight."""
    if rows is None or rows.n_rows == 0:
        return False
    return rows.weight is None or bool((rows.weight > 0).any())


def measure_costs(tree, data) -> ValidationCosts:
    """Compute the losses of the validation rows in the nodes of a tree."""
    losses = measure_node_losses(tree, data.validation, data)
    costs = (losses.leaf, losses.stay, losses.branch)
    return ValidationCosts(
        *(np.ascontiguousarray(cost[:, 0]) for cost in costs), losses.total_weight
    )


def cut_bottom_up(tree, data, tie: str):
    """Prune every node whose error as a leaf is smaller, from the leaves upwards."""
    costs = measure_costs(tree, data)
    is_cut = np.empty(tree.node_count, dtype=bool)
    branch = np.empty(tree.node_count)
    choose_bottom_up(
        tree.nodes,
        costs.leaf,
        costs.stay,
        costs.slack,
        tie == "prune",
        is_cut.view(np.uint8),
        branch,
    )
    node = np.flatnonzero(tree.nodes["n_children"] > 0)
    node = node[np.argsort(-tree.depth[node], kind="stable")]
    change = costs.leaf[node] - branch[node]
    before, after = _follow(costs, costs.branch[0], change, is_cut[node])
    decision = np.where(is_cut[node], "pruned", "kept")
    measure = MEASURE if data.costs is None else MEASURE_OF_COSTS
    record = PruningRecord(measure, node, decision, before, after)
    return cut_and_report(tree, is_cut, record)


def cut_top_down(tree, data, tie: str):
    """Keep every split that lowers the error, from the root downwards."""
    costs = measure_costs(tree, data)
    parent = tree.nodes["parent"][1:]
    below = np.bincount(parent, costs.leaf[1:], minlength=tree.node_count)
    change = costs.stay + below - costs.leaf
    is_inner = tree.nodes["n_children"] > 0
    if tie == "prune":
        is_divided = is_inner & (change < -costs.slack)
    else:
        is_divided = is_inner & (change <= costs.slack)
    is_reached = number_kept(tree, is_inner & ~is_divided) >= 0
    is_cut = is_inner & ~is_divided & is_reached
    node = np.flatnonzero(is_inner & is_reached)
    before, after = _follow(costs, costs.leaf[0], change[node], is_divided[node])
    decision = np.where(is_divided[node], "kept", "pruned")
    measure = MEASURE if data.costs is None else MEASURE_OF_COSTS
    record = PruningRecord(measure, node, decision, before, after)
    return cut_and_report(tree, is_cut, record)


def leave_whole(tree):
    """Return the tree unchanged, for members without validation rows."""
    nothing = np.empty(0)
    record = PruningRecord(
        MEASURE, np.empty(0, np.int64), np.empty(0, "U6"), nothing, nothing
    )
    return cut_and_report(tree, np.zeros(tree.node_count, dtype=bool), record)


def _follow(costs, start, change, is_done):
    """Return the error of the whole tree before and after every step."""
    done = np.where(is_done, change, 0.0)
    before = start + np.concatenate([[0.0], np.cumsum(done)[:-1]])
    before = before[: len(done)]
    # Sums of fractions may be slightly negative.
    errors = np.maximum(np.stack([before, before + change]), 0.0)
    return errors / costs.total_weight
