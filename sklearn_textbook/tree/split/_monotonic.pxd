from libc.math cimport fabs
from libc.stdint cimport int32_t

cdef inline bint is_above(double value, double limit) noexcept nogil:
    # Above by more than rounding.
    cdef double size = fabs(value) if fabs(value) > fabs(limit) else fabs(limit)
    return value > limit and value - limit > 1e-12 * size

cdef inline bint breaks_constraint(
    double first, double second, double lower, double upper, int32_t direction
) noexcept nogil:
    # Whether two child values leave the node's range or run against the sign of
    # their column. Columns without a constraint are free; their nodes' values are
    # clipped instead.
    if direction == 0:
        return False
    if is_above(lower, first) or is_above(lower, second):
        return True
    if is_above(first, upper) or is_above(second, upper):
        return True
    return is_above(first, second) if direction > 0 else is_above(second, first)
