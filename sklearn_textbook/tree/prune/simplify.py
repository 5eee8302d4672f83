"""Merge leaves that decide alike: a smaller tree with the same predictions."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.prune._subtree import mark_uniform
from sklearn_textbook.tree.prune.rebuild import cut_below


def merge_equal_leaves(tree, decisions=None):
    """Make a leaf of every inner node below which nothing is decided.

    From the leaves upwards, a node whose children are, or have become, leaves with
    one and the same decision becomes a leaf, if its own decision is that one too.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    decisions : array of shape (node_count,) or (node_count, n_outputs), default=None
        What each node decides. By default the class with the largest share, the
        first of equals (one per output), or the value of a regression tree.

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
    The decision of every table row stays the same, that of a row which stops at an
    inner node (missing value, unseen level) included, because a node is merged only
    if all nodes below it decide as it does itself. There is one exception: a row that
    is divided among branches (``FRACTIONAL``) weighs whole distributions against each
    other. Those change (and so may its decision), as do the class shares of other
    rows: a merged node gives its own shares, not those of its former leaves.

    In a regression tree only exactly equal values are merged; two leaves with the
    same mean seldom have a parent with the same mean in floating point unless all
    their rows have one value.

    scikit-learn has no counterpart; rpart's rule ``cp = 0`` comes near for
    classification, where a split that saves no error falls.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.prune import merge_equal_leaves
    >>> X, y = [[0], [0], [0], [1], [2], [2]], [0, 0, 1, 0, 1, 1]
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> tree.threshold
    array([ 1.5,  0.5, -2. , -2. , -2. ])
    >>> merge_equal_leaves(tree).threshold  # both sides of 0.5 say class 0
    array([ 1.5, -2. , -2. ])
    """
    if decisions is None:
        value = tree.value
        decisions = value.argmax(axis=2) if tree.is_classifier else value[:, :, 0]
    decisions = np.asarray(decisions)
    if decisions.ndim not in (1, 2) or decisions.shape[0] != tree.node_count:
        raise ValueError(
            f"decisions has shape {decisions.shape}; the tree has {tree.node_count} "
            "nodes and needs one entry, or one row, for each."
        )
    decisions = decisions.reshape(tree.node_count, -1)
    parent = np.maximum(tree.nodes["parent"], 0)
    agrees = np.all(decisions == decisions[parent], axis=1)
    uniform = np.empty(tree.node_count, dtype=bool)
    mark_uniform(tree.nodes, agrees.view(np.uint8), uniform.view(np.uint8))
    return cut_below(tree, uniform)
