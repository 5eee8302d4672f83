"""Cutting branches off, merging leaves, best-first growth: trees and their routing."""

import heapq

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.layout import LEAF
from sklearn_textbook.tree.grow.level_map import measure_level_maps
from sklearn_textbook.tree.prune import (
    cut_below,
    keep_best_first,
    merge_equal_leaves,
)
from sklearn_textbook.tree.route import find_decision_path, find_leaves
from tests.explain.builders import MODES, random_rows, random_tree
from tests.loops import loop_over
from tests.reference.compare import assert_same_nodes, read_grown_tree
from tests.tree_builders import (
    convert_sklearn_tree,
    make_nodes,
    make_tree,
    random_shape,
)


def list_below(tree, cut):
    """Mask of the nodes below one of ``cut``."""
    below = np.zeros(tree.node_count, dtype=bool)
    for node in range(1, tree.node_count):
        parent = tree.nodes["parent"][node]
        below[node] = below[parent] or parent in cut
    return below


def compare_nodes(pruned, tree, cut):
    """Every node of the pruned tree is the old one, or a leaf in its place."""
    old = np.flatnonzero(~list_below(tree, cut))
    number = {int(node): i for i, node in enumerate(old)}
    unpruned, nodes = read_grown_tree(tree), read_grown_tree(pruned)
    assert len(nodes) == len(old)
    leaf = {
        "children": [],
        "feature": -2,
        "kind": "leaf",
        "threshold": -2.0,
        "level_map": None,
        "missing_branch": -1,
        "improvement": 0.0,
        "surrogates": [],
    }
    for i, node in enumerate(old.tolist()):
        expected = unpruned[node] | (leaf if node in cut else {})
        expected["children"] = [number[child] for child in expected["children"]]
        expected["parent"] = number.get(expected["parent"], -1)
        assert_same_nodes(nodes[i], expected)
    return old


# ------------------------------------------------------------------------ cut_below
@loop_over("mode", MODES)
@loop_over("seed", range(12))
def test_cut_tree_is_the_old_one_above_the_cut(seed, mode):
    estimator = random_tree(seed, mode, "parent", n_classes=3, depth=5)
    tree = estimator.tree_
    rng = np.random.default_rng(seed)
    inner = np.flatnonzero(~tree.is_leaf)
    cut = rng.choice(inner, size=min(3, len(inner)), replace=False)
    pruned = cut_below(tree, cut)
    check_tree(pruned)
    old = compare_nodes(
        pruned, tree, {int(node) for node in cut if not tree.is_leaf[node]}
    )
    table = random_rows(rng, estimator.schema_, 100, with_unseen=True)
    path = find_decision_path(tree, table).toarray()[:, old]
    np.testing.assert_array_equal(find_decision_path(pruned, table).toarray(), path)


def test_level_maps_are_those_still_in_use():
    estimator = random_tree(4, "surrogate", depth=6)
    tree = estimator.tree_
    assert len(tree.level_branch) > 0
    for node in np.flatnonzero(~tree.is_leaf):
        pruned = cut_below(tree, [node])
        used = 0
        for records in (pruned.nodes, pruned.surrogates):
            records = records[records["map_start"] >= 0]
            n_levels = pruned.n_levels[records["feature"]]
            used += measure_level_maps(
                pruned.level_branch, records["map_start"], n_levels
            ).sum()
        assert len(pruned.level_branch) == used


def test_mask_numbers_and_nested_cuts_are_the_same():
    tree = make_tree(make_nodes([2, 2, 2, 2, 0, 0, 0, 0, 0]))
    mask = np.zeros(9, dtype=bool)
    mask[[1, 3]] = True
    expected = cut_below(tree, [1])
    assert expected.node_count == 5
    assert expected.value.ravel().tolist() == [0, 1, 2, 5, 6]
    for cut in (mask, [3, 1], (1, 1), np.array([1, 3, 7], np.uint8)):
        np.testing.assert_array_equal(cut_below(tree, cut).nodes, expected.nodes)


def test_nothing_to_cut_gives_the_tree_itself():
    tree = make_tree(make_nodes([2, 0, 0]))
    for cut in ([], [1, 2], np.zeros(3, dtype=bool), np.array([False, True, True])):
        assert cut_below(tree, cut) is tree


def test_the_tree_stays_as_it_was():
    tree = random_tree(1, "surrogate", depth=5).tree_
    before = tree.to_dict()
    cut_below(tree, [0])
    cut_below(tree, np.flatnonzero(~tree.is_leaf)[1:])
    assert tree.to_dict() == before


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (np.ones(2, dtype=bool), r"shape \(3,\), one entry per node, got \(2,\)"),
        ([-1], "node numbers from 0 to 2, got -1"),
        ([0, 3], "node numbers from 0 to 2, got 3"),
        ([0.0], "integers, got dtype float64"),
        (["root"], "booleans or integers"),
    ],
)
def test_bad_cut_is_an_error(cut, message):
    with pytest.raises(ValueError, match=message):
        cut_below(make_tree(make_nodes([2, 0, 0])), cut)


# ---------------------------------------------------------------- merge_equal_leaves
def decide(tree, table):
    value = tree.value[find_leaves(tree, table)]
    return value.argmax(axis=2) if tree.is_classifier else value[:, :, 0]


