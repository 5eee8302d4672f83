"""Importances by permuting columns among the out-of-bag rows of each tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.labels import check_target, encode_known_labels
from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.ensemble.forest.proximities import mark_out_of_bag_rows
from sklearn_textbook.ensemble.members.growth import (
    count_jobs,
    open_parallel,
    yield_results,
)
from sklearn_textbook.ensemble.resample import draw_seeds
from sklearn_textbook.tree.members import add_predictions, read_blocks, read_matrix

#: Entries of permuted tables that are in memory at a time, in each thread (16 MB).
_BLOCK_ENTRIES = 1 << 21


def compute_permutation_importances(
    forest, X, y: ArrayLike, *, n_repeats: int = 1, random_state=None
) -> Bunch:
    """Measure how much each tree errs by a column that is permuted."""
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


def measure_member(
    member, matrix, known: np.ndarray, is_out: np.ndarray, n_repeats: int, seed: int
) -> np.ndarray:
    """Measure the rise of a tree's error for every column."""
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


def list_tested_columns(tree) -> np.ndarray:
    """List the columns that a tree tests, in surrogate tests and sums, too, or adds."""
    tests = [tree.nodes["feature"][tree.nodes["n_children"] > 0]]
    tests += [tree.surrogates["feature"], tree.terms["feature"]]
    tests += [tree.slopes["feature"]]
    return np.unique(np.concatenate(tests))


def permute_dense(
    matrix: np.ndarray, columns: Sequence[int], orders: Sequence[np.ndarray]
) -> np.ndarray:
    """Stack copies of a table, each with one column in another order."""
    stacked = np.tile(matrix, (len(columns), 1, 1))
    for copy, column, order in zip(stacked, columns, orders, strict=True):
        copy[:, column] = matrix[order, column]
    return stacked.reshape(-1, matrix.shape[1])


def permute_sparse(matrix, columns: Sequence[int], orders: Sequence[np.ndarray]):
    """Stack copies of a sparse table; see :func:`permute_dense`."""
    copies = []
    for column, order in zip(columns, orders, strict=True):
        indices = matrix.indices.copy()
        of_column = slice(*matrix.indptr[column : column + 2])
        indices[of_column] = np.argsort(order)[indices[of_column]]
        parts = (matrix.data, indices, matrix.indptr)
        copies.append(sparse.csc_array(parts, shape=matrix.shape).tocsr())
    return sparse.vstack(copies, format="csr")


def measure_errors(member, stacked, known: np.ndarray) -> np.ndarray:
    """Measure a tree's error on each of several tables of the same rows."""
    tree = member.tree_
    predicted = np.zeros((stacked.shape[0], *tree.node_shape))
    add_predictions([tree], stacked, predicted, 1, member.schema_.names)
    predicted = predicted.reshape(-1, *known.shape, predicted.shape[2])
    if np.issubdtype(known.dtype, np.integer):
        return (predicted.argmax(axis=3) != known).mean(axis=(1, 2))
    return ((predicted[..., 0] - known) ** 2).mean(axis=(1, 2))
