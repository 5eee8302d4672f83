# Rows with gradient pairs: rounding, and the leaves of those that are ignored.


cdef enum:
    BLOCK_ROWS = 8192  # that a thread takes at a time
    SUM_BITS = 62  # of the gradients
    COUNTED_BITS = 63  # of the hessians and the number of samples

ctypedef fused Real:
    float
    double

ctypedef fused SmallCode:
    uint8_t
    uint16_t


# What a thread needs to know of the rows that are made ready.
cdef struct Rounding:
    const void* gradient
    const void* hessian  # NULL: 1 for all
    int64_t n_rows
    double gradient_factor
    double hessian_factor
    int32_t count_bits
    GradientPair* pairs
    uint8_t* is_bad  # of each block


cdef void round_rows(
    const Rounding* work, const Real* gradient, const Real* hessian, int64_t first,
    int64_t stop, uint8_t* is_bad
) noexcept nogil:
    cdef:
        int64_t i
        double value, curvature = 1.0
        bint bad = False
    for i in range(first, stop):
        value = work.gradient_factor * gradient[i]
        if hessian != NULL:
            curvature = hessian[i]
        # Not a number, or out of the given range.
        if not (-4.7e18 < value < 4.7e18 and 0.0 <= curvature < 1e300):
            bad = True
            continue
        curvature *= work.hessian_factor
        work.pairs[i].gradient = <int64_t>(value + (0.5 if value > 0.0 else -0.5))
        work.pairs[i].counted = (
            <uint64_t><int64_t>(curvature + 0.5) << work.count_bits | <uint64_t>1
        )
    is_bad[0] = bad


cdef void round_block(void* context, int64_t task, int thread) noexcept nogil:
    cdef:
        const Rounding* work = <const Rounding*>context
        int64_t first = task * BLOCK_ROWS
        int64_t stop = min(first + BLOCK_ROWS, work.n_rows)
    round_rows(
        work, <const double*>work.gradient, <const double*>work.hessian, first, stop,
        &work.is_bad[task]
    )


cdef double make_factor(double largest, int64_t n_rows, int bits) noexcept nogil:
    """The power of two by which n numbers, none of them larger, are multiplied so that
    no sum of them has more bits."""
    cdef int exponent = 0
    frexp(largest * n_rows, &exponent)
    return ldexp(1.0, bits - exponent)


cdef int32_t find_branch(
    const Problem* problem, const NodeBuffer* buffer, const Node* node, int64_t code
) noexcept nogil:
    """The child of a code; -1 where the row stays in the node."""
    cdef:
        const int32_t* level_map
        int32_t level, i
    if problem.has_missing[node.feature] and code == problem.n_distinct[node.feature]:
        return node.missing_branch
    if node.kind != NOMINAL:
        # All rows with a value go to child 0 if their codes are not divided.
        return node.map_start >= 0 and problem.values[
            node.feature * problem.values_stride + code
        ] > resolve_threshold(problem, node.feature, node.map_start)
    level_map = buffer.level_branch + node.map_start
    level = <int32_t>problem.values[node.feature * problem.values_stride + code]
    if level_map[0] == DENSE_MAP:
        return level_map[1 + level]
    for i in range(1, level_map[0] + 1):
        if level_map[i] == level:
            return level_map[i + level_map[0]]
    return -1


cdef void route_row(
    const Problem* problem, const GradientList* samples, const NodeBuffer* buffer,
    const SmallCode* codes, const int32_t* number, int64_t row, int32_t* leaf_of_row
) noexcept nogil:
    """Find the leaf of a row that took no part."""
    cdef:
        int64_t node = 0
        int32_t branch
        const Node* record
    while True:
        record = &buffer.nodes[node]
        if record.n_children == 0:
            break
        branch = find_branch(
            problem, buffer, record, codes[record.feature * samples.n_rows + row]
        )
        if branch < 0:
            break
        node = record.first_child + branch
    leaf_of_row[row] = number[node]


cdef int number_nodes(const NodeBuffer* buffer, int32_t* number) noexcept nogil:
    """Number the nodes breadth first, as they are written. Returns -1 without
    memory."""
    cdef:
        int32_t* queue = <int32_t*>malloc(buffer.n_nodes * sizeof(int32_t))
        const Node* node
        int64_t i, child, n_queued = 1
    if queue == NULL:
        return -1
    queue[0] = 0
    for i in range(buffer.n_nodes):
        number[queue[i]] = <int32_t>i
        node = &buffer.nodes[queue[i]]
        for child in range(node.n_children):
            queue[n_queued] = node.first_child + <int32_t>child
            n_queued += 1
    free(queue)
    return 0


def add_leaf_values(
    const int32_t[::1] leaf_of_row, const double[::1] values, double[::1] scores
):
    """Add the value of each row's leaf to its score.

    Parameters
    ----------
    leaf_of_row : ndarray of int32, shape (n_rows,)
        Numbers of nodes.
    values : ndarray of float64, shape (n_nodes,)
        Values of the nodes.
    scores : ndarray of float64, shape (n_rows,)
        Scores, in place.
    """
    cdef int64_t i
    with nogil:
        for i in range(leaf_of_row.shape[0]):
            scores[i] += values[leaf_of_row[i]]
