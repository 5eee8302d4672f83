"""Logistic regression, 对数几率回归."""

from __future__ import annotations

import math
from contextlib import closing
from itertools import count
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import BlockSource, list_blocks
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.labels import (
    check_target,
    encode_labels,
    list_declared_classes,
)
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_deprecated,
    check_integer,
    check_random_seed,
    check_real,
    check_truth,
    check_verbose,
    is_checked,
    is_real,
    name_some,
    show_value,
    suggest,
)
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import balance_totals, check_weights
from sklearn_textbook.linear_model.base import BaseLinearClassifier
from sklearn_textbook.linear_model.generalized.families import BinomialFamily
from sklearn_textbook.linear_model.generalized.links import make_link
from sklearn_textbook.linear_model.generalized.profile_likelihood import (
    find_profile_intervals,
)
from sklearn_textbook.linear_model.generalized.reweighting import (
    Problem,
    measure_leverages,
)
from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.inference.frequencies import (
    has_fractions,
    warn_of_fractions,
)
from sklearn_textbook.linear_model.inference.influence import (
    GeneralizedInfluence,
    WeightedRows,
)
from sklearn_textbook.linear_model.inference.likelihood_measures import (
    LikelihoodMeasures,
    describe_test,
)
from sklearn_textbook.linear_model.inference.result import (
    LinearResult,
    require_no_penalty,
)
from sklearn_textbook.linear_model.inference.robust import (
    TrainingScores,
    robust_covariance,
)
from sklearn_textbook.linear_model.inference.summary import (
    WIDTH,
    format_statistic,
    write_summary,
)
from sklearn_textbook.linear_model.logistic.fitting import (
    MAX_COEFFICIENTS,
    choose_solver,
    find_firth_intervals,
    fit_logistic,
)
from sklearn_textbook.linear_model.logistic.iterations import IterationTasks
from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.logistic.separation import NONE, UNKNOWN
from sklearn_textbook.linear_model.logistic.solvers import (
    LIBLINEAR,
    SOLVERS,
    STOCK_SOLVERS,
)
from sklearn_textbook.linear_model.solve.row_blocks import add_constant, lay_out
from sklearn_textbook.linear_model.solve.weighted_solution import WeightedSolver
from sklearn_textbook.tree.encode.block_columns import BlockColumns

PARAMETRIZATIONS = ("auto", "reference", "symmetric")
SEPARATION = ("check", "exact", "ignore")


