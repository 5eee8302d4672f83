"""Reading numeric targets."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_consistent_length

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.tables import check_sizes
from sklearn_textbook.tree.encode.block_columns import BlockColumns, FileArray

#: Powers of targets are within float64 from the inverse of this number on.
LARGEST_POWER = 1e280


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


def require_powers(y, power: float = 2.0) -> None:
    """Raise ValueError if a power of at least 2 of the targets under- or overflows.

    The targets are in memory or in a file, in one or several columns.
    """
    blocks = (np.abs(y[rows]).max(axis=0) for rows in list_blocks(len(y)))
    largest = np.atleast_1d(np.max(list(blocks), axis=0))
    limit = LARGEST_POWER ** (1.0 / power)
    smallest = min(largest[largest > 0.0], default=1.0)
    # Of squares, targets are checked when they are read.
    if power > 2.0 and largest.max() > limit:
        size, remedy = largest.max(), "overflow: divide"
    elif smallest < 1.0 / limit:
        size, remedy = smallest, "underflow: multiply"
    else:
        return
    raise ValueError(
        f"The largest absolute value of y is {size:.3g}, so that sums of its powers "
        f"{remedy} it by a power of ten."
    )
