"""Criteria of a set of rows, from its class weights or its sums of y.

The *goodness* G of a set is chosen so that the decrease of weighted impurity of
a split is G(children) - G(node): the part of weight * impurity that does not add
up to a constant, with the sign turned round.

Absolute error needs weighted medians of growing sets; see _median_set.pxd.

With class weights v of w in all, or sums s of weight * (y - centre), weight * impurity
is

    Gini            w - sum v^2 / w                      = w - G
    entropy         w log2 w - sum v log2 v              = -G
    error           w - max v                            = w - G
    squared error   sum weight (y - centre)^2 - s^2 / w  = constant - G
    Poisson         sum weight y log y - s log(s / w)    = constant - G

where w and the constants of the children add up to those of their parent.
"""

from libc.math cimport INFINITY, log, log2
from libc.stdint cimport int32_t
from libc.stdlib cimport qsort
from libc.string cimport memset

from sklearn_textbook.tree.split._types cimport (
    ENTROPY,
    ERROR,
    GINI,
    POISSON,
    Target,
    row_of,
)


cdef double goodness(
    const Problem* problem, const double* sums, double weight
) noexcept nogil:
    """Gini: sum v^2 / w; entropy: sum v log2 v - w log2 w; error: max v; squared
    error: s^2 / w; Poisson: s log(s / w). Mean over the outputs."""
    cdef:
        int64_t output, k
        double total = 0.0, part, value
    if weight <= 0.0:
        return 0.0
    for output in range(problem.n_outputs):
        part = 0.0
        for k in range(problem.output_start[output], problem.output_start[output + 1]):
            value = sums[k]
            if problem.criterion == GINI:
                part += value * value
            elif problem.criterion == ENTROPY:
                part += times_log(value)
            elif problem.criterion == ERROR:
                if value > part:
                    part = value
            elif problem.criterion == POISSON:
                # A child that predicts 0 has no finite deviance.
                if value <= 0.0:
                    return -INFINITY
                part += value * log(value / weight)
            else:
                part += value * value
        if problem.criterion == ENTROPY:
            part -= times_log(weight)
        elif problem.criterion != ERROR and problem.criterion != POISSON:
            part /= weight
        total += part
    return total / problem.n_outputs


cdef double class_impurity(
    const Problem* problem, const double* sums, double weight
) noexcept nogil:
    """Gini, entropy or error fraction of class weights; mean over the outputs."""
    cdef:
        int64_t output, k
        double total = 0.0, part, fraction, largest
    if weight <= 0.0:
        return 0.0
    for output in range(problem.n_outputs):
        part = 0.0
        largest = 0.0
        for k in range(problem.output_start[output], problem.output_start[output + 1]):
            # 1 - sum p^2, -sum p log2 p, or 1 - max p.
            fraction = sums[k] / weight
            if fraction > largest:
                largest = fraction
            if problem.criterion == GINI:
                part += fraction * fraction
            elif problem.criterion == ENTROPY and fraction > 0.0:
                part -= fraction * log2(fraction)
        if problem.criterion == GINI:
            part = 1.0 - part
        elif problem.criterion == ERROR:
            part = 1.0 - largest
        total += part
    return total / problem.n_outputs


cdef bint lacks_events(
    const Problem* problem, const double* left, const double* right
) noexcept nogil:
    """Poisson: whether one side's sum of y is 0 but for rounding, since sums of one
    side come from subtraction."""
    cdef:
        int64_t k
        double smallest
    if problem.criterion != POISSON:
        return False
    for k in range(problem.n_statistics):
        smallest = 1e-12 * (left[k] + right[k])
        if left[k] <= smallest or right[k] <= smallest:
            return True
    return False


cdef void add_row(
    const Problem* problem, const Rows* rows, int64_t row, double weight,
    const double* centre, double* sums
) noexcept nogil:
    """Add one row to class weights, or to sums of y counted from the centre.

    ``centre`` is not read for classes, and may be NULL then.
    """
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
    for i in range(n):
        row = row_of(entries[i])
        weight = weight_of(rows, row)
        totals.weight += weight
        add_row(problem, rows, row, weight, totals.centre, totals.sums)
        if not problem.is_classifier:
            for output in range(problem.n_outputs):
                difference = (
                    rows.y[row * problem.n_outputs + output] - totals.centre[output]
                )
                totals.squares += weight * difference * difference


cdef double value_of(
    const Problem* problem, const double* sums, double weight, const double* centre
) noexcept nogil:
    """The prediction of a child for monotonicity constraints: the fraction of
    the second class, or the mean."""
    if problem.is_classifier:
        return sums[1] / weight
    return centre[0] + sums[0] / weight


# ---------------------------------------------------------------------- medians


cdef int compare_targets(const void* first, const void* second) noexcept nogil:
    """Rows of equal y may come in any order: they have the same rank."""
    cdef double a = (<const Target*>first).y, b = (<const Target*>second).y
    return (a > b) - (a < b)


cdef void rank_targets(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n
) noexcept nogil:
    """Number the distinct y of a node in ascending order, once for all columns.

    ``y_rank`` is written for the rows of the node alone, at their numbers, so the ranks
    serve every column, whose entries hold the same rows in another order.
    """
    cdef:
        int64_t output, i, distinct
        double* values
        int32_t* ranks
        Target* targets = scratch.targets
    for output in range(problem.n_outputs):
        values = scratch.y_sorted + output * scratch.capacity
        ranks = scratch.y_rank + output * scratch.capacity
        for i in range(n):
            targets[i].row = row_of(entries[i])
            targets[i].y = rows.y[targets[i].row * problem.n_outputs + output]
        qsort(targets, n, sizeof(Target), compare_targets)
        # A new value begins a rank; the ranks of an output are 0 to n_sorted - 1.
        distinct = 0
        for i in range(n):
            if i == 0 or targets[i].y != values[distinct - 1]:
                values[distinct] = targets[i].y
                distinct += 1
            ranks[targets[i].row] = <int32_t>(distinct - 1)
        scratch.n_sorted[output] = distinct
