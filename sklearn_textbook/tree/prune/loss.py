"""Pruning by a penalised loss, 损失函数剪枝: the least C_α(T) of all subtrees.

李航《统计学习方法》, section 5.4.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import entr

from sklearn_textbook._contract.parameters import check_choice, is_checked, is_real
from sklearn_textbook.tree.prune._subtree import choose_bottom_up
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.outcome import PruningRecord, cut_and_report

_OF_CLASSES = ("entropy", "log_loss", "gini", "error")
_OF_VALUES = ("squared_error", "absolute_error", "poisson")

# Costs that differ by no more than this share of the root's are equal.
_EQUAL = 1e-12


class LossPruning(BasePruner):
    r"""Prune to the subtree of the least penalised loss, 损失函数剪枝.

    A tree T with the leaves t, of :math:`N_t` cases and :math:`N_{tk}` of class k each,
    costs

    .. math::

        C_\alpha(T) = \sum_t N_t H_t(T) + \alpha |T|, \quad
        H_t(T) = -\sum_k \frac{N_{tk}}{N_t} \ln \frac{N_{tk}}{N_t}

    that is, the negative log-likelihood of the training rows (拟合程度) and a penalty
    for each leaf (模型复杂度). From the leaves upwards, a node becomes a leaf if the
    tree does not cost more then. What is left costs least of all subtrees with the same
    root, and is the smallest of those that cost as little.

    It needs no rows: the nodes of a grown tree hold all counts. So it prunes any fitted
    tree after the fact.

    Parameters
    ----------
    alpha : float, default=1.0
        The cost of a leaf, at least 0: the larger, the smaller the tree. It stands
        beside counts of cases, not shares: twice as many rows of the same kind need
        twice the alpha for the same tree.
    criterion : str, default=None
        Takes the place of :math:`H_t`; None is the criterion of the tree itself, the
        entropy for ID3 and C4.5. For classes:

        - "entropy" (or "log_loss"): in nats, although nodes hold bits;
        - "gini": :math:`1 - \sum_k (N_{tk} / N_t)^2`;
        - "error": the share of cases not of the majority class, so that
          :math:`N_t H_t` counts the errors.

        Regression trees know only their own: with "squared_error" :math:`N_t H_t` is
        the sum of squared errors, with "absolute_error" that of absolute errors, with
        "poisson" half the deviance.

    See Also
    --------
    CARTClassifier : Its ``ccp_alpha`` is this alpha divided by the weight of all rows.
    ErrorBasedPruning : Estimates errors on new rows.

    Notes
    -----
    Counts are sums of weights. A row that is divided among branches counts in each by
    its share, an empty branch costs alpha alone, and for several outputs :math:`H_t` is
    the mean over them.

    A training row that stays in an inner node (``missing="surrogate"``, where neither a
    surrogate nor a larger branch decides) is in no leaf; the node itself predicts it.
    It is charged :math:`H_t` of this node, so it speaks neither for nor against the
    split.
    :func:`~sklearn_textbook.tree.prune.compute_weakest_link_sequence` leaves such rows
    out, as rpart does, which speaks for the split.

    The book's algorithm takes a group of leaves back into their parent. Here every node
    is looked at after its branches have been pruned, also one above a split that
    stays: the dynamic programming that the book names. Otherwise a split that is worth
    its leaves would shield a useless one above it, and the tree would not be optimal.

    With :math:`N` the weight of all rows, scikit-learn's ``ccp_alpha`` gives the same
    tree for :math:`\alpha = N` ``ccp_alpha``; for the entropy, which it measures in
    bits, for :math:`\alpha = N \ln 2` ``ccp_alpha``. They differ at 0: ``ccp_alpha=0``
    prunes nothing, here splits fall that gain nothing. Costs that differ by no more
    than 1e-12 of the root's cost are equal.

    C45Classifier collapses the tree first unless ``collapse=False``.

    The work is in proportion to the number of nodes.

    References
    ----------
    李航《统计学习方法》, section 5.4, algorithm 5.4 and formulas 5.11 to 5.14.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_loan
    >>> from sklearn_textbook.tree import ID3Classifier, LossPruning
    >>> X, y = load_loan(return_X_y=True)
    >>> id3 = ID3Classifier(pruning=LossPruning(alpha=2.0)).fit(X, y)
    >>> id3.get_n_leaves()
    3
    >>> pruned = LossPruning(alpha=5.5).prune(id3)
    >>> pruned.get_n_leaves()
    1
    >>> report = pruned.pruning_report_
    >>> report["node"], report["before"].round(3), report["after"].round(3)
    (array([1, 0]), array([16.5, 16.5]), array([16.729, 15.595]))
    >>> print(*report["decision"])
    kept pruned

    The first node looked at, with 6 cases of one class and 3 of the other, is worth its
    two leaves; the whole tree is not worth its three.
    """

    def __init__(self, alpha=1.0, criterion=None):
        self.alpha = alpha
        self.criterion = criterion

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If ``alpha`` is no finite number of at least 0, or ``criterion`` is none of
            the names; the message says what is allowed.
        """
        if not is_checked():
            return
        if not is_real(self.alpha) or not 0.0 <= self.alpha < math.inf:
            raise ValueError(
                "The 'alpha' parameter must be a float in the range [0.0, inf); got "
                f"{self.alpha!r} of type {type(self.alpha).__name__}."
            )
        allowed = (*_OF_CLASSES, *_OF_VALUES)
        check_choice("criterion", self.criterion, allowed, accepts_none=True)

    def prune_grown(self, tree, data, n_threads=1):
        """Prune a grown tree, and tell what was done.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            Only the name of the tree's criterion is read.
        n_threads : int, default=1
            Not used: pruning takes a small part of the time of growing.

        Returns
        -------
        PruningOutcome
            The pruned tree and a report of all inner nodes, the deepest first and from
            left to right. ``before`` and ``after`` are losses of the whole tree.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or the criterion has no meaning for this
            tree.
        """
        self.check_parameters()
        alpha, nodes = float(self.alpha), tree.nodes
        impurity = _measure_impurity(tree, self.criterion, data.criterion)
        leaf = nodes["weight"] * impurity + alpha
        stay = _weigh_staying_rows(nodes) * impurity
        is_cut = np.empty(tree.node_count, dtype=bool)
        branch = np.empty(tree.node_count)
        slack = _EQUAL * leaf[0]
        choose_bottom_up(nodes, leaf, stay, slack, True, is_cut.view(np.uint8), branch)
        record = _record_steps(tree, is_cut, leaf, stay, branch)
        return cut_and_report(tree, is_cut, record)


