"""Every way to whitened coordinates is taken, and as exact as the rows allow."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.discriminant_analysis.class_table import ClassTable, find_units
from sklearn_textbook.discriminant_analysis.whiten import (
    MIN_CONDITION,
    _whiten_rows,
    whiten,
)
from tests.discriminant_analysis.cases import make_table, make_weights

TOL = 1e-4


def make_class_table(seed, n_rows, n_columns, n_classes, weighted=False):
    X, y = make_table(seed, n_rows, n_columns, n_classes)
    weight = make_weights(seed, n_rows) if weighted else None
    return ClassTable(X, y, n_classes, weight)


def with_columns(table, columns):
    return ClassTable(columns, table.codes, table.n_classes, table.weight)


def repeat_rows(table):
    """Every row twice: fewer directions than rows less classes."""
    X, codes = np.repeat(table.X, 2, axis=0), np.repeat(table.codes, 2)
    return ClassTable(X, codes, table.n_classes)


def squeeze(table, factor, n_squeezed=1):
    """The last columns nearly copies of the first."""
    X = table.X.copy()
    X[:, -n_squeezed:] = X[:, :n_squeezed] + factor * X[:, -n_squeezed:]
    return with_columns(table, X)


LONG = make_class_table(0, 60, 5, 3)
WEIGHTED = make_class_table(1, 60, 5, 3, weighted=True)
BROAD = make_class_table(2, 20, 80, 3)
BROAD_WEIGHTED = make_class_table(3, 20, 80, 3, weighted=True)
CASES = {
    "long": (LONG, "cholesky", 5),
    "weighted": (WEIGHTED, "cholesky", 5),
    "copied column": (squeeze(LONG, 0.0), "eigenvectors", 4),
    "nearly copied": (squeeze(LONG, 1e-3), "second pass", 5),
    "nearly copied, weighted": (squeeze(WEIGHTED, 4e-3), "second pass", 5),
    "clearly below the tolerance": (squeeze(LONG, 1e-5), "eigenvectors", 4),
    "just below the tolerance": (squeeze(LONG, 1.6e-4), "second pass", 4),
    "broad": (BROAD, "cholesky of rows", 17),
    "broad, weighted": (BROAD_WEIGHTED, "cholesky of rows", 17),
    "broad, rows twice": (repeat_rows(BROAD), "eigenvectors of rows", 17),
    "about square": (make_class_table(4, 20, 17, 3), "svd", 17),
}


def decompose(table, tol):
    """Whitened coordinates by the singular values of the rows, whatever the table."""
    _, rows = table.centre_rows()
    scale = np.sqrt(np.square(rows).sum(axis=0))
    return _whiten_rows(rows / scale, table.n_rows, tol), scale


@pytest.mark.parametrize("name", CASES)
def test_ways(name):
    table, way, rank = CASES[name]
    whitening = whiten(table, TOL)
    assert (whitening.way, whitening.rank) == (way, rank)


@pytest.mark.parametrize("name", CASES)
def test_whitened_products_are_those_of_singular_vectors(name):
    """Coordinates may be rotated, products of centres may not differ."""
    table, _, rank = CASES[name]
    whitening = whiten(table, TOL)
    found, scale = decompose(table, TOL)
    assert found["rank"] == rank
    offsets = whitening.means - whitening.means.mean(axis=0)
    one = whitening.map_centres(offsets)
    other = found["enter"](offsets / scale)
    products = other.T @ other
    assert_allclose(one.T @ one, products, rtol=1e-8, atol=1e-9 * products.max())
    basis, _, _ = np.linalg.svd(one, full_matrices=False)
    directions = whitening.map_back(basis[:, : table.n_classes - 1])
    _, rows = table.centre_rows()
    projected = rows @ directions
    assert_allclose(projected.T @ projected, np.eye(table.n_classes - 1), atol=1e-9)


def test_without_tolerance_every_singular_value_counts():
    table = squeeze(LONG, 1e-6)
    assert whiten(table, TOL).rank == 4
    whitening = whiten(table, 0.0)
    assert (whitening.way, whitening.rank) == ("svd", 5)
    assert whiten(squeeze(LONG, 0.0), 0.0).rank == 4


def test_large_tolerance_is_heeded_where_products_would_do():
    _, scale = decompose(LONG, 0.0)
    _, rows = LONG.centre_rows()
    values = np.linalg.svd(rows / scale, compute_uv=False)
    tol = (values[2] + values[3]) / 2
    assert whiten(LONG, tol).rank == 3


def find_exact_direction(X, y):
    """The direction in fractions, without any rounding."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    n = len(rows[0])
    parts = [[r for r, k in zip(rows, y, strict=True) if k == c] for c in (0, 1)]
    means = [[sum(c) / len(p) for c in zip(*p, strict=True)] for p in parts]
    matrix = [[Fraction(0)] * n + [means[0][j] - means[1][j]] for j in range(n)]
    for part, mean in zip(parts, means, strict=True):
        for row in part:
            offset = [a - b for a, b in zip(row, mean, strict=True)]
            for i in range(n):
                for j in range(n):
                    matrix[i][j] += offset[i] * offset[j]
    for i in range(n):
        for k in range(n):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                pairs = zip(matrix[k], matrix[i], strict=True)
                matrix[k] = [a - factor * b for a, b in pairs]
    return np.array([float(matrix[i][n] / matrix[i][i]) for i in range(n)])


