"""Counts with more variance than a Poisson distribution, and quasi families."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook import io
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    compare_models,
    robust_covariance,
    wald_test,
)
from sklearn_textbook.linear_model.generalized.families import NegativeBinomialFamily
from sklearn_textbook.linear_model.generalized.negative_binomial import _differentiate


def make_counts(n_rows=300, theta=1.5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 2))
    mean = np.exp(0.8 + X @ [0.5, -0.3])
    y = random.poisson(mean * random.gamma(theta, 1.0 / theta, n_rows))
    return X, y.astype(float), random.integers(1, 4, n_rows)


@pytest.mark.parametrize("theta", [0.3, 4.0, 1e3, 1e9, np.inf])
def test_the_distribution(theta):
    y, mean = np.arange(30.0), np.linspace(0.1, 9, 30)
    family = NegativeBinomialFamily(theta=theta)
    expected = stats.poisson.logpmf(y, mean)
    if theta < np.inf:
        for row, one in enumerate(mean):
            below = np.arange(row)
            terms = np.log((theta + below) * one / (theta + one) / (below + 1))
            expected[row] = terms.sum() - theta * np.log1p(one / theta)
    found = [
        family.compute_log_likelihood(
            y[[row]], mean[[row]], np.ones(1), 1.0, is_precision=False
        )
        for row in range(30)
    ]
    assert_allclose(found, expected, rtol=1e-10)
    at_best = [
        family.compute_log_likelihood(y[[row]], y[[row]], np.ones(1), 1.0, False)
        for row in range(1, 30)
    ]
    deviances = 2.0 * (np.array(at_best) - found[1:])
    assert_allclose(family.compute_deviance(y, mean)[1:], deviances, atol=1e-6)


@pytest.mark.parametrize("theta", [0.5, 30.0, 999.0, 1001.0, 1e5])
def test_derivatives_by_theta(theta):
    y, mean = np.arange(30.0), np.linspace(0.1, 19, 30)
    slope, curvature = _differentiate(y, mean, theta)

    def measure(theta):
        family = NegativeBinomialFamily(theta=theta)
        return np.array(
            [
                family.compute_log_likelihood(*pair, np.ones(1), 1.0, False)
                for pair in zip(y[:, np.newaxis], mean[:, np.newaxis], strict=True)
            ]
        )

    step = 1e-4 * theta
    if theta < 1e4:
        difference = (measure(theta + step) - measure(theta - step)) / (2 * step)
        assert_allclose(slope, difference, rtol=1e-4, atol=1e-3 / theta**2)
    above, below = (_differentiate(y, mean, theta + s)[0] for s in (step, -step))
    scale = np.abs(curvature).max()
    assert_allclose(
        curvature, (above - below) / (2 * step), rtol=1e-4, atol=1e-4 * scale
    )


def test_the_likelihood_has_its_maximum():
    X, y, weight = make_counts()
    model = GeneralizedLinearRegressor("negative_binomial", tol=1e-12)
    model.fit(X, y, weight)

    def measure(numbers):
        mean, theta = np.exp(numbers[0] + X @ numbers[1:3]), np.exp(numbers[3])
        return -weight @ stats.nbinom.logpmf(y, theta, theta / (theta + mean))

    found = minimize(measure, np.zeros(4), tol=1e-9)
    estimates = [model.intercept_, *model.coef_, np.log(model.theta_)]
    assert_allclose(estimates, found.x, atol=1e-4)
    assert_allclose(model.log_likelihood_, -found.fun, rtol=1e-9)
    assert_allclose(model.aic_, 2 * 4 + 2 * found.fun, rtol=1e-9)
    copies = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(copies.theta_, model.theta_, rtol=1e-8)
    assert_allclose(copies.theta_standard_error_, model.theta_standard_error_, 1e-6)


def test_blocks_are_equal_to_the_table_in_memory(tmp_path):
    import pandas as pd

    X, y, weight = make_counts(n_rows=70_000)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, w=weight, t=1.0 + weight)
    table.to_parquet(tmp_path / "rows.parquet")
    model = GeneralizedLinearRegressor("negative_binomial")
    one = clone(model).fit(table[["a", "b"]], y, weight, exposure=table["t"])
    source = io.scan(tmp_path / "rows.parquet")
    two = clone(model).fit(source, "y", "w", exposure="t")
    assert_array_equal(two.coef_, one.coef_)
    assert (two.theta_, two.theta_standard_error_) == (
        one.theta_,
        one.theta_standard_error_,
    )
    assert two.log_likelihood_ == one.log_likelihood_


@pytest.mark.parametrize("unit", [1.0, 1e6])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_small_thetas_are_found_in_few_steps(unit, fit_intercept):
    """With expected weights, steps hardly shrink, and theta does not settle."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    y = unit * random.poisson(np.exp(1 + X[:, 0]) * random.gamma(1, 1, 60))
    model = GeneralizedLinearRegressor(
        "negative_binomial", fit_intercept=fit_intercept
    ).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 40
    exact = clone(model).set_params(tol=1e-12).fit(X, y)
    assert_allclose(model.theta_, exact.theta_, rtol=1e-7)


