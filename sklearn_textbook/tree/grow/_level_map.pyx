"""Level maps while a tree grows: from runs of equal levels, and back to them.

The runs of a sorted column come in the order of the level codes, and so do the
levels of a sparse map: the i-th run is the i-th of its codes.
"""

from libc.string cimport memcpy

from sklearn_textbook.tree.grow._buffers cimport reserve_levels
from sklearn_textbook.tree.grow._layout cimport DENSE_MAP
from sklearn_textbook.tree.split._column cimport value_of_rank
from sklearn_textbook.tree.split._types cimport rank_of


cdef inline bint starts_run(const Entry* entries, int64_t i) noexcept nogil:
    return i == 0 or rank_of(entries[i]) != rank_of(entries[i - 1])


cdef int64_t count_runs(const Entry* entries, int64_t n_present) noexcept nogil:
    cdef int64_t i, n_runs = 0
    for i in range(n_present):
        n_runs += starts_run(entries, i)
    return n_runs


cdef int64_t write_level_map(
    const Problem* problem, NodeBuffer* buffer, const Entry* entries,
    const uint32_t* ranks, int64_t column, int64_t n_present,
    const int32_t* run_child, bint covers_all
) noexcept nogil:
    """Append the map of a node in its shorter form.

    covers_all: levels without rows go to the child of their own number, as in a
        split of many ways; otherwise the node does not know them.
    Returns where the map starts, or -1 when memory runs out.
    """
    cdef:
        int64_t n_levels = problem.n_levels[column], level, i, run = 0
        int64_t n_runs = count_runs(entries, n_present), start = buffer.n_levels
        bint is_sparse = not covers_all and 2 * n_runs < n_levels
        int64_t length = 1 + (2 * n_runs if is_sparse else n_levels)
        int32_t* level_map
        int32_t* codes
        int32_t* children
    if reserve_levels(buffer, length) < 0:
        return -1
    buffer.n_levels += length
    level_map = buffer.level_branch + start
    level_map[0] = <int32_t>n_runs if is_sparse else DENSE_MAP
    codes = level_map + 1
    children = codes + n_runs if is_sparse else codes
    if not is_sparse:
        for level in range(n_levels):
            children[level] = <int32_t>level if covers_all else -1
    for i in range(n_present):
        if starts_run(entries, i):
            level = <int64_t>value_of_rank(problem, column, ranks, rank_of(entries[i]))
            if is_sparse:
                codes[run] = <int32_t>level
                children[run] = run_child[run]
            else:
                children[level] = run_child[run]
            run += 1
    return start


cdef int64_t write_coded_map(
    const Problem* problem, NodeBuffer* buffer, int64_t column,
    const int32_t* child_of_level
) noexcept nogil:
    """The same from the child of every level; -1: the node does not know it."""
    cdef:
        int64_t n_levels = problem.n_levels[column], level, n_known = 0, n = 0
        int64_t start = buffer.n_levels
        bint is_sparse
        int32_t* level_map
    for level in range(n_levels):
        n_known += child_of_level[level] >= 0
    is_sparse = 2 * n_known < n_levels
    if reserve_levels(buffer, 1 + (2 * n_known if is_sparse else n_levels)) < 0:
        return -1
    buffer.n_levels += 1 + (2 * n_known if is_sparse else n_levels)
    level_map = buffer.level_branch + start
    level_map[0] = <int32_t>n_known if is_sparse else DENSE_MAP
    for level in range(n_levels):
        if not is_sparse:
            level_map[1 + level] = child_of_level[level]
        elif child_of_level[level] >= 0:
            level_map[1 + n] = <int32_t>level
            level_map[1 + n_known + n] = child_of_level[level]
            n += 1
    return start


cdef void read_run_children(
    const Problem* problem, const int32_t* level_map, const Entry* entries,
    const uint32_t* ranks, int64_t column, int64_t n_present, int32_t* run_child
) noexcept nogil:
    """The child of every run, from the map that was written of the same runs."""
    cdef:
        int64_t n_pairs = level_map[0], i, run = 0
        const int32_t* children = level_map + 1
    if n_pairs != DENSE_MAP:
        memcpy(run_child, children + n_pairs, n_pairs * sizeof(int32_t))
        return
    for i in range(n_present):
        if starts_run(entries, i):
            run_child[run] = children[
                <int64_t>value_of_rank(problem, column, ranks, rank_of(entries[i]))
            ]
            run += 1
