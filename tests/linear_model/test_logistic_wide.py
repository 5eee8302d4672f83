"""Logistic regression of many more columns than rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.linear_model import LogisticRegression
from sklearn_textbook.linear_model.logistic import basis, fitting


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("is_graded", [True, False])
def test_row_space_has_the_minimum_of_all_columns(
    n_classes, fit_intercept, is_graded, monkeypatch
):
    random = np.random.default_rng(7)
    X = random.standard_normal((40, 150)) + 3.0
    X *= np.logspace(0, -6 * is_graded, 40)[:, np.newaxis]
    y = np.arange(40) % n_classes
    weight = random.integers(1, 4, 40)
    shapes = []

    def solve(likelihood, *arguments):
        shapes.append(likelihood.n_columns)
        return lbfgs(likelihood, *arguments)

    lbfgs = fitting.SOLVERS["lbfgs"]
    monkeypatch.setitem(fitting.SOLVERS, "lbfgs", solve)
    monkeypatch.setattr(basis, "WIDE_COLUMNS", 100)
    options = {"C": 0.3, "fit_intercept": fit_intercept, "tol": 1e-10}
    exact = LogisticRegression(solver="newton", **options)
    exact.fit(X, y, sample_weight=weight)
    model = LogisticRegression(solver="lbfgs", warm_start=True, **options)
    for _ in range(2):  # the second time from the solution
        model.fit(X, y, sample_weight=weight)
        assert shapes[-1] <= 40
        size = np.abs(exact.coef_).max()
        assert_allclose(model.coef_, exact.coef_, atol=1e-6 * size)
        assert_allclose(model.intercept_, exact.intercept_, atol=1e-6)
    assert model.n_iter_[0] <= 3
    monkeypatch.setattr(basis, "WIDE_COLUMNS", 1000)
    model.set_params(warm_start=False).fit(X, y, sample_weight=weight)
    assert shapes[-1] == 150
    assert_allclose(model.coef_, exact.coef_, atol=1e-5 * size)
