"""What many trees over one table have in common, prepared once."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow._row_list_engine import ListGrower
from sklearn_textbook.tree.grow.grow import (
    SCANS,
    choose_engine,
    counts_two_classes,
    describe_gain,
    describe_ranks,
    describe_rows,
    describe_rules,
    describe_table,
    grow_tree,
    is_root_leaf,
)
from sklearn_textbook.tree.grow.grown_tree import GrownTree
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
    """

    def __init__(self, table, target, rules):
        self.table = table
        self.target = target
        self.rules = rules
        self._growers = []  # not at work
        self._settings = None
        if choose_engine(
            table, target, rules, None
        ) == "row-list" and counts_two_classes(table, target, rules):
            self._settings = {
                **describe_table(table, rules),
                **describe_rows(target, None, None),
                **describe_rules(rules, table.n_columns),
                **describe_ranks(table),
                "scan": SCANS["binary"],
                "entropy_table": None,
                "total_weight": 0.0,
                "gain": describe_gain(table, rules.gain, target, None),
                "all_labels": target.codes,
            }

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
        return grow_tree(
            self.table,
            self.target,
            self.rules,
            sample_weight=weight,
            random_state=random_state,
            n_threads=n_threads,
        )

    def _grow_from_list(self, weight, random_state):
        """Grow a tree from a list of rows; None if the weights do not fit into it."""
        if weight is not None:
            dtype = weight.dtype if weight.dtype in LISTED_TYPES else np.float64
            weight = np.ascontiguousarray(weight, dtype=dtype)
        try:
            grower = self._growers.pop()
        except IndexError:
            grower = ListGrower(self._settings)
        totals = grower.list_rows(weight)
        grown = (
            None
            if totals is None
            else grower.grow(
                self._describe_root(*totals) | {"random_state": random_state}
            )
        )
        self._growers.append(grower)
        if grown is None:
            return None
        nodes, statistics, level_branch, surrogates = grown
        return GrownTree(
            nodes=nodes,
            statistics=statistics[:, np.newaxis, :],
            n_features=self.table.n_columns,
            n_levels=self._settings["n_levels"],
            n_classes=self.target.n_classes,
            is_classifier=True,
            level_branch=level_branch,
            surrogates=surrogates,
            unseen=self.rules.unseen,
        )

    def _describe_root(self, n_rows, total_weight, ones):
        """Describe the root of a tree from the sums over its rows."""
        counts = np.array([total_weight - ones, ones], dtype=np.float64)
        impurity, is_pure = measure_counts(counts, self.rules.criterion)
        return {
            "root_statistics": counts,
            "root_impurity": 0.0 if is_pure else impurity,
            "root_is_leaf": is_root_leaf(
                self.rules, n_rows, float(total_weight), is_pure
            ),
            "total_weight": float(total_weight),
        }
