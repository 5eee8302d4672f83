"""The largest singular values of large matrices, by scipy's solvers."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError
from scipy.sparse.linalg import svds

from sklearn_textbook.decomposition.factors import SVDFactors
from sklearn_textbook.decomposition.matrix import find_float_type

#: Vectors that "lobpcg" improves at a time need this much memory, each.
LOBPCG_SHARE = 5
#: scipy's limit of 20 is for good preconditioners; here there is none.
LOBPCG_ITERATIONS = 2_000


def factor_by_iteration(A, solver, n_components, *, tol, random_state):
    """Compute the triplets of the largest singular values.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (n_rows, n_columns)
        The matrix.
    solver : {"arpack", "lobpcg", "propack"}
        One of scipy's.
    n_components : int
        Number of triplets.
    tol : float
        Tolerance of the solver; 0: as exact as it can be.
    random_state : RandomState instance
        Draws the vectors that the solver starts from.

    Returns
    -------
    factors : SVDFactors
        The triplets, the largest singular value first.

    Raises
    ------
    ValueError
        If there are too many for the solver.
    """
    largest = count_most_components(A.shape, solver)
    if n_components > largest:
        raise ValueError(
            f"n_components={n_components} is too large: {solver!r} finds at most "
            f"{largest} singular values of a matrix of shape {A.shape}."
        )
    # Each solver wants the vector on its own side.
    n_start = A.shape[0] if solver == "propack" else min(A.shape)
    dtype = find_float_type(A)
    start = random_state.uniform(-1, 1, n_start).astype(dtype)
    options = {
        "tol": tol,
        "v0": start,
        "solver": solver,
        "random_state": int(random_state.randint(2**31 - 1)),
    }
    if solver == "propack":
        U, s, Vt = _enlarge_until_converged(A, n_components, options)
    else:
        limit = LOBPCG_ITERATIONS if solver == "lobpcg" else None
        U, s, Vt = svds(A, n_components, maxiter=limit, **options)
    order = np.argsort(-s, kind="stable")
    # Not every solver stays in single precision.
    return SVDFactors(
        U[:, order].astype(dtype), s[order].astype(dtype), Vt[order].astype(dtype)
    )


def _enlarge_until_converged(A, n_components, options):
    """Give "propack" memory for more vectors until it is content.

    It takes the memory for all of them at once, so that little is tried first.
    """
    most_vectors = min(A.shape) + 1
    n_vectors = 10 * n_components
    while True:
        try:
            return svds(A, n_components, maxiter=n_vectors, **options)
        except LinAlgError:
            if n_vectors >= most_vectors:
                raise
            n_vectors *= 4


def count_most_components(shape, solver):
    """Count the singular values that a solver can find of a matrix of some shape."""
    if solver == "lobpcg":
        return (min(shape) - 1) // LOBPCG_SHARE
    return min(shape) - 1 if solver == "arpack" else min(shape)
