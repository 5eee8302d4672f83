"""Ensembles as those of scikit-learn: equal predictions, or an error."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BoostingTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ObliqueRandomForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.tree import C45Classifier, CARTClassifier
from tests.exchange.tables import make_labels, make_table, make_values

N_NEW = 10_000
AVERAGED = [
    RandomForestClassifier(n_estimators=40, oob_score=True, class_weight="balanced"),
    RandomForestRegressor(n_estimators=15, max_features=0.5),
    ExtraTreesClassifier(n_estimators=15),
    ExtraTreesRegressor(n_estimators=15, bootstrap=True, max_samples=0.5),
    BaggingClassifier(n_estimators=8, max_features=0.5),
    BaggingRegressor(n_estimators=8, bootstrap_features=True),
    RandomSubspaceClassifier(n_estimators=8),
    RandomSubspaceRegressor(n_estimators=8),
]


def fit_model(model, X, **parameters):
    """Fit to classes or to values."""
    is_classifier = hasattr(model, "predict_proba")
    y = make_labels(X) if is_classifier else make_values(X)
    return clone(model).set_params(random_state=0, **parameters).fit(X, y)


def require_equal(model, X, *, same_probabilities=True):
    """Compare predictions for new rows."""
    same = to_sklearn(model)
    ours, theirs = model.predict(X), same.predict(X)
    if ours.dtype.kind == "f":
        assert_allclose(theirs, ours, rtol=1e-13, atol=1e-13)
    else:
        assert_array_equal(theirs, ours)
    if same_probabilities and hasattr(model, "predict_proba"):
        several = isinstance(model.classes_, list)
        for own, other in zip(
            model.predict_proba(X) if several else [model.predict_proba(X)],
            same.predict_proba(X) if several else [same.predict_proba(X)],
            strict=True,
        ):
            assert_allclose(other, own, rtol=0, atol=1e-14)
    if hasattr(same, "apply"):
        shape = (len(X), -1)
        assert_array_equal(same.apply(X).reshape(shape), model.apply(X).reshape(shape))
    if hasattr(same, "feature_importances_"):
        own = model.feature_importances_
        assert_allclose(same.feature_importances_, own, atol=1e-12)
    return same


@pytest.mark.parametrize("model", AVERAGED, ids=lambda model: type(model).__name__)
def test_means_with_missing_values(model):
    fitted = fit_model(model, make_table(missing=0.1))
    same = require_equal(fitted, make_table(N_NEW, missing=0.1, seed=1))
    name = type(model).__name__.replace("RandomSubspace", "Bagging")
    assert type(same) is getattr(sklearn.ensemble, name)
    assert len(same.estimators_) == same.n_estimators
    if hasattr(fitted, "oob_score_"):
        assert same.oob_score_ == fitted.oob_score_
    # As a user would go on: kept in a file, and fitted again.
    X = make_table()
    again = pickle.loads(pickle.dumps(same))
    assert_array_equal(again.predict(X), same.predict(X))
    y = make_labels(X) if hasattr(model, "predict_proba") else make_values(X)
    assert len(clone(same).fit(X, y).estimators_) == same.n_estimators


def test_several_outputs():
    X = make_table(missing=0.1)
    new = make_table(N_NEW, missing=0.1, seed=1)
    labels, values = make_labels(X), make_values(X)
    both = np.stack([labels, np.where(values > 0, "x", "a longer label")], axis=1)
    forest = RandomForestClassifier(n_estimators=8, random_state=0).fit(X, both)
    assert [len(classes) for classes in require_equal(forest, new).classes_] == [3, 2]
    values = np.stack([values, -(values**2)], 1)
    for model in (RandomForestRegressor(8), BaggingRegressor(n_estimators=8)):
        require_equal(model.set_params(random_state=0).fit(X, values), new)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_estimators=8, criterion="gain_ratio"),
        BaggingClassifier(C45Classifier(laplace=True), n_estimators=5),
    ],
)
def test_members_of_c45(model):
    same = require_equal(fit_model(model, make_table()), make_table(N_NEW, seed=1))
    assert same.estimators_[0].criterion == "entropy"
    X = make_table(missing=0.1)
    with pytest.raises(ValueError, match="divides rows with a missing value"):
        to_sklearn(fit_model(model, X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", [None, CARTClassifier(max_depth=3)])
def test_adaboost(n_classes, estimator):
    X, new = make_table(), make_table(N_NEW, seed=1)
    y = make_labels(X)
    y = y if n_classes == 3 else y == "no"
    model = AdaBoostClassifier(estimator, n_estimators=20, random_state=0).fit(X, y)
    same = require_equal(model, new, same_probabilities=False)
    scores = model.decision_function(new) / model.estimator_weights_.sum()
    # Scikit-learn doubles the scores of two classes.
    scores *= 2.0 if n_classes == 2 else 1.0
    assert_allclose(same.decision_function(new), scores, atol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        same.predict(make_table(10, missing=0.5))


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "three classes"])
@pytest.mark.parametrize("init", [None, "zero"])
def test_gradient_boosting_of_classes(loss, init):
    X, new = make_table(), make_table(N_NEW, seed=1)
    y = make_labels(X)
    if loss == "three classes":
        loss = "log_loss"
    else:
        y = np.where(y == "no", y, "yes")
    model = GradientBoostingClassifier(
        loss=loss, init=init, n_estimators=10, learning_rate=0.3, subsample=0.7
    )
    model.set_params(random_state=0).fit(X, y)
    same = require_equal(model, new)
    assert_allclose(
        same.decision_function(new), model.decision_function(new), atol=1e-12
    )
    for own, other in zip(
        model.staged_predict(new), same.staged_predict(new), strict=True
    ):
        assert_array_equal(own, other)
    assert_array_equal(same.train_score_, model.train_score_)
    with pytest.raises(ValueError, match="NaN"):
        same.predict(make_table(10, missing=0.5))


@pytest.mark.parametrize("init", [None, "zero"])
@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile"]
)
def test_gradient_boosting_of_values(loss, init):
    model = GradientBoostingRegressor(loss=loss, init=init, n_estimators=10, alpha=0.7)
    same = require_equal(fit_model(model, make_table()), make_table(N_NEW, seed=1))
    assert (same.loss, same.alpha) == (loss, 0.7)


def test_boosting_tree():
    X = make_table()
    model = BoostingTreeRegressor(n_estimators=10, max_depth=3, learning_rate=0.5)
    model.fit(X, make_values(X))
    same = require_equal(model, make_table(N_NEW, seed=1))
    assert (same.learning_rate, same.n_estimators_) == (0.5, 10)


def test_names_of_columns():
    X = pd.DataFrame(make_table(), columns=["a", "b", "c", "d"])
    y = make_values(X.to_numpy())
    for model in (
        RandomForestRegressor(5),
        BaggingRegressor(),
        GradientBoostingRegressor(n_estimators=5),
        BoostingTreeRegressor(n_estimators=5),
    ):
        same = to_sklearn(model.fit(X, y))
        assert same.feature_names_in_.tolist() == ["a", "b", "c", "d"]
        assert_allclose(same.predict(X), model.predict(X), rtol=1e-13)


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (RandomForestClassifier(n_estimators=2, voting="hard"), ValueError, "voting"),
        (BaggingClassifier(n_estimators=2, voting="hard"), ValueError, "voting"),
        (BaggingClassifier(GaussianNB()), TypeError, "GaussianNB"),
        (AdaBoostClassifier(DecisionTreeClassifier()), TypeError, "DecisionTreeClass"),
        (ObliqueRandomForestClassifier(n_estimators=2), ValueError, "sum of columns"),
        (
            GradientBoostingClassifier(init=GaussianNB(), n_estimators=2),
            ValueError,
            r"init=GaussianNB\(\)",
        ),
        (
            RandomForestClassifier(n_estimators=2, missing="surrogate"),
            ValueError,
            "surrogate splits",
        ),
    ],
)
def test_what_has_no_equivalent(model, error, words):
    allows_missing = getattr(model, "missing", None) == "surrogate"
    X = make_table(missing=0.2 if allows_missing else 0.0)
    fitted = fit_model(model, X)
    with pytest.raises(error, match=words):
        to_sklearn(fitted)


def test_loss_without_equivalent():
    X = make_table()
    model = GradientBoostingRegressor(loss="poisson", n_estimators=2)
    with pytest.raises(ValueError, match="PoissonLoss has no equivalent"):
        to_sklearn(model.fit(X, np.exp(make_values(X))))
