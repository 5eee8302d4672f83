"""Many trees at once: against asking tree by tree, for every kind of tree and table."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.grow.layout import NUMERIC, STAY
from sklearn_textbook.tree.route import find_leaves, predict_statistics, walk
from sklearn_textbook.tree.route import many_trees as module
from sklearn_textbook.tree.route.many_trees import (
    PackedEnsemble,
    add_predictions,
    find_leaves_of_all,
)
from sklearn_textbook.tree.route.walk import PackedTree
from tests.explain.builders import MODES, random_rows, random_tree
from tests.loops import loop_over
from tests.tree_builders import make_nodes, make_tree, random_shape


def numeric_trees(rng, sizes, n_features=5, n_classes=0, n_outputs=1):
    """Trees of random numeric tests; missing values go to either child."""
    trees = []
    for size in sizes:
        nodes = make_nodes(random_shape(rng, size))
        inner = nodes["n_children"] > 0
        count = np.count_nonzero(inner)
        nodes["feature"][inner] = rng.integers(0, n_features, count)
        nodes["threshold"][inner] = rng.choice([-1.5, -0.5, 0.0, 0.3, np.inf], count)
        nodes["missing_branch"][inner] = rng.integers(0, 2, count)
        statistics = rng.normal(size=(len(nodes), n_outputs, max(n_classes, 1)))
        if n_classes:
            statistics = rng.integers(0, 4, statistics.shape).astype(np.float64)
        trees.append(
            make_tree(nodes, statistics, n_features, is_classifier=n_classes > 0)
        )
    return trees


def random_table(rng, shape, missing=0.0):
    table = rng.integers(-4, 5, shape) / 2 + rng.choice([0.0, 1e-9], shape)
    table[rng.random(shape) < missing] = np.nan
    return table


def add_one_by_one(trees, table, votes=False, weights=None):
    """What add_predictions must add to zeros."""
    out = np.zeros((len(table), trees[0].n_outputs, trees[0].n_statistics))
    for number, tree in enumerate(trees):
        shares = predict_statistics(tree, table)
        if votes:
            best = shares.argmax(axis=2)
            shares = (np.arange(shares.shape[2]) == best[:, :, None]).astype(float)
        out += shares if weights is None else weights[number] * shares
    return out


def assert_like_one_by_one(trees, table, **how):
    expected = add_one_by_one(trees, table, **how)
    out = np.zeros_like(expected)
    add_predictions(trees, table, out, **how)
    np.testing.assert_array_equal(out, expected)
    leaves = np.stack([find_leaves(tree, table) for tree in trees], axis=1)
    np.testing.assert_array_equal(find_leaves_of_all(trees, table), leaves)


SIZES = [0, 1, 30, 400, 2, 0, 90]


@loop_over("missing", [0.0, 0.02, 1.0])
@loop_over("n_rows", [1, 15, 16, 17, 531])
@loop_over(("n_classes", "n_outputs"), [(0, 1), (2, 1), (3, 1), (3, 2)])
def test_trees_of_all_sizes(n_classes, n_outputs, n_rows, missing):
    rng = np.random.default_rng(n_rows)
    trees = numeric_trees(rng, SIZES, 5, n_classes, n_outputs)
    assert_like_one_by_one(trees, random_table(rng, (n_rows, 5), missing))


@pytest.mark.parametrize("n_columns", [1, 5, 300])
def test_long_chains_and_wide_tables(n_columns):
    rng = np.random.default_rng(1)
    n_children = [2] + [0, 2] * 70 + [0, 0]
    nodes = make_nodes(n_children)
    inner = nodes["n_children"] > 0
    nodes["threshold"][inner] = -np.arange(inner.sum()) / 7
    nodes["feature"][inner] = rng.integers(0, n_columns, inner.sum())
    nodes["missing_branch"][inner] = 1
    trees = [make_tree(nodes, n_features=n_columns)] * 2
    table = -np.abs(rng.normal(size=(150, n_columns))) * 9
    table[7, 0] = np.nan
    assert_like_one_by_one(trees, table)


@pytest.mark.parametrize("votes", [False, True])
@pytest.mark.parametrize("handle_unknown", ["parent", "fractional"])
@pytest.mark.parametrize("mode", MODES)
def test_every_kind_of_tree(monkeypatch, mode, handle_unknown, votes):
    monkeypatch.setattr(module, "_ROWS_ALONE", 40)
    rng = np.random.default_rng(3)
    first = random_tree(4, mode, handle_unknown)
    tree = first.tree_
    plain = numeric_trees(rng, [20], tree.n_features, tree.n_statistics)
    trees = [*plain, tree, tree.compact(), *plain]
    table = random_rows(rng, first.schema_, 130, with_unseen=True)
    weights = np.array([0.5, 0.1, 0.1, 3.0])
    assert_like_one_by_one(trees, table, votes=votes, weights=weights)


def test_votes_go_to_the_first_of_equals():
    statistics = np.array([[[2.0, 2.0, 1.0], [0.0, 3.0, 3.0]]])
    tree = make_tree(make_nodes([0]), statistics, is_classifier=True)
    out = np.zeros((1, 2, 3))
    add_predictions([tree, tree], [[0.0]], out, votes=True)
    np.testing.assert_array_equal(out, [[[2, 0, 0], [0, 2, 0]]])


def test_predictions_are_added_to_what_is_there():
    trees = numeric_trees(np.random.default_rng(0), [9], 2)
    table = np.zeros((4, 2))
    out = np.full((4, 1, 1), 10.0)
    add_predictions(trees, table, out)
    np.testing.assert_array_equal(out, 10.0 + add_one_by_one(trees, table))


@pytest.mark.parametrize("n_threads", [2, 3, 7])
@pytest.mark.parametrize("block_bytes", [1, 10_000, 1 << 22])
def test_threads_and_blocks_do_not_change_the_result(
    monkeypatch, block_bytes, n_threads
):
    rng = np.random.default_rng(5)
    trees = numeric_trees(rng, [300, 40, 100], 6, 3)
    weights = rng.random(3)
    table = random_table(rng, (3001, 6), 0.001)
    expected = add_one_by_one(trees, table, weights=weights)
    monkeypatch.setattr(walk, "_BLOCK_BYTES", block_bytes)
    out = np.zeros_like(expected)
    add_predictions(trees, table, out, n_threads, weights=weights)
    np.testing.assert_array_equal(out, expected)


def table_forms(table):
    doubled = np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)
    locked = table.copy()
    locked.flags.writeable = False
    return {
        "Fortran order": np.asfortranarray(table),
        "every second row, every third column": doubled[::2, ::3],
        "backwards": np.ascontiguousarray(table[::-1, ::-1])[::-1, ::-1],
        "read-only": locked,
        "other byte order": table.astype(table.dtype.newbyteorder()),
        "list": table.tolist(),
        "CSR": sparse.csr_array(table),
        "CSC matrix": sparse.csc_matrix(table),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", sorted(table_forms(np.zeros((2, 2)))))
def test_every_form_of_table_gives_the_same(monkeypatch, form, dtype):
    monkeypatch.setattr(module, "_MAX_DENSE_ENTRIES", 800)
    rng = np.random.default_rng(6)
    trees = numeric_trees(rng, [50, 20], 5, 2)
    alone = numeric_trees(rng, [20], 5, 2)[0]
    nodes = alone.nodes.copy()
    nodes["missing_branch"] = STAY
    trees.append(alone.replace(nodes=nodes))
    table = random_table(rng, (400, 5), 0.05).astype(dtype)
    same = table_forms(table)[form]
    expected = add_one_by_one(trees, table)
    out = np.zeros_like(expected)
    add_predictions(trees, same, out)
    np.testing.assert_array_equal(out, expected)
    leaves = np.stack([find_leaves(tree, table) for tree in trees], axis=1)
    np.testing.assert_array_equal(find_leaves_of_all(trees, same, 2), leaves)


@pytest.mark.parametrize("model", [CARTClassifier, CARTRegressor])
def test_fitted_members_compact_or_not(model):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    trees = [
        model(max_features=2, random_state=seed)
        .fit(X, y, sample_weight=rng.integers(0, 3, 300))
        .tree_
        for seed in range(5)
    ]
    small = [tree.compact() for tree in trees]
    expected = add_one_by_one(trees, X)
    out = np.zeros_like(expected)
    add_predictions(small, X, out, 2)
    np.testing.assert_array_equal(out, expected)
    assert all(tree.is_compact for tree in small)


# ------------------------------------------------------------------ what is remembered
def test_trees_are_made_ready_once_and_forgotten_with_them():
    trees = numeric_trees(np.random.default_rng(8), [10, 10, 10])
    forest = PackedEnsemble.of(trees)
    assert PackedEnsemble.of(list(trees)) is forest
    assert PackedEnsemble.of(trees[:2]) is not forest
    assert PackedEnsemble.of(trees[::-1]) is not forest
    table = np.zeros((3, 5))
    assert_like_one_by_one(trees[::-1], table)
    watched = [weakref.ref(tree) for tree in trees]
    del trees, forest
    gc.collect()
    assert [reference() for reference in watched] == [None] * 3


# ----------------------------------------------------------------------------- errors
def test_unseen_level_names_row_and_column(monkeypatch):
    monkeypatch.setattr(module, "_ROWS_ALONE", 3)
    X = np.array([[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]])
    cart = CARTClassifier(categorical_features=[0], handle_unknown="error")
    tree = cart.fit(X, [0, 1, 1, 0, 1, 1]).tree_
    table = np.array([[0.0], [1.0], [0.0], [1.0], [-1.0]])
    with pytest.raises(ValueError, match="'colour' has a level in row 4"):
        add_predictions([tree], table, np.zeros((5, 1, 2)), feature_names=["colour"])
    with pytest.raises(ValueError, match="Column 0 has a level in row 4"):
        find_leaves_of_all([tree], table)


def test_what_does_not_fit_is_refused():
    rng = np.random.default_rng(9)
    trees = numeric_trees(rng, [5, 5], 3, 2)
    table, out = np.zeros((4, 3)), np.zeros((4, 1, 2))
    for wrong in (out[:3], out[:, :, :1], out.astype(int), [[[0.0, 0.0]]] * 4):
        with pytest.raises(ValueError, match=r"out must be .* shape \(4, 1, 2\)"):
            add_predictions(trees, table, wrong)
    with pytest.raises(ValueError, match=r"must have shape \(n_rows, 3\)"):
        add_predictions(trees, table[:, :2], out)
    with pytest.raises(ValueError, match="entry for each of the 2 trees"):
        add_predictions(trees, table, out, weights=[1.0])
    with pytest.raises(ValueError, match="n_threads must be an integer >= 1, got 0"):
        add_predictions(trees, table, out, n_threads=0)
    with pytest.raises(ValueError, match="3, 1 and 2, tree 1 has 4, 1 and 2"):
        add_predictions([trees[0], *numeric_trees(rng, [5], 4, 2)], table, out)
    trees, out = numeric_trees(rng, [5], 3), np.zeros((4, 1, 1))
    with pytest.raises(ValueError, match="cannot vote"):
        add_predictions(trees, table, out, votes=True)


def test_no_trees_and_no_rows():
    trees = numeric_trees(np.random.default_rng(0), [5], 3)
    add_predictions([], np.zeros((2, 3)), np.zeros((2, 1, 1)))
    assert find_leaves_of_all([], np.zeros((2, 3))).shape == (2, 0)
    add_predictions(trees, np.zeros((0, 3)), np.zeros((0, 1, 1)))
    assert find_leaves_of_all(trees, np.zeros((0, 3))).shape == (0, 1)


def test_numeric_tests_of_three_ways_are_asked_alone():
    nodes = make_nodes([3, 0, 0, 0])
    nodes["missing_branch"][0] = 2
    assert nodes["kind"][0] == NUMERIC
    assert_like_one_by_one([make_tree(nodes)] * 2, np.array([[0.0], [1.0], [np.nan]]))


def leveled_trees(rng, n_classes, n_levels, handle_unknown="parent"):
    """Trees over two nominal columns, an ordinal and a numeric one, and their rows."""
    n = 300
    table = np.column_stack(
        [
            rng.integers(0, n_levels, n),
            rng.integers(0, 4, n),
            rng.integers(0, 6, n),
            rng.random(n),
        ]
    ).astype(float)
    y = table[:, 0] % 3 + (table[:, 1] > 1) * table[:, 3]
    table[rng.random(table.shape) < 0.05] = np.nan
    frame = pd.DataFrame(table, columns=list("abcd"))
    for name, size, ordered in (("a", n_levels, 0), ("b", 4, 0), ("c", 6, 1)):
        codes = frame[name].fillna(-1).astype(int)
        frame[name] = pd.Categorical.from_codes(
            codes, range(size), ordered=bool(ordered)
        )
    trees = []
    for seed in range(6):
        kind = CARTClassifier if n_classes else CARTRegressor
        target = np.minimum(y.astype(int), n_classes - 1) if n_classes else y
        rows = rng.integers(0, n, 60)  # so that nodes lack levels
        depth = int(rng.integers(1, 7))
        tree = kind(max_depth=depth, handle_unknown=handle_unknown, random_state=seed)
        trees.append(tree.fit(frame.iloc[rows], target[rows]).tree_)
    return trees, table


@pytest.mark.parametrize("votes", [False, True])
@pytest.mark.parametrize("n_levels", [5, 62, 63, 64, 70])
@pytest.mark.parametrize("handle_unknown", ["parent", "fractional"])
def test_tests_of_levels(n_levels, votes, handle_unknown):
    rng = np.random.default_rng(n_levels)
    trees, table = leveled_trees(rng, 3 if votes else 0, n_levels, handle_unknown)
    for tree in trees:
        tests_levels = tree.n_levels[tree.nodes["feature"]] > 0
        tests_levels &= tree.nodes["n_children"] > 0
        has_many = tests_levels & (tree.nodes["feature"] == 0) & (n_levels > 63)
        assert (PackedTree.of(tree) is None) == (
            has_many.any() or (tests_levels.any() and handle_unknown != "parent")
        )
    weights = rng.random(len(trees))
    if handle_unknown == "parent":
        assert_like_one_by_one(trees, table, votes=votes, weights=weights)
    table[::7, 0] = -1
    table[3::11, 2] = -1
    expected = add_one_by_one(trees, table, votes=votes, weights=weights)
    for rows in (slice(None), slice(0, 9)):
        out = np.zeros_like(expected[rows])
        add_predictions(trees, table[rows], out, 2, votes=votes, weights=weights)
        np.testing.assert_array_equal(out, expected[rows])
    if handle_unknown == "parent":
        leaves = np.stack([find_leaves(tree, table) for tree in trees], axis=1)
        np.testing.assert_array_equal(find_leaves_of_all(trees, table), leaves)


def test_levels_of_many_columns():
    """The bits of the levels of a row take more words than one."""
    rng = np.random.default_rng(4)
    n, names = 500, list("abcdefg")
    table = np.column_stack([*rng.integers(0, 40, (7, n)), rng.random(n)]).astype(float)
    frame = pd.DataFrame(table, columns=[*names, "x"])
    for name in names:
        frame[name] = pd.Categorical.from_codes(frame[name].astype(int), range(40))
    frame["g"] = frame["g"].cat.as_ordered()
    trees = []
    for seed in range(5):
        rows = rng.integers(0, n, 200)
        y = table[rows, seed] % 3 + table[rows, 1] % 2 + (table[rows, 6] > 7)
        tree = CARTRegressor(max_features=3, random_state=seed)
        trees.append(tree.fit(frame.iloc[rows], y).tree_)
    stays = [
        (tree.nodes["n_children"][find_leaves(tree, table)] > 0).mean()
        for tree in trees
    ]
    assert 0.3 < np.mean(stays) < 0.9
    table[::5, 6] = np.nan
    table[::7, 0] = np.nan
    table[::9, 6] = -1
    table[::11, 2] = -1
    table[::13, 3] = 40  # beyond the last level
    assert all(PackedTree.of(tree) is not None for tree in trees)
    assert_like_one_by_one(trees, table)
    assert_like_one_by_one(trees, table[:6])


def test_ordinal_tests_of_many_levels():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 100, (400, 1)).astype(float)
    levels = pd.Categorical.from_codes(
        table[:, 0].astype(int), range(100), ordered=True
    )
    frame = pd.DataFrame({"a": levels})
    trees = [
        CARTRegressor(max_depth=depth).fit(frame, table[:, 0] % 17).tree_
        for depth in (2, 9)
    ]
    table[::5], table[::7], table[::11] = np.nan, -1, 100
    assert all(PackedTree.of(tree) is not None for tree in trees)
    assert_like_one_by_one(trees, table)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_beside_levels_are_compared_exactly(dtype):
    rng = np.random.default_rng(6)
    smallest, largest = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    some = np.array([0.0, smallest, 1.0, 1.5, largest, np.inf], dtype=dtype)
    some = np.concatenate(
        [some, np.nextafter(some, dtype(-1)), np.nextafter(some, dtype(2))]
    )
    some = np.unique(np.concatenate([some, -some]).astype(np.float64))
    trees = []
    for zero in (0.0, -0.0, 0.0, -0.0):
        nodes = make_nodes(random_shape(rng, 60))
        inner = nodes["n_children"] > 0
        nodes["threshold"][inner] = rng.choice(some, inner.sum())
        nodes["threshold"][0] = zero
        nodes["missing_branch"][inner] = rng.integers(0, 2, inner.sum())
        trees.append(make_tree(nodes, n_features=2, n_levels=np.array([0, 3])))
    values = np.concatenate([some, [0.0, -0.0, np.nan]]).astype(dtype)
    table = np.column_stack([values, np.zeros_like(values)])
    assert all(PackedTree.of(tree).lacked is not None for tree in trees)
    assert_like_one_by_one(trees, table)
    assert_like_one_by_one(trees, table[:5])


def test_trees_of_different_levels_side_by_side():
    rng = np.random.default_rng(7)
    trees, table = leveled_trees(rng, 0, 5)
    others, _ = leveled_trees(rng, 0, 9)
    assert_like_one_by_one([trees[0], others[0], others[1], trees[1]], table)


def test_compact_trees_are_not_expanded_for_tests_of_levels():
    for n_classes in (0, 3):
        trees, table = leveled_trees(np.random.default_rng(8), n_classes, 5)
        small = [tree.compact() for tree in trees]
        table[::7, 0] = -1
        expected = add_one_by_one(trees, table)
        out = np.zeros_like(expected)
        add_predictions(small, table, out)
        np.testing.assert_array_equal(out, expected)
        assert all(tree.is_compact for tree in small)


def test_levels_never_seen_may_be_an_error():
    trees, table = leveled_trees(np.random.default_rng(0), 0, 5, "error")
    table[40, 0] = -1
    with pytest.raises(ValueError, match="in row 40"):
        add_predictions(trees, table, np.zeros((len(table), 1, 1)))
