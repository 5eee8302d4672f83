"""Error-based pruning, 基于错误的剪枝: how C4.5 cuts a tree back.

Quinlan (1993), chapter 4, as Weka's J48 carries it out.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from sklearn_textbook._contract.parameters import is_checked, is_real
from sklearn_textbook.tree.grow.layout import LEAF
from sklearn_textbook.tree.prune._error_based import (
    fill_added_errors,
    mark_collapsed,
)
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.error_steps import (
    ErrorEstimates,
    number_places,
    report_errors,
)
from sklearn_textbook.tree.prune.outcome import PruningOutcome, number_kept
from sklearn_textbook.tree.prune.raise_branches import (
    TrainingRows,
    check_rows,
    raise_branches,
)
from sklearn_textbook.tree.prune.rebuild import cut_below

# A subtree that saves no more errors than this on its own cases is collapsed.
_COLLAPSE_SLACK = 0.001


class ErrorBasedPruning(BasePruner):
    r"""Prune by an estimate of the errors on new rows, 基于错误的剪枝.

    It works for any classification tree of one output and needs no rows beside those
    that grew the tree; without subtree raising not even these. A leaf that holds N
    cases, E of them not of its majority class, is expected to err in
    :math:`N \, U(E, N)` of N new cases, with the upper limit of the error rate at some
    confidence CF,

    .. math::

        U(0, N) &= 1 - CF^{1/N} \\
        U(E, N) &= \frac{f + \frac{z^2}{2N}
            + z \sqrt{\frac{f}{N} - \frac{f^2}{N} + \frac{z^2}{4N^2}}}
            {1 + \frac{z^2}{N}}, \quad
        f = \frac{E + 0.5}{N}, \quad z = \Phi^{-1}(1 - CF)

    the second one for E from 1 to N - 0.5. It is 1 above, and between E = 0 and E = 1
    it is found by linear interpolation.

    From the leaves upwards, three estimates are compared for every inner node: that of
    the node as a leaf, that of the leaves below it, and that of its largest branch if
    all cases of the node were sent down that branch. The node becomes a leaf if that
    costs at most 0.1 errors more than either of the others. Otherwise the branch takes
    the place of the node (subtree raising, 子树提升) if that costs at most 0.1 errors
    more than the leaves below the node do now; the cases are distributed anew, and
    pruning starts again in this place.

    Parameters
    ----------
    confidence : float, default=0.25
        CF, above 0 and below 1: the smaller, the more is pruned. Above 0.5 the errors
        are taken as they were counted, without any addition.
    subtree_raising : bool, default=True
        Whether a branch may take the place of the node above it. If not, a fitted tree
        can be pruned without the rows that grew it. Trees with ``monotonic_cst`` need
        False: raising moves rows into branches that they did not grow.

    See Also
    --------
    C45Classifier : Prunes so by default.
    CARTClassifier : Prunes so with ``pruning="error_based"``.

    Notes
    -----
    Cases are counted by their weight; the formula takes it for a number of rows, so
    weights should sum to that. A row that lacks the value of a test of C4.5 is divided
    among the branches, in proportion to the weight of the rows that have it, and is so
    divided anew wherever a branch is raised.

    In other trees a missing value goes down a raised branch to the child that the test
    or its surrogates name (if none can tell, to that with most weight, as in growing),
    and a level that the test does not know is divided
    (``handle_unknown="fractional"``) or stays where it is. Rows
    that stay in an inner node are in no leaf; they are counted as one more leaf of it,
    whose class is the majority class of the node. Surrogates go with their test and
    keep the measures with which they were grown. C4.5 and J48 have no such rows.

    Results are those of Weka's J48 3.6 (``-C``; ``-S`` for no subtree raising), down
    to its comparisons with a tolerance of 1e-6 and the confidence in single precision.
    Quinlan's C4.5 takes z from a short table, 0.6925 where exact computation gives
    0.6745 for the default.

    References
    ----------
    J. R. Quinlan (1993), C4.5: Programs for Machine Learning, chapter 4. I. H. Witten,
    E. Frank, M. A. Hall (2011), Data Mining, section 6.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import C45Classifier, ErrorBasedPruning
    >>> X, y = load_iris(return_X_y=True)
    >>> for confidence in (0.6, 0.25, 0.1):
    ...     c45 = C45Classifier(pruning=ErrorBasedPruning(confidence)).fit(X, y)
    ...     print(c45.tree_.n_leaves)
    5
    5
    4

    A fitted tree, with what was done to it, without its rows:

    >>> from sklearn_textbook.tree import CARTClassifier
    >>> cart = CARTClassifier().fit(X, y)
    >>> pruned = ErrorBasedPruning(subtree_raising=False).prune(cart)
    >>> cart.get_n_leaves(), pruned.get_n_leaves()
    (9, 7)
    >>> report = pruned.pruning_report_.as_frame()
    >>> print(report[["node", "decision", "before", "after"]][3:7].round(2))
       node decision  before  after
    3     5     kept    9.46   9.89
    4     4   pruned    9.46   8.89
    5     3     kept    8.89  11.10
    6     2     kept    8.89  55.23
    """

    takes_several_outputs = False

    def __init__(self, confidence=0.25, subtree_raising=True):
        self.confidence = confidence
        self.subtree_raising = subtree_raising

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If ``confidence`` is no number between 0 and 1, or ``subtree_raising`` no
            truth value; the message says what is allowed.
        """
        if not is_checked():
            return
        _check_confidence(self.confidence)
        if not isinstance(self.subtree_raising, bool | np.bool_):
            raise ValueError(
                "The 'subtree_raising' parameter must be a bool; got "
                f"{self.subtree_raising!r} of type "
                f"{type(self.subtree_raising).__name__}."
            )

    def prune_grown(self, tree, data, n_threads=1):
        """Prune a grown tree, with the rows that grew it if branches may be raised.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            The training table, the classes and the weights; without subtree raising
            there may be none.
        n_threads : int, default=1
            Not used: pruning takes a small part of the time of growing.

        Returns
        -------
        PruningOutcome
            The pruned tree and a report, one row for each decision in the order in
            which it was taken: collapsed nodes from the top downwards, then the nodes
            from the bottom upwards. ``before`` and ``after`` are the estimated errors
            of the whole tree. A ``node`` is "pruned", "kept" or "raised": then the
            branch ``raised_node`` (else -1) has taken its place, goes by its own number
            further on, and is gone through again, so that a node may be decided upon
            several times. The column ``collapsed`` marks what fell because it saved no
            errors on the training rows; see ``collapse`` of C45Classifier.

        Raises
        ------
        ValueError
            If a parameter is not allowed, if the tree is no classification tree of one
            output, if it does not belong to the table, or if branches are to be raised
            and there is no table or predictions must be monotonic.
        """
        self.check_parameters()
        _check_tree(tree)
        if self.subtree_raising and data.is_monotonic:
            raise ValueError(
                "ErrorBasedPruning(subtree_raising=True) sends rows down branches that "
                "they did not grow, so that predictions may break monotonic_cst: set "
                "subtree_raising=False."
            )
        if self.subtree_raising and data.matrix is None:
            raise ValueError(
                "ErrorBasedPruning(subtree_raising=True) sends the rows that grew the "
                "tree down the branches that it raises: give these rows as X and y, or "
                "set subtree_raising=False, which needs none."
            )
        if not self.subtree_raising:
            return _prune(tree, None, self.confidence, data.collapses)
        rows = TrainingRows(
            data.matrix,
            data.target.codes[:, 0],
            data.weight,
            data.table.level_codes,
            data.criterion,
        )
        return _prune(tree, rows, self.confidence, data.collapses)


