"""Best threshold of a numeric column: the special cases that are worth a kernel.

Every kernel walks up the sorted column once. A position is a candidate where the
rank changes; it replaces the best one only if its score is larger by more than
the node's margin, so exact ties go to the lower threshold.
"""

from sklearn_textbook.tree.split._best cimport (
    BLOCKED_ROWS,
    block_length,
    score_to_beat,
    take,
)
from sklearn_textbook.tree.split._entropy cimport scan_binary_entropy, scan_entropy
from sklearn_textbook.tree.split._types cimport (
    SCAN_BINARY,
    SCAN_CLASSES,
    SCAN_ENTROPY,
    SCAN_WEIGHTED_BINARY,
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
    int32_t,
    int64_t,
    rank_of,
    row_of,
    uint32_t,
)


cdef void scan_classes(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    """Classification with one output."""
    if problem.scan == SCAN_BINARY:
        scan_binary(problem, entries, scan, best)
    elif problem.scan == SCAN_CLASSES:
        scan_gini(problem, rows, scratch, entries, scan, best)
    elif problem.scan == SCAN_ENTROPY and problem.n_statistics == 2:
        scan_binary_entropy(problem, entries, scan, best)
    elif problem.scan == SCAN_ENTROPY:
        scan_entropy(problem, rows, scratch, entries, scan, best)
    elif problem.scan == SCAN_WEIGHTED_BINARY:
        scan_weighted_binary(problem, rows, entries, scan, best)
    else:
        scan_weighted_gini(problem, rows, scratch, entries, scan, best)


# ------------------------------------------------------------------ two classes
# With n rows, t of class 1, and l of class 1 among the k rows on the left, the
# decrease of weighted Gini impurity is 2 d^2 / (n k (n - k)) with d = l n - t k.
# Every d is a whole number below 2^53, so doubles hold it exactly.


cdef inline double binary_bound(double beat, double offset, double n) noexcept nogil:
    """What d^2 / (k (n - k)) must exceed."""
    return (beat - offset) * n * 0.5


cdef inline bint exceeds(double d, double k, double n, double bound) noexcept nogil:
    return d * d > bound * (k * (n - k))


cdef void scan_binary(
    const Problem* problem, const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    cdef:
        double n = <double>scan.totals.rows
        double t = scan.totals.sums[1]
        double k = <double>scan.left_rows
        double d = scan.left_sums[1] * n - t * k
        double bound = binary_bound(
            score_to_beat(problem, best, scan.margin), scan.offset, n
        )
        double[2] step
        double ones, zeros, rise, fall, score
        int64_t position = 0, last, length = block_length(scan.totals.rows), j
        uint32_t count
        bint blocked = scan.totals.rows >= BLOCKED_ROWS
        bint start_exceeds = True
    # What one row of class 0 or 1 adds to d.
    step[0] = -t
    step[1] = n - t
    while position < scan.lowest - 1:
        d += step[entries[position] & 1]
        position += 1
    k += position
    while position < scan.highest:
        last = scan.highest
        if blocked and position + length <= last:
            # The score is convex in (l, k): a block whose corners do not beat
            # the best holds no candidate that does.
            last = position + length
            count = 0
            for j in range(position, last):
                count += <uint32_t>entries[j] & 1
            ones = <double>count
            zeros = <double>length - ones
            rise = ones * step[1]
            fall = zeros * step[0]
            if not (
                start_exceeds
                or exceeds(d + rise, k + ones, n, bound)
                or exceeds(d + fall, k + zeros, n, bound)
                or exceeds(d + rise + fall, k + length, n, bound)
            ):
                d += rise + fall
                k += length
                position = last
                continue
        while position < last:
            d += step[entries[position] & 1]
            k += 1.0
            position += 1
            if d * d > bound * (k * (n - k)):
                if rank_of(entries[position]) != rank_of(entries[position - 1]):
                    score = scan.offset + 2.0 * (d * d / (k * (n - k))) / n
                    take(best, score, position, scan.missing_child)
                    bound = binary_bound(score + scan.margin, scan.offset, n)
        start_exceeds = exceeds(d, k, n, bound)


cdef void scan_weighted_binary(
    const Problem* problem, const Rows* rows, const Entry* entries, const Pass* scan,
    Split* best
) noexcept nogil:
    cdef:
        double total = scan.totals.weight
        double t = scan.totals.sums[1]
        double k = scan.left_weight
        double d = scan.left_sums[1] * total - t * k
        double bound = binary_bound(
            score_to_beat(problem, best, scan.margin), scan.offset, total
        )
        double[2] step
        double weight, area, score
        int64_t position
        Entry entry
    step[0] = -t
    step[1] = total - t
    for position in range(1, scan.highest + 1):
        entry = entries[position - 1]
        weight = rows.weight[row_of(entry)]
        k += weight
        d += weight * step[entry & 1]
        area = k * (total - k)
        if d * d > bound * area and position >= scan.lowest:
            if rank_of(entries[position]) != rank_of(entry) and area > 0.0:
                score = scan.offset + 2.0 * (d * d / area) / total
                take(best, score, position, scan.missing_child)
                bound = binary_bound(score + scan.margin, scan.offset, total)


# ---------------------------------------------------------------- many classes
# The decrease is sum l_c^2 / k + sum r_c^2 / (n - k) - sum t_c^2 / n; both sums
# change by one product per row, whatever the number of classes.


cdef void scan_gini(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    cdef:
        double n = <double>scan.totals.rows
        int64_t* left = scratch.left_count
        int64_t* total = scratch.right_count
        const int32_t* label = rows.label
        int64_t left_squares = 0, right_squares = 0, position, c, n_before
        double n_left = <double>scan.left_rows, n_right
        double base = scan.totals.goodness - scan.offset
        double bound = score_to_beat(problem, best, scan.margin) + base
        double value, area, score
        Entry entry
    for c in range(problem.n_statistics):
        left[c] = <int64_t>scan.left_sums[c]
        total[c] = <int64_t>scan.totals.sums[c]
        left_squares += left[c] * left[c]
        right_squares += (total[c] - left[c]) * (total[c] - left[c])
    for position in range(1, scan.highest + 1):
        entry = entries[position - 1]
        c = label[row_of(entry)]
        n_before = left[c]
        left[c] = n_before + 1
        left_squares += 2 * n_before + 1
        right_squares -= 2 * (total[c] - n_before) - 1
        n_left += 1.0
        n_right = n - n_left
        value = <double>left_squares * n_right + <double>right_squares * n_left
        area = n_left * n_right
        if value > bound * area and position >= scan.lowest:
            if rank_of(entries[position]) != rank_of(entry):
                score = value / area - base
                take(best, score, position, scan.missing_child)
                bound = score + scan.margin + base


cdef void scan_weighted_gini(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    cdef:
        double total = scan.totals.weight
        double k = scan.left_weight
        double* left = scratch.left
        double* right = scratch.right
        const int32_t* label = rows.label
        double left_squares = 0.0, right_squares = 0.0
        double base = scan.totals.goodness - scan.offset
        double bound = score_to_beat(problem, best, scan.margin) + base
        double weight, value, area, score
        int64_t position, c
        uint32_t row
        Entry entry
    for c in range(problem.n_statistics):
        left[c] = scan.left_sums[c]
        right[c] = scan.totals.sums[c] - left[c]
        left_squares += left[c] * left[c]
        right_squares += right[c] * right[c]
    for position in range(1, scan.highest + 1):
        entry = entries[position - 1]
        row = row_of(entry)
        c = label[row]
        weight = rows.weight[row]
        left_squares += weight * (2.0 * left[c] + weight)
        right_squares -= weight * (2.0 * right[c] - weight)
        left[c] += weight
        right[c] -= weight
        k += weight
        value = left_squares * (total - k) + right_squares * k
        area = k * (total - k)
        if value > bound * area and position >= scan.lowest:
            if rank_of(entries[position]) != rank_of(entry) and area > 0.0:
                score = value / area - base
                take(best, score, position, scan.missing_child)
                bound = score + scan.margin + base
