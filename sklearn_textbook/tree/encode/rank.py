"""Encoding of a matrix of numbers and codes: ranks, and bins of them (分箱)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sklearn_textbook._contract.blocks import StoredTable
from sklearn_textbook._contract.memory import require_memory
from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.tree.encode._rank import (
    bin_sorted_columns,
    copy_matrix,
    rank_columns,
)
from sklearn_textbook.tree.encode.columns import NOMINAL, NUMERIC, infinity_error
from sklearn_textbook.tree.encode.sharing import compute_once
from sklearn_textbook.tree.encode.table import EncodedTable

LARGEST_MAX_BINS = 65535  # so that the index of a bin fits into 16 bits


def check_max_bins(max_bins: object) -> None:
    """Require None or a number of bins."""
    check_integer("max_bins", max_bins, 2, LARGEST_MAX_BINS, accepts_none=True)


def bin_columns(
    order: np.ndarray,
    values: np.ndarray,
    n_distinct: np.ndarray,
    n_missing: np.ndarray,
    kinds: tuple[str, ...],
    max_bins: int | None,
    n_threads: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Bin the numeric columns that have more distinct values than ``max_bins``.

    See :func:`encode_table` for the rule.
    """
    if max_bins is None:
        return values, values
    is_binned = np.array([kind == NUMERIC for kind in kinds])
    is_binned &= n_distinct > max_bins
    if not is_binned.any():
        return values, values
    upper_values = np.empty(values.shape)
    bin_sorted_columns(
        order,
        values,
        upper_values,
        n_distinct,
        n_missing,
        is_binned.astype(np.uint8),
        max_bins,
        n_threads,
    )
    # Few values per column remain, so the memory for one per row is freed.
    width = int(n_distinct.max())
    values = values[:, :width].copy()
    upper_values = upper_values[:, :width].copy()
    upper_values[~is_binned] = values[~is_binned]
    return values, upper_values


BLOCK_BYTES = 1 << 24  # of a sparse matrix that are converted to dense at once
THREAD_SIZE = 1 << 14  # minimum numbers per thread
#: Bytes for each cell, as measured: of sorted rows and ranks; of a single tree, which
#: sorts a copy at the same time; of the values of a dense table, which may all differ;
#: and of the values by row of a sparse table for thresholds drawn at random.
SORTED_BYTES, ALONE_BYTES, VALUE_BYTES, RANDOM_BYTES = 7, 6, 7, 14


