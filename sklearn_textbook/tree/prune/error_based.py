"""Error-based pruning, 基于错误的剪枝, the pruning method of C4.5.

Quinlan (1993), chapter 4, as implemented in Weka's J48.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import ndtri

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import is_checked, is_real
from sklearn_textbook.tree.grow.layout import FRACTIONAL, LEAF, STAY
from sklearn_textbook.tree.prune._error_based import (
    CRITERIA,
    DECISIONS,
    ENTRY_DTYPE,
    add_up_estimates,
    estimate_nodes,
    fill_added_errors,
    mark_collapsed,
    prune_nodes,
)
from sklearn_textbook.tree.prune._subtree import mark_kept
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.outcome import (
    PruningOutcome,
    PruningRecord,
    build_report,
    number_kept,
)
from sklearn_textbook.tree.prune.rebuild import compact_maps, cut_below

# ------------------------------------------------------------------------------------
# Error-based pruning from the counts of the nodes, and the report on it.
# ------------------------------------------------------------------------------------


_WORDS = np.array(sorted(DECISIONS, key=DECISIONS.get))


class ErrorEstimates:
    """Estimated errors of every node of a grown tree.

    Parameters
    ----------
    tree : GrownTree
        A classification tree of one output.
    confidence : tuple of float
        The result of ``measure_confidence``.

    Attributes
    ----------
    leaf : ndarray of float64, shape (node_count,)
        Errors of each node as a leaf.
    rest : ndarray of float64, shape (node_count,)
        Errors of the rows of an inner node that are in no branch.
    branch : ndarray of float64, shape (node_count,)
        Errors of the branch of each node.
    """

    def __init__(self, tree, confidence) -> None:
        self.tree = tree
        self.leaf, self.rest = np.empty((2, tree.node_count))
        estimate_nodes(
            tree.nodes, tree.statistics[:, 0], confidence, self.leaf, self.rest
        )
        no_leaf = np.zeros(tree.node_count, dtype=bool)
        self.branch, _ = self._add_up(no_leaf, prunes=False)

    def _add_up(self, is_leaf, *, prunes):
        """Return the estimate of each branch, and the nodes to make leaves."""
        branch = np.empty(self.tree.node_count)
        is_cut = np.empty(self.tree.node_count, dtype=bool)
        add_up_estimates(
            self.tree.nodes,
            self.leaf,
            self.rest,
            is_leaf.view(np.uint8),
            prunes,
            branch,
            is_cut.view(np.uint8),
        )
        return branch, is_cut

    def list_collapsed(self, collapsed: np.ndarray) -> np.ndarray:
        """List the nodes that are collapsed, from the top of the tree downwards."""
        node = np.flatnonzero(collapsed & self._find_standing(collapsed))
        return self._make_steps(node, np.ones(len(node), bool), self.branch)

    def prune_upwards(self, collapsed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prune nodes from the bottom upwards, without using rows."""
        branch, is_cut = self._add_up(collapsed, prunes=True)
        is_inner = self.tree.nodes["kind"] != LEAF
        is_open = is_inner & ~collapsed & self._find_standing(collapsed)
        node = np.flatnonzero(is_open)[::-1]
        return is_cut, self._make_steps(node, is_cut[node], branch)

    def _find_standing(self, is_cut):
        """Return a mask of the nodes without an ancestor in a given mask."""
        is_standing = np.empty(self.tree.node_count, dtype=bool)
        mark_kept(self.tree.nodes, is_cut.view(np.uint8), is_standing.view(np.uint8))
        return is_standing

    def _make_steps(self, node, is_pruned, branch):
        steps = np.empty(len(node), dtype=ENTRY_DTYPE)
        steps["slot"] = steps["node"] = node
        steps["raised"] = -1
        steps["decision"] = np.where(is_pruned, DECISIONS["pruned"], DECISIONS["kept"])
        steps["before"], steps["after"] = branch[node], self.leaf[node]
        return steps


