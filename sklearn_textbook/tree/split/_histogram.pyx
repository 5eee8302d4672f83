"""Best threshold of columns whose many rows are not sorted.

The rows of the node are counted in bins of codes. The divisions between bins are
candidates, and tell how good the best one is at least. The score is convex in what
lies on the left, so no division inside a bin scores more than the corners of what the
bin may put on the left; only the rows of the few bins that may hold something better
are sorted.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.split._counted cimport (
    COUNT_BITS,
    COUNT_MASK,
    FETCH_AHEAD,
    FETCH_EARLY,
    MOST_BINS,
    TILE_COLUMNS,
    counts_of,
    number_of,
    ones_in,
    reaches,
    rows_in,
    try_division,
    walk_up,
    weight_in,
)
from sklearn_textbook.tree.split._types cimport uint32_t
from sklearn_textbook.tree.split._wide_units cimport wide_void


cdef enum:
    FEW_BINS = 64


# ---------------------------------------------------------------------- counting


cdef int32_t choose_coarseness(int64_t n) noexcept nogil:
    """How many neighbouring bins of the table, as a power of two, make one bin of a
    node of n rows: a bin for four rows or so, of few bins one for two."""
    cdef:
        int32_t coarseness = 0
        int64_t most = max(n // 4, min(n // 2, <int64_t>FEW_BINS))
    while MOST_BINS >> coarseness > most:
        coarseness += 1
    return coarseness


cdef void choose_bins(CountedColumn* column, int64_t n) noexcept nogil:
    """As many bins between the smallest and the largest code of the node."""
    cdef uint32_t most = <uint32_t>(MOST_BINS >> choose_coarseness(n))
    column.smallest = column.lowest
    column.largest = column.highest
    column.shift = 0
    while (column.largest - column.smallest) >> column.shift >= most:
        column.shift += 1
    column.n_bins = ((column.largest - column.smallest) >> column.shift) + 1


cdef inline void count_row(
    const uint8_t** bins, int64_t place, uint64_t counts, int32_t coarseness,
    uint8_t* row_bins, uint64_t* tile
) noexcept nogil:
    """Count a row in four columns, and keep its bins."""
    cdef:
        uint32_t first = bins[0][place], second = bins[1][place]
        uint32_t third = bins[2][place], fourth = bins[3][place]
        uint32_t word = first | second << 8 | third << 16 | fourth << 24
    # One shift for all four; what falls into the neighbour's bits is left out.
    word = word >> coarseness & (<uint32_t>0xFF >> coarseness) * <uint32_t>0x01010101
    row_bins[0] = <uint8_t>word
    row_bins[1] = <uint8_t>(word >> 8)
    row_bins[2] = <uint8_t>(word >> 16)
    row_bins[3] = <uint8_t>(word >> 24)
    tile[word & 0xFF] += counts
    tile[MOST_BINS + (word >> 8 & 0xFF)] += counts
    tile[2 * MOST_BINS + (word >> 16 & 0xFF)] += counts
    tile[3 * MOST_BINS + (word >> 24)] += counts


cdef inline void count_four(
    const uint8_t* row_bins, int64_t width, const uint64_t* rows, int64_t n,
    CountedColumn** columns, int32_t coarseness, bint is_far, uint8_t* tile_bins,
    uint64_t* tile
) noexcept nogil:
    """Four columns in one pass: their bins stand in the same line of the cache. They
    are kept, as some will be asked for again."""
    cdef:
        const uint8_t* bins[TILE_COLUMNS]
        int64_t i, j
    for j in range(TILE_COLUMNS):
        bins[j] = row_bins + columns[j].number
    for i in range(0, n - 1, 2):
        for j in range(2):
            if is_far:
                FETCH_EARLY(row_bins + number_of(rows[i + j + FETCH_AHEAD]) * width)
            count_row(
                bins, number_of(rows[i + j]) * width, counts_of(rows[i + j]),
                coarseness, tile_bins + TILE_COLUMNS * (i + j), tile
            )
    if n & 1:
        count_row(
            bins, number_of(rows[n - 1]) * width, counts_of(rows[n - 1]), coarseness,
            tile_bins + TILE_COLUMNS * (n - 1), tile
        )


cdef void count_columns(
    const uint8_t* row_bins, int64_t width, const uint64_t* rows, int64_t n,
    CountedColumn** columns, int64_t n_columns, int32_t coarseness, bint is_far,
    uint8_t* tile_bins, uint64_t* tile
) noexcept nogil:
    """Count the rows of up to four columns; MOST_BINS entries of the tile for each."""
    cdef:
        CountedColumn* all_columns[TILE_COLUMNS]
        int64_t i
    # A column that is counted twice costs less than a pass of its own for another.
    for i in range(TILE_COLUMNS):
        all_columns[i] = columns[min(i, n_columns - 1)]
        memset(tile + i * MOST_BINS, 0, all_columns[i].n_bins * sizeof(uint64_t))
    for i in range(n_columns):
        columns[i].row_bins = tile_bins + i
    # Numbers that the compiler knows make loops of their own.
    if is_far and coarseness == 0:
        count_four(row_bins, width, rows, n, all_columns, 0, True, tile_bins, tile)
    elif coarseness == 0:
        count_four(row_bins, width, rows, n, all_columns, 0, False, tile_bins, tile)
    elif coarseness == 1:
        count_four(row_bins, width, rows, n, all_columns, 1, False, tile_bins, tile)
    elif coarseness == 2:
        count_four(row_bins, width, rows, n, all_columns, 2, False, tile_bins, tile)
    else:
        count_four(row_bins, width, rows, n, all_columns, 3, False, tile_bins, tile)


cdef void count_codes(
    const CountedColumn* column, const uint64_t* rows, int64_t n, uint64_t* tile
) noexcept nogil:
    """Count the rows of a column whose codes are gathered."""
    cdef:
        int64_t i
        const uint32_t* codes = column.codes
        uint32_t smallest = column.smallest
        int32_t shift = column.shift
    memset(tile, 0, column.n_bins * sizeof(uint64_t))
    for i in range(n):
        tile[(codes[i] - smallest) >> shift] += counts_of(rows[i])


cdef int64_t add_up_bins(CountedColumn* column, const uint64_t* tile) noexcept nogil:
    """Turn counts of bins into counts below them; returns the bins that hold rows."""
    cdef:
        int64_t b, n_used = 0
        uint64_t counts = 0
    column.bins[0] = 0
    for b in range(column.n_bins):
        n_used += tile[b] != 0
        counts += tile[b]
        column.bins[b + 1] = counts
    return n_used


# ---------------------------------------------------------------------- searching


cdef wide_void measure_ends(
    const uint64_t* bins, int64_t n_ends, double n, double t, double* all_ones,
    double* cross, double* area, double* scores
) noexcept nogil:
    """The scores of the ends of bins, and what they are made of."""
    cdef:
        int64_t b
        double weight, ones
    for b in range(n_ends):
        # 21 bits each: narrow numbers are what vector units turn into doubles.
        weight = <double><int32_t>((bins[b] >> COUNT_BITS) & COUNT_MASK)
        ones = <double><int32_t>(bins[b] & COUNT_MASK)
        all_ones[b] = ones
        cross[b] = ones * n - t * weight
        area[b] = weight * (n - weight)
    for b in range(n_ends):
        scores[b] = cross[b] * cross[b] / area[b]


cdef wide_void find_excess(
    const double* ones, const double* cross, const double* area, int64_t n_bins,
    double rest, double n, double bound, double* excess
) noexcept nogil:
    """By how much the bins may exceed a bound."""
    cdef:
        int64_t b
        double gained, high, low, square, smaller
    # In a bin, d lies between what its ones alone and what its zeros alone would make
    # of it, and k (n - k) is not below that of one of the ends.
    for b in range(n_bins):
        gained = (ones[b + 1] - ones[b]) * rest
        high = cross[b] + gained
        low = cross[b + 1] - gained
        high *= high
        low *= low
        square = high if high > low else low
        smaller = area[b] if area[b] < area[b + 1] else area[b + 1]
        smaller = smaller if smaller > n - 1.0 else n - 1.0
        excess[b] = square - bound * smaller


cdef void find_edge(const Contest* contest, CountedColumn* column) noexcept nogil:
    """The best end of a bin. Empty bins repeat a candidate, which is cheaper than to
    ask for them."""
    cdef:
        int64_t b, lane, first = 1, last = column.n_bins - 1
        const double* scores = column.scores
        double[4] tops  # several at once: a comparison waits for the one before it
        double edge = -1.0
    measure_ends(
        column.bins, column.n_bins + 1, contest.n, contest.t, column.ones,
        column.cross, column.area, column.scores
    )
    while first <= last and rows_in(column.bins[first]) < contest.lowest:
        first += 1
    while first <= last and rows_in(column.bins[last]) > contest.highest:
        last -= 1
    for lane in range(4):
        tops[lane] = -1.0
    while first + 3 <= last:
        for lane in range(4):
            tops[lane] = max(tops[lane], scores[first + lane])
        first += 4
    for lane in range(4):
        edge = max(edge, tops[lane])
    for b in range(first, last + 1):
        edge = max(edge, scores[b])
    column.edge = edge if edge >= 0.0 else -INFINITY


cdef bint may_hold_better(
    const Contest* contest, uint64_t below, uint64_t inside, double bound
) noexcept nogil:
    """Whether a division inside a bin may exceed the bound: one that leaves at least
    one row of the bin on either side. Rows weigh 1 or more."""
    cdef:
        double n = contest.n, t = contest.t
        double left = <double>ones_in(below), k = <double>weight_in(below)
        double b = <double>weight_in(inside), ones = <double>ones_in(inside)
        double zeros = b - ones
    if rows_in(inside) < 2:
        return False
    if ones > 0.0 and (
        reaches(left + 1.0, k + 1.0, n, t, bound)
        or reaches(left + ones - 1.0, k + b - 1.0, n, t, bound)
    ):
        return True
    if zeros > 0.0 and (
        reaches(left, k + 1.0, n, t, bound)
        or reaches(left + ones, k + b - 1.0, n, t, bound)
    ):
        return True
    return ones > 0.0 and zeros > 0.0 and (
        reaches(left + ones, k + ones, n, t, bound)
        or reaches(left, k + zeros, n, t, bound)
    )


cdef int64_t open_bins(
    const Contest* contest, const CountedColumn* column, double bound,
    double* excess, uint8_t* is_open
) noexcept nogil:
    """Mark the bins that may hold something better; returns how many."""
    cdef:
        int64_t b, n_open = 0
    find_excess(
        column.ones, column.cross, column.area, column.n_bins, contest.n - contest.t,
        contest.n, bound, excess
    )
    for b in range(column.n_bins):
        is_open[b] = False
        if excess[b] > 0.0:
            is_open[b] = bound == -INFINITY or may_hold_better(
                contest, column.bins[b], column.bins[b + 1] - column.bins[b], bound
            )
            n_open += is_open[b]
    return n_open


cdef int64_t collect_coded_rows(
    const CountedColumn* column, int64_t n, const uint8_t* is_open, uint64_t* keys
) noexcept nogil:
    """The rows of the open bins, with their codes, where those are gathered."""
    cdef:
        int64_t i, n_collected = 0
        const uint32_t* codes = column.codes
        uint32_t code, smallest = column.smallest
        int32_t shift = column.shift
    for i in range(n):
        code = codes[i] - smallest
        keys[n_collected] = <uint64_t>code << 32 | <uint32_t>i
        n_collected += is_open[code >> shift]
    return n_collected


cdef int64_t collect_rows(
    const CountedColumn* column, int64_t n, const uint8_t* is_open, uint64_t* keys
) noexcept nogil:
    """The rows whose bin in a column is open, without their codes."""
    cdef:
        int64_t i, n_collected = 0
        const uint8_t* row_bins = column.row_bins
    for i in range(n):
        keys[n_collected] = <uint64_t>i
        n_collected += is_open[row_bins[TILE_COLUMNS * i]]
    return n_collected


cdef void try_column(
    const Problem* problem, Contest* contest, const CountedColumn* column,
    int32_t place, const uint64_t* rows, const uint8_t* is_open, const uint64_t* keys
) noexcept nogil:
    """All candidates in ascending order: those inside open bins, and the ends."""
    cdef:
        int64_t b, first = 0, n_inside
        const double* cross = column.cross
        const double* area = column.area
    for b in range(column.n_bins):
        if is_open[b]:
            n_inside = rows_in(column.bins[b + 1] - column.bins[b])
            if n_inside > 0:
                walk_up(
                    problem, contest, place, column.smallest, keys + first, n_inside,
                    rows, column.bins[b]
                )
            first += n_inside
        if cross[b + 1] * cross[b + 1] > contest.bound * area[b + 1]:
            try_division(
                problem, contest, place, column.bins[b + 1],
                column.smallest + (<uint32_t>(b + 1) << column.shift) - 1, 0, False
            )
