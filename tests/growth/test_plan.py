"""A plan grows the trees that ``grow_tree`` grows, from weights of any type."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from sklearn_textbook.tree.grow import grow
from sklearn_textbook.tree.grow._listed_engine import RowsGrower
from sklearn_textbook.tree.grow.grow import GrowthRules, choose_engine, grow_tree
from sklearn_textbook.tree.grow.plan import GrowthPlan
from sklearn_textbook.tree.grow.storage import store_nodes
from tests.growth.partitioners import (
    assert_close_trees,
    assert_equal_trees,
    encode,
    make_classes,
    make_values,
)


def make_plan(max_features=2):
    """A plan over a table whose ranks are there."""
    X, y = make_classification(500, 8, n_informative=5, flip_y=0.2, random_state=0)
    table, target = encode(X), make_classes(y)
    table.ranks()
    return GrowthPlan(table, target, GrowthRules("gini", max_features=max_features))


def grow_sorted(plan, weight, random_state):
    """The same tree from sorted columns: the table of its own has no ranks."""
    table = encode(np.array([plan.table.column_values(c)[plan.table.codes(c)]
                             for c in range(plan.table.n_columns)]).T)  # fmt: skip
    assert choose_engine(table, plan.target, plan.rules, None) == "sorted-columns"
    return grow_tree(
        table, plan.target, plan.rules, sample_weight=weight, random_state=random_state
    )


def draw_counts(random_state, n_rows=500):
    """How often a bootstrap sample has each row."""
    rows = np.random.default_rng(random_state).integers(0, n_rows, n_rows)
    return np.bincount(rows, minlength=n_rows)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32", "float64"])
def test_weights_of_any_type(dtype):
    plan = make_plan()
    for random_state in range(3):
        counts = draw_counts(random_state)
        expected = grow_sorted(plan, counts.astype(float), random_state)
        tree = plan.grow(counts.astype(dtype), random_state)
        assert_equal_trees(expected, tree, dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
@pytest.mark.parametrize(
    ("criterion", "n_classes", "random_splitter"),
    [
        ("gini", 3, False),
        ("entropy", 2, False),
        ("gini", 2, True),
        ("error", 4, True),
        ("squared_error", 1, False),
        ("squared_error", 1, True),
    ],
)
def test_other_kinds(criterion, n_classes, random_splitter, dtype):
    """One memory for trees of all sizes, also for those that are a single leaf."""
    X, y = make_regression(500, 8, noise=20.0, random_state=0)
    table = encode(X)
    table.ranks()
    y = y if n_classes == 1 else np.digitize(y, np.linspace(-99, 99, n_classes - 1))
    target = make_values(y) if n_classes == 1 else make_classes(y)
    rules = GrowthRules(criterion, max_features=2, random_splitter=random_splitter)
    assert choose_engine(table, target, rules, None) == "row-list"
    plan = GrowthPlan(table, target, rules)
    compare = assert_close_trees if n_classes == 1 else assert_equal_trees
    single, halves = np.zeros(500), draw_counts(0) * 0.5
    single[7] = 1
    for weight in (None, draw_counts(0), single, draw_counts(1), halves, None):
        weight = None if weight is None else weight.astype(dtype)
        expected = weight if weight is None else weight.astype(float)
        expected = grow_sorted(plan, expected, 5)
        tree = plan.grow(weight, 5)
        compare(expected, tree, criterion)
        assert tree.is_classifier == (n_classes > 1)
    assert len(plan._growers) == 1


def test_no_weights():
    plan = make_plan()
    assert_equal_trees(grow_sorted(plan, None, 7), plan.grow(None, 7))


@pytest.mark.parametrize("factor", [0.5, 65536.0, 3000.0])
def test_weights_that_do_not_fit_into_a_list(factor):
    """Fractions, single weights and sums of weights that are too large."""
    plan = make_plan()
    weight = draw_counts(0) * factor
    weight[0] = factor
    expected = grow_sorted(plan, weight, 3)
    assert_equal_trees(expected, plan.grow(weight, 3))
    # What was listed before the plan gave up does not show in the next tree.
    counts = draw_counts(1)
    assert_equal_trees(grow_sorted(plan, counts.astype(float), 4), plan.grow(counts, 4))


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 2)])
def test_almost_no_rows(rows):
    plan = make_plan()
    weight = np.zeros(500)
    weight[rows] = 1.0
    assert_equal_trees(grow_sorted(plan, weight, 0), plan.grow(weight, 0))


def test_rules_that_lists_do_not_serve():
    plan = make_plan(max_features=None)
    assert_equal_trees(grow_sorted(plan, None, 0), plan.grow(None, 0))


def test_tables_whose_row_numbers_do_not_fit(monkeypatch):
    expected = make_plan().grow(draw_counts(0), 0)
    monkeypatch.setattr(grow, "MOST_COUNTED_ROWS", 499)
    plan = make_plan()
    assert plan._engine is RowsGrower
    assert choose_engine(plan.table, plan.target, plan.rules, None) == "row-list"
    assert_equal_trees(expected, plan.grow(draw_counts(0), 0))


def test_several_threads_share_a_plan():
    plan = make_plan()
    expected = [plan.grow(draw_counts(k), k) for k in range(24)]
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(lambda k: plan.grow(draw_counts(k), k), range(24)))
    for before, tree in zip(expected, trees, strict=True):
        assert_equal_trees(before, tree)


@pytest.mark.parametrize("n_distinct", [2, 200, 256, 257, 5000])
def test_ranks_row_by_row(n_distinct):
    """Bins are ranks without their last bits, as many as make bytes of them."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(6000) % n_distinct, rng.integers(0, 3, 6000)])
    table = encode(X.astype(float))
    ranks = table.ranks()
    row_ranks, row_bins, shift = table.row_ranks()
    assert ranks.dtype == row_ranks.dtype
    assert ranks.dtype == (np.uint8 if n_distinct <= 256 else np.uint16)
    np.testing.assert_array_equal(ranks, X.T)
    np.testing.assert_array_equal(row_ranks, X)
    np.testing.assert_array_equal(row_bins, X.astype(int) >> shift)
    assert shift[1] == 0
    assert shift[0] == max(0, int(n_distinct - 1).bit_length() - 8)


