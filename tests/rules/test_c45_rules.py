"""Rules from a C4.5 tree: by hand, what must not matter, and as an estimator."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.datasets import load_play_tennis
from sklearn_textbook.tree import C45RulesClassifier, export_rules
from sklearn_textbook.tree.grow.layout import OBLIQUE
from sklearn_textbook.tree.rules.build_list import compute_shares
from sklearn_textbook.tree.rules.check import check_rule_list
from sklearn_textbook.tree.rules.pack_rows import round_weights
from tests.loops import loop_over
from tests.reference.c45_rules import find_p_value, find_upper_limit
from tests.rules.tables import (
    draw_parameters,
    list_rules,
    make_numeric_table,
    make_reference,
    make_table,
)


# ---------------------------------------------------------------------- by hand
@pytest.mark.parametrize(
    ("n", "errors", "limit"),
    [
        (6, 0, 0.206299),
        (9, 0, 0.142756),
        (1, 0, 0.75),
        (16, 1, 2.475715 / 16),
        (14, 5, 6.761120 / 14),
        (100, 10, 12.749611 / 100),
        (2.5, 2.2, 1.0),
        (0, 0, 1.0),
    ],
)
def test_upper_limit(n, errors, limit):
    assert find_upper_limit(n, errors, 0.25) == pytest.approx(limit, abs=5e-7)


@pytest.mark.parametrize(("right", "wrong"), [(6, 0), (15, 1), (9, 5), (90, 10)])
def test_rate_of_one_rule(right, wrong):
    """One rule for the rarer class; what it covers is known beforehand."""
    X = np.repeat([["few"], ["many"]], [right + wrong, 300], axis=0)
    y = np.repeat(["rare", "common", "common"], [right, wrong, 300])
    model = C45RulesClassifier().fit(X, y)
    rule = next(rule for rule in model.rules_ if rule["class"] == "rare")
    assert [c["value"] for c in rule["conditions"]] == ["few"]
    limit = find_upper_limit(right + wrong, wrong, 0.25)
    assert rule["error"] == pytest.approx(limit)


def fit_golf(**parameters):
    golf = load_play_tennis(version="golf", as_frame=True)
    model = C45RulesClassifier(**parameters).fit(golf.data, golf.target)
    return model, golf.data, golf.target


GOLF = """\
IF outlook = overcast THEN yes [support 28.6% (4 rows), confidence 83.3%]
ELSE IF outlook = sunny AND humidity > 75 THEN no [support 21.4% (3 rows), ...]
ELSE IF outlook = rain AND windy = true THEN no [support 14.3% (2 rows), ...]
ELSE yes [support 35.7% (5 rows), confidence 85.7%]
"""


def test_golf():
    model, X, y = fit_golf()
    lines = export_rules(model).splitlines()
    for line, expected in zip(lines, GOLF.splitlines(), strict=True):
        assert line.startswith(expected.partition("...")[0])
    # 1 - 0.25 ** (1 / N) for 4, 3 and 2 rows without an error
    rates = [rule["error"] for rule in model.rules_]
    assert rates[:3] == pytest.approx([0.292893, 0.370039, 0.5], abs=1e-6)
    assert rates[3] is None
    assert model.predict(X).tolist() == y.tolist()
    assert model.default_class_ == "yes"
    assert model.n_rules_ == 3


def test_bits_of_golf():
    """Costs and lengths of subsets, worked out by hand."""
    model, X, y = fit_golf()
    reference = make_reference(model, X, y, np.ones(14))
    rules = {rule.nodes: rule for rule in reference.list_general_rules()}
    outlook = -sum(n / 14 * math.log2(n / 14) for n in (5, 4, 5))
    windy = -sum(n / 14 * math.log2(n / 14) for n in (6, 8))
    tree = model.tree_estimator_.tree_
    sunny, overcast, rain = 1, 2, 3
    assert tree.nodes["first_child"][[sunny, rain]].tolist() == [4, 6]
    # two bits for one of four columns
    costs = {
        (overcast,): 2 + outlook,
        # one of 8 thresholds between 9 values; one bit for two conditions
        (sunny, 5): 2 + outlook + 2 + 1 + math.log2(8) - 1,
        (rain, 6): 2 + outlook + 2 + windy - 1,
    }
    assert X["humidity"].nunique() == 9
    for nodes, cost in costs.items():
        assert rules[nodes].cost == pytest.approx(cost, abs=1e-6)
    # 5 of 14 rows are "no"; the rules for it cover 3 and 2 of them and no other
    no = [rules[sunny, 5], rules[rain, 6]]
    lengths = [reference.measure(no[:size], 0) for size in range(3)]
    both = (no[0].cost + no[1].cost - 1) / 2
    expected = [math.log2(2002), no[0].cost / 2 + math.log2(55), both]
    assert lengths == pytest.approx(expected)


def test_iris():
    iris = load_iris()
    model = C45RulesClassifier().fit(iris.data, iris.target_names[iris.target])
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    asked = [
        line.partition(" [")[0]
        for line in export_rules(model, feature_names=names).splitlines()
    ]
    assert asked == [
        "IF petal width <= 0.6 THEN setosa",
        "ELSE IF 0.6 < petal width <= 1.7 AND petal length <= 4.9 THEN versicolor",
        "ELSE IF petal width > 1.7 THEN virginica",
        "ELSE IF petal length > 4.9 THEN virginica",
        "ELSE setosa",
    ]


def test_p_value():
    # 3 of 3 against 1 of 4: 4 of all 35 ways to draw 3 of 7
    assert find_p_value(3, 0, 1, 3) == pytest.approx(4 / 35)


def test_smaller_confidence_drops_more_conditions():
    X, y = make_numeric_table(0, 500)
    sizes = []
    for confidence in (0.5, 0.25, 0.001):
        model = C45RulesClassifier(confidence=confidence, min_samples_leaf=1).fit(X, y)
        rules = make_reference(model, X, y, np.ones(500)).list_general_rules()
        sizes.append(np.mean([len(rule.conditions) for rule in rules]))
    assert sizes[0] > sizes[1] > sizes[2]


# ---------------------------------------------------------- what must not matter
def comparable(model):
    """The rules without the numbers of rows and nodes."""
    left_out = ("n_samples", "weight")
    return [
        {key: value for key, value in rule.items() if key not in left_out}
        for rule in model.rules_
    ]


@loop_over("seed", range(25))
def test_weights_are_repeated_rows(seed):
    frame, y, _ = make_table(seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(y))
    weights[0] += 1
    repeated = np.repeat(np.arange(len(y)), weights)
    parameters = draw_parameters(seed)
    one = C45RulesClassifier(**parameters).fit(frame, y, sample_weight=weights)
    other = C45RulesClassifier(**parameters).fit(frame.iloc[repeated], y[repeated])
    if len(one.classes_) == len(other.classes_):
        assert comparable(one) == comparable(other)
        assert one.predict_proba(frame) == pytest.approx(other.predict_proba(frame))
    assert one.predict(frame).tolist() == other.predict(frame).tolist()


@loop_over("seed", range(5))
def test_order_of_rows_does_not_matter(seed):
    frame, y, weights = make_table(seed, 150)
    order = np.random.default_rng(seed).permutation(len(y))
    one = C45RulesClassifier().fit(frame, y, weights)
    other = C45RulesClassifier().fit(frame.iloc[order], y[order], weights[order])
    assert [r["conditions"] for r in one.rules_] == [
        r["conditions"] for r in other.rules_
    ]
    assert one.predict(frame).tolist() == other.predict(frame).tolist()


@loop_over("seed", range(5))
def test_order_of_columns_does_not_matter(seed):
    X, y = make_numeric_table(seed)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = C45RulesClassifier(min_samples_leaf=10)
    one = list(clone(model).fit(frame, y).rules_)
    other = list(clone(model).fit(frame[list("ecadb")], y).rules_)
    assert len(one) > 3
    for rules in (one, other):
        for rule in rules:
            rule["conditions"] = {c["feature"]: c["value"] for c in rule["conditions"]}
    assert one == other


@loop_over("seed", range(5))
def test_units_of_numbers_do_not_matter(seed):
    X, y = make_numeric_table(seed)
    one = C45RulesClassifier().fit(X, y)
    other = C45RulesClassifier().fit(4 * X - 2, y)
    assert list_rules(one) == list_rules(other)
    assert one.rule_list_.shares.tolist() == other.rule_list_.shares.tolist()
    rng = np.random.default_rng(seed)
    new = rng.normal(size=(200, 5))
    assert one.apply(new).tolist() == other.apply(4 * new - 2).tolist()


def test_monotone_change_of_numbers_does_not_matter():
    """Of columns with few values, all of which are in every larger node."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(400, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] > 3) ^ (rng.random(400) < 0.05)
    one = C45RulesClassifier(min_samples_leaf=10).fit(X, y)
    other = C45RulesClassifier(min_samples_leaf=10).fit(np.exp(X), y)
    assert one.n_rules_ > 1
    assert list_rules(one) == list_rules(other)
    assert one.apply(X).tolist() == other.apply(np.exp(X)).tolist()


