"""The maximum entropy model, 最大熵模型."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.labels import check_target, encode_labels
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_truth,
    is_checked,
)
from sklearn_textbook._contract.tables import check_sparse_format, refuse_other_tables
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import apply_class_weight, check_weights
from sklearn_textbook.linear_model.base import BaseLinearClassifier
from sklearn_textbook.linear_model.inference.frequencies import has_fractions
from sklearn_textbook.linear_model.logistic.logistic_regression import (
    LogisticRegression,
)
from sklearn_textbook.linear_model.logistic.separation import (
    COMPLETE,
    NONE,
    QUASI,
    UNKNOWN,
)
from sklearn_textbook.linear_model.maximum_entropy.constraints import (
    find_impossible,
    read_constraints,
    require_feasible,
)
from sklearn_textbook.linear_model.maximum_entropy.expectation import (
    EntropyProblem,
    EntropySolution,
    compute_scores,
)
from sklearn_textbook.linear_model.maximum_entropy.fitting import (
    SOLVERS,
    Settings,
    fit_model,
    solve,
)
from sklearn_textbook.linear_model.maximum_entropy.inference import EntropyInference
from sklearn_textbook.linear_model.maximum_entropy.sources import (
    ColumnSource,
    FunctionSource,
    MatrixSource,
    name_function,
)
from sklearn_textbook.tree.encode.block_columns import store_blocks

FEATURES = ("columns", "precomputed")
#: Number of names that a warning lists.
MAX_NAMES = 5


class MaxEntClassifier(EntropyInference, BaseLinearClassifier):
    r"""Maximum entropy model (最大熵模型).

    Of all conditional distributions under which the features (特征函数) :math:`f_j(x,
    y)` have the same expectations as in the training rows,

    .. math:: E_P(f_j) = \sum_{x, y} \tilde P(x) P(y|x) f_j(x, y)
        = \sum_{x, y} \tilde P(x, y) f_j(x, y) = E_{\tilde P}(f_j),

    the model is the one with the largest conditional entropy

    .. math:: H(P) = -\sum_{x, y} \tilde P(x) P(y|x) \log P(y|x).

    It has the form

    .. math:: P_w(y|x) = \frac{1}{Z_w(x)} \exp \sum_j w_j f_j(x, y), \qquad
        Z_w(x) = \sum_y \exp \sum_j w_j f_j(x, y),

    and the multipliers w that maximise the dual function (对偶函数) also maximise the
    likelihood. If the features are the columns, this is multinomial logistic
    regression.

    Parameters
    ----------
    features : "columns", "precomputed", sequence or callable, default="columns"
        "columns": for each class k and column z the feature :math:`f(x, y) = z(x)\,[y =
        k]`; a nominal column counts as one indicator column per level. "precomputed": a
        row of X contains the values f(x, y) of all features for the first class, then
        for the second, and so on. A sequence of functions f(x, y): x is a row of X, as
        an array, or as a tuple for a data frame; y is a class label. A single function
        F(X, y): X is the whole table, and the return value is a matrix whose columns
        are the features of all rows for class y.
    solver : {"lbfgs", "bfgs", "iis", "gis"}, default="lbfgs"
        Optimisation algorithm; all give the same distribution. "iis": improved
        iterative scaling (改进的迭代尺度法, 算法6.1). "gis": generalised iterative
        scaling, which uses the largest sum of features over all pairs. "bfgs": the
        quasi-Newton method of 算法6.2, which stores a matrix with the square of
        n_weights numbers. "lbfgs": the same based on the last ten steps, for any number
        of weights.
    alpha : float, default=0.0
        Strength of the penalty :math:`\tfrac{\alpha}{2} \sum_j w_j^2` that is added to
        the negative log-likelihood; it corresponds to a normal prior of the weights
        with variance :math:`1/\alpha`. The class constants are not penalised. It equals
        1/C of scikit-learn's ``LogisticRegression``. 0: maximum likelihood.
    fit_intercept : bool, default=True
        Whether each class has a constant, the feature :math:`[y = k]`. Only for
        "columns".
    max_iter : int, default=1000
        Maximum number of iterations of the solver.
    tol : float, default=1e-6
        The solver has converged if expected and empirical features differ by at most
        this value, in the units of the solver: "iis" and "gis" scale each column to [0,
        1] (sparse columns without shifting) and do not scale other features; "bfgs" and
        "lbfgs" divide by standard deviations, or more if there is a penalty, so that
        second derivatives are about equal. With a penalty, the criterion is the slope
        of the loss per unit of weight. If features are nearly dependent, the criterion
        of all solvers is for uncorrelated combinations of them; this is found for up to
        2,000 columns, or other features.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Columns with levels. "from_dtype": strings and categorical dtypes. A mask,
        indices or names; or a dict that also gives the levels of ordinal columns, which
        are mapped to [0, 1]. Only for "columns".
    reference_level : {"first", "last", "most_frequent"}, dict or None, default=None
        The level of a nominal column without indicator; a dict has the level by name or
        number of the column, the others have the first. None: all levels have one, as
        in the textbook. The probabilities are the same unless there is a penalty or no
        constant.
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
    reference_class : object, default=None
        The class that others are compared with in ``coefficient_table_`` and the
        summary (参照类别), for "columns" without a penalty. None: the last one. Of two
        classes it is always the first. The weights do not depend on it.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn, which multiply those of the rows.
    n_jobs : int, default=None
        Number of threads. None: one per core. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    weights_ : ndarray of shape (n_weights,)
        The weights :math:`w`, in the units of the columns of X. The weights of a column
        for all classes sum to 0, since adding a constant to all of them has no effect.
    weight_names_ : ndarray of str, shape (n_weights,)
        Names of the features; for "columns", ``"column & class"``.
    coef_ : ndarray of shape (n_classes, n_columns)
        The same weights by class, for "columns"; ``coef_names_`` names the columns.
    intercept_ : ndarray of shape (n_classes,)
        Weights of the constants, for "columns".
    coefficient_table_ : CoefficientTable
        Standard errors, z, p-values and confidence intervals, without a penalty and for
        up to 1,000 weights, for "columns" without those of one class. For "columns", of
        the differences of the weights to those of the reference class, as of
        `LogisticRegression`: only these are determined. NaN for a weight that the data
        do not determine.
    covariance_ : ndarray of shape (n, n)
        Their covariance: the inverse of the information :math:`\sum_x n(x)
        \operatorname{Cov}_{P(y|x)} f(x, y)`, with the weights n of the rows.
    rank_ : int or None
        Number of weights that the data determine; for "columns", of those of each
        class, with the constant. None: there is no covariance.
    separation_ : {"none", "quasi_complete", "complete", "unknown"} or None
        Whether features separate the classes, so that the likelihood has no maximum, as
        in `LogisticRegression`. None: with a penalty.
    log_likelihood_ : float
        Logarithm of the likelihood, without the penalty.
    null_log_likelihood_ : float
        That of the model with the constants alone, or with weights of zero.
    deviance_, null_deviance_ : float
        -2 times these (偏差).
    pseudo_r2_ : float
        McFadden's pseudo R².
    aic_, bic_ : float
        Information criteria, where there is a covariance.
    likelihood_ratio_test_ : LikelihoodRatioTest
        The test that all weights but the constants are zero, where there is a
        covariance.
    n_observations_ : float
        Sum of the weights of the rows.
    empirical_expectation_ : ndarray of shape (n_weights,)
        :math:`E_{\tilde P}(f_j)`, per unit of weight.
    model_expectation_ : ndarray of shape (n_weights,)
        :math:`E_P(f_j)`, which is equal at the optimum without a penalty.
    entropy_ : float
        The conditional entropy :math:`H(P)` in nats.
    dual_value_ : float
        The dual function :math:`\Psi(w)`: the mean log-likelihood. At the optimum
        without a penalty, it is :math:`-H(P)`.
    loss_path_ : ndarray of shape (n_rounds + 1,)
        Negative log-likelihood plus penalty, summed over the rows, at the start and
        after each iteration. With "iis" and "gis", it never increases.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the solver converged: whether the expectations agree within ``tol``.
    n_contexts_ : int
        Number of distinct rows of X.
    distribution_ : ndarray of shape (n_classes,)
        The distribution, for a model made by `from_constraints`.
    design_ : Design
        Encoding of the columns, for "columns".
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they are all strings.

    See Also
    --------
    LogisticRegression : The same model for columns, by Newton's method.
    sklearn.linear_model.LogisticRegression : Penalised by default, columns only.

    Notes
    -----
    A ``sample_weight`` of w counts as w copies of a row. Equal rows are merged before
    the first iteration.

    The equation for the step of one weight in improved iterative scaling,

    .. math:: \sum_{x, y} \tilde P(x) P_w(y|x) f_j(x, y) e^{\delta_j f^\#(x, y)}
        = E_{\tilde P}(f_j), \qquad f^\#(x, y) = \sum_j f_j(x, y),

    is solved by Newton's method for the logarithms of both sides, which finds the
    closed form in one step if :math:`f^\#` is constant. With a penalty, :math:`-\alpha
    (w_j + \delta_j)` is added to the right-hand side. The algorithm requires
    non-negative features; others are shifted, for each x by a number that is the same
    for all classes, which changes neither weights nor probabilities.

    If the expectation of a feature is the smallest or largest possible, as for a level
    that never occurs together with a class, its weight has no finite optimum; the same
    holds if the features separate the classes. A ``ConvergenceWarning`` is then issued,
    and the fit stops when expectations agree within ``tol``: improved iterative scaling
    divides the expectation of a feature that never occurs by ten in each iteration.
    Whether a combination of columns separates some of the rows is found as by
    `LogisticRegression`, with up to 1,000 columns times classes less one; of other
    features, only whether all rows are separated.

    If columns, or other features, are nearly dependent, "bfgs" and "lbfgs" find the
    weights of uncorrelated combinations of them. "iis" and "gis" converge very slowly
    then.

    Without constants, columns are scaled but not shifted.

    Differences from scikit-learn's ``LogisticRegression``: features of pairs (x, y);
    nominal columns without encoding; no penalty by default; ``coef_`` has one row per
    class, also for two classes.

    References
    ----------
    .. [1] 李航《统计学习方法》(2nd edition), chapter 6: formulas 6.9-6.14 (the model),
       6.15-6.27 (the dual), 算法6.1 (improved iterative scaling), 算法6.2 (BFGS).
    .. [2] A. L. Berger, S. A. Della Pietra, V. J. Della Pietra (1996), A maximum
       entropy approach to natural language processing. Computational Linguistics 22.
    .. [3] J. N. Darroch, D. Ratcliff (1972), Generalized iterative scaling for
       log-linear models. Annals of Mathematical Statistics 43.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_play_tennis
    >>> from sklearn_textbook.linear_model import MaxEntClassifier
    >>> X, y = load_play_tennis(return_X_y=True, as_frame=True)
    >>> model = MaxEntClassifier(solver="iis", alpha=1.0, tol=1e-3).fit(X, y)
    >>> dict(zip(model.coef_names_[:3], model.coef_[1, :3].round(2).tolist()))
    {'outlook=sunny': -0.39, 'outlook=overcast': 0.64, 'outlook=rain': -0.23}
    >>> model.predict_proba(X.iloc[:1]).round(2)
    array([[0.68, 0.32]])

    例6.1: five outcomes; A and B together have probability 3/10:

    >>> model = MaxEntClassifier.from_constraints("ABCDE", [{"A", "B"}], [0.3])
    >>> model.distribution_.round(4)
    array([0.15  , 0.15  , 0.2333, 0.2333, 0.2333])
    """

    _squares_columns = False  # they are divided by their sizes first
    _rescales_weights = True

    def __init__(
        self,
        features: Any = "columns",
        *,
        solver: str = "lbfgs",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-6,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | dict[Any, Any] | None = None,
        handle_unknown: str = "mean",
        missing: str = "error",
        reference_class: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.features = features
        self.solver = solver
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.reference_class = reference_class
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.features, str)
        return tags

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None: 1 each.

        Returns
        -------
        self : MaxEntClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a label, a weight or a value is invalid, a feature is not a
            finite number, or there are more than a hundred million pairs of a distinct
            row and a class.
        """
        self._check_parameters()
        y = read_labels(self, X, y)
        table, weight, is_present = self._read_training(X, sample_weight)
        if is_present is not None:
            y = y[is_present]
        (self.classes_,), codes = encode_labels(y)
        self._has_fractions = has_fractions(weight)
        weight = apply_class_weight(self.class_weight, y[:, 0], weight)
        weight = np.ones(len(y)) if weight is None else weight
        self._forget("coef_", "intercept_", "distribution_")
        self._reference_place = self._find_reference()
        source = None if self._has_columns else self._make_source()
        n_classes = len(self.classes_)
        model = fit_model(table, codes[:, 0], weight, n_classes, self._settings, source)
        if self._has_columns:
            self.coef_, self.intercept_ = model.coef, model.intercept
        self._set_model(model)
        return self

    def _store_blocks(self, source, target, sample_weight):
        """Read a table in blocks: rows and features then are arrays in files."""
        if not self._has_columns:
            raise ValueError(
                f"features={self.features!r} must be of a table in memory; of a table "
                "that is read in blocks, they are 'columns'."
            )
        return store_blocks(self, source, target, sample_weight)

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        r"""Compute the score :math:`\sum_j w_j f_j(x, y)` of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Logarithms of the probabilities up to a constant per row; for two classes,
            the score of the second minus that of the first.
        """
        scores = self._compute_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @classmethod
    def from_constraints(
        cls,
        outcomes: ArrayLike,
        features: Sequence[Any],
        expectations: ArrayLike,
        *,
        solver: str | float = "bfgs",
        max_iter: str | float = 1000,
        tol: str | float = 1e-10,
    ) -> Self:
        r"""Find the maximum entropy distribution with given expectations.

        There is a single x, and only the expectations :math:`e_j` of features
        :math:`f_j(y)` of its outcome y are known.

        Parameters
        ----------
        outcomes : array-like of shape (n_outcomes,)
            Distinct labels of the outcomes.
        features : sequence of length n_features
            For each feature, a function of an outcome, a collection of the outcomes for
            which it is 1 (otherwise 0), or its values for all outcomes.
        expectations : array-like of shape (n_features,)
            Expectation of each feature; for a collection, its probability.
        solver, max_iter, tol : {"lbfgs", "bfgs", "iis", "gis"}, int, float
            As in the class.

        Returns
        -------
        model : MaxEntClassifier
            The fitted model: ``classes_`` are the outcomes in the order given,
            ``distribution_`` their probabilities, ``empirical_expectation_`` the given
            expectations, and ``features`` is "precomputed".

        Raises
        ------
        ValueError
            If there is no distribution with these expectations.

        Notes
        -----
        If the constraints force the probability of an outcome to be 0, weights would
        have to be infinite, and a ``ConvergenceWarning`` is issued.

        Reference: 李航《统计学习方法》, 例6.1 and 例6.2.

        Examples
        --------
        >>> from sklearn_textbook.linear_model import MaxEntClassifier
        >>> pairs = [{"A", "B"}, {"A", "C"}]
        >>> model = MaxEntClassifier.from_constraints("ABCDE", pairs, [0.3, 0.5])
        >>> dict(zip("ABCDE", model.distribution_.round(4).tolist()))
        {'A': 0.1859, 'B': 0.1141, 'C': 0.3141, 'D': 0.1929, 'E': 0.1929}
        """
        model = cls("precomputed", solver=solver, max_iter=max_iter, tol=tol)
        model._check_parameters()
        labels, matrix, expectations = read_constraints(
            outcomes, features, expectations
        )
        require_feasible(matrix, expectations)
        model.classes_ = labels
        model.n_features_in_ = matrix.size
        model._source = MatrixSource(len(labels))
        solution, problem, weights = solve(
            model._source.make(matrix.T.reshape(1, -1)),
            np.ones(1),
            None,
            model._settings,
            empirical=expectations,
        )
        model._solver_weights = model.weights_ = weights
        model._set_solution(solution, problem)
        model.n_contexts_ = 1
        model.empirical_expectation_ = expectations
        model.distribution_ = problem.probabilities[0].copy()
        model.model_expectation_ = matrix @ model.distribution_
        is_impossible = find_impossible(matrix, expectations)
        warn_of_impossible(labels, is_impossible, model.distribution_)
        warn_of_gap(solution, problem, solver, max_iter, tol)
        return model

    @property
    def weight_names_(self) -> np.ndarray:
        """Names of the features, in the order of the weights."""
        return np.array(
            [self._name(j) for j in range(len(self.weights_))], dtype=object
        )

    # ---------------------------------------------------------------------- parts
    def _name(self, j):
        """Name of a feature."""
        if not isinstance(self._source, ColumnSource):
            return name_function(self.features, j)
        column, k = divmod(j, len(self.classes_))
        names = self.design_.names
        name = names[column] if column < len(names) else "constant"
        return f"{name} & {self.classes_[k]}"

    def _make_source(self):
        if isinstance(self.features, str):
            return MatrixSource(len(self.classes_))
        features = self.features
        return FunctionSource(
            features if callable(features) else tuple(features), self.classes_
        )

    def _set_model(self, model) -> None:
        """Set the attributes of a fit, and warn if it did not converge."""
        self._source, self._solver_weights = model.source, model.solver_weights
        self.weights_ = model.weights
        self.empirical_expectation_ = model.empirical
        self.model_expectation_ = model.expected
        self.n_contexts_ = len(model.problem.context_weight)
        self._set_solution(model.solution, model.problem)
        self._set_likelihood(model)
        ends = (model.falls, model.rises, model.separation)
        if not warn_of_boundaries(self._name, *ends, model.solution):
            limits = (self.max_iter, self.tol)
            warn_of_gap(model.solution, model.problem, self.solver, *limits)

    def _set_likelihood(self, model) -> None:
        """Set the likelihood and the covariance of the weights."""
        totals, n_classes = model.class_totals, len(self.classes_)
        self.n_observations_ = float(model.problem.total)
        self.log_likelihood_ = self.dual_value_ * self.n_observations_
        self.null_log_likelihood_ = -self.n_observations_ * float(np.log(n_classes))
        if self._count_constants():
            fractions = totals / totals.sum()
            self.null_log_likelihood_ = float(totals @ np.log(fractions))
        self.separation_ = model.separation
        if model.separation is None and not self.alpha:
            is_extreme = np.any(model.falls) or np.any(model.rises)
            self.separation_ = QUASI if is_extreme else NONE
        self._forget("covariance_", "_errors")
        found, self.rank_ = model.information, None
        if found is not None:
            self.covariance_, self._errors = found.covariance, found.errors
            self.rank_ = found.rank
            if self._has_columns:
                logistic = self._as_logistic()
                logistic._contrast_covariance()
                self.covariance_ = logistic.covariance_
                self._errors = logistic._errors

    def _find_reference(self) -> int | None:
        """Find the number of the class that others are compared with."""
        given = self.reference_class
        if self._has_columns and len(self.classes_) > 1 and not self.alpha:
            model = LogisticRegression(reference_class=given)
            model.classes_ = self.classes_
            return model._find_reference()
        if given is not None:
            raise ValueError(
                f"reference_class={given!r} requires features='columns', alpha=0 and "
                f"two classes or more; got features={self.features!r}, "
                f"alpha={self.alpha:g} and {len(self.classes_)} classes."
            )
        return None

    def _set_solution(self, solution: EntropySolution, problem: EntropyProblem) -> None:
        """Set the results of the solver."""
        self.loss_path_ = solution.loss_path
        self.n_iter_ = solution.n_iter
        self.converged_ = bool(solution.has_converged)
        self.entropy_ = problem.find_entropy()
        penalty = 0.5 * float((problem.penalty * solution.weights) @ solution.weights)
        self.dual_value_ = (penalty - float(self.loss_path_[-1])) / problem.total

    def _compute_scores(self, X):
        """Scores of all classes."""
        check_is_fitted(self)
        if isinstance(self._source, ColumnSource):

            def score_block(matrix):
                return compute_scores(self._source.make(matrix), self._solver_weights)

            return self._predict_blocks(X, score_block)
        table = read_pairs(self, X, reset=False)
        return compute_scores(self._source.make(table), self._solver_weights)

    @property
    def _has_columns(self):
        return isinstance(self.features, str) and self.features == "columns"

    def _check_parameters(self):
        self._check_table_parameters()
        check_choice("solver", self.solver, SOLVERS)
        check_real("alpha", self.alpha, 0.0)
        check_truth("fit_intercept", self.fit_intercept)
        check_integer("max_iter", self.max_iter, 1)
        check_real("tol", self.tol, 0.0)
        check_n_jobs(self.n_jobs)
        features = self.features
        if is_checked() and not self._has_columns and self.missing != "error":
            raise ValueError(
                f"missing={self.missing!r} requires features='columns'; got features="
                f"{features!r}."
            )
        if isinstance(features, str):
            check_choice("features", features, FEATURES)
            return
        is_list = isinstance(features, Sequence) and len(features) > 0
        is_allowed = callable(features) or (is_list and all(map(callable, features)))
        if is_checked() and not is_allowed:
            raise ValueError(
                "The 'features' parameter must be 'columns', 'precomputed', a function "
                f"F(X, y), or a sequence of functions f(x, y); got {features!r}."
            )

    def _read_training(self, X, sample_weight):
        """Table and weights without rows of weight 0, and a mask of these rows."""
        if self._has_columns:
            if not hasattr(X, "shape") and not hasattr(X, "__len__"):
                X = np.asarray(X)  # objects that only support conversion to an array
                if X.ndim == 0:
                    check_array(X)  # raises a helpful error
            return self._read_training_table(X, sample_weight)
        self._forget("design_")
        table = read_pairs(self, X, reset=True)
        weight = check_weights(sample_weight, table.shape[0], is_rescaled=True)
        if weight is None or weight.all():
            return table, weight, None
        is_present = weight > 0
        return table[np.flatnonzero(is_present)], weight[is_present], is_present

    @property
    def _settings(self):
        names = [field.name for field in fields(Settings)]
        return Settings(*(getattr(self, name) for name in names))


def read_labels(estimator, X, y):
    """Read one label for each row; shape (n_rows, 1)."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    labels = check_target(y, is_numeric=False)
    if labels.shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {labels.shape} instead."
        )
    if getattr(y, "ndim", 1) == 2:
        column_or_1d(labels, warn=True)
    refuse_other_tables(X)
    check_consistent_length(X, labels)
    return labels


def read_pairs(estimator, X, *, reset):
    """Read a table whose features are not made of columns."""
    if isinstance(estimator.features, str):
        check_sparse_format(X)
        return validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64
        )
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        check_columns(estimator, X, reset=reset)
        return frame
    if isinstance(X, (list, tuple)):
        X = np.array(X, dtype=object)  # numbers and strings keep their types
    return validate_data(estimator, X, reset=reset, dtype=None)


def warn_of_gap(
    solution: EntropySolution, problem: EntropyProblem, solver, max_iter, tol
) -> None:
    """Warn if the expectations differ by more than the tolerance."""
    if solution.has_converged:
        return
    if solution.n_iter >= max_iter:
        reason, advice = (
            f"in max_iter={max_iter} iterations",
            "increase max_iter or tol, or ",
        )
    else:
        reason = f"in {solution.n_iter} iterations, since rounding hides the slope"
        advice = "increase tol, or "
    what = "expected and empirical features"
    if problem.span.directions is not None:
        what = "features are nearly dependent, and combinations of them"
    message = (
        f"solver={solver!r} did not converge {reason}: {what} "
        f"differ by up to {solution.gap:.3g} (tol={tol:g}), the loss is "
        f"{solution.loss_path[-1]:.6g}. You may {advice}use another solver."
    )
    warn_caller(message, ConvergenceWarning)


def warn_of_boundaries(
    names: Callable,
    falls: np.ndarray,
    rises: np.ndarray,
    separation: str | None,
    solution: EntropySolution,
) -> bool:
    """Warn if the likelihood has no maximum, so that weights diverge, or may have none.

    Returns whether it has none.
    """
    reasons = []
    for which, end, extreme in (
        (falls, "minus infinity", "smallest"),
        (rises, "infinity", "largest"),
    ):
        numbers = np.flatnonzero(which)
        if not len(numbers):
            continue
        listed = ", ".join(names(j) for j in numbers[:MAX_NAMES])
        if len(numbers) > MAX_NAMES:
            listed += f" and {len(numbers) - MAX_NAMES} more"
        reasons.append(
            f"the weights of features with the {extreme} possible expectation diverge "
            f"to {end}: {listed}"
        )
    if separation == COMPLETE:
        reasons.append("the features separate the classes")
    elif separation == QUASI:
        reasons.append("a combination of features separates classes (quasi-complete)")
    elif separation == UNKNOWN:
        warn_caller(
            "A combination of features may separate classes, in which case the "
            "likelihood has no maximum. The linear programme that decides it is large: "
            "LogisticRegression(separation='exact') solves it.",
            ConvergenceWarning,
        )
    if not reasons:
        return False
    message = (
        f"The likelihood has no maximum: {'; '.join(reasons)}. Weights are finite only "
        f"because fitting stopped after {solution.n_iter} iterations, at a loss of "
        f"{solution.loss_path[-1]:.6g}, where expected and empirical features differ "
        f"by up to {solution.gap:.3g}. With a penalty, alpha > 0, there is a maximum."
    )
    warn_caller(message, ConvergenceWarning)
    return True


def warn_of_impossible(labels, is_impossible, distribution):
    """Warn of outcomes whose probability must be 0 under the constraints."""
    if not is_impossible.any():
        return
    lost = ", ".join(repr(label) for label in labels[is_impossible].tolist())
    message = (
        f"The constraints leave no probability to {lost}: weights would have to be "
        "infinite. They are finite only because fitting stopped; the largest of these "
        f"probabilities is {distribution[is_impossible].max():.3g}."
    )
    warn_caller(message, ConvergenceWarning)
