"""Level maps, dense and sparse: one tree in both forms, wide columns, their memory."""

import json
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    export_rules,
    export_text,
)
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import (
    DENSE_MAP,
    FRACTIONAL,
    NOMINAL,
    SURROGATE_DTYPE,
)
from sklearn_textbook.tree.grow.level_map import measure_level_maps, read_level_map
from sklearn_textbook.tree.prune import cut_below, merge_equal_leaves
from sklearn_textbook.tree.route import (
    find_decision_path,
    find_leaves,
    predict_statistics,
)
from tests.reference.compare import assert_same_nodes, read_grown_tree
from tests.tree_builders import make_nodes, make_tree, write_level_map

N_LEVELS = 5000


def with_maps(tree, is_sparse):
    """The same tree with all its level maps in one form."""
    level_branch, changed = [], {}
    for name in ("nodes", "surrogates"):
        records = changed[name] = getattr(tree, name).copy()
        for number in np.flatnonzero(records["kind"] == NOMINAL):
            children = tree.read_level_map(records[number]).tolist()
            records["map_start"][number] = len(level_branch)
            level_branch += write_level_map(children, is_sparse)
    return tree.replace(level_branch=np.array(level_branch, np.int32), **changed)


def find_maps(tree):
    """First entry and length of the maps of all nominal tests."""
    tests = [
        records[records["kind"] == NOMINAL] for records in (tree.nodes, tree.surrogates)
    ]
    starts = np.concatenate([test["map_start"] for test in tests])
    n_levels = tree.n_levels[np.concatenate([test["feature"] for test in tests])]
    lengths = measure_level_maps(tree.level_branch, starts, n_levels)
    return tree.level_branch[starts], lengths


def make_wide_table(
    n_rows=400, n_used=150, n_levels=N_LEVELS, n_classes=3, missing=0.1, seed=0
):
    """Two columns of many declared levels, of which some are used, and a number."""
    rng = np.random.default_rng(seed)
    used = np.sort(rng.choice(n_levels, n_used, replace=False))
    effect = rng.integers(0, n_classes, n_levels)
    first = rng.choice(used, n_rows)
    y = np.where(rng.random(n_rows) < 0.7, effect[first], rng.integers(0, n_classes))
    second = np.where(rng.random(n_rows) < 0.8, first, rng.choice(used, n_rows))
    names = [f"level {code:05d}" for code in range(n_levels)]
    frame = {"number": rng.normal(size=n_rows).round(1)}
    for name, codes in (("first", first), ("second", second)):
        codes[rng.random(n_rows) < missing] = -1
        frame[name] = pd.Categorical.from_codes(codes, names)
    return pd.DataFrame(frame), y


MODELS = {
    "two classes": partial(CARTClassifier, max_depth=12),
    "gini": CARTClassifier,
    "squared error": CARTRegressor,
    "one_vs_rest": partial(CARTClassifier, categorical_split="one_vs_rest"),
    "own branch": partial(CARTClassifier, missing="branch"),
    "surrogates": partial(CARTClassifier, missing="surrogate"),
    "surrogates, regression": partial(CARTRegressor, missing="surrogate"),
}


def fit_wide(name, **options):
    X, y = make_wide_table(n_classes=2 if name == "two classes" else 3, **options)
    return MODELS[name]().fit(X, y), X, y


