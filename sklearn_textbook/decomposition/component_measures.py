"""Scores and quantities computed from fitted principal components."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import BlockSource, accept_blocks
from sklearn_textbook._contract.numeric_table import read_numeric_table
from sklearn_textbook._contract.scoring import read_vector
from sklearn_textbook._contract.tables import check_finite_rows, check_sparse_format
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.decomposition.column_moments import NEAR_ORIGIN, iterate_blocks
from sklearn_textbook.linear_model.design.design import MISSING_REMEDY
from sklearn_textbook.linear_model.design.reading import (
    read_new_rows,
)

FLOATS = (np.float64, np.float32)


class ComponentMeasures(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Scores, loadings and densities of fitted principal components."""

    # ------------------------------------------------------------------ attributes
    @property
    def cumulative_contribution_(self) -> np.ndarray:
        """Sums of the contributions of the first k components (累计方差贡献率)."""
        return np.cumsum(self.explained_variance_ratio_)

    @property
    def loadings_(self) -> np.ndarray:
        """Correlations of the variables with the components (因子负荷量)."""
        deviations = np.sqrt(self.explained_variance_)
        # A constant column has no correlation with anything: NaN.
        of_columns = np.sqrt(self.var_) / (1.0 if self.scale_ is None else self.scale_)
        with np.errstate(invalid="ignore", divide="ignore"):
            loadings = self.components_.T * deviations / of_columns[:, np.newaxis]
        loadings[of_columns == 0] = np.nan
        return loadings.astype(self.components_.dtype, copy=False)

    @property
    def communalities_(self) -> np.ndarray:
        """Fraction of each variable's variance explained by the kept components."""
        return (self.loadings_**2).sum(axis=1)

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    # ---------------------------------------------------------------------- scores
    @accept_blocks
    def transform(self, X: MatrixLike) -> np.ndarray:
        """Compute the scores (主成分得分) of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Scores y = A' (x - mean). With ``standardize=True``, x is standardized; with
            ``whiten=True``, scores are divided by their standard deviations.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has missing or infinite values or a different number of columns, or if
            the estimator was fitted to a matrix without a mean.
        """
        X = self._read_new_rows(X)
        scores = self._project(X)
        if self.whiten:
            scores *= self._find_whitening()
        return scores

    def inverse_transform(self, X: MatrixLike) -> np.ndarray:
        """Transform scores back to the original columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores, as returned by :meth:`transform`.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            The rows with these scores and with scores of 0 on the omitted components.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If X has missing or infinite values, or if its number of columns is not
            ``n_components_``.
        """
        check_is_fitted(self)
        scores = check_array(X, dtype=FLOATS, input_name="X", ensure_min_features=0)
        if scores.shape[1] != self.n_components_:
            raise ValueError(
                f"X must have n_components_={self.n_components_} columns, got "
                f"{scores.shape[1]}."
            )
        mean = self._require_mean()
        components = self.components_
        if self.whiten:
            components = components * np.sqrt(self.explained_variance_)[:, np.newaxis]
        rows = scores @ components
        if self.scale_ is not None:
            rows *= self.scale_
        rows += mean
        return rows

    @accept_blocks
    def squared_cosines(self, X: MatrixLike) -> np.ndarray:
        r"""Compute the squared cosines: how well the components represent rows.

        The squared cosine of the angle between a centred (and, with
        ``standardize=True``, scaled) row and a component is

        .. math:: \cos^2_{ik} = y_{ik}^2 / \|x_i - \bar x\|^2 .

        The sum over the kept components is the fraction of the squared distance of the
        row from the mean that these components represent.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        squared_cosines : ndarray of shape (n_samples, n_components)
            Values from 0 to 1; NaN for a row that equals the mean.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            In the same cases as :meth:`transform`.
        """
        X = self._read_new_rows(X)
        squares = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        for rows, centered in self._iterate_standardized(X):
            scores = centered @ self.components_.T
            length = np.einsum("ij,ij->i", centered, centered)[:, np.newaxis]
            with np.errstate(invalid="ignore"):
                squares[rows] = np.minimum(scores**2 / length, 1.0)
        return squares

    # ------------------------------------------------------------------- densities
    def get_covariance(self) -> np.ndarray:
        r"""Compute the covariance of the probabilistic model.

        .. math:: \Sigma = D (A' (\Lambda - \sigma^2 I) A + \sigma^2 I) D

        where the rows of A are the components, :math:`\Lambda` contains their variances
        and :math:`\sigma^2` is ``noise_variance_``. With ``standardize=True``, D
        contains the standard deviations of the variables; otherwise, D = I.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            Covariance matrix in the units of the variables.
        """
        check_is_fitted(self)
        variances, noise = self._find_model_variances()
        covariance = (self.components_.T * (variances - noise)) @ self.components_
        covariance.flat[:: len(covariance) + 1] += noise
        if self.scale_ is not None:
            covariance *= np.outer(self.scale_, self.scale_)
        return covariance

    def get_precision(self) -> np.ndarray:
        """Compute the inverse of :meth:`get_covariance`.

        It is computed from the components, without inverting a matrix. In directions
        without variance, the smallest variance that can be distinguished from 0 in
        floating point is used.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
            Precision matrix in the units of the variables.
        """
        check_is_fitted(self)
        variances, noise = self._find_model_variances(is_positive=True)
        inverse = 1.0 / variances - 1.0 / noise
        precision = (self.components_.T * inverse) @ self.components_
        precision.flat[:: len(precision) + 1] += 1.0 / noise
        if self.scale_ is not None:
            precision /= np.outer(self.scale_, self.scale_)
        return precision

    @accept_blocks
    def score_samples(self, X: MatrixLike) -> np.ndarray:
        """Compute the log-likelihood of each row in the probabilistic model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            Logarithm of the normal density with ``mean_`` and :meth:`get_covariance`,
            in the units of X, so that values with and without ``standardize`` can be
            compared.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            In the same cases as :meth:`transform`.
        """
        X = self._read_new_rows(X)
        variances, noise = self._find_model_variances(is_positive=True)
        n_left = X.shape[1] - self.n_components_
        constant = X.shape[1] * math.log(2.0 * math.pi) + np.log(variances).sum()
        constant += n_left * np.log(noise)
        if self.scale_ is not None:
            constant += 2.0 * np.log(self.scale_).sum()
        distances = np.empty(X.shape[0], dtype=X.dtype)
        for rows, centered in self._iterate_standardized(X):
            scores = centered @ self.components_.T
            distances[rows] = (scores**2 / variances).sum(axis=1)
            if n_left:
                centered -= scores @ self.components_
                distances[rows] += np.einsum("ij,ij->i", centered, centered) / noise
        return -0.5 * (distances + constant)

    def score(
        self, X: MatrixLike, y: None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute the mean log-likelihood of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows; of a table of ``io.scan``, the name of a column.

        Returns
        -------
        log_likelihood : float
            Mean of :meth:`score_samples`.
        """
        log_likelihood = self.score_samples(X)
        if isinstance(X, BlockSource):
            sample_weight = read_vector(
                X, "sample_weight", sample_weight, is_numeric=True
            )
        weight = check_weights(sample_weight, len(log_likelihood))
        return float(np.average(log_likelihood, weights=weight))

    # ----------------------------------------------------------------------- parts
    def _read_new_rows(self, X):
        check_is_fitted(self)
        if "design_" in vars(self):
            matrix = read_new_rows(self, X)
            if issparse(matrix) and not issparse(X):
                matrix = matrix.toarray()
            self._require_mean()
            return matrix
        check_sparse_format(X)
        X = read_numeric_table(
            self,
            X,
            dtype=FLOATS,
            accept_sparse=("csr", "csc"),
            ensure_all_finite=False,
            reset=False,
        )
        check_finite_rows(
            X, type(self).__name__, self._get_column_names(), remedy=MISSING_REMEDY
        )
        self._require_mean()
        return X

    def _get_column_names(self):
        if "design_" in vars(self):
            return self.design_.names
        return getattr(self, "feature_names_in_", None)

    def _count_columns(self):
        """Count the columns that the components are combinations of."""
        if "design_" in vars(self):
            return len(self.design_.names)
        return self.n_features_in_

    def _require_mean(self):
        if self.mean_ is None:
            raise ValueError(
                f"{type(self).__name__} was fitted to a matrix without a mean, so rows "
                "cannot be centred. Pass the mean of the variables to fit_covariance "
                "(mean=0 for standardized rows)."
            )
        return self.mean_

    def _project(self, X):
        """Compute scores before whitening."""
        axes = self.components_.T
        if self.scale_ is not None:
            axes = axes / self.scale_[:, np.newaxis]
        # New rows of single precision have scores of single precision.
        axes = axes.astype(X.dtype, copy=False)
        mean = self.mean_.astype(X.dtype, copy=False)
        if issparse(X) or (np.abs(mean) <= NEAR_ORIGIN * np.sqrt(self.var_)).all():
            scores = X @ axes
            scores -= mean @ axes
            return scores
        # Far from the origin, the difference of the scores would lose digits.
        scores = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        for rows, centered in self._iterate_centered(X):
            np.matmul(centered, axes, out=scores[rows])
        return scores

    def _iterate_standardized(self, X):
        """Yield blocks of centred rows, divided by the scale if there is one."""
        for rows, centered in self._iterate_centered(X):
            if self.scale_ is not None:
                centered /= self.scale_
            yield rows, centered

    def _iterate_centered(self, X):
        """Yield blocks of centred rows; each overwrites the previous one."""
        mean = self.mean_.astype(X.dtype, copy=False)
        buffer = None
        for rows in iterate_blocks(*X.shape):
            block = X[rows].toarray() if issparse(X) else X[rows]
            if buffer is None:
                buffer = np.empty(block.shape, dtype=X.dtype)
            yield rows, np.subtract(block, mean, out=buffer[: len(block)])

    def _find_whitening(self):
        """Factors of the scores; 0 for components without variance."""
        deviations = np.sqrt(self.explained_variance_)
        is_none = deviations == 0
        return np.where(is_none, 0.0, 1.0 / np.where(is_none, 1.0, deviations)).astype(
            deviations.dtype
        )

    def _find_model_variances(self, *, is_positive: bool = False):
        """Variances along the components, and orthogonal to them."""
        variances = self.explained_variance_.astype(np.float64)
        noise = float(self.noise_variance_)
        variances = np.maximum(variances, noise)
        if is_positive:
            epsilon = np.finfo(self.components_.dtype).eps
            floor = epsilon * max(variances.max(initial=0.0), noise)
            variances, noise = np.maximum(variances, floor), max(noise, floor)
        return variances, noise
