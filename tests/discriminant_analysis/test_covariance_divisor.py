"""The divisor of the covariance within classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import OAS
from sklearn.datasets import load_iris

from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_covariance_and_direction_of_two_classes(solver):
    rows, classes = X[50:], Y[50:]
    model = LinearDiscriminantAnalysis(
        solver, store_covariance=True, covariance_divisor="n-g"
    ).fit(rows, classes)
    deviations = [rows[classes == k] - rows[classes == k].mean(axis=0) for k in (1, 2)]
    scatter = sum(d.T @ d for d in deviations)
    assert_allclose(model.covariance_, scatter / 98.0, rtol=1e-10)
    assert_allclose(model.within_scatter_, scatter, rtol=1e-10)
    difference = model.means_[0] - model.means_[1]
    assert_allclose(model.direction_, np.linalg.solve(scatter, difference), rtol=1e-8)
    if solver != "lsqr":
        turned = model.scalings_.T @ model.covariance_ @ model.scalings_
        assert_allclose(turned, [[1.0]], rtol=1e-8)


@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_shrunk_covariance_is_multiplied(shrinkage):
    models = [
        LinearDiscriminantAnalysis("lsqr", shrinkage, covariance_divisor=divisor).fit(
            X, Y
        )
        for divisor in ("n", "n-g")
    ]
    assert_allclose(
        models[1].covariance_, models[0].covariance_ * 150 / 147, rtol=1e-12
    )
    assert_allclose(models[1].coef_, models[0].coef_ * 147 / 150, rtol=1e-10)


def test_eigenvalues_do_not_depend_on_it():
    values = [
        LinearDiscriminantAnalysis(covariance_divisor=divisor).fit(X, Y).eigenvalues_
        for divisor in ("n", "n-g")
    ]
    assert_allclose(values[0], values[1], rtol=1e-14)


def test_refused_values():
    with pytest.raises(ValueError, match="covariance_divisor"):
        LinearDiscriminantAnalysis(covariance_divisor="n - 1").fit(X, Y)
    with pytest.raises(ValueError, match="chooses its divisor itself"):
        LinearDiscriminantAnalysis(
            "lsqr", covariance_estimator=OAS(), covariance_divisor="n-g"
        ).fit(X, Y)
    with pytest.raises(ValueError, match="sum of weights above the number of classes"):
        LinearDiscriminantAnalysis(covariance_divisor="n-g").fit(
            X, Y, sample_weight=np.full(150, 0.01)
        )
