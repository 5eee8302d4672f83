"""Shares of the classes -> the class that is predicted."""

from __future__ import annotations

import numpy as np


def pick_classes(shares, tolerance):
    """Find the class of the largest share; differences within a tolerance are none.

    Parameters
    ----------
    shares : ndarray of float64, shape (n_rows, n_classes)
        Shares of the classes.
    tolerance : float
        A class takes over from an earlier one only if its share is larger by more.

    Returns
    -------
    best : ndarray of int64, shape (n_rows,)
        Numbers of the classes.
    """
    best = np.zeros(len(shares), dtype=np.int64)
    largest = shares[:, 0].copy()
    for number in range(1, shares.shape[1]):
        is_larger = shares[:, number] > largest + tolerance
        best[is_larger] = number
        largest[is_larger] = shares[is_larger, number]
    return best
