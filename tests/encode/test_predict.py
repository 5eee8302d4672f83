"""Reading new tables as training read its own, and what both refuse."""

import datetime
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_textbook.tree.encode import (
    ColumnSchema,
    TableSchema,
    encode_table,
    read_training_table,
)

NAN = np.nan


def train(X, **options):
    return read_training_table(X, **options)[1]


# ------------------------------------------------------------------ levels
def test_levels_are_looked_up_whatever_their_new_codes():
    schema = train(pd.DataFrame({"x": pd.Categorical(["a", "b"], ["b", "a", "c"])}))
    codes = [[1], [0], [2], [-1], [NAN]]
    values = ["a", "b", "c", "d", None]
    for categories in (["a", "b", "c", "d"], ["d", "c", "b", "a"]):
        new = pd.DataFrame({"x": pd.Categorical(values, categories)})
        assert_array_equal(schema.read(new), codes)
        enum = pl.DataFrame({"x": values}, schema={"x": pl.Enum(categories)})
        assert_array_equal(schema.read(enum), codes)
        assert_array_equal(schema.read(enum.to_arrow()), codes)
    assert_array_equal(schema.read([[value] for value in values]), codes)
    assert_array_equal(schema.read(pl.DataFrame({"x": values})), codes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, bool, object])
def test_equal_numbers_are_equal_levels_in_any_type(dtype):
    schema = train([[1], [0], [5]], categorical_features=[0])
    new = np.array([[0], [1]], dtype=dtype)
    assert_array_equal(schema.read(new), [[0], [1]])
    assert_array_equal(schema.read(pd.DataFrame(new)), [[0], [1]])
    assert_array_equal(
        schema.read(pl.DataFrame(new.tolist(), orient="row")), [[0], [1]]
    )


def test_large_identifiers_stay_distinct():
    ids = np.array([[2**60], [2**60 + 1]])
    schema = train(ids, categorical_features=[0])
    assert_array_equal(schema.read(ids[::-1]), [[1], [0]])
    assert_array_equal(
        schema.read(pl.DataFrame({"x": [2**60 + 1, None]})), [[1], [NAN]]
    )
    assert_array_equal(schema.read([[2**60 + 2]]), [[-1]])


def test_a_column_of_another_nature_is_an_error():
    schema = train(pd.DataFrame({"size": ["s", "m"], "age": [1, 2]}))
    with pytest.raises(ValueError, match="'size', row 1: it is the number 3.*'m'"):
        schema.read(pd.DataFrame({"size": ["s", 3], "age": [1, 2]}))
    with pytest.raises(ValueError, match="'size', row 0: it is the number 0.5"):
        schema.read(np.array([[0.5, 1]]))
    with pytest.raises(
        ValueError, match="to float: column 'age', row 1 contains 'old'"
    ):
        schema.read(pd.DataFrame({"size": ["s", "s"], "age": [1, "old"]}))
    with pytest.raises(ValueError, match="column 'age', row 0 contains '7'"):
        schema.read(pl.DataFrame({"size": ["s"], "age": ["7"]}))
    with pytest.raises(ValueError, match="'age' contains dates.*but contained numbers"):
        schema.read([["s", datetime.date(2024, 1, 1)]])
    schema = train([[1], [2]], categorical_features=[0])
    with pytest.raises(
        ValueError, match="it is the string '1'.*were numbers, such as 1"
    ):
        schema.read([["1"]])


def test_dates_must_stay_dates():
    moment = datetime.datetime(2024, 1, 1)
    schema = train(pd.DataFrame({"day": [moment]}))
    for new in ([[1704067200]], [["2024-01-01"]], [[datetime.timedelta(1)]]):
        with pytest.raises(
            ValueError, match="'day' contains .*but contained dates .seconds"
        ):
            schema.read(new)
    with pytest.raises(ValueError, match="'day' contains numbers"):
        schema.read(np.array([[1.0]]))
    # No value at all is of every nature.
    for new in (np.array([[NAN]]), [[None]], pd.DataFrame({"day": [pd.NaT]})):
        assert_array_equal(schema.read(new), [[NAN]])
    assert_array_equal(schema.read(np.array([["2024-01-01"]], "M8[D]")), [[1704067200]])


def test_a_column_that_held_nothing_accepts_anything():
    schema = train([[None, 1], [None, 2]])
    assert schema.columns[0].source == "null"
    assert_array_equal(schema.read([["a", 1]]), [[NAN, 1]])
    assert_array_equal(schema.read([[3, 1]]), [[3, 1]])
    strings = pd.DataFrame({"x": pd.array([None, None], dtype="string")})
    schema = train(strings)
    assert_array_equal(schema.read(pd.DataFrame({"x": ["new"]})), [[-1]])


