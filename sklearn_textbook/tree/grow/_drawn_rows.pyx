"""The rows of a node as a list, where thresholds are drawn at random: reading the steps
of the columns that are tried, and dividing the list among the children.

Only the list is divided at a node. The steps stay where they are, but a subtree of
some thousand rows works on a copy that stays in the cache.
"""

from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._divide_list cimport divide_list, list_fronts
from sklearn_textbook.tree.split._sums cimport FETCH_AHEAD, PREFETCH
from sklearn_textbook.tree.split._drawn_steps cimport (
    HIGHEST_STEP,
    LOWEST_STEP,
    step_of,
    tells_all_apart,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below_known,
    reciprocal_of,
)

from sklearn_textbook.tree.split._wide_units cimport wide_void


cdef enum:
    LOCAL_BYTES = 786432  # steps that stay in the cache of one core
    MOST_LOCAL_ROWS = 16384
    TURNED_ROWS = 8  # of any number of columns they fill whole vector units
    N_STEPS = 65534
    SPARSE = 8  # rows of the table for one of a node that is read row by row
    CROWDED = 8  # rows per step, from which on a column gets finer ones


cdef int start_drawn_table(
    const Problem* problem, DrawnTable* table, int64_t n_rows
) noexcept nogil:
    """Room for nodes of up to n_rows rows."""
    cdef:
        int64_t n_columns = problem.n_columns, i, size
    table.n_columns = n_columns
    table.n_words = (n_columns + WORD_COLUMNS - 1) // WORD_COLUMNS
    table.local_rows = min(
        n_rows, MOST_LOCAL_ROWS, LOCAL_BYTES // (n_columns * sizeof(int16_t))
    )
    size = table.local_rows * n_columns * sizeof(int16_t)
    table.local_steps = <int16_t*>malloc(size + 1)
    table.local_scales = <Scale*>malloc(n_columns * sizeof(Scale))
    table.local_numbers = <uint32_t*>malloc((table.local_rows + 1) * sizeof(uint32_t))
    table.extremes = <int16_t*>malloc(2 * TURNED_ROWS * n_columns * sizeof(int16_t))
    table.weights = <uint16_t*>malloc(n_rows * sizeof(uint16_t))
    table.parts = <uint16_t*>malloc(n_rows * sizeof(uint16_t))
    table.cells = <int16_t*>malloc((TILE_COLUMNS + 1) * n_rows * sizeof(int16_t))
    table.left = <double*>malloc(problem.n_statistics * sizeof(double))
    table.order = <int32_t*>malloc(n_columns * sizeof(int32_t))
    table.moved = <int32_t*>malloc(n_columns * sizeof(int32_t))
    table.reciprocals = <uint64_t*>malloc((n_columns + 1) * sizeof(uint64_t))
    table.active = <uint64_t*>malloc(table.n_words * sizeof(uint64_t))
    if (
        table.local_steps == NULL or table.local_scales == NULL
        or table.local_numbers == NULL or table.extremes == NULL
        or table.weights == NULL or table.parts == NULL or table.cells == NULL
        or table.left == NULL or table.order == NULL
        or table.moved == NULL or table.active == NULL or table.reciprocals == NULL
    ):
        return -1
    for i in range(n_columns):
        table.order[i] = <int32_t>i
        table.reciprocals[i + 1] = reciprocal_of(i + 1)
    for i in range(TILE_COLUMNS + 1):
        table.columns[i].cells = table.cells + i * n_rows
    list_fronts(table.fronts)
    for i in range(1, SMALL_ROWS + 1):
        table.rounding[i] = rounding_of(<double>i)
    return 0


cdef void free_drawn_table(DrawnTable* table) noexcept nogil:
    free(table.local_steps)
    free(table.local_scales)
    free(table.local_numbers)
    free(table.extremes)
    free(table.weights)
    free(table.parts)
    free(table.cells)
    free(table.left)
    free(table.order)
    free(table.moved)
    free(table.reciprocals)
    free(table.active)
    free(table.nodes)
    free(table.masks)
    memset(table, 0, sizeof(DrawnTable))


cdef int push_node(DrawnTable* table, const DrawnNode* node) noexcept nogil:
    """Let a node wait, with the active columns at hand. Returns -1 without memory."""
    cdef:
        int64_t capacity = table.capacity, size = table.n_words * sizeof(uint64_t)
        void* moved
    if table.n_nodes == capacity:
        capacity = max(2 * capacity, 64)
        moved = realloc(table.nodes, capacity * sizeof(DrawnNode))
        if moved == NULL:
            return -1
        table.nodes = <DrawnNode*>moved
        moved = realloc(table.masks, capacity * size)
        if moved == NULL:
            return -1
        table.masks = <uint64_t*>moved
        table.capacity = capacity
    table.nodes[table.n_nodes] = node[0]
    memcpy(table.masks + table.n_nodes * table.n_words, table.active, size)
    table.n_nodes += 1
    return 0


