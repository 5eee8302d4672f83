"""The grown tree: its views, its importances, and its dictionary, sound or damaged."""

import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import (
    NODE_DTYPE,
    OBLIQUE,
    SCHEMA_VERSION,
    SURROGATE_DTYPE,
)
from tests.explain.builders import MODES, random_tree
from tests.loops import loop_over
from tests.tree_builders import convert_sklearn_tree, make_nodes, make_tree

ARRAYS = ("nodes", "statistics", "n_levels", "n_classes", "level_branch", "surrogates")
PLAIN = ("n_features", "is_classifier", "handle_unknown", "schema_version")


def assert_equal_trees(first, second):
    for name in ARRAYS:
        one, other = getattr(first, name), getattr(second, name)
        assert one.dtype == other.dtype
        for column in one.dtype.names or [...]:  # NaN equals NaN in columns only
            np.testing.assert_array_equal(one[column], other[column])
    assert [getattr(first, n) for n in PLAIN] == [getattr(second, n) for n in PLAIN]


def fit_tree(model):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(200, 4))
    table[rng.random(table.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 200)
    return model(random_state=0).fit(table, y, sample_weight=rng.random(200))


# --------------------------------------------------------------- scikit-learn's views
@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_views_read_like_scikit_learns_tree(model):
    estimator = fit_tree(model)
    source = estimator.tree_
    tree, order = convert_sklearn_tree(estimator)
    check_tree(tree)
    for name in (
        "feature",
        "threshold",
        "impurity",
        "n_node_samples",
        "weighted_n_node_samples",
        "missing_go_to_left",
    ):
        np.testing.assert_array_equal(getattr(tree, name), getattr(source, name)[order])
    np.testing.assert_allclose(tree.value, source.value[order])
    np.testing.assert_allclose(tree.compute_value([0, 5]), source.value[order[[0, 5]]])
    for name in ("children_left", "children_right"):
        ours, inner = getattr(tree, name), ~tree.is_leaf
        np.testing.assert_array_equal(
            order[ours[inner]], getattr(source, name)[order][inner]
        )
        np.testing.assert_array_equal(ours[~inner], -1)
    for name in ("node_count", "n_leaves", "max_depth", "n_outputs", "max_n_classes"):
        assert getattr(tree, name) == getattr(source, name)
    depths = source.compute_node_depths()[order]
    np.testing.assert_array_equal(tree.compute_node_depths(), depths)
    np.testing.assert_array_equal(tree.n_classes, source.n_classes)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("model", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_importances_are_scikit_learns(model, normalize):
    estimator = fit_tree(model)
    tree, _ = convert_sklearn_tree(estimator)
    np.testing.assert_allclose(
        tree.compute_feature_importances(normalize=normalize),
        estimator.tree_.compute_feature_importances(normalize=normalize),
    )


def test_importances_without_improvement_are_zero():
    for n_children in ([0], [2, 0, 0]):
        tree = make_tree(make_nodes(n_children), n_features=3)
        assert tree.compute_feature_importances().tolist() == [0.0, 0.0, 0.0]


def test_arrays_are_read_only_and_children_need_two_ways():
    tree = make_tree(make_nodes([3, 0, 0, 0]))
    with pytest.raises(ValueError, match="read-only"):
        tree.nodes["threshold"][0] = 1.0
    with pytest.raises(AttributeError, match="two-way splits only"):
        _ = tree.children_left


def test_repr_is_short():
    assert repr(make_tree(make_nodes([2, 0, 0]))) == (
        "GrownTree(node_count=3, n_leaves=2, n_features=1, n_outputs=1, "
        "is_classifier=False)"
    )


@pytest.mark.parametrize("mode", MODES)
def test_pickle_and_copy(mode):
    tree = random_tree(2, mode).tree_
    assert_equal_trees(pickle.loads(pickle.dumps(tree)), tree)
    assert_equal_trees(copy.deepcopy(tree), tree)


# ------------------------------------------------------------------- the dictionary
@loop_over("handle_unknown", ["parent", "fractional", "error"])
@loop_over("mode", MODES)
@loop_over("seed", range(6))
def test_dictionary_reads_back_through_strict_json(seed, mode, handle_unknown):
    n_classes, n_outputs = [(3, 1), (2, 2), (0, 2)][seed % 3]
    tree = random_tree(seed, mode, handle_unknown, n_classes, n_outputs).tree_
    text = json.dumps(tree.to_dict(), allow_nan=False)
    assert_equal_trees(GrownTree.from_dict(json.loads(text)), tree)


def test_numbers_survive_to_the_last_bit():
    nodes = make_nodes([2, 2, 0, 0, 0])
    nodes["threshold"][:2] = [np.inf, np.nextafter(0.1, 1)]
    nodes["impurity"] = [np.nan, -np.inf, 5e-324, 1 / 3, -0.0]
    nodes["n_samples"] = 2**62
    tree = make_tree(nodes)
    again = GrownTree.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
    assert again.nodes.tobytes() == tree.nodes.tobytes()


def test_ragged_classes_read_back():
    statistics = np.array([[[1.0, 2.0, 0.0], [0.0, 1.0, 2.0]]])
    nodes = make_nodes([0])
    nodes["weight"] = 3.0
    tree = make_tree(nodes, statistics, is_classifier=True)
    tree = tree.replace(n_classes=np.array([2, 3]))
    assert_equal_trees(GrownTree.from_dict(tree.to_dict()), tree)


# ------------------------------------------------------------------ damaged or foreign
def make_fields():
    """The dictionary of a tree with every kind of test and a surrogate, whose
    level map is sparse."""
    nodes = make_nodes([2, 3, 2, 0, 0, 0, 0, 0])
    nodes["kind"][:3] = [1, 3, 2]
    nodes["feature"][:3] = [0, 1, 2]
    nodes["map_start"][1] = 0
    nodes["threshold"][1] = np.nan
    surrogates = np.zeros(1, dtype=SURROGATE_DTYPE)
    surrogates["kind"], surrogates["feature"], surrogates["map_start"] = 3, 1, 4
    tree = make_tree(
        nodes,
        n_features=3,
        n_levels=np.array([0, 3, 2]),
        level_branch=np.array([-1, 0, 1, 2, 2, 0, 2, 0, 1], dtype=np.int32),
        surrogates=surrogates,
    )
    return json.loads(json.dumps(tree.to_dict()))


def test_fields_are_sound_before_damage():
    assert GrownTree.from_dict(make_fields()).node_count == 8


@pytest.mark.parametrize("foreign", [None, [], "tree", 3])
def test_no_dictionary(foreign):
    with pytest.raises(ValueError, match="read from a dictionary, not from"):
        GrownTree.from_dict(foreign)


@pytest.mark.parametrize("format_name", [None, "xgboost", 3])
def test_foreign_dictionary(format_name):
    with pytest.raises(ValueError, match="not a grown tree: its format is"):
        GrownTree.from_dict({"format": format_name, "nodes": []})


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (SCHEMA_VERSION + 1, "Update sklearn_textbook"),
        (0, "must be at least 1"),
        ("1", "schema_version is '1', but must be an integer"),
        (True, "schema_version is True, but must be an integer"),
    ],
)
def test_wrong_schema_version(version, message):
    fields = make_fields() | {"schema_version": version}
    with pytest.raises(ValueError, match=message):
        GrownTree.from_dict(fields)