def _measure_impurity(tree, criterion, own):
    """Measure H_t of every node, whose criterion is ``own``; entropy in nats.

    Raises ValueError for a criterion that the nodes do not tell.
    """
    if not tree.is_classifier:
        if criterion not in (None, own):
            raise ValueError(
                f"LossPruning(criterion={criterion!r}) cannot prune this regression "
                f"tree: its nodes hold criterion={own!r} alone. Use criterion=None."
            )
        return tree.nodes["impurity"]
    if criterion in _OF_VALUES:
        raise ValueError(
            f"LossPruning(criterion={criterion!r}) cannot prune a classification tree. "
            f"Use criterion=None or one of {', '.join(map(repr, _OF_CLASSES))}."
        )
    shares, name = tree.value, own if criterion is None else criterion
    if name == "gini":
        impurity = 1.0 - np.einsum("ijk,ijk->ij", shares, shares)
    elif name == "error":
        impurity = 1.0 - shares.max(axis=2)
    else:
        impurity = entr(shares).sum(axis=2)
    return impurity.mean(axis=1)


def _weigh_staying_rows(nodes):
    """Weigh the rows of every inner node that went into none of its branches.

    ``missing_branch`` does not tell: it counts for new rows, as rpart has it.
    """
    weight, parent = nodes["weight"], nodes["parent"][1:]
    below = np.bincount(parent, weights=weight[1:], minlength=len(nodes))
    stays = (nodes["n_children"] > 0) & (weight - below > _EQUAL * weight)
    return np.where(stays, weight - below, 0.0)


def _record_steps(tree, is_cut, leaf, stay, branch):
    """Follow the loss of the whole tree, one inner node after the other."""
    is_inner = tree.nodes["n_children"] > 0
    inner = np.flatnonzero(is_inner)
    # Nodes are numbered breadth first, so those of a depth stand from left to right.
    inner = inner[np.argsort(-tree.depth[inner], kind="stable")]
    change = leaf[inner] - branch[inner]
    done = np.cumsum(np.where(is_cut[inner], change, 0.0))
    losses = np.where(is_inner, stay, leaf).sum() + np.concatenate([[0.0], done])
    before = losses[:-1]
    decision = np.where(is_cut[inner], "pruned", "kept")
    return PruningRecord("penalised loss", inner, decision, before, before + change)
