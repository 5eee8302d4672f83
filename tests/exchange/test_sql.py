"""Queries of SQL in several databases: predictions, and what they cannot read."""

import re
import sqlite3
import warnings
from datetime import UTC, time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier

from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import export_code
from sklearn_textbook.exchange.tree_sum import read_trees
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
    export_rules,
)
from tests.exchange.test_levels import make_frame, make_target
from tests.exchange.test_source_code import (
    ALL,
    NOT_NODES,
    fit,
    fit_strict,
    list_rows,
    make_rows,
    predict,
    run_sql,
)

FORMS = ["expression", "nodes"]


def run_sqlite(source, rows, columns, form):
    """Columns that a query, or the view of a script, adds to a table."""
    if form == "expression":
        return run_sql(source, rows, columns)
    connection = sqlite3.connect(":memory:")
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    connection.execute(f"CREATE TABLE data ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    values = [tuple(row.values()) for row in rows]
    connection.executemany(f"INSERT INTO data VALUES ({marks})", values)
    connection.executescript(source)
    found = pd.read_sql("SELECT * FROM model_predictions", connection)
    connection.close()
    return found.sort_values("row_number", ignore_index=True)


def run_duckdb(source, frame, form, types=()):
    """The same in DuckDB, where columns have types."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("given", frame)
    casts = [
        f'CAST("{name}" AS {kind}) AS "{name}"' for name, kind in dict(types).items()
    ]
    replaced = f" REPLACE ({', '.join(casts)})" if casts else ""
    connection.execute(f"CREATE TABLE data AS SELECT *{replaced} FROM given")
    cursor = connection.execute(source)
    if form == "nodes":
        order = "SELECT * FROM model_predictions ORDER BY row_number"
        cursor = connection.execute(order)
    names = [column[0] for column in cursor.description]
    found = pd.DataFrame(cursor.fetchall(), columns=names)
    connection.close()
    return found


def require_model(name, found):
    """Compare the scores and predictions of a model with those of a query."""
    n_rows, total = len(found), read_trees(fit(name))
    expected, numbers = (values[:n_rows] for values in predict(name))
    scores = found.filter(regex="^score").to_numpy(dtype=float)
    if total.link == "identity":
        assert_array_equal(scores, numbers)
    matrix = total.read(make_rows()[:n_rows])
    if not total.is_vote:
        wanted = total.to_predictions(total.compute_scores(matrix))
        assert_allclose(total.to_predictions(scores), wanted, rtol=1e-13, atol=1e-13)
    if is_classifier(fit(name)):
        assert found["prediction"].tolist() == expected.tolist()
    else:
        assert_allclose(found["prediction"], expected, rtol=1e-14)


@pytest.mark.parametrize("name", [name for name in ALL if name not in NOT_NODES])
def test_nodes(name):
    """Every kind of test, of missing values and of levels; to the last bit."""
    source = export_code(fit(name), "sql", form="nodes")
    rows = make_rows()[: 2000 if name in ("surrogates", "divided votes") else 200]
    require_model(name, run_sqlite(source, list_rows(rows), rows, "nodes"))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("surrogates", "expression"),
        ("boosting", "expression"),
        ("oblique levels", "expression"),
        ("surrogates", "nodes"),
        ("boosting", "nodes"),
        ("oblique levels", "nodes"),
        ("votes", "nodes"),
        ("divided votes", "nodes"),
    ],
)
def test_duckdb(name, form):
    rows = make_rows()[:200]
    source = export_code(fit(name), "sql", form=form)
    require_model(name, run_duckdb(source, rows, form))


def test_several_outputs():
    frame, new = make_frame(missing=0.1), make_rows(200)
    y = make_target(frame)
    classes = np.stack([y > 0, np.digitize(y, [-1, 1])], axis=1)
    few = {"n_estimators": 3, "random_state": 0}
    for options in ({}, {"voting": "hard"}, {"handle_unknown": "fractional"}):
        model = RandomForestClassifier(**few, **options).fit(frame, classes)
        source = export_code(model, "sql", form="nodes")
        found = run_sqlite(source, list_rows(new), new, "nodes")
        assert_array_equal(found[["prediction_0", "prediction_1"]], model.predict(new))
    model = RandomForestRegressor(**few).fit(frame, np.stack([y, -y], axis=1))
    source = export_code(model, "sql", form="nodes")
    found = run_sqlite(source, list_rows(new), new, "nodes")
    assert_array_equal(found[["prediction_0", "prediction_1"]], model.predict(new))


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        # An infinite threshold: missing values alone in a child.
        (CARTClassifier(), [[1.0], [1.0], [np.nan], [np.nan]], [0, 0, 1, 1]),
        (CARTClassifier(), [[1.0], [2.0]], ["one", "one"]),
        (C45Classifier(), [[1.0], [2.0]], ["one", "one"]),
        (RandomForestClassifier(2), [[1.0], [2.0]], ["one", "one"]),
        (
            CARTRegressor(),
            [[-1e300], [5e-324], [0.1], [np.nextafter(0.1, 1)]],
            range(4),
        ),
    ],
)
def test_small_models(model, X, y):
    model.fit(X, y)
    new = [*X, [0.0], [3.0]]
    rows = [{"x0": None if value != value else value} for (value,) in new]
    found = run_sqlite(export_code(model, "sql", form="nodes"), rows, ["x0"], "nodes")
    assert found["prediction"].tolist() == model.predict(new).tolist()


def test_names():
    """Quotes in names, names of the query itself, and several models."""
    names = ["row_number", "score", 'a "b"', "sum", "prediction", "{{steps}}"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 6)), columns=names)
    model = CARTClassifier(max_depth=3).fit(frame, frame.sum(axis=1) > 0)
    boosting = GradientBoostingClassifier(n_estimators=3).fit(frame, frame["sum"] > 0)
    connection = sqlite3.connect(":memory:")
    table = 'a "table"'
    frame.to_sql(table, connection, index=False)
    for fitted, prefix in ((model, ""), (boosting, "second_")):
        options = {"prefix": prefix, "table": table, "form": "nodes"}
        connection.executescript(export_code(fitted, "sql", **options))
        view = f"{prefix or 'model_'}predictions"
        found = pd.read_sql(f"SELECT * FROM {view} ORDER BY row_number_", connection)
        assert_array_equal(found["prediction_"].astype(bool), fitted.predict(frame))
        assert_array_equal(found[names], frame)
    connection.close()


# --------------------------------------------------------------------------- numbers
@pytest.mark.parametrize("form", FORMS)
def test_refused_values(form):
    """Infinite numbers, and what the parameters refuse, are NULL."""
    rows = [
        {"a": 1.0, "letter": "p"},
        {"a": float("inf"), "letter": "p"},
        {"a": -float("inf"), "letter": "p"},
        {"a": None, "letter": "p"},
        {"a": 1.0, "letter": None},
        {"a": 1.0, "letter": "new"},
    ]
    strict = fit_strict()
    found = run_sqlite(export_code(strict, "sql", form=form), rows, rows[0], form)
    assert found["prediction"].notna().tolist() == [True, *[False] * 5]
    frame = make_frame()[["a", "letter"]]
    for model in (CARTClassifier(), RandomForestClassifier(3), C45Classifier()):
        model.fit(frame, make_target(make_frame()) > 1)
        source = export_code(model, "sql", form=form)
        found = run_sqlite(source, rows, rows[0], form)
        assert found["prediction"].notna().tolist() == [True, False, False, *[True] * 3]


@pytest.mark.parametrize("form", FORMS)
def test_infinite_numbers_in_duckdb(form):
    """NaN is not missing there, and is refused."""
    model = CARTClassifier().fit([[1.0], [2.0], [np.nan]], [0, 1, 1])
    values = ["1e0", None, "inf", "-inf", "nan", "1.7976931348623157e308"]
    source = export_code(model, "sql", form=form)
    found = run_duckdb(source, pd.DataFrame({"x0": values}), form, {"x0": "DOUBLE"})
    assert found["prediction"].fillna(-1).tolist() == [0, 1, -1, -1, -1, 1]


def list_decimals(source):
    """List the numbers with a point that have no exponent."""
    source = re.sub(r"'[^']*'|\"[^\"]*\"|--.*", "", source)
    return re.findall(r"\b\d+\.\d+\b(?!e)", source)


def test_numbers_are_binary():
    """Databases read numbers without an exponent as decimals, and add those."""
    assert list_decimals("1.5 <= 2.0e0 + 0.25") == ["1.5", "0.25"]
    for name in ("oblique levels", "oblique stay", "surrogates", "boosting of values"):
        for form in FORMS:
            assert not list_decimals(export_code(fit(name), "sql", form=form))
    assert not list_decimals(export_rules(fit("oblique stay"), "sql"))


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_single_precision(form):
    """A threshold between two neighbours is none of them."""
    low = np.float32(0.1)
    x = np.array([low, np.nextafter(low, np.float32(1))])
    model = CARTClassifier().fit(x[:, np.newaxis].astype(float), [0, 1])
    frame = pd.DataFrame({"x0": x})
    found = run_duckdb(export_code(model, "sql", form=form), frame, form)
    assert found["prediction"].tolist() == [0, 1]


@pytest.mark.parametrize("form", FORMS)
def test_numerals(form):
    """Numbers as text, which compare as text otherwise."""
    frame = pd.DataFrame({"text": [str(k / 2) for k in range(25)]})
    model = CARTClassifier().fit(frame, np.arange(25) > 12)
    rows = frame.to_dict("records")
    found = run_sqlite(export_code(model, "sql", form=form), rows, frame, form)
    assert_array_equal(found["prediction"].astype(bool), model.predict(frame))


def make_times(n_rows=120):
    days = pd.date_range("1960-01-01", periods=n_rows, freq="31D")
    return pd.DataFrame(
        {
            "day": days + pd.Timedelta(hours=3, milliseconds=7),
            "length": pd.to_timedelta(np.arange(n_rows) % 17 - 8, unit="h")
            + pd.Timedelta("1.5us"),
            "clock": [time(k % 24, k % 7, 30, 1) for k in range(n_rows)],
            "zoned": days.tz_localize(UTC),
        }
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", ["day", "length", "clock", "zoned"])
def test_times(form, column):
    """Dates, durations and times of day, compared as such."""
    pytest.importorskip("duckdb")
    frame = make_times()[[column]]
    y = np.sin(np.arange(len(frame)) % 17) > 0
    model = CARTClassifier().fit(frame, y)
    assert model.get_depth() > 1
    found = run_duckdb(export_code(model, "sql", form=form), frame, form)
    assert_array_equal(found["prediction"], model.predict(frame))


@pytest.mark.parametrize("form", FORMS)
def test_dates_as_text(form):
    frame = make_times()[["day", "clock"]]
    model = CARTClassifier().fit(frame, np.sin(np.arange(len(frame)) % 17) > 0)
    texts = frame.astype({"day": "datetime64[us]"}).astype(str)
    rows = texts.to_dict("records")
    found = run_sqlite(export_code(model, "sql", form=form), rows, frame, form)
    assert_array_equal(found["prediction"].astype(bool), model.predict(frame))


@pytest.mark.parametrize("form", FORMS)
def test_sums_of_durations(form):
    frame = make_times(60)[["length"]].assign(x=np.arange(60) % 7.0)
    y = (frame["length"].dt.total_seconds() / 3600 + frame["x"]) > 0
    model = ObliqueTreeClassifier(max_depth=2).fit(frame, y)
    with pytest.raises(ValueError, match="'length', which contains durations"):
        export_code(model, "sql", form=form)


# ----------------------------------------------------------------------------- sizes
def make_deep_tree(n_rows=4000):
    """A tree of one chain."""
    X = np.arange(n_rows, dtype=float)[:, np.newaxis]
    model = CARTClassifier().fit(X, np.arange(n_rows) % 2)
    assert model.get_depth() == n_rows - 1
    return model


def test_deep_tree(monkeypatch):
    """Expressions grow with the square of the depth, tables do not."""
    model = make_deep_tree()
    monkeypatch.setattr("sklearn_textbook.exchange.sql_source.MAX_LENGTH", 10**6)
    with pytest.raises(ValueError, match=r"1000000 characters.* Use form='nodes'"):
        export_code(model, "sql")
    source = export_code(model, "sql", form="nodes")
    assert len(source) < 100 * model.tree_.node_count
    rows = [{"x0": float(k)} for k in range(0, 4000, 77)]
    found = run_sqlite(source, rows, ["x0"], "nodes")
    assert_array_equal(found["prediction"], found["x0"] % 2)


def test_long_queries(monkeypatch):
    model = fit("divided votes")
    forest = fit("forest")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_code(forest, "sql")
        export_code(model, "sql", form="nodes")
    monkeypatch.setattr("sklearn_textbook.exchange.sql_source.LONG", 50_000)
    with pytest.warns(UserWarning, match=r"0\.\d million characters.*form='nodes'"):
        export_code(forest, "sql")
    # Values divided among many leaves count too.
    monkeypatch.setattr("sklearn_textbook.exchange.sql_source.MAX_LENGTH", 50_000)
    with pytest.raises(ValueError, match="more than 50000 characters"):
        export_code(fit("c45"), "sql")
    with pytest.raises(ValueError, match="more than 50000 characters"):
        export_code(forest, "sql")


def test_parameters():
    model = fit("cart")
    for options, words in (
        ({"language": "sql", "form": "tables"}, "form"),
        ({"language": "c", "form": "nodes"}, "form must be 'expression' for 'c'"),
        ({"language": "sql", "prefix": "a"}, "prefix"),
        ({"language": "sql", "form": "nodes", "prefix": "a b"}, "prefix"),
    ):
        with pytest.raises(ValueError, match=words):
            export_code(model, **options)
