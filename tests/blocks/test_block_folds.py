"""Folds of a table in blocks partition its rows, however it is read."""

from itertools import chain

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklearn_textbook import io
from sklearn_textbook.ensemble import GradientBoostingClassifier
from tests.blocks.tables import draw_frame

N_ROWS = 3001
FRAME = draw_frame(N_ROWS)[["x2", "text", "class", "w"]]
FRAME["number"] = np.arange(N_ROWS)
KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def cut(step, kind="pandas"):
    blocks = [KINDS[kind](FRAME[i : i + step]) for i in range(0, N_ROWS, step)]
    return io.Batches(lambda: iter(blocks))


def list_rows(source):
    blocks = source.read_blocks(["number"])
    return [row for block in blocks for row in np.asarray(block["number"]).tolist()]


def list_folds(source, *args, **options):
    parts = io.folds(source, *args, **options)
    return [(list_rows(train), list_rows(test)) for train, test in parts]


@pytest.mark.parametrize("stratify", [None, "class"])
@pytest.mark.parametrize("n_splits", [2, 5, 7])
def test_folds_partition_the_rows(stratify, n_splits):
    found = list_folds(cut(700), n_splits, random_state=0, stratify=stratify)
    assert len(found) == n_splits
    for train, test in found:
        assert sorted([*train, *test]) == list(range(N_ROWS))
        assert train == sorted(train)
        assert test == sorted(test)
    tests = [test for _, test in found]
    assert sorted(chain(*tests)) == list(range(N_ROWS))
    counts = [
        pd.Series(1, FRAME["class"][test]).groupby(level=0).sum() for test in tests
    ]
    if stratify is None:
        counts = [len(test) for test in tests]
    assert np.max(np.max(counts, axis=0) - np.min(counts, axis=0)) <= 1


@pytest.mark.parametrize("stratify", [None, "class"])
def test_folds_do_not_depend_on_blocks(stratify):
    expected = list_folds(cut(N_ROWS), 4, random_state=3, stratify=stratify)
    for step, kind in ((97, "pandas"), (333, "polars"), (1000, "pyarrow")):
        source = cut(step, kind)
        assert list_folds(source, 4, random_state=3, stratify=stratify) == expected
    assert list_folds(cut(333), 4, random_state=4, stratify=stratify) != expected


def test_folds_are_random():
    """Pairs of neighbours are in the same fold as often as they should be."""
    tests = [test for _, test in list_folds(cut(N_ROWS), 3, random_state=0)]
    fold = np.empty(N_ROWS, dtype=int)
    for number, rows in enumerate(tests):
        fold[rows] = number
    # The last row of a group of three and the first of the next one.
    same = fold[2:-1:3] == fold[3::3]
    assert abs(same.mean() - 1 / 3) < 0.06
    for place in range(3):
        counts = np.bincount(fold[: N_ROWS // 3 * 3][place::3])
        assert np.abs(counts - 1000 / 3).max() < 60


def test_models_of_folds_are_those_of_their_rows():
    options = {"n_estimators": 3, "random_state": 0}
    for train, test in io.folds(cut(500), 3, random_state=1, stratify="class"):
        rows = list_rows(train)
        model = GradientBoostingClassifier(**options).fit(train, "class", "w")
        expected = GradientBoostingClassifier(**options)
        part = FRAME.iloc[rows]
        expected.fit(part[["x2", "text", "number"]], part["class"], part["w"])
        found = model.predict_proba(test)
        held = FRAME.iloc[list_rows(test)][["x2", "text", "number"]]
        np.testing.assert_array_equal(found, expected.predict_proba(held))


def test_parts_keep_the_limit_of_memory_and_say_what_they_are():
    table = io.scan(cut(500), memory_limit="1GiB")
    train, test = io.folds(table)[1]
    assert train.memory_limit == test.memory_limit == 2**30
    assert io.scan(test, exclude=["w"]).names == ("x2", "text", "class", "number")
    with pytest.raises(ValueError, match="outside fold 1 of the table of Batches; th"):
        GradientBoostingClassifier().fit(train, "other")


@pytest.mark.parametrize("n_splits", [1, 0, -2, 2.5, "5", True])
def test_wrong_numbers_of_folds(n_splits):
    with pytest.raises(ValueError, match="n_splits must be an integer of at least 2"):
        io.folds(cut(500), n_splits)


def test_wrong_strata():
    with pytest.raises(ValueError, match="stratify has 'other', which is not a column"):
        io.folds(cut(500), stratify="other")
    ((train, _), *_) = io.folds(cut(500), stratify="number")
    with pytest.raises(
        ValueError, match="'number' has more than 1,000 distinct values"
    ):
        list_rows(train)
    frame = FRAME.assign(text=None)
    source = io.Batches(lambda: iter([frame]))
    ((train, _), *_) = io.folds(source, stratify="text")
    with pytest.raises(ValueError, match="stratify"):
        list_rows(train)