def test_categories_that_no_row_holds_do_not_matter():
    schema = train(pd.DataFrame({"x": [1.5, 2.0]}))
    new = pd.DataFrame({"x": pd.Categorical([1.5, None], categories=[1.5, "other"])})
    assert_array_equal(schema.read(new), [[1.5], [NAN]])
    new = pd.DataFrame({"x": pd.Categorical([1.5, "other"])})
    with pytest.raises(ValueError, match="row 1 contains 'other'"):
        schema.read(new)


# ------------------------------------------------------------------ names and width
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_matched_by_name(make):
    schema = train(make({"a": [1.0, 2.0], "b": ["x", "y"], "c": [3.0, 4.0]}))
    new = make({"c": [5.0], "a": [6.0], "b": ["y"]})
    assert_array_equal(schema.read(new), [[6, 1, 5]])
    with pytest.raises(ValueError, match="now missing:\n- a\n- c"):
        schema.read(make({"b": ["x"]}))
    with pytest.raises(ValueError, match="unseen at fit time:\n- d\n"):
        schema.read(make({"a": [1.0], "b": ["x"], "c": [1.0], "d": [1.0]}))
    assert_array_equal(schema.read([[1, "x", 2]]), [[1, 0, 2]])
    numbers = train(make({"a": [1.0], "b": [2.0]}))
    assert_array_equal(numbers.read(make({"b": [3.0], "a": [4.0]})), [[4, 3]])


def test_width():
    schema = train(np.zeros((2, 3)))
    message = r"X has 2 features, but \w+ is expecting 3 features as input"
    for X in (np.zeros((1, 2)), [[1, 2]], pd.DataFrame([[1, 2]]), sparse.eye_array(2)):
        with pytest.raises(ValueError, match=message):
            schema.read(X)


# ------------------------------------------------------------------ infinity
@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.asfortranarray,
        lambda X: X[::-1][::-1],
        lambda X: X.astype(np.float32),
        lambda X: X.tolist(),
        lambda X: X.astype(object),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
        lambda X: pl.DataFrame(X, schema=["a", "b"]),
        sparse.csr_array,
    ],
)
def test_infinity_names_the_column(make):
    X = np.array([[1, 2], [3, -np.inf]])
    message = "contains infinity: column 'b', row 1"
    with pytest.raises(ValueError, match=message):
        train(pd.DataFrame({"a": [1.0], "b": [1.0]})).read(make(X))
    matrix, schema = read_training_table(make(X))
    with pytest.raises(
        ValueError, match=f"infinity: column '{schema.names[1]}', row 1"
    ):
        encode_table(matrix, schema)
    with pytest.raises(ValueError, match="contains infinity: column '(b|x1)'"):
        read_training_table(make(X), categorical_features=[1])


@pytest.mark.parametrize("value", [10**400, float("inf"), "inf"])
def test_infinity_among_objects(value):
    X = np.array([[1], [value]], dtype=object)
    with pytest.raises(ValueError, match="infinity: column 'x0', row 1"):
        encode_table(*read_training_table(X, categorical_features=None))
    if isinstance(value, float):
        with pytest.raises(ValueError, match="infinity: column 'x0'"):
            read_training_table([["a"], [value]])


# ------------------------------------------------------------------ sparse
def test_sparse_blocks():
    X = sparse.random_array(
        (25, 6), density=0.3, random_state=np.random.default_rng(0), format="csc"
    )
    schema = train(X)
    blocks = list(schema.read_blocks(X, max_bytes=10 * 6 * 8))
    assert [rows.stop - rows.start for rows, _ in blocks] == [10, 10, 5]
    assert_array_equal(np.concatenate([block for _, block in blocks]), X.toarray())
    assert_array_equal(schema.read(X), X.toarray())
    ((rows, _),) = schema.read_blocks(X.toarray())
    assert rows == slice(0, 25)
    with pytest.raises(ValueError, match="0 sample"):
        list(schema.read_blocks(X[:0]))


