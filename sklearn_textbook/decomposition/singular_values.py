"""The function ``svd``: from a matrix to its decomposition."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import check_random_state

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_random_seed,
    check_real,
)
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.decomposition.direct import (
    factor_by_gram,
    factor_by_lapack,
    find_gram_tolerance,
)
from sklearn_textbook.decomposition.factors import SVDFactors
from sklearn_textbook.decomposition.iterative import factor_by_iteration
from sklearn_textbook.decomposition.jacobi import LARGEST_EXPONENT, factor_by_jacobi
from sklearn_textbook.decomposition.matrix import (
    find_largest,
    read_matrix,
    scale_matrix,
    unscale_values,
)
from sklearn_textbook.decomposition.random_projection import (
    NORMALIZERS,
    factor_by_random_projection,
)
from sklearn_textbook.decomposition.result import (
    SingularValueDecomposition,
    measure_values,
)
from sklearn_textbook.decomposition.signs import fix_signs

_DIRECT = {
    "lapack": factor_by_lapack,
    "gram": factor_by_gram,
    "jacobi": factor_by_jacobi,
}
#: All triplets of a dense array, or the largest ones of any matrix.
DIRECT_METHODS = tuple(_DIRECT)
ITERATIVE_METHODS = ("arpack", "lobpcg", "propack")
TRUNCATED_METHODS = (*ITERATIVE_METHODS, "randomized")


def svd(
    A: MatrixLike,
    method: str = "lapack",
    *,
    n_components: int | None = None,
    rank_tolerance: float | None = None,
    tol: float = 0.0,
    n_iter: int = 5,
    n_oversamples: int = 10,
    power_iteration_normalizer: str = "auto",
    random_state: int | np.random.RandomState | None = None,
) -> SingularValueDecomposition:
    r"""Compute the singular value decomposition (奇异值分解) of a real matrix.

    .. math:: A = U \Sigma V^T, \quad U^T U = I, \quad V^T V = I, \quad
        \Sigma = \mathrm{diag}(\sigma_1, \ldots, \sigma_p), \quad
        \sigma_1 \ge \sigma_2 \ge \cdots \ge \sigma_p \ge 0.

    The result contains the full, the compact and the truncated decomposition, the rank,
    null and range spaces, the outer product expansion, and the error of every
    truncation.

    Signs are normalized: in each right singular vector, the entry with the largest
    absolute value is positive; if several are equally large up to rounding, the first
    of them. The left singular vector has the matching sign. The signs of vectors that
    only complete U or V are normalized in the same way.

    Parameters
    ----------
    A : array-like, sparse matrix or LinearOperator of shape (n_rows, n_columns)
        The matrix. Sparse matrices and linear operators require one of the last four
        methods. Integers and booleans are converted to float64; float32 stays float32,
        except with "gram" and "jacobi", which work in float64.
    method : str, default="lapack"
        One of the following. Methods that compute all triplets of a dense array:

        - "lapack": divide and conquer; errors are small relative to :math:`\sigma_1`.
        - "gram": the procedure of the textbook, with eigenvectors of :math:`A^T A` (or
          of :math:`A A^T` if that is smaller) and :math:`u_j = A v_j / \sigma_j`.
          Squaring loses half of the digits: values below :math:`10^{-8} \sigma_1` are
          noise.
        - "jacobi": one-sided Jacobi rotations after a QR decomposition with pivoting;
          slower, but errors are small relative to each :math:`\sigma_i` as long as A is
          well conditioned apart from the scale of its columns (or of its rows). Values
          below :math:`10^{-290} \sigma_1` become zero.

        Methods that compute the ``n_components`` largest triplets of any matrix:

        - "arpack", "lobpcg", "propack": scipy's solvers; "propack" can compute all
          triplets, "arpack" all but one, and "lobpcg" less than a fifth.
        - "randomized": random projection with power iteration (Halko, Martinsson and
          Tropp); approximate, but fast.
    n_components : int, default=None
        Number of triplets; required for the last four methods. The first three compute
        all triplets and do not accept it.
    rank_tolerance : float, default=None
        Singular values up to this value count as zero. None: max(n_rows, n_columns)
        times the machine epsilon times :math:`\sigma_1`; for "gram", the square root of
        the first two factors times :math:`\sigma_1`.
    tol : float, default=0.0
        Tolerance of "arpack", "lobpcg" and "propack". 0: machine precision.
    n_iter : int, default=5
        Number of power iterations of "randomized".
    n_oversamples : int, default=10
        Number of directions of "randomized" in addition to ``n_components``.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        How "randomized" normalizes between iterations. "auto": LU, or no normalization
        with up to two iterations.
    random_state : int, RandomState instance or None, default=None
        Seed for the starting vectors of the last four methods.

    Returns
    -------
    decomposition : SingularValueDecomposition
        The decomposition in all forms: ``full``, ``compact``, ``truncated(k)``,
        ``outer_products``, ``reconstruct(k)``, ``frobenius_error(k)``, ``rank``,
        ``range_space``, ``null_space``, ``row_space``, ``left_null_space``.

    Raises
    ------
    ValueError
        If A is empty, complex, or contains NaN or infinity; if a singular value is
        larger than any float; or if a parameter is invalid.
    TypeError
        If A is sparse or a linear operator, and the method requires a dense array.

    See Also
    --------
    TruncatedSVD : Transformer that projects rows onto right singular vectors.

    Notes
    -----
    Singular values are unique, but singular vectors are not: those of a repeated
    singular value, or of zero, can be any orthonormal basis of the same space.

    Entries may be of any scale: the matrix is first divided by a power of two, by which
    the singular values are then multiplied.

    The ``svd`` functions of NumPy and SciPy return only the factors and do not
    normalize their signs.

    References
    ----------
    .. [1] 李航《统计学习方法》, 2nd edition, chapter 15: definition 15.1, theorem 15.1,
       section 15.2 ("gram"), section 15.3 (best approximation, outer product
       expansion).
    .. [2] J. Demmel, K. Veselić (1992), Jacobi's method is more accurate than QR. SIAM
       Journal on Matrix Analysis and Applications 13.
    .. [3] Z. Drmač, K. Veselić (2008), New fast and accurate Jacobi SVD algorithm I.
       SIAM Journal on Matrix Analysis and Applications 29.
    .. [4] N. Halko, P.-G. Martinsson, J. A. Tropp (2011), Finding structure with
       randomness. SIAM Review 53.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_svd_example
    >>> from sklearn_textbook.decomposition import svd
    >>> decomposition = svd(load_svd_example("15.5").data)
    >>> decomposition.rank
    1
    >>> U, s, Vt = decomposition.compact
    >>> s.round(4).tolist(), Vt.round(4).tolist()
    ([3.1623], [[0.7071, 0.7071]])
    >>> decomposition.null_space.round(4).tolist()
    [[0.7071], [-0.7071]]
    """
    check_choice("method", method, (*DIRECT_METHODS, *TRUNCATED_METHODS))
    check_iteration_parameters(
        tol, n_iter, n_oversamples, power_iteration_normalizer, random_state
    )
    if rank_tolerance is not None:
        check_real("rank_tolerance", rank_tolerance, 0.0)
    A = read_matrix(A, accepts_sparse=method in TRUNCATED_METHODS)
    if method in DIRECT_METHODS:
        if n_components is not None:
            raise ValueError(
                f"n_components must be None with method={method!r}, which computes all "
                f"singular values; got {n_components!r}. Use .truncated(k) of the "
                "result."
            )
        factors, norm = factor_directly(A, method), None
    else:
        if n_components is None:
            raise ValueError(
                f"method={method!r} requires n_components, the number of singular "
                "values to compute."
            )
        check_integer("n_components", n_components, 1, min(A.shape))
        factors = factor_truncated(
            A,
            method,
            n_components,
            tol=tol,
            n_iter=n_iter,
            n_oversamples=n_oversamples,
            normalizer=power_iteration_normalizer,
            random_state=check_random_state(random_state),
        )
        norm = measure_matrix(A)
    if rank_tolerance is None:
        rank_tolerance = find_rank_tolerance(A.shape, method, factors.s)
    return SingularValueDecomposition(
        factors, A.shape, method, float(rank_tolerance), norm
    )


def check_iteration_parameters(
    tol, n_iter, n_oversamples, power_iteration_normalizer, random_state
) -> None:
    """Check the parameters of the methods for the largest singular values."""
    check_real("tol", tol, 0.0)
    check_integer("n_iter", n_iter, 0)
    check_integer("n_oversamples", n_oversamples, 1)
    check_choice("power_iteration_normalizer", power_iteration_normalizer, NORMALIZERS)
    check_random_seed("random_state", random_state)


def find_rank_tolerance(shape, method, s):
    """Size up to which singular values count as zero."""
    if method == "gram":
        return find_gram_tolerance(shape, s[0])
    return max(shape) * np.finfo(s.dtype).eps * s[0]


def measure_matrix(A):
    """Frobenius norm of a matrix, None of a linear operator."""
    if isinstance(A, LinearOperator):
        return None
    return measure_values(np.abs(A.data if sparse.issparse(A) else A))


def factor_directly(A: np.ndarray, method: str) -> SVDFactors:
    """Compute all triplets of a dense matrix, with signs fixed."""
    if method != "lapack":
        A = A.astype(np.float64, copy=False)
    target = LARGEST_EXPONENT if method == "jacobi" else None
    scaled, exponent = scale_matrix(A, find_largest(A), target)
    U, s, Vt = _DIRECT[method](scaled)
    fix_signs(U, Vt)
    return SVDFactors(U, unscale_values(s, exponent), Vt)


def factor_truncated(A, method: str, n_components: int, **options) -> SVDFactors:
    """Compute the largest triplets of any matrix, with signs fixed."""
    exponent = 0
    if not isinstance(A, LinearOperator):
        largest = find_largest(A)
        if largest == 0:
            return _factor_zeros(A, n_components)
        A, exponent = scale_matrix(A, largest)
    if method == "randomized":
        del options["tol"]
        U, s, Vt = factor_by_random_projection(A, n_components, **options)
    else:
        U, s, Vt = factor_by_iteration(
            A,
            method,
            n_components,
            tol=options["tol"],
            random_state=options["random_state"],
        )
    fix_signs(U, Vt)
    return SVDFactors(U, unscale_values(s, exponent), Vt)


def _factor_zeros(A, n_components):
    """Return the triplets of a zero matrix, for which solvers would fail."""
    n_rows, n_columns = A.shape
    return SVDFactors(
        np.eye(n_rows, n_components, dtype=A.dtype),
        np.zeros(n_components, dtype=A.dtype),
        np.eye(n_components, n_columns, dtype=A.dtype),
    )
