"""Regression: the best division of a node of many rows.

As in ``_row_search``, rows are counted in bins, several columns in one pass, and codes
are read only of rows whose bin may hold something better.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.grow._listed_rows cimport (
    FLAG_ROWS,
    gather_codes,
    note_column,
)
from sklearn_textbook.tree.grow._row_list cimport (
    Draw,
    Span,
    draw_number,
    finish_draw,
    start_draw,
)
from sklearn_textbook.tree.split._counted cimport (
    FETCH_AHEAD,
    FETCH_EARLY,
    FEW_ROWS,
    MOST_BINS,
    TILE_COLUMNS,
)
from sklearn_textbook.tree.split._listed cimport (
    LISTED_VALUES,
    ListedColumn,
    clear_division,
    number_of,
)
from sklearn_textbook.tree.split._value_bins cimport (
    Amount,
    ValueColumn,
    ValueContest,
    add_up_bins,
    count_codes,
    count_columns,
    describe_values,
    find_edge,
    open_bins,
    rows_in,
    try_column,
)
from sklearn_textbook.tree.split._wide_units cimport wide_void
from sklearn_textbook.tree.split._types cimport (
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)


# Which of 64 flags are 1, as bits of a number, and the lowest of these.
cdef extern from *:
    """
    #if defined(__SSE2__) && defined(__GNUC__)
    #include <emmintrin.h>
    static inline uint64_t FLAG_BITS(const uint8_t *flags) {
        uint64_t bits = 0;
        int i;
        for (i = 0; i < 64; i += 16) {
            __m128i high = _mm_slli_epi16(
                _mm_loadu_si128((const __m128i *)(flags + i)), 7
            );
            bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(high) << i;
        }
        return bits;
    }
    #define LOWEST_PLACE(bits) __builtin_ctzll(bits)
    #else
    static uint64_t FLAG_BITS(const uint8_t *flags) {
        uint64_t bits = 0;
        int i;
        for (i = 0; i < 64; i++) bits |= (uint64_t)flags[i] << i;
        return bits;
    }
    static int LOWEST_PLACE(uint64_t bits) {
        int place = 0;
        while (!(bits >> place & 1)) place++;
        return place;
    }
    #endif
    """
    uint64_t FLAG_BITS(const uint8_t* flags) noexcept nogil
    int LOWEST_PLACE(uint64_t bits) noexcept nogil

cdef enum:
    ROWS_PER_BIN = 2
    FEWEST_USED = 8  # bins with rows, below which a column is counted more finely

ctypedef fused Rank:
    uint8_t
    uint16_t
    uint32_t


cdef bint counts_values(
    const Problem* problem, const ListedTable* table, const Frame* frame
) noexcept nogil:
    """Whether ``search_values`` serves the node."""
    return (
        frame.n_rows > FEW_ROWS
        and table.listed.kind == LISTED_VALUES
    )


# --------------------------------------------------------------------- counting


cdef inline int32_t choose_coarseness(int64_t n) noexcept nogil:
    """How many neighbouring bins of the table, as a power of two, make one bin of a
    node of n rows: a bin for two rows or so. With fewer, more rows are to be sorted."""
    cdef int32_t coarseness = 0
    while MOST_BINS >> coarseness > n // ROWS_PER_BIN:
        coarseness += 1
    return coarseness


cdef int64_t draw_tile(
    const Problem* problem, ListedTable* table, Worker* worker, Draw* draw,
    int32_t coarseness, ValueColumn** columns
) noexcept nogil:
    """Draw the columns of the next pass over the rows; returns their number."""
    cdef:
        int64_t n = 0
        ValueColumn* column
        const Span* span
    draw.n_waiting = 0
    while n < TILE_COLUMNS and draw.n_found + n < problem.max_features:
        column = &table.value_columns[draw.n_found + n]
        column.number = draw_number(problem, worker, draw)
        if column.number < 0:
            break
        span = &table.coded.table.spans[column.number]
        if table.is_local:
            span = &table.coded.local_spans[column.number]
        column.is_gathered = False
        column.smallest = span.smallest
        column.largest = span.largest
        column.shift = span.shift + coarseness
        column.n_bins = ((span.largest - span.smallest) >> column.shift) + 1
        columns[n] = column
        n += 1
        draw.n_waiting = n
    return n


cdef bint gather_column(
    const ListedTable* table, const Frame* frame, ValueColumn* column
) noexcept nogil:
    """Put the codes of the node's rows next to each other, and choose bins for them;
    whether they differ."""
    cdef:
        ListedColumn coded
        uint32_t most = <uint32_t>(MOST_BINS >> choose_coarseness(frame.n_rows))
    coded.codes = column.codes
    if not gather_codes(table, frame, column.number, &coded):
        return False
    column.is_gathered = True
    column.smallest = coded.smallest
    column.largest = coded.largest
    column.shift = 0
    while (column.largest - column.smallest) >> column.shift >= most:
        column.shift += 1
    column.n_bins = ((column.largest - column.smallest) >> column.shift) + 1
    return True


cdef bint differs(
    const ListedTable* table, const Frame* frame, ValueColumn* column, Amount* tile
) noexcept nogil:
    """Finish the counts of a column; whether the node's codes in it differ. Where they
    fill few bins, they are counted in finer ones."""
    cdef int64_t n_used = add_up_bins(column, tile)
    if n_used >= FEWEST_USED or (column.shift == 0 and n_used > 1):
        return True
    if column.shift == 0 or not gather_column(table, frame, column):
        return False
    count_codes(column, table.amounts, frame.n_rows, tile)
    add_up_bins(column, tile)
    return True


cdef int64_t count_drawn(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame
) noexcept nogil:
    """Draw the columns to be tried, and count their bins; returns their number."""
    cdef:
        Draw draw
        ValueColumn* columns[TILE_COLUMNS]
        ValueColumn* place
        ValueColumn held
        Amount* tile
        int32_t coarseness = choose_coarseness(frame.n_rows)
        int64_t i, n, before, n_kept = 0  # passes whose bins are kept
        bint varies
        const uint8_t* row_bins = table.coded.table.row_bins
    if table.is_local:
        row_bins = table.coded.local_bins
    start_draw(problem, worker, frame, &draw)
    while True:
        n = draw_tile(problem, table, worker, &draw, coarseness, columns)
        if n == 0:
            break
        count_columns(
            row_bins, problem.n_columns, &table.listed, table.amounts, columns, n,
            coarseness, not table.is_local,
            table.tile_bins + n_kept * TILE_COLUMNS * table.n_rows, table.tile
        )
        before = draw.n_found
        for i in range(n):
            tile = table.tile + i * (MOST_BINS >> coarseness)
            varies = differs(table, frame, columns[i], tile)
            if varies:
                # Those that differ stand at the front, in the order of the draw.
                place = &table.value_columns[draw.n_found]
                if place != columns[i]:
                    held = place[0]
                    place[0] = columns[i][0]
                    columns[i][0] = held
                note_column(worker, place.number, True, &draw)
            else:
                note_column(worker, columns[i].number, False, &draw)
        n_kept += draw.n_found > before
    finish_draw(worker, frame, &draw)
    return draw.n_found


# --------------------------------------------------------------------- searching


cdef int64_t list_open_rows(
    const ValueColumn* column, int64_t n, const uint8_t* is_open, uint64_t* places
) noexcept nogil:
    """The places of the rows whose bin is open."""
    cdef:
        const uint8_t* bins = column.row_bins
        int64_t i, n_listed = 0
    if column.is_gathered:
        for i in range(n):
            places[n_listed] = <uint64_t>i
            n_listed += is_open[(column.codes[i] - column.smallest) >> column.shift]
    else:
        for i in range(n):
            places[n_listed] = <uint64_t>i
            n_listed += is_open[bins[TILE_COLUMNS * i]]
    return n_listed


cdef void add_codes(
    const uint64_t* rows, const Rank* codes, int64_t step, const ValueColumn* column,
    const uint64_t* places, int64_t n, int64_t* next_place, uint64_t* keys
) noexcept nogil:
    """Make keys of codes and places, and put those of a bin together."""
    cdef:
        int64_t i, b
        uint32_t code
    for i in range(n):
        if i + FETCH_AHEAD < n:
            FETCH_EARLY(codes + number_of(rows[places[i + FETCH_AHEAD]]) * step)
        code = codes[number_of(rows[places[i]]) * step] - column.smallest
        b = code >> column.shift
        keys[next_place[b]] = <uint64_t>code << 32 | places[i]
        next_place[b] += 1


cdef void collect_rows(
    ListedTable* table, const ValueColumn* column, const uint8_t* is_open
) noexcept nogil:
    """Put the keys of the rows in open bins, bin by bin."""
    cdef:
        int64_t[MOST_BINS] next_place
        const uint64_t* rows = table.listed.rows
        uint64_t* places = table.spare
        uint64_t* keys = table.keys
        int64_t b, i, n, first = 0, start = column.number * table.n_table_rows
        uint32_t code
    for b in range(column.n_bins):
        next_place[b] = first
        if is_open[b]:
            first += rows_in(column.below[b + 1].counts - column.below[b].counts)
    n = list_open_rows(column, table.listed.n, is_open, places)
    if column.is_gathered:
        for i in range(n):
            code = column.codes[places[i]] - column.smallest
            b = code >> column.shift
            keys[next_place[b]] = <uint64_t>code << 32 | places[i]
            next_place[b] += 1
    elif table.is_local:
        add_codes(
            rows, table.local_codes + column.number, table.n_columns, column, places,
            n, next_place, keys
        )
    elif table.code_size == 1:
        add_codes(
            rows, <const uint8_t*>table.codes + start, 1, column, places, n,
            next_place, keys
        )
    elif table.code_size == 2:
        add_codes(
            rows, <const uint16_t*>table.codes + start, 1, column, places, n,
            next_place, keys
        )
    else:
        add_codes(
            rows, <const uint32_t*>table.codes + start, 1, column, places, n,
            next_place, keys
        )


cdef void search_columns(
    ListedTable* table, int64_t n_visit, ValueContest* contest
) noexcept nogil:
    """The best division of all counted columns, the earlier column where two are
    equal."""
    cdef:
        uint8_t* is_open = table.is_open
        int64_t i, n_open
        double top = -INFINITY, bound
        ValueColumn* column
    for i in range(n_visit):
        find_edge(contest, &table.value_columns[i])
        top = max(top, table.value_columns[i].edge)
    # Candidates so near the best that the order decides are all looked at.
    top -= 4.0 * contest.margin / contest.worth
    for i in range(n_visit):
        column = &table.value_columns[i]
        bound = max(top, contest.bound)
        n_open = 0
        if column.shift > 0:
            n_open = open_bins(contest, column, bound, <double*>table.tile, is_open)
        else:
            memset(is_open, 0, column.n_bins)
        if n_open == 0 and not column.edge > contest.bound:
            continue
        if n_open > 0:
            collect_rows(table, column, is_open)
        try_column(contest, column, i, is_open, table.keys, table.spare)


# ---------------------------------------------------------------------- dividing


cdef inline uint32_t code_of_row(
    const ListedTable* table, int64_t number, uint64_t row
) noexcept nogil:
    cdef int64_t first = number * table.n_table_rows
    if table.is_local:
        return table.local_codes[number_of(row) * table.n_columns + number]
    if table.code_size == 1:
        return (<const uint8_t*>table.codes)[first + number_of(row)]
    if table.code_size == 2:
        return (<const uint16_t*>table.codes)[first + number_of(row)]
    return (<const uint32_t*>table.codes)[first + number_of(row)]


cdef wide_void compare_bins(
    const uint8_t* bins, int64_t n, int64_t cut, uint8_t* goes_left
) noexcept nogil:
    cdef:
        int64_t i
        uint8_t last = <uint8_t>cut
    for i in range(n):
        goes_left[i] = bins[TILE_COLUMNS * i] <= last


cdef wide_void flag_either(
    const uint8_t* bins, int64_t n, int64_t one, int64_t other, uint8_t* flags
) noexcept nogil:
    cdef:
        int64_t i
        uint8_t low = <uint8_t>one, high = <uint8_t>other
    for i in range(n):
        flags[i] = (bins[TILE_COLUMNS * i] == low) | (bins[TILE_COLUMNS * i] == high)


cdef int64_t list_flagged(
    uint8_t* flags, int64_t n, uint64_t* places
) noexcept nogil:
    """The places that are flagged; there is room for FLAG_ROWS flags more."""
    cdef:
        int64_t i = 0, n_listed = 0
        uint64_t bits
    memset(flags + n, 0, FLAG_ROWS)
    while i < n:
        bits = FLAG_BITS(flags + i)
        while bits:
            places[n_listed] = <uint64_t>(i + LOWEST_PLACE(bits))
            n_listed += 1
            bits &= bits - 1
        i += FLAG_ROWS
    return n_listed


cdef int64_t mark_bins(
    ListedTable* table, const ValueColumn* column, int64_t cut, int64_t other,
    uint64_t* places
) noexcept nogil:
    """Mark the rows of the bins up to the cut, and list those of the last of them and
    of another bin; returns their number."""
    cdef:
        const uint8_t* bins = column.row_bins
        int64_t i, b, n = 0, n_rows = table.listed.n
    if column.is_gathered:
        for i in range(n_rows):
            b = (column.codes[i] - column.smallest) >> column.shift
            table.goes_left[i] = b <= cut
            places[n] = <uint64_t>i
            n += (b == cut) | (b == other)
        return n
    compare_bins(bins, n_rows, cut, table.goes_left)
    # The keys are no longer needed, so that there is room for flags.
    flag_either(bins, n_rows, cut, other, <uint8_t*>table.keys)
    return list_flagged(<uint8_t*>table.keys, n_rows, places)


cdef void mark_counted(
    ListedTable* table, const ValueColumn* column, Division* division
) noexcept nogil:
    """Mark the rows of child 0, and find the codes on both sides of the cut. Bins tell
    most; codes are read of the bins beside the cut."""
    cdef:
        const uint64_t* rows = table.listed.rows
        uint64_t* places = table.spare
        int64_t i, n, cut = (division.cut - column.smallest) >> column.shift
        int64_t other = cut
        uint32_t code, below = 0, above = 0xFFFFFFFF
        const Amount* ends = column.below
        bint is_left
    if not division.is_between:
        # The bins on both sides that hold rows.
        other = cut + 1
        while ends[other + 1].counts == ends[other].counts:
            other += 1
        while ends[cut + 1].counts == ends[cut].counts:
            cut -= 1
    n = mark_bins(table, column, cut, other, places)
    for i in range(n):
        if column.is_gathered:
            code = column.codes[places[i]]
        else:
            code = code_of_row(table, column.number, rows[places[i]])
        is_left = code <= division.cut
        table.goes_left[places[i]] = is_left
        below = code if is_left and code > below else below
        above = code if not is_left and code < above else above
    if not division.is_between:
        division.is_between = True
        division.cut = below
        division.above = above


cdef void search_values(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    NodeView* view, Division* division
) noexcept nogil:
    """Draw the columns of a node, find the best division of them, and mark the rows of
    child 0."""
    cdef:
        ValueContest contest
        int64_t n_visit
        const ValueColumn* column
    clear_division(division)
    contest.problem = problem
    contest.division = division
    contest.lowest = max(problem.min_samples_leaf, 1)
    contest.highest = frame.n_rows - contest.lowest
    table.listed.rows = table.rows + frame.start
    table.listed.n = frame.n_rows
    describe_values(
        table.local_y if table.is_local else table.y, view, &table.listed,
        table.amounts, &contest
    )
    n_visit = count_drawn(problem, table, worker, frame)
    if contest.lowest <= contest.highest:
        search_columns(table, n_visit, &contest)
    if division.best.column < 0:
        return
    column = &table.value_columns[contest.place]
    division.best.column = column.number
    division.best.kind = problem.kind[column.number]
    mark_counted(table, column, division)