@pytest.mark.parametrize("name", sorted(make_fields().keys() - {"format"}))
def test_lacking_field(name):
    fields = make_fields()
    del fields[name]
    with pytest.raises(ValueError, match=name):
        GrownTree.from_dict(fields)


def test_unknown_field():
    with pytest.raises(ValueError, match="has unknown 'colour'"):
        GrownTree.from_dict(make_fields() | {"colour": 1})


# What is written where (a path and the new entry), and what the message says.
DAMAGE = [
    (("n_features",), 0, "n_features is 0"),
    (("n_features",), 2, "n_levels must have a number >= 0 for each feature"),
    (("n_features",), "3", "n_features is '3', but must be an integer"),
    (("n_levels", 1), -1, "n_levels must have"),
    (("n_levels", 1), 9, "nodes, record 1: the level map must lie within level_branch"),
    (("n_levels", 2), 0, "nodes, record 2: an ordinal or nominal test needs"),
    (("n_levels", 1), 2**70, "n_levels has a number out of the range of int64"),
    (("n_levels", 1), 10**12, "must lie within level_branch"),
    (("n_classes", 0), 0, "n_classes must have a number >= 1"),
    (("n_classes", 0), 2, "n_classes must be 1 for each output of a regression"),
    (("n_classes",), [], "n_classes must have a number >= 1"),
    (("is_classifier",), 0, "is_classifier is 0, but must be true or false"),
    (("handle_unknown",), "ignore", "handle_unknown is 'ignore'"),
    (("handle_unknown",), ["parent"], "handle_unknown is"),
    (("statistics", 0), [], "statistics must be lists of 3 levels"),
    (("statistics", 7), [[1.0], [2.0]], "statistics must be lists of 3 levels"),
    (("statistics", 7, 0), 1.0, "statistics must be lists of 3 levels"),
    (("statistics", 7, 0, 0), "a", "statistics has 'a' in place 7"),
    (("statistics", 7, 0, 0), "Infinity", "statistics must hold numbers"),
    (("statistics",), [[[1.0]]], r"statistics has shape \(1, 1, 1\)"),
    (("level_branch", 0), -2, "nodes, record 1: the level map must start with -1 or"),
    (("level_branch", 0), 4, "nodes, record 1: its level map must name its levels in"),
    (("level_branch", 0), 5, "nodes, record 1: the level map must lie within"),
    (("level_branch", 1), 3, "nodes, record 1: its level map names a child it does"),
    (("level_branch", 1), -2, "nodes, record 1: its level map names a child it does"),
    (("level_branch", 4), -2, "surrogates, record 0: the level map must start with"),
    (("level_branch", 4), 3, "surrogates, record 0: the level map must lie within"),
    (("level_branch", 5), 2, "surrogates, record 0: its level map must name its lev"),
    (("level_branch", 5), -1, "surrogates, record 0: its level map names a level its"),
    (("level_branch", 6), 3, "surrogates, record 0: its level map names a level its"),
    (("level_branch", 8), 2, "surrogates, record 0: its level map names a child it"),
    (("level_branch", 0), 0.5, "level_branch has '0.5' in place 0, where an integer"),
    (("level_branch", 0), True, "level_branch has 'True' in place 0"),
    (("level_branch", 0), None, "level_branch has 'None' in place 0"),
    (("level_branch",), {}, "level_branch must be a list, not dict"),
    (("nodes",), [], "nodes must have exactly the columns first_child"),
    (("nodes", "depth"), [0] * 8, "nodes must have exactly the columns"),
    (("nodes", "weight"), [1.0] * 7, "columns of nodes differ in length"),
    (("nodes", "weight", 3), -1.0, "nodes, record 3: weight and n_samples"),
    (("nodes", "weight", 3), "NaN", "nodes, record 3: weight and n_samples"),
    (("nodes", "weight", 3), "nan", "nodes.weight has 'nan' in place 3"),
    (("nodes", "n_samples", 3), -1, "nodes, record 3: weight and n_samples"),
    (("nodes", "kind", 0), 5, "nodes, record 0: kind must be one of"),
    (("nodes", "kind", 0), OBLIQUE, "surrogates, record 0: node must not be the numb"),
    (("nodes", "kind", 2), OBLIQUE, "nodes, record 2: an oblique test must have terms"),
    (("nodes", "kind", 1), OBLIQUE, "record 1: an oblique test must have two children"),
    (("terms",), {"node": []}, "terms must have exactly the columns node, feature"),
    (("nodes", "kind", 3), 1, "nodes, record 3: n_children must be 0 in a leaf"),
    (("nodes", "kind", 0), 0, "nodes, record 0: n_children must be 0 in a leaf"),
    (("nodes", "n_children", 2), 1, "nodes, record 2: n_children must be"),
    (("nodes", "n_children", 3), -1, "nodes, record 3: n_children must be"),
    (("nodes", "n_children", 2), 3, "make 9 nodes, but there are 8"),
    (("nodes", "n_children", 2), 2**31 - 1, "nodes, but there are 8"),
    (("nodes", "first_child", 0), 2, "nodes, record 0: first_child must be"),
    (("nodes", "first_child", 1), 2**31, "nodes.first_child has a number out of"),
    (("nodes", "first_child", 7), 0, "nodes, record 7: first_child must be -1"),
    (("nodes", "parent", 0), 0, "nodes, record 0: parent contradicts"),
    (("nodes", "parent", 7), 1, "nodes, record 7: parent contradicts"),
    (("nodes", "feature", 0), 3, "nodes, record 0: feature must be 0 to 2"),
    (("nodes", "feature", 0), -2, "nodes, record 0: feature must be 0 to 2"),
    (("nodes", "feature", 7), 0, "nodes, record 7: feature must be -2 in a leaf"),
    (
        ("nodes", "feature", 0),
        1,
        "nodes, record 0: a numeric test needs a feature w",
    ),
    (("nodes", "weight", 0), 0.0, "nodes, record 0: weight must be positive"),
    (("nodes", "improvement", 2), "NaN", "nodes, record 2: improvement must be"),
    (("nodes", "feature", 1), 0, "nodes, record 1: an ordinal or nominal test needs"),
    (("nodes", "missing_branch", 0), 2, "nodes, record 0: missing_branch must be"),
    (("nodes", "missing_branch", 0), -3, "nodes, record 0: missing_branch must be"),
    (("nodes", "threshold", 0), "NaN", "nodes, record 0: threshold must be a number"),
    (("nodes", "map_start", 1), -1, "nodes, record 1: the level map must lie within"),
    (("nodes", "map_start", 1), 9, "nodes, record 1: the level map must lie within"),
    (("surrogates", "node", 0), 8, "surrogates, record 0: node must be a node's"),
    (("surrogates", "node", 0), -1, "surrogates, record 0: node must be a node's"),
    (("surrogates", "node", 0), 7, "surrogates, record 0: node must not be a leaf's"),
    (("surrogates", "feature", 0), 9, "surrogates, record 0: feature must be"),
    (("surrogates", "kind", 0), 0, "surrogates, record 0: kind must be numeric"),
    (("surrogates", "low_branch", 0), 2, "surrogates, record 0: low_branch must be"),
    (("surrogates", "low_branch", 0), -2, "surrogates, record 0: low_branch must be"),
    (("surrogates", "map_start", 0), 9, "surrogates, record 0: the level map must"),
]


