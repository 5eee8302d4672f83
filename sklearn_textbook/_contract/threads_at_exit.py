"""Letting tasks in threads end with their call, and before the interpreter does."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from weakref import WeakSet

from sklearn_textbook._contract._threads import Flag, raise_in_thread

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

    def __init__(self):
        self.flag = Flag()
        self._threads = set()
        self._inner = WeakSet()
        outer = getattr(_local, "call", None)
        if outer is not None:
            outer._inner.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def __reduce__(self):
        """Be another call in another process."""
        return Call, ()

    def run(self, function, *arguments):
        """Call a function for this call, unless that has ended already.

        Parameters
        ----------
        function : callable
            The task.
        *arguments : object
            Its arguments.

        Returns
        -------
        result : object
            What the function returns; None if the call has ended, so that nothing
            waits for it.
        """
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
            return function(*arguments)
        finally:
            with _changed:
                self._threads.discard(thread)
            if self.flag.is_set:
                _let_arrive()

    def leave(self):
        """Let the tasks that are still at work end as soon as they can."""
        with _changed:
            self.flag.set()
            for thread in self._threads:
                raise_in_thread(thread, CallEndedError)
            inner = list(self._inner)
        for call in inner:
            call.leave()


def _let_arrive():
    """Run some Python code, in which an exception that is on its way is raised.

    In Python 3.11, one that is taken back instead leaves all threads slower, and stops
    them where they are traced.
    """
    with suppress(CallEndedError):
        for _ in range(10):
            pass


def find_flag():
    """Find the flag of the call that this thread works for.

    Returns
    -------
    address : int
        Of a C integer that becomes 1 when the call ends; 0 if there is no call.
    """
    call = getattr(_local, "call", None)
    return 0 if call is None else call.flag.address


@atexit.register
def _wait():
    """Start no more tasks, and wait for those at work, unless Ctrl-C comes again."""
    global _is_exiting
    with suppress(KeyboardInterrupt), _changed:
        _is_exiting = True
        _changed.wait_for(lambda: _running == 0, PATIENCE)


def _forget():
    """Have no task at work: a process made by fork has none of the threads."""
    global _changed, _running
    _changed, _running = threading.Condition(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
