"""One node of a list of rows: what is known of its rows, and what the children of a
division hold."""

from libc.string cimport memcpy

from sklearn_textbook.tree.grow._listed_rows cimport (
    gather_codes,
    note_column,
)
from sklearn_textbook.tree.grow._measure cimport (
    clear_children,
    finish_classes,
    finish_values,
)
from sklearn_textbook.tree.grow._row_list cimport (
    Draw,
    draw_number,
    finish_draw,
    start_draw,
)
from sklearn_textbook.tree.split._class_histogram cimport start_classes, walk_classes
from sklearn_textbook.tree.split._listed cimport (
    LISTED_VALUES,
    ListedColumn,
    ListedRows,
    centre_values,
    class_of,
    clear_division,
    count_rows,
    listed_rows,
    listed_weight,
    number_of,
)
from sklearn_textbook.tree.split._listed_search cimport (
    ListContest,
    Walk,
    search_list,
)
from sklearn_textbook.tree.split._value_histogram cimport start_values, walk_values
from sklearn_textbook.tree.split._types cimport (
    ERROR,
    MISSING_SURROGATE,
    int32_t,
    int64_t,
    uint8_t,
    uint64_t,
)


cdef void describe_rows(
    ListedTable* table, const Frame* frame, NodeView* view
) noexcept nogil:
    """Count the rows of a node, and centre their values."""
    cdef ListedRows* listed = &table.listed
    listed.rows = table.rows + frame.start
    listed.n = frame.n_rows
    count_rows(listed)
    if listed.kind == LISTED_VALUES:
        centre_values(
            table.local_y if table.is_local else table.y, view, listed
        )


cdef void search_listed(
    const Problem* problem, ListedTable* table, Worker* worker, const Frame* frame,
    NodeView* view, int64_t n_visit, Division* division
) noexcept nogil:
    """The best threshold of the columns that were drawn, for a node of few rows."""
    cdef:
        ListContest contest
        Walk walk
    describe_rows(table, frame, view)
    contest.problem = problem
    contest.listed = &table.listed
    contest.scratch = &worker.scratch
    contest.division = division
    contest.n = view.totals.weight
    contest.margin = view.margin
    contest.lowest = max(problem.min_samples_leaf, 1)
    contest.highest = frame.n_rows - contest.lowest
    contest.base = 0.0
    if problem.is_classifier:
        walk = walk_classes
        start_classes(view, &contest)
    else:
        walk = walk_values
        start_values(view, &contest)
    search_list(walk, &contest, table.columns, n_visit, table.keys)


cdef bint is_pair(const Problem* problem, const Frame* frame) noexcept nogil:
    """Whether the node has two rows, which any column divides that tells them apart.
    There are many such nodes."""
    return (
        frame.n_rows == 2
        and problem.min_samples_leaf <= 1
        and problem.min_weight_leaf <= 0.0
        and problem.missing_mode != MISSING_SURROGATE
        and problem.criterion != ERROR
    )


cdef bint divide_pair(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    Division* division
) noexcept nogil:
    """Divide two rows by the first column that tells them apart, and measure the
    children, which are leaves. Returns whether there is such a column."""
    cdef:
        Children* children = &worker.children
        const uint64_t* rows = table.rows + frame.start
        const double* y = table.local_y if table.is_local else table.y
        int64_t child, c, size = problem.n_statistics
        uint64_t row
        double weight
        double* values
    clear_division(division)
    children.n_children = 2
    children.n_missing = 0
    if not draw_for_pair(problem, table, worker, frame, division):
        return False
    for child in range(2):
        row = rows[child if table.goes_left[0] else 1 - child]
        weight = <double>(row >> 48)
        values = children.values + child * size
        if table.listed.kind == LISTED_VALUES:
            values[0] = y[number_of(row)]
        else:
            for c in range(size):
                values[c] = 0.0
            values[class_of(row)] = weight
        children.n_rows[child] = 1
        children.weight[child] = weight
        children.impurity[child] = 0.0
        children.is_pure[child] = True
        children.fixed[child] = 0
    return True


