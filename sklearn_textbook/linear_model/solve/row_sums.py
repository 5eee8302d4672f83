"""Weighted sums over the rows of a table for least squares."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.linear_model.solve._row_sums import (
    sum_dense_stretches,
    sum_dense_tiles,
    sum_sparse_bands,
    sum_sparse_stretches,
)
from sklearn_textbook.linear_model.solve.row_blocks import is_stored, take_rows

PANEL_WIDTH, TILE_HEIGHT = 8, 4  # as in _panels.pxd
#: Up to this number of columns, every stretch of rows has its own sums.
STRETCH_COLUMNS = 256
#: Minimum number of rows in a stretch, and maximum number of stretches.
STRETCH_ROWS, MAX_STRETCHES = 1024, 64
#: Maximum number of entries in the sums of all stretches of a sparse table. If there is
#: room for fewer stretches than this, the threads share the sums, in bands.
MAX_NUMBERS, MIN_STRETCHES, N_BANDS = 2**23, 8, 16
#: Columns from which a triangle is copied block by block, and columns of a block.
WIDE_COLUMNS, BLOCK_COLUMNS = 1024, 256
#: Rows of a group in which columns are reduced, and columns from which it is no use.
GROUP_ROWS, GROUP_COLUMNS = 64, 256
#: About the number of rows that are looked at for columns of small numbers.
SAMPLED = 1000


def sum_products(
    X: np.ndarray | csr_array,
    weight: np.ndarray | None = None,
    targets: np.ndarray | None = None,
    n_threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Sum up the weighted products of columns over the rows.

    With a column of ones before X, :math:`Z = [1, X]`, and the diagonal matrix W of
    weights, it computes :math:`Z^T W Z` and :math:`Z^T W T`.

    Returns (products, with_targets).

    Products of a dense table are summed by tiles, those of a sparse one by entries. No
    product is fused with a sum, and all sums have the same order of rows on every
    processor.
    """
    n_rows, n_columns = X.shape
    n_targets = 0 if targets is None else targets.shape[1]
    sums = ProductSums(n_columns, n_targets, n_threads)
    for rows in list_blocks(max(n_rows, 1)):
        sums.add(
            take_rows(X, rows),
            None if weight is None else weight[rows],
            None if targets is None else targets[rows],
        )
    return sums.finish()


