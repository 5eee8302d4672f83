"""rpart's approximate cost-complexity sequence in plain Python, by recursion."""

from tests.reference.node_risks import list_node_risks


def find_rpart_subtrees(tree, risk="impurity", costs=None):
    """(alpha, risk of the leaves, number of leaves, inner nodes) of each subtree."""
    risks = list_node_risks(tree, risk, costs=costs)
    complexity = {}
    hand_up(0, tree, risks, complexity)
    cap_below(0, tree, complexity)
    subtrees = []
    for alpha in sorted({0, *complexity.values()}):
        inner = {node for node, value in complexity.items() if value > alpha}
        leaves = list_leaves(0, tree, inner)
        subtrees.append((alpha, sum(risks[t] for t in leaves), len(leaves), inner))
    return subtrees


def list_children(node, tree):
    record = tree.nodes[node]
    first = int(record["first_child"])
    return range(first, first + int(record["n_children"]))


def hand_up(node, tree, risks, complexity):
    """Risk and number of leaves of the branch, before the node itself falls."""
    children = list_children(node, tree)
    if not children:
        return risks[node], 1
    branches = {child: hand_up(child, tree, risks, complexity) for child in children}
    falling = [child for child in children if branches[child][1] > 1]
    falling.sort(key=lambda child: (complexity[child], -child))
    while True:
        branch_risk = sum(branch[0] for branch in branches.values())
        n_leaves = sum(branch[1] for branch in branches.values())
        saved = (risks[node] - branch_risk) / (n_leaves - 1)
        if not falling or saved <= complexity[falling[0]]:
            break
        child = falling.pop(0)
        branches[child] = risks[child], 1
    complexity[node] = max(saved, 0)
    return (branch_risk, n_leaves) if saved > 0 else (risks[node], 1)


def cap_below(node, tree, complexity):
    """No node may stand longer than its parent."""
    for child in list_children(node, tree):
        if child in complexity:
            complexity[child] = min(complexity[child], complexity[node])
            cap_below(child, tree, complexity)


def list_leaves(node, tree, inner):
    if node not in inner:
        return [node]
    below = (list_leaves(child, tree, inner) for child in list_children(node, tree))
    return [leaf for leaves in below for leaf in leaves]
