"""The logistic likelihood: its value, gradient and Hessian at given coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from sklearn_textbook._contract.blocks import BLOCK_ROWS, add_up, list_blocks
from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook.linear_model.solve._row_sums import judge_scores, sum_likelihood
from sklearn_textbook.linear_model.solve.row_blocks import (
    MappedRows,
    is_sparse,
    is_stored,
    lay_out,
    read_rows,
    read_weights,
    take_every,
)
from sklearn_textbook.linear_model.solve.row_sums import (
    MAX_STRETCHES,
    PANEL_WIDTH,
    TILE_HEIGHT,
    ProductSums,
    divide_rows,
    find_largest,
    is_within,
    reduce_columns,
    sum_products,
)

#: Maximum number of entries in the sums of all stretches of rows, and of one.
MAX_NUMBERS, MAX_NUMBERS_OF_ONE = 2**23, 2**22
LOSS, GRADIENT, HESSIAN = 0, 1, 2
#: Columns whose largest number is above LARGE, or below its inverse, are multiplied by
#: a power of two, so that their squares neither overflow nor underflow.
LARGE = 1e100
#: Numbers in the scores of a block of rows.
BLOCK_NUMBERS = 2**22
#: Numbers of a block of rows whose squares are added up.
UNIT_NUMBERS = 2**20


@dataclass(frozen=True)
class Evaluation:
    """The likelihood and its derivatives at some coefficients."""

    #: Negative log-likelihood, with both penalties.
    loss: float
    #: Its derivatives by the coefficients, without those of the absolute values. Shape
    #: (n_scores, n_parameters).
    gradient: np.ndarray | None
    #: Its second derivatives. Shape (n_scores * n_parameters,) * 2.
    hessian: np.ndarray | None
    #: Smallest difference of the scores of a row's class and another class: above 0 if
    #: all rows are classified correctly.
    margin: float
    #: Negative log-likelihood without the penalty.
    likelihood_loss: float


def find_centre(X, weight):
    """Means of the columns; exact for constant columns."""
    n_rows, n_columns = X.shape
    sums = np.zeros(n_columns)
    for rows in list_blocks(n_rows):
        sums += _sum_columns(
            read_rows(X, rows), None if weight is None else weight[rows]
        )
    centre = sums / (n_rows if weight is None else add_up(weight))
    if is_sparse(X):
        return centre
    first = X[:1][0]
    is_constant = np.abs(first - centre) <= 1e-9 * np.abs(centre)
    for rows in list_blocks(n_rows if is_constant.any() else 0):
        columns = np.flatnonzero(is_constant)
        is_constant[columns] = (X[rows][:, columns] == first[columns]).all(axis=0)
    return np.where(is_constant, first, centre)


def _sum_columns(X, weight):
    """Weighted sums of the columns of a block."""
    if issparse(X):
        return np.asarray(X.sum(axis=0) if weight is None else X.T @ weight).ravel()
    X = X if weight is None else X * weight[:, np.newaxis]
    return reduce_columns(np.add, X)


def scale_extremes(
    X: np.ndarray | csr_array, is_penalised: bool
) -> tuple[np.ndarray | csr_array, np.ndarray]:
    """Multiply columns of very large or small numbers by powers of two.

    Returns (X, factors).
    """
    factors = np.ones(X.shape[1])
    if not min(X.shape) or is_within(X, 1.0 / LARGE, LARGE):
        return X, factors
    largest = find_largest(X)
    is_extreme = largest > LARGE
    if not is_penalised:
        is_extreme |= (largest > 0.0) & (largest < 1.0 / LARGE)
    if not is_extreme.any():
        return X, factors
    # The smallest float64 has no inverse.
    exponents = np.minimum(-np.frexp(largest[is_extreme])[1], 1000)
    factors[is_extreme] = np.ldexp(1.0, exponents)
    if is_stored(X):
        return MappedRows(
            X, partial(_scale_columns, factors=factors), len(factors), is_sparse(X)
        ), factors
    return _scale_columns(X, factors), factors


def _scale_columns(X, factors):
    """Multiply the columns of a table."""
    return (X @ diags_array(factors)).tocsr() if issparse(X) else X * factors


class LogisticLikelihood:
    r"""Likelihood of multinomial logistic regression on a table.

    Class k has the score :math:`f_k(x) = b_k + \beta_k^T (x - c)` and the probability
    :math:`e^{f_k} / \sum_l e^{f_l}`. Dense columns are centred by their means c if
    there is an intercept, sparse ones only if there is also a penalty: then
    coefficients are well determined even if the columns are far from zero.
    """

    def __init__(
        self,
        X: np.ndarray | csr_array,
        codes,
        n_classes: int,
        weight: np.ndarray | None,
        *,
        fit_intercept: bool,
        is_symmetric: bool,
        strength: float | np.ndarray,
        l1_strength: float | np.ndarray = 0.0,
        n_threads: int = 1,
    ) -> None:
        is_penalised = bool(np.any(strength) or np.any(l1_strength))
        self.X, self.factors = scale_extremes(lay_out(X), is_penalised)
        self.codes = codes
        if isinstance(codes, np.ndarray):
            self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.n_classes = n_classes
        self.weight = weight
        self.fit_intercept = int(bool(fit_intercept))  # also the number of intercepts
        self.n_scores = n_classes if is_symmetric and n_classes > 2 else n_classes - 1
        #: Penalties of the slopes of the scaled columns.
        self.l1 = l1_strength * self.factors
        self.l2 = strength * self.factors * self.factors
        self.is_penalised = is_penalised
        self.n_threads = n_threads
        self.n_rows, self.n_columns = X.shape
        self.n_parameters = self.fit_intercept + self.n_columns
        self.shape = (self.n_scores, self.n_parameters)
        self.total_weight = float(self.n_rows if weight is None else add_up(weight))
        self.centre = np.zeros(self.n_columns)
        # Centred products of a sparse table are differences, whose rounding errors
        # could look like variance if no penalty is added.
        is_centred = is_penalised or not is_sparse(X)
        if self.fit_intercept and self.n_columns and is_centred:
            self.centre = find_centre(self.X, weight)
        self._choose_way()

    @property
    def is_tied(self):
        """Whether a number added to all intercepts changes no probability."""
        return self.n_scores == self.n_classes and self.fit_intercept

    def _choose_way(self) -> None:
        """Decide whether one pass over the rows computes all sums."""
        width = -(-self.n_parameters // PANEL_WIDTH) * PANEL_WIDTH
        n_pairs = self.n_scores * (self.n_scores + 1) // 2
        n_numbers = max(1, n_pairs * width**2)
        self._width, self._n_pairs = width, n_pairs
        is_dense = not is_sparse(self.X)
        self._is_compiled = is_dense and 0 < n_numbers <= MAX_NUMBERS_OF_ONE
        self._most_stretches = MAX_NUMBERS // n_numbers

    def replace_columns(self, X, l2, l1: float = 0.0) -> LogisticLikelihood:
        """Return the likelihood of the same rows with other columns and penalties."""
        return LogisticLikelihood(
            X,
            self.codes,
            self.n_classes,
            self.weight,
            fit_intercept=self.fit_intercept,
            is_symmetric=self.n_scores == self.n_classes,
            strength=l2,
            l1_strength=l1,
            n_threads=self.n_threads,
        )

    def take_sample(self, step: int) -> LogisticLikelihood:
        """Return that of every ``step``-th row, with as large a part of the penalty."""
        return LogisticLikelihood(
            take_every(self.X, step),
            take_every(self.codes, step),
            self.n_classes,
            None if self.weight is None else take_every(self.weight, step),
            fit_intercept=self.fit_intercept,
            is_symmetric=self.n_scores == self.n_classes,
            strength=self.l2 / step,
            l1_strength=self.l1 / step,
            n_threads=self.n_threads,
        )

    def count_curvatures(self):
        """Count the curvatures of rows that are stored while a Hessian is summed."""
        n_rows = min(self.n_rows, BLOCK_ROWS)
        return 0 if self._is_compiled else self._n_pairs * n_rows

    # ------------------------------------------------------------------ coefficients
    def start(self):
        """Coefficients of zero."""
        return np.zeros(self.shape)

    def centre_coefficients(self, coef, intercept):
        """Convert coefficients to those of the centred columns."""
        coef = coef / self.factors
        if not self.fit_intercept:
            return coef
        return np.column_stack([intercept + coef @ self.centre, coef])

    def uncentre(self, theta):
        """(slopes, intercepts) of the columns without centring."""
        theta = np.reshape(theta, self.shape)
        if not self.fit_intercept:
            return theta, np.zeros(self.n_scores)
        return theta[:, 1:], theta[:, 0] - theta[:, 1:] @ self.centre

    def restore_coefficients(self, theta):
        """(coef, intercept) of the columns of the table."""
        slopes, intercept = self.uncentre(theta)
        return slopes * self.factors, intercept

    @cached_property
    def units(self):
        """Root mean square of each centred column, 1 for the intercept."""
        sums = np.zeros(self.n_columns)
        step = min(max(UNIT_NUMBERS // max(self.n_columns, 1), 1), 4096)
        for rows in list_blocks(self.n_rows, step):
            X = read_rows(self.X, rows)
            weight = read_weights(self.weight, rows, X.shape[0])
            if issparse(X):
                sums += np.asarray(X.multiply(X).T @ weight)
            else:
                sums += weight @ (X - self.centre) ** 2
        squares = sums / self.total_weight
        if is_sparse(self.X):
            squares = np.maximum(squares - self.centre**2, 0.0)
        units = np.sqrt(squares)
        units[units == 0.0] = 1.0
        return np.concatenate([np.ones(self.fit_intercept), units])

    @cached_property
    def scales(self):
        """Roots of the second derivatives of the loss at the start, for one row.

        Without penalty they are the units of the columns, except for a factor.
        """
        fraction = (1.0 - 1.0 / self.n_classes) / self.n_classes
        added = np.zeros(self.n_parameters)
        added[self.fit_intercept :] = self.l2 / (fraction * self.total_weight)
        return np.sqrt(self.units**2 + added)

    # -------------------------------------------------------------------- evaluation
    def evaluate(self, theta: np.ndarray, order: int = HESSIAN) -> Evaluation:
        """Compute the loss, from order 1 its gradient, from order 2 its Hessian."""
        theta = np.asarray(theta, dtype=np.float64).reshape(self.shape)
        sum_up = self._sum_compiled if self._is_compiled else self._sum_by_products
        with np.errstate(over="ignore", invalid="ignore"):
            sums = sum_up(theta, order)
            return self._penalise(theta, *sums)

    def evaluate_products(self):
        """Weighted products of the centred columns, for Hessians."""
        if is_sparse(self.X) or not self.centre.any():
            weight = self.weight
            if weight is None:
                weight = np.broadcast_to(1.0, self.n_rows)
            products, _ = sum_products(self.X, weight, n_threads=self.n_threads)
            return self._centre_products(products)
        products = np.zeros((self.n_parameters, self.n_parameters))
        n_block = max(1024, BLOCK_NUMBERS // self.n_parameters)
        for rows in list_blocks(self.n_rows, min(n_block, BLOCK_ROWS)):
            # Centred first: rounding of large products could look like variance.
            centred = self.X[rows] - self.centre
            weight = read_weights(self.weight, rows, len(centred))
            products += sum_products(centred, weight, n_threads=self.n_threads)[0]
        return products

    def score_rows(self, theta, X):
        """Scores of rows of the table, one column for each score."""
        slopes, intercept = self.uncentre(theta)
        return np.asarray(X @ slopes.T) + intercept

    def read_scores(self, theta):
        """Scores of blocks of rows, with their slices."""
        for rows in list_blocks(self.n_rows):
            yield rows, self.score_rows(theta, read_rows(self.X, rows))

    def _penalise(self, theta, loss, margin, gradient, hessian):
        """Add the penalty, also on the mean of all intercepts, which is kept at 0."""
        slopes = theta[:, self.fit_intercept :]
        penalty = 0.5 * float((slopes**2 @ self.l2).sum())
        penalty += float((np.abs(slopes) @ self.l1).sum())
        tie = theta[:, 0].sum() if self.is_tied else 0.0
        penalty += 0.5 * self.total_weight * tie**2
        if gradient is not None:
            gradient[:, self.fit_intercept :] += self.l2 * slopes
            if self.is_tied:
                gradient[:, 0] += self.total_weight * tie
        if hessian is not None:
            diagonal = np.zeros(self.shape)
            diagonal[:, self.fit_intercept :] = self.l2
            hessian[np.diag_indices(len(hessian))] += diagonal.ravel()
            if self.is_tied:
                places = np.arange(self.n_scores) * self.n_parameters
                hessian[np.ix_(places, places)] += self.total_weight
        return Evaluation(loss + penalty, gradient, hessian, margin, loss)

    def _sum_compiled(self, theta, order):
        """Read every row once."""
        width = self._width
        n_stretches = len(
            divide_rows(min(self.n_rows, BLOCK_ROWS), self._most_stretches)
        )
        n_stretches -= 1
        coef = np.zeros((self.n_scores, width))
        coef[:, : self.n_parameters] = theta
        shift = np.zeros(width)
        shift[self.fit_intercept : self.n_parameters] = self.centre
        totals = np.zeros((n_stretches, 2))
        totals[:, 1] = np.inf
        n_scores, n_groups = self.n_scores, 0
        if n_scores > 1:
            n_groups = -(-n_scores // PANEL_WIDTH)
            n_scores = -(-n_scores // TILE_HEIGHT) * TILE_HEIGHT
        groups = np.zeros((n_groups * PANEL_WIDTH, width))
        groups[: len(coef) if n_groups else 0] = coef if n_groups else 0.0
        groups = groups.reshape(n_groups, PANEL_WIDTH, width).transpose(0, 2, 1).copy()
        gradient = np.zeros((n_stretches, n_scores, width if order else 0))
        shape = (self._n_pairs, width, width) if order == HESSIAN else (0, 0, 0)
        hessian = np.zeros((n_stretches, *shape))
        for rows in list_blocks(self.n_rows):
            X = self.X[rows]
            bounds = divide_rows(len(X), self._most_stretches)
            some = slice(0, len(bounds) - 1)
            sum_likelihood(
                X,
                self.fit_intercept,
                shift,
                None if self.weight is None else self.weight[rows],
                self.codes[rows],
                self.n_classes,
                coef,
                groups,
                bounds,
                totals[some],
                gradient[some],
                hessian[some],
                order,
                min(self.n_threads, some.stop),
            )
        loss, margin = totals[:, 0].sum(), totals[:, 1].min()
        if order == LOSS:
            return loss, margin, None, None
        gradient = gradient.sum(axis=0)[: self.n_scores, : self.n_parameters]
        if order == GRADIENT:
            return loss, margin, gradient, None
        blocks = hessian.sum(axis=0)[:, : self.n_parameters, : self.n_parameters]
        blocks = np.triu(blocks) + np.triu(blocks, 1).transpose(0, 2, 1)
        return loss, margin, gradient, self._join_blocks(blocks)

    def _sum_by_products(self, theta, order):
        """Read the rows once for the scores and once for each sum."""
        loss, margin, gradient = 0.0, np.inf, np.zeros(self.shape)
        products = [
            ProductSums(self.n_columns, 0, self.n_threads)
            for _ in range(self._n_pairs if order == HESSIAN else 0)
        ]
        n_block = BLOCK_ROWS
        if order != HESSIAN:
            n_block = min(n_block, max(1024, BLOCK_NUMBERS // self.n_scores))
        for rows in list_blocks(self.n_rows, n_block):
            of_block = self._sum_block(theta, order, rows, products)
            loss, margin = loss + of_block[0], min(margin, of_block[1])
            if order:
                gradient += of_block[2]
        hessian = None
        if order == HESSIAN:
            hessian = self._join_blocks(
                [self._centre_products(sums.finish()[0]) for sums in products]
            )
        return loss, margin, gradient if order else None, hessian

    def _sum_block(self, theta, order, rows, products):
        """Add up a block of rows; weighted products of columns are added to others."""
        X = read_rows(self.X, rows)
        scores = np.ascontiguousarray(self.score_rows(theta, X))
        n_rows = len(scores)
        bounds = divide_rows(n_rows)
        totals = np.zeros((len(bounds) - 1, 2))
        totals[:, 1] = np.inf
        residuals = np.empty((self.n_scores if order else 0, n_rows))
        n_pairs = self._n_pairs if order == HESSIAN else 0
        curvatures = np.empty((n_pairs, n_rows))
        judge_scores(
            scores,
            None if self.weight is None else self.weight[rows],
            self.codes[rows],
            self.n_classes,
            bounds,
            totals,
            residuals,
            curvatures,
            min(self.n_threads, len(totals)),
        )
        loss, margin = totals[:, 0].sum(), totals[:, 1].min()
        if order == LOSS:
            return loss, margin, None
        gradient = np.asarray(X.T @ residuals.T).T
        if self.fit_intercept:
            sums = residuals.sum(axis=1)
            gradient = gradient - np.outer(sums, self.centre)
            gradient = np.column_stack([sums, gradient])
        n_sums = len(products) * MAX_STRETCHES * (1 + self.n_columns) ** 2
        for sums, curvature in zip(products, curvatures, strict=True):
            sums.add(X, curvature, None)
            if len(products) > 1 and n_sums > MAX_NUMBERS:
                sums.fold()
        return loss, margin, gradient

    def _centre_products(self, products):
        """Products of the centred columns, from those of the columns."""
        if not self.fit_intercept:
            return products[1:, 1:]
        if self.centre.any():
            shift = np.outer(self.centre, products[0, 1:])
            square = np.outer(self.centre, self.centre * products[0, 0])
            products[1:, 1:] -= shift + shift.T - square
            products[0, 1:] -= products[0, 0] * self.centre
            products[1:, 0] = products[0, 1:]
        return products

    def _join_blocks(self, blocks):
        """Assemble the blocks for each pair of scores."""
        size = self.n_parameters
        hessian = np.empty((self.n_scores * size, self.n_scores * size))
        pair = 0
        for k in range(self.n_scores):
            for other in range(k, self.n_scores):
                one = slice(k * size, (k + 1) * size)
                two = slice(other * size, (other + 1) * size)
                hessian[one, two] = blocks[pair]
                hessian[two, one] = blocks[pair].T
                pair += 1
        return hessian
