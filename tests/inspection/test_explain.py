"""Explanations of the predictions of single trees."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from sklearn_textbook.datasets import load_play_tennis
from sklearn_textbook.inspection import explain
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from sklearn_textbook.tree.explain import build_rules
from tests.exchange.test_levels import make_frame, make_target

TREES = {
    "surrogate": CARTClassifier(missing="surrogate", max_depth=5),
    "branch": CARTClassifier(missing="branch", max_depth=5),
    "learned": CARTClassifier(missing="learned", max_depth=5),
    "c45": C45Classifier(handle_unknown="fractional"),
    "id3": ID3Classifier(missing="fractional", max_depth=4),
    "laplace": C45Classifier(laplace=True),
    "values": CARTRegressor(missing="branch", max_depth=5),
    "oblique": ObliqueTreeClassifier(max_depth=3),
    "oblique values": ObliqueTreeRegressor(
        max_depth=3, handle_unknown="fractional", random_state=0
    ),
}


def fit(model, frame):
    y = make_target(frame)
    if hasattr(model, "predict_proba"):
        y = np.digitize(y, [0.5, 2.5])
    return model.fit(frame, y)


@pytest.mark.parametrize("name", TREES)
def test_paths_and_leaves(name):
    model = fit(TREES[name], make_frame(missing=0.1))
    new = make_frame(50, missing=0.2, seed=1, unknown=True)
    found = explain(model, new)
    nodes = model.decision_path(new)
    is_classifier = hasattr(model, "predict_proba")
    expected = model.predict_proba(new) if is_classifier else model.predict(new)
    counts = model.tree_.nodes["n_samples"]
    for row, entry in enumerate(found):
        assert entry.row == row
        assert entry.prediction == model.predict(new[row : row + 1])[0]
        # Each node but the root is reached by a test.
        reached = [test.child for test in entry.path]
        assert sorted([0, *reached]) == nodes[row].indices.tolist()
        assert [test.n_samples for test in entry.path] == counts[reached].tolist()
        assert sum(leaf.part for leaf in entry.leaves) == pytest.approx(1.0)
        ends = {test.child: test for test in entry.path}
        total = 0.0
        for leaf in entry.leaves:
            if leaf.node == 0:
                continue
            after = ends[leaf.node].after
            total += leaf.part * np.array(
                list(after.values()) if is_classifier else after
            )
            assert leaf.part == ends[leaf.node].part
            assert leaf.n_samples == counts[leaf.node]
        if entry.path:
            assert_allclose(total, expected[row], atol=1e-12)
        for test in entry.path:
            if test.node == 0:
                continue
            before = [t.after for t in entry.path if t.child == test.node]
            assert before == [test.before]
        if is_classifier:
            assert_allclose(list(entry.probabilities.values()), expected[row])
    assert any(len(entry.leaves) > 1 for entry in found) or name not in ("c45", "id3")
    assert max(map(len, str(found).splitlines())) <= 80


@pytest.mark.parametrize("name", ["surrogate", "c45", "values"])
def test_conditions_are_those_of_rules(name):
    frame = make_frame()
    model = fit(TREES[name], frame)
    rules = {
        rule["node"]: rule
        for rule in build_rules(
            model.tree_, model.schema_, getattr(model, "classes_", None)
        )
    }
    for entry in explain(model, frame):
        rule = rules[entry.leaf.node]
        conditions = entry.leaf.condition.split(" and ")
        assert len(conditions) == len(rule["conditions"])
        for text, condition in zip(conditions, rule["conditions"], strict=True):
            assert condition["feature"] in text
        assert all(test.reason == "" for test in entry.path)
        if "confidence" in rule:
            assert entry.leaf.confidence == rule["confidence"]
            assert entry.leaf.distribution == rule["distribution"]
        assert entry.leaf.prediction == entry.prediction


def test_sentence_and_table():
    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    tree = CARTClassifier(max_depth=3).fit(iris.data, species)
    (entry,) = explain(tree, iris.data[50:51], feature_names=["a", "b", "c", "d"])
    assert entry.sentence == (
        "2.45 < c <= 4.95 and d <= 1.75: 97.9% of the 48 training rows here are "
        "'versicolor'"
    )
    assert str(entry).splitlines() == [
        "Row 0: 'versicolor' (97.9%)",
        "  2.45 < c <= 4.95 and d <= 1.75: 97.9% of the 48 training rows here are",
        "  'versicolor'.",
        "",
        "  test               value  rows  'versicolor'",
        "  all training rows          150         33.3%",
        "  c > 2.45             4.7   100           50%",
        "  d <= 1.75            1.4    54         90.7%",
        "  c <= 4.95            4.7    48         97.9%",
    ]
    first = entry.path[0]
    assert (first.column, first.value, first.condition) == ("c", 4.7, "c > 2.45")
    assert first.before == pytest.approx(dict.fromkeys(tree.classes_.tolist(), 1 / 3))
    assert first.share == pytest.approx(2 / 3)
    assert "c &lt;= 4.95" in entry._repr_html_()
    many = explain(tree, iris.data)
    assert str(many).count("Row ") == 10
    assert str(many).endswith("... and 140 more rows")
    assert "140 more rows" in many._repr_html_()
    named = explain(tree, iris.data[:1], class_names=["x", "y", "z"])[0]
    assert named.sentence.endswith("all 50 training rows here are 'x'")


def make_ages(missing):
    """A tree of two columns, and rows with missing values and a new level."""
    rng = np.random.default_rng(0)
    age = rng.integers(1, 80, 300).astype(float)
    fare = 2 * age + rng.normal(size=300) if missing == "surrogate" else 0.0
    frame = pd.DataFrame({"age": age, "fare": fare})
    frame["sex"] = rng.choice(["male", "female"], 300)
    y = np.where((age > 30) & (frame["sex"] == "male"), "no", "yes")
    if missing == "branch":
        frame.loc[rng.random(300) < 0.1, "age"] = None
    model = CARTClassifier(missing=missing, max_depth=2).fit(frame, y)
    new = pd.DataFrame(
        {"age": [50.0, None, None], "fare": [100.0, 100.0, None]},
    )
    new["sex"] = ["other", "male", "male"]
    return model, new


def test_values_that_do_not_decide():
    model, new = make_ages("surrogate")
    unknown, missing, both = explain(model, new)
    text = "sex is other, which was not seen in training"
    assert text in unknown.sentence
    assert len(unknown.leaves) == 1
    decider = missing.path[[t.column for t in missing.path].index("age")]
    assert re.fullmatch(
        r"age is missing, and fare > 6\d[.\d]* decides instead", decider.reason
    )
    assert decider.reason in missing.sentence
    assert decider.value is None
    assert re.search(
        r"age is missing, which follows the larger branch \(age [<>]",
        str(both.sentence),
    )
    model, new = make_ages("branch")
    reason = explain(model, new)[1].path[-1].reason
    assert reason == "age is missing, which follows a branch of its own"


def test_divided_row():
    X, y = load_play_tennis(return_X_y=True, as_frame=True)
    tree = C45Classifier(min_samples_leaf=1).fit(X, y)
    new = X[:1].astype(object)
    new[X.columns[0]] = None
    (entry,) = explain(tree, new)
    assert len(entry.leaves) > 1
    assert "so the row is divided among" in entry.sentence
    shares = entry.probabilities
    best = f"{100 * max(shares.values()):.1f}"
    assert entry.sentence.endswith(
        f"{best.removesuffix('.0')}% for '{max(shares, key=shares.get)}' together"
    )


def test_regression_and_weights():
    X = np.arange(8.0)[:, np.newaxis]
    y = np.array([1.0, 1, 1, 1, 5, 5, 5, 9])
    tree = CARTRegressor(max_depth=1).fit(X, y)
    found = explain(tree, [[7.0]])[0]
    assert found.sentence == "x0 > 3.5: the mean of the 4 training rows here is 6"
    assert (found.path[0].before, found.path[0].after) == (3.5, 6.0)
    assert found.probabilities is None
    tree = CARTRegressor(max_depth=1, criterion="absolute_error").fit(X, y)
    assert "the median of the 4" in explain(tree, [[7.0]])[0].sentence
    tree = CARTRegressor(max_depth=1).fit(X, y, sample_weight=np.full(8, 0.5))
    assert "the 4 training rows here (weight 2)" in explain(tree, [[7.0]])[0].sentence
    # No test at all.
    (entry,) = explain(CARTRegressor().fit(X, np.ones(8)), [[7.0]])
    assert entry.sentence == "the mean of the 8 training rows here is 1"
    assert entry.path == ()
    both = CARTRegressor(max_depth=1).fit(X, np.stack([y, -y], axis=1))
    (entry,) = explain(both, [[7.0]])
    assert entry.leaf.prediction == [6.0, -6.0]
    assert entry.sentence.endswith("is 6, -6")


def test_several_outputs():
    X = np.arange(8.0)[:, np.newaxis]
    y = np.array([[0, "a"]] * 4 + [[1, "a"]] * 3 + [[1, "b"]], dtype=object).astype(str)
    tree = CARTClassifier(max_depth=1).fit(X, y)
    (entry,) = explain(tree, [[7.0]])
    assert entry.prediction == ["1", "a"]
    assert entry.sentence == (
        "x0 > 3.5: 100% of the 4 training rows here are '1' in output 0 and 75% are "
        "'a' in output 1"
    )
    assert entry.probabilities[1] == {"a": 0.75, "b": 0.25}
    assert entry.path[0].after[1] == {"a": 0.75, "b": 0.25}


def test_levels_and_leaves_without_rows():
    frame = pd.DataFrame({"a": pd.Categorical(list("ppqq"), categories=list("pqr"))})
    tree = ID3Classifier().fit(frame, ["no", "no", "yes", "yes"])
    empty, unknown = explain(tree, pd.DataFrame({"a": ["r", "new"]}))
    assert empty.leaf.n_samples == 0
    assert empty.sentence == (
        "a is r: no training row is here, so the node above decides: 50% for 'no'"
    )
    start = "a is new, which was not seen in training: 50% of"
    assert unknown.sentence.startswith(start)
    assert (unknown.leaf.node, unknown.path) == (0, ())


def test_oblique_terms():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X @ np.arange(8) > 0).astype(int)
    tree = ObliqueTreeClassifier(max_depth=1).fit(X, y)
    (entry,) = explain(tree, X[:1])
    (test,) = entry.path
    amounts = [amount for _, amount in test.terms]
    assert amounts == sorted(amounts, key=abs, reverse=True)
    terms = tree.tree_.terms
    expected = sum(t["weight"] * X[0, t["feature"]] for t in terms)
    assert sum(amounts) == pytest.approx(expected)
    assert "and 5 more columns" in entry.sentence
    assert "3 more add" in str(entry)
    assert test.value == tuple(X[0, int(name[1:])] for name in test.column)


def test_oblique_test_of_unknown_level():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(list("pq"), 200)})
    y = frame["a"] + (frame["b"] == "p") > 0.5
    tree = ObliqueTreeClassifier(max_depth=1, handle_unknown="fractional").fit(frame, y)
    (entry,) = explain(tree, pd.DataFrame({"a": [0.5], "b": ["new"]}))
    # The sum of a row with an unknown level says nothing.
    assert "b is new, which was not seen in training, so the row is divided" in str(
        entry.sentence
    )
    assert re.search(r"to the sum of 2 columns is <= [-\d.]+ \(", entry.sentence)
    assert len(entry.leaves) == 2
    assert "unknown level" in str(entry)


def test_tables():
    X = np.array([[0.0, 1.0], [0, 2], [3, 0], [4, 0]])
    tree = CARTClassifier().fit(X, [0, 0, 1, 1])
    texts = {str(explain(tree, t)) for t in (X, X.tolist(), sparse.csr_array(X))}
    assert len(texts) == 1
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=4)})
    tree = CARTClassifier().fit(frame, [0, 0, 1, 1])
    assert explain(tree, frame)[0].path[0].value == "2024-01-01"
    frame = pd.DataFrame({"is": [True, True, False, False]})
    tree = CARTClassifier().fit(frame, [0, 0, 1, 1])
    assert explain(tree, frame)[0].path[0].value is True
    assert explain(tree, frame)[0].sentence.startswith("is is true: ")


def test_errors():
    X, y = [[0.0], [1.0]], [0, 1]
    tree = CARTClassifier().fit(X, y)
    with pytest.raises(NotFittedError):
        explain(CARTClassifier(), X)
    with pytest.raises(TypeError, match="got LinearRegression"):
        explain(LinearRegression().fit(X, y), X)
    with pytest.raises(TypeError, match="C45RulesClassifier"):
        explain(C45RulesClassifier().fit(X, y), X)
    with pytest.raises(ValueError, match="max_terms"):
        explain(tree, X, max_terms=0)
    with pytest.raises(ValueError, match="decimals"):
        explain(tree, X, decimals=-1)
    with pytest.raises(ValueError, match="feature_names must have 1"):
        explain(tree, X, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="class_names"):
        explain(tree, X, class_names=["a"])
    with pytest.raises(ValueError, match="features"):
        explain(tree, [[0.0, 1.0]])
