"""The rows of a node as a list: reading the codes of the columns that are tried, and
dividing the list among the children.

Only the list is divided at a node. The codes stay where they are, but a subtree of
few rows works on a copy that stays in the cache.
"""

from libc.stdint cimport uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._row_list cimport (
    BLOCK_ROWS,
    Span,
    draw_number,
    find_extremes,
    finish_draw,
    refine_wide_bins,
    start_draw,
)
from sklearn_textbook.tree.split._class_bins cimport (
    free_class_bins,
    start_class_bins,
)
from sklearn_textbook.tree.split._counted cimport (
    FETCH_AHEAD,
    FETCH_EARLY,
    MOST_BINS,
    TILE_COLUMNS,
)
from sklearn_textbook.tree.split._listed cimport number_of


cdef enum:
    LOCAL_BYTES = 1048576  # cells that stay in the cache of one core
    MOST_LOCAL_ROWS = 16384

ctypedef fused Rank:
    uint8_t
    uint16_t
    uint32_t


cdef int start_listed_table(
    const Problem* problem, ListedTable* table, int64_t n_rows
) noexcept nogil:
    """Room for nodes of up to n_rows rows."""
    cdef:
        int64_t n_values = 1 if problem.is_classifier else n_rows
        int64_t size = sizeof(uint32_t) + 1  # and the bin
    table.n_rows = n_rows
    table.n_columns = problem.n_columns
    table.local_rows = min(
        n_rows, MOST_LOCAL_ROWS, LOCAL_BYTES // (size * problem.n_columns)
    )
    size = sizeof(uint32_t) * max(1, table.local_rows * problem.n_columns)
    table.rows = <uint64_t*>malloc((n_rows + FETCH_AHEAD) * sizeof(uint64_t))
    table.spare = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    table.goes_left = <uint8_t*>malloc(n_rows)
    table.listed.counts = <uint64_t*>malloc(n_rows * sizeof(uint64_t))
    table.listed.y = <double*>malloc(n_values * sizeof(double))
    table.listed.residuals = <int64_t*>malloc(n_values * sizeof(int64_t))
    table.local_y = <double*>malloc(n_values * sizeof(double))
    if (
        table.rows == NULL or table.spare == NULL or table.goes_left == NULL
        or table.listed.counts == NULL or table.listed.y == NULL
        or table.listed.residuals == NULL or table.local_y == NULL
    ):
        return -1
    if problem.random_splitter:
        # The rest is for the best threshold.
        return 0
    table.local_codes = <uint32_t*>malloc(size)
    return start_columns(problem, table) if table.local_codes != NULL else -1


cdef int start_columns(const Problem* problem, ListedTable* table) noexcept nogil:
    """Room for the codes and bins of the columns that a node tries."""
    cdef int64_t n_slots = problem.max_features, n_rows = table.n_rows, i
    table.keys = <uint64_t*>malloc((n_rows + FLAG_ROWS) * sizeof(uint64_t))
    table.columns = <ListedColumn*>malloc(n_slots * sizeof(ListedColumn))
    table.gathered = <uint32_t*>malloc(n_slots * n_rows * sizeof(uint32_t))
    table.is_open = <uint8_t*>malloc(MOST_BINS)
    if (
        table.keys == NULL or table.columns == NULL or table.gathered == NULL
        or table.is_open == NULL
    ):
        return -1
    for i in range(n_slots):
        table.columns[i].codes = table.gathered + i * n_rows
    if start_bins(problem, table) < 0:
        return -1
    if problem.is_classifier:
        return start_class_bins(problem, &table.class_bins, n_rows, table.gathered)
    return start_value_bins(problem, table)


cdef int start_bins(const Problem* problem, ListedTable* table) noexcept nogil:
    """Room for the bins of a local subtree."""
    cdef:
        int64_t n_columns = problem.n_columns
        RowList* coded = &table.coded
    coded.local_bins = <uint8_t*>malloc(table.local_rows * n_columns + 1)
    coded.local_spans = <Span*>malloc(n_columns * sizeof(Span))
    coded.smallest = <uint8_t*>malloc(2 * BLOCK_ROWS * n_columns)
    if (
        coded.local_bins == NULL or coded.local_spans == NULL
        or coded.smallest == NULL
    ):
        return -1
    coded.largest = coded.smallest + BLOCK_ROWS * n_columns
    coded.local_codes = table.local_codes
    return 0


