"""Limit the number of leaves as best-first growth does."""

from __future__ import annotations

import numbers

import numpy as np

from sklearn_textbook.tree.prune._subtree import ENTRY_DTYPE, mark_unexpanded
from sklearn_textbook.tree.prune.rebuild import cut_below


def keep_best_first(tree, max_leaf_nodes: int):
    r"""Keep at most a given number of leaves, choosing the best splits first.

    Starting from the root, the leaf t of the current tree whose split has the largest
    decrease of impurity,

    .. math:: W_t \, \Delta i(t),

    (weight times improvement; ties, up to 1e-12 of the total impurity, go to the
    smaller node number) is split repeatedly, until the next split would exceed the
    limit. The split of a node does not depend on the other nodes, so taking the splits
    from the fully grown tree gives the same tree as best-first growth.

    Parameters
    ----------
    tree : GrownTree
        The tree, grown without a limit on its leaves.
    max_leaf_nodes : int
        Maximum number of leaves, at least 1. A split into k children adds k - 1.

    Returns
    -------
    GrownTree
        The smaller tree; the same object if it does not exceed the limit.

    Raises
    ------
    ValueError
        If ``max_leaf_nodes`` is not an integer of at least 1.

    Notes
    -----
    For binary splits the rule is that of scikit-learn's ``max_leaf_nodes``. With
    multiway splits, growth ends at the first that would exceed the limit, even if a
    split with fewer children would not.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> from sklearn_textbook.tree.prune import keep_best_first
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> keep_best_first(tree, 3).threshold
    array([ 2.5,  1.5, -2. , -2. , -2. ])
    """
    is_integer = isinstance(max_leaf_nodes, numbers.Integral)
    if not is_integer or isinstance(max_leaf_nodes, bool) or max_leaf_nodes < 1:
        raise ValueError(
            "The 'max_leaf_nodes' parameter must be an int in the range [1, inf); got "
            f"{max_leaf_nodes!r}."
        )
    if tree.n_leaves <= max_leaf_nodes:
        return tree
    heap = np.empty(tree.node_count, dtype=ENTRY_DTYPE)
    unexpanded = np.empty(tree.node_count, dtype=bool)
    mark_unexpanded(tree.nodes, max_leaf_nodes, heap, unexpanded.view(np.uint8))
    return cut_below(tree, unexpanded)