# ------------------------------------------------------------------ what is refused
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([1, 2], ValueError, "Expected 2D array, got 1D array"),
        (3.0, ValueError, "got scalar array"),
        (None, ValueError, "got scalar array"),
        ({"a": [1]}, TypeError, "got a dict. Pass pandas.DataFrame"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        (
            np.zeros((12, 0)),
            ValueError,
            r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\.",
        ),
        (sparse.csr_array((0, 3)), ValueError, r"0 sample\(s\)"),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        ([[1, 2], [3]], ValueError, "different lengths"),
        (np.zeros((2, 1), dtype=complex), ValueError, "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), ValueError, "Complex data not supported"),
        ([[1, "a"], [2j, "a"]], ValueError, "Complex data not supported: column 'x0'"),
        (sparse.csr_array([[1j]]), ValueError, "Complex data not supported"),
        (np.zeros(3, dtype="f8,f8"), TypeError, "structured array"),
        (np.ones((1, 1)).view(np.matrix), TypeError, "np.matrix is not supported"),
        (
            np.array([[1.0, {"foo": "bar"}]], dtype=object),
            TypeError,
            r"argument must be .* string.* number.*column 'x1', row 0.*'dict'",
        ),
        ([[1], [datetime.date(2024, 1, 1)]], TypeError, "'x0' mixes dates"),
        ([[b"\xff"]], ValueError, "'x0' contains the bytes .* not valid UTF-8"),
        (pl.DataFrame({"a": [[1]]}), TypeError, "'a' is of the nested dtype"),
        (pl.DataFrame({"a": [{"b": 1}]}), TypeError, "'a' is of the nested dtype"),
        (
            pd.DataFrame({"a": pd.period_range("2020", periods=2)}),
            TypeError,
            "'a' is of dtype period",
        ),
        (pd.Series([1]), ValueError, "Expected a 2-dimensional container"),
        (pl.Series([1]), ValueError, "Expected a 2-dimensional container"),
        (pl.LazyFrame({"a": [1]}), TypeError, "collect"),
        (pa.record_batch({"a": [1]}), TypeError, "pyarrow.table"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "must be unique"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), TypeError, "string names"),
    ],
)
def test_tables_that_are_refused(X, error, message):
    with pytest.raises(error, match=message):
        read_training_table(X)
    with pytest.raises((ValueError, TypeError)):
        train(np.zeros((1, 5))).read(X)


@pytest.mark.parametrize(
    ("categorical_features", "message"),
    [
        ("colour", "must be 'from_dtype', None, or a one-dimensional"),
        ([[0]], "one-dimensional"),
        (0, "one-dimensional"),
        ([True], r"mask must have shape \(n_features,\) = \(2,\), got: \(1,\)"),
        ([2], r"must be in \[0, n_features - 1\] = \[0, 1\], got 2"),
        ([-1], "got -1"),
        ([0.5], "array-like of bool, int or str, got: float"),
        ([0, "b"], "array-like of bool, int or str, got: int, str"),
        ([None], "got: NoneType"),
        (["c"], r"item value 'c' which is not .* names: \['a', 'b'\]"),
    ],
)
def test_wrong_categorical_features(categorical_features, message):
    X = pd.DataFrame({"a": [1], "b": [2]})
    with pytest.raises(ValueError, match=message):
        read_training_table(X, categorical_features)


def test_names_need_a_frame():
    with pytest.raises(ValueError, match="without feature names"):
        read_training_table([[1]], categorical_features=["a"])
    with pytest.raises(ValueError, match="must have 1 names, one per column, got 2"):
        read_training_table([[1]], feature_names=["a", "b"])


@pytest.mark.parametrize("categorical_features", [None, ["b"]])
def test_strings_that_are_no_numbers_must_be_declared(categorical_features):
    X = pd.DataFrame({"a": ["1", "red"], "b": [1, 2]})
    with pytest.raises(
        ValueError, match="'a', row 1 contains 'red'.*categorical_features"
    ):
        read_training_table(X, categorical_features)


# ------------------------------------------------------------------ the schema itself
def test_schema_is_written_and_read_back():
    frame = pd.DataFrame(
        {"age": [1.5], "size": pd.Categorical(["s"], ["s", "m"], ordered=True)}
    )
    schema = train(frame)
    again = TableSchema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert_array_equal(again.n_levels, [0, 2])
    with pytest.raises(ValueError, match="read-only"):
        again.n_levels[0] = 1


def column_entry(**changes):
    entry = {"name": "a", "kind": "numeric", "levels": None, "source": "number"}
    return {**entry, **changes}


@pytest.mark.parametrize(
    "broken",
    [
        None,
        {},
        {"columns": 3, "has_names": True},
        {"columns": [{"name": "a"}], "has_names": True},
        {"columns": [column_entry()], "has_names": "yes"},
        {"columns": [column_entry(), column_entry()], "has_names": True},
        {"columns": [column_entry(name=1)], "has_names": True},
        {"columns": [column_entry(kind="square")], "has_names": True},
        {"columns": [column_entry(kind="nominal")], "has_names": True},
        *[
            {"columns": [column_entry(kind="nominal", levels=x)], "has_names": True}
            for x in ([[]], [None], [float("nan")], ["a", "a"], 3)
        ],
    ],
)
def test_damaged_schema(broken):
    with pytest.raises(ValueError, match="Not a valid table schema"):
        TableSchema.from_dict(broken)


def test_column_schema_refuses_nonsense():
    with pytest.raises(ValueError, match="kind of column 'a' must be one of"):
        ColumnSchema("a", "square")
    with pytest.raises(ValueError, match="source of column 'a' must be one of"):
        ColumnSchema("a", "numeric", None, "moon")
    with pytest.raises(ValueError, match="have levels"):
        ColumnSchema("a", "nominal")
    with pytest.raises(ValueError, match="numeric ones must not"):
        ColumnSchema("a", "numeric", ("x",))
