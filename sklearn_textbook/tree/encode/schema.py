"""Description of the columns of the training table, for reading new tables."""

from __future__ import annotations

import datetime
import math
import re
import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # whose submodules are loaded on first use

from sklearn_textbook._contract.blocks import StoredTable
from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.tables import check_sparse_format
from sklearn_textbook.tree.encode.arrays import is_plain, require_size
from sklearn_textbook.tree.encode.columns import (
    DURATION,
    KINDS,
    NUMBER,
    NUMERIC,
    SOURCES,
    TEMPORAL,
    TIME,
    infinity_error,
)
from sklearn_textbook.tree.encode.convert import convert_to_numbers, look_up_levels
from sklearn_textbook.tree.encode.sharing import compute_once

BLOCK_BYTES = 1 << 26  # size of the dense blocks of a sparse table


@dataclass(frozen=True)
class ColumnSchema:
    """Description of a column of the training table.

    Parameters
    ----------
    name : str
        Its name; ``x0``, ``x1``, ... where the table had none.
    kind : {"numeric", "ordinal", "nominal"}
        How a tree may split it: at a threshold of its numbers, at a threshold of its
        levels in their order, or by any grouping of its levels.
    levels : tuple of str, bool, int or float, or None
        The levels in the order of their codes; None for a numeric column.
    source : str, default="number"
        Source of the values: "number", "boolean", "string", "mixed" (strings and
        numbers), "category", "date", "duration", "time" or "null" (no values).
    time_zone : str or None, default=None
        Time zone of a column of dates, in which they are written; None for dates
        without one.
    """

    name: str
    kind: str
    levels: tuple | None = None
    source: str = NUMBER
    time_zone: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.source not in SOURCES:
            is_kind = self.kind not in KINDS
            field, allowed = ("kind", KINDS) if is_kind else ("source", SOURCES)
            raise ValueError(
                f"{field} of column {self.name!r} must be one of {allowed}, got "
                f"{getattr(self, field)!r}."
            )
        if (self.levels is None) != (self.kind == NUMERIC):
            raise ValueError(
                f"Column {self.name!r} is {self.kind} and has levels {self.levels}; "
                "nominal and ordinal columns must have levels, numeric ones must not."
            )

    @cached_property
    def codes(self):
        """The code of every level."""
        return {level: code for code, level in enumerate(self.levels)}

    def format_value(self, value: float) -> str:
        """Write a number or code of this column in words, for messages and rules.

        Parameters
        ----------
        value : float
            A number of a numeric column, or the code of a level.

        Returns
        -------
        text : str
            The level; a date and time in ISO 8601, with the offset of its time zone if
            it has one; a duration in days, hours, minutes and seconds; a time of day;
            the shortest decimal that reads back equal.

        Examples
        --------
        >>> from sklearn_textbook.tree.encode import ColumnSchema
        >>> ColumnSchema("day", "numeric", None, "date").format_value(86400.0)
        '1970-01-02'
        >>> ColumnSchema("colour", "nominal", ("green", "red")).format_value(1.0)
        'red'
        """
        if self.kind != NUMERIC:
            value = self.levels[int(value)]
            if self.source not in TEMPORAL:
                return str(value)
        if np.isfinite(value) and self.source in TEMPORAL:
            try:
                return format_seconds(value, self.source, self.time_zone)
            except OverflowError:  # beyond the calendar
                pass
        return repr(float(value))


def format_seconds(seconds, source, time_zone=None):
    """Seconds as a date, duration or time of day."""
    duration = datetime.timedelta(seconds=seconds)
    if source == DURATION:
        return str(duration)
    moment = datetime.datetime(1970, 1, 1) + duration
    if source == TIME:
        return moment.time().isoformat()
    if time_zone is not None:
        moment = moment.replace(tzinfo=datetime.UTC)
        return moment.astimezone(find_zone(time_zone)).isoformat()
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat()


def find_zone(name):
    """Make the time zone of a name or fixed offset; UTC for one not known here."""
    offset = re.fullmatch(r"(?:UTC)?([+-])(\d\d):?(\d\d)", name)
    if offset:
        sign, hours, minutes = offset.groups()
        shift = datetime.timedelta(hours=int(hours), minutes=int(minutes))
        return datetime.timezone(-shift if sign == "-" else shift)
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return datetime.UTC


def read_column_schema(entry):
    """Read the schema of one column from the result of `TableSchema.to_dict`."""
    name, levels = entry["name"], entry["levels"]
    if not isinstance(name, str):
        raise ValueError(f"the column name {name!r} is not a string")
    if levels is not None:
        levels = tuple(levels)
        for level in levels:
            is_finite = not isinstance(level, float) or math.isfinite(level)
            if not (isinstance(level, str | bool | int | float) and is_finite):
                raise ValueError(f"column {name!r} has the invalid level {level!r}")
        if len(set(levels)) < len(levels):
            raise ValueError(f"column {name!r} has duplicate levels")
    zone = entry.get("time_zone")
    if not (zone is None or isinstance(zone, str)):
        raise ValueError(f"column {name!r} has the invalid time zone {zone!r}")
    return ColumnSchema(name, entry["kind"], levels, entry["source"], zone)


def write_column_schema(column):
    """Make a dictionary of the schema of one column."""
    entry = {
        "name": column.name,
        "kind": column.kind,
        "levels": None if column.levels is None else list(column.levels),
        "source": column.source,
    }
    return (
        entry if column.time_zone is None else {**entry, "time_zone": column.time_zone}
    )


