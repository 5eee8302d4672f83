"""Regression: subtrees of up to 64 rows whose thresholds lie between codes.

A tree has more nodes in them than elsewhere. Codes and y of the rows are copied once,
and a node is a stretch of a list of their numbers. Four columns are tried side by side
(``_coded_tile``). Draws, limits and records are those of larger nodes.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer, reserve_nodes
from sklearn_textbook.tree.grow._coded_tile cimport (
    MOST_CODES,
    SMALL_ROWS,
    SmallSearch,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._measure cimport finish_value
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
from sklearn_textbook.tree.split._counted cimport FETCH_EARLY
from sklearn_textbook.tree.split._listed cimport LISTED_VALUES, number_of
from sklearn_textbook.tree.split._types cimport MISSING_SURROGATE


# The rows of the subtree, and their numbers in an order that keeps nodes together.
cdef struct SmallRows:
    uint32_t[SMALL_ROWS * MOST_COLUMNS] codes  # row by row
    double[SMALL_ROWS] y
    double[SMALL_ROWS] weight
    uint8_t[SMALL_ROWS] order


# What a child holds.
cdef struct Half:
    int64_t n_rows
    double weight
    double residuals
    double squares
    double y  # of one of the rows
    bint varies
    double value
    double impurity


# ----------------------------------------------------------------------- the subtree


cdef bint is_coded_small(
    const Problem* problem, const ListedTable* table, const Frame* frame
) noexcept nogil:
    """Whether ``grow_coded_small`` serves the subtree."""
    return (
        frame.n_rows <= SMALL_ROWS
        and table.listed.kind == LISTED_VALUES
        and problem.n_columns <= MOST_COLUMNS
        and table.n_table_rows <= MOST_CODES
        and problem.missing_mode != MISSING_SURROGATE
    )


cdef void fetch_coded_small(
    const ListedTable* table, const Frame* root
) noexcept nogil:
    """Ask for the codes of a subtree, if it is of few rows."""
    cdef:
        const uint64_t* listed = table.rows + root.start
        const char* codes = <const char*>table.row_codes
        int64_t i, size = table.code_size * table.n_columns
    if root.n_rows > SMALL_ROWS:
        return
    if table.is_local:
        codes = <const char*>table.local_codes
        size = sizeof(uint32_t) * table.n_columns
    for i in range(root.n_rows):
        FETCH_EARLY(codes + number_of(listed[i]) * size)
        FETCH_EARLY(codes + (number_of(listed[i]) + 1) * size - 1)


cdef void read_rows(
    const Problem* problem, const ListedTable* table, const Frame* root, SmallRows* rows
) noexcept nogil:
    """Copy what is known of the rows of the subtree."""
    cdef:
        const uint64_t* listed = table.rows + root.start
        const double* y = table.local_y if table.is_local else table.y
        const void* codes = table.row_codes
        int64_t i, width = problem.n_columns
        int32_t size = table.code_size
    if table.is_local:
        codes = table.local_codes
        size = sizeof(uint32_t)
    for i in range(root.n_rows):
        rows.y[i] = y[number_of(listed[i])]
        rows.weight[i] = <double>(listed[i] >> 48)
        rows.order[i] = <uint8_t>i
        copy_codes(
            codes, size, number_of(listed[i]), width, rows.codes + i * width
        )


cdef void view_rows(
    const SmallRows* rows, const SmallNode* node, const Node* record, double mean,
    SmallSearch* search
) noexcept nogil:
    """Put the rows of the node side by side."""
    cdef:
        double spread = record.impurity * record.weight, total = 0.0, residual
        int64_t i, n = node.n_rows
        uint8_t row
    search.n = n
    search.order = <uint8_t*>rows.order + node.start
    search.centre = mean
    search.n_weight = record.weight
    # As in ``view_node``.
    search.margin = record.weight * (
        1e-12 * spread + 1e-15 * fabs(mean) * sqrt(record.weight * spread)
    )
    search.bound = -INFINITY
    search.column = -1
    for i in range(n):
        row = search.order[i]
        search.y[i] = rows.y[row]
        residual = rows.weight[row] * (rows.y[row] - mean)
        search.amounts[2 * i] = residual
        search.amounts[2 * i + 1] = rows.weight[row]
        total += residual
    search.total = total


# --------------------------------------------------------------------- making children


cdef inline void write_value(
    NodeBuffer* buffer, int64_t number, int32_t parent, int64_t n_rows, double weight,
    double value, double impurity
) noexcept nogil:
    write_leaf(buffer, number, parent, n_rows, weight, impurity)
    buffer.statistics[number] = value


cdef void divide_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, NodeBuffer* buffer
) noexcept nogil:
    """Divide two rows by the first column that tells them apart."""
    cdef:
        PairCut cut
        int64_t first = buffer.n_nodes
        Node* record = &buffer.nodes[node.node]
    if not find_pair_cut(problem, rows.codes, rows.order, node, &cut):
        return
    record.improvement = record.impurity
    if not is_worth(problem, record):
        return
    write_test(problem, record, cut.column, cut.map_start, 1, first)
    write_value(
        buffer, first, node.node, 1, rows.weight[cut.low], rows.y[cut.low], 0.0
    )
    write_value(
        buffer, first + 1, node.node, 1, rows.weight[cut.high], rows.y[cut.high], 0.0
    )
    buffer.n_nodes += 2


cdef inline void measure_halves(
    const SmallSearch* search, Half* halves, uint8_t* rows
) noexcept nogil:
    """What the children hold, and their rows. They are chosen by their numbers, as
    nobody could guess how many rows the first one has."""
    cdef:
        int64_t i, child
        double value, residual
        uint8_t place
        Half* half
    for child in range(2):
        half = &halves[child]
        half.n_rows = search.n - search.n_left if child else search.n_left
        half.y = search.y[search.places[search.n_left if child else 0]]
        half.weight = half.residuals = half.squares = 0.0
        half.varies = False
    for i in range(search.n):
        half = &halves[i >= search.n_left]
        place = search.places[i]
        rows[i] = search.order[place]
        value = search.y[place]
        residual = search.amounts[2 * place]
        half.residuals += residual
        half.weight += search.amounts[2 * place + 1]
        half.squares += residual * (value - search.centre)
        half.varies |= value != half.y


cdef inline void finish_half(double centre, Half* half) noexcept nogil:
    cdef:
        double[2] values
        double[2] impurities
    values[0] = half.y
    impurities[0] = 0.0
    finish_value(
        centre, half.weight, half.residuals, half.squares, &values[1], &impurities[1]
    )
    half.value = values[half.varies]
    half.impurity = impurities[half.varies]


cdef int64_t divide_node(
    const Problem* problem, SmallNode* node, const SmallSearch* search,
    NodeBuffer* buffer, Half* halves
) noexcept nogil:
    """Make the children. Returns the number of the first, or 0 if the node remains a
    leaf."""
    cdef:
        Node* record = &buffer.nodes[node.node]
        uint8_t[SMALL_ROWS] held
        int64_t child, first = buffer.n_nodes
        double decrease = record.impurity
    measure_halves(search, halves, held)
    for child in range(2):
        finish_half(search.centre, &halves[child])
        decrease -= halves[child].weight / record.weight * halves[child].impurity
    record.improvement = max(decrease, 0.0)
    if not is_worth(problem, record):
        return 0
    write_test(problem, record, search.column, search.map_start, search.n_left, first)
    for child in range(2):
        write_value(
            buffer, first + child, node.node, halves[child].n_rows,
            halves[child].weight, halves[child].value, halves[child].impurity
        )
    buffer.n_nodes += 2
    memcpy(search.order, held, search.n)
    return first


cdef int grow_coded_small(
    const Problem* problem, const ListedTable* table, Worker* worker, const Frame* root
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
    read_rows(problem, table, root, &rows)
    queue = start_queues(root, worker.active, queues)
    while queue > &queues[PAIR]:
        if queue.n_waiting == 0:
            queue -= 1
            continue
        queue.n_waiting -= 1
        node = queue.nodes[queue.n_waiting]
        view_rows(
            &rows, &node, &buffer.nodes[node.node], buffer.statistics[node.node],
            &search
        )
        try_columns(problem, rows.codes, &node, &search)
        if search.column < 0:
            continue
        first = divide_node(problem, &node, &search, buffer, halves)
        if first == 0:
            continue
        for i in range(2):
            start_child(
                &node, i, search.n_left, halves[i].n_rows, first, must_be_leaf(
                    problem, halves[i].n_rows, halves[i].weight, node.depth + 1,
                    not halves[i].varies
                ), queues
            )
    for i in range(queues[PAIR].n_waiting):
        divide_pair(problem, &rows, &queues[PAIR].nodes[i], buffer)
    return 0
