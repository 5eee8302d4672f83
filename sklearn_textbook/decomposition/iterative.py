"""The largest singular values of large matrices, by scipy's solvers."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError
from scipy.sparse.linalg import LinearOperator, aslinearoperator, svds

from sklearn_textbook.decomposition.factors import SVDFactors
from sklearn_textbook.decomposition.matrix import find_float_type

#: Memory per vector that "lobpcg" iterates on.
LOBPCG_FRACTION = 5
#: scipy's limit of 20 is for good preconditioners; here there is none.
LOBPCG_ITERATIONS = 2_000


def factor_by_iteration(
    A, solver: str, n_components: int, *, tol: float, random_state
) -> SVDFactors:
    """Compute the triplets of the largest singular values."""
    largest = count_most_components(A.shape, solver)
    if n_components > largest:
        raise ValueError(
            f"n_components must be at most {largest} with {solver!r} for a matrix of "
            f"shape {A.shape}; got {n_components}."
        )
    # Solvers differ in the side of the matrix that the starting vector belongs to.
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
    # Not every solver keeps single precision.
    return SVDFactors(
        U[:, order].astype(dtype), s[order].astype(dtype), Vt[order].astype(dtype)
    )


def _enlarge_until_converged(A, n_components, options):
    """Run "propack" with room for more and more vectors until it converges.

    It allocates memory for all of them at once, so the first limit is low.
    """
    most_vectors = min(A.shape) + 1
    n_vectors = 10 * n_components
    while True:
        products = _Products(A)
        try:
            triplets = svds(
                products.operator, n_components, maxiter=n_vectors, **options
            )
        except LinAlgError:
            if products.raised is None and n_vectors >= most_vectors:
                raise
            n_vectors *= 4
        else:
            if products.raised is None:
                return triplets
        if products.raised is not None:
            raise products.raised


class _Products:
    """Products with A that never raise: the first exception is kept in `raised`.

    The compiled code of "propack" goes on multiplying after an exception, as Ctrl-C,
    with the interpreter in an undefined state. After one, products are zero.
    """

    def __init__(self, A) -> None:
        self.A = aslinearoperator(A)
        self.raised = None
        n_rows, n_columns = A.shape
        self.operator = LinearOperator(
            A.shape,
            matvec=lambda vector: self.multiply(self.A.matvec, vector, n_rows),
            rmatvec=lambda vector: self.multiply(self.A.rmatvec, vector, n_columns),
            dtype=find_float_type(A),
        )

    def multiply(self, product, vector, n_values):
        if self.raised is None:
            try:
                return product(vector)
            except BaseException as error:
                self.raised = error
        return np.zeros(n_values)


def count_most_components(shape, solver):
    """Return the largest number of singular values that a solver can compute."""
    if solver == "lobpcg":
        return (min(shape) - 1) // LOBPCG_FRACTION
    return min(shape) - 1 if solver == "arpack" else min(shape)
