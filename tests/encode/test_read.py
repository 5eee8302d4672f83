"""Reading training tables: containers, column kinds, levels, missing values."""

import datetime
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_textbook.tree.encode import (
    NOMINAL,
    NUMERIC,
    ORDINAL,
    TableSchema,
    encode_table,
    read_training_table,
)

DAY = 86400.0
NAN = np.nan


def read_column(X, **options):
    """Numbers and schema of a table of one column, its contract checked on the way."""
    matrix, schema = read_training_table(X, **options)
    assert TableSchema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    # Reading the training table again gives the same matrix.
    assert_array_equal(schema.read(X), dense)
    (column,) = schema.columns
    return dense[:, 0], column


def make_frame(library, **columns):
    """A frame of one of the three libraries."""
    if library == "pandas":
        return pd.DataFrame(columns)
    frame = pl.DataFrame(columns, strict=False)
    return frame.to_arrow() if library == "pyarrow" else frame


LIBRARIES = ["pandas", "polars", "pyarrow"]


# ------------------------------------------------------------------ plain arrays
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_float_arrays_come_back_as_themselves(dtype, order):
    X = np.array([[1, 2], [3, NAN]], dtype=dtype, order=order)
    matrix, schema = read_training_table(X)
    assert matrix is X
    assert schema.read(X) is X
    assert schema.kinds == (NUMERIC, NUMERIC)
    assert schema.names == ("x0", "x1")
    assert not schema.has_names
    assert_array_equal(schema.n_levels, [0, 0])


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "i8", "u8", "?", "f2", "g", ">f8", ">i4", ">f4"]
)
def test_other_numbers_become_float64(dtype):
    X = np.array([[0, 1], [1, 0]], dtype=dtype)
    matrix, schema = read_training_table(X)
    assert matrix.dtype == np.float64
    assert matrix.dtype.isnative
    assert_array_equal(matrix, [[0, 1], [1, 0]])
    assert schema.columns[0].source == ("boolean" if dtype == "?" else "number")
    assert_array_equal(schema.read(X), matrix)


def test_unaligned_array():
    records = np.zeros(3, dtype=[("pad", "i1"), ("X", "f8", (2,))])
    records["X"] = [[1, 2], [3, 4], [5, 6]]
    X = records["X"]
    assert not X.flags.aligned
    matrix, schema = read_training_table(X)
    assert_array_equal(encode_table(matrix, schema).column_values(1), [2, 4, 6])


def test_masked_entries_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    matrix, _ = read_training_table(X)
    assert_array_equal(matrix, [[1, NAN], [3, 4]])
    words = np.ma.array([["a"], ["b"], ["c"]], mask=[[False], [True], [False]])
    numbers, column = read_column(words)
    assert_array_equal(numbers, [0, NAN, 1])
    assert column.levels == ("a", "c")


@pytest.mark.parametrize(
    "X",
    [
        np.array([["b"], ["a"], ["b"]]),
        np.array([[b"b"], [b"a"], [b"b"]]),
        np.array([["b"], ["a"], ["b"]], dtype=object),
        np.array([["b"], ["a"], ["b"]], dtype=np.dtypes.StringDType()),
        [["b"], ["a"], ["b"]],
        [("b",), ("a",), (np.str_("b"),)],
    ],
)
def test_strings_are_nominal(X):
    numbers, column = read_column(X)
    assert_array_equal(numbers, [1, 0, 1])
    assert (column.kind, column.levels) == (NOMINAL, ("a", "b"))
    assert column.source == "string"
    assert all(type(level) is str for level in column.levels)


def test_lists_keep_the_type_of_every_column():
    X = [[1, "a", True, None], [2.5, "b", False, None]]
    matrix, schema = read_training_table(X)
    assert schema.kinds == (NUMERIC, NOMINAL, NUMERIC, NUMERIC)
    sources = [column.source for column in schema.columns]
    assert sources == ["number", "string", "boolean", "null"]
    assert_array_equal(matrix, [[1, 0, 1, NAN], [2.5, 1, 0, NAN]])


