"""Classes: the best division of a node of many rows.

As in ``_value_search``, rows are counted in bins, several columns in one pass, and
codes are read only of rows whose bin may hold something better.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.grow._listed_rows cimport gather_codes, note_column
from sklearn_textbook.tree.grow._row_list cimport (
    Draw,
    Span,
    draw_number,
    finish_draw,
    start_draw,
)
from sklearn_textbook.tree.split._class_bins cimport (
    ClassBins,
    ClassColumn,
    ClassContest,
    add_up_bins,
    count_codes,
    count_columns,
    start_class_contest,
)
from sklearn_textbook.tree.split._class_division cimport (
    find_edge,
    open_bins,
    try_column,
)
from sklearn_textbook.tree.split._counted cimport (
    FETCH_AHEAD,
    FETCH_EARLY,
    FEW_ROWS,
    MOST_BINS,
    TILE_COLUMNS,
)
from sklearn_textbook.tree.split._listed cimport (
    LISTED_CLASSES,
    ListedColumn,
    class_of,
    clear_division,
    number_of,
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


cdef enum:
    CLASSES_PER_ROW = 8  # so many more, and a bin should have one row more
    FEWEST_BINS = 16
    FEWEST_USED = 8  # bins with rows, below which a column is counted more finely

ctypedef fused Rank:
    uint8_t
    uint16_t
    uint32_t


cdef bint counts_classes(const ListedTable* table, const Frame* frame) noexcept nogil:
    """Whether ``search_classes`` serves the node."""
    return frame.n_rows > FEW_ROWS and table.listed.kind == LISTED_CLASSES


# --------------------------------------------------------------------- counting


cdef inline int32_t choose_coarseness(
    const ClassBins* room, int64_t n, int64_t n_classes
) noexcept nogil:
    """How many neighbouring bins of the table, as a power of two, make one bin of a
    node of n rows: a bin for two rows or so, but fewer if there are many classes to be
    counted in each. With fewer, more rows are to be sorted."""
    cdef:
        int32_t coarseness = room.coarseness
        int64_t most = n // (2 + n_classes // CLASSES_PER_ROW)
    most = max(most, <int64_t>FEWEST_BINS)
    while MOST_BINS >> coarseness > most:
        coarseness += 1
    return coarseness


cdef int64_t draw_tile(
    const Problem* problem, ListedTable* table, Worker* worker, Draw* draw,
    int32_t coarseness, ClassColumn** columns
) noexcept nogil:
    """Draw the columns of the next pass over the rows; returns their number."""
    cdef:
        int64_t n = 0
        ClassColumn* column
        const Span* span
    draw.n_waiting = 0
    while n < TILE_COLUMNS and draw.n_found + n < problem.max_features:
        column = &table.class_bins.columns[draw.n_found + n]
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
    const ListedTable* table, const Frame* frame, int32_t coarseness,
    ClassColumn* column
) noexcept nogil:
    """Put the codes of the node's rows next to each other, and choose bins for them;
    whether they differ."""
    cdef:
        ListedColumn coded
        uint32_t most = <uint32_t>(MOST_BINS >> coarseness)
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
    const ListedTable* table, const Frame* frame, const ClassContest* contest,
    int32_t coarseness, ClassColumn* column
) noexcept nogil:
    """Finish the counts of a column; whether the node's codes in it differ. Where they
    fill few bins, they are counted in finer ones."""
    cdef int64_t n_used = add_up_bins(contest, column)
    if n_used >= FEWEST_USED or (column.shift == 0 and n_used > 1):
        return True
    if column.shift == 0 or not gather_column(table, frame, coarseness, column):
        return False
    count_codes(contest, column, table.rows + frame.start, frame.n_rows)
    add_up_bins(contest, column)
    return True


cdef int64_t count_drawn(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    int32_t coarseness, const ClassContest* contest
) noexcept nogil:
    """Draw the columns to be tried, and count their bins; returns their number."""
    cdef:
        Draw draw
        ClassColumn* columns[TILE_COLUMNS]
        ClassColumn* place
        ClassColumn held
        ClassBins* room = &table.class_bins
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
            contest, row_bins, problem.n_columns, table.rows + frame.start,
            frame.n_rows, columns, n, coarseness, not table.is_local,
            room.tile_bins + n_kept * TILE_COLUMNS * table.n_rows, room.spare_counts
        )
        before = draw.n_found
        for i in range(n):
            varies = differs(table, frame, contest, coarseness, columns[i])
            if varies:
                # Those that differ stand at the front, in the order of the draw.
                place = &room.columns[draw.n_found]
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


cdef inline int64_t bin_of(const ClassColumn* column, int64_t i) noexcept nogil:
    """The bin of the node's i-th row."""
    if column.is_gathered:
        return (column.codes[i] - column.smallest) >> column.shift
    return column.row_bins[TILE_COLUMNS * i]


