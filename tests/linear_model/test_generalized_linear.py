"""GeneralizedLinearRegressor: against its reference, in itself, and in use."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, special, stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.linear_model import GeneralizedLinearRegressor, LinearRegression
from sklearn_textbook.linear_model.generalized.families import make_family
from sklearn_textbook.linear_model.generalized.links import LINKS, make_link
from sklearn_textbook.linear_model.generalized.tweedie_density import (
    compute_log_density,
)
from tests.reference import generalized_linear as reference

#: Name for the reference, family, link and their exponents for ours.
PAIRS = [
    ("gaussian", "identity", {}),
    ("gaussian", "log", {}),
    ("gaussian", "inverse", {}),
    ("poisson", "log", {}),
    ("poisson", "identity", {}),
    ("poisson", "square root", {"link": "power", "link_power": 0.5}),
    ("gamma", "inverse", {}),
    ("gamma", "log", {}),
    ("inverse_gaussian", "log", {}),
    ("binomial", "logit", {}),
    ("binomial", "probit", {}),
    ("binomial", "cloglog", {}),
    ("tweedie 1.5", "log", {"family": "tweedie", "power": 1.5}),
]
IDS = [f"{family}-{link}" for family, link, _ in PAIRS]


def make_ours(family, link, options, **more):
    return GeneralizedLinearRegressor(
        **({"family": family, "link": link} | options | more)
    )


def make_rows(family, seed=0, n_rows=60):
    """Rows of two columns, a target of a family, weights."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (n_rows, 2))
    mean = np.exp(1 + X @ [0.6, -0.4])
    y = {
        "poisson": lambda: random.poisson(mean),
        "binomial": lambda: random.binomial(1, mean / (4 + mean)),
        "gaussian": lambda: mean + random.normal(0, 0.1, n_rows),
        "tweedie 1.5": lambda: random.poisson(mean) * random.gamma(2, 0.5, n_rows),
    }.get(family, lambda: mean * random.gamma(5, 0.2, n_rows))()
    return X, y.astype(float), random.integers(1, 4, n_rows).astype(float)


# -------------------------------------------------------------- the reference


@pytest.mark.parametrize(("family", "link", "options"), PAIRS, ids=IDS)
@pytest.mark.parametrize("has_offset", [False, True])
def test_reference_step_by_step(family, link, options, has_offset):
    X, y, weight = make_rows(family)
    y = y + 3 if (family, link) == ("poisson", "identity") else y
    offset = 0.1 * X[:, 0] if has_offset else np.zeros(len(y))
    history = reference.fit(X, y, weight, offset, family, link, 12)
    given = {"offset": offset} if has_offset else {}
    for n_iter in (1, 2, 3, 12):
        model = make_ours(family, link, options, max_iter=n_iter, tol=0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, weight, **given)
        coef, deviance = history[n_iter - 1]
        assert_allclose(np.append(model.intercept_, model.coef_), coef, rtol=1e-8)
        assert_allclose(model.deviance_, deviance, rtol=1e-8)
        path = [total for _, total in history[:n_iter]]
        # Ours may stand still before, and then ends.
        found = model.deviance_path_
        assert_allclose(found, path[: len(found)], rtol=1e-8)
    errors, pearson, leverages = reference.describe(
        X, y, weight, offset, coef, family, link
    )  # fmt: skip
    if not model.family_.has_fixed_dispersion:
        assert_allclose(model.dispersion_, pearson / (weight.sum() - 3), rtol=1e-8)
    found = [model.intercept_standard_error_, *model.standard_errors_]
    assert_allclose(found, errors * np.sqrt(model.dispersion_), rtol=1e-8)
    assert_allclose(model.leverage(X, weight, **given), leverages, rtol=1e-8)


@pytest.mark.parametrize(("family", "link", "options"), PAIRS, ids=IDS)
def test_gradient_is_zero(family, link, options):
    """The score equations, with the formulas of links and families."""
    X, y, weight = make_rows(family, 1)
    model = make_ours(family, link, options, tol=1e-22, alpha=0.1)
    model.fit(X, y, weight)
    predictor = model.predict_linear(X)
    mean = model.predict(X)
    slope = model.link_.differentiate(predictor, mean)
    pull = weight * (y - mean) * slope / model.family_.compute_variance(mean)
    size = np.abs(pull).sum()
    assert_allclose(X.T @ pull, 0.1 * weight.sum() * model.coef_, atol=1e-9 * size)
    assert_allclose(pull.sum(), 0.0, atol=1e-9 * size)


