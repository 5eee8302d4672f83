"""Tables with nominal and ordinal columns as pipelines of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.datasets import load_play_tennis
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)
from tests.exchange.tables import make_table

SIZES = ["small", "medium", "large"]


def make_frame(n_rows=400, *, missing=0.0, seed=0, unknown=False):
    """A frame of numbers, strings, ordered and unordered categories."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": make_table(n_rows, seed=seed)[:, 0]})
    letters = list("pqrstuvw") + ["new"] * unknown
    frame["letter"] = rng.choice(letters, n_rows)
    size = pd.Categorical(rng.choice(SIZES, n_rows), categories=SIZES, ordered=True)
    frame["size"] = size
    frame["b"] = make_table(n_rows, seed=seed + 100)[:, 1]
    frame["code"] = pd.Categorical(rng.choice([7, 2, 30], n_rows))
    for name in frame:
        frame.loc[rng.random(n_rows) < missing, name] = None
    return frame


def make_target(frame, seed=0):
    """Values that depend on all columns."""
    letters = frame["letter"].map({"p": 2.0, "s": 3.0, "v": 2.5, "q": -1.0}).fillna(0)
    sizes = frame["size"].map({"large": 2.0}).astype(float).fillna(0)
    codes = frame["code"].map({2: 1.5}).astype(float).fillna(0)
    noise = np.random.default_rng(seed).normal(size=len(frame))
    numbers = frame["a"].fillna(1).to_numpy() + frame["b"].fillna(-1).to_numpy()
    return (numbers + letters + sizes + codes).to_numpy() + 0.3 * noise


def require_equal(model, X, atol=1e-13):
    """Compare predictions, importances and the sums of weights."""
    same = to_sklearn(model)
    assert isinstance(same, Pipeline)
    check_is_fitted(same)
    ours, theirs = model.predict(X), same.predict(X)
    if ours.dtype.kind == "f":
        assert_allclose(theirs, ours, rtol=0, atol=atol)
    else:
        assert_array_equal(theirs, ours)
        if not isinstance(model, AdaBoostClassifier):
            ours, theirs = model.predict_proba(X), same.predict_proba(X)
            assert_allclose(theirs, ours, rtol=0, atol=1e-13)
    if hasattr(same["model"], "feature_importances_"):
        own = model.feature_importances_
        assert_allclose(same["model"].feature_importances_, own, atol=1e-9)
    return same


@pytest.mark.parametrize("split", ["subset", "one_vs_rest", "multiway"])
@pytest.mark.parametrize("missing", ["learned", "branch"])
def test_cart(split, missing):
    X, new = make_frame(missing=0.1), make_frame(2000, missing=0.1, seed=1, unknown=1)
    y = make_target(X)
    parameters = {"categorical_split": split, "missing": missing, "max_depth": 6}
    require_equal(CARTRegressor(**parameters).fit(X, y), new)
    labels = np.array(["low", "high", "top"])[(y > 1).astype(int) + (y > 3)]
    same = require_equal(CARTClassifier(**parameters).fit(X, labels), new)
    tree = same["model"].tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    below = tree.weighted_n_node_samples[tree.children_left[inner]]
    below = below + tree.weighted_n_node_samples[tree.children_right[inner]]
    assert_allclose(below, tree.weighted_n_node_samples[inner], atol=1e-9)


@pytest.mark.parametrize("missing", ["branch", "learned", "error"])
def test_missing_values_that_training_did_not_have(missing):
    X = make_frame()
    model = CARTRegressor(missing=missing, max_depth=6).fit(X, make_target(X))
    new = make_frame(2000, missing=0.0 if missing == "error" else 0.2, seed=1)
    require_equal(model, new)


