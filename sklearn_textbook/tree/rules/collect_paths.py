"""The paths of a grown tree from the root to its leaves, and the tests on them.

The test of a branch is identified by the number of the node it leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.grow.layout import LEAF, NOMINAL

#: numpy dtype of the struct in ``_cover.pxd``.
TEST_DTYPE = np.dtype(
    [
        ("threshold", np.float64),
        ("map_start", np.int64),
        ("column", np.int32),
        ("kind", np.int32),
        ("branch", np.int32),
    ],
    align=True,
)

#: Class weights, which may be sums of fractions, are equal up to this difference.
SAME_WEIGHT = 1e-6


@dataclass(frozen=True)
class Paths:
    """Paths to the leaves that have training rows, from left to right.

    Parameters
    ----------
    start : ndarray of int64, shape (n_paths + 1,)
        Where each path starts in ``nodes``.
    nodes : ndarray of int32
        The nodes of each path, from below the root to the leaf.
    path_class : ndarray of int32, shape (n_paths,)
        Most frequent class of each leaf.
    rank : ndarray of int64, shape (node_count,)
        Position of every node in depth-first order.
    """

    start: np.ndarray
    nodes: np.ndarray
    path_class: np.ndarray
    rank: np.ndarray

    def __len__(self) -> int:
        return len(self.path_class)


def collect_tests(tree) -> np.ndarray:
    """List the test of every branch of a tree."""
    nodes = tree.nodes
    tests = np.zeros(len(nodes), dtype=TEST_DTYPE)
    parent = nodes[np.maximum(nodes["parent"], 0)]
    for name in ("threshold", "map_start", "kind"):
        tests[name] = parent[name]
    tests["column"] = parent["feature"]
    tests["branch"] = np.arange(len(nodes)) - parent["first_child"]
    return tests


def collect_paths(tree) -> Paths:
    """List the paths to all leaves of a classification tree that have training rows."""
    nodes = tree.nodes
    kind, first = nodes["kind"].tolist(), nodes["first_child"].tolist()
    n_children, weight = nodes["n_children"].tolist(), nodes["weight"].tolist()
    rank = np.empty(len(nodes), dtype=np.int64)
    lengths, flat, leaves = [], [], []
    path, stack, n_visited = [], [(0, 0)], 0
    while stack:
        node, depth = stack.pop()
        rank[node] = n_visited
        n_visited += 1
        path[depth - 1 :] = [node] if depth else []
        if kind[node] != LEAF:
            children = range(first[node], first[node] + n_children[node])
            stack.extend((child, depth + 1) for child in reversed(children))
        elif path and weight[node] > 0.0:
            leaves.append(node)
            lengths.append(depth)
            flat.extend(path)
    return Paths(
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        nodes=np.array(flat, dtype=np.int32),
        path_class=_find_majority(tree.statistics[leaves, 0]),
        rank=rank,
    )


def _find_majority(class_weights):
    """Return the class with the largest weight in each row, ties to the first."""
    majority = np.zeros(len(class_weights), dtype=np.int32)
    largest = np.zeros(len(class_weights))
    for number, weight in enumerate(class_weights.T):
        is_larger = weight - largest > SAME_WEIGHT
        majority[is_larger] = number
        largest[is_larger] = weight[is_larger]
    return majority


class AcceptedLevels:
    """The levels that satisfy the nominal tests of a tree.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    """

    def __init__(self, tree) -> None:
        self.tree = tree
        self._divided = {}

    def find(self, node):
        """Return the codes of the levels that go from its parent to a node."""
        parent = int(self.tree.nodes["parent"][node])
        record = self.tree.nodes[parent]
        if parent not in self._divided:
            # All children of a parent at once, since there may be as many as levels.
            children = self.tree.read_level_map(record)
            codes = np.argsort(children, kind="stable").astype(np.int32)
            branches = np.arange(record["n_children"] + 1)
            self._divided[parent] = codes, np.searchsorted(children[codes], branches)
        codes, start = self._divided[parent]
        branch = node - int(record["first_child"])
        return codes[start[branch] : start[branch + 1]]


def write_signature(accepted_levels: AcceptedLevels, nodes: Sequence[int]) -> tuple:
    """Return a signature of the tests of a rule, the same for equivalent rules."""
    tree = accepted_levels.tree
    demands = {}
    for node in nodes:
        parent = tree.nodes[tree.nodes["parent"][node]]
        column = int(parent["feature"])
        if parent["kind"] == NOMINAL:
            accepted = accepted_levels.find(node)
            known = demands.get(column, accepted)
            demands[column] = np.intersect1d(known, accepted, assume_unique=True)
            continue
        threshold = float(parent["threshold"])
        low, high = demands.get(column, (-np.inf, np.inf))
        if node == parent["first_child"]:
            high = min(high, threshold)
        else:
            low = max(low, threshold)
        demands[column] = (low, high)
    return tuple(
        (column, demand if isinstance(demand, tuple) else demand.tobytes())
        for column, demand in sorted(demands.items(), key=lambda item: item[0])
    )
