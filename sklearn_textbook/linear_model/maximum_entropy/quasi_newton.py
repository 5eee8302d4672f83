r"""Quasi-Newton methods (拟牛顿法): BFGS and limited-memory BFGS.

李航《统计学习方法》, 算法6.2 with formulas B.30 and B.34: a matrix G instead of the
inverse of the second derivatives gives the direction :math:`-G g`. After a step
:math:`\delta`, which changes the slope by y, it becomes

.. math:: G' = \Bigl(I - \frac{\delta y^T}{\delta^T y}\Bigr) G
    \Bigl(I - \frac{\delta y^T}{\delta^T y}\Bigr)^T
    + \frac{\delta \delta^T}{\delta^T y}.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from sklearn_textbook.linear_model.maximum_entropy.solution import Solution

#: Constants of the Wolfe conditions: sufficient decrease, and curvature.
MIN_DECREASE, MAX_SLOPE = 1e-4, 0.9
#: Relative differences of losses due to rounding.
ROUNDING = 1e-13
MAX_TRIALS = 60
#: Rounds without a smaller loss or slope after which only rounding is left.
MAX_IDLE = 20
#: Number of pairs of steps and changes of the slope in the limited memory.
N_PAIRS = 10


class InverseMatrix:
    """The whole matrix G; it starts as the identity."""

    def __init__(self):
        self.matrix = None

    def multiply(self, gradient):
        """Multiply a slope by G."""
        return gradient.copy() if self.matrix is None else self.matrix @ gradient

    def update(self, step, change):
        """Update with a step and the change of the slope."""
        product = float(step @ change)
        if self.matrix is None:  # a first guess of the size
            self.matrix = np.eye(len(step)) * (product / float(change @ change))
        moved = self.matrix @ change
        outer = np.outer(moved / product, step)
        self.matrix -= outer
        self.matrix -= outer.T
        factor = (1.0 + float(change @ moved) / product) / product
        self.matrix += np.outer(factor * step, step)


class RecentPairs:
    """The matrix implied by the last few pairs, without storing it."""

    def __init__(self):
        self.pairs = deque(maxlen=N_PAIRS)

    def multiply(self, gradient):
        """Multiply a slope by G."""
        product, shares = gradient.copy(), []
        for step, change, inner in reversed(self.pairs):
            shares.append(float(step @ product) / inner)
            product -= shares[-1] * change
        if self.pairs:
            step, change, inner = self.pairs[-1]
            product *= inner / float(change @ change)
        for (step, change, inner), share in zip(
            self.pairs, reversed(shares), strict=True
        ):
            product += (share - float(change @ product) / inner) * step
        return product

    def update(self, step, change):
        """Update with a step and the change of the slope."""
        self.pairs.append((step, change, float(step @ change)))


class _Point:
    """Weights with their loss, slope and expected sums, all per unit of weight."""

    def __init__(self, problem, weights):
        self.weights = weights
        loss, sums = problem.evaluate(weights)
        self.loss = loss / problem.total
        self.expected = sums[0]
        self.gradient = problem.find_gradient(weights, sums[0]) / problem.total


def minimize(problem, weights, max_iter, tol, *, has_limited_memory=False):
    """Fit weights by a quasi-Newton method.

    Parameters
    ----------
    problem : EntropyProblem
        The problem to minimise.
    weights : ndarray of shape (n_features,)
        Initial weights.
    max_iter : int
        Maximum number of rounds.
    tol : float
        Expectations that differ by at most this, per unit of weight, are equal.
    has_limited_memory : bool, default=False
        Whether a few pairs replace the matrix of n_features squared numbers.

    Returns
    -------
    solution : Solution
        Weights and losses.
    """
    make_matrix = RecentPairs if has_limited_memory else InverseMatrix
    matrix, is_fresh = make_matrix(), True
    point = _Point(problem, weights.copy())
    path, smallest_gap, n_idle = [point.loss * problem.total], np.inf, 0
    while True:
        gap = float(np.abs(point.gradient).max(initial=0.0))
        n_idle = 0 if gap < 0.9 * smallest_gap else n_idle + 1
        smallest_gap = min(gap, smallest_gap)
        if gap <= tol or len(path) > max_iter or n_idle > MAX_IDLE:
            break
        direction = -matrix.multiply(point.gradient)
        found = _search(problem, point, direction, is_fresh)
        if found is None:
            if is_fresh:
                break  # rounding prevents further descent
            matrix, is_fresh = make_matrix(), True
            continue
        step, change = found.weights - point.weights, found.gradient - point.gradient
        if step @ change > 0.0:
            matrix.update(step, change)
            is_fresh = False
        if found.loss < point.loss - ROUNDING * abs(point.loss):
            n_idle = 0
        point = found
        path.append(point.loss * problem.total)
    return Solution(point.weights, point.expected, np.array(path), gap, gap <= tol)


def _search(problem, point, direction, is_fresh):
    """Find a step along a direction that satisfies the Wolfe conditions.

    Returns None if there is none.
    """
    slope = float(point.gradient @ direction)
    if not slope < 0.0:
        return None
    low, high = 0.0, np.inf
    length = min(1.0, 1.0 / np.linalg.norm(direction)) if is_fresh else 1.0
    for _ in range(MAX_TRIALS):
        found = _Point(problem, point.weights + length * direction)
        found_slope = float(found.gradient @ direction)
        has_fallen = found.loss <= point.loss + MIN_DECREASE * length * slope
        # Close to the optimum the losses are equal up to rounding; slopes still differ.
        is_equal = found.loss <= point.loss + ROUNDING * abs(point.loss)
        has_turned = found_slope > (2 * MIN_DECREASE - 1) * slope
        if not np.isfinite(found.loss) or not (
            has_fallen or (is_equal and not has_turned)
        ):
            high = length
        elif found_slope < MAX_SLOPE * slope:
            low = length
        else:
            return found
        length = 2.0 * low if high == np.inf else 0.5 * (low + high)
    return None
