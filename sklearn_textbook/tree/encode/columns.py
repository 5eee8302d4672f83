"""A column of a table from any source, as numbers or codes of levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Kinds of columns for models.
NUMERIC = "numeric"
ORDINAL = "ordinal"
NOMINAL = "nominal"
KINDS = (NUMERIC, ORDINAL, NOMINAL)

# Sources of the values of a column.
NUMBER = "number"
BOOLEAN = "boolean"
STRING = "string"
MIXED = "mixed"  # strings and numbers in one column of objects
CATEGORY = "category"
DATE = "date"  # seconds since 1970-01-01T00:00:00 UTC
DURATION = "duration"  # seconds
TIME = "time"  # seconds since midnight
NULL = "null"  # no values

SOURCES = (NUMBER, BOOLEAN, STRING, MIXED, CATEGORY, DATE, DURATION, TIME, NULL)
TEMPORAL = {
    DATE: "dates (seconds since 1970-01-01 UTC)",
    DURATION: "durations (seconds)",
    TIME: "times of day (seconds since midnight)",
}
PLURALS = {
    NUMBER: "numbers",
    BOOLEAN: "booleans",
    STRING: "strings",
    MIXED: "strings and numbers",
    CATEGORY: "categories",
    NULL: "missing values only",
    **TEMPORAL,
}


@dataclass(frozen=True)
class Column:
    """The values of one column, either as numbers or as codes of levels.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    source : str
        One of SOURCES.
    numbers : ndarray of float64 or None
        The numbers, NaN where missing.
    codes : ndarray of int or None
        The position of each row's value in `levels`, -1 where missing.
    levels : list or None
        Distinct values: str, bool, int or float. Of a categorical dtype: all declared
        categories, in their order.
    is_ordered : bool
        Whether the categories of a categorical dtype are ordered.
    time_zone : str or None
        Time zone of dates that have one.
    """

    name: str
    source: str
    numbers: np.ndarray | None = None
    codes: np.ndarray | None = None
    levels: list | None = None
    is_ordered: bool = False
    time_zone: str | None = None

    def first_row_of(self, code) -> int:
        """First row that has the level with a code."""
        return int(np.flatnonzero(self.codes == code)[0])

    def is_used(self):
        """Return a mask of the levels that occur in at least one row."""
        used = np.zeros(len(self.levels) + 1, dtype=bool)
        used[self.codes] = True  # missing rows set the last entry
        return used[:-1]

    def is_empty(self) -> bool:
        """Whether all rows are missing."""
        if self.codes is None:
            return bool(np.isnan(self.numbers).all())
        return not self.is_used().any()


def describe_place(name, row):
    """Column and row, for a message."""
    return f"column {name!r}" + ("" if row is None else f", row {row}")


def infinity_error(name, row):
    """Make the error for an infinite number."""
    return ValueError(
        f"Input X contains infinity: {describe_place(name, row)}. Replace infinite "
        "values by finite numbers, or by NaN if they stand for missing values."
    )


def complex_error(name):
    """Make the error for complex numbers."""
    return ValueError(f"Complex data not supported: column {name!r}.")


def unsupported_error(name, what):
    """Make the error for a dtype other than numbers, dates, strings or categories."""
    return TypeError(
        f"Column {name!r} is of {what}, which cannot be read as numbers or levels. "
        "Supported are numbers, booleans, strings, categories, dates, durations and "
        "times of day; convert or drop the column."
    )


def require_finite(numbers, name) -> None:
    """Raise ValueError that names the column if a number is infinite."""
    rows = np.flatnonzero(np.isinf(numbers))
    if rows.size:
        raise infinity_error(name, int(rows[0]))


def seconds_from_temporal(values):
    """Seconds of datetime64 (since 1970) or timedelta64 values, NaT as NaN.

    The same instant gives the same float64 in every unit: microseconds are divided
    once, and remaining nanoseconds are added afterwards.
    """
    unit, _ = np.datetime_data(values.dtype)
    if unit in ("ns", "ps", "fs", "as"):
        whole = values.astype(f"{values.dtype.kind}8[us]")
        rest = values - whole
        seconds = seconds_from_temporal(whole)
        fraction = rest / np.timedelta64(1, "s")
        return np.where(fraction != 0, seconds + fraction, seconds)
    if unit in ("Y", "M") and values.dtype.kind == "M":
        unit = "D"
    if unit in ("D", "W", "h", "m", "generic"):
        values = values.astype(f"{values.dtype.kind}8[s]")
        unit = "s"
    ticks = values.astype(np.int64)
    seconds = ticks / {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
    seconds[np.isnat(values)] = np.nan
    return seconds


def factorize_array(values, name, is_missing=None):
    """Return codes and sorted distinct values of a numeric array, as Python scalars.

    Integers stay integers, so that large identifiers stay distinct.
    """
    if values.dtype.kind == "f":
        require_finite(values, name)
        missing = np.isnan(values)
        is_missing = missing if is_missing is None else missing | is_missing
        values = values + values.dtype.type(0)  # minus zero becomes zero
    codes = np.full(values.shape[0], -1, dtype=np.int64)
    if is_missing is None:
        is_missing = np.zeros(values.shape[0], dtype=bool)
    levels, codes[~is_missing] = np.unique(values[~is_missing], return_inverse=True)
    return codes, levels.tolist()
