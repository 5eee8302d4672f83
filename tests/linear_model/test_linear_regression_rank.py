"""LinearRegression of dependent, wide and extreme columns."""

import numpy as np
import pytest

from sklearn_textbook.linear_model import LinearRegression
from tests.linear_model.linear_cases import make_table


def test_rank_of_values_far_from_zero():
    """The sum of two columns at 1e8 is rounded; it still depends on them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3)) + 1e8
    X[:, 2] = X[:, 0] / 2 + X[:, 1] / 2
    y = random.normal(size=200)
    with pytest.warns(UserWarning, match="constant: 'x0', 'x1', 'x2'"):
        model = LinearRegression().fit(X, y)
    assert model.rank_ == 2
    assert list(model.find_dependent_columns()) == ["x2"]
    assert np.abs(model.coef_).max() < 1.0
    constant = LinearRegression().fit(np.full((9, 1), 0.1) * [[1.0, 3e7]], np.arange(9))
    assert constant.rank_ == 0
    assert constant.coef_.tolist() == [0.0, 0.0]
    assert constant.intercept_ == 4.0


def test_covariance_has_the_squared_errors_and_those_of_means():
    X, y = make_table()
    model = LinearRegression().fit(X, np.column_stack([y, 2 * y]))
    (one, other), row = model.covariance_, np.append(1.0, X[0])
    np.testing.assert_allclose(other, 4 * one)
    errors = np.append(model.intercept_standard_error_[0], model.standard_errors_[0])
    np.testing.assert_allclose(np.sqrt(one.diagonal()), errors, rtol=1e-9)
    _, of_means = model.predict(X[:1], return_std=True)
    np.testing.assert_allclose(np.sqrt(row @ one @ row), of_means[0, 0], rtol=1e-9)
    positive = LinearRegression(positive=True).fit(X, y)
    assert np.isnan(positive.covariance_).all()


def test_coefficients_beyond_float64():
    X, y = make_table()
    X[:, 1] *= 1e-310 / np.abs(X[:, 1]).max()
    with pytest.raises(ValueError, match="coefficient of column 'x1' is too large"):
        LinearRegression().fit(X, y)


def test_dependence_on_a_negative_column_is_written_with_its_sign():
    X, y = make_table(n_columns=2)
    with pytest.warns(UserWarning, match="linearly dependent"):
        model = LinearRegression().fit(np.column_stack([X, 1 - X[:, 0]]), y)
    assert "  x2 = 1 - x0\n" in model.summary()
    with pytest.warns(UserWarning, match="linearly dependent"):
        model = LinearRegression().fit(np.column_stack([X, -2 * X[:, 0]]), y)
    assert "  x2 = -2 x0\n" in model.summary()


def test_wide_tables_have_the_shortest_solution():
    X, y = make_table(0, 5, 12)
    X /= X.std(axis=0)
    model = LinearRegression().fit(X, y)
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose(
        model.coef_, np.linalg.pinv(centered) @ (y - y.mean()), atol=1e-12
    )
    assert model.rank_ == 4
    assert len(model.find_dependent_columns()) == 8
    assert np.isnan(model.standard_errors_).all()
    assert np.isnan(model.residual_standard_error_)
    assert "There are no degrees of freedom" in model.summary()


def test_what_rows_do_not_determine_is_nan():
    X, y = make_table(n_columns=2)
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(UserWarning, match=r"'x0', 'x2'\. The rank is 2 of 3 columns"):
        model = LinearRegression().fit(X, y)
    errors = model.standard_errors_
    assert np.isnan(errors[[0, 2]]).all()
    alone = LinearRegression().fit(X[:, :2], y)
    np.testing.assert_allclose(errors[1], alone.standard_errors_[1])
    np.testing.assert_allclose(model.coef_[[0, 2]], alone.coef_[0] / 2)
    new = np.array([[1.0, 0.5, 1.0], [1.0, 0.5, 2.0]])
    predicted, errors = model.predict(new, return_std=True)
    expected, expected_errors = alone.predict(new[:1, :2], return_std=True)
    np.testing.assert_allclose(
        [predicted[0], errors[0]], [expected[0], *expected_errors]
    )
    assert np.isnan(errors[1])
    assert np.isnan(model.predict_interval(new)[1]).all()
    text = model.summary()
    assert "The rank is 2 of 3 columns" in text
    assert "  x2 = x0\n" in text


def test_variance_inflation_is_of_regressions_among_columns():
    X, y = make_table()
    X[:, 3] += X[:, 0] * 20
    found = LinearRegression().fit(X, y).variance_inflation_
    for column in range(4):
        others = np.delete(X, column, axis=1)
        share = LinearRegression().fit(others, X[:, column]).r_squared_
        assert found[column] == pytest.approx(1 / (1 - share), rel=1e-8)


def test_perfect_fits_are_told():
    X, _ = make_table()
    assert (
        "residuals are rounding errors"
        in LinearRegression().fit(X, X @ [1, 2, 3, 4]).summary()
    )
    assert (
        "residuals are rounding errors"
        not in LinearRegression().fit(*make_table()).summary()
    )
