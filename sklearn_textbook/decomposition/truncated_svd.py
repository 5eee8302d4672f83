"""The transformer ``TruncatedSVD``: rows projected on right singular vectors."""

from __future__ import annotations

from contextlib import closing
from typing import Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import BlockSource, accept_blocks
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.numeric_table import read_numeric_table
from sklearn_textbook._contract.parameters import check_choice, check_integer
from sklearn_textbook._contract.tables import (
    check_finite_rows,
    check_sizes,
    check_sparse_format,
)
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.decomposition.iterative import count_most_components
from sklearn_textbook.decomposition.narrow import (
    find_gram_vectors,
    find_right_vectors,
)
from sklearn_textbook.decomposition.singular_values import (
    DIRECT_METHODS,
    check_iteration_parameters,
    factor_directly,
    factor_truncated,
)
from sklearn_textbook.decomposition.triangle import reduce_to_triangle
from sklearn_textbook.decomposition.variances import find_variances, sum_variances
from sklearn_textbook.linear_model.design.block_rows import (
    is_in_files,
    lay_out,
    open_block_rows,
)

#: Those of ``svd`` except "lobpcg", which needs more columns than tables often have.
ALGORITHMS = ("randomized", "arpack", "propack", *DIRECT_METHODS)


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Project rows onto the first right singular vectors (截断奇异值分解).

    With the truncated decomposition :math:`X \approx U_k \Sigma_k V_k^T`, the best
    approximation of rank k in the Frobenius norm, a row :math:`x` is transformed to
    :math:`V_k^T x`. Columns are not centred, so sparse tables stay sparse. For tables
    of word counts, this is latent semantic analysis (潜在语义分析).

    Parameters
    ----------
    n_components : int, default=2
        Number k of components, at most the length of the shorter side of X; one less
        for "arpack".
    algorithm : str, default="randomized"
        How singular vectors are computed, as in :func:`svd`: "randomized", "arpack",
        "propack", "lapack", "gram" or "jacobi". The last three require a dense X.
        "randomized" does not draw random numbers, and is exact up to rounding, if X is
        dense and so narrow that computing all directions costs no more than computing
        some: if ``n_features <= 2 * (n_iter + 1) * (n_components + n_oversamples)`` and
        there are at least four times as many rows.
    n_iter : int, default=5
        Number of power iterations of "randomized".
    n_oversamples : int, default=10
        Number of directions of "randomized" in addition to ``n_components``.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        How "randomized" normalizes between iterations. "auto": LU, or no normalization
        with up to two iterations.
    random_state : int, RandomState instance or None, default=None
        Seed for the starting vectors of "randomized", "arpack" and "propack".
    tol : float, default=0.0
        Tolerance of "arpack" and "propack". 0: machine precision.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Right singular vectors (右奇异向量), one per row. In each, the entry with the
        largest absolute value is positive; if there are ties, the first of them.
    explained_variance_ : ndarray of shape (n_components,)
        Variances of the transformed training rows.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        These variances divided by the total variance of all columns; 0 if the latter is
        0 up to rounding.
    singular_values_ : ndarray of shape (n_components,)
        Singular values (奇异值) in descending order.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    See Also
    --------
    svd : Computes the decomposition in all its forms.

    Notes
    -----
    scikit-learn's estimator of the same name supports the algorithms "arpack" and
    "randomized". If X has fewer rows than ``n_components``, it keeps fewer components
    without a warning; here, an error is raised. Signs are those of scikit-learn, unless
    entries are equally large.

    References
    ----------
    .. [1] 李航《统计学习方法》, 2nd edition, section 15.1.2 (truncated decomposition),
       section 15.3, and chapter 17 (latent semantic analysis).
    .. [2] N. Halko, P.-G. Martinsson, J. A. Tropp (2011), Finding structure with
       randomness. SIAM Review 53.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_svd_exercise
    >>> from sklearn_textbook.decomposition import TruncatedSVD
    >>> clicks = load_svd_exercise("15.5").data
    >>> model = TruncatedSVD(n_components=2, algorithm="lapack").fit(clicks)
    >>> model.singular_values_.round(3).tolist()
    [20.617, 10.44]
    >>> (model.components_[0] ** 2).round(3).tolist()
    [0.0, 0.941, 0.059, 0.0, 0.0]
    """

    _fits_blocks = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    @all_or_nothing
    def fit(self, X: MatrixLike, y: None = None) -> Self:
        """Compute the singular vectors of a table.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The table; sparse only with the first three algorithms. A table that
            :func:`sklearn_textbook.io.scan` describes is read in blocks, with the same
            components. If it has more than 65,536 rows, ``algorithm`` must be "gram",
            "lapack" with at least two rows per column, or "randomized" where it is
            exact.
        y : None
            Ignored; it must be None if X is read in blocks.

        Returns
        -------
        self : TruncatedSVD
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is invalid, or X contains NaN or infinity.
        """
        if not isinstance(X, BlockSource):
            self.fit_transform(X)
            return self
        self._check_parameters()

        def read(frame, *, is_first):
            return self._read_rows(frame, reset=is_first)

        rows = open_block_rows(self, X, y, None, read, min_rows=1)
        with closing(rows):
            self._fit(rows.X)
        return self

    @all_or_nothing
    def fit_transform(self, X: MatrixLike, y: None = None) -> np.ndarray:
        """Compute the singular vectors of a table, and project its rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The table; sparse only with the first three algorithms. A table of
            ``io.scan`` is read twice.
        y : None
            Ignored; it must be None if X is read in blocks.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The projected rows.

        Raises
        ------
        ValueError
            If a parameter is invalid, or X contains NaN or infinity.
        """
        if isinstance(X, BlockSource):
            return self.fit(X, y).transform(X)
        self._check_parameters()
        X = self._read_rows(X, reset=True)
        return self._fit(X if issparse(X) else lay_out(X))

    def _fit(self, X):
        """Compute the singular vectors; return the rows projected, if in memory."""
        most = count_most_components(X.shape, self.algorithm)
        if self.n_components > most:
            raise ValueError(
                f"n_components must be at most {most} with algorithm="
                f"{self.algorithm!r} for n_samples = {X.shape[0]} and n_features = "
                f"{X.shape[1]}; got {self.n_components}."
            )
        s, Vt = self._find_right_vectors(X)
        self.singular_values_ = s[: self.n_components].astype(X.dtype)
        self.components_ = Vt[: self.n_components].astype(X.dtype)
        projected = None
        if issparse(X):
            projected = X @ self.components_.T
        elif not is_in_files(X):
            projected = np.empty((X.shape[0], self.n_components), dtype=X.dtype)
        self._measure_variances(X, projected)
        return projected

    @property
    def _sparse_formats(self):
        return False if self.algorithm in DIRECT_METHODS else ["csr", "csc"]

    def _read_rows(self, X, *, reset):
        check_sparse_format(X)
        X = read_numeric_table(
            self,
            X,
            accept_sparse=self._sparse_formats,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            reset=reset,
        )
        names = getattr(self, "feature_names_in_", None)
        check_finite_rows(X, type(self).__name__, names)
        return X

    def _check_parameters(self) -> None:
        check_integer("n_components", self.n_components, 1)
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        check_iteration_parameters(
            self.tol,
            self.n_iter,
            self.n_oversamples,
            self.power_iteration_normalizer,
            self.random_state,
        )

    def _find_right_vectors(self, X):
        """Singular values and right singular vectors, as many or more than needed."""
        method = self.algorithm
        if method == "randomized" and self._is_narrow(X):
            n_directions = min(self.n_components + self.n_oversamples, X.shape[1])
            found = find_right_vectors(X, self.n_components, n_directions)
            if found is not None:
                return found
            method = "lapack"
        n_rows, n_columns = X.shape
        if method == "gram" and n_rows >= n_columns:
            return find_gram_vectors(X)
        if method == "lapack" and n_rows >= 2 * n_columns:
            X = reduce_to_triangle(X)
        if is_in_files(X):
            raise ValueError(
                f"algorithm={self.algorithm!r} needs all rows at once, but the table "
                f"is read in blocks: it has {n_rows} rows of {n_columns} columns. Set "
                "algorithm='lapack', for at least two rows per column, or 'gram'."
            )
        if method in DIRECT_METHODS:
            return factor_directly(X, method)[1:]
        return factor_truncated(
            X,
            method,
            self.n_components,
            tol=self.tol,
            n_iter=self.n_iter,
            n_oversamples=self.n_oversamples,
            normalizer=self.power_iteration_normalizer,
            random_state=check_random_state(self.random_state),
        )[1:]

    def _is_narrow(self, X):
        """Whether computing all directions costs no more than computing a few."""
        n_rows, n_columns = X.shape
        n_drawn = self.n_components + self.n_oversamples
        is_cheap = n_columns <= 2 * (self.n_iter + 1) * n_drawn
        return not issparse(X) and is_cheap and n_rows >= 4 * n_columns

    def _measure_variances(self, X, projected) -> None:
        """Set the variance that the components explain, and its fraction.

        ``projected`` takes the projected rows of a dense X, unless it is None.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if issparse(X):
                explained = np.var(projected, axis=0)
            else:
                explained = find_variances(X, self.components_, projected)
            total = sum_variances(X)
        if not (np.isfinite(explained).all() and np.isfinite(total)):
            names = getattr(self, "feature_names_in_", None)
            if not is_in_files(X):
                check_sizes(X, type(self).__name__, names)
            raise ValueError(
                "The variances of X are larger than any float. Divide X by a constant "
                "first."
            )
        self.explained_variance_ = explained
        # Means of constant columns may be wrong in the last digit.
        rounding = 8 * np.finfo(X.dtype).eps * self.singular_values_[0]
        if np.sqrt(total) * np.sqrt(X.shape[0]) <= rounding:
            self.explained_variance_ratio_ = np.zeros_like(explained)
        else:
            self.explained_variance_ratio_ = explained / total

    @accept_blocks
    def transform(self, X: MatrixLike) -> np.ndarray:
        """Project rows onto the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, with the columns of the training table, or a table of
            :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The projected rows.
        """
        check_is_fitted(self)
        X = self._read_rows(X, reset=False)
        return X @ self.components_.T

    def inverse_transform(self, X: MatrixLike) -> np.ndarray:
        """Transform projected rows back to the original columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Projected rows.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            The closest rows in the span of the components.
        """
        check_is_fitted(self)
        return check_array(X, dtype=[np.float64, np.float32]) @ self.components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.algorithm not in DIRECT_METHODS
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        """Number of components, for the names of the output columns."""
        return self.components_.shape[0]
