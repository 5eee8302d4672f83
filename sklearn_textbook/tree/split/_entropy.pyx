"""Best threshold of a numeric column for the entropy of one output."""

from libc.math cimport ceil, floor
from libc.stdint cimport INT64_MIN

from sklearn_textbook.tree.split._best cimport (
    BLOCKED_ROWS,
    block_length,
    score_to_beat,
    take,
)
from sklearn_textbook.tree.split._types cimport (
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
    int64_t,
    rank_of,
    row_of,
    uint32_t,
)


# Weighted entropy is a sum of c log2 c. These are taken from a table in fixed point,
# so that sums do not depend on their order.


cdef inline int64_t fixed_bound(
    const Problem* problem, int64_t base, double beat
) noexcept nogil:
    """What a sum must exceed to score more than ``beat``."""
    if beat < -1e300:
        return INT64_MIN
    return base + <int64_t>floor(beat / problem.entropy_unit)


cdef inline int64_t raised_bound(
    const Problem* problem, int64_t value, double margin
) noexcept nogil:
    """What the next candidate must exceed: the margin, and rounding of the table."""
    return value + <int64_t>ceil(margin / problem.entropy_unit) + 8


cdef inline bint may_divide(
    const Pass* scan, uint32_t below, uint32_t above
) noexcept nogil:
    return below != above and (
        scan.next_apart == NULL or above >= scan.next_apart[below]
    )


cdef void scan_entropy(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    cdef:
        const int64_t* table = problem.entropy_table
        int64_t n = scan.totals.rows
        int64_t k = scan.left_rows
        int64_t* left = scratch.left_count
        int64_t* right = scratch.right_count
        int64_t inside = 0, base = -table[n], bound, value, position, c
        double score
        Entry entry
    for c in range(problem.n_statistics):
        left[c] = <int64_t>scan.left_sums[c]
        right[c] = <int64_t>scan.totals.sums[c] - left[c]
        inside += table[left[c]] + table[right[c]]
        base += table[left[c] + right[c]]
    bound = fixed_bound(
        problem, base, score_to_beat(problem, best, scan.margin) - scan.offset
    )
    for position in range(1, scan.highest + 1):
        entry = entries[position - 1]
        c = rows.label[row_of(entry)]
        inside += (
            table[left[c] + 1] - table[left[c]] + table[right[c] - 1] - table[right[c]]
        )
        left[c] += 1
        right[c] -= 1
        k += 1
        value = inside - table[k] - table[n - k]
        if value > bound and position >= scan.lowest:
            if may_divide(scan, rank_of(entry), rank_of(entries[position])):
                score = scan.offset + (value - base) * problem.entropy_unit
                take(best, score, position, scan.missing_child)
                bound = raised_bound(problem, value, scan.margin)


cdef inline int64_t entropy_value(
    const int64_t* table, int64_t n, int64_t t, int64_t k, int64_t ones
) noexcept nogil:
    """Sum of a division: k rows on the left, of which ``ones`` are of class 1."""
    return (
        table[ones] + table[k - ones] + table[t - ones] + table[n - t - k + ones]
        - table[k] - table[n - k]
    )


cdef void scan_binary_entropy(
    const Problem* problem, const Entry* entries, const Pass* scan, Split* best
) noexcept nogil:
    """Two classes. The sum is convex in (ones, k), so blocks are skipped as in
    ``scan_binary``."""
    cdef:
        const int64_t* table = problem.entropy_table
        int64_t n = scan.totals.rows
        int64_t t = <int64_t>scan.totals.sums[1]
        int64_t k = scan.left_rows
        int64_t ones = <int64_t>scan.left_sums[1]
        int64_t base = table[t] + table[n - t] - table[n]
        int64_t bound = fixed_bound(
            problem, base, score_to_beat(problem, best, scan.margin) - scan.offset
        )
        int64_t position = 0, last, length = block_length(n), j, value
        uint32_t count
        double score
        bint blocked = n >= BLOCKED_ROWS
        bint start_exceeds = True
    while position < scan.lowest - 1:
        ones += entries[position] & 1
        k += 1
        position += 1
    while position < scan.highest:
        last = scan.highest
        if blocked and position + length <= last:
            last = position + length
            count = 0
            for j in range(position, last):
                count += <uint32_t>entries[j] & 1
            if not (
                start_exceeds
                or entropy_value(table, n, t, k + count, ones + count) > bound
                or entropy_value(table, n, t, k + length - count, ones) > bound
                or entropy_value(table, n, t, k + length, ones + count) > bound
            ):
                ones += count
                k += length
                position = last
                continue
        while position < last:
            ones += entries[position] & 1
            k += 1
            position += 1
            value = entropy_value(table, n, t, k, ones)
            if value > bound:
                if may_divide(
                    scan, rank_of(entries[position - 1]), rank_of(entries[position])
                ):
                    score = scan.offset + (value - base) * problem.entropy_unit
                    take(best, score, position, scan.missing_child)
                    bound = raised_bound(problem, value, scan.margin)
        start_exceeds = entropy_value(table, n, t, k, ones) > bound