# ------------------------------------------------------------------ objects
@pytest.mark.parametrize(
    "missing", [None, NAN, pd.NA, pd.NaT, np.float32(NAN), decimal.Decimal("nan")]
)
def test_missing_objects(missing):
    numbers, column = read_column(np.array([[1], [missing], [2.5]], dtype=object))
    assert_array_equal(numbers, [1, NAN, 2.5])
    assert (column.kind, column.source) == (NUMERIC, "number")
    numbers, column = read_column(np.array([["b"], [missing], ["a"]], dtype=object))
    assert_array_equal(numbers, [1, NAN, 0])
    assert column.levels == ("a", "b")
    _, column = read_column(np.array([[True], [missing], [False]], dtype=object))
    assert (column.kind, column.source) == (NUMERIC, "boolean")


def test_objects_that_are_all_numbers_are_numeric():
    values = [1, 2.5, True, np.int8(3), np.float32(0.5), decimal.Decimal("1.5")]
    numbers, column = read_column(np.array(values, dtype=object)[:, np.newaxis])
    assert_array_equal(numbers, [1, 2.5, 1, 3, 0.5, 1.5])
    assert (column.kind, column.source) == (NUMERIC, "number")


def test_mixed_levels_do_not_depend_on_the_order_of_the_rows():
    values = ["b", 2, 1.0, "a", True, 1, np.float64(0.5), "10"]
    expected = (0.5, 1, 2, "10", "a", "b")
    for shift in range(len(values)):
        turned = values[shift:] + values[:shift]
        numbers, column = read_column(np.array(turned, dtype=object)[:, np.newaxis])
        assert column.levels == expected
        assert [type(level) for level in column.levels] == [
            float,
            int,
            int,
            str,
            str,
            str,
        ]
        assert [expected[int(code)] for code in numbers] == turned
        assert column.source == "mixed"


def test_large_integers():
    X = np.array([[2**53 + 1, 2**53]]).T
    numbers, _ = read_column(X)
    assert numbers[0] == numbers[1]  # float64 does not tell them apart
    numbers, column = read_column(X, categorical_features=[0])
    assert column.levels == (2**53, 2**53 + 1)
    assert_array_equal(numbers, [1, 0])


# ------------------------------------------------------------------ frames
@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_of_a_frame(library):
    frame = make_frame(
        library,
        integer=[1, 2],
        number=[0.5, NAN],
        boolean=[True, False],
    )
    matrix, schema = read_training_table(frame)
    assert schema.names == ("integer", "number", "boolean")
    assert schema.has_names
    assert schema.kinds == (NUMERIC,) * 3
    assert matrix.dtype == np.float64
    assert matrix.flags.f_contiguous
    assert_array_equal(matrix, [[1, 0.5, 1], [2, NAN, 0]])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_frame_of_one_float_type(library, dtype):
    frame = make_frame(library, a=np.array([1, 2], dtype), b=np.array([3, NAN], dtype))
    matrix, schema = read_training_table(frame)
    assert_array_equal(matrix, [[1, 3], [2, NAN]])
    assert_array_equal(schema.read(frame), matrix)
    encode_table(matrix, schema)


@pytest.mark.parametrize("library", LIBRARIES)
def test_nulls_of_a_frame(library):
    frame = pl.DataFrame(
        {
            "integer": [1, None],
            "boolean": [None, True],
            "number": [None, NAN],
            "string": ["a", None],
            "decimal": [decimal.Decimal("1.5"), None],
            "nothing": [None, None],
        }
    ).to_arrow()
    if library == "polars":
        frame = pl.from_arrow(frame)
    elif library == "pandas":
        frame = frame.to_pandas(types_mapper=pd.ArrowDtype)
    matrix, schema = read_training_table(frame)
    assert schema.kinds == (*[NUMERIC] * 3, NOMINAL, NUMERIC, NUMERIC)
    expected = [[1, NAN, NAN, 0, 1.5, NAN], [NAN, 1, NAN, NAN, NAN, NAN]]
    assert_array_equal(matrix, expected)
    assert_array_equal(schema.read(frame), expected)


