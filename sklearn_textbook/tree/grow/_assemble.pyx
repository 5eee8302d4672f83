"""Writing the records of a tree: those of all tasks together, numbered breadth first,
or the columns of its short form.

While a tree grows, records are appended to the buffer of the thread that makes them:
``above`` has the root and all nodes split one by one, ``done`` a buffer per task. Where
above.task[i] >= 0, node i is the root of that task's subtree, and its record is the
first one of the task's buffer.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from sklearn_textbook._contract._interrupt cimport raise_failure
from sklearn_textbook.tree.grow._buffers cimport NodeBuffer, copy_statistics, fits_twice
from sklearn_textbook.tree.grow._layout cimport (
    DENSE_MAP,
    NOMINAL,
    Node,
    Surrogate,
    Term,
)
from sklearn_textbook.tree.split._column cimport midpoint
from sklearn_textbook.tree.split._types cimport Problem

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
        # The node was put aside: go on with the subtree of the task.
        if source.task < 0 and above.task[source.node] >= 0:
            source.task = above.task[source.node]
            source.node = 0
        buffer = above if source.task < 0 else &done[source.task]
        node = &nodes[i]
        node[0] = buffer.nodes[source.node]
        node.parent = source.parent
        # By buffer, for the records of surrogates and terms.
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
        # A threshold that is not a number is still to be found, from the ranks in
        # map_start.
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
    # Counted first, as the array cannot grow.
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
            # Numbers of nodes and of maps are those of the whole tree from here on.
            view[n].node = new_number[t + 1][records[i].node]
            if Record is Surrogate:
                if records[i].map_start >= 0:
                    view[n].map_start = n_levels
                    n_levels += copy_map(
                        problem, records[i].feature,
                        buffer.level_branch + records[i].map_start, levels + n_levels
                    )
            n += 1
    # Stable: records of a node stay in their order, which is that of their ranks.
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
    """The largest value up to the threshold and the smallest above it, by bisection."""
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


# ------------------------------------------------------------------------------------
# The columns of the short form of a tree, read where it has grown.
#
# Records need not be made, breadth first, only to be read by ``store_nodes`` column by
# column. Here they are read once, in the order in which they were made, and each number
# goes where it belongs; what follows from the rest is then compared, bit by bit.
# ------------------------------------------------------------------------------------


# Where a node stands, breadth first.
cdef struct Place:
    int32_t number
    int32_t inner  # inner nodes before it; for a leaf, as many as there are

# What is kept of a node, and of its test. Side by side, as all of one depth are written
# by turns: a column of its own for each would be one page each.
cdef struct Measures:
    double impurity
    double weight
    double value  # regression
    int32_t n_samples
    int32_t n_children

cdef struct Test:
    int32_t feature
    int32_t missing_branch
    int32_t kind
    int32_t number  # of the node
    double threshold
    double improvement
    int64_t pair  # ranks on both sides of a threshold

# Numbers of nodes where a rule is wrong, and what is right there.
cdef struct Exceptions:
    int64_t n
    int32_t* node
    double* value

# Everything breadth first: of all nodes, of inner nodes, of leaves.
cdef struct Columns:
    int64_t n_nodes
    int64_t size  # statistics of a node
    bint is_values
    uint8_t* n_children
    double* impurity
    double* statistics
    int32_t* feature
    int32_t* missing_branch
    int32_t* kind
    double* threshold
    double* improvement
    double* inner_impurity
    int64_t* leaf_samples
    double* leaf_weight
    double* leaf_statistics  # classes
    Measures* measures
    Test* tests
    # In the order of the buffer.
    int32_t* first_child
    int32_t* order  # the node with a number
    Place* places
    Exceptions not_gini
    Exceptions not_decrease
    # What holds for all nodes.
    bint is_usual
    bint weight_is_rows
    bint weight_is_classes
    bint weight_adds_up
    bint statistics_add_up
    bint leaf_is_pure


cdef inline uint64_t bits_of(double number) noexcept nogil:
    # Numbers are compared by their bits: 0.0 is not -0.0, and NaN is itself.
    cdef uint64_t bits
    memcpy(&bits, &number, sizeof(double))
    return bits


cdef inline bint differ(double one, double other) noexcept nogil:
    return bits_of(one) != bits_of(other)


cdef inline void note(
    Exceptions* exceptions, int64_t node, double guess, double value
) noexcept nogil:
    """Note a node for which a rule does not give the value that it has."""
    if differ(guess, value):
        exceptions.node[exceptions.n] = <int32_t>node
        exceptions.value[exceptions.n] = value
        exceptions.n += 1


cdef bint find_places(const NodeBuffer* buffer, Columns* columns) noexcept nogil:
    """Number the nodes; whether all tests are two-way."""
    cdef:
        int64_t i, n_met = 1, n = columns.n_nodes, n_inner = 0
        int32_t first
        int32_t* order = columns.order
        Place* place
        bint is_two_way = True
    # A two-way tree needs no more than the first child of every node.
    for i in range(n):
        columns.first_child[i] = buffer.nodes[i].first_child
        is_two_way &= (
            buffer.nodes[i].n_children == 2 * (buffer.nodes[i].first_child >= 0)
        )
    if not is_two_way:
        return False
    order[0] = 0
    for i in range(n):
        place = &columns.places[order[i]]
        first = columns.first_child[order[i]]
        place.number = <int32_t>i
        place.inner = <int32_t>(n_inner if first >= 0 else n // 2)
        # Always written, and kept if there are children, to avoid a branch.
        order[n_met] = first
        order[n_met + 1] = first + 1
        n_met += 2 * (first >= 0)
        n_inner += first >= 0
    return True


cdef void meet_nodes(const NodeBuffer* buffer, Columns* columns) noexcept nogil:
    """Put what the records hold where it belongs. Nodes that follow each other in the
    buffer follow each other at their depth, too."""
    cdef:
        int64_t i, number, size = columns.size
        const Node* node
        Measures* measures
        Test* test
        bint is_usual = True
    for i in range(columns.n_nodes):
        node = &buffer.nodes[i]
        number = columns.places[i].number
        measures = &columns.measures[number]
        measures.impurity = node.impurity
        measures.weight = node.weight
        measures.value = buffer.statistics[i * size]
        measures.n_samples = <int32_t>node.n_samples
        measures.n_children = node.n_children
        if not columns.is_values:
            copy_statistics(
                columns.statistics + number * size, buffer.statistics + i * size, size
            )
        # Also written for leaves, after those of inner nodes, to avoid a branch.
        test = &columns.tests[columns.places[i].inner]
        test.feature = node.feature
        test.missing_branch = node.missing_branch
        test.kind = node.kind
        test.number = <int32_t>number
        test.threshold = node.threshold
        test.improvement = node.improvement
        test.pair = node.map_start
        # Leaves are as ``_node`` has made them.
        is_usual &= (
            (node.n_samples > 0) & (node.kind != NOMINAL) & (
                (node.threshold != node.threshold) | (node.map_start == -1)
            )
        )
    columns.is_usual &= is_usual


cdef void try_decrease(Columns* columns) noexcept nogil:
    """Compare improvements with the decrease of the impurity, and weights and rows with
    those of the children."""
    cdef:
        int64_t m
        const Measures* above
        const Measures* pair
        const Test* test
        double left
        bint rows_add_up = True, weight_adds_up = True
    # Inner node m, breadth first, has the children 2 m + 1 and 2 m + 2.
    for m in range(columns.n_nodes // 2):
        test = &columns.tests[m]
        pair = &columns.measures[2 * m + 1]
        above = &columns.measures[test.number]
        left = above.impurity - pair[0].weight / above.weight * pair[0].impurity
        left -= pair[1].weight / above.weight * pair[1].impurity
        note(
            &columns.not_decrease, test.number, left if left > 0.0 else 0.0,
            test.improvement
        )
        rows_add_up &= pair[0].n_samples + pair[1].n_samples == above.n_samples
        weight_adds_up &= pair[0].weight + pair[1].weight == above.weight
    columns.is_usual &= rows_add_up
    columns.weight_adds_up = weight_adds_up


cdef bint add_up(const Columns* columns) noexcept nogil:
    """Whether the statistics of every inner node are the sums of its children's."""
    cdef:
        int64_t number = 0, k, size = columns.size
        const double* pair = columns.statistics + size
        bint is_same = True
    # ``pair`` is the first child of the next inner node, as in ``try_decrease``.
    while number < columns.n_nodes and is_same:
        if columns.n_children[number] > 0:
            for k in range(size):
                is_same = is_same and not differ(
                    pair[k] + pair[size + k], columns.statistics[number * size + k]
                )
            pair += 2 * size
        number += 1
    return is_same


