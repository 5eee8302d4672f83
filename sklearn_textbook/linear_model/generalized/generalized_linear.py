"""Generalised linear models, 广义线性模型."""

from __future__ import annotations

import math
import weakref
from contextlib import closing
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.sparse import csr_array, issparse
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blocks import BlockSource, add_up, list_blocks
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_truth,
    is_checked,
    is_real,
    show_value,
)
from sklearn_textbook._contract.scoring import read_columns
from sklearn_textbook._contract.tables import check_sizes
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.generalized.deviance_table import (
    compare_deviances,
    measure_deviances,
)
from sklearn_textbook.linear_model.generalized.families import (
    FAMILIES,
    QUASI_FAMILIES,
    BinomialFamily,
    NegativeBinomialFamily,
    make_family,
    measure_explained,
)
from sklearn_textbook.linear_model.generalized.links import (
    FRACTION_LINKS,
    LINKS,
    make_link,
)
from sklearn_textbook.linear_model.generalized.negative_binomial import (
    fit_negative_binomial,
    measure_theta_error,
)
from sklearn_textbook.linear_model.generalized.profile_likelihood import (
    find_profile_intervals,
)
from sklearn_textbook.linear_model.generalized.reweighting import (
    Fit,
    Problem,
    find_symmetric_root,
    fit_constant,
    fit_reweighted,
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
from sklearn_textbook.linear_model.inference.result import (
    LinearResult,
    require_no_penalty,
)
from sklearn_textbook.linear_model.inference.robust import (
    TrainingScores,
    measure_errors,
    robust_covariance,
)
from sklearn_textbook.linear_model.inference.summary import (
    WIDTH,
    format_statistic,
    write_summary,
)
from sklearn_textbook.linear_model.least_squares.targets import (
    read_numeric_targets,
    require_powers,
)
from sklearn_textbook.linear_model.offsets import (
    read_named,
    read_offset,
    require_log_link,
    take_logarithm,
    take_rows_of,
)
from sklearn_textbook.linear_model.solve.row_blocks import lay_out, read_rows
from sklearn_textbook.linear_model.solve.row_sums import find_largest, is_within
from sklearn_textbook.linear_model.solve.weighted_solution import (
    OUTSIDE,
    WeightedSolver,
)
from sklearn_textbook.tree.encode.block_columns import (
    BlockColumns,
    FileArray,
    count_rows_from,
)

if TYPE_CHECKING:
    from sklearn_textbook.linear_model.generalized.deviance_table import DevianceTable

#: What R and statsmodels call families and links, and what to use.
OTHER_NAMES = {
    "family": {
        "normal": "family='gaussian'",
        "bernoulli": "family='binomial'",
        "Gamma": "family='gamma'",
        "inverse.gaussian": "family='inverse_gaussian'",
        "negbin": "family='negative_binomial'",
        "nbinom": "family='negative_binomial'",
        "negativebinomial": "family='negative_binomial'",
        "quasi": "another family with dispersion='pearson'",
    },
    "link": {
        "sqrt": "link='power' with link_power=0.5",
        "inverse_squared": "link='power' with link_power=-2.0",
        "1/mu^2": "link='power' with link_power=-2.0",
    },
}
RESIDUALS = ("deviance", "pearson", "working", "response")
WEIGHT_TYPES = ("frequency", "variance")
DEPENDENT_COLUMNS = ("minimum_norm", "drop")
#: Predictions of y from a regression of ln y.
RETRANSFORMATIONS = ("median", "mean", "smearing")
#: Numbers times roots of weights whose squares, and those of standard errors, are
#: within float64.
SMALLEST, LARGEST = 1e-140, 1e145
#: A predictor that changes by more than this in the last step is diverging.
RUNAWAY = 0.1
#: Fraction of the average mean below which a mean lies on the border at 0; and distance
#: of a fraction from 1.
BORDER = 1e-10
#: Of the files of vectors.
NUMBERS = count()
#: Families whose likelihood has the dispersion as a parameter.
SCATTERED = ("gaussian", "gamma", "inverse_gaussian")


class GeneralizedLinearRegressor(RegressorMixin, BaseLinearModel):
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
    "negative_binomial"  at least 0, as counts        see below           log (auto)
    ==================== ============================ =================== ============

    The negative binomial distribution (负二项分布) has :math:`V(\mu) = \mu + \mu^2 /
    \theta`: counts that vary more than those of a Poisson distribution.

    Parameters
    ----------
    family : str, default="gaussian"
        Distribution of y around its mean: "gaussian", "poisson", "gamma", "binomial",
        "tweedie", "inverse_gaussian" or "negative_binomial". R's "quasipoisson" and
        "quasibinomial" are "poisson" and "binomial" with ``dispersion="pearson"``
        unless another is given.
    link : str, default="auto"
        The link function g: "identity", "log", "logit", "probit", "inverse", "power",
        "cloglog" or "auto". "auto" is the canonical link of the family, as in R's glm;
        scikit-learn's ``GammaRegressor`` and ``TweedieRegressor`` use the logarithm
        instead. The family "binomial" supports "logit", "probit", "cloglog"
        (:math:`\ln(-\ln(1 - \mu))`), "log" and "identity"; "negative_binomial" supports
        "log", which is "auto", "identity" and "power"; the other families support
        "identity", "log", "inverse" and "power".
    power : float, default=1.5
        The exponent p of the family "tweedie": 0 normal, 1 Poisson, between 1 and 2
        compound Poisson-gamma (with a positive probability of 0), 2 gamma, 3 inverse
        Gaussian; values between 0 and 1 are not allowed.
    theta : "estimate" or float, default="estimate"
        :math:`\theta` of the family "negative_binomial", as in R's ``MASS::glm.nb``;
        statsmodels' ``alpha`` is :math:`1 / \theta`. "estimate": by maximum likelihood,
        in turn with the coefficients.
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
        those of as many rows; if weights are not whole numbers, standard errors come
        with a warning. "variance": one row with variance :math:`\phi V(\mu) /
        w`, as in R's glm; for "binomial", w is the number of trials and y the
        proportion. statsmodels has two arguments for this, ``freq_weights`` and
        ``var_weights``.
    dispersion : {"auto", "pearson", "deviance"} or float, default="auto"
        The dispersion :math:`\phi`: "pearson", Pearson's statistic divided by the
        residual degrees of freedom; "deviance", the deviance divided by the residual
        degrees of freedom; or a number. "auto": 1 for "poisson", "binomial" and
        "negative_binomial", "pearson" for the others. "pearson" with the former gives
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
    tol : float, default=1e-8
        The iteration stops when the penalised deviance changes by at most this fraction
        of itself plus 0.1 (less if the values of y are small), and with another link
        than the canonical one, where steps shrink slowly, when further steps would not
        reduce it by more than 1e-5 of that.
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
        The deviance after each iteration; with ``warm_start``, and for large tables,
        preceded by the initial one. If theta is estimated, those for one theta follow
        those for another.
    theta_ : float
        :math:`\theta` of the family "negative_binomial", only for this one; infinite if
        the variance of y does not exceed the mean.
    theta_standard_error_ : float
        Its standard error; NaN if it was given or is infinite.
    dispersion_ : float
        The dispersion :math:`\phi`; NaN if there are no degrees of freedom to estimate
        it.
    log_likelihood_ : float
        The log-likelihood, with the dispersion :math:`D / \sum \omega` unless it is
        known, as in R. That of "negative_binomial" counts an estimated theta as a
        parameter. NaN for quasi-likelihoods, and for "tweedie" if the density has
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
        predictors continue to grow. Also if theta of "negative_binomial" is infinite.
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
    penalised coefficients around their own means, without the bias, and there are no
    tests and confidence intervals of coefficients.

    *Large tables.* If every 16th row is enough to estimate the coefficients, these rows
    are fitted first. From their coefficients and second derivatives, which BFGS
    updates, few iterations are left for all rows, whatever the units and correlations
    of the columns are. They stop when further ones would reduce the deviance by no more
    than 1e-5 of the change that ``tol`` allows.

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
                  coef  std. error      z       p      2.5%   97.5%
    intercept  0.75825     0.39433  1.923  0.0545  -0.01462  1.5311  .
    x0         0.39675     0.10220  3.882  0.0001   0.19644  0.5971  ***

    Each unit of x multiplies the mean by

    >>> float(np.exp(model.coef_[0]).round(3))
    1.487
    """

    _fits_blocks = True

    def __init__(
        self,
        family: str = "gaussian",
        link: str = "auto",
        *,
        power: float = 1.5,
        theta: str | float = "estimate",
        link_power: float | None = None,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        transform_y: str | None = None,
        retransform: str = "median",
        weight_type: str = "frequency",
        dispersion: str | float = "auto",
        dependent_columns: str = "minimum_norm",
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
        formula: str | None = None,
        interactions: str | list | None = None,
        covariance_type: str = "nonrobust",
        tol: float = 1e-8,
        max_iter: int = 100,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.family = family
        self.link = link
        self.power = power
        self.theta = theta
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
        self.formula = formula
        self.interactions = interactions
        self.covariance_type = covariance_type
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
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks;
            the following are then names of its columns.
        y : array-like of shape (n_samples,) or str
            The target, with values that are valid for the family.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows. None: 1 each.
        offset : array-like of shape (n_samples,) or str, default=None
            Number added to the linear predictor of each row. None: 0.
        exposure : array-like of shape (n_samples,) or str, default=None
            Positive time, area or population of each row. Its logarithm is added to the
            linear predictor, so means are proportional to it. Only for the link "log".
            None: 1 each.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, with ``covariance_type="cluster"``.

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
        self._check_covariance_type(X, groups, is_penalised=self.alpha > 0)
        self._forget("_robust_covariance")
        start, known = self._take_start(), {"offset": offset, "exposure": exposure}
        if isinstance(X, BlockSource):
            vectors = {role: name for role, name in known.items() if name is not None}
            if exposure is not None:
                require_log_link(link)
            with closing(
                self._open_columns(
                    *(X, y, sample_weight), is_numeric=True, vectors=vectors
                )
            ) as columns:
                self._fit_columns(columns, family, link, start)
            return self
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        given, y = y, self._read_target(X, y, is_present)
        n_rows = len(y) if is_present is None else len(is_present)
        offset = self._read_offset(offset, exposure, n_rows)
        offset = take_rows_of(offset, is_present)
        require_range(family, y, is_present)
        target = transform_target(y) if self.transform_y else y
        weight = np.ones(len(y)) if weight is None else weight
        self._fit_rows(matrix, (y, target), weight, offset, (family, link, start))
        if self.covariance_type != "nonrobust":
            robust = robust_covariance(
                *(self, X, given, sample_weight),
                covariance_type=self.covariance_type,
                groups=groups,
                **known,
            )
            self._robust_covariance = robust
            lacking = int(not self.fit_intercept)
            self.covariance_ = np.pad(robust, ((lacking, 0), (lacking, 0)))
        return self

    def _fit_columns(self, columns, family, link, start) -> None:
        """Fit to the columns of a table in files."""
        matrix = self._read_stored_rows(columns)
        (n_rows, _), y = matrix.shape, columns.target
        target = make_vector(columns) if self.transform_y else y
        for rows in list_blocks(n_rows):
            with count_rows_from(rows.start):
                check_sizes(y[rows], type(self).__name__, what="y")
                require_range(family, y[rows], None)
                if self.transform_y:
                    target[rows] = transform_target(y[rows])
        offset = columns.vectors.get("offset")
        if "exposure" in columns.vectors:
            added, offset = offset, make_vector(columns)
            for rows in list_blocks(n_rows):
                with count_rows_from(rows.start):
                    logarithm = take_logarithm(columns.vectors["exposure"][rows])
                offset[rows] = logarithm + (0.0 if added is None else added[rows])
        weight = columns.weight
        if weight is None:
            weight = np.broadcast_to(1.0, n_rows)
        self._fit_rows(
            *(matrix, (y, target), weight, offset, (family, link, start)),
            lambda: make_vector(columns),
        )

    def _fit_rows(self, matrix, targets, weight, offset, model, make_file=None):
        """Fit to rows in memory or in files; targets are before and after a transform.

        The model is a family, a link and the coefficients of the start.
        """
        self.family_, self.link_, start = model
        y, target = targets
        # Weights and their derivatives have twice the power of the variance.
        power = getattr(self.family_, "power", 0.0)
        require_powers(
            target, 2.0 if 0.0 <= power <= 2.0 else max(2.0, 2.0 * abs(power))
        )
        if not self.alpha:
            self._require_squares(matrix, weight)
        penalty = float(self.alpha) * add_up(weight)
        problem = self._make_problem(matrix, target, weight, offset, penalty)
        self._fit_problem(replace(problem, make_file=make_file), start, y)

    def predict(
        self,
        X: MatrixLike,
        return_std: bool = False,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray | Any:
        """Predict the mean of the target.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks;
            the offset and the exposure are then names of its columns.
        return_std : bool, default=False
            Whether to return the standard errors of the means as well (R's ``se.fit``),
            those of the linear predictors times the slope of the inverse link.
        offset : array-like of shape (n_samples,) or str, default=None
            Number added to the linear predictor of each row. None: 0, whatever was
            passed to ``fit``.
        exposure : array-like of shape (n_samples,) or str, default=None
            Value to which the mean of each row is proportional. None: 1 each.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Means; with ``transform_y="log"``, as defined by ``retransform``.
        y_std : ndarray of shape (n_samples,)
            Standard errors, if requested; NaN for rows whose mean is not determined by
            the training rows, because columns are linearly dependent only in these.
        """
        known = {"offset": offset, "exposure": exposure}
        predictor = self.predict_linear(X, return_std, **known)
        if not return_std:
            return self._invert(predictor)
        predictor, errors = predictor
        mean = slope = self._invert(predictor)
        if not self.transform_y:
            slope = np.abs(self.link_.differentiate(predictor, mean))
        return mean, slope * errors

    def _invert(self, predictor):
        """Means of linear predictors."""
        if self.transform_y:
            return np.exp(predictor) * self.retransformation_factor_
        return self.link_.invert(predictor)

    def predict_linear(
        self,
        X: MatrixLike,
        return_std: bool = False,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray | Any:
        r"""Compute the linear predictors :math:`\eta = g(\mu)`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks;
            the offset and the exposure are then names of its columns.
        return_std : bool, default=False
            Whether to return their standard errors as well.
        offset : array-like of shape (n_samples,) or str, default=None
            As in ``predict``.
        exposure : array-like of shape (n_samples,) or str, default=None
            As in ``predict``.

        Returns
        -------
        predictor : ndarray of shape (n_samples,)
            Linear predictors.
        predictor_std : ndarray of shape (n_samples,)
            Standard errors, if requested; NaN as in ``predict``.
        """
        check_is_fitted(self)
        offset, exposure = read_named(X, offset=offset, exposure=exposure)

        def predict_block(matrix):
            predictor = np.asarray(matrix @ self.coef_).ravel() + self.intercept_
            if return_std:
                return predictor, self._measure_errors(matrix)
            return (predictor,)

        if return_std:
            self._warn_of_fractions()
        predictor, *errors = self._predict_blocks(X, predict_block)
        offset = self._read_offset(offset, exposure, len(predictor))
        if offset is not None:
            predictor = predictor + offset
        return (predictor, *errors) if return_std else predictor

    def _measure_errors(self, matrix):
        """Compute standard errors of linear predictors; NaN if not determined."""
        robust = vars(self).get("_robust_covariance")
        if robust is None:
            covariance, dispersion = self.covariance_[1:, 1:], self.dispersion_
            root = np.sqrt(dispersion) * self._find_root()
            if self.alpha:
                root = find_symmetric_root(covariance)
            variance = measure_leverages(
                *(matrix, np.ones(matrix.shape[0]), self._centre, root),
                dispersion * self._share,
            )
        else:
            has_intercept = bool(self.fit_intercept)
            errors = measure_errors(matrix, robust, has_intercept=has_intercept)
            variance = errors**2
        if self._row_space is not None:
            rows = matrix.toarray() if issparse(matrix) else matrix
            distances = self._row_space.measure_distances(rows - self._row_centre)
            variance = np.where(distances < OUTSIDE, variance, np.nan)
        return np.sqrt(variance)

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        r"""Compute the fraction of the deviance explained, :math:`D^2`.

        .. math:: D^2 = 1 - D(y, \hat\mu) / D(y, \bar y)

        with the weighted mean :math:`\bar y`. For the family "gaussian", this is
        :math:`R^2`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks;
            the following are then names of its columns.
        y : array-like of shape (n_samples,) or str
            The targets of the rows.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows. None: 1 each.
        offset : array-like of shape (n_samples,) or str, default=None
            As in ``predict``.
        exposure : array-like of shape (n_samples,) or str, default=None
            As in ``predict``.

        Returns
        -------
        score : float
            At most 1; 0 for the mean; negative if worse. If y is constant: 1 if it is
            predicted without error, and 0 otherwise.
        """
        mean = self.predict(X, offset=offset, exposure=exposure)
        y, sample_weight = read_columns(X, y, sample_weight, is_numeric=False)
        y = self._read_target(mean if isinstance(X, BlockSource) else X, y)
        require_range(self.family_, y, None)
        weight = check_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight
        return measure_explained(self.family_, y, mean, weight)

    @property
    def coefficient_table_(self) -> CoefficientTable:
        """Estimates, standard errors, tests and 95% confidence intervals."""
        return self.make_coefficient_table(0.95)

    @property
    def standard_errors_(self) -> np.ndarray:
        """Standard errors of ``coef_``; NaN where the data do not determine them."""
        return self._find_errors()[1:]

    @property
    def intercept_standard_error_(self) -> float | Any:
        """Standard error of ``intercept_``; NaN without intercept."""
        return float(self._find_errors()[0])

    def make_coefficient_table(self, level: float = 0.95) -> CoefficientTable:
        """Make a table of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        table : CoefficientTable
            Estimates, standard errors, z or t, p and confidence intervals, the
            intercept first.
        """
        check_is_fitted(self)
        check_level(level)
        names, estimates = self.coef_names_.tolist(), self.coef_
        errors = self._find_errors()
        if self.fit_intercept:
            names = ["intercept", *names]
            estimates = np.append(self.intercept_, estimates)
        else:
            errors = errors[1:]
        free = None if self._knows_dispersion() else self.residual_degrees_of_freedom_
        return CoefficientTable(
            tuple(names), estimates, errors, free, level, is_penalised=self.alpha > 0
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
        name = self.family if self.family in QUASI_FAMILIES else self.family_.name
        if name == "tweedie":
            name += f", power {self.family_.power:g}"
        if name == "negative_binomial":
            name = f"negative binomial, theta {format_statistic(self.theta_)}"
        how = "deviance" if self.dispersion == "deviance" else "Pearson"
        how = "known" if self._knows_dispersion() else how
        null_deviance = format_statistic(self.null_deviance_)
        null_free = self.null_degrees_of_freedom_
        free = self.residual_degrees_of_freedom_
        facts = [("target", "ln y")] if self.transform_y else []
        facts += [
            ("family", name),
            ("link", self.link_.describe()),
            ("rows", f"{self.n_observations_:,.12g}"),
            ("rank", f"{self.rank_} of {len(self.coef_)} columns"),
            ("iterations", str(self.n_iter_)),
            ("null deviance", f"{null_deviance} on {null_free:g} df"),
            ("deviance", f"{format_statistic(self.deviance_)} on {free:g} df"),
            ("dispersion", f"{format_statistic(self.dispersion_)} ({how})"),
        ]
        if not np.isnan(self.log_likelihood_):
            facts += [
                ("log-likelihood", format_statistic(self.log_likelihood_)),
                ("AIC", format_statistic(self.aic_)),
                ("BIC", format_statistic(self.bic_)),
            ]
        if "_robust_covariance" in vars(self):
            facts.append(("standard errors", self.covariance_type))
        title = "Generalised linear model"
        if self.alpha:
            title += f" with a ridge penalty, alpha = {self.alpha:g}"
        return write_summary(
            title,
            facts,
            [("", self.make_coefficient_table(level))],
            self._list_notes(),
            width=width,
        )

    def _make_result(self) -> LinearResult:
        """Describe the coefficients for tests and intervals."""
        require_no_penalty(self, self.alpha, f"alpha={self.alpha:g}")
        first = int(not self.fit_intercept)
        free = None if self._knows_dispersion() else self.residual_degrees_of_freedom_
        of_model = None
        if "_robust_covariance" in vars(self):
            of_model = self.dispersion_ * self._inverse[first:, first:]
        is_estimated = self._estimates_theta() and self._knows_dispersion()
        return LinearResult(
            names=self._name_coefficients(),
            headings=("",),
            estimates=np.append(self.intercept_, self.coef_)[first:],
            covariance=self.covariance_[first:, first:],
            is_determined=self._is_determined[first:],
            degrees_of_freedom=free,
            terms=self._list_terms(),
            is_least_squares=False,
            deviance=self.deviance_,
            log_likelihood=self.log_likelihood_,
            dispersion=self.dispersion_,
            knows_dispersion=self._knows_dispersion(),
            n_parameters=float(self._n_parameters),
            residual_degrees_of_freedom=float(self.residual_degrees_of_freedom_),
            n_observations=float(self.n_observations_),
            null_deviance=self.null_deviance_,
            model_covariance=of_model,
            common_null_deviance=self._poisson_null_deviance if is_estimated else None,
        )

    def _hold_shape(self) -> dict[str, Any]:
        """Parameters with which other fits have the theta of this one."""
        return {"theta": self.theta_} if self._estimates_theta() else {}

    def _find_scores(
        self, X, y, sample_weight, *, offset=None, exposure=None
    ) -> TrainingScores:
        """Compute the scores of the training rows."""
        problem, is_present = self._read_problem(X, y, sample_weight, offset, exposure)
        self._require_training_rows(problem, "robust_covariance")
        rows, predictor = self._evaluate(problem)
        weight, working = rows.reweight(predictor)
        leverage = measure_leverages(
            problem.X, weight, self._centre, self._find_root(), self._share
        )
        copies = np.ones(len(leverage))
        if self.weight_type == "frequency":
            copies = problem.weight
        first = int(not self.fit_intercept)
        return TrainingScores(
            is_present,
            problem.X,
            bool(self.fit_intercept),
            (weight * working / copies)[:, np.newaxis],
            copies,
            leverage / copies,
            self._inverse[first:, first:],
        )

    def _respond(self, predictors: np.ndarray):
        """Responses of linear predictors, their names, and derivatives."""
        mean = self._invert(predictors[:, 0])
        slope = mean
        if not self.transform_y:
            slope = self.link_.differentiate(predictors[:, 0], mean)
        return mean[:, np.newaxis], ("",), slope[:, np.newaxis, np.newaxis]

    def _find_root(self):
        """Find a root of the inverse for the slopes; old model files have none."""
        root = getattr(self, "_root", None)
        return find_symmetric_root(self._inverse[1:, 1:]) if root is None else root

    def _choose_distribution(self):
        """Distribution of an estimate divided by its error: normal or Student's t."""
        if self._knows_dispersion():
            return stats.norm()
        return stats.t(self.residual_degrees_of_freedom_)

    def _set_results(self, problem: Problem, fit: Fit, kept, whole) -> None:
        """Set the statistics of the training rows."""
        weight, _ = fit.rows.reweight(fit.predictor)
        solution = fit.solver.describe(weight)
        n_coefficients = len(self.coef_) + 1
        places = np.append(0, kept + 1)
        inverse = np.zeros((n_coefficients, n_coefficients))
        inverse[np.ix_(places, places)] = solution.inverse
        self._inverse = inverse
        self._root = np.zeros((n_coefficients - 1, solution.root.shape[1]))
        self._root[kept] = solution.root
        self._share = solution.fraction
        self._centre = np.zeros(n_coefficients - 1)
        self._centre[kept] = solution.centre
        whole = solution if whole is None else whole
        self._row_space, self._row_centre = whole.row_space, whole.centre
        self._is_determined = np.zeros(n_coefficients, dtype=bool)
        self._is_determined[places] = solution.is_determined
        if not problem.fit_intercept:
            self._is_determined[0] = False
        n_constants = int(problem.fit_intercept)
        self.rank_ = solution.rank - n_constants
        slopes = inverse[1:, :]
        self.effective_rank_ = float(self.rank_)
        if problem.penalty:
            # With a penalty all columns count, but each with less than 1.
            self.effective_rank_ -= problem.penalty * float(np.trace(slopes[:, 1:]))
            bare = WeightedSolver(
                problem.X, problem.fit_intercept, n_threads=problem.n_threads
            )
            self.rank_ = bare.describe(weight).rank - n_constants
        self.n_observations_ = self._count_observations(problem.weight)
        self._has_offset = problem.offset is not None
        self._has_fractions = has_fractions(problem.weight)
        self.null_degrees_of_freedom_ = self.n_observations_ - n_constants
        self.residual_degrees_of_freedom_ = (
            self.n_observations_ - self.effective_rank_ - n_constants
        )
        if self._knows_dispersion():
            is_word = isinstance(self.dispersion, str)
            self.dispersion_ = 1.0 if is_word else float(self.dispersion)
        else:
            self.dispersion_ = self._estimate_dispersion(
                fit.rows, fit.deviance, self.residual_degrees_of_freedom_
            )
        scatter = inverse
        if problem.penalty:
            scatter = inverse - problem.penalty * (slopes.T @ slopes)
        self.covariance_ = self.dispersion_ * scatter
        self._set_likelihood(fit)

    def _set_likelihood(self, fit: Fit) -> None:
        """Set the log-likelihood, and its number of parameters."""
        rows, is_precision = fit.rows, self.weight_type == "variance"
        total = add_up(rows.weight)
        is_scattered = self.family_.name in SCATTERED or (
            self.family_.name == "tweedie" and self.family_.power != 1.0
        )
        dispersion = self.dispersion_
        if is_scattered and not self._knows_dispersion():
            is_normal = self.family_.name == "gaussian"
            dispersion = fit.deviance / (self.n_observations_ if is_normal else total)
        self._n_parameters = self.effective_rank_ + int(self.fit_intercept)
        self._n_parameters += self._estimates_theta()
        self.log_likelihood_ = np.nan
        if is_scattered or (self.family_.has_fixed_dispersion and dispersion == 1.0):
            self._n_parameters += is_scattered and not self._knows_dispersion()
            self.log_likelihood_ = 0.0
            for block in list_blocks(len(rows.y)):
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    self.log_likelihood_ += self.family_.compute_log_likelihood(
                        *(rows.y[block], rows.mean[block]),
                        *(read_rows(rows.weight, block), dispersion, is_precision),
                    )

    @property
    def theta_(self) -> float:
        """Theta of the negative binomial distribution."""
        check_is_fitted(self)
        if not isinstance(self.family_, NegativeBinomialFamily):
            raise AttributeError(
                f"{type(self).__name__} has theta_ only with the family "
                f"'negative_binomial'; it is {self.family_.name!r}."
            )
        return float(self.family_.theta)

    def _estimates_theta(self) -> bool:
        """Whether theta is estimated."""
        is_word = isinstance(self.theta, str)
        return is_word and self.family == NegativeBinomialFamily.name

    @property
    def aic_(self) -> float:
        """Akaike's information criterion."""
        return 2.0 * (self._n_parameters - self.log_likelihood_)

    @property
    def bic_(self) -> float:
        """Bayesian information criterion."""
        cost = self._n_parameters * np.log(self.n_observations_)
        return float(cost - 2.0 * self.log_likelihood_)

    def _knows_dispersion(self):
        """Whether the dispersion is not estimated."""
        if not isinstance(self.dispersion, str):
            return True
        is_fixed = (
            self.family_.has_fixed_dispersion and self.family not in QUASI_FAMILIES
        )
        return self.dispersion == "auto" and is_fixed

    def _estimate_dispersion(self, rows, deviance, free):
        """Estimate the dispersion; NaN if no degrees of freedom are left."""
        if not free > 0.0:
            return np.nan
        if self.dispersion == "deviance":
            return deviance / free
        statistic = 0.0
        for block in list_blocks(len(rows.y)):
            y, mean = rows.y[block], rows.mean[block]
            with np.errstate(over="ignore"):
                variance = self.family_.compute_variance(mean)
                squares = np.square(y - mean)
            statistic += float(read_rows(rows.weight, block) @ (squares / variance))
        return statistic / free

    def _count_observations(self, weight):
        """Count rows; a weight counts as a number of rows, unless it is a precision."""
        return len(weight) if self.weight_type == "variance" else add_up(weight)

    def _find_errors(self):
        """Find the standard errors, of the intercept first."""
        self._warn_of_fractions()
        errors = np.sqrt(np.maximum(self.covariance_.diagonal(), 0.0))
        return np.where(self._is_determined, errors, np.nan)

    def _warn_of_fractions(self) -> None:
        """Warn of standard errors from frequencies that are not whole numbers."""
        if self.weight_type == "frequency" and getattr(self, "_has_fractions", False):
            warn_of_fractions("set weight_type='variance'")

    def _say_why(self) -> str:
        """Return the reason why there is no log-likelihood."""
        family = self.family_
        if not self.residual_degrees_of_freedom_ > 0.0 and not self._knows_dispersion():
            return "no degrees of freedom are left for the dispersion"
        if family.name == "tweedie" and family.power != 1.0:
            return f"the density of the power {family.power:g} has no closed form"
        return f"with this dispersion, {family.name!r} is a quasi-likelihood"

    def _list_notes(self):
        """List the notes of a summary."""
        notes = self._note_references()
        if np.isnan(self.log_likelihood_):
            notes.append(f"No log-likelihood, AIC and BIC: {self._say_why()}.")
        lacking = len(self.coef_) - self.rank_
        if lacking:
            how = "of all that fit equally well, those with the smallest norm are used"
            if self.alpha:
                how = "the penalty determines the others"
            elif self.dependent_columns == "drop":
                how = "those that depend on preceding columns are 0"
            notes.append(
                f"The rows determine only {self.rank_} of {len(self.coef_)} "
                f"coefficients: {how}."
            )
        if self.transform_y:
            notes.append(
                "The deviance is that of ln y, the log-likelihood that of y. predict "
                f"multiplies by {self.retransformation_factor_:.5g} "
                f"(retransform={self.retransform!r})."
            )
        if not self.converged_:
            notes.append(f"Not converged after {self.n_iter_} iterations.")
        return notes

    def deviance_table(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        test: str = "auto",
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> DevianceTable:
        r"""Compute the analysis of deviance (偏差分析).

        The columns of the table are added one after another, all indicators of a
        nominal column at once, and each model is fitted. If the added coefficients are
        zero, the decrease of the deviance divided by the dispersion :math:`\phi` has a
        :math:`\chi^2` distribution with as many degrees of freedom as there are added
        coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The training targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        test : {"auto", "chi2", "F"}, default="auto"
            "chi2" treats :math:`\phi` as known, "F" as estimated. "auto": "chi2" if it
            is known, otherwise "F".
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        table : DevianceTable
            One row per column. ``print`` shows it; ``as_dict()`` returns its columns.

        Raises
        ------
        ValueError
            If ``alpha`` is not 0, since penalised deviances have another distribution,
            or if the rows, weights, offset or exposure are not those of the fit.
        """
        check_is_fitted(self)
        check_choice("test", test, ("auto", "chi2", "F"))
        self._require_no_penalty("deviance_table")
        problem, _ = self._read_problem(X, y, sample_weight, offset, exposure)
        self._require_training_rows(problem, "deviance_table")
        terms = [(name, place) for name, place, _ in self.design_.list_terms()]
        n_observations = self._count_observations(problem.weight)
        names, free, deviances, fit = measure_deviances(problem, terms, n_observations)
        dispersion = self.dispersion_
        if fit is not None and not self._knows_dispersion():
            dispersion = self._estimate_dispersion(fit.rows, fit.deviance, free[-1])
        if test == "auto":
            test = "chi2" if self._knows_dispersion() else "F"
        return compare_deviances(names, free, deviances, test, dispersion)

    def residuals(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        kind: str = "deviance",
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray:
        r"""Compute residuals.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The targets of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights w of the rows.
        kind : {"deviance", "pearson", "working", "response"}, default="deviance"
            "deviance": the square root of :math:`w\,d(y, \mu)` with the sign of
            :math:`y - \mu`; "pearson": :math:`(y - \mu) \sqrt{w / V(\mu)}`; "working":
            :math:`(y - \mu) / (d\mu / d\eta)`; "response": :math:`y - \mu`. With
            ``transform_y="log"``, they are the residuals of ln y.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        residuals : ndarray of shape (n_samples,)
            Residuals; NaN for rows of weight 0.

        Raises
        ------
        ValueError
            If the model was fitted with an offset or an exposure, and none is given.
        """
        check_is_fitted(self)
        check_choice("kind", kind, RESIDUALS)
        problem, _ = self._read_problem(X, y, sample_weight, offset, exposure)
        rows, predictor = self._evaluate(problem)
        difference = rows.y - rows.mean
        if kind == "response":
            residuals = difference
        elif kind == "working":
            residuals = rows.reweight(predictor)[1]
        elif kind == "pearson":
            variance = self.family_.compute_variance(rows.mean)
            residuals = difference * np.sqrt(rows.weight / variance)
        else:
            unit = np.maximum(self.family_.compute_deviance(rows.y, rows.mean), 0.0)
            residuals = np.sign(difference) * np.sqrt(rows.weight * unit)
        return _spread(residuals, sample_weight)

    def leverage(
        self,
        X: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray:
        r"""Compute leverages (杠杆值): the influence of a row on its own fitted value.

        They are the diagonal of :math:`W^{1/2} Z (Z^T W Z)^{-1} Z^T W^{1/2}` with
        :math:`Z = [1, X]` and the weights W of the last iteration. For the training
        rows, they sum to the rank.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        leverages : ndarray of shape (n_samples,)
            Leverages; NaN for rows of weight 0.

        Raises
        ------
        ValueError
            If the model was fitted with an offset or an exposure, and none is given.
        """
        check_is_fitted(self)
        problem, _ = self._read_problem(X, None, sample_weight, offset, exposure)
        rows, predictor = self._evaluate(problem)
        weight, _ = rows.reweight(predictor)
        leverages = measure_leverages(
            problem.X, weight, self._centre, self._find_root(), self._share
        )
        return _spread(leverages, sample_weight)

    def influence(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> GeneralizedInfluence:
        """Compute residuals, leverages and influence of the training rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows, or some of them.
        y : array-like of shape (n_samples,)
            The targets of these rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of these rows, with ``weight_type="variance"``. Frequencies have no
            effect: the measures are those of a single copy of the row.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        influence : GeneralizedInfluence
            Linear predictors, deviance and Pearson residuals, also standardized and
            studentized, leverages, Cook's distances, DFFITS and DFBETAS; all except the
            predictors are NaN for rows of weight 0.

        Raises
        ------
        ValueError
            If the model was fitted with an offset or an exposure, and none is given.
        """
        check_is_fitted(self)
        known = {"offset": offset, "exposure": exposure}
        weight = sample_weight if self.weight_type == "variance" else None
        problem, is_present = self._read_problem(X, None, weight, offset, exposure)
        rows, predictor = self._evaluate(problem)
        roots = np.full(len(is_present), np.nan)
        roots[is_present] = np.sqrt(rows.reweight(predictor)[0])
        matrix = problem.X
        if not is_present.all():
            matrix = self._read_new_table(X)
        return GeneralizedInfluence(
            self.leverage(X, weight, **known),
            self.effective_rank_ + bool(self.fit_intercept),
            self.residual_degrees_of_freedom_,
            WeightedRows(
                matrix,
                roots,
                self._centre,
                self._inverse,
                self._share,
                bool(self.fit_intercept),
                self._is_determined,
            ),
            self.predict_linear(X, **known),
            self.residuals(X, y, weight, kind="deviance", **known),
            self.residuals(X, y, weight, kind="pearson", **known),
            self.deviance_,
            self.dispersion_,
            self._knows_dispersion(),
        )

    def predict_interval(
        self,
        X: MatrixLike,
        level: float = 0.95,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray:
        """Compute confidence intervals of the means.

        They are intervals of the linear predictor, transformed by the inverse link.
        With ``transform_y="log"``, they are intervals of the median of y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks;
            the offset and the exposure are then names of its columns.
        level : float, default=0.95
            Confidence level.
        offset : array-like of shape (n_samples,) or str, default=None
            As in ``predict``.
        exposure : array-like of shape (n_samples,) or str, default=None
            As in ``predict``.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper limits; NaN for rows whose mean is not determined by the
            training rows, because columns are linearly dependent only in the training
            rows.
        """
        check_level(level)
        predictor, errors = self.predict_linear(
            X, return_std=True, offset=offset, exposure=exposure
        )
        half = self._choose_distribution().isf(0.5 * (1.0 - level)) * errors
        ends = np.column_stack([predictor - half, predictor + half])
        invert = np.exp if self.transform_y else self.link_.invert
        return np.sort(invert(ends), axis=1)

    def profile_intervals(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        level: float = 0.95,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray:
        r"""Compute profile likelihood confidence intervals of the coefficients.

        An interval contains the values b of a coefficient for which the smallest
        deviance :math:`D(b)` of all models with this value exceeds the deviance of the
        fit by at most :math:`\phi q^2`, where q is the quantile of the normal
        distribution, or of Student's t distribution if the dispersion :math:`\phi` is
        estimated. These intervals are more accurate than Wald intervals, :math:`\hat b
        \pm q s`, if there are few rows or coefficients are large.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The training targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        level : float, default=0.95
            Confidence level.
        offset : array-like of shape (n_samples,), default=None
            As in ``fit``.
        exposure : array-like of shape (n_samples,), default=None
            As in ``fit``.

        Returns
        -------
        intervals : ndarray of shape (n_names, 2)
            Lower and upper limits, in the order of ``coefficient_table_.names``;
            infinite if the deviance never increases that much, as with separable
            classes, and NaN for coefficients that are not determined by the rows.

        Raises
        ------
        ValueError
            If ``alpha`` is not 0, or if the rows, weights, offset or exposure are not
            those of the fit.
        """
        check_is_fitted(self)
        check_level(level)
        self._require_no_penalty("profile_intervals")
        problem, _ = self._read_problem(X, y, sample_weight, offset, exposure)
        self._require_training_rows(problem, "profile_intervals")
        return find_profile_intervals(
            problem,
            np.append(self.intercept_, self.coef_),
            self._find_errors(),
            self.covariance_,
            self._choose_distribution().isf(0.5 * (1.0 - level)),
            self.dispersion_,
        )

    # ---------------------------------------------------------------------- parts
    def _require_no_penalty(self, name) -> None:
        """Raise ValueError if there is a penalty."""
        if self.alpha:
            raise ValueError(
                f"{name} requires alpha=0, since it compares models without a penalty; "
                f"got {self.alpha!r}."
            )

    def _require_training_rows(self, problem: Problem, name) -> None:
        """Raise ValueError unless the coefficients were fitted to these rows.

        Their number and their deviance tell: the latter depends on all that is given.
        """
        rows, predictor = self._evaluate(problem)
        n_rows, deviance = (
            self._count_observations(rows.weight),
            rows.evaluate(predictor),
        )
        # Coefficients from a file may have lost the last digits of an exact fit.
        slack = 1e-6 * self.deviance_ + 1e-9 * self.null_deviance_
        is_same = abs(deviance - self.deviance_) <= slack
        if is_same and abs(n_rows - self.n_observations_) <= 1e-9 * n_rows:
            return
        raise ValueError(
            f"{name} needs the rows, weights, offset and exposure of the fit, which "
            f"were {self.n_observations_:,.12g} rows with the deviance "
            f"{self.deviance_:.9g}; got {n_rows:,.12g} rows with {deviance:.9g}."
        )

    def _read_problem(self, X, y, sample_weight, offset, exposure):
        """Read rows as in the fit; without y, all targets are 1.

        Returns (problem, is_present): the latter marks the given rows that count.
        """
        if offset is None and exposure is None and getattr(self, "_has_offset", False):
            raise ValueError(
                "The model was fitted with an offset or an exposure: pass offset= or "
                "exposure= of these rows. An offset of zeros is an exposure of 1."
            )
        matrix, weight, is_present = self._read_rows_again(X, sample_weight)
        offset = self._read_offset(offset, exposure, len(is_present))
        if offset is not None:
            offset = offset[is_present]
        if y is not None:
            y = self._read_target(X, y)[is_present]
            if self.transform_y:
                y = np.log(y)
        y = np.ones(matrix.shape[0]) if y is None else y
        weight = np.ones(matrix.shape[0]) if weight is None else weight
        return self._make_problem(matrix, y, weight, offset), is_present

    def _make_problem(
        self,
        matrix: np.ndarray | csr_array,
        y: np.ndarray,
        weight: np.ndarray,
        offset: np.ndarray | None,
        penalty: float = 0.0,
    ) -> Problem:
        return Problem(
            *(lay_out(matrix), y, weight, offset, self.family_, self.link_),
            bool(self.fit_intercept),
            penalty,
            float(self.tol),
            int(self.max_iter),
            self.n_jobs,
            self.weight_type == "variance",
        )

    def _evaluate(self, problem: Problem):
        """Compute the means of the rows at the coefficients."""
        rows = problem.make_rows()
        predictor = problem.predict(np.append(self.intercept_, self.coef_))
        rows.mean[:] = self.link_.invert(predictor)
        return rows, predictor

    def _require_squares(self, matrix, weight):
        """Raise ValueError for a column whose weighted squares under- or overflow."""
        root = np.sqrt(
            max(float(weight[rows].max()) for rows in list_blocks(len(weight)))
        )
        if is_within(matrix, SMALLEST / root, LARGEST / root):
            return
        sizes = find_largest(matrix) * root
        is_wrong = (sizes > 0.0) & ((sizes < SMALLEST) | (sizes > LARGEST))
        if not is_wrong.any():
            return
        column = int(np.argmax(is_wrong))
        name, what = f"Column {self.coef_names_[column]!r}", "it"
        if not all((weight[rows] == 1.0).all() for rows in list_blocks(len(weight))):
            name += " times the square roots of sample_weight"
            what += " or sample_weight"
        flaw, remedy = "a value of", f"overflow: divide {what}"
        if sizes[column] < SMALLEST:
            flaw, remedy = "no value above", f"underflow: multiply {what}"
        raise ValueError(
            f"{name} has {flaw} {sizes[column]:.3g}, so that weighted sums of squares "
            f"{remedy} by a power of ten."
        )

    def _take_start(self):
        """Coefficients of an earlier fit to start from."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        intercept = self.intercept_ if self.fit_intercept else 0.0
        return np.append(intercept, self.coef_)

    def _fit_problem(self, problem: Problem, start, y) -> None:
        """Fit, and set the results; y is the target before a transform."""
        n_columns = problem.X.shape[1]
        constant, null_deviance = fit_constant(problem)
        if start is not None and len(start) != n_columns + 1:
            start = None
        kept, fit, whole = self._find_fit(problem, constant, start)
        self._forget("theta_standard_error_", "_poisson_null_deviance")
        if isinstance(problem.family, NegativeBinomialFamily):
            null_deviance = self._set_theta(problem, fit)
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
            self._warn_of_dependence(
                self.rank_, len(y), lambda: ~self._is_determined[1:]
            )
        self.retransformation_factor_ = 1.0
        if self.transform_y:
            self.retransformation_factor_ = find_factor(
                self.retransform, problem, fit, self.dispersion_
            )
            # The likelihood of y itself, for comparison with other models of y.
            self.log_likelihood_ -= problem.add_up(
                lambda rows: read_rows(problem.weight, rows) @ np.log(y[rows])
            )

    def _find_fit(self, problem: Problem, constant, start):
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
        minimise = fit_negative_binomial if self._estimates_theta() else fit_reweighted
        fit = minimise(problem, base if has_base else None, start)
        drops = self.dependent_columns == "drop" and not problem.penalty
        if drops and fit.solver.is_delicate:
            weight, _ = fit.rows.reweight(fit.predictor)
            kept = fit.solver.find_independent(weight)
            whole = fit.solver.describe(weight)
            if len(kept) < problem.X.shape[1]:
                chosen = np.append(0, kept + 1)
                fit = minimise(
                    problem.select(kept),
                    base[chosen],
                    None if start is None else start[chosen],
                )
        return kept, fit, whole

    def _set_theta(self, problem: Problem, fit: Fit) -> float:
        """Set theta and its error; returns the null deviance with this theta."""
        self.family_ = fit.rows.family
        self.theta_standard_error_ = np.nan
        _, null_deviance = fit_constant(replace(problem, family=self.family_))
        if not self._estimates_theta():
            return null_deviance
        self.theta_standard_error_ = measure_theta_error(fit)
        # Of the same rows, whatever their theta.
        family = NegativeBinomialFamily()
        _, self._poisson_null_deviance = fit_constant(replace(problem, family=family))
        if np.isinf(self.theta_) and fit.has_converged:
            warn_caller(
                "theta is infinite: the variances of y do not exceed the means, so "
                "that this is Poisson regression. Use family='poisson', with "
                "dispersion='pearson' if variances are smaller than means.",
                ConvergenceWarning,
            )
        return null_deviance

    def _check_parameters(self):
        """Check the parameters, and return the family and the link."""
        self._check_table_parameters()
        self._translate_other_names()
        check_choice("family", self.family, FAMILIES)
        check_choice("link", self.link, ("auto", *LINKS))
        check_real("alpha", self.alpha, 0.0)
        check_truth("fit_intercept", self.fit_intercept)
        check_choice("transform_y", self.transform_y, ("log",), accepts_none=True)
        check_choice("retransform", self.retransform, RETRANSFORMATIONS)
        check_choice("weight_type", self.weight_type, WEIGHT_TYPES)
        check_choice("dependent_columns", self.dependent_columns, DEPENDENT_COLUMNS)
        check_real("tol", self.tol, 0.0)
        check_integer("max_iter", self.max_iter, 1)
        check_truth("warm_start", self.warm_start)
        check_n_jobs(self.n_jobs)
        if is_checked():
            self._check_numbers()
        theta = np.inf if isinstance(self.theta, str) else float(self.theta)
        if np.isinf(theta) and self.warm_start:
            theta = getattr(getattr(self, "family_", None), "theta", theta)
        family = make_family(self.family, self.power, theta)
        link = self._choose_link(family)
        if self.transform_y and (self.family, link.name) != ("gaussian", "identity"):
            raise ValueError(
                "transform_y='log' requires family='gaussian' and link='identity', "
                "since ln y is fitted by least squares; got family="
                f"{self.family!r}, link={self.link!r}."
            )
        return family, link

    def _translate_other_names(self) -> None:
        """Raise ValueError for names of R or statsmodels, with those of this class."""
        if not is_checked():
            return
        family = self.family
        for name, names in OTHER_NAMES.items():
            value = getattr(self, name)
            known = value if str(value) in names else str(value).lower()
            if not isinstance(value, str) or known not in names:
                continue
            remedy = names[known]
            if name == "link" and QUASI_FAMILIES.get(family, family) == "binomial":
                remedy = f"one of {', '.join(map(repr, BinomialFamily.links))}"
            raise ValueError(
                f"The {name!r} parameter has no value {value!r}; use {remedy}."
            )

    def _check_numbers(self) -> None:
        """Check the parameters that are numbers or words."""
        power = self.power
        if not _is_finite(power) or 0.0 < power < 1.0:
            raise ValueError(
                "The 'power' parameter must be a float outside (0, 1), where there is "
                f"no distribution; got {show_value(power)}."
            )
        theta = self.theta
        is_number = is_real(theta) and 0.0 < theta < np.inf
        if not is_number and not (isinstance(theta, str) and theta == "estimate"):
            raise ValueError(
                "The 'theta' parameter must be 'estimate' or a float above 0; got "
                f"{show_value(theta)}."
            )
        exponent = self.link_power
        if exponent is not None and not _is_finite(exponent):
            raise ValueError(
                f"The 'link_power' parameter must be a float or None; got "
                f"{show_value(exponent)}."
            )
        if self.link == "power" and exponent is None:
            raise ValueError("link='power' requires the 'link_power' parameter.")
        dispersion = self.dispersion
        is_word = isinstance(dispersion, str) and dispersion in (
            "auto",
            "pearson",
            "deviance",
        )
        if not is_word and not (is_real(dispersion) and 0.0 < dispersion < np.inf):
            raise ValueError(
                "The 'dispersion' parameter must be 'auto', 'pearson', 'deviance' or a "
                f"float above 0; got {dispersion!r}."
            )

    def _choose_link(self, family):
        """Choose the requested link, or the canonical one."""
        if self.link == "auto":
            return make_link(*family.default_link)
        if self.link not in family.links:
            raise ValueError(
                "The 'link' parameter must be one of 'auto', "
                f"{', '.join(map(repr, family.links))} for the family {self.family!r}; "
                f"got {self.link!r}."
            )
        return make_link(self.link, self.link_power)

    def _read_target(self, X, y, is_present=None):
        """Read y: one finite number for each row with weight."""
        Y = read_numeric_targets(y, X, self, is_present)
        return column_or_1d(Y, warn=True)

    def _read_offset(self, offset, exposure, n_rows):
        """Read the offset of the predictors, or None."""
        link = None
        if exposure is not None:
            link = self._choose_link(make_family(self.family, self.power))
        return read_offset(offset, exposure, n_rows, link)


def _spread(values, sample_weight):
    """Values of the rows with weight, with NaN for the others."""
    if sample_weight is None or np.isscalar(sample_weight):
        return values
    present = np.asarray(sample_weight) > 0
    if present.all():
        return values
    spread = np.full(len(present), np.nan)
    spread[present] = values
    return spread


def require_range(family, y, is_present) -> None:
    """Raise ValueError with the first target that is invalid for the family."""
    is_wrong = family.find_wrong(y)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        row = place if is_present is None else int(np.flatnonzero(is_present)[place])
        raise ValueError(
            "Some value(s) of y are out of the valid range of the loss: y must be "
            f"{family.describe_range()} for the family {family.name!r}; got "
            f"{y[place]} in row {row}."
        )


def _is_finite(value):
    return is_real(value) and math.isfinite(value)


def transform_target(y: np.ndarray) -> np.ndarray:
    """Take the logarithm of a target."""
    if (y <= 0.0).any():
        row = int(np.argmax(y <= 0.0))
        raise ValueError(
            f"transform_y='log' requires targets above 0, got {y[row]} in row {row}. "
            "link='log' uses the logarithm of the mean instead, and allows y to be 0."
        )
    return np.log(y)


def find_factor(retransform: str, problem: Problem, fit: Fit, variance: float) -> float:
    r"""Find the factor that :math:`e^\eta` is multiplied by."""
    if retransform == "median":
        return 1.0
    if retransform == "smearing":

        def measure(rows):
            residuals = problem.y[rows] - fit.rows.mean[rows]
            return read_rows(problem.weight, rows) @ np.exp(residuals)

        return problem.add_up(measure) / problem.total_weight
    return float(np.exp(0.5 * variance)) if np.isfinite(variance) else 1.0


def warn_of_end(model: GeneralizedLinearRegressor, fit: Fit) -> None:
    """Warn if the iteration did not end at a minimum of the deviance."""
    where = f"deviance {fit.deviance:.6g} after {fit.n_iter} iterations"
    if ends_at_border(fit):
        message = (
            f"{type(model).__name__} stopped at the boundary of the means that are "
            f"valid for the family {model.family!r}, which the link "
            f"{model.link_.name!r} does not exclude ({where}). Standard errors and "
            "tests are not valid there; use another link."
        )
    elif not fit.has_converged:
        path = fit.deviance_path
        change = path[-1] - path[-2] if len(path) > 1 else np.nan
        message = (
            f"{type(model).__name__} did not converge: {where}, changed by "
            f"{change:.3g} in the last iteration. Increase max_iter or tol, or scale "
            "the columns."
        )
    elif has_no_maximum(fit):
        is_binomial = model.family_.name == "binomial"
        others = "ones" if is_binomial else "other values of y"
        message = (
            "The likelihood seems to have no maximum: linear predictors still change "
            f"by {fit.largest_move:.2g} while the deviance is constant ({where}), so "
            "fitted means approach the boundary of the range of the family "
            f"{model.family!r}, as if the columns separate zeros from {others}. "
            "Coefficients and standard errors are those of the last iteration and are "
            "meaningless; alpha > 0 makes them finite."
        )
    else:
        return
    warn_caller(message, ConvergenceWarning)


def has_no_maximum(fit: Fit):
    """Whether predictors diverge while the deviance hardly decreases."""
    return fit.has_converged and fit.n_iter > 1 and fit.largest_move > RUNAWAY


def ends_at_border(fit: Fit):
    """Whether the iteration ended at the boundary of the valid means."""
    if fit.is_stuck:
        return True
    family, link, mean = fit.rows.family, fit.rows.link, fit.rows.mean
    is_fraction = family.name == "binomial"
    if link.name in FRACTION_LINKS or not (is_fraction or family.has_positive_mean):
        return False
    blocks = list(list_blocks(len(mean)))
    if is_fraction and max(mean[rows].max() for rows in blocks) > 1.0 - BORDER:
        return True
    # No predictor of the logarithm belongs to a mean of 0.
    smallest, average = min(mean[rows].min() for rows in blocks), add_up(mean)
    return link.name != "log" and bool(smallest < BORDER * (average / len(mean)))


def make_vector(columns: BlockColumns) -> FileArray:
    """Make a file of a number for each row, 0 at first, which goes with the object."""
    array = columns.make_array(f"vector-{next(NUMBERS)}", np.float64, (columns.n_rows,))
    array.truncate(columns.n_rows)
    weakref.finalize(array, _remove, array.close, array.path)
    return array


def _remove(close, path):
    """Close a file and remove it."""
    close()
    path.unlink(missing_ok=True)
