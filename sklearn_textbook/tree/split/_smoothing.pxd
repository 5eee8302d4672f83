# How far the means of the levels of a nominal column are drawn to the mean of the node,
# from sums of squares: header-only. See _column.pyx for what is estimated.

from libc.stdint cimport int64_t

cdef enum:
    # The best division of so many levels without effect decreases the squared error
    # by 6.0 s^2 on average, as the best threshold of a numeric column does: by 3.8 s^2
    # of 30 rows, 5.4 s^2 of 500, 6.0 s^2 of 2,000 (simulated, normal errors).
    FEW_LEVELS = 9

cdef inline double variance_within(
    double variance, double between, double weight, int64_t n_levels,
    double design_effect
) noexcept nogil:
    # Variance of the mean of the rows of a level, times their weight; below 0 where
    # there are too few rows to tell. ``variance`` is that of a row of the node, which
    # counts like one more row.
    cdef double degrees = weight - design_effect * (n_levels - 1)
    if degrees <= 0.0:
        return -1.0
    return design_effect * max(
        (variance * (weight + design_effect) - between) / degrees, 0.0
    )

cdef inline double added_weight(
    double within, double between, double weight, double squares, int64_t n_levels
) noexcept nogil:
    # The weight k of rows with the mean of the node that is added to each level, from
    # the sum of squares between the levels and the squared weights of these; below 0
    # if the levels differ by no more than they would by chance.
    cdef:
        double chance = max(n_levels - FEW_LEVELS, 0) * within
        double size = (weight - squares / weight) / (n_levels - 1)  # rows of a level
    if within < 0.0 or between <= chance or size <= 0.0:
        return -1.0
    return size * chance / (between - chance)
