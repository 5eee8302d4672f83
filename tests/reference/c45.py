"""C4.5 in plain Python: how a tree grows, with the rules of Weka's J48.

Read this first, then ``c45_candidates.py`` (which test a node asks),
``c45_measures.py`` (gain, gain ratio, comparisons) and ``c45_prune.py`` (what is cut
off afterwards); ``c45_route.py`` predicts.
A case is a pair (row, weight): a row with a missing value is divided among the branches
of a test, and so may reach a leaf with a part of its weight, or several leaves.
"""

import math
from dataclasses import dataclass, field

from tests.reference.c45_candidates import (
    NodeTest,
    choose_test,
    find_observed_threshold,
)
from tests.reference.c45_measures import (
    compute_entropy,
    find_majority_class,
    is_equal,
    is_greater,
    is_less,
)
from tests.reference.c45_prune import collapse, prune_by_errors
from tests.reference.cart_splits import MISSING
from tests.reference.cart_tree import FRACTIONAL, STAY, number_breadth_first


@dataclass
class Settings:
    """What the parameters of C45Classifier and ErrorBasedPruning mean."""

    gain_ratio_rule: str = "above_average"  # or "plain"
    mdl_correction: bool = True
    threshold: str = "observed"  # or "midpoint"
    categorical_split: str = "multiway"  # or "one_vs_rest" or "subset"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 2
    collapse: bool = True
    pruning: str | None = "error_based"
    confidence: float = 0.25
    subtree_raising: bool = True
    top_splits: int = 1
    max_features: int | None = None
    seed: int = 0  # what the estimator draws from its random_state


@dataclass
class Node:
    """A node, its cases, and if it is no leaf its test and children."""

    cases: list
    class_weights: list
    test: NodeTest | None = None
    children: list = field(default_factory=list)

    @property
    def weight(self):
        return math.fsum(weight for _, weight in self.cases)

    def become_leaf(self):
        self.test, self.children = None, []


def grow_c45(columns, y, weights, n_classes, **settings):
    """Grow, collapse and prune a tree; return its nodes (dicts), breadth first.

    ``y[row]`` is a class number.
    """
    grower = Grower(columns, y, weights, n_classes, Settings(**settings))
    root = grower.grow(grower.all_cases, path=())
    if grower.settings.collapse:
        collapse(root)
    if grower.settings.pruning is not None:
        prune_by_errors(root, grower)
    return list_nodes(root)


class Grower:
    """Makes nodes and divides their cases."""

    def __init__(self, columns, y, weights, n_classes, settings):
        self.columns = columns
        self.y = y
        self.n_classes = n_classes
        self.settings = settings
        self.all_cases = [
            (row, weight) for row, weight in enumerate(weights) if weight > 0
        ]
        total_weight = math.fsum(weight for _, weight in self.all_cases)
        # Such a column has a good gain ratio by its mere number of levels.
        self.is_many_valued = [
            column.kind == "nominal"
            and not is_less(column.n_levels, 0.3 * total_weight)
            for column in columns
        ]

    def count_classes(self, cases):
        """Weight of every class."""
        parts = [[] for _ in range(self.n_classes)]
        for row, weight in cases:
            parts[self.y[row]].append(weight)
        return list(map(math.fsum, parts))

    def grow(self, cases, path):
        """A node with everything below it; the child numbers on the way to it."""
        node = Node(cases, self.count_classes(cases))
        if not self.must_be_leaf(node, len(path)):
            node.test = choose_test(self, cases, path)
        if node.test is not None:
            self.settle_threshold(node.test)
            node.children = [
                self.grow(branch, (*path, number))
                for number, branch in enumerate(self.distribute(node.test, cases))
            ]
        return node

    def must_be_leaf(self, node, depth):
        """The rules that stop growing before any test is looked for."""
        settings = self.settings
        majority = find_majority_class(node.class_weights)
        return (
            (settings.max_depth is not None and depth >= settings.max_depth)
            or is_less(node.weight, settings.min_samples_split)
            or is_less(node.weight, 2 * settings.min_samples_leaf)
            or is_equal(node.weight, node.class_weights[majority])
        )

    def settle_threshold(self, test):
        """Turn a midpoint into a value of the training table, of any of its rows."""
        if test.kind == "nominal" or self.settings.threshold == "midpoint":
            return
        values = self.columns[test.feature].values
        present = [
            values[row] for row, _ in self.all_cases if values[row] is not MISSING
        ]
        test.threshold = find_observed_threshold(present, test.threshold)

    def distribute(self, test, cases):
        """The cases of every branch; those of unknown branch go into all, in parts."""
        values = self.columns[test.feature].values
        branch_of = {row: test.find_branch(values[row]) for row, _ in cases}
        known = [[] for _ in range(test.n_branches)]
        for row, weight in cases:
            if branch_of[row] is not None:
                known[branch_of[row]].append(weight)
        branch_weights = list(map(math.fsum, known))
        known_weight = math.fsum(branch_weights)
        if is_equal(known_weight, 0):
            fractions = [1 / test.n_branches] * test.n_branches
        else:
            fractions = [weight / known_weight for weight in branch_weights]
        branches = [[] for _ in range(test.n_branches)]
        for row, weight in cases:
            if branch_of[row] is not None:
                branches[branch_of[row]].append((row, weight))
                continue
            for branch, fraction in zip(branches, fractions, strict=True):
                if is_greater(fraction, 0):
                    branch.append((row, weight * fraction))
        return branches


def list_nodes(root):
    """The nodes as the other references write them, in breadth-first order."""
    return number_breadth_first(describe(root, parent=None))


def describe(node, parent):
    """A node as a dict; an empty one says what its parent says."""
    statistics = [node.class_weights] if node.cases else parent["statistics"]
    described = {
        "statistics": statistics,
        "impurity": compute_entropy(statistics[0]),
        "weight": node.weight,
        "n_samples": len(node.cases),
    }
    described["children"] = [describe(child, described) for child in node.children]
    test = node.test or NodeTest(feature=-2, kind="leaf", n_branches=0, threshold=-2.0)
    return described | {
        "feature": test.feature,
        "kind": test.kind,
        "threshold": test.threshold,
        "level_map": test.level_map,
        "missing_branch": FRACTIONAL if node.test else STAY,
        "surrogates": [],
        "improvement": compute_improvement(described) if node.test else 0.0,
    }


def compute_improvement(described):
    """Impurity less the mean impurity of the children."""
    remaining = math.fsum(
        child["weight"] / described["weight"] * child["impurity"]
        for child in described["children"]
    )
    return max(described["impurity"] - remaining, 0.0)
