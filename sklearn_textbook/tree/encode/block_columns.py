"""The columns of a table that is read in blocks, kept in files.

A source is read once, so that it cannot change in between. What follows reads the
files: a column to sort it, blocks of rows again and again, at the speed of the disk.
"""

from __future__ import annotations

import errno
import math
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import IO

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sklearn_textbook._contract.blocks import (
    BlockSource,
    StoredTable,
    add_up,
    list_blocks,
)
from sklearn_textbook._contract.labels import check_target, encode_labels
from sklearn_textbook._contract.parameters import show_value
from sklearn_textbook._contract.weights import (
    check_weights,
    require_square,
    require_weights,
)
from sklearn_textbook.tree.encode.columns import (
    CATEGORY,
    NULL,
    Column,
    infinity_error,
)
from sklearn_textbook.tree.encode.frames import FrameTable
from sklearn_textbook.tree.encode.read import (
    code_column,
    find_categorical,
    read_flag,
    read_numbers,
    warn_of_identifiers,
)
from sklearn_textbook.tree.encode.schema import TableSchema

try:
    import fcntl
except ImportError:  # Windows, where files in use cannot be removed
    fcntl = None

#: Values of a column that are sorted together.
PIECE_ROWS = 1 << 19
#: Code of a missing value in the file of a column of levels.
MISSING = -1


@contextmanager
def explain_full_disk(path: Path):
    """Say which folder is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            raise
        raise OSError(
            error.errno,
            f"{error.strerror}: the columns of the table do not fit into the folder of "
            "temporary files; let TMPDIR name a folder on a larger disk",
            str(path.parent),
        ) from None


class FileArray:
    """An array in a file, of which a stretch of rows is read or written at a time.

    A memory map would count as memory of the process until the system takes it back.

    Parameters
    ----------
    path : Path
        The file.
    dtype : dtype
        Type of the entries.
    shape : tuple of int
        Shape of the array.
    """

    def __init__(self, path: Path, dtype, shape: tuple[int, ...]) -> None:
        self.path, self.dtype, self.shape = path, np.dtype(dtype), shape
        self.row_bytes = self.dtype.itemsize * math.prod(shape[1:])
        path.touch()
        self._file = path.open("r+b", buffering=0)
        self._lock = threading.Lock()
        self.close = weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self.shape[0]

    def read(self, rows: slice) -> np.ndarray:
        """Read some rows."""
        array = np.empty((rows.stop - rows.start, *self.shape[1:]), self.dtype)
        view = memoryview(array.reshape(-1).view(np.uint8))
        with self._lock:
            self._file.seek(rows.start * self.row_bytes)
            n_read = 0
            while n_read < len(view):
                n_more = self._file.readinto(view[n_read:])
                if not n_more:
                    raise OSError(f"{self.path} is shorter than it was written.")
                n_read += n_more
        return array

    def write(self, start: int, array: np.ndarray) -> None:
        """Write rows from a place on."""
        array = np.ascontiguousarray(array, dtype=self.dtype)
        view = memoryview(array.reshape(-1).view(np.uint8))
        with self._lock, explain_full_disk(self.path):
            self._file.seek(start * self.row_bytes)
            while len(view):
                view = view[self._file.write(view) :]

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Read a slice of rows, as of an array in memory."""
        start, stop, _ = rows.indices(len(self))
        return self.read(slice(start, max(start, stop)))

    def __setitem__(self, rows: slice, array: np.ndarray) -> None:
        """Write a slice of rows, as of an array in memory."""
        self.write(rows.start, array)

    def truncate(self, n_rows: int) -> None:
        """Leave out the rows at the end."""
        self.shape = (n_rows, *self.shape[1:])
        self._file.truncate(n_rows * self.row_bytes)

    def fill(self, value) -> None:
        """Set all entries to a value."""
        for rows in list_blocks(len(self)):
            self.write(
                rows.start,
                np.full((rows.stop - rows.start, *self.shape[1:]), value, self.dtype),
            )


