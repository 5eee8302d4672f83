"""Formats of dates in text, those of ``strptime``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_TIME_CODES = re.compile(r"%[HIMSfpXcT]")


def has_time(date_format):
    """Whether a format has hours, minutes or seconds."""
    return _TIME_CODES.search(date_format) is not None


def read_moment(text, date_format):
    """Read a date, or a date with a time, which a time zone converts to UTC.

    Parameters
    ----------
    text : str
        The text.
    date_format : str
        Its format.

    Returns
    -------
    moment : datetime
        Without a time zone.

    Raises
    ------
    ValueError
        If the text does not follow the format.
    """
    moment = datetime.strptime(text, date_format)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment
