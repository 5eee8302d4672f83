"""The sequence of subtrees in the cp table of R's package rpart."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.prune._subtree import measure_complexities
from sklearn_textbook.tree.prune.cost_complexity import PruningSequence
from sklearn_textbook.tree.prune.node_risks import SAME, measure_node_risks


def compute_rpart_sequence(tree, risk="impurity"):
    r"""Compute rpart's approximate nested sequence of cost-complexity subtrees.

    From the leaves upwards every inner node gets a complexity, the cost of a leaf up
    to which its split pays,

    .. math:: c(t) = \frac{R(t) - \sum_j R_j}{\sum_j n_j - 1},

    with :math:`R_j` the risk of the leaves of child j's branch and :math:`n_j` their
    number. Children whose own complexity is smaller than c(t) have fallen by then:
    in ascending order (the last of equals first) each becomes a leaf, and c(t) is
    computed anew, until the next child's complexity is not exceeded. A node without
    positive complexity is never split. At last no node may have more than its parent:
    :math:`c(t) := \min(c(t), c(\text{parent}))`.

    Parameters
    ----------
    tree : GrownTree
        The tree; splits may have any number of children.
    risk : {"impurity", "error"}, default="impurity"
        What a leaf loses, as for :func:`compute_weakest_link_sequence`. rpart has
        "impurity" for its method "anova", and "error" for its method "class".

    Returns
    -------
    PruningSequence
        One step for every inner node, in ascending order of complexity, of equals
        the deeper first: the tree at alpha is what is left after all steps of at most
        that alpha. Splits that save nothing are the first, with alpha 0.

    Raises
    ------
    ValueError
        If ``risk`` is neither word, or is "error" for a tree that predicts values.

    See Also
    --------
    compute_weakest_link_sequence : The exact sequence.

    Notes
    -----
    rpart's ``CP`` is alpha over the risk of the root, its ``rel error`` the risk of
    the subtree over that of the root, and its ``nsplit`` the number of leaves less one;
    rpart lists equal alphas once, and drops the splits of alpha 0 as soon as they are
    grown. ``rpart(cp=0)`` has the same table for the same tree. Complexities that
    differ by no more than 1e-12 of the root's risk are equal here, where in rpart
    rounding decides.

    The sequence is not always the exact one. A child that stays hands up its branch as
    it stands just before the child itself falls, so that splits further down which
    fall after their grandparent, but before the child, are missing from the
    grandparent's number of leaves. Where that happens, c(t) is too small, and the
    subtrees may differ.

    The work is O(n log n) for n nodes.

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
    costs = measure_node_risks(tree, risk)
    complexity = np.empty(tree.node_count)
    measure_complexities(nodes, costs, SAME * costs[0], complexity)
    inner = np.flatnonzero(nodes["n_children"] > 0)
    # A child's number is larger than its parent's.
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
