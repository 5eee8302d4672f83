"""Surrogate splits: tests on other columns that imitate the chosen one.

Breiman et al. (1984), 5.3.1, with the rules of R's rpart (surrogatestyle 0). The
target of a row is the child that the chosen test sends it to; rows whose value is
missing there have none.
"""

from libc.math cimport fabs

from sklearn_textbook.tree.split._column cimport count_missing
from sklearn_textbook.tree.split._types cimport (
    MAX_SURROGATES,
    NOMINAL_COLUMN,
    Entry,
    Problem,
    Rows,
    Scratch,
    SurrogateTest,
    int32_t,
    int64_t,
    rank_of,
    row_of,
)


cdef enum:
    LEAST_ROWS = 2  # rows a surrogate needs on each side


cdef inline double weight_of(const Rows* rows, int64_t row) noexcept nogil:
    return 1.0 if rows.weight == NULL else rows.weight[row]


cdef bint imitate_by_threshold(
    const Rows* rows, const Entry* entries, int64_t n_present,
    const int32_t* child_of_row, double margin, SurrogateTest* test
) noexcept nogil:
    cdef:
        double total[2]
        double below[2]
        double best, low_right, low_left
        int64_t i, n_targets = 0, n_below = 0
        int32_t child
        bint found = False
    total[0] = total[1] = below[0] = below[1] = 0.0
    for i in range(n_present):
        child = child_of_row[row_of(entries[i])]
        if child >= 0:
            total[child] += weight_of(rows, row_of(entries[i]))
            n_targets += 1
    best = total[0] if total[0] > total[1] else total[1]
    for i in range(1, n_present):
        child = child_of_row[row_of(entries[i - 1])]
        if child >= 0:
            below[child] += weight_of(rows, row_of(entries[i - 1]))
            n_below += 1
        if rank_of(entries[i]) == rank_of(entries[i - 1]):
            continue
        if n_below < LEAST_ROWS or n_targets - n_below < LEAST_ROWS:
            continue
        low_right = below[1] + (total[0] - below[0])
        low_left = below[0] + (total[1] - below[1])
        if low_right > best + margin:
            best = low_right
            test.low_child = 1
        elif low_left > best + margin:
            best = low_left
            test.low_child = 0
        else:
            continue
        test.position = i
        test.agreement = best
        found = True
    return found


cdef int32_t imitate_level(
    const double* weight, double margin, const double* column_weight
) noexcept nogil:
    """Child that a level goes to: the heavier one."""
    if fabs(weight[0] - weight[1]) <= margin:
        weight = column_weight
    if fabs(weight[0] - weight[1]) <= margin:
        return 1
    return 0 if weight[0] > weight[1] else 1


cdef bint imitate_by_levels(
    const Rows* rows, Scratch* scratch, const Entry* entries, int64_t n_present,
    const int32_t* child_of_row, double margin, SurrogateTest* test
) noexcept nogil:
    """Child of every run of equal levels into scratch.run_side, -1 if unknown."""
    cdef:
        double column_weight[2]
        double weight[2]
        int64_t n_rows[2]
        int64_t i, run = 0, agreeing = 0, disagreeing = 0
        int32_t child
    column_weight[0] = column_weight[1] = 0.0
    for i in range(n_present):
        child = child_of_row[row_of(entries[i])]
        if child >= 0:
            column_weight[child] += weight_of(rows, row_of(entries[i]))
    test.agreement = 0.0
    test.position = -1
    test.low_child = -1
    weight[0] = weight[1] = 0.0
    n_rows[0] = n_rows[1] = 0
    for i in range(n_present):
        child = child_of_row[row_of(entries[i])]
        if child >= 0:
            weight[child] += weight_of(rows, row_of(entries[i]))
            n_rows[child] += 1
        if i + 1 < n_present and rank_of(entries[i + 1]) == rank_of(entries[i]):
            continue
        # The run ends here.
        if n_rows[0] + n_rows[1] == 0:
            scratch.run_side[run] = -1
        else:
            child = imitate_level(weight, margin, column_weight)
            scratch.run_side[run] = child
            test.agreement += weight[child]
            agreeing += n_rows[child]
            disagreeing += n_rows[1 - child]
        run += 1
        weight[0] = weight[1] = 0.0
        n_rows[0] = n_rows[1] = 0
    return agreeing >= LEAST_ROWS and disagreeing >= LEAST_ROWS


cdef int64_t rank_surrogate(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n, const int32_t* child_of_row,
    const double* target_weight, int64_t column, SurrogateTest* ranked,
    int64_t n_ranked
) noexcept nogil:
    """Put a column's best imitation into the ranked list; returns its length."""
    cdef:
        double total = target_weight[0] + target_weight[1]
        double majority = max(target_weight[0], target_weight[1])
        double margin = 1e-12 * total
        int64_t n_present = n - count_missing(entries, n)
        int64_t place
        SurrogateTest test
        bint found
    test.column = <int32_t>column
    test.n_used = 0
    if problem.kind[column] == NOMINAL_COLUMN:
        found = imitate_by_levels(
            rows, scratch, entries, n_present, child_of_row, margin, &test
        )
    else:
        found = imitate_by_threshold(
            rows, entries, n_present, child_of_row, margin, &test
        )
    if not found or total <= majority:
        return n_ranked
    test.adjusted = (test.agreement - majority) / (total - majority)
    if test.adjusted <= 1e-10:
        return n_ranked
    place = n_ranked
    while place > 0 and test.agreement > ranked[place - 1].agreement + margin:
        if place < MAX_SURROGATES:
            ranked[place] = ranked[place - 1]
        place -= 1
    if place >= MAX_SURROGATES:
        return n_ranked
    ranked[place] = test
    return n_ranked + 1 if n_ranked < MAX_SURROGATES else n_ranked


cdef void divide_surrogate_runs(
    const Rows* rows, Scratch* scratch, const Entry* entries, int64_t n_present,
    const int32_t* child_of_row, const double* target_weight
) noexcept nogil:
    """Write the child of every run of equal levels into scratch.run_side again."""
    cdef SurrogateTest test
    imitate_by_levels(
        rows, scratch, entries, n_present, child_of_row,
        1e-12 * (target_weight[0] + target_weight[1]), &test
    )


cdef void send_rows(
    const Entry* entries, int64_t n, SurrogateTest* test,
    const int32_t* run_child, int32_t* child_of_row
) noexcept nogil:
    """Send the rows that await their child and whose value is present here."""
    cdef:
        int64_t n_present = n - count_missing(entries, n), i, run = -1
        int32_t child
    for i in range(n_present):
        if i == 0 or rank_of(entries[i]) != rank_of(entries[i - 1]):
            run += 1
        if child_of_row[row_of(entries[i])] != NOT_SENT:
            continue
        if test.position >= 0:
            child = test.low_child if i < test.position else 1 - test.low_child
        else:
            child = run_child[run]
        if child >= 0:
            child_of_row[row_of(entries[i])] = child
            test.n_used += 1