cdef void pop_node(DrawnTable* table, DrawnNode* node) noexcept nogil:
    table.n_nodes -= 1
    node[0] = table.nodes[table.n_nodes]
    memcpy(
        table.active, table.masks + table.n_nodes * table.n_words,
        table.n_words * sizeof(uint64_t)
    )


# ------------------------------------------------------------------ local subtrees


cdef void widen(
    const int16_t* low, const int16_t* high, int64_t n, int16_t* smallest,
    int16_t* largest
) noexcept nogil:
    """Widen n ranges by others."""
    cdef int64_t j
    # Two loops: vector units take eight at a time.
    for j in range(n):
        smallest[j] = low[j] if low[j] < smallest[j] else smallest[j]
    for j in range(n):
        largest[j] = high[j] if high[j] > largest[j] else largest[j]


cdef void find_local_extremes(
    const DrawnTable* table, int64_t n, int16_t* smallest, int16_t* largest
) noexcept nogil:
    """Find the smallest and largest of the copied steps of each column."""
    cdef:
        int64_t i, width = table.n_columns, block = TURNED_ROWS * width
        int64_t n_blocks = n // TURNED_ROWS
        const int16_t* steps = table.local_steps
    for i in range(block):
        smallest[i] = HIGHEST_STEP
        largest[i] = LOWEST_STEP
    for i in range(n_blocks):
        widen(steps + i * block, steps + i * block, block, smallest, largest)
    for i in range(n_blocks * TURNED_ROWS, n):
        widen(steps + i * width, steps + i * width, width, smallest, largest)
    # Those of the first row of the blocks stand for all.
    for i in range(1, TURNED_ROWS):
        widen(smallest + i * width, largest + i * width, width, smallest, largest)


cdef void refine_steps(DrawnTable* table, int64_t n, int64_t column) noexcept nogil:
    """Make finer steps of a column that has become narrow."""
    cdef:
        Scale* scale = &table.local_scales[column]
        const double* values = table.row_values + column
        int64_t i, width = table.n_columns
        double value, low, high, factor
    low = high = values[table.local_numbers[0] * width]
    for i in range(n):
        value = values[table.local_numbers[i] * width]
        low = value if value < low else low
        high = value if value > high else high
    factor = N_STEPS / (high - low) if high > low else 0.0
    # Beyond this, the factor of the smallest range would overflow.
    if not (scale.factor < factor < 1e300):
        return
    scale.low = low
    scale.factor = factor
    for i in range(n):
        table.local_steps[i * width + column] = step_of(
            values[table.local_numbers[i] * width], scale
        )


cdef void make_local(DrawnTable* table, const DrawnNode* node) noexcept nogil:
    """Copy the steps of a node's rows, and number them 0, 1, ... for all below it."""
    cdef:
        uint64_t* rows = table.rows + node.start
        int64_t i, j, n = node.n_rows, width = table.n_columns
        int16_t* target = table.local_steps
        const int16_t* source
        int16_t* smallest = table.extremes
        int16_t* largest = table.extremes + TURNED_ROWS * width
    for i in range(n):
        source = table.row_steps + number_of(rows[i + FETCH_AHEAD]) * width
        PREFETCH(source)
        PREFETCH(source + width - 1)
        memcpy(
            target, table.row_steps + number_of(rows[i]) * width,
            width * sizeof(int16_t)
        )
        target += width
        table.local_numbers[i] = number_of(rows[i])
        if table.y != NULL:
            table.local_y[i] = table.y[number_of(rows[i])]
        rows[i] = (rows[i] & <uint64_t>0xFFFFFFFF00000000) | <uint64_t>i
    memcpy(table.local_scales, table.scales, width * sizeof(Scale))
    find_local_extremes(table, n, smallest, largest)
    for j in range(width):
        if CROWDED * (<int64_t>largest[j] - smallest[j]) < n and not (
            tells_all_apart(&table.local_scales[j])
        ):
            refine_steps(table, n, j)
    table.is_local = True


# ------------------------------------------------------------- columns of a node


cdef wide_void take_bits(
    const uint64_t* rows, int64_t n, int shift, uint16_t* bits
) noexcept nogil:
    """Take 16 bits of every entry."""
    cdef int64_t i
    for i in range(n):
        bits[i] = <uint16_t>(rows[i] >> shift)


cdef void read_entries(DrawnTable* table, const DrawnNode* node) noexcept nogil:
    """Put what the entries hold beside the row numbers next to each other."""
    take_bits(table.rows + node.start, node.n_rows, 32, table.parts)
    if not table.is_unit:
        take_bits(table.rows + node.start, node.n_rows, 48, table.weights)


cdef inline void take_four(
    const int16_t* steps, const int64_t* places, int16_t* cells
) noexcept nogil:
    """Put four steps next to each other: in one write, as one at a time waits."""
    cdef int16_t[4] four
    four[0] = steps[places[0]]
    four[1] = steps[places[1]]
    four[2] = steps[places[2]]
    four[3] = steps[places[3]]
    memcpy(cells, four, sizeof(four))


