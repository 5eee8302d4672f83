"""What ``svd`` returns: what is kept, what is made, what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.decomposition import SVDFactors, svd
from sklearn_textbook.decomposition.complement import find_complement
from sklearn_textbook.decomposition.signs import find_signs, fix_column_signs, fix_signs
from tests.memory import measure_peak


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("k", [0, 4, -1, 1.0, True, "1"])
def test_wrong_numbers_of_terms(k):
    decomposition = svd(draw(5, 3))
    with pytest.raises(ValueError, match=r"'k' parameter must be an int .* \[1, 3\]"):
        decomposition.truncated(k)
    if k != 0:
        for method in (decomposition.reconstruct, decomposition.frobenius_error):
            with pytest.raises(ValueError, match=r"'k' parameter .* \[0, 3\] or None"):
                method(k)


def test_no_terms_leave_the_norm():
    A = draw(5, 3)
    decomposition = svd(A)
    np.testing.assert_array_equal(decomposition.reconstruct(0), np.zeros((5, 3)))
    assert decomposition.frobenius_error(0) == pytest.approx(np.linalg.norm(A))
    assert decomposition.frobenius_error() == 0


def test_outer_products_are_a_sequence():
    terms = svd(draw(5, 3)).outer_products
    assert len(terms) == 3
    np.testing.assert_array_equal(terms[-1], terms[2])
    first, last = terms[::2]
    np.testing.assert_array_equal(first, terms[0])
    np.testing.assert_array_equal(last, terms[2])
    assert [term.shape for term in terms] == [(5, 3)] * 3
    for index in (3, -4):
        with pytest.raises(IndexError, match="out of range for 3 outer products"):
            terms[index]


def test_what_is_made_is_kept():
    decomposition = svd(draw(6, 3))
    for name in ("full", "null_space", "left_null_space"):
        assert getattr(decomposition, name) is getattr(decomposition, name)


def test_tall_matrices_take_little_memory():
    """Twenty columns of the square U would be more than all of this."""
    A = draw(20_000, 5)
    for method in ("lapack", "gram", "jacobi"):

        def decompose(method=method):
            decomposition = svd(A, method)
            decomposition.reconstruct(2)
            return decomposition.compact

        assert measure_peak(decompose) < 6 * A.nbytes


def test_given_tolerance_decides_the_rank():
    A = np.diag([4.0, 3.0, 1e-3])
    assert svd(A).rank == 3
    decomposition = svd(A, rank_tolerance=1e-3)
    assert decomposition.rank == 2
    assert decomposition.rank_tolerance == 1e-3
    assert decomposition.null_space.shape == (3, 1)
    assert decomposition.frobenius_error() == pytest.approx(1e-3)
    assert svd(A, rank_tolerance=0).rank == 3


def test_default_tolerances():
    A = draw(40, 3)
    largest, eps = np.linalg.svd(A)[1][0], np.finfo(float).eps
    assert svd(A).rank_tolerance == pytest.approx(40 * eps * largest)
    assert svd(A, "gram").rank_tolerance == pytest.approx(np.sqrt(40 * eps) * largest)
    narrow = svd(A.astype(np.float32)).rank_tolerance
    assert narrow == pytest.approx(40 * np.finfo(np.float32).eps * largest)


def test_factors_are_a_tuple_with_a_matrix():
    factors = SVDFactors(np.eye(2), np.array([2.0]), np.eye(3))
    U, s, Vt = factors
    assert (U.shape, s.shape, Vt.shape) == ((2, 2), (1,), (3, 3))
    np.testing.assert_array_equal(factors.sigma, [[2, 0, 0], [0, 0, 0]])


def test_frames_and_lists():
    A = draw(4, 3)
    for form in (A.tolist(), pd.DataFrame(A)):
        np.testing.assert_array_equal(svd(form).reconstruct(), svd(A).reconstruct())


def test_results_can_be_pickled():
    decomposition = svd(draw(4, 3))
    copy = pickle.loads(pickle.dumps(decomposition))
    np.testing.assert_array_equal(copy.full.U, decomposition.full.U)
    assert repr(copy) == repr(decomposition)


# ----------------------------------------------------------------------- the parts


def test_signs():
    rows = np.array([[1.0, -2.0], [-1.0, 1.0 + 1e-14], [0.0, -3.0], [1.0, -1.0]])
    np.testing.assert_array_equal(find_signs(rows), [-1, -1, -1, 1])
    U, Vt = np.eye(4), rows.copy()
    fix_signs(U, Vt)
    np.testing.assert_array_equal(U @ Vt, rows)
    np.testing.assert_array_equal(np.diag(U), [-1, -1, -1, 1])
    Q = np.array([[-0.6, 0.8], [-0.8, -0.6]])
    fix_column_signs(Q)
    np.testing.assert_array_equal(Q, [[0.6, 0.8], [0.8, -0.6]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n_given", "n_columns"), [(0, 3), (2, 0), (2, 4), (6, 1)])
def test_complement(dtype, n_given, n_columns):
    Q = np.linalg.qr(draw(7, 7))[0][:, :n_given].astype(dtype)
    added = find_complement(Q, n_columns)
    assert added.shape == (7, n_columns)
    assert added.dtype == dtype
    both = np.hstack([Q, added])
    np.testing.assert_allclose(
        both.T @ both, np.eye(n_given + n_columns), atol=10 * np.finfo(dtype).eps
    )