cdef int start_value_bins(const Problem* problem, ListedTable* table) noexcept nogil:
    """Room for the bins of values."""
    cdef:
        int64_t n_slots = problem.max_features, n_rows = table.n_rows, i
        int64_t size = MOST_BINS + 1
        double* sums
    table.value_columns = <ValueColumn*>malloc(n_slots * sizeof(ValueColumn))
    table.value_bins = <Amount*>malloc(n_slots * size * sizeof(Amount))
    table.value_sums = <double*>malloc(4 * n_slots * size * sizeof(double))
    table.tile_bins = <uint8_t*>malloc(TILE_COLUMNS * n_slots * n_rows)
    table.amounts = <Amount*>malloc(n_rows * sizeof(Amount))
    table.tile = <Amount*>malloc(TILE_COLUMNS * MOST_BINS * sizeof(Amount))
    if (
        table.value_columns == NULL or table.value_bins == NULL
        or table.value_sums == NULL or table.amounts == NULL or table.tile == NULL
        or table.tile_bins == NULL
    ):
        return -1
    for i in range(n_slots):
        sums = table.value_sums + 4 * i * size
        table.value_columns[i].codes = table.gathered + i * n_rows
        table.value_columns[i].below = table.value_bins + i * size
        table.value_columns[i].cross = sums
        table.value_columns[i].area = sums + size
        table.value_columns[i].positive = sums + 2 * size
        table.value_columns[i].score = sums + 3 * size
    return 0


cdef void free_listed_table(ListedTable* table) noexcept nogil:
    free(table.rows)
    free(table.local_codes)
    free(table.local_y)
    free(table.listed.counts)
    free(table.listed.y)
    free(table.listed.residuals)
    free(table.goes_left)
    free(table.spare)
    free(table.columns)
    free(table.gathered)
    free(table.keys)
    free(table.is_open)
    free(table.value_columns)
    free(table.value_bins)
    free(table.value_sums)
    free(table.amounts)
    free(table.tile)
    free(table.tile_bins)
    free_class_bins(&table.class_bins)
    free(table.coded.local_bins)
    free(table.coded.local_spans)
    free(table.coded.smallest)
    memset(table, 0, sizeof(ListedTable))


cdef void copy_codes(
    ListedTable* table, const Frame* frame, int64_t n_columns, const Rank* codes
) noexcept nogil:
    """Copy the codes of a node's rows; those of a row stand side by side."""
    cdef:
        const uint64_t* rows = table.rows + frame.start
        const Rank* row
        uint32_t* target = table.local_codes
        int64_t i, j, n = frame.n_rows
    for i in range(n):
        if i + FETCH_AHEAD < n:
            row = codes + number_of(rows[i + FETCH_AHEAD]) * n_columns
            FETCH_EARLY(row)
            # More often than not it goes on in the next line of the cache.
            FETCH_EARLY(row + n_columns - 1)
        row = codes + number_of(rows[i]) * n_columns
        if Rank is uint32_t:
            memcpy(target, row, n_columns * sizeof(uint32_t))
        else:
            for j in range(n_columns):
                target[j] = row[j]
        target += n_columns


cdef void copy_bins(ListedTable* table, const Frame* frame) noexcept nogil:
    """Copy the bins of a node's rows, and make finer ones where they have become
    narrow."""
    cdef:
        const uint64_t* rows = table.rows + frame.start
        const uint8_t* bins = table.coded.table.row_bins
        int64_t i, n = frame.n_rows, width = table.n_columns
        uint8_t* target = table.coded.local_bins
    for i in range(n):
        if i + FETCH_AHEAD < n:
            FETCH_EARLY(bins + number_of(rows[i + FETCH_AHEAD]) * width)
        memcpy(target, bins + number_of(rows[i]) * width, width)
        target += width
    find_extremes(&table.coded, n)
    refine_wide_bins(&table.coded, n)


