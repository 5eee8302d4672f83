"""Likelihood of a cumulative link model, and its maximum by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook._contract.blocks import add_up, list_blocks
from sklearn_textbook.linear_model.logistic.curvature import factor_hessian
from sklearn_textbook.linear_model.ordinal.links import CumulativeLink
from sklearn_textbook.linear_model.solve.quasi_newton import MAX_HALVINGS
from sklearn_textbook.linear_model.solve.row_blocks import (
    map_rows,
    read_rows,
    read_weights,
)
from sklearn_textbook.linear_model.solve.row_sums import ProductSums
from sklearn_textbook.linear_model.solve.weighted_solution import (
    WeightedSolution,
    WeightedSolver,
)

#: Relative change of the loss due to rounding.
ROUNDING = 1e-14
#: Expected decrease of the loss that is negligible if rounding prevents progress.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Derivatives:
    """Derivatives of the log-likelihood of rows by their ends and scores."""

    #: Logarithms of the probabilities of the classes of the rows.
    log_probability: np.ndarray
    #: First derivatives by the upper and, with the opposite sign, the lower end.
    upper: np.ndarray
    lower: np.ndarray
    #: Second derivatives by the upper end, the lower one, and both.
    upper_twice: np.ndarray
    lower_twice: np.ndarray
    mixed: np.ndarray


@dataclass(frozen=True)
class Evaluation:
    """Negative log-likelihood and its derivatives by slopes, then thresholds."""

    loss: float
    gradient: np.ndarray
    hessian: np.ndarray


@dataclass(frozen=True)
class Solution:
    """Result of the iteration."""

    numbers: np.ndarray
    at: Evaluation
    loss_path: list
    is_converged: bool
    #: Largest change of a score in the last step.
    largest_move: float


def differentiate_rows(
    link: CumulativeLink, lower: np.ndarray, upper: np.ndarray
) -> Derivatives:
    """Differentiate the log-likelihood of rows by the ends of their classes."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        measure = link.measure(lower, upper)
        high = np.exp(link.measure_density(upper) - measure)
        low = np.exp(link.measure_density(lower) - measure)
        slope_high, slope_low = link.differentiate(upper), link.differentiate(lower)
    slope_high = np.where(np.isfinite(upper), slope_high, 0.0)
    slope_low = np.where(np.isfinite(lower), slope_low, 0.0)
    return Derivatives(
        measure,
        high,
        low,
        high * (slope_high - high),
        -low * (slope_low + low),
        high * low,
    )


