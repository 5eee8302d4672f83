"""Several threads beside another program: they should not be slower than one.

A program that only counts has one core to itself as long as a work is timed with
``n_jobs`` 1, 2 and None, in turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.measure import time_alternately
from benchmarks.work_tables import make_binary
from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import C45Classifier, CARTClassifier

#: Numbers of threads beside one.
SEVERAL = (2, None)
#: Times that several threads may take over that of one.
LIMIT = 1.15


@contextmanager
def keep_one_core_busy():
    """Let another process count, on one of the cores where that can be asked for."""
    process = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
        yield
    finally:
        process.kill()
        process.wait()


def fit_tree(scale, n_jobs):
    """A CART tree of 100,000 rows."""
    task = make_binary(scale)
    return lambda: CARTClassifier(n_jobs=n_jobs).fit(task.X, task.y)


def fit_pruned_tree(scale, n_jobs):
    """A C4.5 tree of 100,000 rows."""
    task = make_binary(scale)
    return lambda: C45Classifier(n_jobs=n_jobs).fit(task.X, task.y)


def fit_forest(scale, n_jobs):
    """Twenty trees of 20,000 rows."""
    task = make_binary(scale, 20_000)
    forest = RandomForestClassifier(20, random_state=0, n_jobs=n_jobs)
    return lambda: forest.fit(task.X, task.y)


def predict_by_forest(scale, n_jobs):
    """Probabilities of 100,000 rows by a forest grown on a fifth of them."""
    task = make_binary(scale)
    n_grown = task.n_rows // 5
    forest = RandomForestClassifier(20, random_state=0, n_jobs=n_jobs)
    forest.fit(task.X[:n_grown], task.y[:n_grown])
    return lambda: forest.predict_proba(task.X)


def fit_line(scale, n_jobs):
    """Least squares of 500,000 rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((max(100, round(500_000 * scale)), 20))
    y = X @ rng.standard_normal(20) + rng.standard_normal(len(X))
    return lambda: LinearRegression(n_jobs=n_jobs).fit(X, y)


#: Functions of a scale and of ``n_jobs`` that make the call to be timed.
WORKS = {
    "cart": fit_tree,
    "c45": fit_pruned_tree,
    "forest": fit_forest,
    "forest-predict": predict_by_forest,
    "least-squares": fit_line,
}


@dataclass
class Slowdown:
    """A work with several threads over the same with one, beside a busy program."""

    work: str
    n_jobs: int | None
    seconds: float
    ratio: float

    def __str__(self):
        verdict = "pass" if self.ratio <= LIMIT else "short"
        return (
            f"{self.work}: n_jobs={self.n_jobs} {self.seconds:.3f} s, "
            f"{self.ratio:.2f} times n_jobs=1 (at most {LIMIT}: {verdict})"
        )


def measure_slowdown(work, scale=1.0, n_repeats=9):
    """Time a work beside a busy program.

    Parameters
    ----------
    work : str
        One of ``WORKS``.
    scale : float, default=1.0
        Share of the rows.
    n_repeats : int, default=9
        Number of rounds.

    Returns
    -------
    list of Slowdown
        By medians; one for each number of threads but 1.
    """
    calls = {n_jobs: WORKS[work](scale, n_jobs) for n_jobs in (1, *SEVERAL)}
    with keep_one_core_busy():
        times = time_alternately(calls, n_repeats)
    seconds = {n_jobs: median(timing.seconds) for n_jobs, timing in times.items()}
    return [
        Slowdown(work, n_jobs, seconds[n_jobs], seconds[n_jobs] / seconds[1])
        for n_jobs in SEVERAL
    ]
