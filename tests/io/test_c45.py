"""The files of C4.5: typed reading, exact errors, writing that reads back equal."""

import datetime
import gzip
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_textbook.datasets import load_play_tennis
from sklearn_textbook.io import (
    TableFileError,
    read_c45_costs,
    read_table,
    write_c45,
)
from sklearn_textbook.io.c45 import read_names
from sklearn_textbook.io.c45_rows import CaseRows
from sklearn_textbook.io.c45_syntax import read_word, scan_entries, write_word
from sklearn_textbook.tree.encode import read_training_table
from tests.io.c45_cases import WORDS, levels_of

DATA = Path(__file__).parents[1] / "data"
GOLF = DATA / "golf"

NAMES = """\
| all that C4.5 knows
good, bad.
size: continuous   | a period may be left out at the end of a line
colour: green, St\\. Louis blue,
        1.5, a\\, b.
"""
CASES = "1.5, green, good\n"


@pytest.fixture
def write(tmp_path):
    """Write a .names and a .data file and give their common path."""

    def write_files(names, cases=CASES, ending=".data", encoding="utf-8"):
        for text, end in ((names, ".names"), (cases, ending)):
            (tmp_path / f"table{end}").write_bytes(text.encode(encoding))
        return tmp_path / "table"

    return write_files


