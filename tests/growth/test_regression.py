"""Regression trees: a list of samples gives the trees of sorted columns.

Both take scores that differ by rounding for equal ones: tests and sizes must agree in
every bit. Means and impurities are sums of y, which round in the order of summation.
"""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from sklearn_textbook.tree import CARTRegressor
from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.partitioners import (
    assert_close_trees,
    encode,
    force,
    grow_twice,
    make_values,
)


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1.0, 1e100])
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_scale_and_offset_of_y(scale, offset):
    """The tests do not depend on the unit of y, however the scores round."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 4))
    y = scale * (np.where(X[:, 0] > 1, 1e5, 0.0) + X[:, 1] + rng.normal(size=800))
    rules = GrowthRules("squared_error", max_features=2, min_samples_leaf=3)
    expected, tree = grow_twice(encode(X), make_values(y + scale * offset), rules)
    assert tree.node_count > 100
    assert_close_trees(expected, tree)


def test_pure_leaves_keep_the_very_value():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y = rng.choice([0.1, 0.2, 0.3], 300)
    _, tree = grow_twice(encode(X), make_values(y), GrowthRules("squared_error"))
    leaves = tree.nodes["n_children"] == 0
    assert set(tree.statistics[leaves].ravel()) == {0.1, 0.2, 0.3}
    assert (tree.nodes["impurity"][leaves] == 0).all()


@pytest.mark.parametrize("n_rows", [600, 5000])
@pytest.mark.parametrize("n_low", [1, 5, 31])
def test_jump_among_the_first_rows(n_rows, n_low):
    """The first candidates of all count as well, where many are tried at once."""
    rng = np.random.default_rng(n_low)
    x = rng.permutation(n_rows).astype(float)
    y = rng.normal(size=n_rows) + np.where(x < n_low, 1000.0, 0.0)
    rules = GrowthRules("squared_error", max_depth=1)
    for tree in grow_twice(encode(x[:, np.newaxis]), make_values(y), rules):
        assert tree.nodes["threshold"][0] == n_low - 0.5


@pytest.mark.parametrize("random_splitter", [False, True])
@pytest.mark.parametrize("min_samples_leaf", [1, 2])
@pytest.mark.parametrize("n_columns", [30, 64, 65])
def test_many_columns(n_columns, min_samples_leaf, random_splitter):
    """Nodes of a few rows, with and without a bit for every column, read from the
    table, as copies do not pay."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(400, n_columns)).round(rng.integers(0, 3))
    X[:, ::3] = X[:, ::3] > 0
    weight = rng.integers(0, 4, 400).astype(float)
    rules = GrowthRules(
        "squared_error",
        max_features=2,
        min_samples_leaf=min_samples_leaf,
        random_splitter=random_splitter,
    )
    for random_state in range(3):
        expected, tree = grow_twice(
            encode(X),
            make_values(X[:, 0] + rng.integers(0, 4, 400)),
            rules,
            weight,
            random_state=random_state,
        )
        assert tree.node_count > 100
        assert_close_trees(expected, tree)


@pytest.mark.parametrize("n_levels", [1, 2, 5])
def test_several_passes_over_the_rows(n_levels):
    """Nine columns in passes of four, of which some turn out to be constant: the bins
    of the others are asked for again after the last pass."""
    rng = np.random.default_rng(n_levels)
    X = rng.normal(size=(3000, 20))
    X[:, ::2] = rng.integers(0, n_levels, (3000, 10))
    y = X[:, 1] + X[:, 3] * X[:, 2] + rng.normal(size=3000)
    rules = GrowthRules("squared_error", max_features=9, shuffles_columns=True)
    weight = rng.integers(0, 4, 3000).astype(float)
    for random_state in range(2):
        expected, tree = grow_twice(
            encode(X),
            make_values(y),
            rules,
            weight,
            random_state=random_state,
        )
        assert tree.node_count > 1000
        assert_close_trees(expected, tree)


@pytest.mark.parametrize("partitioner", ["sorted-columns", "sample-list"])
def test_values_of_many_orders_of_magnitude(partitioner):
    """The splits are best in exact arithmetic, also far below the largest value."""
    n_rows, n_tried = 400, 30
    y = 1.5 ** np.arange(n_rows) / 1e35
    below = [Fraction(0), *accumulate(map(Fraction, y))]
    with force(partitioner):
        tree = CARTRegressor().fit(np.arange(n_rows)[:, np.newaxis], y).tree_

    def score(start, cut, stop):
        here, there = below[cut] - below[start], below[stop] - below[cut]
        return here**2 / (cut - start) + there**2 / (stop - cut)

    waiting, n_nodes = [(0, 0, n_rows)], 0
    while waiting:
        node, start, stop = waiting.pop()
        if stop - start < 2:
            continue
        cut = int(np.ceil(tree.threshold[node]))
        others = range(max(start + 1, stop - n_tried), stop)
        assert score(start, cut, stop) == max(score(start, k, stop) for k in others)
        waiting.append((tree.children_left[node], start, cut))
        waiting.append((tree.children_right[node], cut, stop))
        n_nodes += 1
    assert n_nodes == n_rows - 1
