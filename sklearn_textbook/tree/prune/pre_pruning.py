"""Pre-pruning, 预剪枝: no split that does not lower the error on other rows.

周志华《机器学习》, section 4.3.1.
"""

from __future__ import annotations

from sklearn_textbook.tree.prune.reduced_error import ValidationErrorPruner
from sklearn_textbook.tree.prune.validation_error import cut_top_down


class PrePruning(ValidationErrorPruner):
    r"""Divide a node only if that lowers the error on other rows, 预剪枝.

    From the root downwards, a node t is divided if its children, taken as leaves, err
    less on the validation rows than t as a leaf,

    .. math::

        \sum_{s \in \text{children of } t} R(s) < R(t), \qquad
        R(t) = \sum_{i \in V(t)} w_i \, L(y_i, c(t)),

    or with ``tie="keep"`` if they err no more. V(t) are the validation rows that enter
    t, :math:`w_i` their weights, :math:`c(t)` the class or value of t as a leaf. L is
    1 for a wrong class and 0 for the right one; for values it is the squared error, or
    the absolute one if that grew the tree; for several outputs it is the mean over
    these. Nothing below a node that is not split is looked at, so a split that
    would pay only through later ones is lost (欠拟合, underfitting):
    :class:`ReducedErrorPruning` sees these.

    Parameters
    ----------
    validation_fraction : float, default=0.3
        Share of the training rows, above 0 and below 1, that ``fit`` holds out: they
        do not grow the tree but judge it. Every class is represented, as far as
        possible, by this share of its rows; in regression the held out rows are spread
        over the whole range of values. With ``X_val`` and ``y_val`` nothing is held
        out.
    tie : {"prune", "keep"}, default="prune"
        Whether a node remains a leaf that errs as much divided.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the rows. None: always the same rows.

    See Also
    --------
    ReducedErrorPruning : Decides from the leaves upwards.

    Notes
    -----
    The report lists the nodes that were reached: "kept" where the node is divided,
    "pruned" where it is not. ``before`` and ``after`` are the error rate, or the mean
    error of the values, of the tree as it was when the node was reached, and with the
    node divided.

    The tree is grown in full and then cut from the root downwards. How a node is
    divided, and whether this lowers the error, depends on the rows of this node
    alone (random draws on its place in the tree); so the result is exactly the tree
    that would come of deciding while growing, and it can be had of a tree that is
    already grown. One parameter looks at the whole tree instead: ``max_leaf_nodes``
    chooses among all splits first, those included that pruning then removes.

    A row that is divided among branches, since it lacks the value of a test, counts
    in each by its share. A row that ends in an inner node, since its level is unknown
    there, is judged by that node whether it is divided or not. Costs that differ by no
    more than 1e-12 of the root's are equal. ``class_weight`` weighs the validation
    rows, too; "balanced" counts the classes of ``y_val``, or, if rows are held out,
    those of all rows.

    scikit-learn, rpart and Weka have no such method. Sending the n validation rows
    through the tree takes O(n depth), all decisions together O(nodes).

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
    >>> grows, judges = melons.subset == "train", melons.subset == "validation"
    >>> id3 = ID3Classifier(pruning=PrePruning())
    >>> id3 = id3.fit(X[grows], y[grows], X_val=X[judges], y_val=y[judges])
    >>> report = id3.pruning_report_.as_frame()
    >>> report[["node", "decision", "before", "after"]].round(3)
       node decision  before  after
    0     0     kept   0.571  0.286
    1     1   pruned   0.286  0.429
    2     2   pruned   0.286  0.286
    """

    _cut = staticmethod(cut_top_down)
