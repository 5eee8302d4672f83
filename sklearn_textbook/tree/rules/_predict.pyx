# cython: language_level=3
"""Which rule of a list decides a row; :mod:`predict` has the documents."""

from cython cimport floating
from libc.stdint cimport int32_t, int64_t

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook.tree.rules._cover cimport Test, meets

cdef enum:
    BLOCK_ROWS = 256  # that a thread takes at a time


cdef struct Search:
    # Blocks of rows that threads share.
    const char* matrix
    Py_ssize_t row_stride
    Py_ssize_t column_stride
    bint is_single
    int64_t n_rows
    const Test* tests
    const int32_t* level_branch
    const int64_t* start
    int64_t n_rules
    int64_t* place


def find_covering(
    const floating[:, :] matrix,
    const Test[::1] tests,
    const int32_t[::1] level_branch,
    const int64_t[::1] start,
    int64_t[::1] place,
    int n_threads,
):
    """Move ``place`` of every row on to the first rule, from it on, that covers the
    row; -1 if none does.

    The tests of rule i are ``start[i]`` to ``start[i + 1]``.
    """
    cdef const int32_t* levels = &level_branch[0] if level_branch.shape[0] else NULL
    cdef const Test* test = &tests[0] if tests.shape[0] else NULL
    cdef Search search
    if matrix.shape[0] == 0:
        return
    search = Search(
        <const char*> &matrix[0, 0], matrix.strides[0], matrix.strides[1],
        floating is float, matrix.shape[0], test, levels, &start[0],
        start.shape[0] - 1, &place[0],
    )
    run_in_threads(
        n_threads, search_block, &search, (search.n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS
    )


cdef void search_block(void* context, int64_t block, int thread) noexcept nogil:
    cdef const Search* search = <Search*> context
    cdef int64_t row, first = block * BLOCK_ROWS
    for row in range(first, min(search.n_rows, first + BLOCK_ROWS)):
        search.place[row] = find_from(search, row, search.place[row])


cdef inline double read_number(
    const Search* search, int64_t row, int64_t column
) noexcept nogil:
    cdef const char* number = (
        search.matrix + row * search.row_stride + column * search.column_stride
    )
    if search.is_single:
        return (<const float*> number)[0]
    return (<const double*> number)[0]


cdef inline int64_t find_from(
    const Search* search, int64_t row, int64_t place
) noexcept nogil:
    cdef int64_t i
    cdef const Test* test
    while place < search.n_rules:
        i = search.start[place]
        while i < search.start[place + 1]:
            test = &search.tests[i]
            if not meets(
                test, search.level_branch, read_number(search, row, test.column)
            ):
                break
            i += 1
        if i == search.start[place + 1]:
            return place
        place += 1
    return -1
