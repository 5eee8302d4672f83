"""Models as sums over trees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BoostingTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ObliqueRandomForestClassifier,
    OutputFlippingClassifier,
    OutputSmearingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from sklearn_textbook.exchange.tree_sum import read_trees
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeRegressor,
)
from tests.exchange.test_levels import make_frame, make_target

SOME = {"n_estimators": 7, "random_state": 0}
MODELS = {
    "cart": CARTClassifier(missing="surrogate", max_depth=5),
    "c45": C45Classifier(handle_unknown="fractional"),
    "id3": ID3Classifier(missing="fractional"),
    "laplace": C45Classifier(laplace=True),
    "values": CARTRegressor(missing="branch", max_depth=5),
    "oblique": ObliqueTreeRegressor(max_depth=3),
    "forest": RandomForestClassifier(**SOME),
    "votes": RandomForestClassifier(**SOME, voting="hard"),
    "forest of values": RandomForestRegressor(**SOME),
    "extra": ExtraTreesRegressor(**SOME, missing="learned"),
    "oblique forest": ObliqueRandomForestClassifier(**SOME),
    "bagging": BaggingClassifier(C45Classifier(), **SOME),
    "bagging of values": BaggingRegressor(**SOME),
    "bagging votes": BaggingClassifier(
        CARTClassifier(max_depth=3), **SOME, voting="hard"
    ),
    "subspace": RandomSubspaceClassifier(**SOME),
    "subspace of values": RandomSubspaceRegressor(
        CARTRegressor(missing="surrogate"), **SOME
    ),
    "flipping": OutputFlippingClassifier(**SOME),
    "smearing": OutputSmearingClassifier(**SOME),
    "adaboost": AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=7),
    "boosting": GradientBoostingClassifier(n_estimators=7),
    "exponential": GradientBoostingClassifier(n_estimators=7, loss="exponential"),
    "boosting of values": GradientBoostingRegressor(n_estimators=7),
    "poisson": GradientBoostingRegressor(n_estimators=7, loss="poisson"),
    "boosting tree": BoostingTreeRegressor(n_estimators=7),
}


def fit(name, n_classes=3):
    frame = make_frame(missing=0.1)
    y = make_target(frame)
    model = MODELS[name]
    if hasattr(model, "predict_proba"):
        n_classes = 2 if name == "exponential" else n_classes
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    elif name == "poisson":
        y = np.abs(y)
    return model.fit(frame, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_predictions(name, n_classes):
    model = fit(name, n_classes)
    new = make_frame(missing=0.2, seed=1, unknown=True)
    trees = read_trees(model)
    scores = trees.compute_scores(trees.read(new), n_threads=2)
    expected = model.predict(new)
    if trees.is_classifier:
        assert len(trees.classes[0]) == n_classes or name == "exponential"
        expected = model.predict_proba(new)
    found = trees.to_predictions(scores)
    if trees.is_vote:
        # Rows that are divided vote once, for the class of the largest mean.
        found, expected = (p[~new.isna().any(axis=1)] for p in (found, expected))
    assert_allclose(found, expected.reshape(len(expected), -1), atol=1e-12)
    assert trees.feature_names == list(new)


def test_several_outputs():
    frame = make_frame(missing=0.1)
    y = make_target(frame)
    both = np.stack([y > 0, np.digitize(y, [-1, 1])], axis=1)
    model = RandomForestClassifier(**SOME).fit(frame, both)
    trees = read_trees(model)
    found = trees.to_predictions(trees.compute_scores(trees.read(frame)))
    first, second = model.predict_proba(frame)
    assert trees.n_outputs == 2
    assert_allclose(found.reshape(-1, 2, 3)[:, 0, :2], first)
    assert_allclose(found.reshape(-1, 2, 3)[:, 1], second)


def test_errors():
    frame = make_frame()
    y = make_target(frame)
    with pytest.raises(NotFittedError):
        read_trees(CARTClassifier())
    with pytest.raises(TypeError, match="got LinearRegression"):
        read_trees(LinearRegression().fit(frame[["a"]], y))
    with pytest.raises(TypeError, match="got CARTClassifier"):
        read_trees(CARTClassifier)
    bagging = BaggingClassifier(LogisticRegression(), **SOME).fit(frame[["a"]], y > 0)
    with pytest.raises(TypeError, match="LogisticRegression"):
        read_trees(bagging)
    boosting = GradientBoostingRegressor(n_estimators=2, init=LinearRegression())
    with pytest.raises(ValueError, match="init="):
        read_trees(boosting.fit(frame[["a"]], y))
