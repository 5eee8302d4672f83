"""Minimal cost-complexity pruning in plain Python."""

from fractions import Fraction

from tests.reference.node_risks import list_node_risks


def find_weakest_links(tree, number=Fraction, risk="impurity", costs=None):
    """(alpha, risk of the leaves, number of leaves, node that falls) of each step.

    With ``number=float`` rounding decides between ties, as in the kernel: sums are
    built leaf by leaf in preorder, and changed by each cut.
    """
    records = tree.nodes
    risk = list_node_risks(tree, risk, number, costs)
    parent = records["parent"].tolist()
    preorder = list_preorder(0, records)
    inner = {node for node in preorder if records["n_children"][node]}
    branch_risk = [number(0)] * len(records)
    n_leaves = [0] * len(records)
    for leaf in preorder:
        if leaf not in inner:
            for node in list_ancestors(leaf, parent):
                branch_risk[node] += risk[leaf]
                n_leaves[node] += 1
            branch_risk[leaf], n_leaves[leaf] = risk[leaf], 1
    steps = [(number(0), branch_risk[0], n_leaves[0], -1)]
    while inner:
        strength = {
            node: (risk[node] - branch_risk[node]) / (n_leaves[node] - 1)
            for node in preorder
            if node in inner
        }
        weakest = min(strength, key=strength.get)  # of equals the first in preorder
        inner.difference_update(list_preorder(weakest, records))
        for node in list_ancestors(weakest, parent):
            branch_risk[node] += risk[weakest] - branch_risk[weakest]
            n_leaves[node] -= n_leaves[weakest] - 1
        branch_risk[weakest], n_leaves[weakest] = risk[weakest], 1
        steps.append((strength[weakest], branch_risk[0], n_leaves[0], weakest))
    return steps


def list_preorder(node, records):
    """The nodes of a branch, first child first."""
    listed, stack = [], [node]
    while stack:
        node = stack.pop()
        listed.append(node)
        first, count = records["first_child"][node], records["n_children"][node]
        stack += range(first + count - 1, first - 1, -1)
    return listed


def list_ancestors(node, parent):
    while parent[node] >= 0:
        node = parent[node]
        yield node
