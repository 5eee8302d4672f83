"""The rows of a node as a list: reading the codes of the columns that are tried, and
dividing the list among the children.

Only the list is divided at a node. The codes stay where they are, but a subtree of
few rows works on a copy that stays in the cache.
"""

from libc.stdint cimport uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.split._counted cimport (
    FETCH_AHEAD,
    FETCH_EARLY,
    MOST_BINS,
    NUMBER_BITS,
    TILE_COLUMNS,
    counts_of,
    number_of,
)
from sklearn_textbook.tree.split._random cimport child_state, random_below


cdef enum:
    LOCAL_BYTES = 786432  # codes and bins that stay in the cache of one core
    MOST_LOCAL_ROWS = 16384

ctypedef fused Rank:
    uint8_t
    uint16_t
    uint32_t


cdef int start_row_list(
    const Problem* problem, RowList* row_list, int64_t n_rows
) noexcept nogil:
    """Room for nodes of up to n_rows rows, after the table has been set."""
    cdef:
        int64_t n_slots = problem.max_features, i, size = row_list.table.code_size
        int64_t width = problem.n_columns * size
    row_list.n_rows = n_rows
    if size > 1:
        width += problem.n_columns
    row_list.local_rows = min(n_rows, MOST_LOCAL_ROWS, LOCAL_BYTES // width)
    row_list.rows = <uint64_t*>malloc((n_rows + FETCH_AHEAD) * sizeof(uint64_t))
    row_list.keys = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    row_list.spare = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    row_list.columns = <CountedColumn*>malloc(n_slots * sizeof(CountedColumn))
    row_list.gathered = <uint32_t*>malloc(n_slots * n_rows * sizeof(uint32_t))
    row_list.bins = <uint64_t*>malloc(n_slots * (MOST_BINS + 1) * sizeof(uint64_t))
    row_list.sums = <double*>malloc(4 * n_slots * (MOST_BINS + 1) * sizeof(double))
    row_list.tile_bins = <uint8_t*>malloc(TILE_COLUMNS * n_slots * n_rows)
    row_list.tile = <uint64_t*>malloc(TILE_COLUMNS * MOST_BINS * sizeof(uint64_t))
    row_list.is_open = <uint8_t*>malloc(MOST_BINS)
    row_list.local_codes = malloc(row_list.local_rows * problem.n_columns * size + 1)
    row_list.local_bins = <uint8_t*>malloc(row_list.local_rows * problem.n_columns + 1)
    row_list.local_spans = <Span*>malloc(problem.n_columns * sizeof(Span))
    row_list.smallest = <uint8_t*>malloc(2 * BLOCK_ROWS * problem.n_columns)
    if (
        row_list.rows == NULL or row_list.keys == NULL or row_list.spare == NULL
        or row_list.columns == NULL or row_list.gathered == NULL
        or row_list.bins == NULL or row_list.sums == NULL or row_list.is_open == NULL
        or row_list.tile == NULL or row_list.tile_bins == NULL
        or row_list.local_codes == NULL or row_list.local_bins == NULL
        or row_list.local_spans == NULL or row_list.smallest == NULL
    ):
        return -1
    row_list.largest = row_list.smallest + BLOCK_ROWS * problem.n_columns
    for i in range(n_slots):
        row_list.columns[i].codes = row_list.gathered + i * n_rows
        row_list.columns[i].bins = row_list.bins + i * (MOST_BINS + 1)
        row_list.columns[i].ones = row_list.sums + 4 * i * (MOST_BINS + 1)
        row_list.columns[i].cross = row_list.columns[i].ones + MOST_BINS + 1
        row_list.columns[i].area = row_list.columns[i].cross + MOST_BINS + 1
        row_list.columns[i].scores = row_list.columns[i].area + MOST_BINS + 1
    return 0


cdef void free_row_list(RowList* row_list) noexcept nogil:
    free(row_list.rows)
    free(row_list.keys)
    free(row_list.spare)
    free(row_list.columns)
    free(row_list.gathered)
    free(row_list.bins)
    free(row_list.sums)
    free(row_list.tile_bins)
    free(row_list.tile)
    free(row_list.is_open)
    free(row_list.local_codes)
    free(row_list.local_bins)
    free(row_list.local_spans)
    free(row_list.smallest)
    memset(row_list, 0, sizeof(RowList))


# ------------------------------------------------------------------ local subtrees


cdef void copy_codes(
    RowList* row_list, const uint64_t* rows, int64_t n, const Rank* source,
    Rank* target
) noexcept nogil:
    """Copy the codes of some rows."""
    cdef:
        int64_t i, width = row_list.table.n_columns
        const Rank* early
    for i in range(n):
        if i + FETCH_AHEAD < n:
            early = source + number_of(rows[i + FETCH_AHEAD]) * width
            FETCH_EARLY(early)
            FETCH_EARLY(early + width - 1)
        memcpy(target, source + number_of(rows[i]) * width, width * sizeof(Rank))
        target += width


cdef void copy_bins(
    RowList* row_list, const uint64_t* rows, int64_t n
) noexcept nogil:
    """Copy the bins of some rows."""
    cdef:
        int64_t i, width = row_list.table.n_columns
        uint8_t* target = row_list.local_bins
    for i in range(n):
        if i + FETCH_AHEAD < n:
            FETCH_EARLY(
                row_list.table.row_bins + number_of(rows[i + FETCH_AHEAD]) * width
            )
        memcpy(target, row_list.table.row_bins + number_of(rows[i]) * width, width)
        target += width


cdef void widen(
    const uint8_t* low, const uint8_t* high, int64_t n, uint8_t* smallest,
    uint8_t* largest
) noexcept nogil:
    """Widen n ranges by others."""
    cdef int64_t j
    # Two loops over bytes: vector units take sixteen at a time.
    for j in range(n):
        smallest[j] = low[j] if low[j] < smallest[j] else smallest[j]
    for j in range(n):
        largest[j] = high[j] if high[j] > largest[j] else largest[j]


cdef void find_extremes(RowList* row_list, int64_t n) noexcept nogil:
    """Find the smallest and largest of the copied bins of each column."""
    cdef:
        int64_t i, width = row_list.table.n_columns, block = BLOCK_ROWS * width
        int64_t n_blocks = n // BLOCK_ROWS
        uint8_t* smallest = row_list.smallest
        uint8_t* largest = row_list.largest
        const uint8_t* bins = row_list.local_bins
    memset(smallest, 0xFF, block)
    memset(largest, 0, block)
    for i in range(n_blocks):
        widen(bins + i * block, bins + i * block, block, smallest, largest)
    for i in range(n_blocks * BLOCK_ROWS, n):
        widen(bins + i * width, bins + i * width, width, smallest, largest)
    # Those of the first row of the blocks stand for all.
    for i in range(1, BLOCK_ROWS):
        widen(smallest + i * width, largest + i * width, width, smallest, largest)


cdef void refine_bins(RowList* row_list, const Rank* codes, int64_t n) noexcept nogil:
    """Make finer bins of the copied codes of those columns that have become narrow;
    most have not, as the tests above the subtree were of few columns."""
    cdef:
        int64_t i, j, width = row_list.table.n_columns
        uint8_t* bins = row_list.local_bins
        Span* span
        uint32_t smallest
        int32_t shift
    for j in range(width):
        span = &row_list.local_spans[j]
        span[0] = row_list.table.spans[j]
        shift = span.shift
        while shift > 0 and (
            (row_list.largest[j] - row_list.smallest[j] + 1) << span.shift
        ) <= MOST_BINS << (shift - 1):
            shift -= 1
        if shift == span.shift:
            continue
        smallest = <uint32_t>row_list.smallest[j] << span.shift
        span.largest = min(
            span.largest, ((<uint32_t>row_list.largest[j] + 1) << span.shift) - 1
        )
        span.smallest = smallest
        span.shift = shift
        for i in range(n):
            bins[i * width + j] = <uint8_t>((codes[i * width + j] - smallest) >> shift)


cdef void refine_wide_bins(RowList* row_list, int64_t n) noexcept nogil:
    """The same where the copied codes have 32 bits."""
    refine_bins[uint32_t](row_list, <const uint32_t*>row_list.local_codes, n)


cdef void make_local(RowList* row_list, const Frame* frame) noexcept nogil:
    """Copy the codes of a node's rows, and number them 0, 1, ... for all below it."""
    cdef:
        const CodedTable* table = &row_list.table
        uint64_t* rows = row_list.rows + frame.start
        int64_t i, n = frame.n_rows
    row_list.is_local = True
    copy_bins(row_list, rows, n)
    find_extremes(row_list, n)
    if table.code_size == 1:
        # Such codes are their own bins.
        memcpy(row_list.local_spans, table.spans, table.n_columns * sizeof(Span))
    elif table.code_size == 2:
        copy_codes[uint16_t](
            row_list, rows, n, <const uint16_t*>table.row_codes,
            <uint16_t*>row_list.local_codes
        )
        refine_bins[uint16_t](row_list, <const uint16_t*>row_list.local_codes, n)
    else:
        copy_codes[uint32_t](
            row_list, rows, n, <const uint32_t*>table.row_codes,
            <uint32_t*>row_list.local_codes
        )
        refine_bins[uint32_t](row_list, <const uint32_t*>row_list.local_codes, n)
    for i in range(n):
        rows[i] = <uint64_t>i << NUMBER_BITS | counts_of(rows[i])


# ------------------------------------------------------------- columns of a node


cdef void read_codes(
    const uint64_t* rows, int64_t n, const Rank* codes, int64_t step, uint32_t* gathered
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        gathered[i] = codes[number_of(rows[i]) * step]


cdef void read_some_codes(
    const uint64_t* rows, const Rank* codes, int64_t step, uint32_t smallest,
    uint64_t* keys, int64_t n
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        keys[i] |= <uint64_t>(codes[number_of(rows[keys[i]]) * step] - smallest) << 32


cdef const void* find_codes(
    const RowList* row_list, int64_t column, int64_t* step
) noexcept nogil:
    """Where the code of row 0 stands, and how far on that of the next row."""
    cdef const CodedTable* table = &row_list.table
    if not row_list.is_local:
        step[0] = 1
        return <const char*>table.codes + column * table.n_rows * table.code_size
    step[0] = table.n_columns
    if table.code_size == 1:
        return row_list.local_bins + column
    return <const char*>row_list.local_codes + column * table.code_size


cdef void add_codes(
    const RowList* row_list, const Frame* frame, const CountedColumn* column,
    uint64_t* keys, int64_t n
) noexcept nogil:
    """Complete the keys of some of the node's rows, which stand in their lower half."""
    cdef:
        int64_t step
        const uint64_t* rows = row_list.rows + frame.start
        const void* codes = find_codes(row_list, column.number, &step)
        uint32_t smallest = column.smallest
        int32_t size = row_list.table.code_size
    if size == 1:
        read_some_codes(rows, <const uint8_t*>codes, step, smallest, keys, n)
    elif size == 2:
        read_some_codes(rows, <const uint16_t*>codes, step, smallest, keys, n)
    else:
        read_some_codes(rows, <const uint32_t*>codes, step, smallest, keys, n)


cdef void gather_codes(
    const RowList* row_list, const Frame* frame, CountedColumn* column
) noexcept nogil:
    """Put the codes of the node's rows next to each other."""
    cdef:
        int64_t step, n = frame.n_rows
        const uint64_t* rows = row_list.rows + frame.start
        const void* codes = find_codes(row_list, column.number, &step)
        int32_t size = row_list.table.code_size
    if size == 1:
        read_codes(rows, n, <const uint8_t*>codes, step, column.codes)
    elif size == 2:
        read_codes(rows, n, <const uint16_t*>codes, step, column.codes)
    else:
        read_codes(rows, n, <const uint32_t*>codes, step, column.codes)
    column.is_gathered = True


cdef bint find_range(CountedColumn* column, int64_t n) noexcept nogil:
    """Find the smallest and largest of the gathered codes; whether they differ."""
    cdef:
        const uint32_t* codes = column.codes
        # Numbers with a sign are what vector units compare.
        int32_t smallest = <int32_t>codes[0], largest = <int32_t>codes[0], code
        int64_t i
    for i in range(n):
        code = <int32_t>codes[i]
        smallest = code if code < smallest else smallest
        largest = code if code > largest else largest
    column.lowest = <uint32_t>smallest
    column.highest = <uint32_t>largest
    return smallest < largest


cdef void start_draw(
    const Problem* problem, Worker* worker, const Frame* frame, Draw* draw
) noexcept nogil:
    """Nothing drawn yet."""
    cdef:
        int64_t i
        int32_t* order = worker.order
    memset(draw, 0, sizeof(Draw))
    draw.random_state = child_state(frame.random_state, 7)
    memset(worker.is_active, 0, problem.n_columns)
    for i in range(frame.n_active):
        worker.is_active[worker.active[i]] = 1
    for i in range(problem.n_columns):
        order[i] = <int32_t>i


cdef int32_t draw_number(
    const Problem* problem, Worker* worker, Draw* draw
) noexcept nogil:
    """Draw the next column, as ``list_columns`` does, that is not known to be constant.
    Returns its number, or -1 when enough are drawn."""
    cdef:
        int32_t* order = worker.order
        int64_t j, n_columns = problem.n_columns
        int32_t number
    while draw.place < n_columns:
        number = order[draw.place]
        if problem.shuffle_columns:
            if (
                draw.n_drawn >= problem.max_features
                and draw.n_found + draw.n_waiting > 0
            ):
                return -1
            j = draw.place + random_below(&draw.random_state, n_columns - draw.place)
            number = order[j]
            order[j] = order[draw.place]
        draw.place += 1
        draw.n_drawn += 1
        if worker.is_active[number]:
            return number
    return -1


cdef int32_t draw_column(
    const Problem* problem, const RowList* row_list, Worker* worker, const Frame* frame,
    Draw* draw, CountedColumn* column
) noexcept nogil:
    """Draw the next column to be tried, and gather its codes.

    Constant columns are only met when they are drawn. Returns the number of the column,
    or -1 after the last one.
    """
    if frame.n_rows == 2 and problem.min_samples_leaf <= 1 and draw.n_found > 0:
        # The first column that tells two rows apart is the best.
        return -1
    while True:
        column.number = draw_number(problem, worker, draw)
        if column.number < 0:
            return -1
        gather_codes(row_list, frame, column)
        if find_range(column, frame.n_rows):
            column.smallest = column.lowest
            column.largest = column.highest
            draw.n_found += 1
            return column.number
        worker.is_active[column.number] = 0
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
    start_draw(problem, worker, frame, &draw)
    # There is room for max_features columns, and after that many the draw ends.
    while n_visit < problem.max_features:
        number = draw_column(
            problem, row_list, worker, frame, &draw, &row_list.columns[n_visit]
        )
        if number < 0:
            break
        worker.visit[n_visit] = number
        n_visit += 1
    finish_draw(worker, frame, &draw)
    return n_visit


cdef void find_neighbours(
    const CountedColumn* column, int64_t n, uint32_t cut, uint32_t* below,
    uint32_t* above
) noexcept nogil:
    """Find the codes on both sides of a threshold."""
    cdef:
        const uint32_t* codes = column.codes
        # What a code lacks to the cut, modulo 2^32, is smallest for the code that is
        # next below and largest for the one that is next above. The highest bit is
        # turned, since numbers with a sign are what vector units compare.
        int32_t least = 0x7FFFFFFF, most = -0x7FFFFFFF - 1, gap
        int64_t i
    for i in range(n):
        gap = <int32_t>((cut - codes[i]) ^ <uint32_t>0x80000000)
        least = gap if gap < least else least
        most = gap if gap > most else most
    below[0] = cut - (<uint32_t>least ^ <uint32_t>0x80000000)
    above[0] = cut - (<uint32_t>most ^ <uint32_t>0x80000000)


cdef void divide_rows(
    RowList* row_list, const Frame* frame, const CountedColumn* column, uint32_t cut
) noexcept nogil:
    """Rows with codes up to the cut to the front."""
    cdef:
        uint64_t* rows = row_list.rows + frame.start
        uint64_t* spare = row_list.spare
        const uint32_t* codes = column.codes
        int64_t i, n_left = 0
        uint64_t row
    for i in range(frame.n_rows):
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += codes[i] <= cut
    memcpy(rows + n_left, spare, (frame.n_rows - n_left) * sizeof(uint64_t))


cdef void divide_by_bins(
    RowList* row_list, const Frame* frame, const CountedColumn* column, int64_t limit
) noexcept nogil:
    """Rows in bins below the limit to the front."""
    cdef:
        uint64_t* rows = row_list.rows + frame.start
        uint64_t* spare = row_list.spare
        const uint8_t* row_bins = column.row_bins
        int64_t i, n_left = 0
        uint64_t row
    for i in range(frame.n_rows):
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += row_bins[TILE_COLUMNS * i] < limit
    memcpy(rows + n_left, spare, (frame.n_rows - n_left) * sizeof(uint64_t))
