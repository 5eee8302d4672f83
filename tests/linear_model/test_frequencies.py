"""Weights that count rows must be whole numbers for standard errors."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
)

MODELS = [
    LinearRegression(),
    GeneralizedLinearRegressor(),
    GeneralizedLinearRegressor("binomial"),
    LogisticRegression(),
]


def make_rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 2))
    return X, (X[:, 0] + random.normal(size=30) > 0).astype(int), random.random(30)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize(
    "ask",
    [
        lambda model, X: model.standard_errors_,
        lambda model, X: model.coefficient_table_,
        lambda model, X: model.summary(),
        lambda model, X: model.predict(X, return_std=True),
    ],
    ids=["errors", "table", "summary", "predict"],
)
def test_standard_errors_of_fractions_warn_once(model, ask):
    X, y, weight = make_rows()
    fitted = clone(model).fit(X, y, weight / weight.sum())
    fitted.predict(X)  # without a warning
    if model is MODELS[-1]:  # whose predictions have no errors
        fitted.predict = lambda X, return_std: fitted.odds_ratio_intervals_
    with pytest.warns(UserWarning, match="weight_type='variance'") as caught:
        ask(fitted, X)
    assert len(caught) == 1


def test_fractions_of_any_block_warn():
    X, y, weight = make_rows()
    half = slice(0, 15), slice(15, 30)
    first, second = (LinearRegression().fit(X[rows], y[rows]) for rows in half)
    second.fit(X[15:], y[15:], weight[15:])
    for model in (
        first.merge(second),
        clone(first).partial_fit(X, y, weight).partial_fit(X, y),
    ):
        with pytest.warns(UserWarning, match="weight_type='variance'"):
            assert model.residual_degrees_of_freedom_ > 0


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_whole_numbers_and_variances_do_not_warn(model):
    X, y, weight = make_rows()
    clone(model).fit(X, y, np.ceil(3.0 * weight)).summary()
    if hasattr(model, "weight_type"):
        clone(model).set_params(weight_type="variance").fit(X, y, weight).summary()
    else:
        clone(model).set_params(class_weight="balanced").fit(X, y).summary()


def test_weights_of_classes_are_in_the_summary():
    X, y, _ = make_rows()
    for class_weight in ("balanced", {0: 2}):
        model = LogisticRegression(class_weight=class_weight).fit(X, y)
        assert "class_weight multiplies the weights" in model.summary()
    assert "class_weight" not in LogisticRegression().fit(X, y).summary()
    penalised = LogisticRegression(class_weight="balanced", C=1.0).fit(X, y)
    assert "class_weight" not in penalised.summary()  # no standard errors
