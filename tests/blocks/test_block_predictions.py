"""Predictions and scores for a table read in blocks are those of the rows in memory."""

import gc
import tempfile

import numpy as np
import pytest
from sklearn.base import is_classifier

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    AveragingRegressor,
    BaggingClassifier,
    BoostingTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ObliqueRandomForestRegressor,
    OutputCodeClassifier,
    OutputFlippingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from sklearn_textbook.io import Batches
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
)
from tests.blocks.tables import cut, draw_table, list_features

TABLE = draw_table(2000)
NAMES = list_features(TABLE)
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
STAGED = ("staged_predict", "staged_predict_proba", "staged_decision_function")
MODELS = (
    CARTClassifier(max_depth=5),
    CARTRegressor(max_depth=5),
    C45Classifier(max_depth=4),
    ObliqueTreeClassifier(max_depth=3),
    RandomForestClassifier(5),
    RandomForestRegressor(5),
    ObliqueRandomForestRegressor(3, max_depth=4),
    GradientBoostingClassifier(n_estimators=3),
    GradientBoostingRegressor(n_estimators=3),
    AdaBoostClassifier(n_estimators=3),
    BoostingTreeRegressor(3),
    BaggingClassifier(n_estimators=3),
    RandomSubspaceRegressor(n_estimators=3),
    OutputCodeClassifier(),
    OutputFlippingClassifier(n_estimators=3),
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_they_are_those_of_memory(model, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    target = "class" if is_classifier(model) else "value"
    X, y = TABLE.select(NAMES), TABLE[target].to_numpy(zero_copy_only=False)
    weight = TABLE["w"].to_numpy()
    model.fit(X, y)
    source = cut(TABLE, 700)
    methods = [name for name in (*METHODS, "apply") if hasattr(model, name)]
    for method in methods:
        found = getattr(model, method)(source)
        np.testing.assert_array_equal(found, getattr(model, method)(X))
    for method in [name for name in STAGED if hasattr(model, name)]:
        stages = getattr(model, method)(source)
        for found, expected in zip(stages, getattr(model, method)(X), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert model.score(source, target) == model.score(X, y)
    assert model.score(source, target, sample_weight="w") == model.score(X, y, weight)
    assert model.score(source, y) == model.score(X, y)
    # The files of a source are gone with the array that maps them.
    gc.collect()
    assert [*tmp_path.iterdir()] == []


def test_errors_of_scores():
    model = CARTRegressor(max_depth=2).fit(TABLE.select(["x2"]), TABLE["value"])
    with pytest.raises(ValueError, match="y has 'no', which is not a column of"):
        model.score(cut(TABLE, 700), "no")
    with pytest.raises(ValueError, match="sample_weight has 'no', which is not a"):
        model.score(cut(TABLE, 700), "value", sample_weight="no")
    with pytest.raises(ValueError, match="the table of Batches has no rows"):
        model.score(Batches(lambda: iter(()), ["x2", "value"]), "value")
    members = [("tree", CARTRegressor(max_depth=2))]
    average = AveragingRegressor(members).fit(TABLE.select(["x2"]), TABLE["value"])
    with pytest.raises(TypeError, match="write predictions with io.predict_to"):
        average.score(cut(TABLE, 700), "value")
