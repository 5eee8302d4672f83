"""Files that are read in blocks of rows, in memory that does not grow with their size.

The scanner of pyarrow reads ahead, and keeps more the larger a file is.
"""

from __future__ import annotations

import copy
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.parquet as parquet

from sklearn_textbook._contract.blocks import BLOCK_ROWS, BlockSource, list_blocks
from sklearn_textbook.io.missing_marks import MISSING_MARKS
from sklearn_textbook.io.table_file import TableFileError, find_ending
from sklearn_textbook.io.table_reader import FORMATS as TABLE_FORMATS

#: Formats of files by the endings of their names.
FORMATS = {
    ending: layout
    for ending, layout in TABLE_FORMATS.items()
    if layout in ("parquet", "feather")
} | {".csv": "csv"}
#: What pyarrow raises for a file that it cannot read.
_ERRORS = (pa.ArrowException, OSError)
_CSV = ds.CsvFileFormat(
    convert_options=csv.ConvertOptions(
        null_values=["", *MISSING_MARKS], strings_can_be_null=True
    )
)
_CSV_VALUE = re.compile(
    r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (.+?): "
    r"invalid value '(.*)'"
)
_CSV_ROW = re.compile(r"CSV parse error: Row #(\d+): (.*)")


class Files(BlockSource):
    """Files of one format, or another dataset of pyarrow."""

    def __init__(self, dataset: ds.Dataset, what: str) -> None:
        self.dataset, self.what = dataset, what
        self.schema = dataset.schema
        self.names = tuple(self.schema.names)
        try:
            next(iter(dataset.get_fragments()), None)
        except ValueError:
            raise ValueError(
                f"{what} is filtered or projected, which pyarrow does not read block "
                "by block. Pass the dataset itself, or filter a LazyFrame of polars."
            ) from None

    def keep_texts(self, names: Iterable[str]) -> None:
        """Read columns of text files as they are written; others have types."""
        if not isinstance(getattr(self.dataset, "format", None), ds.CsvFileFormat):
            return
        for name in {*names} & {*self.names}:
            place = self.schema.get_field_index(name)
            self.schema = self.schema.set(place, pa.field(name, pa.string()))

    def _read(self, names):
        """Read one file after the other."""
        for fragment in self.dataset.get_fragments():
            path = getattr(fragment, "path", self.what)
            keys = ds.get_partition_keys(fragment.partition_expression)
            known = self._require_columns_of(fragment, path, names, keys)
            # Without a column there would be no rows.
            stored = [name for name in names if name not in keys] or known[:1]
            for batch in self._read_fragment(fragment, path, stored):
                if batch.num_rows:
                    table = pa.Table.from_batches([batch])
                    yield self._add_keys(table, keys, names).select(names)

    def _read_fragment(self, fragment, path, names) -> Iterator[pa.RecordBatch]:
        """Read some columns of a file in batches."""
        try:
            if isinstance(fragment, ds.ParquetFileFragment):
                yield from _read_parquet(fragment, path, names)
            elif isinstance(fragment, ds.FileFragment) and isinstance(
                fragment.format, ds.IpcFileFormat
            ):
                yield from _read_feather(fragment, path, names)
            elif isinstance(fragment, ds.FileFragment) and isinstance(
                fragment.format, ds.CsvFileFormat
            ):
                yield from _read_csv(fragment, path, names, self.schema)
            else:
                yield from fragment.scanner(
                    schema=self.schema, columns=names, batch_size=BLOCK_ROWS
                ).to_batches()
        except _ERRORS as error:
            raise TableFileError(
                f"cannot be read to its end ({_shorten(error)})", path=path
            ) from None

    def _require_columns_of(self, fragment, path, names, keys) -> list[str]:
        """Require the columns of the first file, with the same types; list all."""
        try:
            found = fragment.physical_schema
        except _ERRORS as error:
            raise TableFileError(
                f"cannot be read ({_shorten(error)})", path=path
            ) from None
        # Types of text are guesses; a value that does not fit is named when it is read.
        has_types = not isinstance(getattr(fragment, "format", None), ds.CsvFileFormat)
        for name in names:
            if name in keys:
                continue
            expected = self.schema.field(name).type
            if name not in found.names:
                raise TableFileError("is missing in this file", path=path, column=name)
            if has_types and found.field(name).type != expected:
                raise TableFileError(
                    f"has the type {found.field(name).type} in this file, and "
                    f"{expected} in the first one",
                    path=path,
                    column=name,
                    remedy="write the files with one type",
                )
        return found.names

    def _add_keys(self, table, keys, names):
        """Add the columns that the names of folders tell."""
        for name, value in keys.items():
            if name in names:
                field = self.schema.field(name)
                kind = getattr(field.type, "value_type", field.type)
                column = pa.repeat(pa.scalar(value, kind), len(table)).cast(field.type)
                table = table.append_column(field, column)
        return table

    def _describe(self) -> str:
        """Name the table in messages."""
        return self.what


