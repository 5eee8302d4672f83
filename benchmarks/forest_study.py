"""The command ``python -m benchmarks.forest_study``: are our forests as good?

Fits random forests of this package, of scikit-learn and of R's ranger to the same rows,
20 times with other seeds and other training rows, and compares how well they predict
the rows held out, and what their out-of-bag estimates say.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.programs import Scratch, call_program
from benchmarks.pruning_study import take_rows
from benchmarks.ranger import find_ranger_version
from sklearn_textbook import ensemble
from sklearn_textbook.datasets import load_watermelon, make_mixed_table

N_SEEDS, N_TREES = 20, 100
TEST_SHARE = 1 / 3
#: What is measured of every forest, in this order.
MEASURES = ("test", "out-of-bag")


@dataclass(frozen=True)
class Table:
    """A table with a target to predict."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    is_regression: bool = False

    @property
    def nominal(self):
        """Names of the nominal columns."""
        return list(self.X.select_dtypes(exclude="number").columns)

    @property
    def max_features(self):
        """Columns drawn at a node, the same for everybody."""
        n_columns = self.X.shape[1]
        share = n_columns / 3 if self.is_regression else np.sqrt(n_columns)
        return max(1, int(share))


def _from_arrays(name, X, y, is_regression=False):
    return Table(name, pd.DataFrame(X).add_prefix("x"), np.asarray(y), is_regression)


def _make_mixed(name, **options):
    X, y = make_mixed_table(as_frame=True, random_state=0, **options)
    is_regression = options.get("task") == "regression"
    return Table(name, X, y.to_numpy(), is_regression)


def make_watermelons():
    """The book's melons, drawn 300 times with wrong labels and noise in the numbers."""
    X, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    random = np.random.default_rng(0)
    rows = random.integers(len(y), size=300)
    X, y = X.iloc[rows].reset_index(drop=True), np.asarray(y)[rows]
    for name in X.select_dtypes("number"):
        X[name] += random.normal(0, 0.1, len(y))
    for name in X.select_dtypes(exclude="number"):
        X[name] = pd.Categorical(X[name].astype(str))
    wrong = random.random(len(y)) < 0.15
    labels = np.unique(y)
    y = np.where(wrong, np.where(y == labels[0], labels[1], labels[0]), y)
    return Table("watermelons, 15 % wrong", X, y)


def make_tables():
    """The tables: numbers, nominal columns, missing values; classes and values."""
    yield _from_arrays("wine", *datasets.load_wine(return_X_y=True))
    yield _from_arrays("breast cancer", *datasets.load_breast_cancer(return_X_y=True))
    yield _from_arrays("digits", *datasets.load_digits(return_X_y=True))
    noisy = datasets.make_classification(
        2_000, 20, n_informative=8, flip_y=0.2, random_state=0
    )
    yield _from_arrays("clusters, 10 % wrong", *noisy)
    yield make_watermelons()
    yield _make_mixed("mixed, 10 % wrong", n_samples=1_500, label_noise=0.1)
    yield _make_mixed(
        "mixed, 5 classes, 10 % missing",
        n_samples=1_500,
        n_classes=5,
        n_rules=12,
        label_noise=0.1,
        missing_fraction=0.1,
    )
    yield _from_arrays("diabetes", *datasets.load_diabetes(return_X_y=True), True)
    friedman = datasets.make_friedman1(1_000, 10, noise=1.0, random_state=0)
    yield _from_arrays("Friedman 1", *friedman, True)
    yield _make_mixed(
        "mixed, values, 10 % missing",
        n_samples=1_500,
        task="regression",
        noise=0.5,
        missing_fraction=0.1,
    )


# ----------------------------------------------------------------------- the forests
@dataclass(frozen=True)
class Split:
    """Training rows and rows held out, and the seed of the forests."""

    X: pd.DataFrame
    X_test: pd.DataFrame
    y: np.ndarray
    y_test: np.ndarray
    seed: int


def make_splits(table, n_seeds):
    """Divide a table once for each seed."""
    for seed in range(n_seeds):
        rows = np.arange(len(table.y))
        classes = None if table.is_regression else table.y
        train, test = train_test_split(
            rows, test_size=TEST_SHARE, stratify=classes, random_state=seed
        )
        X, X_test = take_rows(table.X, train), take_rows(table.X, test)
        yield Split(X, X_test, table.y[train], table.y[test], seed)


