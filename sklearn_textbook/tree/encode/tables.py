"""Access to tables in any container."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sklearn_textbook.tree.encode.arrays import ArrayTable, SparseTable
from sklearn_textbook.tree.encode.frames import (
    FrameTable,
    is_frame,
    require_frame_or_array,
)


def open_table(X):
    """Wrap a table for reading column by column.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The table.

    Returns
    -------
    table : ArrayTable, FrameTable or SparseTable
        With ``n_rows``, ``n_columns``, ``names``, ``source``, ``read_matrix()`` and
        ``read_column(position, name, as_levels)``.
    """
    if isinstance(X, np.ndarray):
        return ArrayTable(X)
    if sparse.issparse(X):
        return SparseTable(X)
    if is_frame(X):
        return FrameTable(X)
    require_frame_or_array(X)
    return ArrayTable(X)
