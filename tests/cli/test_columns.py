"""How the command reads columns and the target."""

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sklearn_textbook.cli import main
from sklearn_textbook.cli.columns import find_hints, report_columns
from sklearn_textbook.cli.options import NameList
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.report import report_confusions
from sklearn_textbook.io import load_model
from sklearn_textbook.tree import (
    export_rules,
    export_text,
)
from tests.cli.files import write

DATA = Path(__file__).parents[1] / "data"


def test_columns_before_the_tree(command):
    text = command(
        "fit", DATA / "loan.parquet", "--target", "decision", "--drop", "applied"
    )
    assert text.startswith(
        f"{DATA / 'loan.parquet'}: 240 rows, 7 columns (Parquet)\n"
        "target decision: 2 classes (refused 121, granted 115)\n"
        "left out: 'applied'\n"
        "left out: 4 rows without a value of 'decision'\n"
        "\n"
        "column      kind     missing  values\n"
        "income      numeric       12  6300 to 67700, 171 distinct\n"
        "age         numeric       12  19 to 79, 59 distinct\n"
        "town        nominal       12  Xi'an 66, Wuhan 54, Chengdu 54, Harbin 50\n"
        "school      ordinal       11  primary 80 < secondary 75 < university 70\n"
        "owns_house  boolean       13  false 128, true 95\n"
        "\n"
        "tree  CARTClassifier, "
    )


def test_hints(command):
    rows = "".join(f"p{i},{i + 2},{i},7,,{i * 1.5},{'ab'[i % 2]}\n" for i in range(8))
    write("table.csv", f"name,number,row,same,empty,size,class\n{rows}")
    text = command("fit", "table.csv", "--target", "class")
    assert re.findall("note: column (.*)", text) == [
        (
            "'name' has a different value in every row; it is left out (use --keep "
            "name to keep it)"
        ),
        "'row' numbers the rows; it is left out (use --keep row to keep it)",
        (
            "'same' has the same value in every row; it is left out (use --keep "
            "same to keep it)"
        ),
        "'empty' has no values; it is left out (use --keep empty to keep it)",
        (
            "'number' has a different value in every row; if it only numbers the rows, "
            "leave it out with --id"
        ),
    ]


def test_an_index_of_a_sample_of_the_rows(command):
    """pandas and R write the numbers of the rows, also of those that were drawn."""
    frame = pd.DataFrame({"class": list("ab") * 20, "x": [0.5, 1.5, 1.5, 2.5] * 10})
    frame.sample(30, random_state=0).to_csv("new.csv")
    text = command("fit", "new.csv", "--target", "class")
    assert "note: column 'column_1' numbers the rows; it is left out" in text
    pd.read_csv("new.csv").to_csv("read.csv", index=False)
    text = command("fit", "read.csv", "--target", "class")
    assert "note: column 'Unnamed: 0' numbers the rows; it is left out" in text
    text = command("fit", "read.csv", "--target", "class", "--keep", "Unnamed: 0")
    assert "numbers the rows; it is left out" not in text
    frame.sample(30, random_state=0).to_csv("bare.csv", header=False)
    text = command("fit", "bare.csv", "--target", "column_2", "--no-header")
    assert "left out" not in text  # a column of a file without a header


@pytest.mark.filterwarnings("always")
def test_warnings_of_the_folds_are_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    x = np.arange(60.0)
    pd.DataFrame({"x1": x, "class": np.where(x < 30, "a", "b")}).to_csv("t.csv")
    assert main(["fit", "t.csv", "--target", "class", "--algorithm", "logistic"]) == 0
    # Each fold has another likelihood and another number of iterations.
    assert capsys.readouterr().err.count("separation") == 1


def test_no_hints_for_useful_columns():
    frame = pa.table({"x": [0.5, 1, 2, 3, 4, 5], "n": [9, 1, 5, 6, 2, 30]})
    assert find_hints(frame) == []


