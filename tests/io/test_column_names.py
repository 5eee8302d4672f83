"""Names of columns: blanks around them are removed in every format alike."""

import json

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from sklearn_textbook.io import TableFileError, read_table
from sklearn_textbook.io.column_names import clean_names
from sklearn_textbook.io.table_writer import choose_writer

FIRST, SECOND = " size\u00a0", "\ttwo words "


def write_text(path, names, separator):
    header = separator.join(f'"{name}"' for name in names)
    path.write_text(f"{header}\n1{separator}2\n", encoding="utf-8")


def write_json(path, names):
    record = dict(zip(names, (1, 2), strict=True))
    path.write_text(json.dumps([record] if path.suffix == ".json" else record))


def write_arff(path, names):
    declared = "".join(f"@attribute '{name}' numeric\n" for name in names)
    path.write_text(f"{declared}@data\n1,2\n", encoding="utf-8")


def write_c45(path, names):
    # A backslash makes a blank at the beginning a part of the name.
    declared = "".join(f"\\{name}: continuous.\n" for name in names)
    path.write_text(f"\\{names[1]}.\n{declared}", encoding="utf-8")
    path.with_suffix(".data").write_text("1,2\n")


def write_excel(path, names):
    pytest.importorskip("openpyxl")
    choose_writer(path)(make_frame(names), path)


def make_frame(names):
    return pa.table([pa.array([1]), pa.array([2])], names=names)


WRITERS = {
    "t.csv": lambda path, names: write_text(path, names, ","),
    "t.tsv": lambda path, names: write_text(path, names, "\t"),
    "t.xlsx": write_excel,
    "t.parquet": lambda path, names: parquet.write_table(make_frame(names), path),
    "t.feather": lambda path, names: feather.write_feather(make_frame(names), path),
    "t.json": write_json,
    "t.jsonl": write_json,
    "t.arff": write_arff,
    "t.names": write_c45,
}


@pytest.mark.parametrize("file", WRITERS)
def test_blanks_are_removed(tmp_path, file):
    WRITERS[file](tmp_path / file, [FIRST, SECOND])
    table = read_table(tmp_path / file)
    assert table.frame.to_pydict() == {"size": [1], "two words": [2]}
    assert table.notes == ()
    table = read_table(
        tmp_path / file, drop=["size"], column_types={"two words": "text"}
    )
    assert table.frame.to_pydict() == {"two words": ["2"]}


@pytest.mark.parametrize("file", WRITERS)
def test_names_that_are_equal_without_blanks(tmp_path, file):
    WRITERS[file](tmp_path / file, ["size", "size "])
    with pytest.raises(TableFileError, match="'size'.*(duplicate|twice)") as caught:
        read_table(tmp_path / file)
    assert "names must be unique" in str(caught.value)


def test_column_without_a_name(tmp_path):
    parquet.write_table(make_frame(["x", " "]), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.names == ["x", "column_2"]
    assert table.notes == ("column 2 has no name; named 'column_2'",)


def test_duplicates_are_counted_from_one():
    with pytest.raises(TableFileError) as caught:
        clean_names(["a", "b", " a"], path="t.csv", line=1)
    assert str(caught.value) == (
        "t.csv, line 1, column 'a': duplicate name of columns 1 and 3; column names "
        "must be unique"
    )


def test_target_and_selection_of_c45(tmp_path):
    (tmp_path / "t.names").write_text(
        "\\ y.\n\\ y: a, b.\n\\ x: continuous.\nz: continuous.\n"
        "attributes excluded: \\ x.\n"
    )
    (tmp_path / "t.data").write_text("a,1,2\nb,3,4\n")
    table = read_table(tmp_path / "t.names")
    assert table.target == "y"
    assert table.names == ["y", "z"]
