"""A list of samples gives the trees of sorted columns.

Classes: nodes, statistics and thresholds must agree in every bit. Values: both take
scores that differ by rounding for equal ones, so that tests and sizes agree in every
bit; means and impurities are sums of y, which round in the order of summation.
"""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.partitioners import (
    assert_close_trees,
    assert_equal_trees,
    draw_case,
    encode,
    grow_twice,
    make_classes,
    make_values,
)

#: Criterion, and a number of classes; beyond 64, small nodes are sorted by column.
KINDS = [
    ("gini", 2),
    ("gini", 3),
    ("gini", 40),
    ("gini", 80),
    ("entropy", 2),
    ("log_loss", 7),
    ("squared_error", "values"),
]
of_every_kind = pytest.mark.parametrize(("criterion", "kind"), KINDS)


def make_target(y, kind):
    return make_values(y) if kind == "values" else make_classes(y)


def compare(kind, expected, tree, message=""):
    """Compare two trees, those of values but for rounding."""
    compare_trees = assert_close_trees if kind == "values" else assert_equal_trees
    compare_trees(expected, tree, message)


def make_table(n_rows, kind):
    if kind == "values":
        return make_regression(n_rows, 6, noise=20.0, random_state=0)
    return make_classification(
        n_rows,
        8,
        n_informative=7,
        n_redundant=0,
        n_classes=kind,
        n_clusters_per_class=1,
        flip_y=0.1,
        random_state=0,
    )


@of_every_kind
def test_random_tables(criterion, kind):
    n_nodes = 0
    n_tables = {2: 400, "values": 200}.get(kind, 80)
    for seed in range(n_tables):
        expected, tree = grow_twice(*draw_case(seed, kind, criterion))
        compare(kind, expected, tree, f"draw_case({seed})")
        n_nodes += tree.node_count
    assert n_nodes > 10 * n_tables


@of_every_kind
@pytest.mark.parametrize("max_features", [1, 3, 6])
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("is_bootstrap", [False, True])
def test_larger_tables(criterion, kind, max_features, decimals, is_bootstrap):
    """Nodes of all sizes: beyond the local copy, binned with gaps, sorted."""
    X, y = make_table(18000, kind)
    if decimals is not None:
        X = np.round(X, decimals)
    weight = None
    if is_bootstrap:
        rng = np.random.default_rng(max_features)
        weight = np.bincount(rng.integers(0, len(y), len(y)), minlength=len(y)) * 1.0
    expected, tree = grow_twice(
        encode(X),
        make_target(y, kind),
        GrowthRules(criterion, max_features=max_features),
        weight,
        random_state=max_features,
    )
    assert tree.node_count > 1000
    compare(kind, expected, tree)


@pytest.mark.parametrize("n_columns", [65, 129, 1024, 1025])
@pytest.mark.parametrize("criterion", ["gini", "log_loss", "squared_error"])
def test_wide_tables(criterion, n_columns):
    """Small subtrees hold a bit for each of up to 1,024 columns; many are constant."""
    rng = np.random.default_rng(n_columns)
    X = rng.standard_normal((600, n_columns)).round(1)
    X[:, rng.random(n_columns) < 0.5] = 0.0
    X[300:, rng.random(n_columns) < 0.5] = 1.0
    X[:, [3, n_columns - 1]] += rng.standard_normal((600, 2))
    y = X[:, 3] - X[:, n_columns - 1] + 0.5 * rng.standard_normal(600)
    kind = "values" if criterion == "squared_error" else 3
    if kind == 3:
        y = np.digitize(y, [-1.0, 1.0])
    expected, tree = grow_twice(
        encode(X), make_target(y, kind), GrowthRules(criterion, max_features=8)
    )
    assert tree.node_count > 100
    compare(kind, expected, tree)


@of_every_kind
def test_mirrored_columns_tie(criterion, kind):
    """Equal scores by the thousand: the first column and lowest threshold win."""
    rng = np.random.default_rng(0)
    x = rng.permutation(2000).astype(float)
    X = np.column_stack([x, -x, x**3, np.arange(2000) % 40, np.arange(2000) % 40])
    distance = np.abs(x - 999.5)
    y = distance > 500 if kind == 2 else distance // 250
    for random_state in range(10):
        expected, tree = grow_twice(
            encode(X),
            make_target(y, kind),
            GrowthRules(criterion, max_features=3),
            random_state=random_state,
        )
        compare(kind, expected, tree)