def test_nullable_types_of_pandas():
    frame = pd.DataFrame(
        {
            "Int64": pd.array([1, None], dtype="Int64"),
            "Float32": pd.array([1.5, None], dtype="Float32"),
            "boolean": pd.array([True, None], dtype="boolean"),
            "string": pd.array(["a", None], dtype="string"),
            "object": pd.Series([1, pd.NA], dtype=object),
            "sparse": pd.arrays.SparseArray([0.0, NAN]),
        }
    )
    matrix, schema = read_training_table(frame)
    assert_array_equal(matrix, [[1, 1.5, 1, 0, 1, 0], [NAN] * 6])
    assert schema.columns[3].levels == ("a",)
    all_float = frame[["Float32"]]
    assert_array_equal(read_training_table(all_float)[0], [[1.5], [NAN]])


def test_declared_categories_are_levels_without_rows_too():
    series = pd.Categorical(["b", None, "a"], categories=["c", "b", "a"])
    numbers, column = read_column(pd.DataFrame({"x": series}))
    assert (column.kind, column.levels) == (NOMINAL, ("c", "b", "a"))
    assert column.source == "category"
    assert_array_equal(numbers, [1, NAN, 2])
    dictionary = pa.DictionaryArray.from_arrays([1, None, 2], ["c", "b", "a"])
    numbers, column = read_column(pa.table({"x": dictionary}))
    assert (column.kind, column.levels) == (NOMINAL, ("c", "b", "a"))
    assert_array_equal(numbers, [1, NAN, 2])
    arrow = pd.Series(pd.array(["b", None], dtype=pd.ArrowDtype(dictionary.type)))
    numbers, column = read_column(arrow.to_frame("x"))
    assert (column.kind, column.levels) == (NOMINAL, ("b",))
    assert_array_equal(numbers, [0, NAN])


def test_dictionaries_of_several_chunks_are_unified():
    chunks = [
        pa.DictionaryArray.from_arrays([0, 1], ["a", "b"]),
        pa.DictionaryArray.from_arrays([0, 1, 2, None], ["b", None, "c"]),
    ]
    numbers, column = read_column(pa.table({"x": pa.chunked_array(chunks)}))
    assert column.levels == ("a", "b", "c")
    assert_array_equal(numbers, [0, 1, 1, NAN, 2, NAN])


def test_categories_of_polars_are_those_present():
    # polars shares one list of categories among all frames of a process.
    pl.Series(["other"], dtype=pl.Categorical)
    series = pl.Series("x", ["b", "a", None], dtype=pl.Categorical)
    numbers, column = read_column(series.to_frame())
    assert (column.kind, column.levels) == (NOMINAL, ("a", "b"))
    assert_array_equal(numbers, [1, 0, NAN])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(
            {"x": pd.Categorical(["high", None, "low"], ["low", "mid", "high"], True)}
        ),
        pl.DataFrame(
            {"x": ["high", None, "low"]}, schema={"x": pl.Enum(["low", "mid", "high"])}
        ),
        pl.DataFrame(
            {"x": ["high", None, "low"]}, schema={"x": pl.Enum(["low", "mid", "high"])}
        ).to_arrow(),
    ],
    ids=LIBRARIES,
)
@pytest.mark.parametrize("categorical_features", ["from_dtype", [True], ["x"]])
def test_ordered_categories_are_ordinal(frame, categorical_features):
    numbers, column = read_column(frame, categorical_features=categorical_features)
    assert (column.kind, column.levels) == (ORDINAL, ("low", "mid", "high"))
    assert_array_equal(numbers, [2, NAN, 0])


def test_categories_that_are_no_strings():
    numbers, column = read_column(pd.DataFrame({"x": pd.Categorical([3, 1, 3])}))
    assert column.levels == (1, 3)
    assert_array_equal(numbers, [1, 0, 1])
    binned = pd.cut([1, 9, 4], [0, 5, 10])
    numbers, column = read_column(pd.DataFrame({"x": binned}))
    assert (column.kind, column.levels) == (ORDINAL, ("(0, 5]", "(5, 10]"))
    assert_array_equal(numbers, [0, 1, 0])


