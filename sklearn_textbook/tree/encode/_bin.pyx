"""Kernel of the binning: neighbouring values of sorted columns become bins.

A bin holds neighbouring distinct values of up to ``capacity`` rows together; a value
of more rows has a bin of its own. Filled in that way from the lowest value on, the bins
are as few as a capacity allows, and the capacity is the smallest that needs no more
than ``max_bins``: found by halving, each try jumping from bin to bin over the sums of
rows.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from sklearn_textbook._contract._threads cimport run_in_threads

import numpy as np

cdef uint32_t RUN_START = 0x80000000
cdef uint32_t ROW_MASK = 0x7FFFFFFF


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
    """The first value that does not fit into a bin with its lowest value."""
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
        upper_values[n_bins] = values[stop - 1]
        values[n_bins] = values[first]
        n_bins += 1
        first = stop
    return n_bins


cdef struct Columns:
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
    cdef:
        const Columns* work = <Columns*>context
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
        Columns work = Columns(
            &order[0, 0], n_rows, &values[0, 0], &upper_values[0, 0], &n_distinct[0],
            &n_missing[0], &is_binned[0], max_bins, &starts[0, 0]
        )
    run_in_threads(n_threads, bin_task, &work, order.shape[0])
