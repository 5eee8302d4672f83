"""Amounts of money, percentages and dates as they are written: noted, and read."""

import datetime
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sklearn_textbook.io import TableFileError, read_table
from sklearn_textbook.io.date_formats import is_date_format

NUMERIC = {"column_types": {"a": "numeric"}}


@pytest.fixture
def read(tmp_path):
    """Read the values of a column called a."""

    def read_values(values, *, separator=",", **options):
        path = tmp_path / "table.csv"
        rows = [f'"{value}"{separator}{i}' for i, value in enumerate(values)]
        text = "\n".join([f"a{separator}b", *rows])
        path.write_text(text, encoding="utf-8")
        return read_table(path, **options)

    return read_values


def refusal(read, values, **options):
    with pytest.raises(TableFileError) as caught:
        read(values, **options)
    return str(caught.value).replace(f"{Path(caught.value.path).parent}/", "")


MONEY = ["$38,524.53", "$1,000", "$5", "($3.50)", "-$4", "$ -1.5"]
NUMBERS = {
    "money": (MONEY, "amounts of money", [38524.53, 1000, 5, -3.5, -4, -1.5]),
    "whole": (["$38,524", "$950", "$1"], "amounts of money", [38524, 950, 1]),
    "euros": (
        ["1.234.567,5 €", "12 €", "3,50€"],
        "amounts of money",
        [1234567.5, 12, 3.5],
    ),
    "some_signs": (["5", "$6", "$1.5", "$8"], "amounts of money", [5, 6, 1.5, 8]),
    "codes": (["USD 1,234.50", "USD 5", "USD 7"], "amounts of money", [1234.5, 5, 7]),
    "yuan": (["12元", "¥5", "7元"], "amounts of money", None),
    "percent": (["38.5%", "4 %", "-0.25%"], "percentages", [38.5, 4, -0.25]),
    "percent_comma": (
        ["38,125%", "4,125%", "2,5%"],
        "percentages",
        [38.125, 4.125, 2.5],
    ),
    "percent_three": (
        ["38.125%", "4.125%", "2.250%"],
        "percentages",
        [38.125, 4.125, 2.25],
    ),
    "thousands": (
        ["1,234", "950", "1,234,567", "2,000"],
        "numbers with thousands separators",
        [1234, 950, 1234567, 2000],
    ),
    "blanks": (
        ["1 234", "950 123", "12\u00a0345"],
        "numbers with thousands separators",
        [1234, 950123, 12345],
    ),
    "swiss": (
        ["1'234.50", "950'123.05", "12’345.00"],
        "numbers with thousands separators",
        [1234.5, 950123.05, 12345],
    ),
    "points": (
        ["1.234.567", "12.345.678", "12.345"],
        "numbers with thousands separators",
        [1234567, 12345678, 12345],
    ),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(read, case):
    values, what, numbers = NUMBERS[case]
    table = read(values)
    assert table.frame["a"].to_pylist() == values
    start = "column 'a' is read as text, but its values look like"
    (note,) = table.notes
    example = "$6" if case == "some_signs" else values[0]
    assert note.startswith(f"{start} {what}, such as {example!r}; ")
    assert note.endswith(
        "; column_types={'a': 'numeric'} (--numeric a) reads them as numbers"
    )
    if numbers is not None:
        table = read([*values, ""], **NUMERIC)
        assert table.frame["a"].to_pylist() == [*numbers, None]
        assert table.notes == ()
        assert table.column_kinds["a"] == "numeric"


@pytest.mark.parametrize(
    ("values", "unit"),
    [(MONEY, "$"), (["4%", "5％"], "%"), (["1,234.5", "3"], ""), (["5", "6"], "")],
)
def test_units(read, values, unit):
    assert read(values, **NUMERIC).units == ({"a": unit} if unit else {})


CODES = {
    "zip": ["10001-1234", "94103-2222", "60601-0001"],
    "phone": ["(555) 123-4567", "(555) 123-9999", "(555) 321-4567"],
    "points": ["555.123.4567", "555.123.9999", "555.321.4567"],
    "phone_groups": ["612 345 678", "612 345 679", "655 345 678"],
    "long_groups": ["612 345 678", "34 612 345 679", "655 345 678"],
    "number": ["123.456.789", "987.654.321", "123.456.780"],
    "version": ["1.2.3", "1.10.4", "2.0.31"],
    "identifier": ["A-17", "A-18", "B-2"],
    "order": ["2024-17", "2024-18", "2023-1"],
    "range": ["1-5", "6-10", "11-15"],
    "fraction": ["1/2", "3/4", "5/8"],
    "ticket": ["13/45/2024", "17/99/2024", "21/50/2024"],
    "social": ["123-45-6789", "987-65-4321", "111-22-3333"],
    "letters": ["5 USDX", "6 USDX", "7 USDX"],
    "words": ["red", "green", "blue"],
    "two": ["$5", "$6", "$5"],
    "half": ["$5", "$6", "$7", "$8", "red", "green", "blue", "white"],
    "some_percent": ["5%", "6", "7%", "8", "9%", "10"],
    "nine_tenths": [*(f"{i}%" for i in range(27)), "a", "b", "c"],
    "nine_dates": [*(f"9/{i + 1}/2024" for i in range(27)), "a", "b", "c"],
    "two_dates": ["9/21/2024", "9/22/2024", "9/21/2024"],
}


@pytest.mark.parametrize("case", CODES)
def test_codes_and_mixtures_are_text(read, case):
    table = read(CODES[case] * 3)
    assert table.frame["a"].to_pylist() == CODES[case] * 3
    assert table.notes == ()


def test_a_few_others_are_named(read):
    values = [f"{i}.5%" for i in range(30)]
    assert read([*values, "none"]).notes == (
        (
            "column 'a' is read as text, but its values look like percentages, such as "
            "'0.5%', except 1 value such as 'none' (line 32); column_types={'a': "
            "'numeric'} (--numeric a) reads them as numbers"
        ),
    )
    assert refusal(read, [*values, "none"], **NUMERIC) == (
        "table.csv, line 32, column 'a': 'none' is not a number; correct it, or leave "
        "it empty if it is missing; numbers may be written as in 1,234.5, $1,234.5 or "
        "38.5%"
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["$5", "$6", "€7"],
            (
                "line 4, column 'a': '€7' has the sign €, but '$5' has the sign $; "
                "write all numbers of the column in the same unit"
            ),
        ),
        (
            ["5%", "0.4"],
            "line 3, column 'a': '0.4' has no sign, but '5%' has",
        ),
        (["3", "5%"], "line 3, column 'a': '5%' has the sign %, but '3' has no sign;"),
        (
            ["1,234.5", "3", "1.234,5"],
            "line 4, column 'a': '1.234,5' is not a number with a decimal point; write",
        ),
        (["$5", "(5"], "line 3, column 'a': '(5' is not a number; write at most one"),
        (["$5", "$5 €"], "line 3, column 'a': '$5 €' is not a number; write at most"),
        (["5", "five"], "line 3, column 'a': 'five' is not a number; correct it, or"),
        (
            ["$1,23", "$5.5", "$6,25"],
            "line 3, column 'a': '$5.5' is not a number with a decimal comma; write",
        ),
    ],
)
def test_numbers_that_are_refused(read, values, message):
    said = refusal(read, values, **NUMERIC).removeprefix("table.csv, ")
    assert said.startswith(message)


