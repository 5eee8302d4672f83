"""Importances by permuting columns among the out-of-bag rows of each tree."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.labels import check_target, encode_known_labels
from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.ensemble.forest.proximities import mark_out_of_bag_rows
from sklearn_textbook.ensemble.members.growth import count_jobs
from sklearn_textbook.ensemble.members.parallel_results import (
    open_parallel,
    yield_results,
)
from sklearn_textbook.ensemble.resample import draw_seeds
from sklearn_textbook.tree.members import add_predictions, read_blocks, read_matrix

#: Entries of permuted tables that are in memory at a time, in each thread (16 MB).
_BLOCK_ENTRIES = 1 << 21


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
    matrix = _read_table(forest, X)
    known = _read_known(forest, y, matrix.shape[0])
    seeds = draw_seeds(random_state, 0, len(members))
    tasks = (
        (measure_member, member, matrix, known, out, n_repeats, seed)
        for (member, out), seed in zip(members, seeds, strict=True)
    )
    parallel = open_parallel(n_jobs=count_jobs(forest.n_jobs), prefer="threads")
    measured = list(yield_results(parallel, tasks))
    importances = np.stack(measured, axis=1)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
    )


def _read_table(forest, X):
    """Read the training table as numbers and codes; a sparse one stays sparse."""
    if not sparse.issparse(X):
        return read_matrix(forest, X, forest.estimators_[0])
    for _ in read_blocks(forest, X, forest.estimators_[0]):
        pass  # raises an error for what is no such table
    table = sparse.csr_array(X, dtype=np.float64, copy=True)
    table.sum_duplicates()
    return table


def _read_known(forest, y, n_rows):
    """Read the training target as class numbers or values."""
    is_numeric = not is_classifier(forest)
    y = check_target(y, is_numeric=is_numeric)
    if y.shape != (n_rows, forest.n_outputs_):
        raise ValueError(
            f"y must be the training target, with {n_rows} rows and "
            f"{forest.n_outputs_} outputs, got shape {y.shape}."
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
        The out-of-bag rows of the tree.
    n_repeats : int
        Permutations of each column.
    seed : int
        Seed of the permutations.

    Returns
    -------
    rises : ndarray of float64, shape (n_columns,)
        0 for a column that the tree does not test, and if no row is out of bag.
    """
    rises = np.zeros(matrix.shape[1])
    rows = np.flatnonzero(is_out)
    if len(rows) == 0:
        return rises
    random_state = check_random_state(seed)
    columns = np.repeat(list_tested_columns(member.tree_), n_repeats)
    orders = [random_state.permutation(len(rows)) for _ in columns]
    matrix, known = matrix[rows], known[rows]
    if sparse.issparse(matrix):
        permute = permute_sparse
        columns_of = sparse.csc_array(matrix)
    else:
        permute, columns_of = permute_dense, matrix
    (error,) = measure_errors(member, matrix, known)
    # Making a tree ready costs more than sending a small table through it.
    step = max(1, _BLOCK_ENTRIES // (matrix.shape[0] * matrix.shape[1]))
    for first in range(0, len(columns), step):
        block = slice(first, first + step)
        permuted = permute(columns_of, columns[block], orders[block])
        errors = measure_errors(member, permuted, known)
        np.add.at(rises, columns[block], errors - error)
    return rises / n_repeats


def list_tested_columns(tree):
    """List the columns that a tree tests, including those of surrogate tests and sums.

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
    tests += [tree.surrogates["feature"], tree.terms["feature"]]
    return np.unique(np.concatenate(tests))


def permute_dense(matrix, columns, orders):
    """Stack copies of a table, each with one column in another order.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        The table.
    columns : sequence of int
        The column that is permuted, of each copy.
    orders : sequence of ndarray of int, shape (n_rows,)
        Which row gives each row its value.

    Returns
    -------
    stacked : ndarray of shape (n_copies * n_rows, n_columns)
        One copy below the other.
    """
    stacked = np.tile(matrix, (len(columns), 1, 1))
    for copy, column, order in zip(stacked, columns, orders, strict=True):
        copy[:, column] = matrix[order, column]
    return stacked.reshape(-1, matrix.shape[1])


def permute_sparse(matrix, columns, orders):
    """Stack copies of a sparse table; see :func:`permute_dense`.

    Parameters
    ----------
    matrix : scipy.sparse.csc_array of shape (n_rows, n_columns)
        The table.
    columns : sequence of int
        The column that is permuted, of each copy.
    orders : sequence of ndarray of int, shape (n_rows,)
        Which row gives each row its value.

    Returns
    -------
    stacked : scipy.sparse.csr_array of shape (n_copies * n_rows, n_columns)
        One copy below the other.
    """
    copies = []
    for column, order in zip(columns, orders, strict=True):
        indices = matrix.indices.copy()
        of_column = slice(*matrix.indptr[column : column + 2])
        indices[of_column] = np.argsort(order)[indices[of_column]]
        parts = (matrix.data, indices, matrix.indptr)
        copies.append(sparse.csc_array(parts, shape=matrix.shape).tocsr())
    return sparse.vstack(copies, format="csr")


def measure_errors(member, stacked, known):
    """Measure a tree's error on each of several tables of the same rows.

    Parameters
    ----------
    member : tree estimator
        The tree.
    stacked : ndarray or sparse array of shape (n_tables * n_rows, n_columns)
        The tables, one below the other.
    known : ndarray of shape (n_rows, n_outputs)
        True class numbers (integers) or values (floats).

    Returns
    -------
    errors : ndarray of float64, shape (n_tables,)
        Fraction of wrong classes, or mean squared error; mean over the outputs.
    """
    tree = member.tree_
    predicted = np.zeros((stacked.shape[0], *tree.node_shape))
    add_predictions([tree], stacked, predicted, 1, member.schema_.names)
    predicted = predicted.reshape(-1, *known.shape, predicted.shape[2])
    if np.issubdtype(known.dtype, np.integer):
        return (predicted.argmax(axis=3) != known).mean(axis=(1, 2))
    return ((predicted[..., 0] - known) ** 2).mean(axis=(1, 2))
