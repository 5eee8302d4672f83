"""Columns in files are encoded as in memory, however they were read and sorted."""

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook._contract.blocks import BLOCK_ROWS, StoredTable, add_up
from sklearn_textbook.io import Batches
from sklearn_textbook.tree import CARTRegressor
from sklearn_textbook.tree.encode import (
    encode_table,
    read_training_table,
    stored_codes,
)
from sklearn_textbook.tree.encode.block_columns import FileArray, read_block_columns
from sklearn_textbook.tree.encode.block_table import ValueCounter, encode_blocks
from sklearn_textbook.tree.encode.stored_codes import StoredCodes
from tests.blocks.tables import cut, draw_table, list_features
from tests.memory import measure_peak

TABLE = draw_table(5000)
NAMES = list_features(TABLE)


def read(step, categorical="from_dtype"):
    source = cut(TABLE, step, [*NAMES, "value", "w"])
    return read_block_columns(source, "value", "w", categorical, is_numeric=True)


@pytest.mark.parametrize("step", [100, 777, 5000])
@pytest.mark.parametrize("categorical", ["from_dtype", ["text", "many", "whole"]])
def test_columns_are_read_as_in_memory(step, categorical):
    features = TABLE.select(NAMES)
    if categorical != "from_dtype":
        features = features.drop(["size"])
        source = cut(TABLE, step, [*features.column_names, "value"])
        columns = read_block_columns(
            source, "value", None, categorical, is_numeric=True
        )
    else:
        columns = read(step)
    matrix, schema = read_training_table(features, categorical)
    assert columns.schema == schema
    for rows in (slice(0, 1), slice(1, 4999), slice(4999, 5000)):
        np.testing.assert_array_equal(columns.read_matrix(rows), matrix[rows])
    target = columns.target.read(slice(0, 5000))
    np.testing.assert_array_equal(target, TABLE["value"].to_numpy())
    columns.close()
    assert not columns.folder.exists()


@pytest.mark.parametrize(("piece_rows", "n_threads"), [(400, 1), (400, 3), (9999, 1)])
@pytest.mark.parametrize("max_bins", [None, 255, 7])
def test_codes_and_bins_are_those_of_memory(max_bins, piece_rows, n_threads):
    columns = read(1234)
    table = encode_blocks(columns, max_bins, n_threads, piece_rows)
    matrix, schema = read_training_table(TABLE.select(NAMES))
    expected = encode_table(matrix, schema, max_bins=max_bins)
    np.testing.assert_array_equal(table.n_distinct, expected.n_distinct)
    np.testing.assert_array_equal(table.n_missing, expected.n_missing)
    codes = table.row_codes.read(slice(0, 5000))
    assert codes.dtype == expected.ranks().dtype
    np.testing.assert_array_equal(codes.T, expected.ranks())
    for column, n in enumerate(table.n_distinct):
        for name in ("values", "upper_values"):
            found, wanted = getattr(table, name), getattr(expected, name)
            np.testing.assert_array_equal(found[column, :n], wanted[column, :n])


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("piece_rows", [300, 9999])
@pytest.mark.parametrize("max_bins", [None, 255, 7])
def test_stored_tables_are_encoded_as_in_memory(
    monkeypatch, max_bins, piece_rows, n_threads
):
    """Also what sorted columns and random thresholds need, which comes later."""
    monkeypatch.setattr(stored_codes, "PIECE_ROWS", piece_rows)
    matrix, schema = read_training_table(TABLE.select(NAMES))
    for frees_columns in (False, True):
        stored = StoredTable(read(1234))
        table = encode_table(stored, schema, n_threads, max_bins=max_bins)
        assert isinstance(table, StoredCodes)
        if frees_columns:
            np.testing.assert_array_equal(stored.matrix, matrix)
        expected = encode_table(matrix, schema, max_bins=max_bins)
        np.testing.assert_array_equal(table.n_distinct, expected.n_distinct)
        np.testing.assert_array_equal(table.n_missing, expected.n_missing)
        assert table.ranks().dtype == expected.ranks().dtype
        np.testing.assert_array_equal(table.ranks(), expected.ranks())
        np.testing.assert_array_equal(table.order, expected.order)
        for found, wanted in zip(table.row_ranks(), expected.row_ranks(), strict=True):
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(table.row_values(), expected.row_values())
        for found, wanted in zip(table.steps(), expected.steps(), strict=True):
            np.testing.assert_array_equal(found, wanted)
        for column, n in enumerate(table.n_distinct):
            for name in ("values", "upper_values"):
                found, wanted = getattr(table, name), getattr(expected, name)
                np.testing.assert_array_equal(found[column, :n], wanted[column, :n])
                assert not np.signbit(found[column, :n][found[column, :n] == 0]).any()
        few = np.array([5, 0])
        taken, wanted = table.take_columns(few), expected.take_columns(few)
        np.testing.assert_array_equal(taken.order, wanted.order)
        np.testing.assert_array_equal(taken.ranks(), wanted.ranks())
        stored.close()
        assert not stored.columns.folder.exists()


