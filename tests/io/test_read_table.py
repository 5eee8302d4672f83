"""Reading csv, tsv and Parquet files: what is recognised, and what is refused how."""

import datetime
import gzip
import io
import pickle
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sklearn_textbook.io import TableFileError, read_table
from sklearn_textbook.io.column_names import clean_names
from sklearn_textbook.io.delimited import guess_delimiter
from sklearn_textbook.io.table_file import TableSource
from sklearn_textbook.io.text_encoding import find_undecodable
from sklearn_textbook.tree.encode import read_training_table

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def write(tmp_path):
    """Write a file of text or bytes and give its path."""

    def write_file(content, name="table.csv"):
        path = tmp_path / name
        content = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(content)
        return path

    return write_file


def refusal(path, **options):
    """The message of the error, without the folder of the file."""
    with pytest.raises(TableFileError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.path == str(path)
    return message.replace(f"{path.parent}/", "")


# ------------------------------------------------------------------ real files
def test_semicolons():
    table = read_table(DATA / "iris.csv")
    assert (table.n_rows, table.n_columns, table.format) == (150, 5, "csv")
    assert table.layout == "semicolon-separated, UTF-8"
    assert list(table.column_kinds.values()) == ["numeric"] * 4 + ["nominal"]
    assert table.frame["sepal length (cm)"][0].as_py() == 5.1
    assert table.notes == ()


def test_chinese_in_gb18030():
    table = read_table(DATA / "watermelon_gb18030.csv")
    assert table.layout == "comma-separated, GB18030"
    assert table.frame["好瓜"].to_pylist() == ["是"] * 8 + ["否"] * 9
    assert table.column_kinds["密度"] == "numeric"


def test_parquet_with_nulls():
    table = read_table(DATA / "loan.parquet")
    assert table.format == "parquet"
    assert table.column_kinds["school"] == "ordinal"
    assert table.frame["town"].null_count > 0
    assert table.frame["applied"].type == pa.date32()


@pytest.mark.parametrize("name", ["iris.csv", "weather.arff", "loan.parquet"])
def test_kinds_are_those_of_training(name):
    table = read_table(DATA / name)
    _, schema = read_training_table(table.frame)
    assert dict(zip(schema.names, schema.kinds, strict=True)) == table.column_kinds


# ------------------------------------------------------------- what is recognised
@pytest.mark.parametrize(
    ("delimiter", "word"),
    [(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "pipe")],
)
def test_delimiters(write, delimiter, word):
    rows = [["x", "y"], ["1", '"a,b;c|d"'], ["2", "e"]]
    table = read_table(write("\n".join(delimiter.join(row) for row in rows)))
    assert table.layout == f"{word}-separated, UTF-8"
    assert table.frame.to_pydict() == {"x": [1, 2], "y": ["a,b;c|d", "e"]}


def test_delimiter_of_decimal_commas_and_of_one_column():
    assert guess_delimiter(b"1,5;2,5;a\n3,5;4,5;b\n") == ";"
    assert guess_delimiter(b"weight\n1\n2\n") == ","


def test_named_delimiter(write):
    table = read_table(write("a b\n1 2\n"), delimiter=" ")
    assert table.frame.to_pydict() == {"a": [1], "b": [2]}


def test_decimal_commas(write):
    table = read_table(write("a;b\n1,5;x\n2;y\n-,25;z\n"))
    assert table.frame["a"].to_pylist() == [1.5, 2.0, -0.25]
    assert table.notes == ("column 'a': numbers with a decimal comma",)


def test_missing_marks_and_blanks_around_values(write):
    table = read_table(write("a, b , c\n1, ?,x\n NA , u ,\n3 ,v, null \n"))
    assert table.frame.to_pydict() == {
        "a": [1, None, 3],
        "b": [None, "u", "v"],
        "c": ["x", None, None],
    }


def test_own_missing_marks(write):
    path = write("country,size\nNA,-999\nDE,4\n,5\n")
    table = read_table(path, missing_marks=["-999"])
    assert table.frame.to_pydict() == {
        "country": ["NA", "DE", None],
        "size": [None, 4, 5],
    }


def test_quotes_and_line_ends(write):
    table = read_table(write('a,b\r\n"x, ""y""\nz",1\r\n\r\nw,2\r\n'))
    assert table.frame.to_pydict() == {"a": ['x, "y"\nz', "w"], "b": [1, 2]}
    # The quoted value ends on line 3, and line 4 is empty.
    assert [table.find_line(row) for row in (0, 1, 2)] == [3, 5, None]


def test_types(write):
    table = read_table(
        write("flag,day,moment,time,none\ntrue,2024-01-02,2024-01-02 03:04:05,10:30,\n")
    )
    values = {name: values[0] for name, values in table.frame.to_pydict().items()}
    assert values == {
        "flag": True,
        "day": datetime.date(2024, 1, 2),
        "moment": datetime.datetime(2024, 1, 2, 3, 4, 5),
        "time": datetime.time(10, 30),
        "none": None,
    }
    assert set(table.column_kinds.values()) == {"numeric"}
    read_training_table(table.frame)


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("5.1,a\n4.9,b\n", {}, ["column_1", "column_2"]),
        ("x,y\n1,2\n", {}, ["x", "y"]),
        ("2019,2020\n1,2\n", {}, ["column_1", "column_2"]),
        ("2019,2020\n1,2\n", {"expected_names": ["2020"]}, ["2019", "2020"]),
        ("2019,2020\n1,2\n", {"header": True}, ["2019", "2020"]),
        ("x,y\nz,w\n", {"header": False}, ["column_1", "column_2"]),
        (
            "1,2\n3,4\n",
            {"names_without_header": [["a"], ["a", "b"]]},
            ["a", "b"],
        ),
    ],
)
def test_header(write, text, options, names):
    table = read_table(write(text), **options)
    assert table.names == names
    has_header = names[0] in text
    assert table.has_header == has_header or names == ["a", "b"]
    assert table.n_rows == (1 if table.has_header else 2)


