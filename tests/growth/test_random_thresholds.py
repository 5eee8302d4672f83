"""Thresholds drawn at random: a list of samples gives the trees of sorted columns.

For classes every bit must agree. Means and impurities of regression trees are sums of
y, which round in the order of summation; tests and sizes must agree.
"""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.partitioners import (
    PARTITIONERS,
    assert_close_trees,
    assert_equal_trees,
    draw_case,
    encode,
    force,
    grow_twice,
    make_classes,
    make_values,
)


@pytest.mark.parametrize(
    ("criterion", "n_classes"),
    [("gini", 2), ("gini", 5), ("log_loss", 2), ("entropy", 9), ("error", 3)],
)
def test_random_tables(criterion, n_classes):
    n_nodes = 0
    for seed in range(60):
        case = draw_case(seed, n_classes, criterion, random_splitter=True)
        expected, tree = grow_twice(*case)
        assert_equal_trees(expected, tree, f"draw_case({seed})")
        n_nodes += tree.node_count
    assert n_nodes > 200


def test_random_tables_of_values():
    n_nodes = 0
    for seed in range(100):
        case = draw_case(seed, "values", "squared_error", random_splitter=True)
        expected, tree = grow_twice(*case)
        assert_close_trees(expected, tree, f"draw_case({seed})")
        n_nodes += tree.node_count
    assert n_nodes > 200


@pytest.mark.parametrize("max_features", [1, 12])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_larger_tables(max_features, is_weighted):
    """Nodes of all sizes: beyond the local copy, inside it, searched code by code."""
    X, y = make_classification(20000, 12, n_informative=8, flip_y=0.1, random_state=0)
    X[:, :3] = np.round(X[:, :3])
    rng = np.random.default_rng(max_features)
    weight = None
    if is_weighted:
        weight = np.bincount(rng.integers(0, 20000, 20000), minlength=20000) * 1.0
    rules = GrowthRules("gini", max_features=max_features, random_splitter=True)
    expected, tree = grow_twice(encode(X), make_classes(y), rules, weight, max_features)
    assert tree.node_count > 1000
    assert_equal_trees(expected, tree)


def test_larger_table_of_values():
    X, y = make_regression(20000, 6, noise=1.0, random_state=0)
    rules = GrowthRules("squared_error", max_features=3, random_splitter=True)
    expected, tree = grow_twice(encode(X), make_values(y), rules)
    assert_close_trees(expected, tree)


@pytest.mark.parametrize("target", [make_classes, make_values])
def test_least_weight_of_leaves(target):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = rng.integers(0, 3, 500)
    weight = rng.integers(0, 5, 500).astype(float)
    rules = GrowthRules(
        "gini" if target is make_classes else "squared_error",
        min_weight_leaf=20.0,
        max_features=2,
        random_splitter=True,
    )
    expected, tree = grow_twice(encode(X), target(y), rules, weight)
    assert tree.node_count > 9
    assert tree.nodes["weight"].min() >= 20.0
    assert_close_trees(expected, tree)


def test_threshold_lies_anywhere_between_the_values():
    """And leaves rows on both sides, also where nothing lies between two values."""
    low = 1.0
    high = np.nextafter(low, 2.0)
    table = encode(np.array([[low], [high]]))
    rules = GrowthRules("gini", random_splitter=True)
    for random_state in range(20):
        expected, tree = grow_twice(
            table, make_classes([0, 1]), rules, random_state=random_state
        )
        assert tree.nodes["threshold"][0] == low
        assert_equal_trees(expected, tree)


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("tree_class", [CARTClassifier, CARTRegressor])
def test_fewest_leaves_of_estimators(splitter, tree_class):
    """``max_leaf_nodes`` chooses among the splits of the whole tree."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 5))
    y = np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=700))
    trees = []
    for partitioner in PARTITIONERS:
        with force(partitioner):
            estimator = tree_class(
                splitter=splitter, max_features=2, max_leaf_nodes=12, random_state=0
            )
            trees.append(estimator.fit(X, y).tree_)
    assert trees[0].n_leaves == 12
    assert_close_trees(*trees)


@pytest.mark.parametrize("target", [make_classes, make_values])
def test_many_equal_values_in_many_rows(target):
    """Sums of 16 bits are taken block by block."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (70_000, 4)).astype(float)
    X[:, 2:] = rng.integers(0, 40, (70_000, 2))
    y = (X[:, 0] * X[:, 2] + rng.normal(0, 20, 70_000) > 40).astype(int)
    criterion = "gini" if target is make_classes else "squared_error"
    rules = GrowthRules(criterion, max_features=2, max_depth=6, random_splitter=True)
    expected, tree = grow_twice(encode(X), target(y), rules)
    assert tree.node_count > 100
    assert_close_trees(expected, tree)


@pytest.mark.parametrize("n_missing", [16_384, 20_000, 33_000])
@pytest.mark.parametrize("target", [make_classes, make_values])
def test_many_missing_values_one_after_the_other(target, n_missing):
    """A block of samples without any value hides none of the others."""
    rng = np.random.default_rng(0)
    X = rng.random((40_000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    X[:n_missing, 0], y[:n_missing] = np.nan, 0
    criterion = "gini" if target is make_classes else "squared_error"
    rules = GrowthRules(criterion, max_features=1, max_depth=4, random_splitter=True)
    expected, tree = grow_twice(encode(X), target(y), rules)
    assert (tree.nodes["feature"] == 0).any()
    assert_close_trees(expected, tree)
