"""Orthonormal complement of given columns."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs


def find_complement(Q: np.ndarray, n_columns: int) -> np.ndarray:
    """Find orthonormal columns that are orthogonal to given orthonormal ones.

    The reflections that map the given columns to unit vectors are applied in reverse to
    further unit vectors, so that only the required columns are computed.
    """
    n_rows, n_given = Q.shape
    units = np.zeros((n_rows, n_columns), dtype=Q.dtype, order="F")
    places = np.arange(n_columns)
    units[n_given + places, places] = 1
    if not n_given or not n_columns:
        return units
    names = ("geqrf", "geqrf_lwork", "ormqr")
    geqrf, geqrf_lwork, ormqr = get_lapack_funcs(names, (Q,))
    work = int(geqrf_lwork(n_rows, n_given)[0])
    reflections, scales, _, _ = geqrf(Q, lwork=work)
    work = int(ormqr("L", "N", reflections, scales, units, -1)[1][0])
    complement, _, _ = ormqr("L", "N", reflections, scales, units, work, overwrite_c=1)
    return complement
