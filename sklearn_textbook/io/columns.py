"""Conversion of parsed columns to columns that an estimator can use.

Text is trimmed, missing marks become nulls, numbers written with a decimal comma
become numbers, ISO dates become dates, and the requested types are applied. A value
that does not fit raises an error with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook.io.date_formats import has_time, is_date_format, read_moment
from sklearn_textbook.io.format_notes import find_format_note
from sklearn_textbook.io.naming import count_things, list_names
from sklearn_textbook.io.number_formats import (
    COMMA,
    POINT,
    DecimalMark,
    NumberFormatError,
    parse_numbers,
)
from sklearn_textbook.io.table_file import TableFileError, make_row_error

#: The allowed types, in addition to a list of ordered levels or a format of dates.
NUMERIC_TYPE = "numeric"
CATEGORICAL_TYPE = "categorical"
TEXT_TYPE = "text"
COLUMN_TYPES = (NUMERIC_TYPE, CATEGORICAL_TYPE, TEXT_TYPE)

_INFERRED_WISHES = (None, NUMERIC_TYPE)
_INFERRED_TYPES = (pa.int64(), pa.float64(), pa.bool_())
# Those of the csv reader, in its order; times of day are read after dates.
_INFERRED_MOMENTS = (
    pa.date32(),
    *(pa.timestamp(unit, zone) for unit in ("s", "ns") for zone in (None, "UTC")),
)
_MAYBE_MOMENT = re.compile(r"\s*\d\d(\d\d-\d\d-\d\d|:\d\d)")
_TIME_OF_DAY = r"^\d\d:\d\d(:\d\d)?$"
_DECIMAL_COMMA = r"^[+-]?\d*(,\d+)?$"
# With a thousands separator or with a decimal comma.
_AMBIGUOUS_COMMA = r"^[+-]?[1-9]\d{0,2},\d{3}$"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_NEARLY_ALL = 0.9


@dataclass
class ColumnContext:
    """Information on the file while its columns are converted.

    Parameters
    ----------
    path : str
        The file, for messages.
    find_line : callable
        Line of a row, or None.
    missing_marks : sequence of str, default=None
        Texts that mean a missing value in a file without types; None if the file has
        types, so that its texts are left unchanged.
    decimal : DecimalMark
        What is known of the decimal mark of numbers.
    notes : list of str
        Choices of the reader; extended.
    units : dict of str to str
        Currency or percent signs of columns that are read as numbers; extended.
    """

    path: str
    find_line: Callable[[int], int | None]
    missing_marks: tuple[str, ...] | None = None
    decimal: DecimalMark = field(default_factory=DecimalMark)
    notes: list[str] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)

    def error(self, problem, *, row, column, remedy):
        """Return an error that names the line of a row."""
        return make_row_error(
            problem,
            path=self.path,
            find_line=self.find_line,
            row=row,
            column=column,
            remedy=remedy,
        )


def prepare_columns(
    table: pa.Table, requested: dict[str, str], context: ColumnContext
) -> pa.Table:
    """Convert every column of a table to a type that an estimator can use."""
    prepared = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        column = _convert(name, column, requested.get(name), context)
        _require_finite(name, column, context)
        prepared[name] = column
    return pa.table(prepared)


def _convert(name, column, wish, context):
    column = _settle_type(name, column, context)
    if context.missing_marks is not None and _is_text(column.type):
        column = _settle_text(name, column, context, infer=wish in _INFERRED_WISHES)
    if wish == NUMERIC_TYPE:
        return _to_numbers(name, column, context)
    if wish == CATEGORICAL_TYPE:
        return _to_categories(column)
    if wish == TEXT_TYPE:
        return _to_text(column)
    if is_date_format(wish):
        return _to_dates(name, column, wish, context)
    if wish is not None:
        return _to_levels(name, column, wish, context)
    if _is_text(column.type):
        column = _infer_moments(column)
    if _is_text(column.type):
        _note_text(name, column, context)
    return column


def _is_text(data_type):
    return pa.types.is_string(data_type) or pa.types.is_large_string(data_type)


def _settle_type(name, column, context):
    """Convert unusual Arrow types to common ones."""
    kind = column.type
    if pa.types.is_null(kind):
        return column.cast(pa.float64())
    if _is_text(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return column.cast(pa.float64())
    if pa.types.is_time32(kind):
        return column.cast(pa.time64("us"))
    if pa.types.is_dictionary(kind):
        return column.unify_dictionaries()
    if (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_temporal(kind)
    ):
        return column
    raise TableFileError(
        f"values of type {kind} are not supported",
        path=context.path,
        column=name,
        remedy="drop the column (--drop) or store numbers, text, booleans or dates",
    )


def _settle_text(name, column, context, infer):
    """Strip blanks around values, and convert the values again."""
    trimmed = compute.utf8_trim_whitespace(column)
    if compute.any(compute.not_equal(trimmed, column)).as_py():
        marks = pa.array(["", *context.missing_marks])
        is_missing = compute.is_in(trimmed, value_set=marks)
        trimmed = compute.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)
        trimmed = _infer_type(trimmed, context.decimal) if infer else trimmed
    if infer and _is_text(trimmed.type) and _has_decimal_commas(trimmed, context):
        context.notes.append(f"column {name!r}: numbers with a decimal comma")
        trimmed = compute.replace_substring(trimmed, ",", ".").cast(pa.float64())
    return trimmed


def _infer_type(column, decimal):
    if column.null_count == len(column):
        return column.cast(pa.float64())
    # With a decimal comma, points are thousands separators, as in 1.234.
    has_points = compute.any(compute.match_substring(column, POINT)).as_py()
    for data_type in () if decimal.given == COMMA and has_points else _INFERRED_TYPES:
        try:
            return column.cast(data_type)
        except pa.ArrowInvalid:
            continue
    return _infer_moments(column)


def _infer_moments(column):
    """Read ISO dates and times as the csv reader does, if all values are such."""
    first = compute.index(compute.is_valid(column), True).as_py()
    if first < 0 or not _MAYBE_MOMENT.match(column[first].as_py()):
        return column
    trimmed = compute.utf8_trim_whitespace(column)
    for data_type in _INFERRED_MOMENTS:
        try:
            return trimmed.cast(data_type)
        except pa.ArrowInvalid:
            continue
    if compute.all(compute.match_substring_regex(trimmed, _TIME_OF_DAY)).as_py():
        try:  # pyarrow reads times only with a date
            moments = compute.binary_join_element_wise("2000-01-01", trimmed, " ")
            return moments.cast(pa.timestamp("s")).cast(pa.time64("us"))
        except pa.ArrowInvalid:
            pass
    return column


def _has_decimal_commas(column, context) -> bool:
    has_comma = compute.match_substring(column, ",")
    if not compute.any(has_comma).as_py() or context.decimal.given == POINT:
        return False
    if not compute.all(compute.match_substring_regex(column, _DECIMAL_COMMA)).as_py():
        return False
    if COMMA in (context.decimal.given, context.decimal.presumed):
        return True
    with_comma = column.filter(has_comma)
    are_ambiguous = compute.match_substring_regex(with_comma, _AMBIGUOUS_COMMA)
    return not compute.all(are_ambiguous).as_py()


# ------------------------------------------------------------ requested types
def _to_numbers(name, column, context):
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_text(column.type):
        if context.decimal.given != COMMA and find_non_number(column) is None:
            return column.cast(pa.float64())
        return _parse_numbers(name, column, context)
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    return column


def _parse_numbers(name, column, context):
    coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    levels = coded.dictionary
    try:
        numbers, unit = parse_numbers(
            compute.utf8_trim_whitespace(levels), context.decimal
        )
    except NumberFormatError as error:
        raise context.error(
            error.problem,
            row=compute.index(column, levels[error.position]).as_py(),
            column=name,
            remedy=error.remedy,
        ) from None
    if unit:
        context.units[name] = unit
    return pa.chunked_array([pa.array(numbers, pa.float64()).take(coded.indices)])


def moment_type(date_format):
    """Return the Arrow type of dates in a format, with or without times."""
    if not has_time(date_format):
        return pa.date32()
    return pa.timestamp("us" if "%f" in date_format else "s")


def _to_dates(name, column, date_format, context):
    if pa.types.is_temporal(column.type):
        return column
    column = _to_text(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    moments = []
    for level in coded.dictionary:
        try:
            moments.append(read_moment(level.as_py().strip(), date_format))
        except ValueError:
            raise context.error(
                f"{level.as_py()!r} is not a date of the format {date_format!r}",
                row=compute.index(column, level).as_py(),
                column=name,
                remedy="correct it, or leave it empty if it is missing",
            ) from None
    moments = pa.array(moments, moment_type(date_format))
    return pa.chunked_array([moments.take(coded.indices)])


def find_non_number(column: pa.Array | pa.ChunkedArray) -> int | None:
    """Find the first row whose text is not a number, counted from 0."""
    for row, text in enumerate(column.to_pylist()):
        if text is not None and not _is_number(text):
            return row
    return None


def _is_number(text) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python's own spelling of long numbers


def _to_text(column):
    """Write the values as text, integers without a decimal point."""
    kind = column.type
    if pa.types.is_dictionary(kind) or _is_text(kind):
        return column
    if pa.types.is_floating(kind):
        values = column.to_pylist()
        return pa.chunked_array(
            [pa.array([_number_text(value) for value in values], pa.string())]
        )
    return column.cast(pa.string())


def _number_text(value):
    if value is None or value != value:
        return None
    return str(int(value)) if value.is_integer() else repr(value)


def _to_categories(column):
    """Text as categories: in the order of the numbers if all are, else sorted."""
    column = _to_text(column)
    if pa.types.is_dictionary(column.type):
        return column
    levels = [
        level for level in compute.unique(column).to_pylist() if level is not None
    ]
    if all(_is_number(level) for level in levels):
        levels.sort(key=lambda level: (float(level), level))
    else:
        levels.sort()
    return categories_from_text(column, levels)


def _to_levels(name, column, levels, context):
    """Code the values as ordered categories; another value is an error."""
    column = _to_text(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    coded = categories_from_text(column, list(levels), ordered=True)
    if coded.null_count > column.null_count:
        unknown = compute.and_(compute.is_null(coded), compute.is_valid(column))
        row = compute.index(unknown, True).as_py()
        raise context.error(
            f"{column[row].as_py()!r} is not a declared level",
            row=row,
            column=name,
            remedy=f"the declared levels are {list_names(levels)}",
        )
    return coded


def categories_from_text(
    column: pa.ChunkedArray, levels: list[str], *, ordered: bool = False
) -> pa.ChunkedArray:
    """Code text as an Arrow dictionary of the levels; other text becomes null."""
    value_set = pa.array(levels, pa.string())
    codes = compute.index_in(column, value_set=value_set, skip_nulls=True)
    if isinstance(codes, pa.ChunkedArray):
        codes = codes.combine_chunks()
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(codes, value_set, ordered=ordered)]
    )


# ------------------------------------------------------------------- checks
def _require_finite(name, column, context):
    if not pa.types.is_floating(column.type):
        return
    infinite = compute.is_inf(column)
    if not compute.any(infinite).as_py():
        return
    row = compute.index(infinite, True).as_py()
    raise context.error(
        f"the value {column[row].as_py()} is infinite",
        row=row,
        column=name,
        remedy="give a finite number, or leave it empty if it is missing",
    )


def _note_text(name, column, context) -> None:
    """Note what the values of a text column look like, if not like text."""
    note = find_format_note(name, column, context)
    if note is not None:
        context.notes.append(note)
    else:
        _note_stray_text(name, column, context)


def _note_stray_text(name, column, context):
    """Note that a column of numbers contains a few words, most likely by mistake."""
    present = column.drop_null()
    looks = compute.match_substring_regex(present, _NUMBER)
    n_numbers = compute.sum(looks).as_py() or 0
    if not len(present) or n_numbers < _NEARLY_ALL * len(present):
        return
    row = find_non_number(column)
    if row is None:
        return
    line = context.find_line(row)
    where = f"line {line}" if line is not None else f"row {row + 1}"
    n_words = count_things(len(present) - n_numbers, "value")
    context.notes.append(
        f"column {name!r} is read as text because of {n_words} such as "
        f"{column[row].as_py()!r} ({where}); if they represent missing values, list "
        "them in --missing-marks"
    )
