"""Rows of a table -> the leaves of a grown tree, their distributions and paths.

A row starts at the root. At an inner node its value in the tested column decides:

* present, numeric or ordinal test: child 0 if value <= threshold, else child 1;
* present, nominal test: the child in the node's map for the level code;
* missing: decided by the first surrogate of the node whose value is present and whose
  level is known; otherwise by the node's ``missing_branch``: a child, or ``STAY`` (the
  row ends here), or ``FRACTIONAL`` (the row is divided among the children in proportion
  to their training weight, 多路加权);
* a level not seen in the node: according to ``tree.handle_unknown``.

Values are compared in float64. scikit-learn rounds the table to float32 first, so there
a row whose value is within rounding of a threshold may go to the other child.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # whose submodules are loaded on first use

from sklearn_textbook._contract.tables import as_sparse_output
from sklearn_textbook.tree.route._route import (
    count_path_nodes,
    fill_path_nodes,
    spread_rows,
)
from sklearn_textbook.tree.route.walk import (
    Plan,
    Walk,
    as_table,
    predict_in_nodes,
    walk_blocks,
)


def pick_classes(fractions: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the class with the largest proportion, up to a tolerance."""
    best = np.zeros(len(fractions), dtype=np.int64)
    largest = fractions[:, 0].copy()
    for number in range(1, fractions.shape[1]):
        is_larger = fractions[:, number] > largest + tolerance
        best[is_larger] = number
        largest[is_larger] = fractions[is_larger, number]
    return best


def find_ends(
    tree, matrix, n_threads: int = 1, feature_names: Sequence[str] | None = None
):
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
    fractions : ndarray of float64, shape (n_ends,)
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
    rows, fractions = np.arange(len(ended)), np.ones(len(ended))
    if len(divided) == 0:
        return rows, ended, fractions
    whole = np.delete(rows, divided)
    path = find_decision_path(tree, table[divided], n_threads, feature_names)
    which, nodes, parts = _share_out(tree, path)
    rows = np.concatenate([whole, divided[which]])
    order = np.argsort(rows, kind="stable")
    ended = np.concatenate([ended[whole], nodes])[order]
    return rows[order], ended, np.concatenate([fractions[whole], parts])[order]


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
    fractions = np.ones(len(keys))
    # A single child on the path gets the whole row, even if its weight is 0.
    is_part = ~is_root & (n_entered[above] > 1)
    for level in range(1, int(depth.max()) + 1):
        at = np.flatnonzero(depth == level)
        fractions[at] = fractions[above[at]]
        at = at[is_part[at]]
        fractions[at] *= weight[at] / divided_weight[above[at]]
    ends = n_entered == 0
    return rows[ends], nodes[ends], fractions[ends]


def find_leaves(
    tree, matrix, n_threads: int = 1, feature_names: Sequence[str] | None = None
) -> np.ndarray:
    """Return the node in which each row ends.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        The table: numbers, and level codes for nominal and ordinal columns; missing
        values are NaN and levels never seen in training -1. float32 and float64
        arrays of any layout are read without copying.
    n_threads : int, default=1
        Number of threads. The result does not depend on it.
    feature_names : sequence of str, default=None
        Names of the columns, for error messages.

    Returns
    -------
    ndarray of int64, shape (n_rows,)
        A leaf; or the inner node in which the row ends (missing value or unseen level
        without a branch), or in which it is divided among the children.

    Raises
    ------
    ValueError
        If the numbers of columns of the table and the tree differ, or a level was not
        seen in training and ``tree.handle_unknown`` is "error".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.route import find_leaves
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> cart = CARTClassifier(missing="branch", handle_unknown="fractional")
    >>> tree = cart.fit(X, [0, 0, 0, 1]).tree_
    >>> find_leaves(tree, np.array([[0.0], [9.0], [np.nan]]))
    array([1, 2, 0])
    """
    table = as_table(tree, matrix)
    walks = walk_blocks(tree, table, n_threads, feature_names)
    nodes = [walk.node for walk in walks] or [np.empty(0, dtype=np.int64)]
    return nodes[0] if len(nodes) == 1 else np.concatenate(nodes)


def predict_statistics(
    tree, matrix, n_threads: int = 1, feature_names: Sequence[str] | None = None
) -> np.ndarray:
    r"""Predict the class probabilities or values of every row.

    For a row that is divided among the children of a node, the prediction is the
    weighted mean of the distributions of all leaves it reaches,

    .. math::

        p(x) = \sum_{leaf} p_{leaf} \prod_{t \to c} \frac{W_c}{\sum_{c'} W_{c'}}

    where the product is over the splits on the path to the leaf, and W is the training
    weight of a child; children without weight are left out.

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
    ndarray of float64, shape (n_rows, n_outputs, n_statistics)
        Classification: the class probabilities, which sum to 1 for each output.
        Regression: the value, with ``n_statistics`` = 1.

    Raises
    ------
    ValueError
        As in :func:`find_leaves`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.route import predict_statistics
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> cart = CARTClassifier(missing="branch", handle_unknown="fractional")
    >>> tree = cart.fit(X, [0, 0, 0, 1]).tree_
    >>> predict_statistics(tree, np.array([[0.0], [9.0], [np.nan]]))[:, 0]
    array([[1.  , 0.  ],
           [0.  , 1.  ],
           [0.75, 0.25]])
    """
    table = as_table(tree, matrix)
    predicted = np.empty((table.shape[0], tree.n_outputs, tree.n_statistics))
    flat = predicted.reshape(table.shape[0], tree.n_outputs * tree.n_statistics)
    for walk in walk_blocks(tree, table, n_threads, feature_names, flat):
        _spread_divided_rows(walk, flat[walk.rows])
    return predicted


