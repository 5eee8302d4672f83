"""Negative correlation learning for regression, 负相关学习."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_count_or_fraction,
    check_integer,
    check_random_seed,
    check_real,
    check_truth,
    is_checked,
    is_integer,
)
from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.negative_correlation.fitted_member import (
    FittedMember,
    MemberUnits,
)
from sklearn_textbook.ensemble.negative_correlation.joint_members import (
    MEMBERS,
    NetworkMembers,
)
from sklearn_textbook.ensemble.negative_correlation.joint_training import (
    TrainingRows,
    TrainingRules,
    train_members,
)
from sklearn_textbook.ensemble.resample import draw_seeds
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.least_squares.targets import read_numeric_targets
from sklearn_textbook.linear_model.logistic.iterations import IterationTasks

#: Share of the columns that a linear member sees: with all of them, the members would
#: be the same.
LINEAR_FRACTION = 0.5
#: Largest L2 penalty: its product with squared weights is finite.
LARGEST_PENALTY = 1e15


class NegativeCorrelationRegressor(
    CallbackSupportMixin, RegressorMixin, BaseLinearModel
):
    r"""Ensemble of members trained jointly to differ, 负相关 (negative correlation).

    The ensemble predicts the mean :math:`\bar F` of its M members :math:`F_i`. Each
    member is trained on its own error and a penalty for agreeing with the others (Liu
    and Yao [1]_):

    .. math:: E_i = \tfrac{1}{2} (F_i - y)^2 + \lambda\, (F_i - \bar F)
        \sum_{j \ne i} (F_j - \bar F) = \tfrac{1}{2} (F_i - y)^2 - \lambda\, (F_i - \bar
        F)^2.

    Liu and Yao differentiate the first form as if :math:`\bar F` did not depend on
    :math:`F_i`: :math:`\partial E_i / \partial F_i = F_i - y - \lambda (F_i - \bar F)`.
    These are the exact derivatives of a joint loss of all members, which is minimised:

    .. math:: E = \tfrac{1}{2} \sum_i \bigl((F_i - y)^2 - \lambda (F_i - \bar F)^2\bigr)
        = \tfrac{M}{2} \Bigl((\bar F - y)^2 + (1 - \lambda) \tfrac{1}{M} \sum_i (F_i -
        \bar F)^2\Bigr).

    With :math:`\lambda = 0`, members are trained independently. With :math:`\lambda =
    1`, only the error of the ensemble counts, as if it were a single network of M
    parts.

    Parameters
    ----------
    n_estimators : int, default=10
        Number M of members.
    correlation_penalty : float, default=0.5
        :math:`\lambda`, from 0 to 1. Above 1, the loss has no minimum.
    member : {"network", "linear"}, default="network"
        Kind of the members: networks with one hidden layer of tanh units, or linear
        functions, each of some of the columns.
    hidden_units : int, default=10
        Number of hidden units of a network.
    max_features : int, float or "auto", default="auto"
        Number of columns drawn at random for each member, or their fraction. "auto":
        all columns for networks, half of them for linear members.
    alpha : float, default=0.01
        Strength of the L2 penalty: :math:`\frac{\alpha}{2}` times the sum of the
        squared weights without biases is added to the mean of E over the rows.
    max_iter : int, default=1000
        Maximum number of L-BFGS iterations.
    tol : float, default=1e-3
        Training stops when no derivative of the loss exceeds ``tol``, or when an
        iteration reduces the loss by less than the fraction ``tol ** 2``. Columns and
        target are standardised first, so this does not depend on their units.
    early_stopping : bool, default=False
        Whether training stops when the error of the ensemble on held-out rows has not
        decreased for ``n_iter_no_change`` iterations; the members with the smallest
        error are kept.
    validation_fraction : float, default=0.1
        Fraction of the rows held out for early stopping.
    n_iter_no_change : int, default=10
        Number of iterations without improvement after which training stops.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Columns with levels. "from_dtype": strings and categorical dtypes. A mask,
        indices or names; or a dict from names or indices to "nominal" or to the ordered
        list of levels. Each level but one becomes a column of 0 and 1.
    reference_level : {"first", "last", "most_frequent"} or None, default="first"
        Level of a nominal column without an indicator column. None: all levels have
        one.
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
    n_jobs : int, default=None
        Number of threads, among which rows are divided. None: one per core. The result
        does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for initial weights, columns of the members, and held-out rows.

    Attributes
    ----------
    estimators_ : list of FittedMember
        The members; their ``predict`` accepts numbers.
    loss_curve_ : ndarray of float64
        Loss of the standardised target, including the L2 penalty, before the first and
        after each iteration.
    validation_curve_ : ndarray of float64 or None
        Mean squared error of the standardised target on held-out rows at the same
        iterations, for the ensemble or, with ``correlation_penalty=0``, as the mean
        over the members. None without ``early_stopping``.
    n_iter_ : int
        Number of iterations.
    ensemble_error_ : float
        Mean squared error :math:`\bar E - \bar A` of the ensemble on the training rows.
    member_error_ : float
        Mean :math:`\bar E` of the mean squared errors of the members.
    ambiguity_ : float
        Mean ambiguity :math:`\bar A` (分歧): the mean squared distance of the members
        from the ensemble.
    design_ : Design
        Mapping of the columns of the table to the columns of the members.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        Names of the latter columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.

    See Also
    --------
    BaggingRegressor : Members trained independently on different rows.

    Notes
    -----
    Liu and Yao train networks by gradient steps for one row at a time; here, each
    L-BFGS step uses all rows, with the same derivatives. Brown, Wyatt and Tiňo [2]_
    derive :math:`E_i = \frac{1}{2} (F_i - y)^2 - \gamma (F_i - \bar F)^2` without
    holding :math:`\bar F` fixed. Their derivatives are the same with :math:`\lambda = 2
    \gamma (1 - 1 / M)`, so :math:`\lambda = 1` is their upper bound :math:`\gamma = M /
    (2 (M - 1))`.

    There is no classifier, since the decomposition of the error into the error and
    ambiguity of the members (周志华 8.5.1) holds for squared errors; with another loss,
    the penalty has no such meaning.

    Rows of weight 0 have no effect. scikit-learn has no such estimator.

    References
    ----------
    .. [1] Y. Liu, X. Yao (1999), Ensemble learning via negative correlation, Neural
       Networks 12.
    .. [2] G. Brown, J. L. Wyatt, P. Tiňo (2005), Managing diversity in regression
       ensembles, Journal of Machine Learning Research 6.
    .. [3] 周志华《机器学习》, section 8.5.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import NegativeCorrelationRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NegativeCorrelationRegressor(member="linear", random_state=0).fit(X, y)
    >>> round(model.member_error_ - model.ambiguity_ - model.ensemble_error_, 6)
    0.0
    >>> model.predict(X[:2]).round(-1)
    array([190.,  70.])
    """

    _accepts_sparse = False

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        correlation_penalty: float = 0.5,
        member: str = "network",
        hidden_units: int = 10,
        max_features: float = "auto",
        alpha: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.correlation_penalty = correlation_penalty
        self.member = member
        self.hidden_units = hidden_units
        self.max_features = max_features
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are not allowed."""
        self._check_table_parameters()
        for name in ("n_estimators", "hidden_units", "max_iter", "n_iter_no_change"):
            check_integer(name, getattr(self, name), 1)
        check_real("correlation_penalty", self.correlation_penalty, 0.0, 1.0)
        check_choice("member", self.member, tuple(MEMBERS))
        check_count_or_fraction("max_features", self.max_features, 1, words=("auto",))
        check_real("alpha", self.alpha, 0.0, LARGEST_PENALTY)
        check_real("tol", self.tol, 0.0, 1.0)
        check_truth("early_stopping", self.early_stopping)
        check_real("validation_fraction", self.validation_fraction, 0.0, 1.0)
        if is_checked() and not 0.0 < self.validation_fraction < 1.0:
            raise ValueError(
                "The 'validation_fraction' parameter must be a float in the range "
                f"(0.0, 1.0); got {self.validation_fraction!r}."
            )
        check_random_seed("random_state", self.random_state)
        check_n_jobs(self.n_jobs)

    # ----------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train the members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training table.
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows.

        Returns
        -------
        self : NegativeCorrelationRegressor
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid, X or y has missing or infinite values, or their
            shapes do not match.
        """
        self._check_parameters()
        told = None if sample_weight is None else {"sample_weight": sample_weight}
        hooks = {"estimator": self, "X": X, "y": y, "metadata": told}
        context = self._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(**hooks)
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        matrix = matrix.toarray() if issparse(matrix) else matrix
        target = read_numeric_targets(y, X, self, is_present)
        target = column_or_1d(target, warn=True)
        fraction = np.ones(len(target)) if weight is None else weight
        fraction = fraction / fraction.sum()
        self._units = MemberUnits.measure(matrix, target, fraction)
        seeds = draw_seeds(self.random_state, 0, self.n_estimators + 1)
        rows, validation = self._hold_out(matrix, target, fraction, seeds.pop())
        sees = self._draw_columns(matrix.shape[1], seeds)
        members = MEMBERS[self.member].draw(seeds, sees, self.hidden_units)
        tasks = IterationTasks(context, hooks, "lbfgs", self._list_fitted)
        tasks.begin()
        n_threads = count_threads(
            self.n_jobs, rows.matrix.shape[0] * members.count_numbers()
        )
        with use_one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
            trained = train_members(
                members,
                sees,
                rows,
                validation,
                self._make_rules(pool.map if n_threads > 1 else map),
                lambda found: tasks.end_one(lambda: found),
            )
        tasks.end()
        self._finish(trained, rows)
        context.call_on_fit_task_end(**hooks)
        return self

    def _make_rules(self, run):
        return TrainingRules(
            penalty=float(self.correlation_penalty),
            alpha=float(self.alpha),
            max_iter=self.max_iter,
            tol=float(self.tol),
            patience=self.n_iter_no_change if self.early_stopping else None,
            run=run,
        )

    def _hold_out(self, matrix, target, fraction, seed):
        """Standardise the rows as in training, and hold some out if requested."""
        matrix = self._units.standardise(matrix)
        scale = self._units.target_scale
        target = (target - self._units.target_mean) / (scale or np.inf)
        if not self.early_stopping:
            return TrainingRows(matrix, target, fraction), None
        n_rows = len(target)
        n_held = max(1, round(self.validation_fraction * n_rows))
        if n_held >= n_rows:
            raise ValueError(
                "early_stopping=True with "
                f"validation_fraction={self.validation_fraction!r} holds out all "
                f"n_samples={n_rows} rows of positive weight; none remain for training."
            )
        order = check_random_state(seed).permutation(n_rows)
        held, learned = np.sort(order[:n_held]), np.sort(order[n_held:])
        return tuple(
            TrainingRows(
                matrix[rows], target[rows], fraction[rows] / fraction[rows].sum()
            )
            for rows in (learned, held)
        )

    def _draw_columns(self, n_columns, seeds):
        """Draw the columns that each member sees; shape (n_members, n_columns)."""
        count = self.max_features
        if isinstance(count, str):
            count = LINEAR_FRACTION if self.member == "linear" else 1.0
        if not is_integer(count):
            count = max(1, int(count * n_columns))
        if count > n_columns:
            raise ValueError(
                f"max_features must be at most {n_columns}, the number of columns, got "
                f"{count}."
            )
        sees = np.zeros((len(seeds), n_columns), dtype=bool)
        for seed, of_member in zip(seeds, sees, strict=True):
            of_member[check_random_state(seed).permutation(n_columns)[:count]] = True
        return sees

    def _list_fitted(self, members):
        """List the fitted attributes with some members, for callbacks."""
        own = {name: value for name, value in vars(self).items() if name[-1] == "_"}
        return {**own, "_units": self._units, "_members": members}

    def _finish(self, trained, rows) -> None:
        """Keep the members and the results of training."""
        self._members = trained.members
        self.loss_curve_ = np.array(trained.losses)
        self.validation_curve_ = None
        if self.early_stopping:
            self.validation_curve_ = np.array(trained.errors)
        self.n_iter_ = trained.n_iter
        outputs = trained.members.predict_blocks(rows.matrix)
        square = self._units.target_scale**2
        mean = outputs.mean(axis=1)
        of_members = (outputs - rows.target[:, np.newaxis]) ** 2
        deviations = (outputs - mean[:, np.newaxis]) ** 2
        self.member_error_ = square * float(rows.fraction @ of_members.mean(axis=1))
        self.ambiguity_ = square * float(rows.fraction @ deviations.mean(axis=1))
        self.ensemble_error_ = square * float(rows.fraction @ (mean - rows.target) ** 2)
        if not trained.is_converged:
            warn_caller(
                f"Training did not converge in max_iter={self.max_iter} iterations. "
                "Increase max_iter or tol, or set early_stopping=True.",
                ConvergenceWarning,
            )

    # -------------------------------------------------------------------- predicting
    @property
    def estimators_(self) -> list[FittedMember]:
        """The members, whose ``predict`` accepts numbers.

        Returns
        -------
        members : list of FittedMember
            ``n_estimators`` members.
        """
        if "_members" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        members = self._members
        return [
            FittedMember(members.take([number]), self._units)
            for number in range(len(members))
        ]

    def predict_members(self, X: MatrixLike) -> np.ndarray:
        """Predict the value of each row with each member.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of float64, shape (n_samples, n_estimators)
            Predicted values of the members.
        """
        matrix = self._read_new_table(X)
        matrix = matrix.toarray() if issparse(matrix) else matrix
        return self._units.predict(self._members, matrix)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the value of each row: the mean over the members, 简单平均法.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of float64, shape (n_samples,)
            Predicted values.
        """
        return self.predict_members(X).mean(axis=1)

    def summary(self, width: int | None = 80) -> str:
        """Return a text summary of the members and the error.

        Parameters
        ----------
        width : int or None, default=80
            Maximum line length. None: no limit.

        Returns
        -------
        text : str
            The summary.
        """
        is_network = isinstance(self._members, NetworkMembers)
        kind = "networks" if is_network else "linear functions"
        head = f"{len(self._members)} {kind}, lambda {self.correlation_penalty:g}"
        errors = {
            "mean squared error of the members": self.member_error_,
            "minus their ambiguity": self.ambiguity_,
            "mean squared error of the ensemble": self.ensemble_error_,
        }
        lines = [f"{name:<35}{value:.5g}" for name, value in errors.items()]
        columns = ", ".join(map(str, self.coef_names_))
        if width is not None:
            columns = fill(columns, width, break_long_words=False)
        head = f"{head}, {self.n_iter_} iterations"
        return "\n".join([head, *lines, "columns:", columns])
