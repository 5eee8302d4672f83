"""Two classes, or values: subtrees of some dozen rows whose thresholds are drawn at
random.

A tree has more of them than of other nodes. Their cells are read as they are. A
subtree waits until some others are grown, while its cells come from memory; then its
rows stay at hand, and four columns are compared side by side. Draws, limits and
records are those of larger nodes.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._drawn_rows cimport (
    MOST_WAITING,
    SMALL_ROWS,
    SMALL_VALUES,
    TILE_COLUMNS,
    SmallRoot,
    StepDraw,
    draw_numbers,
    finish_draw,
    rounding_of,
    start_draw,
    targets_of,
    values_of,
)
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._measure cimport Children, finish_values
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
from sklearn_textbook.tree.split._listed cimport (
    LISTED_TWO_CLASSES,
    LISTED_VALUES,
    counts_of,
    number_of,
)
from sklearn_textbook.tree.split._random cimport child_state, random_unit
from sklearn_textbook.tree.split._types cimport (
    ERROR,
    GINI,
    MISSING_SURROGATE,
    NodeView,
    Split,
)


cdef enum:
    LINE_VALUES = 8  # in one line of the cache

# The rows of a subtree.
cdef struct SmallRows:
    const double* values[SMALL_ROWS]
    uint64_t[SMALL_ROWS] counts
    double[SMALL_ROWS] y  # values
    double[SMALL_ROWS] weight
    uint8_t[SMALL_ROWS] order  # those of a node stand together

# A node of it that waits to be split.
cdef struct SmallNode:
    int64_t first  # its rows in the order
    DrawnNode node
    uint64_t active

# The node at hand: its totals, and the best division.
cdef struct SmallSearch:
    double weight
    double margin
    Split best
    # two classes
    double[2] sums
    double goodness
    uint64_t counts  # of child 0
    # values: weight * (y - centre) in the order of the node's rows
    double[SMALL_ROWS] residuals
    double centre
    double total
    double bound  # what d^2 / (k (n - k)) must exceed

# One threshold for each of four columns.
cdef struct FourCuts:
    double[SMALL_ROWS * TILE_COLUMNS] cells  # row by row
    double[TILE_COLUMNS] smallest
    double[TILE_COLUMNS] largest
    double[TILE_COLUMNS] threshold


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


# ------------------------------------------------------------------- one division


cdef inline double goodness_of(
    const Problem* problem, const double* sums, double weight
) noexcept nogil:
    """``goodness``, but at hand for what is asked for most; the same bits."""
    if problem.criterion == GINI:
        return (sums[0] * sums[0] + sums[1] * sums[1]) / weight
    return goodness(problem, sums, weight)


cdef void start_search(
    const Problem* problem, const DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, const Node* record, const double* statistics,
    SmallSearch* search
) noexcept nogil:
    """As in ``view_node``."""
    cdef:
        double weight = record.weight, spread = record.impurity * weight
        const uint8_t* order = rows.order + small.first
        int64_t i
    search.weight = weight
    if table.listed.kind == LISTED_VALUES:
        search.centre = statistics[0]
        search.margin = 1e-12 * spread + (
            1e-15 * fabs(statistics[0]) * sqrt(weight * spread)
        )
        search.bound = -INFINITY
        search.total = 0.0
        for i in range(small.node.n_rows):
            search.residuals[i] = rows.weight[order[i]] * (
                rows.y[order[i]] - search.centre
            )
            search.total += search.residuals[i]
    else:
        search.sums[0] = statistics[0]
        search.sums[1] = statistics[1]
        search.goodness = goodness_of(problem, statistics, weight)
        search.margin = 1e-12 * spread + (
            table.rounding[<int64_t>weight] if weight <= SMALL_ROWS
            else rounding_of(weight)
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


cdef bint leaves_enough(
    const Problem* problem, int64_t n, int64_t n_left, double total, double weight
) noexcept nogil:
    """Whether both sides have the rows and the weight that they must have."""
    return (
        problem.min_samples_leaf <= n_left <= n - problem.min_samples_leaf
        and problem.min_weight_leaf <= weight
        and problem.min_weight_leaf <= total - weight
    )


cdef void try_counts(
    const Problem* problem, int64_t n, int32_t number, double threshold,
    uint64_t counts, SmallSearch* search
) noexcept nogil:
    """Two classes: take a division if it is better than the best one so far."""
    cdef:
        double weight = <double>weight_in(counts), score = -search.goodness
        double[2] left
        double[2] right
    if not leaves_enough(problem, n, rows_in(counts), search.weight, weight):
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


cdef void try_sums(
    const Problem* problem, int64_t n, int32_t number, double threshold,
    uint64_t counts, double left, SmallSearch* search
) noexcept nogil:
    """Values: the same. d^2 / (k (n - k)), times 1 / n, is the score."""
    cdef double weight = <double>weight_in(counts), d, area
    if not leaves_enough(problem, n, rows_in(counts), search.weight, weight):
        return
    d = left * search.weight - search.total * weight
    area = weight * (search.weight - weight)
    if d * d > search.bound * area:
        search.bound = d * d / area + search.margin * search.weight
        take(&search.best, 0.0, rows_in(counts), -1)
        search.best.column = number
        search.best.threshold = threshold


cdef void draw_cuts(
    const SmallNode* small, const SmallRows* rows, const int32_t* numbers,
    FourCuts* cuts
) noexcept nogil:
    """Read four columns, and draw a threshold of each."""
    cdef:
        double[TILE_COLUMNS] smallest
        double[TILE_COLUMNS] largest
        const uint8_t* order = rows.order + small.first
        const double* values
        double* row = cuts.cells
        int64_t first = numbers[0], second = numbers[1]
        int64_t third = numbers[2], fourth = numbers[3]
        int64_t i, c
    for i in range(small.node.n_rows):
        values = rows.values[order[i]]
        row[0] = values[first]
        row[1] = values[second]
        row[2] = values[third]
        row[3] = values[fourth]
        row += TILE_COLUMNS
    for c in range(TILE_COLUMNS):
        smallest[c] = largest[c] = cuts.cells[c]
    for i in range(1, small.node.n_rows):
        row = cuts.cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            smallest[c] = row[c] if row[c] < smallest[c] else smallest[c]
            largest[c] = row[c] if row[c] > largest[c] else largest[c]
    for c in range(TILE_COLUMNS):
        cuts.smallest[c] = smallest[c]
        cuts.largest[c] = largest[c]
        cuts.threshold[c] = draw_threshold(
            small.node.random_state, smallest[c], largest[c], numbers[c]
        )


cdef void count_cuts(
    const SmallNode* small, const SmallRows* rows, const FourCuts* cuts,
    uint64_t* left
) noexcept nogil:
    """Counts of the rows that the thresholds leave on the left."""
    cdef:
        const uint8_t* order = rows.order + small.first
        const double* row
        double[TILE_COLUMNS] threshold
        uint64_t[TILE_COLUMNS] sums
        uint64_t counts
        int64_t i, c
    for c in range(TILE_COLUMNS):
        threshold[c] = cuts.threshold[c]
        sums[c] = 0
    for i in range(small.node.n_rows):
        counts = rows.counts[order[i]]
        row = cuts.cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            # A mask, as branches here are guessed wrong half of the time.
            sums[c] += counts & (0 - <uint64_t>(row[c] <= threshold[c]))
    for c in range(TILE_COLUMNS):
        left[c] = sums[c]


cdef void sum_cuts(
    const SmallNode* small, const SmallSearch* search, const FourCuts* cuts,
    double* left
) noexcept nogil:
    """Values: residuals of the same rows."""
    cdef:
        const double* row
        double[TILE_COLUMNS] threshold
        double[TILE_COLUMNS] sums
        double residual
        uint64_t bits, masked
        int64_t i, c
    for c in range(TILE_COLUMNS):
        threshold[c] = cuts.threshold[c]
        sums[c] = 0.0
    for i in range(small.node.n_rows):
        memcpy(&bits, &search.residuals[i], sizeof(double))
        row = cuts.cells + TILE_COLUMNS * i
        for c in range(TILE_COLUMNS):
            masked = bits & (0 - <uint64_t>(row[c] <= threshold[c]))
            memcpy(&residual, &masked, sizeof(double))
            sums[c] += residual
    for c in range(TILE_COLUMNS):
        left[c] = sums[c]


cdef void try_four(
    const Problem* problem, DrawnTable* table, const SmallNode* small,
    const SmallRows* rows, const int32_t* numbers, int64_t n_columns, StepDraw* draw,
    SmallSearch* search
) noexcept nogil:
    """A threshold for each of up to four columns."""
    cdef:
        FourCuts cuts
        uint64_t[TILE_COLUMNS] counts
        double[TILE_COLUMNS] left
        int64_t c, n = small.node.n_rows
        bint is_value = table.listed.kind == LISTED_VALUES
    draw_cuts(small, rows, numbers, &cuts)
    count_cuts(small, rows, &cuts, counts)
    if is_value:
        sum_cuts(small, search, &cuts, left)
    for c in range(n_columns):
        if not cuts.smallest[c] < cuts.largest[c]:
            table.active[0] &= ~(<uint64_t>1 << numbers[c])
            continue
        draw.n_found += 1
        if is_value:
            try_sums(
                problem, n, numbers[c], cuts.threshold[c], counts[c], left[c], search
            )
        else:
            try_counts(
                problem, n, numbers[c], cuts.threshold[c], counts[c], search
            )


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
        n = draw_numbers(problem, table, &draw, TILE_COLUMNS, numbers)
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
    while draw_numbers(problem, table, &draw, 1, &number) > 0:
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
    finish_draw(problem, table, &draw)


# ----------------------------------------------------------------- whole subtrees


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


cdef int create_small(
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
        int first
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
        const double* y = targets_of(table)
        int64_t i, n_waiting = 1
        int first
        bint[2] is_leaf
    for i in range(root.node.n_rows):
        rows.values[i] = values_of(table, entries[i])
        rows.counts[i] = counts_of(entries[i])
        rows.order[i] = <uint8_t>i
    if table.listed.kind == LISTED_VALUES:
        for i in range(root.node.n_rows):
            rows.y[i] = y[number_of(entries[i])]
            rows.weight[i] = <double>(entries[i] >> 48)
    waiting[0].first = 0
    waiting[0].node = root.node
    waiting[0].active = root.active
    while n_waiting > 0:
        n_waiting -= 1
        small = waiting[n_waiting]
        table.active[0] = small.active
        start_search(
            problem, table, &small, &rows, &worker.buffer.nodes[small.node.node],
            worker.buffer.statistics + problem.n_statistics * small.node.node, &search
        )
        if is_pair(problem, small.node.n_rows):
            divide_pair(problem, table, &small, &rows, &search)
        else:
            search_columns(problem, table, &small, &rows, &search)
        if search.best.column < 0:
            continue
        divide_order(&small, &search.best, &rows)
        measure_children(problem, table, &small, &rows, &search, children)
        first = create_small(problem, worker, &small, &search)
        if first < 0:
            return -1
        if first == 0:
            continue
        for i in range(2):
            is_leaf[i] = must_be_leaf(
                problem, children.n_rows[i], children.weight[i],
                small.node.depth + 1, children.is_pure[i]
            )
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
        const double* y = targets_of(table)
        const double* values
        SmallRoot* root
        int64_t i, j, n_columns = table.n_columns
    for i in range(node.n_rows):
        values = values_of(table, entries[i])
        if table.listed.kind == LISTED_VALUES:
            FETCH_EARLY(y + number_of(entries[i]))
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
