"""Reading the table of an estimator with a design, and further rows like it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from sklearn_textbook._contract.blocks import BLOCK_ROWS, BlockSource, list_blocks
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook._contract.tables import check_finite_rows, check_sparse_format
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.design.design import (
    MISSING_REMEDY,
    Design,
    read_rows,
)
from sklearn_textbook.linear_model.design.formula import Formula
from sklearn_textbook.tree.encode.block_columns import count_rows_from
from sklearn_textbook.tree.encode.read import open_table


def select_rows(sample_weight, n_rows, *, is_rescaled: bool = False):
    """Positive weights (None: all 1), and the mask of their rows (None: all)."""
    weight = check_weights(sample_weight, n_rows, is_rescaled=is_rescaled)
    if weight is None or weight.all():
        return weight, None
    is_present = weight > 0
    return weight[is_present], is_present


def read_training_rows(
    estimator: BaseEstimator,
    X,
    sample_weight,
    reference_level: str | dict | None,
    *,
    keeps_all_levels: bool = False,
    is_rescaled: bool = False,
    accepts_sparse: bool = True,
    min_rows: int = 1,
    formula: Formula | None = None,
) -> tuple[np.ndarray | csr_array, np.ndarray | None, np.ndarray | None]:
    """Read the training rows that count, as numbers.

    The estimator has ``categorical_features`` and ``missing``; this sets ``design_``,
    ``n_features_in_`` and ``feature_names_in_``.

    Returns (matrix, weight, is_present).
    """
    if issparse(X) and not accepts_sparse:
        check_array(X)  # raises scikit-learn's error
    check_columns(estimator, X)
    check_sparse_format(X)
    if keeps_all_levels and estimator.missing == "mean":
        raise ValueError(
            "missing='mean' requires the means of all rows; use missing='drop' or "
            "'error' for partial_fit."
        )
    weight, selected = select_rows(
        sample_weight, _count_rows(X), is_rescaled=is_rescaled
    )
    matrix, design, is_present = read_rows(
        X,
        estimator.categorical_features,
        reference_level,
        estimator.missing,
        weight,
        selected,
        keeps_all_levels=keeps_all_levels,
        levels=None if formula is None else formula.levels,
    )
    estimator.design_ = design
    estimator.n_features_in_ = len(design.terms)
    if matrix.shape[0] < min_rows:
        raise ValueError(
            f"Found array with {matrix.shape[0]} sample(s) that can be used "
            f"(shape={matrix.shape}) while a minimum of {min_rows} is required by "
            f"{type(estimator).__name__}."
        )
    weight = _keep_weights(weight, selected, is_present)
    matrix = make_double(matrix)
    _add_to_design(estimator, matrix, weight, is_present)
    if formula is not None:
        estimator.design_ = add_terms(estimator, formula, matrix, weight)
        matrix = estimator.design_.combine(matrix)
        check_finite_design(estimator, matrix, is_present)
    return matrix, weight, is_present


def add_terms(estimator, formula: Formula, matrix, weight) -> Design:
    """Use the terms of a formula in place of the encoded columns."""
    design = estimator.design_
    kinds = {term.name: term.kind for term in design.terms}
    has_intercept = bool(estimator.fit_intercept or estimator._has_thresholds)
    terms = formula.choose_coding(kinds, has_intercept=has_intercept)
    if getattr(estimator, "weight_type", "frequency") != "frequency":
        weight = None
    return design.add_terms(terms, matrix, weight)


def read_more_rows(estimator, X, sample_weight, *, is_rescaled: bool = False):
    """Read further training rows like the first ones; returns the same."""
    whole = estimator.design_
    estimator.design_ = replace(whole, model_terms=())
    # A level that no earlier row has must be declared.
    matrix = read_like_training(estimator, X, "error")
    weight, selected = select_rows(
        sample_weight, matrix.shape[0], is_rescaled=is_rescaled
    )
    is_present = selected
    if estimator.missing == "drop":
        is_complete = ~np.isnan(sum_rows(matrix))
        is_present = is_complete if selected is None else is_complete & selected
        weight = _keep_weights(weight, selected, is_present)
        n_dropped = np.count_nonzero(
            ~is_complete if selected is None else selected & ~is_complete
        )
        design = estimator.design_
        estimator.design_ = replace(design, n_dropped=design.n_dropped + int(n_dropped))
    matrix = matrix if is_present is None else matrix[is_present]
    _add_to_design(estimator, matrix, weight, is_present)
    if whole.model_terms:
        estimator.design_ = replace(estimator.design_, model_terms=whole.model_terms)
        matrix = estimator.design_.combine(matrix)
        check_finite_design(estimator, matrix, is_present)
    return matrix, weight, is_present


def _add_to_design(estimator, matrix, weight, is_present) -> None:
    """Require finite numbers, and add the rows to the means of the design."""
    check_finite_design(estimator, matrix, is_present)
    if estimator.missing != "mean":
        with np.errstate(over="ignore"):
            estimator.design_ = estimator.design_.add_rows(matrix, weight)


def _keep_weights(weight, selected, is_present):
    """Weights of the rows that remain of those selected."""
    if weight is None or is_present is selected:
        return weight
    return weight[is_present if selected is None else is_present[selected]]


def read_new_rows(estimator, X, handle_unknown: str = "mean"):
    """Read rows to predict; they are finite, or NaN where values are missing."""
    matrix = read_like_training(estimator, X, handle_unknown)
    check_finite_design(estimator, matrix, is_training=False)
    return matrix


def read_new_blocks(
    estimator: BaseEstimator, X, handle_unknown: str = "mean"
) -> Iterator[np.ndarray | csr_array]:
    """Read rows to predict in blocks of ``BLOCK_ROWS``; X may be a BlockSource."""
    design, unseen, n_rows = estimator.design_, {}, 0
    table = None if isinstance(X, BlockSource) else X
    for codes in _read_codes(estimator, X):
        made = design.expand(
            codes, handle_unknown, table=table, first_row=n_rows, unseen=unseen
        )
        made = make_double(made)
        with count_rows_from(n_rows):
            check_finite_design(estimator, made, is_training=False)
        yield made if issparse(made) else np.ascontiguousarray(made)
        n_rows += len(codes)
    if unseen:
        design._warn_of_unseen(unseen, table)


def _read_codes(estimator, X):
    """Read blocks of ``BLOCK_ROWS`` new rows as numbers and codes."""
    if not isinstance(X, BlockSource):
        check_columns(estimator, X, reset=False)
        matrix = estimator.design_.schema.read(X)
        for rows in list_blocks(max(len(matrix), 1)):
            yield matrix[rows]
        return
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            f"{X._describe()} has names of columns, but {type(estimator).__name__} was "
            "fitted to a table without them."
        )
    waiting, n_waiting, n_rows = [], 0, 0
    for block in X.read_blocks(names.tolist()):
        with count_rows_from(n_rows):
            check_columns(estimator, block, reset=False)
            matrix = estimator.design_.schema.read(block)
        waiting.append(matrix)
        n_waiting += len(matrix)
        n_rows += len(matrix)
        while n_waiting >= BLOCK_ROWS:
            codes = np.concatenate(waiting)
            yield codes[:BLOCK_ROWS]
            waiting, n_waiting = [codes[BLOCK_ROWS:]], n_waiting - BLOCK_ROWS
    if not n_rows:
        raise ValueError(f"{X._describe()} has no rows.")
    if n_waiting:
        yield np.concatenate(waiting)


def read_like_training(estimator, X, handle_unknown):
    """Read rows, encoded like the training rows; they need not be finite."""
    check_columns(estimator, X, reset=False)
    check_sparse_format(X)
    return make_double(estimator.design_.read(X, handle_unknown))


def check_finite_design(
    estimator, matrix, is_present=None, *, is_training: bool = True
) -> None:
    """Require finite numbers; new rows may have missing ones with "drop"."""
    check_finite_rows(
        matrix,
        type(estimator).__name__,
        estimator.design_.names,
        is_present,
        remedy=MISSING_REMEDY,
        allows_nan=not is_training and estimator.design_.missing == "drop",
    )


def require_scores(scores) -> np.ndarray:
    """Require a score of each row, from which a class is predicted."""
    is_missing = np.isnan(scores.reshape(len(scores), -1)).any(axis=1)
    if is_missing.any():
        raise ValueError(
            f"{np.count_nonzero(is_missing)} of {len(scores)} rows have missing "
            f"values, first row {int(np.argmax(is_missing))}: with missing='drop' no "
            "class can be predicted for them. Leave them out, use predict_proba, which "
            "is NaN for them, or fit with missing='mean'."
        )
    return scores


def make_double(matrix):
    """Convert a matrix to double precision, a sparse one to rows."""
    matrix = matrix.tocsr() if issparse(matrix) else matrix
    return matrix.astype(np.float64, copy=False)


def sum_rows(matrix):
    """Sum the entries of each row: NaN if one is missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(matrix.sum(axis=1)).ravel()


def _count_rows(X):
    if hasattr(X, "shape"):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") else open_table(X).n_rows
