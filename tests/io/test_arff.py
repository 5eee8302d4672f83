"""ARFF files: typed reading, exact errors, and writing that reads back equal."""

import datetime
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_textbook.io import TableFileError, read_table, write_arff
from sklearn_textbook.io.arff_rows import DataRows
from sklearn_textbook.io.arff_syntax import (
    quote,
    strip_comment,
    translate_date_pattern,
    unquote,
)
from sklearn_textbook.tree import CARTClassifier
from sklearn_textbook.tree.encode import read_training_table

#: Where Debian's package weka has its library.
LIBRARY = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))
WEATHER = Path(__file__).parents[1] / "data" / "weather.arff"

HEADER = """% made by hand
@RELATION 'two words'
@attribute temp REAL
@Attribute\toutlook {sunny, 'over cast' ,rainy} % three
@attribute "my note" string
@attribute when date "yyyy-MM-dd HH:mm"

@DATA
"""
FIRST_LINE = HEADER.count("\n") + 1


@pytest.fixture
def read(tmp_path):
    """Read text as an ARFF file."""

    def read_text(text):
        path = tmp_path / "table.arff"
        path.write_text(text, encoding="utf-8")
        return read_table(path)

    return read_text


def levels_of(table, name):
    return table.frame[name].combine_chunks().dictionary.to_pylist()


def test_weather():
    table = read_table(WEATHER)
    assert table.layout == "ARFF, relation 'play tennis'"
    assert (table.format, table.n_rows, table.n_columns) == ("arff", 14, 5)
    assert levels_of(table, "outlook") == ["sunny", "overcast", "rainy"]
    assert levels_of(table, "play") == ["yes", "no"]
    assert table.frame["temperature"].to_pylist()[:3] == [85.0, 80.0, 83.0]
    assert table.column_kinds["windy"] == "nominal"


def test_declared_order_reaches_the_tree(read):
    head = "@relation r\n@attribute size {large,none,small}\n@attribute y {yes,no}\n"
    table = read(f"{head}@data\nsmall,no\nlarge,yes\nsmall,yes\n")
    assert levels_of(table, "y") == ["yes", "no"]
    _, schema = read_training_table(table.frame)
    assert schema.columns[0].levels == ("large", "none", "small")
    tree = CARTClassifier(categorical_split="multiway")
    tree.fit(table.frame.drop_columns(["y"]), table.frame["y"].to_pylist())
    assert tree.schema_.columns[0].levels == ("large", "none", "small")
    assert tree.tree_.nodes["n_samples"].tolist() == [3, 1, 0, 2]
    categories = table.frame.to_pandas()["size"].cat.categories
    assert list(categories) == ["large", "none", "small"]


def test_numbers_of_python_are_none(read):
    with pytest.raises(TableFileError, match="line 3, column 'a': '1_000' is not a"):
        read("@attribute a numeric\n@data\n1_000\n")
    assert read("@attribute a numeric\n@data\n+1\nnan\n").frame["a"].to_pylist() == [
        1.0,
        None,
    ]


def test_all_types_quotes_comments_and_missing_values(read):
    table = read(
        HEADER
        + "1.5, sunny, 'it\\'s, ok', '2020-01-02 03:04'\n"
        + "% a remark\n\n"
        + "?,\"over cast\",'?',?   % the quoted mark is a text\n"
        + '-2e3\trainy\tplain\t"2021-12-31 23:59"\n'
    )
    assert table.frame.to_pydict() == {
        "temp": [1.5, None, -2000.0],
        "outlook": ["sunny", "over cast", "rainy"],
        "my note": ["it's, ok", "?", "plain"],
        "when": [
            datetime.datetime(2020, 1, 2, 3, 4),
            None,
            datetime.datetime(2021, 12, 31, 23, 59),
        ],
    }
    assert levels_of(table, "outlook") == ["sunny", "over cast", "rainy"]
    lines = [table.find_line(row) for row in range(4)]
    assert lines == [FIRST_LINE, FIRST_LINE + 3, FIRST_LINE + 4, None]


