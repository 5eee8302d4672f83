"""Reduced-error pruning, 错误率降低剪枝: post-pruning by validation error.

Quinlan (1987); 周志华《机器学习》, section 4.3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook.tree.prune.base import HoldOutPruner
from sklearn_textbook.tree.prune.validation_error import (
    TIES,
    cut_bottom_up,
    has_weight,
)

if TYPE_CHECKING:
    from sklearn_textbook.tree.grow.grown_tree import GrownTree
    from sklearn_textbook.tree.prune.outcome import PruningOutcome
    from sklearn_textbook.tree.prune.training_data import TrainingData


class ValidationErrorPruner(HoldOutPruner):
    """Base class of the pruners by validation error.

    Subclasses define in ``_cut`` the order of the decisions.
    """

    def __init__(
        self,
        validation_fraction: float = 0.3,
        tie: str = "prune",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.validation_fraction = validation_fraction
        self.tie = tie
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        super().check_parameters()
        check_choice("tie", self.tie, TIES)

    def prune_grown(
        self, tree: GrownTree, data: TrainingData, n_threads: int = 1
    ) -> PruningOutcome:
        """Prune a grown tree by its error on validation rows.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            Contains the validation rows; training rows are not needed.
        n_threads : int, default=1
            Ignored; routing chooses its own number.

        Returns
        -------
        PruningOutcome
            The pruned tree and a report. ``before`` and ``after`` are the error rate
            (in regression, the mean error) of the whole tree on the validation rows.

        Raises
        ------
        ValueError
            If a parameter is invalid, or there are no validation rows.
        """
        self.check_parameters()
        if not has_weight(data.validation):
            raise ValueError(
                f"{type(self).__name__} requires validation rows of positive weight, "
                "but there are none. Give X_val and y_val."
            )
        return self._cut(tree, data, self.tie)


class ReducedErrorPruning(ValidationErrorPruner):
    r"""Prune from the leaves upwards by validation error, 错误率降低剪枝.

    Each inner node t is considered after all nodes below it. Let V(t) be the validation
    rows that enter t, :math:`w_i` their weights, and :math:`c(t)` the class or value of
    t as a leaf. The loss of t as a leaf is compared with that of the remaining leaves
    of its branch T_t:

    .. math::

        R(t) = \sum_{i \in V(t)} w_i \, L(y_i, c(t)), \qquad
        R(T_t) = \sum_{s \in \text{leaves of } T_t} R(s)

    The node becomes a leaf if :math:`R(t) \le R(T_t)`, or with ``tie="keep"`` if
    :math:`R(t) < R(T_t)`. L is 1 for a wrong class and 0 for the right one. In
    regression, it is the squared error, or the absolute error if that is the criterion
    of the tree. For several outputs, it is the mean over the outputs. The result is the
    subtree with the smallest error on the validation rows; if there are several, the
    smallest of them or, with ``tie="keep"``, the largest.

    Parameters
    ----------
    validation_fraction : float, default=0.3
        Fraction of the training rows, above 0 and below 1, that ``fit`` holds out for
        validation, stratified by class or, in regression, by value. Not used if
        ``X_val`` and ``y_val`` are given.
    tie : {"prune", "keep"}, default="prune"
        Whether to prune or keep a node whose error equals that of its branch.
    random_state : int, RandomState instance or None, default=None
        Seed for the choice of the held-out rows. None: the same rows in every fit.

    See Also
    --------
    PrePruning : Prunes from the root downwards.
    OutOfBagPruning : The same method for the members of a bagging ensemble.
    ErrorBasedPruning : Needs no validation rows.

    Notes
    -----
    A row that is divided among branches because of a missing value counts in each with
    its fraction, so the error in the report may differ from that of ``predict``, which
    averages class probabilities first. A row that ends in an inner node because of an
    unseen level is predicted by that node whether its branch is pruned or not. A node
    that no validation row enters has error 0 in both cases, so it is pruned with
    ``tie="prune"``.

    Costs that differ by at most 1e-12 of the cost of the root count as equal.
    ``class_weight`` also applies to the validation rows; "balanced" uses the class
    frequencies of ``y_val`` or, if rows are held out, of all rows.

    C45Classifier does not collapse a tree that is pruned by this method. The result
    equals the tree of Weka's J48 with ``-R`` for the same training and validation rows,
    except that J48 uses both sets of rows for the list of possible thresholds and for
    the number of rows above which a column counts as having many levels. The textbook
    (图4.7) keeps branches at ties for its figure, and says that in practice they would
    be pruned.

    Routing n validation rows takes O(n depth) time, all decisions together O(nodes).

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
    >>> train, val = melons.subset == "train", melons.subset == "validation"
    >>> id3 = ID3Classifier(pruning=ReducedErrorPruning(tie="keep"))
    >>> id3 = id3.fit(X[train], y[train], X_val=X[val], y_val=y[val])
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
