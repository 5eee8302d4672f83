"""Feather, JSON and Excel: what is read, what is refused how, and what is written."""

import datetime
import gzip
import json
import sys
import zipfile

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
    "no.feather": ("a,b\n1,2\n", "is damaged, or not a Feather or Arrow file ("),
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


def damage_string_offsets(table):
    """Let the offset at the end of a text, which occurs once, lead far away."""
    end = np.array([0, 4, 9], np.int32).tobytes()
    assert table.count(end) == 1
    return table.replace(end, np.array([0, 4, 2**30], np.int32).tobytes())


def damage_codes(table):
    codes = np.array([7, 7, 6], np.int32).tobytes()
    assert table.count(codes) == 1
    return table.replace(codes, np.array([7, 7, 2**30], np.int32).tobytes())


LETTERS = pa.array(list("abcdefgh"))
DAMAGED = {
    "offsets": (pa.array(["four", "5five"]), damage_string_offsets),
    "codes": (
        pa.DictionaryArray.from_arrays(pa.array([7, 7, 6], pa.int32()), LETTERS),
        damage_codes,
    ),
    "text": (
        pa.array(["known"]),
        lambda table: table.replace(b"known", b"k\xff\xffwn"),
    ),
    "name": (pa.array([1]), lambda table: table.replace(b"amount", b"am\xff\xffnt")),
}


@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_feather(tmp_path, what, writer):
    """Arrow follows damaged offsets out of the memory of the file."""
    column, damage = DAMAGED[what]
    table = pa.table({"amount": column})
    content = pa.BufferOutputStream()
    with writer(content, table.schema) as stream:
        stream.write_table(table)
    path = tmp_path / "t.feather"
    path.write_bytes(content.getvalue().to_pybytes())
    assert read_table(path).n_rows == len(column)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TableFileError, match=r"t.feather: is damaged, or not a Feat"):
        read_table(path)


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
    message = str(caught.value)
    assert f"no sheet {wish!r}; numbers are from 1 to 2; " in message
    assert message.endswith(("there are: '2024', '1'", "did you mean '2024'?", "'1'?"))


def test_damaged_excel(tmp_path):
    pytest.importorskip("openpyxl")
    (tmp_path / "t.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(
        TableFileError, match="t.xlsx: is damaged, or not an Excel file"
    ):
        read_table(tmp_path / "t.xlsx")


def pack_again(path, name, change):
    """Change one part of an Excel file, which is a zip archive."""
    with zipfile.ZipFile(path) as archive:
        parts = {other: archive.read(other) for other in archive.namelist()}
    parts[name] = change(parts[name])
    with zipfile.ZipFile(path, "w") as archive:
        for other, content in parts.items():
            archive.writestr(other, content)


def cut_stream(path):
    """Damage the compressed bytes of the first part."""
    content = bytearray(path.read_bytes())
    content[60:200] = bytes(140)
    path.write_bytes(content)


DAMAGED_BOOKS = {
    "sheet": lambda path: pack_again(
        path, "xl/worksheets/sheet1.xml", lambda text: text[:-20]
    ),
    "attribute": lambda path: pack_again(
        path, "xl/workbook.xml", lambda text: text.replace(b"showSheetTabs", b"tabs")
    ),
    "types": lambda path: pack_again(path, "[Content_Types].xml", lambda text: b"x"),
    "stream": cut_stream,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-30]),
}


@pytest.mark.parametrize("what", DAMAGED_BOOKS)
def test_damaged_parts_of_excel_files(book, tmp_path, capsys, what):
    path = tmp_path / "t.xlsx"
    for row in (["a", "y"], [1, "p"], [2, "q"]):
        book.active.append(row)
    book.save(path)
    DAMAGED_BOOKS[what](path)
    assert main(["fit", str(path), "--target", "y"]) == 3
    errors = capsys.readouterr().err
    assert "t.xlsx: is damaged, or not an Excel file (" in errors
    assert errors.count("\n") == 1


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


LIKE_EXCELS_OWN = ["=1+1", "#N/A", "=", "#DIV/0!", "+1", " a ", "a\tb"]


def test_text_like_formulas_is_text_in_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    frame = pa.table({"=A1": LIKE_EXCELS_OWN})
    choose_writer(path)(frame, path)
    cells = [row[0] for row in openpyxl.load_workbook(path)["predictions"].rows]
    assert [cell.value for cell in cells] == ["=A1", *LIKE_EXCELS_OWN]
    assert {cell.data_type for cell in cells} == {"s"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\x01b", r"the character '\x01'"),
        ("\ufffe", r"the character '\ufffe'"),
        ("x" * 32_768, "32,768 characters"),
    ],
)
def test_text_that_excel_cannot_have(tmp_path, text, problem):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    with pytest.raises(TableFileError) as caught:
        choose_writer(path)(pa.table({"n": [1, 2], "label": ["a", text]}), path)
    assert str(caught.value) == (
        f"{path}: cannot be written: row 3 of the sheet, column 'label': an Excel file "
        f"cannot have a text with {problem}; write it as .csv or .parquet"
    )
    assert not path.exists()


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
