"""Each method of ``svd``: against its reference and exact numbers, and at the edges."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.utils.extmath import randomized_svd

from sklearn_textbook.decomposition import jacobi as jacobi_module
from sklearn_textbook.decomposition import svd
from sklearn_textbook.decomposition._jacobi import rotate_rows
from sklearn_textbook.decomposition.direct import factor_by_lapack
from sklearn_textbook.decomposition.triangle import reduce_to_triangle
from tests.loops import loop_over
from tests.reference import jacobi_svd

METHODS = ["lapack", "gram", "jacobi"]
TRUNCATED = ["arpack", "lobpcg", "propack", "randomized"]
each_method = pytest.mark.parametrize("method", METHODS)
each_solver = pytest.mark.parametrize("solver", TRUNCATED)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def find_error(values, exact):
    """The largest relative error of singular values."""
    return np.max(np.abs(values - exact) / exact)


def scale_columns(n_rows, n_columns, step, seed=0):
    """A well conditioned matrix with columns of very different lengths."""
    random = np.random.default_rng(seed)
    scales = 10.0 ** -(step * random.permutation(n_columns))
    return random.standard_normal((n_rows, n_columns)) * scales


# ------------------------------------------------------------------ Jacobi rotations


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 8, 13])
def test_kernel_rotates_like_its_reference(n_rows):
    rows = draw(n_rows, n_rows + 2, seed=n_rows)
    rotations, squares = np.eye(n_rows), np.empty(n_rows)
    reference_rows, reference_rotations = rows.copy(), rotations.copy()
    for _ in range(3):
        n_rotated = rotate_rows(rows, rotations, squares, 1e-13, 0.0)
        assert n_rotated == jacobi_svd.rotate_rows(
            reference_rows, reference_rotations, 1e-13
        )
        np.testing.assert_allclose(rows, reference_rows, atol=1e-12)
        np.testing.assert_allclose(rotations, reference_rotations, atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (9, 4), (4, 9)])
def test_jacobi_is_its_reference(shape):
    A = draw(*shape)
    U, s, Vt = jacobi_svd.decompose(A)
    signs = np.sign(Vt[np.arange(len(s)), np.abs(Vt).argmax(axis=1)])
    factors = svd(A, "jacobi").truncated(len(s))
    np.testing.assert_allclose(factors.s, s, rtol=1e-13)
    np.testing.assert_allclose(factors.U, U * signs, atol=1e-12)
    np.testing.assert_allclose(factors.Vt, Vt * signs[:, np.newaxis], atol=1e-12)


def test_rows_too_short_for_squares_are_zeros():
    """Of the second row and the third, little more than nothing is left."""
    A = np.ones((3, 3))
    A[0, 0] = 1e300
    decomposition = svd(A, "jacobi")
    np.testing.assert_array_equal(decomposition.singular_values, [1e300, 0, 0])
    A[0, 0] = 1e280
    values = svd(A, "jacobi").singular_values
    np.testing.assert_allclose(values[:2], [1e280, 2])


def test_rows_that_cannot_be_rotated_apart(monkeypatch):
    monkeypatch.setattr(jacobi_module, "MAX_SWEEPS", 1)
    with pytest.raises(np.linalg.LinAlgError, match="did not converge in 1 sweeps"):
        svd(draw(5, 5), "jacobi")


# -------------------------------------------------------- small values to all digits


@pytest.mark.parametrize(
    "A",
    [
        scale_columns(10, 6, 4),
        scale_columns(6, 6, 30, seed=1),
        scale_columns(6, 6, 4, seed=2).T,
        scale_columns(10, 6, 4, seed=3).T,
        scale_columns(6, 6, 4, seed=4).T * 10.0 ** -np.arange(0, 24, 4),
    ],
    ids=["columns", "columns by 1e-150", "rows", "wide", "rows and columns"],
)
def test_jacobi_is_accurate_whatever_the_scale_of_columns(A):
    """And of rows: LAPACK's errors are small beside the largest value only."""
    exact = jacobi_svd.find_exact_values(A)
    assert find_error(svd(A, "jacobi").singular_values, exact) < 1e-14


