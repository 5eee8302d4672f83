"""Growing a tree whose thresholds are drawn at random.

Nothing is sorted. A threshold needs the smallest and the largest value of a column,
and one pass counts the rows below it. Both passes are over steps (see
``EncodedTable.steps``); values are read of the few rows on the steps of the extremes
and of the threshold. Draws, thresholds, comparisons, limits and records are those of
``_search``, ``_column`` and ``_node``, and sums of whole numbers do not depend on their
order: so the tree is that of sorted columns, bit by bit for classes, and but for the
rounding of sums of y for values.
"""

from libc.stdint cimport int16_t
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._drawn_children cimport (
    measure_division,
    write_division,
)
from sklearn_textbook.tree.grow._drawn_rows cimport (
    TILE_COLUMNS,
    WORD_COLUMNS,
    DrawnDivision,
    DrawnNode,
    StepDraw,
    divide_rows,
    draw_numbers,
    finish_draw,
    make_local,
    pop_node,
    push_node,
    read_entries,
    read_steps,
    scale_of,
    start_draw,
    targets_of,
    values_of,
)
from sklearn_textbook.tree.grow._drawn_small cimport (
    finish_small,
    is_small,
    wait_small,
)
from sklearn_textbook.tree.grow._drawn_threshold cimport (
    draw_threshold,
    goodness_of,
    leaves_enough,
    start_best,
)
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._node cimport must_be_leaf
from sklearn_textbook.tree.grow._search cimport view_node
from sklearn_textbook.tree.grow._workers cimport Arena
from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._sums cimport FEW_SAMPLES, PREFETCH
from sklearn_textbook.tree.split._drawn_steps cimport (
    Scale,
    StepColumn,
    StepCounts,
    count_below,
    find_extremes,
    next_on_step,
    step_of,
    sum_below,
    sum_classes_below,
    tells_all_apart,
    weigh_below,
)
from sklearn_textbook.tree.split._listed cimport (
    LISTED_TWO_CLASSES,
    LISTED_VALUES,
    centre_values,
)
from sklearn_textbook.tree.split._random cimport child_state
from sklearn_textbook.tree.split._types cimport (
    GINI,
    NodeView,
    Scratch,
    int32_t,
    int64_t,
    uint64_t,
)


cdef enum:
    COPIES_PAY = 6  # copies of steps pay up to so many columns per one that is tried

# Smallest and largest value of a column in a node.
cdef struct Range:
    double smallest
    double largest


# ------------------------------------------------------------- values of few rows


cdef void locate_extremes(
    const DrawnTable* table, const DrawnNode* node, StepColumn* column
) noexcept nogil:
    """Find the smallest and largest step, and ask for the values there: those of
    several columns are then on their way from memory at the same time."""
    cdef const uint64_t* rows = table.rows + node.start
    find_extremes(column, node.n_rows)
    PREFETCH(values_of(table, rows[column.place_smallest]) + column.number)
    PREFETCH(values_of(table, rows[column.place_largest]) + column.number)


cdef void widen_range(
    const DrawnTable* table, const DrawnNode* node, const StepColumn* column,
    int16_t step, Range* values
) noexcept nogil:
    """Widen a range by the values of all rows on a step."""
    cdef:
        const uint64_t* rows = table.rows + node.start
        int64_t i = next_on_step(column.cells, node.n_rows, 0, step)
        double value
    while i < node.n_rows:
        value = values_of(table, rows[i])[column.number]
        values.smallest = value if value < values.smallest else values.smallest
        values.largest = value if value > values.largest else values.largest
        i = next_on_step(column.cells, node.n_rows, i + 1, step)


cdef bint find_values(
    const DrawnTable* table, const DrawnNode* node, const StepColumn* column,
    Range* values
) noexcept nogil:
    """Find the smallest and largest value; whether they differ."""
    cdef:
        const uint64_t* rows = table.rows + node.start
    values.smallest = values_of(table, rows[column.place_smallest])[column.number]
    values.largest = values_of(table, rows[column.place_largest])[column.number]
    if not tells_all_apart(scale_of(table, column.number)):
        if not column.is_single_smallest:
            widen_range(table, node, column, column.smallest, values)
        if not column.is_single_largest and column.largest != column.smallest:
            widen_range(table, node, column, column.largest, values)
    return values.smallest < values.largest


# ------------------------------------------------------------ what child 0 holds


cdef void count_rows(
    const DrawnTable* table, const DrawnNode* node, const StepColumn* column,
    int16_t cut, StepCounts* counts
) noexcept nogil:
    """Count the rows below the cut."""
    if table.is_unit:
        count_below(column.cells, table.parts, node.n_rows, cut, counts)
    else:
        weigh_below(
            column.cells, table.weights, table.parts, node.n_rows, cut, counts
        )


