"""Bins that are found by counting rows of intervals are those of all values."""

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.io import Batches
from sklearn_textbook.tree.encode import block_table, encode_table
from sklearn_textbook.tree.encode.bin_search import (
    BinSearch,
    choose_bounds,
    count_between,
    sort_present,
    take_between,
)
from sklearn_textbook.tree.encode.block_columns import read_block_columns
from sklearn_textbook.tree.encode.block_table import (
    add_up_counts,
    bin_values,
    count_values,
    encode_blocks,
)
from sklearn_textbook.tree.encode.read import read_training_table


def search_bins(numbers, bounds, max_bins, n_pieces):
    """The lowest and the highest value of every bin, and how often values were read."""
    search, n_read = BinSearch(bounds, max_bins), 0
    pieces = [sort_present(part.copy()) for part in np.array_split(numbers, n_pieces)]
    for piece in pieces:
        search.add_counts(*count_between(piece, bounds))
    search.end_counts()
    while (ends := search.find_intervals()) is not None:
        search.open([take_between(piece, *ends) for piece in pieces], ends[0])
        n_read += 1
    return *search.get_bins(), n_read


def draw_numbers(rng, n_rows):
    """Numbers, some of which are often equal, some missing, some (minus) zero."""
    numbers = rng.normal(size=n_rows).round(rng.integers(0, 6))
    for value in (np.nan, -0.0, 7.0):
        if rng.random() < 0.3:
            numbers[rng.random(n_rows) < rng.random()] = value
    return numbers


@pytest.mark.parametrize("seed", range(400))
def test_bins_are_those_of_all_values(seed):
    rng = np.random.default_rng(seed)
    numbers = draw_numbers(rng, rng.integers(2, 3000))
    max_bins = int(rng.integers(2, 40))
    # Any bounds do, also those that no value is equal to or near.
    sample = numbers[rng.integers(len(numbers), size=rng.integers(1, 200))]
    bounds = np.unique(np.append(sample[~np.isnan(sample)] + 0.0, [-np.inf, 0.123]))
    counted, n_missing = count_values(numbers.copy())
    if n_missing == len(numbers):
        return
    lowest, highest = bin_values(*add_up_counts([counted]), max_bins)
    found = search_bins(numbers, bounds, max_bins, rng.integers(1, 5))
    np.testing.assert_array_equal(found[0], lowest)
    np.testing.assert_array_equal(found[1], highest)


@pytest.mark.parametrize(
    ("decimals", "is_searched"), [(None, True), (6, True), (3, False)]
)
def test_few_values_are_counted_one_by_one(decimals, is_searched):
    numbers = np.random.default_rng(0).normal(size=300_000)
    numbers = numbers if decimals is None else numbers.round(decimals)
    sample = numbers[::4].copy()
    bounds = choose_bounds(sample, len(numbers), 255)
    assert (bounds is not None) == is_searched
    assert choose_bounds(sample, len(numbers), 10_000) is None
    if is_searched:
        assert search_bins(numbers, bounds, 255, 3)[2] <= 6


@pytest.mark.parametrize("n_threads", [1, 2])
def test_columns_of_many_rows_are_searched(n_threads, monkeypatch):
    n_rows, searched = 86_000, []
    rng = np.random.default_rng(1)
    table = {
        "normal": rng.normal(size=n_rows),
        "gaps": np.where(rng.random(n_rows) < 0.1, np.nan, rng.random(n_rows)),
        "zeros": np.where(rng.random(n_rows) < 0.5, 0.0, rng.normal(size=n_rows)),
        "counts": rng.poisson(5.0, n_rows).astype(float),
        "y": rng.random(n_rows),
    }
    search = block_table._search_bins

    def watch(numbers, *arguments):
        searched.append(numbers.path.name)
        return search(numbers, *arguments)

    monkeypatch.setattr(block_table, "_search_bins", watch)
    columns = read_block_columns(
        Batches(lambda: [pd.DataFrame(table)]), "y", is_numeric=True
    )
    found = encode_blocks(columns, 255, n_threads, piece_rows=9_999)
    assert sorted(searched) == ["column-0", "column-1", "column-2"]
    X = np.column_stack([table[name] for name in columns.schema.names])
    expected = encode_table(*read_training_table(X), max_bins=255)
    np.testing.assert_array_equal(
        found.row_codes.read(slice(0, n_rows)).T, expected.ranks()
    )
    np.testing.assert_array_equal(found.n_missing, expected.n_missing)
    for column, n in enumerate(expected.n_distinct):
        for name in ("values", "upper_values"):
            np.testing.assert_array_equal(
                getattr(found, name)[column, :n], getattr(expected, name)[column, :n]
            )
    columns.close()
