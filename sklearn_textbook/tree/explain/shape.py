"""Sizes of the subtrees of a tree."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np


class Below(NamedTuple):
    """Size of the subtree of each node.

    Parameters
    ----------
    n_leaves : ndarray of int64, shape (node_count,)
        Leaves of the subtree; 1 for a leaf.
    n_nodes : ndarray of int64, shape (node_count,)
        Nodes of the subtree without its root; 0 for a leaf.
    n_levels : ndarray of int64, shape (node_count,)
        Levels below the node; 0 for a leaf.
    """

    n_leaves: np.ndarray
    n_nodes: np.ndarray
    n_levels: np.ndarray


def count_below(tree) -> Below:
    """Count the leaves, nodes and levels of every subtree."""
    parents = tree.nodes["parent"].tolist()
    leaves = tree.is_leaf.astype(np.int64).tolist()
    nodes, levels = [0] * len(parents), [0] * len(parents)
    # Children have larger numbers than their parent, so they are processed first.
    for node in range(len(parents) - 1, 0, -1):
        parent = parents[node]
        leaves[parent] += leaves[node]
        nodes[parent] += nodes[node] + 1
        levels[parent] = max(levels[parent], levels[node] + 1)
    return Below(np.array(leaves), np.array(nodes), np.array(levels))


def check_root(root, tree) -> None:
    """Require the number of a node."""
    is_number = isinstance(root, Integral) and not isinstance(root, bool)
    if not is_number or not 0 <= root < tree.node_count:
        raise ValueError(
            f"root must be a node number from 0 to {tree.node_count - 1}, got {root!r}."
        )


def list_subtree(tree, root: int) -> list[np.ndarray]:
    """List the nodes below a node by level, the node itself first."""
    first, count = tree.nodes["first_child"], tree.nodes["n_children"]
    levels = [np.array([root], dtype=np.int64)]
    while True:
        parents = levels[-1][count[levels[-1]] > 0]
        if len(parents) == 0:
            return levels
        children = [np.arange(first[p], first[p] + count[p]) for p in parents]
        levels.append(np.concatenate(children).astype(np.int64))
