"""Logistic regression of nearly as many classes as rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.linear_model import LogisticRegression
from sklearn_textbook.linear_model.logistic import curvature


def make_groups():
    """Classes of one or two rows, in two groups that a column separates."""
    random = np.random.default_rng(3)
    y = np.arange(60) % 36
    X = random.standard_normal((60, 2))
    X[:, 1] = y % 2
    return X, y


@pytest.mark.filterwarnings("ignore:Quasi-complete separation", "ignore:The number of")
@pytest.mark.parametrize("is_weighted", [False, True])
def test_small_eigenvalues_are_found_from_the_rows(is_weighted, monkeypatch):
    X, y = make_groups()
    weight = np.random.default_rng(4).integers(1, 4, 60) if is_weighted else None
    steps, calls = [], []
    find_turned, find_root = curvature.factor_turned, curvature.find_root

    def compare(likelihood, theta, at):
        factor = find_turned(likelihood, theta, at)
        if factor is not None:
            step = factor.find_step(at.gradient)
            expected = find_root(likelihood, theta).find_step(at.gradient)
            steps.append((step, expected, float((expected * at.gradient).sum())))
        return factor

    def count(likelihood, theta):
        calls.append(theta)
        return find_root(likelihood, theta)

    monkeypatch.setattr(curvature, "factor_turned", compare)
    monkeypatch.setattr(curvature, "find_root", count)
    model = LogisticRegression(solver="newton").fit(X, y, sample_weight=weight)
    assert len(steps) > 2 * len(calls)
    for step, expected, decrease in steps:
        if decrease > 1e-6:
            assert_allclose(step, expected, atol=1e-2 * np.abs(expected).max())
    monkeypatch.setattr(curvature, "MANY_CLASSES", 1000)
    other = LogisticRegression(solver="newton").fit(X, y, sample_weight=weight)
    assert_allclose(model.log_likelihood_, other.log_likelihood_, rtol=1e-9)
    assert model.separation_ == other.separation_
    assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-6)
