"""The rows of an ARFF file, dense and sparse, as typed columns."""

from __future__ import annotations

import re
from functools import partial

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv

from sklearn_textbook.io.arff_syntax import QUOTED, strip_comment, unquote
from sklearn_textbook.io.columns import moment_type
from sklearn_textbook.io.date_formats import read_moment
from sklearn_textbook.io.declared_columns import DeclaredColumns
from sklearn_textbook.io.naming import count_things, shorten
from sklearn_textbook.io.table_file import TableFileError

# A value and its delimiter. In a row with commas or tabs a value may contain blanks.
_COMMA_FIELD = re.compile(rf"\s*({QUOTED}|[^,\t]*?)\s*(,|\t|$)")
_BLANK_FIELD = re.compile(rf"\s*({QUOTED}|\S+)(\s+|$)")
_SPARSE_ROW = re.compile(rf"\{{((?:{QUOTED}|[^'\"}}])*)\}}(.*)")
_SPARSE_ITEM = re.compile(rf"\s*(\d+)\s+({QUOTED}|[^\s,]+)\s*(,|$)")
# The weight at the end of a row, as in "sunny,85,{2}".
_WEIGHT = re.compile(r"[,\s]\s*\{([^{}'\"]*)\}$")
# If the data contain any of these, every row needs the slow, exact reader.
_SPECIAL = (b"'", b'"', b"\\", b"{", b"%", b"\t")