def test_sorted_columns_of_ties_zeros_and_gaps(monkeypatch):
    """A value of most rows, zeros of both signs, a column of one value, and none."""
    monkeypatch.setattr(stored_codes, "PIECE_ROWS", 64)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "zeros": np.where(rng.random(999) < 0.8, rng.choice([0.0, -0.0], 999), 1.5),
            "one": 3.0,
            "none": np.nan,
            "last": np.where(np.arange(999) < 990, np.nan, -2.0),
            "ends": rng.choice([-1e300, 1e300, 5e-324], 999),
            "y": rng.normal(size=999),
        }
    )
    names = list(frame)[:-1]
    source = Batches(lambda: (frame[i : i + 100] for i in range(0, 999, 100)))
    stored = StoredTable(read_block_columns(source, "y", is_numeric=True))
    table = encode_table(stored, stored.schema)
    expected = encode_table(*read_training_table(frame[names]))
    np.testing.assert_array_equal(table.ranks(), expected.ranks())
    np.testing.assert_array_equal(table.order, expected.order)
    stored.close()


def test_infinite_numbers_of_a_stored_table():
    frame = pd.DataFrame({"x": [1.0, 2.0, np.inf, 4.0], "y": [1.0, 2.0, 3.0, 4.0]})
    source = Batches(lambda: iter([frame[:2], frame[2:]]))
    for model in (CARTRegressor(), CARTRegressor(max_bins=2)):
        with pytest.raises(ValueError, match="'x'.*row 2"):
            model.fit(source, "y")


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("max_bins", "limit"), [(255, 12 << 20), (20_000, 20 << 20)])
def test_a_limit_of_memory_is_kept(max_bins, limit, n_threads):
    """While intervals or values are counted, and while codes are written."""
    n_rows, step = 600_000, 50_000
    values = np.random.default_rng(0).integers(0, n_rows, (n_rows, 3))
    frame = pd.DataFrame(values, columns=["x0", "x1", "y"])
    source = Batches(lambda: (frame[i : i + step] for i in range(0, n_rows, step)))

    def encode(limit):
        columns.memory_limit = limit
        tables.append(encode_blocks(columns, max_bins, n_threads))

    tables: list = []
    columns = read_block_columns(source, "y", is_numeric=True)
    peak = measure_peak(lambda: encode(None))
    assert max_bins == 255 or peak > limit
    expected = tables.pop().row_codes.read(slice(0, n_rows))
    assert measure_peak(lambda: encode(limit)) <= limit
    found = tables.pop().row_codes.read(slice(0, n_rows))
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="limit is 5.0 MiB, and sorting .* 8.0 MiB"):
        encode(5 * 2**20)


def test_values_are_counted_in_pieces():
    """Runs in memory and in files, with and without equal values, are merged."""
    rng = np.random.default_rng(0)
    for distinct in (3, 50, 10**9):
        numbers = rng.integers(0, distinct, 3000).astype(float)
        numbers[rng.random(3000) < 0.1] = np.nan
        numbers[rng.random(3000) < 0.1] = -0.0
        columns = read(5000)
        counter = ValueCounter(columns, 100)
        for part in np.split(numbers, 30):
            counter.add(part.copy())
        values, starts = counter.finish()
        expected, counts = np.unique(
            numbers[~np.isnan(numbers)] + 0.0, return_counts=True
        )
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(np.diff(starts), counts)
        assert counter.n_missing == np.isnan(numbers).sum()
        columns.close()