# --------------------------------------------------------------- decimal mark
AMBIGUOUS = ["1,234", "12,500", "950", "2,000"]


def test_ambiguous_commas(read):
    table = read(AMBIGUOUS)
    assert table.frame["a"].to_pylist() == AMBIGUOUS
    assert table.notes == (
        (
            "column 'a' is read as text, but its values look like numbers with commas, "
            "such as '1,234'; column_types={'a': 'numeric'} (--numeric a) reads them "
            "as numbers, and decimal='.' or ',' (--decimal point or comma) tells which "
            "is the decimal mark"
        ),
    )
    assert refusal(read, AMBIGUOUS, **NUMERIC) == (
        "table.csv, line 2, column 'a': '1,234' has either a thousands separator or a "
        "decimal mark; give the decimal mark with decimal='.' or ',' (--decimal point "
        "or comma)"
    )
    points = read(AMBIGUOUS, decimal=".", **NUMERIC)
    assert points.frame["a"].to_pylist() == [1234, 12500, 950, 2000]
    for options in ({}, NUMERIC):
        commas = read(AMBIGUOUS, decimal=",", **options)
        assert commas.frame["a"].to_pylist() == [1.234, 12.5, 950, 2]
        # Where the comma is the decimal mark, values are separated by semicolons.
        commas = read(AMBIGUOUS, separator=";", **options)
        assert commas.frame["a"].to_pylist() == [1.234, 12.5, 950, 2]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_commas_that_are_not_ambiguous(read, separator):
    table = read(["1,234", "0,5", "1"], separator=separator)
    assert table.frame["a"].to_pylist() == [1.234, 0.5, 1]
    assert table.notes == ("column 'a': numbers with a decimal comma",)
    table = read(["1,234", "0,123", "1"], separator=separator)
    assert table.frame["a"].to_pylist() == [1.234, 0.123, 1]


