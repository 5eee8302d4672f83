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
    LOCAL_BYTES = 1048576  # codes that stay in the cache of one core
    MOST_LOCAL_ROWS = 16384


cdef int start_row_list(
    const Problem* problem, RowList* row_list, int64_t n_rows
) noexcept nogil:
    """Room for nodes of up to n_rows rows."""
    cdef:
        int64_t n_slots = problem.max_features, i
        int64_t n_codes = LOCAL_BYTES // <int64_t>sizeof(uint32_t)
    row_list.n_rows = n_rows
    row_list.local_rows = min(n_rows, MOST_LOCAL_ROWS, n_codes // problem.n_columns)
    row_list.rows = <uint64_t*>malloc(n_rows * sizeof(uint64_t))
    row_list.keys = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    row_list.spare = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    row_list.columns = <CountedColumn*>malloc(n_slots * sizeof(CountedColumn))
    row_list.gathered = <uint32_t*>malloc(n_slots * n_rows * sizeof(uint32_t))
    row_list.bins = <uint64_t*>malloc(n_slots * (MOST_BINS + 1) * sizeof(uint64_t))
    row_list.sums = <double*>malloc(2 * n_slots * (MOST_BINS + 1) * sizeof(double))
    row_list.is_open = <uint8_t*>malloc(MOST_BINS)
    row_list.local_codes = <uint32_t*>malloc(
        max(1, row_list.local_rows * problem.n_columns) * sizeof(uint32_t)
    )
    if (
        row_list.rows == NULL or row_list.keys == NULL or row_list.spare == NULL
        or row_list.columns == NULL or row_list.gathered == NULL
        or row_list.bins == NULL or row_list.sums == NULL or row_list.is_open == NULL
        or row_list.local_codes == NULL
    ):
        return -1
    for i in range(n_slots):
        row_list.columns[i].codes = row_list.gathered + i * n_rows
        row_list.columns[i].bins = row_list.bins + i * (MOST_BINS + 1)
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
    memset(row_list, 0, sizeof(RowList))


cdef void make_local(
    RowList* row_list, const Frame* frame, const int32_t* active
) noexcept nogil:
    """Copy the codes of a node's rows, and number them 0, 1, ... for all below it."""
    cdef:
        int64_t i, j
        uint64_t* rows = row_list.rows + frame.start
        const uint32_t* source
        uint32_t* target
    for j in range(frame.n_active):
        source = row_list.codes + active[j] * row_list.stride
        target = row_list.local_codes + active[j] * row_list.local_rows
        for i in range(frame.n_rows):
            target[i] = source[number_of(rows[i])]
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


cdef int64_t draw_columns(
    const Problem* problem, RowList* row_list, Worker* worker, Frame* frame
) noexcept nogil:
    """Draw the columns to be tried, as ``list_columns`` does, and gather their codes.

    Constant columns are only met when they are drawn; those met are left out for all
    nodes below. Returns the number of columns to be tried.
    """
    cdef:
        int32_t* active = worker.active
        int32_t* order = worker.order
        uint64_t random_state = child_state(frame.random_state, 7)
        int64_t n_columns = problem.n_columns, most = problem.max_features
        int64_t i, j, n_drawn = 0, n_visit = 0
        int32_t column, n_active = 0
        bint shuffles = problem.shuffle_columns, any_constant = False
    memset(worker.is_active, 0, n_columns)
    for i in range(frame.n_active):
        worker.is_active[active[i]] = 1
    for i in range(n_columns):
        order[i] = <int32_t>i
    for i in range(n_columns):
        if shuffles and n_drawn >= most and n_visit > 0:
            break
        column = order[i]
        if shuffles:
            j = i + random_below(&random_state, n_columns - i)
            column = order[j]
            order[j] = order[i]
        n_drawn += 1
        if not worker.is_active[column]:
            continue
        if gather_codes(row_list, frame, column, &row_list.columns[n_visit]):
            worker.visit[n_visit] = column
            n_visit += 1
            if frame.n_rows == 2 and problem.min_samples_leaf <= 1:
                # The first column that tells two rows apart is the best.
                break
        else:
            worker.is_active[column] = 0
            any_constant = True
    if any_constant:
        for i in range(frame.n_active):
            active[n_active] = active[i]
            n_active += worker.is_active[active[i]]
        frame.n_active = n_active
    return n_visit


cdef void divide_rows(
    RowList* row_list, const Frame* frame, const CountedColumn* column, uint32_t cut,
    bint moves, uint32_t* below, uint32_t* above
) noexcept nogil:
    """Rows with codes up to the cut to the front, if they have to move at all. Finds
    the codes on both sides of the threshold."""
    cdef:
        uint64_t* rows = row_list.rows + frame.start
        uint64_t* spare = row_list.spare
        # Whole numbers with a sign are what vector units compare.
        const int32_t* codes = <const int32_t*>column.codes
        int32_t highest = <int32_t>column.smallest, lowest = <int32_t>column.largest
        int32_t last = <int32_t>cut, code, low, high
        int64_t i, n_left = 0
        uint64_t row
    for i in range(frame.n_rows):
        code = codes[i]
        low = code if code <= last else <int32_t>0
        high = code if code > last else <int32_t>0x7FFFFFFF
        highest = low if low > highest else highest
        lowest = high if high < lowest else lowest
    below[0] = <uint32_t>highest
    above[0] = <uint32_t>lowest
    if not moves:
        return
    for i in range(frame.n_rows):
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += codes[i] <= last
    memcpy(rows + n_left, spare, (frame.n_rows - n_left) * sizeof(uint64_t))
