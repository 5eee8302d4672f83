"""Models for shap: values that add up to the scores, or an error."""

import functools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BoostingTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ObliqueRandomForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from sklearn_textbook.exchange import read_trees, to_shap, to_sklearn
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)
from tests.exchange.tables import make_labels, make_table, make_values
from tests.exchange.test_levels import make_frame, make_target

SOME = {"n_estimators": 4, "random_state": 0}
MODELS = {
    "tree": CARTClassifier(max_depth=5),
    "values": CARTRegressor(missing="branch", max_depth=5),
    "forest": RandomForestClassifier(**SOME, max_depth=6),
    "votes": RandomForestClassifier(**SOME, max_depth=4, voting="hard"),
    "forest of values": RandomForestRegressor(**SOME, max_depth=6),
    "extra": ExtraTreesRegressor(**SOME, max_depth=6),
    "bagging": BaggingClassifier(CARTClassifier(max_depth=5), **SOME),
    "subspace": RandomSubspaceRegressor(**SOME),
    "adaboost": AdaBoostClassifier(n_estimators=5),
    "boosting": GradientBoostingClassifier(n_estimators=5),
    "boosting of values": GradientBoostingRegressor(n_estimators=5),
    "poisson": GradientBoostingRegressor(n_estimators=5, loss="poisson"),
    "boosting tree": BoostingTreeRegressor(n_estimators=5),
}


@functools.cache
def fit(name, n_classes=3):
    frame = make_frame(missing=0.1)
    y = make_target(frame)
    model = clone(MODELS[name])
    if is_classifier(model):
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    return model.fit(frame, np.abs(y) if name == "poisson" else y)


def explain(trees, matrix):
    """Shapley values and the expected scores; (n_rows, n_features, n_scores)."""
    shap = pytest.importorskip("shap")
    explainer = shap.TreeExplainer(trees)
    values = np.asarray(explainer.shap_values(matrix))
    if values.ndim == 2:
        values = values[:, :, np.newaxis]
    return values, np.atleast_1d(explainer.expected_value)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_values_add_up_to_scores(name, n_classes):
    model = fit(name, n_classes)
    total = read_trees(model)
    new = make_frame(300, missing=0.2, seed=1, unknown=True)
    matrix = np.asarray(total.read(new), dtype=np.float64)
    values, expected = explain(to_shap(model), matrix)
    scores = total.compute_scores(matrix)
    assert_allclose(values.sum(axis=1) + expected, scores, atol=1e-9)
    assert np.abs(values).max() > 0.01


def test_predictions_of_many_rows():
    """Also of values next to thresholds, which single precision would mix up."""
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    model = CARTRegressor().fit(X, X[:, 0] + np.round(X[:, 1], 1))
    trees = to_shap(model)
    thresholds = trees["trees"][0]["thresholds"]
    inner = trees["trees"][0]["features"] == 0
    near = np.unique(thresholds[inner])
    new = rng.normal(size=(10_000, 3))
    new[: len(near), 0] = near
    new[len(near) : 2 * len(near), 0] = np.nextafter(near, np.inf)
    new[rng.random(new.shape) < 0.05] = np.nan
    explainer = shap.TreeExplainer(trees)
    assert_allclose(explainer.model.predict(new).ravel(), model.predict(new), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        CARTClassifier(max_depth=4),
        CARTRegressor(max_depth=4),
        RandomForestClassifier(**SOME),
        RandomForestRegressor(**SOME),
        GradientBoostingRegressor(n_estimators=5),
        GradientBoostingClassifier(n_estimators=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_same_as_models_of_scikit_learn(model):
    shap = pytest.importorskip("shap")
    X, new = make_table(missing=0.1), make_table(100, missing=0.1, seed=1)
    if isinstance(model, GradientBoostingClassifier | GradientBoostingRegressor):
        X, new = make_table(), make_table(100, seed=1)
    y = make_labels(X) == "no" if is_classifier(model) else make_values(X)
    model.fit(X, y)
    values, expected = explain(to_shap(model), new.astype(np.float64))
    other = shap.TreeExplainer(to_sklearn(model))
    theirs = np.asarray(other.shap_values(new, check_additivity=False))
    theirs = theirs.reshape(values.shape)
    assert_allclose(values, theirs, atol=1e-8)
    assert_allclose(expected, np.ravel(other.expected_value), atol=1e-8)


def test_probabilities_and_losses():
    shap = pytest.importorskip("shap")
    X = make_table().astype(np.float64)
    y = make_labels(X) == "no"
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    trees = to_shap(model)
    assert (trees["tree_output"], trees["objective"]) == (
        "log_odds",
        "binary_crossentropy",
    )
    explainer = shap.TreeExplainer(trees, X[:50], model_output="probability")
    total = explainer.shap_values(X[:20]).sum(axis=1) + explainer.expected_value
    assert_allclose(total, model.predict_proba(X[:20])[:, 1], atol=1e-9)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (C45Classifier(), r"Node 0 divides rows with a missing value of column 'a'"),
        (ID3Classifier(handle_unknown="fractional"), "divides rows with an unknown"),
        (ObliqueRandomForestClassifier(**SOME), "tests a sum of columns"),
        (RandomForestClassifier(**SOME, missing="surrogate"), "surrogate splits"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_shap_has_no_equivalent_of(model, words):
    frame = make_frame(missing=0.1)
    frame["b"] = frame["a"].where(frame.index % 7 > 0, frame["b"])
    model.fit(frame[["a", "letter", "b"]], make_target(frame) > 1)
    with pytest.raises(ValueError, match=words) as caught:
        to_shap(model)
    assert "which a tree of shap does not support" in str(caught.value)
    assert "inspection.shap_values" in str(caught.value)


def test_columns_without_missing_values_of_subspaces():
    """A member knows of missing values in its own columns only."""
    frame = pd.DataFrame(make_table(), columns=list("abcd"))
    y = make_labels(frame.to_numpy())
    model = BaggingClassifier(C45Classifier(), **SOME, max_features=0.5).fit(frame, y)
    total = read_trees(model)
    matrix = total.read(frame).astype(np.float64)[:100]
    values, expected = explain(to_shap(model), matrix)
    scores = total.compute_scores(matrix)
    assert_allclose(values.sum(axis=1) + expected, scores, atol=1e-9)
    frame.loc[::9, "b"] = np.nan
    with pytest.raises(ValueError, match="missing value of column 'b'"):
        to_shap(model.fit(frame, y))
