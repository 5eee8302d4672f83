"""The short form of trees: bit for bit what was stored, small, and on demand."""

import copy
import json
import pickle

import joblib
import numpy as np
import pytest

from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from sklearn_textbook.tree.grow import layout, storage
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import SURROGATE_DTYPE, TERM_DTYPE
from sklearn_textbook.tree.grow.narrow import narrow
from sklearn_textbook.tree.grow.storage import (
    COMPACTED_NODES,
    restore_nodes,
    store_nodes,
)
from sklearn_textbook.tree.route import find_leaves, predict_statistics
from tests.explain.builders import MODES, random_tree
from tests.loops import loop_over
from tests.tree_builders import make_nodes, make_tree, random_shape

SIDES = ("level_branch", "surrogates", "terms")
ARRAYS = ("nodes", "statistics", "n_levels", "n_classes", *SIDES)
PLAIN = ("n_features", "is_classifier", "handle_unknown", "schema_version")


def assert_same_bits(first, second):
    """Equal in every field, bit for bit, and of the same class."""
    assert type(first) is type(second)
    for name in ARRAYS:
        one, other = getattr(first, name), getattr(second, name)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if one.dtype.names is None:
            assert one.tobytes() == other.tobytes(), name
        for field in one.dtype.names or ():
            # The padding of a record may differ.
            assert one[field].tobytes() == other[field].tobytes(), (name, field)
    for name in PLAIN:
        assert getattr(first, name) == getattr(second, name)


def assert_survives(tree):
    """Every way to store a tree gives the same one back."""
    short = tree.compact()
    again = pickle.loads(pickle.dumps(tree))
    for stored in (short, again, pickle.loads(pickle.dumps(short))):
        assert stored.is_compact
        for name in ("node_count", "n_leaves", "n_outputs", "n_statistics"):
            assert getattr(stored, name) == getattr(tree, name)
        assert repr(stored) == repr(tree)
        np.testing.assert_array_equal(stored.depth, tree.depth)
        assert stored.max_depth == tree.depth[-1]
        leaves = tree.nodes["n_children"] == 0
        names = ("n_children", "feature", "threshold", "kind", "missing_branch")
        for name, column in zip(names, stored.read_columns(*names), strict=True):
            np.testing.assert_array_equal(column, tree.nodes[name])
        leaf_statistics = stored.read_leaf_statistics()
        np.testing.assert_array_equal(leaf_statistics, tree.statistics[leaves])
        inner = np.flatnonzero(~leaves)
        np.testing.assert_array_equal(
            stored.read_statistics(inner), tree.statistics[inner]
        )
        np.testing.assert_array_equal(
            tree.read_statistics(inner), tree.statistics[inner]
        )
        assert stored.is_compact
        assert_same_bits(stored, tree)
        assert not stored.is_compact
    assert_same_bits(copy.deepcopy(tree), tree)
    assert_same_bits(tree.compact().compact(), tree)


# ---------------------------------------------------------------------- round trips
@loop_over("handle_unknown", ["parent", "error"])
@loop_over("mode", MODES)
@loop_over("seed", range(8))
def test_trees_of_every_kind_of_test(seed, mode, handle_unknown):
    n_classes, n_outputs = [(3, 1), (2, 2), (0, 1), (0, 2)][seed % 4]
    assert_survives(random_tree(seed, mode, handle_unknown, n_classes, n_outputs).tree_)


def mixed_table(rng, n_rows=300):
    """Two numeric columns, one nominal, with missing values; and three classes."""
    X = rng.normal(size=(n_rows, 3))
    X[:, 2] = rng.integers(0, 5, n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int) + (np.nan_to_num(X[:, 2]) > 2)
    y[rng.random(n_rows) < 0.2] = 0
    return X, y


MODELS = {
    "C4.5": C45Classifier(categorical_features=[2]),
    "ID3": ID3Classifier(categorical_features=[2]),
    "Gini": CARTClassifier(categorical_features=[2]),
    "entropy": CARTClassifier(criterion="entropy", categorical_features=[2]),
    "surrogates": CARTClassifier(missing="surrogate", max_depth=4),
    "many ways": CARTClassifier(categorical_features=[2], categorical_split="multiway"),
    "values": CARTRegressor(),
    "medians": CARTRegressor(criterion="absolute_error", max_depth=4),
    "sums": ObliqueTreeClassifier(categorical_features=[2]),
    "sums of values": ObliqueTreeRegressor(
        direction="random", categorical_features=[2], random_state=0
    ),
}


