"""Writing tables as C4.5 files."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_textbook.io import (
    read_c45_costs,
    read_table,
    write_c45,
)
from tests.io.c45_cases import WORDS, levels_of


def make_categories(values, levels, ordered=False):
    codes = pa.array([v if v is None else levels.index(v) for v in values], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=ordered)


ODD_LEVELS = [
    "green",
    "two words",
    "St. Louis",
    "a,b",
    "12:30",
    "50%|",
    "back\\slash",
    "etc.",
    "1.5",
    "[ordered]",
    'it\'s "x"',
    "色泽",
    "continuous",
    ".",
]
MOMENTS = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(microsecond=0)
)


@given(
    names=st.lists(WORDS, min_size=7, max_size=7, unique=True),
    levels=st.lists(WORDS, min_size=2, max_size=5, unique=True),
    rows=st.lists(
        st.tuples(
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.sampled_from(ODD_LEVELS),
            st.none() | st.integers(0, 1),
            st.none() | MOMENTS,
            st.none() | WORDS,
            st.none() | st.sampled_from(ODD_LEVELS),
        ),
        min_size=1,
        max_size=6,
    ),
    named=st.booleans(),
)
def test_write_and_read_back(tmp_path_factory, names, levels, rows, named):
    number, level, code, moment, label, odd = (list(c) for c in zip(*rows, strict=True))
    columns = [
        pa.array(number, pa.float64()),
        make_categories(level, ODD_LEVELS),
        make_categories([v if v is None else levels[v] for v in code], levels, True),
        pa.array(moment, pa.timestamp("s")),
        pa.array([m if m is None else m.time() for m in moment], pa.time64("us")),
        pa.array(label, pa.string()),
        make_categories(odd, ODD_LEVELS[::-1]),
    ]
    frame = pa.table(dict(zip(names, columns, strict=True)))
    stem = tmp_path_factory.mktemp("c45") / "table"
    options = {"target": names[6], "label": names[5], "named_target": named}
    write_c45(frame, stem, **options)
    table = read_table(stem)
    if not named:
        assert table.target not in names[:6]
        names = [*names[:6], table.target]
    assert table.names == names
    assert list(table.frame.to_pydict().values()) == list(frame.to_pydict().values())
    assert (table.target, table.id_columns) == (names[6], (names[5],))
    assert levels_of(table, names[1]) == ODD_LEVELS
    assert levels_of(table, names[2]) == levels
    assert levels_of(table, names[6]) == ODD_LEVELS[::-1]
    kinds = [table.column_kinds[name] for name in names]
    assert kinds == [
        "numeric",
        "nominal",
        "ordinal",
        "numeric",
        "numeric",
        "nominal",
        "nominal",
    ]


def test_text_that_is_written(tmp_path):
    frame = pd.DataFrame(
        {
            "y": [True, False, True],
            "St. x:": pd.Categorical(["b.", None, "b."], categories=["c|", "b."]),
            "n": [1, 2, 3],
            "f": [0.1, np.nan, -0.5],
            "when": pd.to_datetime(
                ["2020-01-02 03:04:05", None, "2020-01-02 00:00:00"]
            ),
            "text": ["v", "u", None],
            "one": pd.Categorical(["only", None, "only"]),
            "none": [None, None, None],
        }
    )
    stem = tmp_path / "table"
    write_c45(frame, stem.with_suffix(".data"), target="y")
    assert stem.with_suffix(".names").read_text("utf-8") == (
        "false, true.\n\nSt\\. x\\:: c\\|, b\\..\nn: continuous.\nf: continuous.\n"
        "when: timestamp.\ntext: u, v.\none: discrete 1.\nnone: continuous.\n"
    )
    assert stem.with_suffix(".data").read_text("utf-8") == (
        "b\\.,1,0.1,2020-01-02 03:04:05,v,only,?,true\n"
        "?,2,?,?,u,?,?,false\n"
        "b\\.,3,-0.5,2020-01-02 00:00:00,?,only,?,true\n"
    )
    table = read_table(stem)
    assert table.frame["St. x:"].to_pylist() == ["b.", None, "b."]
    assert levels_of(table, "one") == ["only"]
    write_c45(frame, stem, target="y", named_target=True)
    assert (
        stem.with_suffix(".names")
        .read_text("utf-8")
        .startswith("y.\n\ny: false, true.\nSt\\. x\\:: ")
    )
    assert read_table(stem).names == list(frame.columns)


def test_frames_of_pandas_and_polars(tmp_path):
    columns = {"x": [1, 2], "c": ["v", "u"], "s": ["a b", "c"]}
    texts = []
    for frame in (
        pd.DataFrame(columns),
        pl.DataFrame(columns, schema_overrides={"c": pl.Categorical}),
    ):
        write_c45(frame, tmp_path / "table", target="s")
        texts.append((tmp_path / "table.names").read_text("utf-8"))
    assert texts == ["a b, c.\n\nx: continuous.\nc: u, v.\n"] * 2
    frame = pl.DataFrame(columns, schema_overrides={"c": pl.Enum(["v", "w", "u"])})
    write_c45(frame, tmp_path / "table", target="s")
    table = read_table(tmp_path / "table")
    assert levels_of(table, "c") == ["v", "w", "u"]
    assert table.column_kinds["c"] == "ordinal"


def test_numbered_classes(tmp_path):
    frame = pd.DataFrame({"y": [10, 9, 10], "x": [1, 2, 3]})
    write_c45(frame, tmp_path / "table", target="y")
    table = read_table(tmp_path / "table")
    assert levels_of(table, "class") == ["9", "10"]
    assert table.frame["class"].to_pylist() == ["10", "9", "10"]
    write_c45(frame, tmp_path / "table", target="y", named_target=True)
    assert read_table(tmp_path / "table").frame.to_pydict() == frame.to_dict("list")


def test_test_file(tmp_path):
    train = pd.DataFrame({"x": ["b", "a"], "n": [1, 2], "y": ["p", "q"]})
    test = pd.DataFrame({"y": ["q", "r"], "n": [0.5, None], "x": ["c", "a"]})
    write_c45(train, tmp_path / "t", target="y", test=test)
    data, table = read_table(tmp_path / "t"), read_table(tmp_path / "t.test")
    for file in (data, table):
        assert levels_of(file, "x") == ["a", "b", "c"]
        assert levels_of(file, "class") == ["p", "q", "r"]
    assert data.frame["class"].to_pylist() == ["p", "q"]
    assert table.frame.to_pydict() == {
        "x": ["c", "a"],
        "n": [0.5, None],
        "class": ["q", "r"],
    }
    with pytest.raises(ValueError, match="test: no column 'x'"):
        write_c45(train, tmp_path / "t", target="y", test=test.drop(columns="x"))
    with pytest.raises(ValueError, match="column 'n' is discrete, and continuous in"):
        write_c45(train, tmp_path / "t", target="y", test=test.assign(n="x"))


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"x": [1.0, np.inf]}, {}, "column 'x' has an infinite value"),
        ({"x": ["?", "a"]}, {}, "column 'x': '\\?' represents a missing value"),
        ({"x": ["", "a"]}, {}, "column 'x': '' is empty, or has line ends"),
        ({"x": ["a  b", "a"]}, {}, "column 'x': 'a  b' is empty, or has line ends"),
        ({"x": ["a\nb", "a"]}, {}, "has line ends or blanks other than single ones"),
        ({"x": ["a\r", "a"]}, {}, "has line ends or blanks other than single ones"),
        ({" x": [1, 2]}, {}, "column ' x': its name is empty, or has line ends"),
        ({"x": ["N/A", "N/A"]}, {}, "column 'x' has a single level, 'N/A'"),
        ({"x": ["N/A", "b"]}, {"label": "x"}, "'N/A' represents a missing value"),
        (
            {"x": pd.Categorical([None, None], categories=["a"])},
            {},
            "column 'x' has a single level, 'a', which can be declared only by a row",
        ),
        ({"x": pd.to_datetime([0, 10**6])}, {}, "column 'x' has fractions of a second"),
        ({"x": [1, 2]}, {"target": "z"}, "target: no column 'z'; there are: 'x', 'y'"),
        ({"x": [1, 2]}, {"label": "z"}, "label: no column 'z'"),
        ({"x": [1, 2]}, {"label": "y"}, "label: 'y' is the target"),
        (
            {"x": [1.5, 2]},
            {"target": "x"},
            "'x' has type double, which is not discrete: convert it to integers or cat",
        ),
        (
            {"x": ["a", "a"]},
            {"target": "x"},
            "'x' must be discrete with at least two levels, unless named",
        ),
        ({"x": [2**53 + 1, 1]}, {}, "'x' has the number 9007199254740993, which would"),
        ({"x": [-(2**53) - 1, 1]}, {"target": "x", "named_target": True}, "rounded"),
        ({"x": pd.Series([2**64 - 1, 1], dtype="uint64")}, {}, "has the number 18446"),
        ({"x": [Decimal("1234567890123456789.5"), 1]}, {}, "has the number 12345"),
    ],
)
def test_what_is_not_written(tmp_path, columns, options, message):
    frame = pd.DataFrame({**columns, "y": ["p", "q"]})
    with pytest.raises(ValueError, match=message):
        write_c45(frame, tmp_path / "table", **{"target": "y", **options})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, "a"], dtype=object),
        pd.Series(["a", 1], dtype=object),
        pd.Series([datetime.date(2020, 1, 1), "a"], dtype=object),
        pd.Series([2**70, 1], dtype=object),
        pd.Series([object(), None], dtype=object),
        pd.Categorical([1, "a"]),
        [1 + 2j, 1.0],
    ],
    ids=lambda values: str(list(values))[:12],
)
def test_columns_of_mixed_types_are_not_written(tmp_path, values):
    frame = pd.DataFrame({"n": [1, 2], "x": values, "y": ["p", "q"]})
    with pytest.raises(TypeError, match="column 'x' has type .* do not support"):
        write_c45(frame, tmp_path / "table", target="y")
    good = pd.DataFrame({"n": [1, 2], "x": [1, 2], "y": ["p", "q"]})
    with pytest.raises(TypeError, match="column 'x' has type .* do not support"):
        write_c45(good, tmp_path / "table", target="y", test=frame)
    assert not list(tmp_path.iterdir())


def test_long_integers_keep_their_digits(tmp_path):
    big = 2**53 + 1
    frame = pd.DataFrame(
        {"x": [2**60, -(2**53)], "key": [big, big + 2], "y": [big, big + 2]}
    )
    frame["c"] = frame["y"].astype("category")
    frame["d"] = [Decimal("0.10"), Decimal("2.50")]
    write_c45(frame, tmp_path / "table", target="y", label="key")
    table = read_table(tmp_path / "table").frame
    assert table["x"].to_pylist() == frame["x"].tolist()
    assert table["d"].to_pylist() == [0.1, 2.5]
    for name in ("key", "c", "class"):
        assert table[name].to_pylist() == [str(big), str(big + 2)]


@pytest.mark.parametrize("letter", list("\u00a0\u0085\u2028\u3000\x0b\x1c"))
def test_only_blanks_and_tabs_are_white_space(tmp_path, letter):
    levels = [letter, f"{letter}a", "b", f"b{letter}"]
    name = f"attributes{letter}included"
    frame = pa.table(
        {
            "x": make_categories(levels, levels, ordered=True),
            name: make_categories(levels, levels[::-1]),
            "y": make_categories(levels, levels),
        }
    )
    write_c45(frame, tmp_path / "table", target="y")
    table = read_table(tmp_path / "table")
    assert table.names == ["x", name, "class"]
    assert levels_of(table, "x") == levels
    assert levels_of(table, name) == levels[::-1]
    assert [column.to_pylist() for column in table.frame.columns] == [levels] * 3
    (tmp_path / "table.costs").write_text(f"{letter}, b: 7\n", "utf-8")
    assert read_c45_costs(tmp_path / "table")[2, 0] == 7.0
