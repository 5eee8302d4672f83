"""Means and cross-products of columns, block by block.

A block of rows is summed about its own mean, and two blocks are merged by the formula
of Chan, Golub and LeVeque. No large numbers are subtracted from each other, so that
precision does not depend on the origin of the columns or the size of the blocks. The
rows may be in files.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook._contract.blocks import BLOCK_ROWS, add_up, list_blocks
from sklearn_textbook.linear_model.design.block_rows import cut_rows

#: Numbers in a block: about as many as fit in a cache.
BLOCK_SIZE = 2**19
#: Numbers of rows that are centred at a time, which the second cache of a core holds.
CACHED_NUMBERS = 2**16
#: Many rows may be summed without centring if the mean of a column is at most this many
#: standard deviations: less than two of sixteen digits are lost.
NEAR_ORIGIN = 10.0
#: Rows whose mean approximates the mean of all.
ORIGIN_ROWS = 64
#: Numbers up to which OpenBLAS adds up rows in one thread.
ONE_THREAD = 2**13
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
    return list_blocks(n_rows, count_block_rows(n_columns))


def sum_columns(X, weight: np.ndarray | None = None):
    """Compute the moments of rows."""
    if issparse(X):
        return _sum_sparse(X, weight)
    moments = _sum_near_origin(X) if _seems_near_origin(X, weight) else None
    if moments is not None:
        return moments
    n_rows, n_columns = X.shape
    step = count_block_rows(n_columns)
    buffer = np.empty((min(step, n_rows), n_columns))
    origin = _find_origin(X)
    for rows, of_block in cut_rows(step, X, weight):
        block = _sum_block(rows, of_block, origin, buffer)
        moments = block if moments is None else moments.merge(block)
    return moments


def center_columns(
    X: np.ndarray, weight: np.ndarray | None = None, out: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Subtract the mean of each column; the result is in C order."""
    rows = CenteredRows(X, weight)
    centered = np.empty(X.shape, X.dtype) if out is None else out
    for some in list_blocks(len(X), CACHED_NUMBERS // max(X.shape[1], 1) + 1):
        # Both differences while the rows are in the cache.
        block = np.subtract(X[some], rows.first, out=centered[some])
        block -= rows.shift
    return rows.mean, centered


class CenteredRows:
    """Rows, in memory or in files, minus the means of their columns.

    Parameters
    ----------
    X : ndarray or matrix in files, of shape (n_rows, n_columns)
        The rows.
    weight : ndarray or vector in files, of shape (n_rows,), or None
        Their weights; None: 1 each.
    """

    def __init__(self, X, weight=None) -> None:
        self.X, self.weight = X, weight
        # Relative to the first row, a constant column is exactly 0.
        self.first = X[:1][0].copy()
        sums = np.zeros(X.shape[1])
        memory = None
        for rows, of_block in cut_rows(BLOCK_ROWS, X, weight):
            memory = np.empty_like(rows) if memory is None else memory
            centered = np.subtract(rows, self.first, out=memory[: len(rows)])
            if weight is None:
                sums += centered.sum(axis=0, dtype=np.float64)
            else:
                sums += sum_rows(centered, of_block)
        total = X.shape[0] if weight is None else add_up(weight)
        shift = sums / total
        self.mean = self.first.astype(np.float64) + shift
        self.shift = shift.astype(X.dtype)

    def cut(self, step: int):
        """Read blocks of the rows and of the weights."""
        for rows, of_block in cut_rows(step, self.X, self.weight):
            centered = rows - self.first
            centered -= self.shift
            yield centered, of_block


def sum_rows(rows: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Add up rows; a sum by several threads of BLAS would depend on their number."""
    weight = np.ones(len(rows)) if weight is None else weight
    with use_one_blas_thread() if rows.size > ONE_THREAD else nullcontext():
        return weight @ rows


def sum_squares(rows: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Add up the squares of every column of some rows."""
    if weight is None:
        return np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
    return np.einsum("i,ij,ij->j", weight, rows, rows, dtype=np.float64)


def _seems_near_origin(X, weight):
    """Whether the first rows suggest that all can be summed without centring."""
    is_small = X.shape[0] * X.shape[1] <= BLOCK_SIZE
    if weight is not None or X.dtype != np.float64 or is_small:
        return False
    head = _read_head(X)
    return (np.abs(head.mean(axis=0)) < NEAR_ORIGIN * head.std(axis=0)).all()


def _sum_near_origin(X):
    """Compute the moments of rows without centring; None if that would lose digits.

    Threads run large products more efficiently than many small ones.
    """
    n_rows, n_columns = X.shape
    mean, scatter = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    for (rows,) in cut_rows(BLOCK_ROWS, X):
        mean += sum_rows(rows)
        scatter += rows.T @ rows
    mean /= n_rows
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


def _read_head(X):
    """Read the first rows."""
    return np.ascontiguousarray(X[:ORIGIN_ROWS])


def _find_origin(X):
    """Find a point near the mean of rows."""
    head = _read_head(X)
    # Relative to the first row, a constant column is exactly 0.
    first = head[0].astype(np.float64)
    return first + (head - first).mean(axis=0)


def _sum_block(X, weight, origin, buffer):
    """Compute the moments of some rows about their mean."""
    n_rows = len(X)
    centered = np.subtract(X, origin, out=buffer[:n_rows])
    if weight is None:
        total, root = float(n_rows), 1.0
        shift = sum_rows(centered) / total
    else:
        total, root = float(weight.sum()), np.sqrt(weight)[:, np.newaxis]
        shift = sum_rows(centered, weight) / total
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
