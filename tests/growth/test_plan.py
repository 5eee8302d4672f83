"""A plan grows the trees that ``grow_tree`` grows, from weights of any type."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from sklearn_textbook.tree.grow import plan as plan_module
from sklearn_textbook.tree.grow.plan import (
    LARGEST_LISTED_WEIGHT,
    GrowthPlan,
    choose_partitioner,
    choose_sums,
)
from sklearn_textbook.tree.grow.rules import GainRules, GrowthRules
from sklearn_textbook.tree.grow.storage import store_nodes
from tests.growth.partitioners import (
    assert_close_trees,
    assert_equal_trees,
    encode,
    force,
    make_classes,
    make_values,
)
from tests.loops import loop_over

# ------------------------------------------------------ what is partitioned and summed


def make_case(kind, *, missing=False, nominal=False):
    """A table of four rows and five columns, and classes or values."""
    X = np.arange(20.0).reshape(4, 5)
    if missing:
        X[2, 1] = np.nan
    table = encode(X, [0] if nominal else "from_dtype")
    y = {
        "two classes": [0, 1, 1, 0],
        "three classes": [0, 1, 2, 0],
        "two outputs": [[0, 1], [1, 1], [0, 1], [1, 0]],
        "values": [0.5, 1.0, 2.0, 0.0],
        "two values": [[0.5, 1.0], [2.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
    }[kind]
    return table, make_values(y) if "value" in kind else make_classes(y)


SERVED = [
    ("two classes", {}),
    ("two classes", {"criterion": "error"}),
    ("two classes", {"monotonic": (1, 0, 0, 0, -1)}),
    ("three classes", {"criterion": "log_loss", "min_weight_leaf": 1.5}),
    ("three classes", {"missing": "branch", "top_splits": 3}),
    ("three classes", {"criterion": "entropy", "max_leaf_nodes": 3}),
    ("two outputs", {}),
    ("values", {"criterion": "squared_error"}),
    ("values", {"criterion": "poisson", "min_impurity_decrease": 0.1}),
    ("two values", {"criterion": "squared_error"}),
]
NOT_SERVED = [
    ("values", {"criterion": "absolute_error"}),
    ("two classes", {"missing": "surrogate"}),
    ("two classes", {"missing": "fractional"}),
    ("three classes", {"criterion": "entropy", "gain": GainRules("gain")}),
]


def is_list_faster(kind, rules, missing, nominal):
    """Whether the list is better where all columns are looked at, too."""
    if kind == "values":
        return True
    if kind in ("two outputs", "two values") or rules.criterion == "error":
        return False
    if rules.monotonic or rules.min_weight_leaf or rules.max_leaf_nodes:
        return True
    return kind == "two classes" and (missing or nominal)


@loop_over("nominal", [False, True])
@loop_over("missing", [False, True])
@loop_over(("kind", "settings"), SERVED + NOT_SERVED)
def test_choice_of_the_partitioner(kind, settings, missing, nominal):
    """The same, whatever was asked of the table before."""
    table, target = make_case(kind, missing=missing, nominal=nominal)
    rules = GrowthRules(**{"criterion": "gini"} | settings)
    is_served = (kind, settings) in SERVED
    few = "sample-list" if is_served else "sorted-columns"
    is_faster = is_list_faster(kind, rules, missing, nominal)
    many = few if is_faster else "sorted-columns"
    for prepare in (table.ranks, table.row_ranks, table.steps, lambda: None):
        for max_features, random_splitter, expected in [
            (1, False, few),
            (2, False, few),
            (3, False, many),
            (None, False, many),
            (3, True, few),
            (None, True, few),
        ]:
            drawn = replace(
                rules, max_features=max_features, random_splitter=random_splitter
            )
            assert choose_partitioner(table, target, drawn) == expected
        prepare()


def test_half_of_the_columns_are_not_few():
    table, target = encode(np.arange(16.0).reshape(4, 4)), make_classes([0, 1, 1, 0])
    rules = GrowthRules("gini", max_features=2)
    assert choose_partitioner(table, target, rules) == "sorted-columns"
    rules = GrowthRules("gini", max_features=1)
    assert choose_partitioner(table, target, rules) == "sample-list"


@pytest.mark.parametrize(
    ("limit", "largest"), [("MAX_LISTED_ROWS", 4), ("MAX_LISTED_CLASSES", 3)]
)
def test_most_rows_and_classes_of_a_list(monkeypatch, limit, largest):
    table, target = make_case("three classes")
    rules = GrowthRules("gini", max_features=1)
    monkeypatch.setattr(plan_module, limit, largest)
    assert choose_partitioner(table, target, rules) == "sample-list"
    monkeypatch.setattr(plan_module, limit, largest - 1)
    assert choose_partitioner(table, target, rules) == "sorted-columns"


def test_levels_that_are_not_sorted():
    table, target = make_case("two classes", nominal=True)
    codes = np.zeros((table.n_columns, table.n_rows), dtype=np.uint32)
    rules = GrowthRules("gini", max_features=1)
    table = replace(table, level_codes=codes)
    assert choose_partitioner(table, target, rules) == "sorted-columns"


@pytest.mark.parametrize("n_classes", [64, 65])
def test_many_classes_are_scanned(n_classes):
    """In sorted columns, if that is possible without partitioning too many columns."""
    X = np.random.default_rng(0).random((200, 66))
    target = make_classes(np.arange(200) % n_classes)
    scan = "sorted-columns" if n_classes > 64 else "sample-list"
    gini = GrowthRules("gini", max_features=8)
    for table, rules, expected in [
        (encode(X), gini, scan),
        (encode(X), replace(gini, max_leaf_nodes=5, max_features=None), scan),
        (encode(X), replace(gini, max_features=2), "sample-list"),
        (encode(X), replace(gini, criterion="entropy"), "sample-list"),
        (encode(X), replace(gini, random_splitter=True), "sample-list"),
        (encode(X.round(1), [0]), gini, "sample-list"),
    ]:
        assert choose_partitioner(table, target, rules) == expected


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_float_weights_need_logarithms(kind):
    """They are from a table where weights are whole, and Gini impurity needs none."""
    table, target = make_case(kind)
    for criterion, weight, expected in [
        ("gini", FLOATS, "sorted-columns"),
        ("entropy", FLOATS, "sample-list"),
        ("log_loss", FLOATS, "sample-list"),
        ("log_loss", WHOLE, "sorted-columns"),
        ("entropy", None, "sorted-columns"),
    ]:
        weight = None if weight is None else np.array(weight)
        rules = GrowthRules(criterion)
        assert choose_partitioner(table, target, rules, weight) == expected


WHOLE, FLOATS = [1.0, 3.0, 0.0, 2.0], [0.5, 1.0, 1.0, 1.0]
HEAVY = [LARGEST_LISTED_WEIGHT + 1, 1, 1, 1]
SUMS = [
    # kind, criterion, without weights and with whole ones, with others
    ("two classes", "gini", "binary", "moments"),
    ("two classes", "entropy", "class-counts", "class-weights"),
    ("two classes", "error", "general", "general"),
    ("three classes", "gini", "class-counts", "class-weights"),
    ("three classes", "log_loss", "class-counts", "class-weights"),
    ("three classes", "error", "general", "general"),
    ("two outputs", "gini", "general", "general"),
    ("values", "squared_error", "moments", "moments"),
    ("values", "poisson", "moments", "moments"),
    ("two values", "squared_error", "general", "general"),
]


@pytest.mark.parametrize(("kind", "criterion", "whole", "others"), SUMS)
def test_choice_of_the_sums(kind, criterion, whole, others):
    table, target = make_case(kind)
    rules = GrowthRules(criterion, max_features=1)
    for _ in range(2):
        assert choose_sums(table, target, rules, None) == whole
        for dtype in (float, np.int32, np.uint8):
            weight = np.array(WHOLE, dtype=dtype)
            assert choose_sums(table, target, rules, weight) == whole
        for weight in (FLOATS, HEAVY, np.array(HEAVY, dtype=float)):
            assert choose_sums(table, target, rules, np.array(weight)) == others
        table.ranks()


def test_sums_of_weights_that_fit_into_a_list(monkeypatch):
    table, target = make_case("two classes")
    rules = GrowthRules("gini", max_features=1)
    weight = np.array([1.0, 1.0, 1.0, 40.0])
    assert choose_sums(table, target, rules, weight) == "binary"
    monkeypatch.setattr(plan_module, "LARGEST_LISTED_TOTAL", 42)
    assert choose_sums(table, target, rules, weight) == "moments"
    assert choose_sums(table, target, rules, None) == "binary"
    monkeypatch.setattr(plan_module, "LARGEST_LISTED_TOTAL", 3)
    assert choose_sums(table, target, rules, None) == "moments"


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_sums_of_classes_at_random_thresholds(criterion):
    """They need no bound of the scores in a bin: the criterion does not matter."""
    rules = GrowthRules(criterion, max_features=1, random_splitter=True)
    names = []
    for kind in ("two classes", "three classes", "two outputs"):
        table, target = make_case(kind, missing=True)
        for weight in (None, np.array(WHOLE), np.array(FLOATS)):
            names.append(choose_sums(table, target, rules, weight))
    float_pair = "moments" if criterion == "gini" else "class-weights"
    assert names == [
        *("binary", "binary", float_pair),
        *("class-counts", "class-counts", "class-weights"),
        *("general", "general", "general"),
    ]


@pytest.mark.parametrize(
    ("kind", "missing", "options", "sorts"),
    [
        ("two classes", "learned", {}, False),
        ("values", "branch", {}, False),
        ("values", "learned", {"missing": True}, False),
        ("values", "branch", {"missing": True}, True),
        ("three classes", "learned", {"nominal": True}, True),
        ("two outputs", "learned", {}, True),
    ],
)
def test_ranks_are_made_where_columns_are_sorted(kind, missing, options, sorts):
    """Random thresholds of other columns are sampled between steps."""
    table, target = make_case(kind, **options)
    criterion = "gini" if target.is_classifier else "squared_error"
    rules = GrowthRules(criterion, missing=missing, max_features=1)
    for random_splitter, is_made in ((True, sorts), (False, True)):
        table, target = make_case(kind, **options)
        GrowthPlan(table, target, replace(rules, random_splitter=random_splitter))
        assert table.has_ranks == is_made
        assert table.has_row_values == random_splitter


# ------------------------------------------------------------------------------- plans


def make_plan(max_features=2):
    """A plan whose trees grow from lists of samples, of few columns."""
    X, y = make_classification(500, 8, n_informative=5, flip_y=0.2, random_state=0)
    table, target = encode(X), make_classes(y)
    return GrowthPlan(table, target, GrowthRules("gini", max_features=max_features))


def grow_sorted(plan, weight, random_state):
    """The same tree from sorted columns."""
    with force("sorted-columns"):
        other = GrowthPlan(plan.table, plan.target, plan.rules)
        return other.grow(weight, random_state)


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
    """One memory for all trees with the same sums, also for single leaves."""
    X, y = make_regression(500, 8, noise=20.0, random_state=0)
    table = encode(X)
    y = y if n_classes == 1 else np.digitize(y, np.linspace(-99, 99, n_classes - 1))
    target = make_values(y) if n_classes == 1 else make_classes(y)
    rules = GrowthRules(criterion, max_features=2, random_splitter=random_splitter)
    assert choose_partitioner(table, target, rules) == "sample-list"
    plan = GrowthPlan(table, target, rules)
    compare = assert_close_trees if n_classes == 1 else assert_equal_trees
    single, halves = np.zeros(500), draw_counts(0) * 0.5
    single[7] = 1
    kinds = set()
    for weight in (None, draw_counts(0), single, draw_counts(1), halves, None):
        weight = None if weight is None else weight.astype(dtype)
        kinds.add(choose_sums(table, target, rules, weight))
        expected = weight if weight is None else weight.astype(float)
        expected = grow_sorted(plan, expected, 5)
        tree = plan.grow(weight, 5)
        compare(expected, tree, criterion)
        assert tree.is_classifier == (n_classes > 1)
    assert plan._growers.keys() == kinds
    assert all(len(growers) == 1 for growers in plan._growers.values())


def test_no_weights():
    plan = make_plan()
    assert_equal_trees(grow_sorted(plan, None, 7), plan.grow(None, 7))


@pytest.mark.parametrize("factor", [0.5, 65536.0, 3000.0])
def test_weights_that_are_no_small_counts(factor):
    """Fractions, single weights and sums of weights that are too large."""
    plan = make_plan()
    weight = draw_counts(0) * factor
    weight[0] = factor
    expected = grow_sorted(plan, weight, 3)
    assert_equal_trees(expected, plan.grow(weight, 3))
    # The next tree is not affected.
    counts = draw_counts(1)
    assert_equal_trees(grow_sorted(plan, counts.astype(float), 4), plan.grow(counts, 4))


@pytest.mark.parametrize(
    ("criterion", "is_classifier"), [("squared_error", False), ("entropy", True)]
)
def test_whole_weights_too_large_for_a_list(criterion, is_classifier):
    """Of any type they give what they give as floats."""
    X, y = make_regression(500, 8, noise=20.0, random_state=0)
    target = make_classes((y > 0).astype(int)) if is_classifier else make_values(y)
    plan = GrowthPlan(encode(X), target, GrowthRules(criterion, max_features=2))
    weight = draw_counts(0) * 100_000
    expected = plan.grow(weight.astype(float), 3)
    for dtype in ("int32", "int64"):
        assert_equal_trees(expected, plan.grow(weight.astype(dtype), 3), dtype)


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 2)])
def test_almost_no_rows(rows):
    plan = make_plan()
    weight = np.zeros(500)
    weight[rows] = 1.0
    assert_equal_trees(grow_sorted(plan, weight, 0), plan.grow(weight, 0))


def test_plan_of_sorted_columns():
    plan = make_plan(max_features=None)
    assert choose_partitioner(plan.table, plan.target, plan.rules) == "sorted-columns"
    with force("sample-list"):
        expected = GrowthPlan(plan.table, plan.target, plan.rules).grow(None, 0)
    assert_equal_trees(expected, plan.grow(None, 0))


def test_more_rows_than_pairs_of_counts_hold(monkeypatch):
    plan = make_plan()
    assert choose_sums(plan.table, plan.target, plan.rules, None) == "binary"
    expected = plan.grow(draw_counts(0), 0)
    monkeypatch.setattr(plan_module, "MAX_COUNTED_ROWS", 499)
    plan = make_plan()
    assert choose_sums(plan.table, plan.target, plan.rules, None) == "moments"
    assert_equal_trees(expected, plan.grow(draw_counts(0), 0))


def test_weights_choose_the_partitioner_of_a_tree():
    """A plan serves both, also where threads are the first to need a list."""
    plan = make_plan(max_features=None)
    plan.rules = replace(plan.rules, criterion="entropy")
    counts, floats = draw_counts(0), np.random.default_rng(0).random(500)
    expected = grow_sorted(plan, floats, 0)
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(plan.grow, [floats] * 8, [0] * 8))
    for tree in trees:
        assert_close_trees(expected, tree)
        assert_equal_trees(trees[0], tree)
    assert_equal_trees(grow_sorted(plan, counts, 0), plan.grow(counts, 0))


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
    row_ranks, row_bins, shift, missing_bin = table.row_ranks()
    assert ranks.dtype == row_ranks.dtype
    assert ranks.dtype == (np.uint8 if n_distinct <= 256 else np.uint16)
    np.testing.assert_array_equal(ranks, X.T)
    np.testing.assert_array_equal(row_ranks, X)
    np.testing.assert_array_equal(row_bins, X.astype(int) >> shift)
    assert shift[1] == 0
    assert shift[0] == max(0, int(n_distinct - 1).bit_length() - 8)
    assert missing_bin.tolist() == [255, 255]


@pytest.mark.parametrize("n_distinct", [1, 15, 16, 17, 240, 241, 481, 5000])
def test_bin_of_missing_values(n_distinct):
    """Up to 16 bins can be joined, and it stays alone."""
    x = np.concatenate([np.arange(6000) % n_distinct, np.full(50, np.nan)])
    is_missing = np.isnan(x)
    table = encode(x[:, np.newaxis])
    row_ranks, row_bins, shift, missing_bin = table.row_ranks()
    assert (row_ranks[is_missing] == n_distinct).all()
    assert (row_bins[is_missing] == missing_bin).all()
    np.testing.assert_array_equal(row_ranks[~is_missing, 0], x[~is_missing])
    np.testing.assert_array_equal(
        row_bins[~is_missing, 0], x[~is_missing].astype(int) >> shift[0]
    )
    for coarseness in range(5):
        joined = row_bins[~is_missing] >> coarseness
        assert joined.max() < missing_bin[0] >> coarseness
    assert (n_distinct - 1) >> shift[0] < 240


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
    "random thresholds": ("gini", 2, {"random_splitter": True}),
    "random, five classes": ("entropy", 5, {"random_splitter": True}),
    "values": ("squared_error", 1, {}),
    "random, values": ("squared_error", 1, {"random_splitter": True}),
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


@loop_over("values", ["real", "whole", "large"])
@loop_over("weights", ["none", "counts"])
@loop_over("case", sorted(SHORT))
def test_short_form_is_that_of_the_records(case, weights, values):
    """A plan that compacts its trees gives the short form of the same records."""
    criterion, n_classes, rules = SHORT[case]
    X, y = make_regression(500, 8, noise=20.0, random_state=0)
    y = {"real": y, "whole": np.round(y / 50.0), "large": y * 1e200}[values]
    if values == "whole":
        X = np.round(X)
    table = encode(X)
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