@loop_over(("path", "entry", "message"), DAMAGE)
def test_damaged_dictionary(path, entry, message):
    fields = make_fields()
    part = fields
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = entry
    with pytest.raises(ValueError, match=message):
        GrownTree.from_dict(fields)


def test_damaged_classifier():
    statistics = np.full((1, 1, 2), -1.0)
    tree = make_tree(make_nodes([0]), statistics, is_classifier=True)
    with pytest.raises(ValueError, match="class weights, numbers >= 0"):
        GrownTree.from_dict(tree.to_dict())


@pytest.mark.parametrize("weights", [[0.5, 1.0], [0.0, 0.0], [1e300, 0.0]])
def test_class_weights_of_another_node(weights):
    """The statistics of a classifier are parts of the weight of a node."""
    statistics = np.array([[[0.25, 0.75]], [[0.0, 1.0]], [weights]])
    tree = make_tree(make_nodes([2, 0, 0]), statistics, is_classifier=True)
    with pytest.raises(ValueError, match="statistics, record 2: the class weights"):
        GrownTree.from_dict(tree.to_dict())
    nodes = tree.nodes.copy()
    nodes["weight"][2] = 0.0  # whose proportions are estimates
    check_tree(tree.replace(nodes=nodes))


def test_surrogates_out_of_order():
    tree = GrownTree.from_dict(make_fields())
    surrogates = np.repeat(tree.surrogates, 2)
    surrogates["node"] = [2, 0]
    surrogates["kind"], surrogates["feature"] = 1, 0
    with pytest.raises(ValueError, match="sorted by node"):
        check_tree(tree.replace(surrogates=surrogates))


