"""Sums over rows equal the reference, in the same bits however they are computed."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_textbook.linear_model.solve import row_sums
from sklearn_textbook.linear_model.solve.row_sums import sum_products
from tests.reference import row_sums as reference

SHAPES = [(1, 1), (5, 0), (7, 3), (300, 7), (259, 8), (2100, 15), (40, 270), (9, 1100)]


def make_table(n_rows, n_columns, n_targets=2, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    X[generator.random(X.shape) < 0.6] = 0.0
    weight = generator.random(n_rows)
    return X, weight, generator.normal(size=(n_rows, n_targets))


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("shape", SHAPES[:-3])
def test_sums_equal_the_reference(shape, is_sparse):
    X, weight, targets = make_table(*shape)
    expected = reference.sum_products(X.tolist(), weight.tolist(), targets.tolist())
    table = sparse.csr_array(X) if is_sparse else X
    found = sum_products(table, weight, targets)
    for sums, plain in zip(found, expected, strict=True):
        np.testing.assert_allclose(sums, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_small_integers_are_exact(shape, is_sparse):
    X, weight, targets = make_table(*shape)
    X, weight, targets = np.round(8 * X), np.round(8 * weight), np.round(8 * targets)
    Z = np.column_stack([np.ones(len(X)), X])
    table = sparse.csr_array(X) if is_sparse else X
    for given, factor in ((weight, weight), (None, np.ones(len(X)))):
        products, with_targets = sum_products(table, given, targets)
        np.testing.assert_array_equal(products, Z.T @ (factor[:, None] * Z))
        np.testing.assert_array_equal(with_targets, Z.T @ (factor[:, None] * targets))


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("shape", [(5000, 9), (600, 300), (40, 1100)])
def test_bits_do_not_depend_on_threads(shape, is_sparse):
    X, weight, targets = make_table(*shape)
    table = sparse.csr_array(X) if is_sparse else X
    one = sum_products(table, weight, targets, n_threads=1)
    for n_threads in (2, 3, 8):
        other = sum_products(table, weight, targets, n_threads=n_threads)
        for sums, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(sums, same)


def test_bits_do_not_depend_on_the_order_in_memory():
    X, weight, targets = make_table(1000, 21)
    wide = np.zeros((1000, 63))
    wide[:, ::3] = X
    expected = sum_products(X, weight, targets)
    for table in (np.asfortranarray(X), wide[:, ::3]):
        found = sum_products(table, weight, np.asfortranarray(targets))
        for sums, same in zip(expected, found, strict=True):
            np.testing.assert_array_equal(sums, same)


def test_unsorted_and_repeated_entries_of_a_sparse_table():
    X = sparse.csr_array(([1.0, 2.0, 5.0, 3.0], [2, 0, 2, 1], [0, 3, 4]), shape=(2, 3))
    before = X.indices.copy()
    expected, _ = sum_products(X.toarray(), np.array([2.0, 1.0]))
    products, with_targets = sum_products(X, np.array([2.0, 1.0]))
    np.testing.assert_array_equal(products, expected)
    np.testing.assert_array_equal(X.indices, before)
    assert with_targets.shape == (4, 0)


def test_long_indices_of_a_sparse_table():
    X, weight, targets = make_table(50, 6)
    table = sparse.csr_array(X)
    expected = sum_products(table, weight, targets)
    table.indices = table.indices.astype(np.int64)
    table.indptr = table.indptr.astype(np.int64)
    for sums, same in zip(sum_products(table, weight, targets), expected, strict=True):
        np.testing.assert_array_equal(sums, same)


def test_stretches_cover_all_rows():
    for n_rows in (0, 1, 1023, 5000, 10**6 + 7):
        bounds = row_sums.divide_rows(n_rows)
        assert bounds[0] == 0
        assert bounds[-1] == n_rows
        assert (np.diff(bounds) >= 0).all()
        assert len(bounds) - 1 <= row_sums.MAX_STRETCHES
