"""Regression: subtrees of up to sixteen rows; a tree has more of them than of others.

Their rows stay at hand while a node is divided: the codes of a column are sorted by a
network of exchanges or by counting, which never guess, and scores are plain sums.
Draws, limits and records are those of larger nodes.
"""

from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport (
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcpy

from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._measure cimport Children, finish_values
from sklearn_textbook.tree.grow._missing cimport branch_for_missing
from sklearn_textbook.tree.grow._node cimport (
    create_children,
    improvement_of,
    must_be_leaf,
)
from sklearn_textbook.tree.split._listed cimport LISTED_VALUES, number_of
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
)
from sklearn_textbook.tree.split._types cimport (
    MISSING_SURROGATE,
    NodeView,
    Split,
)


cdef enum:
    SMALL_ROWS = 16
    MOST_COLUMNS = 64  # a bit for each
    ROW_BITS = 4  # of a sorted key
    NO_KEY = 0x7FFFFFFF

cdef uint8_t[MOST_COLUMNS] IN_ORDER

# A node that waits to be divided.
cdef struct SmallNode:
    int64_t start
    int64_t n_rows
    int64_t depth
    uint64_t random_state
    uint64_t active  # a bit for every column that is not known to be constant
    int32_t node

# The rows of the node at hand, in the order of the list, and the best division.
cdef struct SmallRows:
    int64_t n
    uint32_t[SMALL_ROWS] number
    double[SMALL_ROWS] y
    double[SMALL_ROWS] weight
    double[SMALL_ROWS] residual  # weight * (y - centre)
    double centre
    double total  # of the residuals
    double n_weight
    double margin
    double bound  # what d^2 / (k (n - k)) must exceed
    int32_t column  # -1: none yet
    int64_t n_left
    int32_t[SMALL_ROWS] order  # rows, those of child 0 first
    int64_t map_start


cdef bint is_small(
    const Problem* problem, const ListedTable* table, const Frame* frame
) noexcept nogil:
    """Whether ``grow_small`` serves the subtree."""
    return (
        frame.n_rows <= SMALL_ROWS
        and table.listed.kind == LISTED_VALUES
        and problem.n_columns <= MOST_COLUMNS
        and problem.missing_mode != MISSING_SURROGATE
    )


cdef void read_rows(
    const ListedTable* table, const SmallNode* node, const Node* record, double mean,
    SmallRows* small
) noexcept nogil:
    """Put what is known of the rows at hand."""
    cdef:
        const uint64_t* rows = table.rows + node.start
        const double* y = table.local_y if table.is_local else table.y
        double spread = record.impurity * record.weight
        int64_t i
    small.n = node.n_rows
    small.centre = mean
    small.n_weight = record.weight
    # As in ``view_node``.
    small.margin = 1e-12 * spread + 1e-15 * fabs(mean) * sqrt(record.weight * spread)
    small.bound = -INFINITY
    small.column = -1
    small.total = 0.0
    for i in range(small.n):
        small.number[i] = number_of(rows[i])
        small.weight[i] = <double>(rows[i] >> 48)
        small.y[i] = y[small.number[i]]
        small.residual[i] = small.weight[i] * (small.y[i] - mean)
        small.total += small.residual[i]


cdef inline void exchange(int32_t* first, int32_t* second) noexcept nogil:
    cdef int32_t low = first[0], high = second[0]
    first[0] = low if low < high else high
    second[0] = high if low < high else low


cdef inline void sort_four(int32_t* keys) noexcept nogil:
    exchange(&keys[0], &keys[2])
    exchange(&keys[1], &keys[3])
    exchange(&keys[0], &keys[1])
    exchange(&keys[2], &keys[3])
    exchange(&keys[1], &keys[2])


cdef inline void sort_eight(int32_t* keys) noexcept nogil:
    cdef int64_t i
    for i in range(2):
        exchange(&keys[i], &keys[i + 2])
        exchange(&keys[i + 4], &keys[i + 6])
    for i in range(4):
        exchange(&keys[i], &keys[i + 4])
    for i in range(4):
        exchange(&keys[2 * i], &keys[2 * i + 1])
    exchange(&keys[2], &keys[4])
    exchange(&keys[3], &keys[5])
    exchange(&keys[1], &keys[4])
    exchange(&keys[3], &keys[6])
    for i in range(3):
        exchange(&keys[2 * i + 1], &keys[2 * i + 2])


