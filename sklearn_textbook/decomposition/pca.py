"""Principal component analysis, 主成分分析."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.parameters import is_real
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.decomposition.component_fitting import (
    DERIVED,
    FITTED,
    MATRIX_SOLVERS,
    SPARSE_SOLVERS,
    ComponentFitting,
)


def _uses_matrix(estimator) -> bool:
    """Whether components come from cross-products, which can be summed in blocks."""
    return estimator.svd_solver in MATRIX_SOLVERS


class PCA(ComponentFitting):
    r"""Principal component analysis (主成分分析) of a covariance or correlation matrix.

    The components are the unit vectors :math:`\alpha_k` along which the rows vary most,
    each orthogonal to the preceding ones; their scores :math:`y_k = \alpha_k'(x - \mu)`
    are uncorrelated. They solve

    .. math:: S \alpha_k = \lambda_k \alpha_k, \qquad
              \lambda_1 \ge \lambda_2 \ge \dots \ge 0,

    where S is the sample covariance matrix or, with ``standardize=True``, the sample
    correlation matrix R. The variance of :math:`y_k` is :math:`\lambda_k`. Its
    contribution (方差贡献率) is

    .. math:: \eta_k = \lambda_k / \sum_i \lambda_i ,

    and its correlation with the variable :math:`x_i`, the factor loading (因子负荷量),
    is

    .. math:: \rho(y_k, x_i) = \sqrt{\lambda_k} \, \alpha_{ik} / \sqrt{\sigma_{ii}} .

    Both algorithms of the textbook are available, with equal results: the eigenvalues
    of S or R (``svd_solver="covariance_eigh"``), and the singular value decomposition
    of the centred rows divided by :math:`\sqrt{n - 1}` (``svd_solver="full"``). Rows
    may be weighted or passed in blocks (:meth:`partial_fit`), or replaced by their
    covariance matrix (:meth:`fit_covariance`).

    Parameters of scikit-learn's ``PCA`` have the same name, meaning and default here,
    so it is enough to replace the import.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        Number of components to keep. A float between 0 and 1: the smallest number whose
        cumulative contribution (累计方差贡献率) exceeds this value, for which the
        textbook recommends 0.7 to 0.8; this is also the threshold t of reconstruction
        (重构阈值) in 周志华's formula (10.16). "mle": chosen by Minka's likelihood.
        None: ``min(n_samples, n_features)``, minus one for "arpack". To choose it by
        the error of a nearest-neighbour classifier, use ``GridSearchCV``.
    standardize : bool, default=False
        Whether to divide each column by its standard deviation, that is, to decompose
        the correlation matrix (规范化变量). Units of the columns then have no effect.
    copy : bool, default=True
        Whether to leave X unchanged. If False, "arpack", "randomized" and, with less
        than four rows per column, "full" may overwrite it; in this case, use
        ``fit_transform``.
    whiten : bool, default=False
        Whether to divide the scores by their standard deviations. Scores of components
        without variance are then 0.
    svd_solver : str, default="auto"
        How components are computed: "auto", "full", "covariance_eigh", "arpack" or
        "randomized". "full": LAPACK's singular value decomposition of the centred rows
        or, if there are at least four rows per column, of the triangular factor of
        their QR decomposition. "covariance_eigh": LAPACK's eigenvalues of the
        covariance or correlation matrix, which is faster for many rows, but components
        whose standard deviation is below about 1e-8 of the largest are lost to
        rounding. "arpack", "randomized": only the first components, by iteration or
        random projection. "auto": "covariance_eigh" for at most 1,000 columns and at
        least 10 times as many rows; otherwise "full" if there are at most 500 rows and
        columns, if less than a fifth of the components is omitted, or if
        ``n_components`` depends on the spectrum; otherwise "randomized". For sparse X,
        "auto" is "arpack", or "covariance_eigh" if ``n_components`` depends on the
        spectrum.
    tol : float, default=0.0
        Tolerance of "arpack" for singular values. 0: machine precision.
    iterated_power : int or "auto", default="auto"
        Number of power iterations of "randomized".
    n_oversamples : int, default=10
        Number of random vectors of "randomized" in addition to ``n_components``.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        How "randomized" normalizes its vectors between iterations.
    random_state : int, RandomState instance or None, default=None
        Seed for "arpack" and "randomized".
    categorical_features : "from_dtype", None, array-like or dict, default=None
        The columns with levels, of which each level becomes an indicator column.
        "from_dtype": strings and categorical dtypes. A mask, indices or names: these
        columns. A dict from names or indices to "nominal", a set of levels, or the list
        of levels in ascending order, which become numbers from 0 to 1. None: all
        columns must be numbers. Levels not seen in training have the means of the
        indicators, with a warning.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values in X. "error": they raise an error. "drop":
        rows with one are left out of the fit, and their scores are NaN. "mean": numbers
        have the weighted mean of the column, levels the means of their indicators, and
        one more column, such as "missing(age)", marks them if the training rows have
        some; columns that lack the same rows share it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit eigenvectors :math:`\alpha_k` as rows. The entry with the largest absolute
        value is positive; if there are ties, the first of them. Directions without
        variance are determined by the others, so they are the same for "full" and
        "covariance_eigh".
        "covariance_eigh".
    explained_variance_ : ndarray of shape (n_components,)
        Variances :math:`\lambda_k` of the scores, with the divisor n - 1.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Contributions :math:`\eta_k` (方差贡献率).
    cumulative_contribution_ : ndarray of shape (n_components,)
        Cumulative sums of the contributions (累计方差贡献率).
    eigenvalues_ : ndarray of shape (n_found,)
        All computed eigenvalues, including those of omitted components; with "full" and
        "covariance_eigh", ``min(n_samples, n_features)`` values.
    loadings_ : ndarray of shape (n_features, n_components)
        Factor loadings :math:`\rho(y_k, x_i)`, with variables as rows and components as
        columns. NaN for a constant column.
    communalities_ : ndarray of shape (n_features,)
        Contributions :math:`\nu_i = \sum_k \rho^2(y_k, x_i)` of the kept components to
        each variable (k 个主成分对原有变量的贡献率).
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred (and scaled) rows, :math:`\sqrt{(n - 1)
        \lambda_k}`.
    mean_ : ndarray of shape (n_features,) or None
        Means of the columns; None if they were not passed to :meth:`fit_covariance`.
    var_ : ndarray of shape (n_features,)
        Variances of the columns, with the divisor n - 1.
    scale_ : ndarray of shape (n_features,) or None
        Standard deviations of the columns with ``standardize=True``, otherwise None.
    n_components_ : int
        Number of components kept.
    n_samples_ : int, float or None
        Number of rows, or sum of their weights; None if not passed to
        :meth:`fit_covariance`.
    noise_variance_ : float
        Mean variance of the omitted components: the noise of the probabilistic model of
        Tipping and Bishop.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.
    design_ : Design
        Encoding of the columns, if ``categorical_features`` or ``missing`` is set;
        ``design_.names`` are then the names of the columns of ``components_``,
        and ``design_.n_dropped`` is the number of rows that were left out.

    Raises
    ------
    ValueError
        If a parameter is invalid, X has missing values or no variance, or a column is
        constant with ``standardize=True``; see :meth:`fit`.

    See Also
    --------
    sklearn.decomposition.PCA : The same parameters without ``standardize``. It supports
        no sample weights, blocks of rows, loadings or communalities, and divides by
        zero if columns do not vary. With ``whiten=True``, its ``get_covariance``
        multiplies by the variances twice; here, the density of X does not depend on how
        scores are scaled.
    sklearn.decomposition.IncrementalPCA : Blocks of rows, with an approximate result.
    sklearn_textbook.inspection.ScreeDisplay : Plot of eigenvalues and contributions.
    sklearn_textbook.inspection.BiplotDisplay : Plot of scores and loadings.

    Notes
    -----
    ``make_pipeline(StandardScaler(), PCA())`` divides by standard deviations with the
    divisor n, so its eigenvalues are n / (n - 1) times those of the correlation matrix;
    ``standardize=True`` gives those of the textbook, which sum to the number of
    columns.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, chapter 16: theorem 16.1, example 16.1,
    algorithm 16.1.

    Zhou Zhihua (周志华), Machine Learning (《机器学习》), Tsinghua University Press,
    2016, section 10.3, formula (10.16).

    T. P. Minka, Automatic choice of dimensionality for PCA, NIPS 2000.

    M. E. Tipping and C. M. Bishop, Probabilistic principal component analysis, Journal
    of the Royal Statistical Society B, 61(3), 1999.

    Examples
    --------
    Six samples of two variables (习题16.1), decomposed by their correlation matrix:

    >>> from sklearn_textbook.datasets import load_pca_exercise
    >>> from sklearn_textbook.decomposition import PCA
    >>> X = load_pca_exercise().data
    >>> pca = PCA(standardize=True).fit(X)
    >>> pca.explained_variance_.round(3).tolist()
    [1.95, 0.05]
    >>> pca.loadings_.round(3).tolist()
    [[0.988, 0.158], [0.988, -0.158]]

    The number of components that explains three quarters of the variance:

    >>> PCA(n_components=0.75, standardize=True).fit_transform(X)[:3].round(2).tolist()
    [[-1.85], [-0.75], [-0.4]]
    """

    _fits_blocks = True

    def __init__(
        self,
        n_components: float | str | None = None,
        *,
        standardize: bool = False,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = None,
        missing: str = "error",
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.categorical_features = categorical_features
        self.missing = missing

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the principal components to rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. Sparse rows require ``svd_solver`` "auto", "arpack" or
            "covariance_eigh". A table that :func:`sklearn_textbook.io.scan` describes
            is read in blocks, with the same components; it requires
            ``svd_solver`` "covariance_eigh", or "full" with at least four rows per
            column, unless it has at most 65,536 rows.
        y : None
            Ignored; it must be None if X is read in blocks.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows; a row of weight w counts as w rows. The name of a
            column, if X is read in blocks.

        Returns
        -------
        self : PCA
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid, X has missing or infinite values or no variance,
            a column is constant with ``standardize=True``, or the weights sum to 1 or
            less.
        TypeError
            If X is sparse and the solver requires dense rows.
        """
        self._check_parameters()
        if isinstance(X, BlockSource):
            with closing(self._open_source(X, y, sample_weight)) as rows:
                self._fit(rows.X, rows.weight)
        else:
            self._fit(*self._read_training(X, sample_weight))
        return self

    @all_or_nothing
    def fit_transform(
        self, X: MatrixLike, y: None = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """Fit the principal components to rows and return their scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. A table of ``io.scan`` is read twice.
        y : None
            Ignored; it must be None if X is read in blocks.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows; a row of weight w counts as w rows. The name of a
            column, if X is read in blocks.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The scores.
        """
        if isinstance(X, BlockSource):
            return self.fit(X, y, sample_weight).transform(X)
        self._check_parameters()
        table = X
        X, weight = self._read_training(table, sample_weight)
        spectrum, signs = self._fit(X, weight)
        if "design_" in vars(self):
            return self.transform(table)
        if spectrum is None or spectrum.left is None or sample_weight is not None:
            scores = self._project(X)
        else:
            scores = spectrum.compute_scores(self.n_components_) * signs
        if self.whiten:
            scores *= self._find_whitening()
        return scores

    @available_if(_uses_matrix)
    @all_or_nothing
    def partial_fit(
        self, X: MatrixLike, y: None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Update the components with additional rows.

        Means and cross-products are merged, so the result equals that of :meth:`fit` on
        all rows, except for rounding. Components are computed on first access.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The additional rows, at least one.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows; a row of weight w counts as w rows.

        Returns
        -------
        self : PCA
            The estimator.

        Raises
        ------
        ValueError
            In the same cases as :meth:`fit`.

        Warns
        -----
        UserWarning
            After :meth:`fit`, which stores no sums: the fit then starts with these
            rows.
        """
        self._check_parameters()
        if isinstance(X, BlockSource):
            raise TypeError(
                f"partial_fit takes rows in memory, but {X._describe()} is read in "
                "blocks; fit reads all of them."
            )
        is_first = "_moments" not in vars(self)
        if is_first and "components_" in vars(self):
            warn_caller(
                f"{type(self).__name__} was fitted by fit, which stores no sums, so "
                "partial_fit starts from scratch with these rows. To combine rows, "
                "pass all of them to partial_fit.",
            )
        X, weight = self._read_training(
            X, sample_weight, is_first=is_first, is_last=False
        )
        moments = self._sum_rows(*self._drop_weightless(X, weight))
        if not is_first:
            moments = self._moments.merge(moments)
        self._forget()
        self._moments, self._dtype = moments, X.dtype
        return self

    @available_if(_uses_matrix)
    @all_or_nothing
    def fit_covariance(
        self,
        covariance: ArrayLike,
        *,
        mean: ArrayLike | None = None,
        n_samples: float | None = None,
    ) -> Self:
        """Compute the principal components of a covariance or correlation matrix.

        Parameters
        ----------
        covariance : array-like of shape (n_features, n_features)
            Symmetric matrix without negative eigenvalues. The column names of a data
            frame are the names of the variables. With ``standardize=True``, it is
            converted to a correlation matrix.
        mean : array-like of shape (n_features,), float or None, default=None
            Means of the variables. None: unknown; rows cannot be transformed then.
        n_samples : int, float or None, default=None
            Number of rows from which the matrix was computed, required for
            ``n_components="mle"``. None: unknown; ``singular_values_`` are NaN then.

        Returns
        -------
        self : PCA
            The fitted estimator.

        Raises
        ------
        ValueError
            If the matrix is not square and symmetric or has a negative eigenvalue, if
            ``mean`` has a different length, if ``n_samples`` is not more than 1, and in
            the same cases as :meth:`fit`.
        """
        self._check_parameters()
        vars(self).pop("design_", None)
        matrix = self._read_matrix(covariance)
        if n_samples is not None and not (is_real(n_samples) and n_samples > 1):
            raise ValueError(f"n_samples must be more than 1 or None; got {n_samples}.")
        if mean is not None:
            mean = np.asarray(mean, dtype=np.float64)
            fits = mean.shape in ((), (len(matrix),))
            if not fits or not np.isfinite(mean).all():
                raise ValueError(
                    f"mean must be one finite number or {len(matrix)}, one per "
                    f"variable; got an array of shape {mean.shape}."
                )
            mean = np.array(np.broadcast_to(mean, len(matrix)))
        self._forget()
        self._fit_matrix(matrix, mean, n_samples, np.dtype(np.float64), is_given=True)
        return self

    def __sklearn_is_fitted__(self):
        return "components_" in vars(self) or "_moments" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.categorical_features is None and self.missing == "error":
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = self.svd_solver in SPARSE_SOLVERS
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def __getattr__(self, name):
        # After partial_fit the components are computed on first access.
        if name in (*FITTED, *DERIVED) and "_moments" in vars(self):
            try:
                self._fit_moments(self._moments, self._dtype)
            except ValueError as error:
                raise NotFittedError(
                    f"The rows passed so far are not enough: {error}"
                ) from error
            return getattr(self, name)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )
