"""Ensembles of estimators of any kind in model files."""

import json

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB

from sklearn_textbook.ensemble import (
    AveragingRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    MultiResponseLinearRegression,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn_textbook.io import ModelFileError, load_model, read_model, save_model
from sklearn_textbook.io.model_schema import make_model_schema
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor
from tests.io.test_fitted_model_file import FRAME, LABELS, NUMBERS, TWO, VALUES

CLASSIFIERS = [
    ("c45", C45Classifier()),
    ("logistic", LogisticRegression(C=1.0)),
    ("none", "drop"),
    ("forest", RandomForestClassifier(2, random_state=0)),
]
REGRESSORS = [("tree", CARTRegressor(max_depth=2)), ("line", LinearRegression())]
RANDOM = np.random.RandomState(0)
FITTED = [("c45", C45Classifier().fit(FRAME, LABELS))]
CASES = {
    "voting": (VotingClassifier(CLASSIFIERS, rule="majority"), LABELS),
    "soft voting": (VotingClassifier(CLASSIFIERS, voting="soft", rule="min"), TWO),
    "rejecting": (
        VotingClassifier(CLASSIFIERS, rule="unanimity", reject_label="?"),
        LABELS,
    ),
    "fitted": (VotingClassifier(FITTED, prefit=True, voting="soft"), LABELS),
    "nested": (
        VotingClassifier([("inner", VotingClassifier(CLASSIFIERS[:2]))]),
        LABELS,
    ),
    "averaging": (AveragingRegressor(REGRESSORS, weights="non_negative"), VALUES),
    "stacking": (StackingClassifier(CLASSIFIERS, cv=2), LABELS),
    "stacking, two": (StackingClassifier(CLASSIFIERS, cv=2, passthrough=True), TWO),
    "stacking, class": (
        StackingClassifier(
            CLASSIFIERS, MultiResponseLinearRegression(inputs="class"), cv=2
        ),
        LABELS,
    ),
    "stacking, tree": (StackingClassifier(CLASSIFIERS, C45Classifier(), cv=2), TWO),
    "stacking, fitted": (StackingClassifier(FITTED, cv="prefit"), LABELS),
    "stacking, values": (StackingRegressor(REGRESSORS, passthrough=True), VALUES),
    "model averaging": (
        BayesianModelAveragingClassifier(CLASSIFIERS, weighting="pseudo_bma_plus"),
        LABELS,
    ),
    "model averaging, values": (
        BayesianModelAveragingRegressor(REGRESSORS, weighting="bic", prior=[1, 3]),
        VALUES,
    ),
    "multi-response": (MultiResponseLinearRegression(alpha=0.1), LABELS),
    "multi-response, two": (MultiResponseLinearRegression(positive=True), TWO),
}
METHODS = (
    *("predict", "predict_proba", "decision_function", "rejected", "vote_fractions"),
    *("transform", "get_feature_names_out"),
)
#: What is made of the training rows.
NOT_KEPT = {
    "secondary_table_",
    "held_out_predictions_",
    "held_out_log_densities_",
}


def assert_same(loaded, model, X):
    for method in METHODS:
        assert hasattr(loaded, method) == hasattr(model, method), method
        if not hasattr(model, method):
            continue
        table = () if method.startswith("get") else (X,)
        expected = getattr(model, method)(*table)
        found = getattr(loaded, method)(*table)
        if hasattr(expected, "equals"):  # a frame
            assert found.equals(expected)
        else:
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
    if hasattr(model, "summary"):
        assert loaded.summary() == model.summary()
    assert vars(loaded).keys() == vars(model).keys() - NOT_KEPT
    parameters = model.get_params(deep=False)
    for name in {"estimators", "final_estimator", "n_jobs"} & parameters.keys():
        del parameters[name]
    assert loaded.get_params().items() >= parameters.items()


@pytest.mark.parametrize("name", CASES)
def test_models_are_the_same(tmp_path, name):
    model, y = clone(CASES[name][0]), CASES[name][1]
    if name.endswith("fitted"):
        model.set_params(estimators=FITTED)
    model.fit(FRAME, y)
    save_model(model, tmp_path / "first.json", target="y")
    read = read_model(tmp_path / "first.json")
    assert read.target == "y"
    assert read.schema.names == tuple(FRAME)
    assert_same(read.estimator, model, FRAME)
    save_model(read.estimator, tmp_path / "second.json", target="y")
    first, second = ((tmp_path / f"{n}.json").read_bytes() for n in ("first", "second"))
    assert first == second
    # The estimators of the list can be fitted again.
    again = clone(read.estimator)
    if not name.endswith("fitted"):
        assert_same_predictions(again.fit(FRAME, y), model)


def assert_same_predictions(one, other):
    method = "predict_proba" if hasattr(other, "predict_proba") else "predict"
    expected = getattr(other, method)(FRAME)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(getattr(one, method)(FRAME), expected)
    else:
        assert (getattr(one, method)(FRAME) == expected).all()


@pytest.mark.parametrize("name", CASES)
def test_files_are_valid(tmp_path, name):
    jsonschema = pytest.importorskip("jsonschema")
    model, y = CASES[name]
    model = model.fit(FRAME, y)
    save_model(model, tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(make_model_schema()).validate(document)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            VotingClassifier([("c", C45Classifier()), ("bayes", GaussianNB())]),
            "its member 'bayes' is a GaussianNB, which a model file cannot contain",
        ),
        (
            VotingClassifier(
                [("forest", RandomForestClassifier(2, random_state=RANDOM))]
            ),
            "its member 'forest': parameter random_state has type",
        ),
        (
            StackingClassifier([("c", C45Classifier())], GaussianNB()),
            "its member 'final_estimator_' is a GaussianNB",
        ),
        (
            VotingClassifier([("c", C45Classifier())], calibration="sigmoid"),
            "its member 'c' is a CalibratedClassifierCV",
        ),
    ],
)
def test_what_cannot_be_saved(tmp_path, model, message):
    with pytest.raises(ModelFileError, match=message):
        save_model(model.fit(NUMBERS, LABELS), tmp_path / "model.json")


