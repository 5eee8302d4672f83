"""Explanations of trees that were fitted to real kinds of tables."""

import datetime
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from sklearn_textbook.inspection import TreeDisplay
from sklearn_textbook.tree import (
    CARTClassifier,
    CARTRegressor,
    export_graphviz,
    export_rules,
    export_text,
    plot_tree,
)
from tests.explain.test_graphviz import read_dot
from tests.explain.test_rules import compile_python, share_of


def make_table(seed, n_rows=120, with_missing=True):
    """Numbers, strings, booleans, ordered categories and dates."""
    rng = np.random.default_rng(seed)
    sizes = ["small", "medium", "large"]
    days = pd.Timestamp("2020-02-28") + pd.to_timedelta(
        rng.integers(0, 60, n_rows) * 6, unit="h"
    )
    table = pd.DataFrame(
        {
            'it\'s "x"': rng.normal(size=n_rows).round(2),
            "count": rng.integers(0, 5, n_rows).astype(float),
            "colour": rng.choice(["red", "green", "d'or", "blue"], n_rows),
            "size": pd.Categorical(
                rng.choice(sizes, n_rows), categories=sizes, ordered=True
            ),
            "windy": pd.array(rng.random(n_rows) < 0.5, dtype="boolean"),
            "day": days,
        }
    )
    table["amount"] = table["count"] * 10 + rng.integers(0, 12, n_rows)
    if with_missing:
        for name in table:
            table.loc[rng.random(n_rows) < 0.12, name] = None
    score = (
        (table["colour"] == "red").astype(int)
        + (table["size"] == "small").astype(int)
        + (table["count"] > 2).astype(int)
        + (rng.random(n_rows) < 0.3)
    )
    return table, score.to_numpy().clip(0, 2)


def as_rows(table):
    """Rows as mappings with None for missing values, and their SQL values."""
    rows = []
    for record in table.astype(object).to_dict("records"):
        rows.append({k: None if pd.isna(v) else v for k, v in record.items()})
    return rows


def as_sql(value):
    return value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else value


def run_sql(estimator, rows):
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows[0])
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({names})")
    connection.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})",
        [tuple(map(as_sql, row.values())) for row in rows],
    )
    expression = export_rules(estimator, "sql")
    found = connection.execute(f"SELECT {expression} FROM t ORDER BY rowid").fetchall()
    connection.close()
    return [label for (label,) in found]


MISSING = ("learned", "branch", "surrogate")
SPLITS = ("subset", "one_vs_rest", "multiway")


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("missing", MISSING)
def test_rules_sql_and_python_predict_as_the_classifier(missing, split):
    for seed in (SPLITS.index(split),):
        table, y = make_table(seed)
        labels = np.array(["it's", 'a "b"', "c"], dtype=object)[y]
        tree = CARTClassifier(
            missing=missing, categorical_split=split, max_depth=6
        ).fit(table[:90], labels[:90])
        rows = as_rows(table)
        predicted = tree.predict(table).tolist()
        predict_row = compile_python(export_rules(tree, "python"))
        assert [predict_row(row) for row in rows] == predicted
        assert run_sql(tree, rows) == predicted
        ends = [rule["node"] for rule in tree.rules_]
        shown = [{**row, "day": row["day"] and row["day"].isoformat()} for row in rows]
        shares = np.array(
            [[share_of(rule, row) for rule in tree.rules_] for row in shown]
        )
        assert np.all((shares == 0) | (shares == 1))
        assert np.all(shares.sum(axis=1) == 1)
        assert tree.apply(table).tolist() == np.array(ends)[shares.argmax(1)].tolist()
        support = sum(rule["n_samples"] for rule in tree.rules_)
        assert support == 90
        if missing == "surrogate" and split == "subset":
            assert len(tree.tree_.surrogates)
            assert "first branch if" in export_text(tree)
        by_node = {rule["node"]: rule["n_samples"] for rule in tree.rules_}
        counts = np.bincount(tree.apply(table[:90]), minlength=max(by_node) + 1)
        if missing != "surrogate":  # whose last resort differs between fit and predict
            assert all(counts[node] == n for node, n in by_node.items())


