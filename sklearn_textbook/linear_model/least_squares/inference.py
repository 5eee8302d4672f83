"""Standard errors and goodness of fit of least squares."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, qr
from scipy.special import fdtrc, stdtrit

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook.linear_model.inference.frequencies import warn_of_fractions
from sklearn_textbook.linear_model.least_squares.solution import (
    add_penalty,
    decompose,
    is_triangle,
    make_root,
)

#: Rows that are predicted at a time.
BLOCK_ROWS = 2**14
#: Tolerance for rows and coefficients in the span of the training rows.
OUTSIDE = 1e-7
#: A constant is a combination of the columns if its squared residual is smaller.
CONSTANT = 1e-11
#: Residuals up to this fraction of the targets are rounding errors.
PERFECT = 1e-14


class LeastSquaresInference:
    r"""Inference from the triangle of rows and the solution, computed on access.

    All estimates are linear in the targets, :math:`b = A z`, and z has the variance
    :math:`\sigma^2` in each entry, so that the covariance of b is
    :math:`\sigma^2 A A^T`. ``root`` is that A; ``hat_root`` the B of
    :math:`B B^T = (X^T X + \alpha I)^+`, which is the same without a penalty.
    """

    def __init__(
        self, rows, solution, alpha: float, is_positive: bool, weight_type: str
    ) -> None:
        self.rows = rows
        self.solution = solution
        self.alpha = alpha
        self.is_positive = is_positive
        self.weight_type = weight_type

    # ------------------------------------------------------------------ decompositions
    @cached_property
    def _roots(self):
        """``root`` and ``hat_root``."""
        M, solution = self.rows.slopes_triangle, self.solution
        if self.alpha > 0:
            stacked, _ = add_penalty(M, self.rows.slopes_targets, self.alpha)
            turned, triangle = qr(stacked, mode="economic", check_finite=False)
            hat_root = np.linalg.inv(triangle) if len(triangle) else triangle
            return hat_root @ turned[: len(M)].T, hat_root
        if solution.rank == M.shape[1] > 0 and is_triangle(M):
            inverse, _ = lapack.dtrtri(M)
            return inverse, inverse
        root, _ = make_root(self._decomposed, solution.scales)
        return root, root

    @cached_property
    def _decomposed(self):
        solution = self.solution
        return decompose(
            self.rows.slopes_triangle,
            solution.scales,
            solution.is_constant,
            solution.threshold,
        )

    @cached_property
    def _span(self):
        """Unit vectors that span the rows, of columns of unit length; None: all."""
        solution = self.solution
        if solution.rank == len(solution.scales):
            return None
        _, _, right, rank = self._decomposed
        return right[:, :rank]

    def _is_outside(self, rows):
        """Return whether centred rows lie outside the span of the training rows."""
        if self._span is None or self.alpha > 0:
            return np.zeros(len(rows), dtype=bool)
        scaled = rows / self.solution.scales
        sizes = np.linalg.norm(scaled, axis=1)
        scaled = scaled - (scaled @ self._span) @ self._span.T
        return np.linalg.norm(scaled, axis=1) > OUTSIDE * sizes

    @cached_property
    def is_determined(self):
        """Whether the rows determine each slope."""
        return ~self._is_outside(np.diag(self.solution.scales))

    # ------------------------------------------------------------------ sums of squares
    @cached_property
    def n_observations(self):
        """Number of rows, or sum of the weights if these are frequencies."""
        rows = self.rows
        if self.weight_type == "variance":
            return rows.n_rows
        if rows.has_fractions:
            warn_of_fractions("set weight_type='variance'")
        return rows.total_weight

    @cached_property
    def residual_sum_of_squares(self):
        """Weighted sum of squares of the residuals."""
        lost = self.rows.slopes_targets - (
            self.rows.slopes_triangle @ self.solution.coefficients
        )
        lost[np.abs(lost) < PERFECT * np.linalg.norm(self.rows.slopes_targets)] = 0.0
        return self.rows.residual + (lost**2).sum(axis=0)

    @cached_property
    def has_constant(self):
        """Whether a constant is fitted: an intercept, or a combination of columns.

        Ones are such a combination if their projection on the columns is as long.
        """
        rows = self.rows
        if rows.has_intercept or not len(rows.origin):
            return rows.has_intercept
        scales = self.solution.scales
        right = rows.column_sums / scales
        factor = (rows.slopes_triangle / scales).T
        projected = np.linalg.lstsq(factor, right, rcond=None)[0]
        left_over = np.abs(factor @ projected - right).max()
        missing = abs(projected @ projected / rows.total_weight - 1.0)
        return bool(left_over <= CONSTANT * np.abs(right).max() and missing <= CONSTANT)

    @cached_property
    def total_sum_of_squares(self):
        """Weighted sum of squares of the targets, about their means with a constant."""
        rows = self.rows
        total = rows.residual + (rows.slopes_targets**2).sum(axis=0)
        if self.has_constant and not rows.has_intercept:
            total = np.maximum(total - rows.target_sums**2 / rows.total_weight, 0.0)
        return total

    @cached_property
    def _singular_values(self):
        return np.linalg.svd(self.rows.slopes_triangle, compute_uv=False)

    @cached_property
    def singular_values(self):
        """Singular values of the (centred, weighted) columns without scaling."""
        kept = min(self.rows.n_rows, self.rows.slopes_triangle.shape[1])
        found = self._singular_values
        # Centring reduces the rank by one: with few rows, one value is zero.
        return np.concatenate([found, np.zeros(max(0, kept - len(found)))])

    @cached_property
    def effective_rank(self):
        """Trace of the hat matrix, minus 1 for the intercept.

        NaN if negative slopes were forbidden, since there is no hat matrix.
        """
        if self.is_positive:
            return np.nan
        if self.alpha == 0:
            return self.solution.rank
        squares = self._singular_values**2
        return float((squares / (squares + self.alpha)).sum())

    @cached_property
    def residual_degrees_of_freedom(self):
        """Number of observations minus the degrees of freedom of the fit."""
        taken = self.effective_rank
        if self.alpha > 0 and not self.is_positive:
            squares = self._singular_values**2
            fractions = squares / (squares + self.alpha)
            taken = float((2 * fractions - fractions**2).sum())
        left_over = self.n_observations - self.rows.has_intercept - taken
        return max(left_over, 0) if left_over == left_over else np.nan

    # ------------------------------------------------------------------ goodness of fit
    @cached_property
    def residual_standard_error(self):
        """Estimated standard deviation; NaN without residual degrees of freedom."""
        freedom = self.residual_degrees_of_freedom
        if not freedom > 0:
            return np.full(len(self.residual_sum_of_squares), np.nan)
        return np.sqrt(self.residual_sum_of_squares / freedom)

    @cached_property
    def r_squared(self):
        """Fraction of the sum of squares that the model explains."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 - self.residual_sum_of_squares / self.total_sum_of_squares

    @cached_property
    def adjusted_r_squared(self):
        """R² with variances in place of sums of squares."""
        freedom = self.residual_degrees_of_freedom
        if not freedom > 0:
            return np.full(len(self.r_squared), np.nan)
        all_freedom = self.n_observations - self.has_constant
        return 1.0 - (1.0 - self.r_squared) * all_freedom / freedom

    @cached_property
    def n_explaining(self):
        """Degrees of freedom of F: the rank of the columns without the constant."""
        is_column = self.has_constant and not self.rows.has_intercept
        return self.effective_rank - is_column

    @cached_property
    def f_statistic(self):
        """Variance explained by the columns, divided by the residual variance."""
        explained, freedom = self.n_explaining, self.residual_degrees_of_freedom
        n_targets = len(self.r_squared)
        if not (explained > 0 and freedom > 0) or self.alpha > 0:
            return np.full(n_targets, np.nan)
        sums = self.total_sum_of_squares - self.residual_sum_of_squares
        with np.errstate(divide="ignore", invalid="ignore"):
            return sums / explained / (self.residual_sum_of_squares / freedom)

    @cached_property
    def f_p_value(self):
        """Probability of an F at least as large if all slopes are zero."""
        freedom = self.residual_degrees_of_freedom
        return fdtrc(self.n_explaining, freedom, self.f_statistic)

    @cached_property
    def log_likelihood(self):
        """Log-likelihood of the normal distribution, with the best variance."""
        n = self.n_observations
        extra = self.rows.sum_log_weight if self.weight_type == "variance" else 0.0
        with np.errstate(divide="ignore"):
            mean_square = np.log(self.residual_sum_of_squares / n)
        return 0.5 * (extra - n * (np.log(2 * np.pi) + 1.0 + mean_square))

    @cached_property
    def n_parameters(self):
        """Number of slopes, intercept and variance."""
        return self.effective_rank + self.rows.has_intercept + 1

    @cached_property
    def aic(self):
        """Akaike's criterion."""
        return 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @cached_property
    def bic(self):
        """Schwarz's criterion."""
        return np.log(self.n_observations) * self.n_parameters - (
            2.0 * self.log_likelihood
        )

    @cached_property
    def is_perfect(self) -> bool:
        """Whether the residuals, and all that depends on them, are rounding errors."""
        size = self.total_sum_of_squares + (
            self.rows.total_weight * self.rows.target_mean**2
        )
        return bool((self.residual_sum_of_squares <= PERFECT**2 * size).any())

    # ----------------------------------------------------------------- standard errors
    @cached_property
    def unit_errors(self):
        """Standard errors of the slopes for a residual standard error of 1."""
        n_columns = len(self.solution.scales)
        if self.is_positive or not self.residual_degrees_of_freedom > 0:
            return np.full(n_columns, np.nan)
        scales = self.solution.scales
        scaled = self._roots[0] * scales[:, np.newaxis]
        errors = np.sqrt((scaled**2).sum(axis=1)) / scales
        errors[~self.is_determined] = np.nan
        return errors

    @cached_property
    def unit_intercept_error(self):
        """Standard error of the intercept for a residual standard error of 1."""
        if not self.rows.has_intercept:
            return 0.0
        if self.is_positive or not self.residual_degrees_of_freedom > 0:
            return np.nan
        return float(self.compute_unit_errors(np.zeros((1, len(self.rows.origin))))[0])

    @cached_property
    def standard_errors(self):
        """Standard errors of the slopes, of shape (n_columns, n_targets)."""
        return np.multiply.outer(self.unit_errors, self.residual_standard_error)

    @cached_property
    def unit_covariance(self):
        """Covariance of the intercept and slopes for a residual variance of 1.

        Without an intercept, its row and column are zero.
        """
        return self._square(0)

    @cached_property
    def hat_inverse(self):
        """The same of the hat matrix, which differs with a penalty."""
        return self._square(1) if self.alpha > 0 else self.unit_covariance

    def _square(self, number):
        """Multiply a root by its transpose, and add the intercept."""
        n_columns = len(self.solution.scales)
        covariance = np.zeros((n_columns + 1, n_columns + 1))
        if self.is_positive:
            return np.full_like(covariance, np.nan)
        slopes = self._roots[number] @ self._roots[number].T
        covariance[1:, 1:] = slopes
        if self.rows.has_intercept:
            across = slopes @ self.rows.mean
            covariance[0, 0] = 1.0 / self.rows.total_weight + self.rows.mean @ across
            covariance[0, 1:] = covariance[1:, 0] = -across
        return covariance

    @cached_property
    def variance_inflation(self):
        """Variances of the slopes, relative to those for uncorrelated columns."""
        factors = (self.unit_errors * self.solution.scales) ** 2
        factors[self.solution.is_constant] = np.nan
        return factors

    def compute_unit_errors(self, X):
        """Compute standard errors of means for a residual standard error of 1.

        NaN where the training rows do not determine the mean.
        """
        if self.is_positive:
            return np.full(X.shape[0], np.nan)
        return self._measure(X, self._roots[0], np.nan)

    def compute_leverage(self, X):
        """Leverage of training rows: change of the fitted value with the target."""
        if self.is_positive:
            return np.full(X.shape[0], np.nan)
        return self._measure(X, self._roots[1], None) ** 2

    def _measure(self, X, root, outside):
        """Lengths of centred rows times a root, and of the mean."""
        lengths = np.empty(X.shape[0])
        constant = 1.0 / self.rows.total_weight if self.rows.has_intercept else 0.0
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = X[rows]
            block = block.toarray() if hasattr(block, "toarray") else block
            centered = block - self.rows.mean
            lengths[rows] = np.sqrt(((centered @ root) ** 2).sum(axis=1) + constant)
            if outside is not None:
                lengths[rows][self._is_outside(centered)] = outside
        return lengths

    def compute_quantile(self, level):
        """Return the quantile of Student's t distribution for a two-sided interval."""
        freedom = self.residual_degrees_of_freedom
        return stdtrit(freedom, (1.0 + level) / 2.0) if freedom > 0 else np.nan