def damage(document, **changes):
    return {**document, **changes}


def change_member(document, number, **changes):
    members = document["members"]
    model = {**members[number]["model"], **changes}
    changed = {**members[number], "model": model}
    return damage(
        document, members=[*members[:number], changed, *members[number + 1 :]]
    )


DAMAGES = {
    "no members": (
        "voting",
        lambda d: damage(d, members=[]),
        "members must be a non-empty list",
    ),
    "one left out": (
        "stacking",
        lambda d: damage(d, members=d["members"][1:]),
        "the final estimator does not match",
    ),
    "no second learner": (
        "stacking",
        lambda d: damage(
            d, members=[*d["members"][:-1], {"name": "final_estimator_", "model": None}]
        ),
        "the final estimator is missing",
    ),
    "name": (
        "voting",
        lambda d: damage(d, members=[{**d["members"][0], "name": 3}]),
        "names of members must be text",
    ),
    "names": (
        "voting",
        lambda d: damage(d, members=[d["members"][0]] * 2),
        "Names provided are not unique",
    ),
    "all dropped": (
        "voting",
        lambda d: damage(d, members=[{"name": "a", "model": None}]),
        "All estimators are dropped",
    ),
    "member": (
        "voting",
        lambda d: change_member(d, 0, estimator="os.system"),
        "unknown estimator 'os.system'",
    ),
    "parameter": (
        "voting",
        lambda d: damage(d, parameters={**d["parameters"], "estimators": []}),
        "VotingClassifier has no parameter 'estimators'",
    ),
    "rule": (
        "voting",
        lambda d: damage(d, parameters={**d["parameters"], "rule": "mean"}),
        "'rule' parameter must be one of",
    ),
    "classes": (
        "voting",
        lambda d: damage(d, classes=[{"dtype": "int64", "values": [0, 1]}]),
        "the classes of the C45Classifier differ from those of the VotingClassifier",
    ),
    "classes of values": (
        "averaging",
        lambda d: damage(d, classes=[{"dtype": "int64", "values": [0, 1]}]),
        "the classes do not match a AveragingRegressor",
    ),
    "weights": (
        "averaging",
        lambda d: damage(d, kept={"weights_": [1.0]}),
        "weights_ do not match the members",
    ),
    "columns": (
        "averaging",
        lambda d: damage(d, columns={"has_names": True, "columns": []}),
        "the columns do not match those of the members",
    ),
    "calibrated": (
        "voting",
        lambda d: damage(d, parameters={**d["parameters"], "calibration": "sigmoid"}),
        "a model file cannot contain calibrated members",
    ),
    "deviations": (
        "model averaging, values",
        lambda d: damage(d, kept={**d["kept"], "standard_deviations_": [1.0]}),
        "standard_deviations_ must be",
    ),
    "regressions": (
        "multi-response",
        lambda d: damage(d, members=d["members"][1:]),
        "the regressions do not match the classes",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files(tmp_path, name):
    case, change, message = DAMAGES[name]
    model, y = CASES[case]
    path = tmp_path / "model.json"
    save_model(clone(model).fit(FRAME, y), path)
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), "utf-8")
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


def test_members_of_other_columns(tmp_path):
    path = tmp_path / "model.json"
    documents = []
    for X in (NUMBERS, NUMBERS[["x", "count"]]):
        model = VotingClassifier(
            [("a", CARTClassifier(max_depth=1)), ("b", C45Classifier())]
        )
        save_model(model.fit(X, LABELS), path)
        documents.append(json.loads(path.read_text("utf-8")))
    assert is_classifier(model)
    one, other = (document["members"] for document in documents)
    path.write_text(json.dumps({**documents[0], "members": [one[0], other[1]]}))
    with pytest.raises(
        ModelFileError, match="the members do not have the same columns"
    ):
        load_model(path)