cdef bint is_number_of_rows(const Columns* columns) noexcept nogil:
    """Whether the weight of every node is the number of its rows."""
    cdef int64_t i = 0, n = columns.n_nodes
    while i < n and (
        columns.measures[i].weight == <double>columns.measures[i].n_samples
    ):
        i += 1
    return i == n


cdef bint is_sum_of_classes(const Columns* columns) noexcept nogil:
    """Whether the weight of every node is the sum of its statistics."""
    cdef:
        int64_t number = 0, k, size = columns.size
        double total
        bint is_same = True
    while number < columns.n_nodes and is_same:
        total = 0.0
        for k in range(size):
            total += columns.statistics[number * size + k]
        is_same = total == columns.measures[number].weight
        number += 1
    return is_same


cdef void try_gini(Columns* columns) noexcept nogil:
    """Compare impurities with the Gini impurity."""
    cdef:
        int64_t number, k, size = columns.size
        double squares, fraction, weight
    for number in range(columns.n_nodes):
        weight = columns.measures[number].weight
        squares = 0.0
        for k in range(size):
            fraction = columns.statistics[number * size + k] / weight
            squares += fraction * fraction
        note(
            &columns.not_gini, number, 1.0 - squares,
            columns.measures[number].impurity
        )


cdef void write_measures(Columns* columns) noexcept nogil:
    """Write the columns of all nodes, and of leaves."""
    cdef:
        int64_t number, m = 0, size = columns.size
        const Measures* measures
        bint is_pure = True
    # ``m`` leaves were met so far, and number - m inner nodes.
    for number in range(columns.n_nodes):
        measures = &columns.measures[number]
        columns.n_children[number] = <uint8_t>measures.n_children
        columns.impurity[number] = measures.impurity
        # Written anyway, and kept where it belongs.
        columns.inner_impurity[number - m] = measures.impurity
        columns.leaf_samples[m] = measures.n_samples
        columns.leaf_weight[m] = measures.weight
        if columns.is_values:
            columns.statistics[number] = measures.value
        else:
            copy_statistics(
                columns.leaf_statistics + m * size,
                columns.statistics + number * size, size
            )
        is_pure &= (measures.n_children > 0) | (
            not differ(measures.impurity, 0.0)
        )
        m += measures.n_children == 0
    columns.leaf_is_pure = is_pure


