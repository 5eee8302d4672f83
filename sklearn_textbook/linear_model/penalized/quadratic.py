"""The minimum of a quadratic function with an elastic-net penalty."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sklearn_textbook.linear_model.logistic.solvers import solve_signs
from sklearn_textbook.linear_model.penalized.penalty import Penalty
from sklearn_textbook.linear_model.solve._row_sums import descend_coordinates

#: Number of coefficients that are found by equations in the end, and the same of those
#: whose signs are found together with them.
MAX_SOLVED, MAX_SIGNED = 1000, 500
#: Number of sweeps after which equations are solved for coefficients of given signs.
MAX_SWEEPS = 200


def minimise_quadratic(
    penalty: Penalty,
    alpha: float,
    hessian: np.ndarray,
    slope: np.ndarray,
    theta: np.ndarray,
    tol: float,
    max_sweeps: int,
    columns: np.ndarray | None = None,
) -> tuple[int, bool]:
    """Minimise a quadratic function with a penalty by coordinate descent.

    Parameters
    ----------
    penalty : Penalty
        The penalty of the coefficients.
    alpha : float
        Its strength.
    hessian : ndarray of shape (n, n)
        Second derivatives of the function; their diagonal (1, n) with columns.
    slope, theta : ndarray of shape (n,)
        Its derivatives at the coefficients, and these. Both are changed.
    tol : float
        Largest change in the last sweep, in units of the root of the curvature.
    max_sweeps : int
        Largest number of sweeps.
    columns : ndarray of shape (n, n_rows), default=None
        The second derivatives are the products of its rows.

    Returns
    -------
    n_sweeps : int
        Number of sweeps.
    has_converged : bool
        Whether the last one changed less than ``tol``.
    """
    norms, squares = penalty.split(alpha)
    l1, l2 = penalty.spread(norms), penalty.spread(squares)
    options: dict = {"l2": l2, "is_positive": penalty.is_positive}
    if penalty.has_groups:
        options |= {
            "starts": penalty.starts.astype(np.intp, copy=False),
            "bounds": bound_groups(penalty, hessian, columns),
        }
    if columns is not None:
        options |= {"columns": columns, "moved": np.zeros(columns.shape[1])}
    sweep = min(max_sweeps, MAX_SWEEPS)
    n_sweeps, has_converged = descend_coordinates(
        hessian, slope, l1, theta, tol, sweep, **options
    )
    if has_converged or n_sweeps >= max_sweeps:
        return n_sweeps, has_converged
    has_signs = not (penalty.has_groups or penalty.is_positive or columns is not None)
    if has_signs and len(theta) <= MAX_SIGNED:
        # Correlated columns with a weak penalty need very many sweeps.
        whole = hessian + np.diag(l2)
        slope += l2 * theta
        solve_signs(whole, slope, l1, theta, tol)
        slope -= l2 * theta
    rest, has_converged = descend_coordinates(
        hessian, slope, l1, theta, tol, max_sweeps - n_sweeps, **options
    )
    return n_sweeps + rest, has_converged


def bound_groups(
    penalty: Penalty, hessian: np.ndarray, columns: np.ndarray | None
) -> np.ndarray:
    """Find the largest eigenvalue of the second derivatives of each group."""
    bounds = np.zeros(len(penalty.factors))
    for group, size in enumerate(penalty.sizes):
        if size > 1:
            place = slice(penalty.starts[group], penalty.starts[group + 1])
            if columns is None:
                part = hessian[place, place]
            else:
                part = columns[place] @ columns[place].T
            bounds[group] = np.linalg.eigvalsh(part)[-1]
    return bounds


def solve_equations(
    penalty: Penalty,
    alpha: float,
    hessian: np.ndarray,
    with_target: np.ndarray,
    theta: np.ndarray,
) -> np.ndarray | None:
    """Solve for the coefficients that are not zero, given their signs.

    None if there are groups, too many, or if a sign would change.
    """
    norms, squares = penalty.split(alpha)
    inside = np.flatnonzero(theta)
    if penalty.has_groups or not 0 < len(inside) <= MAX_SOLVED:
        return None
    sign = np.sign(theta[inside])
    block = hessian[np.ix_(inside, inside)] + np.diag(squares[inside])
    right = with_target[inside] - norms[inside] * sign
    try:
        factor = linalg.cho_factor(block, check_finite=False)
    except linalg.LinAlgError:
        return None
    found = linalg.cho_solve(factor, right, check_finite=False)
    is_turned = np.sign(found) != sign
    if (is_turned & ((norms[inside] > 0.0) | penalty.is_positive)).any():
        return None
    solved = np.zeros_like(theta)
    solved[inside] = found
    return solved
