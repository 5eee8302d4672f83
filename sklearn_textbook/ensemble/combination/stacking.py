"""Stacking, 学习法: a second learner that combines the members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if

from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.combination.base_stacking import BaseStacking
from sklearn_textbook.ensemble.combination.class_target import (
    read_class_target,
    require_places,
)
from sklearn_textbook.ensemble.combination.multi_response import (
    MultiResponseLinearRegression,
)
from sklearn_textbook.linear_model import LinearRegression


def _final_has(method):
    """Check that the second learner has a method."""

    def check(stacking):
        final = getattr(stacking, "final_estimator_", None)
        getattr(stacking._get_final() if final is None else final, method)
        return True

    return check


class StackingClassifier(ClassifierMixin, BaseStacking):
    """Stacking of any classifiers: a final classifier combines their outputs.

    Each member predicts every row after being trained on the other folds. These
    predictions form the secondary table (次级训练集), to which the final estimator is
    fitted. The members are then refitted to all rows.

    Parameters of scikit-learn's ``StackingClassifier`` have the same name, meaning and,
    except for ``final_estimator``, default here.

    Parameters
    ----------
    estimators : list of (str, estimator) tuples
        The members and their names: classifiers, pipelines, or regressors of class
        numbers. ``"drop"`` in place of an estimator leaves it out.
    final_estimator : classifier, default=None
        The estimator that combines the members. None:
        ``MultiResponseLinearRegression()``, as the textbook recommends (scikit-learn:
        logistic regression).
    cv : int, cross-validation generator, iterable or "prefit", default=None
        The folds; ``LeaveOneOut()`` for one row at a time. None: 5 stratified folds.
        "prefit": the members are already fitted, and the final estimator is fitted to
        their outputs for the rows passed to :meth:`fit`, which they should not have
        seen.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, \
