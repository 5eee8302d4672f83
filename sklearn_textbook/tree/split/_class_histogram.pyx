"""Classes, by Gini or entropy: what is counted of the rows in a bin.

With class weights l_c of k on the left, r_c of n - k on the right, and t_c in all, Gini
maximises sum l_c^2 / k + sum r_c^2 / (n - k), compared as in ``scan_gini`` without a
division. Entropy maximises sum T(l_c) + T(r_c) - T(k) - T(n - k) with the fixed-point
T(x) = x log2 x of ``scan_entropy``. Both are whole numbers but for the last step.

A bin has its counts, and 32 bits for the weight of each class.
"""

from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._best cimport score_to_beat
from sklearn_textbook.tree.split._listed cimport ListedColumn, class_of
from sklearn_textbook.tree.split._listed_search cimport (
    bin_of,
    rows_of,
    take_division,
    weight_of,
)
from sklearn_textbook.tree.split._types cimport GINI


cdef Kernel KERNEL

cdef enum:
    TABLE_ROUNDING = 8  # units by which equal sums of T may differ


# Sums over the classes, on the left and on the right: of squares; or of T, together.
cdef struct ClassSums:
    int64_t left
    int64_t right


cdef void start_classes(const NodeView* view, ListContest* contest) noexcept nogil:
    """No candidate yet."""
    cdef:
        const int64_t* table = contest.problem.entropy_table
        int64_t c, size = contest.problem.n_statistics, base = 0
        double beat = score_to_beat(
            contest.problem, &contest.division.best, contest.margin
        )
    contest.bin_words = 1 + (size + 1) // 2
    contest.totals = view.totals.sums
    if contest.problem.criterion == GINI:
        contest.worth = 1.0
        contest.base = view.totals.goodness
        contest.bound = beat + contest.base
        contest.slack = 4.0 * contest.margin
        return
    for c in range(size):
        base += table[<int64_t>view.totals.sums[c]]
    contest.whole_base = base - table[<int64_t>contest.n]
    contest.worth = contest.problem.entropy_unit
    contest.bound = beat / contest.worth
    contest.slack = 4.0 * (contest.margin / contest.worth + TABLE_ROUNDING)


cdef inline const uint32_t* classes_of(const uint64_t* slot) noexcept nogil:
    return <const uint32_t*>(slot + 1)


cdef ClassSums sum_classes(
    const ListContest* contest, const uint32_t* left
) noexcept nogil:
    cdef:
        const int64_t* table = contest.problem.entropy_table
        const double* totals = contest.totals
        int64_t c, inside, beside
        ClassSums sums
    sums.left = 0
    sums.right = 0
    for c in range(contest.problem.n_statistics):
        inside = left[c]
        beside = <int64_t>totals[c] - inside
        if contest.problem.criterion == GINI:
            sums.left += inside * inside
            sums.right += beside * beside
        else:
            sums.left += table[inside] + table[beside]
    return sums


cdef inline double judge(
    const ListContest* contest, ClassSums sums, double k, double* area
) noexcept nogil:
    """The value of a division, times an area that is not 0 inside of the node."""
    cdef:
        const int64_t* table = contest.problem.entropy_table
        double n = contest.n
    if contest.problem.criterion == GINI:
        area[0] = k * (n - k)
        return <double>sums.left * (n - k) + <double>sums.right * k
    area[0] = 1.0
    return <double>(
        sums.left - table[<int64_t>k] - table[<int64_t>(n - k)] - contest.whole_base
    )


cdef void try_division(
    ListContest* contest, ListedColumn* column, ClassSums sums, uint64_t counts,
    uint32_t code
) noexcept nogil:
    cdef:
        double area, value = judge(contest, sums, weight_of(counts), &area), score
    if not value > contest.bound * area:
        return
    if not contest.lowest <= rows_of(counts) <= contest.highest:
        return
    score = value / area * contest.worth - contest.base
    take_division(contest, column, score, counts, code)
    contest.bound = (score + contest.margin + contest.base) / contest.worth
    if contest.problem.criterion != GINI:
        contest.bound += TABLE_ROUNDING


cdef void count(const ListContest* contest, ListedColumn* column) noexcept nogil:
    cdef:
        const uint32_t* codes = column.codes
        const uint64_t* rows = contest.listed.rows
        const uint64_t* counts = contest.listed.counts
        uint32_t smallest = column.smallest
        int32_t shift = column.shift
        int64_t i, words = contest.bin_words
        uint64_t* slot
        uint32_t* classes
    for i in range(contest.listed.n):
        slot = column.bins + words * <int64_t>(((codes[i] - smallest) >> shift) + 1)
        classes = <uint32_t*>(slot + 1)
        slot[0] += counts[i]
        classes[class_of(rows[i])] += <uint32_t>(rows[i] >> 48)


cdef void add_up(const ListContest* contest, ListedColumn* column) noexcept nogil:
    cdef:
        int64_t b, i, words = contest.bin_words
        uint64_t* slot
        const uint64_t* before
        double value, area, best = -INFINITY
    for b in range(1, column.n_bins + 1):
        slot = column.bins + words * b
        before = slot - words
        # Two classes at a time: no sum needs more than its 32 bits.
        for i in range(words):
            slot[i] += before[i]
        if contest.lowest <= rows_of(slot[0]) <= contest.highest:
            value = judge(
                contest, sum_classes(contest, classes_of(slot)), weight_of(slot[0]),
                &area
            ) / area
            best = max(best, value)
    column.edge = best


