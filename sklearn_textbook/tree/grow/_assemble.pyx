"""Reading the settings of a tree, and writing its records: those of all tasks together,
numbered breadth first, or the columns of its short form."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport (
    INT32_MAX,
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
    uint64_t,
)
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._interrupt cimport raise_failure
from sklearn_textbook.tree.grow._buffers cimport (
    Frame,
    NodeBuffer,
    copy_statistics,
    fits_twice,
)
from sklearn_textbook.tree.grow._layout cimport (
    DENSE_MAP,
    NOMINAL,
    Node,
    Surrogate,
    Term,
)
from sklearn_textbook.tree.split._column cimport midpoint
from sklearn_textbook.tree.split._types cimport Codes, Problem

from sklearn_textbook.tree.grow.layout import (
    SIDE_DTYPES,
    make_records,
    make_statistics,
)


cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FETCH_EARLY(address) __builtin_prefetch(address)
    #else
    #define FETCH_EARLY(address) ((void)(address))
    #endif
    """
    void FETCH_EARLY(const void*) noexcept nogil

cdef enum:
    FETCH_AHEAD = 12  # nodes or thresholds that are on their way from memory at a time


ctypedef fused Record:
    Surrogate
    Term


# Where a node comes from: a task's buffer, or (-1) the one above all tasks.
cdef struct Source:
    int64_t task
    int64_t node
    int32_t parent


cdef int64_t count_nodes(
    const NodeBuffer* above, const NodeBuffer* done, int64_t n_tasks
) noexcept nogil:
    """Nodes of the whole tree; a task's root stands in the buffer above too."""
    cdef int64_t total = above.n_nodes, i
    for i in range(n_tasks):
        total += done[i].n_nodes - 1
    return total


cdef void clip_statistics(
    const Problem* problem, const NodeBuffer* buffer, int64_t node, double weight,
    double* statistics
) noexcept nogil:
    """Monotonic constraints bound the value of a node."""
    cdef:
        double lower = buffer.bounds[2 * node]
        double upper = buffer.bounds[2 * node + 1]
        double value = statistics[0]
    if problem.is_classifier:
        value = statistics[1] / weight
    if lower <= value <= upper:
        return
    value = min(max(value, lower), upper)
    if problem.is_classifier:
        statistics[0] = weight * (1.0 - value)
        statistics[1] = weight * value
    else:
        statistics[0] = value


cdef int64_t copy_map(
    const Problem* problem, int32_t feature, const int32_t* level_map, int32_t* target
) noexcept nogil:
    """Copy the level map of a test; returns its length."""
    cdef int64_t length = 1 + 2 * <int64_t>level_map[0]
    if level_map[0] == DENSE_MAP:
        length = 1 + problem.n_levels[feature]
    memcpy(target, level_map, length * sizeof(int32_t))
    return length


cdef int64_t write_breadth_first(
    const Problem* problem, const NodeBuffer* above, const NodeBuffer* done,
    Node[::1] nodes, double[:, ::1] statistics, int32_t* levels, Source* queue,
    int32_t** new_number
) noexcept nogil:
    """Write the nodes, and their level maps in the same order; returns the length of
    these."""
    cdef:
        int64_t i, child, n_queued = 1, n_levels = 0, size = problem.n_statistics
        const NodeBuffer* buffer
        const int32_t* level_map
        Source source
        Node* node
    queue[0].task = -1
    queue[0].node = 0
    queue[0].parent = -1
    for i in range(nodes.shape[0]):
        if i + FETCH_AHEAD < n_queued:
            source = queue[i + FETCH_AHEAD]
            buffer = above if source.task < 0 else &done[source.task]
            # A record may begin in one line of the cache and end in the next.
            FETCH_EARLY(&buffer.nodes[source.node])
            FETCH_EARLY(&buffer.nodes[source.node].weight)
            FETCH_EARLY(buffer.statistics + source.node * size)
        source = queue[i]
        if source.task < 0 and above.task[source.node] >= 0:
            source.task = above.task[source.node]
            source.node = 0
        buffer = above if source.task < 0 else &done[source.task]
        node = &nodes[i]
        node[0] = buffer.nodes[source.node]
        node.parent = source.parent
        new_number[source.task + 1][source.node] = <int32_t>i
        if node.n_samples == 0:
            # An empty branch says what its parent says.
            copy_statistics(&statistics[i, 0], &statistics[source.parent, 0], size)
        else:
            copy_statistics(
                &statistics[i, 0], buffer.statistics + source.node * size, size
            )
            # The root may have a single class, and has no bounds.
            if buffer.bounds != NULL and i > 0:
                clip_statistics(
                    problem, buffer, source.node, node.weight, &statistics[i, 0]
                )
        if node.kind == NOMINAL:
            level_map = buffer.level_branch + node.map_start
            node.map_start = n_levels
            n_levels += copy_map(problem, node.feature, level_map, levels + n_levels)
        if node.n_children > 0:
            for child in range(node.n_children):
                queue[n_queued + child].task = source.task
                queue[n_queued + child].node = node.first_child + child
                queue[n_queued + child].parent = <int32_t>i
            node.first_child = <int32_t>n_queued
            n_queued += node.n_children
    return n_levels