# ------------------------------------------------------------------ dates
@pytest.mark.parametrize("library", LIBRARIES)
def test_dates_are_seconds_since_1970(library):
    moment = datetime.datetime(1970, 1, 2, 0, 0, 1, 500000)
    zone = datetime.timezone(datetime.timedelta(hours=8))
    frame = make_frame(
        library,
        moment=[moment, None],
        before=[datetime.datetime(1969, 12, 31), None],
        date=[datetime.date(1970, 1, 3), None],
        duration=[datetime.timedelta(hours=1), None],
        time=[datetime.time(0, 1), None],
        zoned=[datetime.datetime(1970, 1, 2, 8, tzinfo=zone), None],
    )
    matrix, schema = read_training_table(frame)
    assert_array_equal(matrix[0], [DAY + 1.5, -DAY, 2 * DAY, 3600, 60, DAY])
    assert np.isnan(matrix[1]).all()
    assert schema.kinds == (NUMERIC,) * 6
    sources = [column.source for column in schema.columns]
    assert sources == ["date", "date", "date", "duration", "time", "date"]
    assert_array_equal(schema.read(frame), matrix)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_unit_of_a_date_does_not_matter(unit):
    text = ["2024-02-29T12:34:56", "1912-06-23", "NaT"]
    if unit != "s":
        text[0] += ".789"
    reference = np.array(text, dtype="M8[ms]").astype(np.int64) / 1e3
    reference[2] = NAN
    X = np.array(text, dtype=f"M8[{unit}]")[:, np.newaxis]
    numbers, column = read_column(X)
    assert_array_equal(numbers, reference)
    assert column.source == "date"
    numbers, _ = read_column(X.astype(object) if unit == "us" else X)
    assert_array_equal(numbers, reference)


def test_nanoseconds_and_coarse_units():
    moments = np.array([["1970-01-01T00:00:00.000000250"], ["1969-12-31"]], "M8[ns]")
    numbers, _ = read_column(moments)
    assert_array_equal(numbers, [2.5e-7, -DAY])
    numbers, _ = read_column(np.array([["1971"], ["1970"]], dtype="M8[Y]"))
    assert_array_equal(numbers, [365 * DAY, 0])
    numbers, column = read_column(np.array([[2], [-1]], dtype="m8[h]"))
    assert_array_equal(numbers, [7200, -3600])
    assert column.source == "duration"


def test_values_in_words():
    date, duration, time, number, level, declared = (
        read_training_table(pd.DataFrame({"x": values}), categorical_features=c)[1]
        .columns[0]
        .format_value
        for values, c in [
            (pd.to_datetime(["2024-01-01"]), "from_dtype"),
            (pd.to_timedelta([1], unit="s"), "from_dtype"),
            ([datetime.time(1)], "from_dtype"),
            ([1.0], "from_dtype"),
            (["a"], "from_dtype"),
            (pd.to_datetime(["1970-01-03"]), ["x"]),
        ]
    )
    assert date(1.5 * DAY) == "1970-01-02T12:00:00"
    assert date(-DAY) == "1969-12-31"
    assert date(1e300) == "1e+300"
    assert date(np.inf) == "inf"
    assert duration(DAY + 1) == "1 day, 0:00:01"
    assert time(3661) == "01:01:01"
    assert number(0.1) == "0.1"
    assert level(0.0) == "a"
    assert declared(0.0) == "1970-01-03"


# ------------------------------------------------------------------ sparse
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.bool_])
def test_sparse_tables_stay_sparse(make, dtype):
    X = make(np.array([[0, 1], [1, 0], [0, 0]], dtype=dtype))
    matrix, schema = read_training_table(X)
    assert matrix.format == "csc"
    assert matrix.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert_array_equal(matrix.toarray(), X.toarray())
    assert schema.kinds == (NUMERIC, NUMERIC)