# ----------------------------------------------------------- links and families

ALL_LINKS = [make_link(name, 0.5) for name in LINKS] + [make_link("power", -2.0)]


@pytest.mark.parametrize("link", ALL_LINKS, ids=lambda link: link.describe())
def test_link_inverts_and_differentiates(link):
    mean = np.array([0.01, 0.3, 0.5, 0.9, 0.99])
    predictor = link.apply(mean)
    assert_allclose(link.invert(predictor), mean, rtol=1e-12)
    step = 1e-6 * np.maximum(1, np.abs(predictor))
    ends = link.invert(predictor + step), link.invert(predictor - step)
    slopes = (ends[0] - ends[1]) / (2 * step)
    assert_allclose(link.differentiate(predictor, mean), slopes, rtol=1e-6)


@pytest.mark.parametrize("link", ALL_LINKS, ids=lambda link: link.describe())
def test_link_at_the_extremes(link):
    """Means are those of the family, without warnings, or infinite where too large."""
    predictor = np.array([-1e3, -40.0, 40.0, 1e3])
    valid = link.find_valid(predictor)
    predictor = predictor if valid is None else predictor[valid]
    mean = link.invert(predictor)
    assert not np.isnan(mean).any()
    if link.name in ("logit", "probit", "cloglog"):
        assert ((mean > 0) & (mean < 1)).all()
        assert (link.differentiate(predictor, mean) > 0).all()
    elif link.takes_positive:
        assert (mean > 0).all()


FAMILIES = [
    *map(make_family, ("gaussian", "poisson", "gamma", "inverse_gaussian", "binomial")),
    *(make_family("tweedie", power) for power in (-1.0, 1.2, 1.5, 1.9, 2.5, 4.0)),
]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_unit_deviance(family):
    """It is 0 at the target only, and its derivative is -2 (y - mu) / V(mu)."""
    y = np.array([0.1, 0.4, 0.7, 0.95])
    assert_allclose(family.compute_deviance(y, y), 0, atol=1e-14)
    mean = np.array([0.2, 0.35, 0.8, 0.5])
    assert (family.compute_deviance(y, mean) > 0).all()
    ends = (family.compute_deviance(y, mean + h) for h in (1e-6, -1e-6))
    slopes = np.subtract(*ends) / 2e-6
    expected = -2 * (y - mean) / family.compute_variance(mean)
    assert_allclose(slopes, expected, rtol=1e-6)


def test_log_likelihoods():
    """Densities of scipy, at dispersions that are not 1."""
    y, mean = np.array([1.0, 2.0, 4.0]), np.array([1.5, 1.8, 3.0])
    weight, dispersion = np.array([1.0, 2.0, 3.0]), 0.3
    densities = {
        "gaussian": stats.norm.logpdf(y, mean, np.sqrt(dispersion)),
        "poisson": stats.poisson.logpmf(y, mean),
        "gamma": stats.gamma.logpdf(y, 1 / dispersion, scale=mean * dispersion),
        "inverse_gaussian": stats.invgauss.logpdf(
            y, mean * dispersion, scale=1 / dispersion
        ),
    }
    for name, logarithms in densities.items():
        found = make_family(name).compute_log_likelihood(
            y, mean, weight, dispersion, False
        )
        assert_allclose(found, weight @ logarithms, rtol=1e-12, err_msg=name)
    shares, trials = np.array([0.25, 0.5, 0.0]), np.array([4.0, 6.0, 3.0])
    chances = np.array([0.3, 0.4, 0.2])
    found = make_family("binomial").compute_log_likelihood(
        shares, chances, trials, 1.0, True
    )
    expected = stats.binom.logpmf(shares * trials, trials, chances).sum()
    assert_allclose(found, expected, rtol=1e-12)


# ------------------------------------------------------------ what must not matter


@pytest.mark.parametrize(("family", "link", "options"), PAIRS, ids=IDS)
def test_weights_count_rows(family, link, options):
    X, y, weight = make_rows(family, 2)
    weight[::7] = 0
    make = partial(make_ours, family, link, options, tol=1e-13)
    weighted = make().fit(X, y, weight)
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    copied = make().fit(X[copies], y[copies])
    for name in (
        *("coef_", "intercept_", "standard_errors_", "deviance_", "dispersion_"),
        *(
            "null_deviance_",
            "residual_degrees_of_freedom_",
            "log_likelihood_",
            "aic_",
            "bic_",
        ),
    ):
        assert_allclose(getattr(weighted, name), getattr(copied, name), rtol=1e-7)
    assert_allclose(weighted.score(X, y, weight), copied.score(X[copies], y[copies]))
    tables = (
        weighted.deviance_table(X, y, weight),
        copied.deviance_table(X[copies], y[copies]),
    )
    assert_allclose(tables[0].p_values, tables[1].p_values, rtol=1e-6)


