"""Minimal cost-complexity pruning, 代价复杂度剪枝.

Breiman et al. (1984), chapter 3; 李航《统计学习方法》, section 5.5.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.prune._subtree import choose_bottom_up, find_weakest_links
from sklearn_textbook.tree.prune.node_losses import SAME, measure_node_risks
from sklearn_textbook.tree.prune.rebuild import cut_below


@dataclass(frozen=True, eq=False)
class PruningSequence:
    """The nested subtrees from the full tree to the root.

    One entry per subtree: the full tree first, then one for every node that is pruned.

    Attributes
    ----------
    ccp_alphas : ndarray of float64, shape (n_steps,)
        The alpha at which the node of the step is pruned; 0 for the full tree.
    impurities : ndarray of float64, shape (n_steps,)
        Total risk of the subtree's leaves.
    n_leaves : ndarray of int64, shape (n_steps,)
        Number of the subtree's leaves.
    cut_node : ndarray of int64, shape (n_steps,)
        The node of the full tree that becomes a leaf; -1 for the full tree.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree.prune import PruningSequence
    >>> sequence = PruningSequence(
    ...     ccp_alphas=np.array([0.0, 0.1, 0.1, 0.4]),
    ...     impurities=np.array([0.0, 0.1, 0.2, 0.6]),
    ...     n_leaves=np.array([4, 3, 2, 1]),
    ...     cut_node=np.array([-1, 2, 1, 0]),
    ... )
    >>> step = sequence.find_step(0.2)
    >>> sequence.n_leaves[step], sequence.find_cut(step)
    (np.int64(2), array([2, 1]))
    """

    ccp_alphas: np.ndarray
    impurities: np.ndarray
    n_leaves: np.ndarray
    cut_node: np.ndarray

    def find_step(self, ccp_alpha: float) -> int:
        """Find the last step whose alpha does not exceed a given one."""
        is_dearer = self.ccp_alphas[1:] > ccp_alpha
        return int(is_dearer.argmax()) if is_dearer.any() else len(is_dearer)

    def find_cut(self, step: int) -> np.ndarray:
        """List the nodes of the full tree that are pruned up to a step."""
        return self.cut_node[1 : step + 1]


def compute_weakest_link_sequence(
    tree, risk: str = "impurity", cost_matrix: np.ndarray | None = None
) -> PruningSequence:
    r"""Compute the exact nested sequence of minimal cost-complexity subtrees.

    With R(t) the risk of a node t as a leaf, R(T_t) the sum of R over the leaves of its
    branch T_t and abs(T_t) their number, the inner node with the smallest

    .. math:: g(t) = \frac{R(t) - R(T_t)}{|T_t| - 1}

    becomes a leaf, repeatedly, until the root is a leaf. Of exactly equal g the first
    node in depth-first order (first child first) is pruned first.

    Parameters
    ----------
    tree : GrownTree
        The tree; splits may have any number of children.
    risk : {"impurity", "error"}, default="impurity"
        R(t): "impurity" for impurity * weight / total weight, as in scikit-learn;
        "error" for the weight of the training rows of t outside its majority class,
        divided by the total weight (the mean over the outputs), as in the books.
    cost_matrix : ndarray of shape (n_classes, n_classes), default=None
        Costs of errors, a row for each true class: "error" is then the least cost of
        the training rows of t, if all are predicted to be of the same class.

    Returns
    -------
    PruningSequence
        For "impurity", ``ccp_alphas`` and ``impurities`` are those of scikit-learn's
        ``cost_complexity_pruning_path``, bit for bit, for a tree grown depth first.

    Raises
    ------
    ValueError
        If ``risk`` is neither, or is "error" for a regression tree.

    See Also
    --------
    compute_rpart_sequence : The approximation that R's package rpart computes.

    Notes
    -----
    Rows that end in an inner node (a missing value without a branch) are in no leaf, so
    they are not part of R(T_t), as in rpart. An empty child counts as a leaf.

    With integer weights errors are counted exactly, so equal values of g are exactly
    equal; a g of at most 1e-12 of the risk of the root counts as 0. Impurities are
    rounded, so rounding may decide between equal values.

    The time is O(n log n) for n nodes, plus the sum of the depths of all leaves.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), Classification and
    Regression Trees, chapter 3. 李航《统计学习方法》, algorithm 5.7.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> from sklearn_textbook.tree.prune import compute_weakest_link_sequence
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> sequence = compute_weakest_link_sequence(tree)
    >>> sequence.ccp_alphas
    array([ 0.        ,  0.125     ,  2.04166667, 10.08333333])
    >>> sequence.impurities
    array([ 0.        ,  0.125     ,  2.16666667, 12.25      ])
    >>> sequence.n_leaves, sequence.cut_node
    (array([4, 3, 2, 1]), array([-1,  3,  1,  0]))
    """
    return _compute_sequence(tree, risk, math.inf, cost_matrix)


def prune_to_alpha(tree, ccp_alpha: float, sequence: PruningSequence | None = None):
    r"""Prune a tree as scikit-learn's ``ccp_alpha`` does.

    Returns the smallest subtree T that minimises

    .. math:: R_\alpha(T) = R(T) + \alpha |T|

    that is, nodes are pruned in the weakest-link order as long as g is at most
    ``ccp_alpha``.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    ccp_alpha : float
        Cost of a leaf, at least 0. With 0 nothing is pruned, as in scikit-learn, not
        even splits that do not reduce the risk.
    sequence : PruningSequence, default=None
        The sequence of the tree, if known; otherwise the necessary part is computed.

    Returns
    -------
    GrownTree
        The pruned tree; the same object if no node is pruned.

    Raises
    ------
    ValueError
        If ``ccp_alpha`` is not a number of at least 0.

    See Also
    --------
    compute_weakest_link_sequence : All such subtrees.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> from sklearn_textbook.tree.prune import prune_to_alpha
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> [prune_to_alpha(tree, alpha).n_leaves for alpha in (0.0, 0.2, 3.0, 20.0)]
    [4, 3, 2, 1]
    """
    if not isinstance(ccp_alpha, numbers.Real) or not ccp_alpha >= 0:
        raise ValueError(f"ccp_alpha must be a number >= 0, got {ccp_alpha!r}.")
    if ccp_alpha == 0:
        return tree
    if sequence is None:
        sequence = _compute_sequence(tree, "impurity", float(ccp_alpha))
    return cut_below(tree, sequence.find_cut(sequence.find_step(ccp_alpha)))


def find_costly_branches(tree) -> np.ndarray:
    """Mark the nodes whose risk as leaves is not larger than that of their branches.

    Without these branches the tree is the smallest of the subtrees with the least risk.
    An impurity need not decrease with every split if it estimates the error on other
    rows.
    """
    risk = measure_node_risks(tree, "impurity")
    cut = np.empty(tree.node_count, dtype=bool)
    slack = SAME * risk[0] if np.isfinite(risk[0]) else 0.0
    choose_bottom_up(
        *(tree.nodes, risk, np.zeros(len(risk)), slack, True),
        *(cut.view(np.uint8), np.empty(len(risk))),
    )
    return cut


def _compute_sequence(tree, risk, max_alpha, cost_matrix=None):
    """Compute the sequence up to the last step whose alpha is at most max_alpha."""
    total = tree.nodes["weight"][0]
    node_risks = measure_node_risks(tree, risk, cost_matrix)
    if risk == "impurity":
        # scikit-learn divides each term; for errors the sum is divided.
        node_risks /= total
        total = 1.0
    n_steps = tree.node_count - tree.n_leaves + 1
    alphas, risks = np.empty(n_steps), np.empty(n_steps)
    n_leaves, cut_node = np.empty(n_steps, np.int64), np.empty(n_steps, np.int64)
    stop = find_weakest_links(
        tree.nodes, node_risks, max_alpha * total, alphas, risks, n_leaves, cut_node
    )
    alphas, risks = alphas[:stop] / total, risks[:stop] / total
    if risk == "error":
        # Rounding errors of zero if weights are fractions.
        alphas[np.abs(alphas) <= SAME * node_risks[0] / total] = 0.0
    return PruningSequence(
        alphas, risks, n_leaves[:stop].copy(), cut_node[:stop].copy()
    )