cdef int64_t list_open_rows(
    const ClassColumn* column, int64_t n, const uint8_t* is_open, uint64_t* places
) noexcept nogil:
    """The places of the rows whose bin is open."""
    cdef:
        const uint8_t* bins = column.row_bins
        int64_t i, n_listed = 0
    if column.is_gathered:
        for i in range(n):
            places[n_listed] = <uint64_t>i
            n_listed += is_open[bin_of(column, i)]
    else:
        for i in range(n):
            places[n_listed] = <uint64_t>i
            n_listed += is_open[bins[TILE_COLUMNS * i]]
    return n_listed


cdef void add_codes(
    const uint64_t* rows, const Rank* codes, int64_t step, const ClassColumn* column,
    const uint64_t* places, int64_t n, int64_t* next_place, uint64_t* keys
) noexcept nogil:
    """Make keys of codes, weights and classes, and put those of a bin together."""
    cdef:
        int64_t i, b
        uint32_t code
        uint64_t row
    for i in range(n):
        if i + FETCH_AHEAD < n:
            FETCH_EARLY(codes + number_of(rows[places[i + FETCH_AHEAD]]) * step)
        row = rows[places[i]]
        code = codes[number_of(row) * step] - column.smallest
        b = code >> column.shift
        keys[next_place[b]] = <uint64_t>code << 32 | row >> 32
        next_place[b] += 1


cdef void collect_rows(
    ListedTable* table, const ClassColumn* column, const uint64_t* rows, int64_t n,
    const uint8_t* is_open, int64_t* first_key
) noexcept nogil:
    """Put the keys of the rows in open bins, bin by bin."""
    cdef:
        int64_t[MOST_BINS] next_place
        uint64_t* places = table.spare
        uint64_t* keys = table.keys
        int64_t b, i, start = column.number * table.n_table_rows
        uint32_t code
    n = list_open_rows(column, n, is_open, places)
    memset(first_key, 0, (column.n_bins + 1) * sizeof(int64_t))
    for i in range(n):
        first_key[bin_of(column, places[i]) + 1] += 1
    for b in range(column.n_bins):
        next_place[b] = first_key[b]
        first_key[b + 1] += first_key[b]
    if column.is_gathered:
        for i in range(n):
            code = column.codes[places[i]] - column.smallest
            b = code >> column.shift
            keys[next_place[b]] = <uint64_t>code << 32 | rows[places[i]] >> 32
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
    ListedTable* table, Worker* worker, const uint64_t* rows, int64_t n,
    int64_t n_visit, ClassContest* contest
) noexcept nogil:
    """The best division of all counted columns, the earlier column where two are
    equal."""
    cdef:
        int64_t[MOST_BINS + 1] first_key
        uint8_t* is_open = table.is_open
        int64_t i, n_open
        double top = -INFINITY
        ClassColumn* column
    for i in range(n_visit):
        column = &table.class_bins.columns[i]
        find_edge(contest, column)
        top = max(top, column.edge)
    # Candidates so near the best that the order decides are all looked at.
    top -= contest.slack
    for i in range(n_visit):
        column = &table.class_bins.columns[i]
        n_open = 0
        if column.shift > 0:
            n_open = open_bins(contest, column, max(top, contest.bound), is_open)
        else:
            memset(is_open, 0, column.n_bins)
        # The edge is rounded in another way than a candidate.
        if n_open == 0 and not column.edge + 0.25 * contest.slack > contest.bound:
            continue
        if n_open > 0:
            collect_rows(table, column, rows, n, is_open, first_key)
        try_column(
            contest, column, i, is_open, first_key, table.keys, table.spare,
            worker.scratch.left_count, worker.scratch.right_count
        )


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


