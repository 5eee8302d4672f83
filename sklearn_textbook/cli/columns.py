"""The columns of a table in words: kinds, values, missing values, hints."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook._contract.text_table import TextTable, write_rounded
from sklearn_textbook.cli.blocks import Blocks, count_more
from sklearn_textbook.cli.report import MOST_LEVELS
from sklearn_textbook.io.naming import count_things, list_names
from sklearn_textbook.io.table_file import column_kind

MOST_COLUMNS = 50
_LEAST_ROWS_FOR_HINTS = 5
#: From so many rows on, levels of fewer than two rows each, on average, name the rows.
_LEAST_ROWS_TO_AVERAGE = 20
#: Names that pandas, this package and R give to an index without a name.
_INDEX_NAME = re.compile(r"Unnamed: \d+|__index_level_0__|column_\d+|rownames")
#: Width down to which the values of a column are cut.
_LEAST_VALUES = 16


def report_columns(frame) -> Blocks:
    """Report kind, values and missing values of every column."""
    rows = []
    for name in frame.column_names[:MOST_COLUMNS]:
        column = frame[name]
        missing = count_missing(column)
        kind, values = describe_kind(column.type), describe_values(column)
        rows.append([name, kind, f"{missing:,}" if missing else "-", values])
    more = count_more(frame.num_columns - MOST_COLUMNS, "more column")
    heads = ("column", "kind", "missing", "values")
    yield ""
    yield TextTable(heads, rows, "llrl", more, "cut last", (0, 7, 7, _LEAST_VALUES))


def count_missing(column):
    """Count nulls and NaN."""
    missing = column.null_count
    if pa.types.is_floating(column.type):
        missing += compute.sum(compute.is_nan(column)).as_py() or 0
    return missing


def explain_gaps(frame, error: Exception) -> tuple[str | None, str | None]:
    """Explain that a model refuses missing values, and a remedy; else None, None."""
    text = str(error)
    names = [name for name in frame.column_names if count_missing(frame[name])]
    if "contains NaN" not in text or not names:
        return None, None
    have, it = ("has", "it") if len(names) == 1 else ("have", "them")
    columns = "column" if len(names) == 1 else "columns"
    reason = (
        f"{columns} {list_names(names)} {have} missing values, which the model does "
        "not accept"
    )
    for note in getattr(error, "__notes__", []):
        reason += f"; {note[:1].lower()}{note[1:].rstrip('.')}"
    dropped = quote_name(",".join(names))
    drop = f"use --drop {dropped} to leave {it} out, or remove the rows"
    if "missing='mean'" in text:
        return reason, (
            "use --set missing=mean to fill in means with an indicator, --set "
            f"missing=drop to leave the rows out, or --drop {dropped}"
        )
    return reason, drop


def quote_name(name):
    """Quote a name for a shell."""
    return f"'{name}'" if " " in name else name


def describe_kind(data_type):
    """Name the kind of a column; booleans, dates and times have their own names."""
    if pa.types.is_boolean(data_type):
        return "boolean"
    if pa.types.is_date(data_type) or pa.types.is_timestamp(data_type):
        return "date"
    if pa.types.is_time(data_type) or pa.types.is_duration(data_type):
        return "time"
    return column_kind(data_type)


def describe_values(column):
    """Describe the values of a column: the range of numbers, the commonest levels."""
    present = drop_missing(column)
    if not len(present):
        return "none"
    kind = describe_kind(column.type)
    n_distinct = count_distinct(present)
    if kind in ("nominal", "ordinal", "boolean"):
        return _describe_levels(present, kind)
    low, high = (compute.min_max(present)[end].as_py() for end in ("min", "max"))
    if n_distinct == 1:
        return f"{_show(low)} only"
    return f"{_show(low)} to {_show(high)}, {n_distinct:,} distinct"


def drop_missing(column):
    """Return a column without nulls and NaN."""
    if pa.types.is_floating(column.type):
        column = column.filter(compute.invert(compute.is_nan(column)))
    return column.drop_null()


def count_distinct(present):
    """Count the distinct values of a column without missing ones."""
    if pa.types.is_dictionary(present.type):
        present = present.unify_dictionaries().combine_chunks().indices
    return compute.count_distinct(present).as_py()


def _show(value):
    return write_rounded(value) if isinstance(value, float) else str(value)


def _describe_levels(present, kind):
    if pa.types.is_dictionary(present.type):
        declared = present.unify_dictionaries().combine_chunks().dictionary.to_pylist()
        counts = dict.fromkeys(declared, 0)
    else:
        counts = {}
    for entry in compute.value_counts(present).to_pylist():
        counts[entry["values"]] = entry["counts"]
    levels = list(counts)
    if kind != "ordinal":
        levels.sort(key=lambda level: -counts[level])
    separator = " < " if kind == "ordinal" else ", "
    shown = separator.join(
        f"{_show_level(level)} {counts[level]:,}" for level in levels[:MOST_LEVELS]
    )
    if len(levels) <= MOST_LEVELS:
        return shown
    return f"{len(levels):,} levels: {shown}, ..."


def _show_level(level):
    text = str(level).lower() if isinstance(level, bool) else str(level)
    return text if len(text) <= 24 else text[:21] + "..."


def find_useless(frame, has_header: bool = True) -> dict[str, str]:
    """Say by name which columns are empty, constant, or name or number the rows.

    ``has_header``: whether the names come from the file.
    """
    useless = {}
    for name, column in zip(frame.column_names, frame.columns, strict=True):
        present = drop_missing(column)
        n_distinct = count_distinct(present)
        is_large = len(present) >= _LEAST_ROWS_FOR_HINTS
        if not len(present):
            useless[name] = "has no values"
        elif n_distinct == 1 and len(present) == len(column):
            useless[name] = "has the same value in every row"
        elif len(present) == len(column) and (
            _numbers_rows(column) or (has_header and _is_index(name, column))
        ):
            useless[name] = "numbers the rows"
        elif describe_kind(column.type) != "nominal" or not is_large:
            continue
        elif n_distinct == len(present):
            useless[name] = "has a different value in every row"
        elif len(present) >= _LEAST_ROWS_TO_AVERAGE and 2 * n_distinct > len(present):
            rows = count_things(len(present), "row")
            useless[name] = f"has {n_distinct:,} levels in {rows}"
    return useless


def _numbers_rows(column):
    """Whether the values are 0, 1, 2, ... or 1, 2, 3, ... in the order of the rows."""
    if not pa.types.is_integer(column.type) or len(column) < _LEAST_ROWS_FOR_HINTS:
        return False
    first = column[0].as_py()
    return first in (0, 1) and column.to_pylist() == [
        *range(first, first + len(column))
    ]


def _is_index(name, column):
    """Whether it is an index that pandas or R wrote, also of a sample of the rows."""
    return (
        _INDEX_NAME.fullmatch(name) is not None
        and pa.types.is_integer(column.type)
        and len(column) >= _LEAST_ROWS_FOR_HINTS
        and count_distinct(column) == len(column)
    )


def find_hints(frame):
    """Point out whole numbers that may only count the rows, one sentence per column."""
    return [
        f"column {name!r} has a different value in every row; if it only numbers the "
        "rows, leave it out with --id"
        for name, column in zip(frame.column_names, frame.columns, strict=True)
        if _counts_rows(drop_missing(column))
    ]


def _counts_rows(present):
    if not pa.types.is_integer(present.type) or len(present) < _LEAST_ROWS_FOR_HINTS:
        return False
    ends = compute.min_max(present)
    span = ends["max"].as_py() - ends["min"].as_py()
    return span == len(present) - 1 == count_distinct(present) - 1
