"""Identities of principal components on matrices of any shape, rank and scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_textbook.decomposition import PCA
from tests.reference.principal_components import find_components

WHOLE = ("full", "covariance_eigh")


@st.composite
def make_matrices(draw, least_columns=1):
    """A matrix of some rank, with columns off 0, repeated, or of equal variance."""
    n_rows = draw(st.integers(2, 30))
    n_columns = draw(st.integers(least_columns, 12))
    rank = draw(st.integers(1, 12))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.standard_normal((n_rows, rank)) @ random.standard_normal(
        (rank, n_columns)
    )
    if draw(st.booleans()):
        X[:, -1] = X[:, 0]
    if draw(st.booleans()) and n_rows > n_columns + 1:
        # Equal eigenvalues: the columns become orthonormal.
        X = np.linalg.qr(X - X.mean(axis=0))[0] + 0.0
    X += draw(st.sampled_from([0.0, 3.0, 1e4])) * random.standard_normal(n_columns)
    return X * draw(st.sampled_from([1e-120, 1e-8, 1.0, 1e8, 1e120]))


def fit_both(X, **parameters):
    return [PCA(svd_solver=solver, **parameters).fit(X) for solver in WHOLE]


def standardized(pca, X):
    """Rows as the components see them."""
    return (X - pca.mean_) / (1.0 if pca.scale_ is None else pca.scale_)


@given(make_matrices(), st.booleans())
def test_identities(X, standardize):
    for pca in fit_both(X, standardize=standardize):
        A, eigenvalues = pca.components_, pca.eigenvalues_
        n_rows, largest = len(X), pca.eigenvalues_[0]
        np.testing.assert_allclose(A @ A.T, np.eye(len(A)), atol=1e-12)
        assert (np.diff(eigenvalues) <= 0).all()
        assert (eigenvalues >= 0).all()
        Z = standardized(pca, X)
        S = Z.T @ Z / (n_rows - 1)
        # λ_k is the variance of y_k, and the scores are not correlated.
        np.testing.assert_allclose(
            A @ S @ A.T / largest, np.diag(eigenvalues) / largest, atol=1e-11
        )
        assert pca.explained_variance_.sum() == pytest.approx(np.trace(S), rel=1e-10)
        assert pca.cumulative_contribution_[-1] == pytest.approx(1.0)
        np.testing.assert_allclose(
            pca.singular_values_ / np.sqrt(largest),
            np.sqrt((n_rows - 1) * eigenvalues / largest),
            atol=1e-11,
        )
        varies = pca.var_ > 0
        np.testing.assert_allclose(pca.communalities_[varies], 1.0, rtol=1e-8)
        back = pca.inverse_transform(pca.transform(X))
        np.testing.assert_allclose(back, X, atol=1e-10 * np.abs(X).max())


@given(make_matrices(), st.booleans())
def test_eigenvalues_equal_singular_values(X, standardize):
    full, eigen = fit_both(X, standardize=standardize)
    largest = full.eigenvalues_[0]
    np.testing.assert_allclose(
        full.eigenvalues_ / largest, eigen.eigenvalues_ / largest, atol=1e-11
    )
    np.testing.assert_allclose(full.mean_, eigen.mean_, atol=1e-13 * np.abs(X).max())
    # Directions are determined as far as the next eigenvalue is away.
    gaps = np.abs(np.diff(full.eigenvalues_, prepend=np.inf, append=-np.inf))
    is_apart = np.minimum(gaps[:-1], gaps[1:]) > 1e-4 * largest
    np.testing.assert_allclose(
        full.components_[is_apart], eigen.components_[is_apart], atol=1e-6
    )


@given(make_matrices(), st.data())
def test_loadings_are_correlations(X, data):
    standardize = data.draw(st.booleans())
    for pca in fit_both(X, standardize=standardize):
        scores = pca.transform(X)
        for i in np.flatnonzero(pca.var_ > 0):
            for k in np.flatnonzero(pca.eigenvalues_ > 1e-4 * pca.eigenvalues_[0]):
                scaled = X[:, i] / np.abs(X[:, i]).max()
                expected = np.corrcoef(scaled, scores[:, k] / scores[:, k].std())[0, 1]
                assert pca.loadings_[i, k] == pytest.approx(expected, abs=1e-6)


@given(make_matrices(), st.booleans(), st.data())
def test_weights_are_copies(X, standardize, data):
    weights = data.draw(
        st.lists(st.integers(0, 4), min_size=len(X), max_size=len(X)).filter(
            lambda counts: sum(count > 0 for count in counts) > 1
        )
    )
    copies = np.repeat(X, weights, axis=0)
    solver = data.draw(st.sampled_from(WHOLE))
    pca = PCA(svd_solver=solver, standardize=standardize)
    weighted = PCA(svd_solver=solver, standardize=standardize)
    pca.fit(copies)
    weighted.fit(X, sample_weight=weights)
    assert weighted.n_samples_ == pca.n_samples_
    assert weighted.n_components_ == pca.n_components_
    largest = pca.eigenvalues_[0]
    np.testing.assert_allclose(
        weighted.eigenvalues_ / largest, pca.eigenvalues_ / largest, atol=1e-11
    )
    np.testing.assert_allclose(
        weighted.get_covariance() / pca.var_.max(),
        pca.get_covariance() / pca.var_.max(),
        atol=1e-11,
    )


@given(make_matrices(), st.booleans(), st.data())
def test_blocks_are_the_whole(X, standardize, data):
    cuts = data.draw(st.lists(st.integers(1, len(X) - 1), unique=True, max_size=8))
    blocks = np.split(X, sorted(cuts))
    pieces = PCA(standardize=standardize)
    for block in blocks:
        pieces.partial_fit(block)
    whole = PCA(svd_solver="covariance_eigh", standardize=standardize).fit(X)
    size = np.abs(X).max()
    np.testing.assert_allclose(pieces.mean_, whole.mean_, atol=1e-13 * size)
    largest = whole.eigenvalues_[0]
    np.testing.assert_allclose(
        pieces.eigenvalues_ / largest, whole.eigenvalues_ / largest, atol=1e-10
    )
    np.testing.assert_allclose(
        pieces.get_covariance() / whole.var_.max(),
        whole.get_covariance() / whole.var_.max(),
        atol=1e-10,
    )


@given(make_matrices(), st.booleans(), st.integers(0, 2**32 - 1))
def test_order_of_columns_and_origin_do_not_matter(X, standardize, seed):
    random = np.random.default_rng(seed)
    order = random.permutation(X.shape[1])
    # Added exactly: the steps of the grid of both are far above rounding.
    step = 2.0 ** (np.floor(np.log2(np.abs(X).max())) - 20)
    X = np.round(X / step) * step
    if (np.ptp(X, axis=0) == 0).any():
        return
    moved = X[:, order] + 1_000 * step
    for solver in WHOLE:
        one = PCA(svd_solver=solver, standardize=standardize).fit(X)
        other = PCA(svd_solver=solver, standardize=standardize).fit(moved)
        largest = one.eigenvalues_[0]
        np.testing.assert_allclose(
            one.eigenvalues_ / largest, other.eigenvalues_ / largest, atol=1e-11
        )
        np.testing.assert_allclose(
            one.get_covariance()[np.ix_(order, order)] / one.var_.max(),
            other.get_covariance() / one.var_.max(),
            atol=1e-11,
        )


@given(make_matrices(), st.integers(0, 2**32 - 1))
def test_units_of_columns_do_not_matter_to_correlations(X, seed):
    random = np.random.default_rng(seed)
    units = 2.0 ** random.integers(-40, 40, X.shape[1])
    for solver in WHOLE:
        one = PCA(svd_solver=solver, standardize=True).fit(X)
        other = PCA(svd_solver=solver, standardize=True).fit(X * units)
        np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-10)
        np.testing.assert_allclose(other.scale_, one.scale_ * units)
        assert one.eigenvalues_.sum() == pytest.approx(X.shape[1])


@given(make_matrices(), st.booleans(), st.booleans())
def test_reference(X, standardize, is_weighted):
    X = X / np.abs(X).max()
    weights = [1 + row % 3 for row in range(len(X))] if is_weighted else None
    values, directions, loadings, scores = find_components(
        X.tolist(), weights, standardize
    )
    for pca in [PCA(svd_solver=s, standardize=standardize) for s in WHOLE]:
        pca.fit(X, sample_weight=weights)
        n_kept = min(pca.n_components_, len(X) - 1)
        largest = values[0]
        np.testing.assert_allclose(
            pca.eigenvalues_[:n_kept] / largest,
            np.array(values[:n_kept]) / largest,
            atol=1e-11,
        )
        gaps = np.abs(np.diff(values, prepend=np.inf, append=-np.inf))
        is_apart = np.minimum(gaps[:-1], gaps[1:])[:n_kept] > 1e-4 * largest
        apart = np.flatnonzero(is_apart)
        for found, expected in (
            (pca.components_.T, np.transpose(directions)),
            (pca.loadings_, np.array(loadings)),
            (pca.transform(X), np.array(scores)),
        ):
            found, expected = found[:, apart], expected[:, apart]
            signs = np.sign((found * expected).sum(axis=0))
            np.testing.assert_allclose(found, expected * signs, atol=1e-6)


@given(make_matrices(), st.booleans())
def test_squared_cosines(X, standardize):
    (pca, _) = fit_both(X, standardize=standardize)
    cosines = pca.squared_cosines(X)
    Z = standardized(pca, X)
    length = np.sqrt((Z**2).sum(axis=1))
    far = length > 1e-6 * length.max()
    assert np.nanmin(cosines, initial=0.0) >= 0
    np.testing.assert_allclose(cosines[far].sum(axis=1), 1.0, rtol=1e-8)


@given(make_matrices(least_columns=2), st.booleans())
def test_density_of_the_model(X, standardize):
    X = X / np.abs(X).max()
    pca = PCA(n_components=1, standardize=standardize).fit(X)
    covariance, precision = pca.get_covariance(), pca.get_precision()
    eigenvalues = np.linalg.eigvalsh(covariance)
    if eigenvalues[0] < 1e-6 * eigenvalues[-1]:
        return
    np.testing.assert_allclose(
        covariance @ precision, np.eye(len(covariance)), atol=1e-8
    )
    centered = X - pca.mean_
    distances = np.einsum("ij,jk,ik->i", centered, np.linalg.inv(covariance), centered)
    logdet = np.linalg.slogdet(covariance)[1]
    expected = -0.5 * (distances + logdet + X.shape[1] * np.log(2 * np.pi))
    np.testing.assert_allclose(pca.score_samples(X), expected, rtol=1e-6, atol=1e-8)
    assert pca.score(X) == pytest.approx(expected.mean())
