"""What ``svd`` returns: one decomposition in all its forms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.decomposition.complement import find_complement
from sklearn_textbook.decomposition.factors import SVDFactors
from sklearn_textbook.decomposition.signs import fix_column_signs


def measure_values(s) -> float:
    """Square root of the sum of squares, without overflow."""
    largest = s.max(initial=0)
    if largest == 0:
        return 0.0
    return float(largest * np.linalg.norm(s / largest))


class OuterProducts(Sequence):
    r"""The terms :math:`\sigma_i u_i v_i^T` of a matrix, computed on access.

    Parameters
    ----------
    factors : SVDFactors
        The compact factors.
    """

    def __init__(self, factors) -> None:
        self._factors = factors

    def __len__(self) -> int:
        return len(self._factors.s)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(
                f"index {index} is out of range for {len(self)} outer products"
            )
        U, s, Vt = self._factors
        return np.outer(U[:, index] * s[index], Vt[index])


class SingularValueDecomposition:
    r"""A decomposition :math:`A = U \Sigma V^T` (奇异值分解) in all its forms.

    Returned by :func:`svd`. Only the thin factors are stored, with at most min(n_rows,
    n_columns) triplets; larger arrays are computed on first access.

    Parameters
    ----------
    factors : SVDFactors
        The computed triplets, with normalized signs.
    shape : tuple of two ints
        Shape of A.
    method : str
        The method used.
    rank_tolerance : float
        Singular values up to this value count as zero.
    norm : float or None
        Frobenius norm of A if not all triplets were computed; None if it is not
        known.

    Attributes
    ----------
    singular_values : ndarray of shape (n_values,)
        The singular values (奇异值) in descending order.
    shape : tuple of two ints
        Shape of A.
    method : str
        The method used.
    rank_tolerance : float
        Singular values up to this value count as zero.

    See Also
    --------
    svd : Computes the decomposition.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_svd_example
    >>> from sklearn_textbook.decomposition import svd
    >>> decomposition = svd(load_svd_example("15.1").data)
    >>> decomposition
    <SingularValueDecomposition of a 5 x 4 matrix by 'lapack': rank 3>
    >>> decomposition.reconstruct(2)[1].round(12).tolist()
    [0.0, 0.0, 0.0, 4.0]
    """

    def __init__(
        self,
        factors: SVDFactors,
        shape: tuple[int, int],
        method: str,
        rank_tolerance: float,
        norm: float | None = None,
    ) -> None:
        self._factors = factors
        self._norm = norm
        self.singular_values = factors.s
        self.shape = tuple(shape)
        self.method = method
        self.rank_tolerance = rank_tolerance

    def __repr__(self):
        n_rows, n_columns = self.shape
        rank = f"rank {self._n_known}"
        if not self._knows_rank:
            rank = f"the first {self._n_known} singular values"
        return (
            f"<{type(self).__name__} of a {n_rows} x {n_columns} matrix by "
            f"{self.method!r}: {rank}>"
        )

    @property
    def _n_known(self) -> int:
        """Number of computed singular values that are not zero."""
        return int(np.count_nonzero(self.singular_values > self.rank_tolerance))

    @property
    def _is_complete(self):
        return len(self.singular_values) == min(self.shape)

    @property
    def _knows_rank(self):
        return self._is_complete or self._n_known < len(self.singular_values)

    def _require_rank(self, what) -> None:
        if not self._knows_rank:
            raise ValueError(
                f"{what} is not known, since all {self._n_known} computed singular "
                f"values exceed the tolerance {self.rank_tolerance:.3g}. Increase "
                "n_components, or decompose a dense array."
            )

    def _count_terms(self, k, smallest):
        if k is None:
            return self._n_known
        check_integer("k", k, smallest, len(self.singular_values), accepts_none=True)
        return int(k)

    @property
    def rank(self) -> int:
        """Rank (秩) r of A: the number of singular values above ``rank_tolerance``."""
        self._require_rank("The rank")
        return self._n_known

    @cached_property
    def full(self) -> SVDFactors:
        r"""The full decomposition (完全奇异值分解).

        An :class:`SVDFactors` with square orthogonal ``U`` of shape (n_rows, n_rows)
        and ``Vt`` of shape (n_columns, n_columns), and min(n_rows, n_columns) singular
        values; ``.full.sigma`` is the rectangular :math:`\Sigma`.
        """
        if not self._is_complete:
            raise ValueError(
                "The full decomposition is not known, since only "
                f"{len(self.singular_values)} of {min(self.shape)} singular values "
                "were computed. Decompose a dense array."
            )
        U, s, Vt = self._factors
        return SVDFactors(_add_columns(U), s, _add_columns(Vt.T).T)

    @property
    def compact(self) -> SVDFactors:
        """The compact decomposition (紧奇异值分解).

        An :class:`SVDFactors` of the ``rank`` nonzero triplets.
        """
        self._require_rank("The compact decomposition")
        return self._take(self._n_known)

    def truncated(self, k: int) -> SVDFactors:
        """Return the first k triplets: the truncated decomposition (截断奇异值分解).

        Parameters
        ----------
        k : int
            Number of triplets, from 1 to the number of computed singular values.

        Returns
        -------
        factors : SVDFactors
            The triplets of the k largest singular values; their product is the matrix
            of rank k that is closest to A.

        Raises
        ------
        ValueError
            If fewer triplets were computed.
        """
        return self._take(self._count_terms(k, 1))

    def _take(self, k):
        U, s, Vt = self._factors
        return SVDFactors(U[:, :k], s[:k], Vt[:k])

    @property
    def outer_products(self) -> OuterProducts:
        r"""The terms of the outer product expansion (外积展开式) in descending order.

        A sequence of the terms of :math:`A = \sum_i \sigma_i u_i v_i^T`. Each is an
        array of rank 1 with the shape of A, computed on access.
        """
        return OuterProducts(self._take(self._n_known))

    def reconstruct(self, k: int | None = None) -> np.ndarray:
        r"""Sum the first terms: :math:`A_k = \sum_{i=1}^k \sigma_i u_i v_i^T`.

        Parameters
        ----------
        k : int, default=None
            Number of terms. None: all computed nonzero terms.

        Returns
        -------
        A_k : ndarray of shape (n_rows, n_columns)
            The matrix closest to A in the Frobenius norm (弗罗贝尼乌斯范数) among all
            matrices of rank at most k.

        Raises
        ------
        ValueError
            If there are fewer terms.
        """
        U, s, Vt = self._take(self._count_terms(k, 0))
        return (U * s) @ Vt

    def frobenius_error(self, k: int | None = None) -> float:
        r"""Compute the distance between A and the sum of the first terms.

        .. math:: \|A - A_k\|_F = \Big(\sum_{i>k} \sigma_i^2\Big)^{1/2}

        It is computed from the omitted singular values, without computing A_k. If these
        are not known, the sum of their squares is computed from :math:`\|A\|_F^2`, and
        errors below :math:`10^{-8} \|A\|_F` cannot be distinguished from 0.

        Parameters
        ----------
        k : int, default=None
            Number of terms. None: all computed nonzero terms.

        Returns
        -------
        error : float
            The distance in the Frobenius norm.

        Raises
        ------
        ValueError
            If there are fewer terms, or A is a linear operator and neither its norm nor
            all its singular values are known.
        """
        k = self._count_terms(k, 0)
        left_out = measure_values(self.singular_values[k:])
        if self._is_complete:
            return left_out
        if self._norm is None:
            raise ValueError(
                "The error is not known, since only the "
                f"{len(self.singular_values)} largest singular values of a linear "
                "operator were computed."
            )
        if self._norm == 0:
            return 0.0
        fraction = measure_values(self.singular_values[:k]) / self._norm
        rest = self._norm * np.sqrt(max(0.0, (1 - fraction) * (1 + fraction)))
        return float(max(rest, left_out))

    @property
    def range_space(self) -> np.ndarray:
        """Orthonormal basis of the range R(A) (值域), one vector per column."""
        return self.compact.U

    @property
    def row_space(self) -> np.ndarray:
        """Orthonormal basis of the range of the transpose, R(Aᵀ) (行空间)."""
        return self.compact.Vt.T

    @cached_property
    def null_space(self) -> np.ndarray:
        """An orthonormal basis of the null space N(A) (零空间), a vector per column."""
        self._require_rank("The null space")
        return self._find_rest(self._factors.Vt.T)

    @cached_property
    def left_null_space(self) -> np.ndarray:
        """An orthonormal basis of the null space of the transpose, N(Aᵀ) (左零空间)."""
        self._require_rank("The left null space")
        return self._find_rest(self._factors.U)

    def _find_rest(self, vectors):
        """Return the columns after the first ``rank`` ones."""
        rank = self._n_known
        if self._is_complete:
            return _add_columns(vectors)[:, rank:]
        added = find_complement(vectors[:, :rank], len(vectors) - rank)
        fix_column_signs(added)
        return added


def _add_columns(Q):
    """Orthonormal columns made into a square matrix."""
    n_rows, n_columns = Q.shape
    if n_columns == n_rows:
        return Q
    added = find_complement(Q, n_rows - n_columns)
    fix_column_signs(added)
    return np.hstack([Q, added])
