"""The best division of a node whose rows are a list.

A node of few rows reads the codes of the columns it has drawn and sorts them. A larger
one counts its rows in bins, several columns in one pass, and reads codes only of the
columns that may hold something better inside a bin.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.grow._row_list cimport (
    Draw,
    Span,
    add_codes,
    divide_by_bins,
    draw_columns,
    draw_number,
    find_range,
    finish_draw,
    gather_codes,
    start_draw,
)
from sklearn_textbook.tree.split._counted cimport (
    FEW_ROWS,
    MOST_BINS,
    TILE_COLUMNS,
    CountedColumn,
    search_few_rows,
    sort_keys,
    start_contest,
)
from sklearn_textbook.tree.split._histogram cimport (
    add_up_bins,
    choose_bins,
    choose_coarseness,
    collect_coded_rows,
    collect_rows,
    count_codes,
    count_columns,
    find_edge,
    open_bins,
    try_column,
)
from sklearn_textbook.tree.split._types cimport (
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
    uint64_t,
)


cdef enum:
    FEWEST_USED = 8  # bins with rows, below which a column is counted more finely


cdef int64_t draw_tile(
    const Problem* problem, RowList* row_list, Worker* worker, Draw* draw,
    int32_t coarseness, CountedColumn** columns
) noexcept nogil:
    """Draw the columns of the next pass over the rows; returns their number."""
    cdef:
        int64_t n = 0
        CountedColumn* column
        const Span* span
    draw.n_waiting = 0
    while n < TILE_COLUMNS and draw.n_found + n < problem.max_features:
        column = &row_list.columns[draw.n_found + n]
        column.number = draw_number(problem, worker, draw)
        if column.number < 0:
            break
        span = &row_list.table.spans[column.number]
        if row_list.is_local:
            span = &row_list.local_spans[column.number]
        column.is_gathered = False
        column.smallest = span.smallest
        column.largest = span.largest
        column.shift = span.shift + coarseness
        column.n_bins = ((span.largest - span.smallest) >> column.shift) + 1
        columns[n] = column
        n += 1
        draw.n_waiting = n
    return n


cdef bint differs(
    const RowList* row_list, const Frame* frame, CountedColumn* column, uint64_t* tile
) noexcept nogil:
    """Finish the counts of a column; whether the node's codes in it differ. Where they
    fill few bins, they are counted in finer ones."""
    cdef int64_t n_used = add_up_bins(column, tile)
    if n_used >= FEWEST_USED or (column.shift == 0 and n_used > 1):
        return True
    if column.shift == 0:
        return False
    gather_codes(row_list, frame, column)
    if not find_range(column, frame.n_rows):
        return False
    choose_bins(column, frame.n_rows)
    count_codes(column, row_list.rows + frame.start, frame.n_rows, tile)
    add_up_bins(column, tile)
    return True


cdef int64_t count_drawn(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame
) noexcept nogil:
    """Draw the columns to be tried, and count their bins; returns their number."""
    cdef:
        Draw draw
        CountedColumn* columns[TILE_COLUMNS]
        CountedColumn* place
        CountedColumn held
        int32_t coarseness = choose_coarseness(frame.n_rows)
        int64_t i, n
        const uint8_t* row_bins = row_list.table.row_bins
    if row_list.is_local:
        row_bins = row_list.local_bins
    start_draw(problem, worker, frame, &draw)
    while True:
        n = draw_tile(problem, row_list, worker, &draw, coarseness, columns)
        if n == 0:
            break
        count_columns(
            row_bins, problem.n_columns, row_list.rows + frame.start, frame.n_rows,
            columns, n, coarseness, not row_list.is_local,
            row_list.tile_bins + draw.n_found * TILE_COLUMNS * frame.n_rows,
            row_list.tile
        )
        for i in range(n):
            if not differs(
                row_list, frame, columns[i], row_list.tile + i * MOST_BINS
            ):
                worker.is_active[columns[i].number] = 0
                draw.any_constant = True
                continue
            # Those that differ stand at the front, in the order of the draw.
            place = &row_list.columns[draw.n_found]
            if place != columns[i]:
                held = place[0]
                place[0] = columns[i][0]
                columns[i][0] = held
            worker.visit[draw.n_found] = place.number
            draw.n_found += 1
    finish_draw(worker, frame, &draw)
    return draw.n_found


cdef void search_columns(
    const Problem* problem, RowList* row_list, const Frame* frame, int64_t n_visit,
    Contest* contest
) noexcept nogil:
    """The best division of all counted columns, the earlier column where two are
    equal."""
    cdef:
        const uint64_t* rows = row_list.rows + frame.start
        uint8_t* is_open = row_list.is_open
        int64_t i, n_open, n = frame.n_rows
        double top = -INFINITY, bound
        CountedColumn* column
    row_list.keys_place = -1
    for i in range(n_visit):
        find_edge(contest, &row_list.columns[i])
        top = max(top, row_list.columns[i].edge)
    # Candidates so near the best that the order decides are all looked at.
    top -= 4.0 * contest.margin * contest.n * 0.5
    for i in range(n_visit):
        column = &row_list.columns[i]
        bound = max(top, contest.bound)
        n_open = 0
        if column.shift > 0:
            n_open = open_bins(
                contest, column, bound, <double*>row_list.tile, is_open
            )
        else:
            memset(is_open, 0, column.n_bins)
        if n_open == 0 and not column.edge > contest.bound:
            continue
        if n_open > 0:
            if column.is_gathered:
                row_list.n_keys = collect_coded_rows(
                    column, n, is_open, row_list.keys
                )
            else:
                row_list.n_keys = collect_rows(column, n, is_open, row_list.keys)
                add_codes(row_list, frame, column, row_list.keys, row_list.n_keys)
            sort_keys(
                row_list.keys, row_list.n_keys, row_list.spare,
                column.largest - column.smallest
            )
            row_list.keys_place = <int32_t>i
        try_column(
            problem, contest, column, <int32_t>i, rows, is_open, row_list.keys
        )


cdef void find_division(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame,
    const NodeView* view, Contest* contest
) noexcept nogil:
    """Draw the columns of a node, and find the best division of them."""
    cdef:
        int64_t i, n_visit
    start_contest(problem, view, contest)
    if contest.lowest > contest.highest:
        return
    if frame.n_rows > FEW_ROWS:
        n_visit = count_drawn(problem, row_list, worker, frame)
        search_columns(problem, row_list, frame, n_visit, contest)
    else:
        n_visit = draw_columns(problem, row_list, worker, frame)
        for i in range(n_visit):
            search_few_rows(
                problem, contest, &row_list.columns[i], <int32_t>i,
                row_list.rows + frame.start, frame.n_rows, row_list.keys
            )


cdef void find_sides(
    const CountedColumn* column, const uint64_t* keys, int64_t n, uint32_t cut,
    uint32_t* below, uint32_t* above
) noexcept nogil:
    """The largest code up to the cut, and the smallest above it."""
    cdef:
        int64_t i
        uint32_t code, largest = 0, smallest = 0xFFFFFFFF, most = cut - column.smallest
    for i in range(n):
        code = <uint32_t>(keys[i] >> 32)
        if code <= most:
            largest = max(largest, code)
        else:
            smallest = min(smallest, code)
    below[0] = column.smallest + largest
    above[0] = column.smallest + smallest


cdef void divide_counted(
    RowList* row_list, const Frame* frame, const Contest* contest, bint moves,
    uint32_t* below, uint32_t* above
) noexcept nogil:
    """Divide the rows by their bins, if they have to move at all. Finds the codes on
    both sides of the threshold. Codes are read only next to it."""
    cdef:
        CountedColumn* column = &row_list.columns[contest.place]
        uint8_t* is_open = row_list.is_open
        uint64_t* keys = row_list.keys
        int64_t low = (contest.cut - column.smallest) >> column.shift, high = low
        int64_t i, n, limit = low + 1
        uint32_t most = contest.cut - column.smallest
    below[0] = contest.cut
    above[0] = contest.above
    if contest.is_between and not moves:
        return
    if not contest.is_between:
        while column.bins[low] == column.bins[low + 1]:
            low -= 1
        high += 1
        while column.bins[high] == column.bins[high + 1]:
            high += 1
        below[0] = column.smallest + <uint32_t>low
        above[0] = column.smallest + <uint32_t>high
    if column.shift > 0:
        n = row_list.n_keys
        if not contest.is_between or row_list.keys_place != contest.place:
            memset(is_open, 0, column.n_bins)
            is_open[low] = is_open[high] = True
            n = collect_rows(column, frame.n_rows, is_open, keys)
            add_codes(row_list, frame, column, keys, n)
        if contest.is_between:
            # The rows of this bin, and maybe of others, go to the ends.
            for i in range(n):
                column.row_bins[TILE_COLUMNS * <uint32_t>keys[i]] = (
                    0 if <uint32_t>(keys[i] >> 32) <= most else 0xFF
                )
            limit = max(low, 1)
        else:
            find_sides(column, keys, n, contest.cut, below, above)
    if moves:
        divide_by_bins(row_list, frame, column, limit)
