"""Sparse results as scikit-learn is configured to return them."""

from __future__ import annotations

import scipy  # submodules are loaded on first use


def as_sparse_output(matrix):
    """Convert a sparse result to the interface that scikit-learn is set to.

    Parameters
    ----------
    matrix : scipy sparse matrix or array
        What is returned to the user.

    Returns
    -------
    matrix : scipy sparse matrix or array
        The same entries in the same format: a sparse array if
        ``sklearn.set_config(sparse_interface="sparray")`` was called, else a sparse
        matrix, as always before scikit-learn 1.9.
    """
    from sklearn import get_config  # slow to import, and not needed to print a tree

    is_array = get_config().get("sparse_interface") == "sparray"
    kind = f"{matrix.format}_{'array' if is_array else 'matrix'}"
    return getattr(scipy.sparse, kind)(matrix)
