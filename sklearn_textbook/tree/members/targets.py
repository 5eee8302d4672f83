"""Targets of members with other classes or values than those read."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.target import Target


def make_class_target(codes, n_classes):
    """Make a target from class indices.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,) or (n_rows, n_outputs)
        Class indices of the rows.
    n_classes : int or sequence of int
        Number of classes, or that of each output.

    Returns
    -------
    target : Target
        Target for ``MemberGrower.grow``.
    """
    codes = np.asarray(codes, dtype=np.int32)
    codes = np.ascontiguousarray(codes.reshape(len(codes), -1))
    return Target(codes, None, np.atleast_1d(np.asarray(n_classes, dtype=np.int64)))


def make_value_target(values):
    """Make a target from values.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,) or (n_rows, n_outputs)
        Values of the rows.

    Returns
    -------
    target : Target
        Target for ``MemberGrower.grow``.
    """
    values = np.asarray(values, dtype=np.float64)
    values = np.ascontiguousarray(values.reshape(len(values), -1))
    return Target(None, values, np.ones(values.shape[1], dtype=np.int64))