default="auto"
        Method of the members whose outputs are used. "auto": the first in this order
        that a member has.
    n_jobs : int, default=None
        Number of workers among which members and folds are divided. None: one, or the
        setting of ``joblib.parallel_config``.
    passthrough : bool, default=False
        Whether the columns of X, including text, are also passed to the final
        estimator.
    verbose : bool, default=False
        Whether to print a line for each fitted member.

    Attributes
    ----------
    estimators_ : list of estimator
        The members, trained on all rows with class numbers (indices into ``classes_``);
        with ``cv="prefit"``, the estimators as given.
    named_estimators_ : Bunch
        The fitted members by name.
    final_estimator_ : classifier
        The fitted final estimator; its classes are indices into ``classes_``.
    secondary_table_ : ndarray, data frame or sparse matrix
        The table to which the final estimator was fitted, with one row per row of X.
    stack_method_ : list of str
        The method used for each member.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of columns, if the members have this attribute.
    feature_names_in_ : ndarray of str
        Names of the columns, if the members have this attribute.

    See Also
    --------
    sklearn.ensemble.StackingClassifier : Accepts multilabel targets, but no text in
        ``passthrough``; does not keep the secondary table; encodes the table for each
        member.
    VotingClassifier : Combines members by a fixed rule.

    Notes
    -----
    Sample weights are passed to the members of every fold and to the final estimator.

    References: D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992;
    周志华《机器学习》, section 8.4.3, figure 8.9.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_textbook.ensemble import StackingClassifier
    >>> from sklearn_textbook.tree import C45Classifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("c45", C45Classifier()), ("bayes", GaussianNB())]
    >>> stacking = StackingClassifier(members)
    >>> stacking.fit(X, y).secondary_table_.shape
    (150, 6)
    >>> stacking.predict(X[[0, 60, 140]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: bool = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def _make_default_final(self):
        return MultiResponseLinearRegression()

    def _is_fit_kind(self, estimator) -> bool:
        return True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        final = self._get_final()
        if not is_classifier(final):
            raise ValueError(
                f"The 'final_estimator' parameter must be a classifier; got {final!r}."
            )
        takes_classes = getattr(final, "inputs", "all") == "class"
        if self.passthrough and takes_classes:
            raise ValueError(
                "passthrough=True cannot be combined with a final_estimator with "
                'inputs="class", since the columns of X belong to no class.'
            )

    def _read_target(self, y):
        self.classes_, codes = read_class_target(self, y)
        needs_two = isinstance(self._get_final(), MultiResponseLinearRegression)
        if needs_two and len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} with MultiResponseLinearRegression requires at "
                "least two classes, but y has only one class: "
                f"{self.classes_.tolist()[0]!r}."
            )
        return codes

    def _count_classes(self) -> int:
        return len(self.classes_)

    def _restore(self, parts, kept) -> None:
        super()._restore(parts, kept)
        members = self.estimators_ if self._fits_members() else []
        for member in [*members, self.final_estimator_]:
            if hasattr(member, "classes_"):
                places = np.asarray(member.classes_)
                if places.dtype.kind not in "iu":
                    raise ValueError("members must be fitted to class numbers")
                require_places(self, member, places)

    @available_if(_final_has("predict"))
    def predict(self, X: MatrixLike, **predict_params: Any) -> np.ndarray:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **predict_params : dict
            Parameters for ``predict`` of the final estimator.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        places = self._predict_final("predict", X, predict_params)
        return self.classes_.take(np.asarray(places, dtype=np.intp))

    @available_if(_final_has("predict_proba"))
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict class probabilities with the final estimator.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._predict_final("predict_proba", X)

    @available_if(_final_has("decision_function"))
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Compute the decision function of the final estimator.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Values returned by the final estimator.
        """
        return self._predict_final("decision_function", X)


class StackingRegressor(RegressorMixin, BaseStacking):
    """Stacking of any regressors: a final regressor combines their predictions.

    Parameters of scikit-learn's ``StackingRegressor`` have the same name, meaning and,
    except for ``final_estimator``, default here.

    Parameters
    ----------
    estimators : list of (str, regressor) tuples
        The members and their names. ``"drop"`` in place of an estimator leaves it out.
    final_estimator : regressor, default=None
        The estimator that combines the members. None: ``LinearRegression``, with
        coefficients of at least 0 (Breiman) unless ``passthrough=True`` (scikit-learn:
        ridge regression).
    cv : int, cross-validation generator, iterable or "prefit", default=None
        The folds; ``LeaveOneOut()`` for one row at a time. None: 5 folds. "prefit": the
        members are already fitted, and the final estimator is fitted to their
        predictions for the rows passed to :meth:`fit`, which they should not have seen.
    n_jobs : int, default=None
        Number of workers among which members and folds are divided. None: one, or the
        setting of ``joblib.parallel_config``.
    passthrough : bool, default=False
        Whether the columns of X, including text, are also passed to the final
        estimator.
    verbose : bool, default=False
        Whether to print a line for each fitted member.

    Attributes
    ----------
    estimators_ : list of regressor
        The members, trained on all rows; with ``cv="prefit"``, the estimators as given.
    named_estimators_ : Bunch
        The fitted members by name.
    final_estimator_ : regressor
        The fitted final estimator.
    secondary_table_ : ndarray, data frame or sparse matrix
        The table to which the final estimator was fitted, with one row per row of X.
    stack_method_ : list of str
        The method used for each member.
    n_features_in_ : int
        Number of columns, if the members have this attribute.
    feature_names_in_ : ndarray of str
        Names of the columns, if the members have this attribute.

    See Also
    --------
    sklearn.ensemble.StackingRegressor : Accepts no text in ``passthrough``; does not
        keep the secondary table; encodes the table for each member.
    AveragingRegressor : Combines members only by weights.

    Notes
    -----
    Sample weights are passed to the members of every fold and to the final estimator.

    References: L. Breiman, "Stacked regressions", Machine Learning 24, 1996;
    周志华《机器学习》, section 8.4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn_textbook.ensemble import StackingRegressor
    >>> from sklearn_textbook.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
    >>> stacking = StackingRegressor(members).fit(X, y)
    >>> stacking.final_estimator_.coef_.round(2)
    array([0.84, 0.17])
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: bool = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    stack_method = "auto"

    def _make_default_final(self):
        return LinearRegression(positive=not self.passthrough)

    def _read_target(self, y):
        return column_or_1d(check_numbers(y, type(self).__name__), warn=True)

    def _choose_method(self, name, member) -> str:
        return "predict"

    @available_if(_final_has("predict"))
    def predict(self, X: MatrixLike, **predict_params: Any) -> np.ndarray:
        """Predict the value of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        **predict_params : dict
            Parameters for ``predict`` of the final estimator.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted values.
        """
        return self._predict_final("predict", X, predict_params)