TITLED = """Sales of the year; all "shops"
in thousands

# a comment with a " quote
shop;sold
north;5
  # another; comment
"south
#1";7
west;8
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_titles_and_comments(write, ends):
    path = write(TITLED.replace("\n", ends))
    table = read_table(path, skip_lines=2, comment="#")
    assert table.frame["sold"].to_pylist() == [5, 7, 8]
    assert table.frame["shop"][1].as_py().split() == ["south", "#1"]
    assert table.layout == "semicolon-separated, UTF-8"
    if ends != "\r":  # of which Python's csv reader counts no lines
        assert [table.find_line(row) for row in range(3)] == [6, 9, 10]


def test_lines_of_errors_count_what_is_left_out(write):
    path = write(TITLED.replace("west;8", "west"))
    assert refusal(path, skip_lines=2, comment="#").startswith("table.csv, line 10: ")
    path = write("a title\n\nx,x\n1,2\n")
    assert refusal(path, skip_lines=1).startswith("table.csv, line 3, column 'x': dup")
    assert refusal(path) == (
        "table.csv, line 3: the row has 2 values, but there is 1 column; if line 1 is "
        "a title and not the names of the columns, use --skip-lines"
    )


@pytest.mark.parametrize("n_lines", [2, 9])
def test_nothing_is_left(write, n_lines):
    message = refusal(write("a,b\n1,2\n"), skip_lines=n_lines)
    assert message.startswith("table.csv: is empty")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("sep=;\nx;y\n1,5;a\n2,5;b\n", "semicolon"),
        ('\ufeff"sep=;"\r\nx;y\r\n1,5;a\r\n2,5;b\r\n', "semicolon"),
        ("SEP=\t\nx\ty\n1.5\ta\n2.5\tb\n", "tab"),
        ("sep=^ \nx^y\n1.5^a\n2.5^b\n", "'^'"),
    ],
)
def test_separators_declared_for_excel(write, text, separator):
    table = read_table(write(text))
    assert table.layout.startswith(f"{separator}-separated")
    assert table.frame.to_pydict() == {"x": [1.5, 2.5], "y": ["a", "b"]}
    assert table.find_line(1) == 4
    with_title = read_table(write("a title\n" + text.lstrip("\ufeff")), skip_lines=1)
    assert with_title.frame == table.frame


def test_a_given_delimiter_goes_before_the_declared_one(write):
    table = read_table(write("sep=,\nx;y\n1,5;a\n2,5;b\n"), delimiter=";")
    assert table.names == ["x", "y"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip_lines": -1}, "skip_lines must be an integer >= 0, got -1"),
        ({"skip_lines": "2"}, "skip_lines must be an integer >= 0, got '2'"),
        ({"comment": " "}, "comment must be a text such as '#', got ' '"),
        ({"comment": ""}, "comment must be a text such as '#', got ''"),
    ],
)
def test_wrong_options_of_lines(write, options, message):
    with pytest.raises(ValueError, match=message):
        read_table(write("a\n1\n"), **options)


@pytest.mark.parametrize(
    "options", [{"sheet": 1}, {"skip_lines": 1}, {"comment": "#"}, {"sheet": "a"}]
)
def test_options_that_mean_nothing_for_a_format(write, options):
    (name,) = options
    path = write('[{"a": 1}]', "table.json")
    allowed = "excel" if name == "sheet" else "csv and excel"
    assert refusal(path, **options) == (
        f"table.json: {name} is for {allowed} files, and this is json; omit {name} "
        f"(--{name.replace('_', '-')})"
    )
    assert read_table(path, skip_lines=0).n_rows == 1


@pytest.mark.parametrize("delimiter", [",", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_header_of_any_length(write, delimiter, quote):
    """A header longer than the sample by which the separator is detected."""
    broken = "\n" if quote else " "
    names = [f"column{broken}{number:050}" for number in range(5000)]
    lines = [[f"{quote}{name}{quote}" for name in names], ["1"] * 5000, ["2.5"] * 5000]
    table = read_table(write("\n".join(delimiter.join(line) for line in lines)))
    assert table.names == names
    assert table.frame[4999].to_pylist() == [1, 2.5]


def test_names_of_many_columns_take_no_time():
    """Searching each name among those before it took a minute."""
    names = list(map(str, range(60_000)))
    began = time.monotonic()
    assert clean_names(names, path="t.csv") == (names, [])
    assert time.monotonic() - began < 10.0


def test_column_without_a_name(write):
    table = read_table(write(",b\n1,2\n"))
    assert table.names == ["column_1", "b"]
    assert table.notes == ("column 1 has no name; named 'column_1'",)


@pytest.mark.parametrize(
    ("encoding", "layout"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16")],
)
def test_recognised_encodings(write, encoding, layout):
    table = read_table(write("色泽,x\n青绿,1\n".encode(encoding)))
    assert table.frame.to_pydict() == {"色泽": ["青绿"], "x": [1]}
    assert table.layout == f"comma-separated, {layout}"


def test_western_encoding_is_never_guessed(write):
    path = write("town,x\nMálaga,1\nCórdoba,2\n".encode("latin-1"))
    assert refusal(path) == (
        "table.csv, line 2: byte 0xE1 is not UTF-8; set the encoding of the file, "
        "e.g. --encoding gb18030 or latin-1"
    )
    table = read_table(path, encoding="latin-1")
    assert table.frame["town"].to_pylist() == ["Málaga", "Córdoba"]


@pytest.mark.parametrize(
    ("encoding", "content", "problem"),
    [
        ("punycode", b"a,b\n1,2\n", "is not punycode"),
        ("undefined", b"a,b\n1,2\n", "is not undefined"),
        ("utf-7", b"a,b\n+2AA-,2\n", "is not utf-7"),  # half of a character
        ("rot13", b"a,b\n1,2\n", "unknown encoding 'rot13'"),
        ("a\0b", b"a,b\n1,2\n", r"unknown encoding 'a\\x00b'"),
    ],
)
def test_encodings_that_fail(write, encoding, content, problem):
    with pytest.raises(TableFileError, match=problem) as caught:
        read_table(write(content), encoding=encoding)
    assert str(caught.value).startswith(str(write(content)))


def test_undecodable_byte_is_found_in_any_piece(monkeypatch):
    monkeypatch.setattr("sklearn_textbook.io.text_encoding._CHUNK", 4)
    text = "abc色泽d".encode()
    assert find_undecodable(text, "utf-8") is None
    for position in range(len(text) + 1):
        broken = text[:position] + b"\xff" + text[position:]
        with pytest.raises(UnicodeDecodeError) as caught:
            broken.decode()
        assert find_undecodable(broken, "utf-8") == caught.value.start


def test_packed_file(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert read_table(path).frame.to_pydict() == {"a": [1], "b": [2]}


def test_standard_input_is_read_once(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n2,y\n"))
    monkeypatch.setattr("sys.stdin", stream)
    table = read_table("-")
    assert table.frame.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
    assert table.find_line(1) == 3


def test_source_remembers_a_stream():
    assert TableSource("-", b"a\n1\n").read() == b"a\n1\n"


# ------------------------------------------------------------- types asked for
def test_text_stays_as_it_is_written(write):
    path = write("code,x\n007,1\n 08 ,2\n?,3\n")
    table = read_table(path, column_types={"code": "text"})
    assert table.frame["code"].to_pylist() == ["007", "08", None]
    table = read_table(path)
    assert table.frame["code"].to_pylist() == [7, 8, None]


def test_categories_are_in_the_order_of_their_numbers(write):
    path = write("size,name\n10,b\n9,a\n,c\n1.5,a\n")
    table = read_table(
        path, column_types={"size": "categorical", "name": "categorical"}
    )
    levels = {
        name: table.frame[name].combine_chunks().dictionary.to_pylist()
        for name in table.names
    }
    assert levels == {"size": ["1.5", "9", "10"], "name": ["a", "b", "c"]}
    assert table.column_kinds == {"size": "nominal", "name": "nominal"}
    assert table.frame["size"].to_pylist() == ["10", "9", None, "1.5"]


def test_numbers_of_other_columns(tmp_path):
    path = tmp_path / "table.parquet"
    frame = {"a": [1.0, None, 2.5], "b": ["3", "4", None], "c": [True, False, None]}
    parquet.write_table(pa.table(frame), path)
    table = read_table(
        path, column_types={"a": "categorical", "b": "numeric", "c": "numeric"}
    )
    assert table.frame.to_pydict() == {
        "a": ["1", None, "2.5"],
        "b": [3.0, 4.0, None],
        "c": [1, 0, None],
    }


def test_stray_text_is_pointed_out(write):
    path = write("age\n" + "".join(f"{i}\n" for i in range(30)) + "unknown\n")
    table = read_table(path)
    assert table.column_kinds == {"age": "nominal"}
    assert table.notes == (
        (
            "column 'age' is read as text because of 1 value such as 'unknown' (line "
            "32); if they represent missing values, list them in --missing-marks"
        ),
    )


def test_drop(write):
    table = read_table(write("a,b,c\n1,2,inf\n"), drop=["c"])
    assert table.names == ["a", "b"]


def test_unknown_names_can_be_ignored(write):
    path = write("a,b\n1,2\n")
    table = read_table(
        path, drop=["q"], column_types={"p": "text"}, unknown_names="ignore"
    )
    assert table.names == ["a", "b"]


# ---------------------------------------------------------------- what is refused
BAD_TEXTS = {
    "too_many.csv": (
        "a,b\n1,x\n2,3,4\n",
        (
            "line 3: the row has 3 values, but there are 2 columns; unexpected "
            "'4'; quote values that contain the comma"
        ),
    ),
    "too_few.csv": (
        'a,b,c\n"1\n",x,y\n\n2\n',
        "line 5: the row has 1 value, but there are 3 columns; no value for column 'b'",
    ),
    "open_quote.csv": (
        'a,b\n1,"x\n2,y\n',
        (
            "line 2: a quoted value is not closed; close the quotes, and write a "
            'quote inside a value as ""'
        ),
    ),
    "twice.csv": (
        "a,b,a\n1,2,3\n",
        (
            "line 1, column 'a': duplicate name of columns 1 and 3; column names "
            "must be unique"
        ),
    ),
    "header_only.csv": (
        "a,b\n",
        (
            "has a header ('a', 'b') but no rows; add rows, or use --no-header if the "
            "first line is a row"
        ),
    ),
    "empty.csv": ("", "is empty; a table has a header and rows"),
    "blank.csv": ("\n \n", "is empty; a table has a header and rows"),
    "infinite.csv": (
        "a,b\nx,1\ny,inf\n",
        (
            "line 3, column 'b': the value inf is infinite; give a finite number, or "
            "leave it empty if it is missing"
        ),
    ),
    "too_large.csv": (
        "a\n1e999\n",
        (
            "line 2, column 'a': the value inf is infinite; give a finite number, or "
            "leave it empty if it is missing"
        ),
    ),
    "zero_byte.csv": (
        "a,b\n1,\0\n",
        (
            "line 2: is not a text table (it contains a zero byte); use a csv, tsv, "
            "Parquet or ARFF file"
        ),
    ),
    "book.csv": (
        b"PK\x03\x04\x14\x00",
        (
            "is an Excel workbook or a zip archive, not a text table; save it as csv, "
            "Parquet (.parquet) or ARFF (.arff)"
        ),
    ),
    "text.parquet": (
        "a,b\n1,2\n3,4\n5,6\n",
        (
            "is damaged, or not a Parquet file (Parquet magic bytes not found in "
            "footer. Either the file is corrupted or this is not a parquet file.); "
            "write it again, or rename it to the ending of its format"
        ),
    ),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_bad_files(write, name):
    content, message = BAD_TEXTS[name]
    path = write(content, name)
    separator = ", " if message.startswith("line") else ": "
    assert refusal(path) == f"{name}{separator}{message}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"column_types": {"b": "numeric"}},
            (
                ", line 3, column 'b': 'y' is not a number; correct it, or leave it "
                "empty if it is missing"
            ),
        ),
        ({"drop": ["bb"]}, ": no column 'bb'; did you mean 'b'?"),
        (
            {"column_types": {"weight": "text"}},
            ": no column 'weight'; there are: 'a', 'b'",
        ),
        (
            {"encoding": "latin-99"},
            (
                ": unknown encoding 'latin-99'; use an encoding of Python, e.g. "
                "utf-8, gb18030, latin-1, cp1252"
            ),
        ),
        (
            {"encoding": "ascii"},
            (
                ", line 4: byte 0xC3 is not ascii; set the encoding of the file with "
                "--encoding"
            ),
        ),
    ],
)
def test_bad_requests(write, options, message):
    path = write("a,b\n1,2\n2,y\n3,ü\n")
    assert refusal(path, **options) == f"table.csv{message}"


def test_missing_file_and_folder(write, tmp_path):
    write("a\n1\n", "iris.csv")
    assert refusal(tmp_path / "irs.csv") == (
        "irs.csv: no such file; did you mean 'iris.csv'?"
    )
    assert refusal(tmp_path / "other.txt") == "other.txt: no such file"
    far = tmp_path / "none" / "x.csv"
    assert refusal(far).startswith("x.csv: no such file; the folder ")
    assert refusal(tmp_path).endswith(": is a folder; give the path of a file")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"column_types": {"a": "number"}}, "column_types"),
        (
            {"format": "xls"},
            (
                "format must be one of 'csv', 'arff', 'c45', 'excel', 'parquet', "
                "'feather', 'json', 'jsonl', got 'xls'"
            ),
        ),
        ({"delimiter": "中"}, "delimiter must be an ASCII character .* got '中'"),
        ({"delimiter": '"'}, "delimiter must be"),
        ({"delimiter": ";;"}, "delimiter must be"),
    ],
)
def test_wrong_arguments(write, option, message):
    with pytest.raises(ValueError, match=message):
        read_table(write("a\n1\n"), **option)


# -------------------------------------------------------------------- Parquet
def test_parquet_types(tmp_path):
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame(
        {
            "number": pd.array([1, None], dtype="Int64"),
            "category": pd.Categorical(["b", None], categories=["c", "b"]),
            "ordered": pd.Categorical(["b", "c"], categories=["c", "b"], ordered=True),
            "moment": pd.to_datetime(["2024-01-01", None]),
        },
        index=[7, 9],
    )
    frame.to_parquet(path)
    table = read_table(path)
    assert list(table.column_kinds.values()) == [
        "numeric",
        "nominal",
        "ordinal",
        "numeric",
    ]
    dictionary = table.frame["category"].combine_chunks().dictionary
    assert dictionary.to_pylist() == ["c", "b"]


def test_parquet_errors(tmp_path):
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"a": [1.0, np.inf], "b": [[1], [2]]}), path)
    assert refusal(path) == (
        "table.parquet, column 'a': row 2: the value inf is infinite; give a finite "
        "number, or leave it empty if it is missing"
    )
    assert refusal(path, drop=["a"]) == (
        "table.parquet, column 'b': values of type list<element: int64> are "
        "not supported; drop the column (--drop) or store numbers, text, booleans or "
        "dates"
    )
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    assert refusal(path) == "table.parquet: has no rows"


def test_error_keeps_its_parts_through_a_pickle():
    error = TableFileError("is odd", path="a.csv", line=3, column="x", remedy="fix it")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "a.csv, line 3, column 'x': is odd; fix it"
    assert (copy.line, copy.column, copy.remedy) == (3, "x", "fix it")


def test_a_column_dropped_twice_takes_no_other_with_it(write):
    path = write("a,b,c\n1,2,3\n4,5,6\n")
    assert read_table(path, drop=["a", "a"]).names == ["b", "c"]