cdef inline void sort_sixteen(int32_t* keys, int64_t n) noexcept nogil:
    """A key's place is the number of smaller ones; vector units take four at a time."""
    cdef:
        int32_t[SMALL_ROWS] place
        int32_t[SMALL_ROWS] held
        int32_t key
        int64_t i, j
    for i in range(SMALL_ROWS):
        held[i] = keys[i]
        place[i] = 0
    for j in range(n):
        key = held[j]
        for i in range(SMALL_ROWS):
            place[i] += key < held[i]
    for i in range(n):
        keys[place[i]] = held[i]


cdef inline uint32_t read_code(
    const ListedTable* table, int64_t column, uint32_t row
) noexcept nogil:
    cdef int64_t cell = column * table.n_table_rows + row
    if table.is_local:
        return table.local_codes[column * table.local_rows + row]
    if table.code_size == 1:
        return (<const uint8_t*>table.codes)[cell]
    if table.code_size == 2:
        return (<const uint16_t*>table.codes)[cell]
    return (<const uint32_t*>table.codes)[cell]


cdef inline double reach(double d, double k, double n) noexcept nogil:
    """d^2 / (k (n - k)); times 1 / n, it is the score."""
    return d * d / (k * (n - k))


cdef bint try_codes(
    const Problem* problem, const ListedTable* table, int32_t column, SmallRows* small
) noexcept nogil:
    """Try all thresholds of a column; returns whether there are any."""
    cdef:
        int32_t[SMALL_ROWS] keys
        int64_t i, n = small.n, lowest = max(problem.min_samples_leaf, 1)
        int32_t row
        double n_weight = small.n_weight, k = 0.0, left = 0.0, d
    for i in range(n):
        keys[i] = <int32_t>(read_code(table, column, small.number[i]) << ROW_BITS) | (
            <int32_t>i
        )
    if n <= 4:
        for i in range(n, 4):
            keys[i] = NO_KEY
        sort_four(keys)
    elif n <= 8:
        for i in range(n, 8):
            keys[i] = NO_KEY
        sort_eight(keys)
    else:
        for i in range(n, SMALL_ROWS):
            keys[i] = NO_KEY
        sort_sixteen(keys, n)
    if keys[0] >> ROW_BITS == keys[n - 1] >> ROW_BITS:
        return False
    for i in range(1, n):
        row = keys[i - 1] & (SMALL_ROWS - 1)
        left += small.residual[row]
        k += small.weight[row]
        d = left * n_weight - small.total * k
        if d * d > small.bound * (k * (n_weight - k)) and (
            keys[i] >> ROW_BITS != keys[i - 1] >> ROW_BITS
            and lowest <= i <= n - lowest
        ):
            small.bound = reach(d, k, n_weight) + small.margin * n_weight
            small.column = column
            small.n_left = i
            small.map_start = <int64_t>keys[i - 1] >> ROW_BITS << 32 | (
                <int64_t>keys[i] >> ROW_BITS
            )
            memcpy(small.order, keys, sizeof(keys))
    return True


cdef void try_columns(
    const Problem* problem, const ListedTable* table, SmallNode* node, SmallRows* small
) noexcept nogil:
    """Draw columns, as ``draw_number`` does, and try them. Two rows need but one that
    tells them apart."""
    cdef:
        uint8_t[MOST_COLUMNS] order
        uint64_t random_state = child_state(node.random_state, 7)
        int64_t place, j, n_found = 0, n_columns = problem.n_columns
        int32_t number
        bint varies
    memcpy(order, IN_ORDER, MOST_COLUMNS)
    for place in range(n_columns):
        number = order[place]
        if problem.shuffle_columns:
            if place >= problem.max_features and n_found > 0:
                return
            j = place + random_below(&random_state, n_columns - place)
            number = order[j]
            order[j] = order[place]
        if not node.active >> number & 1:
            continue
        varies = try_codes(problem, table, number, small)
        if not varies:
            node.active &= ~(<uint64_t>1 << number)
            continue
        n_found += 1
        if small.n == 2 and small.column >= 0:
            return


