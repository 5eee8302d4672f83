"""IIS beside NLTK's.

Both fit the same features f(x, y) by as many rounds of improved iterative scaling, in
turns. What they found is compared before it is timed: the probabilities of the
training rows. NLTK is handed its features ready, as lists of numbers and values.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook.linear_model import MaxEntClassifier

N_CLASSES = 3
#: Rows whose probabilities are compared.
N_COMPARED = 200


@dataclass(frozen=True)
class Task:
    """A csr_array of columns, each of which is a feature for every class; labels."""

    matrix: sparse.csr_array
    y: np.ndarray

    def make_blocks(self):
        """The features of pairs: the row at the place of its class, else zeros."""
        blocks = [
            sparse.hstack(
                [self.matrix if k == y else 0 * self.matrix for k in range(N_CLASSES)]
            )
            for y in range(N_CLASSES)
        ]
        stacked = sparse.csr_array(sparse.hstack(blocks))
        stacked.eliminate_zeros()
        return stacked


@dataclass(frozen=True)
class Work:
    """A table; ``needed`` is the ratio of times that is needed with one thread."""

    title: str
    n_rows: int
    make_task: Callable[[int], Task]
    #: whether the features are handed over for each pair, else as columns
    by_pairs: bool
    needed: float | None = None


def _draw_labels(matrix, random):
    weights = random.normal(size=(matrix.shape[1], N_CLASSES))
    scores = matrix @ weights
    scores /= scores.std()
    return (scores + random.gumbel(size=scores.shape)).argmax(axis=1)


def make_nominal(n_rows, n_columns=10, n_levels=5):
    """Indicators of the levels of nominal columns: f# is their number, always."""
    random = np.random.default_rng(0)
    codes = random.integers(n_levels, size=(n_rows, n_columns))
    places = codes + n_levels * np.arange(n_columns)
    starts = np.arange(n_rows + 1) * n_columns
    matrix = sparse.csr_array(
        (np.ones(places.size), places.ravel(), starts),
        shape=(n_rows, n_columns * n_levels),
    )
    return Task(matrix, _draw_labels(matrix, random))


def make_counts(n_rows):
    """Counts of words in texts of 20 to 60: f# is the length of the text.

    A word for ten texts, so that each occurs in every class: NLTK needs that.
    """
    random, n_words = np.random.default_rng(0), n_rows // 10
    shares = 1.0 / (5.0 + np.arange(n_words))
    shares /= shares.sum()
    lengths = random.integers(20, 61, n_rows)
    matrix = np.array([random.multinomial(n, shares) for n in lengths], dtype=float)
    matrix = sparse.csr_array(matrix)
    return Task(matrix, _draw_labels(matrix, random))


def make_numbers(n_rows, n_columns=10):
    """Numbers between 0 and 1: f# is another in every row."""
    random = np.random.default_rng(0)
    matrix = random.random((n_rows, n_columns))
    matrix = sparse.csr_array(matrix / matrix.max(axis=0))  # so that ours needs not
    return Task(matrix, _draw_labels(matrix, random))


WORKS = {
    "nominal": Work(
        "ten nominal columns of five levels, 5,000 rows: f# is constant",
        5_000,
        make_nominal,
        by_pairs=False,
        needed=50,
    ),
    "counts": Work(
        "counts of 200 words, 2,000 texts: 41 values of f#",
        2_000,
        make_counts,
        by_pairs=True,
        needed=50,
    ),
    "numbers": Work(
        "ten columns of numbers, 1,000 rows: f# differs from row to row",
        1_000,
        make_numbers,
        by_pairs=False,
        needed=50,
    ),
}


def make_ours(work, task, n_rounds, n_jobs):
    """A call that fits ours, and what gives the probabilities of the first rows."""
    X = task.make_blocks() if work.by_pairs else task.matrix
    model = MaxEntClassifier(
        "precomputed" if work.by_pairs else "columns",
        solver="iis",
        fit_intercept=False,
        max_iter=n_rounds,
        tol=0.0,
        n_jobs=n_jobs,
    )

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # as was asked for
            return model.fit(X, task.y)

    return fit, lambda fitted: fitted.predict_proba(X[:N_COMPARED])


class ReadyEncoding:
    """NLTK's interface of features: numbers and values of each row and class."""

    def __init__(self, task):
        self.n_columns = task.matrix.shape[1]
        rows = [
            list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            for row in (task.matrix[[i]] for i in range(task.matrix.shape[0]))
        ]
        self.lists = [
            [
                [(j + k * self.n_columns, value) for j, value in row]
                for k in range(N_CLASSES)
            ]
            for row in rows
        ]

    def encode(self, row, label):
        return self.lists[row][label]

    def length(self):
        return self.n_columns * N_CLASSES

    def labels(self):
        return list(range(N_CLASSES))


def make_theirs(task, n_rounds):
    """The same of NLTK."""
    from nltk.classify.maxent import train_maxent_classifier_with_iis

    encoding = ReadyEncoding(task)
    rows = list(enumerate(task.y.tolist()))

    def fit():
        # It stops before the round of this number.
        return train_maxent_classifier_with_iis(
            rows, 0, encoding, encoding.labels(), max_iter=n_rounds + 1
        )

    def find_probabilities(model):
        answers = [model.prob_classify(row) for row, _ in rows[:N_COMPARED]]
        return np.array([[a.prob(k) for k in range(N_CLASSES)] for a in answers])

    return fit, find_probabilities


def find_differences(ours, theirs, tolerance=1e-6):
    """Reasons why two fits did not do the same work; empty if they did."""
    difference = float(np.abs(ours - theirs).max())
    if difference <= tolerance:
        return []
    return [f"probabilities differ by up to {difference:.2g}"]


def run_work(work, options):
    """What both found, and their times."""
    task = work.make_task(max(300, round(work.n_rows * options.scale)))
    fit, ask = make_ours(work, task, options.rounds, options.threads)
    fit_theirs, ask_theirs = make_theirs(task, options.rounds)
    differences = find_differences(ask(fit()), ask_theirs(fit_theirs()))
    times = time_alternately({"ours": fit, "theirs": fit_theirs}, options.repeat)
    title = f"{work.title}; {options.rounds} rounds"
    return Outcome(times, differences, "NLTK", title, {"needed": work.needed})


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("maximum-entropy", __doc__, 3)
    parser.add_argument("--rounds", type=int, default=20, help="of iterative scaling")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="for ours")
    return run_pairs(parser, arguments, WORKS, run_work, ("nltk",))
