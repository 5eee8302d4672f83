"""The same table in every container is read the same."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_textbook.tree.encode import read_training_table

row = st.tuples(
    st.one_of(st.none(), st.integers(-(2**40), 2**40)),
    st.one_of(st.none(), st.floats(allow_infinity=False)),
    st.one_of(st.none(), st.booleans()),
    st.one_of(st.none(), st.text(alphabet="ab名义 ", max_size=3)),
    st.one_of(
        st.none(),
        st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)),
    ),
)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(row, min_size=1, max_size=8))
def test_all_containers_give_the_same_table(rows):
    names = ["integer", "number", "boolean", "string", "date"]
    types = [pl.Int64, pl.Float64, pl.Boolean, pl.String, pl.Datetime("us")]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    polars = pl.DataFrame(columns, schema=dict(zip(names, types, strict=True)))
    arrow = polars.to_arrow()
    tables = {
        "polars": polars,
        "pyarrow": arrow,
        "pandas": arrow.to_pandas(),
        "pandas, arrow types": arrow.to_pandas(types_mapper=pd.ArrowDtype),
    }
    expected, schema = read_training_table(polars)
    for name, X in tables.items():
        matrix, _ = read_training_table(X)
        assert_array_equal(matrix, expected, err_msg=name)
        assert_array_equal(schema.read(X), expected, err_msg=name)
    # Without names; a column of objects has no declared type, so it may be empty.
    objects = np.empty((len(rows), len(names)), dtype=object)
    objects[:] = rows
    assert_array_equal(schema.read(objects), expected)
    assert_array_equal(read_training_table(objects)[0], expected)


def test_numbers_of_any_size_and_byte_order():
    values = np.array([[1, 0], [2, 1], [0, 3]])
    for dtype in ("f2", "f4", "f8", "g", ">f8", ">i4", "u8", "i1"):
        frame = pd.DataFrame(values.astype(dtype), columns=["a", "b"])
        for X in (frame, frame.assign(c=["x", "y", "x"])):
            matrix, schema = read_training_table(X)
            assert_array_equal(matrix[:, :2], values, err_msg=dtype)
            assert_array_equal(schema.read(X), matrix, err_msg=dtype)