def collapse_tree(tree):
    """Make leaves of the nodes whose leaves save no errors on the training rows.

    A node falls if its leaves make at least as many errors as the node itself would
    as a leaf, less 0.001. C4.5 does so before it prunes, and also where it does not.

    Parameters
    ----------
    tree : GrownTree
        A classification tree of one output.

    Returns
    -------
    GrownTree
        The smaller tree; the same object if nothing falls.

    Raises
    ------
    ValueError
        If the tree is no classification tree of one output.

    Notes
    -----
    Of classes that weigh the same, up to 1e-6, the first is the majority class. An
    empty leaf makes no errors. The work is in proportion to the number of nodes.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.prune import collapse_tree
    >>> X, y = [[0], [0], [0], [1], [1], [1], [1], [1]], [0, 0, 1, 0, 0, 0, 0, 1]
    >>> tree = CARTClassifier().fit(X, y).tree_
    >>> tree.n_leaves, collapse_tree(tree).n_leaves  # 1 + 1 errors, or 2
    (2, 1)
    """
    _check_tree(tree)
    return cut_below(tree, _find_collapsed(tree))


def _find_collapsed(tree):
    """Mask of the inner nodes that become leaves by themselves."""
    collapsed = np.empty(tree.node_count, dtype=bool)
    mark_collapsed(
        tree.nodes, tree.statistics[:, 0], _COLLAPSE_SLACK, collapsed.view(np.uint8)
    )
    return collapsed


