"""Random states from seeds, for ensembles that need one or two for every tree."""

from __future__ import annotations

import threading
from numbers import Integral

from numpy.random import RandomState
from sklearn.utils import check_random_state

_saved_fields = threading.local()


def borrow_random_state(random_state) -> RandomState:
    """Turn a seed into a random state that draws the same as ``RandomState(seed)``.

    Creating a RandomState takes longer than drawing a few thousand rows, since NumPy
    collects entropy from the system even if a seed is given. So each thread keeps one
    and seeds it again: use it at once, and do not keep it.
    """
    if not isinstance(random_state, Integral):
        return check_random_state(random_state)
    if not hasattr(_saved_fields, "random_state"):
        _saved_fields.random_state = RandomState(0)
    _saved_fields.random_state.seed(random_state)
    return _saved_fields.random_state
