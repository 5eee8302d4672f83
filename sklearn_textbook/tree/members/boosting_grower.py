"""Growth of trees from the derivatives of a loss, over a table encoded once."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from sklearn_textbook._contract.blocks import add_up, list_blocks
from sklearn_textbook.tree.cart_recipe import warn_of_light_sum
from sklearn_textbook.tree.encode import NOMINAL
from sklearn_textbook.tree.grow.gradient_plan import MAX_CODES, GradientPlan
from sklearn_textbook.tree.grow.target import make_value_target
from sklearn_textbook.tree.members.grower import MemberGrower
from sklearn_textbook.tree.prune import (
    Rows,
    compute_weakest_link_sequence,
    cut_below,
    find_costly_branches,
    find_kept,
)
from sklearn_textbook.tree.route import RoutedTree, find_leaves

#: Up to this number of distinct values each value is a bin; above, sorting is faster.
MAX_EXACT_BINS = 1024
#: Minimum sum of hessians in a leaf, in mean weights of a row, below which its Newton
#: step is unreliable.
MIN_HESSIAN = 1e-3


def square_gradients(gradient: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Square the gradients of rows; of a row of weight w, those of w rows."""
    if weight is None:
        return gradient * gradient
    scaled = np.divide(gradient, weight, out=np.zeros_like(gradient), where=weight > 0)
    return gradient * scaled


def sum_gradients(
    leaf: np.ndarray, gradient: np.ndarray, weight: np.ndarray | None, n_nodes: int
) -> np.ndarray:
    """Sum up weights, gradients and squared gradients of a block's rows by node."""
    squares = square_gradients(gradient, weight)
    weight = np.ones(len(gradient)) if weight is None else weight
    return np.array(
        [np.bincount(leaf, of, n_nodes) for of in (weight, gradient, squares)]
    )