def test_number_of_threads_does_not_matter():
    X, y = make_numeric_table(1, 20_000)
    one, other = (C45RulesClassifier(n_jobs=n).fit(X, y) for n in (1, 3))
    assert one.n_rules_ > 10
    assert comparable(one) == comparable(other)
    assert one.apply(X).tolist() == other.apply(X).tolist()


def test_single_precision_and_layout_do_not_matter():
    X, y = make_numeric_table(2)
    X = X.astype(np.float32)
    one = C45RulesClassifier().fit(X, y)
    other = C45RulesClassifier().fit(np.asfortranarray(X.astype(np.float64)), y)
    assert comparable(one) == comparable(other)
    assert one.apply(X[::2]).tolist() == other.apply(X[::2]).tolist()


def test_sparse_table():
    X, y = make_numeric_table(3)
    X[np.abs(X) < 0.7] = 0.0
    one = C45RulesClassifier().fit(X, y)
    other = C45RulesClassifier().fit(sparse.csr_matrix(X), y)
    assert comparable(one) == comparable(other)
    assert one.apply(X).tolist() == other.apply(sparse.csc_array(X)).tolist()


def test_class_weight_multiplies_the_weights():
    X, y = make_numeric_table(4)
    weights = np.array([1.0, 2.0, 0.5, 3.0])
    one = C45RulesClassifier(class_weight=dict(enumerate(weights))).fit(X, y)
    other = C45RulesClassifier().fit(X, y, sample_weight=weights[y])
    assert comparable(one) == comparable(other)


