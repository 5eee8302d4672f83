"""A column of Python objects: numbers, strings, dates, None, or a mixture."""

from __future__ import annotations

import datetime
import math
import numbers
from dataclasses import replace
from decimal import Decimal

import numpy as np

from sklearn_textbook.tree.encode._rank import number_objects
from sklearn_textbook.tree.encode.columns import (
    BOOLEAN,
    DATE,
    DURATION,
    MIXED,
    NULL,
    NUMBER,
    PLURALS,
    STRING,
    TEMPORAL,
    TIME,
    Column,
    complex_error,
    describe_place,
    factorize_array,
    infinity_error,
    seconds_from_temporal,
)

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MICROSECOND = datetime.timedelta(microseconds=1)
# pandas' missing values, recognised by name so that pandas need not be imported.
MISSING_TYPES = {("pandas", "NAType"), ("pandas", "NaTType")}


def find_source(value_type):
    """Return the source for a type of object, or None."""
    package = value_type.__module__.partition(".")[0]
    if value_type is type(None) or (package, value_type.__name__) in MISSING_TYPES:
        return NULL
    # bool is a subclass of int and datetime of date: the narrower come first.
    for types, source in (
        ((bool, np.bool_), BOOLEAN),
        # numpy counts timedelta64 among the integers
        ((datetime.timedelta, np.timedelta64), DURATION),
        ((numbers.Real, Decimal), NUMBER),
        ((str, bytes), STRING),
        ((datetime.date, np.datetime64), DATE),
        ((datetime.time,), TIME),
    ):
        if issubclass(value_type, types):
            return source
    return None


def find_missing(values, sources):
    """Mask of the missing rows."""
    if set(sources.values()) == {STRING}:
        return np.zeros(values.shape[0], dtype=bool)
    # pandas.NA answers comparisons with itself; all other missing values are None or
    # differ from themselves.
    if any(value_type.__name__ == "NAType" for value_type in sources):
        values = np.array(
            [None if type(value).__name__ == "NAType" else value for value in values],
            dtype=object,
        )
    return np.equal(values, None) | np.not_equal(values, values)


def find_sources(values, name):
    """Find the source of every type in the column."""
    sources = {}
    for value_type in set(map(type, values.tolist())):
        sources[value_type] = find_source(value_type)
        if sources[value_type] is None:
            row = next(i for i, value in enumerate(values) if type(value) is value_type)
            if issubclass(value_type, numbers.Complex):
                raise complex_error(name)
            raise TypeError(
                "An argument must be a string or a real number (or a boolean, a date, "
                f"a duration, None), but {describe_place(name, row)} contains an "
                f"object of type {value_type.__name__!r}."
            )
    return sources


def seconds_from_objects(values, source):
    """Seconds of dates, durations or times of day; times without a zone count as UTC.

    Dates are exact to the microsecond.
    """
    seconds = np.empty(values.shape[0])
    for i, value in enumerate(values):
        if isinstance(value, np.datetime64 | np.timedelta64):
            seconds[i] = seconds_from_temporal(np.array([value]))[0]
            continue
        if source == TIME:
            value = datetime.datetime.combine(EPOCH.date(), value.replace(tzinfo=None))
        if source != DURATION:
            if not isinstance(value, datetime.datetime):
                value = datetime.datetime.combine(value, datetime.time())
            if value.tzinfo is None:
                value = value.replace(tzinfo=datetime.UTC)
            value = value - EPOCH
        seconds[i] = (value // MICROSECOND) / 1e6
    return seconds


def convert_numbers(values, name, rows):
    """Python numbers as float64, too large ones being infinite."""
    try:
        return values.astype(np.float64)
    except OverflowError:
        for i, value in enumerate(values):
            try:
                float(value)
            except OverflowError:
                raise infinity_error(name, int(rows[i])) from None
        raise


def decode(value, name):
    """Convert str or bytes to str."""
    if isinstance(value, str):
        return str(value)
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(
            f"Column {name!r} contains the bytes {value!r}, which are not valid UTF-8; "
            "decode them to strings first."
        ) from None


def as_level(value, name):
    """Convert a level to a Python scalar for JSON."""
    if isinstance(value, str | bytes):
        return decode(value, name)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real | Decimal):
        value = float(value)
        if math.isinf(value):
            raise infinity_error(name, None)
        return value + 0.0
    return str(value)


