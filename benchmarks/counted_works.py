"""The fits whose instructions are counted: one for every way through the engines.

Linear models and components are among them: in rows, in columns, as a sparse table, and
as the table with text, gaps and weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.calls import Fit, Prediction
from benchmarks.peers import OWN
from benchmarks.tasks import CLASSIFICATION, EXTRA_TREES, FOREST, REGRESSION, Task
from benchmarks.work_tables import (
    make_adaboost,
    make_adaboost_mixed,
    make_binary,
    make_c45_missing,
    make_c45_nominal,
    make_c45_numeric,
    make_discriminant,
    make_entropy,
    make_extra_trees,
    make_forest,
    make_forest_bins,
    make_forest_classes,
    make_forest_numbers,
    make_forest_numbers_all,
    make_gradient_boosting,
    make_gradient_boosting_mixed,
    make_id3_nominal,
    make_low_cardinality,
    make_low_rank,
    make_nominal,
    make_nominal_classes,
    make_numbers,
    make_oblique_forest,
    make_oblique_tree,
    make_ten_classes,
    make_weighted,
    scaled,
)
from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
)

#: Of the 100,000 rows of the tables, 20,000.
COUNTED_SCALE = 0.2
N_TREES = 5
#: Of boosting, whose trees are small.
N_ROUNDS = 50


@dataclass(frozen=True)
class CountedWork:
    """A named call: a task, and parameters of the estimator that tasks do not have.

    The task says which estimator, unless there is a function that makes one.
    """

    name: str
    title: str
    #: scale -> Task
    make_task: Callable[[float], Task]
    parameters: Mapping = field(default_factory=dict)
    #: "fit" or "predict"
    measure: str = "fit"
    make_estimator: Callable | None = None

    def make_call(self, scale):
        """A call without arguments, which can be pickled."""
        task = self.make_task(scale)
        if self.make_estimator is not None:
            estimator = self.make_estimator()
            if "n_jobs" in estimator.get_params():
                estimator.set_params(n_jobs=1)
        else:
            estimator = OWN.make_estimator(task, 1, None)
        if hasattr(estimator, "n_estimators"):
            estimator.set_params(n_estimators=N_TREES)
        estimator.set_params(**self.parameters)
        if self.measure == "fit":
            return Fit(estimator, task.X, task.y, task.sample_weight)
        estimator.fit(task.X, task.y, sample_weight=task.sample_weight)
        is_classifier = task.kind == CLASSIFICATION
        method = "predict_proba" if is_classifier else "predict"
        return Prediction(estimator, method, task.X)


# -------------------------------------------------------------------------- the tables
def _as_forest(make_task, algorithm=FOREST):
    """A forest on the table of another task."""
    return lambda scale: replace(
        make_task(scale), algorithm=algorithm, max_features="sqrt"
    )


def _with_missing(make_task, share=0.05):
    """A share of all cells missing completely at random."""

    def make_missing_task(scale):
        task = make_task(scale)
        is_missing = np.random.default_rng(0).random(task.X.shape) < share
        return replace(task, X=np.where(is_missing, np.nan, task.X))

    return make_missing_task


def make_forest_few_missing(scale, n_missing=500):
    """Cells are missing in the first column alone, up to 500 of them."""
    task = make_forest(scale)
    X = task.X.copy()
    rows = np.random.default_rng(0).permutation(len(X))[:n_missing]
    X[rows, 0] = np.nan
    return replace(task, X=X)


def make_forest_weighted(scale):
    """A forest whose trees weigh all rows, by fractions."""
    task = make_forest(scale)
    return replace(task, sample_weight=np.random.default_rng(0).random(task.n_rows))


def make_forest_third(scale):
    return make_forest_numbers(scale, max_features=0.34)


def make_forest_counts(scale):
    """Counts from 0 on, by Poisson's deviance."""
    task = make_forest_numbers(scale)
    y = np.floor(np.abs(task.y) / 20.0)
    return replace(task, y=y, criterion="poisson")


def make_bend(scale):
    """A target whose slope in one column depends on the sign of another."""
    random = np.random.default_rng(0)
    X = random.normal(size=(scaled(100_000, scale), 10))
    y = 2 * X[:, 0] + np.where(X[:, 1] > 0, 3 * X[:, 2], -X[:, 2])
    y += random.normal(size=len(X))
    return Task(X, y, kind=REGRESSION, criterion="squared_error")


