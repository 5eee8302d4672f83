"""What must hold for every singular value decomposition, whatever the matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sklearn_textbook.decomposition import svd

#: Errors as multiples of the largest singular value.
ACCURACY = {"lapack": 1e-13, "gram": 1e-6, "jacobi": 1e-13}
each_method = pytest.mark.parametrize("method", list(ACCURACY))
any_seed = st.integers(0, 2**32)
any_side = st.integers(1, 12)


def make_matrix(seed, n_rows, n_columns, kind):
    """A matrix of some rank, with or without equal singular values."""
    random = np.random.default_rng(seed)
    if kind == "normal":
        return random.standard_normal((n_rows, n_columns))
    if kind == "few whole numbers":
        return random.integers(-1, 2, (n_rows, n_columns)).astype(float)
    rank = random.integers(0, min(n_rows, n_columns) + 1)
    U = np.linalg.qr(random.standard_normal((n_rows, n_rows)))[0][:, :rank]
    V = np.linalg.qr(random.standard_normal((n_columns, n_columns)))[0][:, :rank]
    s = np.ones(rank) if kind == "equal values" else 2.0 ** -np.arange(rank)
    return U * s @ V.T


KINDS = ["normal", "few whole numbers", "equal values", "falling values"]
matrices = st.builds(make_matrix, any_seed, any_side, any_side, st.sampled_from(KINDS))
#: Below 1e-308, floats have fewer digits, and singular values as well.
wild_numbers = st.just(0.0) | st.floats(1e-290, 1e300) | st.floats(-1e300, -1e-290)
wild_matrices = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=wild_numbers,
)


def assert_orthonormal(columns, atol=1e-11):
    np.testing.assert_allclose(columns.T @ columns, np.eye(columns.shape[1]), atol=atol)


def check_forms(A, decomposition, accuracy):
    """Full, compact and all truncated forms, at the scale of the largest entry."""
    largest = np.abs(A).max()
    scale = largest if largest > 0 else 1.0
    atol = accuracy * np.sqrt(A.size)
    n_rows, n_columns = A.shape
    U, s, Vt = decomposition.full
    assert (U.shape, Vt.shape) == ((n_rows, n_rows), (n_columns, n_columns))
    assert (np.diff(s) <= 0).all()
    assert (s >= 0).all()
    np.testing.assert_allclose(
        U @ (decomposition.full.sigma / scale) @ Vt, A / scale, atol=atol
    )
    U, s, Vt = decomposition.compact
    assert len(s) == decomposition.rank
    np.testing.assert_allclose(U * (s / scale) @ Vt, A / scale, atol=atol)
    for k in range(len(decomposition.singular_values) + 1):
        with np.errstate(over="ignore", under="ignore"):
            rest = A / scale - decomposition.reconstruct(k) / scale
        error = decomposition.frobenius_error(k) / scale
        assert error == pytest.approx(np.linalg.norm(rest), abs=atol)


@each_method
@given(matrices)
def test_forms(method, A):
    decomposition = svd(A, method)
    check_forms(A, decomposition, ACCURACY[method])
    assert_orthonormal(decomposition.full.Vt.T)
    if method != "gram" or np.linalg.cond(A) < 1e3:
        assert_orthonormal(decomposition.full.U, 1e-8 if method == "gram" else 1e-11)
    assert decomposition.rank == np.linalg.matrix_rank(A)


@pytest.mark.parametrize("method", ["lapack", "jacobi"])
@given(wild_matrices)
def test_forms_of_wild_matrices(method, A):
    """Entries from 1e-290 to 1e300, in one matrix."""
    decomposition = svd(A, method)
    check_forms(A, decomposition, ACCURACY[method])
    assert_orthonormal(decomposition.full.U)
    assert_orthonormal(decomposition.full.Vt.T)


@each_method
@given(matrices)
def test_spaces(method, A):
    """Of range and null space of A and its transpose: sizes, angles, images."""
    decomposition = svd(A, method)
    rank = decomposition.rank
    n_rows, n_columns = A.shape
    sizes = {
        "range_space": (n_rows, rank),
        "left_null_space": (n_rows, n_rows - rank),
        "row_space": (n_columns, rank),
        "null_space": (n_columns, n_columns - rank),
    }
    spaces = {name: getattr(decomposition, name) for name in sizes}
    assert {name: space.shape for name, space in spaces.items()} == sizes
    atol = 100 * ACCURACY[method]
    np.testing.assert_allclose(A @ spaces["null_space"], 0, atol=atol)
    np.testing.assert_allclose(A.T @ spaces["left_null_space"], 0, atol=atol)
    projection = spaces["range_space"] @ spaces["range_space"].T
    np.testing.assert_allclose(projection @ A, A, atol=atol)
    projection = spaces["row_space"] @ spaces["row_space"].T
    np.testing.assert_allclose(A @ projection, A, atol=atol)


@each_method
@given(matrices, st.sampled_from([1e-300, 1e-160, 1e160, 1e300]))
def test_scale_changes_values_alone(method, A, scale):
    """Up to rounding: of entries below 1e-308, digits are gone."""
    decomposition, scaled = svd(A, method), svd(A * scale, method)
    assert scaled.rank == decomposition.rank
    np.testing.assert_allclose(
        scaled.singular_values / scale,
        decomposition.singular_values,
        atol=100 * ACCURACY[method],
    )
    check_forms(A * scale, scaled, ACCURACY[method])


@each_method
@given(matrices, st.integers(-900, 900))
def test_powers_of_two_change_the_scale_alone(method, A, exponent):
    decomposition = svd(A, method)
    scaled = svd(np.ldexp(A, exponent), method)
    for one, other in zip(decomposition.full, scaled.full, strict=True):
        is_s = one.ndim == 1
        expected = np.ldexp(one, exponent) if is_s else one
        np.testing.assert_allclose(other, expected, rtol=1e-9, atol=0 if is_s else 1e-9)


@each_method
@given(matrices)
def test_signs(method, A):
    """The largest entry of each right vector is positive, the first of equal ones."""
    for row in svd(A, method).full.Vt:
        is_large = np.abs(row) > np.abs(row).max() * (1 - 1e-9)
        assert row[np.argmax(is_large)] > 0


@each_method
@given(any_seed, any_side, any_side)
def test_methods_agree_on_vectors(method, seed, n_rows, n_columns):
    """Where singular values differ, vectors are unique with their signs."""
    random = np.random.default_rng(seed)
    U = np.linalg.qr(random.standard_normal((n_rows, n_rows)))[0]
    V = np.linalg.qr(random.standard_normal((n_columns, n_columns)))[0]
    n_values = min(n_rows, n_columns)
    s = 1.0 + np.arange(n_values)[::-1]
    A = U[:, :n_values] * s @ V[:, :n_values].T
    decomposition, expected = svd(A, method), svd(A)
    for one, other in zip(decomposition.compact, expected.compact, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@each_method
@given(matrices)
def test_transpose_swaps_the_sides(method, A):
    decomposition, transposed = svd(A, method), svd(A.T, method)
    np.testing.assert_allclose(
        decomposition.singular_values,
        transposed.singular_values,
        atol=100 * ACCURACY[method],
    )
    assert decomposition.rank == transposed.rank
    np.testing.assert_allclose(
        decomposition.null_space @ decomposition.null_space.T,
        transposed.left_null_space @ transposed.left_null_space.T,
        atol=1e-6,
    )


@each_method
@given(matrices)
def test_outer_products_add_up(method, A):
    decomposition = svd(A, method)
    terms = decomposition.outer_products
    assert len(terms) == decomposition.rank
    total = sum(terms, np.zeros(A.shape))
    np.testing.assert_allclose(total, decomposition.reconstruct(), atol=1e-12)
    for term, value in zip(terms, decomposition.singular_values, strict=False):
        assert np.linalg.norm(term) == pytest.approx(value)
        assert np.linalg.matrix_rank(term, tol=1e-9 * value) == 1


@given(matrices, any_seed, st.integers(1, 4), st.integers(0, 3))
def test_random_projection_finds_no_more_than_there_is(A, seed, k, n_iter):
    k = min(k, *A.shape)
    exact = svd(A)
    found = svd(
        A,
        "randomized",
        n_components=k,
        n_iter=n_iter,
        n_oversamples=1,
        random_state=seed,
    )
    assert (found.singular_values <= exact.singular_values[:k] + 1e-12).all()
    error = np.linalg.norm(A - found.reconstruct(k))
    assert error >= exact.frobenius_error(k) - 1e-12
    assert found.frobenius_error(k) == pytest.approx(error, abs=1e-6)
    assert_orthonormal(found.truncated(k).Vt.T)


@given(matrices, any_seed, st.integers(0, 4))
def test_no_competitor_of_the_same_rank_is_closer(A, seed, k):
    """Eckart and Young (15.3.2 矩阵的最优近似): random matrices and neighbours."""
    k = min(k, *A.shape)
    decomposition = svd(A)
    error = decomposition.frobenius_error(k)
    random = np.random.default_rng(seed)
    U, s, Vt = decomposition._take(k)
    for size in (0.0, 1e-3, 1e-1, 1.0):
        left = U * s + size * random.standard_normal(U.shape)
        right = Vt + size * random.standard_normal(Vt.shape)
        assert np.linalg.norm(A - left @ right) >= error - 1e-12
        # The best coefficients for this row space: as close as it comes.
        best = np.linalg.lstsq(right.T, A.T)[0].T if k else left
        assert np.linalg.norm(A - best @ right) >= error - 1e-12