def unify_levels(codes, values, name):
    """Return distinct levels as Python scalars: 1, 1.0 and True are one level.

    Equal numbers of several types are represented by the integer, so that the levels do
    not depend on the order of the rows.
    """
    positions, levels, mapping = {}, [], []
    for value in values:
        level = as_level(value, name)
        position = positions.setdefault(level, len(levels))
        mapping.append(position)
        if position == len(levels):
            levels.append(level)
        elif type(level) is int:
            levels[position] = level
    if len(levels) < len(values):
        mapping.append(-1)  # codes of -1 stay -1
        codes = np.asarray(mapping, dtype=np.int64)[codes]
    return codes, levels


def factorize_objects(values, is_missing, is_of_one_type, name):
    """Codes and distinct values, in order of appearance, of hashable objects."""
    positions = {}
    present = values[~is_missing].tolist()
    # One key per type, so that the choice of 1 or True does not depend on row order.
    keys = present if is_of_one_type else zip(map(type, present), present, strict=True)
    codes = np.full(values.shape[0], -1, dtype=np.int64)
    codes[~is_missing] = [positions.setdefault(key, len(positions)) for key in keys]
    levels = list(positions) if is_of_one_type else [level for _, level in positions]
    return unify_levels(codes, levels, name)


def column_from_objects(
    values: np.ndarray, name: str, as_levels: bool = False
) -> Column:
    """Read a column from an array of Python objects."""
    numbered = number_objects(values)
    if numbered is not None:
        numbers_, first_rows = numbered
        try:
            column = _read_objects(values[first_rows], name, as_levels)
        except (TypeError, ValueError):
            pass  # all rows raise the error again, with the row that it names
        else:
            kept = {
                part: None if array is None else array[numbers_]
                for part, array in (
                    ("numbers", column.numbers),
                    ("codes", column.codes),
                )
            }
            return replace(column, **kept)
    return _read_objects(values, name, as_levels)


def _read_objects(values, name, as_levels):
    """Read a column, as described in `column_from_objects`."""
    sources = find_sources(values, name)
    if set(sources.values()) == {NUMBER} and not as_levels:
        rows = np.arange(values.shape[0])
        return Column(name, NUMBER, numbers=convert_numbers(values, name, rows))
    is_missing = find_missing(values, sources)
    present_types = set(map(type, values[~is_missing].tolist()))
    present_sources = {sources[value_type] for value_type in present_types}
    if not present_sources:
        return Column(name, NULL, numbers=np.full(values.shape[0], np.nan))
    if len(present_sources) == 1:
        (source,) = present_sources
    elif present_sources == {BOOLEAN, NUMBER}:
        source = NUMBER
    elif present_sources <= {BOOLEAN, NUMBER, STRING}:
        source = MIXED
    else:
        kinds = " and ".join(sorted(PLURALS[source] for source in present_sources))
        raise TypeError(f"Column {name!r} mixes {kinds}; convert it to a single type.")
    if source in (STRING, MIXED) or (as_levels and source not in TEMPORAL):
        codes, levels = factorize_objects(
            values, is_missing, len(present_types) == 1, name
        )
        return Column(name, source, codes=codes, levels=levels)
    numbers_ = np.full(values.shape[0], np.nan)
    rows = np.flatnonzero(~is_missing)
    zone = find_time_zone(values[rows]) if source == DATE else None
    if source in TEMPORAL:
        numbers_[rows] = seconds_from_objects(values[rows], source)
    else:
        numbers_[rows] = convert_numbers(values[rows], name, rows)
    if as_levels:
        codes, levels = factorize_array(numbers_, name)
        return Column(name, source, codes=codes, levels=levels, time_zone=zone)
    return Column(name, source, numbers=numbers_, time_zone=zone)


def find_time_zone(dates):
    """Name of the time zone that all dates have; UTC for several, None without."""
    zones = {getattr(date, "tzinfo", None) for date in dates}
    if None in zones:
        return None
    names = {str(zone) for zone in zones}
    return names.pop() if len(names) == 1 else "UTC"
