"""The rows of a node as a list: reading the codes of the columns that are tried, and
dividing the list among the children.

Only the list is divided at a node. The codes stay where they are, but a subtree of
few rows works on a copy that stays in the cache.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.split._counted cimport MOST_BINS, number_of
from sklearn_textbook.tree.split._random cimport child_state, random_below


cdef enum:
    LOCAL_BYTES = 1048576  # cells that stay in the cache of one core
    MOST_LOCAL_ROWS = 16384
    MOST_BIN_WORDS = 4096  # of one column
    MOST_BY_VALUE = 2048  # rows of a large subtree whose values are read one by one


cdef int start_row_list(
    const Problem* problem, RowList* row_list, int64_t n_rows
) noexcept nogil:
    """Room for nodes of up to n_rows rows."""
    cdef:
        int64_t n_values = 1 if problem.is_classifier else n_rows, size
        bint draws_cuts = problem.random_splitter
    size = sizeof(double) if draws_cuts else sizeof(uint32_t)
    row_list.n_rows = n_rows
    row_list.local_rows = min(
        n_rows, MOST_LOCAL_ROWS, LOCAL_BYTES // (size * problem.n_columns)
    )
    size *= max(1, row_list.local_rows * problem.n_columns)
    row_list.rows = <uint64_t*>malloc(n_rows * sizeof(uint64_t))
    row_list.spare = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    row_list.goes_left = <uint8_t*>malloc(n_rows)
    row_list.listed.counts = <uint64_t*>malloc(n_rows * sizeof(uint64_t))
    row_list.listed.y = <double*>malloc(n_values * sizeof(double))
    row_list.listed.residuals = <int64_t*>malloc(n_values * sizeof(int64_t))
    row_list.local_y = <double*>malloc(n_values * sizeof(double))
    if draws_cuts:
        row_list.local_values = <double*>malloc(size)
        row_list.drawn_cells = <double*>malloc(2 * n_rows * sizeof(double))
    else:
        row_list.local_codes = <uint32_t*>malloc(size)
    if (
        row_list.rows == NULL or row_list.spare == NULL or row_list.goes_left == NULL
        or row_list.listed.counts == NULL or row_list.listed.y == NULL
        or row_list.listed.residuals == NULL or row_list.local_y == NULL
        or (row_list.local_values == NULL and row_list.local_codes == NULL)
    ):
        return -1
    if draws_cuts:
        return 0 if row_list.drawn_cells != NULL else -1
    return start_columns(problem, row_list)


cdef void size_bins(const Problem* problem, RowList* row_list) noexcept nogil:
    """Two classes: counts in one number. Values: counts and two sums. Classes: counts,
    and 32 bits for each of them; fewer bins if there are many."""
    cdef int64_t n_classes = problem.n_statistics
    row_list.bin_words = 3
    row_list.most_bins = MOST_BINS
    if problem.is_classifier and n_classes == 2:
        row_list.bin_words = 1
    elif problem.is_classifier:
        row_list.bin_words = 1 + (n_classes + 1) // 2
        while row_list.most_bins > 16 and (
            row_list.most_bins * row_list.bin_words > MOST_BIN_WORDS
        ):
            row_list.most_bins //= 2


cdef int start_columns(const Problem* problem, RowList* row_list) noexcept nogil:
    """Room for the codes and bins of the columns that a node tries."""
    cdef:
        int64_t n_slots = problem.max_features, n_rows = row_list.n_rows, i, size
    size_bins(problem, row_list)
    size = (row_list.most_bins + 1) * row_list.bin_words
    row_list.keys = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    row_list.columns = <CountedColumn*>malloc(n_slots * sizeof(CountedColumn))
    row_list.gathered = <uint32_t*>malloc(n_slots * n_rows * sizeof(uint32_t))
    row_list.bins = <uint64_t*>malloc(n_slots * size * sizeof(uint64_t))
    row_list.sums = <double*>malloc(2 * n_slots * (MOST_BINS + 1) * sizeof(double))
    row_list.is_open = <uint8_t*>malloc(MOST_BINS)
    if (
        row_list.keys == NULL or row_list.columns == NULL or row_list.gathered == NULL
        or row_list.bins == NULL or row_list.sums == NULL or row_list.is_open == NULL
    ):
        return -1
    for i in range(n_slots):
        row_list.columns[i].codes = row_list.gathered + i * n_rows
        row_list.columns[i].bins = row_list.bins + i * size
        row_list.columns[i].ones = row_list.sums + 2 * i * (MOST_BINS + 1)
        row_list.columns[i].weight = row_list.columns[i].ones + MOST_BINS + 1
    return 0


cdef void free_row_list(RowList* row_list) noexcept nogil:
    free(row_list.rows)
    free(row_list.keys)
    free(row_list.spare)
    free(row_list.columns)
    free(row_list.gathered)
    free(row_list.bins)
    free(row_list.sums)
    free(row_list.is_open)
    free(row_list.local_codes)
    free(row_list.goes_left)
    free(row_list.local_values)
    free(row_list.drawn_cells)
    free(row_list.listed.counts)
    free(row_list.listed.y)
    free(row_list.listed.residuals)
    free(row_list.y)
    free(row_list.local_y)
    memset(row_list, 0, sizeof(RowList))


cdef void copy_codes(
    RowList* row_list, const Frame* frame, int64_t number
) noexcept nogil:
    """Copy the codes of a node's rows in one column."""
    cdef:
        const uint64_t* rows = row_list.rows + frame.start
        const uint32_t* codes = row_list.codes + number * row_list.stride
        uint32_t* local_codes = row_list.local_codes + number * row_list.local_rows
        int64_t i
    for i in range(frame.n_rows):
        local_codes[i] = codes[number_of(rows[i])]


