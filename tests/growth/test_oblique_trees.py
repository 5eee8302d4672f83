"""Oblique trees: what holds for any table, and what users rely on."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.ensemble import OutputCodeClassifier
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.layout import LEAF, NODE_DTYPE, OBLIQUE, TERM_DTYPE
from sklearn_textbook.tree.route import RoutedTree
from tests.loops import loop_over

CLASSIFIER_DIRECTIONS = ("lda", "logistic", "ridge", "ols", "oc1", "random")
REGRESSOR_DIRECTIONS = ("ridge", "ols", "oc1", "random")
MODELS = [
    *((ObliqueTreeClassifier, direction) for direction in CLASSIFIER_DIRECTIONS),
    *((ObliqueTreeRegressor, direction) for direction in REGRESSOR_DIRECTIONS),
]


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def make_frame(rng, n):
    """Numbers of several scales, duplicates, gaps and levels."""
    X = rng.normal(size=(n, 4)) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 1e4, 0.0, 0.0]
    X[:, 3] = np.round(X[:, 3])
    frame = pd.DataFrame(X, columns=list("abcd")).mask(rng.random((n, 4)) < 0.08)
    levels = np.array(["red", "green", "blue", None], dtype=object)
    frame["e"] = levels[rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    frame["f"] = pd.Categorical(rng.choice(list("xyz"), n), ordered=True)
    return frame


def make_target(rng, frame, model):
    signal = np.nan_to_num(frame["a"]) + np.nan_to_num((frame["b"] - 1e4) / 1e3)
    signal = signal + (frame["e"] == "red") + 0.3 * rng.normal(size=len(frame))
    if model is ObliqueTreeRegressor:
        return signal.to_numpy()
    return np.digitize(signal, [-0.5, 1.0])


# ------------------------------------------------------------------ growing and routing


@pytest.mark.parametrize(("model", "direction"), MODELS)
@loop_over("seed", range(3))
def test_training_rows_reach_the_leaves_that_counted_them(model, direction, seed):
    rng = np.random.default_rng(seed)
    frame = make_frame(rng, 200)
    target = make_target(rng, frame, model)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], len(frame))
    fitted = model(direction=direction, random_state=0, min_samples_leaf=2)
    tree = fitted.fit(frame, target, sample_weight=weight).tree_
    assert (tree.nodes["kind"] == OBLIQUE).any()
    reached = fitted.apply(frame[weight > 0])
    leaves = tree.nodes["kind"] == LEAF
    counts = np.bincount(reached, minlength=tree.node_count)
    assert np.array_equal(counts[leaves], tree.nodes["n_samples"][leaves])
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert np.all(fitted.feature_importances_ >= 0.0)


@pytest.mark.parametrize(
    ("oblique", "cart"),
    [
        (ObliqueTreeClassifier, CARTClassifier),
        (ObliqueTreeRegressor, CARTRegressor),
    ],
)
def test_where_no_direction_is_better_the_tree_is_that_of_cart(oblique, cart):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        frame = make_frame(rng, 500)
        target = make_target(rng, frame, oblique)
        tree = oblique(prefer_axis=1e9).fit(frame, target).tree_
        other = cart().fit(frame, target).tree_
        assert len(tree.terms) == 0
        for name in NODE_DTYPE.names:
            if name not in ("impurity", "improvement", "map_start"):
                assert tree.nodes[name].tobytes() == other.nodes[name].tobytes(), name
        np.testing.assert_allclose(tree.statistics, other.statistics, rtol=1e-9)


@pytest.mark.parametrize(("model", "direction"), MODELS)
def test_oblique_tests_are_better_than_those_of_one_column(model, direction):
    rng = np.random.default_rng(0)
    frame = make_frame(rng, 300)
    target = make_target(rng, frame, model)
    cart = CARTRegressor if model is ObliqueTreeRegressor else CARTClassifier
    fitted = model(direction=direction, max_depth=1, random_state=0, n_directions=40)
    gain = fitted.fit(frame, target).tree_.nodes["improvement"][0]
    of_axis = cart(max_depth=1).fit(frame, target).tree_.nodes["improvement"][0]
    assert gain > of_axis
    # The penalty of further columns moves the choice to one column.
    ratio = gain / of_axis
    n_columns = len(np.unique(fitted.tree_.terms["feature"]))
    for share, kind in ((0.999, OBLIQUE), (1.001, 0)):
        penalty = share * (ratio - 1.0) / (n_columns - 1)
        tree = fitted.set_params(prefer_axis=penalty).fit(frame, target).tree_
        assert (tree.nodes["kind"][0] == OBLIQUE) == (kind == OBLIQUE)


@pytest.mark.parametrize(("model", "direction"), MODELS)
def test_scales_of_the_columns_play_no_part(model, direction):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    target = make_target(
        rng, pd.DataFrame({"a": X[:, 0], "b": X[:, 1] * 1e3 + 1e4, "e": "red"}), model
    )
    fitted = model(direction=direction, random_state=0, max_depth=4)
    tree = fitted.fit(X, target).tree_
    predicted = fitted.predict(X)
    # Powers of 2 change no digit; offsets none that matters.
    scaled = X * [2.0**40, 2.0**-60, 1.0]
    other = fitted.fit(scaled, target).tree_
    assert np.array_equal(tree.nodes["n_samples"], other.nodes["n_samples"])
    assert np.array_equal(fitted.predict(scaled), predicted)
    moved = X * [7.3, 1e-5, 3.0] + [100.0, 0.0, -5.0]
    assert np.array_equal(fitted.fit(moved, target).predict(moved), predicted)


@pytest.mark.parametrize(("model", "direction"), MODELS)
def test_whole_weights_are_repeated_rows(model, direction):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1] * 1e3 + 1e4, "e": "red"})
    target = make_target(rng, frame, model)
    weight = rng.integers(0, 4, len(X))
    fitted = model(direction=direction, random_state=0, max_depth=3)
    # At half as many columns as rows, repeated rows would count.
    weighted = fitted.fit(X, target, sample_weight=weight).predict(X)
    repeated = fitted.fit(np.repeat(X, weight, axis=0), np.repeat(target, weight))
    assert repeated.predict(X) == pytest.approx(weighted)


@pytest.mark.parametrize(("model", "direction"), MODELS)
def test_a_fit_is_repeated_in_a_copy_and_in_other_threads(model, direction):
    rng = np.random.default_rng(3)
    frame = make_frame(rng, 200)
    target = make_target(rng, frame, model)
    fitted = model(direction=direction, random_state=3, n_jobs=1).fit(frame, target)
    again = model(direction=direction, random_state=3, n_jobs=2).fit(frame, target)
    assert fitted.tree_.nodes.tobytes() == again.tree_.nodes.tobytes()
    assert np.array_equal(fitted.tree_.terms, again.tree_.terms)
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.tree_.terms, fitted.tree_.terms)
    assert np.array_equal(copy.predict(frame), fitted.predict(frame))


@pytest.mark.parametrize("model", [ObliqueTreeClassifier, ObliqueTreeRegressor])
def test_large_nodes_search_the_weights_of_some_samples(model):
    rng = np.random.default_rng(4)
    frame = make_frame(rng, 5000)
    # Levels that hardly any of the samples has.
    frame.loc[frame.index[::1000], "e"] = "rare"
    target = make_target(rng, frame, model)
    fitted = model(direction="oc1", n_directions=2, max_depth=2, random_state=0)
    tree = fitted.fit(frame, target).tree_
    assert tree.nodes["kind"][0] == OBLIQUE
    leaves = tree.nodes["kind"] == LEAF
    counts = np.bincount(fitted.apply(frame), minlength=tree.node_count)
    assert np.array_equal(counts[leaves], tree.nodes["n_samples"][leaves])
    # The threshold is the best of all samples, and a missing value the mean of all.
    term = tree.terms[(tree.terms["feature"] == 0) & (tree.terms["node"] == 0)][0]
    assert term["fill"] == pytest.approx(term["weight"] * frame["a"].mean())
    small = model(direction="oc1", n_directions=2, max_depth=1, random_state=0)
    assert tree.nodes["improvement"][0] == pytest.approx(
        small.fit(frame, target).tree_.nodes["improvement"][0]
    )


def test_counts_give_the_splits_of_weights_under_the_entropy():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(10, 200)), 3))
        X = np.round(X, 1) if seed % 3 == 0 else X
        y, weight = rng.integers(0, 2 + seed % 3, len(X)), rng.integers(1, 4, len(X))
        rules = {"criterion": "entropy", "min_samples_leaf": 1 + seed % 2}
        # A limit of weights is checked by the scan for weights of any kind.
        trees = [
            ObliqueTreeClassifier(
                prefer_axis=None, min_weight_fraction_leaf=limit, **rules
            )
            .fit(X, y, sample_weight=weight)
            .tree_
            for limit in (0.0, 1e-12)
        ]
        for name in ("threshold", "improvement"):
            np.testing.assert_allclose(trees[0].nodes[name], trees[1].nodes[name])


def test_several_trees_of_one_table_are_sound():
    # Trees of one plan share buffers.
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(120, 2)), rng.integers(0, 3, 120)
        codes = OutputCodeClassifier(ObliqueTreeClassifier(), code="one_vs_rest")
        for member in codes.fit(X, y)._list_members():
            check_tree(member.tree_)
            assert member.tree_.statistics.min() >= 0.0


# ----------------------------------------------------------------------- what it is for


def test_a_diagonal_boundary_takes_one_split():
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    y = (X @ [1.0, 1.0] > 0.1).astype(int)
    assert CARTClassifier().fit(X, y).get_n_leaves() > 15
    for direction in ("logistic", "oc1"):
        model = ObliqueTreeClassifier(direction=direction, random_state=0).fit(X, y)
        assert model.get_n_leaves() <= 3
        assert model.score(X, y) == 1.0
    model = ObliqueTreeClassifier().fit(X, y)
    assert model.get_n_leaves() <= 6


@pytest.mark.parametrize("direction", ["lda", "logistic", "oc1"])
def test_a_rotated_checkerboard_takes_few_leaves(direction):
    rng = np.random.default_rng(1)
    corners = rng.uniform(-1, 1, size=(600, 2))
    angle = np.deg2rad(30)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    # Three bands, so that there is a direction in which classes differ.
    y = np.digitize(corners[:, 0], [-0.3, 0.4])
    X = corners @ turn.T
    model = ObliqueTreeClassifier(direction=direction, random_state=0, max_leaf_nodes=8)
    assert model.fit(X, y).score(X, y) > 0.98
    assert CARTClassifier(max_leaf_nodes=8).fit(X, y).score(X, y) < 0.95


def test_the_printed_tree_classifies_all_watermelons():
    # 周志华《机器学习》, figure 4.13.
    X, y = load_watermelon(version="3.0alpha", return_X_y=True)
    fitted = CARTClassifier().fit(X, y)
    density = np.argmax(X[0] == 0.697)
    sugar = 1 - density
    nodes = fitted.tree_.nodes[:5].copy()
    nodes["kind"] = [OBLIQUE, OBLIQUE, LEAF, LEAF, LEAF]
    nodes["n_children"] = [2, 2, 0, 0, 0]
    nodes["first_child"] = [1, 3, -1, -1, -1]
    nodes["parent"] = [-1, 0, 0, 1, 1]
    nodes["threshold"] = [-0.313, -0.158, -2.0, -2.0, -2.0]
    nodes["feature"] = [density, density, -2, -2, -2]
    nodes["missing_branch"] = -1
    terms = np.zeros(4, dtype=TERM_DTYPE)
    terms["node"] = [0, 0, 1, 1]
    terms["feature"] = [density, sugar, density, sugar]
    terms["level"] = -1
    terms["weight"] = [-0.8, -0.044, -0.365, 0.366]
    good = np.argmax(fitted.classes_ == y[0])
    statistics = np.zeros((5, 1, 2))
    statistics[:, 0, 1 - good] = [9, 1, 8, 1, 0]
    statistics[:, 0, good] = [8, 8, 0, 0, 8]
    fitted.tree_ = RoutedTree.from_grown(
        fitted.tree_.replace(nodes=nodes, statistics=statistics, terms=terms)
    )
    assert fitted.score(X, y) == 1.0
    # A tree of ours has no more leaves.
    own = ObliqueTreeClassifier(direction="oc1", random_state=0).fit(X, y)
    assert own.get_n_leaves() <= 3
    assert own.score(X, y) == 1.0


# ------------------------------------------------------------------- tables as they are


@loop_over(("model", "direction"), MODELS)
@loop_over(
    "kind", ["huge", "tiny", "constant", "twice", "nearly", "offset", "wide", "skewed"]
)
def test_badly_scaled_and_collinear_columns(model, direction, kind):
    rng = np.random.default_rng(4)
    A = rng.normal(size=(80, 3))
    X = {
        "huge": A * 1e300,
        "tiny": A * 1e-305,
        "constant": np.c_[A, np.ones(80), np.zeros(80)],
        "twice": np.c_[A, A, A],
        "nearly": np.c_[A, A + 1e-9 * rng.normal(size=A.shape)],
        "offset": A + 1e12,
        "wide": np.c_[A, rng.normal(size=(80, 300))],
        "skewed": np.exp(12 * A),
    }[kind]
    signal = A[:, 0] + A[:, 1]
    target = signal if model is ObliqueTreeRegressor else (signal > 0).astype(int)
    fitted = model(direction=direction, random_state=0).fit(X, target)
    assert fitted.score(X, target) == 1.0
    assert np.isfinite(fitted.tree_.terms["weight"]).all()
    leaves = fitted.tree_.nodes["kind"] == LEAF
    counts = np.bincount(fitted.apply(X), minlength=fitted.tree_.node_count)
    assert np.array_equal(counts[leaves], fitted.tree_.nodes["n_samples"][leaves])


def test_a_missing_value_counts_as_the_mean_of_the_node():
    rng = np.random.default_rng(5)
    X = np.add(rng.normal(size=(200, 2)), [3.0, -7.0])
    y = (X @ [1.0, 1.0] > -4.0).astype(int)
    for hole in (False, True):
        given = X.copy()
        if hole:
            given[::7, 1] = np.nan
        model = ObliqueTreeClassifier(prefer_axis=None, max_depth=1).fit(given, y)
        for column in (0, 1):
            row = np.array([[2.8, -6.9]])
            row[0, column] = np.nanmean(given[:, column])
            gap = row.copy()
            gap[0, column] = np.nan
            assert np.array_equal(model.apply(gap), model.apply(row))
            term = model.tree_.terms[model.tree_.terms["feature"] == column][0]
            expected = term["weight"] * np.nanmean(given[:, column])
            assert term["fill"] == pytest.approx(expected)


@pytest.mark.parametrize("handle_unknown", ["parent", "fractional", "error"])
def test_levels_that_the_node_has_not_seen(handle_unknown):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"a": rng.normal(size=200), "e": rng.choice(list("pqr"), 200)})
    y = (frame["a"] + (frame["e"] == "q") > 0.5).astype(int)
    model = ObliqueTreeClassifier(
        prefer_axis=None, max_depth=1, handle_unknown=handle_unknown
    ).fit(frame, y)
    assert np.array_equal(np.unique(model.tree_.terms["feature"]), [0, 1])
    new = pd.DataFrame({"a": [0.1], "e": ["unheard of"]})
    if handle_unknown == "error":
        with pytest.raises(ValueError, match="'e' has a level in row 0"):
            model.predict(new)
        return
    shares = model.predict_proba(new)[0]
    assert shares == pytest.approx([np.mean(y == 0), np.mean(y == 1)])
    # The two ways agree here as both children are leaves.
    assert np.array_equal(model.apply(new), [0])


def test_sparse_tables_and_several_outputs():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.5)
    Y = np.c_[X @ [1, 1, 0, 0, 0, 0] > 0, X @ [0, 0, 1, -1, 0, 0] > 0].astype(int)
    for model, target in (
        (ObliqueTreeClassifier(random_state=0), Y),
        (ObliqueTreeRegressor(random_state=0), X @ rng.normal(size=(6, 2))),
    ):
        dense = model.fit(X, target).predict(X)
        assert model.tree_.node_count > 3
        sparse = model.fit(csr_array(X), target)
        assert np.array_equal(sparse.predict(csr_array(X)), dense)
        assert np.array_equal(sparse.predict(X), dense)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize(("model", "direction"), MODELS)
def test_few_columns_in_a_test(model, direction, limit):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 8))
    signal = X @ [3.0, 2.0, 1.0, 0.5, 0, 0, 0, 0]
    target = signal if model is ObliqueTreeRegressor else (signal > 0).astype(int)
    fitted = model(
        direction=direction,
        max_features_per_split=limit,
        n_directions=40,
        random_state=0,
        max_depth=3,
    ).fit(X, target)
    of_node = np.bincount(fitted.tree_.terms["node"], minlength=1)
    assert of_node.max() <= limit
    # A direction of one column is not better than a test of it.
    assert of_node.max() > 1 or limit == 1
    if direction in ("lda", "ridge") and limit == 2:
        root = fitted.tree_.terms[fitted.tree_.terms["node"] == 0]
        assert set(root["feature"]) == {0, 1}


def test_the_lasso_makes_directions_sparse():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(500, 10))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    for direction in ("lda", "logistic", "ridge", "ols"):
        sizes = []
        for lasso in (0.0, 0.4, 0.99):
            model = ObliqueTreeClassifier(
                direction=direction, lasso=lasso, max_depth=1, prefer_axis=None
            ).fit(X, y)
            sizes.append(len(model.tree_.terms))
        assert sizes[0] == 10
        assert sizes[1] == 3
        assert sizes[2] == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"direction": "pca"}, "'direction' parameter must be"),
        ({"missing": "learned"}, "'missing' parameter must be"),
        ({"max_features_per_split": 0}, "'max_features_per_split' parameter must be"),
        ({"n_directions": 0}, "'n_directions' parameter must be"),
        ({"prefer_axis": -0.1}, "'prefer_axis' parameter must be"),
        ({"ridge": -1.0}, "'ridge' parameter must be"),
        ({"lasso": 1.5}, "'lasso' parameter must be"),
        ({"criterion": "error"}, "'criterion' parameter must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        ObliqueTreeClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_attributes_of_scikit_learn_s_trees_refuse_oblique_tests():
    X, y = load_watermelon(version="3.0alpha", return_X_y=True)
    tree = ObliqueTreeClassifier(prefer_axis=None).fit(X, y).tree_
    for name in ("feature", "threshold"):
        with pytest.raises(AttributeError, match="node 0 of this tree tests a sum"):
            getattr(tree, name)