cdef int16_t divide_at(
    const DrawnTable* table, const DrawnNode* node, StepColumn* column,
    double threshold, StepCounts* counts
) noexcept nogil:
    """Count the rows up to the threshold; returns the cut below which their cells are
    then. Cells on the step of the threshold are moved by one where that is needed."""
    cdef:
        const uint64_t* rows = table.rows + node.start
        const Scale* scale = scale_of(table, column.number)
        int16_t* cells = column.cells
        int16_t cut = step_of(threshold, scale)
        int64_t i = 0, n = node.n_rows
        uint64_t row
    count_rows(table, node, column, cut, counts)
    if counts.n_equal == 0:
        return cut
    if tells_all_apart(scale):
        # One row tells where all of its step stand.
        i = next_on_step(cells, n, 0, cut)
        if values_of(table, rows[i])[column.number] <= threshold:
            cut += 1
            count_rows(table, node, column, cut, counts)
        return cut
    while counts.n_equal > 0:
        i = next_on_step(cells, n, i, cut)
        row = rows[i]
        if values_of(table, row)[column.number] <= threshold:
            cells[i] -= 1
            counts.n_rows += 1
            counts.weight += <int64_t>(row >> 48)
            counts.ones += <int64_t>((row >> 32) & 0xFFFF)
        counts.n_equal -= 1
        i += 1
    return cut


cdef double score_classes(
    const Problem* problem, const DrawnTable* table, const DrawnNode* node,
    const NodeView* view, const StepColumn* column, int16_t cut,
    const StepCounts* counts, Scratch* scratch
) noexcept nogil:
    """Decrease of weighted impurity; the class weights of child 0 remain in the
    scratch."""
    cdef:
        double weight = <double>counts.weight, score = -view.totals.goodness
        double* left = scratch.left
        double* right = scratch.right
        int64_t k, size = problem.n_statistics
        bint is_binary = table.listed.kind == LISTED_TWO_CLASSES
        bint is_binary_gini = is_binary and problem.criterion == GINI
    if is_binary:
        left[1] = <double>counts.ones
        left[0] = weight - left[1]
    else:
        sum_classes_below(
            column.cells, NULL if table.is_unit else table.weights, table.parts,
            node.n_rows, cut, left, size
        )
    for k in range(size):
        right[k] = view.totals.sums[k] - left[k]
    score += goodness_of(problem, is_binary_gini, left, weight)
    score += goodness_of(problem, is_binary_gini, right, view.totals.weight - weight)
    return score


cdef double score_values(
    const DrawnTable* table, const NodeView* view, int64_t sum, double weight
) noexcept nogil:
    """The same from the residuals of child 0."""
    cdef:
        double left = <double>sum * table.listed.unit
        double right = <double>(table.listed.total - sum) * table.listed.unit
    return left * left / weight + right * right / (view.totals.weight - weight)


cdef bint try_column(
    const Problem* problem, DrawnTable* table, Worker* worker, const DrawnNode* node,
    const NodeView* view, StepColumn* column, const Range* values,
    DrawnDivision* division
) noexcept nogil:
    """Draw a threshold of one column; whether it divides the rows better than
    ``division``, which it then replaces."""
    cdef:
        double threshold = draw_threshold(
            node.random_state, values.smallest, values.largest, column.number
        )
        double score, weight
        StepCounts counts
        int16_t cut = divide_at(table, node, column, threshold, &counts)
        int64_t sum = 0
    weight = <double>counts.weight
    if not leaves_enough(
        problem, node.n_rows, counts.n_rows, view.totals.weight, weight
    ):
        return False
    if table.listed.kind == LISTED_VALUES:
        sum = sum_below(column.cells, table.listed.residuals, node.n_rows, cut)
        score = score_values(table, view, sum, weight)
    else:
        score = score_classes(
            problem, table, node, view, column, cut, &counts, &worker.scratch
        )
    if not score > score_to_beat(problem, &division.best, view.margin):
        return False
    take(&division.best, score, counts.n_rows, -1)
    division.best.column = column.number
    division.best.threshold = threshold
    division.cells = column.cells
    division.cut = cut
    division.n_left = counts.n_rows
    division.weight = weight
    division.sum = sum
    memcpy(table.left, worker.scratch.left, problem.n_statistics * sizeof(double))
    return True


# -------------------------------------------------------------- choosing a column


cdef void describe_rows(
    DrawnTable* table, const DrawnNode* node, NodeView* view
) noexcept nogil:
    """Put the weights and classes of a node's rows at hand, or its centred values."""
    read_entries(table, node)
    if table.listed.kind == LISTED_VALUES:
        table.listed.rows = table.rows + node.start
        table.listed.n = node.n_rows
        centre_values(targets_of(table), view, &table.listed)