class ColumnMerger:
    """Finds what a column is, from what it is in one block after the other.

    Levels are numbered in the order in which they are first read; what they are called
    in the end, ``describe`` says.

    Parameters
    ----------
    name : str
        Name of the column.
    is_declared : bool or None
        Whether it is declared categorical; None: the dtype says so.
    """

    def __init__(self, name: str, is_declared: bool | None) -> None:
        self.name, self.is_declared = name, is_declared
        self.n_rows = 0
        self.first: Column | None = None  # that has values
        self.empty: Column | None = None
        self.has_levels = bool(is_declared)
        self.numbers: dict = {}  # of the levels
        self.levels: list = []

    def merge(self, column: Column, n_rows: int) -> np.ndarray | None:
        """Add a block; return the numbers of its levels, if it has any.

        The last is that of a missing value.
        """
        numbers = None
        if is_blank(column):
            self.empty = column
        else:
            if self.first is None:
                self.first = column
                self.has_levels |= self.is_declared is None and column.codes is not None
            self._require_like_first(column)
            if self.has_levels:
                numbers = self._number_levels(column)
        self.n_rows += n_rows
        return numbers

    def _require_like_first(self, column) -> None:
        first = self.first
        if (
            column.source != first.source
            or column.time_zone != first.time_zone
            or column.is_ordered != first.is_ordered
        ):
            raise ValueError(
                f"Column {self.name!r} contains {column.source} values from row "
                f"{self.n_rows} on, and {first.source} values before. Convert it to "
                "one type."
            )

    def _number_levels(self, column):
        numbers = []
        for level in column.levels:
            number = self.numbers.setdefault(level, len(self.numbers))
            if number == len(self.levels):
                self.levels.append(level)
            elif type(level) is int:  # as in ``unify_levels``
                self.levels[number] = level
            numbers.append(number)
        return np.array([*numbers, MISSING], dtype=np.int32)

    def describe(self):
        """Describe the column; returns what the numbers of its levels become."""
        first, levels = self.first, self.levels
        if first is None:
            first = self.empty
            self.has_levels |= self.is_declared is None and first.codes is not None
        if not self.has_levels:
            return read_numbers(first)[1], None
        if not levels:
            return code_column(first)[1], np.array([np.nan])
        codes = np.arange(len(levels))
        found = Column(
            *(self.name, first.source, None, codes, levels),
            is_ordered=first.is_ordered,
            time_zone=first.time_zone,
        )
        final, schema = code_column(found)
        if first.source == CATEGORY:
            final = codes
        return schema, np.append(final.astype(np.float64), np.nan)


def is_blank(column: Column) -> bool:
    """Return whether a block of a column has no values that say what it is."""
    has_no_levels = column.codes is not None and not column.levels
    return column.source == NULL or (has_no_levels and column.source != CATEGORY)


class ColumnWriter(ColumnMerger):
    """Writes a column to a file block by block: numbers, or numbers of its levels.

    Parameters
    ----------
    path : Path
        The file.
    name, is_declared
        As for `ColumnMerger`.
    """

    def __init__(self, path: Path, name: str, is_declared: bool | None) -> None:
        super().__init__(name, is_declared)
        self.path = path
        self.file = path.open("wb")
        self.close = weakref.finalize(self, self.file.close)

    def write(self, column: Column) -> None:
        """Append the values of a block."""
        n_before, has_begun = self.n_rows, self.first is not None
        n_rows = len(column.numbers if column.codes is None else column.codes)
        level_numbers = self.merge(column, n_rows)
        if self.first is None:
            return
        if not has_begun:
            self._write_missing(n_before)
        if is_blank(column):
            self._write_missing(n_rows)
        elif level_numbers is not None:
            self._append(level_numbers[column.codes])
        else:
            numbers, _ = read_numbers(column)
            is_infinite = np.isinf(numbers)
            if is_infinite.any():
                raise infinity_error(self.name, n_before + int(np.argmax(is_infinite)))
            self._append(np.ascontiguousarray(numbers, dtype=np.float64))

    def _append(self, array) -> None:
        with explain_full_disk(self.path):
            self.file.write(array.data)

    def _write_missing(self, n_rows) -> None:
        missing = np.int32(MISSING) if self.has_levels else np.float64(np.nan)
        self._append(np.full(n_rows, missing))

    def finish(self):
        """Describe the column; returns what the numbers of its levels become."""
        described = self.describe()
        if self.first is None:
            self._write_missing(self.n_rows)
        self.close()
        return described


