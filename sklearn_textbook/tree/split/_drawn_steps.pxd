# Columns whose values are rounded down to steps of equal height, so that most rows
# are compared as numbers of 16 bits; see ``EncodedTable.steps``.

from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint64_t

cdef enum:
    LOWEST_STEP = -32767
    HIGHEST_STEP = 32767
    BLOCK_ROWS = 128

# How the values of a column become steps.
cdef struct Scale:
    double low
    double factor
    double gap

# The steps of a node's rows in one column, in the order of the list of rows.
cdef struct StepColumn:
    int32_t number
    int16_t* cells
    # the extremes; a row on each, and whether it is the only one
    int16_t smallest
    int16_t largest
    int64_t place_smallest
    int64_t place_largest
    bint is_single_smallest
    bint is_single_largest

# What lies below a step.
cdef struct StepCounts:
    int64_t n_rows
    int64_t weight
    int64_t ones
    int64_t n_equal  # rows on the step itself

cdef inline int16_t step_of(double value, const Scale* scale) noexcept nogil:
    if scale.factor == 0.0:
        return LOWEST_STEP
    return <int16_t>(
        <int32_t>((value - scale.low) * scale.factor) + <int32_t>LOWEST_STEP
    )

cdef inline bint tells_all_apart(const Scale* scale) noexcept nogil:
    """Whether no two values stand on the same step, rounding included."""
    return scale.gap * scale.factor > 1.001

cdef void find_extremes(StepColumn* column, int64_t n) noexcept nogil
cdef void count_below(
    const int16_t* cells, const uint16_t* ones, int64_t n, int16_t cut,
    StepCounts* counts
) noexcept nogil
cdef void weigh_below(
    const int16_t* cells, const uint16_t* weights, const uint16_t* ones, int64_t n,
    int16_t cut, StepCounts* counts
) noexcept nogil
cdef void sum_classes_below(
    const int16_t* cells, const uint16_t* weights, const uint16_t* classes, int64_t n,
    int16_t cut, double* sums, int64_t n_classes
) noexcept nogil
cdef int64_t sum_below(
    const int16_t* cells, const int64_t* residuals, int64_t n, int16_t cut
) noexcept nogil
cdef int64_t next_on_step(
    const int16_t* cells, int64_t n, int64_t first, int16_t step
) noexcept nogil
