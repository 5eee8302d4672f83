"""Classes, by Gini or entropy: the divisions of a node of few rows.

With class weights l_c of k on the left, r_c of n - k on the right, and t_c in all, Gini
maximises sum l_c^2 / k + sum r_c^2 / (n - k), compared as in ``scan_gini`` without a
division. Entropy maximises sum T(l_c) + T(r_c) - T(k) - T(n - k) with the fixed-point
T(x) = x log2 x of ``scan_entropy``. Both are whole numbers but for the last step. Nodes
of many rows are counted in bins: see ``_class_bins``.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._best cimport score_to_beat
from sklearn_textbook.tree.split._listed cimport ListedColumn, class_of
from sklearn_textbook.tree.split._listed_search cimport (
    rows_of,
    take_division,
    weight_of,
)
from sklearn_textbook.tree.split._types cimport GINI


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
        int64_t c, base = 0
        double beat = score_to_beat(
            contest.problem, &contest.division.best, contest.margin
        )
    contest.totals = view.totals.sums
    if contest.problem.criterion == GINI:
        contest.worth = 1.0
        contest.base = view.totals.goodness
        contest.bound = beat + contest.base
        return
    for c in range(contest.problem.n_statistics):
        base += table[<int64_t>view.totals.sums[c]]
    contest.whole_base = base - table[<int64_t>contest.n]
    contest.worth = contest.problem.entropy_unit
    contest.bound = beat / contest.worth


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


cdef void walk_classes(
    ListContest* contest, ListedColumn* column, const uint64_t* keys, int64_t n
) noexcept nogil:
    """Try the divisions between sorted rows."""
    cdef:
        const int64_t* table = contest.problem.entropy_table
        const uint64_t* rows = contest.listed.rows
        const uint64_t* counts_of_row = contest.listed.counts
        int64_t* left = contest.scratch.left_count
        int64_t* right = contest.scratch.right_count
        uint64_t counts = 0
        int64_t i, c, weight
        uint32_t code = <uint32_t>(keys[0] >> 32), above, row
        bint is_gini = contest.problem.criterion == GINI
        double value, area
        ClassSums sums
    sums.left = 0
    sums.right = 0
    for c in range(contest.problem.n_statistics):
        left[c] = 0
        right[c] = <int64_t>contest.totals[c]
        if is_gini:
            sums.right += right[c] * right[c]
        else:
            sums.left += table[right[c]]
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