def test_precision_weights_have_a_unit():
    """Only with precisions do standard errors not depend on the unit of the weights."""
    X, y, _ = make_rows("gamma")
    for kind, ratio in (("variance", 1.0), ("frequency", np.sqrt(57 / 597))):
        make = partial(GeneralizedLinearRegressor, "gamma", "log", weight_type=kind)
        ones = make().fit(X, y, np.ones(60))
        tens = make().fit(X, y, np.full(60, 10.0))
        assert_allclose(tens.coef_, ones.coef_, rtol=1e-9)
        assert_allclose(tens.standard_errors_, ones.standard_errors_ * ratio)


def test_trials_are_repeated_labels():
    """Shares of trials are as many zeros and ones."""
    random = np.random.default_rng(0)
    X, trials = random.normal(size=(30, 2)), random.integers(1, 6, 30)
    wins = random.binomial(trials, 0.4)
    shares = GeneralizedLinearRegressor("binomial", weight_type="variance")
    shares.fit(X, wins / trials, trials)
    rows = np.repeat(X, trials, axis=0)
    labels = np.concatenate([[1] * a + [0] * (n - a) for a, n in zip(wins, trials)])  # noqa: B905
    single = GeneralizedLinearRegressor("binomial").fit(rows, labels.astype(bool))
    assert_allclose(single.coef_, shares.coef_, rtol=1e-6)
    assert_allclose(single.standard_errors_, shares.standard_errors_, rtol=1e-4)
    assert shares.residual_degrees_of_freedom_ == 27
    assert single.residual_degrees_of_freedom_ == trials.sum() - 3


def test_exposure_is_a_logarithmic_offset():
    X, y, _ = make_rows("poisson")
    time = np.random.default_rng(0).uniform(0.5, 3, 60)
    model = GeneralizedLinearRegressor("poisson")
    exposed = clone(model).fit(X, y, exposure=time)
    offset = clone(model).fit(X, y, offset=np.log(time))
    assert_allclose(exposed.coef_, offset.coef_)
    assert_allclose(exposed.null_deviance_, offset.null_deviance_)
    # A rate with the time for weight has the same score equations.
    rate = clone(model).set_params(tol=1e-14).fit(X, y / time, time)
    assert_allclose(rate.coef_, clone(exposed).set_params(tol=1e-14)
                    .fit(X, y, exposure=time).coef_, rtol=1e-8)  # fmt: skip
    assert_allclose(exposed.predict(X, exposure=time), exposed.predict(X) * time)
    both = exposed.predict(X, exposure=time, offset=np.full(60, 0.5))
    assert_allclose(both, exposed.predict(X) * time * np.exp(0.5))
    assert_allclose(
        exposed.score(X, y, exposure=time), offset.score(X, y, offset=np.log(time))
    )


@pytest.mark.parametrize("family", ["gaussian", "gamma", "inverse_gaussian"])
def test_unit_of_y_shifts_the_intercept(family):
    """With the link "log", also where the unit makes all numbers tiny or huge."""
    X, y, _ = make_rows(family)
    y = np.abs(y)
    model = GeneralizedLinearRegressor(family, "log", tol=1e-10)
    expected = clone(model).fit(X, y)
    for unit in (1e-9, 1e9):
        scaled = clone(model).fit(X, unit * y)
        assert_allclose(scaled.coef_, expected.coef_, rtol=1e-6)
        assert_allclose(scaled.intercept_, expected.intercept_ + np.log(unit))
        assert_allclose(scaled.standard_errors_, expected.standard_errors_, rtol=1e-6)


def test_shift_of_a_normal_target_shifts_the_intercept():
    X, y, _ = make_rows("gaussian")
    model = GeneralizedLinearRegressor().fit(X, y)
    shifted = clone(model).fit(X, y + 1e6)
    assert_allclose(shifted.coef_, model.coef_, rtol=1e-7)
    assert_allclose(shifted.intercept_, model.intercept_ + 1e6)