def test_prices_with_three_decimals(read):
    values = ["$3.459", "$3.219", "$4.009"]
    assert "--decimal point or comma" in read(values).notes[0]
    assert "'$3.459' has either a thousands separator" in refusal(
        read, values, **NUMERIC
    )
    table = read(values, decimal=".", **NUMERIC)
    assert table.frame["a"].to_pylist() == [3.459, 3.219, 4.009]
    table = read(values, decimal=",", **NUMERIC)
    assert table.frame["a"].to_pylist() == [3459, 3219, 4009]


def test_decimal_of_all_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c;d\n1,5; 1.234;1.234;x\n2; 5;3;y\n")
    table = read_table(path, decimal=",", column_types={"c": "numeric"})
    assert table.frame.drop_columns(["d"]).to_pydict() == {
        "a": [1.5, 2],
        "b": ["1.234", "5"],  # not a number without column_types
        "c": [1234, 3],
    }
    table = read_table(path, decimal=".")
    assert table.frame["a"].to_pylist() == ["1,5", "2"]
    assert table.frame["c"].to_pylist() == [1.234, 3]


def test_wrong_decimal(read):
    with pytest.raises(ValueError, match=r"decimal must be '\.', ',' or None, got ';'"):
        read(["1"], decimal=";")


# ----------------------------------------------------------------------- dates
DATES = {
    "%m/%d/%Y": (["9/21/2024", "12/01/2023", "9/8/2024"], "month/day/year"),
    "%d/%m/%Y": (["21/9/2024", "1/12/2023", "8/9/2024"], "day/month/year"),
    "%d.%m.%Y": (["21.09.2024", "01.12.2023", "08.09.2024"], "day/month/year"),
    "%d-%m-%Y": (["21-09-2024", "01-12-2023", "08-09-2024"], "day/month/year"),
    "%d-%b-%Y": (["21-Sep-2024", "01-DEC-2023", "8-sep-2024"], "day/month/year"),
    "%B %d, %Y": (
        ["September 21, 2024", "December 1, 2023", "September 8, 2024"],
        "month/day/year",
    ),
    "%m/%d/%y": (["9/21/24", "12/01/23", "9/8/24"], "month/day/year"),
    "%Y/%m/%d": (["2024/09/21", "2023/12/1", "2024/9/8"], "year/month/day"),
    "%Y-%m-%d": (["2024-9-21", "2023-12-01", "2024-09-08"], "year/month/day"),
    "%Y年%m月%d日": (
        ["2024年9月21日", "2023年12月1日", "2024年9月8日"],
        "year/month/day",
    ),
}
DAYS = [
    datetime.date(2024, 9, 21),
    datetime.date(2023, 12, 1),
    datetime.date(2024, 9, 8),
]


