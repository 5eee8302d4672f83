"""Proportions, means and scatter of classes, in a few passes over blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas
from scipy.sparse import csr_array

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook._contract.blocks import BLOCK_ROWS, add_up
from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook.linear_model.design.block_rows import (
    cut_rows,
    is_in_files,
)

#: Rows that are centred at a time, which fit in the cache.
BLOCK_BYTES = 1 << 19
#: Matrices with at most this many entries are not worth making sparse.
SMALL = 20_000
#: Multiplications up to which OpenBLAS uses one thread, so that sums have one order.
ONE_THREAD = 2**18
#: Squares and sums of squares of values in this range neither overflow nor underflow.
SMALLEST_UNIT, LARGEST_UNIT = 1e-100, 1e100


@dataclass(frozen=True)
class ClassTable:
    """Rows with class numbers and weights.

    Parameters
    ----------
    X : ndarray or matrix in files, of shape (n_rows, n_columns)
        The rows.
    codes : ndarray of int or vector in files, of shape (n_rows,)
        Their class numbers.
    n_classes : int
        Number of classes; each has a row.
    weight : ndarray or vector in files, of shape (n_rows,), or None
        Positive weights; None: 1 each.
    units : ndarray of shape (n_columns,) or None
        What the columns are divided by; only of rows in files.
    """

    X: np.ndarray
    codes: np.ndarray
    n_classes: int
    weight: np.ndarray | None = None
    units: np.ndarray | None = None

    @property
    def n_rows(self):
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_columns(self):
        """Number of columns."""
        return self.X.shape[1]

    @property
    def is_in_files(self):
        """Whether the rows are read from files."""
        return is_in_files(self.X)

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows) if self.weight is None else add_up(self.weight)

    @property
    def class_weight(self):
        """Sum of the weights of each class, the m_k of the book."""
        return self._add_up_classes(lambda weight: weight)

    @property
    def class_fraction(self):
        """Fraction of each class in the total."""
        return self._add_up_classes(lambda weight: weight / self.total_weight)

    def _add_up_classes(self, change):
        sums = np.zeros(self.n_classes)
        for codes, weight in cut_rows(BLOCK_ROWS, self.codes, self.weight):
            weight = np.ones(len(codes)) if weight is None else weight
            sums += np.bincount(codes, change(weight), minlength=self.n_classes)
        return sums

    def select_class(self, number):
        """Make a table of the rows of one class."""
        n_rows = 0
        for (codes,) in cut_rows(BLOCK_ROWS, self.codes):
            n_rows += int(np.count_nonzero(codes == number))

        def make(what, dtype, *shape):
            if self.is_in_files and n_rows > BLOCK_ROWS:
                return self.X.make_array(f"{what}-{number}", dtype, (n_rows, *shape))
            return np.empty((n_rows, *shape), dtype=dtype)

        dtype = self.X.dtype if self.units is None else np.float64
        X, codes = make("rows", dtype, self.n_columns), make("codes", np.intp)
        weight = None if self.weight is None else make("weights", np.float64)
        start = 0
        for block, of_row, of_block in self._cut(BLOCK_ROWS):
            is_kept = of_row == number
            rows = slice(start, start + int(np.count_nonzero(is_kept)))
            X[rows], codes[rows] = block[is_kept], np.zeros(rows.stop - start, np.intp)
            if weight is not None:
                weight[rows] = of_block[is_kept]
            start = rows.stop
        return ClassTable(X, codes, 1, weight)

    def compute_means(self):
        """Compute the mean of each class, with the rounding error of one long sum."""
        sums = np.zeros((self.n_classes, self.n_columns))
        for rows, codes, weight in self._cut(BLOCK_ROWS):
            sums += self._indicate(codes, weight) @ rows
        return sums / self.class_weight[:, np.newaxis]

    def compute_scatter(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute means, and the mean of squares and products about them."""
        means = self.compute_means()
        sums = np.zeros_like(means)
        upper = np.zeros((self.n_columns, self.n_columns), order="F")
        for block, codes, root in self.centre_blocks(means):
            block *= root[:, np.newaxis]
            sums += self._indicate(codes, root) @ block
            upper = blas.dsyrk(1.0, block.T, beta=1.0, c=upper, overwrite_c=1)
        # Correct both for the rounding errors of the means.
        class_fraction = self.class_fraction
        left = sums / np.sqrt(class_fraction)[:, np.newaxis]
        upper = blas.dsyrk(-1.0, left.T, beta=1.0, c=upper, overwrite_c=1)
        scatter = np.triu(upper) + np.triu(upper, 1).T
        np.fill_diagonal(scatter, np.maximum(scatter.diagonal(), 0.0))
        return means + sums / class_fraction[:, np.newaxis], scatter

    def centre_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute means, and rows centred by the mean of their class."""
        means = self.compute_means()
        rows = np.subtract(self.X, means[self.codes], order="C")
        class_weight = self.class_weight[:, np.newaxis]
        left = self._indicate(self.codes, self.weight) @ rows / class_weight
        rows -= left[self.codes]
        rows *= np.sqrt(self.share_rows())[:, np.newaxis]
        return means + left, rows

    def reduce_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute means, and the triangle of a QR decomposition of the centred rows.

        Up to a block of rows, these rows themselves, which need no triangle.
        """
        if self.n_rows <= BLOCK_ROWS:
            return self.centre_rows()
        means = self.compute_means()
        sums = np.zeros_like(means)
        for rows, codes, weight in self._cut(BLOCK_ROWS):
            sums += self._indicate(codes, weight) @ (rows - means[codes])
        means += sums / self.class_weight[:, np.newaxis]
        triangle = np.zeros((0, self.n_columns))
        options = {"mode": "r", "overwrite_a": True, "check_finite": False}
        # Threads of LAPACK would wait for each other most of the time.
        with use_one_blas_thread():
            for block, _, root in self.centre_blocks(means, 4 * self.n_columns):
                block *= root[:, np.newaxis]
                stack = np.vstack((triangle, block))
                triangle = linalg.qr(stack, **options)[0][: self.n_columns]
        return means, triangle

    def compute_products(self, means: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Compute the mean of squares and products of rows in other coordinates."""
        upper = np.zeros((basis.shape[1], basis.shape[1]), order="F")
        for block, _, root in self.centre_blocks(means):
            block *= root[:, np.newaxis]
            upper = blas.dsyrk(1.0, (block @ basis).T, beta=1.0, c=upper, overwrite_c=1)
        return np.triu(upper) + np.triu(upper, 1).T

    def share_rows(self):
        """Fraction of every row in the total."""
        if self.weight is None:
            return np.full(self.n_rows, 1.0 / self.n_rows)
        return self.weight / self.total_weight

    def _cut(self, step):
        """Read blocks of rows, with their class numbers and weights."""
        for rows, codes, weight in cut_rows(step, self.X, self.codes, self.weight):
            yield rows if self.units is None else rows / self.units, codes, weight

    def _indicate(self, codes, values):
        """Make the matrix (classes x rows) with a value for each row, at its class."""
        values = np.ones(len(codes)) if values is None else values
        n_entries = self.n_classes * len(codes)
        if n_entries <= SMALL and n_entries * self.n_columns <= ONE_THREAD:
            indicator = np.zeros((self.n_classes, len(codes)))
            indicator[codes, np.arange(len(codes))] = values
            return indicator
        starts = np.arange(len(codes) + 1)
        shape = (len(codes), self.n_classes)
        return csr_array((values, codes, starts), shape=shape).T

    def centre_blocks(self, means, least: int = 64):
        """Yield centred rows, their class numbers, and the roots of their fractions."""
        step = max(BLOCK_BYTES // (8 * self.n_columns), least)
        for rows, codes, weight in self._cut(step):
            fraction = (1.0 if weight is None else weight) / self.total_weight
            root = np.broadcast_to(np.sqrt(fraction), codes.shape)
            yield rows - means[codes], codes, root


def find_units(X) -> np.ndarray:
    """Find units for columns whose squares would leave the range of floats."""
    largest = np.zeros(X.shape[1])
    for (rows,) in cut_rows(BLOCK_ROWS, X):
        sizes = np.maximum(rows.max(axis=0), -rows.min(axis=0))
        largest = np.maximum(largest, sizes.astype(np.float64))
    units = np.ones(X.shape[1])
    is_far = (largest > LARGEST_UNIT) | ((largest < SMALLEST_UNIT) & (largest > 0.0))
    # Not below the smallest normal number, whose inverse is finite.
    exponents = np.maximum(np.frexp(largest[is_far])[1] - 1, -1022)
    units[is_far] = np.ldexp(1.0, exponents)
    return units
