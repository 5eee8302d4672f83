"""Singular values in 李航《统计学习方法》: examples 15.1 to 15.6, three exercises."""

import numpy as np
import pytest

from sklearn_textbook.datasets import load_svd_example, load_svd_exercise
from sklearn_textbook.decomposition import svd
from tests.golden import get_example

METHODS = ["lapack", "gram", "jacobi"]
each_method = pytest.mark.parametrize("method", METHODS)


def get_values(example_id):
    """What the book prints, or of exercises what was computed."""
    return get_example(f"lihang.{example_id}")["verified"]["value"]


def decompose(number, method):
    return svd(load_svd_example(number).data, method)


@each_method
def test_singular_values(method):
    """例15.1: 4, 3, √5 and 0."""
    values = decompose("15.1", method).singular_values
    np.testing.assert_allclose(values, get_values("ex15.1.singular_values"), atol=1e-9)


@each_method
def test_full(method):
    """例15.1: U and V in full; but for the null space of Aᵀ they are unique."""
    printed = get_values("ex15.1.svd")
    decomposition = decompose("15.1", method)
    U, _, Vt = decomposition.full
    assert U.shape == (5, 5)
    np.testing.assert_allclose(U[:, :3], np.array(printed["U"])[:, :3], atol=1e-9)
    np.testing.assert_allclose(Vt.T, printed["V"], atol=1e-9)
    left_null = np.array(printed["U"])[:, 3:]
    projection = decomposition.left_null_space @ decomposition.left_null_space.T
    np.testing.assert_allclose(projection, left_null @ left_null.T, atol=1e-9)
    sigma = np.zeros((5, 4))
    np.fill_diagonal(sigma, [4, 3, np.sqrt(5), 0])
    np.testing.assert_allclose(decomposition.full.sigma, sigma, atol=1e-9)


@each_method
def test_compact(method):
    """例15.2: three triplets, as the rank is 3."""
    printed = get_values("ex15.2.compact")
    decomposition = decompose("15.2", method)
    assert decomposition.rank == printed["rank"]
    U, s, Vt = decomposition.compact
    assert (U.shape, Vt.shape) == ((5, 3), (3, 4))
    np.testing.assert_allclose(s, printed["sigma"], atol=1e-9)


@each_method
def test_truncated(method):
    """例15.3: the matrix of two triplets."""
    U, s, Vt = decompose("15.3", method).truncated(2)
    np.testing.assert_allclose(U * s @ Vt, get_values("ex15.3.truncated"), atol=1e-9)


@each_method
def test_two_by_two(method):
    """例15.4: the book's signs are ours."""
    printed = get_values("ex15.4.svd")
    U, s, Vt = decompose("15.4", method).full
    np.testing.assert_allclose(U, printed["U"], atol=1e-9)
    np.testing.assert_allclose(s, printed["sigma"], atol=1e-9)
    np.testing.assert_allclose(Vt, printed["VT"], atol=1e-9)


@each_method
def test_rank_one(method):
    """例15.5: A of rank 1; the other columns of U and V complete them."""
    printed = get_values("ex15.5.svd")
    decomposition = decompose("15.5", method)
    U, s, Vt = decomposition.full
    np.testing.assert_allclose(s, printed["sigma"], atol=1e-9)
    np.testing.assert_allclose(s**2, printed["eigenvalues"], atol=1e-9)
    np.testing.assert_allclose(U[:, 0], np.array(printed["U"])[:, 0], atol=1e-9)
    np.testing.assert_allclose(Vt.T, printed["V"], atol=1e-9)
    assert decomposition.rank == 1
    assert decomposition.null_space.shape == (2, 1)
    assert decomposition.left_null_space.shape == (3, 2)


@each_method
def test_outer_products(method):
    """例15.6: A₂ as a sum of two terms; the errors of one, two and three terms."""
    decomposition = decompose("15.6", method)
    first, second, third = decomposition.outer_products
    example = get_example("lihang.ex15.3.truncated")
    np.testing.assert_allclose(first + second, example["verified"]["value"], atol=1e-9)
    assert third[4, 0] == pytest.approx(2)
    errors = [decomposition.frobenius_error(k) for k in (1, 2, 3)]
    np.testing.assert_allclose(errors, example["frobenius_error"], atol=1e-9)


@each_method
@pytest.mark.parametrize("number", ["15.1", "15.2", "15.5"])
def test_exercises(number, method):
    """习题15.1, 15.2, and 15.5 (搜索点击数据): values, and errors of rank 1 and 2."""
    expected = get_values(f"exercise{number}.singular_values")
    A = load_svd_exercise(number).data
    decomposition = svd(A, method)
    values = decomposition.singular_values
    np.testing.assert_allclose(values, expected["sigma"], atol=1e-9)
    for k in (1, 2):
        error = np.linalg.norm(A - decomposition.reconstruct(k))
        assert error == pytest.approx(expected[f"rank{k}_error"], abs=1e-9)
        assert decomposition.frobenius_error(k) == pytest.approx(error, abs=1e-9)
