# Nodes of a subtree of few rows that copies its codes: their columns, which are drawn
# and tried four side by side, and their records, which are those of ``_node``. A node
# takes less time than some calls into another module: all is inline.

from libc.math cimport NAN
from libc.stdint cimport (
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._buffers cimport Frame, NodeBuffer
from sklearn_textbook.tree.grow._coded_tile cimport (
    FEW_KEYS,
    LANES,
    LEAST_KEY,
    ROW_BITS,
    SMALL_ROWS,
    SmallSearch,
    Tile,
    choose_division,
    sort_tile,
    try_few,
)
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

# Nodes of about the same size wait together: processors learn what they are like.
# Leaves do not wait.
cdef enum:
    ALONE = 0
    PAIR = 1
    FEW = 2
    MANY = 3
    N_SIZES = 4

cdef struct SmallQueue:
    int64_t n_waiting
    SmallNode[SMALL_ROWS] nodes

# What all draws begin with.
cdef struct DrawTables:
    uint8_t[MOST_COLUMNS] in_order
    uint64_t[MOST_COLUMNS + 1] reciprocals

cdef DrawTables DRAW_TABLES

# Columns being drawn for a node.
cdef struct SmallDraw:
    uint8_t[MOST_COLUMNS] order
    uint64_t random_state
    int64_t place
    int64_t n_found

# How a column divides two rows.
cdef struct PairCut:
    int32_t column
    uint8_t low
    uint8_t high
    int64_t map_start

cdef inline void copy_codes(
    const void* codes, int32_t size, int64_t number, int64_t n_columns, uint32_t* target
) noexcept nogil:
    # One row of a table of codes that have so many bytes.
    cdef:
        int64_t j, first = number * n_columns
        const uint8_t* bytes = <const uint8_t*>codes + first
        const uint16_t* words = <const uint16_t*>codes + first
    if size == 1:
        for j in range(n_columns):
            target[j] = bytes[j]
    elif size == 2:
        for j in range(n_columns):
            target[j] = words[j]
    else:
        memcpy(
            target, <const uint32_t*>codes + first, n_columns * sizeof(uint32_t)
        )

cdef inline int64_t size_of(int64_t n_rows) noexcept nogil:
    return (n_rows > 1) + (n_rows > 2) + (n_rows > FEW_KEYS)

cdef inline SmallQueue* start_queues(
    const Frame* root, const int32_t* active, SmallQueue* queues
) noexcept nogil:
    # All queues are empty but for the root; returns that of the largest nodes.
    cdef:
        int64_t i
        SmallNode* node
    for i in range(N_SIZES):
        queues[i].n_waiting = 0
    i = size_of(root.n_rows)
    queues[i].n_waiting = 1
    node = &queues[i].nodes[0]
    node.start = 0
    node.n_rows = root.n_rows
    node.depth = root.depth
    node.random_state = root.random_state
    node.node = root.node
    node.active = 0
    for i in range(root.n_active):
        node.active |= <uint64_t>1 << active[i]
    return &queues[MANY]

cdef inline void start_child(
    const SmallNode* parent, int64_t child, int64_t n_left, int64_t n_rows,
    int64_t first, bint is_leaf, SmallQueue* queues
) noexcept nogil:
    # Written anyway, and kept if it is no leaf: nobody guesses which children are.
    cdef:
        SmallQueue* queue = &queues[ALONE if is_leaf else size_of(n_rows)]
        SmallNode* node = &queue.nodes[queue.n_waiting]
    node.start = parent.start + (n_left if child else 0)
    node.n_rows = n_rows
    node.depth = parent.depth + 1
    node.random_state = child_state(parent.random_state, child)
    node.active = parent.active
    node.node = <int32_t>(first + child)
    queue.n_waiting += not is_leaf

cdef inline void start_draw(const SmallNode* node, SmallDraw* draw) noexcept nogil:
    memcpy(draw.order, DRAW_TABLES.in_order, MOST_COLUMNS)
    draw.random_state = child_state(node.random_state, 7)
    draw.place = 0
    draw.n_found = 0

cdef inline int32_t draw_number(
    const Problem* problem, const SmallNode* node, SmallDraw* draw, int64_t n_waiting
) noexcept nogil:
    # The next column that is not known to be constant, or -1; n_waiting of those drawn
    # before may turn out to be. As in ``_row_list.draw_number``.
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
                &draw.random_state, n_left, DRAW_TABLES.reciprocals[n_left]
            )
            number = draw.order[j]
            draw.order[j] = draw.order[draw.place]
        draw.place += 1
        if node.active >> number & 1:
            return number
    return -1

cdef inline void try_columns(
    const Problem* problem, const uint32_t* codes, SmallNode* node, SmallSearch* search
) noexcept nogil:
    # Draw columns and try them. Codes stand row by row.
    cdef:
        SmallDraw draw
        Tile tile
        int64_t i, c, n = search.n, n_columns, lowest = max(problem.min_samples_leaf, 1)
        int32_t number
        const uint32_t* row
    start_draw(node, &draw)
    while True:
        n_columns = 0
        while n_columns < LANES:
            number = draw_number(problem, node, &draw, n_columns)
            if number < 0:
                break
            tile.number[n_columns] = number
            n_columns += 1
        if n_columns == 0:
            return
        for c in range(n_columns, LANES):
            tile.number[c] = tile.number[0]
        for i in range(n):
            row = codes + search.order[i] * problem.n_columns
            for c in range(LANES):
                tile.keys[LANES * i + c] = (
                    <int32_t>(row[tile.number[c]] << ROW_BITS) + <int32_t>i + LEAST_KEY
                )
        tile.n_columns = n_columns
        if n <= FEW_KEYS:
            try_few(&tile, lowest, search)
        else:
            sort_tile(&tile, n)
            choose_division(&tile, lowest, search)
        for c in range(n_columns):
            if tile.keys[c] >> ROW_BITS == tile.keys[LANES * (n - 1) + c] >> ROW_BITS:
                node.active &= ~(<uint64_t>1 << tile.number[c])
            else:
                draw.n_found += 1

cdef inline bint find_pair_cut(
    const Problem* problem, const uint32_t* codes, const uint8_t* order,
    const SmallNode* node, PairCut* cut
) noexcept nogil:
    # Find the first column that tells the two rows of a node apart; False if none does.
    cdef:
        SmallDraw draw
        uint8_t low = order[node.start], high = order[node.start + 1]
        uint32_t below = 0, above = 0
        int32_t number
    start_draw(node, &draw)
    while below == above:
        number = draw_number(problem, node, &draw, 0)
        if number < 0:
            return False
        below = codes[low * problem.n_columns + number]
        above = codes[high * problem.n_columns + number]
    if below > above:
        low, high = high, low
        below, above = above, below
    cut.column = number
    cut.low = low
    cut.high = high
    cut.map_start = <int64_t>(<uint64_t>below << 32 | above)
    return True

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
