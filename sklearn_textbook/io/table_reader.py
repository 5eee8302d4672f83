"""Reading of table files of all formats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Integral
from os import PathLike
from pathlib import Path

import pyarrow as pa

from sklearn_textbook.io.arff import parse_arff
from sklearn_textbook.io.c45 import find_c45_files, parse_c45, require_c45_files
from sklearn_textbook.io.column_names import clean_names
from sklearn_textbook.io.columns import (
    COLUMN_TYPES,
    NUMERIC_TYPE,
    TEXT_TYPE,
    ColumnContext,
    prepare_columns,
)
from sklearn_textbook.io.date_formats import is_date_format
from sklearn_textbook.io.delimited import DelimitedText, is_delimiter
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.naming import explain_unknown_name
from sklearn_textbook.io.number_formats import (
    COMMA,
    DECIMAL_MARKS,
    POINT,
    DecimalMark,
)
from sklearn_textbook.io.table_excel import read_sheet
from sklearn_textbook.io.table_file import (
    STANDARD_INPUT,
    TableFile,
    TableFileError,
    TableSource,
    find_ending,
)
from sklearn_textbook.io.table_typed import LAYOUTS, load_typed

#: Endings of file names and their formats; files with other endings are text.
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".arff": "arff",
}

#: Formats of the parameters that apply only to some of them.
_FORMATS_OF_OPTIONS = {
    "sheet": ("excel",),
    "skip_lines": ("csv", "excel"),
    "comment": ("csv", "excel"),
}


def read_table(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    sheet: int | str | None = None,
    skip_lines: int = 0,
    comment: str | None = None,
    missing_marks: Sequence[str] = MISSING_MARKS,
    decimal: str | None = None,
    column_types: dict[str, str | list[str]] | None = None,
    drop: Sequence[str] = (),
    expected_names: Sequence[str] = (),
    names_without_header: Sequence[Sequence[str]] = (),
    unknown_names: str = "error",
) -> TableFile:
    r"""Read a table from csv, tsv, Parquet, Feather, JSON, Excel, ARFF or C4.5 files.

    The format is determined by the ending of the file name: .parquet and .pq; .feather,
    .arrow and .ipc; .json (a list of records); .jsonl and .ndjson (one record per
    line); .xlsx and .xlsm; .arff. Files ending in .names are C4.5, and so are .data,
    .test and .cases with a .names file in the same folder. All others are text with
    separated values. Files ending in .gz, .bz2 and .zst are decompressed. csv, Parquet
    and Feather are parsed by pyarrow, Excel by openpyxl.

    Parameters
    ----------
    path : str or path-like
        The file; "-" reads text with separated values from standard input. For C4.5,
        any of the files or their common path without an ending; unless it is the .test
        or .cases file, the .data file is read.
    format : str, default=None
        "csv", "arff", "c45", "excel", "feather", "json", "jsonl" or "parquet", if the
        name does not determine it.
    delimiter : str, default=None
        Separator of the values, an ASCII character. None: comma, semicolon, tab or
        pipe, as detected, or the one that a first line such as ``sep=;``, written for
        Excel, declares.
    header : bool, default=None
        Whether the first row contains the column names. None: yes, unless one of its
        fields is a number. Without a header, the columns are named column_1, column_2,
        ...
    encoding : str, default=None
        Encoding of a text file. None: UTF-8 with or without a byte order mark, UTF-16
        with one, or Chinese GB18030, as detected.
    sheet : str or int, default=None
        Sheet of an Excel file: its name, or its number, counted from 1. None: the
        first.
    skip_lines : int, default=0
        Number of first lines of a csv file, or first rows of a sheet, that are left
        out, such as titles above the column names.
    comment : str, default=None
        Lines of a csv file, or rows of a sheet, that begin with this text are left out,
        such as "#"; blanks before it are allowed. Later in a line it has no meaning.
    missing_marks : sequence of str
        Texts that represent missing values in a csv or Excel file, in addition to empty
        fields; by default "?", "NA", "N/A", "NaN", "nan", "null" and "NULL". Parquet,
        Feather and JSON have null values; ARFF and C4.5 have the mark "?".
    decimal : {".", ","}, default=None
        Decimal mark of numbers in a csv file or in text; the other mark may then
        separate thousands. None: the point, or the comma in columns whose values show
        it, as 1,5 does. 1,234 shows it only if the values are separated by semicolons.
    column_types : dict of str to str or list of str, default=None
        Types of columns, instead of detecting them: "numeric" (also for numbers with
        thousands separators and a currency or percent sign; 38.5% becomes 38.5), a
        format of dates as in ``datetime.strptime``, such as "%m/%d/%Y", "categorical"
        (with levels in numerical order if all are numbers, otherwise sorted), "text",
        or the levels of an ordinal column in ascending order.
    drop : sequence of str, default=()
        Columns to leave out.
    expected_names : sequence of str, default=()
        The first row is treated as the header if it contains one of these names.
    names_without_header : sequence of sequences of str, default=()
        Column names for a table without a header; the first sequence with as many names
        as the table has columns is used.
    unknown_names : {"error", "ignore"}, default="error"
        Whether to raise an error if `column_types` or `drop` names a column that does
        not exist.

    Returns
    -------
    table : TableFile
        The columns and their kinds, the layout, and notes on choices made by the
        reader.

    Raises
    ------
    TableFileError
        If the file cannot be read, a row has too many or too few values, a requested
        column does not exist, or a value does not match its type or is infinite. The
        message is one line with the file, the line and the column.
    ImportError
        If the file is an Excel file and openpyxl is not installed.

    See Also
    --------
    write_arff : Writes a data frame as an ARFF file.
    write_c45 : Writes a data frame as files of C4.5.

    Notes
    -----
    Numbers, booleans, dates and times are numeric columns; text is nominal; categories
    are nominal or, with a declared order, ordinal. In all formats, blanks around the
    names of columns are removed, and text that consists of ISO dates is read as dates.
    Other dates, and numbers with signs, remain text unless `column_types` names them; a
    note then says what they look like.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_textbook.io import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp(), "fruit.csv")
    >>> _ = path.write_text("weight;colour\n1.5;green\n?;black\n")
    >>> table = read_table(path)
    >>> table.layout, table.column_kinds
    ('semicolon-separated, UTF-8', {'weight': 'numeric', 'colour': 'nominal'})
    >>> table.frame["weight"].to_pylist()
    [1.5, None]
    >>> _ = path.write_text("price,sold\n$5,9/21/2024\n$3.50,9/8/2024\n")
    >>> table = read_table(
    ...     path, column_types={"price": "numeric", "sold": "%m/%d/%Y"}
    ... )
    >>> table.frame.to_pandas()
       price        sold
    0    5.0  2024-09-21
    1    3.5  2024-09-08
    """
    column_types = dict(column_types or {})
    for name, wish in column_types.items():
        if not _is_type(wish):
            raise ValueError(
                f"column_types[{name!r}] must be one of {COLUMN_TYPES}, a format of "
                f"dates such as '%m/%d/%Y' or a list of distinct levels, got {wish!r}"
            )
    if decimal not in (None, *DECIMAL_MARKS):
        raise ValueError(f"decimal must be '.', ',' or None, got {decimal!r}")
    _require_lines(skip_lines, comment)
    if delimiter is not None and not is_delimiter(delimiter):
        raise ValueError(
            "delimiter must be an ASCII character other than a quote or a line break, "
            f"or None, got {delimiter!r}"
        )
    source = TableSource.open(path)
    file_format = format or guess_format(source.path)
    if file_format not in _READERS:
        allowed = ", ".join(map(repr, _READERS))
        raise ValueError(f"format must be one of {allowed}, got {file_format!r}")
    given = {"sheet": sheet, "skip_lines": skip_lines or None, "comment": comment}
    for name, value in given.items():
        if value is not None and file_format not in _FORMATS_OF_OPTIONS[name]:
            raise TableFileError(
                f"{name} is for {' and '.join(_FORMATS_OF_OPTIONS[name])} files, and "
                f"this is {file_format}",
                path=source.path,
                remedy=f"omit {name} (--{name.replace('_', '-')})",
            )
    return _READERS[file_format](
        source,
        delimiter=delimiter,
        header=header,
        encoding=encoding,
        sheet=sheet,
        skip_lines=skip_lines,
        comment=comment,
        missing_marks=tuple(missing_marks),
        decimal=decimal,
        column_types=column_types,
        drop=tuple(drop),
        expected_names=tuple(expected_names),
        names_without_header=names_without_header,
        unknown_names=unknown_names,
    )


def _require_lines(skip_lines, comment) -> None:
    """Check the parameters for lines that are left out."""
    if not isinstance(skip_lines, Integral) or skip_lines < 0:
        raise ValueError(f"skip_lines must be an integer >= 0, got {skip_lines!r}")
    is_mark = (
        isinstance(comment, str) and comment.strip() and not set("\r\n") & set(comment)
    )
    if comment is not None and not is_mark:
        raise ValueError(f"comment must be a text such as '#', got {comment!r}")


def _is_type(wish):
    if not isinstance(wish, list | tuple):
        return wish in COLUMN_TYPES or is_date_format(wish)
    are_texts = all(isinstance(level, str) for level in wish)
    return bool(wish) and are_texts and len(set(wish)) == len(wish)


def guess_format(path: str) -> str:
    """Guess the format of a table by its name and the files in the same folder."""
    if path == STANDARD_INPUT:
        return "csv"
    known = FORMATS.get(find_ending(path))
    if known:
        return known
    c45 = find_c45_files(path)
    if c45 and (path in (c45.names, c45.cases) or not Path(path).is_file()):
        return "c45"
    return "csv"


def _require_names(names, options, path):
    if options["unknown_names"] == "ignore":
        return
    for name in [*options["column_types"], *options["drop"]]:
        if name not in names:
            raise TableFileError(
                f"no column {name!r}",
                path=path,
                remedy=explain_unknown_name(name, names),
            )


def _finish(
    table,
    source,
    find_line,
    options,
    notes=(),
    *,
    missing_marks=None,
    presumed_decimal=None,
    **facts,
):
    """Check names, drop columns and convert the others, for all formats."""
    _require_names(table.column_names, options, source.path)
    names = set(table.column_names)
    table = table.drop_columns(list(names.intersection(options["drop"])))
    context = ColumnContext(
        source.path,
        find_line,
        missing_marks,
        DecimalMark(options["decimal"], presumed_decimal),
        list(notes),
    )
    return TableFile(
        frame=prepare_columns(table, options["column_types"], context),
        path=source.path,
        notes=tuple(context.notes),
        find_line=find_line,
        units=context.units,
        **facts,
    )


def _read_csv(source, file_format: str = "csv", layout=None, notes=(), **options):
    text = DelimitedText(
        source,
        delimiter=options["delimiter"],
        header=options["header"],
        encoding=options["encoding"],
        expected_names=options["expected_names"],
        names_without_header=options["names_without_header"],
        skip_lines=options["skip_lines"],
        comment=options["comment"],
    )
    # Requested text must not be converted to numbers: "007" stays "007".
    as_text = {
        name: pa.string()
        for name, wish in options["column_types"].items()
        if wish != NUMERIC_TYPE
    }
    for name in options["drop"]:
        as_text[name] = pa.string()
    decimal = options["decimal"] or POINT
    table = text.parse(as_text, options["missing_marks"], decimal)
    return _finish(
        table,
        source,
        text.find_line,
        options,
        [*notes, *text.notes],
        missing_marks=options["missing_marks"],
        # Values are separated by semicolons where the comma is the decimal mark.
        presumed_decimal=COMMA if text.delimiter == ";" else None,
        format=file_format,
        layout=layout or text.layout,
        has_header=text.has_header,
        load_written=text.parse_written,
    )


def _read_excel(source, **options):
    """Read a sheet as the csv text that it would be saved as."""
    sheet = read_sheet(source, options["sheet"], options["comment"])
    options = {**options, "delimiter": ",", "encoding": "utf-8", "comment": None}
    return _read_csv(
        TableSource(source.path, sheet.csv_bytes),
        file_format="excel",
        layout=f"Excel, sheet {sheet.name!r}",
        notes=sheet.notes,
        **options,
    )


def _read_arff(source, **options):
    arff = parse_arff(source, encoding=options["encoding"])
    notes = []
    if arff.weight is not None:
        notes = [f"the weights of the rows are the column {arff.weight!r}"]
    return _finish(
        arff.frame,
        source,
        arff.find_line,
        options,
        notes,
        format="arff",
        layout=f"ARFF, relation {arff.relation!r}",
        weight=None if arff.weight in options["drop"] else arff.weight,
    )


def _read_c45(source, **options):
    path = source.path
    files = require_c45_files(path)
    source = TableSource(files.cases)
    try:
        c45 = parse_c45(files, encoding=options["encoding"])
    except TableFileError as error:
        if path == files.cases and error.path == files.names and error.line:
            # Often, a .names file next to a .data file only describes it in prose.
            error.remedy += (
                f"; if {Path(files.names).name} only describes the table, rename "
                f"{Path(path).name} to {Path(path).stem}.csv"
            )
        raise
    # Labels are text, whatever it looks like.
    types = dict.fromkeys(c45.id_columns, TEXT_TYPE) | options["column_types"]
    dropped = options["drop"]
    return _finish(
        c45.frame,
        source,
        c45.find_line,
        {**options, "column_types": types},
        c45.notes,
        format="c45",
        layout=f"C4.5, {Path(files.names).name}",
        target=None if c45.target in dropped else c45.target,
        id_columns=tuple(n for n in c45.id_columns if n not in dropped),
    )


def _read_typed(source, file_format, **options):
    """Read a file of a format with typed columns."""
    table, find_line = load_typed(source, file_format)
    # pandas stores unnamed row labels under this name.
    labels = [n for n in table.column_names if n.startswith("__index_level_")]
    table = table.drop_columns(labels)
    if table.num_rows == 0:
        raise TableFileError("has no rows", path=source.path)
    names, notes = clean_names(table.column_names, path=source.path)
    return _finish(
        table.rename_columns(names),
        source,
        find_line,
        options,
        notes,
        format=file_format,
        layout=LAYOUTS[file_format],
    )


_READERS = {
    "csv": _read_csv,
    "arff": _read_arff,
    "c45": _read_c45,
    "excel": _read_excel,
    **{name: partial(_read_typed, file_format=name) for name in LAYOUTS},
}
