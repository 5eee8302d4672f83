"""The columns of a table, less their means and in their units, for products."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.penalized.moments import PRODUCT_ROWS, find_scales


def make_columns(
    X: MatrixLike, weight: np.ndarray, *, fit_intercept: bool, standardize: bool
) -> DenseColumns | SparseColumns:
    """Measure the columns of a table by weights whose sum is 1, and prepare them."""
    means, squares = np.asarray(weight @ X).ravel(), None
    if issparse(X):
        squares = np.asarray(weight @ X.power(2)).ravel() - np.square(means)
    else:
        squares = np.zeros(X.shape[1])
        for rows in list_blocks(X.shape[0], PRODUCT_ROWS):
            squares += weight[rows] @ np.square(X[rows] - means)
    scales, is_constant = find_scales(means, squares, standardize=standardize)
    centre = means if fit_intercept else np.zeros_like(means)
    is_zero = is_constant & bool(fit_intercept)
    make = SparseColumns if issparse(X) else DenseColumns
    return make(X, centre, scales, is_zero)


class DenseColumns:
    """The columns of a dense table, copied one after the other.

    Columns that were used are moved to the front, so that products of these read one
    part of the memory.
    """

    def __init__(self, X, centre, scales, is_zero) -> None:
        self.centre, self.scales, self.shape = centre, scales, X.shape
        self.values = np.empty(X.shape, order="F")
        for rows in list_blocks(X.shape[0], PRODUCT_ROWS):
            self.values[rows] = (X[rows] - centre) / scales
        self.values[:, is_zero] = 0.0
        #: The column at each place, the place of each column, how many are used.
        self.order, self.position = np.arange(X.shape[1]), np.arange(X.shape[1])
        self.n_used = 0

    def _use(self, columns: np.ndarray) -> np.ndarray:
        """Move columns to the front; returns where they are."""
        for column in columns[self.position[columns] >= self.n_used].tolist():
            old, new = self.position[column], self.n_used
            other = self.order[new]
            if old != new:
                self.values[:, [new, old]] = self.values[:, [old, new]]
                self.order[[new, old]] = column, other
                self.position[[column, other]] = new, old
            self.n_used += 1
        return self.position[columns]

    def add_products(self, places: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Sum of some columns times coefficients (n_scores, n_places), for each row."""
        position = self._use(places)
        wide = np.zeros((self.n_used, len(theta)))
        wide[position] = theta.T
        return self.values[:, : self.n_used] @ wide

    def find_products(
        self, rows: np.ndarray, places: np.ndarray | None = None
    ) -> np.ndarray:
        """Products of all or some columns and numbers of rows (n_rows, n_scores)."""
        if places is None:
            return np.ascontiguousarray((self.values.T @ rows)[self.position].T)
        position = self._use(places)
        return np.ascontiguousarray(
            (self.values[:, : self.n_used].T @ rows)[position].T
        )

    def weigh_products(self, first, second, weight: np.ndarray) -> np.ndarray:
        """Weighted products of some columns and others."""
        found = np.zeros((len(first), len(second)))
        is_same = first is second and bool((weight >= 0.0).all())
        first, second = self._use(first), self._use(second)
        for rows in list_blocks(self.shape[0], PRODUCT_ROWS):
            part, here = self.values[rows], weight[rows][:, np.newaxis]
            block = part[:, first]
            if is_same:
                block *= np.sqrt(here)
                found += block.T @ block  # half of the work
            else:
                block *= here
                found += block.T @ part[:, second]
        return found

    def take(self, places: np.ndarray) -> np.ndarray:
        """Take some columns as a matrix."""
        return self.values[:, self.position[places]]


class SparseColumns:
    """The columns of a sparse table, whose means are subtracted from the products."""

    def __init__(self, X, centre, scales, is_zero) -> None:
        self.centre, self.scales, self.shape = centre, scales, X.shape
        self.csr, self.csc = csr_array(X), csc_array(X)
        self.factors = np.where(is_zero, 0.0, 1.0 / scales)

    def add_products(self, places: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """As of `DenseColumns`."""
        wide = np.zeros((self.shape[1], len(theta)))
        wide[places] = (theta * self.factors[places]).T
        return np.asarray(self.csr @ wide) - self.centre @ wide

    def find_products(
        self, rows: np.ndarray, places: np.ndarray | None = None
    ) -> np.ndarray:
        """As of `DenseColumns`."""
        places = np.arange(self.shape[1]) if places is None else places
        part = self.csc if len(places) == self.shape[1] else self.csc[:, places]
        found = np.asarray(part.T @ rows) - np.outer(
            self.centre[places], rows.sum(axis=0)
        )
        return np.ascontiguousarray((found * self.factors[places][:, np.newaxis]).T)

    def weigh_products(self, first, second, weight: np.ndarray) -> np.ndarray:
        """As of `DenseColumns`."""
        left, right = self.csc[:, first], self.csc[:, second]
        weighted = left.multiply(weight[:, np.newaxis]).tocsc()
        found = (weighted.T @ right).toarray()
        means = self.centre[first], self.centre[second]
        sums = np.asarray(weight @ left).ravel(), np.asarray(weight @ right).ravel()
        found -= np.outer(means[0], sums[1]) + np.outer(sums[0], means[1])
        found += weight.sum() * np.outer(*means)
        return found * np.outer(self.factors[first], self.factors[second])

    def take(self, places: np.ndarray) -> np.ndarray:
        """As of `DenseColumns`."""
        block = self.csc[:, places].toarray() - self.centre[places]
        return np.asfortranarray(block * self.factors[places])