@pytest.mark.parametrize("shape", [(7, 4), (4, 7)])
def test_gram_is_the_procedure_of_the_book(shape):
    """Eigenvalues of the smaller of AᵀA and AAᵀ; the other side by A and σ (15.2)."""
    A = draw(*shape)
    smaller = A.T @ A if shape[0] > shape[1] else A @ A.T
    eigenvalues, vectors = np.linalg.eigh(smaller)
    U, s, Vt = svd(A, "gram").compact
    np.testing.assert_allclose(s**2, eigenvalues[::-1])
    found, other = (Vt.T, U) if shape[0] > shape[1] else (U, Vt.T)
    products = np.abs((found * vectors[:, ::-1]).sum(axis=0))
    np.testing.assert_allclose(products, 1)
    image = A @ found if shape[0] > shape[1] else A.T @ found
    np.testing.assert_allclose(other, image / s, atol=1e-13)


@pytest.mark.parametrize("shape", [(60, 14), (14, 60)])
def test_gram_has_orthonormal_vectors_of_ill_conditioned_matrices(shape):
    A = np.vander(np.linspace(0, 1, 60), 14).reshape(60, 14)
    decomposition = svd(A if shape[0] == 60 else A.T, "gram")
    U, s, Vt = decomposition.full
    np.testing.assert_allclose(U.T @ U, np.eye(shape[0]), atol=1e-13)
    np.testing.assert_allclose(Vt @ Vt.T, np.eye(shape[1]), atol=1e-13)
    error = np.abs(decomposition.reconstruct() - (A if shape[0] == 60 else A.T)).max()
    assert error < 1e-7 * s[0]


def test_gram_loses_half_of_the_digits():
    A = scale_columns(6, 6, 2, seed=1).T.copy()
    exact = jacobi_svd.find_exact_values(A)
    assert exact[-1] < 1e-9 * exact[0]
    gram, lapack, jacobi = (
        find_error(svd(A, method).singular_values, exact)
        for method in ("gram", "lapack", "jacobi")
    )
    assert gram > 1e-3 > 1e-5 > lapack > 1e-12 > 1e-14 > jacobi


def test_exact_values_are_exact():
    """Orthogonal columns of powers of two: the lengths are known."""
    hadamard = np.array([[1, 1], [1, -1]])
    A = np.kron(hadamard, hadamard) * 2.0 ** -np.array([0, 30, 60, 90])
    np.testing.assert_array_equal(
        jacobi_svd.find_exact_values(A), 2 * 2.0 ** -np.array([0, 30, 60, 90])
    )


def test_triangle_keeps_values_and_right_vectors():
    A = draw(5_000, 40)
    R = reduce_to_triangle(A)
    assert R.shape == (40, 40)
    np.testing.assert_array_equal(np.tril(R, -1), 0)
    np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-10)
    assert reduce_to_triangle(A.astype(np.float32)).dtype == np.float32


def test_second_driver_where_the_first_does_not_converge(monkeypatch):
    from scipy import linalg

    drivers = []
    original = linalg.svd

    def fail_once(A, lapack_driver="gesdd", **options):
        drivers.append(lapack_driver)
        if lapack_driver == "gesdd":
            raise linalg.LinAlgError
        return original(A, lapack_driver=lapack_driver, **options)

    monkeypatch.setattr(linalg, "svd", fail_once)
    A = draw(4, 3)
    U, s, Vt = factor_by_lapack(A)
    assert drivers == ["gesdd", "gesvd"]
    np.testing.assert_allclose(U * s @ Vt, A, atol=1e-14)


# ---------------------------------------------------------------- types of numbers


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float16])
@each_method
def test_other_numbers_become_double(dtype, method):
    A = draw(4, 3) > 0
    factors = svd(A.astype(dtype), method).full
    assert {array.dtype for array in factors} == {np.dtype(np.float64)}
    np.testing.assert_allclose(factors.U @ factors.sigma @ factors.Vt, A, atol=1e-12)


