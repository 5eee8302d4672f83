"""Tables on which forests are compared: numbers, nominal columns, missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import train_test_split

from benchmarks.pruning_study import take_rows
from sklearn_textbook.datasets import load_watermelon, make_mixed_table

TEST_SHARE = 1 / 3


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
