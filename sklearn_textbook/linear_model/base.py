"""Base classes of the linear models: tables, names of coefficients, classes."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.finite import check_sizes, check_sparse_format
from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook.linear_model.design import (
    MISSING,
    REFERENCE_LEVELS,
    UNKNOWN_LEVELS,
)
from sklearn_textbook.linear_model.design.design import make_plain_design
from sklearn_textbook.linear_model.design.reading import (
    check_finite_design,
    read_more_rows,
    read_new_rows,
    read_training_rows,
    require_scores,
    select_rows,
)
from sklearn_textbook.tree.encode.read import default_names

#: Numbers times roots of weights whose squares, and those of standard errors, are
#: within float64.
SMALLEST, LARGEST = 1e-140, 1e145


class BaseLinearModel(BaseEstimator):
    """Base class of the linear models.

    Common parameters of all models: ``categorical_features``, ``reference_level``,
    ``handle_unknown``, ``missing``.

    Attributes
    ----------
    design_ : Design
        Encoding of the columns of the table.
    coef_names_ : ndarray of str, shape (n_coefficients,)
        Names of the design matrix columns, in the order of the coefficients.
    n_dropped_ : int
        Number of rows that ``missing="drop"`` left out.
    """

    #: Whether scipy's sparse matrices are read without making them dense.
    _accepts_sparse = True
    #: Whether weights are divided by their sum.
    _rescales_weights = False
    #: Whether columns are squared in their own units.
    _squares_columns = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.string = False
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    @property
    def coef_names_(self):
        """Names of the design matrix columns, in the order of the coefficients."""
        return np.array(self.design_.names, dtype=object)

    @property
    def n_dropped_(self):
        """Number of training rows left out because of missing values."""
        return self.design_.n_dropped

    def _check_table_parameters(self):
        """Raise ValueError for invalid parameters of the encoding."""
        if not isinstance(self.reference_level, dict):
            check_choice(
                "reference_level",
                self.reference_level,
                REFERENCE_LEVELS,
                accepts_none=True,
            )
        check_choice("handle_unknown", self.handle_unknown, UNKNOWN_LEVELS)
        check_choice("missing", self.missing, MISSING)

    def _read_training_table(self, X, sample_weight=None, *, keeps_all_levels=False):
        """Read the training rows; those of weight 0 are ignored.

        Rows that ``missing="drop"`` leaves out are ignored, too. Sets ``design_``,
        ``n_features_in_`` and ``feature_names_in_``. With
        ``keeps_all_levels`` all declared levels get an indicator, since later rows may
        have them; undeclared levels then raise an error.

        Returns
        -------
        matrix : ndarray of float64 or csr_array, shape (n_present, n_made)
            Finite numbers.
        weight : ndarray of float64, shape (n_present,), or None
            All above 0; None if all are 1.
        is_present : ndarray of bool, shape (n_rows,), or None
            Which rows of X these are; None: all.
        """
        self._require_columns(X)
        is_plain = self._is_plain_table(X, self.categorical_features)
        if is_plain and self.missing == "error":
            matrix = self._validate_numbers(X, reset=True)
            weight, is_present = self._select_rows(sample_weight, matrix.shape[0])
            names = getattr(self, "feature_names_in_", None)
            self.design_ = make_plain_design(
                default_names(matrix.shape[1]) if names is None else tuple(names),
                names is not None,
            )
            matrix = matrix if is_present is None else matrix[is_present]
            check_finite_design(self, matrix, is_present)
            self._require_finite_squares(matrix, is_present)
            return matrix, weight, is_present
        matrix, weight, is_present = read_training_rows(
            *(self, X, sample_weight, self.reference_level),
            keeps_all_levels=keeps_all_levels,
            is_rescaled=self._rescales_weights,
            accepts_sparse=self._accepts_sparse,
        )
        self._require_finite_squares(matrix, is_present)
        return matrix, weight, is_present

    def _require_columns(self, X):
        """Raise ValueError for a table without columns."""
        shape = getattr(X, "shape", ())
        if len(shape) == 2 and shape[0] and not shape[1]:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum "
                f"of 1 is required by {type(self).__name__}. To fit only an intercept, "
                "pass a constant column: np.ones((len(X), 1))."
            )

    def _read_more_rows(self, X, sample_weight=None):
        """Read further training rows like the first ones; returns the same."""
        matrix, weight, is_present = read_more_rows(
            self, X, sample_weight, is_rescaled=self._rescales_weights
        )
        self._require_finite_squares(matrix, is_present)
        return matrix, weight, is_present

    def _read_new_table(self, X):
        """Read rows to predict, encoded like the training rows."""
        check_is_fitted(self)
        if self.design_.is_plain and self._is_plain_table(X, None):
            matrix = self._validate_numbers(X, reset=False)
            check_finite_design(self, matrix, is_training=False)
            return matrix
        return read_new_rows(self, X, self.handle_unknown)

    def _forget(self, *names):
        """Delete attributes of an earlier fit."""
        for name in names:
            vars(self).pop(name, None)

    def _require_finite_squares(self, matrix, is_present):
        """Require numbers with finite squares of the rows of the mask."""
        if self._squares_columns:
            names = self.design_.names
            check_sizes(matrix, type(self).__name__, names, is_present)

    def _require_squares(self, matrix, weight):
        """Raise ValueError for a column whose weighted squares under- or overflow."""
        if issparse(matrix):
            largest = abs(matrix).max(axis=0).toarray().ravel()
        else:
            largest = np.maximum(matrix.max(axis=0), -matrix.min(axis=0))
        sizes = largest * (1.0 if weight is None else np.sqrt(weight.max()))
        is_wrong = (sizes > 0.0) & ((sizes < SMALLEST) | (sizes > LARGEST))
        if not is_wrong.any():
            return
        column = int(np.argmax(is_wrong))
        name, what = f"Column {self.coef_names_[column]!r}", "it"
        if weight is not None:
            name += " times the square roots of sample_weight"
            what += " or sample_weight"
        flaw, remedy = "a value of", f"overflow: divide {what}"
        if sizes[column] < SMALLEST:
            flaw, remedy = "no value above", f"underflow: multiply {what}"
        raise ValueError(
            f"{name} has {flaw} {sizes[column]:.3g}, so that weighted sums of squares "
            f"{remedy} by a power of ten."
        )

    def _select_rows(self, sample_weight, n_rows):
        """Positive weights (None: all 1), and the mask of their rows (None: all)."""
        return select_rows(sample_weight, n_rows, is_rescaled=self._rescales_weights)

    @staticmethod
    def _is_plain_table(X, categorical_features):
        """Whether the table is read as one array of numbers."""
        if not (
            categorical_features is None
            or (
                isinstance(categorical_features, str)
                and categorical_features == "from_dtype"
            )
        ):
            return False
        if issparse(X):
            return True
        return isinstance(X, np.ndarray) and X.dtype.kind in "biufc"

    def _validate_numbers(self, X, *, reset):
        check_sparse_format(X)
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if self._accepts_sparse else False,
            dtype=np.float64,
            ensure_all_finite=False,
        )


class BaseLinearClassifier(ClassifierMixin, BaseLinearModel):
    """Predictions of a linear classifier with ``classes_`` and ``decision_function``.

    The scores of more than two classes are logarithms of their probabilities up to a
    number for each row; for two classes there is one score, that of the second minus
    that of the first.
    """

    def predict(self, X):
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.

        Raises
        ------
        ValueError
            If a row has missing values, with ``missing="drop"``; its probabilities are
            NaN.
        """
        scores = require_scores(self.decision_function(X))
        is_second = scores.ndim == 1
        numbers = (scores > 0).astype(np.intp) if is_second else scores.argmax(axis=1)
        return self.classes_[numbers]

    def predict_proba(self, X):
        """Compute the probability P(y|x) of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return softmax(scores, axis=1)
        return np.column_stack((expit(-scores), expit(scores)))

    def predict_log_proba(self, X):
        """Compute the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Natural logarithms in the order of ``classes_``; finite even where the
            probability underflows.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            return log_softmax(scores, axis=1)
        return -np.column_stack((np.logaddexp(0, scores), np.logaddexp(0, -scores)))
