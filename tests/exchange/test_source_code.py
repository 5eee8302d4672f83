"""Source code of models: equal predictions in every language, or an error."""

import ctypes
import functools
import json
import shutil
import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsRegressor

from sklearn_textbook import exchange
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import export_code, to_onnx
from sklearn_textbook.exchange.model_steps import read_steps
from sklearn_textbook.exchange.source_parts import read_templates
from sklearn_textbook.exchange.tree_sum import read_sum, read_trees
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
)
from tests.exchange import model_cases
from tests.exchange.test_levels import make_frame, make_target
from tests.exchange.test_tree_sum import MODELS

N_ROWS = 10_000
FEW = {"n_estimators": 3, "random_state": 0}
COSTS = [[0, 1, 3], [4, 0, 1], [1, 9, 0]]
ALL = {
    **MODELS,
    "id3": ID3Classifier(max_depth=3),
    "two classes": GradientBoostingClassifier(n_estimators=5),
    "surrogates": CARTClassifier(missing="surrogate", max_depth=6),
    "unknown levels divided": RandomForestClassifier(
        **FEW, handle_unknown="fractional", max_depth=6
    ),
    "divided votes": BaggingClassifier(
        C45Classifier(laplace=True, handle_unknown="fractional"), **FEW, voting="hard"
    ),
    "weighted divided votes": AdaBoostClassifier(
        C45Classifier(pruning=None, max_depth=3), n_estimators=3, random_state=0
    ),
    "oblique levels": ObliqueTreeClassifier(max_depth=4, handle_unknown="fractional"),
    "oblique stay": ObliqueTreeClassifier(
        max_depth=4, categorical_features="from_dtype"
    ),
    "costs": CARTClassifier(max_depth=6, cost_matrix=COSTS),
    "costs of divided rows": C45Classifier(
        laplace=True, handle_unknown="fractional", cost_matrix=COSTS
    ),
    "costs of a forest": RandomForestClassifier(**FEW, max_depth=6, cost_matrix=COSTS),
    "linear leaves": CARTRegressor(
        leaf_model="linear", max_depth=3, handle_unknown="fractional"
    ),
    "linear leaves of members": BaggingRegressor(
        CARTRegressor(leaf_model="linear", missing="surrogate", max_depth=3),
        **FEW,
        max_features=0.7,
    ),
    "boosting of linear leaves": GradientBoostingRegressor(
        n_estimators=3, leaf_model="linear", max_bins=None
    ),
}
#: All languages predict all rows for these, some of them for the others.
LONG = ["c45", "oblique levels", "two classes", "surrogates", "divided votes"]
#: What a query cannot express, and what takes seconds there.
NOT_SQL = ["divided votes", "weighted divided votes"]
SLOW_SQL = ["id3", "bagging", "unknown levels divided"]
#: What tables of nodes cannot express.
NOT_NODES = ["linear leaves", "linear leaves of members", "boosting of linear leaves"]
HARNESS = """
#include "model.c"
void run(const double *rows, int n, void *first, double *second)
{
    int i;
    for (i = 0; i < n; i++) {
        const double *row = rows + (long)i * N_COLUMNS;
%s
    }
}
"""
CLASSES = """
        predict_classes(row, (int *)first + i * N_OUTPUTS);
        predict_proba(row, second + i * WIDTH_OUT);
"""
VALUES = """
        predict_values(row, second + i * WIDTH_OUT);
        predict_scores(row, (double *)first + i * N_SCORES);
"""
RUN_JS = """
import fs from "fs";
const given = JSON.parse(fs.readFileSync(process.argv[2]));
const found = [];
for (const [file, rows] of given) {
  const model = await import(file);
  const second = model.predictProba ?? model.predictScores;
  found.push([rows.map(model.predict), rows.map(second)]);
}
fs.writeFileSync(process.argv[3], JSON.stringify(found));
"""


def make_rows(n_rows=N_ROWS):
    return make_frame(n_rows, missing=0.2, seed=1, unknown=True)


