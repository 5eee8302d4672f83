"""The cases of a C4.5 file as typed columns."""

from __future__ import annotations

import re
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv

from sklearn_textbook.io.c45_syntax import (
    MISSING,
    NOT_APPLICABLE,
    read_word,
    split_fields,
    strip_comments,
)
from sklearn_textbook.io.columns import categories_from_text
from sklearn_textbook.io.declared_columns import DeclaredColumns
from sklearn_textbook.io.naming import count_things, list_names, shorten
from sklearn_textbook.io.table_file import TableFileError

_LAST_PERIOD = re.compile(r"(?<!\\)((?:\\\\)*)\.$")
_COMMENT = re.compile(rb"\|[^\n]*")
_MANY_BLANKS = r"[ \t]+"

# Type of the columns, format of their values, and a function for values that pyarrow
# does not read.
_MOMENTS = {
    "date": (
        pa.date32(),
        "YYYY-MM-DD or YYYY/MM/DD",
        lambda text: datetime.strptime(text.replace("/", "-"), "%Y-%m-%d").date(),
    ),
    "time": (
        pa.time64("us"),
        "HH:MM:SS",
        lambda text: datetime.strptime(text, "%H:%M:%S").time(),
    ),
    "timestamp": (
        pa.timestamp("s"),
        "YYYY-MM-DD HH:MM:SS or YYYY/MM/DD HH:MM:SS",
        lambda text: datetime.strptime(text.replace("/", "-"), "%Y-%m-%d %H:%M:%S"),
    ),
}