# -------------------------------------------------------------------- prediction
@loop_over("seed", range(30))
def test_predicted_class_has_the_largest_share(seed):
    frame, y, weights = make_table(seed)
    model = C45RulesClassifier(**draw_parameters(seed)).fit(frame, y, weights)
    shares = model.predict_proba(frame)
    best = model.classes_[shares.argmax(axis=1)]
    assert best.tolist() == model.predict(frame).tolist()
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert model.predict_log_proba(frame) == pytest.approx(np.log(shares))
    labels = [model.rules_[number]["class"] for number in model.apply(frame)]
    assert labels == model.predict(frame).tolist()


def test_share_of_the_class_of_a_rule_is_the_largest():
    counts = np.array([[2.0, 5.0, 1.0], [3.0, 3.0, 0.0], [0.0, 4.0, 0.0]])
    shares = compute_shares(counts, np.array([0, 1, 1]))
    assert shares[0] == pytest.approx([3 / 8, 3 / 8, 2 / 8])
    assert shares[1] == pytest.approx([4 / 9, 4 / 9, 1 / 9])
    assert shares[2] == pytest.approx([1 / 7, 5 / 7, 1 / 7])
    assert shares.argmax(axis=1).tolist() == [0, 1, 1]


def test_missing_values_and_new_levels_meet_no_condition():
    model, X, _ = fit_golf()
    row = X.iloc[[2]]  # overcast
    assert model.apply(row).tolist() == [0]
    for outlook in (None, "foggy"):
        assert model.apply(row.assign(outlook=[outlook])).tolist() == [-1]
    sunny = X.iloc[[1]]
    assert model.apply(sunny).tolist() == [1]
    assert model.apply(sunny.assign(humidity=[np.nan])).tolist() == [-1]


