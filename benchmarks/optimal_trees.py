"""Are optimal trees better, and how long does their proof take?

``times`` searches for optimal trees of depth two and three, and for those of ConTree
(exact thresholds) and STreeD (20 thresholds of each column, also given to ours): the
errors must be the same. Times are seconds of the processor, of one thread. ``gap``
stops at depth four. ``study`` fits trees to two thirds of ten public tables, up to
1,500 rows, five times with other rows, and compares the scores on the rest with those
of CART, of the same depth and pruned by cost complexity.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from benchmarks.measure import installed_version
from benchmarks.text_columns import Source, read_source
from sklearn_textbook import tree

N_THRESHOLDS = 20
MOST_ROWS = 1500
N_SPLITS = 5
SECONDS = 60.0


# --------------------------------------------------------------------------- times
def make_numbers():
    """Tables of numbers without gaps, as both peers take them."""
    yield "iris", *datasets.load_iris(return_X_y=True)
    yield "wine", *datasets.load_wine(return_X_y=True)
    yield "breast cancer", *datasets.load_breast_cancer(return_X_y=True)
    X, y = datasets.make_classification(
        1000, 8, n_informative=4, n_classes=3, flip_y=0.1, random_state=0
    )
    yield "1,000 x 8, 3 classes", X, y
    X, y = datasets.make_classification(
        5000, 10, n_informative=5, flip_y=0.1, random_state=0
    )
    yield "5,000 x 10", X, y


def cut_columns(X):
    """Ranks among 20 thresholds, and each threshold as a column of zeros and ones."""
    ranks, indicators = np.empty_like(X), []
    for j, column in enumerate(X.T):
        shares = np.arange(1, N_THRESHOLDS + 1) / (N_THRESHOLDS + 1)
        values = np.unique(np.quantile(column, shares, method="lower"))
        values = values[values < column.max()]
        ranks[:, j] = np.searchsorted(values, column)
        indicators += [column > value for value in values]
    return ranks, np.array(indicators, dtype=np.int32).T


def time_fit(fit, X, y):
    """Seconds of the processor, and the number of errors."""
    start = time.process_time()
    model = fit(X, y)
    seconds = time.process_time() - start
    return seconds, int((np.asarray(model.predict(X)) != y).sum())


def fit_own(depth):
    model = tree.OptimalTreeClassifier(max_depth=depth, time_limit=None, n_jobs=1)
    return model.fit


def fit_contree(depth):
    from pycontree import ConTree

    def fit(X, y):
        model = ConTree(max_depth=depth, time_limit=1000)
        model.fit(X, y)
        return model

    return fit


def fit_streed(depth):
    from pystreed import STreeDClassifier

    def fit(X, y):
        model = STreeDClassifier(
            "accuracy", max_depth=depth, max_num_nodes=2**depth - 1, time_limit=1000
        )
        return model.fit(X, y)

    return fit


def compare_times(depths):
    """Compare times and errors with those of the peers that are installed."""
    for name, X, y in make_numbers():
        ranks, indicators = cut_columns(X)
        for depth in depths:
            own = time_fit(fit_own(depth), X, y)
            on_ranks = time_fit(fit_own(depth), ranks, y)
            row = {"table": name, "depth": depth, "own": own, "own, 20": on_ranks}
            if installed_version("pycontree") is not None:
                row["ConTree"] = time_fit(fit_contree(depth), X, y)
                assert row["ConTree"][1] == own[1], row
            if installed_version("pystreed") is not None:
                row["STreeD, 20"] = time_fit(fit_streed(depth), indicators, y)
                assert row["STreeD, 20"][1] == on_ranks[1], row
            yield row


def find_gaps(seconds):
    """Stop the search for trees of depth four."""
    for name, X, y in make_numbers():
        model = tree.OptimalTreeClassifier(max_depth=4, time_limit=seconds)
        start = time.perf_counter()
        model.fit(X, y)
        yield {
            "table": name,
            "seconds": round(time.perf_counter() - start, 1),
            "errors": int((model.predict(X) != y).sum()),
            "at least": float(np.ceil(model.lower_bound_ * len(y) - 1e-6)),
        }


# --------------------------------------------------------------------------- study
def make_sources():
    """Ten tables: classes and values, text and gaps."""
    from benchmarks.text_columns import SOURCES

    for name in ("lending", "churn", "vote", "football", "police", "flights"):
        yield name, lambda s=SOURCES[name]: read_source(s, MOST_ROWS)
    for name in ("ames", "loans"):
        yield name, lambda s=SOURCES[name]: read_source(s, MOST_ROWS)
    penguins = Source("palmerpenguins", "penguins", "sex", "male")
    yield "penguins", lambda: read_source(penguins, MOST_ROWS)
    yield "breast cancer", lambda: (*datasets.load_breast_cancer(return_X_y=True), True)


def list_models(is_class):
    """The trees by name: CART, and optimal ones of two depths."""
    kind = "Classifier" if is_class else "Regressor"
    cart = getattr(tree, f"CART{kind}")
    best = getattr(tree, f"OptimalTree{kind}")
    models = {
        "CART, pruned": cart(pruning="cost_complexity"),
        "CART, depth 2": cart(max_depth=2),
        "optimal, depth 2": best(max_depth=2, time_limit=SECONDS),
        "CART, depth 3": cart(max_depth=3),
        "optimal, depth 3": best(max_depth=3, time_limit=SECONDS),
    }
    if is_class:
        models["depth 3, complexity 0.005"] = best(
            max_depth=3, time_limit=SECONDS, complexity=0.005
        )
    return models


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def study_table(read, n_splits):
    """Scores of all models on the rows held out: accuracy or R²."""
    X, y, is_class = read()
    kind = StratifiedShuffleSplit if is_class else ShuffleSplit
    scores = {name: [] for name in list_models(is_class)}
    finished = {name: [] for name in scores}
    for train, test in kind(n_splits, test_size=1 / 3, random_state=0).split(X, y):
        for name, model in list_models(is_class).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(take(X, train), y[train])
            scores[name].append(model.score(take(X, test), y[test]))
            finished[name].append(bool(getattr(model, "is_optimal_", True)))
    mean = {name: 100 * float(np.mean(each)) for name, each in scores.items()}
    error = {
        name: 100
        * float(np.std(np.subtract(each, scores["CART, pruned"]), ddof=1))
        / np.sqrt(n_splits)
        for name, each in scores.items()
    }
    shares = {name: float(np.mean(each)) for name, each in finished.items()}
    return {"rows": len(y), "mean": mean, "error": error, "finished": shares}


def main(arguments=None):
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study optimal-trees", description=__doc__
    )
    parser.add_argument("part", choices=("times", "gap", "study"))
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3], metavar="N")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--splits", type=int, default=N_SPLITS, metavar="N")
    parser.add_argument("--json", metavar="FILE", help="write all figures here")
    options = parser.parse_args(arguments)
    rows = []
    if options.part == "study":
        for name, read in make_sources():
            if name not in (options.tables or [name]):
                continue
            rows.append({"table": name, **study_table(read, options.splits)})
            print(rows[-1], flush=True)
    else:
        found = find_gaps(options.seconds)
        if options.part == "times":
            found = compare_times(options.depths)
        for row in found:
            rows.append(row)
            print(row, flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1, default=float))
