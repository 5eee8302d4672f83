"""Reduced-error pruning, 错误率降低剪枝: post-pruning by the error on other rows.

Quinlan (1987); 周志华《机器学习》, section 4.3.2.
"""

from __future__ import annotations

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook.tree.prune.base import HoldOutPruner
from sklearn_textbook.tree.prune.validation_error import (
    TIES,
    cut_bottom_up,
    has_weight,
)


class ValidationErrorPruner(HoldOutPruner):
    """Base of the pruners that count errors on validation rows.

    A subclass says in ``_cut`` in which order its nodes are decided.
    """

    def __init__(self, validation_fraction=0.3, tie="prune", random_state=None):
        self.validation_fraction = validation_fraction
        self.tie = tie
        self.random_state = random_state

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If one is not; the message says what is allowed.
        """
        super().check_parameters()
        check_choice("tie", self.tie, TIES)

    def prune_grown(self, tree, data, n_threads=1):
        """Prune a grown tree by its validation rows.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            Has the validation rows; those that grew the tree are not needed.
        n_threads : int, default=1
            Not used: routing knows its own.

        Returns
        -------
        PruningOutcome
            The pruned tree and a report; ``before`` and ``after`` are the error rate,
            or the mean error of the values, of the whole tree on the validation rows.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or there is no validation row.
        """
        self.check_parameters()
        if not has_weight(data.validation):
            raise ValueError(
                f"{type(self).__name__} judges a tree by rows that did not grow it, "
                "but there are none that weigh something: give X_val and y_val."
            )
        return self._cut(tree, data, self.tie)


class ReducedErrorPruning(ValidationErrorPruner):
    r"""Prune from the leaves upwards by the error on other rows, 错误率降低剪枝.

    Every inner node t is looked at when all nodes below it have been. With V(t) the
    validation rows that enter it, :math:`w_i` their weights, :math:`c(t)` the class
    or value of t as a leaf, it is compared what these rows lose there and in the
    leaves that its branch T_t still has:

    .. math::

        R(t) = \sum_{i \in V(t)} w_i \, L(y_i, c(t)), \qquad
        R(T_t) = \sum_{s \in \text{leaves of } T_t} R(s)

    The node becomes a leaf if :math:`R(t) \le R(T_t)`, or with ``tie="keep"`` if
    :math:`R(t) < R(T_t)`. L is 1 for a wrong class and 0 for the right one; for
    values it is the squared error, or the absolute one if that grew the tree; for
    several outputs it is the mean over these. The result is the subtree with the
    smallest error on the validation rows, and of several such subtrees the smallest
    one, or with ``tie="keep"`` the largest.

    Parameters
    ----------
    validation_fraction : float, default=0.3
        Share of the training rows, above 0 and below 1, that ``fit`` holds out: they
        do not grow the tree but judge it. Every class is represented, as far as
        possible, by this share of its rows; in regression the held out rows are spread
        over the whole range of values. With ``X_val`` and ``y_val`` nothing is held
        out.
    tie : {"prune", "keep"}, default="prune"
        Whether a node falls that errs as much as its branch.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the rows. None: always the same rows.

    See Also
    --------
    PrePruning : Decides from the root downwards.
    OutOfBagPruning : The same for the members of a bagging.
    ErrorBasedPruning : Needs no other rows.

    Notes
    -----
    A row that is divided among branches, since it lacks the value of a test, counts
    in each by its share, so that the error of the report need not be that of
    ``predict``, which mixes the shares of classes first. A row that ends in an inner
    node, since its level is unknown there, is judged by that node whether its branch
    stays or not. A node that no validation row enters errs 0 either way: it falls with
    ``tie="prune"``.

    Costs that differ by no more than 1e-12 of the root's are equal. ``class_weight``
    weighs the validation rows, too; "balanced" counts the classes of ``y_val``, or, if
    rows are held out, those of all rows.

    C45Classifier does not collapse a tree that is pruned so. Its result is the tree of
    Weka's J48 with ``-R`` from the same growing and pruning rows, but that J48 takes
    its list of possible thresholds, and the number of rows by which a column has many
    levels, from both kinds of rows. The book (图4.7) keeps the tree at ties for the
    sake of its figure; it says that in practice one would prune.

    Sending the n validation rows through the tree takes O(n depth), all decisions
    together O(nodes).

    References
    ----------
    J. R. Quinlan (1987), Simplifying decision trees, International Journal of
    Man-Machine Studies 27. 周志华《机器学习》, section 4.3.2.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.tree import ID3Classifier, ReducedErrorPruning
    >>> melons = load_watermelon("2.0", as_frame=True)
    >>> columns = ["脐部", "色泽", "根蒂", "敲声", "纹理", "触感"]
    >>> X, y = melons.data[columns], melons.target == "否"
    >>> grows, judges = melons.subset == "train", melons.subset == "validation"
    >>> id3 = ID3Classifier(pruning=ReducedErrorPruning(tie="keep"))
    >>> id3 = id3.fit(X[grows], y[grows], X_val=X[judges], y_val=y[judges])
    >>> report = id3.pruning_report_.as_frame()
    >>> report[["node", "decision", "before", "after"]].round(3)
       node decision  before  after
    0    11   pruned   0.571  0.429
    1     8     kept   0.429  0.429
    2     1   pruned   0.429  0.286
    3     2     kept   0.286  0.286
    4     0     kept   0.286  0.571
    """

    _cut = staticmethod(cut_bottom_up)