def test_arrays_in_files(tmp_path):
    array = FileArray(tmp_path / "a", np.int16, (1000, 3))
    array.fill(7)
    array.write(10, np.arange(6).reshape(2, 3))
    assert array.read(slice(9, 13)).tolist() == [[7] * 3, [0, 1, 2], [3, 4, 5], [7] * 3]
    with pytest.raises(OSError, match="shorter than it was written"):
        array.read(slice(995, 1001))


def test_sums_are_made_block_by_block():
    values = np.random.default_rng(0).normal(size=BLOCK_ROWS + 17)
    first, last = values[:BLOCK_ROWS], values[BLOCK_ROWS:]
    assert add_up(values) == add_up(last, add_up(first)) == first.sum() + last.sum()


@pytest.mark.parametrize(
    ("names", "target", "weight", "error"),
    [
        (["x0"], "other", None, "y='other' is not a column of the table of Batches"),
        (["value"], "value", None, "has no columns besides the target"),
        (["x0", "value"], 3, None, "y must be the name of a column"),
        (["x0", "value"], "value", "w", "sample_weight='w' is not a column"),
        (["x0", "answer"], "answer", None, "y must be numbers"),
        (["x0", "x2", "value"], "value", "x0", "sample_weight contains NaN"),
    ],
)
def test_wrong_columns(names, target, weight, error):
    source = cut(TABLE, 1000, names)
    with pytest.raises((ValueError, TypeError), match=error):
        read_block_columns(source, target, weight, is_numeric=True)


def test_columns_that_change_their_type():
    parts = [TABLE.select(["x0", "value"]), TABLE.select(["text", "value"])]
    parts[1] = parts[1].rename_columns(["x0", "value"])
    source = Batches(lambda: iter(parts), ["x0", "value"])
    with pytest.raises(ValueError, match="'x0' contains string values from row 5000"):
        read_block_columns(source, "value", is_numeric=True)


def test_blocks_without_values():
    """Before, between and behind those with values; and a column without any."""
    frame = pd.DataFrame(
        {"text": [None, None, "b", "a", None, None, "b", None], "none": [None] * 8}
    )
    frame["number"] = [None, None, 2.5, None, None, 1.0, None, None]
    frame["day"] = pd.to_datetime([None, None, "2020-01-01", *[None] * 5])
    frame["value"] = np.arange(8.0)
    parts = [frame[i : i + 2].astype(object) for i in range(0, 8, 2)]
    columns = read_block_columns(Batches(lambda: iter(parts)), "value", is_numeric=True)
    features = frame.astype(object).drop(columns="value")
    matrix, schema = read_training_table(features)
    assert columns.schema == schema
    np.testing.assert_array_equal(columns.read_matrix(slice(0, 8)), matrix)
    encoded = encode_blocks(columns, 255)
    assert encoded.n_missing.tolist() == np.isnan(matrix).sum(axis=0).tolist()


def test_blocks_without_weight():
    frame = TABLE.select(["x2", "value"]).to_pandas()
    frame["w"] = np.repeat([0.0, 1.0], 2500)

    def read(frame):
        source = Batches(lambda: (frame[i : i + 500] for i in range(0, 5000, 500)))
        return read_block_columns(source, "value", "w", is_numeric=True)

    assert read(frame).measure_weights() == (2500.0, 2500)
    for weight, error in (
        (0.0, "All sample weights are zero"),
        (1e-120, "has a square that is zero"),
        (1e308, "The sum of sample_weight is too large"),
    ):
        with pytest.raises(ValueError, match=error):
            read(frame.assign(w=weight)).measure_weights()
    frame.loc[3210, "w"] = -1.0
    with pytest.raises(ValueError, match=r"-1.0 in row 210. Rows are .* row 3000 of"):
        read(frame)


def test_infinite_numbers_name_the_row():
    table = TABLE.select(["x2", "value"]).to_pandas()
    table.loc[3210, "x2"] = np.inf
    source = cut(TABLE, 10, ["x2", "value"])
    source.make_iterator = lambda: (table[i : i + 1000] for i in range(0, 5000, 1000))
    with pytest.raises(ValueError, match="infinity: column 'x2', row 3210"):
        read_block_columns(source, "value", is_numeric=True)