def prune_by_error(
    tree,
    matrix=None,
    codes=None,
    sample_weight=None,
    *,
    confidence=0.25,
    subtree_raising=True,
    collapse=False,
    level_codes=None,
    criterion="entropy",
):
    """Replace subtrees by leaves or by their largest branch.

    :class:`ErrorBasedPruning` says which.

    Parameters
    ----------
    tree : GrownTree
        A classification tree of one output.
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        The table that grew the tree, in float32 or float64: numbers, and level codes
        for nominal and ordinal columns; missing values are NaN. Without subtree
        raising the rows are not looked at and may be None.
    codes : array of int, shape (n_rows,)
        The class number of every row.
    sample_weight : array of shape (n_rows,) or None
        The weight of every row; rows of weight 0 take no part. None: 1.
    confidence : float, default=0.25
        Confidence of the estimate.
    subtree_raising : bool, default=True
        Whether a branch may take the place of the node above it.
    collapse : bool, default=False
        Whether the tree is collapsed first: the same as pruning the result of
        :func:`collapse_tree`, but faster.
    level_codes : ndarray of uint16 or uint32, default=None
        The nominal columns of the table as in
        :class:`~sklearn_textbook.tree.encode.EncodedTable`, which are faster to read.
    criterion : {"entropy", "log_loss", "gini", "error"}, default="entropy"
        The impurity that the nodes hold.

    Returns
    -------
    GrownTree
        The pruned tree, numbered breadth first; the same object if nothing falls.
        A raised branch counts all cases of its new place.

    Raises
    ------
    ValueError
        If the tree is not of this kind, or was not grown from this table, or if
        branches are to be raised without a table.

    Notes
    -----
    At a test that divides missing values among all branches, a level without a branch
    is treated as a missing value. It can occur where a branch is raised whose test
    knows only the levels that were there.

    For n rows and a tree of depth d, the work is of the order n d log n without missing
    values. With them it is m d² for m parts of rows in a level of the tree: below every
    node, all fractions have to be found again. A raised branch is gone through twice.
    Without subtree raising the work is in proportion to the number of nodes.
    """
    _check_tree(tree)
    _check_confidence(confidence)
    if not subtree_raising:
        return _prune(tree, None, confidence, collapse).tree
    if matrix is None or codes is None:
        raise ValueError("subtree_raising=True needs the table that grew the tree.")
    rows = TrainingRows(matrix, codes, sample_weight, level_codes, criterion)
    return _prune(tree, rows, confidence, collapse).tree