def make_amounts(scale):
    """Amounts whose mean is the exponential of a linear function of 20 columns."""
    random = np.random.default_rng(0)
    X = random.standard_normal((scaled(100_000, scale), 20))
    mean = np.exp(0.8 + X @ (random.uniform(-1, 1, 20) / 5))
    return Task(X, random.poisson(mean).astype(float), kind=REGRESSION)


def make_levels(scale, n_columns=5, n_levels=100):
    """Text columns as indicators, in a sparse table, and amounts."""
    n_rows = scaled(100_000, scale)
    random = np.random.default_rng(0)
    codes = random.integers(n_levels, size=(n_rows, n_columns))
    columns = (codes + n_levels * np.arange(n_columns)).ravel()
    ends = n_columns * np.arange(n_rows + 1)
    shape = (n_rows, n_columns * n_levels)
    X = sparse.csr_array((np.ones(columns.size), columns, ends), shape=shape)
    mean = np.exp(X @ (random.uniform(-1, 1, shape[1]) / 2))
    return Task(X, random.poisson(mean).astype(float), kind=REGRESSION)


def _as_classes(make_task):
    """Whether a number is above its median, to be predicted."""

    def make_class_task(scale):
        task = make_task(scale)
        y = (task.y > np.median(task.y)).astype(np.intp)
        return replace(task, y=y, kind=CLASSIFICATION)

    return make_class_task


def make_mixed_numbers(scale):
    """Nominal columns, a cell in twenty missing, weights, and a number to predict."""
    task = make_adaboost_mixed(scale)
    random = np.random.default_rng(2)
    y = task.y + random.standard_normal(task.n_rows)
    return replace(task, y=y, kind=REGRESSION, sample_weight=random.random(len(y)))


def make_components(scale):
    return make_low_rank(scaled(100_000, scale), 20, rank=5)


def _in_columns(make_task):
    """Column after column in memory, as data frames of numbers are."""

    def make_task_in_columns(scale):
        task = make_task(scale)
        return replace(task, X=np.asfortranarray(task.X))

    return make_task_in_columns


def _without_held_out(make_task):
    """What is held out is of no use here, but would be pickled."""
    return lambda scale: replace(make_task(scale), X_test=None, y_test=None)


#: The prediction may rise with the first column, fall with the second, and so on.
SIGNS = [(1, -1, 0, 0)[column % 4] for column in range(20)]