def refusal(path, **options):
    """The message of the error, without the folder of the file."""
    with pytest.raises(TableFileError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{path.parent}/", "")


# --------------------------------------------------------------------- golf
@pytest.mark.parametrize("path", ["golf", "golf.names", "golf.data"])
def test_golf(path):
    table = read_table(DATA / path)
    assert (table.format, table.layout) == ("c45", "C4.5, golf.names")
    assert (table.path, table.target) == (str(DATA / "golf.data"), "class")
    assert table.names == ["outlook", "temperature", "humidity", "windy", "class"]
    assert levels_of(table, "outlook") == ["sunny", "overcast", "rain"]
    assert levels_of(table, "windy") == ["true", "false"]
    assert levels_of(table, "class") == ["Play", "Don't Play"]
    assert (table.notes, table.id_columns, table.find_line(13)) == ((), (), 14)
    X, y = load_play_tennis("golf", return_X_y=True)
    features = table.frame.drop_columns(["class"]).to_pydict()
    assert list(zip(*features.values(), strict=True)) == [tuple(row) for row in X]
    plays = {"Play": "yes", "Don't Play": "no"}
    assert [plays[label] for label in table.frame["class"].to_pylist()] == list(y)


def test_golf_for_trees():
    _, schema = read_training_table(read_table(GOLF).frame)
    assert schema.kinds == ("nominal", "numeric", "numeric", "nominal", "nominal")
    assert schema.columns[0].levels == ("sunny", "overcast", "rain")
    assert schema.columns[4].levels == ("Play", "Don't Play")
    categories = read_table(GOLF).frame.to_pandas()["windy"].cat.categories
    assert list(categories) == ["true", "false"]


def test_which_files_are_read(tmp_path):
    shutil.copy(DATA / "golf.names", tmp_path)
    for ending, value in ((".data", 1), (".test", 2), (".cases", 3)):
        case = f"rain,{value},0,true,Play\n"
        (tmp_path / f"golf{ending}").write_text(case, encoding="utf-8")
    for name, value in [("golf", 1), ("golf.names", 1), ("golf.data", 1)]:
        assert read_table(tmp_path / name).frame["temperature"].to_pylist() == [value]
    for name, value in [("golf.test", 2), ("golf.cases", 3)]:
        assert read_table(tmp_path / name).frame["temperature"].to_pylist() == [value]
    packed = gzip.compress((tmp_path / "golf.data").read_bytes())
    (tmp_path / "golf.data").unlink()
    (tmp_path / "golf.data.gz").write_bytes(packed)
    for name in ("golf", "golf.names", "golf.data.gz"):
        assert read_table(tmp_path / name).n_rows == 1
    # A path of its own that exists is read as it stands; a folder is none.
    (tmp_path / "golf").mkdir()
    assert read_table(tmp_path / "golf").format == "c45"
    (tmp_path / "golf").rmdir()
    (tmp_path / "golf").write_text("a,b\n1,2\n", encoding="utf-8")
    assert read_table(tmp_path / "golf").format == "csv"
    assert read_table(tmp_path / "golf", format="c45").format == "c45"


def test_data_without_names_is_csv(tmp_path):
    path = tmp_path / "iris.data"
    path.write_text("5.1,setosa\n4.9,setosa\n", encoding="utf-8")
    assert read_table(path).format == "csv"
    assert refusal(path, format="c45") == (
        "iris.data: has no .names file in the same folder; C4.5 declares the columns "
        "in a file with this ending"
    )
    # Names that are prose say what to do; the reader can be told as well.
    path.with_suffix(".names").write_text("1. Title: Iris Plants\n", encoding="utf-8")
    assert refusal(path) == (
        "iris.names, line 1, column 'Title': 'Iris Plants' is neither a type nor a "
        "list of levels; write name: and continuous, discrete N, ignore, "
        "label, date, time, timestamp or at least two levels; if iris.names only "
        "describes the table, rename iris.data to iris.csv"
    )
    assert read_table(path, format="csv").format == "csv"


def test_missing_files(tmp_path):
    shutil.copy(DATA / "golf.names", tmp_path)
    assert refusal(tmp_path / "golf") == "golf.data: no such file"
    assert refusal(tmp_path / "gulf.names") == (
        "gulf.names: no such file; did you mean 'golf.names'?"
    )


# ------------------------------------------------------------------- syntax
def test_names_comments_and_escapes(write):
    path = write(
        NAMES,
        "| a comment\n"
        "1.5, green, good.\n\n"
        "-2e3,St\\.   Louis\tblue , bad | another\n"
        "?,a\\, b,good\n"
        " +1 ,1.5,?.\n",
    )
    table = read_table(path)
    assert table.frame.to_pydict() == {
        "size": [1.5, -2000.0, None, 1.0],
        "colour": ["green", "St. Louis blue", "a, b", "1.5"],
        "class": ["good", "bad", "good", None],
    }
    assert levels_of(table, "colour") == ["green", "St. Louis blue", "1.5", "a, b"]
    assert [table.find_line(row) for row in range(5)] == [2, 4, 5, 6, None]


def test_entries():
    text = (
        "a, b.c. d e:\n  x,\n  y\\: z. f: continuous\n"
        "g\\.: 1, 2.5. h := (f + 1) / 2.5\n  > 3.\nattributes included: g\\."
    )
    entries = list(scan_entries(text))
    assert [(e.line, e.head, e.words, e.end) for e in entries] == [
        (1, None, ("a", "b.c"), "."),
        (1, "d e", ("x", "y\\: z"), "."),
        (3, "f", ("continuous",), "\n"),
        (4, "g\\.", ("1", "2.5"), "."),
        (4, "h ", (), ""),
        (6, "attributes included", ("g\\.",), ""),
    ]
    assert entries[4].expression == "(f + 1) / 2.5 > 3"


@given(st.lists(WORDS, min_size=1))
def test_escapes_come_off_again(words):
    raw = [write_word(word) for word in words]
    assert [read_word(word) for word in raw] == words
    (entry,) = scan_entries(f"{raw[0]}: {', '.join(raw)}.\n")
    assert read_word(entry.head) == words[0]
    assert [read_word(word) for word in entry.words] == words


def test_plain_and_exact_reading_agree():
    parser = read_names(str(DATA / "golf.names"))
    text = (DATA / "golf.data").read_bytes()
    text = text.replace(b"y\n", b"y .\n", 3).replace(b"Don't Play", b"Don't\t  Play")
    text = b"|1x3 validator\n\n" + text.replace(b"85", b"?") + b"rain,,1, true,?. | x"
    rows = CaseRows("golf.data", parser.attributes, text)
    plain, exact = rows._read_plain(), rows._read_exact()
    assert [c.to_pylist() for c in plain] == [c.to_pylist() for c in exact]
    assert len(plain[0]) == 15


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "1.5", "x.y", "?"]), st.text("a. ,|\\\n\t\r")
        ),
        max_size=4,
    )
)
def test_any_text_is_read_alike_or_refused(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("c45") / "table"
    path.with_suffix(".names").write_text("y, n\na: label\n", encoding="utf-8")
    text = "".join(f"{a},{b}\n" for a, b in rows)
    path.with_suffix(".data").write_text(text, encoding="utf-8", newline="")
    parser = read_names(f"{path}.names")
    rows = CaseRows("t", parser.attributes, path.with_suffix(".data").read_bytes())
    try:
        exact = [column.to_pylist() for column in rows._read_exact()]
    except TableFileError:
        exact = None
    try:
        plain = rows._read_plain()
    except pa.ArrowInvalid:
        plain = None
    if plain is not None and b"\r" not in rows.text:
        assert [column.to_pylist() for column in plain] == exact


# -------------------------------------------------------------------- types
def test_all_types(write):
    path = write(
        "kind.\n"
        "id: label.\nsize: [ordered] small, middle, large.\nwhen: date.\nat: time.\n"
        "moment: timestamp.\nkind: a, b, c.\nword: discrete 3.\nother: ignore.\n",
        "c-7, large, 2020/01/31, 10:20:30, 2020-01-02 03:04:05, b, z, anything\n"
        "c-8, small, 2020-02-01, 00:00:00, 2020/01/02 03:04:06, a, y, ?\n"
        "?, ?, ?, ?, ?, ?, ?, ?\n"
        "c-9, middle, 1999-12-31, 23:59:59, 1999-12-31 00:00:00, a, z, 1\n",
    )
    table = read_table(path)
    assert table.frame.to_pydict() == {
        "id": ["c-7", "c-8", None, "c-9"],
        "size": ["large", "small", None, "middle"],
        "when": [
            datetime.date(2020, 1, 31),
            datetime.date(2020, 2, 1),
            None,
            datetime.date(1999, 12, 31),
        ],
        "at": [
            datetime.time(10, 20, 30),
            datetime.time(0),
            None,
            datetime.time(23, 59, 59),
        ],
        "moment": [
            datetime.datetime(2020, 1, 2, 3, 4, 5),
            datetime.datetime(2020, 1, 2, 3, 4, 6),
            None,
            datetime.datetime(1999, 12, 31),
        ],
        "kind": ["b", "a", None, "a"],
        "word": ["z", "y", None, "z"],
    }
    assert levels_of(table, "kind") == ["a", "b", "c"]
    assert levels_of(table, "word") == ["z", "y"]
    assert table.column_kinds["size"] == "ordinal"
    assert (table.target, table.id_columns) == ("kind", ("id",))
    assert table.notes == ("left out as table.names says: 'other'",)
    _, schema = read_training_table(table.frame)
    assert dict(zip(schema.names, schema.kinds, strict=True)) == table.column_kinds
    dropped = read_table(path, drop=["kind", "id"])
    assert (dropped.target, dropped.id_columns) == (None, ())


def test_loosely_written_moments(write):
    path = write(
        "y.\nd: date.\nm: timestamp.\ny: a, b.\n", "2020/1/2,1999-1-2 3:04:05,a\n"
    )
    assert read_table(path).frame.to_pylist()[0] == {
        "d": datetime.date(2020, 1, 2),
        "m": datetime.datetime(1999, 1, 2, 3, 4, 5),
        "y": "a",
    }


def test_values_that_do_not_apply(write):
    names = "y, n.\nx: continuous.\nc: a, b.\nd: N/A, a, b.\n"
    table = read_table(write(names, "N/A,N/A,N/A,y\n1,a,a,n\n2,N/A,b,y\n"))
    assert table.frame.to_pydict() == {
        "x": [None, 1.0, 2.0],
        "c": [None, "a", None],
        "d": ["N/A", "a", "b"],
        "class": ["y", "n", "y"],
    }
    assert table.notes == (
        "column 'x': 1 value N/A (not applicable) read as missing",
        "column 'c': 2 values N/A (not applicable) read as missing",
    )


def test_class_has_a_name_of_its_own(write):
    path = write("y, n.\nclass: a, b.\nclass_2: a, b.\n", "a,b,y\n")
    table = read_table(path)
    assert (table.names, table.target) == (["class", "class_2", "class_3"], "class_3")


def test_numeric_target(write):
    names = "price.\nprice: continuous.\nrooms: continuous.\n"
    table = read_table(write(names, "1.5,2\n2.5,3\n"))
    assert (table.target, table.column_kinds["price"]) == ("price", "numeric")
    table = read_table(
        write("price: 1.5, 20\n" + names[7:], "1.5,2\n20.5,3\n9,1\n?,1\n")
    )
    assert table.frame["price"].to_pylist() == [
        "price <= 1.5",
        "price > 20",
        "1.5 < price <= 20",
        None,
    ]
    assert len(levels_of(table, "price")) == 3


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        ("included: b, c.", ["b", "c", "d"]),
        ("excluded: a,\n  b.", ["c", "d"]),
        ("included: a, d", ["a", "d"]),
        ("excluded: d.", ["a", "b", "c", "d"]),
    ],
)
def test_selected_attributes(write, selection, names):
    declared = "".join(f"{name}: 0, 1.\n" for name in "abcd")
    table = read_table(write(f"d.\n{declared}attributes {selection}\n", "0,1,0,1\n"))
    assert table.names == names
    (note,) = table.notes or ("",)
    assert all(repr(n) in note for n in set("abcd") - set(names))