@pytest.mark.parametrize("weights", ["none", "counts", "fractions"])
@pytest.mark.parametrize("model", sorted(MODELS))
def test_fitted_trees(model, weights):
    rng = np.random.default_rng(len(model))
    X, y = mixed_table(rng)
    weight = {
        "none": None,
        "counts": rng.poisson(1.0, len(y)).astype(float),
        "fractions": rng.random(len(y)),
    }[weights]
    estimator = copy.deepcopy(MODELS[model]).fit(X, y, sample_weight=weight)
    assert_survives(estimator.tree_)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))


@pytest.mark.parametrize("weights", [None, "fractions"])
@pytest.mark.parametrize("model", ["C4.5", "Gini", "entropy", "many ways"])
def test_many_classes(monkeypatch, model, weights):
    """They are stored a few at a time, and those that are present added up."""
    rng = np.random.default_rng(len(model))
    X, y = mixed_table(rng)
    y[:9] = np.arange(3, 12)
    weight = None if weights is None else rng.random(len(y))
    tree = copy.deepcopy(MODELS[model]).fit(X, y, sample_weight=weight).tree_
    expected = store_nodes(tree.nodes, tree.statistics)
    for module in (layout, storage):
        monkeypatch.setattr(module, "FEW_NUMBERS", 4)
    stored = store_nodes(tree.nodes, tree.statistics)
    assert pickle.dumps(stored) == pickle.dumps(expected)
    assert_survives(tree)


@pytest.mark.parametrize("model", [CARTClassifier, CARTRegressor])
def test_several_outputs(model):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.stack([X[:, 0] > 0, rng.integers(0, 3, 200)], axis=1).astype(int)
    assert_survives(model(max_depth=6).fit(X, y).tree_)


@pytest.mark.parametrize("model", [ObliqueTreeClassifier, ObliqueTreeRegressor])
def test_large_trees_of_sums(model):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(9000, 3))
    y = rng.integers(0, 2, 9000) if model is ObliqueTreeClassifier else X[:, 0]
    y = y + rng.integers(0, 2, 9000)
    estimator = model(direction="random", prefer_axis=None, random_state=0).fit(X, y)
    assert estimator.tree_.node_count >= COMPACTED_NODES
    assert len(estimator.tree_.terms) >= COMPACTED_NODES
    assert_survives(estimator.tree_)
    # Copied while compact, too.
    again = pickle.loads(pickle.dumps(estimator))
    assert again.tree_.is_compact
    twice = copy.deepcopy(again)
    assert twice.tree_.is_compact
    assert_same_bits(twice.tree_, estimator.tree_)
    expected = estimator.predict(X)
    np.testing.assert_array_equal(again.predict(X), expected)
    np.testing.assert_array_equal(twice.predict(X), expected)


def test_odd_numbers_survive():
    rng = np.random.default_rng(2)
    odd = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324, 1 / 3, 1e308, 2.0**53, 0.1]
    for size in (0, 1, 2, 40):
        nodes = make_nodes(random_shape(rng, size, max_children=4))
        for name in nodes.dtype.names:
            if name not in ("n_children", "kind"):
                entries = rng.choice(odd, len(nodes))
                if nodes.dtype[name].kind == "i":
                    limits = np.iinfo(nodes.dtype[name])
                    entries = rng.choice([limits.min, limits.max, 0, -1], len(nodes))
                nodes[name] = entries
        statistics = rng.choice(odd, (len(nodes), 2, 3))
        again, statistics_again = restore_nodes(store_nodes(nodes, statistics))
        assert again.tobytes() == nodes.tobytes()
        assert statistics_again.tobytes() == statistics.tobytes()


@pytest.mark.parametrize("column", ["n_samples", "weight", "impurity", "improvement"])
@pytest.mark.parametrize("place", [0, 3, -1])
def test_a_rule_with_one_exception(column, place):
    X = np.random.default_rng(3).normal(size=(100, 2))
    tree = CARTClassifier().fit(X, X[:, 0] * X[:, 1] > 0).tree_
    nodes = tree.nodes.copy()
    nodes[column][place] += 1
    assert_survives(tree.replace(nodes=nodes))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 255], "u1"),
        ([0, 256], "u2"),
        ([-1, 127], "i1"),
        ([-1, 128], "i2"),
        ([0, 2**32], "u8"),
        ([0.0, 255.0], "u1"),
        ([-3.0, 1.0], "i1"),
        ([0.5, -0.0], "f4"),
        ([0.0, -0.0], "f4"),
        ([0.1, 0.0], "f8"),
        ([1e300, 1.0], "f8"),
        ([np.inf, np.nan], "f4"),
    ],
)
def test_narrowest_type(values, dtype):
    narrowed = narrow(np.array(values))
    assert narrowed.dtype == np.dtype(dtype)
    wide = narrowed.astype(np.array(values).dtype)
    assert wide.tobytes() == np.array(values).tobytes()


