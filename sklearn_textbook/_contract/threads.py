"""Turning ``n_jobs`` into a number of threads."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from joblib import cpu_count
from joblib.parallel import get_active_backend
from threadpoolctl import LibController, register

from sklearn_textbook._contract import _threads
from sklearn_textbook._contract.parameters import is_checked, is_integer, show_value

MAX_THREADS = 256  # more would only cost memory
MAX_JOBS = 1_000_000  # the maximum of joblib


CELLS_PER_THREAD = 50_000  # less work than this ends before a thread has started

_LIMIT = threading.local()


class ThreadsController(LibController):
    """Controls the threads of this package by ``threadpoolctl.threadpool_limits``.

    As with OpenMP the limit holds in the thread that sets it, and for ``n_jobs=None``.
    """

    user_api = "openmp"
    internal_api = "sklearn_textbook"
    # The file and a symbol of the compiled module, by which threadpoolctl finds it.
    filename_prefixes = (Path(_threads.__file__).name.lower(),)
    check_symbols = ("PyInit__threads",)

    def get_num_threads(self):
        """Return the largest number of threads for ``n_jobs=None``."""
        return count_cores()

    def set_num_threads(self, num_threads):
        """Set it; all cores mean no limit, so that restoring removes the limit."""
        _LIMIT.n_threads = None
        if num_threads < count_cores():
            _LIMIT.n_threads = num_threads

    def get_version(self):
        """Return None: it is that of the package."""


register(ThreadsController)


def count_cores():
    """Count the cores of the process, at most ``OMP_NUM_THREADS`` and the limit.

    joblib sets this variable in its worker processes, so that they share the cores.
    """
    limits = [cpu_count()]
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if setting.isdecimal() and int(setting) > 0:
        limits.append(int(setting))
    limits.append(getattr(_LIMIT, "n_threads", None) or limits[0])
    return min(limits)


def is_in_parallel_call():
    """Whether other workers of the same parallel call of joblib use the other cores.

    Worker processes do not, if joblib has divided the cores among them.
    """
    if getattr(get_active_backend()[0], "nesting_level", 0) == 0:
        return False
    is_thread = threading.current_thread() is not threading.main_thread()
    return is_thread or "OMP_NUM_THREADS" not in os.environ


def check_n_jobs(n_jobs):
    """Refuse an ``n_jobs`` that is zero, too large or not an integer.

    Parameters
    ----------
    n_jobs : object
        None is allowed.

    Raises
    ------
    ValueError
        Naming the parameter and what was given.
    """
    is_count = is_integer(n_jobs) and n_jobs != 0 and abs(n_jobs) <= MAX_JOBS
    if is_checked() and n_jobs is not None and not is_count:
        raise ValueError(
            "The 'n_jobs' parameter must be None, a positive int, or a negative int "
            f"(-1: all cores), of at most {MAX_JOBS:,} jobs; got {show_value(n_jobs)}."
        )


def count_threads(n_jobs, n_cells=None):
    """Count the threads for ``n_jobs``.

    Parameters
    ----------
    n_jobs : int or None
        None: one per core, but one in threads of joblib. A positive number: that many.
        A negative one: all cores except ``-n_jobs - 1``, as in joblib.
    n_cells : int, default=None
        Cells of the table to work on; small tables get fewer threads.

    Returns
    -------
    n_threads : int
        At least 1, at most 256.

    Raises
    ------
    ValueError
        If ``n_jobs`` is zero, too large or not an integer.
    """
    check_n_jobs(n_jobs)
    most = MAX_THREADS
    if n_cells is not None:
        most = min(most, 1 + n_cells // CELLS_PER_THREAD)
    if most <= 1:
        # Querying the number of cores takes longer than the work for a small table.
        return 1
    if n_jobs is None:
        n_threads = 1 if is_in_parallel_call() else count_cores()
    elif n_jobs < 0:
        n_threads = cpu_count() + 1 + int(n_jobs)
    else:
        n_threads = int(n_jobs)
    return max(1, min(n_threads, most))
