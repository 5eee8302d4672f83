"""Errors for missing, infinite and too large values, with their place and a remedy."""

from __future__ import annotations

from itertools import chain

import numpy as np
import scipy  # submodules are loaded on first use

#: Formats of scipy whose index arrays it can check itself.
COMPRESSED = ("csr", "csc", "bsr")
#: Squares of numbers up to this one, and sums of very many of them, do not overflow.
LARGEST_VALUE = 1e145


def check_sparse_format(X, name="X"):
    """Require valid index arrays, which compiled loops rely on, of a sparse matrix.

    Parameters
    ----------
    X : object
        Only scipy's sparse arrays and matrices are checked.
    name : str, default="X"
        Its name in the message.

    Raises
    ------
    ValueError
        If indices of its entries are out of range or out of order.
    """
    if not scipy.sparse.issparse(X):
        return
    try:
        if X.format in COMPRESSED:
            X.check_format(full_check=True)
        elif X.format == "dia":
            _check_diagonals(X)
        else:
            for indices, size in zip(_list_places(X), X.shape, strict=True):
                if indices.size and not 0 <= indices.min() <= indices.max() < size:
                    raise ValueError(f"an index is not between 0 and {size - 1}")
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(
            f"{name} is a malformed sparse matrix of format {X.format!r}: {error}."
        ) from None


def _check_diagonals(X):
    """Require the offset of every stored diagonal of format "dia", once each."""
    if X.data.ndim != 2 or X.offsets.shape != (len(X.data),):
        raise ValueError(
            f"data of shape {X.data.shape} requires one offset per row, but the "
            f"offsets have shape {X.offsets.shape}"
        )
    if len(np.unique(X.offsets)) != len(X.offsets):
        raise ValueError("an offset occurs more than once")


def _list_places(X):
    """List row and column numbers of the entries of formats "coo", "dok" and "lil"."""
    if X.format == "dok":
        return np.array([*X.keys()], dtype=np.int64).reshape(X.nnz, X.ndim).T
    if X.format == "coo":
        if {len(indices) for indices in X.coords} != {len(X.data)}:
            raise ValueError("the numbers of coordinates and entries differ")
        return X.coords
    lengths = [len(columns) for columns in X.rows]
    if lengths != [len(values) for values in X.data] or len(lengths) != X.shape[0]:
        raise ValueError("the numbers of coordinates and entries differ")
    columns = np.fromiter(chain.from_iterable(X.rows), np.int64, sum(lengths))
    return np.repeat(np.arange(len(lengths)), lengths), columns


def check_finite_rows(
    X,
    estimator_name,
    feature_names=None,
    is_present=None,
    *,
    remedy=None,
    allows_nan=False,
):
    """Require a matrix without missing and infinite values.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns)
        Numbers.
    estimator_name : str
        Name of the estimator for the message.
    feature_names : array-like of str or None, default=None
        Names of the columns for the message; None: their numbers.
    is_present : ndarray of bool or None, default=None
        Which rows of the user's table these are; None: all.
    remedy : str or None, default=None
        What the message advises if a value is missing; None: imputation.
    allows_nan : bool, default=False
        Whether values may be missing.

    Raises
    ------
    ValueError
        If a value is missing or infinite, with the place of the first one.
    """
    from sklearn import get_config  # slow to import, and not needed to print a tree

    if get_config()["assume_finite"]:
        return
    values = X.data if scipy.sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum needs no memory. It is not finite if a value is not, or if it overflows.
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
        if allows_nan and not np.isinf(values).any():
            return
    is_wrong = np.isinf if allows_nan else lambda values: ~np.isfinite(values)
    (row, column), value = _find_first(X, is_wrong, is_present)
    name = column if feature_names is None else repr(str(feature_names[column]))
    place = f"row {row}, column {name}"
    if np.isnan(value):
        if remedy is None:
            remedy = (
                "impute them first, for example with make_pipeline(SimpleImputer(), "
                f"{estimator_name}()), or drop these rows or columns"
            )
        raise ValueError(
            f"Input X contains NaN, first in {place}. {estimator_name} does not accept "
            f"missing values: {remedy}."
        )
    raise ValueError(
        f"Input X contains infinity, first in {place}. {estimator_name} requires "
        "finite numbers: replace infinite values, or drop these rows."
    )


def check_sizes(
    X, estimator_name, feature_names=None, is_present=None, *, what="Column"
):
    """Require numbers whose squares can be added up.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_columns), or ndarray
        Finite numbers.
    estimator_name : str
        Name of the estimator for the message.
    feature_names : array-like of str or None, default=None
        Names of the columns for the message; None: their numbers.
    is_present : ndarray of bool or None, default=None
        Which rows of the user's table these are; None: all.
    what : str, default="Column"
        Subject of the message; "Column" is followed by the column's name.

    Raises
    ------
    ValueError
        If one is larger than ``LARGEST_VALUE``.
    """
    values = X.data if scipy.sparse.issparse(X) else X
    if max(values.max(initial=0.0), -values.min(initial=0.0)) <= LARGEST_VALUE:
        return
    (row, *rest), value = _find_first(
        X, lambda values: np.abs(values) > LARGEST_VALUE, is_present
    )
    if what == "Column":
        name = rest[0] if feature_names is None else repr(str(feature_names[rest[0]]))
        what = f"Column {name}"
    raise ValueError(
        f"{what} has the value {value:.3g} in row {row}, whose square overflows; "
        f"{estimator_name} accepts values of at most {LARGEST_VALUE:g}. Divide it "
        "by a power of ten."
    )


def _find_first(X, find_wrong, is_present):
    """Find the row and column of the first invalid value, and this value."""
    if scipy.sparse.issparse(X):
        entries = X.tocoo()
        first = int(np.argmax(find_wrong(entries.data)))
        place = [int(entries.row[first]), int(entries.col[first])]
        value = entries.data[first]
    else:
        place = np.argwhere(find_wrong(X))[0].tolist()
        value = X[tuple(place)]
    if is_present is not None:
        place[0] = int(np.flatnonzero(is_present)[place[0]])
    return place, value