@pytest.mark.parametrize("date_format", DATES)
def test_dates(read, date_format):
    values, what = DATES[date_format]
    table = read(values)
    assert table.frame["a"].to_pylist() == values
    (note,) = table.notes
    assert note.startswith(
        f"column 'a' is read as text, but its values look like dates ({what}), such as "
        f"{values[0]!r}; column_types={{'a': {date_format!r}}} (--date "
    )
    assert f"a={date_format}" in note
    table = read(["", *values], column_types={"a": date_format})
    assert table.frame["a"].to_pylist() == [None, *DAYS]
    assert table.frame["a"].type == pa.date32()
    assert table.notes == ()


@pytest.mark.parametrize(
    ("values", "date_format", "last"),
    [
        (
            ["9/21/2024 2:30 PM", "9/22/2024 12:00 AM", "9/23/2024 12:05 pm"],
            "%m/%d/%Y %I:%M %p",
            datetime.datetime(2024, 9, 23, 12, 5),
        ),
        (
            ["21.09.2024 14:30:05", "22.09.2024 0:00:00", "23.09.2024 09:00:01"],
            "%d.%m.%Y %H:%M:%S",
            datetime.datetime(2024, 9, 23, 9, 0, 1),
        ),
        (
            ["21.09.2024 14:30:05.5", "22.09.2024 0:00:00.0", "23.09.2024 9:00:01.25"],
            "%d.%m.%Y %H:%M:%S.%f",
            datetime.datetime(2024, 9, 23, 9, 0, 1, 250_000),
        ),
    ],
)
def test_dates_with_times(read, values, date_format, last):
    assert f"and time), such as {values[0]!r}; " in read(values).notes[0]
    assert f"column_types={{'a': {date_format!r}}}" in read(values).notes[0]
    table = read(values, column_types={"a": date_format})
    assert table.frame["a"].to_pylist()[-1] == last


def test_zones_become_utc(read):
    values = ["21.09.2024 14:30 +0200"]
    table = read(values, column_types={"a": "%d.%m.%Y %H:%M %z"})
    assert table.frame["a"].to_pylist() == [datetime.datetime(2024, 9, 21, 12, 30)]


def test_ambiguous_dates(read):
    assert read(["9/8/2024", "12/1/2023", "1/1/2024"]).notes == (
        (
            "column 'a' is read as text, but its values look like ambiguous dates "
            "(month/day/year or day/month/year, as no day is later than the 12th), "
            "such as '9/8/2024'; column_types={'a': '%m/%d/%Y'} or column_types={'a': "
            "'%d/%m/%Y'} (--date a=%m/%d/%Y or --date a=%d/%m/%Y) reads them as dates"
        ),
    )
    # May is written alike in both spellings of months, which is not ambiguous.
    (note,) = read(["May 1, 2024", "May 2, 2024", "May 3, 2024"]).notes
    assert "look like dates (month/day/year)" in note


def test_a_late_day_settles_the_order(read):
    values = [f"{month}/{day}/2024" for month in range(1, 13) for day in range(1, 13)]
    assert "ambiguous" in read(values).notes[0]
    assert "dates (day/month/year)" in read([*values, "13/1/2024"]).notes[0]
    assert "dates (month/day/year)" in read([*values, "1/13/2024"]).notes[0]


def test_iso_dates_with_a_word(read):
    values = [f"2024-09-{day:02}" for day in range(1, 31)]
    (note,) = read([*values, "unknown"]).notes
    assert "except 1 value such as 'unknown' (line 32); column_types={'a': '%Y-" in note
    types = {"a": "%Y-%m-%d"}
    assert refusal(read, [*values, "unknown"], column_types=types) == (
        "table.csv, line 32, column 'a': 'unknown' is not a date of the format "
        "'%Y-%m-%d'; correct it, or leave it empty if it is missing"
    )
    table = read([*values, "unknown"], column_types=types, missing_marks=["unknown"])
    assert table.frame["a"].null_count == 1


