"""Costs of errors in trees: the matrix, growth by altered priors, and predictions."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_textbook.criteria import expected_cost, gini
from sklearn_textbook.exchange import to_pmml, to_sklearn
from sklearn_textbook.io import ModelFileError, load_model, save_model
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    ObliqueTreeClassifier,
    export_rules,
    export_text,
)
from tests.reference.compare import read_grown_tree

COSTS = [[0, 1, 4], [2, 0, 3], [9, 5, 0]]
TREES = [
    CARTClassifier(min_samples_leaf=5),
    CARTClassifier(min_samples_leaf=5, criterion="entropy", missing="surrogate"),
    CARTClassifier(min_samples_leaf=5, max_leaf_nodes=4, categorical_smoothing=0),
    C45Classifier(),
    C45Classifier(pruning=None, laplace=True),
    ID3Classifier(max_depth=3),
    ObliqueTreeClassifier(max_depth=3),
]
each_tree = pytest.mark.parametrize("model", TREES, ids=repr)


def make_mixed_table(n_rows=300, n_classes=3, seed=0):
    """Numbers, text and gaps; the classes overlap."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.integers(0, 5, n_rows).astype(float),
            "word": rng.choice(["red", "green", "blue"], n_rows),
        }
    )
    score = table["a"] + 0.5 * table["b"] + (table["word"] == "red")
    score += rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    table.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    return table, y


def same_trees(one, other):
    """Whether two trees are equal to the last bit."""
    pairs = [(one.tree_.nodes, other.tree_.nodes)]
    pairs.append((one.tree_.statistics, other.tree_.statistics))
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


# ----------------------------------------------------------------------- the matrix
def test_a_dict_is_an_array_by_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["z", "b", "m"])[y]
    order = ["b", "m", "z"]
    costs = {
        true: {other: COSTS[i][j] for j, other in enumerate(order) if i != j}
        for i, true in enumerate(order)
    }
    one = CARTClassifier(max_depth=2, cost_matrix=costs).fit(X, names)
    two = CARTClassifier(max_depth=2, cost_matrix=COSTS).fit(X, names)
    assert same_trees(one, two)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ("high", r"must be None, a dict of dicts .* shape \(2, 2\) .* got 'high'"),
        (
            [[0, 1, 2]],
            r"\(2, 2\) for the classes \[0, 1\]; got an array of shape",
        ),
        (
            [[0, -1], [1, 0]],
            r"from 0 to 1e\+100; got -1.0 for true class 0",
        ),
        ([[0, np.nan], [1, 0]], "got nan for true class 0, predicted 1"),
        ([[0, np.inf], [1, 0]], "got inf for true class 0, predicted 1"),
        ([[3, 1], [1, 0]], "0 for right predictions; got 3.0 for true class 0"),
        ([[0, 0], [1, 0]], "some error of each class; all are 0 for true class 0"),
        ({0: {1: 1}}, "cost for every pair of classes; there is none for true class 1"),
        ({0: {1: 1}, 1: {0: 1}, 2: {0: 1}}, r"unknown class 2; .* are \[0, 1\]"),
        ({0: {1: "x"}, 1: {0: 1}}, "finite numbers; got 'x' for true class 0"),
        ({0: 1, 1: {0: 1}}, "got 1 for true class 0"),
    ],
)
def test_wrong_costs_are_named(costs, message):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="'cost_matrix' parameter") as caught:
        CARTClassifier(cost_matrix=costs).fit(X, y)
    assert re.search(message, str(caught.value))


def test_several_outputs_have_no_costs():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 0], [1, 1], [1, 0]]
    with pytest.raises(ValueError, match="requires a single output, but y has 2"):
        CARTClassifier(cost_matrix=[[0, 1], [2, 0]]).fit(X, y)


