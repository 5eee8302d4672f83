"""What a node knows of its rows where they are a list: counts, classes, values.

Sums of these are whole numbers, so they do not depend on the order of the list.
"""

from libc.math cimport fabs, sqrt


cdef enum:
    MOST_BITS = 50  # of a residual
    SUM_BITS = 62  # of a sum of residuals
    LEAST_EXPONENT = -900  # units stay numbers that have a reciprocal


cdef void centre_values(
    const double* y, NodeView* view, ListedRows* listed
) noexcept nogil:
    """Gather y, and turn its distance from the mean of the node into whole numbers, as
    fine as their sum allows. The node's margin then covers that rounding."""
    cdef:
        int64_t i, total = 0, weight = <int64_t>view.totals.weight
        int64_t exponent, bits = SUM_BITS
        double centre = view.totals.centre[0], largest = 0.0, size, scale
    for i in range(listed.n):
        listed.y[i] = y[number_of(listed.rows[i])]
        size = fabs(listed.y[i] - centre)
        largest = size if size > largest else largest
    exponent = max(exponent_of(largest), <int64_t>LEAST_EXPONENT)
    while weight > 0:
        weight >>= 1
        bits -= 1
    bits = min(bits, <int64_t>MOST_BITS)
    listed.unit = power_of_two(exponent - bits)
    scale = power_of_two(bits - exponent)
    for i in range(listed.n):
        listed.residuals[i] = (
            <int64_t>((listed.y[i] - centre) * scale)
            * <int64_t>(listed.rows[i] >> 48)
        )
        total += listed.residuals[i]
    listed.total = total
    view.margin += 8.0 * listed.unit * sqrt(view.totals.weight * view.totals.squares)
