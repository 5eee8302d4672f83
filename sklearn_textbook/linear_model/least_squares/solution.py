"""Coefficients from the triangle of rows: least squares, ridge, non-negative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr
from scipy.optimize import nnls
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, lsqr

from sklearn_textbook.linear_model.solve.row_triangle import LARGE
from sklearn_textbook.linear_model.solve.shortest_solution import find_shortest

EPSILON = np.finfo(np.float64).eps
#: Variation of a column, in units of its rounding, up to which it is constant.
ROUNDINGS = 4.0
#: Columns up to which the cost of an inverse is negligible.
MAX_INVERTED = 100
#: Coefficients of a dependency up to this size are rounding errors.
NEGLIGIBLE = 1e-7
#: Tolerance of values that are integers.
WHOLE = 1e-9
#: Error of LAPACK's estimate of a condition number.
DOUBT = 10.0
#: Products of rows are used if their matrix has at least this reciprocal condition
#: number: no more than four digits are lost, and eleven are left.
MIN_CONDITION = 1e-4


@dataclass(frozen=True, eq=False)
class LeastSquaresSolution:
    """Coefficients, and dependencies of the columns."""

    #: Slopes. Shape (n_columns, n_targets).
    coefficients: np.ndarray
    #: Intercepts; zeros if there is none. Shape (n_targets,).
    intercepts: np.ndarray
    #: Rank of the (centred) columns.
    rank: int
    #: Lengths of the centred columns; 1 for those that are constant. Shape
    #: (n_columns,).
    scales: np.ndarray
    #: Columns that vary no more than by rounding. Shape (n_columns,).
    is_constant: np.ndarray
    #: Singular values of columns of unit length below this fraction of the largest
    #: count as zero.
    threshold: float


def solve(
    rows, *, alpha: float = 0.0, is_positive: bool = False, tol: float = 1e-10
) -> LeastSquaresSolution:
    r"""Minimise the squares of the residuals.

    .. math:: \min_b \; \|M b - z\|^2 + \alpha \|b\|^2,

    where M and z are the triangle and targets of the centred columns. If M has full
    rank, the triangle is solved. Otherwise, if alpha is 0, the shortest of all
    solutions b is computed. The intercept follows from the means.
    """
    M, z = rows.slopes_triangle, rows.slopes_targets
    scales, is_constant, threshold = _measure_columns(rows, M, tol)
    rank, found = None, None
    if M.shape[1] == 0:
        rank, found = 0, np.zeros((0, z.shape[1]))
    elif not is_constant.any():
        if is_triangle(M):
            rank = len(M) if _is_regular(M / scales, threshold) else None
        elif M.shape[0] <= M.shape[1]:
            rank, found = _solve_wide(M, z, scales, threshold, alpha)
    if rank is None:
        rank, found = _solve_by_singular_values(M, z, scales, is_constant, threshold)
        found = None if alpha > 0 else found
    if is_positive:
        found = _solve_without_negative(M, z, alpha)
    elif alpha > 0 and found is None:
        found = _solve_ridge(M, z, alpha)
    elif found is None:
        found = _solve_triangle(M, z)
    intercepts = np.zeros(z.shape[1])
    if rows.has_intercept:
        first = rows.triangle[0]
        with np.errstate(invalid="ignore"):  # infinite slopes
            along = (rows.targets[0] - first[1:] @ found) / first[0]
            intercepts = rows.target_origin + along - rows.origin @ found
    return LeastSquaresSolution(found, intercepts, rank, scales, is_constant, threshold)


def _measure_columns(rows, M, tol):
    """Lengths of the columns, which are constant, and what counts as zero."""
    lengths = measure_lengths(M)
    offsets = np.abs(rows.mean) * np.sqrt(rows.total_weight)
    # Values far from zero are rounded more, relative to their variation.
    rounding = EPSILON * np.hypot(lengths, offsets)
    is_constant = lengths <= ROUNDINGS * rounding
    scales = np.where(is_constant, 1.0, lengths)
    worst = (rounding[~is_constant] / lengths[~is_constant]).max(initial=0.0)
    return scales, is_constant, max(tol, ROUNDINGS * worst)


def measure_lengths(M):
    """Lengths of columns whose squares may overflow or underflow."""
    # Not the absolute values, which would be a copy of the matrix.
    largest = np.maximum(M.max(axis=0, initial=0.0), -M.min(axis=0, initial=0.0))
    if ((largest < LARGE) & (largest > 1.0 / LARGE)).all():
        return np.sqrt(np.einsum("ij,ij->j", M, M))
    unit = np.where(largest > 0, largest, 1.0)
    return unit * np.sqrt(((M / unit) ** 2).sum(axis=0))


def is_triangle(M):
    """Whether a matrix is square, and zero below its diagonal."""
    return M.shape[0] == M.shape[1] and not np.tril(M, -1).any()


def _is_regular(triangle, threshold):
    """Whether the singular values of a triangle are certainly above the threshold.

    This takes far less time than computing them, which is only done in doubtful cases.
    """
    size = len(triangle)
    if not np.diagonal(triangle).all():
        return False
    if size > MAX_INVERTED and hasattr(lapack, "dtrcon"):
        triangle = np.asfortranarray(triangle)
        # The square of the largest singular value is at most the product of the largest
        # sums of a row and of a column.
        of_columns, _ = lapack.dtrcon(triangle, norm="1")
        of_rows, _ = lapack.dtrcon(triangle, norm="I")
        if np.sqrt(of_columns * of_rows) > DOUBT * threshold:
            return True
    triangle = np.triu(triangle)
    inverse, _ = lapack.dtrtri(triangle)
    # The Frobenius norm is at least the largest singular value.
    return np.linalg.norm(triangle) * np.linalg.norm(inverse) * threshold < 1.0


def _solve_triangle(M, z):
    found, _ = lapack.dtrtrs(M, z)
    return found


def _solve_wide(M, z, scales, threshold, alpha):
    """Rank and shortest solution if all rows are independent; otherwise None.

    With a penalty, the solution is that of ridge regression.
    """
    if not len(M):
        return 0, np.zeros((M.shape[1], z.shape[1]))
    lengths = measure_lengths(M.T)
    if not lengths.all():
        return None, None
    # Unit columns change singular values no more than by the ratio of the scales.
    ratio = scales.max() / scales.min() * lengths.max() / lengths.min()
    found = _solve_by_row_products(M, z, lengths, threshold * ratio, alpha)
    if found is not None:
        return len(M), found
    work = int(lapack.dgeqrf_lwork(M.shape[1], M.shape[0])[0])
    factors, tau, _, _ = lapack.dgeqrf(M.T, lwork=work)
    # LAPACK reads the upper half, and stores its reflections below.
    triangle = np.asfortranarray(factors[: len(M)])
    if not _is_regular(triangle / lengths, threshold * ratio):
        return None, None
    if alpha > 0:
        along = _solve_ridge(np.triu(triangle).T, z, alpha)
    else:
        along, _ = lapack.dtrtrs(triangle, z, trans=1)
    found = np.zeros((M.shape[1], z.shape[1]))
    found[: len(M)] = along
    work = int(lapack.dormqr("L", "N", factors, tau, found, -1)[1][0])
    return len(M), lapack.dormqr("L", "N", factors, tau, found, work)[0]


def _solve_by_row_products(M, z, lengths, threshold, alpha):
    """Solve with the products of the rows; None if these may lose digits."""
    if max(lengths.max(), 1.0 / lengths.min()) > LARGE:
        return None
    products = M @ M.T
    scaled = products / np.outer(lengths, lengths)
    factor, info = lapack.dpotrf(scaled)
    if info or not _is_regular(factor, threshold):
        return None
    norm = float(np.abs(scaled).sum(axis=0).max())
    if lapack.dpocon(factor, norm)[0] < MIN_CONDITION:
        return None
    if alpha > 0:
        scaled += np.diag(alpha / lengths**2)
        factor, _ = lapack.dpotrf(scaled)
    unit = lengths[:, np.newaxis]
    return M.T @ (lapack.dpotrs(factor, z / unit)[0] / unit)


def decompose(
    M, scales, is_constant, threshold
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Singular values of columns of unit length, and the rank.

    Returns (left, values, right, rank).
    """
    scaled = np.where(is_constant, 0.0, M / scales)
    left, values, right = np.linalg.svd(scaled, full_matrices=False)
    rank = int((values > threshold * values.max(initial=0.0)).sum())
    right = np.where(is_constant, 0.0, right)  # not only up to rounding
    return left, values, right.T, rank


