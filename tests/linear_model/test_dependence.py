"""The warning of linearly dependent columns is the same for all linear models."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
)

MODELS = [
    LinearRegression,
    GeneralizedLinearRegressor,
    LogisticRegression,
]


def make_rows(n_rows=40, n_columns=3):
    random = np.random.default_rng(0)
    return random.normal(size=(n_rows, n_columns)), random.integers(0, 2, n_rows)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_warning_names_columns(model, fit_intercept):
    X, y = make_rows()
    X = np.column_stack([X, 2 * X[:, 1], np.zeros(40)])
    with pytest.warns(UserWarning, match="linearly dependent") as caught:
        model(fit_intercept=fit_intercept).fit(X, y)
    (warning,) = caught
    assert "constant: 'x1', 'x3', 'x4'. The rank is 3 of 5 " in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize("model", MODELS)
def test_only_ten_columns_are_named(model):
    X, y = make_rows(90, 7)
    with pytest.warns(UserWarning, match=r"'x9' and 4 more\. The rank is 7 of 14"):
        model().fit(np.tile(X, 2), y)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_warning_where_dependence_is_expected(model, fit_intercept):
    """Indicators of all levels, and a model of the intercept alone."""
    X, y = make_rows(60, 1)
    letters = np.random.default_rng(1).choice(list("abc"), (60, 2))
    table = pd.DataFrame(letters, columns=["u", "v"]).assign(x=X[:, 0])
    options = {"reference_level": None, "fit_intercept": fit_intercept}
    fitted = model(**options).fit(table, y)
    assert fitted.rank_ < len(fitted.coef_names_) + fit_intercept
    # A further dependence is not expected.
    with pytest.warns(UserWarning, match="'x', 'z'"):
        model(**options).fit(table.assign(z=table["x"]), y)
    model(fit_intercept=True).fit(np.ones((60, 1)), y)


@pytest.mark.parametrize("model", MODELS[:2])
def test_no_warning_with_few_rows_or_a_unique_solution(model):
    X, y = make_rows(6, 9)
    assert model().fit(X, y).rank_ == 5
    X, y = make_rows()
    X = X[:, [0, 1, 2, 2]]
    assert model(alpha=1.0).fit(X, y).rank_ == 3
    GeneralizedLinearRegressor(dependent_columns="drop").fit(X, y)
    LinearRegression(positive=True).fit(X, y)


@pytest.mark.parametrize(
    "model", [LinearRegression(), GeneralizedLinearRegressor("poisson")]
)
@pytest.mark.parametrize("first", ["constant", "sum"])
def test_dependent_columns_of_very_different_units(model, first):
    """Predictions and errors of the others do not depend on the units."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)), rng.poisson(2.0, 30)
    X[:, 0] = 3.0 if first == "constant" else X[:, 1] + X[:, 2]
    units = 2.0 ** np.array([0, 20, 30, -30, 10])
    with pytest.warns(UserWarning, match="dependent or constant"):
        plain, scaled = (clone(model).fit(X * unit, y) for unit in (1.0, units))
    assert_allclose(scaled.predict(X * units), plain.predict(X), rtol=1e-7)
    errors = scaled.standard_errors_ * units
    assert_allclose(errors, plain.standard_errors_, rtol=1e-7)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("value", [0.1, 7.3, 123456.789, "rounded"])
def test_constants_that_are_no_sums_of_powers_of_two(model, value):
    """Rounding of the mean or of the values is not taken for variance."""
    X, y = make_rows()
    X[:, 1] = np.where(X[:, 0] > 0.0, 0.1 + 0.2, 0.3) if value == "rounded" else value
    with pytest.warns(UserWarning, match=r"constant: 'x1'\. The rank is 2 of 3"):
        fitted = model().fit(X, y)
    errors = np.ravel(fitted.standard_errors_)
    assert np.isnan(errors).tolist() == [False, True, False]
    without = model().fit(X[:, [0, 2]], y)
    assert_allclose(errors[[0, 2]], np.ravel(without.standard_errors_), rtol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_dependent_columns_far_from_zero(model):
    X, y = make_rows()
    X[:, 0] += 1e4
    X[:, 1] = 3.0 * X[:, 0]
    with pytest.warns(UserWarning, match=r"constant: 'x0', 'x1'\. The rank is 2 of 3"):
        model().fit(X, y)
