"""Speed of smooth linear models and components beside scikit-learn's.

Both fit the same tables in turns, with as many threads: standard columns, and mixed
ones, which are correlated and of different units. What is left of the loss of theirs
above ours is written down: equal losses are equal work. Where scikit-learn's solver
does not converge on mixed columns, it stops after its default number of iterations.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from sklearn import decomposition as stock_components
from sklearn import linear_model as stock
from sklearn.datasets import load_diabetes
from sklearn.metrics import log_loss
from threadpoolctl import ThreadpoolController

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook import decomposition, linear_model

#: Largest loss of ours above theirs, relative to it.
SLACK = 1e-9


@dataclass(frozen=True)
class Work:
    """A table and two estimators: functions of the number of threads."""

    title: str
    shape: tuple[int, int]
    ours: Callable
    theirs: Callable
    #: Makes the target of standard columns from a generator.
    draw: Callable
    #: Of an estimator, X and y; None: what was found is not compared.
    measure: Callable | None
    #: How many times as fast ours shall be.
    needed: float = 1.0


def draw_classes(n_classes):
    """Make classes that overlap."""

    def draw(random, X):
        coef = random.normal(size=(X.shape[1], n_classes))
        scores = X @ coef * (2.0 / np.sqrt(X.shape[1]))
        return (scores + random.gumbel(size=scores.shape)).argmax(axis=1)

    return draw


def draw_counts(random, X):
    """Make counts of mean about 3."""
    slopes = random.uniform(-1, 1, X.shape[1]) / np.sqrt(X.shape[1])
    return random.poisson(np.exp(0.8 + X @ slopes)).astype(float)


def draw_numbers(random, X):
    """Make numbers with noise."""
    return X @ random.normal(size=X.shape[1]) + random.normal(size=len(X))


def measure_log_loss(model, X, y):
    return log_loss(y, model.predict_proba(X))


def measure_deviance(model, X, y):
    return 1.0 - model.score(X, y)


def _stock_logistic(**parameters):
    return lambda n: stock.LogisticRegression(tol=1e-6, **parameters)


def _own_logistic(**parameters):
    return lambda n: linear_model.LogisticRegression(n_jobs=n, **parameters)


FREE = {"C": np.inf}
WORKS = {
    "logistic": Work(
        "logistic; theirs lbfgs",
        (1_000_000, 20),
        _own_logistic(),
        _stock_logistic(**FREE),
        draw_classes(2),
        measure_log_loss,
        1.2,
    ),
    "logistic-cholesky": Work(
        "logistic; theirs newton-cholesky",
        (1_000_000, 20),
        _own_logistic(),
        _stock_logistic(solver="newton-cholesky", **FREE),
        draw_classes(2),
        measure_log_loss,
        1.5,
    ),
    "multinomial": Work(
        "ten classes, with standard errors; theirs lbfgs without",
        (100_000, 50),
        _own_logistic(),
        _stock_logistic(**FREE),
        draw_classes(10),
        measure_log_loss,
        1.2,
    ),
    "multinomial-penalty": Work(
        "ten classes, C=1; theirs lbfgs",
        (100_000, 50),
        _own_logistic(C=1.0),
        _stock_logistic(C=1.0),
        draw_classes(10),
        None,
        1.2,
    ),
    "poisson": Work(
        "Poisson; theirs lbfgs",
        (1_000_000, 20),
        lambda n: linear_model.GeneralizedLinearRegressor("poisson", n_jobs=n),
        lambda n: stock.PoissonRegressor(alpha=0.0, tol=1e-6),
        draw_counts,
        measure_deviance,
        1.2,
    ),
    "least-squares": Work(
        "least squares; theirs Ridge(solver='cholesky')",
        (1_000_000, 20),
        lambda n: linear_model.LinearRegression(n_jobs=n),
        lambda n: stock.Ridge(1e-9, solver="cholesky"),
        draw_numbers,
        measure_deviance,
    ),
    "components": Work(
        "ten components by random projections",
        (1_000_000, 50),
        lambda n: decomposition.PCA(10, svd_solver="randomized", random_state=0),
        lambda n: stock_components.PCA(10, svd_solver="randomized", random_state=0),
        draw_numbers,
        lambda model, X, y: -float(model.explained_variance_.sum()),
    ),
}


def _is_above(y):
    return (y > np.median(y)).astype(int)


#: Small fits of the diabetes data, 442 x 10.
SMALL = {
    "small-least-squares": (
        lambda: linear_model.LinearRegression(),
        lambda: stock.LinearRegression(),
        None,
    ),
    "small-ridge": (
        lambda: linear_model.LinearRegression(alpha=1.0),
        lambda: stock.Ridge(1.0),
        None,
    ),
    "small-logistic": (
        lambda: linear_model.LogisticRegression(),
        lambda: stock.LogisticRegression(**FREE),
        _is_above,
    ),
    "small-logistic-penalty": (
        lambda: linear_model.LogisticRegression(C=1.0),
        lambda: stock.LogisticRegression(C=1.0),
        _is_above,
    ),
    "small-poisson": (
        lambda: linear_model.GeneralizedLinearRegressor("poisson"),
        lambda: stock.PoissonRegressor(alpha=0.0, max_iter=1000),
        None,
    ),
    "small-gamma": (
        lambda: linear_model.GeneralizedLinearRegressor("gamma", "log"),
        lambda: stock.TweedieRegressor(power=2, alpha=0.0, max_iter=1000),
        None,
    ),
}


@dataclass(frozen=True)
class Case:
    """A work on columns of one kind, with so many threads."""

    work: str
    kind: str
    n_threads: int


def list_cases():
    """All works, on standard and on mixed columns, with one and with two threads."""
    kinds = ("standard", "mixed")
    cases = [Case(*each) for each in _combine(WORKS, kinds, (1, 2))]
    cases += [Case(work, "diabetes", 1) for work in SMALL]
    return {f"{case.work}-{case.kind}-{case.n_threads}": case for case in cases}


def _combine(works, kinds, threads):
    return [
        (work, kind, n)
        for work in works
        for kind in (kinds if work != "components" else kinds[:1])
        for n in threads
    ]


def make_table(work, kind, scale):
    """Rows and target; mixed columns span the same space as standard ones."""
    random = np.random.default_rng(0)
    n_rows, n_columns = max(1000, round(work.shape[0] * scale)), work.shape[1]
    X = random.normal(size=(n_rows, n_columns))
    if work.title.startswith("ten components"):
        X[:, :10] *= np.linspace(6.0, 2.0, 10)
        X = X @ np.linalg.qr(random.normal(size=(n_columns, n_columns)))[0]
    y = work.draw(random, X)
    if kind == "mixed":
        shared = X @ random.normal(size=n_columns) / np.sqrt(n_columns)
        X += 1.5 * shared[:, np.newaxis]
        X *= 10.0 ** random.uniform(-1.5, 1.5, n_columns)
        X += random.normal(size=n_columns)
    return X, y


def make_call(estimator, X, y):
    """Fit without warnings."""

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator.fit(X, y)

    return fit


def run_case(case, options):
    """What both found, and their times."""
    if case.work in SMALL:
        X, y = load_diabetes(return_X_y=True)
        *made, change = SMALL[case.work]
        ours, theirs = (make() for make in made)
        y = y if change is None else change(y)
        title, measure, needed = "diabetes, 442 x 10", None, 1.0
    else:
        work = WORKS[case.work]
        X, y = make_table(work, case.kind, options.scale)
        ours, theirs = work.ours(case.n_threads), work.theirs(case.n_threads)
        title, measure, needed = work.title, work.measure, work.needed
    calls = {
        name: make_call(model, X, y)
        for name, model in (("ours", ours), ("theirs", theirs))
    }
    # Limits would take as much time as small fits.
    is_small = case.work in SMALL
    limits = None if is_small else case.n_threads
    with ThreadpoolController().limit(limits=limits):
        times = time_alternately(calls, options.repeat)
    facts = asdict(case) | {"shape": X.shape, "needed": needed}
    facts["load"] = os.getloadavg()[0]
    differences = []
    if measure is not None:
        loss, other = measure(ours, X, y), measure(theirs, X, y)
        facts["excess"] = (other - loss) / abs(other)
        if facts["excess"] < -SLACK:
            differences.append(f"the loss of ours is {loss}, of theirs {other}")
        title += f"; their loss less ours {facts['excess']:.1g}"
    title += f"; needed {needed}; load {facts['load']:.2g}"
    return Outcome(times, differences, "scikit-learn", title, facts)


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("smooth-models", __doc__, 3)
    return run_pairs(parser, arguments, list_cases(), run_case)