@pytest.mark.parametrize("factor", [1.0, 0.1, 0.01, 1e-3])
def test_direction_against_exact_fractions(factor):
    """The error grows with the condition of the rows, not with its square."""
    X, y = make_table(5, 30, 4, 2)
    X[:, -1] = X[:, 0] + factor * X[:, -1]
    model = LinearDiscriminantAnalysis().fit(X, y)
    exact = find_exact_direction(X, y)
    error = np.linalg.norm(model.direction_ - exact) / np.linalg.norm(exact)
    scale = np.sqrt(model.within_scatter_.diagonal())
    condition = np.linalg.cond(model.within_scatter_ / np.outer(scale, scale))
    allowed = min(condition, 100 * np.sqrt(condition), 100 / MIN_CONDITION)
    assert error < 1e-14 * max(allowed, 10)


def test_blocks_add_up_to_the_whole(monkeypatch):
    one = WEIGHTED.compute_scatter()
    module = "sklearn_textbook.discriminant_analysis.class_table"
    monkeypatch.setattr(f"{module}.BLOCK_BYTES", 1)
    table = make_class_table(6, 500, 4, 3, weighted=True)
    means, scatter = table.compute_scatter()
    assert len(list(table.centre_blocks(means))) == 8
    share = table.weight / table.weight.sum()
    offsets = table.X - means[table.codes]
    assert_allclose(scatter, (share * offsets.T) @ offsets, rtol=1e-10, atol=1e-12)
    other = WEIGHTED.compute_scatter()
    assert_allclose(one[1], other[1], rtol=1e-12, atol=1e-13)


def test_scatter_far_from_the_origin_keeps_its_digits():
    """A mean of long sums is off by rounding; its square must not get into S_w."""
    random = np.random.default_rng(7)
    X = random.integers(0, 8, (20_000, 2)) / 8
    y = random.integers(0, 2, 20_000)
    near = ClassTable(X, y, 2).compute_scatter()[1]
    far = ClassTable(X + 2.0**40, y, 2).compute_scatter()[1]
    assert_allclose(far, near, rtol=1e-10, atol=1e-12)


def test_units():
    X = np.array([[1.0, 1e-200, 1e200, 0.0, 5e-324], [2.0, -3e-200, 1e180, 0.0, 0.0]])
    units = find_units(X)
    assert units[[0, 3]].tolist() == [1.0, 1.0]
    assert (np.frexp(units)[0] == 0.5).all()
    scaled = np.abs(X / units).max(axis=0)
    assert ((scaled[1:3] >= 1) & (scaled[1:3] < 2)).all()
    assert np.isfinite(1 / units).all()