cdef inline void read_four(
    const int16_t* steps, int64_t column_width, int64_t row_width, const uint64_t* rows,
    int64_t n, bint is_far, StepColumn* columns
) noexcept nogil:
    """Four columns in one pass, from steps that stand so far apart: those of a row in
    one line of the cache, or in two; or those of a column one after the other."""
    cdef:
        const int16_t* first = steps + columns[0].number * column_width
        const int16_t* second = steps + columns[1].number * column_width
        const int16_t* third = steps + columns[2].number * column_width
        const int16_t* fourth = steps + columns[3].number * column_width
        const int16_t* row
        int64_t[4] places
        int64_t i = 0, j
    while i + 4 <= n:
        for j in range(4):
            if is_far:
                row = steps + number_of(rows[i + j + FETCH_AHEAD]) * row_width
                PREFETCH(row)
                PREFETCH(row + row_width - 1)
            places[j] = number_of(rows[i + j]) * row_width
        take_four(first, places, columns[0].cells + i)
        take_four(second, places, columns[1].cells + i)
        take_four(third, places, columns[2].cells + i)
        take_four(fourth, places, columns[3].cells + i)
        i += 4
    while i < n:
        j = number_of(rows[i]) * row_width
        columns[0].cells[i] = first[j]
        columns[1].cells[i] = second[j]
        columns[2].cells[i] = third[j]
        columns[3].cells[i] = fourth[j]
        i += 1


cdef void read_steps(
    DrawnTable* table, const DrawnNode* node, StepColumn* columns, int64_t n_columns
) noexcept nogil:
    """Put the steps of up to four columns next to each other."""
    cdef:
        const uint64_t* rows = table.rows + node.start
        const int16_t* steps = table.row_steps
        const int16_t* column_steps
        int16_t* cells
        int64_t i, j, n = node.n_rows, column_width = 1, row_width = table.n_columns
    if table.is_local:
        steps = table.local_steps
    elif n * SPARSE > table.n_table_rows:
        # Lines of a column are then read one after the other.
        steps = table.steps
        column_width, row_width = table.n_table_rows, 1
    # Numbers that the compiler knows make loops of their own.
    if n_columns == TILE_COLUMNS:
        if row_width == 1:
            read_four(steps, column_width, 1, rows, n, False, columns)
        elif table.is_local:
            read_four(steps, 1, row_width, rows, n, False, columns)
        else:
            read_four(steps, 1, row_width, rows, n, True, columns)
        return
    for j in range(n_columns):
        column_steps = steps + columns[j].number * column_width
        cells = columns[j].cells
        for i in range(n):
            cells[i] = column_steps[number_of(rows[i]) * row_width]


# ---------------------------------------------------------------- drawing columns


cdef void start_draw(const DrawnNode* node, StepDraw* draw) noexcept nogil:
    """Nothing drawn yet."""
    draw.random_state = child_state(node.random_state, 7)
    draw.place = 0
    draw.n_found = 0


cdef int64_t draw_numbers(
    const Problem* problem, DrawnTable* table, StepDraw* draw, int64_t most,
    int32_t* numbers
) noexcept nogil:
    """Draw the next columns, as ``list_columns`` does, that are not known to be
    constant. Returns how many there are, fewer than ``most`` when enough are drawn."""
    cdef:
        int32_t* order = table.order
        const uint64_t* active = table.active
        int64_t n_columns = problem.n_columns, place = draw.place, n = 0, j, rest
        int64_t most_features = problem.max_features
        uint64_t random_state = draw.random_state
        int32_t number
    while n < most and place < n_columns:
        number = order[place]
        if problem.shuffle_columns:
            if place >= most_features and draw.n_found + n > 0:
                break
            rest = n_columns - place
            j = place + random_below_known(
                &random_state, rest, table.reciprocals[rest]
            )
            number = order[j]
            order[j] = order[place]
            table.moved[place] = <int32_t>j
        place += 1
        # Written anyway, and kept if it is not constant: nobody guesses.
        numbers[n] = number
        n += active[number // WORD_COLUMNS] >> (number % WORD_COLUMNS) & 1
    draw.place = place
    draw.random_state = random_state
    return n


cdef void finish_draw(
    const Problem* problem, DrawnTable* table, const StepDraw* draw
) noexcept nogil:
    """Put the columns in order again."""
    cdef int64_t i
    if problem.shuffle_columns:
        for i in range(draw.place):
            table.order[table.moved[i]] = table.moved[i]


# ---------------------------------------------------------------------- dividing


cdef void divide_rows(
    DrawnTable* table, const DrawnNode* node, const DrawnDivision* division
) noexcept nogil:
    """Rows of child 0 to the front."""
    divide_list(
        table.rows + node.start, table.spare, division.cells, division.cut,
        node.n_rows, table.fronts
    )
