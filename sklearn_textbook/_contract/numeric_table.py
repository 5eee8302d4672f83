"""Tables of numbers, read with the checks of scikit-learn."""

from __future__ import annotations

from contextlib import contextmanager

import narwhals as nw
import numpy as np
import scipy  # submodules are loaded on first use
from sklearn.utils.validation import validate_data

from sklearn_textbook._contract.blocks import StoredTable
from sklearn_textbook._contract.labels import find_no_number, is_no_number
from sklearn_textbook._contract.parameters import show_value
from sklearn_textbook._contract.tables import (
    refuse_other_tables,
    require_two_dimensions,
)


@contextmanager
def unique_names():
    """Name the columns that have the same name, where a frame is read."""
    try:
        yield
    except nw.exceptions.DuplicateError as error:
        _, *names = str(error).split("\n- ")
        raise ValueError(
            f"Column names of X must be unique: {', '.join(names)}."
        ) from None


def check_columns(estimator, X, *target, reset: bool = True) -> None:
    """Set, or compare, the number and the names of the columns; values are not read."""
    if isinstance(X, StoredTable):
        X.set_columns(estimator)
        return
    if reset:
        refuse_other_tables(X)
    else:
        require_two_dimensions(X)
        if has_names_of_fit(estimator, X):
            return
    with unique_names():
        validate_data(estimator, X, *target, reset=reset, skip_check_array=True)


def has_names_of_fit(estimator, X):
    """Whether X is a frame of pandas with the columns of the training table."""
    columns = getattr(X, "columns", None)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or not hasattr(columns, "tolist"):
        return False
    return columns.tolist() == names.tolist()


def read_numeric_table(estimator, X, *target, **options):
    """Call scikit-learn's ``validate_data``; errors name the column without numbers."""
    refuse_other_tables(X)
    name = type(estimator).__name__
    if hasattr(X, "columns") and len(X) > 0 and len(X.columns) == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({len(X)}, 0)) while a minimum of 1 "
            f"is required by {name}."
        )
    try:
        with unique_names():
            return validate_data(estimator, X, *target, **options)
    except (TypeError, ValueError) as error:
        message = str(error).partition("\n")[0].rstrip(".")
        is_date = isinstance(error, np.exceptions.DTypePromotionError)
        is_named = message == "Complex data not supported" or is_no_number(error)
        if scipy.sparse.issparse(X) or not (is_date or is_named):
            raise
        require_two_dimensions(X)
        place, value = _find_first(X)
        if is_date:
            message = "dates and durations are not numbers"
        kind = TypeError if is_date else type(error)
        remedy = "encode it, for example with OneHotEncoder"
        if hasattr(estimator, "categorical_features"):
            remedy = "set categorical_features='from_dtype' for indicators of levels"
        raise kind(
            f"{message.partition(':')[0]}: {place} contains {show_value(value)}. "
            f"{name} requires numeric columns: leave this column out, or {remedy}."
        ) from None


def _find_first(X):
    """Find the place and the value of the first one that is no number, by columns."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        # One array of all columns would make them all complex, or objects.
        series = frame.iter_columns()
        columns = [np.asarray(one.to_numpy(), dtype=object) for one in series]
        names = [repr(name) for name in map(str, frame.columns)]
    else:
        columns = np.asarray(X, dtype=object).T
        names = range(len(columns))
    for name, values in zip(names, columns, strict=True):
        try:
            values.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            row, value = find_no_number(values)
            return f"column {name}, row {row},", value
    raise AssertionError("every value is a number")
