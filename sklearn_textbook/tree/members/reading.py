"""Reading of new tables for ensembles of trees."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def read_blocks(owner, X, template):
    """Read a new table as numbers and codes, a sparse one in blocks of rows.

    Parameters
    ----------
    owner : estimator
        Fitted estimator with these columns, named in error messages.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The table.
    template : tree estimator
        A member or the template of the members, with the columns.

    Yields
    ------
    matrix : ndarray of float64 or float32
        Numbers and level codes of the rows of a block.

    Raises
    ------
    ValueError
        If the columns are not those of the training table, or missing values are not
        allowed.
    """
    return template._read_blocks(X, owner=owner)


def read_matrix(owner, X, template):
    """Read a whole new table at once; see :func:`read_blocks`.

    Parameters
    ----------
    owner : estimator
        Fitted estimator with these columns.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        The table.
    template : tree estimator
        A member or the template of the members.

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
