"""Regression: subtrees of up to 64 rows whose thresholds lie between codes.

A tree has more nodes in them than elsewhere. Codes and y of the rows are copied once,
and a node is a stretch of a list of their numbers. Four columns are tried side by side
(``_coded_tile``). Draws, limits and records are those of larger nodes.
"""

from libc.math cimport NAN, sqrt, fabs, INFINITY
from libc.stdint cimport (
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer, reserve_nodes
from sklearn_textbook.tree.grow._coded_tile cimport (
    LANES,
    LEAST_KEY,
    MOST_CODES,
    ROW_BITS,
    SMALL_ROWS,
    SmallSearch,
    Tile,
    choose_division,
    sort_tile,
)
from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, LEAF, STAY, Node
from sklearn_textbook.tree.grow._measure cimport Children, finish_value
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.split._counted cimport FETCH_EARLY
from sklearn_textbook.tree.split._listed cimport LISTED_VALUES, number_of
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below_known,
    reciprocal_of,
)
from sklearn_textbook.tree.split._types cimport (
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    MISSING_SURROGATE,
)


cdef enum:
    MOST_COLUMNS = 64  # a bit for each

cdef uint8_t[MOST_COLUMNS] IN_ORDER
cdef uint64_t[MOST_COLUMNS + 1] RECIPROCALS

# A node that waits to be divided.
cdef struct SmallNode:
    int64_t start
    int64_t n_rows
    int64_t depth
    uint64_t random_state
    uint64_t active  # a bit for every column that is not known to be constant
    int32_t node

# The rows of the subtree, and their numbers in an order that keeps nodes together.
cdef struct SmallRows:
    uint32_t[SMALL_ROWS * MOST_COLUMNS] codes  # row by row
    double[SMALL_ROWS] y
    double[SMALL_ROWS] weight
    uint8_t[SMALL_ROWS] order

# Draws of columns, as in ``draw_number``.
cdef struct SmallDraw:
    uint8_t[MOST_COLUMNS] order
    uint64_t random_state
    int64_t place
    int64_t n_found

ctypedef fused Rank:
    uint8_t
    uint16_t
    uint32_t


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


cdef void copy_codes(
    const uint64_t* listed, int64_t n, const Rank* codes, int64_t n_columns,
    uint32_t* target
) noexcept nogil:
    cdef:
        int64_t i, j
        const Rank* row
    for i in range(n):
        row = codes + number_of(listed[i]) * n_columns
        if Rank is uint32_t:
            memcpy(target + i * n_columns, row, n_columns * sizeof(Rank))
        else:
            for j in range(n_columns):
                target[i * n_columns + j] = row[j]


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
        int64_t i, n = root.n_rows, width = problem.n_columns
    for i in range(n):
        rows.y[i] = y[number_of(listed[i])]
        rows.weight[i] = <double>(listed[i] >> 48)
        rows.order[i] = <uint8_t>i
    if table.is_local:
        copy_codes(listed, n, table.local_codes, width, rows.codes)
    elif table.code_size == 1:
        copy_codes(listed, n, <const uint8_t*>table.row_codes, width, rows.codes)
    elif table.code_size == 2:
        copy_codes(listed, n, <const uint16_t*>table.row_codes, width, rows.codes)
    else:
        copy_codes(listed, n, <const uint32_t*>table.row_codes, width, rows.codes)


# -------------------------------------------------------------------- drawing columns


cdef inline void start_draw(const SmallNode* node, SmallDraw* draw) noexcept nogil:
    memcpy(draw.order, IN_ORDER, MOST_COLUMNS)
    draw.random_state = child_state(node.random_state, 7)
    draw.place = 0
    draw.n_found = 0


cdef inline int32_t draw_number(
    const Problem* problem, const SmallNode* node, SmallDraw* draw, int64_t n_waiting
) noexcept nogil:
    """The next column that is not known to be constant, or -1; ``n_waiting`` of those
    drawn before may turn out to be."""
    cdef:
        int64_t j, n_columns = problem.n_columns
        int32_t number
    while draw.place < n_columns:
        number = draw.order[draw.place]
        if problem.shuffle_columns:
            if draw.place >= problem.max_features and draw.n_found + n_waiting > 0:
                return -1
            j = draw.place + random_below_known(
                &draw.random_state, n_columns - draw.place,
                RECIPROCALS[n_columns - draw.place]
            )
            number = draw.order[j]
            draw.order[j] = draw.order[draw.place]
        draw.place += 1
        if node.active >> number & 1:
            return number
    return -1


