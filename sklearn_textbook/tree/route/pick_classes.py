"""Class proportions -> predicted class."""

from __future__ import annotations

import numpy as np


def pick_classes(shares, tolerance):
    """Return the class with the largest proportion, up to a tolerance.

    Parameters
    ----------
    shares : ndarray of float64, shape (n_rows, n_classes)
        Class proportions.
    tolerance : float
        A class is chosen over an earlier one only if its proportion is larger by more.

    Returns
    -------
    best : ndarray of int64, shape (n_rows,)
        Indices of the classes.
    """
    best = np.zeros(len(shares), dtype=np.int64)
    largest = shares[:, 0].copy()
    for number in range(1, shares.shape[1]):
        is_larger = shares[:, number] > largest + tolerance
        best[is_larger] = number
        largest[is_larger] = shares[is_larger, number]
    return best
