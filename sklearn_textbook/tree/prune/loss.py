"""Pruning by a penalised loss, 损失函数剪枝: the subtree with minimum C_α(T).

李航《统计学习方法》, section 5.4.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr

from sklearn_textbook._contract.parameters import check_choice, is_checked, is_real
from sklearn_textbook.tree.prune._subtree import choose_bottom_up
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.outcome import PruningRecord, cut_and_report

if TYPE_CHECKING:
    from sklearn_textbook.tree.grow.grown_tree import GrownTree
    from sklearn_textbook.tree.prune.outcome import PruningOutcome
    from sklearn_textbook.tree.prune.training_data import TrainingData

_OF_CLASSES = ("entropy", "log_loss", "gini", "error")
_OF_VALUES = ("squared_error", "absolute_error", "poisson")

# Costs that differ by at most this fraction of that of the root are equal.
_EQUAL = 1e-12


class LossPruning(BasePruner):
    r"""Prune to the subtree with the minimum penalised loss, 损失函数剪枝.

    The cost of a tree T, whose leaves t have :math:`N_t` cases, :math:`N_{tk}` of which
    are of class k, is

    .. math::

        C_\alpha(T) = \sum_t N_t H_t(T) + \alpha |T|, \quad
        H_t(T) = -\sum_k \frac{N_{tk}}{N_t} \ln \frac{N_{tk}}{N_t}

    that is, the negative log-likelihood of the training rows (拟合程度) plus a penalty
    for each leaf (模型复杂度). From the leaves upwards, a node becomes a leaf if this
    does not increase the cost of the tree. The result is the smallest of the subtrees
    with the same root that have the minimum cost.

    The method needs no rows, since the nodes of a grown tree store all counts, so it
    can prune any fitted tree.

    Parameters
    ----------
    alpha : float, default=1.0
        Cost of a leaf, at least 0; larger values give smaller trees. It is relative to
        counts of cases, not to proportions: if all rows are duplicated, alpha has to be
        doubled to get the same tree.
    criterion : str, default=None
        Measure used for :math:`H_t`. None: the criterion of the tree, which is the
        entropy for ID3 and C4.5. Allowed for classification trees:

        - "entropy" (or "log_loss"): in nats, although the nodes store bits;
        - "gini": :math:`1 - \sum_k (N_{tk} / N_t)^2`;
        - "error": the fraction of cases not of the majority class, so that :math:`N_t
          H_t` is the number of errors.

        Regression trees allow only their own criterion: with "squared_error",
        :math:`N_t H_t` is the sum of squared errors; with "absolute_error", the sum of
        absolute errors; with "poisson", half the deviance.

    See Also
    --------
    CARTClassifier : Its ``ccp_alpha`` is this alpha divided by the weight of all rows.
    ErrorBasedPruning : Estimates errors on new rows.

    Notes
    -----
    Counts are sums of weights; with ``cost_matrix`` these are the weights with which
    the tree is grown. A row that is divided among branches counts in each with its
    fraction; an empty branch costs only alpha; for several outputs, :math:`H_t` is
    the mean over the outputs.

    A training row that ends in an inner node (``missing="surrogate"``, if neither a
    surrogate nor a larger branch decides) is in no leaf and is predicted by the node
    itself. Its cost is :math:`H_t` of this node, so it does not affect the decision on
    the split. :func:`~sklearn_textbook.tree.prune.compute_weakest_link_sequence` leaves
    such rows out, as rpart does, which favours the split.

    The textbook's algorithm merges groups of leaves into their parent. Here, every node
    is considered after its branches have been pruned, including nodes above a split
    that is kept (the dynamic programming mentioned in the textbook). Otherwise, a
    useful split would keep a useless split above it, and the tree would not be optimal.

    With :math:`N` the weight of all rows, scikit-learn's ``ccp_alpha`` gives the same
    tree for :math:`\alpha = N` ``ccp_alpha``; for the entropy, which is in bits there,
    for :math:`\alpha = N \ln 2` ``ccp_alpha``. They differ at 0: ``ccp_alpha=0`` prunes
    nothing, while ``alpha=0`` prunes splits without gain. Costs that differ by at most
    1e-12 of the cost of the root count as equal.

    C45Classifier collapses the tree first unless ``collapse=False``.

    Pruning takes linear time in the number of nodes.

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

    The split of node 1, with 6 cases of one class and 3 of the other, is kept at first;
    the whole tree is then pruned to its root.
    """

    uses_altered_priors = True

    def __init__(self, alpha: float = 1.0, criterion: str | None = None) -> None:
        self.alpha = alpha
        self.criterion = criterion

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If ``alpha`` is not a finite number of at least 0, or ``criterion`` is
            invalid.
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

    def prune_grown(
        self, tree: GrownTree, data: TrainingData, n_threads: int = 1
    ) -> PruningOutcome:
        """Prune a grown tree and report the decisions.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            Only the criterion of the tree is used.
        n_threads : int, default=1
            Ignored: pruning takes little time compared to growing.

        Returns
        -------
        PruningOutcome
            The pruned tree and a report of all inner nodes, the deepest first and from
            left to right. ``before`` and ``after`` are losses of the whole tree.

        Raises
        ------
        ValueError
            If a parameter is invalid, or the criterion does not apply to this tree.
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
    """Return H_t of every node of a tree with criterion ``own``; entropy in nats.

    Raises ValueError for a criterion that the nodes do not store.
    """
    if not tree.is_classifier:
        if criterion not in (None, own):
            raise ValueError(
                f"LossPruning(criterion={criterion!r}) cannot prune this regression "
                f"tree, whose nodes store only criterion={own!r}; use criterion=None."
            )
        return tree.nodes["impurity"]
    if criterion in _OF_VALUES:
        raise ValueError(
            f"LossPruning(criterion={criterion!r}) cannot prune a classification tree; "
            f"use criterion=None or one of {', '.join(map(repr, _OF_CLASSES))}."
        )
    fractions, name = tree.value, own if criterion is None else criterion
    if name == "gini":
        impurity = 1.0 - np.einsum("ijk,ijk->ij", fractions, fractions)
    elif name == "error":
        impurity = 1.0 - fractions.max(axis=2)
    else:
        impurity = entr(fractions).sum(axis=2)
    return impurity.mean(axis=1)


def _weigh_staying_rows(nodes):
    """Return the weight of the rows that end in each inner node.

    ``missing_branch`` cannot be used here: it applies to new rows, as in rpart.
    """
    weight, parent = nodes["weight"], nodes["parent"][1:]
    below = np.bincount(parent, weights=weight[1:], minlength=len(nodes))
    stays = (nodes["n_children"] > 0) & (weight - below > _EQUAL * weight)
    return np.where(stays, weight - below, 0.0)


def _record_steps(tree, is_cut, leaf, stay, branch):
    """Record the loss of the whole tree for each decision, node by node."""
    is_inner = tree.nodes["n_children"] > 0
    inner = np.flatnonzero(is_inner)
    # Nodes are numbered breadth first, so those of a level are sorted left to right.
    inner = inner[np.argsort(-tree.depth[inner], kind="stable")]
    change = leaf[inner] - branch[inner]
    done = np.cumsum(np.where(is_cut[inner], change, 0.0))
    losses = np.where(is_inner, stay, leaf).sum() + np.concatenate([[0.0], done])
    before = losses[:-1]
    decision = np.where(is_cut[inner], "pruned", "kept")
    return PruningRecord("penalised loss", inner, decision, before, before + change)
