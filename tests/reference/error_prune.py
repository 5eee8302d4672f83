"""Error-based pruning in plain Python, of any classification tree of one output.

A case is (row, weight). A node is a dictionary as read_grown_tree writes it; here it
gets its cases, its children as nodes, and the number it had in the grown tree.
"""

import math

from tests.reference.c45_measures import (
    find_largest_branch,
    find_majority_class,
    is_at_most,
    is_equal,
)
from tests.reference.c45_prune import PRUNING_SLACK, estimate_more_errors
from tests.reference.cart_route import find_branch, judge_value
from tests.reference.cart_splits import MISSING


class TreePruner:
    """Prunes a tree, and writes down every step."""

    def __init__(self, nodes, rows, labels, weights, handle_unknown, confidence):
        self.rows, self.labels, self.handle_unknown = rows, labels, handle_unknown
        self.confidence = confidence
        self.n_classes = len(nodes[0]["statistics"][0])
        self.has_surrogates = any(node["surrogates"] for node in nodes)
        self.steps = []
        self.nodes = [dict(node, number=i) for i, node in enumerate(nodes)]
        for node in self.nodes:
            node["children"] = [self.nodes[child] for child in node["children"]]
        cases = [(row, weight) for row, weight in enumerate(weights) if weight > 0]
        self.root = self.nodes[0]
        self.place(self.root, cases)

    def prune(self, node, *, raises):
        """Prune the branches of a node, then the node itself."""
        if not node["children"]:
            return
        for child in node["children"]:
            self.prune(child, raises=raises)
        total = self.estimate(self.root, self.root["cases"])
        as_tree = self.estimate(node, node["cases"])
        as_leaf = self.estimate_leaf(node["cases"])
        weights = [add_weights(child["cases"]) for child in node["children"]]
        branch = node["children"][find_largest_branch(weights)]
        as_branch = self.estimate(branch, node["cases"]) if raises else math.inf
        step = {"node": node["number"], "raised_node": -1, "before": total}
        self.steps.append(step)
        step["after"] = total - as_tree + as_leaf
        if is_at_most(as_leaf, as_tree + PRUNING_SLACK) and is_at_most(
            as_leaf, as_branch + PRUNING_SLACK
        ):
            step["decision"] = "pruned"
            node.update(children=[], kind="leaf")
        elif is_at_most(as_branch, as_tree + PRUNING_SLACK):
            step["decision"], step["raised_node"] = "raised", branch["number"]
            step["after"] = total - as_tree + as_branch
            cases = node["cases"]
            node.update(branch, improvement=None)
            self.place(node, cases)
            self.prune(node, raises=raises)
        else:
            step["decision"] = "kept"

    def place(self, node, cases):
        """Send cases down a node; it and those below take them over."""
        node["cases"] = cases
        if node["children"]:
            branches, _ = self.divide(node, cases)
            for child, branch in zip(node["children"], branches, strict=True):
                self.place(child, branch)

    def divide(self, node, cases):
        """The cases of every child, and those that stay."""
        branches, staying, divided = [[] for _ in node["children"]], [], []
        if self.has_surrogates:
            node = {**node, "missing_branch": self.find_default(node, cases)}
        for row, weight in cases:
            branch = find_branch(node, self.rows[row])
            if branch == "unseen":
                is_parted = (
                    node["missing_branch"] == -2 or self.handle_unknown == "fractional"
                )
                branch = "fractional" if is_parted else "stay"
            target = {"stay": staying, "fractional": divided}.get(branch)
            (branches[branch] if target is None else target).append((row, weight))
        weights = [add_weights(branch) for branch in branches]
        for branch, weight in zip(branches, weights, strict=True):
            known = math.fsum(weights)
            share = weight / known if known >= 1e-6 else 1 / len(branches)
            if share > 1e-6:
                branch += [(row, part * share) for row, part in divided]
        return branches, staying

    def find_default(self, node, cases):
        """The child with most weight of known values, where surrogates do not tell."""
        weights = [0.0] * len(node["children"])
        for row, weight in cases:
            value = self.rows[row][node["feature"]]
            branch = "unseen" if value is MISSING else judge_value(node, value, 0)
            if branch != "unseen":
                weights[branch] += weight
        first, second = sorted(weights)[:-3:-1]
        is_tied = first - second <= 1e-12 * math.fsum(weights)
        return -1 if is_tied else weights.index(first)

    def estimate(self, node, cases):
        """Errors to be expected of a node and all below if it had these cases."""
        if not node["children"]:
            return self.estimate_leaf(cases)
        branches, staying = self.divide(node, cases)
        return math.fsum(
            [self.estimate_staying(cases, staying)]
            + [
                self.estimate(child, branch)
                for child, branch in zip(node["children"], branches, strict=True)
            ]
        )

    def estimate_leaf(self, cases):
        return self.estimate_staying(cases, cases)

    def estimate_staying(self, cases, staying):
        """Some of a node's cases, for which the majority of all of them decides."""
        majority = find_majority_class(self.count_classes(cases))
        weights = self.count_classes(staying)
        total = math.fsum(weights)
        if is_equal(total, 0):
            return 0.0
        errors = total - weights[majority]
        return errors + estimate_more_errors(total, errors, self.confidence)

    def count_classes(self, cases):
        counts = [[] for _ in range(self.n_classes)]
        for row, weight in cases:
            counts[self.labels[row]].append(weight)
        return [math.fsum(weights) for weights in counts]

    def list_nodes(self):
        """The nodes that are left, breadth first."""
        found = [self.root]
        for node in found:
            found += node["children"]
        return found


def add_weights(cases):
    return math.fsum(weight for _, weight in cases)


def compute_impurity(class_weights, criterion):
    """Of a node with such classes."""
    total = math.fsum(class_weights)
    shares = [weight / total for weight in class_weights if weight > 0]
    if criterion == "gini":
        return 1 - math.fsum(share**2 for share in shares)
    if criterion == "error":
        return 1 - max(shares)
    return -math.fsum(share * math.log2(share) for share in shares)