@pytest.mark.parametrize(
    ("values", "options", "line", "note"),
    [
        ("a b a b", [], "target y: 2 classes (a 2, b 2)", None),
        ("0 1 1 1", [], "target y: 2 classes (1 3, 0 1)", None),
        ("true false true true", [], "target y: 2 classes (true 3, false 1)", None),
        (
            "1 2 3 3",
            [],
            "target y: 3 classes (3 2, 1 1, 2 1)",
            "the 3 whole numbers of",
        ),
        (
            "1 2 3 3",
            ["--algorithm", "cart-regressor"],
            "target y: numbers from 1",
            None,
        ),
        ("1.5 2 3 3", [], "target y: numbers from 1.5 to 3 (regression)", None),
        ("1.5 2 3 3", ["--categorical", "y"], "target y: 3 classes (3 2, 1.5", None),
        ("1 2 3 3", ["--algorithm", "cart-classifier"], "target y: 3 classes", None),
    ],
)
def test_kind_of_the_target(command, values, options, line, note):
    rows = "".join(f"{i},{value}\n" for i, value in enumerate(values.split()))
    write("table.csv", f"x,y\n{rows}")
    text = command("fit", "table.csv", "--target", "y", "--cv", 0, *options)
    assert f"\n{line}" in text
    assert ("note: the" in text) == (note is not None)
    command(
        "fit", "table.csv", "--target", "y", "--cv", 0, *options, "--save", "m.json"
    )
    # Labels are written, and scored, as the file has them.
    predicted = command("predict", "m.json", "table.csv").split()[1:]
    if "numbers" not in line:
        assert predicted == values.split()
    else:
        assert [float(value) for value in predicted] == [*map(float, values.split())]


def test_column_overrides(command):
    write(
        "table.csv",
        "a,b,c,d,y\n" + "".join(f"{i},x{i},{i},0{i},{i % 2}\n" for i in range(4)),
    )
    text = command(
        *("fit", "table.csv", "--target", "y", "--cv", 0, "--categorical", "a,d"),
        *("--drop", "b", "--numeric", "c", "--save", "m.json"),
    )
    assert re.search(r"\na +nominal +-  0 1, 1 1, 2 1, 3 1\n", text)
    schema = load_model("m.json").schema_
    assert schema.names == ("a", "c", "d")
    assert schema.kinds == ("nominal", "numeric", "nominal")
    assert schema.columns[2].levels == ("00", "01", "02", "03")
    assert command("predict", "m.json", "table.csv").split()[1:] == list("0101")


def test_names_with_commas():
    assert NameList().convert('a, "b,c" ,d,', None, None) == ["a", "b,c", "d"]


def test_wide_tables_are_cut():
    stream = io.StringIO()
    columns = {f"column {i}": [1.5, 2.5] for i in range(53)}
    columns = {"many": [f"level {i}" for i in range(2)], **columns}
    Output(stream).write(report_columns(pa.table(columns)))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2 + 50 + 1
    assert lines[-1] == "... and 4 more columns"


def test_many_levels_and_classes():
    stream = io.StringIO()
    levels = [f"level {i // 2}" for i in range(40)]
    Output(stream).write(report_columns(pa.table({"x": levels})))
    assert "20 levels: level 0 2, level 1 2" in stream.getvalue()
    assert stream.getvalue().endswith("level 5 2, ...\n")
    counts = np.eye(20, dtype=int) * 5
    counts[3, 4], counts[7, 0] = 2, 9
    stream = io.StringIO()
    labels = [f"c{i}" for i in range(20)]
    Output(stream).write(report_confusions(counts, labels))
    lines = [line.split() for line in stream.getvalue().splitlines()]
    assert lines == [
        ["true", "predicted", "rows"],
        ["c7", "c0", "9"],
        ["c3", "c4", "2"],
    ]


def test_only_the_heaviest_rules_are_shown(command):
    rng = np.random.default_rng(0)
    rows = "".join(f"{x:.3f},{'ab'[int(x * 50) % 2]}\n" for x in rng.random(400))
    write("table.csv", f"x,y\n{rows}")
    text = command("fit", "table.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    model = load_model("m.json")
    all_rules = export_rules(model).splitlines()
    shown = [line for line in text.splitlines() if line.startswith("IF")]
    assert len(shown) == 20 < len(all_rules)
    assert set(shown) < set(all_rules)
    more = f"... and {len(all_rules) - 20} rules with less support; "
    show = "sklearn-textbook show m.json --as rules --all prints them all"
    assert f"{more}{show}\n" in text
    unsaved = command("fit", "table.csv", "--target", "y", "--cv", 0)
    show = "--save FILE and sklearn-textbook show FILE --as rules --all print them all"
    assert f"{more}{show}\n" in unsaved
    printed = command("show", "m.json", "--as", "rules").splitlines()
    assert printed == [*shown, f"{more}--all prints them all"]
    whole = command("show", "m.json", "--as", "rules", "--all")
    assert whole.splitlines() == all_rules
    assert command("show", "m.json", "--as", "rules", "-o", "rules.txt") == ""
    assert Path("rules.txt").read_text("utf-8") == whole
    short = command("show", "m.json", "--max-depth-shown", "1")
    assert short.endswith(export_text(model, max_depth=1))
