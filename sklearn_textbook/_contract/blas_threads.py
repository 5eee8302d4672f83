"""Limiting BLAS to one thread in work that is already divided among threads."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from threading import Lock

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _find_libraries():
    return ThreadpoolController().select(user_api="blas")


class _Limit:
    """The limit to one thread, shared by all users."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.n_inside = 0
        self.limit = None


_LIMIT = _Limit()


@contextmanager
def use_one_blas_thread():
    """Restrict BLAS and LAPACK to the calling thread.

    The setting is global in the process. The first user sets it and the last one
    restores it, so that it is unchanged after fits in several threads.
    """
    with _LIMIT.lock:
        if _LIMIT.n_inside == 0:
            _LIMIT.limit = _find_libraries().limit(limits=1)
        _LIMIT.n_inside += 1
    try:
        yield
    finally:
        with _LIMIT.lock:
            _LIMIT.n_inside -= 1
            if _LIMIT.n_inside == 0:
                _LIMIT.limit.restore_original_limits()
                _LIMIT.limit = None
