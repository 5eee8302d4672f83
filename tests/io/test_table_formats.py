"""Feather, JSON and Excel: what is read, what is refused how, and what is written."""

import datetime
import gzip
import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather

from sklearn_textbook.cli import main
from sklearn_textbook.io import TableFileError, read_table
from sklearn_textbook.io.table_writer import choose_writer

FRAME = pa.table(
    {
        "size": [1.5, None, 3.0],
        "count": [1, 2, 3],
        "ripe": [True, False, None],
        "colour": pa.array(["red", "grün", None]).dictionary_encode(),
        "code": ["007", "a", None],
    }
)
RECORDS = [
    {"size": 1.5, "count": 1, "ripe": True, "colour": "red", "code": "007"},
    {"count": 2, "ripe": False, "colour": "grün", "code": "a"},
    {"size": 3, "count": 3, "ripe": None, "colour": None, "code": None},
]


def write_ipc(path, open_writer):
    with pa.OSFile(str(path), "wb") as sink, open_writer(sink, FRAME.schema) as writer:
        writer.write_table(FRAME)


def test_feather(tmp_path):
    path = tmp_path / "t.feather"
    feather.write_feather(FRAME, path)
    table = read_table(path)
    assert (table.format, table.layout) == ("feather", "Feather")
    assert table.frame.to_pylist() == FRAME.to_pylist()
    assert table.column_kinds == {
        "size": "numeric",
        "count": "numeric",
        "ripe": "numeric",
        "colour": "nominal",
        "code": "nominal",
    }


@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_files_and_streams(tmp_path, writer):
    write_ipc(tmp_path / "t.arrow", writer)
    assert read_table(tmp_path / "t.arrow").frame.to_pylist() == FRAME.to_pylist()


def test_feather_of_polars(tmp_path):
    polars = pytest.importorskip("polars")
    polars.from_arrow(FRAME).write_ipc(tmp_path / "t.arrow")
    read = read_table(tmp_path / "t.arrow")
    assert read.frame.to_pylist() == FRAME.to_pylist()
    assert read.column_kinds["code"] == "nominal"


def test_json(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(RECORDS), encoding="utf-8")
    table = read_table(tmp_path / "t.json")
    assert (table.format, table.layout) == ("json", "JSON")
    assert table.frame.to_pylist() == FRAME.to_pylist()
    lines = "\n\n".join(json.dumps(record) for record in RECORDS)
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    table = read_table(tmp_path / "t.jsonl.gz")
    assert (table.format, table.layout) == ("jsonl", "JSON lines")
    assert table.frame.to_pylist() == FRAME.to_pylist()
    assert [table.find_line(row) for row in range(3)] == [1, 3, 5]


