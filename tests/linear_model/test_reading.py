"""What all linear models, PCA and LDA read alike: large numbers, missing values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
)

SQUARING = [
    LinearRegression(),
    LinearRegression(alpha=1.0),
    GeneralizedLinearRegressor(),
    GeneralizedLinearRegressor(family="poisson"),
    LogisticRegression(),
]
OTHERS = [
    MaxEntClassifier(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="eigen"),
    PCA(svd_solver="full"),
    PCA(svd_solver="covariance_eigh"),
]


def describe(model):
    return " ".join(repr(model).split())


def draw_rows():
    random = np.random.default_rng(0)
    X = random.standard_normal((80, 4))
    return X, (X[:, 0] + random.standard_normal(80) > 0).astype(float)


@pytest.mark.parametrize("size", [1e150, 1e200, 1e300])
@pytest.mark.parametrize("model", SQUARING, ids=describe)
def test_columns_too_large_for_squares_are_named(model, size):
    X, y = draw_rows()
    X[:, 2] *= size
    message = r"Column 'x2' has the value .* in row .* square overflows.* power of ten"
    for table in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(table, y)


@pytest.mark.parametrize("model", SQUARING[:3], ids=describe)
def test_targets_too_large_for_squares_are_named(model):
    X, y = draw_rows()
    y[5] = 1e200
    with pytest.raises(
        ValueError, match=r"y has the value 1e\+200 in row 5, .* square overflows"
    ):
        clone(model).fit(X, y)


@pytest.mark.parametrize("size", [1e140, 1e200, 1e300])
@pytest.mark.parametrize("model", OTHERS[:4], ids=describe)
def test_columns_of_any_size_are_scaled(model, size):
    X, y = draw_rows()
    expected = clone(model).fit(X, y).predict_proba(X)
    X[:, 2] *= size
    assert_allclose(clone(model).fit(X, y).predict_proba(X), expected, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [PCA(), PCA(standardize=True), PCA(2, svd_solver="arpack"), TruncatedSVD(2)],
    ids=describe,
)
def test_variances_too_large_for_a_float_name_the_column(model):
    X, _ = draw_rows()
    X[:, 2] *= 1e200
    for table in (X, sparse.csr_array(X)):
        with pytest.raises(
            ValueError, match="Column 2 has .* (square overflows|too large for)"
        ):
            clone(model).fit(table)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("model", SQUARING + OTHERS, ids=describe)
def test_rows_of_weight_zero_may_have_missing_values(model, make):
    if make is not np.asarray and not model.__sklearn_tags__().input_tags.sparse:
        make = np.asarray
    X, y = draw_rows()
    weight = np.ones(80)
    weight[[3, 9]] = 0.0
    kept = weight > 0
    expected = clone(model).fit(make(X[kept]), y[kept], sample_weight=weight[kept])
    X[3, 1], X[9, 2] = np.nan, np.inf
    if isinstance(model, (LinearRegression, GeneralizedLinearRegressor)):
        y[3] = np.nan
    found = clone(model).fit(make(X), y, sample_weight=weight)
    for name in ("coef_", "components_"):
        if hasattr(expected, name):
            assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-6)
    X[20, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN, first in row 20"):
        clone(model).fit(make(X), y, sample_weight=weight)


@pytest.mark.parametrize("model", [*SQUARING, *OTHERS, TruncatedSVD(2)], ids=describe)
def test_missing_values_are_named_with_a_way_out(model):
    X, y = draw_rows()
    fitted = clone(model).fit(X, y)
    X[4, 1] = np.nan
    remedy = "SimpleImputer" if isinstance(model, TruncatedSVD) else "missing='mean'"
    message = rf"Input X contains NaN, first in row 4, column .*{remedy}"
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, y)
    answer = fitted.predict if hasattr(fitted, "predict") else fitted.transform
    with pytest.raises(ValueError, match=message):
        answer(X)


@pytest.mark.parametrize(
    ("size", "weight", "remedy"),
    [(1e-120, 1e-90, "multiply"), (1e130, 1e90, "divide")],
)
def test_columns_whose_weighted_squares_overflow(size, weight, remedy):
    X, y = size * np.arange(8.0)[:, np.newaxis], np.array([0, 1] * 4)
    message = f"Column 'x0' times .*flow: {remedy} it or sample_weight"
    with pytest.raises(ValueError, match=message):
        GeneralizedLinearRegressor("poisson").fit(X, y, np.full(8, weight))


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        (LinearRegression(), [1e-300, 1e-160]),
        (GeneralizedLinearRegressor(), [1e-300, 1e-160]),
        (GeneralizedLinearRegressor("gamma", "log"), [1e-300, 1e-200]),
        (GeneralizedLinearRegressor("gamma"), [1e-300, 1e-200]),
        (GeneralizedLinearRegressor("inverse_gaussian"), [1e-110, 1e-80, 1e80, 1e140]),
        (GeneralizedLinearRegressor("tweedie", "log"), [1e-300, 1e-200]),
    ],
    ids=describe,
)
def test_targets_whose_powers_overflow(model, sizes):
    X, y = np.arange(8.0)[:, np.newaxis], np.array([1.0, 3, 2, 4, 3, 5, 6, 4])
    expected = clone(model).fit(X, y).score(X, y)
    for size in sizes:
        remedy = "multiply" if size < 1.0 else "divide"
        with pytest.raises(ValueError, match=f"flow: {remedy} it by a power of ten"):
            clone(model).fit(X, size * y)
    if model.get_params().get("link") != "auto" or isinstance(model, LinearRegression):
        tiny = clone(model).fit(X, 1e-120 * y)
        assert tiny.score(X, 1e-120 * y) == pytest.approx(expected, rel=1e-3)
    clone(model).fit(X, np.ones(8))