def test_rows_are_decided_by_their_first_rule():
    frame, y, weights = make_table(5, 150)
    model = C45RulesClassifier().fit(frame, y, weights)
    conditions = [rule["conditions"] for rule in model.rules_]
    assert len(conditions) > 2
    assert conditions[-1] == []
    found = [
        next(n for n, rule in enumerate(conditions) if meets_all(rule, row))
        for row in frame.to_dict("records")
    ]
    expected = [-1 if number == len(conditions) - 1 else number for number in found]
    assert model.apply(frame).tolist() == expected


def meets_all(conditions, row):
    operators = {
        "<=": lambda x, value: x <= value,
        ">": lambda x, value: x > value,
        "range": lambda x, value: value[0] < x <= value[1],
        "==": lambda x, value: x == value,
        "in": lambda x, value: x in value,
    }
    return all(
        operators[c["operator"]](row[c["feature"]], c["value"]) for c in conditions
    )


def test_tree_of_one_leaf_has_only_a_default():
    X, y = np.zeros((5, 2)), [1, 0, 0, 0, 1]
    model = C45RulesClassifier().fit(X, y)
    assert model.n_rules_ == 0
    assert model.apply(X).tolist() == [-1] * 5
    assert model.predict(X).tolist() == [0] * 5
    assert model.predict_proba(X)[0] == pytest.approx([4 / 7, 3 / 7])
    text = "ALWAYS 0 [support 100% (5 rows), confidence 57.1%]\n"
    assert export_rules(model) == text
    evaluation = model.evaluate(X, y)
    assert evaluation.rules == []
    assert evaluation.default == {"class": 0, "used": 5.0, "wrong": 2.0}


def test_one_class():
    model = C45RulesClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_class_without_weight():
    X, y = make_numeric_table(6)
    model = C45RulesClassifier().fit(X, y, sample_weight=(y != 3).astype(float))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert 3 not in model.predict(X)


# -------------------------------------------------------------------- evaluation
@loop_over("seed", range(20))
def test_evaluation_counts(seed):
    frame, y, weights = make_table(seed, 70)
    model = C45RulesClassifier(**draw_parameters(seed)).fit(frame, y, weights)
    new, labels, weights = make_table(seed, 70, missing=0.3)
    is_new = (weights > 2) & (np.arange(70) > 20)
    labels = np.where(is_new, "another class", labels)
    evaluation = model.evaluate(new, labels, sample_weight=weights)
    predicted = model.predict(new)
    assert evaluation.errors == pytest.approx(weights[predicted != labels].sum())
    assert evaluation.confusion == pytest.approx(
        confusion_matrix(
            labels, predicted, labels=evaluation.classes, sample_weight=weights
        )
    )
    applied = model.apply(new)
    for rule in [*evaluation.rules, {"rule": -1, **evaluation.default}]:
        is_used = applied == rule["rule"]
        is_wrong = is_used & (predicted != labels)
        assert rule["used"] == pytest.approx(weights[is_used].sum())
        assert rule["wrong"] == pytest.approx(weights[is_wrong].sum())
    for rule in evaluation.rules:
        without = predict_without(model, new, rule["rule"])
        more = weights[without != labels].sum() - evaluation.errors
        assert rule["advantage"] == pytest.approx(more, abs=1e-9)
        assert rule["saved"] - rule["spoilt"] == rule["advantage"]


def predict_without(model, frame, left_out):
    """Predict from the records of all rules but one."""
    rules = [rule for rule in model.rules_ if rule["rule"] != left_out]
    return np.array(
        [
            next(r["class"] for r in rules if meets_all(r["conditions"], row))
            for row in frame.to_dict("records")
        ]
    )


@loop_over("seed", range(20))
def test_no_rule_does_harm_in_training(seed):
    frame, y, weights = make_table(seed, 150)
    model = C45RulesClassifier(**draw_parameters(seed)).fit(frame, y, weights)
    evaluation = model.evaluate(frame, y, weights)
    assert all(rule["advantage"] >= -1e-9 for rule in evaluation.rules)
    assert evaluation.weight == pytest.approx(weights.sum())


