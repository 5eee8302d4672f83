"""Reading numeric targets."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_consistent_length

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.tables import check_sizes
from sklearn_textbook.tree.encode.block_columns import BlockColumns, FileArray


def read_numeric_targets(y, X, estimator, is_present=None):
    """Read targets that are numbers."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but "
            "the target y is None."
        )
    name = type(estimator).__name__
    Y = check_numbers(y, name, is_present=is_present)
    check_consistent_length(X, Y)
    Y = Y if is_present is None else Y[is_present]
    check_sizes(Y, name, is_present=is_present, what="y")
    return Y


def read_stored_targets(columns: BlockColumns, estimator) -> FileArray:
    """Read targets that are numbers in a file, as one column."""
    for rows in list_blocks(columns.n_rows):
        check_sizes(columns.target[rows], type(estimator).__name__, what="y")
    return FileArray(columns.target.path, np.float64, (columns.n_rows, 1))