cdef inline void fetch_early(const Problem* problem, const Node* node) noexcept nogil:
    """Begin to fetch the values on both sides of a threshold."""
    cdef:
        const double* values
        const double* upper_values
    if node.kind == NOMINAL or node.threshold == node.threshold:
        return
    values = problem.values + node.feature * problem.values_stride
    upper_values = problem.upper_values + node.feature * problem.values_stride
    FETCH_EARLY(upper_values + (<uint64_t>node.map_start >> 32))
    FETCH_EARLY(values + <uint32_t>node.map_start)


cdef double resolve_threshold(
    const Problem* problem, int32_t feature, int64_t pair
) noexcept nogil:
    """The midpoint between the values of two ranks."""
    cdef:
        uint64_t below = <uint64_t>pair >> 32, above = <uint32_t>pair, middle
        const double* values = problem.values + feature * problem.values_stride
        const double* upper_values = (
            problem.upper_values + feature * problem.values_stride
        )
        double threshold = midpoint(upper_values[below], values[above])
    if not problem.gain.keeps_observed:
        return threshold
    # The largest value of the table that is not above the midpoint, and that ends a
    # bin.
    while above - below > 1:
        middle = (below + above) // 2
        if upper_values[middle] - threshold < problem.gain.tolerance:
            below = middle
        else:
            above = middle
    return upper_values[below]


cdef void fetch_thresholds(const Problem* problem, Node[::1] nodes) noexcept nogil:
    """Turn the pairs of ranks that growing left behind into midpoints."""
    cdef:
        int64_t i
        Node* node
    for i in range(nodes.shape[0]):
        if i + FETCH_AHEAD < nodes.shape[0]:
            fetch_early(problem, &nodes[i + FETCH_AHEAD])
        node = &nodes[i]
        if node.kind == NOMINAL or node.threshold == node.threshold:
            continue
        node.threshold = resolve_threshold(problem, node.feature, node.map_start)
        node.map_start = -1


cdef inline int64_t list_records(
    const Record* kind, const NodeBuffer* buffer, const Record** records
) noexcept nogil:
    """Where the side records of a buffer begin; returns their number."""
    if Record is Surrogate:
        records[0] = buffer.surrogates
        return buffer.n_surrogates
    else:
        records[0] = buffer.terms
        return buffer.n_terms


cdef join_records(
    const Record* kind, const Problem* problem, const NodeBuffer* above,
    const NodeBuffer* done, int64_t n_tasks, int32_t** new_number, int32_t* levels,
    int64_t n_levels, dtype
):
    """All surrogates, by node and rank, or all terms of oblique tests, by node. Level
    maps of surrogates are written after the first ``n_levels`` entries."""
    cdef:
        Record[::1] view
        int64_t t, i, n = 0
        const NodeBuffer* buffer
        const Record* records
    for t in range(-1, n_tasks):
        n += list_records(kind, above if t < 0 else &done[t], &records)
    joined = np.empty(n, dtype=dtype)
    if n == 0:
        return joined
    view = joined
    n = 0
    for t in range(-1, n_tasks):
        buffer = above if t < 0 else &done[t]
        for i in range(list_records(kind, buffer, &records)):
            view[n] = records[i]
            view[n].node = new_number[t + 1][records[i].node]
            if Record is Surrogate:
                if records[i].map_start >= 0:
                    view[n].map_start = n_levels
                    n_levels += copy_map(
                        problem, records[i].feature,
                        buffer.level_branch + records[i].map_start, levels + n_levels
                    )
            n += 1
    return joined[np.argsort(joined["node"], kind="stable")]