@pytest.mark.parametrize("family", ["poisson", "binomial", "gamma"])
def test_order_of_columns_and_rows(family):
    X, y, weight = make_rows(family)
    model = GeneralizedLinearRegressor(family, tol=1e-12).fit(X, y, weight)
    other = clone(model).fit(X[:, ::-1], y, weight)
    assert_allclose(other.coef_, model.coef_[::-1], rtol=1e-8)
    turned = clone(model).fit(X[::-1], y[::-1], weight[::-1])
    assert_allclose(turned.coef_, model.coef_, rtol=1e-8)
    moved = clone(model).fit(X * [1e6, 1e-6] + [1e9, -3], y, weight)
    assert_allclose(moved.coef_ * [1e6, 1e-6], model.coef_, rtol=1e-5)
    assert_allclose(moved.deviance_, model.deviance_, rtol=1e-8)


def test_complement_of_binomial_turns_signs():
    X, y, _ = make_rows("binomial")
    for link in ("logit", "probit"):
        model = GeneralizedLinearRegressor("binomial", link, tol=1e-12).fit(X, y)
        other = clone(model).fit(X, 1 - y)
        assert_allclose(other.coef_, -model.coef_, rtol=1e-7)


def test_number_of_threads_does_not_matter():
    random = np.random.default_rng(0)
    X = random.normal(size=(40_000, 4))
    y = random.poisson(np.exp(0.2 * X[:, 0]))
    models = [
        GeneralizedLinearRegressor("poisson", n_jobs=n).fit(X, y) for n in (1, 2, 3)
    ]
    for model in models[1:]:
        assert (model.coef_ == models[0].coef_).all()
        assert model.deviance_ == models[0].deviance_


@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_sparse_rows_as_dense():
    X, y, weight = make_rows("poisson")
    X[np.abs(X) < 0.5] = 0
    model = GeneralizedLinearRegressor("poisson", tol=1e-12).fit(X, y, weight)
    found = clone(model).fit(sparse.csr_array(X), y, weight)
    assert_allclose(found.coef_, model.coef_, rtol=1e-9)
    assert_allclose(found.predict(sparse.csc_array(X)), model.predict(X))
    assert_allclose(
        found.leverage(sparse.csr_array(X), weight), model.leverage(X, weight)
    )
    doubled = np.column_stack([X, X[:, 0]])
    dense = clone(model).fit(doubled, y, weight)
    found = clone(model).fit(sparse.csr_array(doubled), y, weight)
    assert dense.rank_ == found.rank_ == 2
    assert_allclose(found.coef_, dense.coef_, rtol=1e-7)


# ------------------------------------------------------------------ other programs


@pytest.mark.parametrize("alpha", [0.0, 0.3, 10.0])
def test_penalty_is_that_of_scikit_learn(alpha):
    X, y, weight = make_rows("poisson")
    theirs = PoissonRegressor(alpha=alpha, solver="newton-cholesky", tol=1e-12)
    theirs.fit(X, y, weight)
    ours = GeneralizedLinearRegressor("poisson", alpha=alpha, tol=1e-14)
    ours.fit(X, y, weight)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert_allclose(ours.score(X, y, weight), theirs.score(X, y, weight))


def test_penalised_normal_is_ridge():
    X, y, _ = make_rows("gaussian")
    ridge = Ridge(alpha=0.2 * len(y)).fit(X, y)
    ours = GeneralizedLinearRegressor(alpha=0.2).fit(X, y)
    assert_allclose(ours.coef_, ridge.coef_)
    centred = X - X.mean(axis=0)
    inverse = np.linalg.inv(centred.T @ centred + 0.2 * len(y) * np.eye(2))
    hat = centred @ inverse @ centred.T
    assert_allclose(ours.effective_rank_, np.trace(hat))
    covariance = inverse @ centred.T @ centred @ inverse * ours.dispersion_
    assert_allclose(ours.covariance_[1:, 1:], covariance)
    assert_allclose(ours.leverage(X).sum(), 1 + ours.effective_rank_)


# --------------------------------------------------------------- dependent columns


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


def test_quasi_likelihoods_are_found_by_name():
    X, y, _ = make_rows("poisson")
    words = "Use family='poisson' with dispersion='pearson'"
    with pytest.raises(ValueError, match=words):
        GeneralizedLinearRegressor("quasipoisson").fit(X, y)


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


# ------------------------------------------------------------------ log-linear


