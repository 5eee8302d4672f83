"""Text tables, with values separated by comma, semicolon, tab or pipe.

The values are parsed by pyarrow. This module detects the separator and the header, and
finds the line of a malformed row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice

import pyarrow as pa
import pyarrow.csv as arrow_csv

from sklearn_textbook.io.column_names import clean_names
from sklearn_textbook.io.naming import count_things, list_names
from sklearn_textbook.io.table_file import TableFileError
from sklearn_textbook.io.text_encoding import decode_to_utf8

#: Separators that are detected, in order of preference.
SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma"}

# A first line for Excel, perhaps quoted: sep=;
_SEPARATOR_LINE = re.compile(rb'[\r\n]*("?sep=([\t !#-~])"?[ \t]*)(?=[\r\n])', re.I)
_SAMPLE_BYTES = 1 << 18
_SAMPLE_ROWS = 200


class DelimitedText:
    """The text of a table, its separator and the names of its columns.

    Parameters
    ----------
    source : TableSource
        Source of the bytes.
    delimiter : str, default=None
        The separator; None detects it.
    header : bool, default=None
        Whether the first row has the names; None decides by its values.
    encoding : str, default=None
        Encoding; None detects UTF-8, UTF-16 with a byte order mark and Chinese GB18030.
    expected_names : sequence of str, default=()
        The first row is the header if it contains one of these names.
    names_without_header : sequence of sequences of str, default=()
        Names of the columns if there is no header, selected by their number.
    skip_lines : int, default=0
        First lines that are left out.
    comment : str, default=None
        Beginning of lines that are left out.

    Attributes
    ----------
    names : list of str
        Column names; "column_1", "column_2", ... without a header.
    notes : list of str
        Choices of the reader that are not obvious.
    """

    def __init__(
        self,
        source,
        *,
        delimiter=None,
        header=None,
        encoding=None,
        expected_names=(),
        names_without_header=(),
        skip_lines: int = 0,
        comment=None,
    ) -> None:
        self.source = source
        self.path = source.path
        self.notes = []
        text, self.encoding = decode_to_utf8(source.read(), self.path, encoding)
        # Lines that are left out become empty: the others keep their numbers.
        text = _empty_first_lines(text, skip_lines)
        if comment is not None:
            text = _empty_comments(text, comment.encode())
        self.text, declared = _take_separator(text)
        rows = self._read_sample(delimiter or declared)
        self.has_header = (
            _looks_like_header(rows[0], expected_names) if header is None else header
        )
        if self.has_header:
            line = 1 + self._count_leading_lines()
            self.names, self.notes = clean_names(rows[0], path=self.path, line=line)
        else:
            self.names = _invent_names(len(rows[0]), names_without_header)

    @property
    def layout(self) -> str:
        """Separator and encoding in words."""
        separator = SEPARATORS.get(self.delimiter, repr(self.delimiter))
        header = "" if self.has_header else ", no header"
        return f"{separator}-separated, {self.encoding}{header}"

    def _read_sample(self, delimiter):
        if not self.text[:_SAMPLE_BYTES].decode(errors="ignore").strip():
            raise TableFileError(
                "is empty", path=self.path, remedy="a table has a header and rows"
            )
        self.delimiter = delimiter or guess_delimiter(self.text)
        return _sample_rows(self.text, self.delimiter)

    def parse(
        self,
        column_types: dict[str, pa.DataType],
        missing_marks: Sequence[str],
        decimal: str = ".",
    ) -> pa.Table:
        """Parse the values into an Arrow table with the types that pyarrow infers."""
        self._require_closed_quotes()
        marks = {""} | {before + mark for mark in missing_marks for before in ("", " ")}
        try:
            table = arrow_csv.read_csv(
                pa.py_buffer(self.text),
                read_options=arrow_csv.ReadOptions(
                    column_names=self.names,
                    # Lines before the header are empty ones; they count as rows here.
                    skip_rows_after_names=self._count_rows_to_skip(),
                    block_size=1 << 22,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=b'"' in self.text
                ),
                convert_options=arrow_csv.ConvertOptions(
                    null_values=sorted(marks),
                    strings_can_be_null=True,
                    column_types=column_types,
                    decimal_point=decimal,
                ),
            )
        except pa.ArrowInvalid as error:
            self._explain_ragged_row()
            raise TableFileError(
                f"cannot be parsed ({str(error).splitlines()[0]})", path=self.path
            ) from None
        if table.num_rows == 0:
            raise TableFileError(
                f"has a header ({list_names(self.names)}) but no rows",
                path=self.path,
                remedy="add rows, or use --no-header if the first line is a row",
            )
        return table

    def parse_written(self) -> pa.Table:
        """Parse the values as they are written, empty fields as null."""
        return self.parse(dict.fromkeys(self.names, pa.string()), ())

    def _count_rows_to_skip(self):
        return 1 + self._count_leading_lines() if self.has_header else 0

    def _count_leading_lines(self) -> int:
        """Count the empty lines before the first row."""
        leading = self.text[: len(self.text) - len(self.text.lstrip(b"\r\n"))]
        return len(leading.splitlines())

    def records(self):
        """Yield every row with the line it ends on, the header included.

        This is slow, so it is only used to locate an error.
        """
        stream = io.TextIOWrapper(io.BytesIO(self.text), encoding="utf-8", newline="")
        reader = csv.reader(stream, delimiter=self.delimiter)
        try:
            for values in reader:
                if values:
                    yield reader.line_num, values
        except csv.Error:  # a value too long for this reader: the line is unknown
            return

    def find_line(self, row):
        """Find the line on which a row ends; rows are counted from 0."""
        number = row + 1 if self.has_header else row
        record = next(islice(self.records(), number, None), None)
        return record[0] if record else None

    def _explain_ragged_row(self) -> None:
        expected = len(self.names)
        title = 1 + self._count_leading_lines()
        for number, (line, values) in enumerate(self.records()):
            if len(values) == expected:
                continue
            if number == 1 and self.has_header and expected == 1:
                remedy = (
                    f"if line {title} is a title and not the names of the columns, use "
                    "--skip-lines"
                )
            elif len(values) < expected:
                remedy = f"no value for column {self.names[len(values)]!r}"
            else:
                separator = SEPARATORS.get(self.delimiter, "separator")
                remedy = (
                    f"unexpected {values[expected]!r}; quote values that contain "
                    f"the {separator}"
                )
            are = "is" if expected == 1 else "are"
            raise TableFileError(
                f"the row has {count_things(len(values), 'value')}, but there {are} "
                f"{count_things(expected, 'column')}",
                path=self.path,
                line=line,
                remedy=remedy,
            )

    def _require_closed_quotes(self):
        # An odd number of quotes is rare, so the slow search is rare as well.
        if self.text.count(b'"') % 2 == 0:
            return
        stream = io.TextIOWrapper(io.BytesIO(self.text), encoding="utf-8", newline="")
        reader = csv.reader(stream, delimiter=self.delimiter, strict=True)
        line = 0
        try:
            for _ in reader:
                line = reader.line_num
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                raise TableFileError(
                    "a quoted value is not closed",
                    path=self.path,
                    line=line + 1,
                    remedy='close the quotes, and write a quote inside a value as ""',
                ) from None


def is_delimiter(text):
    """Return whether a text is a character that can separate values."""
    return len(text) == 1 and text.isascii() and text not in '"\r\n\0'


def guess_delimiter(text: bytes) -> str:
    r"""Find the separator with the most uniform number of fields in the first rows.

    Among the separators in the first row, the one is chosen by which the largest
    fraction of the rows has as many fields as the first.

    Parameters
    ----------
    text : bytes
        The text in UTF-8.

    Returns
    -------
    delimiter : str
        One of tab, semicolon, pipe and comma; the comma if there is only one column.

    Examples
    --------
    >>> from sklearn_textbook.io.delimited import guess_delimiter
    >>> guess_delimiter(b"length;class\n1,5;a\n2,5;b\n")
    ';'
    """
    best, best_fraction = ",", 0.0
    for delimiter in SEPARATORS:
        counts = [len(row) for row in _sample_rows(text, delimiter)]
        if not counts or counts[0] < 2:
            continue
        fraction = sum(count == counts[0] for count in counts) / len(counts)
        if fraction > best_fraction:
            best, best_fraction = delimiter, fraction
    return best


def _empty_first_lines(text, n_lines):
    """Replace the first lines by empty ones."""
    lines = re.match(rb"(?:[^\r\n]*(?:\r\n?|\n)){0,%d}" % n_lines, text)[0]
    return re.sub(rb"[^\r\n]+", b"", lines) + text[len(lines) :]


def _empty_comments(text, mark):
    """Replace lines that begin with the mark, not inside a quoted value, by empty ones.

    Blanks before the mark are allowed.
    """
    lines, is_quoted = text.splitlines(keepends=True), False
    for number, line in enumerate(lines):
        if not is_quoted and line.lstrip(b" \t").startswith(mark):
            lines[number] = line[len(line.rstrip(b"\r\n")) :]
        elif line.count(b'"') % 2:
            is_quoted = not is_quoted
    return b"".join(lines)


def _take_separator(text: bytes) -> tuple[bytes, str | None]:
    """Replace a first line ``sep=;``, as Excel reads it, by an empty one."""
    line = _SEPARATOR_LINE.match(text)
    if line is None:
        return text, None
    return text[: line.start(1)] + text[line.end(1) :], line[2].decode()


def _sample_rows(text, delimiter):
    """Split the first rows that are not empty: two at least, of any length."""
    stream = io.TextIOWrapper(
        io.BytesIO(text), encoding="utf-8", errors="ignore", newline=""
    )
    rows, n_characters = [], 0
    try:
        for row in csv.reader(stream, delimiter=delimiter):
            if row:
                rows.append(row)
                n_characters += sum(map(len, row)) + len(row)
            if len(rows) == _SAMPLE_ROWS or (
                n_characters > _SAMPLE_BYTES and len(rows) > 1
            ):
                break
    except csv.Error:  # a value too long for this reader; pyarrow has no limit
        pass
    return rows or [[""]]


def _invent_names(n_columns, candidates):
    for names in candidates:
        if len(names) == n_columns:
            return list(names)
    return [f"column_{number + 1}" for number in range(n_columns)]


def _looks_like_header(first_row, expected_names) -> bool:
    """Whether a row is a header: it has an expected name, or no number."""
    fields = [field.strip() for field in first_row]
    if any(name in fields for name in expected_names):
        return True
    return not any(_is_number(field) for field in fields)


def _is_number(field) -> bool:
    try:
        float(field.replace(",", "."))
    except ValueError:
        return False
    return True
