r"""Syntax of C4.5's files: words, escapes, comments, entries.

A word ends at a comma, a colon, the end of the line, or a period followed by white
space; a backslash escapes these. Runs of white space count as one blank. A ``|`` begins
a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

#: Mark of a missing value.
MISSING = "?"
#: Mark of a value that does not apply, in C5.0.
NOT_APPLICABLE = "N/A"

_GAP = re.compile(r"[ \t\n]+")
_MAYBE_GAP = re.compile(r"[ \t\n]*")
_ESCAPE = re.compile(r"\\(.|\Z)", re.DOTALL)
_ESCAPE_OR_COMMENT = re.compile(r"\\.|\|[^\n]*", re.DOTALL)
_ESCAPE_OR_COMMA = re.compile(r"\\.|,", re.DOTALL)
_MUST_ESCAPE = re.compile(r"[\\,:|]|\.(?=[ \t\n]|\Z)")
_WORD = re.compile(r"(?:\\(?:.|\Z)|[^\\,:.\n]|\.(?![ \t\n]|\Z))*", re.DOTALL)
_EXPRESSION = re.compile(r"(.*?)(?:\.(?=[ \t\n]|\Z)|\Z)", re.DOTALL)


def strip_comments(text: str) -> str:
    r"""Remove all comments.

    Parameters
    ----------
    text : str
        Lines of a file.

    Returns
    -------
    text : str
        The same lines without comments; an escaped ``|`` begins none.

    Examples
    --------
    >>> from sklearn_textbook.io.c45_syntax import strip_comments
    >>> strip_comments(r"a\|b, c| the rest")
    'a\\|b, c'
    """
    if "|" not in text:
        return text
    return _ESCAPE_OR_COMMENT.sub(
        lambda match: "" if match[0][0] == "|" else match[0], text
    )


def read_word(raw: str) -> str:
    r"""Remove the escapes and redundant white space of a word.

    Parameters
    ----------
    raw : str
        The word in the file.

    Returns
    -------
    word : str
        Its text.

    Examples
    --------
    >>> from sklearn_textbook.io.c45_syntax import read_word
    >>> print(read_word(r"  St\.   Louis\, east "))
    St. Louis, east
    """
    word = squeeze_blanks(raw)
    return _ESCAPE.sub(r"\1", word) if "\\" in word else word


def squeeze_blanks(raw: str) -> str:
    """Remove redundant white space of a word, but not its escapes.

    Only blanks, tabs and line ends are white space in these files; a no-break space,
    for example, is a letter.
    """
    word = raw.strip(" \t\n")
    if "  " in word or "\t" in word or "\n" in word:
        word = _GAP.sub(" ", word)
    return word


def write_word(word: str) -> str:
    r"""Escape characters that would end a word or begin a comment.

    Parameters
    ----------
    word : str
        A name or a level.

    Returns
    -------
    raw : str
        The word in the file.

    Examples
    --------
    >>> from sklearn_textbook.io.c45_syntax import write_word
    >>> print(write_word("1.5"), write_word("St. Louis, east"))
    1.5 St\. Louis\, east
    """
    return _MUST_ESCAPE.sub(r"\\\g<0>", word)


def split_fields(text: str) -> list[str]:
    r"""Split a line at its commas.

    Parameters
    ----------
    text : str
        The line.

    Returns
    -------
    fields : list of str
        The fields between the commas, with their escapes.

    Examples
    --------
    >>> from sklearn_textbook.io.c45_syntax import split_fields
    >>> split_fields(r"a\, b,c")
    ['a\\, b', 'c']
    """
    if "\\" not in text:
        return text.split(",")
    found = _ESCAPE_OR_COMMA.finditer(text)
    commas = [match.start() for match in found if match[0] == ","]
    ends = pairwise([-1, *commas, len(text)])
    return [text[before + 1 : after] for before, after in ends]


@dataclass(frozen=True)
class Entry:
    """One entry of a .names file.

    Parameters
    ----------
    line : int
        Line on which it begins.
    head : str or None
        The word before the colon, with its escapes; None without a colon.
    words : tuple of str
        The listed words, with their escapes.
    end : str
        End of the last word: a period, a line end, nothing at the end of the file, or a
        misplaced colon.
    expression : str or None
        The text between ``:=`` and the period; None without ``:=``.
    """

    line: int
    head: str | None
    words: tuple[str, ...] = ()
    end: str = ""
    expression: str | None = None


def scan_entries(text: str) -> Iterator[Entry]:
    r"""Divide a .names file into entries.

    Parameters
    ----------
    text : str
        The file without its comments.

    Yields
    ------
    entry : Entry
        The next one.

    Examples
    --------
    >>> from sklearn_textbook.io.c45_syntax import scan_entries
    >>> for entry in scan_entries("no, yes.\nsize: continuous.\n"):
    ...     print(entry.line, entry.head, entry.words)
    1 None ('no', 'yes')
    2 size ('continuous',)
    """
    line, counted = 1, 0
    position = _skip_white_space(text, 0)
    while position < len(text):
        line += text.count("\n", counted, position)
        counted = position
        entry, position = _scan_entry(text, position, line)
        yield entry
        position = _skip_white_space(text, position)


def _skip_white_space(text, position):
    return _MAYBE_GAP.match(text, position).end()


def _scan_entry(text, position, line):
    """Return one entry and the position where the next may begin."""
    head, words, end = None, [], ","
    while end == ",":
        # A list goes on in the next line where this one ends with a comma or a colon.
        match = _WORD.match(text, _skip_white_space(text, position))
        end = text[match.end() : match.end() + 1]
        position = match.end() + len(end)
        if end != ":" or head is not None or words:
            words.append(match[0])
            continue
        head, end = match[0], ","
        if text.startswith("=", position):
            rest = _EXPRESSION.match(text, position + 1)
            return Entry(line, head, expression=read_word(rest[1])), rest.end()
    return Entry(line, head, tuple(words), end), position