def test_sparse_columns_can_be_categorical():
    X = sparse.csr_array([[0, 5.0, 1], [-2, 0, 0], [NAN, 5, 2]])
    matrix, schema = read_training_table(X, categorical_features=[0, 1])
    assert schema.columns[0].levels == (-2, 0)
    assert schema.kinds == (NOMINAL, NOMINAL, NUMERIC)
    assert_array_equal(matrix.toarray(), [[1, 1, 1], [0, 0, 0], [NAN, 1, 2]])
    assert_array_equal(schema.read(X), matrix.toarray())


def test_the_caller_s_sparse_matrix_is_left_alone():
    X = sparse.csc_array(([1.0, 2.0], ([0, 0], [0, 0])), shape=(2, 1))
    X = sparse.csc_array((np.array([1.0, 2.0]), np.array([0, 0]), [0, 2]), shape=(2, 1))
    matrix, _ = read_training_table(X)
    assert_array_equal(matrix.toarray(), [[3], [0]])
    assert X.nnz == 2


# ------------------------------------------------------------------ declared columns
@pytest.mark.parametrize(
    "categorical_features",
    [[1], np.array([1], dtype=np.uint8), [False, True], ["b"], np.array(["b"]), ("b",)],
)
def test_ways_to_declare_a_column(categorical_features):
    X = pd.DataFrame({"a": [1, 2, 3], "b": [7, 5, 7]})
    matrix, schema = read_training_table(X, categorical_features)
    assert schema.kinds == (NUMERIC, NOMINAL)
    assert schema.columns[1].levels == (5, 7)
    assert_array_equal(matrix[:, 1], [1, 0, 1])


@pytest.mark.parametrize(
    ("values", "levels", "codes"),
    [
        ([2.5, NAN, -0.0, 0.0], (0.0, 2.5), [1, NAN, 0, 0]),
        ([True, False, True, True], (False, True), [1, 0, 1, 1]),
        (["b", None, "a", "b"], ("a", "b"), [1, NAN, 0, 1]),
        ([True, None, False, None], (False, True), [1, NAN, 0, NAN]),
        ([2**60, 2**60 + 1, None, 0], (0, 2**60, 2**60 + 1), [1, 2, NAN, 0]),
    ],
)
@pytest.mark.parametrize("library", ["list", "object", *LIBRARIES])
def test_declared_levels_are_sorted_distinct_values(library, values, levels, codes):
    if library == "list":
        X = [[value] for value in values]
    elif library == "object":
        X = np.array(values, dtype=object)[:, np.newaxis]
    elif library == "pandas" and values[0] == 2**60:
        X = pd.DataFrame({"x": pd.array(values, dtype="Int64")})
    else:
        X = make_frame(library, x=values)
    numbers, column = read_column(X, categorical_features=[0])
    assert (column.kind, column.levels) == (NOMINAL, levels)
    assert_array_equal(numbers, codes)


@pytest.mark.parametrize("categorical_features", [None, [], [1]])
def test_numerals_are_numbers_in_columns_not_declared(categorical_features):
    X = np.array([["1.5", "a"], ["-2", "b"], [None, "a"]], dtype=object)
    X = X if categorical_features else X[:, :1]
    matrix, schema = read_training_table(X, categorical_features)
    assert_array_equal(matrix[:, 0], [1.5, -2, NAN])
    assert schema.kinds[0] == NUMERIC
    assert_array_equal(schema.read(X), matrix)


def test_categories_not_declared_are_numbers():
    X = pd.DataFrame({"x": pd.Categorical([3, 1, None], categories=[1, 2, 3])})
    matrix, schema = read_training_table(X, categorical_features=None)
    assert schema.kinds == (NUMERIC,)
    assert_array_equal(matrix[:, 0], [3, 1, NAN])


# ------------------------------------------------------------------ names
def test_names_given_by_the_caller():
    matrix, schema = read_training_table([[1, 2]], ["b"], feature_names=["a", "b"])
    assert schema.names == ("a", "b")
    assert schema.has_names
    assert schema.kinds == (NUMERIC, NOMINAL)
    assert matrix.shape == (1, 2)


def test_labels_that_are_no_strings_are_no_names():
    _, schema = read_training_table(pd.DataFrame([[1, 2]]))
    assert schema.names == ("x0", "x1")
    assert not schema.has_names
