"""The command predict."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sklearn_textbook.cli import main
from sklearn_textbook.io import read_table
from sklearn_textbook.linear_model import LinearRegression
from tests.cli.files import write

DATA = Path(__file__).parents[1] / "data"


def test_columns_are_found_by_name(command, iris_model):
    table = read_table(DATA / "iris.csv").frame
    names = table.column_names[::-1]
    shuffled = table.select(names).append_column("extra", pa.array(["x"] * 150))
    shuffled.to_pandas().to_csv("shuffled.tsv", sep="\t", index=False)
    expected = command("predict", iris_model, DATA / "iris.csv")
    assert command("predict", iris_model, "shuffled.tsv") == expected


def test_formats_of_the_output(command, iris_model):
    expected = command("predict", iris_model, DATA / "iris.csv", "--proba")
    names = expected.splitlines()[0].split(",")
    assert names == ["prediction", *(f"probability_{c}" for c in _iris_classes())]
    for ending, separator in ((".csv", ","), (".tsv", "\t"), (".txt", ",")):
        path = f"out{ending}"
        command("predict", iris_model, DATA / "iris.csv", "--proba", "-o", path)
        assert Path(path).read_text() == expected.replace(",", separator)
    for path in ("out.parquet", "out.arff"):
        command("predict", iris_model, DATA / "iris.csv", "--proba", "-o", path)
        table = read_table(path).frame
        assert table.column_names == names
        rows = list(csv.DictReader(io.StringIO(expected)))
        assert table["prediction"].to_pylist() == [row["prediction"] for row in rows]
        assert table[names[1]].to_pylist() == [float(row[names[1]]) for row in rows]


def _iris_classes():
    return ["setosa", "versicolor", "virginica"]


def test_identifiers_are_copied(command):
    write("train.csv", "id,x,y\n007,1,a\n008,2,b\n009,3,b\n")
    command(
        "fit", "train.csv", "--target", "y", "--id", "id", "--cv", 0, "--save", "m.json"
    )
    write("new.csv", 'x,id,note\n1,010,"a, b"\n3,?,c\n')
    assert command("predict", "m.json", "new.csv") == "id,prediction\n010,a\n,b\n"
    both = command("predict", "m.json", "new.csv", "--id", "note")
    assert both == 'id,note,prediction\n010,"a, b",a\n,c,b\n'
    assert command("predict", "m.json", "new.csv", "--id", "nte", code=3) == (
        "sklearn-textbook: new.csv: no column 'nte' to copy\n"
    )


NEW = """id,x,price,when,note
007,1,"1,50",1.2.2024,"it's, so"
+8, 2 ,2.0,,NA

