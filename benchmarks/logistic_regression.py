"""Logistic regression compared with scikit-learn's.

Whole ``fit`` calls without penalty, in turns, with the solver of scikit-learn that
takes Newton's steps, too (``newton-cholesky``), or another. What was found is compared:
the loss of ours must not be higher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression as StockLogisticRegression
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook.linear_model import LogisticRegression

#: Largest mean derivative at which scikit-learn's solver stops; ours stops later.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Work:
    """A table to be made."""

    title: str
    n_rows: int
    n_columns: int
    n_classes: int = 2
    #: Share of the cells that are not zero; None: a dense table.
    density: float | None = None

    def make_task(self, scale):
        """Rows and labels that overlap."""
        generator = np.random.default_rng(0)
        shape = (max(300, round(self.n_rows * scale)), self.n_columns)
        if self.density is None:
            X = generator.normal(size=shape)
        else:
            X = sparse.random_array(
                shape, density=self.density, random_state=generator, format="csr"
            )
        coef = generator.normal(size=(self.n_columns, self.n_classes))
        scores = X @ coef * (0.5 if self.density is None else 2.0)
        return X, (scores + generator.gumbel(size=scores.shape)).argmax(axis=1)


WORKS = {
    "binary": Work("two classes, 1,000,000 x 20", 1_000_000, 20),
    "binary-wide": Work("two classes, 20,000 x 200", 20_000, 200),
    "multinomial": Work("five classes, 200,000 x 20", 200_000, 20, 5),
    "sparse": Work("two classes, 200,000 x 500, 2% filled", 200_000, 500, 2, 0.02),
}


def limit_threads(estimator, X, y, n_threads):
    """Fit with at most so many threads."""

    def fit():
        with threadpool_limits(n_threads):
            return estimator.fit(X, y)

    return fit


def run_work(work, options):
    """What both found, and their times."""
    X, y = work.make_task(options.scale)
    n_threads = options.threads
    ours = LogisticRegression(n_jobs=n_threads, parametrization="symmetric")
    stock = StockLogisticRegression(
        C=np.inf, solver=options.solver, tol=TOLERANCE, max_iter=1000
    )
    calls = {
        "ours": limit_threads(ours, X, y, n_threads),
        "theirs": limit_threads(stock, X, y, n_threads),
    }
    times = time_alternately(calls, options.repeat)
    loss, other = (log_loss(y, model.predict_proba(X)) for model in (ours, stock))
    differences = []
    if not loss <= other + 1e-12:
        differences.append(f"the loss of ours is {loss}, of theirs {other}")
    return Outcome(times, differences, "scikit-learn", work.title)


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("logistic-regression", __doc__, 3)
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--solver", default="newton-cholesky", help="scikit-learn's")
    return run_pairs(parser, arguments, WORKS, run_work)
