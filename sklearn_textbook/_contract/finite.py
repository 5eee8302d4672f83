"""Refusing missing and infinite values, with the place and what to do."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config


def check_finite_rows(X, estimator_name, feature_names=None):
    """Require a matrix without missing and infinite values.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        Numbers.
    estimator_name : str
        Who does not accept them.
    feature_names : array-like of str or None, default=None
        Names of the columns for the message; None: their numbers.

    Raises
    ------
    ValueError
        If a value is missing or infinite: where the first is, and what to do.
    """
    if get_config()["assume_finite"]:
        return
    values = X.data if issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum needs no memory; it is not finite if a value is not, or if it overflows.
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    if issparse(X):
        entries = X.tocoo()
        first = int(np.argmin(np.isfinite(entries.data)))
        row, column = int(entries.row[first]), int(entries.col[first])
        value = entries.data[first]
    else:
        row, column = map(int, np.argwhere(~np.isfinite(X))[0])
        value = X[row, column]
    name = column if feature_names is None else repr(str(feature_names[column]))
    place = f"row {row}, column {name}"
    if np.isnan(value):
        raise ValueError(
            f"Input X contains NaN, first in {place}. {estimator_name} does not accept "
            "missing values: fill them before, for instance by make_pipeline("
            f"SimpleImputer(), {estimator_name}()), or leave out these rows or columns."
        )
    raise ValueError(
        f"Input X contains infinity, first in {place}. {estimator_name} needs finite "
        "numbers: replace infinite values, or leave out these rows."
    )
