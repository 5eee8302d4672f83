"""Keep the splits that best-first growth would have made."""

from __future__ import annotations

import numbers

import numpy as np

from sklearn_textbook.tree.prune._subtree import ENTRY_DTYPE, mark_unexpanded
from sklearn_textbook.tree.prune.rebuild import cut_below


def keep_best_first(tree, max_leaf_nodes):
    r"""Keep at most some number of leaves, the best splits first.

    Starting from the root alone, the frontier node t whose split gains most,

    .. math:: W_t \, \Delta i(t),

    (weight times improvement; of equals, up to 1e-12 of the whole impurity, the one
    with the smaller number) is split
    again and again, until the next one would make too many leaves. Which split a node
    has does not depend on the other nodes, so taking them from the fully grown tree
    gives the tree that best-first growth gives.

    Parameters
    ----------
    tree : GrownTree
        The tree, grown without a limit on its leaves.
    max_leaf_nodes : int
        Largest number of leaves, at least 1. A split into k children adds k - 1.

    Returns
    -------
    GrownTree
        The smaller tree; the same object if it has few enough leaves.

    Raises
    ------
    ValueError
        If ``max_leaf_nodes`` is not an integer of at least 1.

    Notes
    -----
    The same rule as scikit-learn's ``max_leaf_nodes`` where all splits have two
    children. Where splits have more, growth ends with the first that would exceed the
    limit, although a smaller one might still fit.

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
            f"max_leaf_nodes is {max_leaf_nodes!r}, but must be an integer of at "
            "least 1."
        )
    if tree.n_leaves <= max_leaf_nodes:
        return tree
    heap = np.empty(tree.node_count, dtype=ENTRY_DTYPE)
    unexpanded = np.empty(tree.node_count, dtype=bool)
    mark_unexpanded(tree.nodes, max_leaf_nodes, heap, unexpanded.view(np.uint8))
    return cut_below(tree, unexpanded)
