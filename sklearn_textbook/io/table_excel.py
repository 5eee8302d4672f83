"""Excel files, read and written with openpyxl."""

from __future__ import annotations

import csv
import io
import warnings
from dataclasses import dataclass
from datetime import datetime, time

from sklearn_textbook.io.naming import explain_unknown_name, list_names
from sklearn_textbook.io.table_file import TableFileError, TableSource


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook.

    Parameters
    ----------
    name : str
        Its name.
    csv_bytes : bytes
        Its cells as comma-separated text in UTF-8, one line per row of the sheet.
    notes : list of str
        What was not read.
    """

    name: str
    csv_bytes: bytes
    notes: list


def import_openpyxl():
    """Import openpyxl, or raise ImportError with the command to install it."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(
            "Excel files require openpyxl: pip install openpyxl",
            name="openpyxl",
        ) from error
    return openpyxl


def read_sheet(
    source: TableSource, wish: str | int | None = None, comment: str | None = None
) -> Sheet:
    """Read a sheet of an Excel file by its name, or its number counted from 1."""
    openpyxl = import_openpyxl()
    content = io.BytesIO(source.read())
    try:
        with warnings.catch_warnings():
            # Warnings on styles and validation rules, which do not affect values.
            warnings.simplefilter("ignore", UserWarning)
            book = openpyxl.load_workbook(content, read_only=True, data_only=True)
            sheet = _choose_sheet(book.worksheets, wish, source.path)
            # A file may declare fewer cells than it has.
            sheet.reset_dimensions()
            rows = [
                [_write_cell(value) for value in row]
                for row in sheet.iter_rows(values_only=True)
            ]
    except (TableFileError, MemoryError):
        raise
    except Exception as error:  # openpyxl's errors for damaged files are of any kind
        raise TableFileError(
            f"is damaged, or not an Excel file ({error})",
            path=source.path,
            remedy="save it as .xlsx, or give it the ending of its format",
        ) from None
    if comment is not None:
        rows = [[] if row and row[0].startswith(comment) else row for row in rows]
    names = [other.title for other in book.worksheets if other is not sheet]
    notes = []
    if names and wish is None:
        notes = [f"sheets not read: {list_names(names)}; sheet (--sheet) chooses one"]
    return Sheet(sheet.title, _write_csv(rows), notes)


def _choose_sheet(sheets, wish, path):
    """Choose a sheet by its name or, if there is no such name, by its number."""
    by_name = {sheet.title: sheet for sheet in sheets}
    if wish is None or wish in by_name:
        return sheets[0] if wish is None else by_name[wish]
    number = int(wish) if str(wish).isdecimal() else 0
    if not 0 < number <= len(sheets):
        raise TableFileError(
            f"no sheet {wish!r}",
            path=path,
            remedy=f"numbers are from 1 to {len(sheets)}; "
            f"{explain_unknown_name(str(wish), by_name)}",
        )
    return sheets[number - 1]


def _write_cell(value):
    """Write the value of a cell on one line, in a form that csv readers parse."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        is_date = value.time() == time()
        return str(value.date()) if is_date else value.isoformat(" ", "seconds")
    return " ".join(str(value).split())


def _write_csv(rows):
    """Write rows of one width; rows without any value become empty lines."""
    used = [
        max((i + 1 for i, cell in enumerate(row) if cell), default=0) for row in rows
    ]
    width = max(used, default=0)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row, last in zip(rows, used, strict=True):
        writer.writerow((row + [""] * width)[:width] if last else [])
    return stream.getvalue().rstrip("\n").encode()