def number_places(tree, places: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Assign numbers to the remaining nodes, some of which replaced another one."""
    occupant = np.arange(tree.node_count)
    raised = steps[steps["decision"] == DECISIONS["raised"]]
    # The last node raised to a position stays there.
    for step in raised:
        occupant[step["slot"]] = step["raised"]
    number = np.full(tree.node_count, -1, dtype=np.int64)
    number[occupant[places]] = np.arange(len(places))
    return number


def report_errors(
    tree, steps: np.ndarray, n_collapsed: int, total: float, new_number: np.ndarray
):
    """Report on the steps of error-based pruning."""
    change = steps["after"] - steps["before"]
    is_done = steps["decision"] != DECISIONS["kept"]
    after = total + np.cumsum(np.where(is_done, change, 0.0))
    before = np.concatenate([[total], after])[:-1]
    record = PruningRecord(
        "estimated errors",
        steps["node"],
        _WORDS[steps["decision"]],
        before,
        np.where(is_done, after, before + change),
        {
            "raised_node": steps["raised"].astype(np.int64),
            "collapsed": np.arange(len(steps)) < n_collapsed,
        },
    )
    return build_report(tree, record, new_number)


# ------------------------------------------------------------------------------------
# Error-based pruning with subtree raising, which routes the training rows again.
# ------------------------------------------------------------------------------------


class TrainingRows:
    """The training rows of a tree in the form that the kernel reads.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        The table.
    codes : array of int, shape (n_rows,)
        The class index of every row.
    weight : array of shape (n_rows,) or None
        The weight of every row.
    level_codes : ndarray of uint32, or None
        The nominal columns as in an EncodedTable.
    criterion : str
        Name of the impurity stored in the nodes.
    """

    def __init__(self, matrix, codes, weight, level_codes, criterion) -> None:
        self.matrix, self.level_codes, self.criterion = matrix, level_codes, criterion
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.weight = weight
        if weight is not None:
            self.weight = np.ascontiguousarray(weight, dtype=np.float64)


def check_rows(tree, rows: TrainingRows) -> None:
    """Check that the rows can be the training rows of the tree."""
    matrix, codes, sample_weight = rows.matrix, rows.codes, rows.weight
    nodes, n_rows = tree.nodes, len(codes)
    if matrix.shape != (n_rows, tree.n_features):
        raise ValueError(
            f"The table must have shape {(n_rows, tree.n_features)}, for {n_rows} "
            f"class numbers and {tree.n_features} columns; got {matrix.shape}."
        )
    n_used = n_rows
    if sample_weight is not None:
        if sample_weight.shape != (n_rows,):
            raise ValueError(
                f"sample_weight must have shape ({n_rows},), got {sample_weight.shape}."
            )
        n_used = np.count_nonzero(sample_weight > 0.0)
    if n_used != nodes["n_samples"][0]:
        raise ValueError(
            f"The tree was grown from {nodes['n_samples'][0]} rows, but the table has "
            f"{n_used} rows of positive weight."
        )
    n_classes = tree.max_n_classes
    if codes.min() < 0 or codes.max() >= n_classes:
        raise ValueError(f"codes must be class numbers from 0 to {n_classes - 1}.")


def raise_branches(
    tree, rows: TrainingRows, confidence: tuple[float, ...], collapsed: np.ndarray
):
    """Prune with subtree raising."""
    nodes, surrogates, matrix = tree.nodes, tree.surrogates, rows.matrix
    tested, level_codes = np.arange(tree.n_features), rows.level_codes
    is_sparse = sparse.issparse(matrix)
    if is_sparse:
        tested, matrix = _take_tested_columns(tree, matrix)
        nodes, surrogates = (
            _renumber_columns(records, tested) for records in (nodes, surrogates)
        )
        level_codes = None
    if level_codes is None:
        level_codes = np.empty((0, 0), np.uint32)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    numbers = np.arange(tree.node_count + 1)
    nodes, statistics, places, steps = prune_nodes(
        nodes,
        tree.statistics[:, 0],
        tree.level_branch,
        np.ascontiguousarray(tree.n_levels, dtype=np.int64)[tested],
        surrogates,
        np.searchsorted(surrogates["node"], numbers).astype(np.int64),
        FRACTIONAL if tree.handle_unknown == "fractional" else STAY,
        matrix,
        rows.codes,
        rows.weight,
        confidence,
        True,
        collapsed.view(np.uint8),
        level_codes,
        CRITERIA[rows.criterion],
    )
    if len(nodes) == tree.node_count:
        return tree, places, steps
    inner = nodes["kind"] != LEAF
    if is_sparse:
        nodes["feature"][inner] = tested[nodes["feature"][inner]]
    surrogates = _keep_surrogates(tree, inner, places, steps)
    pruned = tree.replace(
        nodes=nodes,
        statistics=statistics[:, np.newaxis],
        surrogates=surrogates,
        level_branch=compact_maps(tree, nodes, surrogates),
    )
    return pruned, places, steps


# ------------------------------------------------------------------------ small parts
def _take_tested_columns(tree, matrix):
    """List the columns that the tree tests, and make a dense table of them."""
    inner = tree.nodes["kind"] != LEAF
    tested = np.union1d(tree.nodes["feature"][inner], tree.surrogates["feature"])
    columns = sparse.csc_array(matrix)[:, tested]
    return tested, columns.toarray(order="F")


def _renumber_columns(records, tested):
    """Renumber the columns to their positions among the tested ones."""
    records = records.copy()
    inner = records["kind"] != LEAF
    records["feature"][inner] = np.searchsorted(tested, records["feature"][inner])
    return records


def _keep_surrogates(tree, is_inner, places, steps):
    """Select the surrogates of the remaining tests, in the order of the new nodes."""
    if len(tree.surrogates) == 0:
        return tree.surrogates.copy()
    node = number_places(tree, places, steps)[tree.surrogates["node"]]
    stays = (node >= 0) & is_inner[node]
    surrogates = tree.surrogates[stays]
    surrogates["node"] = node[stays]
    return surrogates[np.argsort(surrogates["node"], kind="stable")]


if TYPE_CHECKING:
    from sklearn_textbook.tree.grow.grown_tree import GrownTree
    from sklearn_textbook.tree.prune.training_data import TrainingData

# A subtree that saves at most this many training errors is collapsed.
_COLLAPSE_SLACK = 0.001


class ErrorBasedPruning(BasePruner):
    r"""Prune by estimated errors on new rows, 基于错误的剪枝.

    The method applies to all classification trees with one output; oblique trees can be
    pruned only without subtree raising. It needs no validation rows and, without
    subtree raising, no training rows either.

    A leaf with N cases, E of which are not of its majority class, is estimated to
    misclassify :math:`N \, U(E, N)` of N new cases, where U is the upper limit of the
    error rate at confidence CF,

    .. math::

        U(0, N) &= 1 - CF^{1/N} \\
        U(E, N) &= \frac{f + \frac{z^2}{2N}
            + z \sqrt{\frac{f}{N} - \frac{f^2}{N} + \frac{z^2}{4N^2}}}
            {1 + \frac{z^2}{N}}, \quad
        f = \frac{E + 0.5}{N}, \quad z = \Phi^{-1}(1 - CF)

    where the second formula holds for E from 1 to N - 0.5. For larger E, U is 1;
    between E = 0 and E = 1, it is interpolated linearly.

    From the leaves upwards, three estimates are compared for each inner node: that of
    the node as a leaf, that of the leaves below it, and that of its largest branch if
    all cases of the node were sent down this branch. The node becomes a leaf if its
    estimate exceeds neither of the others by more than 0.1 errors. Otherwise, the
    branch replaces the node (subtree raising, 子树提升) if its estimate exceeds that of
    the leaves below the node by at most 0.1 errors; the cases are then redistributed,
    and the node is considered again.

    Parameters
    ----------
    confidence : float, default=0.25
        CF, above 0 and below 1; smaller values prune more. Above 0.5, the training
        errors are used as they are.
    subtree_raising : bool, default=True
        Whether a branch may replace the node above it. If False, a fitted tree can be
        pruned without its training rows. It must be False for oblique trees and for
        trees with ``monotonic_cst``, since raising moves rows into branches grown from
        other rows.

    See Also
    --------
    C45Classifier : Uses this method by default.
    CARTClassifier : Uses this method with ``pruning="error_based"``.

    Notes
    -----
    Cases are counted by weight; with ``cost_matrix`` the weights are those with which
    the tree is grown. The formula treats the weight as a number of rows, so weights
    should sum to the number of rows; there is a warning if much smaller ones leave a
    single leaf. In C4.5 trees, a row whose tested value is missing is divided
    among the branches in proportion to the weight of the other rows, and is divided
    again wherever a branch is raised.

    In other trees, a row with a missing value goes down a raised branch to the child
    chosen by the test or its surrogates (if these do not decide, to the child with the
    largest weight, as in growing); a row with an unseen level is divided
    (``handle_unknown="fractional"``) or ends in the node. Rows that end in an inner
    node count as an additional leaf with the majority class of the node. Surrogates
    stay with their test and keep the measures computed in growing. C4.5 and J48 have no
    such rows.

    The results equal those of Weka's J48 3.6 (``-C``; ``-S`` turns subtree raising
    off), including comparisons with a tolerance of 1e-6 and a confidence in single
    precision. Quinlan's C4.5 interpolates z in a short table, which gives 0.6925
    instead of 0.6745 at the default confidence.

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

    Prune a fitted tree without its training rows, and show the report:

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
    uses_altered_priors = True

    def __init__(self, confidence: float = 0.25, subtree_raising: bool = True) -> None:
        self.confidence = confidence
        self.subtree_raising = subtree_raising

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If ``confidence`` is not a number between 0 and 1, or ``subtree_raising`` is
            not a bool.
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

    def prune_grown(
        self, tree: GrownTree, data: TrainingData, n_threads: int = 1
    ) -> PruningOutcome:
        """Prune a grown tree, using its training rows if branches may be raised.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            The training table, the classes and the weights; not needed without subtree
            raising.
        n_threads : int, default=1
            Ignored: pruning takes little time compared to growing.

        Returns
        -------
        PruningOutcome
            The pruned tree and a report with one row per decision, in order: collapsed
            nodes from the top downwards, then the other nodes from the bottom upwards.
            ``before`` and ``after`` are the estimated errors of the whole tree. The
            decision on a ``node`` is "pruned", "kept" or "raised". A raised node is
            replaced by the branch ``raised_node`` (otherwise -1), which keeps its
            number and is considered again, so a node may have several rows. The column
            ``collapsed`` marks nodes that saved no errors on the training rows; see
            ``collapse`` of C45Classifier.

        Raises
        ------
        ValueError
            If a parameter is invalid, the tree is not a classification tree with one
            output or was not grown from the table, or if subtree raising is on and the
            table is not given, predictions must be monotonic, or the tree is oblique.
        """
        self.check_parameters()
        _check_tree(tree)
        _check_raising(tree, self.subtree_raising)
        if self.subtree_raising and data.is_monotonic:
            raise ValueError(
                "ErrorBasedPruning(subtree_raising=True) moves rows into branches "
                "grown from other rows, so predictions may violate monotonic_cst; use "
                "subtree_raising=False."
            )
        if self.subtree_raising and data.matrix is None:
            raise ValueError(
                "ErrorBasedPruning(subtree_raising=True) requires the training rows of "
                "the tree: give them as X and y, or use subtree_raising=False, which "
                "requires no rows."
            )
        rows = None
        if self.subtree_raising:
            rows = TrainingRows(
                data.matrix,
                data.target.codes[:, 0],
                data.weight,
                data.table.level_codes,
                data.criterion,
            )
        outcome = _prune(tree, rows, self.confidence, data.collapses)
        _warn_of_small_weights(tree, outcome.tree)
        return outcome


