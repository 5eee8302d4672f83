"""Programs that read models of scikit-learn, where they are installed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BoostingTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.exchange.tables import make_labels, make_table, make_values
from tests.exchange.test_levels import make_frame, make_target

NEW = make_table(1000, seed=1)


def fit_model(model):
    X = make_table()
    is_classifier = hasattr(model, "predict_proba")
    y = (make_labels(X) == "no").astype(int) if is_classifier else make_values(X)
    return model.fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        CARTRegressor(max_depth=5),
        RandomForestRegressor(5, random_state=0),
        GradientBoostingRegressor(n_estimators=10),
        GradientBoostingClassifier(n_estimators=10),
        RandomForestClassifier(5, random_state=0),
        CARTClassifier(),
        ExtraTreesRegressor(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_shap(model):
    """Shapley values add up to the prediction, or to the score before the link."""
    shap = pytest.importorskip("shap")
    model = fit_model(model)
    explainer = shap.TreeExplainer(to_sklearn(model))
    values = np.asarray(explainer.shap_values(NEW[:50], check_additivity=False))
    total = values.sum(axis=1) + explainer.expected_value
    expected = model.predict(NEW[:50])
    if hasattr(model, "predict_proba"):
        expected = model.predict_proba(NEW[:50])
    if isinstance(model, GradientBoostingClassifier):
        expected = model.decision_function(NEW[:50])
    assert_allclose(total, expected, atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        CARTClassifier(),
        RandomForestClassifier(5, random_state=0),
        BaggingClassifier(n_estimators=5, max_features=0.5, random_state=0),
        AdaBoostClassifier(n_estimators=5, random_state=0),
        GradientBoostingClassifier(n_estimators=10),
        RandomForestRegressor(5, random_state=0),
        CARTRegressor(),
        ExtraTreesClassifier(5, random_state=0),
        ExtraTreesRegressor(5, random_state=0),
        BaggingRegressor(n_estimators=5, random_state=0),
        GradientBoostingRegressor(n_estimators=10),
        BoostingTreeRegressor(n_estimators=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_onnx(model):
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model = fit_model(model)
    options = {"zipmap": False} if hasattr(model, "predict_proba") else None
    onnx = skl2onnx.to_onnx(to_sklearn(model), NEW[:1], options=options)
    session = onnxruntime.InferenceSession(onnx.SerializeToString())
    outputs = session.run(None, {"X": NEW})
    if hasattr(model, "predict_proba"):
        assert_array_equal(outputs[0], model.predict(NEW))
        if not isinstance(model, AdaBoostClassifier):
            assert_allclose(outputs[1], model.predict_proba(NEW), atol=1e-5)
    else:
        assert_allclose(outputs[0][:, 0], model.predict(NEW), atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(5, random_state=0),
        RandomForestClassifier(5, random_state=0),
        GradientBoostingRegressor(n_estimators=10),
        GradientBoostingClassifier(n_estimators=10),
        ExtraTreesRegressor(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0),
        BoostingTreeRegressor(n_estimators=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_treelite(model):
    treelite = pytest.importorskip("treelite")
    model = fit_model(model)
    known = treelite.sklearn.import_model(to_sklearn(model))
    predicted = np.asarray(treelite.gtil.predict(known, NEW)).reshape(len(NEW), -1)
    if not hasattr(model, "predict_proba"):
        assert_allclose(predicted[:, 0], model.predict(NEW), atol=1e-5)
    else:
        assert_allclose(predicted[:, -1], model.predict_proba(NEW)[:, 1], atol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_shap_of_levels(missing):
    """Leaves of levels that were not seen in training must not stop it."""
    shap = pytest.importorskip("shap")
    X = make_frame(missing=missing)
    model = RandomForestRegressor(5, max_depth=6, random_state=0)
    same = to_sklearn(model.fit(X, make_target(X)))
    matrix = np.asarray(same[:-1].transform(X), dtype=np.float32)[:50]
    explainer = shap.TreeExplainer(same["model"])
    total = explainer.shap_values(matrix).sum(axis=1) + explainer.expected_value
    assert_allclose(total, model.predict(X)[:50], atol=1e-5)


def test_onnx_of_levels():
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    types = skl2onnx.common.data_types
    X = make_frame()[["a", "letter"]]
    model = CARTRegressor(max_depth=5).fit(X, make_target(make_frame()))
    inputs = [
        ("a", types.FloatTensorType([None, 1])),
        ("letter", types.StringTensorType([None, 1])),
    ]
    onnx = skl2onnx.to_onnx(to_sklearn(model), initial_types=inputs)
    session = onnxruntime.InferenceSession(onnx.SerializeToString())
    new = make_frame(1000, seed=1, unknown=True)[["a", "letter"]]
    given = {"a": new[["a"]].to_numpy(), "letter": new[["letter"]].to_numpy(object)}
    given["a"] = given["a"].astype(np.float32)
    (predicted,) = session.run(None, given)
    assert_allclose(predicted[:, 0], model.predict(new), atol=1e-5)


@pytest.mark.parametrize(
    "model", [CARTClassifier(max_depth=3), CARTRegressor(max_depth=3)]
)
def test_dtreeviz(model):
    dtreeviz = pytest.importorskip("dtreeviz")
    model = fit_model(model)
    X = make_table()
    is_class = hasattr(model, "predict_proba")
    y = (make_labels(X) == "no").astype(int) if is_class else make_values(X)
    view = dtreeviz.model(
        to_sklearn(model),
        X_train=X,
        y_train=y,
        feature_names=list("abcd"),
        target_name="y",
        class_names=["no", "yes"] if is_class else None,
    )
    assert len(view.shadow_tree.leaves) == model.get_n_leaves()
    assert any(name in view.explain_prediction_path(NEW[0]) for name in "abcd")


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(5, random_state=0),
        ExtraTreesRegressor(5, random_state=0),
        CARTRegressor(max_depth=5),
        RandomForestClassifier(5, random_state=0),
        CARTClassifier(max_depth=5),
        GradientBoostingRegressor(n_estimators=5, init="zero"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_eli5(model):
    """The parts of a prediction add up to it; weights are the importances."""
    eli5 = pytest.importorskip("eli5")
    model = fit_model(model)
    same = to_sklearn(model)
    explained = eli5.explain_prediction(same, NEW[0])
    parts = [
        sum(w.weight for w in [*part.feature_weights.pos, *part.feature_weights.neg])
        for part in explained.targets
    ]
    expected = model.predict(NEW[:1])
    if hasattr(model, "predict_proba"):
        # Of two classes, that which is predicted.
        expected = model.predict_proba(NEW[:1]).max(axis=1)
    assert_allclose(parts, expected, atol=1e-9)
    weights = eli5.explain_weights(same).feature_importances.importances
    importances = sorted(weight.weight for weight in weights)
    assert_allclose(importances, np.sort(model.feature_importances_), atol=1e-9)


@pytest.mark.parametrize(
    "model", [CARTRegressor(max_depth=3), CARTClassifier(max_depth=3)]
)
def test_supertree(model, tmp_path):
    supertree = pytest.importorskip("supertree")
    X = make_table()
    model = fit_model(model)
    is_class = hasattr(model, "predict_proba")
    y = (make_labels(X) == "no").astype(int) if is_class else make_values(X)
    targets = ["no", "yes"] if is_class else "y"
    view = supertree.SuperTree(to_sklearn(model), X, y, list("abcd"), targets)
    view.save_json_tree(str(tmp_path / "tree"))
    (written,) = tmp_path.iterdir()
    assert written.read_text().count('"threshold"') >= model.tree_.node_count // 2


@pytest.mark.parametrize(
    "model",
    [RandomForestRegressor(5, random_state=0), ExtraTreesRegressor(5, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_treelite_with_missing_values(model):
    treelite = pytest.importorskip("treelite")
    X, new = make_table(missing=0.1), make_table(1000, missing=0.1, seed=1)
    model.fit(X, make_values(X))
    known = treelite.sklearn.import_model(to_sklearn(model))
    predicted = np.asarray(treelite.gtil.predict(known, new)).ravel()
    assert_allclose(predicted, model.predict(new), atol=1e-5)
