"""The cells of a table for growing many trees: ranks, values and steps of all rows.

Columns, or blocks of rows, are shared among the threads. A block of few rows stays in
the cache while its cells are written row by row.
"""

from cython.parallel import prange

from libc.math cimport INFINITY
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t

ctypedef fused floating_t:
    float
    double

cdef enum:
    BLOCK_ROWS = 64
    LOWEST_STEP = -32767

cdef uint32_t ROW_MASK = 0x7FFFFFFF


cdef void write_column(
    const uint32_t* order, int64_t n_present, int64_t n_rows, uint32_t missing_code,
    code_t* codes
) noexcept nogil:
    """Write the ranks of a column, and the code of its missing values."""
    cdef int64_t i, rank = -1
    for i in range(n_present):
        rank += order[i] >> 31
        codes[order[i] & ROW_MASK] = <code_t>rank
    for i in range(n_present, n_rows):
        codes[order[i] & ROW_MASK] = <code_t>missing_code


def write_codes(
    const uint32_t[::1] order, Py_ssize_t n_present, uint32_t missing_code,
    code_t[::1] codes,
):
    """Write the rank of every row's value, counted from 0, and the missing code.

    Parameters
    ----------
    order : memoryview of uint32, shape (n_rows,)
        One row of the order that `rank_columns` writes.
    n_present : int
        Number of rows whose value is present.
    missing_code : int
        Code of the other rows.
    codes : memoryview of uint8, uint16 or uint32, shape (n_rows,)
        Out: the codes.
    """
    with nogil:
        write_column(&order[0], n_present, order.shape[0], missing_code, &codes[0])


def write_ranks(
    const uint32_t[:, ::1] order, const int64_t[::1] n_distinct,
    const int64_t[::1] n_missing, code_t[:, ::1] ranks, int n_threads,
):
    """Write the ranks of all columns.

    Parameters
    ----------
    order : memoryview of uint32, shape (n_columns, n_rows)
        As `rank_columns` writes it.
    n_distinct, n_missing : memoryview of int64, shape (n_columns,)
        Number of distinct values, and of missing ones.
    ranks : memoryview of uint8, uint16 or uint32, shape (n_columns, n_rows)
        Out: the ranks; ``n_distinct`` for missing values.
    n_threads : int
        Number of threads.
    """
    cdef int64_t c, n_rows = order.shape[1]
    for c in prange(order.shape[0], nogil=True, num_threads=n_threads):
        write_column(
            &order[c, 0], n_rows - n_missing[c], n_rows, <uint32_t>n_distinct[c],
            &ranks[c, 0]
        )


cdef void turn_block(
    const code_t* ranks, int64_t n_rows, int64_t n_columns, int64_t start,
    int64_t stop, const int32_t* shift, code_t* row_ranks, uint8_t* row_bins
) noexcept nogil:
    """Write the ranks and bins of some rows."""
    cdef:
        int64_t i, c
        code_t rank
    for c in range(n_columns):
        for i in range(start, stop):
            rank = ranks[c * n_rows + i]
            row_ranks[i * n_columns + c] = rank
            row_bins[i * n_columns + c] = <uint8_t>(rank >> shift[c])


