"""Pre-pruning, 预剪枝: only splits that lower the validation error.

周志华《机器学习》, section 4.3.1.
"""

from __future__ import annotations

from sklearn_textbook.tree.prune.reduced_error import ValidationErrorPruner
from sklearn_textbook.tree.prune.validation_error import cut_top_down


class PrePruning(ValidationErrorPruner):
    r"""Split a node only if this reduces the validation error, 预剪枝.

    From the root downwards, a node t is split if the validation error of its children
    as leaves is less than that of t as a leaf,

    .. math::

        \sum_{s \in \text{children of } t} R(s) < R(t), \qquad
        R(t) = \sum_{i \in V(t)} w_i \, L(y_i, c(t)),

    or, with ``tie="keep"``, if it is not larger. V(t) are the validation rows that
    enter t, :math:`w_i` their weights, and :math:`c(t)` is the class or value of t as a
    leaf. L is 1 for a wrong class and 0 for the right one. In regression, it is the
    squared error, or the absolute error if that is the criterion of the tree. For
    several outputs, it is the mean over the outputs. Nodes below a node that is not
    split are not considered, so a split that reduces the error only in combination with
    later ones is not found (欠拟合, underfitting); :class:`ReducedErrorPruning` finds
    such splits.

    Parameters
    ----------
    validation_fraction : float, default=0.3
        Fraction of the training rows, above 0 and below 1, that ``fit`` holds out for
        validation, stratified by class or, in regression, by value. Not used if
        ``X_val`` and ``y_val`` are given.
    tie : {"prune", "keep"}, default="prune"
        Whether to prune or split a node whose split does not change the error.
    random_state : int, RandomState instance or None, default=None
        Seed for the choice of the held-out rows. None: the same rows in every fit.

    See Also
    --------
    ReducedErrorPruning : Decides from the leaves upwards.

    Notes
    -----
    The report lists the nodes that were reached: "kept" if the node is split, "pruned"
    if it is not. ``before`` and ``after`` are the error rate (in regression, the mean
    error) of the tree at that point, without and with the split.

    The tree is grown in full and then pruned from the root downwards. The split of a
    node, and whether it reduces the error, depend only on the rows of the node (random
    draws depend on its position in the tree). The result is therefore exactly the tree
    that a decision during growth would give, and fitted trees can be pruned as well. An
    exception is ``max_leaf_nodes``, which first chooses among all splits, including
    those that pruning then removes.

    A row that is divided among branches because of a missing value counts in each with
    its fraction. A row that ends in an inner node because of an unseen level is
    predicted by that node whether it is split or not. Costs that differ by at most
    1e-12 of the cost of the root count as equal. ``class_weight`` also applies to the
    validation rows; "balanced" uses the class frequencies of ``y_val`` or, if rows are
    held out, of all rows.

    scikit-learn, rpart and Weka have no such method. Routing n validation rows takes
    O(n depth) time, all decisions together O(nodes).

    References
    ----------
    周志华《机器学习》, section 4.3.1.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.tree import ID3Classifier, PrePruning
    >>> melons = load_watermelon("2.0", as_frame=True)
    >>> columns = ["脐部", "色泽", "根蒂", "敲声", "纹理", "触感"]
    >>> X, y = melons.data[columns], melons.target == "否"
    >>> train, val = melons.subset == "train", melons.subset == "validation"
    >>> id3 = ID3Classifier(pruning=PrePruning())
    >>> id3 = id3.fit(X[train], y[train], X_val=X[val], y_val=y[val])
    >>> report = id3.pruning_report_.as_frame()
    >>> report[["node", "decision", "before", "after"]].round(3)
       node decision  before  after
    0     0     kept   0.571  0.286
    1     1   pruned   0.286  0.429
    2     2   pruned   0.286  0.286
    """

    _cut = staticmethod(cut_top_down)
