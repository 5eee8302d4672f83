"""Files, datasets, lazy frames and generators that are read in blocks."""

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
)
from tests.blocks.tables import draw_frame

FRAME = draw_frame(4000)[["x0", "x1", "text", "whole", "value", "answer", "w"]]
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    parquet.write_table(TABLE.slice(0, 1500), folder / "a.parquet", row_group_size=99)
    parquet.write_table(TABLE.slice(1500), folder / "b.parquet")
    feather.write_feather(TABLE, folder / "t.feather")
    csv.write_csv(TABLE, folder / "t.csv")
    return folder


def fit(source):
    model = GradientBoostingRegressor(n_estimators=3)
    return model.fit(io.scan(source, exclude=["answer"]), "value", sample_weight="w")


SOURCES = {
    "pattern": lambda folder: str(folder / "*.parquet"),
    "paths": lambda folder: [folder / "a.parquet", folder / "b.parquet"],
    "feather": lambda folder: folder / "t.feather",
    "csv": lambda folder: folder / "t.csv",
    "dataset": lambda folder: ds.dataset(
        [folder / "a.parquet", folder / "b.parquet"], format="parquet"
    ),
    "lazy frame": lambda folder: pl.scan_parquet(folder / "*.parquet"),
    "generator": lambda folder: io.Batches(
        lambda: (FRAME[i : i + 700] for i in range(0, 4000, 700))
    ),
    "scan": lambda folder: io.scan(folder / "*.parquet"),
}


@pytest.mark.parametrize("kind", list(SOURCES))
def test_all_sources_give_the_model_of_memory(folder, kind):
    names = ["x0", "x1", "text", "whole"]
    expected = GradientBoostingRegressor(n_estimators=3).fit(
        TABLE.select(names), TABLE["value"].to_numpy(), TABLE["w"].to_numpy()
    )
    model = fit(SOURCES[kind](folder))
    assert model.feature_names_in_.tolist() == names
    rows = FRAME[names]
    np.testing.assert_array_equal(model.predict(rows), expected.predict(rows))


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
    with pytest.raises(io.TableFileError, match=r"damaged.parquet: cannot be read to"):
        fit(tmp_path / "damaged.parquet")
    with pytest.raises(io.TableFileError, match="no file has a name like this"):
        io.scan(tmp_path / "*.feather")
    with pytest.raises(io.TableFileError, match=r"must be of one of the formats"):
        io.scan(folder / "*")
    with pytest.raises(TypeError, match="source must be a path"):
        io.scan(5)


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
