"""The forests that are compared: ours as it comes, the peers', and ours in their place.

A peer needs the table rewritten: scikit-learn an indicator column for every level,
ranger one order of the levels for the whole table and no missing values. What of a
difference is the forest's own shows where ours gets the rewritten table, too.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.programs import Scratch, call_program
from sklearn_textbook import ensemble


def choose_own(table):
    """Our class of forests for a table."""
    name = f"RandomForest{'Regressor' if table.is_regression else 'Classifier'}"
    return getattr(ensemble, name)


def score_own(table, splits, n_trees):
    """Our forests, on the table as it is."""
    for split in splits:
        forest = choose_own(table)(
            n_trees,
            max_features=table.max_features,
            oob_score=True,
            random_state=split.seed,
        )
        forest.fit(split.X, split.y)
        yield forest.score(split.X_test, split.y_test), forest.oob_score_


# ------------------------------------------------------------------- scikit-learn
def score_on_indicators(table, splits, n_trees, forest_class):
    """Forests on an indicator column for every level."""
    share = table.max_features / table.X.shape[1] if table.is_regression else "sqrt"
    indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    for split in splits:
        encoder = make_column_transformer(
            (indicators, table.nominal), remainder="passthrough"
        )
        forest = forest_class(
            n_trees, max_features=share, oob_score=True, random_state=split.seed
        )
        model = make_pipeline(encoder, forest).fit(split.X, split.y)
        yield model.score(split.X_test, split.y_test), forest.oob_score_


def score_scikit_learn(table, splits, n_trees):
    """scikit-learn's forests."""
    make = RandomForestRegressor if table.is_regression else RandomForestClassifier
    return score_on_indicators(table, splits, n_trees, make)


def score_as_scikit_learn(table, splits, n_trees):
    """Our forests, on what scikit-learn's are given."""
    return score_on_indicators(table, splits, n_trees, choose_own(table))


# ------------------------------------------------------------------------- ranger
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


class LevelOrder(TransformerMixin, BaseEstimator):
    """Write a table as ranger's order of levels does.

    The levels of a nominal column become their places in the order of the mean target;
    of several classes, in the order of the first principal component of their shares.
    Levels without training rows come last; missing values become the median, or the
    commonest level.
    """

    def fit(self, X, y):
        """Find the median or the order of the levels of every column."""
        targets = self._spread(y)
        self.fill_, self.places_ = {}, {}
        for name, column in X.items():
            if pd.api.types.is_numeric_dtype(column):
                self.fill_[name] = column.median()
                continue
            levels = column.astype(object)
            self.fill_[name] = levels.mode()[0]
            levels = levels.fillna(self.fill_[name])
            order = self._order_levels(levels, targets)
            self.places_[name] = {level: place for place, level in enumerate(order)}
        return self

    def transform(self, X):
        """The table in numbers."""
        written = {}
        for name, column in X.items():
            if name in self.places_:
                places = self.places_[name]
                column = column.astype(object).fillna(self.fill_[name])
                column = column.map(lambda level, p=places: p.get(level, len(p)))
            written[name] = column.astype(float).fillna(self.fill_[name])
        return pd.DataFrame(written)

    @staticmethod
    def _spread(y):
        """The values as one column, or an indicator column for every class."""
        if y.dtype.kind == "f":
            return y[:, np.newaxis]
        return (y[:, np.newaxis] == np.unique(y)).astype(float)

    @staticmethod
    def _order_levels(levels, targets):
        found, number = np.unique(levels.astype(str), return_inverse=True)
        names = {str(level): level for level in levels.unique()}
        counts = np.bincount(number)
        sums = [np.bincount(number, weights=target) for target in targets.T]
        means = np.array(sums).T / counts[:, np.newaxis]
        centred = means - np.average(means, axis=0, weights=counts)
        _, axes = np.linalg.eigh(centred.T @ (centred * counts[:, np.newaxis]))
        order = np.argsort(centred @ axes[:, -1], kind="stable")
        return [names[found[place]] for place in order]


def score_as_ranger(table, splits, n_trees):
    """Our forests, on what ranger's grow on."""
    for split in splits:
        order = LevelOrder().fit(split.X, split.y)
        forest = choose_own(table)(
            n_trees,
            max_features=table.max_features,
            oob_score=True,
            random_state=split.seed,
        )
        forest.fit(order.transform(split.X), split.y)
        yield (
            forest.score(order.transform(split.X_test), split.y_test),
            (forest.oob_score_),
        )


#: Name -> what yields, for every split, the score of the rows held out and the
#: out-of-bag estimate. "ours as X" stands in X's place.
FORESTS = {
    "ours": score_own,
    "scikit-learn": score_scikit_learn,
    "ours as scikit-learn": score_as_scikit_learn,
    "ranger": score_ranger,
    "ours as ranger": score_as_ranger,
}
