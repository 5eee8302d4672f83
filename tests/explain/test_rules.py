"""Rules are the tree: record by record, in SQL and in Python."""

import datetime
import json
import math
import sqlite3

import numpy as np
import pytest

from sklearn_textbook.tree.explain import build_rules, export_rules
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY
from tests.explain.builders import (
    MODES,
    TreeBuilder,
    make_estimator,
    make_schema,
    predict_distribution,
    random_rows,
    random_tree,
    raw_value,
    route_row,
)
from tests.loops import loop_over

OPERATORS = {
    "<=": lambda x, value: x <= value,
    ">": lambda x, value: x > value,
    "range": lambda x, value: value[0] < x <= value[1],
    "==": lambda x, value: x == value,
    "in": lambda x, value: x in value,
    "not in": lambda x, value: x not in value,
    "is missing": lambda x, value: False,
    "is not missing": lambda x, value: True,
}


def share_of(rule, row):
    """Share of a row (name -> value) that meets a rule, by its records alone."""
    share = 1.0
    for condition in rule["conditions"]:
        value = row[condition["feature"]]
        if value is None:
            share *= condition["missing"]
            for entry in condition.get("surrogates", []):
                share *= judge_surrogates(entry, row)
            continue
        partial = condition.get("partial", {})
        if value in partial:
            share *= partial[value]
        elif OPERATORS[condition["operator"]](value, condition["value"]):
            pass
        elif value == "a level never seen":
            share *= condition.get("unseen", 0.0)
        else:
            return 0.0
    return share


def judge_surrogates(entry, row):
    for test in entry["tests"]:
        value = row[test["feature"]]
        if value is None or value not in test.get("known", [value]):
            continue
        return float(OPERATORS[test["operator"]](value, test["value"]))
    return entry["otherwise"]


def raw_rows(schema, table):
    """Rows as people have them: name -> value, None for missing."""
    return [
        {
            column.name: raw_value(column, value)
            for column, value in zip(schema.columns, codes, strict=True)
        }
        for codes in table
    ]


def make_rows(estimator, seed, n_rows=40):
    rng = np.random.default_rng(seed + 10_000)
    with_unseen = estimator.tree_.handle_unknown != "error"
    table = random_rows(rng, estimator.schema_, n_rows, with_unseen)
    return table, raw_rows(estimator.schema_, table)


def expected_class(estimator, codes):
    """Class by the walk, and the lead of its share over the next one."""
    shares = predict_distribution(estimator.tree_, codes)[0]
    first, second = np.sort(shares)[::-1][:2]
    return estimator.classes_[int(shares.argmax())], first - second


CASES = [
    (mode, handle_unknown)
    for mode in MODES
    for handle_unknown in ("parent", "fractional")
]


@loop_over("seed", range(12))
@loop_over(("mode", "handle_unknown"), CASES)
def test_shares_of_a_row_in_the_rules_are_those_of_the_walk(mode, handle_unknown, seed):
    estimator = random_tree(seed, mode, handle_unknown)
    tree = estimator.tree_
    rules = build_rules(tree, estimator.schema_, estimator.classes_)
    table, rows = make_rows(estimator, seed)
    for codes, row in zip(table, rows, strict=True):
        shares = {rule["node"]: share_of(rule, row) for rule in rules}
        met = {node: share for node, share in shares.items() if share > 0}
        assert met == pytest.approx(route_row(tree, codes))
        if handle_unknown == "parent" and mode != "fractional":
            ((node, share),) = met.items()
            assert share == 1.0
            rule = next(rule for rule in rules if rule["node"] == node)
            label, _ = expected_class(estimator, codes)
            assert rule["class"] == label


@pytest.mark.parametrize("mode", MODES)
def test_supports_add_up_to_the_training_rows(mode):
    for seed in range(5):
        estimator = random_tree(seed, mode)
        rules = export_rules(estimator, "dict")
        assert sum(rule["support"] for rule in rules) == pytest.approx(1.0)
        assert sum(rule["weight"] for rule in rules) == pytest.approx(60.0)
        if mode != "fractional":
            assert sum(rule["n_samples"] for rule in rules) == 60