def test_regression_of_the_logarithm():
    X, y, weight = make_rows("gamma")
    model = GeneralizedLinearRegressor(transform_y="log").fit(X, y, weight)
    line = GeneralizedLinearRegressor().fit(X, np.log(y), weight)
    assert_allclose(model.coef_, line.coef_)
    assert_allclose(model.deviance_, line.deviance_)
    assert_allclose(model.predict(X), np.exp(line.predict(X)))
    by_mean = clone(model).set_params(retransform="mean").fit(X, y, weight)
    assert_allclose(
        by_mean.predict(X), np.exp(line.predict(X) + 0.5 * line.dispersion_)
    )
    smeared = clone(model).set_params(retransform="smearing").fit(X, y, weight)
    residuals = np.log(y) - line.predict(X)
    factor = weight @ np.exp(residuals) / weight.sum()
    assert_allclose(smeared.predict(X), np.exp(line.predict(X)) * factor)
    assert_allclose(model.residuals(X, y, weight, kind="response"), residuals)
    # The density of y is that of ln y over y.
    assert_allclose(
        model.log_likelihood_, line.log_likelihood_ - weight @ np.log(y)
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"targets above 0, got 0.0 in row 3\."):
        model.fit(X, np.where(np.arange(60) == 3, 0, y))