009,?,,TRUE,?
"""


def test_all_columns_are_copied_as_they_are_written(command):
    write("train.csv", "id,x,y\n007,1,a\n008,2,b\n009,3,b\n")
    command(
        "fit", "train.csv", "--target", "y", "--id", "id", "--cv", 0, "--save", "m.json"
    )
    write("new.csv", f"a title\n{NEW}# a comment\n")
    layout = ("--skip-lines", 1, "--comment", "#")
    text = command("predict", "m.json", "new.csv", "--all-columns", *layout)
    assert text.splitlines() == [
        "id,x,price,when,note,prediction",
        '007,1,"1,50",1.2.2024,"it\'s, so",a',
        "+8, 2 ,2.0,,NA,b",
        "009,?,,TRUE,?,b",
    ]
    command("predict", "m.json", "new.csv", "--all-columns", *layout, "-o", "o.tsv")
    rows = list(csv.reader(text.splitlines()))
    lines = Path("o.tsv").read_text().splitlines()
    assert list(csv.reader(lines, delimiter="\t")) == rows
    # In a format with types, as they are read.
    command("predict", "m.json", "new.csv", "--all-columns", *layout, "-o", "o.parquet")
    frame = read_table("o.parquet").frame
    assert frame.column_names == rows[0]
    assert frame["id"].to_pylist() == ["007", "+8", "009"]
    assert frame["x"].to_pylist() == [1, 2, None]
    # A table with types is copied with them.
    command("predict", "m.json", "o.parquet", "--id", "x", code=0)
    message = command("predict", "m.json", "o.parquet", "--all-columns", code=3)
    assert message == (
        "sklearn-textbook: o.parquet, column 'prediction': the output has a column of "
        "this name, too; rename it, or do not copy it\n"
    )
    assert command("predict", "m.json", "o.parquet", "--id", "prediction", code=3)
    frame = frame.drop_columns(["prediction"])
    parquet.write_table(frame, "typed.parquet")
    text = command("predict", "m.json", "typed.parquet", "--all-columns")
    assert text.splitlines()[1] == '007,1,"1,50",1.2.2024,"it\'s, so",a'


def test_all_columns_of_the_standard_input(command, iris_model, monkeypatch):
    content = (DATA / "iris.csv").read_bytes()
    stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    text = command("predict", iris_model, "-", "--all-columns")
    lines = content.decode().replace(";", ",").splitlines()
    assert [line.rpartition(",")[0] for line in text.splitlines()] == lines


def test_components_beside_all_columns(command):
    table = read_table(DATA / "iris.csv").frame
    fit = ("fit", DATA / "iris.csv", "--algorithm", "pca", "--target", "species")
    command(*fit, "--save", "p.json")
    apply = ("transform", "p.json", DATA / "iris.csv")
    rows = list(csv.reader(command(*apply, "--all-columns").splitlines()))
    assert rows[0][:5] == table.column_names
    alone = list(csv.reader(command(*apply).splitlines()))
    assert [row[5:] for row in rows] == [row[1:] for row in alone]


@pytest.mark.parametrize("name", ["predict", "transform", "diversity"])
def test_swapped_arguments_are_recognised(command, iris_model, name):
    table = DATA / "iris.csv"
    assert command(name, table, iris_model, code=2) == (
        f"sklearn-textbook: iris.json is a model file and {table} is not; give the "
        "model first, and the table after it; see sklearn-textbook "
        f"{name} --help\n"
    )
    # Two tables, or a model that is not there.
    assert "is not a model file; give" in command(name, table, table, code=4)
    assert "no such file" in command(name, "none.json", table, code=4)


def test_swapped_arguments_of_convert_are_recognised(command, iris_model):
    message = command("convert", "iris.sql", iris_model, code=2)
    assert "iris.json is a model file; give it first, and iris.sql after it" in message


def test_table_without_a_header(command):
    write("train.csv", "a,1.5,x\nb,2.5,y\na,1.0,x\n")
    arguments = ["fit", "train.csv", "--target", "column_1", "--cv", 0]
    command(*arguments, "--save", "m.json")
    # With the target, and without it: the columns keep their places.
    assert command("predict", "m.json", "train.csv").split()[1:] == ["a", "b", "a"]
    write("new.csv", "2.5,y\n1.5,x\n")
    assert command("predict", "m.json", "new.csv").split()[1:] == ["b", "a"]


def test_missing_marks_are_remembered(command):
    write("train.csv", "x,z,y\n1,-,a\n2,5,b\n-,6,b\n")
    command(
        *("fit", "train.csv", "--target", "y", "--missing-marks", "-", "--cv", 0),
        *("--save", "m.json"),
    )
    write("new.csv", "x,z\n-,-\n1,-\n")
    assert len(command("predict", "m.json", "new.csv").split()) == 3


def test_score_where_the_target_is_known(command, iris_model):
    table = read_table(DATA / "iris.csv").frame.to_pandas()
    table.loc[5:, "species"] = None
    table.to_csv("some.csv", index=False)
    command("predict", iris_model, "some.csv", "-o", "out.csv")
    main(["predict", iris_model, "some.csv", "-o", "out.csv"])
    assert command.capsys.readouterr().err == "some.csv: accuracy 1 (5 rows)\n"
    table.drop(columns="species").to_csv("none.csv", index=False)
    main(["predict", iris_model, "none.csv", "-o", "out.csv"])
    assert command.capsys.readouterr().err == ""


def test_target_that_is_not_as_in_training_is_noted(command, iris_model):
    table = read_table(DATA / "iris.csv").frame.to_pandas()
    table.loc[:1, "species"] = "rosa"
    table.to_csv("rosa.csv", index=False)
    main(["predict", iris_model, "rosa.csv", "-o", "out.csv"])
    assert (
        "note: column 'species' has classes not seen in training, which count as "
        "errors: 'rosa' (2 rows)\n" in command.capsys.readouterr().err
    )
    fit = ("fit", DATA / "iris.csv", "--target", "sepal length (cm)", "--cv", 0)
    command(*fit, "--save", "length.json")
    table["sepal length (cm)"] = "long"
    table.to_csv("long.csv", index=False)
    main(["predict", "length.json", "long.csv", "-o", "out.csv"])
    error = command.capsys.readouterr().err
    assert error.endswith(
        "note: no scores: column 'sepal length (cm)' has no numbers\n"
    )


def test_numbers_are_written_in_full(command):
    """Whole numbers have no exponent, counts a comma between thousands."""
    y = np.arange(2400) * 1_000 + 1_000_001
    frame = pd.DataFrame({"x": y * 2.0, "half": y / 2, "y": y, "c": y % 4_000 > 2_000})
    frame.to_csv("large.csv", index=False)
    fit = ("fit", "large.csv", "--cv", 2, "--drop")
    text = command(*fit, "half,c", "--target", "y", "--full", "--set", "max_depth=1")
    assert "target y: numbers from 1000001 to 3399001 (regression)" in text
    assert " 2000002 to 6798002, 2,400 distinct" in text
    text = command(*fit, "half,x", "--target", "c", "--algorithm", "logistic")
    assert re.search("\nrows: +2,400 ", text)
    assert text.splitlines()[-1].split()[-1] == "1,200"


def test_level_that_is_refused(command):
    write("train.csv", "colour,y\nred,a\ngreen,b\nred,a\n")
    command(
        *("fit", "train.csv", "--target", "y", "--cv", 0, "--save", "m.json"),
        *("--set", "handle_unknown=error"),
    )
    write("new.csv", "colour\nred\n\n\nblue\n")
    assert command("predict", "m.json", "new.csv", code=3) == (
        "sklearn-textbook: new.csv, line 5, column 'colour': 'blue' was not seen in "
        "training, and the model has handle_unknown='error'; training had 'green', "
        "'red'\n"
    )


def test_text_is_looked_up_as_text(command):
    """A table of which all codes are numbers has the levels of training all the "
    "same."""
    write("train.csv", "code,y\n1,a\nA2,b\n1,a\n03,b\n")
    command("fit", "train.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    write("new.csv", "code\n1\n03\n")
    assert command("predict", "m.json", "new.csv").split()[1:] == ["a", "b"]


def test_intervals_and_sets(command):
    frame = read_table(DATA / "iris.csv").frame
    names = frame.column_names
    numbers = names[0]
    stored = ("--set", "store_distribution=true", "--cv", 0, "--save", "m.json")
    forest = ("--algorithm", "random-forest", "--seed", 0, *stored)
    shown = command(
        "fit", DATA / "iris.csv", "--target", numbers, *forest, "--test",
        DATA / "iris.csv", "--report", "page.html",
    )  # fmt: skip
    assert re.search(r"90% intervals contain \d+\.\d% of the values", shown)
    assert "90 % intervals and actual values" in Path("page.html").read_text("utf-8")
    rows = command("predict", "m.json", DATA / "iris.csv", "--interval", 0.9)
    rows = list(csv.DictReader(io.StringIO(rows)))
    assert [*rows[0]] == ["prediction", "lower", "upper"]
    for row in rows:
        middle = (float(row["lower"]) + float(row["upper"])) / 2
        assert middle == pytest.approx(float(row["prediction"]))
    parquet.write_table(frame, "iris.parquet")
    blocks = command(
        "predict", "m.json", "iris.parquet", "--interval", 0.9, "--memory", "1GB"
    )
    assert [*csv.DictReader(io.StringIO(blocks))] == rows
    command("fit", DATA / "iris.csv", "--target", names[-1], *forest)
    rows = command("predict", "m.json", DATA / "iris.csv", "--interval", 0.99)
    sets = [row["set"] for row in csv.DictReader(io.StringIO(rows))]
    assert set(", ".join(sets).split(", ")) <= set(_iris_classes())
    assert any(", " in of_row for of_row in sets)


def test_intervals_of_linear_regression(command):
    table = DATA / "iris.csv"
    names = read_table(table).frame.column_names
    shown = command(
        "fit", table, "--target", names[0], "--algorithm", "linear",
        "--drop", names[-1], "--cv", 0, "--save", "m.json", "--test", table,
        "--report", "page.html",
    )  # fmt: skip
    assert re.search(r"90% intervals contain \d+\.\d% of the values", shown)
    assert "90 % intervals and actual values" in Path("page.html").read_text("utf-8")
    rows = command("predict", "m.json", table, "--interval", 0.8)
    rows = pd.read_csv(io.StringIO(rows))
    frame = read_table(table).frame.to_pandas()
    model = LinearRegression().fit(frame[names[1:-1]], frame[names[0]])
    np.testing.assert_allclose(
        rows[["lower", "upper"]], model.predict_interval(frame[names[1:-1]], 0.8)
    )


def test_unknown_intervals_of_linear_regression(command):
    write("few.csv", "a,b,y\n1,2,3\n2,5,1\n4,1,1\n")
    shown = command(
        "fit", "few.csv", "--target", "y", "--algorithm", "linear", "--cv", 0,
        "--save", "m.json", "--test", "few.csv",
    )  # fmt: skip
    assert "intervals contain" not in shown
    rows = command("predict", "m.json", "few.csv", "--interval", 0.9)
    assert all(line.endswith(",,") for line in rows.splitlines()[1:])


def test_sets_of_gradient_boosting(command):
    table = DATA / "iris.csv"
    command(
        "fit", table, "--target", read_table(table).frame.column_names[-1],
        "--algorithm", "gradient-boosting", "--seed", 0, "--cv", 0, "--save", "m.json",
        "--set", "n_iter_no_change=5", "--set", "store_distribution=true",
    )  # fmt: skip
    rows = command("predict", "m.json", table, "--interval", 0.9)
    sets = [row["set"] for row in csv.DictReader(io.StringIO(rows))]
    assert set(", ".join(sets).split(", ")) <= {"", *_iris_classes()}


def test_intervals_of_the_mean_are_refused(command):
    table = DATA / "iris.csv"
    command(
        "fit", table, "--target", read_table(table).frame.column_names[0],
        "--algorithm", "generalized-linear", "--cv", 0, "--save", "m.json",
    )  # fmt: skip
    refused = command("predict", "m.json", table, "--interval", 0.9, code=2)
    assert "has intervals of the mean of rows, not of new values" in refused


def test_models_without_intervals(command, iris_model):
    table = DATA / "iris.csv"
    refused = command("predict", iris_model, table, "--interval", 0.9, code=2)
    assert "store_distribution=true" in refused
    refused = command("predict", iris_model, table, "--interval", 90, code=2)
    assert "between 0 and 1" in refused
