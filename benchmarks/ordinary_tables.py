"""Forests as most are fitted.

Tables have missing cells, nominal columns, weights or few values, and forests options
that are not the default. Ours and scikit-learn's fit the same rows in turns with as
many threads. Accuracy or R² on rows held out and the leaves of a tree are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn import ensemble as stock_ensemble
from sklearn import tree as stock_tree
from sklearn.datasets import make_regression

from benchmarks import pairs, same_work
from benchmarks.measure import count_cores, time_alternately
from benchmarks.peers import ScikitLearnTree
from benchmarks.work_tables import N_FEATURES, N_TEST, cut_column, make_classes, scaled
from sklearn_textbook import ensemble, tree

#: Levels of the nominal columns, which are the first ones.
N_LEVELS = (4, 8, 12, 20, 30, 48)
#: Other rows and columns are sampled: the forests are as good and the trees as large.
TOLERANCE = same_work.Tolerance(leaves=0.05, score=0.005, chance=1.0)
#: Ours divides the levels into sets: such trees are smaller and better.
NOMINAL_TOLERANCE = replace(TOLERANCE, leaves=0.3, score=0.05)

FOREST = ensemble.RandomForestClassifier, stock_ensemble.RandomForestClassifier
FOREST_REGRESSION = ensemble.RandomForestRegressor, stock_ensemble.RandomForestRegressor
EXTRA_TREES = ensemble.ExtraTreesClassifier, stock_ensemble.ExtraTreesClassifier
TREE = tree.CARTClassifier, stock_tree.DecisionTreeClassifier
OWN_TREE = tree.CARTClassifier, tree.CARTClassifier


def make_numbers(n_rows):
    return make_regression(n_rows, N_FEATURES, random_state=0)


def make_counts(n_rows):
    """Counts; the logarithm of their mean is linear in the columns."""
    X, y = make_numbers(n_rows)
    means = np.exp(1 + y / (2 * np.std(y)))
    return X, np.random.default_rng(0).poisson(means).astype(np.float64)


def make_few_missing(n_rows):
    """One cell in 200 of one column is missing: 500 of 100,000."""
    X, y = make_classes(n_rows)
    rows = np.random.default_rng(0).choice(n_rows, n_rows // 200, replace=False)
    X[rows, 0] = np.nan
    return X, y


def lose_cells(make):
    """Make the same table with 5 % of all cells missing."""

    def make_missing(n_rows):
        X, y = make(n_rows)
        X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
        return X, y

    return make_missing


def make_nominal(n_rows):
    """Six columns are codes of levels, whose order means nothing."""
    X, y = make_classes(n_rows)
    random = np.random.default_rng(0)
    for j, n_levels in enumerate(N_LEVELS):
        levels = cut_column(X[:, j], n_levels).astype(np.intp)
        X[:, j] = random.permutation(n_levels)[levels]
    return X, y


def make_integers(n_rows):
    """All columns are 0 to 9."""
    X, y = make_classes(n_rows)
    return np.apply_along_axis(cut_column, 0, X, 10), y


def make_increasing(n_rows):
    """The first column is the one that goes with the class most, upwards."""
    X, y = make_classes(n_rows)
    slopes = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    j = np.argmax(np.abs(slopes))
    X[:, [0, j]] = X[:, [j, 0]]
    X[:, 0] *= np.sign(slopes[j])
    return X, y


@dataclass(frozen=True)
class Work:
    """A table, and the estimators that are fitted to it."""

    title: str
    #: n_rows -> X, y
    make: Callable
    #: our class, and the one that it is compared with
    estimators: tuple = FOREST
    #: parameters of both
    parameters: Mapping = field(default_factory=dict)
    #: further parameters of ours, and of the other one
    own: Mapping = field(default_factory=dict)
    other: Mapping = field(default_factory=dict)
    is_weighted: bool = False
    #: None: they are not meant to do the same work
    tolerance: same_work.Tolerance | None = TOLERANCE
    peer: str = "scikit-learn"


def _regression(title, make, max_features="sqrt", **parameters):
    parameters["max_features"] = max_features
    return Work(f"regression, {title}", make, FOREST_REGRESSION, parameters)


NOMINAL = {"categorical_features": list(range(len(N_LEVELS)))}
INCREASING = {"monotonic_cst": [1] + [0] * (N_FEATURES - 1)}
SMALL = {"max_leaf_nodes": 31}

WORKS = {
    "numeric": Work("two classes", make_classes),
    "few-missing": Work("0.5% of one column missing", make_few_missing),
    "missing": Work("5% of all cells missing", lose_cells(make_classes)),
    "nominal": Work(
        "six nominal columns, to scikit-learn numbers",
        make_nominal,
        own=NOMINAL,
        tolerance=NOMINAL_TOLERANCE,
    ),
    "weights": Work("random weights", make_classes, is_weighted=True),
    "balanced": Work(
        "balanced classes", make_classes, parameters={"class_weight": "balanced"}
    ),
    "no-bootstrap": Work(
        "random weights, no bootstrap",
        make_classes,
        parameters={"bootstrap": False},
        is_weighted=True,
    ),
    "increasing": Work(
        "increasing in one column", make_increasing, parameters=INCREASING
    ),
    "out_of_bag": Work(
        "out-of-bag score", make_classes, parameters={"oob_score": True}
    ),
    "integers": Work("columns of 0 to 9", make_integers),
    "poisson": _regression("Poisson deviance", make_counts, criterion="poisson"),
    "regression": _regression("all columns in a node", make_numbers, 1.0),
    "regression-missing": _regression(
        "a third of the columns, 5% missing", lose_cells(make_numbers), 1 / 3
    ),
    "extra-trees": Work("extra trees", make_classes, EXTRA_TREES),
    "extra-trees-missing": Work(
        "extra trees, 5% of all cells missing", lose_cells(make_classes), EXTRA_TREES
    ),
    "small-tree": Work("one tree of 31 leaves", make_classes, TREE, SMALL),
    "small-tree-full": Work(
        "one tree of 31 leaves, and fully grown",
        make_classes,
        OWN_TREE,
        own=SMALL,
        tolerance=None,
        peer="ours fully grown",
    ),
}


def make_estimators(work, n_trees, n_threads):
    """Ours and the other one, by the names of their times."""
    sides = zip(
        *(("ours", "theirs"), work.estimators, (work.own, work.other)), strict=True
    )
    estimators = {}
    for who, estimator, further in sides:
        given = {"random_state": 0, "n_estimators": n_trees, "n_jobs": n_threads}
        known = estimator().get_params()
        given = {name: value for name, value in given.items() if name in known}
        estimators[who] = estimator(**given, **work.parameters, **further)
    return estimators


def count_leaves(model):
    """Leaves of a tree on average, without splits of pure nodes."""
    count = ScikitLearnTree().count_leaves
    return round(
        np.mean([count(tree) for tree in getattr(model, "estimators_", [model])])
    )


def run_work(work, options):
    """Times of both, and what they found."""
    n_rows = scaled(100_000, options.scale, least=600)
    X, y = work.make(n_rows + N_TEST)
    weights = np.random.default_rng(0).random(n_rows) if work.is_weighted else None
    models = make_estimators(work, options.trees, options.threads)
    calls = {
        who: lambda model=model: model.fit(
            X[:n_rows], y[:n_rows], sample_weight=weights
        )
        for who, model in models.items()
    }
    times = time_alternately(calls, options.repeat)
    found = {
        who: same_work.Outcome(
            count_leaves(model), None, model.score(X[n_rows:], y[n_rows:]), None
        )
        for who, model in models.items()
    }
    differences = []
    if work.tolerance is not None:
        tolerance = same_work.add_chance(work.tolerance, n_rows)
        differences = same_work.find_differences(*found.values(), tolerance)
    facts = {
        "shape": (n_rows, X.shape[1]),
        "leaves": {who: outcome.n_leaves for who, outcome in found.items()},
        "scores": {who: outcome.score for who, outcome in found.items()},
    }
    return pairs.Outcome(times, differences, work.peer, work.title, facts)


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = pairs.make_parser("ordinary-tables", __doc__, 5)
    parser.add_argument("--trees", type=int, default=100, metavar="N")
    parser.add_argument("--threads", type=int, default=count_cores(), metavar="N")
    return pairs.run_pairs(parser, arguments, WORKS, run_work)
