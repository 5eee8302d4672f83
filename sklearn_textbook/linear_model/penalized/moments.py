"""Weighted means and products of the columns of a table, which folds add up."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.solve.row_sums import sum_products

#: Number of rows whose products are computed at once.
PRODUCT_ROWS = 1024
#: A standard deviation below this fraction of the mean is rounding.
CONSTANT = 16.0 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of columns and a target, less fixed numbers.

    Parameters
    ----------
    total : float
        Weight of the rows.
    sums : ndarray of shape (n_columns + 1,)
        Sums of the columns and of the target.
    products : ndarray of shape (n_columns + 1, n_columns + 1)
        Sums of their products.
    origin : ndarray of shape (n_columns + 1,)
        The numbers that were subtracted.
    """

    total: float
    sums: np.ndarray
    products: np.ndarray
    origin: np.ndarray

    def centre(self, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return means, 0 without intercept, and the mean products about them."""
        shift = self.sums / self.total
        products = self.products / self.total
        if not fit_intercept:
            return np.zeros_like(shift), products
        products -= np.outer(shift, shift)
        return self.origin + shift, products


def add_moments(parts: Iterable[Moments]) -> Moments:
    """Add up the moments of parts of the rows."""
    first, *others = parts
    total, sums, products = first.total, first.sums.copy(), first.products.copy()
    for part in others:
        total += part.total
        sums += part.sums
        products += part.products
    return Moments(total, sums, products, first.origin)


def measure_moments(
    X: MatrixLike,
    y: np.ndarray,
    weight: np.ndarray,
    origin: np.ndarray,
    n_threads: int = 1,
) -> Moments:
    """Sum up the columns of a table and a target, and their products."""
    if issparse(X):
        return _measure_sparse(X, y, weight, origin)

    def measure(rows):
        block = np.empty((rows.stop - rows.start, len(origin)))
        np.subtract(X[rows], origin[:-1], out=block[:, :-1])
        np.subtract(y[rows], origin[-1], out=block[:, -1])
        sums = weight[rows] @ block
        block *= np.sqrt(weight[rows])[:, np.newaxis]
        return sums, block.T @ block

    sums, products = np.zeros(len(origin)), np.zeros((len(origin), len(origin)))
    with ThreadPoolExecutor(n_threads) as pool:
        blocks = list(list_blocks(len(y), PRODUCT_ROWS))
        for first in range(0, len(blocks), n_threads):
            # Added in the order of the rows, whatever the number of threads.
            for part in pool.map(measure, blocks[first : first + n_threads]):
                sums += part[0]
                products += part[1]
    return Moments(float(weight.sum()), sums, products, origin)


def _measure_sparse(X, y, weight, origin):
    """Compute the sums of a sparse table as it is, and then move them."""
    X = X if isinstance(X, csr_array) else csr_array(X)
    found, with_target = sum_products(X, weight, (y - origin[-1])[:, np.newaxis])
    total, sums = found[0, 0], np.append(found[0, 1:], with_target[0, 0])
    square = float(weight @ np.square(y - origin[-1]))
    products = np.block(
        [[found[1:, 1:], with_target[1:]], [with_target[1:].T, np.array([[square]])]]
    )
    shift = np.append(origin[:-1], 0.0)
    moved = np.outer(shift, sums)
    products += total * np.outer(shift, shift) - moved - moved.T
    return Moments(float(total), sums - total * shift, products, origin)


def find_scales(
    means: np.ndarray, variances: np.ndarray, *, standardize: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the units of columns, and which of them are constant.

    Those are standard deviations about the mean, or 1.
    """
    deviations = np.sqrt(np.maximum(variances, 0.0))
    is_constant = deviations <= CONSTANT * np.abs(means)
    units = np.where(is_constant, 1.0, deviations)
    return units if standardize else np.ones(len(means)), is_constant
