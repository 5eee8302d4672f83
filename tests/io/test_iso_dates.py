"""ISO dates that files store as text are read as in csv files, in every format."""

import json

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from sklearn_textbook.cli import main
from sklearn_textbook.io import read_table, write_arff
from sklearn_textbook.tree.encode import read_training_table

TEXTS = {
    "day": ["2024-09-21", None, "1999-12-31"],
    "minute": ["2024-09-21 14:30", "2024-09-22T00:00", None],
    "second": ["2024-09-21T14:30:05", None, "2024-09-21 14:30:06"],
    "mixed": ["2024-09-21", "2024-09-21 14:30:05", None],
    "fraction": ["2024-09-21T14:30:05.250", None, None],
    "zone": ["2024-09-21T14:30:05Z", "2024-09-21T14:30:05+02:00", None],
    "time": ["14:30", None, "14:30:05"],
    "blanks": [" 2024-09-21", "2024-09-22 ", None],
    # Not dates, or not all of them.
    "some": ["2024-09-21", "later", None],
    "short": ["2024-9-21", "2024-9-1", None],
    "hours": ["14:30", "25:00", None],
    "no_day": ["2024-02-30", None, None],
    "words": ["a", None, None],
}
N_DATES = list(TEXTS).index("some")


def write_json(table, path):
    path.write_text(json.dumps(table.to_pylist()))


def write_csv(table, path):
    rows = zip(*table.to_pydict().values(), strict=True)
    lines = [",".join(value or "" for value in row) for row in rows]
    path.write_text("\n".join([",".join(table.column_names), *lines]))


def write_string_attributes(table, path):
    """Write ARFF with attributes of strings, as other programs write it."""
    lines = [f"@attribute {name} string" for name in table.column_names] + ["@data"]
    for row in zip(*table.to_pydict().values(), strict=True):
        lines.append(",".join("?" if text is None else f"'{text}'" for text in row))
    path.write_text("\n".join(lines))


WRITERS = {
    "t.parquet": parquet.write_table,
    "t.feather": feather.write_feather,
    "t.json": write_json,
    "t.arff": write_string_attributes,
}


@pytest.fixture
def csv_frame(tmp_path):
    write_csv(pa.table(TEXTS), tmp_path / "t.csv")
    return read_table(tmp_path / "t.csv").frame


@pytest.mark.parametrize("file", WRITERS)
def test_as_in_csv(tmp_path, csv_frame, file):
    WRITERS[file](pa.table(TEXTS), tmp_path / file)
    table = read_table(tmp_path / file)
    # Text keeps its blanks in these formats; the dates of csv files have none.
    assert table.frame.schema == csv_frame.schema
    assert table.frame.to_pydict() == csv_frame.to_pydict()
    kinds = list(table.column_kinds.values())
    assert kinds == ["numeric"] * N_DATES + ["nominal"] * (len(TEXTS) - N_DATES)
    read_training_table(table.frame)


def test_text_that_was_asked_for(tmp_path):
    parquet.write_table(pa.table(TEXTS), tmp_path / "t.parquet")
    types = {"day": "text", "minute": "categorical", "time": ["14:30", "14:30:05"]}
    table = read_table(tmp_path / "t.parquet", column_types=types)
    assert [table.column_kinds[name] for name in types] == [
        *("nominal", "nominal", "ordinal")
    ]
    assert table.frame["day"].to_pylist() == TEXTS["day"]


def test_declared_levels_and_labels_are_no_dates(tmp_path):
    column = pa.array(["2024-09-21", "2024-09-22"])
    frame = pa.table({"day": column.dictionary_encode()})
    parquet.write_table(frame, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").column_kinds == {"day": "nominal"}
    (tmp_path / "c.names").write_text("y, n.\nkey: label.\nx: continuous.\n")
    (tmp_path / "c.data").write_text("2024-09-21,1,y\n2024-09-22,2,n\n")
    assert read_table(tmp_path / "c").frame["key"].to_pylist() == column.to_pylist()


@pytest.mark.parametrize(
    ("pattern", "text", "data_type"),
    [
        ("yyyy-MM-dd", "2024-09-21", pa.date32()),
        ("dd.MM.yyyy", "21.09.2024", pa.date32()),
        ("yyyy-MM-dd HH:mm", "2024-09-21 14:30", pa.timestamp("s")),
        ("yyyy-MM-dd'T'HH:mm:ss", "2024-09-21T14:30:05", pa.timestamp("s")),
        ("yyyy-MM-dd HH:mm:ss.SSS", "2024-09-21 14:30:05.250", pa.timestamp("us")),
    ],
)
def test_date_attributes_of_arff(tmp_path, pattern, text, data_type):
    (tmp_path / "t.arff").write_text(
        f'@attribute when date "{pattern}"\n@data\n"{text}"\n?\n'
    )
    when = read_table(tmp_path / "t.arff").frame["when"]
    assert when.type == data_type
    assert str(when[0].as_py()).startswith("2024-09-21")
    assert when[1].as_py() is None
    # Read back as what it was.
    write_arff(pa.table({"when": when}), tmp_path / "u.arff")
    again = read_table(tmp_path / "u.arff").frame["when"]
    assert again.to_pylist() == when.to_pylist()
    assert pa.types.is_date(again.type) == pa.types.is_date(when.type)


def test_model_of_one_format_reads_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    days = [f"2024-{month:02}-{day:02}" for month in (1, 9) for day in range(1, 13)]
    frame = pa.table({"day": days, "y": ["a"] * 12 + ["b"] * 12})
    write_csv(frame, tmp_path / "t.csv")
    fit = ["fit", "t.csv", "--target", "y", "--cv", "0", "--save", "m.json"]
    assert main(fit) == 0
    assert "day     date" in capsys.readouterr().out
    predicted = []
    for file in ("t.csv", "t.parquet", "t.feather", "t.json", "t.arff"):
        if file != "t.csv":
            WRITERS[file](frame, tmp_path / file)
        assert main(["predict", "m.json", file]) == 0
        predicted.append(capsys.readouterr().out)
    assert predicted == ["prediction\n" + 12 * "a\n" + 12 * "b\n"] * 5
