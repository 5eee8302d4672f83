"""Reduction of a tall matrix to a triangle with the same right singular vectors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import get_lapack_funcs

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook.linear_model.design.block_rows import cut_rows

#: Entries of a block of rows, which fits in the cache of a core.
BLOCK_ENTRIES = 2**17


def count_triangle_rows(n_columns: int) -> int:
    """Rows that are reduced at a time."""
    return max(4 * n_columns, BLOCK_ENTRIES // n_columns)


def reduce_to_triangle(A) -> np.ndarray:
    """Compute the triangle of a matrix, which may be in files."""
    blocks = (rows for (rows,) in cut_rows(count_triangle_rows(A.shape[1]), A))
    return reduce_blocks(blocks, A.shape[1], A.dtype)


def reduce_blocks(blocks: Iterable, n_columns: int, dtype) -> np.ndarray:
    r"""Compute the triangle R of :math:`A = Q R` from blocks of the rows of A.

    R has the singular values and the right singular vectors of A. Each block of rows is
    put below the current triangle and reduced with it, so that neither Q nor a copy of
    A is made. Blocks have as many rows as `count_triangle_rows` says; the last one may
    have fewer.
    """
    n_block = count_triangle_rows(n_columns)
    stack = np.zeros((n_columns + n_block, n_columns), dtype=dtype, order="F")
    geqrf, geqrf_lwork = get_lapack_funcs(("geqrf", "geqrf_lwork"), (stack,))
    work = int(geqrf_lwork(*stack.shape)[0])
    # Threads of LAPACK would wait for each other most of the time.
    with use_one_blas_thread():
        for block in blocks:
            stack[n_columns : n_columns + len(block)] = block
            stack[n_columns + len(block) :] = 0
            stack, _, _, _ = geqrf(stack, lwork=work, overwrite_a=1)
            # Below its triangle, geqrf keeps reflections.
            stack[:n_columns] = np.triu(stack[:n_columns])
    return stack[:n_columns].copy()
