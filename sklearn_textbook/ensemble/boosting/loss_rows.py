"""Checks of the arrays passed to losses, and sums by node."""

from __future__ import annotations

import numpy as np


def check_rows(n_scores, y, raw, weight, *outputs):
    """Require arrays that belong together.

    Parameters
    ----------
    n_scores : int
        Number of raw scores per row.
    y : ndarray of float64, shape (n_rows,)
        Targets.
    raw : ndarray of float64, shape (n_scores, n_rows)
        Raw scores.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights.
    *outputs : ndarray of shape (n_scores, n_rows) or None
        What is to be filled.

    Raises
    ------
    ValueError
        If there is no row, or if a shape is another.
    """
    shape = (n_scores, len(y))
    if shape[1] == 0:
        raise ValueError("y has no rows.")
    for name, array in zip(
        ("raw", "gradient", "hessian"), (raw, *outputs), strict=False
    ):
        if array is not None and array.shape != shape:
            raise ValueError(
                f"{name} must have shape {shape}, for {shape[0]} raw scores per row "
                f"and {shape[1]} rows; got {array.shape}."
            )
    if weight is not None and weight.shape != shape[1:]:
        raise ValueError(f"weight must have shape {shape[1:]}, got {weight.shape}.")


def sum_by_node(values, leaf_of_row, n_nodes):
    """Add up the values of the rows of each node.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        One value per row.
    leaf_of_row : ndarray of int, shape (n_rows,)
        Node of each row; negative: none.
    n_nodes : int
        Number of nodes.

    Returns
    -------
    sums : ndarray of float64, shape (n_nodes,)
        The rows are added in their order.
    """
    places = leaf_of_row.astype(np.intp) + 1
    return np.bincount(np.maximum(places, 0), values, n_nodes + 1)[1:]


def check_leaves(leaf_of_row, n_rows, n_nodes):
    """Require a node for each row.

    Parameters
    ----------
    leaf_of_row : ndarray of int, shape (n_rows,)
        Node of each row; negative: none.
    n_rows : int
        Number of rows.
    n_nodes : int
        Number of nodes.

    Returns
    -------
    leaf_of_row : ndarray of int32, shape (n_rows,)
        The same.

    Raises
    ------
    ValueError
        If a row is in no node that there is.
    """
    if leaf_of_row.shape != (n_rows,):
        raise ValueError(
            f"leaf_of_row must have shape ({n_rows},), got {leaf_of_row.shape}."
        )
    row = int(np.argmax(leaf_of_row))
    if leaf_of_row[row] >= n_nodes:
        raise ValueError(
            f"leaf_of_row must be below n_nodes={n_nodes}, got {leaf_of_row[row]} in "
            f"row {row}."
        )
    return np.ascontiguousarray(leaf_of_row, dtype=np.int32)
