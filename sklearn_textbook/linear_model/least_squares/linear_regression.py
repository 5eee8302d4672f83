"""Linear regression by least squares, 线性回归."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_real,
    check_truth,
)
from sklearn_textbook._contract.scoring import RegressorMixin
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.inference.influence import (
    Influence,
    WeightedRows,
)
from sklearn_textbook.linear_model.inference.result import (
    LinearResult,
    WaldTest,
    require_no_penalty,
)
from sklearn_textbook.linear_model.inference.robust import (
    TrainingScores,
    measure_errors,
    robust_covariance,
)
from sklearn_textbook.linear_model.inference.summary import WIDTH
from sklearn_textbook.linear_model.least_squares.inference import (
    LeastSquaresInference,
)
from sklearn_textbook.linear_model.least_squares.solution import (
    find_dependencies,
    solve,
    solve_iteratively,
)
from sklearn_textbook.linear_model.least_squares.summary import (
    summarise_regression,
)
from sklearn_textbook.linear_model.least_squares.targets import (
    read_numeric_targets,
    read_stored_targets,
    require_powers,
)
from sklearn_textbook.linear_model.solve.row_blocks import is_sparse, is_stored
from sklearn_textbook.linear_model.solve.row_triangle import (
    RowTriangle,
    is_worth_products,
    reduce_rows,
)

#: What a weight counts.
WEIGHT_TYPES = ("frequency", "variance")
#: Multiplications up to which the rows of a sparse table are reduced.
MAX_SPARSE_WORK = 2**36
#: Squares of larger numbers, or sums of these, may be infinite.
LARGEST = 1e150
#: Fitted attributes, which are deleted before the next fit.
FITTED = ("_rows", "_solution", "_inference", "_robust_covariance", "rank_")
#: Kinds of intervals of predictions.
KINDS = ("prediction", "confidence")


class LinearRegression(MultiOutputMixin, RegressorMixin, BaseLinearModel):
    r"""Linear regression (线性回归) by least squares (最小二乘法), with inference.

    The coefficients b and the intercept :math:`b_0` minimise the weighted sum of
    squared residuals plus a penalty,

    .. math:: (b^*, b_0^*) = \arg\min_{b, b_0} \; \sum_i w_i (y_i - x_i^T b - b_0)^2
              + \alpha \|b\|^2 .

    If the columns are linearly independent, the solution without penalty and weights
    has the closed form

    .. math:: \hat w^* = (\hat X^T \hat X)^{-1} \hat X^T y

    with :math:`\hat X = [X, 1]`. For a single column, it is

    .. math:: b = \frac{\sum_i y_i (x_i - \bar x)}
              {\sum_i x_i^2 - \frac{1}{m} \left(\sum_i x_i\right)^2} , \qquad
              b_0 = \frac{1}{m} \sum_i (y_i - b x_i) .

    The product :math:`\hat X^T \hat X` is not computed: the centred rows are reduced to
    a triangular matrix by Householder reflections, in blocks, and the triangular system
    is solved. If columns are linearly dependent, there are many solutions, and the one
    with the smallest norm of b is used. A warning names these columns, unless there are
    fewer rows than coefficients or ``reference_level`` is None, and
    :meth:`find_dependent_columns` shows how they depend on others. All statistics are
    computed from the same triangular matrix on access.

    Parameters of scikit-learn's ``LinearRegression`` have the same name and meaning
    here, so it is enough to replace the import.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Ignored: X is never overwritten.
    tol : float, default=1e-10
        Singular values of the (centred) columns below this fraction of the largest
        count as zero. Columns are scaled to unit length first, so units of measurement
        have no effect. The rounding of the values is always taken into account. For
        large sparse X, the relative error at which the iterations stop.
    n_jobs : int or None, default=None
        Number of threads. None: one per core. The result does not depend on it.
    positive : bool, default=False
        Whether to constrain coefficients to be at least 0. There are then no standard
        errors.
    alpha : float, default=0.0
        Strength of the penalty on the squared coefficients, without the intercept
        (ridge regression, 岭回归), as in scikit-learn's ``Ridge``.
    weight_type : {"frequency", "variance"}, default="frequency"
        Meaning of ``sample_weight`` for standard errors; the coefficients do not depend
        on it. "frequency": a row of weight w counts as w identical rows; if weights are
        not whole numbers, degrees of freedom and what depends on them warn. "variance":
        one row whose target has variance :math:`\sigma^2 / w`, as in R's ``lm``.
        statsmodels has two arguments for this, ``freq_weights`` and ``var_weights``.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Columns with levels. "from_dtype": strings and categorical dtypes. A mask,
        indices or names: these columns, without order. A dict from names or indices to
        "nominal", a set of levels (without order), or a list of levels in ascending
        order. Ordinal columns (有序属性) are mapped to [0, 1], nominal ones (无序属性)
        become indicator columns.
    reference_level : {"first", "last", "most_frequent"}, dict or None, default="first"
        The level of a nominal column without indicator; a dict has the level by name or
        number of the column, the others have the first. None: all levels have one, and
        the coefficients with the smallest norm are used.
    handle_unknown : {"mean", "error"}, default="mean"
        How levels not seen in training are treated: "mean" gives them the mean of the
        effects of the levels in the training rows, with a warning: indicators take
        their weighted means (ordinal columns: their mean); "error" raises an error.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values in X. "error": they raise an error. "drop":
        rows with one are left out of the fit, as by R's ``na.omit``, and their
        predictions are NaN. "mean": numbers have the weighted mean of the column,
        levels the mean of their indicators, and one more column, such as
        "missing(age)", marks them if the training rows have some; columns that lack the
        same rows share it.
    formula : str, default=None
        Terms of the model in place of the columns, in Wilkinson's notation, such as "x1
        * C(g) + poly(x, 3)"; see :func:`from_formula`, which takes the target, too.
        None: all columns of the table.
    interactions : "pairwise" or list of tuples, default=None
        Products of columns (交互作用) besides the columns themselves: of all pairs, or
        of these columns, by name or number. A product with a nominal column has a
        coefficient for each level but the reference level.
    covariance_type : str, default="nonrobust"
        Kind of the covariance of the coefficients, on which standard errors, tests and
        intervals rest. "nonrobust": that of the model. "HC0", "HC1", "HC2", "HC3" and
        "cluster" are robust (稳健): see :func:`robust_covariance`; "cluster" takes
        the ``groups`` of ``fit``. They need all rows in memory, and a model without a
        penalty.

    Attributes
    ----------
    coef_ : ndarray of shape (n_coefficients,) or (n_targets, n_coefficients)
        Coefficients b of the design matrix columns.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept :math:`b_0`; 0 if ``fit_intercept=False``.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        Names of the design matrix columns.
    design_ : Design
        Encoding of the columns of the table.
    rank_ : int
        Rank of the (centred) columns.
    singular_ : ndarray of shape (min(n_samples, n_coefficients),)
        Singular values of the (centred) columns.
    coefficient_table_ : CoefficientTable, or list of CoefficientTable
        Estimates, standard errors, t, p and confidence intervals.
    standard_errors_, intercept_standard_error_ : ndarray or float
        Standard errors (标准误差); NaN for coefficients that are not determined by the
        rows.
    covariance_ : ndarray of shape (1 + n_coefficients, 1 + n_coefficients)
        Covariance matrix of the estimates, the intercept first; zeros if there is none.
        For several targets, one matrix for each.
    variance_inflation_ : ndarray of shape (n_coefficients,)
        Variance inflation factors (方差膨胀因子).
    residual_sum_of_squares_, residual_standard_error_ : float or ndarray
        Sum of squared residuals, and estimate of :math:`\sigma` (残差标准误).
    residual_degrees_of_freedom_ : float
        Number of observations minus the number of coefficients that they determine.
    effective_rank_ : float
        The rank; with a penalty, the trace of the hat matrix minus 1 for the intercept.
    r_squared_, adjusted_r_squared_ : float or ndarray
        Coefficient of determination (决定系数), relative to the mean if there is an
        intercept or a linear combination of columns is constant, and relative to 0
        otherwise.
    f_statistic_, f_p_value_ : float or ndarray
        Test that all coefficients except the constant are zero (F 检验).
    log_likelihood_, aic_, bic_ : float or ndarray
        Normal log-likelihood and information criteria, which count the variance as a
        parameter, as in R.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    See Also
    --------
    sklearn.linear_model.LinearRegression : The same coefficients for full rank; no
        standard errors, levels, penalty or blocks of rows. Singular values of unscaled
        columns below 1e-6 of the largest count as zero.
    sklearn.linear_model.Ridge : Uses the same penalty ``alpha``.

    Notes
    -----
    With ``alpha``, fitted values are :math:`H y`, the effective degrees of freedom are
    :math:`\mathrm{tr} H`, and those of the residuals :math:`n - \mathrm{tr}(2 H - H
    H^T)`. Standard errors are those of the shrunk estimates and do not include their
    bias towards 0, so there are no t, p and confidence intervals of coefficients.

    The triangular matrix of a sparse table is computed from products of its columns if
    these are well conditioned, and from dense blocks of rows otherwise. If this would
    take more than about :math:`2^{36}` multiplications, LSQR is used instead, and only
    coefficients are available.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), Tsinghua University Press,
    2016, section 3.2, formulas (3.4) to (3.12).

    G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition, 2013, chapter 5.

    R. D. Cook, Detection of influential observation in linear regression,
    Technometrics 19(1), 1977.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> melons = pd.DataFrame({"weight": [1.2, 2.1, 1.7, 3.0, 2.4, 1.1]})
    >>> melons["stripes"] = ["clear", "vague", "clear", "clear", "vague", "vague"]
    >>> price = [3.1, 4.0, 4.2, 6.9, 4.8, 1.9]
    >>> model = LinearRegression().fit(melons, price)
    >>> model.coef_names_.tolist()
    ['weight', 'stripes=vague']
    >>> model.coef_.round(2).tolist()
    [2.14, -0.95]
    >>> model.coefficient_table_.p_values.round(4).tolist()
    [0.0132, 0.0, 0.0006]
    >>> model.predict_interval(melons[:1]).round(2)
    array([[2.8 , 3.39]])
    """

    _fits_blocks = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-10,
        n_jobs: int | None = None,
        positive: bool = False,
        alpha: float = 0.0,
        weight_type: str = "frequency",
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | dict[Any, Any] | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
        formula: str | None = None,
        interactions: str | list | None = None,
        covariance_type: str = "nonrobust",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.alpha = alpha
        self.weight_type = weight_type
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.formula = formula
        self.interactions = interactions
        self.covariance_type = covariance_type

    # ----------------------------------------------------------------------- fitting
    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The training rows, or a table that :func:`sklearn_textbook.io.scan` reads in
            blocks.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or str
            The targets; the name of a column of a table in blocks.
        sample_weight : array-like of shape (n_samples,), float, str or None, \
                default=None
            Weights of the rows; see the parameter ``weight_type``. Rows of weight 0 are
            ignored. The name of a column of a table in blocks.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, with ``covariance_type="cluster"``.

        Returns
        -------
        self : LinearRegression
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid, X or y has missing or infinite values, or their
            lengths differ.

        Warns
        -----
        UserWarning
            If columns are linearly dependent or constant, without a penalty and without
            ``positive``.
        """
        self._check_parameters()
        is_penalised = bool(self.alpha > 0 or self.positive)
        self._check_covariance_type(X, groups, is_penalised=is_penalised)
        if isinstance(X, BlockSource):
            with closing(
                self._open_columns(X, y, sample_weight, is_numeric=True)
            ) as columns:
                matrix = self._read_stored_rows(columns)
                Y = read_stored_targets(columns, self)
                self._fit_rows(matrix, Y, columns.weight, 1)
            return self
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        Y = read_numeric_targets(y, X, self, is_present)
        self._fit_rows(matrix, Y.reshape(len(Y), -1), weight, Y.ndim)
        if self.covariance_type != "nonrobust":
            kind = self.covariance_type
            self._robust_covariance = robust_covariance(
                self, X, y, sample_weight, covariance_type=kind, groups=groups
            )
        return self

    def _fit_rows(self, matrix, Y, weight, n_dimensions) -> None:
        """Fit to rows with the targets in columns."""
        require_powers(Y)
        if self._is_too_large(matrix):
            self._fit_iteratively(matrix, Y, weight, n_dimensions)
        else:
            self._solve(self._reduce(matrix, Y, weight), n_dimensions)
            if self._alpha == 0 and not self._positive:
                self._warn_of_dependence(
                    self.rank_,
                    self._rows.n_rows,
                    lambda: ~self._infer().is_determined,
                )

    def _require_nonrobust(self, name: str) -> None:
        """Raise ValueError for robust errors, which need all rows at once."""
        if self.covariance_type != "nonrobust":
            raise ValueError(
                f"{name} keeps no rows, which covariance_type={self.covariance_type!r} "
                "requires; set covariance_type='nonrobust'."
            )

    @all_or_nothing
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Update the fit with additional rows.

        The triangular matrix of all previous rows is stored, so the result equals that
        of :meth:`fit` on all rows, except for rounding. Rows of a previous ``fit`` are
        included.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The additional rows, at least one. The levels of nominal columns must be
            declared by a categorical dtype, or by ``categorical_features`` as a dict.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of these rows.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.

        Returns
        -------
        self : LinearRegression
            The estimator.

        Raises
        ------
        ValueError
            In the same cases as :meth:`fit`; if levels are not declared; if the number
            of targets, ``fit_intercept`` or ``weight_type`` has changed.
        """
        self._check_parameters()
        self._require_nonrobust("partial_fit")
        is_first = "coef_" not in vars(self)
        if is_first:
            read = self._read_training_table(X, sample_weight, keeps_all_levels=True)
        else:
            self._require_rows()
            read = self._read_more_rows(X, sample_weight)
        matrix, weight, is_present = read
        Y = read_numeric_targets(y, X, self, is_present)
        if not is_first:
            self._require_alike(self._rows, Y)
        rows = self._reduce(matrix, Y.reshape(len(Y), -1), weight)
        self._solve(rows if is_first else self._rows.merge(rows), Y.ndim)
        return self

    @all_or_nothing
    def merge(self, other: Any) -> Self:
        """Add the rows to which another model was fitted.

        The result equals that of :meth:`fit` on the rows of both, so parts of a table
        can be fitted on several machines.

        Parameters
        ----------
        other : LinearRegression
            Model trained on rows with the same columns; if some are nominal, with
            :meth:`partial_fit`, so that both have the same levels. It is not changed.

        Returns
        -------
        self : LinearRegression
            The estimator.

        Raises
        ------
        ValueError
            If the columns, targets, ``fit_intercept`` or ``weight_type`` differ.

        Examples
        --------
        >>> from sklearn_textbook.linear_model import LinearRegression
        >>> first = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
        >>> other = LinearRegression().fit([[2.0], [3.0]], [4.0, 5.0])
        >>> first.merge(other).coef_.round(6).tolist()
        [1.8]
        """
        self._check_parameters()
        self._require_nonrobust("merge")
        for model in (self, other):
            check_is_fitted(model, "coef_")
            model._require_rows()
        if other.design_ != self.design_:
            raise ValueError(
                "The models were trained on tables with different columns: "
                f"{list(self.coef_names_)} and {list(other.coef_names_)}. Nominal "
                "columns must have the same levels in both; partial_fit keeps all "
                "declared levels."
            )
        self._require_alike(other._rows, np.empty((0, *np.shape(other.intercept_))))
        if other.coef_.ndim != self.coef_.ndim:
            raise ValueError(
                "y must have the same number of dimensions in both models, got "
                f"{self.coef_.ndim} and {other.coef_.ndim}."
            )
        self.design_ = self.design_.merge(other.design_)
        self._solve(self._rows.merge(other._rows), self.coef_.ndim)
        return self

    def predict(self, X: MatrixLike, return_std: bool = False) -> np.ndarray | Any:
        """Predict the target of each row.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        return_std : bool, default=False
            Whether to return the standard errors of the predicted means as well (R's
            ``se.fit``). :meth:`predict_interval` also includes the variance of the
            targets.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions :math:`X b + b_0`.
        y_std : ndarray of the same shape
            Standard errors, if requested; NaN where the training rows do not determine
            the mean because the rank is deficient.
        """

        def predict_block(matrix):
            predicted = matrix @ self.coef_.T
            predicted += self.intercept_
            if not return_std:
                return predicted
            errors = self._infer().compute_unit_errors(matrix)
            robust = self._get_robust()
            if robust is None:
                return predicted, self._scale(errors)
            has_intercept = self._rows.has_intercept
            found = measure_errors(matrix, robust, has_intercept=has_intercept)
            return predicted, np.where(np.isnan(errors), np.nan, found)

        return self._predict_blocks(X, predict_block)

    def _scale(self, unit_errors):
        """Multiply errors by the residual standard error of each target."""
        scales = self._infer().residual_standard_error
        errors = np.multiply.outer(unit_errors, scales)
        return errors if self.coef_.ndim == 2 else errors[:, 0]

    def predict_interval(
        self, X: MatrixLike, level: float = 0.95, kind: str = "prediction"
    ) -> np.ndarray:
        r"""Compute prediction or confidence intervals.

        .. math:: \hat y \pm t_{(1 + level) / 2}
            \sqrt{s^2 + \hat\sigma^2 / w}, \quad \text{or} \quad
            \hat y \pm t_{(1 + level) / 2} s,

        where s is the standard error of the mean, t the quantile of Student's t
        distribution, and w is 1.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        level : float, default=0.95
            Probability of the interval.
        kind : {"prediction", "confidence"}, default="prediction"
            Interval for a new target (预测区间) or for the mean (置信区间).

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper limits.

        Raises
        ------
        ValueError
            If ``level`` or ``kind`` is invalid.
        """
        check_is_fitted(self)
        check_level(level)
        check_choice("kind", kind, KINDS)
        predicted, errors = self.predict(X, return_std=True)
        inference = self._infer()
        if kind == "prediction":
            errors = np.hypot(errors, self._squeeze(inference.residual_standard_error))
        half = inference.compute_quantile(level) * errors
        return np.stack([predicted - half, predicted + half], axis=1)

    def influence(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Influence:
        """Compute residuals, leverage and influence of the training rows.

        Parameters
        ----------
        X : {array-like, data frame, sparse matrix} of shape (n_samples, n_features)
            The training rows, or some of them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets of these rows.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of these rows, if they are precisions. Frequencies have no effect:
            the measures are those of a single copy of the row.

        Returns
        -------
        influence : Influence
            Fitted values, residuals, leverage, standardised and studentised residuals,
            Cook's distances, DFFITS and DFBETAS.
        """
        check_is_fitted(self)
        matrix = self._read_new_table(X)
        Y = read_numeric_targets(y, X, self)
        if Y.shape[1:] != self.coef_.shape[:-1]:
            raise ValueError(
                f"y has shape {Y.shape}, but the model was fitted to "
                f"{'one target' if self.coef_.ndim == 1 else len(self.coef_)} per row."
            )
        weight = check_weights(sample_weight, len(Y))
        inference = self._infer()
        leverage, root_weight = inference.compute_leverage(matrix), None
        if self._weight_type == "variance" and weight is not None:
            leverage, root_weight = weight * leverage, np.sqrt(weight)
        fitted = matrix @ self.coef_.T + self.intercept_
        rows = WeightedRows(
            matrix,
            root_weight,
            self._rows.mean,
            inference.hat_inverse,
            1.0 / self._rows.total_weight if self._rows.has_intercept else 0.0,
            self._rows.has_intercept,
            np.append(self._rows.has_intercept, inference.is_determined),
        )
        return Influence(
            leverage,
            inference.effective_rank + self._rows.has_intercept,
            inference.residual_degrees_of_freedom,
            rows,
            fitted,
            Y - fitted,
            self._squeeze(inference.residual_standard_error),
            root_weight,
        )

    def summary(
        self,
        X: MatrixLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        level: float = 0.95,
        width: int | None = WIDTH,
    ) -> str:
        """Return a text summary of the fit.

        Parameters
        ----------
        X, y, sample_weight : array-like, default=None
            The training rows, to include the quartiles of the residuals and the
            Durbin-Watson statistic. None: these are left out.
        level : float, default=0.95
            Confidence level of the intervals.
        width : int or None, default=80
            Maximum line length; long names are shortened. None: no limit.

        Returns
        -------
        text : str
            Rank, fit, tests and the table of coefficients; for several targets, one
            summary after the other.
        """
        check_is_fitted(self)
        influence = None if X is None else self.influence(X, y, sample_weight)
        return summarise_regression(self, influence, level, width)

    def _infer(self):
        """Return the measures of the fitted model."""
        if "_inference" not in vars(self):
            check_is_fitted(self)
            if self._rows is None:
                raise AttributeError(
                    f"This {type(self).__name__} was fitted iteratively, since the "
                    "sparse table is large, and has only coefficients. Fit it with "
                    "partial_fit, or with fewer columns."
                )
            self._inference = LeastSquaresInference(
                self._rows,
                self._solution,
                self._alpha,
                self._positive,
                self._weight_type,
            )
        return self._inference

    def _squeeze(self, values):
        """One number for one target."""
        if self.coef_.ndim == 2:
            return np.array(values)
        return float(values[0])

    def _make_result(self) -> LinearResult:
        """Describe the coefficients for tests and intervals."""
        inference, rows = self._infer(), self._rows
        if self.coef_.ndim == 2:
            raise ValueError(
                f"{type(self).__name__} was fitted to targets in two dimensions; fit "
                "one model for each target, to a vector."
            )
        require_no_penalty(self, self._alpha, f"alpha={self._alpha:g}")
        if self._positive:
            raise ValueError(
                "Coefficients that are constrained to be at least 0 have no standard "
                "errors; fit without positive=True."
            )
        first = int(not rows.has_intercept)
        variance = float(inference.residual_standard_error[0]) ** 2
        covariance = variance * inference.unit_covariance[first:, first:]
        robust = self._get_robust()
        is_determined = np.append(
            np.isfinite(inference.unit_intercept_error), inference.is_determined
        )
        return LinearResult(
            names=self._name_coefficients(),
            headings=("",),
            estimates=np.append(self.intercept_, self.coef_)[first:],
            covariance=covariance if robust is None else robust,
            model_covariance=None if robust is None else covariance,
            is_determined=is_determined[first:],
            degrees_of_freedom=float(inference.residual_degrees_of_freedom),
            terms=self._list_terms(),
            is_least_squares=True,
            deviance=float(inference.residual_sum_of_squares[0]),
            log_likelihood=self.log_likelihood_,
            dispersion=variance,
            knows_dispersion=False,
            n_parameters=float(inference.n_parameters),
            residual_degrees_of_freedom=float(inference.residual_degrees_of_freedom),
            n_observations=float(inference.n_observations),
            # Without an intercept about 0, whether or not a column is constant.
            null_deviance=float(
                rows.residual[0] + (rows.slopes_targets[:, 0] ** 2).sum()
            ),
        )

    def _find_scores(self, X, y, sample_weight) -> TrainingScores:
        """Compute the scores of the training rows."""
        matrix, weight, is_present = self._read_rows_again(X, sample_weight)
        y = read_numeric_targets(y, X, self)
        if y.shape != is_present.shape:
            raise ValueError(
                f"y must have shape {is_present.shape}, as it had in fit; got {y.shape}"
                "."
            )
        residuals = y[is_present] - (matrix @ self.coef_ + self.intercept_)
        weight = np.ones(len(residuals)) if weight is None else weight
        inference = self._infer()
        squares = inference.residual_sum_of_squares[0]
        found = float(weight @ residuals**2)
        slack = 1e-6 * squares + 1e-9 * inference.total_sum_of_squares[0]
        if abs(found - squares) > slack:
            raise ValueError(
                "The rows, targets and weights must be those of the fit, which had the "
                f"residual sum of squares {squares:.9g}; got {found:.9g}."
            )
        copies, precision = weight, np.ones(len(weight))
        if self._weight_type == "variance":
            copies, precision = precision, copies
        first = int(not self._rows.has_intercept)
        return TrainingScores(
            is_present,
            matrix,
            self._rows.has_intercept,
            (precision * residuals)[:, np.newaxis],
            copies,
            precision * inference.compute_leverage(matrix),
            inference.unit_covariance[first:, first:],
        )

    def _get_robust(self) -> np.ndarray | None:
        """Return the robust covariance of the coefficients; None without one."""
        return vars(self).get("_robust_covariance")

    def _get_robust_errors(self) -> np.ndarray | None:
        """Return robust errors, the intercept first; None if they are not robust."""
        robust = self._get_robust()
        if robust is None:
            return None
        errors = np.sqrt(np.maximum(robust.diagonal(), 0.0))
        if not self._rows.has_intercept:
            errors = np.append(0.0, errors)
        inference = self._infer()
        errors[1:][~inference.is_determined] = np.nan
        if not np.isfinite(inference.unit_intercept_error):
            errors[0] = np.nan
        return errors

    def _respond(self, predictors: np.ndarray):
        """Responses of linear predictors, their names, and derivatives."""
        return predictors, ("",), np.ones((len(predictors), 1, 1))

    # ------------------------------------------------------------------- coefficients
    @property
    def standard_errors_(self) -> np.ndarray:
        """Standard errors (标准误差) of the coefficients, in the shape of ``coef_``."""
        robust = self._get_robust_errors()
        if robust is not None:
            return robust[1:]
        errors = self._infer().standard_errors.T
        return errors if self.coef_.ndim == 2 else errors[0]

    @property
    def intercept_standard_error_(self) -> float | Any:
        """Standard error of the intercept; 0 if there is none."""
        robust = self._get_robust_errors()
        if robust is not None:
            return float(robust[0])
        inference = self._infer()
        unit = inference.unit_intercept_error
        return self._squeeze(unit * inference.residual_standard_error)

    @property
    def covariance_(self) -> np.ndarray:
        """Covariance matrix of the estimates, the intercept first (R's ``vcov``)."""
        robust = self._get_robust()
        if robust is not None:
            return robust if self._rows.has_intercept else np.pad(robust, ((1, 0),) * 2)
        inference = self._infer()
        variances = inference.residual_standard_error**2
        covariances = np.multiply.outer(variances, inference.unit_covariance)
        return covariances if self.coef_.ndim == 2 else covariances[0]

    @property
    def coefficient_table_(self) -> CoefficientTable:
        """Estimates, errors, t, p, 95% intervals; a list for several targets."""
        return self.make_coefficient_table()

    def make_coefficient_table(self, level: float = 0.95) -> CoefficientTable | Any:
        """Make a table of the coefficients with standard errors and tests.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals (置信区间).

        Returns
        -------
        table : CoefficientTable or list of CoefficientTable
            Names, estimates, standard errors, t, p and confidence intervals, the
            intercept first; for several targets, a list of one table each.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1.
        """
        inference = self._infer()
        check_level(level)
        names, has_intercept = tuple(self.coef_names_), self._rows.has_intercept
        if has_intercept:
            names = ("intercept", *names)
        tables = []
        coefs = np.atleast_2d(self.coef_)
        intercepts = np.broadcast_to(self.intercept_, len(coefs))
        for target, scale in enumerate(inference.residual_standard_error):
            estimates, errors = coefs[target], inference.unit_errors
            if has_intercept:
                estimates = np.append(intercepts[target], estimates)
                errors = np.append(inference.unit_intercept_error, errors)
            errors = scale * errors
            robust = self._get_robust_errors()
            if robust is not None:
                errors = robust[int(not has_intercept) :]
            freedom = float(inference.residual_degrees_of_freedom)
            tables.append(
                CoefficientTable(
                    *(names, estimates, errors, freedom, level),
                    is_penalised=inference.alpha > 0,
                )
            )
        return tables if self.coef_.ndim == 2 else tables[0]

    @property
    def variance_inflation_(self) -> np.ndarray:
        """Variance inflation factors (方差膨胀因子) of the columns.

        This is the ratio of the variance of a coefficient to its variance if its column
        were uncorrelated with all others.
        """
        return self._infer().variance_inflation

    @property
    def singular_(self) -> np.ndarray:
        """Singular values of the (centred, weighted) columns, in descending order."""
        return self._infer().singular_values

    def find_dependent_columns(self) -> dict[str, dict[str, float]]:
        """Find columns that are linear combinations of others.

        Returns
        -------
        dependencies : dict of dict
            Maps the name of each such column to the coefficients of the preceding
            columns in the linear combination; "intercept" is a constant. Empty if the
            rank is full.
        """
        self._infer()
        return find_dependencies(self._rows, self._solution, list(self.coef_names_))

    # ---------------------------------------------------------------- the whole model
    @property
    def residual_degrees_of_freedom_(self) -> float:
        """Number of observations minus the degrees of freedom of the fit."""
        return self._infer().residual_degrees_of_freedom

    @property
    def effective_rank_(self) -> float:
        """Trace of the hat matrix, minus 1 for the intercept.

        This is the rank or, with a penalty, the effective degrees of freedom
        (有效自由度).
        """
        return self._infer().effective_rank

    @property
    def residual_sum_of_squares_(self) -> float | Any:
        """Weighted sum of squared residuals (残差平方和)."""
        return self._squeeze(self._infer().residual_sum_of_squares)

    @property
    def residual_standard_error_(self) -> float | Any:
        """Estimated standard deviation of the noise (残差标准误)."""
        return self._squeeze(self._infer().residual_standard_error)

    @property
    def r_squared_(self) -> float | Any:
        """Coefficient of determination (决定系数) on the training rows."""
        return self._squeeze(self._infer().r_squared)

    @property
    def adjusted_r_squared_(self) -> float | Any:
        """Adjusted coefficient of determination (调整后的决定系数)."""
        return self._squeeze(self._infer().adjusted_r_squared)

    @property
    def f_statistic_(self) -> float | Any:
        """F statistic of the test that all slopes are zero (F 检验)."""
        test = self._test_slopes()
        return (
            self._squeeze(self._infer().f_statistic)
            if test is None
            else (test.statistic)
        )

    def _test_slopes(self) -> WaldTest | None:
        """Test that all slopes are zero; None if errors are not robust."""
        if self._get_robust() is None:
            return None
        result = self._make_result()
        slopes = np.eye(len(result.estimates))[int(self._rows.has_intercept) :]
        is_tested = result.is_determined[int(self._rows.has_intercept) :]
        return result.test(slopes[is_tested], None)

    @property
    def f_p_value_(self) -> float | Any:
        """P-value of the F test that all slopes are zero."""
        test = self._test_slopes()
        if test is not None:
            return test.p_value
        return self._squeeze(self._infer().f_p_value)

    @property
    def log_likelihood_(self) -> float | Any:
        """Maximum of the normal log-likelihood (对数似然)."""
        return self._squeeze(self._infer().log_likelihood)

    @property
    def aic_(self) -> float:
        """Akaike's information criterion, counting the variance as a parameter."""
        return self._squeeze(self._infer().aic)

    @property
    def bic_(self) -> float:
        """Bayesian information criterion, counting the variance as a parameter."""
        return self._squeeze(self._infer().bic)

    def _check_parameters(self) -> None:
        for name in ("fit_intercept", "copy_X", "positive"):
            check_truth(name, getattr(self, name))
        check_real("tol", self.tol, 0.0)
        check_real("alpha", self.alpha, 0.0, np.finfo(np.float64).max)
        check_choice("weight_type", self.weight_type, WEIGHT_TYPES)
        self._check_table_parameters()

    def _is_too_large(self, matrix: np.ndarray | csr_array) -> bool:
        if not is_sparse(matrix) or self.positive:
            return False
        n_rows, n_columns = matrix.shape
        n_products = n_rows if not is_worth_products(matrix) else 0
        return n_columns**2 * max(n_products, n_columns) > MAX_SPARSE_WORK

    def _reduce(self, matrix, Y: np.ndarray, weight: np.ndarray | None) -> RowTriangle:
        n_cells = matrix.shape[0] * matrix.shape[1]
        n_threads = count_threads(self.n_jobs, n_cells)
        with np.errstate(over="ignore", invalid="ignore"):
            rows = reduce_rows(
                matrix,
                Y,
                weight,
                has_intercept=bool(self.fit_intercept),
                n_threads=n_threads,
            )
        for numbers in (rows.triangle, rows.targets, np.sqrt(rows.residual)):
            # Not the absolute values, which would be a copy of a wide table.
            largest = max(numbers.max(initial=0.0), -numbers.min(initial=0.0))
            if not largest < LARGEST:
                raise ValueError(
                    "The numbers of X or y, times the square roots of weights, are so "
                    "large that their squares overflow: divide them by a power of ten."
                )
        return rows

    def _solve(self, rows: RowTriangle, n_dimensions: int) -> None:
        """Find the coefficients, and forget what belongs to earlier ones."""
        self._forget(*FITTED)
        self._rows = rows
        self._alpha, self._positive = float(self.alpha), bool(self.positive)
        self._weight_type = self.weight_type
        solution = solve(
            rows, alpha=self._alpha, is_positive=self._positive, tol=self.tol
        )
        is_finite = np.isfinite(solution.coefficients).all(axis=1)
        if not is_finite.all():
            column = np.argmin(np.where(is_finite, np.inf, solution.scales))
            raise ValueError(
                f"The coefficient of column {self.coef_names_[column]!r} is too large "
                "for float64: multiply this column by a power of ten."
            )
        self._solution = solution
        self.rank_ = solution.rank
        self._keep(solution.coefficients, solution.intercepts, n_dimensions)

    def _fit_iteratively(
        self, matrix, Y: np.ndarray, weight: np.ndarray | None, n_dimensions: int
    ) -> None:
        if is_stored(matrix):
            raise ValueError(
                "The table is so large that it is fitted iteratively, which needs all "
                f"rows in memory: {matrix.shape[0]} rows and {matrix.shape[1]} columns "
                "of the design matrix, most of them zero. Leave out columns of many "
                "levels, or read the table with io.read_table."
            )
        self._forget(*FITTED)
        self._rows = None
        found = solve_iteratively(
            matrix,
            Y,
            weight,
            has_intercept=self.fit_intercept,
            alpha=float(self.alpha),
            tol=self.tol,
        )
        self._keep(*found, n_dimensions)

    def _keep(self, coefficients, intercepts, n_dimensions) -> None:
        self.coef_ = np.ascontiguousarray(coefficients.T)
        self.intercept_ = intercepts if self.fit_intercept else 0.0
        if n_dimensions == 1:
            self.coef_ = self.coef_[0]
            self.intercept_ = float(intercepts[0])

    def _require_rows(self) -> None:
        if self._rows is None:
            raise ValueError(
                f"This {type(self).__name__} was fitted iteratively, since the sparse "
                "table is large, and cannot be updated with more rows."
            )

    def _require_alike(self, rows, Y) -> None:
        n_targets = self._rows.targets.shape[1]
        found = 1 if Y.ndim == 1 else Y.shape[1]
        if rows is self._rows and (found, Y.ndim) != (n_targets, self.coef_.ndim):
            raise ValueError(
                f"y has shape {Y.shape}, but the previous rows had {n_targets} targets "
                f"in {self.coef_.ndim} dimensions."
            )
        if rows.targets.shape[1] != n_targets:
            raise ValueError(
                f"The models must have the same number of targets, got {n_targets} and "
                f"{rows.targets.shape[1]}."
            )
        for name, wanted, before in (
            ("fit_intercept", bool(self.fit_intercept), self._rows.has_intercept),
            ("fit_intercept", rows.has_intercept, self._rows.has_intercept),
            ("weight_type", self.weight_type, self._weight_type),
        ):
            if wanted != before:
                raise ValueError(
                    f"{name} is {wanted!r}, but was {before!r} for the previous rows."
                )
