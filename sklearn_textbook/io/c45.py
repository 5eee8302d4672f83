r"""Tables of C4.5: a .names file with the declarations, a .data file with the cases.

Supported, as defined by C4.5 and C5.0: classes as a list or by the name of an
attribute, numeric targets with thresholds; continuous and discrete attributes with
declared levels or ``discrete N``; ``ignore``; from C5.0 ``[ordered]``, ``label``,
``date``, ``time``, ``timestamp``, and lists of included or excluded attributes.
Comments, escapes, ``?``. Attributes defined by formulas raise an error. ``N/A`` (not
applicable) is read as missing, with a note, unless it is a declared level.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from sklearn_textbook.io.c45_names import NamesParser
from sklearn_textbook.io.c45_rows import CaseRows
from sklearn_textbook.io.columns import categories_from_text
from sklearn_textbook.io.naming import list_names
from sklearn_textbook.io.number_formats import number_text
from sklearn_textbook.io.table_file import PACKED, TableFileError, TableSource
from sklearn_textbook.io.text_encoding import decode_to_utf8

NAMES_ENDING = ".names"
DATA_ENDING = ".data"
CASE_ENDINGS = (DATA_ENDING, ".test", ".cases")
_CASE_WEIGHT = "case weight"


@dataclass(frozen=True)
class C45Files:
    """The two files of a table.

    Parameters
    ----------
    names : str
        Path of the .names file.
    cases : str
        Path of the .data, .test or .cases file.
    """

    names: str
    cases: str


def find_c45_files(path: str) -> C45Files | None:
    """Find the .names file that belongs to a path, and the file with the cases.

    The path is one of the two, or both without their endings. None without .names.
    """
    stem, ending = split_ending(path)
    if ending == NAMES_ENDING:
        return C45Files(path, find_beside(stem, DATA_ENDING) or stem + DATA_ENDING)
    if ending in CASE_ENDINGS:
        names = find_beside(stem, NAMES_ENDING)
        return C45Files(names, path) if names else None
    names = find_beside(path, NAMES_ENDING)
    if names is None:
        return None
    return C45Files(names, find_beside(path, DATA_ENDING) or path + DATA_ENDING)


def require_c45_files(path: str) -> C45Files:
    """Find the files of a table in the format of C4.5; they must exist."""
    files = find_c45_files(path)
    if files is None:
        raise TableFileError(
            "has no .names file in the same folder",
            path=path,
            remedy="C4.5 declares the columns in a file with this ending",
        )
    return files


def split_ending(path: str) -> tuple[str, str]:
    """Split a path such as golf.data.gz into "golf" and ".data"."""
    plain = Path(path)
    if plain.suffix.lower() in PACKED:
        plain = plain.with_suffix("")
    if not plain.name:  # the working folder or the root
        return path, ""
    return str(plain.with_suffix("")), plain.suffix.lower()


def find_beside(stem, ending):
    """Find a file by stem and ending, compressed or not; None if there is none."""
    paths = (stem + ending + packed for packed in ("", *PACKED))
    return next((path for path in paths if Path(path).is_file()), None)


@dataclass
class C45Content:
    """Content of the files of a table.

    Parameters
    ----------
    frame : pyarrow.Table
        The columns, without ignored ones.
    target : str
        Name of the class.
    id_columns : tuple of str
        Columns that only name the cases.
    notes : list of str
        Choices of the reader that are not obvious.
    find_line : callable
        Line of a case, counted from 0.
    """

    frame: pa.Table
    target: str
    id_columns: tuple[str, ...]
    notes: list[str]
    find_line: Callable[[int], int | None] = field(repr=False)


def parse_c45(files: C45Files, encoding: str | None = None) -> C45Content:
    """Parse the files of a table into typed columns."""
    parser = read_names(files.names, encoding)
    rows = _open_cases(files.cases, parser, encoding)
    frame = rows.read(_find_earlier_levels(files, parser, encoding))
    if parser.thresholds:
        position = frame.column_names.index(parser.target)
        classes = _divide(frame[parser.target], parser.target, parser.thresholds)
        frame = frame.set_column(position, parser.target, classes)
    ids = tuple(a.name for a in parser.attributes if a.type == "label")
    notes = [*_note_names(parser), *rows.notes]
    return C45Content(frame, parser.target, ids, notes, rows.find_line)


def read_names(path: str, encoding: str | None = None) -> NamesParser:
    """Read a .names file."""
    parser = NamesParser(path)
    parser.read(read_text(path, encoding).decode())
    return parser


def read_text(path: str, encoding: str | None = None) -> bytes:
    """Read a file as UTF-8 with line feeds as line ends."""
    text, _ = decode_to_utf8(TableSource.open(path).read(), path, encoding)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text


def _open_cases(path, parser, encoding):
    return CaseRows(path, parser.attributes, read_text(path, encoding))


def _find_earlier_levels(files, parser, encoding):
    """Return the levels of the .data file of attributes that declare none.

    New levels of a .test file follow them, so that both files have the same order.
    """
    counted = [a.name for a in parser.attributes if a.type == "counted"]
    stem, ending = split_ending(files.cases)
    data = find_beside(stem, DATA_ENDING)
    if not counted or ending == DATA_ENDING or data is None:
        return {}
    frame = _open_cases(data, parser, encoding).read()
    return {name: list_levels(frame[name]) for name in counted}


def list_levels(column):
    """List the levels of a dictionary column in their order."""
    return column.unify_dictionaries().combine_chunks().dictionary.to_pylist()


def _divide(column, name, thresholds):
    """Convert numbers to the classes between thresholds."""
    ends = [number_text(threshold) for threshold in thresholds]
    classes = [
        f"{name} <= {ends[0]}",
        *(f"{ends[i]} < {name} <= {ends[i + 1]}" for i in range(len(ends) - 1)),
        f"{name} > {ends[-1]}",
    ]
    texts = [
        None if value is None else classes[bisect_left(thresholds, value)]
        for value in column.to_pylist()
    ]
    return categories_from_text(
        pa.chunked_array([pa.array(texts, pa.string())]), classes
    )


def _note_names(parser):
    ignored = [a.name for a in parser.attributes if a.type == "ignore"]
    if ignored:
        yield f"left out as {Path(parser.path).name} says: {list_names(ignored)}"
    if any(
        a.name == _CASE_WEIGHT and a.type == "continuous" for a in parser.attributes
    ):
        yield (
            f"column {_CASE_WEIGHT!r} is the weight of the cases in C5.0; here it is "
            "an ordinary column"
        )
