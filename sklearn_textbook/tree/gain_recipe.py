"""Base class of ID3 and C4.5: splits by gain, sizes as weights, fractional cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.labels import require_classes
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_count_or_fraction,
    check_integer,
    check_random_seed,
    check_real,
    is_integer,
    resolve_max_features,
)
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook.tree.grow import layout
from sklearn_textbook.tree.grow._settings import MOST_PLAIN_LEVELS
from sklearn_textbook.tree.grow.rules import UNLIMITED, GrowthRules
from sklearn_textbook.tree.prune import keep_best_first
from sklearn_textbook.tree.recipe import BaseTree, TreeClassifierMethods

#: Fraction of the gain of a test, from which on it may be due to chance.
DOUBTFUL = 0.5
#: Fraction of the rows, from which on the test of a node matters.
LARGE = 0.1


def warn_of_many_levels(tree, names: Sequence[str]) -> None:
    r"""Warn if much of the gain of a nominal test is what chance would give it.

    If a column had no effect, V branches of N rows of K classes would gain about
    :math:`(V - 1)(K - 1) / 2N` nats, since 2N times the gain is a likelihood ratio with
    as many degrees of freedom.
    """
    nodes = tree.nodes
    is_many = np.isin(
        nodes["feature"], np.flatnonzero(tree.n_levels > MOST_PLAIN_LEVELS)
    )
    is_many &= nodes["weight"] >= LARGE * nodes["weight"][0]
    tested = np.flatnonzero((nodes["kind"] == layout.NOMINAL) & is_many)
    weights = tree.statistics[:, 0]
    worst = None
    for node in tested:
        first, n_children = nodes["first_child"][node], nodes["n_children"][node]
        children = weights[first : first + n_children]
        children = children[children.sum(axis=1) > 0]
        total = children.sum(axis=0)
        n_rows = total.sum()
        gain = (_sum_entropy(total[np.newaxis]) - _sum_entropy(children)) / n_rows
        free = (len(children) - 1) * (np.count_nonzero(total) - 1)
        chance = free / (2.0 * n_rows)
        is_doubtful = len(children) > MOST_PLAIN_LEVELS and chance >= DOUBTFUL * gain
        if is_doubtful and (worst is None or n_rows > worst[0]):
            worst = n_rows, node, len(children), chance / gain
    if worst is None:
        return
    n_rows, node, n_branches, fraction = worst
    column = int(nodes["feature"][node])
    warn_caller(
        f"Column {names[column]!r} with {tree.n_levels[column]:,} levels is split into "
        f"{n_branches:,} branches of {n_rows / n_branches:.1f} rows on average; a "
        f"column without effect would have {min(fraction, 1.0):.0%} of its gain, which "
        "does not help on other rows. Leave the column out, join rare levels, or use "
        "CARTClassifier or an ensemble of CART trees, which judge levels by what they "
        "are worth on other rows."
    )


def _sum_entropy(weights):
    """Sum the entropy of rows of class weights, in nats times their weight."""
    total = weights.sum(axis=1, keepdims=True)
    fractions = weights / total
    logs = np.log(fractions, out=np.zeros_like(fractions), where=fractions > 0.0)
    return -float((weights * logs).sum())


def resolve_weight(value, total_weight):
    """Convert a count to a weight, a fraction to that part of the total weight."""
    return float(value) if is_integer(value) else float(value * total_weight)


class BaseGainTree(ClassifierMixin, TreeClassifierMethods, BaseTree):
    """Base class of the trees that split by information gain or gain ratio."""

    _categorical_splits = ()
    _sorts_nominal = False
    _grows_over_weightless_rows = False

    def _check_parameters(self) -> None:
        check_integer("max_depth", self.max_depth, 1, accepts_none=True)
        check_count_or_fraction("min_samples_split", self.min_samples_split, 2)
        check_count_or_fraction(
            "min_samples_leaf", self.min_samples_leaf, 1, includes_one=False
        )
        check_real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        check_integer("max_leaf_nodes", self.max_leaf_nodes, 2, accepts_none=True)
        check_real("min_impurity_decrease", self.min_impurity_decrease, 0.0)
        check_count_or_fraction(
            "max_features", self.max_features, 1, words=(None, "sqrt", "log2")
        )
        check_random_seed("random_state", self.random_state)
        check_choice(
            "categorical_split", self.categorical_split, self._categorical_splits
        )
        check_choice("missing", self.missing, ("fractional", "error"))
        check_choice(
            "handle_unknown", self.handle_unknown, ("parent", "fractional", "error")
        )
        check_choice("tie_breaking", self.tie_breaking, ("first", "random"))
        check_integer("top_splits", self.top_splits, 1)

    def _check_target(self, y, *, is_classifier):
        require_classes(y)
        return super()._check_target(y, is_classifier=is_classifier)

    def _takes_several_outputs(self) -> bool:
        return False

    def _select_rows(self, rows):
        """Drop the rows of weight 0, so that their values give no thresholds either."""
        if rows.weight is None or (rows.weight > 0).all():
            return rows, None
        is_kept = rows.weight > 0
        return rows.take(is_kept), (is_kept, rows.target)

    def _resolve_min_branch(self, total_weight, least):
        return max(least, self.min_weight_fraction_leaf * total_weight)

    def _resolve_growth(self, table, gain):
        """Return the growth rules common to ID3 and C4.5."""
        self.max_features_ = min(
            resolve_max_features(self.max_features, table.n_columns), table.n_columns
        )
        return GrowthRules(
            criterion="entropy",
            max_depth=UNLIMITED if self.max_depth is None else int(self.max_depth),
            min_impurity_decrease=float(self.min_impurity_decrease),
            max_leaf_nodes=self.max_leaf_nodes,
            max_features=self.max_features_,
            shuffles_columns=self.tie_breaking == "random",
            top_splits=int(self.top_splits),
            missing="fractional",
            categorical_split=self.categorical_split,
            handle_unknown=self.handle_unknown,
            gain=gain,
        )

    def _finish_growth(self, tree, pruner, rows, n_threads):
        if self.max_leaf_nodes is None:
            return tree
        return keep_best_first(tree, min(self.max_leaf_nodes, tree.node_count + 1))

    def _warn_after_growth(self) -> None:
        warn_of_many_levels(self.tree_, self.schema_.names)

    def _criterion_name(self) -> str:
        return "entropy"