def _read_parquet(fragment, path, names):
    """Read row groups of a Parquet file in batches."""
    groups = [group.id for group in fragment.row_groups]
    n_read = 0
    with fragment.open() as file:
        reader = parquet.ParquetFile(
            file, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True
        )

        def read(groups, names):
            return reader.iter_batches(BLOCK_ROWS, row_groups=groups, columns=names)

        try:
            for batch in read(groups, names):
                n_read += batch.num_rows
                yield batch
        except _ERRORS as error:
            for group in groups:
                n_read -= reader.metadata.row_group(group).num_rows
                if n_read < 0:
                    _blame_column(
                        *(lambda some, group=group: [*read([group], some)], names),
                        *(f"row group {group}", path, error),
                    )
            raise


def _read_feather(fragment, path, names):
    """Read a Feather file by its record batches."""
    with fragment.open() as file:
        places = pa.ipc.open_file(file).schema.get_field_index

        def open_columns(names):
            options = pa.ipc.IpcReadOptions(included_fields=[*map(places, names)])
            return pa.ipc.open_file(file, options=options)

        reader = open_columns(names)
        for number in range(reader.num_record_batches):
            try:
                batch = reader.get_batch(number)
            except _ERRORS as error:
                _blame_column(
                    *(lambda some, n=number: open_columns(some).get_batch(n), names),
                    *(f"record batch {number}", path, error),
                )
                raise
            for rows in list_blocks(batch.num_rows):
                yield batch.slice(rows.start, BLOCK_ROWS)


def _blame_column(read: Callable, names, part: str, path, error) -> None:
    """Raise an error that names the column of a part of a file that is damaged."""
    for name in names:
        try:
            read([name])
        except _ERRORS as found:
            raise TableFileError(
                f"{part} cannot be read ({_shorten(found)})",
                path=path,
                column=name,
                remedy="write the file again",
            ) from error


def _read_csv(fragment, path, names, schema):
    """Read a CSV file in batches, one after the other."""
    options = fragment.format.default_fragment_scan_options
    read, convert = copy.copy(options.read_options), copy.copy(options.convert_options)
    read.use_threads = False  # so that errors have the number of a row
    convert.include_columns = names
    convert.column_types = {name: schema.field(name).type for name in names}
    try:
        # Decompresses a file whose name says so.
        with fragment.filesystem.open_input_stream(fragment.path) as stream:
            yield from csv.open_csv(
                stream, read, fragment.format.parse_options, convert
            )
    except _ERRORS as error:
        n_before = 0 if read.column_names or read.autogenerate_column_names else 1
        if match := _CSV_VALUE.search(str(error)):
            column, row, kind, value = match.groups()
            raise TableFileError(
                f"{value!r} in row {int(row) - n_before} is not of the type {kind}, "
                "that of the first rows of the table",
                path=path,
                column=fragment.physical_schema.names[int(column)],
                remedy="correct it, or write the table as Parquet, which has types",
            ) from None
        if match := _CSV_ROW.search(str(error)):
            row, problem = match.groups()
            raise TableFileError(
                f"row {int(row) - n_before} is damaged ({problem})", path=path
            ) from None
        raise


def _shorten(error) -> str:
    """Return the first line of a message."""
    return str(error).partition("\n")[0]


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Give the name of a file that takes the place of a path when it is whole."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        yield unfinished
        if unfinished.exists():
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_parquet(blocks: Iterable[pa.Table], path: Path) -> int:
    """Write blocks to a Parquet file, if there are any; return the number of rows."""
    n_rows = 0
    with write_whole(path) as unfinished, ExitStack() as ends:
        writer = None
        for block in blocks:
            if writer is None:
                writer = parquet.ParquetWriter(unfinished, block.schema)
                ends.callback(writer.close)
            writer.write_table(block)
            n_rows += block.num_rows
    return n_rows


def find_files(pattern: str) -> list[str]:
    """Find the files of a path or pattern; of a folder, those inside."""
    if glob.has_magic(pattern) and not Path(pattern).exists():
        paths = sorted(filter(os.path.isfile, glob.glob(pattern, recursive=True)))
    elif Path(pattern).is_dir():
        inside = Path(pattern).rglob("*")
        paths = sorted(str(path) for path in inside if find_ending(path) in FORMATS)
    else:
        paths = [pattern]
    if not paths:
        raise TableFileError("no file has a name like this", path=pattern)
    return paths


def open_files(paths: list[str], what: str) -> Files:
    """Open files of one format."""
    endings = {find_ending(path) for path in paths}
    formats = {FORMATS.get(ending) for ending in endings}
    if len(formats) > 1 or None in formats:
        raise TableFileError(
            f"files in blocks must be of one of the formats {', '.join(FORMATS)}; got "
            f"{', '.join(sorted(endings))}",
            path=what,
        )
    (layout,) = formats
    try:
        dataset = ds.dataset(paths, format=_CSV if layout == "csv" else layout)
    except _ERRORS as error:
        raise TableFileError(
            f"cannot be read ({_shorten(error)})", path=paths[0]
        ) from None
    return Files(dataset, what)