def test_case_weights_are_told(write):
    path = write("y, n.\ncase weight: continuous.\n", "2,y\n1,n\n")
    (note,) = read_table(path).notes
    assert note == (
        "column 'case weight' is the weight of the cases in C5.0; here it is an "
        "ordinary column"
    )


def test_levels_of_the_test_file_follow_those_of_the_data(write):
    names = "y, n.\nx: discrete 3.\n"
    write(names, "b,y\na,n\n")
    path = write(names, "c,y\na,n\n", ending=".test").with_suffix(".test")
    table = read_table(path)
    assert levels_of(table, "x") == ["b", "a", "c"]
    assert table.frame["x"].to_pylist() == ["c", "a"]
    path.with_suffix(".data").unlink()
    assert levels_of(read_table(path), "x") == ["c", "a"]


def test_types_asked_for(write):
    path = write("y, n.\nx: 1, 2.\nz: continuous.\n", "2,1.0,y\n1,7,n\n")
    table = read_table(path, column_types={"x": "numeric", "z": "categorical"})
    assert table.frame["x"].to_pylist() == [2.0, 1.0]
    assert levels_of(table, "z") == ["1", "7"]


# ---------------------------------------------------------------- encodings
SIMPLIFIED = "是, 否.\r\n色泽: 青绿, 乌黑, 浅白.\r\n", "乌黑,是\r\n青绿,否.\r\n"
TRADITIONAL = "是, 否.\n色澤: 青綠, 烏黑.\n", "烏黑,是\n青綠,否\n"


