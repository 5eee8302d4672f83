"""Base class of the CART estimators: scikit-learn's parameters, with its meanings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Bunch

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import get_costs
from sklearn_textbook._contract.monotonic import resolve_monotonic
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_count_or_fraction,
    check_integer,
    check_random_seed,
    check_real,
    check_smoothing,
    resolve_count,
    resolve_max_features,
)
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.encode.rank import check_max_bins
from sklearn_textbook.tree.grow._settings import mark_smoothed
from sklearn_textbook.tree.grow.rules import UNLIMITED, GrowthRules
from sklearn_textbook.tree.prune import (
    compute_weakest_link_sequence,
    cut_below,
    find_costly_branches,
    keep_best_first,
    prune_to_alpha,
)
from sklearn_textbook.tree.recipe import BaseTree
from sklearn_textbook.tree.route import LEAST_WEIGHT, fit_leaf_equations


def warn_of_light_levels(table, smoothing, weight: np.ndarray | None) -> None:
    """Warn if weights are too small to tell levels of nominal columns apart."""
    if weight is not None:
        warn_of_light_sum(
            table, smoothing, float(weight.sum()), np.count_nonzero(weight)
        )


def warn_of_light_sum(table, smoothing, total: float, n_rows: int) -> None:
    """Warn if the sum of the weights of so many rows is too small for that."""
    levels = np.where(mark_smoothed(table, smoothing), table.n_distinct, 0)
    if total < min(levels.max(initial=0), n_rows / 10):
        name = table.schema.names[int(levels.argmax())]
        warn_caller(
            f"The weights of the {n_rows} rows sum to {total:.3g}, less than the "
            f"{levels.max()} levels of column {name!r}: since a weight counts rows, "
            "the means of its levels tell nothing, and it is split in the order of its "
            "levels only. Multiply the weights so that their mean is 1, or set "
            "categorical_smoothing=0.",
            UserWarning,
        )


class BaseCART(BaseTree):
    """Parameters and growth of both CART estimators."""

    _criteria = ()
    # Of trees without these parameters.
    leaf_model = "constant"
    leaf_shrinkage = 0.0
    # Of the weights that an ensemble gives its members; see GrowthRules.
    _design_effect = 1.0

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, self._criteria)
        check_choice("splitter", self.splitter, ("best", "random"))
        check_integer("max_depth", self.max_depth, 1, accepts_none=True)
        check_count_or_fraction("min_samples_split", self.min_samples_split, 2)
        check_count_or_fraction(
            "min_samples_leaf", self.min_samples_leaf, 1, includes_one=False
        )
        check_real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        check_count_or_fraction(
            "max_features", self.max_features, 1, words=(None, "sqrt", "log2")
        )
        check_integer("max_leaf_nodes", self.max_leaf_nodes, 2, accepts_none=True)
        check_real("min_impurity_decrease", self.min_impurity_decrease, 0.0)
        check_real("ccp_alpha", self.ccp_alpha, 0.0)
        if self.pruning is not None and self.ccp_alpha != 0.0:
            raise ValueError(
                "ccp_alpha and pruning cannot be combined, since both prune the tree; "
                f"got ccp_alpha={self.ccp_alpha!r} and pruning={self.pruning!r}. Set "
                "ccp_alpha=0.0 or pruning=None."
            )
        check_random_seed("random_state", self.random_state)
        check_choice(
            "categorical_split",
            self.categorical_split,
            ("subset", "one_vs_rest", "multiway"),
        )
        check_smoothing(self.categorical_smoothing)
        check_max_bins(self.max_bins)
        self._check_missing_policy()
        check_choice(
            "handle_unknown", self.handle_unknown, ("parent", "fractional", "error")
        )
        check_choice("tie_breaking", self.tie_breaking, ("first", "random"))
        check_integer("top_splits", self.top_splits, 1)
        self._check_leaf_model()

    def _check_leaf_model(self) -> None:
        check_choice("leaf_model", self.leaf_model, ("constant", "linear"))
        check_real("leaf_shrinkage", self.leaf_shrinkage, 0.0)
        if self.leaf_model == "constant":
            return
        if self._criterion_name() != "squared_error":
            raise ValueError(
                "leaf_model='linear' fits equations by least squares and requires "
                f"criterion='squared_error'; got {self.criterion!r}."
            )
        if self.monotonic_cst is not None:
            raise ValueError(
                "leaf_model='linear' does not take monotonic_cst: equations in leaves "
                "would not keep to it. Use leaf_model='constant'."
            )

    def _takes_several_outputs(self):
        return self.leaf_model == "constant" and super()._takes_several_outputs()

    def _check_missing_policy(self) -> None:
        check_choice(
            "missing", self.missing, ("learned", "branch", "surrogate", "error")
        )

    def _read_monotonic(self, table, target):
        """Return the constraints as integers, or None."""
        if self.monotonic_cst is None:
            return None
        if target.n_outputs > 1:
            raise ValueError(
                "Monotonicity constraints are not supported with multiple outputs."
            )
        constraints = resolve_monotonic(
            self.monotonic_cst,
            table.schema.names,
            has_names=hasattr(self, "feature_names_in_"),
        )
        if target.is_classifier and target.n_classes[0] > 2:
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass "
                "classification."
            )
        for name, kind, sign in zip(
            table.schema.names, table.schema.kinds, constraints, strict=True
        ):
            if kind == "nominal" and sign != 0:
                raise ValueError(
                    f"monotonic_cst must be 0 for column {name!r}, since it is nominal "
                    f"and its levels have no order; got {sign:+d}."
                )
        return constraints

    def _resolve_rules(self, table, target, weight, n_rows):
        """Return the growth rules of this estimator on this table."""
        total_weight = n_rows if weight is None else weight.sum()
        self.max_features_ = resolve_max_features(self.max_features, table.n_columns)
        if self.max_features_ > table.n_columns:
            self.max_features_ = table.n_columns
        min_samples_split = resolve_count(self.min_samples_split, n_rows)
        return GrowthRules(
            criterion=self._criterion_name(),
            max_depth=UNLIMITED if self.max_depth is None else int(self.max_depth),
            min_samples_split=max(2, min_samples_split),
            min_samples_leaf=max(1, resolve_count(self.min_samples_leaf, n_rows)),
            min_weight_leaf=max(
                float(self.min_weight_fraction_leaf * total_weight),
                LEAST_WEIGHT if self.leaf_model == "linear" else 0.0,
            ),
            min_impurity_decrease=float(self.min_impurity_decrease),
            max_leaf_nodes=self.max_leaf_nodes,
            max_features=self.max_features_,
            random_splitter=self.splitter == "random",
            shuffles_columns=self.tie_breaking == "random",
            top_splits=int(self.top_splits),
            missing=self.missing,
            categorical_split=self.categorical_split,
            categorical_smoothing=self.categorical_smoothing,
            design_effect=self._design_effect,
            handle_unknown=self.handle_unknown,
            monotonic=self._read_monotonic(table, target),
            class_factors=self._list_class_factors(),
        )

    def _list_class_factors(self):
        """List the factors of costs that surrogates need, up to a common factor."""
        costs = get_costs(self) if self.missing == "surrogate" else None
        return None if costs is None else tuple(costs.sum(axis=1).tolist())

    def _warn_before_growth(self, table, target, weight) -> None:
        warn_of_light_levels(table, self.categorical_smoothing, weight)
        self._warn_of_light_rows(weight)

    def _warn_of_light_rows(self, weight) -> None:
        """Warn if the weights are too small for linear equations."""
        if self.leaf_model == "constant" or weight is None:
            return
        n_rows, total = np.count_nonzero(weight), weight.sum()
        if total < min(n_rows, max(n_rows / 10, LEAST_WEIGHT)):
            warn_caller(
                f"The weights of the {n_rows} rows sum to {total:.3g}: since a weight "
                "counts rows, there are too few for linear equations in leaves. "
                "Multiply the weights so that their mean is 1.",
                UserWarning,
            )

    def _criterion_name(self):
        return self.criterion

    def _finish_growth(self, tree, pruner, rows, n_threads):
        if self.max_leaf_nodes is not None:
            tree = keep_best_first(tree, min(self.max_leaf_nodes, tree.node_count + 1))
        if self.leaf_model == "linear":
            tree = self._fit_equations(tree, rows, n_threads)
            tree = cut_below(tree, find_costly_branches(tree))
        return prune_to_alpha(tree, self.ccp_alpha)

    def _fit_equations(self, tree, rows, n_threads, leaf=None):
        """Fit linear equations in all nodes."""
        is_number = np.array(self.schema_.kinds) != "nominal"
        return fit_leaf_equations(
            tree, rows, is_number, self.leaf_shrinkage, n_threads, leaf
        )

    def cost_complexity_pruning_path(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bunch:
        """Compute the pruning path of minimal cost-complexity pruning.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        ccp_path : sklearn.utils.Bunch
            As in scikit-learn: ``ccp_alphas``, the effective alphas of the subtrees
            from the full tree to the root, in ascending order; and ``impurities``, the
            total impurity of their leaves.
        """
        full = clone(self).set_params(ccp_alpha=0.0, pruning=None)
        full.fit(X, y, sample_weight=sample_weight)
        sequence = compute_weakest_link_sequence(full.tree_)
        return Bunch(
            ccp_alphas=np.array(sequence.ccp_alphas),
            impurities=np.array(sequence.impurities),
        )
