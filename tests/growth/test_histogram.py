"""Two classes: a list of samples gives the trees of sorted columns.

Nodes, statistics and thresholds must agree in every bit.
"""

import numpy as np
import pytest

from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.partitioners import (
    assert_equal_trees,
    encode,
    grow_twice,
    make_classes,
)


@pytest.mark.parametrize("n_columns", [5, 64, 65])
@pytest.mark.parametrize("largest_weight", [1, 5, 40])
@pytest.mark.parametrize("decimals", [0, 6])
def test_subtrees_of_few_rows(n_columns, largest_weight, decimals):
    """Light ones of few columns are grown in one go, others node by node."""
    rng = np.random.default_rng([n_columns, largest_weight])
    X = np.round(rng.normal(size=(500, n_columns)), decimals)
    y = rng.random(500) < 0.3 + 0.4 * (X[:, 0] * X[:, 1] > 0)
    weight = rng.integers(1, largest_weight + 1, 500).astype(float)
    for max_features in (1, 3, 6):
        rules = GrowthRules(
            "gini",
            max_features=min(max_features, n_columns),
            min_samples_leaf=1 + max_features // 6,
            min_impurity_decrease=1e-4 * (max_features == 3),
        )
        expected, tree = grow_twice(
            encode(X), make_classes(y), rules, weight, random_state=max_features
        )
        assert_equal_trees(expected, tree)
        assert tree.node_count > 50


def test_weights_are_repeated_rows():
    """But for the rows they count: statistics, tests and impurities are equal."""
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(600, 6)), 1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=600) > 0).astype(int)
    weight = rng.integers(0, 4, 600)
    rules = GrowthRules("gini", max_features=2)
    _, weighted = grow_twice(
        encode(X), make_classes(y), rules, weight.astype(float), random_state=3
    )
    rows = np.repeat(np.arange(600), weight)
    _, repeated = grow_twice(
        encode(X[rows]), make_classes(y[rows]), rules, random_state=3
    )
    for name in ("feature", "threshold", "impurity", "weight", "first_child"):
        np.testing.assert_array_equal(weighted.nodes[name], repeated.nodes[name])
    assert weighted.nodes["n_samples"][0] == np.count_nonzero(weight)


def test_largest_weights():
    """Sums of counts reach the last of their bits."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 5))
    y = rng.integers(0, 2, 200)
    weight = np.ones(200)
    weight[:31] = 65535.0
    weight[31] = 2.0**21 - 1 - 31 * 65535 - 168
    assert weight.sum() == 2**21 - 1
    expected, tree = grow_twice(
        encode(X), make_classes(y), GrowthRules("gini", max_features=2), weight
    )
    assert_equal_trees(expected, tree)