# -------------------------------------------------------------------------- changes
@each_tree
def test_equal_costs_are_no_costs(model):
    X, y = make_mixed_table()
    plain = clone(model).fit(X, y)
    for cost in (1, 0.1, 7):
        costs = cost * (1 - np.eye(3))
        equal = clone(model).set_params(cost_matrix=costs).fit(X, y)
        assert same_trees(plain, equal)
        np.testing.assert_array_equal(plain.predict(X), equal.predict(X))


@each_tree
def test_powers_of_two_change_nothing(model):
    X, y = make_mixed_table()
    one = clone(model).set_params(cost_matrix=COSTS).fit(X, y)
    for factor in (2.0**-40, 2.0**30):
        costs = factor * np.array(COSTS)
        other = clone(model).set_params(cost_matrix=costs).fit(X, y)
        assert same_trees(one, other)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


# --------------------------------------------------------------------------- growth
@each_tree
def test_growth_is_that_of_class_weights(model):
    X, y = make_mixed_table()
    if model.missing == "surrogate":
        X = X.fillna(0.0)  # surrogates are judged by other weights
    sums = np.sum(COSTS, axis=1)
    weights = sums * len(y) / (sums @ np.bincount(y))
    costly = clone(model).set_params(cost_matrix=COSTS).fit(X, y)
    weighted = clone(model).set_params(class_weight=dict(enumerate(weights))).fit(X, y)
    own, other = costly.tree_.nodes, weighted.tree_.nodes
    for name in ("feature", "threshold", "first_child", "n_samples"):
        np.testing.assert_array_equal(own[name], other[name])
    # Class weights, and what is read from them, are those of the rows.
    np.testing.assert_allclose(
        costly.tree_.statistics * weights, weighted.tree_.statistics, rtol=1e-12
    )
    for name in ("impurity", "improvement"):
        np.testing.assert_allclose(
            own[name] * own["weight"], other[name] * other["weight"], atol=1e-9
        )
    np.testing.assert_allclose(
        costly.feature_importances_, weighted.feature_importances_
    )


def test_counts_are_those_of_the_rows():
    X, y = load_iris(return_X_y=True)
    model = CARTClassifier(max_depth=2, cost_matrix=COSTS).fit(X, y)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        counts = np.bincount(y[leaves == leaf], minlength=3)
        np.testing.assert_array_equal(model.tree_.statistics[leaf, 0], counts)
        assert model.tree_.nodes["weight"][leaf] == counts.sum()


def test_the_improvement_is_that_of_altered_priors():
    X, y = load_iris(return_X_y=True)
    model = CARTClassifier(max_depth=1, cost_matrix=COSTS).fit(X, y)
    sums = np.sum(COSTS, axis=1)
    weight = (sums * 150 / (sums @ np.bincount(y)))[y]
    is_left = model.apply(X) == 1
    gain = weight.sum() * gini(y, sample_weight=weight)
    for side in (is_left, ~is_left):
        gain -= weight[side].sum() * gini(y[side], sample_weight=weight[side])
    assert model.tree_.nodes["improvement"][0] * 150 == pytest.approx(gain)


def test_surrogates_are_judged_by_the_weights_of_rows():
    X, y = make_mixed_table(n_classes=2)
    X["b"] = X["a"].fillna(0.0) + np.random.default_rng(1).normal(size=len(X))
    y = (X["a"].fillna(X["b"]) + 0.2 * y > 0.3).astype(int)
    model = CARTClassifier(missing="surrogate", max_depth=1, categorical_smoothing=0)
    model.set_params(cost_matrix=[[0, 1], [20, 0]]).fit(X, y)
    (root, *_) = read_grown_tree(model.tree_)
    child = model.apply(X)
    tested = X.columns[root["feature"]]
    known = X[tested].notna().to_numpy()
    assert root["surrogates"]
    for test in root["surrogates"]:
        column = X.columns[test["feature"]]
        present = known & X[column].notna().to_numpy()
        if test["kind"] != "numeric":
            continue
        low = (X[column] <= test["threshold"]).to_numpy()
        sent = np.where(low, test["low_branch"], 1 - test["low_branch"])
        agreement = np.sum(sent[present] == child[present] - 1) / known.sum()
        assert test["agreement"] == pytest.approx(agreement)


