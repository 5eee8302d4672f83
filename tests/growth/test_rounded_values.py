"""Values rounded down to steps: trees of random thresholds are those of sorted columns.

Rows on the step of an extreme or of a threshold are told apart by their values; the
tables here have many of them.
"""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array, issparse

from sklearn_textbook.tree.encode import encode_table, read_training_table
from sklearn_textbook.tree.encode.table import STEPS
from sklearn_textbook.tree.grow.rules import GrowthRules
from tests.growth.partitioners import (
    assert_close_trees,
    assert_equal_trees,
    encode,
    grow_twice,
    make_classes,
    make_values,
)

N_ROWS = 3000


def make_heavy_tail(rng):
    """All but a few rows stand on the lowest step."""
    return np.exp(12 * rng.normal(size=N_ROWS))


def make_dust(rng):
    """Values that differ in their last bits, beside one far away."""
    x = 1.0 + rng.integers(0, 50, N_ROWS) * 2.0**-52
    x[rng.integers(N_ROWS)] = 1e9
    return x


def make_zeros(rng):
    """Two thirds of the rows share the smallest value; others come near it."""
    return np.maximum(rng.normal(size=N_ROWS) - 0.5, 0.0) ** 3


def make_few(rng):
    return rng.integers(-3, 4, N_ROWS) / 3


def make_widest(rng):
    """The range of the values is no finite number."""
    return rng.uniform(-1, 1, N_ROWS) * np.finfo(float).max


def make_narrowest(rng):
    """The steps per unit would be no finite number."""
    return rng.integers(0, 900, N_ROWS) * 5e-324


def make_halves(rng):
    """A few more values than steps: neighbours share a step here and there."""
    return np.floor(rng.uniform(0, STEPS + 100, N_ROWS)) / 2


SHAPES = [
    make_heavy_tail,
    make_dust,
    make_zeros,
    make_few,
    make_widest,
    make_narrowest,
    make_halves,
]


def make_targets(rng, x):
    """Two classes, three classes, and values, that follow a column more or less."""
    rank = np.argsort(np.argsort(x, kind="stable"), kind="stable") / len(x)
    score = np.sin(9 * rank) + rng.normal(size=len(x)) / 3
    return [
        (make_classes(score > 0), "gini", assert_equal_trees),
        (make_classes(np.digitize(score, [-0.4, 0.4])), "entropy", assert_equal_trees),
        (make_values(score), "squared_error", assert_close_trees),
    ]


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("make_column", SHAPES)
def test_columns_of_all_shapes(make_column, is_weighted):
    rng = np.random.default_rng(SHAPES.index(make_column))
    X = np.column_stack([make_column(rng), rng.normal(size=N_ROWS)])
    weight = rng.integers(0, 4, N_ROWS).astype(float) if is_weighted else None
    for target, criterion, compare in make_targets(rng, X[:, 0]):
        rules = GrowthRules(criterion, max_features=1, random_splitter=True)
        expected, tree = grow_twice(encode(X), target, rules, weight)
        assert tree.node_count > 300
        assert np.bincount(tree.nodes["feature"][tree.nodes["feature"] >= 0]).all()
        compare(expected, tree)


@pytest.mark.parametrize("max_features", [1, 3, 7, 150])
def test_more_columns_than_a_word_has_bits(max_features):
    """Most of them constant in most nodes."""
    rng = np.random.default_rng(max_features)
    X = np.where(rng.random((600, 150)) < 0.02, rng.normal(size=(600, 150)), 0.0)
    X[:, 70] = 5.0
    for target, criterion, compare in make_targets(rng, X[:, :40].sum(axis=1)):
        rules = GrowthRules(criterion, max_features=max_features, random_splitter=True)
        expected, tree = grow_twice(encode(X), target, rules)
        assert tree.node_count > 300
        compare(expected, tree)


def test_steps_keep_the_order():
    rng = np.random.default_rng(0)
    X = np.column_stack([make_column(rng) for make_column in SHAPES])
    table = encode(X)
    all_steps, row_steps, low, factor, gap = table.steps()
    np.testing.assert_array_equal(all_steps, row_steps.T)
    for column, x in enumerate(X.T):
        steps = row_steps[np.argsort(x, kind="stable"), column].astype(int)
        assert (np.diff(steps) >= 0).all()
        assert low[column] == (x.min() if factor[column] else 0)
        height = steps[-1] - steps[0]
        assert height in (STEPS - 1, STEPS) if factor[column] else height == 0
        assert gap[column] == np.diff(np.unique(x)).min()
    assert (factor == 0).tolist() == [
        make in (make_widest, make_narrowest) for make in SHAPES
    ]
    assert table.steps()[1] is row_steps
    assert not row_steps.flags.writeable


