"""Fitting members that differ from each other, here or by joblib's workers."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from sklearn_textbook._contract.tables import count_rows
from sklearn_textbook.ensemble.members.growth import (
    open_parallel,
    run_aside,
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


def describe_member(name, member) -> str:
    """Return the note that adds the member to an error."""
    return f"This comes from the member {name!r}, {type(member).__name__}."


def ask_member(name: str, member, method: str, X) -> np.ndarray:
    """Call a method of a fitted member."""
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


def pass_weight(name: str, estimator, sample_weight: ArrayLike | None) -> dict:
    """Find the parameters of ``fit`` that hand on sample weights."""
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

    def print_time(self, task, place, seconds) -> None:
        """Print that a member is fitted."""
        if self.verbose:
            line = f"({place}) Processing {task.name}, total={seconds:6.1f}s"
            print(f"[{self.title}] {line:.>{max(0, 69 - len(self.title))}}")


def fit_members(
    tasks: list[MemberTask], X, y: ArrayLike, n_jobs: int | None, report: FitReport
) -> list:
    """Fit members, those of this package one after the other on one encoded table."""
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
