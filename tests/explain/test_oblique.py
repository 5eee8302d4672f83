"""Oblique trees are explained like all others: text, rules, code, drawings."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.tree import (
    ErrorBasedPruning,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    export_graphviz,
    export_pruning_report,
    export_rules,
    export_text,
    plot_tree,
)
from sklearn_textbook.tree.explain import build_rules, rule_python
from sklearn_textbook.tree.grow.layout import OBLIQUE, STAY, TERM_DTYPE
from tests.explain.builders import TreeBuilder, make_estimator, make_schema
from tests.explain.test_exported_code import compile_python, plain_rows, run_sql
from tests.explain.test_graphviz import read_dot
from tests.loops import loop_over

COLORS = ("nominal", ("red", "blue", "dark: green", "grey"), "category")
SIZES = ("ordinal", ("small", "medium", "large"), "category")
SIZE_DTYPE = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)


# --------------------------------------------------------------- trees by hand
def make_sum(terms, schema, threshold=0.85, handle_unknown="parent"):
    """A stump that tests a sum of (feature, level, share, weight, fill)."""
    builder = TreeBuilder([len(c.levels or ()) for c in schema.columns])
    builder.add([6, 4])
    builder.split(0, terms[0][0], threshold, [[5, 1], [1, 3]])
    tree = builder.build(handle_unknown=handle_unknown)
    nodes = tree.nodes.copy()
    nodes["kind"][0], nodes["missing_branch"][0] = OBLIQUE, STAY
    terms = np.array([(0, *term) for term in terms], dtype=TERM_DTYPE)
    tree = tree.replace(nodes=nodes, terms=terms)
    return make_estimator(tree, schema, np.array(["no", "yes"], dtype=object))


def make_mixed(handle_unknown="parent"):
    """Columns of every kind in one sum."""
    schema = make_schema(
        ("x",),
        ("colour", *COLORS),
        ("size", *SIZES),
        ("day", "numeric", None, "date"),
        ("flag", "numeric", None, "boolean"),
        ("y",),
    )
    terms = [
        (0, -1, 0.4, -0.62, -0.31),
        (1, 0, 0.3, 0.31, 0.1),
        (1, 2, 0.3, -0.64, 0.1),
        (2, -1, 0.2, 0.25, 0.2),
        (3, -1, 0.05, 1e-5, 0.864),
        (4, -1, 0.03, 1.5, 0.5),
        (5, -1, 0.02, -1 / 3, -1.0),
    ]
    return make_sum(terms, schema, handle_unknown=handle_unknown)


MIXED = (
    '-0.62*x + colour(red: 0.31, "dark: green": -0.64) '
    "+ size(small: 0, medium: 0.25, large: 0.5) + 0.00001*seconds(day) "
    "+ flag(false: 0, true: 1.5) - 0.3333*y"
)


def test_text_of_a_sum_of_columns_of_every_kind():
    assert export_text(make_mixed(), max_levels=None).splitlines() == [
        f"|--- {MIXED} <= 0.85: no (6 rows, 83.3%)",
        f"|--- {MIXED} > 0.85: yes (4 rows, 75%)",
    ]


def test_text_says_what_missing_values_count_as():
    model = make_mixed()
    model.n_missing_ = np.array([1, 1, 0, 1, 0, 0])
    fills = (
        "if missing: x counts as 0.5, colour counts as 0.1, day counts as 1970-01-02"
    )
    assert export_text(model).splitlines()[-1] == f"|--- {fills}"
    assert f" <= 0.85 ({fills}) THEN no" in export_rules(model, max_levels=None)
    assert "missing" not in export_text(model, show_missing=False)
    everything = export_text(model, show_missing=True, max_levels=3).splitlines()[-1]
    assert everything.endswith("x counts as 0.5, colour counts as 0.1, +4 more")


def test_long_sums_and_long_lists_of_levels_are_counted():
    text = export_text(make_mixed(), max_levels=2).splitlines()[0]
    assert text.startswith("|--- -0.62*x + 5 more columns <= 0.85: no")
    model = make_sum(
        [(1, n, 0.9, n / 4, 0.0) for n in range(4)] + [(0, -1, 0.1, 2.0, 1.0)],
        make_schema(("x",), ("colour", *COLORS)),
    )
    text = export_text(model, max_levels=3).splitlines()[0]
    assert "colour(red: 0, blue: 0.25, +2 more) + 2*x <= 0.85" in text
    text = export_text(model, max_levels=1).splitlines()[0]
    assert "colour(red: 0, +3 more) + 1 more column <= 0.85" in text


def test_decimals_are_significant_digits_of_weights():
    schema = make_schema(("x",), ("y",))
    terms = [(0, -1, 0.9, 0.00012345, 1.0), (1, -1, 0.1, -12.3456, 1.0)]
    text = export_text(make_sum(terms, schema, 0.85), decimals=2)
    assert "0.00012*x - 12*y <= 0.85" in text


def test_numbers_get_the_digits_that_the_sum_needs():
    # Rounded to four digits, 0.2155 * 2008 would be off by more than the threshold is
    # from the mean.
    schema = make_schema(("year",), ("x",))
    terms = [(0, -1, 0.9, 0.215512345, 432.5), (1, -1, 0.1, 1.0, 0.0)]
    assert "0.2155123*year + 1*x <= 432.532" in export_text(
        make_sum(terms, schema, 432.53212345)
    )


def test_rules_of_rows_with_levels_that_the_node_has_not_seen():
    model = make_mixed()
    *_, last = export_rules(model, inner_nodes=True).splitlines()
    assert last.startswith(
        "IF colour not in {red, dark: green} or size is an unknown level THEN no [supp"
    )
    *_, last = model_rules(model)
    assert last["conditions"][0]["operator"] == "has unseen level"
    shares = model_rules(make_mixed("fractional"))
    assert [rule["conditions"][0]["unseen"] for rule in shares] == [0.6, 0.4]
    text = export_rules(make_mixed("fractional"), max_levels=2)
    assert "<= 0.85 (if a level is unknown: 60% of the row) THEN no" in text
    assert len(model_rules(make_mixed("error"))) == 2


def model_rules(model):
    return build_rules(model.tree_, model.schema_, model.classes_)


def test_drawings_have_a_line_for_each_column():
    graph = read_dot(export_graphviz(make_mixed(), max_levels=3, node_ids=True))
    assert graph["nodes"]["0"]["label"].replace("\N{NO-BREAK SPACE}", " ") == (
        '-0.62·x\n+ colour(red: 0.31,\n"dark: green": -0.64)\n+ 4 more columns'
        "\n#0\n10 rows"
    )
    assert graph["edges"][("0", "1")]["label"] == "≤ 0.85"
    assert graph["edges"][("0", "2")]["label"] == "> 0.85"
    texts = [artist.get_text() for artist in draw(make_mixed(), show_missing=True)]
    assert "-0.62·x" in texts
    assert "+ 3 more columns" in texts
    assert "if missing: the mean" in texts
    assert {"≤ 0.85", "> 0.85"} <= set(texts)


def draw(model, **options):
    artists = plot_tree(model, ax="new", **options)
    return [artist for artist in artists if hasattr(artist, "get_text")]


@pytest.fixture(autouse=True)
def close_figures():
    plt = pytest.importorskip("matplotlib.pyplot")
    yield
    plt.close("all")


# ---------------------------------------------------------------- fitted trees
TREES = {
    "lda": ObliqueTreeClassifier(prefer_axis=None),
    "oc1": ObliqueTreeClassifier(direction="oc1", n_directions=2, random_state=0),
    "random": ObliqueTreeClassifier(
        direction="random", max_features_per_split=2, random_state=0
    ),
    "unseen levels are errors": ObliqueTreeClassifier(handle_unknown="error"),
    "fractional": ObliqueTreeClassifier(prefer_axis=None, handle_unknown="fractional"),
    "regressor": ObliqueTreeRegressor(prefer_axis=None),
    "fractional regressor": ObliqueTreeRegressor(
        direction="random", random_state=0, handle_unknown="fractional"
    ),
}
SQL_TREES = [name for name in TREES if "fractional" not in name]


def make_table(seed, n_rows=30, missing=0.15):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows).round(2),
            "it's": rng.choice(list("abc"), n_rows).astype(object),
            "size": rng.choice(SIZE_DTYPE.categories, n_rows).astype(object),
            "flag": rng.choice([False, True], n_rows).astype(object),
            "x": rng.integers(0, 5, n_rows) / 3,
            "rare": rng.choice(list("pqrst"), n_rows).astype(object),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < missing)
    frame["size"] = frame["size"].astype(SIZE_DTYPE)
    return frame, rng.choice(["n", "y", "z"][: 2 + seed % 2], n_rows)


def fit(name, seed, **options):
    frame, y = make_table(seed, **options)
    if isinstance(TREES[name], ObliqueTreeRegressor):
        y = np.unique(y, return_inverse=True)[1] + frame["x"].fillna(0).to_numpy()
    model = TREES[name].fit(frame, y)
    assert (model.tree_.nodes["kind"] == OBLIQUE).any()
    return model


def make_rows(seed, is_new):
    """Random rows, with levels that no node has seen if ``is_new``."""
    frame, _ = make_table(seed + 100, n_rows=80)
    if is_new:
        frame.loc[::7, "it's"] = "a new level"
        frame.loc[::5, "rare"] = "another"
    return frame


def predict_or_none(model, frame):
    """Predictions; None for a row that is refused."""
    parts = [frame.iloc[[row]] for row in range(len(frame))]
    if model.handle_unknown != "error":
        return model.predict(frame).tolist()
    return [
        value_or_none(
            lambda X: model.predict(X)[0], X, "not seen in training in its node"
        )
        for X in parts
    ]


def value_or_none(function, row, message):
    try:
        return function(row)
    except ValueError as error:
        if message not in str(error):
            raise
        return None


@loop_over("seed", range(4))
@pytest.mark.parametrize("name", TREES)
def test_python_gives_what_predict_gives(name, seed):
    model, frame = fit(name, seed), make_rows(seed, is_new=True)
    predict_row = compile_python(export_rules(model, "python"))
    found = [
        value_or_none(predict_row, row, "No rule applies") for row in plain_rows(frame)
    ]
    assert found == predict_or_none(model, frame)


@loop_over("seed", range(4))
@pytest.mark.parametrize("name", SQL_TREES)
def test_sql_gives_what_predict_gives(name, seed):
    model, frame = fit(name, seed), make_rows(seed, is_new=True)
    found = run_sql(export_rules(model, "sql"), plain_rows(frame))
    assert found == predict_or_none(model, frame)


@loop_over("seed", range(4))
@pytest.mark.parametrize("name", TREES)
def test_dictionaries_give_what_predict_gives(name, seed):
    model, frame = fit(name, seed), make_rows(seed, is_new=True)
    rules = list(model.rules_)
    json.dumps(rules)  # plain values only
    for row, expected in zip(
        plain_rows(frame), predict_or_none(model, frame), strict=True
    ):
        shares = [share_of(rule, row) for rule in rules]
        if expected is None:
            assert sum(shares) == 0.0
            continue
        assert sum(shares) == pytest.approx(1.0)
        if "value" in rules[0]:
            mean = sum(s * r["value"] for s, r in zip(shares, rules, strict=True))
            assert mean == pytest.approx(expected)
            continue
        mean = {
            label: sum(
                s * r["distribution"][label] for s, r in zip(shares, rules, strict=True)
            )
            for label in rules[0]["distribution"]
        }
        assert mean[expected] == pytest.approx(max(mean.values()))


def share_of(rule, row):
    return np.prod([condition_share(c, row) for c in rule["conditions"]])


def condition_share(condition, row):
    """Fraction of a row that satisfies a condition, from its documentation alone."""
    if "sum" in condition:
        return sum_share(condition, row)
    operator, value = condition["operator"], condition["value"]
    present = row[condition["feature"]]
    if present is None:
        return float(condition["missing"])
    if present in condition.get("partial", {}):
        return condition["partial"][present]
    if operator in ("in", "==", "not in"):
        values = value if isinstance(value, list) else [value]
        if (present in values) != (operator == "not in"):
            return 1.0
        is_new = present in ("a new level", "another")
        return condition.get("unseen", 0.0) if is_new else 0.0
    tests = {
        "<=": lambda: present <= value,
        ">": lambda: present > value,
        "range": lambda: value[0] < present <= value[1],
        "is missing": lambda: False,
        "is not missing": lambda: True,
    }
    return float(tests[operator]())


def sum_share(condition, row):
    total, is_unseen = 0.0, False
    for term in condition["sum"]:
        present = row[term["feature"]]
        if present is None:
            total += term["missing"]
        elif "weight" in term:
            total += term["weight"] * present
        elif present in term["levels"]:
            total += term["levels"][present]
        else:
            is_unseen = True
    if condition["operator"] == "has unseen level":
        return float(is_unseen)
    if is_unseen:
        return condition.get("unseen", 0.0)
    is_low = total <= condition["value"]
    return float(is_low == (condition["operator"] == "<="))


@loop_over("seed", range(4))
@pytest.mark.parametrize("name", ["lda", "fractional", "regressor"])
def test_every_row_ends_in_a_node_with_a_rule(name, seed):
    model, frame = fit(name, seed), make_rows(seed, is_new=True)
    nodes = {rule["node"] for rule in export_rules(model, "dict", inner_nodes=True)}
    is_leaf = model.tree_.is_leaf
    ends = model.apply(frame)
    whole = is_leaf[ends] | (model.handle_unknown == "parent")
    assert set(ends[whole]) <= nodes
    assert set(np.flatnonzero(is_leaf)) <= nodes


@pytest.mark.parametrize("name", ["fractional", "fractional regressor"])
def test_sql_refuses_to_divide_rows(name):
    with pytest.raises(ValueError, match="a level not seen in training, in column "):
        export_rules(fit(name, 0), "sql")


def make_days(n_rows=40):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        rng.integers(0, 1000, n_rows), "D"
    )
    frame = pd.DataFrame({"day": days, "x": rng.normal(size=n_rows)})
    ages = (days - days[0]).days / 365 + frame["x"]
    return frame, (ages > 1).to_numpy()


def test_dates_are_seconds_in_python_and_refused_in_sql():
    frame, y = make_days()
    model = ObliqueTreeClassifier(prefer_axis=None, max_depth=1).fit(frame, y)
    assert "*seconds(day)" in export_text(model)
    predict_row = compile_python(export_rules(model, "python"))
    rows = frame.to_dict("records")
    rows[0]["day"] = None
    frame.loc[0, "day"] = pd.NaT
    assert [predict_row(row) for row in rows] == model.predict(frame).tolist()
    rows[1]["day"] = frame["day"][1].to_pydatetime().replace(tzinfo=datetime.UTC)
    assert predict_row(rows[1]) == model.predict(frame)[1]
    with pytest.raises(ValueError, match="Node 0 has a sum of columns with 'day'"):
        export_rules(model, "sql")


def test_python_of_single_precision_numbers_is_not_rounded():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    y = (X @ [1.0, -2.0, 0.5] > 0).astype(int)
    model = ObliqueTreeClassifier(prefer_axis=None).fit(X, y)
    predict_row = compile_python(export_rules(model, "python"))
    assert [predict_row(row) for row in X] == model.predict(X).tolist()


def test_several_outputs():
    frame, _ = make_table(0)
    values = np.column_stack([frame["x"].fillna(0), np.arange(len(frame)) % 3])
    model = ObliqueTreeRegressor(prefer_axis=None, max_depth=3).fit(frame, values)
    frame = make_rows(0, is_new=True)
    predict_row = compile_python(export_rules(model, "python"))
    expected = model.predict(frame).tolist()
    assert [predict_row(row) for row in plain_rows(frame)] == expected


def test_deep_trees_are_written_as_rules():
    # More levels than Python can indent.
    angles = np.arange(400) * 2.4
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * angles[:, None]
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    frame["level"] = np.array(list("abcd"), dtype=object)[np.arange(400) % 4]
    y = np.arange(400) * 37 % 101 / 10
    model = ObliqueTreeRegressor(
        direction="random", prefer_axis=None, random_state=0, max_features_per_split=3
    ).fit(frame, y)
    expected = model.predict(frame).tolist()
    for limit in (rule_python.MAX_INDENT, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rule_python, "MAX_INDENT", limit)
            source = export_rules(model, "python")
        predict_row = compile_python(source)
        assert [predict_row(row) for row in plain_rows(frame)] == expected


def test_names_that_need_quoting():
    rng = np.random.default_rng(0)
    names = ['a "b"', "for", "petal length (cm)"]
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=names)
    y = np.where(frame.sum(axis=1) > 0, "it's", "not")
    model = ObliqueTreeClassifier(prefer_axis=None).fit(frame, y)
    rows = plain_rows(frame)
    expected = model.predict(frame).tolist()
    assert run_sql(export_rules(model, "sql"), rows) == expected
    predict_row = compile_python(export_rules(model, "python"))
    assert [predict_row(row) for row in rows] == expected


def test_watermelon():
    X, y = load_watermelon(version="3.0alpha", return_X_y=True, as_frame=True)
    model = ObliqueTreeClassifier(direction="oc1", random_state=0).fit(X, y)
    names = {"feature_names": ["density", "sugar"], "class_names": ["bad", "good"]}
    lines = export_text(model, **names).splitlines()
    assert len(lines) == 4
    assert "*sugar" in lines[0]
    assert "*density <= " in lines[0]
    frame = export_rules(model, "frame", **names)
    assert frame["class"].tolist() == ["bad", "bad", "good"]
    assert "*sugar" in frame["conditions"][0]


def test_pruning_report_counts_the_columns_of_a_test():
    X, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    pruning = ErrorBasedPruning(confidence=1e-6, subtree_raising=False)
    model = ObliqueTreeClassifier(prefer_axis=None, pruning=pruning).fit(X, y)
    report = model.pruning_report_
    assert report["n_columns"].max() == 8
    assert model.get_n_leaves() == 2
    text = export_pruning_report(model)
    (place,) = [
        place
        for place, decision in enumerate(report["decision"])
        if decision == "pruned" and report["n_columns"][place] > 1
    ]
    more = report["n_columns"][place] - 1
    assert f"{X.columns[report['feature'][place]]} + {more} more" in text