GOLF_EVALUATION = """\
Rule  Size  Error  Used     Wrong  Advantage  Class
----  ----  -----  ----  --------  ---------  -----
   0     1  29.3%     4  0 (0.0%)    0 (0|0)  yes
   1     2  37.0%     3  0 (0.0%)    3 (3|0)  no
   2     2  50.0%     2  0 (0.0%)    2 (2|0)  no

Default class yes: used 5, wrong 0
Tested 14, errors 0 (0.0%)

(a)  (b)  <- classified as
  5       (a): class no
       9  (b): class yes"""


def test_evaluation_of_golf_as_text():
    model, X, y = fit_golf()
    assert str(model.evaluate(X, y)) == GOLF_EVALUATION


def off_diagonal(evaluation):
    return evaluation.confusion.sum() - np.trace(evaluation.confusion)


@pytest.mark.parametrize(
    ("trained", "tested"),
    [
        ([0, 1, 0, 1], [0.0, 1.0, 0.0, 1.0]),
        ([0, 1, 0, 1], [False, True, False, True]),
        ([False, True] * 2, [0, 1, 0, 1]),
        ([0.0, 1.0] * 2, np.array([0, 1, 0, 1], dtype=np.int8)),
        (["p", "q"] * 2, np.array(["p", "q"] * 2, dtype=object)),
    ],
)
def test_evaluation_takes_equal_labels_of_another_type(trained, tested):
    X = [[0.0], [9.0], [1.0], [8.0]]
    model = C45RulesClassifier().fit(X * 5, trained * 5)
    assert model.n_rules_ > 0
    evaluation = model.evaluate(X, tested)
    assert evaluation.errors == off_diagonal(evaluation) == 0.0
    assert evaluation.classes.tolist() == model.classes_.tolist()
    assert str(evaluation) == str(model.evaluate(X, trained))


@pytest.mark.parametrize(
    ("tested", "listed"),
    [
        (["0", "1", "0", "1"], "'0', '1', the classes are 0, 1"),
        (["0.0", "1.0", "0.0", "1.0"], "'0.0', '1.0', the classes are 0, 1"),
        ([3, 4, 5, 6], "3, 4, 5, 6, the classes are 0, 1"),
        ([0, "1", 0, "1"], "'0', '1', the classes are 0, 1"),
    ],
)
def test_evaluation_refuses_labels_the_model_has_not(tested, listed):
    model = C45RulesClassifier().fit([[0.0], [9.0], [1.0], [8.0]], [0, 1, 0, 1])
    with pytest.raises(
        ValueError, match=f"is a class of the model: y contains {listed}"
    ):
        model.evaluate([[0.0], [9.0], [1.0], [8.0]], tested)


@pytest.mark.parametrize(
    ("trained", "tested", "classes"),
    [
        ([0, 1, 0, 1], [-3, 1, 0.5, 1], [0, 1, -3, 0.5]),
        ([0, 1, 0, 1], np.array(["0", 1, 0, 7], dtype=object), [0, 1, 7, "0"]),
        (["p", "q"] * 2, ["p", "a", "p", "long"], ["p", "q", "a", "long"]),
    ],
)
def test_unknown_classes_are_errors_of_their_own_line(trained, tested, classes):
    X = [[0.0], [9.0], [1.0], [8.0]]
    model = C45RulesClassifier().fit(X * 5, trained * 5)
    assert model.n_rules_ > 0
    evaluation = model.evaluate(X, tested, sample_weight=[1.0, 2.0, 4.0, 8.0])
    assert evaluation.classes.tolist() == classes
    known = [label in model.classes_.tolist() for label in list(tested)]
    right = [1, 2, 4, 8] @ np.array(known)
    assert evaluation.errors == off_diagonal(evaluation) == 15 - right
    assert (evaluation.confusion[:, 2:] == 0).all()
    lines = str(evaluation).splitlines()[-4:]
    assert len({line.partition("class ")[2] for line in lines}) == 4


