"""Conversion of the values of a column to the codes of training."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.encode.columns import (
    NULL,
    PLURALS,
    STRING,
    TEMPORAL,
    describe_place,
    infinity_error,
)

UNSEEN = -1.0  # the code of a level not seen in training


def is_number(level) -> bool:
    """Whether a level is a number or boolean rather than a string."""
    return not isinstance(level, str)


def parse_levels(column, accepts_strings: bool) -> np.ndarray:
    """Read the numbers of a column that was read as levels."""
    numbers = np.full(len(column.levels) + 1, np.nan)  # the last one: missing
    is_used = column.is_used()
    for code, level in enumerate(column.levels):
        try:
            if not (is_number(level) or accepts_strings):
                raise ValueError
            numbers[code] = float(level)
        except OverflowError:
            if is_used[code]:
                raise infinity_error(column.name, column.first_row_of(code)) from None
        except ValueError:
            if not is_used[code]:
                continue
            place = describe_place(column.name, column.first_row_of(code))
            raise ValueError(
                f"Could not convert string to float: {place} contains {level!r}, but "
                "the column is numeric."
            ) from None
    return numbers[column.codes]


def require_same_nature(column, schema):
    """Raise unless both or neither contain dates, durations, or times of day."""
    sources = {column.source, schema.source}
    if len(sources) == 1 or NULL in sources or not sources & set(TEMPORAL):
        return
    if not column.is_empty():
        raise ValueError(
            f"Column {column.name!r} contains {PLURALS[column.source]}, but contained "
            f"{PLURALS[schema.source]} in training."
        )


def convert_to_numbers(column, schema) -> np.ndarray:
    """Read the numbers of a column that was numeric in training."""
    require_same_nature(column, schema)
    if column.numbers is not None:
        return column.numbers
    if schema.source == NULL:  # never seen with a value, so no test uses it
        return np.full(column.codes.shape[0], np.nan)
    return parse_levels(column, accepts_strings=schema.source == STRING)


def look_up_levels(column, schema) -> np.ndarray:
    """Look up the training codes of a column's levels.

    Levels are equal as in Python: 1, 1.0 and True are one level, 1 and "1" are two.
    """
    require_same_nature(column, schema)
    if column.codes is None:  # no values
        return column.numbers
    known = {is_number(level) for level in schema.levels} or {True, False}
    codes = np.full(len(column.levels) + 1, np.nan)  # the last one: missing
    is_used = column.is_used()
    for code, level in enumerate(column.levels):
        codes[code] = schema.codes.get(level, UNSEEN)
        if is_number(level) not in known and is_used[code]:
            place = describe_place(column.name, column.first_row_of(code))
            found, wanted = (
                ("number", "strings") if is_number(level) else ("string", "numbers")
            )
            raise ValueError(
                f"Cannot look up the level of {place}: it is the {found} {level!r}, "
                f"but the levels in training were {wanted}, such as "
                f"{schema.levels[0]!r}."
            )
    return codes[column.codes]