def test_smearing_meets_the_mean():
    """Of skewed residuals, where the median and the normal mean miss it."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(4000, 1))
    y = np.exp(X[:, 0] + random.exponential(0.6, 4000))
    totals = {
        how: GeneralizedLinearRegressor(transform_y="log", retransform=how)
        .fit(X, y)
        .predict(X)
        .sum()
        / y.sum()
        for how in ("median", "mean", "smearing")
    }
    assert abs(totals["smearing"] - 1) < 0.01
    assert totals["median"] < 0.85
    assert abs(totals["mean"] - 1) > 3 * abs(totals["smearing"] - 1)


# ------------------------------------------------------------------------ results


def make_melons():
    frame = pd.DataFrame(
        {
            "weight": [1.0, 2.5, 3.0, 2.2, 4.1, 3.3, 1.9, 2.8, 3.9, 1.2, 2.0, 3.1],
            "colour": list("gbwgbwgbwgbw"),
            "size": pd.Categorical(
                ["small", "big", "mid", "mid"] * 3,
                ["small", "mid", "big"],
                ordered=True,
            ),
        }
    )
    return frame, np.array([2.0, 5, 4, 3, 9, 5, 3, 6, 9, 1, 3, 7])


def test_nominal_and_ordered_columns():
    X, y = make_melons()
    model = GeneralizedLinearRegressor("poisson").fit(X, y)
    assert model.coef_names_.tolist() == ["weight", "colour=g", "colour=w", "size"]
    table = model.deviance_table(X, y)
    assert table.names == ("(null)", "weight", "colour", "size")
    assert table.degrees_of_freedom[1:].tolist() == [1, 2, 1]
    assert_allclose(table.deviances[1:].sum(), model.null_deviance_ - model.deviance_)
    drop = GeneralizedLinearRegressor("poisson").fit(X[["weight"]], y)
    assert_allclose(table.residual_deviances[1], drop.deviance_)
    assert str(table).splitlines()[1].startswith("(null)")
    whole = GeneralizedLinearRegressor("poisson", reference_level=None).fit(X, y)
    assert len(whole.coef_) == 5
    assert whole.rank_ == 4
    assert_allclose(whole.predict(X), model.predict(X), rtol=1e-7)


def test_coefficient_table():
    X, y, _ = make_rows("gamma")
    model = GeneralizedLinearRegressor("gamma", "log").fit(X, y)
    table = model.coefficient_table_
    assert table.names == ("intercept", "x0", "x1")
    assert table.statistic_name == "t"
    assert table.degrees_of_freedom == 57
    assert_allclose(table.statistics[1:], model.coef_ / model.standard_errors_)
    assert (
        GeneralizedLinearRegressor("poisson")
        .fit(X, y)
        .coefficient_table_.statistic_name
        == "z"
    )
    origin = clone(model).set_params(fit_intercept=False).fit(X, y)
    assert origin.coefficient_table_.names == ("x0", "x1")
    assert np.isnan(origin.intercept_standard_error_)


@pytest.mark.parametrize("dispersion", ["auto", "pearson", "deviance", 2.5])
def test_dispersion(dispersion):
    X, y, _ = make_rows("poisson")
    model = GeneralizedLinearRegressor("poisson", dispersion=dispersion).fit(X, y)
    expected = {
        "auto": 1.0,
        "pearson": np.sum(model.residuals(X, y, kind="pearson") ** 2) / 57,
        "deviance": model.deviance_ / 57,
        2.5: 2.5,
    }[dispersion]
    assert_allclose(model.dispersion_, expected)
    known = GeneralizedLinearRegressor("poisson").fit(X, y)
    ratio = model.standard_errors_ / known.standard_errors_
    assert_allclose(ratio, np.sqrt(expected))
    assert np.isnan(model.aic_) == (dispersion != "auto")
    is_estimated = dispersion in ("pearson", "deviance")
    assert model.deviance_table(X, y).test == ("F" if is_estimated else "chi2")


def test_intervals_of_the_mean():
    X, y, _ = make_rows("gamma")
    model = GeneralizedLinearRegressor("gamma").fit(X, y)
    intervals = model.predict_interval(X, 0.9)
    mean = model.predict(X)
    assert ((intervals[:, 0] < mean) & (mean < intervals[:, 1])).all()
    rows = np.column_stack([np.ones(60), X])
    errors = np.sqrt(np.einsum("ij,jk,ik->i", rows, model.covariance_, rows))
    ends = model.predict_linear(X) + stats.t(57).isf(0.05) * errors
    assert_allclose(np.sort(1 / intervals, axis=1)[:, 1], ends)


@pytest.mark.parametrize("family", ["poisson", "binomial", "gamma"])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_profile_intervals(family, level):
    """With the coefficient held at an end, the deviance has risen by the quantile."""
    X, y, weight = make_rows(family, 3, 25)
    offset = 0.2 * X[:, 1]
    model = GeneralizedLinearRegressor(family, "auto", tol=1e-12)
    model.fit(X, y, weight, offset=offset)
    intervals = model.profile_intervals(X, y, weight, level, offset=offset)
    free = model.residual_degrees_of_freedom_
    distribution = stats.t(free) if family == "gamma" else stats.norm()
    rise = model.dispersion_ * distribution.isf((1 - level) / 2) ** 2
    for end in intervals[1]:
        held = clone(model).fit(X[:, 1:], y, weight, offset=offset + end * X[:, 0])
        assert_allclose(held.deviance_ - model.deviance_, rise, rtol=1e-5)
    for end in intervals[0]:
        held = clone(model).set_params(fit_intercept=False)
        held.fit(X, y, weight, offset=offset + end)
        assert_allclose(held.deviance_ - model.deviance_, rise, rtol=1e-5)
    wald = model.make_coefficient_table(level).confidence_intervals
    assert_allclose(intervals, wald, atol=0.5 * np.ptp(wald, axis=1).max())


def test_profile_intervals_of_r():
    """Those of confint in MASS 7.3-58.2, which interpolates between a few fits."""
    kinds = ["old", "new", "worn"] * 4
    looms = pd.DataFrame({"speed": np.repeat(range(1, 7), 2), "kind": kinds})
    breaks = [3, 2, 6, 4, 2, 8, 9, 5, 14, 11, 9, 21]
    model = GeneralizedLinearRegressor("poisson").fit(looms, breaks)
    expected = [
        [-0.62464829, 0.924556],
        [0.19288647, 0.469263],
        [0.01104041, 1.229547],
        [0.35476729, 1.444626],
    ]
    assert_allclose(model.profile_intervals(looms, breaks), expected, atol=2e-4)


@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_profile_intervals_at_the_border():
    """Of separated labels one end is infinite; of undetermined slopes both are NaN."""
    X = np.arange(8.0)[:, np.newaxis]
    y = (X[:, 0] > 3).astype(float)
    model = GeneralizedLinearRegressor("binomial")
    with pytest.warns(ConvergenceWarning, match="no maximum"):
        model.fit(X, y)
    low, high = model.profile_intervals(X, y)[1]
    assert 0 < low < 5
    assert high == np.inf
    X, y, _ = make_rows("poisson")
    model = GeneralizedLinearRegressor("poisson", fit_intercept=False)
    model.fit(X[:, [0, 1, 1]], y)
    intervals = model.profile_intervals(X[:, [0, 1, 1]], y)
    assert np.isnan(intervals).all(axis=1).tolist() == [False, True, True]
    single = clone(model).fit(X, y)
    assert_allclose(intervals[0], single.profile_intervals(X, y)[0], rtol=1e-5)
    # Of the normal family it is Wald's.
    line = GeneralizedLinearRegressor().fit(X, y)
    expected = line.coefficient_table_.confidence_intervals
    assert_allclose(line.profile_intervals(X, y), expected, rtol=1e-6)


def test_rows_of_weight_zero_have_no_residuals():
    X, y, weight = make_rows("poisson")
    weight[5] = 0
    model = GeneralizedLinearRegressor("poisson").fit(X, y, weight)
    for found in (model.residuals(X, y, weight), model.leverage(X, weight)):
        assert np.flatnonzero(np.isnan(found)).tolist() == [5]
    with pytest.raises(ValueError, match="requires alpha=0, .*; got 0.1"):
        clone(model).set_params(alpha=0.1).fit(X, y).deviance_table(X, y)


def test_summary_says_what_is_not_usual():
    X, y, _ = make_rows("gamma")
    text = GeneralizedLinearRegressor("tweedie", alpha=0.1).fit(X, y).summary()
    assert "tweedie, power 1.5" in text
    assert "mean^-0.5" in text
    assert "Penalty alpha=0.1" in text
    text = GeneralizedLinearRegressor(transform_y="log").fit(X, y).summary()
    assert "ln y" in text
    assert "retransform='median'" in text


# ------------------------------------------------------------------------- in use


def test_routed_exposure_and_grid_search():
    X, y, _ = make_rows("poisson")
    time = np.random.default_rng(0).uniform(1, 2, 60)
    with config_context(enable_metadata_routing=True):
        model = GeneralizedLinearRegressor("poisson")
        model.set_fit_request(exposure=True).set_score_request(exposure=True)
        found = cross_validate(
            make_pipeline(StandardScaler(), model), X, y, params={"exposure": time}
        )
        assert np.isfinite(found["test_score"]).all()
    grid = GridSearchCV(GeneralizedLinearRegressor("poisson"), {"alpha": [0, 1e3]})
    assert grid.fit(X, y).best_params_ == {"alpha": 0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"family": "cauchy"},
            "'family' parameter must be one of 'gaussian', 'poisson'",
        ),
        ({"link": "sqrt"}, "'link' parameter must be one of 'auto', 'identity', 'log'"),
        ({"link": "logit"}, "for the family 'gaussian'; got 'logit'"),
        (
            {"family": "binomial", "link": "inverse"},
            "for the family 'binomial'; got 'inverse'",
        ),
        ({"link": "power"}, "requires the 'link_power'"),
        ({"link_power": "2"}, "'link_power' parameter must be a float or None"),
        ({"family": "tweedie", "power": 0.5}, r"outside \(0, 1\), .* got 0.5"),
        ({"alpha": -1}, r"'alpha' parameter must be a float in the range \[0.0"),
        ({"dispersion": 0}, "'dispersion' parameter must be 'auto', 'pearson'"),
        (
            {"weight_type": "trials"},
            "'weight_type' parameter must be one of 'frequency'",
        ),
        ({"transform_y": "log", "link": "log"}, "transform_y='log' requires family"),
        ({"transform_y": "sqrt"}, "'transform_y' parameter must be one of 'log' or N"),
        ({"retransform": "none"}, "'retransform' parameter must be one of 'median'"),
        ({"dependent_columns": "keep"}, "'dependent_columns' parameter must be one"),
        ({"max_iter": 0}, "'max_iter' parameter must be an int in the range"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be None"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        GeneralizedLinearRegressor(**options).fit([[0.0], [1.0]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("family", "value", "allowed"),
    [
        ("poisson", -1.0, "numbers of at least 0"),
        ("gamma", 0.0, "numbers above 0"),
        ("inverse_gaussian", 0.0, "numbers above 0"),
        ("binomial", 1.5, "proportions from 0 to 1"),
        ("tweedie", -0.5, "numbers of at least 0"),
    ],
)
def test_wrong_targets(family, value, allowed):
    X, y = np.arange(4.0)[:, np.newaxis], [1.0, 0.5, 0.5, value]
    message = f"{allowed} for the family '{family}'; got {value} in row 3"
    with pytest.raises(ValueError, match=message):
        GeneralizedLinearRegressor(family).fit(X, y)
    with pytest.raises(ValueError, match=message):
        GeneralizedLinearRegressor(family).fit(X, y, [1, 0, 1, 1])
    # A row that does not count may hold anything.
    GeneralizedLinearRegressor(family, alpha=0.1).fit(X, y, [1, 1, 1, 0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"offset": [1.0]}, r"offset must have shape \(3,\), one number per row"),
        ({"offset": [1.0, np.nan, 0]}, "offset contains NaN"),
        ({"exposure": [1.0, 0, 2]}, r"exposure must be above 0, got 0.0 in row 1\."),
    ],
)
def test_wrong_offsets(given, message):
    model = GeneralizedLinearRegressor("poisson")
    X, y = [[0.0], [1.0], [3.0]], [1.0, 2.0, 1.0]
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, **given)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y).predict(X, **given)
    with pytest.raises(ValueError, match="exposure requires the link 'log'"):
        GeneralizedLinearRegressor().fit(X, y, exposure=[1, 1, 1])


def test_words_are_no_target():
    with pytest.raises(ValueError, match="y must be numbers .* such as 0 and 1"):
        GeneralizedLinearRegressor("binomial").fit([[0.0], [1.0]], ["no", "yes"])


def test_no_coefficients_to_start_from():
    X = np.array([[1.0], [-1.0]])
    with pytest.raises(ValueError, match="No initial coefficients"):
        GeneralizedLinearRegressor("gamma", fit_intercept=False).fit(X, [1.0, 2.0])


@pytest.mark.parametrize("power", [1.05, 1.3, 1.5, 1.8, 1.95])
@pytest.mark.parametrize("dispersion", [0.01, 0.5, 3.0])
def test_tweedie_density_is_that_of_wright_bessel(power, dispersion):
    y, mean = np.geomspace(0.01, 20, 30), np.geomspace(5, 0.5, 30)
    shape = (2 - power) / (power - 1)
    argument = (y / (power - 1)) ** shape / dispersion ** (1 + shape) / (2 - power)
    series = special.wright_bessel(shape, 0.0, argument)
    kernel = y * mean ** (1 - power) / (1 - power) - mean ** (2 - power) / (2 - power)
    found = compute_log_density(y, mean, dispersion, power)
    is_float = (series > 0) & np.isfinite(series)
    expected = np.log(series[is_float] / y[is_float]) + kernel[is_float] / dispersion
    np.testing.assert_allclose(found[is_float], expected, rtol=1e-8, atol=1e-8)
    assert is_float.sum() > 3 or dispersion == 0.01
    assert np.isfinite(found).all()


@pytest.mark.parametrize("dispersion", [1e-4, 0.02, 1.0])
def test_tweedie_probabilities_add_up(dispersion):
    for power in (1.2, 1.6):
        width = np.sqrt(dispersion * 2.0**power)
        y = np.linspace(0.0, 2.0 + 25.0 * width, 40_001)
        if dispersion < 0.1:
            y = y[y > 2.0 - 12.0 * width]
        log_density = compute_log_density(y, np.full(len(y), 2.0), dispersion, power)
        mass = np.exp(log_density[0]) if y[0] == 0.0 else 0.0
        places, density = y[y > 0], np.exp(log_density[y > 0])
        # Powers of y near 0 need steps of their own.
        total = mass + np.trapezoid(density, places)
        assert total == pytest.approx(1.0, abs=2e-3)


def test_tweedie_has_a_likelihood_or_says_why_not():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 2))
    y = random.poisson(1.0, 200) * random.gamma(2.0, 1.0, 200)
    model = GeneralizedLinearRegressor("tweedie", "log", power=1.5).fit(X, y)
    dispersion = model.deviance_ / 200
    expected = compute_log_density(y, model.predict(X), dispersion, 1.5).sum()
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-9)
    assert model.aic_ == pytest.approx(2 * 4 - 2 * expected, rel=1e-9)
    for power, family in ((0.0, "gaussian"), (2.0, "gamma"), (3.0, "inverse_gaussian")):
        options = {"link": "log", "power": power}
        one = GeneralizedLinearRegressor("tweedie", **options).fit(X, y + 1)
        other = GeneralizedLinearRegressor(family, "log").fit(X, y + 1)
        assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-7)
    without = [
        (GeneralizedLinearRegressor("tweedie", "log", power=2.5), "power 2.5 has no"),
        (GeneralizedLinearRegressor("tweedie", "log", power=1.0), "quasi-likelihood"),
        (GeneralizedLinearRegressor("poisson", dispersion="pearson"), "quasi-likeli"),
    ]
    for model, why in without:
        text = model.fit(X, y + 1).summary()
        assert np.isnan(model.aic_)
        assert "No log-likelihood, AIC and BIC: " in text
        assert why in text
        assert "nan" not in text.lower()


def test_small_p_values_are_below_rounding():
    X = np.arange(100.0).reshape(-1, 1)
    y = 3.0 * X[:, 0] + np.sin(X[:, 0])
    for model in (LinearRegression(), GeneralizedLinearRegressor()):
        assert "<2e-16" in model.fit(X, y).summary()
