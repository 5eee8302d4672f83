"""Bayesian model averaging, 贝叶斯模型平均: classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import check_real
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.combination.class_members import ClassMembersMixin
from sklearn_textbook.ensemble.combination.rules import combine_probabilities
from sklearn_textbook.ensemble.model_averaging.base_model_averaging import (
    BaseModelAveraging,
)
from sklearn_textbook.ensemble.model_averaging.evidence_weights import (
    EPSILON,
    compute_class_log_densities,
)
from sklearn_textbook.ensemble.model_averaging.logistic_subsets import (
    average_logistic,
)
from sklearn_textbook.linear_model.design.reading import require_scores


class BayesianModelAveragingClassifier(
    ClassMembersMixin, ClassifierMixin, BaseModelAveraging
):
    r"""Bayesian model averaging of classifiers, 贝叶斯模型平均.

    Each member is weighted by its posterior probability, the product of its prior
    probability and its evidence given the data:

    .. math::

        P(y = j \mid x) = \sum_{i=1}^{T} w_i \, p_i(y = j \mid x), \qquad
        w_i = \frac{\pi_i \, e^{L_i}}{\sum_k \pi_k \, e^{L_k}}.

    The log evidence :math:`L_i` is approximated in one of three ways (``weighting``).
    If no members are given, the average is over the logistic regressions on all subsets
    of the columns.

    Parameters
    ----------
    estimators : list of (str, classifier) tuples, default=None
        The members and their names: classifiers with ``predict_proba``, or pipelines.
        ``"drop"`` in place of an estimator leaves it out. None: the logistic
        regressions on all subsets of the columns.
    weighting : {"held_out", "bic", "pseudo_bma_plus"}, default="held_out"
        How members are weighted. "held_out": :math:`L_i = \sum_n s_n \log p_i(y_n \mid
        x_n)`, with probabilities for rows to which the member was not fitted and the
        weights :math:`s_n` of the rows. "bic": :math:`L_i = -\mathrm{BIC}_i / 2` with
        :math:`\mathrm{BIC}_i = k_i \log N - 2 \sum_n s_n \log p_i(y_n \mid x_n)` for
        the training rows, :math:`k_i` parameters and :math:`N = \sum_n s_n`.
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
        probabilities for the rows passed to :meth:`fit` then count as held out, so
        members should not have seen these rows; for "bic", they should be the training
        rows of the members.
    n_parameters : array-like of shape (n_members,), default=None
        Numbers :math:`k_i` of parameters for "bic". None: they are counted. For linear
        models, the rank including the intercept or, with a penalty, the number of
        nonzero coefficients, for each class but one. For trees, the number of leaves
        times the number of classes minus 1. For pipelines, the parameters of their last
        step. Other members require this parameter.
    n_bootstrap : int, default=1000
        Number of replications of the Bayesian bootstrap, for "pseudo_bma_plus".
    floor : float, default=2.220446049250313e-16
        Smaller probabilities are raised to this value; the default is that of
        scikit-learn's ``log_loss``. Without a floor, a single probability of 0 for the
        true class, as unpruned trees give, excludes a member.
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
        :class:`~sklearn_textbook.linear_model.LogisticRegression`.
    reference_level : {"first", "last", "most_frequent"} or None, default="first"
        With ``estimators=None``, the level of a nominal column that has no indicator.
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

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    weights_ : ndarray of shape (n_models,)
        Posterior probabilities of the members or, most probable first, of the models
        within the window.
    log_evidence_ : ndarray of shape (n_models,)
        Log evidence :math:`L_i` of each member or model, without the prior.
    posterior_table_ : Table
        One row per member or model; a dict of arrays, with a method ``as_frame()``.
    held_out_log_densities_ : ndarray of shape (n_samples, n_members)
        Logarithms of the probabilities of the true classes. Only with members, unless
        ``weighting="bic"``.
    estimators_ : list of classifier
        The members, trained on all rows; with ``prefit=True``, the estimators as given.
        Like ``named_estimators_``, only with members.
    named_estimators_ : Bunch
        The fitted members by name.
    inclusion_probabilities_ : ndarray of shape (n_features,)
        Posterior probability that each column of the table is in the model. This and
        the following attributes up to ``design_`` exist only with ``estimators=None``.
    coef_ : ndarray of shape (1 or n_classes - 1, n_coefficients)
        Posterior means of the coefficients, which are 0 in models without the column.
        Predicted probabilities are averages over the models, and do not follow from
        these coefficients.
    intercept_ : ndarray of shape (1 or n_classes - 1,)
        Posterior means of the intercepts.
    coef_std_ : ndarray of the shape of ``coef_``
        Posterior standard deviations; NaN if a coefficient is not determined in some
        model within the window.
    intercept_std_ : ndarray of the shape of ``intercept_``
        Posterior standard deviations of the intercepts.
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
    BayesianModelAveragingRegressor : The corresponding regressor.
    StackingClassifier : Learns how to combine members; better if no member is right.
    VotingClassifier : Uses equal or given weights.

    Notes
    -----
    With many rows, one member receives nearly all the weight, since log evidence grows
    with the number of rows: the method assumes that one of the models is right.
    "pseudo_bma_plus" gives less extreme weights, since it also averages over the rows
    that might have been drawn. "bic" favours trees, since their thresholds are not
    counted as parameters.

    With ``estimators=None``, a nominal column is in the model with all its indicators
    or not at all; columns that are linear combinations of others do not increase the
    number of parameters. Up to 32 subsets are all fitted. If there are more, the log
    likelihood is approximated by a quadratic function near the model of all columns, as
    in R's ``bic.glm``; the models within the squared window by this approximation, at
    most 2000, are fitted exactly.

    Differences from R's ``BMA::bic.glm``: all subsets are considered, not only the best
    of each size; the window keeps models that contain better models, as with
    ``strict=FALSE``; there may be several classes. ``arviz.compare`` with
    ``method="BB-pseudo-BMA"`` uses log densities approximated by Pareto smoothed
    importance sampling; here they come from cross-validation.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.4.3.
    .. [2] J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky (1999), Bayesian
       model averaging: a tutorial. Statistical Science 14(4).
    .. [3] Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to average
       Bayesian predictive distributions. Bayesian Analysis 13(3).
    .. [4] D. Madigan, A. E. Raftery (1994), Model selection and accounting for model
       uncertainty in graphical models using Occam's window. JASA 89.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_textbook.ensemble import BayesianModelAveragingClassifier
    >>> from sklearn_textbook.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("logistic", LogisticRegression(C=1.0))]
    >>> averaging = BayesianModelAveragingClassifier(
    ...     members, weighting="pseudo_bma_plus", random_state=0).fit(X, y)
    >>> averaging.weights_.round(2)
    array([0.6, 0.4])

    Find the columns that matter:

    >>> averaging = BayesianModelAveragingClassifier().fit(X[50:], y[50:])
    >>> averaging.inclusion_probabilities_.round(2)
    array([0.31, 0.65, 1.  , 0.97])
    """

    _method = "predict_proba"

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
        floor: float = EPSILON,
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
        self.floor = floor
        self.random_state = random_state
        self.occam_window = occam_window
        self.max_subset_size = max_subset_size
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("floor", self.floor, 0.0, 1.0)
        for name, member in self._list_templates():
            if not hasattr(member, self._method):
                raise ValueError(
                    f"The member {name!r}, {type(member).__name__}, must have "
                    "predict_proba. scikit-learn's CalibratedClassifierCV can add it."
                )

    def _count_classes(self) -> int:
        return len(self.classes_)

    def _predict_members(self, X):
        return self._collect_probabilities(X)

    def _compute_log_densities(self, target, answers, weight):
        return compute_class_log_densities(self._encode(target), answers, self.floor)

    def _fit_subsets(self, X, target, sample_weight) -> None:
        self._set_subsets(average_logistic(self, X, target, sample_weight))

    def _set_subsets(self, found) -> None:
        super()._set_subsets(found)
        self.coef_, self.coef_std_ = found.average(found.coefs, found.variances)
        self.intercept_, self.intercept_std_ = found.average(
            found.intercepts, found.intercept_variances
        )

    # ------------------------------------------------------------------ prediction
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict class probabilities: the weighted average over the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities; each row sums to 1.
        """
        check_is_fitted(self)
        if self._averages_subsets:
            return self._subsets.predict_probabilities(self._read_new_table(X))
        probabilities = self._collect_probabilities(X)
        return combine_probabilities(probabilities, weights=self.weights_)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        places = require_scores(self.predict_proba(X)).argmax(axis=1)
        return self.classes_.take(places)
