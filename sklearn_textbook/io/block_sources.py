"""Tables larger than memory: files that are read in blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from sklearn_textbook._contract.blocks import BLOCK_ROWS, BlockSource
from sklearn_textbook._contract.dask_frames import DaskFrame, is_dask_frame
from sklearn_textbook.io.block_files import (
    Files,
    find_files,
    open_files,
    write_parquet,
)
from sklearn_textbook.io.memory_limits import read_memory_limit


def scan(
    source: str | os.PathLike[str] | Sequence | ds.Dataset | BlockSource | Any,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    memory_limit: int | str | None = None,
) -> Scan:
    """Describe a table that does not fit into the memory; its rows are not read yet.

    Estimators that can read a table in blocks take it as ``X``, with the names of
    columns as ``y`` and ``sample_weight``, and give the same model as for the same rows
    in memory. They read it once and keep its columns in temporary files, in the folder
    that the environment variable ``TMPDIR`` names: about 9 bytes for each cell.

    Parameters
    ----------
    source : path, sequence of paths, dataset, lazy data frame or Batches
        Files of one format, Parquet, Feather (Arrow IPC) or CSV, by their endings; a
        path may have the wildcards ``*``, ``?`` and ``**``, and then stands for the
        files in the order of their names; a folder stands for the files inside. A
        ``pyarrow.dataset.Dataset``. A lazy data frame of polars, or a data frame of
        Dask, whose rows are those of its partitions in their order. `Batches`, for a
        generator. Of a file of any size a block is in memory and, of Parquet, some
        pages of each column, of Feather, a record batch, of CSV, about 32 MiB of text.
        polars decides itself, and reads a few blocks ahead; of Dask a partition is in
        memory. Gradient boosting is fitted to a data frame of Dask by the workers of
        the current client, if there is one.
    columns : sequence of str, default=None
        The columns to read, and their order. None: all.
    exclude : sequence of str, default=()
        Columns to leave out.
    memory_limit : int or str, default=None
        Limit of the memory that a fit needs for what grows with columns, bins and
        threads: the values that are sorted together, blocks of codes, and the
        histograms of gradient boosting; a number of bytes, or text such as "512MB" or
        "1GiB". Fewer values are then sorted together, and fewer threads used; the model
        is the same. A fit that needs more in one thread raises ValueError, which says
        how much. The process itself, the model and the blocks of the source come on
        top. Other trees and ensembles give pages of their arrays in files back when the
        memory of the process has grown by more. Linear models, components and
        discriminants keep sums and blocks only, and ignore it. None: no limit.

    Returns
    -------
    table : Scan
        The table.

    Raises
    ------
    TableFileError
        If there is no such file, if it cannot be read, or if the files have different
        columns.
    ValueError
        If a name is not that of a column, or ``memory_limit`` is not a size.

    See Also
    --------
    folds : Split such a table for cross-validation.
    read_table : Read a table into the memory.
    predict_to : Write predictions for such a table to a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> from sklearn_textbook import io
    >>> from sklearn_textbook.ensemble import GradientBoostingRegressor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         table = pa.table({"x": [part, 1, 2], "y": [1.0 * part, 1.5, 2.5]})
    ...         parquet.write_table(table, Path(folder, f"{part}.parquet"))
    ...     table = io.scan(f"{folder}/*.parquet")
    ...     model = GradientBoostingRegressor(n_estimators=5).fit(table, "y")
    >>> table.names, model.n_features_in_
    (('x', 'y'), 1)
    """
    return Scan(_open(source), columns, exclude, memory_limit)


class Batches(BlockSource):
    """A table from a function that makes an iterator of its blocks.

    Parameters
    ----------
    make_iterator : callable
        Returns a new iterator of data frames (pandas, polars or pyarrow) with the same
        columns, each a block of rows. It must give the same rows each time: a fit reads
        them once, but predictions, scores and folds read them again. Another number of
        rows than before is an error; other values are not noticed.
    names : sequence of str, default=None
        Names of the columns. None: those of the first block, which is kept until the
        rows are read.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_textbook.ensemble import GradientBoostingRegressor
    >>> from sklearn_textbook.io import Batches
    >>> def make_blocks():
    ...     for start in range(3):
    ...         yield pd.DataFrame({"x": range(start, start + 4), "y": [1.0, 2.0] * 2})
    >>> table = Batches(make_blocks)
    >>> GradientBoostingRegressor(n_estimators=2).fit(table, "y").n_features_in_
    1
    """

    def __init__(
        self,
        make_iterator: Callable[[], Iterable],
        names: Sequence[str] | None = None,
    ) -> None:
        if not callable(make_iterator):
            raise TypeError(
                "make_iterator must be a function that returns an iterator of data "
                f"frames, got {type(make_iterator).__name__}."
            )
        self.make_iterator = make_iterator
        self._opened: Iterator | None = None  # for the names, and not read further
        self._n_rows: int | None = None
        if names is None:
            blocks = iter(make_iterator())
            first = next(blocks, None)
            if first is None:
                raise ValueError("make_iterator gives no blocks.")
            names = _list_names(first)
            self._opened = chain([first], blocks)
        self.names = tuple(names)

    def _read(self, names):
        blocks, self._opened = self._opened or self.make_iterator(), None
        n_rows = 0
        for block in blocks:
            n_rows += len(block)
            found = _list_names(block)
            if found != self.names:
                raise ValueError(
                    f"A block of {self._describe()} has the columns {list(found)}, not "
                    f"{list(self.names)}."
                )
            yield _select(block, names)
        if self._n_rows not in (None, n_rows):
            raise ValueError(
                f"make_iterator gave {self._n_rows} rows before, and {n_rows} now. It "
                "must return a new iterator of the same rows each time."
            )
        self._n_rows = n_rows

    def _describe(self) -> str:
        """Name the table in messages."""
        return "the table of Batches"


class Scan(BlockSource):
    """A table that is read in blocks of rows, as :func:`scan` makes it.

    Parameters
    ----------
    source : BlockSource
        Where the rows come from.
    columns : sequence of str, default=None
        The columns to read, and their order. None: all.
    exclude : sequence of str, default=()
        Columns to leave out.
    memory_limit : int or str, default=None
        As for :func:`scan`. None: that of the source.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    memory_limit : int or None
        Limit in bytes.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_textbook import io
    >>> blocks = [pd.DataFrame({"x": [1, 2], "y": [0, 1]})] * 2
    >>> table = io.scan(io.Batches(lambda: iter(blocks)), exclude=["y"])
    >>> table.names, len(list(table.read_blocks()))
    (('x',), 2)
    """

    def __init__(
        self,
        source: BlockSource,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        memory_limit: int | str | None = None,
    ) -> None:
        self.source = source
        limit = read_memory_limit(memory_limit)
        self.memory_limit = source.memory_limit if limit is None else limit
        wanted = source.names if columns is None else tuple(columns)
        for option, names in (("columns", wanted), ("exclude", tuple(exclude))):
            source._require_columns(option, names)
        self.names = tuple(name for name in wanted if name not in set(exclude))

    def _read(self, names):
        return self.source._read(names)

    def _describe(self) -> str:
        """Name the table in messages."""
        return self.source._describe()

    @property
    def _dask_frame(self):
        return self.source._dask_frame

    def __repr__(self) -> str:
        return f"<Scan of {self._describe()}, {len(self.names)} columns>"


def _list_names(block) -> tuple:
    """List the names of the columns of a data frame."""
    return tuple(
        block.column_names if hasattr(block, "column_names") else block.columns
    )


def _select(block, names):
    """Take some columns of a data frame."""
    return block.select(list(names)) if hasattr(block, "select") else block[list(names)]


class _LazyFrame(BlockSource):
    """A lazy data frame of polars."""

    def __init__(self, frame) -> None:
        self.frame = frame
        self.names = tuple(frame.collect_schema().names())

    def _read(self, names):
        """Read with the streaming engine of polars."""
        yield from self.frame.select(names).collect_batches(
            chunk_size=BLOCK_ROWS, maintain_order=True, lazy=True
        )

    def _describe(self):
        """Name the table in messages."""
        return "the lazy data frame"


def _open(source) -> BlockSource:
    """Open a source of any kind."""
    if isinstance(source, BlockSource):
        return source
    if is_dask_frame(source):
        return DaskFrame(source)
    if isinstance(source, ds.Dataset):
        return Files(source, "the dataset")
    if type(source).__module__.partition(".")[0] == "polars" and hasattr(
        source, "collect_batches"
    ):
        return _LazyFrame(source)
    if isinstance(source, str | os.PathLike):
        paths, what = find_files(os.fspath(source)), os.fspath(source)
    elif isinstance(source, Sequence) and source:
        paths = [path for part in source for path in find_files(os.fspath(part))]
        what = f"{os.fspath(source[0])} and {len(source) - 1} more"
    else:
        raise TypeError(
            "source must be a path, a sequence of paths, a pyarrow.dataset.Dataset, a "
            "lazy data frame of polars, a data frame of Dask or io.Batches, got "
            f"{type(source).__name__}."
        )
    return open_files(paths, what)


def predict_to(
    model: Any,
    source: Any,
    path: str | os.PathLike[str],
    *,
    method: str = "predict",
) -> int:
    """Write the predictions for a table that is read in blocks to a file.

    Parameters
    ----------
    model : estimator
        A fitted estimator that takes data frames.
    source : path, sequence of paths, dataset, lazy data frame, Batches or Scan
        The table, as for :func:`scan`. Columns that the model has not seen are left
        out.
    path : str or path
        A new Parquet file. It appears when it is whole.
    method : str, default="predict"
        What is predicted: "predict", "predict_proba", "decision_function" or, of
        transformers, "transform". Of probabilities there is a column for each class,
        of transformed rows one for each name of ``get_feature_names_out``.

    Returns
    -------
    n_rows : int
        Number of rows.

    Raises
    ------
    TableFileError
        If a file cannot be read.
    ValueError
        If the table lacks columns of the model, or a parameter is invalid.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from sklearn_textbook import io
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    >>> model = CARTRegressor().fit(frame, [1.0, 2.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.parquet")
    ...     n_rows = io.predict_to(model, io.Batches(lambda: iter([frame])), path)
    ...     io.read_table(path).frame["prediction"].to_pylist()
    [1.0, 2.0, 4.0]
    """
    allowed = ("predict", "predict_proba", "decision_function", "transform")
    if method not in allowed or not hasattr(model, method):
        raise ValueError(
            f"method must be one of {', '.join(allowed)} that {type(model).__name__} "
            f"has, got {method!r}."
        )
    table = scan(source)
    names = getattr(model, "feature_names_in_", None)
    n_rows = write_parquet(
        (
            _name_predictions(model, method, getattr(model, method)(block))
            for block in table.read_blocks(names)
        ),
        Path(path),
    )
    if not n_rows:
        raise ValueError(f"{table._describe()} has no rows.")
    return n_rows


def _name_predictions(model, method, values) -> pa.Table:
    """Make a table of predictions."""
    if values.ndim == 1:
        return pa.table({"prediction": pa.array(values.tolist())})
    if method == "transform":
        values = np.asarray(values)
        names = [str(name) for name in model.get_feature_names_out()]
    else:
        names = [f"{method.removeprefix('predict_')}_{name}" for name in model.classes_]
    return pa.table(
        {name: pa.array(column) for name, column in zip(names, values.T, strict=True)}
    )
