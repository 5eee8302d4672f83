"""Means and cross-products of columns, block by block.

A block of rows is summed about its own mean, and two blocks are joined by the formula
of Chan, Golub and LeVeque: nothing large is subtracted from anything large, so that
neither the origin of the columns nor the size of the blocks costs digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

#: Numbers in a block: about as many as a cache holds.
BLOCK_SIZE = 2**19
#: Of columns whose mean is at most as many standard deviations, many rows may be summed
#: as they are: of sixteen digits less than two are lost.
NEAR_ORIGIN = 10.0
#: Rows whose mean is about the mean of all.
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
        """Join with the moments of other rows."""
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
    """Rows to take at a time: enough that a block is worth a matrix product."""
    enough = min(n_columns, LARGEST_BLOCK_SIZE // n_columns)
    return max(BLOCK_SIZE // n_columns, enough, 1)


def iterate_blocks(n_rows, n_columns):
    """Slices of rows that go over a table once."""
    step = count_block_rows(n_columns)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def sum_columns(X, weight=None):
    """Compute the moments of rows.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        Finite numbers; they are not copied as a whole.
    weight : ndarray of shape (n_rows,) or None, default=None
        Positive weights.

    Returns
    -------
    moments : ColumnMoments
        In double precision.
    """
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


def center_columns(X, weight=None, out=None):
    """Subtract the mean of each column.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Finite numbers.
    weight : ndarray of shape (n_rows,) or None, default=None
        Positive weights.
    out : ndarray of shape (n_rows, n_columns) or None, default=None
        Where to write, X itself at will; None: a new array.

    Returns
    -------
    mean : ndarray of float64, shape (n_columns,)
        Weighted means.
    centered : ndarray of shape (n_rows, n_columns)
        X less these.
    """
    # About the first row, a constant column is exactly 0, whatever its value.
    first = X[0].astype(np.float64)
    centered = np.subtract(X, X[0].copy(), out=out)
    if weight is None:
        shift = centered.mean(axis=0, dtype=np.float64)
    else:
        shift = weight @ centered / weight.sum()
    centered -= shift.astype(centered.dtype)
    return first + shift, centered


def _seems_near_origin(X, weight):
    """Whether many rows can perhaps be summed as they are."""
    if weight is not None or X.dtype != np.float64 or X.size <= BLOCK_SIZE:
        return False
    head = X[:ORIGIN_ROWS]
    return (np.abs(head.mean(axis=0)) < NEAR_ORIGIN * head.std(axis=0)).all()


def _sum_near_origin(X):
    """Compute the moments of rows as they are; None if that would lose digits.

    Threads share one large product better than many small ones.
    """
    n_rows = len(X)
    mean = np.ones(n_rows) @ X / n_rows
    scatter = X.T @ X
    if not _subtract_mean(scatter, mean, float(n_rows)):
        return None
    return ColumnMoments(n_rows, float(n_rows), mean, scatter)


def _subtract_mean(scatter, mean, total):
    """Subtract what the mean makes of a sum of products, unless that loses digits.

    Returns whether it was done.
    """
    correction = np.outer(mean * total, mean)
    limit = NEAR_ORIGIN**2 / (1.0 + NEAR_ORIGIN**2)
    if (np.diagonal(correction) > limit * np.diagonal(scatter)).any():
        return False
    scatter -= correction
    return True


def _find_origin(X):
    """Find a point about in the middle of rows."""
    # About the first row, a constant column is exactly 0, whatever its value.
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
    """Moments of a sparse matrix, which stays sparse."""
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
