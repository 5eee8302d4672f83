"""Averaging, 平均法: a weighted mean of regressors of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.parameters import check_choice, check_truth
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.combination.averaging_weights import (
    compute_inverse_error_weights,
    compute_non_negative_weights,
    compute_optimal_weights,
)
from sklearn_textbook.ensemble.combination.base_combination import BaseCombination
from sklearn_textbook.ensemble.combination.held_out import check_folds, predict_held_out

WEIGHTINGS = {
    "inverse_error": compute_inverse_error_weights,
    "non_negative": compute_non_negative_weights,
    "optimal": compute_optimal_weights,
}


class AveragingRegressor(RegressorMixin, BaseCombination):
    r"""Average of any regressors, 平均法: simple or weighted.

    .. math:: H(x) = \sum_{i=1}^{T} w_i h_i(x)

    Parameters of scikit-learn's ``VotingRegressor`` have the same name, meaning and
    default here.

    Parameters
    ----------
    estimators : list of (str, regressor) tuples
        The members and their names: regressors of this package, of scikit-learn or of
        other packages, or pipelines. ``"drop"`` in place of an estimator leaves it out.
    weights : array-like of shape (n_members,) or str, default=None
        Weights of the members, which are divided by their sum. None: equal weights
        (简单平均法). A string determines weights (加权平均法) from held-out
        predictions: "inverse_error"; "non_negative" (Breiman's stacked regression;
        these weights need not sum to 1); or "optimal" (from the covariances of the
        errors; these weights sum to 1 and may be negative).
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one, or the setting of
        ``joblib.parallel_config``. Members of this package are fitted one after the
        other with threads, from a table that is encoded once.
    verbose : bool, default=False
        Whether to print a line for each fitted member.
    cv : int, cross-validation generator or iterable, default=None
        Folds for determining weights: each is predicted by members trained on the
        others; ``LeaveOneOut()`` is allowed. None: 5 folds.
    prefit : bool, default=False
        Whether the members are already fitted and are used as they are. Weights are
        then determined from the rows passed to :meth:`fit`, which members should not
        have seen.

    Attributes
    ----------
    estimators_ : list of regressor
        The fitted members.
    named_estimators_ : Bunch
        The fitted members by name.
    weights_ : ndarray of shape (n_members,)
        The weights used.
    held_out_predictions_ : ndarray of shape (n_samples, n_members)
        The predictions from which weights were determined, if they were.
    n_features_in_ : int
        Number of columns, if the members have this attribute.
    feature_names_in_ : ndarray of str
        Names of the columns, if the members have this attribute.

    See Also
    --------
    sklearn.ensemble.VotingRegressor : Uses given weights only.
    StackingRegressor : Uses any regressor to combine the members.

    Notes
    -----
    Reference: 周志华《机器学习》, section 8.4.1; see
    :func:`~sklearn_textbook.ensemble.combination.compute_optimal_weights` and
    :func:`~sklearn_textbook.ensemble.combination.compute_non_negative_weights` for
    the papers.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_textbook.ensemble import AveragingRegressor
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", LinearRegression()), ("near", KNeighborsRegressor()),
    ...            ("tree", CARTRegressor())]
    >>> averaging = AveragingRegressor(members, weights="non_negative").fit(X, y)
    >>> averaging.weights_.round(2)
    array([0.84, 0.17, 0.  ])
    """

    _title = "Averaging"
    _saved_fields = (SavedField("weights_", shape=(None,)),)

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        cv: Any = None,
        prefit: bool = False,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.prefit = prefit

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.weights, str):
            check_choice("weights", self.weights, tuple(WEIGHTINGS))
        elif self.weights is not None:
            self._check_weights()
        check_truth("prefit", self.prefit)
        check_folds(self.cv)

    def _fits_members(self) -> bool:
        return not self.prefit

    def _read_target(self, y):
        return column_or_1d(check_numbers(y, type(self).__name__), warn=True)

    def _finish_fit(self, X, target, tasks, sample_weight):
        vars(self).pop("held_out_predictions_", None)
        if not isinstance(self.weights, str):
            n_members = len(self.estimators_)
            weights = np.ones(n_members) if self.weights is None else None
            weights = self._list_weights() if weights is None else weights
            self.weights_ = weights / weights.sum()
            return
        if self.prefit:
            answers = self._call_members("predict", X)
        else:
            methods = ["predict"] * len(tasks)
            answers = predict_held_out(
                tasks, methods, X, target, cv=self.cv, n_jobs=self.n_jobs
            )
        self.held_out_predictions_ = np.stack(answers, axis=1)
        find_weights = WEIGHTINGS[self.weights]
        self.weights_ = find_weights(target, self.held_out_predictions_, sample_weight)

    def _restore(self, parts, kept) -> None:
        super()._restore(parts, kept)
        if len(self.weights_) != len(self.estimators_):
            raise ValueError("weights_ do not match the members")

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the value of each row: the weighted average over the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Values.
        """
        return self.transform(X) @ self.weights_

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Return the predictions of the members as columns.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples, n_members)
            Predicted values.
        """
        check_is_fitted(self)
        return np.stack(self._call_members("predict", X), axis=1)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Used only to check it against the columns of the training table.

        Returns
        -------
        names : ndarray of object
            ``averagingregressor_<name>``.
        """
        return self._name_columns(input_features, [""])
