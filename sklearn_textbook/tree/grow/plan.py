"""What many trees over one table have in common, prepared once."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow._listed_engine import RowsGrower
from sklearn_textbook.tree.grow._row_list_engine import ListGrower
from sklearn_textbook.tree.grow.grow import (
    SCANS,
    choose_engine,
    counts_two_classes,
    describe_cells,
    describe_entropy,
    describe_gain,
    describe_ranks,
    describe_rows,
    describe_rules,
    describe_table,
    grow_tree,
    is_root_leaf,
)
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import RecordRoom
from sklearn_textbook.tree.grow.storage import store_columns
from sklearn_textbook.tree.grow.target import measure_counts

LISTED_TYPES = (np.int32, np.int64, np.float64)


class GrowthPlan:
    """Grows many trees over one table, as ``grow_tree`` grows one.

    The description of the table and of the rules is made once, and the memory of a
    grown tree serves the next one: pages that nobody has touched yet are dear.

    Parameters
    ----------
    table : EncodedTable
        The table. If its ranks are there (``table.ranks()``), they are used where that
        is faster; see ``choose_engine``.
    target : Target
        Classes or values of all rows.
    rules : GrowthRules
        How the trees are grown.
    compacted_nodes : int, default=None
        Trees with so many nodes are given in their short form, see
        :meth:`GrownTree.compact`; None: no tree is.
    n_threads : int, default=1
        Number of threads that prepare.
    """

    def __init__(self, table, target, rules, compacted_nodes=None, n_threads=1):
        self.table = table
        self.compacted_nodes = compacted_nodes
        self.target = target
        self.rules = rules
        self._growers = []  # not at work
        self._settings = None
        self._engine = ListGrower
        if choose_engine(table, target, rules, None) != "row-list":
            return
        self._settings = {
            **describe_table(table, rules),
            **describe_rows(target, None, None),
            **describe_rules(rules, table.n_columns),
            "scan": SCANS["general"],
            "entropy_table": None,
            "total_weight": 0.0,
            "gain": describe_gain(table, rules.gain, target, None),
            "all_labels": target.codes,
            "all_values": target.values,
        }
        if counts_two_classes(table, target, rules):
            self._settings |= describe_ranks(table, n_threads)
            self._settings["scan"] = SCANS["binary"]
        else:
            self._settings |= describe_cells(table, rules, n_threads)
            self._engine = RowsGrower

    def grow(self, weight=None, random_state=0, n_threads=1):
        """Grow a tree; several threads may do so at the same time.

        Parameters
        ----------
        weight : ndarray of int or float, shape (n_rows,), default=None
            Weights of the rows; rows of weight 0 take no part.
        random_state : int, default=0
            Seed of all random choices.
        n_threads : int, default=1
            Number of threads; a list of rows has one.

        Returns
        -------
        tree : GrownTree
            The same as that of ``grow_tree``.
        """
        if self._settings is not None:
            tree = self._grow_from_list(weight, random_state)
            if tree is not None:
                return tree
        if weight is not None:
            weight = np.asarray(weight, dtype=np.float64)
        tree = grow_tree(
            self.table,
            self.target,
            self.rules,
            sample_weight=weight,
            random_state=random_state,
            n_threads=n_threads,
        )
        return tree.compact() if self._is_compacted(tree.node_count) else tree

    def _is_compacted(self, n_nodes):
        return self.compacted_nodes is not None and n_nodes >= self.compacted_nodes

    def _grow_from_list(self, weight, random_state):
        """Grow a tree from a list of rows; None if the weights do not fit into it."""
        if weight is not None:
            dtype = weight.dtype if weight.dtype in LISTED_TYPES else np.float64
            weight = np.ascontiguousarray(weight, dtype=dtype)
        try:
            grower, room = self._growers.pop()
        except IndexError:
            grower, room = self._engine(self._settings), RecordRoom()
        totals = grower.list_rows(weight)
        tree = None
        if totals is not None:
            describe = self._describe_root
            if self._engine is ListGrower:
                describe = self._describe_binary_root
            root = describe(totals) | {"random_state": random_state}
            tree = self._read_tree(grower, room, grower.grow(root))
        self._growers.append((grower, room))
        return tree

    def _read_tree(self, grower, room, n_nodes):
        """Read the tree that a grower has grown, in the form that is asked for."""
        if not self._is_compacted(n_nodes):
            return own_records(self._make_tree(*grower.write_nodes(room.lend)))
        columns = grower.read_short_columns()
        stored = None if columns is None else store_columns(columns)
        if stored is not None:
            return GrownTree.from_stored(stored, **self._describe_tree())
        # What was lent does for the short form, and goes to the next tree.
        return self._make_tree(*grower.write_nodes(room.lend)).compact()

    def _make_tree(self, nodes, statistics, level_branch, surrogates):
        return GrownTree(
            nodes=nodes,
            statistics=statistics[:, np.newaxis, :],
            level_branch=level_branch,
            surrogates=surrogates,
            **self._describe_tree(),
        )

    def _describe_tree(self):
        """Describe what all trees share."""
        return {
            "n_features": self.table.n_columns,
            "n_levels": self._settings["n_levels"],
            "n_classes": self.target.n_classes,
            "is_classifier": self.target.is_classifier,
            "unseen": self.rules.unseen,
        }

    def _describe_binary_root(self, totals):
        """Describe the root of a tree from the sums over its rows."""
        n_rows, total_weight, ones = totals
        counts = np.array([total_weight - ones, ones], dtype=np.float64)
        return self._describe_root(
            {
                "n_rows": n_rows,
                "total_weight": float(total_weight),
                "root_statistics": counts,
            }
        )

    def _describe_root(self, root):
        """Describe the same from what a ``RowsGrower`` tells of the rows."""
        total_weight, criterion = root["total_weight"], self.rules.criterion
        if self.target.is_classifier:
            impurity, is_pure = measure_counts(root["root_statistics"], criterion)
            root = root | {"root_impurity": 0.0 if is_pure else impurity}
        else:
            is_pure = root["is_pure"]
        return (
            root
            | describe_entropy(self.rules, total_weight)
            | {
                "root_is_leaf": is_root_leaf(
                    self.rules, root["n_rows"], total_weight, is_pure
                )
            }
        )


def own_records(tree):
    """Give a tree records of its own, where those it has are lent."""
    return tree.replace(nodes=tree.nodes.copy(), statistics=tree.statistics.copy())
