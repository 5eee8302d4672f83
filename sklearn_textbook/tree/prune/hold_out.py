"""Stratified division into training and validation rows: hold-out and folds."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state


def sort_by_target(target, rows: np.ndarray, random_state) -> np.ndarray:
    """Sort rows so that neighbours have the same class or similar values."""
    rows = random_state.permutation(rows)
    if target.is_classifier:
        keys = target.codes[rows].T
        return rows[np.lexsort(keys[::-1])]
    return rows[np.argsort(target.values[rows, 0], kind="stable")]


def deal_folds(
    target, is_used: np.ndarray, n_folds: int, random_state=None
) -> np.ndarray:
    """Assign rows to folds with nearly the same distribution of the target.

    Rows are shuffled, sorted by class, and assigned to the folds in turn. In regression
    they are sorted by value, and every ``n_folds`` consecutive rows are assigned to the
    folds in random order.
    """
    rows = np.flatnonzero(is_used)
    n_folds = min(n_folds, len(rows))
    random_state = check_random_state(0 if random_state is None else random_state)
    rows = sort_by_target(target, rows, random_state)
    dealt = np.arange(len(rows)) % n_folds
    if not target.is_classifier:
        keys = random_state.random_sample((-(-len(rows) // n_folds), n_folds))
        dealt = keys.argsort(axis=1).ravel()[: len(rows)]
    fold = np.full(len(is_used), -1)
    fold[rows] = dealt
    return fold


def choose_held_out(
    target, is_used: np.ndarray, fraction: float, random_state=None
) -> np.ndarray:
    """Choose a fraction of the rows, stratified by class or value."""
    rows = np.flatnonzero(is_used)
    if len(rows) < 2:
        raise ValueError(
            f"There is {len(rows)} sample of positive weight, but holding out rows for "
            "validation requires at least 2 samples. Give X_val and y_val instead."
        )
    random_state = check_random_state(0 if random_state is None else random_state)
    rows = sort_by_target(target, rows, random_state)
    n_chosen = min(max(1, round(fraction * len(rows))), len(rows) - 1)
    # Steps of equal length through the sorted rows, from a random start.
    start = random_state.random_sample()
    places = (np.arange(n_chosen) + start) * len(rows) / n_chosen
    # The sum of a large number and a start near 1 may be rounded up.
    places = np.minimum(places.astype(np.intp), len(rows) - 1)
    is_held_out = np.zeros(len(is_used), dtype=bool)
    is_held_out[rows[places]] = True
    return is_held_out
