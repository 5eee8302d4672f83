"""Random states from seeds, for ensembles that need one or two for every tree."""

from __future__ import annotations

import threading
from numbers import Integral

from numpy.random import RandomState
from sklearn.utils import check_random_state

_kept = threading.local()


def borrow_random_state(random_state):
    """Turn a seed into a random state that draws what ``RandomState(seed)`` draws.

    To make a new one takes longer than to draw some thousand rows, as NumPy collects
    chance from the machine before it heeds the seed. So each thread keeps one and
    seeds it again: use it at once, and do not keep it.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        As for :func:`sklearn.utils.check_random_state`, which deals with all but
        seeds.

    Returns
    -------
    random_state : RandomState
        Good until the same thread borrows again.
    """
    if not isinstance(random_state, Integral):
        return check_random_state(random_state)
    if not hasattr(_kept, "random_state"):
        _kept.random_state = RandomState(0)
    _kept.random_state.seed(random_state)
    return _kept.random_state
