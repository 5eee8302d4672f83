"""The tables of the workloads, at any scale, and what is fitted to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_iris, make_classification, make_regression

from benchmarks.tasks import (
    ADABOOST,
    C45,
    CART_ALPHA,
    DISCRIMINANT,
    EXTRA_TREES,
    FOREST,
    GAIN_RATIO,
    GRADIENT_BOOSTING,
    ID3,
    OBLIQUE_FOREST,
    OBLIQUE_TREE,
    REGRESSION,
    TRUNCATED_SVD,
    Task,
)

N_FEATURES = 20
#: Rows held out where alpha is chosen and by forests, at any scale.
N_TEST = 10_000


def scaled(n_rows, scale, least=100):
    """Number of rows at a scale, never fewer than makes a tree."""
    return max(least, round(n_rows * scale))


def make_classes(n_rows, n_classes=2, n_features=N_FEATURES, n_informative=10):
    return make_classification(
        n_rows,
        n_features,
        n_informative=n_informative,
        n_classes=n_classes,
        flip_y=0.05,
        random_state=0,
    )


def make_binary(scale, n_rows=100_000, **options):
    X, y = make_classes(scaled(n_rows, scale))
    return Task(X, y, **options)


def make_entropy(scale):
    return make_binary(scale, criterion="entropy")


def make_numbers(scale):
    X, y = make_regression(scaled(100_000, scale), N_FEATURES, random_state=0)
    return Task(X, y, kind=REGRESSION, criterion="squared_error")


def make_ten_classes(scale):
    X, y = make_classes(scaled(100_000, scale, least=400), n_classes=10)
    return Task(X, y)


def make_weighted(scale):
    task = make_binary(scale)
    weights = np.random.default_rng(0).random(task.n_rows)
    return Task(task.X, task.y, sample_weight=weights)


def make_small(scale):
    return make_binary(scale, n_rows=1_000)


def hold_out(X, y, n_test, **options):
    """A task in which the last rows are held out, because chance has a say in it."""
    X, X_test = np.split(X, [len(X) - n_test])
    y, y_test = np.split(y, [len(y) - n_test])
    return Task(X, y, X_test=X_test, y_test=y_test, **options)


def make_forest(scale, n_rows=100_000, n_classes=2, **options):
    """A task for a hundred trees, fewer on small tables."""
    n_rows = scaled(n_rows, scale, least=300)
    X, y = make_classes(n_rows + N_TEST, n_classes=n_classes)
    options = {"max_features": "sqrt", "algorithm": FOREST} | options
    return hold_out(X, y, N_TEST, n_trees=count_trees(scale), **options)


def count_trees(scale):
    """A hundred trees, but for tiny runs."""
    return max(10, min(100, round(1_000 * scale)))


def make_forest_bins(scale):
    return make_forest(scale, max_bins=255)


def make_forest_small(scale):
    return make_forest(scale, n_rows=10_000)


def make_forest_classes(scale):
    return make_forest(scale, n_classes=5)


def make_extra_trees_classes(scale):
    return make_forest(scale, n_classes=5, algorithm=EXTRA_TREES)


def make_extra_trees(scale):
    return make_forest(scale, algorithm=EXTRA_TREES)


def make_oblique_forest(scale):
    return make_forest(scale, algorithm=OBLIQUE_FOREST)


def make_oblique_tree(scale):
    return make_binary(scale, algorithm=OBLIQUE_TREE)


def make_forest_numbers(scale, max_features="sqrt"):
    n_rows = scaled(100_000, scale, least=600) + N_TEST
    X, y = make_regression(n_rows, N_FEATURES, random_state=0)
    return hold_out(
        X,
        y,
        N_TEST,
        kind=REGRESSION,
        criterion="squared_error",
        algorithm=FOREST,
        n_trees=count_trees(scale),
        max_features=max_features,
    )


def make_forest_numbers_all(scale):
    return make_forest_numbers(scale, max_features=1.0)


def make_alpha_choice(scale, n_rows=20_000):
    X, y = make_classes(scaled(n_rows, scale, least=300) + N_TEST)
    return hold_out(X, y, N_TEST, algorithm=CART_ALPHA)


def make_alpha_choice_large(scale):
    return make_alpha_choice(scale, n_rows=100_000)


def make_alpha_choice_numbers(scale):
    n_rows = scaled(20_000, scale, least=600) + N_TEST
    X, y = make_regression(n_rows, N_FEATURES, noise=50.0, random_state=0)
    options = {"kind": REGRESSION, "criterion": "squared_error"}
    return hold_out(X, y, N_TEST, algorithm=CART_ALPHA, **options)


def make_iris(scale):
    X, y = load_iris(return_X_y=True)
    return Task(X, y)


def make_wide(scale):
    n_features = scaled(5_000, scale, least=50)
    X, y = make_classes(1_000, n_features=n_features, n_informative=20)
    return Task(X, y)


def make_adaboost(scale):
    """Two classes; the last rows are held out, as members are chosen otherwise."""
    X, y = make_classes(scaled(100_000, scale, least=300) + N_TEST)
    return hold_out(X, y, N_TEST, algorithm=ADABOOST)


def make_adaboost_mixed(scale):
    """Ten numeric columns and six nominal ones, a cell in twenty missing."""
    task = make_nominal(scale)
    random = np.random.default_rng(1)
    X = task.X.mask(random.random(task.X.shape) < 0.05)
    return replace(task, X=X, algorithm=ADABOOST)


def make_gradient_boosting(scale, n_classes=2, max_bins=255):
    """A hundred rounds, fewer on small tables."""
    return make_forest(
        scale, n_classes=n_classes, algorithm=GRADIENT_BOOSTING, max_bins=max_bins
    )


def make_gradient_boosting_classes(scale):
    return make_gradient_boosting(scale, n_classes=10)


def make_gradient_boosting_mixed(scale):
    """Ten numeric columns and six nominal ones, a cell in twenty missing."""
    task = make_adaboost_mixed(scale + N_TEST / 100_000)
    n_rows = task.n_rows - N_TEST
    return replace(
        task,
        X=task.X[:n_rows],
        y=task.y[:n_rows],
        X_test=task.X[n_rows:],
        y_test=task.y[n_rows:],
        algorithm=GRADIENT_BOOSTING,
        n_trees=count_trees(scale),
        max_bins=255,
    )


def make_gradient_boosting_exact(scale):
    """Values, whose trees are the same as scikit-learn's."""
    n_rows = scaled(20_000, scale, least=300)
    X, y = make_regression(n_rows + N_TEST, N_FEATURES, noise=50.0, random_state=0)
    options = {"kind": REGRESSION, "algorithm": GRADIENT_BOOSTING}
    return hold_out(X, y, N_TEST, n_trees=count_trees(scale), **options)


