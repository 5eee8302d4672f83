"""Tables in formats with typed columns: Parquet, Feather, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as parquet

from sklearn_textbook.io.naming import shorten
from sklearn_textbook.io.table_file import TableFileError, TableSource, make_row_error

#: The formats and their names.
LAYOUTS = {
    "parquet": "Parquet",
    "feather": "Feather",
    "json": "JSON",
    "jsonl": "JSON lines",
}
_RECORDS = "a table is a list of records, [{column: value, ...}, ...]"


def load_typed(
    source: TableSource, file_format: str
) -> tuple[pa.Table, Callable | None]:
    """Load a file of a format with typed columns, and what finds the line of a row."""
    content = source.read()
    if file_format == "jsonl":
        return _load_lines(content, source.path)
    load = {"parquet": _load_parquet, "feather": _load_feather, "json": _load_json}
    return load[file_format](content, source.path), lambda row: None


def _load_parquet(content, path):
    return _load_checked(
        lambda: parquet.read_table(pa.BufferReader(content)), "a Parquet", path
    )


def _load_feather(content, path):
    """Load Feather, which is Arrow's file format, or Arrow's format for streams."""

    def read():
        try:
            return pa.ipc.open_file(content).read_all()
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(content).read_all()

    return _load_checked(read, "a Feather or Arrow", path)


def _load_checked(read, name, path):
    """Read a table, and refuse what a damaged file would have it contain."""
    try:
        table = read()
        # Arrow trusts its files, and would follow offsets that lead out of the memory.
        table.validate(full=True)
        table.column_names  # noqa: B018 - raises an error if they are not UTF-8
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).partition("\n")[0].rpartition("'<Buffer>': ")[2]
        raise TableFileError(
            f"is damaged, or not {name} file ({reason})",
            path=path,
            remedy="write it again, or rename it to the ending of its format",
        ) from None
    return table


# ---------------------------------------------------------------------- JSON
def _load_json(content, path):
    try:
        records = json.loads(content)
    except ValueError as error:
        raise TableFileError(f"is not JSON ({error})", path=path) from None
    if not isinstance(records, list):
        remedy = f"{_RECORDS}, as pandas writes it with orient='records'"
        raise TableFileError("is JSON, but not a table", path=path, remedy=remedy)
    return _join_records(records, path, lambda row: None)


def _load_lines(content, path):
    records, lines = [], []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except ValueError as error:
            raise TableFileError(
                f"is not JSON ({error})",
                path=path,
                line=number,
                remedy="write one record per line",
            ) from None
        lines.append(number)
    return _join_records(records, path, lines.__getitem__), lines.__getitem__


def _join_records(records, path, find_line):
    """Make the columns of records; a key absent from a record is a missing value."""
    names = {}
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            text = shorten(json.dumps(record, ensure_ascii=False))
            raise _refuse(row, f"{text} is not a record", path, find_line)
        names.update(dict.fromkeys(record))
    columns = {
        name: _make_column(
            name, [record.get(name) for record in records], path, find_line
        )
        for name in names
    }
    return pa.table(columns)


def _make_column(name, values, path, find_line):
    """Make a column of numbers, of booleans, or of text."""
    present = [row for row, value in enumerate(values) if value is not None]
    first = type(values[present[0]]) if present else None
    for row in present:
        value = values[row]
        if isinstance(value, dict | list):
            problem = "is neither a number, a text, true nor false"
        elif not _is_alike(value, first):
            problem = "has a different type than the preceding values"
        else:
            continue
        text = shorten(json.dumps(value, ensure_ascii=False))
        raise _refuse(row, f"{text} {problem}", path, find_line, name)
    if any(isinstance(value, float) for value in values):
        values = [None if value is None else float(value) for value in values]
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError) as error:
        raise TableFileError(str(error), path=path, column=name) from None


def _is_alike(value, kind):
    numbers = (int, float)
    return type(value) is kind or (type(value) in numbers and kind in numbers)


def _refuse(row, problem, path, find_line, column=None):
    remedy = _RECORDS if column is None else "write values of one type, null if missing"
    return make_row_error(
        problem, path=path, find_line=find_line, row=row, column=column, remedy=remedy
    )
