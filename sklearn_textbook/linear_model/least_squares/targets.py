"""Reading numeric targets."""

from __future__ import annotations

from sklearn.utils import check_consistent_length

from sklearn_textbook._contract.finite import check_sizes
from sklearn_textbook._contract.labels import check_numbers


def read_numeric_targets(y, X, estimator, is_present=None):
    """Read targets that are numbers.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_targets)
        One or several targets per row.
    X : object with a length or shape
        The rows that they belong to.
    estimator : estimator
        For the messages.
    is_present : ndarray of bool, shape (n_rows,), or None, default=None
        Mask of the rows to use; None: all.

    Returns
    -------
    Y : ndarray of float64, shape (n_present,) or (n_present, n_targets)
        The targets of these rows.

    Raises
    ------
    ValueError
        If there are none, they are not finite numbers, too large for squares, or not as
        many as the rows.
    """
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but "
            "the target y is None."
        )
    name = type(estimator).__name__
    Y = check_numbers(y, name, is_present=is_present)
    check_consistent_length(X, Y)
    Y = Y if is_present is None else Y[is_present]
    check_sizes(Y, name, is_present=is_present, what="y")
    return Y
