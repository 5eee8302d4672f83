"""The scan that serves every criterion, weight, output and constraint."""

from libc.string cimport memset

from sklearn_textbook.tree.split._impurity cimport goodness, lacks_events
from sklearn_textbook.tree.split._monotonic cimport breaks_constraint
from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._types cimport (
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
    Totals,
    int64_t,
    rank_of,
    row_of,
)


cdef void add_row(
    const Problem* problem, const Rows* rows, int64_t row, double weight,
    const double* centre, double* sums
) noexcept nogil:
    """Add one row to class weights, or to sums of y counted from the centre."""
    cdef int64_t output
    for output in range(problem.n_outputs):
        if problem.is_classifier:
            sums[
                problem.output_start[output]
                + rows.label[row * problem.n_outputs + output]
            ] += weight
        else:
            sums[output] += weight * (
                rows.y[row * problem.n_outputs + output] - centre[output]
            )


cdef void sum_entries(
    const Problem* problem, const Rows* rows, const Entry* entries, int64_t n,
    Totals* totals
) noexcept nogil:
    """Fill the totals of a set of rows; ``sums`` and ``centre`` are given."""
    cdef:
        int64_t i, output, row
        double weight, difference
    memset(totals.sums, 0, problem.n_statistics * sizeof(double))
    totals.rows = n
    totals.weight = 0.0
    totals.squares = 0.0
    totals.fixed = 0
    for i in range(n):
        row = row_of(entries[i])
        weight = 1.0 if rows.weight == NULL else rows.weight[row]
        totals.weight += weight
        add_row(problem, rows, row, weight, totals.centre, totals.sums)
        if rows.fixed != NULL:
            totals.fixed += rows.fixed[row]
        if not problem.is_classifier:
            for output in range(problem.n_outputs):
                difference = (
                    rows.y[row * problem.n_outputs + output] - totals.centre[output]
                )
                totals.squares += weight * difference * difference


cdef double value_of(
    const Problem* problem, const double* sums, double weight, const double* centre
) noexcept nogil:
    """What a child predicts, as far as monotonic constraints ask: the share of
    the second class, or the mean."""
    if problem.is_classifier:
        return sums[1] / weight
    return centre[0] + sums[0] / weight


cdef void scan_general(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    cdef:
        const Totals* totals = scan.totals
        double* left = scratch.left
        double* right = scratch.right
        double left_weight = scan.left_weight, right_weight, weight, score
        double base = totals.goodness - scan.offset
        double beat = score_to_beat(problem, best, scan.margin)
        int64_t position, k, row
    for k in range(problem.n_statistics):
        left[k] = scan.left_sums[k]
    for position in range(1, scan.highest + 1):
        row = row_of(entries[position - 1])
        weight = 1.0 if rows.weight == NULL else rows.weight[row]
        left_weight += weight
        add_row(problem, rows, row, weight, totals.centre, left)
        if position < scan.lowest:
            continue
        if rank_of(entries[position]) == rank_of(entries[position - 1]):
            continue
        right_weight = totals.weight - left_weight
        if left_weight < problem.min_weight_leaf:
            continue
        if right_weight < problem.min_weight_leaf or right_weight <= 0.0:
            continue
        for k in range(problem.n_statistics):
            right[k] = totals.sums[k] - left[k]
        if lacks_events(problem, left, right):
            continue
        if problem.monotonic != NULL and breaks_constraint(
            value_of(problem, left, left_weight, totals.centre),
            value_of(problem, right, right_weight, totals.centre),
            scan.lower, scan.upper, scan.direction
        ):
            continue
        score = (
            goodness(problem, left, left_weight)
            + goodness(problem, right, right_weight)
            - base
        )
        if score > beat:
            take(best, score, position, scan.missing_child)
            beat = score + scan.margin