_FITS = (
    ("tree", "CART, two classes", make_binary, {}),
    ("tree-classes", "ten classes", make_ten_classes, {}),
    ("tree-entropy", "by entropy", make_entropy, {}),
    ("tree-regression", "regression", make_numbers, {}),
    (
        "tree-absolute",
        "regression by the absolute error",
        make_numbers,
        {"criterion": "absolute_error"},
    ),
    ("tree-linear", "linear leaves", make_bend, {"leaf_model": "linear"}),
    ("tree-weighted", "weights with fractions", make_weighted, {}),
    ("tree-missing", "5 % of the cells missing", _with_missing(make_binary), {}),
    ("tree-nominal", "ten numeric and six nominal columns", make_nominal, {}),
    ("tree-leaves", "31 leaves", make_binary, {"max_leaf_nodes": 31}),
    ("c45", "C4.5 with its pruning", make_c45_numeric, {}),
    ("c45-nominal", "30 nominal columns, five classes", make_c45_nominal, {}),
    ("c45-missing", "a tenth of the cells missing", make_c45_missing, {}),
    ("id3", "ID3 on the nominal table", make_id3_nominal, {}),
    ("forest", "random forest, two classes", make_forest, {}),
    (
        "forest-weighted",
        "fractions, all rows",
        make_forest_weighted,
        {"bootstrap": False},
    ),
    ("forest-balanced", "balanced classes", make_forest, {"class_weight": "balanced"}),
    (
        "forest-subsample",
        "balanced in every sample",
        make_forest,
        {"class_weight": "balanced_subsample"},
    ),
    ("forest-missing", "5 % of the cells missing", _with_missing(make_forest), {}),
    ("forest-few-missing", "500 cells missing", make_forest_few_missing, {}),
    ("forest-nominal", "the nominal table", _as_forest(make_nominal), {}),
    (
        "forest-nominal-classes",
        "the nominal table, five classes",
        _as_forest(make_nominal_classes),
        {},
    ),
    ("forest-levels", "small integers", _as_forest(make_low_cardinality), {}),
    ("forest-monotonic", "ten constraints", make_forest, {"monotonic_cst": SIGNS}),
    ("forest-regression-all", "all columns", make_forest_numbers_all, {}),
    (
        "forest-regression-missing",
        "a third of the columns, 5 % missing",
        _with_missing(make_forest_third),
        {},
    ),
    ("forest-poisson", "counts by Poisson's deviance", make_forest_counts, {}),
    ("forest-entropy", "by entropy", make_forest, {"criterion": "entropy"}),
    ("forest-classes", "five classes", make_forest_classes, {}),
    ("extra-trees", "random thresholds", make_extra_trees, {}),
    (
        "extra-trees-missing",
        "5 % of the cells missing",
        _with_missing(make_extra_trees),
        {},
    ),
    (
        "extra-trees-nominal",
        "the nominal table",
        _as_forest(make_nominal, EXTRA_TREES),
        {},
    ),
    ("forest-bins", "255 bins", make_forest_bins, {"max_bins": 255}),
    ("forest-leaves", "31 leaves each", make_forest, {"max_leaf_nodes": 31}),
    (
        "boosting",
        "gradient boosting, two classes",
        make_gradient_boosting,
        {"n_estimators": N_ROUNDS},
    ),
    (
        "boosting-mixed",
        "nominal columns, 5 % missing",
        make_gradient_boosting_mixed,
        {"n_estimators": N_ROUNDS},
    ),
    ("adaboost", "stumps, two classes", make_adaboost, {"n_estimators": N_ROUNDS}),
    (
        "adaboost-mixed",
        "nominal columns, 5 % missing",
        make_adaboost_mixed,
        {"n_estimators": N_ROUNDS},
    ),
    ("oblique-tree", "discriminants", make_oblique_tree, {}),
    ("oblique-forest", "five random directions in a node", make_oblique_forest, {}),
)
_LINEAR_FITS = (
    ("least-squares", "20 numbers", make_numbers, LinearRegression),
    (
        "least-squares-mixed",
        "nominal columns, 5 % missing, weights",
        make_mixed_numbers,
        partial(LinearRegression, missing="mean"),
    ),
    ("logistic", "20 numbers", _as_classes(make_amounts), LogisticRegression),
    (
        "logistic-columns",
        "the same in columns",
        _in_columns(_as_classes(make_amounts)),
        LogisticRegression,
    ),
    (
        "logistic-sparse",
        "500 indicators",
        _as_classes(make_levels),
        partial(LogisticRegression, C=1.0),
    ),
    (
        "logistic-mixed",
        "nominal columns, 5 % missing, weights",
        _as_classes(make_mixed_numbers),
        partial(LogisticRegression, C=1.0, missing="mean"),
    ),
    (
        "poisson",
        "a generalised linear model",
        make_amounts,
        partial(GeneralizedLinearRegressor, family="poisson"),
    ),
    (
        "poisson-sparse",
        "500 indicators",
        make_levels,
        partial(GeneralizedLinearRegressor, family="poisson", alpha=1e-3),
    ),
    ("components", "principal components", make_components, PCA),
    (
        "components-columns",
        "the same in columns",
        _in_columns(make_components),
        PCA,
    ),
    ("svd", "two singular values", make_components, TruncatedSVD),
    (
        "discriminant",
        "linear discriminants",
        make_discriminant,
        LinearDiscriminantAnalysis,
    ),
)
_PREDICTIONS = (
    ("tree-predict", "shares of the training rows", make_binary, {}),
    ("forest-predict", "the same by the forest", make_forest, {}),
)
COUNTED_WORKS = {
    name: CountedWork(name, title, _without_held_out(make_task), parameters, measure)
    for measure, works in (("fit", _FITS), ("predict", _PREDICTIONS))
    for name, title, make_task, parameters in works
} | {
    name: CountedWork(name, title, make_task, make_estimator=make_estimator)
    for name, title, make_task, make_estimator in _LINEAR_FITS
}
