"""Files, datasets, lazy frames and generators that are read in blocks."""

import gzip
import re
import time

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from sklearn_textbook import io
from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NegativeCorrelationRegressor,
)
from tests.blocks.tables import draw_frame

FRAME = draw_frame(4000)[["x0", "x1", "text", "whole", "value", "answer", "w"]]
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)
FEATURES = ["x0", "x1", "text", "whole"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    parquet.write_table(TABLE.slice(0, 1500), folder / "a.parquet", row_group_size=99)
    parquet.write_table(TABLE.slice(1500), folder / "b.parquet")
    feather.write_feather(TABLE, folder / "t.feather")
    csv.write_csv(TABLE, folder / "t.csv")
    csv.write_csv(TABLE, folder / "other.txt", csv.WriteOptions(delimiter=";"))
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    # In the order of the names of the folders.
    for part, rows in enumerate((TABLE.slice(0, 2500), TABLE.slice(2500))):
        below = folder / f"parts/part={part}"
        below.mkdir(parents=True)
        parquet.write_table(rows, below / "p.parquet")
    return folder


def fit(source):
    model = GradientBoostingRegressor(n_estimators=3)
    table = io.scan(source)
    wanted = [*FEATURES, "value", "w"]
    return model.fit(io.scan(table, columns=wanted), "value", sample_weight="w")


SOURCES = {
    "pattern": lambda folder: str(folder / "*.parquet"),
    "paths": lambda folder: [folder / "a.parquet", folder / "b.parquet"],
    "feather": lambda folder: folder / "t.feather",
    "csv": lambda folder: folder / "t.csv",
    "dataset": lambda folder: ds.dataset(
        [folder / "a.parquet", folder / "b.parquet"], format="parquet"
    ),
    "partitioned": lambda folder: ds.dataset(folder / "parts", partitioning="hive"),
    "packed csv": lambda folder: folder / "t.csv.gz",
    "other csv": lambda folder: ds.dataset(
        folder / "other.txt",
        format=ds.CsvFileFormat(
            csv.ParseOptions(delimiter=";"),
            convert_options=csv.ConvertOptions(strings_can_be_null=True),
        ),
    ),
    "table": lambda folder: ds.dataset(TABLE),
    "two datasets": lambda folder: ds.dataset(
        [ds.dataset(folder / "a.parquet"), ds.dataset(folder / "b.parquet")]
    ),
    "lazy frame": lambda folder: pl.scan_parquet(folder / "*.parquet"),
    "generator": lambda folder: io.Batches(
        lambda: (FRAME[i : i + 700] for i in range(0, 4000, 700))
    ),
    "scan": lambda folder: io.scan(folder / "*.parquet"),
}


@pytest.mark.parametrize("kind", list(SOURCES))
def test_all_sources_give_the_model_of_memory(folder, kind):
    names = FEATURES
    expected = GradientBoostingRegressor(n_estimators=3).fit(
        TABLE.select(names), TABLE["value"].to_numpy(), TABLE["w"].to_numpy()
    )
    model = fit(SOURCES[kind](folder))
    assert model.feature_names_in_.tolist() == names
    rows = FRAME[names]
    np.testing.assert_array_equal(model.predict(rows), expected.predict(rows))


@pytest.mark.parametrize(
    "open_lazily", [pl.scan_parquet, lambda path: ds.dataset(path)]
)
def test_lazy_tables_are_fitted_as_they_are(folder, open_lazily):
    X = open_lazily(folder / "b.parquet")
    frame = FRAME[1500:]
    model = GradientBoostingRegressor(n_estimators=3)
    others = ["answer", "value"]
    model.fit(frame.drop(columns=others), frame["value"])
    wanted = model.predict(frame.drop(columns=others))
    source = io.scan(X, exclude=["answer"])
    assert model.fit(source, "value").n_features_in_ == 5
    np.testing.assert_array_equal(model.predict(X), wanted)
    model.fit(X=X, y="value")
    assert model.feature_names_in_.tolist() == [n for n in FRAME if n != "value"]
    with pytest.raises(TypeError, match="y must be the name of a column of the"):
        model.fit(X, frame["value"])
    with pytest.raises(TypeError, match="call its (collect|to_table) method first"):
        NegativeCorrelationRegressor().fit(X, frame["value"])


def test_columns_of_a_scan(folder):
    table = io.scan(folder / "*.parquet", columns=["value", "x0", "w"], exclude=["w"])
    assert table.names == ("value", "x0")
    assert "*.parquet, 2 columns" in repr(table)
    assert (
        GradientBoostingRegressor(n_estimators=1).fit(table, "value").n_features_in_
        == 1
    )
    for option in ("columns", "exclude"):
        with pytest.raises(ValueError, match=f"{option} has 'z', which is not a"):
            io.scan(folder / "*.parquet", **{option: ["z"]})


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_predictions_are_written(folder, tmp_path, method):
    model = GradientBoostingClassifier(n_estimators=2)
    model.fit(TABLE.select(["x0", "text"]), FRAME["answer"])
    path = tmp_path / "scores.parquet"
    n_rows = io.predict_to(model, folder / "*.parquet", path, method=method)
    found = parquet.read_table(path)
    assert n_rows == found.num_rows == 4000
    expected = getattr(model, method)(FRAME[["x0", "text"]])
    if method == "predict":
        assert found.column_names == ["prediction"]
        assert found["prediction"].to_pylist() == expected.tolist()
    else:
        assert found.column_names == ["proba_no", "proba_yes"]
        np.testing.assert_array_equal(found["proba_yes"].to_numpy(), expected[:, 1])
    assert [path.name for path in tmp_path.iterdir()] == ["scores.parquet"]


def test_no_half_written_predictions(folder, tmp_path):
    model = GradientBoostingRegressor(n_estimators=2)
    model.fit(TABLE.select(["x0"]), FRAME["value"])

    def make_blocks():
        yield FRAME[:100]
        raise OSError("the connection is lost")

    source = io.Batches(make_blocks, FRAME.columns)
    with pytest.raises(OSError, match="connection"):
        io.predict_to(model, source, tmp_path / "scores.parquet")
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(ValueError, match="method must be one of predict, .*'score'"):
        io.predict_to(model, source, tmp_path / "scores.parquet", method="score")
    with pytest.raises(ValueError, match="the model has 'x0', which is not a column"):
        io.predict_to(model, io.scan(source, exclude=["x0"]), tmp_path / "s.parquet")


def test_columns_of_the_names_of_folders(folder):
    dataset = ds.dataset(folder / "parts", partitioning="hive")
    for names in (["part", "x0"], ["part"]):
        blocks = io.scan(dataset, columns=names).read_blocks()
        found = pa.concat_tables(blocks)
        assert found.column_names == names
        assert found["part"].to_pylist() == [0] * 2500 + [1] * 1500
    levels = pa.schema([("part", pa.dictionary(pa.int32(), pa.string()))])
    kind = ds.partitioning(levels, flavor="hive", dictionaries="infer")
    dataset = ds.dataset(folder / "parts", partitioning=kind)
    found = pa.concat_tables(io.scan(dataset, columns=["part"]).read_blocks())
    assert found["part"].to_pylist() == ["0"] * 2500 + ["1"] * 1500


def test_a_subset_of_row_groups(folder):
    (file,) = ds.dataset(folder / "a.parquet").get_fragments()
    some = file.subset(row_group_ids=[2, 0])
    dataset = ds.FileSystemDataset([some], some.physical_schema, some.format)
    found = pa.concat_tables(io.scan(dataset, columns=["whole"]).read_blocks())
    whole = TABLE["whole"].to_pylist()
    assert found["whole"].to_pylist() == whole[:99] + whole[198:297]


def test_a_filtered_dataset_is_refused(folder):
    dataset = ds.dataset(folder / "a.parquet").filter(ds.field("x0") > 0)
    with pytest.raises(ValueError, match="filtered or projected.* filter a LazyFrame"):
        io.scan(dataset)


def write_some(kind, rows, path):
    if kind == "csv":
        csv.write_csv(rows, path)
    elif kind == "feather":
        feather.write_feather(rows, path, chunksize=65_536)
    else:
        parquet.write_table(rows, path, row_group_size=65_536)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "dataset"])
