"""A table read from a file: its frame, column kinds and errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from sklearn_textbook.tree.encode import NOMINAL, NUMERIC, ORDINAL

#: The name of the standard input.
STANDARD_INPUT = "-"
#: Endings of compressed files, which are decompressed while they are read.
PACKED = (".gz", ".bz2", ".zst")


def find_ending(path):
    """Return the ending of a name in small letters, without that of compression."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def display_path(path):
    """Return the path of a table for a message; "-" is the standard input."""
    return "standard input" if path == STANDARD_INPUT else str(path)


class TableFileError(ValueError):
    """One-line error for a table that cannot be read.

    Parameters
    ----------
    problem : str
        What is wrong.
    path : str
        The file.
    line : int, default=None
        Line of the file, starting from 1.
    column : str, default=None
        Name of the column.
    remedy : str, default=None
        How to correct it.

    Examples
    --------
    >>> from sklearn_textbook.io import TableFileError
    >>> raise TableFileError(
    ...     "'abc' is not a number", path="loan.csv", line=3, column="income"
    ... )
    Traceback (most recent call last):
    ...
    sklearn_textbook.io.table_file.TableFileError:
    loan.csv, line 3, column 'income': 'abc' is not a number
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str,
        line: int | None = None,
        column: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = str(path)
        self.line = line
        self.column = column
        self.remedy = remedy
        super().__init__(str(self))

    def __reduce__(self):
        return _rebuild_error, (self.problem, self.__dict__.copy())

    def __str__(self):
        place = [display_path(self.path)]
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.column is not None:
            place.append(f"column {self.column!r}")
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{', '.join(place)}: {self.problem}{remedy}"


def _rebuild_error(problem, state):
    error = TableFileError(problem, path=state["path"])
    error.__dict__.update(state)
    return error


def make_row_error(
    problem: str,
    *,
    path: str,
    find_line: Callable,
    row: int,
    column: str | None = None,
    remedy: str | None = None,
) -> TableFileError:
    """Make a `TableFileError` that names the line of a row, or else its number."""
    line = find_line(row)
    if line is None:
        problem = f"row {row + 1}: {problem}"
    return TableFileError(problem, path=path, line=line, column=column, remedy=remedy)


@dataclass(frozen=True)
class TableSource:
    """The bytes of a table, from a file, which can be read again, or a stream.

    Parameters
    ----------
    path : str
        Path of the file, or "-" for the standard input.
    stream_bytes : bytes, default=None
        Content of the standard input, which can be read only once.
    """

    path: str
    stream_bytes: bytes | None = field(default=None, repr=False)

    @classmethod
    def open(cls, path):
        """Open a path, "-" meaning the standard input."""
        path = str(path)
        if path == STANDARD_INPUT:
            return cls(path, sys.stdin.buffer.read())
        return cls(path)

    def read(self):
        """Read all bytes, decompressed if the name ends in .gz, .bz2 or .zst."""
        if self.stream_bytes is not None:
            return self.stream_bytes
        require_file(self.path)
        try:
            with pa.input_stream(self.path, compression="detect") as stream:
                return stream.read()
        except PermissionError:
            raise TableFileError(
                "permission denied", path=self.path, remedy="check its permissions"
            ) from None
        except OSError as error:
            raise TableFileError(
                f"cannot be read ({_first_line(error)})", path=self.path
            ) from None


def require_file(path: str) -> None:
    """Refuse a path of a table that is a folder or that does not exist."""
    if path == STANDARD_INPUT:
        return
    if Path(path).is_dir():
        raise TableFileError("is a folder", path=path, remedy="give the path of a file")
    if not Path(path).exists():
        remedy = _suggest_neighbour(Path(path))
        raise TableFileError("no such file", path=path, remedy=remedy)


def _suggest_neighbour(path):
    from sklearn_textbook.io.naming import suggest_name

    try:
        neighbours = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"the folder {str(path.parent)!r} does not exist either"
    return suggest_name(path.name, neighbours, cutoff=0.8) or None


def _first_line(error):
    return str(error).strip().splitlines()[0] if str(error).strip() else "no reason"


def column_kind(data_type) -> str:
    """Return the kind of a column by its Arrow type.

    Numbers, booleans, dates and times are numeric; text and categories nominal;
    categories whose order is declared ordinal.

    Parameters
    ----------
    data_type : pyarrow.DataType
        Type of the column.

    Returns
    -------
    kind : str
        "numeric", "nominal" or "ordinal".

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sklearn_textbook.io.table_file import column_kind
    >>> column_kind(pa.float64()), column_kind(pa.string())
    ('numeric', 'nominal')
    """
    if pa.types.is_dictionary(data_type):
        return ORDINAL if data_type.ordered else NOMINAL
    if pa.types.is_string(data_type) or pa.types.is_large_string(data_type):
        return NOMINAL
    return NUMERIC


@dataclass(frozen=True, eq=False)
class TableFile:
    r"""A table read from a file.

    Parameters
    ----------
    frame : pyarrow.Table
        The columns. Every estimator of the package accepts it, and narwhals converts it
        to a pandas or polars frame.
    path : str
        The file; "-" is standard input.
    format : {"csv", "arff", "c45", "excel", "feather", "json", "jsonl", "parquet"}
        Format of the file.
    layout : str
        Description of the file, such as "semicolon-separated, UTF-8".
    has_header : bool
        Whether the column names come from the file.
    notes : tuple of str
        Choices made by the reader that the user should know.
    find_line : callable
        Function that returns the line of the file on which a row (counted from 0) ends,
        or None if the format has no lines.
    target : str or None
        Column to predict, if the file declares one.
    id_columns : tuple of str
        Columns that the file declares as identifiers of the rows.
    units : dict of str to str
        Currency or percent signs of the columns whose text was read as numbers.
    weight : str or None
        Column with the weights of the rows, if they are part of the file: in ARFF, a
        weight follows a row in braces, as in ``sunny,85,{2}``.
    load_written : callable or None
        Reads the values as text; None if the format has types.

    Attributes
    ----------
    names, n_rows, n_columns
        Names of the columns, number of rows and number of columns.
    column_kinds : dict of str to str
        Kind of each column: "numeric", "nominal" or "ordinal".

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_textbook.io import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp(), "fruit.csv")
    >>> _ = path.write_text("weight,ripe\n1.5,yes\n2,no\n")
    >>> table = read_table(path)
    >>> table.n_rows, table.names, table.find_line(1)
    (2, ['weight', 'ripe'], 3)
    >>> table.frame.to_pandas()
       weight ripe
    0     1.5  yes
    1     2.0   no
    """

    frame: pa.Table
    path: str
    format: str
    layout: str
    has_header: bool = True
    notes: tuple[str, ...] = ()
    find_line: Callable[[int], int | None] = field(default=lambda row: None, repr=False)
    target: str | None = None
    id_columns: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    weight: str | None = None
    load_written: Callable[[], pa.Table] | None = field(default=None, repr=False)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.frame.column_names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.frame.num_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.frame.num_columns

    @property
    def column_kinds(self) -> dict[str, str]:
        """Kind of each column: {name: "numeric", "nominal" or "ordinal"}."""
        return {column.name: column_kind(column.type) for column in self.frame.schema}

    def read_written(self) -> pa.Table:
        """Return the columns with values as a text file or a sheet has them.

        Returns
        -------
        table : pyarrow.Table
            Texts, null where a field is empty; of other formats, `frame`.
        """
        return self.frame if self.load_written is None else self.load_written()

    def error(
        self,
        problem: str,
        *,
        row: int | None = None,
        column: str | None = None,
        remedy: str | None = None,
    ) -> TableFileError:
        """Make a `TableFileError` that gives the line of a row.

        Parameters
        ----------
        problem : str
            What is wrong.
        row : int, default=None
            Row, counted from 0.
        column : str, default=None
            Name of the column.
        remedy : str, default=None
            How to correct it.

        Returns
        -------
        error : TableFileError
            The error to raise.
        """
        if row is None:
            return TableFileError(problem, path=self.path, column=column, remedy=remedy)
        return make_row_error(
            problem,
            path=self.path,
            find_line=self.find_line,
            row=int(row),
            column=column,
            remedy=remedy,
        )