cdef void measure_child(
    const Problem* problem, const NodeView* view, const SmallRows* small,
    int64_t child, Children* children
) noexcept nogil:
    """What a child holds."""
    cdef:
        int64_t first = small.n_left if child else 0
        int64_t stop = small.n if child else small.n_left, i
        double weight = 0.0, residuals = 0.0, squares = 0.0
        double y = small.y[small.order[first] & (SMALL_ROWS - 1)]
        int32_t row
        bint is_pure = True
    for i in range(first, stop):
        row = small.order[i] & (SMALL_ROWS - 1)
        weight += small.weight[row]
        residuals += small.residual[row]
        squares += small.residual[row] * (small.y[row] - small.centre)
        is_pure = is_pure and small.y[row] == y
    children.n_rows[child] = stop - first
    children.weight[child] = weight
    children.values[child] = y
    children.impurity[child] = 0.0
    children.is_pure[child] = is_pure
    if not is_pure:
        children.sums[child] = residuals
        children.squares[child] = squares
        finish_values(problem, view, child, children)


cdef int divide_small(
    const Problem* problem, ListedTable* table, Worker* worker, const SmallNode* node,
    const SmallRows* small
) noexcept nogil:
    """Make the children. Returns the number of the first, 0 if the node remains a leaf,
    and -1 without memory."""
    cdef:
        Children* children = &worker.children
        Node* record = &worker.buffer.nodes[node.node]
        uint64_t* rows = table.rows + node.start
        uint64_t[SMALL_ROWS] held
        NodeView view
        Frame frame
        Split split
        int64_t i
        int first
    view.totals.centre = &small.centre
    children.n_children = 2
    children.n_missing = 0
    measure_child(problem, &view, small, 0, children)
    measure_child(problem, &view, small, 1, children)
    split.column = small.column
    split.missing_child = -1
    record.improvement = improvement_of(problem, record, children, &split)
    if record.improvement * record.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        record.improvement = 0.0
        return 0
    frame.node = node.node
    first = create_children(problem, worker, &frame)
    if first < 0:
        return -1
    record = &worker.buffer.nodes[node.node]
    record.first_child = first
    record.n_children = 2
    record.feature = small.column
    record.kind = problem.kind[small.column]
    record.missing_branch = branch_for_missing(problem, children, &split)
    record.threshold = NAN
    record.map_start = small.map_start
    for i in range(small.n):
        held[i] = rows[small.order[i] & (SMALL_ROWS - 1)]
    for i in range(small.n):
        rows[i] = held[i]
    return first


cdef int grow_small(
    const Problem* problem, ListedTable* table, Worker* worker, const Frame* root
) noexcept nogil:
    """Grow a subtree of few rows. Returns -1 when memory runs out."""
    cdef:
        SmallNode[SMALL_ROWS] waiting
        SmallNode node
        SmallNode* below
        SmallRows small
        Children* children = &worker.children
        int64_t i, n_waiting = 1
        int first
    waiting[0].start = root.start
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
        read_rows(
            table, &node, &worker.buffer.nodes[node.node],
            worker.buffer.statistics[node.node], &small
        )
        try_columns(problem, table, &node, &small)
        if small.column < 0:
            continue
        first = divide_small(problem, table, worker, &node, &small)
        if first < 0:
            return -1
        if first == 0:
            continue
        for i in range(2):
            if must_be_leaf(
                problem, children.n_rows[i], children.weight[i], node.depth + 1,
                children.is_pure[i]
            ):
                continue
            below = &waiting[n_waiting]
            below.start = node.start + (small.n_left if i else 0)
            below.n_rows = children.n_rows[i]
            below.depth = node.depth + 1
            below.random_state = child_state(node.random_state, i)
            below.active = node.active
            below.node = <int32_t>(first + i)
            n_waiting += 1
    return 0


for place in range(MOST_COLUMNS):
    IN_ORDER[place] = place
