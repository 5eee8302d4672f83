"""Scores of the columns of a table, for SelectKBest and similar selectors."""

from __future__ import annotations

from numbers import Integral, Real

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sklearn_textbook._contract.labels import decode_dictionary
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.criteria._counts import (
    check_complete,
    cross_tabulate,
    encode_labels,
    read_numbers,
)
from sklearn_textbook.criteria._impurity import compute_gini, compute_gini_index
from sklearn_textbook.criteria._information import gain_ratio, information_gain
from sklearn_textbook.criteria._threshold import best_threshold


def _holds_numbers(column) -> bool:
    """Whether a column is numeric by its dtype, or by its values if it has objects."""
    if column.dtype.kind == "O":
        return all(
            value is None or (isinstance(value, Real) and not isinstance(value, bool))
            for value in column.tolist()
        )
    return column.dtype.kind in "iuf"


def _read_series(series):
    native = series.to_native()
    decoded = decode_dictionary(native)
    return series.to_numpy() if decoded is native else np.asarray(decoded)


def _hide_marks(column, missing_values):
    """Return the column with None or NaN where it has the mark of missing values."""
    if missing_values is None:
        return column
    if column.dtype.kind in "iuf":
        return np.where(column == missing_values, np.nan, column)
    hidden = column.astype(object)
    # Comparisons with pandas.NA have no truth value.
    hidden[[(value == missing_values) is True for value in hidden.tolist()]] = None
    return hidden


