"""The three factors of a singular value decomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SVDFactors(NamedTuple):
    r"""The factors of :math:`A = U \Sigma V^T`, which can be unpacked as ``U, s, Vt``.

    Parameters
    ----------
    U : ndarray of shape (n_rows, n_left)
        Left singular vectors (左奇异向量), one per column.
    s : ndarray of shape (n_values,)
        Singular values (奇异值) in descending order.
    Vt : ndarray of shape (n_right, n_columns)
        Right singular vectors (右奇异向量), one per row.

    Examples
    --------
    >>> from sklearn_textbook.decomposition import svd
    >>> U, s, Vt = svd([[3, 0], [0, 4]]).full
    >>> s.tolist()
    [4.0, 3.0]
    """

    U: np.ndarray
    s: np.ndarray
    Vt: np.ndarray

    @property
    def sigma(self) -> np.ndarray:
        r"""The matrix :math:`\Sigma`, in the shape that matches the other factors."""
        sigma = np.zeros((self.U.shape[1], self.Vt.shape[0]), dtype=self.s.dtype)
        places = np.arange(len(self.s))
        sigma[places, places] = self.s
        return sigma
