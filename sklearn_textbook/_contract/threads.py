"""Turning ``n_jobs`` into a number of threads."""

from __future__ import annotations

import os
import threading

from joblib import cpu_count
from joblib.parallel import get_active_backend
from threadpoolctl import LibController, register

import sklearn_textbook._contract._threads  # threadpoolctl finds loaded libraries
from sklearn_textbook._contract.parameters import is_checked, is_integer

MOST_THREADS = 256  # more would only cost memory


CELLS_PER_THREAD = 50_000  # less work than this is done before a thread has started

_LIMIT = threading.local()


class ThreadsController(LibController):
    """Lets ``threadpoolctl.threadpool_limits`` reach the threads of this package.

    As with OpenMP the limit holds in the thread that sets it, and for ``n_jobs=None``.
    """

    user_api = "openmp"
    internal_api = "sklearn_textbook"
    filename_prefixes = ("_threads.",)
    check_symbols = ("PyInit__threads",)

    def get_num_threads(self):
        """Return the largest number of threads for ``n_jobs=None``."""
        return count_free_cores()

    def set_num_threads(self, num_threads):
        """Set it."""
        _LIMIT.n_threads = num_threads

    def get_version(self):
        """Return nothing: it is that of the package."""


register(ThreadsController)


def count_free_cores():
    """Count the cores that this call may keep busy.

    These are the cores of the process, at most ``OMP_NUM_THREADS``, by which joblib
    divides the cores among its processes; and one in a thread of a parallel call of
    joblib, whose other threads use the others.
    """
    n_cores = cpu_count()
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if limit.isdecimal() and int(limit) > 0:
        n_cores = min(n_cores, int(limit))
    is_nested = getattr(get_active_backend()[0], "nesting_level", 0) > 0
    if is_nested and (
        not limit or threading.current_thread() is not threading.main_thread()
    ):
        return 1
    return min(n_cores, getattr(_LIMIT, "n_threads", n_cores))


def count_threads(n_jobs, n_cells=None):
    """Count the threads for ``n_jobs``.

    Parameters
    ----------
    n_jobs : int or None
        None: one per core that is free for this call, as `count_free_cores` tells. A
        positive number: that many. A negative one: all cores but ``-n_jobs - 1``, as in
        joblib.
    n_cells : int, default=None
        Cells of the table to work on; small tables get fewer threads.

    Returns
    -------
    n_threads : int
        At least 1, at most 256.

    Raises
    ------
    ValueError
        If ``n_jobs`` is zero or no integer.
    """
    if is_checked() and n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(
            "The 'n_jobs' parameter must be None, a positive int, or a negative int "
            f"(-1: all cores); got {n_jobs!r}."
        )
    if n_jobs is None:
        n_threads = count_free_cores()
    elif n_jobs < 0:
        n_threads = cpu_count() + 1 + int(n_jobs)
    else:
        n_threads = min(int(n_jobs), MOST_THREADS)
    if n_cells is not None:
        n_threads = min(n_threads, 1 + n_cells // CELLS_PER_THREAD)
    return max(1, n_threads)
