"""The nodes in which rows end, with the fraction of each row."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.route.route import find_decision_path
from sklearn_textbook.tree.route.walk import as_table, walk_blocks


def find_ends(tree, matrix, n_threads=1, feature_names=None):
    """List the nodes in which rows end, and the fraction of the row in each.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        The table, as in :func:`find_leaves`.
    n_threads : int, default=1
        Number of threads. The result does not depend on it.
    feature_names : sequence of str, default=None
        Names of the columns, for error messages.

    Returns
    -------
    rows : ndarray of int64, shape (n_ends,)
        Numbers of the rows, ascending; a row that is divided has several entries.
    nodes : ndarray of int64, shape (n_ends,)
        The node: a leaf, or an inner node in which the row ends.
    shares : ndarray of float64, shape (n_ends,)
        Fractions, which sum to 1 for every row.

    Raises
    ------
    ValueError
        As in :func:`find_leaves`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree import ID3Classifier
    >>> from sklearn_textbook.tree.route import find_ends
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> tree = ID3Classifier().fit(X, [0, 0, 0, 1]).tree_
    >>> find_ends(tree, np.array([[0.0], [np.nan]]))
    (array([0, 1, 1]), array([1, 1, 2]), array([1.  , 0.75, 0.25]))
    """
    table = as_table(tree, matrix)
    ended = [np.empty(0, dtype=np.int64)]
    divided = [np.empty(0, dtype=np.int64)]
    for walk in walk_blocks(tree, table, n_threads, feature_names):
        ended.append(walk.node)
        divided.append(walk.divided + walk.rows.start)
    ended, divided = np.concatenate(ended), np.concatenate(divided)
    rows, shares = np.arange(len(ended)), np.ones(len(ended))
    if len(divided) == 0:
        return rows, ended, shares
    whole = np.delete(rows, divided)
    path = find_decision_path(tree, table[divided], n_threads, feature_names)
    which, nodes, parts = _share_out(tree, path)
    rows = np.concatenate([whole, divided[which]])
    order = np.argsort(rows, kind="stable")
    ended = np.concatenate([ended[whole], nodes])[order]
    return rows[order], ended, np.concatenate([shares[whole], parts])[order]


def _share_out(tree, path):
    """Return the nodes in which divided rows end, with the fractions."""
    n_nodes = tree.node_count
    rows = np.repeat(np.arange(path.shape[0]), np.diff(path.indptr))
    nodes = path.indices.astype(np.int64)
    # Entries are sorted by row and node, and so are these keys.
    keys = rows * n_nodes + nodes
    depth = tree.depth[nodes]
    above = np.searchsorted(keys, rows * n_nodes + tree.nodes["parent"][nodes])
    weight = tree.nodes["weight"][nodes]
    is_root = nodes == 0
    n_entered = np.bincount(above[~is_root], minlength=len(keys))
    divided_weight = np.bincount(above[~is_root], weight[~is_root], len(keys))
    shares = np.ones(len(keys))
    # A single child on the path gets the whole row, even if its weight is 0.
    is_part = ~is_root & (n_entered[above] > 1)
    for level in range(1, int(depth.max()) + 1):
        at = np.flatnonzero(depth == level)
        shares[at] = shares[above[at]]
        at = at[is_part[at]]
        shares[at] *= weight[at] / divided_weight[above[at]]
    ends = n_entered == 0
    return rows[ends], nodes[ends], shares[ends]