@pytest.mark.parametrize("method", ["lapack", *TRUNCATED])
def test_single_precision_is_kept(method):
    A = draw(40, 20).astype(np.float32)
    options = {} if method == "lapack" else {"n_components": 2, "random_state": 0}
    decomposition = svd(A, method, **options)
    assert {array.dtype for array in decomposition.truncated(2)} == {A.dtype}
    exact = svd(A.astype(np.float64)).singular_values[:2]
    rtol = 0.1 if method == "randomized" else 1e-4
    np.testing.assert_allclose(decomposition.singular_values[:2], exact, rtol=rtol)


@pytest.mark.parametrize("method", ["gram", "jacobi"])
def test_single_precision_is_decomposed_in_double(method):
    A = draw(5, 4).astype(np.float32)
    factors = svd(A, method).full
    assert factors.s.dtype == np.float64
    np.testing.assert_allclose(factors.U @ factors.sigma @ factors.Vt, A, atol=1e-13)


def test_input_is_left_alone():
    for order in "CF":
        A = np.array(draw(6, 5) * 1e300, order=order)
        A.flags.writeable = False
        for method in METHODS:
            svd(A, method)
        svd(A, "randomized", n_components=2)


# ------------------------------------------------------- the largest values alone


def make_known(n_rows, n_columns, s, seed=0):
    """A dense matrix with given singular values."""
    U = np.linalg.qr(draw(n_rows, len(s), seed=seed))[0]
    V = np.linalg.qr(draw(n_columns, len(s), seed=seed + 1))[0]
    return U * s @ V.T


FORMS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "operator": aslinearoperator,
}


@each_solver
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(60, 35), (35, 60)])
def test_truncated_form_of_any_matrix(solver, form, shape):
    A = make_known(*shape, 2.0 ** -np.arange(30))
    decomposition = svd(FORMS[form](A), solver, n_components=4, random_state=0)
    exact = svd(A).truncated(4)
    U, s, Vt = decomposition.truncated(4)
    np.testing.assert_allclose(s, exact.s, rtol=1e-7)
    np.testing.assert_allclose(U, exact.U, atol=1e-4)
    np.testing.assert_allclose(Vt, exact.Vt, atol=1e-4)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-8)
    if form == "operator":
        with pytest.raises(
            ValueError, match="only the 4 largest singular values of a linear operator"
        ):
            decomposition.frobenius_error(2)
    else:
        error = np.linalg.norm(A - decomposition.reconstruct())
        assert decomposition.frobenius_error() == pytest.approx(error, rel=1e-6)


@each_solver
@pytest.mark.parametrize("error", [KeyboardInterrupt, ArithmeticError])
def test_what_is_raised_by_products_is_passed_on(solver, error):
    """As Ctrl-C is, which may come within a product."""
    A = np.random.default_rng(0).normal(size=(60, 40))
    n_products = 0

    def multiply(vector):
        nonlocal n_products
        n_products += 1
        if n_products > 6:
            raise error("within a product")
        return A @ vector

    operator = LinearOperator(
        A.shape, matvec=multiply, rmatvec=lambda vector: A.T @ vector, dtype=A.dtype
    )
    with pytest.raises(error, match="within a product"):
        svd(operator, solver, n_components=5, random_state=0)


@pytest.mark.parametrize("solver", ["propack", "randomized"])
def test_all_triplets_of_a_sparse_matrix(solver):
    A = sparse.random_array((12, 9), density=0.4, random_state=np.random.default_rng(0))
    decomposition = svd(A, solver, n_components=9, random_state=0)
    exact = svd(A.toarray())
    np.testing.assert_allclose(
        decomposition.singular_values, exact.singular_values, atol=1e-12
    )
    assert decomposition.rank == exact.rank
    assert decomposition.full.U.shape == (12, 12)
    assert decomposition.frobenius_error(9) == 0