cdef void write_tests(const Problem* problem, Columns* columns) noexcept nogil:
    """Write the columns of inner nodes, with midpoints in place of the pairs of ranks
    that growing left behind."""
    cdef:
        int64_t m, start, n_inner = columns.n_nodes // 2
        const Test* test
        const Test* early
    for m in range(n_inner):
        # Values beside a threshold lie anywhere in the table.
        early = &columns.tests[m + FETCH_AHEAD]
        if m + FETCH_AHEAD < n_inner and early.threshold != early.threshold:
            start = early.feature * problem.values_stride
            FETCH_EARLY(problem.upper_values + start + (<uint64_t>early.pair >> 32))
            FETCH_EARLY(problem.values + start + <uint32_t>early.pair)
        test = &columns.tests[m]
        columns.feature[m] = test.feature
        columns.missing_branch[m] = test.missing_branch
        columns.kind[m] = test.kind
        columns.improvement[m] = test.improvement
        columns.threshold[m] = test.threshold
        if test.threshold != test.threshold:
            columns.threshold[m] = resolve_threshold(problem, test.feature, test.pair)


cdef void read_columns(
    const Problem* problem, const NodeBuffer* buffer, Columns* columns
) noexcept nogil:
    """Fill the columns, as long as the tree is of the usual kind."""
    columns.is_usual = find_places(buffer, columns)
    if not columns.is_usual:
        return
    meet_nodes(buffer, columns)
    if not columns.is_usual:
        return
    write_measures(columns)
    columns.weight_is_rows = is_number_of_rows(columns)
    columns.weight_is_classes = is_sum_of_classes(columns)
    columns.statistics_add_up = add_up(columns)
    try_decrease(columns)
    if not columns.is_values:
        try_gini(columns)
    write_tests(problem, columns)


cdef list_exceptions(const Exceptions* exceptions):
    """Numbers of the nodes, and what is right there."""
    cdef:
        int32_t[::1] node = np.empty(exceptions.n, dtype=np.int32)
        double[::1] value = np.empty(exceptions.n)
    if exceptions.n > 0:
        memcpy(&node[0], exceptions.node, exceptions.n * sizeof(int32_t))
        memcpy(&value[0], exceptions.value, exceptions.n * sizeof(double))
    return node.base, value.base


