"""Trees grown from gradients and hessians."""

from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_textbook.tree import CARTRegressor
from sklearn_textbook.tree.encode.block_table import BlockTable
from sklearn_textbook.tree.grow.gradient_plan import (
    GradientPlan,
    count_level,
    make_scale,
    round_block,
)
from sklearn_textbook.tree.grow.rules import GrowthRules
from sklearn_textbook.tree.members import MemberGrower
from sklearn_textbook.tree.prune import cut_below, find_kept
from sklearn_textbook.tree.route import find_leaves
from tests.amount import FACTOR
from tests.loops import loop_over
from tests.reference.gradient_tree import GradientTree


def encode(X, nominal=(), max_bins=None):
    """An encoded table, and the numbers it was made of."""
    template = CARTRegressor(categorical_features=list(nominal) or None)
    grower = MemberGrower(template, X, np.zeros(len(X)), n_jobs=1, max_bins=max_bins)
    return grower.table, grower.rows.matrix


def draw_case(seed):
    """A random table with gradients and hessians, and parameters."""
    random = np.random.default_rng(seed)
    n, p = random.integers(5, 140), random.integers(1, 5)
    X = random.integers(0, random.integers(2, 20), (n, p)).astype(float)
    nominal = [c for c in range(p) if random.random() < 0.3]
    numeric = [c for c in range(p) if c not in nominal]
    X[:, numeric] += random.random(len(numeric))
    if random.random() < 0.5:
        X[random.random((n, p)) < 0.15] = np.nan
    hessian = np.ones(n) if random.random() < 0.4 else random.random(n) + 0.05
    limits = {
        "min_samples_leaf": int(random.choice([1, 1, 3])),
        "min_weight_leaf": float(random.choice([0.0, 0.0, 1.5])),
    }
    if random.random() < 0.7:
        limits["max_leaf_nodes"] = int(random.integers(2, 9))
    else:
        limits["max_depth"] = int(random.integers(1, 5))
    if random.random() < 0.3:
        signs = random.integers(-1, 2, p)
        signs[nominal] = 0
        limits["monotonic"] = tuple(int(sign) for sign in signs)
    groups = None
    if random.random() < 0.2:
        groups = [np.flatnonzero(random.random(p) < 0.6).tolist() for _ in range(2)]
    l2 = float(random.choice([0.0, 0.0, 0.7]))
    smoothing = random.choice(["auto", "auto", 0.0, 4.0])
    smoothing = smoothing if smoothing == "auto" else float(smoothing)
    rows = None
    if random.random() < 0.3:
        rows = np.flatnonzero(random.random(n) < 0.7).astype(np.uint32)
        rows = rows if len(rows) > 1 else None
    options = {"l2": l2, "smoothing": smoothing, "groups": groups}
    gradient = random.standard_normal(n)
    if nominal and random.random() < 0.7:
        effects = random.standard_normal(20) * random.choice([0.3, 1.0, 3.0])
        gradient += effects[np.nan_to_num(X[:, nominal[0]]).astype(int)]
    return X, nominal, gradient, hessian, limits, options, rows


def make_plan(table, limits, options):
    """A plan with parameters of the reference implementation."""
    names = {"l2": "l2_regularization", "groups": "interaction_groups"}
    rules = GrowthRules(
        "squared_error",
        categorical_smoothing=options.get("smoothing", 0.0),
        **limits,
    )
    options = {names[name]: value for name, value in options.items() if name in names}
    return GradientPlan(table, rules, **options)


def compare_with_reference(tree, reference, nominal):
    """Raise AssertionError unless two trees are the same."""
    nodes, expected = tree.nodes, reference.list_nodes()
    assert len(nodes) == len(expected)
    for record, value, node in zip(
        nodes, tree.statistics[:, 0, 0], expected, strict=True
    ):
        assert record["n_samples"] == len(node.rows)
        assert record["n_children"] == len(node.children)
        assert value == pytest.approx(node.value, rel=1e-9, abs=1e-12)
        if not node.children:
            continue
        assert record["feature"] == node.split.column
        improvement = node.split.decrease / reference.sums(node.rows)[1]
        assert record["improvement"] == pytest.approx(improvement, rel=1e-6)
        if node.split.missing_left is not None:
            assert record["missing_branch"] == 1 - node.split.missing_left
        if node.split.column not in nominal:
            assert record["threshold"] == pytest.approx(node.split.threshold)


@loop_over("seed", range(40 * FACTOR))
def test_same_tree_as_the_reference_implementation(seed):
    X, nominal, gradient, hessian, limits, options, rows = draw_case(seed)
    table, matrix = encode(X, nominal)
    plan = make_plan(table, limits, options)
    grown = plan.grow(gradient, hessian, rows)
    reference = GradientTree(
        matrix,
        gradient,
        hessian,
        nominal=nominal,
        rows=None if rows is None else rows.tolist(),
        **limits,
        **options,
    )
    compare_with_reference(grown.tree, reference, nominal)


