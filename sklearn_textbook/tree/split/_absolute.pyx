"""Absolute error: weighted medians of growing sets, kept in Fenwick trees.

The tree holds, for each distinct y of the node, the weight inserted so far and
its first moment, so that the median of the set and its loss cost O(log n).
"""

from libc.stdlib cimport qsort
from libc.string cimport memset

from sklearn_textbook.tree.split._monotonic cimport breaks_constraint
from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._types cimport (
    MISSING_LEARNED,
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
    int64_t,
    rank_of,
    row_of,
)


cdef int compare_doubles(const void* first, const void* second) noexcept nogil:
    cdef double a = (<const double*>first)[0], b = (<const double*>second)[0]
    return (a > b) - (a < b)


cdef void rank_targets(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n
) noexcept nogil:
    """Number the distinct y of a node in ascending order, once for all columns."""
    cdef:
        int64_t output, i, distinct, low, high, middle
        double* values
        double y
    for output in range(problem.n_outputs):
        values = scratch.y_sorted + output * scratch.capacity
        for i in range(n):
            values[i] = rows.y[row_of(entries[i]) * problem.n_outputs + output]
        qsort(values, n, sizeof(double), compare_doubles)
        distinct = 1
        for i in range(1, n):
            if values[i] != values[distinct - 1]:
                values[distinct] = values[i]
                distinct += 1
        scratch.n_sorted[output] = distinct
        for i in range(n):
            y = rows.y[row_of(entries[i]) * problem.n_outputs + output]
            low = 0
            high = distinct - 1
            while low < high:
                middle = (low + high) // 2
                if values[middle] < y:
                    low = middle + 1
                else:
                    high = middle
            scratch.y_rank[output * scratch.capacity + row_of(entries[i])] = low


cdef void clear_losses(Scratch* scratch, int64_t output) noexcept nogil:
    cdef int64_t size = scratch.n_sorted[output] + 1
    memset(scratch.tree_weight, 0, size * sizeof(double))
    memset(scratch.tree_moment, 0, size * sizeof(double))


cdef void insert_row(
    const Problem* problem, const Rows* rows, Scratch* scratch, int64_t output,
    int64_t row
) noexcept nogil:
    cdef:
        int64_t distinct = scratch.n_sorted[output]
        const double* values = scratch.y_sorted + output * scratch.capacity
        int64_t rank = scratch.y_rank[output * scratch.capacity + row]
        int64_t i = rank + 1
        double weight = 1.0 if rows.weight == NULL else rows.weight[row]
        # Moments about the middle value lose less to cancellation.
        double moment = weight * (values[rank] - values[distinct // 2])
    while i <= distinct:
        scratch.tree_weight[i] += weight
        scratch.tree_moment[i] += moment
        i += i & -i


cdef double absolute_loss(
    Scratch* scratch, int64_t output, double* median
) noexcept nogil:
    """Weighted sum of |y - median| of the inserted rows, and their median: the
    first y whose cumulated weight exceeds half, or the mean of two where it is
    exactly half."""
    cdef:
        int64_t distinct = scratch.n_sorted[output]
        const double* values = scratch.y_sorted + output * scratch.capacity
        double centre = values[distinct // 2]
        double total = 0.0, moment = 0.0, half, below = 0.0, below_moment = 0.0
        double slack, middle
        int64_t i = distinct, step = 1, position = 0, upper
    while i > 0:
        total += scratch.tree_weight[i]
        moment += scratch.tree_moment[i]
        i -= i & -i
    half = 0.5 * total
    slack = 1e-12 * total
    while step * 2 <= distinct:
        step *= 2
    # Largest position whose cumulated weight stays below half.
    i = step
    while i > 0:
        if position + i <= distinct and below + scratch.tree_weight[
            position + i
        ] < half - slack:
            position += i
            below += scratch.tree_weight[position]
            below_moment += scratch.tree_moment[position]
        i //= 2
    middle = values[position] - centre
    median[0] = values[position]
    upper = next_above_half(scratch, distinct, half + slack, step)
    if upper > position:
        median[0] = values[position] / 2 + values[upper] / 2
    # Rows below the median, and the rest; the median row itself adds nothing.
    return (middle * below - below_moment) + (
        (moment - below_moment) - middle * (total - below)
    )


cdef int64_t next_above_half(
    const Scratch* scratch, int64_t distinct, double half, int64_t step
) noexcept nogil:
    cdef:
        int64_t position = 0
        double below = 0.0
    while step > 0:
        if position + step <= distinct and below + scratch.tree_weight[
            position + step
        ] <= half:
            position += step
            below += scratch.tree_weight[position]
        step //= 2
    return position if position < distinct else distinct - 1


cdef inline bint is_candidate(
    const Entry* entries, const Pass* scan, int64_t position
) noexcept nogil:
    return scan.lowest <= position <= scan.highest and rank_of(
        entries[position]
    ) != rank_of(entries[position - 1])


cdef void scan_absolute(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    cdef:
        const Entry* missing = <const Entry*>scan.missing_entries
        int64_t output, position, i, missing_left, missing_right
        double score, weight = scan.left_weight
        double beat = score_to_beat(problem, best, scan.margin)
    # Only the learned strategy has the missing rows in one of the two children.
    missing_left = missing_right = 0
    if problem.missing_mode == MISSING_LEARNED:
        missing_left = scan.n_missing if scan.missing_left else 0
        missing_right = scan.n_missing - missing_left
    memset(scratch.loss, 0, (scan.n_present + 1) * sizeof(double))
    for output in range(problem.n_outputs):
        clear_losses(scratch, output)
        for i in range(missing_left):
            insert_row(problem, rows, scratch, output, row_of(missing[i]))
        for position in range(1, scan.highest + 1):
            insert_row(problem, rows, scratch, output, row_of(entries[position - 1]))
            if is_candidate(entries, scan, position):
                scratch.loss[position] += absolute_loss(
                    scratch, output, &scratch.left_median[position]
                )
        clear_losses(scratch, output)
        for i in range(missing_right):
            insert_row(problem, rows, scratch, output, row_of(missing[i]))
        for position in range(scan.n_present - 1, scan.lowest - 1, -1):
            insert_row(problem, rows, scratch, output, row_of(entries[position]))
            if is_candidate(entries, scan, position):
                scratch.loss[position] += absolute_loss(
                    scratch, output, &scratch.right_median[position]
                )
    for position in range(1, scan.highest + 1):
        weight += 1.0 if rows.weight == NULL else rows.weight[
            row_of(entries[position - 1])
        ]
        if not is_candidate(entries, scan, position):
            continue
        if weight < problem.min_weight_leaf:
            continue
        if scan.totals.weight - weight < problem.min_weight_leaf:
            continue
        if problem.monotonic != NULL and breaks_constraint(
            scratch.left_median[position], scratch.right_median[position],
            scan.lower, scan.upper, scan.direction
        ):
            continue
        score = scan.offset - scan.totals.goodness - (
            scratch.loss[position] / problem.n_outputs
        )
        if score > beat:
            take(best, score, position, scan.missing_child)
            beat = score + scan.margin
