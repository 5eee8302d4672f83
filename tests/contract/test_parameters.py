"""Near misses in string parameters name the word that was perhaps meant."""

import numpy as np
import pytest

from sklearn_textbook._contract.parameters import suggest
from sklearn_textbook.decomposition import PCA
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    OutputFlippingClassifier,
    RandomForestClassifier,
)
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LogisticRegression,
)
from sklearn_textbook.tree import C45Classifier, CARTClassifier, ObliqueTreeClassifier


@pytest.mark.parametrize(
    ("value", "choices", "meant"),
    [
        ("gausian", ("gaussian", "poisson"), "gaussian"),
        ("Poisson", ("gaussian", "poisson"), "poisson"),
        ("inverse gaussian", ("gaussian", "inverse_gaussian"), "inverse_gaussian"),
        ("cov", ("full", "covariance_eigh"), "covariance_eigh"),
        ("ccp", ("pre_pruning", "cost_complexity"), "cost_complexity"),
        ("balance", ("balanced", "balanced_subsample"), "balanced"),
    ],
)
def test_near_misses(value, choices, meant):
    assert suggest(value, choices) == f" Did you mean {meant!r}?"


@pytest.mark.parametrize("value", ["zebra", "", "x", 3, None])
def test_what_is_near_nothing(value):
    assert suggest(value, ("gaussian", "cost_complexity")) == ""


@pytest.mark.parametrize(
    ("estimator", "meant"),
    [
        (CARTClassifier(pruning="ccp"), "cost_complexity"),
        (CARTClassifier(class_weight="balance"), "balanced"),
        (C45Classifier(class_weight="balance"), "balanced"),
        (ObliqueTreeClassifier(direction="logit"), "logistic"),
        (RandomForestClassifier(class_weight="balance"), "balanced"),
        (LogisticRegression(class_weight="balance"), "balanced"),
        (GeneralizedLinearRegressor("gausian"), "gaussian"),
        (GeneralizedLinearRegressor(weight_type="freq"), "frequency"),
        (PCA(svd_solver="random"), "randomized"),
    ],
    ids=lambda value: " ".join(str(value).split()),
)
def test_estimators_name_what_was_meant(estimator, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        estimator.fit(np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    "estimator",
    [
        AdaBoostClassifier(n_estimators=2),
        BaggingClassifier(n_estimators=2),
        GradientBoostingClassifier(n_estimators=2),
        LogisticRegression(C=1.0),
        OutputFlippingClassifier(n_estimators=2),
        RandomForestClassifier(n_estimators=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_verbose_may_be_true(estimator, capfd):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    estimator.set_params(verbose=False).fit(X, y)
    assert capfd.readouterr().out == ""
    estimator.set_params(verbose=True).fit(X, y)
    assert capfd.readouterr().out != ""


def test_algorithm_of_boosting_is_deprecated_and_has_no_effect():
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    model = AdaBoostClassifier(algorithm="SAMME", n_estimators=2)
    with pytest.warns(FutureWarning, match="'algorithm' was deprecated"):
        model.fit(X, y)
    plain = AdaBoostClassifier(n_estimators=2).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    with pytest.raises(ValueError, match="'algorithm' parameter must be one of 'SAMM"):
        model.set_params(algorithm="SAMME.R").fit(X, y)