def score_own(table, splits, n_trees):
    """Our forests, on the table as it is."""
    name = f"RandomForest{'Regressor' if table.is_regression else 'Classifier'}"
    for split in splits:
        forest = getattr(ensemble, name)(
            n_trees,
            max_features=table.max_features,
            oob_score=True,
            random_state=split.seed,
        )
        forest.fit(split.X, split.y)
        yield forest.score(split.X_test, split.y_test), forest.oob_score_


def score_scikit_learn(table, splits, n_trees):
    """scikit-learn's forests, with an indicator column for every level."""
    make = RandomForestRegressor if table.is_regression else RandomForestClassifier
    share = table.max_features / table.X.shape[1] if table.is_regression else "sqrt"
    indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    for split in splits:
        encoder = make_column_transformer(
            (indicators, table.nominal), remainder="passthrough"
        )
        forest = make(
            n_trees, max_features=share, oob_score=True, random_state=split.seed
        )
        model = make_pipeline(encoder, forest).fit(split.X, split.y)
        yield model.score(split.X_test, split.y_test), forest.oob_score_


#: The levels of a factor are put into the order of the classes or of the target, once,
#: as ranger's manual advises. Before 0.16.4 it takes no missing values: they become the
#: median, or the commonest level.
SCRIPT = """
suppressPackageStartupMessages(library(ranger))
given <- commandArgs(trailingOnly = TRUE)
is_regression <- given[2] == "regression"
size <- as.integer(given[3:5])
read <- function(name, seed) {
  file <- file.path(given[1], paste0(name, seed, ".csv"))
  read.csv(file, stringsAsFactors = TRUE, na.strings = "")
}
score <- function(found, true) {
  if (is_regression) {
    return(1 - sum((found - true)^2) / sum((true - mean(true))^2))
  }
  mean(colnames(found)[max.col(found, "first")] == as.character(true))
}
for (seed in seq_len(size[3]) - 1) {
  train <- read("train", seed)
  test <- read("test", seed)
  for (name in setdiff(names(train), "target")) {
    known <- train[[name]][!is.na(train[[name]])]
    fill <- if (is.factor(known)) names(which.max(table(known))) else median(known)
    if (is.factor(known)) {
      all <- union(levels(train[[name]]), levels(test[[name]]))
      train[[name]] <- factor(train[[name]], all)
      test[[name]] <- factor(test[[name]], all)
    }
    train[[name]][is.na(train[[name]])] <- fill
    test[[name]][is.na(test[[name]])] <- fill
  }
  if (!is_regression) train$target <- factor(train$target, sort(unique(train$target)))
  forest <- ranger(
    dependent.variable.name = "target", data = train, num.trees = size[1],
    mtry = size[2], probability = !is_regression, min.node.size = 1,
    respect.unordered.factors = "order", num.threads = 1, seed = seed + 1
  )
  found <- predict(forest, test, num.threads = 1)$predictions
  out <- as.matrix(forest$predictions)
  judged <- !is.nan(out[, 1])
  cat(format(score(found, test$target), digits = 15),
      format(score(out[judged, ], train$target[judged]), digits = 15), "\\n")
}
"""


def write_levels(frame):
    """The frame with texts in the nominal columns, and columns named x0, x1, ..."""
    written = {}
    for number, (_, column) in enumerate(frame.items()):
        if not pd.api.types.is_numeric_dtype(column):
            column = column.astype(object).map("level {}".format, na_action="ignore")
        written[f"x{number}"] = column
    return pd.DataFrame(written)


def score_ranger(table, splits, n_trees):
    """ranger's forests, on factors, all in one call of R."""
    scratch = Scratch()
    script = scratch.directory / "study.R"
    script.write_text(SCRIPT)
    # Class numbers, so that all put the classes into the same order.
    labels = None if table.is_regression else np.unique(table.y)
    n_splits = 0
    for split in splits:
        n_splits += 1
        for name, X, y in (
            ("train", split.X, split.y),
            ("test", split.X_test, split.y_test),
        ):
            frame = write_levels(X)
            frame["target"] = y if labels is None else np.searchsorted(labels, y)
            path = scratch.directory / f"{name}{split.seed}.csv"
            frame.to_csv(path, index=False, na_rep="")
    kind = "regression" if table.is_regression else "classification"
    sizes = map(str, (n_trees, table.max_features, n_splits))
    printed = call_program(
        ["Rscript", str(script), str(scratch.directory), kind, *sizes]
    )
    return [tuple(map(float, line.split())) for line in printed.splitlines()]