cdef void make_local(
    const Problem* problem, ListedTable* table, const Frame* frame
) noexcept nogil:
    """Copy the cells of a node's rows, and number them 0, 1, ... for all below it."""
    cdef:
        int64_t i, n_columns = problem.n_columns
        uint64_t* rows = table.rows + frame.start
    if table.code_size == 1:
        copy_codes(table, frame, n_columns, <const uint8_t*>table.row_codes)
    elif table.code_size == 2:
        copy_codes(table, frame, n_columns, <const uint16_t*>table.row_codes)
    else:
        copy_codes(table, frame, n_columns, <const uint32_t*>table.row_codes)
    copy_bins(table, frame)
    if table.y != NULL:
        for i in range(frame.n_rows):
            table.local_y[i] = table.y[number_of(rows[i])]
    for i in range(frame.n_rows):
        rows[i] = (rows[i] & <uint64_t>0xFFFFFFFF00000000) | <uint64_t>i
    table.is_local = True


cdef void read_codes(
    const uint64_t* rows, int64_t n, const Rank* codes, int64_t step, uint32_t* gathered
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        gathered[i] = codes[number_of(rows[i]) * step]


cdef bint gather_codes(
    const ListedTable* table, const Frame* frame, int64_t number, ListedColumn* column
) noexcept nogil:
    """Put the codes of the node's rows next to each other; whether they differ."""
    cdef:
        const uint64_t* rows = table.rows + frame.start
        uint32_t* gathered = column.codes
        int32_t smallest, largest, code
        int64_t i, n = frame.n_rows, first = number * table.n_table_rows
    if table.is_local:
        read_codes(rows, n, table.local_codes + number, table.n_columns, gathered)
    elif table.code_size == 1:
        read_codes(rows, n, <const uint8_t*>table.codes + first, 1, gathered)
    elif table.code_size == 2:
        read_codes(rows, n, <const uint16_t*>table.codes + first, 1, gathered)
    else:
        read_codes(rows, n, <const uint32_t*>table.codes + first, 1, gathered)
    # A loop of its own, which vector units take at a stride.
    smallest = largest = <int32_t>gathered[0]
    for i in range(n):
        code = <int32_t>gathered[i]
        smallest = code if code < smallest else smallest
        largest = code if code > largest else largest
    column.smallest = <uint32_t>smallest
    column.largest = <uint32_t>largest
    return smallest < largest


cdef void note_column(
    Worker* worker, int32_t number, bint varies, Draw* draw
) noexcept nogil:
    """Constant columns are met when they are drawn, not before."""
    if varies:
        draw.n_found += 1
    else:
        worker.is_active[number] = 0
        draw.any_constant = True


cdef int64_t draw_columns(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame
) noexcept nogil:
    """Draw the columns to be tried; returns their number."""
    cdef:
        Draw draw
        int64_t n_visit = 0
        int32_t number
        bint varies
    start_draw(problem, worker, frame, &draw)
    number = draw_number(problem, worker, &draw)
    while number >= 0:
        varies = gather_codes(table, frame, number, &table.columns[n_visit])
        note_column(worker, number, varies, &draw)
        if varies:
            worker.visit[n_visit] = number
            n_visit += 1
        number = draw_number(problem, worker, &draw)
    finish_draw(worker, frame, &draw)
    return n_visit


cdef void find_neighbours(
    const ListedColumn* column, int64_t n, uint32_t cut, uint32_t* below,
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
    ListedTable* table, int64_t n, const Division* division
) noexcept nogil:
    """Find the rows that go to child 0."""
    cdef:
        uint8_t* goes_left = table.goes_left
        const int32_t* codes = <const int32_t*>division.column.codes
        int32_t cut = <int32_t>division.cut
        int64_t i
    for i in range(n):
        goes_left[i] = codes[i] <= cut


cdef void divide_rows(ListedTable* table, const Frame* frame) noexcept nogil:
    """Rows of child 0 to the front."""
    cdef:
        uint64_t* rows = table.rows + frame.start
        uint64_t* spare = table.spare
        int64_t i, n_left = 0
        uint64_t row
    for i in range(frame.n_rows):
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += table.goes_left[i]
    memcpy(rows + n_left, spare, (frame.n_rows - n_left) * sizeof(uint64_t))
