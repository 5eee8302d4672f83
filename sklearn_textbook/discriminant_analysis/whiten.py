"""Coordinates in which the scatter within the classes is the identity.

Columns are first divided by their standard deviation within the classes, so that
nothing depends on their units. The whitened coordinates are ``V / s``, with the
singular values s and right singular vectors V of the centred rows A (times the square
roots of their fractions of the weight); directions with s <= tol are left out.

The singular value decomposition of A (奇异值分解) gives them to full precision. It is
only used where products of columns or rows would lose digits, since products square
the condition number.

* More rows than columns: AᵀA = LLᵀ (Cholesky) if that is well conditioned; its
  eigenvectors, if all eigenvalues are either large or zero, as with dependent columns;
  else a second pass over the rows, in the coordinates of these eigenvectors, where they
  are well conditioned; else the decomposition of A.
* Fewer: AAᵀ. Since the class means were subtracted, n_classes of its eigenvalues are 0,
  with known eigenvectors; with these replaced, Cholesky again; else its eigenvectors in
  the same case; else the decomposition of A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

EPSILON = np.finfo(np.float64).eps
#: A column is constant within the classes if it varies by at most this fraction
#: of its largest mean, which is the rounding error of its values.
ROUNDING = 8 * EPSILON
#: Products of columns are used if their matrix has at least this reciprocal condition
#: number: no more than four digits are lost, and eleven are left.
MIN_CONDITION = 1e-4
#: A column depends on others if omitted directions have more than this fraction of it.
OMITTED = 1e-7


@dataclass(frozen=True)
class Whitening:
    """Whitened coordinates T, given by their values at the class centres.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_columns)
        Means of the classes.
    columns : ndarray of int
        The columns that vary within the classes.
    scale : ndarray of the same length
        Their standard deviation within the classes.
    rank : int
        Number of whitened coordinates.
    enter : callable
        Maps centres (n, len(columns)) in scaled units to their coordinates
        (any orthonormal basis), one in each column.
    leave : callable
        Maps orthonormal coordinates, one in each column, to directions in scaled units.
    way : str
        The method that found them.
    scatter : ndarray of shape (n_columns, n_columns) or None
        The mean scatter within the classes, if it was computed on the way.
    """

    means: np.ndarray
    columns: np.ndarray
    scale: np.ndarray
    rank: int
    enter: Callable
    leave: Callable
    way: str
    scatter: np.ndarray | None = None

    def map_centres(self, centres):
        """Map centres, one in each row, to coordinates, one in each column."""
        return self.enter(centres[:, self.columns] / self.scale)

    def find_dependent(self):
        """Mark the columns that differ within the classes as a sum of others does."""
        is_dependent = np.zeros(self.means.shape[1], dtype=bool)
        if self.rank < len(self.columns):
            basis, _ = linalg.qr(self.leave(np.eye(self.rank)), mode="economic")
            is_dependent[self.columns] = find_omitted(basis)
        return is_dependent

    def map_back(self, coordinates):
        """Map orthonormal coordinates to directions in the units of the columns."""
        directions = np.zeros((self.means.shape[1], coordinates.shape[1]))
        back = self.leave(coordinates)
        directions[self.columns] = back / self.scale[:, np.newaxis]
        return directions


def whiten(table, tol: float) -> Whitening:
    """Find whitened coordinates of a table."""
    if table.n_columns < table.n_rows - table.n_classes:
        means, scatter = table.compute_scatter()
        columns, scale = _find_scale(means, np.sqrt(scatter.diagonal()))
        found = _whiten_products(table, means, scatter, columns, scale, tol)
        if found is None:
            means, rows = table.reduce_rows()
    else:
        scatter = found = None
        means, rows = table.centre_rows()
    if found is None:
        columns, scale = _find_scale(means, np.sqrt(np.einsum("ij,ij->j", rows, rows)))
        rows = rows[:, columns] if len(columns) < table.n_columns else rows
        rows /= scale
        if scatter is None:
            found = _whiten_wide(table, rows, tol)
        found = found or _whiten_rows(rows, table.n_rows, tol)
    return Whitening(means, columns, scale, **found, scatter=scatter)


def find_omitted(basis: np.ndarray) -> np.ndarray:
    """Mark the columns that orthonormal directions do not span."""
    return 1.0 - np.einsum("ij,ij->i", basis, basis) > OMITTED


def _find_scale(means, deviation):
    """Columns that vary within the classes, and their deviations."""
    columns = np.flatnonzero(deviation > ROUNDING * np.abs(means).max(axis=0))
    return columns, deviation[columns]


def _whiten_products(table, means, scatter, columns, scale, tol):
    """Whiten by products of columns; None if these lose digits."""
    if not len(columns):
        return _use_basis(np.empty((0, 0)), "nothing")
    correlation = scatter[np.ix_(columns, columns)] / np.outer(scale, scale)
    factor = _factorise(correlation, tol)
    if factor is not None:
        return {
            "rank": len(columns),
            "enter": lambda centres: _solve_triangle(factor, centres.T, "T"),
            "leave": lambda coordinates: _solve_triangle(factor, coordinates, "N"),
            "way": "cholesky",
        }
    values, vectors = linalg.eigh(correlation, check_finite=False)
    is_large = _divide_eigenvalues(values, tol)
    if is_large is not None:
        basis = vectors[:, is_large] / np.sqrt(values[is_large])
        return _use_basis(basis, "eigenvectors")
    return _whiten_twice(table, means, columns, scale, values, vectors, tol)


def _whiten_twice(table, means, columns, scale, values, vectors, tol):
    """Whiten the rows as far as rounding allows, and the result a second time.

    With the approximate T of the first pass, AT = Q sqrt(g) Uᵀ is well conditioned, so
    that products give g and U to full precision; A then has the singular values and
    vectors of the small matrix sqrt(g) UᵀT⁻¹. None if required singular values are lost
    in rounding.
    """
    floor = len(values) * EPSILON * values[-1]
    if tol <= 2 * np.sqrt(floor):
        return None
    root = np.sqrt(np.maximum(values, floor))
    basis = np.zeros((table.n_columns, len(columns)))
    basis[columns] = vectors / root / scale[:, np.newaxis]
    left, turn = linalg.eigh(table.compute_products(means, basis), check_finite=False)
    stretch = np.sqrt(np.maximum(left, 0.0))
    small = (stretch[:, np.newaxis] * turn.T * root) @ vectors.T
    return _whiten_rows(small, table.n_rows, tol) | {"way": "second pass"}


def _whiten_wide(table, rows, tol):
    """Whiten by products of rows; None if these lose digits."""
    if not rows.shape[1]:
        return _use_basis(np.empty((0, 0)), "nothing")
    products = blas.dsyrk(1.0, rows.T, trans=1)
    products = np.triu(products) + np.triu(products, 1).T
    factor = _factorise(_fill_up(products, table), tol)
    if factor is not None:
        rank, way = table.n_rows - table.n_classes, "cholesky of rows"

        def solve(right):
            return lapack.dpotrs(factor, right)[0]

        def enter(centres):
            return solve(rows @ centres.T)

        def leave(coordinates):
            return rows.T @ solve(coordinates)

    else:
        values, vectors = linalg.eigh(products, check_finite=False)
        is_large = _divide_eigenvalues(values, tol)
        if is_large is None:
            return None
        rank, way = int(np.count_nonzero(is_large)), "eigenvectors of rows"
        basis = vectors[:, is_large] / values[is_large]

        def enter(centres):
            return basis.T @ (rows @ centres.T)

        def leave(coordinates):
            return rows.T @ (basis @ coordinates)

    return {"rank": rank, "enter": enter, "leave": leave, "way": way}


def _whiten_rows(rows, n_rows, tol):
    """Whiten by the singular values and vectors of scaled rows."""
    _, values, vectors = linalg.svd(rows, full_matrices=False, check_finite=False)
    noise = max(n_rows, rows.shape[1]) * EPSILON * values[0]
    rank = int(np.count_nonzero(values > max(tol, noise)))
    return _use_basis(vectors[:rank].T / values[:rank], "svd")


def _use_basis(basis, way):
    """Whiten by an explicit matrix."""
    return {
        "rank": basis.shape[1],
        "enter": lambda centres: basis.T @ centres.T,
        "leave": lambda coordinates: basis @ coordinates,
        "way": way,
    }


def _fill_up(products, table):
    """Replace the eigenvalues that are 0 due to centring by the mean of the others.

    Each class has one such eigenvector: the square roots of its rows' fractions.
    """
    filled = products.copy()
    level = np.trace(products) / (table.n_rows - table.n_classes)
    fraction = np.ones(table.n_rows) if table.weight is None else table.weight
    root = np.sqrt(fraction / table.class_weight[table.codes])
    for number in range(table.n_classes):
        rows = np.flatnonzero(table.codes == number)
        filled[np.ix_(rows, rows)] += level * np.outer(root[rows], root[rows])
    return filled


def _factorise(matrix, tol):
    """Cholesky's upper factor; None if ill-conditioned, or if tol may omit some."""
    factor, info = lapack.dpotrf(matrix, clean=True)
    if info:
        return None
    norm = float(np.abs(matrix).sum(axis=0).max())
    inverse_condition, _ = lapack.dpocon(factor, norm)
    # The smallest eigenvalue is at least 1 / norm of the inverse, which is estimated
    # from below, hardly ever by more than a factor of three.
    is_safe = inverse_condition > MIN_CONDITION
    return factor if is_safe and inverse_condition * norm > 10 * tol**2 else None


def _divide_eigenvalues(values, tol):
    """Mark the eigenvalues that count; None if it is uncertain for some."""
    largest = values[-1]
    noise = len(values) * EPSILON * largest
    is_large = (values > MIN_CONDITION * largest) & (values > 2 * tol**2)
    limit = max(tol**2 / 2, 10 * noise)
    is_nothing = (values < limit) & (values < 1e-8 * largest)
    is_clear = (is_large | is_nothing).all() and (not tol or noise <= tol**2 / 2)
    return is_large if is_clear else None


def _solve_triangle(factor, right, trans):
    """Solve with an upper triangle, or with its transpose."""
    return linalg.solve_triangular(factor, right, trans=trans, check_finite=False)
