"""CART in plain Python: how a tree grows, whatever it predicts."""

import math
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.cart_splits import MARGIN, find_best_split
from tests.reference.cart_surrogates import (
    find_default_branch,
    find_surrogates,
    route_by_surrogates,
)

STAY, FRACTIONAL = -1, -2


@dataclass
class Column:
    """One column of the table: numbers, or level codes 0, 1, ...; None if missing."""

    values: list
    kind: str = "numeric"  # or "ordinal" or "nominal"
    n_levels: int = 0


@dataclass
class Settings:
    """What the estimators' parameters of the same names mean."""

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    monotonic_cst: list | None = None
    categorical_split: str = "subset"
    categorical_smoothing: str | float = "auto"
    design_effect: float = 1.0
    missing: str = "learned"
    handle_unknown: str = "parent"
    top_splits: int = 1
    max_features: int | None = None
    seed: int = 0  # what the estimator draws from its random_state


def exact(number):
    """The number as an integer or a fraction, without any rounding."""
    fraction = Fraction(number)
    return fraction.numerator if fraction.denominator == 1 else fraction


def make_whole(numbers):
    """The numbers in units of which all are multiples, and this unit's inverse."""
    n_parts = math.lcm(*(Fraction(number).denominator for number in numbers))
    return [int(number * n_parts) for number in numbers], n_parts


def keep_within(value, lower, upper):
    """The value, or the bound that it exceeds; a bound of None is none."""
    if lower is not None and value < lower:
        return lower
    return upper if upper is not None and value > upper else value


def grow_tree(columns, target, settings):
    """Grow a tree and return its nodes (dicts) in breadth-first order."""
    rows = [row for row, weight in enumerate(target.weights) if weight > 0]
    grower = Grower(columns, target, settings, rows)
    root = grower.make_node(rows, path=(), bounds=(None, None))
    if settings.max_leaf_nodes is None:
        pending = [root]
        while pending:
            pending += grower.expand(pending.pop())
    else:
        grow_best_first(grower, root, settings.max_leaf_nodes)
    return number_breadth_first(root)


def grow_best_first(grower, root, max_leaf_nodes):
    """Always expand the node that gains most, while more leaves are allowed."""
    frontier, n_leaves = [root], 1
    # Gains that differ by less are equal: rounding must not choose the node.
    margin = MARGIN * grower.target.weighted_impurity(root["rows"])
    while frontier := [node for node in frontier if node["split"]]:
        gain = max(node["split"]["decrease"] for node in frontier)
        ties = [n for n in frontier if n["split"]["decrease"] >= gain - margin]
        node = min(ties, key=lambda node: (len(node["path"]), node["path"]))
        n_leaves += len(node["split"]["children"]) - 1
        if n_leaves > max_leaf_nodes:
            break
        frontier.remove(node)
        frontier += grower.expand(node)


class Grower:
    """Makes nodes, looks for their splits, and splits them."""

    def __init__(self, columns, target, settings, rows):
        self.columns = columns
        self.target = target
        self.settings = settings
        self.total_weight = target.weight(rows)
        self.min_weight_leaf = settings.min_weight_fraction_leaf * float(
            self.total_weight
        )

    def make_node(self, rows, path, bounds, parent=None):
        """A node with its statistics, and the split it would have."""
        weight = self.target.weight(rows)
        node = {
            "rows": rows,
            "path": path,
            "bounds": bounds,
            "n_samples": len(rows),
            "weight": float(weight),
            "impurity": None,
            "statistics": None,
            "improvement": 0.0,
            "feature": -2,
            "kind": "leaf",
            "threshold": -2.0,
            "level_map": None,
            "missing_branch": STAY,
            "surrogates": [],
            "children": [],
            "split": None,
        }
        if not rows:  # an empty branch says what its parent says
            node["statistics"] = parent["statistics"]
            node["impurity"] = parent["impurity"]
            return node
        node["statistics"] = self.target.statistics(rows, *bounds)
        node["impurity"] = float(self.target.weighted_impurity(rows) / weight)
        if not self.must_be_leaf(rows, len(path), weight):
            split = find_best_split(self, rows, bounds, path)
            if split is not None and not self.gains_too_little(split):
                node["split"] = split
        return node

    def must_be_leaf(self, rows, depth, weight):
        """The rules that stop growing before any split is tried."""
        settings = self.settings
        return (
            (settings.max_depth is not None and depth >= settings.max_depth)
            or len(rows) < settings.min_samples_split
            or len(rows) < 2 * settings.min_samples_leaf
            or weight < 2 * self.min_weight_leaf
            or self.target.is_pure(rows)
        )

    def gains_too_little(self, split):
        """Whether min_impurity_decrease refuses the split."""
        least = self.settings.min_impurity_decrease
        # A gain of 0 may be rounded to just below 0: 0 is no limit.
        return least > 0 and split["decrease"] / self.total_weight + 2.2e-16 < least

    def expand(self, node):
        """Split the node if it has a split; return its children."""
        split = node["split"]
        if split is None:
            return []
        children = [list(child) for child in split["children"]]
        missing_branch = split["missing_branch"]
        surrogates = []
        if self.settings.missing == "surrogate":
            surrogates = find_surrogates(self, node["rows"], split)
            default = find_default_branch(self, split)
            route_by_surrogates(self, node["rows"], children, surrogates, default)
            missing_branch = most_rows(children, tie=STAY)
        elif missing_branch is None:  # no row of this node is missing here
            if self.settings.missing == "branch":
                fractional = self.settings.handle_unknown == "fractional"
                missing_branch = FRACTIONAL if fractional else STAY
            else:
                missing_branch = most_rows(children, tie="last")
        weight = self.target.weight(node["rows"])
        node.update(
            feature=split["feature"],
            kind=self.columns[split["feature"]].kind,
            threshold=split["threshold"],
            level_map=split["level_map"],
            improvement=float(split["decrease"] / weight),
            missing_branch=missing_branch,
            surrogates=surrogates,
        )
        node["children"] = [
            self.make_node(rows, (*node["path"], number), bounds, parent=node)
            for number, (rows, bounds) in enumerate(
                zip(children, self.child_bounds(node, children), strict=True)
            )
        ]
        return node["children"]

    def child_bounds(self, node, children):
        """Between which values the children of a node must stay."""
        bounds = [node["bounds"]] * len(children)
        constraints = self.settings.monotonic_cst
        direction = constraints[node["feature"]] if constraints else 0
        if direction:
            lower, upper = node["bounds"]
            first, second = (self.target.value(rows) for rows in children[:2])
            middle = keep_within(Fraction(first + second) / 2, lower, upper)
            low, high = (lower, middle), (middle, upper)
            bounds[:2] = [low, high] if direction > 0 else [high, low]
        return bounds


def most_rows(children, tie):
    """Number of the child with most rows; among equals the last, or ``tie``."""
    counts = [len(rows) for rows in children]
    largest = max(counts)
    if tie != "last" and counts.count(largest) > 1:
        return tie
    return len(counts) - 1 - counts[::-1].index(largest)


def number_breadth_first(root):
    """The nodes level by level, children and parents as numbers."""
    nodes = [root]
    root["parent"] = -1
    for number, node in enumerate(nodes):
        for child in node["children"]:
            child["parent"] = number
        first = len(nodes)
        nodes.extend(node["children"])
        node["children"] = list(range(first, len(nodes)))
    return nodes