cdef bint draw_for_pair(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    Division* division
) noexcept nogil:
    """Draw columns until one tells the two rows apart."""
    cdef:
        Draw draw
        ListedColumn* column = &table.columns[0]
        int32_t number
        bint varies = False, first_is_left
    start_draw(problem, worker, frame, &draw)
    number = draw_number(problem, worker, &draw)
    while number >= 0 and not varies:
        varies = gather_codes(table, frame, number, column)
        note_column(worker, number, varies, &draw)
        if not varies:
            number = draw_number(problem, worker, &draw)
    finish_draw(worker, frame, &draw)
    if not varies:
        return False
    division.best.column = number
    division.best.kind = problem.kind[number]
    division.column = column
    division.cut = column.smallest
    first_is_left = column.codes[0] < column.codes[1]
    table.goes_left[0] = first_is_left
    table.goes_left[1] = not first_is_left
    return True


cdef void measure_values(
    const Problem* problem, const NodeView* view, const ListedTable* table,
    const Division* division, Children* children
) noexcept nogil:
    """Sums of y from whole numbers; squares, and whether y varies, row by row."""
    cdef:
        const ListedRows* listed = &table.listed
        const double* y = listed.y
        const uint8_t* goes_left = table.goes_left
        int64_t i, child
        double centre = view.totals.centre[0], difference, square, is_left
        double[2] squares
        double[2] first
        bint[2] varies
        # Two sums of each, as one waits for the one before.
        double[2] left
        double[2] right
        int64_t c, half = listed.n // 2
    children.sums[0] = <double>division.sum * listed.unit
    children.sums[1] = <double>(listed.total - division.sum) * listed.unit
    for c in range(2):
        left[c] = right[c] = 0.0
    # Products, as branches here are guessed wrong half of the time.
    for i in range(half):
        for c in range(2):
            difference = y[2 * i + c] - centre
            square = difference * difference * <double><int32_t>(
                listed.rows[2 * i + c] >> 48
            )
            is_left = <double><int32_t>goes_left[2 * i + c]
            left[c] += square * is_left
            right[c] += square * (1.0 - is_left)
    for i in range(2 * half, listed.n):
        difference = y[i] - centre
        square = difference * difference * <double>(listed.rows[i] >> 48)
        is_left = <double><int32_t>goes_left[i]
        left[0] += square * is_left
        right[0] += square * (1.0 - is_left)
    squares[0] = left[0] + left[1]
    squares[1] = right[0] + right[1]
    for child in range(2):
        varies[child] = False
        i = 0
        while goes_left[i] == child:
            i += 1
        first[child] = y[i]
        while i < listed.n and not varies[child]:
            varies[child] = goes_left[i] != child and y[i] != first[child]
            i += 1
        children.squares[child] = squares[child]
        children.is_pure[child] = not varies[child]
        children.values[child] = first[child]
        finish_values(problem, view, child, children)


cdef void measure_division(
    const Problem* problem, const NodeView* view, const ListedTable* table,
    const Division* division, Children* children
) noexcept nogil:
    """What the children hold."""
    cdef:
        const ListedRows* listed = &table.listed
        int64_t child, k, i, size = problem.n_statistics
        uint64_t row
    children.n_children = 2
    children.n_pieces = 0
    children.n_missing = 0
    clear_children(problem, children)
    children.n_rows[0] = listed_rows(listed.kind, division.counts)
    children.n_rows[1] = view.totals.rows - children.n_rows[0]
    children.weight[0] = <double>listed_weight(listed.kind, division.counts)
    children.weight[1] = view.totals.weight - children.weight[0]
    if listed.kind == LISTED_VALUES:
        measure_values(problem, view, table, division, children)
        return
    if division.left != NULL:
        memcpy(children.sums, division.left, size * sizeof(double))
    else:
        for i in range(listed.n):
            row = listed.rows[i]
            children.sums[class_of(row)] += <double>(
                <int64_t>(row >> 48) * <int64_t>table.goes_left[i]
            )
    for k in range(size):
        children.sums[size + k] = view.totals.sums[k] - children.sums[k]
    for child in range(2):
        finish_classes(problem, view, child, children)
