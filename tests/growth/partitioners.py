"""Random tables, targets and rules, and trees that both growth engines grow of them."""

import numpy as np

from sklearn_textbook.tree.encode import encode_table, read_training_table
from sklearn_textbook.tree.grow import grow
from sklearn_textbook.tree.grow.grow import (
    GrowthRules,
    grow_tree,
    keep_weighted_rows,
    serves_list,
)
from sklearn_textbook.tree.grow.target import Target

ENGINES = ("sorted-columns", "row-list")


def encode(X):
    """Sort the columns of a matrix."""
    return encode_table(*read_training_table(X, "from_dtype"), 1)


def make_classes(y):
    """Classes as the engines take them."""
    codes = np.ascontiguousarray(np.asarray(y, dtype=np.int32)[:, np.newaxis])
    return Target(codes, None, np.array([codes.max() + 1], dtype=np.int64))


def make_values(y):
    """Values as the engines take them."""
    values = np.ascontiguousarray(np.asarray(y, dtype=np.float64)[:, np.newaxis])
    return Target(None, values, np.ones(1, dtype=np.int64))


def grow_with(monkeypatch, engine, table, target, rules, weight=None, random_state=0):
    """Grow a tree with one of the engines; fail where the list does not serve."""
    kept_target, kept_weight, _ = keep_weighted_rows(target, weight)
    assert serves_list(table, kept_target, rules, kept_weight)
    with monkeypatch.context() as patch:
        patch.setattr(grow, "choose_engine", lambda *_: engine)
        return grow_tree(
            table, target, rules, sample_weight=weight, random_state=random_state
        )


def grow_twice(monkeypatch, *arguments, **keywords):
    """Grow a tree with each of the engines."""
    return [
        grow_with(monkeypatch, engine, *arguments, **keywords) for engine in ENGINES
    ]


def assert_equal_trees(expected, tree, message=""):
    """Compare all that was grown, bit by bit."""
    for name in expected.nodes.dtype.names:
        np.testing.assert_array_equal(
            tree.nodes[name], expected.nodes[name], f"{message}: {name}"
        )
    np.testing.assert_array_equal(tree.statistics, expected.statistics, message)


def assert_close_trees(expected, tree, message=""):
    """Compare the tests bit by bit, and sums of y but for rounding."""
    rounded = ("impurity", "improvement")
    for name in expected.nodes.dtype.names:
        if name not in rounded:
            np.testing.assert_array_equal(
                tree.nodes[name], expected.nodes[name], f"{message}: {name}"
            )
    spread = max(expected.nodes["impurity"][0], 1e-300)
    for name in rounded:
        np.testing.assert_allclose(
            tree.nodes[name] / spread,
            expected.nodes[name] / spread,
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
        missing=str(rng.choice(["learned", "branch", "surrogate", "fractional"])),
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