#: Name -> what yields, for every split, the scores in the order of MEASURES.
FORESTS = {
    "ours": score_own,
    "scikit-learn": score_scikit_learn,
    "ranger": score_ranger,
}


def study_table(table, n_seeds=N_SEEDS, n_trees=N_TREES, forests=FORESTS):
    """Score every forest on a table.

    Returns
    -------
    dict
        Name of the forest -> array of shape (n_seeds, 2): accuracy, or R2, on the rows
        held out, and the same of the out-of-bag estimate.
    """
    splits = list(make_splits(table, n_seeds))
    return {
        name: np.array(list(score(table, splits, n_trees)))
        for name, score in forests.items()
    }


@dataclass(frozen=True)
class Difference:
    """Our mean score less a peer's, of runs with the same training rows."""

    mean: float
    #: standard error of the mean, from the differences of the pairs
    error: float
    #: standard deviation of the peer's scores: the standard error of one run
    spread: float

    @property
    def is_within(self):
        """Whether it is within one standard error of a run of the peer."""
        return abs(self.mean) <= self.spread

    @property
    def verdict(self):
        """Whether ours are "equal", "better" or "worse" than the peer's."""
        if self.is_within:
            return "equal"
        return "better" if self.mean > 0 else "worse"


def compare_scores(ours, theirs):
    """Compare the scores of two forests, run by run."""
    gain = ours - theirs
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    return Difference(float(gain.mean()), float(error), float(theirs.std(ddof=1)))


def list_differences(studies):
    """Every comparison: (table, measure, peer, Difference)."""
    for table, results in studies:
        for peer in results:
            if peer == "ours":
                continue
            for number, measure in enumerate(MEASURES):
                ours, theirs = results["ours"][:, number], results[peer][:, number]
                yield table, measure, peer, compare_scores(ours, theirs)


def format_table(studies):
    """The results as a table of the documentation, in per cent.

    Of each peer the mean, and in brackets our difference with its standard error.
    """
    peers = [name for name in studies[0][1] if name != "ours"]
    columns = [
        f"{name}, {measure}" for measure in MEASURES for name in ("ours", *peers)
    ]
    yield ".. csv-table::"
    yield "   :header: table, " + ", ".join(f'"{name}"' for name in columns)
    yield ""
    for table, results in studies:
        cells = [f'"{table.name}"']
        for number, _ in enumerate(MEASURES):
            ours = results["ours"][:, number]
            cells.append(f'"{100 * ours.mean():.1f}"')
            for peer in peers:
                theirs = results[peer][:, number]
                found = compare_scores(ours, theirs)
                mark = {"equal": "", "better": " +", "worse": " −"}[found.verdict]
                gain = f"{100 * found.mean:+.1f} ± {100 * found.error:.1f}"
                cells.append(f'"{100 * theirs.mean():.1f} ({gain}){mark}"')
        yield "   " + ", ".join(cells)


def write_json(path, studies):
    """Write every score and every comparison."""
    content = {
        "scores": {
            table.name: {name: rows.tolist() for name, rows in results.items()}
            for table, results in studies
        },
        "differences": [
            {"table": table.name, "measure": measure, "peer": peer}
            | {"verdict": found.verdict, **vars(found)}
            for table, measure, peer, found in list_differences(studies)
        ],
    }
    Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main(arguments=None):
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forest_study", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=N_SEEDS, metavar="N")
    parser.add_argument("--trees", type=int, default=N_TREES, metavar="N")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--json", metavar="FILE", help="write all scores here")
    options = parser.parse_args(arguments)
    tables = [t for t in make_tables() if t.name in (options.tables or [t.name])]
    if not tables:
        parser.error("no such table; " + ", ".join(t.name for t in make_tables()))
    forests = dict(FORESTS)
    if find_ranger_version() is None:
        print("not at hand, left out: ranger")
        del forests["ranger"]
    studies = []
    for table in tables:
        found = study_table(table, options.seeds, options.trees, forests)
        studies.append((table, found))
        if options.json:
            write_json(options.json, studies)
    print("\n".join(format_table(studies)))
    differences = list(list_differences(studies))
    n_within = sum(found.is_within for *_, found in differences)
    print(f"{n_within} of {len(differences)} within one standard error of a run")
    for table, measure, peer, found in differences:
        if not found.is_within:
            print(f"{table.name}, {measure}: {found.verdict} than {peer}")


if __name__ == "__main__":
    main()
