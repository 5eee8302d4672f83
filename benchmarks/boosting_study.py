"""Is our boosting as good?

Fits gradient boosting of this package, LightGBM, scikit-learn and YDF to the same rows,
10 times with other training rows and equal settings, and compares log loss and
accuracy, or R2, on the rows held out. Nominal columns and missing values stay what they
are. ``--variants`` adds ours and LightGBM's with other settings for nominal columns.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.metrics import log_loss, r2_score

from benchmarks.forest_study import compare_scores
from benchmarks.gradient_boosting import choose_class, limit_threads
from benchmarks.measure import installed_version
from benchmarks.study_tables import Table, make_splits
from benchmarks.tasks import CLASSIFICATION, REGRESSION, Task
from benchmarks.work_tables import make_nominal
from sklearn_textbook import ensemble
from sklearn_textbook.datasets import make_mixed_table

N_SEEDS, N_ROUNDS, LEARNING_RATE, N_LEAVES, LEAST_ROWS = 10, 100, 0.1, 31, 20
#: Differences of so many standard errors of their mean are marked.
MARKED = 2.0


# ------------------------------------------------------------------------- tables
def _from_arrays(name, X, y, is_regression=False):
    return Table(name, pd.DataFrame(X).add_prefix("x"), np.asarray(y), is_regression)


def _make_mixed(name, n_samples=4_500, **options):
    """Numbers and levels with gaps; ordered levels as numbers, for all libraries."""
    X, y = make_mixed_table(
        n_samples, as_frame=True, missing_fraction=0.1, random_state=0, **options
    )
    for column in X.select_dtypes("category"):
        if X[column].cat.ordered:
            X[column] = X[column].cat.codes.astype(float).replace(-1.0, np.nan)
    return Table(name, X, y.to_numpy(), options.get("task") == "regression")


def _make_many_levels():
    """Six nominal columns of 3 to 200 levels, a cell in twenty missing."""
    task = make_nominal(0.06)
    X = task.X.mask(np.random.default_rng(1).random(task.X.shape) < 0.05)
    return Table("up to 200 levels", X, task.y)


def make_tables():
    """The tables: six of numbers, four of levels and numbers with missing values."""
    yield _from_arrays("breast cancer", *datasets.load_breast_cancer(return_X_y=True))
    yield _from_arrays("digits", *datasets.load_digits(return_X_y=True))
    noisy = datasets.make_classification(
        3_000, 20, n_informative=8, flip_y=0.2, random_state=0
    )
    yield _from_arrays("clusters, 10 % wrong", *noisy)
    X, y = datasets.make_hastie_10_2(4_500, random_state=0)
    yield _from_arrays("Hastie 10.2", X, (y > 0).astype(int))
    yield _from_arrays("diabetes", *datasets.load_diabetes(return_X_y=True), True)
    friedman = datasets.make_friedman1(3_000, 10, noise=1.0, random_state=0)
    yield _from_arrays("Friedman 1", *friedman, True)
    yield _make_mixed("mixed, two classes", label_noise=0.1)
    yield _make_mixed("mixed, five classes", n_classes=5, n_rules=12, label_noise=0.1)
    yield _make_mixed("mixed, values", task="regression", noise=0.5, n_rules=12)
    yield _make_many_levels()


# ------------------------------------------------------------------------- models
def _describe(table):
    kind = REGRESSION if table.is_regression else CLASSIFICATION
    return Task(table.X, table.y, kind=kind)


def _fit_and_predict(model, table, split):
    model.fit(split.X, split.y)
    if table.is_regression:
        return model.predict(split.X_test)
    return model.predict_proba(split.X_test)


def predict_own(table, split, **options):
    """Ours."""
    make = choose_class(ensemble, _describe(table), "GradientBoosting")
    options = {"learning_rate": LEARNING_RATE, "n_jobs": 1} | options
    model = make(
        n_estimators=N_ROUNDS,
        max_leaf_nodes=N_LEAVES,
        min_samples_leaf=LEAST_ROWS,
        **options,
    )
    return _fit_and_predict(model, table, split)


def predict_lightgbm(table, split, **options):
    """LightGBM with its defaults for nominal columns."""
    import lightgbm

    model = choose_class(lightgbm, _describe(table), "LGBM")(
        n_estimators=N_ROUNDS,
        learning_rate=LEARNING_RATE,
        num_leaves=N_LEAVES,
        min_child_samples=LEAST_ROWS,
        n_jobs=1,
        verbose=-1,
        **options,
    )
    return _fit_and_predict(model, table, split)


def predict_histograms(table, split):
    """scikit-learn's, with histograms."""
    from sklearn import ensemble as stock

    model = choose_class(stock, _describe(table), "HistGradientBoosting")(
        max_iter=N_ROUNDS,
        learning_rate=LEARNING_RATE,
        max_leaf_nodes=N_LEAVES,
        min_samples_leaf=LEAST_ROWS,
        early_stopping=False,
    )
    return limit_threads(lambda: _fit_and_predict(model, table, split), 1)()