# ---------------------------------------------------------------------- predictions
@each_tree
def test_the_class_of_least_expected_cost_is_predicted(model):
    X, y = make_mixed_table()
    model = clone(model).set_params(cost_matrix=COSTS)
    if hasattr(model, "laplace"):
        model.set_params(laplace=False)  # which does not change classes
    model.fit(X[:200], y[:200])
    probabilities = model.predict_proba(X[200:])
    assert (model.predict(X[200:]) != probabilities.argmax(axis=1)).any()
    for row, predicted in zip(probabilities, model.predict(X[200:]), strict=True):
        expected = [
            sum(p * COSTS[true][k] for true, p in enumerate(row)) for k in range(3)
        ]
        assert expected[predicted] <= min(expected) + 9e-6


def test_ties_go_to_the_first_class_whatever_the_rounding():
    X, y = np.zeros((10, 1)), [0] * 6 + [1] * 4
    for weight in (1, 3, 0.1):
        model = CARTClassifier(cost_matrix=[[0, 2], [3, 0]])
        model.fit(X, y, sample_weight=np.full(10, weight))
        assert model.predict(X[:1]) == [0]  # 4 * 3 and 6 * 2


def test_two_classes_are_a_threshold():
    X, y = load_breast_cancer(return_X_y=True)
    costs = [[0, 7], [2, 0]]
    model = CARTClassifier(min_samples_leaf=10, cost_matrix=costs).fit(X, y)
    by_threshold = FixedThresholdClassifier(
        clone(model), threshold=7 / 9, pos_label=1, response_method="predict_proba"
    )
    expected = by_threshold.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_costs_changed_after_fit_change_predictions_only():
    X, y = load_breast_cancer(return_X_y=True)
    model = CARTClassifier(min_samples_leaf=10).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(cost_matrix=[[0, 30], [1, 0]])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    np.testing.assert_array_equal(model.predict(X), before[:, 1] > 30 / 31)


# ---------------------------------------------------------------- with scikit-learn
def test_a_tuned_threshold_lowers_the_cost():
    X, y = load_breast_cancer(return_X_y=True)
    costs = [[0, 50], [1, 0]]
    scorer = make_scorer(expected_cost, greater_is_better=False, cost_matrix=costs)
    tree = CARTClassifier(min_samples_leaf=10, cost_matrix=costs)
    tuned = TunedThresholdClassifierCV(tree, scoring=scorer, cv=5).fit(X, y)
    assert tuned.best_score_ > scorer(CARTClassifier(max_depth=1).fit(X, y), X, y)
    assert tuned.best_threshold_ > 0.5


def test_a_pipeline_and_a_search_over_matrices():
    X, y = load_breast_cancer(return_X_y=True)
    costs = [[0, 50], [1, 0]]
    scorer = make_scorer(expected_cost, greater_is_better=False, cost_matrix=costs)
    pipeline = make_pipeline(FunctionTransformer(), CARTClassifier(max_depth=3))
    name = "cartclassifier__cost_matrix"
    search = GridSearchCV(
        pipeline, {name: [None, costs, {0: {1: 3}, 1: {0: 1}}]}, scoring=scorer
    ).fit(X, y)
    assert search.best_params_[name] == costs


# ----------------------------------------------------------- texts, files and others
@each_tree
def test_models_are_saved_with_their_costs(model, tmp_path):
    X, y = make_mixed_table()
    classes = {
        true: {other: COSTS[true][other] for other in range(3) if other != true}
        for true in range(3)
    }
    for costs in (COSTS, np.array(COSTS), classes):
        fitted = clone(model).set_params(cost_matrix=costs).fit(X, y)
        save_model(fitted, tmp_path / "model.json")
        loaded = load_model(tmp_path / "model.json")
        np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
        assert (loaded.predict(X) != clone(model).fit(X, y).predict(X)).any()