@functools.cache
def fit(name):
    """Fit a model to three classes, or to values."""
    frame = make_frame(missing=0.1)
    # Of a column that says what another one does, surrogates are made.
    frame["b"] = frame["a"].where(frame.index % 7 > 0, frame["b"]) * 2.0
    y = make_target(frame)
    model = clone(ALL[name])
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=3)
    if is_classifier(model):
        n_classes = 2 if name in ("exponential", "two classes") else 3
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        y = np.array(["it's", 'a "b"\\', "c\n?*/\u00e9"])[y]
    elif name == "poisson":
        y = np.abs(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(frame, y)


def count_rows(name):
    return N_ROWS if name in LONG else 200


@functools.cache
def predict(name):
    """Predictions of a model, and its probabilities or values."""
    model, rows = fit(name), make_rows()
    predicted = model.predict(rows)
    if is_classifier(model):
        return predicted, model.predict_proba(rows)
    return predicted, predicted.reshape(len(rows), -1)


def list_rows(frame):
    """Rows as dictionaries of plain values."""
    return [
        {
            name: None if pd.isna(value) else value
            for name, value in zip(frame, values, strict=True)
        }
        for values in frame.astype(object).to_numpy().tolist()
    ]


def compile_c(source, folder, harness=""):
    """Compile without any warning, and load."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    (folder / "model.c").write_text(source)
    (folder / "all.c").write_text(harness or '#include "model.c"\n')
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]
    # The same name would give the library that is loaded already.
    output = folder / f"model_{len(list(folder.iterdir()))}.so"
    command = ["cc", *flags, "-shared", "-fPIC", "all.c", "-o", output, "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(output))


def run_c(model, rows, folder):
    """Predict rows; classes as numbers."""
    steps = read_steps(model)
    total = steps.program.total
    matrix = np.ascontiguousarray(steps.schema.read(rows), dtype=np.float64)
    width = total.n_scores
    if total.is_classifier:
        width = len(total.classes[0]) if total.n_outputs == 1 else width
    body = (CLASSES if total.is_classifier else VALUES).replace("WIDTH_OUT", str(width))
    if total.link == "scores":
        body = body.replace("predict_proba", "predict_scores")
    library = compile_c(export_code(model), folder, HARNESS % body)
    kind = np.int32 if total.is_classifier else np.float64
    first = np.empty((len(rows), total.n_outputs), dtype=kind)
    if not total.is_classifier:
        first = np.empty((len(rows), total.n_scores))
    second = np.empty((len(rows), width))
    pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in (first, second))
    library.run(matrix.ctypes.data_as(ctypes.c_void_p), len(rows), *pointers)
    return first, second


def run_python(source, rows):
    module = {}
    exec(compile(source, "model", "exec"), module)
    second = module.get("predict_proba", module["predict_scores"])
    return [module["predict"](row) for row in rows], [second(row) for row in rows]


def run_javascript(tasks, folder):
    """Predict rows of several models in one process."""
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    given = []
    for number, (source, rows) in enumerate(tasks):
        (folder / f"model_{number}.mjs").write_text(source)
        given.append([f"{folder}/model_{number}.mjs", rows])
    (folder / "run.mjs").write_text(RUN_JS)
    (folder / "given.json").write_text(json.dumps(given))
    command = ["node", "run.mjs", "given.json", "found.json"]
    subprocess.run(command, cwd=folder, check=True)
    return json.loads((folder / "found.json").read_text())


def run_sql(query, rows, columns):
    """Columns that a query adds to a table."""
    connection = sqlite3.connect(":memory:")
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    connection.execute(f"CREATE TABLE data ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    values = [tuple(row.values()) for row in rows]
    connection.executemany(f"INSERT INTO data VALUES ({marks})", values)
    cursor = connection.execute(query)
    found = pd.DataFrame(cursor.fetchall(), columns=[d[0] for d in cursor.description])
    connection.close()
    return found


def require_equal(name, predicted, others, links=1e-14):
    """Compare classes, and values or probabilities."""
    expected, numbers = predict(name)
    n_rows = len(predicted)
    numbers = numbers[:n_rows]
    # Sums are equal to the last bit; exp() is that of the library of each language.
    atol = 0.0 if read_sum(fit(name)).link in ("identity", "positive_shares") else links
    if is_classifier(fit(name)):
        assert list(predicted) == expected[:n_rows].tolist()
        assert_allclose(np.array(others), numbers, rtol=0, atol=atol)
    else:
        predicted = np.array(predicted).reshape(numbers.shape)
        assert_allclose(predicted, numbers, rtol=atol, atol=atol)


# ------------------------------------------------------------------------- languages
def test_models_need_all_lines_of_the_templates():
    frame = make_frame()[["letter"]]
    y = make_target(make_frame())
    models = [fit(name) for name in ALL]
    models += [model_cases.fit(name) for name in model_cases.CASES]
    models += [
        fit_strict(),
        fit_dates()[0],
        LinearRegression(handle_unknown="error").fit(frame, y),
        RandomForestClassifier(**FEW).fit(frame, np.stack([y > 0, y > 1], axis=1)),
        RandomForestRegressor(**FEW).fit(frame, np.stack([y, -y], axis=1)),
    ]
    sources = [
        export_code(model, language)
        for model in models
        for language in ("c", "javascript", "python")
    ]
    sources += [
        export_code(model, "sql", form="nodes")
        for model in models
        if read_steps(model).is_trees and model not in map(fit, NOT_NODES)
    ]
    written = {line.strip() for source in sources for line in source.splitlines()}
    templates = list((Path(exchange.__file__).parent / "templates").iterdir())
    assert templates
    for path in templates:
        for line in path.read_text("utf-8").splitlines():
            has_tag = any(mark in line for mark in ("{{", "{%", "{#"))
            assert has_tag or line.strip() in written, (path.name, line)


def test_without_jinja2(monkeypatch):
    model = fit_strict()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    read_templates.cache_clear()
    assert export_code(model, "sql").startswith("-- CARTClassifier")
    for options in ({"language": "python"}, {"language": "sql", "form": "nodes"}):
        with pytest.raises(ImportError, match="pip install jinja2"):
            export_code(model, **options)


@pytest.mark.parametrize("name", ALL)
def test_c(name, tmp_path):
    model = fit(name)
    first, second = run_c(model, make_rows(), tmp_path)
    first = model.classes_[first[:, 0]] if is_classifier(model) else second
    require_equal(name, first, second)


@pytest.mark.parametrize("name", ALL)
def test_python(name):
    rows = list_rows(make_rows()[: count_rows(name)])
    require_equal(name, *run_python(export_code(fit(name), "python"), rows))


def test_javascript(tmp_path):
    rows = list_rows(make_rows())
    tasks = [
        (export_code(fit(name), "javascript"), rows[: count_rows(name)]) for name in ALL
    ]
    found = run_javascript(tasks, tmp_path)
    for name, predictions in zip(ALL, found, strict=True):
        require_equal(name, *predictions)


@pytest.mark.parametrize("name", [name for name in ALL if name not in NOT_SQL])
def test_sql(name):
    model = fit(name)
    n_rows = 30 if name in SLOW_SQL else N_ROWS if name == "surrogates" else 200
    rows = make_rows()[:n_rows]
    found = run_sql(export_code(model, "sql"), list_rows(rows), rows)
    scores = found.filter(regex="^score").to_numpy()
    total = read_sum(model)
    if total.link == "identity" or not total.is_classifier:
        scores = scores if total.link == "identity" else np.exp(scores)
        assert_allclose(scores, predict(name)[1][:n_rows], rtol=1e-12, atol=1e-14)
    if total.is_classifier:
        assert found["prediction"].tolist() == predict(name)[0][:n_rows].tolist()
    else:
        expected = predict(name)[0][:n_rows]
        assert_allclose(found["prediction"], expected, rtol=1e-12)


@pytest.mark.parametrize("name", NOT_SQL)
def test_what_sql_cannot_count(name):
    with pytest.raises(ValueError, match=r"trees that vote, and node \d+ .* by column"):
        export_code(fit(name), "sql")


@pytest.mark.parametrize("name", NOT_NODES)
def test_what_tables_of_nodes_and_onnx_cannot_express(name):
    with pytest.raises(ValueError, match="form='nodes' takes trees with a constant"):
        export_code(fit(name), "sql", form="nodes")
    with pytest.raises(ValueError, match="ONNX takes trees with a constant"):
        to_onnx(fit(name))


def test_several_outputs(tmp_path):
    frame, new = make_frame(missing=0.1), make_rows(300)
    y = make_target(frame)
    classes = np.stack([y > 0, np.digitize(y, [-1, 1])], axis=1)
    for model in (
        RandomForestClassifier(**FEW, max_depth=6).fit(frame, classes),
        RandomForestClassifier(**FEW, voting="hard").fit(frame, classes),
    ):
        expected = model.predict(new)
        numbers, probabilities = run_c(model, new, tmp_path)
        rows = list_rows(new)
        python = run_python(export_code(model, "python"), rows)
        (js,) = run_javascript([(export_code(model, "javascript"), rows)], tmp_path)
        sql = run_sql(export_code(model, "sql"), rows, new)
        for output, labels in enumerate(model.classes_):
            wanted = expected[:, output]
            assert_array_equal(labels[numbers[:, output]], wanted)
            assert_array_equal(sql[f"prediction_{output}"], wanted)
        assert python[0] == js[0] == expected.tolist()
        assert_array_equal(probabilities[:, 3:], model.predict_proba(new)[1])
        assert python[1] == js[1] == probabilities.tolist()
    model = RandomForestRegressor(**FEW).fit(frame, np.stack([y, -y], axis=1))
    expected = model.predict(new)
    assert_array_equal(run_c(model, new, tmp_path)[1], expected)
    predicted, _ = run_python(export_code(model, "python"), rows)
    assert predicted == expected.tolist()
    sql = run_sql(export_code(model, "sql"), rows, new)
    assert_allclose(sql[["prediction_0", "prediction_1"]], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        # An infinite threshold: missing values alone in a child.
        (CARTClassifier(), [[1.0], [1.0], [np.nan], [np.nan]], [0, 0, 1, 1]),
        (CARTClassifier(), [[1.0], [2.0]], ["one", "one"]),
        (C45Classifier(), [[1.0], [2.0]], ["one", "one"]),
        (CARTRegressor(), [[1.0], [2.0]], [0.1, 0.1]),
        (RandomForestClassifier(2), [[1.0], [2.0]], ["one", "one"]),
        # Huge, tiny and negative numbers, and those next to each other.
        (
            CARTRegressor(),
            [[-1e300], [5e-324], [0.1], [np.nextafter(0.1, 1)]],
            range(4),
        ),
    ],
)
def test_small_models(model, X, y, tmp_path):
    model.fit(X, y)
    new = [*X, [0.0], [3.0]]
    expected = model.predict(new).tolist()
    first, second = run_c(model, new, tmp_path)
    found = second[:, 0].tolist()
    if is_classifier(model):
        found = model.classes_[first[:, 0]].tolist()
    assert found == expected
    rows = [[None if value != value else value for value in row] for row in new]
    assert run_python(export_code(model, "python"), rows)[0] == expected
    task = (export_code(model, "javascript"), rows)
    assert run_javascript([task], tmp_path)[0][0] == expected
    rows = [{"x0": value} for (value,) in rows]
    found = run_sql(export_code(model, "sql"), rows, ["x0"])
    assert found["prediction"].tolist() == expected


# ------------------------------------------------------------------------- columns
def test_names_and_levels(tmp_path):
    """Strings that comments and literals must not end, numbers and strings mixed."""
    rng = np.random.default_rng(0)
    levels = ["it's", 'a "b"', "\\", "*/", "c\nd", "\u00e9\U0001f600", "??/", "%d"]
    levels += ["{{ total }}", "{% if %}"]
    frame = pd.DataFrame(
        {
            "it's\n*/": rng.choice(levels, 300),
            'a "b"\\': pd.Series(rng.choice([1, 2.5, True, "1"], 300), dtype=object),
            "": rng.normal(size=300),
            "flag": rng.random(300) < 0.5,
        }
    )
    mixed = frame['a "b"\\'].map(lambda v: [1, 2.5, "1"][rng.integers(3)])
    frame['a "b"\\'] = mixed.astype(object)
    y = frame["it's\n*/"].isin(levels[::2]) ^ frame["flag"] ^ (mixed == "1")
    model = CARTClassifier(random_state=0).fit(frame, y.to_numpy())
    assert model.score(frame, y) > 0.95
    expected = model.predict(frame).tolist()
    rows = list_rows(frame)
    predicted, _ = run_python(export_code(model, "python"), rows)
    ((js, _),) = run_javascript([(export_code(model, "javascript"), rows)], tmp_path)
    sql = run_sql(export_code(model, "sql"), rows, frame)
    assert predicted == js == expected
    assert sql["prediction"].astype(bool).tolist() == expected
    library = compile_c(export_code(model, prefix="my_"), tmp_path)
    matrix = read_trees(model).read(frame)
    for function, kind, column in (
        ("my_encode_it_s", ctypes.c_char_p, 0),
        ("my_encode_a_b", ctypes.c_char_p, 1),
        ("my_encode_a_b_number", ctypes.c_double, 1),
    ):
        encode = getattr(library, function)
        encode.restype, encode.argtypes = ctypes.c_double, [kind]
        for value, code in zip(frame.iloc[:, column], matrix[:, column], strict=True):
            if isinstance(value, str) == (kind is ctypes.c_char_p):
                assert (
                    encode(value.encode() if isinstance(value, str) else value) == code
                )
        unknown = b"no such level" if kind is ctypes.c_char_p else 77.0
        assert encode(unknown) == -1.0
        assert np.isnan(encode(None if kind is ctypes.c_char_p else np.nan))
    row = np.ascontiguousarray(matrix[0], dtype=float)
    number = library.my_predict(row.ctypes.data_as(ctypes.c_void_p))
    assert model.classes_[number] == expected[0]


def fit_dates(n_rows=200):
    days = pd.date_range("1960-01-01", periods=n_rows, freq="31D")
    frame = pd.DataFrame(
        {
            "day": days + pd.Timedelta(hours=3, milliseconds=7),
            "length": pd.to_timedelta(np.arange(n_rows) % 17, unit="h"),
            "text": [str(k % 7 / 2) for k in range(n_rows)],
        }
    )
    y = (np.arange(n_rows) % 17 > 8) ^ (days > "1970-05-01")
    model = CARTClassifier(max_depth=8, categorical_features=[])
    return model.fit(frame, y), frame


def test_dates_and_numerals(tmp_path):
    model, frame = fit_dates()
    expected = model.predict(frame).tolist()
    rows = frame.to_dict("records")
    predicted, _ = run_python(export_code(model, "python"), rows)
    assert predicted == expected
    source = export_code(model, "javascript")
    seconds = read_trees(model).read(frame)
    rows = [
        {"day": float(d), "length": float(s), "text": text}
        for (d, s, _), text in zip(seconds.tolist(), frame["text"], strict=True)
    ]
    ((js, _),) = run_javascript([(source, rows)], tmp_path)
    assert js == expected
    (tmp_path / "date.mjs").write_text(
        'import { encodeRow } from "./model_0.mjs";\n'
        'const day = new Date("1960-01-01T03:00:00.007Z");\n'
        'console.log(encodeRow({ day, length: 0, text: "1.5" })[0]);\n'
    )
    command = ["node", "date.mjs"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert float(done.stdout) == seconds[0, 0]
    assert "seconds since 1970-01-01 UTC" in export_code(model)


# ------------------------------------------------------------------------- refusals
def fit_strict():
    frame = make_frame()[["a", "letter"]]
    model = CARTClassifier(missing="error", handle_unknown="error", max_depth=4)
    return model.fit(frame, make_target(make_frame()) > 1)


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"a": None, "letter": "p"}, "a"),
        ({"a": 1.0, "letter": None}, "letter"),
        ({"a": float("inf"), "letter": "p"}, "a"),
        ({"a": 1.0, "letter": "new"}, "letter"),
        ({"a": "x", "letter": "p"}, "a"),
        ({"a": 1.0, "letter": 3}, "letter"),
    ],
)
def test_values_that_the_model_refuses(row, column, tmp_path):
    model = fit_strict()
    with pytest.raises(ValueError, match=column):
        model.predict(pd.DataFrame([row]))
    with pytest.raises(ValueError, match=f"olumn '{column}'"):
        run_python(export_code(model, "python"), [row])
    if shutil.which("node"):
        value = row["a"]
        text = "Infinity" if value == float("inf") else json.dumps(value)
        (tmp_path / "model.mjs").write_text(export_code(model, "javascript"))
        (tmp_path / "run.mjs").write_text(
            'import { predict } from "./model.mjs";\n'
            f"predict({{ a: {text}, letter: {json.dumps(row['letter'])} }});\n"
        )
        command = ["node", "run.mjs"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode != 0
        assert f'Column "{column}"' in done.stderr
    if not isinstance(row["a"], str) and row["letter"] != 3:
        found = run_sql(export_code(model, "sql"), [row], row)
        if row["a"] != float("inf"):
            assert found["prediction"].tolist() == [None]


def test_status_in_c(tmp_path):
    model = fit_strict()
    library = compile_c(export_code(model), tmp_path)
    for row, status in (
        ([0.0, 0.0], None),
        ([np.nan, 0.0], -1),
        ([np.inf, 0.0], -1),
        ([0.0, np.nan], -2),
        ([0.0, -1.0], -2),
    ):
        array = (ctypes.c_double * 2)(*row)
        number = library.predict(array)
        assert number == status if status else number in (0, 1)


def test_arrays_in_javascript(tmp_path):
    X, y = make_frame()[["a"]].to_numpy(), make_target(make_frame())
    model = CARTRegressor(max_depth=4).fit(X, y)
    ((predicted, _),) = run_javascript(
        [(export_code(model, "javascript"), X.tolist())], tmp_path
    )
    assert predicted == model.predict(X).tolist()
    (tmp_path / "rows.mjs").write_text(
        'import { predict } from "./model_0.mjs";\n'
        f"console.log(predict(new Float64Array([{X[0, 0]}])));\n"
        "try { predict([1, 2]); } catch (error) { console.log(error.message); }\n"
        "try { predict({ b: 1 }); } catch (error) { console.log(error.message); }\n"
    )
    command = ["node", "rows.mjs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    value, wrong_length, no_column = done.stdout.splitlines()
    assert float(value) == predicted[0]
    assert wrong_length == "A row has 2 values, not 1."
    assert no_column == 'A row has no column "x0".'


def test_rows_of_the_wrong_shape():
    module = {}
    exec(export_code(fit_strict(), "python"), module)
    assert module["predict"]([1.0, "p"]) == module["predict"]({"a": 1.0, "letter": "p"})
    with pytest.raises(ValueError, match="1 values, not 2"):
        module["predict"]([1.0])
    with pytest.raises(KeyError, match="letter"):
        module["predict"]({"a": 1.0})


@pytest.mark.parametrize(
    ("level", "language", "words"),
    [
        (2**53 + 1, "c", r"level 9007199254740993 of column 'code' is an integer"),
        (2**53 + 1, "javascript", "numbers of JavaScript cannot"),
        ("a\0b", "c", "NUL character"),
        ("a\0b", "sql", "NUL character"),
        ("\ud800", "c", "surrogate"),
    ],
)
def test_levels_that_a_language_cannot_write(level, language, words):
    other = "x" if isinstance(level, str) else 1
    values = pd.Series([level, other] * 20, dtype=object)
    frame = pd.DataFrame({"code": pd.Categorical(values)})
    model = CARTClassifier().fit(frame, [0, 1] * 20)
    with pytest.raises(ValueError, match=words):
        export_code(model, language)
    module = {}
    exec(export_code(model, "python"), module)
    assert [module["predict"]([value]) for value in values[:2]] == [0, 1]


def test_labels(tmp_path):
    X = [[0.0], [1.0], [2.0]]
    for labels in (["a", "b", "c"], [1.0, 2.0, -3.0], [-5, 0, 7], [True, False, True]):
        model = CARTClassifier().fit(X, labels)
        library = compile_c(export_code(model), tmp_path)
        kind = {"U": ctypes.c_char_p, "f": ctypes.c_double}
        kind = kind.get(model.classes_.dtype.kind, ctypes.c_longlong)
        known = (kind * len(model.classes_)).in_dll(library, "classes")
        shown = [v.decode() if isinstance(v, bytes) else v for v in known]
        assert shown == model.classes_.tolist()
        assert run_python(export_code(model, "python"), X)[0] == labels
    model = CARTClassifier().fit(X, [2**53 + 1, 0, 1])
    with pytest.raises(ValueError, match="label 9007199254740993"):
        export_code(model, "javascript")


def test_errors():
    frame = make_frame()[["a"]]
    model = CARTRegressor(max_depth=2).fit(frame, make_target(make_frame()))
    for options, words in (
        ({"language": "rust"}, "language"),
        ({"prefix": "1a"}, "prefix"),
        ({"prefix": "a b"}, "prefix"),
        ({"prefix": "a", "language": "sql"}, "prefix"),
        ({"table": ""}, "table"),
    ):
        with pytest.raises(ValueError, match=words):
            export_code(model, **options)
    with pytest.raises(NotFittedError):
        export_code(ID3Classifier())
    with pytest.raises(TypeError, match="got KNeighborsRegressor, which cannot be"):
        export_code(KNeighborsRegressor().fit(frame, frame["a"]))


def test_sums_of_dates_in_sql():
    days = pd.date_range("2020-01-01", periods=60)
    frame = pd.DataFrame({"day": days, "x": np.arange(60) % 7.0})
    y = (np.arange(60) + 8 * frame["x"]) > 50
    for model, target in (
        (ObliqueTreeClassifier(max_depth=2), y),
        (CARTRegressor(leaf_model="linear"), np.arange(60.0)),
    ):
        with pytest.raises(ValueError, match="SQL has no standard function"):
            export_code(model.fit(frame, target), "sql")
