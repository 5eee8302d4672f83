"""A frame as the files of C4.5."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook._contract.written_files import write_files
from sklearn_textbook.io.c45 import CASE_ENDINGS, NAMES_ENDING
from sklearn_textbook.io.c45_names import ORDERED, SELECTION
from sklearn_textbook.io.c45_syntax import (
    MISSING,
    NOT_APPLICABLE,
    read_word,
    write_word,
)
from sklearn_textbook.io.naming import explain_unknown_name
from sklearn_textbook.io.number_formats import number_text


def write_c45(
    frame: Any,
    path: str | PathLike[str],
    *,
    target: str,
    named_target: bool = False,
    label: str | None = None,
    test: Any = None,
) -> None:
    r"""Write a data frame as .names and .data files of C4.5, and optionally .test.

    Numbers become continuous attributes; categories discrete ones with their declared
    levels in order, with ``[ordered]`` if they are ordered; text discrete ones with its
    sorted values; booleans discrete ones with false, true; dates, times of day, and
    dates with times get the types of C5.0. Missing values are written as ``?``.
    `read_table` restores the frame, with text and booleans as categories.

    Parameters
    ----------
    frame : pandas, polars or pyarrow table
        The columns.
    path : str or path-like
        Common path of the files without the ending, such as "golf"; an ending .names,
        .data or .test is removed. The files are written in UTF-8.
    target : str
        The column that is the class.
    named_target : bool, default=False
        False: the format of C4.5 and all related programs. The first entry lists the
        classes, also if they are integers, and the class is the last column of the
        data. It has no name, and is read as "class". True: a format that C5.0 also
        accepts. The first entry is the name of the class, which keeps its place among
        the columns; numbers are then continuous.
    label : str, default=None
        A column that only identifies the rows (a type of C5.0).
    test : data frame with the same kinds of columns, default=None
        Rows for the .test file. Their levels are declared together with those of
        `frame`.

    Raises
    ------
    ValueError
        If there is no such column, or if the files cannot represent a name or a value:
        an empty text, line ends, blanks other than single ones between words, a level
        "?", an infinite number, a number that would be rounded in double precision,
        such as 2**53 + 1, fractions of a second, or, without `named_target`, a class
        with fewer than two levels.
    TypeError
        If a column has a type that the files do not support, such as lists, or contains
        objects of several types.

    See Also
    --------
    read_table : Reads the files.
    write_arff : Writes a data frame as an ARFF file.

    References
    ----------
    J. R. Quinlan, C4.5: Programs for Machine Learning, Morgan Kaufmann, 1993.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import pandas as pd
    >>> from sklearn_textbook.io import read_table, write_c45
    >>> stem = pathlib.Path(tempfile.mkdtemp(), "fruit")
    >>> colour = pd.Categorical(["green", None], categories=["white", "green"])
    >>> frame = pd.DataFrame({"kg": [1.5, 2.0], "colour": colour, "y": ["no", "yes"]})
    >>> write_c45(frame, stem, target="y")
    >>> print(stem.with_suffix(".names").read_text())
    no, yes.
    <BLANKLINE>
    kg: continuous.
    colour: white, green.
    <BLANKLINE>
    >>> print(stem.with_suffix(".data").read_text())
    1.5,green,no
    2,?,yes
    <BLANKLINE>
    >>> read_table(stem).column_kinds
    {'kg': 'numeric', 'colour': 'nominal', 'class': 'nominal'}
    """
    tables = [_to_arrow(frame)]
    names = tables[0].column_names
    if test is not None:
        tables.append(_select_alike(_to_arrow(test), tables[0]))
    _require_columns(names, target, label)
    columns = {}
    for name in names:
        parts = [table[name] for table in tables]
        is_class = name == target and not named_target
        if is_class and all(pa.types.is_integer(part.type) for part in parts):
            columns[name] = _write_levels(name, list(map(_read_levels, parts)))
        else:
            columns[name] = _write_column(name, parts, name == label)
    if named_target:
        lines, attributes = [f"{_write_name(target)}.", ""], names
    else:
        attributes = [name for name in names if name != target]
        names = [*attributes, target]
        lines = [f"{_list_classes(target, tables[0], columns[target].levels)}.", ""]
    lines += [f"{_write_name(n)}: {columns[n].declaration}." for n in attributes]
    stem = _strip_ending(str(path))
    files = {stem + NAMES_ENDING: _join_lines(lines)}
    for number, ending in enumerate(CASE_ENDINGS[: len(tables)]):
        cases = zip(*(columns[name].texts[number] for name in names), strict=True)
        files[stem + ending] = _join_lines(map(",".join, cases))
    write_files(files)


def _join_lines(lines):
    return "".join(f"{line}\n" for line in lines)


def _strip_ending(path):
    ending = Path(path).suffix
    known = (NAMES_ENDING, *CASE_ENDINGS)
    return path.removesuffix(ending) if ending in known else path


# Exceptions of pyarrow for values that it has no type for.
_NO_ARROW = (pa.ArrowException, OverflowError)


# --------------------------------------------------------------------- tables
def _to_arrow(frame):
    frame = nw.from_native(frame, eager_only=True)
    if frame.implementation.is_polars():
        # Its categoricals declare no levels: those of the values, sorted, as for text.
        undeclared = [n for n, d in frame.schema.items() if d == nw.Categorical]
        frame = frame.with_columns(nw.col(name).cast(nw.String) for name in undeclared)
    try:
        return frame.to_arrow()
    except _NO_ARROW as error:
        problem = error
    for name in frame.columns:
        try:
            frame.select(name).to_arrow()
        except _NO_ARROW as error:
            raise TypeError(
                f"column {name!r} has type {frame[name].dtype}, which files of C4.5 do "
                f"not support: {error.args[0]}"
            ) from None
    raise problem


def _select_alike(test, table):
    """Return the columns of the test table in the order of the other table."""
    for name in table.column_names:
        if name not in test.column_names:
            remedy = explain_unknown_name(name, test.column_names)
            raise ValueError(f"test: no column {name!r}; {remedy}")
        kinds = [_find_kind(name, t[name].type) for t in (table, test)]
        if kinds[0] != kinds[1]:
            raise ValueError(
                f"test: column {name!r} is {kinds[1]}, and {kinds[0]} in frame"
            )
    return test.select(table.column_names)


def _require_columns(names, target, label) -> None:
    for option, name in (("target", target), ("label", label)):
        if name not in names and name is not None:
            remedy = explain_unknown_name(name, names)
            raise ValueError(f"{option}: no column {name!r}; {remedy}")
    if label == target:
        raise ValueError(f"label: {label!r} is the target")


# ------------------------------------------------------------------- columns
@dataclass(frozen=True)
class _Written:
    """One column as text.

    Parameters
    ----------
    declaration : str
        Its type in the .names file.
    texts : list of list of str
        Its values in every table.
    levels : tuple of str
        Its levels, if it has any.
    """

    declaration: str
    texts: list
    levels: tuple = ()


def _find_kind(name, data_type) -> str:
    """Return the type of C5.0 for an Arrow type."""
    if pa.types.is_dictionary(data_type) or _is_text(data_type):
        return "discrete"
    if pa.types.is_boolean(data_type):
        return "boolean"
    if pa.types.is_date(data_type):
        return "date"
    if pa.types.is_timestamp(data_type):
        return "timestamp"
    if pa.types.is_time(data_type):
        return "time"
    for is_number in (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_null,
    ):
        if is_number(data_type):
            return "continuous"
    raise TypeError(
        f"column {name!r} has type {data_type}, which files of C4.5 do not support"
    )


def _is_text(data_type):
    return pa.types.is_string(data_type) or pa.types.is_large_string(data_type)


def _write_column(name, columns, is_label):
    kind = _find_kind(name, columns[0].type)
    if is_label:
        return _write_label(name, columns)
    if kind in ("discrete", "boolean"):
        return _write_levels(name, [_read_levels(column) for column in columns])
    write = _write_numbers if kind == "continuous" else _write_moments
    return _Written(kind, [write(name, kind, column) for column in columns])


def _write_label(name, columns):
    def write(value):
        text = str(value)
        if text == NOT_APPLICABLE:
            raise ValueError(f"column {name!r}: {text!r} represents a missing value")
        return _write_level(name, text)

    return _Written("label", [_write_each(column, write) for column in columns])


def _write_each(column, write):
    return [MISSING if v is None else write(v) for v in column.to_pylist()]


def _write_numbers(name, kind, column):
    if pa.types.is_null(column.type):
        return _write_each(column, str)
    if not pa.types.is_floating(column.type):
        return _write_each(column, partial(_write_exact, name))
    column = column.cast(pa.float64())
    if compute.any(compute.is_inf(column)).as_py():
        raise ValueError(f"column {name!r} has an infinite value")
    return _write_each(column, number_text)


def _write_exact(name, number):
    """Write an integer or decimal that reads back equal in double precision."""
    text = str(number) if isinstance(number, int) else number_text(float(number))
    if number != (float(text) if isinstance(number, int) else Decimal(text)):
        raise ValueError(
            f"column {name!r} has the number {number}, which would be read back "
            "rounded, since continuous columns are in double precision; convert the "
            "column to text, categories or float"
        )
    return text


def _write_moments(name, kind, column):
    if kind == "date":
        return _write_each(column.cast(pa.date32()), lambda day: day.isoformat())
    try:
        if kind == "timestamp":
            column = column.cast(pa.timestamp("s"))
            return _write_each(column, lambda moment: moment.isoformat(sep=" "))
        return _write_each(column.cast(pa.time32("s")), lambda time: time.isoformat())
    except pa.ArrowInvalid:
        raise ValueError(
            f"column {name!r} has fractions of a second, which files of C4.5 do not "
            "support"
        ) from None


# -------------------------------------------------------------------- levels
@dataclass(frozen=True)
class _Levels:
    """The levels of a column and its values as texts."""

    levels: list
    is_ordered: bool
    values: list


def _read_levels(column):
    kind = column.type
    if pa.types.is_boolean(kind):
        values = column.cast(pa.string()).to_pylist()
        return _Levels(["false", "true"], False, values)
    if not pa.types.is_dictionary(kind):
        levels = sorted(compute.unique(column.drop_null()).to_pylist())
        values = column.cast(pa.string()).to_pylist()
        return _Levels([str(level) for level in levels], False, values)
    write = number_text if pa.types.is_floating(kind.value_type) else str
    array = column.unify_dictionaries().combine_chunks()
    levels = [write(level) for level in array.dictionary.to_pylist()]
    codes = array.indices.to_pylist()
    values = [None if code is None else levels[code] for code in codes]
    return _Levels(levels, kind.ordered, values)


def _write_levels(name, columns):
    levels = list(dict.fromkeys(level for c in columns for level in c.levels))
    texts = {level: _write_level(name, level) for level in levels}
    texts[None] = MISSING
    declaration = ", ".join(texts[level] for level in levels)
    first = columns[0]
    if first.is_ordered and levels:
        declaration = f"{ORDERED} {declaration}"
    elif len(levels) < 2:
        declaration = "discrete 1"  # a list of one level is not a valid type
        if levels and (levels[0] == NOT_APPLICABLE or levels[0] not in first.values):
            raise ValueError(
                f"column {name!r} has a single level, {levels[0]!r}, which can be "
                "declared only by a row that has it"
            )
    elif declaration.startswith(ORDERED):
        declaration = f"\\{declaration}"
    written = [[texts[value] for value in column.values] for column in columns]
    return _Written(declaration, written, tuple(levels))


def _list_classes(target, table, levels):
    data_type = table[target].type
    is_discrete = _find_kind(target, data_type) == "discrete"
    if not (levels or is_discrete or pa.types.is_integer(data_type)):
        raise ValueError(
            f"target {target!r} has type {data_type}, which is not discrete: convert "
            "it to integers or categories, or use named_target=True"
        )
    if len(levels) < 2:
        raise ValueError(
            f"target {target!r} must be discrete with at least two levels, unless "
            "named_target=True"
        )
    return ", ".join(map(write_word, levels))


# --------------------------------------------------------------------- words
def _write_name(name):
    word = _write_word(f"column {name!r}: its name", name)
    return f"\\{word}" if SELECTION.fullmatch(word) else word


def _write_level(name, level):
    if level == MISSING:
        raise ValueError(f"column {name!r}: {level!r} represents a missing value")
    return _write_word(f"column {name!r}: {level!r}", level)


def _write_word(what, text):
    """Escape a text; raise ValueError for one that would be read differently."""
    word = write_word(text)
    if not text or "\r" in text or read_word(word) != text:
        raise ValueError(
            f"{what} is empty, or has line ends or blanks other than single ones "
            "between words, which files of C4.5 do not support"
        )
    return word
