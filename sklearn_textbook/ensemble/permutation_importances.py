"""Importances by permuting columns among the out-of-bag rows of each tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.labels import check_target, encode_known_labels
from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.ensemble.member_growth import count_jobs
from sklearn_textbook.ensemble.proximities import mark_out_of_bag_rows
from sklearn_textbook.ensemble.resample import draw_seeds
from sklearn_textbook.tree.members import add_predictions, read_matrix


def compute_permutation_importances(forest, X, y, *, n_repeats=1, random_state=None):
    """Measure how much each tree errs by a column that is permuted.

    Parameters
    ----------
    forest : forest of this package
        A fitted forest with ``bootstrap=True``.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The training table, in its order.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The training target.
    n_repeats : int, default=1
        How many times a column is permuted for each tree.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations.

    Returns
    -------
    importances : Bunch
        As ``ForestMeasures.permutation_importances`` returns them.
    """
    check_is_fitted(forest)
    check_integer("n_repeats", n_repeats, 1)
    members = mark_out_of_bag_rows(forest, X, "permutation_importances")
    matrix = read_matrix(forest, X, forest.estimators_[0])
    matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
    known = _read_known(forest, y, matrix.shape[0])
    seeds = draw_seeds(random_state, 0, len(members))
    measured = Parallel(n_jobs=count_jobs(forest.n_jobs), prefer="threads")(
        delayed(measure_member)(member, matrix, known, out, n_repeats, seed)
        for (member, out), seed in zip(members, seeds, strict=True)
    )
    importances = np.stack(measured, axis=1)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
    )


def _read_known(forest, y, n_rows):
    """Read the training target as class numbers or values."""
    is_numeric = not is_classifier(forest)
    y = check_target(y, is_numeric=is_numeric)
    if y.shape != (n_rows, forest.n_outputs_):
        raise ValueError(
            f"y has shape {y.shape}; the training target has {n_rows} rows and "
            f"{forest.n_outputs_} outputs."
        )
    if is_numeric:
        return y
    classes = [forest.classes_] if forest.n_outputs_ == 1 else forest.classes_
    return encode_known_labels(y, classes)


def measure_member(member, matrix, known, is_out, n_repeats, seed):
    """Measure the rise of a tree's error for every column.

    Parameters
    ----------
    member : tree estimator
        The tree.
    matrix : ndarray or sparse array of shape (n_rows, n_columns)
        Numbers and level codes of the training rows.
    known : ndarray of shape (n_rows, n_outputs)
        Their class numbers or values.
    is_out : ndarray of bool, shape (n_rows,)
        The rows that the tree has not seen.
    n_repeats : int
        Permutations of each column.
    seed : int
        Seed of the permutations.

    Returns
    -------
    rises : ndarray of float64, shape (n_columns,)
        0 for a column that the tree does not test, and if it has seen all rows.
    """
    rises = np.zeros(matrix.shape[1])
    rows = np.flatnonzero(is_out)
    if len(rows) == 0:
        return rises
    judge = Judge(member, known[rows])
    table = PermutedTable(matrix[rows])
    error = judge.measure_error(table.matrix)
    random_state = check_random_state(seed)
    for column in list_tested_columns(member.tree_):
        for _ in range(n_repeats):
            permuted = table.permute(column, random_state.permutation(len(rows)))
            rises[column] += judge.measure_error(permuted) - error
        table.restore(column)
    return rises / n_repeats


def list_tested_columns(tree):
    """List the columns that a tree tests, those of stand-in tests included.

    Parameters
    ----------
    tree : GrownTree
        The tree.

    Returns
    -------
    columns : ndarray of int, ascending
        Numbers of columns.
    """
    tests = [tree.nodes["feature"][tree.nodes["n_children"] > 0]]
    tests.append(tree.surrogates["feature"])
    return np.unique(np.concatenate(tests))


@dataclass(frozen=True, eq=False)
class Judge:
    """Measures the error of a tree.

    Parameters
    ----------
    member : tree estimator
        The tree.
    known : ndarray of shape (n_rows, n_outputs)
        True class numbers (integers) or values (floats).
    """

    member: object
    known: np.ndarray

    def measure_error(self, matrix):
        """Share of wrong classes, or mean squared error; mean over the outputs."""
        tree = self.member.tree_
        predicted = np.zeros((len(self.known), *tree.statistics.shape[1:]))
        add_predictions([tree], matrix, predicted, 1, self.member.schema_.names)
        if np.issubdtype(self.known.dtype, np.integer):
            return float((predicted.argmax(axis=2) != self.known).mean())
        return float(((predicted[:, :, 0] - self.known) ** 2).mean())


class PermutedTable:
    """A table of which one column at a time is permuted.

    Parameters
    ----------
    matrix : ndarray or sparse array of shape (n_rows, n_columns)
        A copy of the rows; it is changed.
    """

    def __init__(self, matrix):
        self.is_sparse = sparse.issparse(matrix)
        self.matrix = matrix
        self.columns = sparse.csc_array(matrix) if self.is_sparse else None
        self.kept = None

    def permute(self, column, order):
        """Return the table with one column in another order."""
        if self.is_sparse:
            permuted = self.columns.copy()
            of_column = slice(*permuted.indptr[column : column + 2])
            places = np.empty(len(order), dtype=permuted.indices.dtype)
            places[order] = np.arange(len(order))
            permuted.indices[of_column] = places[permuted.indices[of_column]]
            permuted.has_sorted_indices = False
            return permuted.tocsr()
        if self.kept is None:
            self.kept = self.matrix[:, column].copy()
        self.matrix[:, column] = self.kept[order]
        return self.matrix

    def restore(self, column):
        """Bring a column back into its order."""
        if self.kept is not None:
            self.matrix[:, column] = self.kept
            self.kept = None
