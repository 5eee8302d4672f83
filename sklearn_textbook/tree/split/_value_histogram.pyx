"""Squared error of one output: what is counted of the rows in a bin.

With residuals from the mean of the node, s their sum on the left and S in all, k the
weight on the left and n in all, the decrease is d^2 / (n k (n - k)) with d = s n - S k,
as in ``scan_fixed``. A bin has its counts, its sum, and the sum of its positive
residuals: no part of it moves s by more than these.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._best cimport score_to_beat
from sklearn_textbook.tree.split._listed cimport ListedColumn
from sklearn_textbook.tree.split._listed_search cimport (
    bin_of,
    rows_of,
    take_division,
    weight_of,
)


cdef Kernel KERNEL


cdef void start_values(const NodeView* view, ListContest* contest) noexcept nogil:
    """No candidate yet."""
    contest.bin_words = 3
    contest.total = <double>contest.listed.total
    contest.worth = contest.listed.unit * contest.listed.unit / contest.n
    contest.slack = 4.0 * contest.margin / contest.worth
    contest.bound = score_to_beat(
        contest.problem, &contest.division.best, contest.margin
    ) / contest.worth


cdef inline void try_division(
    ListContest* contest, ListedColumn* column, uint64_t counts, int64_t residuals,
    uint32_t code
) noexcept nogil:
    cdef:
        double n = contest.n, k = weight_of(counts), area = k * (n - k)
        double d = <double>residuals * n - contest.total * k, score
    if not d * d > contest.bound * area:
        return
    if not contest.lowest <= rows_of(counts) <= contest.highest:
        return
    score = d * d / area * contest.worth
    take_division(contest, column, score, counts, code)
    contest.division.sum = residuals
    contest.bound = (score + contest.margin) / contest.worth


cdef void count(const ListContest* contest, ListedColumn* column) noexcept nogil:
    cdef:
        const uint32_t* codes = column.codes
        const uint64_t* counts = contest.listed.counts
        const int64_t* residuals = contest.listed.residuals
        uint32_t smallest = column.smallest
        int32_t shift = column.shift
        int64_t i, residual
        uint64_t* slot
    for i in range(contest.listed.n):
        slot = column.bins + 3 * <int64_t>(((codes[i] - smallest) >> shift) + 1)
        residual = residuals[i]
        slot[0] += counts[i]
        slot[1] += <uint64_t>residual
        slot[2] += <uint64_t>(residual & ~(residual >> 63))


cdef void add_up(const ListContest* contest, ListedColumn* column) noexcept nogil:
    """Sums up to the end of each bin; positive residuals stay those of the bin."""
    cdef:
        int64_t b
        uint64_t counts = 0, residuals = 0
        uint64_t* slot
        double n = contest.n, k, d, area, best_square = -1.0, best_area = 1.0
    for b in range(column.n_bins + 1):
        slot = column.bins + 3 * b
        counts += slot[0]
        residuals += slot[1]
        slot[0] = counts
        slot[1] = residuals
        k = weight_of(counts)
        d = <double><int64_t>residuals * n - contest.total * k
        area = k * (n - k)
        if d * d * best_area > best_square * area and (
            contest.lowest <= rows_of(counts) <= contest.highest
        ):
            best_square = d * d
            best_area = area
    column.edge = best_square / best_area if best_square >= 0.0 else -INFINITY


cdef bint may_hold_better(
    const ListContest* contest, const ListedColumn* column, int64_t b, double bound
) noexcept nogil:
    """The largest |d| over the smallest k (n - k); a division inside the bin leaves at
    least one row, of weight 1 or more, on either side."""
    cdef:
        const uint64_t* below = bin_of(contest, column, b)
        const uint64_t* end = bin_of(contest, column, b + 1)
        int64_t start = <int64_t>below[1], positive = <int64_t>end[2]
        int64_t negative = <int64_t>end[1] - start - positive
        double n = contest.n
        double low = weight_of(below[0]) + 1.0, high = weight_of(end[0]) - 1.0
        double first = contest.total * low, second = contest.total * high
        double least = <double>(start + negative) * n - max(first, second)
        double most = <double>(start + positive) * n - min(first, second)
        double largest = max(most, -least)
        double area = min(low * (n - low), high * (n - high))
    # The factor covers what rounding may take from the largest.
    return largest * largest * (1.0 + 1e-14) > bound * area


cdef void walk(
    ListContest* contest, ListedColumn* column, const uint64_t* keys, int64_t n,
    int64_t b
) noexcept nogil:
    cdef:
        const uint64_t* counts_of_row = contest.listed.counts
        const int64_t* residuals_of_row = contest.listed.residuals
        uint64_t counts = 0
        int64_t residuals = 0, i
        uint32_t code = <uint32_t>(keys[0] >> 32), above, row
        double weight = contest.n, total = contest.total, k, d
    if b >= 0:
        counts = bin_of(contest, column, b)[0]
        residuals = <int64_t>bin_of(contest, column, b)[1]
    for i in range(1, n):
        row = <uint32_t>keys[i - 1]
        counts += counts_of_row[row]
        residuals += residuals_of_row[row]
        above = <uint32_t>(keys[i] >> 32)
        k = weight_of(counts)
        d = <double>residuals * weight - total * k
        if d * d > contest.bound * (k * (weight - k)) and above != code:
            try_division(contest, column, counts, residuals, column.smallest + code)
        code = above


cdef void try_end(
    ListContest* contest, ListedColumn* column, int64_t b
) noexcept nogil:
    cdef const uint64_t* end = bin_of(contest, column, b + 1)
    try_division(
        contest, column, end[0], <int64_t>end[1],
        column.smallest + (<uint32_t>(b + 1) << column.shift) - 1
    )


cdef const Kernel* value_kernel() noexcept nogil:
    return &KERNEL


KERNEL.count = &count
KERNEL.add_up = &add_up
KERNEL.may_hold_better = &may_hold_better
KERNEL.walk = &walk
KERNEL.try_end = &try_end