def test_a_rule_may_be_met_by_no_row_of_an_unknown_level_if_the_tree_refuses_it():
    builder = TreeBuilder([3])
    builder.add([3, 3])
    builder.split(0, 0, [0, 1, -1], [[3, 0], [0, 3]], missing=0)
    tree = builder.build(handle_unknown="error")
    schema = make_schema(("c", "nominal", ("a", "b", "z"), "string"))
    estimator = make_estimator(tree, schema, np.array(["no", "yes"]))
    rules = export_rules(estimator, "dict")
    assert [share_of(rule, {"c": "z"}) for rule in rules] == [0.0, 0.0]
    predict_row = compile_python(export_rules(estimator, "python"))
    assert predict_row({"c": None}) == "no"
    with pytest.raises(ValueError, match="level was not seen"):
        predict_row({"c": "z"})
    assert run_sql(estimator, [{"c": "z"}, {"c": "b"}]) == [(None,), ("yes",)]


@pytest.mark.parametrize("mode", MODES)
def test_records_are_plain_and_survive_json(mode):
    estimator = random_tree(4, mode, "fractional")
    rules = export_rules(estimator, "dict")
    again = json.loads(json.dumps(rules))
    _, rows = make_rows(estimator, 4, 10)
    for row in rows:
        for rule, copy in zip(rules, again, strict=True):
            if all(isinstance(value, str | float | None) for value in row.values()):
                assert share_of(copy, row) == share_of(rule, row)


# ------------------------------------------------------------------- merging
def make_two_columns():
    """x <= 3, then x <= 2 on the left, x <= 5 on the right and y on the far right."""
    builder = TreeBuilder([0, 4])
    builder.add([10, 10])
    left, right = builder.split(0, 0, 3.0, [[6, 4], [4, 6]], missing=0)
    builder.split(left, 0, 2.0, [[6, 0], [0, 4]], missing=0)
    _, far = builder.split(right, 0, 5.0, [[4, 0], [0, 6]], missing=1)
    rest, _ = builder.split(far, 1, [0, 0, 0, 1], [[0, 3], [0, 3]], missing=1)
    builder.split(rest, 1, [0, 1, 1, -1], [[0, 1], [0, 2]], missing=0)
    schema = make_schema(("x",), ("y", "nominal", ("a", "b", "c", "d"), "string"))
    return make_estimator(builder.build(), schema, np.array([0, 1]))


def test_conditions_on_one_column_are_merged():
    rules = export_rules(make_two_columns(), "dict", inner_nodes=False)
    found = [
        [(c["feature"], c["operator"], c["value"], c["missing"]) for c in conditions]
        for conditions in (rule["conditions"] for rule in rules)
    ]
    assert found == [
        [("x", "<=", 2.0, True)],
        [("x", "range", [2.0, 3.0], False)],
        [("x", "range", [3.0, 5.0], False)],
        [("x", ">", 5.0, False), ("y", "==", "a", False)],
        [("x", ">", 5.0, False), ("y", "in", ["b", "c"], False)],
        [("x", ">", 5.0, False), ("y", "==", "d", True)],
    ]


def test_text_of_rules():
    estimator = make_two_columns()
    estimator.n_missing_ = np.array([2, 0])
    assert export_rules(estimator).splitlines() == [
        "IF x <= 2 or missing THEN 0 [support 30% (6 rows), confidence 100%]",
        "IF 2 < x <= 3 THEN 1 [support 20% (4 rows), confidence 100%]",
        "IF 3 < x <= 5 THEN 0 [support 20% (4 rows), confidence 100%]",
        "IF x > 5 AND y = a THEN 1 [support 5% (1 row), confidence 100%]",
        "IF x > 5 AND y in {b, c} THEN 1 [support 10% (2 rows), confidence 100%]",
        "IF x > 5 AND y = d THEN 1 [support 15% (3 rows), confidence 100%]",
    ]
    text = export_rules(
        estimator, class_names=["no", "yes"], show_missing=True, inner_nodes=True
    )
    assert "IF x > 5 AND (y = d or missing) THEN yes" in text
    assert text.splitlines()[-1] == (
        "IF x > 5 AND y is an unknown level THEN yes "
        "[support 0% (0 rows), confidence 100%]"
    )


def test_text_names_the_inner_nodes_in_which_training_rows_stopped():
    builder = TreeBuilder([0])
    builder.add([6, 4])
    builder.split(0, 0, 1.5, [[5, 0], [0, 3]], missing=STAY)
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))
    assert export_rules(estimator).splitlines()[-1] == (
        "IF x is missing THEN 0 [support 20% (2 rows), confidence 60%]"
    )
    assert len(export_rules(estimator, inner_nodes=False).splitlines()) == 2


