"""Comparing the steps of a column, which vector units do for eight rows at a time.

Every loop is over numbers of one width, without a branch that depends on them.
"""

from libc.stdint cimport uint32_t
from libc.string cimport memset

from sklearn_textbook.tree.split._wide_units cimport wide_void


cdef enum:
    MOST_COUNTED = 32768  # rows that are counted in 16 bits
    MOST_NUMBERED = 16384  # rows whose numbers have a sign, too
    FEW_CLASSES = 12  # that are counted one after the other


cdef wide_void find_range(
    const int16_t* cells, int64_t n, int16_t* low, int16_t* high
) noexcept nogil:
    """The smallest and largest step."""
    cdef:
        int16_t smallest = cells[0], largest = cells[0]
        int64_t i
    for i in range(n):
        smallest = cells[i] if cells[i] < smallest else smallest
        largest = cells[i] if cells[i] > largest else largest
    low[0] = smallest
    high[0] = largest


cdef wide_void find_on_steps(
    const int16_t* cells, int64_t n, int16_t low, int16_t high, int64_t* places,
    int64_t* n_on
) noexcept nogil:
    """The last rows of a piece that stand on two steps, and how many do."""
    cdef:
        int64_t i
        # a number of its own, as wide as the cells
        int16_t number = 0, is_low, is_high
        int16_t last_low = 0, last_high = 0, n_low = 0, n_high = 0
    for i in range(n):
        is_low = <int16_t>(-<int16_t>(cells[i] == low))
        is_high = <int16_t>(-<int16_t>(cells[i] == high))
        n_low -= is_low
        n_high -= is_high
        is_low &= number
        is_high &= number
        last_low = is_low if is_low > last_low else last_low
        last_high = is_high if is_high > last_high else last_high
        number += 1
    places[0] = last_low
    places[1] = last_high
    n_on[0] = n_low
    n_on[1] = n_high