def find_blocks(matrix, n_threads):
    """Blocks of columns to rank together: one, or several of a sparse matrix."""
    n_rows, n_columns = matrix.shape
    if not sparse.issparse(matrix):
        return [slice(0, n_columns)]
    step = max(n_threads, BLOCK_BYTES // (matrix.dtype.itemsize * n_rows))
    return [slice(start, start + step) for start in range(0, n_columns, step)]


def require_table_memory(
    estimator, matrix, *, is_random: bool = False, is_alone: bool = False
) -> None:
    """Raise MemoryError for a table whose encoding is larger than the memory."""
    is_sparse = sparse.issparse(matrix)
    n_bytes = SORTED_BYTES + ALONE_BYTES * is_alone
    n_bytes += RANDOM_BYTES * is_random if is_sparse else VALUE_BYTES
    n_rows, n_columns = matrix.shape
    require_memory(
        float(n_rows) * n_columns * n_bytes,
        type(estimator).__name__,
        f"for a table of {n_rows:,} rows and {n_columns:,} columns, about {n_bytes} "
        f"bytes for each cell{', also for those not stored' if is_sparse else ''}",
        "Use fewer columns, such as those of VarianceThreshold, SelectKBest or "
        "TruncatedSVD, or fewer rows. Linear models and TruncatedSVD read sparse "
        "tables as they are.",
    )


def encode_table(
    matrix,
    schema,
    n_threads: int = 1,
    *,
    sorts_nominal: bool = True,
    max_bins: int | None = None,
):
    """Sort every column of a matrix, exactly, in float64; or bin it as well.

    Bins (``max_bins``) are groups of neighbouring distinct values. They are filled from
    the lowest value upwards, each with as many values as the capacity of a bin, in
    rows, allows; a value with more rows has a bin of its own. The capacity is the
    smallest number of rows for which at most ``max_bins`` bins are needed. So equal
    values are never divided, and bins have about equal numbers of rows; weights are
    ignored. A threshold between two bins is the midpoint of the largest value of the
    lower and the smallest value of the upper bin, so that every row of the table goes
    to the same side as its bin.

    Parameters
    ----------
    matrix : ndarray of float64 or float32, csc_array, or StoredTable, of shape \
(n_rows, n_columns)
        As `read_training_table` returns it; any strides. A sparse matrix is made dense
        a few columns at a time.
    schema : TableSchema
        What the columns are.
    n_threads : int, default=1
        Number of threads; the columns are shared among them. The result does not
        depend on it.
    sorts_nominal : bool, default=True
        Whether nominal columns are sorted, too; otherwise they are only coded, which
        takes less time: see ``level_codes`` of `EncodedTable`.
    max_bins : int, default=None
        Numeric columns with more distinct values than this, 2 to 65535, are binned into
        at most this many bins; None for no binning. Ordinal and nominal columns and
        missing values are never binned.

    Returns
    -------
    table : EncodedTable
        The sorted columns.

    Raises
    ------
    ValueError
        If a number is infinite; the message names the column and the first row. If
        ``max_bins`` is not allowed.

    Examples
    --------
    >>> from sklearn_textbook.tree.encode import encode_table, read_training_table
    >>> matrix, schema = read_training_table([[2.5, 1], [None, 1], [0.5, 1]])
    >>> table = encode_table(matrix, schema)
    >>> table.column_rows(0)
    array([2, 0, 1], dtype=uint32)
    >>> table.column_values(0)
    array([0.5, 2.5])
    >>> table.codes(0)
    array([1, 2, 0], dtype=uint8)

    Three bins of up to two rows each:

    >>> matrix, schema = read_training_table([[5], [1], [1], [2], [7], [4]])
    >>> table = encode_table(matrix, schema, max_bins=3)
    >>> table.codes(0)
    array([2, 0, 0, 1, 2, 1], dtype=uint8)
    >>> table.column_values(0), table.column_upper_values(0)
    (array([1., 2., 5.]), array([1., 4., 7.]))
    """
    check_max_bins(max_bins)
    if isinstance(matrix, StoredTable):
        if matrix.is_in_columns and (sorts_nominal or NOMINAL not in schema.kinds):
            # Which imports this module.
            from sklearn_textbook.tree.encode.stored_codes import StoredCodes

            return StoredCodes(matrix, max_bins, n_threads)
        matrix = matrix.matrix

    def encode(matrix, schema):
        return _encode_table(matrix, schema, n_threads, sorts_nominal, max_bins)

    return compute_once(encode, (matrix, schema), (sorts_nominal, max_bins))


def _encode_table(matrix, schema, n_threads, sorts_nominal, max_bins):
    """Sort or bin every column, as described in `encode_table`."""
    n_rows, n_columns = matrix.shape
    # Threads cost more than they gain where there is little to sort.
    n_threads = min(n_threads, n_columns, 1 + n_rows * n_columns // THREAD_SIZE)
    is_sparse = sparse.issparse(matrix)
    order = np.empty((n_columns, n_rows), dtype=np.uint32)
    n_distinct = np.empty(n_columns, dtype=np.int64)
    n_missing = np.empty(n_columns, dtype=np.int64)
    has_infinity = np.empty(n_columns, dtype=np.uint8)
    level_codes, is_coded = make_level_codes(schema, n_rows, sorts_nominal)
    blocks = find_blocks(matrix, n_threads)
    buffer = np.empty((len(range(n_columns)[blocks[0]]), n_rows))
    kinds, parts = schema.kinds, []
    for block in blocks:
        values = buffer[: len(range(n_columns)[block])]
        rank_columns(
            take_columns(matrix[:, block], values, n_threads),
            order[block],
            values,
            n_distinct[block],
            n_missing[block],
            has_infinity[block],
            is_coded[block],
            level_codes[block],
            n_threads,
        )
        if has_infinity[block].any():
            column = block.start + int(np.flatnonzero(has_infinity[block])[0])
            numbers = matrix[:, [column]]
            numbers = numbers.toarray() if is_sparse else numbers
            raise infinity_error(
                schema.columns[column].name, int(np.flatnonzero(np.isinf(numbers))[0])
            )
        values, upper_values = bin_columns(
            order[block],
            values,
            n_distinct[block],
            n_missing[block],
            kinds[block],
            max_bins,
            n_threads,
        )
        if is_sparse:
            width = max(1, int(n_distinct[block].max()))
            is_binned = upper_values is not values
            values = values[:, :width].copy()
            upper_values = upper_values[:, :width].copy() if is_binned else values
        parts.append((values, upper_values))
    values, upper_values = join_values(parts)
    level_codes = None if sorts_nominal or not is_coded.any() else level_codes
    is_whole = max_bins is None and not is_sparse
    return EncodedTable(
        *(schema, order, values, n_distinct, n_missing, level_codes, upper_values),
        matrix if is_whole else None,
    )


def join_values(parts):
    """Join the distinct values of blocks of columns, and the upper values of bins."""
    if len(parts) == 1:
        return parts[0]
    n_columns = sum(len(values) for values, _ in parts)
    width = max(values.shape[1] for values, _ in parts)
    is_binned = any(upper is not values for values, upper in parts)
    joined = np.empty((n_columns, width))
    joined_upper = np.empty((n_columns, width)) if is_binned else joined
    start = 0
    parts.reverse()
    while parts:  # each is freed once it is copied
        values, upper_values = parts.pop()
        block = slice(start, start + len(values))
        joined[block, : values.shape[1]] = values
        if is_binned:
            joined_upper[block, : values.shape[1]] = upper_values
        start = block.stop
    return joined, joined_upper


def take_columns(part, values, n_threads):
    """Columns side by side in float64, copied to ``values`` unless they are so."""
    if sparse.issparse(part):
        part = part.toarray(order="F")
    is_ready = part.shape[0] == 1 or part.strides[0] == part.itemsize
    if part.dtype == np.float64 and is_ready:
        return part.T
    if part.size:
        copy_matrix(part, values.T, n_threads)
    return values


def make_level_codes(schema, n_rows, sorts_nominal):
    """Buffers for the level codes of nominal columns, and which columns are coded."""
    n_columns = len(schema.columns)
    if sorts_nominal:
        return np.empty((n_columns, 0), np.uint32), np.zeros(n_columns, np.uint8)
    is_coded = np.array([kind == NOMINAL for kind in schema.kinds], dtype=np.uint8)
    return np.empty((n_columns, n_rows if is_coded.any() else 0), np.uint32), is_coded
