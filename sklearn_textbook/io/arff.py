"""Weka's attribute-relation files (ARFF), read and written with their types.

No maintained reader provides what trees need: SciPy's ``loadarff`` does not support
string attributes and sparse rows, and pure Python packages return rows of Python
objects instead of typed columns. Rows without quotes, braces and comments are parsed by
pyarrow, others line by line.

Supported: numeric, real, integer, nominal (the declared order is kept as the order of
the levels), string and date attributes, dense and sparse rows, both kinds of quotes
with backslash escapes, comments, ``?`` as missing, weights of rows. Relational
attributes and weights of attributes raise an error.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.io.arff_header import HeaderParser
from sklearn_textbook.io.arff_rows import DataRows
from sklearn_textbook.io.arff_syntax import Attribute, quote
from sklearn_textbook.io.number_formats import number_text
from sklearn_textbook.io.table_file import TableSource
from sklearn_textbook.io.text_encoding import decode_to_utf8


@dataclass
class ArffContent:
    """Content of an ARFF file.

    Parameters
    ----------
    relation : str
        Name of the relation.
    attributes : list of Attribute
        The declared columns.
    frame : pyarrow.Table
        The columns; the last one has the weights of the rows, if there are any.
    find_line : callable
        Line of a row, counted from 0.
    weight : str or None
        Name of the column of weights.
    """

    relation: str
    attributes: list[Attribute]
    frame: pa.Table
    find_line: Callable[[int], int | None] = field(repr=False)
    weight: str | None = None


def parse_arff(source: TableSource, encoding: str | None = None) -> ArffContent:
    """Parse an ARFF file into typed columns; without an encoding, it is detected."""
    text, _ = decode_to_utf8(source.read(), source.path, encoding)
    header = HeaderParser(source.path)
    body = text[header.read(text) :]
    rows = DataRows(source.path, header.attributes, body, header.line)
    frame, weight = rows.read(), None
    if rows.weights is not None:
        weight = next(name for name in _name_weights() if name not in rows.names)
        frame = frame.append_column(weight, pa.array(rows.weights))
    return ArffContent(
        header.relation, header.attributes, frame, rows.find_line, weight
    )


def _name_weights():
    """Yield names for the column of weights, as an attribute may have the first."""
    yield "weight"
    yield from (f"row_weight{'_' * number}" for number in itertools.count())


def write_arff(
    frame: Any, path: str | PathLike[str], *, relation: str = "table"
) -> None:
    """Write a data frame as an ARFF file, from which `read_table` restores it.

    Numbers become numeric attributes, categories nominal attributes with their levels
    in declared order, text nominal attributes with its distinct values, sorted, since
    Weka's classifiers take no strings, booleans nominal {false, true}, and dates with
    or without times date attributes; missing values are written as ``?``.

    Parameters
    ----------
    frame : pandas, polars or pyarrow table
        The columns.
    path : str or path-like
        The file to write, in UTF-8.
    relation : str, default="table"
        Name of the relation.

    Raises
    ------
    TypeError
        If a column has a type that ARFF does not support, such as lists.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import pandas as pd
    >>> from sklearn_textbook.io import read_table, write_arff
    >>> path = pathlib.Path(tempfile.mkdtemp(), "fruit.arff")
    >>> colour = pd.Categorical(["green", None], categories=["white", "green"])
    >>> write_arff(pd.DataFrame({"weight": [1.5, 2.0], "colour": colour}), path)
    >>> print(path.read_text())
    @relation table
    <BLANKLINE>
    @attribute weight numeric
    @attribute colour {white, green}
    <BLANKLINE>
    @data
    1.5,green
    2,?
    <BLANKLINE>
    >>> read_table(path).column_kinds
    {'weight': 'numeric', 'colour': 'nominal'}
    """
    write_file(path, format_arff(frame, relation))


def format_arff(frame, relation: str) -> str:
    """Return the text of an ARFF file."""
    table = nw.from_native(frame, eager_only=True).to_arrow()
    lines = [f"@relation {quote(relation)}", ""]
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        declared, texts = _write_column(name, column)
        lines.append(f"@attribute {quote(name)} {declared}")
        columns.append(texts)
    lines += ["", "@data"]
    lines += [",".join(row) for row in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"


def _write_column(name, column):
    """Return the declared type and the texts of one column."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        levels = column.unify_dictionaries().combine_chunks().dictionary.to_pylist()
        return _declare_levels(levels), _write_texts(column.cast(kind.value_type), str)
    if pa.types.is_boolean(kind):
        return "{false, true}", _write_texts(column, lambda value: str(value).lower())
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return "numeric", _write_texts(column, str)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numeric", _write_texts(column.cast(pa.float64()), number_text)
    if pa.types.is_date(kind):
        return "date yyyy-MM-dd", _write_texts(column.cast(pa.date32()), str)
    if pa.types.is_timestamp(kind):
        texts = compute.strftime(column.cast(pa.timestamp("ms")), "%Y-%m-%dT%H:%M:%S")
        return "date \"yyyy-MM-dd'T'HH:mm:ss.SSS\"", _write_texts(texts, str)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        levels = sorted(column.drop_null().unique().to_pylist())
        return _declare_levels(levels), _write_texts(column, str)
    raise TypeError(f"column {name!r} has type {kind}, which ARFF does not support")


def _declare_levels(levels) -> str:
    """Declare a nominal attribute; without levels, one of texts that are missing."""
    return f"{{{', '.join(quote(str(level)) for level in levels)}}}"


def _write_texts(column, write):
    return [
        "?" if value is None else quote(write(value)) for value in column.to_pylist()
    ]