@pytest.mark.parametrize("solver", ["arpack", "propack", "randomized"])
def test_rank_is_known_once_a_value_is_zero(solver):
    A = make_known(60, 40, [5.0, 3.0, 1.0])
    decomposition = svd(
        sparse.csr_array(A), solver, n_components=5, random_state=0, rank_tolerance=1e-5
    )
    assert decomposition.rank == 3
    assert decomposition.null_space.shape == (40, 37)
    assert decomposition.left_null_space.shape == (60, 57)
    np.testing.assert_allclose(A @ decomposition.null_space, 0, atol=1e-6)
    np.testing.assert_allclose(A.T @ decomposition.left_null_space, 0, atol=1e-6)
    few = svd(sparse.csr_array(A), solver, n_components=2, random_state=0)
    assert "the first 2 singular values" in repr(few)
    for name in ("rank", "compact", "null_space", "left_null_space", "range_space"):
        with pytest.raises(
            ValueError, match="is not known, since all 2 computed singular values"
        ):
            getattr(few, name)
    with pytest.raises(ValueError, match="only 2 of 40 singular values"):
        few.full  # noqa: B018


@each_solver
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_zeros_have_a_truncated_form(solver, form):
    decomposition = svd(FORMS[form](np.zeros((12, 11))), solver, n_components=2)
    np.testing.assert_array_equal(decomposition.singular_values, 0)
    assert decomposition.rank == 0
    assert decomposition.frobenius_error() == 0
    assert svd(sparse.csr_array((12, 11)), solver, n_components=1).rank == 0


@each_solver
@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_truncated_form_at_any_scale(solver, scale, form):
    A = make_known(40, 30, 2.0 ** -np.arange(10))
    decomposition = svd(FORMS[form](A * scale), solver, n_components=2, random_state=0)
    np.testing.assert_allclose(decomposition.singular_values / scale, [1, 0.5])
    error = np.sqrt((0.25 ** np.arange(2, 10)).sum())
    assert decomposition.frobenius_error() / scale == pytest.approx(error)


@pytest.mark.parametrize("normalizer", ["auto", "QR", "LU", "none"])
def test_random_projection_errors_shrink_with_iterations(normalizer):
    A = draw(80, 60)
    errors = [
        svd(
            A,
            "randomized",
            n_components=5,
            n_iter=n_iter,
            power_iteration_normalizer=normalizer,
            random_state=0,
        ).frobenius_error()
        for n_iter in (0, 1, 4, 16)
    ]
    assert sorted(errors, reverse=True) == errors
    assert errors[-1] == pytest.approx(svd(A).frobenius_error(5), rel=1e-3)
    assert errors[0] > 1.01 * errors[-1]


@loop_over("normalizer", ["auto", "QR", "LU", "none"])
@loop_over("n_iter", [0, 2, 3])
@loop_over("form", ["dense", "fortran", "csr"])
@loop_over("shape", [(60, 35), (35, 60)])
def test_random_projection_is_that_of_scikit_learn(normalizer, n_iter, form, shape):
    """The same directions are drawn for a seed."""
    A = FORMS[form](draw(*shape))
    options = {
        "n_components": 4,
        "n_iter": n_iter,
        "power_iteration_normalizer": normalizer,
        "random_state": 3,
    }
    _, s, Vt = randomized_svd(A, **options)
    decomposition = svd(A, "randomized", **options)
    np.testing.assert_allclose(decomposition.singular_values, s, rtol=1e-10)
    products = np.abs((decomposition.truncated(4).Vt * Vt).sum(axis=1))
    np.testing.assert_allclose(products, 1, rtol=1e-10)


def test_more_directions_than_columns_make_random_projection_exact():
    A = draw(30, 8)
    decomposition = svd(A, "randomized", n_components=3, n_oversamples=20)
    np.testing.assert_allclose(
        decomposition.singular_values, svd(A).singular_values[:3], rtol=1e-13
    )


