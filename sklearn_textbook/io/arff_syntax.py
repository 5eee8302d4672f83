"""Syntax of ARFF: attributes, quotes, comments, date patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A quoted word, single or double, with backslash escapes.
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""

#: Weka's default pattern of date attributes.
ISO_PATTERN = "yyyy-MM-dd'T'HH:mm:ss"

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NEEDS_QUOTES = re.compile(r"[\s,'\"\\%{}]")
_COMMENT_OR_QUOTED = re.compile(rf"{QUOTED}|(?:^|(?<=[\s,]))%")

# Letters of Java's SimpleDateFormat, the longest first, and those of strptime.
_DATE_LETTERS = (
    ("yyyy", "%Y"),
    ("yy", "%y"),
    ("MMMM", "%B"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("M", "%m"),
    ("dd", "%d"),
    ("d", "%d"),
    ("HH", "%H"),
    ("H", "%H"),
    ("hh", "%I"),
    ("h", "%I"),
    ("mm", "%M"),
    ("ss", "%S"),
    ("SSS", "%f"),
    ("a", "%p"),
    ("EEEE", "%A"),
    ("EEE", "%a"),
    ("Z", "%z"),
    ("X", "%z"),
)


@dataclass(frozen=True)
class Attribute:
    """One declared column.

    Parameters
    ----------
    name : str
        Name of the column.
    type : {"numeric", "nominal", "string", "date"}
        Its type; real and integer are numeric, as in Weka.
    levels : tuple of str
        Declared levels of a nominal attribute.
    date_pattern : str
        Pattern of a date in the file.
    date_format : str
        The same for ``strptime``.
    """

    name: str
    type: str
    levels: tuple[str, ...] = ()
    date_pattern: str = ""
    date_format: str = ""


def unquote(word: str) -> str:
    r"""Remove the quotes and escapes of a word.

    Parameters
    ----------
    word : str
        The word in the file.

    Returns
    -------
    text : str
        Its text.

    Examples
    --------
    >>> from sklearn_textbook.io.arff_syntax import unquote
    >>> print(unquote(r"'it\'s'"), unquote("plain"))
    it's plain
    """
    if len(word) < 2 or word[0] not in "'\"":
        return word
    inner = word[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match):
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)


def quote(text: str) -> str:
    """Quote a word for ARFF if necessary.

    Parameters
    ----------
    text : str
        A name, level or string.

    Returns
    -------
    word : str
        The word in the file.

    Examples
    --------
    >>> from sklearn_textbook.io.arff_syntax import quote
    >>> print(quote("plain"), quote("two words"), quote("?"))
    plain 'two words' '?'
    """
    if text and text != "?" and text[0] != "@" and not _NEEDS_QUOTES.search(text):
        return text
    return "'" + "".join(_ESCAPES.get(letter, letter) for letter in text) + "'"


def strip_comment(line: str) -> str:
    """Remove the comment that starts at a ``%`` outside of quotes and words."""
    for match in _COMMENT_OR_QUOTED.finditer(line):
        if match[0] == "%":
            return line[: match.start()]
    return line


def translate_date_pattern(pattern: str) -> str:
    """Convert a pattern of Java's SimpleDateFormat to a ``strptime`` format.

    Parameters
    ----------
    pattern : str
        Such as ``"yyyy-MM-dd HH:mm:ss"``.

    Returns
    -------
    date_format : str
        Such as ``"%Y-%m-%d %H:%M:%S"``.

    Raises
    ------
    ValueError
        If a letter has no counterpart.

    Examples
    --------
    >>> from sklearn_textbook.io.arff_syntax import translate_date_pattern
    >>> translate_date_pattern("dd.MM.yyyy'T'HH:mm")
    '%d.%m.%YT%H:%M'
    """
    parts, position = [], 0
    while position < len(pattern):
        letter = pattern[position]
        if letter == "'":
            stop = pattern.find("'", position + 1)
            if stop < 0:
                raise ValueError(
                    f"a quote in the date pattern {pattern!r} is not closed"
                )
            parts.append((pattern[position + 1 : stop] or "'").replace("%", "%%"))
            position = stop + 1
        elif letter.isascii() and letter.isalpha():
            run = re.match(rf"{letter}+", pattern[position:])[0]
            code = dict(_DATE_LETTERS).get(run)
            if code is None:
                raise ValueError(
                    f"{run!r} in the date pattern {pattern!r} is not supported; use "
                    "yyyy MM dd HH mm ss SSS"
                )
            parts.append(code)
            position += len(run)
        else:
            parts.append(letter.replace("%", "%%"))
            position += 1
    return "".join(parts)
