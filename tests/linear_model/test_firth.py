"""Firth's penalty, and profile likelihood intervals of logistic regression."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook import io
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LogisticRegression,
    anova,
    compare_models,
    wald_test,
)


def make_rows(n_rows=60, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(2.0, 1.0, (n_rows, 2))
    y = (X[:, 0] + random.logistic(size=n_rows) > 2.5).astype(int)
    return X, y, random.integers(1, 4, n_rows)


def measure_loss(numbers, Z, y, weight):
    """Penalised loss of numpy alone."""
    scores = Z @ numbers
    curvature = weight * expit(scores) * expit(-scores)
    likelihood = weight @ np.where(y, log_expit(scores), log_expit(-scores))
    return -likelihood - 0.5 * np.linalg.slogdet(Z.T @ (curvature[:, None] * Z))[1]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("is_separated", [True, False])
def test_the_penalised_likelihood_has_its_maximum(fit_intercept, is_separated):
    X, y, weight = make_rows()
    y = (X[:, 0] > 2.0).astype(int) if is_separated else y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(firth=True, fit_intercept=fit_intercept)
        model.fit(X, y, weight)
    Z = np.column_stack([np.ones(len(X)), X])[:, 1 - fit_intercept :]
    found = minimize(measure_loss, np.zeros(Z.shape[1]), (Z, y, weight), tol=1e-10)
    estimates = np.append(model.intercept_[:fit_intercept], model.coef_)
    assert_allclose(estimates, found.x, rtol=1e-3, atol=1e-3)
    assert measure_loss(estimates, Z, y, weight) <= found.fun + 1e-10
    nothing = np.zeros(Z.shape[1])
    if fit_intercept:
        ends = minimize(
            lambda one: measure_loss(np.append(one, [0.0, 0.0]), Z, y, weight),
            0.0,
            tol=1e-10,
        )
        nothing[0] = ends.x[0]
    expected = 2 * (measure_loss(nothing, Z, y, weight) - found.fun)
    test = model.likelihood_ratio_test_
    assert_allclose(test.statistic, expected, rtol=1e-6)
    assert test.degrees_of_freedom == 2
    copies = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(copies.coef_, model.coef_, rtol=1e-6)


def test_as_many_columns_as_rows_need_few_steps():
    """The steps of the information alone shrink by little each."""
    X = np.random.default_rng(0).normal(size=(10, 8))
    model = LogisticRegression(firth=True).fit(X, np.arange(10) % 2)
    assert model.converged_
    assert model.n_iter_[0] < 40


def test_units_and_dependent_columns_change_nothing():
    X, y, _ = make_rows()
    model = LogisticRegression(firth=True).fit(X, y)
    scaled = clone(model).fit(X * [1e9, 1e-7] + [1e11, 0.0], y)
    assert_allclose(scaled.coef_ * [[1e9, 1e-7]], model.coef_, rtol=1e-4)
    with pytest.warns(UserWarning, match="linearly dependent"):
        doubled = clone(model).fit(X[:, [0, 1, 1]], y)
    assert_allclose(doubled.coef_[0, 1:], model.coef_[0, 1] / 2, rtol=1e-6)
    assert_allclose(
        doubled.likelihood_ratio_test_.statistic,
        model.likelihood_ratio_test_.statistic,
        rtol=1e-6,
    )
    intervals = doubled.profile_intervals(X[:, [0, 1, 1]], y)
    assert np.isnan(intervals[2:]).all()
    expected = model.profile_intervals(X, y)
    assert_allclose(intervals[:2], expected[:2], rtol=1e-5)
    loose = clone(model).fit(sparse.csr_array(X), y)
    assert_allclose(loose.coef_, model.coef_, rtol=1e-7)


def test_blocks_are_equal_to_the_table_in_memory(tmp_path):
    X, y, weight = make_rows(70_000)
    table = pd.DataFrame(X, columns=["a", "b"])
    table.assign(y=y, w=weight).to_parquet(tmp_path / "rows.parquet")
    model = LogisticRegression(firth=True)
    one = clone(model).fit(table, y, weight)
    two = clone(model).fit(io.scan(tmp_path / "rows.parquet"), "y", "w")
    assert_array_equal(two.coef_, one.coef_)
    assert_array_equal(two.covariance_, one.covariance_)
    assert two.likelihood_ratio_test_ == one.likelihood_ratio_test_


def test_profile_of_the_penalised_likelihood():
    X, y, weight = make_rows(20)
    y = (X[:, 0] > 2.0).astype(int)
    model = LogisticRegression(firth=True, tol=1e-10).fit(X, y, weight)
    Z = np.column_stack([np.ones(len(X)), X])
    least = measure_loss(np.append(model.intercept_, model.coef_), Z, y, weight)
    found = model.profile_intervals(X, y, weight, level=0.9)
    for place, ends in enumerate(found):
        for end in ends:
            free = np.delete(np.arange(3), place)

            def measure(some, end=end, place=place, free=free):
                numbers = np.empty(3)
                numbers[free], numbers[place] = some, end
                return measure_loss(numbers, Z, y, weight)

            start = np.append(model.intercept_, model.coef_)[free]
            starts = [start, [-25.0, -4.0]]
            held = min(
                (
                    minimize(measure, each, method="Nelder-Mead", tol=1e-10)
                    for each in [*starts, [-19.0, -7.0], [14.0, 0.0]]
                ),
                key=lambda found: found.fun,
            )
            rise = np.sqrt(2 * (held.fun - least))
            assert_allclose(rise, norm.isf(0.05), rtol=1e-5)


def test_profile_where_the_likelihood_has_a_saddle_point():
    """By symmetry, a fit with the slope held high may end where it is largest in all
    directions but one."""
    X = np.column_stack([np.arange(1.0, 9.0), [1, 0] * 4])
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    model = LogisticRegression(firth=True).fit(X, y)
    assert_allclose(model.profile_intervals(X, y)[1, 1], 3.21297, rtol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("class_weight", [None, {0: 2.0, 1: 1.0}])
def test_profile_intervals_of_the_binomial_family(fit_intercept, class_weight):
    X, y, weight = make_rows()
    model = LogisticRegression(fit_intercept=fit_intercept, class_weight=class_weight)
    model.fit(sparse.csr_array(X), y, weight)
    found = model.profile_intervals(X, y, weight, level=0.9)
    if class_weight:
        weight = weight * np.where(y, 1, 2)
    other = GeneralizedLinearRegressor("binomial", fit_intercept=fit_intercept)
    expected = other.fit(X, y, weight).profile_intervals(X, y, weight, level=0.9)
    assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Complete separation")
def test_profile_intervals_of_separated_classes_are_infinite():
    X = np.arange(8.0)[:, np.newaxis]
    y = np.arange(8) > 3
    model = LogisticRegression().fit(X, y)
    low, high = model.profile_intervals(X, y)[1]
    assert np.isfinite(low)
    assert high == np.inf


def test_what_profile_intervals_require():
    X, y, _ = make_rows()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="needs the rows, labels and weights of"):
        model.profile_intervals(X[1:], y[1:])
    with pytest.raises(ValueError, match="level must be a float"):
        model.profile_intervals(X, y, level=95)
    with pytest.raises(AttributeError, match="only without penalty"):
        LogisticRegression(C=1.0).fit(X, y).profile_intervals(X, y)
    classes = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="requires two classes"):
        LogisticRegression().fit(X, classes).profile_intervals(X, classes)


def test_the_remedy_is_named():
    X = np.arange(8.0)[:, np.newaxis]
    with pytest.warns(ConvergenceWarning, match="With firth=True or a finite C"):
        LogisticRegression().fit(X, np.arange(8) > 3)
    with pytest.warns(ConvergenceWarning, match="meaningless. With a finite C"):
        LogisticRegression().fit(X, np.arange(8) // 3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"firth": "yes"}, "'firth' parameter must be"),
        ({"C": 1.0}, "a penalty of its own and allows no other; got C=1"),
        ({"l1_ratio": 0.5}, "a penalty of its own"),
        ({"solver": "lbfgs"}, "firth=True requires solver='newton' or 'auto'"),
    ],
)
def test_other_parameters_are_refused(options, words):
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match=words):
        LogisticRegression(**{"firth": True, **options}).fit(X, y)


def test_more_than_two_classes_are_refused():
    X, y, _ = make_rows()
    with pytest.raises(ValueError, match="firth=True requires two classes"):
        LogisticRegression(firth=True).fit(X, np.arange(len(y)) % 3)


def test_tests_and_model_files(tmp_path):
    X, y, _ = make_rows()
    model = LogisticRegression(firth=True).fit(X, y)
    assert "Firth's penalty" in model.summary()
    io.save_model(model, tmp_path / "model.json")
    loaded = io.load_model(tmp_path / "model.json")
    assert loaded.likelihood_ratio_test_ == model.likelihood_ratio_test_
    assert_array_equal(loaded.profile_intervals(X, y), model.profile_intervals(X, y))
    assert wald_test(model, ["x0"]).p_value < 0.1
    assert list(anova(model, X, y).columns) == ["df", "chi2"]
    for call in (
        lambda: anova(model, X, y, test="LR"),
        lambda: compare_models(clone(model).fit(X[:, :1], y), model),
    ):
        with pytest.raises(ValueError, match="likelihoods of models of other columns"):
            call()


def test_another_fit_forgets_the_penalty():
    X, y, _ = make_rows()
    model = LogisticRegression(firth=True).fit(X, y)
    plain = LogisticRegression().fit(X, y)
    model.set_params(firth=False).fit(X, y)
    assert model.likelihood_ratio_test_ == plain.likelihood_ratio_test_