def make_root(decomposed: tuple, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make the A of the shortest solution :math:`b = A U^T z`.

    Returns (root, left).
    """
    left, values, right, rank = decomposed
    left = left[:, :rank]
    if not rank:
        return np.zeros((len(scales), 0)), left
    # The columns are U S V' with their scales: this is the shortest of all b with the
    # same V' scales b.
    return find_shortest(right[:, :rank], scales, np.diag(1.0 / values[:rank])), left


def _solve_by_singular_values(M, z, scales, is_constant, threshold):
    root, left = make_root(decompose(M, scales, is_constant, threshold), scales)
    rank = root.shape[1]
    if rank == M.shape[1] and is_triangle(M):
        return rank, _solve_triangle(M, z)
    return rank, root @ (left.T @ z)


def add_penalty(M, z, alpha):
    """Additional rows that turn least squares into ridge regression."""
    n_columns = M.shape[1]
    below = np.sqrt(alpha) * np.eye(n_columns)
    return np.vstack([M, below]), np.vstack([z, np.zeros((n_columns, z.shape[1]))])


def _solve_ridge(M, z, alpha):
    if not M.size:  # a single row, which the intercept fits exactly
        return np.zeros((M.shape[1], z.shape[1]))
    basis = None
    if M.shape[0] < M.shape[1]:
        # The solution is in the span of the few rows.
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


def find_dependencies(rows, solution: LeastSquaresSolution, names) -> dict:
    """Find the columns that are determined by those before them."""
    if solution.rank == len(names):
        return {}
    M = np.where(solution.is_constant, 0.0, rows.slopes_triangle / solution.scales)
    limit = max(np.sqrt(solution.threshold), EPSILON * len(M))
    kept, dependent = [], []
    basis = np.zeros((len(M), solution.rank), order="F")
    for position, column in enumerate(M.T):
        found = basis[:, : len(kept)]
        left_over = column - found @ (found.T @ column)
        left_over -= found @ (found.T @ left_over)
        size = np.linalg.norm(left_over)
        if size > limit and len(kept) < solution.rank:
            basis[:, len(kept)] = left_over / size
            kept.append(position)
        else:
            dependent.append(position)
    fractions = np.linalg.lstsq(M[:, kept], M[:, dependent], rcond=None)[0]
    dependencies = {}
    for position, of_column in zip(dependent, fractions.T, strict=True):
        factors = of_column * solution.scales[position] / solution.scales[kept]
        numbers = dict(zip(kept, factors, strict=True))
        is_large = np.abs(of_column) > NEGLIGIBLE
        dependencies[names[position]] = _name_terms(
            rows, position, numbers, is_large, kept, names
        )
    return dependencies


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
        if abs(constant) > NEGLIGIBLE * size:
            terms["intercept"] = _round_whole(constant)
    for other, counts in zip(kept, is_large, strict=True):
        if counts:
            terms[names[other]] = _round_whole(numbers[other])
    return terms


def _round_whole(number):
    """Round a number that is nearly an integer, as for indicator columns."""
    whole = round(number)
    return float(whole) if abs(number - whole) <= WHOLE * abs(whole) else float(number)


def solve_iteratively(
    X: csr_array,
    Y: np.ndarray,
    weight: np.ndarray | None,
    *,
    has_intercept: bool,
    alpha: float,
    tol: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise the squares of the residuals by LSQR (Paige and Saunders, 1982).

    The columns are centred during multiplication, so that they stay sparse.

    Returns (coefficients, intercepts).
    """
    n_rows, n_columns = X.shape
    w = np.ones(n_rows) if weight is None else weight
    mean, target_mean = np.zeros(n_columns), np.zeros(Y.shape[1])
    if has_intercept:
        mean, target_mean = X.T @ w / w.sum(), w @ Y / w.sum()
    root = np.sqrt(w)
    # Columns of unit length reduce the condition number, and so the iterations.
    squares = X.power(2).T @ w - mean**2 * w.sum()
    scales = np.where(squares > 0, np.sqrt(np.maximum(squares, 0.0)), 1.0)
    scales = scales if alpha == 0 else np.ones(n_columns)

    def multiply(b):
        b = b.ravel() / scales
        return root * (X @ b - mean @ b)

    def multiply_transposed(r):
        r = root * r.ravel()
        return (X.T @ r - mean * r.sum()) / scales

    operator = LinearOperator(
        X.shape, matvec=multiply, rmatvec=multiply_transposed, dtype=np.float64
    )
    targets = root[:, np.newaxis] * (Y - target_mean)
    found = np.column_stack(
        [
            lsqr(
                operator,
                target,
                damp=np.sqrt(alpha),
                atol=tol,
                btol=tol,
                iter_lim=10 * max(X.shape),
            )[0]
            for target in targets.T
        ]
    )
    found /= scales[:, np.newaxis]
    return found, target_mean - mean @ found
