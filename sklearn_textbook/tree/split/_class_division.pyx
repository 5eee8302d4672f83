"""Classes, by Gini or entropy: best threshold of columns whose many rows are counted in
bins.

The way is that of ``_histogram``. With class weights l_c of k on the left, r_c of n - k
on the right, and t_c in all, Gini maximises sum l_c^2 / k + sum r_c^2 / (n - k),
compared as in ``scan_gini`` without a division. Entropy maximises
sum T(l_c) + T(r_c) - T(k) - T(n - k) with the fixed-point T(x) = x log2 x of
``scan_entropy``. Both are whole numbers but for the last step.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memset

from sklearn_textbook.tree.split._best cimport take
from sklearn_textbook.tree.split._class_bins cimport TABLE_ROUNDING
from sklearn_textbook.tree.split._counted cimport sort_keys
from sklearn_textbook.tree.split._listed cimport Division
from sklearn_textbook.tree.split._types cimport GINI
from sklearn_textbook.tree.split._wide_units cimport wide_void


# ------------------------------------------------------------------------- ends of bins


cdef wide_void add_squares(
    const uint32_t* below, int64_t n_ends, double total, double* left, double* right
) noexcept nogil:
    """Add the squares of one class."""
    cdef:
        int64_t b
        double inside, beside
    for b in range(n_ends):
        inside = <double><int32_t>below[b]
        beside = total - inside
        left[b] += inside * inside
        right[b] += beside * beside


cdef wide_void judge_squares(
    const double* weight, int64_t n_ends, double n, double* left, double* right,
    double* value, double* area
) noexcept nogil:
    """Values of divisions; and sums of squares over the weight of their side."""
    cdef:
        int64_t b
        double k
    for b in range(n_ends):
        k = weight[b]
        area[b] = k * (n - k)
        value[b] = left[b] * (n - k) + right[b] * k
        left[b] /= k if k > 1.0 else 1.0
        right[b] /= n - k if n - k > 1.0 else 1.0


cdef void measure_squares(
    const ClassContest* contest, ClassColumn* column
) noexcept nogil:
    """Gini: values of the ends of bins."""
    cdef int64_t c, n_ends = column.n_bins + 1
    memset(column.left, 0, n_ends * sizeof(double))
    memset(column.right, 0, n_ends * sizeof(double))
    for c in range(contest.n_classes):
        add_squares(
            column.below + c * contest.stride, n_ends, contest.totals[c], column.left,
            column.right
        )
    judge_squares(
        column.weight, n_ends, contest.n, column.left, column.right, column.value,
        column.area
    )


cdef void measure_logarithms(
    const ClassContest* contest, ClassColumn* column
) noexcept nogil:
    """Entropy: values of the ends of bins."""
    cdef:
        const int64_t* table = contest.problem.entropy_table
        int64_t* left = <int64_t*>column.left
        int64_t* right = <int64_t*>column.right
        int64_t b, c, total, k, n = <int64_t>contest.n
        const uint32_t* below
    for b in range(column.n_bins + 1):
        k = <int64_t>column.weight[b]
        left[b] = -table[k]
        right[b] = -table[n - k]
        column.area[b] = 1.0
    for c in range(contest.n_classes):
        below = column.below + c * contest.stride
        total = <int64_t>contest.totals[c]
        for b in range(column.n_bins + 1):
            left[b] += table[below[b]]
            right[b] += table[total - below[b]]
    for b in range(column.n_bins + 1):
        column.value[b] = <double>(left[b] + right[b] - contest.whole_base)
        column.left[b] = <double>left[b]
        column.right[b] = <double>right[b]


cdef inline bint leaves_enough(
    const ClassContest* contest, const ClassColumn* column, int64_t b
) noexcept nogil:
    """Whether the division below a bin leaves enough rows on both sides."""
    if contest.counts_rows:
        return contest.lowest <= <int64_t>(
            column.below[contest.n_classes * contest.stride + b]
        ) <= contest.highest
    return 0.0 < column.weight[b] < contest.n


cdef void find_edge(const ClassContest* contest, ClassColumn* column) noexcept nogil:
    """The best end of a bin. Empty bins repeat a candidate, which is cheaper than to
    ask for them."""
    cdef:
        int64_t b, first = 0, stop = column.n_bins + 1
        double best = -INFINITY, score
    if contest.problem.criterion == GINI:
        measure_squares(contest, column)
    else:
        measure_logarithms(contest, column)
    while first < stop and not leaves_enough(contest, column, first):
        column.value[first] = -INFINITY
        column.area[first] = 1.0
        first += 1
    while stop > first and not leaves_enough(contest, column, stop - 1):
        stop -= 1
        column.value[stop] = -INFINITY
        column.area[stop] = 1.0
    for b in range(first, stop):
        score = column.left[b] + column.right[b]
        best = score if score > best else best
    column.edge = best - <double>contest.whole_base


# --------------------------------------------------------------------- inside of bins
#
# Gini adds sum l_c^2 / k of both sides, entropy sum T(l_c) - T(k). Both are convex in
# the l_c, and twice as large for twice the rows: so they are no more for some rows than
# the sum for two parts of these. A division inside a bin has no more than the rows
# below it, those above it, and the two parts of its own, each of them for itself.


cdef wide_void find_excess(
    const double* left, const double* right, const double* weight, int64_t n_bins,
    double worth, double bound, double* excess
) noexcept nogil:
    """By how much bins may exceed a bound, if their parts have no more than so much for
    a unit of weight."""
    cdef int64_t b
    for b in range(n_bins):
        excess[b] = (
            left[b] + right[b + 1] + worth * (weight[b + 1] - weight[b]) - bound
        )


cdef bint gini_may_exceed(
    const ClassContest* contest, const ClassColumn* column, int64_t b, double bound
) noexcept nogil:
    """The decrease is sum d_c^2 / (n k (n - k)) with d_c = l_c n - t_c k. A division
    inside a bin puts from none to all of each class of the bin on the left, so it has
    no more than the largest d_c^2 of every class over the smallest area. And a part of
    the bin has no more than its largest class."""
    cdef:
        const uint32_t* below = column.below + b
        int64_t c
        double n = contest.n, start, stop, inside, total, first, last
        double low = column.weight[b], high = column.weight[b + 1]
        double area = min(
            (low + 1.0) * (n - low - 1.0), (high - 1.0) * (n - high + 1.0)
        )
        double squares = 0.0, largest = 0.0, second = 0.0
    for c in range(contest.n_classes):
        total = contest.totals[c]
        start = <double><int32_t>below[c * contest.stride]
        stop = <double><int32_t>below[c * contest.stride + 1]
        inside = stop - start
        second = max(second, min(largest, inside))
        largest = max(largest, inside)
        first = start * n - total * (high - inside)
        last = stop * n - total * (low + inside)
        squares += max(first * first, last * last)
    # The factors cover what rounding may take from the largest.
    return squares * (1.0 + 1e-13) > (bound - contest.base) * n * area and (
        (column.left[b] + column.right[b + 1] + largest + second) * (1.0 + 1e-13)
        > bound
    )


cdef bint entropy_may_exceed(
    const ClassContest* contest, const ClassColumn* column, int64_t b, double bound
) noexcept nogil:
    """The value is the sum of T(l_c) + T(r_c) - s l_c over the classes, less
    T(k) + T(n - k) - s k, for any slope s. The first are convex in l_c, so largest at
    their ends; the last is convex in k, so smallest where s is its slope, which lies
    between its steps down and up: take that in the middle of the bin."""
    cdef:
        const int64_t* table = contest.problem.entropy_table
        const uint32_t* below = column.below + b
        int64_t c, total, first, last, n = <int64_t>contest.n
        int64_t low = <int64_t>column.weight[b], high = <int64_t>column.weight[b + 1]
        int64_t middle = (low + high) // 2
        double slope = 0.5 * <double>(
            table[middle + 1] + table[n - middle - 1]
            - table[middle - 1] - table[n - middle + 1]
        )
        double most = slope * <double>middle - <double>(
            table[middle] + table[n - middle] + contest.whole_base
        )
    for c in range(contest.n_classes):
        total = <int64_t>contest.totals[c]
        first = below[c * contest.stride]
        last = below[c * contest.stride + 1]
        most += max(
            <double>(table[first] + table[total - first]) - slope * <double>first,
            <double>(table[last] + table[total - last]) - slope * <double>last
        )
    # Rounding of the table, and of numbers as large as n log2 n.
    return most + 64.0 + 2.0 * <double>(contest.n_classes + high - low) + (
        (1e-14 + 4e-16 * <double>contest.n_classes) * <double>table[n]
    ) > bound


cdef int64_t open_bins(
    const ClassContest* contest, const ClassColumn* column, double bound,
    uint8_t* is_open
) noexcept nogil:
    """Mark the bins that may hold something better; returns how many."""
    cdef:
        double* excess = contest.scratch
        const double* weight = column.weight
        int64_t b, n_open = 0, n = <int64_t>contest.n
        bint is_gini = contest.problem.criterion == GINI, all_open = bound == -INFINITY
    if is_gini:
        # Rows of one class have their weight. The factor covers rounding.
        find_excess(
            column.left, column.right, weight, column.n_bins, 1.0,
            bound * (1.0 - 1e-13), excess
        )
    else:
        find_excess(
            column.left, column.right, weight, column.n_bins, 0.0,
            bound + <double>contest.whole_base - 64.0 - 2.0 * <double>contest.n_classes
            - 1e-14 * <double>contest.problem.entropy_table[n],
            excess
        )
    for b in range(column.n_bins):
        is_open[b] = False
        if excess[b] > 0.0 and weight[b + 1] - weight[b] > 1.0:
            is_open[b] = all_open or (
                gini_may_exceed(contest, column, b, bound) if is_gini
                else entropy_may_exceed(contest, column, b, bound)
            )
            n_open += is_open[b]
    return n_open


cdef void take_division(
    ClassContest* contest, int64_t place, double value, double area, double weight,
    uint32_t cut, uint32_t above, bint is_between
) noexcept nogil:
    """Take a division that is better than the best one so far."""
    cdef:
        Division* division = contest.division
        double score = value / area * contest.worth - contest.base
    # How many rows are on the left is found when they are divided.
    take(&division.best, score, 0, -1)
    division.counts = <uint64_t>weight
    division.cut = cut
    division.above = above
    division.is_between = is_between
    contest.place = place
    contest.bound = (score + contest.margin + contest.base) / contest.worth
    if contest.problem.criterion != GINI:
        contest.bound += TABLE_ROUNDING


cdef inline void walk_up(
    ClassContest* contest, const ClassColumn* column, int64_t place,
    const uint64_t* keys, int64_t n, int64_t b, bint is_gini, int64_t* left,
    int64_t* right
) noexcept nogil:
    """Try the divisions between the sorted rows of a bin."""
    cdef:
        const int64_t* table = contest.problem.entropy_table
        const uint32_t* below = column.below + b
        int64_t i, c, weight, here, there, n_left = 0
        int64_t left_sum = 0, right_sum = 0
        int64_t k = <int64_t>column.weight[b], n_weight = <int64_t>contest.n
        uint32_t code = <uint32_t>(keys[0] >> 32), above, row
        double all_weight = contest.n, bound = contest.bound, value, area = 1.0, share
    for c in range(contest.n_classes):
        here = below[c * contest.stride]
        there = <int64_t>contest.totals[c] - here
        left[c] = here
        right[c] = there
        if is_gini:
            left_sum += here * here
            right_sum += there * there
        else:
            left_sum += table[here] + table[there]
    if contest.counts_rows:
        n_left = below[contest.n_classes * contest.stride]
    for i in range(1, n):
        row = <uint32_t>keys[i - 1]
        c = row & 0xFFFF
        weight = row >> 16
        here = left[c]
        there = right[c]
        left[c] = here + weight
        right[c] = there - weight
        k += weight
        if is_gini:
            left_sum += weight * (2 * here + weight)
            right_sum -= weight * (2 * there - weight)
            share = <double>k
            area = share * (all_weight - share)
            value = (
                <double>left_sum * (all_weight - share) + <double>right_sum * share
            )
        else:
            left_sum += (
                table[here + weight] - table[here]
                + table[there - weight] - table[there]
            )
            value = <double>(
                left_sum - table[k] - table[n_weight - k] - contest.whole_base
            )
        above = <uint32_t>(keys[i] >> 32)
        if value > bound * area and above != code and (
            not contest.counts_rows
            or contest.lowest <= n_left + i <= contest.highest
        ):
            take_division(
                contest, place, value, area, <double>k, column.smallest + code,
                column.smallest + above, True
            )
            bound = contest.bound
        code = above


cdef void try_column(
    ClassContest* contest, const ClassColumn* column, int64_t place,
    const uint8_t* is_open, const int64_t* first_key, uint64_t* keys, uint64_t* spare,
    int64_t* left, int64_t* right
) noexcept nogil:
    """All candidates in ascending order: those inside open bins, whose keys stand
    together but are not sorted, and the ends."""
    cdef:
        int64_t b, inside
        uint64_t* start
    for b in range(column.n_bins):
        if is_open[b]:
            start = keys + first_key[b]
            inside = first_key[b + 1] - first_key[b]
            # Above the shift, all codes of a bin are equal.
            sort_keys(start, inside, spare, (<uint32_t>1 << column.shift) - 1)
            if contest.problem.criterion == GINI:
                walk_up(
                    contest, column, place, start, inside, b, True, left, right
                )
            else:
                walk_up(
                    contest, column, place, start, inside, b, False, left, right
                )
        if column.value[b + 1] > contest.bound * column.area[b + 1]:
            take_division(
                contest, place, column.value[b + 1], column.area[b + 1],
                column.weight[b + 1],
                column.smallest + (<uint32_t>(b + 1) << column.shift) - 1, 0, False
            )