cdef void find_extremes(StepColumn* column, int64_t n) noexcept nogil:
    """Find the smallest and largest step, and a row on each."""
    cdef:
        const int16_t* cells = column.cells
        int16_t smallest, largest, lowest = cells[0], highest = cells[0]
        # the first block with the extreme, and how many have it
        int64_t block_lowest = 0, block_highest = 0, n_lowest = 0, n_highest = 0
        int64_t start, block
        int64_t[2] places
        int64_t[2] n_on
    for block in range((n + MOST_NUMBERED - 1) // MOST_NUMBERED):
        start = block * MOST_NUMBERED
        find_range(
            cells + start, min(<int64_t>MOST_NUMBERED, n - start), &smallest, &largest
        )
        n_lowest = (0 if smallest < lowest else n_lowest) + (smallest <= lowest)
        block_lowest = start if smallest < lowest else block_lowest
        lowest = smallest if smallest < lowest else lowest
        n_highest = (0 if largest > highest else n_highest) + (largest >= highest)
        block_highest = start if largest > highest else block_highest
        highest = largest if largest > highest else highest
    column.smallest = lowest
    column.largest = highest
    find_on_steps(
        cells + block_lowest, min(<int64_t>MOST_NUMBERED, n - block_lowest), lowest,
        highest, places, n_on
    )
    column.place_smallest = places[0] + block_lowest
    column.is_single_smallest = n_lowest == 1 and n_on[0] == 1
    if block_highest != block_lowest:
        find_on_steps(
            cells + block_highest, min(<int64_t>MOST_NUMBERED, n - block_highest),
            lowest, highest, places, n_on
        )
    column.place_largest = places[1] + block_highest
    column.is_single_largest = n_highest == 1 and n_on[1] == 1


cdef wide_void count_chunk(
    const int16_t* cells, const uint16_t* ones, int64_t n, int16_t cut,
    StepCounts* counts
) noexcept nogil:
    """Add the counts of so few rows that they fit into 16 bits."""
    cdef:
        int64_t i
        uint16_t n_below = 0, n_equal = 0, n_ones = 0, is_below
    for i in range(n):
        is_below = <uint16_t>(cells[i] < cut)
        n_below += is_below
        n_equal += <uint16_t>(cells[i] == cut)
        n_ones += ones[i] & <uint16_t>(0 - is_below)
    counts.n_rows += n_below
    counts.n_equal += n_equal
    counts.ones += n_ones


cdef void count_below(
    const int16_t* cells, const uint16_t* ones, int64_t n, int16_t cut,
    StepCounts* counts
) noexcept nogil:
    """Count the rows below a step, and those on it; rows of weight 1."""
    cdef:
        int64_t chunk, start, stop
    memset(counts, 0, sizeof(StepCounts))
    for chunk in range((n + MOST_COUNTED - 1) // MOST_COUNTED):
        start = chunk * MOST_COUNTED
        stop = min(start + MOST_COUNTED, n)
        count_chunk(cells + start, ones + start, stop - start, cut, counts)
    counts.weight = counts.n_rows


cdef void weigh_below(
    const int16_t* cells, const uint16_t* weights, const uint16_t* ones, int64_t n,
    int16_t cut, StepCounts* counts
) noexcept nogil:
    """The same for rows of any weight."""
    cdef:
        int64_t i, chunk, start, stop
        uint16_t n_below, n_equal, is_below
        uint32_t weight, n_ones
    memset(counts, 0, sizeof(StepCounts))
    for chunk in range((n + MOST_COUNTED - 1) // MOST_COUNTED):
        start = chunk * MOST_COUNTED
        stop = min(start + MOST_COUNTED, n)
        n_below = n_equal = 0
        weight = n_ones = 0
        for i in range(start, stop):
            is_below = <uint16_t>(cells[i] < cut)
            n_below += is_below
            n_equal += <uint16_t>(cells[i] == cut)
            weight += weights[i] & <uint16_t>(0 - is_below)
            n_ones += ones[i] & <uint16_t>(0 - is_below)
        counts.n_rows += n_below
        counts.n_equal += n_equal
        counts.weight += weight
        counts.ones += n_ones


cdef int64_t count_class_below(
    const int16_t* cells, const uint16_t* classes, int64_t n, int16_t cut,
    uint16_t number
) noexcept nogil:
    """Rows of one class below a step."""
    cdef:
        int64_t i, chunk, start, stop, total = 0
        uint16_t n_below
    for chunk in range((n + MOST_COUNTED - 1) // MOST_COUNTED):
        start = chunk * MOST_COUNTED
        stop = min(start + MOST_COUNTED, n)
        n_below = 0
        for i in range(start, stop):
            n_below += <uint16_t>(cells[i] < cut) & <uint16_t>(classes[i] == number)
        total += n_below
    return total


cdef void sum_classes_below(
    const int16_t* cells, const uint16_t* weights, const uint16_t* classes, int64_t n,
    int16_t cut, double* sums, int64_t n_classes
) noexcept nogil:
    """Class weights of the rows below a step; without weights, all are 1."""
    cdef int64_t i
    if weights == NULL and n_classes <= FEW_CLASSES and n >= BLOCK_ROWS:
        for i in range(n_classes):
            sums[i] = <double>count_class_below(
                cells, classes, n, cut, <uint16_t>i
            )
        return
    memset(sums, 0, n_classes * sizeof(double))
    if weights == NULL:
        for i in range(n):
            sums[classes[i]] += <double>(cells[i] < cut)
        return
    for i in range(n):
        sums[classes[i]] += <double>(<int32_t>weights[i] * <int32_t>(cells[i] < cut))


cdef int64_t sum_below(
    const int16_t* cells, const int64_t* residuals, int64_t n, int16_t cut
) noexcept nogil:
    """Residuals of the rows below a step."""
    cdef int64_t i, total = 0
    for i in range(n):
        total += residuals[i] & -<int64_t>(cells[i] < cut)
    return total


cdef int64_t next_on_step(
    const int16_t* cells, int64_t n, int64_t first, int16_t step
) noexcept nogil:
    """The next row, from the first one on, that stands on a step; n after the last."""
    cdef:
        int64_t i = first, j
        int16_t any_equal
    # Whole blocks, of which most have none.
    while i + BLOCK_ROWS <= n:
        any_equal = 0
        for j in range(BLOCK_ROWS):
            any_equal |= <int16_t>(cells[i + j] == step)
        if any_equal:
            break
        i += BLOCK_ROWS
    while i < n and cells[i] != step:
        i += 1
    return i
