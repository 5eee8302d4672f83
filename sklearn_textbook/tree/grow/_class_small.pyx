"""Classes: subtrees of up to 64 rows.

A tree has more nodes in them than elsewhere. As those of regression (``_coded_small``),
they copy the codes and classes of their rows once, a node is a stretch of a list of
their numbers, and four columns are tried side by side (``_class_tile``). Draws, limits
and records are those of larger nodes.
"""

from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport NodeBuffer, reserve_nodes
from sklearn_textbook.tree.grow._class_tile cimport (
    MOST_CLASSES,
    ClassSearch,
    choose_division,
)
from sklearn_textbook.tree.grow._coded_tile cimport (
    LANES,
    LEAST_KEY,
    MOST_CODES,
    ROW_BITS,
    SMALL_ROWS,
    Tile,
    sort_tile,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.grow._small_nodes cimport (
    MOST_COLUMNS,
    PairCut,
    SmallDraw,
    SmallNode,
    copy_codes,
    draw_number,
    find_pair_cut,
    is_worth,
    start_draw,
    write_leaf,
    write_test,
)
from sklearn_textbook.tree.split._impurity cimport class_impurity
from sklearn_textbook.tree.split._listed cimport LISTED_CLASSES, class_of, number_of
from sklearn_textbook.tree.split._random cimport child_state
from sklearn_textbook.tree.split._types cimport GINI, MISSING_SURROGATE


cdef enum:
    # Two scores sum l_c^2 / k + sum r_c^2 / (n - k) in a node of weight n are equal, or
    # differ by 16 / n^4 or more. Up to this weight that is more than twice the margin,
    # so that candidates are told apart however their scores are rounded.
    MOST_WEIGHT = 300
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ

cdef double[MOST_WEIGHT + 1] NOISE  # of scores, see ``rounding_noise``

# The rows of the subtree, and their numbers in an order that keeps nodes together.
cdef struct SmallRows:
    uint32_t[SMALL_ROWS * MOST_COLUMNS] codes  # row by row
    int32_t[SMALL_ROWS] label
    int32_t[SMALL_ROWS] weight
    uint8_t[SMALL_ROWS] order

# What a child holds.
cdef struct Half:
    int64_t n_rows
    double weight
    double impurity
    bint is_pure

# ----------------------------------------------------------------------- the subtree


cdef bint is_class_small(
    const Problem* problem, const ListedTable* table, const Worker* worker,
    const Frame* frame
) noexcept nogil:
    """Whether ``grow_class_small`` serves the subtree."""
    return (
        frame.n_rows <= SMALL_ROWS
        and table.listed.kind == LISTED_CLASSES
        and worker.buffer.nodes[frame.node].weight <= MOST_WEIGHT
        and problem.n_statistics <= MOST_CLASSES
        and problem.n_columns <= MOST_COLUMNS
        and table.n_table_rows <= MOST_CODES
        and problem.missing_mode != MISSING_SURROGATE
    )


cdef void read_rows(
    const Problem* problem, const ListedTable* table, const Frame* root, SmallRows* rows
) noexcept nogil:
    """Copy what is known of the rows of the subtree."""
    cdef:
        const uint64_t* listed = table.rows + root.start
        const void* codes = table.row_codes
        int64_t i, width = problem.n_columns
        int32_t size = table.code_size
    if table.is_local:
        codes = table.local_codes
        size = sizeof(uint32_t)
    for i in range(root.n_rows):
        rows.label[i] = <int32_t>class_of(listed[i])
        rows.weight[i] = <int32_t>(listed[i] >> 48)
        rows.order[i] = <uint8_t>i
        copy_codes(
            codes, size, number_of(listed[i]), width, rows.codes + i * width
        )


cdef void start_root(
    const Frame* root, const int32_t* active, SmallNode* node
) noexcept nogil:
    cdef int64_t i
    node.start = 0
    node.n_rows = root.n_rows
    node.depth = root.depth
    node.random_state = root.random_state
    node.node = root.node
    node.active = 0
    for i in range(root.n_active):
        node.active |= <uint64_t>1 << active[i]


cdef void view_rows(
    const Problem* problem, const SmallRows* rows, const SmallNode* node,
    const NodeBuffer* buffer, ClassSearch* search
) noexcept nogil:
    """Put the rows of the node side by side."""
    cdef:
        const Node* record = &buffer.nodes[node.node]
        const double* sums = buffer.statistics + node.node * problem.n_statistics
        const int64_t* table = problem.entropy_table
        int64_t i, c, total
    search.n = node.n_rows
    search.order = <uint8_t*>rows.order + node.start
    search.n_classes = problem.n_statistics
    search.n_weight = <int32_t>record.weight
    search.entropy_table = NULL if problem.criterion == GINI else table
    search.bound = -INFINITY
    search.column = -1
    search.whole_base = 0
    search.margin = 1e-12 * (record.impurity * record.weight) + NOISE[search.n_weight]
    for c in range(search.n_classes):
        total = <int64_t>sums[c]
        search.totals[c] = <int32_t>total
        search.whole_base += (
            total * total if problem.criterion == GINI else table[total]
        )
    if problem.criterion != GINI:
        search.whole_base -= table[search.n_weight]
        search.margin = search.margin / problem.entropy_unit + TABLE_ROUNDING
    for i in range(search.n):
        search.label[i] = rows.label[search.order[i]]
        search.weight[i] = rows.weight[search.order[i]]


cdef void try_columns(
    const Problem* problem, const uint32_t* codes, SmallNode* node, ClassSearch* search
) noexcept nogil:
    """Draw columns and try them. Codes stand row by row."""
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
        sort_tile(&tile, n)
        for c in range(n_columns):
            if tile.keys[c] >> ROW_BITS == tile.keys[LANES * (n - 1) + c] >> ROW_BITS:
                node.active &= ~(<uint64_t>1 << tile.number[c])
            else:
                draw.n_found += 1
        choose_division(&tile, lowest, search)


# --------------------------------------------------------------------- making children


cdef void measure_half(
    const Problem* problem, const double* sums, Half* half
) noexcept nogil:
    """Purity and impurity, as in ``finish_classes``."""
    cdef int64_t c, present = 0
    for c in range(problem.n_statistics):
        present += sums[c] > 0.0
    half.is_pure = present <= 1
    half.impurity = 0.0
    if not half.is_pure:
        half.impurity = class_impurity(problem, sums, half.weight)


cdef void divide_pair(
    const Problem* problem, const SmallRows* rows, SmallNode* node, NodeBuffer* buffer
) noexcept nogil:
    """Divide two rows by the first column that tells them apart."""
    cdef:
        PairCut cut
        int64_t first = buffer.n_nodes, size = problem.n_statistics
        Node* record = &buffer.nodes[node.node]
        double* sums = buffer.statistics + first * size
    if not find_pair_cut(problem, rows.codes, rows.order, node, &cut):
        return
    record.improvement = record.impurity
    if not is_worth(problem, record):
        return
    write_test(problem, record, cut.column, cut.map_start, 1, first)
    memset(sums, 0, 2 * size * sizeof(double))
    sums[rows.label[cut.low]] = <double>rows.weight[cut.low]
    sums[size + rows.label[cut.high]] = <double>rows.weight[cut.high]
    write_leaf(buffer, first, node.node, 1, <double>rows.weight[cut.low], 0.0)
    write_leaf(buffer, first + 1, node.node, 1, <double>rows.weight[cut.high], 0.0)
    buffer.n_nodes += 2


cdef bint divide_node(
    const Problem* problem, SmallNode* node, const ClassSearch* search,
    NodeBuffer* buffer, Half* halves
) noexcept nogil:
    """Make the children; False if the node remains a leaf."""
    cdef:
        Node* record = &buffer.nodes[node.node]
        uint8_t[SMALL_ROWS] held
        int64_t i, place, first = buffer.n_nodes, size = problem.n_statistics
        int32_t weight = 0
        double* sums = buffer.statistics + first * size
        double decrease = record.impurity
    memset(sums, 0, size * sizeof(double))
    for i in range(search.n):
        held[i] = search.order[search.places[i]]
    for i in range(search.n_left):
        place = search.places[i]
        sums[search.label[place]] += <double>search.weight[place]
        weight += search.weight[place]
    for i in range(size):
        sums[size + i] = <double>search.totals[i] - sums[i]
    halves[0].n_rows = search.n_left
    halves[0].weight = <double>weight
    halves[1].n_rows = search.n - search.n_left
    halves[1].weight = record.weight - <double>weight
    for i in range(2):
        measure_half(problem, sums + i * size, &halves[i])
        decrease -= halves[i].weight / record.weight * halves[i].impurity
    record.improvement = max(decrease, 0.0)
    if not is_worth(problem, record):
        return False
    write_test(problem, record, search.column, search.map_start, search.n_left, first)
    for i in range(2):
        write_leaf(
            buffer, first + i, node.node, halves[i].n_rows, halves[i].weight,
            halves[i].impurity
        )
    buffer.n_nodes += 2
    memcpy(search.order, held, search.n)
    return True


cdef int grow_class_small(
    const Problem* problem, const ListedTable* table, Worker* worker, const Frame* root
) noexcept nogil:
    """Grow a subtree of few rows. Returns -1 when memory runs out."""
    cdef:
        SmallNode[SMALL_ROWS] waiting
        SmallNode node
        SmallNode* child
        SmallRows rows
        ClassSearch search
        Half[2] halves
        NodeBuffer* buffer = &worker.buffer
        int64_t i, first, n_waiting = 1
    if reserve_nodes(buffer, 2 * root.n_rows) < 0:
        return -1
    read_rows(problem, table, root, &rows)
    start_root(root, worker.active, &waiting[0])
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        if node.n_rows == 2:
            divide_pair(problem, &rows, &node, buffer)
            continue
        view_rows(problem, &rows, &node, buffer, &search)
        try_columns(problem, rows.codes, &node, &search)
        first = buffer.n_nodes
        if search.column < 0 or not divide_node(
            problem, &node, &search, buffer, halves
        ):
            continue
        for i in range(2):
            if must_be_leaf(
                problem, halves[i].n_rows, halves[i].weight, node.depth + 1,
                halves[i].is_pure
            ):
                continue
            child = &waiting[n_waiting]
            child.start = node.start + (search.n_left if i else 0)
            child.n_rows = halves[i].n_rows
            child.depth = node.depth + 1
            child.random_state = child_state(node.random_state, i)
            child.active = node.active
            child.node = <int32_t>(first + i)
            n_waiting += 1
    return 0


# -------------------------------------------------------------------------- the table


for place in range(1, MOST_WEIGHT + 1):
    NOISE[place] = 1e-15 * place * (1.0 + log2(place))
