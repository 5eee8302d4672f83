# cython: language_level=3
"""Which rule of a list decides a row; :mod:`predict` has the documents."""

from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.rules._cover cimport Test, meets


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
    cdef int64_t row, n_rows = matrix.shape[0], n_rules = start.shape[0] - 1
    cdef const int32_t* levels = &level_branch[0] if level_branch.shape[0] else NULL
    cdef const Test* test = &tests[0] if tests.shape[0] else NULL
    for row in prange(n_rows, nogil=True, num_threads=n_threads, schedule="static"):
        place[row] = find_from(matrix, row, test, levels, start, n_rules, place[row])


cdef inline int64_t find_from(
    const floating[:, :] matrix, int64_t row, const Test* tests,
    const int32_t* level_branch, const int64_t[::1] start, int64_t n_rules,
    int64_t place,
) noexcept nogil:
    cdef int64_t i
    while place < n_rules:
        i = start[place]
        while i < start[place + 1] and meets(
            &tests[i], level_branch, matrix[row, tests[i].column]
        ):
            i += 1
        if i == start[place + 1]:
            return place
        place += 1
    return -1
