"""Rows of a table -> summed predictions of many trees, or all their leaves.

All trees of a forest predict the same rows. To avoid reading the table from memory once
per tree, a block of rows stays in the cache while all trees are traversed. Trees with
binary tests are packed once, with 16 bytes per node, and the packed form is kept with
the tree. Other trees predict one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary, ref

import numpy as np
import scipy  # whose submodules are loaded on first use
from numpy.typing import ArrayLike

from sklearn_textbook.tree.route._route import PackedTrees
from sklearn_textbook.tree.route.route import find_leaves, predict_block
from sklearn_textbook.tree.route.walk import (
    MIN_BLOCK_ROWS,
    Equations,
    PackedTree,
    as_table,
    walk_packed,
)

# Rows per call of a tree that is not packed.
_ROWS_ALONE = 1 << 16
# Leaves that are listed at once.
_MAX_LEAVES = 1 << 20
# Entries of a sparse table that are converted to dense at once.
_MAX_DENSE_ENTRIES = 1 << 21


@dataclass(frozen=True, eq=False)
class MemberSum:
    """A tree or an ensemble as a sum over trees; what ``_describe_sum`` returns."""

    #: The fitted trees.
    members: list
    #: The estimator that reads new tables; no tree if the members are none.
    reader: object
    #: The columns of each member; None: all of them.
    columns: list
    #: What the values or votes of each member are multiplied by; None: 1.
    weights: np.ndarray | None = None
    #: The first score to which each member adds; None: the first of all.
    first: np.ndarray | None = None
    #: The scores before the first member; None: 0.
    start: np.ndarray | None = None
    #: How scores become predictions; see ``sklearn_textbook.exchange.TreeSum``.
    link: str = "identity"
    scale: float = 1.0
    #: Whether the sum is divided by the number of members,
    is_mean: bool = False
    #: and that before a class is chosen.
    divides_first: bool = False
    #: Whether members vote; with ``is_mean`` probabilities decide between equal votes.
    is_vote: bool = False
    #: A vote, or a single tree, chooses a class instead of an earlier one only if its
    #: probability is larger by more.
    tolerance: float = 0.0


def add_predictions(
    trees: Sequence,
    matrix,
    out: np.ndarray,
    n_threads: int = 1,
    feature_names: Sequence[str] | None = None,
    votes: bool = False,
    weights: ArrayLike | None = None,
) -> None:
    r"""Add the class probabilities or values of many trees, or their votes.

    .. math:: out_i \leftarrow out_i + \sum_t w_t \, p_t(x_i)

    where :math:`p_t(x)` are the class probabilities (or the value) of tree t or, with
    ``votes``, 1 for the most probable class (ties to the first) and 0 for the others.
    Sums are taken in the order of the trees, so they do not depend on ``n_threads``,
    bit for bit.

    Parameters
    ----------
    trees : sequence of GrownTree
        The trees, over the same columns and outputs.
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        The table: numbers, and level codes for nominal and ordinal columns; missing
        values are NaN and levels never seen in training -1. float32 and float64
        arrays of any layout are read without copying.
    out : ndarray of float64, shape (n_rows, n_outputs, n_statistics)
        The sums, in C order, to which the predictions are added in place.
    n_threads : int, default=1
        Number of threads.
    feature_names : sequence of str, default=None
        Names of the columns, for error messages.
    votes : bool, default=False
        Whether every tree votes for one class, 相对多数投票, instead of adding its
        probabilities.
    weights : array-like of shape (n_trees,), default=None
        Weights of the trees; None for 1.

    Raises
    ------
    ValueError
        If shapes do not match, ``votes`` is True for regression trees, or a level was
        not seen in training and ``handle_unknown`` of the tree is "error".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.route.many_trees import add_predictions
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> trees = [CARTClassifier().fit(X, y).tree_ for y in ([0, 0, 0, 1], [0, 0, 1, 1])]
    >>> out = np.zeros((4, 1, 2))
    >>> add_predictions(trees, X, out)
    >>> out[:, 0]
    array([[2., 0.],
           [2., 0.],
           [1., 1.],
           [0., 2.]])
    """
    if len(trees) == 0:
        return
    _check_threads(n_threads)
    forest = PackedEnsemble.of(trees)
    table = as_table(trees[0], matrix)
    weights = _check_weights(weights, len(trees))
    _check_out(trees[0], out, len(trees), table.shape[0], votes)
    add = _add_votes if votes else _add_fractions
    for rows, block in _dense_blocks(table):
        for first, stop, packed, equations in forest.runs:
            some = weights[first:stop]
            if packed is None:
                for tree, weight in zip(trees[first:stop], some, strict=True):
                    add(tree, weight, rows, block, out, n_threads, feature_names)
            elif equations is not None:
                _add_equations(packed, equations, some, block, out[rows], n_threads)
            else:
                walk_packed(packed, block, n_threads, some, sums=out[rows], votes=votes)


def find_leaves_of_all(
    trees: Sequence,
    matrix,
    n_threads: int = 1,
    feature_names: Sequence[str] | None = None,
) -> np.ndarray:
    """Return the node in which each row ends, for each of many trees.

    Parameters
    ----------
    trees : sequence of GrownTree
        The trees, over the same columns.
    matrix : array of shape (n_rows, n_features), or scipy sparse matrix or array
        The table, as in :func:`add_predictions`.
    n_threads : int, default=1
        Number of threads. The result does not depend on it.
    feature_names : sequence of str, default=None
        Names of the columns, for error messages.

    Returns
    -------
    ndarray of int64, shape (n_rows, n_trees)
        The result of :func:`~sklearn_textbook.tree.route.find_leaves` for each tree.

    Raises
    ------
    ValueError
        As in :func:`add_predictions`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.route.many_trees import find_leaves_of_all
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> trees = [CARTClassifier().fit(X, y).tree_ for y in ([0, 0, 0, 1], [0, 0, 1, 1])]
    >>> find_leaves_of_all(trees, X)
    array([[1, 1],
           [1, 1],
           [1, 2],
           [2, 2]])
    """
    if len(trees) == 0:
        return np.empty((np.shape(matrix)[0], 0), dtype=np.int64)
    _check_threads(n_threads)
    forest = PackedEnsemble.of(trees)
    table = as_table(trees[0], matrix)
    leaves = np.empty((table.shape[0], len(trees)), dtype=np.int64)
    for first, stop, packed, _ in forest.runs:
        if packed is None:
            for number in range(first, stop):
                leaves[:, number] = find_leaves(
                    trees[number], table, n_threads, feature_names
                )
        else:
            weights = np.ones(stop - first)
            for rows, block in _dense_blocks(table):
                found = leaves[rows, first:stop]
                walk_packed(packed, block, n_threads, weights, leaves=found)
    return leaves


class PackedEnsemble:
    """Many packed trees; the same trees are packed once."""

    _known: ClassVar[WeakKeyDictionary] = WeakKeyDictionary()

    def __init__(self, trees) -> None:
        _check_same_shapes(trees)
        # Strong references from here would keep the key alive.
        self.references = [ref(tree) for tree in trees]
        packs = [PackedTree.of(tree) for tree in trees]
        self.runs = []
        first = 0
        for stop in range(1, len(packs) + 1):
            if stop == len(packs) or not _walk_together(packs[first], packs[stop]):
                run = packs[first:stop]
                ready = None if run[0] is None else PackedTrees(run)
                equations = None
                if any(len(tree.slopes) for tree in trees[first:stop]):
                    equations = Equations(trees[first:stop])
                self.runs.append((first, stop, ready, equations))
                first = stop

    @classmethod
    def of(cls, trees):
        """Pack the trees, or return the last result if it was for the same."""
        forest = cls._known.get(trees[0])
        if forest is None or not forest.holds(trees):
            forest = cls._known[trees[0]] = cls(trees)
        return forest

    def holds(self, trees):
        """Return whether these are the same trees in the same order."""
        references = self.references
        return len(references) == len(trees) and all(
            reference() is tree
            for reference, tree in zip(references, trees, strict=True)
        )


def _walk_together(pack, other):
    """Whether two trees are packed, for rows in the same form, or neither is."""
    if pack is None or other is None:
        return pack is other
    return np.array_equal(pack.n_levels, other.n_levels)


def _dense_blocks(table):
    """Iterate over blocks of rows; those of a sparse table are converted to dense."""
    n_rows = table.shape[0]
    if not scipy.sparse.issparse(table):
        yield slice(0, n_rows), table
        return
    step = max(MIN_BLOCK_ROWS, _MAX_DENSE_ENTRIES // table.shape[1])
    for first in range(0, n_rows, step):
        rows = slice(first, min(first + step, n_rows))
        yield rows, table[rows].toarray()


def _add_fractions(tree, weight, rows, matrix, out, n_threads, feature_names) -> None:
    """Add the probabilities of one tree that is not packed."""
    for part, fractions in _predict_alone(tree, rows, matrix, n_threads, feature_names):
        out[part] += weight * fractions


def _add_votes(tree, weight, rows, matrix, out, n_threads, feature_names) -> None:
    """Add the votes of one tree that is not packed."""
    for part, fractions in _predict_alone(tree, rows, matrix, n_threads, feature_names):
        chosen = fractions.argmax(axis=2)
        row, output = np.indices(chosen.shape)
        out[part][row, output, chosen] += weight


def _add_equations(packed, equations, weights, matrix, out, n_threads) -> None:
    """Add the predictions of the equations of packed trees."""
    step = max(1, _MAX_LEAVES // len(weights))
    for first in range(0, len(matrix), step):
        part = matrix[first : first + step]
        leaves = np.empty((len(part), len(weights)), dtype=np.int64)
        walk_packed(packed, part, n_threads, np.ones(len(weights)), leaves=leaves)
        sums = out[first : first + step].reshape(-1)
        equations.add(part, leaves, sums, n_threads, weights)


def _predict_alone(tree, rows, matrix, n_threads, feature_names):
    """Iterate over blocks of rows and the predictions of one tree for them."""
    for first in range(rows.start, rows.stop, _ROWS_ALONE):
        part = slice(first, min(first + _ROWS_ALONE, rows.stop))
        block = matrix[first - rows.start : part.stop - rows.start]
        yield part, predict_block(tree, block, part, n_threads, feature_names)


# ---------------------------------------------------------------------------- checks
def _check_threads(n_threads) -> None:
    if n_threads < 1:
        raise ValueError(f"n_threads must be an integer >= 1, got {n_threads}.")


def _check_same_shapes(trees) -> None:
    first = trees[0]
    for number, tree in enumerate(trees):
        if (
            tree.n_features != first.n_features
            or tree.n_outputs != first.n_outputs
            or tree.n_statistics != first.n_statistics
        ):
            raise ValueError(
                "Trees whose predictions are added must have the same numbers of "
                "columns, outputs and statistics per output: the first tree has "
                f"{first.n_features}, {first.n_outputs} and {first.n_statistics}, tree "
                f"{number} has {tree.n_features}, {tree.n_outputs} and "
                f"{tree.n_statistics}."
            )


def _check_out(tree, out, n_trees, n_rows, votes) -> None:
    shape = (n_rows, tree.n_outputs, tree.n_statistics)
    if (
        not isinstance(out, np.ndarray)
        or out.shape != shape
        or out.dtype != np.float64
        or not out.flags.c_contiguous
    ):
        raise ValueError(
            f"out must be a C-contiguous float64 array of shape {shape}, got "
            f"{type(out).__name__} of shape {np.shape(out)}."
        )
    if votes and not tree.is_classifier:
        raise ValueError("Regression trees cannot vote.")


def _check_weights(weights, n_trees):
    if weights is None:
        return np.ones(n_trees)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (n_trees,):
        raise ValueError(
            f"weights must have one entry for each of the {n_trees} trees, got shape "
            f"{weights.shape}."
        )
    return weights