class BoostingGrower(MemberGrower):
    r"""Grows regression trees from first and second derivatives of a loss.

    The splits and leaves minimise the sum over the leaves of
    :math:`\sum_i (g_i v + h_i v^2 / 2) + \lambda v^2 / 2`.

    Parameters
    ----------
    template : CARTRegressor
        A tree with the parameters of the members.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The training table.
    y : array-like of shape (n_samples,)
        Numbers, of which only the length is used.
    owner : estimator
        The ensemble, as in :class:`MemberGrower`.
    n_jobs : int, default=None
        Number of threads.
    max_bins : int or None
        Maximum number of bins of a column. None: one per distinct value.
    l2_regularization : float, default=0.0
        :math:`\lambda`.
    interaction_groups : function, default=None
        Function of the names of the columns that returns the groups of columns that may
        be tested on the same path. None: no restriction.
    ccp_alpha : float, default=0.0
        Cost of a leaf by which each tree is pruned; the risk of a node is the variance
        of the gradient in it, as in scikit-learn.
    """

    def __init__(
        self,
        template,
        X,
        y,
        *,
        owner,
        n_jobs=None,
        max_bins=None,
        l2_regularization: float = 0.0,
        interaction_groups=None,
        ccp_alpha: float = 0.0,
    ) -> None:
        super().__init__(template, X, y, owner=owner, n_jobs=n_jobs, max_bins=max_bins)
        self.l2_regularization = l2_regularization
        self.ccp_alpha = ccp_alpha
        self.weight = None
        self.groups = None
        if interaction_groups is not None:
            self.groups = interaction_groups(self.reader.schema_.names)
        self._gradient_plan = None

    def prepare(
        self,
        weight: np.ndarray | None = None,
        min_rows_leaf: int = 1,
        min_weight_leaf: float = 0.0,
    ) -> None:
        """Prepare to grow trees."""
        rules = self.reader._resolve_rules(
            self.table, self.rows.target, None, self.n_rows
        )
        total = self.n_rows, self.n_rows
        if weight is not None:
            total = add_up(weight), int(np.count_nonzero(weight))
        self.weight = weight
        self._prepare_plan(rules, total, min_rows_leaf, min_weight_leaf)
        if weight is not None:
            smoothing = self.reader.categorical_smoothing
            warn_of_light_sum(self.table, smoothing, *total)
            self.reader._warn_of_light_rows(weight)

    def _prepare_plan(self, rules, total, min_rows_leaf=1, min_weight_leaf=0.0):
        """Prepare the plan, of rows with a total weight and a number."""
        weight, n_rows = total
        self._rules = replace(
            rules,
            min_samples_leaf=max(rules.min_samples_leaf, min_rows_leaf),
            min_weight_leaf=max(MIN_HESSIAN * (weight / n_rows), min_weight_leaf),
        )
        self._gradient_plan = self._choose_plan()

    def _choose_plan(self):
        """Make a plan of histograms, unless sorted columns are faster."""
        table = self.table
        n_codes = table.n_distinct + (table.n_missing > 0)
        is_numeric = np.array([kind != NOMINAL for kind in table.schema.kinds])
        # In sorted columns, levels are smoothed and missing ones sent by other rules.
        needs_bins = self.l2_regularization > 0 or self.groups is not None
        needs_bins |= not is_numeric.all()
        if (
            self.max_bins is None
            and not needs_bins
            and (n_codes[is_numeric].max(initial=0) > MAX_EXACT_BINS)
        ):
            return None
        if n_codes.max() > MAX_CODES:
            column = int(n_codes.argmax())
            raise ValueError(
                f"Column {table.schema.names[column]!r} has {table.n_distinct[column]} "
                "distinct values, but with l2_regularization, interaction_cst or "
                f"nominal columns, gradient boosting allows at most {MAX_CODES - 1}. "
                "Set max_bins for a numeric column; drop a nominal column with so "
                "many levels."
            )
        return GradientPlan(
            table,
            self._rules,
            self.l2_regularization,
            interaction_groups=self.groups,
            n_threads=self.n_threads,
        )

    def _measure_variance(self, gradient, hessian, rows):
        """Measure the variance of the gradient of a row, per unit of its hessian.

        A row of weight w counts as w rows.
        """
        n_rows = len(gradient)
        if rows is not None:
            is_used = np.zeros(n_rows, dtype=bool)
            is_used[rows] = True
            gradient, n_rows = np.where(is_used, gradient, 0.0), len(rows)
            hessian = None if hessian is None else np.where(is_used, hessian, 0.0)
        total = n_rows if hessian is None else add_up(hessian)
        squares = add_up(square_gradients(gradient, self.weight))
        return squares / total if total > 0 else 0.0

    def grow_from(
        self,
        gradient: np.ndarray,
        hessian: np.ndarray,
        largest: tuple,
        rows: np.ndarray | None = None,
        random_state: int = 0,
        out: np.ndarray | None = None,
    ):
        """Grow a tree."""
        if self._gradient_plan is not None:
            variance = 1.0
            if self._gradient_plan.smooths_levels:
                variance = self._measure_variance(gradient, hessian, rows)
            grown = self._gradient_plan.grow(
                gradient, hessian, rows, random_state, largest, out, variance
            )
            tree, leaf_of_row = self._prune(
                grown.tree, grown.leaf_of_row, gradient, rows
            )
            if self.reader.leaf_model == "linear":
                tree = self._fit_equations(tree, leaf_of_row, gradient, hessian, rows)
            return tree, leaf_of_row
        target, weight, design_effect = self._make_steps(gradient, hessian, rows)
        member = self.grow(
            weight,
            random_state,
            target=target,
            n_threads=self.n_threads,
            design_effect=design_effect,
        )
        tree = member.tree_
        leaves = find_leaves(tree, self.rows.matrix, self.n_threads)
        return self._prune(tree, leaves.astype(np.int32), gradient, rows)

    def _make_steps(self, gradient, hessian, rows):
        """Make a target of the Newton steps of the rows, and their weights.

        Also returned is the weight of a row: the variance of a step is that of a
        gradient divided by the hessian.
        """
        weight = np.ones(len(gradient)) if hessian is None else hessian
        steps = -gradient / np.where(weight > 0, weight, 1.0)
        if rows is not None:
            taken = np.zeros(len(weight))
            taken[rows] = weight[rows]
            weight = taken
        n_counted = len(rows) if rows is not None else len(weight)
        if self.weight is not None:
            n_counted = self.weight[slice(None) if rows is None else rows].sum()
        of_row = weight.sum() / n_counted
        if self.reader.leaf_model == "linear":
            # Estimates of errors count rows, whatever the unit of the loss.
            weight, of_row = weight / of_row, 1.0
        return make_value_target(steps), weight, of_row

    def _fit_equations(self, tree, leaf_of_row, gradient, hessian, rows):
        """Fit linear equations in the leaves."""
        target, weight, _ = self._make_steps(gradient, hessian, rows)
        used = Rows(self.rows.table, target, weight)
        tree = self.reader._fit_equations(tree, used, self.n_threads, leaf_of_row)
        cut = find_costly_branches(tree)
        leaf_of_row[:] = find_kept(tree, cut)[leaf_of_row]
        return cut_below(tree, cut)

    def _prune(self, tree, leaf_of_row, gradient, rows):
        """Prune a tree to minimal cost complexity."""
        if self.ccp_alpha == 0.0:
            return tree, leaf_of_row
        sums = np.zeros((3, len(tree.nodes)))
        for block in list_blocks(len(gradient)):
            used = block
            if rows is not None:
                used = rows[slice(*np.searchsorted(rows, (block.start, block.stop)))]
            weight = None if self.weight is None else self.weight[used]
            sums += sum_gradients(
                leaf_of_row[used], gradient[used], weight, len(tree.nodes)
            )
        tree, node_of = self.prune(tree, sums)
        leaf_of_row[:] = node_of[leaf_of_row]
        return tree, leaf_of_row

    def prune(self, tree, sums: np.ndarray):
        """Prune a tree by the sums of the rows that ended in each node.

        Returns the tree, and the nodes in which the rows end then.
        """
        nodes, sums = tree.nodes.copy(), sums.copy()
        for node in range(len(nodes) - 1, 0, -1):  # children come after their parents
            sums[:, nodes["parent"][node]] += sums[:, node]
        weight, gradient, squares = sums
        safe = np.where(weight > 0, weight, 1.0)
        nodes["weight"] = weight
        nodes["impurity"] = squares / safe - (gradient / safe) ** 2
        sequence = compute_weakest_link_sequence(tree.replace(nodes=nodes))
        cut = sequence.find_cut(sequence.find_step(self.ccp_alpha))
        return cut_below(tree, cut), find_kept(tree, cut)

    @property
    def adds_l2(self) -> bool:
        """Whether the values of trees include ``l2_regularization``."""
        return self._gradient_plan is not None

    @property
    def monotonic(self):
        """Monotonic constraints of the columns; None: no constraints."""
        return self._rules.monotonic

    def make_member(self, tree):
        """Make a fitted copy of the template with a given tree."""
        member = copy(self.reader)
        member.tree_ = RoutedTree.from_grown(tree)
        return member

    def close(self) -> None:
        """End the threads."""
        if self._gradient_plan is not None:
            self._gradient_plan.close()

    def __getstate__(self):
        """Leave out the plan, which has threads."""
        return super().__getstate__() | {"_gradient_plan": None}
