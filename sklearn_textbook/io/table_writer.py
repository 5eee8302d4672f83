"""Writing a frame as a table file, by the ending of its name."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as parquet

from sklearn_textbook._contract.written_files import check_writable, write_file
from sklearn_textbook.io.arff import format_arff
from sklearn_textbook.io.table_excel import import_openpyxl
from sklearn_textbook.io.table_file import PACKED, TableFileError, find_ending
from sklearn_textbook.io.table_reader import FORMATS

_TEXT_ENDINGS = {"": ",", ".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
# Excel does not open such a file without macros.
_WITH_MACROS = ".xlsm"
# XML has no such characters, and openpyxl cuts longer texts.
_NOT_IN_EXCEL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONGEST_IN_EXCEL = 32_767


def choose_writer(path: str) -> Callable:
    """Choose how a table is written, by the ending of a name."""
    ending, last = find_ending(path), Path(path).suffix.lower()
    packed = last if last in PACKED else ""
    write_text = _TEXT_WRITERS.get(ending)
    encode = _ENCODERS.get(FORMATS.get(ending))
    if write_text is not None:
        encode = partial(_encode_text, write_text, codec=_CODECS.get(Path(path).suffix))
    elif packed or ending == _WITH_MACROS:
        encode = None
    if encode is None:
        possible = [*filter(None, _TEXT_ENDINGS), *FORMATS]
        possible.remove(_WITH_MACROS)
        raise TableFileError(
            f"a table cannot be written as {ending + packed!r}",
            path=path,
            remedy=f"supported are {', '.join(possible)}; csv and JSON also with .gz",
        )
    if encode is _encode_excel:
        import_openpyxl()
    try:
        check_writable(path)
    except OSError as error:
        raise _cannot_write(error, path) from None
    return partial(_write, encode)


def writes_text(path: str | None) -> bool:
    """Return whether a table is written as separated text; None: standard output."""
    return path is None or find_ending(path) in _TEXT_ENDINGS


def write_csv(
    frame: pa.Table, stream: TextIO, delimiter: str = ",", *, has_names: bool = True
) -> None:
    """Write a frame as text with separated values, with the names of its columns."""
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    if has_names:
        writer.writerow(frame.column_names)
    columns = [[_csv_text(value) for value in c.to_pylist()] for c in frame.columns]
    writer.writerows(zip(*columns, strict=True))


def _csv_text(value):
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def _write_records(frame, stream, is_list) -> None:
    """Write records, as JSON values; dates are texts."""
    lines = [
        json.dumps(record, ensure_ascii=False, default=str)
        for record in frame.to_pylist()
    ]
    text = ",\n".join(lines) if is_list else "\n".join(lines)
    stream.write(f"[\n{text}\n]\n" if is_list else f"{text}\n")


def _encode_excel(frame):
    names = frame.column_names
    columns = [[name, *frame[name].to_pylist()] for name in names]
    for name, column in zip(names, columns, strict=True):
        _check_texts(column, name)
    book = import_openpyxl().Workbook(write_only=True)
    sheet = book.create_sheet("predictions")
    for row in zip(*columns, strict=True):
        sheet.append([_make_cell(sheet, value) for value in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _check_texts(values, column) -> None:
    """Refuse texts that an Excel file cannot have."""
    for row, text in enumerate(values, start=1):
        if not isinstance(text, str):
            continue
        bad = _NOT_IN_EXCEL.search(text)
        if bad or len(text) > _LONGEST_IN_EXCEL:
            problem = (
                f"the character {bad[0]!r}" if bad else f"{len(text):,} characters"
            )
            raise ValueError(
                f"row {row} of the sheet, column {column!r}: an Excel file cannot have "
                f"a text with {problem}; write it as .csv or .parquet"
            )


def _make_cell(sheet, value):
    """Make a cell; text is text, also if it looks like a formula or an error."""
    if not isinstance(value, str):
        return value
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value)
    cell.data_type = "s"
    return cell


def _encode_parquet(frame):
    content = pa.BufferOutputStream()
    parquet.write_table(frame, content)
    return content.getvalue().to_pybytes()


def _encode_feather(frame):
    content = pa.BufferOutputStream()
    with pa.ipc.new_file(content, frame.schema) as writer:
        writer.write_table(frame)
    return content.getvalue().to_pybytes()


def _encode_text(write, frame, codec):
    """Write text in UTF-8, compressed if there is a codec."""
    text = io.StringIO()
    write(frame, text)
    if codec is None:
        return text.getvalue().encode()
    content = pa.BufferOutputStream()
    with pa.CompressedOutputStream(content, codec) as stream:
        stream.write(text.getvalue().encode())
    return content.getvalue().to_pybytes()


def _write(encode, frame, path) -> None:
    try:
        content = encode(frame)
    except ValueError as error:
        raise TableFileError(f"cannot be written: {error}", path=path) from None
    try:
        write_file(path, content)
    except OSError as error:
        raise _cannot_write(error, path) from None


def _cannot_write(error, path):
    return TableFileError(f"cannot be written ({error.strerror})", path=path)


_TEXT_WRITERS = {
    ".json": partial(_write_records, is_list=True),
    ".jsonl": partial(_write_records, is_list=False),
    ".ndjson": partial(_write_records, is_list=False),
    **{
        ending: partial(write_csv, delimiter=delimiter)
        for ending, delimiter in _TEXT_ENDINGS.items()
    },
}
_ENCODERS = {
    "parquet": _encode_parquet,
    "feather": _encode_feather,
    "excel": _encode_excel,
    "arff": partial(format_arff, relation="predictions"),
}
# As they are read: in small letters.
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