@dataclass(frozen=True)
class TableSchema:
    """Description of the columns of the training table.

    Parameters
    ----------
    columns : tuple of ColumnSchema
        One per column, in the order of the training table.
    has_names : bool
        Whether the training table had column names, so that new tables are matched by
        name.

    Examples
    --------
    >>> from sklearn_textbook.tree.encode import read_training_table
    >>> _, schema = read_training_table([["red", 1.5], ["green", None]])
    >>> schema.kinds
    ('nominal', 'numeric')
    >>> schema.read([["green", 2], ["blue", 3], [None, 4]])
    array([[ 0.,  2.],
           [-1.,  3.],
           [nan,  4.]])
    """

    columns: tuple
    has_names: bool = False

    @property
    def names(self):
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self):
        """Kinds of the columns: "numeric", "ordinal" or "nominal"."""
        return tuple(column.kind for column in self.columns)

    @cached_property
    def n_levels(self):
        """Number of levels of every column, 0 for numeric ones; int64, read-only."""
        n_levels = np.array(
            [len(column.levels or ()) for column in self.columns], dtype=np.int64
        )
        n_levels.flags.writeable = False
        return n_levels

    @cached_property
    def is_plain(self) -> bool:
        """Whether all columns take any number as it is."""
        return all(
            column.kind == NUMERIC and column.source not in TEMPORAL
            for column in self.columns
        )

    def take_columns(self, columns: Sequence[int]) -> TableSchema:
        """Describe a table of some of the columns."""
        taken = tuple(self.columns[int(column)] for column in columns)
        return TableSchema(taken, self.has_names)

    def read(self, X):
        """Read a new table as numbers and the codes of training."""
        if self.is_plain and is_plain(X):
            require_size(X.shape)
            self._require_width(X.shape[1])
            self._require_finite(X)
            return X
        if scipy.sparse.issparse(X):
            return self._read(X)  # a block of rows, not worth keeping
        return compute_once(TableSchema._read, (self, X))

    def _read(self, X):
        """Read a table that needs converting."""
        from sklearn_textbook.tree.encode.read import open_table

        table = open_table(X.toarray() if scipy.sparse.issparse(X) else X)
        positions = self._match_columns(table)
        matrix = table.read_matrix() if self.is_plain else None
        if matrix is None:
            matrix = self._convert_columns(table, positions)
        elif positions != list(range(len(positions))):
            matrix = matrix[:, positions]
        self._require_finite(matrix)
        return matrix

    def read_blocks(self, X, max_bytes: int = BLOCK_BYTES):
        """Read a table in blocks of rows: a sparse one is converted piecewise."""
        if isinstance(X, StoredTable):
            yield slice(0, len(X)), X.matrix
            return
        if not scipy.sparse.issparse(X) or X.ndim != 2:
            matrix = self.read(X)
            yield slice(0, matrix.shape[0]), matrix
            return
        n_rows, n_columns = X.shape
        step = max(1, max_bytes // (8 * max(n_columns, 1)))
        check_sparse_format(X)
        X = scipy.sparse.csr_array(X)
        # A table without rows is one block, which raises the error.
        for start in range(0, max(n_rows, 1), step):
            stop = min(start + step, n_rows)
            yield slice(start, stop), self.read(X[start:stop])

    def _require_width(self, n_columns) -> None:
        if n_columns != len(self.columns):
            raise ValueError(
                f"X has {n_columns} features, but {type(self).__name__} is expecting "
                f"{len(self.columns)} features as input."
            )

    def _require_finite(self, matrix) -> None:
        if np.isinf(matrix).any():
            column, row = np.argwhere(np.isinf(matrix.T))[0]
            raise infinity_error(self.columns[column].name, int(row))

    def _match_columns(self, table):
        """Position in the table of every training column."""
        if not self.has_names or table.names is None:
            self._require_width(table.n_columns)
            return list(range(table.n_columns))
        positions = {name: position for position, name in enumerate(table.names)}
        message = ""
        for names, wording in (
            (set(positions) - set(self.names), "unseen at fit time"),
            (set(self.names) - set(positions), "seen at fit time, yet now missing"),
        ):
            if names:
                listed = "".join(f"- {name}\n" for name in sorted(names))
                message += f"Feature names {wording}:\n{listed}"
        if message:
            raise ValueError(
                "The feature names should match those that were passed during fit.\n"
                + message
            )
        return [positions[name] for name in self.names]

    def _convert_columns(self, table, positions):
        matrix = np.empty((table.n_rows, len(self.columns)), order="F")
        for j, (schema, position) in enumerate(
            zip(self.columns, positions, strict=True)
        ):
            is_numeric = schema.kind == NUMERIC
            column = table.read_column(position, schema.name, as_levels=not is_numeric)
            convert = convert_to_numbers if is_numeric else look_up_levels
            matrix[:, j] = convert(column, schema)
        return matrix

    def to_dict(self) -> dict:
        """Convert the schema to a dictionary for JSON."""
        return {
            "has_names": self.has_names,
            "columns": [write_column_schema(column) for column in self.columns],
        }

    @classmethod
    def from_dict(cls, schema: dict) -> TableSchema:
        """Read a schema from the result of `to_dict`."""
        try:
            columns = tuple(read_column_schema(entry) for entry in schema["columns"])
            has_names = schema["has_names"]
            if not isinstance(has_names, bool):
                raise ValueError(f"has_names must be true or false, got {has_names!r}")
            if has_names and len({column.name for column in columns}) < len(columns):
                raise ValueError("two columns have the same name")
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"Not a valid table schema: {error!r}.") from error
        return cls(columns, has_names)
