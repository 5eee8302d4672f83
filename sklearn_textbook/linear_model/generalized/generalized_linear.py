"""Generalised linear models, 广义线性模型."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from sklearn_textbook._contract.all_or_nothing import all_or_nothing
from sklearn_textbook.linear_model.generalized.convergence import warn_of_end
from sklearn_textbook.linear_model.generalized.diagnostics import (
    GeneralizedDiagnostics,
)
from sklearn_textbook.linear_model.generalized.families import make_family
from sklearn_textbook.linear_model.generalized.inputs import (
    GeneralizedInput,
    require_range,
)
from sklearn_textbook.linear_model.generalized.predictions import (
    GeneralizedPredictions,
)
from sklearn_textbook.linear_model.generalized.results import GeneralizedResults
from sklearn_textbook.linear_model.generalized.retransformation import (
    find_factor,
    transform_target,
)
from sklearn_textbook.linear_model.generalized.reweighting import (
    Problem,
    fit_constant,
    fit_reweighted,
)
from sklearn_textbook.linear_model.inference.dependence import warn_of_dependence


class GeneralizedLinearRegressor(
    GeneralizedResults,
    GeneralizedDiagnostics,
    GeneralizedPredictions,
    RegressorMixin,
    GeneralizedInput,
):
    r"""Generalised linear model (广义线性模型).

    A function of the mean of y, the link (联系函数) g, is linear in the columns:

    .. math::

        g(\mu) = \eta = w^T x + b + o, \qquad y \approx \mu = g^{-1}(w^T x + b + o),

    where o is a known offset. The family determines the distribution of y around its
    mean, with variance :math:`\phi V(\mu)`. The coefficients minimise the deviance
    (偏差)

    .. math::

        D = \sum_i \omega_i\, d(y_i, \mu_i), \qquad
        D + \alpha \Bigl(\sum_i \omega_i\Bigr) \|w\|^2 \text{ with a penalty},

    where :math:`\omega` are the sample weights; without a penalty, they maximise the
    likelihood. The penalised objective is that of scikit-learn, :math:`\frac{1}{2 \sum
    \omega} D + \frac{\alpha}{2} \|w\|^2`.

    The deviance is minimised by iteratively reweighted least squares
    (迭代重加权最小二乘), with the starting values and stopping criterion of R's glm;
    steps that would increase the deviance are halved.

    ==================== ============================ =================== ============
    family               y                            :math:`V(\mu)`      canonical g
    ==================== ============================ =================== ============
    "gaussian"           any number                   :math:`1`           identity
    "poisson"            at least 0, as counts        :math:`\mu`         log
    "gamma"              above 0                      :math:`\mu^2`       inverse
    "inverse_gaussian"   above 0                      :math:`\mu^3`       power -2
    "binomial"           0 or 1, or proportions       :math:`\mu(1-\mu)`  logit
    "tweedie"            by ``power`` p               :math:`\mu^p`       power 1 - p
    ==================== ============================ =================== ============

    Parameters
    ----------
    family : str, default="gaussian"
        Distribution of y around its mean: "gaussian", "poisson", "gamma", "binomial",
        "tweedie" or "inverse_gaussian".
    link : str, default="auto"
        The link function g: "identity", "log", "logit", "probit", "inverse", "power",
        "cloglog" or "auto". "auto" is the canonical link of the family, as in R's glm;
        scikit-learn's ``GammaRegressor`` and ``TweedieRegressor`` use the logarithm
        instead. The family "binomial" supports "logit", "probit", "cloglog"
        (:math:`\ln(-\ln(1 - \mu))`), "log" and "identity"; the other families support
        "identity", "log", "inverse" and "power".
    power : float, default=1.5
        The exponent p of the family "tweedie": 0 normal, 1 Poisson, between 1 and 2
        compound Poisson-gamma (with a positive probability of 0), 2 gamma, 3 inverse
        Gaussian; values between 0 and 1 are not allowed.
    link_power : float, default=None
        :math:`\lambda` of the link "power", :math:`g(\mu) = \mu^\lambda`; 0.5 is the
        square root, 0 the logarithm.
    alpha : float, default=0.0
        Strength of the penalty on the squared coefficients, without the intercept
        (ridge, 岭回归).
    fit_intercept : bool, default=True
        Whether to fit the intercept b.
    transform_y : {"log"}, default=None
        "log": fit :math:`\ln y = w^T x + b` by least squares, the log-linear regression
        (对数线性回归) of the textbook (3.14). This differs from ``link="log"``, which
        models the logarithm of the mean; see Notes. Only for ``family="gaussian"`` with
        the identity link.
    retransform : {"median", "mean", "smearing"}, default="median"
        Prediction with ``transform_y="log"``: "median" is :math:`e^\eta`, the median of
        y; "mean" is :math:`e^{\eta + \sigma^2 / 2}`, the mean of y if ln y is normal;
        "smearing" is :math:`e^\eta` times the mean of :math:`e^r` over the residuals r
        of the fit, which estimates the mean for any distribution of the residuals [4]_.
    weight_type : {"frequency", "variance"}, default="frequency"
        Meaning of a ``sample_weight`` of w; the coefficients do not depend on it.
        "frequency": w identical rows, so standard errors and degrees of freedom are
        those of as many rows. "variance": one row with variance :math:`\phi V(\mu) /
        w`, as in R's glm; for "binomial", w is the number of trials and y the
        proportion. statsmodels has two arguments for this, ``freq_weights`` and
        ``var_weights``.
    dispersion : {"auto", "pearson", "deviance"} or float, default="auto"
        The dispersion :math:`\phi`: "pearson", Pearson's statistic divided by the
        residual degrees of freedom; "deviance", the deviance divided by the residual
        degrees of freedom; or a number. "auto": 1 for "poisson" and "binomial",
        "pearson" for the others. "pearson" with "poisson" or "binomial" gives
        quasi-likelihoods, which allow for over- and underdispersion.
    dependent_columns : {"minimum_norm", "drop"}, default="minimum_norm"
        How linearly dependent columns are treated, for which many coefficients fit
        equally well: "minimum_norm" uses the coefficients with the smallest norm, and a
        warning names the columns; "drop", as in R, sets the coefficient of a column to
        0 if the column depends on preceding ones. Predictions of the training rows are
        the same. With a penalty, the solution is unique and this has no effect.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Categorical columns, and the order of their levels; see
        :func:`~sklearn_textbook.linear_model.design.read_design`.
    reference_level : {"first", "last", "most_frequent"} or None, default="first"
        The level of a nominal column with which the others are compared. None: all
        levels have a coefficient, and their indicators and the intercept are linearly
        dependent.
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
    tol : float, default=1e-8
        The iteration stops when the penalised deviance changes by at most this fraction
        of itself plus 0.1 (less if the values of y are small).
    max_iter : int, default=100
        Maximum number of iterations.
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous ``fit``.
    n_jobs : int, default=None
        Number of threads. None: one per core. The result does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_coefficients,)
        The coefficients w.
    intercept_ : float
        The intercept b; 0 without intercept.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        Names of the columns of the coefficients.
    coefficient_table_ : CoefficientTable
        Coefficients, standard errors (标准误差), z or t, p and Wald confidence
        intervals, the intercept first; ``as_dict()`` returns its columns.
    standard_errors_ : ndarray of shape (n_coefficients,)
        Standard errors of ``coef_``; NaN for coefficients that are not determined by
        the rows.
    intercept_standard_error_ : float
        Standard error of ``intercept_``.
    covariance_ : ndarray of shape (1 + n_coefficients, 1 + n_coefficients)
        Covariance matrix of the estimates, the intercept first.
    deviance_ : float
        The deviance D.
    null_deviance_ : float
        The deviance with only the intercept (and the offset).
    deviance_path_ : ndarray
        The deviance after each iteration; with ``warm_start``, preceded by the initial
        one.
    dispersion_ : float
        The dispersion :math:`\phi`; NaN if there are no degrees of freedom to estimate
        it.
    log_likelihood_ : float
        The log-likelihood, with the dispersion :math:`D / \sum \omega` unless it is
        known, as in R. NaN for quasi-likelihoods, and for "tweedie" if the density has
        no closed form (a power below 0, or above 2 except 3). With
        ``transform_y="log"``, it is that of y, not of ln y.
    aic_ : float
        Akaike's information criterion.
    bic_ : float
        Bayesian information criterion.
    rank_ : int
        Rank of the (centred) columns, as in ``LinearRegression``.
    effective_rank_ : float
        The rank reduced by the penalty: the trace of the hat matrix, minus 1 for
        the intercept.
    n_observations_ : float
        Number of rows: the sum of the weights if these are frequencies.
    null_degrees_of_freedom_ : float
        Degrees of freedom of the null deviance.
    residual_degrees_of_freedom_ : float
        Degrees of freedom of the deviance: those of the null deviance minus the
        effective rank.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the iteration converged within ``max_iter``.
    retransformation_factor_ : float
        Factor of :math:`e^\eta` in ``predict``, with ``transform_y="log"``.
    family_ : Family
        The family, with its formulas.
    link_ : Link
        The link, with its formulas.
    design_ : Design
        Encoding of the columns of the table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` iterations were not enough; if they end at the boundary of the
        valid means, as may happen with the link "identity" for "poisson"; and if the
        likelihood has no maximum, as when the columns separate the zeros from the ones
        in "binomial". In the latter case, the deviance converges while the linear
        predictors continue to grow.
    UserWarning
        If columns are linearly dependent or constant, with
        ``dependent_columns="minimum_norm"`` and without a penalty. There is no warning
        if there are fewer rows than coefficients, or because of
        ``reference_level=None``.

    See Also
    --------
    sklearn.linear_model.PoissonRegressor : Penalised by default; no standard errors.
    sklearn.linear_model.GammaRegressor : Uses the logarithm as link.
    sklearn.linear_model.TweedieRegressor : Other powers of the variance.

    Notes
    -----
    *Two log-linear regressions.* ``transform_y="log"`` assumes that ln y has a constant
    variance, so that the standard deviation of y is proportional to its size, and
    models the median of y. ``link="log"`` models the mean of y, and the variance is
    that of the family: constant for "gaussian". By default, predictions of the former
    underestimate the mean; see ``retransform``. ``log_likelihood_`` and ``aic_`` refer
    to y in both cases and can be compared.

    *Errors.* Standard errors are the square roots of the diagonal of :math:`\phi (Z^T W
    Z)^{-1}` with :math:`Z = [1, X]` and :math:`W = \omega (d\mu / d\eta)^2 / V(\mu)` at
    the estimates. Tests use Student's t distribution if the dispersion is estimated,
    and the normal distribution otherwise. With a penalty, they are the errors of the
    penalised coefficients around their own means, without the bias.

    *Differences from scikit-learn's regressors*: canonical links and no penalty by
    default, ``tol`` for the deviance instead of the gradient, no choice of solvers,
    offsets and exposures, nominal columns, and statistical inference. *Differences from
    R's glm*: weights are frequencies by default; columns that are far from zero or
    nearly dependent are handled by an orthogonal factorisation, others by a Cholesky
    factorisation; means with the link "log" may be as small as floats allow.

    References: 周志华《机器学习》, section 3.2, formulas 3.14 and 3.15; [1]_ and [2]_
    for the iteration and the analysis of deviance, [3]_ for "tweedie".

    References
    ----------
    .. [1] J. A. Nelder, R. W. M. Wedderburn (1972), Generalized linear models. Journal
       of the Royal Statistical Society A 135.
    .. [2] P. McCullagh, J. A. Nelder (1989), Generalized Linear Models, second edition.
    .. [3] B. Jørgensen (1987), Exponential dispersion models. Journal of the Royal
       Statistical Society B 49.
    .. [4] N. Duan (1983), Smearing estimate: a nonparametric retransformation method.
       Journal of the American Statistical Association 78.

    Examples
    --------
    Counts that grow by a constant factor with x:

    >>> import numpy as np
    >>> from sklearn_textbook.linear_model import GeneralizedLinearRegressor
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [2, 3, 6, 7, 8, 17]
    >>> model = GeneralizedLinearRegressor(family="poisson").fit(X, y)
    >>> print(model.summary())
    Generalised linear model
    ========================
    family:                poisson    deviance:        1.0941 on 4 df
    link:                      log    dispersion:           1 (known)
    rows:                        6    log-likelihood:         -11.392
    rank:           1 of 1 columns    AIC:                     26.784
    iterations:                  4    BIC:                     26.367
    null deviance:  18.337 on 5 df
    <BLANKLINE>
                  coef  std. error       z       p       2.5%    97.5%
    intercept  0.75825     0.39433  1.9229  0.0545  -0.014615   1.5311  .
    x0         0.39675      0.1022   3.882  0.0001    0.19644  0.59706  ***

    Each unit of x multiplies the mean by

    >>> float(np.exp(model.coef_[0]).round(3))
    1.487
    """

    def __init__(
        self,
        family="gaussian",
        link="auto",
        *,
        power=1.5,
        link_power=None,
        alpha=0.0,
        fit_intercept=True,
        transform_y=None,
        retransform="median",
        weight_type="frequency",
        dispersion="auto",
        dependent_columns="minimum_norm",
        categorical_features="from_dtype",
        reference_level="first",
        handle_unknown="mean",
        missing="error",
        tol=1e-8,
        max_iter=100,
        warm_start=False,
        n_jobs=None,
    ):
        self.family = family
        self.link = link
        self.power = power
        self.link_power = link_power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.transform_y = transform_y
        self.retransform = retransform
        self.weight_type = weight_type
        self.dispersion = dispersion
        self.dependent_columns = dependent_columns
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            family = make_family(self.family, self.power)
            takes_any = not family.find_wrong(np.array([-1.0]))[0]
        except (AttributeError, TypeError, ValueError):
            takes_any = True  # parameters are checked when it is fitted
        tags.target_tags.positive_only = not takes_any or self.transform_y is not None
        return tags

    @all_or_nothing
    def fit(self, X, y, sample_weight=None, *, offset=None, exposure=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The target, with values that are valid for the family.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None: 1 each.
        offset : array-like of shape (n_samples,), default=None
            Number added to the linear predictor of each row. None: 0.
        exposure : array-like of shape (n_samples,), default=None
            Positive time, area or population of each row. Its logarithm is added to the
            linear predictor, so means are proportional to it. Only for the link "log".
            None: 1 each.

        Returns
        -------
        self : GeneralizedLinearRegressor
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a target, a weight or a value is invalid, or if no
            coefficients are found for which all means are valid for the family.
        """
        family, link = self._check_parameters()
        start = self._take_start()
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        if not self.alpha:
            self._require_squares(matrix, weight)
        y = self._read_target(X, y, is_present)
        n_rows = len(y) if is_present is None else len(is_present)
        offset = self._read_offset(offset, exposure, n_rows)
        if is_present is not None:
            offset = None if offset is None else offset[is_present]
        require_range(family, y, is_present)
        self.family_, self.link_ = family, link
        problem = Problem(
            matrix,
            transform_target(y) if self.transform_y else y,
            np.ones(len(y)) if weight is None else weight,
            offset,
            family,
            link,
            bool(self.fit_intercept),
            float(self.alpha) * float(len(y) if weight is None else weight.sum()),
            float(self.tol),
            int(self.max_iter),
            self.n_jobs,
            self.weight_type == "variance",
        )
        self._fit_problem(problem, start, y)
        return self

    # ---------------------------------------------------------------------- parts
    def _take_start(self):
        """Coefficients of an earlier fit to start from."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        intercept = self.intercept_ if self.fit_intercept else 0.0
        return np.append(intercept, self.coef_)

    def _fit_problem(self, problem, start, y):
        """Fit, and set the results; y is the target before a transform."""
        n_columns = problem.X.shape[1]
        constant, null_deviance = fit_constant(problem)
        if start is not None and len(start) != n_columns + 1:
            start = None
        kept, fit, whole = self._find_fit(problem, constant, start)
        coef = np.zeros(n_columns + 1)
        coef[np.append(0, kept + 1)] = fit.coef
        self.coef_, self.intercept_ = coef[1:], float(coef[0])
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.has_converged
        self.deviance_path_ = fit.deviance_path
        self.deviance_, self.null_deviance_ = fit.deviance, null_deviance
        warn_of_end(self, fit)
        self._set_results(problem, fit, kept, whole)
        if self.dependent_columns == "minimum_norm" and not problem.penalty:
            warn_of_dependence(
                self, self.rank_, len(y), lambda: ~self._is_determined[1:]
            )
        self.retransformation_factor_ = 1.0
        if self.transform_y:
            self.retransformation_factor_ = find_factor(
                self.retransform,
                problem.y - fit.rows.mean,
                problem.weight,
                self.dispersion_,
            )
            # The likelihood of y itself, for comparison with other models of y.
            self.log_likelihood_ -= float(problem.weight @ np.log(y))

    def _find_fit(self, problem, constant, start):
        """Fit to all columns, or to those that do not depend on others.

        Returns the numbers of these, the fit, and, if some were dropped, which
        coefficients of all columns the rows determine.
        """
        whole = None
        kept = np.arange(problem.X.shape[1])
        base = np.zeros(len(kept) + 1)
        if problem.fit_intercept:
            base[0] = constant
        has_base = problem.fit_intercept or start is None
        fit = fit_reweighted(problem, base if has_base else None, start)
        drops = self.dependent_columns == "drop" and not problem.penalty
        if drops and fit.solver.is_delicate:
            weight, _ = fit.rows.reweight(fit.predictor)
            kept = fit.solver.find_independent(weight)
            whole = fit.solver.describe(weight)
            if len(kept) < problem.X.shape[1]:
                chosen = np.append(0, kept + 1)
                fit = fit_reweighted(
                    problem.select(kept),
                    base[chosen],
                    None if start is None else start[chosen],
                )
        return kept, fit, whole
