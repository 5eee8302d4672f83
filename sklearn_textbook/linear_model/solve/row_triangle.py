"""Reduction of the rows of a table to a small triangle for least squares."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook._contract.blocks import add_up, list_blocks
from sklearn_textbook.linear_model.inference.frequencies import has_fractions
from sklearn_textbook.linear_model.solve.row_blocks import (
    is_sparse,
    read_rows,
    read_weights,
)

#: Cells of a block of rows: about as many as fit in the cache of a core.
BLOCK_CELLS = 2**16
#: A block has at least this many rows for each column, so that the triangle, which is
#: part of every step, is a small part of the work.
ROWS_PER_COLUMN = 8
#: Columns up to which blocks are faster than the threads of LAPACK.
MAX_BLOCK_COLUMNS = 400
#: Columns of a block of a wider table that are converted at a time.
LOADED_COLUMNS = 256
#: Cells below which LAPACK does not use threads.
FEW_CELLS = 8192
#: Rows are divided into at most this many parts for any number of threads.
MAX_PARTS = 32
#: Squares of numbers up to this one are finite, and those of their inverses not zero.
LARGE = 1e100
#: Number of rows whose mean approximates the mean of all.
ORIGIN_ROWS = 64
#: Time of a multiplication in a product of sparse matrices, relative to dense ones.
SPARSE_COST = 50.0
#: Largest mean of a column, in standard deviations, with which its squares may be
#: summed without centring: two of sixteen digits are lost.
NEAR_ORIGIN = 10.0
#: Condition number up to which products give the triangle to ten digits. Products
#: square it.
LARGEST_CONDITION = 500.0
#: Steps of refinement of the coefficients.
N_REFINEMENTS = 2


@dataclass(frozen=True, eq=False)
class RowTriangle:
    r"""Reduction of rows to a triangle for least squares.

    For the diagonal matrix W of weights, the columns :math:`Z = [1, X - c]` (X without
    an intercept) and the targets Y, an orthogonal Q reduces the rows to a few:

    .. math:: Q^T W^{1/2} [Z, Y - d] = \begin{pmatrix} R & z \\ 0 & e \end{pmatrix} .

    Products :math:`X^T X`, which lose twice as many digits by rounding, are not used.
    """

    #: Whether Z has the column of ones.
    has_intercept: bool
    #: c and d, near the rows; zeros without an intercept. Shape (n_columns,).
    origin: np.ndarray
    target_origin: np.ndarray
    #: R. If there is an intercept, its first column is zero except in the first row. It
    #: is a triangle if there are more rows than columns. Shape (n_kept, n_intercepts +
    #: n_columns).
    triangle: np.ndarray
    #: z. Shape (n_kept, n_targets).
    targets: np.ndarray
    #: Sum of the squares of e. Shape (n_targets,).
    residual: np.ndarray
    #: Number of rows.
    n_rows: int
    #: Sum of the weights, and of their logarithms.
    total_weight: float
    sum_log_weight: float
    #: Weighted sums of the columns and of the targets; None with an intercept.
    column_sums: np.ndarray | None = None
    target_sums: np.ndarray | None = None
    #: Whether weights are not all whole numbers.
    has_fractions: bool = False

    @property
    def slopes_triangle(self):
        """R of the centred columns."""
        start = int(self.has_intercept)
        return self.triangle[start:, start:]

    @property
    def slopes_targets(self):
        """The part of z that belongs to the centred columns."""
        return self.targets[int(self.has_intercept) :]

    @property
    def mean(self):
        """Weighted means of the columns; zeros without an intercept."""
        if not self.has_intercept:
            return self.origin
        return self.origin + self.triangle[0, 1:] / self.triangle[0, 0]

    @property
    def target_mean(self):
        """Weighted means of the targets; zeros without an intercept."""
        if not self.has_intercept:
            return self.target_origin
        return self.target_origin + self.targets[0] / self.triangle[0, 0]

    def merge(self, other: RowTriangle) -> RowTriangle:
        """Merge with the triangle of other rows."""
        moved, moved_targets = other.triangle, other.targets
        if self.has_intercept:
            # Another origin adds a multiple of the column of ones to each column.
            moved, moved_targets = moved.copy(), moved_targets.copy()
            moved[0, 1:] += moved[0, 0] * (other.origin - self.origin)
            moved_targets[0] += moved[0, 0] * (other.target_origin - self.target_origin)
        triangle, targets, residual = _reduce(
            np.vstack([self.triangle, moved]), np.vstack([self.targets, moved_targets])
        )
        return RowTriangle(
            self.has_intercept,
            self.origin,
            self.target_origin,
            triangle,
            targets,
            self.residual + other.residual + residual,
            self.n_rows + other.n_rows,
            self.total_weight + other.total_weight,
            self.sum_log_weight + other.sum_log_weight,
            None if self.has_intercept else self.column_sums + other.column_sums,
            None if self.has_intercept else self.target_sums + other.target_sums,
            bool(self.has_fractions or other.has_fractions),
        )


def reduce_rows(
    X: np.ndarray | csr_array,
    Y: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    has_intercept: bool = True,
    n_threads: int = 1,
) -> RowTriangle:
    """Reduce rows to a triangle.

    Blocks of rows that fit in the cache are put below the current triangle, and reduced
    with it by LAPACK's Householder reflections. Parts of the table are processed in
    parallel; the division into parts does not depend on the number of threads. The
    triangles of blocks of ``BLOCK_ROWS`` rows are merged in their order.
    """
    n_rows, n_columns = X.shape
    origins = np.zeros(n_columns), np.zeros(Y.shape[1])
    reduced = None
    if is_sparse(X) and n_rows > n_columns > 0 and is_worth_products(X):
        reduced = reduce_products(X, Y, weight, has_intercept)
    if reduced is None:
        reduced, origins = _reduce_dense(X, Y, weight, has_intercept, n_threads)
    sums, sum_log_weight = (), 0.0
    if weight is not None:
        for rows in list_blocks(n_rows):
            sum_log_weight += float(np.log(weight[rows]).sum())
    if not has_intercept:
        sums = _sum_columns(X, Y, weight)
    return RowTriangle(
        has_intercept,
        *origins,
        *reduced,
        n_rows,
        float(n_rows) if weight is None else add_up(weight),
        sum_log_weight,
        *sums,
        has_fractions=has_fractions(weight),
    )


def _sum_columns(X, Y, weight):
    """Weighted sums of the columns and of the targets."""
    sums = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    for rows in list_blocks(X.shape[0]):
        block, targets = read_rows(X, rows), read_rows(Y, rows)
        each = read_weights(weight, rows, len(targets))
        sums[0][:] += block.T @ each
        sums[1][:] += targets.T @ each
    return sums


def _reduce_dense(X, Y, weight, has_intercept, n_threads):
    """Reduce rows, dense or made dense in blocks, about an origin."""
    n_rows, n_columns = X.shape
    origins = np.zeros(n_columns), np.zeros(Y.shape[1])
    if has_intercept:
        origins = _find_origin(X), _find_origin(Y)

    def reduce_block(rows, n_threads=1):
        of_block = None if weight is None else weight[rows]
        return _reduce_block(
            X[rows], Y[rows], of_block, has_intercept, origins, n_threads
        )

    blocks = list(list_blocks(n_rows))
    reduced = None
    # Few blocks, or wide ones, have parallel parts or threads of LAPACK.
    if len(blocks) < 2 * n_threads or n_columns > MAX_BLOCK_COLUMNS or n_threads == 1:
        for rows in blocks:
            reduced = _merge(reduced, reduce_block(rows, n_threads))
        return reduced, origins
    with use_one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, len(blocks), n_threads):
            for found in pool.map(reduce_block, blocks[start : start + n_threads]):
                reduced = _merge(reduced, found)
    return reduced, origins


def _merge(above, below):
    """Merge what two blocks about the same origin are reduced to."""
    if above is None:
        return below
    triangle, targets, residual = _reduce(
        np.vstack([above[0], below[0]]), np.vstack([above[1], below[1]])
    )
    return triangle, targets, above[2] + below[2] + residual


def _reduce_block(X, Y, weight, has_intercept, origins, n_threads):
    """Reduce one block of rows."""
    n_rows, n_columns = X.shape
    if n_columns == 1 and has_intercept and not issparse(X):
        return _reduce_one_column(X, Y, weight, origins)
    if n_rows <= n_columns + has_intercept:
        Z, T = _load(X, Y, weight, has_intercept, origins)
        return _turn_ones(Z, T) if has_intercept else (Z, T, np.zeros(T.shape[1]))
    return _reduce_tall(X, Y, weight, has_intercept, origins, n_threads)


def _find_origin(X):
    """Find a point near the mean of rows; for a constant column, its value."""
    head = read_rows(X, slice(0, ORIGIN_ROWS))
    head = head.toarray() if issparse(head) else head
    return head[0] + (head - head[0]).mean(axis=0)


def _load(X, Y, weight, has_intercept, origins, out=None):
    """Columns and targets of rows, about the origin, times the roots of weights."""
    n_rows, n_columns = X.shape
    start = int(has_intercept)
    if out is None:
        out = np.empty((n_rows, start + n_columns + Y.shape[1]), order="F")
    columns = out[:, start : start + n_columns]
    targets = out[:, start + n_columns :]
    if issparse(X):
        X = X.toarray()
    out[:, :start] = 1.0
    # Blocks, since the table is by rows and the result by columns.
    step = n_columns if n_columns <= MAX_BLOCK_COLUMNS else LOADED_COLUMNS
    for first in range(0, n_columns, max(step, 1)):
        block = slice(first, first + step)
        np.subtract(X[:, block], origins[0][block], out=columns[:, block])
    np.subtract(Y, origins[1], out=targets)
    if weight is not None:
        out *= np.sqrt(weight)[:, np.newaxis]
    return out[:, : start + n_columns], targets


def _reduce(Z, Y):
    """R, z and the sum of squares of the rest; R is Z if Z has no more rows."""
    n_rows, n_columns = Z.shape
    if n_rows <= n_columns and (n_rows == 0 or not Z[1:, 0].any()):
        return Z, Y, np.zeros(Y.shape[1])
    if n_columns == 0:
        return Z[:0], Y[:0], (Y**2).sum(axis=0)
    work = int(lapack.dgeqrf_lwork(n_rows, n_columns)[0])
    factors, tau, _, _ = lapack.dgeqrf(Z, lwork=work)
    kept = min(n_rows, n_columns)
    work = int(lapack.dormqr("L", "T", factors[:, :kept], tau, Y, -1)[1][0])
    turned, _, _ = lapack.dormqr("L", "T", factors[:, :kept], tau, Y, work)
    return np.triu(factors[:kept]), turned[:kept], (turned[kept:] ** 2).sum(axis=0)


def _turn_ones(Z, Y):
    """Make the first column zero except in its first row, by one reflection.

    This suffices for a wide table, which has as few rows as a triangle.
    """
    if Z[1:, 0].any():
        mirror = Z[:, 0].copy()
        length = np.linalg.norm(mirror)
        mirror[0] += length
        factor = -2.0 / (mirror @ mirror)
        # Not "@", whose threads would still spin while those of LAPACK work.
        along, targets_along = (blas.dgemv(factor, A, mirror, trans=1) for A in (Z, Y))
        Z = blas.dger(1.0, mirror, along, a=Z, overwrite_a=1)
        Y = blas.dger(1.0, mirror, targets_along, a=Y, overwrite_a=1)
        Z[1:, 0] = 0.0
    return Z, Y, np.zeros(Y.shape[1])


def _reduce_one_column(X, Y, weight, origins):
    """Reduce one column, by the sums in formulas (3.7) and (3.8) of the book."""
    x, Y = X[:, 0] - origins[0], Y - origins[1]
    w = np.ones(len(x)) if weight is None else weight
    total = w.sum()
    mean, target_mean = w @ x / total, w @ Y / total
    x -= mean
    Y -= target_mean
    # Squares of small numbers would underflow.
    largest = np.abs(x).max()
    unit = largest if 0 < largest < 1 / LARGE else 1.0
    if unit != 1.0:
        x /= unit
    size = np.sqrt((x if weight is None else w * x) @ x)
    along = np.zeros(Y.shape[1])
    if size > 0:
        along = (x if weight is None else w * x) @ Y / size
        Y -= np.multiply.outer(x, along / size)
    root = np.sqrt(total)
    triangle = np.array([[root, root * mean], [0.0, unit * size]])
    targets = np.array([root * target_mean, along])
    return triangle, targets, w @ Y**2


def _reduce_tall(X, Y, weight, has_intercept, origins, n_threads):
    """Reduce a table of more rows than columns."""
    n_rows = X.shape[0]
    n_columns = X.shape[1] + has_intercept
    # An additional column is cheaper than transforming the targets afterwards.
    n_carried = Y.shape[1] if Y.shape[1] <= max(4, n_columns // 4) else 0
    width = n_columns + n_carried
    n_block = max(BLOCK_CELLS // max(width, 1), ROWS_PER_COLUMN * width)
    has_blocks = width <= MAX_BLOCK_COLUMNS or n_rows > 4 * n_block
    n_block = n_block if has_blocks else n_rows
    n_parts = max(1, min(MAX_PARTS, n_rows // (4 * n_block)))
    bounds = np.linspace(0, n_rows, n_parts + 1).astype(int)

    def reduce_part(part):
        rows = slice(bounds[part], bounds[part + 1])
        of_part = None if weight is None else weight[rows]
        load = X[rows], Y[rows], of_part, has_intercept, origins
        return _reduce_blocks(*load, n_block, n_carried)

    is_large = n_rows * width > FEW_CELLS
    with use_one_blas_thread() if has_blocks and is_large else nullcontext():
        if n_parts == 1:
            return reduce_part(0)
        if n_threads == 1:
            parts = [reduce_part(part) for part in range(n_parts)]
        else:
            with ThreadPoolExecutor(min(n_threads, n_parts)) as pool:
                parts = list(pool.map(reduce_part, range(n_parts)))
        triangles, targets, residuals = zip(*parts, strict=True)
        triangle, targets, residual = _reduce(np.vstack(triangles), np.vstack(targets))
    return triangle, targets, residual + sum(residuals)


def _reduce_blocks(X, Y, weight, has_intercept, origins, n_block, n_carried):
    """Reduce blocks of rows one by one."""
    n_rows, n_columns = X.shape[0], X.shape[1] + has_intercept
    n_block = min(n_block, n_rows)
    if not n_carried:
        return _turn_blocks(X, Y, weight, has_intercept, origins, n_block)
    width = n_columns + n_carried
    # The first block has no triangle above it.
    above = 0 if n_block >= n_rows else width
    stack = np.zeros((above + n_block, width), order="F")
    work = int(lapack.dgeqrf_lwork(*stack.shape)[0])
    below = np.tril_indices(width, -1, width)
    for start in range(0, n_rows, n_block):
        rows = slice(start, min(start + n_block, n_rows))
        end = above + rows.stop - rows.start
        of_block = None if weight is None else weight[rows]
        load = X[rows], Y[rows], of_block, has_intercept, origins
        _load(*load, out=stack[above:end])
        stack[end:] = 0.0
        stack, _, _, _ = lapack.dgeqrf(stack, lwork=work, overwrite_a=1)
        if above:
            stack[:above][below] = 0.0  # geqrf keeps its reflections there
    triangle = np.triu(stack[:width])
    rest = triangle[n_columns:, n_columns:]
    return (
        triangle[:n_columns, :n_columns],
        triangle[:n_columns, n_columns:],
        (rest**2).sum(axis=0),
    )


def _turn_blocks(X, Y, weight, has_intercept, origins, n_block):
    """Reduce blocks of rows with many targets, which are transformed, not reduced."""
    triangle = targets = None
    residual = np.zeros(Y.shape[1])
    for start in range(0, X.shape[0], n_block):
        rows = slice(start, start + n_block)
        of_block = None if weight is None else weight[rows]
        Z, T = _load(X[rows], Y[rows], of_block, has_intercept, origins)
        if triangle is not None:
            Z, T = np.vstack([triangle, Z]), np.vstack([targets, T])
        triangle, targets, rest = _reduce(Z, T)
        residual += rest
    return triangle, targets, residual


def is_worth_products(X):
    """Whether products of the sparse columns cost less than dense rows would."""
    n_rows, n_columns = X.shape
    cost = 0.0
    for rows in [slice(None)] if issparse(X) else list_blocks(n_rows):
        in_rows = np.diff(X[rows].indptr).astype(np.float64)
        cost += float(in_rows @ in_rows)  # exact: they are integers
    return SPARSE_COST * cost < float(n_rows) * n_columns**2


def reduce_products(
    X: csr_array, Y: np.ndarray, weight: np.ndarray | None, has_intercept: bool
) -> tuple | None:
    r"""Reduce sparse rows by sums of products, unless that loses digits.

    For the centred columns :math:`\tilde X` it factorises
    :math:`\tilde X^T W \tilde X = R^T R` by Cholesky's method, and solves
    :math:`R^T R b = \tilde X^T W y`, repeatedly for the residuals, until b is accurate:
    corrected seminormal equations.
    """
    n_rows, n_columns = X.shape
    total = float(n_rows) if weight is None else add_up(weight)
    mean, target_mean = np.zeros(n_columns), np.zeros(Y.shape[1])

    def read_blocks():
        for rows in list_blocks(n_rows):
            block = csr_array(read_rows(X, rows))
            yield block, read_rows(Y, rows), read_weights(weight, rows, block.shape[0])

    products = np.zeros((n_columns, n_columns))
    for block, targets, w in read_blocks():
        products += (block.T @ block.multiply(w[:, np.newaxis]).tocsr()).toarray()
        if has_intercept:
            mean += block.T @ w
            target_mean += w @ targets
    mean, target_mean = mean / total, target_mean / total
    squares = np.diagonal(products) - total * mean**2
    if not (squares > total * mean**2 / NEAR_ORIGIN**2).all():
        return None
    products -= np.outer(total * mean, mean)
    triangle = _factorise(products, np.sqrt(squares))
    if triangle is None:
        return None
    coefficients, residual = _refine_solution(read_blocks, triangle, mean, target_mean)
    targets = triangle @ coefficients
    if has_intercept:
        root = np.sqrt(total)
        triangle = np.block(
            [
                [np.full((1, 1), root), root * mean],
                [np.zeros((n_columns, 1)), triangle],
            ]
        )
        targets = np.vstack([root * target_mean, targets])
    return triangle, targets, residual


def _refine_solution(read_blocks, triangle, mean, target_mean):
    """Solve for the coefficients repeatedly; return them and the sum of squares."""
    coefficients = np.zeros((len(mean), len(target_mean)))

    def find_residuals(block, targets):
        left = targets - target_mean
        if coefficients.any():
            left = left - (block @ coefficients - mean @ coefficients)
        return left

    for _ in range(1 + N_REFINEMENTS):
        sums = np.zeros_like(coefficients)
        for block, targets, w in read_blocks():
            weighted = w[:, np.newaxis] * find_residuals(block, targets)
            sums += block.T @ weighted - np.outer(mean, weighted.sum(axis=0))
        step, _ = lapack.dtrtrs(triangle, sums, trans=1)
        step, _ = lapack.dtrtrs(triangle, step)
        coefficients += step
    residual = np.zeros(len(target_mean))
    for block, targets, w in read_blocks():
        residual += w @ find_residuals(block, targets) ** 2
    return coefficients, residual


def _factorise(products, lengths):
    """Cholesky factor of products, or None if these lost digits."""
    products = products / np.outer(lengths, lengths)
    triangle, info = lapack.dpotrf(products, clean=1)
    if info:
        return None
    # Estimated in the norm of column sums, which is at least the usual one.
    reciprocal, _ = lapack.dpocon(triangle, np.abs(products).sum(axis=0).max())
    is_well = reciprocal * LARGEST_CONDITION**2 > 1.0
    return triangle * lengths if is_well else None
