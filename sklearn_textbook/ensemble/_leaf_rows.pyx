# cython: language_level=3
"""Training rows sorted by the leaves of trees, and quantiles of the targets of those
that new rows share leaves with."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from sklearn_textbook._contract._threads cimport run_in_threads

cdef enum:
    TASK_ROWS = 64
    # Ranks whose weights are also added up together.
    GROUP_BITS = 8


def list_rows(
    const int32_t[::1] n_children, const int64_t[::1] node, const int32_t[::1] counts,
    int32_t[::1] begin, int32_t[::1] end, int32_t[::1] rows,
):
    """List the training rows of a tree, node by node.

    n_children: read; the nodes are numbered breadth first.
    node, counts: read; in which node each row ends, and how often it is listed.
    begin, end: written; rows[begin[i]:end[i]] are the rows of node i, ascending, and
        those below it. An empty node has those of its parent. end is 0 before.
    rows: written.
    """
    cdef Py_ssize_t n_nodes = n_children.shape[0], child = n_nodes, i, row
    cdef int32_t at, following, below
    with nogil:
        for row in range(node.shape[0]):
            end[node[row]] += counts[row]
        for i in range(n_nodes - 1, -1, -1):
            child -= n_children[i]
            for at in range(child, child + n_children[i]):
                end[i] += end[at]
        # Own rows come first; then those of the children, one child after the other.
        begin[0], child = 0, 1
        for i in range(n_nodes):
            below = 0
            for at in range(child, child + n_children[i]):
                below += end[at]
            following = begin[i] + end[i] - below
            for at in range(child, child + n_children[i]):
                begin[at] = following
                following += end[at]
            child += n_children[i]
            end[i] = begin[i]
        for row in range(node.shape[0]):
            i = node[row]
            for at in range(end[i], end[i] + counts[row]):
                rows[at] = <int32_t> row
            end[i] += counts[row]
        for i in range(n_nodes - 1, -1, -1):
            if n_children[i] > 0:
                end[i] = end[child - 1]
            child -= n_children[i]
        child = 1
        for i in range(n_nodes):
            for at in range(child, child + n_children[i]):
                if begin[at] == end[at]:
                    begin[at], end[at] = begin[i], end[i]
            child += n_children[i]


cdef struct Search:
    const int64_t* part_start
    const int64_t* first
    const int64_t* last
    const double* share
    const int32_t* rows
    const int32_t* rank
    const double* weight
    const double* levels
    int32_t* found
    Py_ssize_t n_rows
    Py_ssize_t n_levels
    Py_ssize_t n_ranks
    Py_ssize_t n_groups
    # of each thread, all 0 between the rows
    double* of_rank
    double* of_group


cdef inline double weigh_part(const Search* work, int64_t part) noexcept nogil:
    """The weight of the training rows of a part."""
    cdef double total = 0.0
    cdef int64_t i
    if work.weight == NULL:
        return <double> (work.last[part] - work.first[part])
    for i in range(work.first[part], work.last[part]):
        total += work.weight[work.rows[i]]
    return total


cdef int32_t find_rank(
    const Search* work, const double* of_rank, const double* of_group, double wanted
) noexcept nogil:
    """The first rank with a weight up to which the weights add up to some sum."""
    cdef Py_ssize_t group, rank
    cdef int32_t found = 0
    cdef double total = 0.0
    for group in range(work.n_groups):
        if of_group[group] == 0.0:
            continue
        if total + of_group[group] < wanted:
            total += of_group[group]
            continue
        for rank in range(
            group << GROUP_BITS,
            min(<Py_ssize_t> ((group + 1) << GROUP_BITS), work.n_ranks),
        ):
            if of_rank[rank] > 0.0:
                found = <int32_t> rank
                total += of_rank[rank]
                if total >= wanted:
                    return found
    if found == 0:
        # Rounding: the last of all.
        for rank in range(work.n_ranks):
            if of_rank[rank] > 0.0:
                found = <int32_t> rank
    return found


cdef void search_rows(void* context, int64_t task, int thread) noexcept nogil:
    """Find the quantiles of some rows."""
    cdef:
        const Search* work = <Search*> context
        double* of_rank = work.of_rank + thread * work.n_ranks
        double* of_group = work.of_group + thread * work.n_groups
        Py_ssize_t row, level
        int64_t part, i
        int32_t rank
        double unit, added, total
    for row in range(
        task * TASK_ROWS, min(<Py_ssize_t> ((task + 1) * TASK_ROWS), work.n_rows)
    ):
        total = 0.0
        for part in range(work.part_start[row], work.part_start[row + 1]):
            unit = weigh_part(work, part)
            if unit <= 0.0:
                continue
            unit = work.share[part] / unit
            total += work.share[part]
            for i in range(work.first[part], work.last[part]):
                rank = work.rank[work.rows[i]]
                added = unit
                if work.weight != NULL:
                    added *= work.weight[work.rows[i]]
                of_rank[rank] += added
                of_group[rank >> GROUP_BITS] += added
        for level in range(work.n_levels):
            # A sum that is too small by rounding is enough.
            work.found[row * work.n_levels + level] = find_rank(
                work, of_rank, of_group, (work.levels[level] - 1e-10) * total
            )
        for part in range(work.part_start[row], work.part_start[row + 1]):
            for i in range(work.first[part], work.last[part]):
                rank = work.rank[work.rows[i]]
                of_rank[rank] = 0.0
                of_group[rank >> GROUP_BITS] = 0.0


def find_quantiles(
    const int64_t[::1] part_start, const int64_t[::1] first, const int64_t[::1] last,
    const double[::1] share, const int32_t[::1] rows, const int32_t[::1] rank,
    const double[::1] weight, const double[::1] levels, Py_ssize_t n_ranks,
    int32_t[:, ::1] found, int n_threads,
):
    """Find quantiles of the targets of training rows that share leaves with new rows.

    part_start: read; the parts of new row i are part_start[i] to part_start[i + 1].
    first, last, share: read; a part is rows[first:last] of a tree, which get this share
        of the weight, in proportion to their weights.
    rows: read; training rows.
    rank, weight: read; of every training row. weight may be None: all are equal.
    levels: read; between 0 and 1.
    n_ranks: the ranks are smaller than this.
    found: written; the rank that is the quantile, for every new row and level.
    """
    cdef Search work
    work.n_rows, work.n_levels = found.shape[0], found.shape[1]
    work.n_ranks = n_ranks
    work.n_groups = (n_ranks >> GROUP_BITS) + 1
    if work.n_rows == 0 or work.n_levels == 0 or first.shape[0] == 0:
        return
    work.part_start, work.share = &part_start[0], &share[0]
    work.first, work.last = &first[0], &last[0]
    work.rows, work.rank, work.levels = &rows[0], &rank[0], &levels[0]
    work.weight = NULL
    if weight is not None:
        work.weight = &weight[0]
    work.found = &found[0, 0]
    work.of_rank = <double*> calloc(n_threads * work.n_ranks, sizeof(double))
    work.of_group = <double*> calloc(n_threads * work.n_groups, sizeof(double))
    try:
        if work.of_rank == NULL or work.of_group == NULL:
            raise MemoryError("no memory for the weights of the training rows")
        run_in_threads(
            n_threads, search_rows, &work, (work.n_rows + TASK_ROWS - 1) // TASK_ROWS
        )
    finally:
        free(work.of_rank)
        free(work.of_group)
