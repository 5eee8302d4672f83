"""The features f(x, y) of all rows and classes, in the layout of the kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sklearn_textbook.linear_model.maximum_entropy._expectation import (
    are_equal_contexts,
    hash_contexts,
)

#: Fraction of cells other than 0 up to which indices cost less than the zeros.
SPARSE_FRACTION = 0.4


@dataclass(frozen=True, eq=False)
class JointFeatures:
    r"""Features of n_contexts rows x and n_classes classes y.

    Shared: :math:`f_{ck}(x, y) = z_c(x)\,[y = k]`. One row of entries holds the
    columns z of a context; column c and class k have feature ``c * n_classes + k``.
    Joint: every pair (x, y) has a row of entries of its own.
    """

    #: Entries of all rows, one by one.
    values: np.ndarray
    #: Their columns; empty if all rows have all columns.
    columns: np.ndarray
    #: Start of the entries of each row, and the end of the last one.
    starts: np.ndarray
    #: Whether the features are joint.
    is_joint: bool
    #: Number of classes, and of columns in a row of entries.
    n_classes: int
    n_columns: int

    @property
    def n_rows_per_context(self):
        """Rows of entries for one row of the table."""
        return self.n_classes if self.is_joint else 1

    @property
    def n_contexts(self):
        """Number of rows of the table, or of distinct ones."""
        return (len(self.starts) - 1) // self.n_rows_per_context

    @property
    def n_features(self):
        """Number of features, and of weights."""
        return self.n_columns * (1 if self.is_joint else self.n_classes)

    @property
    def is_sparse(self):
        """Whether zeros are not stored."""
        return len(self.columns) > 0

    def to_matrix(self):
        """Return the rows of entries as an ndarray or csr_array, without copying."""
        shape = (len(self.starts) - 1, self.n_columns)
        if not self.is_sparse and len(self.values) == shape[0] * shape[1]:
            return self.values.reshape(shape)
        return sparse.csr_array((self.values, self.columns, self.starts), shape=shape)

    def take(self, contexts):
        """Select some of the contexts."""
        per_context = self.n_rows_per_context
        rows = contexts[:, np.newaxis] * per_context + np.arange(per_context)
        matrix = self.to_matrix()[rows.ravel()]
        return _store(matrix, self.is_joint, self.n_classes)

    def divide(self, scale):
        """Divide joint features, each by a number of its own."""
        if self.is_sparse or not len(self.values):
            return replace(self, values=self.values / scale[self.columns])
        divided = self.values.reshape(-1, self.n_columns) / scale
        return replace(self, values=divided.ravel())

    def sum_rows(self):
        """Sum up the features, f#, of every context, or of every pair if joint."""
        return np.asarray(self.to_matrix().sum(axis=1), dtype=np.float64).ravel()

    def group_contexts(self):
        """Find equal contexts.

        Returns (leaders, group).
        """
        hashes = np.empty(self.n_contexts, dtype=np.uint64)
        per_context = self.n_rows_per_context
        entries = (self.values, self.columns, self.starts)
        hash_contexts(*entries, per_context, hashes, 1)
        _, leaders, group = np.unique(hashes, return_index=True, return_inverse=True)
        leaders = leaders.astype(np.int64)
        if len(leaders) == len(hashes):
            return None, None
        if not are_equal_contexts(*entries, per_context, leaders[group]):
            return None, None  # two different contexts have the same hash
        order = np.argsort(leaders)  # in order of appearance
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return leaders[order], rank[group]


def _store(matrix, is_joint, n_classes):
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
        matrix.sum_duplicates()  # entries in the order of the columns, too
        if matrix.nnz == 0:  # an array without columns would be read as a dense one
            starts = np.zeros(matrix.shape[0] + 1, dtype=np.int64)
            values, columns = np.empty(0), np.empty(0, dtype=np.int32)
        else:
            values = np.ascontiguousarray(matrix.data, dtype=np.float64)
            columns = matrix.indices.astype(np.int32, copy=False)
            starts = matrix.indptr.astype(np.int64, copy=False)
    else:
        values = np.ascontiguousarray(matrix, dtype=np.float64).ravel()
        columns = np.empty(0, dtype=np.int32)
        starts = np.arange(len(matrix) + 1, dtype=np.int64) * matrix.shape[1]
    return JointFeatures(values, columns, starts, is_joint, n_classes, matrix.shape[1])


def _choose_storage(matrix):
    """Make a csr_array if there are many zeros, else an ndarray."""
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
        n_filled = matrix.nnz
    else:
        n_filled = np.count_nonzero(matrix)
    if n_filled > SPARSE_FRACTION * matrix.shape[0] * matrix.shape[1]:
        return matrix.toarray() if sparse.issparse(matrix) else matrix
    matrix = sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    return matrix


