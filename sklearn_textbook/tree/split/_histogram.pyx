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


cdef void choose_bins(CountedColumn* column, int64_t n) noexcept nogil:
    """More bins for more rows, as few as keep a bin's codes a power of two."""
    cdef:
        uint32_t width = column.largest - column.smallest
        uint32_t most = 64 if n < 256 else 256 if n < 4096 else MOST_BINS
    column.shift = 0
    while width >> column.shift >= most:
        column.shift += 1
    column.n_bins = (width >> column.shift) + 1


cdef void count_bins(
    CountedColumn* column, const uint64_t* rows, int64_t n
) noexcept nogil:
    cdef:
        int64_t i
        uint64_t* bins = column.bins
        const uint32_t* codes = column.codes
        uint32_t smallest = column.smallest
        int32_t shift = column.shift
    memset(bins, 0, column.n_bins * sizeof(uint64_t))
    for i in range(n):
        bins[(codes[i] - smallest) >> shift] += counts_of(rows[i])


cdef void add_up_bins(const Contest* contest, CountedColumn* column) noexcept nogil:
    """Turn counts of bins into counts up to their ends, and find the best end."""
    cdef:
        int64_t b
        uint64_t counts = 0
        double n = contest.n, t = contest.t, d, k, area
        double best_square = 0.0, best_area = 0.0
    column.edge = -INFINITY
    for b in range(column.n_bins):
        if column.bins[b] == 0:
            column.bins[b] = counts
            continue
        counts += column.bins[b]
        column.bins[b] = counts
        k = <double>weight_in(counts)
        d = <double>ones_in(counts) * n - t * k
        area = k * (n - k)
        if d * d * best_area >= best_square * area and (
            contest.lowest <= rows_in(counts) <= contest.highest
        ):
            best_square = d * d
            best_area = area
    if best_area > 0.0:
        column.edge = best_square / best_area


cdef bint may_hold_better(
    const Contest* contest, uint64_t below, uint64_t inside, double bound
) noexcept nogil:
    """Whether a division inside a bin may exceed the bound: one that leaves at least
    one row of the bin on either side. Rows weigh 1 or more."""
    cdef:
        double n = contest.n, t = contest.t
        double l = <double>ones_in(below), k = <double>weight_in(below)
        double b = <double>weight_in(inside), ones = <double>ones_in(inside)
        double zeros = b - ones
    if rows_in(inside) < 2:
        return False
    if bound == -INFINITY:
        return True
    if ones > 0.0 and (
        reaches(l + 1.0, k + 1.0, n, t, bound)
        or reaches(l + ones - 1.0, k + b - 1.0, n, t, bound)
    ):
        return True
    if zeros > 0.0 and (
        reaches(l, k + 1.0, n, t, bound)
        or reaches(l + ones, k + b - 1.0, n, t, bound)
    ):
        return True
    return ones > 0.0 and zeros > 0.0 and (
        reaches(l + ones, k + ones, n, t, bound)
        or reaches(l, k + zeros, n, t, bound)
    )


cdef int64_t open_bins(
    const Contest* contest, const CountedColumn* column, double bound,
    uint8_t* is_open
) noexcept nogil:
    """Mark the bins that may hold something better; returns how many."""
    cdef:
        int64_t b, n_open = 0
        uint64_t below = 0, end, inside
        double n = contest.n, t = contest.t, l = 0.0, k = 0.0, ones, weight
        bint start_reaches = bound == -INFINITY, end_reaches
    for b in range(column.n_bins):
        is_open[b] = 0
        end = column.bins[b]
        if end == below:
            continue
        inside = end - below
        ones = <double>ones_in(inside)
        weight = <double>weight_in(inside)
        end_reaches = reaches(l + ones, k + weight, n, t, bound)
        if (
            start_reaches or end_reaches
            or reaches(l + ones, k + ones, n, t, bound)
            or reaches(l, k + weight - ones, n, t, bound)
        ):
            if may_hold_better(contest, below, inside, bound):
                is_open[b] = 1
                n_open += 1
        start_reaches = end_reaches or bound == -INFINITY
        below = end
        l += ones
        k += weight
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
        uint64_t below = 0, end
    for b in range(column.n_bins):
        end = column.bins[b]
        if end == below:
            continue
        if is_open[b]:
            n_inside = rows_in(end - below)
            walk_up(
                problem, contest, place, column.smallest, keys + first, n_inside, rows,
                below
            )
            first += n_inside
        try_division(
            problem, contest, place, end,
            column.smallest + (<uint32_t>(b + 1) << column.shift) - 1
        )
        below = end


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
    for i in range(n_columns):
        column = &columns[i]
        choose_bins(column, n)
        count_bins(column, rows, n)
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