# -------------------------------------------------------------------- trying columns


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


cdef void try_columns(
    const Problem* problem, const SmallRows* rows, SmallNode* node, SmallSearch* search
) noexcept nogil:
    """Draw columns and try them."""
    cdef:
        SmallDraw draw
        Tile tile
        int64_t i, c, n = search.n, n_columns, lowest = max(problem.min_samples_leaf, 1)
        int32_t number
        const uint32_t* codes
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
            codes = rows.codes + search.order[i] * problem.n_columns
            for c in range(LANES):
                tile.keys[LANES * i + c] = (
                    <int32_t>(codes[tile.number[c]] << ROW_BITS) + <int32_t>i
                    + LEAST_KEY
                )
        tile.n_columns = n_columns
        sort_tile(&tile, n)
        for c in range(n_columns):
            if tile.keys[c] >> ROW_BITS == tile.keys[LANES * (n - 1) + c] >> ROW_BITS:
                node.active &= ~(<uint64_t>1 << tile.number[c])
            else:
                draw.n_found += 1
        choose_division(&tile, lowest, search)


# --------------------------------------------------------------------- making children


cdef inline void write_leaf(
    NodeBuffer* buffer, int64_t number, int32_t parent, int64_t n_rows, double weight,
    double value, double impurity
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
    buffer.statistics[number] = value
    buffer.task[number] = -1


cdef inline int32_t branch_of_missing(
    const Problem* problem, int64_t n_left, int64_t n_right
) noexcept nogil:
    """As in ``branch_for_missing``."""
    if problem.missing_mode == MISSING_FRACTIONAL:
        return FRACTIONAL
    if problem.missing_mode == MISSING_LEARNED:
        return n_right >= n_left
    return problem.unseen_branch


cdef inline void write_test(
    const Problem* problem, Node* node, int32_t column, int64_t map_start,
    int64_t n_left, int32_t first
) noexcept nogil:
    node.first_child = first
    node.n_children = 2
    node.feature = column
    node.kind = problem.kind[column]
    node.missing_branch = branch_of_missing(
        problem, n_left, node.n_samples - n_left
    )
    node.threshold = NAN
    node.map_start = map_start


cdef inline bint is_worth(const Problem* problem, Node* node) noexcept nogil:
    """Whether the improvement is as large as is asked for."""
    if node.improvement * node.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        node.improvement = 0.0
        return False
    return True


cdef void divide_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, NodeBuffer* buffer
) noexcept nogil:
    """Divide two rows by the first column that tells them apart."""
    cdef:
        SmallDraw draw
        uint8_t low = rows.order[node.start], high = rows.order[node.start + 1]
        uint32_t below = 0, above = 0
        int32_t number
        int64_t first = buffer.n_nodes
        Node* record = &buffer.nodes[node.node]
    start_draw(node, &draw)
    while below == above:
        number = draw_number(problem, node, &draw, 0)
        if number < 0:
            return
        below = rows.codes[low * problem.n_columns + number]
        above = rows.codes[high * problem.n_columns + number]
    if below > above:
        low, high = high, low
        below, above = above, below
    record.improvement = record.impurity
    if problem.min_impurity_decrease > 0.0 and not is_worth(problem, record):
        return
    write_test(
        problem, record, number, <int64_t>(<uint64_t>below << 32 | above), 1,
        <int32_t>first
    )
    write_leaf(buffer, first, node.node, 1, rows.weight[low], rows.y[low], 0.0)
    write_leaf(buffer, first + 1, node.node, 1, rows.weight[high], rows.y[high], 0.0)
    buffer.n_nodes += 2


