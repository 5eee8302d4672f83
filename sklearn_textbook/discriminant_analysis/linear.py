"""Linear discriminant analysis, 线性判别分析."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import BlockSource, accept_blocks
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.memory import require_memory
from sklearn_textbook._contract.parameters import name_some, show_value
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.discriminant_analysis.covariance import estimate_within
from sklearn_textbook.discriminant_analysis.inputs import DiscriminantInput
from sklearn_textbook.discriminant_analysis.linear_scores import LinearScores
from sklearn_textbook.discriminant_analysis.row_space import is_wide
from sklearn_textbook.discriminant_analysis.solvers import (
    solve_eigen,
    solve_lsqr,
    solve_svd,
)

#: Relative difference of class means that is not rounding.
DIFFERENT = 1e-9
#: Matrices of all columns that a fit with ``covariance_`` holds at a time, at least.
N_MATRICES = 4


class LinearDiscriminantAnalysis(
    LinearScores,
    ClassNamePrefixFeaturesOutMixin,
    ClassifierMixin,
    TransformerMixin,
    DiscriminantInput,
):
    r"""Linear discriminant analysis (线性判别分析, LDA).

    Rows are projected such that the centres of the classes are far apart and the rows
    of each class close together. If class k has :math:`m_k` rows with mean
    :math:`\mu_k`, and :math:`\mu` is the mean of all rows, the scatter within classes
    (类内散度), between classes (类间散度) and of all rows (全局散度) are

    .. math::

        S_w = \sum_k \sum_{x \in X_k} (x - \mu_k)(x - \mu_k)^T, \quad
        S_b = \sum_k m_k (\mu_k - \mu)(\mu_k - \mu)^T, \quad
        S_t = S_w + S_b.

    Two classes are projected onto the direction that maximises the generalised Rayleigh
    quotient J (广义瑞利商), and N classes onto the N - 1 directions, the columns of W,
    that solve the generalised eigenproblem:

    .. math::

        J(w) = \frac{w^T S_b w}{w^T S_w w}, \qquad
        w = S_w^{-1} (\mu_0 - \mu_1), \qquad
        S_b W = S_w W \Lambda.

    The classifier predicts the class with the largest posterior probability, assuming
    normal distributions with a common covariance matrix :math:`\Sigma` and priors
    :math:`\pi_k`. With equal priors, this is the class with the nearest projected
    centre. The covariance is the maximum likelihood estimate, as in scikit-learn, or
    with ``covariance_divisor="n-g"`` the unbiased one, as in R's ``MASS::lda``.

    Parameters of scikit-learn's ``LinearDiscriminantAnalysis`` have the same name,
    meaning and default here, so it is enough to replace the import.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        "svd" whitens the scatter within classes by a singular value decomposition, and
        then computes the principal directions of the centres; it never inverts a
        matrix, and works for all tables, also with more columns than rows. "lsqr"
        computes only the scores, by solving equations with the covariance matrix, and
        does not project; "eigen" solves the eigenproblem itself. The last two support
        shrinkage.
    shrinkage : float in [0, 1], "auto" or None, default=None
        Fraction :math:`s` of a multiple of the identity that is mixed into the
        covariance matrix C of each class with p columns, :math:`(1 - s) C +
        s\,\mathrm{tr}(C)/p\,I`. "auto": the formula of Ledoit and Wolf, for each class,
        on standardised columns. Not supported by "svd".
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes (先验概率). None: the class proportions by
        weight. They weight the centres and enter the scores; the covariance within
        classes does not depend on them, as in R's ``MASS::lda``.
    n_components : int, default=None
        Number of directions onto which ``transform`` projects. None: ``min(n_classes -
        1, n_features)``, the maximum.
    store_covariance : bool, default=False
        Whether ``covariance_`` is also computed by "svd", and by the other solvers for
        tables with more than 2000 columns and fewer rows than columns. For other
        tables, "lsqr" and "eigen" always compute it.
    tol : float, default=1e-4
        Singular values up to this value count as zero, for centred rows in units of the
        standard deviations of the columns within classes; so do directions of the
        centres up to this fraction of the largest. Only for "svd".
    covariance_estimator : estimator, default=None
        Estimator of the covariance matrix of each class: an object with ``fit`` and,
        once fitted, ``covariance_``, such as those in :mod:`sklearn.covariance`. It is
        cloned. Not supported by "svd", nor together with ``shrinkage``.
    categorical_features : "from_dtype", None, array-like or dict, default=None
        The columns with levels, of which each level but the first becomes an indicator
        column. "from_dtype": strings and categorical dtypes. A mask, indices or names:
        these columns. A dict from names or indices to "nominal", a set of levels, or
        the list of levels in ascending order, which become numbers from 0 to 1. None:
        all columns must be numbers. Levels not seen in training have the means of the
        indicators, with a warning.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values in X. "error": they raise an error. "drop":
        rows with one are left out of the fit, and their scores are NaN. "mean": numbers
        have the weighted mean of the column, levels the means of their indicators, and
        one more column, such as "missing(age)", marks them if the training rows have
        some; columns that lack the same rows share it.
    covariance_divisor : {"n", "n-g"}, default="n"
        What the scatter within classes is divided by for :math:`\Sigma`. "n": the sum n
        of the weights, which maximises the likelihood, as in scikit-learn and with
        ``method="mle"`` of ``MASS::lda``. "n-g": n minus the number g of classes, which
        is unbiased, as by default in ``MASS::lda``. Shrinkage is applied before.
        Not supported with a ``covariance_estimator``, which chooses itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the scores; for two classes, of the difference of their scores.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts of the scores.
    means_ : ndarray of shape (n_classes, n_features)
        Centres of the classes, :math:`\mu_k`.
    priors_ : ndarray of shape (n_classes,)
        Priors of the classes; they sum to 1.
    class_count_ : ndarray of shape (n_classes,)
        Number of rows of each class, :math:`m_k`, or the sum of their weights.
    xbar_ : ndarray of shape (n_features,)
        Mean of the centres, weighted by the priors.
    scalings_ : ndarray of shape (n_features, n_directions)
        The directions, columns of W, with :math:`W^T \Sigma W = I`, the best first.
        Signs are such that the centre of the last class is on the positive side of each
        direction. There are at most ``n_classes - 1`` directions; fewer if the centres
        span fewer dimensions. Not set by "lsqr".
    eigenvalues_ : ndarray of shape (n_directions,)
        Eigenvalues of the directions, the diagonal of :math:`\Lambda`: scatter between
        classes divided by scatter within classes, whatever ``covariance_divisor`` is.
        Not set by "lsqr".
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The eigenvalues divided by their sum. Not set by "lsqr".
    direction_ : ndarray of shape (n_features,)
        The direction :math:`w = S_w^{-1}(\mu_0 - \mu_1)`, for two classes.
        ``coef_`` is :math:`-m w`, with m the number of rows, or with
        ``covariance_divisor="n-g"`` that number minus 2.
    projected_means_ : ndarray of shape (n_classes, n_components)
        Projected centres of the classes: ``transform(means_)``. Not set by "lsqr".
    within_scatter_ : ndarray of shape (n_features, n_features)
        :math:`S_w`. With more columns than rows, for "svd" and above 2000 columns, it
        is only available with ``store_covariance=True``, since it would be larger than
        the table.
    between_scatter_ : ndarray of shape (n_features, n_features)
        :math:`S_b`, if ``within_scatter_`` is available.
    total_scatter_ : ndarray of shape (n_features, n_features)
        :math:`S_t`, if ``within_scatter_`` is available.
    within_rank_ : int
        Rank of :math:`S_w` as determined by the solver. If it is less than
        ``n_features``, columns are constant or linearly dependent within classes, or
        there are too few rows; see Notes.
    covariance_ : ndarray of shape (n_features, n_features)
        :math:`\Sigma`, the mean of the covariance matrices of the classes, weighted by
        their numbers of rows, including shrinkage. For "svd", and for wide tables, only
        with ``store_covariance=True``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.
    design_ : Design
        Encoding of the columns, if ``categorical_features`` or ``missing`` is set;
        ``design_.names`` are then the names of the columns of ``coef_``, and
        ``design_.n_dropped`` is the number of rows that were left out.

    See Also
    --------
    sklearn_textbook.inspection.DiscriminantDisplay : Plots the projection.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : No sample weights.

    Notes
    -----
    A ``sample_weight`` of w counts as w copies of the row in every sum; rows of weight
    0 are ignored. This also holds for "auto" shrinkage, whose formula depends on the
    number of rows. A ``covariance_estimator`` is passed the weights if its ``fit``
    accepts them, and copies of the rows otherwise.

    If :math:`S_w` is singular, "svd" omits the directions in which rows of a class do
    not differ, and finds the best among the others. A column that is constant within
    each class is therefore not used, even if it alone separates the classes. "lsqr"
    uses the minimum-norm solution in standardised columns. Both warn and name the
    columns. "eigen" raises a ``LinAlgError``. If :math:`S_w` is zero, all solvers raise
    a ``ValueError``.

    For two classes, the textbook defines :math:`S_b = (\mu_0 - \mu_1)(\mu_0 - \mu_1)^T`
    (3.34); ``between_scatter_`` is that of formula 3.43, which is :math:`m_0 m_1 / (m_0
    + m_1)` times as large.

    "svd" decomposes the centred rows only if this is necessary. If they are well
    conditioned, the Cholesky factor of their products gives the same result many times
    faster and loses at most five digits. These are the products of columns
    (:math:`S_w`), or of rows if there are fewer rows than columns.

    With ``priors``, scikit-learn's "lsqr" and "eigen" use them to weight the
    covariances of the classes, and its "eigen" computes the scatter between classes
    from both priors and rows, so posteriors and ratios of explained variance differ
    from those of its "svd"; here, all solvers agree. With ``shrinkage="auto"`` or a
    ``covariance_estimator``, the scatter between classes is that of the centres. In
    scikit-learn, it is the difference of two estimates, which may have negative
    eigenvalues, so projections of "eigen" differ, but predictions do not.

    Other differences from scikit-learn: ``sample_weight``; signs of directions do not
    depend on the machine; sums are computed in double precision, also for
    single-precision tables, whose results are then rounded; with more than two classes,
    the scores of "lsqr" and "eigen" are centred like those of "svd", so they differ by
    a number that is the same for all classes; ``scalings_`` of "eigen" has no columns
    beyond ``n_classes - 1``; of wide tables, "lsqr" and "eigen" have ``covariance_``
    only with ``store_covariance=True``; ``predict_log_proba`` is not limited by the
    smallest float; columns that vary only by rounding count as constant; ``transform``
    and ``get_feature_names_out`` agree if the centres span fewer dimensions.

    References
    ----------
    .. [1] 周志华《机器学习》, section 3.4, formulas 3.32-3.45, figure 3.3.
    .. [2] R. A. Fisher (1936), The use of multiple measurements in taxonomic problems.
       Annals of Eugenics 7.
    .. [3] O. Ledoit, M. Wolf (2004), A well-conditioned estimator for large-dimensional
       covariance matrices. Journal of Multivariate Analysis 88.

    Examples
    --------
    The watermelon data 3.0α (周志华《机器学习》, exercise 3.5):

    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_watermelon(version="3.0alpha", return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.classes_.tolist()
    ['否', '是']
    >>> model.direction_.round(3)
    array([-0.147, -0.739])
    >>> int((model.predict(X) == y).sum())
    12
    """

    _fits_blocks = True

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        categorical_features: ArrayLike | dict[str, Any] | None = None,
        missing: str = "error",
        covariance_divisor: str = "n",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.categorical_features = categorical_features
        self.missing = missing
        self.covariance_divisor = covariance_divisor

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the directions and scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows: finite numbers. A table that :func:`sklearn_textbook.io.scan`
            describes is read in blocks, with the same result. If it has more than
            65,536 rows, these must be more than the columns, and a
            ``covariance_estimator`` is not supported.
        y : array-like of shape (n_samples,)
            Class labels. The name of a column, if X is read in blocks.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None: 1 each. The name of a column, if X is read in
            blocks.

        Returns
        -------
        self : LinearDiscriminantAnalysis
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a label, a weight or a value is invalid, if there are not
            more rows than classes, or if in each class all rows are equal.
        NotImplementedError
            If ``solver="svd"`` is used with ``shrinkage``.
        LinAlgError
            If ``solver="eigen"`` and the covariance matrix has no inverse.
        MemoryError
            If matrices of all pairs of columns are required, by ``store_covariance`` or
            ``covariance_estimator``, and are larger than the memory of the machine.

        Warns
        -----
        UserWarning
            If a column is constant within each class, but not in all rows, or if
            columns are linearly dependent within classes, and there are enough rows to
            tell.
        """
        self._check_parameters()
        if isinstance(X, BlockSource):
            with closing(self._open_source(X, y, sample_weight)) as rows:
                self._fit(
                    *self._make_table(rows.X, rows.codes, rows.classes, rows.weight)
                )
        else:
            self._fit(*self._read_table(X, y, sample_weight))
        return self

    def _fit(self, table, units, dtype) -> None:
        """Fit to rows of classes."""
        n_directions = min(table.n_classes - 1, table.n_columns)
        if self.n_components is not None:
            if self.n_components > n_directions:
                raise ValueError(
                    "n_components cannot be larger than min(n_features, n_classes - 1) "
                    f"= {n_directions}, for {table.n_columns} columns and "
                    f"{table.n_classes} classes; got {self.n_components}."
                )
            n_directions = int(self.n_components)
        self.class_count_ = table.class_weight
        priors = self._choose_priors()
        factor = self.class_count_.sum() / self._find_divisor()
        solution = self._solve(table, priors).multiply_covariance(factor)
        self._warn_of_constant_columns(solution)
        self._warn_of_dependent_columns(solution)
        self.within_rank_ = solution.rank
        self.means_ = (solution.means * units).astype(dtype)
        self.priors_ = priors.astype(dtype)
        centre = priors @ solution.means
        self.xbar_ = (centre * units).astype(dtype)
        self._set_scores(solution, centre, units, dtype)
        self._set_scatter(table, solution, units)
        self._set_directions(solution, n_directions, units, dtype)

    @accept_blocks
    def transform(self, X: MatrixLike) -> np.ndarray:
        """Project rows onto the discriminant directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, or a table of :func:`sklearn_textbook.io.scan`.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The projected rows; with "svd", minus the projection of ``xbar_``. There are
            fewer columns if the centres of the classes span fewer dimensions.

        Raises
        ------
        NotImplementedError
            If the solver is "lsqr".
        """
        check_is_fitted(self)
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen')."
            )
        X = self._read_rows(X)
        return self._project(X)

    @property
    def direction_(self) -> np.ndarray:
        """The direction of the textbook, for two classes."""
        self._require(len(self.classes_) == 2, "direction_", "two classes")
        return -self.coef_[0] / self._find_divisor()

    @property
    def between_scatter_(self) -> np.ndarray:
        """Scatter between classes."""
        has_scatter = hasattr(self, "within_scatter_")
        self._require(has_scatter, "between_scatter_", "within_scatter_")
        means = self.means_.astype(np.float64)
        fraction = self.class_count_ / self.class_count_.sum()
        offsets = np.sqrt(self.class_count_)[:, np.newaxis] * (means - fraction @ means)
        with np.errstate(over="ignore"):
            return offsets.T @ offsets

    @property
    def total_scatter_(self) -> np.ndarray:
        """Scatter of all rows."""
        has_scatter = hasattr(self, "within_scatter_")
        self._require(has_scatter, "total_scatter_", "within_scatter_")
        return self.within_scatter_ + self.between_scatter_

    # ---------------------------------------------------------------------- parts
    def _require(self, is_there, name, what) -> None:
        """Raise an AttributeError for an attribute that was not computed."""
        if not is_there:
            raise AttributeError(f"{type(self).__name__} has {name} only with {what}.")

    def _find_divisor(self):
        """Find what the scatter within the classes is divided by."""
        total, n_classes = self.class_count_.sum(), len(self.class_count_)
        if self.covariance_divisor == "n":
            return total
        if not total > n_classes:
            raise ValueError(
                "covariance_divisor='n-g' requires a sum of weights above the number "
                f"of classes; got {total:g} for {n_classes} classes. Use "
                "covariance_divisor='n'."
            )
        return total - n_classes

    def _solve(self, table, priors):
        if table.is_in_files:
            self._require_blocks(table)
        self._require_memory(table)
        if self.solver == "svd":
            return solve_svd(table, priors, float(self.tol))
        solve = solve_lsqr if self.solver == "lsqr" else solve_eigen
        return solve(table, priors, self.shrinkage, self.covariance_estimator)

    def _require_blocks(self, table) -> None:
        """Refuse what needs all rows at once, for a table in files."""
        if self.covariance_estimator is not None:
            raise ValueError(
                f"covariance_estimator={show_value(self.covariance_estimator)} needs "
                "all rows of a class at once, but the table is read in blocks. Set it "
                "to None, and shrinkage to a number or 'auto'."
            )
        if table.n_columns >= table.n_rows - table.n_classes:
            raise ValueError(
                f"A table that is read in blocks needs more rows than columns; got "
                f"{table.n_rows} rows of {table.n_columns} columns."
            )

    def _require_memory(self, table):
        """Raise MemoryError if a required matrix of columns is too large."""
        is_small = self.solver == "svd" or is_wide(table, self.covariance_estimator)
        if is_small and not self.store_covariance:
            return
        n_columns = table.n_columns
        what = (
            "covariance_estimator"
            if self.covariance_estimator is not None
            else "store_covariance=True"
            if is_small
            else f"solver={self.solver!r}"
        )
        require_memory(
            8.0 * N_MATRICES * n_columns**2,
            f"LinearDiscriminantAnalysis with {what}",
            f"for {N_MATRICES} matrices of {n_columns:,} x {n_columns:,} columns",
            "Use solver='svd', or with shrinkage 'lsqr' or 'eigen', with "
            "store_covariance=False and covariance_estimator=None: with more columns "
            "than rows these need no such matrix.",
        )

    def _warn_of_constant_columns(self, solution):
        """Warn of columns that separate classes, but have no scatter within them."""
        means = solution.means
        is_ignored = (solution.coef == 0.0).all(axis=0)
        is_ignored &= np.ptp(means, axis=0) > DIFFERENT * np.abs(means).max(axis=0)
        if not is_ignored.any():
            return
        warn_caller(
            "Columns are constant within each class, but differ between classes: "
            f"{self._name_columns(is_ignored)}. They are ignored, although they "
            "separate classes, since they have no variance within classes.",
            UserWarning,
        )

    def _warn_of_dependent_columns(self, solution):
        """Warn of columns that follow from others within the classes."""
        if not solution.is_dependent.any():
            return
        treatment = (
            "Of all scores that solve the equations, those with the smallest norm are "
            "used"
            if self.solver == "lsqr"
            else "Directions in which rows of a class do not differ (see tol) are "
            "omitted, although they may separate classes"
        )
        warn_caller(
            "Columns are linearly dependent within classes: "
            f"{self._name_columns(solution.is_dependent)}. The rank is {solution.rank} "
            f"of {len(solution.is_dependent)} columns. {treatment}.",
            UserWarning,
        )

    def _name_columns(self, mask):
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        if "design_" in vars(self):
            names = self.design_.names
        return name_some([names[column] for column in np.flatnonzero(mask)])

    def _set_scores(self, solution, centre, units, dtype) -> None:
        """Set ``coef_`` and ``intercept_``; for two classes, their difference."""
        with np.errstate(divide="ignore"):  # a prior of 0 makes a score of -inf
            intercept = np.log(self.priors_.astype(np.float64))
        offsets = solution.means - centre
        intercept -= np.einsum("ij,ij->i", 0.5 * offsets + centre, solution.coef)
        coef = solution.coef
        if len(coef) == 2:
            coef = coef[1:] - coef[:1]
            intercept = intercept[1:] - intercept[:1]
        self.coef_ = (coef / units).astype(dtype)
        self.intercept_ = intercept.astype(dtype)

    def _set_directions(self, solution, n_directions, units, dtype):
        """Set the attributes for ``transform``, if the solver computed directions."""
        self._n_features_out = n_directions
        if solution.directions is None:
            self._forget("scalings_", "eigenvalues_", "projected_means_")
            self._forget("explained_variance_ratio_")
            return
        ratio = np.zeros(n_directions)
        if solution.total > 0.0:
            values = solution.eigenvalues[:n_directions]
            ratio[: len(values)] = values / solution.total
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.eigenvalues_ = solution.eigenvalues.astype(dtype)
        self.scalings_ = (solution.directions / units[:, np.newaxis]).astype(dtype)
        self._n_features_out = min(n_directions, self.scalings_.shape[1])
        self.projected_means_ = self._project(self.means_)

    def _set_scatter(self, table, solution, units) -> None:
        """Set ``within_scatter_`` and ``covariance_`` if available or requested."""
        self._forget("within_scatter_", "covariance_")
        scatter, covariance = solution.scatter, solution.covariance
        if scatter is None and self.store_covariance:
            _, scatter = table.compute_scatter()
        if covariance is None and self.store_covariance:
            covariance = estimate_within(
                table, self.shrinkage, self.covariance_estimator, scatter
            )
            covariance = covariance * (self.class_count_.sum() / self._find_divisor())
        if scatter is not None:
            total = self.class_count_.sum()
            self.within_scatter_ = _restore_units(scatter * total, units)
        if covariance is not None:
            self.covariance_ = _restore_units(covariance, units)

    def _forget(self, *names) -> None:
        """Delete attributes of an earlier fit."""
        for name in names:
            vars(self).pop(name, None)

    def _project(self, X):
        centred = X - self.xbar_ if self.solver == "svd" else X
        return centred @ self.scalings_[:, : self._n_features_out]


def _restore_units(matrix, units):
    """Products of columns in their own units; infinite if too large for a float."""
    if (units == 1.0).all():
        return matrix
    with np.errstate(over="ignore"):
        return matrix * units * units[:, np.newaxis]