class ProductSums:
    """The sums of `sum_products`, to which blocks of rows are added.

    Parameters
    ----------
    n_columns, n_targets : int
        Columns of the tables and of the targets.
    n_threads : int
        Number of threads.
    """

    def __init__(self, n_columns: int, n_targets: int, n_threads: int = 1) -> None:
        self.n_columns, self.n_targets = n_columns, n_targets
        self.n_threads = n_threads
        self.sums: np.ndarray | None = None
        self.total: np.ndarray | None = None

    def add(
        self,
        X: np.ndarray | csr_array,
        weight: np.ndarray | None,
        targets: np.ndarray | None,
    ) -> None:
        """Add a block of rows, the first of which is the largest."""
        targets = np.empty((X.shape[0], 0)) if targets is None else targets
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        if weight is not None:
            weight = np.ascontiguousarray(weight, dtype=np.float64)
        add = self._add_sparse if issparse(X) else self._add_dense
        add(X, weight, targets)

    def fold(self) -> None:
        """Add up the sums of all stretches, whose memory is then free."""
        sums = self.sums if self.sums.ndim == 2 else self.sums.sum(axis=0)
        self.total = sums if self.total is None else self.total + sums
        self.sums = None

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (products, with_targets)."""
        if self.sums is not None:
            self.fold()
        sums = self.total
        products = sums[: 1 + self.n_columns, : 1 + self.n_columns]
        with_targets = sums[: 1 + self.n_columns, 1 + self.n_columns :]
        return _mirror_upper(products), with_targets[:, : self.n_targets].copy()

    def _add_dense(self, X, weight, targets):
        """Add products of the columns 1, X, targets: the upper triangle."""
        X = X if X.dtype == np.float64 else X.astype(np.float64)
        width = 1 + X.shape[1] + targets.shape[1]
        n_padded = -(-width // PANEL_WIDTH) * PANEL_WIDTH
        if width > STRETCH_COLUMNS:
            if self.sums is None:
                self.sums = np.zeros((n_padded, n_padded))
            sum_dense_tiles(X, weight, targets, self.sums, self.n_threads)
            return
        bounds = divide_rows(X.shape[0])
        if self.sums is None:
            self.sums = np.zeros((len(bounds) - 1, n_padded, n_padded))
        sums = self.sums[: len(bounds) - 1]
        n_threads = min(self.n_threads, len(sums))
        sum_dense_stretches(X, weight, targets, bounds, sums, n_threads)

    def _add_sparse(self, X, weight, targets):
        """Add products of the columns 1, X, targets: the upper triangle."""
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        height = 1 + X.shape[1]
        width = height + targets.shape[1]
        weight = np.ones(X.shape[0]) if weight is None else weight
        data = X.data.astype(np.float64, copy=False)
        table = (data, X.indices, X.indptr, weight, targets)
        n_stretches = MAX_NUMBERS // (height * width)
        if n_stretches < MIN_STRETCHES:
            if self.sums is None:
                self.sums = np.zeros((height, width))
            bounds = np.arange(N_BANDS + 1, dtype=np.intp) * height // N_BANDS
            sum_sparse_bands(*table, bounds, self.sums, self.n_threads)
            return
        bounds = divide_rows(X.shape[0], n_stretches)
        if self.sums is None:
            self.sums = np.zeros((len(bounds) - 1, height, width))
        sums = self.sums[: len(bounds) - 1]
        n_threads = min(self.n_threads, len(sums))
        sum_sparse_stretches(*table, bounds, sums, n_threads)


def reduce_columns(function: np.ufunc, X: np.ndarray) -> np.ndarray:
    """Reduce each column by a function; rows are taken in groups, which is faster."""
    n_columns = X.shape[1]
    n_grouped = len(X) // GROUP_ROWS * GROUP_ROWS
    if not (n_grouped and X.flags.c_contiguous and 0 < n_columns < GROUP_COLUMNS):
        return function.reduce(X, axis=0)
    groups = X[:n_grouped].reshape(-1, GROUP_ROWS * n_columns)
    found = function.reduce(groups, axis=0).reshape(GROUP_ROWS, n_columns)
    return function.reduce(np.vstack([found, X[n_grouped:]]), axis=0)


def is_within(X, smallest: float, largest: float) -> bool:
    """Whether the largest number of each column is certainly between two limits.

    False does not mean the contrary: it is found in one fast pass and a sample of rows.
    """
    is_plain = isinstance(X, np.ndarray) and X.flags.c_contiguous and len(X) > SAMPLED
    if not is_plain or X.dtype != np.float64:
        return False
    flat = X.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.sqrt(flat @ flat)
    step = len(X) // SAMPLED
    return size <= largest and bool((find_largest(X[::step]) >= smallest).all())


def find_largest(X: np.ndarray | csr_array) -> np.ndarray:
    """Largest absolute value of each column."""
    if issparse(X):
        return abs(X).max(axis=0).toarray().ravel().astype(np.float64, copy=False)
    if not is_stored(X):
        return np.maximum(reduce_columns(np.maximum, X), -reduce_columns(np.minimum, X))
    largest = np.zeros(X.shape[1])
    for rows in list_blocks(X.shape[0]):
        largest = np.maximum(largest, find_largest(X[rows]))
    return largest


def _mirror_upper(products):
    """Copy a square matrix, with the lower triangle replaced by the upper one."""
    width = len(products)
    block = BLOCK_COLUMNS if width > WIDE_COLUMNS else width
    whole = products.copy()
    for first in range(0, width, block):
        here, below = slice(first, first + block), slice(first + block, None)
        corner = np.triu(whole[here, here])
        whole[here, here] = corner + np.triu(corner, 1).T
        whole[below, here] = whole[here, below].T
    return whole


def divide_rows(n_rows: int, most: int = MAX_STRETCHES):
    """Divide rows into stretches that are summed separately."""
    n_stretches = min(n_rows // STRETCH_ROWS, most, MAX_STRETCHES)
    n_stretches = max(1, n_stretches)
    return np.arange(n_stretches + 1, dtype=np.intp) * n_rows // n_stretches