# ----------------------------------------------------------------- growing and reading
@pytest.mark.parametrize("name", MODELS)
def test_tree_does_not_depend_on_levels_without_rows(name):
    wide, X, y = fit_wide(name)
    levels = {
        column: X[column].cat.remove_unused_categories() for column in X.columns[1:]
    }
    narrow = MODELS[name]().fit(X.assign(**levels), y)
    wide_tree, narrow_tree = wide.tree_, narrow.tree_
    check_tree(wide_tree)
    codes = {
        feature: {
            code: wide.schema_.columns[feature].levels.index(level)
            for code, level in enumerate(narrow.schema_.columns[feature].levels)
        }
        for feature in (1, 2)
    }
    expected = read_grown_tree(narrow_tree)
    for test in (t for node in expected for t in (node, *node["surrogates"])):
        if test["level_map"] is not None:
            new = codes[test["feature"]]
            test["level_map"] = {new[c]: b for c, b in test["level_map"].items()}
    assert_same_nodes(read_grown_tree(wide_tree), expected)
    # In the wide table all maps are sparse, in the narrow one those near the root not.
    assert (find_maps(wide_tree)[0] >= 0).all()
    forms = find_maps(narrow_tree)[0]
    assert (forms == DENSE_MAP).any()
    assert (forms >= 0).any()
    assert ("surrogates" in name) == (len(wide_tree.surrogates) > 0)
    np.testing.assert_array_equal(wide.predict(X), narrow.predict(X))


@pytest.mark.parametrize("handle_unknown", ["parent", "fractional"])
@pytest.mark.parametrize("name", MODELS)
def test_both_forms_of_a_tree_are_the_same_tree(name, handle_unknown):
    model, X, _ = fit_wide(name, n_levels=300)
    tree = model.tree_.replace(handle_unknown=handle_unknown)
    dense, thin = with_maps(tree, False), with_maps(tree, True)
    assert dense.level_branch.size > 1.5 * thin.level_branch.size
    for form in (dense, thin):
        check_tree(form)
        assert_same_nodes(read_grown_tree(form), read_grown_tree(tree))
    rng = np.random.default_rng(1)
    matrix = rng.integers(-1, 301, (300, 3)).astype(float)  # 300: beyond all codes
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    for table in (model.schema_.read(X), matrix, np.tile(matrix, (200, 1))):
        np.testing.assert_array_equal(
            find_leaves(dense, table), find_leaves(thin, table)
        )
        np.testing.assert_array_equal(
            predict_statistics(dense, table), predict_statistics(thin, table)
        )
    paths = [find_decision_path(form, matrix).toarray() for form in (dense, thin)]
    np.testing.assert_array_equal(*paths)


@pytest.mark.parametrize("name", MODELS)
def test_model_file_of_a_wide_table(name, tmp_path):
    model, X, _ = fit_wide(name)
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.tree_.level_branch.tobytes() == model.tree_.level_branch.tobytes()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["gini", "own branch", "surrogates"])
def test_both_forms_explain_prune_and_serialise_alike(name):
    model, _, _ = fit_wide(name, n_rows=120, n_used=40, n_levels=100)
    results = []
    for is_sparse in (False, True):
        model.tree_ = with_maps(model.tree_, is_sparse)
        tree = model.tree_
        pruned = cut_below(tree, np.flatnonzero(tree.depth == 2))
        check_tree(pruned)
        assert find_maps(pruned)[1].sum() == pruned.level_branch.size
        assert ((find_maps(pruned)[0] >= 0) == is_sparse).all()
        again = GrownTree.from_dict(json.loads(json.dumps(tree.to_dict())))
        assert again.level_branch.tobytes() == tree.level_branch.tobytes()
        copied = pickle.loads(pickle.dumps(tree))
        trees = (tree, pruned, merge_equal_leaves(tree), again, copied)
        nodes = [read_grown_tree(each) for each in trees]
        np.testing.assert_equal(nodes[3:], [nodes[0], nodes[0]])
        results.append((nodes, export_text(model), export_rules(model)))
    np.testing.assert_equal(*results)


def test_a_map_is_sparse_where_that_is_shorter():
    for n_used, first_entry in ((4, 4), (5, DENSE_MAP), (6, DENSE_MAP)):
        codes = np.arange(n_used)
        X = pd.DataFrame({"c": pd.Categorical.from_codes(codes, list("abcdefghij"))})
        tree = CARTRegressor(max_depth=1).fit(X, codes).tree_
        assert tree.level_branch[0] == first_entry
        assert tree.level_branch.size == 1 + min(2 * n_used, 10)