class DataRows:
    """The rows after @data.

    Parameters
    ----------
    path : str
        The file, for messages.
    attributes : list of Attribute
        The declared columns.
    body : bytes
        The text after the @data line, in UTF-8.
    n_header_lines : int
        Lines of the file before it.

    Attributes
    ----------
    weights : list of float or None
        The weights of the rows, 1 where a row has none; None if no row has one.
    """

    def __init__(self, path, attributes, body, n_header_lines) -> None:
        self.path = path
        self.attributes = attributes
        self.names = [attribute.name for attribute in attributes]
        self.body = body
        self.first_line = n_header_lines + 1
        self.lines = None
        self.weights = None
        self.typed = DeclaredColumns(path, self.find_line)

    def error(self, problem, line, column=None, remedy=None):
        """Return an error at a line."""
        return TableFileError(
            problem, path=self.path, line=line, column=column, remedy=remedy
        )

    def read(self) -> pa.Table:
        """All rows."""
        try:
            columns = self._read_plain()
            if columns is not None:
                return self._type_columns(columns)
        except (pa.ArrowInvalid, TableFileError):
            pass  # the exact reader names the line of the error
        return self._type_columns(self._read_exact())

    def find_line(self, row):
        """Line of a row, counted from 0."""
        if self.lines is None:
            self.lines = [line for line, _ in self._data_lines()]
        return self.lines[row] if row < len(self.lines) else None

    # --------------------------------------------------------- rows to columns
    def _read_plain(self):
        """All columns at once, or None if the rows need the exact reader."""
        if not self.body.strip() or any(mark in self.body for mark in _SPECIAL):
            return None
        table = arrow_csv.read_csv(
            pa.py_buffer(self.body),
            read_options=arrow_csv.ReadOptions(column_names=self.names),
            parse_options=arrow_csv.ParseOptions(quote_char=False),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(self.names, pa.string()),
                strings_can_be_null=False,
            ),
        )
        missing = pa.array(["?", ""])
        columns = []
        for column in table.columns:
            column = compute.utf8_trim_whitespace(column)
            is_missing = compute.is_in(column, value_set=missing)
            columns.append(
                compute.if_else(is_missing, pa.scalar(None, pa.string()), column)
            )
        return columns

    def _read_exact(self):
        """All columns, row by row; the weights of the rows, if there are any."""
        values = [[] for _ in self.names]
        lines, weights = [], []
        for line, text in self._data_lines():
            match = _WEIGHT.search(text)
            weights.append(None if match is None else self._read_weight(match[1], line))
            text = text if match is None else text[: match.start()]
            split = self._split_sparse if text.startswith("{") else self._split_dense
            for column, value in zip(values, split(text, line), strict=True):
                column.append(value)
            lines.append(line)
        if not lines:
            raise self.error(
                "no row after @data", self.first_line - 1, remedy="add rows"
            )
        self.lines = lines
        if any(weight is not None for weight in weights):
            self.weights = [1.0 if weight is None else weight for weight in weights]
        return [pa.chunked_array([pa.array(column, pa.string())]) for column in values]

    def _read_weight(self, text, line):
        try:
            weight = float(text)
        except ValueError:
            weight = -1.0
        if not 0 <= weight < float("inf"):
            raise self.error(
                f"the weight {{{shorten(text)}}} is not a number >= 0",
                line,
                remedy="write the weight of the row as in sunny,85,{2}",
            )
        return weight

    def _data_lines(self):
        for number, raw in enumerate(self.body.split(b"\n"), start=self.first_line):
            text = raw.decode()
            if "%" in text:
                text = strip_comment(text)
            text = text.strip()
            if text:
                yield number, text

    def _split_dense(self, text, line):
        fields = self._split_fields(text, line)
        if len(fields) != len(self.names):
            raise self.error(
                f"the row has {count_things(len(fields), 'value')}, but "
                f"{count_things(len(self.names), 'attribute')} are declared",
                line,
                remedy="quote values that contain a comma or a blank, and write ? for "
                "missing values",
            )
        return [None if field in ("?", "") else unquote(field) for field in fields]

    def _split_fields(self, text, line):
        plain = re.sub(QUOTED, "", text) if "'" in text or '"' in text else text
        pattern = _COMMA_FIELD if "," in plain or "\t" in plain else _BLANK_FIELD
        fields, position, end = [], 0, None
        while end != "" and (pattern is _COMMA_FIELD or position < len(text)):
            match = pattern.match(text, position)
            field, end = match[1], match[2]
            if field[:1] in ("'", '"') and not re.fullmatch(QUOTED, field):
                raise self.error(
                    f"the quote before {shorten(field[1:])!r} is not closed",
                    line,
                    remedy="close it, and write a quote inside a value as \\'",
                )
            fields.append(field)
            position = match.end()
        return fields

    def _split_sparse(self, text, line):
        match = _SPARSE_ROW.fullmatch(text)
        if not match:
            raise self.error(
                "the sparse row is not closed", line, remedy="end it with }"
            )
        body, tail = match[1].strip(), match[2].strip(" ,\t")
        if tail:
            raise self.error(
                f"unexpected {shorten(tail)!r} after the sparse row",
                line,
                remedy="write the weight of a row as in {0 1.5, 3 yes}, {2}",
            )
        row = [_sparse_default(attribute) for attribute in self.attributes]
        position, before = 0, -1
        while position < len(body):
            match = _SPARSE_ITEM.match(body, position)
            index = int(match[1]) if match else -1
            if not before < index < len(self.names):
                raise self.error(
                    f"{shorten(body[position:].strip())!r} does not begin with the "
                    f"number of an attribute from {before + 1} to "
                    f"{len(self.names) - 1} and its value",
                    line,
                    remedy="write {0 1.5, 3 yes}, with attributes counted from 0",
                )
            row[index] = None if match[2] == "?" else unquote(match[2])
            position, before = match.end(), index
        return row

    # ---------------------------------------------------------- typed columns
    def _type_columns(self, columns):
        convert = {
            "numeric": lambda a, column: self.typed.to_numbers(a.name, column),
            "nominal": lambda a, column: self.typed.to_levels(a.name, column, a.levels),
            "date": self._to_dates,
            "string": lambda a, column: column,
        }
        return pa.table(
            {
                attribute.name: convert[attribute.type](attribute, column)
                for attribute, column in zip(self.attributes, columns, strict=True)
            }
        )

    def _to_dates(self, attribute, column):
        values = self.typed.convert_each(
            attribute.name,
            column,
            partial(read_moment, date_format=attribute.date_format),
            f"does not follow the date pattern {attribute.date_pattern}",
            "write the date in this format",
        )
        return pa.chunked_array([pa.array(values, moment_type(attribute.date_format))])


def _sparse_default(attribute):
    """Return the value omitted in sparse rows: 0, the first level; else missing."""
    if attribute.type == "numeric":
        return "0"
    return attribute.levels[0] if attribute.levels else None
