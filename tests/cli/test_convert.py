"""The command ``convert``."""

import sqlite3
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.cli import main
from sklearn_textbook.io import load_model, read_table

DATA = Path(__file__).parents[1] / "data"
IRIS = ("fit", DATA / "iris.csv", "--target", "species", "--cv", 0)
LOAN = ("fit", DATA / "loan.parquet", "--target", "decision", "--cv", 0)


@pytest.mark.parametrize("suffix", ["c", "js", "mjs", "py"])
def test_languages(command, suffix):
    command(*LOAN, "--algorithm", "c45", "--save", "c45.json")
    path = Path(f"loan.{suffix}")
    assert command("convert", "c45.json", path) == ""
    source = path.read_text()
    marks = {"c": "#include <math.h>", "py": "def predict(row):"}
    assert marks.get(suffix, "export function predict(row) {") in source
    if suffix == "py":
        module = {}
        exec(source, module)
        rows = read_table(DATA / "loan.parquet").frame.to_pylist()
        expected = command("predict", "c45.json", DATA / "loan.parquet").split()[1:]
        assert [str(module["predict"](row)) for row in rows] == expected


def test_options(command):
    command(*IRIS, "--algorithm", "random-forest", "--save", "iris.json")
    command("convert", "iris.json", "iris.sql", "--table", "measurements")
    connection = sqlite3.connect(":memory:")
    rows = read_table(DATA / "iris.csv").frame.to_pylist()
    columns = ", ".join(f'"{name}"' for name in rows[0])
    marks = ", ".join("?" * len(rows[0]))
    connection.execute(f"CREATE TABLE measurements ({columns})")
    connection.executemany(
        f"INSERT INTO measurements VALUES ({marks})", [tuple(r.values()) for r in rows]
    )
    found = connection.execute(Path("iris.sql").read_text()).fetchall()
    connection.close()
    expected = command("predict", "iris.json", DATA / "iris.csv").split()[1:]
    assert [row[-1] for row in found] == expected
    command("convert", "iris.json", "iris.c", "--prefix", "iris_")
    assert "int iris_predict(const double *row)" in Path("iris.c").read_text()


def test_sql_as_tables(command):
    command(*IRIS, "--algorithm", "random-forest", "--save", "iris.json")
    command("convert", "iris.json", "iris.sql", "--form", "nodes", "--prefix", "iris_")
    connection = sqlite3.connect(":memory:")
    frame = pd.DataFrame(read_table(DATA / "iris.csv").frame.to_pylist())
    frame.to_sql("data", connection, index=False)
    connection.executescript(Path("iris.sql").read_text())
    query = "SELECT prediction FROM iris_predictions ORDER BY row_number"
    found = connection.execute(query).fetchall()
    connection.close()
    expected = command("predict", "iris.json", DATA / "iris.csv").split()[1:]
    assert [row[0] for row in found] == expected


@pytest.mark.filterwarnings("default")
def test_long_queries(command, monkeypatch, capsys):
    command(*IRIS, "--algorithm", "random-forest", "--save", "iris.json")
    monkeypatch.setattr("sklearn_textbook.exchange.sql_source.LONG", 1000)
    assert main(["convert", "iris.json", "iris.sql"]) == 0
    error = capsys.readouterr().err
    assert "warning: The query has" in error
    assert "--form nodes" in error


@pytest.fixture
def model(command):
    options = ("--algorithm", "random-forest", "--trees", 3)
    command(*IRIS, *options, "--save", "m.json")
    return "m.json"


def test_onnx(command, model):
    runtime = pytest.importorskip("onnxruntime")
    assert command("convert", model, "m.onnx") == ""
    X = pd.read_csv(DATA / "iris.csv", sep=";").drop(columns="species")
    session = runtime.InferenceSession("m.onnx")
    (found,) = session.run(["probabilities"], {"X": X.to_numpy(dtype=np.float64)})
    assert_allclose(found, load_model("m.json").predict_proba(X))


def test_pmml(command, model):
    assert command("convert", model, "m.PMML") == ""
    root = ElementTree.parse("m.PMML").getroot()
    names = [e.get("name") for e in root.iter() if e.tag.endswith("DataField")]
    assert names[-1] == "species"


def test_refusals(command):
    command(*IRIS, "--save", "iris.json")
    for path, words in (
        (
            "iris.txt",
            "iris.txt: the name must end in one of .c, .js, .mjs, .py, .sql, .onnx",
        ),
        ("iris.py --table t", "--table is for .sql only"),
        ("iris.sql --prefix t", "--prefix is for .sql with --form nodes only"),
        ("iris.js --prefix t", "--prefix is for .c and .sql only"),
        ("iris.c --form nodes", "--form is for .sql only"),
        ("iris.pmml --missing-string ?", "--missing-string is for .onnx only"),
        (
            "iris.c --prefix 1",
            "prefix must consist of letters, digits and _, not begin with a digit",
        ),
    ):
        assert words in command("convert", "iris.json", *path.split(), code=2)
    for name in ("iris.c", "iris.pmml"):
        text = command("convert", "iris.json", f"no folder/{name}", code=4)
        assert "cannot be written" in text
    command("convert", "none.json", "iris.c", code=4)
    command(*IRIS, "--algorithm", "lda", "--save", "lda.json")
    error = command("convert", "lda.json", "iris.pmml", code=2)
    assert "lda.json: model must be a fitted tree or ensemble of trees" in error
    assert not Path("iris.pmml").exists()


def test_linear_models(command):
    command(*IRIS, "--algorithm", "lda", "--save", "linear.json")
    for suffix in ("c", "mjs", "py", "sql"):
        assert command("convert", "linear.json", f"linear.{suffix}") == ""
    module = {}
    exec(Path("linear.py").read_text("utf-8"), module)
    X = pd.read_csv(DATA / "iris.csv", sep=";").drop(columns="species")
    found = [module["predict"](row) for row in X.to_dict("records")]
    assert found == load_model("linear.json").predict(X).tolist()