cdef void copy_values(
    const Problem* problem, RowList* row_list, const Frame* frame,
    const int32_t* active
) noexcept nogil:
    """Copy the values of a node's rows. Those of a row stand side by side, so one row
    is read after the other."""
    cdef:
        const uint64_t* rows = row_list.rows + frame.start
        const double* values
        int64_t i, j
    for i in range(frame.n_rows):
        values = row_list.values + number_of(rows[i]) * problem.n_columns
        for j in range(frame.n_active):
            row_list.local_values[active[j] * row_list.local_rows + i] = (
                values[active[j]]
            )


cdef void make_local(
    const Problem* problem, RowList* row_list, const Frame* frame,
    const int32_t* active
) noexcept nogil:
    """Copy the cells of a node's rows, and number them 0, 1, ... for all below it."""
    cdef:
        int64_t i
        uint64_t* rows = row_list.rows + frame.start
    if row_list.values != NULL:
        copy_values(problem, row_list, frame, active)
    else:
        for i in range(frame.n_active):
            copy_codes(row_list, frame, active[i])
    if row_list.y != NULL:
        for i in range(frame.n_rows):
            row_list.local_y[i] = row_list.y[number_of(rows[i])]
    for i in range(frame.n_rows):
        rows[i] = (rows[i] & <uint64_t>0xFFFFFFFF00000000) | <uint64_t>i
    row_list.is_local = True


cdef bint gather_codes(
    const RowList* row_list, const Frame* frame, int64_t number, CountedColumn* column
) noexcept nogil:
    """Put the codes of the node's rows next to each other; whether they differ."""
    cdef:
        const uint64_t* rows = row_list.rows + frame.start
        const uint32_t* codes
        uint32_t* gathered = column.codes
        int32_t smallest, largest, code
        int64_t i
    if row_list.is_local:
        codes = row_list.local_codes + number * row_list.local_rows
    else:
        codes = row_list.codes + number * row_list.stride
    for i in range(frame.n_rows):
        gathered[i] = codes[number_of(rows[i])]
    # A loop of its own, which vector units take at a stride.
    smallest = largest = <int32_t>gathered[0]
    for i in range(frame.n_rows):
        code = <int32_t>gathered[i]
        smallest = code if code < smallest else smallest
        largest = code if code > largest else largest
    column.smallest = <uint32_t>smallest
    column.largest = <uint32_t>largest
    return smallest < largest


cdef bint gather_values(
    const double* values, int64_t stride, const uint64_t* rows, int64_t n,
    DrawnColumn* column
) noexcept nogil:
    """The same for values that stand ``stride`` apart."""
    cdef:
        double smallest = values[stride * number_of(rows[0])], largest = smallest, value
        int64_t i
    for i in range(n):
        value = values[stride * number_of(rows[i])]
        column.values[i] = value
        smallest = value if value < smallest else smallest
        largest = value if value > largest else largest
    column.smallest = smallest
    column.largest = largest
    return smallest < largest


cdef bint gather_cells(
    const Problem* problem, RowList* row_list, const Frame* frame, int64_t number,
    int64_t place
) noexcept nogil:
    """Values of a column, but codes in large nodes, as they take half the room."""
    cdef:
        const uint64_t* rows = row_list.rows + frame.start
        const double* values = problem.values + number * problem.values_stride
        DrawnColumn* column = &row_list.drawn[place]
        double* cells = row_list.drawn_cells + place * row_list.n_rows
        bint varies
    column.values = cells
    if row_list.is_local:
        return gather_values(
            row_list.local_values + number * row_list.local_rows, 1, rows, frame.n_rows,
            column
        )
    if frame.n_rows <= MOST_BY_VALUE:
        return gather_values(
            row_list.values + number, problem.n_columns, rows, frame.n_rows, column
        )
    column.values = NULL
    column.coded.codes = <uint32_t*>cells
    varies = gather_codes(row_list, frame, number, &column.coded)
    column.smallest = values[column.coded.smallest]
    column.largest = values[column.coded.largest]
    return varies


