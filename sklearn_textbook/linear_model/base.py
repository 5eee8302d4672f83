"""Base classes of the linear models: tables, names of coefficients, classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.blocks import BlockSource, list_blocks
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import check_choice, name_some
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook._contract.tables import check_sizes, check_sparse_format
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.design import (
    MISSING,
    REFERENCE_LEVELS,
    UNKNOWN_LEVELS,
    Design,
)
from sklearn_textbook.linear_model.design.design import make_plain_design
from sklearn_textbook.linear_model.design.formula import (
    Formula,
    make_interactions,
    parse_formula,
    split_formula,
)
from sklearn_textbook.linear_model.design.reading import (
    check_finite_design,
    read_more_rows,
    read_new_blocks,
    read_new_rows,
    read_training_rows,
    require_scores,
    select_rows,
    sum_rows,
)
from sklearn_textbook.linear_model.design.stored_rows import (
    StoredRows,
    open_columns,
    read_stored_rows,
)
from sklearn_textbook.linear_model.inference.robust import COVARIANCE_TYPES
from sklearn_textbook.linear_model.solve.row_blocks import take_rows
from sklearn_textbook.tree.encode import NOMINAL
from sklearn_textbook.tree.encode.block_columns import BlockColumns
from sklearn_textbook.tree.encode.read import default_names, open_table

#: Reference levels that a summary names.
MAX_REFERENCES = 10


class BaseLinearModel(BaseEstimator):
    """Base class of the linear models.

    Common parameters of all models: ``categorical_features``, ``reference_level``,
    ``handle_unknown``, ``missing``.
    """

    # Parameters of every model, which its ``__init__`` sets.
    categorical_features: object
    reference_level: str | dict | None
    handle_unknown: str
    missing: str
    # Of the models that have terms, and standard errors.
    formula: str | None
    interactions: str | list | None
    covariance_type: str
    #: Encoding of the columns of the table, which reading sets.
    design_: Design

    #: Whether scipy's sparse matrices are read without making them dense.
    _accepts_sparse = True
    #: Whether weights are divided by their sum.
    _rescales_weights = False
    #: Whether other parameters take the place of an intercept.
    _has_thresholds = False
    #: Whether columns are squared in their own units.
    _squares_columns = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.string = False
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    @property
    def coef_names_(self) -> np.ndarray:
        """Names of the design matrix columns, in the order of the coefficients."""
        return np.array(self.design_.names, dtype=object)

    @property
    def n_dropped_(self) -> int:
        """Number of training rows left out because of missing values."""
        return self.design_.n_dropped

    def _check_table_parameters(self) -> None:
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

    def _read_training_table(
        self, X, sample_weight=None, *, keeps_all_levels: bool = False
    ) -> tuple[np.ndarray | csr_array, np.ndarray | None, np.ndarray | None]:
        """Read the training rows; those of weight 0 are ignored.

        Rows that ``missing="drop"`` leaves out are ignored, too. Sets ``design_``,
        ``n_features_in_`` and ``feature_names_in_``. With
        ``keeps_all_levels`` all declared levels get an indicator, since later rows may
        have them; undeclared levels then raise an error.

        Returns (matrix, weight, is_present).
        """
        require_all_rows(X)
        formula = self._make_formula(X)
        if formula is not None:
            X = select_columns(X, formula.columns)
        shape = getattr(X, "shape", ())
        if len(shape) == 2 and shape[0] and not shape[1]:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={tuple(shape)}) while a minimum "
                f"of 1 is required by {type(self).__name__}. To fit only an intercept, "
                "pass a constant column: np.ones((len(X), 1))."
            )
        is_plain = self._is_plain_table(X, self.categorical_features)
        if is_plain and self.missing == "error" and formula is None:
            matrix = self._validate_numbers(X, reset=True)
            weight, is_present = select_rows(
                sample_weight, matrix.shape[0], is_rescaled=self._rescales_weights
            )
            names = getattr(self, "feature_names_in_", None)
            self.design_ = make_plain_design(
                default_names(matrix.shape[1]) if names is None else tuple(names),
                names is not None,
            )
            matrix = matrix if is_present is None else matrix[is_present]
            check_finite_design(self, matrix, is_present)
        else:
            matrix, weight, is_present = read_training_rows(
                *(self, X, sample_weight, self.reference_level),
                keeps_all_levels=keeps_all_levels,
                is_rescaled=self._rescales_weights,
                accepts_sparse=self._accepts_sparse,
                formula=formula,
            )
        self._require_finite_squares(matrix, is_present)
        return matrix, weight, is_present

    def _read_stored_rows(self, columns: BlockColumns) -> StoredRows:
        """Read training rows in files; sets what `_read_training_table` sets."""
        return read_stored_rows(
            self,
            columns,
            self.reference_level,
            squares_columns=self._squares_columns,
            formula=self._make_formula(columns),
        )

    def _open_columns(self, source: BlockSource, *names, **options) -> BlockColumns:
        """Write the columns of a source to files, which the caller closes."""
        roles = [*names, *(options.get("vectors") or {}).values()]
        formula = self._make_formula(source, roles)
        features = self.categorical_features
        return open_columns(source, *names, features, formula=formula, **options)

    def _make_formula(self, X, roles=()) -> Formula | None:
        """Make the terms of the parameters ``formula`` and ``interactions``.

        ``roles`` are columns of a table in blocks that are no features.
        """
        formula = getattr(self, "formula", None)
        interactions = getattr(self, "interactions", None)
        if formula is None and interactions is None:
            return None
        if formula is not None and interactions is not None:
            raise ValueError(
                "Give formula or interactions, not both: 'a:b' in the formula is the "
                f"product of a and b; got interactions={interactions!r}."
            )
        if isinstance(X, BlockSource):
            names = [name for name in X.names if name not in roles]
        else:
            names = X.schema.names if isinstance(X, BlockColumns) else name_columns(X)
        if formula is None:
            return make_interactions(interactions, names)
        return self._parse_formula(formula, names)

    def _parse_formula(self, given: str, names) -> Formula:
        """Parse the parameter ``formula``."""
        target, text = split_formula(given)
        if target is not None:
            raise ValueError(
                "The formula parameter is what follows '~': the target is y of fit; "
                f"got {given!r}. from_formula takes both and a table."
            )
        intercept = bool(self.fit_intercept or self._has_thresholds)
        formula = parse_formula(text, names, intercept=intercept)
        if self._has_thresholds and not formula.has_intercept:
            raise ValueError(
                f"The formula {given!r} has no intercept, but the thresholds of "
                f"{type(self).__name__} are always there: leave out '0 +' or '- 1'."
            )
        if formula.has_intercept != intercept:
            raise ValueError(
                f"The formula {given!r} has "
                f"{'an' if formula.has_intercept else 'no'} intercept, but "
                f"fit_intercept={self.fit_intercept!r}: set "
                f"fit_intercept={formula.has_intercept!r}."
            )
        if not formula.terms:
            raise ValueError(
                f"The formula {given!r} has no terms besides the intercept. To "
                "fit only an intercept, pass a constant column: np.ones((len(y), 1))."
            )
        return formula

    def _read_more_rows(self, X, sample_weight=None):
        """Read further training rows like the first ones; returns the same."""
        require_all_rows(X)
        X = self._take_used(X)
        matrix, weight, is_present = read_more_rows(
            self, X, sample_weight, is_rescaled=self._rescales_weights
        )
        self._require_finite_squares(matrix, is_present)
        return matrix, weight, is_present

    def _read_new_table(self, X):
        """Read rows to predict, encoded like the training rows."""
        check_is_fitted(self)
        require_all_rows(X)
        return self._read_new_rows(self._take_used(X))

    def _take_used(self, X):
        """Take the columns of the terms, if there are any."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not self.design_.model_terms:
            return X
        return select_columns(X, names.tolist())

    def _read_new_rows(self, X):
        """Read rows in memory to predict."""
        if self.design_.is_plain and self._is_plain_table(X, None):
            matrix = self._validate_numbers(X, reset=False)
            check_finite_design(self, matrix, is_training=False)
            return matrix
        return read_new_rows(self, X, self.handle_unknown)

    def _read_rows_again(self, X, sample_weight):
        """Read the training rows once more.

        Returns (matrix, weight, is_present): those of the rows that count, and which of
        the given ones these are.
        """
        matrix = self._read_new_table(X)
        weight = check_weights(sample_weight, matrix.shape[0])
        is_present = np.ones(matrix.shape[0], dtype=bool)
        if weight is not None:
            is_present &= weight > 0
        if self.design_.missing == "drop":
            is_present &= ~np.isnan(sum_rows(matrix))
        if not is_present.all():
            matrix = matrix[is_present]
            weight = None if weight is None else weight[is_present]
        return matrix, weight, is_present

    def _list_terms(self) -> tuple:
        """List the terms, the coefficients of each, and what it is a product of."""
        first = int(bool(self.fit_intercept))
        return tuple(
            (name, slice(place.start + first, place.stop + first), parts)
            for name, place, parts in self.design_.list_terms()
        )

    def _check_covariance_type(self, X, groups, *, is_penalised: bool) -> None:
        """Raise ValueError for what robust standard errors are not defined for."""
        kinds = ("nonrobust", *COVARIANCE_TYPES)
        check_choice("covariance_type", self.covariance_type, kinds)
        if (self.covariance_type == "cluster") != (groups is not None):
            raise ValueError(
                "covariance_type='cluster' requires groups in fit, and no other "
                f"covariance_type takes them; got {self.covariance_type!r} "
                f"{'without' if groups is None else 'with'} groups."
            )
        if self.covariance_type == "nonrobust":
            return
        if is_penalised:
            raise ValueError(
                f"covariance_type={self.covariance_type!r} requires a model without a "
                "penalty, whose coefficients are biased."
            )
        require_all_rows(X)

    def _note_references(self) -> list[str]:
        """Name the levels that the others of nominal columns are compared with."""
        coded = {
            factor.column
            for term in self.design_.model_terms
            for factor in term.factors
            if not factor.is_full
        }
        named = [
            f"{column.name}={column.format_value(term.reference)}"
            for term, column in zip(
                self.design_.terms, self.design_.schema.columns, strict=True
            )
            if term.reference is not None
            and (term.name in coded or not self.design_.model_terms)
        ]
        if not named:
            return []
        more = len(named) - MAX_REFERENCES
        listed = ", ".join(named[:MAX_REFERENCES])
        return [f"Reference levels: {listed}{f' and {more} more' if more > 0 else ''}."]

    def _name_coefficients(self) -> tuple[str, ...]:
        """List the names of a vector of coefficients, that of the intercept first."""
        return ("intercept",) * bool(self.fit_intercept) + self.design_.names

    def _predict_blocks(self, X, function: Callable) -> np.ndarray | Any:
        """Apply a function to the blocks of the design matrix of rows to predict."""
        check_is_fitted(self)
        X = self._take_used(X)
        is_plain = self.design_.is_plain and self._is_plain_table(X, None)
        if is_plain or issparse(X):
            matrix = self._read_new_rows(X)
            n_rows = max(matrix.shape[0], 1)
            blocks = (take_rows(matrix, rows) for rows in list_blocks(n_rows))
        else:
            blocks = read_new_blocks(self, X, self.handle_unknown)
        found = [function(block) for block in blocks]
        if isinstance(found[0], tuple):
            return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _forget(self, *names) -> None:
        """Delete attributes of an earlier fit."""
        for name in names:
            vars(self).pop(name, None)

    def _require_finite_squares(self, matrix, is_present) -> None:
        """Require numbers with finite squares of the rows of the mask."""
        if self._squares_columns:
            names = self.design_.names
            check_sizes(matrix, type(self).__name__, names, is_present)

    def _warn_of_dependence(
        self, rank: int, n_rows: int, find_dependent: Callable[[], np.ndarray]
    ) -> None:
        """Warn of linearly dependent columns, whose rank is without the intercept.

        There is no warning where it is to be expected: if there are fewer rows than
        coefficients, if all levels of a nominal column have an indicator, or if the
        columns are constant, which is a model of the intercept alone.
        """
        n_names, n_constants = len(self.design_.names), bool(self.fit_intercept)
        n_complete = sum(
            term.kind == NOMINAL and term.reference is None and len(term.names) > 0
            for term in self.design_.terms
        )
        n_known = max(0, n_complete - (not n_constants), n_names + n_constants - n_rows)
        if rank == 0 or rank >= n_names - n_known:
            return
        listed = name_some(self.coef_names_[find_dependent()].tolist())
        warn_caller(
            f"Columns are linearly dependent or constant: {listed}. The rank is {rank} "
            f"of {n_names} columns. Of all coefficients that fit equally well, those "
            "with the smallest norm of the slopes are used; those that the rows do not "
            "determine have no standard error.",
            UserWarning,
        )

    @staticmethod
    def _is_plain_table(X, categorical_features):
        """Whether the table is read as one array of numbers."""
        is_from_dtype = categorical_features is None or (
            isinstance(categorical_features, str)
            and categorical_features == "from_dtype"
        )
        is_numeric = isinstance(X, np.ndarray) and X.dtype.kind in "biufc"
        return is_from_dtype and (issparse(X) or is_numeric)

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