def test_nothing_is_read_ahead(kind, tmp_path):
    """A larger file needs no more memory, however slow the reader is."""
    peaks = []
    for n_rows in (5_000_000, 10_000_000):
        rows = pa.table({"x": np.arange(n_rows)})
        path = tmp_path / f"{n_rows}.{kind}"
        write_some(kind, rows, path)
        del rows
        source = ds.dataset(path) if kind == "dataset" else path
        before = pa.total_allocated_bytes()
        peak = 0
        for _ in io.scan(source).read_blocks():
            time.sleep(0.002)
            peak = max(peak, pa.total_allocated_bytes() - before)
        peaks.append(peak)
    assert peaks[1] < 1.3 * peaks[0]


def test_files_that_differ(tmp_path):
    parquet.write_table(TABLE.slice(0, 10), tmp_path / "a.parquet")
    parquet.write_table(TABLE.slice(0, 10).drop(["x1"]), tmp_path / "b.parquet")
    with pytest.raises(io.TableFileError, match=r"b.parquet, column 'x1': is missing"):
        fit(tmp_path / "*.parquet")
    texts = TABLE.set_column(1, "x1", TABLE["x1"].cast(pa.string()))
    parquet.write_table(texts, tmp_path / "b.parquet")
    with pytest.raises(io.TableFileError, match=r"column 'x1': has the type string in"):
        fit(tmp_path / "*.parquet")


