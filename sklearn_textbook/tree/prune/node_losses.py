"""What each node of a tree would lose on rows that the tree has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.prune._subtree import (
    LOSSES,
    add_node_losses,
    add_up_branches,
)


@dataclass(frozen=True, eq=False)
class NodeLosses:
    """Weighted losses of rows in the nodes of a tree; absolute, not per row.

    Each array has two columns: the loss and its square, both times the weight.

    Parameters
    ----------
    leaf : ndarray of float64, shape (node_count, 2)
        Of all rows that enter a node, if it were a leaf.
    stay : ndarray of float64, shape (node_count, 2)
        Of the rows that end in an inner node, since their missing value or unknown
        level has no branch there.
    branch : ndarray of float64, shape (node_count, 2)
        Of all rows that enter a node, with the branch below it as it is.
    total_weight : float
        Weight of all rows.
    """

    leaf: np.ndarray
    stay: np.ndarray
    branch: np.ndarray
    total_weight: float


def choose_loss(criterion):
    """Name the loss that a tree is judged by.

    Parameters
    ----------
    criterion : str
        The impurity that grew the tree.

    Returns
    -------
    str
        "error" for classes, "absolute_error" or "squared_error" for values.
    """
    if criterion in ("gini", "entropy", "log_loss", "error"):
        return "error"
    return "absolute_error" if criterion == "absolute_error" else "squared_error"


def decide_nodes(tree, choose_classes):
    """Find what each node predicts.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    choose_classes : callable or None
        As in :class:`TrainingData`; None: the first of the largest shares.

    Returns
    -------
    ndarray of float64, shape (node_count, n_outputs)
        Class numbers or values.
    """
    value = tree.value
    if not tree.is_classifier:
        return np.ascontiguousarray(value[:, :, 0])
    chosen = value.argmax(axis=2) if choose_classes is None else choose_classes(value)
    return np.ascontiguousarray(chosen, dtype=np.float64)


def measure_node_losses(tree, rows, data):
    """Send rows through a tree and measure what every node on the way would lose.

    A row that is divided among branches counts in each by its share.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    rows : Rows
        The rows.
    data : TrainingData
        Tells how rows are routed and what nodes decide.

    Returns
    -------
    NodeLosses
        The losses.

    Raises
    ------
    ValueError
        If the tree does not predict what the rows have, or a part of the rows has
        another length.

    Notes
    -----
    One pass of routing, then one step for each node that a row enters.
    """
    _check_rows(tree, rows)
    numbers, ends, shares = data.find_ends(tree, rows.matrix)
    target = rows.target
    y = target.codes if target.is_classifier else target.values
    leaf, stay = np.zeros((2, tree.node_count, 2))
    add_node_losses(
        tree.nodes,
        numbers,
        ends,
        shares,
        rows.weight,
        np.ascontiguousarray(y, dtype=np.float64),
        decide_nodes(tree, data.choose_classes),
        LOSSES[choose_loss(data.criterion)],
        leaf,
        stay,
    )
    branch = np.empty_like(leaf)
    add_up_branches(tree.nodes, leaf, stay, branch)
    total = rows.n_rows if rows.weight is None else rows.weight.sum()
    return NodeLosses(leaf, stay, branch, float(total))


def _check_rows(tree, rows):
    """Raise ValueError for rows that the kernel would read past the end of."""
    target, weight = rows.target, rows.weight
    if (target.is_classifier, target.n_outputs) != (tree.is_classifier, tree.n_outputs):
        raise ValueError(
            f"The rows have {target.n_outputs} outputs and is_classifier="
            f"{target.is_classifier}; the tree has {tree.n_outputs} and "
            f"{tree.is_classifier}."
        )
    n_weights = rows.n_rows if weight is None else len(weight)
    if rows.matrix.shape[0] != rows.n_rows or n_weights != rows.n_rows:
        raise ValueError(
            f"There are {rows.matrix.shape[0]} rows, {rows.n_rows} targets and "
            f"{n_weights} weights; they must be as many."
        )