@loop_over("n_outputs", [1, 2])
@loop_over("mode", ["learned", "branch", "stay", "surrogate"])
@loop_over("seed", range(12))
def test_merging_changes_no_decision(seed, mode, n_outputs):
    estimator = random_tree(seed, mode, "parent", n_classes=2, n_outputs=n_outputs)
    tree = estimator.tree_
    merged = merge_equal_leaves(tree)
    check_tree(merged)
    rng = np.random.default_rng(seed)
    table = random_rows(rng, estimator.schema_, 300, with_unseen=True)
    np.testing.assert_array_equal(decide(merged, table), decide(tree, table))
    assert merge_equal_leaves(merged) is merged
    # No node is left whose children are leaves that all decide as it does.
    decision = merged.value.argmax(axis=2)
    for record, own in zip(merged.nodes, decision, strict=True):
        children = slice(
            record["first_child"], record["first_child"] + record["n_children"]
        )
        if record["kind"] != LEAF and merged.is_leaf[children].all():
            assert np.any(decision[children] != own)


def make_classes(n_children, weights):
    nodes = make_nodes(n_children)
    return make_tree(nodes, np.array(weights, float)[:, None], is_classifier=True)


def test_leaves_merge_from_the_bottom_up():
    tree = make_classes(
        [2, 2, 0, 0, 2, 0, 0], [[4, 6], [4, 2], [0, 4], [1, 0], [3, 2], [2, 1], [1, 1]]
    )
    merged = merge_equal_leaves(tree)  # 5 and 6 (a draw: class 0), then 3 and 4
    assert merged.statistics[:, 0].tolist() == [[4, 6], [4, 2], [0, 4]]


def test_a_node_that_decides_otherwise_keeps_its_children():
    # Rows that stay at the root (missing values) decide for class 1.
    tree = make_classes([2, 0, 0], [[4, 5], [2, 1], [2, 1]])
    assert merge_equal_leaves(tree) is tree


def test_equal_values_of_a_regression_tree_merge():
    nodes = make_nodes([2, 2, 0, 0, 0])
    values = np.array([3.0, 2.0, 5.0, 2.0, 2.0])[:, None, None]
    assert merge_equal_leaves(make_tree(nodes, values)).value.ravel().tolist() == [
        3,
        2,
        5,
    ]
    values[3] = np.nextafter(2.0, 3.0)
    tree = make_tree(nodes, values)
    assert merge_equal_leaves(tree) is tree


def test_decisions_may_be_given():
    tree = make_tree(make_nodes([2, 2, 0, 0, 0]))
    assert merge_equal_leaves(tree) is tree
    for decisions in (list("bbabb"), np.array([[1], [1], [0], [1], [1]])):
        assert merge_equal_leaves(tree, decisions).node_count == 3
    assert merge_equal_leaves(tree, [7] * 5).node_count == 1
    assert merge_equal_leaves(tree, [[0, node] for node in range(5)]) is tree


@pytest.mark.parametrize("decisions", [[1, 2], 3, np.zeros((5, 1, 1))])
def test_decisions_of_another_shape_are_an_error(decisions):
    with pytest.raises(
        ValueError, match="one entry or one row for each of the 5 nodes, got shape"
    ):
        merge_equal_leaves(make_tree(make_nodes([2, 2, 0, 0, 0])), decisions)


# ------------------------------------------------------------------- keep_best_first
@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 10, 50, 1000])
@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_best_first_is_scikit_learns(model, max_leaf_nodes):
    rng = np.random.default_rng(0)
    # One column, and no two equal gains: scikit-learn looks at columns at random.
    table = rng.normal(size=(300, 1)).astype(np.float32)
    y = rng.normal(size=300)
    weight = rng.random(300) + 0.1
    if model is DecisionTreeClassifier:
        y = (y + table[:, 0] > 0).astype(int)
    full = model(random_state=0).fit(table, y, weight)
    limited = model(random_state=0, max_leaf_nodes=max_leaf_nodes).fit(table, y, weight)
    tree = keep_best_first(convert_sklearn_tree(full)[0], max_leaf_nodes)
    expected = convert_sklearn_tree(limited)[0]
    check_tree(tree)
    for name in ("first_child", "feature", "threshold", "n_samples"):
        np.testing.assert_array_equal(tree.nodes[name], expected.nodes[name])


def expand_best_first(tree, max_leaf_nodes):
    """Which nodes best-first growth splits, in plain Python."""
    nodes, expanded, n_leaves = tree.nodes, set(), 1
    frontier = [(0.0, 0)] if nodes["n_children"][0] else []
    while frontier:
        _, node = frontier[0]
        n_leaves += nodes["n_children"][node] - 1
        if n_leaves > max_leaf_nodes:
            break
        heapq.heappop(frontier)
        expanded.add(node)
        first, count = nodes["first_child"][node], nodes["n_children"][node]
        for child in range(first, first + count):
            if nodes["n_children"][child]:
                gain = nodes["improvement"][child] * nodes["weight"][child]
                heapq.heappush(frontier, (-gain, child))
    return expanded


@loop_over("seed", range(15))
def test_best_first_with_many_way_splits_and_ties(seed):
    rng = np.random.default_rng(seed)
    nodes = make_nodes(random_shape(rng, 25, 4))
    nodes["improvement"] = rng.integers(0, 3, len(nodes)) * (nodes["n_children"] > 0)
    nodes["weight"] = rng.integers(0, 4, len(nodes))
    tree = make_tree(nodes)
    for max_leaf_nodes in range(1, tree.n_leaves + 2):
        kept = keep_best_first(tree, max_leaf_nodes)
        expanded = expand_best_first(tree, max_leaf_nodes)
        cut = set(np.flatnonzero(~tree.is_leaf).tolist()) - expanded
        compare_nodes(kept, tree, cut)
        assert kept.n_leaves <= max_leaf_nodes


@pytest.mark.parametrize("max_leaf_nodes", [0, -1, 2.0, None, True, "2"])
def test_bad_max_leaf_nodes_is_an_error(max_leaf_nodes):
    with pytest.raises(ValueError, match=r"must be an int in the range \[1, inf\)"):
        keep_best_first(make_tree(make_nodes([2, 0, 0])), max_leaf_nodes)
