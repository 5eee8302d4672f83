"""The transformer TruncatedSVD: against scikit-learn's, and where it goes beyond."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD as StockTruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.decomposition import TruncatedSVD, svd
from sklearn_textbook.decomposition import truncated_svd as module
from sklearn_textbook.decomposition.narrow import find_right_vectors
from sklearn_textbook.decomposition.variances import sum_variances

ALGORITHMS = ["randomized", "arpack", "propack", "lapack", "gram", "jacobi"]
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def draw(n_rows, n_columns, rank=3, noise=0.01, seed=0, dtype=np.float64):
    """A table of some rank and a little noise; its columns have means."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, rank)) * 2.0 ** -np.arange(rank)
    X = X @ random.standard_normal((rank, n_columns)) + 1
    return (X + noise * random.standard_normal(X.shape)).astype(dtype)


@each_algorithm
@pytest.mark.parametrize("shape", [(200, 8), (60, 40), (20, 70)])
def test_attributes_are_those_of_scikit_learn(algorithm, shape):
    X = draw(*shape)
    ours = TruncatedSVD(3, algorithm=algorithm, random_state=0)
    stock = StockTruncatedSVD(3, algorithm="arpack", random_state=0)
    projected, expected = ours.fit_transform(X), stock.fit_transform(X)
    np.testing.assert_allclose(projected, expected, atol=1e-6)
    for name in ("components_", "singular_values_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(stock, name), atol=1e-6)
    for name in ("explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(stock, name), atol=1e-6)
    np.testing.assert_allclose(ours.transform(X), projected, atol=1e-12)
    np.testing.assert_allclose(
        ours.inverse_transform(projected), stock.inverse_transform(expected), atol=1e-6
    )
    assert vars(ours).keys() == vars(stock).keys()


@pytest.mark.parametrize("n_rows", [8, 50])
def test_jacobi_is_accurate_whatever_the_scale_of_rows(n_rows):
    random = np.random.default_rng(0)
    orthogonal = np.linalg.qr(random.standard_normal((n_rows, n_rows)))[0]
    scales = 10.0 ** -(3 * np.arange(8))
    X = np.zeros((n_rows, 8))
    X[random.permutation(n_rows)[:8]] = scales[:, np.newaxis] * orthogonal[:8, :8]
    exact = svd(X, "jacobi").singular_values
    assert exact[-1] < 1e-18 * exact[0]
    model = TruncatedSVD(8, algorithm="jacobi").fit(X)
    np.testing.assert_allclose(model.singular_values_, exact, rtol=1e-13)


def test_parameters_are_those_of_scikit_learn():
    assert TruncatedSVD().get_params() == StockTruncatedSVD().get_params()


@each_algorithm
def test_components_are_those_of_svd(algorithm):
    X = draw(40, 12)
    model = TruncatedSVD(3, algorithm=algorithm, random_state=0).fit(X)
    _, s, Vt = svd(X).truncated(3)
    np.testing.assert_allclose(model.singular_values_, s, rtol=1e-9)
    np.testing.assert_allclose(model.components_, Vt, atol=1e-6)


@each_algorithm
def test_sparse_tables(algorithm):
    X = draw(50, 30) * (np.random.default_rng(1).random((50, 30)) < 0.2)
    model = TruncatedSVD(2, algorithm=algorithm, n_iter=20, random_state=0)
    if algorithm in ("lapack", "gram", "jacobi"):
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            model.fit(sparse.csr_array(X))
        assert not model.__sklearn_tags__().input_tags.sparse
        return
    dense = model.fit_transform(X)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_allclose(model.fit_transform(form(X)), dense, atol=1e-6)
    assert model.explained_variance_ratio_.sum() == pytest.approx(
        np.var(dense, axis=0).sum() / np.var(X, axis=0).sum()
    )


def test_frames_and_names():
    X = pd.DataFrame(draw(30, 4), columns=list("abcd"))
    model = make_pipeline(StandardScaler(), TruncatedSVD(2)).set_output(
        transform="pandas"
    )
    projected = model.fit_transform(X)
    assert list(projected.columns) == ["truncatedsvd0", "truncatedsvd1"]
    assert list(model[-1].feature_names_in_) == list("abcd")
    assert list(model.get_feature_names_out()) == list(projected.columns)


# ------------------------------------------------------------ tall and narrow tables


def fail(*arguments, **options):
    raise AssertionError("is not to be called")


def test_narrow_tables_do_without_chance(monkeypatch):
    monkeypatch.setattr(module, "factor_truncated", fail)
    X = draw(400, 20)
    _, s, Vt = svd(X).truncated(3)
    for random_state in (0, 1):
        model = TruncatedSVD(3, random_state=random_state).fit(X)
        np.testing.assert_allclose(model.singular_values_, s, rtol=1e-13)
        np.testing.assert_allclose(model.components_, Vt, atol=1e-12)
    with pytest.raises(AssertionError, match="not to be called"):
        TruncatedSVD(3, n_iter=0, n_oversamples=1).fit(X)  # few directions cost less
    with pytest.raises(AssertionError, match="not to be called"):
        TruncatedSVD(3).fit(sparse.csr_array(X))


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_small_values_of_narrow_tables(dtype, rtol):
    """What eigenvectors of the Gram matrix do not tell, the triangle of X does."""
    X = draw(400, 20, rank=10, noise=0, dtype=dtype) - dtype(1)
    X *= 2.0 ** -np.arange(0, 40, 2).astype(dtype)  # values fall by 2**-2 and more
    assert find_right_vectors(X, 1, 3) is not None
    assert find_right_vectors(X, 9, 12) is None
    model = TruncatedSVD(9).fit(X)
    exact = svd(X.astype(np.float64)).singular_values
    assert exact[8] < 1e-4 * exact[0]
    assert model.singular_values_.dtype == dtype
    np.testing.assert_allclose(model.singular_values_[:4], exact[:4], rtol=rtol)
    if dtype == np.float64:
        np.testing.assert_allclose(model.singular_values_, exact[:9], rtol=rtol)


# --------------------------------------------------------------- scales and constants


@each_algorithm
@pytest.mark.parametrize("scale", [1e-140, 1e140])
@pytest.mark.parametrize("shape", [(100, 8), (30, 20)])
def test_any_scale(algorithm, scale, shape):
    X = draw(*shape)
    model = TruncatedSVD(2, algorithm=algorithm, random_state=0)
    values, ratios = model.fit(X).singular_values_, model.explained_variance_ratio_
    model.fit(X * scale)
    np.testing.assert_allclose(model.singular_values_ / scale, values, rtol=1e-6)
    np.testing.assert_allclose(model.explained_variance_ratio_, ratios, rtol=1e-6)


@each_algorithm
def test_variances_larger_than_any_float(algorithm):
    with pytest.raises(ValueError, match="Column 0 has .* whose square overflows"):
        TruncatedSVD(1, algorithm=algorithm).fit(draw(30, 20) * 1e200)


@each_algorithm
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
def test_constant_columns_have_no_variance_to_explain(algorithm, value):
    X = np.full((20, 4), value)
    model = TruncatedSVD(1, algorithm=algorithm, random_state=0).fit(X)
    np.testing.assert_allclose(model.singular_values_, value * np.sqrt(80), atol=1e-12)
    np.testing.assert_array_equal(model.explained_variance_ratio_, 0)


def test_sum_of_variances():
    random = np.random.default_rng(0)
    X = random.standard_normal((5_000, 60)) * random.random(60) + 1e6
    exact = np.var(X.astype(np.longdouble), axis=0).sum()
    assert sum_variances(X) == pytest.approx(float(exact), rel=1e-10)
    assert sum_variances(np.asfortranarray(X)) == pytest.approx(float(exact), rel=1e-10)
    narrow = (X - 1e6).astype(np.float32)
    exact = np.var(narrow.astype(float), axis=0).sum()
    assert sum_variances(narrow) == pytest.approx(exact, rel=1e-5)
    assert sum_variances(sparse.csr_array(narrow)) == pytest.approx(exact, rel=1e-4)


# ------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "'n_components' parameter"),
        ({"n_components": 2.0}, "'n_components' parameter"),
        ({"algorithm": "lobpcg"}, "'algorithm' parameter must be one of 'randomized'"),
        ({"n_iter": -1}, "'n_iter' parameter"),
        ({"n_oversamples": 0}, "'n_oversamples' parameter"),
        ({"power_iteration_normalizer": "lu"}, "'power_iteration_normalizer' parame"),
        ({"tol": -1}, "'tol' parameter"),
        ({"random_state": -1}, "'random_state' parameter"),
        (
            {"n_components": 6},
            "at most 5 with algorithm='randomized' for n_samples = 20",
        ),
        (
            {"n_components": 5, "algorithm": "arpack"},
            "at most 4 with algorithm='arpack'",
        ),
        ({"n_components": 6, "algorithm": "gram"}, "at most 5 with algorithm='gram'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TruncatedSVD(**parameters).fit(draw(20, 5))


@each_algorithm
def test_no_table(algorithm):
    model = TruncatedSVD(1, algorithm=algorithm)
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ValueError, match="Complex"):
        model.fit(np.array([[1j, 2.0], [1.0, 2.0]]))
