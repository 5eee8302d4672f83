"""Logistic regression, 对数几率回归."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.all_or_nothing import all_or_nothing
from sklearn_textbook._contract.callbacks import CallbackSupportMixin, with_callbacks
from sklearn_textbook.linear_model.class_scores import ClassScores
from sklearn_textbook.linear_model.inference.dependence import warn_of_dependence
from sklearn_textbook.linear_model.logistic.convergence import warn_of_end
from sklearn_textbook.linear_model.logistic.fitting import choose_solver, fit_logistic
from sklearn_textbook.linear_model.logistic.iterations import IterationTasks
from sklearn_textbook.linear_model.logistic.reading import (
    LogisticInput,
    read_classes,
    weigh_classes,
)
from sklearn_textbook.linear_model.logistic.results import LogisticResults


class LogisticRegression(
    LogisticResults, ClassScores, CallbackSupportMixin, ClassifierMixin, LogisticInput
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
    also for standard errors. By default there is no penalty.

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
    separation : {"check", "exact", "ignore"}, default="check"
        Whether to check if the classes can be separated, so that the likelihood has no
        maximum. "check" uses the result of the solver: if every row is classified
        correctly, or the next Newton step is still large, small tables are checked by a
        linear programme, and large ones by that step. "exact" always solves the linear
        programme. With a penalty there is always a maximum.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced": all
        classes have the same total weight.
    random_state : int, RandomState instance or None, default=None
        Has no effect: no solver draws random numbers.
    max_iter : int, default=1000
        Maximum number of iterations. "gradient" may need more.
    tol : float, default=1e-8
        Tolerance for stopping. "newton": the expected decrease of the loss in the next
        step is at most ``tol ** 2 / 2`` per row. Other solvers: no derivative of the
        loss, divided by the square root of the initial second derivative, exceeds
        ``tol`` per row; without a penalty, that square root is the root mean square of
        the column. Neither depends on the units of the columns.
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
        Loss, including the penalty, at the start and after each iteration.
    is_converged_ : bool
        Whether the solver converged.
    separation_ : {"none", "quasi_complete", "complete"} or None
        Whether the classes can be separated: "complete" if for some coefficients every
        row has the largest score for its class, "quasi_complete" if this is possible
        only with ties. None: not checked.
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
                  coef  std. error        z       p      2.5%   97.5%
    intercept  -4.4289      2.8804  -1.5376  0.1242   -10.074  1.2167
    x0          3.1583      4.0533  0.77921  0.4359   -4.7859  11.103
    x1          12.521      6.8801   1.8199  0.0688  -0.96357  26.006  .
    """

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=None,
        l1_ratio=0.0,
        dual=False,
        fit_intercept=True,
        intercept_scaling=1,
        solver="auto",
        parametrization="auto",
        separation="check",
        class_weight=None,
        random_state=None,
        max_iter=1000,
        tol=1e-8,
        warm_start=False,
        verbose=0,
        categorical_features="from_dtype",
        reference_level="first",
        handle_unknown="mean",
        missing="error",
        n_jobs=None,
        multi_class="deprecated",
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.solver = solver
        self.parametrization = parametrization
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
        self.n_jobs = n_jobs
        self.multi_class = multi_class

    @all_or_nothing
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None: 1 each.

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
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        hooks = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context = self._init_callback_context(max_subtasks=int(self.max_iter) + 1)
        context.call_on_fit_task_begin(**hooks)
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        classes, codes = read_classes(type(self).__name__, X, y, is_present)
        weight = weigh_classes(self.class_weight, classes, codes, weight)
        is_same = np.array_equal(getattr(self, "classes_", ()), classes)
        has_start = self.warm_start and is_same and hasattr(self, "coef_")
        self.classes_ = classes
        self._check_multi_class()
        likelihood = self._make_likelihood(matrix, codes, weight)
        start = self._find_last(likelihood) if has_start else likelihood.start()
        self._fit_likelihood(likelihood, start, context, hooks)
        context.call_on_fit_task_end(**hooks)
        return self

    def decision_function(self, X):
        r"""Compute the linear score of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the log-odds (对数几率) of the second, :math:`w^T x + b`.
            For more, the logarithms of the probabilities up to a constant per row, with
            the reference class at 0.
        """
        matrix = self._read_new_table(X)
        scores = np.asarray(matrix @ self.coef_.T) + self.intercept_
        if len(self.classes_) == 2:
            return scores[:, 0]
        if scores.shape[1] < len(self.classes_):
            scores = np.column_stack([scores, np.zeros(len(scores))])
        return scores

    # ---------------------------------------------------------------------- parts
    def _fit_likelihood(self, likelihood, start, context, hooks):
        """Find the coefficients; every iteration is a task of the callbacks."""
        self.solver_ = choose_solver(self.solver, likelihood)
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
        )
        tasks.end()
        self._set_fit(likelihood, fitted)
        if fitted.rank is not None:
            rank = fitted.rank - bool(self.fit_intercept)
            warn_of_dependence(
                self, rank, likelihood.n_rows, lambda: fitted.is_dependent
            )
        warn_of_end(self, fitted.solution.reason)

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
            return estimates.coef, estimates.intercept
        intercept = estimates.coef[:, -1] * float(self.intercept_scaling)
        return estimates.coef[:, :-1], intercept

    def _find_last(self, likelihood):
        """Coefficients of the previous fit, if of the right shape; else zeros."""
        coef, intercept = self.coef_, self.intercept_
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

    def _set_fit(self, likelihood, fitted):
        """Set all attributes."""
        estimates, solution = fitted.estimates, fitted.solution
        self.coef_, self.intercept_ = self._split_off_intercept(estimates)
        self._errors = estimates.errors
        if estimates.covariance is not None:
            self.covariance_ = estimates.covariance
        elif hasattr(self, "covariance_"):
            del self.covariance_
        self.separation_, self.rank_ = fitted.separation, fitted.rank
        self.log_likelihood_ = fitted.log_likelihood
        self.loss_path_ = np.array(solution.loss_path)
        self.n_iter_ = np.array([len(solution.loss_path) - 1], dtype=np.int32)
        self.is_converged_ = solution.is_converged
        self.n_observations_ = likelihood.total_weight
        self.null_log_likelihood_ = self._find_null(likelihood)

    @property
    def reference_class_(self):
        """Class whose score is 0; None if each class has coefficients."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self.classes_[0]
        return None if len(self.coef_) == len(self.classes_) else self.classes_[-1]

    def _find_null(self, likelihood):
        """Log-likelihood of the model without columns."""
        total = likelihood.total_weight
        if not self.fit_intercept:
            return -total * math.log(len(self.classes_))
        counts = np.bincount(likelihood.codes, likelihood.weight)
        return float((counts * np.log(counts / total)).sum())
