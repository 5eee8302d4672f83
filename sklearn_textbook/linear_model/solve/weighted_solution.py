"""Weighted least squares in one step of an iteration, for any rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpocon, dtrtri
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.blocks import BLOCK_ROWS, list_blocks
from sklearn_textbook.linear_model.solve.row_blocks import (
    is_sparse,
    read_rows,
    take_rows,
)
from sklearn_textbook.linear_model.solve.row_sums import ProductSums
from sklearn_textbook.linear_model.solve.shortest_solution import find_shortest

#: Minimum reciprocal condition number of products for Cholesky's factor; the next
#: steps correct its errors.
MIN_CONDITION = 1e-9
#: Minimum fraction of the square of a column after centring, for the same reason.
MIN_SPREAD = 1e-8
#: Relative rounding errors of products.
ROUNDINGS = 64 * np.finfo(np.float64).eps
#: Singular values up to this fraction of the largest count as zero, as in R's glm.
RANK_TOLERANCE = 1e-11
#: Minimum fraction of a row outside the space of the others.
OUTSIDE = 1e-7
#: Cells of a block of rows that is reduced to a triangle.
BLOCK_CELLS = 2**18


@dataclass(frozen=True)
class RowSpace:
    """The space that rows span, in units of the columns."""

    #: Orthonormal directions of rows that are divided by the units. Shape (n_columns,
    #: rank).
    basis: np.ndarray
    #: Lengths of the columns, so that scaling a column changes no distance. Shape
    #: (n_columns,).
    units: np.ndarray

    def measure_distances(self, rows: np.ndarray) -> np.ndarray:
        """Fraction of each row that lies outside of the space."""
        rows = rows / self.units
        lengths = np.linalg.norm(rows, axis=1)
        rest = rows - (rows @ self.basis) @ self.basis.T
        return np.linalg.norm(rest, axis=1) / np.where(lengths > 0.0, lengths, 1.0)


@dataclass(frozen=True)
class WeightedSolution:
    r"""Inverse, rank and determined coefficients of weighted rows."""

    #: :math:`(Z^T W Z + P)^{-1}`, with :math:`Z = [1, X]` and the penalty P; a
    #: generalised inverse if there is none. The first row and column are zero without
    #: an intercept. Shape (1 + n_columns, 1 + n_columns).
    inverse: np.ndarray
    #: R with :math:`R R^T` equal to the inverse for the slopes. Where columns are
    #: nearly dependent, terms cancel in products with the inverse, but not with R.
    #: Shape (n_columns, rank).
    root: np.ndarray
    #: Rank of Z, or of X without an intercept.
    rank: int
    #: Which coefficients the data determine, the intercept first. Shape (1 +
    #: n_columns,).
    is_determined: np.ndarray
    #: Weighted means of the columns; zeros without an intercept. Shape (n_columns,).
    centre: np.ndarray
    #: Inverse of the total weight; 0 without an intercept.
    fraction: float
    #: The space of the centred rows; None if they span the whole space.
    row_space: RowSpace | None


class WeightedSolver:
    r"""Solves :math:`\min_b \sum_i w_i (t_i - b_0 - x_i^T b)^2 + \lambda |b|^2`.

    Well-conditioned products are solved by Cholesky's factor. Otherwise, or if columns
    are far from zero relative to their variation, rows are reduced to a triangle by
    orthogonal transformations, in blocks, and its singular values determine the rank;
    among many solutions, b is then the one of least norm.
    """

    def __init__(
        self,
        X: np.ndarray | csr_array,
        fit_intercept: bool,
        penalty: float = 0.0,
        n_threads: int = 1,
    ) -> None:
        self.X = X
        self.fit_intercept = fit_intercept
        self.penalty = penalty
        self.n_threads = n_threads
        #: Whether products would lose too many digits.
        self.is_delicate = X.shape[1] > X.shape[0] and not penalty

    def solve(self, weight: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Solve for one target."""
        if not self.is_delicate:
            factor = self._factor_products(weight, target)
            if factor is not None:
                slopes = factor.solve(factor.with_target)
                return factor.add_intercept(slopes)
        factor = self._factor_rows(weight, target)
        return factor.add_intercept(factor.root @ factor.with_target)

    def describe(self, weight: np.ndarray) -> WeightedSolution:
        """Find what rows with these weights determine."""
        if not self.is_delicate:
            factor = self._factor_products(weight, None)
            if factor is not None:
                return _describe(factor, factor.find_root(), None)
        factor = self._factor_rows(weight, None)
        return _describe(factor, factor.root, factor.row_space)

    def orthogonalize(self, weight: np.ndarray) -> WeightedSolution:
        """Find coordinates in which the centred columns are orthonormal.

        The root of the solution has the slopes of the coordinates; combinations of
        these are shortest.
        """
        factor = self._factor_rows(weight, None)
        return _describe(factor, factor.root, factor.row_space)

    def find_independent(self, weight: np.ndarray) -> np.ndarray:
        """Columns that do not depend on those before them, as R drops the others."""
        triangle, _, _ = self._reduce_rows(weight, None)
        columns, basis = [], np.zeros((len(triangle), 0))
        for number, column in enumerate(triangle[:, :-1].T):
            rest = column - basis @ (basis.T @ column)
            rest -= basis @ (basis.T @ rest)  # twice, because of rounding
            length = np.linalg.norm(rest)
            if length > RANK_TOLERANCE * np.linalg.norm(column):
                columns.append(number)
                basis = np.column_stack([basis, rest / length])
        return np.array(columns, dtype=np.intp)

    def _factor_products(self, weight, target):
        """Cholesky's factor of the centred products; None if it is not accurate."""
        sums = ProductSums(self.X.shape[1], 1, self.n_threads)
        for rows in list_blocks(self.X.shape[0]):
            of_block = _read_target(target, rows)[:, np.newaxis]
            sums.add(take_rows(self.X, rows), weight[rows], of_block)
        products, with_target = sums.finish()
        squares = products.diagonal()[1:]
        centred, right = products[1:, 1:], with_target[1:, 0]
        means = np.zeros(len(centred))
        total, mean_target = products[0, 0], 0.0
        if self.fit_intercept and total > 0.0:
            means = products[0, 1:] / total
            mean_target = with_target[0, 0] / total
            centred = centred - np.outer(means, products[0, 1:])
            right = right - means * with_target[0, 0]
        spreads = centred.diagonal()
        is_sound = np.isfinite(products).all() and total > 0.0
        if not is_sound or (spreads <= MIN_SPREAD * squares).any():
            self.is_delicate = True
            return None
        centred = centred + self.penalty * np.eye(len(centred))
        units = np.sqrt(centred.diagonal())
        scaled = centred / units / units[:, np.newaxis]
        # Rounding of large squares must not hide dependent columns.
        noise = ROUNDINGS * np.max(squares / units**2, initial=0.0)
        factor = _factor_soundly(scaled, max(MIN_CONDITION, noise))
        if factor is None:
            self.is_delicate = True
            return None
        return _ProductFactor(
            means, mean_target, total, self.fit_intercept, factor, units, right
        )

    def _factor_rows(self, weight, target):
        """Singular values of the triangle that the rows are reduced to."""
        triangle, means, (mean_target, total) = self._reduce_rows(weight, target)
        n_columns = self.X.shape[1]
        left, right = triangle[:, :n_columns], triangle[:, n_columns]
        if self.penalty:
            left = np.vstack([left, np.sqrt(self.penalty) * np.eye(n_columns)])
            right = np.append(right, np.zeros(n_columns))
        units = np.sqrt(np.square(left).sum(axis=0))
        # A column that varies only by rounding is zero.
        lengths = self._measure_columns(weight)
        is_constant = units <= RANK_TOLERANCE * lengths
        rows, values, columns = np.linalg.svd(
            left / np.where(is_constant, np.inf, units), full_matrices=False
        )
        largest = values[0] if len(values) else 0.0
        is_kept = values > RANK_TOLERANCE * largest
        basis, values = columns[is_kept].T, values[is_kept]
        if len(values) == n_columns:
            root, row_space = basis / values / units[:, np.newaxis], None
        else:
            basis[is_constant] = 0.0
            units = np.where(is_constant, lengths, units)
            row_space = RowSpace(basis, np.where(units > 0.0, units, 1.0))
            root = find_shortest(basis, row_space.units, np.diag(1.0 / values))
        return _RowFactor(
            means,
            mean_target,
            total,
            self.fit_intercept,
            root,
            rows[:, is_kept].T @ right,
            row_space,
        )

    def _measure_columns(self, weight):
        """Lengths of the columns without centring."""
        squares = np.zeros(self.X.shape[1])
        for rows in list_blocks(self.X.shape[0]):
            X, each = read_rows(self.X, rows), weight[rows]
            if issparse(X):
                squares += np.asarray(X.multiply(X).T @ each).ravel()
            else:
                squares += np.einsum("ij,ij,i->j", X, X, each)
        return np.sqrt(squares)

    def _reduce_rows(self, weight, target):
        """Reduce the weighted rows to a triangle, centred; means of the columns."""
        X = self.X
        n_rows, n_columns = X.shape
        n_block = max(4 * (n_columns + 2), BLOCK_CELLS // (n_columns + 2))
        shift = np.zeros(n_columns)
        if self.fit_intercept:
            shift = X[:1].toarray()[0] if is_sparse(X) else X[:1][0]
        triangle = np.zeros((0, n_columns + 2))
        for rows in list_blocks(n_rows, min(n_block, BLOCK_ROWS)):
            block = take_rows(X, rows)
            block = block.toarray() if issparse(block) else block
            root = np.sqrt(weight[rows])
            columns = np.column_stack(
                [
                    root,
                    root[:, np.newaxis] * (block - shift),
                    root * _read_target(target, rows),
                ]
            )
            triangle = np.linalg.qr(np.vstack([triangle, columns]), mode="r")
        total = triangle[0, 0] ** 2
        if not self.fit_intercept:
            # Without the column of ones, its row is another row of the triangle.
            return triangle[:, 1:], shift, (0.0, total)
        averages = triangle[0, 1:] / triangle[0, 0]
        return triangle[1:, 1:], shift + averages[:-1], (averages[-1], total)


@dataclass(frozen=True)
class _Centred:
    """Means that turn the slopes of centred columns into an intercept."""

    means: np.ndarray
    mean_target: float
    total: float
    fit_intercept: bool

    def add_intercept(self, slopes):
        """Put the intercept before the slopes."""
        first = self.mean_target - self.means @ slopes if self.fit_intercept else 0.0
        return np.append(first, slopes)


@dataclass(frozen=True)
class _ProductFactor(_Centred):
    """Cholesky's factor of centred products in units of the columns."""

    factor: tuple
    units: np.ndarray
    with_target: np.ndarray

    def solve(self, right):
        """Solve for the slopes."""
        if len(right) == 0:
            return right  # which scipy 1.13 refuses
        return cho_solve(self.factor, right / self.units) / self.units

    def find_root(self):
        """Find a root of the inverse."""
        if not len(self.units):
            return np.zeros((0, 0))
        inverse, _ = dtrtri(self.factor[0])
        return np.triu(inverse) / self.units[:, np.newaxis]


@dataclass(frozen=True)
class _RowFactor(_Centred):
    """A root of the inverse of the centred products, and its null space."""

    root: np.ndarray
    with_target: np.ndarray
    row_space: RowSpace | None


def _read_target(target, rows):
    """Read a block of a target; None: 0 each."""
    return np.zeros(rows.stop - rows.start) if target is None else target[rows]


def _factor_soundly(matrix, min_condition):
    """Cholesky's factor of a matrix of unit diagonal; None if ill-conditioned."""
    if not len(matrix):
        return np.zeros((0, 0)), False
    try:
        factor = cho_factor(matrix, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    size = np.abs(matrix).sum(axis=0).max()
    condition, _ = dpocon(factor[0], size, uplo="U")
    return factor if condition > min_condition else None


def _describe(factor, root, row_space):
    """Add the row and column of the intercept to the inverse of the slopes."""
    n_columns, n_independent = root.shape
    slopes = root @ root.T
    inverse = np.zeros((n_columns + 1, n_columns + 1))
    inverse[1:, 1:] = slopes
    is_determined = np.ones(n_columns + 1, dtype=bool)
    fraction = 1.0 / factor.total if factor.fit_intercept else 0.0
    if factor.fit_intercept:
        across = slopes @ factor.means
        inverse[0, 0] = fraction + factor.means @ across
        inverse[0, 1:] = inverse[1:, 0] = -across
    if row_space is not None:
        distances = row_space.measure_distances(np.diag(row_space.units))
        is_determined[1:] = np.square(distances) < OUTSIDE
        distances = row_space.measure_distances(factor.means[np.newaxis])
        is_determined[0] = distances[0] < OUTSIDE
    rank = n_independent + int(factor.fit_intercept)
    return WeightedSolution(
        inverse, root, rank, is_determined, factor.means, fraction, row_space
    )
