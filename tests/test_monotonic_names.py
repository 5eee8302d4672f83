"""Constraints by names of columns: the same as an array, wherever trees have them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

from sklearn_textbook import ensemble
from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
)

ESTIMATORS = [
    CARTClassifier(max_depth=4),
    CARTRegressor(max_depth=4, pruning=CostComplexityPruning(3)),
    ensemble.RandomForestClassifier(4, max_depth=4, random_state=0),
    ensemble.RandomForestRegressor(4, max_depth=4, random_state=0),
    ensemble.ExtraTreesClassifier(4, max_depth=4, random_state=0),
    ensemble.ExtraTreesRegressor(4, max_depth=4, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=4, random_state=0),
    ensemble.RandomSubspaceClassifier(CARTClassifier(), 4, random_state=0),
    ensemble.BaggingRegressor(
        CARTRegressor(), 4, max_features=2, bootstrap_features=True, random_state=0
    ),
]


def make_table(estimator):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = X["a"] - X["c"] ** 2 + rng.normal(size=200)
    return X, (y > 0).astype(int) if is_classifier(estimator) else y


def constrain(estimator, value):
    has_own = hasattr(estimator, "monotonic_cst")
    name = "monotonic_cst" if has_own else "estimator__monotonic_cst"
    return estimator.set_params(**{name: value})


def predict(estimator, X):
    return getattr(estimator, "predict_proba", estimator.predict)(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_dict_is_an_array(estimator, tmp_path):
    X, y = make_table(estimator)
    expected = predict(constrain(estimator, [1, 0, -1]).fit(X, y), X)
    free = predict(constrain(estimator, {"a": 0}).fit(X, y), X)
    assert not np.array_equal(free, expected)
    constrain(estimator, {"c": -1, "a": 1}).fit(X, y)
    np.testing.assert_array_equal(predict(estimator, X), expected)
    save_model(estimator, tmp_path / "model.json")
    np.testing.assert_array_equal(
        predict(load_model(tmp_path / "model.json"), X), expected
    )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_wrong_names_and_signs(estimator):
    X, y = make_table(estimator)
    with pytest.raises(ValueError, match=r"monotonic_cst contains 1 unexpected.*'x'"):
        constrain(estimator, {"a": 1, "x": 1}).fit(X, y)
    with pytest.raises(ValueError, match=r"monotonic_cst must be .*2 for column 'b'"):
        constrain(estimator, {"b": 2}).fit(X, y)
    with pytest.raises(ValueError, match=r"monotonic_cst.*no names"):
        constrain(estimator, {"a": 1}).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="monotonic_cst has shape 0"):
        constrain(estimator, []).fit(X, y)
    constrain(estimator, None)


def test_no_constraint_of_many_classes():
    X, _ = make_table(CARTClassifier())
    y = np.arange(len(X)) % 3
    boosting = ensemble.GradientBoostingClassifier(n_estimators=2)
    boosting.set_params(monotonic_cst={"a": 0}).fit(X, y)
    with pytest.raises(ValueError, match="multiclass"):
        boosting.set_params(monotonic_cst={"a": 1}).fit(X, y)
