"""Reading numeric targets."""

from __future__ import annotations

from sklearn.utils import check_consistent_length

from sklearn_textbook._contract.labels import check_numbers
from sklearn_textbook._contract.tables import check_sizes


def read_numeric_targets(y, X, estimator, is_present=None):
    """Read targets that are numbers."""
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
