"""GeneralizedLinearRegressor: its reference, families and links, and use."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.linear_model import GeneralizedLinearRegressor
from sklearn_textbook.linear_model.generalized.families import make_family
from sklearn_textbook.linear_model.generalized.links import LINKS, make_link
from tests.linear_model.generalized_cases import IDS, PAIRS, make_ours, make_rows
from tests.reference import generalized_linear as reference

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
        (
            {"link": "loglog"},
            "'link' parameter must be one of 'auto', 'identity', 'log'",
        ),
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
