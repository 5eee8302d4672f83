"""Progress on the standard error of what lasts longer than a second."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

#: Seconds after which a bar is shown.
DELAY = 1.0


def show_progress(description: str, total: int | None = None):
    """Show a bar on the standard error if the work lasts longer than a second.

    There is none if the standard error is not a terminal, or with --quiet. Nothing may
    be written to the terminal meanwhile but warnings.
    """
    return Steps(description, total)


class Steps:
    """A piece of work, and how much of it is done.

    Parameters
    ----------
    description : str
        What is going on.
    total : int or None
        Number of steps.
    """

    def __init__(self, description, total):
        self.total, self.n_done = total, 0
        self._bar = None
        if not _is_wanted():
            return
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            _CountColumn(),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            # What goes to the standard output is none of its business.
            redirect_stdout=False,
        )
        self._task = self._bar.add_task(description, total=total)
        self._lock = threading.Lock()
        self._is_over = False
        self._timer = threading.Timer(DELAY, self._show)
        self._timer.daemon = True

    def __enter__(self):
        if self._bar is not None:
            self._timer.start()
        return self

    def __exit__(self, *exception):
        if self._bar is None:
            return
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar.live.is_started:
                self._bar.stop()

    def _show(self) -> None:
        with self._lock:
            if not self._is_over:
                self._bar.start()

    def describe(self, description) -> None:
        """Say what is going on from now on."""
        if self._bar is not None:
            self._bar.update(self._task, description=description)

    def advance(self, n_steps: int = 1) -> None:
        """Count steps that are done."""
        self.n_done += n_steps
        if self._bar is not None:
            self._bar.update(self._task, completed=self.n_done)

    @contextmanager
    def watch(self, estimator):
        """Show how far a fit is, where scikit-learn's callbacks tell (from 1.9 on)."""
        if self._bar is None or not hasattr(estimator, "set_callbacks"):
            yield
            return
        estimator.set_callbacks(_FitTasks(self._report))
        try:
            yield
        finally:
            estimator.set_callbacks()

    def _report(self, n_done, n_tasks) -> None:
        """Show that some of the tasks of a fit are done."""
        if self.total is None:
            self._bar.update(self._task, completed=n_done, total=n_tasks)
        elif n_tasks:
            completed = self.n_done + min(n_done / n_tasks, 1.0)
            self._bar.update(self._task, completed=completed)


class _CountColumn(MofNCompleteColumn):
    """How many steps are done, if their number is known."""

    def render(self, task):
        return Text() if task.total is None else super().render(task)


class _FitTasks:
    """A callback of scikit-learn that counts the tasks of a fit.

    Parameters
    ----------
    report : callable, default=None
        Takes the number of tasks that are done and that of all, or None. In another
        process there is none.
    """

    def __init__(self, report=None) -> None:
        self.report = report
        self.n_done = 0

    def __reduce__(self):
        return _FitTasks, ()

    def setup(self, estimator, context) -> None:
        """Begin to count."""
        self.n_done = 0

    def on_fit_task_begin(self, estimator, context):
        """Count when the task ends."""

    def on_fit_task_end(self, estimator, context) -> None:
        """Count a task of the fit, not the fit itself and not parts of tasks."""
        parent = context.parent
        if self.report is not None and parent is not None and parent.parent is None:
            self.n_done += 1
            self.report(self.n_done, parent.max_subtasks)

    def teardown(self, estimator, context):
        """End."""


def _is_wanted():
    """Return whether a bar is seen, and was not forbidden."""
    context = click.get_current_context(silent=True)
    state = context.find_root().obj if context is not None else None
    if state and state.get("quiet"):
        return False
    try:
        is_terminal = sys.stderr.isatty()
    except (AttributeError, ValueError):  # none, or closed
        return False
    return is_terminal and Console(file=sys.stderr).is_interactive