class OrdinalLikelihood:
    """Likelihood of a cumulative link model on a table, in orthogonal coordinates.

    The columns are centred and turned into uncorrelated ones of unit length, of which
    there are as many as the rank.
    """

    def __init__(
        self,
        X: Any,
        codes: Any,
        weight: Any,
        n_classes: int,
        link: CumulativeLink,
        n_threads: int = 1,
        offset: Any = None,
    ) -> None:
        n_rows = X.shape[0]
        given = np.broadcast_to(1.0, n_rows) if weight is None else weight
        solver = WeightedSolver(X, True, n_threads=n_threads)
        self.solution: WeightedSolution
        self.solution = solver.orthogonalize(given)
        self.root = self.solution.root
        self.X = map_rows(X, self._turn, self.root.shape[1])
        self.codes, self.weight, self.offset = codes, weight, offset
        self.n_rows, self.n_classes, self.link = n_rows, n_classes, link
        self.n_threads = n_threads
        self.total_weight = float(n_rows if weight is None else add_up(weight))

    @property
    def rank(self) -> int:
        """Number of slopes that the rows determine."""
        return self.root.shape[1]

    def _turn(self, block):
        """Coordinates of a block of rows."""
        block = block.toarray() if issparse(block) else block
        return (block - self.solution.centre) @ self.root

    def restore(self, numbers):
        """(slopes, thresholds) of the columns of the table."""
        slopes = self.root @ numbers[: self.rank]
        return slopes, numbers[self.rank :] + self.solution.centre @ slopes

    def turn_back(self) -> np.ndarray:
        """Make the matrix of :meth:`restore`, of slopes and thresholds together."""
        n_columns, rank = self.root.shape
        n_thresholds = self.n_classes - 1
        back = np.zeros((n_columns + n_thresholds, rank + n_thresholds))
        back[:n_columns, :rank] = self.root
        back[n_columns:, :rank] = self.solution.centre @ self.root
        back[n_columns:, rank:] = np.eye(n_thresholds)
        return back

    def count_classes(self) -> np.ndarray:
        """Add up the weights of the classes."""
        totals = np.zeros(self.n_classes)
        for rows in list_blocks(self.n_rows):
            codes = read_rows(self.codes, rows)
            weight = read_weights(self.weight, rows, len(codes))
            totals += np.bincount(codes, weight, self.n_classes)
        return totals

    def start(self, totals: np.ndarray) -> np.ndarray:
        """Slopes of zero, with which the thresholds are quantiles."""
        cumulative = np.cumsum(totals)[:-1] / totals.sum()
        thresholds = self.link.invert(cumulative)
        if self.offset is not None:
            total = 0.0
            for rows in list_blocks(self.n_rows):
                offset = read_rows(self.offset, rows)
                total += float(read_weights(self.weight, rows, len(offset)) @ offset)
            thresholds = thresholds + total / self.total_weight
        return np.append(np.zeros(self.rank), thresholds)

    def evaluate(self, numbers: np.ndarray) -> Evaluation:
        """Compute the loss, its gradient and its Hessian."""
        rank, n_classes = self.rank, self.n_classes
        size = rank + n_classes + 1
        loss, gradient = 0.0, np.zeros(size)
        hessian = np.zeros((size, size))
        products = ProductSums(rank, 0, self.n_threads)
        thresholds = np.concatenate([[-np.inf], numbers[rank:], [np.inf]])
        for rows in list_blocks(self.n_rows):
            Z, codes = read_rows(self.X, rows), read_rows(self.codes, rows)
            weight = read_weights(self.weight, rows, len(codes))
            scores = Z @ numbers[:rank]
            if self.offset is not None:
                scores += read_rows(self.offset, rows)
            found = differentiate_rows(
                self.link, thresholds[codes] - scores, thresholds[codes + 1] - scores
            )
            loss -= float(weight @ found.log_probability)
            if not np.isfinite(loss):
                return Evaluation(np.inf, gradient, hessian)
            along = -weight * (found.upper_twice + found.mixed)
            other = -weight * (found.lower_twice + found.mixed)
            products.add(Z, along + other, None)
            # By both ends, of which the first and the last are infinite.
            ends = np.zeros((len(codes), n_classes + 1))
            places = np.arange(len(codes))
            ends[places, codes + 1], ends[places, codes] = -along, -other
            hessian[:rank, rank:] += Z.T @ ends
            gradient[:rank] += Z.T @ (weight * (found.upper - found.lower))
            for shift, first, second in (
                (1, -found.upper, -found.upper_twice),
                (0, found.lower, -found.lower_twice),
            ):
                sums = np.bincount(codes, weight * first, n_classes)
                within = slice(rank + shift, rank + shift + n_classes)
                gradient[within] += sums
                corner = hessian[within, within]
                corner[np.diag_indices(n_classes)] += np.bincount(
                    codes, weight * second, n_classes
                )
            beside = -np.bincount(codes, weight * found.mixed, n_classes)
            numbers_of = rank + np.arange(n_classes)
            hessian[numbers_of, numbers_of + 1] += beside
            hessian[numbers_of + 1, numbers_of] += beside
        hessian[:rank, :rank] = products.finish()[0][1:, 1:]
        hessian[rank:, :rank] = hessian[:rank, rank:].T
        kept = np.append(np.arange(rank), rank + np.arange(1, n_classes))
        return Evaluation(loss, gradient[kept], hessian[np.ix_(kept, kept)])

    def find_largest_move(self, step: np.ndarray) -> float:
        """Largest change of a score minus a threshold by a step."""
        slopes, thresholds = step[: self.rank], step[self.rank :]
        largest = float(np.abs(thresholds).max(initial=0.0))
        for rows in list_blocks(self.n_rows):
            moves = read_rows(self.X, rows) @ slopes
            largest = max(largest, float(np.abs(moves).max(initial=0.0)))
        return largest


def maximize_likelihood(
    likelihood: OrdinalLikelihood, numbers: np.ndarray, max_iter: int, tol: float
) -> Solution:
    """Maximise the likelihood by Newton's method with step halving.

    It stops when the expected decrease of the loss is at most ``tol ** 2 / 2`` for each
    row; this last step is still taken.
    """
    at = likelihood.evaluate(numbers)
    path = [at.loss]
    while True:
        factor = factor_hessian(at.hessian, smallest=0.0)
        if factor is None:
            return Solution(numbers, at, path, False, np.inf)
        step = factor.find_step(at.gradient)
        decrease = float(step @ at.gradient)
        move = likelihood.find_largest_move(step)
        if not decrease > tol**2 * likelihood.total_weight:
            last = likelihood.evaluate(numbers - step)
            if last.loss <= at.loss + ROUNDING * abs(at.loss):
                numbers, at = numbers - step, last
            return Solution(numbers, at, path, True, move)
        if len(path) > max_iter:
            return Solution(numbers, at, path, False, move)
        length = 1.0
        for _ in range(MAX_HALVINGS):
            moved = numbers - length * step
            if (np.diff(moved[likelihood.rank :]) > 0.0).all():
                found = likelihood.evaluate(moved)
                if found.loss <= at.loss - ROUNDING * abs(at.loss):
                    break
            length /= 2.0
        else:
            return Solution(numbers, at, path, decrease <= NEGLIGIBLE, move)
        numbers, at = moved, found
        path.append(at.loss)
