"""What pruning is worth.

Grows trees of noisy tables, prunes them by every method, and compares how well they
predict rows that had no part in it, and how many leaves they have.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from sklearn import datasets
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
    ErrorBasedPruning,
    LossPruning,
    PrePruning,
    ReducedErrorPruning,
)

TEST_SHARE = 1 / 3
N_SPLITS = 20
#: Colours of Okabe and Ito, and marks, of the methods in the picture.
STYLES = (
    ("#E69F00", "v"),
    ("#56B4E9", "s"),
    ("#009E73", "P"),
    ("#0072B2", "o"),
    ("#D55E00", "D"),
    ("#CC79A7", "X"),
)


@dataclass(frozen=True)
class Table:
    """A table with a target to predict."""

    name: str
    X: object
    y: np.ndarray
    is_regression: bool = False


def plan_loss_pruning(table, n_rows):
    """The price of a leaf by the Bayesian information criterion.

    Half the logarithm of the number of rows for each parameter that a leaf adds: the
    shares of all classes but one, and a threshold.
    """
    if table.is_regression:
        return None
    alpha = 0.5 * len(np.unique(table.y)) * np.log(n_rows)
    return LossPruning(alpha, criterion="entropy")


#: Name -> what makes the pruner for a table and its number of training rows; None
#: where the method has no meaning.
METHODS = {
    "pre_pruning": lambda table, n_rows: PrePruning(),
    "reduced error": lambda table, n_rows: ReducedErrorPruning(),
    "loss (BIC)": plan_loss_pruning,
    "cost complexity, min": lambda table, n_rows: CostComplexityPruning(),
    "cost complexity, 1se": lambda table, n_rows: CostComplexityPruning(rule="1se"),
    "error_based": lambda table, n_rows: (
        None if table.is_regression else ErrorBasedPruning()
    ),
}


def _make_mixed(name, **options):
    X, y = make_mixed_table(as_frame=True, random_state=0, **options)
    is_regression = options.get("task") == "regression"
    return Table(name, X, y.to_numpy(), is_regression)


def make_tables():
    """The tables: those that come with scikit-learn, and generated ones with noise."""
    yield Table("iris", *datasets.load_iris(return_X_y=True))
    yield Table("wine", *datasets.load_wine(return_X_y=True))
    yield Table("breast cancer", *datasets.load_breast_cancer(return_X_y=True))
    yield Table("digits", *datasets.load_digits(return_X_y=True))
    yield Table("moons", *datasets.make_moons(1_000, noise=0.35, random_state=0))
    noisy = datasets.make_classification(
        2_000, 20, n_informative=8, flip_y=0.2, random_state=0
    )
    yield Table("clusters, 10 % wrong labels", *noisy)
    noisy = datasets.make_classification(
        2_000, 20, n_informative=8, n_classes=4, flip_y=0.2, random_state=1
    )
    yield Table("four classes, 15 % wrong", *noisy)
    yield _make_mixed("mixed, 10 % wrong", n_samples=2_000, label_noise=0.1)
    yield _make_mixed(
        "mixed, 20 % wrong, 10 % missing",
        n_samples=3_000,
        n_classes=5,
        n_rules=12,
        label_noise=0.2,
        missing_fraction=0.1,
    )
    yield Table("diabetes", *datasets.load_diabetes(return_X_y=True), True)
    friedman = datasets.make_friedman1(1_000, 10, noise=2.5, random_state=0)
    yield Table("Friedman 1", *friedman, True)
    yield _make_mixed(
        "mixed, noise, 10 % missing",
        n_samples=2_000,
        task="regression",
        noise=1.0,
        missing_fraction=0.1,
    )


def take_rows(X, rows):
    """Rows of an array or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def study_table(table, n_splits=N_SPLITS):
    """Score and count the leaves of the unpruned tree and of every method.

    Returns
    -------
    dict
        Name of the method, "unpruned" first -> array of shape (n_splits, 2): the
        accuracy (or R2) on the test rows, and the leaves. A method without meaning
        for the table is missing.
    """
    make = CARTRegressor if table.is_regression else CARTClassifier
    split = ShuffleSplit if table.is_regression else StratifiedShuffleSplit
    splitter = split(n_splits, test_size=TEST_SHARE, random_state=0)
    results = {}
    for train, test in splitter.split(np.zeros(len(table.y)), table.y):
        X, y = take_rows(table.X, train), table.y[train]
        pruners = {name: plan(table, len(train)) for name, plan in METHODS.items()}
        pruners = {name: made for name, made in pruners.items() if made is not None}
        for name, pruner in {"unpruned": None, **pruners}.items():
            tree = make(pruning=pruner).fit(X, y)
            score = tree.score(take_rows(table.X, test), table.y[test])
            results.setdefault(name, []).append((score, tree.get_n_leaves()))
    return {name: np.array(rows) for name, rows in results.items()}


