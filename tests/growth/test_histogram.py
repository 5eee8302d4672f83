"""Growing from a list of rows gives the tree that growing from sorted columns gives.

Both engines grow every table here; nodes, statistics and thresholds must agree in every
bit. ``choose_engine`` is replaced to say which one is at work.
"""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from sklearn_textbook.tree.encode import encode_table, read_training_table
from sklearn_textbook.tree.grow import grow
from sklearn_textbook.tree.grow.grow import (
    GrowthRules,
    choose_engine,
    grow_tree,
    keep_weighted_rows,
    serves_list,
)
from sklearn_textbook.tree.grow.target import Target

ENGINES = ("sorted-columns", "row-list")


def encode(X):
    """Sort the columns of a matrix."""
    return encode_table(*read_training_table(X, "from_dtype"), 1)


def make_target(y):
    """Classes as the engine takes them."""
    codes = np.ascontiguousarray(np.asarray(y, dtype=np.int32)[:, np.newaxis])
    return Target(codes, None, np.array([codes.max() + 1], dtype=np.int64))


@pytest.fixture
def grow_twice(monkeypatch):
    """Grow a tree with both engines; fail where the list does not serve."""

    def grow_both(table, target, rules, weight=None, random_state=0):
        kept_target, kept_weight, _ = keep_weighted_rows(target, weight)
        assert serves_list(table, kept_target, rules, kept_weight)
        trees = []
        for engine in ENGINES:
            monkeypatch.setattr(grow, "choose_engine", lambda *_, name=engine: name)
            trees.append(
                grow_tree(
                    table,
                    target,
                    rules,
                    sample_weight=weight,
                    random_state=random_state,
                )
            )
        return trees

    return grow_both


def assert_equal_trees(expected, tree, message=""):
    """Compare all that was grown, bit by bit."""
    for name in expected.nodes.dtype.names:
        np.testing.assert_array_equal(
            tree.nodes[name], expected.nodes[name], f"{message}: {name}"
        )
    np.testing.assert_array_equal(tree.statistics, expected.statistics, message)


