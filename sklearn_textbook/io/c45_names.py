"""The .names file of C4.5: classes and attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from sklearn_textbook.io.c45_syntax import (
    read_word,
    scan_entries,
    squeeze_blanks,
    strip_comments,
)
from sklearn_textbook.io.naming import explain_unknown_name, shorten
from sklearn_textbook.io.table_file import TableFileError

#: Types that are one word in the file.
PLAIN_TYPES = ("continuous", "ignore", "label", "date", "time", "timestamp")

#: Mark before levels whose order has a meaning.
ORDERED = "[ordered]"
#: Names of the entries that select attributes.
SELECTION = re.compile(r"attributes (included|excluded)")

_DISCRETE = re.compile(r"discrete *(\d+)")
_TYPES = (
    "write name: and continuous, discrete N, ignore, label, date, time, timestamp or "
    "at least two levels"
)
_CLASSES = (
    "begin the file with the classes, as in yes, no. or with the name of the attribute "
    "that is the class"
)


@dataclass(frozen=True)
class Attribute:
    """One declared column.

    Parameters
    ----------
    name : str
        Name of the column.
    type : str
        "nominal", "ordinal", "counted" (levels are those of the data) or one of
        `PLAIN_TYPES`.
    levels : tuple of str
        Declared levels of a nominal or ordinal attribute.
    most_levels : int
        Largest number of levels in the data, if they are not declared.
    """

    name: str
    type: str
    levels: tuple[str, ...] = ()
    most_levels: int = 0


class NamesParser:
    """Reader of a .names file.

    Parameters
    ----------
    path : str
        The file, for messages.

    Attributes
    ----------
    attributes : list of Attribute
        The columns of the data, the class among them.
    target : str
        Name of the column that is the class.
    thresholds : tuple of float
        Thresholds that divide a numeric target into classes; empty if there are none.
    """

    def __init__(self, path) -> None:
        self.path = path
        self.attributes = []
        self.target = ""
        self.thresholds = ()
        self.line = 1
        self._selections = []

    def error(self, problem, remedy, column=None):
        """Return an error at the current entry."""
        return TableFileError(
            problem, path=self.path, line=self.line, column=column, remedy=remedy
        )

    def read(self, text: str) -> None:
        """Read the file."""
        entries = scan_entries(strip_comments(text))
        first = next(entries, None)
        if first is None:
            raise self.error("is empty", _CLASSES)
        self.line = first.line
        first_words = self._read_words(first)
        classes = first_words if first.head is None and len(first_words) > 1 else None
        for entry in entries:
            self.line = entry.line
            self._read_entry(entry)
        self.line = first.line
        if not self.attributes:
            raise self.error("no attribute is declared", _TYPES)
        if classes is not None:
            self._add_class(classes)
        else:
            self._name_target(first, first_words)
        for line, names, included in self._selections:
            self.line = line
            self._select(names, included)

    # ---------------------------------------------------------------- the class
    def _add_class(self, classes) -> None:
        """Add the class as the last column; it has no name in the file."""
        names = {attribute.name for attribute in self.attributes}
        name, number = "class", 1
        while name in names:
            number += 1
            name = f"class_{number}"
        self._require_distinct(name, classes)
        self.attributes.append(Attribute(name, "nominal", classes))
        self.target = name

    def _name_target(self, first, words) -> None:
        """Use an attribute as the class, by its name or by name and thresholds."""
        head = words[0] if first.head is None else read_word(first.head)
        self.target = head.strip()
        names = [attribute.name for attribute in self.attributes]
        if first.head is not None:
            self.thresholds = self._read_thresholds(words)
        if self.target not in names:
            raise self.error(
                f"the first entry, {self.target!r}, is neither a list of classes nor "
                "the name of an attribute",
                explain_unknown_name(self.target, names),
            )
        kind = self.attributes[names.index(self.target)].type
        if kind in ("ignore", "label"):
            raise self.error(
                f"the class is declared as {kind}",
                "declare its levels",
                self.target,
            )
        if self.thresholds and kind != "continuous":
            raise self.error(
                "the class has thresholds, but is not continuous",
                "declare it as continuous, or write its name without thresholds",
                self.target,
            )

    def _read_thresholds(self, words):
        try:
            thresholds = tuple(float(word) for word in words)
        except ValueError:
            raise self.error(
                f"the first entry is the declaration of {self.target!r}; there are no "
                "classes before it",
                _CLASSES,
            ) from None
        if any(a >= b for a, b in pairwise(thresholds)):
            raise self.error(
                "the thresholds of the class do not increase",
                "write them in ascending order",
                self.target,
            )
        return thresholds

    # ----------------------------------------------------------- the attributes
    def _read_words(self, entry):
        """Return the list of an entry, without its escapes."""
        words = tuple(read_word(word) for word in entry.words)
        if entry.end == ":":
            raise self.error(
                f"a colon after {shorten(words[-1])!r}, inside a list",
                "write \\: inside a name, and end an entry with a period",
            )
        if entry.expression is None and "" in words:
            raise self.error(
                "a name or a value is missing",
                "write one value between two commas, and none after the last",
            )
        return words

    def _read_entry(self, entry):
        words = self._read_words(entry)
        if entry.head is None:
            raise self.error(
                f"{shorten(', '.join(words))!r} has no type",
                f"{_TYPES}; a comma at the end of a line continues a list",
            )
        name = read_word(entry.head).strip()
        if not name:
            raise self.error("an attribute without a name", _TYPES)
        if entry.expression is not None:
            raise self.error(
                f"is defined by the formula {shorten(entry.expression)!r}, which is "
                "not supported",
                "compute it, and write its values into the data",
                name,
            )
        selection = SELECTION.fullmatch(squeeze_blanks(entry.head))
        if selection is not None:
            self._selections.append((self.line, words, selection[1] == "included"))
            return
        if any(attribute.name == name for attribute in self.attributes):
            raise self.error(
                "is declared twice", "attribute names must be unique", name
            )
        first = squeeze_blanks(entry.words[0])
        self.attributes.append(self._read_type(name, first, words))

    def _read_type(self, name, first, words):
        """Read what follows the name; `first` is the first word with its escapes."""
        if first.startswith(ORDERED):
            levels = (read_word(first.removeprefix(ORDERED)), *words[1:])
            if not levels[0]:
                raise self.error("no level after [ordered]", _TYPES, name)
            self._require_distinct(name, levels)
            return Attribute(name, "ordinal", levels)
        if len(words) > 1:
            self._require_distinct(name, words)
            return Attribute(name, "nominal", words)
        if words[0] in PLAIN_TYPES:
            return Attribute(name, words[0])
        counted = _DISCRETE.fullmatch(words[0])
        if counted is not None:
            return Attribute(name, "counted", most_levels=int(counted[1]))
        raise self.error(
            f"{shorten(words[0])!r} is neither a type nor a list of levels",
            _TYPES,
            name,
        )

    def _require_distinct(self, name, levels) -> None:
        seen = set()
        for level in levels:
            if level in seen:
                raise self.error(
                    f"level {level!r} is declared twice",
                    "levels must be unique",
                    name,
                )
            seen.add(level)

    def _select(self, names, included) -> None:
        """Drop attributes according to "attributes included" or "excluded"."""
        known = [attribute.name for attribute in self.attributes]
        names = [name.strip() for name in names]
        for name in names:
            if name not in known:
                wording = "included" if included else "excluded"
                raise self.error(
                    f"no attribute {name!r} to be {wording}",
                    explain_unknown_name(name, known),
                )
        self.attributes = [
            attribute
            if (attribute.name in names) == included or self._always_stays(attribute)
            else replace(attribute, type="ignore")
            for attribute in self.attributes
        ]

    def _always_stays(self, attribute):
        return attribute.name == self.target or attribute.type == "label"
