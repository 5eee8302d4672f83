"""Columns of Python objects, of which rows share some."""

import datetime

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.tree.encode import read_training_table
from sklearn_textbook.tree.encode._rank import number_objects

MOST = 512


def make_objects(n_objects):
    """Objects that are equal only to themselves."""
    objects = np.empty(n_objects, dtype=object)
    objects[:] = [object() for _ in range(n_objects)]
    return objects


@pytest.mark.parametrize("n_objects", [1, 2, 60, MOST])
def test_objects_are_numbered_by_their_first_rows(n_objects):
    rng = np.random.default_rng(n_objects)
    objects = make_objects(n_objects)
    values = objects[rng.integers(0, n_objects, 3000)]
    numbers, first_rows = number_objects(values)
    first = {}
    expected = [first.setdefault(id(value), len(first)) for value in values]
    np.testing.assert_array_equal(numbers, expected)
    assert len(first_rows) == len(first)
    np.testing.assert_array_equal(numbers[first_rows], np.arange(len(first)))
    assert all(values[row] is values[i] for i, row in enumerate(first_rows[numbers]))


def test_strides_and_no_rows():
    objects = make_objects(5)
    table = objects[np.random.default_rng(0).integers(0, 5, (40, 3))]
    for column in (table[:, 1], table[::-2, 2], np.asfortranarray(table)[::3, 0]):
        numbers, first_rows = number_objects(column)
        again, rows_again = number_objects(column.copy())
        np.testing.assert_array_equal(numbers, again)
        np.testing.assert_array_equal(first_rows, rows_again)
    numbers, first_rows = number_objects(table[:0, 0])
    assert len(numbers) == len(first_rows) == 0


def test_too_many_objects_are_not_numbered():
    objects = make_objects(MOST + 1)
    assert number_objects(objects) is None
    assert number_objects(objects[:MOST]) is not None


def shared_and_own(levels, rows):
    """The same values as shared objects, and as an object for each row."""
    shared = np.empty(len(rows), dtype=object)
    shared[:] = [levels[row] for row in rows]
    own = shared.copy()
    for row, value in enumerate(shared):
        if isinstance(value, str):
            own[row] = ("+" + value)[1:]
        elif type(value) is int:
            own[row] = value + 10**20 - 10**20
        elif type(value) is float:
            own[row] = value * 1.0
        elif isinstance(value, datetime.date):
            own[row] = value.replace()
    return shared, own


LEVELS = {
    "text": ["no", "yes", "maybe", "perhaps", "never at all"],
    "missing": ["no", None, "yes", float("nan"), pd.NA, "perhaps"],
    "mixed": ["no", 1, 1.0, True, "1", 2.5, None],
    "numbers": [10**6, 2.5, True, None, 10**9],
    "dates": [datetime.date(2020, 1, day) for day in (3, 1, 7)],
}


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("name", sorted(LEVELS))
def test_shared_objects_are_read_as_others(make, name):
    rng = np.random.default_rng(1)
    levels = LEVELS[name]
    shared, own = shared_and_own(levels, rng.integers(0, len(levels), 4000))
    assert number_objects(own) is None
    assert number_objects(shared) is not None
    expected, schema = read_training_table(make(own[:, np.newaxis]))
    matrix, again = read_training_table(make(shared[:, np.newaxis]))
    np.testing.assert_array_equal(matrix, expected)
    assert again == schema
    assert [type(level) for level in again.columns[0].levels or ()] == [
        type(level) for level in schema.columns[0].levels or ()
    ]


@pytest.mark.parametrize("dtype", [object, "string[python]", "str"])
def test_text_of_every_dtype_of_pandas(dtype):
    rng = np.random.default_rng(2)
    shared, own = shared_and_own(["bb", "cc", None, "aa"], rng.integers(0, 4, 2000))
    assert number_objects(own) is None
    expected = [np.nan if value is None else "abc".index(value[0]) for value in shared]
    for values in (shared, own):
        frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
        matrix, schema = read_training_table(frame)
        np.testing.assert_array_equal(matrix[:, 0], expected)
        assert schema.columns[0].levels == ("aa", "bb", "cc")


def test_errors_name_the_row_of_the_table():
    values = np.array(["a", "b"] * 30 + [1j], dtype=object)[:, np.newaxis]
    with pytest.raises(ValueError, match="Complex"):
        read_training_table(values)
    values[-1] = [{}]
    with pytest.raises(TypeError, match="row 60"):
        read_training_table(values)
