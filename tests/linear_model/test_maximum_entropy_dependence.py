"""Maximum entropy of nearly dependent features, and of classes that they separate."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook.linear_model import LogisticRegression, MaxEntClassifier
from sklearn_textbook.linear_model.logistic import separation
from sklearn_textbook.linear_model.maximum_entropy.expectation import compute_scores
from sklearn_textbook.linear_model.maximum_entropy.joint_features import share_columns
from sklearn_textbook.linear_model.maximum_entropy.span import find_span
from tests.linear_model.entropy_cases import make_classes

SOLVERS = ["iis", "gis", "bfgs", "lbfgs"]


def make_nearly_equal(distance=1e-6, n_rows=2000):
    """Two columns whose difference, a small multiple of a third, tells much of y."""
    random = np.random.default_rng(0)
    x, d = random.standard_normal((2, n_rows))
    y = (random.random(n_rows) < 1 / (1 + np.exp(-0.8 * x - 1.2 * d))).astype(int)
    return np.column_stack([x, x + distance * d]), y, np.column_stack([x, d])


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("solver", ["bfgs", "lbfgs"])
def test_nearly_equal_columns(solver, distance, is_sparse):
    X, y, plain = make_nearly_equal(distance)
    best = LogisticRegression().fit(plain, y)
    table = sparse.csr_array(X) if is_sparse else X
    model = MaxEntClassifier(solver=solver).fit(table, y)
    assert_allclose(model.dual_value_ * len(y), best.log_likelihood_, atol=1e-6)
    assert model.score(table, y) == best.score(plain, y)
    assert model.n_iter_ < 15


@pytest.mark.parametrize("solver", ["gis", "iis"])
def test_scaling_does_not_converge_on_nearly_equal_columns(solver):
    X, y, _ = make_nearly_equal()
    with pytest.warns(ConvergenceWarning, match="features are nearly dependent, and"):
        MaxEntClassifier(solver=solver, tol=1e-5, max_iter=800).fit(X, y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("is_precomputed", [False, True])
def test_nearly_equal_features(is_precomputed, solver):
    X, y, plain = make_nearly_equal()
    best = LogisticRegression(fit_intercept=False).fit(plain, y).log_likelihood_
    features = [lambda x, y: x[0] * y, lambda x, y: x[1] * y]
    if is_precomputed:
        features, X = "precomputed", np.column_stack([0.0 * X, X])
    model = MaxEntClassifier(features, solver=solver, max_iter=100)
    if solver in ("gis", "iis"):
        with pytest.warns(ConvergenceWarning, match="features are nearly dependent"):
            model.fit(X, y)
    else:
        model.fit(X, y)
        assert_allclose(model.dual_value_ * len(y), best, atol=1e-6)


@pytest.mark.parametrize("solver", ["bfgs", "lbfgs"])
def test_small_penalty_of_nearly_equal_columns(solver):
    X, y, _ = make_nearly_equal(1e-4)
    model = MaxEntClassifier(solver=solver, alpha=1e-7).fit(X, y)
    # At the maximum, the slope of the likelihood is that of the penalty, along the
    # small difference of the columns as well.
    slope = X.T @ (y - model.predict_proba(X)[:, 1])
    along, penalty = slope[1] - slope[0], model.alpha * np.ptp(model.coef_[1])
    assert penalty > 1e-4
    assert_allclose(along, penalty, rtol=1e-3)


def test_dependent_columns_are_not_turned():
    """Exact combinations, as of the indicators of all levels, change nothing."""
    X, y = make_classes(4, 300)
    wide = np.column_stack([X, X[:, 0] - 2.0 * X[:, 1], np.ones(len(X))])
    for matrix, weight in ((X, None), (wide, 5)):
        features = share_columns(np.column_stack([matrix, np.ones(len(X))]), 3)
        penalty = np.zeros(features.n_features)
        span = find_span(features, np.ones(len(X)), penalty)
        assert span.directions is None
        assert weight is None or len(span.columns) == weight
        weights = np.arange(features.n_features) * 1.0
        scores = span.take(features.to_matrix()) @ span.project(weights)
        assert_allclose(scores, compute_scores(features, weights), rtol=1e-9, atol=1e-9)
    rows = np.random.default_rng(0).integers(0, 30, (30_000, 2))
    frame = pd.DataFrame(rows.astype(str), columns=["a", "b"])
    y = np.random.default_rng(1).integers(0, 3, len(frame))
    model = MaxEntClassifier().fit(frame, y)
    best = LogisticRegression().fit(frame, y)
    assert_allclose(model.dual_value_ * len(y), best.log_likelihood_, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_rows", [300, 20_000])
def test_combination_that_separates(n_rows, solver):
    """A level occurs without another one, to which it belongs, in one class only."""
    random = np.random.default_rng(1)
    X = random.normal(size=(n_rows, 3))
    y = (X + random.gumbel(size=X.shape)).argmax(axis=1)
    level = (random.random(n_rows) < 0.3).astype(float)
    part = level.copy()
    level[:20], part[:20], y[:20] = 1.0, 0.0, 1
    X = np.column_stack([X, level, part])
    model = MaxEntClassifier(solver=solver, max_iter=60, tol=1e-4)
    with pytest.warns(ConvergenceWarning, match="separates classes .quasi-complete"):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaxEntClassifier(tol=1e-3).fit(np.delete(X, 4, axis=1), y)
        MaxEntClassifier(tol=1e-3, alpha=1.0).fit(X, y)


def test_large_programme_of_separation(monkeypatch):
    monkeypatch.setattr(separation, "MOST_UNASKED", 1)
    X = np.array([[-1.0], [1.0], [2.0], [2.0], [3.0]])
    with pytest.warns(ConvergenceWarning, match="combination .* may separate classes"):
        MaxEntClassifier().fit(X - 1.5, [0, 0, 0, 1, 1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_features_that_are_zero_in_all_rows(solver):
    """Nothing is told of the classes but how frequent they are."""
    features = [
        lambda x, y, number=number: x[0] * number * (y == 1) for number in (1, 2)
    ]
    model = MaxEntClassifier(features=features, solver=solver)
    model.fit([[0.0]] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert_allclose(model.predict_proba([[0.0]]), np.full((1, 3), 1 / 3))