class BlockColumns:
    """The columns of a table, its target, weights and other vectors, in files.

    Parameters
    ----------
    folder : Path
        Where the files are; removed with this object.
    lock : file
        Marks the folder as used.
    schema : TableSchema
        What the columns are.
    mappings : list of ndarray of float64 or None
        The code of every number in the file of a column of levels; NaN is the last.
    n_rows : int
        Number of rows.
    """

    def __init__(self, folder, lock, schema, mappings, n_rows) -> None:
        self.folder, self.schema, self.mappings = folder, schema, mappings
        self.n_rows = n_rows
        self.memory_limit: int | None = None  # that of the source
        self._columns = [
            FileArray(
                folder / f"column-{position}",
                np.float64 if mapping is None else np.int32,
                (n_rows,),
            )
            for position, mapping in enumerate(mappings)
        ]
        self.labels: dict = {}
        self.label_dtype = None
        self.target: FileArray | None = None
        self.weight: FileArray | None = None
        #: Further columns of numbers, by what they are for.
        self.vectors: dict[str, FileArray] = {}
        self._remove = weakref.finalize(self, remove_folder, folder, lock)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.schema.columns)

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights."""
        return self.weight is not None

    def open_column(self, position: int) -> FileArray:
        """Return the file of a column: numbers, or numbers of levels."""
        return self._columns[position]

    def make_array(self, name: str, dtype, shape) -> FileArray:
        """Make a new file next to those of the columns."""
        return FileArray(self.folder / name, dtype, shape)

    def read_matrix(self, rows: slice) -> np.ndarray:
        """Read a block of rows as numbers and codes, NaN where missing."""
        matrix = np.empty((rows.stop - rows.start, self.n_columns), order="F")
        for position in range(self.n_columns):
            matrix[:, position] = self.read_column(position, rows)
        return matrix

    def select_rows(
        self, find_rows: Callable[[slice, np.ndarray, np.ndarray | None], np.ndarray]
    ) -> None:
        """Leave out rows: those not in the masks of a function of the blocks.

        The function gets a slice of rows, their matrix and their weights.
        """
        files = [*self._columns, self.target, self.weight, *self.vectors.values()]
        files = [file for file in files if file is not None]
        n_kept = 0
        for rows in list_blocks(self.n_rows):
            weight = None if self.weight is None else self.weight.read(rows)
            is_kept = find_rows(rows, self.read_matrix(rows), weight)
            n_new = int(np.count_nonzero(is_kept))
            if n_kept + n_new < rows.stop:
                for file in files:
                    file.write(n_kept, file.read(rows)[is_kept])
            n_kept += n_new
        if n_kept < self.n_rows:
            self.n_rows = n_kept
            for file in files:
                file.truncate(n_kept)

    def map_targets(self, function: Callable) -> Iterator:
        """Call a function with the target and the weights of every block."""
        for rows in list_blocks(self.n_rows):
            weight = None if self.weight is None else self.weight.read(rows)
            y = None
            if self.target is not None:
                y = self.target.read(rows).astype(np.float64, copy=False)
            with count_rows_from(rows.start):
                found = function(y, weight)
            yield found

    def measure_weights(self) -> tuple[float, int]:
        """Add up the weights, and count those above 0."""
        if self.weight is None:
            return float(self.n_rows), self.n_rows
        return add_weights(self.map_targets(measure_weight))

    def keep_classes(self, is_kept: np.ndarray) -> None:
        """Leave out labels that no row has any more, by a mask of their numbers."""
        numbers = np.cumsum(is_kept, dtype=np.int32) - 1
        for rows in list_blocks(self.n_rows):
            self.target.write(rows.start, numbers[self.target.read(rows)])
        kept = compress(self.labels, is_kept)
        self.labels = {label: number for number, label in enumerate(kept)}

    def sort_classes(self) -> np.ndarray:
        """Return the classes, sorted; the file of the target then has their codes."""
        labels = np.array([*self.labels], dtype=self.label_dtype)
        (classes,), codes = encode_labels(labels[:, np.newaxis])
        for rows in list_blocks(self.n_rows):
            self.target.write(rows.start, codes[self.target.read(rows), 0])
        self.labels = {label: code for code, label in enumerate(classes.tolist())}
        return classes

    def count_classes(self) -> np.ndarray:
        """Count the rows of every class, of a target of codes."""
        counts = np.zeros(len(self.labels), dtype=np.int64)
        for rows in list_blocks(self.n_rows):
            counts += np.bincount(self.target.read(rows), minlength=len(counts))
        return counts

    def multiply_weights(self, of_class: np.ndarray) -> None:
        """Multiply the weights by those of the classes."""
        if self.weight is None:
            self.weight = self.make_array("weight", np.float64, (self.n_rows,))
            self.weight.fill(1.0)
        for rows in list_blocks(self.n_rows):
            factor = of_class[self.target.read(rows)]
            self.weight.write(rows.start, self.weight.read(rows) * factor)

    def read_column(self, position: int, rows: slice) -> np.ndarray:
        """Read some rows of a column as numbers or codes, NaN where missing."""
        part, mapping = self.open_column(position).read(rows), self.mappings[position]
        return part if mapping is None else mapping[part]

    def move_to_matrix(self) -> np.ndarray:
        """Put the columns side by side in an array, and remove their files."""
        matrix = np.empty((self.n_rows, self.n_columns), order="F")
        for position in range(self.n_columns):
            for rows in list_blocks(self.n_rows):
                matrix[rows, position] = self.read_column(position, rows)
            self.open_column(position).path.unlink()
        return matrix

    def close(self) -> None:
        """Remove the files."""
        self._remove()


def measure_weight(_y, weight: np.ndarray) -> tuple[float, int, float]:
    """Sum up the weights of a block, count those above 0, and find the largest."""
    with np.errstate(over="ignore"):
        total = add_up(weight)
    return total, int(np.count_nonzero(weight)), float(weight.max())


def add_weights(measured, name: str = "sample_weight") -> tuple[float, int]:
    """Add up what was measured of the weights of the blocks."""
    total, n_weighted, largest = 0.0, 0, 0.0
    for of_block, n_rows, most in measured:
        total, n_weighted = total + of_block, n_weighted + n_rows
        largest = max(largest, most)
    require_weights(total, largest, name)
    require_square(largest, name)
    return total, n_weighted


class VectorWriter:
    """Writes the target, the weights or other numbers block by block."""

    def __init__(self, path: Path, is_numeric: bool, role: str = "y") -> None:
        self.path, self.is_numeric, self.role = path, is_numeric, role
        self.file = path.open("wb")
        self.labels: dict = {}
        self.dtype = None
        self.close = weakref.finalize(self, self.file.close)

    def write(self, values) -> None:
        """Append the values of a block."""
        values = check_target(values, is_numeric=self.is_numeric, name=self.role)[:, 0]
        if self.is_numeric:
            self.file.write(np.ascontiguousarray(values, dtype=np.float64).data)
            return
        found, places = np.unique(values, return_inverse=True)
        self.dtype = (
            found.dtype if self.dtype is None else np.result_type(self.dtype, found)
        )
        numbers = [
            self.labels.setdefault(label, len(self.labels)) for label in found.tolist()
        ]
        self.file.write(np.array(numbers, dtype=np.int32)[places].data)

    def finish(self, n_rows: int) -> FileArray:
        """Open the file: numbers, or the numbers of ``labels``."""
        self.close()
        dtype = np.float64 if self.is_numeric else np.int32
        return FileArray(self.path, dtype, (n_rows,))


def read_block_columns(
    source: BlockSource,
    target: str | None,
    sample_weight: str | None = None,
    categorical_features="from_dtype",
    *,
    is_numeric: bool | None,
    vectors: dict[str, str] | None = None,
) -> BlockColumns:
    """Read a source once, and write its columns to files.

    Parameters
    ----------
    source : BlockSource
        The table.
    target, sample_weight : str or None
        Columns of the target and of the weights.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        As in :func:`read_training_table`.
    is_numeric : bool or None
        Whether the target is numbers rather than classes. None: the model has no
        target, so that ``target`` must be None.
    vectors : dict of str, default=None
        Further columns of numbers that are no features, by what they are for.
    """
    vectors, has_target = vectors or {}, is_numeric is not None
    names = list_features(source, target, sample_weight, vectors, has_target=has_target)
    folder, lock = make_folder()
    try:
        return _read_into(
            folder,
            lock,
            source,
            names,
            target,
            sample_weight,
            find_categorical(categorical_features, names, len(names)),
            is_numeric,
            vectors,
        )
    except BaseException:
        remove_folder(folder, lock)
        raise


def store_blocks(
    estimator, source: BlockSource, target: str, sample_weight: str | None
) -> tuple[StoredTable, np.ndarray, np.ndarray | None]:
    """Read a source once; return the table, the target and the weights as arrays.

    These are in files under :func:`arrays_in_files`. An ensemble reads the table as its
    members do.
    """
    like = estimator
    for name in ("_get_estimator", "_make_template"):
        if hasattr(estimator, name):
            like = getattr(estimator, name)()
            break
    columns = read_block_columns(
        source,
        target,
        sample_weight,
        getattr(like, "categorical_features", "from_dtype"),
        is_numeric=not is_classifier(estimator),
    )
    try:
        classes = None if is_regressor(estimator) else columns.sort_classes()
        y = np.empty(
            columns.n_rows, dtype=np.float64 if classes is None else classes.dtype
        )
        weight = None if columns.weight is None else np.empty(columns.n_rows)
        for rows in list_blocks(columns.n_rows):
            found = columns.target.read(rows)
            y[rows] = found if classes is None else classes[found]
            if weight is not None:
                weight[rows] = columns.weight.read(rows)
        return StoredTable(columns), y, weight
    except BaseException:
        columns.close()
        raise


#: What the names of folders begin with, and a file in each that is locked while it is
#: in use.
PREFIX, LOCK = "sklearn_textbook-", "in use"


def make_folder() -> tuple[Path, IO]:
    """Make a folder for files, and remove those of processes that have been killed."""
    for lock_file in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        try:
            with lock_file.open("r+") as lock:
                is_abandoned = _take_lock(lock)
        except OSError:  # of another user, or gone
            continue
        if is_abandoned:
            shutil.rmtree(lock_file.parent, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    # Others remove the folder if they find its file before it is locked.
    path = folder / (LOCK if fcntl is None else "new")
    lock = path.open("w")
    _take_lock(lock)
    path.rename(folder / LOCK)
    return folder, lock


def _take_lock(file) -> bool:
    """Lock a file for this process; return whether no other one has."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_folder(folder: Path, lock: IO) -> None:
    """Remove a folder and its files."""
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()


