"""Grown trees for the tests of routing, pruning and the tree itself.

Random trees with every kind of test stand in ``tests/explain/builders.py``.
"""

import numpy as np

from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import (
    DENSE_MAP,
    LEAF,
    NODE_DTYPE,
    NUMERIC,
    STAY,
    TREE_LEAF,
    TREE_UNDEFINED,
)


def make_nodes(n_children):
    """Node records of the shape that the numbers of children tell, breadth first."""
    n_children = np.asarray(n_children)
    inner = n_children > 0
    nodes = np.zeros(len(n_children), dtype=NODE_DTYPE)
    stops = 1 + np.cumsum(n_children)
    nodes["n_children"] = n_children
    nodes["first_child"] = np.where(inner, stops - n_children, TREE_LEAF)
    nodes["parent"][0] = -1
    nodes["parent"][1:] = np.repeat(np.arange(len(n_children)), n_children)
    nodes["kind"] = np.where(inner, NUMERIC, LEAF)
    nodes["feature"] = np.where(inner, 0, TREE_UNDEFINED)
    nodes["threshold"] = np.where(inner, 0.0, TREE_UNDEFINED)
    nodes["missing_branch"] = STAY
    nodes["map_start"] = -1
    nodes["n_samples"] = nodes["weight"] = 1
    return nodes


def write_level_map(children, is_sparse):
    """A level map of the child numbers of all levels, in one of the two forms."""
    if not is_sparse:
        return [DENSE_MAP, *children]
    codes = [code for code, child in enumerate(children) if child >= 0]
    return [len(codes), *codes, *(children[code] for code in codes)]


def make_tree(nodes, statistics=None, n_features=1, is_classifier=False, **fields):
    """A tree of numeric columns; regression, every node's value its number."""
    if statistics is None:
        statistics = np.arange(len(nodes), dtype=np.float64)[:, None, None]
    n_outputs, n_statistics = statistics.shape[1:]
    fields.setdefault("n_levels", np.zeros(n_features, dtype=np.int64))
    return GrownTree(
        nodes=nodes,
        statistics=np.ascontiguousarray(statistics, dtype=np.float64),
        n_features=n_features,
        n_classes=np.full(n_outputs, n_statistics, dtype=np.int64),
        is_classifier=is_classifier,
        **fields,
    )


def random_shape(rng, n_inner, max_children=2):
    """Numbers of children of a random tree, breadth first."""
    n_children, n_open = [], 1
    while n_open:
        # The last open node has to go on while there are inner nodes to come.
        splits = n_inner > 0 and (n_open == 1 or rng.random() < 0.6)
        count = int(rng.integers(2, max_children + 1)) if splits else 0
        n_inner -= splits
        n_open += count - 1
        n_children.append(count)
    return n_children


def number_breadth_first(children_left, children_right):
    """scikit-learn's node numbers in breadth-first order."""
    order, level = [], np.zeros(1, dtype=np.intp)
    while len(level):
        order.append(level)
        inner = level[children_left[level] != TREE_LEAF]
        level = np.stack([children_left[inner], children_right[inner]], 1).ravel()
    return np.concatenate(order)


def convert_sklearn_tree(estimator):
    """The tree of a fitted scikit-learn estimator, and its node numbers in our order.

    scikit-learn compares values rounded to float32: route such tables.
    """
    source = estimator.tree_
    order = number_breadth_first(source.children_left, source.children_right)
    inner = source.children_left[order] != TREE_LEAF
    nodes = make_nodes(np.where(inner, 2, 0))
    for name, values in (
        ("feature", source.feature),
        ("threshold", source.threshold),
        ("impurity", source.impurity),
        ("n_samples", source.n_node_samples),
        ("weight", source.weighted_n_node_samples),
    ):
        nodes[name] = values[order]
    nodes["missing_branch"][inner] = 1 - source.missing_go_to_left[order][inner]
    risk = nodes["weight"] * nodes["impurity"]
    first = nodes["first_child"][inner]
    gain = risk[inner] - risk[first] - risk[first + 1]
    nodes["improvement"][inner] = gain / nodes["weight"][inner]
    statistics = source.value[order]
    is_classifier = hasattr(estimator, "classes_")
    if is_classifier:
        statistics = statistics * nodes["weight"][:, None, None]
    tree = make_tree(
        nodes, statistics, estimator.n_features_in_, is_classifier=is_classifier
    )
    return tree.replace(n_classes=source.n_classes.astype(np.int64)), order
