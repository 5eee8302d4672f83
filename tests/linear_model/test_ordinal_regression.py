"""OrdinalRegression: cumulative link models of ordered classes."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

from sklearn_textbook import io
from sklearn_textbook.exchange import export_code, to_onnx
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LogisticRegression,
    OrdinalRegression,
    anova,
    compare_models,
    comparisons,
    marginal_means,
    predictions,
    robust_covariance,
    slopes,
    variance_inflation,
    wald_test,
)
from sklearn_textbook.linear_model.ordinal.likelihood import (
    OrdinalLikelihood,
    differentiate_rows,
)
from sklearn_textbook.linear_model.ordinal.links import LINKS

CDF = {
    "logit": stats.logistic.cdf,
    "probit": stats.norm.cdf,
    "cloglog": lambda q: -np.expm1(-np.exp(q)),
}
QUANTILE = {
    "logit": stats.logistic.ppf,
    "probit": stats.norm.ppf,
    "cloglog": lambda p: np.log(-np.log1p(-p)),
}


def make_rows(n_rows=200, n_classes=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(3.0, 1.0, (n_rows, 3))
    score = X @ [1.0, -0.5, 0.0] + random.logistic(size=n_rows)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, score), random.integers(1, 4, n_rows)


def measure_loss(numbers, X, y, weight, link):
    """Negative log-likelihood by differences of the distribution function."""
    ends = np.concatenate([[-np.inf], numbers[X.shape[1] :], [np.inf]])
    scores = X @ numbers[: X.shape[1]]
    upper, lower = CDF[link](ends[y + 1] - scores), CDF[link](ends[y] - scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(-weight @ np.log(upper - lower), nan=1e9, posinf=1e9)


@pytest.mark.parametrize("link", CDF)
def test_the_likelihood_has_its_maximum(link):
    X, y, weight = make_rows()
    model = OrdinalRegression(link).fit(X, y, weight)
    numbers = np.append(model.coef_, model.thresholds_)
    assert_allclose(model.log_likelihood_, -measure_loss(numbers, X, y, weight, link))
    found = minimize(measure_loss, numbers + 0.05, (X, y, weight, link), tol=1e-9)
    assert_allclose(numbers, found.x, atol=1e-4)
    copies = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(copies.coef_, model.coef_, rtol=1e-9)
    assert_allclose(copies.standard_errors_, model.standard_errors_, rtol=1e-9)


@pytest.mark.parametrize("link", CDF)
def test_derivatives(link):
    X, y, weight = make_rows()
    likelihood = OrdinalLikelihood(X, y, weight * 1.0, 4, LINKS[link])
    numbers = np.array([0.3, -4.0, 5.0, -1.5, -0.2, 0.9])
    at = likelihood.evaluate(numbers)
    for place, step in enumerate(np.eye(6) * 1e-5):
        up, down = (likelihood.evaluate(numbers + s) for s in (step, -step))
        difference = (up.loss - down.loss) / 2e-5
        assert_allclose(at.gradient[place], difference, rtol=1e-5, atol=1e-5)
        assert_allclose(
            at.hessian[place],
            (up.gradient - down.gradient) / 2e-5,
            rtol=1e-5,
            atol=1e-5,
        )


@pytest.mark.parametrize("link", CDF)
def test_probabilities_far_from_the_thresholds(link):
    """They do not become 0, nor do derivatives become NaN."""
    lower = np.array([-np.inf, -30.0, 20.0, -np.inf, 3.0, 4.0])
    upper = np.array([-20.0, -29.0, 21.0, np.inf, np.inf, 4.0 + 1e-9])
    found = differentiate_rows(LINKS[link], lower, upper)
    assert (found.log_probability <= 0.0).all()
    for field in vars(found).values():
        assert not np.isnan(field).any()
    if link != "cloglog":
        assert np.isfinite(found.log_probability).all()
    middle = slice(3, 5)
    with np.errstate(divide="ignore"):
        expected = np.log(CDF[link](upper) - CDF[link](lower))[middle]
    assert_allclose(found.log_probability[middle], expected, rtol=1e-6, atol=1e-12)


def test_two_classes_are_a_binary_regression():
    X, y, weight = make_rows(n_classes=2)
    model = OrdinalRegression().fit(X, y, weight)
    other = LogisticRegression().fit(X, y, weight)
    assert_allclose(model.coef_, other.coef_[0], rtol=1e-7)
    assert_allclose(model.thresholds_, -other.intercept_, rtol=1e-7)
    assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-7)
    assert_array_equal(model.predict(X), other.predict(X))
    assert_allclose(model.log_likelihood_, other.log_likelihood_)
    assert_allclose(model.null_log_likelihood_, other.null_log_likelihood_)
    probit = OrdinalRegression("probit").fit(X, y, weight)
    other = GeneralizedLinearRegressor("binomial", "probit", tol=1e-12)
    other.fit(X, y, weight)
    assert_allclose(probit.coef_, other.coef_, rtol=1e-6)


def test_the_order_of_classes():
    X, y, _ = make_rows(n_classes=3)
    expected = OrdinalRegression().fit(X, y)
    names = np.array(["low", "middle", "high"])
    labels = names[y]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = OrdinalRegression(class_order=names).fit(X, labels)
        declared = [
            pd.Categorical(labels, names, ordered=True),
            pd.Series(pd.Categorical(labels, names, ordered=True)),
            pl.Series(labels, dtype=pl.Enum(names.tolist())),
        ]
        found = [given, *(OrdinalRegression().fit(X, target) for target in declared)]
    for model in found:
        assert_array_equal(model.coef_, expected.coef_)
        assert model.class_order_.tolist() == names.tolist()
        assert model.classes_.tolist() == ["high", "low", "middle"]
        proba = expected.predict_proba(X)[:, [2, 0, 1]]
        assert_array_equal(model.predict_proba(X), proba)
        # Which takes the columns in the order of sorted labels.
        loss = log_loss(labels, model.predict_proba(X))
        assert_allclose(loss, -model.log_likelihood_ / len(y))
        assert model.threshold_names_.tolist() == ["low|middle", "middle|high"]
        assert_array_equal(model.predict(X), names[expected.predict(X)])
    with pytest.warns(UserWarning, match="text, without a declared order.*'high', "):
        model = OrdinalRegression().fit(X, labels)
    assert model.class_order_.tolist() == ["high", "low", "middle"]
    with pytest.warns(UserWarning, match="text, without a declared order"):
        OrdinalRegression().fit(X, pd.Categorical(labels, names))
    back = OrdinalRegression(class_order=names[::-1]).fit(X, labels)
    assert_allclose(back.coef_, -expected.coef_, rtol=1e-9)
    assert_allclose(back.thresholds_, -expected.thresholds_[::-1], rtol=1e-9)


def test_wrong_orders_are_refused():
    X, y, _ = make_rows(n_classes=3)
    with pytest.raises(ValueError, match=r"lack|must have all classes of y; 2 is not"):
        OrdinalRegression(class_order=[0, 1]).fit(X, y)
    with pytest.raises(ValueError, match="must not have a class twice"):
        OrdinalRegression(class_order=[0, 1, 2, 1]).fit(X, y)
    longer = OrdinalRegression(class_order=[0, 1, 5, 2]).fit(X, y)
    assert longer.class_order_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"link": "logistic"}, "use link='logit'"),
        ({"link": "loglog"}, "'link' parameter must be"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
    ],
)
def test_wrong_parameters_are_refused(options, words):
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match=words):
        OrdinalRegression(**options).fit(X, y)


def test_units_and_dependent_columns():
    X, y, _ = make_rows()
    model = OrdinalRegression().fit(X, y)
    scale = np.array([1e6, 1e-6, 1.0])
    scaled = OrdinalRegression().fit(X * scale + [1e9, 0.0, 1e4], y)
    assert_allclose(scaled.coef_ * scale, model.coef_, rtol=1e-5)
    assert_allclose(scaled.standard_errors_ * scale, model.standard_errors_, rtol=1e-5)
    with pytest.warns(UserWarning, match="dependent or constant: 'x1', 'x3'"):
        doubled = OrdinalRegression().fit(X[:, [0, 1, 2, 1]], y)
    assert_allclose(doubled.coef_[[1, 3]], model.coef_[1] / 2, rtol=1e-6)
    assert np.isnan(doubled.standard_errors_).tolist() == [False, True, False, True]
    assert_allclose(doubled.aic_, model.aic_)
    loose = OrdinalRegression().fit(sparse.csr_array(X), y)
    assert_allclose(loose.coef_, model.coef_, rtol=1e-9)
    assert_allclose(loose.predict_proba(sparse.csr_array(X)), model.predict_proba(X))


def test_nearly_dependent_columns():
    x = np.repeat(np.arange(1950.0, 2001.0), 4)
    _, y, _ = make_rows(len(x), 3)
    powers = x[:, np.newaxis] ** np.arange(1, 4)
    middle = (x - 1975.0)[:, np.newaxis] ** np.arange(1, 4)
    model, other = (
        OrdinalRegression().fit(powers, y),
        OrdinalRegression().fit(middle, y),
    )
    assert model.rank_ == 3
    assert_allclose(model.log_likelihood_, other.log_likelihood_, rtol=1e-9)
    assert_allclose(model.predict_proba(powers), other.predict_proba(middle), atol=1e-4)


def test_separated_classes():
    X = np.arange(12.0)[:, np.newaxis]
    with pytest.warns(ConvergenceWarning, match="seems to have no maximum"):
        OrdinalRegression().fit(X, np.arange(12) // 4)
    X, y, _ = make_rows()
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        OrdinalRegression(max_iter=1).fit(X, y)


def test_blocks_are_equal_to_the_table_in_memory(tmp_path):
    X, y, weight = make_rows(70_000)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["d"] = np.array(["u", "v", "w"])[np.arange(len(y)) % 3]
    names = np.array(["zero", "one", "two", "three"])
    table.assign(y=names[y], w=weight).to_parquet(tmp_path / "rows.parquet")
    model = OrdinalRegression(class_order=names)
    one = clone(model).fit(table, names[y], weight)
    source = io.scan(tmp_path / "rows.parquet")
    two = clone(model).fit(source, "y", "w")
    assert_array_equal(two.coef_, one.coef_)
    assert_array_equal(two.thresholds_, one.thresholds_)
    assert_array_equal(two.covariance_, one.covariance_)
    assert two.class_order_.tolist() == names.tolist()
    assert two.classes_.tolist() == sorted(names)
    assert_array_equal(two.predict_proba(source), one.predict_proba(table))
    three = clone(model).set_params(n_jobs=1).fit(table, names[y], weight)
    assert_array_equal(three.coef_, one.coef_)


def test_tables_with_levels_and_missing_values(tmp_path):
    X, y, _ = make_rows()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["d"] = np.array(["u", "v", "w"])[np.arange(len(y)) % 3]
    table.loc[3, "a"] = np.nan
    model = OrdinalRegression(missing="drop").fit(table, y)
    assert model.coef_names_.tolist() == ["a", "b", "c", "d=v", "d=w"]
    assert model.n_observations_ == len(y) - 1
    assert np.isnan(model.predict_proba(table)[3]).all()
    with pytest.raises(ValueError, match="no class can be predicted"):
        model.predict(table)
    io.save_model(model, tmp_path / "model.json")
    loaded = io.load_model(tmp_path / "model.json")
    assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    assert str(loaded.coefficient_table_) == str(model.coefficient_table_)
    assert loaded.summary() == model.summary()
    assert loaded.likelihood_ratio_test_ == model.likelihood_ratio_test_
    kept = np.arange(len(y)) != 3
    one, other = anova(model, table, y), anova(loaded, table[kept], y[kept])
    assert_allclose(one.columns["chi2"], other.columns["chi2"])
    assert one.columns["df"].tolist() == [1.0, 1.0, 1.0, 2.0, len(y) - 1 - 8.0]


def test_tests_of_columns():
    X, y, weight = make_rows()
    model = OrdinalRegression().fit(X, y, weight)
    smaller = clone(model).fit(X[:, :2], y, weight)
    table = compare_models(smaller, model)
    gained = smaller.deviance_ - model.deviance_
    assert_allclose(table.columns["chi2"][1], gained)
    assert_allclose(anova(model, X, y, weight).columns["chi2"][2], gained, rtol=1e-6)
    first = anova(model, X, y, weight, type=1)
    assert_allclose(
        np.nansum(first.columns["chi2"]), model.likelihood_ratio_test_.statistic
    )
    assert first.columns["df"][:3].tolist() == [1.0, 1.0, 1.0]
    assert wald_test(model, ["x0", "x1"]).degrees_of_freedom == 2
    assert variance_inflation(model).factors.shape == (3,)
    test = model.proportional_odds_test(X, y, weight)
    assert test.names == ("x0", "x1", "x2", "all")
    assert test.columns["df"].tolist() == [2.0, 2.0, 2.0, 6.0]


def test_proportional_odds_are_rejected_where_they_do_not_hold():
    random = np.random.default_rng(0)
    x = random.normal(size=600)
    y = (random.logistic(size=600) < x).astype(int)
    y += (random.logistic(size=600) < -x - 1.0) & (y == 1)
    model = OrdinalRegression().fit(x[:, np.newaxis], y)
    test = model.proportional_odds_test(x[:, np.newaxis], y)
    assert test.p_values[-1] < 1e-6
    X, y, _ = make_rows(600)
    test = OrdinalRegression().fit(X, y).proportional_odds_test(X, y)
    assert test.p_values[-1] > 0.01
    with pytest.raises(ValueError, match="requires link='logit' and three classes"):
        OrdinalRegression("probit").fit(X, y).proportional_odds_test(X, y)


def test_robust_errors_and_effects():
    X, y, weight = make_rows(400)
    model = OrdinalRegression().fit(X, y)
    V = robust_covariance(model, X, y, covariance_type="HC0")
    assert_allclose(np.sqrt(V.diagonal()), np.sqrt(model.covariance_.diagonal()), 0.3)
    copies = robust_covariance(
        clone(model).fit(X, y, weight), X, y, weight, covariance_type="HC0"
    )
    rows = np.repeat(np.arange(len(y)), weight)
    each = robust_covariance(
        clone(model).fit(X[rows], y[rows]), X[rows], y[rows], covariance_type="HC0"
    )
    assert_allclose(copies, each, rtol=1e-6)
    with pytest.raises(ValueError, match="use 'HC0', 'HC1' or 'cluster'"):
        robust_covariance(model, X, y)
    with pytest.raises(ValueError, match="must be those of the fit"):
        robust_covariance(model, X[1:], y[1:], covariance_type="HC0")
    found = predictions(model, X)
    assert_allclose(found.estimates, model.predict_proba(X).mean(axis=0))
    # The delta method, by differences.
    numbers = np.append(model.coef_, model.thresholds_)

    def average(numbers):
        moved = clone(model).fit(X, y)
        moved.coef_, moved.thresholds_ = numbers[:3], numbers[3:]
        return moved.predict_proba(X).mean(axis=0)

    gradient = np.array(
        [(average(numbers + s) - average(numbers - s)) / 2e-5 for s in np.eye(6) * 1e-5]
    )
    errors = np.sqrt(np.einsum("ik,ij,jk->k", gradient, model.covariance_, gradient))
    assert_allclose(found.standard_errors, errors, rtol=1e-6)
    levels = np.array(["u", "v"])[np.arange(len(y)) % 2]
    table = pd.DataFrame(X).assign(group=levels).rename(columns=str)
    means = marginal_means(OrdinalRegression().fit(table, y), table, "group")
    assert_allclose(means.estimates.reshape(2, 4).sum(axis=1), 1.0)
    for function in (comparisons, slopes):
        table = function(model, X)
        assert table.estimates.shape == (12,)
        assert_allclose(table.estimates.reshape(3, 4).sum(axis=1), 0.0, atol=1e-7)


def test_fractional_weights_warn():
    X, y, weight = make_rows()
    model = OrdinalRegression().fit(X, y, weight + 0.5)
    with pytest.warns(UserWarning, match="sample_weight was not whole numbers"):
        _ = model.standard_errors_


# ------------------------------------------------------------------------ offsets
def make_graded(n_rows=250):
    rng = np.random.default_rng(6)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "z": rng.normal(size=n_rows) * 10,
            "g": rng.choice(["a", "b"], n_rows),
        }
    )
    score = X["x"] + 0.1 * X["z"] + (X["g"] == "b") + rng.logistic(size=n_rows)
    return X, np.digitize(score, [-1.0, 0.5, 2.0])


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_offset_is_a_known_part_of_the_predictor(link, tmp_path):
    X, y = make_graded()
    weight = np.arange(len(y)) % 3 + 0.0
    plain = OrdinalRegression(link, tol=1e-12).fit(X, y, weight)
    offset = 0.3 * X["x"].to_numpy() - 0.02 * X["z"].to_numpy() + 1.0
    model = OrdinalRegression(link, tol=1e-12).fit(X, y, weight, offset=offset)
    np.testing.assert_allclose(plain.coef_ - model.coef_, [0.3, -0.02, 0.0], atol=1e-8)
    np.testing.assert_allclose(model.thresholds_, plain.thresholds_ + 1.0, atol=1e-7)
    np.testing.assert_allclose(model.covariance_, plain.covariance_, rtol=1e-5)
    assert abs(model.log_likelihood_ - plain.log_likelihood_) < 1e-8
    known = {"offset": offset}
    expected = plain.predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X, **known), expected, atol=1e-9)
    assert (model.predict(X, **known) == plain.predict(X)).all()
    np.testing.assert_allclose(
        model.predict_linear(X, **known), model.predict_linear(X) + offset
    )
    # The thresholds alone, with the offset: a column that says nothing.
    none = OrdinalRegression(link, tol=1e-12)
    none.fit(np.ones((len(y), 1)), y, weight, **known)
    assert abs(none.log_likelihood_ - model.null_log_likelihood_) < 1e-8
    assert abs(none.log_likelihood_ - plain.null_log_likelihood_) > 0.1
    # A table that is read in blocks.
    X.assign(y=y, w=weight, o=offset).to_csv(tmp_path / "t.csv", index=False)
    rows = io.scan(tmp_path / "t.csv")
    blocks = OrdinalRegression(link, tol=1e-12).fit(rows, "y", "w", offset="o")
    np.testing.assert_array_equal(blocks.coef_, model.coef_)
    assert blocks.null_log_likelihood_ == model.null_log_likelihood_
    np.testing.assert_array_equal(
        blocks.predict_proba(rows, offset="o"), model.predict_proba(X, **known)
    )


def test_inference_of_models_with_an_offset():
    X, y = make_graded()
    offset = 0.5 * X["x"].to_numpy()
    plain = OrdinalRegression(tol=1e-12).fit(X, y)
    model = OrdinalRegression(tol=1e-12).fit(X, y, offset=offset)
    options = {"covariance_type": "HC0"}
    np.testing.assert_allclose(
        robust_covariance(model, X, y, offset=offset, **options),
        robust_covariance(plain, X, y, **options),
        rtol=1e-5,
        atol=1e-9,
    )
    found = slopes(model, X, "z", offset=offset)
    expected = slopes(plain, X, "z")
    np.testing.assert_allclose(found.estimates, expected.estimates, rtol=1e-7)
    assert np.abs(slopes(model, X, "z").estimates - found.estimates).max() > 1e-5
    table = anova(model, X, y, offset=offset)
    smaller = OrdinalRegression(tol=1e-12).fit(X[["x", "z"]], y, offset=offset)
    both = compare_models(smaller, model)
    np.testing.assert_allclose(
        table.columns["chi2"][2], both.columns["chi2"][1], rtol=1e-7
    )
    first = anova(model, X, y, offset=offset, type=1)
    test = model.likelihood_ratio_test_
    np.testing.assert_allclose(
        first.columns["deviance"][:-1].sum(), test.statistic, rtol=1e-9
    )
    with pytest.raises(ValueError, match="weights and offset must be those of the fit"):
        robust_covariance(model, X, y, **options)
    with pytest.raises(ValueError, match="models without an offset"):
        model.proportional_odds_test(X, y)
    with pytest.raises(TypeError, match="has an offset, but no exposure"):
        slopes(model, X, "z", exposure=np.ones(len(y)))
    with pytest.raises(ValueError, match=r"offset must have shape \(250,\)"):
        OrdinalRegression().fit(X, y, offset=offset[:7])
    lacking = X.copy()
    lacking.loc[::5, "z"] = np.nan
    kept = lacking["z"].notna().to_numpy()
    found = OrdinalRegression(missing="drop").fit(lacking, y, offset=offset)
    expected = OrdinalRegression().fit(X[kept], y[kept], offset=offset[kept])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


def test_exports_name_what_can_be_exported():
    X, y = make_graded()
    model = OrdinalRegression().fit(X, y)
    for export in (export_code, to_onnx):
        with pytest.raises(ValueError, match="LogisticRegression, which ignores"):
            export(model)