class LogisticRegression(
    CallbackSupportMixin, LikelihoodMeasures, BaseLinearClassifier
):
    r"""Logistic regression (对数几率回归, 逻辑斯谛回归), binary and multinomial.

    For two classes, the log-odds (对数几率) of the second class are linear in the
    columns:

    .. math::

        \ln\frac{P(y = 1 \mid x)}{P(y = 0 \mid x)} = w^T x + b, \qquad
        P(y = 1 \mid x) = \frac{1}{1 + e^{-(w^T x + b)}}.

    For K classes, the last class is the reference:

    .. math::

        P(y = k \mid x) = \frac{e^{w_k^T x + b_k}}
            {1 + \sum_{l=1}^{K-1} e^{w_l^T x + b_l}}, \quad k = 1, \dots, K - 1,
        \qquad
        P(y = K \mid x) = \frac{1}{1 + \sum_{l=1}^{K-1} e^{w_l^T x + b_l}}.

    The coefficients maximise the likelihood (极大似然): they minimise

    .. math::

        \ell(w, b) = -\sum_i \omega_i \ln P(y_i \mid x_i)

    where the weight :math:`\omega_i` of row i counts as that many copies of the row,
    also for standard errors, which warn if weights are not whole numbers;
    ``GeneralizedLinearRegressor(family="binomial", weight_type="variance")`` takes
    weights that are inverse variances. By default there is no penalty.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet"} or None, default="deprecated"
        Kind of penalty, which scikit-learn has deprecated, with a FutureWarning: "l2"
        is ``l1_ratio=0``, "l1" is ``l1_ratio=1``, and "elasticnet" takes ``l1_ratio``
        as it is, all with ``C=1.0`` unless another is given; None is ``C=np.inf``.
    C : float or None, default=None
        Inverse strength of the penalty, as in scikit-learn. The penalty
        :math:`\bigl(\rho \lVert w \rVert_1 + \frac{1 - \rho}{2} \lVert w
        \rVert_2^2\bigr) / C`, without the intercepts, is added to the loss. None or
        infinity: no penalty, as in the textbooks; but None is 1.0, scikit-learn's
        default, if ``l1_ratio`` is above 0, with a ``penalty`` or with
        ``solver="liblinear"``.
    l1_ratio : float, default=0.0
        The fraction ρ of the L1 norm in the penalty: 0 is ridge, 1 the lasso, and
        values in between the elastic net. It has no effect if C is infinite. None is 0,
        with a FutureWarning.
    firth : bool, default=False
        Whether to maximise the likelihood times Jeffreys' prior, the root of the
        determinant of the information (Firth's penalty), for two classes and without
        another penalty. Coefficients then have less bias in small tables, and are
        finite also if the columns separate the classes. They have standard errors, and
        ``profile_intervals``, which are better, since the distribution is then skewed;
        ``likelihood_ratio_test_`` is of the penalised likelihood, as in R's logistf.
    dual : bool, default=False
        Has no effect: with and without scikit-learn's dual formulation, the
        coefficients are the same.
    fit_intercept : bool, default=True
        Whether to fit an intercept b.
    intercept_scaling : float, default=1
        Only with ``solver="liblinear"``, where the intercept b is penalised like the
        slope of a constant column of this value: by the square and the absolute value
        of ``b / intercept_scaling``.
    solver : str, default="auto"
        Minimisation algorithm: "auto", "newton", "gradient", "bfgs" or "lbfgs". "auto":
        "newton" with up to 1000 coefficients or an L1 penalty, otherwise "lbfgs".
        "newton": Newton's method with step halving, which needs few iterations of one
        pass over the rows each; with an L1 penalty, steps are found by coordinate
        descent, for many columns on working sets. "gradient": gradient descent with a
        step size that is doubled and halved. "bfgs": estimates the inverse of the
        Hessian from changes of the gradient; L1 penalties are not supported. "lbfgs":
        the same with limited memory, by :func:`scipy.optimize.minimize`; for a dense
        table of more than 1000 columns and fewer than half as many rows with an L2
        penalty, in coordinates of the space that the rows span. "newton" and
        "bfgs" store matrices whose size is the square of the number of coefficients,
        and raise an error if these do not fit into memory. Of scikit-learn's names,
        "newton-cholesky" is "newton", and "newton-cg", "sag" and "saga" are "auto",
        which finds the same minimum. "liblinear" is "auto" with a penalty of the
        intercept, too, only for two classes.
    parametrization : {"auto", "reference", "symmetric"}, default="auto"
        Coefficients for more than two classes. "reference": K - 1 vectors; that of the
        last class is zero. "symmetric": K vectors, one per class, as in scikit-learn;
        without a penalty, they sum to zero, and probabilities are the same. With a
        penalty, "reference" penalises the coefficients relative to the last class, and
        "symmetric" treats all classes equally. "auto": "reference" without a penalty,
        as in the textbooks, and "symmetric" with one. For two classes there is always
        one vector.
    reference_class : object, default=None
        The class that others are compared with, if there are more than two and no
        penalty (参照类别). None: the last one. Of two classes it is always the first.
    separation : {"check", "exact", "ignore"}, default="check"
        Whether to check if the classes can be separated, so that the likelihood has no
        maximum. "check" uses the result of the solver: they can if every row is
        classified correctly; if the next Newton step or a score is large, a linear
        programme decides, unless it would have more than a million numbers. "exact"
        always solves the linear programme. With a penalty there is always a maximum.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows, also in standard
        errors and tests. "balanced": all classes have the same total weight.
    random_state : int, RandomState instance or None, default=None
        Has no effect: no solver draws random numbers.
    max_iter : int, default=1000
        Maximum number of iterations. "gradient" may need more.
    tol : float, default=1e-8
        Tolerance for stopping. "newton": the expected decrease of the loss in the next
        step is at most ``tol ** 2 / 2`` per row. Other solvers: no derivative of the
        loss, divided by the square root of the initial second derivative, exceeds
        ``tol`` per row; without a penalty, that square root is the root mean square of
        the column. "lbfgs" with up to 1000 columns: the same for uncorrelated
        combinations of the columns. None of them depends on the units of the columns.
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit.
    verbose : int, default=0
        Whether to print the loss of each iteration.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Columns with levels. "from_dtype": strings and categorical dtypes. A mask,
        indices or names. A dict from names or indices to "nominal" or to the ordered
        list of levels.
    reference_level : {"first", "last", "most_frequent"}, dict or None, default="first"
        The level of a nominal column without indicator; a dict has the level by name or
        number of the column, the others have the first. None: all levels have one.
    handle_unknown : {"mean", "error"}, default="mean"
        How levels not seen in training are treated: "mean" gives them the mean of the
        effects of the levels in the training rows, with a warning: indicators take
        their weighted means (ordinal columns: their mean); "error" raises an error.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values in X. "error": they raise an error. "drop":
        rows with one are left out of the fit, as by R's ``na.omit``, and their
        probabilities are NaN. "mean": numbers have the weighted mean of the column,
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
    n_jobs : int, default=None
        Number of threads. None: one per core. The result does not depend on it, bit for
        bit.
    multi_class : {"auto", "ovr", "multinomial"}, default="deprecated"
        Model of several classes, which scikit-learn has deprecated, with a
        FutureWarning. "auto" and "multinomial" are the model above, "ovr" is only for
        two classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (1 or n_classes - 1 or n_classes, n_coefficients)
        Coefficients w. For two classes, one row for the second class; for K > 2
        classes, K - 1 rows for all classes except the last with "reference", the
        default without a penalty, and K with "symmetric", the default with one.
    intercept_ : ndarray of shape (1 or n_classes - 1 or n_classes,)
        Intercepts b.
    coef_names_ : ndarray of shape (n_coefficients,)
        Names of the columns of ``coef_``.
    reference_class_ : object
        Class whose score is zero; None for "symmetric".
    solver_ : {"newton", "gradient", "bfgs", "lbfgs"}
        The solver used.
    n_iter_ : ndarray of shape (1,)
        Number of iterations.
    loss_path_ : ndarray of shape (n_iterations + 1,)
        Loss, including the penalty, at the start and after each iteration. Firth's
        penalty is known up to a constant.
    converged_ : bool
        Whether the solver converged.
    separation_ : {"none", "quasi_complete", "complete", "unknown"} or None
        Whether the classes can be separated: "complete" if for some coefficients every
        row has the largest score for its class, "quasi_complete" if this is possible
        only with ties, "unknown" if the fit shows signs of it, but the linear program
        that decides it is too large for "check". None: not checked.
    rank_ : int or None
        Rank of the table, including the intercept: the number of coefficients of each
        score that the data determine. None with a penalty, or if it was not computed.
    log_likelihood_ : float
        Logarithm of the likelihood, without the penalty.
    null_log_likelihood_ : float
        Log-likelihood of a model without columns.
    deviance_ : float
        Deviance (偏差), -2 times the log-likelihood.
    null_deviance_ : float
        Deviance of the model without columns.
    pseudo_r2_ : float
        McFadden's pseudo R².
    aic_ : float
        Akaike's information criterion. This and the following attributes up to
        ``odds_ratio_intervals_`` are only available without a penalty.
    bic_ : float
        Bayesian information criterion.
    likelihood_ratio_test_ : LikelihoodRatioTest
        Statistic, degrees of freedom and p-value of the test that all slopes are zero.
    covariance_ : ndarray of shape (n, n)
        Covariance of the estimates, one coefficient vector after the other, each with
        the intercept first: the inverse of the Hessian.
    standard_errors_ : ndarray of the shape of ``coef_``
        Standard errors (标准误差); NaN where the data do not determine a coefficient.
    intercept_standard_error_ : ndarray of the shape of ``intercept_``
        Standard errors of the intercepts.
    coefficient_table_ : CoefficientTable
        Estimates, standard errors, z, p-values and confidence intervals.
    odds_ratios_ : ndarray of the shape of ``coef_``
        Exponentials of the coefficients: factors of the odds.
    odds_ratio_intervals_ : ndarray of shape ``coef_.shape + (2,)``
        95% confidence intervals of the odds ratios.
    n_observations_ : float
        Sum of the weights.
    design_ : Design
        Encoding of the columns of the table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    See Also
    --------
    sklearn.linear_model.LogisticRegression : Penalised by default; no standard errors.

    Notes
    -----
    If columns are linearly dependent, many coefficients have the same likelihood. A
    warning then lists these columns, unless there are fewer rows than coefficients or
    ``reference_level`` is None, and the slopes with the smallest norm are used;
    ``rank_`` and the summary show this. Nearly dependent columns, such as powers of a
    year, are transformed to uncorrelated columns for the fit, and their coefficients
    are computed from the result; only columns that are dependent up to rounding count
    as dependent. Columns with numbers above 1e100, or without a penalty below 1e-100,
    are scaled by a power of two.

    "newton" and "lbfgs" first fit every 16th row of a table that has enough rows for
    that, without an L1 penalty. Few iterations are then left for all rows. With
    "newton" and several classes, where a Hessian takes long, they are steps with the
    Hessian of these rows, updated as by "bfgs"; Newton's method follows, except with a
    penalty. Their number depends neither on the units nor on the correlations of the
    columns.

    Callbacks (``set_callbacks``) are called in the iterations of every solver; the last
    task is empty, since it begins before the solver ends.

    If there is an intercept, dense columns are centred first. This does not change the
    model, but improves the precision of the results and the convergence of the solvers.

    Differences from scikit-learn: no penalty by default, and K - 1 vectors for K
    classes then; other solvers, whose ``tol`` does not depend on the units of columns
    and is 1e-8 by default, with ``max_iter=1000``; detection of separable classes;
    standard errors and tests; tables with nominal columns; coefficients in double
    precision also for single-precision tables; no ``sparsify``. With the same penalty
    and enough iterations, coefficients equal those of scikit-learn.

    References
    ----------
    .. [1] 周志华《机器学习》, section 3.3, formulas 3.17-3.31.
    .. [2] 李航《统计学习方法》, section 6.1, formulas 6.3-6.8.
    .. [3] A. Albert, J. A. Anderson (1984), On the existence of maximum likelihood
       estimates in logistic regression models. Biometrika 71.
    .. [4] D. Firth (1993), Bias reduction of maximum likelihood estimates. Biometrika
       80. G. Heinze, M. Schemper (2002), A solution to the problem of separation in
       logistic regression. Statistics in Medicine 21.

    Examples
    --------
    The watermelon data 3.0α (周志华《机器学习》, exercise 3.3):

    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.linear_model import LogisticRegression
    >>> X, y = load_watermelon(version="3.0alpha", return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.coef_.round(3), model.intercept_.round(3)
    (array([[ 3.158, 12.521]]), array([-4.429]))
    >>> print(model.summary())
    Logistic regression
    ===================
    classes:           否, 是    deviance:                               17.367
    reference class:       否    pseudo R² (McFadden):                  0.26122
    rows:                  17    rank:                                   3 of 3
    solver:            newton    AIC:                                    23.367
    iterations:             5    BIC:                                    25.867
    log-likelihood:   -8.6837    LR chi²:               6.1408 (2 df), p 0.0464
    null deviance:     23.508
    <BLANKLINE>
                 coef  std. error       z       p     2.5%   97.5%
    intercept  -4.429      2.8804  -1.538  0.1242  -10.074   1.217
    x0          3.158      4.0533   0.779  0.4359   -4.786  11.103
    x1         12.521      6.8801   1.820  0.0688   -0.964  26.006  .
    """

    _fits_blocks = True

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float | None = None,
        l1_ratio: float = 0.0,
        firth: bool = False,
        dual: bool = False,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        solver: str = "auto",
        parametrization: str = "auto",
        reference_class: Any = None,
        separation: str = "check",
        class_weight: dict[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        max_iter: int = 1000,
        tol: float = 1e-8,
        warm_start: bool = False,
        verbose: int = 0,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | dict[Any, Any] | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
        formula: str | None = None,
        interactions: str | list | None = None,
        covariance_type: str = "nonrobust",
        n_jobs: int | None = None,
        multi_class: str = "deprecated",
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.firth = firth
        self.dual = dual
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.solver = solver
        self.parametrization = parametrization
        self.reference_class = reference_class
        self.separation = separation
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.formula = formula
        self.interactions = interactions
        self.covariance_type = covariance_type
        self.n_jobs = n_jobs
        self.multi_class = multi_class

    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        y : array-like of shape (n_samples,) or str
            Class labels; the name of a column of a table in blocks.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows; the name of a column of a table in blocks. None: 1
            each.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, with ``covariance_type="cluster"``.

        Returns
        -------
        self : LogisticRegression
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a label, a weight or a value is invalid, or if there is only
            one class.

        Warns
        -----
        ConvergenceWarning
            If the solver did not converge, or if the classes can be separated, so that
            the likelihood has no maximum.
        UserWarning
            If columns are linearly dependent, if a categorical ``y`` declares classes
            that no row has, or if ``penalty`` leaves ``C`` or ``l1_ratio`` without
            effect.
        FutureWarning
            If ``penalty``, ``multi_class`` or ``l1_ratio=None`` is given.
        """
        self._check_parameters()
        is_penalised = self._has_penalty()
        self._check_covariance_type(X, groups, is_penalised=is_penalised)
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        hooks = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context = self._init_callback_context(max_subtasks=int(self.max_iter) + 1)
        context.call_on_fit_task_begin(**hooks)
        if isinstance(X, BlockSource):
            with closing(
                self._open_columns(X, y, sample_weight, is_numeric=False)
            ) as columns:
                self._fit_columns(columns, context, hooks)
        else:
            matrix, weight, is_present = self._read_training_table(X, sample_weight)
            classes, codes = read_classes(type(self).__name__, X, y, is_present)
            self._has_fractions = has_fractions(weight)
            factors = weigh_classes(self.class_weight, classes, codes, weight)
            if factors is not None:
                weight = factors[codes] * (1.0 if weight is None else weight)
            self._fit_rows(matrix, classes, codes, weight, context, hooks)
            self._set_robust_errors(X, y, sample_weight, groups)
        context.call_on_fit_task_end(**hooks)
        return self

    def _set_robust_errors(self, X, y, sample_weight, groups) -> None:
        """Replace the covariance of the model, as ``covariance_type`` says."""
        self._forget("_model_covariance")
        if self.covariance_type == "nonrobust":
            return
        robust = robust_covariance(
            *(self, X, y, sample_weight),
            covariance_type=self.covariance_type,
            groups=groups,
        )
        self._model_covariance, self.covariance_ = self.covariance_, robust
        errors = np.sqrt(np.maximum(robust.diagonal(), 0.0)).reshape(self._errors.shape)
        self._errors = np.where(np.isnan(self._errors), np.nan, errors)

    def _fit_columns(self, columns, context, hooks) -> None:
        """Fit to the columns of a table in files."""
        matrix = self._read_stored_rows(columns)
        classes = read_stored_classes(type(self).__name__, columns)
        codes = columns.target
        self._has_fractions = has_fractions(columns.weight)
        factors = weigh_classes(self.class_weight, classes, codes, columns.weight)
        if factors is not None:
            columns.multiply_weights(factors)
        self._fit_rows(matrix, classes, codes, columns.weight, context, hooks)

    def _fit_rows(self, matrix, classes, codes, weight, context, hooks) -> None:
        """Fit to rows in memory or in files."""
        is_same = np.array_equal(getattr(self, "classes_", ()), classes)
        has_start = self.warm_start and is_same and hasattr(self, "coef_")
        self.classes_ = classes
        self._check_multi_class()
        likelihood = self._make_likelihood(matrix, codes, weight)
        start = self._find_last(likelihood) if has_start else likelihood.start()
        self._reference_place = self._find_reference()
        self._fit_likelihood(likelihood, start, context, hooks)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        r"""Compute the linear score of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the log-odds (对数几率) of the second, :math:`w^T x + b`.
            For more, the logarithms of the probabilities up to a constant per row, with
            the reference class at 0.
        """
        scores = self._predict_blocks(
            X, lambda matrix: np.asarray(matrix @ self.coef_.T) + self.intercept_
        )
        if len(self.classes_) == 2:
            return scores[:, 0]
        if scores.shape[1] < len(self.classes_):
            scores = np.insert(scores, self._get_reference(), 0.0, axis=1)
        return scores

    # ---------------------------------------------------------------------- parts
    def _fit_likelihood(
        self, likelihood: LogisticLikelihood, start, context, hooks
    ) -> None:
        """Find the coefficients; every iteration is a task of the callbacks."""
        self.solver_ = choose_solver(self.solver, likelihood)
        if self.firth:
            self.solver_ = "newton"
        tasks = IterationTasks(context, hooks, self.solver_, self._list_fitted)
        numbers = count(1)

        def end_one(find_estimates, loss):
            if self.verbose:
                print(f"{self.solver_}, iteration {next(numbers)}: loss {loss:.6g}")
            return tasks.end_one(find_estimates)

        tasks.begin()
        fitted = fit_logistic(
            likelihood,
            start,
            solver=self.solver_,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            separation=self.separation,
            is_spread=self._is_symmetric() and not likelihood.is_penalised,
            describe=end_one,
            is_firth=bool(self.firth),
        )
        tasks.end()
        self._set_fit(likelihood, fitted)
        if fitted.rank is not None:
            rank = fitted.rank - bool(self.fit_intercept)
            self._warn_of_dependence(
                rank, likelihood.n_rows, lambda: fitted.is_dependent
            )
        self._warn_of_end(fitted.solution.reason)

    def _list_fitted(self, estimates):
        """Fitted attributes of an iteration, for callbacks."""
        fitted = {
            name: value
            for name, value in vars(self).items()
            if name in ("classes_", "design_", "n_features_in_", "feature_names_in_")
        }
        coef, intercept = self._split_off_intercept(estimates)
        return fitted | {"coef_": coef, "intercept_": intercept}

    def _split_off_intercept(self, estimates):
        """(coef, intercept) of estimates in which the intercept may be a slope."""
        if not self._penalises_intercept():
            contrasts = self._make_contrasts(len(estimates.coef))
            if contrasts is None:
                return estimates.coef, estimates.intercept
            return contrasts @ estimates.coef, contrasts @ estimates.intercept
        intercept = estimates.coef[:, -1] * float(self.intercept_scaling)
        return estimates.coef[:, :-1], intercept

    def _find_reference(self) -> int:
        """Find the number of the class that others are compared with."""
        n_classes, given = len(self.classes_), self.reference_class
        if given is None:
            return 0 if n_classes == 2 else n_classes - 1
        found = np.flatnonzero(self.classes_ == given)
        if not len(found):
            raise ValueError(
                "The 'reference_class' parameter must be None or one of the classes "
                f"{name_some(self.classes_.tolist())}; got {given!r}."
            )
        place = int(found[0])
        if n_classes == 2 and place != 0:
            raise ValueError(
                "Of two classes the first is compared with, as in scikit-learn: "
                f"reference_class must be None or {self.classes_[0]!r}; got {given!r}."
            )
        if n_classes > 2 and (self._is_symmetric() or self._has_penalty()):
            raise ValueError(
                f"reference_class={given!r} requires a model without a penalty and "
                "parametrization='auto' or 'reference'."
            )
        return place

    def _get_reference(self) -> int:
        """Return the number of the class that others are compared with."""
        n_classes = len(self.classes_)
        last = 0 if n_classes == 2 else n_classes - 1
        return vars(self).get("_reference_place", last)  # not in old model files

    def _make_contrasts(self, n_vectors: int) -> np.ndarray | None:
        """Combine vectors relative to the last class to those of another reference."""
        n_classes, place = len(self.classes_), self._get_reference()
        if n_classes == 2 or n_vectors == n_classes or place == n_classes - 1:
            return None
        vectors = np.eye(n_classes, n_vectors)
        return np.delete(vectors, place, axis=0) - vectors[place]

    def _find_last(self, likelihood: LogisticLikelihood):
        """Coefficients of the previous fit, if of the right shape; else zeros."""
        coef, intercept = self.coef_, self.intercept_
        place, n_classes = self._get_reference(), len(self.classes_)
        if len(coef) < n_classes and n_classes > 2:
            coef = np.insert(coef, place, 0.0, axis=0)
            intercept = np.insert(intercept, place, 0.0)
        if self._penalises_intercept():
            scaled = intercept / float(self.intercept_scaling)
            coef = np.column_stack([coef, scaled])
        if coef.shape[1] != likelihood.n_columns:
            return likelihood.start()
        if len(coef) > likelihood.n_scores:
            coef, intercept = coef[:-1] - coef[-1], intercept[:-1] - intercept[-1]
        if len(coef) < likelihood.n_scores or not np.isfinite(coef).all():
            return likelihood.start()
        theta = likelihood.centre_coefficients(coef, intercept)
        if likelihood.is_tied:
            theta[:, 0] -= theta[:, 0].mean()
        return theta

    def _set_fit(self, likelihood: LogisticLikelihood, fitted) -> None:
        """Set all attributes."""
        estimates, solution = fitted.estimates, fitted.solution
        self.coef_, self.intercept_ = self._split_off_intercept(estimates)
        self._errors = estimates.errors
        if estimates.covariance is not None:
            self.covariance_ = estimates.covariance
            self._contrast_covariance()
        elif hasattr(self, "covariance_"):
            del self.covariance_
        self.separation_, self.rank_ = fitted.separation, fitted.rank
        self._firth_statistic = fitted.firth_statistic
        self.log_likelihood_ = fitted.log_likelihood
        self.loss_path_ = np.array(solution.loss_path)
        self.n_iter_ = np.array([len(solution.loss_path) - 1], dtype=np.int32)
        self.converged_ = solution.is_converged
        self.n_observations_ = likelihood.total_weight
        self.null_log_likelihood_ = self._find_null(likelihood)

    def _make_result(self) -> LinearResult:
        """Describe the coefficients for tests and intervals."""
        C, _ = self._find_penalty()
        require_no_penalty(self, self._has_penalty(), f"C={C:g}")
        errors = self._find_errors("covariance_")
        free = self._count_free("covariance_")
        headings = tuple(self._name_vectors())
        estimates = self.coef_
        if self.fit_intercept:
            estimates = np.column_stack([self.intercept_, self.coef_])
        return LinearResult(
            names=self._name_coefficients(),
            headings=("",) if len(headings) == 1 else headings,
            estimates=estimates.ravel(),
            covariance=self.covariance_,
            is_determined=np.isfinite(errors),
            degrees_of_freedom=None,
            terms=self._list_terms(),
            is_least_squares=False,
            deviance=self.deviance_,
            log_likelihood=self.log_likelihood_,
            dispersion=1.0,
            knows_dispersion=True,
            n_parameters=float(free),
            residual_degrees_of_freedom=float(self.n_observations_ - free),
            n_observations=float(self.n_observations_),
            null_deviance=self.null_deviance_,
            model_covariance=vars(self).get("_model_covariance"),
            is_likelihood_penalised=self._find_firth_statistic() is not None,
        )

    def _find_scores(self, X, y, sample_weight) -> TrainingScores:
        """Compute the scores of the training rows."""
        matrix, weight, is_present = self._read_rows_again(X, sample_weight)
        codes, copies, of_class = self._read_codes(X, y, weight, is_present)
        predictors = np.asarray(matrix @ self.coef_.T) + self.intercept_
        responses, _, _ = self._respond(predictors)
        n_classes = len(self.classes_)
        is_own = codes[:, np.newaxis] == np.arange(n_classes)
        probabilities = responses
        if n_classes == 2:
            probabilities = np.column_stack([1.0 - responses, responses])
        own = probabilities[np.arange(len(codes)), codes]
        with np.errstate(divide="ignore"):
            found = float((copies * of_class) @ np.log(own))
        self._require_training_loss(-found, "robust_covariance")
        scores = of_class[:, np.newaxis] * (is_own - probabilities)
        leverage = None
        if len(self.coef_) < n_classes:
            scores = np.delete(scores, self._get_reference(), axis=1)
        if n_classes == 2:
            curvature = of_class * responses[:, 0] * (1.0 - responses[:, 0])
            solution = self._describe_rows(matrix, copies * curvature)
            leverage = self._measure_leverages(matrix, curvature, solution)
        return TrainingScores(
            is_present,
            matrix,
            bool(self.fit_intercept),
            scores,
            copies,
            leverage,
            vars(self).get("_model_covariance", self.covariance_),
        )

    def _respond(self, predictors: np.ndarray):
        """Responses of linear predictors, their names, and derivatives."""
        if len(self.classes_) == 2:
            second = expit(predictors)
            slope = second * expit(-predictors)
            return second, (str(self.classes_[1]),), slope[:, :, np.newaxis]
        kept = np.arange(len(self.classes_))
        if predictors.shape[1] < len(kept):
            kept = np.delete(kept, self._get_reference())
            predictors = np.insert(predictors, self._get_reference(), 0.0, axis=1)
        found = softmax(predictors, axis=1)
        slopes = -found[:, :, np.newaxis] * found[:, np.newaxis, :]
        places = np.arange(found.shape[1])
        slopes[:, places, places] += found
        return found, tuple(map(str, self.classes_)), slopes[:, :, kept]

    @property
    def reference_class_(self) -> Any:
        """Class whose score is 0; None if each class has coefficients."""
        check_is_fitted(self)
        is_symmetric = len(self.coef_) == len(self.classes_)
        return None if is_symmetric else self.classes_[self._get_reference()]

    def _contrast_covariance(self) -> None:
        """Compute errors of differences from another class than the last."""
        contrasts = self._make_contrasts(len(self.coef_))
        if contrasts is None:
            return
        errors = self._errors.reshape(len(contrasts), -1)
        wide = np.kron(contrasts, np.eye(errors.shape[1]))
        self.covariance_ = wide @ self.covariance_ @ wide.T
        is_lost = np.abs(contrasts) @ np.isnan(errors) > 0.0
        found = np.sqrt(np.maximum(self.covariance_.diagonal(), 0.0))
        found = np.where(is_lost, np.nan, found.reshape(errors.shape))
        self._errors = found.reshape(self._errors.shape)

    def _find_null(self, likelihood: LogisticLikelihood):
        """Log-likelihood of the model without columns."""
        total = likelihood.total_weight
        if not self.fit_intercept:
            return -total * math.log(len(self.classes_))
        counts = add_classes(likelihood.codes, likelihood.weight, len(self.classes_))
        return float((counts * np.log(counts / total)).sum())

    @property
    def standard_errors_(self) -> np.ndarray:
        """Standard errors of ``coef_``; NaN where the data do not determine them."""
        errors = self._find_errors("standard_errors_")
        first = int(bool(self.fit_intercept))
        return errors.reshape(len(self.coef_), -1)[:, first:]

    @property
    def intercept_standard_error_(self) -> float | Any:
        """Standard errors of ``intercept_``; NaN without intercept."""
        errors = self._find_errors("intercept_standard_error_")
        if not self.fit_intercept:
            return np.full(len(self.coef_), np.nan)
        return errors.reshape(len(self.coef_), -1)[:, 0]

    @property
    def coefficient_table_(self) -> CoefficientTable:
        """Estimates, standard errors, z tests and 95% confidence intervals."""
        tables = self._make_tables("coefficient_table_", 0.95)
        if len(tables) == 1:
            return tables[0][1]
        names = [
            f"{heading}: {name}" for heading, table in tables for name in table.names
        ]
        return CoefficientTable(
            tuple(names),
            np.concatenate([table.estimates for _, table in tables]),
            np.concatenate([table.standard_errors for _, table in tables]),
        )

    @property
    def odds_ratios_(self) -> np.ndarray:
        """Factor of the odds (几率) per unit of a column, exp(``coef_``)."""
        with np.errstate(over="ignore"):
            return np.exp(self.coef_)

    @property
    def odds_ratio_intervals_(self) -> np.ndarray:
        """95% confidence intervals of ``odds_ratios_``, in a last axis of size 2."""
        errors = self._find_errors("odds_ratio_intervals_").reshape(len(self.coef_), -1)
        half = stats.norm.isf(0.025) * errors[:, bool(self.fit_intercept) :]
        with np.errstate(over="ignore"):
            return np.exp(np.stack([self.coef_ - half, self.coef_ + half], axis=-1))

    def influence(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> GeneralizedInfluence:
        """Compute residuals, leverages and influence of the training rows.

        Only for two classes, and without a penalty.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights. These are numbers of copies, and the measures are those of a
            single copy of the row.

        Returns
        -------
        influence : GeneralizedInfluence
            Log-odds, deviance and Pearson residuals, also standardized and studentized,
            leverages, Cook's distances, DFFITS and DFBETAS, as for R's glm of the
            family binomial.

        Raises
        ------
        AttributeError
            If the model has no standard errors, as with a penalty.
        ValueError
            If there are more than two classes, or if the rows, labels or weights are
            not those of the fit.
        """
        check_is_fitted(self)
        self._require_two_classes("influence")
        self._require_likelihood("influence")
        matrix = self._read_new_table(X)
        labels = column_or_1d(y)
        check_consistent_length(matrix, labels)
        weight = check_weights(sample_weight, len(labels))
        weight = np.ones(len(labels)) if weight is None else weight
        codes = (labels == self.classes_[1]).astype(np.intp)
        factors = weigh_classes(self.class_weight, self.classes_, codes, weight)
        if factors is not None:
            weight = weight * factors[codes]
        score = np.asarray(matrix @ self.coef_[0]).ravel() + self.intercept_[0]
        sign = np.where(codes, 1.0, -1.0)
        losses = np.logaddexp(0.0, -sign * score)
        curvature = expit(score) * expit(-score)
        kept = np.isin(labels, self.classes_) & (weight > 0.0) & ~np.isnan(score)
        self._require_training_loss(float(weight[kept] @ losses[kept]), "influence")
        with np.errstate(over="ignore"):
            pearson = sign * np.exp(-0.5 * sign * score)
        solution = self._describe_rows(matrix[kept], weight[kept] * curvature[kept])
        free = float(self.rank_)
        return GeneralizedInfluence(
            self._measure_leverages(matrix, curvature, solution),
            free,
            float(self.n_observations_) - free,
            WeightedRows(
                matrix,
                np.sqrt(curvature),
                solution.centre,
                solution.inverse,
                solution.fraction,
                bool(self.fit_intercept),
                solution.is_determined,
            ),
            score,
            sign * np.sqrt(2.0 * losses),
            pearson,
            self.deviance_,
            1.0,
            knows_dispersion=True,
        )

    def profile_intervals(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        level: float = 0.95,
    ) -> np.ndarray:
        r"""Compute profile likelihood confidence intervals of the coefficients.

        An interval contains the values of a coefficient for which the log-likelihood,
        maximised over all other coefficients, is at most :math:`q^2 / 2` below its
        maximum, where q is the quantile of the normal distribution. With ``firth``, it
        is the penalised likelihood. Only for two classes, and without another penalty.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        level : float, default=0.95
            Confidence level.

        Returns
        -------
        intervals : ndarray of shape (n_names, 2)
            Lower and upper limits, in the order of ``coefficient_table_.names``;
            infinite if the likelihood never decreases that much, as with separable
            classes, and NaN for coefficients that are not determined by the rows.

        Raises
        ------
        AttributeError
            If the model has no standard errors, as with a penalty.
        ValueError
            If there are more than two classes, or if the rows, labels or weights are
            not those of the fit.
        """
        check_is_fitted(self)
        check_level(level)
        self._require_two_classes("profile_intervals")
        errors = self._find_errors("profile_intervals")
        matrix, weight, is_present = self._read_rows_again(X, sample_weight)
        codes, copies, of_class = self._read_codes(X, y, weight, is_present)
        weight = copies * of_class
        scores = np.asarray(matrix @ self.coef_[0]).ravel() + self.intercept_[0]
        losses = np.logaddexp(0.0, np.where(codes, -1.0, 1.0) * scores)
        self._require_training_loss(float(weight @ losses), "profile_intervals")
        limit = float(stats.norm.isf(0.5 * (1.0 - level)))
        if self.firth:
            likelihood = self._make_likelihood(matrix, codes, weight)
            theta = likelihood.centre_coefficients(self.coef_, self.intercept_)
            return find_firth_intervals(likelihood, theta, errors, limit)
        first = int(not self.fit_intercept)
        problem = Problem(
            *(lay_out(matrix), codes.astype(np.float64), weight, None),
            *(BinomialFamily(), make_link("logit"), bool(self.fit_intercept)),
            n_jobs=self.n_jobs,
        )
        return find_profile_intervals(
            problem,
            np.append(self.intercept_, self.coef_),
            np.append(np.full(first, np.nan), errors),
            np.pad(self.covariance_, ((first, 0), (first, 0))),
            limit,
        )

    def _find_firth_statistic(self) -> float | None:
        return getattr(self, "_firth_statistic", None)

    def _require_two_classes(self, name) -> None:
        """Raise ValueError for a multinomial model."""
        if len(self.classes_) > 2:
            raise ValueError(
                f"{name} requires two classes; this multinomial model has "
                f"{len(self.classes_)}: {name_some(self.classes_.tolist())}."
            )

    def _read_codes(self, X, y, weight, is_present):
        """Read the classes of training rows.

        Returns (codes, copies, of_class): the numbers of the classes, the weights, and
        the factors of these by ``class_weight``.
        """
        classes, codes = read_classes(type(self).__name__, X, y, is_present)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"The classes must be those of the fit, {self.classes_.tolist()}; got "
                f"{classes.tolist()}."
            )
        factors = weigh_classes(self.class_weight, classes, codes, weight)
        of_class = np.ones(len(codes)) if factors is None else factors[codes]
        return codes, np.ones(len(codes)) if weight is None else weight, of_class

    def _describe_rows(self, matrix, weight):
        """Describe the second derivatives of the training rows."""
        solver = WeightedSolver(lay_out(matrix), bool(self.fit_intercept))
        return solver.describe(weight)

    def _measure_leverages(self, matrix, curvature, solution):
        """Compute leverages of rows, by the second derivatives of the training rows."""
        return measure_leverages(
            *(matrix, curvature, solution.centre, solution.root, solution.fraction)
        )

    def _require_training_loss(self, loss, name) -> None:
        """Raise ValueError unless the rows of this loss are those of the fit."""
        slack = 1e-6 * abs(self.log_likelihood_) + 1e-9 * abs(self.null_log_likelihood_)
        if not abs(loss + self.log_likelihood_) <= slack:
            raise ValueError(
                f"{name} needs the rows, labels and weights of the fit, whose "
                f"log-likelihood was {self.log_likelihood_:.9g}; got {-loss:.9g}."
            )

    def summary(self, level: float = 0.95, *, width: int | None = WIDTH) -> str:
        """Return a text summary of the model.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.
        width : int or None, default=80
            Maximum line length; long names are shortened. None: no limit.

        Returns
        -------
        text : str
            Description of the model, goodness of fit, and coefficients.
        """
        check_is_fitted(self)
        check_level(level)
        facts = [
            ("classes", ", ".join(str(label) for label in self.classes_)),
            ("reference class", str(self.reference_class_)),
            ("rows", f"{self.n_observations_:,.12g}"),
            ("solver", self.solver_),
            ("iterations", str(int(self.n_iter_[0]))),
            ("log-likelihood", format_statistic(self.log_likelihood_)),
            ("null deviance", format_statistic(self.null_deviance_)),
            ("deviance", format_statistic(self.deviance_)),
            ("pseudo R² (McFadden)", format_statistic(self.pseudo_r2_)),
        ]
        if self.rank_ is not None:
            facts += [
                ("rank", f"{self.rank_} of {self._count_parameters()}"),
                ("AIC", format_statistic(self.aic_)),
                ("BIC", format_statistic(self.bic_)),
                ("LR chi²", describe_test(self.likelihood_ratio_test_)),
            ]
        if "_model_covariance" in vars(self):
            facts.append(("standard errors", self.covariance_type))
        tables = self._make_tables(None, level)
        if len(self.classes_) == 2:
            tables = [("", table) for _, table in tables]
        notes = self._list_notes()
        title = "Logistic regression"
        if self._find_firth_statistic() is not None:
            title += " with Firth's penalty"
        return write_summary(title, facts, tables, notes, width=width)

    # ---------------------------------------------------------------------- parts
    def _count_free(self, name: str = "") -> int:
        """Count the coefficients that the data determine."""
        check_is_fitted(self)
        self._require_likelihood(name)
        return self.rank_ * (len(self.classes_) - 1)

    def _count_constants(self) -> int:
        return (len(self.classes_) - 1) * bool(self.fit_intercept)

    def _count_parameters(self):
        """Count the coefficients of each score, with the intercept."""
        return self.coef_.shape[1] + bool(self.fit_intercept)

    def _require_likelihood(self, name) -> None:
        """Raise an AttributeError if standard errors are not available."""
        if self.rank_ is None:
            reason = (
                "only without penalty"
                if self._has_penalty()
                else f"only with up to {MAX_COEFFICIENTS} coefficients, or with "
                "solver='newton'"
            )
            raise AttributeError(f"{type(self).__name__} has {name} {reason}.")

    def _find_errors(self, name):
        """Find all standard errors, the intercept first in each vector."""
        check_is_fitted(self)
        self._require_likelihood(name)
        if getattr(self, "_has_fractions", False):
            warn_of_fractions(
                "use GeneralizedLinearRegressor(family='binomial', "
                "weight_type='variance')"
            )
        return self._errors

    def _make_tables(self, name, level):
        """(heading, table) of each vector of coefficients; NaN errors if no name."""
        names, estimates = self.coef_names_.tolist(), self.coef_
        if self.fit_intercept:
            names = ["intercept", *names]
            estimates = np.column_stack([self.intercept_, self.coef_])
        if name is None and self.rank_ is None:
            errors = np.full(estimates.shape, np.nan)
        else:
            errors = self._find_errors(name).reshape(estimates.shape)
        return [
            (heading, CoefficientTable(tuple(names), vector, error, None, level))
            for heading, vector, error in zip(
                self._name_vectors(), estimates, errors, strict=True
            )
        ]

    def _name_vectors(self):
        """Return a heading for each vector of coefficients."""
        labels = [str(label) for label in self.classes_]
        if len(labels) == 2:
            return [f"{labels[1]} against {labels[0]}"]
        if len(self.coef_) == len(labels):
            return labels
        reference = labels.pop(self._get_reference())
        return [f"{label} against {reference}" for label in labels]

    def _warn_of_end(self, reason):
        """Warn of separated classes, or of a solver that did not converge."""
        n_iter = int(self.n_iter_[0])
        iterations = f"{n_iter} iteration{'' if n_iter == 1 else 's'}"
        if self.separation_ == UNKNOWN:
            message = (
                "Coefficients or standard errors are so large that a linear score may "
                "separate classes, in which case the likelihood has no maximum. The "
                "linear programme that decides it is large: use separation='exact' to "
                "solve it."
            )
        elif self.separation_ not in (None, NONE):
            largest = float(np.abs(self.coef_).max(initial=0.0))
            remedy = "firth=True or a finite C"
            if len(self.classes_) > 2:
                remedy = "a finite C"
            message = (
                f"{describe_separation(self.separation_)}: a linear score separates "
                "classes, so the likelihood has no maximum and coefficients diverge. "
                f"{self.solver_} stopped after {iterations} at a log-likelihood of "
                f"{self.log_likelihood_:.4g}, with coefficients up to {largest:.4g}. "
                f"Standard errors are meaningless. With {remedy}, there is a maximum."
            )
        elif self.converged_ or reason == "callback":
            return
        else:
            advice = "Rounding prevents further progress: increase tol."
            if reason == "iterations":
                other = "tol" if self.solver_ == "newton" else "use solver='newton'"
                advice = f"Increase the number of iterations (max_iter), or {other}."
            message = (
                f"{self.solver_} failed to converge after {iterations}, at a "
                f"log-likelihood of {self.log_likelihood_:.6g}. "
                f"{advice}"
            )
        warn_caller(message, ConvergenceWarning)

    def _list_notes(self):
        """List the notes of a summary."""
        notes = self._note_references()
        if not self.converged_:
            notes.append("The solver did not converge.")
        if self.separation_ == UNKNOWN:
            notes.append("A linear score may separate classes: not decided.")
        elif self.separation_ not in (None, NONE):
            notes.append(
                f"{describe_separation(self.separation_)}: the likelihood has no "
                "maximum; coefficients and standard errors are meaningless."
            )
        if self.rank_ is None:
            C, l1_ratio = self._find_penalty()
            notes.append(
                f"Penalty with C={C:g}, l1_ratio={l1_ratio:g}: no standard errors."
                if self._has_penalty()
                else "Too many coefficients for standard errors."
            )
            return notes
        if self._find_firth_statistic() is not None:
            notes.append(
                "LR chi² is of the penalised likelihood; the log-likelihood and what "
                "follows from it are without the penalty."
            )
        if self.class_weight is not None:
            notes.append(
                "class_weight multiplies the weights of rows; standard errors and "
                "tests take a weight w for w equal rows."
            )
        if self.rank_ < self._count_parameters():
            notes.append(
                "Columns are linearly dependent: the slopes have the smallest norm; "
                "those without standard error are not determined by the data."
            )
        return notes

    def _check_parameters(self) -> None:
        self._check_table_parameters()
        check_deprecated(
            "penalty",
            self.penalty,
            ("l1", "l2", "elasticnet"),
            "1.8 and is removed in 1.10. Use l1_ratio=0 and a finite C for 'l2', "
            "l1_ratio=1 for 'l1', an l1_ratio in between for 'elasticnet', and "
            "C=np.inf for None.",
            accepts_none=True,
        )
        if is_checked() and not (self.C is None or (is_real(self.C) and self.C > 0)):
            raise ValueError(
                "The 'C' parameter must be a float in the range (0.0, inf] or None; "
                f"got {self.C!r}."
            )
        if self.l1_ratio is not None:
            check_real("l1_ratio", self.l1_ratio, 0.0, 1.0)
        elif is_checked() and self.penalty == "elasticnet":
            raise ValueError("penalty='elasticnet' requires an l1_ratio; got None.")
        check_truth("fit_intercept", self.fit_intercept)
        check_truth("firth", self.firth)
        check_truth("dual", self.dual)
        check_real("intercept_scaling", self.intercept_scaling, 0.0)
        check_random_seed("random_state", self.random_state)
        check_verbose(self.verbose)
        check_deprecated(
            "multi_class",
            self.multi_class,
            ("auto", "ovr", "multinomial"),
            "1.5 and removed in 1.8. Leave it out: more than two classes have one "
            "multinomial model.",
        )
        check_choice("solver", self.solver, ("auto", *SOLVERS, *STOCK_SOLVERS))
        self._check_solver()
        check_choice("parametrization", self.parametrization, PARAMETRIZATIONS)
        check_choice("separation", self.separation, SEPARATION)
        check_integer("max_iter", self.max_iter, 0)
        check_real("tol", self.tol, 0.0)
        check_truth("warm_start", self.warm_start)
        is_allowed = (
            self.class_weight is None
            or isinstance(self.class_weight, dict)
            or (isinstance(self.class_weight, str) and self.class_weight == "balanced")
        )
        if is_checked() and not is_allowed:
            raise ValueError(
                "The 'class_weight' parameter must be a dict, 'balanced' or None; got "
                f"{self.class_weight!r}.{suggest(self.class_weight, ('balanced',))}"
            )
        self._warn_of_penalty()

    def _check_solver(self):
        """Refuse solvers that cannot minimise the loss with its penalty."""
        if not is_checked():
            return
        if self.firth and self._has_penalty():
            C, _ = self._find_penalty()
            raise ValueError(
                "firth=True is a penalty of its own and allows no other; got "
                f"C={C:g}. Leave out C, l1_ratio and penalty."
            )
        if self.firth and STOCK_SOLVERS.get(self.solver, self.solver) not in (
            "auto",
            "newton",
        ):
            raise ValueError(
                f"firth=True requires solver='newton' or 'auto'; got {self.solver!r}."
            )
        if (
            self.solver == "bfgs"
            and self._has_penalty()
            and self._find_penalty()[1] > 0
        ):
            raise ValueError(
                "solver='bfgs' does not support L1 penalties; got l1_ratio="
                f"{self.l1_ratio!r}. Use 'newton', 'lbfgs', 'gradient' or 'auto'."
            )
        if self.solver == LIBLINEAR and not self._has_penalty():
            raise ValueError(
                "solver='liblinear' always has a penalty, also of the intercept; got "
                f"penalty={self.penalty!r} and C={self.C!r}. Use solver='auto'."
            )
        if self._penalises_intercept() and not self.intercept_scaling > 0:
            raise ValueError(
                "The 'intercept_scaling' parameter must be above 0; got "
                f"{self.intercept_scaling!r}."
            )

    def _warn_of_penalty(self) -> None:
        """Warn of parameters of the penalty that have no effect."""
        if self.l1_ratio is None:
            warn_caller(
                "'l1_ratio=None' was deprecated in scikit-learn 1.8. Use l1_ratio=0.",
                FutureWarning,
            )
        if self.penalty is None and self.C not in (None, 1.0):
            warn_caller(
                f"Setting penalty=None will ignore the C parameter, {self.C!r}.",
                UserWarning,
            )
        is_l1 = self.l1_ratio == 1.0
        is_mixed = self.l1_ratio is not None and 0.0 < self.l1_ratio < 1.0
        ignores = {"l1": is_mixed, "l2": is_mixed or is_l1, None: is_mixed or is_l1}
        if ignores.get(self.penalty, False):
            warn_caller(
                f"Inconsistent values: penalty={self.penalty} with "
                f"l1_ratio={self.l1_ratio}, which is ignored.",
                UserWarning,
            )

    def _check_multi_class(self) -> None:
        """Refuse models of several classes that are others than the multinomial."""
        n_classes = len(self.classes_)
        if self.firth:
            self._require_two_classes("firth=True")
        if n_classes > 2 and (self.multi_class == "ovr" or self.solver == LIBLINEAR):
            what = "multi_class='ovr'"
            if self.solver == LIBLINEAR:
                what = "The 'liblinear' solver"
            raise ValueError(
                f"{what} does not support multiclass classification: y has "
                f"{n_classes} classes. Leave it out for the multinomial model, or use "
                "OneVsRestClassifier(LogisticRegression(...)) for one model per class."
            )
        if n_classes == 2 and self.multi_class == "multinomial" and self._has_penalty():
            raise ValueError(
                "multi_class='multinomial' of two classes penalises two vectors of "
                "coefficients; here there is one. Leave it out."
            )

    def _find_penalty(self):
        """(C, l1_ratio) of the penalty; infinity and 0 without one.

        A penalty that is asked for without its strength has scikit-learn's.
        """
        l1_ratio = 0.0 if self.l1_ratio is None else float(self.l1_ratio)
        if self.penalty is None:
            return math.inf, 0.0
        if self.penalty != "deprecated":
            l1_ratio = {"l1": 1.0, "l2": 0.0}.get(self.penalty, l1_ratio)
        elif self.C is None and l1_ratio == 0.0 and self.solver != LIBLINEAR:
            return math.inf, 0.0
        C = 1.0 if self.C is None else float(self.C)
        return C, l1_ratio

    def _has_penalty(self) -> bool:
        return not math.isinf(self._find_penalty()[0])

    def _penalises_intercept(self) -> bool:
        return bool(self.solver == LIBLINEAR and self.fit_intercept)

    def _is_symmetric(self):
        if len(self.classes_) == 2:
            return False
        is_auto = self.parametrization == "auto"
        return self._has_penalty() if is_auto else self.parametrization == "symmetric"

    def _make_likelihood(self, matrix, codes, weight):
        """Likelihood and penalty of the training rows."""
        n_made = matrix.shape[1] + bool(self.fit_intercept)
        if not n_made:
            raise ValueError("There is nothing to fit: no columns and no intercept.")
        C, l1_ratio = self._find_penalty()
        if self._penalises_intercept():
            # As liblinear does: the intercept is the slope of a constant column.
            matrix = add_constant(matrix, float(self.intercept_scaling))
        return LogisticLikelihood(
            matrix,
            codes,
            len(self.classes_),
            weight,
            fit_intercept=self.fit_intercept and not self._penalises_intercept(),
            is_symmetric=self._has_penalty() and self._is_symmetric(),
            strength=(1.0 - l1_ratio) / C,
            l1_strength=l1_ratio / C,
            n_threads=count_threads(self.n_jobs, matrix.shape[0] * n_made),
        )


def describe_separation(separation) -> str:
    """Name a kind of separation at the start of a sentence."""
    return f"{separation.replace('_', '-').capitalize()} separation"


def read_classes(name: str, X, y, is_present: np.ndarray | None):
    """Read the class labels of the rows that count.

    Returns (classes, codes).
    """
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    labels = check_target(y, is_numeric=False)
    if getattr(y, "ndim", 1) == 2 or labels.shape[1] > 1:
        labels = column_or_1d(labels, warn=True)
    labels = labels.reshape(-1, 1)
    check_consistent_length(X, labels)
    if is_present is not None:
        labels = labels[is_present]
    (classes,), codes = encode_labels(labels)
    _require_two(name, classes)
    present = set(classes.tolist())
    empty = [label for label in list_declared_classes(y) if label not in present]
    if empty:
        warn_caller(
            f"y declares classes without rows: {name_some(empty)}. They have no "
            "coefficients and no probability, and are not in classes_.",
            UserWarning,
        )
    return classes, codes[:, 0]


def _require_two(name, classes):
    """Raise ValueError for a single class."""
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least 2 classes in the data, but the data "
            f"contains only one class: {classes.tolist()[0]!r}."
        )


def read_stored_classes(name: str, columns: BlockColumns) -> np.ndarray:
    """Find the classes of the rows in files; their target then has the codes."""
    n_rows = add_classes(columns.target, None, len(columns.labels))
    if not n_rows.all():  # some classes have only rows that do not count
        columns.keep_classes(n_rows > 0)
    classes = columns.sort_classes()
    _require_two(name, classes)
    return classes


def add_classes(codes, weight, n_classes: int) -> np.ndarray:
    """Add up the weights of the rows of each class; None: 1 each."""
    totals = np.zeros(n_classes)
    for rows in list_blocks(len(codes)):
        each = None if weight is None else weight[rows]
        totals += np.bincount(codes[rows], each, n_classes)
    return totals


def weigh_classes(
    class_weight, classes: np.ndarray, codes, weight
) -> np.ndarray | None:
    """Find the factors of the weights of the classes; None: 1 each."""
    if class_weight is None:
        return None
    for label, given in class_weight.items() if isinstance(class_weight, dict) else ():
        if not (is_real(given) and 0 < given < np.inf):
            raise ValueError(
                "The 'class_weight' parameter must be finite weights above 0; got "
                f"{show_value(given)} for class {label!r}. To leave out a class, leave "
                "out its rows."
            )
    if class_weight == "balanced":
        return balance_totals(add_classes(codes, weight, len(classes)))
    return compute_class_weight(class_weight, classes=classes, y=classes)
