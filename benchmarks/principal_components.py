"""PCA beside scikit-learn's.

Both fit the same tables in turns. What they found is compared before it is timed: the
variances of the components and the plane that they span.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn import decomposition as stock
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook import decomposition as own

#: Rows that come at a time where they come in blocks.
N_BLOCK_ROWS = 10_000


@dataclass(frozen=True)
class Work:
    """A table, and what both do with it: functions of X that give fitted components."""

    title: str
    n_rows: int
    n_columns: int
    ours: Callable
    theirs: Callable
    #: relative difference of the variances, and of the planes, that is the same work
    tolerance: float = 1e-8


def _fit_blocks(pca, X):
    for start in range(0, len(X), N_BLOCK_ROWS):
        pca.partial_fit(X[start : start + N_BLOCK_ROWS])
    pca.transform(X[:1])  # the components are made when they are needed
    return pca


def _fit_and_transform(pca, X):
    pca.fit_transform(X)
    return pca


def _fit_scaled(X):
    return make_pipeline(StandardScaler(), stock.PCA()).fit(X)[-1]


WORKS = {
    "tall": Work(
        "all components, 100,000 x 100",
        100_000,
        100,
        lambda X: own.PCA().fit(X),
        lambda X: stock.PCA().fit(X),
    ),
    "tall-scores": Work(
        "ten components and their scores, 100,000 x 100",
        100_000,
        100,
        lambda X: _fit_and_transform(own.PCA(10), X),
        lambda X: _fit_and_transform(stock.PCA(10), X),
    ),
    "tall-correlation": Work(
        "all of the correlation matrix, 100,000 x 100; theirs StandardScaler and PCA",
        100_000,
        100,
        lambda X: own.PCA(standardize=True).fit(X),
        _fit_scaled,
        tolerance=0.01,  # the divisors are n - 1 and n
    ),
    "tall-blocks": Work(
        "ten components, blocks of 10,000 rows of 100,000 x 100; theirs IncrementalPCA",
        100_000,
        100,
        lambda X: _fit_blocks(own.PCA(10), X),
        lambda X: _fit_blocks(stock.IncrementalPCA(10), X),
        tolerance=0.05,  # theirs is an approximation
    ),
    "wide": Work(
        "all components, 1,000 x 5,000",
        1_000,
        5_000,
        lambda X: own.PCA().fit(X),
        lambda X: stock.PCA().fit(X),
    ),
    "wide-scores": Work(
        "ten components and their scores by random projections, 1,000 x 5,000",
        1_000,
        5_000,
        lambda X: _fit_and_transform(own.PCA(10, random_state=0), X),
        lambda X: _fit_and_transform(stock.PCA(10, random_state=0), X),
    ),
}


def make_rows(work, scale, offset):
    """Rows of twenty strong directions and noise, at some distance from the origin."""
    n_rows = max(200, round(work.n_rows * scale))
    n_columns = max(30, round(work.n_columns * min(1.0, 10 * scale)))
    random = np.random.default_rng(0)
    sizes = np.linspace(8.0, 2.0, 20)[:, np.newaxis]
    X = random.standard_normal((n_rows, 20)) @ (
        sizes * random.standard_normal((20, n_columns)) / np.sqrt(n_columns)
    )
    X += random.standard_normal((n_rows, n_columns))
    return X + offset * X.std()


def find_differences(ours, theirs, tolerance):
    """Reasons why two fits did not do the same work; empty if they did."""
    one, other = ours.explained_variance_, theirs.explained_variance_
    if one.shape != other.shape:
        return [f"{len(one)} components against {len(other)}"]
    reasons = []
    difference = np.abs(one - other).max() / one[0]
    if not difference <= tolerance:
        reasons.append(f"variances differ by {difference:.2g} of the largest")
    # Cosines of the angles between the planes of the first five components.
    cosines = np.linalg.svd(
        ours.components_[:5] @ theirs.components_[:5].T, compute_uv=False
    )
    if not 1 - cosines.min() <= tolerance:
        reasons.append(f"the planes are turned by {1 - cosines.min():.2g}")
    return reasons


def run_work(work, options):
    """What both found, and their times."""
    X = make_rows(work, options.scale, options.offset)
    differences = find_differences(work.ours(X), work.theirs(X), work.tolerance)
    calls = {"ours": lambda: work.ours(X), "theirs": lambda: work.theirs(X)}
    times = time_alternately(calls, options.repeat)
    facts = {"shape": X.shape}
    return Outcome(times, differences, "scikit-learn", work.title, facts)


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("principal-components", __doc__, 7)
    parser.add_argument(
        "--offset", type=float, default=0.0, help="mean in standard deviations"
    )
    return run_pairs(parser, arguments, WORKS, run_work)
