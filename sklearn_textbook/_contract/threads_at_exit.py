"""Letting tasks in threads end before the interpreter does."""

from __future__ import annotations

import atexit
import os
import threading

#: Seconds that the end of the interpreter waits for tasks of an interrupted call.
PATIENCE = 60.0

_changed = threading.Condition()
_running = 0
_is_exiting = False


def run_to_end(function, *arguments):
    """Call a function; the interpreter does not end in the middle of it.

    joblib's threads are daemons. After Ctrl-C one of them may still be at work when the
    interpreter ends. Before Python 3.14 such a thread is unwound as soon as it needs
    the interpreter, which aborts the process if C++ code is on its stack.

    Parameters
    ----------
    function : callable
        The task.
    *arguments : object
        Its arguments.

    Returns
    -------
    result : object
        What the function returns.
    """
    global _running
    with _changed:
        if _is_exiting:
            raise RuntimeError("the interpreter is ending")
        _running += 1
    try:
        return function(*arguments)
    finally:
        with _changed:
            _running -= 1
            _changed.notify_all()


@atexit.register
def _wait():
    """Start no more tasks, and wait for those at work."""
    global _is_exiting
    with _changed:
        _is_exiting = True
        _changed.wait_for(lambda: _running == 0, PATIENCE)


def _forget():
    """Have no task at work: a process made by fork has none of the threads."""
    global _changed, _running
    _changed, _running = threading.Condition(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