def test_sparse_rows(read):
    table = read(HEADER + "{0 2, 2 'x, y'}\n{1 rainy, 3 ?}\n{}\n{ 1 'over cast' }\n")
    assert table.frame.to_pydict() == {
        "temp": [2.0, 0.0, 0.0, 0.0],
        "outlook": ["sunny", "rainy", "sunny", "over cast"],
        "my note": ["x, y", None, None, None],
        "when": [None] * 4,
    }


def test_blanks_separate_where_there_is_no_comma(read):
    table = read(
        "@relation r\n@attribute a {x,y}\n@attribute b numeric\n@data\nx 1\ny\t2\n"
    )
    assert table.frame.to_pydict() == {"a": ["x", "y"], "b": [1.0, 2.0]}


def test_plain_and_exact_reading_agree():
    text = WEATHER.read_bytes()
    body = text[text.index(b"@data\n") + 6 :]
    attributes = _attributes_of_weather()
    rows = DataRows("weather.arff", attributes, body, 9)
    plain, exact = rows._read_plain(), rows._read_exact()
    assert [c.to_pylist() for c in plain] == [c.to_pylist() for c in exact]


def _attributes_of_weather():
    from sklearn_textbook.io.arff_header import HeaderParser

    parser = HeaderParser("weather.arff")
    parser.read(WEATHER.read_bytes())
    return parser.attributes


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        (
            "1,sunny,x,?\n\n2,cloudy,x,?\n",
            2,
            (
                ", column 'outlook': 'cloudy' is not a declared level; the declared "
                "levels are 'sunny', 'over cast', 'rainy'"
            ),
        ),
        (
            "1,sunny\n",
            0,
            (
                ": the row has 2 values, but 4 attributes are declared; quote values "
                "that contain a comma or a blank, and write ? for "
                "missing values"
            ),
        ),
        (
            "1,sunny,x,?\nwarm,sunny,x,?\n",
            1,
            (
                ", column 'temp': 'warm' is not a number; write a number, or ? if it "
                "is missing"
            ),
        ),
        (
            "1,sunny,x,2020-01-02\n",
            0,
            (
                ", column 'when': '2020-01-02' does not follow the date pattern "
                "yyyy-MM-dd HH:mm; write the date in this format, or ? if it is missing"
            ),
        ),
        (
            "1,sunny,x,?,{much}\n",
            0,
            (
                ": the weight {much} is not a number >= 0; write the weight of the row "
                "as in sunny,85,{2}"
            ),
        ),
        (
            "{0 1},{-2}\n",
            0,
            (
                ": the weight {-2} is not a number >= 0; write the weight of the row "
                "as in sunny,85,{2}"
            ),
        ),
        (
            "{0 1}, 2\n",
            0,
            (
                ": unexpected '2' after the sparse row; write the weight of a row as "
                "in {0 1.5, 3 yes}, {2}"
            ),
        ),
        (
            "1,'sun,x,?\n",
            0,
            (
                ": the quote before 'sun' is not closed; close it, and write a "
                "quote inside a value as \\'"
            ),
        ),
        ("{0 1\n", 0, ": the sparse row is not closed; end it with }"),
        (
            "{1 rainy, 0 2}\n",
            0,
            (
                ": '0 2' does not begin with the number of an attribute from 2 to 3 "
                "and its value; write {0 1.5, 3 yes}, with attributes counted from 0"
            ),
        ),
        (
            "{7 1}\n",
            0,
            (
                ": '7 1' does not begin with the number of an attribute from 0 to 3 "
                "and its value; write {0 1.5, 3 yes}, with attributes counted from 0"
            ),
        ),
        (
            "inf,sunny,x,?\n",
            0,
            (
                ", column 'temp': the value inf is infinite; give a finite number, or "
                "leave it empty if it is missing"
            ),
        ),
        ("", -1, ": no row after @data; add rows"),
    ],
)
def test_bad_rows(read, rows, line, message):
    with pytest.raises(TableFileError) as caught:
        read(HEADER + rows)
    assert caught.value.line == FIRST_LINE + line
    place = f"table.arff, line {FIRST_LINE + line}"
    assert str(caught.value).endswith(place + message)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a,b\n1,2\n", 1, "'a,b' is neither @relation, @attribute nor @data"),
        ("@relation r\n@attribute a numeric\n", 2, "the file ends without @data"),
        ("@relation r\n@data\n1\n", 2, "no @attribute before @data"),
        (
            "@attribute a {x,y\n@data\nx\n",
            1,
            "the levels of attribute 'a' cannot be read",
        ),
        (
            "@attribute a {x,y,x}\n@data\nx\n",
            1,
            "level 'x' of attribute 'a' is declared",
        ),
        ("@attribute a {x} {5}\n@data\nx\n", 1, "unexpected '{5}' after the levels"),
        (
            "@attribute a real {5}\n@data\n1\n",
            1,
            "attribute 'a' has a weight, which is",
        ),
        (
            "@attribute a real b\n@data\n1\n",
            1,
            "unexpected 'b' after the type of attribute",
        ),
        (
            "@attribute a relational\n@data\n1\n",
            1,
            "attribute 'a' is relational, which",
        ),
        (
            "@attribute a number\n@data\n1\n",
            1,
            "unknown type 'number' of attribute 'a'",
        ),
        ("@attribute a\n@data\n1\n", 1, "the type of attribute 'a' is missing"),
        ("@attribute 'a numeric\n@data\n", 1, "the attribute's name is missing or"),
        (
            "@attribute a date 'w'\n@data\n1\n",
            1,
            "attribute 'a': 'w' in the date pattern",
        ),
        (
            "@attribute a real\n@attribute a real\n@data\n1,1\n",
            2,
            "attribute 'a' is declared twice",
        ),
    ],
)
def test_bad_headers(read, text, line, problem):
    with pytest.raises(TableFileError) as caught:
        read(text)
    assert caught.value.line == line
    assert caught.value.problem.startswith(problem)


