"""Base class of ID3 and C4.5: splits by gain, sizes as weights, fractional cases."""

from __future__ import annotations

from sklearn.base import ClassifierMixin

from sklearn_textbook._contract.labels import require_classes
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_count_or_share,
    check_integer,
    check_random_seed,
    check_real,
    is_integer,
    resolve_max_features,
)
from sklearn_textbook.tree.grow.rules import UNLIMITED, GrowthRules
from sklearn_textbook.tree.prune import keep_best_first
from sklearn_textbook.tree.recipe import BaseTree, TreeClassifierMethods


def resolve_weight(value, total_weight):
    """Convert a count to a weight, a fraction to that part of the total weight."""
    return float(value) if is_integer(value) else float(value * total_weight)


class BaseGainTree(ClassifierMixin, TreeClassifierMethods, BaseTree):
    """Base class of the trees that split by information gain or gain ratio."""

    _categorical_splits = ()
    _sorts_nominal = False
    _grows_over_weightless_rows = False

    def _check_parameters(self):
        check_integer("max_depth", self.max_depth, 1, accepts_none=True)
        check_count_or_share("min_samples_split", self.min_samples_split, 2)
        check_count_or_share(
            "min_samples_leaf", self.min_samples_leaf, 1, includes_one=False
        )
        check_real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        check_integer("max_leaf_nodes", self.max_leaf_nodes, 2, accepts_none=True)
        check_real("min_impurity_decrease", self.min_impurity_decrease, 0.0)
        check_count_or_share(
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

    def _takes_several_outputs(self):
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

    def _finish_growth(self, tree, pruner):
        if self.max_leaf_nodes is None:
            return tree
        return keep_best_first(tree, min(self.max_leaf_nodes, tree.node_count + 1))

    def _criterion_name(self):
        return "entropy"
