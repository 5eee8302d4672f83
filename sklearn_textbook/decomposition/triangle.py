"""Reduction of a tall matrix to a triangle with the same right singular vectors."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

#: Entries of a block of rows, which fits in the cache of a core.
BLOCK_ENTRIES = 2**17


def reduce_to_triangle(A: np.ndarray) -> np.ndarray:
    r"""Compute the triangle R of :math:`A = Q R` by blocks of rows.

    R has the singular values and the right singular vectors of A. Each block of rows is
    put below the current triangle and reduced with it, so that neither Q nor a copy of
    A is made.
    """
    n_rows, n_columns = A.shape
    n_block = max(4 * n_columns, BLOCK_ENTRIES // n_columns)
    geqrf, geqrf_lwork = get_lapack_funcs(("geqrf", "geqrf_lwork"), (A,))
    stack = np.zeros((n_columns + n_block, n_columns), dtype=A.dtype, order="F")
    work = int(geqrf_lwork(*stack.shape)[0])
    for start in range(0, n_rows, n_block):
        block = A[start : start + n_block]
        stack[n_columns : n_columns + len(block)] = block
        stack[n_columns + len(block) :] = 0
        stack, _, _, _ = geqrf(stack, lwork=work, overwrite_a=1)
        # Below its triangle, geqrf keeps reflections.
        stack[:n_columns] = np.triu(stack[:n_columns])
    return stack[:n_columns].copy()