cdef void measure_child(
    const SmallSearch* search, int64_t child, Children* children, uint8_t* rows
) noexcept nogil:
    """What a child holds, and its rows."""
    cdef:
        int64_t first = search.n_left if child else 0, i
        int64_t stop = search.n if child else search.n_left
        double weight = 0.0, residuals = 0.0, squares = 0.0
        double y = search.y[search.places[first]], value
        bint varies = False
        uint8_t place
    for i in range(first, stop):
        place = search.places[i]
        rows[i] = search.order[place]
        value = search.y[place]
        weight += search.amounts[2 * place + 1]
        residuals += search.amounts[2 * place]
        squares += search.amounts[2 * place] * (value - search.centre)
        varies |= value != y
    children.n_rows[child] = stop - first
    children.weight[child] = weight
    children.values[child] = y
    children.impurity[child] = 0.0
    children.is_pure[child] = not varies
    if varies:
        finish_value(
            search.centre, weight, residuals, squares, &children.values[child],
            &children.impurity[child]
        )


cdef int64_t divide_node(
    const Problem* problem, SmallNode* node, const SmallSearch* search,
    NodeBuffer* buffer, Children* children
) noexcept nogil:
    """Make the children. Returns the number of the first, or 0 if the node remains a
    leaf."""
    cdef:
        Node* record = &buffer.nodes[node.node]
        uint8_t[SMALL_ROWS] held
        int64_t child, first = buffer.n_nodes
        double decrease = record.impurity
    for child in range(2):
        measure_child(search, child, children, held)
        if not children.is_pure[child]:
            decrease -= (
                children.weight[child] / record.weight * children.impurity[child]
            )
    record.improvement = max(decrease, 0.0)
    if problem.min_impurity_decrease > 0.0 and not is_worth(problem, record):
        return 0
    write_test(
        problem, record, search.column, search.map_start, search.n_left,
        <int32_t>first
    )
    for child in range(2):
        write_leaf(
            buffer, first + child, node.node, children.n_rows[child],
            children.weight[child], children.values[child], children.impurity[child]
        )
    buffer.n_nodes += 2
    memcpy(search.order, held, search.n)
    return first


cdef int grow_coded_small(
    const Problem* problem, const ListedTable* table, Worker* worker, const Frame* root
) noexcept nogil:
    """Grow a subtree of few rows. Returns -1 when memory runs out."""
    cdef:
        SmallNode[SMALL_ROWS] waiting
        SmallNode node
        SmallNode* below
        SmallRows rows
        SmallSearch search
        NodeBuffer* buffer = &worker.buffer
        Children* children = &worker.children
        int64_t i, first, n_waiting = 1
    if reserve_nodes(buffer, 2 * root.n_rows) < 0:
        return -1
    read_rows(problem, table, root, &rows)
    waiting[0].start = 0
    waiting[0].n_rows = root.n_rows
    waiting[0].depth = root.depth
    waiting[0].random_state = root.random_state
    waiting[0].node = root.node
    waiting[0].active = 0
    for i in range(root.n_active):
        waiting[0].active |= <uint64_t>1 << worker.active[i]
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        if node.n_rows == 2:
            divide_pair(problem, &rows, &node, buffer)
            continue
        view_rows(
            &rows, &node, &buffer.nodes[node.node], buffer.statistics[node.node],
            &search
        )
        try_columns(problem, &rows, &node, &search)
        if search.column < 0:
            continue
        first = divide_node(problem, &node, &search, buffer, children)
        if first == 0:
            continue
        for i in range(2):
            if children.n_rows[i] == 1 or must_be_leaf(
                problem, children.n_rows[i], children.weight[i], node.depth + 1,
                children.is_pure[i]
            ):
                continue
            below = &waiting[n_waiting]
            below.start = node.start + (search.n_left if i else 0)
            below.n_rows = children.n_rows[i]
            below.depth = node.depth + 1
            below.random_state = child_state(node.random_state, i)
            below.active = node.active
            below.node = <int32_t>(first + i)
            n_waiting += 1
    return 0


# ------------------------------------------------------------------------- the tables


for place in range(MOST_COLUMNS):
    IN_ORDER[place] = place
    RECIPROCALS[place + 1] = reciprocal_of(place + 1)
