"""The command and columns written as $38,524.53, 38.5% or 9/21/2024."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sklearn_textbook.cli import main
from sklearn_textbook.io import load_model, read_model
from tests.cli.files import write

READ = ("--numeric", "price,rate", "--date", "sold=%m/%d/%Y")


def make_rows(n_rows=60):
    rows = []
    for i in range(n_rows):
        day = f"{1 + i % 12}/{1 + i % 28}/2024"
        price = 1000.25 * (1 + i % 20) + i
        rows.append((f"${price:,.2f}", f"{i % 7 + 0.5}%", day, "ab"[i % 20 > 9]))
    return rows


def write_rows(name, rows=None, names=("price", "rate", "sold", "y")):
    lines = [";".join(row) for row in [names, *(rows or make_rows())]]
    return write(name, "\n".join(lines))


@pytest.fixture
def model(command):
    """A model of all columns; the name of its file."""
    write_rows("t.csv")
    fit = ("fit", "t.csv", "--target", "y", "--cv", 0, *READ)
    text = command(*fit, "--save", "m.json")
    assert "note" not in text
    kinds = re.findall(r"^(price|rate|sold) +([a-z]+) +-", text, re.MULTILINE)
    assert dict(kinds) == {"price": "numeric", "rate": "numeric", "sold": "date"}
    return "m.json"


@pytest.mark.parametrize("command_", ["fit", "compare"])
def test_notes(command, command_):
    write_rows("t.csv")
    arguments = ("t.csv", "--target", "y", "--cv", 2)
    text = " ".join(command(command_, *arguments, "--keep", "price,sold").split())
    for what, option in (
        ("amounts of money, such as '$1,000.25'", "--numeric price"),
        ("percentages, such as '0.5%'", "--numeric rate"),
        ("dates (month/day/year), such as '1/1/2024'", "--date sold=%m/%d/%Y"),
    ):
        assert text.count(f"look like {what}; ") == 1
        assert f"({option}) reads them as " in text
    options = ("--numeric", "rate,price", "--date", "sold=%m/%d/%Y")
    assert "look like" not in command(command_, *arguments, *options)


def test_prediction_reads_the_same_values(command, model):
    saved = read_model(model)
    assert saved.table["dates"] == {"sold": "%m/%d/%Y"}
    assert saved.table["units"] == {"price": "$", "rate": "%"}
    expected = [row[-1] for row in make_rows()]
    assert command("predict", model, "t.csv").split()[1:] == expected
    # The same values as numbers and dates.
    price = [float(row[0][1:].replace(",", "")) for row in make_rows()]
    rate = [float(row[1][:-1]) for row in make_rows()]
    frame = {"price": price, "rate": rate}
    frame["sold"] = [
        "{2}-{0:>02}-{1:>02}".format(*row[2].split("/")) for row in make_rows()
    ]
    frame["sold"] = pa.array(frame["sold"]).cast(pa.date32())
    parquet.write_table(pa.table(frame), "t.parquet")
    assert command("predict", model, "t.parquet").split()[1:] == expected
    # Dates of another format.
    rows = [(*row[:2], f"{row[2]} 12:00", row[3]) for row in make_rows()]
    write_rows("noon.csv", rows)
    assert command("predict", model, "noon.csv", code=3) == (
        "sklearn-textbook: noon.csv, line 2, column 'sold': '1/1/2024 12:00' is not a "
        "date of the format '%m/%d/%Y'; correct it, or leave it empty if it is "
        "missing\n"
    )
    command("predict", model, "noon.csv", "--date", "sold=%m/%d/%Y %H:%M")


def test_other_units_are_refused(command, model):
    rows = [(row[0].replace("$", "€"), *row[1:]) for row in make_rows()]
    write_rows("euro.csv", rows)
    assert command("predict", model, "euro.csv", code=3) == (
        "sklearn-textbook: euro.csv, column 'price': the numbers have the sign €, and "
        "those in training had the sign $; write them as in training\n"
    )
    rows = [(row[0][1:], row[1], *row[2:]) for row in make_rows()]
    write_rows("plain.csv", rows)
    command("predict", model, "plain.csv")
    # 38.5% may be 38.5 or 0.385 where training had no percentages.
    rows = [(row[0], row[1][:-1], *row[2:]) for row in make_rows()]
    write_rows("number.csv", rows)
    command(
        *("fit", "number.csv", "--target", "y", "--cv", 0, "--save", "n.json", *READ)
    )
    error = command("predict", "n.json", "t.csv", code=3)
    assert "column 'rate': the numbers have the sign %, and those in" in error


def test_target_of_money(command):
    write_rows("t.csv")
    fit = ("fit", "t.csv", "--target", "price", "--algorithm", "linear", "--cv", 0)
    error = command(*fit, code=5)
    assert error == (
        "sklearn-textbook: t.csv, column 'price': linear predicts numbers, but the "
        "target is not numeric; it is read as text, but its values look like amounts "
        "of money, such as '$1,000.25'; column_types={'price': 'numeric'} (--numeric "
        "price) reads them as numbers\n"
    )
    options = ("--test", "t.csv", "--save", "m.json", "--drop", "sold")
    text = command(*fit, "--numeric", "price,rate", *options)
    assert re.search(r"\ntest +0\.\d", text)
    assert hasattr(load_model("m.json"), "coef_")
    assert main(["predict", "m.json", "t.csv"]) == 0
    assert "t.csv: R2 " in command.capsys.readouterr().err


@pytest.mark.parametrize("algorithm", ["lda", "pca"])
def test_algorithms_that_need_numbers_name_the_option(command, algorithm):
    write_rows("t.csv")
    arguments = ["fit", "t.csv", "--target", "y", "--algorithm", algorithm]
    error = command(*arguments, "--numeric", "price", "--drop", "sold", code=5)
    assert "column 'rate'" in error
    assert "(--numeric rate) reads them as numbers; or use --set categorical_" in error


def test_only_columns_that_could_be_read(command):
    rows = "".join(f'"{1000 + i:,}",{"ab"[i % 2]}\n' for i in range(30))
    write("t.csv", f"size,y\n{rows}")
    arguments = ("fit", "t.csv", "--target", "y", "--cv", 0)
    assert "it is read as text, but its values look like numbers with commas" in (
        command(*arguments, code=5)
    )
    assert "--decimal point or comma" in command(
        *arguments, "--numeric", "size", code=3
    )
    text = command(*arguments, "--numeric", "size", "--decimal", "point")
    assert "1000 to 1029, 30 distinct" in text
    command(*arguments, "--numeric", "size", "--decimal", "comma", "--save", "m.json")
    assert read_model("m.json").table["decimal"] == ","
    # The decimal mark of training holds for later tables.
    write("new.csv", 'size\n"1,005"\n')
    command("predict", "m.json", "new.csv")
    document = json.loads(Path("m.json").read_text("utf-8"))
    document["table"]["decimal"] = None
    write("m.json", json.dumps(document))
    assert "'1,005' has either" in command("predict", "m.json", "new.csv", code=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--date", "sold=m/d/y"],
            (
                "Invalid value for '--date': 'sold=m/d/y' is not of the form "
                "column=format, as in sold=%m/%d/%Y, with the codes of Python's "
                "strptime"
            ),
        ),
        (["--date", "%m/%d/%Y"], "Invalid value for '--date': '%m/%d/%Y' is not of"),
        (["--date", "sold=%H:%M"], "Invalid value for '--date': 'sold=%H:%M' is not"),
        (
            ["--decimal", "dot"],
            "Invalid value for '--decimal': 'dot' is neither point nor comma",
        ),
        (
            ["--date", "sold=%m/%d/%Y", "--categorical", "sold"],
            "'sold' is in --date and also declared in another way",
        ),
        (
            ["--date", "sold=%m/%d/%Y", "--drop", "sold"],
            "'sold' is left out, but listed in ",
        ),
    ],
)
def test_wrong_options(command, options, message):
    write_rows("t.csv")
    error = command("fit", "t.csv", "--target", "y", *options, code=2)
    assert error.startswith(f"sklearn-textbook: {message}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dates", ["sold"]),
        ("dates", {"sold": 3}),
        ("dates", {"sold": "m/d/y"}),
        ("units", {"price": None}),
        ("numeric", "price"),
        ("decimal", "x"),
    ],
)
def test_damaged_notes(command, model, name, value):
    document = json.loads(Path(model).read_text("utf-8"))
    document["table"][name] = value
    write(model, json.dumps(document))
    error = command("predict", model, "t.csv", code=4)
    assert f"is damaged: table.{name}" in error


def test_models_without_these_notes(command, model):
    """Of fit in earlier versions, or of save_model."""
    document = json.loads(Path(model).read_text("utf-8"))
    for name in ("dates", "units", "numeric", "decimal"):
        del document["table"][name]
    write(model, json.dumps(document))
    rows = [(row[0], row[1][:-1], "2024-01-21", row[3]) for row in make_rows()]
    write_rows("iso.csv", rows)
    command("predict", model, "iso.csv")