def test_damaged_and_missing_files(tmp_path, folder):
    content = (folder / "b.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(io.TableFileError, match=r"cut.parquet: cannot be read"):
        fit(tmp_path / "cut.parquet")
    damaged = bytearray(content)
    damaged[200 : len(content) // 3] = bytes(len(content) // 3 - 200)
    (tmp_path / "damaged.parquet").write_bytes(damaged)
    with pytest.raises(
        io.TableFileError,
        match=r"damaged.parquet, column 'x0': row group 0 cannot be read \(",
    ):
        fit(tmp_path / "damaged.parquet")
    with pytest.raises(io.TableFileError, match="no file has a name like this"):
        io.scan(tmp_path / "*.feather")
    with pytest.raises(io.TableFileError, match=r"must be of one of the formats"):
        io.scan(folder / "*")
    with pytest.raises(TypeError, match="source must be a path"):
        io.scan(5)


def damage(path, place, n_bytes=40):
    content = bytearray(path.read_bytes())
    content[place : place + n_bytes] = b"\xff" * n_bytes
    path.write_bytes(content)


def test_the_damaged_row_group_and_column_are_named(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(TABLE, path, row_group_size=1000, write_page_checksum=True)
    column = parquet.ParquetFile(path).metadata.row_group(2).column(2)
    damage(path, column.data_page_offset + 60)
    with pytest.raises(
        io.TableFileError, match=r"column 'text': row group 2 cannot be read .*write"
    ):
        fit(path)
    # Other columns can be read.
    assert len([*io.scan(path, columns=["x0"]).read_blocks()]) == 1


def test_the_damaged_record_batch_and_column_are_named(tmp_path):
    path = tmp_path / "t.feather"
    feather.write_feather(TABLE, path, compression="lz4", chunksize=1000)
    with path.open("rb") as file:
        places = [*re.finditer(b"\x04\x22\x4d\x18", file.read())]
    # The frames of LZ4, of one batch after the other.
    damage(path, places[len(places) // 2].start() + 4)
    with pytest.raises(
        io.TableFileError,
        match=r"t.feather, column '\w+': record batch 2 cannot be read",
    ):
        fit(path)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(io.TableFileError, match=r"t.feather: cannot be read \("):
        fit(path)


def test_damaged_text(tmp_path):
    path = tmp_path / "t.csv"
    head = "x,value\n" + "1,2\n" * 500_000
    for row, message in (
        ("many,3", "t.csv, column 'x': 'many' in row 500001 is not of the type int64"),
        ("3", r"t.csv: row 500001 is damaged \(Expected 2 columns, got 1"),
    ):
        path.write_text(f"{head}{row}\n1,2\n")
        with pytest.raises(io.TableFileError, match=message):
            GradientBoostingRegressor().fit(io.scan(path), "value")
    packed = tmp_path / "t.csv.gz"
    content = gzip.compress(head.encode(), mtime=0)
    packed.write_bytes(content[: len(content) // 2])
    with pytest.raises(io.TableFileError, match=r"t.csv.gz: cannot be read"):
        GradientBoostingRegressor().fit(io.scan(packed), "value")


def test_text_has_the_types_of_the_first_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,value\n1.5,2\n2,1\n")
    (tmp_path / "b.csv").write_text("x,value\n3,2\n")
    found = pa.concat_tables(io.scan(tmp_path / "*.csv").read_blocks())
    assert found["x"].to_pylist() == [1.5, 2.0, 3.0]
    (tmp_path / "c.csv").write_text("x,value\n3,2.5\n")
    table = io.scan(tmp_path / "*.csv")
    with pytest.raises(io.TableFileError, match=r"c.csv, .* '2.5' in row 1 is not of"):
        GradientBoostingRegressor().fit(table, "value")


def test_batches_that_change():
    """A generator that is used up is noticed, whatever has been read of it."""
    rows = FRAME[["x0", "value"]]
    blocks = (rows[i : i + 1000] for i in range(0, 4000, 1000))
    source = io.Batches(lambda: blocks)
    # The block that was read for the names is not lost.
    model = GradientBoostingRegressor(n_estimators=1).fit(source, "value")
    assert model.estimators_[0, 0].tree_.nodes["n_samples"][0] == 4000
    with pytest.raises(ValueError, match="gave 4000 rows before, and 0 now"):
        model.predict(source)


LIMITS = [("1GiB", 2**30), ("1.5 kb", 1500), (" 3MB ", 3 * 10**6), (77, 77)]


@pytest.mark.parametrize(("limit", "expected"), LIMITS)
def test_limits_of_memory(folder, limit, expected):
    table = io.scan(folder / "*.parquet", memory_limit=limit)
    assert table.memory_limit == expected
    assert io.scan(table, exclude=["w"]).memory_limit == expected
    assert io.scan(table, memory_limit=5).memory_limit == 5


@pytest.mark.parametrize("limit", [0, -1, 1.5, "much", "1 XB", True, "0", ""])
def test_wrong_limits_of_memory(folder, limit):
    with pytest.raises(ValueError, match="memory_limit must be a positive number of"):
        io.scan(folder / "*.parquet", memory_limit=limit)


def test_wrong_batches():
    with pytest.raises(TypeError, match="make_iterator must be a function"):
        io.Batches(iter([FRAME]))
    with pytest.raises(ValueError, match="gives no blocks"):
        io.Batches(lambda: iter([]))
    source = io.Batches(lambda: iter([FRAME, FRAME[["x0"]]]))
    with pytest.raises(ValueError, match=r"has the columns \['x0'\], not"):
        fit(source)
    empty = io.Batches(lambda: iter([]), FRAME.columns)
    with pytest.raises(ValueError, match="has no rows"):
        fit(empty)