def make_discriminant(scale, n_columns=100, n_redundant=0):
    """Three classes; redundant columns are sums of others."""
    n_rows = scaled(100_000, scale, least=1_000)
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=20,
        n_redundant=n_redundant,
        n_classes=3,
        random_state=0,
    )
    return Task(X, y, algorithm=DISCRIMINANT)


def make_discriminant_dependent(scale):
    return make_discriminant(scale, n_redundant=20)


def make_discriminant_close(scale):
    """Ten columns are others with some noise: products would lose too many digits."""
    task = make_discriminant(scale)
    X = task.X.copy()
    X[:, -10:] = X[:, :10] + 1e-3 * X[:, -10:]
    return replace(task, X=X)


def make_discriminant_wide(scale):
    task = make_wide(scale)
    return replace(task, algorithm=DISCRIMINANT)


def make_low_cardinality(scale):
    """Every column cut at its deciles: ten levels each."""
    task = make_binary(scale)
    return replace(task, X=np.apply_along_axis(cut_column, 0, task.X, 10))


def cut_column(values, n_levels):
    """Numbers of levels, each of as many rows, in the order of the values."""
    cuts = np.quantile(values, np.linspace(0, 1, n_levels + 1)[1:-1])
    return np.searchsorted(cuts, values).astype(np.float64)


def make_nominal(scale, n_classes=2, criterion="entropy"):
    """Ten numeric and six nominal columns with 3 to 200 levels, as a data frame."""
    import pandas as pd

    n_rows = scaled(100_000, scale)
    random = np.random.default_rng(0)
    columns, score = {}, np.zeros(n_rows)
    for j in range(10):
        columns[f"number_{j}"] = random.standard_normal(n_rows)
        score += random.standard_normal() * columns[f"number_{j}"]
    for n_levels in (3, 8, 20, 50, 100, 200):
        codes = random.integers(n_levels, size=n_rows)
        score += random.standard_normal(n_levels)[codes]
        names = np.array([f"level {code}" for code in range(n_levels)])
        columns[f"nominal_{n_levels}"] = pd.Categorical(names[codes], categories=names)
    score += random.standard_normal(n_rows)
    limits = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.searchsorted(limits if n_classes > 2 else [0.0], score)
    return Task(pd.DataFrame(columns), y, criterion=criterion, has_nominal=True)


def make_unsmoothed(scale):
    """The same, for trees whose splits of levels are those of other programs."""
    return replace(make_nominal(scale), categorical_smoothing=0.0)


def make_nominal_classes(scale):
    """The same with five classes, by the Gini impurity."""
    return make_nominal(scale, n_classes=5, criterion="gini")


def make_c45_numeric(scale):
    return make_binary(scale, algorithm=C45)


def make_c45_missing(scale):
    """A tenth of the cells missing completely at random."""
    task = make_binary(scale, algorithm=C45)
    is_missing = np.random.default_rng(0).random(task.X.shape) < 0.1
    return replace(task, X=np.where(is_missing, np.nan, task.X))


def make_many_way(scale, algorithm):
    """Thirty nominal columns with 2 to 50 levels and five classes, as a data frame."""
    from sklearn_textbook.datasets import make_mixed_table

    X, y = make_mixed_table(
        scaled(100_000, scale),
        n_numeric=0,
        n_ordinal=0,
        n_nominal=30,
        n_levels=np.linspace(2, 50, 30).round().astype(int).tolist(),
        n_classes=5,
        n_rules=20,
        label_noise=0.05,
        as_frame=True,
        random_state=0,
    )
    return Task(
        X, y.to_numpy(), criterion="entropy", has_nominal=True, algorithm=algorithm
    )


def make_c45_nominal(scale):
    return make_many_way(scale, C45)


def make_id3_nominal(scale):
    return make_many_way(scale, ID3)


def make_gain_ratio(scale):
    return make_many_way(scale, GAIN_RATIO)


def make_low_rank(n_rows, n_columns, rank=10, noise=0.1):
    """A table of some rank and noise; it is its own target."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, rank)) @ random.standard_normal(
        (rank, n_columns)
    )
    X += noise * random.standard_normal(X.shape)
    return Task(
        X,
        X,
        kind=REGRESSION,
        criterion="squared_error",
        algorithm=TRUNCATED_SVD,
        n_components=rank,
    )


def make_tall_low_rank(scale):
    return make_low_rank(scaled(100_000, scale), 100)


def make_wide_low_rank(scale):
    return make_low_rank(scaled(1_000, scale), scaled(5_000, scale))
