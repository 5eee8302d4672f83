# Values rounded down to steps of equal height, 16 bits each: EncodedTable.steps.
# If one value is on a lower step than another, it is smaller. So a threshold sends all
# samples below its own step to the left, and all above to the right, and only the
# values of samples on its step have to be read. Sixteen bits let vector units compare
# many at a time.

from libc.stdint cimport int16_t, int32_t

cdef enum:
    MISSING_STEP = -32768
    LOWEST_STEP = -32767  # of a value
    HIGHEST_STEP = 32766
    N_STEPS = 65533  # between the two
    ABOVE_STEPS = 32767  # missing values that go to child 1

# How the values of a column become steps.
cdef struct Scale:
    double low
    double factor  # 0: all values are on the lowest step
    double gap  # smallest difference of two distinct values

cdef inline int16_t step_of(double value, const Scale* scale) noexcept nogil:
    # Subtraction and multiplication are monotonic even when rounded. The product is not
    # below 0, so that the conversion rounds down.
    if scale.factor == 0.0:
        return LOWEST_STEP
    return <int16_t>(
        <int32_t>((value - scale.low) * scale.factor) + <int32_t>LOWEST_STEP
    )

cdef inline bint separates_all(const Scale* scale) noexcept nogil:
    # Whether no two distinct values are on the same step, rounding included.
    return scale.gap * scale.factor > 1.001