def test_date_patterns():
    assert translate_date_pattern("d MMM yy, h:mm a") == "%d %b %y, %I:%M %p"
    assert translate_date_pattern("yyyy''MM'%'") == "%Y'%m%%"
    with pytest.raises(ValueError, match="not closed"):
        translate_date_pattern("yyyy'T")


def test_date_with_a_zone_becomes_utc(read):
    text = '@attribute a date "yyyy-MM-dd HH:mm Z"\n@data\n"2020-01-01 08:00 +0800"\n'
    assert read(text).frame["a"].to_pylist() == [datetime.datetime(2020, 1, 1)]


def test_comments():
    assert strip_comment("a, 'x % y' % z") == "a, 'x % y' "
    assert strip_comment("50%,b") == "50%,b"
    assert strip_comment("% all") == ""


@pytest.mark.parametrize(
    "tail", ["[0,10]", " [ 0.5 , 1e3 ]", "(0, inf)", "[-1,+2] % both ends"]
)
def test_ranges_of_numbers(read, tail):
    text = f"@attribute a REAL {tail}\n@attribute b integer [1,2]\n@data\n-3,7\n"
    assert read(text).frame.to_pydict() == {"a": [-3.0], "b": [7.0]}


WEIGHTED = """@attribute x numeric
@attribute y {a, b, '{2}'}
@data
1, a, {2}
2, b
3, '{2}' {0.5}
{0 4, 1 b}, {0}
?,,\t{3} % a comment
"""


def test_weights_of_rows(read):
    table = read(WEIGHTED)
    assert table.weight == "weight"
    assert table.notes == ("the weights of the rows are the column 'weight'",)
    assert table.frame.to_pydict() == {
        "x": [1.0, 2.0, 3.0, 4.0, None],
        "y": ["a", "b", "{2}", "b", None],
        "weight": [2.0, 1.0, 0.5, 0.0, 3.0],
    }
    assert read("@attribute a numeric\n@data\n1\n").weight is None


