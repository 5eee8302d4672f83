"""Best threshold of a numeric column for one output and the squared error."""

from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._types cimport (
    SCAN_FIXED,
    Entry,
    Pass,
    Problem,
    Rows,
    Split,
    int64_t,
    rank_of,
    row_of,
    uint32_t,
)


cdef enum:
    BLOCKED_VALUES = 512  # rows from which on blocks are tried against the best
    VALUES_BLOCK = 32


cdef void scan_values(
    const Problem* problem, const Rows* rows, const Entry* entries,
    const Pass* scan, Split* best
) noexcept nogil:
    """Squared error with one output."""
    if problem.scan == SCAN_FIXED:
        scan_fixed(problem, rows, entries, scan, best)
    else:
        scan_weighted_values(problem, rows, entries, scan, best)


# With y counted from the node's mean, s its sum on the left and S in all, the
# decrease is d^2 / (n k (n - k)) with d = s n - S k.


cdef inline bint block_exceeds(
    double low, double high, double total, double k, double n, double bound
) noexcept nogil:
    """Whether a left sum between low and high could beat the bound, with k + 1 to
    k + VALUES_BLOCK rows on the left: the largest d^2 over the smallest area."""
    cdef:
        double start = k + 1.0  # an area of 0 would stand for no candidate
        double end = k + VALUES_BLOCK
        double first = total * k, second = total * end
        double lowest = low * n - (first if first > second else second)
        double highest = high * n - (first if first < second else second)
        double largest = highest if highest > -lowest else lowest
        double area = start * (n - start), other = end * (n - end)
    return largest * largest > bound * (area if area < other else other)


cdef void scan_fixed(
    const Problem* problem, const Rows* rows, const Entry* entries, const Pass* scan,
    Split* best
) noexcept nogil:
    """Unit weights: y in fixed point, so that sums do not depend on their order."""
    cdef:
        const int64_t* y = rows.fixed
        int64_t n_rows = scan.totals.rows
        int64_t centre = scan.totals.fixed / n_rows
        int64_t s = scan.left_fixed - centre * scan.left_rows
        double total = <double>(scan.totals.fixed - centre * n_rows)
        double n = <double>n_rows
        double k = <double>scan.left_rows
        # What one unit of d^2 / (k (n - k)) is worth.
        double unit = rows.fixed_unit * rows.fixed_unit / n
        double bound = (score_to_beat(problem, best, scan.margin) - scan.offset) / unit
        double d, score
        int64_t position = 0, last, j, difference, positive, negative
        bint blocked = n_rows >= BLOCKED_VALUES
    while position < scan.lowest - 1:
        s += y[row_of(entries[position])] - centre
        position += 1
    k += position
    while position < scan.highest:
        last = scan.highest
        if blocked and position + VALUES_BLOCK <= last:
            last = position + VALUES_BLOCK
            positive = 0
            negative = 0
            for j in range(position, last):
                difference = y[row_of(entries[j])] - centre
                negative += difference & (difference >> 63)
                positive += difference
            positive -= negative
            if not block_exceeds(
                <double>(s + negative), <double>(s + positive), total, k, n, bound
            ):
                s += positive + negative
                k += VALUES_BLOCK
                position = last
                continue
        while position < last:
            s += y[row_of(entries[position])] - centre
            k += 1.0
            position += 1
            d = <double>s * n - total * k
            if d * d > bound * (k * (n - k)):
                if rank_of(entries[position]) != rank_of(entries[position - 1]):
                    score = scan.offset + d * d / (k * (n - k)) * unit
                    take(best, score, position, scan.missing_child)
                    bound = (score + scan.margin - scan.offset) / unit


cdef void scan_weighted_values(
    const Problem* problem, const Rows* rows, const Entry* entries, const Pass* scan,
    Split* best
) noexcept nogil:
    cdef:
        double total_weight = scan.totals.weight
        double total = scan.totals.sums[0]
        double centre = scan.totals.centre[0]
        double k = scan.left_weight
        double s = scan.left_sums[0]
        double base = scan.totals.goodness - scan.offset
        double bound = score_to_beat(problem, best, scan.margin) + base
        double weight, value, area, score
        int64_t position
        uint32_t row
        Entry entry
    for position in range(1, scan.highest + 1):
        entry = entries[position - 1]
        row = row_of(entry)
        weight = 1.0 if rows.weight == NULL else rows.weight[row]
        k += weight
        s += weight * (rows.y[row] - centre)
        value = s * s * (total_weight - k) + (total - s) * (total - s) * k
        area = k * (total_weight - k)
        if value > bound * area and position >= scan.lowest:
            if rank_of(entries[position]) != rank_of(entry) and area > 0.0:
                score = value / area - base
                take(best, score, position, scan.missing_child)
                bound = score + scan.margin + base
