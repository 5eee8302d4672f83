"""Fitting members that differ from each other, here or by joblib's workers."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from sklearn_textbook._contract.table_rows import count_rows
from sklearn_textbook.ensemble.members.growth import run_aside
from sklearn_textbook.ensemble.members.parallel_results import (
    open_parallel,
    yield_results,
)
from sklearn_textbook.tree.members import share_tables

PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True, eq=False)
class MemberTask:
    """A member to fit: its name, the estimator, and parameters of its ``fit``."""

    name: str
    template: object
    params: dict = field(default_factory=dict)

    def fit(self, X, y, member=None):
        """Fit a copy of the estimator; return it with the time in seconds."""
        member = clone(self.template) if member is None else member
        start = time.perf_counter()
        try:
            member.fit(X, y, **self.params)
        except Exception as error:
            error.add_note(describe_member(self.name, self.template))
            raise
        return member, time.perf_counter() - start


def describe_member(name, member):
    """Return the note that adds the member to an error."""
    return f"This comes from the member {name!r}, {type(member).__name__}."


def ask_member(name, member, method, X):
    """Call a method of a fitted member.

    Parameters
    ----------
    name : str
        Name of the member.
    member : estimator
        The member.
    method : str
        The method.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    given : ndarray
        What it gives; predictions in a single column, as of CatBoost, as a vector.

    Raises
    ------
    ValueError
        If that does not have one entry for each row, or probabilities do not have a
        column for each class.
    """
    try:
        given = np.asarray(getattr(member, method)(X))
    except Exception as error:
        error.add_note(describe_member(name, member))
        raise
    if method == "predict" and given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    wanted = given.shape[1:]
    if method == "predict":
        wanted = ()
    elif method == "predict_proba":
        wanted = (len(member.classes_),)
    wanted = (count_rows(X), *wanted)
    if given.shape != wanted:
        raise ValueError(
            f"{method} of the member {name!r}, {type(member).__name__}, must return an "
            f"array of shape {wanted}, got {given.shape}."
        )
    return given


def pass_weight(name, estimator, sample_weight):
    """Find the parameters of ``fit`` that hand on sample weights.

    Parameters
    ----------
    name : str
        Name of the member.
    estimator : estimator
        The member. A pipeline hands them on to its last step.
    sample_weight : array-like or None
        The weights.

    Returns
    -------
    params : dict
        Empty without weights.

    Raises
    ------
    TypeError
        If the member does not accept it.
    """
    if sample_weight is None:
        return {}
    key, last = "sample_weight", estimator
    while isinstance(last, Pipeline):
        step, last = last.steps[-1]
        key = f"{step}__{key}"
    if not has_fit_parameter(last, "sample_weight"):
        raise TypeError(
            f"Underlying estimator {type(last).__name__} does not support sample "
            f"weights. (It is named {name!r}.)"
        )
    return {key: sample_weight}


def is_ours(estimator):
    """Return whether an estimator is of this package, with its tables and threads."""
    return type(estimator).__module__.partition(".")[0] == PACKAGE


@dataclass(frozen=True, eq=False)
class FitReport:
    """Reports the progress of a fit to callbacks and on the screen."""

    context: object
    hooks: dict
    title: str
    verbose: int

    @contextmanager
    def open_task(self, task, member=None):
        """Make the fit of a member a task of the callbacks."""
        subcontext = self.context.subcontext(task_name=task.name)
        subcontext.call_on_fit_task_begin(**self.hooks)
        if hasattr(member, "set_callbacks"):
            with subcontext.propagate_callback_context(member):
                yield
        else:
            yield
        subcontext.call_on_fit_task_end(**self.hooks)

    def print_time(self, task, place, seconds):
        """Print that a member is fitted."""
        if self.verbose:
            line = f"({place}) Processing {task.name}, total={seconds:6.1f}s"
            print(f"[{self.title}] {line:.>{max(0, 69 - len(self.title))}}")


def fit_members(tasks, X, y, n_jobs, report):
    """Fit members, those of this package one after the other on one encoded table.

    Parameters
    ----------
    tasks : list of MemberTask
        What is to be fitted.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The table, which members get as it is.
    y : array-like of shape (n_samples,)
        The target.
    n_jobs : int or None
        Number of joblib's workers, which fit the members from elsewhere: those of this
        package have threads. With ``joblib.parallel_config`` workers fit all of them.
    report : FitReport
        Reports the progress.

    Returns
    -------
    members : list of estimator
        In the order of the tasks.
    """
    n_workers = effective_n_jobs(n_jobs)
    has_cluster = effective_n_jobs(None) > 1
    members = [None] * len(tasks)
    here, elsewhere = [], []
    for number, task in enumerate(tasks):
        stays = n_workers == 1 or (is_ours(task.template) and not has_cluster)
        (here if stays else elsewhere).append(number)
    with share_tables():
        run = copy_context().run
        for number in here:
            member = members[number] = clone(tasks[number].template)
            with report.open_task(tasks[number], member):
                batch = [(tasks[number].fit, X, y, member)]
                _, seconds = run_aside(lambda call: run(*call), batch)
            report.print_time(tasks[number], f"{number + 1} of {len(tasks)}", seconds)
    calls = ((tasks[number].fit, X, y) for number in elsewhere)
    results = yield_results(open_parallel(n_jobs=n_workers), calls)
    for number, (member, seconds) in zip(elsewhere, results, strict=True):
        with report.open_task(tasks[number]):
            members[number] = member
        report.print_time(tasks[number], f"{number + 1} of {len(tasks)}", seconds)
    return members