cdef void start_draw(
    const Problem* problem, Worker* worker, const Frame* frame, Draw* draw
) noexcept nogil:
    """Nothing drawn yet."""
    cdef:
        int64_t i
        int32_t* order = worker.order
    memset(draw, 0, sizeof(Draw))
    draw.random_state = child_state(frame.random_state, 7)
    draw.most = problem.n_columns
    if frame.n_rows == 2 and problem.min_samples_leaf <= 1:
        # The first column that tells two rows apart is the best.
        draw.most = 1
    memset(worker.is_active, 0, problem.n_columns)
    for i in range(frame.n_active):
        worker.is_active[worker.active[i]] = 1
    for i in range(problem.n_columns):
        order[i] = <int32_t>i


cdef int32_t draw_column(
    const Problem* problem, const Worker* worker, Draw* draw
) noexcept nogil:
    """Draw the next column to be tried, as ``list_columns`` does. Returns its number,
    or -1 after the last one; the caller finds out whether it is constant."""
    cdef:
        int32_t* order = worker.order
        int64_t j, n_columns = problem.n_columns
        int32_t number
    while draw.place < n_columns and draw.n_found < draw.most:
        number = order[draw.place]
        if problem.shuffle_columns:
            if draw.n_drawn >= problem.max_features and draw.n_found > 0:
                return -1
            j = draw.place + random_below(&draw.random_state, n_columns - draw.place)
            number = order[j]
            order[j] = order[draw.place]
        draw.place += 1
        draw.n_drawn += 1
        if worker.is_active[number]:
            return number
    return -1


cdef void note_column(
    Worker* worker, int32_t number, bint varies, Draw* draw
) noexcept nogil:
    """Constant columns are met when they are drawn, not before."""
    if varies:
        draw.n_found += 1
    else:
        worker.is_active[number] = 0
        draw.any_constant = True


cdef void finish_draw(Worker* worker, Frame* frame, const Draw* draw) noexcept nogil:
    """Leave out the constant columns that were met for all nodes below."""
    cdef:
        int32_t* active = worker.active
        int32_t n_active = 0
        int64_t i
    if not draw.any_constant:
        return
    for i in range(frame.n_active):
        active[n_active] = active[i]
        n_active += worker.is_active[active[i]]
    frame.n_active = n_active


cdef int64_t draw_columns(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame
) noexcept nogil:
    """Draw the columns to be tried; returns their number."""
    cdef:
        Draw draw
        int64_t n_visit = 0
        int32_t number
        bint varies
    start_draw(problem, worker, frame, &draw)
    number = draw_column(problem, worker, &draw)
    while number >= 0:
        varies = gather_codes(row_list, frame, number, &row_list.columns[n_visit])
        note_column(worker, number, varies, &draw)
        if varies:
            worker.visit[n_visit] = number
            n_visit += 1
        number = draw_column(problem, worker, &draw)
    finish_draw(worker, frame, &draw)
    return n_visit


cdef void find_neighbours(
    const CountedColumn* column, int64_t n, uint32_t cut, uint32_t* below,
    uint32_t* above
) noexcept nogil:
    """The codes of the node on both sides of a cut."""
    cdef:
        # Whole numbers with a sign are what vector units compare.
        const int32_t* codes = <const int32_t*>column.codes
        int32_t highest = <int32_t>column.smallest, lowest = <int32_t>column.largest
        int32_t last = <int32_t>cut, code, low, high
        int64_t i
    for i in range(n):
        code = codes[i]
        low = code if code <= last else <int32_t>0
        high = code if code > last else <int32_t>0x7FFFFFFF
        highest = low if low > highest else highest
        lowest = high if high < lowest else lowest
    below[0] = <uint32_t>highest
    above[0] = <uint32_t>lowest


cdef void mark_rows(
    RowList* row_list, int64_t n, const Division* division
) noexcept nogil:
    """Find the rows that go to child 0."""
    cdef:
        uint8_t* goes_left = row_list.goes_left
        const int32_t* codes
        int32_t cut = <int32_t>division.cut
        double threshold = division.best.threshold
        int64_t i
    if division.values != NULL:
        for i in range(n):
            goes_left[i] = division.values[i] <= threshold
    else:
        codes = <const int32_t*>division.column.codes
        for i in range(n):
            goes_left[i] = codes[i] <= cut


cdef void divide_rows(RowList* row_list, const Frame* frame) noexcept nogil:
    """Rows of child 0 to the front."""
    cdef:
        uint64_t* rows = row_list.rows + frame.start
        uint64_t* spare = row_list.spare
        int64_t i, n_left = 0
        uint64_t row
    for i in range(frame.n_rows):
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += row_list.goes_left[i]
    memcpy(rows + n_left, spare, (frame.n_rows - n_left) * sizeof(uint64_t))
