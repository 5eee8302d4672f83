"""Several classes, and entropy: a list of samples gives the trees of sorted columns.

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
