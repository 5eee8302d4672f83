"""C4.5 in plain Python: collapsing, and pruning by a pessimistic error estimate."""

import math
import struct
from statistics import NormalDist

from tests.reference.c45_measures import (
    count_errors,
    find_largest_branch,
    is_at_most,
    is_equal,
)

#: A subtree must save more errors than this, or it is collapsed.
COLLAPSE_SLACK = 0.001

#: What is simpler may have so many more estimated errors.
PRUNING_SLACK = 0.1


def list_leaves(node):
    """The leaves of a node, itself if it is one."""
    if not node.children:
        return [node]
    return [leaf for child in node.children for leaf in list_leaves(child)]


def collapse(node):
    """Make every node a leaf whose leaves make no fewer errors on its cases."""
    leaf_errors = math.fsum(
        count_errors(leaf.class_weights) for leaf in list_leaves(node)
    )
    if leaf_errors >= count_errors(node.class_weights) - COLLAPSE_SLACK:
        node.become_leaf()
    for child in node.children:
        collapse(child)


def prune_by_errors(root, grower):
    """Replace subtrees by leaves or by their largest branch."""
    settings = grower.settings
    Pruner(grower, settings.confidence, settings.subtree_raising).prune(root)


class Pruner:
    """Compares a node with the leaf and the branch that could take its place."""

    def __init__(self, grower, confidence, subtree_raising):
        self.grower = grower
        self.confidence = confidence
        self.subtree_raising = subtree_raising

    def prune(self, node):
        """Prune the branches of a node, then the node itself."""
        if not node.children:
            return
        for child in node.children:
            self.prune(child)
        branch = node.children[
            find_largest_branch([child.weight for child in node.children])
        ]
        leaf_errors = self.estimate_leaf(node.class_weights)
        tree_errors = math.fsum(
            self.estimate_leaf(leaf.class_weights) for leaf in list_leaves(node)
        )
        branch_errors = math.inf
        if self.subtree_raising:
            branch_errors = self.estimate_branch(branch, node.cases)
        if is_at_most(leaf_errors, tree_errors + PRUNING_SLACK) and is_at_most(
            leaf_errors, branch_errors + PRUNING_SLACK
        ):
            node.become_leaf()
        elif is_at_most(branch_errors, tree_errors + PRUNING_SLACK):
            node.test, node.children = branch.test, branch.children
            self.redistribute(node, node.cases)
            self.prune(node)

    def estimate_leaf(self, class_weights):
        """Errors to be expected of a leaf with these cases."""
        weight = math.fsum(class_weights)
        if is_equal(weight, 0):
            return 0.0
        errors = count_errors(class_weights)
        return errors + estimate_more_errors(weight, errors, self.confidence)

    def estimate_branch(self, node, cases):
        """Errors to be expected of a subtree if these cases were sent down it."""
        if not node.children:
            return self.estimate_leaf(self.grower.count_classes(cases))
        branches = self.grower.distribute(node.test, cases)
        return math.fsum(
            self.estimate_branch(child, branch)
            for child, branch in zip(node.children, branches, strict=True)
        )

    def redistribute(self, node, cases):
        """Give a subtree other cases; its tests stay as they are."""
        node.cases = cases
        node.class_weights = self.grower.count_classes(cases)
        if node.children:
            branches = self.grower.distribute(node.test, cases)
            for child, branch in zip(node.children, branches, strict=True):
                self.redistribute(child, branch)


def estimate_more_errors(weight, errors, confidence):
    """What the upper limit of the binomial error rate adds to the errors counted."""
    confidence = round_to_single(confidence)
    if confidence > 0.5:
        return 0.0
    if errors < 1:
        none = weight * (1 - confidence ** (1 / weight))
        if errors == 0:
            return none
        one = estimate_more_errors(weight, 1, confidence)
        return none + errors * (one - none)
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    z = NormalDist().inv_cdf(round_to_single(1 - confidence))
    share = (errors + 0.5) / weight
    root = math.sqrt(share / weight - share**2 / weight + z**2 / (4 * weight**2))
    upper = (share + z**2 / (2 * weight) + z * root) / (1 + z**2 / weight)
    return upper * weight - errors


def round_to_single(number):
    """The nearest number in single precision, in which J48 holds the confidence."""
    return struct.unpack("f", struct.pack("f", number))[0]
