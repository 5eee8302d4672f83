"""Two classes: subtrees of up to 64 rows.

A tree has more nodes in them than elsewhere. Codes and counts of the rows are copied
once, and a node is a stretch of a list of their numbers. Four columns are tried side by
side, as those of regression are (``_coded_tile``): there sums of residuals, here those
of the second class. Draws, limits and records are those of larger nodes.
"""

from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer, reserve_nodes
from sklearn_textbook.tree.grow._coded_tile cimport (
    MOST_CODES,
    SMALL_ROWS,
    SmallSearch,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.grow._small_nodes cimport (
    MOST_COLUMNS,
    N_SIZES,
    PAIR,
    PairCut,
    SmallNode,
    SmallQueue,
    copy_codes,
    find_pair_cut,
    is_worth,
    start_child,
    start_queues,
    try_columns,
    write_leaf,
    write_test,
)
from sklearn_textbook.tree.split._counted cimport (
    counts_of,
    number_of,
    ones_in,
    rows_in,
    weight_in,
)
from sklearn_textbook.tree.split._types cimport MISSING_SURROGATE


cdef enum:
    # Two scores d^2 / (k (n - k)) in a node of weight n are equal, or differ by
    # 16 / n^4 or more. Up to this weight that is more than twice the margin, so that
    # candidates are told apart however their scores are rounded.
    MOST_WEIGHT = 160

cdef double[MOST_WEIGHT + 1] NOISE  # of scores, see ``rounding_noise``

# The rows of the subtree, and their numbers in an order that keeps nodes together.
cdef struct SmallRows:
    uint32_t[SMALL_ROWS * MOST_COLUMNS] codes  # row by row
    uint64_t[SMALL_ROWS] counts
    uint8_t[SMALL_ROWS] order

# What a child holds.
cdef struct Half:
    int64_t n_rows
    double weight
    double zeros
    double ones
    double impurity
    bint is_pure

# ----------------------------------------------------------------------- the subtree


cdef bint is_row_small(
    const Problem* problem, const RowList* row_list, const Worker* worker,
    const Frame* frame
) noexcept nogil:
    """Whether ``grow_row_small`` serves the subtree."""
    return (
        frame.n_rows <= SMALL_ROWS
        and worker.buffer.nodes[frame.node].weight <= MOST_WEIGHT
        and problem.n_columns <= MOST_COLUMNS
        and row_list.table.n_rows <= MOST_CODES
        and problem.missing_mode != MISSING_SURROGATE
    )


cdef void read_rows(
    const Problem* problem, const RowList* row_list, const Frame* root, SmallRows* rows
) noexcept nogil:
    """Copy what is known of the rows of the subtree."""
    cdef:
        const uint64_t* listed = row_list.rows + root.start
        const void* codes = row_list.table.row_codes
        int64_t i, width = problem.n_columns
        int32_t size = row_list.table.code_size
    if row_list.is_local:
        codes = row_list.local_codes
        if size == 1:
            codes = row_list.local_bins
    for i in range(root.n_rows):
        rows.counts[i] = counts_of(listed[i])
        rows.order[i] = <uint8_t>i
        copy_codes(
            codes, size, number_of(listed[i]), width, rows.codes + i * width
        )


cdef void view_rows(
    const SmallRows* rows, const SmallNode* node, const Node* record, double ones,
    SmallSearch* search
) noexcept nogil:
    """Put the rows of the node side by side."""
    cdef:
        int64_t i, n = node.n_rows
        uint64_t counts
    search.n = n
    search.order = <uint8_t*>rows.order + node.start
    search.n_weight = record.weight
    search.total = ones
    search.margin = 0.5 * record.weight * (
        1e-12 * (record.impurity * record.weight) + NOISE[<int64_t>record.weight]
    )
    search.bound = -INFINITY
    search.column = -1
    for i in range(n):
        counts = rows.counts[search.order[i]]
        search.amounts[2 * i] = <double>ones_in(counts)
        search.amounts[2 * i + 1] = <double>weight_in(counts)


# --------------------------------------------------------------------- making children


cdef inline void measure_half(uint64_t counts, Half* half) noexcept nogil:
    """What a child holds; its Gini impurity as in ``class_impurity``."""
    cdef double zero_share, one_share
    half.n_rows = rows_in(counts)
    half.weight = <double>weight_in(counts)
    half.ones = <double>ones_in(counts)
    half.zeros = half.weight - half.ones
    half.is_pure = half.zeros == 0.0 or half.ones == 0.0
    half.impurity = 0.0
    if not half.is_pure:
        zero_share = half.zeros / half.weight
        one_share = half.ones / half.weight
        half.impurity = 1.0 - (zero_share * zero_share + one_share * one_share)


cdef inline void write_half(
    NodeBuffer* buffer, int64_t number, int32_t parent, const Half* half
) noexcept nogil:
    write_leaf(buffer, number, parent, half.n_rows, half.weight, half.impurity)
    buffer.statistics[2 * number] = half.zeros
    buffer.statistics[2 * number + 1] = half.ones


cdef void divide_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, NodeBuffer* buffer
) noexcept nogil:
    """Divide two rows by the first column that tells them apart."""
    cdef:
        PairCut cut
        Half half
        int64_t first = buffer.n_nodes
        Node* record = &buffer.nodes[node.node]
    if not find_pair_cut(problem, rows.codes, rows.order, node, &cut):
        return
    record.improvement = record.impurity
    if not is_worth(problem, record):
        return
    write_test(problem, record, cut.column, cut.map_start, 1, first)
    measure_half(rows.counts[cut.low], &half)
    write_half(buffer, first, node.node, &half)
    measure_half(rows.counts[cut.high], &half)
    write_half(buffer, first + 1, node.node, &half)
    buffer.n_nodes += 2


