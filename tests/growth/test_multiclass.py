"""Several classes, and entropy: a list of samples gives the trees of sorted columns.

Nodes, statistics and thresholds must agree in every bit.
"""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.partitioners import (
    assert_equal_trees,
    draw_case,
    encode,
    grow_twice,
    make_classes,
)

# Beyond 64 classes, small nodes are sorted column by column.
KINDS = [("gini", 3), ("gini", 40), ("gini", 80), ("entropy", 2), ("log_loss", 7)]


@pytest.mark.parametrize(("criterion", "n_classes"), KINDS)
def test_random_tables(criterion, n_classes):
    n_nodes = 0
    for seed in range(80):
        case = draw_case(seed, n_classes, criterion)
        expected, tree = grow_twice(*case)
        assert_equal_trees(expected, tree, f"draw_case({seed})")
        n_nodes += tree.node_count
    assert n_nodes > 800


@pytest.mark.parametrize(("criterion", "n_classes"), KINDS)
@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_larger_tables(criterion, n_classes, decimals, is_weighted):
    """Nodes of all sizes: beyond the local copy, binned with gaps, sorted."""
    X, y = make_classification(
        12000,
        8,
        n_informative=7,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        flip_y=0.1,
        random_state=0,
    )
    if decimals is not None:
        X = np.round(4 * X, decimals)
    rng = np.random.default_rng(n_classes)
    weight = None
    if is_weighted:
        weight = np.bincount(rng.integers(0, len(y), len(y)), minlength=len(y)) * 1.0
    expected, tree = grow_twice(
        encode(X),
        make_classes(y),
        GrowthRules(criterion, max_features=3),
        weight,
        random_state=n_classes,
    )
    assert tree.node_count > 1000
    assert_equal_trees(expected, tree)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("min_samples_leaf", [1, 30])
@pytest.mark.parametrize(
    ("n_rows", "n_values"), [(17000, 200), (17000, None), (70000, None)]
)
def test_nodes_beyond_the_local_copy(criterion, min_samples_leaf, n_rows, n_values):
    """Codes of one, two and four bytes, counted where they are."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 4))
    y = (np.abs(X[:, 0] + X[:, 1] * X[:, 2]) * 2).astype(int).clip(0, 4)
    if n_values is not None:
        X = np.argsort(np.argsort(X, axis=0), axis=0) * n_values // n_rows * 1.0
    rules = GrowthRules(
        criterion, max_features=3, max_depth=6, min_samples_leaf=min_samples_leaf
    )
    expected, tree = grow_twice(encode(X), make_classes(y), rules)
    assert tree.node_count > 20
    assert_equal_trees(expected, tree)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_more_than_64_columns(criterion):
    """Nodes of all sizes draw their columns from many, some of them constant."""
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(1500, 70)), 1)
    X[:, ::7] = 1.0
    y = rng.integers(0, 5, 1500)
    for max_features in (1, 9, 30):
        expected, tree = grow_twice(
            encode(X),
            make_classes(y),
            GrowthRules(criterion, max_features=max_features),
            random_state=max_features,
        )
        assert_equal_trees(expected, tree)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_mirrored_columns_tie(criterion):
    """Equal scores by the thousand: the first column and lowest threshold win."""
    rng = np.random.default_rng(0)
    x = rng.permutation(2000).astype(float)
    X = np.column_stack([x, -x, x**3, np.arange(2000) % 40, np.arange(2000) % 40])
    y = np.abs(x - 999.5) // 250
    for random_state in range(10):
        expected, tree = grow_twice(
            encode(X),
            make_classes(y),
            GrowthRules(criterion, max_features=3),
            random_state=random_state,
        )
        assert_equal_trees(expected, tree)
