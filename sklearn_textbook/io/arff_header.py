"""The header of an ARFF file: relation and attributes."""

from __future__ import annotations

import re

from sklearn_textbook.io.arff_syntax import (
    ISO_PATTERN,
    QUOTED,
    Attribute,
    translate_date_pattern,
    unquote,
)
from sklearn_textbook.io.naming import shorten
from sklearn_textbook.io.table_file import TableFileError

_WORD = re.compile(rf"\s*({QUOTED}|[^\s,'\"{{}}]+)")
_LEVEL = re.compile(rf"\s*({QUOTED}|[^\s,}}'\"][^,}}]*?)\s*([,}}])")
# A range such as [0, 10] after the type of a number, which Weka skips, too.
_RANGE = re.compile(r"^[\[(]\s*[-+.\w]+\s*,\s*[-+.\w]+\s*[\])]\s*")
_NO_LEVELS = re.compile(r"\{\s*\}")
_REMEDY = "write @attribute name type, where type is numeric, {a, b}, string or date"


class HeaderParser:
    """Reader of the lines up to @data.

    Parameters
    ----------
    path : str
        The file, for messages.

    Attributes
    ----------
    relation : str
        Name of the relation.
    attributes : list of Attribute
        The declared columns.
    line : int
        Lines read.
    """

    def __init__(self, path) -> None:
        self.path = path
        self.relation = ""
        self.attributes = []
        self.line = 0

    def error(self, problem, remedy=None):
        """Return an error at the current line."""
        return TableFileError(problem, path=self.path, line=self.line, remedy=remedy)

    def read(self, text: bytes) -> int:
        """Read the header; return the position of the line after @data."""
        position = 0
        while position < len(text):
            stop = text.find(b"\n", position)
            stop = len(text) if stop < 0 else stop
            line = text[position:stop].decode().strip()
            position = stop + 1
            self.line += 1
            if line and not line.startswith("%") and self._read_declaration(line):
                return position
        self.line = max(self.line, 1)
        raise self.error("the file ends without @data", "add @data and the rows")

    def _read_declaration(self, line) -> bool:
        keyword, *rest = line.split(None, 1)
        rest = rest[0] if rest else ""
        match keyword.lower():
            case "@relation":
                self.relation = self._read_word(rest, "the relation's name")[0]
            case "@attribute":
                self._add_attribute(rest)
            case "@data":
                if not self.attributes:
                    raise self.error("no @attribute before @data", _REMEDY)
                return True
            case _:
                raise self.error(
                    f"{shorten(line)!r} is neither @relation, @attribute nor @data",
                    "write an ARFF header, or rename the file if it is csv",
                )
        return False

    def _read_word(self, text, what):
        match = _WORD.match(text)
        if not match:
            raise self.error(f"{what} is missing or its quote is not closed", _REMEDY)
        return unquote(match[1]), text[match.end() :].strip()

    def _add_attribute(self, text) -> None:
        name, rest = self._read_word(text, "the attribute's name")
        name = name.strip()  # within its quotes
        if any(attribute.name == name for attribute in self.attributes):
            raise self.error(
                f"attribute {name!r} is declared twice",
                "attribute names must be unique",
            )
        if rest.startswith("{"):
            self.attributes.append(self._read_nominal(name, rest))
        else:
            self.attributes.append(self._read_typed(name, rest))

    def _read_typed(self, name, text):
        keyword, rest = self._read_word(text, f"the type of attribute {name!r}")
        keyword = keyword.lower()
        if rest.startswith("{"):
            raise self.error(
                f"attribute {name!r} has a weight, which is not supported",
                "remove the {...} after its type",
            )
        if keyword == "date":
            return self._read_date(name, rest)
        if keyword == "relational":
            raise self.error(
                f"attribute {name!r} is relational, which is not supported",
                "write one row per inner row, with ordinary attributes",
            )
        if keyword not in ("numeric", "real", "integer", "string"):
            raise self.error(f"unknown type {keyword!r} of attribute {name!r}", _REMEDY)
        tail = rest if keyword == "string" else _RANGE.sub("", rest, count=1)
        if tail and not tail.startswith("%"):
            raise self.error(
                f"unexpected {shorten(tail)!r} after the type of attribute {name!r}",
                _REMEDY,
            )
        return Attribute(name, "string" if keyword == "string" else "numeric")

    def _read_date(self, name, text):
        given = text and not text.startswith("%")
        pattern = self._read_word(text, "the date pattern")[0] if given else ISO_PATTERN
        try:
            date_format = translate_date_pattern(pattern)
        except ValueError as error:
            raise self.error(f"attribute {name!r}: {error}") from None
        return Attribute(name, "date", (), pattern, date_format)

    def _read_nominal(self, name, text):
        empty = _NO_LEVELS.match(text)
        levels, position, end = [], 1, ","
        if empty:
            position, end = empty.end(), "}"
        while end == ",":
            match = _LEVEL.match(text, position)
            if not match:
                raise self.error(
                    f"the levels of attribute {name!r} cannot be read from "
                    f"{shorten(text[position:].strip())!r}",
                    "write {a, b, 'c d'} on one line",
                )
            levels.append(unquote(match[1]))
            position, end = match.end(), match[2]
        repeated = next((level for level in levels if levels.count(level) > 1), None)
        if repeated is not None:
            raise self.error(
                f"level {repeated!r} of attribute {name!r} is declared twice",
                "levels must be unique",
            )
        tail = text[position:].strip()
        if tail and not tail.startswith("%"):
            raise self.error(
                f"unexpected {shorten(tail)!r} after the levels of attribute {name!r}",
                "remove it; weights of attributes are not supported",
            )
        return Attribute(name, "nominal", levels=tuple(levels))
