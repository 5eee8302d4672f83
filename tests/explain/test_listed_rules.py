"""Lists of rules as records, text, data frame, SQL and Python."""

import json
import math
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_textbook.tree import (
    C45RulesClassifier,
    export_graphviz,
    export_rules,
    export_text,
    plot_tree,
)
from tests.loops import loop_over
from tests.rules.tables import draw_parameters, make_table

SEEDS = range(12)


def fit(seed):
    """A fitted list, and rows with missing values to predict."""
    frame, y, weights = make_table(seed, 150)
    model = C45RulesClassifier(**draw_parameters(seed)).fit(frame, y, weights)
    new, _, _ = make_table(seed, 150, missing=0.3)
    return model, new


def plain_rows(frame):
    """Rows as people have them: name -> value, None for missing."""
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
        for row in frame.astype(object).to_dict("records")
    ]


@loop_over("seed", SEEDS)
def test_records_are_the_rules(seed):
    model, _ = fit(seed)
    records = export_rules(model, "dict")
    assert records == list(model.rules_)
    json.dumps(records, allow_nan=False)
    numbers = [record["rule"] for record in records]
    assert numbers == [*range(model.n_rules_), -1]
    assert sum(record["support"] for record in records) == pytest.approx(1.0)
    n_samples = sum(record["n_samples"] for record in records)
    assert n_samples == 150
    for record in records:
        distribution = record["distribution"]
        assert record["confidence"] == max(distribution.values())
        assert distribution[record["class"]] == record["confidence"]
        assert all(c["missing"] is False for c in record["conditions"])
        names = [c["feature"] for c in record["conditions"]]
        assert len(names) == len(set(names))
    assert records[-1]["conditions"] == []
    assert records[-1]["class"] == model.default_class_
    assert records[-1]["error"] is None


@loop_over("seed", SEEDS)
def test_python_function_predicts_the_same(seed):
    model, new = fit(seed)
    namespace = {}
    exec(export_rules(model, "python"), namespace)
    predicted = [namespace["predict_row"](row) for row in plain_rows(new)]
    assert predicted == model.predict(new).tolist()
    unseen = dict.fromkeys(new.select_dtypes("category"), "never seen")
    row = {**dict.fromkeys(new), **unseen}
    assert namespace["predict_row"](row) == model.default_class_


@loop_over("seed", SEEDS)
def test_sql_predicts_the_same(seed):
    model, new = fit(seed)
    rows = plain_rows(new)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE new ({', '.join(new)})")
    marks = ", ".join("?" * len(new.columns))
    connection.executemany(
        f"INSERT INTO new VALUES ({marks})", [list(row.values()) for row in rows]
    )
    query = f"SELECT {export_rules(model, 'sql')} FROM new ORDER BY rowid"
    predicted = [label for (label,) in connection.execute(query)]
    connection.close()
    assert predicted == model.predict(new).tolist()


@loop_over("seed", SEEDS)
def test_text_has_a_line_per_rule(seed):
    model, _ = fit(seed)
    lines = export_rules(model).splitlines()
    assert len(lines) == model.n_rules_ + 1
    starts = ["IF", *["ELSE IF"] * (len(lines) - 2), "ELSE"]
    if len(lines) == 1:
        starts = ["ALWAYS"]
    for line, start, rule in zip(lines, starts, model.rules_, strict=True):
        assert line.startswith(start)
        assert f"{rule['class']} [support " in line
        assert "missing" not in line


def test_frame_has_a_row_per_rule():
    model, _ = fit(5)
    frame = export_rules(model, "frame", class_names=["first", "second"])
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == model.n_rules_ + 1
    names = dict(zip(model.classes_, ["first", "second"], strict=True))
    assert frame["class"].tolist() == [names[r["class"]] for r in model.rules_]
    assert frame["conditions"].iloc[-1] == ""
    assert math.isnan(frame["error"].iloc[-1])


def test_rows_without_columns_names_are_sequences():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = C45RulesClassifier().fit(X, X[:, 1] > 0)
    namespace = {}
    exec(export_rules(model, "python"), namespace)
    predicted = [namespace["predict_row"](row) for row in X.tolist()]
    assert predicted == model.predict(X).tolist()


def test_rules_are_written_out_late():
    model, _ = fit(5)
    assert repr(model.rules_) == f"<list of {model.n_rules_} rules and a default>"


def test_a_list_is_no_tree():
    model, _ = fit(5)
    for export in (export_text, export_graphviz, plot_tree):
        with pytest.raises(TypeError, match=r"list of rules. Use export_rules"):
            export(model)
        with pytest.raises(NotFittedError):
            export(C45RulesClassifier())
    assert export_text(model.tree_estimator_)


def test_text_of_a_long_list_ends_with_the_default():
    model, _ = fit(1)
    *lines, default = export_rules(model).splitlines()
    assert len(lines) >= 3
    short = export_rules(model, max_rules=1).splitlines()
    more = f"... {len(lines) - 1} more rules; max_rules=None writes all"
    assert short == [lines[0], more, default]
    for enough in (len(lines), len(lines) + 1, None):
        assert export_rules(model, max_rules=enough).splitlines() == [*lines, default]
    assert export_rules(model, max_rules=0).splitlines()[1:] == [default]
