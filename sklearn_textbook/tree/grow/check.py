"""Consistency checks of the arrays of a grown tree."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.importances import list_first_levels
from sklearn_textbook.tree.grow.layout import (
    DENSE_MAP,
    FRACTIONAL,
    LEAF,
    NOMINAL,
    NUMERIC,
    OBLIQUE,
    ORDINAL,
    STAY,
    TREE_LEAF,
    TREE_UNDEFINED,
)
from sklearn_textbook.tree.grow.level_map import list_places, measure_level_maps

UNSEEN_POLICIES = ("parent", "fractional", "error")

#: Relative error of sums of weights, which may have been added in another order.
ROUNDING = 1e-6

_KINDS = (LEAF, NUMERIC, ORDINAL, NOMINAL, OBLIQUE)


def check_tree(tree) -> None:
    """Raise ValueError for an inconsistent tree."""
    nodes, surrogates, n_levels = tree.nodes, tree.surrogates, tree.n_levels
    if tree.n_features < 1:
        raise ValueError(f"n_features is {tree.n_features}, but must be at least 1.")
    if n_levels.shape != (tree.n_features,) or n_levels.min() < 0:
        raise ValueError(
            "n_levels must have a number >= 0 for each feature, of which there are "
            f"{tree.n_features}."
        )
    if tree.handle_unknown not in UNSEEN_POLICIES:
        raise ValueError(
            f"handle_unknown is {tree.handle_unknown!r}, not one of {UNSEEN_POLICIES}."
        )
    _check_statistics(tree)
    _check_shape(nodes)
    _check_weights(tree)
    inner = nodes["kind"] != LEAF
    _check_tests(nodes, inner, tree, "nodes")
    _check_branches(nodes, inner)
    # Most trees have numeric tests only.
    if np.any(nodes["kind"] == NOMINAL):
        _check_maps(nodes, nodes["n_children"], tree, "nodes")
    if len(surrogates):
        _check_surrogates(tree)
        n_children = nodes["n_children"][surrogates["node"]]
        _check_maps(surrogates, n_children, tree, "surrogates")
    if len(tree.terms) or np.any(nodes["kind"] == OBLIQUE):
        _check_terms(tree)
    if len(tree.slopes) or len(tree.bounds):
        _check_slopes(tree)


def refuse(wrong: np.ndarray, name: str, rule: str) -> None:
    """Raise an error for the first record for which ``wrong`` is true."""
    if np.any(wrong):
        position = int(np.argmax(wrong))
        raise ValueError(f"{name}, record {position}: {rule}.")


def _check_statistics(tree) -> None:
    statistics, n_classes = tree.statistics, tree.n_classes
    n_outputs = len(n_classes)
    if tree.node_count == 0:
        raise ValueError("The tree has no nodes.")
    if n_outputs == 0 or n_classes.min() < 1:
        raise ValueError("n_classes must have a number >= 1 for each output.")
    if not tree.is_classifier and n_classes.max() > 1:
        raise ValueError("n_classes must be 1 for each output of a regression tree.")
    shape = (tree.node_count, n_outputs, int(n_classes.max()))
    if statistics.shape != shape:
        raise ValueError(
            f"statistics has shape {statistics.shape}, but nodes and n_classes ask "
            f"for {shape}."
        )
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(np.abs(statistics).sum(axis=2)).all()
    if not is_finite:
        raise ValueError("statistics must hold numbers whose sums are finite.")
    if tree.is_classifier and statistics.min() < 0:
        raise ValueError("statistics must hold class weights, numbers >= 0.")
    for output, count in enumerate(n_classes):
        if statistics[:, output, count:].any():
            raise ValueError(
                f"statistics has weights of more than the {count} classes of output "
                f"{output}."
            )


def _check_shape(nodes) -> None:
    """Check that children are consecutive, in breadth-first order, with one root."""
    kind, count = nodes["kind"], nodes["n_children"]
    refuse(~np.isin(kind, _KINDS), "nodes", f"kind must be one of {_KINDS}")
    inner = kind != LEAF
    refuse(
        np.where(inner, count < 2, count != 0),
        "nodes",
        "n_children must be 0 in a leaf and at least 2 elsewhere",
    )
    stop = 1 + np.cumsum(count, dtype=np.int64)
    if stop[-1] != len(nodes):
        raise ValueError(
            f"nodes: the numbers of children make {stop[-1]} nodes, but there are "
            f"{len(nodes)}."
        )
    expected = np.where(inner, stop - count, TREE_LEAF)
    refuse(
        nodes["first_child"] != expected,
        "nodes",
        "first_child must be -1 in a leaf, and number the nodes breadth first",
    )
    refuse(
        inner & (expected <= np.arange(len(nodes))),
        "nodes",
        "children must stand behind their parent",
    )
    parents = np.repeat(np.arange(len(nodes)), count)
    refuse(
        nodes["parent"] != np.concatenate([[-1], parents]),
        "nodes",
        "parent contradicts first_child and n_children",
    )


def _check_weights(tree) -> None:
    """Check the weights of nodes, and that they are those of their classes."""
    nodes = tree.nodes
    weight = nodes["weight"]
    refuse(
        ~np.isfinite(weight) | (weight < 0) | (nodes["n_samples"] < 0),
        "nodes",
        "weight and n_samples must be finite and not negative",
    )
    if not weight[0] > 0:
        raise ValueError("nodes, record 0: weight must be positive.")
    refuse(~np.isfinite(nodes["improvement"]), "nodes", "improvement must be finite")
    if tree.is_classifier:
        # Nodes without weight have estimated proportions.
        gap = np.abs(tree.statistics.sum(axis=2) - weight[:, np.newaxis]).max(axis=1)
        refuse(
            (weight > 0) & (gap > ROUNDING * weight),
            "statistics",
            "the class weights must add up to the weight of the node",
        )


def _check_tests(records, tests, tree, name) -> None:
    """Check columns and thresholds of the records with tests."""
    feature, kind = records["feature"], records["kind"]
    refuse(
        tests & ((feature < 0) | (feature >= tree.n_features)),
        name,
        f"feature must be 0 to {tree.n_features - 1}",
    )
    levels = tree.n_levels[np.where(tests, feature, 0)]
    refuse(
        tests & ((kind == ORDINAL) | (kind == NOMINAL)) & (levels == 0),
        name,
        "an ordinal or nominal test needs a feature with levels",
    )
    refuse(
        tests & (kind == NUMERIC) & (levels > 0),
        name,
        "a numeric test needs a feature without levels",
    )
    ordered = (kind == NUMERIC) | (kind == ORDINAL)
    refuse(
        tests & ordered & np.isnan(records["threshold"]),
        name,
        "threshold must be a number",
    )


def _check_branches(nodes, inner) -> None:
    count, missing = nodes["n_children"], nodes["missing_branch"]
    refuse(
        ~inner & (nodes["feature"] != TREE_UNDEFINED),
        "nodes",
        f"feature must be {TREE_UNDEFINED} in a leaf",
    )
    refuse(
        inner & ((missing < FRACTIONAL) | (missing >= count)),
        "nodes",
        "missing_branch must be a child's number, -1 or -2",
    )
    refuse(
        inner & (nodes["kind"] != NOMINAL) & (count > 3),
        "nodes",
        "a numeric or ordinal test has two children, and a third for missing values",
    )
    is_oblique = nodes["kind"] == OBLIQUE
    refuse(is_oblique & (count != 2), "nodes", "an oblique test must have two children")
    refuse(
        is_oblique & (missing != STAY),
        "nodes",
        f"missing_branch of an oblique test must be {STAY}",
    )
    refuse(
        is_oblique & ~np.isfinite(nodes["threshold"]),
        "nodes",
        "threshold of an oblique test must be finite",
    )


def _check_maps(records, n_children, tree, name) -> None:
    """Check the level maps of nominal tests; see level_map.py for their forms."""
    level_branch = tree.level_branch
    nominal = records["kind"] == NOMINAL
    start = records["map_start"]
    rule = "the level map must lie within level_branch"
    refuse(nominal & ((start < 0) | (start >= len(level_branch))), name, rule)
    owner = np.flatnonzero(nominal)
    start, n_levels = start[owner], tree.n_levels[records["feature"][owner]]
    n_pairs = level_branch[start].astype(np.int64)
    wrong = np.zeros(len(records), dtype=bool)
    wrong[owner] = n_pairs < DENSE_MAP
    refuse(wrong, name, f"the level map must start with {DENSE_MAP} or a number >= 0")
    length = measure_level_maps(level_branch, start, n_levels)
    wrong[owner] = start > len(level_branch) - length
    refuse(wrong, name, rule)
    if length.sum() > len(level_branch):
        raise ValueError(f"{name}: level maps overlap in level_branch.")
    is_dense = n_pairs == DENSE_MAP
    n_pairs[is_dense] = 0
    n_entries = np.where(is_dense, n_levels, n_pairs)
    children = level_branch[list_places(start + 1 + n_pairs, n_entries)]
    wrong = (children < -1) | (children >= np.repeat(n_children[owner], n_entries))
    _refuse_map(wrong, owner, n_entries, name, "names a child it does not have")
    codes = level_branch[list_places(start + 1, n_pairs)]
    wrong = (codes < 0) | (codes >= np.repeat(n_levels, n_pairs))
    _refuse_map(wrong, owner, n_pairs, name, "names a level its column does not have")
    # A decrease is allowed only from one map to the next.
    map_number = np.repeat(np.arange(len(owner)), n_pairs)
    wrong[1:] = (np.diff(codes) <= 0) & (np.diff(map_number) == 0)
    _refuse_map(wrong, owner, n_pairs, name, "must name its levels in ascending order")


def _refuse_map(wrong, owner, n_entries, name, what) -> None:
    """Raise an error for the map with the first entry for which ``wrong`` is true."""
    if np.any(wrong):
        record = np.repeat(owner, n_entries)[np.argmax(wrong)]
        raise ValueError(f"{name}, record {record}: its level map {what}.")


def _check_surrogates(tree) -> None:
    nodes, surrogates = tree.nodes, tree.surrogates
    node, kind = surrogates["node"], surrogates["kind"]
    refuse(
        (node < 0) | (node >= len(nodes)), "surrogates", "node must be a node's number"
    )
    refuse(
        nodes["kind"][node] == LEAF, "surrogates", "node must not be a leaf's number"
    )
    refuse(
        nodes["kind"][node] == OBLIQUE,
        "surrogates",
        "node must not be the number of an oblique test",
    )
    if np.any(np.diff(node) < 0):
        raise ValueError("surrogates must be sorted by node.")
    refuse(
        ~np.isin(kind, (NUMERIC, ORDINAL, NOMINAL)),
        "surrogates",
        "kind must be numeric, ordinal or nominal",
    )
    _check_tests(surrogates, np.full(len(surrogates), True), tree, "surrogates")
    low = surrogates["low_branch"]
    refuse(
        (low > 1) | (low < np.where(kind == NOMINAL, -1, 0)),
        "surrogates",
        "low_branch must be 0 or 1, or -1 in a nominal test",
    )


def _check_terms(tree) -> None:
    """Check that every oblique test, and no other node, has terms that can be added."""
    nodes, terms = tree.nodes, tree.terms
    node, feature, level = terms["node"], terms["feature"], terms["level"]
    refuse((node < 0) | (node >= len(nodes)), "terms", "node must be a node's number")
    is_oblique = nodes["kind"] == OBLIQUE
    refuse(~is_oblique[node], "terms", "node must be the number of an oblique test")
    if np.any(np.diff(node) < 0):
        raise ValueError("terms must be sorted by node.")
    n_terms = np.bincount(node, minlength=len(nodes))
    refuse(is_oblique & (n_terms == 0), "nodes", "an oblique test must have terms")
    refuse(
        (feature < 0) | (feature >= tree.n_features),
        "terms",
        f"feature must be 0 to {tree.n_features - 1}",
    )
    refuse(
        (level < -1) | ((level >= 0) & (level >= tree.n_levels[feature])),
        "terms",
        "level must be a level of its column, or -1",
    )
    refuse(
        ~(np.isfinite(terms["weight"]) & np.isfinite(terms["fill"])),
        "terms",
        "weight and fill must be finite",
    )
    fraction = terms["share"]
    refuse(~((fraction >= 0) & (fraction <= 1)), "terms", "share must be 0 to 1")
    _check_columns_of_terms(nodes, terms, tree.n_features)


def _check_slopes(tree) -> None:
    """Check that equations can be added up, and that each node has bounds."""
    slopes, bounds = tree.slopes, tree.bounds
    if tree.is_classifier or tree.n_outputs > 1:
        raise ValueError("slopes need a regression tree of one output.")
    if bounds.shape != (tree.node_count, 2) or not (
        np.isfinite(bounds).all() and np.all(bounds[:, 0] <= bounds[:, 1])
    ):
        raise ValueError("bounds must have two ascending numbers for each node.")
    node, feature = slopes["node"], slopes["feature"]
    is_known = (node >= 0) & (node < tree.node_count)
    refuse(~is_known, "slopes", "node must be a node's number")
    if np.any(np.diff(node) < 0):
        raise ValueError("slopes must be sorted by node.")
    refuse(
        (feature < 0) | (feature >= tree.n_features),
        "slopes",
        f"feature must be 0 to {tree.n_features - 1}",
    )
    for name in ("weight", "center", "error"):
        refuse(~np.isfinite(slopes[name]), "slopes", f"{name} must be finite")


def _check_columns_of_terms(nodes, terms, n_features) -> None:
    """Check that the terms of a column are consecutive, with ascending levels."""
    first = list_first_levels(terms)
    is_more = np.full(len(terms), True)
    is_more[first] = False
    more = np.flatnonzero(is_more)
    level, is_wrong = terms["level"], np.zeros(len(terms), dtype=bool)
    is_wrong[more] = (level[more - 1] < 0) | (level[more] <= level[more - 1])
    refuse(is_wrong, "terms", "levels of a column must be ascending")
    for name in ("fill", "share"):
        is_wrong[more] = terms[name][more] != terms[name][more - 1]
        refuse(is_wrong, "terms", f"levels of a column must have the same {name}")
    column = terms["node"][first] * np.int64(n_features) + terms["feature"][first]
    is_wrong[first] = True
    is_wrong[first[np.unique(column, return_index=True)[1]]] = False
    refuse(is_wrong, "terms", "terms of a column must be consecutive")
    # A test is named by its first column.
    tests = np.flatnonzero(nodes["kind"] == OBLIQUE)
    is_wrong = np.zeros(len(nodes), dtype=bool)
    start = np.searchsorted(terms["node"], tests)
    is_wrong[tests] = nodes["feature"][tests] != terms["feature"][start]
    refuse(is_wrong, "nodes", "feature of an oblique test must be that of its terms")
