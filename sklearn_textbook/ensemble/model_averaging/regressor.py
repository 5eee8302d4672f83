"""Bayesian model averaging, 贝叶斯模型平均: regressors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.parameters import check_truth
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.model_averaging.base_model_averaging import (
    BaseModelAveraging,
)
from sklearn_textbook.ensemble.model_averaging.evidence_weights import (
    compute_normal_log_densities,
)
from sklearn_textbook.ensemble.model_averaging.linear_subsets import (
    average_regressions,
)


class BayesianModelAveragingRegressor(RegressorMixin, BaseModelAveraging):
    r"""Bayesian model averaging of regressors, 贝叶斯模型平均.

    Each member is weighted by its posterior probability, the product of its prior
    probability and its evidence given the data:

    .. math::

        \hat y(x) = \sum_{i=1}^{T} w_i f_i(x), \qquad
        \operatorname{var}(y \mid x) = \sum_i w_i \sigma_i^2
            + \sum_i w_i \bigl(f_i(x) - \hat y(x)\bigr)^2, \qquad
        w_i = \frac{\pi_i \, e^{L_i}}{\sum_k \pi_k \, e^{L_k}}.

    The log evidence :math:`L_i` is approximated in one of three ways (``weighting``);
    densities are normal around the predictions. If no members are given, the average is
    over the linear regressions on all subsets of the columns.

    Parameters
    ----------
    estimators : list of (str, regressor) tuples, default=None
        The members and their names. ``"drop"`` in place of an estimator leaves it out.
        None: the linear regressions on all subsets of the columns.
    weighting : {"held_out", "bic", "pseudo_bma_plus"}, default="held_out"
        How members are weighted. "held_out": :math:`L_i = \sum_n s_n \log p_i(y_n \mid
        x_n)`, with normal densities around predictions for rows to which the member was
        not fitted and the weights :math:`s_n` of the rows; the variance
        :math:`\sigma_i^2` is the mean squared error of these predictions. "bic":
        :math:`L_i = -\mathrm{BIC}_i / 2` with :math:`\mathrm{BIC}_i = k_i \log N - 2
        \sum_n s_n \log p_i(y_n \mid x_n)` for the training rows, with the
        maximum-likelihood variance, :math:`k_i` parameters and :math:`N = \sum_n s_n`.
        "pseudo_bma_plus": as "held_out", averaged over the Bayesian bootstrap of the
        rows; see
        :func:`~sklearn_textbook.ensemble.model_averaging.compute_pseudo_bma_plus_weights`.
        Subsets of the columns are always weighted by BIC.
    prior : array-like, default=None
        Prior probabilities :math:`\pi_i` of the members, up to a common factor. With
        ``estimators=None``, for each column of the table the probability that it is in
        the model; 1 always includes it, 0 always excludes it. None: all members, or all
        subsets, are equally probable.
    cv : int, cross-validation generator or iterable, default=None
        Folds for held-out predictions: each is predicted by members trained on the
        others. None: 5 folds.
    n_jobs : int, default=None
        Number of workers among which members and folds are divided. None: one, or the
        setting of ``joblib.parallel_config``. With ``estimators=None``, the number of
        threads; None: one per core.
    verbose : bool, default=False
        Whether to print a line for each fitted member.
    prefit : bool, default=False
        Whether the members are already fitted and are used as they are. Their
        predictions for the rows passed to :meth:`fit` then count as held out, so
        members should not have seen these rows; for "bic", they should be the training
        rows of the members.
    n_parameters : array-like of shape (n_members,), default=None
        Numbers :math:`k_i` of parameters for "bic", including the variance. None: they
        are counted, with 1 for the variance. For linear models, the rank including the
        intercept or, with a penalty, the effective rank, but at most the number of
        nonzero coefficients. For trees, the number of leaves. For pipelines, the
        parameters of their last step. Other members require this parameter.
    n_bootstrap : int, default=1000
        Number of replications of the Bayesian bootstrap, for "pseudo_bma_plus".
    random_state : int, RandomState instance or None, default=None
        Seed for "pseudo_bma_plus".
    occam_window : float, default=20.0
        With ``estimators=None``, models are excluded from the average if the best model
        is more than this many times as probable (Occam's window); ``numpy.inf``
        includes all.
    max_subset_size : int, default=None
        With ``estimators=None``, maximum number of columns in a model. None: no limit.
        There may be up to 2**20 subsets.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        With ``estimators=None``, the columns with levels, as in
        :class:`~sklearn_textbook.linear_model.LinearRegression`.
    reference_level : {"first", "last", "most_frequent"} or None, default="first"
        With ``estimators=None``, the level of a nominal column that has no indicator.
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

    Attributes
    ----------
    weights_ : ndarray of shape (n_models,)
        Posterior probabilities of the members or, most probable first, of the models
        within the window.
    log_evidence_ : ndarray of shape (n_models,)
        Log evidence :math:`L_i` of each member or model, without the prior.
    posterior_table_ : Table
        One row per member or model; a dict of arrays, with a method ``as_frame()``.
    held_out_log_densities_ : ndarray of shape (n_samples, n_members)
        Logarithms of the densities of the true values. Only with members, unless
        ``weighting="bic"``.
    standard_deviations_ : ndarray of shape (n_members,)
        Square roots of the variances :math:`\sigma_i^2`. Only with members.
    estimators_ : list of regressor
        The members, trained on all rows; with ``prefit=True``, the estimators as given.
        Like ``named_estimators_``, only with members.
    named_estimators_ : Bunch
        The fitted members by name.
    inclusion_probabilities_ : ndarray of shape (n_features,)
        Posterior probability that each column of the table is in the model. This and
        the following attributes up to ``design_`` exist only with ``estimators=None``.
    coef_ : ndarray of shape (n_coefficients,)
        Posterior means of the coefficients, which are 0 in models without the column.
    intercept_ : float
        Posterior mean of the intercept.
    coef_std_ : ndarray of shape (n_coefficients,)
        Posterior standard deviations, within and between models; NaN if a coefficient
        is not determined in some model within the window.
    intercept_std_ : float
        Posterior standard deviation of the intercept.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        Names of the columns of ``coef_``.
    design_ : Design
        Mapping of the columns of the table to coefficients.
    n_features_in_ : int
        Number of columns, if the members have this attribute.
    feature_names_in_ : ndarray of str
        Names of the columns, if the members have this attribute.

    See Also
    --------
    BayesianModelAveragingClassifier : The corresponding classifier.
    AveragingRegressor : Weights that minimise the error of the average.
    StackingRegressor : Learns how to combine members; better if no member is right.

    Notes
    -----
    With many rows, one member receives nearly all the weight, since log evidence grows
    with the number of rows: the method assumes that one of the models is right.
    "pseudo_bma_plus" gives less extreme weights, since it also averages over the rows
    that might have been drawn. "bic" favours trees, since their thresholds are not
    counted as parameters.

    With ``estimators=None``, the residual sums of squares of all subsets are computed
    from one triangular matrix. A nominal column is in the model with all its indicators
    or not at all; columns that are linear combinations of others do not increase the
    number of parameters. Sample weights count as numbers of rows. Subsets that leave no
    residual degrees of freedom are excluded. The standard deviation of a prediction
    then has three parts: the noise, with the unbiased variance of each model; the
    uncertainty of the coefficients within the models; and the differences between
    models.

    The formulas are those of R's ``BMA::bicreg`` with ``strict=FALSE``. The latter
    treats the levels of a factor as separate columns, rounds R², keeps the ``nbest``
    models of each size, drops columns one by one if there are more than 30, and weights
    variances. ``arviz.compare`` with ``method="BB-pseudo-BMA"`` uses log densities
    approximated by Pareto smoothed importance sampling; here they come from
    cross-validation.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.4.3.
    .. [2] J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky (1999), Bayesian
       model averaging: a tutorial. Statistical Science 14(4).
    .. [3] Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to average
       Bayesian predictive distributions. Bayesian Analysis 13(3).
    .. [4] A. E. Raftery, D. Madigan, J. A. Hoeting (1997), Bayesian model averaging for
       linear regression models. JASA 92.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_textbook.ensemble import BayesianModelAveragingRegressor
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> X, y = load_diabetes(as_frame=True, return_X_y=True)
    >>> members = [("line", LinearRegression()), ("near", KNeighborsRegressor(20))]
    >>> averaging = BayesianModelAveragingRegressor(
    ...     members, weighting="pseudo_bma_plus", random_state=0).fit(X, y)
    >>> averaging.weights_.round(2)
    array([0.95, 0.05])
    >>> values, deviations = averaging.predict(X[:2], return_std=True)
    >>> deviations.round(1)
    array([54.9, 55.2])

    Find the columns that matter:

    >>> averaging = BayesianModelAveragingRegressor().fit(X, y)
    >>> print(averaging.summary())
    Bayesian model averaging: linear regressions on subsets of the columns
    ======================================================================
    columns of the table:     10    models in the window:          9
    subsets:               1,024    weight of the five best:  0.9062
    <BLANKLINE>
               P(included)     mean  std. deviation
    intercept            1   152.13            2.58
    age             0.0000     0.00            0.00
    sex             1.0000  -230.06           60.47
    bmi             1.0000   531.24           65.97
    bp              1.0000   327.59           63.10
    s1              0.5580  -284.25          336.43
    s2              0.3781   151.37          263.23
    s3              0.5626  -158.35          149.60
    s4              0.1831    37.88          105.34
    s5              1.0000   595.24          155.78
    s6              0.0443     2.79           18.95
    <BLANKLINE>
    weight  BIC and columns of each model
    0.3198  BIC 4822.9  sex, bmi, bp, s3, s5
    0.2578  BIC 4823.3  sex, bmi, bp, s1, s2, s5
    0.1336  BIC 4824.6  sex, bmi, bp, s1, s4, s5
    0.1206  BIC 4824.9  sex, bmi, bp, s1, s3, s5
    0.0744  BIC 4825.8  sex, bmi, bp, s2, s3, s5
    """

    _method = "predict"

    _saved_fields = (
        *BaseModelAveraging._saved_fields,
        SavedField("standard_deviations_", shape=("fitted",), least=0),
    )

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]] | None = None,
        *,
        weighting: str = "held_out",
        prior: ArrayLike | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        prefit: bool = False,
        n_parameters: ArrayLike | None = None,
        n_bootstrap: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        occam_window: float = 20.0,
        max_subset_size: int | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
    ) -> None:
        self.estimators = estimators
        self.weighting = weighting
        self.prior = prior
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.prefit = prefit
        self.n_parameters = n_parameters
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state
        self.occam_window = occam_window
        self.max_subset_size = max_subset_size
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing

    def _restore(self, parts, kept) -> None:
        super()._restore(parts, kept)
        if len(self.standard_deviations_) != len(self.estimators_):
            raise ValueError("standard_deviations_ do not match the members")

    def _read_target(self, y):
        return column_or_1d(check_numbers(y, type(self).__name__), warn=True)

    def _predict_members(self, X):
        return self._call_members("predict", X)

    def _compute_log_densities(self, target, answers, weight):
        log_densities, self.standard_deviations_ = compute_normal_log_densities(
            target, np.stack(answers, axis=1), weight
        )
        return log_densities

    def _fit_subsets(self, X, target, sample_weight) -> None:
        self._set_subsets(average_regressions(self, X, target, sample_weight))

    def _set_subsets(self, found) -> None:
        super()._set_subsets(found)
        self.coef_, self.coef_std_ = found.coef, found.coef_std
        self.intercept_, self.intercept_std_ = found.intercept, found.intercept_std

    # ------------------------------------------------------------------ prediction
    def predict(self, X: MatrixLike, return_std: bool = False) -> np.ndarray | Any:
        """Predict the value of each row: the weighted average over the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to return standard deviations as well.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted values.
        deviations : ndarray of shape (n_samples,)
            Standard deviations of the true values, within and between models. Only with
            ``return_std=True``.
        """
        check_is_fitted(self)
        check_truth("return_std", return_std)
        if self._averages_subsets:
            matrix = self._read_new_table(X)
            values = np.asarray(matrix @ self.coef_).ravel() + self.intercept_
            if not return_std:
                return values
            return values, self._subsets.predict_deviations(matrix)
        given = np.stack(self._predict_members(X), axis=1)
        values = given @ self.weights_
        if not return_std:
            return values
        between = (given - values[:, np.newaxis]) ** 2 @ self.weights_
        within = self.standard_deviations_**2 @ self.weights_
        return values, np.sqrt(within + between)
