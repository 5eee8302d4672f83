"""From a matrix of numbers and codes to the encoded table."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sklearn_textbook.tree.encode._rank import rank_columns
from sklearn_textbook.tree.encode.columns import infinity_error
from sklearn_textbook.tree.encode.table import EncodedTable

BLOCK_BYTES = 1 << 24  # of a sparse matrix that is dense at a time
THREAD_SIZE = 1 << 14  # numbers that are worth a thread


def find_blocks(matrix, n_threads):
    """Blocks of columns to rank together: one, or several of a sparse matrix."""
    n_rows, n_columns = matrix.shape
    if not sparse.issparse(matrix):
        return [slice(0, n_columns)]
    step = max(n_threads, BLOCK_BYTES // (matrix.dtype.itemsize * n_rows))
    return [slice(start, start + step) for start in range(0, n_columns, step)]


def encode_table(matrix, schema, n_threads=1):
    """Sort every column of a matrix, exactly, in float64.

    Parameters
    ----------
    matrix : ndarray of float64 or float32, or csc_array, of shape (n_rows, n_columns)
        As `read_training_table` returns it; any strides. A sparse matrix is made dense
        a few columns at a time.
    schema : TableSchema
        What the columns are.
    n_threads : int, default=1
        Number of threads; the columns are shared among them. The result does not
        depend on it.

    Returns
    -------
    table : EncodedTable
        The sorted columns.

    Raises
    ------
    ValueError
        If a number is infinite; the message names the column and the first row.

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
    """
    n_rows, n_columns = matrix.shape
    # Threads cost more than they gain where there is little to sort.
    n_threads = min(n_threads, n_columns, 1 + n_rows * n_columns // THREAD_SIZE)
    order = np.empty((n_columns, n_rows), dtype=np.uint32)
    values = np.empty((n_columns, n_rows))
    n_distinct = np.empty(n_columns, dtype=np.int64)
    n_missing = np.empty(n_columns, dtype=np.int64)
    has_infinity = np.empty(n_columns, dtype=np.uint8)
    for block in find_blocks(matrix, n_threads):
        part = matrix[:, block]
        rank_columns(
            part.toarray(order="F") if sparse.issparse(part) else part,
            order[block],
            values[block],
            n_distinct[block],
            n_missing[block],
            has_infinity[block],
            n_threads,
        )
    if has_infinity.any():
        column = int(np.flatnonzero(has_infinity)[0])
        numbers = matrix[:, [column]]
        numbers = numbers.toarray() if sparse.issparse(numbers) else numbers
        raise infinity_error(
            schema.columns[column].name, int(np.flatnonzero(np.isinf(numbers))[0])
        )
    return EncodedTable(schema, order, values, n_distinct, n_missing)
