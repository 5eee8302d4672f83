"""Pairwise diversity measures of a forest, beside those of DESlib.

Ours are computed for all pairs of the members. Those of DESlib, for which all pairs
would take minutes to hours, are computed for the pairs of the first few members with
all that follow, or for a few pairs, and their time is multiplied by the share of the
pairs. Without DESlib (pip install deslib) formulas in numpy of the same kind take its
place. The measures of these pairs are compared.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.measure import installed_version, time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.ensemble.diversity import (
    correlation,
    disagreement,
    double_fault,
    predict_members,
    q_statistic,
)

N_ROWS = 100_000
#: Rows that the forest learns from.
N_TRAINING = 5_000
#: Our measures of right and wrong, and DESlib's names of them.
MEASURES = {
    "disagreement": (disagreement, "disagreement_measure"),
    "q-statistic": (q_statistic, "Q_statistic"),
    "correlation": (correlation, "correlation_coefficient"),
    "double-fault": (double_fault, "double_fault"),
}


@dataclass(frozen=True)
class Work:
    """Measures of all pairs, and how many pairs DESlib gets at a time.

    Parameters
    ----------
    title : str
        What is measured.
    measures : tuple of str
        Names of MEASURES.
    in_batches : bool, default=True
        Whether a member is compared with all others at once, as DESlib's
        ``diversity_batch`` does, or with one after the other.
    n_first : int, default=2
        Members that are compared with others.
    """

    title: str
    measures: tuple
    in_batches: bool = True
    n_first: int = 2


WORKS = {
    "disagreement": Work("disagreement, members in batches", ("disagreement",)),
    "four-measures": Work("four measures, members in batches", tuple(MEASURES)),
    "pairs": Work("disagreement, pair by pair", ("disagreement",), False, 1),
}
#: Pairs that are measured one by one.
N_SINGLE = 5


@dataclass
class Scaled:
    """Measures of some pairs, and what all pairs would take."""

    measured: list
    own_seconds: float
    own_cpu_seconds: float


@cache
def make_predictions(n_rows, n_members):
    """Labels, and what the trees of a forest predict, shape (n_rows, n_members)."""
    X, y = make_mixed_table(
        N_TRAINING + n_rows,
        n_classes=3,
        label_noise=0.1,
        random_state=0,
        return_X_y=True,
    )
    forest = RandomForestClassifier(n_members, max_depth=10, random_state=0)
    forest.fit(X[:N_TRAINING], y[:N_TRAINING])
    return y[N_TRAINING:], predict_members(forest, X[N_TRAINING:])


def find_functions(work):
    """DESlib's functions of the measures of a work; our formulas without DESlib."""
    if installed_version("deslib") is None:
        return [FORMULAS[name] for name in work.measures]
    from deslib.util import diversity, diversity_batch

    module = diversity_batch if work.in_batches else diversity
    return [getattr(module, MEASURES[name][1]) for name in work.measures]


def list_shares(y, first, others):
    """Shares of the rows on which two members are right: both, first, second, none."""
    is_right, are_right = first == y, others == y
    return [
        np.mean((is_right == one) & (are_right == other), axis=-1)
        for one in (True, False)
        for other in (True, False)
    ]


def _find_disagreement(y, first, others):
    _, b, c, _ = list_shares(y, first, others)
    return b + c


def _find_q_statistic(y, first, others):
    a, b, c, d = list_shares(y, first, others)
    return (a * d - b * c) / (a * d + b * c)


def _find_correlation(y, first, others):
    a, b, c, d = list_shares(y, first, others)
    return (a * d - b * c) / np.sqrt((a + b) * (a + c) * (c + d) * (b + d))


def _find_double_fault(y, first, others):
    return list_shares(y, first, others)[3]


FORMULAS = {
    "disagreement": _find_disagreement,
    "q-statistic": _find_q_statistic,
    "correlation": _find_correlation,
    "double-fault": _find_double_fault,
}


def measure_some(work, y, columns):
    """Measure some pairs by DESlib, and multiply the time by the share of the pairs.

    Parameters
    ----------
    work : Work
        The measures.
    y : ndarray of shape (n_rows,)
        Labels.
    columns : ndarray of shape (n_members, n_rows)
        Predictions.

    Returns
    -------
    scaled : Scaled
        For each measure a list of arrays: of the first member with those that follow
        it, of the second member, and so on.
    """
    n_members = len(columns)
    last = n_members if work.in_batches else 1 + min(N_SINGLE, n_members - 1)
    start, cpu_start = time.perf_counter(), time.process_time()
    measured = []
    for function in find_functions(work):
        rows = []
        for place in range(work.n_first):
            others = columns[place + 1 : last]
            if not work.in_batches:
                others = [function(y, columns[place], other) for other in others]
                rows.append(np.array(others))
            else:
                rows.append(function(y, columns[place], others))
        measured.append(rows)
    seconds = time.perf_counter() - start, time.process_time() - cpu_start
    n_pairs = sum(len(row) for row in measured[0])
    factor = n_members * (n_members - 1) / 2 / n_pairs
    return Scaled(measured, *(factor * each for each in seconds))


def measure_all(work, y, predictions):
    """Measure all pairs by our functions."""
    measures = [MEASURES[name][0] for name in work.measures]
    return [measure(predictions=predictions, y_true=y) for measure in measures]


def find_differences(work, ours, scaled):
    """Reasons why the measures are not the same; empty if they are."""
    reasons = []
    for name, matrix, rows in zip(work.measures, ours, scaled.measured, strict=True):
        for place, row in enumerate(rows):
            expected = matrix[place, place + 1 : place + 1 + len(row)]
            if not np.allclose(expected, row):
                reasons.append(f"{name} of member {place} with others differs")
    return reasons


def run_work(work, options):
    """What both found, and their times."""
    n_rows = max(100, round(N_ROWS * options.scale))
    y, predictions = make_predictions(n_rows, options.members)
    columns = np.ascontiguousarray(predictions.T)
    ours = measure_all(work, y, predictions)
    theirs = measure_some(work, y, columns)
    differences = find_differences(work, ours, theirs)
    calls = {
        "ours": lambda: measure_all(work, y, predictions),
        "theirs": lambda: measure_some(work, y, columns),
    }
    has_peer = installed_version("deslib") is not None
    return Outcome(
        time_alternately(calls, options.repeat),
        differences,
        "DESlib, extrapolated" if has_peer else "numpy, extrapolated",
        work.title,
        {"shape": predictions.shape, "deslib": installed_version("deslib")},
    )


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("diversity", __doc__, 5)
    parser.add_argument("--members", type=int, default=500, metavar="N")
    return run_pairs(parser, arguments, WORKS, run_work)
