"""Thresholds sampled at random, one for each column that a node tries.

A threshold needs the smallest and the largest value of a column; one pass then sums up
the samples below it. Both are passes over steps (``_steps.pxd``), which vector units
compare many at a time. Values are read of the few samples on the steps of the extremes
and of the threshold.

A vector of 256 bits holds 16 numbers of 16 bits, but four of 64. So counts of a pass
are kept in 16 bits, too, over as many samples as they can count (NUMBERED_ROWS,
MAX_COUNT), and added up in 64 bits after each of these stretches.
"""

from libc.math cimport fabs, frexp, ldexp, sqrt
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_textbook._contract._wide_units cimport wide_void
from sklearn_textbook.tree.split._best cimport score_to_beat, take
from sklearn_textbook.tree.split._bin_end cimport leave_bin
from sklearn_textbook.tree.split._histogram cimport (
    Found,
    centre_of,
    part_goodness,
    satisfies_constraint,
)
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    sample_threshold,
)
from sklearn_textbook.tree.split._steps cimport (
    ABOVE_STEPS,
    HIGHEST_STEP,
    LOWEST_STEP,
    MISSING_STEP,
    Scale,
    separates_all,
    step_of,
)
from sklearn_textbook.tree.split._sums cimport (
    COUNT_BITS,
    FETCH_AHEAD,
    PREFETCH,
    TILE_COLUMNS,
    BinaryCounts,
    ClassCounts,
    ClassSums,
    Moments,
    class_of,
    number_of,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport POISSON, Rows


cdef enum:
    NUMBERED_ROWS = 16384  # whose numbers fit into 16 bits with a sign
    SCANNED_ROWS = 256  # that are compared with a step at once
    MAX_COUNT = 0xFFFF
    SPARSE = 8  # rows of the table for one of a node that is read row by row
    FIXED_BITS = 50  # of a number in fixed point
    SUM_BITS = 62


# ------------------------------------------------------------------------------------
# Passes over the steps of a column: its range, and the samples below a step.
# ------------------------------------------------------------------------------------


cdef wide_void find_step_range(
    const int16_t* steps, int64_t n, int16_t* low, int16_t* high
) noexcept nogil:
    """The lowest step of a value and the highest one, which is MISSING_STEP where no
    sample has a value; the lowest one means nothing then."""
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
        # All ones or 0, so that ``number`` is kept where the step matches.
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


cdef void find_end_steps(
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
        find_step_range(
            steps + start, min(<int64_t>NUMBERED_ROWS, n - start), &low, &high
        )
        if high == MISSING_STEP:  # no sample of the block has a value
            start += NUMBERED_ROWS
            continue
        # A new extreme begins the count of blocks anew.
        n_low = (0 if low < found.lowest else n_low) + (low <= found.lowest)
        low_block = start if low < found.lowest else low_block
        found.lowest = low if low < found.lowest else found.lowest
        n_high = (0 if high > found.highest else n_high) + (high >= found.highest)
        high_block = start if high > found.highest else high_block
        found.highest = high if high > found.highest else found.highest
        start += NUMBERED_ROWS
    # Only one block of each extreme is searched for a sample on it.
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
        # All ones below the boundary, else 0.
        mask = <uint16_t>(0 - <uint16_t>(steps[i] < boundary))
        n_below -= mask
        weight += weights[i] & mask
        n_ones += ones[i] & mask
    counts[0] += n_below
    counts[1] += weight
    counts[2] += n_ones


cdef wide_void count_few_below(
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
        count_few_below(steps + i, min(<int64_t>MAX_COUNT, n - i), boundary, &count)
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


# ------------------------------------------------------------------ samples of a node


cdef wide_void take_bits(
    const uint64_t* entries, int64_t n, int shift, uint16_t* bits
) noexcept nogil:
    """Take 16 bits of every entry."""
    cdef int64_t i
    for i in range(n):
        bits[i] = <uint16_t>(entries[i] >> shift)


cdef double round_to_fixed(
    const double* numbers, int64_t n, int64_t* fixed
) noexcept nogil:
    """Turn numbers into whole ones, whose sums do not depend on the order, and as fine
    as their sum allows. Returns their unit."""
    cdef:
        double largest = 0.0, size, scale
        int64_t i, rest = n
        int bits = SUM_BITS, exponent
    for i in range(n):
        size = fabs(numbers[i])
        largest = size if size > largest else largest
    # The sum of n numbers needs as many bits more as n has.
    while rest > 0:
        rest >>= 1
        bits -= 1
    bits = min(bits, <int>FIXED_BITS)
    frexp(largest, &exponent)
    exponent = max(exponent, -900)  # units stay numbers that have a reciprocal
    # A power of two: the multiplication is exact.
    scale = ldexp(1.0, bits - exponent)
    for i in range(n):
        fixed[i] = <int64_t>(numbers[i] * scale)
    return ldexp(1.0, exponent - bits)


cdef void describe_targets(
    const Problem* problem, SampleList* samples, NodeSearch* node, const Sums* kind
) noexcept nogil:
    """Put what is summed up of the samples side by side."""
    cdef:
        const Rows* rows = &samples.node_rows
        const double* weight = rows.weight
        double* first = <double*>samples.keys
        double y, unit
        int64_t i, total = 0
    if Sums is BinaryCounts:
        take_bits(node.entries, node.n, 0, samples.ones)
        take_bits(node.entries, node.n, COUNT_BITS, samples.whole_weights)
    elif Sums is Moments:
        node.amounts = samples.amounts
        node.centre = centre_of(problem, node.view)
        for i in range(node.n):
            y = <double>rows.label[i] if problem.is_classifier else rows.y[i]
            first[i] = weight[i] * (y - node.centre)
        # The total of the node is that of the same integers, so that it and the
        # children agree.
        unit = round_to_fixed(first, node.n, samples.fixed_first)
        samples.weight_unit = round_to_fixed(weight, node.n, samples.fixed_weight)
        for i in range(node.n):
            total += samples.fixed_first[i]
        samples.first_unit = unit
        node.total = <double>total * unit
        # Rounding of one integer of the unit per sample.
        node.noise = 8.0 * unit * <double>node.n * sqrt(
            node.view.totals.squares / node.view.totals.weight
        )


cdef inline const double* values_of(
    const SampleList* samples, uint64_t entry, const Sums* kind
) noexcept nogil:
    """The values of a sample."""
    cdef int64_t number = number_of(kind, entry)
    if samples.is_local:
        number = samples.local_row[number]
    return samples.row_values + number * samples.table.n_columns


cdef inline void take_four(
    const int16_t* source, const int64_t* places, int16_t* steps
) noexcept nogil:
    """Put four steps next to each other in one store: four stores that are loaded by
    one instruction stall."""
    cdef int16_t[4] four
    four[0] = source[places[0]]
    four[1] = source[places[1]]
    four[2] = source[places[2]]
    four[3] = source[places[3]]
    memcpy(steps, four, sizeof(four))


cdef inline void read_four(
    const int16_t* source, int64_t column_width, int64_t row_width,
    const uint64_t* entries, int64_t n, bint is_far, SampledColumn** columns,
    const Sums* kind
) noexcept nogil:
    """Four columns in one pass, from steps that are so far apart: those of a row in one
    or two cache lines, or those of a column."""
    cdef:
        const int16_t* first = source + columns[0].number * column_width
        const int16_t* second = source + columns[1].number * column_width
        const int16_t* third = source + columns[2].number * column_width
        const int16_t* fourth = source + columns[3].number * column_width
        int16_t* first_steps = columns[0].steps
        int16_t* second_steps = columns[1].steps
        int16_t* third_steps = columns[2].steps
        int16_t* fourth_steps = columns[3].steps
        const int16_t* row
        int64_t[4] places
        int64_t i = 0, j
    while i + 4 <= n:
        # Where four samples stand; those FETCH_AHEAD of them are on their way.
        for j in range(4):
            if is_far:
                row = source + row_width * (
                    number_of(kind, entries[i + j + FETCH_AHEAD])
                )
                PREFETCH(row)
                PREFETCH(row + row_width - 1)
            places[j] = number_of(kind, entries[i + j]) * row_width
        take_four(first, places, first_steps + i)
        take_four(second, places, second_steps + i)
        take_four(third, places, third_steps + i)
        take_four(fourth, places, fourth_steps + i)
        i += 4
    while i < n:
        j = number_of(kind, entries[i]) * row_width
        first_steps[i] = first[j]
        second_steps[i] = second[j]
        third_steps[i] = third[j]
        fourth_steps[i] = fourth[j]
        i += 1


cdef void read_steps(
    const SampleList* samples, const NodeSearch* node, SampledColumn** columns,
    int64_t n_columns, const Sums* kind
) noexcept nogil:
    """Put the steps of up to four columns next to each other."""
    cdef:
        const int16_t* source = samples.row_steps
        int64_t i, j, column_width = 1, row_width = samples.table.n_columns
    if samples.is_local:
        source = samples.local_steps
    elif node.n * SPARSE > samples.table.n_rows:
        # Cache lines of a column are then read one by one.
        source = samples.steps
        column_width, row_width = samples.table.n_rows, 1
    # The compiler specialises the loop for each constant.
    if n_columns == TILE_COLUMNS:
        if row_width == 1:
            read_four(
                source, column_width, 1, node.entries, node.n, False, columns, kind
            )
        elif samples.is_local:
            read_four(
                source, 1, row_width, node.entries, node.n, False, columns, kind
            )
        else:
            read_four(
                source, 1, row_width, node.entries, node.n, True, columns, kind
            )
        return
    for j in range(n_columns):
        for i in range(node.n):
            columns[j].steps[i] = source[
                columns[j].number * column_width
                + number_of(kind, node.entries[i]) * row_width
            ]


# ---------------------------------------------------------------------------- ranges


cdef void locate_extremes(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    StepRange* found, const Sums* kind
) noexcept nogil:
    """Find the lowest and the highest step, and prefetch the values there: those of
    several columns come from memory at the same time."""
    find_end_steps(column.steps, node.n, found)
    PREFETCH(
        values_of(samples, node.entries[found.at_lowest], kind) + column.number
    )
    PREFETCH(
        values_of(samples, node.entries[found.at_highest], kind) + column.number
    )


cdef void widen_range(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    int16_t step, StepRange* found, const Sums* kind
) noexcept nogil:
    """Widen a range by the values of all samples on a step."""
    cdef:
        uint32_t* places = <uint32_t*>samples.spare
        int64_t i, n = list_on_step(column.steps, node.n, step, places)
        double value
    for i in range(n):
        value = values_of(samples, node.entries[places[i]], kind)[column.number]
        found.smallest = value if value < found.smallest else found.smallest
        found.largest = value if value > found.largest else found.largest


cdef bint find_values(
    const SampleList* samples, const NodeSearch* node, SampledColumn* column,
    StepRange* found, const Sums* kind
) noexcept nogil:
    """Find the smallest and the largest value; whether the column is not constant."""
    cdef:
        const Scale* scale = (
            samples.local_scales if samples.is_local else samples.scales
        ) + column.number
    column.n_missing = 0
    if node.problem.has_missing[column.number]:
        column.n_missing = count_below(column.steps, node.n, LOWEST_STEP)
        if column.n_missing == node.n:
            return False
    found.smallest = values_of(samples, node.entries[found.at_lowest], kind)[
        column.number
    ]
    found.largest = values_of(samples, node.entries[found.at_highest], kind)[
        column.number
    ]
    # Several values may share the step of an extreme.
    if not separates_all(scale):
        if not found.is_single_lowest:
            widen_range(samples, node, column, found.lowest, found, kind)
        if not found.is_single_highest and found.highest != found.lowest:
            widen_range(samples, node, column, found.highest, found, kind)
    return column.n_missing > 0 or found.smallest < found.largest


# ------------------------------------------------------------------------ thresholds


cdef int16_t find_boundary(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    double threshold, const Sums* kind
) noexcept nogil:
    """The step above those of child 0. Samples on the step of the threshold are moved
    by one where that is needed."""
    cdef:
        const Scale* scale = (
            samples.local_scales if samples.is_local else samples.scales
        ) + column.number
        int16_t boundary = step_of(threshold, scale)
        uint32_t* places = <uint32_t*>samples.spare
        int64_t i, n = list_on_step(column.steps, node.n, boundary, places)
        double value
    # Values on that step are compared themselves; those at or below the threshold go
    # one step down, so that ``step < boundary`` is right for all.
    for i in range(n):
        value = values_of(samples, node.entries[places[i]], kind)[column.number]
        if value <= threshold:
            column.steps[places[i]] -= 1
    return boundary


cdef void sum_counts(
    const SampleList* samples, const int16_t* steps, int64_t n, int16_t boundary,
    int64_t* counts
) noexcept nogil:
    """Samples of child 0, their weight, and that of the second class."""
    cdef int64_t i = 0, most = MAX_COUNT // samples.most_weight
    memset(counts, 0, 3 * sizeof(int64_t))
    while i < n:
        sum_block(
            steps + i, samples.whole_weights + i, samples.ones + i, min(most, n - i),
            boundary, counts
        )
        i += most


cdef double sum_left_classes(
    const NodeSearch* node, const int16_t* steps, int16_t boundary, double* left,
    const ClassSums* kind
) noexcept nogil:
    """Class weights of child 0; returns their sum."""
    cdef:
        int64_t* counts = node.class_counts
        double weight = 0.0
        int64_t i, c
        uint64_t entry
    memset(counts, 0, node.n_classes * sizeof(int64_t))
    memset(left, 0, node.n_classes * sizeof(double))
    # No branch to predict.
    for i in range(node.n):
        entry = node.entries[i]
        if ClassSums is ClassCounts:
            counts[class_of(entry)] += (
                whole_weight_of(entry) & -<int64_t>(steps[i] < boundary)
            )
        else:
            left[class_of(entry)] += (
                node.sample_weight[i] * <double>(steps[i] < boundary)
            )
    for c in range(node.n_classes):
        if ClassSums is ClassCounts:
            left[c] = <double>counts[c]
        weight += left[c]
    return weight


cdef void sum_left(
    const SampleList* samples, const NodeSearch* node, const int16_t* steps,
    int16_t boundary, int64_t* n_left, double* weight, double* left, const Sums* kind
) noexcept nogil:
    """Sum up the samples of child 0."""
    cdef int64_t[3] counts
    if Sums is BinaryCounts:
        sum_counts(samples, steps, node.n, boundary, counts)
        n_left[0] = counts[0]
        weight[0] = <double>counts[1]
        left[1] = <double>counts[2]
        left[0] = weight[0] - left[1]
    elif Sums is Moments:
        n_left[0] = count_below(steps, node.n, boundary)
        sum_below(steps, samples.fixed_first, node.n, boundary, &counts[0])
        sum_below(steps, samples.fixed_weight, node.n, boundary, &counts[1])
        left[0] = <double>counts[0] * samples.first_unit
        weight[0] = <double>counts[1] * samples.weight_unit
    else:
        n_left[0] = count_below(steps, node.n, boundary)
        weight[0] = sum_left_classes(node, steps, boundary, left, kind)


cdef bint is_random_split_allowed(
    const NodeSearch* node, const SampledColumn* column, int64_t n_left, double weight,
    const double* left, const double* right, const Sums* kind
) noexcept nogil:
    """Limits of the children, and monotonic constraints."""
    cdef:
        const Problem* problem = node.problem
        double rest = node.view.totals.weight - weight, smallest
    if not node.lowest <= n_left <= node.n - node.lowest:
        return False
    if weight < problem.min_weight_leaf or rest < problem.min_weight_leaf:
        return False
    if Sums is Moments:
        smallest = 1e-12 * node.total
        if problem.criterion == POISSON and (
            left[0] <= smallest or right[0] <= smallest
        ):
            return False
    return satisfies_constraint(node, column, left, right, weight, rest, kind)


cdef void try_random_threshold(
    const SampleList* samples, NodeSearch* node, const SampledColumn* column,
    const StepRange* values, const Sums* kind
) noexcept nogil:
    """One threshold, sampled evenly between the smallest and the largest value; one
    inside of a bin is moved to its upper end."""
    cdef:
        const Problem* problem = node.problem
        Found* found = &node.found
        double* left = node.left
        double* right = node.right
        uint64_t state = child_state(node.view.random_state, ~<int64_t>column.number)
        double threshold, weight, score
        int64_t n_left, k
        int16_t boundary
        bint missing_left = False
    if not values.smallest < values.largest:
        return
    threshold = sample_threshold(&state, values.smallest, values.largest)
    if column.n_missing > 0:
        # Missing values are on the lowest step, which is on the left of every boundary.
        missing_left = random_below(&state, 2) == 1
        if not missing_left:
            send_missing_right(column.steps, node.n)
    boundary = find_boundary(samples, node, column, threshold, kind)
    sum_left(samples, node, column.steps, boundary, &n_left, &weight, left, kind)
    # Sums of the other child, and the score of no split.
    if Sums is Moments:
        right[0] = node.total - left[0]
        score = -part_goodness(node, &node.total, node.view.totals.weight)
    else:
        for k in range(problem.n_statistics):
            right[k] = node.view.totals.sums[k] - left[k]
        score = -node.view.totals.goodness
    if not is_random_split_allowed(node, column, n_left, weight, left, right, kind):
        return
    score += part_goodness(node, left, weight)
    score += part_goodness(node, right, node.view.totals.weight - weight)
    if not score > score_to_beat(
        problem, &found.split, node.view.margin + node.noise
    ):
        return
    take(&found.split, score, n_left, -1)
    if column.n_missing > 0:
        found.split.missing_child = 0 if missing_left else 1
    found.split.n_children = 2
    found.split.threshold = leave_bin(problem, column.number, threshold)
    found.column = column
    found.boundary = boundary
    if Sums is BinaryCounts:
        found.left_counts = (
            <uint64_t>n_left << (2 * COUNT_BITS) | <uint64_t>weight << COUNT_BITS
            | <uint64_t>left[1]
        )