cdef int start_scratch(Columns* columns, int64_t n) noexcept nogil:
    """Allocate what is not kept."""
    columns.measures = <Measures*>malloc(n * sizeof(Measures))
    columns.tests = <Test*>malloc((n // 2 + FETCH_AHEAD) * sizeof(Test))
    columns.first_child = <int32_t*>malloc(n * sizeof(int32_t))
    columns.order = <int32_t*>malloc((n + 2) * sizeof(int32_t))
    columns.places = <Place*>malloc(n * sizeof(Place))
    columns.not_gini.node = <int32_t*>malloc((n + 1) * sizeof(int32_t))
    columns.not_gini.value = <double*>malloc((n + 1) * sizeof(double))
    columns.not_decrease.node = <int32_t*>malloc((n + 1) * sizeof(int32_t))
    columns.not_decrease.value = <double*>malloc((n + 1) * sizeof(double))
    if (
        columns.measures == NULL or columns.tests == NULL
        or columns.first_child == NULL or columns.order == NULL
        or columns.places == NULL
        or columns.not_gini.node == NULL or columns.not_gini.value == NULL
        or columns.not_decrease.node == NULL or columns.not_decrease.value == NULL
    ):
        return -1
    return 0


cdef void free_scratch(Columns* columns) noexcept nogil:
    """Free what ``start_scratch`` allocates, also if it failed."""
    free(columns.measures)
    free(columns.tests)
    free(columns.first_child)
    free(columns.order)
    free(columns.places)
    free(columns.not_gini.node)
    free(columns.not_gini.value)
    free(columns.not_decrease.node)
    free(columns.not_decrease.value)


cdef read_short_columns(const Problem* problem, const NodeBuffer* buffer):
    """Read the columns of a tree of one output and two-way numeric tests.

    Returns what ``store_columns`` takes, or None if this is another kind of tree.
    """
    cdef:
        Columns columns
        int64_t n = buffer.n_nodes, size = problem.n_statistics
        int64_t n_inner = n // 2, n_leaves = n - n_inner
        bint is_values = not problem.is_classifier
    if n % 2 == 0 or n < 3 or n >= INT32_MAX or problem.n_outputs != 1 or (
        buffer.bounds != NULL or buffer.n_terms > 0
    ):
        return None
    cdef:
        uint8_t[::1] n_children = np.empty(n, dtype=np.uint8)
        double[::1] impurity = np.empty(n)
        double[:, ::1] statistics = make_statistics(n, size)
        int32_t[:, ::1] tests = np.empty((3, n_inner), dtype=np.int32)
        double[::1] threshold = np.empty(n_inner)
        double[::1] improvement = np.empty(n_inner)
        # One more, which is written and not kept.
        double[::1] inner_impurity = np.empty(n_inner + 1)
        int64_t[::1] leaf_samples = np.empty(n_leaves + 1, dtype=np.int64)
        double[::1] leaf_weight = np.empty(n_leaves + 1)
        double[:, ::1] leaves = make_statistics(1 if is_values else n_leaves + 1, size)
    columns.n_nodes = n
    columns.not_gini.n = columns.not_decrease.n = 0
    columns.size = size
    columns.is_values = is_values
    columns.n_children = &n_children[0]
    columns.impurity = &impurity[0]
    columns.statistics = &statistics[0, 0]
    columns.feature = &tests[0, 0]
    columns.missing_branch = &tests[1, 0]
    columns.kind = &tests[2, 0]
    columns.threshold = &threshold[0]
    columns.improvement = &improvement[0]
    columns.inner_impurity = &inner_impurity[0]
    columns.leaf_samples = &leaf_samples[0]
    columns.leaf_weight = &leaf_weight[0]
    columns.leaf_statistics = &leaves[0, 0]
    try:
        if start_scratch(&columns, n) < 0:
            raise MemoryError()
        with nogil:
            read_columns(problem, buffer, &columns)
        if not columns.is_usual:
            return None
        return {
            "n_children": n_children.base,
            "feature": tests.base[0],
            "missing_branch": tests.base[1],
            "kind": tests.base[2],
            "threshold": threshold.base,
            "improvement": improvement.base,
            "impurity": impurity.base,
            "inner_impurity": inner_impurity.base[:n_inner],
            "n_samples": leaf_samples.base[:n_leaves],
            "weight": leaf_weight.base[:n_leaves],
            "statistics": statistics.base if is_values else leaves.base[:n_leaves],
            "not_gini": list_exceptions(&columns.not_gini),
            "not_decrease": list_exceptions(&columns.not_decrease),
            "weight_is": {
                "n_samples": bool(columns.weight_is_rows),
                "statistics": bool(columns.weight_is_classes),
            },
            "weight_adds_up": bool(columns.weight_adds_up),
            "statistics_add_up": bool(columns.statistics_add_up),
            "leaf_is_pure": bool(columns.leaf_is_pure),
        }
    finally:
        free_scratch(&columns)