@each_solver
def test_operator_of_whole_numbers(solver):
    A = np.random.default_rng(0).integers(-9, 9, (12, 10))
    decomposition = svd(aslinearoperator(A), solver, n_components=1, n_iter=50)
    assert decomposition.singular_values.dtype == np.float64
    np.testing.assert_allclose(
        decomposition.singular_values, svd(A).singular_values[:1], rtol=1e-6
    )


@each_solver
def test_seed_decides(solver):
    A = sparse.random_array(
        (50, 40), density=0.2, random_state=np.random.default_rng(0)
    )
    one, same = (svd(A, solver, n_components=3, random_state=1) for _ in range(2))
    np.testing.assert_array_equal(one.reconstruct(), same.reconstruct())


# ----------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[1.0, np.nan]], "A contains NaN"),
        ([[1.0, np.inf]], "A contains infinity"),
        ([[1.0 + 1j]], r"A must be a real matrix; got dtype complex128"),
        (np.zeros((0, 3)), r"0 sample\(s\)"),
        (np.zeros((3, 0)), r"0 feature\(s\)"),
        ([1.0, 2.0], "Expected 2D array"),
        (np.zeros((2, 2, 2)), "dim 3"),
        ([["a", "b"]], "could not convert"),
    ],
)
@pytest.mark.parametrize("method", [*METHODS, "arpack"])
def test_no_matrix(A, message, method):
    options = {"n_components": 1} if method == "arpack" else {}
    with pytest.raises(ValueError, match=message):
        svd(A, method, **options)


@each_solver
def test_no_sparse_matrix(solver):
    with pytest.raises(ValueError, match="A must be a real matrix"):
        svd(sparse.csr_array([[1j]]), solver, n_components=1)
    with pytest.raises(ValueError, match="A must be a real matrix"):
        svd(aslinearoperator(np.array([[1j]])), solver, n_components=1)
    with pytest.raises(ValueError, match="NaN"):
        svd(sparse.csr_array([[np.nan, 1.0]]), solver, n_components=1)
    with pytest.raises(ValueError, match=r"A must not be empty; got shape \(0, 3\)"):
        svd(
            LinearOperator((0, 3), matvec=lambda v: v, dtype=float),
            solver,
            n_components=1,
        )
    for wrong in (np.nan, np.inf):
        A = draw(12, 11)
        A[3, 4] = wrong
        with pytest.raises(ValueError, match="products contain NaN or infinity"):
            svd(aslinearoperator(A), solver, n_components=1)


@each_method
def test_dense_methods_refuse_other_matrices(method):
    with pytest.raises(TypeError, match="A is sparse.*svd.A, method='arpack'"):
        svd(sparse.eye_array(3), method)
    with pytest.raises(TypeError, match="A is a linear operator"):
        svd(aslinearoperator(np.eye(3)), method)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "qr"}, "'method' parameter must be one of 'lapack'"),
        (
            {"n_components": 2},
            r"n_components must be None .*; got 2. Use .truncated\(k\)",
        ),
        ({"method": "arpack"}, "method='arpack' requires n_components"),
        ({"method": "arpack", "n_components": 0}, "'n_components' .* range .1, 6"),
        ({"method": "randomized", "n_components": 7}, "'n_components' .* range .1, 6"),
        ({"method": "arpack", "n_components": 6}, "at most 5 with 'arpack'"),
        ({"method": "lobpcg", "n_components": 2}, "at most 1 with 'lobpcg'"),
        ({"rank_tolerance": -1.0}, "'rank_tolerance' parameter must be a float"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"n_iter": -1}, "'n_iter' parameter"),
        ({"n_oversamples": 0}, "'n_oversamples' parameter"),
        ({"power_iteration_normalizer": "qr"}, "'power_iteration_normalizer'"),
        ({"random_state": "seed"}, "'random_state' parameter"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        svd(draw(8, 6), **options)


@each_method
def test_value_larger_than_any_float(method):
    with pytest.raises(ValueError, match="singular value above 1.8e.308.*Divide A"):
        svd(np.full((4, 4), 1e308), method)