def write_row_ranks(
    const code_t[:, ::1] ranks, const int32_t[::1] shift, code_t[:, ::1] row_ranks,
    uint8_t[:, ::1] row_bins, int n_threads,
):
    """Write the ranks row by row, and bins of them.

    Parameters
    ----------
    ranks : memoryview of uint8, uint16 or uint32, shape (n_columns, n_rows)
        The ranks.
    shift : memoryview of int32, shape (n_columns,)
        By how many bits those of a column are shortened.
    row_ranks : memoryview of the same type, shape (n_rows, n_columns)
        Out: the ranks.
    row_bins : memoryview of uint8, shape (n_rows, n_columns)
        Out: ``row_ranks >> shift``; may be the same memory.
    n_threads : int
        Number of threads.
    """
    cdef int64_t block, n_rows = ranks.shape[1], n_columns = ranks.shape[0]
    for block in prange(
        (n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS, nogil=True, num_threads=n_threads
    ):
        turn_block(
            &ranks[0, 0], n_rows, n_columns, block * BLOCK_ROWS,
            min(n_rows, (block + 1) * BLOCK_ROWS), &shift[0], &row_ranks[0, 0],
            &row_bins[0, 0]
        )


cdef double find_gap(const double* values, int64_t n) noexcept nogil:
    """The smallest difference of two ascending values next to each other."""
    cdef:
        double gap = INFINITY, difference
        int64_t i
    for i in range(1, n):
        difference = values[i] - values[i - 1]
        gap = difference if difference < gap else gap
    return gap


def find_gaps(
    const double[:, ::1] values, const int64_t[::1] n_distinct, double[::1] gap,
    int n_threads,
):
    """Find the smallest difference of two distinct values of each column.

    Parameters
    ----------
    values : memoryview of float64, shape (n_columns, n_values)
        The distinct values, ascending.
    n_distinct : memoryview of int64, shape (n_columns,)
        How many there are.
    gap : memoryview of float64, shape (n_columns,)
        Out: the differences; infinity where there are no two values.
    n_threads : int
        Number of threads.
    """
    cdef int64_t c
    for c in prange(values.shape[0], nogil=True, num_threads=n_threads):
        gap[c] = find_gap(&values[c, 0], n_distinct[c])


cdef void copy_block(
    const floating_t[:, :] matrix, int64_t start, int64_t stop, double[:, ::1] rows
) noexcept nogil:
    """Copy some rows."""
    cdef int64_t i, c
    for c in range(matrix.shape[1]):
        for i in range(start, stop):
            rows[i, c] = matrix[i, c]


def copy_rows(const floating_t[:, :] matrix, double[:, ::1] rows, int n_threads):
    """Put the numbers of every row of a matrix side by side.

    Parameters
    ----------
    matrix : memoryview of float32 or float64, shape (n_rows, n_columns)
        Any strides.
    rows : memoryview of float64, shape (n_rows, n_columns)
        Out: the same.
    n_threads : int
        Number of threads.
    """
    cdef int64_t block, n_rows = matrix.shape[0]
    for block in prange(
        (n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS, nogil=True, num_threads=n_threads
    ):
        copy_block(
            matrix, block * BLOCK_ROWS, min(n_rows, (block + 1) * BLOCK_ROWS), rows
        )


cdef void round_block(
    const double* values, int64_t n_rows, int64_t n_columns, int64_t start,
    int64_t stop, const double* low, const double* factor, int16_t* steps,
    int16_t* row_steps
) noexcept nogil:
    """Write the steps of some rows."""
    cdef int64_t i, c
    for i in range(start, stop):
        for c in range(n_columns):
            # A factor of 0 is for ranges that overflow.
            row_steps[i * n_columns + c] = LOWEST_STEP if factor[c] == 0.0 else (
                <int16_t>(
                    <int32_t>((values[i * n_columns + c] - low[c]) * factor[c])
                    + LOWEST_STEP
                )
            )
    for c in range(n_columns):
        for i in range(start, stop):
            steps[c * n_rows + i] = row_steps[i * n_columns + c]


def write_steps(
    const double[:, ::1] values, const double[::1] low, const double[::1] factor,
    int16_t[:, ::1] steps, int16_t[:, ::1] row_steps, int n_threads,
):
    """Write the steps that the values of all rows stand on.

    Parameters
    ----------
    values : memoryview of float64, shape (n_rows, n_columns)
        The values.
    low, factor : memoryview of float64, shape (n_columns,)
        See ``EncodedTable.steps``.
    steps : memoryview of int16, shape (n_columns, n_rows)
        Out: the steps.
    row_steps : memoryview of int16, shape (n_rows, n_columns)
        Out: the same, row by row.
    n_threads : int
        Number of threads.
    """
    cdef int64_t block, n_rows = values.shape[0], n_columns = values.shape[1]
    for block in prange(
        (n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS, nogil=True, num_threads=n_threads
    ):
        round_block(
            &values[0, 0], n_rows, n_columns, block * BLOCK_ROWS,
            min(n_rows, (block + 1) * BLOCK_ROWS), &low[0], &factor[0], &steps[0, 0],
            &row_steps[0, 0]
        )
