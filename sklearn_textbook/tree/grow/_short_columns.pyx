"""The columns of the short form of a tree, read where it has grown.

A record of 80 bytes for every node need not be made, breadth first, only to be read by
``store_nodes`` column by column: here every node is met once, together with its sister.
What follows from the rest is compared on the way, bit by bit.
"""

import numpy as np

from libc.stdint cimport (
    INT32_MAX,
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
    uint64_t,
)
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._assemble cimport resolve_threshold
from sklearn_textbook.tree.grow._layout cimport LEAF, NOMINAL, STAY, Node


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
    FETCH_AHEAD = 24  # pairs of nodes that are on their way from memory at a time


# An inner node whose children have not been met.
cdef struct Parent:
    int64_t first_child  # in the buffer
    int64_t number
    int64_t n_samples
    double weight

# Numbers of nodes where a rule is wrong, and what is right there.
cdef struct Exceptions:
    int64_t n
    int32_t* node
    double* value

# Everything breadth first: of all nodes, of inner nodes, of leaves.
cdef struct Columns:
    int64_t n_nodes
    int64_t n_inner
    int64_t n_leaves
    int64_t size  # statistics of a node
    bint is_values
    uint8_t* n_children
    double* impurity
    double* value  # of all nodes of a regression tree
    int32_t* feature
    int32_t* missing_branch
    int32_t* kind
    double* threshold
    double* improvement
    int64_t* pair  # ranks on both sides of a threshold
    Parent* parents
    double* above  # statistics of the parents
    int64_t* n_samples
    double* weight
    double* statistics  # of the leaves of a classification tree
    Exceptions not_gini
    Exceptions not_decrease
    # What holds for all nodes so far.
    bint is_usual
    bint weight_is_rows
    bint weight_is_classes
    bint weight_adds_up
    bint statistics_add_up
    bint leaf_is_pure


cdef inline uint64_t bits_of(double number) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &number, sizeof(double))
    return bits


cdef inline bint differ(double one, double other) noexcept nogil:
    return bits_of(one) != bits_of(other)


cdef inline void note(
    Exceptions* exceptions, int64_t node, double guess, double value
) noexcept nogil:
    # Written anyway, and kept if the guess is wrong.
    exceptions.node[exceptions.n] = <int32_t>node
    exceptions.value[exceptions.n] = value
    exceptions.n += differ(guess, value)


cdef inline void meet_inner(const Node* node, Columns* columns) noexcept nogil:
    cdef:
        int64_t m = columns.n_inner
        Parent* parent = &columns.parents[m]
    parent.first_child = node.first_child
    parent.number = columns.n_nodes
    parent.n_samples = node.n_samples
    parent.weight = node.weight
    columns.feature[m] = node.feature
    columns.missing_branch[m] = node.missing_branch
    columns.kind[m] = node.kind
    columns.threshold[m] = node.threshold
    columns.improvement[m] = node.improvement
    columns.pair[m] = node.map_start
    columns.n_inner += 1
    columns.is_usual &= (
        node.n_children == 2 and node.kind != NOMINAL
        and (node.threshold != node.threshold or node.map_start == -1)
    )


cdef inline void meet_leaf(
    const Node* node, const double* statistics, Columns* columns
) noexcept nogil:
    cdef int64_t m = columns.n_leaves, k
    columns.n_samples[m] = node.n_samples
    columns.weight[m] = node.weight
    if not columns.is_values:
        for k in range(columns.size):
            columns.statistics[m * columns.size + k] = statistics[k]
    columns.n_leaves += 1
    columns.leaf_is_pure &= not differ(node.impurity, 0.0)
    columns.is_usual &= (
        node.n_children == 0 and node.feature == -2 and node.missing_branch == STAY
        and node.kind == LEAF and node.map_start == -1 and node.threshold == -2.0
        and not differ(node.improvement, 0.0)
    )


cdef inline void meet(
    const Node* node, const double* statistics, Columns* columns
) noexcept nogil:
    """Read a node, the next one breadth first."""
    cdef:
        int64_t i = columns.n_nodes, k
        double total = 0.0, squares = 0.0, share
    columns.n_children[i] = 2 * (node.n_children > 0)
    columns.impurity[i] = node.impurity
    columns.is_usual &= node.n_samples > 0
    columns.weight_is_rows &= not differ(<double>node.n_samples, node.weight)
    if columns.is_values:
        columns.value[i] = total = statistics[0]
    else:
        for k in range(columns.size):
            total += statistics[k]
            share = statistics[k] / node.weight
            squares += share * share
        note(&columns.not_gini, i, 1.0 - squares, node.impurity)
    columns.weight_is_classes &= not differ(total, node.weight)
    if node.n_children > 0:
        for k in range(columns.size):
            columns.above[columns.n_inner * columns.size + k] = statistics[k]
        meet_inner(node, columns)
    else:
        meet_leaf(node, statistics, columns)
    columns.n_nodes += 1


cdef inline void compare(
    int64_t m, const Node* pair, const double* statistics, Columns* columns
) noexcept nogil:
    """Compare an inner node with its two children."""
    cdef:
        const Parent* parent = &columns.parents[m]
        const double* above = columns.above + m * columns.size
        int64_t k, size = columns.size
        double left = columns.impurity[parent.number]
    left -= pair[0].weight / parent.weight * pair[0].impurity
    left -= pair[1].weight / parent.weight * pair[1].impurity
    note(
        &columns.not_decrease, parent.number, left if left > 0.0 else 0.0,
        columns.improvement[m]
    )
    columns.is_usual &= pair[0].n_samples + pair[1].n_samples == parent.n_samples
    columns.weight_adds_up &= not differ(
        pair[0].weight + pair[1].weight, parent.weight
    )
    for k in range(size):
        columns.statistics_add_up &= not differ(
            statistics[k] + statistics[size + k], above[k]
        )