class CaseRows:
    """The cases of a .data, .test or .cases file.

    Parameters
    ----------
    path : str
        The file, for messages.
    attributes : list of Attribute
        The declared columns.
    text : bytes
        The file in UTF-8, its lines ended by line feeds.

    Attributes
    ----------
    notes : list of str
        Choices of the reader that are not obvious.
    """

    def __init__(self, path, attributes, text) -> None:
        self.path = path
        self.attributes = attributes
        self.kept = [a for a in attributes if a.type != "ignore"]
        self.names = [attribute.name for attribute in attributes]
        self.text = text
        self.notes = []
        self.lines = None
        self.typed = DeclaredColumns(path, self.find_line)

    def read(self, earlier_levels: dict[str, list[str]] | None = None) -> pa.Table:
        """Read all cases; earlier levels precede those that are not declared."""
        texts = self.read_texts()
        before = earlier_levels or {}
        return pa.table(
            {
                a.name: self._to_type(a, texts[a.name], before.get(a.name, ()))
                for a in self.kept
            }
        )

    def read_texts(self) -> dict[str, pa.ChunkedArray]:
        """Read the words of all columns that are not ignored; null where missing."""
        try:
            columns = self._read_plain()
        except pa.ArrowInvalid:
            columns = None  # the exact reader names the line of the error
        if columns is None:
            columns = self._read_exact()
        return {
            attribute.name: self._find_missing(attribute, column)
            for attribute, column in zip(self.kept, columns, strict=True)
        }

    def find_line(self, row):
        """Line of a row, counted from 0."""
        if self.lines is None:
            self.lines = [line for line, _ in self._case_lines()]
        return self.lines[row] if row < len(self.lines) else None

    # --------------------------------------------------------- cases to columns
    def _read_plain(self):
        """All columns at once, or None if the cases need the exact reader."""
        if b"\\" in self.text or len(self.names) == 1:
            return None
        text = _COMMENT.sub(b"", self.text) if b"|" in self.text else self.text
        if not text.strip():
            return None
        table = arrow_csv.read_csv(
            pa.py_buffer(text),
            read_options=arrow_csv.ReadOptions(column_names=self.names),
            parse_options=arrow_csv.ParseOptions(quote_char=False),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=[attribute.name for attribute in self.kept],
                column_types=dict.fromkeys(self.names, pa.string()),
                strings_can_be_null=False,
            ),
        )
        has_gaps = b"  " in text or b"\t" in text
        columns = []
        for name, column in zip(table.column_names, table.columns, strict=True):
            column = compute.utf8_trim(column, " \t")
            if name == self.names[-1]:
                column = compute.replace_substring_regex(column, r"[ \t]*\.$", "")
            if has_gaps:
                column = compute.replace_substring_regex(column, _MANY_BLANKS, " ")
            columns.append(column)
        return columns

    def _read_exact(self):
        """All columns, case by case."""
        cases, lines = [], []
        for line, text in self._case_lines():
            cases.append(self._split(text, line))
            lines.append(line)
        if not cases:
            raise TableFileError(
                "has no cases",
                path=self.path,
                remedy="write one case per line, its values separated by commas",
            )
        self.lines = lines
        kept = [a.type != "ignore" for a in self.attributes]
        columns = zip(*cases, strict=True)
        return [
            pa.chunked_array([pa.array(column, pa.string())])
            for column, is_kept in zip(columns, kept, strict=True)
            if is_kept
        ]

    def _case_lines(self):
        for number, line in enumerate(self.text.decode().split("\n"), start=1):
            case = strip_comments(line).strip(" \t")
            if case:
                yield number, case

    def _split(self, text, line):
        if text[-1] == ".":
            text = _LAST_PERIOD.sub(r"\1", text)
        fields = split_fields(text)
        if len(fields) != len(self.names):
            raise self._count_error(fields, line)
        return [read_word(field) for field in fields]

    def _count_error(self, fields, line):
        expected = len(self.names)
        if len(fields) < expected:
            remedy = (
                f"no value for {self.names[len(fields)]!r}; write ? if it is missing"
            )
        else:
            surplus = read_word(fields[expected])
            remedy = (
                f"unexpected {shorten(surplus)!r}; write \\, for a comma inside a value"
            )
        return TableFileError(
            f"the case has {count_things(len(fields), 'value')}, but "
            f"{count_things(expected, 'column')} are declared, including the class",
            path=self.path,
            line=line,
            remedy=remedy,
        )

    # ---------------------------------------------------------- typed columns
    def _find_missing(self, attribute, column):
        """Return the words, with null for marks of missing values."""
        is_missing = compute.is_in(column, value_set=pa.array([MISSING, ""]))
        if NOT_APPLICABLE not in attribute.levels:
            is_none = compute.equal(column, NOT_APPLICABLE)
            n_none = compute.sum(is_none).as_py() or 0
            if n_none:
                self.notes.append(
                    f"column {attribute.name!r}: {count_things(n_none, 'value')} "
                    f"{NOT_APPLICABLE} (not applicable) read as missing"
                )
                is_missing = compute.or_(is_missing, is_none)
        return compute.if_else(is_missing, pa.scalar(None, pa.string()), column)

    def _to_type(self, attribute, column, earlier_levels):
        name = attribute.name
        match attribute.type:
            case "continuous":
                return self.typed.to_numbers(name, column)
            case "nominal" | "ordinal":
                ordered = attribute.type == "ordinal"
                levels = attribute.levels
                return self.typed.to_levels(name, column, levels, ordered=ordered)
            case "counted":
                return self._to_counted_levels(attribute, column, earlier_levels)
            case "label":
                return column
        return self._to_moments(attribute, column)

    def _to_counted_levels(self, attribute, column, earlier_levels):
        """Take the levels from the data, in order of appearance."""
        found = [*earlier_levels, *compute.unique(column).to_pylist()]
        levels = list(dict.fromkeys(level for level in found if level is not None))
        most = attribute.most_levels
        if len(levels) > most:
            surplus = levels[most]
            raise self.typed.refuse(
                attribute.name,
                surplus,
                compute.index(column, surplus).as_py(),
                f"is level number {most + 1}, and discrete {most} is declared",
                f"the levels before it are {list_names(levels[:most])}",
            )
        return categories_from_text(column, levels)

    def _to_moments(self, attribute, column):
        arrow_type, pattern, read_moment = _MOMENTS[attribute.type]
        try:
            if attribute.type == "time":  # pyarrow reads times only with a date
                moments = compute.binary_join_element_wise("2000-01-01", column, " ")
                return moments.cast(pa.timestamp("s")).cast(arrow_type)
            return compute.replace_substring(column, "/", "-").cast(arrow_type)
        except pa.ArrowInvalid:
            values = self.typed.convert_each(
                attribute.name,
                column,
                read_moment,
                f"is not a {attribute.type}",
                f"write it as {pattern}",
            )
            return pa.chunked_array([pa.array(values, arrow_type)])
