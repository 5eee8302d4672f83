"""From the triangle of rows to coefficients: least squares, ridge, no negative ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr
from scipy.optimize import nnls

EPSILON = np.finfo(np.float64).eps
#: What a column may vary, in units of its rounding, and still be constant.
ROUNDINGS = 4.0


@dataclass(frozen=True, eq=False)
class LeastSquaresSolution:
    """Coefficients, and what was found out about the columns on the way.

    Parameters
    ----------
    coefficients : ndarray of shape (n_columns, n_targets)
        Slopes.
    intercepts : ndarray of shape (n_targets,)
        Intercepts; zeros if there is none.
    rank : int
        Rank of the (centred) columns.
    scales : ndarray of shape (n_columns,)
        Lengths of the centred columns; 1 for those that are constant.
    is_constant : ndarray of bool, shape (n_columns,)
        Columns that vary no more than their values are rounded.
    threshold : float
        Singular values of columns of unit length count from that share of the largest.
    inverse : ndarray of shape (n_columns, n_columns) or None
        Inverse of the triangle, if there are as many rows as columns and it is needed
        to know that the rank is full.
    """

    coefficients: np.ndarray
    intercepts: np.ndarray
    rank: int
    scales: np.ndarray
    is_constant: np.ndarray
    threshold: float
    inverse: np.ndarray | None


def solve(rows, *, alpha=0.0, is_positive=False, tol=1e-10):
    r"""Minimise the squares of the residuals.

    .. math:: \min_b \; \|M b - z\|^2 + \alpha \|b\|^2,

    where M and z are the triangle and targets of the centred columns. If M has full
    rank, that is a triangle to solve. If it has not, and alpha is 0, the shortest of
    all solutions b is taken. The intercept follows from the means.

    Parameters
    ----------
    rows : RowTriangle
        What least squares needs to know of the rows.
    alpha : float, default=0.0
        Weight of the penalty (ridge).
    is_positive : bool, default=False
        Whether no slope may be negative.
    tol : float, default=1e-10
        Least share of the largest singular value that is not zero, of columns that are
        made of unit length first.

    Returns
    -------
    solution : LeastSquaresSolution
        The coefficients.
    """
    M, z = rows.slopes_triangle, rows.slopes_targets
    scales, is_constant, threshold = _measure_columns(rows, M, tol)
    inverse, rank, found = None, None, None
    if M.shape[1] == 0:
        rank, found = 0, np.zeros((0, z.shape[1]))
    elif not is_constant.any():
        if M.shape[0] < M.shape[1]:
            rank, found = _solve_wide(M, z, scales, threshold)
        elif M.shape[0] == M.shape[1] and _is_triangle(M):
            inverse = _invert_well(M, scales, threshold)
            if inverse is not None:
                rank = len(M)
    if rank is None:
        rank, found = _solve_by_singular_values(M, z, scales, is_constant, threshold)
    if is_positive:
        found = _solve_without_negative(M, z, alpha)
    elif alpha > 0:
        found = _solve_ridge(M, z, alpha)
    elif found is None:
        found = _solve_triangle(M, z)
    intercepts = np.zeros(z.shape[1])
    if rows.has_intercept:
        first = rows.triangle[0]
        along = (rows.targets[0] - first[1:] @ found) / first[0]
        intercepts = rows.target_origin + along - rows.origin @ found
    return LeastSquaresSolution(
        found, intercepts, rank, scales, is_constant, threshold, inverse
    )


def _measure_columns(rows, M, tol):
    """Lengths of the columns, which are constant, and what counts as zero."""
    # Of small numbers the squares may be zero.
    largest = np.abs(M).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    lengths = unit * np.sqrt(((M / unit) ** 2).sum(axis=0))
    offsets = np.abs(rows.mean) * np.sqrt(rows.total_weight)
    # Values far from zero are rounded more, compared with what they vary.
    rounding = EPSILON * np.hypot(lengths, offsets)
    is_constant = lengths <= ROUNDINGS * rounding
    scales = np.where(is_constant, 1.0, lengths)
    worst = (rounding[~is_constant] / lengths[~is_constant]).max(initial=0.0)
    return scales, is_constant, max(tol, ROUNDINGS * worst)


def _is_triangle(M):
    return not np.tril(M, -1).any()


def _invert_well(M, scales, threshold):
    """Inverse of a triangle, or None if it may be singular when it has unit columns."""
    inverse, info = lapack.dtrtri(M)
    if info:
        return None
    # The norm of Frobenius is at least the largest singular value.
    bound = np.sqrt(len(M)) * np.linalg.norm(inverse * scales[:, np.newaxis])
    return inverse if bound * threshold < 1.0 else None


def _solve_triangle(M, z):
    found, _ = lapack.dtrtrs(M, z)
    return found


def _solve_wide(M, z, scales, threshold):
    """Shortest solution if all rows are independent; else None twice."""
    if not len(M):
        return 0, np.zeros((M.shape[1], z.shape[1]))
    work = int(lapack.dgeqrf_lwork(M.shape[1], M.shape[0])[0])
    factors, tau, _, _ = lapack.dgeqrf(M.T, lwork=work)
    triangle = np.triu(factors[: len(M)])
    # Unit columns change singular values no more than by the ratio of the scales.
    lengths = np.sqrt((triangle**2).sum(axis=0))
    if not lengths.all():
        return None, None
    ratio = scales.max() / scales.min() * lengths.max() / lengths.min()
    if _invert_well(triangle, lengths, threshold * ratio) is None:
        return None, None
    along, _ = lapack.dtrtrs(triangle, z, trans=1)
    found = np.zeros((M.shape[1], z.shape[1]))
    found[: len(M)] = along
    work = int(lapack.dormqr("L", "N", factors, tau, found, -1)[1][0])
    return len(M), lapack.dormqr("L", "N", factors, tau, found, work)[0]


def decompose(M, scales, is_constant, threshold):
    """Singular values of columns of unit length, and the rank.

    Returns
    -------
    left, values, right : ndarray
        Thin factors; columns of ``right`` are right singular vectors.
    rank : int
        Number of values above the threshold.
    """
    scaled = np.where(is_constant, 0.0, M / scales)
    left, values, right = np.linalg.svd(scaled, full_matrices=False)
    rank = int((values > threshold * values.max(initial=0.0)).sum())
    return left, values, right.T, rank


def make_root(M, scales, is_constant, threshold):
    """Make the A of the shortest solution :math:`b = A z`, of rank columns times U'.

    Returns
    -------
    root : ndarray of shape (n_columns, rank)
        A, in the coordinates of the left singular vectors.
    left : ndarray of shape (n_kept, rank)
        These vectors.
    """
    left, values, right, rank = decompose(M, scales, is_constant, threshold)
    left = left[:, :rank]
    # The columns are U S V' with their scales: of all b with the same V' scales b the
    # shortest lies in what scales V spans.
    basis, triangle = qr(
        right[:, :rank] * scales[:, np.newaxis], mode="economic", check_finite=False
    )
    if not rank:
        return basis[:, :0], left
    along, _ = lapack.dtrtrs(triangle, np.diag(1.0 / values[:rank]), trans=1)
    return basis @ along, left


def _solve_by_singular_values(M, z, scales, is_constant, threshold):
    root, left = make_root(M, scales, is_constant, threshold)
    rank = root.shape[1]
    if rank == M.shape[1] == M.shape[0] and _is_triangle(M):
        return rank, _solve_triangle(M, z)
    return rank, root @ (left.T @ z)


def add_penalty(M, z, alpha):
    """Rows that make least squares of ridge."""
    n_columns = M.shape[1]
    below = np.sqrt(alpha) * np.eye(n_columns)
    return np.vstack([M, below]), np.vstack([z, np.zeros((n_columns, z.shape[1]))])


def _solve_ridge(M, z, alpha):
    basis = None
    if M.shape[0] < M.shape[1]:
        # The solution lies in what the few rows span.
        basis, triangle = qr(M.T, mode="economic", check_finite=False)
        M = triangle.T
    turned, triangle = qr(
        add_penalty(M, z, alpha)[0], mode="economic", check_finite=False
    )
    found = _solve_triangle(triangle, turned[: len(M)].T @ z)
    return found if basis is None else basis @ found


def _solve_without_negative(M, z, alpha):
    if alpha > 0:
        M, z = add_penalty(M, z, alpha)
    if not M.size:
        return np.zeros((M.shape[1], z.shape[1]))
    return np.column_stack([nnls(M, target)[0] for target in z.T])


def find_dependencies(rows, solution, names):
    """Find the columns that are determined by those before them.

    Parameters
    ----------
    rows : RowTriangle
        The rows.
    solution : LeastSquaresSolution
        With the scales of the columns.
    names : sequence of str
        Names of the columns.

    Returns
    -------
    dependencies : dict
        For each such column, in their order, the dict of the coefficients of the others
        of which it is the sum; "intercept" for a constant.
    """
    if solution.rank == len(names):
        return {}
    M = np.where(solution.is_constant, 0.0, rows.slopes_triangle / solution.scales)
    limit = max(np.sqrt(solution.threshold), EPSILON * len(M))
    kept, basis = [], np.zeros((len(M), 0))
    found = {}
    for position, name in enumerate(names):
        column = M[:, position]
        left_over = column - basis @ (basis.T @ column)
        left_over -= basis @ (basis.T @ left_over)
        size = np.linalg.norm(left_over)
        if size > limit and len(kept) < solution.rank:
            kept.append(position)
            basis = np.column_stack([basis, left_over / size])
            continue
        shares = np.linalg.lstsq(M[:, kept], column, rcond=None)[0]
        is_large = np.abs(shares) > 1e-7
        factors = solution.scales[position] / solution.scales[kept]
        numbers = dict(zip(kept, shares * factors, strict=True))
        found[name] = _name_terms(rows, position, numbers, is_large, kept, names)
    return found


def _name_terms(rows, position, numbers, is_large, kept, names):
    terms = {}
    if rows.has_intercept:
        mean = rows.mean
        constant = mean[position] - sum(
            factor * mean[other] for other, factor in numbers.items()
        )
        size = abs(mean[position]) + sum(
            abs(factor * mean[other]) for other, factor in numbers.items()
        )
        if abs(constant) > 1e-7 * size:
            terms["intercept"] = float(constant)
    for other, counts in zip(kept, is_large, strict=True):
        if counts:
            terms[names[other]] = float(numbers[other])
    return terms
