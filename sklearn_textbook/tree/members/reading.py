"""New tables for an estimator made of trees."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def read_blocks(owner, X, template):
    """Read a new table as numbers and codes, a sparse one by blocks of rows.

    Parameters
    ----------
    owner : estimator
        Fitted estimator whose columns these are, as error messages name it.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The table.
    template : tree estimator
        A member, or what members were made from: it knows the columns.

    Yields
    ------
    matrix : ndarray of float64 or float32
        Numbers and level codes of the rows of a block.

    Raises
    ------
    ValueError
        If the columns are not those of the training table, or if values are missing
        where none may be.
    """
    return template._read_blocks(X, owner=owner)


def read_matrix(owner, X, template):
    """Read a whole new table at once; see :func:`read_blocks`.

    Parameters
    ----------
    owner : estimator
        Fitted estimator whose columns these are.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The table.
    template : tree estimator
        A member, or what members were made from.

    Returns
    -------
    matrix : ndarray of float64 or float32, shape (n_rows, n_columns), or sparse array
        Numbers and level codes.
    """
    blocks = list(read_blocks(owner, X, template))
    if len(blocks) == 1:
        return blocks[0]
    join = sparse.vstack if any(map(sparse.issparse, blocks)) else np.concatenate
    return join(blocks)
