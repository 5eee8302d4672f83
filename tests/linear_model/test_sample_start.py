"""Fits of large tables, which start from a sample of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, gammaln

from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LogisticRegression,
)
from sklearn_textbook.linear_model.generalized import reweighting
from sklearn_textbook.linear_model.logistic import fitting

N_ROWS = 40_000


def make_columns(seed=0):
    """Standard columns, and correlated ones of very different units that span them."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((N_ROWS, 6))
    mixed = (X @ (np.eye(6) + 0.9)) * 10.0 ** np.arange(-3, 3) + 5.0
    return random, X, mixed


def draw_classes(random, X, n_classes):
    scores = X @ random.standard_normal((6, n_classes)) * 0.7
    return (scores + random.gumbel(size=scores.shape)).argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize("parameters", [{}, {"C": 0.01}, {"solver": "lbfgs"}])
def test_logistic(monkeypatch, n_classes, parameters):
    random, X, mixed = make_columns()
    y = draw_classes(random, X, n_classes)
    model = LogisticRegression(**parameters).fit(X, y)
    assert model.converged_
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "find_start", lambda *rest: None)
        whole = LogisticRegression(**(parameters | {"solver": "newton"})).fit(X, y)
    assert_allclose(model.coef_, whole.coef_, rtol=1e-6, atol=1e-7)
    assert_allclose(model.loss_path_[-1], whole.loss_path_[-1], rtol=1e-13)
    assert model.loss_path_[0] < 1.01 * model.loss_path_[-1]
    if "C" not in parameters:
        assert_allclose(model.covariance_, whole.covariance_, rtol=1e-6, atol=1e-11)
        # The number of iterations depends neither on units nor on correlations.
        other = LogisticRegression(**parameters).fit(mixed, y)
        assert abs(other.n_iter_[0] - model.n_iter_[0]) <= 2
        assert_allclose(other.log_likelihood_, model.log_likelihood_, rtol=1e-12)


def test_number_of_threads():
    random, X, _ = make_columns()
    y = draw_classes(random, X, 4)
    one, two = (LogisticRegression(n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.coef_, two.coef_)
    counts = random.poisson(np.exp(0.3 * X[:, 0])).astype(float)
    one, two = (
        GeneralizedLinearRegressor("poisson", n_jobs=n).fit(X, counts) for n in (1, 2)
    )
    assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("family", "link"),
    [
        ("poisson", "log"),
        ("gamma", "log"),
        ("gamma", "inverse"),
        ("binomial", "probit"),
    ],
)
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_generalized(monkeypatch, family, link, alpha):
    random, X, mixed = make_columns()
    predictor = 0.2 * X @ random.standard_normal(6)
    if link == "inverse":
        X, mixed = np.abs(X), np.abs(mixed)
        predictor = -np.log(1.0 + X @ np.linspace(0.1, 0.5, 6))
    mean = np.exp(predictor)
    y = {
        "poisson": lambda: random.poisson(mean).astype(float),
        "gamma": lambda: mean * random.gamma(2.0, 0.5, N_ROWS),
        "binomial": lambda: (random.random(N_ROWS) < expit(predictor)).astype(float),
    }[family]()
    offset = None if link == "inverse" else 0.1 * random.standard_normal(N_ROWS)
    weight = random.integers(1, 3, N_ROWS)
    model = GeneralizedLinearRegressor(family, link, alpha=alpha)
    model.fit(X, y, weight, offset=offset)
    assert model.converged_
    assert model.n_iter_ <= 10
    assert len(model.deviance_path_) == model.n_iter_ + 1
    assert model.deviance_path_[-1] == model.deviance_
    with monkeypatch.context() as patch:
        patch.setattr(reweighting, "_fit_sample", lambda problem: None)
        whole = GeneralizedLinearRegressor(family, link, alpha=alpha, tol=1e-12)
        whole.fit(X, y, weight, offset=offset)
    assert_allclose(model.coef_, whole.coef_, rtol=1e-5, atol=1e-8)
    # Without a penalty, the deviance itself is at its minimum.
    precision = 1e-8 if alpha else 1e-12
    assert_allclose(model.deviance_, whole.deviance_, rtol=precision)
    if not alpha:
        assert_allclose(model.standard_errors_, whole.standard_errors_, rtol=1e-6)
        assert_allclose(model.log_likelihood_, whole.log_likelihood_, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_samples_that_describe_no_other_rows(monkeypatch):
    """Separated samples, rare classes and rows far from all others."""
    random, X, _ = make_columns()
    y = draw_classes(random, X, 2)
    starts = []
    find_start = fitting.find_start

    def find(*arguments):
        starts.append(find_start(*arguments))
        return starts[-1]

    monkeypatch.setattr(fitting, "find_start", find)
    LogisticRegression().fit(X, X[:, 0] > 0.0)
    rare = np.zeros(N_ROWS, dtype=int)
    rare[1:200] = 1
    assert LogisticRegression().fit(X, rare).converged_
    assert starts == [None, None]
    X[7, 0] = 1e6
    model = LogisticRegression().fit(X, y)
    assert model.converged_
    assert model.n_iter_[0] < 40


def test_counts_and_their_factorials():
    y = np.array([0.0, 1.0, 5.0, 2.5, 12.0] * 10)
    for values in (y, np.floor(y)):
        model = GeneralizedLinearRegressor("poisson").fit(y[:, np.newaxis], values)
        mean = model.predict(y[:, np.newaxis])
        expected = values @ np.log(mean) - mean.sum() - gammaln(values + 1.0).sum()
        assert_allclose(model.log_likelihood_, expected, rtol=1e-12)
