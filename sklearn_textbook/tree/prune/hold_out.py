"""Which rows grow a tree and which judge it: hold-out and folds, both stratified."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state


def sort_by_target(target, rows, random_state):
    """Put rows into an order in which neighbours have the same class, or near values.

    Parameters
    ----------
    target : Target
        Classes or values; of several outputs all classes, or the first one's values.
    rows : ndarray of int
        The rows to order.
    random_state : numpy.random.RandomState
        Decides the order of equal ones.

    Returns
    -------
    ndarray of int
        The rows.
    """
    rows = random_state.permutation(rows)
    if target.is_classifier:
        keys = target.codes[rows].T
        return rows[np.lexsort(keys[::-1])]
    return rows[np.argsort(target.values[rows, 0], kind="stable")]


def deal_folds(target, is_used, n_folds, random_state=None):
    """Give every row a fold, so that all folds have nearly the same classes or values.

    Rows are put in random order, sorted by class, and dealt to the folds in turn. For
    regression they are sorted by value, and every run of ``n_folds`` neighbours goes
    to the folds in random order.

    Parameters
    ----------
    target : Target
        Classes or values of all rows.
    is_used : ndarray of bool, shape (n_rows,)
        The rows to deal.
    n_folds : int
        Number of folds; with fewer rows, every row is a fold.
    random_state : int, RandomState instance or None, default=None
        Seed; None: always the same.

    Returns
    -------
    fold : ndarray of int, shape (n_rows,)
        Number of each row's fold; -1 for a row that is not used.
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


def choose_held_out(target, is_used, share, random_state=None):
    """Choose a share of the rows, class by class or over the whole range of values.

    Parameters
    ----------
    target : Target
        Classes or values of all rows.
    is_used : ndarray of bool, shape (n_rows,)
        The rows to choose from.
    share : float
        Share of the rows, rounded to at least one row on either side.
    random_state : int, RandomState instance or None, default=None
        Seed; None: always the same.

    Returns
    -------
    is_held_out : ndarray of bool, shape (n_rows,)
        The chosen rows.

    Raises
    ------
    ValueError
        If there is only one row to choose from.
    """
    rows = np.flatnonzero(is_used)
    if len(rows) < 2:
        raise ValueError(
            f"There is {len(rows)} sample that weighs something; holding rows out for "
            "validation needs at least 2 samples. Give X_val and y_val instead."
        )
    random_state = check_random_state(0 if random_state is None else random_state)
    rows = sort_by_target(target, rows, random_state)
    n_chosen = min(max(1, round(share * len(rows))), len(rows) - 1)
    # Steps of equal length through the sorted rows, from a random start.
    start = random_state.random_sample()
    places = (np.arange(n_chosen) + start) * len(rows) / n_chosen
    # The sum of a large number and a start near 1 may be rounded up.
    places = np.minimum(places.astype(np.intp), len(rows) - 1)
    is_held_out = np.zeros(len(is_used), dtype=bool)
    is_held_out[rows[places]] = True
    return is_held_out