def _read_columns(X, missing_values):
    """Return the columns, whether each is numeric, and the names or None."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        series = list(frame.iter_columns())  # names may be numbers
        columns = [_hide_marks(_read_series(one), missing_values) for one in series]
        is_numeric = [one.dtype.is_numeric() for one in series]
        return columns, np.array(is_numeric), list(frame.columns)
    if sparse.issparse(X):
        by_column = X.tocsc()
        n_columns = X.shape[1]
        columns = [by_column[:, [i]].toarray().ravel() for i in range(n_columns)]
    else:
        matrix = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if matrix.ndim != 2:
            raise ValueError(f"X must be two-dimensional; got shape {matrix.shape}")
        columns = list(matrix.T)
    columns = [_hide_marks(column, missing_values) for column in columns]
    return columns, np.array([_holds_numbers(column) for column in columns]), None


def _choose_nominal(categorical_features, is_numeric, names):
    """Return a mask of the columns whose values are levels."""
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return ~is_numeric
        if categorical_features == "all":
            return np.ones(len(is_numeric), dtype=bool)
        raise ValueError(
            "categorical_features must be 'from_dtype', 'all', a mask, indices or names"
            f"; got {categorical_features!r}"
        )
    chosen = np.asarray(categorical_features)
    nominal = np.zeros(len(is_numeric), dtype=bool)
    if chosen.dtype == bool:
        if chosen.shape != nominal.shape:
            raise ValueError(
                f"categorical_features as a mask must have shape {nominal.shape}; got "
                f"{chosen.shape}"
            )
        return chosen
    for feature in chosen.tolist():
        if isinstance(feature, str) and feature in (names or ()):
            nominal[names.index(feature)] = True
        elif isinstance(feature, Integral) and 0 <= feature < len(nominal):
            nominal[feature] = True
        else:
            raise ValueError(
                f"categorical_features must be columns of X; got {feature!r}"
            )
    return nominal


def _score_columns(
    X, y, categorical_features, missing_values, score_nominal, score_numeric
):
    columns, is_numeric, names = _read_columns(X, missing_values)
    nominal = _choose_nominal(categorical_features, is_numeric, names)
    classes, _ = encode_labels(y, "y")
    check_complete(classes, "y")
    scores = np.zeros(len(columns))
    for i, column in enumerate(columns):
        label = repr(names[i]) if names else str(i)
        try:
            if nominal[i]:
                scores[i] = score_nominal(column, classes)
            else:
                numbers = read_numbers(column, "x")
                known = np.unique(numbers[~np.isnan(numbers)])
                if len(known) > 1:
                    scores[i] = score_numeric(numbers, classes)
        except (TypeError, ValueError) as error:
            raise type(error)(f"column {label} of X (as x): {error}") from None
    return scores


def information_gain_score(
    X: MatrixLike,
    y: ArrayLike,
    *,
    categorical_features: ArrayLike = "from_dtype",
    missing_values: float | str | None = None,
) -> np.ndarray:
    """Score each column by its information gain in bits (信息增益).

    A nominal column is split into all its levels (:func:`information_gain`), a numeric
    column into two parts at its best threshold (:func:`best_threshold`).

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table. Missing values are handled as in :func:`information_gain`.
    y : array-like of shape (n_samples,)
        Class labels, without missing values.
    categorical_features : {"from_dtype", "all"} or array-like, default="from_dtype"
        Nominal columns: "from_dtype" for all columns that are not numeric, "all" for
        every column, or a mask, indices or names.
    missing_values : int, float or str, default=None
        An additional value that represents missing values, as in SimpleImputer.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores; larger values are better, and 0 means that a column cannot be split.

    Raises
    ------
    ValueError
        If X is not two-dimensional, if categorical_features is invalid, or as in
        :func:`information_gain` and :func:`best_threshold`, naming the column.

    See Also
    --------
    sklearn.feature_selection.mutual_info_classif : Estimates in nats; for numeric
        columns from nearest neighbours instead of a single threshold.

    Notes
    -----
    SelectKBest accepts only numbers without missing values. Encode the table with an
    OrdinalEncoder that has a code for missing values, and pass both settings to the
    score function, as in the second example. The encoder recognises only NaN as missing
    and treats None as a level, so pass pandas frames with strings or categories to it,
    and polars frames after ``to_pandas()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn_textbook.criteria import information_gain_score
    >>> X, y = load_iris(return_X_y=True)
    >>> information_gain_score(X, y).round(3).tolist()
    [0.557, 0.283, 0.918, 0.918]
    >>> SelectKBest(information_gain_score, k=2).fit(X, y).get_support(indices=True)
    array([2, 3])

    Strings, some of which are missing:

    >>> from functools import partial
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OrdinalEncoder
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> X, y = load_watermelon(
    ...     "2.0alpha", language="en", return_X_y=True, as_frame=True
    ... )
    >>> score = partial(
    ...     information_gain_score, categorical_features="all", missing_values=-1
    ... )
    >>> encoder = OrdinalEncoder(encoded_missing_value=-1)
    >>> make_pipeline(encoder, SelectKBest(score, k=2)).fit(
    ...     X, y
    ... ).get_feature_names_out().tolist()
    ['texture', 'umbilicus']
    """
    return _score_columns(
        X,
        y,
        categorical_features,
        missing_values,
        information_gain,
        lambda x, y: best_threshold(x, y, "entropy")[1],
    )


def _gain_ratio_of_numbers(x, y):
    threshold, gain = best_threshold(x, y, "entropy")
    if gain == 0:
        return 0.0
    side = np.where(np.isnan(x), None, x <= threshold)
    return gain_ratio(side, y)


def gain_ratio_score(
    X: MatrixLike,
    y: ArrayLike,
    *,
    categorical_features: ArrayLike = "from_dtype",
    missing_values: float | str | None = None,
) -> np.ndarray:
    """Score each column by its gain ratio (信息增益比).

    A nominal column is split into all its levels (:func:`gain_ratio`). A numeric column
    is split into two parts at the threshold with the largest information gain, as in
    C4.5, and its score is the gain ratio of this split (without C4.5's correction for
    the number of candidates).

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table. Missing values are handled as in :func:`information_gain`.
    y : array-like of shape (n_samples,)
        Class labels, without missing values.
    categorical_features : {"from_dtype", "all"} or array-like, default="from_dtype"
        As in :func:`information_gain_score`.
    missing_values : int, float or str, default=None
        As in :func:`information_gain_score`.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores from 0 to 1; 0 means that a column cannot be split.

    Raises
    ------
    ValueError
        As in :func:`information_gain_score`.

    Examples
    --------
    >>> from sklearn_textbook.criteria import gain_ratio_score
    >>> from sklearn_textbook.datasets import load_loan
    >>> X, y = load_loan(return_X_y=True)
    >>> gain_ratio_score(X, y).round(3).tolist()
    [0.052, 0.352, 0.433, 0.232]
    """
    return _score_columns(
        X, y, categorical_features, missing_values, gain_ratio, _gain_ratio_of_numbers
    )


def _decrease_gini(x, y):
    table = cross_tabulate(x, y, None)
    if table.known_fraction == 0:
        return 0.0
    decrease = compute_gini(table.y_weight) - compute_gini_index(table)
    return max(0.0, table.known_fraction * decrease)


def gini_score(
    X: MatrixLike,
    y: ArrayLike,
    *,
    categorical_features: ArrayLike = "from_dtype",
    missing_values: float | str | None = None,
) -> np.ndarray:
    r"""Score each column by the decrease of the Gini index (基尼指数).

    .. math:: \rho \, \bigl(\mathrm{Gini}(\tilde D)
              - \mathrm{Gini\_index}(\tilde D, A)\bigr)

    over the rows with a known value, where :math:`\rho` is their fraction. A nominal
    column is split into all its levels (:func:`gini_index`), a numeric column into two
    parts at its best threshold (:func:`best_threshold`).

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    y : array-like of shape (n_samples,)
        Class labels, without missing values.
    categorical_features : {"from_dtype", "all"} or array-like, default="from_dtype"
        As in :func:`information_gain_score`.
    missing_values : int, float or str, default=None
        As in :func:`information_gain_score`.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores; larger values are better, and 0 means that a column cannot be split.

    Raises
    ------
    ValueError
        As in :func:`information_gain_score`.

    Examples
    --------
    >>> from sklearn_textbook.criteria import gini_score
    >>> from sklearn_textbook.datasets import load_loan
    >>> X, y = load_loan(return_X_y=True)
    >>> gini_score(X, y).round(3).tolist()
    [0.053, 0.16, 0.213, 0.196]
    """
    return _score_columns(
        X,
        y,
        categorical_features,
        missing_values,
        _decrease_gini,
        lambda x, y: best_threshold(x, y, "gini")[1],
    )
