"""Excel files, read and written with openpyxl."""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from dataclasses import dataclass
from datetime import datetime, time

from sklearn_textbook.io.naming import list_names
from sklearn_textbook.io.table_file import TableFileError


@dataclass(frozen=True)
class Sheet:
    """The first sheet of a workbook.

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


def read_sheet(source):
    """Read the first sheet of an Excel file.

    Parameters
    ----------
    source : TableSource
        The file.

    Returns
    -------
    sheet : Sheet
        Its cells; formulas as the values that Excel has stored.

    Raises
    ------
    TableFileError
        If it is not an Excel file.
    ImportError
        If openpyxl is not installed.
    """
    openpyxl = import_openpyxl()
    content = io.BytesIO(source.read())
    try:
        with warnings.catch_warnings():
            # Warnings on styles and validation rules, which do not affect values.
            warnings.simplefilter("ignore", UserWarning)
            book = openpyxl.load_workbook(content, read_only=True, data_only=True)
            sheet = book.worksheets[0]
            # A file may declare fewer cells than it has.
            sheet.reset_dimensions()
            rows = [
                [_write_cell(value) for value in row]
                for row in sheet.iter_rows(values_only=True)
            ]
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError, OSError) as error:
        raise TableFileError(
            f"is not an Excel file ({error})",
            path=source.path,
            remedy="save it as .xlsx, or give it the ending of its format",
        ) from None
    names = [other.title for other in book.worksheets[1:]]
    notes = [f"sheets not read: {list_names(names)}"] if names else []
    return Sheet(sheet.title, _write_csv(rows), notes)


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