cdef void meet_all(const NodeBuffer* buffer, Columns* columns) noexcept nogil:
    """Meet all nodes, breadth first, as long as they are of the usual kind."""
    cdef:
        int64_t m = 0, first, early, size = columns.size
        const Node* pair
    columns.is_usual = columns.weight_is_rows = columns.weight_is_classes = True
    columns.weight_adds_up = columns.statistics_add_up = True
    columns.leaf_is_pure = True
    meet(&buffer.nodes[0], buffer.statistics, columns)
    while m < columns.n_inner and columns.is_usual:
        if m + FETCH_AHEAD < columns.n_inner:
            early = columns.parents[m + FETCH_AHEAD].first_child
            # Two records lie in three lines of the cache, or in four.
            FETCH_EARLY(&buffer.nodes[early])
            FETCH_EARLY(&buffer.nodes[early].weight)
            FETCH_EARLY(&buffer.nodes[early + 1].threshold)
            FETCH_EARLY(&buffer.nodes[early + 1].weight)
            FETCH_EARLY(buffer.statistics + early * size)
        first = columns.parents[m].first_child
        pair = &buffer.nodes[first]
        compare(m, pair, buffer.statistics + first * size, columns)
        meet(pair, buffer.statistics + first * size, columns)
        meet(pair + 1, buffer.statistics + (first + 1) * size, columns)
        m += 1


cdef void fetch_thresholds(const Problem* problem, Columns* columns) noexcept nogil:
    """Turn the pairs of ranks that growing left behind into midpoints."""
    cdef:
        int64_t m, early, start
        uint64_t pair
    for m in range(columns.n_inner):
        early = m + FETCH_AHEAD
        if early < columns.n_inner and (
            columns.threshold[early] != columns.threshold[early]
        ):
            start = columns.feature[early] * problem.values_stride
            pair = <uint64_t>columns.pair[early]
            FETCH_EARLY(problem.upper_values + start + (pair >> 32))
            FETCH_EARLY(problem.values + start + <uint32_t>pair)
        if columns.threshold[m] != columns.threshold[m]:
            columns.threshold[m] = resolve_threshold(
                problem, columns.feature[m], columns.pair[m]
            )


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
    """Room for what is not kept."""
    cdef int64_t n_inner = n // 2 + 1
    columns.parents = <Parent*>malloc(n_inner * sizeof(Parent))
    columns.above = <double*>malloc(n_inner * columns.size * sizeof(double))
    columns.pair = <int64_t*>malloc(n_inner * sizeof(int64_t))
    columns.not_gini.node = <int32_t*>malloc((n + 1) * sizeof(int32_t))
    columns.not_gini.value = <double*>malloc((n + 1) * sizeof(double))
    columns.not_decrease.node = <int32_t*>malloc((n + 1) * sizeof(int32_t))
    columns.not_decrease.value = <double*>malloc((n + 1) * sizeof(double))
    if (
        columns.parents == NULL or columns.above == NULL or columns.pair == NULL
        or columns.not_gini.node == NULL or columns.not_gini.value == NULL
        or columns.not_decrease.node == NULL or columns.not_decrease.value == NULL
    ):
        return -1
    return 0


cdef void free_scratch(Columns* columns) noexcept nogil:
    free(columns.parents)
    free(columns.above)
    free(columns.pair)
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
        buffer.bounds != NULL
    ):
        return None
    cdef:
        uint8_t[::1] n_children = np.empty(n, dtype=np.uint8)
        double[::1] impurity = np.empty(n)
        double[::1] value = np.empty(n if is_values else 1)
        # One entry more for a tree of another kind, which is found out too late.
        int32_t[:, ::1] tests = np.empty((3, n_inner + 1), dtype=np.int32)
        double[::1] threshold = np.empty(n_inner + 1)
        double[::1] improvement = np.empty(n_inner + 1)
        int64_t[::1] n_samples = np.empty(n_leaves + 1, dtype=np.int64)
        double[::1] weight = np.empty(n_leaves + 1)
        double[:, ::1] statistics = np.empty((1 if is_values else n_leaves + 1, size))
    columns.n_nodes = columns.n_inner = columns.n_leaves = 0
    columns.not_gini.n = columns.not_decrease.n = 0
    columns.size = size
    columns.is_values = is_values
    columns.n_children = &n_children[0]
    columns.impurity = &impurity[0]
    columns.value = &value[0]
    columns.feature = &tests[0, 0]
    columns.missing_branch = &tests[1, 0]
    columns.kind = &tests[2, 0]
    columns.threshold = &threshold[0]
    columns.improvement = &improvement[0]
    columns.n_samples = &n_samples[0]
    columns.weight = &weight[0]
    columns.statistics = &statistics[0, 0]
    try:
        if start_scratch(&columns, n) < 0:
            raise MemoryError()
        with nogil:
            meet_all(buffer, &columns)
            if columns.is_usual:
                fetch_thresholds(problem, &columns)
        if not columns.is_usual or columns.n_nodes != n:
            return None
        return {
            "n_children": n_children.base,
            "feature": tests.base[0, :n_inner],
            "missing_branch": tests.base[1, :n_inner],
            "kind": tests.base[2, :n_inner],
            "threshold": threshold.base[:n_inner],
            "improvement": improvement.base[:n_inner],
            "impurity": impurity.base,
            "n_samples": n_samples.base[:n_leaves],
            "weight": weight.base[:n_leaves],
            "statistics": value.base if is_values else statistics.base[:n_leaves],
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
