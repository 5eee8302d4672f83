"""Tables that are read in blocks of rows, as they do not fit into the memory."""

from __future__ import annotations

import contextvars
import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np

from sklearn_textbook._contract.types import Method

#: Rows of a block. Sums of floating-point numbers are made by such blocks, also in
#: memory, so that they do not depend on how a table is read.
BLOCK_ROWS = 65536


class BlockSource(ABC):
    """A table that is read in blocks of rows; `sklearn_textbook.io.scan` makes it."""

    #: Names of the columns.
    names: tuple[str, ...]
    #: Bytes that a fit may keep in memory besides blocks of the source; None: any.
    memory_limit: int | None = None
    #: The data frame of Dask that has the rows, if there is one.
    _dask_frame: Any = None

    @abstractmethod
    def _describe(self) -> str:
        """Name the table in messages."""

    @abstractmethod
    def _read(self, names: tuple[str, ...]) -> Iterator[Any]:
        """Read some columns, block by block."""

    def read_blocks(self, names: Sequence[str] | None = None) -> Iterator[Any]:
        """Read the rows, in their order, as frames that narwhals supports.

        Parameters
        ----------
        names : sequence of str, default=None
            The columns to read, and their order. None: all.

        Returns
        -------
        blocks : iterator of data frames
            The rows.
        """
        names = self.names if names is None else tuple(names)
        self._require_columns("the model", names)
        return self._read(names)

    def _require_name(self, role: str, name: Any) -> None:
        """Raise unless an argument is the name of a column."""
        if not isinstance(name, str):
            raise TypeError(
                f"{role} must be the name of a column of {self._describe()}, as the "
                f"table is read in blocks; got {type(name).__name__}."
            )
        self._require_columns(role, (name,))

    def _require_columns(self, what: str, names: Iterable[str]) -> None:
        """Raise ValueError for a name that is not that of a column."""
        for name in names:
            if name not in self.names:
                raise ValueError(
                    f"{what} has {name!r}, which is not a column of "
                    f"{self._describe()}; there are {', '.join(map(repr, self.names))}."
                )


class StoredTable:
    """A training table that was read in blocks, as numbers and codes of levels.

    Parameters
    ----------
    columns : BlockColumns
        Its columns, in files.
    """

    def __init__(self, columns: Any) -> None:
        self.columns, self.schema = columns, columns.schema
        self.names: tuple[str, ...] = columns.schema.names
        self.shape: tuple[int, int] = (columns.n_rows, columns.n_columns)
        self._matrix: np.ndarray | None = None
        # Threads ask for what is made here, in files as everything else.
        self._lock, self._context = threading.Lock(), contextvars.copy_context()

    def __len__(self) -> int:
        return self.shape[0]

    def make_once(self, get: Callable[[], Any], make: Callable[[], None]) -> Any:
        """Return what ``get`` returns, after ``make`` if that is None."""
        with self._lock:
            if get() is None:
                self._context.run(make)
            return get()

    @property
    def is_in_columns(self) -> bool:
        """Whether there is no array of the rows yet."""
        return self._matrix is None

    @property
    def matrix(self) -> np.ndarray:
        """The rows as an array of float64, which takes the place of the columns."""
        return self.make_once(lambda: self._matrix, self._make_matrix)

    def _make_matrix(self) -> None:
        self._matrix = self.columns.move_to_matrix()

    def read_column(self, position: int, rows: slice) -> np.ndarray:
        """Read some rows of a column."""
        if self._matrix is None:
            return self.columns.read_column(position, rows)
        return self._matrix[rows, position]

    def close(self) -> None:
        """Remove the files."""
        self.columns.close()

    def set_columns(self, estimator: Any) -> None:
        """Set the attributes of an estimator that tell the columns of its table."""
        estimator.n_features_in_ = self.shape[1]
        estimator.feature_names_in_ = np.array(self.names, dtype=object)


def accept_blocks(method: Method) -> Method:
    """Let a method that computes something of every row take a table in blocks, too."""

    @functools.wraps(method)
    def compute(self: Any, X: Any) -> Any:
        if not isinstance(X, BlockSource):
            return method(self, X)
        from sklearn.utils.validation import check_is_fitted  # slow to import

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                f"{X._describe()} has names of columns, but {type(self).__name__} was "
                "fitted to a table without them."
            )
        parts = [method(self, block) for block in X.read_blocks(names.tolist())]
        if not parts:
            raise ValueError(f"{X._describe()} has no rows.")
        return np.concatenate(parts)

    return cast(Method, compute)


def list_blocks(n_rows: int, step: int = BLOCK_ROWS) -> Iterator[slice]:
    """Cut the rows of a table into blocks."""
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def add_up(values: np.ndarray, total: float = 0.0) -> float:
    """Add numbers to a total: the sum of one block of rows after the other."""
    for rows in list_blocks(len(values)):
        total += float(np.sum(values[rows]))
    return total


def limit_workers(
    n_workers: int, limit: int | None, each: int, shared: int, what: str
) -> int:
    """Return how many workers fit into a limit of memory, at least one.

    Parameters
    ----------
    n_workers : int
        How many there may be.
    limit : int or None
        Bytes that they may keep in memory.
    each, shared : int
        Bytes that each of them needs, and that are needed once.
    what : str
        What they do, for the error if a single one needs more.
    """
    if limit is None:
        return n_workers
    if shared + each > limit:
        raise ValueError(
            f"memory_limit is {limit / 2**20:,.1f} MiB, and {what} needs "
            f"{(shared + each) / 2**20:,.1f} MiB."
        )
    return min(n_workers, (limit - shared) // each)


def run_each(function: Callable, n_workers: int) -> None:
    """Call a function with the numbers of workers, each in a thread of its own."""
    if n_workers == 1:
        function(0)
        return
    with ThreadPoolExecutor(n_workers) as pool:
        for _ in pool.map(function, range(n_workers)):
            pass
