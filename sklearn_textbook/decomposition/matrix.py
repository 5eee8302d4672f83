"""Reading the matrix to decompose, and scaling it so that squares do not overflow."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import blas
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import check_array

from sklearn_textbook._contract.blocks import BLOCK_ROWS
from sklearn_textbook._contract.tables import check_sparse_format
from sklearn_textbook.linear_model.design.block_rows import cut_rows, is_in_files

#: Largest binary exponent of an entry for which neither its square nor the square of
#: its rounding error leaves the range of the type. In double precision, LAPACK does not
#: scale such entries by numbers other than powers of two.
_LARGEST_EXPONENT = {np.dtype(np.float64): 100, np.dtype(np.float32): 40}
_MAX_ENTRIES = 2**30


def read_matrix(A, *, accepts_sparse: bool):
    """Read a real matrix."""
    is_operator = isinstance(A, LinearOperator)
    if not accepts_sparse and (is_operator or sparse.issparse(A)):
        what = "a linear operator" if is_operator else "sparse"
        raise TypeError(
            f"A is {what}, for which only the truncated decomposition can be computed: "
            "use svd(A, method='arpack', n_components=k), or 'lobpcg', 'propack' or "
            "'randomized'. The other methods require a dense array."
        )
    dtype = getattr(A, "dtype", None)
    if not isinstance(dtype, np.dtype):
        dtype = None if is_operator else np.asarray(A).dtype
    if dtype is not None and dtype.kind == "c":
        raise ValueError(f"A must be a real matrix; got dtype {dtype}.")
    if is_operator:
        _check_operator(A)
        # The solvers of scipy 1.13 refuse operators of whole numbers.
        return A if np.issubdtype(A.dtype, np.inexact) else 1.0 * A
    check_sparse_format(A, "A")
    formats = ("csr", "csc") if accepts_sparse else False
    return check_array(
        A, accept_sparse=formats, dtype=(np.float64, np.float32), input_name="A"
    )


def _check_operator(A) -> None:
    """Refuse operators that are empty, or whose products have NaN or infinity."""
    if min(A.shape) < 1:
        raise ValueError(f"A must not be empty; got shape {A.shape}.")
    # Sums of the entries of each row: values that are not finite appear in them.
    if not np.isfinite(A.matvec(np.ones(A.shape[1]))).all():
        raise ValueError(
            "A is a linear operator whose products contain NaN or infinity."
        )


def find_float_type(A):
    """Float type of computations: single precision for float32, double for others."""
    return np.float32 if A.dtype == np.float32 else np.float64


def find_largest(A):
    """Largest size of an entry of a dense or sparse matrix."""
    entries = (A.data if sparse.issparse(A) else A).ravel(order="K")
    # BLAS makes no copy and needs one pass, but its indices have 32 bits.
    find_place = blas.isamax if entries.dtype == np.float32 else blas.idamax
    largest = 0.0
    for start in range(0, len(entries), _MAX_ENTRIES):
        part = entries[start : start + _MAX_ENTRIES]
        largest = max(largest, abs(part[find_place(part)]))
    return largest


def find_largest_of_rows(A) -> float:
    """Largest size of an entry of a dense matrix, which may be in files."""
    if not is_in_files(A):
        return find_largest(A)
    return max(find_largest(rows) for (rows,) in cut_rows(BLOCK_ROWS, A))


def scale_matrix(A, largest: float, target: int | None = None):
    """Divide a matrix by a power of two if squares might leave the range of floats."""
    exponent = int(np.frexp(largest)[1])
    if target is None:
        if abs(exponent) <= _LARGEST_EXPONENT[A.dtype]:
            return A, 0
        target = 0
    shift = exponent - target
    if sparse.issparse(A):
        A = A.copy()
        A.data = np.ldexp(A.data, -shift)
        return A, shift
    return np.ldexp(A, -shift), shift


def unscale_values(s, exponent):
    """Multiply singular values by the power of two that the matrix was divided by."""
    with np.errstate(over="ignore"):
        values = np.ldexp(s, exponent)
    if not np.isfinite(values).all():
        raise ValueError(
            f"A has a singular value above {np.finfo(s.dtype).max:.3g}, the largest "
            f"{s.dtype} number. Divide A by a constant first."
        )
    return values
