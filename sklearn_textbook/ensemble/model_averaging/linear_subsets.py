"""Averaging over linear regressions on subsets of the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sklearn_textbook._contract.tables import check_sizes
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble.model_averaging.subsets import (
    MOST_CELLS,
    AveragedSubsets,
    SubsetRules,
    explore_subsets,
)
from sklearn_textbook.linear_model.least_squares.solution import EPSILON, solve
from sklearn_textbook.linear_model.solve.row_triangle import reduce_rows

#: Shares of a coefficient that no row determines.
UNDETERMINED = 1e-7


@dataclass(frozen=True, eq=False)
class AveragedRegressions(AveragedSubsets):
    """Averages over the linear regressions within the window.

    Parameters are those of AveragedSubsets, and:

    Parameters
    ----------
    r_squared : ndarray of shape (n_models,)
        Fractions of the variance of the target that the models explain.
    coef, coef_std : ndarray of shape (n_columns,)
        Posterior means and standard deviations.
    mean : ndarray of shape (n_columns,)
        Means of the columns.
    target_mean : float
        Mean of the target, which all models predict there.
    covariance : ndarray of shape (n_columns, n_columns)
        Posterior covariance of the coefficients.
    noise : float
        Posterior mean of the variance of the noise.
    total_weight : float
        Sum of the weights.
    """

    r_squared: np.ndarray
    coef: np.ndarray
    coef_std: np.ndarray
    mean: np.ndarray
    target_mean: float
    covariance: np.ndarray
    noise: float
    total_weight: float

    _measures = ("n_parameters", "r_squared", "log_likelihood", "bic")

    @property
    def intercept(self) -> float:
        """Posterior mean of the intercept."""
        return float(self.target_mean - self.mean @ self.coef)

    @property
    def intercept_std(self) -> float:
        """Its posterior standard deviation."""
        along = self.mean @ self.covariance @ self.mean
        return float(np.sqrt(self.noise / self.total_weight + max(along, 0.0)))

    def predict_deviations(self, matrix):
        """Compute standard deviations of the targets of rows."""
        if sparse.issparse(matrix):
            matrix = matrix.toarray()
        centred = matrix - self.mean
        along = np.einsum("ij,ij->i", centred @ self.covariance, centred)
        fraction = 1.0 + 1.0 / self.total_weight
        return np.sqrt(self.noise * fraction + np.maximum(along, 0.0))


def average_regressions(
    averaging, X, target: np.ndarray, sample_weight: ArrayLike
) -> AveragedRegressions:
    """Average over the linear regressions on subsets of the columns."""
    rows, unit = _reduce_table(averaging, X, target, sample_weight)
    rules, groups = SubsetRules.read(averaging), list_groups(averaging.design_)
    solution = solve(rows)
    columns = np.where(solution.is_constant, 0.0, rows.slopes_triangle)
    columns, z = columns / solution.scales, rows.slopes_targets[:, 0]
    is_in, rank, residual = explore_subsets(
        columns, z, groups, rules, solution.threshold
    )
    n_subsets, n = len(is_in), rows.total_weight
    # What rounding leaves counts as no less than that.
    residual = np.maximum(residual + rows.residual[0], n * EPSILON**2)
    keeps = n - 1 - rank > EPSILON * n
    if not keeps.any():
        raise ValueError(
            f"Found n_samples={len(target)} with weights that sum to {n:g}, but the "
            f"sum must exceed {1 + rank.min()} for a model to have residual degrees of "
            "freedom; weights count as numbers of rows."
        )
    is_in, rank, residual = is_in[keeps], rank[keeps], residual[keeps]
    log_likelihood = -0.5 * n * (np.log(2 * np.pi * residual / n) + 1)
    log_likelihood -= n * np.log(unit)
    bic = (rank + 2) * np.log(n) - 2 * log_likelihood
    kept = rules.select(rules.compute_log_prior(is_in) - 0.5 * bic)
    is_in, rank, residual, bic = is_in[kept], rank[kept], residual[kept], bic[kept]
    total = z @ z + rows.residual[0]
    weights = rules.weigh(is_in, bic)
    variances = residual / (n - 1 - rank)
    coef, covariance, is_determined = _average_coefficients(
        *(columns, z, groups, is_in, weights, variances, solution.threshold)
    )
    factors = unit / solution.scales
    coef_std = np.sqrt(np.maximum(covariance.diagonal(), 0.0)) * factors
    return AveragedRegressions(
        is_in=is_in,
        weights=weights,
        n_parameters=rank + 2,
        log_likelihood=log_likelihood[kept],
        bic=bic,
        n_subsets=n_subsets,
        r_squared=np.maximum(0.0, 1 - residual / total) if total else 0.0 * rank,
        coef=coef * factors,
        coef_std=np.where(is_determined, coef_std, np.nan),
        mean=rows.mean,
        target_mean=float(rows.target_mean[0] * unit),
        covariance=covariance * factors * factors[:, np.newaxis],
        noise=float(weights @ variances * unit**2),
        total_weight=n,
    )


def _reduce_table(averaging, X, target, sample_weight):
    """Read the table, and reduce its rows to a triangle."""
    matrix, weight, is_present = averaging._read_training_table(X, sample_weight)
    target = target if is_present is None else target[is_present]
    check_sizes(target, type(averaging).__name__, is_present=is_present, what="y")
    unit = np.abs(target).max() or 1.0
    n_threads = count_threads(averaging.n_jobs, matrix.shape[0] * matrix.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        rows = reduce_rows(
            matrix, target[:, np.newaxis] / unit, weight, n_threads=n_threads
        )
    if not np.isfinite(rows.triangle).all():
        raise ValueError(
            "The numbers of X, times the square roots of their weights, are so large "
            "that their squares overflow: divide them by a power of ten."
        )
    return rows, unit


def list_groups(design):
    """List the numbers of the made columns of each term."""
    numbers = np.arange(len(design.names))
    return [numbers[design.find_columns(term)] for term in range(len(design.terms))]


def _average_coefficients(
    columns, z, groups, is_in, weights, variances, tol
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Average coefficients of columns of unit length."""
    n_columns = columns.shape[1]
    has_column = np.zeros((len(is_in), n_columns), dtype=bool)
    for term, group in enumerate(groups):
        has_column[:, group] = is_in[:, [term]]
    coefs = np.zeros((len(is_in), n_columns))
    within = np.zeros((n_columns, n_columns))
    is_determined = np.ones(n_columns, dtype=bool)
    sizes = has_column.sum(axis=1)
    for size in np.unique(sizes[sizes > 0]):
        models = np.flatnonzero(sizes == size)
        step = max(1, MOST_CELLS // (size * max(size, len(columns))))
        for start in range(0, len(models), step):
            some = models[start : start + step]
            used = np.nonzero(has_column[some])[1].reshape(len(some), size)
            blocks = np.moveaxis(columns[:, used], 0, 1)
            inverse = np.linalg.pinv(blocks, rcond=tol)
            coefs[some[:, np.newaxis], used] = inverse @ z
            scale = (weights * variances)[some, np.newaxis, np.newaxis]
            spread = scale * (inverse @ np.moveaxis(inverse, 1, 2))
            np.add.at(within, (used[:, :, np.newaxis], used[:, np.newaxis]), spread)
            fractions = np.einsum("bij,bji->bi", inverse, blocks)
            is_determined[used[fractions < 1 - UNDETERMINED]] = False
    coef = weights @ coefs
    apart = (coefs - coef) * np.sqrt(weights)[:, np.newaxis]
    return coef, within + apart.T @ apart, is_determined