def test_branches_of_missing_numbers():
    X = pd.DataFrame(make_table(missing=0.2), columns=list("abcd"))
    y = (X["a"].fillna(3) > X["c"].fillna(-3)).to_numpy()
    model = CARTClassifier(missing="branch").fit(X, y)
    assert (model.tree_.nodes["n_children"] == 3).any()
    new = pd.DataFrame(make_table(5000, missing=0.2, seed=1), columns=list("abcd"))
    same = to_sklearn(model)
    assert_array_equal(same.predict(new), model.predict(new))
    ours, theirs = model.predict_proba(new), same.predict_proba(new)
    assert_allclose(theirs, ours, atol=1e-15)
    own = model.feature_importances_
    assert_allclose(same.feature_importances_, own, atol=1e-9)


@pytest.mark.parametrize("model", [ID3Classifier(), C45Classifier()])
def test_trees_by_gain(model):
    X = make_frame()
    y = make_target(X) > 1.5
    new = make_frame(2000, seed=1, unknown=True)
    require_equal(model.fit(X, y), new)
    X, y = load_play_tennis(return_X_y=True, as_frame=True)
    require_equal(clone(model).fit(X, y), X)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(8, max_depth=6, random_state=0),
        RandomForestClassifier(8, max_depth=6, random_state=0),
        BaggingClassifier(CARTClassifier(max_depth=6), n_estimators=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_ensembles(model):
    X, new = make_frame(missing=0.1), make_frame(2000, missing=0.1, seed=1, unknown=1)
    y = make_target(X)
    y = np.where(y > 1.5, "yes", "no") if hasattr(model, "predict_proba") else y
    require_equal(model.fit(X, y), new)


def test_boosting():
    X, new = make_frame(), make_frame(2000, seed=1, unknown=True)
    y = make_target(X)
    require_equal(GradientBoostingRegressor(n_estimators=10).fit(X, y), new)
    model = AdaBoostClassifier(n_estimators=10, random_state=0)
    require_equal(model.fit(X, y > 1.5), new)


def test_missing_strings_of_pandas():
    X = make_frame(missing=0.3)[["a", "letter"]]
    model = CARTRegressor(max_depth=5).fit(X, make_target(make_frame(missing=0.3)))
    same = require_equal(model, X)
    typed = X.astype({"letter": "string"})
    assert typed["letter"].isna().sum() > 50
    assert_array_equal(same.predict(typed), model.predict(X))
    require_equal(model.fit(typed, make_target(make_frame(missing=0.3))), X)


def test_a_table_without_names():
    X = make_frame(missing=0.1).astype(object).to_numpy()
    model = CARTRegressor(max_depth=5).fit(X, make_target(make_frame(missing=0.1)))
    require_equal(model, X)


def test_columns_in_another_order_and_pickles():
    X = make_frame()
    model = CARTRegressor(max_depth=5).fit(X, make_target(X))
    same = pickle.loads(pickle.dumps(to_sklearn(model)))
    assert_array_equal(same.predict(X[X.columns[::-1]]), model.predict(X))
    assert_array_equal(same[:-1].get_feature_names_out(), X.columns)
    with pytest.raises(ValueError, match="columns are missing"):
        same.predict(X.drop(columns="letter"))


def test_unknown_levels_that_are_errors():
    X = make_frame()
    model = CARTRegressor(handle_unknown="error", max_depth=2).fit(X, make_target(X))
    same = to_sklearn(model)
    new = make_frame(seed=1, unknown=True)
    with pytest.raises(ValueError, match="'new'"):
        same.predict(new)
    model = CARTRegressor(handle_unknown="fractional").fit(X, make_target(X))
    with pytest.raises(ValueError, match="unknown level of column"):
        to_sklearn(model)


def test_too_many_copies(monkeypatch):
    monkeypatch.setattr("sklearn_textbook.tree.exchange.expand.LARGEST_TREE", 50)
    X = make_frame()
    model = CARTRegressor().fit(X, make_target(X))
    with pytest.raises(ValueError, match=r"Node \d+ tests a set .*more than .* nodes"):
        to_sklearn(model)
