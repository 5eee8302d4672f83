"""Pruning by a penalised loss, and all rooted subtrees, in plain Python.

A node is a dictionary: ``number``, ``depth``, ``weight``, ``values`` (of each output
the class weights; of a regression tree None), ``impurity`` (as the node holds it),
``stays`` (weight of the rows that end in it although it is no leaf), ``children``.
"""

import math
from itertools import product


def read_tree(tree, number=0, depth=0):
    """The nodes of a GrownTree below a node, which comes with them."""
    record = tree.nodes[number]
    first, count = int(record["first_child"]), int(record["n_children"])
    children = [read_tree(tree, first + i, depth + 1) for i in range(count)]
    below = sum(child["weight"] for child in children)
    return {
        "number": number,
        "depth": depth,
        "weight": float(record["weight"]),
        "values": tree.statistics[number].tolist() if tree.is_classifier else None,
        "impurity": float(record["impurity"]),
        "stays": float(record["weight"]) - below if children else 0.0,
        "children": children,
    }


def measure_loss(node, criterion):
    """N_t H_t; of a regression tree by the impurity of the node."""
    if node["values"] is None:
        return node["weight"] * node["impurity"]
    losses = []
    for counts in node["values"]:
        total = sum(counts)
        if criterion == "gini":
            losses.append(total - sum(n * n for n in counts) / (total or 1))
        elif criterion == "error":
            losses.append(total - max(counts))
        else:
            losses.append(-sum(n * math.log(n / total) for n in counts if n))
    return sum(losses) / len(losses) if node["weight"] else 0.0


def measure_tree(node, alpha, criterion, leaves):
    """C_alpha of the tree in which the nodes of a set are leaves, whatever is below."""
    if not node["children"] or node["number"] in leaves:
        return measure_loss(node, criterion) + alpha
    stays = node["stays"] / (node["weight"] or 1) * measure_loss(node, criterion)
    return stays + sum(
        measure_tree(child, alpha, criterion, leaves) for child in node["children"]
    )


def list_nodes(node):
    return [node, *(below for child in node["children"] for below in list_nodes(child))]


def prune_by_loss(root, alpha, criterion, slack=1e-12):
    """Algorithm 5.4: take leaves back into their parent if the whole tree gains.

    Gives the numbers of the new leaves and (number, pruned, loss before, loss after)
    of every inner node, the deepest first.
    """
    inner = [node for node in list_nodes(root) if node["children"]]
    inner.sort(key=lambda node: (-node["depth"], node["number"]))
    slack *= measure_loss(root, criterion) + alpha
    leaves, steps = set(), []
    for node in inner:
        before = measure_tree(root, alpha, criterion, leaves)
        after = measure_tree(root, alpha, criterion, leaves | {node["number"]})
        is_pruned = after <= before + slack
        if is_pruned:
            leaves.add(node["number"])
        steps.append((node["number"], is_pruned, before, after))
    return leaves, steps


def list_subtrees(node, measure, measure_stay=lambda node: 0.0):
    """(loss of the leaves, number of leaves, set of the nodes that stay split) of
    every subtree with this root."""
    yield measure(node), 1, frozenset()
    if not node["children"]:
        return
    below = [
        list(list_subtrees(child, measure, measure_stay)) for child in node["children"]
    ]
    for parts in product(*below):
        loss = measure_stay(node) + sum(part[0] for part in parts)
        splits = frozenset([node["number"]]).union(*(part[2] for part in parts))
        yield loss, sum(part[1] for part in parts), splits


def count_subtrees(node):
    """Number of subtrees with this root."""
    return 1 + math.prod(count_subtrees(child) for child in node["children"]) * bool(
        node["children"]
    )
