"""Formats of dates in text: which of them values follow, and reading them.

Formats are those of ``strptime``. ISO dates need none; `columns` reads them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

#: What a format of the values of a column must contain.
YEARS = ("%Y", "%y")

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
# The longest alternatives first, so that the beginning of a text matches all digits.
_CODES = {
    "%d": r"(?:3[01]|[12]\d|0?[1-9])",
    "%m": r"(?:1[0-2]|0?[1-9])",
    "%b": f"(?i:{'|'.join(month[:3] for month in _MONTHS)})",
    "%B": f"(?i:{'|'.join(_MONTHS)})",
    "%Y": r"(?:1[5-9]|2[01])\d\d",
    "%y": r"\d\d",
    "%H": r"(?:2[0-3]|[01]?\d)",
    "%I": r"(?:1[0-2]|0?[1-9])",
    "%M": r"[0-5]\d",
    "%S": r"[0-5]\d",
    "%f": r"\d{1,6}",
    "%p": "(?i:[ap]m)",
}
_WORDS = {"%d": "day", "%m": "month", "%b": "month", "%B": "month"}
_WORDS |= dict.fromkeys(YEARS, "year")
_TIME_CODES = re.compile(r"%[HIMSfpXcT]")

# Formats that are recognised. Month names are English, as in strptime's C locale.
_DATES = (
    *(f"%m{mark}%d{mark}%Y" for mark in "/.-"),
    *(f"%d{mark}%m{mark}%Y" for mark in "/.-"),
    *(f"%Y{mark}%m{mark}%d" for mark in "/.-"),
    *(f"%m{mark}%d{mark}%y" for mark in "/.-"),
    *(f"%d{mark}%m{mark}%y" for mark in "/.-"),
    *(f"%d{mark}{month}{mark}%Y" for month in ("%b", "%B") for mark in "- "),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%d. %B %Y"),
    *("%d-%b-%y", "%d %b %y", "%Y-%b-%d", "%Y年%m月%d日"),
)
_TIMES = (
    "",
    *(f"{gap}%H:%M{rest}" for gap in " T" for rest in ("", ":%S", ":%S.%f")),
    *(f" %I:%M{seconds}{gap}%p" for seconds in ("", ":%S") for gap in (" ", "")),
)


def is_date_format(text: object) -> bool:
    """Whether a text is a format of ``strptime`` for dates with a year.

    Parameters
    ----------
    text : object
        Such as "%m/%d/%Y".

    Returns
    -------
    is_format : bool
        False also for anything else than a text.

    Examples
    --------
    >>> from sklearn_textbook.io.date_formats import is_date_format
    >>> is_date_format("%m/%d/%Y"), is_date_format("%H:%M"), is_date_format("m/d/y")
    (True, False, False)
    """
    if not isinstance(text, str) or not any(year in text for year in YEARS):
        return False
    moment = datetime(2001, 2, 3, tzinfo=UTC)
    try:
        datetime.strptime(moment.strftime(text), text)
    except (ValueError, re.error):  # the latter if a code is repeated
        return False
    return True


def has_time(date_format) -> bool:
    """Whether a format has hours, minutes or seconds."""
    return _TIME_CODES.search(date_format) is not None


def read_moment(text: str, date_format: str) -> datetime:
    """Read a date, or a date with a time, which a time zone converts to UTC."""
    moment = datetime.strptime(text, date_format)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment


def describe_date_format(date_format):
    """Name the parts of a date in their order, such as "month/day/year"."""
    codes = re.findall("%[A-Za-z]", date_format)
    words = "/".join(_WORDS[code] for code in codes if code in _WORDS)
    return f"{words} and time" if has_time(date_format) else words


def write_pattern(date_format):
    """Write a format as a regular expression, for Python and for pyarrow."""
    parts = re.split("(%[A-Za-z])", date_format)
    return "".join(_CODES.get(part, re.escape(part)) for part in parts)


def find_date_formats(texts: Sequence[str]) -> list[str]:
    """Find the formats that at least half of some texts follow.

    Parameters
    ----------
    texts : sequence of str
        A few values of a column.

    Returns
    -------
    formats : list of str
        Those recognised, in the order of preference. Month and day are told apart by
        days after the twelfth only.

    Examples
    --------
    >>> from sklearn_textbook.io.date_formats import find_date_formats
    >>> find_date_formats(["9/21/2024", "9/8/2024"])
    ['%m/%d/%Y', '%d/%m/%Y']
    >>> find_date_formats(["21-Sep-2024 14:30"])
    ['%d-%b-%Y %H:%M']
    """
    found = Counter(found for text in texts for found in _list_formats(text))
    formats = [name for name, count in found.items() if 2 * count >= len(texts)]
    return sorted(formats, key=lambda name: (-found[name], _rank(name)))


def _rank(date_format):
    dates = [date for date in _DATES if date_format.startswith(date)]
    return _DATES.index(dates[0])


def _list_formats(text):
    if not 6 <= len(text) <= 40 or sum(map(str.isdigit, text)) < 3:
        return
    for date, date_pattern in _compile(_DATES):
        match = date_pattern.match(text)
        if match is None:
            continue
        for time, time_pattern in _compile(_TIMES):
            if time_pattern.fullmatch(text, match.end()):
                yield date + time


@cache
def _compile(formats):
    # On first use: most tables have no column whose values look like dates.
    return [(name, re.compile(write_pattern(name))) for name in formats]