# ------------------------------------------------------------------ as estimator
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0.0}, "'confidence' parameter must lie between 0 and 1"),
        ({"confidence": 1.0}, "'confidence' parameter must lie between 0 and 1"),
        ({"confidence": "high"}, "'confidence' parameter must be a float"),
        ({"significance": 2.0}, "'significance' parameter must be a float"),
        ({"categorical_split": "many"}, "'categorical_split' parameter must be one of"),
        ({"min_samples_leaf": 0}, "'min_samples_leaf' parameter must be"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        C45RulesClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_several_outputs_are_refused():
    with pytest.raises(ValueError, match="y should be a 1d array"):
        C45RulesClassifier().fit([[0.0], [1.0]], [[0, 1], [1, 0]])


def test_not_fitted():
    for use in (C45RulesClassifier.predict, C45RulesClassifier.predict_proba):
        with pytest.raises(NotFittedError):
            use(C45RulesClassifier(), [[0.0]])
    with pytest.raises(NotFittedError):
        export_rules(C45RulesClassifier())


def test_evaluation_needs_a_class_per_row():
    model, X, y = fit_golf()
    with pytest.raises(ValueError, match="it has 13, X has 14 rows"):
        model.evaluate(X, y[:13])


def test_missing_classes_are_named_by_row():
    X, y = [[0.0], [1.0], [2.0]], pl.Series([0, None, 1])
    with pytest.raises(ValueError, match="y has a missing value in row 1: drop"):
        C45RulesClassifier().fit(X, y)
    model = C45RulesClassifier().fit(X, [0, 0, 1])
    with pytest.raises(ValueError, match="y has a missing value in row 1: drop"):
        model.evaluate(X, y)


def test_rows_of_weight_zero_only_declare():
    X = pd.DataFrame({"c": ["a", "b", "a", "z"], "x": [1.0, 2.0, 3.0, 4.0]})
    model = C45RulesClassifier(min_samples_leaf=1)
    model.fit(X, ["p", "q", "p", "r"], sample_weight=[1, 1, 1, 0])
    assert model.classes_.tolist() == ["p", "q", "r"]
    assert model.schema_.columns[0].levels == ("a", "b", "z")
    assert "r" not in {rule["class"] for rule in model.rules_}


def test_pipeline_and_grid_search():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), C45RulesClassifier())
    grid = {"c45rulesclassifier__confidence": [0.05, 0.25]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


def test_polars_frame_with_nulls():
    frame = pl.DataFrame(
        {"colour": ["red", "blue", None, "red"] * 5, "size": [1, 2, 3, None] * 5}
    )
    y = ["a", "b", "b", "a"] * 5
    model = C45RulesClassifier().fit(frame, y)
    assert model.predict(frame).tolist() == y
    assert model.feature_names_in_.tolist() == ["colour", "size"]


def test_pickle():
    model, X, _ = fit_golf()
    copy = pickle.loads(pickle.dumps(model))
    assert copy.apply(X).tolist() == model.apply(X).tolist()
    assert copy.rules_ == list(model.rules_)


def test_rounded_weights_add_up_exactly():
    rng = np.random.default_rng(0)
    weights = round_weights(rng.random(1000) * 10.0 ** rng.integers(-8, 9, 1000))
    assert np.cumsum(weights)[-1] == math.fsum(weights)
    assert np.cumsum(weights[::-1])[-1] == math.fsum(weights)
    whole = rng.integers(0, 1000, 50).astype(float)
    assert round_weights(whole).tolist() == whole.tolist()
    assert round_weights(np.array([1e-30, 1.0]))[0] > 0


def test_oblique_tests_are_refused_in_a_list():
    X, y = load_iris(return_X_y=True)
    rules = C45RulesClassifier().fit(X, y).rule_list_
    check_rule_list(rules)
    nodes = rules.tree.nodes.copy()
    nodes["kind"][nodes["parent"][rules.nodes[0]]] = OBLIQUE
    rules = replace(rules, tree=rules.tree.replace(nodes=nodes))
    with pytest.raises(ValueError, match="must not be the branch of an oblique test"):
        check_rule_list(rules)