@pytest.mark.parametrize(
    ("texts", "encoding", "options"),
    [
        (SIMPLIFIED, "utf-8", {}),
        (SIMPLIFIED, "utf-8-sig", {}),
        (SIMPLIFIED, "utf-16", {}),
        (SIMPLIFIED, "gb18030", {}),
        (TRADITIONAL, "big5", {"encoding": "big5"}),
    ],
)
def test_encodings(write, texts, encoding, options):
    path = write(*texts, encoding=encoding)
    table = read_table(path, **options)
    assert table.frame["class"].to_pylist() == ["是", "否"]
    assert table.names[0] in ("色泽", "色澤")
    assert table.frame[table.names[0]].to_pylist()[1] in ("青绿", "青綠")


def test_files_may_differ_in_their_encoding(write):
    path = write(*SIMPLIFIED, encoding="gb18030")
    path.with_suffix(".names").write_text(SIMPLIFIED[0], encoding="utf-8")
    assert read_table(path).frame["色泽"].to_pylist() == ["乌黑", "青绿"]
    path.with_suffix(".data").write_bytes(b"\xe9,x\n")
    assert refusal(path).startswith("table.data, line 1: byte 0xE9 is not UTF-8")


# ------------------------------------------------------------------- errors
TYPES = (
    "write name: and continuous, discrete N, ignore, label, date, time, timestamp or "
    "at "
    "least two levels"
)
CLASSES = (
    "begin the file with the classes, as in yes, no. or with the name of the attribute "
    "that is the class"
)
BAD_NAMES = {
    "": f", line 1: is empty; {CLASSES}",
    "| only a comment\n": f", line 1: is empty; {CLASSES}",
    "y, n.\n": f", line 1: no attribute is declared; {TYPES}",
    "x: a, b.\ny: c, d.\n": (
        ", line 1: the first entry is the declaration of 'x'; there are no classes "
        f"before it; {CLASSES}"
    ),
    "play.\n\noutlook: a, b.\nplays: c, d.\n": (
        ", line 1: the first entry, 'play', is neither a list of classes nor the name "
        "of "
        "an attribute; did you mean 'plays'?"
    ),
    "x.\nx: ignore.\ny: a, b.\n": (
        ", line 1, column 'x': the class is declared as ignore; declare its levels"
    ),
    "x: 1, 2.\nx: a, b.\n": (
        ", line 1, column 'x': the class has thresholds, but is not continuous; "
        "declare "
        "it as continuous, or write its name without thresholds"
    ),
    "x: 2, 1.\nx: continuous.\n": (
        ", line 1, column 'x': the thresholds of the class do not increase; write them "
        "in ascending order"
    ),
    "y, n.\nx: a, b.\nlength\nz: a, b.\n": (
        f", line 3: 'length' has no type; {TYPES}; a comma at the end of a line "
        "continues a list"
    ),
    "y, n.\nx: numeric.\n": (
        ", line 2, column 'x': 'numeric' is neither a type nor a list of levels; "
        f"{TYPES}"
    ),
    "y, n.\nx: a, b.\nratio := x / 2.5\n  + 1.\n": (
        ", line 3, column 'ratio': is defined by the formula 'x / 2.5 + 1', which is "
        "not "
        "supported; compute it, and write its values into the data"
    ),
    "y, n.\nx: a, b.\nx: c, d.\n": (
        ", line 3, column 'x': is declared twice; attribute names must be unique"
    ),
    "y, n.\nx: a,\n   b,\n a.\n": (
        ", line 2, column 'x': level 'a' is declared twice; levels must be unique"
    ),
    "y, n, y.\nx: a, b.\n": (
        ", line 1, column 'class': level 'y' is declared twice; levels must be unique"
    ),
    "y, n.\nx: a,, b.\n": (
        ", line 2: a name or a value is missing; write one value between two commas, "
        "and "
        "none after the last"
    ),
    "y, n.\nx: 12:30, 14.\n": (
        ", line 2: a colon after '12', inside a list; write \\: inside a name, and end "
        "an entry with a period"
    ),
    "y, n.\n: a, b.\n": f", line 2: an attribute without a name; {TYPES}",
    "y, n.\nx: [ordered], a.\n": (
        f", line 2, column 'x': no level after [ordered]; {TYPES}"
    ),
    "y, n.\nsize: a, b.\nattributes excluded: sise.\n": (
        ", line 3: no attribute 'sise' to be excluded; did you mean 'size'?"
    ),
}


