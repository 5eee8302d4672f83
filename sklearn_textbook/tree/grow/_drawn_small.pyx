"""Two classes, or values: subtrees of some dozen rows whose thresholds are drawn at
random.

A tree has more of them than of other nodes. Their cells are read as they are. A
subtree waits until some others are grown, while its cells come from memory; then its
rows stay at hand, and four columns are compared side by side. Draws, limits and
records are those of larger nodes.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from sklearn_textbook.tree.grow._drawn_children cimport write_division
from sklearn_textbook.tree.grow._drawn_rows cimport (
    MOST_WAITING,
    SMALL_ROWS,
    SMALL_VALUES,
    SmallRoot,
    targets_of,
    values_of,
)
from sklearn_textbook.tree.grow._drawn_tile cimport (
    SmallNode,
    SmallRows,
    SmallSearch,
    search_small,
)
from sklearn_textbook.tree.grow._children cimport Children, finish_values
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.split._sums cimport PREFETCH, ones_in, weight_in
from sklearn_textbook.tree.split._criterion cimport class_impurity
from sklearn_textbook.tree.split._listed cimport (
    LISTED_TWO_CLASSES,
    LISTED_VALUES,
    counts_of,
    number_of,
)
from sklearn_textbook.tree.split._random cimport child_state
from sklearn_textbook.tree.split._types cimport MISSING_SURROGATE, NodeView, Split


cdef enum:
    LINE_VALUES = 8  # in one line of the cache


cdef bint is_small(
    const Problem* problem, const DrawnTable* table, const DrawnNode* node
) noexcept nogil:
    """Whether the subtree is one of these."""
    if node.n_rows > SMALL_ROWS or table.n_words > 1:
        return False
    if table.listed.kind == LISTED_VALUES:
        return (
            node.n_rows <= SMALL_VALUES and problem.missing_mode != MISSING_SURROGATE
        )
    return table.listed.kind == LISTED_TWO_CLASSES


# ----------------------------------------------------------------------- children


cdef void measure_counts(
    const Problem* problem, int64_t n_rows, double weight, double ones, int64_t child,
    Children* children
) noexcept nogil:
    """What a child holds of two classes."""
    cdef double* values = children.values + 2 * child
    values[0] = weight - ones
    values[1] = ones
    children.n_rows[child] = n_rows
    children.weight[child] = weight
    children.is_pure[child] = not (0.0 < ones < weight)
    children.impurity[child] = 0.0
    if not children.is_pure[child]:
        children.impurity[child] = class_impurity(problem, values, weight)


cdef void measure_values(
    const Problem* problem, const SmallRows* rows, const uint8_t* order, int64_t n,
    const double* centre, int64_t child, Children* children
) noexcept nogil:
    """What a child holds of values."""
    cdef:
        NodeView view
        double weight = 0.0, residuals = 0.0, squares = 0.0, residual
        double y = rows.y[order[0]]
        int64_t i
        bint is_pure = True
    for i in range(n):
        residual = rows.weight[order[i]] * (rows.y[order[i]] - centre[0])
        weight += rows.weight[order[i]]
        residuals += residual
        squares += residual * (rows.y[order[i]] - centre[0])
        is_pure = is_pure and rows.y[order[i]] == y
    children.n_rows[child] = n
    children.weight[child] = weight
    children.values[child] = y
    children.impurity[child] = 0.0
    children.is_pure[child] = is_pure
    if not is_pure:
        view.totals.centre = centre
        children.sums[child] = residuals
        children.squares[child] = squares
        finish_values(problem, &view, child, children)


cdef void measure_children(
    const Problem* problem, const DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, const SmallSearch* search, Children* children
) noexcept nogil:
    """What the children hold."""
    cdef:
        const uint8_t* order = rows.order + small.first
        int64_t n = small.node.n_rows, n_left = search.best.position
        double weight, ones
    children.n_children = 2
    children.n_missing = 0
    if table.listed.kind == LISTED_VALUES:
        measure_values(problem, rows, order, n_left, &search.centre, 0, children)
        measure_values(
            problem, rows, order + n_left, n - n_left, &search.centre, 1, children
        )
        return
    weight = <double>weight_in(search.counts)
    ones = <double>ones_in(search.counts)
    measure_counts(problem, n_left, weight, ones, 0, children)
    measure_counts(
        problem, n - n_left, search.weight - weight, search.sums[1] - ones, 1, children
    )


cdef void divide_order(
    const SmallNode* small, const Split* best, SmallRows* rows
) noexcept nogil:
    """Rows of child 0 to the front."""
    cdef:
        uint8_t* order = rows.order + small.first
        uint8_t[SMALL_ROWS] right
        uint8_t row
        int64_t i, n_left = 0, n = small.node.n_rows
        int32_t column = best.column
        double threshold = best.threshold
    for i in range(n):
        row = order[i]
        order[n_left] = row
        right[i - n_left] = row
        n_left += rows.values[row][column] <= threshold
    for i in range(n_left, n):
        order[i] = right[i - n_left]


# ----------------------------------------------------------------- whole subtrees


cdef void read_rows(
    const DrawnTable* table, const SmallRoot* root, SmallRows* rows
) noexcept nogil:
    """Put what is known of the rows of the subtree at hand."""
    cdef:
        const uint64_t* entries = table.rows + root.node.start
        const double* y = targets_of(table)
        int64_t i
    for i in range(root.node.n_rows):
        rows.values[i] = values_of(table, entries[i])
        rows.counts[i] = counts_of(entries[i])
        rows.order[i] = <uint8_t>i
    if table.listed.kind == LISTED_VALUES:
        for i in range(root.node.n_rows):
            rows.y[i] = y[number_of(entries[i])]
            rows.weight[i] = <double>(entries[i] >> 48)


cdef int grow_small(
    const Problem* problem, DrawnTable* table, Worker* worker, const SmallRoot* root
) noexcept nogil:
    """Grow a subtree. Returns -1 when memory runs out."""
    cdef:
        SmallNode[SMALL_ROWS] waiting
        SmallNode* small
        SmallRows rows
        SmallSearch search
        Children* children = &worker.children
        int64_t i, start, depth, n_waiting = 1
        uint64_t random_state
        int first
    read_rows(table, root, &rows)
    waiting[0].first = 0
    waiting[0].node = root.node
    waiting[0].active = root.active
    while n_waiting > 0:
        n_waiting -= 1
        # Not copied: long words wait for the short ones just written into them.
        small = &waiting[n_waiting]
        table.active[0] = small.active
        search_small(problem, table, &worker.buffer, small, &rows, &search)
        if search.best.column < 0:
            continue
        divide_order(small, &search.best, &rows)
        measure_children(problem, table, small, &rows, &search, children)
        first = write_division(problem, worker, small.node.node, &search.best)
        if first < 0:
            return -1
        if first == 0:
            continue
        start = small.first
        depth = small.node.depth + 1
        random_state = small.node.random_state
        for i in range(2):
            if must_be_leaf(
                problem, children.n_rows[i], children.weight[i], depth,
                children.is_pure[i]
            ):
                continue
            small = &waiting[n_waiting]
            small.first = start + (children.n_rows[0] if i else 0)
            small.node.n_rows = children.n_rows[i]
            small.node.depth = depth
            small.node.random_state = child_state(random_state, i)
            small.node.node = <int32_t>(first + i)
            small.active = table.active[0]
            n_waiting += 1
    return 0


cdef int wait_small(
    const Problem* problem, DrawnTable* table, Worker* worker, const DrawnNode* node
) noexcept nogil:
    """Ask for the values of a subtree, and grow the one that has waited longest.
    Returns -1 when memory runs out."""
    cdef:
        const uint64_t* entries = table.rows + node.start
        const double* y = targets_of(table)
        const double* values
        SmallRoot* root
        int64_t i, j, n_columns = table.n_columns
    for i in range(node.n_rows):
        values = values_of(table, entries[i])
        if table.listed.kind == LISTED_VALUES:
            PREFETCH(y + number_of(entries[i]))
        j = 0
        while j < n_columns:
            PREFETCH(values + j)
            j += LINE_VALUES
        PREFETCH(values + n_columns - 1)
    root = &table.small[table.n_small % MOST_WAITING]
    if table.n_small - table.n_small_grown == MOST_WAITING:
        table.n_small_grown += 1
        if grow_small(problem, table, worker, root) < 0:
            return -1
    root.node = node[0]
    root.active = table.masks[table.n_nodes]
    table.n_small += 1
    return 0


cdef int finish_small(
    const Problem* problem, DrawnTable* table, Worker* worker
) noexcept nogil:
    """Grow the subtrees that wait. Returns -1 when memory runs out."""
    cdef SmallRoot* root
    while table.n_small_grown < table.n_small:
        root = &table.small[table.n_small_grown % MOST_WAITING]
        table.n_small_grown += 1
        if grow_small(problem, table, worker, root) < 0:
            return -1
    return 0