def predict_block(
    tree, block, rows: slice, n_threads: int, feature_names: Sequence[str] | None
) -> np.ndarray:
    """Predict a block of rows of a larger table; errors name the rows in the table."""
    plan = Plan(tree, n_threads, np.arange(tree.n_features), feature_names)
    predicted = np.empty((len(block), tree.n_outputs, tree.n_statistics))
    flat = predicted.reshape(len(block), -1)
    _spread_divided_rows(Walk(plan, rows, block, flat), flat)
    return predicted


def find_decision_path(
    tree, matrix, n_threads: int = 1, feature_names: Sequence[str] | None = None
):
    """Return the decision path of every row.

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
    scipy.sparse.csr_matrix or csr_array of shape (n_rows, node_count)
        1 if the row goes through the node, as in scikit-learn's ``decision_path``. A
        row that is divided goes through every child with training weight.

    Raises
    ------
    ValueError
        As in :func:`find_leaves`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.route import find_decision_path
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> cart = CARTClassifier(missing="branch", handle_unknown="fractional")
    >>> tree = cart.fit(X, [0, 0, 0, 1]).tree_
    >>> find_decision_path(tree, np.array([[0.0], [9.0], [np.nan]])).toarray()
    array([[1, 1, 0],
           [1, 0, 1],
           [1, 1, 1]])
    """
    table = as_table(tree, matrix)
    depth = tree.depth
    lengths, nodes = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for walk in walk_blocks(tree, table, n_threads, feature_names):
        block_lengths, block_nodes = _list_path_nodes(walk, depth)
        lengths.append(block_lengths)
        nodes.append(block_nodes)
    indptr = np.cumsum(np.concatenate(lengths))
    indices = np.concatenate(nodes) if len(nodes) > 2 else nodes[-1]
    ones = np.ones(indices.shape[0], dtype=np.int64)
    shape = (table.shape[0], tree.node_count)
    path = as_sparse_output(
        scipy.sparse.csr_array((ones, indices, indptr), shape=shape)
    )
    path.has_sorted_indices = True
    return path


def _spread_divided_rows(walk, predicted):
    """Compute the distributions of the rows that are divided."""
    divided = walk.divided
    if len(divided) == 0:
        return
    if len(walk.plan.tree.slopes):
        _spread_equations(walk, divided, predicted)
        return
    n_leaves = walk.plan.tree.n_leaves
    errors = walk.no_errors(walk.n_threads)
    spread_rows(
        walk.matrix,
        walk.plan.tables,
        divided,
        walk.ended,
        walk.plan.fractions,
        walk.scratch(n_leaves, np.int32),
        walk.scratch(n_leaves, np.float64),
        predicted,
        errors,
    )
    walk.check(errors)


def _spread_equations(walk, divided, predicted):
    """Average the equations of the leaves that the divided rows reach."""
    tree, rows = walk.plan.tree, walk.matrix[divided]
    names = walk.plan.feature_names
    if names is not None:
        names = [names[column] for column in walk.plan.columns]
    path = find_decision_path(tree, rows, walk.n_threads, names)
    which, nodes, parts = _share_out(tree, path)
    values = parts * predict_in_nodes(tree, rows[which], nodes, walk.n_threads)
    predicted[divided, 0] = np.bincount(which, values, len(divided))


def _list_path_nodes(walk, depth):
    """Count and list the nodes that each row of a block goes through."""
    if len(walk.divided):
        lengths = np.empty(len(walk.ended), dtype=np.int64)
        entered = walk.scratch(len(depth), np.int32)
        errors = walk.no_errors(walk.n_threads)
        count_path_nodes(
            walk.matrix,
            walk.plan.tables,
            walk.ended,
            depth,
            lengths,
            entered,
            errors,
        )
        walk.check(errors)
    else:
        lengths = depth[walk.ended] + 1
    stops = np.cumsum(lengths)
    nodes = np.empty(stops[-1], dtype=np.int32)
    fill_path_nodes(
        walk.matrix,
        walk.plan.tables,
        walk.ended,
        depth,
        stops - lengths,
        nodes,
        walk.n_threads,
    )
    return lengths, nodes
