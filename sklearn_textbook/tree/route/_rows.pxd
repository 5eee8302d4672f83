# Tables and groups of rows as the walks see them: header-only. Strides are in bytes.

cdef enum:
    # rows of a group
    N_LANES = 16
    # columns up to which all entries of a group are looked at for missing values;
    # a row of a wider table walks past a small part of its entries
    MAX_SCANNED = 64


# A table, or some rows of it.
cdef struct Table:
    const char* start
    Py_ssize_t row_stride
    Py_ssize_t column_stride
    Py_ssize_t n_rows
    Py_ssize_t n_columns
    # whether entries are float32 instead of float64
    bint is_single


# One row.
cdef struct Row:
    const char* start
    Py_ssize_t stride
    bint is_single


# Rows that walk together.
cdef struct RowGroup:
    const char* start[N_LANES]
    Py_ssize_t stride
    Py_ssize_t n_columns
    bint is_single


cdef inline double read_entry(
    const char* start, Py_ssize_t column, Py_ssize_t stride, bint is_single
) noexcept nogil:
    """The entry as a double, which represents every float exactly.

    Callers pass ``is_single`` and, where they can, ``stride`` as constants, so that the
    branch and the product are compiled away. With the start of a column and a row
    number in place of the start of a row and a column, it reads along a column.
    """
    if is_single:
        return (<const float*> (start + column * stride))[0]
    return (<const double*> (start + column * stride))[0]


cdef inline Row view_row(const Table* table, Py_ssize_t number) noexcept nogil:
    """One row of a table, which is not copied."""
    cdef Row row
    row.start = table.start + number * table.row_stride
    row.stride = table.column_stride
    row.is_single = table.is_single
    return row


cdef inline bint lacks_value(
    const RowGroup* rows, Py_ssize_t stride, bint is_single
) noexcept nogil:
    """Whether the group has a missing value."""
    cdef Py_ssize_t lane, column
    cdef double value
    cdef int n_missing = 0
    for lane in range(N_LANES):
        for column in range(rows.n_columns):
            value = read_entry(rows.start[lane], column, stride, is_single)
            n_missing += value != value
    return n_missing > 0