@loop_over("seed", range(10 * FACTOR))
def test_leaves_of_all_rows_are_those_of_prediction(seed):
    """Also of the rows that take no part, with values that these alone have."""
    X, nominal, gradient, hessian, limits, options, _ = draw_case(seed)
    table, matrix = encode(X, nominal, max_bins=5 if seed % 2 else None)
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(X)) < 0.5)
    plan = make_plan(table, limits, options)
    grown = plan.grow(gradient, hessian, rows.astype(np.uint32))
    np.testing.assert_array_equal(grown.leaf_of_row, find_leaves(grown.tree, matrix))


@pytest.fixture(scope="module")
def large_case():
    """A table large enough for threads to share its nodes."""
    random = np.random.default_rng(0)
    X = random.standard_normal((30_000, 12))
    X[:, 3] = random.integers(0, 20, len(X))
    X[random.random(X.shape) < 0.05] = np.nan
    gradient = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + random.random(len(X))
    return X, gradient, random.random(len(X)) + 0.1


def grow_large(large_case, n_threads=1, **limits):
    X, gradient, hessian = large_case
    table, _ = encode(X, [3], max_bins=255)
    rules = GrowthRules("squared_error", max_leaf_nodes=31, **limits)
    plan = GradientPlan(table, rules, n_threads=n_threads)
    return [plan.grow(gradient, hessian), plan.grow(hessian - 0.5, None)]


def test_threads_change_nothing(large_case):
    for alone, shared in zip(
        grow_large(large_case), grow_large(large_case, 3), strict=True
    ):
        assert alone.tree.nodes.tobytes() == shared.tree.nodes.tobytes()
        assert alone.tree.statistics.tobytes() == shared.tree.statistics.tobytes()
        np.testing.assert_array_equal(alone.leaf_of_row, shared.leaf_of_row)


def test_order_of_rows_changes_nothing_but_their_numbers(large_case):
    X, gradient, hessian = large_case
    order = np.random.default_rng(1).permutation(len(X))
    first = grow_large(large_case)[0]
    other = grow_large((X[order], gradient[order], hessian[order]))[0]
    assert first.tree.nodes.tobytes() == other.tree.nodes.tobytes()
    np.testing.assert_array_equal(first.leaf_of_row[order], other.leaf_of_row)


def test_unit_hessians_are_hessians_of_one(large_case):
    X, gradient, _ = large_case
    table, _ = encode(X, [3], max_bins=255)
    plan = GradientPlan(table, GrowthRules("squared_error", max_leaf_nodes=31))
    without, with_ones = plan.grow(gradient), plan.grow(gradient, np.ones(len(X)))
    assert without.tree.nodes.tobytes() == with_ones.tree.nodes.tobytes()


def test_squared_error_grows_the_tree_of_cart():
    """Minus the residual is the gradient of half the squared error."""
    random = np.random.default_rng(3)
    X = np.round(random.standard_normal((400, 4)), 1)
    y = X[:, 0] * X[:, 1] + random.standard_normal(400)
    table, _ = encode(X)
    rules = GrowthRules("squared_error", max_depth=4, min_samples_leaf=5)
    tree = GradientPlan(table, rules).grow(-y).tree
    cart = CARTRegressor(max_depth=4, min_samples_leaf=5).fit(X, y).tree_
    np.testing.assert_array_equal(tree.feature, cart.feature)
    np.testing.assert_array_equal(tree.threshold, cart.threshold)
    np.testing.assert_array_equal(tree.n_node_samples, cart.n_node_samples)
    np.testing.assert_allclose(tree.value, cart.value, atol=1e-12)
    np.testing.assert_allclose(tree.nodes["improvement"], cart.nodes["improvement"])


def test_many_levels():
    """Codes of two bytes."""
    random = np.random.default_rng(4)
    X = np.column_stack([random.integers(0, 700, 5000), random.random(5000)])
    effect = random.standard_normal(700)
    table, matrix = encode(X, [0], max_bins=255)
    assert table.ranks().dtype == np.uint16
    plan = GradientPlan(table, GrowthRules("squared_error", max_leaf_nodes=8))
    gradient = effect[X[:, 0].astype(int)]
    grown = plan.grow(gradient)
    np.testing.assert_array_equal(grown.leaf_of_row, find_leaves(grown.tree, matrix))
    left = gradient[grown.leaf_of_row == grown.leaf_of_row[0]]
    assert np.ptp(left) < np.ptp(effect) / 2


def test_sampled_columns_depend_on_the_seed_alone(large_case):
    X, gradient, hessian = large_case
    table, _ = encode(X, [3], max_bins=255)
    rules = GrowthRules(
        "squared_error", max_leaf_nodes=31, max_features=2, shuffles_columns=True
    )
    plan = GradientPlan(table, rules)
    trees = [
        plan.grow(gradient, hessian, random_state=seed).tree.nodes.tobytes()
        for seed in (5, 6, 5)
    ]
    assert trees[0] == trees[2]
    assert trees[0] != trees[1]


