"""Reading labels, and tables whose features are not made of columns."""

from __future__ import annotations

import narwhals as nw
import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from sklearn_textbook._contract.finite import check_sparse_format
from sklearn_textbook._contract.labels import check_target
from sklearn_textbook._contract.numeric_table import check_columns


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
