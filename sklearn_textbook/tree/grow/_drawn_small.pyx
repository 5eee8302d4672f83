"""Two classes: subtrees of up to 32 rows whose thresholds are drawn at random.

A tree has more of them than of other nodes. Their values are read as they are. A
subtree waits until some others are grown, while its values come from memory; then its
rows stay at hand, and four columns are compared side by side. Draws, limits and
records are those of larger nodes.
"""

from libc.math cimport fabs, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._drawn_rows cimport (
    MOST_WAITING,
    SMALL_ROWS,
    TILE_COLUMNS,
    SmallRoot,
    StepDraw,
    draw_number,
    finish_draw,
    start_draw,
    values_of,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._measure cimport Children
from sklearn_textbook.tree.grow._missing cimport branch_for_missing
from sklearn_textbook.tree.grow._node cimport (
    create_children,
    improvement_of,
    must_be_leaf,
)
from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._counted cimport (
    FETCH_EARLY,
    ones_in,
    rows_in,
    weight_in,
)
from sklearn_textbook.tree.split._impurity cimport class_impurity, goodness
from sklearn_textbook.tree.split._listed cimport LISTED_TWO_CLASSES, counts_of
from sklearn_textbook.tree.split._random cimport child_state, random_unit
from sklearn_textbook.tree.split._types cimport (
    ERROR,
    GINI,
    MISSING_SURROGATE,
    Split,
)


cdef enum:
    LINE_VALUES = 8  # in one line of the cache

# The rows of a subtree.
cdef struct SmallRows:
    const double* values[SMALL_ROWS]
    uint64_t[SMALL_ROWS] counts
    uint8_t[SMALL_ROWS] order  # those of a node stand together

# A node of it that waits to be split.
cdef struct SmallNode:
    int64_t first  # its rows in the order
    DrawnNode node
    uint64_t active

# The node at hand: its totals, and the best division.
cdef struct SmallSearch:
    double weight
    double[2] sums
    double goodness
    double margin
    Split best
    uint64_t counts  # of child 0


cdef bint is_small(
    const Problem* problem, const DrawnTable* table, const DrawnNode* node
) noexcept nogil:
    """Whether the subtree is one of these."""
    return (
        node.n_rows <= SMALL_ROWS
        and table.kind == LISTED_TWO_CLASSES
        and table.n_words == 1
    )


# ------------------------------------------------------------------- one division


cdef inline double goodness_of(
    const Problem* problem, const double* sums, double weight
) noexcept nogil:
    """``goodness``, but at hand for what is asked for most; the same bits."""
    if problem.criterion == GINI:
        return (sums[0] * sums[0] + sums[1] * sums[1]) / weight
    return goodness(problem, sums, weight)


cdef void start_search(
    const Problem* problem, const Node* record, const double* sums,
    SmallSearch* search
) noexcept nogil:
    """As in ``view_node``."""
    cdef double weight = record.weight
    search.weight = weight
    search.sums[0] = sums[0]
    search.sums[1] = sums[1]
    search.goodness = goodness_of(problem, sums, weight)
    search.margin = (
        1e-12 * (record.impurity * weight)
        + 1e-15 * weight * (1.0 + fabs(log2(weight)))
    )
    memset(&search.best, 0, sizeof(Split))
    search.best.column = -1
    search.best.score = -1.0
    search.best.missing_child = -1
    search.best.n_children = 2


cdef double draw_threshold(
    uint64_t node_state, double smallest, double largest, int64_t number
) noexcept nogil:
    """A threshold drawn evenly between the smallest and the largest value of a node."""
    cdef:
        uint64_t random_state = child_state(node_state, ~number)
        double threshold = smallest + random_unit(&random_state) * (largest - smallest)
    return smallest if threshold >= largest else threshold


cdef void try_division(
    const Problem* problem, int64_t n, int32_t number, double threshold,
    uint64_t counts, SmallSearch* search
) noexcept nogil:
    """Take a division if it is better than the best one so far."""
    cdef:
        double weight = <double>weight_in(counts), score = -search.goodness
        double[2] left
        double[2] right
    if not (
        problem.min_samples_leaf <= rows_in(counts) <= n - problem.min_samples_leaf
        and problem.min_weight_leaf <= weight
        and problem.min_weight_leaf <= search.weight - weight
    ):
        return
    left[1] = <double>ones_in(counts)
    left[0] = weight - left[1]
    right[0] = search.sums[0] - left[0]
    right[1] = search.sums[1] - left[1]
    score += goodness_of(problem, left, weight)
    score += goodness_of(problem, right, search.weight - weight)
    if score > score_to_beat(problem, &search.best, search.margin):
        take(&search.best, score, rows_in(counts), -1)
        search.best.column = number
        search.best.threshold = threshold
        search.counts = counts


cdef void try_four(
    const Problem* problem, DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, const int32_t* numbers, int64_t n_columns, StepDraw* draw,
    SmallSearch* search
) noexcept nogil:
    """A threshold for each of up to four columns."""
    cdef:
        double[SMALL_ROWS * TILE_COLUMNS] cells
        double[TILE_COLUMNS] smallest
        double[TILE_COLUMNS] largest
        double[TILE_COLUMNS] threshold
        uint64_t[TILE_COLUMNS] left
        const uint8_t* order = rows.order + small.first
        const double* values
        const double* row
        uint64_t counts
        int64_t first = numbers[0], second = numbers[1]
        int64_t third = numbers[2], fourth = numbers[3]
        int64_t i, c, n = small.node.n_rows
    for i in range(n):
        values = rows.values[order[i]]
        cells[TILE_COLUMNS * i] = values[first]
        cells[TILE_COLUMNS * i + 1] = values[second]
        cells[TILE_COLUMNS * i + 2] = values[third]
        cells[TILE_COLUMNS * i + 3] = values[fourth]
    for c in range(TILE_COLUMNS):
        smallest[c] = largest[c] = cells[c]
    for i in range(1, n):
        row = cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            smallest[c] = row[c] if row[c] < smallest[c] else smallest[c]
            largest[c] = row[c] if row[c] > largest[c] else largest[c]
    for c in range(TILE_COLUMNS):
        threshold[c] = draw_threshold(
            small.node.random_state, smallest[c], largest[c], numbers[c]
        )
        left[c] = 0
    for i in range(n):
        counts = rows.counts[order[i]]
        row = cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            # A mask, as branches here are guessed wrong half of the time.
            left[c] += counts & (0 - <uint64_t>(row[c] <= threshold[c]))
    for c in range(n_columns):
        if smallest[c] < largest[c]:
            draw.n_found += 1
            try_division(problem, n, numbers[c], threshold[c], left[c], search)
        else:
            table.active[0] &= ~(<uint64_t>1 << numbers[c])


cdef void search_columns(
    const Problem* problem, DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """One threshold for every column that is drawn."""
    cdef:
        StepDraw draw
        int32_t[TILE_COLUMNS] numbers
        int64_t n, c
    start_draw(&small.node, &draw)
    while True:
        n = 0
        draw.n_waiting = 0
        while n < TILE_COLUMNS:
            numbers[n] = draw_number(problem, table, &draw)
            if numbers[n] < 0:
                break
            n += 1
            draw.n_waiting = n
        if n == 0:
            break
        # A column that is compared twice costs less than loops for fewer of them.
        for c in range(n, TILE_COLUMNS):
            numbers[c] = numbers[0]
        try_four(problem, table, small, rows, numbers, n, &draw, search)
    finish_draw(problem, table, &draw)


cdef bint is_pair(const Problem* problem, int64_t n_rows) noexcept nogil:
    """Whether the node has two rows, which any column divides that tells them apart."""
    return (
        n_rows == 2
        and problem.min_samples_leaf <= 1
        and problem.min_weight_leaf <= 0.0
        and problem.missing_mode != MISSING_SURROGATE
        and problem.criterion != ERROR
    )


cdef void divide_pair(
    const Problem* problem, DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, SmallSearch* search
) noexcept nogil:
    """Divide two rows by the first column that tells them apart."""
    cdef:
        const double* first = rows.values[rows.order[small.first]]
        const double* second = rows.values[rows.order[small.first + 1]]
        double low, high
        StepDraw draw
        int32_t number
        bint first_is_low
    start_draw(&small.node, &draw)
    number = draw_number(problem, table, &draw)
    while number >= 0:
        if first[number] != second[number]:
            first_is_low = first[number] < second[number]
            low = first[number] if first_is_low else second[number]
            high = second[number] if first_is_low else first[number]
            search.best.column = number
            search.best.position = 1
            search.best.threshold = draw_threshold(
                small.node.random_state, low, high, number
            )
            search.counts = rows.counts[
                rows.order[small.first if first_is_low else small.first + 1]
            ]
            break
        number = draw_number(problem, table, &draw)
    finish_draw(problem, table, &draw)


# ----------------------------------------------------------------- whole subtrees


cdef void measure_child(
    const Problem* problem, int64_t n_rows, double weight, double ones, int64_t child,
    Children* children
) noexcept nogil:
    """What a child holds."""
    cdef double* values = children.values + 2 * child
    values[0] = weight - ones
    values[1] = ones
    children.n_rows[child] = n_rows
    children.weight[child] = weight
    children.is_pure[child] = not (0.0 < ones < weight)
    children.impurity[child] = 0.0
    if not children.is_pure[child]:
        children.impurity[child] = class_impurity(problem, values, weight)


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


cdef int divide_small(
    const Problem* problem, Worker* worker, const SmallNode* small,
    SmallSearch* search
) noexcept nogil:
    """Write the records of the children. Returns the number of the first, 0 if the node
    remains a leaf, and -1 without memory."""
    cdef:
        Children* children = &worker.children
        Node* record = &worker.buffer.nodes[small.node.node]
        Split* best = &search.best
        Frame frame
        int64_t n_left = rows_in(search.counts)
        double weight = <double>weight_in(search.counts)
        double ones = <double>ones_in(search.counts)
        int first
    children.n_children = 2
    children.n_missing = 0
    measure_child(problem, n_left, weight, ones, 0, children)
    measure_child(
        problem, small.node.n_rows - n_left, search.weight - weight,
        search.sums[1] - ones, 1, children
    )
    best.kind = problem.kind[best.column]
    record.improvement = improvement_of(problem, record, children, best)
    if record.improvement * record.weight / problem.total_weight + 2.2e-16 < (
        problem.min_impurity_decrease
    ):
        record.improvement = 0.0
        return 0
    frame.node = small.node.node
    first = create_children(problem, worker, &frame)
    if first < 0:
        return -1
    record = &worker.buffer.nodes[small.node.node]
    record.first_child = first
    record.n_children = 2
    record.feature = best.column
    record.kind = best.kind
    record.missing_branch = branch_for_missing(problem, children, best)
    record.threshold = best.threshold
    return first


cdef int grow_small(
    const Problem* problem, DrawnTable* table, Worker* worker, const SmallRoot* root
) noexcept nogil:
    """Grow a subtree. Returns -1 when memory runs out."""
    cdef:
        SmallNode[SMALL_ROWS] waiting
        SmallNode small
        SmallNode* below
        SmallRows rows
        SmallSearch search
        Children* children = &worker.children
        const uint64_t* entries = table.rows + root.node.start
        int64_t i, n_waiting = 1
        int first
        bint[2] is_leaf
    for i in range(root.node.n_rows):
        rows.values[i] = values_of(table, entries[i])
        rows.counts[i] = counts_of(entries[i])
        rows.order[i] = <uint8_t>i
    waiting[0].first = 0
    waiting[0].node = root.node
    waiting[0].active = root.active
    while n_waiting > 0:
        n_waiting -= 1
        small = waiting[n_waiting]
        table.active[0] = small.active
        start_search(
            problem, &worker.buffer.nodes[small.node.node],
            worker.buffer.statistics + 2 * small.node.node, &search
        )
        if is_pair(problem, small.node.n_rows):
            divide_pair(problem, table, &small, &rows, &search)
        else:
            search_columns(problem, table, &small, &rows, &search)
        if search.best.column < 0:
            continue
        first = divide_small(problem, worker, &small, &search)
        if first < 0:
            return -1
        if first == 0:
            continue
        for i in range(2):
            is_leaf[i] = must_be_leaf(
                problem, children.n_rows[i], children.weight[i],
                small.node.depth + 1, children.is_pure[i]
            )
        if is_leaf[0] and is_leaf[1]:
            continue
        divide_order(&small, &search.best, &rows)
        for i in range(2):
            if is_leaf[i]:
                continue
            below = &waiting[n_waiting]
            below.first = small.first + (children.n_rows[0] if i else 0)
            below.node.n_rows = children.n_rows[i]
            below.node.depth = small.node.depth + 1
            below.node.random_state = child_state(small.node.random_state, i)
            below.node.node = <int32_t>(first + i)
            below.active = table.active[0]
            n_waiting += 1
    return 0


cdef int wait_small(
    const Problem* problem, DrawnTable* table, Worker* worker, const DrawnNode* node
) noexcept nogil:
    """Ask for the values of a subtree, and grow the one that has waited longest.
    Returns -1 when memory runs out."""
    cdef:
        const uint64_t* entries = table.rows + node.start
        const double* values
        SmallRoot* root
        int64_t i, j, n_columns = table.n_columns
    for i in range(node.n_rows):
        values = values_of(table, entries[i])
        j = 0
        while j < n_columns:
            FETCH_EARLY(values + j)
            j += LINE_VALUES
        FETCH_EARLY(values + n_columns - 1)
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