def name_columns(X) -> list[str]:
    """List the names of the columns of a table; x0, x1, ... if it has none."""
    table = open_table(X)
    names = table.names
    return list(default_names(table.n_columns) if names is None else names)


def select_columns(X, names):
    """Select columns of a data frame by name; other tables are left as they are."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ValueError(
            f"The table has no column {missing[0]!r}, which the model uses; there are "
            f"{', '.join(map(repr, frame.columns[:20]))}."
        )
    return X if names == frame.columns else frame.select(names).to_native()


def require_all_rows(X) -> None:
    """Raise TypeError for a table that is read in blocks."""
    if isinstance(X, BlockSource):
        raise TypeError(
            f"{X._describe()} is read in blocks, but this method needs all of its rows "
            "in memory: read the table, or a part of it, with io.read_table, or write "
            "predictions with io.predict_to."
        )


class BaseLinearClassifier(ClassifierMixin, BaseLinearModel):
    """Predictions of a linear classifier with ``classes_`` and ``decision_function``.

    The scores of more than two classes are logarithms of their probabilities up to a
    number for each row; for two classes there is one score, that of the second minus
    that of the first.
    """

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.

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
        return self._choose_classes(self.decision_function(X))

    def _choose_classes(self, scores: np.ndarray) -> np.ndarray:
        """Choose the classes with the largest scores."""
        is_second = require_scores(scores).ndim == 1
        numbers = (scores > 0).astype(np.intp) if is_second else scores.argmax(axis=1)
        return self.classes_[numbers]

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Compute the probability P(y|x) of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return find_probabilities(self.decision_function(X))

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray:
        """Compute the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Natural logarithms in the order of ``classes_``; finite even where the
            probability underflows.
        """
        return find_log_probabilities(self.decision_function(X))


def find_probabilities(scores: np.ndarray) -> np.ndarray:
    """Compute the probabilities of the classes from their scores."""
    if scores.ndim == 2:
        return softmax(scores, axis=1)
    return np.column_stack((expit(-scores), expit(scores)))


def find_log_probabilities(scores: np.ndarray) -> np.ndarray:
    """Compute logarithms of the probabilities of the classes from their scores."""
    if scores.ndim == 2:
        return log_softmax(scores, axis=1)
    return -np.column_stack((np.logaddexp(0, scores), np.logaddexp(0, -scores)))