def test_a_tree_of_one_leaf_has_one_rule():
    builder = TreeBuilder([0])
    builder.add([2, 6])
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))
    assert export_rules(estimator) == (
        "ALWAYS 1 [support 100% (8 rows), confidence 75%]\n"
    )
    assert compile_python(export_rules(estimator, "python"))({"x": None}) == 1
    assert run_sql(estimator, [{"x": None}]) == [(1,)]


def test_surrogates_in_words():
    builder = TreeBuilder([0, 0, 2])
    builder.add([5, 5])
    builder.split(0, 0, 1.5, [[5, 0], [0, 5]], missing=1)
    builder.stand_in(0, 1, 2.5, low_branch=1)
    builder.stand_in(0, 2, [0, 1])
    schema = make_schema(("x",), ("y",), ("z", "nominal", (False, True), "boolean"))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    estimator.n_missing_ = np.array([1, 0, 0])
    assert export_rules(estimator).splitlines()[0] == (
        "IF x <= 1.5 (if missing: y > 2.5; if y is missing too: z = false; "
        "if all are missing: no) THEN 0 [support 50% (5 rows), confidence 100%]"
    )
    assert export_rules(estimator, max_surrogates=1).splitlines()[0] == (
        "IF x <= 1.5 (if missing: y > 2.5; 1 more surrogate; if all are missing: no) "
        "THEN 0 [support 50% (5 rows), confidence 100%]"
    )


# ------------------------------------------------------------ frame and errors
def test_frame():
    frame = export_rules(make_two_columns(), "frame")
    assert frame.shape[0] == 7  # six leaves, and y unseen in the first split by y
    assert frame["class"].tolist()[:3] == [0, 1, 0]
    assert frame["conditions"][1] == "2 < x <= 3"
    assert frame["support"].sum() == pytest.approx(1.0)
    renamed = export_rules(make_two_columns(), "frame", class_names=["no", "yes"])
    assert renamed["class"].tolist()[:3] == ["no", "yes", "no"]


def test_frame_without_pandas_is_a_clear_error(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match='format="dict" gives the same'):
        export_rules(make_two_columns(), "frame")


def test_unknown_format_is_named():
    with pytest.raises(ValueError, match=r"one of .*'python'.*got 'prolog'"):
        export_rules(make_two_columns(), "prolog")


# ----------------------------------------------------------------------- SQL
def run_sql(estimator, rows):
    """What the CASE expressions give for rows (name -> value) in SQLite."""
    names = list(rows[0])
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(quoted)})")
    connection.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * len(names))})",
        [tuple(row[name] for name in names) for row in rows],
    )
    expression = export_rules(estimator, "sql")
    found = connection.execute(f"SELECT {expression} FROM t ORDER BY rowid").fetchall()
    connection.close()
    return found


@loop_over("seed", range(12))
@pytest.mark.parametrize("mode", ["learned", "branch", "stay", "surrogate"])
def test_sql_predicts_as_the_tree(mode, seed):
    estimator = random_tree(seed, mode)
    table, rows = make_rows(estimator, seed)
    expected = [expected_class(estimator, codes)[0] for codes in table]
    assert [label for (label,) in run_sql(estimator, rows)] == expected


def test_sql_of_several_outputs_and_of_values():
    estimator = random_tree(3, "learned", n_classes=2, n_outputs=2)
    table, rows = make_rows(estimator, 3)
    expected = [
        tuple(
            labels[int(shares[: len(labels)].argmax())]
            for labels, shares in zip(
                estimator.classes_,
                predict_distribution(estimator.tree_, r),
                strict=True,
            )
        )
        for r in table
    ]
    assert run_sql(estimator, rows) == expected
    estimator = random_tree(3, "branch", n_classes=0)
    table, rows = make_rows(estimator, 3)
    expected = [(predict_distribution(estimator.tree_, r)[0, 0],) for r in table]
    assert run_sql(estimator, rows) == expected


def test_sql_refuses_rows_divided_among_branches():
    builder = TreeBuilder([0])
    builder.add([5, 5])
    builder.split(0, 0, 1.5, [[5, 0], [0, 5]], missing=FRACTIONAL)
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))
    with pytest.raises(ValueError, match="several branches .*column 'x'"):
        export_rules(estimator, "sql")


def test_sql_refuses_a_name_that_it_cannot_write():
    builder = TreeBuilder([0])
    builder.add([5, 5])
    builder.split(0, 0, 1.5, [[5, 0], [0, 5]], missing=0)
    schema = make_schema(("x\0; DROP TABLE t",))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    with pytest.raises(ValueError, match="NUL"):
        export_rules(estimator, "sql")


