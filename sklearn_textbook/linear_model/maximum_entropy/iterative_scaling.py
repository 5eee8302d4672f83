r"""Improved (改进的迭代尺度法) and generalised iterative scaling.

李航《统计学习方法》, 算法6.1. With :math:`f^\#(x, y) = \sum_j f_j(x, y)`, each round
adds to every weight the step :math:`\delta_j` that solves

.. math:: \sum_{x, y} \tilde P(x) P_w(y|x) f_j(x, y) e^{\delta_j f^\#(x, y)}
    = \tilde E(f_j).

Generalised iterative scaling uses the largest :math:`f^\#` for all, which gives
:math:`\delta_j = \log(\tilde E(f_j) / E_w(f_j)) / \max f^\#`.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sklearn_textbook.linear_model.maximum_entropy._expectation import (
    find_bucket_steps,
    find_entry_steps,
)
from sklearn_textbook.linear_model.maximum_entropy.expectation import (
    EntropyProblem,
    EntropySolution,
)

#: Number of distinct sizes f# with separate sums; with more, entries are summed singly.
MAX_BUCKETS = 64
#: Sums of all sizes and features.
MAX_BUCKET_SUMS = 2**20


class ScalingSteps:
    """The steps of all weights from the probabilities of a round."""

    def __init__(
        self, problem: EntropyProblem, is_generalized: bool, floor: float = 0.0
    ) -> None:
        self.problem, self.floor = problem, floor
        self.bucket, self.columns = None, None
        sizes = problem.features.sum_rows()
        largest = sizes.max(initial=0.0)
        if is_generalized or (sizes == largest).all():
            self.sizes = np.array([largest])
            return
        self.sizes, bucket = np.unique(sizes, return_inverse=True)
        n_sums = len(self.sizes) * problem.features.n_features
        if len(self.sizes) <= MAX_BUCKETS and n_sums <= MAX_BUCKET_SUMS:
            self.bucket = bucket.astype(np.int32)
        else:
            self.sizes = sizes
            self.columns = _list_by_column(problem.features)

    @property
    def n_buckets(self):
        """Number of sums of each feature that a round needs."""
        return 1 if self.columns is not None else len(self.sizes)

    def find(self, weights, expected):
        """Find steps from the expected sums that `evaluate` returned."""
        problem = self.problem
        steps = np.empty(len(weights))
        of_features = (
            problem.empirical,
            problem.penalty,
            weights,
            steps,
            self.floor,
            problem.n_threads,
        )
        if self.columns is None:
            find_bucket_steps(expected, self.sizes, *of_features)
            return steps
        features = problem.features
        fractions = problem.context_weight[:, np.newaxis] * problem.probabilities
        n_blocks = 1 if features.is_joint else features.n_classes
        find_entry_steps(
            *self.columns,
            self.sizes,
            fractions.ravel(),
            n_blocks,
            *of_features,
        )
        return steps


def _list_by_column(features):
    """Entries column by column: values, rows and starts."""
    matrix = sparse.csc_array(features.to_matrix())
    values, places = matrix.data, matrix.indices.astype(np.int32, copy=False)
    if not len(values):
        values, places = np.zeros(1), np.zeros(1, dtype=np.int32)
    return values, places, matrix.indptr.astype(np.int64, copy=False)


def scale_iteratively(
    problem: EntropyProblem,
    weights: np.ndarray,
    max_iter: int,
    tol: float,
    *,
    is_generalized: bool = False,
) -> EntropySolution:
    """Fit weights by iterative scaling."""
    steps = ScalingSteps(problem, is_generalized, 0.1 * tol * problem.total)
    weights, path = weights.copy(), []
    while True:
        loss, sums = problem.evaluate(weights, steps.bucket, steps.n_buckets)
        expected = sums.sum(axis=0) if len(sums) > 1 else sums[0]
        path.append(loss)
        gap = problem.find_gap(weights, expected)
        if gap <= tol or len(path) > max_iter:
            return EntropySolution(weights, expected, np.array(path), gap, gap <= tol)
        weights += steps.find(weights, sums)