def test_days_that_do_not_exist(read):
    types = {"a": "%d/%m/%Y"}
    said = refusal(read, ["28/2/2024", "30/2/2024"], column_types=types)
    assert "line 3, column 'a': '30/2/2024' is not a date of the format" in said


def test_numbers_that_are_dates(tmp_path):
    path = tmp_path / "t.parquet"
    frame = {"day": [20240921, None], "when": [datetime.date(2024, 9, 21), None]}
    parquet.write_table(pa.table(frame), path)
    types = {"day": "%Y%m%d", "when": "%m/%d/%Y"}
    table = read_table(path, column_types=types)
    assert table.frame["day"].to_pylist() == [datetime.date(2024, 9, 21), None]
    # What is a date already stays one.
    assert table.frame["when"].to_pylist() == frame["when"]
    (tmp_path / "t.csv").write_text("day,x\n20240921,1\n")
    table = read_table(tmp_path / "t.csv", column_types={"day": "%Y%m%d"})
    assert table.frame["day"].to_pylist() == [datetime.date(2024, 9, 21)]


@pytest.mark.parametrize(
    "text", ["m/d/y", "%m/%d", "%H:%M", "%Y-%Q", "%Y %Y", "%Y%", "", None, 3]
)
def test_formats_that_are_none(read, text):
    assert not is_date_format(text)
    if text is not None:
        with pytest.raises(ValueError, match="a format of dates such as '%m/%d/%Y'"):
            read(["x"], column_types={"a": text})


# ------------------------------------------------------------- other formats
@pytest.mark.parametrize("ending", ["parquet", "json", "arff", "xlsx"])
def test_other_files(tmp_path, ending):
    values = {"price": MONEY, "sold": [f"9/{day}/2024" for day in range(20, 26)]}
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        parquet.write_table(pa.table(values), path)
    elif ending == "json":
        path.write_text(json.dumps(pa.table(values).to_pylist()))
    elif ending == "arff":
        rows = "".join(f"'{a}','{b}'\n" for a, b in zip(*values.values(), strict=True))
        path.write_text(
            f"@attribute price string\n@attribute sold string\n@data\n{rows}"
        )
    else:
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [list(values), *zip(*values.values(), strict=True)]:
            book.active.append(row)
        book.save(path)
    table = read_table(path)
    assert ["money" in note or "dates (m" in note for note in table.notes] == [True] * 2
    types = {"price": "numeric", "sold": "%m/%d/%Y"}
    table = read_table(path, column_types=types)
    assert table.notes == ()
    assert table.frame["price"].to_pylist() == NUMBERS["money"][2]
    assert table.frame["sold"][1].as_py() == datetime.date(2024, 9, 21)


def test_declared_columns_have_no_note(read):
    for wish in ("text", "categorical", MONEY):
        assert read(MONEY, column_types={"a": wish}).notes == ()
    assert read(MONEY, drop=["a"]).notes == ()


def test_names_are_quoted_for_the_shell(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("unit price,x\n$5,1\n$6,2\n$7,3\n")
    assert "(--numeric 'unit price')" in read_table(path).notes[0]


def test_plain_text_is_not_searched(monkeypatch, read):
    """Few values of a column without signs are looked at."""
    looked_at = []

    def note_text(text):
        looked_at.append(text)
        return False

    monkeypatch.setattr("sklearn_textbook.io.format_notes.is_number_text", note_text)
    monkeypatch.setattr("sklearn_textbook.io.format_notes._Levels", None)
    assert read([f"id {i}" for i in range(5000)]).notes == ()
    assert 0 < len(looked_at) <= 20
