"""Means and cross-products of columns, block by block.

A block of rows is summed about its own mean, and two blocks are merged by the formula
of Chan, Golub and LeVeque. No large numbers are subtracted from each other, so that
precision does not depend on the origin of the columns or the size of the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

#: Numbers in a block: about as many as fit in a cache.
BLOCK_SIZE = 2**19
#: Many rows may be summed without centring if the mean of a column is at most this many
#: standard deviations: less than two of sixteen digits are lost.
NEAR_ORIGIN = 10.0
#: Rows whose mean approximates the mean of all.
ORIGIN_ROWS = 64
#: Numbers in a block of very many columns.
LARGEST_BLOCK_SIZE = 2**22


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Moments of rows for principal components.

    ``scatter`` is the sum of w (x - mean) (x - mean)' over the rows.
    """

    n_rows: int
    total_weight: float
    mean: np.ndarray
    scatter: np.ndarray

    def merge(self, other):
        """Merge with the moments of other rows."""
        total = self.total_weight + other.total_weight
        shift = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.outer(shift * (self.total_weight / total), shift) * (
            other.total_weight
        )
        return ColumnMoments(
            self.n_rows + other.n_rows,
            total,
            self.mean + shift * (other.total_weight / total),
            scatter,
        )

    def compute_covariance(self):
        """Sample covariance: a row of weight w counts as w rows."""
        return self.scatter / (self.total_weight - 1.0)


def count_block_rows(n_columns):
    """Rows to take at a time: enough for an efficient matrix product."""
    enough = min(n_columns, LARGEST_BLOCK_SIZE // n_columns)
    return max(BLOCK_SIZE // n_columns, enough, 1)


def iterate_blocks(n_rows, n_columns):
    """Slices of rows that cover a table once."""
    step = count_block_rows(n_columns)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def sum_columns(X, weight: np.ndarray | None = None):
    """Compute the moments of rows."""
    if issparse(X):
        return _sum_sparse(X, weight)
    moments = _sum_near_origin(X) if _seems_near_origin(X, weight) else None
    if moments is not None:
        return moments
    n_rows, n_columns = X.shape
    buffer = np.empty((min(count_block_rows(n_columns), n_rows), n_columns))
    origin = _find_origin(X)
    for rows in iterate_blocks(n_rows, n_columns):
        of_block = None if weight is None else weight[rows]
        block = _sum_block(X[rows], of_block, origin, buffer)
        moments = block if moments is None else moments.merge(block)
    return moments


def center_columns(
    X: np.ndarray, weight: np.ndarray | None = None, out: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Subtract the mean of each column."""
    # Relative to the first row, a constant column is exactly 0.
    first = X[0].astype(np.float64)
    centered = np.subtract(X, X[0].copy(), out=out)
    if weight is None:
        shift = centered.mean(axis=0, dtype=np.float64)
    else:
        shift = weight @ centered / weight.sum()
    centered -= shift.astype(centered.dtype)
    return first + shift, centered


def _seems_near_origin(X, weight):
    """Whether the first rows suggest that all can be summed without centring."""
    if weight is not None or X.dtype != np.float64 or X.size <= BLOCK_SIZE:
        return False
    head = X[:ORIGIN_ROWS]
    return (np.abs(head.mean(axis=0)) < NEAR_ORIGIN * head.std(axis=0)).all()


def _sum_near_origin(X):
    """Compute the moments of rows without centring; None if that would lose digits.

    Threads run one large product more efficiently than many small ones.
    """
    n_rows = len(X)
    mean = np.ones(n_rows) @ X / n_rows
    scatter = X.T @ X
    if not _subtract_mean(scatter, mean, float(n_rows)):
        return None
    return ColumnMoments(n_rows, float(n_rows), mean, scatter)


def _subtract_mean(scatter, mean, total) -> bool:
    """Subtract the product of means from a sum of products, unless that loses digits.

    Returns whether it was subtracted.
    """
    correction = np.outer(mean * total, mean)
    limit = NEAR_ORIGIN**2 / (1.0 + NEAR_ORIGIN**2)
    if (np.diagonal(correction) > limit * np.diagonal(scatter)).any():
        return False
    scatter -= correction
    return True


def _find_origin(X):
    """Find a point near the mean of rows."""
    # Relative to the first row, a constant column is exactly 0.
    first = X[0].astype(np.float64)
    return first + (X[:ORIGIN_ROWS] - first).mean(axis=0)


def _sum_block(X, weight, origin, buffer):
    """Compute the moments of some rows about their mean."""
    n_rows = len(X)
    centered = np.subtract(X, origin, out=buffer[:n_rows])
    if weight is None:
        total, root = float(n_rows), 1.0
        shift = np.ones(n_rows) @ centered / total
    else:
        total, root = float(weight.sum()), np.sqrt(weight)[:, np.newaxis]
        shift = weight @ centered / total
        centered *= root
    scatter = centered.T @ centered
    if not _subtract_mean(scatter, shift, total):
        # The mean is too far from the origin.
        centered -= root * shift
        scatter = centered.T @ centered
    return ColumnMoments(n_rows, total, origin + shift, scatter)


def _sum_sparse(X, weight):
    """Moments of a sparse matrix, without making it dense."""
    n_rows = X.shape[0]
    X = X.astype(np.float64)
    if weight is None:
        total, weighted = float(n_rows), X
    else:
        total = float(weight.sum())
        weighted = X.multiply(weight[:, np.newaxis]).tocsr()
    mean = np.asarray(weighted.sum(axis=0)).ravel() / total
    scatter = (X.T @ weighted).toarray()
    scatter -= np.outer(mean, mean) * total
    is_constant = fix_constant_columns(X, mean)
    scatter[is_constant] = 0.0
    scatter[:, is_constant] = 0.0
    return ColumnMoments(n_rows, total, mean, scatter)


def fix_constant_columns(X, mean):
    """Find the constant columns of a sparse matrix, and write their means exactly."""
    largest = X.max(axis=0).toarray().ravel()
    is_constant = largest == X.min(axis=0).toarray().ravel()
    mean[is_constant] = largest[is_constant]
    return is_constant