def write_for_ydf(X, y=None):
    """Numbers in float32, levels as texts, the target as a number or a text."""
    columns = {}
    for name, column in X.items():
        if pd.api.types.is_numeric_dtype(column):
            columns[name] = column.to_numpy(np.float32)
        else:
            columns[name] = column.astype(object).fillna("").astype(str).to_numpy()
    return columns if y is None else columns | {"target": y}


def predict_ydf(table, split):
    """YDF, whose ``max_num_nodes`` counts leaves."""
    import ydf

    ydf.verbose(0)
    learner = ydf.GradientBoostedTreesLearner(
        label="target",
        task=ydf.Task.REGRESSION if table.is_regression else ydf.Task.CLASSIFICATION,
        num_trees=N_ROUNDS,
        shrinkage=LEARNING_RATE,
        growing_strategy="BEST_FIRST_GLOBAL",
        max_num_nodes=N_LEAVES,
        max_depth=-1,
        min_examples=LEAST_ROWS,
        use_hessian_gain=True,
        validation_ratio=0.0,
        early_stopping="NONE",
        num_threads=1,
    )
    target = split.y if table.is_regression else split.y.astype(str)
    model = learner.train(write_for_ydf(split.X, target))
    found = model.predict(write_for_ydf(split.X_test), num_threads=1)
    if table.is_regression:
        return found
    if found.ndim == 1:
        found = np.column_stack((1 - found, found))
    order = np.argsort([int(label) for label in model.label_classes()])
    return found[:, order]


MODELS = {
    "ours": predict_own,
    "LightGBM": predict_lightgbm,
    "scikit-learn": predict_histograms,
    "YDF": predict_ydf,
}
PACKAGES = {"LightGBM": "lightgbm", "YDF": "ydf"}
VARIANTS = {
    **{
        f"ours, smoothing {value}": partial(predict_own, categorical_smoothing=value)
        for value in (0, 1, 3, 30, 100)
    },
    **{
        f"ours, l2 {value}": partial(predict_own, l2_regularization=float(value))
        for value in (1, 10)
    },
    **{
        f"LightGBM, {name} {value}": partial(predict_lightgbm, **{name: value})
        for name, value in (
            ("cat_l2", 0),
            ("cat_smooth", 0),
            ("min_data_per_group", 1),
            ("max_cat_threshold", 1000),
        )
    },
}


# ------------------------------------------------------------------------- scores
def score(table, split, found):
    """R2; or minus the log loss, and the accuracy: higher is better."""
    if table.is_regression:
        return {"R2": r2_score(split.y_test, found)}
    labels = np.unique(table.y)
    return {
        "log loss": -log_loss(split.y_test, found, labels=labels),
        "accuracy": np.mean(labels[np.argmax(found, axis=1)] == split.y_test),
    }


