# Nodes of a subtree of few rows: the drawing of their columns, and their records.
# Draws are those of ``_row_list.draw_number``, records those of ``_node``.

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer
from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, LEAF, STAY, Node
from sklearn_textbook.tree.split._random cimport child_state, random_below_known
from sklearn_textbook.tree.split._types cimport (
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    Problem,
)

cdef enum:
    MOST_COLUMNS = 64  # a bit for each

# A node that waits to be divided.
cdef struct SmallNode:
    int64_t start
    int64_t n_rows
    int64_t depth
    uint64_t random_state
    uint64_t active  # a bit for every column that is not known to be constant
    int32_t node

# What all draws begin with.
cdef struct DrawTables:
    uint8_t[MOST_COLUMNS] in_order
    uint64_t[MOST_COLUMNS + 1] reciprocals

cdef struct SmallDraw:
    uint8_t[MOST_COLUMNS] order
    uint64_t random_state
    int64_t place
    int64_t n_found

cdef inline void start_draw(
    const DrawTables* tables, const SmallNode* node, SmallDraw* draw
) noexcept nogil:
    memcpy(draw.order, tables.in_order, MOST_COLUMNS)
    draw.random_state = child_state(node.random_state, 7)
    draw.place = 0
    draw.n_found = 0

cdef inline int32_t draw_number(
    const Problem* problem, const DrawTables* tables, const SmallNode* node,
    SmallDraw* draw, int64_t n_waiting
) noexcept nogil:
    # The next column that is not known to be constant, or -1; n_waiting of those drawn
    # before may turn out to be.
    cdef:
        int64_t j, n_left
        int32_t number
    while draw.place < problem.n_columns:
        number = draw.order[draw.place]
        if problem.shuffle_columns:
            if draw.place >= problem.max_features and draw.n_found + n_waiting > 0:
                return -1
            n_left = problem.n_columns - draw.place
            j = draw.place + random_below_known(
                &draw.random_state, n_left, tables.reciprocals[n_left]
            )
            number = draw.order[j]
            draw.order[j] = draw.order[draw.place]
        draw.place += 1
        if node.active >> number & 1:
            return number
    return -1

cdef inline Node* write_leaf(
    NodeBuffer* buffer, int64_t number, int32_t parent, int64_t n_rows, double weight,
    double impurity
) noexcept nogil:
    cdef Node* node = &buffer.nodes[number]
    node.first_child = -1
    node.n_children = 0
    node.feature = -2
    node.missing_branch = STAY
    node.kind = LEAF
    node.parent = parent
    node.map_start = -1
    node.threshold = -2.0
    node.improvement = 0.0
    node.n_samples = n_rows
    node.weight = weight
    node.impurity = impurity
    buffer.task[number] = -1
    return node

cdef inline void write_test(
    const Problem* problem, Node* node, int32_t column, int64_t map_start,
    int64_t n_left, int64_t first
) noexcept nogil:
    node.first_child = <int32_t>first
    node.n_children = 2
    node.feature = column
    node.kind = problem.kind[column]
    # As in ``branch_for_missing``.
    if problem.missing_mode == MISSING_FRACTIONAL:
        node.missing_branch = FRACTIONAL
    elif problem.missing_mode == MISSING_LEARNED:
        node.missing_branch = node.n_samples - n_left >= n_left
    else:
        node.missing_branch = problem.unseen_branch
    node.threshold = NAN
    node.map_start = map_start

cdef inline bint is_worth(const Problem* problem, Node* node) noexcept nogil:
    # Whether the improvement is as large as is asked for.
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        node.improvement = 0.0
        return False
    return True