# ----------------------------------------------------------------------------- files
def test_pickles_with_whole_nodes_still_load():
    """Of versions that stored the arrays as they are."""
    tree = random_tree(2, "surrogate").tree_
    state = {name: getattr(tree, name) for name in (*ARRAYS, *PLAIN)}
    again = GrownTree.__new__(GrownTree)
    again.__setstate__(state)
    assert not again.is_compact
    assert_same_bits(again, tree)
    with pytest.raises(ValueError, match="read-only"):
        again.nodes["threshold"][0] = 1.0


def swap_bytes(value):
    """Every array in the order of the other kind of machine."""
    if isinstance(value, np.ndarray):
        return value.astype(value.dtype.newbyteorder())
    if isinstance(value, tuple):
        return tuple(map(swap_bytes, value))
    if isinstance(value, dict):
        return {name: swap_bytes(entry) for name, entry in value.items()}
    return value


@pytest.mark.parametrize("mode", ["surrogate", "fractional"])
def test_pickles_of_the_other_byte_order(mode):
    tree = random_tree(3, mode).tree_
    again = GrownTree.__new__(GrownTree)
    again.__setstate__(swap_bytes(tree.__getstate__()))
    assert_same_bits(again, tree)


@pytest.mark.parametrize("model", ["Gini", "surrogates", "values", "sums"])
def test_memory_mapped_files(tmp_path, model):
    X, y = mixed_table(np.random.default_rng(4))
    estimator = copy.deepcopy(MODELS[model]).fit(X, y)
    joblib.dump(estimator, tmp_path / "tree.joblib")
    again = joblib.load(tmp_path / "tree.joblib", mmap_mode="r")
    assert isinstance(again.tree_.stored["threshold"][1], np.memmap)
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    assert_same_bits(again.tree_, estimator.tree_)


@pytest.mark.parametrize(("model", "most"), [(CARTClassifier, 12), (CARTRegressor, 40)])
def test_size_of_a_member_of_a_forest(model, most):
    """scikit-learn takes 64 bytes a node, and 8 for each class or value."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 10))
    y = X[:, 0] + rng.normal(size=4000)
    if model is CARTClassifier:
        y = y > 0
    weight = rng.poisson(1.0, len(y)).astype(float)
    tree = model(random_state=0).fit(X, y, sample_weight=weight).tree_
    assert len(pickle.dumps(tree)) < most * tree.node_count


# ------------------------------------------------------------------------- on demand
def test_nodes_are_made_once_and_shared_fields_stay():
    tree = random_tree(1, "surrogate").tree_
    short = tree.compact()
    assert short.surrogates is tree.surrogates
    assert short.nodes is short.nodes
    assert short.compact().is_compact
    assert not tree.is_compact
    with pytest.raises(ValueError, match="read-only"):
        short.nodes["threshold"][0] = 1.0
    with pytest.raises(AttributeError, match="no attribute 'leafs'"):
        _ = short.leafs


def test_routing_and_json_of_a_compact_tree():
    X, y = mixed_table(np.random.default_rng(6))
    for model in ("Gini", "C4.5", "sums"):
        tree = copy.deepcopy(MODELS[model]).fit(X, y).tree_
        table = np.nan_to_num(X, nan=0.0)
        for function in (find_leaves, predict_statistics):
            found = function(tree.compact(), table)
            np.testing.assert_array_equal(found, function(tree, table))
        text = json.dumps(tree.compact().to_dict(), allow_nan=False)
        assert text == json.dumps(tree.to_dict(), allow_nan=False)


@pytest.mark.parametrize("model", ["Gini", "sums"])
def test_importances_leave_a_tree_compact(model):
    X, y = mixed_table(np.random.default_rng(7))
    tree = copy.deepcopy(MODELS[model]).fit(X, y).tree_
    short = tree.compact()
    importances = short.compute_feature_importances()
    np.testing.assert_array_equal(importances, tree.compute_feature_importances())
    assert short.is_compact


def test_empty_side_tables_need_no_room():
    tree = make_tree(make_nodes([0]))
    again = pickle.loads(pickle.dumps(tree))
    dtypes = (np.int32, SURROGATE_DTYPE, TERM_DTYPE)
    for name, dtype in zip(SIDES, dtypes, strict=True):
        assert name not in tree.__getstate__()
        assert getattr(again, name).dtype == dtype
