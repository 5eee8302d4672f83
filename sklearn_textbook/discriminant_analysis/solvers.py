"""Three solvers for discriminant directions and linear scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.linalg import lapack
from sklearn.covariance import shrunk_covariance

from sklearn_textbook._contract.parameters import is_real
from sklearn_textbook.discriminant_analysis.covariance import estimate_within
from sklearn_textbook.discriminant_analysis.row_space import estimate_rows, is_wide
from sklearn_textbook.discriminant_analysis.whiten import (
    EPSILON,
    ROUNDING,
    find_omitted,
    whiten,
)

#: The projection of a class's centre counts as 0 below this fraction of the largest.
NEGLIGIBLE = 1e-6
SINGULAR = (
    "The covariance matrix within classes is singular: columns are constant or "
    "linearly dependent within classes, or there are too few rows. Use solver='svd', "
    "which omits such directions, or shrinkage."
)


@dataclass(frozen=True)
class Discriminants:
    """Result of a solver.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_columns)
        Means of the classes.
    coef : ndarray of shape (n_classes, n_columns)
        Linear scores of the classes, for rows minus ``centre``.
    rank : int
        Dimensions in which rows of a class differ.
    is_dependent : ndarray of bool of shape (n_columns,)
        Columns that are linearly dependent within the classes; none if there are not
        enough rows for independent ones.
    directions : ndarray of shape (n_columns, n_directions) or None
        The columns of W, the best first.
    eigenvalues : ndarray of shape (n_directions,) or None
        Their scatter between the classes divided by that within.
    total : float
        The sum of all these eigenvalues.
    covariance : ndarray of shape (n_columns, n_columns) or None
        The covariance within the classes, as it was used.
    scatter : ndarray of shape (n_columns, n_columns) or None
        The mean scatter within the classes, if it was computed on the way.
    """

    means: np.ndarray
    coef: np.ndarray
    rank: int
    is_dependent: np.ndarray
    directions: np.ndarray | None = None
    eigenvalues: np.ndarray | None = None
    total: float = 0.0
    covariance: np.ndarray | None = None
    scatter: np.ndarray | None = None

    def multiply_covariance(self, factor: float) -> Discriminants:
        """Return the result for a multiple of the covariance within the classes."""
        if factor == 1.0:
            return self
        directions, covariance = self.directions, self.covariance
        return replace(
            self,
            coef=self.coef / factor,
            directions=None if directions is None else directions / np.sqrt(factor),
            covariance=None if covariance is None else covariance * factor,
        )


def solve_svd(table, priors: np.ndarray, tol: float) -> Discriminants:
    """Whiten the scatter within the classes, then decompose that of their centres."""
    whitening = whiten(table, tol)
    if not len(whitening.columns):
        raise ValueError(_describe_no_scatter(table))
    if whitening.rank == 0:
        raise ValueError(
            f"tol={tol} omits every direction in which rows of a class differ; it must "
            "be less than the largest singular value of the scaled rows."
        )
    offsets = whitening.means - priors @ whitening.means
    coordinates = whitening.map_centres(np.sqrt(priors)[:, np.newaxis] * offsets)
    basis, values, _ = linalg.svd(coordinates, full_matrices=False, check_finite=False)
    sizes = np.abs(whitening.means[:, whitening.columns]) / whitening.scale
    noise = ROUNDING * (1.0 + float(linalg.norm(sizes, axis=1).max()))
    is_kept = values > max(tol * values[0], noise)
    is_kept[table.n_classes - 1 :] = False  # N centres span N - 1 dimensions
    directions = whitening.map_back(basis[:, is_kept])
    directions = turn_directions(directions, offsets)
    is_dependent = np.zeros(table.n_columns, dtype=bool)
    if len(whitening.columns) <= table.n_rows - table.n_classes:
        is_dependent = whitening.find_dependent()
    return Discriminants(
        whitening.means,
        offsets @ directions @ directions.T,
        whitening.rank,
        is_dependent,
        directions,
        values[is_kept] ** 2,
        float(np.sum(values**2)),
        scatter=whitening.scatter,
    )


def solve_lsqr(table, priors: np.ndarray, shrinkage, estimator) -> Discriminants:
    """Solve for the linear scores with the covariance itself; no directions."""
    if is_wide(table, estimator):
        return _solve_wide(table, priors, shrinkage, projects=False)
    means, scatter, covariance = _estimate(table, shrinkage, estimator)
    scale = _find_deviation(covariance, means)
    if not np.isfinite(scale).any():
        raise ValueError(_describe_no_scatter(table))
    correlation = covariance / np.outer(scale, scale)
    right = ((means - priors @ means) / scale).T
    factor, info = lapack.dpotrf(correlation, clean=True)
    rank = table.n_columns
    is_dependent = np.zeros(rank, dtype=bool)
    if info == 0 and _invert_condition(correlation, factor) > rank * EPSILON:
        solved = lapack.dpotrs(factor, right)[0]
    else:
        values, vectors = linalg.eigh(correlation, check_finite=False)
        is_large = values > 10 * rank * EPSILON * values[-1]
        basis, rank = vectors[:, is_large], int(np.count_nonzero(is_large))
        solved = basis @ ((basis.T @ right) / values[is_large, np.newaxis])
        varies = np.isfinite(scale)
        if np.count_nonzero(varies) <= table.n_rows - table.n_classes:
            is_dependent = varies & find_omitted(basis)
    return Discriminants(
        *(means, solved.T / scale, rank, is_dependent),
        covariance=covariance,
        scatter=scatter,
    )


def solve_eigen(table, priors: np.ndarray, shrinkage, estimator) -> Discriminants:
    """Solve the generalised eigenproblem of the scatter between and within."""
    if is_wide(table, estimator):
        return _solve_wide(table, priors, shrinkage, projects=True)
    means, scatter, within = _estimate(table, shrinkage, estimator)
    scale = _find_deviation(within, means)
    correlation = within / np.outer(scale, scale)
    factor, info = lapack.dpotrf(correlation, clean=True)
    n_columns = table.n_columns
    if info or _invert_condition(correlation, factor) <= n_columns * EPSILON:
        raise linalg.LinAlgError(SINGULAR)
    offsets = means - priors @ means
    between = _find_between(priors, shrinkage, offsets) / np.outer(scale, scale)
    n_directions = min(table.n_classes - 1, n_columns)
    values, directions = np.empty(0), np.empty((n_columns, 0))
    if n_directions:
        last = [n_columns - n_directions, n_columns - 1]
        values, directions = linalg.eigh(between, correlation, subset_by_index=last)
    directions = directions[:, ::-1] / scale[:, np.newaxis]
    coef = lapack.dpotrs(factor, (offsets / scale).T)[0].T / scale
    total = float(np.trace(lapack.dpotrs(factor, between)[0]))
    return Discriminants(
        means,
        coef,
        n_columns,
        np.zeros(n_columns, dtype=bool),
        turn_directions(directions, offsets),
        values[::-1],
        total,
        within,
        scatter,
    )


def _solve_wide(table, priors, shrinkage, *, projects):
    """Solve like "lsqr", or like "eigen" if it projects, in the space of the rows."""
    covariance = estimate_rows(table, shrinkage)
    means, rows, is_shrunk = covariance.means, covariance.rows, covariance.is_shrunk
    deviation = covariance.measure_deviations()
    varies = deviation > ROUNDING * np.abs(means).max(axis=0)
    if projects and not (is_shrunk and varies.all()):
        raise linalg.LinAlgError(SINGULAR)
    if not varies.any():
        raise ValueError(_describe_no_scatter(table))
    # The columns are scaled such that the matrix is the identity outside of the basis,
    # or zero without shrinkage.
    unit = np.sqrt(covariance.added) if is_shrunk else deviation
    scale = np.where(varies, unit, np.inf)
    offsets = means - priors @ means
    rows, right = rows / scale, offsets / scale
    spanning = np.vstack((rows, right)) if is_shrunk else rows
    basis, _ = linalg.qr(spanning.T, mode="economic", check_finite=False)
    rows, right = rows @ basis, right @ basis
    values, vectors = linalg.eigh(rows.T @ rows, check_finite=False)
    rank = table.n_columns
    is_dependent = np.zeros(rank, dtype=bool)
    if is_shrunk:
        values = np.maximum(values, 0.0) + 1.0
    else:
        is_large = values > 10 * rank * EPSILON * values[-1]
        values, vectors = values[is_large], vectors[:, is_large]
        rank = len(values)
        if np.count_nonzero(varies) <= table.n_rows - table.n_classes:
            is_dependent = varies & find_omitted(basis @ vectors)
    whitened = vectors / np.sqrt(values)
    back = basis @ whitened / scale[:, np.newaxis]
    right = right @ whitened
    solution = Discriminants(means, right @ back.T, rank, is_dependent)
    if not projects:
        return solution
    centres = np.sqrt(priors)[:, np.newaxis] * right
    between = centres.T @ centres
    n_outside = table.n_columns - len(values)
    outside = 0.0
    if is_real(shrinkage):
        spread = np.sqrt(priors)[:, np.newaxis] * offsets
        outside = shrinkage * float(np.sum(spread**2)) / table.n_columns
        outside /= covariance.added[0]
        between *= 1.0 - shrinkage
        between += np.diag(outside / values)
    n_directions = min(table.n_classes - 1, len(values))
    found, turned = linalg.eigh(between, check_finite=False)
    directions = back @ turned[:, ::-1][:, :n_directions]
    return replace(
        solution,
        directions=turn_directions(directions, offsets),
        eigenvalues=found[::-1][:n_directions],
        total=float(np.trace(between)) + n_outside * outside,
    )


def turn_directions(directions: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Choose signs so that the centre of the last class is on the positive side.

    If its projection is nearly 0, the last class but one decides, and so on.
    """
    projected = (offsets @ directions)[::-1]
    is_clear = np.abs(projected) >= NEGLIGIBLE * np.abs(projected).max(axis=0)
    deciding = np.take_along_axis(projected, is_clear.argmax(axis=0)[np.newaxis], 0)
    return directions * np.where(deciding[0] < 0.0, -1.0, 1.0)