def test_a_split_of_many_ways_is_dense():
    X, y = make_wide_table(n_rows=60, n_used=5, n_levels=40, missing=0.0)
    tree = CARTClassifier(categorical_split="multiway").fit(X[["first"]], y).tree_
    assert tree.level_branch.tolist() == [DENSE_MAP, *range(40)]
    assert tree.nodes["n_children"][0] == 40


# ----------------------------------------------------------------------------- by hand
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    "children",
    [
        [-1, -1, -1, -1],
        [0, -1, -1, -1],
        [-1, -1, -1, 1],
        [-1, 1, 0, -1],
        [0, 1, 1, 0],
        [1],
    ],
)
def test_every_level_of_a_small_map(children, is_sparse):
    nodes = make_nodes([2, 0, 0])
    nodes["kind"][0], nodes["threshold"][0] = NOMINAL, np.nan
    nodes["map_start"][0] = 2
    level_branch = np.array([7, 7, *write_level_map(children, is_sparse)], np.int32)
    n_levels = np.array([len(children)])
    tree = make_tree(nodes, n_levels=n_levels, level_branch=level_branch)
    check_tree(tree)
    assert tree.read_level_map(tree.nodes[0]).tolist() == children
    codes = np.arange(-1, len(children) + 1)
    ends = [0, *(child + 1 for child in children), 0]
    for repeats in (1, 2000):  # one row after the other, and together
        table = np.tile(codes, repeats)[:, None].astype(float)
        np.testing.assert_array_equal(find_leaves(tree, table), ends * repeats)


def test_a_sparse_map_may_list_levels_that_it_does_not_know():
    level_branch = np.array([3, 1, 4, 6, 0, -1, 1], np.int32)
    assert read_level_map(level_branch, 0, 8).tolist() == [-1, 0, *[-1] * 4, 1, -1]
    nodes = make_nodes([2, 0, 0])
    nodes["missing_branch"][0] = FRACTIONAL
    surrogates = np.zeros(1, dtype=SURROGATE_DTYPE)
    surrogates["kind"], surrogates["feature"] = NOMINAL, 1
    tree = make_tree(
        nodes,
        n_features=2,
        n_levels=np.array([0, 8]),
        level_branch=level_branch,
        surrogates=surrogates,
    )
    check_tree(tree)
    table = [[np.nan, level] for level in range(8)]
    assert find_leaves(tree, table).tolist() == [0, 1, 0, 0, 0, 0, 2, 0]


# ------------------------------------------------------------------------------ memory
@pytest.mark.parametrize("name", MODELS)
def test_memory_is_bounded_by_rows_and_depth(name):
    """The nodes of one depth hold each row once, and at most a level for each row."""
    n_rows = 3000
    model, _, _ = fit_wide(name, n_rows=n_rows, n_used=2000, n_levels=20_000)
    tree = model.tree_
    n_tests = 1 + (5 if len(tree.surrogates) else 0)
    _, lengths = find_maps(tree)
    assert lengths.sum() == tree.level_branch.size
    stand_ins = tree.surrogates[tree.surrogates["kind"] == NOMINAL]
    owners = [np.flatnonzero(tree.nodes["kind"] == NOMINAL), stand_ins["node"]]
    n_rows_here = tree.nodes["n_samples"][np.concatenate(owners)]
    assert (lengths <= 1 + 2 * n_rows_here).all()
    assert tree.level_branch.size <= 3 * n_rows * tree.max_depth * n_tests
    assert tree.level_branch.size < 0.1 * len(lengths) * 20_000


def test_maps_do_not_depend_on_threads_or_the_run():
    X, y = make_wide_table(n_rows=40_000, n_used=N_LEVELS, missing=0.02)
    models = [CARTClassifier(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 1, 2)]
    check_tree(models[0].tree_)
    assert models[0].tree_.level_branch.size < 3 * 40_000 * models[0].get_depth()
    pickles = {pickle.dumps(model.tree_) for model in models}
    assert len(pickles) == 1