def test_newtons_weights_are_the_derivatives():
    y, mean = np.arange(30.0), np.linspace(0.1, 19, 30)
    for theta in (0.1, 5.0, np.inf):
        family = NegativeBinomialFamily(theta=theta)
        weight, residual = family.compute_newton(y, mean)
        up, down = (
            np.array(
                [
                    -0.5 * family.compute_deviance(y[[row]], factor * mean[[row]])[0]
                    for row in range(30)
                ]
            )
            for factor in (np.exp(1e-4), np.exp(-1e-4))
        )
        middle = -0.5 * family.compute_deviance(y, mean)
        assert_allclose(weight * residual, (up - down) / 2e-4, rtol=1e-5, atol=1e-5)
        curvature = -(up - 2 * middle + down) / 1e-8
        assert_allclose(weight, curvature, rtol=1e-4, atol=1e-4)


def test_zeros_alone_have_no_theta():
    X, y, _ = make_counts()
    with pytest.raises(ValueError, match="requires some values of y above 0"):
        GeneralizedLinearRegressor("negative_binomial").fit(X, 0 * y)


def test_counts_without_overdispersion():
    X, _, _ = make_counts()
    y = np.random.default_rng(0).binomial(12, 0.5, len(X))
    with pytest.warns(ConvergenceWarning, match="theta is infinite: the variances"):
        model = GeneralizedLinearRegressor("negative_binomial").fit(X, y)
    poisson = GeneralizedLinearRegressor("poisson").fit(X, y)
    assert model.theta_ == np.inf
    assert np.isnan(model.theta_standard_error_)
    assert_allclose(model.coef_, poisson.coef_, rtol=1e-6)
    assert_allclose(model.log_likelihood_, poisson.log_likelihood_)
    assert_allclose(model.deviance_, poisson.deviance_)


def test_a_warm_start_begins_at_the_last_theta():
    X, y, _ = make_counts()
    model = GeneralizedLinearRegressor("negative_binomial", warm_start=True).fit(X, y)
    theta, n_iter = model.theta_, model.n_iter_
    model.fit(X, y)
    assert_allclose(model.theta_, theta, rtol=1e-7)
    assert model.n_iter_ < n_iter / 2


def test_tests_hold_theta_and_model_files_keep_it(tmp_path):
    X, y, weight = make_counts()
    model = GeneralizedLinearRegressor("negative_binomial", tol=1e-12)
    model.fit(X, y, weight)
    io.save_model(model, tmp_path / "model.json")
    loaded = io.load_model(tmp_path / "model.json")
    assert loaded.theta_ == model.theta_
    assert loaded.theta_standard_error_ == model.theta_standard_error_
    smaller = clone(model).fit(X[:, :1], y, weight)
    for one in (model, loaded):
        table = compare_models(smaller, one)
        gained = 2 * (model.log_likelihood_ - smaller.log_likelihood_)
        assert_allclose(table.columns["chi2"][1], gained)
        assert wald_test(one, ["x1"]).name == "chi2"
        assert robust_covariance(one, X, y, weight).shape == (3, 3)
    other = clone(model).fit(X[:, :1], y + 1, weight)
    with pytest.raises(ValueError, match="must be fitted to the same rows"):
        compare_models(other, model)
    given = clone(model).set_params(theta=2.0).fit(X, y, weight)
    with pytest.raises(ValueError, match="must have the same family"):
        compare_models(smaller, given)


@pytest.mark.parametrize("theta", [0, -1.0, np.inf, "auto", None, True])
def test_other_thetas_are_refused(theta):
    X, y, _ = make_counts()
    model = GeneralizedLinearRegressor("negative_binomial", theta=theta)
    with pytest.raises(ValueError, match="'theta' parameter must be 'estimate' or a"):
        model.fit(X, y)


def test_other_families_have_no_theta():
    X, y, _ = make_counts()
    model = GeneralizedLinearRegressor("negative_binomial").fit(X, y)
    model.set_params(family="poisson").fit(X, y)
    with pytest.raises(AttributeError, match="theta_ only with the family"):
        _ = model.theta_
    assert not hasattr(model, "theta_standard_error_")


@pytest.mark.parametrize("family", ["poisson", "binomial"])
def test_quasi_families_estimate_the_dispersion(family):
    X, y, _ = make_counts()
    y = y if family == "poisson" else (y > 1).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quasi = GeneralizedLinearRegressor(f"quasi{family}").fit(X, y)
    plain = GeneralizedLinearRegressor(family, dispersion="pearson").fit(X, y)
    assert quasi.dispersion_ == plain.dispersion_ != 1.0
    assert_array_equal(quasi.standard_errors_, plain.standard_errors_)
    assert np.isnan(quasi.log_likelihood_)
    assert f"quasi{family}" in quasi.summary()
    assert compare_models(plain, quasi).columns["df"][1] == 0