def _estimate(table, shrinkage, estimator):
    """Means, the mean scatter, and the covariance within the classes."""
    means, scatter = table.compute_scatter()
    return means, scatter, estimate_within(table, shrinkage, estimator, scatter)


def _find_between(priors, shrinkage, offsets):
    """Find the covariance of the centres, shrunk like the one within the classes."""
    centres = np.sqrt(priors)[:, np.newaxis] * offsets
    between = centres.T @ centres
    return shrunk_covariance(between, shrinkage) if is_real(shrinkage) else between


def _find_deviation(covariance, means):
    """Find standard deviations, infinite for columns that vary only by rounding."""
    deviation = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    is_constant = deviation <= ROUNDING * np.abs(means).max(axis=0)
    return np.where(is_constant, np.inf, deviation)


def _invert_condition(matrix, factor):
    """Reciprocal condition number of a matrix, from its Cholesky factor."""
    norm = float(np.abs(matrix).sum(axis=0).max())
    return lapack.dpocon(factor, norm)[0]


def _describe_no_scatter(table) -> str:
    return (
        f"The {table.n_rows} rows do not differ within their "
        f"{'class' if table.n_classes == 1 else 'classes'}: the scatter within "
        "classes is zero, and all directions are equally good. "
        "LinearDiscriminantAnalysis requires two different rows in some class."
    )
