"""Random tables, targets and rules, and the trees that grow from lists of samples and
from sorted columns."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from sklearn_textbook.tree.encode import encode_table, read_training_table
from sklearn_textbook.tree.grow import plan
from sklearn_textbook.tree.grow.plan import choose_partitioner, grow_tree
from sklearn_textbook.tree.grow.rules import GrowthRules
from sklearn_textbook.tree.grow.target import Target

PARTITIONERS = ("sorted-columns", "sample-list")


def encode(X, is_nominal="from_dtype", max_bins=None):
    """Sort the columns of a matrix."""
    return encode_table(*read_training_table(X, is_nominal), 1, max_bins=max_bins)


def make_classes(y):
    """Classes as trees are grown for; a column of y for each output."""
    codes = np.asarray(y, dtype=np.int32)
    codes = np.ascontiguousarray(codes.reshape(len(codes), -1))
    return Target(codes, None, codes.max(axis=0).astype(np.int64) + 1)


def make_values(y):
    """Values as trees are grown for; a column of y for each output."""
    values = np.asarray(y, dtype=np.float64)
    values = np.ascontiguousarray(values.reshape(len(values), -1))
    return Target(None, values, np.ones(values.shape[1], dtype=np.int64))


@contextmanager
def force(partitioner):
    """Grow all trees from lists of samples, or all from sorted columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "choose_partitioner", lambda *_: partitioner)
        yield


def serves_list(table, target, rules):
    """Whether a list of samples serves; it is chosen wherever thresholds are drawn."""
    drawn = replace(rules, random_splitter=True)
    return choose_partitioner(table, target, drawn) == "sample-list"


def grow_with(partitioner, table, target, rules, weight=None, random_state=0):
    """Grow a tree with one of the partitioners; fail where the list does not serve."""
    assert serves_list(table, target, rules)
    with force(partitioner):
        return grow_tree(
            table, target, rules, sample_weight=weight, random_state=random_state
        )


def grow_twice(*arguments, **keywords):
    """Grow a tree with each of the partitioners."""
    return [grow_with(name, *arguments, **keywords) for name in PARTITIONERS]


#: Of the nodes; level maps may stand in another order.
TESTS = (
    "first_child",
    "n_children",
    "feature",
    "missing_branch",
    "kind",
    "parent",
    "threshold",
    "n_samples",
)
AMOUNTS = ("impurity", "improvement", "weight")


def assert_equal_tests(expected, tree, message=""):
    """Compare the tests of all nodes, and where their rows go, bit by bit."""
    for name in TESTS:
        np.testing.assert_array_equal(
            tree.nodes[name], expected.nodes[name], f"{message}: {name}"
        )
    has_map = expected.nodes["map_start"] != -1
    np.testing.assert_array_equal(tree.nodes["map_start"] != -1, has_map, message)
    for number in np.flatnonzero(has_map):
        np.testing.assert_array_equal(
            tree.read_level_map(tree.nodes[number]),
            expected.read_level_map(expected.nodes[number]),
            f"{message}: level map of node {number}",
        )


def assert_equal_trees(expected, tree, message=""):
    """Compare all that was grown, bit by bit."""
    assert_equal_tests(expected, tree, message)
    for name in AMOUNTS:
        np.testing.assert_array_equal(
            tree.nodes[name], expected.nodes[name], f"{message}: {name}"
        )
    np.testing.assert_array_equal(tree.statistics, expected.statistics, message)


def assert_close_trees(expected, tree, message=""):
    """Compare the tests bit by bit, and sums of weights and y but for rounding."""
    assert_equal_tests(expected, tree, message)
    spread = max(expected.nodes["impurity"][0], 1e-300)
    units = {"impurity": spread, "improvement": spread}
    units["weight"] = expected.nodes["weight"][0]
    for name, unit in units.items():
        np.testing.assert_allclose(
            tree.nodes[name] / unit,
            expected.nodes[name] / unit,
            rtol=1e-7,
            atol=1e-11,
            err_msg=f"{message}: {name}",
        )
    size = np.abs(expected.statistics).max() + spread**0.5
    np.testing.assert_allclose(
        tree.statistics / size, expected.statistics / size, 1e-11, 1e-11, message
    )


def draw_columns(rng, n_rows, n_columns):
    """Draw columns with ties, few values, constants, copies and wide ranges."""
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
    return X


def draw_weight(rng, n_rows):
    """Draw no weights, or whole ones up to 1, 3 or 500."""
    if rng.random() < 0.2:
        return None
    largest = rng.choice([1, 3, 500])
    weight = rng.integers(0, largest, n_rows, endpoint=True).astype(float)
    weight[:2] = 1.0
    return weight


def draw_rules(rng, criterion, n_columns, **rules):
    """Draw limits and strategies."""
    return GrowthRules(
        criterion,
        max_features=int(rng.integers(1, n_columns, endpoint=True)),
        max_depth=int(rng.choice([1, 3, 1000])),
        min_samples_split=int(rng.choice([2, 2, 9])),
        min_samples_leaf=int(rng.choice([1, 1, 2, 15, 50])),
        min_impurity_decrease=float(rng.choice([0.0, 0.0, 0.01])),
        shuffles_columns=bool(rng.random() < 0.5),
        missing=str(rng.choice(["learned", "branch"])),
        **rules,
    )


def draw_classes(rng, X, n_classes):
    """Draw classes that follow the first column more or less, or not at all."""
    score = X[:, 0] + rng.normal(size=len(X)) * rng.choice([0.0, 0.5, 5.0])
    rank = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    y = rank * n_classes // len(X)
    if rng.random() < 0.2:
        y = rng.integers(0, n_classes, len(X))
    y[:2] = [0, n_classes - 1]
    return y


def draw_values(rng, X):
    """Draw values: continuous, whole, of two kinds, or with a wide range."""
    y = np.clip(X[:, 0], -5, 5) + rng.normal(size=len(X)) * rng.choice([0, 0.5, 5])
    kind = rng.integers(5)
    if kind == 0:
        y = np.round(y)
    elif kind == 1:
        y = (y > np.median(y)).astype(float)
    elif kind == 2:
        y = np.exp(2 * y)
    elif kind == 3:
        y = 1e6 + y
    y[0] = y[1] + 1.0
    return y


def draw_case(seed, kind, criterion, **rules):
    """Draw a table, a target ("values" or a number of classes), weights and rules.

    Weights and limits are drawn for tables of 2 to 1200 rows and 1 to 8 columns.
    """
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([2, 3, 10, 40, 70, 150, 400, 1200]))
    n_columns = int(rng.integers(1, 9))
    X = draw_columns(rng, n_rows, n_columns)
    if kind == "values":
        target = make_values(draw_values(rng, X))
    else:
        target = make_classes(draw_classes(rng, X, kind))
    weight = draw_weight(rng, n_rows)
    rules = draw_rules(rng, criterion, n_columns, **rules)
    return encode(X), target, rules, weight, int(rng.integers(1000))