BAD = {
    "no.feather": ("a,b\n1,2\n", "is not a Feather or Arrow file ("),
    "dict.json": (
        '{"a": [1]}',
        (
            "is JSON, but not a table; a table is a list of records, [{column: value, "
            "...}, ...], as pandas writes it with orient='records'"
        ),
    ),
    "cut.json": ('[{"a": 1}', "is not JSON (Expecting ',' delimiter"),
    "empty.json": ("[]", "has no rows"),
    "number.json": ('[{"a": 1}, 7]', "row 2: 7 is not a record; a table is a list of"),
    "bad.jsonl": ('{"a": 1}\n{"a": }\n', "line 2: is not JSON (Expecting value"),
    "mixed.jsonl": (
        '{"a": 1}\n\n{"a": "x"}\n',
        (
            "line 3, column 'a': \"x\" has a different type than the preceding values; "
            "write values of one type, null if missing"
        ),
    ),
    "flag.json": ('[{"a": 1}, {"a": true}]', "column 'a': row 2: true has a different"),
    "nested.json": (
        '[{"a": null}, {"a": [1, 2]}]',
        "column 'a': row 2: [1, 2] is neither a number, a text, true nor false",
    ),
    "large.json": ('[{"a": 1}, {"a": 36893488147419103232}]', "column 'a': "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path, name):
    text, message = BAD[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(TableFileError) as caught:
        read_table(tmp_path / name)
    said = str(caught.value).removeprefix(f"{tmp_path / name}")
    assert said.lstrip(":, ").startswith(message)
    assert "\n" not in said


# ----------------------------------------------------------------------- Excel
@pytest.fixture
def book():
    return pytest.importorskip("openpyxl").Workbook()


def test_excel(book, tmp_path):
    sheet = book.active
    sheet.title = "fruit"
    for row in [
        ["size", "count", "ripe", "colour", "picked"],
        [1.5, 1, True, "red", datetime.date(2024, 5, 1)],
        [],
        [None, 2, False, 'a "grün"\ncolour', datetime.datetime(2024, 5, 2)],
        [3.0, 3, None, "NA", None],
        [None],
    ]:
        sheet.append(row)
    book.create_sheet("notes")
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    assert (table.format, table.layout) == ("excel", "Excel, sheet 'fruit'")
    assert table.notes == ("sheets not read: 'notes'; sheet (--sheet) chooses one",)
    assert table.frame.drop_columns(["picked"]).to_pylist() == [
        {"size": 1.5, "count": 1, "ripe": True, "colour": "red"},
        {"size": None, "count": 2, "ripe": False, "colour": 'a "grün" colour'},
        {"size": 3.0, "count": 3, "ripe": None, "colour": None},
    ]
    picked = table.frame["picked"]
    assert table.column_kinds["picked"] == "numeric"
    assert str(picked[1].as_py()).startswith("2024-05-02")
    # Rows are those of the sheet.
    assert [table.find_line(row) for row in range(3)] == [2, 4, 5]


@pytest.fixture
def two_sheets(book, tmp_path):
    """A workbook whose second sheet has titles, comments and a formula-like name."""
    book.active.title = "2024"
    book.active.append(["a"])
    book.active.append([1])
    sheet = book.create_sheet("1")
    for row in [
        ["Sales of the year", None],
        [],
        ["# in thousands, without taxes", None],
        ["shop", "sold"],
        ["#1 street", 5],
        ["north", 7],
    ]:
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


@pytest.mark.parametrize("wish", ["1", 2])
def test_sheets_by_name_and_number(two_sheets, wish):
    table = read_table(two_sheets, sheet=wish, skip_lines=2, comment="# ")
    assert table.layout == "Excel, sheet '1'"
    assert table.notes == ()
    assert table.frame.to_pydict() == {"shop": ["#1 street", "north"], "sold": [5, 7]}
    assert table.find_line(1) == 6
    assert read_table(two_sheets, sheet=1).layout == "Excel, sheet '2024'"


@pytest.mark.parametrize("wish", ["2025", 0, 3, "", -1])
def test_unknown_sheets(two_sheets, wish):
    with pytest.raises(TableFileError, match="t.xlsx: no sheet ") as caught:
        read_table(two_sheets, sheet=wish)
    assert str(caught.value).endswith("numbers are from 1 to 2")
    assert f"no sheet {wish!r}; " in str(caught.value)


def test_damaged_excel(tmp_path):
    pytest.importorskip("openpyxl")
    (tmp_path / "t.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(TableFileError, match="t.xlsx: is not an Excel file"):
        read_table(tmp_path / "t.xlsx")


def test_excel_needs_its_extra(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    message = "Excel files require openpyxl: pip install openpyxl"
    with pytest.raises(ImportError, match=message):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(ImportError, match=message):
        choose_writer(tmp_path / "t.xlsx")
    assert main(["fit", str(tmp_path / "t.xlsx"), "--target", "y"]) == 2
    assert capsys.readouterr().err == (
        "sklearn-textbook: Excel files require openpyxl: pip install openpyxl\n"
    )


# --------------------------------------------------------------------- writing
ENDINGS = ["csv", "tsv", "csv.gz", "parquet", "feather", "json", "jsonl", "ndjson.gz"]


@pytest.mark.parametrize("ending", [*ENDINGS, "arff", "xlsx"])
def test_what_is_written_reads_back(tmp_path, ending):
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    frame = pa.table(
        {
            "id": ["a", "b,c", None],
            "prediction": ["grün", "red", "red"],
            "p": [0.1, 1, 0],
        }
    )
    path = tmp_path / f"out.{ending}"
    choose_writer(path)(frame, path)
    assert read_table(path).frame.to_pylist() == frame.to_pylist()
    np.testing.assert_array_equal(read_table(path).frame["p"].to_numpy(), [0.1, 1, 0])


@pytest.mark.parametrize(
    "name", ["out.xls", "out.xlsm", "out.names", "out.parquet.gz", "out.txt.7z"]
)
def test_endings_that_are_refused(tmp_path, name):
    with pytest.raises(
        TableFileError, match="a table cannot be written as '."
    ) as caught:
        choose_writer(tmp_path / name)
    assert "supported are .csv, .txt, .tsv, .tab, .parquet" in str(caught.value)
    assert not (tmp_path / name).exists()
