"""Kernels of the encoding, which sorts every column once, exactly, in float64; and of
bins, which take neighbouring values together.

A bin holds neighbouring distinct values of up to ``capacity`` rows together; a value
of more rows has a bin of its own. Filled in that way from the lowest value on, the bins
are as few as a capacity allows, and the capacity is the smallest that needs no more
than ``max_bins``: found by halving, each try jumping from bin to bin over the sums of
rows.
"""

from libc.math cimport INFINITY
from libc.stdint cimport (
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook.tree.encode._sort_column cimport (
    MAX_DIGITS, N_BUCKETS, ROW_MASK, RUN_START, rank_column,
)

import numpy as np

ctypedef fused code_t:
    uint8_t
    uint16_t
    uint32_t


# ------------------------------------------------------------------------------------
# The cells of a table for growing many trees: ranks, values and steps of all rows.
# Columns, or blocks of rows, are shared among the threads. A block of few rows stays in
# the cache while its cells are written row by row.
# ------------------------------------------------------------------------------------


ctypedef fused floating_t:
    float
    double

cdef enum:
    BLOCK_ROWS = 64  # that a thread takes at a time
    MISSING_STEP = -32768  # as in split/_steps.pxd
    LOWEST_STEP = -32767

cdef void write_column(
    const uint32_t* order, int64_t n_present, int64_t n_rows, uint32_t missing_code,
    code_t* codes
) noexcept nogil:
    """Write the ranks of a column, and the code of its missing values."""
    cdef int64_t i, rank = -1
    for i in range(n_present):
        # Bit 31 marks the first row of each distinct value.
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


cdef struct Ranking:
    # Columns that threads share; ranks have 1, 2 or 4 bytes.
    const uint32_t* order
    const int64_t* n_distinct
    const int64_t* n_missing
    int64_t n_rows
    char* ranks
    int rank_size


cdef void write_rank_column(void* context, int64_t c, int thread) noexcept nogil:
    """Write the ranks of one column."""
    cdef:
        const Ranking* work = <Ranking*>context
        const uint32_t* order = work.order + c * work.n_rows
        int64_t n_present = work.n_rows - work.n_missing[c]
        uint32_t missing_code = <uint32_t>work.n_distinct[c]
        char* ranks = work.ranks + c * work.n_rows * work.rank_size
    if work.rank_size == 1:
        write_column(order, n_present, work.n_rows, missing_code, <uint8_t*>ranks)
    elif work.rank_size == 2:
        write_column(order, n_present, work.n_rows, missing_code, <uint16_t*>ranks)
    else:
        write_column(order, n_present, work.n_rows, missing_code, <uint32_t*>ranks)


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
    cdef Ranking work = Ranking(
        &order[0, 0], &n_distinct[0], &n_missing[0], order.shape[1],
        <char*>&ranks[0, 0], sizeof(code_t)
    )
    run_in_threads(n_threads, write_rank_column, &work, order.shape[0])


cdef struct Turning:
    # Blocks of rows that threads share; ranks have 1, 2 or 4 bytes.
    void* ranks
    int rank_size
    int64_t n_rows
    int64_t n_columns
    const int32_t* shift
    const int64_t* n_values
    const int32_t* missing_bin
    void* row_ranks
    uint8_t* row_bins


cdef void turn_rows(
    const Turning* work, int64_t start, const code_t* ranks, code_t* row_ranks
) noexcept nogil:
    """Write the ranks and bins of some rows."""
    cdef:
        int64_t i, c, n_columns = work.n_columns
        code_t rank
    for c in range(n_columns):
        # Reads run along a column; the scattered writes stay within the block.
        for i in range(start, min(work.n_rows, start + BLOCK_ROWS)):
            rank = ranks[c * work.n_rows + i]
            row_ranks[i * n_columns + c] = rank
            work.row_bins[i * n_columns + c] = (
                <uint8_t>(rank >> work.shift[c]) if rank < work.n_values[c]
                else <uint8_t>work.missing_bin[c]
            )


cdef void turn_block(void* context, int64_t block, int thread) noexcept nogil:
    """`turn_rows` for the type of the ranks."""
    cdef:
        const Turning* work = <Turning*>context
        int64_t start = block * BLOCK_ROWS
    if work.rank_size == 1:
        turn_rows(work, start, <uint8_t*>work.ranks, <uint8_t*>work.row_ranks)
    elif work.rank_size == 2:
        turn_rows(work, start, <uint16_t*>work.ranks, <uint16_t*>work.row_ranks)
    else:
        turn_rows(work, start, <uint32_t*>work.ranks, <uint32_t*>work.row_ranks)


cdef inline int64_t count_blocks(int64_t n_rows) noexcept nogil:
    return (n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS


def write_row_ranks(
    const code_t[:, ::1] ranks, const int32_t[::1] shift, const int64_t[::1] n_values,
    const int32_t[::1] missing_bin, code_t[:, ::1] row_ranks,
    uint8_t[:, ::1] row_bins, int n_threads,
):
    """Write the ranks row by row, and bins of them.

    Parameters
    ----------
    ranks : memoryview of uint8, uint16 or uint32, shape (n_columns, n_rows)
        The ranks.
    shift : memoryview of int32, shape (n_columns,)
        By how many bits those of a column are shortened.
    n_values : memoryview of int64, shape (n_columns,)
        Number of distinct values; a rank that is not below is that of missing values.
    missing_bin : memoryview of int32, shape (n_columns,)
        The bin of missing values.
    row_ranks : memoryview of the same type, shape (n_rows, n_columns)
        Out: the ranks.
    row_bins : memoryview of uint8, shape (n_rows, n_columns)
        Out: ``row_ranks >> shift``; may be the same memory if no value is missing.
    n_threads : int
        Number of threads.
    """
    cdef Turning work = Turning(
        <void*>&ranks[0, 0], sizeof(code_t), ranks.shape[1], ranks.shape[0], &shift[0],
        &n_values[0], &missing_bin[0], &row_ranks[0, 0], &row_bins[0, 0]
    )
    run_in_threads(n_threads, turn_block, &work, count_blocks(ranks.shape[1]))


cdef struct Gaps:
    # Columns that threads share.
    const double* values
    int64_t stride
    const int64_t* n_distinct
    double* gap


cdef void find_gap(void* context, int64_t c, int thread) noexcept nogil:
    """The smallest difference of two ascending values next to each other."""
    cdef:
        const Gaps* gaps = <Gaps*>context
        const double* values = gaps.values + c * gaps.stride
        double gap = INFINITY, difference
        int64_t i
    for i in range(1, gaps.n_distinct[c]):
        difference = values[i] - values[i - 1]
        gap = difference if difference < gap else gap
    gaps.gap[c] = gap


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
    cdef Gaps gaps = Gaps(&values[0, 0], values.shape[1], &n_distinct[0], &gap[0])
    run_in_threads(n_threads, find_gap, &gaps, values.shape[0])


cdef struct Copying:
    # Blocks of rows that threads share; the matrix has float32 or float64.
    const char* matrix
    bint is_single
    int64_t row_stride
    int64_t column_stride
    int64_t n_rows
    int64_t n_columns
    double* target
    int64_t row_step
    int64_t column_step


cdef void copy_block(void* context, int64_t block, int thread) noexcept nogil:
    """Copy some rows."""
    cdef:
        const Copying* work = <Copying*>context
        int64_t i, c, first = block * BLOCK_ROWS
        int64_t n_rows = min(<int64_t>BLOCK_ROWS, work.n_rows - first)
        int64_t row_stride = work.row_stride, row_step = work.row_step
        const char* numbers
        double* target
    for c in range(work.n_columns):
        numbers = work.matrix + first * row_stride + c * work.column_stride
        target = work.target + first * row_step + c * work.column_step
        if work.is_single:
            for i in range(n_rows):
                target[i * row_step] = (<const float*>(numbers + i * row_stride))[0]
        else:
            for i in range(n_rows):
                target[i * row_step] = (<const double*>(numbers + i * row_stride))[0]


def copy_matrix(const floating_t[:, :] matrix, double[:, :] target, int n_threads):
    """Copy the numbers of a matrix.

    Parameters
    ----------
    matrix : memoryview of float32 or float64, shape (n_rows, n_columns)
        Any strides.
    target : memoryview of float64, shape (n_rows, n_columns)
        Out: the same, with any strides.
    n_threads : int
        Number of threads.
    """
    cdef Copying work = Copying(
        <const char*>&matrix[0, 0], floating_t is float, matrix.strides[0],
        matrix.strides[1], matrix.shape[0], matrix.shape[1], &target[0, 0],
        target.strides[0] // <Py_ssize_t>sizeof(double),
        target.strides[1] // <Py_ssize_t>sizeof(double)
    )
    run_in_threads(n_threads, copy_block, &work, count_blocks(matrix.shape[0]))


cdef struct Rounding:
    # Blocks of rows that threads share.
    const double* values
    int64_t n_rows
    int64_t n_columns
    const double* low
    const double* factor
    int16_t* steps
    int16_t* row_steps


cdef void round_block(void* context, int64_t block, int thread) noexcept nogil:
    """Write the steps of some rows."""
    cdef:
        const Rounding* work = <Rounding*>context
        int64_t i, c, n_columns = work.n_columns, start = block * BLOCK_ROWS
        int64_t stop = min(work.n_rows, start + BLOCK_ROWS)
        const double* values = work.values
        const double* low = work.low
        const double* factor = work.factor
        int16_t* row_steps = work.row_steps
        double value, height
    for i in range(start, stop):
        for c in range(n_columns):
            # Row by row, as the values stand; then transposed.
            value = values[i * n_columns + c]
            # 0 where ranges overflow: their factor and their lowest value are 0.
            height = (value - low[c]) * factor[c]
            # A missing value becomes -1, one step below the lowest; other heights are
            # not negative, so truncation is the floor.
            height = height if height == height else MISSING_STEP - LOWEST_STEP
            row_steps[i * n_columns + c] = <int16_t>(<int32_t>height + LOWEST_STEP)
    for c in range(n_columns):
        for i in range(start, stop):
            work.steps[c * work.n_rows + i] = row_steps[i * n_columns + c]


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
        Out: the steps; -32768 for what is not a number.
    row_steps : memoryview of int16, shape (n_rows, n_columns)
        Out: the same, row by row.
    n_threads : int
        Number of threads.
    """
    cdef Rounding work = Rounding(
        &values[0, 0], values.shape[0], values.shape[1], &low[0], &factor[0],
        &steps[0, 0], &row_steps[0, 0]
    )
    run_in_threads(n_threads, round_block, &work, count_blocks(values.shape[0]))


# ------------------------------------------------------------------ objects by identity
#
# A column of text often has few objects, each in many rows, since readers of files make
# equal strings one object. To number these, only addresses need be read, which takes a
# fraction of the time that looking up the string of every row does.

cdef enum:
    N_SLOTS = 1024
    # objects that are numbered at most; the slots are half empty
    MAX_OBJECTS = 512


def number_objects(values):
    """Number the objects of an array in the order of their first rows.

    values: ndarray of object, one-dimensional.

    Returns the number of each row's object, as int32, and the first row of each object;
    None if there are more than MAX_OBJECTS.
    """
    cdef const char* place = <const char*> <size_t> values.ctypes.data
    cdef Py_ssize_t stride = values.strides[0], n_rows = values.shape[0], row, slot
    cdef Py_ssize_t n_objects = 0
    cdef void* address
    cdef void* slots[N_SLOTS]
    cdef int32_t number_of_slot[N_SLOTS]
    cdef int64_t first_rows[MAX_OBJECTS]
    numbers = np.empty(n_rows, dtype=np.int32)
    cdef int32_t[::1] written = numbers
    for slot in range(N_SLOTS):
        slots[slot] = NULL
    for row in range(n_rows):
        address = (<void**> place)[0]
        place += stride
        # Objects are at multiples of 16 bytes; the product mixes the other bits.
        slot = (((<uint64_t> <size_t> address) >> 4) * 0x9e3779b97f4a7c15u) >> 54
        while slots[slot] != address:
            if slots[slot] == NULL:
                if n_objects == MAX_OBJECTS:
                    return None
                slots[slot] = address
                number_of_slot[slot] = <int32_t> n_objects
                first_rows[n_objects] = row
                n_objects += 1
                break
            # Taken by another object: linear probing.
            slot = (slot + 1) % N_SLOTS
        written[row] = number_of_slot[slot]
    rows = [first_rows[row] for row in range(n_objects)]
    return numbers, np.array(rows, dtype=np.int64)


# -------------------------------------------------------------------------------- ranks
cdef int64_t write_level_codes(
    const double* column, Py_ssize_t n_rows, uint32_t* codes
) noexcept nogil:
    """Turn codes from numbers into integers; returns how many are missing."""
    cdef Py_ssize_t row
    cdef int64_t n_missing = 0
    cdef double value
    for row in range(n_rows):
        value = column[row]
        if value == value:
            codes[row] = <uint32_t> <int64_t> value
        else:
            codes[row] = <uint32_t> -1
            n_missing += 1
    return n_missing


cdef struct Columns:
    # Columns that threads share; arrays as of rank_columns.
    const double* columns
    Py_ssize_t stride
    Py_ssize_t n_rows
    uint32_t* order
    double* values
    int64_t* n_distinct
    int64_t* n_missing
    uint8_t* has_infinity
    const uint8_t* is_coded
    uint32_t* level_codes
    uint64_t* scratch
    Py_ssize_t scratch_size


cdef void rank_task(void* context, int64_t c, int thread) noexcept nogil:
    """Sort one column."""
    cdef const Columns* work = <Columns*> context
    cdef const double* column = work.columns + c * work.stride
    if work.is_coded[c]:
        work.n_missing[c] = write_level_codes(
            column, work.n_rows, work.level_codes + c * work.n_rows
        )
        work.n_distinct[c] = 0
        work.has_infinity[c] = False
        return
    work.has_infinity[c] = rank_column(
        column, work.n_rows, work.scratch + thread * work.scratch_size,
        work.order + c * work.n_rows, work.values + c * work.n_rows,
        &work.n_distinct[c], &work.n_missing[c],
    )


def rank_columns(
    const double[:, :] columns,
    uint32_t[:, ::1] order,
    double[:, ::1] values,
    int64_t[::1] n_distinct,
    int64_t[::1] n_missing,
    uint8_t[::1] has_infinity,
    const uint8_t[::1] is_coded,
    uint32_t[:, ::1] level_codes,
    int n_threads,
):
    """Sort every column of a table and mark its runs of equal values.

    Parameters
    ----------
    columns : memoryview of float64, shape (n_columns, n_rows)
        The numbers of a column side by side; NaN is a missing value. At least one row,
        fewer than 2**31. They may stand where ``values`` will be written.
    order : memoryview of uint32, shape (n_columns, n_rows)
        Out: row numbers by ascending value, ties by row number, missing rows last;
        bit 31 marks the first row of each run of equal values and the first missing
        row.
    values : memoryview of float64, shape (n_columns, n_rows)
        Out: the first ``n_distinct[c]`` entries of row c are the distinct values,
        ascending; the rest is scratch.
    n_distinct, n_missing : memoryview of int64, shape (n_columns,)
        Out: number of distinct present values, and of missing values.
    has_infinity : memoryview of uint8, shape (n_columns,)
        Out: whether the column holds an infinite number; such a column is not sorted.
    is_coded : memoryview of uint8, shape (n_columns,)
        Whether a column holds level codes and is not to be sorted.
    level_codes : memoryview of uint32, shape (n_columns, n_rows or 0)
        Out: the codes of these columns, the largest number for a missing value.
    n_threads : int
        Number of threads; each takes one column at a time.
    """
    cdef Py_ssize_t n_columns = columns.shape[0]
    cdef Py_ssize_t n_rows = columns.shape[1]
    cdef Py_ssize_t scratch_size = 2 * n_rows + MAX_DIGITS * N_BUCKETS // 2
    cdef uint64_t[:, ::1] scratch = np.empty((n_threads, scratch_size), dtype=np.uint64)
    cdef uint32_t* codes = NULL
    cdef Columns work
    if n_rows == 0 or n_columns == 0:
        raise ValueError("rank_columns needs at least one row and one column.")
    if n_rows > ROW_MASK:
        raise ValueError(
            f"A table may have at most {ROW_MASK} rows, this one has {n_rows}."
        )
    if level_codes.shape[1]:
        codes = &level_codes[0, 0]
    work = Columns(
        &columns[0, 0], columns.strides[0] // <Py_ssize_t> sizeof(double), n_rows,
        &order[0, 0], &values[0, 0], &n_distinct[0], &n_missing[0], &has_infinity[0],
        &is_coded[0], codes, &scratch[0, 0], scratch_size,
    )
    run_in_threads(n_threads, rank_task, &work, n_columns)


# --------------------------------------------------------------------------------- bins
cdef void take_starts(
    uint32_t* order, int64_t n_present, uint32_t* starts
) noexcept nogil:
    """Where the runs of equal values start, and one past the last; clears the marks."""
    cdef int64_t i, n = 0
    for i in range(n_present):
        # Written in any case and kept where a run starts: no branch to mispredict.
        starts[n] = <uint32_t> i
        n += order[i] >> 31
        order[i] &= ROW_MASK
    starts[n] = <uint32_t> n_present


cdef inline int64_t fill_bin(
    const uint32_t* starts, int64_t n_values, int64_t first, int64_t capacity
) noexcept nogil:
    """The first value that does not fit into a bin with its lowest value.

    starts: first position of each value among the present rows, and one past the last;
    ``starts[b] - starts[a]`` rows have the values from a to before b. A value of more
    than ``capacity`` rows is a bin of its own.
    """
    cdef:
        int64_t limit = <int64_t> starts[first] + capacity, middle
        int64_t low = first + 1, high = min(first + capacity, n_values)
    # A bin holds no more values than rows; all of them where no value occurs twice.
    if <int64_t> starts[high] <= limit:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if <int64_t> starts[middle] <= limit:
            low = middle
        else:
            high = middle - 1
    return low


cdef bint is_enough(
    const uint32_t* starts, int64_t n_values, int64_t capacity, int64_t max_bins
) noexcept nogil:
    """Whether so many bins of that capacity hold all values."""
    cdef int64_t first = 0, n_bins = 0
    while first < n_values and n_bins < max_bins:
        # Full bins from the lowest value on are as few as possible.
        first = fill_bin(starts, n_values, first, capacity)
        n_bins += 1
    return first == n_values


cdef int64_t find_capacity(
    const uint32_t* starts, int64_t n_values, int64_t max_bins
) noexcept nogil:
    """The smallest capacity that is enough."""
    cdef:
        # Two neighbouring bins hold more than the capacity together, so this one is.
        int64_t low = 1, middle
        int64_t high = 2 * <int64_t> starts[n_values] // max(max_bins - 1, 1) + 1
    while low < high:
        # A larger capacity never needs more bins.
        middle = (low + high) // 2
        if is_enough(starts, n_values, middle, max_bins):
            high = middle
        else:
            low = middle + 1
    return low


cdef int64_t bin_column(
    uint32_t* order, int64_t n_present, double* values, double* upper_values,
    int64_t n_values, int64_t max_bins, uint32_t* starts
) noexcept nogil:
    """Turn the values of one column into bins; returns how many there are."""
    cdef int64_t capacity, first = 0, stop, n_bins = 0
    take_starts(order, n_present, starts)
    capacity = find_capacity(starts, n_values, max_bins)
    while first < n_values:
        stop = fill_bin(starts, n_values, first, capacity)
        order[starts[first]] |= RUN_START
        # In place: a bin's number is never above that of its first value.
        upper_values[n_bins] = values[stop - 1]
        values[n_bins] = values[first]
        n_bins += 1
        first = stop
    return n_bins


cdef struct BinnedColumns:
    # Columns that threads share; arrays as of bin_sorted_columns.
    uint32_t* order
    int64_t n_rows
    double* values
    double* upper_values
    int64_t* n_distinct
    const int64_t* n_missing
    const uint8_t* is_binned
    int64_t max_bins
    uint32_t* starts


cdef void bin_task(void* context, int64_t c, int thread) noexcept nogil:
    """`bin_column` for a column that is to be binned."""
    cdef:
        const BinnedColumns* work = <BinnedColumns*>context
        int64_t start = c * work.n_rows
    if work.is_binned[c]:
        work.n_distinct[c] = bin_column(
            work.order + start, work.n_rows - work.n_missing[c], work.values + start,
            work.upper_values + start, work.n_distinct[c], work.max_bins,
            work.starts + thread * (work.n_rows + 1)
        )


def bin_sorted_columns(
    uint32_t[:, ::1] order,
    double[:, ::1] values,
    double[:, ::1] upper_values,
    int64_t[::1] n_distinct,
    const int64_t[::1] n_missing,
    const uint8_t[::1] is_binned,
    int64_t max_bins,
    int n_threads,
):
    """Group neighbouring values of sorted columns, in place.

    Parameters
    ----------
    order : memoryview of uint32, shape (n_columns, n_rows)
        As `rank_columns` writes it; bit 31 will mark the first row of each bin.
    values : memoryview of float64, shape (n_columns, n_rows)
        The distinct values; in their place the smallest value of each bin.
    upper_values : memoryview of float64, shape (n_columns, n_rows)
        Out: the largest value of each bin. Other columns are left alone.
    n_distinct : memoryview of int64, shape (n_columns,)
        Number of distinct values; in its place the number of bins.
    n_missing : memoryview of int64, shape (n_columns,)
        Number of missing values.
    is_binned : memoryview of uint8, shape (n_columns,)
        Which columns to bin.
    max_bins : int
        Largest number of bins, at least 1.
    n_threads : int
        Number of threads; each takes one column at a time.
    """
    cdef:
        int64_t n_rows = order.shape[1]
        uint32_t[:, ::1] starts = np.empty((n_threads, n_rows + 1), dtype=np.uint32)
        BinnedColumns work = BinnedColumns(
            &order[0, 0], n_rows, &values[0, 0], &upper_values[0, 0], &n_distinct[0],
            &n_missing[0], &is_binned[0], max_bins, &starts[0, 0]
        )
    run_in_threads(n_threads, bin_task, &work, order.shape[0])


def divide_values(const uint32_t[::1] starts, int64_t max_bins):
    """Divide the distinct values of a column that is sorted elsewhere into bins.

    Parameters
    ----------
    starts : memoryview of uint32, shape (n_values + 1,)
        How many rows have smaller values than each one; last, how many have a value.
    max_bins : int
        Largest number of bins, at least 1.

    Returns
    -------
    first : ndarray of int64, shape (n_bins,)
        The lowest value of every bin, by its place.
    """
    cdef:
        int64_t n_values = starts.shape[0] - 1, place = 0
        int64_t capacity = find_capacity(&starts[0], n_values, max_bins)
        list first = []
    while place < n_values:
        first.append(place)
        place = fill_bin(&starts[0], n_values, place, capacity)
    return np.array(first, dtype=np.int64)
