"""Loss of each node of a tree as a leaf: on its training rows, and on other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook.tree.prune._subtree import (
    LOSSES,
    add_node_losses,
    add_up_branches,
)
from sklearn_textbook.tree.route import predict_in_nodes

RISKS = ("impurity", "error")
#: Costs that differ by at most this fraction of the cost of the root are equal.
SAME = 1e-12


def measure_node_risks(
    tree, risk: str, cost_matrix: np.ndarray | None = None
) -> np.ndarray:
    """Compute the cost of every node as a leaf, not divided by the total weight.

    Integer weights give integer numbers of errors, so that ties are exact.
    """
    check_choice("risk", risk, RISKS)
    if risk == "impurity":
        return tree.nodes["weight"] * tree.nodes["impurity"]
    if not tree.is_classifier:
        raise ValueError(
            "risk='error' counts misclassified rows, but this is a regression tree; "
            "use risk='impurity'."
        )
    fractions = tree.statistics
    if cost_matrix is None:
        errors = (fractions.sum(axis=2) - fractions.max(axis=2)).mean(axis=1)
    else:
        errors = (fractions[:, 0] @ cost_matrix).min(axis=1)
    # A branch without rows has the distribution of its parent.
    return np.where(tree.nodes["weight"] > 0, errors, 0.0)


@dataclass(frozen=True, eq=False)
class NodeLosses:
    """Weighted sums of the losses of rows in the nodes of a tree.

    Each array has two columns: the loss and its square, both times the weight.

    Parameters
    ----------
    leaf : ndarray of float64, shape (node_count, 2)
        Loss of all rows that enter a node, as a leaf.
    stay : ndarray of float64, shape (node_count, 2)
        Loss of the rows that end in an inner node because their missing value or unseen
        level has no branch there.
    branch : ndarray of float64, shape (node_count, 2)
        Loss of all rows that enter a node, predicted by its branch.
    total_weight : float
        Weight of all rows.
    """

    leaf: np.ndarray
    stay: np.ndarray
    branch: np.ndarray
    total_weight: float


def choose_loss(criterion: str) -> str:
    """Return the name of the loss for validating a tree."""
    if criterion in ("gini", "entropy", "log_loss", "error"):
        return "error"
    return "absolute_error" if criterion == "absolute_error" else "squared_error"


def decide_nodes(tree, choose_classes: Callable | None) -> np.ndarray:
    """Return the prediction of each node."""
    value = tree.value
    if not tree.is_classifier:
        return np.ascontiguousarray(value[:, :, 0])
    chosen = value.argmax(axis=2) if choose_classes is None else choose_classes(value)
    return np.ascontiguousarray(chosen, dtype=np.float64)


def tabulate_gini(tree) -> np.ndarray:
    r"""Compute the loss :math:`\sum_k (1[y = k] - p_k)^2` of classes in all nodes."""
    fractions = tree.value
    losses = 1.0 - 2.0 * fractions + (fractions**2).sum(axis=2, keepdims=True)
    return np.ascontiguousarray(losses.reshape(len(fractions), -1))


def tabulate_costs(tree, data) -> np.ndarray:
    """Look up the costs of the class that each node predicts, by true class."""
    chosen = decide_nodes(tree, data.choose_classes)[:, 0].astype(np.intp)
    return np.ascontiguousarray(data.costs[:, chosen].T)


def measure_node_losses(
    tree, rows, data, losses: tuple[str, ...] | None = None
) -> NodeLosses | list[NodeLosses]:
    """Route rows through a tree and compute the loss of every node on their paths.

    A row that is divided among branches counts in each with its fraction. The loss
    "error" is the cost of the error if errors have costs.

    Rows are routed once; then there is one step per row and node on its path.
    """
    _check_rows(tree, rows)
    numbers, ends, fractions = data.find_ends(tree, rows.matrix)
    target = rows.target
    y = target.codes if target.is_classifier else target.values
    y = np.ascontiguousarray(y, dtype=np.float64)
    total = float(rows.n_rows if rows.weight is None else rows.weight.sum())
    measured = []
    for name in losses or (choose_loss(data.criterion),):
        loss = LOSSES[name]
        if name == "gini":
            decisions = tabulate_gini(tree)
        elif name == "error" and data.costs is not None:
            decisions, loss = tabulate_costs(tree, data), LOSSES["gini"]
        else:
            decisions = decide_nodes(tree, data.choose_classes)
        leaf, stay = np.zeros((2, tree.node_count, 2))
        if len(tree.slopes):
            _add_equation_losses(tree, rows, numbers, ends, fractions, leaf, stay)
        else:
            add_node_losses(
                *(tree.nodes, numbers, ends, fractions, rows.weight, y, decisions),
                *(loss, leaf, stay),
            )
        branch = np.empty_like(leaf)
        add_up_branches(tree.nodes, leaf, stay, branch)
        measured.append(NodeLosses(leaf, stay, branch, total))
    return measured[0] if losses is None else measured


def take_dense(rows, numbers: np.ndarray) -> np.ndarray:
    """Return some rows of the table as a dense array."""
    matrix = rows.matrix[numbers]
    return matrix.toarray() if issparse(matrix) else matrix


def _add_equation_losses(tree, rows, numbers, ends, fractions, leaf, stay) -> None:
    """Add the squared error of the equations of all nodes that each row enters."""
    parent = tree.nodes["parent"]
    is_inner = tree.nodes["n_children"] > 0
    nodes, is_end = ends, True
    while len(nodes):
        predicted = predict_in_nodes(tree, take_dense(rows, numbers), nodes)
        residual = rows.target.values[numbers, 0] - predicted
        part = fractions if rows.weight is None else fractions * rows.weight[numbers]
        for power in (0, 1):
            loss = part * residual ** (2 * power + 2)
            leaf[:, power] += np.bincount(nodes, loss, tree.node_count)
            if is_end:
                stays = is_inner[nodes]
                stay[:, power] += np.bincount(
                    nodes[stays], loss[stays], tree.node_count
                )
        nodes, is_end = parent[nodes], False
        goes_on = np.flatnonzero(nodes >= 0)
        nodes, numbers, fractions = nodes[goes_on], numbers[goes_on], fractions[goes_on]


def _check_rows(tree, rows) -> None:
    """Raise ValueError for wrong lengths, which the kernel does not check."""
    target, weight = rows.target, rows.weight
    if (target.is_classifier, target.n_outputs) != (tree.is_classifier, tree.n_outputs):
        raise ValueError(
            f"The tree has n_outputs={tree.n_outputs} and is_classifier="
            f"{tree.is_classifier}, but the rows have n_outputs={target.n_outputs} and "
            f"is_classifier={target.is_classifier}."
        )
    n_weights = rows.n_rows if weight is None else len(weight)
    if rows.matrix.shape[0] != rows.n_rows or n_weights != rows.n_rows:
        raise ValueError(
            "rows, targets and weights must have the same length, got "
            f"{rows.matrix.shape[0]}, {rows.n_rows} and {n_weights}."
        )
