"""The number of threads for ``n_jobs``, and the end of tasks that run in them."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from weakref import WeakSet

from joblib import cpu_count
from joblib.parallel import get_active_backend
from threadpoolctl import LibController, register

from sklearn_textbook._contract import _threads
from sklearn_textbook._contract._threads import Flag, raise_in_thread
from sklearn_textbook._contract.file_memory import is_in_files
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

    def set_num_threads(self, num_threads) -> None:
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


def check_n_jobs(n_jobs: object) -> None:
    """Refuse an ``n_jobs`` that is zero, too large or not an integer."""
    is_count = is_integer(n_jobs) and n_jobs != 0 and abs(n_jobs) <= MAX_JOBS
    if is_checked() and n_jobs is not None and not is_count:
        raise ValueError(
            "The 'n_jobs' parameter must be None, a positive int, or a negative int "
            f"(-1: all cores), of at most {MAX_JOBS:,} jobs; got {show_value(n_jobs)}."
        )


def count_threads(n_jobs: int | None, n_cells: int | None = None) -> int:
    """Count the threads for ``n_jobs``."""
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


# ------------------------------------------------------------------------------------
# Letting tasks in threads end with their call, and before the interpreter does.
# ------------------------------------------------------------------------------------


#: Seconds that the end of the interpreter waits for tasks of an interrupted call.
PATIENCE = 60.0 if sys.version_info < (3, 14) else 2.0

_changed = threading.Condition()
_running = 0
_is_exiting = False
_local = threading.local()


class CallEndedError(RuntimeError):
    """Raised in a thread that works for a call which has ended."""


class Call:
    """A call whose tasks run in other threads, and are left when it ends.

    After Ctrl-C the main thread leaves the call, and its tasks are of no use any more.
    Kernels of this package look at a flag now and then. Python code of others gets an
    exception; a compiled function of others runs to its end, and the interpreter waits
    for it: joblib's threads are daemons, and before Python 3.14 a daemon is unwound as
    soon as it needs the interpreter that is ending, which aborts the process if C++
    code is on its stack.
    """

    def __init__(self) -> None:
        self.flag = Flag()
        self._threads = set()
        self._inner = WeakSet()
        # Large arrays of the tasks are in files, too.
        self._context = copy_context() if is_in_files() else None
        outer = getattr(_local, "call", None)
        if outer is not None:
            outer._inner.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.leave()

    def __reduce__(self):
        """Be another call in another process."""
        return Call, ()

    def run(self, function: Callable, *arguments) -> object:
        """Call a function for this call, unless that has ended already."""
        global _running
        with _changed:
            if _is_exiting:
                raise RuntimeError("the interpreter is ending")
            if self.flag.is_set:
                return None
            _running += 1
        outer, _local.call = getattr(_local, "call", None), self
        try:
            return self._run(function, *arguments)
        except CallEndedError:
            if not self.flag.is_set:
                raise
            return None
        finally:
            _local.call = outer
            with _changed:
                _running -= 1
                _changed.notify_all()

    def _run(self, function, *arguments):
        """Call a function that an exception may be raised in."""
        thread = threading.get_ident()
        with _changed:
            self._threads.add(thread)
        try:
            if self._context is not None:
                return self._context.copy().run(function, *arguments)
            return function(*arguments)
        finally:
            with _changed:
                self._threads.discard(thread)
            if self.flag.is_set:
                _let_arrive()

    def leave(self) -> None:
        """Let the tasks that are still at work end as soon as they can."""
        with _changed:
            self.flag.set()
            for thread in self._threads:
                raise_in_thread(thread, CallEndedError)
            inner = list(self._inner)
        for call in inner:
            call.leave()


def _let_arrive() -> None:
    """Run some Python code, in which an exception that is on its way is raised.

    In Python 3.11, one that is taken back instead leaves all threads slower, and stops
    them where they are traced.
    """
    with suppress(CallEndedError):
        for _ in range(10):
            pass


def find_flag() -> int:
    """Find the flag of the call that this thread works for."""
    call = getattr(_local, "call", None)
    return 0 if call is None else call.flag.address


@atexit.register
def _wait() -> None:
    """Start no more tasks, and wait for those at work, unless Ctrl-C comes again."""
    global _is_exiting
    with suppress(KeyboardInterrupt), _changed:
        _is_exiting = True
        _changed.wait_for(lambda: _running == 0, PATIENCE)


def _forget() -> None:
    """Have no task at work: a process made by fork has none of the threads."""
    global _changed, _running
    _changed, _running = threading.Condition(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