def collapse_tree(tree: GrownTree) -> GrownTree:
    """Replace subtrees that save no errors on the training rows by leaves.

    A node becomes a leaf if the leaves below it make at least as many errors, up to
    0.001, as the node itself would make as a leaf. C4.5 does so before pruning, and
    also without pruning.

    Parameters
    ----------
    tree : GrownTree
        A classification tree with one output.

    Returns
    -------
    GrownTree
        The smaller tree; the same object if nothing is collapsed.

    Raises
    ------
    ValueError
        If the tree is not a classification tree with one output.

    Notes
    -----
    Of classes with the same weight, up to 1e-6, the first is the majority class. An
    empty leaf makes no errors. The time is linear in the number of nodes.

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
    """Return a mask of the inner nodes to collapse."""
    collapsed = np.empty(tree.node_count, dtype=bool)
    mark_collapsed(
        tree.nodes, tree.statistics[:, 0], _COLLAPSE_SLACK, collapsed.view(np.uint8)
    )
    return collapsed


def prune_by_error(
    tree: GrownTree,
    matrix=None,
    codes: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    *,
    confidence: float = 0.25,
    subtree_raising: bool = True,
    collapse: bool = False,
    level_codes: np.ndarray | None = None,
    criterion: str = "entropy",
) -> GrownTree:
    """Replace subtrees by leaves or by their largest branch.

    See :class:`ErrorBasedPruning` for the rule.

    At a test that divides missing values among all branches, a level without a branch
    is treated as a missing value. It can occur in a raised branch, whose tests know
    only the levels of its former rows.

    For n rows and a tree of depth d, the time is O(n d log n) without missing values.
    With them it is O(m d²), where m is the number of parts of rows in a level of the
    tree, since all fractions are computed again below every node. A raised branch is
    processed twice. Without subtree raising the time is linear in the number of nodes.
    """
    _check_tree(tree)
    _check_raising(tree, subtree_raising)
    _check_confidence(confidence)
    if not subtree_raising:
        return _prune(tree, None, confidence, collapse).tree
    if matrix is None or codes is None:
        raise ValueError(
            "subtree_raising=True requires the training table of the tree."
        )
    rows = TrainingRows(matrix, codes, sample_weight, level_codes, criterion)
    return _prune(tree, rows, confidence, collapse).tree


def _prune(tree, rows, confidence, collapses):
    """Prune a tree; without rows there is no subtree raising."""
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


def compute_added_errors(
    weight: ArrayLike, errors: ArrayLike, confidence: float = 0.25
) -> np.ndarray:
    """Compute the errors that the estimate adds to the training errors.

    Parameters
    ----------
    weight : array-like of shape (n_leaves,)
        Weight of the cases of each leaf, above 0.
    errors : array-like of shape (n_leaves,)
        Weight of the cases that are not of the majority class.
    confidence : float, default=0.25
        Confidence of the estimate, CF in :class:`ErrorBasedPruning`.

    Returns
    -------
    ndarray of float64, shape (n_leaves,)
        N U(E, N) - E for each leaf.

    Raises
    ------
    ValueError
        If ``confidence`` is not a number between 0 and 1, or the shapes differ.

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
            "weight and errors must have one entry per leaf, got shapes "
            f"{weight.shape} and {errors.shape}."
        )
    added = np.empty(len(weight))
    fill_added_errors(weight, errors, measure_confidence(confidence), added)
    return added