cdef bint divide_node(
    const Problem* problem, const SmallRows* rows, SmallNode* node,
    const SmallSearch* search, NodeBuffer* buffer, Half* halves
) noexcept nogil:
    """Make the children; False if the node remains a leaf."""
    cdef:
        Node* record = &buffer.nodes[node.node]
        uint8_t[SMALL_ROWS] held
        uint64_t counts = 0, all_counts = 0
        int64_t i, first = buffer.n_nodes
        double decrease = record.impurity
    for i in range(search.n):
        held[i] = search.order[search.places[i]]
        if i == search.n_left:
            counts = all_counts
        all_counts += rows.counts[held[i]]
    measure_half(counts, &halves[0])
    measure_half(all_counts - counts, &halves[1])
    for i in range(2):
        decrease -= halves[i].weight / record.weight * halves[i].impurity
    record.improvement = max(decrease, 0.0)
    if not is_worth(problem, record):
        return False
    write_test(problem, record, search.column, search.map_start, search.n_left, first)
    write_half(buffer, first, node.node, &halves[0])
    write_half(buffer, first + 1, node.node, &halves[1])
    buffer.n_nodes += 2
    memcpy(search.order, held, search.n)
    return True


cdef int grow_row_small(
    const Problem* problem, const RowList* row_list, Worker* worker, const Frame* root
) noexcept nogil:
    """Grow a subtree of few rows. Returns -1 when memory runs out."""
    cdef:
        SmallQueue[N_SIZES] queues
        SmallQueue* queue
        SmallNode node
        SmallRows rows
        SmallSearch search
        Half[2] halves
        NodeBuffer* buffer = &worker.buffer
        int64_t i, first
    if reserve_nodes(buffer, 2 * root.n_rows) < 0:
        return -1
    read_rows(problem, row_list, root, &rows)
    queue = start_queues(root, worker.active, queues)
    while queue > &queues[PAIR]:
        if queue.n_waiting == 0:
            queue -= 1
            continue
        queue.n_waiting -= 1
        node = queue.nodes[queue.n_waiting]
        view_rows(
            &rows, &node, &buffer.nodes[node.node],
            buffer.statistics[2 * node.node + 1], &search
        )
        try_columns(problem, rows.codes, &node, &search)
        first = buffer.n_nodes
        if search.column < 0 or not divide_node(
            problem, &rows, &node, &search, buffer, halves
        ):
            continue
        for i in range(2):
            start_child(
                &node, i, search.n_left, halves[i].n_rows, first, must_be_leaf(
                    problem, halves[i].n_rows, halves[i].weight, node.depth + 1,
                    halves[i].is_pure
                ), queues
            )
    for i in range(queues[PAIR].n_waiting):
        divide_pair(problem, &rows, &queues[PAIR].nodes[i], buffer)
    return 0


# -------------------------------------------------------------------------- the table


for place in range(1, MOST_WEIGHT + 1):
    NOISE[place] = 1e-15 * place * (1.0 + log2(place))
