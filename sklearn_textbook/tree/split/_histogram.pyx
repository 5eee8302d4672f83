"""Best threshold of columns whose many rows are not sorted.

The rows of the node are counted in bins of codes, between the smallest and the
largest code of the node. The divisions between bins are candidates, and tell how good
the best one is at least. The score is convex in what lies on the left, so no division
inside a bin scores more than the corners of what the bin may put on the left; only the
rows of the few bins that may hold something better are sorted.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.split._counted cimport (
    MOST_BINS,
    counts_of,
    ones_in,
    reaches,
    rows_in,
    sort_keys,
    try_division,
    walk_up,
    weight_in,
)
from sklearn_textbook.tree.split._types cimport int32_t, uint32_t


cdef enum:
    FEWEST_BINS = 16


cdef void choose_bins(CountedColumn* column, int64_t n) noexcept nogil:
    """A bin for eight rows or so, and a power of two of codes in each."""
    cdef:
        uint32_t width = column.largest - column.smallest
        uint32_t most = <uint32_t>min(max(n // 8, FEWEST_BINS), <int64_t>MOST_BINS)
    column.shift = 0
    while width >> column.shift >= most:
        column.shift += 1
    column.n_bins = (width >> column.shift) + 1


cdef void count_bins(
    CountedColumn* column, const uint64_t* counts, int64_t n
) noexcept nogil:
    """Entry b + 1 gets the counts of bin b."""
    cdef:
        int64_t i
        uint64_t* bins = column.bins + 1
        const uint32_t* codes = column.codes
        uint32_t smallest = column.smallest
        int32_t shift = column.shift
    memset(column.bins, 0, (column.n_bins + 1) * sizeof(uint64_t))
    for i in range(n):
        bins[(codes[i] - smallest) >> shift] += counts[i]


cdef void add_up_bins(const Contest* contest, CountedColumn* column) noexcept nogil:
    """Turn counts of bins into counts below them, and find the best end of a bin.
    Empty bins repeat a candidate, which is cheaper than to ask for them."""
    cdef:
        int64_t b
        uint64_t counts = 0
        uint64_t* bins = column.bins
        double* all_ones = column.ones
        double* all_weight = column.weight
        double n = contest.n, t = contest.t, ones, weight, d, area
        double best_square = -1.0, best_area = 1.0
    for b in range(column.n_bins + 1):
        counts += bins[b]
        bins[b] = counts
        weight = <double>weight_in(counts)
        ones = <double>ones_in(counts)
        all_ones[b] = ones
        all_weight[b] = weight
        d = ones * n - t * weight
        area = weight * (n - weight)
        if d * d * best_area > best_square * area:
            if contest.lowest <= rows_in(counts) <= contest.highest:
                best_square = d * d
                best_area = area
    column.edge = best_square / best_area if best_square >= 0.0 else -INFINITY


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
    uint8_t* is_open
) noexcept nogil:
    """Mark the bins that may hold something better; returns how many."""
    cdef:
        int64_t b, n_open = 0
        const double* ones = column.ones
        const double* weight = column.weight
        double n = contest.n, t = contest.t, gained
        bint start_reaches = True, end_reaches
    for b in range(column.n_bins):
        gained = ones[b + 1] - ones[b]
        end_reaches = reaches(ones[b + 1], weight[b + 1], n, t, bound)
        is_open[b] = (
            start_reaches
            | end_reaches
            | reaches(ones[b + 1], weight[b] + gained, n, t, bound)
            | reaches(ones[b], weight[b + 1] - gained, n, t, bound)
        )
        start_reaches = end_reaches
    for b in range(column.n_bins):
        if is_open[b]:
            is_open[b] = bound == -INFINITY or may_hold_better(
                contest, column.bins[b], column.bins[b + 1] - column.bins[b], bound
            )
            n_open += is_open[b]
    return n_open


cdef int64_t collect_rows(
    const CountedColumn* column, int64_t n, const uint8_t* is_open, uint64_t* keys
) noexcept nogil:
    """The rows of the open bins, with their codes."""
    cdef:
        int64_t i, n_collected = 0
        uint32_t code
    for i in range(n):
        code = column.codes[i] - column.smallest
        keys[n_collected] = <uint64_t>code << 32 | <uint32_t>i
        n_collected += is_open[code >> column.shift]
    return n_collected


cdef void try_column(
    const Problem* problem, Contest* contest, const CountedColumn* column,
    int32_t place, const uint64_t* rows, const uint8_t* is_open, const uint64_t* keys
) noexcept nogil:
    """All candidates in ascending order: those inside open bins, and the ends."""
    cdef:
        int64_t b, first = 0, n_inside
        double n = contest.n, t = contest.t
    for b in range(column.n_bins):
        if is_open[b]:
            n_inside = rows_in(column.bins[b + 1] - column.bins[b])
            if n_inside > 0:
                walk_up(
                    problem, contest, place, column.smallest, keys + first, n_inside,
                    rows, column.bins[b]
                )
            first += n_inside
        if reaches(column.ones[b + 1], column.weight[b + 1], n, t, contest.bound):
            try_division(
                problem, contest, place, column.bins[b + 1],
                column.smallest + (<uint32_t>(b + 1) << column.shift) - 1
            )


cdef void search_many_rows(
    const Problem* problem, Contest* contest, CountedColumn* columns,
    int64_t n_columns, const uint64_t* rows, int64_t n, uint64_t* keys,
    uint64_t* spare, uint8_t* is_open
) noexcept nogil:
    """The best division of all columns, the earlier column where two are equal."""
    cdef:
        int64_t i, n_open, n_collected
        double top = -INFINITY, bound
        CountedColumn* column
    for i in range(n):
        spare[i] = counts_of(rows[i])
    for i in range(n_columns):
        column = &columns[i]
        choose_bins(column, n)
        count_bins(column, spare, n)
        add_up_bins(contest, column)
        top = max(top, column.edge)
    # Candidates so near the best that the order decides are all looked at.
    top -= 4.0 * contest.margin * contest.n * 0.5
    for i in range(n_columns):
        column = &columns[i]
        bound = max(top, contest.bound)
        n_open = 0
        if column.shift > 0:
            n_open = open_bins(contest, column, bound, is_open)
        else:
            memset(is_open, 0, column.n_bins)
        if n_open == 0 and not column.edge > contest.bound:
            continue
        if n_open > 0:
            n_collected = collect_rows(column, n, is_open, keys)
            sort_keys(keys, n_collected, spare, column.largest - column.smallest)
        try_column(problem, contest, column, <int32_t>i, rows, is_open, keys)