@pytest.mark.parametrize("missing", MISSING)
def test_rules_of_divided_rows_give_the_probabilities(missing):
    table, y = make_table(5)
    tree = CARTClassifier(
        missing=missing,
        handle_unknown="fractional",
        categorical_split="multiway",
        max_depth=4,
    ).fit(table[:90], y[:90])
    strange = table.assign(colour="purple")
    expected = tree.predict_proba(strange)
    shown = [
        {
            **row,
            "day": row["day"] and row["day"].isoformat(),
            "colour": "a level never seen",
        }
        for row in as_rows(strange)
    ]
    shares = np.array([[share_of(rule, row) for rule in tree.rules_] for row in shown])
    values = np.array([list(rule["distribution"].values()) for rule in tree.rules_])
    np.testing.assert_allclose(shares @ values, expected, atol=1e-12)
    predict_row = compile_python(export_rules(tree, "python"))
    lead = np.diff(np.sort(expected, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
    found = np.array([predict_row(row) for row in as_rows(strange)])
    assert found[lead].tolist() == tree.predict(strange)[lead].tolist()


def test_regression_sql_and_python_give_the_values():
    table, y = make_table(2)
    tree = CARTRegressor(max_depth=5, missing="branch").fit(table, y + 0.25)
    rows = as_rows(table)
    expected = tree.predict(table).tolist()
    assert run_sql(tree, rows) == expected
    predict_row = compile_python(export_rules(tree, "python"))
    assert [predict_row(row) for row in rows] == expected


def test_numbered_columns_sparse_columns_and_many_outputs():
    iris = load_iris()
    y = np.column_stack([iris.target, iris.target > 0])
    tree = CARTClassifier(max_depth=2).fit(iris.data, y)
    predict_row = compile_python(export_rules(tree, "python"))
    expected = tree.predict(iris.data).tolist()
    assert [predict_row(row) for row in iris.data] == expected
    assert "|--- x2 <= 2.45: [0, 0] (50 rows, [100%, 100%])" in export_text(tree)


def test_text_says_or_missing_only_where_training_had_missing_values():
    table, y = make_table(1, with_missing=False)
    text = export_text(CARTClassifier(max_depth=4).fit(table, y))
    assert "missing" not in text
    table.loc[::7, "colour"] = None
    text = export_text(CARTClassifier(max_depth=4).fit(table, y))
    assert "colour = " in text or "colour in" in text
    asked = [line for line in text.splitlines() if "missing" in line]
    assert asked
    assert all("colour" in line for line in asked)


def test_dates_and_booleans_are_words():
    table, _ = make_table(4, with_missing=False)
    y = (table["day"] < "2020-03-05").to_numpy()
    text = export_text(CARTClassifier().fit(table, y))
    assert "|--- day <= 2020-03-04" in text
    assert ": true (" in text
    text = export_text(CARTClassifier().fit(table, table["windy"].to_numpy(bool)))
    assert "windy = false: false (" in text


def test_iris_in_every_form():
    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    tree = CARTClassifier().fit(iris.data, species)
    records = export_rules(tree, "dict")
    assert sum(record["n_samples"] for record in records) == 150
    assert export_rules(tree, "frame").shape[0] == tree.get_n_leaves()
    graph = read_dot(export_graphviz(tree, filled=True))
    assert len(graph["nodes"]) == tree.tree_.node_count
    artists = plot_tree(tree, ax="new")
    assert len(TreeDisplay.from_estimator(tree).artists_) == len(artists)
    plt.close("all")


def test_regression_in_every_form():
    diabetes = load_diabetes(as_frame=True)
    tree = CARTRegressor(max_depth=3).fit(diabetes.data, diabetes.target)
    assert len(export_text(tree).splitlines()) == tree.tree_.node_count - 1
    graph = read_dot(export_graphviz(tree, filled=True))
    assert graph["nodes"]["0"]["label"] == "s5\n442 rows"
    assert len(graph["nodes"]) == tree.tree_.node_count
    TreeDisplay.from_estimator(tree)
    plt.close("all")
