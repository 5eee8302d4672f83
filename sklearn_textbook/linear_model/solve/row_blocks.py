"""Blocks of the rows of a table and of vectors, in memory or in files.

Both are read by slices. Sums over rows are made block by block, in their order, so that
they have the same bits for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, issparse, vstack

from sklearn_textbook._contract.blocks import list_blocks

#: Every so many-th row is one of the sample from which large tables are started. A
#: block has a multiple of it.
SAMPLE_STEP = 16


def is_sparse(X: Any) -> bool:
    """Return whether the blocks of a table are sparse."""
    return issparse(X) or getattr(X, "is_sparse", False)


def is_stored(X: Any) -> bool:
    """Return whether the rows of a table are in files."""
    return not (issparse(X) or isinstance(X, np.ndarray))


def take_rows(X: Any, rows: slice) -> np.ndarray | csr_array:
    """Read a block of a table or a vector."""
    return _slice_sparse(X, rows) if issparse(X) else X[rows]


def _slice_sparse(X, rows):
    """Read rows of a sparse table without copying or checking its entries."""
    start, stop, _ = rows.indices(X.shape[0])
    if (start, stop) == (0, X.shape[0]):
        return X
    first, last = X.indptr[start], X.indptr[stop]
    block = csr_array((stop - start, X.shape[1]), dtype=X.dtype)
    block.data, block.indices = X.data[first:last], X.indices[first:last]
    block.indptr = X.indptr[start : stop + 1] - first
    block.has_canonical_format = X.has_canonical_format
    return block


def take_every(X: Any, step: int) -> Any:
    """Read every ``step``-th row of a table or a vector into the memory."""
    if not is_stored(X):
        return X[::step] if issparse(X) else np.ascontiguousarray(X[::step])
    parts = [take_rows(X, rows)[::step] for rows in list_blocks(X.shape[0])]
    return csr_array(vstack(parts)) if is_sparse(X) else np.concatenate(parts)


def lay_out(X: Any) -> Any:
    """Copy a dense table in memory unless its rows are in order.

    Otherwise each pass over the rows would copy its blocks.
    """
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X


def read_rows(X: Any, rows: slice) -> np.ndarray | csr_array:
    """Read a block; a dense one row after row, as the order of sums depends on that."""
    block = take_rows(X, rows)
    return block if issparse(block) else np.ascontiguousarray(block)


def read_weights(weight: Any, rows: slice, n_rows: int) -> np.ndarray:
    """Read a block of weights; None: 1 each."""
    if weight is None:
        return np.ones(n_rows)
    return read_rows(weight, rows)


@dataclass(frozen=True)
class MappedRows:
    """A table in files with a function applied to its blocks."""

    X: Any
    function: Callable
    n_columns: int
    is_sparse: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.X.shape[0], self.n_columns

    def __getitem__(self, rows: slice):
        return self.function(read_rows(self.X, rows))


def map_rows(X: Any, function: Callable, n_columns: int) -> Any:
    """Apply a function to the blocks of a table; those of files when they are read.

    The function makes dense blocks.
    """
    if is_stored(X):
        return MappedRows(X, function, n_columns)
    mapped = np.empty((X.shape[0], n_columns))
    for rows in list_blocks(len(mapped)):
        mapped[rows] = function(read_rows(X, rows))
    return mapped


def add_constant(X: Any, value: float) -> Any:
    """Add a column of one value to a table."""

    def add(block):
        constant = np.full((block.shape[0], 1), value)
        if issparse(block):
            return csr_array(hstack([block, constant], format="csr"))
        return np.hstack([block, constant])

    if not is_stored(X):
        return add(X)
    return MappedRows(X, add, X.shape[1] + 1, is_sparse(X))


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """Take some of the columns of a table."""
    if not is_stored(X):
        return X[:, columns]
    return MappedRows(X, lambda block: block[:, columns], len(columns), is_sparse(X))
