"""Proximities: how often two rows end in the same leaf of a forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_truth
from sklearn_textbook._contract.tables import as_sparse_output, count_rows
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.members import find_ends, read_blocks

#: Entries of the result that are computed at a time (32 MB).
_BLOCK_ENTRIES = 1 << 22


def compute_proximities(
    forest: Any,
    X: MatrixLike,
    Y: MatrixLike | None = None,
    *,
    out_of_bag: bool = False,
    dense: bool = True,
) -> np.ndarray | Any:
    r"""Compute the proximity of rows: how often they reach the same leaf of a forest.

    .. math:: \text{prox}(x, x') = \frac{1}{T} \sum_{t=1}^T
        \mathbb{I}(\text{leaf}_t(x) = \text{leaf}_t(x'))

    With ``out_of_bag=True``, the sum and T include only the trees for which both rows
    are out of bag, since a tree separates its training rows of different classes,
    however similar they are.

    Parameters
    ----------
    forest : forest of this package
        A fitted random forest or extra trees.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows.
    Y : table of shape (n_others, n_features), default=None
        Rows to compare them with. None: X itself.
    out_of_bag : bool, default=False
        Whether to use only the trees for which both rows are out of bag. X must then be
        the training table, with its rows in the same order, and Y must be None; the
        forest must have ``bootstrap=True``.
    dense : bool, default=True
        Whether to return an array or a sparse matrix. The latter is smaller if most
        rows have no leaf in common, as in large tables and forests of deep trees.

    Returns
    -------
    proximities : ndarray, csr_matrix or csr_array, shape (n_samples, n_others)
        Values from 0 to 1. Without ``Y``, the proximity of a row to itself is 1. With
        ``out_of_bag=True``, the proximity is 0 if no tree has left out both rows.

    Raises
    ------
    ValueError
        If ``out_of_bag=True`` and one of its conditions is not met.

    See Also
    --------
    RandomForestClassifier : A forest of trees.

    Notes
    -----
    A row with a missing value or unknown level for which there is no branch ends in an
    inner node, which counts as a leaf. A row that is divided among leaves
    (``missing="fractional"``) counts in each with its fraction: a tree adds the
    probability that both rows end in the same leaf.

    The leaves of all trees are the columns of a sparse matrix with one entry per row
    and tree, and the sum is the product of this matrix with its transpose, computed in
    blocks of rows. Memory is O(n · T) in addition to the result; with
    ``out_of_bag=True``, the number of trees of each pair is counted in blocks as well.
    1 - proximity is a dissimilarity for clustering and multidimensional scaling.

    scikit-learn has no such function.

    References
    ----------
    .. [1] L. Breiman (2001), Random forests, Machine Learning 45.
    .. [2] L. Breiman, A. Cutler (2003), Manual on setting up, using, and understanding
       random forests.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import (
    ...     RandomForestClassifier,
    ...     compute_proximities,
    ... )
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> near = compute_proximities(forest, X)
    >>> near.shape
    (150, 150)
    >>> bool(near[y == 1][:, y == 1].mean() > near[y == 1][:, y == 2].mean())
    True
    """
    check_is_fitted(forest)
    check_truth("out_of_bag", out_of_bag)
    check_truth("dense", dense)
    left_out = _mark_left_out(forest, X, Y) if out_of_bag else None
    leaves = _mark_leaves(forest, X, left_out)
    others = leaves if Y is None else _mark_leaves(forest, Y)
    shape = (leaves.shape[0], others.shape[0])
    transposed = others.T.tocsr()
    step = max(1, _BLOCK_ENTRIES // max(1, shape[1]))
    result, parts = np.empty(shape) if dense else None, []
    for first in range(0, shape[0], step):
        rows = slice(first, min(first + step, shape[0]))
        block = (leaves[rows] @ transposed).tocsr()
        if out_of_bag:
            block = _divide_by_pairs(block, left_out[rows], left_out)
        else:
            block.data /= len(forest.estimators_)
        if dense:
            block.toarray(out=result[rows])
        else:
            block.sort_indices()
            parts.append(block)
    if not dense:
        result = sparse.vstack(parts, format="csr")
    result = result if Y is not None else _set_own(result)
    return result if dense else as_sparse_output(result)


def _mark_left_out(forest, X, Y):
    """Mark the out-of-bag rows of each tree; shape (n_rows, n_trees)."""
    if Y is not None:
        raise ValueError("Y must be None if out_of_bag=True, which compares X itself.")
    return np.stack(
        [out for _, out in mark_out_of_bag_rows(forest, X, "out_of_bag=True")], axis=1
    )


def mark_out_of_bag_rows(forest, X, caller: str) -> list | np.ndarray:
    """Mark the out-of-bag rows of each tree in the training table."""
    draw = forest._make_draw()
    if draw.n_drawn_rows is None:
        raise ValueError(
            f"{caller} requires a forest with bootstrap=True; each tree of this forest "
            "was grown on all rows."
        )
    n_rows = count_rows(X)
    if n_rows != draw.n_rows:
        raise ValueError(
            f"{caller} requires the training table, with its {draw.n_rows} rows in the "
            f"same order; got {n_rows} rows."
        )
    return [
        (member, draw.mark_out_of_bag(member.random_state))
        for member in forest.estimators_
    ]


def _mark_leaves(forest, X, left_out=None):
    """Fractions of the rows in the nodes of all trees, side by side.

    Entries of rows that a tree is not to predict are missing.
    """
    members = forest.estimators_
    first_nodes = np.cumsum([0, *(member.tree_.node_count for member in members)])
    rows, nodes, fractions, n_rows = [], [], [], 0
    for matrix in read_blocks(forest, X, members[0]):
        n_threads = count_threads(forest.n_jobs, matrix.size)
        for number, member in enumerate(members):
            ends = find_ends(member.tree_, matrix, n_threads, member.schema_.names)
            row, node = ends[0] + n_rows, ends[1] + first_nodes[number]
            kept = slice(None) if left_out is None else left_out[row, number]
            rows.append(row[kept].astype(np.int32))
            nodes.append(node[kept].astype(np.int32))
            fractions.append(ends[2][kept])
        n_rows += matrix.shape[0]
    places = (np.concatenate(rows), np.concatenate(nodes))
    shape = (n_rows, int(first_nodes[-1]))
    return sparse.csr_array((np.concatenate(fractions), places), shape=shape)


def _divide_by_pairs(block, left_out, others):
    """Divide sums by the number of trees for which both rows are out of bag."""
    n_trees = left_out.astype(np.float32) @ others.T.astype(np.float32)
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    block.data /= n_trees[rows, block.indices]
    return block


def _set_own(result):
    """Set the proximity of each row to itself."""
    if sparse.issparse(result):
        # Divided rows and rows that no tree has left out are not 1 by themselves.
        own = sparse.diags_array(1.0 - result.diagonal(), format="csr")
        return sparse.csr_array(result + own)
    np.fill_diagonal(result, 1.0)
    return result
