"""Trees with one split, made from a given split."""

from __future__ import annotations

from copy import copy

import numpy as np

from sklearn_textbook.tree.encode import NOMINAL, ORDINAL
from sklearn_textbook.tree.grow import layout
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.members.grower import decides_by_largest_fraction
from sklearn_textbook.tree.route import RoutedTree

#: Kinds of columns in ``describe_stump``.
_NUMBERS = {layout.NUMERIC: 0, layout.ORDINAL: 1, layout.NOMINAL: 2}
_KINDS = {NOMINAL: layout.NOMINAL, ORDINAL: layout.ORDINAL}


class StumpBuilder:
    """Builds decision stumps (决策树桩) over a table.

    Parameters
    ----------
    grower : MemberGrower
        Grower with the table; its template is a ``CARTClassifier``.
    """

    def __init__(self, grower) -> None:
        self.grower = grower
        reader, rows = grower.reader, grower.rows
        # Sets the attributes on the reader that fitting sets.
        reader._resolve_rules(grower.table, rows.target, None, grower.n_rows)
        self.n_levels = grower.table.schema.n_levels

    def build(self, found: dict, random_state: int = 0):
        """Make the stump of a split."""
        member = copy(self.grower.reader)
        member.random_state = random_state
        is_leaf = found["column"] < 0
        weights = found["weights"][:1] if is_leaf else found["weights"]
        n_rows = found["n_rows"][:1] if is_leaf else found["n_rows"]
        level_branch = np.empty(0, dtype=np.int32)
        if not is_leaf:
            weights = np.vstack([weights.sum(axis=0), weights])
            n_rows = np.array([n_rows.sum(), *n_rows])
        nodes = self._write_leaves(weights, n_rows)
        if not is_leaf:
            level_branch = self._write_root(nodes, found)
        tree = GrownTree(
            nodes=nodes,
            statistics=weights[:, np.newaxis].copy(),
            n_features=self.grower.n_columns,
            n_levels=self.n_levels,
            n_classes=self.grower.rows.target.n_classes,
            is_classifier=True,
            level_branch=level_branch,
            handle_unknown=member.handle_unknown,
        )
        member.tree_ = RoutedTree.from_grown(tree)
        return member

    def _write_leaves(self, weights, n_rows):
        """Write the records of nodes without splits."""
        nodes = np.zeros(len(weights), dtype=layout.NODE_DTYPE)
        for name in ("first_child", "parent", "map_start", "missing_branch"):
            nodes[name] = -1
        nodes["feature"], nodes["threshold"] = layout.TREE_UNDEFINED, -2.0
        nodes["n_samples"] = n_rows
        nodes["weight"] = total = weights.sum(axis=1)
        is_pure = np.count_nonzero(weights, axis=1) == 1
        nodes["impurity"] = np.where(is_pure, 0.0, 1.0 - weights.max(axis=1) / total)
        return nodes

    def _write_root(self, nodes, found):
        """Write the split into the root; return the level map of a nominal split."""
        root, children, column = nodes[0], nodes[1:], found["column"]
        table = self.grower.table
        root["first_child"], root["n_children"], children["parent"] = 1, 2, 0
        root["feature"] = column
        root["kind"] = _KINDS.get(table.schema.kinds[column], layout.NUMERIC)
        root["missing_branch"] = found["missing_child"]
        lost = children["weight"] @ children["impurity"] / root["weight"]
        root["improvement"] = root["impurity"] - lost
        if found["level_child"] is None:
            root["threshold"] = found["threshold"]
            return np.empty(0, dtype=np.int32)
        root["map_start"], root["threshold"] = 0, np.nan
        codes, n_levels = table.column_values(column), self.n_levels[column]
        return _write_map(codes, found["level_child"], n_levels)


def describe_stump(member) -> dict | None:
    """Describe a tree with one binary test by the classes that it predicts."""
    tree = member.tree_
    if tree.node_count not in (1, 3) or not decides_by_largest_fraction(member):
        return None
    root, classes = tree.nodes[0], tree.statistics[:, 0].argmax(axis=1)
    if tree.n_outputs > 1 or tree.node_count == 1:
        is_leaf = tree.n_outputs == 1
        return {"column": -1, "root": classes[0]} if is_leaf else None
    is_plain = tree.handle_unknown == "parent" and len(tree.surrogates) == 0
    if (
        root["kind"] not in _NUMBERS
        or not is_plain
        or root["missing_branch"] < layout.STAY
    ):
        return None
    column, says = int(root["feature"]), classes[1:]
    if root["kind"] == layout.NOMINAL:
        # -1, the code of a level never seen, is the last index.
        says = np.append(says, classes[0])[tree.read_level_map(root)]
    return {
        "column": column,
        "kind": _NUMBERS[int(root["kind"])],
        "threshold": float(root["threshold"]),
        "n_levels": int(tree.n_levels[column]),
        "says": says,
        "root": classes[0],
        "missing": np.append(classes[1:], classes[0])[root["missing_branch"]],
    }


def _write_map(codes, children, n_levels):
    """Write a level map in the shorter of its forms; see level_map.py."""
    is_known = children >= 0
    codes, children = codes[is_known].astype(np.int32), children[is_known]
    if 2 * len(codes) < n_levels:
        pieces = [[len(codes)], codes, children]
    else:
        dense = np.full(n_levels, -1, dtype=np.int32)
        dense[codes] = children
        pieces = [[layout.DENSE_MAP], dense]
    return np.concatenate(pieces).astype(np.int32)
