"""Exported Python and SQL give what ``predict`` gives, ties included."""

import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    export_graphviz,
    export_rules,
    export_text,
)
from tests.loops import loop_over

TREES = {
    "id3": ID3Classifier(),
    "id3 unseen fractional": ID3Classifier(handle_unknown="fractional"),
    "c45": C45Classifier(min_samples_leaf=1),
    "c45 pruned": C45Classifier(handle_unknown="fractional"),
    "c45 plain": C45Classifier(
        min_samples_leaf=1, pruning=None, collapse=False, gain_ratio_rule="plain"
    ),
    "c45 rules": C45RulesClassifier(),
    **{
        f"cart {missing} {unknown}": CARTClassifier(
            missing=missing, handle_unknown=unknown, categorical_split=split
        )
        for missing, unknown, split in [
            ("learned", "parent", "subset"),
            ("surrogate", "parent", "subset"),
            ("branch", "fractional", "multiway"),
            ("learned", "fractional", "one_vs_rest"),
            ("surrogate", "fractional", "subset"),
        ]
    },
    "regressor": CARTRegressor(missing="surrogate"),
    "fractional regressor": CARTRegressor(handle_unknown="fractional"),
}
SQL_TREES = [
    name
    for name, tree in TREES.items()
    if name == "c45 rules" or "fractional" not in (tree.missing, tree.handle_unknown)
]
NULL_TREES = ["id3", "c45", "c45 plain"]


def make_table(seed, n_rows=14, missing=0.2):
    """Few values and small shares, so that sums of shares tie often."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.integers(0, 4, n_rows).astype(float),
            "level": rng.choice(list("abc"), n_rows).astype(object),
            "x": rng.integers(0, 3, n_rows) / 3,
            "other's": rng.choice(["it's", 'a "b"'], n_rows).astype(object),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < missing)
    return frame, rng.choice(["n", "y", "z"][: 2 + seed % 2], n_rows)


def make_rows():
    """Every combination of the columns' values, missing and unseen levels included."""
    values = {
        "number": [0.0, 1.0, 2.0, 3.0, np.nan],
        "level": ["a", "b", "c", "a new level", None],
        "x": [0.0, 1 / 3, 2 / 3, np.nan],
        "other's": ["it's", 'a "b"', "new", None],
    }
    frame = pd.MultiIndex.from_product(values.values()).to_frame(index=False)
    frame.columns = list(values)
    return frame.astype({"level": object, "other's": object})


def fit(name, seed, **options):
    frame, y = make_table(seed, **options)
    if isinstance(TREES[name], CARTRegressor):
        y = np.unique(y, return_inverse=True)[1] / 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return TREES[name].fit(frame, y)


def plain_rows(frame):
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def compile_python(source):
    namespace = {}
    exec(compile(source, "rules", "exec"), namespace)
    return namespace["predict_row"]


def run_sql(expression, rows):
    names = list(rows[0])
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(quoted)})")
    connection.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' * len(names))})",
        [tuple(row.values()) for row in rows],
    )
    found = connection.execute(f"SELECT {expression} FROM t ORDER BY rowid").fetchall()
    connection.close()
    return [value for (value,) in found]


@loop_over("seed", range(6))
@pytest.mark.parametrize("name", TREES)
def test_python_gives_what_predict_gives(name, seed):
    model, frame = fit(name, seed), make_rows()
    predict_row = compile_python(export_rules(model, "python"))
    expected = model.predict(frame).tolist()
    assert [predict_row(row) for row in plain_rows(frame)] == expected


@loop_over("seed", range(6))
@pytest.mark.parametrize("name", SQL_TREES)
def test_sql_gives_what_predict_gives(name, seed):
    model, frame = fit(name, seed), make_rows()
    found = run_sql(export_rules(model, "sql"), plain_rows(frame))
    assert found == model.predict(frame).tolist()


@loop_over("seed", range(6))
@pytest.mark.parametrize("name", NULL_TREES)
def test_sql_of_trees_grown_without_missing_values_gives_null_for_null(name, seed):
    model, frame = fit(name, seed, missing=0.0), make_rows()
    found = run_sql(export_rules(model, "sql"), plain_rows(frame))
    # A row with a missing value gets a class if no test on its way asks for it.
    path = model.decision_path(frame)
    feature = model.tree_.nodes["feature"]
    for number, predicted in enumerate(model.predict(frame).tolist()):
        asked = feature[path.indices[path.indptr[number] : path.indptr[number + 1]]]
        asked = asked[asked >= 0]
        meets_missing = frame.iloc[number, asked].isna().any()
        assert found[number] == (None if meets_missing else predicted)


def test_sql_names_the_column_that_had_missing_values():
    frame = pd.DataFrame({"a": [0, 0, 1, 1.0] * 4, "b": [0, 1, 0, 1.0] * 4})
    y = np.where(frame["a"] > 0, "p", np.where(frame["b"] > 0, "q", "r"))
    frame.loc[14, "b"] = np.nan
    model = ID3Classifier().fit(frame, y)
    with pytest.raises(ValueError, match=r"missing values in training, in column 'b'"):
        export_rules(model, "sql")


def test_python_breaks_a_tie_as_predict_does():
    # The missing value is worth a half of each class, but for the last digit.
    frame = pd.DataFrame({"x": ["a", "b", "c"]}, dtype=object)
    model = ID3Classifier().fit(frame, ["y", "n", "y"])
    row = {"x": None}
    predict_row = compile_python(export_rules(model, "python"))
    assert predict_row(row) == model.predict(pd.DataFrame([row], dtype=object))[0]


@pytest.mark.parametrize("form", ["dict", "text", "python", "sql"])
def test_nearly_equal_shares_are_equal_to_c45(form):
    # Weka's J48 takes shares for equal that differ by less than 1e-6.
    weights = [1.0, 1.0 + 2e-7]
    model = C45Classifier(pruning=None).fit([[0.0], [0.0]], ["a", "b"], weights)
    assert model.predict([[0.0]])[0] == "a"
    assert "<B>a</B>" in export_graphviz(model)
    assert ": a " in export_text(model) or "--- a " in export_text(model)
    rules = export_rules(model, form)
    if form == "dict":
        assert rules[0]["class"] == model.rules_[0]["class"] == "a"
    elif form == "text":
        assert "ALWAYS a " in rules
    elif form == "python":
        assert compile_python(rules)([0.0]) == "a"
    else:
        assert "THEN 'a'" in rules
