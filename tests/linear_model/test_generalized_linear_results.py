"""Results of GeneralizedLinearRegressor: tables, intervals and likelihoods."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.linear_model import GeneralizedLinearRegressor, LinearRegression
from sklearn_textbook.linear_model.generalized.families import (
    compute_log_density,
)
from tests.linear_model.generalized_cases import make_rows


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
    assert "alpha = 0.1" in text
    text = GeneralizedLinearRegressor(transform_y="log").fit(X, y).summary()
    assert "ln y" in text
    assert "retransform='median'" in text


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


def fit_counts():
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(200, 3)), 0.1 + 5.0 * rng.random(200)
    y = rng.poisson(time * np.exp(0.3 * X[:, 0])).astype(float)
    weight = rng.integers(1, 4, 200).astype(float)
    model = GeneralizedLinearRegressor("poisson")
    return model.fit(X, y, weight, exposure=time), X, y, weight, time


@pytest.mark.parametrize("name", ["profile_intervals", "deviance_table"])
def test_other_rows_than_those_of_the_fit_are_refused(name):
    model, X, y, weight, time = fit_counts()
    diagnose = getattr(model, name)
    order = np.random.default_rng(1).permutation(200)
    diagnose(X[order], y[order], weight[order], offset=np.log(time[order]))
    words = f"{name} needs the rows, weights, offset and exposure of the fit, which "
    n_rows = f"{weight.sum():g}"
    others = [
        (X[:150], y[:150], weight[:150], time[:150]),
        (X + 0.1, y, weight, time),
        (X, y[::-1], weight, time),
        (X, y, np.ones(200), time),
        (X, y, weight[::-1], time),
        (X, y, weight, time[::-1]),
    ]
    for rows in others:
        with pytest.raises(ValueError, match=f"{words}were {n_rows} rows"):
            diagnose(*rows[:3], exposure=rows[3])
    with pytest.raises(ValueError, match="fitted with an offset or an exposure"):
        diagnose(X, y, weight)


def test_measures_of_rows_need_their_exposure():
    model, X, y, weight, time = fit_counts()
    assert_allclose(model.leverage(X, weight, exposure=time).sum(), 4.0)
    for diagnose in (
        lambda: model.leverage(X, weight),
        lambda: model.residuals(X, y, weight),
        lambda: model.influence(X, y),
    ):
        with pytest.raises(ValueError, match="pass offset= or exposure= of these rows"):
            diagnose()


def test_model_files_keep_that_there_was_an_exposure(tmp_path):
    model, X, _, weight, time = fit_counts()
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    leverage = loaded.leverage(X, weight, exposure=time)
    assert_allclose(leverage, model.leverage(X, weight, exposure=time))
    with pytest.raises(ValueError, match="pass offset= or exposure= of these rows"):
        loaded.leverage(X, weight)