def test_weights_beside_an_attribute_of_their_name(read):
    table = read("@attribute weight numeric\n@data\n1,{2}\n3\n")
    assert table.frame.to_pydict() == {"weight": [1.0, 3.0], "row_weight": [2.0, 1.0]}
    assert table.weight == "row_weight"


def test_weights_that_are_dropped(folder):
    path = folder / "weighted.arff"
    path.write_text(WEIGHTED)
    table = read_table(path, drop=["weight"])
    assert (table.names, table.weight) == (["x", "y"], None)


# --------------------------------------------------------------------- writing
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t"))
)
def test_quotes_come_off_again(text):
    word = quote(text)
    assert unquote(word) == text
    assert "\n" not in word


LEVELS = [
    "green",
    "two words",
    "it's",
    'a"b',
    "back\\slash",
    "50%",
    "{x}",
    "?",
    "",
    "色泽",
]


@given(
    st.lists(
        st.tuples(
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.sampled_from(LEVELS),
            st.none() | st.sampled_from([*LEVELS, "a,b", "line\nbreak", "@data"]),
            st.none()
            | st.datetimes(
                datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)
            ).map(lambda moment: moment.replace(microsecond=0)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_write_and_read_back(folder, rows):
    number, level, text, moment = (list(column) for column in zip(*rows, strict=True))
    codes = pa.array([v if v is None else LEVELS.index(v) for v in level], pa.int32())
    frame = pa.table(
        {
            "a number": pa.array(number, pa.float64()),
            "level": pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS)),
            "it's text": pa.array(text, pa.string()),
            "moment": pa.array(moment, pa.timestamp("ms")),
        }
    )
    path = folder / "table.arff"
    write_arff(frame, path, relation="it's 50%")
    table = read_table(path)
    assert table.layout == 'ARFF, relation "it\'s 50%"'
    assert table.frame.to_pydict() == frame.to_pydict()
    assert levels_of(table, "level") == LEVELS


def test_write_frames_of_pandas_and_polars(tmp_path):
    path = tmp_path / "table.arff"
    columns = {"x": [1, 2], "yes": [True, False], "s": ["a b", "c"]}
    texts = []
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        write_arff(frame, path)
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    assert "@attribute yes {false, true}\n@attribute s {'a b', c}" in texts[0]
    assert texts[0].endswith("@data\n1,true,'a b'\n2,false,c\n")
    assert read_table(path).column_kinds["x"] == "numeric"


def test_texts_are_levels_so_that_weka_reads_them(tmp_path):
    if shutil.which("java") is None or not LIBRARY.exists():
        pytest.skip("requires java and Weka (Debian: default-jre-headless weka)")
    frame = pa.table(
        {
            "text": ["it's", 'a "b"', "50%", "a,b", "{c}", "?", "\\ back", "红"] * 4,
            "none": pa.nulls(32, pa.string()),
            "class": ["yes", "no"] * 16,
        }
    )
    path = tmp_path / "table.arff"
    write_arff(frame, path)
    assert read_table(path).frame.to_pydict() == frame.to_pydict()
    run = ["java", "-cp", LIBRARY, "weka.classifiers.trees.J48"]
    options = ("-t", path, "-no-cv", "-M", "1", "-U")
    done = subprocess.run([*run, *options], capture_output=True, text=True)
    assert done.stderr == ""
    assert re.search(r"Correctly Classified Instances +32 ", done.stdout)


def test_write_refuses_lists(tmp_path):
    with pytest.raises(TypeError, match="column 'a' has type list"):
        write_arff(pa.table({"a": [[1], [2]]}), tmp_path / "table.arff")


def test_long_file_with_an_error_at_its_end(read):
    # The plain reader fails on it, and the exact one finds the line.
    values = np.arange(2000).astype(str).tolist()
    text = "@attribute a numeric\n@data\n" + "\n".join([*values, "x"]) + "\n"
    with pytest.raises(TableFileError, match="line 2003, column 'a': 'x' is not"):
        read(text)