cdef bint may_hold_better(
    const ListContest* contest, const ListedColumn* column, int64_t b, double bound
) noexcept nogil:
    """A division inside a bin puts from none to all of each class of the bin on the
    left, and leaves at least one row on either side."""
    cdef:
        const uint64_t* below = bin_of(contest, column, b)
        const uint64_t* end = bin_of(contest, column, b + 1)
        double low = weight_of(below[0]) + 1.0, high = weight_of(end[0]) - 1.0
    if contest.problem.criterion == GINI:
        return gini_may_exceed(
            contest, classes_of(below), classes_of(end), low, high, bound
        )
    return entropy_may_exceed(
        contest, classes_of(below), classes_of(end), low, high, bound
    )


cdef bint gini_may_exceed(
    const ListContest* contest, const uint32_t* below, const uint32_t* end,
    double low, double high, double bound
) noexcept nogil:
    """The decrease is sum d_c^2 / (n k (n - k)) with d_c = l_c n - t_c k: the largest
    d_c^2 of every class over the smallest area."""
    cdef:
        double n = contest.n, total, inside, first, last, squares = 0.0
        double area = min(low * (n - low), high * (n - high))
        int64_t c
    for c in range(contest.problem.n_statistics):
        total = contest.totals[c]
        inside = <double>(end[c] - below[c])
        # None of the class and all of the others; all of the class alone.
        first = <double>below[c] * n - total * (high + 1.0 - inside)
        last = <double>end[c] * n - total * (low - 1.0 + inside)
        squares += max(first * first, last * last)
    # The factor covers what rounding may take from the largest.
    return squares * (1.0 + 1e-13) > (bound - contest.base) * n * area


cdef bint entropy_may_exceed(
    const ListContest* contest, const uint32_t* below, const uint32_t* end,
    double low, double high, double bound
) noexcept nogil:
    """The sum is that of T(l_c) + T(r_c) - s l_c over the classes, less that of
    T(k) + T(n - k) - s k, for any slope s. The first are convex in l_c, so largest at
    their ends; the last is convex in k, so smallest where s is its slope: take that in
    the middle of the bin."""
    cdef:
        const int64_t* table = contest.problem.entropy_table
        int64_t c, total, first, last, n = <int64_t>contest.n
        int64_t middle = (<int64_t>low + <int64_t>high) // 2
        double slope = log2(<double>middle / <double>(n - middle)) / contest.worth
        double value = -<double>contest.whole_base
        double most = 0.0, start, stop
    value -= <double>(table[middle] + table[n - middle])
    for c in range(contest.problem.n_statistics):
        total = <int64_t>contest.totals[c]
        first = below[c]
        last = end[c]
        start = <double>(table[first] + table[total - first])
        stop = <double>(table[last] + table[total - last])
        most += max(
            start - slope * <double>first, stop - slope * <double>last
        )
    value += most + slope * <double>middle
    # Rounding of the table, and of numbers as large as n log2 n.
    return value + 1e-14 * <double>table[n] + 64.0 + 2.0 * (
        <double>contest.problem.n_statistics
    ) > bound


cdef void walk(
    ListContest* contest, ListedColumn* column, const uint64_t* keys, int64_t n,
    int64_t b
) noexcept nogil:
    cdef:
        const int64_t* table = contest.problem.entropy_table
        const uint64_t* rows = contest.listed.rows
        const uint64_t* counts_of_row = contest.listed.counts
        int64_t* left = contest.scratch.left_count
        int64_t* right = contest.scratch.right_count
        const uint32_t* start
        uint64_t counts = 0
        int64_t i, c, weight, size = contest.problem.n_statistics
        uint32_t code = <uint32_t>(keys[0] >> 32), above, row
        bint is_gini = contest.problem.criterion == GINI
        double value, area
        ClassSums sums
    if b >= 0:
        counts = bin_of(contest, column, b)[0]
        start = classes_of(bin_of(contest, column, b))
    sums.left = 0
    sums.right = 0
    for c in range(size):
        left[c] = start[c] if b >= 0 else 0
        right[c] = <int64_t>contest.totals[c] - left[c]
        if is_gini:
            sums.left += left[c] * left[c]
            sums.right += right[c] * right[c]
        else:
            sums.left += table[left[c]] + table[right[c]]
    for i in range(1, n):
        row = <uint32_t>keys[i - 1]
        counts += counts_of_row[row]
        c = class_of(rows[row])
        weight = <int64_t>(rows[row] >> 48)
        if is_gini:
            sums.left += weight * (2 * left[c] + weight)
            sums.right -= weight * (2 * right[c] - weight)
        else:
            sums.left += (
                table[left[c] + weight] - table[left[c]]
                + table[right[c] - weight] - table[right[c]]
            )
        left[c] += weight
        right[c] -= weight
        above = <uint32_t>(keys[i] >> 32)
        if above != code:
            value = judge(contest, sums, weight_of(counts), &area)
            if value > contest.bound * area:
                try_division(contest, column, sums, counts, column.smallest + code)
        code = above


cdef void try_end(
    ListContest* contest, ListedColumn* column, int64_t b
) noexcept nogil:
    cdef const uint64_t* end = bin_of(contest, column, b + 1)
    if not contest.lowest <= rows_of(end[0]) <= contest.highest:
        return
    try_division(
        contest, column, sum_classes(contest, classes_of(end)), end[0],
        column.smallest + (<uint32_t>(b + 1) << column.shift) - 1
    )


cdef const Kernel* class_kernel() noexcept nogil:
    return &KERNEL


KERNEL.count = &count
KERNEL.add_up = &add_up
KERNEL.may_hold_better = &may_hold_better
KERNEL.walk = &walk
KERNEL.try_end = &try_end