def require_names(source: BlockSource, roles: dict) -> None:
    """Require names of columns for y, and, unless they are None, for other roles."""
    for role, name in roles.items():
        if name is None and role != "y":
            continue
        if not isinstance(name, str):
            raise TypeError(
                f"{role} must be the name of a column of {source._describe()}, as the "
                f"table is read in blocks; got {type(name).__name__}."
            )
        if name not in source.names:
            raise ValueError(
                f"{role}={name!r} is not a column of {source._describe()}; there are "
                f"{', '.join(map(repr, source.names))}."
            )


def list_features(
    source, target, sample_weight, vectors=(), *, has_target: bool = True
) -> tuple[str, ...]:
    """List the columns that are neither target nor weights nor other vectors."""
    if not has_target and target is not None:
        raise ValueError(
            f"y must be None, as the model has no target; got {show_value(target)}. "
            "exclude of io.scan leaves out a column."
        )
    roles = {"y": target} if has_target else {}
    roles |= {"sample_weight": sample_weight, **dict(vectors)}
    require_names(source, roles)
    names = tuple(name for name in source.names if name not in roles.values())
    if not names:
        role = "target" if has_target else "weights"
        raise ValueError(f"{source._describe()} has no columns besides the {role}.")
    return names


@contextmanager
def count_rows_from(n_rows: int):
    """Say in errors that the rows they name are counted from one of the table."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if n_rows == 0:
            raise
        raise type(error)(
            f"{error} Rows are counted from row {n_rows} of the table."
        ) from None


def _read_into(
    folder,
    lock,
    source,
    names,
    target,
    sample_weight,
    is_categorical,
    is_numeric,
    vectors,
):
    """Write the columns of a source to the files of a folder."""
    writers = [
        ColumnWriter(
            folder / f"column-{position}",
            name,
            read_flag(is_categorical, position),
        )
        for position, name in enumerate(names)
    ]
    targets = weights = None
    if target is not None:
        targets = VectorWriter(folder / "target", is_numeric)
    if sample_weight is not None:
        weights = VectorWriter(folder / "weight", is_numeric=True)
    further = {
        role: VectorWriter(folder / role, is_numeric=True, role=role)
        for role in vectors
    }
    n_rows = 0
    read = [*names, *(name for name in (target, sample_weight) if name is not None)]
    read += vectors.values()
    for block in source.read_blocks(dict.fromkeys(read)):
        table = FrameTable(block)
        places = {name: place for place, name in enumerate(table.names)}
        for writer in writers:
            writer.write(
                table.read_column(
                    places[writer.name], writer.name, as_levels=bool(writer.is_declared)
                )
            )
        if targets is not None:
            values = table.read_series(places[target])
            with count_rows_from(n_rows):
                targets.write(values)
        if weights is not None:
            values = table.read_series(places[sample_weight])
            with count_rows_from(n_rows):
                weights.write(check_weights(values, len(values), is_block=True))
        for role, writer in further.items():
            values = table.read_series(places[vectors[role]])
            with count_rows_from(n_rows):
                writer.write(values)
        n_rows += table.n_rows
    if n_rows == 0:
        raise ValueError(f"{source._describe()} has no rows.")
    schemas, mappings = zip(*(writer.finish() for writer in writers), strict=True)
    schema = TableSchema(tuple(schemas), True)
    warn_of_identifiers(schema, n_rows)
    columns = BlockColumns(folder, lock, schema, mappings, n_rows)
    columns.memory_limit = source.memory_limit
    if targets is not None:
        columns.target = targets.finish(n_rows)
        columns.labels, columns.label_dtype = targets.labels, targets.dtype
    columns.weight = None if weights is None else weights.finish(n_rows)
    columns.vectors = {role: file.finish(n_rows) for role, file in further.items()}
    return columns