def test_overlapping_maps():
    nodes = make_nodes([2, 2, 0, 0, 0])
    nodes["kind"][:2], nodes["map_start"][:2] = 3, 0
    tree = make_tree(
        nodes, n_levels=np.array([2]), level_branch=np.array([-1, 0, 1], dtype=np.int32)
    )
    with pytest.raises(ValueError, match="level maps overlap"):
        check_tree(tree)


def test_a_numeric_test_with_four_children():
    tree = make_tree(make_nodes([4, 0, 0, 0, 0]))
    with pytest.raises(ValueError, match="record 0: a numeric or ordinal test has two"):
        check_tree(tree)


def test_no_nodes():
    fields = make_fields()
    fields["nodes"] = {name: [] for name in NODE_DTYPE.names}
    fields["statistics"] = []
    with pytest.raises(ValueError, match="statistics must be lists of 3 levels"):
        GrownTree.from_dict(fields)
    with pytest.raises(ValueError, match="no nodes"):
        check_tree(make_tree(np.empty(0, NODE_DTYPE), np.empty((0, 1, 1))))


@loop_over("seed", range(300))
def test_random_damage_is_an_error_or_a_sound_tree(seed):
    """Whatever stands in the dictionary, no other exception and no unsound tree."""
    rng = np.random.default_rng(seed)
    fields = make_fields()
    part = fields
    while True:
        keys = sorted(part) if isinstance(part, dict) else range(len(part))
        key = keys[rng.integers(len(keys))]
        if (
            not isinstance(part[key], dict | list)
            or not part[key]
            or rng.random() < 0.1
        ):
            break
        part = part[key]
    bad = [None, -1, 0, 1, 2, 7, 10**30, 1.5, "NaN", "x", [], [1], {}, True, 1e308]
    part[key] = bad[rng.integers(len(bad))]
    try:
        tree = GrownTree.from_dict(fields)
    except ValueError:
        return
    check_tree(tree)
    assert tree.depth.shape == (tree.node_count,)
