"""Binning of neighbouring values in sorted columns (分箱)."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.tree.encode._rank import bin_sorted_columns
from sklearn_textbook.tree.encode.columns import NUMERIC

LARGEST_MAX_BINS = 65535  # so that the index of a bin fits into 16 bits


def check_max_bins(max_bins):
    """Require None or a number of bins.

    Parameters
    ----------
    max_bins : object
        The parameter.

    Raises
    ------
    ValueError
        If it is neither None nor an integer from 2 to 65535.
    """
    check_integer("max_bins", max_bins, 2, LARGEST_MAX_BINS, accepts_none=True)


def bin_columns(order, values, n_distinct, n_missing, kinds, max_bins, n_threads):
    """Bin the numeric columns that have more distinct values than ``max_bins``.

    See :func:`encode_table` for the rule.

    Parameters
    ----------
    order : ndarray of uint32, shape (n_columns, n_rows)
        Rows of every column, sorted; the marks of new values become those of bins.
    values : ndarray of float64, shape (n_columns, n_rows)
        Distinct values of every column. Scratch afterwards, if a column is binned.
    n_distinct : ndarray of int64, shape (n_columns,)
        Number of distinct values; becomes the number of bins.
    n_missing : ndarray of int64, shape (n_columns,)
        Number of missing values.
    kinds : tuple of str
        Kinds of the columns.
    max_bins : int or None
        Largest number of bins; None for no binning.
    n_threads : int
        Number of threads.

    Returns
    -------
    values : ndarray of float64, shape (n_columns, n_rows or largest n_distinct)
        Smallest value of every bin, or the distinct values.
    upper_values : ndarray of float64, of the same shape
        Largest value of every bin; the same array if no column is binned.
    """
    if max_bins is None:
        return values, values
    is_binned = np.array([kind == NUMERIC for kind in kinds])
    is_binned &= n_distinct > max_bins
    if not is_binned.any():
        return values, values
    upper_values = np.empty(values.shape)
    bin_sorted_columns(
        order,
        values,
        upper_values,
        n_distinct,
        n_missing,
        is_binned.astype(np.uint8),
        max_bins,
        n_threads,
    )
    # Few values per column remain, so the memory for one per row is freed.
    width = int(n_distinct.max())
    values = values[:, :width].copy()
    upper_values = upper_values[:, :width].copy()
    upper_values[~is_binned] = values[~is_binned]
    return values, upper_values
