"""Squared error of one output: the divisions of a node of few rows.

With residuals from the mean of the node, s their sum on the left and S in all, k the
weight on the left and n in all, the decrease is d^2 / (n k (n - k)) with d = s n - S k,
as in ``scan_fixed``. Nodes of many rows are counted in bins: see ``_value_bins``.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from sklearn_textbook.tree.split._best cimport score_to_beat
from sklearn_textbook.tree.split._listed cimport ListedColumn
from sklearn_textbook.tree.split._listed_search cimport (
    rows_of,
    take_division,
    weight_of,
)


cdef void start_values(const NodeView* view, ListContest* contest) noexcept nogil:
    """No candidate yet."""
    contest.total = <double>contest.listed.total
    contest.worth = contest.listed.unit * contest.listed.unit / contest.n
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


cdef void walk_values(
    ListContest* contest, ListedColumn* column, const uint64_t* keys, int64_t n
) noexcept nogil:
    cdef:
        const uint64_t* counts_of_row = contest.listed.counts
        const int64_t* residuals_of_row = contest.listed.residuals
        uint64_t counts = 0
        int64_t residuals = 0, i
        uint32_t code = <uint32_t>(keys[0] >> 32), above, row
        double weight = contest.n, total = contest.total, k, d
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
