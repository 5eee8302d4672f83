"""Merge leaves with the same prediction."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.prune._subtree import mark_uniform
from sklearn_textbook.tree.prune.rebuild import cut_below


def merge_equal_leaves(tree, decisions: np.ndarray | None = None):
    """Prune every inner node below which all leaves predict the same.

    From the leaves upwards, a node whose children are, or have become, leaves with the
    same decision becomes a leaf if this is also its own decision.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    decisions : array of shape (node_count,) or (node_count, n_outputs), default=None
        The prediction of each node. By default the most probable class, ties to the
        first (one per output), or the value of a regression tree.

    Returns
    -------
    GrownTree
        The smaller tree; the same object if nothing can be merged.

    Raises
    ------
    ValueError
        If ``decisions`` does not have one entry per node.

    Notes
    -----
    The prediction of every row stays the same, including that of a row that ends in an
    inner node (missing value, unseen level), because a node is merged only if all nodes
    below it have its own decision. There is one exception: a row that is divided among
    branches (``FRACTIONAL``) averages distributions. These change (and so may its
    prediction), as do the class probabilities of other rows: a merged node gives its
    own, not those of its former leaves.

    In a regression tree only exactly equal values are merged. In floating point the
    parent of two leaves with the same mean seldom has exactly this mean, unless all its
    rows have the same value.

    scikit-learn has no counterpart; rpart's ``cp = 0`` is similar for classification,
    as it removes splits that save no errors.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.prune import merge_equal_leaves
    >>> X, y = [[0], [0], [0], [1], [2], [2]], [0, 0, 1, 0, 1, 1]
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> tree.threshold
    array([ 1.5,  0.5, -2. , -2. , -2. ])
    >>> merge_equal_leaves(tree).threshold  # both sides of 0.5 predict class 0
    array([ 1.5, -2. , -2. ])
    """
    if len(tree.slopes):
        # Equal values at the centers are not equal equations.
        return tree
    if decisions is None:
        value = tree.value
        decisions = value.argmax(axis=2) if tree.is_classifier else value[:, :, 0]
    decisions = np.asarray(decisions)
    if decisions.ndim not in (1, 2) or decisions.shape[0] != tree.node_count:
        raise ValueError(
            f"decisions must have one entry or one row for each of the "
            f"{tree.node_count} nodes, got shape {decisions.shape}."
        )
    decisions = decisions.reshape(tree.node_count, -1)
    parent = np.maximum(tree.nodes["parent"], 0)
    agrees = np.all(decisions == decisions[parent], axis=1)
    uniform = np.empty(tree.node_count, dtype=bool)
    mark_uniform(tree.nodes, agrees.view(np.uint8), uniform.view(np.uint8))
    return cut_below(tree, uniform)
