"""Measures of influence against fits without a row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
)


def make_rows(n_rows=25):
    random = np.random.default_rng(3)
    X = random.normal(2.0, 1.0, (n_rows, 3))
    y = X @ [1.0, -2.0, 0.0] + random.normal(size=n_rows)
    return X, y, random.uniform(0.5, 2.0, n_rows)


@pytest.mark.parametrize(
    "options", [{}, {"fit_intercept": False}, {"weight_type": "variance"}], ids=str
)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_least_squares_without_a_row(options, kind):
    X, y, weight = make_rows()
    weight = weight if options.get("weight_type") else np.ones(len(y))
    model = LinearRegression(**options).fit(kind(X), y, weight)
    found = model.influence(kind(X), y, weight)
    for row in range(len(y)):
        kept = np.arange(len(y)) != row
        other = clone(model).fit(X[kept], y[kept], weight[kept])
        sigma = other.residual_standard_error_
        table, less = model.coefficient_table_, other.coefficient_table_
        errors = table.standard_errors / model.residual_standard_error_ * sigma
        expected = (table.estimates - less.estimates) / errors
        assert_allclose(found.dfbetas[row], expected, rtol=1e-9)
        change = model.predict(X[[row]]) - other.predict(X[[row]])
        error = sigma * np.sqrt(found.leverage[row] / weight[row])
        assert_allclose(found.dffits[row], change[0] / error, rtol=1e-9)
        first = int(not model.fit_intercept)
        parts = [
            np.linalg.slogdet(each.covariance_[first:, first:])[1]
            for each in (other, model)
        ]
        assert_allclose(found.covariance_ratio[row], np.exp(parts[0] - parts[1]))


def test_ridge_without_a_row():
    X, y, _ = make_rows()
    model = LinearRegression(alpha=3.0).fit(X, y)
    found = model.influence(X, y)
    other = clone(model).fit(X[1:], y[1:])
    moved = np.append(model.intercept_ - other.intercept_, model.coef_ - other.coef_)
    # In units that do not depend on the row.
    ratios = found.dfbetas[0] / moved
    products = np.linalg.inv((X - X.mean(0)).T @ (X - X.mean(0)) + 3.0 * np.eye(3))
    errors = np.sqrt(products.diagonal())
    assert_allclose(ratios[1:] * errors, ratios[1] * errors[0], rtol=1e-9)


def test_several_targets():
    X, y, _ = make_rows()
    Y = np.column_stack([y, y**2])
    found = LinearRegression().fit(X, Y).influence(X, Y)
    assert found.dfbetas.shape == (len(y), 4, 2)
    for target in range(2):
        one = LinearRegression().fit(X, Y[:, target]).influence(X, Y[:, target])
        for name in ("dfbetas", "dffits", "covariance_ratio", "studentized_residuals"):
            assert_allclose(getattr(found, name)[..., target], getattr(one, name))


def make_models():
    return [
        LinearRegression(),
        GeneralizedLinearRegressor("poisson"),
        GeneralizedLinearRegressor("gamma", "log"),
        LogisticRegression(),
    ]


def make_target(model, y):
    if isinstance(model, LogisticRegression):
        return (y > np.median(y)).astype(int) ^ (np.arange(len(y)) % 5 == 0)
    if isinstance(model, LinearRegression):
        return y
    return np.rint(np.exp(y / 3.0)) + 1.0


@pytest.mark.parametrize("model", make_models(), ids=lambda model: repr(model)[:40])
def test_names_are_those_of_all_models(model):
    X, y, _ = make_rows()
    y = make_target(model, y)
    found = model.fit(X, y).influence(X, y)
    for name in (
        "leverage",
        "standardized_residuals",
        "studentized_residuals",
        "cooks_distance",
        "dffits",
        "covariance_ratio",
    ):
        assert np.isfinite(getattr(found, name)).all()
        assert getattr(found, name).shape == (len(y),)
    assert found.dfbetas.shape == (len(y), 4)
    # Copies of rows as weights: the measures of one of the copies.
    copies = np.arange(len(y)) % 3 + 1
    one = clone(model).fit(X, y, copies).influence(X, y, copies)
    rows = np.repeat(np.arange(len(y)), copies)
    each = clone(model).fit(X[rows], y[rows]).influence(X[rows], y[rows])
    for name in ("dfbetas", "dffits", "covariance_ratio", "studentized_residuals"):
        assert_allclose(getattr(one, name)[rows], getattr(each, name), rtol=1e-6)


@pytest.mark.parametrize("model", make_models(), ids=lambda model: repr(model)[:40])
@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_coefficients_that_the_rows_do_not_determine_have_no_dfbetas(model):
    X, y, _ = make_rows()
    y = make_target(model, y)
    X = X[:, [0, 1, 1]]
    found = model.fit(X, y).influence(X, y)
    expected = np.isfinite(model.coefficient_table_.standard_errors)
    assert expected.tolist() == [True, True, False, False]
    assert np.isfinite(found.dfbetas).all(axis=0).tolist() == expected.tolist()


def test_rows_of_weight_0_and_known_rows_in_other_order():
    X, y, weight = make_rows()
    y, weight = np.exp(y / 3.0), weight.copy()
    weight[4] = 0.0
    model = GeneralizedLinearRegressor("gamma", "log", weight_type="variance")
    model.fit(X, y, weight)
    found = model.influence(X, y, weight)
    assert np.isnan(found.dfbetas[4]).all()
    assert np.isfinite(np.delete(found.dfbetas, 4, axis=0)).all()
    some = np.array([7, 2])
    part = model.influence(X[some], y[some], weight[some])
    assert_allclose(part.dfbetas, found.dfbetas[some])
    assert_allclose(part.studentized_residuals, found.studentized_residuals[some])