# ------------------------------------------------------------------------ small parts
def _warn_of_small_weights(grown, pruned) -> None:
    """Warn of a single leaf that is due to weights much smaller than 1."""
    n_rows, weight = grown.nodes["n_samples"][0], grown.nodes["weight"][0]
    if pruned.node_count == 1 < grown.node_count and weight < n_rows / 2:
        warn_caller(
            "Error-based pruning left a single leaf: the weights of the "
            f"{n_rows} rows sum to {weight:.6g}. A weight counts as that many copies "
            "of the row: scale the weights to sum to the number of rows.",
            UserWarning,
        )


def _check_confidence(confidence) -> None:
    if not is_real(confidence) or not 0.0 < confidence < 1.0:
        raise ValueError(
            "The 'confidence' parameter must be a float in the range (0.0, 1.0); got "
            f"{confidence!r} of type {type(confidence).__name__}."
        )


def measure_confidence(confidence):
    """Return the confidence (single precision), its logarithm and normal quantile."""
    smallest = np.finfo(np.float32).smallest_subnormal
    level = max(np.float32(confidence), smallest)
    rest = np.float32(1.0) - level
    # Near 0 the confidence is lost in 1 - CF; any quantile this large gives the same.
    z = min(float(ndtri(np.float64(rest))), 1e6)
    return float(level), math.log(level), z


def _check_tree(tree) -> None:
    if not tree.is_classifier or tree.n_outputs != 1:
        raise ValueError(
            'ErrorBasedPruning (pruning="error_based") counts misclassified rows, so '
            "it requires a classification tree with one output; got a "
            f"{'classification' if tree.is_classifier else 'regression'} tree with "
            f"n_outputs={tree.n_outputs}. Use CostComplexityPruning, "
            "ReducedErrorPruning, PrePruning or LossPruning."
        )


def _check_raising(tree, subtree_raising) -> None:
    if subtree_raising and len(tree.terms):
        raise ValueError(
            "ErrorBasedPruning(subtree_raising=True) cannot prune an oblique tree, and "
            f"node {tree.terms['node'][0]} of this tree tests a weighted sum of "
            "columns; use subtree_raising=False."
        )
