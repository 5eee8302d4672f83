"""Proportions, means and scatter of classes, in a few passes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas
from scipy.sparse import csr_array

#: Rows that are centred at a time, which fit in the cache.
BLOCK_BYTES = 1 << 19
#: Matrices with at most this many entries are not worth making sparse.
SMALL = 20_000
#: Squares and sums of squares of values in this range neither overflow nor underflow.
SMALLEST_UNIT, LARGEST_UNIT = 1e-100, 1e100


@dataclass(frozen=True)
class ClassTable:
    """Rows with class numbers and weights.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The rows.
    codes : ndarray of int, shape (n_rows,)
        Their class numbers.
    n_classes : int
        Number of classes; each has a row.
    weight : ndarray of shape (n_rows,) or None
        Positive weights; None: 1 each.
    """

    X: np.ndarray
    codes: np.ndarray
    n_classes: int
    weight: np.ndarray | None = None

    @property
    def n_rows(self):
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_columns(self):
        """Number of columns."""
        return self.X.shape[1]

    @property
    def class_weight(self):
        """Sum of the weights of each class, the m_k of the book."""
        counts = np.bincount(self.codes, self.weight, minlength=self.n_classes)
        return counts.astype(np.float64)

    def select_class(self, number):
        """Make a table of the rows of one class."""
        rows = np.flatnonzero(self.codes == number)
        codes = np.zeros(len(rows), dtype=np.intp)
        weight = None if self.weight is None else self.weight[rows]
        return ClassTable(self.X[rows], codes, 1, weight)

    def compute_means(self):
        """Compute the mean of each class, with the rounding error of one long sum."""
        rows = slice(0, self.n_rows)
        sums = self._indicate(rows, self.weight) @ self.X
        return sums.astype(np.float64) / self.class_weight[:, np.newaxis]

    def compute_scatter(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute means, and the mean of squares and products about them."""
        means = self.compute_means()
        fraction = self.share_rows()
        sums = np.zeros_like(means)
        upper = np.zeros((self.n_columns, self.n_columns), order="F")
        for rows, block in self._centre_blocks(means):
            root = np.sqrt(fraction[rows])
            block *= root[:, np.newaxis]
            sums += self._indicate(rows, root) @ block
            upper = blas.dsyrk(1.0, block.T, beta=1.0, c=upper, overwrite_c=1)
        # Correct both for the rounding errors of the means.
        class_fraction = np.bincount(self.codes, fraction, minlength=self.n_classes)
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
        left = self._indicate(slice(0, self.n_rows), self.weight) @ rows / class_weight
        rows -= left[self.codes]
        rows *= np.sqrt(self.share_rows())[:, np.newaxis]
        return means + left, rows

    def compute_products(self, means: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Compute the mean of squares and products of rows in other coordinates."""
        fraction = self.share_rows()
        upper = np.zeros((basis.shape[1], basis.shape[1]), order="F")
        for rows, block in self._centre_blocks(means):
            block *= np.sqrt(fraction[rows])[:, np.newaxis]
            upper = blas.dsyrk(1.0, (block @ basis).T, beta=1.0, c=upper, overwrite_c=1)
        return np.triu(upper) + np.triu(upper, 1).T

    def share_rows(self):
        """Fraction of every row in the total."""
        if self.weight is None:
            return np.full(self.n_rows, 1.0 / self.n_rows)
        return self.weight / self.weight.sum()

    def _indicate(self, rows, values):
        """Make the matrix (classes x rows) with a value for each row, at its class."""
        codes = self.codes[rows]
        values = np.ones(len(codes)) if values is None else values
        if self.n_classes * len(codes) <= SMALL:
            indicator = np.zeros((self.n_classes, len(codes)))
            indicator[codes, np.arange(len(codes))] = values
            return indicator
        starts = np.arange(len(codes) + 1)
        shape = (len(codes), self.n_classes)
        return csr_array((values, codes, starts), shape=shape).T

    def _centre_blocks(self, means):
        """Yield slices of the rows, and these rows minus the means of their classes."""
        size = max(BLOCK_BYTES // (8 * self.n_columns), 64)
        for start in range(0, self.n_rows, size):
            rows = slice(start, min(start + size, self.n_rows))
            centres = means[self.codes[rows]]
            yield rows, np.subtract(self.X[rows], centres, order="C")


def find_units(X: np.ndarray) -> np.ndarray:
    """Find units for columns whose squares would leave the range of floats."""
    largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    units = np.ones(X.shape[1])
    is_far = (largest > LARGEST_UNIT) | ((largest < SMALLEST_UNIT) & (largest > 0.0))
    # Not below the smallest normal number, whose inverse is finite.
    exponents = np.maximum(np.frexp(largest[is_far])[1] - 1, -1022)
    units[is_far] = np.ldexp(1.0, exponents)
    return units
