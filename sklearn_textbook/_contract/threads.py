"""Turning ``n_jobs`` into a number of threads."""

from __future__ import annotations

from joblib import cpu_count

from sklearn_textbook._contract._threads import get_max_threads
from sklearn_textbook._contract.parameters import is_checked, is_integer

MOST_THREADS = 256  # more would only cost memory


CELLS_PER_THREAD = 50_000  # less work than this is done before a thread has started


def count_threads(n_jobs, n_cells=None):
    """Count the threads for ``n_jobs``.

    Parameters
    ----------
    n_jobs : int or None
        None: as many as OpenMP allows, at most one per core. A positive number: that
        many. A negative one: all cores but ``-n_jobs - 1``, as in joblib.
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
        n_threads = min(get_max_threads(), cpu_count())
    elif n_jobs < 0:
        n_threads = cpu_count() + 1 + int(n_jobs)
    else:
        n_threads = min(int(n_jobs), MOST_THREADS)
    if n_cells is not None:
        n_threads = min(n_threads, 1 + n_cells // CELLS_PER_THREAD)
    return max(1, n_threads)