@pytest.mark.parametrize("compacted_nodes", [None, 1, 100, 1_000])
def test_short_forms_share_no_memory(compacted_nodes):
    """Trees of a plan are grown in one memory, and none hears of the next one."""
    plan = make_plan()
    plan.compacted_nodes = compacted_nodes
    expected, grown = [], []
    for random_state in range(6):
        # Samples of all sizes, so that some trees have fewer nodes than the limit.
        counts = draw_counts(random_state) * (np.arange(500) < 90 * random_state + 20)
        grown.append(plan.grow(counts, random_state))
        expected.append(grow_sorted(plan, counts.astype(float), random_state))
    for one, other in zip(expected, grown, strict=True):
        is_short = compacted_nodes is not None and one.node_count >= compacted_nodes
        assert other.is_compact == is_short
        assert_equal_trees(one, other)
    if compacted_nodes == 100:
        assert len({tree.node_count >= 100 for tree in expected}) == 2


# ----------------------------------------------------------------------- short forms
SHORT = {
    "two classes": ("gini", 2, {}),
    "five classes": ("gini", 5, {}),
    "entropy": ("entropy", 2, {}),
    "drawn thresholds": ("gini", 2, {"random_splitter": True}),
    "drawn, five classes": ("entropy", 5, {"random_splitter": True}),
    "values": ("squared_error", 1, {}),
    "drawn, values": ("squared_error", 1, {"random_splitter": True}),
    "few columns": ("squared_error", 1, {"min_impurity_decrease": 1e-3}),
    "large leaves": ("squared_error", 1, {"min_samples_leaf": 5}),
    "large pure leaves": ("gini", 2, {"min_samples_leaf": 5}),
    "a single split": ("gini", 2, {"max_depth": 1}),
    "a single leaf": ("gini", 2, {"max_depth": 0}),
}


def assert_same_stored(stored, expected):
    """Short forms that are equal in every entry, type and bit."""
    assert list(stored) == list(expected)
    for name, kept in expected.items():
        one, other = (k if isinstance(k, tuple) else (k,) for k in (stored[name], kept))
        assert len(one) == len(other), name
        for entry, right in zip(one, other, strict=True):
            if isinstance(right, np.ndarray):
                assert entry.dtype == right.dtype, name
                assert entry.shape == right.shape, name
                assert entry.tobytes() == right.tobytes(), name
            else:
                assert entry == right, name


@pytest.mark.parametrize("values", ["real", "whole", "large"])
@pytest.mark.parametrize("weights", ["none", "counts"])
@pytest.mark.parametrize("case", sorted(SHORT))
def test_short_form_is_that_of_the_records(case, weights, values):
    """The short form of a grown tree is made without records, and the same."""
    criterion, n_classes, rules = SHORT[case]
    X, y = make_regression(500, 8, noise=20.0, random_state=0)
    y = {"real": y, "whole": np.round(y / 50.0), "large": y * 1e200}[values]
    if values == "whole":
        X = np.round(X)
    table = encode(X)
    table.ranks()
    if n_classes == 1:
        target = make_values(y)
    else:
        target = make_classes(np.digitize(y, np.quantile(y, [0.3, 0.5, 0.6, 0.8])))
        if n_classes == 2:
            target = make_classes((y > 0).astype(int))
    rules = GrowthRules(criterion, max_features=2, **rules)
    weight = None if weights == "none" else draw_counts(2)
    full = GrowthPlan(table, target, rules).grow(weight, 3)
    plan = GrowthPlan(table, target, rules, compacted_nodes=1)
    for _ in range(2):
        short = plan.grow(weight, 3)
        assert short.is_compact
        assert_same_stored(short.stored, store_nodes(full.nodes, full.statistics))
        assert_equal_trees(full, short)
    again = pickle.loads(pickle.dumps(short.compact()))
    assert_equal_trees(full, again)


def test_short_form_needs_no_records(monkeypatch):
    """Records are made for the rare trees alone whose columns do not get short."""
    X, y = make_regression(500, 8, noise=20.0, random_state=0)
    table = encode(X)
    table.ranks()
    made = []
    make_tree = GrowthPlan._make_tree

    def note(plan, *records):
        made.append(plan)
        return make_tree(plan, *records)

    monkeypatch.setattr(GrowthPlan, "_make_tree", note)
    for criterion, n_classes, rules in SHORT.values():
        if rules.get("max_depth") == 0:
            continue
        target = make_values(y) if n_classes == 1 else make_classes((y > 0).astype(int))
        rules = GrowthRules(criterion, max_features=2, **rules)
        GrowthPlan(table, target, rules, compacted_nodes=1).grow(draw_counts(0), 0)
    assert made == []