def compare_scores(scores, others):
    """Mean difference of paired scores, and its standard error.

    Nadeau and Bengio's correction: the training rows of the splits overlap.
    """
    difference = scores - others
    share = 1.0 / len(difference) + TEST_SHARE / (1.0 - TEST_SHARE)
    return difference.mean(), np.sqrt(difference.var(ddof=1) * share)


def format_table(studies):
    """The results as a table of the documentation: score in per cent, leaves."""
    names = ["unpruned", *METHODS]
    yield ".. csv-table::"
    yield "   :header: table, " + ", ".join(f'"{name}"' for name in names)
    yield ""
    for table, results in studies:
        cells = [f'"{table.name}"']
        for name in names:
            if name not in results:
                cells.append("–")
                continue
            score, leaves = results[name].mean(axis=0)
            gain, error = compare_scores(results[name][:, 0], results["unpruned"][:, 0])
            mark = ("−", "", "+")[1 + int(gain > 2 * error) - int(gain < -2 * error)]
            cells.append(f'"{100 * score:.1f}{mark} ({leaves:.0f})"')
        yield "   " + ", ".join(cells)


def draw_picture(studies, path):
    """Draw what the methods gain over the unpruned tree, and the leaves they keep."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 0.42 * len(studies) + 1.6), sharey=True, layout="constrained"
    )
    places = np.arange(len(studies))
    for number, (name, (color, mark)) in enumerate(zip(METHODS, STYLES, strict=True)):
        shift = 0.1 * (number - (len(METHODS) - 1) / 2)
        shown = [row for row in places if name in studies[row][1]]
        rows = [studies[row][1] for row in shown]
        gains = [compare_scores(r[name][:, 0], r["unpruned"][:, 0]) for r in rows]
        gains = 100 * np.array(gains).reshape(-1, 2)
        at = np.array(shown) + shift
        style = {"color": color, "marker": mark, "linestyle": "none", "markersize": 5}
        left.errorbar(gains[:, 0], at, xerr=gains[:, 1], linewidth=0.8, **style)
        leaves = [r[name][:, 1].mean() for r in rows]
        right.plot(leaves, at, label=name, **style)
    leaves = [results["unpruned"][:, 1].mean() for _, results in studies]
    style = {"color": "black", "marker": "|", "markersize": 13, "linestyle": "none"}
    right.plot(leaves, places, label="unpruned", **style)
    for ax in (left, right):
        ax.set_ylim(len(studies) - 0.5, -0.5)
        ax.hlines(places[1:] - 0.5, 0, 1, "#DADCE0", lw=0.6, transform=_across(ax))
    left.axvline(0.0, color="black", linewidth=0.8)
    left.set_xscale("symlog", linthresh=10.0, linscale=1.0)
    left.set_xticks([-5, 0, 5, 10, 25, 50], ["−5", "0", "+5", "+10", "+25", "+50"])
    left.set_xticks([], minor=True)
    left.set_yticks(places, [_name_row(table) for table, _ in studies])
    left.set_xlabel("gain over the unpruned tree, percentage points")
    right.set_xscale("log")
    right.set_xlabel("leaves")
    figure.legend(loc="outside lower center", ncols=len(METHODS) + 1, fontsize="small")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _across(ax):
    return ax.get_yaxis_transform()


def _name_row(table):
    return f"{table.name} (R²)" if table.is_regression else table.name


def main(arguments=None):
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study pruning", description=__doc__
    )
    parser.add_argument("--splits", type=int, default=N_SPLITS, metavar="N")
    parser.add_argument("--picture", metavar="FILE", help="draw the results, too")
    options = parser.parse_args(arguments)
    studies = [(table, study_table(table, options.splits)) for table in make_tables()]
    print("\n".join(format_table(studies)))
    if options.picture:
        draw_picture(studies, options.picture)
