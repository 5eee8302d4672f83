"""Notes on text columns whose values look like dates or numbers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook.io.date_formats import (
    describe_date_format,
    find_date_formats,
    write_pattern,
)
from sklearn_textbook.io.naming import count_things
from sklearn_textbook.io.number_formats import (
    describe_numbers,
    is_number_text,
    is_percentage,
    match_numbers,
)

if TYPE_CHECKING:
    from sklearn_textbook.io.columns import ColumnContext

_SAMPLE_ROWS = 1000
_SAMPLE_LEVELS = 20
_LEAST_FRACTION = 0.95
_LEAST_LEVELS = 3


def find_format_note(
    name: str, column: pa.ChunkedArray, context: ColumnContext
) -> str | None:
    """Find out what the values of a text column look like, if they are no plain text.

    Nearly all values, and at least three different ones, must look alike.
    """
    present = column.drop_null()
    # A few values suffice to tell that a column is plain text, as most are.
    sample = compute.unique(present.slice(0, _SAMPLE_ROWS)).to_pylist()
    sample = [text.strip() for text in sample[:_SAMPLE_LEVELS]]
    if len(sample) < _LEAST_LEVELS:
        return None
    formats = find_date_formats(sample)
    if formats:
        return _describe_dates(name, _Levels(column, present, context), formats)
    if 2 * sum(map(is_number_text, sample)) >= len(sample):
        return _describe_numbers(name, _Levels(column, present, context), context)
    return None


class _Levels:
    """The different values of a column, and which of them look alike."""

    def __init__(self, column, present, context) -> None:
        self.column = column
        self.context = context
        self.n_values = len(present)
        counts = compute.value_counts(present)
        self.written = counts.field("values")
        self.counts = counts.field("counts")
        self.texts = compute.utf8_trim_whitespace(self.written)

    def measure(self, mask):
        """Share of the values at some levels, 0 if these are too few."""
        n_levels = compute.sum(mask).as_py() or 0
        if n_levels < _LEAST_LEVELS:
            return 0.0
        return compute.sum(self.counts.filter(mask)).as_py() / self.n_values

    def describe_others(self, mask) -> str:
        """Name the first of the values that look different."""
        others = compute.invert(mask)
        n_others = compute.sum(self.counts.filter(others)).as_py()
        if not n_others:
            return ""
        text = self.written.filter(others)[0].as_py()
        row = compute.index(self.column, text).as_py()
        line = self.context.find_line(row)
        where = f"line {line}" if line is not None else f"row {row + 1}"
        return f", except {count_things(n_others, 'value')} such as {text!r} ({where})"


def _describe_dates(name, levels, formats):
    masks = {
        date_format: compute.match_substring_regex(
            levels.texts, f"^{write_pattern(date_format)}$"
        )
        for date_format in formats
    }
    fractions = {
        date_format: levels.measure(mask)
        for date_format, mask in masks.items()
        if levels.measure(mask) >= _LEAST_FRACTION
    }
    best = [
        f for f, fraction in fractions.items() if fraction == max(fractions.values())
    ]
    if not best:
        return None
    mask = masks[best[0]]
    example = levels.texts.filter(mask)[0].as_py()
    # Otherwise they differ in the spelling of months, and both read May.
    best = [best[0], *(f for f in best[1:] if "%m" in f and "%m" in best[0])]
    what = " or ".join(map(describe_date_format, best))
    if len(best) > 1:
        what = f"ambiguous dates ({what}, as no day is later than the 12th)"
    else:
        what = f"dates ({what})"
    types = " or ".join(f"column_types={{{name!r}: {f!r}}}" for f in best)
    options = " or ".join(f"--date {shlex.quote(f'{name}={f}')}" for f in best)
    return _write_note(name, what, example, levels.describe_others(mask)) + (
        f"; {types} ({options}) reads them as dates"
    )


def _describe_numbers(name, levels, context):
    mark = context.decimal
    masks = {d: match_numbers(levels.texts, d) for d in mark.candidates}
    fractions = {decimal: levels.measure(mask) for decimal, mask in masks.items()}
    decimal = max(fractions, key=fractions.get)
    if fractions[decimal] < _LEAST_FRACTION:
        return None
    mask = masks[decimal]
    texts = levels.texts.filter(mask)
    if len(masks) > 1 and len(set(fractions.values())) == 1:
        decimal = mark.choose(texts)
    what, marked = describe_numbers(texts, decimal)
    if what == "percentages":
        mask = compute.and_(mask, is_percentage(levels.texts))
    if len(marked) < _LEAST_LEVELS or levels.measure(mask) < _LEAST_FRACTION:
        return None
    example = marked[0].as_py()
    note = _write_note(name, what, example, levels.describe_others(mask)) + (
        f"; column_types={{{name!r}: 'numeric'}} (--numeric {shlex.quote(name)}) reads "
        "them as numbers"
    )
    if decimal is None:
        note += (
            ", and decimal='.' or ',' (--decimal point or comma) tells which is the "
            "decimal mark"
        )
    return note


def _write_note(name, what, example, others) -> str:
    return (
        f"column {name!r} is read as text, but its values look like {what}, such as "
        f"{example!r}{others}"
    )
