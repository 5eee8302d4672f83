"""Multi-response linear regression, 多响应线性回归: one regression per class."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook._contract.parameters import check_choice, check_truth
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.combination.class_target import read_class_target
from sklearn_textbook.ensemble.members.estimator_members import take_columns
from sklearn_textbook.linear_model import LinearRegression


class MultiResponseLinearRegression(ClassifierMixin, BaseEstimator):
    r"""Classifier with one least-squares regression per class, 多响应线性回归.

    The response of class j is 1 for rows of the class and 0 for all others. The
    predicted class is the one with the largest fitted response:

    .. math:: f_j = \arg\min_f \sum_n s_n \bigl(\mathbb{I}(y_n = j) - f(x_n)\bigr)^2,
        \qquad H(x) = \arg\max_j f_j(x).

    Parameters
    ----------
    inputs : {"all", "class"}, default="all"
        Columns used by the regressions. "all": each uses all columns (Ting and Witten's
        MLR). "class": the regression of a class uses only the probabilities of that
        class (StackingC), which requires far fewer coefficients. Columns must then be
        the class probabilities of one member after the other, as
        :class:`~sklearn_textbook.ensemble.StackingClassifier` passes them; for two
        classes, one column per member with the probability of the second class.
    positive : bool, default=False
        Whether coefficients, but not intercepts, must be at least 0, so that a member's
        probability never counts against its class.
    fit_intercept : bool, default=True
        Whether the regressions have an intercept.
    alpha : float, default=0.0
        Strength of the ridge penalty; see
        :class:`~sklearn_textbook.linear_model.LinearRegression`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    regressions_ : list of LinearRegression
        One regression per class; for two classes, only that of the second, which
        determines the other.
    coef_ : ndarray of shape (n_regressions, n_made)
        Coefficients of the regressions; with ``inputs="class"``, one per member.
    intercept_ : ndarray of shape (n_regressions,)
        Intercepts of the regressions.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    See Also
    --------
    StackingClassifier : Uses this classifier as its default final estimator.
    sklearn.linear_model.RidgeClassifier : Codes classes as -1 and 1, with a penalty.

    Notes
    -----
    Text columns are coded as in ``LinearRegression``. With ``inputs="all"``, the
    columns are linearly dependent, since the probabilities of a member sum to 1. The
    minimum-norm solution is used; predictions are not affected.

    Weka's StackingC and its ``ClassificationViaRegression`` with ``LinearRegression -S
    1 -C`` give the same probabilities, up to their ridge penalty of 1e-8. By default,
    without ``-C``, they remove columns one by one until no standardized coefficient
    exceeds 1.5, so that only some of several similar members are used.

    References: K. M. Ting and I. H. Witten, "Issues in stacked generalization", Journal
    of Artificial Intelligence Research 10, 1999; A. K. Seewald, "How to make stacking
    better and faster while also taking care of an unknown weakness", ICML 2002
    (StackingC); 周志华《机器学习》, section 8.4.3.

    Examples
    --------
    >>> from sklearn_textbook.ensemble import MultiResponseLinearRegression
    >>> X = [[0.9, 0.6], [0.8, 0.1], [0.2, 0.5], [0.3, 0.4]]
    >>> model = MultiResponseLinearRegression().fit(X, ["a", "a", "b", "b"])
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([[-1.59,  0.26]]), array([1.27]))
    >>> model.predict([[0.7, 0.2]])
    array(['a'], dtype='<U1')
    """

    _member_parameters = ()
    _saved_fields = (SavedField("n_features_in_", "integer", least=1),)

    def __init__(
        self,
        *,
        inputs: str = "all",
        positive: bool = False,
        fit_intercept: bool = True,
        alpha: float = 0.0,
    ) -> None:
        self.inputs = inputs
        self.positive = positive
        self.fit_intercept = fit_intercept
        self.alpha = alpha

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit one regression per class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The table; for ``inputs="class"``, numbers only.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : MultiResponseLinearRegression
            The fitted classifier.
        """
        self._check_parameters()
        if y is None:
            validate_data(self, X, y, skip_check_array=True)  # raises a helpful error
        self.classes_, codes = read_class_target(self, y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} requires at least two classes, but y has only "
                f"one class: {self.classes_.tolist()[0]!r}."
            )
        check_columns(self, X, y)
        tables = self._split_columns(X)
        n_classes = len(self.classes_)
        responses = (codes[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)
        numbers = [1] if n_classes == 2 else range(n_classes)
        with warnings.catch_warnings():
            # Probabilities that sum to 1 are expected to be linearly dependent.
            warnings.filterwarnings("ignore", message="Columns are linearly dependent")
            self.regressions_ = [
                LinearRegression(
                    fit_intercept=self.fit_intercept,
                    positive=self.positive,
                    alpha=self.alpha,
                ).fit(table, responses[:, number], sample_weight)
                for number, table in zip(numbers, tables, strict=True)
            ]
        self._list_coefficients()
        return self

    # ----------------------------------------------------------------- model files
    def _get_reader(self):
        """Return an estimator that knows the columns; None if none knows all."""
        first = self.regressions_[0]
        return first if first.n_features_in_ == self.n_features_in_ else None

    def _list_saved(self):
        """List the values that ``_saved_fields`` declares."""
        return vars(self)

    def _list_parts(self):
        """List the names of all fitted parts, and these."""
        return [(str(number), one) for number, one in enumerate(self.regressions_)]

    def _restore(self, parts, kept) -> None:
        """Set the fitted attributes again, but for ``classes_``."""
        self._check_parameters()
        self.n_features_in_ = kept["n_features_in_"]
        self.regressions_ = [one for _, one in parts]
        n_classes = len(self.classes_)
        n_parts = 1 if n_classes == 2 else n_classes
        has_all = self.inputs == "all" or n_classes == 2
        n_columns = self.n_features_in_ / (1 if has_all else n_classes)
        if (
            n_classes < 2
            or len(parts) != n_parts
            or any(
                not isinstance(one, LinearRegression)
                or one.n_features_in_ != n_columns
                or one.coef_.ndim != 1
                for one in self.regressions_
            )
        ):
            raise ValueError("the regressions do not match the classes")
        first = self.regressions_[0]
        if has_all and hasattr(first, "feature_names_in_"):
            self.feature_names_in_ = first.feature_names_in_
        self._list_coefficients()

    def _list_coefficients(self) -> None:
        """Set the coefficients of all regressions as one array."""
        self.coef_ = np.stack([one.coef_ for one in self.regressions_])
        self.intercept_ = np.array([one.intercept_ for one in self.regressions_])

    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are not allowed."""
        check_choice("inputs", self.inputs, ("all", "class"))
        check_truth("positive", self.positive)

    def _split_columns(self, X):
        """List the table of each regression."""
        n_classes = len(self.classes_)
        if self.inputs == "all" or n_classes == 2:
            return [X] * (1 if n_classes == 2 else n_classes)
        n_columns = self.n_features_in_
        if n_columns % n_classes:
            raise ValueError(
                f'inputs="class" requires {n_classes} columns per member, one for each '
                f"class; X has {n_columns} columns."
            )
        X = X if hasattr(X, "shape") else np.asarray(X)
        return [
            take_columns(X, np.arange(number, n_columns, n_classes))
            for number in range(n_classes)
        ]

    def _compute_responses(self, X):
        """Compute the fitted responses, shape (n_samples, n_classes)."""
        check_is_fitted(self)
        check_columns(self, X, reset=False)
        tables = self._split_columns(X)
        fitted = np.stack(
            [
                one.predict(table)
                for one, table in zip(self.regressions_, tables, strict=True)
            ],
            axis=1,
        )
        if len(self.classes_) == 2:
            return np.hstack([1.0 - fitted, fitted])
        return fitted

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Compute the fitted response of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        responses : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Responses; for two classes, that of the second minus that of the first.
        """
        responses = self._compute_responses(X)
        if len(self.classes_) == 2:
            return responses[:, 1] - responses[:, 0]
        return responses

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Convert the responses to class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Responses, clipped to the range from 0 to 1 and divided by their sum. If all
            are 0, the class with the largest response has probability 1.
        """
        responses = self._compute_responses(X)
        is_largest = responses.argmax(axis=1)[:, np.newaxis] == np.arange(
            responses.shape[1]
        )
        cut = np.clip(responses, 0.0, 1.0)
        cut = np.where(cut.any(axis=1, keepdims=True), cut, is_largest)
        return cut / cut.sum(axis=1, keepdims=True)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the class with the largest response; ties go to the first.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        responses = self._compute_responses(X)
        return self.classes_.take(responses.argmax(axis=1))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_regression = LinearRegression().__sklearn_tags__().input_tags
        for name in ("sparse", "categorical", "string"):
            setattr(tags.input_tags, name, getattr(of_regression, name))
        return tags