def share_columns(matrix, n_classes: int) -> JointFeatures:
    """Make features of columns and classes: the value of a column, for one class."""
    return _store(_choose_storage(matrix), False, n_classes)


def join_blocks(blocks) -> JointFeatures:
    """Make features of pairs."""
    n_rows, n_classes = blocks[0].shape[0], len(blocks)
    if any(map(sparse.issparse, blocks)):
        stacked = sparse.vstack([sparse.csr_array(block) for block in blocks], "csr")
    else:
        stacked = np.concatenate(blocks)
    rows = np.arange(n_rows)[:, np.newaxis] + n_rows * np.arange(n_classes)
    return _store(_choose_storage(stacked[rows.ravel()]), True, n_classes)


def split_blocks(features: JointFeatures):
    """Split features by class, the inverse of `join_blocks`."""
    matrix, n_classes = features.to_matrix(), features.n_classes
    if features.is_joint:
        return [matrix[k::n_classes] for k in range(n_classes)]
    matrix = sparse.csr_array(matrix)
    blocks = []
    for k in range(n_classes):
        shape = (matrix.shape[0], features.n_features)
        entries = (matrix.data, matrix.indices * n_classes + k, matrix.indptr)
        blocks.append(sparse.csr_array(entries, shape=shape))
    return blocks


def find_extremes(
    blocks,
) -> tuple[np.ndarray | sparse.csr_array, np.ndarray | sparse.csr_array]:
    """Find the extremes over the classes of every row's features.

    Returns (smallest, largest).
    """
    smallest = largest = blocks[0]
    for block in blocks[1:]:
        if sparse.issparse(block):
            smallest, largest = smallest.minimum(block), largest.maximum(block)
        else:
            smallest = np.minimum(smallest, block)
            largest = np.maximum(largest, block)
    return smallest, largest


def find_deviations(blocks, weight: np.ndarray) -> np.ndarray:
    """Compute the standard deviation of each feature over the classes of a row."""
    # So that it is exactly 0 if the feature is the same for all classes.
    blocks = [block - blocks[0] for block in blocks]
    mean = sum(blocks[1:], blocks[0]) / len(blocks)
    squares = sum(weight @ (block - mean) ** 2 for block in blocks)
    deviations = np.sqrt(np.asarray(squares).ravel() / (weight.sum() * len(blocks)))
    return np.where(np.isfinite(deviations) & (deviations > 0), deviations, 1.0)


def shift_to_nonnegative(
    features: JointFeatures,
) -> tuple[JointFeatures, np.ndarray | sparse.csr_array | None]:
    r"""Replace features with negative values by others that give the same model.

    A number added to f(x, y) for all classes y of one x cancels in P(y|x), so that
    :math:`f(x, y) - \min(0, \min_{y'} f(x, y'))` has the same weight.

    Returns (features, shift).
    """
    if not len(features.values) or features.values.min() >= 0.0:
        return features, None
    blocks = split_blocks(features)
    smallest, _ = find_extremes(blocks)
    if sparse.issparse(smallest):
        smallest = smallest.minimum(sparse.csr_array(smallest.shape))
    else:
        smallest = np.minimum(smallest, 0.0)
    return join_blocks([block - smallest for block in blocks]), smallest


def find_boundaries(blocks, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the features whose weights have no finite optimum.

    If a feature has, in every training row, the smallest value that it has for any
    class, then the likelihood always increases as its weight decreases.

    Returns (falls, rises).
    """
    smallest, largest = find_extremes(blocks)
    # Sums of non-negative terms: 0 only if each is exactly 0.
    above = sum(counts[:, k] @ (block - smallest) for k, block in enumerate(blocks))
    below = sum(counts[:, k] @ (largest - block) for k, block in enumerate(blocks))
    above, below = np.asarray(above).ravel(), np.asarray(below).ravel()
    return (above == 0) & (below > 0), (below == 0) & (above > 0)


def find_column_boundaries(
    matrix: np.ndarray | sparse.csr_array, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the same for the columns of `share_columns`, without making blocks.

    Returns (falls, rises).
    """
    if counts.shape[1] == 1:  # no other class to distinguish
        nowhere = np.zeros(matrix.shape[1], dtype=bool)
        return nowhere, nowhere
    others = counts.sum(axis=1, keepdims=True) - counts
    others[counts == counts.sum(axis=1, keepdims=True)] = 0.0
    if sparse.issparse(matrix):
        positive = matrix.maximum(sparse.csr_array(matrix.shape))
        negative = positive - matrix
    else:
        positive, negative = np.maximum(matrix, 0.0), np.maximum(-matrix, 0.0)
    above, below = positive.T @ counts, positive.T @ others
    if matrix.min() < 0.0:
        above, below = above + negative.T @ others, below + negative.T @ counts
    above, below = np.asarray(above).ravel(), np.asarray(below).ravel()
    return (above == 0) & (below > 0), (below == 0) & (above > 0)