# -------------------------------------------------------------------- Python
def compile_python(source):
    namespace = {}
    exec(compile(source, "rules", "exec"), namespace)
    return namespace["predict_row"]


@loop_over("seed", range(12))
@loop_over(("mode", "handle_unknown"), CASES)
def test_python_predicts_as_the_tree(mode, handle_unknown, seed):
    estimator = random_tree(seed, mode, handle_unknown)
    predict_row = compile_python(export_rules(estimator, "python"))
    table, rows = make_rows(estimator, seed)
    for codes, row in zip(table, rows, strict=True):
        label, lead = expected_class(estimator, codes)
        if lead > 1e-9 or (mode != "fractional" and handle_unknown == "parent"):
            assert predict_row(row) == label


def test_python_of_values_and_of_several_outputs():
    for mode in ("surrogate", "fractional"):
        estimator = random_tree(5, mode, n_classes=0, n_outputs=2)
        predict_row = compile_python(export_rules(estimator, "python"))
        table, rows = make_rows(estimator, 5)
        for codes, row in zip(table, rows, strict=True):
            expected = predict_distribution(estimator.tree_, codes)[:, 0]
            assert predict_row(row) == pytest.approx(expected.tolist())


def test_python_takes_all_kinds_of_missing_values_and_rows_without_names():
    builder = TreeBuilder([0, 0])
    builder.add([5, 5])
    builder.split(0, 1, 1.5, [[5, 0], [0, 5]], missing=0)
    schema = make_schema(("x0",), ("x1",))
    schema = type(schema)(schema.columns, has_names=False)
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    source = export_rules(estimator, "python")
    pandas = pytest.importorskip("pandas")
    predict_row = compile_python(source)
    missing = [None, math.nan, np.nan, pandas.NA, pandas.NaT, np.float32("nan")]
    assert [predict_row([0, value]) for value in missing] == [0] * len(missing)
    assert predict_row([0, 2]) == 1
    assert "x1 = row[1]" in source


def test_python_names_are_never_taken_for_something_else():
    names = ["class", "row", "is_missing", "a b", "a-b", "1st", "", "总分", "a_b"]
    builder = TreeBuilder([0] * len(names))
    node = builder.add([16, 16])
    for feature in range(len(names)):
        _, node = builder.split(node, feature, 0.0, [[1, 0], [9, 16]], missing=1)
    estimator = make_estimator(
        builder.build(), make_schema(*[(name,) for name in names]), np.array([0, 1])
    )
    predict_row = compile_python(export_rules(estimator, "python"))
    assert predict_row(dict.fromkeys(names, 1.0)) == 1
    for name in names:
        assert predict_row({**dict.fromkeys(names, 1.0), name: -1.0}) == 0


# -------------------------------------------------------------- deep, and dates
def make_chain(depth):
    """Leaf after leaf: x <= 1, x <= 2, ..."""
    builder = TreeBuilder([0])
    node = builder.add([1, depth])
    for step in range(depth):
        _, node = builder.split(
            node, 0, float(step), [[0, 1], [1, depth - step - 1]], missing=1
        )
    return make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))


def test_deep_trees_have_no_limit_of_recursion_or_indentation():
    depth = 3_000
    estimator = make_chain(depth)
    rules = export_rules(estimator, "dict")
    assert len(rules) == depth + 1
    assert rules[-2]["conditions"][0]["value"] == [depth - 2.0, depth - 1.0]
    predict_row = compile_python(export_rules(estimator, "python"))
    values = [0.0, 0.5, depth - 1.5, depth + 1.0, None]
    assert [predict_row({"x": value}) for value in values] == [1, 1, 1, 0, 0]
    rows = [{"x": value} for value in values]
    assert run_sql(estimator, rows) == [(1,), (1,), (1,), (0,), (0,)]


def test_booleans_held_as_numbers_are_true_and_false():
    builder = TreeBuilder([0])
    builder.add([5, 5])
    builder.split(0, 0, 0.5, [[5, 0], [0, 5]], missing=0)
    schema = make_schema(("b", "numeric", None, "boolean"))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    assert export_rules(estimator).startswith("IF b = false THEN 0 ")
    assert "IF b = true THEN 1 " in export_rules(estimator)
    record = export_rules(estimator, "dict")[1]["conditions"][0]
    assert (record["operator"], record["value"]) == ("==", True)
    rows = [{"b": True}, {"b": False}, {"b": None}]
    assert run_sql(estimator, rows) == [(1,), (0,), (0,)]
    predict_row = compile_python(export_rules(estimator, "python"))
    assert [predict_row(row) for row in rows] == [1, 0, 0]


