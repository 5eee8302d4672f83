"""Empty nodes that other rows estimate: tables made by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor
from sklearn_textbook.tree.encode import read_training_table
from sklearn_textbook.tree.grow.layout import NOMINAL
from sklearn_textbook.tree.grow.target import Target
from sklearn_textbook.tree.route import estimate_empty_nodes, find_leaves
from tests.tree_builders import make_nodes, make_tree

LEVELS = ["red", "blue", "green", "grey"]  # nobody of the training rows is grey
RED, BLUE, GREEN, GREY = range(4)


def make_frame(codes):
    return pd.DataFrame({"colour": pd.Categorical.from_codes(codes, LEVELS)})


def make_classes(codes, n_classes=2):
    codes = np.array(codes, dtype=np.int32).reshape(len(codes), 1)
    return Target(codes, None, np.array([n_classes]))


def make_values(values):
    values = np.array(values, dtype=float).reshape(len(values), 1)
    return Target(None, values, np.array([1]))


def fit_classes(**parameters):
    """Root 4 : 3, red 0, blue 1, green and grey empty; the children are 1 to 4."""
    model = CARTClassifier(categorical_split="multiway", **parameters)
    return model.fit(make_frame([0, 0, 0, 0, 1, 1, 1]), [0, 0, 0, 0, 1, 1, 1]).tree_


ROWS = np.array([[GREEN], [GREEN], [GREEN], [RED], [BLUE]], dtype=float)
CLASSES = make_classes([1, 1, 0, 1, 0])


def test_shares_are_those_of_the_rows_and_the_weight_is_the_parents():
    tree = fit_classes()
    new = estimate_empty_nodes(tree, ROWS, CLASSES)
    expected = tree.statistics.copy()
    expected[1 + GREEN, 0] = [7 / 3, 14 / 3]
    np.testing.assert_allclose(new.statistics, expected, rtol=1e-15)
    # What training rows tell stays: also where the other rows say something else.
    assert new.nodes.tobytes() == tree.nodes.tobytes()
    assert tree.statistics[1 + GREEN, 0].tolist() == [4, 3]
    np.testing.assert_allclose(
        new.value[:, 0],
        [[4 / 7, 3 / 7], [1, 0], [0, 1], [1 / 3, 2 / 3], [4 / 7, 3 / 7]],
    )


def test_rows_are_weighed():
    weight = np.array([0.0, 1.0, 3.0, 5.0, 5.0])
    new = estimate_empty_nodes(fit_classes(), ROWS, CLASSES, weight)
    np.testing.assert_allclose(new.value[1 + GREEN, 0], [0.75, 0.25])


@pytest.mark.parametrize(
    ("rows", "weight"),
    [
        ([[RED], [BLUE]], None),
        ([[GREEN], [GREY]], [0.0, 0.0]),
        ([[-1.0], [np.nan]], None),
        (np.empty((0, 1)), None),
    ],
    ids=["elsewhere", "weightless", "unseen", "none"],
)
def test_a_tree_that_no_row_tells_anything_is_the_same(rows, weight):
    tree = fit_classes()
    rows = np.array(rows, dtype=float)
    weight = None if weight is None else np.array(weight)
    target = make_classes(np.ones(len(rows)))
    assert estimate_empty_nodes(tree, rows, target, weight) is tree


def test_a_tree_without_empty_nodes_is_the_same():
    tree = CARTClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    assert estimate_empty_nodes(tree, [[0.0]], make_classes([1])) is tree


def test_unseen_levels_are_no_error():
    """Only prediction may complain of them."""
    tree = fit_classes(handle_unknown="error")
    rows = np.vstack([ROWS, [[-1.0]]])
    target = make_classes([1, 1, 0, 1, 0, 1])
    new = estimate_empty_nodes(tree, rows, target)
    np.testing.assert_allclose(new.value[1 + GREEN, 0], [1 / 3, 2 / 3])
    assert new.handle_unknown == "error"


def test_sparse_rows_and_threads():
    tree = fit_classes()
    new = estimate_empty_nodes(tree, sparse.csr_array(ROWS), CLASSES, n_threads=2)
    expected = estimate_empty_nodes(tree, ROWS, CLASSES)
    np.testing.assert_array_equal(new.statistics, expected.statistics)


def test_several_outputs():
    y = np.array([[0, 0], [0, 1], [1, 0], [1, 2]])
    model = CARTClassifier(categorical_split="multiway", max_depth=1)
    tree = model.fit(make_frame([0, 0, 1, 1]), y).tree_
    target = Target(np.array([[0, 2], [1, 2]], np.int32), None, np.array([2, 3]))
    new = estimate_empty_nodes(tree, np.array([[GREY], [GREY]]) * 1.0, target)
    np.testing.assert_allclose(new.statistics[1 + GREY], [[2, 2, 0], [0, 0, 4]])


@pytest.mark.parametrize(
    ("criterion", "expected"), [("squared_error", 5.0), ("absolute_error", 2.0)]
)
def test_values_are_means_or_medians(criterion, expected):
    model = CARTRegressor(criterion=criterion, categorical_split="multiway")
    tree = model.fit(make_frame([0, 0, 1, 1]), [1.0, 1.0, 7.0, 7.0]).tree_
    target = make_values([1.0, 2.0, 12.0, 100.0])
    rows = np.array([[GREEN], [GREEN], [GREEN], [BLUE]], dtype=float)
    new = estimate_empty_nodes(tree, rows, target, criterion=criterion)
    assert new.statistics.ravel().tolist() == [4, 1, 7, expected, 4]
    weight = np.array([8.0, 1.0, 1.0, 1.0])
    new = estimate_empty_nodes(tree, rows, target, weight, criterion=criterion)
    assert new.statistics[1 + GREEN, 0, 0] == (1.0 if expected == 2.0 else 2.2)


def test_divided_rows_count_with_their_shares():
    """A row without a number goes both ways, in parts of 3/4 and 1/4."""
    frame = make_frame([RED, RED, RED, BLUE, BLUE, BLUE, RED, BLUE])
    frame.insert(0, "number", np.repeat([0.0, 1.0], [6, 2]))
    y = [0, 0, 0, 1, 1, 1, 2, 2]
    model = C45Classifier(
        gain_ratio_rule="plain", mdl_correction=False, min_samples_leaf=1, pruning=None
    )
    tree = model.fit(frame, y).tree_
    # The number at the root; where it is 0, the colour.
    assert tree.nodes["n_children"].tolist() == [2, 4, 0, 0, 0, 0, 0]
    assert tree.nodes["n_samples"].tolist() == [8, 6, 2, 3, 3, 0, 0]
    rows = np.array([[np.nan, GREEN], [0.0, GREEN], [1.0, GREY]])
    new = estimate_empty_nodes(tree, rows, make_classes([2, 0, 1], 3))
    np.testing.assert_allclose(new.value[3 + GREEN, 0], [4 / 7, 0, 3 / 7])
    np.testing.assert_array_equal(new.value[3 + GREY], tree.value[3 + GREY])


def test_an_empty_node_may_have_children():
    """As where branches were raised: rows count in all empty nodes on their way."""
    nodes = make_nodes([2, 0, 2, 0, 0])
    nodes["threshold"][[0, 2]] = [0.0, 5.0]
    nodes["n_samples"][2:] = nodes["weight"][2:] = 0
    statistics = np.array([[4.0, 4.0]] * 5)[:, None]
    tree = make_tree(nodes, statistics, is_classifier=True)
    new = estimate_empty_nodes(tree, [[1.0], [2.0]], make_classes([1, 1]))
    assert find_leaves(tree, [[1.0], [9.0]]).tolist() == [3, 4]
    # Node 4, which no row reaches, says what its parent says now.
    assert new.statistics[:, 0].tolist() == [[4, 4], [4, 4], [0, 8], [0, 8], [0, 8]]


def test_predictions_of_a_fitted_tree_follow():
    """C4.5 trees: out-of-bag rows answer for the empty branches."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, 200)
    frame = pd.DataFrame(
        {
            "level": pd.Categorical.from_codes(codes, list("abcdefghijkl")),
            "number": rng.normal(size=200),
        }
    )
    y = (codes % 3 == 0).astype(int)
    kept = codes < 9
    model = C45Classifier(pruning=None).fit(frame[kept], y[kept])
    tree = model.tree_
    assert tree.nodes["kind"][0] == NOMINAL
    matrix, _ = read_training_table(frame[~kept])
    new = estimate_empty_nodes(tree, matrix, make_classes(y[~kept]))
    assert type(new) is type(tree)
    before = (model.predict(frame[~kept]) == y[~kept]).mean()
    model.tree_ = new
    assert (model.predict(frame[~kept]) == y[~kept]).all()
    assert before < 1
    assert (model.predict(frame[kept]) == y[kept]).all()
