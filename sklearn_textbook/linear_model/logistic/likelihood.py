"""The logistic likelihood: its value, gradient and Hessian at given coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import issparse

from sklearn_textbook.linear_model.solve._row_sums import judge_scores, sum_likelihood
from sklearn_textbook.linear_model.solve.row_sums import (
    PANEL_WIDTH,
    divide_rows,
    sum_products,
)

#: Numbers that the sums of all stretches of rows may take, and those of one.
MOST_NUMBERS, MOST_NUMBERS_OF_ONE = 2**23, 2**22
LOSS, GRADIENT, HESSIAN = 0, 1, 2
TOO_LARGE = (
    "Columns hold numbers whose squares are too large for a float64; give them in a "
    "larger unit."
)


@dataclass(frozen=True)
class Evaluation:
    """What the likelihood says of coefficients.

    Parameters
    ----------
    loss : float
        Negative log-likelihood, with the penalty.
    gradient : ndarray of shape (n_scores, n_parameters) or None
        Its derivatives by the coefficients.
    hessian : ndarray of shape (n_scores * n_parameters,) * 2 or None
        Its second derivatives.
    margin : float
        Smallest lead of a row's own class over another, in scores: above 0 if all rows
        are classified correctly.
    likelihood_loss : float
        Negative log-likelihood without the penalty.
    """

    loss: float
    gradient: np.ndarray | None
    hessian: np.ndarray | None
    margin: float
    likelihood_loss: float


def find_centre(X, weight):
    """Means of the columns; of a constant column its value, without rounding."""
    centre = np.average(X, axis=0, weights=weight)
    first = X[0]
    for column in np.flatnonzero(np.abs(first - centre) <= 1e-9 * np.abs(centre)):
        if (X[:, column] == first[column]).all():
            centre[column] = first[column]
    return centre


class LogisticLikelihood:
    r"""Likelihood of multinomial logistic regression on a table.

    Class k has the score :math:`f_k(x) = b_k + \beta_k^T (x - c)` and the probability
    :math:`e^{f_k} / \sum_l e^{f_l}`. Dense columns are taken from their means c if
    there is an intercept: then coefficients stay well determined however far from zero
    the columns lie.

    Parameters
    ----------
    X : ndarray of float64 or csr_array, shape (n_rows, n_columns)
        The table.
    codes : ndarray of int32, shape (n_rows,)
        Class numbers.
    n_classes : int
        Number of classes.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights above 0; None: 1 each.
    fit_intercept : bool
        Whether there are intercepts; otherwise c and b are 0.
    is_symmetric : bool
        Whether each class has coefficients; otherwise those of the last are 0. Of two
        classes, the second one has them and the first has 0.
    strength : float
        Of the penalty: half the sum of squares of the slopes, times this.
    n_threads : int
        Number of threads.
    """

    def __init__(
        self,
        X,
        codes,
        n_classes,
        weight,
        *,
        fit_intercept,
        is_symmetric,
        strength,
        n_threads,
    ):
        self.X = X
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.n_classes = n_classes
        self.weight = weight
        self.fit_intercept = int(bool(fit_intercept))  # also the number of intercepts
        self.n_scores = n_classes if is_symmetric and n_classes > 2 else n_classes - 1
        self.strength = strength
        self.n_threads = n_threads
        self.n_rows, self.n_columns = X.shape
        self.n_parameters = self.fit_intercept + self.n_columns
        self.shape = (self.n_scores, self.n_parameters)
        self.total_weight = float(self.n_rows if weight is None else weight.sum())
        self.centre = np.zeros(self.n_columns)
        if self.fit_intercept and not issparse(X) and self.n_columns:
            self.centre = find_centre(X, weight)
        self._choose_way()

    @property
    def is_tied(self):
        """Whether a number added to all intercepts changes no probability."""
        return self.n_scores == self.n_classes and self.fit_intercept

    def _choose_way(self):
        """Decide whether rows are read once, or the products of columns are many."""
        width = -(-self.n_parameters // PANEL_WIDTH) * PANEL_WIDTH
        n_pairs = self.n_scores * (self.n_scores + 1) // 2
        n_numbers = max(1, n_pairs * width**2)
        self._width, self._n_pairs = width, n_pairs
        self._is_compiled = (
            not issparse(self.X) and 0 < n_numbers <= MOST_NUMBERS_OF_ONE
        )
        self._bounds = divide_rows(self.n_rows, MOST_NUMBERS // n_numbers)

    # ------------------------------------------------------------------ coefficients
    def start(self):
        """Coefficients of zero."""
        return np.zeros(self.shape)

    def centre_coefficients(self, coef, intercept):
        """Coefficients for centred columns, from those for the columns themselves."""
        if not self.fit_intercept:
            return np.array(coef)
        return np.column_stack([intercept + coef @ self.centre, coef])

    def restore_coefficients(self, theta):
        """(coef, intercept) for the columns themselves."""
        if not self.fit_intercept:
            return theta.copy(), np.zeros(self.n_scores)
        coef = theta[:, 1:].copy()
        return coef, theta[:, 0] - coef @ self.centre

    @cached_property
    def units(self):
        """Root mean square of each centred column, 1 for the intercept."""
        sums = np.zeros(self.n_columns)
        for first in range(0, self.n_rows, 4096):
            rows = self.X[first : first + 4096]
            weight = 1.0 if self.weight is None else self.weight[first : first + 4096]
            if issparse(rows):
                with np.errstate(over="ignore"):
                    squares = rows.multiply(rows)
                sums += np.asarray(squares.T @ (weight * np.ones(rows.shape[0])))
            else:
                with np.errstate(over="ignore"):
                    squares = (rows - self.centre) ** 2
                sums += (weight * np.ones(len(rows))) @ squares
        if not np.isfinite(sums).all():
            raise ValueError(TOO_LARGE)
        units = np.sqrt(sums / self.total_weight)
        units[units == 0.0] = 1.0
        return np.concatenate([np.ones(self.fit_intercept), units])

    # -------------------------------------------------------------------- evaluation
    def evaluate(self, theta, order=HESSIAN):
        """Compute the loss, from order 1 its gradient, from order 2 its Hessian.

        Parameters
        ----------
        theta : ndarray of shape (n_scores, n_parameters)
            Intercept, if there is one, and slopes of each score, for centred columns.
        order : {0, 1, 2}, default=2
            What to compute.

        Returns
        -------
        evaluation : Evaluation
            All of it.

        Raises
        ------
        ValueError
            If products of columns are too large for a float64.
        """
        theta = np.asarray(theta, dtype=np.float64).reshape(self.shape)
        sum_up = self._sum_compiled if self._is_compiled else self._sum_by_products
        with np.errstate(over="ignore", invalid="ignore"):
            loss, margin, gradient, hessian = sum_up(theta, order)
            if hessian is not None and not np.isfinite(hessian).all():
                raise ValueError(TOO_LARGE)
            return self._penalise(theta, loss, margin, gradient, hessian)

    def score_rows(self, theta):
        """Scores of the rows, of shape (n_rows, n_scores)."""
        coef, intercept = self.restore_coefficients(np.reshape(theta, self.shape))
        return self.X @ coef.T + intercept

    def _penalise(self, theta, loss, margin, gradient, hessian):
        """Add the penalty; equal intercepts of all classes are kept at 0, too."""
        slopes = theta[:, self.fit_intercept :]
        penalty = 0.5 * self.strength * float((slopes**2).sum())
        tie = theta[:, 0].sum() if self.is_tied else 0.0
        penalty += 0.5 * self.total_weight * tie**2
        if gradient is not None:
            gradient[:, self.fit_intercept :] += self.strength * slopes
            if self.is_tied:
                gradient[:, 0] += self.total_weight * tie
        if hessian is not None:
            diagonal = np.full(self.shape, self.strength)
            if self.fit_intercept:
                diagonal[:, 0] = 0.0
            hessian[np.diag_indices(len(hessian))] += diagonal.ravel()
            if self.is_tied:
                places = np.arange(self.n_scores) * self.n_parameters
                hessian[np.ix_(places, places)] += self.total_weight
        return Evaluation(loss + penalty, gradient, hessian, margin, loss)

    def _sum_compiled(self, theta, order):
        """Read every row once."""
        width, n_stretches = self._width, len(self._bounds) - 1
        coef = np.zeros((self.n_scores, width))
        coef[:, : self.n_parameters] = theta
        shift = np.zeros(width)
        shift[self.fit_intercept : self.n_parameters] = self.centre
        totals = np.zeros((n_stretches, 2))
        totals[:, 1] = np.inf
        gradient = np.zeros((n_stretches, self.n_scores, width if order else 0))
        shape = (self._n_pairs, width, width) if order == HESSIAN else (0, 0, 0)
        hessian = np.zeros((n_stretches, *shape))
        sum_likelihood(
            self.X,
            self.fit_intercept,
            shift,
            self.weight,
            self.codes,
            self.n_classes,
            coef,
            self._bounds,
            totals,
            gradient,
            hessian,
            order,
            min(self.n_threads, n_stretches),
        )
        loss, margin = totals[:, 0].sum(), totals[:, 1].min()
        if order == LOSS:
            return loss, margin, None, None
        gradient = gradient.sum(axis=0)[:, : self.n_parameters]
        if order == GRADIENT:
            return loss, margin, gradient, None
        blocks = hessian.sum(axis=0)[:, : self.n_parameters, : self.n_parameters]
        blocks = np.triu(blocks) + np.triu(blocks, 1).transpose(0, 2, 1)
        return loss, margin, gradient, self._join_blocks(blocks)

    def _sum_by_products(self, theta, order):
        """Read the rows once for the scores, and once for each sum."""
        scores = np.ascontiguousarray(self.score_rows(theta))
        bounds = divide_rows(self.n_rows)
        totals = np.zeros((len(bounds) - 1, 2))
        totals[:, 1] = np.inf
        residuals = np.empty((self.n_scores if order else 0, self.n_rows))
        n_pairs = self._n_pairs if order == HESSIAN else 0
        curvatures = np.empty((n_pairs, self.n_rows))
        judge_scores(
            scores,
            self.weight,
            self.codes,
            self.n_classes,
            bounds,
            totals,
            residuals,
            curvatures,
            min(self.n_threads, len(totals)),
        )
        loss, margin = totals[:, 0].sum(), totals[:, 1].min()
        if order == LOSS:
            return loss, margin, None, None
        gradient = np.asarray(self.X.T @ residuals.T).T
        if self.fit_intercept:
            sums = residuals.sum(axis=1)
            gradient = gradient - np.outer(sums, self.centre)
            gradient = np.column_stack([sums, gradient])
        if order == GRADIENT:
            return loss, margin, gradient, None
        blocks = np.array([self._sum_curvature(each) for each in curvatures])
        return loss, margin, gradient, self._join_blocks(blocks)

    def _sum_curvature(self, curvature):
        """Products of the centred columns, weighted."""
        products, _ = sum_products(self.X, curvature, n_threads=self.n_threads)
        if not self.fit_intercept:
            return products[1:, 1:]
        moved = np.eye(self.n_parameters)
        moved[1:, 0] = -self.centre
        return moved @ products @ moved.T if self.centre.any() else products

    def _join_blocks(self, blocks):
        """Put the blocks of each two scores together."""
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
