"""Routing in plain Python, on the arrays of a grown tree: rows, leaves, paths."""

import numpy as np

from tests.reference.cart_route import find_branch, find_shares
from tests.reference.cart_splits import MISSING
from tests.reference.compare import read_grown_tree


def read_rows(matrix):
    """The rows of a table as the references write them."""
    return [[MISSING if v != v else v for v in row] for row in matrix.tolist()]


def find_entered_nodes(nodes, row, handle_unknown):
    """(all nodes that a row enters, the node where it ends or is first divided)."""
    entered, end = [0], None
    for number in entered:
        node = nodes[number]
        branch = find_branch(node, row) if node["children"] else "stay"
        if branch == "unseen":
            branch = "fractional" if handle_unknown == "fractional" else "stay"
        if branch == "fractional":
            entered += [c for c in node["children"] if nodes[c]["weight"] > 0]
        elif branch != "stay":
            entered.append(node["children"][branch])
            continue
        if end is None:
            end = number
    return sorted(entered), end


def find_leaves(tree, matrix):
    nodes = read_grown_tree(tree)
    return [
        find_entered_nodes(nodes, r, tree.handle_unknown)[1] for r in read_rows(matrix)
    ]


def find_decision_path(tree, matrix):
    nodes = read_grown_tree(tree)
    path = np.zeros((len(matrix), len(nodes)), dtype=np.int64)
    for number, row in enumerate(read_rows(matrix)):
        path[number, find_entered_nodes(nodes, row, tree.handle_unknown)[0]] = 1
    return path


def predict_statistics(tree, matrix):
    nodes = read_grown_tree(tree)
    predicted = np.zeros((len(matrix), *tree.statistics.shape[1:]))
    for number, row in enumerate(read_rows(matrix)):
        for node, share in find_shares(nodes, row, handle_unknown=tree.handle_unknown):
            for output, statistics in enumerate(nodes[node]["statistics"]):
                total = sum(statistics) if tree.is_classifier else 1.0
                for entry, value in enumerate(statistics):
                    predicted[number, output, entry] += share * value / total
    return predicted