def study_table(table, n_seeds=N_SEEDS, models=MODELS):
    """Score every model on a table.

    Returns
    -------
    dict
        Measure -> name of the model -> array of shape (n_seeds,).
    """
    results = {}
    for split in make_splits(table, n_seeds):
        for name, predict in models.items():
            for measure, value in score(table, split, predict(table, split)).items():
                results.setdefault(measure, {}).setdefault(name, []).append(value)
    return {
        measure: {name: np.array(values) for name, values in by_name.items()}
        for measure, by_name in results.items()
    }


def list_differences(studies):
    """Every comparison: (table, measure, other model, Difference)."""
    for table, results in studies:
        for measure, by_name in results.items():
            for name, values in by_name.items():
                if name != "ours":
                    yield table, measure, name, compare_scores(by_name["ours"], values)


def is_marked(found):
    """Whether a difference is more than chance makes of it."""
    return abs(found.mean) > MARKED * found.error


def format_value(measure, value):
    """A score as it is quoted: the log loss positive, the others in per cent."""
    return f"{-value:.4f}" if measure == "log loss" else f"{100 * value:.2f}"


def format_difference(measure, found):
    """Our gain and its standard error, positive where ours is better."""
    factor, digits = (1, 4) if measure == "log loss" else (100, 2)
    mark = "" if not is_marked(found) else " +" if found.mean > 0 else " −"
    return (
        f"({factor * found.mean:+.{digits}f} ± {factor * found.error:.{digits}f}){mark}"
    )


def format_table(studies):
    """The results as a table of the documentation.

    Of each other model the mean, and in brackets our gain with its standard error.
    """
    _, first = studies[0]
    others = [name for name in next(iter(first.values())) if name != "ours"]
    yield ".. csv-table::"
    yield "   :header: " + ", ".join(
        f'"{name}"' for name in ("table", "measure", "ours", *others)
    )
    yield ""
    for table, results in studies:
        for measure, by_name in results.items():
            cells = [table.name, measure, format_value(measure, by_name["ours"].mean())]
            for name in others:
                found = compare_scores(by_name["ours"], by_name[name])
                shown = format_value(measure, by_name[name].mean())
                cells.append(f"{shown} {format_difference(measure, found)}")
            yield "   " + ", ".join(f'"{cell}"' for cell in cells)


def write_json(path, studies):
    """Write every score."""
    content = {
        table.name: {
            measure: {name: values.tolist() for name, values in by_name.items()}
            for measure, by_name in results.items()
        }
        for table, results in studies
    }
    Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def print_verdicts(studies):
    """Say against whom differences are more than chance, and which are worst."""
    differences = list(list_differences(studies))
    for other in dict.fromkeys(name for _, _, name, _ in differences):
        chosen = [one for one in differences if one[2] == other]
        gains = [one[3].mean > 0 for one in chosen if is_marked(one[3])]
        print(
            f"{other}: of {len(chosen)} differences ours is better in {sum(gains)} "
            f"and worse in {len(gains) - sum(gains)} by more than {MARKED:g} "
            "standard errors"
        )
        for table, measure, _, found in chosen:
            if is_marked(found) and found.mean < 0:
                distance = -found.mean / found.error
                print(f"  worse: {table.name}, {measure}, {distance:.1f} errors")


def choose_models(with_variants):
    """The models at hand."""
    models = MODELS | (VARIANTS if with_variants else {})
    missing = {
        name for name, package in PACKAGES.items() if not installed_version(package)
    }
    if missing:
        print("not at hand, left out:", *sorted(missing))
    return {
        name: predict
        for name, predict in models.items()
        if name.partition(",")[0] not in missing
    }


def main(arguments=None):
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study boosting", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=N_SEEDS, metavar="N")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--variants", action="store_true", help="other settings, too")
    parser.add_argument("--json", metavar="FILE", help="write all scores here")
    options = parser.parse_args(arguments)
    tables = [t for t in make_tables() if t.name in (options.tables or [t.name])]
    if not tables:
        parser.error("no such table; " + ", ".join(t.name for t in make_tables()))
    models, studies = choose_models(options.variants), []
    for table in tables:
        studies.append((table, study_table(table, options.seeds, models)))
        if options.json:
            write_json(options.json, studies)
    print("\n".join(format_table(studies)))
    print_verdicts(studies)