@pytest.mark.parametrize(
    ("gradient", "hessian"), [(np.nan, 1.0), (np.inf, 1.0), (0.0, -1.0), (0.0, np.nan)]
)
def test_numbers_that_are_no_gradients_are_refused(gradient, hessian):
    X = np.arange(6.0)[:, np.newaxis]
    table, _ = encode(X)
    gradients, hessians = np.ones(6), np.ones(6)
    gradients[4], hessians[4] = gradient, hessian
    plan = GradientPlan(table, GrowthRules("squared_error"))
    with pytest.raises(ValueError, match="Gradients must be numbers"):
        plan.grow(gradients, hessians, largest=(1.0, 1.0))


class BlockRows:
    """The rows of a table in blocks that know no other, and count for a grower."""

    def __init__(self, table, gradient, hessian, rows, n_blocks):
        curvature = 1.0 if hessian is None else hessian.max()
        largest = float(np.abs(gradient).max()), float(curvature)
        self.scale = make_scale(table.n_rows, largest, hessian is not None)
        n_codes = table.n_distinct + (table.n_missing > 0)
        self.start = np.concatenate([[0], np.cumsum(n_codes)])
        codes, node = table.row_ranks()[0], np.full(table.n_rows, -1, dtype=np.int32)
        node[slice(None) if rows is None else rows] = 0
        self.blocks = [
            (
                codes[part].copy(),
                round_block(
                    gradient[part],
                    None if hessian is None else hessian[part],
                    self.scale,
                ),
                node[part].copy(),
            )
            for part in np.array_split(np.arange(table.n_rows), n_blocks)
            if len(part)
        ]

    def count(self, level):
        sums = np.zeros((level[4].max() + 1, self.start[-1], 2), dtype=np.int64)
        for codes, pairs, node in self.blocks:
            count_level(codes, self.start, pairs, node, level, sums)
        return sums


def describe_rows_elsewhere(table):
    """Describe a table to a grower that does not have its rows."""
    columns = SimpleNamespace(
        schema=table.schema, n_rows=table.n_rows, n_columns=table.n_columns
    )
    names = ("values", "upper_values", "n_distinct", "n_missing")
    return BlockTable(columns, None, *(getattr(table, name) for name in names))


def assert_same_from_blocks(table, limits, options, gradient, hessian, rows, n_blocks):
    """Require that histograms counted block by block give the same tree."""
    seed = {"random_state": 3}
    whole = make_plan(table, limits, options).grow(gradient, hessian, rows, **seed)
    plan = make_plan(describe_rows_elsewhere(table), limits, options)
    counted = BlockRows(table, gradient, hessian, rows, n_blocks)
    tree, node_of, surplus = plan.grow_by_levels(counted.count, counted.scale, **seed)
    node = np.concatenate([node for *_, node in counted.blocks])
    assert (node < 0).sum() == (0 if rows is None else len(node) - len(rows))
    leaf = node_of[np.where(node >= 0, node, ~node)]
    if surplus.any():
        assert "max_leaf_nodes" in limits
        tree, kept = cut_below(tree, surplus), find_kept(tree, surplus)
        leaf = kept[leaf]
    for name in ("nodes", "statistics", "level_branch"):
        assert getattr(tree, name).tobytes() == getattr(whole.tree, name).tobytes()
    np.testing.assert_array_equal(leaf, whole.leaf_of_row)


@loop_over("seed", range(60 * FACTOR))
def test_blocks_of_rows_give_the_same_trees(seed):
    X, nominal, gradient, hessian, limits, options, rows = draw_case(seed)
    table, _ = encode(X, nominal)
    if seed % 3 == 0:
        hessian = None
    n_blocks = 1 + seed % 4
    assert_same_from_blocks(table, limits, options, gradient, hessian, rows, n_blocks)


def test_large_blocks_of_rows_give_the_same_tree(large_case):
    X, gradient, hessian = large_case
    table, _ = encode(X, [3], max_bins=255)
    for limits in ({"max_depth": 7, "max_features": 2, "shuffles_columns": True}, {}):
        limits = {"max_leaf_nodes": 60, "min_samples_leaf": 30} | limits
        assert_same_from_blocks(table, limits, {}, gradient, hessian, None, 5)


def test_too_many_distinct_values_are_refused():
    X = np.arange(70_000.0)[:, np.newaxis]
    table, _ = encode(X)
    with pytest.raises(ValueError, match="has 70000 distinct values"):
        GradientPlan(table, GrowthRules("squared_error"))


@pytest.mark.parametrize("hessian", [1e-320, 0.0])
def test_hessians_that_are_nearly_zero(hessian):
    """The factor that makes integers of them is infinite, and its inverse 0."""
    X = np.arange(6.0)[:, np.newaxis]
    table, _ = encode(X)
    plan = GradientPlan(table, GrowthRules("squared_error"))
    tree = plan.grow(np.zeros(6), np.full(6, hessian), largest=(0.0, 1e-320)).tree
    assert tree.node_count == 1