@pytest.mark.parametrize("names", BAD_NAMES)
def test_bad_names(write, names):
    assert refusal(write(names)) == f"table.names{BAD_NAMES[names]}"


BAD_CASES = {
    "1, green, good\n\n2, green\n": (
        ", line 3: the case has 2 values, but 3 columns are declared, including "
        "the class; no value for 'class'; write ? if it is missing"
    ),
    "1, green, good, | x\n": (
        ", line 1: the case has 4 values, but 3 columns are declared, including "
        "the class; unexpected ''; write \\, for a comma inside a value"
    ),
    "1, green, good\n1, a, b, good\n": (
        ", line 2: the case has 4 values, but 3 columns are declared, including "
        "the class; unexpected 'good'; write \\, for a comma inside a value"
    ),
    "| x\n1, green, good\n1, red, bad\n": (
        ", line 3, column 'colour': 'red' is not a declared level; the declared "
        "levels are 'green', 'St. Louis blue', '1.5', 'a, b'"
    ),
    "1, green, good\n1, green, ugly.\n": (
        ", line 2, column 'class': 'ugly' is not a declared level; the declared "
        "levels are 'good', "
        "'bad'"
    ),
    "1, green, good\nlarge, green, bad\n": (
        ", line 2, column 'size': 'large' is not a number; write a number, or ? if it "
        "is "
        "missing"
    ),
    "1_000, green, good\n": (
        ", line 1, column 'size': '1_000' is not a number; write a number, or ? if it "
        "is "
        "missing"
    ),
    "1, green, good\ninf, green, bad\n": (
        ", line 2, column 'size': the value inf is infinite; give a finite number, or "
        "leave it empty if it is missing"
    ),
    "| nothing\n": (
        ": has no cases; write one case per line, its values separated by commas"
    ),
    "": ": has no cases; write one case per line, its values separated by commas",
}