@pytest.mark.parametrize(
    ("source", "threshold", "below", "above", "text"),
    [
        ("date", 43200.0, "1970-01-01", "1970-01-02", "1970-01-01T12:00:00"),
        (
            "date",
            1577880000.5,
            "2020-01-01 12:00:00.5",
            "2020-01-01 12:00:01",
            "2020-01-01T12:00:00",
        ),
        ("time", 45296.0, "12:34:56", "12:34:57", "12:34:56"),
    ],
)
def test_dates_and_times(source, threshold, below, above, text):
    builder = TreeBuilder([0])
    builder.add([5, 5])
    builder.split(0, 0, threshold, [[5, 0], [0, 5]], missing=0)
    schema = make_schema(("when", "numeric", None, source))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    assert export_rules(estimator).startswith(f"IF when <= {text} THEN 0 ")
    assert run_sql(estimator, [{"when": below}, {"when": above}]) == [(0,), (1,)]
    predict_row = compile_python(export_rules(estimator, "python"))
    read = datetime.datetime if source == "date" else datetime.time
    for value, label in ((below, 0), (above, 1)):
        moment = read.fromisoformat(value)
        assert predict_row({"when": moment}) == label
        if source == "date":
            assert predict_row({"when": np.datetime64(moment, "ns")}) == label
            if len(value) == 10:
                assert predict_row({"when": moment.date()}) == label


# --------------------------------------------------------------- text of large trees
def make_names(n_names):
    """A binary split of many names, and another below it."""
    builder = TreeBuilder([n_names, 0])
    builder.add([n_names, n_names])
    half = [int(code >= n_names // 2) for code in range(n_names)]
    left, _ = builder.split(0, 0, half, [[n_names, 0], [0, n_names]], missing=0)
    builder.split(left, 1, 1.5, [[n_names - 1, 0], [1, 0]], missing=0)
    names = tuple(f"passenger {number}" for number in range(n_names))
    schema = make_schema(("name", "nominal", names, "string"), ("x",))
    return make_estimator(builder.build(), schema, np.array([0, 1]))


def test_text_cuts_long_sets_of_levels_short():
    estimator = make_names(1_000)
    lines = export_rules(estimator).splitlines()
    assert lines[0].startswith(
        "IF name in {passenger 0, passenger 1, passenger 2, passenger 3, +496 more} "
    )
    assert max(map(len, lines)) < 200
    lines = export_rules(estimator, max_levels=2).splitlines()
    assert "name in {passenger 500, +499 more} " in lines[2]
    for complete in ("dict", "sql", "python"):
        assert "passenger 499" in str(export_rules(estimator, complete, max_levels=1))
    frame = export_rules(estimator, "frame", max_levels=1)
    assert "passenger 499" in frame["conditions"][0]
    assert "passenger 499" in export_rules(estimator, max_levels=None)


def test_text_cuts_levels_with_shares_short():
    builder = TreeBuilder([1_000])
    builder.add([6, 4])
    builder.split(0, 0, [0, 1] + [-1] * 998, [[6, 0], [0, 4]], missing=0)
    levels = tuple(f"level {number}" for number in range(1_000))
    estimator = make_estimator(
        builder.build(handle_unknown="fractional"),
        make_schema(("c", "nominal", levels, "string")),
        np.array([0, 1]),
    )
    first = export_rules(estimator).splitlines()[0]
    assert first.startswith(
        "IF c in {level 0, level 2 (60%), level 3 (60%), level 4 (60%), +995 more, "
        "unknown level (60%)} THEN"
    )


def test_text_says_how_many_rules_follow():
    estimator = make_chain(150)
    lines = export_rules(estimator).splitlines()
    assert len(lines) == 101
    assert lines[-1] == "... 51 more rules; max_rules=None writes all"
    assert len(export_rules(estimator, max_rules=None).splitlines()) == 151
    lines = export_rules(estimator, max_rules=150).splitlines()
    assert lines[-1] == "... 1 more rule; max_rules=None writes all"
    assert "more" not in export_rules(estimator, max_rules=151)
    assert len(export_rules(estimator, "dict", max_rules=1)) == 151


@pytest.mark.parametrize(
    ("parameter", "value"), [("max_rules", -1), ("max_rules", 2.5), ("max_levels", 0)]
)
def test_limits_of_the_text_are_checked(parameter, value):
    with pytest.raises(ValueError, match=rf"{parameter} must be .* or None, got"):
        export_rules(make_chain(3), **{parameter: value})
