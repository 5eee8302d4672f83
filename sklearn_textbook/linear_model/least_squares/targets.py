"""Reading numeric targets."""

from __future__ import annotations

from sklearn.utils import check_consistent_length

from sklearn_textbook._contract.labels import check_numbers


def read_numeric_targets(y, X, estimator):
    """Read targets that are numbers.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_targets)
        One or several targets per row.
    X : object with a length or shape
        The rows that they belong to.
    estimator : estimator
        For the messages.

    Returns
    -------
    Y : ndarray of float64, shape (n_rows,) or (n_rows, n_targets)
        The targets.

    Raises
    ------
    ValueError
        If they are none, no finite numbers, or not as many as the rows.
    """
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but "
            "the target y is None."
        )
    Y = check_numbers(y, type(estimator).__name__)
    check_consistent_length(X, Y)
    return Y
