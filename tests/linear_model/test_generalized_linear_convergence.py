"""GeneralizedLinearRegressor with dependent columns, and how iterations end."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.linear_model import GeneralizedLinearRegressor, LinearRegression
from tests.linear_model.generalized_cases import make_ours, make_rows
from tests.reference import generalized_linear as reference


@pytest.mark.parametrize("family", ["gaussian", "poisson", "binomial"])
def test_dependent_columns(family):
    X, y, _ = make_rows(family)
    wide = np.column_stack([X, X @ [1.0, 2.0], np.full(60, 7.0)])
    plain = GeneralizedLinearRegressor(family, tol=1e-12).fit(X, y)
    with pytest.warns(UserWarning, match=r"constant: 'x0', .* rank is 2 of 4 columns"):
        least = clone(plain).fit(wide, y)
    dropped = clone(plain).set_params(dependent_columns="drop").fit(wide, y)
    for model in (least, dropped):
        assert model.rank_ == plain.rank_ == 2
        assert_allclose(model.predict(wide), plain.predict(X), rtol=1e-8)
        assert_allclose(model.deviance_, plain.deviance_)
        assert_allclose(model.aic_, plain.aic_)
    assert_allclose(dropped.coef_, [*plain.coef_, 0, 0], rtol=1e-8)
    assert_allclose(dropped.standard_errors_[:2], plain.standard_errors_, rtol=1e-7)
    assert np.isnan(dropped.standard_errors_[2:]).all()
    found = least.predict_interval(wide)
    assert_allclose(found, plain.predict_interval(X), rtol=1e-6)
    assert_allclose(dropped.predict_interval(wide), found, rtol=1e-6)
    wide[0, 2] += 1  # the sum is not kept: what such a row has for a mean is unknown
    for model in (least, dropped):
        is_unknown = np.isnan(model.predict_interval(wide)).all(axis=1)
        assert np.flatnonzero(is_unknown).tolist() == [0]
    wide[0, 2] -= 1
    # Of all slopes that predict the same, the least: they lie in the rows' space.
    centred = wide - wide.mean(axis=0)
    nearest = np.linalg.pinv(centred) @ centred @ least.coef_
    assert_allclose(least.coef_, nearest, atol=1e-9)
    assert np.isnan(least.standard_errors_).all()
    assert "determine only 2 of 4 coefficients" in least.summary()


@pytest.mark.parametrize("to_table", [np.asarray, sparse.csr_array])
def test_columns_of_tiny_numbers(to_table):
    """Their standard errors are numbers, or an error names the column."""
    X, y, _ = make_rows("gaussian")
    plain = GeneralizedLinearRegressor().fit(X, y)
    small = GeneralizedLinearRegressor().fit(to_table(X * [1.0, 2.0**-460]), y)
    assert_allclose(small.coef_ * [1.0, 2.0**-460], plain.coef_, rtol=1e-9)
    found = small.standard_errors_ * [1.0, 2.0**-460]
    assert_allclose(found, plain.standard_errors_, rtol=1e-9)
    with pytest.raises(ValueError, match=r"Column 'x1' has no value above .*underflow"):
        GeneralizedLinearRegressor().fit(to_table(X * [1.0, 1e-200]), y)


def test_very_many_trials():
    """The share of successes of 1e20 trials is not rounded to 1 at the start."""
    X, y, _ = make_rows("binomial")
    few, many = (
        GeneralizedLinearRegressor("binomial", weight_type="variance").fit(
            X, y, np.full(60, n_trials)
        )
        for n_trials in (1.0, 1e20)
    )
    assert_allclose(many.coef_, few.coef_, rtol=1e-5)
    assert_allclose(many.standard_errors_, few.standard_errors_ * 1e-10, rtol=1e-5)


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
def test_units_do_not_hide_dependent_columns(factor, tmp_path):
    """Both of a pair of columns, such as dollars and cents, are undetermined."""
    X, y, _ = make_rows("poisson")
    X = np.column_stack([X, factor * X[:, 0]])
    with pytest.warns(UserWarning, match="constant: 'x0', 'x2'"):
        model = GeneralizedLinearRegressor("poisson").fit(X, y)
    assert np.isnan(model.standard_errors_).tolist() == [True, False, True]
    save_model(model, tmp_path / "model.json")
    apart = X[:3] + np.outer([0.0, 0.0, 1.0], [0.0, 0.0, factor])
    for read in (model, load_model(tmp_path / "model.json")):
        errors = read.predict(apart, return_std=True)[1]
        assert np.isnan(errors).tolist() == [False, False, True]


@pytest.mark.parametrize("family", ["poisson", "binomial", "gamma"])
def test_small_weights_do_not_end_the_iteration_early(family):
    X, y, _ = make_rows(family)
    plain = GeneralizedLinearRegressor(family, "auto").fit(X, y)
    light = clone(plain).fit(X, y, np.full(60, 1e-9))
    assert_allclose(light.coef_, plain.coef_, rtol=1e-5, atol=1e-6)


def test_influence_of_frequencies_is_that_of_one_copy():
    X, y, weight = make_rows("poisson")
    model = GeneralizedLinearRegressor("poisson").fit(X, y, weight)
    copies = np.repeat(np.arange(60), weight.astype(int))
    repeated = clone(model).fit(X[copies], y[copies])
    found, each = model.influence(X, y, weight), repeated.influence(X, y)
    assert_allclose(found.cooks_distance, each.cooks_distance, rtol=1e-6)
    assert_allclose(found.leverage, each.leverage, rtol=1e-6)


def test_standard_errors_of_means_are_the_narrowest_intervals():
    X, y, _ = make_rows("gamma")
    for model in (
        GeneralizedLinearRegressor("gamma"),
        GeneralizedLinearRegressor(transform_y="log"),
    ):
        mean, errors = model.fit(X, y).predict(X, return_std=True)
        assert_allclose(mean, model.predict(X))
        low, high = model.predict_interval(X, level=1e-6).T
        quantile = stats.t(model.residual_degrees_of_freedom_).isf(0.5 - 5e-7)
        assert_allclose((high - low) / 2 / quantile, errors, rtol=1e-5)


@pytest.mark.parametrize(("family", "value"), [("poisson", 0), ("binomial", 1)])
def test_null_deviance_of_targets_at_the_boundary_is_zero(family, value):
    X, _, _ = make_rows(family)
    with pytest.warns(ConvergenceWarning, match="no maximum"):
        model = GeneralizedLinearRegressor(family).fit(X, np.full(60, value))
    assert model.null_deviance_ == 0.0
    assert model.deviance_ == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"family": "normal"}, "'family' .* 'normal'; use family='gaussian'"),
        ({"family": "Gamma"}, "'family' .* 'Gamma'; use family='gamma'"),
        ({"family": "Normal"}, "'family' .* 'Normal'; use family='gaussian'"),
        (
            {"family": "binomial", "link": "sqrt"},
            "'link' .* 'sqrt'; use one of 'logit', 'probit', 'cloglog', 'log', 'iden",
        ),
        ({"family": "quasi"}, "'quasi'; use another family with dispersion='pearson'"),
        ({"family": "negbin"}, "use family='negative_binomial'"),
        ({"link": "sqrt"}, "'link' .* 'sqrt'; use link='power' with link_power=0.5"),
    ],
)
def test_names_of_other_programs_are_translated(options, advice):
    X = np.arange(20.0)[:, np.newaxis]
    with pytest.raises(ValueError, match=advice):
        GeneralizedLinearRegressor(**options).fit(X, X[:, 0] + 1.0)


def test_separated_zeros_of_counts():
    X = np.repeat([[0.0], [1.0]], 6, axis=0)
    y = np.append(np.zeros(6), [1, 4, 2, 3, 1, 2])
    with pytest.warns(ConvergenceWarning, match="separate zeros from other values"):
        GeneralizedLinearRegressor("poisson").fit(X, y)


def test_determined_coefficients_keep_their_errors():
    X, y, _ = make_rows("poisson")
    plain = GeneralizedLinearRegressor("poisson", tol=1e-12).fit(X, y)
    with pytest.warns(UserWarning, match=r"dependent or constant: 'x1', 'x2'\."):
        doubled = clone(plain).fit(X[:, [0, 1, 1]], y)
    assert_allclose(doubled.standard_errors_[0], plain.standard_errors_[0], rtol=1e-7)
    assert np.isnan(doubled.standard_errors_[1:]).all()
    assert_allclose(doubled.coef_[1:], plain.coef_[1] / 2, rtol=1e-8)


def test_rank_with_a_penalty():
    """It is that of the columns; the effective one is the trace of the hat matrix."""
    X, y, _ = make_rows("poisson")
    doubled = np.column_stack([X, X])
    model = GeneralizedLinearRegressor("poisson", alpha=0.1).fit(doubled, y)
    assert model.rank_ == 2
    assert 0 < model.effective_rank_ < 2
    assert_allclose(model.leverage(doubled).sum(), 1 + model.effective_rank_)
    assert "determine only 2 of 4 coefficients: the penalty" in model.summary()
    assert "with a ridge penalty, alpha = " in model.summary()
    wide = clone(model).fit(np.eye(9, 20), y[:9] + 1)
    assert wide.rank_ == 8
    assert wide.effective_rank_ < 8


def test_more_columns_than_rows():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(6, 20)), random.poisson(5, 6) + 1
    model = GeneralizedLinearRegressor("poisson", tol=1e-14).fit(X, y)
    assert_allclose(model.predict(X), y, rtol=1e-6)
    assert model.rank_ == 5
    assert np.isnan(make_ours("gamma", "log", {}).fit(X, y).dispersion_)


# ------------------------------------------------------------------------ endings


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
@pytest.mark.parametrize("n_overlapping", [0, 1])
def test_separated_labels_are_said_to_be(link, n_overlapping):
    """Complete separation, and such that leaves rows on the border undecided."""
    x = np.arange(20.0)
    y = (x >= 10).astype(float)
    if n_overlapping:
        x, y = np.append(x, [9.5, 9.5]), np.append(y, [0.0, 1.0])
    model = GeneralizedLinearRegressor("binomial", link)
    with pytest.warns(ConvergenceWarning, match="seems to have no maximum"):
        model.fit(x[:, np.newaxis], y)
    assert (np.diff(model.deviance_path_) <= 1e-9).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(alpha=0.01).fit(x[:, np.newaxis], y)


def test_all_zero_counts_have_no_maximum():
    X = np.arange(5.0)[:, np.newaxis]
    with pytest.warns(ConvergenceWarning, match="seems to have no maximum"):
        model = GeneralizedLinearRegressor("poisson").fit(X, np.zeros(5))
    assert (model.predict(X) < 1e-6).all()
    y = np.array([0.0, 0, 0, 4, 6])
    group = (y > 0).astype(float)[:, np.newaxis]
    with pytest.warns(ConvergenceWarning, match="seems to have no maximum"):
        GeneralizedLinearRegressor("poisson").fit(group, y)


def test_steps_are_halved():
    """Where whole steps lead farther and farther away, the deviance falls."""
    X = np.arange(8.0)[:, np.newaxis]
    y = np.array([1.1, 0.73, 0.15, 0.87, 1.11, 1.59, 2.58, 2.42])
    ones, zeros = np.ones(8), np.zeros(8)
    history = reference.fit(X, y, ones, zeros, "inverse_gaussian", "log", 4)
    assert history[3][1] > 1e6 * history[0][1]
    model = GeneralizedLinearRegressor("inverse_gaussian", "log").fit(X, y)
    assert model.converged_
    assert (np.diff(model.deviance_path_) <= 1e-12).all()
    assert model.deviance_ < model.null_deviance_


def test_too_few_iterations():
    X, y, _ = make_rows("poisson")
    with pytest.warns(ConvergenceWarning, match="deviance .* after 2 iterations"):
        model = GeneralizedLinearRegressor("poisson", max_iter=2).fit(X, y)
    assert not model.converged_
    assert "Not converged after 2 iterations." in model.summary()


def test_warm_start():
    X, y, _ = make_rows("poisson")
    model = GeneralizedLinearRegressor("poisson", warm_start=True).fit(X, y)
    assert model.n_iter_ > 2
    before = model.coef_
    assert model.fit(X, y).n_iter_ == 1
    assert_allclose(model.coef_, before, rtol=1e-6)
    model.fit(X[:, :1], y)  # another number of columns starts afresh
    assert_allclose(model.coef_, clone(model).fit(X[:, :1], y).coef_)


def test_means_stay_valid_with_the_identity():
    """Poisson means on a line have to be above 0 in every row."""
    X = np.arange(10.0)[:, np.newaxis]
    y = np.array([0.0, 0, 1, 0, 2, 5, 4, 9, 8, 20])
    model = GeneralizedLinearRegressor("poisson", "identity")
    with pytest.warns(ConvergenceWarning, match="stopped at the boundary of the means"):
        model.fit(X, y)
    # Among lines through 0 the best has the slope of the totals.
    assert_allclose(model.predict(X), X[:, 0] * y.sum() / X.sum(), rtol=1e-3, atol=1e-6)
    shares = GeneralizedLinearRegressor("binomial", "identity")
    with pytest.warns(ConvergenceWarning, match="stopped at the boundary of the means"):
        shares.fit(X, y > 1)
    assert np.abs(shares.predict(X) - 0.5).max() <= 0.5 + 1e-12


@pytest.mark.parametrize("size", [0.0, 1.0, 100.0])
def test_least_squares_have_the_digits_of_orthogonal_transformations(size):
    # Wampler's polynomials of NIST, whose certified coefficients are all 1.
    x = np.arange(21.0)
    X = x[:, np.newaxis] ** np.arange(1, 6)
    noise = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048]
    y = 1.0 + X.sum(axis=1) + size * np.array([*noise, 2048, *noise[::-1]])
    model = GeneralizedLinearRegressor().fit(X, y)
    expected = LinearRegression().fit(X, y)
    assert_allclose(model.coef_, expected.coef_, rtol=1e-14)
    assert_allclose(model.intercept_, expected.intercept_, rtol=1e-14)
    assert_allclose(model.coef_, 1.0, rtol=1e-7)


@pytest.mark.parametrize(
    ("family", "link"),
    [("binomial", "cloglog"), ("binomial", "probit"), ("inverse_gaussian", "log")],
)
def test_other_links_than_the_canonical_one_converge_as_far(family, link):
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 3))
    predictor = X @ [1.5, -1.0, 0.5]
    y = (random.random(200) < 1.0 - np.exp(-np.exp(predictor - 0.5))).astype(float)
    if family != "binomial":
        y = np.exp(0.3 * predictor) * random.gamma(2.0, 0.5, 200)
    model = GeneralizedLinearRegressor(family, link).fit(X, y)
    exact = clone(model).set_params(tol=1e-14).fit(X, y)
    assert_allclose(model.coef_, exact.coef_, rtol=5e-6)
