"""The sequence of subtrees in the cp table of R's package rpart."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.prune._subtree import measure_complexities
from sklearn_textbook.tree.prune.cost_complexity import PruningSequence
from sklearn_textbook.tree.prune.node_losses import SAME, measure_node_risks


def compute_rpart_sequence(
    tree, risk: str = "impurity", cost_matrix: np.ndarray | None = None
) -> PruningSequence:
    r"""Compute rpart's approximate nested sequence of cost-complexity subtrees.

    From the leaves upwards every inner node is assigned a complexity, the cost of a
    leaf up to which its split is kept,

    .. math:: c(t) = \frac{R(t) - \sum_j R_j}{\sum_j n_j - 1},

    where :math:`R_j` is the risk of the leaves of the branch of child j and :math:`n_j`
    their number. Children whose own complexity is smaller than c(t) are pruned before
    t: in ascending order (of ties, the last first) each becomes a leaf, and c(t) is
    computed again, until it does not exceed the complexity of the next child. A node
    without positive complexity is never split. Finally, the complexity of a node is
    limited to that of its parent:
    :math:`c(t) := \min(c(t), c(\text{parent}))`.

    Parameters
    ----------
    tree : GrownTree
        The tree; splits may have any number of children.
    risk : {"impurity", "error"}, default="impurity"
        Risk of a leaf, as in :func:`compute_weakest_link_sequence`. rpart uses
        "impurity" for its method "anova", and "error" for its method "class".
    cost_matrix : ndarray of shape (n_classes, n_classes), default=None
        Costs of errors, the ``loss`` of rpart's ``parms``, for "error".

    Returns
    -------
    PruningSequence
        One step for every inner node, in ascending order of complexity (of ties, the
        deeper node first): the tree at alpha is the result of all steps up to that
        alpha. Splits that do not reduce the risk come first, with alpha 0.

    Raises
    ------
    ValueError
        If ``risk`` is neither, or is "error" for a regression tree.

    See Also
    --------
    compute_weakest_link_sequence : The exact sequence.

    Notes
    -----
    rpart's ``CP`` is alpha divided by the risk of the root, its ``rel error`` the risk
    of the subtree divided by that of the root, and its ``nsplit`` the number of leaves
    minus one; rpart lists equal alphas once, and removes the splits of alpha 0 during
    growth. ``rpart(cp=0)`` has the same table for the same tree. Complexities that
    differ by at most 1e-12 of the risk of the root are equal here; in rpart rounding
    decides.

    The sequence is not always the exact one. A child that is not pruned contributes its
    branch in the state just before the child itself is pruned, so that splits further
    down that are pruned after their grandparent, but before the child, are missing from
    the number of leaves of the grandparent. In this case c(t) is too small, and the
    subtrees may differ.

    The time is O(n log n) for n nodes.

    References
    ----------
    T. Therneau, E. Atkinson, An Introduction to Recursive Partitioning Using the
    RPART Routines, section 4. L. Breiman, J. Friedman, R. Olshen, C. Stone (1984),
    Classification and Regression Trees, chapter 3.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> from sklearn_textbook.tree.prune import compute_rpart_sequence
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> sequence = compute_rpart_sequence(tree)
    >>> sequence.ccp_alphas
    array([ 0.        ,  0.125     ,  2.04166667, 10.08333333])
    >>> sequence.ccp_alphas[:0:-1] / sequence.impurities[-1]  # rpart's CP
    array([0.82312925, 0.16666667, 0.01020408])
    """
    nodes = tree.nodes
    costs = measure_node_risks(tree, risk, cost_matrix)
    complexity = np.empty(tree.node_count)
    measure_complexities(nodes, costs, SAME * costs[0], complexity)
    inner = np.flatnonzero(nodes["n_children"] > 0)
    # The number of a child is larger than that of its parent.
    falling = inner[np.lexsort((-inner, complexity[inner]))]
    below = np.bincount(nodes["parent"][1:], costs[1:], tree.node_count)
    impurities = np.cumsum(
        np.concatenate([[costs[tree.is_leaf].sum()], (costs - below)[falling]])
    )
    impurities[-1] = costs[0]
    dropped = np.concatenate([[0], nodes["n_children"][falling] - 1])
    total = nodes["weight"][0]
    return PruningSequence(
        ccp_alphas=np.concatenate([[0.0], complexity[falling]]) / total,
        impurities=impurities / total,
        n_leaves=tree.n_leaves - np.cumsum(dropped, dtype=np.int64),
        cut_node=np.concatenate([[-1], falling]),
    )
