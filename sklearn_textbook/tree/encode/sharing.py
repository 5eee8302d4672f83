"""Reading a table once for several estimators."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar

_tables = ContextVar("tables", default=None)


@contextmanager
def share_tables():
    """Read and encode a table once for all estimators that are fitted or predict here.

    Holds for this thread, and for functions run in a copy of its context. What was
    read is kept until the end of the ``with`` block.

    Examples
    --------
    >>> from sklearn_textbook.tree.encode import read_training_table, share_tables
    >>> X = [["red", 1.5], ["green", None]]
    >>> with share_tables():
    ...     first, second = read_training_table(X), read_training_table(X)
    >>> first[0] is second[0]
    True
    """
    if _tables.get() is not None:
        yield  # an ensemble within an ensemble
        return
    token = _tables.set(_Results())
    try:
        yield
    finally:
        _tables.reset(token)


def compute_once(function: Callable, arguments: tuple, options: tuple = ()) -> object:
    """Call a function, or recall what it returned for the same arguments."""
    results = _tables.get()
    if results is None:
        return function(*arguments)
    return results.get(function, arguments, options)


class _Results:
    """What functions returned for their arguments."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._entries = {}

    def get(self, function, arguments, options):
        key = (function.__qualname__, *map(id, arguments), options)
        with self._lock:
            if key not in self._entries:
                # The arguments are kept, so that no other object gets their id.
                self._entries[key] = arguments, function(*arguments)
            return self._entries[key][1]
