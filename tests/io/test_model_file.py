"""Model files: read back to equal predictions, and nothing else is ever accepted."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook.io import (
    ModelFileError,
    load_model,
    read_model,
    read_table,
    save_model,
)
from sklearn_textbook.io.saved_model import SCHEMA_VERSION
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ErrorBasedPruning,
    ID3Classifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    export_rules,
    export_text,
)
from sklearn_textbook.tree.rules.serialise import SCHEMA_VERSION as RULES_VERSION
from tests.amount import FACTOR
from tests.rules.tables import draw_parameters, make_table

DATA = Path(__file__).parents[1] / "data"


def iris_tree(**parameters):
    X, y = load_iris(return_X_y=True)
    return CARTClassifier(max_depth=3, random_state=0, **parameters).fit(X, y), X


@pytest.fixture(scope="module")
def good_text(tmp_path_factory):
    """The text of a good model file."""
    path = tmp_path_factory.mktemp("good") / "good.json"
    save_model(iris_tree()[0], path, target="species", table={"n_rows": 150})
    return path.read_text("utf-8")


@pytest.fixture
def document(good_text):
    """A good model file as a dictionary."""
    return json.loads(good_text)


def load_document(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_model(path)


def refusal(document, tmp_path):
    with pytest.raises(ModelFileError) as caught:
        load_document(document, tmp_path)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.path == str(tmp_path / "model.json")
    return message.removeprefix(f"{tmp_path}/")


# ------------------------------------------------------------------ round trips
VALUES = st.none() | st.integers(-3, 3).map(float)
LEVELS = st.none() | st.sampled_from(["red", "green", "蓝"])


@st.composite
def frames(draw):
    """A small mixed table with missing values, and more rows of the same columns."""
    n_rows = draw(st.integers(2, 30))
    length = {"min_size": n_rows, "max_size": n_rows}
    size = st.none() | st.sampled_from(["S", "M", "L"])
    return pd.DataFrame(
        {
            "number": pd.array(draw(st.lists(VALUES, **length)), dtype="Float64"),
            "colour": pd.array(draw(st.lists(LEVELS, **length)), dtype="str"),
            "size": pd.Categorical(
                draw(st.lists(size, **length)), categories=["S", "M", "L"], ordered=True
            ),
            "flag": draw(st.lists(st.booleans(), **length)),
        }
    )


@given(
    frame=frames(),
    seed=st.integers(0, 2**32 - 1),
    labels=st.sampled_from([["no", "yes", "蓝"], [1, 2, 5], [True, False], [0.5, 1.5]]),
    missing=st.sampled_from(["learned", "branch", "surrogate"]),
    categorical_split=st.sampled_from(["subset", "one_vs_rest", "multiway"]),
)
@settings(max_examples=30 * FACTOR)
def test_classifier_predicts_the_same(
    folder, frame, seed, labels, missing, categorical_split
):
    rng = np.random.default_rng(seed)
    if len(labels) == 2 and isinstance(labels[0], float):
        labels = ["a", "b"]
    y = rng.choice(np.asarray(labels), len(frame))
    y[:2] = labels[:2]
    tree = CARTClassifier(missing=missing, categorical_split=categorical_split)
    tree.fit(frame, y, sample_weight=rng.integers(1, 3, len(frame)))
    path = folder / "tree.json"
    save_model(tree, path)
    loaded = load_model(path)
    unknown = frame.assign(colour="never seen")
    for table in (frame, frame[::-1], unknown):
        np.testing.assert_array_equal(
            loaded.predict_proba(table), tree.predict_proba(table)
        )
        np.testing.assert_array_equal(loaded.predict(table), tree.predict(table))
    assert loaded.predict(frame).dtype.kind == tree.predict(frame).dtype.kind
    assert loaded.get_params() == tree.get_params()
    assert loaded.schema_ == tree.schema_
    for name in ("n_features_in_", "n_outputs_", "n_classes_", "max_features_"):
        assert getattr(loaded, name) == getattr(tree, name)
    np.testing.assert_array_equal(loaded.feature_names_in_, tree.feature_names_in_)
    assert export_text(loaded) == export_text(tree)
    assert loaded.rules_ == tree.rules_


@given(
    frame=frames(),
    seed=st.integers(0, 2**32 - 1),
    estimator=st.sampled_from(
        [
            ID3Classifier(),
            ID3Classifier(handle_unknown="fractional", min_gain=0.1),
            C45Classifier(pruning=None),
            C45Classifier(categorical_split="subset", laplace=True),
            C45Classifier(pruning=ErrorBasedPruning(confidence=0.1)),
        ]
    ),
)
@settings(max_examples=40)
def test_trees_by_gain_predict_the_same(folder, frame, seed, estimator):
    y = np.random.default_rng(seed).choice(["no", "yes", "蓝"], len(frame))
    y[:2] = ["no", "yes"]
    tree = clone(estimator).fit(frame, y)
    path = folder / "tree.json"
    save_model(tree, path)
    loaded = load_model(path)
    for table in (frame, frame.assign(colour="never seen")):
        np.testing.assert_array_equal(
            loaded.predict_proba(table), tree.predict_proba(table)
        )
        np.testing.assert_array_equal(loaded.predict(table), tree.predict(table))
    assert repr(loaded) == repr(tree)
    assert export_text(loaded) == export_text(tree)


@given(
    frame=frames(),
    seed=st.integers(0, 2**32 - 1),
    estimator=st.sampled_from(
        [
            ObliqueTreeClassifier(prefer_axis=None),
            ObliqueTreeClassifier(direction="oc1", n_directions=2, random_state=0),
            ObliqueTreeClassifier(
                direction="random", n_directions="sqrt", handle_unknown="fractional"
            ),
            ObliqueTreeRegressor(pruning="loss"),
            ObliqueTreeRegressor(direction="ols", prefer_axis=None, max_features=2),
        ]
    ),
)
@settings(max_examples=40)
def test_oblique_trees_predict_the_same(folder, frame, seed, estimator):
    y = np.random.default_rng(seed).choice([1, 2, 5], len(frame))
    y[:2] = [1, 2]
    tree = clone(estimator).fit(frame, y)
    path = folder / "tree.json"
    save_model(tree, path)
    loaded = load_model(path)
    for table in (frame, frame.assign(colour="never seen"), frame.assign(number=None)):
        for method in {"predict", "predict_proba"} & set(dir(tree)):
            np.testing.assert_array_equal(
                getattr(loaded, method)(table), getattr(tree, method)(table)
            )
    assert repr(loaded) == repr(tree)
    assert loaded.n_directions_ == tree.n_directions_
    assert loaded.tree_.to_dict() == tree.tree_.to_dict()
    importances = tree.feature_importances_
    np.testing.assert_array_equal(loaded.feature_importances_, importances)


def test_oblique_tests_are_those_of_oblique_trees(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model.json"
    save_model(ObliqueTreeClassifier().fit(X, y), path)
    document = json.loads(path.read_text("utf-8"))
    for name in ("CARTClassifier", "C45Classifier"):
        changed = {**document, "estimator": name, "parameters": {}}
        message = f"the tree of a {name} cannot have oblique tests"
        assert message in refusal(changed, tmp_path)
    # Rules have conditions of one column.
    rules = tmp_path / "rules.json"
    save_model(C45RulesClassifier().fit(X, y), rules)
    changed = json.loads(rules.read_text("utf-8")) | {"tree": document["tree"]}
    assert "cannot have oblique tests" in refusal(changed, tmp_path)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"part": "OneHotEncoder", "parameters": {}}, "unknown form of a parameter"),
        ({"part": "ErrorBasedPruning"}, "unknown form of a parameter"),
        ({"part": ["x"], "parameters": {}}, "is damaged"),
        ({"part": "ErrorBasedPruning", "parameters": 3}, "parameters must be an"),
        (
            {"part": "ErrorBasedPruning", "parameters": {"confidense": 0.1}},
            "ErrorBasedPruning has no parameter 'confidense'; did you mean",
        ),
    ],
)
def test_parts_are_checked(tmp_path, part, message):
    path = tmp_path / "model.json"
    save_model(C45Classifier().fit([["a"], ["b"]], ["x", "y"]), path)
    document = json.loads(path.read_text("utf-8"))
    document["parameters"]["pruning"] = part
    assert message in refusal(document, tmp_path)


# --------------------------------------------------------------- lists of rules
def fit_rules(seed):
    """A list of rules of a mixed table, and more rows with more missing values."""
    frame, y, weights = make_table(seed)
    model = C45RulesClassifier(**draw_parameters(seed)).fit(frame, y, weights)
    return model, frame, y, make_table(seed, missing=0.3)[0]


@pytest.mark.parametrize("seed", range(25))
def test_rules_predict_the_same(tmp_path, seed):
    model, frame, y, new = fit_rules(seed)
    path = tmp_path / "rules.json"
    save_model(model, path, target="y")
    loaded = load_model(path)
    for table in (frame, new):
        np.testing.assert_array_equal(loaded.apply(table), model.apply(table))
        np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
        np.testing.assert_array_equal(
            loaded.predict_proba(table), model.predict_proba(table)
        )
        np.testing.assert_array_equal(
            loaded.tree_estimator_.predict_proba(table),
            model.tree_estimator_.predict_proba(table),
        )
    assert loaded.rules_ == list(model.rules_)
    assert str(loaded.evaluate(frame, y)) == str(model.evaluate(frame, y))
    assert repr(loaded) == repr(model)
    assert repr(loaded.tree_estimator_) == repr(model.tree_estimator_)
    for ours, theirs in (
        (loaded, model),
        (loaded.tree_estimator_, model.tree_estimator_),
    ):
        assert vars(ours).keys() == vars(theirs).keys()
    assert type(loaded.default_class_) is type(model.default_class_)
    assert (loaded.n_rules_, loaded.default_class_, loaded.schema_) == (
        model.n_rules_,
        model.default_class_,
        model.schema_,
    )
    save_model(loaded, tmp_path / "again.json", target="y")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


def test_rules_that_are_only_a_default(tmp_path):
    model = C45RulesClassifier(n_jobs=1).fit(np.zeros((5, 2)), [1, 0, 0, 0, 1])
    save_model(model, tmp_path / "rules.json")
    loaded = load_model(tmp_path / "rules.json")
    assert (loaded.n_rules_, loaded.n_jobs) == (0, None)
    assert export_rules(loaded) == export_rules(model)
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.predict([[1.0, 2.0]]).tolist() == [0]


def test_rules_keep_the_parameters_that_grew_the_tree(tmp_path):
    model = fit_rules(0)[0].set_params(max_depth=1)
    save_model(model, tmp_path / "rules.json")
    loaded = load_model(tmp_path / "rules.json")
    assert loaded.max_depth == 1
    assert loaded.tree_estimator_.max_depth == model.tree_estimator_.max_depth != 1
    assert loaded.tree_estimator_.pruning is None


@pytest.fixture(scope="module")
def rules_text(tmp_path_factory):
    """The text of a model file with a list of rules with numbers and levels."""
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    save_model(C45RulesClassifier().fit(*make_small_table()), path, target="y")
    return path.read_text("utf-8")


def make_small_table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.integers(0, 40, 200).astype(float),
            "colour": rng.choice(["red", "green", "蓝"], 200),
        }
    )
    is_large = frame["size"] > 20
    y = np.where(frame["colour"] == "red", "a", np.where(is_large, "b", "c"))
    return frame, y


def change_rules(**changes):
    """A change of entries of the rules; a function changes what is there."""

    def change(rules):
        for name, value in changes.items():
            rules[name] = value(rules[name]) if callable(value) else value

    return change


def replace_entry(place, value):
    """A change of one entry of a list."""
    return lambda entries: [*entries[:place], value, *entries[place:][1:]]


# Between these, differences that overflow are positive.
EXTREMES = [0, 2**63 - 1, -(2**63), -1]

DAMAGED_RULES = [
    (change_rules(format="x"), "This is not a rule list: its format is 'x'"),
    (change_rules(schema_version=RULES_VERSION + 1), "Update sklearn_textbook"),
    (change_rules(extra=1), "The dictionary of the rule list has unknown 'extra'"),
    (lambda rules: rules.pop("shares"), "the rule list lacks 'shares'"),
    (change_rules(start=[]), "start must have one entry more than"),
    (change_rules(start=[0.0]), "start has '0.0' in place 0, where an integer"),
    (change_rules(start=replace_entry(0, 1)), "start must rise from 0 to"),
    (change_rules(start=replace_entry(1, 10**6)), "start must rise from 0 to"),
    (change_rules(start=replace_entry(1, -(2**63))), "start must rise from 0 to"),
    (change_rules(start=lambda s: [*EXTREMES, *s[4:]]), "start must rise from 0 to"),
    (
        change_rules(start=lambda start: start[:-1]),
        "rule_class must have 5 entries, for 4 rules and the default, got 6",
    ),
    (change_rules(nodes=lambda nodes: nodes[:-1]), "start must rise from 0 to"),
    (change_rules(nodes=replace_entry(0, 0)), "nodes, record 0: a condition must be"),
    (change_rules(nodes=replace_entry(1, 99)), "nodes, record 1: a condition must be"),
    (change_rules(nodes=replace_entry(1, -1)), "nodes, record 1: a condition must be"),
    (change_rules(rule_class=replace_entry(0, 3)), "rule_class, record 0: must be fr"),
    (change_rules(rule_class=replace_entry(0, -1)), "rule_class, record 0: must be f"),
    (
        change_rules(rule_class=[0]),
        "rule_class must have 6 entries, for 5 rules and the default, got 1",
    ),
    (
        change_rules(shares=[[1.0]] * 6),
        "shares must have one column for each of the 3 classes of the tree, got 1",
    ),
    (change_rules(shares=[0.5] * 6), "shares must be lists of 2 levels"),
    (change_rules(shares=replace_entry(0, [0.0, 1.0, 0.0])), "must be positive and"),
    (change_rules(shares=replace_entry(0, [0.1, 0.1, 0.1])), "must be positive and"),
    (change_rules(shares=replace_entry(0, ["NaN", 0.1, 0.1])), "must be positive and"),
    (change_rules(shares=lambda s: [line[::-1] for line in s]), "must have the larg"),
    (change_rules(rate=replace_entry(0, 1.5)), "rate, record 0: must be from 0 to 1"),
    (change_rules(rate=replace_entry(0, "NaN")), "rate, record 0: must be from 0 to"),
    (change_rules(rate=replace_entry(-1, 0.5)), "rate, record 5: must be from 0 to 1"),
    (change_rules(n_samples=replace_entry(0, -1)), "n_samples, record 0: must not be"),
    (change_rules(weight=replace_entry(0, -1.0)), "weight, record 0: must be finite"),
    (change_rules(weight=replace_entry(0, "Infinity")), "weight, record 0: must be f"),
    (change_rules(weight=[0.0] * 6), "weight must have a sum that is finite and not"),
    (change_rules(weight=[1e308] * 6), "weight must have a sum that is finite and n"),
]


@pytest.mark.parametrize(("change", "message"), DAMAGED_RULES)
def test_damaged_rules(tmp_path, rules_text, change, message):
    document = json.loads(rules_text)
    change(document["rules"])
    assert message in refusal(document, tmp_path)


def test_conditions_of_a_rule_are_one_path(tmp_path, rules_text):
    document = json.loads(rules_text)
    tree, rules = document["tree"], document["rules"]
    parent = tree["nodes"]["parent"]
    number = np.flatnonzero(np.diff(rules["start"]) == 2)[0]
    first = rules["start"][number]
    above, below = rules["nodes"][first : first + 2]
    assert parent[above] == 0
    assert parent[below] == above
    message = "must be below the preceding condition in the tree"
    others = {node for node in range(1, len(parent)) if parent[node] != above}
    for other in others:  # siblings, branches of them, and the condition twice
        rules["nodes"][first + 1] = other
        assert f"nodes, record {first + 1}: " in refusal(document, tmp_path)
        assert message in refusal(document, tmp_path)
    rules["nodes"][first : first + 2] = below, above
    assert message in refusal(document, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": None}, "A rule list is read from a dictionary, not from NoneType"),
        ({"tree_parameters": {"confidence": 1}}, "C45Classifier has no parameter"),
        ({"parameters": {"pruning": None}}, "C45RulesClassifier has no parameter"),
        ({"estimator": "C45Classifier"}, "C45Classifier has no parameter 'confidence'"),
        ({"tree": None}, "A grown tree is read from a dictionary"),
        ({"classes": None}, "do not match a C45Classifier"),
        ({"neighbours": [[1.0], [2.0]]}, "neighbours must have shape (2, "),
        ({"neighbours": 1}, "neighbours must be a list"),
    ],
)
def test_damaged_file_of_rules(tmp_path, rules_text, change, message):
    assert message in refusal({**json.loads(rules_text), **change}, tmp_path)


@pytest.mark.parametrize("name", ["rules", "tree", "tree_parameters"])
def test_missing_entries_of_rules(tmp_path, rules_text, name):
    document = json.loads(rules_text)
    del document[name]
    assert refusal(document, tmp_path) == f"model.json: is damaged: '{name}' is missing"


def test_rules_of_another_tree(tmp_path, rules_text):
    """The rules of a tree of several outputs, or of more classes, are refused."""
    document = json.loads(rules_text)
    X, y = make_small_table()
    other = CARTClassifier().fit(X, np.column_stack([y, y]))
    document["tree"] = other.tree_.to_dict()
    del document["neighbours"]
    document["classes"] *= 2
    assert "must be a classifier of one output" in refusal(document, tmp_path)
    document = json.loads(rules_text)
    path = tmp_path / "binary.json"
    save_model(C45RulesClassifier().fit(X, y == "a"), path)
    binary = json.loads(path.read_text("utf-8"))
    document["rules"] = binary["rules"]
    assert (
        "shares must have one column for each of the 3 classes of the tree, got 2"
        in refusal(document, tmp_path)
    )


def test_branch_of_missing_values_is_no_condition(tmp_path, rules_text):
    document = json.loads(rules_text)
    X, y = make_small_table()
    X.loc[::5, "size"] = np.nan
    tree = CARTClassifier(missing="branch", categorical_split="multiway").fit(X, y)
    nodes = tree.tree_.nodes
    (wide,) = np.flatnonzero((nodes["kind"] == 1) & (nodes["n_children"] == 3))[:1]
    document["tree"] = tree.tree_.to_dict()
    document["rules"] |= {"start": [0, 1, 1, 1, 1, 1]}
    for branch, is_allowed in ((0, True), (1, True), (2, False)):
        document["rules"]["nodes"] = [int(nodes["first_child"][wide]) + branch]
        if is_allowed:
            load_document(document, tmp_path)
        else:
            assert "the branch of missing values" in refusal(document, tmp_path)


def test_nominal_surrogates_survive(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    is_like_x = rng.random(60) > 0.1
    frame = pd.DataFrame({"x": x, "colour": np.where((x > 0) == is_like_x, "r", "g")})
    frame.loc[:3, "x"] = np.nan
    tree = CARTClassifier(missing="surrogate", max_depth=1).fit(frame, x > 0)
    assert len(tree.tree_.surrogates) == 1
    save_model(tree, tmp_path / "tree.json")
    loaded = load_model(tmp_path / "tree.json")
    np.testing.assert_array_equal(
        loaded.predict_proba(frame), tree.predict_proba(frame)
    )
    np.testing.assert_array_equal(
        loaded.feature_importances_, tree.feature_importances_
    )


@given(frame=frames(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_regressor_predicts_the_same(folder, frame, seed):
    y = np.random.default_rng(seed).normal(size=len(frame))
    tree = CARTRegressor(random_state=seed % 10).fit(frame, y)
    path = folder / "tree.json"
    save_model(tree, path)
    np.testing.assert_array_equal(load_model(path).predict(frame), tree.predict(frame))


def test_several_outputs(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.asarray(["a", "b", "c"])
    outputs = np.column_stack([names[y], names[::-1][y // 2]])
    tree = CARTClassifier(max_depth=2).fit(X, outputs)
    path = tmp_path / "tree.json"
    save_model(tree, path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict(X), tree.predict(X))
    for ours, theirs in zip(
        loaded.predict_proba(X), tree.predict_proba(X), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_table_without_names(tmp_path):
    tree, X = iris_tree()
    path = tmp_path / "tree.json"
    save_model(tree, path)
    loaded = load_model(path)
    assert not hasattr(loaded, "feature_names_in_")
    np.testing.assert_array_equal(loaded.predict_proba(X), tree.predict_proba(X))


def test_loaded_model_is_saved_and_pickled_alike(tmp_path):
    tree, X = iris_tree()
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    save_model(tree, first, target="species")
    loaded = load_model(first)
    save_model(loaded, second, target="species")
    assert first.read_bytes() == second.read_bytes()
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.predict(X), tree.predict(X))


def test_all_of_a_saved_model(tmp_path):
    path = tmp_path / "tree.json"
    save_model(iris_tree()[0], path, target="好瓜", table={"names": ["a"]})
    model = read_model(path)
    assert (model.target, model.table) == ("好瓜", {"names": ["a"]})
    assert [entry.name for entry in tmp_path.iterdir()] == ["tree.json"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": {0: 1.0, 1: 2.5, 2: np.float64(3)}},
        {"max_features": np.int64(2), "min_impurity_decrease": np.float32(0.25)},
        {"monotonic_cst": None, "categorical_features": np.array([False] * 4)},
        {"categorical_features": [0]},
    ],
)
def test_parameters_of_all_types(tmp_path, parameters):
    tree, X = iris_tree(**parameters)
    path = tmp_path / "tree.json"
    save_model(tree, path)
    loaded = load_model(path)
    for name, value in parameters.items():
        np.testing.assert_array_equal(getattr(loaded, name), value)
    np.testing.assert_array_equal(loaded.predict(X), tree.predict(X))
    loaded.fit(X, tree.predict(X))


def test_ordinal_table_from_a_file(tmp_path):
    table = read_table(DATA / "loan.parquet").frame.drop_columns(["decision"])
    y = np.arange(table.num_rows) % 3
    tree = CARTClassifier(max_depth=4).fit(table, y)
    path = tmp_path / "tree.json"
    save_model(tree, path)
    np.testing.assert_array_equal(
        load_model(path).predict_proba(table), tree.predict_proba(table)
    )


# ------------------------------------------------------------- what is not saved
def test_unfitted_and_foreign_estimators(tmp_path):
    path = tmp_path / "tree.json"
    with pytest.raises(NotFittedError):
        save_model(CARTClassifier(), path)
    with pytest.raises(ModelFileError, match="DecisionTreeClassifier cannot be saved"):
        save_model(DecisionTreeClassifier(), path)

    class CARTClassifierOfMyOwn(CARTClassifier):
        pass

    CARTClassifierOfMyOwn.__name__ = "CARTClassifier"
    with pytest.raises(ModelFileError, match="CARTClassifier cannot be saved"):
        save_model(CARTClassifierOfMyOwn(), path)
    assert not path.exists()


def test_random_generator(tmp_path):
    tree, _ = iris_tree()
    tree.set_params(random_state=np.random.RandomState(0))
    with pytest.raises(ModelFileError) as caught:
        save_model(tree, tmp_path / "tree.json")
    assert str(caught.value) == (
        f"{tmp_path}/tree.json: parameter random_state has type RandomState, which a "
        "model file cannot contain; give random_state an integer or None before saving"
    )


def test_place_that_cannot_be_written(tmp_path):
    tree, _ = iris_tree()
    with pytest.raises(ModelFileError, match=r"cannot be written \(No such file"):
        save_model(tree, tmp_path / "none" / "tree.json")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------- what is not read
def test_files_that_are_no_models(tmp_path):
    not_ours = (
        "model.json: is JSON, but not a sklearn-textbook model; give a file written by "
        "sklearn-textbook fit --save or by save_model"
    )
    assert refusal('{"learner": {"trees": []}}', tmp_path) == not_ours
    assert refusal("[1, 2]", tmp_path) == not_ours
    assert refusal('{"format": ', tmp_path) == (
        "model.json: is not valid JSON: line 1, column 12; it ends too early"
    )
    wanted = "give a file written by sklearn-textbook fit --save or by save_model"
    assert (
        refusal("a,b\n1,2\n", tmp_path) == f"model.json: is not a model file; {wanted}"
    )
    assert refusal(" \n", tmp_path) == f"model.json: is empty; {wanted}"
    deep = "[" * 100_000
    assert "is not valid JSON" in refusal(deep, tmp_path)
    assert "is not valid JSON" in refusal('{"a": NaN}', tmp_path)
    assert "is not valid JSON" in refusal('{"a": ' + "9" * 5000 + "}", tmp_path)
    path = tmp_path / "model.json"
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(
        ModelFileError, match="is not a model file: it is not UTF-8 text"
    ):
        load_model(path)
    with pytest.raises(ModelFileError, match=r"other.json: no such file"):
        load_model(tmp_path / "other.json")
    with pytest.raises(ModelFileError, match="cannot be read"):
        load_model(tmp_path)


def test_newer_version(document, tmp_path):
    document["schema_version"] = SCHEMA_VERSION + 1
    assert refusal(document, tmp_path) == (
        f"model.json: has schema version {SCHEMA_VERSION + 1}, but this version of "
        f"sklearn-textbook reads up to {SCHEMA_VERSION}; install a newer one"
    )


@pytest.mark.parametrize("version", [None, "1", 1.0, True, 0])
def test_wrong_version(document, tmp_path, version):
    document["schema_version"] = version
    assert "is damaged: it has no schema_version" in refusal(document, tmp_path)


def test_every_truncation_is_refused(document, tmp_path):
    text = json.dumps(document)
    for stop in range(97, len(text), 97):
        assert "is not valid JSON" in refusal(text[:stop], tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": "os.system"}, "unknown estimator 'os.system'"),
        ({"estimator": ["CARTClassifier"]}, "unknown estimator"),
        ({"estimator": "CARTRegressor"}, "has no parameter 'class_weight'"),
        (
            {"estimator": "CARTRegressor", "parameters": {}},
            "do not match a CARTRegressor",
        ),
        ({"parameters": {"max_dept": 3}}, "no parameter 'max_dept'; did you mean 'max"),
        (
            {"parameters": {"max_depth": {"import": "os"}}},
            "unknown form of a parameter",
        ),
        ({"parameters": {"n_jobs": 10**9}}, "CARTClassifier has no parameter 'n_jobs'"),
        ({"parameters": []}, "parameters must be an object"),
        ({"classes": None}, "do not match a CARTClassifier"),
        ({"classes": []}, "classes must be a list"),
        ({"classes": [{"dtype": "int64", "values": [0, 1]}]}, "[2] classes, but"),
        ({"classes": [{"dtype": "int64", "values": [0, 1, "x"]}]}, "must all be int"),
        ({"classes": [{"dtype": "object", "values": [[], {}, 1]}]}, "text, numbers"),
        ({"classes": [{"dtype": "O8", "values": [0, 1, 2]}]}, "unknown dtype 'O8'"),
        ({"max_features": 0}, "max_features must be from 1 to 4, got 0"),
        ({"max_features": "4"}, "max_features must be from 1 to 4, got '4'"),
        ({"n_missing": [0]}, "n_missing must be a list of 4 counts"),
        ({"n_missing": [0, 0, 0, -1]}, "n_missing must hold non-negative integers"),
        ({"target": 3}, "target must be text or null"),
        ({"table": []}, "table an object"),
        (
            {"columns": {"has_names": False, "columns": []}},
            "0 columns, but the tree has",
        ),
        ({"columns": []}, "is damaged"),
        ({"tree": {}}, "is damaged"),
        ({"tree": None}, "is damaged"),
    ],
)
def test_damaged_entries(document, tmp_path, change, message):
    assert message in refusal({**document, **change}, tmp_path)


@pytest.mark.parametrize(
    "name", ["estimator", "parameters", "columns", "tree", "target"]
)
def test_missing_entries(document, tmp_path, name):
    del document[name]
    assert refusal(document, tmp_path) == f"model.json: is damaged: '{name}' is missing"


def _places(value, path=()):
    """All places of a document: ways of keys and positions."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _places(item, (*path, position))


HOSTILE = [None, -7, 2**40, 10**30, 1.5, "x", [], {}, [[1]], True]


@pytest.mark.parametrize("kind", ["tree", "rules"])
@settings(max_examples=100)
@given(data=st.data())
def test_no_change_of_a_file_does_harm(folder, good_text, rules_text, kind, data):
    """A changed file is refused, or still gives a model that can be used."""
    tmp_path = folder
    damaged = json.loads(good_text if kind == "tree" else rules_text)
    places = [place for place in _places(damaged) if place]
    place = data.draw(st.sampled_from(places))
    inner = damaged
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = data.draw(st.sampled_from(HOSTILE))
    try:
        model = load_document(damaged, tmp_path)
    except ModelFileError:
        return
    names = model.estimator.schema_.names
    rows = pd.DataFrame(np.ones((2, len(names))), columns=names)
    try:
        shares = model.estimator.predict_proba(
            rows if model.estimator.schema_.has_names else rows.to_numpy()
        )
    except (ValueError, TypeError):
        return  # a parameter such as n_jobs that the estimator itself refuses
    assert shares.shape == (2, len(model.estimator.classes_))
    assert export_rules(model.estimator)