def test_missing_values_have_a_step_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    table = encode(X)
    is_missing = rng.random(X.shape) < 0.1
    is_missing[:, 2] = True
    is_missing[[X.argmin(axis=0)[0], X.argmax(axis=0)[0]], 0] = False
    steps = encode(np.where(is_missing, np.nan, X)).steps()[1]
    np.testing.assert_array_equal(steps == np.iinfo(np.int16).min, is_missing)
    is_kept = ~is_missing[:, 0]
    np.testing.assert_array_equal(steps[is_kept, 0], table.steps()[1][is_kept, 0])


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(
    "convert",
    [np.ascontiguousarray, np.asfortranarray, np.float32, csc_array, lambda X: X[::-1]],
)
def test_values_row_by_row(convert, n_threads):
    """Whatever the matrix is like, from which they need not be looked up."""
    rng = np.random.default_rng(0)
    X = np.column_stack([make(rng) for make in (make_zeros, make_few, make_halves)])
    X = convert(X)
    table = encode(X)
    dense = X.toarray() if issparse(X) else X
    assert (table.matrix is None) == issparse(X)
    assert not table.has_row_values
    np.testing.assert_array_equal(table.row_values(n_threads), dense)
    assert table.has_row_values
    assert table.row_values().dtype == np.float64
    assert not table.row_values().flags.writeable
    steps, *others = table.steps()
    np.testing.assert_array_equal(steps, others[0].T)
    looked_up = replace(table, matrix=None)
    for expected, array in zip(table.steps(), looked_up.steps(), strict=True):
        np.testing.assert_array_equal(expected, array)


def test_bins_stand_for_their_values():
    X = np.random.default_rng(0).normal(size=(300, 3))
    table = encode_table(*read_training_table(X, "from_dtype"), max_bins=7)
    assert table.matrix is None
    values = [table.column_values(c)[table.codes(c)] for c in range(3)]
    np.testing.assert_array_equal(table.row_values(), np.transpose(values))


@pytest.mark.parametrize("n_classes", [2, 4, None])
def test_thresholds_stand_at_the_ends_of_bins(n_classes):
    """Both partitioners agree, and no bin is divided."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1500)
    table = encode_table(*read_training_table(X, "from_dtype"), max_bins=9)
    if n_classes is None:
        target, criterion = make_values(score), "squared_error"
        compare = assert_close_trees
    else:
        target = make_classes(np.argsort(np.argsort(score)) * n_classes // 1500)
        criterion, compare = "gini", assert_equal_trees
    rules = GrowthRules(criterion, max_features=2, random_splitter=True)
    expected, tree = grow_twice(table, target, rules)
    compare(expected, tree)
    assert tree.node_count > 100
    for node in tree.nodes[tree.nodes["feature"] >= 0]:
        column = node["feature"]
        lowest, highest = table.column_values(column), table.column_upper_values(column)
        assert not ((lowest <= node["threshold"]) & (node["threshold"] < highest)).any()


@pytest.mark.parametrize("max_bins", [None, 7])
def test_some_columns(max_bins):
    """There are more columns than rows, too."""
    X = np.random.default_rng(0).normal(size=(20, 30))
    table = encode_table(*read_training_table(X, "from_dtype"), max_bins=max_bins)
    columns = np.array([28, 3, 4])
    assert not table.take_columns(columns).has_row_values
    expected = table.row_values()[:, columns]
    taken = table.take_columns(columns)
    assert taken.has_row_values
    np.testing.assert_array_equal(taken.row_values(), expected)
    for one, other in zip(taken.steps()[2:], table.steps()[2:], strict=True):
        np.testing.assert_array_equal(one, other[columns])


def test_another_process_makes_them_again():
    table = encode(np.random.default_rng(0).normal(size=(50, 3)))
    row_values = table.row_values()
    sent = pickle.loads(pickle.dumps(table))
    assert sent.has_row_values
    assert not sent.has_ranks
    assert not any(map(len, sent._codes.values()))
    np.testing.assert_array_equal(sent.row_values(), row_values)


@pytest.mark.parametrize("n_extreme", [0, 1, 2])
def test_more_rows_than_are_numbered_at_a_time(n_extreme):
    """Extremes are looked for in pieces; those here stand in different ones."""
    rng = np.random.default_rng(n_extreme)
    X = rng.normal(size=(40_000, 4))
    for column, place in enumerate([0, 16_383, 16_384, 39_998]):
        X[place : place + n_extreme, column] = 9.0
        X[39_997 - place : 39_997 - place + n_extreme, column] = -9.0
    target = make_classes(X.sum(axis=1) > rng.normal(size=40_000))
    for seed in range(3):
        rules = GrowthRules("gini", max_depth=3, random_splitter=True)
        expected, tree = grow_twice(encode(X), target, rules, random_state=seed)
        assert tree.node_count > 8
        assert_equal_trees(expected, tree)