@pytest.mark.parametrize("cases", BAD_CASES)
def test_bad_cases(write, cases):
    path = write(NAMES, cases)
    assert refusal(path) == f"table.data{BAD_CASES[cases]}"
    # With an escape the exact reader reads all of the cases, and finds the same.
    if BAD_CASES[cases].startswith(", line"):
        message = refusal(write(NAMES, "1, a\\, b, good\n" + cases))
        line = int(re.search(r"line (\d+)", BAD_CASES[cases])[1])
        expected = BAD_CASES[cases].replace(f"line {line}", f"line {line + 1}", 1)
        assert message == f"table.data{expected}"


def test_bad_moments_and_surplus_levels(write):
    names = "y, n.\nd: date.\nt: time.\nx: discrete 2.\n"
    assert refusal(write(names, "2020/01/02,?,a,y\n2020/02/30,?,a,y\n")) == (
        "table.data, line 2, column 'd': '2020/02/30' is not a date; write it as "
        "YYYY-MM-DD "
        "or YYYY/MM/DD, or ? if it is missing"
    )
    assert refusal(write(names, "?,noon,a,y\n")) == (
        "table.data, line 1, column 't': 'noon' is not a time; write it as HH:MM:SS, "
        "or ? if it is missing"
    )
    assert refusal(write(names, "?,?,a,y\n?,?,b,n\n?,?,?,n\n?,?,c,n\n")) == (
        "table.data, line 4, column 'x': 'c' is level number 3, and discrete 2 is "
        "declared; the levels before it are 'a', 'b'"
    )


def test_lists_are_not_written(tmp_path):
    frame = pa.table({"x": [[1], [2]], "y": ["a", "b"]})
    with pytest.raises(TypeError, match="column 'x' has type list.*do not support"):
        write_c45(frame, tmp_path / "table", target="y")


@pytest.mark.parametrize("value", ["green", "a\\, b"])
def test_big_files_are_read_fast(write, value):
    n_rows = 100_000 if value == "green" else 20_000
    numbers = np.random.default_rng(0).normal(size=n_rows).tolist()
    cases = "".join(f"{number!r}, {value}, good.\n" for number in numbers)
    path = write(NAMES, cases)
    start = time.perf_counter()
    table = read_table(path)
    assert time.perf_counter() - start < 2
    assert table.frame["size"].to_pylist() == numbers
    assert table.frame["colour"][-1].as_py() == value.replace("\\", "")


# -------------------------------------------------------------------- costs
def test_costs(write, tmp_path):
    stem = write("low, high, St\\. Louis.\nx: a, b.\n")
    (tmp_path / "table.costs").write_text(
        "| predicted, true: cost\nlow, high: 10.\n\nSt\\. Louis, low: 0.5 | half\n",
        encoding="utf-8",
    )
    expected = [[0, 1, 0.5], [10, 0, 1], [1, 1, 0]]
    for path in (stem, stem.with_suffix(".costs")):
        assert read_c45_costs(path).tolist() == expected
    classes = sorted(["low", "high", "St. Louis"])
    costs = read_c45_costs(stem, classes)
    assert costs[classes.index("high"), classes.index("low")] == 10


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("low: 3", "'low: 3' is not a cost; write predicted class, true class: cost"),
        ("low, hihg: 3", "unknown class 'hihg'; did you mean 'high'?"),
        (
            "low, high: much",
            "'much' is not a cost of 'low' for 'high'; costs must be numbers",
        ),
        (
            "low, high: -1",
            "'-1' is not a cost of 'low' for 'high'; costs must be numbers",
        ),
        ("low, low: 1", "'1' is not a cost of 'low' for 'low'; costs must be numbers"),
    ],
)
def test_bad_costs(write, tmp_path, line, message):
    stem = write("low, high.\nx: a, b.\n")
    (tmp_path / "table.costs").write_text(f"high, low: 2\n{line}\n", encoding="utf-8")
    with pytest.raises(TableFileError) as caught:
        read_c45_costs(stem)
    assert str(caught.value).startswith(f"{stem}.costs, line 2: {message}")


def test_costs_without_classes(write, tmp_path):
    (tmp_path / "other.costs").write_text("a, b: 2\n", encoding="utf-8")
    with pytest.raises(
        TableFileError, match=r"no \.names file in the same folder that lists"
    ):
        read_c45_costs(tmp_path / "other")
    stem = write("x.\nx: discrete 3.\n")
    (tmp_path / "table.costs").write_text("a, b: 2\n", encoding="utf-8")
    with pytest.raises(
        TableFileError, match=r"table\.names: does not list the classes"
    ):
        read_c45_costs(stem)