def make_random_case(seed):
    """Draw a table with ties, constants and duplicates, weights and rules."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([2, 3, 10, 40, 70, 150, 400, 1200]))
    n_columns = int(rng.integers(1, 9))
    X = rng.normal(size=(n_rows, n_columns))
    for column in range(n_columns):
        kind = rng.integers(6)
        if kind == 0:
            X[:, column] = np.round(X[:, column] * rng.choice([0.5, 2, 20]))
        elif kind == 1:
            X[:, column] = rng.integers(0, 2, n_rows)
        elif kind == 2 and rng.random() < 0.5:
            X[:, column] = 7.0
        elif kind == 3 and column > 0:
            X[:, column] = X[:, column - 1] * rng.choice([1.0, -3.0])
        elif kind == 4:
            X[:, column] = np.exp(8 * X[:, column])
    score = X[:, 0] + rng.normal(size=n_rows) * rng.choice([0.0, 0.5, 5.0])
    y = (score > np.median(score)).astype(int)
    if rng.random() < 0.2:
        y = rng.integers(0, 2, n_rows)
    y[:2] = [0, 1]
    weight = None
    if rng.random() < 0.8:
        largest = rng.choice([1, 3, 500])
        weight = rng.integers(0, largest, n_rows, endpoint=True).astype(float)
        weight[:2] = 1.0
    rules = GrowthRules(
        "gini",
        max_features=int(rng.integers(1, n_columns, endpoint=True)),
        max_depth=int(rng.choice([1, 3, 1000])),
        min_samples_split=int(rng.choice([2, 2, 9])),
        min_samples_leaf=int(rng.choice([1, 1, 2, 15, 50])),
        min_impurity_decrease=float(rng.choice([0.0, 0.0, 0.01])),
        shuffles_columns=bool(rng.random() < 0.5),
        missing=str(rng.choice(["learned", "branch", "surrogate", "fractional"])),
    )
    return X, y, weight, rules, int(rng.integers(1000))


def test_random_tables(grow_twice):
    n_nodes = 0
    for seed in range(400):
        X, y, weight, rules, random_state = make_random_case(seed)
        expected, tree = grow_twice(
            encode(X), make_target(y), rules, weight, random_state
        )
        assert_equal_trees(expected, tree, f"make_random_case({seed})")
        n_nodes += tree.node_count
    assert n_nodes > 5000


@pytest.mark.parametrize("max_features", [1, 4, 12])
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_bootstrap_of_a_larger_table(grow_twice, max_features, decimals):
    """Nodes of all sizes: beyond the local copy, binned with gaps, sorted."""
    X, y = make_classification(30000, 12, n_informative=8, flip_y=0.1, random_state=0)
    if decimals is not None:
        X = np.round(X, decimals)
    rng = np.random.default_rng(max_features)
    weight = np.bincount(rng.integers(0, len(y), len(y)), minlength=len(y))
    expected, tree = grow_twice(
        encode(X),
        make_target(y),
        GrowthRules("gini", max_features=max_features),
        weight.astype(float),
        random_state=max_features,
    )
    assert tree.node_count > 1000
    assert_equal_trees(expected, tree)


def test_mirrored_columns_tie(grow_twice):
    """Equal scores by the thousand: the first column and lowest threshold win."""
    rng = np.random.default_rng(0)
    x = rng.permutation(2000).astype(float)
    X = np.column_stack([x, -x, x**3, np.arange(2000) % 40, np.arange(2000) % 40])
    y = np.abs(x - 999.5) > 500
    for random_state in range(20):
        expected, tree = grow_twice(
            encode(X),
            make_target(y),
            GrowthRules("gini", max_features=3),
            random_state=random_state,
        )
        assert_equal_trees(expected, tree)


@pytest.mark.parametrize("n_columns", [5, 64, 65])
@pytest.mark.parametrize("largest_weight", [1, 5, 40])
@pytest.mark.parametrize("decimals", [0, 6])
def test_subtrees_of_few_rows(grow_twice, n_columns, largest_weight, decimals):
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
            encode(X), make_target(y), rules, weight, random_state=max_features
        )
        assert_equal_trees(expected, tree)
        assert tree.node_count > 50


def test_weights_are_repeated_rows(grow_twice):
    """But for the rows they count: statistics, tests and impurities are equal."""
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(600, 6)), 1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=600) > 0).astype(int)
    weight = rng.integers(0, 4, 600)
    rules = GrowthRules("gini", max_features=2)
    _, weighted = grow_twice(
        encode(X), make_target(y), rules, weight.astype(float), random_state=3
    )
    rows = np.repeat(np.arange(600), weight)
    _, repeated = grow_twice(
        encode(X[rows]), make_target(y[rows]), rules, random_state=3
    )
    for name in ("feature", "threshold", "impurity", "weight", "first_child"):
        np.testing.assert_array_equal(weighted.nodes[name], repeated.nodes[name])
    assert weighted.nodes["n_samples"][0] == np.count_nonzero(weight)


def test_largest_weights(grow_twice):
    """Sums of counts reach the last of their bits."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 5))
    y = rng.integers(0, 2, 200)
    weight = np.ones(200)
    weight[:31] = 65535.0
    weight[31] = 2.0**21 - 1 - 31 * 65535 - 168
    assert weight.sum() == 2**21 - 1
    expected, tree = grow_twice(
        encode(X), make_target(y), GrowthRules("gini", max_features=2), weight
    )
    assert_equal_trees(expected, tree)


REFUSED = {
    "criterion": (GrowthRules("error", max_features=1), None),
    "monotonic": (GrowthRules("gini", max_features=1, monotonic=(1, 0, 0)), None),
    "min_weight": (GrowthRules("gini", max_features=1, min_weight_leaf=2.0), None),
    "fraction": (GrowthRules("gini", max_features=1), [0.5, 1, 1, 1]),
    "large weight": (GrowthRules("gini", max_features=1), [65536, 1, 1, 1]),
    "many columns": (GrowthRules("gini", max_features=2), None),
    "all columns": (GrowthRules("gini"), None),
}


@pytest.mark.parametrize("case", REFUSED)
def test_choice_of_the_engine(case):
    rules, weight = REFUSED[case]
    table = encode(np.arange(12.0).reshape(4, 3))
    target = make_target([0, 1, 0, 1])
    weight = None if weight is None else np.array(weight, dtype=float)
    plain = GrowthRules("gini", max_features=1)
    assert choose_engine(table, target, plain, None) == "sorted-columns"
    table.ranks()
    assert choose_engine(table, target, plain, None) == "row-list"
    assert choose_engine(table, target, plain, np.full(4, 3.0)) == "row-list"
    assert choose_engine(table, target, rules, weight) == "sorted-columns"


def test_choice_of_the_engine_asks_for_whole_tables():
    plain = GrowthRules("gini", max_features=1)
    X = np.arange(12.0).reshape(4, 3)
    for missing, engine in ((1.0, "row-list"), (np.nan, "sorted-columns")):
        X[2, 1] = missing
        table = encode(X)
        table.ranks()
        assert choose_engine(table, make_target([0, 1, 0, 1]), plain, None) == engine