cdef write_nodes(
    const Problem* problem, const NodeBuffer* above, const NodeBuffer* done,
    int64_t n_tasks, Node[::1] nodes, double[:, ::1] statistics
):
    """Fill the records and statistics; return the level maps, surrogates and terms by
    name."""
    cdef:
        int64_t t, n_numbers = 0, n_levels = 0
        Source* queue = <Source*>malloc(nodes.shape[0] * sizeof(Source))
        int32_t** new_number = <int32_t**>malloc((n_tasks + 1) * sizeof(int32_t*))
        int32_t* numbers
        int32_t[::1] view
        int32_t* levels = NULL
    for t in range(-1, n_tasks):
        n_numbers += above.n_nodes if t < 0 else done[t].n_nodes
        n_levels += above.n_levels if t < 0 else done[t].n_levels
    numbers = <int32_t*>malloc(n_numbers * sizeof(int32_t))
    try:
        if queue == NULL or new_number == NULL or numbers == NULL:
            raise MemoryError()
        level_branch = np.empty(n_levels, dtype=np.int32)
        if n_levels > 0:
            view = level_branch
            levels = &view[0]
        n_numbers = 0
        for t in range(-1, n_tasks):
            new_number[t + 1] = numbers + n_numbers
            n_numbers += above.n_nodes if t < 0 else done[t].n_nodes
        with nogil:
            n_levels = write_breadth_first(
                problem, above, done, nodes, statistics, levels, queue, new_number
            )
            fetch_thresholds(problem, nodes)
        return {
            "level_branch": level_branch,
            "surrogates": join_records(
                <const Surrogate*>NULL, problem, above, done, n_tasks, new_number,
                levels, n_levels, SIDE_DTYPES["surrogates"]
            ),
            "terms": join_records(
                <const Term*>NULL, problem, above, done, n_tasks, new_number, NULL, 0,
                SIDE_DTYPES["terms"]
            ),
        }
    finally:
        free(queue)
        free(new_number)
        free(numbers)


cdef write_tree(
    const Problem* problem, const NodeBuffer* above, const NodeBuffer* done,
    int64_t n_tasks
):
    """Make the arrays of a tree: nodes, statistics and the side tables by name."""
    cdef:
        int64_t n_nodes = count_nodes(above, done, n_tasks)
        Node[::1] nodes
        double[:, ::1] statistics
    if not fits_twice(n_nodes, problem.n_statistics):
        raise_failure(problem.interrupt)
    node_records, node_statistics = make_records(n_nodes, problem.n_statistics)
    nodes = node_records
    statistics = node_statistics
    side_tables = write_nodes(problem, above, done, n_tasks, nodes, statistics)
    return node_records, node_statistics, side_tables


# ---------------------------------------------------------- values next to thresholds
cdef void look_beside(
    const double* values, int64_t n_values, double threshold, double* low, double* high
) noexcept nogil:
    cdef int64_t first = 0, stop = n_values, middle
    while first < stop:
        middle = (first + stop) >> 1
        if values[middle] > threshold:
            stop = middle
        else:
            first = middle + 1
    low[0] = values[first - 1] if first > 0 else -INFINITY
    high[0] = values[first] if first < n_values else INFINITY


def find_values_beside(
    const int32_t[::1] feature, const double[::1] threshold,
    const double[:, ::1] values, const int64_t[::1] n_distinct, double[::1] low,
    double[::1] high,
):
    """low, high: written; the largest value of a column that is at most the threshold,
    and the smallest one above it; infinite if there is none."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(feature.shape[0]):
            look_beside(
                &values[feature[i], 0], n_distinct[feature[i]], threshold[i], &low[i],
                &high[i]
            )


include "_short_columns.pxi"


include "_settings.pxi"