cdef int64_t mark_bins(
    ListedTable* table, const ClassColumn* column, int64_t n_rows, int64_t cut,
    int64_t other, uint64_t* places
) noexcept nogil:
    """Mark the rows of the bins up to the cut, and list those of the last of them and
    of another bin; returns their number."""
    cdef:
        const uint8_t* bins = column.row_bins
        int64_t i, b, n = 0
    if column.is_gathered:
        for i in range(n_rows):
            b = bin_of(column, i)
            table.goes_left[i] = b <= cut
            places[n] = <uint64_t>i
            n += (b == cut) | (b == other)
        return n
    compare_bins(bins, n_rows, cut, table.goes_left)
    for i in range(n_rows):
        b = bins[TILE_COLUMNS * i]
        places[n] = <uint64_t>i
        n += (b == cut) | (b == other)
    return n


cdef void mark_counted(
    ListedTable* table, const ClassContest* contest, const ClassColumn* column,
    const uint64_t* rows, int64_t n_rows, double* left
) noexcept nogil:
    """Mark the rows of child 0, add up its classes, and find the codes on both sides of
    the cut. Bins tell most; codes are read of the bins beside the cut."""
    cdef:
        Division* division = contest.division
        uint64_t* places = table.spare
        int64_t i, n, cut = (division.cut - column.smallest) >> column.shift
        int64_t other = cut, n_left = 0, end = cut + (not division.is_between)
        uint32_t code, below = 0, above = 0xFFFFFFFF
        const double* weight = column.weight
        bint is_left
    if not division.is_between:
        # The bins on both sides that hold rows.
        other = cut + 1
        while weight[other + 1] == weight[other]:
            other += 1
        while weight[cut + 1] == weight[cut]:
            cut -= 1
    for i in range(contest.n_classes):
        left[i] = <double>column.below[i * contest.stride + end]
    n = mark_bins(table, column, n_rows, cut, other, places)
    for i in range(n):
        if column.is_gathered:
            code = column.codes[places[i]]
        else:
            code = code_of_row(table, column.number, rows[places[i]])
        is_left = code <= division.cut
        table.goes_left[places[i]] = is_left
        below = code if is_left and code > below else below
        above = code if not is_left and code < above else above
        if division.is_between:
            left[class_of(rows[places[i]])] += <double>(
                <int64_t>(rows[places[i]] >> 48) * is_left
            )
    if not division.is_between:
        division.is_between = True
        division.cut = below
        division.above = above
    for i in range(n_rows):
        n_left += table.goes_left[i]
    division.best.position = n_left
    division.counts |= <uint64_t>n_left << 32
    division.left = left


cdef void search_classes(
    const Problem* problem, ListedTable* table, Worker* worker, Frame* frame,
    const NodeView* view, Division* division
) noexcept nogil:
    """Draw the columns of a node, find the best division of them, and mark the rows of
    child 0."""
    cdef:
        ClassContest contest
        int64_t n_visit
        int32_t coarseness = choose_coarseness(
            &table.class_bins, frame.n_rows, problem.n_statistics
        )
        const uint64_t* rows = table.rows + frame.start
        const ClassColumn* column
    clear_division(division)
    table.listed.rows = rows
    table.listed.n = frame.n_rows
    start_class_contest(
        problem, view, division, &table.class_bins, coarseness, &contest
    )
    n_visit = count_drawn(problem, table, worker, frame, coarseness, &contest)
    if contest.lowest <= contest.highest:
        search_columns(table, worker, rows, frame.n_rows, n_visit, &contest)
    if division.best.column < 0:
        return
    column = &table.class_bins.columns[contest.place]
    division.best.column = column.number
    division.best.kind = problem.kind[column.number]
    mark_counted(
        table, &contest, column, rows, frame.n_rows, worker.scratch.left
    )