def _prune(tree, rows, confidence, collapses):
    """Prune a tree, without subtree raising if there are no rows."""
    if rows is not None:
        check_rows(tree, rows)
    confidence = measure_confidence(confidence)
    estimates = ErrorEstimates(tree, confidence)
    collapsed = np.zeros(tree.node_count, dtype=bool)
    if collapses:
        collapsed = _find_collapsed(tree) & (tree.nodes["kind"] != LEAF)
    steps = estimates.list_collapsed(collapsed)
    n_collapsed, is_cut = len(steps), collapsed
    pruned = None
    if rows is None:
        is_cut, further = estimates.prune_upwards(collapsed)
        steps = np.concatenate([steps, further])
    elif tree.node_count > 1 and not collapsed[0]:
        pruned, places, further = raise_branches(tree, rows, confidence, collapsed)
        steps = np.concatenate([steps, further])
        number = number_places(tree, places, further)
    if pruned is None:
        pruned, number = cut_below(tree, is_cut), number_kept(tree, is_cut)
    report = report_errors(tree, steps, n_collapsed, estimates.branch[0], number)
    return PruningOutcome(pruned, report)


def compute_added_errors(weight, errors, confidence=0.25):
    """Compute what the estimate adds to the errors that were counted.

    Parameters
    ----------
    weight : array-like of shape (n_leaves,)
        Weight of the cases of each leaf, above 0.
    errors : array-like of shape (n_leaves,)
        Weight of those that are not of the majority class.
    confidence : float, default=0.25
        Confidence of the estimate, CF in :class:`ErrorBasedPruning`.

    Returns
    -------
    ndarray of float64, shape (n_leaves,)
        N U(E, N) - E for each leaf.

    Raises
    ------
    ValueError
        If ``confidence`` is no number between 0 and 1, or the shapes differ.

    Examples
    --------
    >>> from sklearn_textbook.tree.prune import compute_added_errors
    >>> compute_added_errors([6, 9, 1, 16, 14], [0, 0, 0, 1, 5]).round(6)
    array([1.237797, 1.284804, 0.75    , 1.475715, 1.76112 ])
    """
    _check_confidence(confidence)
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    errors = np.ascontiguousarray(errors, dtype=np.float64)
    if weight.ndim != 1 or weight.shape != errors.shape:
        raise ValueError(
            "weight and errors must have one entry for each leaf; got shapes "
            f"{weight.shape} and {errors.shape}."
        )
    added = np.empty(len(weight))
    fill_added_errors(weight, errors, measure_confidence(confidence), added)
    return added


# ------------------------------------------------------------------------ small parts
def _check_confidence(confidence):
    if not is_real(confidence) or not 0.0 < confidence < 1.0:
        raise ValueError(
            "The 'confidence' parameter must be a float in the range (0.0, 1.0); got "
            f"{confidence!r} of type {type(confidence).__name__}."
        )


def measure_confidence(confidence):
    """Find the confidence in single precision, its logarithm, the normal quantile."""
    smallest = np.finfo(np.float32).smallest_subnormal
    level = max(np.float32(confidence), smallest)
    rest = np.float32(1.0) - level
    # Next to 0 the confidence is lost in 1 - CF; any quantile so large says the same.
    z = min(float(ndtri(np.float64(rest))), 1e6)
    return float(level), math.log(level), z


def _check_tree(tree):
    if not tree.is_classifier or tree.n_outputs != 1:
        raise ValueError(
            'ErrorBasedPruning (pruning="error_based") is for classifiers of one '
            "output, since it counts wrong classes; this is a "
            f"{'classification' if tree.is_classifier else 'regression'} tree of "
            f"{tree.n_outputs}. CostComplexityPruning, ReducedErrorPruning, PrePruning "
            "and LossPruning prune it."
        )
