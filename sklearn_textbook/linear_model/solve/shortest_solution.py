"""The shortest coefficients that give rows the same values."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular


def find_shortest(
    basis: np.ndarray, units: np.ndarray, right: np.ndarray
) -> np.ndarray:
    r"""Find the shortest b with :math:`B^T U b = r`, for any units U of the columns."""
    if not basis.shape[1]:  # which LAPACK does not solve before SciPy 1.14
        return np.zeros((len(units), right.shape[1]))
    # With sorted rows and pivoting, errors are small relative to each row of UB.
    order = np.argsort(-units)
    turned, triangle, pivots = qr(
        (basis * units[:, np.newaxis])[order], mode="economic", pivoting=True
    )
    along = solve_triangular(triangle, right[pivots], trans="T")
    scaled = np.empty((len(units), right.shape[1]))
    scaled[order] = units[order, np.newaxis] * (turned @ along)
    # Large units amplify rounding errors, which would change the values of rows.
    scaled[~basis.any(axis=1)] = 0.0
    scaled += basis @ (right - basis.T @ scaled)
    return scaled / units[:, np.newaxis]
