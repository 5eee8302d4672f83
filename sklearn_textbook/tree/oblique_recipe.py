"""Base class of the oblique trees."""

from __future__ import annotations

from dataclasses import replace

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_count_or_fraction,
    check_integer,
    check_real,
    resolve_max_features,
)
from sklearn_textbook.tree.cart_recipe import BaseCART
from sklearn_textbook.tree.grow.rules import ObliqueRules

# Default numbers of directions and columns.
N_STARTS = 20
MAX_RANDOM_COLUMNS = 3


class BaseOblique(BaseCART):
    """Parameters and growth of both oblique trees."""

    _directions = ()

    # Parameters of CART with one value here.
    splitter = "best"
    categorical_split = "subset"
    tie_breaking = "first"
    top_splits = 1
    monotonic_cst = None

    def _check_parameters(self) -> None:
        check_choice("direction", self.direction, self._directions)
        check_integer(
            "max_features_per_split", self.max_features_per_split, 1, accepts_none=True
        )
        check_count_or_fraction(
            "n_directions", self.n_directions, 1, words=(None, "sqrt", "log2")
        )
        if self.prefer_axis is not None:
            check_real("prefer_axis", self.prefer_axis, 0.0)
        check_real("ridge", self.ridge, 0.0)
        check_real("lasso", self.lasso, 0.0, 1.0)
        super()._check_parameters()

    def _check_missing_policy(self) -> None:
        check_choice("missing", self.missing, ("mean", "error"))

    def _resolve_directions(self, n_columns):
        """Count the directions that are tried at each node."""
        if self.n_directions is not None:
            return resolve_max_features(self.n_directions, n_columns)
        return {"random": n_columns, "oc1": N_STARTS}.get(self.direction, 1)

    def _resolve_rules(self, table, target, weight, n_rows):
        rules = super()._resolve_rules(table, target, weight, n_rows)
        is_random = self.direction == "random"
        max_terms = self.max_features_per_split
        if max_terms is None and is_random:
            max_terms = MAX_RANDOM_COLUMNS
        self.n_directions_ = self._resolve_directions(table.n_columns)
        oblique = ObliqueRules(
            direction="ridge" if self.direction == "ols" else self.direction,
            n_directions=self.n_directions_,
            max_columns=self.max_features_,
            max_terms=max_terms,
            searches_axis=self.prefer_axis is not None,
            column_penalty=float(self.prefer_axis or 0.0),
            ridge=0.0 if self.direction == "ols" else float(self.ridge),
            lasso=float(self.lasso),
        )
        return replace(rules, missing="learned", oblique=oblique)

    def _draw_seed(self, rules, n_columns):
        """Draw a seed if directions are random."""
        is_random = self.direction in ("random", "oc1")
        return super()._draw_seed(replace(rules, shuffles_columns=is_random), n_columns)