def test_texts_show_the_predicted_class():
    X, y = np.zeros((10, 1)), ["no"] * 8 + ["yes"] * 2
    model = CARTClassifier(cost_matrix=[[0, 1], [9, 0]]).fit(X, y)
    assert model.predict(X[:1]) == ["yes"]
    assert model.rules_[0]["class"] == "yes"
    assert model.rules_[0]["confidence"] == 0.2
    assert "yes (10 rows, 20%)" in export_text(model)


@each_tree
def test_rules_as_python_predict_by_costs(model):
    X, y = make_mixed_table()
    if isinstance(model, ObliqueTreeClassifier):
        X = X[["a", "b"]]
    model = clone(model).set_params(cost_matrix=COSTS).fit(X, y)
    names = {}
    exec(export_rules(model, format="python"), names)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    predicted = [names["predict_row"](row) for row in rows]
    np.testing.assert_array_equal(predicted, model.predict(X))


def test_simplified_trees_merge_leaves_by_costs():
    X, y = load_breast_cancer(return_X_y=True)
    model = CARTClassifier(min_samples_leaf=9, cost_matrix=[[0, 1], [9, 0]]).fit(X, y)
    smaller = model.simplify()
    np.testing.assert_array_equal(smaller.predict(X), model.predict(X))
    assert smaller.get_n_leaves() == 8
    assert model.set_params(cost_matrix=None).simplify().get_n_leaves() == 7


@pytest.mark.parametrize("convert", [to_pmml, to_sklearn])
def test_forms_without_costs_are_refused(convert):
    X, y = load_breast_cancer(return_X_y=True)
    model = CARTClassifier(max_depth=2, cost_matrix=[[0, 3], [1, 0]]).fit(X, y)
    with pytest.raises(ValueError, match="predicts by cost_matrix"):
        convert(model)
    convert(model.set_params(cost_matrix=None))


# ----------------------------------------------------------------- the cost of rows
def test_the_mean_cost():
    y_true, y_pred = ["b", "a", "c", "b"], ["a", "a", "b", "c"]
    costs = {
        "c": {"a": 1, "b": 2},
        "a": {"b": 3, "c": 4},
        "b": {"a": 5, "c": 6},
    }
    assert expected_cost(y_true, y_pred, costs) == (5 + 0 + 2 + 6) / 4
    weights = [1, 1, 2, 0]
    assert expected_cost(y_true, y_pred, costs, weights) == (5 + 0 + 4) / 4
    array = [[0, 3, 4], [5, 0, 6], [1, 2, 0]]
    assert expected_cost(y_true, y_pred, array) == (5 + 0 + 2 + 6) / 4
    array = [[0, 1, 2], [4, 0, 3], [6, 5, 0]]
    found = expected_cost(y_true, y_pred, array, labels=["c", "a", "b"])
    assert found == (5 + 0 + 2 + 6) / 4
    with pytest.raises(ValueError, match="must contain only classes"):
        expected_cost(["a"], ["d"], costs)
    with pytest.raises(ValueError, match="one class for each row"):
        expected_cost([["a", "b"]], [["a", "b"]], costs)


def test_files_with_wrong_costs_are_refused(tmp_path):
    X, y = make_mixed_table()
    model = CARTClassifier(max_depth=2, cost_matrix=COSTS).fit(X, y)
    path = tmp_path / "model.json"
    save_model(model, path)
    text = path.read_text("utf-8")
    path.write_text(text.replace("[9, 5, 0]", "[9, 5, 7]"), "utf-8")
    with pytest.raises(ModelFileError, match="must have 0 for right predictions"):
        load_model(path)
