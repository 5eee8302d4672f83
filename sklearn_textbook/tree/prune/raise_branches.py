"""Error-based pruning with subtree raising, which routes the training rows again."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sklearn_textbook.tree.grow.layout import FRACTIONAL, LEAF, STAY
from sklearn_textbook.tree.prune._error_based import CRITERIA, prune_nodes
from sklearn_textbook.tree.prune.error_steps import number_places
from sklearn_textbook.tree.prune.rebuild import compact_maps


class TrainingRows:
    """The training rows of a tree in the form that the kernel reads.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        The table.
    codes : array of int, shape (n_rows,)
        The class index of every row.
    weight : array of shape (n_rows,) or None
        The weight of every row.
    level_codes : ndarray of uint32, or None
        The nominal columns as in an EncodedTable.
    criterion : str
        Name of the impurity stored in the nodes.
    """

    def __init__(self, matrix, codes, weight, level_codes, criterion):
        self.matrix, self.level_codes, self.criterion = matrix, level_codes, criterion
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.weight = weight
        if weight is not None:
            self.weight = np.ascontiguousarray(weight, dtype=np.float64)


def check_rows(tree, rows):
    """Check that the rows can be the training rows of the tree.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    rows : TrainingRows
        The rows.

    Raises
    ------
    ValueError
        If their number or shape is wrong, or a class index is out of range.
    """
    matrix, codes, sample_weight = rows.matrix, rows.codes, rows.weight
    nodes, n_rows = tree.nodes, len(codes)
    if matrix.shape != (n_rows, tree.n_features):
        raise ValueError(
            f"The table must have shape {(n_rows, tree.n_features)}, for {n_rows} "
            f"class numbers and {tree.n_features} columns; got {matrix.shape}."
        )
    n_used = n_rows
    if sample_weight is not None:
        if sample_weight.shape != (n_rows,):
            raise ValueError(
                f"sample_weight must have shape ({n_rows},), got {sample_weight.shape}."
            )
        n_used = np.count_nonzero(sample_weight > 0.0)
    if n_used != nodes["n_samples"][0]:
        raise ValueError(
            f"The tree was grown from {nodes['n_samples'][0]} rows, but the table has "
            f"{n_used} rows of positive weight."
        )
    n_classes = tree.max_n_classes
    if codes.min() < 0 or codes.max() >= n_classes:
        raise ValueError(f"codes must be class numbers from 0 to {n_classes - 1}.")


def raise_branches(tree, rows, confidence, collapsed):
    """Prune with subtree raising.

    Parameters
    ----------
    tree : GrownTree
        A tree with at least one inner node.
    rows : TrainingRows
        Its training rows.
    confidence : tuple of float
        The result of ``measure_confidence``.
    collapsed : ndarray of bool, shape (node_count,)
        The inner nodes, without the root, that are collapsed before pruning.

    Returns
    -------
    pruned : GrownTree
        The pruned tree; the same object if no node is pruned.
    places : ndarray of int32
        For every node of the pruned tree its position in the grown tree.
    steps : ndarray of ENTRY_DTYPE
        The decisions.
    """
    nodes, surrogates, matrix = tree.nodes, tree.surrogates, rows.matrix
    tested, level_codes = np.arange(tree.n_features), rows.level_codes
    is_sparse = sparse.issparse(matrix)
    if is_sparse:
        tested, matrix = _take_tested_columns(tree, matrix)
        nodes, surrogates = (
            _renumber_columns(records, tested) for records in (nodes, surrogates)
        )
        level_codes = None
    if level_codes is None:
        level_codes = np.empty((0, 0), np.uint32)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    numbers = np.arange(tree.node_count + 1)
    nodes, statistics, places, steps = prune_nodes(
        nodes,
        tree.statistics[:, 0],
        tree.level_branch,
        np.ascontiguousarray(tree.n_levels, dtype=np.int64)[tested],
        surrogates,
        np.searchsorted(surrogates["node"], numbers).astype(np.int64),
        FRACTIONAL if tree.handle_unknown == "fractional" else STAY,
        matrix,
        rows.codes,
        rows.weight,
        confidence,
        True,
        collapsed.view(np.uint8),
        level_codes,
        CRITERIA[rows.criterion],
    )
    if len(nodes) == tree.node_count:
        return tree, places, steps
    inner = nodes["kind"] != LEAF
    if is_sparse:
        nodes["feature"][inner] = tested[nodes["feature"][inner]]
    surrogates = _keep_surrogates(tree, inner, places, steps)
    pruned = tree.replace(
        nodes=nodes,
        statistics=statistics[:, np.newaxis],
        surrogates=surrogates,
        level_branch=compact_maps(tree, nodes, surrogates),
    )
    return pruned, places, steps


# ------------------------------------------------------------------------ small parts
def _take_tested_columns(tree, matrix):
    """List the columns that the tree tests, and make a dense table of them."""
    inner = tree.nodes["kind"] != LEAF
    tested = np.union1d(tree.nodes["feature"][inner], tree.surrogates["feature"])
    columns = sparse.csc_array(matrix)[:, tested]
    return tested, columns.toarray(order="F")


def _renumber_columns(records, tested):
    """Renumber the columns to their positions among the tested ones."""
    records = records.copy()
    inner = records["kind"] != LEAF
    records["feature"][inner] = np.searchsorted(tested, records["feature"][inner])
    return records


def _keep_surrogates(tree, is_inner, places, steps):
    """Select the surrogates of the remaining tests, in the order of the new nodes."""
    if len(tree.surrogates) == 0:
        return tree.surrogates.copy()
    node = number_places(tree, places, steps)[tree.surrogates["node"]]
    stays = (node >= 0) & is_inner[node]
    surrogates = tree.surrogates[stays]
    surrogates["node"] = node[stays]
    return surrogates[np.argsort(surrogates["node"], kind="stable")]
