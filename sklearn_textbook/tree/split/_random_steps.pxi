# Passes over the steps of a column: its range, and the samples below a step; part of
# _list_search.pyx.

cdef enum:
    NUMBERED_ROWS = 16384  # whose numbers fit into 16 bits with a sign
    SCANNED_ROWS = 256  # that are compared with a step at once
    MAX_COUNT = 0xFFFF
    SPARSE = 8  # rows of the table for one of a node that is read row by row
    FIXED_BITS = 50  # of a number in fixed point
    SUM_BITS = 62

# The range of a column in a node.
cdef struct StepRange:
    int64_t n_missing
    int16_t lowest
    int16_t highest
    # a sample on each, and whether it is the only one
    int64_t at_lowest
    int64_t at_highest
    bint is_single_lowest
    bint is_single_highest
    double smallest
    double largest


cdef wide_void find_range(
    const int16_t* steps, int64_t n, int16_t* low, int16_t* high
) noexcept nogil:
    """The lowest step of a value and the highest one."""
    cdef:
        # The step of missing values, the smallest number, becomes the largest.
        uint16_t lowest = MAX_COUNT, above
        int16_t highest = MISSING_STEP
        int64_t i
    for i in range(n):
        above = <uint16_t>(steps[i] - <int16_t>LOWEST_STEP)
        lowest = above if above < lowest else lowest
        highest = steps[i] if steps[i] > highest else highest
    low[0] = <int16_t>(<int32_t>lowest + LOWEST_STEP)
    high[0] = highest


cdef wide_void find_on_steps(
    const int16_t* steps, int64_t n, int16_t low, int16_t high, int64_t* places,
    int64_t* counts
) noexcept nogil:
    """The last samples on two steps, and how many are on each."""
    cdef:
        int64_t i
        # a number of its own, as wide as the steps
        int16_t number = 0, is_low, is_high
        int16_t last_low = 0, last_high = 0, n_low = 0, n_high = 0
    for i in range(n):
        is_low = <int16_t>(-<int16_t>(steps[i] == low))
        is_high = <int16_t>(-<int16_t>(steps[i] == high))
        n_low -= is_low
        n_high -= is_high
        is_low &= number
        is_high &= number
        last_low = is_low if is_low > last_low else last_low
        last_high = is_high if is_high > last_high else last_high
        number += 1
    places[0] = last_low
    places[1] = last_high
    counts[0] = n_low
    counts[1] = n_high


cdef void find_extremes(
    const int16_t* steps, int64_t n, StepRange* found
) noexcept nogil:
    """Find the lowest and the highest step, and a sample on each."""
    cdef:
        int16_t low, high
        # the first block with the extreme, and how many have it
        int64_t low_block = 0, high_block = 0, n_low = 0, n_high = 0, start = 0
        int64_t[2] places
        int64_t[2] counts
    found.lowest = HIGHEST_STEP
    found.highest = MISSING_STEP
    while start < n:
        find_range(steps + start, min(<int64_t>NUMBERED_ROWS, n - start), &low, &high)
        n_low = (0 if low < found.lowest else n_low) + (low <= found.lowest)
        low_block = start if low < found.lowest else low_block
        found.lowest = low if low < found.lowest else found.lowest
        n_high = (0 if high > found.highest else n_high) + (high >= found.highest)
        high_block = start if high > found.highest else high_block
        found.highest = high if high > found.highest else found.highest
        start += NUMBERED_ROWS
    find_on_steps(
        steps + low_block, min(<int64_t>NUMBERED_ROWS, n - low_block), found.lowest,
        found.highest, places, counts
    )
    found.at_lowest = places[0] + low_block
    found.is_single_lowest = n_low == 1 and counts[0] == 1
    if high_block != low_block:
        find_on_steps(
            steps + high_block, min(<int64_t>NUMBERED_ROWS, n - high_block),
            found.lowest, found.highest, places, counts
        )
    found.at_highest = places[1] + high_block
    found.is_single_highest = n_high == 1 and counts[1] == 1


cdef wide_void count_on_step(
    const int16_t* steps, int64_t n, int16_t step, int64_t* count
) noexcept nogil:
    """Samples on a step, of so few that their number fits into 16 bits."""
    cdef:
        int64_t i
        uint16_t n_equal = 0
    for i in range(n):
        n_equal += <uint16_t>(steps[i] == step)
    count[0] = n_equal


cdef int64_t list_on_step(
    const int16_t* steps, int64_t n, int16_t step, uint32_t* places
) noexcept nogil:
    """List the samples on a step; returns their number."""
    cdef int64_t i, start = 0, n_listed = 0, count, stop
    while start < n:
        # Most blocks have none.
        stop = min(start + SCANNED_ROWS, n)
        count_on_step(steps + start, stop - start, step, &count)
        i = start
        while count > 0:
            places[n_listed] = <uint32_t>i
            n_listed += steps[i] == step
            count -= steps[i] == step
            i += 1
        start = stop
    return n_listed


cdef wide_void sum_block(
    const int16_t* steps, const uint16_t* weights, const uint16_t* ones, int64_t n,
    int16_t boundary, int64_t* counts
) noexcept nogil:
    """Samples below a step, their weight, and that of the second class; of so few that
    sums fit into 16 bits."""
    cdef:
        int64_t i
        uint16_t n_below = 0, weight = 0, n_ones = 0, mask
    for i in range(n):
        mask = <uint16_t>(0 - <uint16_t>(steps[i] < boundary))
        n_below -= mask
        weight += weights[i] & mask
        n_ones += ones[i] & mask
    counts[0] += n_below
    counts[1] += weight
    counts[2] += n_ones


cdef wide_void count_block(
    const int16_t* steps, int64_t n, int16_t boundary, int64_t* count
) noexcept nogil:
    """Samples below a step, of so few that their number fits into 16 bits."""
    cdef:
        int64_t i
        uint16_t n_below = 0
    for i in range(n):
        n_below += <uint16_t>(steps[i] < boundary)
    count[0] += n_below


cdef int64_t count_below(
    const int16_t* steps, int64_t n, int16_t boundary
) noexcept nogil:
    """Samples below a step."""
    cdef int64_t i = 0, count = 0
    while i < n:
        count_block(steps + i, min(<int64_t>MAX_COUNT, n - i), boundary, &count)
        i += MAX_COUNT
    return count


cdef wide_void sum_below(
    const int16_t* steps, const int64_t* amounts, int64_t n, int16_t boundary,
    int64_t* total
) noexcept nogil:
    """Sum up the numbers of the samples below a step."""
    cdef int64_t i, below = 0
    for i in range(n):
        below += amounts[i] & -<int64_t>(steps[i] < boundary)
    total[0] = below


cdef wide_void send_missing_right(int16_t* steps, int64_t n) noexcept nogil:
    """Put missing values above all others."""
    cdef int64_t i
    for i in range(n):
        steps[i] = ABOVE_STEPS if steps[i] == MISSING_STEP else steps[i]
