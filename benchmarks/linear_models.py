"""Linear models beside others.

Both fit the same tables in turns. The coefficients that they found are compared before
they are timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn import linear_model as stock

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook import linear_model as own

#: Rows that come at a time where they come in blocks.
N_BLOCK_ROWS = 10_000


@dataclass(frozen=True)
class Work:
    """A table, and what both do with it: functions of X, y that give coefficients."""

    title: str
    n_rows: int
    n_columns: int
    peer: str
    ours: Callable
    theirs: Callable
    make: Callable
    #: relative difference of the coefficients that is the same work
    tolerance: float = 1e-7


def make_regression(n_rows, n_columns):
    """Columns that are correlated a little, and a target with noise."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, n_columns))
    X += 0.5 * X[:, :1]
    return X, X @ np.linspace(-1, 1, n_columns) + random.standard_normal(n_rows)


def _fit_least_squares(X, y):
    return own.LinearRegression().fit(X, y).coef_


def _fit_blocks(X, y):
    model = own.LinearRegression()
    for start in range(0, len(y), N_BLOCK_ROWS):
        rows = slice(start, start + N_BLOCK_ROWS)
        model.partial_fit(X[rows], y[rows])
    return model.coef_


def _center(X, y):
    return X - X.mean(axis=0), y - y.mean()


def _solve_by_gelsd(X, y):
    # Centred rows of a square table have one rank less.
    return linalg.lstsq(*_center(X, y), cond=1e-10, check_finite=False)[0]


def _solve_by_gels(X, y):
    X, y = _center(X, y)
    work = int(linalg.lapack.dgels_lwork(*X.shape, 1)[0])
    return linalg.lapack.dgels(X, y, lwork=work)[1][: X.shape[1]]


def _fit_stock(X, y):
    return stock.LinearRegression(tol=1e-10).fit(X, y).coef_


def _least_squares(title, n_rows, n_columns, peer, theirs, ours=_fit_least_squares):
    return Work(
        f"{title}, {n_rows:,} x {n_columns:,}",
        *(n_rows, n_columns, peer, ours, theirs, make_regression),
    )


GELSD, GELS = "LAPACK's gelsd", "LAPACK's gels"
WORKS = {
    "least-squares-tall": _least_squares(
        "least squares", 1_000_000, 20, GELSD, _solve_by_gelsd
    ),
    "least-squares-tall-gels": _least_squares(
        "least squares", 1_000_000, 20, GELS, _solve_by_gels
    ),
    "least-squares-stock": _least_squares(
        "least squares", 1_000_000, 20, "scikit-learn", _fit_stock
    ),
    "least-squares-blocks": _least_squares(
        "blocks of 10,000 rows", 1_000_000, 20, GELSD, _solve_by_gelsd, _fit_blocks
    ),
    "least-squares-broad": _least_squares(
        "least squares", 10_000, 200, GELSD, _solve_by_gelsd
    ),
    "least-squares-broad-gels": _least_squares(
        "least squares", 10_000, 200, GELS, _solve_by_gels
    ),
    "least-squares-square": _least_squares(
        "least squares", 1_000, 1_000, GELSD, _solve_by_gelsd
    ),
    "least-squares-tiny": _least_squares(
        "least squares", 100, 3, "scikit-learn", _fit_stock
    ),
}


def find_differences(ours, theirs, tolerance):
    """Reasons why two fits did not do the same work; empty if they did."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return [f"coefficients of shape {ours.shape} against {theirs.shape}"]
    difference = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if not difference <= tolerance:
        return [f"coefficients differ by {difference:.2g} of the largest"]
    return []


def run_work(work, options):
    """What both found, and their times."""
    n_rows = max(100, round(work.n_rows * options.scale))
    n_columns = max(2, round(work.n_columns * min(1.0, 10 * options.scale)))
    X, y = work.make(n_rows, n_columns)
    differences = find_differences(work.ours(X, y), work.theirs(X, y), work.tolerance)
    calls = {"ours": lambda: work.ours(X, y), "theirs": lambda: work.theirs(X, y)}
    times = time_alternately(calls, options.repeat)
    return Outcome(times, differences, work.peer, work.title, {"shape": X.shape})


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("linear-models", __doc__, 7)
    return run_pairs(parser, arguments, WORKS, run_work, ("scikit-learn", "scipy"))
