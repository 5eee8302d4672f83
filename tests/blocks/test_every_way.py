"""200,000 rows read in every way give one model, and so do threads."""

import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import clone

from sklearn_textbook import io
from sklearn_textbook.decomposition import PCA
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor

N_ROWS = 200_000
TARGETS = {"value": "number", "answer": "two", "class": "three"}


def draw_frame():
    """Sixteen numeric and four text columns, 5 % gaps, float weights."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=N_ROWS) for j in range(16)})
    frame["x0"] = frame["x0"].round(2)
    frame["x1"] = rng.integers(0, 50, N_ROWS).astype(float)
    score = frame.x0 - frame.x2 * frame.x3 + np.sin(2 * frame.x4)
    for j, n_levels in enumerate((8, 8, 200, 200)):
        codes = rng.integers(0, n_levels, N_ROWS)
        frame[f"t{j}"] = np.array([f"level {k}" for k in range(n_levels)])[codes]
        score += (codes == 1) * (j < 2)
    names = list(frame.columns)
    for name in names:
        frame.loc[rng.random(N_ROWS) < 0.05, name] = None
    frame["value"] = score + rng.normal(size=N_ROWS)
    frame["answer"] = np.where(frame.value > 0, "yes", "no")
    frame["class"] = np.digitize(frame.value, [-1, 1])
    frame["w"] = rng.random(N_ROWS) + 0.1
    return frame, names


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    frame, names = draw_frame()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    folder = tmp_path_factory.mktemp("rows")
    for row_group in (10_000, 1_000_000):
        path = folder / f"groups-of-{row_group}.parquet"
        parquet.write_table(table, path, row_group_size=row_group)
    return table, names, folder


MODELS = {
    "CART": (CARTClassifier(max_depth=12), "class"),
    "CART, numbers": (CARTRegressor(max_depth=12), "value"),
    "C4.5": (C45Classifier(max_depth=12), "answer"),
    "forest": (RandomForestClassifier(5, random_state=0), "class"),
    "forest, bins": (
        RandomForestRegressor(3, max_depth=12, max_bins=255, random_state=0),
        "value",
    ),
    "boosting": (GradientBoostingRegressor(n_estimators=10), "value"),
    "log loss": (GradientBoostingClassifier(n_estimators=10), "answer"),
    "three classes": (GradientBoostingClassifier(n_estimators=5), "class"),
    "AdaBoost": (AdaBoostClassifier(n_estimators=10), "answer"),
    "least squares": (LinearRegression(missing="mean"), "value"),
    "logistic": (LogisticRegression(missing="drop"), "answer"),
    "components": (PCA(3, categorical_features="from_dtype", missing="mean"), None),
}


def describe(model):
    """A hash of the numbers that predictions depend on."""
    found = hashlib.sha256()
    if hasattr(model, "components_"):
        parts = [model.mean_, model.components_, model.explained_variance_]
    elif hasattr(model, "coef_"):
        parts = [model.coef_, model.intercept_]
    else:
        members = getattr(model, "estimators_", None)
        members = [model] if members is None else np.ravel(members).tolist()
        parts = [
            getattr(member.tree_, name)
            for member in members
            for name in ("nodes", "statistics", "level_branch")
        ]
        parts.append(getattr(model, "estimator_weights_", ()))
    for part in parts:
        found.update(np.asarray(part).tobytes())
    return found.hexdigest()


def cut(table, step):
    """A source of blocks of some rows."""
    return io.Batches(
        lambda: (table.slice(first, step) for first in range(0, N_ROWS, step)),
        table.column_names,
    )


@pytest.mark.parametrize("case", MODELS)
def test_one_model_however_the_rows_are_read(files, case):
    table, names, folder = files
    model, target = MODELS[case]
    if case in ("least squares", "logistic", "components"):
        # Each of 200 levels would be a column.
        names = [name for name in names if name not in ("t2", "t3")]
    names = [*names, *[target][: target is not None], "w"]
    X = table.select([name for name in names if name not in (target, "w")])
    y = None if target is None else table[target]
    weight = {"sample_weight": table["w"]}

    def fit(X, y, weight, n_jobs=1):
        fitted = clone(model)
        if "n_jobs" in fitted.get_params():
            fitted.set_params(n_jobs=n_jobs)
        return describe(fitted.fit(X, y, **weight))

    expected = fit(X, y, weight)
    assert fit(X, y, weight, n_jobs=2) == expected
    by_name = {"sample_weight": "w"}
    for step, n_jobs in ((1_000, 1), (65_536, 2), (N_ROWS, 2)):
        assert fit(cut(table.select(names), step), target, by_name, n_jobs) == expected
    for path in sorted(folder.glob("*.parquet")):
        assert fit(io.scan(path, columns=names), target, by_name, 2) == expected
