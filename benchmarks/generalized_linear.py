"""GLMs beside scikit-learn's.

Both fit the same tables in turns, without penalty, scikit-learn by Newton's method and
to its default tolerance. What they found is compared before it is timed: the deviance
and the coefficients. Ours finds standard errors and likelihood as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn import linear_model as stock

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook.linear_model import GeneralizedLinearRegressor

NEWTON = {"alpha": 0.0, "solver": "newton-cholesky"}


@dataclass(frozen=True)
class Work:
    """A table, and both estimators; with ``n_levels`` columns are nominal ones."""

    title: str
    n_rows: int
    n_columns: int
    family: str
    theirs: Callable
    n_levels: int = 0
    needed: float | None = None


WORKS = {
    "poisson": Work(
        "Poisson with the logarithm, 1,000,000 x 20",
        1_000_000,
        20,
        "poisson",
        lambda: stock.PoissonRegressor(**NEWTON),
        needed=1.0,
    ),
    "poisson-columns": Work(
        "the same, 100,000 x 100",
        100_000,
        100,
        "poisson",
        lambda: stock.PoissonRegressor(**NEWTON),
    ),
    "poisson-levels": Work(
        "the same, 200,000 x 5 nominal columns of 40 levels, as a sparse matrix",
        200_000,
        5,
        "poisson",
        lambda: stock.PoissonRegressor(**NEWTON),
        n_levels=40,
    ),
    "poisson-small": Work(
        "the same, 500 x 5",
        500,
        5,
        "poisson",
        lambda: stock.PoissonRegressor(**NEWTON),
    ),
    "gamma": Work(
        "gamma with the logarithm, 1,000,000 x 20",
        1_000_000,
        20,
        "gamma",
        lambda: stock.GammaRegressor(**NEWTON),
    ),
    "tweedie": Work(
        "Tweedie of power 1.5 with the logarithm, 300,000 x 20",
        300_000,
        20,
        "tweedie",
        lambda: stock.TweedieRegressor(power=1.5, **NEWTON),
    ),
}


def make_rows(work, scale):
    """A table, and a target of the family with means between 0.2 and 30."""
    n_rows = max(1000 if work.n_levels else 200, round(work.n_rows * scale))
    random = np.random.default_rng(0)
    if work.n_levels:
        shape = (n_rows, work.n_columns)
        levels = random.integers(0, work.n_levels, shape)
        columns = levels + work.n_levels * np.arange(work.n_columns)
        ends = work.n_columns * np.arange(n_rows + 1)
        X = sparse.csr_array(
            (np.ones(levels.size), columns.ravel(), ends),
            shape=(n_rows, work.n_levels * work.n_columns),
        )[:, np.arange(work.n_levels * work.n_columns) % work.n_levels > 0]
    else:
        X = random.standard_normal((n_rows, work.n_columns))
    w = random.uniform(-1, 1, X.shape[1]) / np.sqrt(work.n_columns)
    mean = np.exp(0.8 + X @ w)
    if work.family == "poisson":
        return X, random.poisson(mean).astype(float)
    amounts = mean * random.gamma(2.0, 0.5, n_rows)
    if work.family == "tweedie":
        amounts *= random.random(n_rows) < 0.7
    return X, amounts


def fit_ours(work, X, y):
    return GeneralizedLinearRegressor(work.family, "log").fit(X, y)


def fit_theirs(work, X, y):
    return work.theirs().fit(X, y)


def find_differences(ours, theirs, X, y):
    """Reasons why two fits did not do the same work; empty if they did."""
    reasons = []
    score, other = ours.score(X, y), theirs.score(X, y)
    if not abs(score - other) <= 1e-6:
        reasons.append(f"shares of the deviance {score:.8f} and {other:.8f}")
    # Scikit-learn's tolerance is far smaller than what rows of this number tell.
    errors = (ours.coef_ - theirs.coef_) / ours.standard_errors_
    if not np.abs(errors).max() <= 0.1:
        reasons.append(f"coefficients differ by {np.abs(errors).max():.2g} errors")
    return reasons


def run_work(work, options):
    """What both found, and their times."""
    X, y = make_rows(work, options.scale)
    calls = {
        "ours": lambda: fit_ours(work, X, y),
        "theirs": lambda: fit_theirs(work, X, y),
    }
    differences = find_differences(calls["ours"](), calls["theirs"](), X, y)
    times = time_alternately(calls, options.repeat)
    facts = {"shape": X.shape, "needed": work.needed}
    return Outcome(times, differences, "scikit-learn", work.title, facts)


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("generalized-linear", __doc__, 7)
    return run_pairs(parser, arguments, WORKS, run_work)