cdef void search_columns(
    const Problem* problem, DrawnTable* table, Worker* worker, const DrawnNode* node,
    NodeView* view, DrawnDivision* division
) noexcept nogil:
    """One threshold for every column that is drawn."""
    cdef:
        StepDraw draw
        StepColumn* columns = table.columns
        StepColumn held
        Range values
        int64_t i, n
        int32_t number
        int32_t[TILE_COLUMNS] numbers
        bint is_described = False
    start_draw(node, &draw)
    while True:
        n = draw_numbers(problem, table, &draw, TILE_COLUMNS, numbers)
        if n == 0:
            break
        for i in range(n):
            columns[i].number = numbers[i]
        read_steps(table, node, columns, n)
        for i in range(n):
            locate_extremes(table, node, &columns[i])
        if not is_described:
            # While values are on their way from memory.
            describe_rows(table, node, view)
            is_described = True
        for i in range(n):
            number = columns[i].number
            if not find_values(table, node, &columns[i], &values):
                table.active[number // WORD_COLUMNS] &= ~(
                    <uint64_t>1 << (number % WORD_COLUMNS)
                )
                continue
            draw.n_found += 1
            if try_column(
                problem, table, worker, node, view, &columns[i], &values, division
            ):
                # The last place keeps the cells of the best column.
                held = columns[TILE_COLUMNS]
                columns[TILE_COLUMNS] = columns[i]
                columns[i] = held
    finish_draw(problem, table, &draw)


# ----------------------------------------------------------------- splitting nodes


cdef int make_children(
    const Problem* problem, DrawnTable* table, Worker* worker, const DrawnNode* node,
    const DrawnDivision* division
) noexcept nogil:
    """Write the records of the children, if the division is worth it; divide the rows,
    and let the children wait. Returns -1 when memory runs out."""
    cdef:
        Children* children = &worker.children
        DrawnNode below
        int64_t child
        int first = write_division(problem, worker, node.node, &division.best)
        bint[2] is_leaf
    if first <= 0:
        return first
    for child in range(2):
        is_leaf[child] = must_be_leaf(
            problem, children.n_rows[child], children.weight[child], node.depth + 1,
            children.is_pure[child]
        )
    if is_leaf[0] and is_leaf[1]:
        return 0
    divide_rows(table, node, division)
    below.start = node.start
    below.depth = node.depth + 1
    for child in range(2):
        below.n_rows = children.n_rows[child]
        below.random_state = child_state(node.random_state, child)
        below.node = <int32_t>(first + child)
        if not is_leaf[child] and push_node(table, &below) < 0:
            return -1
        below.start += below.n_rows
    return 0


cdef int split_node(
    const Problem* problem, DrawnTable* table, Worker* worker, const Arena* arena,
    const DrawnNode* node
) noexcept nogil:
    """Split a node if that is worth it. Returns -1 when memory runs out."""
    cdef:
        NodeView view
        DrawnDivision division
        Frame frame
    memset(&frame, 0, sizeof(Frame))
    frame.node = node.node
    frame.n_rows = node.n_rows
    frame.random_state = node.random_state
    view_node(problem, arena, worker, &frame, &view)
    start_best(&division.best)
    search_columns(problem, table, worker, node, &view, &division)
    if division.best.column < 0:
        return 0
    measure_division(problem, table, &view, &division, &worker.children)
    return make_children(problem, table, worker, node, &division)


cdef int grow_drawn(
    const Problem* problem, DrawnTable* table, Worker* worker, const Frame* root
) noexcept nogil:
    """Split nodes, depth first, until none is left. Returns -1 without memory."""
    cdef:
        Arena arena
        DrawnNode node
        int64_t n_waiting = -1  # nodes outside of the local subtree
        bint copies_pay = problem.n_columns <= COPIES_PAY * problem.max_features
    memset(&arena, 0, sizeof(Arena))
    memset(table.active, 0xFF, table.n_words * sizeof(uint64_t))
    table.is_local = False
    table.n_nodes = table.n_small = table.n_small_grown = 0
    node.start = root.start
    node.n_rows = root.n_rows
    node.depth = root.depth
    node.random_state = root.random_state
    node.node = root.node
    if push_node(table, &node) < 0:
        return -1
    while table.n_nodes > 0:
        pop_node(table, &node)
        if table.is_local and table.n_nodes < n_waiting:
            if finish_small(problem, table, worker) < 0:
                return -1
            table.is_local = False
        if is_small(problem, table, &node):
            if wait_small(problem, table, worker, &node) < 0:
                return -1
            continue
        if copies_pay and not table.is_local and (
            FEW_SAMPLES < node.n_rows <= table.local_rows
        ):
            if finish_small(problem, table, worker) < 0:
                return -1
            make_local(table, &node)
            n_waiting = table.n_nodes
        if split_node(problem, table, worker, &arena, &node) < 0:
            return -1
    return finish_small(problem, table, worker)
